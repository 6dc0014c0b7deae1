// SPDX-License-Identifier: GPL-2.0-only
/* Numbers out of a record's fields, for the judges; see judge.h. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "judge.h"

bool field_whole(const json_t *fields, const char *key, long *value)
{
	const char *s = json_string_value(json_object_get(fields, key));
	char *end;

	if (!s || !*s)
		return false;
	errno = 0;
	*value = strtol(s, &end, 10);
	return !*end && !errno;
}

bool field_number(const json_t *fields, const char *key, double min, double *value)
{
	const char *s = json_string_value(json_object_get(fields, key));
	char *end;

	if (!s)
		return false;
	*value = strtod(s, &end);
	return end != s && !*end && isfinite(*value) && *value >= min;
}
