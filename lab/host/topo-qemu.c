// SPDX-License-Identifier: GPL-2.0-only
/* QEMU's arguments for a topology. */
#include "topo.h"

static void print_smp(const struct topology *t, enum topo_arch arch, FILE *out)
{
	struct topo_smp smp;

	topo_smp(t, arch, &smp);
	fprintf(out, "-smp\n%d,sockets=%d,", t->nr_cpus, smp.sockets);
	if (arch == TOPO_ARM64)
		fputs("clusters=1,", out);
	else
		fprintf(out, "dies=%d,", smp.dies);
	fprintf(out, "cores=%d,threads=%d\n", smp.cores, smp.threads);
}

static void print_node(const struct topology *t, int n, FILE *out)
{
	const struct topo_node *node = &t->node[n];

	/* QEMU takes no backend of size 0: such a node has none. */
	if (node->memory)
		fprintf(out, "-object\nmemory-backend-ram,id=ram%d,size=%uM\n", n, node->memory);
	fprintf(out, "-numa\nnode,nodeid=%d", n);
	if (node->memory)
		fprintf(out, ",memdev=ram%d", n);
	for (int from = cpulist_next(&node->cpus, -1); from >= 0;) {
		int to = from;

		while (to + 1 < MAX_CPUS && node->cpus.has[to + 1])
			to++;
		fprintf(out, ",cpus=%d-%d", from, to);
		from = cpulist_next(&node->cpus, to);
	}
	fputc('\n', out);
}

void topo_qemu(const struct topology *t, enum topo_arch arch, FILE *out)
{
	print_smp(t, arch, out);
	fprintf(out, "-m\n%uM\n", t->memory);
	for (int n = 0; n < t->nr_nodes; n++)
		print_node(t, n, out);
	for (int a = 0; a < t->nr_nodes; a++)
		for (int b = 0; b < t->nr_nodes; b++)
			if (a != b)
				fprintf(out, "-numa\ndist,src=%d,dst=%d,val=%d\n", a, b,
					t->distance[a][b]);
}
