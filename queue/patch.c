// SPDX-License-Identifier: GPL-2.0-only
/* Reading patch files: mail headers, text, tags. The diff is in diff.c. */
#include <stdlib.h>
#include <string.h>

#include "queue.h"

static bool starts(const char *s, const char *with)
{
	return !strncmp(s, with, strlen(with));
}

static void split_lines(struct patch *p, char *text)
{
	char *end = text + p->len, *nl;
	int room = 0;

	while (text < end) {
		nl = memchr(text, '\n', end - text);
		if (nl)
			*nl = '\0';
		else
			p->no_newline = true;
		if (p->nr_lines == room) {
			room = room ? 2 * room : 256;
			p->lines = xrealloc(p->lines, room * sizeof(*p->lines));
		}
		p->lines[p->nr_lines].text = text;
		p->lines[p->nr_lines++].kind = L_TEXT;
		text = nl ? nl + 1 : end;
	}
}

/* A text may hold lines that look like a diff; a diff has all three. */
static int find_diff(const struct patch *p)
{
	int i;

	for (i = 0; i + 2 < p->nr_lines; i++)
		if (starts(p->lines[i].text, "--- ") &&
		    starts(p->lines[i + 1].text, "+++ ") &&
		    starts(p->lines[i + 2].text, "@@ -"))
			return i;
	return p->nr_lines;
}

static void take_value(struct patch *p, int i)
{
	const char *text = p->lines[i].text;
	bool mail = i < p->body;
	size_t len;
	int f;

	for (f = 0; f < NR_FIELDS; f++) {
		len = strlen(fields[f].name);
		if (fields[f].mail != mail || p->value[f] ||
		    strncmp(text, fields[f].name, len) || text[len] != ':')
			continue;
		text += len + 1;
		p->value[f] = *text == ' ' ? text + 1 : text;
		p->value_line[f] = i + 1;
		return;
	}
}

static void read_header(struct patch *p)
{
	int i;

	for (i = 0; i < p->diff && p->lines[i].text[0]; i++)
		p->lines[i].kind = L_MAIL;
	p->body = i < p->diff ? i + 1 : i;

	/* The last lone "---" is ours; one above it is for the lint. */
	p->separator = p->diff;
	for (i = p->diff - 1; i >= p->body; i--) {
		if (strcmp(p->lines[i].text, "---"))
			continue;
		p->separator = i;
		p->lines[i].kind = L_SEPARATOR;
		break;
	}
	for (i = p->separator + 1; i < p->diff; i++)
		p->lines[i].kind = L_STAT;

	/* The tags are the last paragraph. */
	i = p->separator;
	while (i > p->body && !p->lines[i - 1].text[0])
		i--;
	while (i > p->body && p->lines[i - 1].text[0])
		i--;
	p->tags = i;
	for (i = 0; i < p->separator; i++)
		take_value(p, i);
}

struct patch *patch_read(const char *path, const char *name)
{
	struct patch *p = xcalloc(1, sizeof(*p));
	char *text = read_file(path, &p->len);

	if (!text) {
		free(p);
		return NULL;
	}
	p->path = xstrdup(path);
	p->name = xstrdup(name);
	p->has_nul = memchr(text, '\0', p->len);
	split_lines(p, text);
	p->diff = find_diff(p);
	read_header(p);
	diff_read(p);
	return p;
}

enum queue_class patch_class(const struct patch *p)
{
	return p->value[F_CLASS] ? class_by_name(p->value[F_CLASS]) : NR_CLASSES;
}

char **patch_names(const struct patch *p, enum field_id f, int *n)
{
	char *rest = p->value[f] ? xstrdup(p->value[f]) : NULL, *name;
	char **names = NULL;

	*n = 0;
	while ((name = strsep(&rest, ", "))) {
		if (!*name)
			continue;
		names = xrealloc(names, (*n + 1) * sizeof(*names));
		names[(*n)++] = name;
	}
	return names;
}
