# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Progress: a step is a command that takes a while. On a terminal its line
# shows elapsed and expected time; elsewhere a line when it starts and ends.
# Expected is what the same step took the last time on this machine, the first
# time what configs/expected-times says.

declare -gA STEP_TIME		# seconds that each step took, for results.json

# in_background COMMAND...: run COMMAND without a terminal to read from, and
# return its code. A trap of the script comes at once, not at COMMAND's end.
in_background() {
	"$@" </dev/null &
	STEP_PID=$!
	[ -z "${WATCH:-}" ] || $WATCH
	wait "$STEP_PID"
}

# kill_jobs: each background job is a process group of its own (set -m); it is
# gone when the group is, so that nothing writes to what is removed next.
kill_jobs() {
	local pid n
	for pid in $(jobs -p); do
		kill -TERM -- "-$pid" 2>/dev/null
		for ((n = 0; n < 200; n++)); do
			group_lives "$pid" || continue 2
			sleep 0.1
		done
		kill -KILL -- "-$pid" 2>/dev/null
	done
}

# group_lives PGID: true if the process group has more than zombies.
group_lives() {
	cat /proc/[0-9]*/stat 2>/dev/null | awk -v group="$1" '
		{ sub(/^.*\) /, "") } $1 != "Z" && $3 == group { found = 1 } END { exit !found }'
}

# step NAME KEY COMMAND...: run COMMAND and return its code. NAME is for the
# user; KEY, without blanks, is the step's name in results.json and, together
# with the work folder, for the expected time.
step() {
	local name=$1 key=${2//./_} start=$EPOCHREALTIME file=$KIT_CACHE/times/${WORK_KEY:-any}.$2
	local expect WATCH='' ret
	shift 2
	expect=$(expected_time "$file" "$key")
	if [ -t 2 ]; then
		WATCH=step_watch
	else
		note "$name${expect:+ (about $expect s)}"
	fi
	in_background "$@"
	ret=$?
	STEP_TIME[$key]=$(seconds_since "$start")
	note "$name: ${STEP_TIME[$key]} s$([ "$ret" -eq 0 ] || printf ', failed')"
	if [ "$ret" -eq 0 ]; then
		mkdir -p "$KIT_CACHE/times" && printf '%s\n' "${STEP_TIME[$key]}" >"$file"
	fi
	return "$ret"
}

# expected_time FILE KEY: whole seconds that the step will take, or nothing.
expected_time() {
	local seconds
	seconds=$(cat "$1" 2>/dev/null) ||
		seconds=$(awk -v key="$2" -v arch="${ARCH:-}" '
			!/^#/ && ($2 == "any" || $2 == arch) && index(key, $1) == 1 { print $3; exit }' "$KIT/configs/expected-times")
	# Less than a second is not worth a word.
	[ "${seconds%.*}" = 0 ] || printf '%s\n' "${seconds%.*}"
}

# step_watch: redraw one line while STEP_PID runs; name, start and expect are
# step's.
step_watch() {
	local now
	while kill -0 "$STEP_PID" 2>/dev/null; do
		now=$((EPOCHSECONDS - ${start%.*}))
		# The rest of a line that became shorter goes.
		printf '\r%s: %s  %d:%02d%s\033[K' "$PROG" "$name" $((now / 60)) $((now % 60)) \
			"${expect:+$(printf ' of about %d:%02d' $((expect / 60)) $((expect % 60)))}" >&2
		# A sleep in the foreground would take the terminal, and its Ctrl-C.
		sleep 0.5 &
		wait $!
	done
	printf '\r\033[K' >&2
}

# seconds_since START: wall time since START (EPOCHREALTIME), in seconds.
seconds_since() {
	local now=$EPOCHREALTIME us
	us=$((${now/./} - ${1/./}))
	printf '%d.%03d\n' $((us / 1000000)) $((us / 1000 % 1000))
}
