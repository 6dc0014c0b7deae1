// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which patches a patch needs, or takes the place of: they must be there, and
 * in a class that can be in a tree with it.
 */
#include <stdlib.h>
#include <string.h>

#include "queue.h"

/* For each class, those of the patches that one of it may name. */
static const unsigned int needs[NR_CLASSES] = {
	[STABLE] = 1u << STABLE,
	[DISTRO] = 1u << STABLE | 1u << DISTRO,
	[EXPERIMENTAL] = 1u << STABLE | 1u << DISTRO | 1u << EXPERIMENTAL,
	[LANDED] = 1u << LANDED,
	[ALTERNATIVE] = 1u << STABLE | 1u << ALTERNATIVE,
};
static const unsigned int instead[NR_CLASSES] = {
	[ALTERNATIVE] = 1u << DISTRO | 1u << EXPERIMENTAL,
};

static bool named_before(char **names, int i)
{
	int j;

	for (j = 0; j < i; j++)
		if (!strcmp(names[j], names[i]))
			return true;
	return false;
}

static void check_names(struct lint *l, const struct queue *q,
			const struct patch *p, enum field_id f,
			const unsigned int allowed[NR_CLASSES])
{
	enum queue_class own = patch_class(p), class;
	const struct patch *other;
	char **names;
	int i, n;

	if (!field_ok(p, f))
		return;
	names = patch_names(p, f, &n);
	for (i = 0; i < n; i++) {
		other = queue_find(q, names[i]);
		class = other ? patch_class(other) : NR_CLASSES;
		if (!strcmp(names[i], p->name) || named_before(names, i))
			finding(l, p->path, p->value_line[f], "\"%s:\" names %s, %s; take the name out",
				fields[f].name, names[i],
				named_before(names, i) ? "which it has named before" : "the patch itself");
		else if (!other)
			finding(l, p->path, p->value_line[f], "\"%s:\" names %s, but there is no patches/%s/%s; correct the name",
				fields[f].name, names[i], q->lts, names[i]);
		else if (class != NR_CLASSES && own != NR_CLASSES &&
			 !(allowed[own] & 1u << class))
			finding(l, p->path, p->value_line[f], "\"%s:\" names %s of class %s, which a patch of class %s cannot do; correct the name or a class",
				fields[f].name, names[i], class_names[class], class_names[own]);
	}
	free(names);
}

void lint_needs(struct lint *l, const struct queue *q, const struct patch *p)
{
	check_names(l, q, p, F_NEEDS, needs);
	check_names(l, q, p, F_INSTEAD, instead);
}
