#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# usage: status.sh [--upstream LINUX.git] [--stable STABLE.git] [--json] TREE|LTS...
#
# Say for each patch of the queue where it is needed and where it landed. TREE is
# a kernel tree: what is in it is found by its files, in the same way as apply.sh
# does, not by its version. LTS (6.1, ./6.1 would be a folder) says what the
# headers of the patches know.
#
#   --json             a JSON object on stdout in place of the tables
#
# Of each patch: needed; landed, and since when; conflict; partly there; refused;
# never merged and therefore only "for measuring" (or "in the tree"); not for this
# LTS, because only other queues have it. docs/status.md says more.
#
# KIT_QUEUE in the environment names another queue than the kit's own.
#
# stdout: the tables or JSON. stderr: findings, one line each. Exit codes: 0 nothing
# needs work on the queue; 1 there are findings; 2 wrong arguments or queue; 5 a
# tool is missing; 6 cannot write, disk full; 7 a tree or clone cannot be used; 130,
# 143 interrupted. Nothing is written to trees or clones.

. "$(dirname -- "$(readlink -f -- "$0")")/lib/common.sh"
. "$KIT/scripts/lib/scratch.sh"
. "$KIT/scripts/lib/needs.sh"
. "$KIT/scripts/lib/status.sh"

WORK='' SCRATCH='' JSON=no FOR=() LTSS=()

parse_args() {
	local args
	args=$(getopt -n "$PROG" -o h -l json,help -- "$@") ||
		die "$EX_USAGE" "wrong arguments; $PROG --help lists them"
	eval set -- "$args"
	while :; do
		case $1 in
		-h | --help) usage 0 ;;
		--json) JSON=yes ;;
		--) shift; break ;;
		esac
		shift
	done
	[ $# -gt 0 ] || die "$EX_USAGE" "which trees? name folders with kernel trees, or longterm kernels, for example: $PROG 6.12"
	FOR=("$@")
	need_queue
	check_trees
}

# check_trees: all arguments, before any work; LTSS gets the LTS of each.
check_trees() {
	local arg version
	for arg in "${FOR[@]}"; do
		if lts_known "$arg"; then LTSS+=("$arg"); continue; fi
		[ -d "$arg" ] ||
			die "$EX_USAGE" "$arg is no folder, and there is no queue of that name; there are: $(lts_list | paste -sd ' ')"
		version=$(tree_version "$arg") ||
			die "$EX_TREE" "$arg is no kernel tree: no Makefile with a version, or no kernel/sched/fair.c; give the top folder of one"
		version=${version%%-*}
		lts_known "${version%.*}" ||
			die "$EX_USAGE" "$arg is $version, and there is no queue for ${version%.*}; there are: $(lts_list | paste -sd ' ')"
		LTSS+=("${version%.*}")
	done
}

need_tools() {
	local tool missing=
	for tool in git filterdiff flock awk jq; do
		command -v "$tool" >/dev/null || missing+=" $tool"
	done
	[ -z "$missing" ] ||
		die "$EX_HOST" "missing:$missing; on Debian: apt-get install git patchutils util-linux mawk jq"
	kit_make build/bin/kit-queue
}

# states N: the rows of argument N.
states() {
	local arg=${FOR[$1]} lts=${LTSS[$1]} version=-
	if lts_known "$arg"; then
		header_states "$lts"
	else
		version=$(tree_version "$arg")
		tree_states "$(cd -- "$arg" && pwd -P)" "$lts" "$version" "$arg"
	fi
	other_states "$lts" "$version" "$arg"
}

# finding TEXT: what needs work; each makes the exit code 1.
finding() { printf '%s\n' "$*" >>"$WORK/findings"; }

find_in_rows() {
	local source lts version name first status detail
	while IFS=$'\t' read -r source lts version name _ _ _ first _ status detail; do
		case $status in
		conflict | "partly there")
			finding "$source: $name: $status: $detail" ;;
		needed)
			[ "$version" = - ] || ! has_release "$first" "$lts" "$version" || finding "$source: $name: $detail" ;;
		esac
	done <"$WORK/rows"
}

tables() {
	local n arg end asof
	for n in "${!FOR[@]}"; do
		arg=${FOR[n]}
		[ "$n" -eq 0 ] || echo
		IFS=$'\t' read -r end asof < <(tree_end "${LTSS[n]}") || end=
		printf '%s%s\n' "$(tree_title "$n")" "${end:+; support ends $end (projected, as of $asof)}"
		awk -F '\t' -v s="$arg" '$1 == s { printf "  %-16s  %-12s  %s%s\n", $10, $5, $4, $11 == "" || $10 ~ /conflict|partly/ ? "" : ": " $11 }' "$WORK/rows" | awk '!seen[$0]++'
	done
}

tree_title() {
	local version
	if lts_known "${FOR[$1]}"; then
		echo "${LTSS[$1]}, by the headers of its queue"
	else
		version=$(tree_version "${FOR[$1]}")
		echo "$version (${FOR[$1]}), by its files"
	fi
}

# rows_json FIELD... <ROWS: an array of objects with these fields; "-" is null.
rows_json() {
	jq -R -n --args '[inputs | split("\t") as $r | reduce range($ARGS.positional | length) as $i ({}; .[$ARGS.positional[$i]] = (if $r[$i] == "-" then null else $r[$i] // "" end))]' "$@"
}

json() {
	local n end asof
	for n in "${!FOR[@]}"; do
		IFS=$'\t' read -r end asof < <(tree_end "${LTSS[n]}") || end=- asof=-
		printf '%s\t%s\t%s\t%s\t%s\n' "${FOR[n]}" "${LTSS[n]}" "$(lts_known "${FOR[n]}" && echo - || tree_version "${FOR[n]}")" "$end" "$asof"
	done | rows_json source lts version support_ends as_of >"$WORK/trees.json" &&
		rows_json source lts version name class upstream mainline first_release state status detail <"$WORK/rows" >"$WORK/rows.json" &&
		jq -R -n '[inputs]' <"$WORK/findings" >"$WORK/findings.json" || infra
	jq -n --slurpfile t "$WORK/trees.json" --slurpfile r "$WORK/rows.json" --slurpfile f "$WORK/findings.json" \
		'{trees: $t[0], patches: $r[0], findings: $f[0]}' || infra
}

infra() { die "$EX_INFRA" "cannot write to $WORK or stdout (see above); free some space below ${TMPDIR:-/tmp} or set TMPDIR"; }

# shellcheck disable=SC2317 # called by the trap
cleanup() {
	[ -z "$SCRATCH" ] || rm -rf -- "$SCRATCH"
	[ -z "$WORK" ] || rm -rf -- "$WORK"
}

main() {
	local n line
	parse_args "$@"
	need_tools
	trap cleanup EXIT
	trap 'note "interrupted"; exit 130' INT
	trap 'note "terminated"; exit 143' TERM HUP
	scratch_env
	WORK=$(mktemp -d "${TMPDIR:-/tmp}/kit-status.XXXXXX") && WORK=$(cd "$WORK" && pwd -P) && : >"$WORK/findings" ||
		die "$EX_INFRA" "cannot make a folder below ${TMPDIR:-/tmp}; free some space there or set TMPDIR"
	: >"$WORK/rows"
	for n in "${!FOR[@]}"; do states "$n" >>"$WORK/rows" || exit; done
	find_in_rows
	if [ "$JSON" = yes ]; then json; else tables; fi
	while IFS= read -r line; do note "$line"; done <"$WORK/findings"
	[ ! -s "$WORK/findings" ] || exit "$EX_FAIL"
}

main "$@"
exit "$EX_OK"
