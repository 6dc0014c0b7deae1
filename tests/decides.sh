#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# decides.sh - what do the functions that the queue changes decide, in a source?
#
# Usage: decides.sh [--first] FAIR_C [PATCH]...
#
# Takes functions out of FAIR_C and out of the core.c beside it, compiles them for this
# host, with as little of the kernel around them as they need, and holds them against
# what they should do with the PATCHes in (file names, as of patches/LTS/; those that
# are about other functions do not matter). This is for what a guest meets too seldom,
# as sums that are torn, or where no scenario shows that it matters, as with the wakee
# patches. Each file of tests/decides/ names its source in a line "source:" and its
# functions in lines "functions:", those that come with a patch in brackets; it is
# compiled with each of the macros below as 0 or 1, and HAVE_NAME of what is there.
#
#   --first   the first file of these that finds something is enough
#
# stdout: a line for each wrong decision. Calls of the functions, and headers, are not
# looked at. Exit codes: 0 all as expected; 1 not; 2 usage, or the source does not have
# a function; 3 they do not compile; 5 no compiler; 6 the disk is full, or the like.

. "$(dirname -- "$(readlink -f -- "$0")")/../scripts/lib/common.sh"

# functions SOURCE NAME...: their definitions, in the order of SOURCE; the longest,
# where there is an empty one for other configurations.
functions() {
	local file=$1
	shift
	# the first time through the file finds where they are, the second prints them
	awk -v names="$*" '
		BEGIN { n = split(names, name, " "); for (i = 1; i <= n; i++) wanted[name[i]] = 1 }
		NR == FNR && /^[a-z].*\(/ && !/[;}]$/ {
			of = $0; sub(/\(.*/, "", of); sub(/.*[ *]/, "", of)
			start = of in wanted ? FNR : 0
		}
		NR == FNR && start && /^}/ {
			if (FNR - start > last[of] - first[of]) { first[of] = start; last[of] = FNR }
			start = 0
		}
		NR == FNR { next }
		FNR == 1 { for (of in first) { begins[first[of]] = 1; ends[last[of]] = 1 } }
		FNR in begins { on = 1 }
		on
		FNR in ends { on = 0; print "" }' "$file" "$file"
}

# decide FILE: one file of tests/decides/.
decide() {
	local file=$1 source name names=() words defines=()
	source=$(dirname -- "$FAIR")/$(sed -n 's/^ [*] source: //p' "$file")
	[ "$(basename "$source")" != fair.c ] || source=$FAIR
	[ -f "$source" ] || source=/dev/null
	read -rd '' -a words < <(sed -n 's/^ [*] functions: //p' "$file")
	for name in "${words[@]}"; do
		names+=("${name//[\[\]]/}")
		grep -qsE "^[a-z].*\<${names[-1]}\([^;}]*$" "$source" && defines+=("-DHAVE_${names[-1]}") && continue
		[[ $name == \[* ]] || die "$EX_USAGE" "$source has no ${names[-1]}()"
	done
	for name in "${!HAS[@]}"; do defines+=("-D$name=${HAS[$name]}"); done
	functions "$source" "${names[@]}" >"$DIR/functions.h" || die "$EX_INFRA" "cannot write to $DIR; is the disk full?"
	cc -std=gnu11 -g1 -fsanitize=address -Wall -Werror -Wno-unused "${defines[@]}" -I"$DIR" -o "$DIR/decides" "$file" ||
		exit "$EX_BUILD"
	ASAN_OPTIONS=exitcode=99:detect_leaks=0 timeout 5 "$DIR/decides" 2>/dev/null
	case $? in
	0) ;;
	1) return 1 ;;
	124) echo "$(basename "$file" .c): the functions do not come to an end"; return 1 ;;
	99 | 134 | 136 | 139) echo "$(basename "$file" .c): the functions crash"; return 1 ;;
	*) die "$EX_INFRA" "what was compiled into $DIR does not run; is that a folder without programs? Set TMPDIR" ;;
	esac
}

[[ ${1-} != -h && ${1-} != --help ]] || usage 0
FIRST=
[ "${1-}" != --first ] || { FIRST=yes; shift; }
[ $# -ge 1 ] && [[ $1 != -* ]] || usage "$EX_USAGE"
[ -f "$1" ] && [ -r "$1" ] || die "$EX_USAGE" "$1 is no file that can be read"
command -v cc >/dev/null || die "$EX_HOST" "cc is not installed; it is in Debian's package gcc"
FAIR=$(readlink -f -- "$1") ret=0
declare -A HAS=([FLIPS]=0 [WIDE]=0 [RATE_LIMIT]=0 [OFFLINE]=0 [STALLED]=0 [PER_NODE]=0 [HELPERS]=0)
shift
for name; do
	name=${name##*/}
	compgen -G "$KIT_QUEUE/patches/*/$name" >/dev/null || die "$EX_USAGE" "no queue has a patch $name"
	case $name in
	sched-fair-count-flips-*) HAS[FLIPS]=1 ;;
	sched-fair-go-wide-for-*) HAS[WIDE]=1 ;;
	sched-core-introduce-sched_set_rq_on-*) HAS[HELPERS]=1 ;;
	sched-fair-ratelimit-update-*) HAS[RATE_LIMIT]=1 ;;
	sched-fair-fix-tg-load-when-offlining-*) HAS[OFFLINE]=1 ;;
	sched-fair-fix-unfairness-caused-by-stalled-*) HAS[STALLED]=1 ;;
	sched-fair-keep-tg-load_avg-per-node*) HAS[PER_NODE]=1 ;;
	esac
done
DIR=$(mktemp -d) || die "$EX_INFRA" "mktemp: no temporary folder; check TMPDIR"
trap 'rm -rf "$DIR"' EXIT
for file in "$KIT"/tests/decides/*.c; do
	decide "$file" && continue
	ret=$EX_FAIL
	[ -z "$FIRST" ] || break
done
exit "$ret"
