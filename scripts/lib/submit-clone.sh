# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What submit.sh asks the user's clones: of mainline (UPSTREAM), and of the stable
# trees (STABLE, or UPSTREAM again where that has their branches). They are only
# read; what the user's configuration says about output is left aside.

# clone_git CLONE ARG...
clone_git() {
	local clone=$1
	shift
	env -u GIT_DIR -u GIT_INDEX_FILE GIT_OPTIONAL_LOCKS=0 git -C "$clone" --literal-pathspecs -c 'safe.directory=*' \
		-c color.ui=false -c log.showSignature=false -c log.mailmap=false -c core.quotePath=false \
		-c diff.noprefix=false -c diff.mnemonicPrefix=false -c core.hooksPath=/dev/null "$@"
}

upstream_git() { clone_git "$UPSTREAM" "$@"; }

# upstream_user_git ARG...: with the user's whole configuration.
upstream_user_git() {
	env -u GIT_DIR -u GIT_CONFIG_GLOBAL -u GIT_CONFIG_NOSYSTEM "${USER_GIT[@]}" git -C "$UPSTREAM" -c core.hooksPath=/dev/null "$@"
}

# clone_open CLONE OPTION: leave unless CLONE is a repository with its history.
clone_open() {
	local out
	if ! out=$(env -u GIT_DIR -u GIT_CONFIG_GLOBAL -u GIT_CONFIG_NOSYSTEM git -C "$1" rev-parse --is-shallow-repository 2>&1); then
		[[ $out != *"dubious ownership"* ]] ||
			die "$EX_TREE" "git does not use $1, which belongs to somebody else; if you trust it: git config --global --add safe.directory $1"
		die "$EX_TREE" "$1 is no git repository; give $2 a clone"
	fi
	[ "$out" = false ] ||
		die "$EX_TREE" "$1 is a shallow clone, in which follow-ups and parents are missing; git -C $1 fetch --unshallow"
}

# submit_open: the clones; sets MAINLINE, the ref that is mainline in UPSTREAM.
submit_open() {
	local ref
	UPSTREAM=$(cd -- "$UPSTREAM" 2>/dev/null && pwd -P) ||
		die "$EX_TREE" "cannot enter the folder that --upstream names; give a clone of mainline"
	clone_open "$UPSTREAM" --upstream
	MAINLINE=
	for ref in refs/remotes/origin/master refs/heads/master refs/heads/main HEAD; do
		upstream_git rev-parse -q --verify "$ref^{commit}" >/dev/null || continue
		MAINLINE=$ref
		break
	done
	[ -n "$MAINLINE" ] || die "$EX_TREE" "$UPSTREAM has no commit yet; fetch mainline into it"
	[ -n "$STABLE" ] || return 0
	STABLE=$(cd -- "$STABLE" 2>/dev/null && pwd -P) ||
		die "$EX_TREE" "cannot enter the folder that --stable names; give a clone of linux-stable"
	clone_open "$STABLE" --stable
}

# mainline_has NAME COMMIT VERSION: leave unless the commit is in mainline.
mainline_has() {
	local newest
	if ! upstream_git cat-file -e "$2^{commit}" 2>/dev/null; then
		newest=$(upstream_git tag -l 'v[0-9]*' | sed 's/-rc/~rc/' | sort -V | tail -n 1 | sed 's/~rc/-rc/')
		[ -n "$newest" ] && ! version_le "$3" "$newest" ||
			die "$EX_TREE" "there is no commit $2 in $UPSTREAM, though it goes to ${newest:-an unknown version}; is that mainline, and is the header of $1 right?"
		die "$EX_TREE" "$UPSTREAM is too old: it ends at $newest, and $1 came with $3; git -C $UPSTREAM fetch --tags origin"
	fi
	upstream_git merge-base --is-ancestor "$2" "$MAINLINE" ||
		die "$EX_TREE" "$2 of $1 is in $UPSTREAM, but not in mainline there (${MAINLINE#refs/*/}); stable takes only what is in mainline"
	[ "$(upstream_git rev-list -n 1 --parents "$2" | wc -w)" -eq 2 ] ||
		die "$EX_FAIL" "$2 of $1 is a merge, which stable does not take; name the commit that it brought in"
}

# stable_ref LTS: prints clone and ref of its newest state, with a tab between;
# returns 1 if no clone has it.
stable_ref() {
	local clone ref
	for clone in ${STABLE:+"$STABLE"} "$UPSTREAM"; do
		ref=$(clone_git "$clone" for-each-ref --format='%(refname)' | grep -E "^refs/(heads|remotes/[^/]+)/linux-${1//./\\.}\.y$" | head -n 1)
		[ -n "$ref" ] || ref=$(clone_git "$clone" tag -l "v$1.*" | grep -E '^v[0-9.]+$' | sort -V | tail -n 1)
		[ -z "$ref" ] || { printf '%s\t%s\n' "$clone" "$ref"; return; }
	done
	return 1
}

# lts_extract LTS FILE...: $WORK/LTS/tree with these files as they are in the
# newest state of LTS, and what get_maintainer.pl and checkpatch.pl read;
# $WORK/LTS/version; and $WORK/LTS/source, "folder<TAB>ref" of where they are from:
# a clone, else the cache folder, which has no ref.
lts_extract() {
	local lts=$1 dir=$WORK/$1/tree from ref have more=(Makefile MAINTAINERS .mailmap .get_maintainer.ignore .get_maintainer.conf scripts kernel/sched/fair.c)
	shift
	mkdir -p "$dir" || sgit_infra
	if IFS=$'\t' read -r from ref < <(stable_ref "$lts"); then
		mapfile -t have < <(clone_git "$from" ls-tree -r --name-only "$ref" -- "$@" "${more[@]}")
		[ ${#have[@]} -gt 0 ] && clone_git "$from" archive "$ref" -- "${have[@]}" | tar -x -C "$dir" ||
			die "$EX_TREE" "cannot read $ref of $from; is it a clone of linux-stable?"
	else
		from=$(cd "$KIT_CACHE/trees" 2>/dev/null && printf '%s\n' "$lts".* | sort -V | tail -n 1)
		[ -d "$KIT_CACHE/trees/$from" ] ||
			die "$EX_TREE" "there is no tree of $lts to send to; give --stable CLONE with a branch linux-$lts.y, or run fetch-tree.sh $lts"
		from=$KIT_CACHE/trees/$from
		(cd "$from" && for have in "$@" "${more[@]}"; do [ ! -e "$have" ] || printf '%s\0' "$have"; done |
			sort -zu | tar -c --null -T -) | tar -x -C "$dir" || sgit_infra
	fi
	printf '%s\t%s\n' "$from" "${ref-}" >"$WORK/$lts/source" || sgit_infra
	tree_version "$dir" >"$WORK/$lts/version" && [[ $(cat "$WORK/$lts/version") == "$lts".* ]] ||
		die "$EX_TREE" "${ref:-$from} is no $lts kernel: its Makefile says $(cat "$WORK/$lts/version" 2>/dev/null)"
	for have in scripts/get_maintainer.pl scripts/checkpatch.pl MAINTAINERS; do
		[ -f "$dir/$have" ] || die "$EX_TREE" "the tree of $lts (${from##*/} ${ref-}) has no $have; give a whole kernel tree"
	done
}

# in_stable LTS COMMIT: prints the stable commit that brought mainline's COMMIT
# into LTS, or "start" if LTS began with it; returns 1 if it did not come. Says
# what the history says; of what is in the files, find_states has the last word.
in_stable() {
	local clone ref found
	if upstream_git rev-parse -q --verify "v$1^{commit}" >/dev/null &&
		upstream_git merge-base --is-ancestor "$2" "v$1" 2>/dev/null; then
		echo start
		return
	fi
	IFS=$'\t' read -r clone ref < <(stable_ref "$1") || return 1
	found=$(clone_git "$clone" log --format=%H -E --grep="^ *(\[ *)?([Uu]pstream )?commit $2( upstream\.?)?( *\])?" \
		"$ref" ${MAINLINE:+$(stable_start "$clone" "$1")} | head -n 1)
	[ -n "$found" ] && printf '%s\n' "$found"
}

# stable_start CLONE LTS: where LTS left mainline, as an argument to git log.
stable_start() { ! clone_git "$1" rev-parse -q --verify "v$2^{commit}" >/dev/null || echo "^v$2"; }

# release_of LTS STABLE-COMMIT: the first release with it; nothing if there is no
# tag yet.
release_of() {
	local clone ref
	IFS=$'\t' read -r clone ref < <(stable_ref "$1") || return
	clone_git "$clone" tag --contains "$2" -l "v$1.*" | sort -V | head -n 1 | sed 's/^v//'
}

# follow_ups COMMIT...: what mainline has that repairs or reverts one of these,
# or one of those found; one commit a line.
follow_ups() {
	local found new=("$@") id pattern=()
	local -A seen=()
	while [ ${#new[@]} -gt 0 ]; do
		pattern=()
		for id in "${new[@]}"; do
			seen[$id]=1
			pattern+=(--grep="^ *Fixes: *(commit +)?${id:0:8}" --grep="This reverts commit ${id:0:12}")
		done
		found=$(upstream_git log --no-merges --format=%H -i -E "${pattern[@]}" "$MAINLINE")
		new=()
		for id in $found; do
			[ -z "${seen[$id]-}" ] || continue
			new+=("$id")
			printf '%s\n' "$id"
		done
	done
}
