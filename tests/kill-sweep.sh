#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# kill-sweep.sh [OPTION...] METHOD LTS TREE [APPLY-OPTION...]
#
# Kill apply.sh --method METHOD (git, quilt or patch) with SIGKILL at each system
# call that changes something below TREE, every time on a fresh copy of TREE, and
# look at what the next run makes of what is left: with --recover on one copy,
# with a plain second run on another. TREE itself is only read.
#
#   --reverse     kill the taking out; the patches are brought in first
#   --every K     only each K-th point (default 1)
#   --objects K   of the points in .git/objects, which write what nothing refers to
#                 yet, only each K-th (default: as --every)
#   --only RE     only points of which the line "N<TAB>call<TAB>path" matches
#   --cuts        also after half of the bytes of each write, and after each call
#   --error NAME  kill nothing: let each of the calls fail with that errno, such as
#                 ENOSPC. The run must leave the tree as it was and say so, or have
#                 done all; what it cannot clear up then, --recover must
#   --twice K     of K of the points, spread evenly, kill the recovery too, at each
#                 of its own points, and recover again (default 3)
#   --seconds S   begin no point later than that; those left out are counted, and are
#                 spread over the run
#   --jobs N      so many at a time (default 2)
#   --dir DIR     where the copies go; default: a folder below TMPDIR. KIT_QUEUE
#                 names the queue, as for apply.sh.
#
# A kill that leaves what another has left before, but for times and git objects that
# nothing refers to, is counted and not mended again (but with --cuts it is).
#
# stdout: one line with the counts. stderr: each point that is not as it must be,
# with the line that repeats it. Exit: 0 all are; 1 some are not; 2 usage; 6 the
# sweep itself cannot work.

. "$(dirname -- "$(readlink -f -- "$0")")/../scripts/lib/common.sh"
. "$KIT/tests/kill-facts.bash"

# the points are to be the same in each run, so the names of commits are, too
export GIT_COMMITTER_DATE='2026-01-02 03:04:05 +0000'

KILLAT=$KIT/build/test/killat APPLY=$KIT/scripts/apply.sh
REVERSE=() EVERY=1 OBJECTS='' ONLY='' CUTS='' ERROR='' TWICE=3 JOBS=2 DIR='' LIMIT=

parse_args() {
	local args
	args=$(getopt -n "$PROG" -o +h -l reverse,every:,objects:,only:,cuts,error:,twice:,seconds:,jobs:,dir:,help -- "$@") ||
		die "$EX_USAGE" "wrong arguments; $PROG --help lists them"
	eval set -- "$args"
	while :; do
		case $1 in
		--reverse) REVERSE=(--reverse) ;;
		--only) ONLY=$2; shift ;;
		--cuts) CUTS=yes ;;
		--error) ERROR=$2; shift ;;
		--every) EVERY=$2; shift ;;
		--objects) OBJECTS=$2; shift ;;
		--twice) TWICE=$2; shift ;;
		--seconds) LIMIT=$2; shift ;;
		--jobs) JOBS=$2; shift ;;
		--dir) DIR=$2; shift ;;
		-h | --help) usage 0 ;;
		--) shift; break ;;
		esac
		shift
	done
	OBJECTS=${OBJECTS:-$EVERY}
	[ -z "$ERROR" ] || CUTS='' TWICE=0
	[[ $EVERY$OBJECTS$JOBS${LIMIT:-1} =~ ^[1-9][0-9]*$ && $TWICE =~ ^[0-9]+$ ]] ||
		die "$EX_USAGE" "--every, --objects, --jobs, --seconds and --twice take numbers"
	[ $# -ge 3 ] || die "$EX_USAGE" "METHOD, LTS and TREE are needed, for example: $PROG git 6.12 ../linux"
	METHOD=$1 LTS=$2 TREE=$(readlink -f -- "$3")
	shift 3
	OPTS=("$@")
	[ -d "$TREE" ] || die "$EX_USAGE" "no folder $TREE"
}

# apply TREE [OPTION...]: what is to be killed; recover TREE: what mends it.
apply() { "$APPLY" --method "$METHOD" "${@:2}" ${OPTS[@]+"${OPTS[@]}"} "$LTS" "$1"; }
recover() { "$APPLY" --recover "$LTS" "$1"; }

# late: whether there is no time left.
late() { [ -n "$LIMIT" ] && [ "$SECONDS" -ge "$LIMIT" ]; }

# kill_at N HOW LOG TREE COMMAND...: COMMAND, killed at the N-th point in TREE.
kill_at() {
	"$KILLAT" --below "$4" --at "$1" --how "$2" --log "$3" -- "${@:5}"
}

# fork FROM TO: a copy with times, modes, owners and hard links.
fork() { rm -rf "$2" && cp -a -- "$1" "$2" || die "$EX_INFRA" "cannot copy $1 to $2 (see above)"; }

# prepare: $W/before, the facts before and after, the list of points.
prepare() {
	W=$(mktemp -d "${DIR:-${TMPDIR:-/tmp}}/kill-sweep.XXXXXX") || die "$EX_INFRA" "cannot make a folder"
	trap 'kill $(jobs -p) 2>/dev/null; rm -rf "$W"' EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
	fork "$TREE" "$W/before"
	[ ${#REVERSE[@]} -eq 0 ] || apply "$W/before" >"$W/out" 2>&1 ||
		die "$EX_INFRA" "cannot apply to a copy of $TREE: $(tail -n 1 "$W/out")"
	fork "$W/before" "$W/after"
	"$KILLAT" --below "$W/after" --log "$W/points" -- \
		"$APPLY" --method "$METHOD" "${REVERSE[@]}" ${OPTS[@]+"${OPTS[@]}"} "$LTS" "$W/after" >"$W/out" 2>&1 ||
		die "$EX_INFRA" "cannot run on a copy of $TREE: $(tail -n 1 "$W/out")"
	facts "$W/before" >"$W/facts.before" && facts "$W/after" >"$W/facts.after" ||
		die "$EX_INFRA" "cannot read what is in $W (see above)"
	touched "$W/facts.before" "$W/facts.after" >"$W/touched"
	[ -s "$W/touched" ] || die "$EX_INFRA" "the run changes nothing in $TREE; give a tree where a patch applies"
	folders_of "$W/touched" >"$W/untimed.before"
	cat "$W/touched" "$W/untimed.before" >"$W/untimed.after"
	timed "$W/facts.before" "$W/untimed.before" >"$W/want.before"
	timed "$W/facts.after" "$W/untimed.after" >"$W/want.after"
	timed "$W/facts.before" "$W/untimed.after" | grep '^time' >"$W/times"
	grep '^time' "$W/want.after" | diff "$W/times" - >&2 ||
		die "$EX_FAIL" "the run changes the times of files that it does not touch (see above)"
	no_leftovers "$W/after" >&2 || die "$EX_FAIL" "an uninterrupted run leaves something behind (see above)"
	N=$(wc -l <"$W/points")
}

# is FACTS WHICH: these are as before, or as after; what differs goes to stdout.
is() { timed "$1" "$W/untimed.$2" | diff "$W/want.$2" -; }

# wrong TEXT: report the point at hand, which POINT, HOW and OUT describe.
wrong() {
	printf '%s: point %s (%s) of %s %s: %s\n' "$PROG" "$POINT" "$HOW" "$METHOD" "${REVERSE[*]}" "$1"
	printf '  the call: %s\n' "$(sed -n "${POINT}p" "$W/points" | sed "s,$W,,g")"
	sed "s,^,  | ,; s,$W/[0-9]*/,,g" "$OUT" | head -n "${2:-12}"
	printf '  again: %s --below TREE --at %s --how %s -- %s --method %s %s %s TREE\n' \
		killat "$POINT" "$HOW" apply.sh "$METHOD" "${REVERSE[*]}" "$LTS"
} >&2

# mended TREE: TREE is as before or as after with nothing left; sets STATE.
mended() {
	no_leftovers "$1" >"$OUT" || { wrong "something is left behind"; return 1; }
	facts "$1" >"$1.facts"
	STATE=before
	is "$1.facts" before >"$OUT" && return
	STATE=after
	is "$1.facts" after >"$OUT.after" && return
	cat "$OUT.after" >>"$OUT"
	wrong "neither as before nor as after" 40
	return 1
}

# stop_at D COPY: a run on a copy of the tree in D, stopped at POINT as HOW says.
stop_at() {
	OUT=$1/out
	mkdir -p "$1"
	fork "$W/before" "$1/$2"
	kill_at "$POINT" "$HOW" "$1/log" "$1/$2" "$APPLY" --method "$METHOD" "${REVERSE[@]}" \
		${OPTS[@]+"${OPTS[@]}"} "$LTS" "$1/$2" >"$OUT" 2>&1 </dev/null
}

# seen FACTS: whether another point has left just this; never with --cuts.
seen() {
	local key
	[ -z "$CUTS" ] || return
	key=$(grep -v '^time ' "$1" | sha256sum)
	! mkdir "$W/seen/${key%% *}" 2>/dev/null
}

# point D: the POINT with HOW, in the folder D. A line "STATE RAW" to stdout, RAW
# being how the tree was before anything mended it.
point() {
	local d=$1 code raw=changed
	stop_at "$d" t
	code=$?
	[ $code -eq 137 ] || { wrong "was to be killed, but left with $code"; return 1; }
	facts "$d/t" >"$d/facts"
	! seen "$d/facts" || { echo "same as another"; return; }
	fork "$d/t" "$d/u"
	! is "$d/facts" before >/dev/null || raw=before
	! is "$d/facts" after >/dev/null || raw=after
	recover "$d/t" >"$OUT" 2>&1 </dev/null || { wrong "--recover left with $?"; return 1; }
	[ $raw != changed ] || grep -q 'interrupted' "$OUT" || { wrong "--recover does not name what it found"; return 1; }
	mended "$d/t" || return
	echo "$STATE $raw"
	[ $raw = changed ] || [ $raw = "$STATE" ] || { wrong "--recover changed a tree that was as $raw to $STATE"; return 1; }
	apply "$d/u" "${REVERSE[@]}" >"$OUT" 2>&1 </dev/null || { wrong "the second run left with $?"; return 1; }
	[ $raw != changed ] || grep -q 'interrupted' "$OUT" || { wrong "the second run does not name what it found"; return 1; }
	facts "$d/u" >"$d/facts"
	no_leftovers "$d/u" >"$OUT" && is "$d/facts" after >>"$OUT" || { wrong "after a second run not as after a whole one" 40; return 1; }
}

# twice D: the same POINT, with the recovery killed too, at each of its points.
twice() {
	local d=$1 at=0 code first
	stop_at "$d" k
	fork "$d/k" "$d/t"
	recover "$d/t" >"$OUT" 2>&1 && mended "$d/t" || return
	first=$STATE
	until late; do
		at=$((at + 1))
		fork "$d/k" "$d/t"
		kill_at $at before "$d/log" "$d/t" "$APPLY" --recover "$LTS" "$d/t" >"$OUT" 2>&1 </dev/null
		code=$?
		[ $code -ne 124 ] || break
		[ $code -eq 137 ] || { wrong "recovery point $at was to be killed, but left with $code"; return 1; }
		recover "$d/t" >"$OUT" 2>&1 </dev/null ||
			{ wrong "--recover left with $? after a recovery killed at its point $at"; return 1; }
		mended "$d/t" || { wrong "(that was after a recovery killed at its point $at: $(sed -n "${at}p" "$d/log"))" 0; return 1; }
		[ "$STATE" = "$first" ] || { wrong "a recovery killed at its point $at makes $STATE of what is to be $first"; return 1; }
		echo "$STATE twice"
	done
}

# failing D: the POINT fails with HOW. A line "STATE failed" to stdout.
failing() {
	local d=$1 code left=
	stop_at "$d" t
	code=$?
	[[ $code =~ ^[067]$ ]] || { wrong "left with $code"; return 1; }
	[ $code -eq 0 ] || grep -q '^apply.sh: ' "$OUT" || { wrong "left with $code and no message"; return 1; }
	no_leftovers "$d/t" >"$d/left" || left=yes
	if [ -n "$left" ]; then
		grep -qE -- '--recover|remove it by hand' "$OUT" ||
			{ wrong "left something behind and does not say what to do"; return 1; }
		recover "$d/t" >"$OUT" 2>&1 </dev/null || { wrong "--recover left with $?"; return 1; }
	elif [ $code -ne 0 ]; then
		grep -q ' is as it was' "$OUT" || { wrong "left with $code and does not say how the tree is"; return 1; }
	fi
	mended "$d/t" || return
	echo "$STATE failed"
	[ $code -ne 0 ] || [ "$STATE" = after ] || { wrong "left with 0, but the tree is as before"; return 1; }
	[ $code -eq 0 ] || [ -n "$left" ] || [ "$STATE" = before ] || { wrong "says that the tree is as it was, and it is not"; return 1; }
}

# hows: how to stop at the point P.
hows() {
	[ -z "$ERROR" ] || { echo "$1 $ERROR failing"; return; }
	echo "$1 before point"
	[ -n "$CUTS" ] || [ "$1" -ne "$N" ] || echo "$1 after point"
	[ -n "$CUTS" ] || return 0
	echo "$1 after point"
	! sed -n "${1}p" "$W/points" | grep -qE $'\t(write|pwrite64)\t' || echo "$1 half point"
}

# plan: the work as lines "POINT HOW KIND"; where it may not be done to the end, in an
# order that is the same each time.
plan() {
	every_point | if [ -n "$LIMIT" ]; then
		awk 'BEGIN { srand(1) } { print rand() "\t" $0 }' | sort | cut -f2-
	else
		cat
	fi
}

every_point() {
	local p every step=$((TWICE > 0 ? (N + TWICE) / (TWICE + 1) : N + 1)) objects only
	only=$(grep -nE -- "$ONLY" "$W/points" | cut -d: -f1 | paste -sd ' ')
	objects=$(grep -n '/\.git/objects/' "$W/points" | cut -d: -f1 | paste -sd ' ')
	for ((p = 1; p <= N; p++)); do
		[[ " $only " == *" $p "* ]] || continue
		every=$EVERY
		[[ " $objects " != *" $p "* ]] || every=$OBJECTS
		((p % every && p != N)) || hows "$p"
		((p % step)) || echo "$p before twice"
	done
}

# worker I: each JOBS-th line of the plan.
worker() {
	local i=$1 line=0 kind
	while read -r POINT HOW kind; do
		line=$((line + 1))
		((line % JOBS == i)) || continue
		! late || { [ "$kind" = twice ] || echo "left $POINT"; continue; }
		"$kind" "$W/$i" || echo "bad $POINT"
	done <"$W/plan" >"$W/result.$i"
}

count() { grep -cE "$1" "$W/results"; }

# verdict: the counts; fails if a point is bad, or one was not tried.
verdict() {
	local bad tried left what
	cat "$W"/result.* >"$W/results"
	tried=$(grep -cE ' (point|failing)$' "$W/plan")
	left=$(count '^left')
	tried=$((tried - left))
	bad=$(count '^bad')
	what="killed $tried times"
	[ -z "$ERROR" ] || what="each failed once with $ERROR"
	[ -z "$ONLY" ] || what+=" (only at $ONLY)"
	[ "$EVERY" -eq 1 ] || what+=" (at each $EVERY. point)"
	[ "$OBJECTS" -eq "$EVERY" ] || what+=" (of those in .git/objects at each $OBJECTS.)"
	[ "$left" -eq 0 ] || what+=" (no time for $left more)"
	printf '%s%s: %s points, %s: %s as before, %s as after' "$METHOD" "${REVERSE[*]:+ ${REVERSE[*]}}" \
		"$N" "$what" "$(count '^before [^t]')" "$(count '^after [^t]')"
	[ -n "$ERROR" ] || printf ', %s in a state seen already; the recovery killed %s times' "$(count '^same')" "$(count ' twice$')"
	printf '; %s wrong\n' "$bad"
	[ "$bad" -eq 0 ] && [ "$tried" -gt 0 ] && [ "$(grep -cvE ' twice$|^left' "$W/results")" -eq "$tried" ]
}

parse_args "$@"
kit_make build/test/killat build/bin/kit-queue
prepare
mkdir "$W/seen"
plan >"$W/plan"
SECONDS=0
for ((w = 0; w < JOBS; w++)); do worker $w & done
wait
verdict || exit "$EX_FAIL"
