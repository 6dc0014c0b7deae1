// SPDX-License-Identifier: GPL-2.0-only
/* Series against files, and the series of the classes against each other. */
#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "queue.h"

void finding(struct lint *l, const char *file, int line, const char *fmt, ...)
{
	va_list ap;
	char *text;

	l->found++;
	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		die(EX_INFRA, "out of memory");
	va_end(ap);
	fprintf(l->out, "%s:%d: %s\n", file, line, make_plain(text));
	free(text);
}

static const char *oddity(const char *text)
{
	if (strchr(text, '\r'))
		return "the line ends in CRLF";
	if (strpbrk(text, "\"'"))
		return "the name is quoted";
	if (text[0] == ' ' || text[0] == '\t')
		return "blanks before the name";
	if (text[strlen(text) - 1] == ' ' || text[strlen(text) - 1] == '\t')
		return "blanks after the name";
	if (strpbrk(text, " \t"))
		return "something stands behind the name";
	return "no file has exactly this name";
}

static bool names_file(struct lint *l, const struct queue *q,
		       const struct series *s, const struct series_line *n)
{
	if (queue_find(q, n->text))
		return true;
	if (queue_find(q, n->name))
		finding(l, s->path, n->line, "%s: %s; make the line: %s",
			trim(xstrdup(n->text)), oddity(n->text), n->name);
	else
		finding(l, s->path, n->line, "there is no patches/%s/%s; add that file or remove the line: sed -i %dd %s",
			q->lts, n->name, n->line, s->path);
	return false;
}

static void check_lines(struct lint *l, const struct queue *q, const struct series *s)
{
	int i, j;

	if (s->missing && s->class != ALTERNATIVE)
		finding(l, s->path, 1, "the file is missing; plain quilt needs one for each class, if only with a comment: echo '# none' >%s",
			s->path);
	if (s->has_nul)
		finding(l, s->path, 1, "a NUL byte, which hides what is below it; make it a text file again");
	for (i = 0; i < s->nr_lines; i++) {
		if (!names_file(l, q, s, &s->lines[i]))
			continue;
		for (j = 0; j < i; j++)
			if (!strcmp(s->lines[j].name, s->lines[i].name))
				finding(l, s->path, s->lines[i].line, "%s stands on line %d already; remove this line: sed -i %dd %s",
					s->lines[i].name, s->lines[j].line,
					s->lines[i].line, s->path);
	}
}

/* The wider series must start with all lines of the narrower. */
static int check_start(struct lint *l, const struct series *narrow,
		       const struct series *wide)
{
	int i;

	for (i = 0; i < narrow->nr_lines; i++) {
		if (i < wide->nr_lines &&
		    !strcmp(narrow->lines[i].name, wide->lines[i].name))
			continue;
		if (i < wide->nr_lines)
			finding(l, wide->path, wide->lines[i].line, "out of step with %s:%d; put before this line: %s",
				narrow->path, narrow->lines[i].line,
				narrow->lines[i].name);
		else
			finding(l, wide->path, 1, "out of step with %s:%d; add the line: %s",
				narrow->path, narrow->lines[i].line,
				narrow->lines[i].name);
		return -1;
	}
	return i;
}

static void check_classes(struct lint *l, const struct queue *q,
			  const struct series *s, int from)
{
	const struct patch *p;
	int i;

	for (i = from; i < s->nr_lines; i++) {
		p = queue_find(q, s->lines[i].name);
		if (!p || patch_class(p) == NR_CLASSES || patch_class(p) == s->class)
			continue;
		finding(l, s->path, s->lines[i].line, "%s says \"Kit-Class: %s\" in its header and cannot stand here; correct the one or the other",
			p->name, p->value[F_CLASS]);
	}
}

static bool in_series(const struct series *s, const char *name)
{
	int i;

	for (i = 0; i < s->nr_lines; i++)
		if (!strcmp(s->lines[i].name, name))
			return true;
	return false;
}

static void check_patch(struct lint *l, const struct queue *q, const struct patch *p)
{
	enum queue_class own = patch_class(p);
	size_t len = strlen(p->name);
	int c;

	if (len < 7 || strcmp(p->name + len - 6, ".patch") ||
	    strpbrk(p->name, " \t\r\n\"'#,\\")) {
		finding(l, p->path, 1, "a patch is called NAME.patch, without blanks, quotes, commas or \"#\"; rename or remove it");
		return;
	}
	for (c = 0; c < NR_CLASSES; c++)
		if (in_series(&q->series[c], p->name))
			return;
	finding(l, p->path, 1, "the patch is in no series; add to series/%s.%s%s the line: %s",
		q->lts, own == NR_CLASSES ? "CLASS" : class_names[own],
		own == STABLE ? " (and to distro and experimental)" :
		own == DISTRO ? " (and to experimental)" : "", p->name);
}

void lint_series(struct lint *l, const struct queue *q)
{
	const struct series *s = q->series;
	int c, i, from = 0;

	for (c = 0; c < NR_CLASSES; c++)
		check_lines(l, q, &s[c]);
	for (c = STABLE; c <= EXPERIMENTAL; c++) {
		if (s[c].missing)
			break;
		if (c > STABLE)
			from = check_start(l, &s[c - 1], &s[c]);
		if (from < 0)
			break;
		check_classes(l, q, &s[c], from);
	}
	if (!s[LANDED].missing)
		check_classes(l, q, &s[LANDED], 0);
	from = s[ALTERNATIVE].missing ? -1 :
		check_start(l, &s[STABLE], &s[ALTERNATIVE]);
	if (from >= 0)
		check_classes(l, q, &s[ALTERNATIVE], from);
	for (i = 0; i < q->nr_patches; i++)
		check_patch(l, q, q->patches[i]);
}

static bool has_patches(const char *lts, size_t len)
{
	char *dir = xasprintf("patches/%.*s", (int)len, lts);
	struct stat st;
	bool ret = len && !stat(dir, &st) && S_ISDIR(st.st_mode);

	free(dir);
	return ret;
}

void lint_strays(struct lint *l)
{
	DIR *d = opendir("series");
	struct dirent *e;
	char *path, *dot;

	if (!d)
		die(EX_USAGE, "cannot read the folder series: %s; a queue has patches/ and series/",
		    strerror(errno));
	while ((e = readdir(d))) {
		if (e->d_name[0] == '.')
			continue;
		dot = strrchr(e->d_name, '.');
		if (dot && class_by_name(dot + 1) != NR_CLASSES &&
		    has_patches(e->d_name, dot - e->d_name))
			continue;
		path = xasprintf("series/%s", e->d_name);
		finding(l, path, 1, "no series of this queue is called so; rename it to LTS.CLASS of a folder patches/LTS, or remove it");
		free(path);
	}
	closedir(d);
}
