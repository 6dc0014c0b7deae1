// SPDX-License-Identifier: GPL-2.0-only
/* The load of a task group, as /sys/kernel/debug/sched/debug has it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guest.h"
#include "cgroup.h"

#define DEBUG_FILE "/sys/kernel/debug/sched/debug"
#define LISTED_TRIES 100
#define LISTED_US 10000

/* "  .tg_load_avg      : 123"; false if the line is about something else. */
static bool value_of(const char *line, const char *name, long *value)
{
	const char *p = line + strspn(line, " .");
	size_t len = strlen(name);
	char *end;

	if (strncmp(p, name, len) || (p[len] != ' ' && p[len] != ':'))
		return false;
	p = strchr(p, ':');
	if (!p)
		return false;
	*value = strtol(p + 1, &end, 10);
	return end != p + 1;
}

/* "cfs_rq[3]:/a": whether it begins the part about @path. */
static bool begins(const char *line, const char *path)
{
	const char *p = strchr(line, ':');

	return p && !strncmp(p + 1, path, strlen(path)) && p[1 + strlen(path)] == '\n';
}

static void read_once(const char *path, struct tg_load *t)
{
	FILE *f = fopen(DEBUG_FILE, "re");
	int loads = 0, contribs = 0;
	bool inside = false;
	char line[512];
	long value;

	if (!f)
		fail("cannot read " DEBUG_FILE ": %s", strerror(errno));
	memset(t, 0, sizeof(*t));
	while (fgets(line, sizeof(line), f)) {
		if (!strncmp(line, "cfs_rq[", 7)) {
			inside = begins(line, path);
			t->listed += inside;
		} else if (line[0] != ' ') {
			inside = false;
		} else if (inside && value_of(line, "tg_load_avg_contrib", &value)) {
			t->contrib += value;
			contribs++;
		} else if (inside && value_of(line, "tg_load_avg", &value)) {
			t->load = value;
			loads++;
		}
	}
	if (ferror(f))
		fail("cannot read " DEBUG_FILE " to its end");
	fclose(f);
	if (loads != t->listed || contribs != t->listed)
		fail("the load of %s is not in " DEBUG_FILE ": %d cfs_rqs, %d loads, %d contributions",
		     path, t->listed, loads, contribs);
}

/* On a slow kernel, as with debug options, the first task may not have run yet. */
void tg_load_read(const char *path, struct tg_load *t)
{
	for (int i = 0; i < LISTED_TRIES; i++) {
		read_once(path, t);
		if (t->listed)
			return;
		sleep_us(LISTED_US);
	}
	fail("the load of %s is not in " DEBUG_FILE ": no cfs_rq is listed", path);
}
