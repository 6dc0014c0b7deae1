#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# apply.sh killed, interrupted, on a full disk, beside another: all or nothing.
# shellcheck disable=SC2016,SC2030,SC2031 # lines for scripts; each test is its own

load helpers
load queue-helpers

# A run costs seconds on a slow machine: so each fourth point; every one, if asked.
STEP=4
[ -z "${KIT_TEST_ALL:-}" ] || STEP=1

# What apply.sh calls to change anything.
WRITERS="mv ln cp cat rm rmdir mkdir sync"

setup() {
	need_tool filterdiff patchutils
	need_tool setsid util-linux
	three_patches
	# one patch that also makes a file in a new folder and removes one
	seq 9 >"$T/kernel/sched/old.c"
	cp "$T/kernel/sched/old.c" "$AFTER/kernel/sched/"
	cp -a "$AFTER" "$BATS_TEST_TMPDIR/s4"
	mkdir -p "$BATS_TEST_TMPDIR/s4/new/deep"
	seq 5 >"$BATS_TEST_TMPDIR/s4/new/deep/file.c"
	rm "$BATS_TEST_TMPDIR/s4/kernel/sched/old.c"
	new_patch four.patch stable "$AFTER" "$BATS_TEST_TMPDIR/s4"
	AFTER=$BATS_TEST_TMPDIR/s4
	cp -a "$T" "$BATS_TEST_TMPDIR/before"
	SUM=$(full_sum "$T")
}

# writers LINE...: put scripts in front of the WRITERS that run LINEs first once
# the tree is concerned. They see $N, the number of this call, and $TOOL.
writers() {
	local tool
	export BIN=$BATS_TEST_TMPDIR/bin CALLS=$BATS_TEST_TMPDIR/calls T
	for tool in $WRITERS; do
		stub "$BIN" "$tool" "TOOL=$(type -P "$tool")" \
			'case "$*$(echo "$T"/.kit-apply*[a-z])" in *"$T"/.kit-apply | *"$T"/.kit-apply.new | *"$T"/.kit-apply.done | "$T"* | *" $T"*)' \
			'N=$(($(wc -l <"$CALLS") + 1))' 'echo "$N ${0##*/} $*" >>"$CALLS"' "$@" ';; esac' \
			'exec "$TOOL" "$@"'
	done
	: >"$CALLS"
}

# mend: a run that mends what it finds and has nothing else to do.
mend() { run "$APPLY" --class landed --reverse 6.12 "$T"; }

@test "killed at any write, the tree is as before or as after, and the next run mends it" {
	local at=$((1 - STEP)) undone=0 done=0
	# an rm that is cut short may have removed the list already
	writers '[ "$N" -ne "$AT" ] || { case "$*" in "-rf $T/.kit-apply.done") "$TOOL" "$T/.kit-apply.done/list" ;; esac; kill -9 0; }'
	while :; do
		at=$((at + STEP))
		: >"$CALLS"
		rm -rf "$T"
		cp -a "$BATS_TEST_TMPDIR/before" "$T"
		SUM=$(full_sum "$T")
		AT=$at PATH=$BIN:$PATH run setsid -w "$APPLY" 6.12 "$T"
		[ "$status" -ne 0 ] || break
		[ "$status" -eq 137 ]
		[ "$(wc -l <"$CALLS")" -eq "$at" ]
		left=$(cd "$T" && echo .kit-apply*)
		mend
		echo "killed before $(tail -n 1 "$CALLS"); left $left; the next run: $output"
		[ "$status" -eq 0 ]
		case $left in
		.kit-apply) [[ $output == *"half changed; putting it back first"* ]] ;;
		.kit-apply.new) [[ $output == *"interrupted before it changed anything"* ]] ;;
		.kit-apply.done) [[ $output == *"interrupted after its work was done"* ]] ;;
		esac
		[ ! -e "$T/.kit-apply" ]
		[ ! -e "$T/.kit-apply.new" ]
		[ ! -e "$T/.kit-apply.done" ]
		if [ "$(full_sum "$T")" = "$SUM" ]; then
			undone=$((undone + 1))
		else
			same "$T" "$AFTER"
			done=$((done + 1))
		fi
		run "$APPLY" 6.12 "$T"
		[ "$status" -eq 0 ]
		same "$T" "$AFTER"
	done
	same "$T" "$AFTER"
	echo "# killed at $((undone + done)) writes: $undone as before, $done as after" >&3
	[ "$undone" -gt $((15 / STEP)) ]
	[ "$done" -gt 0 ]
}

@test "killed at any write of the mending, the run after that mends it" {
	local at=$((1 - STEP)) killed=0
	writers '[ "$N" -ne "$AT" ] || kill -9 0'
	# leave a tree in which all is replaced but not yet declared done
	AT=0 PATH=$BIN:$PATH setsid -w "$APPLY" 6.12 "$T"
	last=$(grep -n "mv -T -- $T/.kit-apply $T/.kit-apply.done" "$CALLS" | cut -d: -f1)
	[ "$last" -gt 10 ]
	while :; do
		at=$((at + STEP))
		rm -rf "$T"
		cp -a "$BATS_TEST_TMPDIR/before" "$T"
		SUM=$(full_sum "$T")
		: >"$CALLS"
		AT=$last PATH=$BIN:$PATH run setsid -w "$APPLY" 6.12 "$T"
		[ "$status" -eq 137 ]
		[ -d "$T/.kit-apply" ]
		: >"$CALLS"
		AT=$at PATH=$BIN:$PATH run setsid -w "$APPLY" --class landed --reverse 6.12 "$T"
		[ "$status" -eq 0 ] || mend
		[ "$status" -eq 0 ]
		[ "$(full_sum "$T")" = "$SUM" ]
		[ "$(wc -l <"$CALLS")" -ge "$at" ] || break
		killed=$((killed + 1))
	done
	echo "# killed at $killed writes of the mending" >&3
	[ "$killed" -gt $((6 / STEP)) ]
}

@test "a write that fails at any point leaves the tree as it was, exit 6" {
	local at=$((1 - STEP)) tried=0 failed=0
	writers '[ "$N" -ne "$AT" ] || { echo "${0##*/}: No space left on device" >&2; exit 1; }'
	while :; do
		at=$((at + STEP))
		: >"$CALLS"
		AT=$at PATH=$BIN:$PATH run "$APPLY" 6.12 "$T"
		[ "$(wc -l <"$CALLS")" -ge "$at" ] || break
		tried=$((tried + 1))
		echo "failed: $(sed -n "${at}p" "$CALLS"): exit $status: $output"
		if [ "$status" -eq 6 ]; then
			fails_with 6 "the tree is as it was"
			[ "$(full_sum "$T")" = "$SUM" ]
			failed=$((failed + 1))
		else
			# ln has a second way; and all is done when only the removing fails
			[ "$status" -eq 0 ]
			same "$T" "$AFTER" || { mend && same "$T" "$AFTER"; }
			rm -rf "$T"
			cp -a "$BATS_TEST_TMPDIR/before" "$T"
			SUM=$(full_sum "$T")
		fi
	done
	echo "# $tried writes made to fail, $failed of them fatal" >&3
	[ "$failed" -gt $((10 / STEP)) ]
}

@test "a full disk leaves the tree as it was, exit 6" {
	mkdir "$BATS_TEST_TMPDIR/small"
	mount -t tmpfs -o size=72k none "$BATS_TEST_TMPDIR/small" 2>/dev/null || skip "cannot mount a small tmpfs here (needs root)"
	cp -a "$T" "$BATS_TEST_TMPDIR/small/t"
	head -c 100000 /dev/zero >"$BATS_TEST_TMPDIR/small/filler" 2>/dev/null || true
	before=$(full_sum "$BATS_TEST_TMPDIR/small/t")
	run "$APPLY" 6.12 "$BATS_TEST_TMPDIR/small/t"
	after=$(full_sum "$BATS_TEST_TMPDIR/small/t")
	left=$(ls -A "$BATS_TEST_TMPDIR/small/t")
	umount "$BATS_TEST_TMPDIR/small"
	fails_with 6 "No space left on device"
	[ "$before" = "$after" ]
	[[ $left != *.kit-apply* ]]
}

@test "a full disk for the scratch copy leaves the tree as it was, exit 6" {
	head -c 300000 /dev/zero >>"$T/kernel/sched/fair.c"
	SUM=$(full_sum "$T")
	run bash -c 'trap "" XFSZ; ulimit -f 200; "$APPLY" 6.12 "$1"' - "$T"
	fails_with 6 "free some space there or set TMPDIR"
	[ "$(full_sum "$T")" = "$SUM" ]
}

@test "a file that cannot be written leaves the tree as it was, exit 6" {
	if [ "$(id -u)" -eq 0 ]; then
		chattr +i "$T/kernel/sched/core.c" 2>/dev/null || skip "root, and no immutable files on this file system"
	else
		chmod a-w "$T/kernel/sched/core.c"
		SUM=$(full_sum "$T")
	fi
	run "$APPLY" 6.12 "$T"
	chattr -i "$T/kernel/sched/core.c" 2>/dev/null || true
	fails_with 6 "the tree is as it was"
	[ "$(full_sum "$T")" = "$SUM" ]
}

@test "SIGINT and SIGTERM while preparing leave the tree as it was, exit 130 and 143" {
	for sig in INT:130 TERM:143; do
		writers "[ \"\${0##*/}\" != sync ] || { [ -d \"\$T/.kit-apply.new\" ] && kill -${sig%:*} \$PPID; }"
		PATH=$BIN:$PATH run "$APPLY" 6.12 "$T"
		grep -q sync "$CALLS"
		fails_with "${sig#*:}" "$T is as it was"
		[ "$(full_sum "$T")" = "$SUM" ]
		[ ! -e "$T/.kit-apply.new" ]
		[ -z "$(find "$BATS_TEST_TMPDIR" -maxdepth 1 -name 'kit-apply.*')" ]
	done
}

@test "a signal while files are being replaced lets the replacing finish" {
	writers '[ "${0##*/} ${*: -1}" != "mv $T/kernel/sched/fair.c" ] || kill -TERM $PPID'
	PATH=$BIN:$PATH run "$APPLY" 6.12 "$T"
	grep -q "mv .*$T/kernel/sched/fair.c" "$CALLS"
	fails_with 0 "applied 4, already there 0"
	same "$T" "$AFTER"
}

@test "a second apply at the same time is refused, naming the tree" {
	exec 7<"$T"
	flock -x 7
	run "$APPLY" 6.12 "$T"
	fails_with 7 "another apply.sh is at work in $T"
	run "$APPLY" --check 6.12 "$T"
	fails_with 7 "another apply.sh is at work in $T"
	exec 7<&-
	run "$APPLY" --check 6.12 "$T"
	fails_with 0 "would apply 4"
}

@test "a file that changes while the run goes on is noticed, and kept" {
	writers '[ "${0##*/}" != sync ] || [ -e "$T/changed" ] || { echo "int late;" >>"$T/kernel/sched/fair.c"; : >"$T/changed"; }'
	PATH=$BIN:$PATH run "$APPLY" 6.12 "$T"
	fails_with 7 "$T/kernel/sched/fair.c has changed"
	grep -q 'int late;' "$T/kernel/sched/fair.c"
	cmp "$T/kernel/sched/core.c" "$BATS_TEST_TMPDIR/before/kernel/sched/core.c"
	[ ! -e "$T/.kit-apply.new" ]
}

@test "--check in a half changed tree says so and mends nothing" {
	mkdir "$T/.kit-apply"
	echo "M kernel/sched/fair.c" >"$T/.kit-apply/list"
	run "$APPLY" --check 6.12 "$T"
	fails_with 7 "half changed; run apply.sh without --check"
	[ -f "$T/.kit-apply/list" ]
}

@test "a folder .kit-apply that is no journal is not touched" {
	mkdir "$T/.kit-apply"
	echo "M ../../outside" >"$T/.kit-apply/list"
	run "$APPLY" 6.12 "$T"
	fails_with 7 "is not the journal of an interrupted run"
	[ -f "$T/.kit-apply/list" ]
}
