// SPDX-License-Identifier: GPL-2.0-only
/*
 * tg-offline and tg-stall: what one round says.
 *
 * stale: how far a group's load is off from the sum of what its listed cfs_rqs
 * have added, as load_avg: a task that always runs has about 1024. What nobody
 * will take out again is in the first and not in the second.
 */
#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "cpulist.h"
#include "judge.h"
#include "util.h"

static const char *stale(const json_t *fields, const char *const *copied, double *value,
			 json_t *detail)
{
	long load, contrib, listed, n;

	if (!field_whole(fields, "load", &load) || !field_whole(fields, "contrib", &contrib) ||
	    !field_whole(fields, "listed", &listed))
		return "a record lacks load, contrib or listed, or one is no number";
	if (listed < 1 || listed > MAX_CPUS)
		return "the group was not listed, so its load says nothing";
	if (contrib < 0)
		return "the contributions are negative";
	for (; *copied; copied++) {
		if (!field_whole(fields, *copied, &n))
			return "a record lacks what its round was like";
		json_object_set_new(detail, *copied, json_integer(n));
	}
	json_object_set_new(detail, "load", json_integer(load));
	json_object_set_new(detail, "contrib", json_integer(contrib));
	json_object_set_new(detail, "listed", json_integer(listed));
	value[0] = fabs((double)load - (double)contrib);
	return NULL;
}

static const char *offline_sample(const json_t *fields, const char *cpus, double *value,
				  json_t *detail)
{
	static const char *const copied[] = { "n", "refused", NULL };
	const char *off = json_string_value(json_object_get(fields, "cpus"));

	(void)cpus;
	if (!off || !*off)
		return "an offline record does not say which CPUs went offline";
	json_object_set_new(detail, "cpus", json_string(off));
	return stale(fields, copied, value, detail);
}

static const char *stall_sample(const json_t *fields, const char *cpus, double *value,
				json_t *detail)
{
	static const char *const copied[] = { "n", "stay_us", "cpus", NULL };

	(void)cpus;
	return stale(fields, copied, value, detail);
}

/*
 * The file is not read at one moment: the task that keeps the group listed may
 * change its contribution meanwhile, in steps of 1/64 of 1024.
 */
#define STALE { .name = "stale", .unit = "load", .min_effect = 32, .defect = true }

const struct judge_program tg_offline_judge = {
	.name = "tg-offline",
	.record = "offline",
	.count = "rounds",
	.metric = { STALE },
	.sample = offline_sample,
};

const struct judge_program tg_stall_judge = {
	.name = "tg-stall",
	.record = "stall",
	.count = "rounds",
	.metric = { STALE },
	.sample = stall_sample,
};
