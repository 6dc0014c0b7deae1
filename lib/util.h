/* SPDX-License-Identifier: GPL-2.0-only */
/* Errors, memory and files for the host tools. */
#ifndef KIT_UTIL_H
#define KIT_UTIL_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Exit codes; the table is in CONTRIBUTING.md. */
enum {
	EX_OK = 0,
	EX_FAIL = 1,
	EX_USAGE = 2,
	EX_BUILD = 3,
	EX_BOOT = 4,
	EX_HOST = 5,
	EX_INFRA = 6,
	EX_TREE = 7,
};

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define PRINTF(f, a) __attribute__((format(printf, f, a)))

/* One line "PROGRAM: text" on stderr; die() then leaves with @code. */
void warn(const char *fmt, ...) PRINTF(1, 2);
void die(int code, const char *fmt, ...) PRINTF(2, 3) __attribute__((noreturn));

/* As their namesakes, but never return NULL: EX_INFRA when memory is out. */
void *xcalloc(size_t n, size_t size);
void *xrealloc(void *p, size_t size);
char *xstrdup(const char *s);
char *xasprintf(const char *fmt, ...) PRINTF(1, 2);

/*
 * read_file - the whole of @path, with a NUL behind it, in malloc()ed memory.
 * @len, if not NULL, gets the length in bytes without that NUL.
 * Returns NULL with errno set if it cannot be read.
 */
char *read_file(const char *path, size_t *len);

/*
 * make_plain - replace control characters in @s, in place: what others wrote
 * must not reach a terminal as anything but text. Returns @s.
 */
char *make_plain(char *s);

/* True if there are control characters other than tabs in @s. */
bool has_controls(const char *s);

/* Cut blanks from both ends of @s, in place; returns the new start. */
char *trim(char *s);

/*
 * close_stdout - flush stdout and die with EX_INFRA if that, or anything
 * written before, failed (a full disk must not look like success).
 * Register it with atexit().
 */
void close_stdout(void);

#endif
