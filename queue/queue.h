/* SPDX-License-Identifier: GPL-2.0-only */
/* Series and patch headers: what is in a queue, and what is wrong with it. */
#ifndef KIT_QUEUE_H
#define KIT_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "util.h"

enum queue_class {
	STABLE, DISTRO, EXPERIMENTAL, LANDED, ALTERNATIVE, NR_CLASSES
};

extern const char *const class_names[NR_CLASSES];

/* The class called @name, or NR_CLASSES. */
enum queue_class class_by_name(const char *name);

/*
 * class_list - read "stable,distro" into a set of 1 << class; "all" is the
 * three that can be applied together. Dies with EX_USAGE on anything else.
 */
unsigned int class_list(const char *text);

/* What can stand in a header; the table with the rules is in fields.c. */
enum field_id {
	F_FROM, F_DATE, F_SUBJECT,
	F_UPSTREAM, F_MAINLINE, F_FIRST, F_CLASS, F_SOURCE,
	F_NEEDS, F_INSTEAD,
	NR_FIELDS
};

struct field {
	const char *name;
	bool mail;		/* a mail header, not a tag under the text */
	const char *pattern;	/* POSIX extended, for the whole value */
	unsigned int needed;	/* classes (1 << class) that must have it */
	unsigned int allowed;	/* classes that may have it */
	const char *looks;	/* what a right value looks like */
};

extern const struct field fields[NR_FIELDS];

/* What a line of a patch file is. */
enum line_kind {
	L_MAIL, L_TEXT, L_SEPARATOR, L_STAT,	/* the header */
	L_OLD, L_NEW, L_HUNK,			/* headers inside the diff */
	L_CONTEXT, L_ADDED, L_REMOVED, L_NO_EOL,
	L_JUNK,					/* in the diff, but not of it */
};

struct line {
	char *text;		/* without the newline */
	enum line_kind kind;
};

struct hunk {
	int line;		/* in the patch file, from 1 */
	int old_start, old_len, new_start, new_len;
};

struct file_diff {
	char *path;		/* in the tree, without a/ or b/ */
	bool creates, deletes;
	int line;		/* of the "---" line, from 1 */
	struct hunk *hunks;
	int nr_hunks;
};

struct patch {
	char *name;		/* file name, such as x.patch */
	char *path;		/* as it was opened */
	size_t len;		/* bytes in the file */
	bool has_nul, no_newline;
	struct line *lines;
	int nr_lines;
	int body;		/* index of the first line below the mail headers */
	int tags;		/* index of the first line of the tag block */
	int separator;		/* index of the lone "---", or of the diff */
	int diff;		/* index of the first line of the diff, or nr_lines */
	const char *value[NR_FIELDS];	/* the first of each, or NULL */
	int value_line[NR_FIELDS];	/* from 1 */
	struct file_diff *files;
	int nr_files;
};

/*
 * patch_read - read @path; @name is how the series calls it. What is wrong
 * with it is for the lint to say: this takes all it can. Returns NULL with
 * errno set if the file cannot be read.
 */
struct patch *patch_read(const char *path, const char *name);

/* Sort the lines from p->diff on into kinds, files and hunks. */
void diff_read(struct patch *p);

/* The class in the header, or NR_CLASSES. */
enum queue_class patch_class(const struct patch *p);

/*
 * patch_names - the patches that field @f of @p names, as "a.patch, b.patch".
 * Puts how many into @n; both it and the names are the caller's.
 */
char **patch_names(const struct patch *p, enum field_id f, int *n);

/* One file of series/. */
struct series {
	enum queue_class class;
	char *path;
	bool missing;
	bool has_nul;		/* and what follows it is not in lines */
	struct series_line {
		char *text;	/* as it stands there, without the newline */
		char *name;	/* the patch it can only mean */
		int line;	/* from 1 */
	} *lines;		/* comments and empty lines left out */
	int nr_lines;
};

/* All of one LTS. */
struct queue {
	char *lts;
	struct patch **patches;	/* every file of patches/LTS, by name */
	int nr_patches;
	struct series series[NR_CLASSES];
};

/*
 * queue_read - read patches/@lts and series/@lts.* below the current folder.
 * Dies with EX_USAGE if there is no patches/@lts.
 */
struct queue *queue_read(const char *lts);
struct patch *queue_find(const struct queue *q, const char *name);

/* Where findings go and how many there were. */
struct lint {
	FILE *out;
	int found;
};

/* finding - print "@file:@line: text" and count it. */
void finding(struct lint *l, const char *file, int line, const char *fmt, ...)
	PRINTF(4, 5);

void lint_series(struct lint *l, const struct queue *q);
/* Whether @p has the field @f, and as its pattern wants it. */
bool field_ok(const struct patch *p, enum field_id f);
void lint_header(struct lint *l, const struct queue *q, const struct patch *p);
void lint_diff(struct lint *l, const struct patch *p);
/* Which patches a patch needs or takes the place of. */
void lint_needs(struct lint *l, const struct queue *q, const struct patch *p);
/* All four for one LTS. */
void lint_queue(struct lint *l, const struct queue *q);
/* Files of series/ that belong to no LTS or class. */
void lint_strays(struct lint *l);

/* The subcommands; each prints to stdout. See main.c for what they print. */
void list_print(const struct queue *q, unsigned int classes, bool json);
void hunks_print(const char *path);
void states_print(const struct queue *q, int nr_pairs, char **pairs);

#endif
