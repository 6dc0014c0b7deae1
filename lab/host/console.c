// SPDX-License-Identifier: GPL-2.0-only
/* Reading a guest's console; see console.h. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "console.h"
#include "util.h"

#define MARK "@lab "

void console_problem(struct console *c, const char *kind, int line,
		     const char *fmt, ...)
{
	struct problem *p;
	va_list ap;

	c->problem = xrealloc(c->problem,
			      (c->nr_problems + 1) * sizeof(*c->problem));
	p = &c->problem[c->nr_problems++];
	p->kind = kind;
	p->line = line;
	va_start(ap, fmt);
	if (vasprintf(&p->text, fmt, ap) < 0)
		die(EX_INFRA, "out of memory");
	va_end(ap);
}

const char *rec_get(const struct rec *r, const char *key)
{
	for (size_t i = 0; i < r->nr_fields; i++)
		if (!strcmp(r->field[i].key, key))
			return r->field[i].value;
	return NULL;
}

const struct rec *console_next(const struct console *c, const char *type,
			       const struct rec *prev)
{
	const struct rec *r = prev ? prev + 1 : c->rec;

	for (; r < c->rec + c->nr_recs; r++)
		if (!strcmp(r->type, type))
			return r;
	return NULL;
}

/* "key=value key=value"; the value of "text" is the rest of the line. */
static void read_fields(struct rec *r, char *text)
{
	while (*(text = trim(text))) {
		char *eq = strchr(text, '=');
		struct field *f;

		if (!eq)
			return;
		*eq = '\0';
		r->field = xrealloc(r->field,
				    (r->nr_fields + 1) * sizeof(*r->field));
		f = &r->field[r->nr_fields++];
		f->key = xstrdup(text);
		text = eq + 1;
		if (!strcmp(f->key, "text")) {
			f->value = xstrdup(text);
			return;
		}
		eq = text + strcspn(text, " ");
		f->value = xasprintf("%.*s", (int)(eq - text), text);
		text = eq;
	}
}

static void read_record(struct console *c, char *text, int line)
{
	char *end, *rest;
	long seq = strtol(text, &end, 10);
	struct rec *r;

	if (end == text || *end != ' ' || seq != c->last_seq + 1) {
		console_problem(c, "garbled", line,
				"record %ld expected, but the line says '%.20s'",
				c->last_seq + 1, text);
		/* Go on from there: one lost record is one problem. */
		if (end == text || seq < 1 || *end != ' ')
			return;
	}
	c->last_seq = seq;
	c->rec = xrealloc(c->rec, (c->nr_recs + 1) * sizeof(*c->rec));
	r = &c->rec[c->nr_recs++];
	memset(r, 0, sizeof(*r));
	r->line = line;
	text = end + 1;
	rest = text + strcspn(text, " ");
	r->type = xasprintf("%.*s", (int)(rest - text), text);
	read_fields(r, rest);
	if (!strcmp(r->type, "error"))
		console_problem(c, "guest", line, "%s",
				rec_get(r, "text") ? rec_get(r, "text") : "error");
	if (!strcmp(r->type, "cut"))
		console_problem(c, "garbled", line, "a record was too long for the guest");
}

static void read_line(struct console *c, char *text, int line)
{
	const char *kind;
	char *mark;

	text[strcspn(text, "\r")] = '\0';
	if (!strncmp(text, MARK, strlen(MARK))) {
		read_record(c, text + strlen(MARK), line);
		return;
	}
	mark = strstr(text, MARK);
	if (mark)
		console_problem(c, "garbled", line,
				"something was printed into a record: %.60s", text);
	kind = splat_kind(text);
	if (kind)
		console_problem(c, kind, line, "%s", text);
}

/* The guest must say the nonce it was given, first and last. */
static bool check_nonce(struct console *c, const char *type, const char *nonce)
{
	const struct rec *r = console_next(c, type, NULL);
	const char *got = r ? rec_get(r, "nonce") : NULL;

	if (!r)
		return false;
	if (got && !strcmp(got, nonce))
		return true;
	console_problem(c, "nonce", r->line,
			"the guest says nonce %s, but was given %s: another run's console?",
			got ? got : "(none)", nonce);
	return false;
}

/* The last line that has something in it, for a console that just stops. */
static void report_stop(struct console *c, bool hello, int lines, const char *last)
{
	if (!lines)
		console_problem(c, "silent", 0, "the console is empty");
	else if (!hello)
		console_problem(c, "no-init", lines,
				"the guest's init never spoke; last line: %.100s", last);
	else
		console_problem(c, "no-end", lines,
				"the end marker is missing; last line: %.100s", last);
}

void console_read(const char *path, const char *nonce, struct console *c)
{
	char *last = xstrdup(""), *all, *next, *line;
	size_t len;
	int n = 0;
	bool hello;

	memset(c, 0, sizeof(*c));
	all = read_file(path, &len);
	if (!all)
		die(EX_INFRA, "%s: %s", path, strerror(errno));
	for (size_t i = 0; i < len; i++)
		if (!all[i])
			all[i] = '?';
	next = all;
	while ((line = strsep(&next, "\n"))) {
		n++;
		read_line(c, line, n);
		if (*trim(line)) {
			free(last);
			last = xstrdup(trim(line));
		}
	}
	hello = check_nonce(c, "hello", nonce);
	c->ended = hello && check_nonce(c, "end", nonce);
	if (!console_next(c, "end", NULL))
		report_stop(c, console_next(c, "hello", NULL), len ? n : 0, last);
	free(last);
	free(all);
}
