/* SPDX-License-Identifier: GPL-2.0-only */
/* CPU lists ("0-3,8,10-14:2") as sysfs and taskset write them. */
#ifndef KIT_CPULIST_H
#define KIT_CPULIST_H

#include <stdbool.h>
#include <stddef.h>

#define MAX_CPUS 1024

struct cpulist {
	unsigned char has[MAX_CPUS];	/* 1 where the CPU is in the list */
};

/*
 * cpulist_parse - read @text ("0-8", "0,2,4-20:2", "" is the empty list).
 * Returns NULL, or what is wrong as a constant string; @l is then undefined.
 */
const char *cpulist_parse(const char *text, struct cpulist *l);

/*
 * cpulist_format - write @l in sysfs' own form ("0-3,8") to @buf.
 * Returns the length, or -1 if it does not fit into @size.
 */
int cpulist_format(const struct cpulist *l, char *buf, size_t size);

int cpulist_count(const struct cpulist *l);
/* The first CPU above @cpu (start with -1), or -1. */
int cpulist_next(const struct cpulist *l, int cpu);
bool cpulist_equal(const struct cpulist *a, const struct cpulist *b);

#endif
