/* SPDX-License-Identifier: GPL-2.0-only */
/* The system calls that killat stops at; see killat.c. */
#ifndef KIT_KILLAT_H
#define KIT_KILLAT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct call;

/* find_call - the entry of system call @nr, or NULL if it changes nothing. */
const struct call *find_call(long nr);
const char *call_name(const struct call *c);

/* call_count_arg - the argument of @c with the bytes to write, -1 if none. */
int call_count_arg(const struct call *c);

/* call_nr - the number of the @i-th call that changes something, -1 after the last. */
long call_nr(unsigned int i);

/*
 * call_target - what the stopped thread @pid is about to change with @c.
 * Returns the path, or "path -> path" for a rename or link, if one of them is
 * one of @below (absolute, without links, NULL-terminated) or lies below one;
 * NULL if none is, or if the arguments (@args, as the kernel got them) change
 * nothing. The caller frees it.
 */
char *call_target(pid_t pid, const struct call *c, const uint64_t *args,
		  char *const *below);

#endif
