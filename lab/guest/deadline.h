/* SPDX-License-Identifier: GPL-2.0-only */
/* Deadline tasks that do nothing but have bandwidth promised to them. */
#ifndef KIT_DEADLINE_H
#define KIT_DEADLINE_H

#include "cpulist.h"

/*
 * deadline_fill - start tasks that may use all of @cpus, until the kernel does
 * not promise another per cent of a CPU. fail() if it promises nothing, or all.
 */
void deadline_fill(const struct cpulist *cpus);

/* deadline_end - end them, and wait until the kernel has the bandwidth back. */
void deadline_end(void);

#endif
