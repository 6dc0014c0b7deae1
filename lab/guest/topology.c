// SPDX-License-Identifier: GPL-2.0-only
/* What the kernel in this guest sees of the machine, from sysfs and debugfs. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "guest.h"

#define CPU_DIR "/sys/devices/system/cpu"
#define NODE_DIR "/sys/devices/system/node"
#define DOMAIN_DIR "/sys/kernel/debug/sched/domains"

static void commas(char *s)
{
	for (; *s; s++)
		if (*s == ' ')
			*s = ',';
}

static long node_mem_kb(int node)
{
	char path[96], text[4096], *p;
	long kb = -1;

	snprintf(path, sizeof(path), NODE_DIR "/node%d/meminfo", node);
	if (!read_text(path, text, sizeof(text)))
		return -1;
	p = strstr(text, "MemTotal:");
	if (p)
		sscanf(p, "MemTotal: %ld", &kb);
	return kb;
}

static void report_nodes(void)
{
	char path[96], text[4096], cpus[4096], dist[1024];
	struct cpulist nodes;

	if (!read_text(NODE_DIR "/online", text, sizeof(text)) ||
	    cpulist_parse(text, &nodes))
		fail("cannot read the list of NUMA nodes");
	record("nodes online=%s", text);
	for (int n = cpulist_next(&nodes, -1); n >= 0; n = cpulist_next(&nodes, n)) {
		snprintf(path, sizeof(path), NODE_DIR "/node%d/cpulist", n);
		if (!read_text(path, cpus, sizeof(cpus)))
			fail("cannot read the CPUs of node %d", n);
		snprintf(path, sizeof(path), NODE_DIR "/node%d/distance", n);
		if (!read_text(path, dist, sizeof(dist)))
			fail("cannot read the distances of node %d", n);
		commas(dist);
		record("node id=%d cpus=%s mem_kb=%ld distance=%s", n, cpus,
		       node_mem_kb(n), dist);
	}
}

/* One record per core: its CPUs. With one thread a core, just their number. */
static void report_cores(const struct cpulist *online)
{
	char path[96], text[256];
	struct cpulist l, seen = { 0 };
	int cores = 0;

	for (int cpu = cpulist_next(online, -1); cpu >= 0;
	     cpu = cpulist_next(online, cpu)) {
		snprintf(path, sizeof(path),
			 CPU_DIR "/cpu%d/topology/thread_siblings_list", cpu);
		if (!read_text(path, text, sizeof(text)) ||
		    cpulist_parse(text, &l))
			fail("cannot read the thread siblings of CPU %d", cpu);
		if (seen.has[cpu])
			continue;
		for (int i = 0; i < MAX_CPUS; i++)
			seen.has[i] |= l.has[i];
		cores++;
		if (cpulist_count(&l) > 1)
			record("core cpus=%s", text);
	}
	record("cores count=%d", cores);
}

/* The names of @cpu's sched domains from the lowest up, such as SMT,MC,NUMA. */
static void domain_names(int cpu, char *buf, size_t size)
{
	char path[96], name[32];
	size_t len = 0;

	buf[0] = '\0';
	for (int d = 0; ; d++) {
		snprintf(path, sizeof(path), DOMAIN_DIR "/cpu%d/domain%d/name",
			 cpu, d);
		if (!read_text(path, name, sizeof(name)))
			break;
		len += snprintf(buf + len, size - len, "%s%s", d ? "," : "", name);
		if (len >= size)
			fail("too many sched domains");
	}
}

/* One record for each run of CPUs that have the same sched domains. */
static void report_domains(const struct cpulist *online)
{
	char names[256], last[256] = "";
	int from = -1, prev = -1;

	if (access(DOMAIN_DIR "/cpu0", F_OK))
		fail("no sched domains in debugfs: sched_verbose or CONFIG_SCHED_DEBUG is missing");
	for (int cpu = cpulist_next(online, -1); cpu >= 0;
	     cpu = cpulist_next(online, cpu)) {
		domain_names(cpu, names, sizeof(names));
		if (from >= 0 && strcmp(names, last)) {
			record("domains cpus=%d-%d names=%s", from, prev, last);
			from = -1;
		}
		if (from < 0)
			from = cpu;
		prev = cpu;
		memcpy(last, names, sizeof(last));
	}
	record("domains cpus=%d-%d names=%s", from, prev, last);
}

void report_topology(void)
{
	char text[4096];
	struct cpulist online;

	if (!read_text(CPU_DIR "/online", text, sizeof(text)) ||
	    cpulist_parse(text, &online))
		fail("cannot read the list of online CPUs");
	record("cpus online=%s", text);
	report_nodes();
	report_cores(&online);
	report_domains(&online);
	if (!read_text(CLOCKSOURCE, text, sizeof(text)))
		fail("cannot read the clocksource");
	record("clocksource name=%s", text);
}
