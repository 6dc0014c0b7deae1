// SPDX-License-Identifier: GPL-2.0-only
/* Reading a guest's console; see console.h. */
#include <errno.h>
#include <limits.h>
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
	for (size_t i = prev ? prev - c->rec + 1 : 0; i < c->nr_recs; i++)
		if (!strcmp(c->rec[i].type, type))
			return &c->rec[i];
	return NULL;
}

/* A name of the guest's: small letters, digits, "_" and "-". */
static bool is_name(const char *s)
{
	return *s && !s[strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789_-")];
}

/* Where a kernel message begins in the middle of @text, or NULL. */
static const char *find_stamp(const char *text)
{
	for (; (text = strchr(text, '[')); text++) {
		const char *p = text + 1 + strspn(text + 1, " ");
		size_t digits = strspn(p, "0123456789");

		if (digits && p[digits] == '.' &&
		    p[digits + 1 + strspn(p + digits + 1, "0123456789")] == ']')
			return text;
	}
	return NULL;
}

static bool is_ascii(const char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < ' ' || (unsigned char)*s > '~')
			return false;
	return true;
}

static void add_field(struct rec *r, char *key, char *value)
{
	r->field = xrealloc(r->field, (r->nr_fields + 1) * sizeof(*r->field));
	r->field[r->nr_fields].key = key;
	r->field[r->nr_fields++].value = value;
}

/*
 * "key=value key=value"; the value of "text" is the rest of the line.
 * False if there is something else.
 */
static bool read_fields(struct rec *r, const char *text)
{
	while (*(text += strspn(text, " "))) {
		size_t word = strcspn(text, " "), key = strcspn(text, "=");
		char *name;

		if (key >= word)
			return false;
		name = xasprintf("%.*s", (int)key, text);
		text += key + 1;
		word -= key + 1;
		if (!strcmp(name, "text"))
			word = strlen(text);
		add_field(r, name, xasprintf("%.*s", (int)word, text));
		if (!is_name(name))
			return false;
		text += word;
	}
	return true;
}

static void check_seq(struct console *c, long seq, const char *text, int line)
{
	if (seq == 1 && c->last_seq)
		console_problem(c, "mixed", line,
				"a guest starts again here: did it reboot, or are these two runs' consoles?");
	else if (seq != c->last_seq + 1)
		console_problem(c, "garbled", line,
				"record %ld expected, but the line says '%.20s'",
				c->last_seq + 1, text);
	/* Go on from there: one lost record is one problem. */
	c->last_seq = seq;
}

static void read_record(struct console *c, const char *text, int line)
{
	char *end;
	long seq = strtol(text, &end, 10);
	size_t len;
	struct rec *r;

	if (end == text || *end != ' ' || seq < 1 || seq > INT_MAX) {
		console_problem(c, "garbled", line,
				"record %ld expected, but the line says '%.20s'",
				c->last_seq + 1, text);
		return;
	}
	check_seq(c, seq, text, line);
	c->rec = xrealloc(c->rec, (c->nr_recs + 1) * sizeof(*c->rec));
	r = &c->rec[c->nr_recs++];
	memset(r, 0, sizeof(*r));
	r->line = line;
	text = end + 1;
	len = strcspn(text, " ");
	r->type = make_plain(xasprintf("%.*s", (int)len, text));
	if (!strcmp(r->type, "cut"))
		console_problem(c, "garbled", line, "a record was too long for the guest");
	else if (!is_ascii(text) || !is_name(r->type) || !read_fields(r, text + len))
		console_problem(c, "garbled", line, "this is no record: %.60s", text);
	if (!strcmp(r->type, "error"))
		console_problem(c, "guest", line, "%s",
				rec_get(r, "text") ? rec_get(r, "text") : "error");
}

/* The kernel and our init write to one port, so either can cut the other. */
static void read_piece(struct console *c, const char *text, int line)
{
	const char *mark = strstr(text, MARK), *kernel = text, *kind;

	if (mark == text) {
		kernel = find_stamp(text);
		if (!kernel)
			return read_record(c, text + strlen(MARK), line);
	}
	if (mark)
		console_problem(c, "garbled", line,
				"something was printed into a record: %.60s", text);
	kind = splat_kind(kernel);
	if (kind)
		console_problem(c, kind, line, "%s", kernel);
}

/* A serial line ends in CR LF; what follows a lone CR is text as well. */
static void read_line(struct console *c, char *text, int line)
{
	char *piece;

	while ((piece = strsep(&text, "\r")))
		if (*piece)
			read_piece(c, piece, line);
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

/* @last: the last line that has something in it, for a console that just stops. */
static void report_stop(struct console *c, bool hello, int line, const char *last)
{
	if (!line)
		console_problem(c, "silent", 0, "the console is empty");
	else if (!hello)
		console_problem(c, "no-init", line,
				"the guest's init never spoke; last line: %.100s", last);
	else
		console_problem(c, "no-end", line,
				"the end marker is missing; last line: %.100s", last);
}

static bool is_blank(const char *s)
{
	return !s[strspn(s, " \t\r")];
}

/* read_file() has put a NUL behind the text; the others would hide what follows. */
static char *read_text(const char *path)
{
	size_t len;
	char *all = read_file(path, &len);

	if (!all)
		die(EX_INFRA, "%s: %s", path, strerror(errno));
	for (char *p = all; (p = memchr(p, '\0', all + len - p)); )
		*p = '?';
	return all;
}

void console_read(const char *path, const char *nonce, struct console *c)
{
	char *all = read_text(path), *next = all, *line, *last = xstrdup("");
	int n = 0, last_line = 0;
	bool hello;

	memset(c, 0, sizeof(*c));
	while ((line = strsep(&next, "\n"))) {
		n++;
		if (!is_blank(line)) {
			free(last);
			last = xstrdup(line);
			last_line = n;
		}
		read_line(c, line, n);
	}
	hello = check_nonce(c, "hello", nonce);
	c->ended = hello && check_nonce(c, "end", nonce);
	if (!console_next(c, "end", NULL))
		report_stop(c, console_next(c, "hello", NULL), last_line, trim(last));
	else if (!console_next(c, "hello", NULL))
		console_problem(c, "no-init", console_next(c, "end", NULL)->line,
				"an end marker, but the guest's first record is missing");
	free(last);
	free(all);
}
