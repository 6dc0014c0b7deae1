// SPDX-License-Identifier: GPL-2.0-only
/*
 * tg-offline: does load of CPUs that went offline stay in a group's load?
 *
 * A round: spinning tasks of one group run on every CPU; some CPUs are taken
 * offline; the tasks stop, but for one that keeps the group listed; when their
 * load has decayed, the group's load is compared with the sum of what its
 * cfs_rqs have added. The CPUs come back, and the next round takes others.
 *
 * Parameters: lab.rounds, lab.down (CPUs that go offline in a round),
 * lab.per_cpu (tasks for each CPU), lab.warm_us (how long they run), lab.settle_us
 * (how long they have stopped), lab.refused (in each so many-th round the first
 * CPU is refused to go offline before it does; 0 for never), lab.slice_us and
 * lab.dilation (see busy_slice() in guest.h).
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "deadline.h"
#include "guest.h"
#include "tg-tasks.h"

#define SPREAD_TRIES 50

struct setup {
	struct cpulist online, between;
	long rounds, down, warm_us, settle_us, refused;
	pid_t *task;
	int nr_tasks;
};

static void signal_all(const struct setup *s, int sig)
{
	for (int i = 0; i < s->nr_tasks; i++)
		if (kill(s->task[i], sig))
			fail("a task died");
}

/* A CPU without tasks of the group has nothing to leave behind. */
static void run_everywhere(const struct setup *s)
{
	int want = cpulist_count(&s->online);
	struct tg_load t = { 0 };

	signal_all(s, SIGCONT);
	for (int i = 0; i < SPREAD_TRIES && t.listed < want; i++) {
		sleep_us(s->warm_us);
		tg_load_read(TG_PATH, &t);
	}
	if (t.listed < want)
		fail("the tasks run on %d CPUs, not on all %d", t.listed, want);
}

/*
 * The kernel keeps a CPU online whose bandwidth is promised to deadline tasks.
 * Afterwards the CPU is as it was; and no other may change meanwhile, as that
 * would build the scheduling domains anew.
 */
static void be_refused(const struct setup *s, int cpu)
{
	int err;

	deadline_fill(&s->online);
	err = cpu_online(cpu, false);
	if (err != EBUSY)
		fail("CPU %d with promised bandwidth goes offline: %s, not refused", cpu,
		     err ? strerror(err) : "done");
	deadline_end();
	sleep_us(s->warm_us);
}

/* The CPUs of round @n, in turn from all; @list has them as text. */
static void choose(const struct setup *s, long n, int *cpu, char *list, size_t size)
{
	int at = -1, len = 0;

	for (long skip = (n - 1) * s->down % cpulist_count(&s->between); skip >= 0; skip--)
		at = cpulist_next(&s->between, at);
	for (long i = 0; i < s->down; i++) {
		cpu[i] = at;
		len += snprintf(list + len, size - len, "%s%d", i ? "," : "", at);
		at = cpulist_next(&s->between, at);
		if (at < 0)
			at = cpulist_next(&s->between, -1);
	}
}

static void one_round(const struct setup *s, long n)
{
	bool refused = s->refused && n % s->refused == 0;
	int cpu[MAX_CPUS];
	struct tg_load t;
	char list[4096];

	choose(s, n, cpu, list, sizeof(list));
	run_everywhere(s);
	if (refused)
		be_refused(s, cpu[0]);
	for (long i = 0; i < s->down; i++)
		cpu_must_be(cpu[i], false);
	signal_all(s, SIGSTOP);
	sleep_us(s->settle_us);
	tg_load_read(TG_PATH, &t);
	record("offline n=%ld refused=%d cpus=%s load=%ld contrib=%ld listed=%d", n,
	       refused, list, t.load, t.contrib, t.listed);
	for (long i = 0; i < s->down; i++)
		cpu_must_be(cpu[i], true);
}

static void tg_offline_run(void)
{
	struct setup s = {
		.rounds = param_long("rounds"), .down = param_long("down"),
		.warm_us = param_long("warm_us"), .settle_us = param_long("settle_us"),
		.refused = param_long("refused"),
	};

	tg_begin(&s.online, 4);
	tg_keep(&s.online);
	s.between = tg_between(&s.online);
	if (s.down < 1 || s.down > cpulist_count(&s.between))
		fail("lab.down is not 1 to %d", cpulist_count(&s.between));
	s.nr_tasks = param_long("per_cpu") * cpulist_count(&s.online);
	s.task = calloc(s.nr_tasks, sizeof(*s.task));
	if (!s.task)
		fail("no memory");
	for (int i = 0; i < s.nr_tasks; i++)
		s.task[i] = tg_spawn(&s.online, true, tg_spin, NULL);
	for (long n = 1; n <= s.rounds; n++)
		one_round(&s, n);
}

const struct program tg_offline_program = { "tg-offline", tg_offline_run };
