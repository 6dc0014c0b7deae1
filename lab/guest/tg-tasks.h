/* SPDX-License-Identifier: GPL-2.0-only */
/* Tasks of the one group, /a, whose load some programs look at. */
#ifndef KIT_TG_TASKS_H
#define KIT_TG_TASKS_H

#include <sys/types.h>

#include "cgroup.h"
#include "cpulist.h"

#define TG_NAME "a"
#define TG_PATH "/" TG_NAME

/*
 * tg_begin - make the group, put the CPUs that are online into @online, and
 * become the monitor: on the last of them, above every other task. fail() with
 * fewer than @least CPUs.
 */
void tg_begin(struct cpulist *online, int least);

/*
 * tg_keep - start the group's keeper on the first of @online: a task that always
 * runs, so that the kernel lists the group.
 */
void tg_keep(const struct cpulist *online);

/*
 * tg_spawn - start a task on @cpus, in the group or outside of any, that calls
 * @fn and ends if that returns.
 */
pid_t tg_spawn(const struct cpulist *cpus, bool in_group, void (*fn)(void *), void *arg);

/* For tg_spawn(): runs for ever. */
void tg_spin(void *unused);

/*
 * cpu_online - take a CPU online, or offline; 0, or the error that the kernel has
 * for it. cpu_must_be - the same, and fail() on an error.
 */
int cpu_online(int cpu, bool online);
void cpu_must_be(int cpu, bool online);

/* Every CPU but the first and the last, which keeper and monitor have. */
struct cpulist tg_between(const struct cpulist *online);

#endif
