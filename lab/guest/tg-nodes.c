// SPDX-License-Identifier: GPL-2.0-only
/*
 * tg-nodes: what becomes of a group's memory, and is its load the sum of its parts?
 *
 * One record for each step:
 *   create   groups are made, have a task on a CPU of each node in turn, and are
 *            removed
 *   offline  the same while some CPUs are offline
 *   fail     making a group fails at its first allocation, then at its second, and so
 *            on through all that fair.c makes
 *   equal    one task on each CPU; the group's load against the sum of what its
 *            cfs_rqs have added
 * After each of the first three as many objects of groups must be alive as before.
 *
 * Parameters: lab.groups (in create, and in offline), lab.offline (CPUs),
 * lab.stay_us (how long a task is in each group), lab.settle_us (how long tasks
 * run before the load is read), lab.slice_us and lab.dilation (see busy_slice() in
 * guest.h).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest.h"
#include "tg-tasks.h"

#define OBJECTS "/sys/module/fair/parameters/tg_objects"
#define FAIL "/sys/module/fair/parameters/tg_fail"
#define NAME "b"
#define TRIES 50
#define TRY_US 100000
#define MAX_ALLOCATIONS 5000

/* Of all groups; see lab/kernel/tg-alloc.h. */
static long group_objects(void)
{
	char text[32];

	if (!read_text(OBJECTS, text, sizeof(text)))
		fail("cannot read " OBJECTS ": build the kernel with lab/kernel/tg-alloc.h");
	return atol(text);
}

/* Whether the allocation that was to fail has been there; none is to fail any more. */
static bool fail_undo(void)
{
	char text[32];

	if (!read_text(FAIL, text, sizeof(text)))
		fail("cannot read " FAIL);
	write_file(FAIL, "0");
	return !strcmp(text, "0");
}

/* The kernel frees a removed group later, from a work queue, after RCU. */
static long objects_left(long before)
{
	long now = group_objects();

	for (int i = 0; i < TRIES && now != before; i++) {
		sleep_us(TRY_US);
		now = group_objects();
	}
	return now;
}

/* What one group takes: 0 would say that the counting is blind. */
static long objects_of_one(long before)
{
	long n;

	cgroup_make(NAME, 100);
	n = group_objects() - before;
	cgroup_remove(NAME);
	return n;
}

/* Runs @fn in a task of its own, which is not above all others as this one is. */
static void in_child(const struct cpulist *cpus, void (*fn)(void *), void *arg)
{
	int status;
	pid_t pid = tg_spawn(cpus, false, fn, arg);

	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status))
		fail("the task that makes groups died");
}

struct creation {
	struct cpulist cpus;
	long groups, stay_us;
};

static int node_of(int cpu)
{
	char path[96];

	for (int node = 0; node < MAX_CPUS; node++) {
		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/node%d", cpu, node);
		if (!access(path, F_OK))
			return node;
	}
	fail("CPU %d is on no node", cpu);
}

/* The next CPU of @cpus that is on another node, so that all nodes have turns. */
static int on_next_node(const struct cpulist *cpus, int cpu)
{
	int first = node_of(cpu);

	for (int i = 0; i < MAX_CPUS; i++) {
		cpu = cpulist_next(cpus, cpu);
		if (cpu < 0)
			cpu = cpulist_next(cpus, -1);
		if (node_of(cpu) != first)
			break;
	}
	return cpu;
}

static void create(void *arg)
{
	const struct creation *c = arg;
	int cpu = cpulist_next(&c->cpus, -1);
	uint64_t until;

	for (long i = 0; i < c->groups; i++) {
		cpu = on_next_node(&c->cpus, cpu);
		pin_cpu(cpu);
		cgroup_make(NAME, 100);
		cgroup_enter(NAME);
		until = now_ns() + c->stay_us * 1000;
		while (now_ns() < until)
			busy_slice();
		cgroup_enter(".");
		cgroup_remove(NAME);
	}
}

static void step_create(const char *step, const struct cpulist *cpus)
{
	struct creation c = { *cpus, param_long("groups"), param_long("stay_us") };
	long before = group_objects(), each = objects_of_one(before);

	if (objects_left(before) != before)
		fail("one group alone is not freed");
	in_child(cpus, create, &c);
	record("groups step=%s n=%ld each=%ld objects=%ld leaked=%ld", step, c.groups, each,
	       before, objects_left(before) - before);
}

static void step_offline(const struct cpulist *online)
{
	struct cpulist off, rest = *online;

	param_cpulist("offline", &off);
	for (int cpu = cpulist_next(&off, -1); cpu >= 0; cpu = cpulist_next(&off, cpu)) {
		cpu_must_be(cpu, false);
		rest.has[cpu] = 0;
	}
	step_create("offline", &rest);
	for (int cpu = cpulist_next(&off, -1); cpu >= 0; cpu = cpulist_next(&off, cpu))
		cpu_must_be(cpu, true);
}

struct failures {
	volatile long injected, refused;
};

/* Whether the @n-th allocation of making a group is there to fail. */
static bool fail_one(struct failures *f, long n)
{
	bool made, failed;
	int why;

	write_file(FAIL, "%ld", n);
	made = cgroup_try(NAME);
	why = errno;
	failed = fail_undo();
	f->injected += failed;
	f->refused += !made;
	if (made)
		cgroup_remove(NAME);
	else if (!failed || why != ENOMEM)
		fail("a group is not made, when allocation %ld %s: %s", n,
		     failed ? "fails" : "would fail, but is not there", strerror(why));
	return failed;
}

static void fail_each(void *arg)
{
	for (long n = 1; fail_one(arg, n); n++)
		if (n == MAX_ALLOCATIONS)
			fail("%ld allocations failed, and there are still more", n);
}

static void step_fail(const struct cpulist *cpus)
{
	struct failures *f = mmap(NULL, sizeof(*f), PROT_READ | PROT_WRITE,
				  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	long before = group_objects(), each = objects_of_one(before);

	if (f == MAP_FAILED)
		fail("mmap: %s", strerror(errno));
	in_child(cpus, fail_each, f);
	record("groups step=fail n=%ld refused=%ld each=%ld objects=%ld leaked=%ld", f->injected,
	       f->refused, each, before, objects_left(before) - before);
}

static void step_equal(const struct cpulist *online)
{
	int cpu = cpulist_next(online, -1);
	struct cpulist at;
	struct tg_load t;

	tg_keep(online);
	while ((cpu = cpulist_next(online, cpu)) >= 0) {
		memset(&at, 0, sizeof(at));
		at.has[cpu] = 1;
		tg_spawn(&at, true, tg_spin, NULL);
	}
	sleep_us(param_long("settle_us"));
	tg_load_read(TG_PATH, &t);
	if (t.listed != cpulist_count(online))
		fail("the tasks run on %d CPUs, not on all %d", t.listed, cpulist_count(online));
	record("groups step=equal n=%d load=%ld contrib=%ld", t.listed, t.load, t.contrib);
}

static void tg_nodes_run(void)
{
	struct cpulist online;

	tg_begin(&online, 4);
	step_create("create", &online);
	step_offline(&online);
	step_fail(&online);
	step_equal(&online);
}

const struct program tg_nodes_program = { "tg-nodes", tg_nodes_run };
