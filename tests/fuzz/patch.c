// SPDX-License-Identifier: GPL-2.0-only
/* One patch file: header, tags, diff, and what the lint says of them. */
#include "fuzz.h"
#include "queue.h"

#define NAME "patches/6.12/p.patch"

void fuzz_start(void)
{
}

static void check_counts(const struct patch *p)
{
	int i, hunks = 0, counted = 0;

	fuzz_check(p->body >= 0 && p->body <= p->nr_lines);
	fuzz_check(p->separator >= 0 && p->separator <= p->diff);
	fuzz_check(p->tags >= 0 && p->tags <= p->separator);
	fuzz_check(p->diff <= p->nr_lines);
	for (i = 0; i < p->nr_files; i++) {
		fuzz_check(p->files[i].path);
		hunks += p->files[i].nr_hunks;
	}
	for (i = 0; i < p->nr_lines; i++)
		counted += p->lines[i].kind == L_HUNK;
	fuzz_check(hunks == counted);
}

static void one_patch(void)
{
	struct patch *p = patch_read(NAME, "p.patch");
	struct series_line line = { .text = "p.patch", .name = "p.patch", .line = 1 };
	struct queue q = { .lts = "6.12", .patches = &p, .nr_patches = 1 };
	struct lint l = { .out = fuzz_sink };
	int c;

	fuzz_check(p);
	check_counts(p);
	lint_header(&l, &q, p);
	lint_diff(&l, p);
	lint_needs(&l, &q, p);
	if (l.found)
		return;
	/* What has passed the lint can be listed, as text and as JSON. */
	hunks_print(NAME);
	for (c = 0; c < NR_CLASSES; c++) {
		q.series[c].class = c;
		q.series[c].lines = &line;
		q.series[c].nr_lines = 1;
	}
	list_print(&q, ~0u, false);
	list_print(&q, ~0u, true);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_file(NAME, data, size);
	fuzz_check(fuzz_run(one_patch) == FUZZ_RETURNED);
	return 0;
}
