# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What the tests of the methods share. Load it after queue-helpers.

# git_tree: the tree and the queue of three_patches, committed; its commit is in
# $BASE.
git_tree() {
	need_tool filterdiff patchutils
	three_patches
	git -C "$T" init -q -b main
	git -C "$T" add -A
	git -C "$T" commit -q -m base
	# shellcheck disable=SC2034 # for the tests
	BASE=$(git -C "$T" rev-parse HEAD)
}

# refused TEXT ARG...: exit 7 with TEXT, and nothing has changed, not even in
# .git or .pc.
refused() {
	local before
	before=$(full_sum "$T")
	run "$APPLY" "${@:2}" 6.12 "$T"
	fails_with 7 "$1"
	[ "$(full_sum "$T")" = "$before" ] || { echo "$T has changed"; return 1; }
}

# whole: the work tree and its repository are sound and nothing of a run is left.
whole() {
	[ -z "$(git -C "$T" status --porcelain)" ]
	git -C "$T" fsck --strict --no-dangling
	[ -z "$(cd "$T" && find . -name '*kit-apply*' -o -name '*.lock')" ]
}
