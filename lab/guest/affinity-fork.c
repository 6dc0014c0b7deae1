// SPDX-License-Identifier: GPL-2.0-only
/*
 * affinity-fork: where do forked tasks go when they may not use every CPU?
 *
 * A storm: the parent sits on one CPU, takes the affinity mask, and forks as
 * many spinning workers as the mask has CPUs. A window starts when the last
 * worker has run; at its end each worker's CPU time and CPU are reported.
 * Parents start on each CPU of lab.parents in turn.
 *
 * Parameters: lab.cpus (mask), lab.parents, lab.monitor (a CPU outside of the
 * mask, for this program itself), lab.storms, lab.window_us, lab.gap_us
 * (guest time from one fork to the next), lab.settle_us (idle time before a
 * storm, for the load averages to decay).
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "guest.h"

#define START_LIMIT_NS 20000000000ull

enum phase { STARTING, WINDOW, AFTER };

struct worker {
	volatile int started;
	volatile enum phase seen;	/* the last phase that it has noticed */
	volatile uint64_t cpu_ns[3];	/* its CPU time when it noticed */
	pid_t pid;
	int cpu;			/* where it is when the window ends */
} __attribute__((aligned(64)));

struct storm {
	struct cpulist mask;
	long gap_us, window_us, settle_us;
	int nr_workers;
	volatile enum phase phase;
	volatile int forked;		/* set by the parent after its last fork */
	uint64_t fork_ns, start_ns, window_ns;
	struct worker worker[MAX_CPUS];
};

static uint64_t own_cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

/*
 * Only the task itself can read its CPU time to the nanosecond: for others the
 * kernel shows what it knew at the last tick. A worker that waits for its CPU
 * when the phase changes uses none until it runs and notices.
 *
 * The body of the loop is long, and of the cheapest instruction there is:
 * under an emulator that counts instructions guest time then passes at little
 * cost.
 */
static void spin(const struct storm *s, struct worker *w)
{
	w->started = 1;
	for (;;) {
		enum phase now = s->phase;

		if (now != w->seen) {
			w->cpu_ns[now] = own_cpu_ns();
			w->seen = now;
		}
		__asm__ volatile(".rept 400\n\tnop\n\t.endr");
	}
}

/* Busy, as a parent is that has something to do between its forks. */
static void wait_until(uint64_t ns)
{
	while (now_ns() < ns)
		;
}

static void parent(struct storm *s, int cpu)
{
	uint64_t next;

	if (setpgid(0, 0))
		_exit(1);
	pin_cpu(cpu);
	pin_list(&s->mask);
	next = now_ns();
	for (int i = 0; i < s->nr_workers; i++) {
		pid_t pid;

		wait_until(next);
		next += s->gap_us * 1000;
		pid = fork();
		if (pid < 0)
			_exit(1);
		if (!pid)
			spin(s, &s->worker[i]);
		s->worker[i].pid = pid;
	}
	s->forked = 1;
	for (;;)
		pause();
}

/* The CPU that @pid ran on last: field 39 of its stat file. */
static int last_cpu(pid_t pid)
{
	char path[64], text[1024], *p;
	int field = 2;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	if (!read_text(path, text, sizeof(text)))
		fail("a worker died");
	/* The name in field 2 may hold blanks; what follows its ')' does not. */
	p = strrchr(text, ')');
	for (; p && field < 39; field++) {
		p = strchr(p, ' ');
		if (p)
			p++;
	}
	if (!p)
		fail("cannot read the CPU of a worker");
	return atoi(p);
}

static bool all_started(const struct storm *s)
{
	if (!s->forked)
		return false;
	for (int i = 0; i < s->nr_workers; i++)
		if (!s->worker[i].started)
			return false;
	return true;
}

static void wait_for_start(struct storm *s)
{
	uint64_t t0 = now_ns();

	while (!all_started(s)) {
		if (!s->fork_ns && s->forked)
			s->fork_ns = now_ns() - t0;
		if (now_ns() - t0 > START_LIMIT_NS)
			fail("a worker did not start within %llu s of guest time",
			     START_LIMIT_NS / 1000000000ull);
		sleep_us(100);
	}
	s->start_ns = now_ns() - t0;
	if (!s->fork_ns)
		s->fork_ns = s->start_ns;
}

/* Everybody is in @phase from here on; returns the time. */
static uint64_t enter(struct storm *s, enum phase phase)
{
	uint64_t t = now_ns();

	s->phase = phase;
	return t;
}

static void wait_until_seen(const struct storm *s, enum phase phase)
{
	uint64_t t0 = now_ns();

	for (int i = 0; i < s->nr_workers; i++)
		while (s->worker[i].seen != phase) {
			if (now_ns() - t0 > START_LIMIT_NS)
				fail("a worker did not run for %llu s of guest time",
				     START_LIMIT_NS / 1000000000ull);
			sleep_us(1000);
		}
}

static void measure(struct storm *s)
{
	uint64_t t0 = enter(s, WINDOW);

	sleep_us(s->window_us);
	s->window_ns = enter(s, AFTER) - t0;
	for (int i = 0; i < s->nr_workers; i++)
		s->worker[i].cpu = last_cpu(s->worker[i].pid);
	wait_until_seen(s, AFTER);
}

/* A worker that never ran in the window notices only its end. */
static uint64_t used_ns(const struct worker *w)
{
	return w->cpu_ns[WINDOW] ? w->cpu_ns[AFTER] - w->cpu_ns[WINDOW] : 0;
}

static void kill_all(pid_t parent_pid)
{
	kill(-parent_pid, SIGKILL);
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		;
}

static void report(const struct storm *s, int n, int cpu)
{
	static char run[8192], where[8192];
	int run_len = 0, where_len = 0;

	for (int i = 0; i < s->nr_workers; i++) {
		const struct worker *w = &s->worker[i];
		const char *comma = i ? "," : "";

		run_len += snprintf(run + run_len, sizeof(run) - run_len,
				    "%s%llu", comma, used_ns(w) / 1000ull);
		where_len += snprintf(where + where_len,
				      sizeof(where) - where_len, "%s%d", comma, w->cpu);
	}
	record("storm n=%d parent=%d window_us=%llu fork_us=%llu start_us=%llu run_us=%s cpu=%s",
	       n, cpu, s->window_ns / 1000ull, s->fork_ns / 1000ull,
	       s->start_ns / 1000ull, run, where);
}

static void one_storm(struct storm *s, int n, int cpu)
{
	pid_t pid;

	memset(s->worker, 0, sizeof(s->worker));
	s->phase = STARTING;
	s->forked = 0;
	s->fork_ns = 0;
	sleep_us(s->settle_us);
	pid = fork();
	if (pid < 0)
		fail("fork: %s", strerror(errno));
	if (!pid)
		parent(s, cpu);
	wait_for_start(s);
	measure(s);
	kill_all(pid);
	report(s, n, cpu);
}

/* Above every worker, so that a window ends on time; children start normal. */
static void become_monitor(void)
{
	struct sched_param sp = { .sched_priority = 50 };

	pin_cpu(param_long("monitor"));
	if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &sp))
		fail("sched_setscheduler: %s", strerror(errno));
}

static void affinity_fork_run(void)
{
	struct storm *s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct cpulist parents;
	int cpu = -1, storms = param_long("storms");

	if (s == MAP_FAILED)
		fail("mmap: %s", strerror(errno));
	param_cpulist("cpus", &s->mask);
	param_cpulist("parents", &parents);
	s->nr_workers = cpulist_count(&s->mask);
	s->gap_us = param_long("gap_us");
	s->window_us = param_long("window_us");
	s->settle_us = param_long("settle_us");
	become_monitor();
	for (int n = 1; n <= storms; n++) {
		cpu = cpulist_next(&parents, cpu);
		if (cpu < 0)
			cpu = cpulist_next(&parents, -1);
		one_storm(s, n, cpu);
	}
}

const struct program affinity_fork_program = { "affinity-fork", affinity_fork_run };
