#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# x86_64: a cold build takes ten minutes on two cores, so these run where one
# was made before, or where KIT_TEST_ALL is set.

load helpers
load chain-helpers

setup() {
	real_tree 6.1 6.1.176 6.1.170
	compgen -G "$KIT_CACHE/work/${TREE##*/}-*/obj-x86_64-*/.config" >/dev/null || [ -n "${KIT_TEST_ALL:-}" ] ||
		skip "no x86_64 kernel was built here before; KIT_TEST_ALL=1 builds one (ten minutes)"
}

@test "x86_64: base and patched boot cleanly on two nodes" {
	verify --arch x86_64 --topology flat2 --scenario boot --tree "$TREE" 6.1
	[ "$status" -eq 0 ]
}

@test "x86_64: the fix shows on pair, and the result is marked as not reproducible" {
	verify --arch x86_64 --seeds 2 --tree "$TREE" 6.1
	[ "$status" -eq 0 ]
	[ "$(result .reproducible)" = false ]
	[ "$(result .metrics.used.outcome)" = improved ]
}
