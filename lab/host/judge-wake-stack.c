// SPDX-License-Identifier: GPL-2.0-only
/*
 * wake-stack: what one window says of where wakees ran and how soon.
 *
 * stacked: share of wakees that first ran on the CPU they were woken from, in percent
 * deepest: most wakees of one burst on that CPU
 * p50, p99, mean, max: from the wakeup until the wakee ran, in microseconds
 * wakes:   wakeups a second
 */
#include <string.h>

#include "judge.h"
#include "util.h"

enum { WINDOW, WAKES, STACKED, DEEPEST, MEAN, P50, P99, MAX, NR_FIELDS };

static const char *sample(const json_t *fields, const char *cpus, double *value,
			  json_t *detail)
{
	static const char *const names[NR_FIELDS] = { "window_us", "wakes", "stacked", "deepest",
						      "mean_us", "p50_us", "p99_us", "max_us" };
	static const char *const copied[] = { "n", "wakers", "wakees" };
	double in[NR_FIELDS];

	(void)cpus;
	for (int i = 0; i < NR_FIELDS; i++)
		if (!field_number(fields, names[i], 0, &in[i]))
			return "a number of a wake record is missing or wrong";
	for (size_t i = 0; i < ARRAY_SIZE(copied); i++) {
		const char *text = json_string_value(json_object_get(fields, copied[i]));

		if (!text)
			return "a wake record lacks one of n, wakers, wakees";
		json_object_set_new(detail, copied[i], json_string(text));
	}
	if (in[WINDOW] < 1 || in[WAKES] < 1)
		return "nobody was woken in a window";
	if (in[STACKED] > in[WAKES])
		return "more wakees were stacked than woken";
	value[0] = 100 * in[STACKED] / in[WAKES];
	value[1] = in[DEEPEST];
	value[2] = in[P50];
	value[3] = in[P99];
	value[4] = in[MEAN];
	value[5] = in[MAX];
	value[6] = in[WAKES] * 1e6 / in[WINDOW];
	return NULL;
}

const struct judge_program wake_stack_judge = {
	.name = "wake-stack",
	.record = "wake",
	.count = "windows",
	.metric = {
		{ .name = "stacked", .unit = "%", .min_effect = 1 },
		{ .name = "deepest", .unit = "wakees", .min_effect = 1 },
		{ .name = "p50", .unit = "us", .min_effect = 10 },
		{ .name = "p99", .unit = "us", .min_effect = 100 },
		{ .name = "mean", .unit = "us", .min_effect = 10 },
		{ .name = "max", .unit = "us", .min_effect = 1000 },
		{ .name = "wakes", .unit = "1/s", .higher_is_better = true, .min_effect = 100 },
	},
	.sample = sample,
};
