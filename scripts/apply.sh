#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# usage: apply.sh [OPTION...] LTS TREE
#        apply.sh --recover LTS TREE
#
# Bring the patches that the kit has for LTS (6.1, 6.6, 6.12, 6.18) into TREE,
# a kernel tree of that LTS: an unpacked tarball, a git checkout, Debian's
# linux-source. All or nothing; what is there already is named and left alone.
#
#   --method HOW    git: a commit for each patch, by its author and with the
#                   committer of git config; hooks are not run
#                   quilt: pushed, at the end of the series that TREE has
#                   patch: the files are edited and that is all
#                   auto (the default): quilt if TREE has patches that quilt
#                   pushed, else git if TREE is the top of a git work tree,
#                   else patch
#   --class LIST    classes, with commas between: stable (the default), distro,
#                   experimental, or all for these three; landed only with
#                   --reverse; alternative. Only patches of just these classes
#                   are taken.
#   --only NAMES    of those, only these patches (commas between; .patch may
#                   be left out)
#   --without NAMES of those, all but these
#   --check         say what would be done and write nothing into TREE
#   --reverse       take out what is there: with git a commit that reverts each,
#                   with quilt popped and deleted
#   --strict        a patch that needs no work is an error: one already there,
#                   or with --reverse one that is not
#   --json          a JSON object on stdout in place of the table
#   --recover       mend what a killed run has left in TREE, and nothing else;
#                   any other run does that too before it begins
#
# States: "applies", "already there", "partly there", "conflict", "refused". The
# last three are failures. git apply decides, with all context and no fuzz; a
# hunk that fits at two places is a conflict. Refused is what would be in TREE
# without a patch it needs, unless that is left out by --without, or with one
# whose place it takes (docs/queues.md). What each method refuses is in docs/apply.md.
#
# KIT_QUEUE in the environment names another folder with patches/LTS/*.patch
# and series/LTS.CLASS, in place of the kit's own.
#
# stdout: the table (or JSON) and the counts. stderr: messages. Exit codes:
#   0  done, or nothing to do    1  conflict, partly there, or --strict; TREE
#   is as it was    2  wrong arguments or queue    5  a tool is missing
#   6  cannot write, disk full; TREE is as it was    7  TREE refused: no kernel
#   tree, another version, in use, changing under us, uncommitted changes or
#   others that the method does not know of, a rebase or the like under way
#   130, 143  interrupted; TREE is as it was

. "$(dirname -- "$(readlink -f -- "$0")")/lib/common.sh"
. "$KIT/scripts/lib/scratch.sh"
. "$KIT/scripts/lib/needs.sh"
. "$KIT/scripts/lib/journal.sh"
. "$KIT/scripts/lib/method.sh"

SCRATCH=
HOW=auto CLASS=stable CHECK=no REVERSE='' STRICT=no JSON=no ONLY='' WITHOUT='' RECOVER=no
NAME=() PATCH=() CHOSEN=() CLASSES=() FIRST=() FILES=() NEEDS=() INSTEAD=() ACTION=()

parse_args() {
	local args given=0
	args=$(getopt -n "$PROG" -o h -l method:,class:,only:,without:,check,reverse,strict,json,recover,help -- "$@") ||
		die "$EX_USAGE" "wrong arguments; $PROG --help lists them"
	eval set -- "$args"
	while :; do
		[[ $1 == -- || $1 == --recover ]] || given=$((given + 1))
		case $1 in
		--method) HOW=$2; shift ;;
		--class) CLASS=$2; shift ;;
		--only | --without)
			[ -n "$2" ] || die "$EX_USAGE" "$1 needs the name of a patch; leave it out to have no such limit"
			if [ "$1" = --only ]; then ONLY=$2; else WITHOUT=$2; fi
			shift ;;
		--check) CHECK=yes ;;
		--reverse) REVERSE=yes ;;
		--strict) STRICT=yes ;;
		--json) JSON=yes ;;
		--recover) RECOVER=yes ;;
		-h | --help) usage 0 ;;
		--) shift; break ;;
		esac
		shift
	done
	[ $# -eq 2 ] || die "$EX_USAGE" "LTS and TREE are needed, for example: $PROG 6.12 ../linux-6.12.95"
	LTS=$1
	[ "$HOW" = auto ] || [[ $METHODS == *" $HOW "* ]] ||
		die "$EX_USAGE" "no method \"$HOW\"; there are: auto${METHODS% }"
	[ "$RECOVER" = no ] || [ $given -eq 0 ] ||
		die "$EX_USAGE" "--recover does nothing else and takes no other option; leave them out"
	need_queue
	lts_known "$LTS" ||
		die "$EX_USAGE" "no queue for \"$LTS\"; there are: $(lts_list | paste -sd ' ')"
	[[ ,$CLASS, != *,landed,* ]] || [ -n "$REVERSE" ] ||
		die "$EX_USAGE" "patches of class landed are only taken out; add --reverse"
	kernel_tree "$2"
	TREE=$KERNEL
}

need_tools() {
	local tool missing=
	for tool in git filterdiff flock awk; do
		command -v "$tool" >/dev/null || missing+=" $tool"
	done
	[ -z "$missing" ] ||
		die "$EX_HOST" "missing:$missing; on Debian: apt-get install git patchutils util-linux mawk"
	kit_make build/bin/kit-queue
}

# The lock is on the folder itself, so that it leaves nothing behind.
lock_tree() {
	local how=-x
	[ "$CHECK" = no ] || how=-s
	exec 9<"$TREE" && flock -n $how 9 ||
		die "$EX_TREE" "another $PROG is at work in $TREE; wait until it is done"
}

# chosen NAME CLASS: whether --class, --only and --without leave it in.
chosen() {
	local stem=${1%.patch}
	[ "$CLASS" = all ] && [[ $2 != landed && $2 != alternative ]] || in_list "$2" "$CLASS" || return
	[ -z "$ONLY" ] || in_list "$stem" "$ONLY" || return
	[ -z "$WITHOUT" ] || ! in_list "$stem" "$WITHOUT"
}

in_list() {
	local list=,$2,
	[[ ${list//.patch,/,} == *",$1,"* ]]
}

# check_names: --only and --without name what --class has.
check_names() {
	local i name names have=" "
	for i in "${!NAME[@]}"; do
		if (ONLY='' WITHOUT='' chosen "${NAME[i]}" "${CLASSES[i]}"); then have+="${NAME[i]%.patch} "; fi
	done
	IFS=, read -ra names <<<"$ONLY,$WITHOUT"
	for name in "${names[@]}"; do
		[ -z "$name" ] || [[ $have == *" ${name%.patch} "* ]] ||
			die "$EX_USAGE" "no patch \"$name\" in class $CLASS of $LTS; there are:${have% }"
	done
}

# All that can lie on top of each other is read, not only what is chosen.
read_queue() {
	local list name path first class files needs instead wide=stable,distro,experimental,alternative
	"$KIT_BIN/kit-queue" --queue "$KIT_QUEUE" list --class "$CLASS" "$LTS" >/dev/null || exit
	[[ ,$CLASS, != *,landed,* ]] || wide+=,landed
	list=$("$KIT_BIN/kit-queue" --queue "$KIT_QUEUE" list --class "$wide" "$LTS") || exit
	while IFS=$'\t' read -r name path _ first class files _ needs instead; do
		[ -n "$name" ] || continue
		NAME+=("$name") PATCH+=("$KIT_QUEUE/$path") FIRST+=("$first")
		CLASSES+=("$class") FILES+=("$files") NEEDS+=("$needs") INSTEAD+=("$instead")
		if chosen "$name" "$class"; then CHOSEN+=(1); else CHOSEN+=(''); fi
	done <<<"$list"
	check_names
}

touched_files() { printf '%s\n' "${FILES[@]}" | tr ' ' '\n' | sed '/^$/d' | sort -u; }

# release_has FIRST: whether this tree's release is the first with it or later.
release_has() {
	[[ $1 == "$LTS".* ]] &&
		[ "$(printf '%s\n' "$1" "${VERSION%%-*}" | sort -V | head -n 1)" = "$1" ]
}

say_there() {
	if release_has "$2"; then
		note "$1 is already there: $LTS has it since $2 and this tree is $VERSION; the patch can be dropped from the series"
	else
		note "$1 is already there, put in by somebody before"
	fi
}

# What is to be done with each patch; sets FAILED, WORK and REST (counts).
plan() {
	local i want=applies rest="already there"
	[ -z "$REVERSE" ] || { want="already there" rest=applies; }
	FAILED=0 WORK=0 REST=0
	for i in "${!NAME[@]}"; do
		ACTION[i]=none
		[ -n "${CHOSEN[i]}" ] || [ "${STATE[i]}" = conflict ] || continue
		case ${STATE[i]} in
		"$want")
			WORK=$((WORK + 1)) ACTION[i]=work
			[[ -n $REVERSE || ${CLASSES[i]} != @(experimental|alternative) ]] ||
				note "${NAME[i]} was never merged upstream: for measuring, not for users"
			;;
		"$rest") REST=$((REST + 1)) ;;
		*) FAILED=$((FAILED + 1)) ACTION[i]=failed; note "${NAME[i]}: ${STATE[i]}: ${DETAIL[i]}" ;;
		esac
		[ "${STATE[i]}" != "already there" ] || [ -n "$REVERSE" ] || say_there "${NAME[i]}" "${FIRST[i]}"
	done
	[ "$STRICT" = no ] || [ $REST -eq 0 ] ||
		note "$REST patch(es) need no work, which --strict forbids"
	[ "$STRICT" = no ] || FAILED=$((FAILED + REST))
}

carry_out() {
	"${METHOD}_prepare"
	[ -s "$SCRATCH/list" ] ||
		die "$EX_INFRA" "git says that $WORK patch(es) went in, but no file changed; $TREE is as it was"
	[ "$CHECK" = yes ] || journal_write "$SCRATCH/list" "$OLD" "$NEW"
}

name_actions() {
	local i verb=applied
	[ -z "$REVERSE" ] || verb=reversed
	[ "$CHECK" = no ] || verb="would be $verb"
	[ $FAILED -eq 0 ] || verb=none
	for i in "${!NAME[@]}"; do
		[ "${ACTION[i]}" != failed ] || ACTION[i]=none
		[ "${ACTION[i]}" != work ] || ACTION[i]=$verb
	done
}

report() {
	local i w=5 changed=false bad
	for i in "${!NAME[@]}"; do
		# What was not asked for is no part of the answer, unless in the way.
		[ -n "${CHOSEN[i]}" ] || [ "${STATE[i]}" = conflict ] || { unset "NAME[i]"; continue; }
		[ ${#NAME[i]} -le "$w" ] || w=${#NAME[i]}
	done
	[ $FAILED -gt 0 ] && WORK=0
	[ $WORK -eq 0 ] || [ "$CHECK" = yes ] || changed=true
	if [ "$JSON" = yes ]; then
		for i in "${!NAME[@]}"; do
			printf '%s\t%s\t%s\t%s\n' "${NAME[i]}" "${STATE[i]}" "${ACTION[i]}" "${DETAIL[i]-}"
		done | (cd "$KIT_QUEUE" && "$KIT_BIN/kit-queue" states "$LTS" "tree=$TREE" "version=$VERSION" \
			"method=$METHOD" "classes=$CLASS" "check:=$(bool $CHECK)" "reverse:=$(bool "${REVERSE:-no}")" \
			"changed:=$changed" "work:=$WORK" "rest:=$REST" "failed:=$FAILED") || exit
		return
	fi
	[ ${#NAME[@]} -eq 0 ] || printf '%-*s  %-13s  %-16s  %s\n' "$w" patch state action "stable since"
	for i in "${!NAME[@]}"; do
		printf '%-*s  %-13s  %-16s  %s\n' "$w" "${NAME[i]}" "${STATE[i]}" "${ACTION[i]}" "${FIRST[i]}"
	done
	bad=
	[ $FAILED -eq 0 ] || bad=", failed $FAILED: nothing was changed"
	case $REVERSE$CHECK in
	no) echo "applied $WORK, already there $REST$bad" ;;
	yes) echo "would apply $WORK, already there $REST$bad" ;;
	yesno) echo "reversed $WORK, not there $REST$bad" ;;
	yesyes) echo "would reverse $WORK, not there $REST$bad" ;;
	esac
}

bool() { [ "$1" = yes ] && echo true || echo false; }

# shellcheck disable=SC2317 # called by the trap
cleanup() {
	[ -z "$SCRATCH" ] || rm -rf "$SCRATCH"
	[ -z "${PREPARING-}" ] || journal_drop "$TREE/.kit-apply.new" '[kc]'
}

# journal.sh turns them off where a stop half way would be worse.
signals_on() {
	trap 'note "interrupted; $TREE is as it was"; exit 130' INT
	trap 'note "terminated; $TREE is as it was"; exit 143' TERM HUP
}
signals_off() { trap '' INT TERM HUP; }

parse_args "$@"
need_tools
trap cleanup EXIT
signals_on
scratch_env
scratch_sweep
if [ "$RECOVER" = yes ]; then
	lock_tree
	journal_mend no
	[ "$MENDED" = yes ] || note "nothing to mend in $TREE"
	exit "$EX_OK"
fi
read_queue
lock_tree
journal_mend "$CHECK"
method_choose "$HOW"
method_busy
mapfile -t ALL_FILES < <(touched_files)
scratch_copy "$TREE" "${ALL_FILES[@]}"
find_states
needs_check
plan
[ $((FAILED + WORK)) -eq 0 ] || "${METHOD}_refuse"
[ "$METHOD$REVERSE" != git ] || git_uncommitted
if [ $FAILED -eq 0 ] && [ $WORK -gt 0 ]; then carry_out; fi
name_actions
report
[ $FAILED -eq 0 ] || exit "$EX_FAIL"
exit "$EX_OK"
