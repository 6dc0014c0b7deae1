/* SPDX-License-Identifier: GPL-2.0-only */
/* The few lines of TAP that a unit test needs; include it once, in its file. */
#ifndef KIT_TAP_H
#define KIT_TAP_H

#include <stdbool.h>
#include <stdio.h>

static int tap_run, tap_failed;

/* One test: what should hold, as a sentence, and whether it does. */
static void ok(bool holds, const char *sentence)
{
	printf("%sok %d %s\n", holds ? "" : "not ", ++tap_run, sentence);
	fflush(stdout);	/* so that a test that hangs shows how far it came */
	tap_failed += !holds;
}

/* The plan goes last; its value is what main() returns. */
static int tap_done(void)
{
	printf("1..%d\n", tap_run);
	return tap_failed ? 1 : 0;
}

#endif
