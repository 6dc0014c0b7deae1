// SPDX-License-Identifier: GPL-2.0-only
/*
 * affinity-fork: what one storm says.
 *
 * used: share of the allowed CPU time that the workers got, in percent.
 * cov:  spread of CPU time between workers, standard deviation by mean, in percent.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cpulist.h"
#include "judge.h"
#include "util.h"

struct workers {
	double run_us[MAX_CPUS];
	int cpu[MAX_CPUS];
	int nr;
};

static const char *text(const json_t *fields, const char *key)
{
	const char *s = json_string_value(json_object_get(fields, key));

	return s ? s : "";
}

/* Two lists of numbers, "900,100" and "0,4", of the same length. */
static const char *read_workers(const json_t *fields, struct workers *w)
{
	const char *run = text(fields, "run_us"), *cpu = text(fields, "cpu");
	char *end;
	long n;

	for (w->nr = 0; *run; w->nr++) {
		if (w->nr == MAX_CPUS)
			return "too many workers";
		w->run_us[w->nr] = strtod(run, &end);
		if (end == run || !isfinite(w->run_us[w->nr]) || w->run_us[w->nr] < 0)
			return "run_us is no list of numbers";
		run = end + (*end == ',');
		n = strtol(cpu, &end, 10);
		if (end == cpu || n < 0 || n >= MAX_CPUS)
			return "cpu is no list of CPUs as long as run_us";
		w->cpu[w->nr] = n;
		cpu = end + (*end == ',');
	}
	return *cpu || !w->nr ? "run_us and cpu have different lengths" : NULL;
}

static double sum(const double *v, int n)
{
	double total = 0;

	for (int i = 0; i < n; i++)
		total += v[i];
	return total;
}

static double cov_percent(const double *v, int n)
{
	double mean = sum(v, n) / n, square = 0;

	for (int i = 0; i < n; i++)
		square += (v[i] - mean) * (v[i] - mean);
	return mean > 0 ? 100 * sqrt(square / n) / mean : 0;
}

/* How many workers ended on each allowed CPU, and on how many CPUs in all. */
static void placement(const struct workers *w, const struct cpulist *mask,
		      json_t *detail)
{
	int on[MAX_CPUS] = { 0 }, used = 0, most = 0, outside = 0;
	json_t *list = json_array();

	for (int i = 0; i < w->nr; i++) {
		outside += !mask->has[w->cpu[i]];
		on[w->cpu[i]]++;
	}
	if (outside)
		json_object_set_new(detail, "outside_mask", json_integer(outside));
	for (int cpu = cpulist_next(mask, -1); cpu >= 0; cpu = cpulist_next(mask, cpu)) {
		json_array_append_new(list, json_integer(on[cpu]));
		used += on[cpu] > 0;
		if (on[cpu] > most)
			most = on[cpu];
	}
	json_object_set_new(detail, "cpus_used", json_integer(used));
	json_object_set_new(detail, "most_on_one_cpu", json_integer(most));
	json_object_set_new(detail, "workers_per_cpu", list);
}

static const char *sample(const json_t *fields, const char *cpus, double *value,
			  json_t *detail)
{
	static const char *const copied[] = { "n", "parent", "window_us",
					      "fork_us", "start_us" };
	double window = atof(text(fields, "window_us"));
	struct cpulist mask;
	struct workers w;
	const char *wrong;

	if (cpulist_parse(cpus, &mask) || !cpulist_count(&mask))
		return "the mask is no CPU list";
	if (!isfinite(window) || window <= 0)
		return "the window has no length";
	for (size_t i = 0; i < ARRAY_SIZE(copied); i++)
		if (!*text(fields, copied[i]))
			return "a storm record lacks one of n, parent, window_us, fork_us, start_us";
	wrong = read_workers(fields, &w);
	if (!wrong && w.nr != cpulist_count(&mask))
		wrong = "not as many workers as allowed CPUs";
	if (wrong)
		return wrong;
	placement(&w, &mask, detail);
	value[0] = 100 * sum(w.run_us, w.nr) / (window * cpulist_count(&mask));
	value[1] = cov_percent(w.run_us, w.nr);
	if (!isfinite(value[0]) || !isfinite(value[1]))
		return "the times are larger than any guest's";
	for (size_t i = 0; i < ARRAY_SIZE(copied); i++)
		json_object_set_new(detail, copied[i],
				    json_integer(atol(text(fields, copied[i]))));
	return NULL;
}

const struct judge_program affinity_fork_judge = {
	.name = "affinity-fork",
	.record = "storm",
	.count = "storms",
	.metric = {
		{ .name = "used", .unit = "%", .higher_is_better = true, .min_effect = 2 },
		{ .name = "cov", .unit = "%", .min_effect = 2 },
	},
	.sample = sample,
};
