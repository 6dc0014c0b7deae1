#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# apply.sh on Debian's own trees, as they lie in the cache folder: the cases of
# apply.bats once each, with the kit's queue and code as it really is.
# shellcheck disable=SC2016,SC2030,SC2031 # lines for scripts; each test is its own

load helpers
load queue-helpers

FAIR=kernel/sched/fair.c
FIX=sched-fair-only-update-stats-for-allowed-cpus

# with_fix VERSION: whether upstream had released the fix by then.
with_fix() {
	local first
	first=$(sed -n 's/^Kit-First-Release: //p' "$KIT/patches/${1%.*}/$FIX.patch")
	[ "$(printf '%s\n' "$first" "$1" | sort -V | head -n 1)" = "$first" ]
}

# cached YES|NO: the newest tree of 6.12, else 6.1, with or without the fix.
cached() {
	local lts tree
	for lts in 6.12 6.1; do
		for tree in $(cd "$KIT_REAL_CACHE/trees" 2>/dev/null && printf '%s\n' "$lts".* | sort -rV); do
			[ -f "$KIT_REAL_CACHE/trees/$tree/$FAIR" ] || continue
			if with_fix "$tree"; then [ "$1" = yes ]; else [ "$1" = no ]; fi || continue
			echo "$tree"
			return
		done
	done
	return 1
}

# One copy for all tests: hard links, but for the files that tests change.
setup_file() {
	private_home "$BATS_FILE_TMPDIR"
	VERSION=$(cached no) || return 0
	REAL=$KIT_REAL_CACHE/trees/$VERSION
	T=$BATS_FILE_TMPDIR/linux-$VERSION
	# /tmp can be another file system, and links then cost a whole copy
	cp -al "$REAL" "$T" 2>/dev/null || { rm -rf "$T"; mkdir "$T"; cp "$REAL/Makefile" "$T/"; }
	rm -rf "$T/kernel"
	cp -a "$REAL/kernel" "$T/"
	CACHED=$(tree_sum "$REAL/kernel")
	export VERSION REAL T CACHED
}

teardown_file() {
	[ -z "${T-}" ] || [ "$(tree_sum "$REAL/kernel")" = "$CACHED" ]
}

setup() {
	need_tool filterdiff patchutils
}

# work_tree: $T and $LTS, a tree without the fix as it was unpacked.
work_tree() {
	[ -n "${T-}" ] ||
		skip "no 6.12 or 6.1 tree without the fix in the cache folder; scripts/fetch-tree.sh 6.12.95 gets one"
	export LTS=${VERSION%.*}
	rm -rf "$T/kernel/sched"
	cp -a "$REAL/kernel/sched" "$T/kernel/"
}

# own_queue: class stable of the kit's queue, in $KIT_QUEUE: what a test adds to
# it comes last in the other series too.
own_queue() {
	local series name
	export KIT_QUEUE=$BATS_TEST_TMPDIR/queue
	mkdir -p "$KIT_QUEUE/patches/$LTS" "$KIT_QUEUE/series"
	while read -r name; do
		cp -a "$KIT/patches/$LTS/$name" "$KIT_QUEUE/patches/$LTS/"
	done < <(grep '^[^#]' "$KIT/series/$LTS.stable")
	for series in stable distro experimental; do
		cp "$KIT/series/$LTS.stable" "$KIT_QUEUE/series/$LTS.$series"
	done
	: >"$KIT_QUEUE/series/$LTS.landed"
}

# add_patch NAME SCRIPT: a patch at the end of the series, made by running the
# sed SCRIPT over fair.c as the queue so far leaves it; what it comes to is in
# $BATS_TEST_TMPDIR/now.
add_patch() {
	local now=$BATS_TEST_TMPDIR/now old=$BATS_TEST_TMPDIR/old series
	if [ ! -d "$now" ]; then
		mkdir -p "$now/kernel/sched"
		cp "$REAL/$FAIR" "$now/$FAIR"
		patch -s -p1 -d "$now" <"$KIT/patches/$LTS/$FIX.patch"
	fi
	rm -rf "$old"
	cp -a "$now" "$old"
	sed -i "$2" "$now/$FAIR"
	{ header "$1" stable "$LTS.99"; plain_diff "$old" "$now"; } >"$KIT_QUEUE/patches/$LTS/$1.patch"
	for series in stable distro experimental; do echo "$1.patch" >>"$KIT_QUEUE/series/$LTS.$series"; done
}

# lines_changed: how many lines of the tree's fair.c differ from Debian's.
lines_changed() { diff "$REAL/$FAIR" "$T/$FAIR" | grep -c '^>'; }

sched_sum() { full_sum "$T/kernel/sched"; }

@test "the fix goes in on Debian's tree, one line, and comes out again" {
	work_tree
	run "$APPLY" "$LTS" "$T"
	fails_with 0 "applied 1, already there 0"
	[ "$(lines_changed)" -eq 1 ]
	grep -q 'for_each_cpu_and(i, sched_group_span(group), p->cpus_ptr)' "$T/$FAIR"
	run "$APPLY" --reverse "$LTS" "$T"
	fails_with 0 "reversed 1, not there 0"
	cmp "$T/$FAIR" "$REAL/$FAIR"
}

@test "cases 1 and 2: a point release that has the fix" {
	new=$(cached yes) || skip "no 6.12 or 6.1 tree with the fix in the cache folder; scripts/fetch-tree.sh 6.12 gets one"
	run "$APPLY" --check "${new%.*}" "$KIT_REAL_CACHE/trees/$new"
	fails_with 0 "already there: ${new%.*} has it since "
	fails_with 0 "and this tree is $new; the patch can be dropped"
	fails_with 0 "would apply 0, already there 1"
	run "$APPLY" --check --strict "${new%.*}" "$KIT_REAL_CACHE/trees/$new"
	fails_with 1 "which --strict forbids"
}

@test "a point release that has the fix gives it back, as the base side" {
	new=$(cached yes) || skip "no 6.12 or 6.1 tree with the fix in the cache folder; scripts/fetch-tree.sh 6.12 gets one"
	mkdir -p "$BATS_TEST_TMPDIR/t/kernel/sched"
	cp "$KIT_REAL_CACHE/trees/$new/Makefile" "$BATS_TEST_TMPDIR/t/"
	cp "$KIT_REAL_CACHE/trees/$new/$FAIR" "$BATS_TEST_TMPDIR/t/$FAIR"
	run "$APPLY" --reverse "${new%.*}" "$BATS_TEST_TMPDIR/t"
	fails_with 0 "reversed 1, not there 0"
	[ "$(diff "$KIT_REAL_CACHE/trees/$new/$FAIR" "$BATS_TEST_TMPDIR/t/$FAIR" | grep -c '^>')" -eq 1 ]
}

@test "case 3: a conflict names the line, half a patch is partly there" {
	work_tree
	own_queue
	add_patch two '/^static inline void update_sg_wakeup_stats/,/^}/s/int i, nr_running;/int i, nr_running, kit;/; $a/* kit */'
	sed -i 's,^static inline void update_sg_wakeup_stats,/* moved */\n&,; $a/* kit */' "$T/$FAIR"
	before=$(sched_sum)
	run "$APPLY" "$LTS" "$T"
	fails_with 1 "two.patch: partly there: $FAIR:"
	[ "$(sched_sum)" = "$before" ]
	cp "$REAL/$FAIR" "$T/$FAIR"
	sed -i '/^static inline void update_sg_wakeup_stats/,/^}/s/struct rq \*rq = cpu_rq(i);/struct rq *queue = cpu_rq(i);/' "$T/$FAIR"
	line=$(sed -n 's/^@@ -\([0-9]*\),.*/\1/p' "$KIT/patches/$LTS/$FIX.patch")
	run "$APPLY" --only "$FIX" "$LTS" "$T"
	fails_with 1 "$FIX.patch: conflict: $FAIR:$line (hunk 1 of 1) does not apply"
}

@test "case 4: a pure addition is not made twice" {
	work_tree
	own_queue
	add_patch more '/^static inline void update_sg_wakeup_stats/i /* one more line */'
	"$APPLY" "$LTS" "$T"
	run "$APPLY" "$LTS" "$T"
	fails_with 0 "applied 0, already there 2"
	[ "$(grep -c 'one more line' "$T/$FAIR")" -eq 1 ]
}

@test "case 5: the fix is found below a later change of the same line" {
	work_tree
	own_queue
	add_patch later '/^static inline void update_sg_wakeup_stats/,/^}/s/for_each_cpu_and(i, sched_group_span(group), p->cpus_ptr)/for_each_cpu_and(i, p->cpus_ptr, sched_group_span(group))/'
	cp "$BATS_TEST_TMPDIR/now/$FAIR" "$T/$FAIR"
	run "$APPLY" "$LTS" "$T"
	fails_with 0 "applied 0, already there 2"
	run "$APPLY" --reverse "$LTS" "$T"
	fails_with 0 "reversed 2, not there 0"
	cmp "$T/$FAIR" "$REAL/$FAIR"
}

@test "case 6: a second function that looks the same is refused, not guessed at" {
	work_tree
	sed -n '/^static inline void update_sg_wakeup_stats/,/^}/p' "$REAL/$FAIR" | sed '1s/wakeup/twin/' >>"$T/$FAIR"
	before=$(sched_sum)
	run "$APPLY" "$LTS" "$T"
	fails_with 1 "$FIX.patch: conflict: fits at two places, $FAIR:"
	[ "$(sched_sum)" = "$before" ]
}

@test "case 7: in a folder of another repository" {
	work_tree
	git -C "$BATS_FILE_TMPDIR" init -q
	run "$APPLY" "$LTS" "$T"
	rm -rf "$BATS_FILE_TMPDIR/.git"
	fails_with 0 "applied 1, already there 0"
	[ "$(lines_changed)" -eq 1 ]
}

@test "case 8: the second run changes nothing" {
	work_tree
	"$APPLY" "$LTS" "$T"
	before=$(sched_sum)
	run "$APPLY" "$LTS" "$T"
	fails_with 0 "applied 0, already there 1"
	[ "$(sched_sum)" = "$before" ]
}

@test "case 9: when a later patch fails, or the run is killed, the tree is as it was" {
	work_tree
	own_queue
	add_patch later '/^static inline void update_sg_wakeup_stats/,/^}/s/int i, nr_running;/int i, nr_running, kit;/'
	sed -i '/^static inline void update_sg_wakeup_stats/,/^}/s/int i, nr_running;/int i, nr_here;/' "$T/$FAIR"
	before=$(sched_sum)
	run "$APPLY" "$LTS" "$T"
	fails_with 1 "later.patch: conflict"
	[ "$(sched_sum)" = "$before" ]
	rm "$T/$FAIR"
	cp -a "$REAL/$FAIR" "$T/$FAIR"
	before=$(sched_sum)
	# killed after the file was replaced, before this was declared done
	stub "$BATS_TEST_TMPDIR/bin" mv "[ \"\${*: -1}\" != '$T/.kit-apply.done' ] || kill -9 0" "exec $(type -P mv) \"\$@\""
	PATH=$BATS_TEST_TMPDIR/bin:$PATH run setsid -w "$APPLY" "$LTS" "$T"
	[ "$status" -eq 137 ]
	[ "$(lines_changed)" -eq 2 ]
	run "$APPLY" --class landed --reverse "$LTS" "$T"
	fails_with 0 "half changed; putting it back first: 1 file(s)"
	[ "$(sched_sum)" = "$before" ]
}

@test "case 10: a misspelt series line stops it, with the repair" {
	work_tree
	own_queue
	sed -i "s/^$FIX.patch\$/\"&\"/" "$KIT_QUEUE/series/$LTS.stable"
	before=$(sched_sum)
	run "$APPLY" "$LTS" "$T"
	fails_with 2 "series/$LTS.stable:1: \"$FIX.patch\": the name is quoted; make the line: $FIX.patch"
	[ "$(sched_sum)" = "$before" ]
}

# check_cached LTS: a dry run on the newest tree of LTS that lies in the cache.
check_cached() {
	need_tree "$1"
	run "$APPLY" --check "$1" "$TREE"
	[ "$status" -eq 0 ]
	[[ $output == *"would apply 1, already there 0"* || $output == *"would apply 0, already there 1"* ]]
}

@test "a 6.6 tree, if one lies in the cache folder" { check_cached 6.6; }

@test "a 6.18 tree, if one lies in the cache folder" { check_cached 6.18; }
