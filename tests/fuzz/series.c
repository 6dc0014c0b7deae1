// SPDX-License-Identifier: GPL-2.0-only
/*
 * The series of an LTS, against files and against each other. The input is
 * five series, with "%%" between them, in the order of the classes.
 */
#include "fuzz.h"
#include "queue.h"

#define PATCH(class) \
	"From: A Name <name@kit.invalid>\n" \
	"Date: Sat, 11 Oct 2025 06:43:22 +0000\n" \
	"Subject: sched: A change\n" \
	"\n" \
	"Why it is made.\n" \
	"\n" \
	"Kit-Class: " class "\n" \
	"---\n" \
	"--- a/kernel/sched/fair.c\n" \
	"+++ b/kernel/sched/fair.c\n" \
	"@@ -1,3 +1,4 @@\n a\n+b\n c\n d\n"

void fuzz_start(void)
{
}

static void whole_queue(void)
{
	struct queue *q = queue_read("6.12");
	struct lint l = { .out = fuzz_sink };
	int c, i;

	for (c = 0; c < NR_CLASSES; c++)
		for (i = 0; i < q->series[c].nr_lines; i++)
			fuzz_check(q->series[c].lines[i].name && *q->series[c].lines[i].text);
	lint_queue(&l, q);
	list_print(q, class_list("all"), false);
	list_print(q, ~0u, true);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = {
		"series/6.12.stable", "series/6.12.distro",
		"series/6.12.experimental", "series/6.12.landed",
		"series/6.12.alternative",
	};
	const uint8_t *part;
	size_t i, len;

	fuzz_text("patches/6.12/a.patch", PATCH("stable"));
	fuzz_text("patches/6.12/b.patch", PATCH("experimental"));
	fuzz_text("patches/6.12/c d.patch", "no patch at all\n");
	for (i = 0; i < ARRAY_SIZE(names) && fuzz_part(&data, &size, &part, &len); i++)
		fuzz_file(names[i], part, len);
	fuzz_check(fuzz_run(whole_queue) == FUZZ_RETURNED);
	return 0;
}
