// SPDX-License-Identifier: GPL-2.0-only
/*
 * For decides.sh: how a runqueue is marked online and offline where it belongs to a
 * root domain. HELPERS, 0 or 1, tells whether the patch is in that makes these functions.
 *
 * source: core.c
 * functions: [sched_set_rq_online] [sched_set_rq_offline]
 */
#include <stdbool.h>
#include <stdio.h>

struct cpumask { unsigned long bits; };
struct root_domain { struct cpumask *span; };
struct rq { struct root_domain *rd; };
struct rq_flags { int unused; };

static struct rq *locked;
static int wrong, bugs, locks, unlocks, clocks, onlines, offlines;

static void expect(int got, int want, const char *what, const char *where)
{
	if (got == want)
		return;
	printf("%s %s: %d, expected %d\n", what, where, got, want);
	wrong = 1;
}

static inline void rq_lock_irqsave(struct rq *rq, struct rq_flags *rf)
{
	(void)rf;
	expect(!!locked, 0, "lock held", "before it is taken");
	locked = rq;
	locks++;
}

static inline void rq_unlock_irqrestore(struct rq *rq, struct rq_flags *rf)
{
	(void)rf;
	expect(locked == rq, 1, "lock held", "where it is released");
	locked = NULL;
	unlocks++;
}

static inline bool cpumask_test_cpu(int cpu, const struct cpumask *mask)
{
	return mask->bits >> cpu & 1;
}

#define BUG_ON(condition) (bugs += !!(condition))

static inline void update_rq_clock(struct rq *rq)
{
	expect(locked == rq, 1, "lock held", "where the clock is updated");
	clocks++;
}

static inline void set_rq_online(struct rq *rq)
{
	expect(locked == rq, 1, "lock held", "where a runqueue comes online");
	onlines++;
}

static inline void set_rq_offline(struct rq *rq)
{
	expect(locked == rq, 1, "lock held", "where a runqueue goes offline");
	expect(clocks, 1, "updates of the clock", "before a runqueue goes offline");
	offlines++;
}

#include "functions.h"

#if HELPERS
/* @on or off, of CPU 2, which the root domain has, or not; @rd: there is a domain. */
static void mark(bool on, bool rd, unsigned long span, const char *where)
{
	struct cpumask cpus = { .bits = span };
	struct root_domain domain = { .span = &cpus };
	struct rq rq = { .rd = rd ? &domain : NULL };

	bugs = locks = unlocks = clocks = onlines = offlines = 0;
	if (on)
		sched_set_rq_online(&rq, 2);
	else
		sched_set_rq_offline(&rq, 2);
	expect(onlines, on && rd, "marks online", where);
	expect(offlines, !on && rd, "marks offline", where);
	expect(bugs, rd && span != 1 << 2, "BUG_ON()s met", where);
	expect(locks, 1, "locks", where);
	expect(unlocks, 1, "unlocks", where);
}
#endif

int main(void)
{
#if HELPERS
	mark(true, true, 1 << 2, "of a CPU that comes online");
	mark(false, true, 1 << 2, "of a CPU that goes offline");
	mark(true, true, 1 << 1, "of a CPU that comes online outside its root domain");
	mark(false, true, 1 << 1, "of a CPU that goes offline outside its root domain");
	mark(true, false, 0, "of a CPU that comes online without a root domain");
	mark(false, false, 0, "of a CPU that goes offline without a root domain");
#endif
	return wrong;
}
