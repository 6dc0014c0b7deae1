// SPDX-License-Identifier: GPL-2.0-only
/* Tasks of the one group whose load is looked at; see tg-tasks.h. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "guest.h"
#include "tasks.h"
#include "tg-tasks.h"

static int first_of(const struct cpulist *l)
{
	return cpulist_next(l, -1);
}

static int last_of(const struct cpulist *l)
{
	int last = -1;

	for (int cpu = first_of(l); cpu >= 0; cpu = cpulist_next(l, cpu))
		last = cpu;
	return last;
}

struct cpulist tg_between(const struct cpulist *online)
{
	struct cpulist l = *online;

	l.has[first_of(online)] = 0;
	l.has[last_of(online)] = 0;
	return l;
}

void tg_spin(void *unused)
{
	(void)unused;
	for (;;)
		busy_slice();
}

pid_t tg_spawn(const struct cpulist *cpus, bool in_group, void (*fn)(void *), void *arg)
{
	pid_t pid = fork();

	if (pid < 0)
		fail("fork: %s", strerror(errno));
	if (pid)
		return pid;
	pin_list(cpus);
	if (in_group)
		cgroup_enter(TG_NAME);
	fn(arg);
	_exit(0);
}

void tg_begin(struct cpulist *online, int least)
{
	char text[4096];

	if (!read_text("/sys/devices/system/cpu/online", text, sizeof(text)) ||
	    cpulist_parse(text, online))
		fail("cannot read which CPUs are online");
	if (cpulist_count(online) < least)
		fail("%d CPUs are online, %d are needed", cpulist_count(online), least);
	become_monitor();
	busy_slice();	/* reads its parameters while there is one task */
	cgroup_mount();
	cgroup_make(TG_NAME, 100);
}

void tg_keep(const struct cpulist *online)
{
	struct cpulist keeper = { 0 };

	keeper.has[first_of(online)] = 1;
	tg_spawn(&keeper, true, tg_spin, NULL);
}

int cpu_online(int cpu, bool online)
{
	char path[64];
	int fd, err = 0;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online", cpu);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		fail("cannot open %s: %s", path, strerror(errno));
	if (write(fd, online ? "1" : "0", 1) != 1)
		err = errno;
	close(fd);
	return err;
}

void cpu_must_be(int cpu, bool online)
{
	int err = cpu_online(cpu, online);

	if (err)
		fail("CPU %d does not go %s: %s", cpu, online ? "online" : "offline",
		     strerror(err));
}
