// SPDX-License-Identifier: GPL-2.0-only
/* The verdict: base against patched, measured against base's own noise. */
#include <math.h>
#include <string.h>

#include "judge.h"
#include "util.h"

static const char *const names[] = {
	[IMPROVED] = "improved",
	[NO_DIFFERENCE] = "no-difference",
	[WORSE] = "worse",
};

const char *outcome_name(enum outcome o)
{
	return names[o];
}

bool outcome_parse(const char *text, enum outcome *o)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (!strcmp(text, names[i])) {
			*o = i;
			return true;
		}
	}
	return false;
}

static double seed_median(const struct side *s, int m, size_t seed)
{
	size_t from = s->seed_from[seed];

	return median(s->value[m] + from, s->seed_from[seed + 1] - from);
}

/*
 * One seed repeats itself exactly, so noise is what other seeds do to the same
 * kernel: the largest distance between the medians of two of them.
 */
static double noise(const struct side *base, int m)
{
	double low = seed_median(base, m, 0), high = low;

	for (size_t i = 1; i < base->nr_seeds; i++) {
		double med = seed_median(base, m, i);

		low = fmin(low, med);
		high = fmax(high, med);
	}
	return high - low;
}

void judge(const struct metric *metric, int m, const struct side *base,
	   const struct side *patched, struct verdict *v)
{
	v->base = median(base->value[m], base->nr);
	v->patched = median(patched->value[m], patched->nr);
	v->effect = v->patched - v->base;
	if (!metric->higher_is_better)
		v->effect = -v->effect;
	v->noise = noise(base, m);
	if (fabs(v->effect) <= fmax(v->noise, metric->min_effect))
		v->outcome = NO_DIFFERENCE;
	else
		v->outcome = v->effect > 0 ? IMPROVED : WORSE;
}
