// SPDX-License-Identifier: GPL-2.0-only
/* kit-scenario: what a scenario file says, for scripts; see --help. */
#include <stdlib.h>
#include <string.h>

#include "scenario.h"
#include "util.h"

static const char help[] =
"usage: kit-scenario FILE TOPOLOGY\n"
"\n"
"Prints what a scenario file says as KEY=VALUE lines: describe, program, mask,\n"
"patches, topology, lts, config, cmdline, instrument.base, instrument.patched,\n"
"guest.KEY (for the guest's command line) and host.KEY. TOPOLOGY is a topology's\n"
"name, for the \"on\" lines. Exit: 0 done, 2 wrong arguments, or the\n"
"file is wrong or not there (FILE:LINE is named on stderr), 6 disk full.\n";

static void print(const char *key, const char *value)
{
	printf("%s=%s\n", key, value ? value : "");
}

int main(int argc, char **argv)
{
	struct scenario s;

	atexit(close_stdout);
	if (argc == 2 && !strcmp(argv[1], "--help")) {
		fputs(help, stdout);
		return EX_OK;
	}
	if (argc != 3)
		die(EX_USAGE, "usage: kit-scenario FILE TOPOLOGY; --help says more");
	scenario_read(argv[1], argv[2], &s);
	print("describe", s.describe);
	print("program", s.program);
	print("mask", s.mask);
	print("patches", s.patches);
	print("topology", s.topology);
	print("lts", s.lts);
	print("config", s.config);
	print("cmdline", s.cmdline);
	print("instrument.base", s.instrument_base);
	print("instrument.patched", s.instrument_patched);
	for (size_t i = 0; i < s.nr_settings; i++)
		printf("%s.%s=%s\n", s.setting[i].guest ? "guest" : "host",
		       s.setting[i].key, s.setting[i].value);
	return EX_OK;
}
