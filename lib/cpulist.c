// SPDX-License-Identifier: GPL-2.0-only
/* CPU lists; see cpulist.h. No allocation: the guest's init uses it too. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpulist.h"

/* Read one number below MAX_CPUS at *@p and step over it; -1 if none. */
static int number(const char **p)
{
	char *end;
	long n;

	if (**p < '0' || **p > '9')
		return -1;
	n = strtol(*p, &end, 10);
	if (n < 0 || n >= MAX_CPUS)
		return -1;
	*p = end;
	return n;
}

const char *cpulist_parse(const char *text, struct cpulist *l)
{
	const char *p = text;

	memset(l, 0, sizeof(*l));
	while (*p) {
		int from = number(&p), to = from, step = 1;

		if (from < 0)
			return "a CPU number is missing or too large";
		if (*p == '-') {
			p++;
			to = number(&p);
			if (to < from)
				return "a range ends before it starts";
			if (*p == ':') {
				p++;
				step = number(&p);
				if (step < 1)
					return "a stride must be at least 1";
			}
		}
		for (int cpu = from; cpu <= to; cpu += step)
			l->has[cpu] = 1;
		if (*p == ',' && p[1])
			p++;
		else if (*p)
			return "unexpected character in a CPU list";
	}
	return NULL;
}

int cpulist_format(const struct cpulist *l, char *buf, size_t size)
{
	size_t len = 0;

	if (!size)
		return -1;
	buf[0] = '\0';
	for (int from = cpulist_next(l, -1); from >= 0;) {
		int to = from, n;

		while (to + 1 < MAX_CPUS && l->has[to + 1])
			to++;
		if (to > from)
			n = snprintf(buf + len, size - len, "%s%d-%d",
				     len ? "," : "", from, to);
		else
			n = snprintf(buf + len, size - len, "%s%d",
				     len ? "," : "", from);
		if (n < 0 || (size_t)n >= size - len)
			return -1;
		len += n;
		from = cpulist_next(l, to);
	}
	return len;
}

int cpulist_count(const struct cpulist *l)
{
	int n = 0;

	for (int cpu = 0; cpu < MAX_CPUS; cpu++)
		n += l->has[cpu];
	return n;
}

int cpulist_next(const struct cpulist *l, int cpu)
{
	for (cpu++; cpu < MAX_CPUS; cpu++)
		if (l->has[cpu])
			return cpu;
	return -1;
}

bool cpulist_equal(const struct cpulist *a, const struct cpulist *b)
{
	return !memcmp(a->has, b->has, sizeof(a->has));
}
