// SPDX-License-Identifier: GPL-2.0-only
/* lab/host/judge.c: effect, noise and the three outcomes. */
#include <math.h>
#include <string.h>

#include "judge.h"
#include "tap.h"
#include "util.h"

static const struct metric more = { "share", "%", true, 2, false };
static const struct metric less = { "spread", "%", false, 2, false };

/* Samples of up to three seeds, @each of them in a row. */
static struct side side_of(double *value, size_t seeds, size_t each)
{
	struct side s = { .nr = seeds * each, .nr_seeds = seeds };

	s.value[0] = value;
	for (size_t i = 0; i <= seeds; i++)
		s.seed_from[i] = i * each;
	return s;
}

static struct verdict verdict(const struct metric *m, double base1, double base2,
			      double patched)
{
	double b[] = { base1, base1, base1, base2, base2, base2 };
	double p[] = { patched, patched, patched };
	struct side base = side_of(b, 2, 3), after = side_of(p, 1, 3);
	struct verdict v;

	judge(m, 0, &base, &after, &v);
	return v;
}

static bool says(const struct metric *m, double base1, double base2, double patched,
		 enum outcome o)
{
	return verdict(m, base1, base2, patched).outcome == o;
}

static void effects(void)
{
	struct verdict v = verdict(&more, 20, 24, 97);

	ok(v.base == 22 && v.patched == 97, "the medians are those of all samples of a side");
	ok(v.effect == 75, "where more is better the effect is patched less base");
	v = verdict(&less, 100, 100, 30);
	ok(v.effect == 70, "where less is better it is base less patched");
}

static void noises(void)
{
	double v[] = { 10, 10, 90, 14, 14, 14, 11, 11, 0 }, w[] = { 50 };
	struct side base = side_of(v, 3, 3), patched = side_of(w, 1, 1);
	struct verdict r;

	judge(&more, 0, &base, &patched, &r);
	ok(r.noise == 4, "noise is the largest distance between the medians of two seeds of base");
	ok(verdict(&more, 20, 20, 97).noise == 0, "seeds of base that agree have none");
	ok(verdict(&more, 24, 20, 97).noise == 4, "it does not hang on the order of the seeds");
	ok(verdict(&less, 20, 24, 10).noise == 4, "it is no less where less is better");
}

static void outcomes(void)
{
	ok(says(&more, 20, 22, 97, IMPROVED), "more than noise and the least effect is improved");
	ok(says(&more, 90, 90, 40, WORSE), "as much to the other side is worse");
	ok(says(&less, 120, 118, 1, IMPROVED), "less is improved where less is better");
	ok(says(&less, 1, 1, 50, WORSE), "and more is worse there");
	ok(says(&more, 20, 60, 65, NO_DIFFERENCE), "an effect inside of the noise is no difference");
	ok(says(&more, 20, 60, 15, NO_DIFFERENCE), "also where it looks worse");
	ok(says(&more, 20, 40, 50, NO_DIFFERENCE), "an effect as large as the noise is no difference");
	ok(says(&more, 20, 40, 50.1, IMPROVED), "one that is just larger is one");
	ok(says(&more, 95, 95, 97, NO_DIFFERENCE), "the least effect itself is no difference");
	ok(says(&more, 95, 95, 97.1, IMPROVED), "one that is just larger than it is one");
	ok(says(&more, 95, 95, 92.9, WORSE), "to the worse as well");
	ok(says(&more, 0, 0, 0, NO_DIFFERENCE), "two sides of zeroes are no difference");
}

/* Ten samples of each side, of which so many are over the least effect. */
static struct verdict counted(size_t base, size_t patched)
{
	static const struct metric stale = { "stale", "load", false, 32, true };
	double b[10], p[10];
	struct side before = side_of(b, 2, 5), after = side_of(p, 2, 5);
	struct verdict v;

	for (size_t i = 0; i < 10; i++) {
		b[i] = i < base ? 1975 + i : 32;
		p[i] = i < patched ? 40 : 0;
	}
	judge(&stale, 0, &before, &after, &v);
	return v;
}

static void defects(void)
{
	struct verdict v = counted(1, 0);

	ok(v.outcome == IMPROVED, "a defect of one sample in ten of base, and none of patched, is improved");
	ok(v.base_defects == 1 && v.patched_defects == 0, "samples over the least effect are counted, ones at it are not");
	ok(v.base == 1975, "the worst sample is told in place of a median");
	ok(counted(10, 1).outcome == NO_DIFFERENCE, "one that is left on both sides is no difference, however rare");
	ok(counted(0, 0).outcome == NO_DIFFERENCE, "nor is one that base does not show");
	ok(counted(0, 1).outcome == WORSE, "one that only patched shows is worse");
}

static void names(void)
{
	enum outcome o = WORSE;
	bool all = true;

	for (enum outcome i = IMPROVED; i <= WORSE; i++)
		all = all && outcome_parse(outcome_name(i), &o) && o == i;
	ok(all, "each outcome's name reads as that outcome");
	ok(!outcome_parse("better", &o) && !outcome_parse("", &o) &&
	   !outcome_parse("improve", &o), "other words are none");
}

int main(void)
{
	effects();
	noises();
	outcomes();
	defects();
	names();
	return tap_done();
}
