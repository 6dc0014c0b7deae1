/* SPDX-License-Identifier: GPL-2.0-only */
/* Control groups, and what the kernel says of their load. */
#ifndef KIT_CGROUP_H
#define KIT_CGROUP_H

#include <stdbool.h>

#define CGROUP_DIR "/cg"

/* Write text to @path, fail() if the kernel does not take it. */
void write_file(const char *path, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* All of these fail() on trouble; names are paths below the root, "a/b". */
void cgroup_mount(void);
void cgroup_make(const char *name, int weight);
/* Groups below @name get CPU time by their weights; it can have no tasks itself. */
void cgroup_split(const char *name);
/* Make it if the kernel can; false with errno set if it cannot. */
bool cgroup_try(const char *name);
void cgroup_remove(const char *name);
/* The caller goes into the group. */
void cgroup_enter(const char *name);

struct tg_load {
	long load;		/* tg_load_avg, as printed with the last cfs_rq */
	long contrib;		/* sum of tg_load_avg_contrib */
	int listed;		/* cfs_rqs that the kernel printed */
};

/*
 * tg_load_read - what sched/debug says of the group at @path ("/a"). The kernel
 * lists only cfs_rqs on its leaf list and CPUs that are online: at least one
 * task must run in the group, or a group full of stale load reads as nothing.
 * fail() if the file cannot be read, a number is missing or no cfs_rq is listed for
 * a second.
 */
void tg_load_read(const char *path, struct tg_load *t);

#endif
