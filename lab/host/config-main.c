// SPDX-License-Identifier: GPL-2.0-only
/* kit-config: was every option that was asked for taken? See --help. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "util.h"

static const char help[] =
"usage: kit-config CONFIG FRAGMENT...\n"
"\n"
"CONFIG is the kernel's .config; a FRAGMENT asks with \"CONFIG_X=value\" or\n"
"\"# CONFIG_X is not set\". A later fragment overrides an earlier one. Prints a\n"
"line \"CONFIG_X: asked for ..., got ...\" for each difference. Exit: 0 none,\n"
"1 some, 2 wrong arguments, or a line that asks for nothing (FILE:LINE is named\n"
"on stderr), 6 a file cannot be read, or the disk is full.\n";

struct option {
	char *name, *value;	/* value "n": is not set */
};

struct options {
	struct option *o;
	size_t nr;
};

static void set(struct options *os, const char *name, size_t len, const char *value)
{
	for (size_t i = 0; i < os->nr; i++) {
		if (strlen(os->o[i].name) == len && !strncmp(os->o[i].name, name, len)) {
			free(os->o[i].value);
			os->o[i].value = xstrdup(value);
			return;
		}
	}
	os->o = xrealloc(os->o, (os->nr + 1) * sizeof(*os->o));
	os->o[os->nr].name = xasprintf("%.*s", (int)len, name);
	os->o[os->nr++].value = xstrdup(value);
}

static bool is_option(const char *name, size_t len)
{
	size_t word = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");

	return !strncmp(name, "CONFIG_", 7) && word == len && len > 7;
}

/* False if @line is neither an option nor a comment. */
static bool read_option(char *line, struct options *os)
{
	size_t len;

	line = trim(line);
	if (!strncmp(line, "# CONFIG_", 9)) {
		len = strcspn(line + 2, " ");
		if (!strcmp(line + 2 + len, " is not set"))
			set(os, line + 2, len, "n");
	}
	if (!*line || *line == '#')
		return true;
	len = strcspn(line, "=");
	if (!line[len] || !line[len + 1] || !is_option(line, len))
		return false;
	set(os, line, len, line + len + 1);
	return true;
}

/* What kconfig would pass over in silence was asked for by somebody. */
static void read_options(const char *path, struct options *os)
{
	size_t len;
	char *all = read_file(path, &len), *next = all, *line;

	if (!all)
		die(EX_INFRA, "%s: %s", path, strerror(errno));
	if (strlen(all) != len)
		die(EX_USAGE, "%s: it has a NUL byte; give a text file", path);
	for (int n = 1; (line = strsep(&next, "\n")); n++)
		if (!read_option(line, os))
			die(EX_USAGE, "%s:%d: '%s' is no option; write CONFIG_NAME=value or # CONFIG_NAME is not set",
			    path, n, line);
	free(all);
}

static const char *value_of(const struct options *os, const char *name)
{
	for (size_t i = 0; i < os->nr; i++)
		if (!strcmp(os->o[i].name, name))
			return os->o[i].value;
	return "n";
}

int main(int argc, char **argv)
{
	struct options got = { 0 }, asked = { 0 };
	int ret = EX_OK;

	atexit(close_stdout);
	if (argc == 2 && !strcmp(argv[1], "--help")) {
		fputs(help, stdout);
		return EX_OK;
	}
	if (argc < 3)
		die(EX_USAGE, "usage: kit-config CONFIG FRAGMENT...; --help says more");
	read_options(argv[1], &got);
	for (int i = 2; i < argc; i++)
		read_options(argv[i], &asked);
	for (size_t i = 0; i < asked.nr; i++) {
		const char *value = value_of(&got, asked.o[i].name);
		char *text;

		if (!strcmp(value, asked.o[i].value))
			continue;
		text = xasprintf("%s: asked for %s, got %s", asked.o[i].name,
				 asked.o[i].value, value);
		puts(make_plain(text));
		free(text);
		ret = EX_FAIL;
	}
	return ret;
}
