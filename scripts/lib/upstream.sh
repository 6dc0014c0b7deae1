# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What a clone of mainline says of the queue, for status.sh: follow-ups that it
# lacks, and whether our diffs do what upstream's do. The clone is asked through
# submit-clone.sh, commits are replayed in the scratch repository of submit-pick.sh,
# so that status.sh and submit.sh say the same.
#
# Uses WORK, UPSTREAM, STABLE, $WORK/rows of status.sh. Makes, one a line:
#   $WORK/followups  source, LTS, commit, mainline version ("-": none yet), kind (fixes,
#                    reverts), what of (name, or a commit of this list), subject
#   $WORK/effects    source, LTS, name, how, detail; how is
#                      same diff     git patch-id says so
#                      same code     its cherry-pick by git merge-tree makes the same files
#                      same but for comments
#                      as noted      it differs, and the header says what; detail
#                      differs       and the header does not say what
#                      not known     our patch does not apply, or no tree was named

# clones_open: as submit.sh opens them. With --stable alone its clone stands in for
# that of mainline where only tags are asked; MAINLINE is then no answer.
clones_open() {
	: >"$WORK/followups" && : >"$WORK/effects" && : >"$WORK/landed" || infra
	if [ -n "$UPSTREAM" ]; then
		submit_open
		pick_begin
	elif [ -n "$STABLE" ]; then
		STABLE=$(cd -- "$STABLE" 2>/dev/null && pwd -P) ||
			die "$EX_TREE" "cannot enter the folder that --stable names; give a clone of linux-stable"
		clone_open "$STABLE" --stable
		# shellcheck disable=SC2034 # for submit-clone.sh
		UPSTREAM=$STABLE MAINLINE=HEAD
	fi
}

# commits_check: all commits of the headers are in mainline; leaves if one is not.
commits_check() {
	local name commit version
	while IFS=$'\t' read -r name commit version <&3; do
		mainline_has "$name" "$commit" "$version"
	done 3< <(queue_commits)
}

# queue_commits: name, upstream commit, mainline version of all patches of the rows.
queue_commits() { awk -F '\t' '$6 != "-" && $9 != "-" && !seen[$6]++ { print $4 "\t" $6 "\t" $7 }' "$WORK/rows"; }

# version_with COMMIT: the first mainline release with it, or "-".
version_with() {
	local tag
	tag=$(upstream_git tag --contains "$1" -l 'v[0-9]*' | grep -E '^v[0-9]+\.[0-9]+(-rc[0-9]+)?$' | sed 's/-rc/~rc/' | sort -V | head -n 1 | sed 's/~rc/-rc/')
	echo "${tag:--}"
}

# repairs COMMIT: what it says that it repairs: "fixes ID" or "reverts ID" a line, as it
# abbreviates the ID.
repairs() {
	upstream_git log -1 --format=%B "$1" | grep -oiE '^ *Fixes: *(commit +)?[0-9a-f]{8,40}|This reverts commit [0-9a-f]{12,40}' |
		sed -E 's/^ *Fixes: *(commit +)?/fixes /I; s/^This reverts commit /reverts /I' | tr A-F a-f
}

# followups_find: one question to mainline for all, then which tree lacks which.
followups_find() {
	local n ids=()
	mapfile -t ids < <(queue_commits | cut -f2)
	[ ${#ids[@]} -gt 0 ] || return 0
	follow_ups "${ids[@]}" >"$WORK/found"
	for n in "${!FOR[@]}"; do followups_lacking "$n"; done
}

# followups_lacking N: those that repair what the queue of argument N has, and that
# neither this queue nor its tree has.
followups_lacking() {
	local arg=${FOR[$1]} lts=${LTSS[$1]} id kind of name
	S=$arg awk -F '\t' '$1 == ENVIRON["S"] && $9 != "-" && $6 != "-" { print $6 "\t" $4 }' "$WORK/rows" >"$WORK/mine"
	while read -r id <&3; do
		! grep -q "^$id" "$WORK/mine" || continue
		while read -r kind of <&4; do
			name=$(grep -m 1 "^$of" "$WORK/mine" | cut -f2) && [ -n "$name" ] || continue
			# what it repairs counts for the next generation, there or not
			printf '%s\t%.12s\n' "$id" "$id" >>"$WORK/mine"
			! lts_has "$1" "$id" || break
			row "$arg" "$lts" "$id" "$(version_with "$id")" "$kind" "$name" "$(subject_of "$id")" >>"$WORK/followups"
			finding "$arg: mainline has $(short_ref "$id"), which $kind $name, and neither the queue nor the tree has it"
			break
		done 4< <(repairs "$id")
	done 3<"$WORK/found"
}

# lts_has N COMMIT: whether argument N has it: from its start, by the history of
# a stable branch, or by the files of the tree.
lts_has() {
	local version
	! in_stable "${LTSS[$1]}" "$2" >/dev/null || return 0
	version=$(version_with "$2")
	[ "$version" = - ] || ! version_le "$version" "${LTSS[$1]}" || return 0
	[ -n "${DIRS[$1]-}" ] && in_files "${DIRS[$1]}" "$2"
}

# in_files DIR COMMIT: whether upstream's diff can be taken out of DIR as it is.
in_files() {
	local file
	rm -rf -- "$WORK/files" && mkdir "$WORK/files" || infra
	while read -r file; do
		[ ! -f "$1/$file" ] || { mkdir -p "$WORK/files/${file%/*}" && cp -- "$1/$file" "$WORK/files/$file" || infra; }
	done < <(touched "$2")
	upstream_git diff-tree -p --no-commit-id --no-renames "$2" >"$WORK/diff" || infra
	git -C "$WORK/files" apply -R --check --whitespace=nowarn "$WORK/diff" 2>/dev/null
}

# after_tree DIR LTS SOURCE CLASSES: of ask_tree: the effects of its patches, one on top
# of the other, from the tree without any.
after_tree() {
	local i tip ours
	[ "$WITH_UPSTREAM" = yes ] || return 0
	tip=$(base_commit "$1") || sgit_infra
	for i in "${!NAME[@]}"; do
		[[ ,$4, == *",${CLASSES[i]},"* && ${COMMIT[i]} != - ]] || continue
		upstream_git cat-file -e "${COMMIT[i]}^{commit}" 2>/dev/null || continue # commits_check says so
		if ! ours=$(apply_tree "$tip" "${PATCH[i]}"); then
			effect "$3" "$2" "$i" "not known" "our patch does not apply: $(head -n 1 "$WORK/apply.log")"
			continue
		fi
		compare "$3" "$2" "$i" "$tip" "$ours"
		tip=$(as_kit "$ours" "${NAME[i]}") || sgit_infra
	done
}

effect() { row "$1" "$2" "${NAME[$3]}" "$4" "$5" >>"$WORK/effects"; }

# base_commit DIR: $SCRATCH/base, and of DIR what only upstream's commits touch.
base_commit() (
	export GIT_INDEX_FILE=$WORK/index.base
	rm -f "$GIT_INDEX_FILE"
	while read -r file; do
		from=$SCRATCH/base/$file
		[ -f "$from" ] || grep -qxF "$file" <(queue_files) || from=$1/$file
		[ -f "$from" ] || continue
		blob=$(sgit hash-object -w --no-filters -- "$from") && put_blob 100644 "$blob" "$file" || exit
	done < <({ queue_files; upstream_files; } | sort -u)
	tree=$(sgit write-tree) && as_kit "$tree" base
)

# upstream_files: what upstream's commits touch, as far as the clone has them.
upstream_files() {
	local id
	[ "$WITH_UPSTREAM" = yes ] || return 0
	for id in "${COMMIT[@]}"; do [ "$id" = - ] || touched "$id" 2>/dev/null; done
}

# compare SOURCE LTS I TIP OURS: what our patch makes of TIP against what upstream's
# commit would.
compare() {
	local i=$3 id=${COMMIT[$3]} replayed why
	if [ "$(patch_id <"${PATCH[i]}")" = "$(upstream_git diff-tree -p --no-renames "$id" | patch_id)" ]; then
		effect "$1" "$2" "$i" "same diff" ""
		return
	fi
	replayed=$(replay "$id" "$4")
	case $? in
	0)
		if [ "$replayed" = "$5" ]; then effect "$1" "$2" "$i" "same code" ""; return; fi
		if same_but_comments "$replayed" "$5"; then effect "$1" "$2" "$i" "same but for comments" ""; return; fi
		why="its cherry-pick makes other code in $(sgit diff-tree -r --name-only "$replayed" "$5" | paste -sd ' ')" ;;
	1) why="its cherry-pick conflicts in $(sed '/^$/d' <<<"$replayed" | paste -sd ' ')" ;;
	*) why="this git cannot replay it (2.38 and later can)" ;;
	esac
	differs "$1" "$2" "$i" "$why"
}

# differs SOURCE LTS I WHY: the header says what, or that is a finding.
differs() {
	local note
	if note=$(backport_note "${PATCH[$3]}" "$2"); then
		effect "$1" "$2" "$3" "as noted" "$4; header: $(paste -sd ' ' <<<"$note")"
	else
		effect "$1" "$2" "$3" differs "$4"
		finding "$1: ${NAME[$3]} is not what upstream's commit makes of $2: $4; write a paragraph \"In $2 ...\" into its header"
	fi
}

# patch_id <DIFF: without what stands above the diff. Ours have no "diff --git" line,
# without which git takes nothing for a diff.
patch_id() {
	sed '/^diff --git \|^index /d' | awk '
		held != "" { if ($0 ~ /^\+\+\+ /) { f = held; sub(/^--- /, "", f); print "diff --git " f " " $2 } print held; held = "" }
		/^--- ./ { held = $0; next }
		{ print }
		END { if (held != "") print held }' | git patch-id --stable | cut -d ' ' -f1
}

# replay COMMIT TIP: the tree that its cherry-pick on TIP makes. Returns 1 on a
# conflict, and prints the files; 2 if git merge-tree cannot do it.
replay() {
	local parent theirs mine out code
	touched "$1" >"$WORK/touched"
	parent=$(copy_tree "$1^" "$WORK/touched") && parent=$(as_kit "$parent" before) &&
		theirs=$(copy_tree "$1" "$WORK/touched") && theirs=$(as_kit "$theirs" after -p "$parent") &&
		mine=$(as_kit "$(sgit rev-parse "$2^{tree}")" mine -p "$parent") || sgit_infra
	out=$(sgit merge-tree --write-tree --name-only --no-messages "$mine" "$theirs" 2>/dev/null)
	code=$?
	case $code in
	0) printf '%s\n' "$out" ;;
	1) tail -n +2 <<<"$out" ;;
	*) return 2 ;;
	esac
	return $code
}

# same_but_comments TREE TREE: by the compiler, which the kit needs anyway.
same_but_comments() {
	local file
	while read -r file; do
		cmp -s <(without_comments "$1:$file") <(without_comments "$2:$file") || return 1
	done < <(sgit diff-tree -r --name-only "$1" "$2")
}

without_comments() { sgit cat-file blob "$1" 2>/dev/null | cc -fpreprocessed -dD -E -P -x c - 2>/dev/null || printf '%s\n' "$1"; }

# header_effects N: for an LTS without a tree only the diffs can be compared.
header_effects() {
	local i
	queue_load "${LTSS[$1]}" stable,distro,landed ''
	for i in "${!NAME[@]}"; do
		if [ "$(patch_id <"${PATCH[i]}")" = "$(upstream_git diff-tree -p --no-renames "${COMMIT[i]}" | patch_id)" ]; then
			effect "${FOR[$1]}" "${LTSS[$1]}" "$i" "same diff" ""
		else
			effect "${FOR[$1]}" "${LTSS[$1]}" "$i" "not known" "the diffs differ; name a tree of ${LTSS[$1]}, or --stable, to replay the commit there"
		fi
	done
}
