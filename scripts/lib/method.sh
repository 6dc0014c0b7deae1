# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# How a change gets into a tree: which method, and what every method refuses.
# method-NAME.sh has, for each NAME of git, quilt and patch,
#   NAME_refuse     leave with EX_TREE if what is to be done would harm
#   NAME_prepare    all that can be done outside of the tree; sets OLD and NEW,
#                   folders with the files as found and as they shall be, and
#                   writes $SCRATCH/list for the journal
# and the functions that journal.sh calls.

. "$KIT/scripts/lib/method-patch.sh"
. "$KIT/scripts/lib/method-git.sh"
. "$KIT/scripts/lib/method-quilt.sh"

# The environment may have these names, too.
GIT='' GITDIR=''

# user_git ARG...: git in TREE, with the user's configuration but without hooks,
# helpers in the background or another place for a part of the index. Reads only
# what it has to: no lock that git itself calls optional.
user_git() {
	env -u GIT_DIR -u GIT_CONFIG_GLOBAL -u GIT_CONFIG_NOSYSTEM "${USER_GIT[@]}" \
		GIT_OPTIONAL_LOCKS=0 git -C "$TREE" --literal-pathspecs -c core.hooksPath=/dev/null \
		-c core.fsmonitor=false -c core.splitIndex=false "$@" 9<&-
}

# git_find: sets GIT to "top" if TREE is the top folder of a git work tree, to
# "no" if not, or to what git has to say against it; and GITDIR, with "top".
git_find() {
	local out
	GIT=no GITDIR=
	[ -e "$TREE/.git" ] || [ -L "$TREE/.git" ] || return 0
	if ! out=$(user_git rev-parse --is-inside-work-tree --absolute-git-dir --show-prefix 2>&1); then
		case $out in
		*"dubious ownership"* | *"unsafe repository"*)
			GIT="git does not use $TREE, which belongs to somebody else; if you trust it: git config --global --add safe.directory $TREE" ;;
		*)	GIT="git cannot use $TREE/.git (${out%%$'\n'*}); repair it" ;;
		esac
		return
	fi
	# below the top of another one, or with its files at another place
	[[ $out == $'true\n'* && $out != *$'\n'*$'\n'* ]] || return 0
	GIT=top GITDIR=${out#*$'\n'}
}

# pushed: how many patches quilt has in TREE.
pushed() { grep -c . "$TREE/.pc/applied-patches" 2>/dev/null; }

# method_choose METHOD: set METHOD for TREE as it is, and say why with "auto".
# Leaves with EX_TREE for one that this tree cannot have.
method_choose() {
	METHOD=$1
	git_find
	case $METHOD in
	git)	[ "$GIT" != no ] ||
			die "$EX_TREE" "$TREE is not the top folder of a git work tree; without --method git the way is chosen by what the tree is"
		[ "$GIT" = top ] || die "$EX_TREE" "$GIT, or say --method patch" ;;
	auto)	if [ "$(pushed)" -gt 0 ] 2>/dev/null; then
			METHOD=quilt
			note "method quilt: $TREE has $(pushed) patch(es) that quilt pushed"
		elif [ "$GIT" = no ]; then
			METHOD="patch"
			note "method patch: $TREE is no git work tree of its own and has no quilt patches; its files are edited"
		else
			[ "$GIT" = top ] || die "$EX_TREE" "$GIT, or say --method patch"
			METHOD=git
			note "method git: $TREE is the top of a git work tree; each patch is a commit"
		fi ;;
	esac
	[ "$METHOD" = quilt ] || return 0
	command -v quilt >/dev/null ||
		die "$EX_HOST" "missing: quilt; on Debian: apt-get install quilt, or say --method patch"
	# quilt 0.66 does not take a folder with a blank in its path everywhere
	[[ ${TMPDIR-} != *[[:space:]]* ]] || TMPDIR=/tmp
}

# under_way: what git has been left in the middle of, and what ends that.
under_way() {
	local g=$GITDIR
	if [ -e "$g/rebase-apply/applying" ]; then
		echo "git am is under way; end it with git am --continue or git am --abort"
	elif [ -e "$g/rebase-merge" ] || [ -e "$g/rebase-apply" ]; then
		echo "a rebase is under way; end it with git rebase --continue or git rebase --abort"
	elif [ -e "$g/MERGE_HEAD" ]; then
		echo "a merge is under way; end it with git merge --continue or git merge --abort"
	elif [ -e "$g/REVERT_HEAD" ] || grep -qs '^revert ' "$g/sequencer/todo"; then
		echo "git revert is under way; end it with git revert --continue or git revert --abort"
	elif [ -e "$g/CHERRY_PICK_HEAD" ] || [ -e "$g/sequencer" ]; then
		echo "git cherry-pick is under way; end it with git cherry-pick --continue or git cherry-pick --abort"
	elif [ -e "$g/BISECT_LOG" ]; then
		echo "a bisection is under way; end it with git bisect reset"
	fi
}

# method_busy: leave with EX_TREE if git is in the middle of something in TREE.
method_busy() {
	local what
	[ "$GIT" = top ] || return 0
	what=$(under_way)
	[ -z "$what" ] || die "$EX_TREE" "in $TREE $what"
}

# in_question: the files of all patches that would be put in or taken out, or
# that should and cannot; one a line.
in_question() {
	local i
	for i in "${!NAME[@]}"; do
		[ "${ACTION[i]}" != work ] && [ "${ACTION[i]}" != failed ] || printf '%s\n' "${FILES[i]}"
	done | tr ' ' '\n' | sed '/^$/d' | sort -u
}

# outcome: the folder with the files as they shall be.
outcome() { [ -n "$REVERSE" ] && echo "$SCRATCH/less" || echo "$SCRATCH/now"; }
