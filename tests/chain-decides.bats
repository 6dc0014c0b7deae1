#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# tests/decides.sh: what the functions that the queue changes decide, in every LTS with
# a tree at hand, after each patch; and that a mistake in one of them is found.

load helpers
# shellcheck disable=SC2030,SC2031 # what run sets is read in the same test

FLIPS=sched-fair-count-flips-of-a-heavy-waker-for-its-wakees.patch
WIDE=sched-fair-go-wide-for-wakees-with-few-flips.patch
ALTERNATIVE=sched-fair-keep-tg-load_avg-per-node-without-rate-limit.patch

# each_tree COMMAND: with an LTS, IN with what its tree has, and a copy of its sources
# at hand.
each_tree() {
	local tree version some=
	for tree in "$KIT_REAL_CACHE"/trees/*; do
		version=$(basename "$tree") LTS=${version%.*}
		[ -f "$tree/kernel/sched/fair.c" ] && [ -d "$KIT/patches/$LTS" ] || continue
		some=yes
		rm -rf kernel
		mkdir -p kernel/sched
		cp "$tree"/kernel/sched/*.[ch] kernel/sched/
		mapfile -t IN < <(landed_in "$LTS" "$version")
		"$1" || { echo "in $version"; return 1; }
	done
	[ -n "$some" ] || skip "no tree in the cache folder"
}

# queue CLASS: those of it that the tree does not have.
queue() {
	"$KIT_BIN/kit-queue" --queue "$KIT_QUEUE" list --class "$1" "$LTS" 2>/dev/null | cut -f1 | grep -vxF "$(printf '%s\n' none "${IN[@]}")"
}

take() { patch -s -p1 <"$KIT/patches/$LTS/$1" && IN+=("$1"); }
decides() { "$KIT/tests/decides.sh" kernel/sched/fair.c "$@"; }

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	need_tool patch patch
	export KIT_BIN=$KIT/build/bin KIT_QUEUE=$KIT
	# shellcheck source=tests/queue-one.bash
	. "$KIT/tests/queue-one.bash"
}

# take_all CLASS...: each in turn; STEP, a command, after each.
take_all() {
	local class name
	for class; do
		for name in $(queue "$class"); do
			take "$name" && ${STEP-} || { echo "after $name"; return 1; }
		done
	done
}

right() { decides "${IN[@]}"; }

as_the_headers_say() {
	local STEP=right
	right && take_all distro experimental && [[ " ${IN[*]} " == *" $FLIPS $WIDE "* ]]
}

@test "without the patches, and after each, the functions decide as is said" {
	each_tree as_the_headers_say
}

@test "so they do with the alternative" {
	each_tree alternative_too
}

alternative_too() {
	local STEP=right
	[ ! -f "$KIT/patches/$LTS/$ALTERNATIVE" ] || { take_all alternative && [ "${IN[-1]}" = "$ALTERNATIVE" ]; }
}

# is_wrong NAME...: with these patches said to be in, something is wrong.
is_wrong() {
	run "$KIT/tests/decides.sh" --first kernel/sched/fair.c "$@"
	[ "$status" -eq 1 ] && [[ $output == *", expected "* || $output == *"the functions crash"* ]]
}

# What is said to be in is not. Where a patch brings functions, there is nothing to
# compile without it.
said_too_much() {
	local name
	for name in $(queue distro) "$FLIPS" "$WIDE"; do
		[[ $name == sched-fair-* && $name != *only-update-stats* && $name != *offlining* ]] || continue
		is_wrong "${IN[@]}" "$name" || { echo "not missed: $name"; return 1; }
	done
}

@test "a patch that is missing is wrong" {
	each_tree said_too_much
}

said_too_little() {
	local name
	take_all distro experimental || return
	for name in "${IN[@]}"; do
		grep -qE 'ratelimit|offlining|stalled|fair-(count|go)' <<<"$name" || continue
		mapfile -t rest < <(printf '%s\n' "${IN[@]}" | grep -vxF "$name")
		is_wrong "${rest[@]}" || { echo "not noticed: $name"; return 1; }
	done
}

@test "a patch too many is wrong" {
	each_tree said_too_little
}

# Of the per-node patches the alternative has the same changes.
every_change() {
	local name what file how n=0
	take_all distro experimental || return
	cp -r kernel whole
	while IFS=$'\t' read -r name what file; do
		how=${file#* } file=${file%% *}
		[[ $file =~ (fair|core).c$ && " ${IN[*]} " == *" $name "* && $name != *only-update-stats* && $name != *fix-unbalance* ]] || continue
		sed -E -- "$how" "whole/${file#*/}" >"$file"
		! cmp -s "whole/${file#*/}" "$file" || continue
		is_wrong "${IN[@]}" || { echo "not found: $what"; return 1; }
		cp "whole/${file#*/}" "$file"
		n=$((n + 1))
	done < <(grep -v '^#' "$KIT/tests/mutants/changes")
	[ "$n" -ge 30 ] && rm -r whole
}

@test "each change that tests/mutants/changes makes in the functions is wrong" {
	each_tree every_change
}

@test "a source without the functions, and one that does not compile, are told apart" {
	echo 'int main(void);' >none.c
	run "$KIT/tests/decides.sh" none.c
	[ "$status" -eq 2 ]
	[[ $output == *"none.c has no update_tg_load_avg()"* ]]
	run "$KIT/tests/decides.sh" missing.c
	[ "$status" -eq 2 ]
	for f in update_tg_load_avg calc_group_shares cfs_rq_is_decayed; do
		printf 'static void %s(void)\n{\n\toops\n}\n' $f
	done >bad.c
	run "$KIT/tests/decides.sh" bad.c
	[ "$status" -eq 3 ]
	run "$KIT/tests/decides.sh"
	[ "$status" -eq 2 ]
}

never_ends() {
	[ -z "${ENDED-}" ] || return 0 # one tree is enough: it waits for seconds
	ENDED=yes
	sed -i '/cfs_rq_is_decayed(.*)$/,/^{/s/^{/{\n\tfor (;;)\n\t\t;/' kernel/sched/fair.c
	run decides "${IN[@]}"
	[ "$status" -eq 1 ] && [[ $output == *"the functions do not come to an end"* ]]
}

@test "functions that do not come to an end are wrong" {
	each_tree never_ends
}
