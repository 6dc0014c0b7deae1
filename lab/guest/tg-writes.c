// SPDX-License-Identifier: GPL-2.0-only
/*
 * tg-writes: how often is the load of a task group written to, and from where?
 *
 * Tasks of one group run on all CPUs while the kernel counts (lab/kernel/
 * tg-count.h). After a warm-up, windows follow one another; what was counted in
 * each is reported. lab.load says what the tasks do:
 *   move     each goes to another CPU every lab.stay_slices turns, so that its load
 *            leaves one CPU and comes to another each time
 *   message  groups of lab.each senders and as many receivers: each sender writes
 *            100 bytes to each receiver in turn
 *   pair     two tasks hand a byte to and fro
 *
 * Parameters: lab.load, lab.tasks (how many, all in all), lab.stay_slices, lab.each,
 * lab.windows, lab.window_us, lab.warm_us (guest time), and those of busy_slice().
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cgroup.h"
#include "guest.h"
#include "tasks.h"

#define COUNTERS "/sys/module/fair/parameters/tg_writes"
#define MAX_TASKS 1024
#define MESSAGE 100

struct counts {
	unsigned long own[MAX_CPUS], other[MAX_CPUS];
	unsigned long ops;
	int cpus;
	uint64_t ns;
};

/* How often each task has moved, or received; a cache line each. */
struct task_ops {
	volatile unsigned long n;
} __attribute__((aligned(64)));

struct load {
	const char *name;
	void (*start)(struct task_ops *ops, int tasks);
};

static int gcd(int a, int b)
{
	return b ? gcd(b, a % b) : a;
}

/* From a CPU to one of the next node, and through all CPUs in the end. */
static int stride(void)
{
	char text[4096];
	struct cpulist node;
	int n = nr_cpus(), step;

	if (!read_text("/sys/devices/system/node/node0/cpulist", text, sizeof(text)) ||
	    cpulist_parse(text, &node))
		fail("cannot read which CPUs node 0 has");
	step = cpulist_count(&node) + 1;
	while (gcd(step, n) != 1)
		step++;
	return step;
}

static void mover(struct task_ops *ops, int cpu, int step, long slices)
{
	int n = nr_cpus();

	for (;;) {
		pin_cpu(cpu);
		ops->n++;
		for (long i = 0; i < slices; i++)
			busy_slice();
		cpu = (cpu + step) % n;
	}
}

static void start_movers(struct task_ops *ops, int tasks)
{
	long slices = param_long("stay_slices");
	int step = stride();

	for (int i = 0; i < tasks; i++)
		if (!start_child())
			mover(&ops[i], i % nr_cpus(), step, slices);
}

static void pipes(int (*fd)[2], int n)
{
	for (int i = 0; i < n; i++)
		if (pipe(fd[i]))
			_exit(1);
}

static void receiver(struct task_ops *ops, int fd)
{
	char buf[MESSAGE];

	while (read(fd, buf, MESSAGE) > 0)
		ops->n++;
	_exit(0);
}

static void sender(int (*fd)[2], int n)
{
	static const char buf[MESSAGE];

	for (;;) {
		for (int i = 0; i < n; i++)
			if (write(fd[i][1], buf, MESSAGE) != MESSAGE)
				_exit(0);
		next_cpu_turn();
	}
}

static void start_messages(struct task_ops *ops, int tasks)
{
	int each = param_long("each"), groups = tasks / (2 * each);
	int (*fd)[2] = calloc(each, sizeof(*fd));

	for (int g = 0; g < groups; g++) {
		pipes(fd, each);
		for (int i = 0; i < each; i++) {
			if (!start_child())
				receiver(&ops[g * each + i], fd[i][0]);
			if (!start_child())
				sender(fd, each);
		}
	}
}

/* One of a pair: @first begins. */
static void partner(struct task_ops *ops, int in, int out, bool first)
{
	char byte = 0;

	if (first && write(out, &byte, 1) != 1)
		_exit(1);
	while (read(in, &byte, 1) == 1 && write(out, &byte, 1) == 1) {
		ops->n += first;
		next_cpu_turn();
	}
	_exit(0);
}

static void start_pairs(struct task_ops *ops, int tasks)
{
	for (int i = 0; i < tasks / 2; i++) {
		int fd[2][2];

		pipes(fd, 2);
		if (!start_child())
			partner(&ops[i], fd[0][0], fd[1][1], true);
		if (!start_child())
			partner(&ops[i], fd[1][0], fd[0][1], false);
	}
}

static const struct load loads[] = {
	{ "move", start_movers },
	{ "message", start_messages },
	{ "pair", start_pairs },
};

static const struct load *find_load(const char *name)
{
	for (unsigned int i = 0; i < sizeof(loads) / sizeof(loads[0]); i++)
		if (!strcmp(loads[i].name, name))
			return &loads[i];
	fail("no load named %s", name);
}

static void read_counts(struct counts *c, const struct task_ops *ops)
{
	static char text[16384];
	char *save, *line;
	unsigned long own, other;
	int cpu;

	memset(c, 0, sizeof(*c));
	c->ns = now_ns();
	if (!read_text(COUNTERS, text, sizeof(text)))
		fail("cannot read " COUNTERS ": build the kernel with lab/kernel/tg-count.h");
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (sscanf(line, "%d %lu %lu", &cpu, &own, &other) != 3 ||
		    cpu < 0 || cpu >= MAX_CPUS)
			fail("cannot read a line of " COUNTERS);
		c->own[cpu] = own;
		c->other[cpu] = other;
		c->cpus++;
	}
	/* The kernel cuts what does not fit into its page. */
	if (c->cpus < nr_cpus())
		fail(COUNTERS " has %d CPUs only", c->cpus);
	for (int i = 0; i < MAX_TASKS; i++)
		c->ops += ops[i].n;
}

static void report(int n, const struct counts *from, const struct counts *to)
{
	unsigned long own = 0, other = 0, busiest = 0;

	for (int cpu = 0; cpu < MAX_CPUS; cpu++) {
		unsigned long mine = to->own[cpu] - from->own[cpu];
		unsigned long others = to->other[cpu] - from->other[cpu];

		own += mine;
		other += others;
		if (mine + others > busiest)
			busiest = mine + others;
	}
	record("writes n=%d load=%s cpus=%d window_us=%llu own=%lu other=%lu busiest=%lu ops=%lu",
	       n, param("load", ""), nr_cpus(), (to->ns - from->ns) / 1000ull, own, other,
	       busiest, to->ops - from->ops);
}

/* All tasks are in the group and in one process group, with @ops to count in. */
static pid_t start(const struct load *load, struct task_ops *ops, int tasks)
{
	pid_t pid = start_load();

	if (pid)
		return pid;
	cgroup_enter("a");
	load->start(ops, tasks);
	for (;;)
		pause();
}

static void tg_writes_run(void)
{
	struct task_ops *ops = mmap(NULL, MAX_TASKS * sizeof(*ops), PROT_READ | PROT_WRITE,
				    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	const struct load *load = find_load(param("load", ""));
	static struct counts from, to;
	int windows = param_long("windows"), tasks = param_long("tasks");
	long window_us = param_long("window_us");
	pid_t pid;

	if (ops == MAP_FAILED || tasks > MAX_TASKS)
		fail("no memory for %d tasks", tasks);
	cgroup_mount();
	cgroup_make("a", 100);
	busy_slice();	/* reads its parameters while there is one task */
	pid = start(load, ops, tasks);
	become_monitor();
	sleep_us(param_long("warm_us"));
	read_counts(&from, ops);
	for (int n = 1; n <= windows; n++) {
		sleep_us(window_us);
		read_counts(&to, ops);
		report(n, &from, &to);
		from = to;
	}
	kill(-pid, SIGKILL);
	reap_all();
}

const struct program tg_writes_program = { "tg-writes", tg_writes_run };
