#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# wake-decides.sh - what do record_wakee() and wake_wide() of a source decide?
#
# Usage: wake-decides.sh FAIR_C [PATCH]...
#
# Takes the two functions out of FAIR_C, compiles them for this host and holds them
# against what they should do with the PATCHes in (file names, as of patches/LTS/;
# those that are not about them do not matter). No scenario of the lab sees the
# wakee patches do anything, so a mistake in them would be seen by this only.
#
# stdout: a line for each wrong decision. Exit codes: 0 all as expected; 1 not; 2
# usage, or FAIR_C does not have the functions; 3 they do not compile; 6 the disk is full.

. "$(dirname -- "$(readlink -f -- "$0")")/../scripts/lib/common.sh"

[[ ${1-} != -h && ${1-} != --help ]] || usage 0
[ $# -ge 1 ] && [[ $1 != -* ]] || usage "$EX_USAGE"
FAIR=$1 DEFINES=()
shift
for name; do
	case $name in
	sched-fair-count-flips-*) DEFINES+=(-DFLIPS) ;;
	sched-fair-go-wide-for-*) DEFINES+=(-DWIDE) ;;
	esac
done
DIR=$(mktemp -d) || die "$EX_INFRA" "mktemp: no temporary folder; check TMPDIR"
trap 'rm -rf "$DIR"' EXIT
awk '/^static (void record_wakee|int wake_wide)\(/ { on = 1 } on; /^}/ { on = 0 }' "$FAIR" >"$DIR/functions.h"
[ "$(grep -c '^}' "$DIR/functions.h")" -eq 2 ] || die "$EX_USAGE" "$FAIR has no record_wakee() and wake_wide()"
cc -std=gnu11 -Wall -Werror "${DEFINES[@]}" -I"$DIR" -o "$DIR/decides" "$KIT/tests/wake-decides.c" || exit "$EX_BUILD"
"$DIR/decides"
