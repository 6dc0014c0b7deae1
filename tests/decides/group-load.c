// SPDX-License-Identifier: GPL-2.0-only
/*
 * For decides.sh: who writes what to the load of a task group, when, and what readers
 * make of it. RATE_LIMIT, OFFLINE, STALLED and PER_NODE, 0 or 1, tell which patches are in.
 *
 * source: fair.c
 * functions: update_tg_load_avg calc_group_shares cfs_rq_is_decayed
 * functions: [clear_tg_load_avg] [clear_tg_offline_cfs_rqs]
 * functions: [tg_load_avg] [this_node_load] [node_with_memory]
 * functions: [alloc_tg_node_load] [free_tg_node_load]
 */
#include "kernel.h"
#include "functions.h"

#define MS NSEC_PER_MSEC
#define T0 (1000 * MS + MS / 3)

static struct task_group group[2];
static struct cfs_rq queue[3][CPUS];	/* the last are the root group's */
static struct tg_node_load counter[2][NODES], *table[2][NODES + 1], beyond;
static struct rq rq[CPUS];
static int wrong;

static void expect(long got, long want, const char *what)
{
	if (got == want)
		return;
	printf("%s: %ld, expected %ld\n", what, got, want);
	wrong = 1;
}

static void set_up_group(int i)
{
	struct task_group *tg = i < 2 ? &group[i] : &root_task_group;

	*tg = (struct task_group){ .shares = 1024 << 10, .next = i ? &group[i - 1] : NULL };
	for (int cpu = 0; cpu < CPUS; cpu++) {
		queue[i][cpu] = (struct cfs_rq){ .tg = tg, .rq = &rq[cpu] };
		tg->cfs_rq[cpu] = &queue[i][cpu];
	}
	if (i == 2)
		return;
	tg->node_load = table[i];
	for (int node = 0; node < NODES; node++) {
		counter[i][node].load_avg.counter = 0;
		table[i][node] = node_exists(node) ? &counter[i][node] : NULL;
	}
	/* Whoever reads one too many has this in the sum. */
	beyond.load_avg.counter = 1 << 20;
	table[i][NODES] = &beyond;
}

/* Two groups and the root, without load; all CPUs active, at T0. */
static void set_up(void)
{
	world = (struct world){ 0 };
	for (int cpu = 0; cpu < CPUS; cpu++) {
		rq[cpu].cpu = cpu;
		world.active[cpu] = true;
		world.clock[cpu] = T0;
	}
	for (int i = 0; i < 3; i++)
		set_up_group(i);
	first_group = &root_task_group;
}

/* What the counters of group @i have together. */
static long all_of(int i)
{
	long sum = group[i].load_avg.counter;

	for (int node = 0; node < NODES; node++)
		sum += counter[i][node].load_avg.counter;
	return sum;
}

/*
 * The load of group 0 on @cpu is @load at @when; is it written? The clocks of the other
 * CPUs are far ahead: they must not matter.
 */
static void update(int cpu, unsigned long load, u64 when, bool written, const char *what)
{
	struct cfs_rq *cfs_rq = &queue[0][cpu];
	long before = all_of(0), had = cfs_rq->tg_load_avg_contrib;
	u64 last = cfs_rq->last_update_tg_load_avg;

	for (int i = 0; i < CPUS; i++)
		world.clock[i] = i == cpu ? when : when + 100 * MS;
	world.writes = 0;
	cfs_rq->avg.load_avg = load;
	update_tg_load_avg(cfs_rq);
	expect(world.writes, written, what);
	expect(all_of(0), before + (written ? (long)load - had : 0), what);
	expect(cfs_rq->tg_load_avg_contrib, written ? (long)load : had, what);
	if (RATE_LIMIT)
		expect(cfs_rq->last_update_tg_load_avg, written ? when : last, "time of the last write");
}

/* Each load is one that was not written before, with the limit or without. */
static void limit(int cpu)
{
	update(cpu, 1000, T0, true, "the first write");
	update(cpu, 2000, T0 + 1, !RATE_LIMIT, "a write 1 ns later");
	update(cpu, 3000, T0 + MS / 10 * 8, !RATE_LIMIT, "a write 0.8 ms later");
	update(cpu, 500, T0 + MS - 2, !RATE_LIMIT, "a write of less not quite 1 ms later");
	update(cpu, 0, T0 + MS - 1, !RATE_LIMIT, "a write of nothing not quite 1 ms later");
	update(cpu, 3500, T0 + MS, true, "a write 1 ms later");
	update(cpu, 4000, T0 + MS + MS / 2, !RATE_LIMIT, "a write half a ms after the second");
	update(cpu, 5000, T0 + 3 * MS, true, "a write 2 ms later");
}

static void writes(void)
{
	set_up();
	for (int cpu = 0; cpu < 2; cpu++)
		limit(cpu);
	update(0, 5078, T0 + 5 * MS, false, "a change by less than 1/64");
	update(0, 5079, T0 + 5 * MS, true, "a change by more than 1/64 after one that was not written");
	update(0, 100, T0 + 7 * MS, true, "a write of much less");
	update(0, 0, T0 + 9 * MS, true, "a write of nothing left");
	update(0, 700, T0 + 9 * MS + (1L << 32) + 1, true, "a write 4.3 s later");
	update(0, 900, T0 + 5 * MS, true, "a write after the clock went back");

	queue[2][0].avg.load_avg = 1000;
	world.writes = 0;
	update_tg_load_avg(&queue[2][0]);
	expect(world.writes, 0, "a write for the root group");
}

static void offline_cpu(void)
{
	set_up();
	update(3, 400, T0, true, "a write of a CPU that is still active");
	world.active[3] = false;
	update(3, 1000, T0 + 2 * MS, !OFFLINE, "a write of a CPU that is not active");
	update(3, 100, T0 + 4 * MS, !OFFLINE, "a write of less of a CPU that is not active");
	world.active[3] = true;
	update(3, 500, T0 + 6 * MS, true, "a write after that");
#if OFFLINE
	for (int i = 0; i < 2; i++)
		for (int cpu = 0; cpu < CPUS; cpu++)
			queue[i][cpu].tg_load_avg_contrib = 100 * (i + 1) + cpu;
	queue[2][3].tg_load_avg_contrib = 9;
	long was[2] = { all_of(0), all_of(1) };

	world.clock[3] = T0 + 7 * MS;
	clear_tg_offline_cfs_rqs(&rq[3]);
	for (int i = 0; i < 2; i++) {
		expect(all_of(i), was[i] - 100 * (i + 1) - 3, "load of a group after a CPU of it went offline");
		expect(queue[i][3].tg_load_avg_contrib, 0, "contribution of a CPU that went offline");
		expect(queue[i][3].last_update_tg_load_avg, T0 + 7 * MS, "time of the last write of a CPU that went offline");
		for (int cpu = 0; cpu < CPUS; cpu++)
			if (cpu != 3)
				expect(queue[i][cpu].tg_load_avg_contrib, 100 * (i + 1) + cpu, "contribution of a CPU that stays");
	}
	expect(world.unlocked, 0, "walks of the groups without a read lock");
	expect(world.rcu, 0, "read locks that are left");
	expect(world.clock_loop, 0, "updates of the clock that are left off");
	expect(queue[2][3].tg_load_avg_contrib, 9, "contribution to the root group, which nobody touches");
#endif
}

static bool decayed(unsigned long weight, bool load_gone, bool child, unsigned long contrib)
{
	struct cfs_rq cfs_rq = {
		.load.weight = weight, .avg.decayed = load_gone,
		.child_on_list = child, .tg_load_avg_contrib = contrib,
	};

	return cfs_rq_is_decayed(&cfs_rq);
}

static void leaves_the_list(void)
{
	expect(decayed(0, true, false, 0), true, "decayed, with nothing left");
	expect(decayed(0, true, false, 1), !STALLED, "decayed, with a contribution left");
	expect(decayed(0, true, false, 256), !STALLED, "decayed, with much of a contribution left");
	expect(decayed(1024, true, false, 0), false, "decayed, with tasks");
	expect(decayed(0, false, false, 0), false, "decayed, with load left");
	expect(decayed(0, true, true, 0), false, "decayed, with a child on the list");
}

#if !PER_NODE
static void set_sum(long load) { group[0].load_avg.counter = load; }
#else
static void set_sum(long load) { counter[0][0].load_avg.counter = load; }
#endif

/* @load of group 0 is on one CPU, which has added @own of @sum; the group's shares are 1024. */
static void shares(unsigned long load, unsigned long own, long sum, long want, const char *what)
{
	set_up();
	queue[0][0].load.weight = load << 10;
	queue[0][0].avg.load_avg = load;
	queue[0][0].tg_load_avg_contrib = own;
	set_sum(sum);
	expect(calc_group_shares(&queue[0][0]), want, what);
}

static void weights(void)
{
	shares(1024, 1024, 1024, 1024 << 10, "weight where all load is here");
	shares(1024, 1024, 4096, 256 << 10, "weight where a quarter is here");
	shares(1024, 0, 1024, 512 << 10, "weight where the own part is not added yet");
	shares(0, 0, 1024, 2, "weight without load");
	shares(1024, 1024, (1L << 32) + 1024, 2, "weight where the sum is large");
#if PER_NODE
	shares(1024, 1024, 0, 1024 << 10, "weight where the sum has missed the own part");
	shares(1024, 100, 50, 1024 << 10, "weight where the own part is small and missed");
	shares(1024, 2048, 512, 1024 << 10, "weight where the sum is less than the own part");
#endif
}

#if PER_NODE
static void counters(void)
{
	set_up();
	for (int node = 0; node < NODES; node++) {
		if (!node_exists(node))
			continue;
		world.this_node = node;
		update(CPUS - 1 - node, 1 << node, T0, true, "a write on a node");
		expect(counter[0][node].load_avg.counter, 1 << node, "counter of the node of a write");
	}
	expect(tg_load_avg(&group[0]), 0x1f & ~(1 << HOLE), "sum of all nodes that exist");
	expect(tg_load_avg(&root_task_group), 0, "sum of the root group");
#if OFFLINE
	world.this_node = 1;
	clear_tg_offline_cfs_rqs(&rq[0]);
	clear_tg_offline_cfs_rqs(&rq[CPUS - 1]);
	expect(counter[0][1].load_avg.counter, 1, "counter of the node that clears for another");
	expect(counter[0][0].load_avg.counter, 1, "counter of the node that is cleared for");
#endif
	counter[0][0].load_avg.counter = -100;
	counter[0][1].load_avg.counter = 500;
	for (int node = 2; node < NODES; node++)
		counter[0][node].load_avg.counter = 0;
	expect(tg_load_avg(&group[0]), 400, "sum with one part below 0");
	counter[0][1].load_avg.counter = -100;
	expect(tg_load_avg(&group[0]), 0, "sum that is torn");
}

/* Fails the @fail-th allocation, from 1. */
static void allocate(int fail)
{
	struct task_group tg = { 0 };

	world = (struct world){ .fail_at = fail };
	expect(alloc_tg_node_load(&tg), !fail || fail > NODES, "whether counters are allocated");
	for (int node = 0; !fail && node < NODES; node++)
		expect(!!tg.node_load[node], node_exists(node), "a counter for a node");
	free_tg_node_load(&tg);
	expect(world.held, 0, "allocations that are not freed");
}

static void allocations(void)
{
	struct task_group none = { 0 };

	for (int fail = NODES; fail >= 0; fail--)
		allocate(fail);
	for (int node = 0, i = 0; node < NODES; node++)
		if (node_exists(node))
			expect(world.node_of[i++], node == MEMLESS ? NEAREST : node, "node that a counter is allocated from");
	world.held = 0;
	free_tg_node_load(&none);
	expect(world.held, 0, "frees of a group that has no counters");
}

#ifdef HAVE_node_with_memory
static void nearest(void)
{
	expect(node_with_memory(MEMLESS), NEAREST, "nearest node with memory");
	for (int node = 0; node < NODES; node++)
		if (node_exists(node) && node != MEMLESS)
			expect(node_with_memory(node), node, "nearest node, where it has memory");
}
#else
static void nearest(void) { }
#endif
#else
static void counters(void) { }
static void allocations(void) { }
static void nearest(void) { }
#endif

int main(void)
{
	writes();
	offline_cpu();
	leaves_the_list();
	weights();
	counters();
	allocations();
	nearest();
	return wrong;
}
