// SPDX-License-Identifier: GPL-2.0-only
/*
 * lab/host/splat.c: which lines are trouble, and of what kind. The lines have
 * the form in which 6.1 to 6.18 print them on arm64 and x86_64.
 */
#include <stdlib.h>
#include <string.h>

#include "console.h"
#include "tap.h"
#include "util.h"

static const struct { const char *kind, *line; } trouble[] = {
	{ "panic", "Kernel panic - not syncing: Attempted to kill init! exitcode=0x0000000b" },
	{ "panic", "---[ end Kernel panic - not syncing: dumptest ]---" },
	{ "panic", "PANIC: early exception 0x0e IP 10:ffffffff81000105 error 0 cr2 0x28" },
	{ "panic", "traps: PANIC: double fault, error_code: 0x0" },
	{ "oops", "Internal error: Oops: 0000000096000044 [#1] SMP" },
	{ "oops", "Internal error: Oops - BUG: 00000000f2000800 [#1] PREEMPT SMP" },
	{ "oops", "Internal error: synchronous external abort: 0000000096000210 [#1] SMP" },
	{ "oops", "Unable to handle kernel NULL pointer dereference at virtual address 0000000000000010" },
	{ "oops", "Unable to handle kernel paging request at virtual address dead000000000108" },
	{ "oops", "Unable to handle kernel access to user memory outside uaccess routines at virtual address 0000000000000000" },
	{ "oops", "Insufficient stack space to handle exception!" },
	{ "oops", "SError Interrupt on CPU3, code 0x00000000be000011 -- SError" },
	{ "oops", "Unhandled 64-bit el1h sync exception on CPU0, ESR 0x000000002000000 -- BTI" },
	{ "oops", "kernel BUG at kernel/sched/core.c:6423!" },
	{ "oops", "Kernel BUG at sched_fork+0x10c/0x2a0 [verbose debug info unavailable]" },
	{ "oops", "CFI failure at do_one+0x40/0x50 (target: other+0x0/0x20; expected type: 0x12345678)" },
	{ "oops", "BUG: kernel NULL pointer dereference, address: 0000000000000000" },
	{ "oops", "BUG: unable to handle page fault for address: ffffc90000107ff8" },
	{ "oops", "BUG: TASK stack guard page was hit at 00000000f2a1b0c9 (stack is 0000000012345678..000000009abcdef0)" },
	{ "oops", "BUG: stack guard page was hit at 00000000f2a1b0c9 (stack is 0000000012345678..000000009abcdef0)" },
	{ "oops", "stack guard page: 0000 [#1] PREEMPT SMP NOPTI" },
	{ "oops", "Oops: 0002 [#1] PREEMPT SMP NOPTI" },
	{ "oops", "Oops: Oops: 0002 [#1] SMP NOPTI" },
	{ "oops", "Oops: general protection fault, probably for non-canonical address 0xdead000000000100: 0000 [#1] SMP" },
	{ "oops", "general protection fault, probably for non-canonical address 0xdead000000000100: 0000 [#1] PREEMPT SMP NOPTI" },
	{ "oops", "general protection fault: 0000 [#1] SMP" },
	{ "oops", "invalid opcode: 0000 [#1] PREEMPT SMP NOPTI" },
	{ "oops", "divide error: 0000 [#2] SMP" },
	{ "oops", "int3: 0000 [#1] SMP" },
	{ "oops", "stack segment: 0000 [#1] SMP" },
	{ "oops", "control protection fault: 0003 [#1] PREEMPT SMP" },
	{ "oops", "traps: Missing ENDBR: do_one+0x0/0x10" },
	{ "oops", "Missing ENDBR: do_one+0x0/0x10" },
	{ "oops", "BUG: scheduling while atomic: swapper/3/0/0x00000002" },
	{ "oops", "BUG: sleeping function called from invalid context at kernel/locking/mutex.c:283" },
	{ "oops", "BUG: using smp_processor_id() in preemptible [00000000] code: init/1" },
	{ "oops", "BUG: spinlock bad magic on CPU#0, init/1" },
	{ "oops", "BUG: Bad page state in process init  pfn:4a3b2" },
	{ "oops", "BUG: workqueue leaked atomic, lock or RCU: kworker/0:1[9]" },
	{ "hung", "INFO: task init:1 blocked for more than 120 seconds." },
	{ "hung", "INFO: task kworker/u32:3:57 blocked for more than 2 seconds." },
	{ "lockup", "watchdog: BUG: soft lockup - CPU#3 stuck for 22s! [init:41]" },
	{ "lockup", "NMI watchdog: Watchdog detected hard LOCKUP on cpu 1" },
	{ "lockup", "watchdog: Watchdog detected hard LOCKUP on cpu 0" },
	{ "lockup", "watchdog: CPU7: Watchdog detected hard LOCKUP on cpu 3" },
	{ "stall", "rcu: INFO: rcu_preempt self-detected stall on CPU" },
	{ "stall", "rcu: INFO: rcu_sched detected stalls on CPUs/tasks:" },
	{ "stall", "rcu: INFO: rcu_sched detected expedited stalls on CPUs/tasks: { 3-... } 26 jiffies s: 57 root: 0x8/." },
	{ "stall", "rcu: INFO: rcu_sched detected stall, but suppressed full report due to a stuck CSD-lock." },
	{ "stall", "INFO: rcu_tasks detected stalls on tasks:" },
	{ "stall", "INFO: rcu_tasks_trace detected stalls on tasks:" },
	{ "stall", "rcu: rcu_sched kthread starved for 2502 jiffies! g-1111 f0x0 RCU_GP_WAIT_FQS(5) ->state=0x0 ->cpu=3" },
	{ "stall", "rcu: rcu_sched kthread timer wakeup didn't happen for 2499 jiffies! g-1111 f0x0 RCU_GP_WAIT_FQS(5) ->state=0x402" },
	{ "stall", "BUG: workqueue lockup - pool cpus=0 node=0 flags=0x0 nice=0 stuck for 31s!" },
	{ "sanitizer", "BUG: KASAN: slab-out-of-bounds in sched_fork+0x10c/0x2a0" },
	{ "sanitizer", "BUG: KCSAN: data-race in select_task_rq_fair / update_load_avg" },
	{ "sanitizer", "BUG: KFENCE: use-after-free read in sched_fork+0x10c/0x2a0" },
	{ "sanitizer", "BUG: KMSAN: uninit-value in sched_fork+0x10c/0x2a0" },
	{ "sanitizer", "KASAN: null-ptr-deref in range [0x0000000000000010-0x0000000000000017]" },
	{ "sanitizer", "UBSAN: array-index-out-of-bounds in kernel/sched/topology.c:1712:9" },
	{ "sanitizer", "UBSAN: shift-out-of-bounds in kernel/sched/fair.c:220:11" },
	{ "memory", "BUG kmalloc-64 (Not tainted): Redzone overwritten" },
	{ "memory", "BUG task_struct (Tainted: G        W         ): Freechain corrupt" },
	{ "memory", "list_add corruption. prev->next should be next (ffff0000c1a2b3c8), but was 0000000000000000. (prev=ffff0000c1a2b3c8)." },
	{ "memory", "list_del corruption, ffff0000c1a2b3c8->next is LIST_POISON1 (dead000000000100)" },
	{ "memory", "list_del corruption. prev->next should be ffff0000c1a2b3c8, but was ffff0000c1a2b300. (prev=ffff0000c1a2b3c8)" },
	{ "memory", "list_add double add: new=ffff0000c1a2b3c8, prev=ffff0000c1a2b3c8, next=ffff0000c1a2b300." },
	{ "memory", "refcount_t: underflow; use-after-free." },
	{ "memory", "refcount_t: addition on 0; use-after-free." },
	{ "memory", "refcount_t: saturated; leaking memory." },
	{ "memory", "init invoked oom-killer: gfp_mask=0x140cca(GFP_HIGHUSER_MOVABLE|__GFP_COMP), order=0, oom_score_adj=0" },
	{ "memory", "Out of memory: Killed process 57 (init) total-vm:1024kB, anon-rss:64kB, file-rss:0kB" },
	{ "memory", "init: page allocation failure: order:4, mode:0x40dc0(GFP_KERNEL|__GFP_COMP|__GFP_ZERO), nodemask=(null)" },
	{ "lockdep", "WARNING: possible circular locking dependency detected" },
	{ "lockdep", "WARNING: possible recursive locking detected" },
	{ "lockdep", "WARNING: possible irq lock inversion dependency detected" },
	{ "lockdep", "WARNING: inconsistent lock state" },
	{ "lockdep", "WARNING: suspicious RCU usage" },
	{ "lockdep", "WARNING: bad unlock balance detected!" },
	{ "lockdep", "WARNING: held lock freed!" },
	{ "lockdep", "WARNING: lock held when returning to user space!" },
	{ "lockdep", "WARNING: Nested lock was not taken" },
	{ "lockdep", "WARNING: HARDIRQ-safe -> HARDIRQ-unsafe lock order detected" },
	{ "lockdep", "WARNING: init/1 still has locks held!" },
	{ "lockdep", "[ BUG: Invalid wait context ]" },
	{ "lockdep", " *** DEADLOCK ***" },
	{ "lockdep", "INFO: trying to register non-static key." },
	{ "warn", "------------[ cut here ]------------" },
	{ "warn", "WARNING: CPU: 3 PID: 57 at kernel/sched/core.c:1198 resched_curr+0x84/0xa0" },
	{ "warn", "WARNING: CPU: 0 PID: 0 at resched_curr+0x84/0xa0" },
	{ "warn", "WARNING: kernel/sched/core.c:1198 at resched_curr+0x84/0xa0, CPU#3: init/57" },
	{ "warn", "sched: Unexpected reschedule of offline CPU#3!" },
	{ "warn", "irq 19: nobody cared (try booting with the \"irqpoll\" option)" },
};

static const char *const harmless[] = {
	"",
	"Booting Linux on physical CPU 0x0000000000 [0x411fd070]",
	"Linux version 6.12.95 (kit@kit) (gcc 12.2.0) #1 SMP BUG: 2026-01-01",
	"Linux version 6.12.95-BUG-WARNING (kit@kit) (gcc 12.2.0) #1 SMP",
	"Kernel command line: console=ttyAMA0 panic=-1 hung_task_panic=1 oops=panic lab.nonce=1",
	"Command line: Kernel panic - not syncing",
	"Spectre V2 : Mitigation: Retpolines",
	"Spectre V2 : WARNING: Unprivileged eBPF is enabled with eIBRS on, data leaks possible via Spectre v2 BHB attacks!",
	"spectre_v2: WARNING: this text only looks like a warning",
	"Mitigation: not a kernel BUG: and no Oops: either",
	"panic=-1 and hung_task_panic=1 are mere parameters",
	"Speculative Return Stack Overflow: WARNING: See https://kernel.org/doc/html/latest/admin-guide/hw-vuln/srso.html for mitigation options.",
	"MDS: Vulnerable: Clear CPU buffers attempted, no microcode",
	"clocksource: timekeeping watchdog on CPU1: Marking clocksource 'tsc' as unstable because the skew is too large:",
	"watchdog: Delayed init of the lockup detector failed: -19",
	"NMI watchdog: Perf NMI watchdog permanently disabled",
	"rcu: Hierarchical RCU implementation.",
	"rcu: \tRCU CPU stall warnings timeout set to 21 (rcu_cpu_stall_timeout).",
	"rcu: INFO: Stall ended before state dump start",
	"INFO: lockdep is turned off.",
	"INFO: task count 57",
	"kasan: KernelAddressSanitizer initialized (generic)",
	"lkdtm: Performing direct entry WARNING",
	"lkdtm: No crash points registered, enable through debugfs",
	"Unstable clock detected, switching default tracing clock to \"global\"",
	"debug: WARNING: CPU: 3 PID: 57 at nowhere",
	"the list_del corruption of last week",
	"refcount_tests: ok 1",
	"BUGS are in the garden (of Eden)",
	"WARNINGS: none",
	"WARNING",
	"DEBUG: a variable",
	"Oopsie daisy",
	"sched: CPU3 offline",
	"---[ end trace 0000000000000000 ]---",
	"@lab 7 node id=0 cpus=0-3 mem_kb=50000 distance=10",
	"Code: d2800000 d65f03c0 (d4210000)",
	"CPU: 3 UID: 0 PID: 57 Comm: init Tainted: G        W          6.12.95 #1",
};

/* With a sentence for each line: whatever is wrong is named. */
static void check(const char *prefix, const char *line, const char *kind)
{
	char *text = xasprintf("%s%s", prefix, line);
	const char *got = splat_kind(text);
	char *sentence;

	for (char *p = text; *p; p++)
		if (*p == '#')
			*p = '=';	/* TAP reads "#" as a directive */
	sentence = xasprintf("%s is %s%s%s", *text ? text : "an empty line",
			     kind ? kind : "harmless",
			     got && (!kind || strcmp(got, kind)) ? ", not " : "",
			     got && (!kind || strcmp(got, kind)) ? got : "");
	ok(kind ? got && !strcmp(got, kind) : !got, sentence);
	free(sentence);
	free(text);
}

int main(void)
{
	static const char *const stamps[] = {
		"", "[    0.000000] ", "[12345.678901] ", "[    1.234567][   T57] ",
		"[    1.234567][    C3] ",
	};

	for (size_t s = 0; s < ARRAY_SIZE(stamps); s++) {
		for (size_t i = 0; i < ARRAY_SIZE(trouble); i++)
			check(stamps[s], trouble[i].line, trouble[i].kind);
		for (size_t i = 0; i < ARRAY_SIZE(harmless); i++)
			check(stamps[s], harmless[i], NULL);
	}
	return tap_done();
}
