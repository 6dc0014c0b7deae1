// SPDX-License-Identifier: GPL-2.0-only
/* Deadline tasks; see deadline.h. */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "deadline.h"
#include "guest.h"

#define PERIOD_US 100000
#define SMALLEST_US (PERIOD_US / 100)

#ifndef SCHED_DEADLINE
#define SCHED_DEADLINE 6
#endif

/* The kernel's struct sched_attr, version 0; libc has none. */
struct deadline_attr {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
};

static pid_t task[4 * MAX_CPUS];
static int nr_tasks;

/* The kernel takes deadline tasks only if they may use all CPUs there are. */
static pid_t sleeper(const struct cpulist *cpus)
{
	pid_t pid = fork();

	if (pid < 0)
		fail("fork: %s", strerror(errno));
	if (!pid) {
		for (;;)
			pause();
	}
	pin_task(pid, cpus);
	return pid;
}

static bool promised(pid_t pid, long runtime_us)
{
	struct deadline_attr attr = {
		.size = sizeof(attr), .policy = SCHED_DEADLINE,
		.runtime = runtime_us * 1000, .deadline = PERIOD_US * 1000,
		.period = PERIOD_US * 1000,
	};

	if (!syscall(SYS_sched_setattr, pid, &attr, 0))
		return true;
	if (errno != EBUSY)
		fail("sched_setattr of a deadline task: %s", strerror(errno));
	return false;
}

void deadline_fill(const struct cpulist *cpus)
{
	long runtime_us = PERIOD_US - PERIOD_US / 10;
	pid_t pid = sleeper(cpus);

	while (runtime_us >= SMALLEST_US) {
		if (!promised(pid, runtime_us)) {
			runtime_us /= 2;
			continue;
		}
		if (nr_tasks == sizeof(task) / sizeof(task[0]) - 1)
			fail("deadline tasks are promised more than there is");
		task[nr_tasks++] = pid;
		pid = sleeper(cpus);
	}
	task[nr_tasks++] = pid;
	if (nr_tasks == 1)
		fail("deadline tasks are promised nothing");
}

/* What a task that has ended was promised is free when its period is over. */
void deadline_end(void)
{
	for (int i = 0; i < nr_tasks; i++) {
		kill(task[i], SIGKILL);
		waitpid(task[i], NULL, 0);
	}
	nr_tasks = 0;
	sleep_us(2 * PERIOD_US);
}
