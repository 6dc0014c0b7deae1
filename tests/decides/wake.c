// SPDX-License-Identifier: GPL-2.0-only
/*
 * For decides.sh: these on one CPU. FLIPS and WIDE, 0 or 1, tell which of the two patches about
 * wakees they have.
 *
 * source: fair.c
 * functions: record_wakee wake_wide
 */
#include <stdbool.h>
#include <stdio.h>

#define HZ 250
#define time_after(a, b) ((long)((b) - (a)) < 0)
#define swap(a, b) do { typeof(a) was = (a); (a) = (b); (b) = was; } while (0)
#define __this_cpu_read(name) (name)

struct task_struct {
	unsigned int wakee_flips;
	unsigned long wakee_flip_decay_ts;
	struct task_struct *last_wakee;
};

static struct task_struct *current;
static unsigned long jiffies = 100000;
static int sd_llc_size;

#include "functions.h"

static int wrong;

static void expect(unsigned int got, unsigned int want, const char *what,
		   unsigned int waker, unsigned int wakee)
{
	if (got == want)
		return;
	printf("%s: %u, expected %u (LLC of %d CPUs, flips of waker %u, of wakee %u)\n",
	       what, got, want, sd_llc_size, waker, wakee);
	wrong = 1;
}

/*
 * A waker with @waker flips wakes a task with @wakee, which may have been its last
 * wakee, after @idle jiffies in which it woke nobody.
 */
static void record(unsigned int waker, unsigned int wakee, bool again, unsigned long idle,
		   unsigned int want_waker, unsigned int want_wakee)
{
	struct task_struct other = { .wakee_flips = wakee };
	struct task_struct self = {
		.wakee_flips = waker,
		.wakee_flip_decay_ts = jiffies - idle,
		.last_wakee = again ? &other : NULL,
	};

	current = &self;
	record_wakee(&other);
	expect(self.wakee_flips, want_waker, "flips of the waker", waker, wakee);
	expect(other.wakee_flips, want_wakee, "flips of the wakee", waker, wakee);
	expect(self.wakee_flip_decay_ts, idle > HZ ? jiffies : jiffies - idle, "time of the decay", waker, wakee);
	expect(other.last_wakee == NULL, 1, "the wakee's last wakee is left alone", waker, wakee);
	expect(self.last_wakee == &other, 1, "the last wakee is noted", waker, wakee);
}

/* Either way round: it does not matter who of the two wakes. */
static void decide(unsigned int more, unsigned int less, bool want)
{
	struct task_struct a = { .wakee_flips = more }, b = { .wakee_flips = less };

	current = &a;
	expect(wake_wide(&b), want, "wide", more, less);
	current = &b;
	expect(wake_wide(&a), want, "wide", less, more);
}

static void llc_of_four(void)
{
	sd_llc_size = 4;
	record(0, 0, false, 0, 1, 0);
	record(1, 0, false, 0, 2, FLIPS);
	record(8, 1, false, 0, 9, 1);
	record(9, 1, false, 0, 10, 1 + FLIPS);
	record(9, 1, true, 0, 9, 1);
	record(16, 2, false, 0, 17, 2);
	record(17, 2, false, 0, 18, 2 + FLIPS);
	record(18, 1, false, HZ + 1, 10, 1 + FLIPS);
	record(18, 1, false, HZ, 19, 1 + FLIPS);
	record(20000, 10000, false, 0, 20001, 10000);
	record(16, 1, false, HZ + 1, 9, 1);
	record(16, 9, true, HZ + 1, 8, 9);

	decide(0, 0, false);
	decide(7, 0, false);
	decide(8, 0, WIDE);
	decide(8, 2, WIDE);
	decide(8, 3, false);
	decide(11, 3, false);
	decide(12, 3, WIDE);
	decide(15, 4, false);
	decide(16, 4, true);
	decide(31, 8, false);
	decide(32, 8, true);
}

static void llc_of_eight(void)
{
	sd_llc_size = 8;
	record(16, 1, false, 0, 17, 1);
	record(17, 1, false, 0, 18, 1 + FLIPS);

	decide(31, 0, false);
	decide(32, 0, WIDE);
	decide(32, 4, WIDE);
	decide(39, 5, false);
	decide(55, 7, false);
	decide(56, 7, WIDE);
	decide(63, 8, false);
	decide(64, 8, true);
}

/* Half of it is rounded down. */
static void llc_of_three(void)
{
	sd_llc_size = 3;
	record(6, 1, false, 0, 7, 1);
	record(7, 1, false, 0, 8, 1 + FLIPS);

	decide(2, 0, false);
	decide(3, 0, WIDE);
	decide(2, 1, false);
	decide(3, 1, WIDE);
	decide(5, 2, false);
	decide(6, 2, WIDE);
	decide(8, 3, false);
	decide(9, 3, true);
}

/* No CPU shares a cache. */
static void llc_of_one(void)
{
	sd_llc_size = 1;
	record(2, 1, false, 0, 3, 1);
	record(3, 1, false, 0, 4, 1 + FLIPS);

	decide(0, 0, WIDE);
	decide(5, 0, WIDE);
	decide(1, 1, true);
	decide(5, 1, true);
}

int main(void)
{
	llc_of_one();
	llc_of_three();
	llc_of_four();
	llc_of_eight();
	return wrong;
}
