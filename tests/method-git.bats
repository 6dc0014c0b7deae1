#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# apply.sh --method git: commits, and what is refused so that none is lost.
# shellcheck disable=SC2030,SC2031 # each test is its own

load helpers
load queue-helpers

setup() {
	need_tool filterdiff patchutils
	three_patches
	git -C "$T" init -q -b main
	git -C "$T" add -A
	git -C "$T" commit -q -m base
	BASE=$(git -C "$T" rev-parse HEAD)
}

# refused TEXT: exit 7 with TEXT, and nothing has changed, not even in .git.
refused() {
	local before
	before=$(full_sum "$T")
	run "$APPLY" "${@:2}" 6.12 "$T"
	fails_with 7 "$1"
	[ "$(full_sum "$T")" = "$before" ] || { echo "$T has changed"; return 1; }
}

# whole: the tree and its repository are sound and nothing of a run is left.
whole() {
	[ -z "$(git -C "$T" status --porcelain)" ]
	git -C "$T" fsck --strict --no-dangling
	[ -z "$(cd "$T" && find . -name '*kit-apply*' -o -name '*.lock')" ]
}

@test "each patch becomes the commit that git am would have made" {
	git clone -q "$T" "$BATS_TEST_TMPDIR/am"
	run "$APPLY" 6.12 "$T"
	fails_with 0 "method git: $T is the top of a git work tree"
	fails_with 0 "applied 3, already there 0"
	same "$T/kernel" "$AFTER/kernel"
	whole
	git -C "$BATS_TEST_TMPDIR/am" am -q "$KIT_QUEUE"/patches/6.12/{one,two,three}.patch
	form='%T %an <%ae> %ad %cn <%ce>%n%B'
	git -C "$T" log --format="$form" | diff - <(git -C "$BATS_TEST_TMPDIR/am" log --format="$form")
	[ "$(git -C "$T" log -g -1 --format=%gs)" = "apply.sh: 3 patch(es)" ]
}

@test "a second run finds all there and makes no commit" {
	"$APPLY" 6.12 "$T"
	head=$(git -C "$T" rev-parse HEAD)
	sum=$(full_sum "$T")
	run "$APPLY" 6.12 "$T"
	fails_with 0 "applied 0, already there 3"
	[ "$(git -C "$T" rev-parse HEAD)" = "$head" ]
	[ "$(full_sum "$T")" = "$sum" ]
}
