// SPDX-License-Identifier: GPL-2.0-only
/* See memory.h. A hash set of addresses; it must not allocate anything. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "memory.h"

/* Of the sanitizers' run time; gcc comes without the header that has it. */
int __sanitizer_install_malloc_and_free_hooks(
	void (*malloc_hook)(const volatile void *, size_t),
	void (*free_hook)(const volatile void *));

#define SLOTS (1 << 18)
#define GONE ((const volatile void *)1)

static const volatile void *slot[SLOTS];
static unsigned int used[SLOTS / 2];	/* the slots that are not NULL */
static unsigned int nr_used;
static __thread bool watching;

static unsigned int first_slot(const volatile void *p)
{
	return (uintptr_t)p / 16 * 2654435761u % SLOTS;
}

static void allocated(const volatile void *p, size_t size)
{
	unsigned int i;

	(void)size;
	if (!watching || !p)
		return;
	fuzz_check(nr_used < SLOTS / 2);
	for (i = first_slot(p); slot[i]; i = (i + 1) % SLOTS)
		;
	slot[i] = p;
	used[nr_used++] = i;
}

static void freed(const volatile void *p)
{
	unsigned int i;

	if (!watching || !p)
		return;
	for (i = first_slot(p); slot[i]; i = (i + 1) % SLOTS)
		if (slot[i] == p) {
			slot[i] = GONE;
			return;
		}
}

void memory_start(void)
{
	fuzz_check(__sanitizer_install_malloc_and_free_hooks(allocated, freed));
}

bool memory_watch(bool on)
{
	bool was = watching;

	watching = on;
	return was;
}

void memory_free_rest(void)
{
	for (unsigned int k = 0; k < nr_used; k++) {
		if (slot[used[k]] != GONE)
			free((void *)slot[used[k]]);
		slot[used[k]] = NULL;
	}
	nr_used = 0;
}
