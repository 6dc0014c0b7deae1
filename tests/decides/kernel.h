/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For group-load.c: the least of a kernel that its functions need, on this host. The
 * world they run in is that of struct world; CPUS CPUs are spread over NODES nodes,
 * node HOLE does not exist, and node MEMLESS has CPUs and no memory.
 */
#ifndef DECIDES_KERNEL_H
#define DECIDES_KERNEL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define CPUS 8
#define NODES 5
#define HOLE 2
#define MEMLESS 3
#define NEAREST 1	/* to MEMLESS, of those with memory */

typedef uint64_t u64;
typedef int64_t s64;
typedef struct { long counter; } atomic_long_t;
typedef struct { int unused; } raw_spinlock_t;

#define NSEC_PER_MSEC 1000000L
#define NSEC_PER_SEC 1000000000L
#define MIN_SHARES (1UL << 1)
#define GFP_KERNEL 0
#define N_NORMAL_MEMORY 0
#define NUMA_NO_NODE (-1)

#define READ_ONCE(x) (x)
#define scale_load_down(w) ((w) ? ((w) >> 10 > 2 ? (w) >> 10 : 2) : 0)
#define max(a, b) ((a) > (b) ? (a) : (b))
#define min(a, b) ((a) < (b) ? (a) : (b))
#define max_t(type, a, b) max((type)(a), (type)(b))
#define min_t(type, a, b) min((type)(a), (type)(b))
#define clamp_t(type, v, lo, hi) min_t(type, max_t(type, v, lo), hi)
#define abs(x) labs((long)(x))
#define __maybe_unused __attribute__((unused))

struct tg_node_load { atomic_long_t load_avg; } __attribute__((aligned(64)));

struct task_group {
	unsigned long shares;
	atomic_long_t load_avg;			/* without PER_NODE */
	struct tg_node_load **node_load;	/* with it */
	struct cfs_rq *cfs_rq[CPUS];
	struct task_group *next;
};

struct rq { int cpu; };

struct cfs_rq {
	struct { unsigned long weight; } load;
	struct { unsigned long load_avg; bool decayed; } avg;
	bool child_on_list;
	unsigned long tg_load_avg_contrib;
	u64 last_update_tg_load_avg;
	struct task_group *tg;
	struct rq *rq;
};

/* What a test sets and reads. */
struct world {
	u64 clock[CPUS];
	bool active[CPUS];
	int this_node;		/* of the CPU that "runs" */
	int writes;		/* to counters */
	int fail_at;		/* the allocation that fails, from 1; 0: none */
	int allocations;	/* so far */
	int held;		/* not freed yet */
	int node_of[NODES];	/* the allocations that name a node, in turn */
	int with_node;		/* how many of them */
	int rcu;		/* read locks held */
	int clock_loop;		/* rq_clock_start_loop_update() without its end */
	int unlocked;		/* walks of the groups without a read lock */
};

static struct world world;
static struct task_group root_task_group, *first_group;

#define list_for_each_entry_rcu(pos, head, member) \
	for (world.unlocked += !world.rcu, pos = first_group; pos; pos = pos->next)
#define lockdep_assert_rq_held(rq) ((void)(rq))
#define rcu_read_lock() (world.rcu++)
#define rcu_read_unlock() (world.rcu--)
#define rq_clock_start_loop_update(rq) ((void)(rq), world.clock_loop++)
#define rq_clock_stop_loop_update(rq) ((void)(rq), world.clock_loop--)
#define sched_clock_cpu(of) (world.clock[of])
#define rq_clock(rq) (world.clock[(rq)->cpu])
#define cpu_active(of) (world.active[of])
#define cpu_online(of) (world.active[of])
#define cpu_to_node(of) ((of) % 2)
#define cpu_of(rq) ((rq)->cpu)
#define rq_of(cfs_rq) ((cfs_rq)->rq)
#define numa_node_id() (world.this_node)
#define load_avg_is_decayed(avg) ((avg)->decayed)
#define child_cfs_rq_on_list(cfs_rq) ((cfs_rq)->child_on_list)

static const int nr_node_ids = NODES;

static inline bool node_exists(int node) { return node != HOLE; }
#define for_each_node(node) \
	for (node = 0; node < NODES; node++) if (node_exists(node))
#define node_state(node, state) ((void)(state), node_exists(node) && (node) != MEMLESS)
#define for_each_node_state(node, state) for_each_node(node) if (node_state(node, state))

static inline int node_distance(int a, int b)
{
	if (a == b)
		return 10;
	return (a == MEMLESS && b == NEAREST) || (a == NEAREST && b == MEMLESS) ? 12 : 20;
}

static inline int numa_nearest_node(int node, int state)
{
	return node_state(node, state) ? node : NEAREST;
}

static inline long atomic_long_read(const atomic_long_t *v) { return v->counter; }
static inline void atomic_long_add(long by, atomic_long_t *v) { v->counter += by; world.writes++; }
static inline void atomic_long_sub(long by, atomic_long_t *v) { atomic_long_add(-by, v); }

static inline void *kcalloc(size_t n, size_t size, int flags)
{
	(void)flags;
	if (++world.allocations == world.fail_at)
		return NULL;
	world.held++;
	return calloc(n, size);
}

static inline void *kzalloc_node(size_t size, int flags, int node)
{
	if (world.with_node < NODES)
		world.node_of[world.with_node++] = node;
	return kcalloc(1, size, flags);
}

static inline void kfree(void *p)
{
	if (p)
		world.held--;
	free(p);
}

#endif
