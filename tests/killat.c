// SPDX-License-Identifier: GPL-2.0-only
/*
 * killat - run a command and kill it, with all that it started, at the N-th
 * system call that changes something below given folders. What the command
 * leaves behind is then what kill -9, or a crash of the machine's user space,
 * can leave at that very point.
 *
 * All children are followed with ptrace, also into other sessions. A seccomp
 * filter stops them at the calls of killat-calls.c only; where the kernel
 * refuses one, every call is looked at, which is slower and finds the same.
 */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "killat-trace.h"
#include "killat.h"
#include "util.h"

/* As env(1) and timeout(1) have them: the rest is left to the command. */
enum { EX_NOT_REACHED = 124, EX_KILLAT = 125, EX_NOEXEC = 126, EX_NOENT = 127 };

static struct {
	char *below[64];
	unsigned int n_below;
	unsigned long at; /* 0: count only */
	enum how how;
	int error; /* errno for HOW_FAIL */
	const char *log;
	bool slow;
} opt = { .how = HOW_BEFORE };

static const struct {
	const char *name;
	enum how how;
	int error;
} hows[] = {
	{ "before", HOW_BEFORE, 0 }, { "after", HOW_AFTER, 0 },
	{ "half", HOW_HALF, 0 }, { "ENOSPC", HOW_FAIL, ENOSPC },
	{ "EDQUOT", HOW_FAIL, EDQUOT }, { "EIO", HOW_FAIL, EIO },
	{ "EROFS", HOW_FAIL, EROFS }, { "EACCES", HOW_FAIL, EACCES },
};

static FILE *log_file;
static unsigned long points;
static pid_t procs[4096]; /* all that is traced now */
static unsigned int n_procs;

static void usage(FILE *out)
{
	fputs("usage: killat [--below DIR]... [--at N [--how HOW]] [--log FILE] [--slow] -- COMMAND [ARG...]\n"
	      "Count the system calls of COMMAND, and of all that it starts, that change something\n"
	      "below the DIRs (default: anywhere), or end it at the N-th.\n"
	      "  --below DIR  this folder and what is in it; may be given more than once\n"
	      "  --at N       stop at the N-th of them, counted from 1\n"
	      "  --how HOW    before: SIGKILL to all before the call is executed (the default);\n"
	      "               after: once it is done; half: after half of the bytes of a write()\n"
	      "               (else as after); an errno (ENOSPC, EDQUOT, EIO, EROFS, EACCES): that\n"
	      "               one call fails with it and nothing is killed\n"
	      "  --log FILE   a line \"N<TAB>call<TAB>path\" for each (default: only their number)\n"
	      "  --slow       do without the seccomp filter\n"
	      "Without --log \"points: N\" goes to stderr. Exit: as COMMAND; 137 it was killed at\n"
	      "the point; 124 it ended before it came there; 125 killat itself failed; 126\n"
	      "COMMAND cannot be run; 127 there is none.\n", out);
}

static void parse_how(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(hows); i++) {
		if (strcmp(hows[i].name, name))
			continue;
		opt.how = hows[i].how;
		opt.error = hows[i].error;
		return;
	}
	die(EX_KILLAT, "no such --how: %s; --help lists them", name);
}

static void add_below(const char *dir)
{
	char *path = realpath(dir, NULL);

	if (!path)
		die(EX_KILLAT, "--below %s: %s; give a folder that exists", dir, strerror(errno));
	if (opt.n_below + 1 >= ARRAY_SIZE(opt.below))
		die(EX_KILLAT, "too many --below; give a folder above them");
	opt.below[opt.n_below++] = path;
}

static char **parse_args(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "below", required_argument, NULL, 'b' },
		{ "at", required_argument, NULL, 'n' },
		{ "how", required_argument, NULL, 'w' },
		{ "log", required_argument, NULL, 'l' },
		{ "slow", no_argument, NULL, 's' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 }
	};
	char *end;
	int c;

	while ((c = getopt_long(argc, argv, "+h", longs, NULL)) != -1) {
		switch (c) {
		case 'b': add_below(optarg); break;
		case 'n':
			opt.at = strtoul(optarg, &end, 10);
			if (*end || !opt.at || *optarg == '-')
				die(EX_KILLAT, "--at %s is no number from 1 on", optarg);
			break;
		case 'w': parse_how(optarg); break;
		case 'l': opt.log = optarg; break;
		case 's': opt.slow = true; break;
		case 'h': usage(stdout); exit(0);
		default: usage(stderr); exit(EX_KILLAT);
		}
	}
	if (!argv[optind])
		die(EX_KILLAT, "no command; --help shows how to give one");
	if (!opt.n_below)
		add_below("/");
	return argv + optind;
}

static void remember(pid_t pid)
{
	for (unsigned int i = 0; i < n_procs; i++)
		if (procs[i] == pid)
			return;
	if (n_procs == ARRAY_SIZE(procs))
		die(EX_KILLAT, "more than %zu threads at once; run something smaller", ARRAY_SIZE(procs));
	procs[n_procs++] = pid;
}

static void forget(pid_t pid)
{
	for (unsigned int i = 0; i < n_procs; i++)
		if (procs[i] == pid)
			procs[i--] = procs[--n_procs];
}

/* All get the signal before one is waited for, so that none can react to another's end. */
static void kill_all(pid_t child)
{
	int status;
	pid_t pid;

	kill(-child, SIGKILL);
	for (unsigned int i = 0; i < n_procs; i++)
		kill(procs[i], SIGKILL);
	while ((pid = waitpid(-1, &status, __WALL)) > 0 || errno == EINTR)
		if (pid > 0 && WIFSTOPPED(status)) /* started just now */
			kill(pid, SIGKILL);
}

/* The thread @pid is at the entry of a call. Returns true if the run ends here. */
static bool at_call(pid_t pid, struct trace_call *now)
{
	const struct call *c = find_call(now->nr);
	char *target = c ? call_target(pid, c, now->args, opt.below) : NULL;
	bool here;

	if (!target)
		return false;
	here = ++points == opt.at;
	if (log_file)
		fprintf(log_file, "%lu\t%s\t%s\n", points, call_name(c), target);
	free(target);
	if (!here)
		return false;
	if (opt.how == HOW_BEFORE)
		return true;
	now->watch_exit = true;
	if (opt.how == HOW_HALF && call_count_arg(c) >= 0)
		trace_set_arg(pid, call_count_arg(c), (now->args[call_count_arg(c)] + 1) / 2);
	if (opt.how == HOW_FAIL)
		trace_skip(pid);
	return false;
}

/* One stop of one thread. Returns true if all are to be killed now. */
static bool on_stop(pid_t pid, int status)
{
	struct trace_call now;

	remember(pid);
	switch (trace_stop(pid, status, &now)) {
	case STOP_CALL:
		if (at_call(pid, &now))
			return true;
		break;
	case STOP_RETURN:
		if (opt.how != HOW_FAIL)
			return true;
		trace_set_return(pid, -opt.error);
		break;
	case STOP_OTHER:
		break;
	}
	trace_resume(pid, &now);
	return false;
}

/* Follow all until none is left; returns the exit code for killat. */
static int follow(pid_t child)
{
	int status, code = EX_KILLAT;
	pid_t pid;

	for (;;) {
		pid = waitpid(-1, &status, __WALL);
		if (pid < 0 && errno == EINTR)
			continue;
		if (pid < 0)
			break;
		if (WIFSTOPPED(status)) {
			if (on_stop(pid, status)) {
				kill_all(child);
				return 128 + SIGKILL;
			}
			continue;
		}
		forget(pid);
		if (pid == child)
			code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	}
	return opt.at && points < opt.at ? EX_NOT_REACHED : code;
}

int main(int argc, char **argv)
{
	char **command = parse_args(argc, argv);
	pid_t child;
	int code;

	if (opt.log) {
		log_file = fopen(opt.log, "we");
		if (!log_file)
			die(EX_KILLAT, "cannot write %s: %s", opt.log, strerror(errno));
	}
	child = trace_start(command, opt.slow);
	if (child < 0)
		die(EX_KILLAT, "cannot trace a child: %s; is ptrace permitted here?", strerror(errno));
	remember(child);
	code = follow(child);
	if (log_file && fclose(log_file))
		die(EX_KILLAT, "cannot write %s: %s", opt.log, strerror(errno));
	if (!opt.log)
		warn("points: %lu", points);
	return code;
}
