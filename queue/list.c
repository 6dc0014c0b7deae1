// SPDX-License-Identifier: GPL-2.0-only
/* What the other tools ask of a queue. */
#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "queue.h"

static void print_json(json_t *j)
{
	if (!j || json_dumpf(j, stdout, JSON_INDENT(2) | JSON_PRESERVE_ORDER))
		die(EX_INFRA, "cannot write the JSON");
	putchar('\n');
	json_decref(j);
}

static json_t *string_or_null(const char *s)
{
	return s ? json_string(s) : json_null();
}

static json_t *names_json(const struct patch *p, enum field_id f)
{
	json_t *all = json_array();
	char **names;
	int i, n;

	names = patch_names(p, f, &n);
	for (i = 0; i < n; i++)
		json_array_append_new(all, json_string(names[i]));
	return all;
}

static json_t *patch_json(const struct patch *p)
{
	json_t *files = json_array();
	int i;

	for (i = 0; i < p->nr_files; i++)
		json_array_append_new(files, json_string(p->files[i].path));
	return json_pack("{ss,ss,so,so,so,so,so,so,so,so,so}",
		"name", p->name, "path", p->path,
		"subject", string_or_null(p->value[F_SUBJECT]),
		"author", string_or_null(p->value[F_FROM]),
		"upstream", string_or_null(p->value[F_UPSTREAM]),
		"mainline", string_or_null(p->value[F_MAINLINE]),
		"first_release", string_or_null(p->value[F_FIRST]),
		"class", string_or_null(p->value[F_CLASS]),
		"files", files,
		"needs", names_json(p, F_NEEDS),
		"instead_of", names_json(p, F_INSTEAD));
}

static const char *or_dash(const char *s)
{
	return s && *s ? s : "-";
}

/* A column: the names with blanks between, - for none. */
static void print_names(const struct patch *p, enum field_id f)
{
	char **names;
	int i, n;

	names = patch_names(p, f, &n);
	fputs(n ? "\t" : "\t-", stdout);
	for (i = 0; i < n; i++)
		printf("%s%s", i ? " " : "", names[i]);
}

static void print_line(const struct patch *p)
{
	int i;

	printf("%s\t%s\t%s\t%s\t%s\t", p->name, p->path, or_dash(p->value[F_UPSTREAM]),
	       or_dash(p->value[F_FIRST]), or_dash(p->value[F_CLASS]));
	for (i = 0; i < p->nr_files; i++)
		printf("%s%s", i ? " " : "", p->files[i].path);
	printf("\t%s", or_dash(p->value[F_SUBJECT]));
	print_names(p, F_NEEDS);
	print_names(p, F_INSTEAD);
	putchar('\n');
}

void list_print(const struct queue *q, unsigned int classes, bool json)
{
	static const enum queue_class order[] = { LANDED, EXPERIMENTAL, ALTERNATIVE };
	enum queue_class class;
	json_t *all = json_array();
	const struct patch *p;
	const struct series *s;
	size_t k;
	int i;

	/*
	 * experimental holds stable and distro too, in the order to apply;
	 * alternative holds stable, which then has been printed.
	 */
	for (k = 0; k < ARRAY_SIZE(order); k++) {
		s = &q->series[order[k]];
		for (i = 0; i < s->nr_lines; i++) {
			p = queue_find(q, s->lines[i].name);
			class = p ? patch_class(p) : NR_CLASSES;
			if (!p || !(classes & 1u << class) ||
			    (s->class == ALTERNATIVE && class != ALTERNATIVE))
				continue;
			if (json)
				json_array_append_new(all, patch_json(p));
			else
				print_line(p);
		}
	}
	if (json)
		print_json(json_pack("{ss,so}", "lts", q->lts, "patches", all));
	else
		json_decref(all);
}

void hunks_print(const char *path)
{
	const struct patch *p = patch_read(path, path);
	const struct file_diff *f;
	const struct hunk *h;
	int i, n;

	if (!p)
		die(EX_USAGE, "cannot read %s: %s; name a patch file", path, strerror(errno));
	for (i = 0; i < p->nr_files; i++) {
		f = &p->files[i];
		for (n = 0; n < f->nr_hunks; n++) {
			h = &f->hunks[n];
			printf("%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\n", f->path, n + 1,
			       f->nr_hunks, h->old_start, h->old_len,
			       h->new_start, h->new_len, h->line);
		}
	}
}

/* "name<TAB>state<TAB>action<TAB>detail" on stdin, as apply.sh has them. */
static json_t *state_json(const struct queue *q, char *line)
{
	const char *name = strsep(&line, "\t"), *state = strsep(&line, "\t");
	const char *action = strsep(&line, "\t");
	const struct patch *p = queue_find(q, name);

	if (!p || !action)
		die(EX_USAGE, "states: \"%s\" is no patch of %s, or its line is not complete",
		    name, q->lts);
	return json_pack("{ss,ss,ss,so,so,so,so,ss,ss}",
		"name", p->name, "state", state, "action", action,
		"class", string_or_null(p->value[F_CLASS]),
		"upstream", string_or_null(p->value[F_UPSTREAM]),
		"mainline", string_or_null(p->value[F_MAINLINE]),
		"first_release", string_or_null(p->value[F_FIRST]),
		"detail", line ? line : "", "path", p->path);
}

/* KEY=text or KEY:=JSON */
static void add_pair(json_t *out, char *pair)
{
	char *eq = strchr(pair, '=');
	json_t *value;

	if (!eq || eq == pair)
		die(EX_USAGE, "states: \"%s\" is not KEY=TEXT or KEY:=JSON", pair);
	*eq = '\0';
	if (eq[-1] == ':') {
		eq[-1] = '\0';
		value = json_loads(eq + 1, JSON_DECODE_ANY, NULL);
		if (!value)
			die(EX_USAGE, "states: \"%s\" is no JSON", eq + 1);
	} else {
		/* a path need not be UTF-8; the rest of the answer still counts */
		value = json_string(eq + 1);
	}
	json_object_set_new(out, pair, value ? value : json_null());
}

void states_print(const struct queue *q, int nr_pairs, char **pairs)
{
	json_t *out = json_object(), *all = json_array();
	char *line = NULL;
	size_t room = 0;
	ssize_t len;
	int i;

	json_object_set_new(out, "lts", json_string(q->lts));
	for (i = 0; i < nr_pairs; i++)
		add_pair(out, pairs[i]);
	while ((len = getline(&line, &room, stdin)) > 0) {
		if (line[len - 1] == '\n')
			line[len - 1] = '\0';
		json_array_append_new(all, state_json(q, line));
	}
	json_object_set_new(out, "patches", all);
	print_json(out);
}
