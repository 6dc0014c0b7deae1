#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# usage: lint.sh [LTS...]
#
# What is wrong with the queues, or those of LTS: series against files and
# against each other, headers against their table, diffs, and whatever would
# not survive quilt refresh or git am. One finding a line, FILE:LINE: text,
# with the repair. KIT_QUEUE in the environment names another queue.
#
# Exit codes: 0 nothing found, 1 something found, 2 no such queue, 5 a tool is
# missing.

. "$(dirname -- "$(readlink -f -- "$0")")/lib/common.sh"
. "$KIT/scripts/lib/scratch.sh"

[ "${1-}" != --help ] && [ "${1-}" != -h ] || usage 0
need_queue
for lts; do
	lts_known "$lts" ||
		die "$EX_USAGE" "no queue for \"$lts\"; there are: $(lts_list | paste -sd ' ')"
done
for tool in git quilt; do
	command -v "$tool" >/dev/null ||
		die "$EX_HOST" "missing: $tool; on Debian: apt-get install git quilt"
done
kit_make build/bin/kit-queue
TMP=$(mktemp -d) || die "$EX_INFRA" "cannot make a temporary folder; free some space or set TMPDIR"
trap 'rm -rf "$TMP"' EXIT
scratch_env
export GIT_CEILING_DIRECTORIES=$TMP
cd -- "$KIT_QUEUE" || exit "$EX_USAGE"
found=0

finding() {
	printf '%s:%d: %s\n' "$1" "$2" "$3"
	found=1
}

# The counts and the syntax of the diff: git has the last word.
ask_git_apply() {
	local said line
	said=$(git -C "$TMP" apply --numstat -- "$PWD/$1" 2>&1 >/dev/null) && return
	line=$(sed -n 's/.*at line \([0-9]*\).*/\1/p' <<<"$said" | head -n 1)
	finding "$1" "${line:-1}" "git apply: ${said#error: }; refresh the patch"
}

# What git am would keep: subject, author, every line down to the "---".
ask_git_am() {
	git -C "$TMP" mailinfo --no-scissors msg diff <"$1" >"$TMP/info" 2>"$TMP/err" ||
		{ finding "$1" 1 "git am cannot read it: $(head -n 1 "$TMP/err")"; return; }
	[ "$(sed -n 's/^Author: //p' "$TMP/info") <$(sed -n 's/^Email: //p' "$TMP/info")>" = \
		"$(sed -n 's/^From: //p;/^$/q' "$1")" ] ||
		finding "$1" 1 "git am would take another author: $(sed -n 's/^Author: //p' "$TMP/info")"
	[ "$(sed -n 's/^Subject: //p' "$TMP/info")" = "$(sed -n 's/^Subject: //p;/^$/q' "$1")" ] ||
		finding "$1" 3 "git am would take another subject: $(sed -n 's/^Subject: //p' "$TMP/info")"
	sed '1,/^$/d;/^---$/,$d' "$1" | cmp -s - "$TMP/msg" ||
		finding "$1" 5 "git am would keep another text than the one above the \"---\""
}

# What quilt would take for the header: all above the diff.
ask_quilt() {
	local lines
	echo "${1##*/}" >"$TMP/series"
	lines=$(cd "$TMP" && QUILT_PATCHES=$KIT_QUEUE/${1%/*} QUILT_SERIES=$TMP/series \
		quilt --quiltrc "$KIT/quiltrc" header "${1##*/}" | wc -l)
	[ "$lines" -eq "$(($(grep -n '^--- \(a/\|/dev/null\)' "$1" | head -n 1 | cut -d: -f1) - 1))" ] ||
		finding "$1" "$((lines + 1))" "quilt takes this line for the start of the diff, and a refresh drops what is between"
}

out=$("$KIT_BIN/kit-queue" lint "$@")
code=$?
[ -z "$out" ] || printf '%s\n' "$out"
[ $code -le 1 ] || exit $code
if [ $# -gt 0 ]; then dirs=("${@/#/patches/}"); else dirs=(patches/*); fi
for dir in "${dirs[@]}"; do
	for patch in "$dir"/*.patch; do
		# One finding a cause: what is named above needs no second opinion.
		[ -f "$patch" ] && ! grep -qF -- "$patch:" <<<"$out" || continue
		ask_git_apply "$patch"
		ask_git_am "$patch"
		ask_quilt "$patch"
	done
done
[ $code -eq 0 ] && [ $found -eq 0 ] || exit "$EX_FAIL"
exit "$EX_OK"
