// SPDX-License-Identifier: GPL-2.0-only
/* The tasks of a load; see tasks.h. */
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest.h"
#include "tasks.h"

int nr_cpus(void)
{
	return sysconf(_SC_NPROCESSORS_ONLN);
}

void become_monitor(void)
{
	struct sched_param sp = { .sched_priority = 50 };

	pin_cpu(nr_cpus() - 1);
	if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &sp))
		fail("sched_setscheduler: %s", strerror(errno));
}

pid_t start_load(void)
{
	pid_t pid = fork();

	if (pid < 0)
		fail("fork: %s", strerror(errno));
	if (!pid)
		setpgid(0, 0);
	return pid;
}

pid_t start_child(void)
{
	pid_t pid = fork();

	if (pid < 0)
		fail("fork: %s", strerror(errno));
	if (!pid) {
		struct cpulist all = { 0 };

		for (int cpu = 0; cpu < nr_cpus(); cpu++)
			all.has[cpu] = 1;
		pin_list(&all);
	}
	return pid;
}

void reap_all(void)
{
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		;
}
