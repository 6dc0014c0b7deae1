// SPDX-License-Identifier: GPL-2.0-only
/* Scenario files, as kit-scenario prints them for the scripts. */
#include <string.h>

#include "fuzz.h"
#include "scenario.h"
#include "util.h"

void fuzz_start(void)
{
}

static void through_kit_scenario(void)
{
	static const char *const args[] = { "kit-scenario", "s.scn", "pair" };
	int code = fuzz_main(ARRAY_SIZE(args), args);

	fuzz_check(code == EX_OK || code == EX_USAGE);
}

/* Whoever reads KEY=VALUE lines must find what the file says, and no more. */
static void through_scenario_read(void)
{
	struct scenario s;

	scenario_read("s.scn", "pair", &s);
	fuzz_check(s.program && *s.program);
	for (size_t i = 0; i < s.nr_settings; i++) {
		fuzz_check(*s.setting[i].key && *s.setting[i].value);
		fuzz_check(!strpbrk(s.setting[i].key, "= \t\n"));
		fuzz_check(!strpbrk(s.setting[i].value, " \t\n"));
		fuzz_check(scenario_get(&s, s.setting[i].key, NULL) == s.setting[i].value);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int code;

	fuzz_file("s.scn", data, size);
	code = fuzz_run(through_scenario_read);
	fuzz_check(code == FUZZ_RETURNED || code == EX_USAGE);
	fuzz_check(code == EX_USAGE || !memchr(data, '\0', size));
	fuzz_file("s.scn", data, size);
	fuzz_check(fuzz_run(through_kit_scenario) == FUZZ_RETURNED);
	return 0;
}
