// SPDX-License-Identifier: GPL-2.0-only
/*
 * tg-nodes: what one step says.
 *
 * leaked: objects of groups that are alive after the step and were not before.
 * error:  how far a group's load is off from the sum of what its cfs_rqs have
 *         added, in percent of that.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "judge.h"
#include "util.h"

/* A whole number, also into @detail; false if it is missing or anything else. */
static bool number(const json_t *fields, const char *key, long *value, json_t *detail)
{
	if (!field_whole(fields, key, value))
		return false;
	json_object_set_new(detail, key, json_integer(*value));
	return true;
}

static const char *memory(const json_t *fields, double *value, json_t *detail)
{
	long each, objects, leaked;

	if (!number(fields, "each", &each, detail) ||
	    !number(fields, "objects", &objects, detail) ||
	    !number(fields, "leaked", &leaked, detail))
		return "a groups record lacks one of each, objects, leaked";
	if (each < 1)
		return "a group takes no objects, so counting them says nothing";
	value[0] = labs(leaked);
	return NULL;
}

static const char *equal(const json_t *fields, double *value, json_t *detail)
{
	long load, contrib;

	if (!number(fields, "load", &load, detail) ||
	    !number(fields, "contrib", &contrib, detail))
		return "a groups record lacks load or contrib";
	if (contrib < 1)
		return "the group had no load, so that its sum says nothing";
	value[1] = 100 * fabs((double)load - contrib) / contrib;
	return NULL;
}

static const char *sample(const json_t *fields, const char *cpus, double *value,
			  json_t *detail)
{
	const char *step = json_string_value(json_object_get(fields, "step"));
	long n, refused;

	(void)cpus;
	if (!step)
		return "a groups record does not say which step it is";
	if (!number(fields, "n", &n, detail) || n < 1)
		return "a step did nothing";
	json_object_set_new(detail, "step", json_string(step));
	if (!strcmp(step, "equal"))
		return equal(fields, value, detail);
	if (!strcmp(step, "fail") &&
	    (!number(fields, "refused", &refused, detail) || refused < 1))
		return "no allocation that failed kept a group from being made";
	return memory(fields, value, detail);
}

const struct judge_program tg_nodes_judge = {
	.name = "tg-nodes",
	.record = "groups",
	.metric = {
		{ .name = "leaked", .unit = "objects", .defect = true },
		{ .name = "error", .unit = "%", .min_effect = 4, .defect = true },
	},
	.sample = sample,
};
