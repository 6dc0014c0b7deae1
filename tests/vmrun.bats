#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# kit-vmrun with shell scripts in the place of QEMU: each way to end is told
# from the others, and nothing of the child is left behind.

load helpers
load lab-helpers

setup_file() { build_tool kit-vmrun; }

setup() { cd "$BATS_TEST_TMPDIR" || return; }

# vmrun [OPTION...] -- COMMAND...: with timers that a busy machine keeps; each
# test shortens the one that it is about (a later option wins).
vmrun() {
	run "$KIT_BIN/kit-vmrun" --console console --stderr err --status status \
		--end-marker "END 4711" --first 30 --progress 30 --total 60 --grace 30 "$@"
}

# status FILTER: the filter of jq is true for the status.
status() {
	jq -e "$1" status >/dev/null || { jq . status; return 1; }
}

# gone FILE...: the processes whose ids are in these files are no more (a
# zombie is none of ours to reap, and does nothing).
gone() {
	local f pid state
	for f; do
		pid=$(cat "$f") && [ -n "$pid" ] || return 1
		for _ in {1..100}; do
			state=$(awk '$1 == "State:" { print $2 }' "/proc/$pid/status" 2>/dev/null) || continue 2
			[ "$state" = Z ] && continue 2
			sleep 0.05
		done
		echo "process $pid is still there"
		return 1
	done
}

# until_file FILE: wait until the child has written it.
until_file() {
	for _ in {1..200}; do
		[ -s "$1" ] && return 0
		sleep 0.05
	done
	return 1
}

# in_background SIGNAL FILE...: start kit-vmrun with a child that has a child
# and ignores SIGTERM, and send SIGNAL once both run. Sets $status.
in_background() {
	# A shell without job control would have SIGINT ignored.
	env --default-signal=INT "$KIT_BIN/kit-vmrun" --console console --status status \
		--end-marker END --first 60 --progress 60 --total 60 -- bash -c '
		trap "" TERM INT HUP
		echo $$ >child
		(trap "" TERM INT; echo $BASHPID >grandchild; exec sleep 300) &
		echo hello
		while :; do sleep 1; done' 3>&- &
	local pid=$!
	until_file child && until_file grandchild && until_file console
	kill "-$1" "$pid"
	status=0
	wait "$pid" || status=$?
}

@test "a guest that prints its end marker and powers off has succeeded" {
	vmrun -- bash -c 'echo boot; echo "kit: END 4711 ok"; echo "power off"'
	code 0
	[ -z "$output" ]
	[ "$(cat console)" = $'boot\nkit: END 4711 ok\npower off' ]
	status '.ended == "exited" and .end_marker and .code == 0 and .qemu_exit == 0 and
		.qemu_signal == null and .timer == null and .hint == "" and .console_bytes == 32'
	status '.last_lines == ["boot", "kit: END 4711 ok", "power off"]'
}

@test "the exit code of QEMU says nothing once the end marker was seen" {
	vmrun -- bash -c 'echo "END 4711"; exit 33'
	code 0
	status '.end_marker and .qemu_exit == 33'
}

@test "QEMU that ends with 0 but without the end marker has failed" {
	vmrun -- bash -c 'echo "Kernel panic - not syncing: lost"; echo "Rebooting"'
	code 4
	has "without the end marker"
	status '.ended == "exited" and (.end_marker | not) and .qemu_exit == 0 and .code == 4'
	status '.last_lines[0] == "Kernel panic - not syncing: lost"'
}

@test "an end marker of another run is none" {
	vmrun -- bash -c 'echo "END 4712"; echo "END 471"'
	code 4
}

@test "an end marker in a line that never ends is none" {
	vmrun -- bash -c 'printf "END 4711"'
	code 4
}

@test "an end marker is found across pieces and behind a very long line part" {
	vmrun -- bash -c 'head -c 100000 /dev/zero | tr "\0" x; printf "EN"; sleep 0.2; printf "D 47"
		sleep 0.2; echo 11'
	code 0
}

@test "an end marker is found in a line with a carriage return and a NUL byte" {
	vmrun -- bash -c 'printf "\0END 4711\r\n"'
	code 0
}

@test "a silent guest is ended by the timer for first output" {
	vmrun --first 0.5 -- bash -c 'echo $$ >child; exec sleep 300'
	code 4
	has "nothing on the console for 0.5 s"
	status '.ended == "killed-by-timer" and .timer == "first" and .first_output_seconds == null'
	status '.last_lines == [] and .qemu_signal == 9'
	gone child
}

@test "a guest that stands still is ended by the timer for progress" {
	vmrun --progress 0.5 -- bash -c 'echo "init: starting"; exec sleep 300'
	code 4
	has "the console stood still for 0.5 s"
	status '.timer == "progress" and .last_lines == ["init: starting"]'
	status '.first_output_seconds != null and .wall_seconds < 20'
}

@test "a guest that goes on for ever is ended by the timer for the whole" {
	vmrun --total 1 -- bash -c 'while :; do echo tick; sleep 0.1; done'
	code 4
	has "no end marker after 1 s"
	status '.timer == "total" and (.last_lines | length) > 1'
}

@test "output shortly before each deadline keeps the timer for progress away" {
	vmrun --progress 2 -- bash -c 'for i in 1 2 3 4 5 6; do echo $i; sleep 0.6; done; echo END 4711'
	code 0
	status '.wall_seconds > 3'
}

@test "the timers are scaled" {
	vmrun --first 0.1 --scale 10 -- sleep 300
	code 4
	has "for 1 s"
	status '.timer == "first" and .wall_seconds >= 1'
}

@test "a guest that does not power off after its end marker still has ended" {
	vmrun --grace 0.5 -- bash -c 'echo "END 4711"; echo $$ >child; exec sleep 300'
	code 0
	has "did not power off"
	status '.ended == "killed-by-timer" and .timer == "grace" and .end_marker and .code == 0'
	gone child
}

@test "a child that ignores SIGTERM, and its children, are gone after a timer" {
	vmrun --progress 1 -- bash -c 'trap "" TERM INT HUP; echo $$ >child
		(trap "" TERM; echo $BASHPID >grandchild; exec sleep 300) &
		echo hello; while :; do sleep 1; done'
	code 4
	gone child grandchild
}

@test "children that outlive QEMU are gone too, and hold nothing up" {
	vmrun -- bash -c '(echo $BASHPID >grandchild; exec sleep 300) & 
		while [ ! -s grandchild ]; do sleep 0.05; done; echo "END 4711"'
	code 0
	status '.ended == "exited" and .wall_seconds < 20'
	gone grandchild
}

@test "a guest that floods its console is ended at the limit" {
	vmrun --limit 1 -- yes "WARNING: at kernel/sched/core.c"
	code 4
	has "more than 1 MiB of output"
	status '.ended == "killed-by-limit" and .console_bytes == 1048576'
	[ "$(stat -c %s console)" -eq 1048576 ]
}

@test "an end marker followed by a flood is no success" {
	vmrun --limit 1 -- bash -c 'echo "END 4711"; exec yes'
	code 4
	status '.end_marker and .ended == "killed-by-limit"'
}

@test "QEMU that floods its stderr is ended at the limit" {
	vmrun --limit 1 -- bash -c 'yes >&2'
	code 4
	[ "$(stat -c %s err)" -eq 1048576 ]
}

@test "each sign that KVM is lost ends QEMU at once" {
	for text in "KVM internal error. Suberror: 1" "error: kvm run failed Bad address" \
		"qemu: failed to initialize kvm: Permission denied" \
		"qemu: error: failed to set MSR 0x10a to 0x0" "KVM: entry failed, hardware error 0x8" \
		"qemu: kvm.c:1: f: Assertion \`ret' failed."; do
		vmrun -- bash -c 'echo "$1" >&2; echo RAX=0 >&2; exec sleep 300' - "$text"
		code 6
		has "QEMU gave up: $text"
		status '.ended == "qemu-error" and .wall_seconds < 20 and .code == 6'
	done
}

@test "a warning of QEMU is kept and ends nothing" {
	vmrun -- bash -c 'echo "qemu: warning: KVM is slow" >&2; sleep 0.3; echo END 4711'
	code 0
	[ "$(cat err)" = "qemu: warning: KVM is slow" ]
	status '.stderr_last_lines == ["qemu: warning: KVM is slow"]'
}

@test "QEMU that refuses its arguments is no failure of the guest" {
	vmrun -- bash -c 'echo "qemu: -smp 0: invalid" >&2; exit 1'
	code 6
	has "QEMU ended with exit code 1: qemu: -smp 0: invalid"
	status '.ended == "exited" and .qemu_exit == 1 and .code == 6'
}

@test "QEMU that crashes is no failure of the guest" {
	vmrun -- bash -c 'ulimit -c 0; echo hello; kill -SEGV $$'
	code 6
	has "signal 11"
	status '.qemu_signal == 11 and .qemu_exit == null'
}

@test "QEMU that is killed from outside is no failure of the guest" {
	vmrun -- bash -c 'echo hello; kill -KILL $$'
	code 6
	has "killed from outside"
	status '.ended == "exited" and .qemu_signal == 9'
}

@test "QEMU that cannot be started is named" {
	vmrun -- ./qemu-system-none -M virt
	code 6
	has "cannot start ./qemu-system-none: No such file"
	status '.ended == "not-started" and .code == 6'
	echo text >plain
	vmrun -- ./plain
	code 6
	has "Permission denied"
}

@test "a full disk is told from a failure, even behind the end marker" {
	run "$KIT_BIN/kit-vmrun" --console /dev/full --status status --end-marker "END 4711" \
		--first 30 --progress 30 --total 60 -- bash -c 'echo $$ >child; echo "END 4711"; exec sleep 300'
	code 6
	has "No space left on device"
	status '.ended == "output-error" and .code == 6'
	gone child
}

@test "a console or status that cannot be made is an error that names why" {
	run "$KIT_BIN/kit-vmrun" --console no/console --status status --end-marker E \
		--first 9 --progress 9 --total 9 -- touch started
	code 6
	has "No such file"
	[ ! -e started ]
	run "$KIT_BIN/kit-vmrun" --console console --status no/status --end-marker E \
		--first 9 --progress 9 --total 9 -- echo E
	code 6
	has "cannot write the status"
	run bash -c '"$1" --console console --end-marker E --first 9 --progress 9 --total 9 -- \
		echo E >/dev/full' - "$KIT_BIN/kit-vmrun"
	code 6
}

@test "without --status and --stderr the status is stdout and stderr is passed on" {
	run --separate-stderr "$KIT_BIN/kit-vmrun" --console console --end-marker E \
		--first 30 --progress 30 --total 60 -- bash -c 'echo from qemu >&2; echo E'
	code 0
	jq -e .end_marker <<<"$output"
	[ "$stderr" = "from qemu" ]
}

@test "a console with any bytes makes valid JSON" {
	vmrun -- bash -c 'for i in {0..255}; do printf "\\x$(printf %x $i)"; done; echo; echo END 4711'
	code 0
	status '.end_marker and (.last_lines | length) > 0'
	[ "$(stat -c %s console)" -eq 266 ]
}

@test "the child has no input" {
	vmrun -- bash -c 'cat; echo END 4711' <<<"some input"
	code 0
	[ "$(cat console)" = "END 4711" ]
}

@test "SIGINT ends the child and kit-vmrun by the same signal" {
	in_background INT
	[ "$status" -eq 130 ]
	status '.ended == "interrupted" and .code == 130'
	gone child grandchild
}

@test "SIGTERM ends the child and kit-vmrun by the same signal" {
	in_background TERM
	[ "$status" -eq 143 ]
	status '.ended == "interrupted" and .code == 143'
	gone child grandchild
}

@test "a caller sees the signal, and no exit code that looks like it" {
	run perl -e 'system(@ARGV); exit($? & 127)' env --default-signal=INT \
		"$KIT_BIN/kit-vmrun" --console console --status status --end-marker END \
		--first 60 --progress 60 --total 60 -- bash -c 'kill -INT $PPID; exec sleep 300'
	code 2
	status '.ended == "interrupted"'
}

@test "the child dies when kit-vmrun is killed" {
	in_background KILL
	[ "$status" -eq 137 ]
	gone child
	# Its own child is beyond anybody's reach; QEMU has none.
	kill -9 "$(cat grandchild)"
	# No status is better than half of one.
	[ ! -e status ]
}

@test "wrong arguments are refused before anything is started" {
	ok=(--console console --end-marker E --first 1 --progress 1 --total 1)
	for i in 0 2 4 6 8; do
		run "$KIT_BIN/kit-vmrun" "${ok[@]:0:i}" "${ok[@]:i+2}" -- touch started
		code 2
		has "${ok[i]} is missing"
	done
	for bad in "--first 0" "--first -1" "--total x" "--progress 1s" "--scale nan" \
		"--limit inf" "--grace 1e99" "--nosuch"; do
		# shellcheck disable=SC2086
		run "$KIT_BIN/kit-vmrun" "${ok[@]}" $bad -- touch started
		code 2
	done
	run "$KIT_BIN/kit-vmrun" "${ok[@]}" --end-marker "" -- touch started
	code 2
	run "$KIT_BIN/kit-vmrun" "${ok[@]}" --end-marker $'a\nb' -- touch started
	code 2
	run "$KIT_BIN/kit-vmrun" "${ok[@]}" --
	code 2
	has "no command"
	[ ! -e started ]
	[ ! -e console ]
}

@test "--help says what the options and exit codes are" {
	run --separate-stderr "$KIT_BIN/kit-vmrun" --help
	code 0
	has "--progress"
	[ -z "$stderr" ]
}
