#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# rerun.sh - boot the kernels of this results folder again, without building
#
# Usage: ./rerun.sh [RUN...]      (such as base-1; default all)
#
# Runs the commands in commands/ and compares each console with the one in
# consoles/ (identical where results.json says "reproducible": true). Needs
# QEMU only, and writes nothing into this folder. RERUN_SECONDS (900) bounds
# each boot. Exit codes: 0 all identical, 1 some differ, 2 usage, 6 QEMU did
# not run or did not end, 130, 143 interrupted.

say() { echo "rerun.sh: $*" >&2; }

# shellcheck disable=SC2317 # called by the trap
cleanup() {
	[ -z "$pid" ] || { kill "$pid" && wait "$pid"; } 2>/dev/null
	rm -rf "$new"
}

# boot RUN: its command, with the console going to $new/RUN.txt.
boot() {
	sed "s,>consoles/$1.txt\$,>\"\$new/$1.txt\"," "commands/$1.sh" >"$new/$1.sh" || return
	timeout -k 5 "${RERUN_SECONDS:-900}" bash "$new/$1.sh" &
	pid=$!
	wait "$pid"
	local ret=$?
	pid=''
	return "$ret"
}

if [ "${1-}" = --help ]; then
	sed -n '/^#!/d; /^# SPDX/d; /^#/!q; s/^# \{0,1\}//p' "$0"
	exit 0
fi
cd -- "$(dirname -- "$(readlink -f -- "$0")")" || exit 6
if [ $# -eq 0 ]; then
	for f in commands/*.sh; do [ ! -f "$f" ] || set -- "$@" "$(basename "$f" .sh)"; done
	[ $# -gt 0 ] || { say "no boots in commands/: this run ended before it came to them"; exit 2; }
fi
for run; do
	[[ $run != */* ]] && [ -f "commands/$run.sh" ] ||
		{ say "no run '$run' in commands/; give none to run all"; exit 2; }
done
pid='' ret=0
new=$(mktemp -d) || { say "mktemp: no temporary folder; check TMPDIR"; exit 6; }
export new
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
for run; do
	boot "$run" || { say "$run: QEMU did not run, or not to its end; see above"; exit 6; }
	if cmp -s "consoles/$run.txt" "$new/$run.txt"; then
		echo "$run: identical"
	else
		echo "$run: differs"
		ret=1
	fi
done
grep -q '"reproducible": true' results.json || say "results.json does not call this run reproducible, so consoles may differ"
exit "$ret"
