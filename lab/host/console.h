/* SPDX-License-Identifier: GPL-2.0-only */
/* A guest's console: the records of our init, and what went wrong. */
#ifndef KIT_CONSOLE_H
#define KIT_CONSOLE_H

#include <stdbool.h>
#include <stddef.h>

struct field {
	char *key, *value;
};

struct rec {
	int line;		/* in the console file, from 1 */
	char *type;
	struct field *field;
	size_t nr_fields;
};

struct problem {
	/*
	 * What the kernel said: panic, oops, hung, lockup, stall, sanitizer,
	 * memory, lockdep, warn. What is wrong with the records: garbled (lost,
	 * cut or printed into), mixed, nonce, silent, no-init, no-end, guest
	 * (its own error), topology.
	 */
	const char *kind;
	int line;		/* 0: not about one line */
	char *text;
};

struct console {
	struct rec *rec;
	size_t nr_recs;
	struct problem *problem;
	size_t nr_problems;
	long last_seq;		/* of the last record */
	bool ended;		/* the end marker with the right nonce is there */
};

/*
 * console_read - read the console file @path of a guest that got @nonce.
 * Trouble found in it goes to @c->problem; an unreadable file is EX_INFRA.
 */
void console_read(const char *path, const char *nonce, struct console *c);

void console_problem(struct console *c, const char *kind, int line,
		     const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* The value of @key in @r, or NULL. */
const char *rec_get(const struct rec *r, const char *key);

/* The next record of @type after @prev (NULL: the first), or NULL. */
const struct rec *console_next(const struct console *c, const char *type,
			       const struct rec *prev);

/*
 * splat_kind - what kind of trouble the kernel reports in @line, or NULL.
 * The rules are anchored at the start of the message, so that text which
 * merely mentions a warning is none.
 */
const char *splat_kind(const char *line);

struct topology;
/* Compare what the guest reported with @t; differences become problems. */
void compare_topology(struct console *c, const struct topology *t);

#endif
