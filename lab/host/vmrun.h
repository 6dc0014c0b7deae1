/* SPDX-License-Identifier: GPL-2.0-only */
/* Running QEMU under watch; the parts of kit-vmrun. */
#ifndef KIT_VMRUN_H
#define KIT_VMRUN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* All times in seconds, already scaled. */
struct vmrun_options {
	const char *console;		/* file for the child's stdout */
	const char *marker;		/* a line with it is the guest's last word */
	const char *stderr_file;	/* NULL: the child's stderr goes to ours */
	const char *status_file;	/* NULL: the status goes to stdout */
	double first;			/* until the first byte on the console */
	double progress;		/* between two bytes */
	double total;
	double grace;			/* from the end marker to QEMU's exit */
	unsigned long long limit;	/* bytes of console, and of stderr */
	char **argv;
};

enum vmrun_end {
	END_NOT_STARTED,
	END_EXITED,		/* by itself, or killed by somebody else */
	END_TIMER,		/* killed by us: see timer */
	END_LIMIT,		/* killed by us: it printed too much */
	END_QEMU_ERROR,		/* killed by us: QEMU's stderr says that it is lost */
	END_OUTPUT_ERROR,	/* killed by us: a file could not be written */
	END_INTERRUPTED,	/* killed by us: we got a signal */
};

/* The last bytes of a stream. */
struct tail {
	char text[4096];
	size_t len;
};

struct vmrun_result {
	enum vmrun_end end;
	const char *timer;		/* "first", "progress", "total", "grace" or NULL */
	bool marker;			/* the end marker was seen */
	bool reaped;			/* wait_status is valid */
	bool stuck;			/* a process could not be killed */
	int wait_status;		/* as waitpid() has it */
	int signal;			/* that interrupted us */
	int error;			/* errno of the start, or of an output */
	double wall;			/* seconds */
	double first_output;		/* seconds after the start; below 0: none */
	unsigned long long console_bytes;
	struct tail console, err;
};

/* Finds lines that contain a text in a stream that comes in pieces. */
struct line_finder {
	const char *text;
	size_t have;			/* bytes of the line that are kept */
	bool found;			/* the line so far contains the text */
	char line[1024];
};

/*
 * find_line - feed @len bytes at @data to @f. True if a line that contains
 * f->text came to its end in them.
 */
bool find_line(struct line_finder *f, const char *data, size_t len);

/* tail_add - append @len bytes at @data, forgetting the oldest. */
void tail_add(struct tail *t, const char *data, size_t len);

/* The child and our ends of its output. */
struct vm {
	pid_t pid;
	int out, err;			/* -1 once at its end */
};

/*
 * vm_start - start @argv in a process group of its own, with no input, that
 * dies when we die; @mask is the signal mask it gets.
 * Returns 0, or the errno that kept it from starting.
 */
int vm_start(struct vm *vm, char **argv, const void *mask);

/*
 * vm_kill - kill the whole process group and reap it; *@status gets the
 * child's wait status, and *@reaped says whether it did.
 * False if something was still there after some seconds.
 */
bool vm_kill(struct vm *vm, int *status, bool *reaped);

/* vm_run - run o->argv to its end, whichever that is, and describe it in @r. */
void vm_run(const struct vmrun_options *o, struct vmrun_result *r);

/* True if QEMU's stderr line @line says that the guest cannot go on. */
bool vm_lost(const char *line);

/* The exit code that @r stands for (interrupted: 128 + signal). */
int vmrun_code(const struct vmrun_result *r);

/* What a user should make of @r, as one line without newline; never NULL. */
char *vmrun_hint(const struct vmrun_options *o, const struct vmrun_result *r);

/* vmrun_status - write @r as a JSON object. Returns 0 or an errno. */
int vmrun_status(const struct vmrun_options *o, const struct vmrun_result *r);

#endif
