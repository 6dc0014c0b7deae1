// SPDX-License-Identifier: GPL-2.0-only
/* Reading the patches and series of one LTS. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "queue.h"

static int not_hidden(const struct dirent *d)
{
	return d->d_name[0] != '.';
}

static void read_patches(struct queue *q)
{
	char *dir = xasprintf("patches/%s", q->lts), *path;
	struct dirent **names;
	struct patch *p;
	int n = scandir(dir, &names, not_hidden, alphasort), i;

	if (n < 0)
		die(EX_USAGE, "no queue for \"%s\": cannot read %s: %s; the folders below patches/ say what there is",
		    q->lts, dir, strerror(errno));
	q->patches = xcalloc(n, sizeof(*q->patches));
	for (i = 0; i < n; i++) {
		path = xasprintf("%s/%s", dir, names[i]->d_name);
		p = patch_read(path, names[i]->d_name);
		if (!p)
			die(EX_USAGE, "cannot read %s: %s; only patch files belong there",
			    path, strerror(errno));
		q->patches[q->nr_patches++] = p;
	}
}

struct patch *queue_find(const struct queue *q, const char *name)
{
	int i;

	for (i = 0; i < q->nr_patches; i++)
		if (!strcmp(q->patches[i]->name, name))
			return q->patches[i];
	return NULL;
}

/*
 * What is left of a line without quotes, blanks, options and comments, in the
 * spelling of the file that is there, if one is.
 */
static char *meant(const struct queue *q, const char *text)
{
	char *copy = xstrdup(text), *name = trim(copy), quote;
	int i;

	quote = *name;
	if (quote == '"' || quote == '\'') {
		name++;
		name[strcspn(name, quote == '"' ? "\"" : "'")] = '\0';
		name = trim(name);
	} else {
		name[strcspn(name, " \t")] = '\0';
	}
	for (i = 0; i < q->nr_patches; i++)
		if (!strcasecmp(q->patches[i]->name, name))
			return xstrdup(q->patches[i]->name);
	return xstrdup(name);
}

static void read_series(const struct queue *q, struct series *s)
{
	size_t len;
	char *text = read_file(s->path, &len), *line, *first;
	int nr = 0;

	if (!text && errno == ENOENT) {
		s->missing = true;
		return;
	}
	if (!text)
		die(EX_USAGE, "cannot read %s: %s; make it a readable file",
		    s->path, strerror(errno));
	s->has_nul = strlen(text) != len;
	while ((line = strsep(&text, "\n"))) {
		nr++;
		first = line + strspn(line, " \t\r");
		if (!*first || *first == '#')
			continue;
		s->lines = xrealloc(s->lines, (s->nr_lines + 1) * sizeof(*s->lines));
		s->lines[s->nr_lines].text = line;
		s->lines[s->nr_lines].name = meant(q, line);
		s->lines[s->nr_lines++].line = nr;
	}
}

struct queue *queue_read(const char *lts)
{
	struct queue *q = xcalloc(1, sizeof(*q));
	struct series *s;
	int c;

	if (!*lts || strspn(lts, "0123456789.") != strlen(lts))
		die(EX_USAGE, "\"%s\" is no longterm kernel; say for example 6.12", lts);
	q->lts = xstrdup(lts);
	read_patches(q);
	for (c = 0; c < NR_CLASSES; c++) {
		s = &q->series[c];
		s->class = c;
		s->path = xasprintf("series/%s.%s", lts, class_names[c]);
		read_series(q, s);
	}
	return q;
}
