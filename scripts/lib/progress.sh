# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Progress: a step is a command that takes a while. On a terminal its line
# shows elapsed and expected time; elsewhere a line when it starts and ends.
# Expected is what the same step took the last time on this machine.

declare -A STEP_TIME		# seconds that each step took, for results.json

# step NAME KEY COMMAND...: run COMMAND and return its code. NAME is for the
# user; KEY, without blanks, is the step's name in results.json and, together
# with the work folder, for the expected time.
step() {
	local name=$1 key=$2 start=$EPOCHREALTIME file=$KIT_CACHE/times/${WORK_KEY:-any}.$2
	local expect ret
	shift 2
	expect=$(cat "$file" 2>/dev/null)
	STEP_PID=''
	if [ -t 2 ]; then
		"$@" &
		STEP_PID=$!
		step_watch "$name" "${start%.*}" "${expect%.*}"
	else
		note "$name${expect:+ (took ${expect%.*} s last time)}"
		"$@" &
		STEP_PID=$!
	fi
	wait "$STEP_PID"
	ret=$?
	STEP_PID=''
	STEP_TIME[$key]=$(seconds_since "$start")
	note "$name: ${STEP_TIME[$key]} s$([ "$ret" -eq 0 ] || printf ', failed')"
	if [ "$ret" -eq 0 ]; then
		mkdir -p "$KIT_CACHE/times" && printf '%s\n' "${STEP_TIME[$key]}" >"$file"
	fi
	return "$ret"
}

# step_watch NAME START EXPECTED: redraw one line while STEP_PID runs.
step_watch() {
	local now
	while kill -0 "$STEP_PID" 2>/dev/null; do
		now=$((EPOCHSECONDS - $2))
		printf '\r%s: %s  %d:%02d' "$PROG" "$1" $((now / 60)) $((now % 60)) >&2
		[ -z "$3" ] || printf ' of about %d:%02d' $(($3 / 60)) $(($3 % 60)) >&2
		sleep 0.5
	done
	printf '\r\033[K' >&2
}

# seconds_since START: wall time since START (EPOCHREALTIME), in seconds.
seconds_since() {
	local now=$EPOCHREALTIME us
	us=$((${now/./} - ${1/./}))
	printf '%d.%03d\n' $((us / 1000000)) $((us / 1000 % 1000))
}
