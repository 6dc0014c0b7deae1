// SPDX-License-Identifier: GPL-2.0-only
/* Errors, memory and files for the host tools; see util.h. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util.h"

static bool is_control(char c)
{
	return ((unsigned char)c < ' ' && c != '\t') || c == 0x7f;
}

char *make_plain(char *s)
{
	for (char *p = s; *p; p++)
		if (is_control(*p))
			*p = '?';
	return s;
}

bool has_controls(const char *s)
{
	while (*s && !is_control(*s))
		s++;
	return *s;
}

static void vwarn(const char *fmt, va_list ap)
{
	char *text;

	fflush(stdout);
	/* Without memory for it, the text as it is says more than none. */
	if (vasprintf(&text, fmt, ap) < 0) {
		fprintf(stderr, "%s: %s\n", program_invocation_short_name, fmt);
		return;
	}
	fprintf(stderr, "%s: %s\n", program_invocation_short_name, make_plain(text));
	free(text);
}

void warn(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vwarn(fmt, ap);
	va_end(ap);
}

void die(int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vwarn(fmt, ap);
	va_end(ap);
	exit(code);
}

void *xcalloc(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size ? size : 1);

	if (!p)
		die(EX_INFRA, "out of memory");
	return p;
}

void *xrealloc(void *p, size_t size)
{
	p = realloc(p, size ? size : 1);
	if (!p)
		die(EX_INFRA, "out of memory");
	return p;
}

char *xstrdup(const char *s)
{
	char *p = strdup(s);

	if (!p)
		die(EX_INFRA, "out of memory");
	return p;
}

char *xasprintf(const char *fmt, ...)
{
	va_list ap;
	char *s;
	int ret;

	va_start(ap, fmt);
	ret = vasprintf(&s, fmt, ap);
	va_end(ap);
	if (ret < 0)
		die(EX_INFRA, "out of memory");
	return s;
}

char *read_file(const char *path, size_t *len)
{
	size_t have = 0, room = 65536;
	char *buf = xcalloc(1, room);
	FILE *f = fopen(path, "re");
	int err;

	if (!f) {
		free(buf);
		return NULL;
	}
	for (;;) {
		have += fread(buf + have, 1, room - have - 1, f);
		if (have < room - 1)
			break;
		room *= 2;
		buf = xrealloc(buf, room);
	}
	err = ferror(f) ? errno : 0;
	fclose(f);
	if (err) {
		free(buf);
		errno = err;
		return NULL;
	}
	buf[have] = '\0';
	if (len)
		*len = have;
	return buf;
}

char *trim(char *s)
{
	char *end;

	while (isspace((unsigned char)*s))
		s++;
	end = s + strlen(s);
	while (end > s && isspace((unsigned char)end[-1]))
		*--end = '\0';
	return s;
}

void close_stdout(void)
{
	if (ferror(stdout) || fflush(stdout) || fclose(stdout)) {
		fprintf(stderr, "%s: cannot write to standard output: %s\n",
			program_invocation_short_name, strerror(errno));
		_exit(EX_INFRA);
	}
}
