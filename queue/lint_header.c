// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is wrong with a header: the fields against their table, and lines that
 * quilt refresh or git am would take for something else.
 */
#include <ctype.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "queue.h"

/* @pattern is a literal: each is compiled once, and known by its address. */
static const regex_t *compiled(const char *pattern)
{
	static struct {
		const char *pattern;
		regex_t re;
	} known[64];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(known) && known[i].pattern; i++)
		if (known[i].pattern == pattern)
			return &known[i].re;
	if (i == ARRAY_SIZE(known) ||
	    regcomp(&known[i].re, pattern, REG_EXTENDED | REG_NOSUB))
		die(EX_INFRA, "cannot compile the pattern %s", pattern);
	known[i].pattern = pattern;
	return &known[i].re;
}

static bool matches(const char *pattern, const char *text)
{
	return !regexec(compiled(pattern), text, 0, NULL, 0);
}

bool field_ok(const struct patch *p, enum field_id f)
{
	return p->value[f] && matches(fields[f].pattern, p->value[f]);
}

static void check_value(struct lint *l, const struct patch *p, int f,
			enum queue_class class)
{
	unsigned int bit = class == NR_CLASSES ? ~0u : 1u << class;
	const struct field *field = &fields[f];

	if (!p->value[f]) {
		if (field->needed & bit && (class != NR_CLASSES || field->mail || f == F_CLASS))
			finding(l, p->path, field->mail ? 1 : p->tags + 1,
				"no \"%s:\" line; add one: %s", field->name, field->looks);
		return;
	}
	if (!(field->allowed & bit))
		finding(l, p->path, p->value_line[f], "a patch of class %s has no \"%s:\"; remove the line",
			class_names[class], field->name);
	else if (!field_ok(p, f))
		finding(l, p->path, p->value_line[f], "\"%s: %s\" is not well formed; it looks like: %s",
			field->name, p->value[f], field->looks);
}

/* Which field line @i is, or NR_FIELDS. */
static int field_of(const struct patch *p, int i)
{
	const char *text = p->lines[i].text;
	size_t len;
	int f;

	for (f = 0; f < NR_FIELDS; f++) {
		len = strlen(fields[f].name);
		if (fields[f].mail == (i < p->body) &&
		    !strncasecmp(text, fields[f].name, len) && text[len] == ':')
			break;
	}
	return f;
}

static void check_mail_line(struct lint *l, const struct patch *p, int i)
{
	int f = field_of(p, i);

	if (isspace((unsigned char)p->lines[i].text[0]))
		finding(l, p->path, i + 1, "a mail header line that goes on from the one above; keep each on one line");
	else if (f == NR_FIELDS)
		finding(l, p->path, i + 1, "only From:, Date: and Subject: stand above the first empty line; remove this line or move it");
	else if (p->value_line[f] && p->value_line[f] != i + 1)
		finding(l, p->path, i + 1, "\"%s:\" stands on line %d already; remove one",
			fields[f].name, p->value_line[f]);
}

static void check_tag_line(struct lint *l, const struct patch *p, int i)
{
	const char *text = p->lines[i].text;
	bool kit = !strncasecmp(text, "Kit-", 4);
	int f = field_of(p, i);

	if (!kit && i < p->tags)
		return;
	if (!kit && !matches("^[A-Z][A-Za-z-]+: [^ ]", text) && text[0] &&
	    p->value_line[F_CLASS] > p->tags)
		finding(l, p->path, i + 1, "the tags are a paragraph of their own, one \"Tag: value\" a line; move this line out of it");
	if (!kit)
		return;
	if (f == NR_FIELDS || strncmp(text, fields[f].name, strlen(fields[f].name)))
		finding(l, p->path, i + 1, "the kit has no tag \"%.*s\"; correct the name (they are in queue/fields.c)",
			(int)strcspn(text, ":"), text);
	else if (p->value_line[f] != i + 1)
		finding(l, p->path, i + 1, "\"%s:\" stands on line %d already; remove one",
			fields[f].name, p->value_line[f]);
	else if (i < p->tags)
		finding(l, p->path, i + 1, "\"%s:\" stands above the last paragraph; move it into the block of tags, right above the \"---\"",
			fields[f].name);
}

/* What tools take a line of the text for; NULL if for text. */
static const char *taken_for(const struct patch *p, int i)
{
	static const struct {
		const char *pattern, *why;
	} rules[] = {
		{ "^(---|\\*\\*\\*|\\+\\+\\+)[ \t]", "quilt refresh and git am take it for the start of the diff" },
		{ "^(Index:[ \t]|diff -|=======)", "quilt refresh or git am take it for the start of the diff" },
		{ "^@@ -", "patch takes it for a hunk" },
		{ "^>?From ", "git am takes it for the start of the next mail" },
		{ "^---$", "git am ends the text here" },
		{ "^[ \t]*(-+ *)?(8<|>8)", "git am can take it for a scissors line and drop all above" },
		{ "^\t*\\.$", "mail programs can take it for the end of the mail" },
	};
	size_t r;

	for (r = 0; r < ARRAY_SIZE(rules); r++)
		if (matches(rules[r].pattern, p->lines[i].text))
			return rules[r].why;
	if (i == p->body && matches("^(From|Date|Subject|\\[?PATCH)[]: ]", p->lines[i].text))
		return "git am takes it for a mail header";
	return NULL;
}

static void check_text_line(struct lint *l, const struct patch *p, int i)
{
	const char *text = p->lines[i].text, *why = taken_for(p, i);
	size_t len = strlen(text);

	if (why)
		finding(l, p->path, i + 1, "\"%.40s\": %s; indent or reword the line", text, why);
	else if (matches("^#? .* files? changed", text))
		finding(l, p->path, i + 1, "\"%.40s\": quilt refresh takes it for a diffstat and drops it; reword the line", text);
	if (len && isspace((unsigned char)text[len - 1]))
		finding(l, p->path, i + 1, "blanks at the end of the line, which git am drops; remove them");
}

/* The line that stable wants alone above the text. */
static void check_commit_line(struct lint *l, const struct queue *q, const struct patch *p)
{
	const char *id = p->value[F_UPSTREAM], *first = p->value[F_FIRST];
	const char *text = p->body < p->separator ? p->lines[p->body].text : "";
	size_t len = strlen(q->lts);
	char *want;

	if (first && strcmp(first, "none") &&
	    (strncmp(first, q->lts, len) || first[len] != '.'))
		finding(l, p->path, p->value_line[F_FIRST], "%s is no release of %s; name the first of %s that has the fix, or none",
			first, q->lts, q->lts);
	if (!id)
		return;
	want = xasprintf("[ Upstream commit %s ]", id);
	if (strcmp(text, want))
		finding(l, p->path, p->body + 1, "the text must start with the line: %s", want);
	else if (p->body + 1 < p->separator && p->lines[p->body + 1].text[0])
		finding(l, p->path, p->body + 2, "the line with the upstream commit stands alone; put an empty line here");
	free(want);
}

static void check_stat(struct lint *l, const struct patch *p)
{
	const char *why;
	int i;

	if (p->separator == p->diff && p->diff < p->nr_lines)
		finding(l, p->path, p->diff + 1, "no \"---\" between the tags and the diff; put one before the diffstat");
	for (i = p->separator + 1; i < p->diff; i++) {
		why = taken_for(p, i);
		if (why)
			finding(l, p->path, i + 1, "\"%.40s\": %s, and refresh drops it; remove the line", p->lines[i].text, why);
		else if (p->lines[i].text[0] &&
		    !matches("^ .+ \\| +([0-9]+( [+-]*)?|Bin.*)$|^ [0-9]+ files? changed", p->lines[i].text))
			finding(l, p->path, i + 1, "below the \"---\" only a diffstat survives both quilt and git am; move this line above the tags or remove it");
	}
}

void lint_header(struct lint *l, const struct queue *q, const struct patch *p)
{
	enum queue_class class = patch_class(p);
	int f, i;

	for (f = 0; f < NR_FIELDS; f++)
		check_value(l, p, f, class);
	if (p->nr_lines && field_of(p, 0) != F_FROM)
		finding(l, p->path, 1, "the first line must be \"From: Name <user@host>\", so that git am knows a mail");
	for (i = 0; i < p->body; i++)
		if (p->lines[i].text[0])
			check_mail_line(l, p, i);
	for (i = p->body; i < p->separator; i++) {
		check_text_line(l, p, i);
		check_tag_line(l, p, i);
	}
	check_commit_line(l, q, p);
	check_stat(l, p);
	if (p->tags <= p->body + (p->value[F_UPSTREAM] ? 2 : 0))
		finding(l, p->path, p->body + 1, "no changelog; say what goes wrong, where, and what changes");
}
