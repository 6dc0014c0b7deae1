// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checks of a topology as a whole. QEMU refuses some of these faults with a
 * message that names no line, warns about others, and leaves the rest to the
 * kernel, which then quietly makes another machine of it.
 */
#include <stdlib.h>
#include <string.h>

#include "topo-read.h"

/*
 * A node with memory must hold what the kernel puts on each of them, and end
 * where a block of the page allocator ends, or blocks would reach into the next.
 */
#define NODE_MIN_MIB	16
#define NODE_ALIGN_MIB	4

static int check_required(struct topo_reader *r)
{
	const char *missing = NULL;

	if (!r->line_describe)
		missing = "describe TEXT";
	else if (!r->line_memory)
		missing = "memory SIZE";
	else if (!r->line_cpus)
		missing = "cpus NUMBER";
	if (missing)
		return topo_bad(r, r->line, "there is no line '%s'; add it", missing);
	if (!r->line_threads)
		r->t->threads = 1;
	if (r->t->nr_cpus % r->t->threads)
		return topo_bad(r, r->line_cpus, "%d CPUs are no whole number of cores of %d threads; "
				"change cpus or threads", r->t->nr_cpus, r->t->threads);
	return 0;
}

static int check_nodes(struct topo_reader *r)
{
	struct topology *t = r->t;

	for (int n = 0; n < TOPO_MAX_NODES; n++) {
		if (!t->node[n].line)
			continue;
		if (n != t->nr_nodes)
			return topo_bad(r, t->node[n].line, "node %d, but there is no node %d; "
					"number the nodes from 0 without gaps", n, t->nr_nodes);
		t->nr_nodes++;
	}
	if (!t->nr_nodes)
		return topo_bad(r, r->line, "there is no node; add 'node 0 cpus=... memory=...'");
	return 0;
}

static int check_sockets(struct topo_reader *r)
{
	struct topology *t = r->t;

	for (int n = 0; n < t->nr_nodes; n++)
		t->node[n].socket = -1;
	for (int s = 0; s < TOPO_MAX_NODES; s++) {
		if (!r->socket_line[s])
			continue;
		if (s != t->nr_sockets)
			return topo_bad(r, r->socket_line[s], "socket %d, but there is no socket %d; "
					"number the sockets from 0 without gaps", s, t->nr_sockets);
		t->nr_sockets++;
		for (int n = -1; (n = cpulist_next(&r->socket_nodes[s], n)) >= 0;) {
			if (n >= t->nr_nodes)
				return topo_bad(r, r->socket_line[s],
						"there is no node %d; add it or take it out", n);
			if (t->node[n].socket >= 0)
				return topo_bad(r, r->socket_line[s], "node %d is in socket %d too; "
						"take it out of one", n, t->node[n].socket);
			t->node[n].socket = s;
		}
	}
	for (int n = 0; n < t->nr_nodes; n++)
		if (t->node[n].socket < 0)
			return topo_bad(r, t->node[n].line, "node %d is in no socket; "
					"name it in a line 'socket S nodes=...'", n);
	return 0;
}

static int check_cpus(struct topo_reader *r)
{
	struct topology *t = r->t;
	int owner[MAX_CPUS];

	memset(owner, -1, sizeof(owner));
	for (int n = 0; n < t->nr_nodes; n++)
		for (int cpu = -1; (cpu = cpulist_next(&t->node[n].cpus, cpu)) >= 0;) {
			if (cpu >= t->nr_cpus)
				return topo_bad(r, t->node[n].line, "CPU %d of node %d is outside of the "
						"%d CPUs of line %d; change one", cpu, n, t->nr_cpus,
						r->line_cpus);
			if (owner[cpu] >= 0)
				return topo_bad(r, t->node[n].line, "CPU %d is in node %d too (line %d); "
						"take it out of one", cpu, owner[cpu],
						t->node[owner[cpu]].line);
			owner[cpu] = n;
		}
	for (int cpu = 0; cpu < t->nr_cpus; cpu++) {
		int first = cpu - cpu % t->threads;

		if (owner[cpu] < 0)
			return topo_bad(r, r->line_cpus, "CPU %d is in no node; add it to one, "
					"or change cpus", cpu);
		if (owner[cpu] != owner[first])
			return topo_bad(r, t->node[owner[cpu]].line, "CPUs %d and %d are threads of one "
					"core, but on nodes %d and %d; move one, or change threads",
					first, cpu, owner[first], owner[cpu]);
	}
	return 0;
}

static int check_memory(struct topo_reader *r)
{
	const struct topology *t = r->t;
	unsigned long sum = 0;

	for (int n = 0; n < t->nr_nodes; n++) {
		unsigned int mib = t->node[n].memory;

		if (mib && (mib < NODE_MIN_MIB || mib % NODE_ALIGN_MIB))
			return topo_bad(r, t->node[n].line, "node %d has %uM; give a multiple of %dM, "
					"at least %dM, or 0M", n, mib, NODE_ALIGN_MIB, NODE_MIN_MIB);
		sum += mib;
	}
	if (!sum)
		return topo_bad(r, r->line_memory, "no node has memory; give one at least %dM",
				NODE_MIN_MIB);
	if (sum != t->memory)
		return topo_bad(r, r->line_memory, "memory is %uM, but the nodes have %luM together; "
				"make them equal", t->memory, sum);
	return 0;
}

static int check_distances(struct topo_reader *r)
{
	struct topology *t = r->t;

	for (int a = 0; a < TOPO_MAX_NODES; a++)
		for (int b = 0; b < TOPO_MAX_NODES; b++)
			if (r->given[a][b] && (a >= t->nr_nodes || b >= t->nr_nodes))
				return topo_bad(r, r->given_line[a][b], "there is no node %d; correct "
						"the line", a >= t->nr_nodes ? a : b);
	for (int a = 0; a < t->nr_nodes; a++)
		for (int b = 0; b < t->nr_nodes; b++) {
			bool same = t->node[a].socket == t->node[b].socket;

			if (a == b)
				t->distance[a][b] = TOPO_LOCAL;
			else if (!r->given[a][b])
				t->distance[a][b] = same ? r->same_socket : r->other_socket;
			if (!t->distance[a][b])
				return topo_bad(r, r->line_defaults ? r->line_defaults : r->line,
						"no distance from node %d to %d; add 'distance "
						"%s-socket=...', or 'distance %d %d ...'", a, b,
						same ? "same" : "other", a, b);
		}
	return 0;
}

static int check_parents(struct topo_reader *r, const struct topo_mask *m)
{
	int allowed = cpulist_count(&m->cpus), want = allowed < 4 ? allowed : 4;
	bool zero = false;

	for (int i = 0; i < m->nr_parents; i++) {
		if (!m->cpus.has[m->parent[i]])
			return topo_bad(r, m->line, "parent %d is outside of the mask; "
					"name CPUs of the mask", m->parent[i]);
		zero |= !m->parent[i];
	}
	if (!zero)
		return topo_bad(r, m->line, "CPU 0 is no parent; add it to parents=, "
				"and to cpus= if it is not there");
	if (m->nr_parents < want)
		return topo_bad(r, m->line, "%d parents, and the mask has %d CPUs; "
				"name at least %d", m->nr_parents, allowed, want);
	return 0;
}

static int check_masks(struct topo_reader *r)
{
	const struct topology *t = r->t;

	for (int i = 0; i < t->nr_masks; i++) {
		const struct topo_mask *m = &t->mask[i];

		for (int cpu = -1; (cpu = cpulist_next(&m->cpus, cpu)) >= 0;)
			if (cpu >= t->nr_cpus)
				return topo_bad(r, m->line, "CPU %d of the mask is outside of the machine; "
						"it has 0-%d", cpu, t->nr_cpus - 1);
		if (check_parents(r, m))
			return -1;
		if (m->monitor >= t->nr_cpus)
			return topo_bad(r, m->line, "monitor %d is outside of the machine; "
					"it has 0-%d", m->monitor, t->nr_cpus - 1);
		if (m->cpus.has[m->monitor])
			return topo_bad(r, m->line, "monitor %d is inside of the mask, where it would "
					"disturb; name a CPU outside", m->monitor);
		if (strcmp(m->expect, "improved") && strcmp(m->expect, "no-difference"))
			return topo_bad(r, m->line, "expect=%s; use improved or no-difference",
					m->expect);
	}
	return 0;
}

static int check_arches(struct topo_reader *r)
{
	char *limit;

	/* The arm64 machine is the largest, so what it cannot hold nothing can. */
	limit = topo_arch_limit(r->t, TOPO_ARM64);
	if (!limit)
		return 0;
	topo_bad(r, r->line_cpus, "%s", limit);
	free(limit);
	return -1;
}

int topo_check(struct topo_reader *r)
{
	if (check_required(r) || check_nodes(r) || check_sockets(r) || check_cpus(r) ||
	    check_memory(r) || check_distances(r) || check_masks(r))
		return -1;
	return check_arches(r);
}
