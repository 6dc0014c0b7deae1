// SPDX-License-Identifier: GPL-2.0-only
/*
 * kit-scenario FILE TOPOLOGY - print what a scenario file says.
 *
 * TOPOLOGY is a topology's name, for the "on" lines. Prints KEY=VALUE lines:
 * describe, program, mask, patches, guest.KEY (for the guest's command line)
 * and host.KEY. Exit codes: 0, 2 (EX_USAGE: file wrong or not there).
 */
#include <stdlib.h>

#include "scenario.h"
#include "util.h"

static void print(const char *key, const char *value)
{
	printf("%s=%s\n", key, value ? value : "");
}

int main(int argc, char **argv)
{
	struct scenario s;

	atexit(close_stdout);
	if (argc != 3)
		die(EX_USAGE, "usage: kit-scenario FILE TOPOLOGY");
	scenario_read(argv[1], argv[2], &s);
	print("describe", s.describe);
	print("program", s.program);
	print("mask", s.mask);
	print("patches", s.patches);
	for (size_t i = 0; i < s.nr_settings; i++)
		printf("%s.%s=%s\n", s.setting[i].guest ? "guest" : "host",
		       s.setting[i].key, s.setting[i].value);
	return EX_OK;
}
