#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# bench.sh - how long the proof takes on this machine, against what it may take
#
# Usage: bench.sh [--apply] [LTS] [TREE]      (default 6.12, as fetch-tree.sh brings it)
#
# Prints one line a figure: what, seconds, bound, and whether it is kept. Each
# boot is alone on the machine, and the cold build starts with an empty cache,
# so this takes half an hour; with --apply it is only apply.sh, a minute or two.
# Nothing else should run. Exit codes: 0 every bound is kept, 1 one is not, else
# what verify-build.sh left with.

. "$(dirname -- "$(readlink -f -- "$0")")/../scripts/lib/common.sh"
PROG=bench.sh

APPLY_ONLY=
[ "${1-}" != --apply ] || { APPLY_ONLY=yes; shift; }
LTS=${1:-6.12}
TREE=${2:-$("$KIT/scripts/fetch-tree.sh" "$LTS")} || exit
DIR=$(mktemp -d) || exit "$EX_INFRA"
trap 'rm -rf "$DIR"' EXIT
RET=0

# line WHAT SECONDS BOUND
line() {
	local kept=kept
	jq -en "$2 <= $3" >/dev/null || { kept="NOT KEPT"; RET=$EX_FAIL; }
	printf '%-52s %8.1f s  at most %4s s  %s\n' "$1" "$2" "$3" "$kept"
}

# verify ARG...: leaves the wall time in WALL, the results in $DIR/out.
verify() {
	local start=$EPOCHREALTIME us ret
	"$KIT/scripts/verify-build.sh" --tree "$TREE" --out "$DIR/out" "$@" "$LTS" >"$DIR/log" 2>&1
	ret=$?
	[ "$ret" -eq 0 ] || { tail -5 "$DIR/log" >&2; exit "$ret"; }
	us=$((${EPOCHREALTIME/./} - ${start/./}))
	WALL=$((us / 1000000)).$((us % 1000000 / 100000))
}

time_of() { jq "$1" "$DIR/out/results.json"; }

# boots TOPOLOGY STORMS BOUND
boots() {
	verify --topology "$1" --seeds 2 --jobs 1
	line "$1, $2 storms, one boot (slowest of four)" "$(time_of '[.times.each_boot[]] | max')" "$3"
}

# apply WHAT BOUND ARG...: one run of apply.sh on $DIR/tree.
apply() {
	local start=$EPOCHREALTIME us
	"$KIT/scripts/apply.sh" "${@:3}" "$LTS" "$DIR/tree" >"$DIR/log" 2>&1 || { cat "$DIR/log" >&2; exit "$EX_FAIL"; }
	us=$((${EPOCHREALTIME/./} - ${start/./}))
	line "$1" "$((us / 1000000)).$(printf %06d $((us % 1000000)))" "$2"
}

# apply_times: the whole queue on an unpacked tree and on a git checkout of it.
apply_times() {
	local git=(git -C "$DIR/tree" -c gc.auto=0)
	local -x GIT_AUTHOR_NAME=bench GIT_COMMITTER_NAME=bench
	local -x GIT_AUTHOR_EMAIL=bench@kit.invalid GIT_COMMITTER_EMAIL=bench@kit.invalid
	cp -al -- "$TREE" "$DIR/tree" 2>/dev/null || { rm -rf "$DIR/tree"; cp -a -- "$TREE" "$DIR/tree"; } || exit "$EX_INFRA"
	apply "apply.sh --check of the whole queue, unpacked" 1 --check --class all
	# a newer release has some of it: without any of it there is most to do
	"$KIT/scripts/apply.sh" --class all --reverse "$LTS" "$DIR/tree" >"$DIR/log" 2>&1 || { cat "$DIR/log" >&2; exit "$EX_FAIL"; }
	apply "apply.sh of the whole queue, unpacked" 2 --class all
	apply "apply.sh --reverse, unpacked" 2 --class all --reverse
	# Debian's .gitignore has "/*"; the low threshold writes one pack
	"${git[@]}" init -q && "${git[@]}" -c core.bigFileThreshold=1 -c core.compression=0 add -A -f &&
		"${git[@]}" commit -q -m base || exit "$EX_INFRA"
	apply "apply.sh --check, git checkout" 1 --check --class all
	apply "apply.sh of the whole queue, git checkout" 3 --class all
	apply "apply.sh --reverse, git checkout" 3 --class all --reverse
	rm -rf "${DIR:?}/tree"
}

apply_times
[ -z "$APPLY_ONLY" ] || exit "$RET"
real=$KIT_CACHE
export KIT_CACHE=$DIR/cache
verify --seeds 2
line "cold build of base and patched, arm64" \
	"$(time_of '[.times | to_entries[] | select(.key | startswith("build_")) | .value] | add')" 360
export KIT_CACHE=$real
verify
verify
line "whole command again, nothing changed" "$WALL" 60
boots pair 12 12
boots turin20 12 30
boots turin20-160 3 45
boots turin20-320 3 120
exit "$RET"
