// SPDX-License-Identifier: GPL-2.0-only
/* Topology files, and all that is made of one that is taken. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "topo.h"
#include "util.h"

void fuzz_start(void)
{
}

/* A list that was read can be written, and is then read as the same. */
static void check_list(const struct cpulist *l)
{
	char text[MAX_CPUS * 5];
	struct cpulist again;

	fuzz_check(cpulist_format(l, text, sizeof(text)) >= 0);
	fuzz_check(!cpulist_parse(text, &again) && cpulist_equal(l, &again));
}

static void check_machine(const struct topology *t)
{
	unsigned int memory = 0;
	int cpus = 0;

	fuzz_check(t->nr_nodes >= 1 && t->nr_nodes <= TOPO_MAX_NODES);
	for (int n = 0; n < t->nr_nodes; n++) {
		check_list(&t->node[n].cpus);
		cpus += cpulist_count(&t->node[n].cpus);
		memory += t->node[n].memory;
		fuzz_check(t->node[n].socket >= 0 && t->node[n].socket < t->nr_sockets);
		for (int b = 0; b < t->nr_nodes; b++)
			fuzz_check((t->distance[n][b] == TOPO_LOCAL) == (n == b));
	}
	fuzz_check(cpus == t->nr_cpus && memory == t->memory);
	for (int i = 0; i < t->nr_masks; i++) {
		check_list(&t->mask[i].cpus);
		fuzz_check(topo_mask(t, t->mask[i].name) == &t->mask[i]);
	}
}

/* QEMU gets each CPU once, however they are grouped. */
static void check_smp(const struct topology *t, enum topo_arch arch)
{
	struct topo_smp smp;

	topo_smp(t, arch, &smp);
	fuzz_check(smp.sockets * smp.dies * smp.cores * smp.threads == t->nr_cpus);
}

static void one_topology(void)
{
	static struct topology t;

	if (topo_read("m.topo", &t) == EX_OK) {
		fuzz_check(!has_controls(t.describe));
		check_machine(&t);
		topo_summary(&t, fuzz_sink);
		for (int arch = 0; arch < TOPO_NR_ARCHES; arch++) {
			free(topo_arch_limit(&t, arch));
			check_smp(&t, arch);
			topo_qemu(&t, arch, fuzz_sink);
			topo_expect_text(&t, arch, fuzz_sink);
			topo_expect_json(&t, arch, fuzz_sink);
		}
	}
	topo_free(&t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_file("m.topo", data, size);
	fuzz_check(fuzz_run(one_topology) == FUZZ_RETURNED);
	return 0;
}
