// SPDX-License-Identifier: GPL-2.0-only
/* lab/host/stats.c: medians and quantiles against values worked out by hand. */
#include <math.h>

#include "judge.h"
#include "tap.h"
#include "util.h"

static bool near(double a, double b)
{
	return fabs(a - b) < 1e-9;
}

static void medians(void)
{
	const double one[] = { 7 }, odd[] = { 9, 1, 5 }, even[] = { 4, 1, 3, 2 };
	const double same[] = { 2, 2, 2, 8 }, below[] = { -5, 3, -1 };

	ok(median(NULL, 0) == 0, "the median of nothing is 0");
	ok(median(one, 1) == 7, "the median of one value is that value");
	ok(median(odd, 3) == 5, "an odd number of values has the middle one as its median");
	ok(near(median(even, 4), 2.5), "an even number has the mean of the middle two");
	ok(median(same, 4) == 2, "values that occur often count each time");
	ok(median(below, 3) == -1, "values below zero are in order too");
}

static void quantiles(void)
{
	const double v[] = { 50, 10, 40, 20, 30 };

	ok(quantile(v, 5, 0) == 10, "quantile 0 is the smallest value");
	ok(quantile(v, 5, 1) == 50, "quantile 1 is the largest value");
	ok(near(quantile(v, 5, 0.25), 20), "the first quartile of five values is the second one");
	ok(near(quantile(v, 5, 0.1), 14), "between two values a quantile is interpolated");
	ok(near(quantile(v, 4, 0.75), 42.5), "so it is near the upper end");
}

static void input(void)
{
	double v[] = { 3, 1, 2 };

	median(v, 3);
	ok(v[0] == 3 && v[1] == 1 && v[2] == 2, "the values stay in the caller's order");
}

int main(void)
{
	medians();
	quantiles();
	input();
	return tap_done();
}
