# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Where each upstream commit of the queue landed, by the branches of a stable clone,
# for status.sh --stable. History is asked through submit-clone.sh.
#
# Uses WORK, STABLE, $WORK/rows. Makes $WORK/landed, one commit and tree a line:
#   name, upstream commit, tree (6.1), how, release ("-": none), stable commit ("-")
# how is
#   start       the tree began with it
#   landed      by a commit of the branch that names it
#   reverted    the same, but a later one takes it back
#   files       in the files of the branch, though no commit names it
#   lacks
#   no branch   the clone has no linux-X.Y.y

# supported_trees: of configs/longterm-trees, those whose end has not passed.
supported_trees() { awk -v now="$(date +%Y-%m)" '!/^#/ && NF && $2 >= now { print $1 }' "$KIT/configs/longterm-trees" | sort -V; }

# landed_find: all commits in all trees.
landed_find() {
	local name commit version lts
	while IFS=$'\t' read -r name commit version <&3; do
		for lts in $({ supported_trees; printf '%s\n' "${LTSS[@]}"; } | sort -Vu); do
			landed_row "$name" "$commit" "$version" "$lts" >>"$WORK/landed" || exit
		done
		newer_lack "$name" "$commit"
	done 3< <(queue_commits)
	first_releases
}

# landed_row NAME COMMIT VERSION LTS
landed_row() {
	local found release how=landed
	if version_le "$3" "$4"; then
		row "$1" "$2" "$4" start - -
	elif ! stable_ref "$4" >/dev/null; then
		row "$1" "$2" "$4" "no branch" - -
	elif found=$(in_stable "$4" "$2"); then
		[ "$found" != start ] || { row "$1" "$2" "$4" start - -; return; }
		release=$(release_of "$4" "$found")
		! taken_back "$4" "$found" || how=reverted
		row "$1" "$2" "$4" "$how" "${release:--}" "$found"
	elif tip_has "$4" "$2"; then
		row "$1" "$2" "$4" files - -
	else
		row "$1" "$2" "$4" lacks - -
	fi
}

# taken_back LTS STABLE-COMMIT: whether the branch reverts it later.
taken_back() {
	local clone ref
	IFS=$'\t' read -r clone ref < <(stable_ref "$1") || return
	[ -n "$(clone_git "$clone" log -1 --format=%H --grep="This reverts commit ${2:0:12}" "$2..$ref")" ]
}

# tip_has LTS COMMIT: by the files of its newest state, where the queue has a patch.
tip_has() {
	lts_known "$1" || return
	[ -f "$WORK/tip.$1" ] || tip_states "$1" >"$WORK/tip.$1" || exit
	awk -F '\t' -v c="$2" '$6 == c && $10 == "landed" { hit = 1 } END { exit !hit }' "$WORK/tip.$1"
}

# tip_states LTS: the rows for the newest state of its branch.
tip_states() {
	tip_tree "$1"
	WITH_UPSTREAM=no tree_states "$WORK/$1/tree" "$1" "$(cat "$WORK/$1/version")" "$1"
}

# tip_tree LTS: the files of its branch that queue and upstream touch, in $WORK/LTS/tree.
tip_tree() {
	local all=()
	[ ! -d "$WORK/$1/tree" ] || return 0
	queue_load "$1" stable,distro,experimental,alternative,landed ''
	mapfile -t all < <({ queue_files; upstream_files; } | sort -u)
	lts_extract "$1" "${all[@]}"
}

# newer_lack NAME COMMIT: a supported tree without it, newer than one that has it.
newer_lack() {
	local since
	since=$(awk -F '\t' -v c="$2" '$2 == c && $4 ~ /^(landed|files)$/ { print $3; exit }' "$WORK/landed")
	[ -n "$since" ] || return 0
	while read -r lts how; do
		[ "$lts" != "$since" ] && version_le "$since" "$lts" || continue
		finding "$lts lacks $1, which $since has${how:+ ($how)}; a user who moves to $lts loses the fix"
	done < <(awk -F '\t' -v c="$2" '$2 == c && $4 ~ /^(lacks|reverted)$/ { print $3, $4 == "reverted" ? "it was reverted there" : "" }' "$WORK/landed")
}

# first_releases: what the headers say against what the branches say.
first_releases() {
	local name commit lts how release first
	while IFS=$'\t' read -r name commit lts how release _; do
		first=$(awk -F '\t' -v c="$commit" -v l="$lts" '$6 == c && $2 == l && $9 != "-" { print $8; exit }' "$WORK/rows")
		[ -n "$first" ] && [ "$how" = landed ] && [ "$release" != - ] && [ "$first" != "$release" ] || continue
		finding "$lts: $name: its header says Kit-First-Release: $first, but $lts has it since $release"
	done <"$WORK/landed"
}
