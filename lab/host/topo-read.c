// SPDX-License-Identifier: GPL-2.0-only
/* Reading topology files, line by line; topo-check.c looks at the whole. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "topo-read.h"

#define MAX_WORDS 8

int topo_bad(const struct topo_reader *r, int line, const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		die(EX_INFRA, "out of memory");
	va_end(ap);
	warn("%s:%d: %s", r->t->path, line, text);
	free(text);
	return -1;
}

/* A whole number from @min to @max, or -1 after saying what is wrong. */
static int number(const struct topo_reader *r, const char *what, const char *text,
		  int min, int max)
{
	char *end;
	long n;

	errno = 0;
	n = strtol(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || *end || errno || n < min || n > max)
		return topo_bad(r, r->line, "%s is '%s'; give a whole number from %d to %d",
				what, text, min, max);
	return n;
}

/* A size such as 64M or 2G in MiB, or -1 after saying what is wrong. */
static int size_mib(const struct topo_reader *r, const char *text)
{
	unsigned long n;
	char *end;

	errno = 0;
	n = strtoul(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || errno || n > 1024 * 1024 ||
	    (strcmp(end, "M") && strcmp(end, "G")))
		return topo_bad(r, r->line, "memory is '%s'; give a size such as 64M or 2G", text);
	if (*end == 'G')
		n *= 1024;
	return n > 1024 * 1024 ? topo_bad(r, r->line, "memory of %s; give 1024G at most", text) : (int)n;
}

static int list(const struct topo_reader *r, const char *what, const char *text,
		struct cpulist *l)
{
	const char *wrong = cpulist_parse(text, l);

	if (!wrong && !cpulist_count(l))
		wrong = "the list is empty";
	if (wrong)
		return topo_bad(r, r->line, "%s=%s: %s; write it like 0-3,8,10-14:2",
				what, text, wrong);
	return 0;
}

/* The value if @word is @key=VALUE, else NULL. */
static char *value(char *word, const char *key)
{
	size_t len = strlen(key);

	return !strncmp(word, key, len) && word[len] == '=' ? word + len + 1 : NULL;
}

/*
 * Sort the words KEY=VALUE into @val, one for each of @keys (ends with NULL).
 * With @all each key must be there; unknown and doubled ones are refused.
 */
static int values(const struct topo_reader *r, char **word, int n,
		  const char *const *keys, char **val, bool all)
{
	for (int k = 0; keys[k]; k++)
		val[k] = NULL;
	for (int i = 0; i < n; i++) {
		int k = 0;

		while (keys[k] && !value(word[i], keys[k]))
			k++;
		if (!keys[k])
			return topo_bad(r, r->line, "'%s' is not known here; use %s=...",
					word[i], keys[0]);
		if (val[k])
			return topo_bad(r, r->line, "%s= is there twice; delete one", keys[k]);
		val[k] = value(word[i], keys[k]);
	}
	for (int k = 0; all && keys[k]; k++)
		if (!val[k])
			return topo_bad(r, r->line, "%s= is missing; add it", keys[k]);
	return 0;
}

static int doubled(const struct topo_reader *r, const char *what, int line)
{
	return topo_bad(r, r->line, "%s was given in line %d already; delete one of them",
			what, line);
}

static int read_memory(struct topo_reader *r, char **word, int n)
{
	int mib;

	if (r->line_memory)
		return doubled(r, "memory", r->line_memory);
	if (n != 1)
		return topo_bad(r, r->line, "memory takes one size; write 'memory 256M'");
	mib = size_mib(r, word[0]);
	r->t->memory = mib;
	r->line_memory = r->line;
	return mib < 0 ? -1 : 0;
}

static int read_threads(struct topo_reader *r, char **word, int n)
{
	if (r->line_threads)
		return doubled(r, "threads", r->line_threads);
	if (n != 1)
		return topo_bad(r, r->line, "threads takes one number; write 'threads 2'");
	r->line_threads = r->line;
	r->t->threads = number(r, "threads", word[0], 1, 8);
	return r->t->threads < 0 ? -1 : 0;
}

static int read_cpus(struct topo_reader *r, char **word, int n)
{
	if (r->line_cpus)
		return doubled(r, "cpus", r->line_cpus);
	if (n != 1)
		return topo_bad(r, r->line, "cpus takes one number; write 'cpus 16'");
	r->line_cpus = r->line;
	r->t->nr_cpus = number(r, "cpus", word[0], 1, MAX_CPUS);
	return r->t->nr_cpus < 0 ? -1 : 0;
}

static int read_socket(struct topo_reader *r, char **word, int n)
{
	static const char *const keys[] = { "nodes", NULL };
	char *val[1];
	int id;

	id = number(r, "the socket", n ? word[0] : "", 0, TOPO_MAX_NODES - 1);
	if (id < 0)
		return -1;
	if (r->socket_line[id])
		return doubled(r, "this socket", r->socket_line[id]);
	r->socket_line[id] = r->line;
	if (values(r, word + 1, n - 1, keys, val, true))
		return -1;
	return list(r, "nodes", val[0], &r->socket_nodes[id]);
}

static int read_node(struct topo_reader *r, char **word, int n)
{
	static const char *const keys[] = { "cpus", "memory", NULL };
	struct topo_node *node;
	char *val[2];
	int id, mib;

	id = number(r, "the node", n ? word[0] : "", 0, TOPO_MAX_NODES - 1);
	if (id < 0)
		return -1;
	node = &r->t->node[id];
	if (node->line)
		return doubled(r, "this node", node->line);
	node->line = r->line;
	if (values(r, word + 1, n - 1, keys, val, true) ||
	    list(r, "cpus", val[0], &node->cpus))
		return -1;
	mib = size_mib(r, val[1]);
	node->memory = mib;
	return mib < 0 ? -1 : 0;
}

static int read_defaults(struct topo_reader *r, char **word, int n)
{
	static const char *const keys[] = { "same-socket", "other-socket", NULL };
	int *to[] = { &r->same_socket, &r->other_socket };
	char *val[2];

	if (r->line_defaults)
		return doubled(r, "the default distance", r->line_defaults);
	r->line_defaults = r->line;
	if (values(r, word, n, keys, val, false))
		return -1;
	for (int k = 0; k < 2; k++) {
		if (!val[k])
			continue;
		/* Both firmware tables: 255 is "unreachable", 10 and less invalid. */
		*to[k] = number(r, keys[k], val[k], TOPO_LOCAL + 1, 254);
		if (*to[k] < 0)
			return -1;
	}
	return 0;
}

static int read_pair(struct topo_reader *r, char **word, bool one_way)
{
	int from = number(r, "the first node", word[0], 0, TOPO_MAX_NODES - 1);
	int to = number(r, "the second node", word[1], 0, TOPO_MAX_NODES - 1);
	int dist;

	if (from < 0 || to < 0)
		return -1;
	if (from == to)
		return topo_bad(r, r->line, "a node's distance to itself is always %d; delete the line",
				TOPO_LOCAL);
	dist = number(r, "the distance", word[2], TOPO_LOCAL + 1, 254);
	if (dist < 0)
		return -1;
	if (r->given[from][to] > (one_way ? GIVEN_IMPLIED : GIVEN_NOT))
		return topo_bad(r, r->line, "the distance of nodes %d and %d was given before; "
				"delete one, or end the line with one-way if the way back differs",
				from, to);
	r->t->distance[from][to] = dist;
	r->given[from][to] = GIVEN_EXPLICIT;
	r->given_line[from][to] = r->line;
	if (!one_way && r->given[to][from] == GIVEN_NOT) {
		r->t->distance[to][from] = dist;
		r->given[to][from] = GIVEN_IMPLIED;
		r->given_line[to][from] = r->line;
	}
	return 0;
}

static int read_distance(struct topo_reader *r, char **word, int n)
{
	bool one_way = n == 4 && !strcmp(word[3], "one-way");

	if (n >= 1 && strchr(word[0], '='))
		return read_defaults(r, word, n);
	if (n != 3 && !one_way)
		return topo_bad(r, r->line, "distance is not complete; write 'distance FROM TO VALUE "
				"[one-way]' or 'distance same-socket=VALUE other-socket=VALUE'");
	return read_pair(r, word, one_way);
}

/* Parents keep the order of the file, so they are no CPU list. */
static int read_parents(struct topo_reader *r, struct topo_mask *m, char *text)
{
	char *word, *save = NULL;

	for (word = strtok_r(text, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
		int cpu = number(r, "a parent", word, 0, MAX_CPUS - 1);

		if (cpu < 0)
			return -1;
		if (m->nr_parents == TOPO_MAX_PARENTS)
			return topo_bad(r, r->line, "more than %d parents; name fewer",
					TOPO_MAX_PARENTS);
		for (int i = 0; i < m->nr_parents; i++)
			if (m->parent[i] == cpu)
				return topo_bad(r, r->line, "parent %d is there twice; delete one",
						cpu);
		m->parent[m->nr_parents++] = cpu;
	}
	return 0;
}

static int read_mask(struct topo_reader *r, char **word, int n)
{
	static const char *const keys[] = { "cpus", "parents", "monitor", "expect", NULL };
	struct topo_mask *m = &r->t->mask[r->t->nr_masks];
	char *val[4];

	if (r->t->nr_masks == TOPO_MAX_MASKS)
		return topo_bad(r, r->line, "more than %d masks; delete some", TOPO_MAX_MASKS);
	if (n < 1 || strspn(word[0], "abcdefghijklmnopqrstuvwxyz0123456789-") != strlen(word[0]))
		return topo_bad(r, r->line, "a mask needs a name of a-z, 0-9 and '-'; write "
				"'mask NAME cpus=... parents=... monitor=... expect=...'");
	for (int i = 0; i < r->t->nr_masks; i++)
		if (!strcmp(r->t->mask[i].name, word[0]))
			return doubled(r, "this mask", r->t->mask[i].line);
	if (values(r, word + 1, n - 1, keys, val, true))
		return -1;
	m->line = r->line;
	m->name = xstrdup(word[0]);
	m->expect = xstrdup(val[3]);
	r->t->nr_masks++;
	if (list(r, "cpus", val[0], &m->cpus) || read_parents(r, m, val[1]))
		return -1;
	m->monitor = number(r, "monitor", val[2], 0, MAX_CPUS - 1);
	return m->monitor < 0 ? -1 : 0;
}

static int read_words(struct topo_reader *r, char *text)
{
	static const struct {
		const char *name;
		int (*read)(struct topo_reader *r, char **word, int n);
	} keyword[] = {
		{ "memory", read_memory }, { "threads", read_threads },
		{ "cpus", read_cpus }, { "socket", read_socket },
		{ "node", read_node }, { "distance", read_distance },
		{ "mask", read_mask },
	};
	char *word[MAX_WORDS], *save = NULL, *w;
	int n = 0;

	for (w = strtok_r(text, " \t", &save); w; w = strtok_r(NULL, " \t", &save)) {
		if (n == MAX_WORDS)
			return topo_bad(r, r->line, "too many words; '%s' starts the surplus", w);
		word[n++] = w;
	}
	for (size_t k = 0; k < ARRAY_SIZE(keyword); k++)
		if (!strcmp(word[0], keyword[k].name))
			return keyword[k].read(r, word + 1, n - 1);
	return topo_bad(r, r->line, "unknown keyword '%s'; use describe, memory, threads, cpus, "
			"socket, node, distance or mask", word[0]);
}

static int read_line(struct topo_reader *r, char *text)
{
	static const char describe[] = "describe";
	size_t len = sizeof(describe) - 1;

	for (char *p = strchr(text, '#'); p; p = strchr(p + 1, '#'))
		if (p == text || p[-1] == ' ' || p[-1] == '\t') {
			*p = '\0';
			break;
		}
	text = trim(text);
	if (!*text)
		return 0;
	if (has_controls(text))
		return topo_bad(r, r->line, "a control character; write plain text");
	if (strncmp(text, describe, len) || (text[len] && !strchr(" \t", text[len])))
		return read_words(r, text);
	if (r->line_describe)
		return doubled(r, describe, r->line_describe);
	r->line_describe = r->line;
	r->t->describe = xstrdup(trim(text + len));
	if (!*r->t->describe)
		return topo_bad(r, r->line, "describe is empty; say what the machine is like");
	return 0;
}

static int read_lines(struct topo_reader *r, char *text, size_t len)
{
	if (!len || strlen(text) != len)
		return topo_bad(r, 1, "the file is empty or has a NUL byte; give a text file");
	for (char *next; *text; text = next) {
		next = text + strcspn(text, "\n");
		if (*next)
			*next++ = '\0';
		r->line++;
		if (read_line(r, text))
			return -1;
	}
	return topo_check(r);
}

int topo_read(const char *path, struct topology *t)
{
	struct topo_reader *r;
	const char *base = strrchr(path, '/');
	size_t len;
	char *text;
	int ret;

	memset(t, 0, sizeof(*t));
	text = read_file(path, &len);
	if (!text) {
		warn("%s: %s; name a file of topologies/", path, strerror(errno));
		return EX_USAGE;
	}
	t->path = xstrdup(path);
	t->name = xstrdup(base ? base + 1 : path);
	if (strlen(t->name) > 5 && !strcmp(t->name + strlen(t->name) - 5, ".topo"))
		t->name[strlen(t->name) - 5] = '\0';
	r = xcalloc(1, sizeof(*r));
	r->t = t;
	ret = read_lines(r, text, len);
	free(r);
	free(text);
	return ret ? EX_USAGE : EX_OK;
}

void topo_free(struct topology *t)
{
	for (int i = 0; i < t->nr_masks; i++) {
		free(t->mask[i].name);
		free(t->mask[i].expect);
	}
	free(t->path);
	free(t->name);
	free(t->describe);
	memset(t, 0, sizeof(*t));
}
