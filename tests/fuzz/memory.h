/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The tools leave it to the end of the process to free what they read, so a
 * fuzzer that calls them a million times runs out of memory, and LeakSanitizer
 * has nothing to say. Here is who plays the end of the process.
 */
#ifndef KIT_FUZZ_MEMORY_H
#define KIT_FUZZ_MEMORY_H

#include <stdbool.h>

void memory_start(void);

/*
 * From now on take note of (or no more of) what this thread allocates. Returns
 * what held before.
 */
bool memory_watch(bool on);

/* Free what was noted and is not freed yet. */
void memory_free_rest(void);

#endif
