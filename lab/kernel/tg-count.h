/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counts the writes to the load of task groups, for every CPU, without a change
 * of the kernel's source:
 *
 *	make CFLAGS_fair.o="-include .../tg-count.h"
 *
 * In fair.c, atomic_long_add() and atomic_long_sub() are used for nothing else (6.1
 * to 6.18; tests/tg-count.bats checks the trees at hand and each patch). The second
 * is how the kit's patches take the load of an offline CPU out in 6.1 and 6.6.
 *
 * /sys/module/fair/parameters/tg_writes: for each possible CPU "CPU OWN OTHER",
 * one a line: writes to a counter in memory of the CPU's own node, and of
 * another. Counters only grow.
 */
#ifndef KIT_TG_COUNT_H
#define KIT_TG_COUNT_H

#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/percpu.h>
#include <linux/topology.h>

struct kit_tg_writes {
	unsigned long own, other;
};
static DEFINE_PER_CPU(struct kit_tg_writes, kit_tg_writes);

/* The runqueue's lock is held: no other code of this CPU counts meanwhile. */
static __always_inline void kit_count_write(const atomic_long_t *v)
{
	if (page_to_nid(virt_to_page(v)) == numa_node_id())
		__this_cpu_inc(kit_tg_writes.own);
	else
		__this_cpu_inc(kit_tg_writes.other);
}

static __always_inline void kit_atomic_long_add(long i, atomic_long_t *v)
{
	kit_count_write(v);
	atomic_long_add(i, v);
}

static __always_inline void kit_atomic_long_sub(long i, atomic_long_t *v)
{
	kit_count_write(v);
	atomic_long_sub(i, v);
}

#define atomic_long_add(i, v) kit_atomic_long_add(i, v)
#define atomic_long_sub(i, v) kit_atomic_long_sub(i, v)

static int kit_tg_writes_get(char *buf, const struct kernel_param *kp)
{
	int cpu, len = 0;

	for_each_possible_cpu(cpu) {
		const struct kit_tg_writes *w = per_cpu_ptr(&kit_tg_writes, cpu);

		len += scnprintf(buf + len, PAGE_SIZE - len, "%d %lu %lu\n", cpu,
				 READ_ONCE(w->own), READ_ONCE(w->other));
	}
	return len;
}

static const struct kernel_param_ops kit_tg_writes_ops = {
	.get = kit_tg_writes_get,
};
module_param_cb(tg_writes, &kit_tg_writes_ops, NULL, 0444);

#endif
