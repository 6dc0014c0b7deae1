#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# tests/wake-decides.sh: what the two wakee patches decide, in every LTS with a tree at
# hand, and that a mistake in one of them is found.

load helpers

FLIPS=sched-fair-count-flips-of-a-heavy-waker-for-its-wakees.patch
WIDE=sched-fair-go-wide-for-wakees-with-few-flips.patch

# each_tree COMMAND: with an LTS and a copy of its fair.c at hand.
each_tree() {
	local tree lts some=
	for tree in "$KIT_REAL_CACHE"/trees/*; do
		lts=$(basename "$tree") lts=${lts%.*}
		[ -f "$tree/kernel/sched/fair.c" ] && [ -d "$KIT/patches/$lts" ] || continue
		some=yes
		rm -rf kernel
		mkdir -p kernel/sched
		cp "$tree/kernel/sched/fair.c" kernel/sched/
		"$1" "$lts" || { echo "in $tree"; return 1; }
	done
	[ -n "$some" ] || skip "no tree in the cache folder"
}

take() { patch -s -p1 <"$KIT/patches/$1/$2"; }
decides() { "$KIT/tests/wake-decides.sh" kernel/sched/fair.c "$@"; }

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	need_tool patch patch
}

as_the_headers_say() {
	decides && take "$1" "$FLIPS" && decides "$FLIPS" && take "$1" "$WIDE" && decides "$FLIPS" "$WIDE"
}

@test "without the patches, with the first, and with both they decide as is said" {
	each_tree as_the_headers_say
}

# is_wrong NAME...: with these patches said to be in, something is wrong.
is_wrong() {
	run decides "$@"
	[ "$status" -eq 1 ] && [[ $output == *", expected "* ]]
}

one_is_missing() {
	is_wrong "$FLIPS" && is_wrong "$WIDE" && take "$1" "$FLIPS" &&
		is_wrong && is_wrong "$FLIPS" "$WIDE" && take "$1" "$WIDE" && is_wrong "$FLIPS" && is_wrong "$WIDE"
}

@test "a patch that is missing, or too many, is wrong" {
	each_tree one_is_missing
}

every_change() {
	local name what file n=0
	take "$1" "$FLIPS"
	take "$1" "$WIDE"
	cp kernel/sched/fair.c whole
	while IFS=$'\t' read -r name what file; do
		[ "$name" = "$FLIPS" ] || [ "$name" = "$WIDE" ] || continue
		sed -E -- "${file#* }" whole >kernel/sched/fair.c
		is_wrong "$FLIPS" "$WIDE" || { echo "not found: $what"; return 1; }
		n=$((n + 1))
	done < <(grep -v '^#' "$KIT/tests/mutants/changes")
	[ "$n" -ge 4 ]
}

@test "each change that tests/mutants/changes makes in them is wrong" {
	each_tree every_change
}

@test "a source without the functions, and one that does not compile, are told apart" {
	echo 'int main(void);' >none.c
	run "$KIT/tests/wake-decides.sh" none.c
	[ "$status" -eq 2 ]
	[[ $output == *"none.c has no record_wakee() and wake_wide()"* ]]
	printf 'static void record_wakee(void)\n{\n\toops\n}\nstatic int wake_wide(void)\n{\n}\n' >bad.c
	run "$KIT/tests/wake-decides.sh" bad.c
	[ "$status" -eq 3 ]
	run "$KIT/tests/wake-decides.sh"
	[ "$status" -eq 2 ]
}
