// SPDX-License-Identifier: GPL-2.0-only
/* Control groups for the guest's programs: cgroup v2, below /cg. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guest.h"
#include "cgroup.h"

void write_file(const char *path, const char *fmt, ...)
{
	char text[256];
	va_list ap;
	int fd, n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, text, n) != n)
		fail("cannot write %s to %s: %s", text, path, strerror(errno));
	close(fd);
}

void cgroup_mount(void)
{
	mkdir(CGROUP_DIR, 0755);
	if (mount("cgroup2", CGROUP_DIR, "cgroup2", 0, NULL))
		fail("cannot mount cgroup2: %s", strerror(errno));
	write_file(CGROUP_DIR "/cgroup.subtree_control", "+cpu");
}

bool cgroup_try(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), CGROUP_DIR "/%s", name);
	return !mkdir(path, 0755);
}

void cgroup_make(const char *name, int weight)
{
	char path[128];

	if (!cgroup_try(name))
		fail("cannot make the group %s: %s", name, strerror(errno));
	snprintf(path, sizeof(path), CGROUP_DIR "/%s/cpu.weight", name);
	write_file(path, "%d", weight);
}

void cgroup_split(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), CGROUP_DIR "/%s/cgroup.subtree_control", name);
	write_file(path, "+cpu");
}

/* A group can be busy for a moment after its last task has been reaped. */
void cgroup_remove(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), CGROUP_DIR "/%s", name);
	for (int i = 0; rmdir(path); i++) {
		if (errno != EBUSY || i == 100)
			fail("cannot remove the group %s: %s", name, strerror(errno));
		sleep_us(1000);
	}
}

void cgroup_enter(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), CGROUP_DIR "/%s/cgroup.procs", name);
	write_file(path, "0");
}
