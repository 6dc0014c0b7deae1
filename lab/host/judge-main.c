// SPDX-License-Identifier: GPL-2.0-only
/* kit-judge: the verdict over the runs of two kernels; see --help. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "results.h"
#include "util.h"

static const struct judge_program *const programs[] = {
	&affinity_fork_judge,
	&boot_judge,
};

struct options {
	const char *scenario, *topology, *cpus, *expect, *out, *seeds;
	bool reproducible;
	char **run;
	size_t nr_runs;
};

static const char help[] =
"usage: kit-judge OPTION... --out FOLDER RUN...\n"
"\n"
"A RUN is SIDE:SEED:SHA256:FILE: SIDE is base or patched, SHA256 is the\n"
"console's, FILE what kit-console printed. Writes results.json, results.ktap\n"
"and report.txt into FOLDER.\n"
"\n"
"  --scenario FILE       the scenario; its program says what is measured\n"
"  --topology NAME       the topology, for the scenario's \"on\" lines\n"
"  --cpus LIST           the CPUs that the tasks may use\n"
"  --expect WORD         improved, no-difference or worse\n"
"  --seeds N             so many runs of each side must be there\n"
"  --reproducible        the goals of the scenario count\n"
"  --meta KEY=VALUE      into results.json, KEY with dots for objects in it\n"
"  --time KEY=SECONDS    the same, into the block of times\n"
"\n"
"Exit: 0 every check is ok, 1 one is not, 2 wrong arguments or input, 6 a file\n"
"cannot be written.\n";

static void __attribute__((noreturn)) usage(void)
{
	die(EX_USAGE, "wrong arguments; kit-judge --help lists them");
}

/* "inputs.image.base=abc" becomes {"inputs": {"image": {"base": "abc"}}}. */
static void set_dotted(json_t *o, char *text, bool number)
{
	char *value = strchr(text, '='), *dot;
	const char *whole = xstrdup(text);
	json_t *child;
	char *end;

	if (!value)
		die(EX_USAGE, "'%s' is not KEY=VALUE", text);
	*value++ = '\0';
	while ((dot = strchr(text, '.'))) {
		*dot = '\0';
		child = json_object_get(o, text);
		if (!child) {
			child = json_object();
			json_object_set_new(o, text, child);
		}
		o = child;
		text = dot + 1;
	}
	child = number ? json_real(strtod(value, &end)) : json_string(value);
	if (!*text || (number && (end == value || *end)) ||
	    json_object_get(o, text) || json_object_set_new(o, text, child))
		die(EX_USAGE, "'%s' is given twice, or is no %s", whole,
		    number ? "KEY=SECONDS" : "KEY=VALUE");
}

static void parse(int argc, char **argv, struct options *opt, struct results *r)
{
	enum { SCENARIO, TOPOLOGY, CPUS, EXPECT, OUT, SEEDS, META, TIME, REPRO, HELP };
	static const struct option longs[] = {
		{ "scenario", required_argument, NULL, SCENARIO },
		{ "topology", required_argument, NULL, TOPOLOGY },
		{ "cpus", required_argument, NULL, CPUS },
		{ "expect", required_argument, NULL, EXPECT },
		{ "out", required_argument, NULL, OUT },
		{ "seeds", required_argument, NULL, SEEDS },
		{ "meta", required_argument, NULL, META },
		{ "time", required_argument, NULL, TIME },
		{ "reproducible", no_argument, NULL, REPRO },
		{ "help", no_argument, NULL, HELP },
		{ NULL, 0, NULL, 0 },
	};
	const char **to[] = { &opt->scenario, &opt->topology, &opt->cpus,
			      &opt->expect, &opt->out, &opt->seeds };
	int c;

	opterr = 0;
	while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		if (c >= SCENARIO && c <= SEEDS)
			*to[c] = optarg;
		else if (c == META || c == TIME)
			set_dotted(c == META ? r->meta : r->times, optarg, c == TIME);
		else if (c == REPRO)
			opt->reproducible = true;
		else if (c == HELP)
			exit(fputs(help, stdout) < 0 ? EX_INFRA : EX_OK);
		else
			usage();
	}
	opt->run = argv + optind;
	opt->nr_runs = argc - optind;
	if (!opt->scenario || !opt->topology || !opt->cpus || !opt->expect ||
	    !opt->out || !opt->nr_runs)
		usage();
}

static void add_check(struct results *r, bool ok, char *text)
{
	r->check[r->nr_checks].ok = ok;
	r->check[r->nr_checks++].text = text;
}

/*
 * A goal is the scenario's own bound for the patched median, where it has one.
 * It was set for guests that run by instruction count: elsewhere the host's
 * other work shows in the figures.
 */
static void check_goal(struct results *r, int m)
{
	const struct metric *metric = &r->program->metric[m];
	char *key = xasprintf("goal_%s", metric->name);
	const char *goal = scenario_get(r->scenario, key, NULL);
	double got = r->verdict[m].patched;

	if (goal && strcmp(goal, "none"))
		add_check(r, metric->higher_is_better ? got >= atof(goal) : got <= atof(goal),
			  xasprintf("patched median of %s is at %s %s %s: %.2f",
				    metric->name,
				    metric->higher_is_better ? "least" : "most", goal,
				    metric->unit, got));
	free(key);
}

/* Runs with a console that is not clean were refused before. */
static void decide_boot(struct results *r)
{
	const struct side *sides[] = { &r->base, &r->patched };

	for (size_t i = 0; i < ARRAY_SIZE(sides); i++)
		add_check(r, sides[i]->nr_seeds > 0,
			  xasprintf("%s boots cleanly, with the machine asked for: %zu boots",
				    sides[i]->name, sides[i]->nr_seeds));
}

/* A goal for what is not measured would be met by never being looked at. */
static void check_goal_names(const struct results *r, const char *file)
{
	const struct scenario *s = r->scenario;

	for (size_t i = 0; i < s->nr_settings; i++) {
		const char *key = s->setting[i].key;
		bool known = s->setting[i].guest || strncmp(key, "goal_", 5);

		for (int m = 0; !known && m < MAX_METRICS && r->program->metric[m].name; m++)
			known = !strcmp(key + 5, r->program->metric[m].name);
		if (!known)
			die(EX_USAGE, "%s: %s: program %s does not measure %s", file,
			    key, r->program->name, key + 5);
	}
}

static void decide(struct results *r)
{
	const struct verdict *v = &r->verdict[0];

	for (int m = 0; m < MAX_METRICS && r->program->metric[m].name; m++)
		judge(&r->program->metric[m], m, &r->base, &r->patched, &r->verdict[m]);
	add_check(r, v->outcome == r->expected,
		  xasprintf("%s: %s, expected %s: base %.2f, patched %.2f, effect %.2f, noise %.2f",
			    r->program->metric[0].name,
			    v->outcome == NO_DIFFERENCE ? "no difference measurable" :
			    outcome_name(v->outcome), outcome_name(r->expected),
			    v->base, v->patched, v->effect, v->noise));
	if (r->base.outside || r->patched.outside)
		add_check(r, false,
			  xasprintf("every task stays on its allowed CPUs: not in %zu samples of base and %zu of patched",
				    r->base.outside, r->patched.outside));
	if (r->expected == IMPROVED && r->reproducible)
		for (int m = 0; m < MAX_METRICS && r->program->metric[m].name; m++)
			check_goal(r, m);
}

/* A boot that is missing must not pass for a scenario with fewer seeds. */
static void check_seeds(const struct results *r, const char *asked)
{
	size_t n = asked ? (size_t)atol(asked) : r->base.nr_seeds;

	if (asked && (r->base.nr_seeds != n || r->patched.nr_seeds != n))
		die(EX_USAGE, "%s seeds were asked for, but there are %zu runs of base and %zu of patched",
		    asked, r->base.nr_seeds, r->patched.nr_seeds);
}

static FILE *create(const char *folder, const char *name)
{
	char *path = xasprintf("%s/%s", folder, name);
	FILE *f = fopen(path, "we");

	if (!f)
		die(EX_INFRA, "%s: %s", path, strerror(errno));
	free(path);
	return f;
}

static void finish(FILE *f, const char *name)
{
	if (ferror(f) | fclose(f))
		die(EX_INFRA, "cannot write %s: %s", name, strerror(errno));
}

static void write_all(const struct results *r, const char *folder)
{
	json_t *o = results_json(r);
	FILE *f = create(folder, "results.json");

	if (json_dumpf(o, f, JSON_INDENT(1) | JSON_SORT_KEYS | JSON_REAL_PRECISION(8)))
		die(EX_INFRA, "cannot write results.json: %s", strerror(errno));
	fputc('\n', f);
	finish(f, "results.json");
	f = create(folder, "results.ktap");
	results_ktap(r, f);
	finish(f, "results.ktap");
	f = create(folder, "report.txt");
	results_report(r, f);
	finish(f, "report.txt");
	json_decref(o);
}

static const struct judge_program *find_program(const struct scenario *s)
{
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++)
		if (!strcmp(programs[i]->name, s->program))
			return programs[i];
	die(EX_USAGE, "no judge for program %s; a new one is a lab/host/judge-NAME.c, listed in judge-main.c",
	    s->program);
}

int main(int argc, char **argv)
{
	struct options opt = { 0 };
	struct scenario s;
	struct results r = {
		.scenario = &s,
		.base = { .name = "base", .runs = json_array() },
		.patched = { .name = "patched", .runs = json_array() },
		.meta = json_object(), .times = json_object(),
	};

	atexit(close_stdout);
	parse(argc, argv, &opt, &r);
	scenario_read(opt.scenario, opt.topology, &s);
	r.program = find_program(&s);
	r.reproducible = opt.reproducible;
	if (!outcome_parse(opt.expect, &r.expected))
		die(EX_USAGE, "--expect takes improved, no-difference or worse, not '%s'",
		    opt.expect);
	check_goal_names(&r, opt.scenario);
	runs_read(&r, opt.cpus, opt.run, opt.nr_runs);
	check_seeds(&r, opt.seeds);
	if (r.program->record)
		decide(&r);
	else
		decide_boot(&r);
	write_all(&r, opt.out);
	return results_ok(&r) ? EX_OK : EX_FAIL;
}
