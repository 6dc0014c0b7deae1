// SPDX-License-Identifier: GPL-2.0-only
/* What a guest of a topology must report, and a description for readers. */
#include <jansson.h>
#include <stdlib.h>

#include "topo.h"
#include "util.h"

/* Longer than any list of MAX_CPUS CPUs. */
#define LIST_SIZE (MAX_CPUS * 5)

static const char *list_text(const struct cpulist *l)
{
	static char text[LIST_SIZE];

	cpulist_format(l, text, sizeof(text));
	return text;
}

static const char *sibling_text(const struct topology *t, int cpu)
{
	struct cpulist l;

	topo_siblings(t, cpu, &l);
	return list_text(&l);
}

void topo_expect_text(const struct topology *t, enum topo_arch arch, FILE *out)
{
	struct topo_smp smp;

	topo_smp(t, arch, &smp);
	fprintf(out, "cpus %d\nnodes %d\nsockets %d\nmemory-mib %u\n", t->nr_cpus, t->nr_nodes,
		t->nr_sockets, t->memory);
	for (int n = 0; n < t->nr_nodes; n++)
		fprintf(out, "node %d socket=%d memory-mib=%u cpus=%s\n", n, t->node[n].socket,
			t->node[n].memory, list_text(&t->node[n].cpus));
	for (int a = 0; a < t->nr_nodes; a++) {
		fprintf(out, "distance %d", a);
		for (int b = 0; b < t->nr_nodes; b++)
			fprintf(out, " %d", t->distance[a][b]);
		fputc('\n', out);
	}
	for (int cpu = 0; cpu < t->nr_cpus; cpu++)
		fprintf(out, "cpu %d node=%d package=%d siblings=%s\n", cpu, topo_node_of(t, cpu),
			topo_package(&smp, cpu), sibling_text(t, cpu));
}

/* jansson returns NULL when memory is out, and that is no topology. */
static json_t *some(json_t *j)
{
	if (!j)
		die(EX_INFRA, "out of memory");
	return j;
}

static json_t *nodes_json(const struct topology *t)
{
	json_t *nodes = some(json_array());

	for (int n = 0; n < t->nr_nodes; n++) {
		json_t *dist = some(json_array());

		for (int b = 0; b < t->nr_nodes; b++)
			json_array_append_new(dist, json_integer(t->distance[n][b]));
		json_array_append_new(nodes, some(json_pack("{s:i, s:i, s:i, s:s, s:o}",
			"node", n, "socket", t->node[n].socket, "memory_mib",
			(int)t->node[n].memory, "cpus", list_text(&t->node[n].cpus),
			"distance", dist)));
	}
	return nodes;
}

static json_t *cpus_json(const struct topology *t, enum topo_arch arch)
{
	json_t *cpus = some(json_array());
	struct topo_smp smp;

	topo_smp(t, arch, &smp);
	for (int cpu = 0; cpu < t->nr_cpus; cpu++)
		json_array_append_new(cpus, some(json_pack("{s:i, s:i, s:i, s:s}",
			"cpu", cpu, "node", topo_node_of(t, cpu), "package",
			topo_package(&smp, cpu), "siblings", sibling_text(t, cpu))));
	return cpus;
}

void topo_expect_json(const struct topology *t, enum topo_arch arch, FILE *out)
{
	json_t *j = some(json_pack("{s:s, s:s, s:i, s:i, s:i, s:i, s:i, s:o, s:o}",
		"name", t->name, "arch", topo_arch_name[arch], "nr_cpus", t->nr_cpus,
		"nr_nodes", t->nr_nodes, "nr_sockets", t->nr_sockets, "threads", t->threads,
		"memory_mib", (int)t->memory, "nodes", nodes_json(t), "cpus", cpus_json(t, arch)));

	if (json_dumpf(j, out, JSON_INDENT(1)))
		die(EX_INFRA, "cannot write the JSON; look at the disk");
	fputc('\n', out);
	json_decref(j);
}

void topo_summary(const struct topology *t, FILE *out)
{
	int same = 0, other = 0;

	for (int a = 0; a < t->nr_nodes; a++)
		for (int b = 0; b < t->nr_nodes; b++) {
			int *max = t->node[a].socket == t->node[b].socket ? &same : &other;

			if (a != b && t->distance[a][b] > *max)
				*max = t->distance[a][b];
		}
	fprintf(out, "%s: %s\n", t->name, t->describe);
	fprintf(out, "%d CPUs, %d threads a core, %d nodes in %d sockets, %u MiB\n", t->nr_cpus,
		t->threads, t->nr_nodes, t->nr_sockets, t->memory);
	if (same)
		fprintf(out, "farthest nodes of a socket: distance %d\n", same);
	if (other)
		fprintf(out, "farthest nodes of two sockets: distance %d, fork balancing %s them\n",
			other, other > TOPO_RECLAIM ? "does not reach across" : "reaches across");
	for (int i = 0; i < t->nr_masks; i++)
		fprintf(out, "mask %s: %d CPUs (%s), expected: %s\n", t->mask[i].name,
			cpulist_count(&t->mask[i].cpus), list_text(&t->mask[i].cpus),
			t->mask[i].expect);
}
