// SPDX-License-Identifier: GPL-2.0-only
/*
 * The headers inside a diff: which files, which hunks. A removed line "-- a/x"
 * looks like a file header, so lines are counted off against the hunk header.
 * Whether a diff is sound is not judged here: git apply does that.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "queue.h"

/* "a/kernel/x.c<TAB>date" -> "kernel/x.c"; NULL for /dev/null. */
static char *tree_path(const char *text)
{
	char *path = xstrdup(text), *slash;

	path[strcspn(path, "\t")] = '\0';
	if (!strcmp(path, "/dev/null"))
		return NULL;
	slash = strchr(path, '/');
	return slash ? slash + 1 : path;
}

static struct file_diff *add_file(struct patch *p, int i)
{
	char *old = tree_path(p->lines[i].text + 4);
	char *new = tree_path(p->lines[i + 1].text + 4);
	struct file_diff *f;

	p->files = xrealloc(p->files, (p->nr_files + 1) * sizeof(*f));
	f = &p->files[p->nr_files++];
	memset(f, 0, sizeof(*f));
	f->creates = !old;
	f->deletes = !new;
	f->path = new ? new : old ? old : xstrdup("/dev/null");
	f->line = i + 1;
	p->lines[i].kind = L_OLD;
	p->lines[i + 1].kind = L_NEW;
	return f;
}

/* Moves @s behind the number; false if there is none, or none that can be meant. */
static bool line_number(char **s, int *to)
{
	char *end;
	long n = strtol(*s, &end, 10);

	if (**s < '0' || **s > '9' || n > INT_MAX)
		return false;
	*to = n;
	*s = end;
	return true;
}

/* "12,3" or "12"; moves @s behind it. */
static bool range(char **s, int *start, int *len)
{
	*len = 1;
	if (!line_number(s, start))
		return false;
	if (**s != ',')
		return true;
	++*s;
	return line_number(s, len);
}

static bool hunk_header(char *text, struct hunk *h)
{
	char *s = text + 4;

	if (strncmp(text, "@@ -", 4) || !range(&s, &h->old_start, &h->old_len) ||
	    strncmp(s, " +", 2))
		return false;
	s += 2;
	return range(&s, &h->new_start, &h->new_len) && !strncmp(s, " @@", 3);
}

static enum line_kind hunk_line(const char *text, int *old, int *new)
{
	if ((text[0] == ' ' || !text[0]) && *old && *new) {
		--*old;
		--*new;
		return L_CONTEXT;
	}
	if (text[0] == '-' && *old) {
		--*old;
		return L_REMOVED;
	}
	if (text[0] == '+' && *new) {
		--*new;
		return L_ADDED;
	}
	return text[0] == '\\' ? L_NO_EOL : L_JUNK;
}

/* Takes the hunk whose header is line @i; returns the first line behind it. */
static int add_hunk(struct patch *p, struct file_diff *f, struct hunk h, int i)
{
	int old = h.old_len, new = h.new_len;

	h.line = i + 1;
	f->hunks = xrealloc(f->hunks, (f->nr_hunks + 1) * sizeof(h));
	f->hunks[f->nr_hunks++] = h;
	p->lines[i++].kind = L_HUNK;
	for (; i < p->nr_lines; i++) {
		if (!old && !new && p->lines[i].text[0] != '\\')
			break;
		p->lines[i].kind = hunk_line(p->lines[i].text, &old, &new);
		if (p->lines[i].kind == L_JUNK)
			break;
	}
	return i;
}

void diff_read(struct patch *p)
{
	struct file_diff *f = NULL;
	struct hunk h;
	int i = p->diff;

	while (i < p->nr_lines) {
		if (i + 1 < p->nr_lines &&
		    !strncmp(p->lines[i].text, "--- ", 4) &&
		    !strncmp(p->lines[i + 1].text, "+++ ", 4)) {
			f = add_file(p, i);
			i += 2;
		} else if (f && hunk_header(p->lines[i].text, &h)) {
			i = add_hunk(p, f, h, i);
		} else {
			p->lines[i++].kind = L_JUNK;
		}
	}
}
