// SPDX-License-Identifier: GPL-2.0-only
/* Reading runs: what kit-console printed becomes the samples of two sides. */
#include <stdlib.h>
#include <string.h>

#include "results.h"
#include "util.h"

/* One run as it was given. */
struct run {
	int seed;
	const char *sha, *file;
};

static void add_sample(struct side *s, const double *value)
{
	for (int m = 0; m < MAX_METRICS; m++) {
		s->value[m] = xrealloc(s->value[m], (s->nr + 1) * sizeof(double));
		s->value[m][s->nr] = value[m];
	}
	s->nr++;
}

static void add_record(struct side *s, const struct results *r, const json_t *fields,
		       const char *cpus, const char *file, json_t *samples)
{
	double value[MAX_METRICS] = { 0 };
	json_t *detail = json_object();
	const char *wrong = r->program->sample(fields, cpus, value, detail);

	if (wrong)
		die(EX_USAGE, "%s: %s", file, wrong);
	for (int m = 0; m < MAX_METRICS && r->program->metric[m].name; m++) {
		char *text = xasprintf("%.2f", value[m]);

		json_object_set_new(detail, r->program->metric[m].name,
				    json_real(atof(text)));
		free(text);
	}
	add_sample(s, value);
	s->outside += json_object_get(detail, "outside_mask") != NULL;
	json_array_append_new(samples, detail);
}

/* A run that broke off must not count as a short one. */
static void check_count(const struct results *r, size_t got, const char *file)
{
	const char *asked = r->program->count ?
		scenario_get(r->scenario, r->program->count, NULL) : NULL;

	if (!got)
		die(EX_USAGE, "%s: no %s record; did the scenario run?", file,
		    r->program->record);
	if (asked && (size_t)atol(asked) != got)
		die(EX_USAGE, "%s: %zu %s records, but the scenario asks for %s", file,
		    got, r->program->record, asked);
}

static json_t *load(const char *file)
{
	json_error_t err;
	json_t *in = json_load_file(file, 0, &err), *problems;

	if (!in && err.line < 0)
		die(EX_USAGE, "%s", err.text);
	if (!in)
		die(EX_USAGE, "%s:%d: %s", file, err.line, err.text);
	problems = json_object_get(in, "problems");
	if (json_array_size(problems))
		die(EX_USAGE, "%s: this console has %zu problems; only clean ones are judged",
		    file, json_array_size(problems));
	if (json_is_false(json_object_get(in, "ended")))
		die(EX_USAGE, "%s: this guest did not come to its end", file);
	return in;
}

static json_t *read_records(struct side *s, const struct results *r, const json_t *in,
			    const char *cpus, const char *file)
{
	json_t *samples = json_array(), *rec;
	size_t i;

	if (!r->program->record)
		return samples;
	json_array_foreach(json_object_get(in, "records"), i, rec) {
		const char *type = json_string_value(json_object_get(rec, "type"));

		if (type && !strcmp(type, r->program->record))
			add_record(s, r, json_object_get(rec, "fields"), cpus, file,
				   samples);
	}
	check_count(r, json_array_size(samples), file);
	return samples;
}

static void add_run(struct side *s, const struct results *r, const struct run *run,
		    const char *cpus)
{
	json_t *in = load(run->file), *samples;

	if (s->nr_seeds == MAX_SEEDS)
		die(EX_USAGE, "more than %d runs of one side", MAX_SEEDS);
	for (size_t i = 0; i < s->nr_seeds; i++)
		if (s->seed[i] == run->seed)
			die(EX_USAGE, "seed %d of %s is given twice; a seed repeats itself",
			    run->seed, s->name);
	s->seed_from[s->nr_seeds] = s->nr;
	samples = read_records(s, r, in, cpus, run->file);
	s->seed[s->nr_seeds] = run->seed;
	s->seed_from[++s->nr_seeds] = s->nr;
	json_array_append_new(s->runs,
			      json_pack("{s:i, s:s, s:o}", "seed", run->seed,
					"console_sha256", run->sha, "samples", samples));
	json_decref(in);
}

/* SIDE:SEED:SHA256:FILE, cut up in place; returns the side. */
static struct side *parse_run(struct results *r, char *text, struct run *run)
{
	char *whole = xstrdup(text), *rest = text, *end = "";
	const char *name = strsep(&rest, ":"), *seed = strsep(&rest, ":");

	run->sha = strsep(&rest, ":");
	run->file = rest;
	run->seed = seed ? (int)strtol(seed, &end, 10) : 0;
	if (!rest || !*rest || *end || end == seed ||
	    (strcmp(name, "base") && strcmp(name, "patched")))
		die(EX_USAGE, "'%s' is no run; give base:SEED:SHA256:FILE or patched:SEED:SHA256:FILE",
		    whole);
	free(whole);
	return strcmp(name, "base") ? &r->patched : &r->base;
}

void runs_read(struct results *r, const char *cpus, char *const *text, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		char *copy = xstrdup(text[i]);
		struct run run;
		struct side *s = parse_run(r, copy, &run);

		add_run(s, r, &run, cpus);
		free(copy);
	}
	if (!r->base.nr_seeds || !r->patched.nr_seeds)
		die(EX_USAGE, "runs of both sides, base and patched, are needed");
	if (r->program->record && !r->clean_only && r->base.nr_seeds < 2)
		die(EX_USAGE, "one seed repeats itself and shows no noise; give at least two runs of base");
}
