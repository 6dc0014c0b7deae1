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
	&tg_nodes_judge,
	&tg_offline_judge,
	&tg_stall_judge,
	&tg_fair_judge,
	&tg_writes_judge,
	&wake_stack_judge,
};

struct options {
	const char *scenario, *topology, *cpus, *expect, *out, *seeds;
	bool reproducible, clean_only;
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
"  --reproducible        the bounds of the scenario count\n"
"  --clean-only          that the runs came up clean and have their records is all\n"
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
	enum { SCENARIO, TOPOLOGY, CPUS, EXPECT, OUT, SEEDS, META, TIME, REPRO, CLEAN, HELP };
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
		{ "clean-only", no_argument, NULL, CLEAN },
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
		else if (c == CLEAN)
			opt->clean_only = true;
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
	r.clean_only = opt.clean_only;
	if (!outcome_parse(opt.expect, &r.expected))
		die(EX_USAGE, "--expect takes improved, no-difference or worse, not '%s'",
		    opt.expect);
	check_names(&r, opt.scenario);
	runs_read(&r, opt.cpus, opt.run, opt.nr_runs);
	check_seeds(&r, opt.seeds);
	decide(&r);
	write_all(&r, opt.out);
	return results_ok(&r) ? EX_OK : EX_FAIL;
}
