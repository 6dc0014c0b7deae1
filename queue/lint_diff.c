// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is wrong with a diff, or with the bytes of a patch file. Counts and
 * syntax are left to git apply (scripts/lint.sh asks it).
 */
#include <string.h>

#include "queue.h"

/* Bytes of the UTF-8 sequence at @s, 0 if it is none. */
static int utf8_len(const unsigned char *s)
{
	int n = s[0] < 0x80 ? 1 : s[0] >= 0xc2 && s[0] < 0xe0 ? 2 :
		s[0] >= 0xe0 && s[0] < 0xf0 ? 3 : s[0] >= 0xf0 && s[0] < 0xf5 ? 4 : 0;
	int i;

	for (i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return n;
}

static bool utf8(const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	int n;

	for (; *s; s += n) {
		n = utf8_len(s);
		if (!n)
			return false;
	}
	return true;
}

static void check_bytes(struct lint *l, const struct patch *p)
{
	int i, crlf = 0;
	const char *cr;

	for (i = 0; i < p->nr_lines; i++) {
		cr = strchr(p->lines[i].text, '\r');
		if (cr && !crlf)
			crlf = i + 1;
		/* Code may hold a form feed; what is shown to a reader may not. */
		if (!cr && p->lines[i].kind <= L_HUNK && has_controls(p->lines[i].text))
			finding(l, p->path, i + 1, "a control character; write plain text");
		if (!utf8(p->lines[i].text))
			finding(l, p->path, i + 1, "not UTF-8; convert it, with iconv for example");
	}
	if (crlf)
		finding(l, p->path, crlf, "carriage returns, here and perhaps below; take them out: sed -i 's/\\r$//' %s", p->path);
	if (p->has_nul)
		finding(l, p->path, 1, "NUL bytes; this is no patch");
	if (p->no_newline)
		finding(l, p->path, p->nr_lines, "the last line has no end; add the newline");
}

static void check_names(struct lint *l, const struct patch *p, int i)
{
	const char *path = p->lines[i].text + 4;
	const char *side = p->lines[i].kind == L_OLD ? "a/" : "b/";

	if (strchr(path, '\t'))
		finding(l, p->path, i + 1, "a time behind the file name, which quilt refresh drops; refresh with the kit's quiltrc");
	else if (strncmp(path, side, 2) && strcmp(path, "/dev/null"))
		finding(l, p->path, i + 1, "the file must be named %sPATH; refresh with the kit's quiltrc", side);
	else if (strpbrk(path, " \"") || strstr(path, "/../") || strstr(path, "//"))
		finding(l, p->path, i + 1, "a file name that the kit does not take: blanks, quotes, \"..\" or \"//\"");
}

/* Spaces where the code is indented by tabs: what mail programs do. */
static void check_hunk(struct lint *l, const struct patch *p, int i)
{
	int tabs = 0, spaces = 0, first = i + 1;
	const char *text;

	for (i++; i < p->nr_lines && p->lines[i].kind > L_HUNK; i++) {
		text = p->lines[i].text;
		tabs += text[0] && text[1] == '\t';
		spaces += text[0] && !strncmp(text + 1, "        ", 8);
		if (!text[0])
			finding(l, p->path, i + 1, "an empty line inside the diff has lost its leading blank; refresh the patch");
	}
	if (spaces && !tabs)
		finding(l, p->path, first, "tabs have become spaces in this hunk; take the patch anew from its source");
}

static void check_context(struct lint *l, const struct patch *p)
{
	const struct file_diff *f;
	const struct hunk *h;
	int i, n, k, context;

	for (i = 0; i < p->nr_files; i++) {
		f = &p->files[i];
		for (n = 0; n < f->nr_hunks && !f->creates && !f->deletes; n++) {
			h = &f->hunks[n];
			context = 0;
			for (k = h->line; k < p->nr_lines && p->lines[k].kind > L_HUNK; k++)
				context += p->lines[k].kind == L_CONTEXT;
			if (!context)
				finding(l, p->path, h->line, "a hunk without context can go in anywhere; refresh it with at least three lines");
		}
	}
}

static void check_twice(struct lint *l, const struct patch *p)
{
	int i, j;

	for (i = 1; i < p->nr_files; i++)
		for (j = 0; j < i; j++)
			if (!strcmp(p->files[i].path, p->files[j].path))
				finding(l, p->path, p->files[i].line, "%s stands in the diff on line %d already; put its hunks together",
					p->files[i].path, p->files[j].line);
}

void lint_diff(struct lint *l, const struct patch *p)
{
	int i;

	check_bytes(l, p);
	if (p->diff == p->nr_lines)
		finding(l, p->path, p->nr_lines ? p->nr_lines : 1, "no diff in it (\"---\", \"+++\" and \"@@\" lines)");
	for (i = p->diff; i < p->nr_lines; i++) {
		if (p->lines[i].kind == L_JUNK)
			finding(l, p->path, i + 1, "\"%.40s\" is no part of a plain unified diff, or does not fit the counts of its hunk; refresh with the kit's quiltrc",
				p->lines[i].text);
		else if (p->lines[i].kind == L_OLD || p->lines[i].kind == L_NEW)
			check_names(l, p, i);
		else if (p->lines[i].kind == L_HUNK)
			check_hunk(l, p, i);
	}
	check_context(l, p);
	check_twice(l, p);
}
