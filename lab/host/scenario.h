/* SPDX-License-Identifier: GPL-2.0-only */
/* Scenario files: what the guest does and how it is judged. */
#ifndef KIT_SCENARIO_H
#define KIT_SCENARIO_H

#include <stdbool.h>
#include <stddef.h>

/* One parameter; guest ones go to the guest's command line as lab.KEY=VALUE. */
struct setting {
	char *key, *value;
	bool guest;
};

struct scenario {
	char *describe, *program, *mask, *patches, *topology, *lts, *config, *cmdline;
	/* headers of lab/kernel that the kernel of that side is built with */
	char *instrument_base, *instrument_patched;
	struct setting *setting;
	size_t nr_settings;
};

/*
 * scenario_read - read @path as it holds on the topology called @topology
 * ("on TOPOLOGY key=value" lines override). Dies with EX_USAGE and
 * "FILE:LINE: what is wrong" if the file is wrong.
 */
void scenario_read(const char *path, const char *topology, struct scenario *s);

/* The value of @key, or @fallback. */
const char *scenario_get(const struct scenario *s, const char *key,
			 const char *fallback);

#endif
