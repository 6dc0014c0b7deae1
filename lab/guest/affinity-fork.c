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
 * storm, for the load averages to decay), lab.slice_us and lab.dilation (see
 * busy_slice() in guest.h).
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
#include <time.h>
#include <unistd.h>

#include "guest.h"

#define START_LIMIT_S 20

enum phase { STARTING, WINDOW, AFTER, NR_PHASES };

struct worker {
	volatile enum phase seen;	/* the last phase that it has noticed */
	volatile uint64_t cpu_ns[NR_PHASES];	/* its CPU time when it noticed */
	pid_t pid;
	int cpu;			/* where it is when the window ends */
} __attribute__((aligned(64)));

struct storm {
	struct cpulist mask;
	long gap_us, window_us, settle_us;
	int nr_workers;
	volatile enum phase phase;
	int missing[NR_PHASES];		/* tasks that have not noticed the phase */
	uint64_t begin_ns, start_ns, window_ns;
	volatile uint64_t forked_ns;	/* when the parent had made its last fork */
	struct worker worker[MAX_CPUS];
};

/* The last task that notices a phase wakes the monitor. */
static void noticed(struct storm *s, enum phase phase)
{
	int *missing = &s->missing[phase];

	if (__atomic_sub_fetch(missing, 1, __ATOMIC_SEQ_CST) == 0)
		syscall(SYS_futex, missing, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/*
 * The monitor sleeps until it is woken: if it polled, its CPU would look for
 * tasks to pull each time it goes idle again, and that mends the placement
 * that is to be measured.
 */
static void wait_until_noticed(struct storm *s, enum phase phase)
{
	const struct timespec limit = { START_LIMIT_S, 0 };
	int *missing = &s->missing[phase], n;

	while ((n = __atomic_load_n(missing, __ATOMIC_SEQ_CST)) > 0)
		if (syscall(SYS_futex, missing, FUTEX_WAIT, n, &limit, NULL, 0) &&
		    errno == ETIMEDOUT)
			fail("%d tasks did not run for %d s of guest time",
			     n, START_LIMIT_S);
}

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
 */
static void spin(struct storm *s, struct worker *w)
{
	noticed(s, STARTING);
	for (;;) {
		enum phase now = s->phase;

		if (now != w->seen) {
			w->cpu_ns[now] = own_cpu_ns();
			w->seen = now;
			noticed(s, now);
		}
		busy_slice();
	}
}

/* Busy, as a parent is that has something to do between its forks. */
static void wait_until(uint64_t ns)
{
	while (now_ns() < ns)
		next_cpu_turn();
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
	s->forked_ns = now_ns();
	noticed(s, STARTING);
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

/* Everybody is in @phase from here on; returns the time. */
static uint64_t enter(struct storm *s, enum phase phase)
{
	uint64_t t = now_ns();

	s->phase = phase;
	return t;
}

static void measure(struct storm *s)
{
	uint64_t t0 = enter(s, WINDOW);

	sleep_us(s->window_us);
	/* Who never ran in the window will notice only its end. */
	s->window_ns = enter(s, AFTER) - t0;
	for (int i = 0; i < s->nr_workers; i++)
		s->worker[i].cpu = last_cpu(s->worker[i].pid);
	wait_until_noticed(s, AFTER);
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
	       n, cpu, s->window_ns / 1000ull,
	       (s->forked_ns - s->begin_ns) / 1000ull,
	       (s->start_ns - s->begin_ns) / 1000ull, run, where);
}

static void one_storm(struct storm *s, int n, int cpu)
{
	pid_t pid;

	memset(s->worker, 0, sizeof(s->worker));
	for (int i = 0; i < NR_PHASES; i++)
		s->missing[i] = s->nr_workers;
	/* The parent has to finish, too: it knows the workers' pids. */
	s->missing[STARTING]++;
	sleep_us(s->settle_us);
	s->begin_ns = enter(s, STARTING);
	pid = fork();
	if (pid < 0)
		fail("fork: %s", strerror(errno));
	if (!pid)
		parent(s, cpu);
	wait_until_noticed(s, STARTING);
	s->start_ns = now_ns();
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
	s->settle_us = param_long("settle_us");
	s->window_us = param_long("window_us");
	become_monitor();
	busy_slice();	/* reads its parameters while there is one task */
	for (int n = 1; n <= storms; n++) {
		cpu = cpulist_next(&parents, cpu);
		if (cpu < 0)
			cpu = cpulist_next(&parents, -1);
		one_storm(s, n, cpu);
	}
}

const struct program affinity_fork_program = { "affinity-fork", affinity_fork_run };
