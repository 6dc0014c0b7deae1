// SPDX-License-Identifier: GPL-2.0-only
/* A guest's console: records, splats, and the machine that the guest reports. */
#include "console.h"
#include "fuzz.h"
#include "util.h"

static const char machine[] =
	"describe a small machine\nmemory 64M\nthreads 2\ncpus 8\n"
	"socket 0 nodes=0-1\n"
	"node 0 cpus=0-3 memory=32M\nnode 1 cpus=4-7 memory=32M\n"
	"distance same-socket=12\n";

void fuzz_start(void)
{
	splat_kind("");		/* compiles its rules, and keeps them */
}

static void through_kit_console(void)
{
	static const char *const args[] = {
		"kit-console", "--nonce", "abc", "--topology", "m.topo", "console",
	};
	int code = fuzz_main(ARRAY_SIZE(args), args);

	fuzz_check(code == EX_OK || code == EX_BOOT);
}

static void through_console_read(void)
{
	const struct rec *r = NULL;
	struct console c;

	console_read("console", "abc", &c);
	/* A console without any complaint has said hello and good-bye. */
	fuzz_check(c.nr_problems || c.ended);
	for (size_t i = 0; i < c.nr_problems; i++)
		fuzz_check(c.problem[i].kind && c.problem[i].text && c.problem[i].line >= 0);
	while ((r = console_next(&c, "storm", r)))
		rec_get(r, "run_us");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_file("console", data, size);
	fuzz_check(fuzz_run(through_console_read) == FUZZ_RETURNED);
	fuzz_text("m.topo", machine);
	fuzz_file("console", data, size);
	fuzz_check(fuzz_run(through_kit_console) == FUZZ_RETURNED);
	return 0;
}
