/* SPDX-License-Identifier: GPL-2.0-only */
/* ptrace and seccomp for killat; see killat.c. */
#ifndef KIT_KILLAT_TRACE_H
#define KIT_KILLAT_TRACE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum how { HOW_BEFORE, HOW_AFTER, HOW_HALF, HOW_FAIL };
enum stop { STOP_CALL, STOP_RETURN, STOP_OTHER };

/* A thread that has stopped, from trace_stop() to trace_resume(). */
struct trace_call {
	long nr;
	uint64_t args[6];
	int signal;	 /* to be delivered to it */
	bool listen;	 /* it is stopped by a signal and stays so */
	bool watch_exit; /* set it to get a STOP_RETURN for this call */
	bool watched;	 /* the STOP_RETURN that was asked for */
};

/*
 * trace_start - run @command in a session of its own, traced; all that it
 * starts is traced too, and killed when we end. @slow: without seccomp.
 * Returns its pid, or -1 with errno set. Exits 126 or 127 in the child if the
 * command cannot be run.
 */
pid_t trace_start(char **command, bool slow);

/* trace_stop - what the stop that waitpid() reported with @status is. */
enum stop trace_stop(pid_t pid, int status, struct trace_call *now);

/* trace_resume - let it go on until the next stop. */
void trace_resume(pid_t pid, const struct trace_call *now);

/* At a STOP_CALL: change argument @i, or let the kernel skip the call. */
void trace_set_arg(pid_t pid, int i, uint64_t value);
void trace_skip(pid_t pid);

/* At a STOP_RETURN: change what the call returned. */
void trace_set_return(pid_t pid, long value);

#endif
