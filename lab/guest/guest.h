/* SPDX-License-Identifier: GPL-2.0-only */
/* What the parts of the guest's init share. */
#ifndef KIT_GUEST_H
#define KIT_GUEST_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cpulist.h"

#define CLOCKSOURCE "/sys/devices/system/clocksource/clocksource0/current_clocksource"

/* A scenario's program: runs, prints records, returns; fail() on trouble. */
struct program {
	const char *name;
	void (*run)(void);
};

extern const struct program affinity_fork_program;
extern const struct program fault_program;
extern const struct program tg_nodes_program;
extern const struct program tg_offline_program;
extern const struct program tg_stall_program;
extern const struct program tg_fair_program;
extern const struct program tg_writes_program;
extern const struct program wake_stack_program;

/*
 * record - print one record: "@lab SEQ TYPE key=value ...".
 * The text goes out in one write, and is numbered, so that the host sees when
 * a line was lost or something was printed into it.
 */
void record(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* fail - print a record "error ..." and power off without an end marker. */
void fail(const char *fmt, ...)
	__attribute__((format(printf, 1, 2), noreturn));

/* drain - wait until all that was printed has left the serial port. */
void drain(void);
void power_off(void) __attribute__((noreturn));

/*
 * Parameters: "lab.KEY=VALUE" on the kernel command line.
 * param() returns @fallback where there is none; the others fail().
 */
const char *param(const char *key, const char *fallback);
long param_long(const char *key);
void param_cpulist(const char *key, struct cpulist *l);

/* The whole of @path in @buf, without trailing newline; false if unreadable. */
bool read_text(const char *path, char *buf, int size);

/* Pin the caller to @l, or to one CPU; fail() if the kernel refuses. */
void pin_list(const struct cpulist *l);
void pin_cpu(int cpu);
/* The same for task @pid. */
void pin_task(pid_t pid, const struct cpulist *l);

uint64_t now_ns(void);
void sleep_us(long us);

/*
 * busy_slice - use lab.slice_us of guest time, then let the next CPU have its
 * turn. Under an emulator that runs the virtual CPUs in turns and counts
 * instructions, CPUs see each other in steps of that length: without it QEMU
 * (up to 8.0 for certain) lets one of them run up to the guest's next timer,
 * and after that starts again with the lowest number, so that others wait for
 * seconds. Between two turns it runs the cheapest instruction there is, so
 * that guest time passes at little cost. On real CPUs it is a busy loop.
 */
void busy_slice(void);
void next_cpu_turn(void);

/* report_topology - print what this kernel sees of the machine. */
void report_topology(void);

#endif
