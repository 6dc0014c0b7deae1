// SPDX-License-Identifier: GPL-2.0-only
/* ptrace and seccomp for killat; see killat-trace.h. */
#include <elf.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "killat-trace.h"
#include "killat.h"
#include "util.h"

#if defined(__x86_64__)
#define NATIVE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE AUDIT_ARCH_AARCH64
#else
#error "killat knows the registers of x86_64 and arm64 only"
#endif

static bool slow_mode;
static pid_t watching; /* the thread whose return from a call is wanted */

/* Native calls that change something stop the caller, all others run at full speed. */
static int install_filter(void)
{
	struct sock_filter code[256];
	unsigned int len = 0, n = 0;
	struct sock_fprog prog = { .filter = code };

	while (call_nr(n) >= 0)
		n++;
	code[len++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						   offsetof(struct seccomp_data, arch));
	code[len++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NATIVE, 1, 0);
	code[len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	code[len++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						   offsetof(struct seccomp_data, nr));
	for (unsigned int i = 0; i < n; i++)
		code[len++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
							   (unsigned int)call_nr(i), n - i, 0);
	code[len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	code[len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE);
	prog.len = len;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -1;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog);
}

/* Tried in a child, because a filter cannot be taken off again. */
static bool filter_works(void)
{
	pid_t pid = fork();
	int status = 1;

	if (!pid)
		_exit(install_filter() ? 1 : 0);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return pid > 0 && !status;
}

static void run_child(char **command, int go)
{
	char c;

	setsid();
	if (read(go, &c, 1) != 1)
		_exit(125);
	close(go);
	if (!slow_mode && install_filter())
		_exit(125);
	execvp(command[0], command);
	warn("cannot run %s: %s", command[0], strerror(errno));
	_exit(errno == ENOENT ? 127 : 126);
}

pid_t trace_start(char **command, bool slow)
{
	const long options = PTRACE_O_EXITKILL | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC |
			     PTRACE_O_TRACEFORK | PTRACE_O_TRACESECCOMP |
			     PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEVFORK;
	int go[2], err;
	pid_t pid;

	slow_mode = slow || !filter_works();
	if (pipe(go))
		return -1;
	pid = fork();
	if (!pid) {
		close(go[1]);
		run_child(command, go[0]);
	}
	close(go[0]);
	/* Without the byte the child ends by itself. */
	if (pid > 0 && (ptrace(PTRACE_SEIZE, pid, NULL, options) || write(go[1], "g", 1) != 1)) {
		err = errno;
		kill(pid, SIGKILL);
		waitpid(pid, NULL, __WALL);
		pid = -1;
		errno = err;
	}
	close(go[1]);
	return pid;
}

/* Entry, return or seccomp stop: which, and of which call. */
static enum stop call_stop(pid_t pid, struct trace_call *now)
{
	struct __ptrace_syscall_info info;

	/* Fails only if the thread was killed by somebody meanwhile. */
	if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(info), &info) <= 0 || info.arch != NATIVE)
		return STOP_OTHER;
	if (info.op == PTRACE_SYSCALL_INFO_EXIT) {
		if (pid != watching)
			return STOP_OTHER;
		watching = 0;
		return STOP_RETURN;
	}
	if (info.op != PTRACE_SYSCALL_INFO_ENTRY && info.op != PTRACE_SYSCALL_INFO_SECCOMP)
		return STOP_OTHER;
	/* Both begin with the number and the arguments. */
	now->nr = info.entry.nr;
	for (int i = 0; i < 6; i++)
		now->args[i] = info.entry.args[i];
	return STOP_CALL;
}

enum stop trace_stop(pid_t pid, int status, struct trace_call *now)
{
	int sig = WSTOPSIG(status), event = status >> 16;

	memset(now, 0, sizeof(*now));
	if (event == PTRACE_EVENT_STOP) {
		now->listen = sig != SIGTRAP;
		return STOP_OTHER;
	}
	if (event == PTRACE_EVENT_SECCOMP || sig == (SIGTRAP | 0x80))
		return call_stop(pid, now);
	if (!event)
		now->signal = sig;
	return STOP_OTHER;
}

void trace_resume(pid_t pid, const struct trace_call *now)
{
	if (now->watch_exit)
		watching = pid;
	if (now->listen)
		ptrace(PTRACE_LISTEN, pid, NULL, NULL);
	else
		ptrace(slow_mode || now->watch_exit ? PTRACE_SYSCALL : PTRACE_CONT, pid, NULL,
		       (long)now->signal);
}

static void get_regs(pid_t pid, struct user_regs_struct *regs)
{
	struct iovec iov = { regs, sizeof(*regs) };

	if (ptrace(PTRACE_GETREGSET, pid, NT_PRSTATUS, &iov))
		die(125, "cannot read the registers of %d: %s", pid, strerror(errno));
}

static void set_regs(pid_t pid, struct user_regs_struct *regs)
{
	struct iovec iov = { regs, sizeof(*regs) };

	if (ptrace(PTRACE_SETREGSET, pid, NT_PRSTATUS, &iov))
		die(125, "cannot set the registers of %d: %s", pid, strerror(errno));
}

void trace_set_arg(pid_t pid, int i, uint64_t value)
{
	struct user_regs_struct regs;

	get_regs(pid, &regs);
#if defined(__x86_64__)
	switch (i) {
	case 0: regs.rdi = value; break;
	case 1: regs.rsi = value; break;
	case 2: regs.rdx = value; break;
	default: regs.r10 = value; break;
	}
#else
	regs.regs[i] = value;
#endif
	set_regs(pid, &regs);
}

void trace_skip(pid_t pid)
{
#if defined(__x86_64__)
	struct user_regs_struct regs;

	get_regs(pid, &regs);
	regs.orig_rax = -1;
	set_regs(pid, &regs);
#else
	int nr = -1;
	struct iovec iov = { &nr, sizeof(nr) };

	if (ptrace(PTRACE_SETREGSET, pid, NT_ARM_SYSTEM_CALL, &iov))
		die(125, "cannot skip the call of %d: %s", pid, strerror(errno));
#endif
}

void trace_set_return(pid_t pid, long value)
{
	struct user_regs_struct regs;

	get_regs(pid, &regs);
#if defined(__x86_64__)
	regs.rax = value;
#else
	regs.regs[0] = value;
#endif
	set_regs(pid, &regs);
}
