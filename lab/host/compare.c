// SPDX-License-Identifier: GPL-2.0-only
/* Did the guest get the machine that was asked for? */
#include <stdlib.h>
#include <string.h>

#include "console.h"
#include "topo.h"
#include "util.h"

/* A kernel keeps some of a node's memory for itself before it counts. */
#define MEM_LOW(mib) ((mib) * 1024l / 4)

static const char *get(const struct rec *r, const char *key)
{
	const char *v = r ? rec_get(r, key) : NULL;

	return v ? v : "(nothing)";
}

static void differ(struct console *c, const struct rec *r, const char *what,
		   const char *asked, const char *got)
{
	console_problem(c, "topology", r ? r->line : 0, "%s: asked for %s, got %s",
			what, asked, got);
}

static void check_cpus(struct console *c, const struct rec *r, const char *what,
		       const char *key, const struct cpulist *asked)
{
	char text[4096];
	struct cpulist got;

	if (cpulist_format(asked, text, sizeof(text)) < 0)
		die(EX_INFRA, "a CPU list is too long");
	if (cpulist_parse(get(r, key), &got) || !cpulist_equal(&got, asked))
		differ(c, r, what, text, get(r, key));
}

static char *distances(const struct topology *t, int node)
{
	char *s = xstrdup("");

	for (int i = 0; i < t->nr_nodes; i++) {
		char *longer = xasprintf("%s%s%d", s, i ? "," : "",
					 t->distance[node][i]);

		free(s);
		s = longer;
	}
	return s;
}

static void check_node(struct console *c, const struct rec *r,
		       const struct topology *t, int n)
{
	char *what = xasprintf("node %d", n), *asked = distances(t, n);
	long mem_kb = atol(get(r, "mem_kb")), max_kb = t->node[n].memory * 1024l;

	check_cpus(c, r, what, "cpus", &t->node[n].cpus);
	if (strcmp(get(r, "distance"), asked))
		differ(c, r, xasprintf("distances of %s", what), asked,
		       get(r, "distance"));
	if (mem_kb > max_kb || mem_kb < MEM_LOW(t->node[n].memory))
		differ(c, r, xasprintf("memory of %s", what),
		       xasprintf("%ld KiB", max_kb), get(r, "mem_kb"));
	free(asked);
	free(what);
}

static void check_nodes(struct console *c, const struct topology *t)
{
	const struct rec *r = NULL;
	int n = 0;

	while ((r = console_next(c, "node", r))) {
		char *id = xasprintf("%d", n);

		if (strcmp(get(r, "id"), id))
			differ(c, r, "the next NUMA node's number", id, get(r, "id"));
		else if (n < t->nr_nodes)
			check_node(c, r, t, n);
		free(id);
		n++;
	}
	if (n != t->nr_nodes)
		differ(c, NULL, "NUMA nodes", xasprintf("%d", t->nr_nodes),
		       xasprintf("%d", n));
}

/* The guest reports each core that has more than one thread. */
static void check_cores(struct console *c, const struct topology *t)
{
	const struct rec *r = NULL, *count = console_next(c, "cores", NULL);
	int asked = t->nr_cpus / t->threads, listed = 0;
	struct cpulist l, core;

	while ((r = console_next(c, "core", r))) {
		listed++;
		if (cpulist_parse(get(r, "cpus"), &l) || cpulist_next(&l, -1) < 0 ||
		    cpulist_next(&l, -1) >= t->nr_cpus) {
			differ(c, r, "threads of a core", "a CPU list", get(r, "cpus"));
			continue;
		}
		topo_siblings(t, cpulist_next(&l, -1), &core);
		check_cpus(c, r, "threads of a core", "cpus", &core);
	}
	if (atoi(get(count, "count")) != asked)
		differ(c, count, "cores", xasprintf("%d", asked), get(count, "count"));
	if (t->threads > 1 && listed != asked)
		differ(c, count, "cores of several threads", xasprintf("%d", asked),
		       xasprintf("%d", listed));
}

/*
 * Names of sched domains: SMT where cores have threads, and nowhere else; and
 * NUMA where there are nodes apart. Their number depends on what the kernel
 * folds together, so a domain name more or less is not the machine's fault.
 */
static void check_domains(struct console *c, const struct topology *t)
{
	const struct rec *r = console_next(c, "domains", NULL);
	bool smt, numa;

	if (!r) {
		differ(c, r, "sched domains", "their names", "none");
		return;
	}
	for (; r; r = console_next(c, "domains", r)) {
		smt = strstr(get(r, "names"), "SMT");
		numa = strstr(get(r, "names"), "NUMA");
		if (smt != (t->threads > 1))
			differ(c, r, "sched domains",
			       t->threads > 1 ? "SMT among them" : "none named SMT",
			       get(r, "names"));
		if (numa != (t->nr_nodes > 1))
			differ(c, r, "sched domains",
			       t->nr_nodes > 1 ? "NUMA among them" : "none named NUMA",
			       get(r, "names"));
	}
}

void compare_topology(struct console *c, const struct topology *t)
{
	struct cpulist all = { 0 };

	for (int cpu = 0; cpu < t->nr_cpus; cpu++)
		all.has[cpu] = 1;
	check_cpus(c, console_next(c, "cpus", NULL), "CPUs online", "online", &all);
	check_nodes(c, t);
	check_cores(c, t);
	check_domains(c, t);
}
