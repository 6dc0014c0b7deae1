// SPDX-License-Identifier: GPL-2.0-only
/* Medians and quantiles. */
#include <stdlib.h>
#include <string.h>

#include "judge.h"
#include "util.h"

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double quantile(const double *value, size_t n, double p)
{
	double *sorted, pos, result;
	size_t low;

	if (!n)
		return 0;
	sorted = xcalloc(n, sizeof(*sorted));
	memcpy(sorted, value, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), compare);
	pos = p * (n - 1);
	low = (size_t)pos;
	result = sorted[low];
	if (low + 1 < n)
		result += (pos - low) * (sorted[low + 1] - sorted[low]);
	free(sorted);
	return result;
}

double median(const double *value, size_t n)
{
	return quantile(value, n, 0.5);
}
