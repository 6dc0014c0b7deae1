// SPDX-License-Identifier: GPL-2.0-only
/* Which kernel messages are trouble. */
#include <regex.h>
#include <stdlib.h>

#include "console.h"
#include "util.h"

/* "[   12.345678] " and, with PRINTK_CALLER, "[   T1] " before the message. */
#define STAMP "^(\\[ *[0-9]+\\.[0-9]+\\] ?(\\[ *[TC][0-9]+\\] ?)?)?"

static const struct { const char *kind, *pattern; } rules[] = {
	{ "panic", "Kernel panic - not syncing" },
	{ "panic", "---\\[ end Kernel panic" },
	{ "oops", "Internal error: " },
	{ "oops", "Oops: " },
	{ "oops", "Unable to handle kernel " },
	{ "oops", "kernel BUG at " },
	{ "oops", "general protection fault" },
	{ "oops", "int3: 0000 " },
	{ "oops", "stack segment: 0000 " },
	{ "oops", "invalid opcode: 0000 " },
	{ "oops", "divide error: 0000 " },
	{ "hung", "INFO: task .* blocked for more than [0-9]+ seconds" },
	{ "lockup", "watchdog: BUG: soft lockup" },
	{ "lockup", "(watchdog: )?Watchdog detected hard LOCKUP" },
	{ "stall", "(rcu: )?INFO: rcu_[a-z_]+ (self-)?detected " },
	{ "stall", "workqueue lockup" },
	{ "stall", "BUG: workqueue lockup" },
	{ "sanitizer", "BUG: K(ASAN|CSAN|FENCE|MSAN)" },
	{ "sanitizer", "UBSAN: " },
	{ "oops", "BUG: " },
	{ "warn", "WARNING: " },
	{ "warn", "INFO: (possible|inconsistent|lockdep|trying to register) " },
	{ "warn", "\\*\\*\\*? DEADLOCK \\*\\*\\*" },
	{ "warn", "-+\\[ cut here \\]-+" },
};

const char *splat_kind(const char *line)
{
	static regex_t re[ARRAY_SIZE(rules)];
	static bool ready;

	for (size_t i = 0; !ready && i < ARRAY_SIZE(rules); i++) {
		char *text = xasprintf(STAMP "%s", rules[i].pattern);

		if (regcomp(&re[i], text, REG_EXTENDED | REG_NOSUB))
			die(EX_INFRA, "bad splat rule: %s", text);
		free(text);
	}
	ready = true;
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
		if (!regexec(&re[i], line, 0, NULL, 0))
			return rules[i].kind;
	return NULL;
}
