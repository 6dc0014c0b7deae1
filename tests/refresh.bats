#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# refresh.sh: the queue carried to a newer point release.

setup() {
	load helpers
	load queue-helpers
	need_tool quilt quilt
	REFRESH=$KIT/scripts/refresh.sh
	three_patches
	P=$KIT_QUEUE/patches/6.12 S=$KIT_QUEUE/series
}

# release VERSION [SED]: $T becomes that release, ten lines longer at its top.
release() {
	sed -i "s/^SUBLEVEL.*/SUBLEVEL = ${1##*.}/" "$T/Makefile"
	seq -f 'int new%02g;' 1 10 | sed -i '1{
		r /dev/stdin
		N
	}' "$T/kernel/sched/fair.c"
	[ -z "${2-}" ] || sed -i "$2" "$T/kernel/sched/fair.c"
}

@test "what the release has moves to class landed, the rest gets its lines" {
	release 6.12.97 's/fair30/fair30_one/'
	run "$REFRESH" --write 6.12 "$T"
	fails_with 0 "landed     one.patch: 6.12 has it since 6.12.90"
	fails_with 0 "refreshed  two.patch"
	[ "$(grep -v '^#' "$S/6.12.landed")" = one.patch ]
	[ "$(grep -v '^#' "$S/6.12.stable" | paste -sd ' ')" = "two.patch three.patch" ]
	grep -qx 'Kit-Class: landed' "$P/one.patch"
	grep -q '^@@ -37,7 +37,7 @@' "$P/two.patch"
	run "$LINT" 6.12
	[ "$status" -eq 0 ]
	"$APPLY" --strict --method patch 6.12 "$T"
	grep -q fair30_two "$T/kernel/sched/fair.c"
}

@test "a second run finds nothing to do" {
	release 6.12.97 's/fair30/fair30_one/'
	"$REFRESH" --write 6.12 "$T"
	sum=$(tree_sum "$KIT_QUEUE")
	run "$REFRESH" --write 6.12 "$T"
	[ "$output" = "The queue of 6.12 fits 6.12.97 as it is." ]
	[ "$sum" = "$(tree_sum "$KIT_QUEUE")" ]
}

@test "without --write nothing is changed, and the range-diff shows what would be" {
	release 6.12.97 's/fair30/fair30_one/'
	sum=$(tree_sum "$KIT_QUEUE") tree=$(tree_sum "$T")
	run "$REFRESH" 6.12 "$T"
	fails_with 0 "Nothing was changed; --write does it."
	[[ $output == *"+    Kit-Class: landed"* ]]
	[[ $output =~ 2:\ +[0-9a-f]+\ =\ +2: ]]
	[ "$sum" = "$(tree_sum "$KIT_QUEUE")" ]
	[ "$tree" = "$(tree_sum "$T")" ]
	[ -z "$(find "$BATS_TEST_TMPDIR" -maxdepth 1 -name 'kit-*')" ]
}

@test "a conflict names the hunk and leaves the queue as it was" {
	release 6.12.97 's/fair50/fair50_other/'
	sum=$(tree_sum "$KIT_QUEUE")
	run "$REFRESH" --write 6.12 "$T"
	fails_with 1 "three.patch: conflict: kernel/sched/core.c"
	fails_with 1 "kernel/sched/fair.c:"
	fails_with 1 "the queue is as it was"
	[ "$sum" = "$(tree_sum "$KIT_QUEUE")" ]
}

@test "a patch that would go in with fuzz only is a conflict" {
	release 6.12.97 's/fair47/fair47_near/'
	sum=$(tree_sum "$KIT_QUEUE")
	run "$REFRESH" --write 6.12 "$T"
	fails_with 1 "three.patch: "
	[ "$sum" = "$(tree_sum "$KIT_QUEUE")" ]
}

@test "what is in the tree but in no known release is not called landed" {
	sed -i 's/^Kit-First-Release: .*/Kit-First-Release: none/' "$P/one.patch"
	release 6.12.97 's/fair30/fair30_one/'
	sum=$(tree_sum "$KIT_QUEUE")
	run "$REFRESH" --write 6.12 "$T"
	fails_with 1 "one.patch is in $T, but no release of 6.12 is known to have it"
	[ "$sum" = "$(tree_sum "$KIT_QUEUE")" ]
}

@test "a stable clone says release and commit of what landed" {
	load submit-helpers
	rm -rf "$KIT_QUEUE"
	simple
	git -C "$STABLE" fetch -q origin
	git -C "$STABLE" checkout -q linux-6.12.y
	git -C "$STABLE" cherry-pick -n "$FIX"
	git -C "$STABLE" commit -qm "x

commit $FIX upstream."
	landed=$(git -C "$STABLE" rev-parse HEAD)
	stable_release 6.12 6.12.11
	run "$REFRESH" --write --stable "$STABLE" 6.12 "$STABLE"
	fails_with 0 "landed     one.patch: 6.12 has it since 6.12.11 (${landed:0:12})"
	grep -qx 'Kit-First-Release: 6.12.11' "$KIT_QUEUE/patches/6.12/one.patch"
	grep -qx "# 6.12.11, commit $landed" "$KIT_QUEUE/series/6.12.landed"
}

@test "headers that need a patch that landed name it no more" {
	sed -i 's/^Kit-Class: stable/Kit-Needs: one.patch, three.patch\n&/' "$P/two.patch"
	sed -i 's/^Kit-Class: stable/Kit-Needs: one.patch\n&/' "$P/three.patch"
	release 6.12.97 's/fair30/fair30_one/'
	"$REFRESH" --write 6.12 "$T"
	grep -qx 'Kit-Needs: three.patch' "$P/two.patch"
	run ! grep -q Kit-Needs "$P/three.patch"
	"$LINT" 6.12
}

@test "a queue that cannot be written stays as it was: exit 6" {
	release 6.12.97 's/fair30/fair30_one/'
	stub "$BATS_TEST_TMPDIR/bin" sync 'exit 1'
	sum=$(tree_sum "$KIT_QUEUE")
	PATH=$BATS_TEST_TMPDIR/bin:$PATH run "$REFRESH" --write 6.12 "$T"
	fails_with 6 "cannot write to $KIT_QUEUE"
	[ "$sum" = "$(tree_sum "$KIT_QUEUE")" ]
}

@test "a stdout that is full is exit 6, and the queue stays as it was" {
	release 6.12.97 's/fair30/fair30_one/'
	sum=$(tree_sum "$KIT_QUEUE")
	run bash -c "'$REFRESH' --write 6.12 '$T' >/dev/full"
	fails_with 6 "the queue is as it was"
	[ "$sum" = "$(tree_sum "$KIT_QUEUE")" ]
}

@test "a run that is killed while it writes is mended by the next, or by --recover" {
	release 6.12.97 's/fair30/fair30_one/'
	sum=$(tree_sum "$KIT_QUEUE")
	# the first mv publishes the journal, the next replace files
	stub "$BATS_TEST_TMPDIR/bin" mv "echo >>$BATS_TEST_TMPDIR/count" \
		"[ \$(wc -l <$BATS_TEST_TMPDIR/count) -lt 4 ] || { kill -9 \$PPID; exit 1; }" 'exec /bin/mv "$@"'
	PATH=$BATS_TEST_TMPDIR/bin:$PATH run "$REFRESH" --write 6.12 "$T"
	[ "$status" -eq 137 ]
	[ -d "$KIT_QUEUE/.kit-apply" ]
	run "$REFRESH" 6.12 "$T"
	fails_with 7 "an interrupted run has left $KIT_QUEUE half changed; run refresh.sh with --recover, or with --write"
	run "$REFRESH" --recover 6.12 "$T"
	fails_with 0 "putting it back first"
	[ "$sum" = "$(tree_sum "$KIT_QUEUE")" ]
	"$REFRESH" --write 6.12 "$T"
	grep -qx one.patch "$KIT_QUEUE/series/6.12.landed"
}

@test "wrong arguments and trees: one line, exit 2 or 7" {
	run "$REFRESH" 6.12
	fails_with 2 "LTS and TREE are needed"
	run "$REFRESH" 6.12 ""
	fails_with 2 "TREE is empty"
	run "$REFRESH" 6.11 "$T"
	fails_with 2 "no queue for \"6.11\""
	run "$REFRESH" 6.12 "$BATS_TEST_TMPDIR"
	fails_with 7 "is no kernel tree"
	make_tree 6.6.1 "$BATS_TEST_TMPDIR/six"
	run "$REFRESH" 6.12 "$BATS_TEST_TMPDIR/six"
	fails_with 7 "is 6.6.1, but the patches asked for are for 6.12"
	[ ${#lines[@]} -eq 1 ]
	mkdir "$T/.kit-apply"
	run "$REFRESH" 6.12 "$T"
	fails_with 7 "an interrupted apply.sh has left $T half changed"
	[ ${#lines[@]} -eq 1 ]
}
