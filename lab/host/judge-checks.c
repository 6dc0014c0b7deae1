// SPDX-License-Identifier: GPL-2.0-only
/* The questions that a scenario asks of its runs, and their answers. */
#include <stdlib.h>
#include <string.h>

#include "results.h"
#include "util.h"

static void add_check(struct results *r, bool ok, char *text)
{
	r->check[r->nr_checks].ok = ok;
	r->check[r->nr_checks++].text = text;
}

/* The scenario's bound called @kind for @metric, or NULL. */
static const char *bound(const struct results *r, const char *kind,
			 const struct metric *metric)
{
	char *key = xasprintf("%s%s", kind, metric->name);
	const char *value = scenario_get(r->scenario, key, NULL);

	free(key);
	return value && strcmp(value, "none") ? value : NULL;
}

static bool keeps(const struct metric *metric, double got, const char *limit)
{
	return metric->higher_is_better ? got >= atof(limit) : got <= atof(limit);
}

static const char *side_of(const struct metric *metric)
{
	return metric->higher_is_better ? "least" : "most";
}

/* goal: bound for the patched median, looked at where it is to improve. */
static void check_goal(struct results *r, int m)
{
	const struct metric *metric = &r->program->metric[m];
	const char *goal = bound(r, "goal_", metric);
	double got = r->verdict[m].patched;

	if (goal && r->expected == IMPROVED)
		add_check(r, keeps(metric, got, goal),
			  xasprintf("patched median of %s is at %s %s %s: %.2f",
				    metric->name, side_of(metric), goal, metric->unit, got));
}

/* every: bound for each sample of the patched kernel. */
static void check_every(struct results *r, int m)
{
	const struct metric *metric = &r->program->metric[m];
	const char *limit = bound(r, "every_", metric);
	const double *value = r->patched.value[m];
	double worst = r->patched.nr ? value[0] : 0;

	if (!limit)
		return;
	for (size_t i = 1; i < r->patched.nr; i++)
		if (metric->higher_is_better ? value[i] < worst : value[i] > worst)
			worst = value[i];
	add_check(r, keeps(metric, worst, limit),
		  xasprintf("every patched sample of %s is at %s %s %s: worst %.2f of %zu",
			    metric->name, side_of(metric), limit, metric->unit, worst,
			    r->patched.nr));
}

/* ratio: so many times must the patched median be better than base's. */
static void check_ratio(struct results *r, int m)
{
	const struct metric *metric = &r->program->metric[m];
	const char *times = bound(r, "ratio_", metric);
	double more = r->verdict[m].base, less = r->verdict[m].patched;

	if (!times)
		return;
	if (metric->higher_is_better) {
		more = r->verdict[m].patched;
		less = r->verdict[m].base;
	}
	add_check(r, more > 0 && more >= atof(times) * less,
		  xasprintf("median of %s is at least %s times better: base %.2f, patched %.2f",
			    metric->name, times, r->verdict[m].base, r->verdict[m].patched));
}

/* Runs with a console that is not clean were refused before. */
static void decide_boot(struct results *r)
{
	const struct side *sides[] = { &r->base, &r->patched };

	for (size_t i = 0; i < ARRAY_SIZE(sides); i++)
		add_check(r, sides[i]->nr_seeds > 0,
			  xasprintf("%s %s cleanly, with the machine asked for: %zu boots",
				    sides[i]->name, r->program->record ? "runs" : "boots",
				    sides[i]->nr_seeds));
}

static int find_metric(const struct results *r, const char *name)
{
	for (int m = 0; m < MAX_METRICS && r->program->metric[m].name; m++)
		if (!strcmp(name, r->program->metric[m].name))
			return m;
	return -1;
}

void check_names(struct results *r, const char *file)
{
	const struct scenario *s = r->scenario;
	const char *decide = scenario_get(s, "decide", NULL);

	for (size_t i = 0; i < s->nr_settings; i++) {
		const char *key = s->setting[i].key, *name = strchr(key, '_');

		if (!s->setting[i].guest && name && find_metric(r, name + 1) < 0)
			die(EX_USAGE, "%s: %s: program %s does not measure %s", file,
			    key, r->program->name, name + 1);
	}
	r->decides = decide ? find_metric(r, decide) : 0;
	if (r->decides < 0)
		die(EX_USAGE, "%s: decide: program %s does not measure %s", file,
		    r->program->name, decide);
}

static char *outcome_text(const struct results *r)
{
	const struct verdict *v = &r->verdict[r->decides];
	const struct metric *metric = &r->program->metric[r->decides];
	const char *outcome = v->outcome == NO_DIFFERENCE ? "no difference measurable" :
		outcome_name(v->outcome);

	if (metric->defect)
		return xasprintf("%s: %s, expected %s: base %zu of %zu samples, worst %.2f; patched %zu of %zu, worst %.2f",
				 metric->name, outcome, outcome_name(r->expected),
				 v->base_defects, r->base.nr, v->base,
				 v->patched_defects, r->patched.nr, v->patched);
	return xasprintf("%s: %s, expected %s: base %.2f, patched %.2f, effect %.2f, noise %.2f",
			 metric->name, outcome, outcome_name(r->expected),
			 v->base, v->patched, v->effect, v->noise);
}

/*
 * Bounds were set for guests that run by instruction count: elsewhere the
 * host's other work shows in the figures.
 */
void decide(struct results *r)
{
	for (int m = 0; m < MAX_METRICS && r->program->metric[m].name; m++)
		judge(&r->program->metric[m], m, &r->base, &r->patched, &r->verdict[m]);
	if (!r->program->record || r->clean_only) {
		decide_boot(r);
		return;
	}
	add_check(r, r->verdict[r->decides].outcome == r->expected, outcome_text(r));
	if (r->base.outside || r->patched.outside)
		add_check(r, false,
			  xasprintf("every task stays on its allowed CPUs: not in %zu samples of base and %zu of patched",
				    r->base.outside, r->patched.outside));
	for (int m = 0; r->reproducible && m < MAX_METRICS && r->program->metric[m].name; m++) {
		check_goal(r, m);
		check_every(r, m);
		check_ratio(r, m);
	}
}
