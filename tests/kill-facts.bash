# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What a kill test compares: all that is in a tree, as lines of text, so that
# diff says what is wrong. Used by kill-sweep.sh and the tests of faults.

# facts DIR: every file and folder below DIR with type, mode, owner, link target,
# content and time; of a git repository what git says about it. Objects that
# nothing refers to are left out: git gc removes them.
facts() {
	(
		cd "$1" || exit
		find . -name .git -prune -o -printf 'file %P %y %m %U:%G %l\n' | LC_ALL=C sort
		find . -name .git -prune -o -type f -print0 | LC_ALL=C sort -z | xargs -0r sha256sum
		find . -name .git -prune -o -printf 'time %P\t%T@\n' | LC_ALL=C sort
		[ ! -e .git ] || git_facts
	)
}

# git_facts: the same for the repository whose top is the current folder.
git_facts() {
	local dir branch var
	for var in "${!GIT_@}"; do [[ $var == GIT_CONFIG* ]] || unset "$var"; done
	export GIT_OPTIONAL_LOCKS=0
	dir=$(git rev-parse --absolute-git-dir) || return
	branch=$(git symbolic-ref -q HEAD || echo detached)
	echo "branch $branch"
	# Not the ids of the commits on it: they hold the time at which they were made.
	git log --format='commit %T %an <%ae> %ad %cn <%ce>%n%B' HEAD
	git for-each-ref --format='ref %(refname) %(objectname)' | awk -v b="$branch" '$2 != b'
	git reflog --format='reflog %gs' HEAD
	[ "$branch" = detached ] || git reflog --format='reflog %gs' "$branch"
	git ls-files -s -v | sed 's/^/index /'
	git diff-files | sed 's/^/worktree /'
	git diff-index --cached HEAD | sed 's/^/staged /'
	git status --porcelain | sed 's/^/status /'
	git fsck --no-dangling --no-progress 2>&1 | sed 's/^/fsck /'
	(cd "$dir" && find . \( -path ./objects -o -path "./$branch" -o -path "./logs" -o -path ./index \) -prune -o \
		-type f -print0 | LC_ALL=C sort -z | xargs -0r sha256sum | sed '/ \.\/HEAD$/d')
	[ "$branch" = detached ] || cat "$dir/HEAD"
}

# timed FACTS UNTIMED: the file FACTS without the times of what the file UNTIMED
# lists, a path a line.
timed() {
	awk -F '\t' 'list == 1 { skip["time " $0] = 1; next } !($1 in skip)' list=1 "$2" list=2 "$1"
}

# steady: of facts on stdin all but the times of folders, which change with each
# file that is made next to another, even if it goes again.
steady() {
	awk -F '\t' 'match($1, /^file .* d [0-9]+ [0-9]+:[0-9]+ $/) { print; sub(/ d [0-9]+ [0-9:]+ $/, ""); folder["time" substr($0, 5)] = 1; next }
		!($1 in folder)'
}

# touched BEFORE AFTER: from the facts of two trees, the paths that changed, came
# or went. folders_of: of such a list, the folders that they are in, and the top:
# the times of these change with any run.
touched() {
	diff <(grep -E '^(file |[0-9a-f]{64})' "$1") <(grep -E '^(file |[0-9a-f]{64})' "$2") |
		sed -nE 's/^[<>] file ([^ ]*) .*/\1/p; s,^[<>] [0-9a-f]{64}  \./,,p' | sort -u
}

folders_of() { sed -n 's,/[^/]*$,,p' "$1" | sort -u; echo; }

# no_leftovers DIR: nothing of an interrupted run is in the tree or its repository.
no_leftovers() {
	local left
	left=$(find "$1" -path '*/.git/objects' -prune -o \( -name '.kit-*' -o -name '*.lock' -o -name '*kit-apply*' \) -print)
	[ -z "$left" ] || { echo "left behind: $left"; return 1; }
}
