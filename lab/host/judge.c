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

/* How many samples show the defect; the worst of all into @worst. */
static size_t defects(const struct metric *metric, int m, const struct side *s,
		      double *worst)
{
	size_t n = 0;

	*worst = 0;
	for (size_t i = 0; i < s->nr; i++) {
		n += s->value[m][i] > metric->min_effect;
		*worst = fmax(*worst, s->value[m][i]);
	}
	return n;
}

/*
 * A defect of some rounds only makes base differ from itself as much as from
 * the patched kernel, so there is no noise to measure against: it is there or not.
 */
static void judge_defect(const struct metric *metric, int m, const struct side *base,
			 const struct side *patched, struct verdict *v)
{
	v->base_defects = defects(metric, m, base, &v->base);
	v->patched_defects = defects(metric, m, patched, &v->patched);
	v->effect = v->base - v->patched;
	v->noise = 0;
	if (!v->base_defects == !v->patched_defects)
		v->outcome = NO_DIFFERENCE;
	else
		v->outcome = v->base_defects ? IMPROVED : WORSE;
}

void judge(const struct metric *metric, int m, const struct side *base,
	   const struct side *patched, struct verdict *v)
{
	if (metric->defect) {
		judge_defect(metric, m, base, patched, v);
		return;
	}
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
