#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# apply.sh killed at a sample of points in files of a real 6.12.95, with the
# kit's own queue: the scheduler and its headers, as a git checkout and without.

load helpers
load queue-helpers
load kill-helpers

setup() {
	local real=$KIT_REAL_CACHE/trees/6.12.95
	need_tool filterdiff patchutils
	[ -d "$real" ] || skip "no 6.12.95 in the cache folder; scripts/fetch-tree.sh brings it"
	unset KIT_QUEUE
	T=$BATS_TEST_TMPDIR/t
	mkdir -p "$T/include/linux"
	cp -a "$real/Makefile" "$T/"
	cp -a "$real/kernel" "$T/"
	cp -a "$real"/include/linux/sched* "$T/include/linux/"
	git_user
}

@test "patch: killed in files of a real kernel, --recover and a second run both mend it" {
	sweep 30 patch
}

@test "git: killed in a checkout of a real kernel's files, --recover and a second run both mend it" {
	git -C "$T" init -q
	git -C "$T" add -A
	git -C "$T" commit -q -m 'Linux 6.12.95'
	sweep 30 git
}

@test "quilt: killed in files of a real kernel, --recover and a second run both mend it" {
	need_tool quilt quilt
	sweep 30 quilt
}
