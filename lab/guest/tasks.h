/* SPDX-License-Identifier: GPL-2.0-only */
/* The tasks of a load, and who watches them. */
#ifndef KIT_TASKS_H
#define KIT_TASKS_H

#include <sys/types.h>

/* CPUs that are online. */
int nr_cpus(void);

/*
 * become_monitor - sit on the last CPU, above all tasks of the load, so that a
 * window ends on time; children start on all CPUs and normal. fail() on trouble.
 */
void become_monitor(void);

/*
 * start_load - fork the first task of a load, in a process group of its own: its pid,
 * and 0 in it. kill(-pid) ends the load. fail() on trouble.
 */
pid_t start_load(void);

/*
 * start_child - fork for a task that is itself a child of the load's first: 0 in
 * the child, which may run on every CPU. It has nobody to report to if that fails,
 * and the load would be another one: the machine is powered off.
 */
pid_t start_child(void);

/* Until no child is left. */
void reap_all(void);

#endif
