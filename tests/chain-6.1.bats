#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# The whole chain on Debian's 6.1, in a release that needs the fix, and what
# must fail there does.

load helpers
load chain-helpers

setup() {
	real_tree 6.1 6.1.176 6.1.170
	[ "${TREE##*/6.1.}" -lt 178 ] || skip "no 6.1 before 6.1.178 can be had: ${TREE##*/} has the fix"
}

@test "6.1: without the fix most allowed CPUs idle, with it all are used" {
	before=$(find "$TREE" -printf '%P %T@ %s\n' | sort | sha256sum)
	verify --tree "$TREE" 6.1
	[ "$status" -eq 0 ]
	at_most "$(result .metrics.used.base.median)" 50
	at_least "$(result .metrics.used.patched.median)" 97
	at_most "$(result .metrics.cov.patched.median)" 2
	[ "$(result '.base | length')" -ge 5 ]
	[ "$(result '.patched[0].samples | length')" -ge 12 ]
	[ "$(result '[.base[].samples[].parent] | unique | length')" -ge 4 ]
	[ "$before" = "$(find "$TREE" -printf '%P %T@ %s\n' | sort | sha256sum)" ]
}

@test "6.1: a second run gives the same results, byte for byte but for the times" {
	verify --seeds 2 --tree "$TREE" 6.1
	[ "$status" -eq 0 ]
	jq 'del(.times)' "$OUT/results.json" >"$BATS_TEST_TMPDIR/first"
	verify --seeds 2 --tree "$TREE" 6.1
	[ "$status" -eq 0 ]
	jq 'del(.times)' "$OUT/results.json" | cmp - "$BATS_TEST_TMPDIR/first"
	mv "$OUT" "$BATS_TEST_TMPDIR/moved folder"
	run "$BATS_TEST_TMPDIR/moved folder/rerun.sh" base-1 patched-2
	[ "$status" -eq 0 ]
	[[ $output == *"base-1: identical"*"patched-2: identical"* ]]
}

@test "6.1: on a machine of one node no difference is measurable" {
	verify --seeds 2 --tree "$TREE" --topology uma 6.1
	[ "$status" -eq 0 ]
	[ "$(result .metrics.used.outcome)" = no-difference ]
}

@test "6.1: a mask inside one socket of turin20 shows no difference either" {
	verify --seeds 2 --tree "$TREE" --topology turin20 --scenario affinity-fork-one-socket 6.1
	[ "$status" -eq 0 ]
	[ "$(result .metrics.used.outcome)" = no-difference ]
}

@test "mutant: the walk over all CPUs again, by another spelling, is found out" {
	mutate 6.1 's/^+\tfor_each_cpu_and(i, .*$/+\tfor_each_cpu_and(i, sched_group_span(group), cpu_possible_mask) {/'
	verify --seeds 2 --tree "$TREE" 6.1
	[ "$status" -eq 1 ]
	[ "$(result .metrics.used.outcome)" = no-difference ]
}

@test "mutant: counting the forbidden CPUs instead is found out" {
	mutate 6.1 's/^+\tfor_each_cpu_and(i, .*$/+\tfor_each_cpu_andnot(i, sched_group_span(group), p->cpus_ptr) {/'
	verify --seeds 2 --tree "$TREE" 6.1
	[ "$status" -eq 1 ]
	[[ $(result .metrics.used.outcome) == @(worse|no-difference) ]]
}

# The idle task may run on CPU 0 only: better than nothing, but not the fix.
@test "mutant: the mask of another task does not reach the goals" {
	mutate 6.1 's/^+\tfor_each_cpu_and(i, .*$/+\tfor_each_cpu_and(i, sched_group_span(group), init_task.cpus_ptr) {/'
	verify --seeds 2 --tree "$TREE" 6.1
	[ "$status" -eq 1 ]
	at_most "$(result .metrics.used.patched.median)" 96.99
	[ "$(result '[.checks[] | select(.ok | not)] | length')" -ge 1 ]
}

@test "mutant: a patch that changes nothing is refused, not compared" {
	mutate 6.1 's/^+\tfor_each_cpu_and(i, .*$/+\tfor_each_cpu(i, (sched_group_span(group))) {/'
	verify --seeds 2 --tree "$TREE" 6.1
	[ "$status" -eq 1 ]
	[[ $output == *"the same kernel"* ]]
}

@test "a patch that does not build is the patch's failure, with its name" {
	mutate 6.1 's/p->cpus_ptr) {$/p->no_such_member) {/'
	verify --seeds 2 --tree "$TREE" 6.1
	[ "$status" -eq 3 ]
	[[ $output == *sched-fair-only-update-stats-for-allowed-cpus.patch* ]]
	[[ $output == *no_such_member* ]]
}

@test "a new warning in a touched file is a failure" {
	mutate 6.1 's/^@@ \(.*\),7 +\(.*\),7 @@/@@ \1,7 +\2,8 @@/; s/^+\tfor_each_cpu_and/+\tint kit_unused;\n&/'
	verify --seeds 2 --tree "$TREE" 6.1
	[ "$status" -eq 3 ]
	[[ $output == *"new warning"*kit_unused* ]]
}
