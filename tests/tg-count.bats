#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# lab/kernel/tg-count.h counts every write to the load of a task group: it is
# compiled here against stand-ins for the kernel's headers, and held against what
# the patches and the trees write with.

load helpers

HEADER=$KIT/lab/kernel/tg-count.h

# kernel_headers: DIR/linux/*.h, the least that the header needs. Two CPUs, one a
# node; the counters' nodes are told by their place in memory.
kernel_headers() {
	local name
	mkdir linux
	for name in atomic cpumask mm moduleparam percpu topology; do
		printf '#include "kernel.h"\n' >"linux/$name.h"
	done
	cat >linux/kernel.h <<-'EOF'
		#pragma once
		#include <stdio.h>
		#define PAGE_SIZE 4096
		#define READ_ONCE(x) (x)
		#define scnprintf snprintf
		typedef struct { long n; } atomic_long_t;
		static inline void atomic_long_add(long i, atomic_long_t *v) { v->n += i; }
		static inline void atomic_long_sub(long i, atomic_long_t *v) { v->n -= i; }
		static int this_cpu;
		static atomic_long_t counter[2];
		#define numa_node_id() this_cpu
		#define virt_to_page(v) (v)
		#define page_to_nid(v) ((int)((v) - counter))
		#define for_each_possible_cpu(cpu) for (cpu = 0; cpu < 2; cpu++)
		#define DEFINE_PER_CPU(type, name) type name##_of[2]
		#define count_kit_tg_writes kit_tg_writes_of[this_cpu]
		#define __this_cpu_inc(x) count_##x++
		#define per_cpu_ptr(p, cpu) (&kit_tg_writes_of[cpu])
		struct kernel_param { int none; };
		struct kernel_param_ops { int (*get)(char *, const struct kernel_param *); };
		#define module_param_cb(name, ops, arg, mode) \
			static const struct kernel_param_ops *const name##_ops = ops
	EOF
}

# count PROGRAM-TEXT: what the parameter says after it has run.
count() {
	printf '%s\n' 'int main(void) {' 'static char text[PAGE_SIZE];' "$1" \
		'tg_writes_ops->get(text, 0); fputs(text, stdout);' \
		'return printf("%ld %ld\n", counter[0].n, counter[1].n) < 0; }' >fair.c
	cc -std=gnu11 -Wall -Werror -I. -include "$HEADER" -o fair fair.c
	./fair
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	kernel_headers
}

@test "nothing is counted where nothing is written" {
	[ "$(count '')" = $'0 0 0\n1 0 0\n0 0' ]
}

@test "what is added to a group's load is counted by node and CPU, and is added" {
	[ "$(count 'atomic_long_add(5, &counter[0]); this_cpu = 1; atomic_long_add(7, &counter[0]);
		atomic_long_add(2, &counter[0]); atomic_long_add(1, &counter[1]);')" = \
		$'0 1 0\n1 1 2\n14 1' ]
}

@test "what is taken from a group's load is counted too, and is taken" {
	[ "$(count 'atomic_long_sub(5, &counter[1]); this_cpu = 1; atomic_long_sub(7, &counter[1]);')" = \
		$'0 0 1\n1 1 0\n0 -12' ]
}

# writers FILE...: the functions that these write an atomic long with.
writers() {
	grep -ohE 'atomic_long_[a-z_]+\(' -- "$@" | sort -u | grep -vE '_(read|set)\(' || :
}

# counted: the functions that the header counts.
counted() { sed -n 's/^#define \(atomic_long_[a-z_]*(\).*/\1/p' "$HEADER"; }

@test "no patch writes to a group's load in a way that is not counted" {
	local new
	grep -h '^+' "$KIT"/patches/*/*.patch >added
	new=$(comm -23 <(writers added) <(counted | sort))
	[ -z "$new" ] || { printf 'not counted: %s\n' "$new"; return 1; }
	[ "$(writers added | wc -l)" -eq 2 ]
}

@test "in fair.c of each tree at hand nothing else is written, and all is counted" {
	local lts some=''
	for lts in 6.1 6.6 6.12 6.18; do
		for tree in "$KIT_REAL_CACHE/trees/$lts".*; do
			[ -f "$tree/kernel/sched/fair.c" ] || continue
			some=yes
			[ -z "$(comm -23 <(writers "$tree/kernel/sched/fair.c") <(counted | sort))" ]
			[ -z "$(grep -E 'atomic_long_(add|sub)\(' "$tree/kernel/sched/fair.c" |
				grep -vE '&cfs_rq->tg->load_avg\)|this_node_load\(')" ]
		done
	done
	[ -n "$some" ] || skip "no tree in the cache folder"
}
