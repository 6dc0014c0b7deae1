#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# The chain on kernels that Debian does not package, where a tree lies in the
# cache folder.

load helpers
load chain-helpers

# The oldest release that lies there: the one that needs the fix, if any does.
prove() {
	use_real_cache
	need_tree "$1"
	TREE=$(printf '%s\n' "$KIT_CACHE/trees/$1".* | sort -V | head -n 1)
	verify --tree "$TREE" "$1"
	[ "$status" -eq 0 ]
	at_most "$(result .metrics.used.base.median)" 50
	at_least "$(result .metrics.used.patched.median)" 97
}

@test "6.6: the fix is proved on the tree in the cache folder" {
	prove 6.6
}

@test "6.18: the fix is proved on the tree in the cache folder" {
	prove 6.18
}
