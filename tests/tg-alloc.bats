#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# lab/kernel/tg-alloc.h counts all memory of task groups: it is compiled here
# against stand-ins for the kernel's headers, and held against what the patches and
# the trees allocate with.

load helpers

HEADER=$KIT/lab/kernel/tg-alloc.h

# kernel_headers: DIR/linux/*.h, the least that the header needs.
kernel_headers() {
	local name
	mkdir linux
	for name in atomic kernel moduleparam slab; do
		printf '#include "all.h"\n' >"linux/$name.h"
	done
	cat >linux/all.h <<-'EOF'
		#pragma once
		#include <stdbool.h>
		#include <stdio.h>
		#include <stdlib.h>
		#define PAGE_SIZE 4096
		#define __GFP_ZERO 1
		#define GFP_KERNEL 2
		#define scnprintf snprintf
		#define kstrtoint(text, base, n) (*(n) = atoi(text), 0)
		typedef struct { int n; } atomic_t;
		typedef struct { long n; } atomic_long_t;
		#define ATOMIC_INIT(i) { i }
		#define ATOMIC_LONG_INIT(i) { i }
		#define atomic_read(v) ((v)->n)
		#define atomic_set(v, i) ((v)->n = (i))
		#define atomic_long_read(v) ((v)->n)
		#define atomic_long_inc(v) ((v)->n++)
		#define atomic_long_dec(v) ((v)->n--)
		static inline int atomic_dec_if_positive(atomic_t *v) { return v->n > 0 ? --v->n : v->n - 1; }
		static inline void *kmalloc_array(size_t n, size_t size, int flags)
		{ return flags & __GFP_ZERO ? calloc(n, size) : NULL; }
		static inline void *kmalloc_node(size_t size, int flags, int node)
		{ return node == 3 ? kmalloc_array(1, size, flags) : NULL; }
		static inline void kfree(const void *p) { free((void *)p); }
		struct kernel_param { int none; };
		struct kernel_param_ops {
			int (*set)(const char *, const struct kernel_param *);
			int (*get)(char *, const struct kernel_param *);
		};
		#define module_param_cb(name, ops, arg, mode) \
			static const struct kernel_param_ops *const name##_ops = ops
	EOF
}

# after PROGRAM-TEXT: what tg_objects and tg_fail say when it has run.
after() {
	printf '%s\n' 'int main(void) {' 'static char text[PAGE_SIZE]; void *p[9] = { 0 };' "$1" \
		'(void)p; tg_objects_ops->get(text, 0); fputs(text, stdout);' \
		'tg_fail_ops->get(text, 0); return fputs(text, stdout) < 0; }' >fair.c
	cc -std=gnu11 -Wall -Werror -I. -include "$HEADER" -o fair fair.c
	./fair | paste -sd ' '
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	kernel_headers
}

@test "what is allocated counts until it is freed, and freeing nothing does not" {
	[ "$(after '')" = "0 0" ]
	[ "$(after 'p[0] = kcalloc(2, 8, GFP_KERNEL); p[1] = kzalloc_node(8, GFP_KERNEL, 3);')" = "2 0" ]
	[ "$(after 'p[0] = kcalloc(2, 8, GFP_KERNEL); p[1] = kzalloc_node(8, GFP_KERNEL, 3);
		kfree(p[1]); kfree(p[2]);')" = "1 0" ]
}

@test "an allocation that fails by itself does not count" {
	[ "$(after 'p[0] = kzalloc_node(8, GFP_KERNEL, 1);')" = "0 0" ]
}

@test "the allocation that is asked for fails, and no other" {
	local three='for (int i = 0; i < 3; i++) p[i] = i % 2 ? kzalloc_node(8, GFP_KERNEL, 3) :
		kcalloc(1, 8, GFP_KERNEL);'
	[ "$(after "tg_fail_ops->set(\"1\", 0); $three if (p[0] || !p[1] || !p[2]) return 1;")" = "2 0" ]
	[ "$(after "tg_fail_ops->set(\"2\", 0); $three if (!p[0] || p[1] || !p[2]) return 1;")" = "2 0" ]
	[ "$(after "tg_fail_ops->set(\"5\", 0); $three if (!p[0] || !p[1] || !p[2]) return 1;")" = "3 2" ]
	[ "$(after "tg_fail_ops->set(\"1\", 0); tg_fail_ops->set(\"0\", 0); $three")" = "3 0" ]
}

# allocators FILE...: the functions that these allocate and free with.
allocators() {
	grep -ohE '\<(k[a-z_]*(alloc|free)[a-z_]*|alloc_percpu|free_percpu)\(' -- "$@" | sort -u
}

# known: what the header counts, and what the trees use for NUMA balancing.
known() {
	sed -n 's/^#define \(k[a-z_]*(\).*/\1/p' "$HEADER"
	printf '%s(\n' kzalloc kfree_rcu
}

@test "no patch allocates or frees in a way that is not counted" {
	grep -h '^+' "$KIT"/patches/*/*.patch >added
	[ -z "$(comm -23 <(allocators added) <(known | sort))" ]
	[ "$(allocators added | paste -sd ' ')" = "kcalloc( kfree( kzalloc_node(" ]
}

@test "in fair.c of each tree at hand a group's memory is all counted" {
	local lts tree some=''
	for lts in 6.1 6.6 6.12 6.18; do
		for tree in "$KIT_REAL_CACHE/trees/$lts".*; do
			[ -f "$tree/kernel/sched/fair.c" ] || continue
			some=yes
			[ -z "$(comm -23 <(allocators "$tree/kernel/sched/fair.c") <(known | sort))" ]
		done
	done
	[ -n "$some" ] || skip "no tree in the cache folder"
}
