/* SPDX-License-Identifier: GPL-2.0-only */
/* What reading and checking a topology share; private to topo-*.c. */
#ifndef KIT_TOPO_READ_H
#define KIT_TOPO_READ_H

#include "topo.h"
#include "util.h"

/* How a distance came about; a later line may replace only an implied one. */
enum given { GIVEN_NOT, GIVEN_IMPLIED, GIVEN_EXPLICIT };

struct topo_reader {
	struct topology *t;
	int line;			/* being read */
	int line_describe, line_memory, line_threads, line_cpus;
	int line_defaults;
	int same_socket, other_socket;	/* default distances; 0: not given */
	unsigned char given[TOPO_MAX_NODES][TOPO_MAX_NODES];
	int given_line[TOPO_MAX_NODES][TOPO_MAX_NODES];
	struct cpulist socket_nodes[TOPO_MAX_NODES];
	int socket_line[TOPO_MAX_NODES];	/* 0: no such socket */
};

/* Say what is wrong in @line of the file; always -1. */
int topo_bad(const struct topo_reader *r, int line, const char *fmt, ...) PRINTF(3, 4);

/*
 * topo_check - check the topology as a whole and fill in what follows from
 * the lines (sockets of nodes, distances, counts). 0, or -1 after topo_bad().
 */
int topo_check(struct topo_reader *r);

#endif
