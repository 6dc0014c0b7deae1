// SPDX-License-Identifier: GPL-2.0-only
/* Starting, killing and reaping QEMU. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "vmrun.h"
#include "util.h"

#define REAP_SECONDS 10

/* The child's side of vm_start(); tells the errno through @report. */
static void __attribute__((noreturn)) become(char **argv, const void *mask, pid_t parent,
					     int out, int err, int report)
{
	int in, e;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* The parent may have died before the line above took effect. */
	if (getppid() != parent)
		_exit(EX_INFRA);
	in = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (in >= 0 && dup2(in, 0) >= 0 && dup2(out, 1) >= 0 && dup2(err, 2) >= 0) {
		signal(SIGPIPE, SIG_DFL);
		sigprocmask(SIG_SETMASK, mask, NULL);
		execvp(argv[0], argv);
	}
	e = errno;
	if (write(report, &e, sizeof(e)) != sizeof(e))
		_exit(EX_INFRA);
	_exit(EX_INFRA);
}

static void close_pair(int fd[2])
{
	for (int i = 0; i < 2; i++)
		if (fd[i] >= 0)
			close(fd[i]);
}

int vm_start(struct vm *vm, char **argv, const void *mask)
{
	int out[2] = { -1, -1 }, err[2] = { -1, -1 }, report[2] = { -1, -1 };
	pid_t parent = getpid();
	int e = 0;

	/* Orphans of the child come to us, so that they can be waited for. */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	vm->pid = -1;
	if (!pipe2(out, O_CLOEXEC) && !pipe2(err, O_CLOEXEC) && !pipe2(report, O_CLOEXEC))
		vm->pid = fork();
	if (vm->pid < 0) {
		e = errno;
		close_pair(out);
		close_pair(err);
		close_pair(report);
		return e;
	}
	if (!vm->pid)
		become(argv, mask, parent, out[1], err[1], report[1]);
	setpgid(vm->pid, vm->pid);
	close(out[1]);
	close(err[1]);
	close(report[1]);
	if (read(report[0], &e, sizeof(e)) != sizeof(e))
		e = 0;
	close(report[0]);
	vm->out = out[0];
	vm->err = err[0];
	fcntl(vm->out, F_SETFL, O_NONBLOCK);
	fcntl(vm->err, F_SETFL, O_NONBLOCK);
	if (e)
		waitpid(vm->pid, NULL, 0);
	return e;
}

bool vm_kill(struct vm *vm, int *status, bool *reaped)
{
	const struct timespec pause = { .tv_nsec = 5 * 1000 * 1000 };
	int left = REAP_SECONDS * 200;

	while (left--) {
		int st;
		pid_t pid;

		kill(-vm->pid, SIGKILL);
		pid = waitpid(-vm->pid, &st, WNOHANG);
		if (pid == vm->pid) {
			*status = st;
			*reaped = true;
		}
		if (pid < 0 && errno == ECHILD)
			return true;
		if (!pid)
			nanosleep(&pause, NULL);
	}
	return false;
}
