// SPDX-License-Identifier: GPL-2.0-only
/*
 * tg-fair: what one window says of the shares of groups.
 *
 * error: largest distance of a group's share from what was due to it, in points
 * idle:  share of all CPUs' time that no group used, in percent
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "judge.h"
#include "util.h"

enum { MAX_GROUPS = 8 };

static const char *text(const json_t *fields, const char *key)
{
	const char *s = json_string_value(json_object_get(fields, key));

	return s ? s : "";
}

/* "900,100": how many numbers, none below 0; 0 if it is no such list. */
static int numbers(const char *list, double *value)
{
	char *end;

	for (int n = 0; n < MAX_GROUPS; list = end + 1) {
		value[n] = strtod(list, &end);
		if (end == list || !isfinite(value[n]) || value[n] < 0)
			return 0;
		n++;
		if (!*end)
			return n;
		if (*end != ',')
			return 0;
	}
	return 0;
}

static double sum(const double *v, int n)
{
	double total = 0;

	for (int i = 0; i < n; i++)
		total += v[i];
	return total;
}

static const char *sample(const json_t *fields, const char *cpus, double *value,
			  json_t *detail)
{
	double used[MAX_GROUPS], due[MAX_GROUPS], total, worst = 0;
	double window = atof(text(fields, "window_us")), nr = atof(text(fields, "cpus"));
	int n = numbers(text(fields, "used_us"), used);

	(void)cpus;
	if (!isfinite(window) || window <= 0 || !isfinite(nr) || nr < 1)
		return "the window has no length, or there are no CPUs";
	if (!*text(fields, "n") || !*text(fields, "case"))
		return "a shares record lacks one of n, case";
	if (n < 2 || numbers(text(fields, "due"), due) != n)
		return "used_us and due are no lists of the same groups";
	if (fabs(sum(due, n) - 1000) > 0.5)
		return "what is due to the groups is not all there is";
	total = sum(used, n);
	if (total <= 0)
		return "no group ran in a window";
	for (int i = 0; i < n; i++)
		worst = fmax(worst, fabs(100 * used[i] / total - due[i] / 10));
	value[0] = worst;
	value[1] = fmax(0, 100 - 100 * total / (window * nr));
	json_object_set_new(detail, "n", json_string(text(fields, "n")));
	json_object_set_new(detail, "case", json_string(text(fields, "case")));
	json_object_set_new(detail, "used_us", json_string(text(fields, "used_us")));
	return NULL;
}

const struct judge_program tg_fair_judge = {
	.name = "tg-fair",
	.record = "shares",
	.count = "records",
	.metric = {
		{ .name = "error", .unit = "points", .min_effect = 2 },
		{ .name = "idle", .unit = "%", .min_effect = 2 },
	},
	.sample = sample,
};
