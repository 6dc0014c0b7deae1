#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# apply.sh --method quilt: quilt itself goes on with what it leaves.
# shellcheck disable=SC2030,SC2031 # each test is its own

load helpers
load queue-helpers
load method-helpers

setup() {
	need_tool filterdiff patchutils
	need_tool quilt quilt
	three_patches
	cp -a "$T" "$BATS_TEST_TMPDIR/before"
	BEFORE=$BATS_TEST_TMPDIR/before
}

# q ARG...: the user's quilt in $T, without settings.
q() { (cd "$T" && quilt --quiltrc - "$@"); }

# foreign N: a series of N patches of somebody else in debian/patches, as
# dpkg-source leaves it, pushed whole. They change lines 1 to N of core.c.
foreign() {
	local i
	export QUILT_PATCHES=debian/patches
	mkdir -p "$T/debian/patches"
	for i in $(seq "$1"); do
		q new "theirs-$i.patch"
		q add kernel/sched/core.c
		sed -i "${i}s/.*/int theirs$i;/" "$T/kernel/sched/core.c"
		q refresh -p ab
	done
	unset QUILT_PATCHES
	rm -rf "$BATS_TEST_TMPDIR/foreign"
	cp -a "$T" "$BATS_TEST_TMPDIR/foreign"
	FOREIGN=$BATS_TEST_TMPDIR/foreign
}

# refused_here TEXT ARG...: the same with --method quilt.
refused_here() { refused "$1" --method quilt "${@:2}"; }

@test "in a tree without quilt a series is begun that quilt pops and pushes" {
	run "$APPLY" --method quilt 6.12 "$T"
	fails_with 0 "applied 3, already there 0"
	same "$T/kernel" "$AFTER/kernel"
	[ "$(q applied)" = $'one.patch\ntwo.patch\nthree.patch' ]
	cmp "$T/patches/two.patch" "$KIT_QUEUE/patches/6.12/two.patch"
	q pop -a
	same "$T/kernel" "$BEFORE/kernel"
	q push -a
	same "$T/kernel" "$AFTER/kernel"
}

@test "patches go on top of another series that is pushed whole" {
	foreign 4
	run "$APPLY" 6.12 "$T"
	fails_with 0 "method quilt: $T has 4 patch(es) that quilt pushed"
	fails_with 0 "applied 3, already there 0"
	[ "$(q applied | wc -l)" -eq 7 ]
	[ "$(tail -n 3 "$T/debian/patches/series")" = $'one.patch\ntwo.patch\nthree.patch' ]
	[ ! -e "$T/patches" ]
	q pop -a
	same "$T/kernel" "$BEFORE/kernel"
	q push -a
	grep -q core10_three "$T/kernel/sched/core.c"
}

@test "--reverse pops and deletes, and the tree is as before the first run" {
	foreign 2
	"$APPLY" 6.12 "$T"
	run "$APPLY" --reverse --only two,three 6.12 "$T"
	fails_with 0 "reversed 2, not there 0"
	[ "$(q applied)" = $'theirs-1.patch\ntheirs-2.patch\none.patch' ]
	run "$APPLY" --reverse 6.12 "$T"
	fails_with 0 "reversed 1, not there 2"
	same "$T" "$FOREIGN"
}

@test "--reverse leaves nothing of a series that apply.sh began" {
	before=$(full_sum "$T")
	"$APPLY" --method quilt 6.12 "$T"
	cp -a "$T" "$BATS_TEST_TMPDIR/applied"
	run "$APPLY" --reverse 6.12 "$T"
	fails_with 0 "reversed 3, not there 0"
	same "$T" "$BEFORE"
}

@test "--reverse says what lies on top, and how to go on" {
	"$APPLY" --method quilt 6.12 "$T"
	q new later.patch
	q add kernel/sched/core.c
	echo 'int later;' >>"$T/kernel/sched/core.c"
	q refresh -p ab
	refused_here "later.patch lies on top of what is to be taken out; QUILT_PATCHES=patches quilt pop three.patch, run apply.sh again, then quilt push -a" --reverse
	refused_here "quilt pop two.patch, run apply.sh again" --reverse --only one,two
	q pop three.patch
	run "$APPLY" --method quilt --reverse 6.12 "$T"
	fails_with 0 "reversed 3, not there 0"
	q push -a
	[ "$(q applied)" = later.patch ]
	tail -n 1 "$T/kernel/sched/core.c" | grep -q later
}

@test "--reverse takes no patch of somebody else that has the same name" {
	"$APPLY" --method quilt 6.12 "$T"
	q refresh -p ab -U 2
	sed -i 's/core10_three/core10_other/' "$T/patches/three.patch" "$T/kernel/sched/core.c"
	q pop -f
	q push
	sed -i 's/core10_other/core10_three/' "$T/kernel/sched/core.c"
	refused_here "three.patch is not the patch of that name in the queue" --reverse --only three
}

@test "--reverse takes a patch of the queue that was refreshed" {
	"$APPLY" --method quilt 6.12 "$T"
	q refresh
	run cmp "$T/patches/three.patch" "$KIT_QUEUE/patches/6.12/three.patch"
	[ "$status" -eq 1 ]
	run "$APPLY" --reverse 6.12 "$T"
	fails_with 0 "reversed 3, not there 0"
	same "$T" "$BEFORE"
}

@test "--reverse does not take out of the files what quilt did not push" {
	cp "$AFTER"/kernel/sched/*.c "$T/kernel/sched/"
	refused_here "one.patch is in $T, but not as a patch that quilt pushed; --method patch takes it out" --reverse
}

@test "a series that is pushed in part or not at all is refused, with the line that pushes it" {
	foreign 4
	q pop 1
	refused_here "3 of 4 patches of $T/debian/patches/series are pushed; push the others first (QUILT_PATCHES=debian/patches quilt push -a)"
	q pop -a
	refused_here "0 of 4 patches of $T/debian/patches/series are pushed"
	rm -rf "$T/.pc"
	refused_here "0 of 4 patches of $T/debian/patches/series are pushed"
	(cd "$T" && QUILT_PATCHES=debian/patches quilt push -a)
	run "$APPLY" 6.12 "$T"
	fails_with 0 "applied 3, already there 0"
}

@test "a half pushed series does not stop --method patch, which leaves .pc alone" {
	foreign 4
	q pop 1
	sum=$(full_sum "$T/.pc")
	run "$APPLY" --method patch 6.12 "$T"
	fails_with 0 "applied 3, already there 0"
	[ "$(full_sum "$T/.pc")" = "$sum" ]
}

@test "another patch of the same name is not taken for ours" {
	foreign 1
	export QUILT_PATCHES=debian/patches
	q rename -P theirs-1.patch two.patch
	unset QUILT_PATCHES
	refused_here "$T/debian/patches has another patch called two.patch; rename it"
	q rename -P two.patch theirs-1.patch
	echo "no patch" >"$T/debian/patches/two.patch"
	refused_here "$T/debian/patches has another patch called two.patch; rename it"
	rm "$T/debian/patches/two.patch"
	run "$APPLY" 6.12 "$T"
	fails_with 0 "applied 3, already there 0"
}

@test "changes that quilt does not know of are refused in the files of a patch, and kept in others" {
	foreign 2
	echo 'int mine;' >>"$T/kernel/sched/core.c"
	refused_here "$T/kernel/sched/core.c has changes that quilt does not know of"
	run "$APPLY" --only one,two 6.12 "$T"
	fails_with 0 "applied 2, already there 0"
	tail -n 1 "$T/kernel/sched/core.c" | grep -q mine
	"$APPLY" --reverse 6.12 "$T"
	echo 'int mine;' >>"$T/kernel/sched/fair.c"
	q refresh -p ab
	# core.c is now known of, fair.c was never quilt's
	run "$APPLY" 6.12 "$T"
	fails_with 0 "applied 3, already there 0"
	echo 'int more;' >>"$T/kernel/sched/fair.c"
	refused_here "$T/kernel/sched/fair.c has changes that quilt does not know of" --reverse
}

@test "a .pc that is broken or of another version is refused" {
	foreign 2
	echo 1 >"$T/.pc/.version"
	refused_here "is not of the version 2 that quilt has today"
	rm "$T/.pc/.version"
	refused_here "is not of the version 2 that quilt has today"
	echo 2 >"$T/.pc/.version"
	echo gone.patch >>"$T/.pc/applied-patches"
	refused_here "what quilt has pushed in $T is not what debian/patches/series says"
	sed -i '$d' "$T/.pc/applied-patches"
	: >"$T/.pc/theirs-2.patch~refresh"
	refused_here "quilt wants theirs-2.patch refreshed first"
}

@test "patches that are kept outside of the tree are refused, as is a link to them" {
	foreign 2
	mv "$T/debian/patches" "$BATS_TEST_TMPDIR/queue of theirs"
	echo "$BATS_TEST_TMPDIR/queue of theirs" >"$T/.pc/.quilt_patches"
	refused_here "outside of $T"
	echo debian/patches >"$T/.pc/.quilt_patches"
	ln -s "$BATS_TEST_TMPDIR/queue of theirs" "$T/debian/patches"
	refused_here "symbolic link"
}

@test "the user's settings of quilt do not matter" {
	printf '%s\n' 'QUILT_PATCHES=nowhere' 'QUILT_PUSH_ARGS=--no-such' 'QUILT_PATCH_OPTS=-R' >"$HOME/.quiltrc"
	QUILT_PC=.other QUILT_SERIES=none QUILT_PATCHES=/ run "$APPLY" --method quilt 6.12 "$T"
	fails_with 0 "applied 3, already there 0"
	[ "$(q applied | wc -l)" -eq 3 ]
}

@test "a tree and a scratch folder with blanks and a colon in the path" {
	mkdir "$BATS_TEST_TMPDIR/a: b"
	mv "$T" "$BATS_TEST_TMPDIR/a: b/t"
	T="$BATS_TEST_TMPDIR/a: b/t"
	foreign 2
	export TMPDIR="$BATS_TEST_TMPDIR/a: b"
	run "$APPLY" 6.12 "$T"
	fails_with 0 "applied 3, already there 0"
	[ "$(q applied | wc -l)" -eq 5 ]
	run "$APPLY" --reverse 6.12 "$T"
	fails_with 0 "reversed 3, not there 0"
	same "$T" "$FOREIGN"
	[ -z "$(ls -d "$TMPDIR"/kit-apply.* 2>/dev/null)" ]
}

@test "--check changes nothing and says what would be refused" {
	foreign 3
	before=$(full_sum "$T")
	run "$APPLY" --check 6.12 "$T"
	fails_with 0 "would apply 3, already there 0"
	[ "$(full_sum "$T")" = "$before" ]
	q pop 1
	refused_here "2 of 3 patches" --check
}
