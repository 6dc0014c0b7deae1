// SPDX-License-Identifier: GPL-2.0-only
/*
 * wake-stack: where do wakees run that one task wakes one after the other?
 *
 * Each of lab.wakers wakers has lab.wakees wakees of its own. A waker wakes all that
 * have finished, is busy, waits for all of them or sleeps for a while, and so on. A
 * wakee notes how long ago it was woken and whether it runs on the CPU from which it
 * was, is busy, and waits again. All may run everywhere. Windows follow one another
 * after a warm-up.
 *
 * Parameters: lab.wakers, lab.wakees, lab.work_slices and lab.wakee_slices (turns that
 * a waker is busy after each burst, and a wakee when it was woken), lab.waits (1: until
 * the last wakee has finished, which wakes the waker), lab.rest_us (guest time that a
 * waker sleeps then; the kernel counts that wakeup for the task that the timer
 * interrupts, so that wakees look as if they woke many), lab.windows, lab.window_us,
 * lab.warm_us (guest time), and those of busy_slice().
 */
#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest.h"
#include "tasks.h"

#define MAX_WAKERS 16
#define MAX_WAKEES 256

/* Eighths of octaves of nanoseconds. */
#define BUCKETS (64 * 8)

struct wakee {
	volatile uint32_t asked, done;	/* wakeups; the waker writes the first */
	volatile uint64_t asked_ns;
	volatile int waker_cpu, cpu;	/* at the last wakeup */
	volatile uint64_t wakes, stacked, sum_ns, max_ns;
	volatile uint32_t bucket[BUCKETS];
} __attribute__((aligned(64)));

struct waker {
	volatile int deepest;	/* wakees of one burst on the waker's CPU */
	int missing;		/* wakees that have not finished yet */
} __attribute__((aligned(64)));

struct shared {
	struct waker waker[MAX_WAKERS];
	struct wakee wakee[MAX_WAKERS * MAX_WAKEES];
};

/* All wakees together. */
struct totals {
	uint64_t ns, wakes, stacked, sum_ns;
	uint32_t bucket[BUCKETS];
};

static int bucket_of(uint64_t ns)
{
	int octave = 63 - __builtin_clzll(ns | 8);

	return octave * 8 + ((ns | 8) >> (octave - 3) & 7);
}

static uint64_t bucket_ns(int bucket)
{
	return (uint64_t)(8 + bucket % 8) << (bucket / 8) >> 3;
}

static void busy(long slices)
{
	for (long i = 0; i < slices; i++)
		busy_slice();
}

/* The last one wakes the waker, if that waits. */
static void finish(struct waker *r)
{
	if (__atomic_sub_fetch(&r->missing, 1, __ATOMIC_SEQ_CST) == 0)
		syscall(SYS_futex, &r->missing, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void wait_for_all(struct waker *r)
{
	int n;

	while ((n = __atomic_load_n(&r->missing, __ATOMIC_SEQ_CST)) > 0)
		syscall(SYS_futex, &r->missing, FUTEX_WAIT, n, NULL, NULL, 0);
}

static void run_wakee(struct waker *r, struct wakee *w, long slices)
{
	for (uint32_t seen = 0;;) {
		uint64_t ns;

		while (w->asked == seen)
			syscall(SYS_futex, &w->asked, FUTEX_WAIT, seen, NULL, NULL, 0);
		seen = w->asked;
		ns = now_ns() - w->asked_ns;
		w->cpu = sched_getcpu();
		w->wakes++;
		w->stacked += w->cpu == w->waker_cpu;
		w->sum_ns += ns;
		w->bucket[bucket_of(ns)]++;
		if (ns > w->max_ns)
			w->max_ns = ns;
		busy(slices);
		w->done = seen;
		finish(r);
	}
}

static void wake(struct waker *r, struct wakee *w)
{
	__atomic_add_fetch(&r->missing, 1, __ATOMIC_SEQ_CST);
	w->waker_cpu = sched_getcpu();
	w->asked_ns = now_ns();
	__atomic_add_fetch(&w->asked, 1, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &w->asked, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void run_waker(struct waker *r, struct wakee *w, int n)
{
	long slices = param_long("work_slices"), rest_us = param_long("rest_us");
	bool waits = param_long("waits");

	for (;;) {
		int depth = 0;

		for (int i = 0; i < n; i++) {
			if (w[i].done != w[i].asked)
				continue;
			depth += w[i].asked && w[i].cpu == w[i].waker_cpu;
			wake(r, &w[i]);
		}
		if (depth > r->deepest)
			r->deepest = depth;
		busy(slices);
		if (waits)
			wait_for_all(r);
		if (rest_us)
			sleep_us(rest_us);
	}
}

/* All tasks in one process group: the pid. */
static pid_t start(struct shared *s, int wakers, int wakees)
{
	long slices = param_long("wakee_slices");
	pid_t pid = start_load();

	if (pid)
		return pid;
	for (int i = 0; i < wakers * wakees; i++)
		if (!start_child())
			run_wakee(&s->waker[i / wakees], &s->wakee[i], slices);
	for (int i = 0; i < wakers; i++)
		if (!start_child())
			run_waker(&s->waker[i], &s->wakee[i * wakees], wakees);
	for (;;)
		pause();
}

static void add_up(const struct shared *s, int n, struct totals *t)
{
	memset(t, 0, sizeof(*t));
	t->ns = now_ns();
	for (int i = 0; i < n; i++) {
		const struct wakee *w = &s->wakee[i];

		t->wakes += w->wakes;
		t->stacked += w->stacked;
		t->sum_ns += w->sum_ns;
		for (int b = 0; b < BUCKETS; b++)
			t->bucket[b] += w->bucket[b];
	}
}

/* Above that many per cent of the latencies, to an eighth of an octave. */
static uint64_t percentile_us(const struct totals *from, const struct totals *to, int percent)
{
	uint64_t seen = 0, all = 0;
	int b;

	for (b = 0; b < BUCKETS; b++)
		all += to->bucket[b] - from->bucket[b];
	for (b = 0; b < BUCKETS - 1; b++) {
		seen += to->bucket[b] - from->bucket[b];
		if (seen * 100 >= all * percent)
			break;
	}
	return bucket_ns(b) / 1000;
}

/* What is the greatest in a window starts again from none. */
static void take_greatest(struct shared *s, int n, int *deepest, uint64_t *max_ns)
{
	*deepest = 0;
	*max_ns = 0;
	for (int i = 0; i < MAX_WAKERS; i++) {
		if (s->waker[i].deepest > *deepest)
			*deepest = s->waker[i].deepest;
		s->waker[i].deepest = 0;
	}
	for (int i = 0; i < n; i++) {
		if (s->wakee[i].max_ns > *max_ns)
			*max_ns = s->wakee[i].max_ns;
		s->wakee[i].max_ns = 0;
	}
}

static void report(int n, const struct totals *from, const struct totals *to, int deepest,
		   uint64_t max_ns)
{
	long wakers = param_long("wakers"), wakees = param_long("wakees");
	uint64_t wakes = to->wakes - from->wakes;

	record("wake n=%d wakers=%ld wakees=%ld window_us=%llu wakes=%llu stacked=%llu deepest=%d mean_us=%llu p50_us=%llu p99_us=%llu max_us=%llu",
	       n, wakers, wakees, (to->ns - from->ns) / 1000ull,
	       (unsigned long long)wakes, (unsigned long long)(to->stacked - from->stacked),
	       deepest, wakes ? (to->sum_ns - from->sum_ns) / wakes / 1000ull : 0,
	       (unsigned long long)percentile_us(from, to, 50),
	       (unsigned long long)percentile_us(from, to, 99), max_ns / 1000ull);
}

static void measure(struct shared *s, int n)
{
	int windows = param_long("windows"), deepest;
	long window_us = param_long("window_us");
	static struct totals from, to;
	uint64_t max_ns;

	sleep_us(param_long("warm_us"));
	take_greatest(s, n, &deepest, &max_ns);
	add_up(s, n, &from);
	for (int i = 1; i <= windows; i++) {
		sleep_us(window_us);
		add_up(s, n, &to);
		take_greatest(s, n, &deepest, &max_ns);
		report(i, &from, &to, deepest, max_ns);
		from = to;
	}
}

static void wake_stack_run(void)
{
	struct shared *s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int wakers = param_long("wakers"), wakees = param_long("wakees");
	pid_t pid;

	if (s == MAP_FAILED)
		fail("mmap: %s", strerror(errno));
	if (!wakers || wakers > MAX_WAKERS || !wakees || wakees > MAX_WAKEES)
		fail("1 to %d wakers and 1 to %d wakees are possible", MAX_WAKERS, MAX_WAKEES);
	busy_slice();	/* reads its parameters while there is one task */
	pid = start(s, wakers, wakees);
	become_monitor();
	measure(s, wakers * wakees);
	kill(-pid, SIGKILL);
	reap_all();
}

const struct program wake_stack_program = { "wake-stack", wake_stack_run };
