#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# apply.sh on a full disk and on files that cannot be written, in all methods:
# one clear line, the tree as it was.

load helpers
load queue-helpers
load kill-helpers
load kill-facts

# Each size is a run of apply.sh: so by default only one in so many.
ONE_IN=2
[ -z "${KIT_TEST_ALL:-}" ] || ONE_IN=1

setup() {
	SMALL=$BATS_TEST_TMPDIR/small
	mkdir "$SMALL"
}

teardown() {
	chattr -i "$BATS_TEST_TMPDIR"/*/kernel/sched/core.c 2>/dev/null || true
	umount "$BATS_TEST_TMPDIR/t/kernel/sched" "$BATS_TEST_TMPDIR/t/.git" 2>/dev/null || true
	umount -l "$SMALL" 2>/dev/null || true
}

# tree_for METHOD: $T, with what that method works in.
tree_for() {
	rm -rf "$BATS_TEST_TMPDIR/t"
	case $1 in
	patch) kill_tree ;;
	*) "kill_$1_tree" ;;
	esac
}

# as_it_was TREE: the last run said so in one line, with exit 6 or 7, and it is true
# but for git objects that nothing refers to.
as_it_was() {
	[ "$status" -eq 6 ] || [ "$status" -eq 7 ] || { echo "exit $status: $output"; return 1; }
	[[ $output == *"tree is as it was"* || $output == *"$1 is as it was"* || $status -eq 7 ]] || { echo "$output"; return 1; }
	grep -q '^apply.sh: ' <<<"$output"
	diff <(steady <"$BATS_TEST_TMPDIR/facts") <(facts "$1" | steady)
	no_leftovers "$1"
}

# full_disk METHOD STEP: the disk has room for 0, STEP, 2 * STEP... pages more, until
# all fits.
full_disk() {
	local free=0 failed=0 t=$SMALL/t
	mount -t tmpfs -o size=16m none "$SMALL" 2>/dev/null || skip "cannot mount a small tmpfs here (needs root)"
	tree_for "$1"
	while :; do
		mount -o remount,size=16m "$SMALL"
		rm -rf "$t"
		cp -a "$T" "$t"
		facts "$t" >"$BATS_TEST_TMPDIR/facts"
		used=$(df --output=used -k "$SMALL" | tail -n 1)
		mount -o "remount,size=$((used + free * 4))k" "$SMALL"
		run "$APPLY" --method "$1" 6.12 "$t"
		[ "$status" -ne 0 ] || break
		[[ $output == *"No space left on device"* ]] || { echo "$free pages: $output"; return 1; }
		as_it_was "$t" || { echo "with $free pages free: $output"; return 1; }
		failed=$((failed + 1))
		free=$((free + $2))
		[ "$free" -lt 400 ]
	done
	files_are_after "$t"
	echo "# $1: a full disk met at $failed sizes" >&3
	[ "$failed" -gt 3 ]
}

# files_are_after TREE: the files that the patches touch are as after them.
files_are_after() {
	grep -q fair32_two "$1/kernel/sched/fair.c"
	grep -q core10_one "$1/kernel/sched/core.c"
	[ ! -e "$1/kernel/sched/old.c" ]
	[ -e "$1/lib/deep/file.c" ]
}

@test "patch: a disk that is full at any size leaves the tree as it was" { full_disk patch 1; }

@test "git: a disk that is full at any size leaves the tree as it was" { full_disk git 4; }

@test "quilt: a disk that is full at any size leaves the tree as it was" { full_disk quilt 4; }

# no_names METHOD STEP: the disk has no room for more files, or for STEP, 2 * STEP...
# with KIT_TEST_ALL=1, and for half of these without.
no_names() {
	local free=0 failed=0 t=$SMALL/t step=$(($2 * ONE_IN))
	mount -t tmpfs -o size=16m,nr_inodes=2000 none "$SMALL" 2>/dev/null || skip "cannot mount a small tmpfs here (needs root)"
	tree_for "$1"
	while :; do
		mount -o remount,nr_inodes=2000 "$SMALL"
		rm -rf "$t"
		cp -a "$T" "$t"
		facts "$t" >"$BATS_TEST_TMPDIR/facts"
		used=$(df --output=iused "$SMALL" | tail -n 1)
		mount -o "remount,nr_inodes=$((used + free))" "$SMALL"
		run "$APPLY" --method "$1" 6.12 "$t"
		[ "$status" -ne 0 ] || break
		as_it_was "$t" || { echo "with $free inodes free: $output"; return 1; }
		failed=$((failed + 1))
		free=$((free + step))
		[ "$free" -lt 300 ]
	done
	files_are_after "$t"
	echo "# $1: no inode left met $failed times" >&3
	[ "$failed" -gt 3 ]
}

@test "patch: a disk without room for another file leaves the tree as it was" { no_names patch 2; }

@test "git: a disk without room for another file leaves the tree as it was" { no_names git 6; }

@test "quilt: a disk without room for another file leaves the tree as it was" { no_names quilt 6; }

# each_call_fails METHOD K: without root, each K-th call that changes something fails
# once (with KIT_TEST_ALL=1 every one), see kill-sweep.sh.
each_call_fails() {
	tree_for "$1"
	sweep "$2" --error ENOSPC "$1"
}

@test "patch: each single call that fails for want of space leaves the tree as it was" { each_call_fails patch 8; }

@test "git: each single call that fails for want of space leaves the tree as it was" { each_call_fails git 24; }

@test "quilt: each single call that fails for want of space leaves the tree as it was" { each_call_fails quilt 36; }

# small_files METHOD: no file may grow over 8 KiB, which the scratch copies need.
small_files() {
	tree_for "$1"
	seq -f 'int big%05g;' 9000 >>"$T/kernel/sched/fair.c"
	[ "$1" != git ] || git -C "$T" commit -q -m big kernel/sched/fair.c
	facts "$T" >"$BATS_TEST_TMPDIR/facts"
	run bash -c 'trap "" XFSZ; ulimit -f 64; "$APPLY" --method "$1" 6.12 "$2"' - "$1" "$T"
	as_it_was "$T"
	run bash -c 'ulimit -f 64; "$APPLY" --method "$1" 6.12 "$2"' - "$1" "$T"
	as_it_was "$T"
}

@test "patch: a limit of the size of files leaves the tree as it was" { small_files patch; }

@test "git: a limit of the size of files leaves the tree as it was" { small_files git; }

@test "quilt: a limit of the size of files leaves the tree as it was" { small_files quilt; }

# unwritable METHOD: a file that a patch changes cannot be written.
unwritable() {
	tree_for "$1"
	if [ "$(id -u)" -eq 0 ]; then
		chattr +i "$T/kernel/sched/core.c" 2>/dev/null || skip "root, and no immutable files on this file system"
	else
		chmod a-w "$T/kernel/sched/core.c"
	fi
	facts "$T" >"$BATS_TEST_TMPDIR/facts"
	run "$APPLY" --method "$1" 6.12 "$T"
	as_it_was "$T"
	[[ $output == *"kernel/sched/core.c"* ]]
	chattr -i "$T/kernel/sched/core.c" 2>/dev/null || chmod u+w "$T/kernel/sched/core.c"
	run "$APPLY" --method "$1" 6.12 "$T"
	fails_with 0 "applied 2"
}

@test "patch: a file that cannot be written leaves the tree as it was, naming the file" { unwritable patch; }

@test "git: a file that cannot be written leaves the tree as it was, naming the file" { unwritable git; }

@test "quilt: a file that cannot be written leaves the tree as it was, naming the file" { unwritable quilt; }

# read_only METHOD FOLDER: that folder of the tree is mounted read-only.
read_only() {
	tree_for "$1"
	mount --bind "$T/$2" "$T/$2" 2>/dev/null || skip "cannot mount a folder read-only here (needs root)"
	mount -o remount,ro,bind "$T/$2"
	facts "$T" >"$BATS_TEST_TMPDIR/facts"
	run "$APPLY" --method "$1" 6.12 "$T"
	as_it_was "$T"
	umount "$T/$2"
	run "$APPLY" --method "$1" 6.12 "$T"
	fails_with 0 "applied 2"
}

@test "patch: a read-only folder leaves the tree as it was" { read_only patch kernel/sched; }

@test "git: a read-only folder leaves the tree as it was" { read_only git kernel/sched; }

@test "git: a read-only .git leaves the tree as it was" { read_only git .git; }

@test "quilt: a read-only folder leaves the tree as it was" { read_only quilt kernel/sched; }
