// SPDX-License-Identifier: GPL-2.0-only
/*
 * The guest's init: the only program in the initramfs.
 *
 * Reports the machine, runs the program that lab.program= names, prints the
 * end marker with the nonce from lab.nonce=, and powers off.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/klog.h>
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
	&tg_nodes_program,
	&tg_offline_program,
	&tg_stall_program,
	&tg_fair_program,
	&tg_writes_program,
	&wake_stack_program,
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

/*
 * On x86_64 the kernel is still about its clocks when init starts, and what it
 * says of them would land inside of a record, as other CPUs print at the same
 * time. Wait for that, at most a few seconds; and from here on the console has
 * warnings and worse only, which are problems wherever they land.
 */
static void settle(void)
{
	enum { CONSOLE_LEVEL = 8, UP_TO_WARNING = 5, STEP_US = 100000, STEPS = 50 };
	char name[64];

	klogctl(CONSOLE_LEVEL, NULL, UP_TO_WARNING);
	for (int i = 0; i < STEPS; i++) {
		if (!read_text(CLOCKSOURCE, name, sizeof(name)) ||
		    strcmp(name, "tsc-early"))
			break;
		sleep_us(STEP_US);
	}
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
	settle();
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
