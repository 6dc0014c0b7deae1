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
#   --upstream CLONE   a clone of mainline: says which follow-ups (fixes of our
#                      commits, reverts, fixes of these) the queue lacks, and
#                      whether our diffs do what upstream's do
#   --stable CLONE     a clone of linux-stable: says in which release of which
#                      tree each landed, and which newer trees lack it; an LTS is
#                      then looked at by the files of its branch
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
. "$KIT/scripts/lib/submit-clone.sh"
. "$KIT/scripts/lib/submit-pick.sh"
. "$KIT/scripts/lib/submit-text.sh"
. "$KIT/scripts/lib/status.sh"
. "$KIT/scripts/lib/upstream.sh"
. "$KIT/scripts/lib/landed.sh"

# Of each argument: FOR as it was given, LTSS; DIRS and VERSIONS if there are files.
WORK='' SCRATCH='' JSON=no FOR=() LTSS=() DIRS=() VERSIONS=() UPSTREAM='' STABLE='' WITH_UPSTREAM=no WITH_STABLE=no

parse_args() {
	local args
	args=$(getopt -n "$PROG" -o h -l upstream:,stable:,json,help -- "$@") ||
		die "$EX_USAGE" "wrong arguments; $PROG --help lists them"
	eval set -- "$args"
	while :; do
		case $1 in
		-h | --help) usage 0 ;;
		--upstream | --stable)
			[ -n "$2" ] || die "$EX_USAGE" "$1 needs the folder of a clone"
			if [ "$1" = --upstream ]; then UPSTREAM=$2 WITH_UPSTREAM=yes; else STABLE=$2 WITH_STABLE=yes; fi
			shift ;;
		--json) JSON=yes ;;
		--) shift; break ;;
		esac
		shift
	done
	[ $# -gt 0 ] || die "$EX_USAGE" "which trees? name folders with kernel trees, or longterm kernels, for example: $PROG 6.12"
	need_queue
	name_once "$@"
	check_trees
}

# name_once ARG...: FOR gets each once. Lines with tabs carry the names around.
name_once() {
	local arg
	for arg; do
		[[ $arg != *[[:cntrl:]]* ]] ||
			die "$EX_TREE" "$(printf %q "$arg") has a control character in its name; rename it"
		[ ${#FOR[@]} -gt 0 ] && printf '%s\n' "${FOR[@]}" | grep -qxF -- "$arg" || FOR+=("$arg")
	done
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
		whole_tree "$arg" "$arg"
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
	if ! lts_known "$arg"; then
		DIRS[$1]=$(cd -- "$arg" && pwd -P) VERSIONS[$1]=$(tree_version "$arg")
	elif [ "$WITH_STABLE" = yes ] && stable_ref "$lts" >/dev/null; then
		tip_tree "$lts"
		DIRS[$1]=$WORK/$lts/tree VERSIONS[$1]=$(cat "$WORK/$lts/version")
	fi
	version=${VERSIONS[$1]:--}
	if [ "$version" = - ]; then
		header_states "$lts"
	else
		tree_states "${DIRS[$1]}" "$lts" "$version" "$arg"
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
		S=$arg awk -F '\t' '$1 == ENVIRON["S"] { printf "  %-16s  %-12s  %s%s\n", $10, $5, $4, $11 == "" || $10 ~ /conflict|partly/ ? "" : ": " $11 }' "$WORK/rows" | awk '!seen[$0]++'
	done
}

# clone_tables: what the clones say.
clone_tables() {
	if [ "$WITH_UPSTREAM" = yes ]; then
		printf '\nFollow-ups in mainline that queue and tree lack:\n'
		awk -F '\t' '{ printf "  %s: %.12s (\"%s\"), %s, %s %s\n", $1, $3, $7, $4 == "-" ? "in no release yet" : $4, $5, $6 } END { if (!NR) print "  none" }' "$WORK/followups"
		printf '\nOur diffs against those of upstream:\n'
		awk -F '\t' '{ printf "  %s: %s: %s%s\n", $1, $3, $4, $5 == "" ? "" : "; " $5 } END { if (!NR) print "  none" }' "$WORK/effects"
	fi
	[ "$WITH_STABLE" = yes ] || return 0
	printf '\nWhere each landed, by the branches of the clone:\n'
	awk -F '\t' '
		BEGIN { say["start"] = "began with it"; say["lacks"] = "lacks it"; say["no branch"] = "no branch in the clone"; say["files"] = "in the files, but no commit names it" }
		$1 != last { print "  " $1; last = $1 }
		$4 in say { printf "    %-5s %s\n", $3, say[$4]; next }
		{ printf "    %-5s %s (%.12s)%s\n", $3, $5 == "-" ? "in no release yet" : "since " $5, $6, $4 == "reverted" ? ", but reverted later" : "" }' "$WORK/landed"
}

tree_title() {
	if [ -z "${DIRS[$1]-}" ]; then
		echo "${LTSS[$1]}, by the headers of its queue"
	elif lts_known "${FOR[$1]}"; then
		echo "${VERSIONS[$1]} (the newest state in the clone), by its files"
	else
		echo "${VERSIONS[$1]} (${FOR[$1]}), by its files"
	fi
}

# rows_json FIELD... <ROWS: an array of objects with these fields; "-" is null.
rows_json() {
	jq -R -n --args '[inputs | split("\t") as $r | reduce range($ARGS.positional | length) as $i ({}; .[$ARGS.positional[$i]] = (if $r[$i] == "-" then null else $r[$i] // "" end))]' "$@"
}

json() {
	local n end asof part
	for n in "${!FOR[@]}"; do
		IFS=$'\t' read -r end asof < <(tree_end "${LTSS[n]}") || end=- asof=-
		printf '%s\t%s\t%s\t%s\t%s\n' "${FOR[n]}" "${LTSS[n]}" "${VERSIONS[n]:--}" "$end" "$asof"
	done | rows_json source lts version support_ends as_of >"$WORK/trees.json" &&
		rows_json source lts version name class upstream mainline first_release state status detail <"$WORK/rows" >"$WORK/rows.json" &&
		jq -R -n '[inputs]' <"$WORK/findings" >"$WORK/findings.json" || infra
	[ "$WITH_UPSTREAM" = no ] || {
		rows_json source lts commit version kind what subject <"$WORK/followups" >"$WORK/followups.json" &&
			rows_json source lts name how detail <"$WORK/effects" >"$WORK/effects.json" || infra
	}
	[ "$WITH_STABLE" = no ] || rows_json name upstream tree how release commit <"$WORK/landed" >"$WORK/landed.json" || infra
	for part in followups effects landed; do [ -f "$WORK/$part.json" ] || echo null >"$WORK/$part.json" || infra; done
	jq -n --slurpfile t "$WORK/trees.json" --slurpfile r "$WORK/rows.json" --slurpfile f "$WORK/findings.json" \
		--slurpfile u "$WORK/followups.json" --slurpfile e "$WORK/effects.json" --slurpfile l "$WORK/landed.json" \
		'{trees: $t[0], patches: $r[0], followups: $u[0], effects: $e[0], landed: $l[0], findings: $f[0]}' || infra
}

ask_mainline() {
	local n
	commits_check
	for n in "${!FOR[@]}"; do [ -n "${DIRS[n]-}" ] || header_effects "$n"; done
	followups_find
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
	scratch_sweep
	scratch_work status
	: >"$WORK/rows"
	clones_open
	for n in "${!FOR[@]}"; do states "$n" >>"$WORK/rows"; done
	find_in_rows
	[ "$WITH_UPSTREAM" = no ] || ask_mainline
	[ "$WITH_STABLE" = no ] || landed_find
	if [ "$JSON" = yes ]; then json; else { tables && clone_tables; } fi >"$WORK/report" && cat "$WORK/report" || infra
	while IFS= read -r line; do note "$line"; done <"$WORK/findings"
	[ ! -s "$WORK/findings" ] || exit "$EX_FAIL"
}

main "$@"
exit "$EX_OK"
