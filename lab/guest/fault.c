// SPDX-License-Identifier: GPL-2.0-only
/*
 * fault: make the kernel fail on purpose, to record what its console says.
 *
 * lab.fault is the name of one of LKDTM's crash points (needs CONFIG_LKDTM),
 * or "hang" (never ends) or "lines" (prints text that only looks like trouble).
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest.h"

#define DIRECT "/sys/kernel/debug/provoke-crash/DIRECT"

static void write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		fail("cannot open %s: %s", path, strerror(errno));
	if (write(fd, text, strlen(text)) < 0)
		fail("cannot write %s to %s: %s", text, path, strerror(errno));
	close(fd);
}

/* Through the kernel's log, as the texts that mislead people come. */
static void harmless_lines(void)
{
	static const char *const lines[] = {
		"<4>spectre_v2: WARNING: this text only looks like a warning",
		"<6>Mitigation: not a kernel BUG: and no Oops: either",
		"<6>panic=-1 and hung_task_panic=1 are mere parameters",
	};

	if (mknod("/dev/kmsg", S_IFCHR | 0600, makedev(1, 11)) && errno != EEXIST)
		fail("cannot make /dev/kmsg: %s", strerror(errno));
	for (unsigned int i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		write_text("/dev/kmsg", lines[i]);
}

static void fault_run(void)
{
	const char *what = param("fault", "");
	pid_t pid;

	if (!strcmp(what, "lines")) {
		harmless_lines();
		return;
	}
	if (!strcmp(what, "hang"))
		for (;;)
			pause();
	/* A child does it: an oops kills the one that caused it. */
	pid = fork();
	if (!pid) {
		write_text(DIRECT, what);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

const struct program fault_program = { "fault", fault_run };
