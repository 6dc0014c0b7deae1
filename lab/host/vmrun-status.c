// SPDX-License-Identifier: GPL-2.0-only
/* What kit-vmrun says about a run: exit code, hint and JSON. */
#include <errno.h>
#include <jansson.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "vmrun.h"
#include "util.h"

#define LAST_LINES 12

static const char *const end_name[] = {
	[END_NOT_STARTED] = "not-started",
	[END_EXITED] = "exited",
	[END_TIMER] = "killed-by-timer",
	[END_LIMIT] = "killed-by-limit",
	[END_QEMU_ERROR] = "qemu-error",
	[END_OUTPUT_ERROR] = "output-error",
	[END_INTERRUPTED] = "interrupted",
};

/* QEMU's own end says nothing about the guest, but it can be a failure. */
static bool qemu_failed(const struct vmrun_result *r)
{
	return r->end == END_EXITED && (!WIFEXITED(r->wait_status) || WEXITSTATUS(r->wait_status));
}

int vmrun_code(const struct vmrun_result *r)
{
	switch (r->end) {
	case END_INTERRUPTED:
		return 128 + r->signal;
	case END_NOT_STARTED:
	case END_OUTPUT_ERROR:
		return EX_INFRA;
	case END_LIMIT:
		return EX_BOOT;
	default:
		break;
	}
	if (r->marker)
		return EX_OK;
	return r->end == END_QEMU_ERROR || qemu_failed(r) ? EX_INFRA : EX_BOOT;
}

/* A copy of @t with blanks for all that is no printable ASCII. */
static char *plain_text(const struct tail *t)
{
	char *text = xcalloc(1, t->len + 1);

	for (size_t i = 0; i < t->len; i++)
		text[i] = t->text[i] >= ' ' && t->text[i] <= '~' ? t->text[i] :
			  t->text[i] == '\n' ? '\n' : ' ';
	return text;
}

/* The last line of @t that is not blank, "" if there is none. */
static char *last_line(const struct tail *t)
{
	char *text = plain_text(t), *line;

	line = strrchr(trim(text), '\n');
	line = xstrdup(trim(line ? line + 1 : text));
	free(text);
	return line;
}

/* Name the first of the lines that made us end QEMU; it may have said more. */
static char *lost_hint(const struct vmrun_result *r)
{
	char *text = plain_text(&r->err), *hint = NULL, *save = NULL;

	for (char *l = strtok_r(text, "\n", &save); l && !hint; l = strtok_r(NULL, "\n", &save))
		if (vm_lost(l))
			hint = xasprintf("QEMU gave up: %s", trim(l));
	free(text);
	return hint ? hint : xstrdup("QEMU gave up; see its stderr");
}

static char *timer_hint(const struct vmrun_options *o, const struct vmrun_result *r)
{
	/* It may also have come in the moment that another timer ran out. */
	if (r->marker)
		return xasprintf("the guest was done, but did not power off in %.4g s", o->grace);
	if (!strcmp(r->timer, "first"))
		return xasprintf("nothing on the console for %.4g s; check console= and the kernel's "
				 "serial driver, or that QEMU's accelerator works", o->first);
	if (!strcmp(r->timer, "progress"))
		return xasprintf("the console stood still for %.4g s; see its last lines, or "
				 "give a slow host a larger --scale", o->progress);
	return xasprintf("no end marker after %.4g s; see the last lines, or give a slow "
			 "host a larger --scale", o->total);
}

static char *exit_hint(const struct vmrun_result *r)
{
	char *err = last_line(&r->err), *hint;

	if (WIFSIGNALED(r->wait_status) && WTERMSIG(r->wait_status) == SIGKILL)
		hint = xasprintf("QEMU was killed from outside; look for 'Out of memory' in the host's "
				 "kernel log, and free memory");
	else if (WIFSIGNALED(r->wait_status))
		hint = xasprintf("QEMU died of signal %d (%s): %s", WTERMSIG(r->wait_status),
				 strsignal(WTERMSIG(r->wait_status)),
				 *err ? err : "it said nothing on stderr");
	else if (WEXITSTATUS(r->wait_status))
		hint = xasprintf("QEMU ended with exit code %d: %s", WEXITSTATUS(r->wait_status),
				 *err ? err : "it said nothing on stderr");
	else
		hint = xasprintf("QEMU ended without the end marker on the console; the guest panicked "
				 "or was reset, see its last lines");
	free(err);
	return hint;
}

char *vmrun_hint(const struct vmrun_options *o, const struct vmrun_result *r)
{
	switch (r->end) {
	case END_NOT_STARTED:
		return xasprintf("cannot start %s: %s; is it installed and in PATH?", o->argv[0],
				 strerror(r->error));
	case END_OUTPUT_ERROR:
		return xasprintf("cannot write the console or stderr file: %s; check the folder and "
				 "the disk", strerror(r->error));
	case END_LIMIT:
		return xasprintf("more than %llu MiB of output; see the last lines for what the guest "
				 "repeats", o->limit >> 20);
	case END_INTERRUPTED:
		return xasprintf("interrupted by signal %d (%s)", r->signal, strsignal(r->signal));
	case END_TIMER:
		return timer_hint(o, r);
	case END_QEMU_ERROR:
		return lost_hint(r);
	case END_EXITED:
		break;
	}
	if (r->marker && !qemu_failed(r))
		return xstrdup("");
	return exit_hint(r);
}

/* The last lines of @t as JSON strings, without bytes that JSON cannot take. */
static json_t *lines_json(struct tail *t)
{
	json_t *lines = json_array();
	size_t end = t->len;

	if (end && t->text[end - 1] == '\n')
		end--;
	while (lines && end && json_array_size(lines) < LAST_LINES) {
		size_t start = end, len;
		char line[241];

		while (start && t->text[start - 1] != '\n')
			start--;
		len = end - start < sizeof(line) - 1 ? end - start : sizeof(line) - 1;
		for (size_t i = 0; i < len; i++) {
			char c = t->text[start + i];

			line[i] = c == '\t' || c == '\r' ? ' ' : c >= ' ' && c <= '~' ? c : '?';
		}
		line[len] = '\0';
		json_array_insert_new(lines, 0, json_string(trim(line)));
		end = start ? start - 1 : 0;
	}
	return lines;
}

static json_t *number_or_null(bool have, int n)
{
	return have ? json_integer(n) : json_null();
}

static json_t *status_json(const struct vmrun_options *o, const struct vmrun_result *r)
{
	bool exited = r->reaped && WIFEXITED(r->wait_status);
	bool signaled = r->reaped && WIFSIGNALED(r->wait_status);
	struct vmrun_result copy = *r;
	char *hint = vmrun_hint(o, r);
	json_t *j;

	j = json_pack("{s:s, s:s?, s:b, s:i, s:o, s:o, s:b, s:I, s:f, s:o, s:o, s:o, s:s}",
		"ended", end_name[r->end], "timer", r->timer, "end_marker", r->marker,
		"code", vmrun_code(r),
		"qemu_exit", number_or_null(exited, exited ? WEXITSTATUS(r->wait_status) : 0),
		"qemu_signal", number_or_null(signaled, signaled ? WTERMSIG(r->wait_status) : 0),
		"unkillable", r->stuck, "console_bytes", (json_int_t)r->console_bytes,
		"wall_seconds", r->wall, "first_output_seconds",
		r->first_output < 0 ? json_null() : json_real(r->first_output),
		"last_lines", lines_json(&copy.console), "stderr_last_lines", lines_json(&copy.err),
		"hint", hint);
	free(hint);
	if (!j)
		die(EX_INFRA, "out of memory");
	return j;
}

int vmrun_status(const struct vmrun_options *o, const struct vmrun_result *r)
{
	json_t *j = status_json(o, r);
	size_t flags = JSON_INDENT(1) | JSON_REAL_PRECISION(6);
	char *part;
	int err = 0;

	if (!o->status_file) {
		if (json_dumpf(j, stdout, flags))
			err = errno;
		putchar('\n');
		json_decref(j);
		return err;
	}
	/* Another name first: nobody must find half a status. */
	part = xasprintf("%s.%d.part", o->status_file, (int)getpid());
	if (json_dump_file(j, part, flags) || rename(part, o->status_file)) {
		err = errno ? errno : EIO;
		unlink(part);
	}
	free(part);
	json_decref(j);
	return err;
}
