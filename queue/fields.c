// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rules of patch headers, as data. A new tag is one line here and one
 * name in enum field_id.
 */
#include <string.h>

#include "queue.h"

#define ALL		((1u << NR_CLASSES) - 1)
#define OURS		(1u << EXPERIMENTAL | 1u << ALTERNATIVE)
#define UPSTREAM	(ALL & ~OURS)
#define NONE		0u
#define WHO		"^[^<>@]*[^<>@ ] <[^<>@ ]+@[^<>@ ]+>$"
#define WHEN		"^((Mon|Tue|Wed|Thu|Fri|Sat|Sun), )?[0-9]{1,2} " \
	"(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [0-9]{4} " \
	"[0-2][0-9]:[0-5][0-9]:[0-6][0-9] [+-][0-9]{4}$"
#define NAMES		"^[^, ]+\\.patch(, [^, ]+\\.patch)*$"

const struct field fields[NR_FIELDS] = {
	[F_FROM] = { "From", true, WHO, ALL, ALL,
		"Name <user@host>" },
	[F_DATE] = { "Date", true, WHEN, ALL, ALL,
		"Sat, 11 Oct 2025 06:43:22 +0000" },
	[F_SUBJECT] = { "Subject", true, "^[^[ ].*[^ ]$", ALL, ALL,
		"subsystem: What changes, without [PATCH]" },
	[F_UPSTREAM] = { "Kit-Upstream-Commit", false, "^[0-9a-f]{40}$",
		UPSTREAM, UPSTREAM, "40 hex digits" },
	[F_MAINLINE] = { "Kit-Mainline-Version", false,
		"^v[0-9]+\\.[0-9]+(-rc[0-9]+)?$",
		UPSTREAM, UPSTREAM, "v6.19-rc1" },
	[F_FIRST] = { "Kit-First-Release", false,
		"^(none|[0-9]+\\.[0-9]+\\.[0-9]+)$",
		UPSTREAM, UPSTREAM, "6.12.97, or none" },
	[F_CLASS] = { "Kit-Class", false,
		"^(stable|distro|experimental|landed|alternative)$",
		ALL, ALL, "stable, distro, experimental, landed or alternative" },
	[F_SOURCE] = { "Kit-Source", false, "^[^<> ]+@[^<> ]+$",
		NONE, OURS, "the Message-Id of the posting, without <>" },
	[F_NEEDS] = { "Kit-Needs", false, NAMES,
		NONE, ALL, "one.patch, two.patch" },
	[F_INSTEAD] = { "Kit-Instead-Of", false, NAMES,
		1u << ALTERNATIVE, 1u << ALTERNATIVE, "one.patch, two.patch" },
};

const char *const class_names[NR_CLASSES] = {
	"stable", "distro", "experimental", "landed", "alternative",
};

enum queue_class class_by_name(const char *name)
{
	int c;

	for (c = 0; c < NR_CLASSES; c++)
		if (!strcmp(name, class_names[c]))
			break;
	return c;
}

unsigned int class_list(const char *text)
{
	unsigned int set = 0;
	char *copy = xstrdup(text), *rest = copy, *name;
	enum queue_class c;

	if (!strcmp(text, "all"))
		return ALL & ~(1u << LANDED | 1u << ALTERNATIVE);
	while ((name = strsep(&rest, ","))) {
		c = class_by_name(name);
		if (c == NR_CLASSES)
			die(EX_USAGE, "no class \"%s\"; there are stable, distro, experimental, landed and alternative, or all for the first three", name);
		set |= 1u << c;
	}
	return set;
}
