// SPDX-License-Identifier: GPL-2.0-only
/*
 * The guest's init: the only program in the initramfs.
 *
 * Reports the machine, runs the program that lab.program= names, prints the
 * end marker with the nonce from lab.nonce=, and powers off.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "guest.h"

/* Boots and reports: the machine's report is all there is. */
static void boot_run(void)
{
}

static const struct program boot_program = { "boot", boot_run };

static const struct program *const programs[] = {
	&boot_program,
	&affinity_fork_program,
	&fault_program,
};

static void mount_all(void)
{
	static const struct { const char *type, *dir; } fs[] = {
		{ "proc", "/proc" },
		{ "sysfs", "/sys" },
		{ "debugfs", "/sys/kernel/debug" },
	};

	for (unsigned int i = 0; i < sizeof(fs) / sizeof(fs[0]); i++) {
		mkdir(fs[i].dir, 0755);
		if (mount(fs[i].type, fs[i].dir, fs[i].type, 0, NULL))
			fail("cannot mount %s", fs[i].dir);
	}
}

/* stdin, stdout and stderr on the console, whatever the kernel gave us. */
static void open_console(void)
{
	int fd = open("/dev/console", O_RDWR | O_NOCTTY);

	if (fd < 0)
		return;
	for (int i = 0; i < 3; i++)
		dup2(fd, i);
	if (fd > 2)
		close(fd);
}

static const struct program *find_program(const char *name)
{
	for (unsigned int i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
		if (!strcmp(programs[i]->name, name))
			return programs[i];
	fail("no program named %s", name);
}

int main(void)
{
	const struct program *program;
	struct utsname u;

	if (getpid() != 1)
		return 1;
	open_console();
	mount_all();
	uname(&u);
	record("hello nonce=%s kernel=%s machine=%s", param("nonce", "none"),
	       u.release, u.machine);
	program = find_program(param("program", "boot"));
	report_topology();
	record("program name=%s", program->name);
	program->run();
	record("end nonce=%s", param("nonce", "none"));
	drain();
	power_off();
}
