/* SPDX-License-Identifier: GPL-2.0-only */
/* A lab machine: nodes, CPUs, distances and masks, as topologies/ has them. */
#ifndef KIT_TOPO_H
#define KIT_TOPO_H

#include <stdbool.h>
#include <stdio.h>

#include "cpulist.h"

#define TOPO_MAX_NODES		64	/* the lab kernels have NODES_SHIFT=6 */
#define TOPO_MAX_MASKS		16
#define TOPO_MAX_PARENTS	64
#define TOPO_LOCAL		10	/* what the kernel takes as local */
/* Above it fork balancing stops, unless the kernel found a Zen (then 32). */
#define TOPO_RECLAIM		30

enum topo_arch { TOPO_ARM64, TOPO_X86_64, TOPO_NR_ARCHES };
extern const char *const topo_arch_name[TOPO_NR_ARCHES];

struct topo_node {
	struct cpulist cpus;
	unsigned int memory;		/* MiB */
	int socket;
	int line;			/* where the file has it; 0: not at all */
};

struct topo_mask {
	char *name;
	struct cpulist cpus;		/* the CPUs that the workers may use */
	int parent[TOPO_MAX_PARENTS];	/* in the file's order */
	int nr_parents;
	int monitor;			/* a CPU outside of the mask */
	char *expect;			/* "improved" or "no-difference" */
	int line;
};

struct topology {
	char *path;
	char *name;			/* the file's name without folder and .topo */
	char *describe;
	unsigned int memory;		/* MiB */
	int nr_cpus;
	int threads;			/* a core has them; siblings are neighbours */
	int nr_nodes;
	int nr_sockets;
	struct topo_node node[TOPO_MAX_NODES];
	unsigned char distance[TOPO_MAX_NODES][TOPO_MAX_NODES];	/* [from][to] */
	struct topo_mask mask[TOPO_MAX_MASKS];
	int nr_masks;
};

/* How QEMU is told to group the CPUs; see topo_smp(). */
struct topo_smp {
	int sockets;
	int dies;			/* in a socket */
	int cores;			/* in a die */
	int threads;			/* in a core */
};

/*
 * topo_read - read @path into @t and check that QEMU and the kernel would
 * honour it. Returns EX_OK; or EX_USAGE, with one line
 * "PROG: FILE:LINE: what is wrong; what to do" on stderr.
 */
int topo_read(const char *path, struct topology *t);

/* topo_free - give back what topo_read() has allocated. */
void topo_free(struct topology *t);

/* topo_arch - the architecture called @name, or -1. */
int topo_arch(const char *name);

/*
 * topo_arch_limit - what keeps @t from being built with @arch's machine, as
 * text for the user in malloc()ed memory, or NULL if nothing does.
 */
char *topo_arch_limit(const struct topology *t, enum topo_arch arch);

/* The node of @cpu, or -1 if there is no such CPU. */
int topo_node_of(const struct topology *t, int cpu);

/* topo_siblings - the threads of @cpu's core, itself among them. */
void topo_siblings(const struct topology *t, int cpu, struct cpulist *l);

/*
 * topo_smp - group the CPUs into sockets, dies and cores such that nothing
 * that shares a cache reaches over a node's edge.
 */
void topo_smp(const struct topology *t, enum topo_arch arch, struct topo_smp *smp);

/* topo_package - the physical_package_id that @cpu must report. */
int topo_package(const struct topo_smp *smp, int cpu);

/* The mask called @name, or NULL. */
const struct topo_mask *topo_mask(const struct topology *t, const char *name);

/* topo_qemu - QEMU's arguments for @t, one a line, to @out. */
void topo_qemu(const struct topology *t, enum topo_arch arch, FILE *out);

/* What a guest of @arch must report: as text, and as one JSON object. */
void topo_expect_text(const struct topology *t, enum topo_arch arch, FILE *out);
void topo_expect_json(const struct topology *t, enum topo_arch arch, FILE *out);

/* topo_summary - a few lines that describe the machine to a reader. */
void topo_summary(const struct topology *t, FILE *out);

#endif
