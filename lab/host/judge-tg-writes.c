// SPDX-License-Identifier: GPL-2.0-only
/*
 * tg-writes: what one window says of the writes to a task group's load.
 *
 * writes:  a second and CPU, over all CPUs
 * busiest: a second, of the CPU that wrote most
 * other:   share of writes to a counter in memory of another node, in percent
 * ops:     moves, messages or round trips, a second
 */
#include <string.h>

#include "judge.h"
#include "util.h"

static const char *sample(const json_t *fields, const char *cpus, double *value,
			  json_t *detail)
{
	double window, nr, own, other, busiest, ops, n;
	const json_t *load = json_object_get(fields, "load");

	(void)cpus;
	if (!field_number(fields, "window_us", 1, &window))
		return "the window has no length";
	if (!field_number(fields, "cpus", 1, &nr) || !field_number(fields, "own", 0, &own) ||
	    !field_number(fields, "other", 0, &other) || !field_number(fields, "busiest", 0, &busiest) ||
	    !field_number(fields, "ops", 0, &ops) || !field_number(fields, "n", 1, &n) || !load)
		return "a writes record lacks one of n, load, cpus, own, other, busiest, ops";
	if (busiest > own + other)
		return "one CPU wrote more than all";
	if (!ops)
		return "the tasks did nothing in a window";
	value[0] = (own + other) / nr * 1e6 / window;
	value[1] = busiest * 1e6 / window;
	value[2] = own + other > 0 ? 100 * other / (own + other) : 0;
	value[3] = ops * 1e6 / window;
	json_object_set_new(detail, "n", json_integer((json_int_t)n));
	json_object_set_new(detail, "load", json_string(json_string_value(load)));
	return NULL;
}

/* A tenth of what the rate limit lets through; a short window has a few such writes. */
#define FEW_WRITES 100

const struct judge_program tg_writes_judge = {
	.name = "tg-writes",
	.record = "writes",
	.count = "windows",
	.metric = {
		{ .name = "writes", .unit = "writes/s and CPU",
		  .min_effect = FEW_WRITES },
		{ .name = "busiest", .unit = "writes/s", .min_effect = FEW_WRITES },
		{ .name = "other", .unit = "%", .min_effect = 2 },
		{ .name = "ops", .unit = "1/s", .higher_is_better = true, .min_effect = 100 },
	},
	.sample = sample,
};
