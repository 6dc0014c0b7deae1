// SPDX-License-Identifier: GPL-2.0-only
/* What follows from a topology for each architecture's machine. */
#include <stdlib.h>
#include <string.h>

#include "topo.h"
#include "util.h"

const char *const topo_arch_name[TOPO_NR_ARCHES] = { "arm64", "x86_64" };

/* The most CPUs of the machine virt with gic-version=3. */
#define ARM64_MAX_CPUS	512
/* Above it x2APIC is needed, which QEMU has only together with KVM. */
#define X86_MAX_APICID	254

int topo_arch(const char *name)
{
	for (int a = 0; a < TOPO_NR_ARCHES; a++)
		if (!strcmp(name, topo_arch_name[a]))
			return a;
	return -1;
}

int topo_node_of(const struct topology *t, int cpu)
{
	if (cpu < 0 || cpu >= t->nr_cpus)
		return -1;
	for (int n = 0; n < t->nr_nodes; n++)
		if (t->node[n].cpus.has[cpu])
			return n;
	return -1;
}

void topo_siblings(const struct topology *t, int cpu, struct cpulist *l)
{
	int first = cpu - cpu % t->threads;

	memset(l, 0, sizeof(*l));
	for (int i = 0; i < t->threads; i++)
		l->has[first + i] = 1;
}

/*
 * The most CPUs that can be neighbours in one cluster or die: QEMU cuts the
 * machine into equal pieces, and none may reach over a node's edge, or the
 * kernel finds a last-level cache that spans nodes and warns.
 */
static int block_cpus(const struct topology *t)
{
	for (int size = t->nr_cpus; size > t->threads; size -= t->threads) {
		bool fits = t->nr_cpus % size == 0;

		for (int cpu = 0; fits && cpu < t->nr_cpus; cpu++)
			fits = topo_node_of(t, cpu) == topo_node_of(t, cpu - cpu % size);
		if (fits)
			return size;
	}
	return t->threads;
}

/* True if each socket is the same number of blocks, one behind the other. */
static bool sockets_are_even(const struct topology *t)
{
	int size = t->nr_cpus / t->nr_sockets;

	for (int cpu = 0; cpu < t->nr_cpus; cpu++)
		if (t->node[topo_node_of(t, cpu)].socket != cpu / size)
			return false;
	return t->nr_cpus % t->nr_sockets == 0;
}

void topo_smp(const struct topology *t, enum topo_arch arch, struct topo_smp *smp)
{
	int block = block_cpus(t), blocks = t->nr_cpus / block;

	smp->threads = t->threads;
	smp->cores = block / t->threads;
	smp->sockets = blocks;
	smp->dies = 1;
	/* Only x86 has dies; with them a package is what the file calls socket. */
	if (arch == TOPO_X86_64 && blocks % t->nr_sockets == 0 && sockets_are_even(t)) {
		smp->sockets = t->nr_sockets;
		smp->dies = blocks / t->nr_sockets;
	}
}

int topo_package(const struct topo_smp *smp, int cpu)
{
	return cpu / (smp->dies * smp->cores * smp->threads);
}

const struct topo_mask *topo_mask(const struct topology *t, const char *name)
{
	for (int i = 0; i < t->nr_masks; i++)
		if (!strcmp(t->mask[i].name, name))
			return &t->mask[i];
	return NULL;
}

static int bits_for(int count)
{
	int bits = 0;

	while (1 << bits < count)
		bits++;
	return bits;
}

/* The APIC ID of the last CPU: each level takes whole bits of it. */
static int last_apicid(const struct topo_smp *smp)
{
	int id = smp->sockets - 1;

	id = id << bits_for(smp->dies) | (smp->dies - 1);
	id = id << bits_for(smp->cores) | (smp->cores - 1);
	return id << bits_for(smp->threads) | (smp->threads - 1);
}

char *topo_arch_limit(const struct topology *t, enum topo_arch arch)
{
	struct topo_smp smp;
	int last;

	if (arch == TOPO_ARM64) {
		if (t->nr_cpus <= ARM64_MAX_CPUS)
			return NULL;
		return xasprintf("%d CPUs, but QEMU's machine virt takes %d; make it smaller",
				 t->nr_cpus, ARM64_MAX_CPUS);
	}
	topo_smp(t, arch, &smp);
	last = last_apicid(&smp);
	if (last <= X86_MAX_APICID)
		return NULL;
	return xasprintf("the last of %d CPUs has APIC ID %d on x86_64, and QEMU without KVM "
			 "takes %d; make it smaller or use arm64", t->nr_cpus, last, X86_MAX_APICID);
}
