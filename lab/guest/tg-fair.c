// SPDX-License-Identifier: GPL-2.0-only
/*
 * tg-fair: does each control group get the share of CPU time that it is due?
 *
 * Groups of spinning tasks have all CPUs busy. After a warm-up, windows follow one
 * another; the CPU time that each group used in a window is reported with what was
 * due to it. lab.cases names what is tried, one after the other:
 *   weight   two groups 3:1, four times as many tasks as CPUs in each (with as many
 *            as CPUs, shares can stay off by more than two points)
 *   nested   half to each of two groups, and the first's half 3:1 to groups in it
 *   count    two equal groups, one with four times as many tasks
 *   uneven   two equal groups, one on the first half of the CPUs only: there, its
 *            weight on a CPU is twice that of the other, which has the rest to itself
 *   moving   two equal groups; each task of one goes on to the next CPU all the time
 *
 * Parameters: lab.cases, lab.records (in all: as many windows for each case),
 * lab.window_us, lab.warm_us, lab.settle_us (idle before each case), and those of
 * busy_slice().
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cgroup.h"
#include "guest.h"
#include "tasks.h"

#define MAX_GROUPS 4
#define MOVE_TURNS 4

enum place { NO_TASKS, FREE, PINNED, FIRST_HALF, MOVING };

/* Groups with tasks are measured; @due: a thousandth of all CPU time. */
struct group {
	const char *name;
	int weight;
	enum place place;
	int tasks;	/* for each CPU */
	int due;
};

static const struct fair_case {
	const char *name;
	struct group group[MAX_GROUPS];
} cases[] = {
	{ "weight", { { "a", 300, FREE, 4, 750 }, { "b", 100, FREE, 4, 250 } } },
	{ "nested", { { "p", 100, NO_TASKS, 0, 0 }, { "p/c", 300, FREE, 4, 375 },
		      { "p/d", 100, FREE, 4, 125 }, { "b", 100, FREE, 4, 500 } } },
	{ "count", { { "a", 100, FREE, 2, 500 }, { "b", 100, FREE, 8, 500 } } },
	{ "uneven", { { "a", 100, FIRST_HALF, 1, 333 }, { "b", 100, PINNED, 1, 667 } } },
	{ "moving", { { "a", 100, MOVING, 1, 500 }, { "b", 100, PINNED, 1, 500 } } },
};

static const struct fair_case *find_case(const char *name)
{
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (!strcmp(cases[i].name, name))
			return &cases[i];
	fail("no case named %s", name);
}

static void spin(enum place place, int cpu)
{
	if (place != FREE)
		pin_cpu(cpu);
	for (;;) {
		for (int i = 0; i < MOVE_TURNS; i++)
			busy_slice();
		if (place == MOVING) {
			cpu = (cpu + 1) % nr_cpus();
			pin_cpu(cpu);
		}
	}
}

/* All of the group's tasks are in it and in one process group: the pid. */
static pid_t start(const struct group *g)
{
	int n = g->tasks * nr_cpus() / (g->place == FIRST_HALF ? 2 : 1);
	pid_t pid = start_load();

	if (pid)
		return pid;
	cgroup_enter(g->name);
	for (int i = 0; i < n; i++)
		if (!start_child())
			spin(g->place, i % nr_cpus());
	for (;;)
		pause();
}

/* Of all groups, in guest microseconds; the time is that of the reading. */
static uint64_t read_usage(const struct fair_case *c, long usage[MAX_GROUPS])
{
	char path[128], text[1024];

	for (int i = 0; i < MAX_GROUPS && c->group[i].name; i++) {
		snprintf(path, sizeof(path), CGROUP_DIR "/%s/cpu.stat", c->group[i].name);
		if (!read_text(path, text, sizeof(text)) ||
		    sscanf(text, "usage_usec %ld", &usage[i]) != 1)
			fail("cannot read the CPU time of %s", c->group[i].name);
	}
	return now_ns();
}

static void report(const struct fair_case *c, int n, long us, const long *from, const long *to)
{
	char used[128] = "", due[128] = "";

	for (int i = 0; i < MAX_GROUPS && c->group[i].name; i++) {
		const char *comma = *used ? "," : "";

		if (c->group[i].place == NO_TASKS)
			continue;
		snprintf(used + strlen(used), sizeof(used) - strlen(used), "%s%ld", comma,
			 to[i] - from[i]);
		snprintf(due + strlen(due), sizeof(due) - strlen(due), "%s%d", comma,
			 c->group[i].due);
	}
	record("shares n=%d case=%s cpus=%d window_us=%ld used_us=%s due=%s", n, c->name,
	       nr_cpus(), us, used, due);
}

static void measure(const struct fair_case *c, int windows)
{
	long from[MAX_GROUPS], to[MAX_GROUPS], window_us = param_long("window_us");
	uint64_t since, until;

	sleep_us(param_long("warm_us"));
	since = read_usage(c, from);
	for (int n = 1; n <= windows; n++) {
		sleep_us(window_us);
		until = read_usage(c, to);
		report(c, n, (until - since) / 1000, from, to);
		memcpy(from, to, sizeof(from));
		since = until;
	}
}

static void one_case(const struct fair_case *c, int windows)
{
	pid_t pid[MAX_GROUPS] = { 0 };
	int nr;

	for (nr = 0; nr < MAX_GROUPS && c->group[nr].name; nr++) {
		cgroup_make(c->group[nr].name, c->group[nr].weight);
		if (c->group[nr].place == NO_TASKS)
			cgroup_split(c->group[nr].name);
	}
	for (int i = 0; i < nr; i++)
		if (c->group[i].place != NO_TASKS)
			pid[i] = start(&c->group[i]);
	measure(c, windows);
	for (int i = 0; i < nr; i++)
		if (pid[i])
			kill(-pid[i], SIGKILL);
	reap_all();
	while (nr--)
		cgroup_remove(c->group[nr].name);
}

static void tg_fair_run(void)
{
	static char names[256];
	const struct fair_case *list[16];
	int nr = 0, records = param_long("records");
	char *save, *name;

	snprintf(names, sizeof(names), "%s", param("cases", ""));
	for (name = strtok_r(names, ",", &save); name && nr < 16;
	     name = strtok_r(NULL, ",", &save))
		list[nr++] = find_case(name);
	if (!nr || records % nr)
		fail("%d records cannot be as many for each of %d cases", records, nr);
	cgroup_mount();
	busy_slice();	/* reads its parameters while there is one task */
	become_monitor();
	for (int i = 0; i < nr; i++) {
		sleep_us(param_long("settle_us"));
		one_case(list[i], records / nr);
	}
}

const struct program tg_fair_program = { "tg-fair", tg_fair_run };
