# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# shellcheck disable=SC2154 # bats sets status, output and stderr
#
# What the tests of fetch-tree.sh share. TREES is the folder of trees.

# fetch ARG...: run it, with the streams apart.
fetch() { run --separate-stderr "$KIT/scripts/fetch-tree.sh" "$@"; }

# ok_tree VERSION: it left with 0 and printed the path of that tree alone.
ok_tree() {
	printf '%s\n' "$stderr"
	[ "$status" -eq 0 ] && [ "$output" = "$TREES/$1" ]
}

# nothing_left: no tree, no temporary, no part and no lock is in the cache.
# shellcheck disable=SC2119,SC2120
nothing_left() { trees_are; }

# trees_are NAME...: just these names are in the folder of trees.
# shellcheck disable=SC2120
trees_are() {
	local have
	have=$(find "$TREES" -mindepth 1 -maxdepth 1 -printf '%f\n' | sort | paste -sd' ')
	[ "$have" = "$*" ] || { echo "$TREES: $have"; return 1; }
}

# refused CODE TEXT: it left with CODE, said TEXT in its last line, and printed
# no path.
refused() {
	printf '%s\n' "$stderr"
	[ "$status" -eq "$1" ] || { echo "exit $status, not $1"; return 1; }
	[[ ${stderr##*$'\n'} == "fetch-tree.sh: "*"$2"* ]] && [ -z "$output" ]
}

# kill_session PID: SIGKILL to PID and all that it has started, and wait until
# they are gone: one that still dies holds its locks.
kill_session() {
	pkill -KILL -s "$1" || :
	wait "$1" || :
	for _ in $(seq 600); do
		# shellcheck disable=SC2009 # pgrep counts zombies too
		ps -s "$1" -o stat= | grep -qv "^Z" || return 0
		sleep 0.1
	done
	echo "session $1 does not end"
	return 1
}

# wait_for FILE: until it is there, at most 60 s.
wait_for() {
	for _ in $(seq 600); do
		[ ! -e "$1" ] || return 0
		sleep 0.1
	done
	return 1
}
