// SPDX-License-Identifier: GPL-2.0-only
/* Which kernel messages are trouble. */
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "console.h"
#include "util.h"

/*
 * "[   12.345678] " and, with PRINTK_CALLER, "[   T1] " before the message;
 * then the blanks that some reports begin with.
 */
#define STAMP "^(\\[ *[0-9]+\\.[0-9]+\\] ?(\\[ *[TC][0-9]+\\] ?)?)? *"

/* The first that matches gives the kind. */
static const struct { const char *kind, *pattern; } rules[] = {
	{ "panic", "(---\\[ end )?Kernel panic - not syncing" },
	{ "panic", "(traps: )?PANIC: " },
	/* How both architectures begin a register dump: "text: code [#1]". */
	{ "oops", "[A-Za-z].*: [0-9a-f]{4,16} \\[#[0-9]+\\]" },
	{ "oops", "Internal error: " },
	{ "oops", "Oops: " },
	{ "oops", "Unable to handle kernel " },
	{ "oops", "[Kk]ernel BUG at " },
	{ "oops", "general protection fault" },
	{ "oops", "Insufficient stack space to handle exception" },
	{ "oops", "SError Interrupt on CPU" },
	{ "oops", "Unhandled .* exception on CPU" },
	{ "oops", "(traps: )?Missing ENDBR: " },
	{ "oops", "CFI failure at " },
	{ "hung", "INFO: task .* blocked .*for more than [0-9]+ seconds" },
	{ "lockup", "watchdog: BUG: soft lockup" },
	{ "lockup", "((NMI )?watchdog: )?(CPU[0-9]+: )?Watchdog detected hard LOCKUP" },
	{ "stall", "(rcu: )?INFO: [a-z_]+ (self-)?detected (expedited )?stall" },
	{ "stall", "(rcu: )?[a-z_]+ kthread (starved for|timer wakeup didn't happen for) " },
	{ "stall", "BUG: workqueue lockup" },
	{ "sanitizer", "BUG: K(ASAN|CSAN|FENCE|MSAN): " },
	{ "sanitizer", "(KASAN|UBSAN): " },
	{ "memory", "BUG [^:]+ \\(.*\\): " },
	{ "memory", "list_(add|del) (corruption|double add)" },
	{ "memory", "refcount_t: " },
	{ "memory", "([^ ]+ invoked oom-killer|Out of memory|[^ ]+: page allocation failure): " },
	{ "lockdep", "WARNING: (possible|inconsistent|suspicious|bad|held|lock held|Nested) [a-zA-Z ]*(lock|RCU|dependency|detected|returning)" },
	{ "lockdep", "WARNING: .*(HARD|SOFT)IRQ-safe -> " },
	{ "lockdep", "(WARNING: .* still has locks held!|INFO: trying to register non-static key|\\*\\*\\* DEADLOCK \\*\\*\\*)" },
	{ "lockdep", "\\[ BUG: " },
	{ "oops", "BUG: " },
	{ "warn", "WARNING: " },
	{ "warn", "-+\\[ cut here \\]-+" },
	{ "warn", "sched: Unexpected reschedule of offline CPU" },
	{ "warn", "irq [0-9]+: nobody cared" },
};

static void compile(regex_t *re, char *pattern)
{
	if (regcomp(re, pattern, REG_EXTENDED | REG_NOSUB))
		die(EX_INFRA, "bad splat rule: %s", pattern);
	free(pattern);
}

/* All rules at once: nearly every line is none of them, and consoles are long. */
static void compile_all(regex_t *re)
{
	char *all = xstrdup("");

	for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
		char *more = xasprintf("%s%s%s", all, i ? "|" : "", rules[i].pattern);

		free(all);
		all = more;
	}
	compile(re, xasprintf(STAMP "(%s)", all));
	free(all);
}

const char *splat_kind(const char *line)
{
	static regex_t any, re[ARRAY_SIZE(rules)];
	static bool ready;

	if (!ready) {
		compile_all(&any);
		for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
			compile(&re[i], xasprintf(STAMP "%s", rules[i].pattern));
		ready = true;
	}
	if (regexec(&any, line, 0, NULL, 0))
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
		if (!regexec(&re[i], line, 0, NULL, 0))
			return rules[i].kind;
	return NULL;
}
