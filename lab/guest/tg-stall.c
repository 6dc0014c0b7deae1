// SPDX-License-Identifier: GPL-2.0-only
/*
 * tg-stall: does load stay in a group's load when its last task leaves a CPU?
 *
 * A round: a spinning task of one group is moved from CPU to CPU and stays on each
 * for less than the millisecond in which a cfs_rq writes to the group's load only
 * once, or a little longer; it is the only one there, so that each CPU is left by
 * the last task. Then it ends, and after a while the group's load is compared with
 * the sum of what its cfs_rqs have added.
 *
 * The monitor moves it: a task that moves itself sleeps before it leaves, and
 * its load is taken out in another way.
 *
 * Another task, outside of the group, shares the keeper's CPU: only while some
 * CPU has two tasks does one that goes idle look at once for others to pull, and
 * with that at its own decayed load.
 *
 * Parameters: lab.rounds, lab.stay_us (on each CPU, in the first round),
 * lab.step_us (how much longer from round to round), lab.settle_us,
 * lab.slice_us and lab.dilation (see busy_slice() in guest.h).
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest.h"
#include "tg-tasks.h"

#define START_US 20000

static struct cpulist only(int cpu)
{
	struct cpulist l = { 0 };

	l.has[cpu] = 1;
	return l;
}

/* A task whose moves are over at the last of @cpus. */
static void move_over(const struct cpulist *cpus, long stay_us)
{
	int cpu = cpulist_next(cpus, -1);
	struct cpulist at = only(cpu);
	pid_t pid = tg_spawn(&at, true, tg_spin, NULL);

	/* Being born and entering the group takes longer than any stay. */
	sleep_us(START_US);
	while ((cpu = cpulist_next(cpus, cpu)) >= 0) {
		at = only(cpu);
		pin_task(pid, &at);
		sleep_us(stay_us);
	}
	if (kill(pid, SIGKILL) || waitpid(pid, NULL, 0) != pid)
		fail("the task that is moved: %s", strerror(errno));
}

static void tg_stall_run(void)
{
	long rounds = param_long("rounds"), stay_us = param_long("stay_us"),
	     step_us = param_long("step_us"), settle_us = param_long("settle_us");
	struct cpulist online, between, first;
	struct tg_load t;

	tg_begin(&online, 4);
	tg_keep(&online);
	between = tg_between(&online);
	first = only(cpulist_next(&online, -1));
	tg_spawn(&first, false, tg_spin, NULL);
	for (long n = 1; n <= rounds; n++, stay_us += step_us) {
		move_over(&between, stay_us);
		sleep_us(settle_us);
		tg_load_read(TG_PATH, &t);
		record("stall n=%ld stay_us=%ld cpus=%d load=%ld contrib=%ld listed=%d", n,
		       stay_us, cpulist_count(&between), t.load, t.contrib, t.listed);
	}
}

const struct program tg_stall_program = { "tg-stall", tg_stall_run };
