#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# What apply.sh refuses to write into, by name, and what it leaves alone there.

load helpers
load queue-helpers
load kill-helpers
load kill-facts

setup() {
	kill_tree
	git_user
	AFTER=$BATS_TEST_TMPDIR/s2
}

# repository DIR: make DIR one, with a commit of all that is in it.
repository() {
	git -C "$1" init -q
	git -C "$1" add -A
	git -C "$1" commit -q -m 'Linux 6.12.95'
}

# refused TEXT [OPTION...]: the run is refused with TEXT in one line, and nothing changes.
refused() {
	local text=$1
	shift
	facts "$T" >"$BATS_TEST_TMPDIR/facts"
	run "$APPLY" "$@" 6.12 "$T"
	fails_with 7 "$text"
	[ "$(grep -c '^apply.sh: ' <<<"$output")" -le 2 ] # which method, and why not
	facts "$T" | diff "$BATS_TEST_TMPDIR/facts" -
}

@test "an unstaged change in a file that a patch touches is refused, naming the file" {
	repository "$T"
	sed -i 's/core59/core59_mine/' "$T/kernel/sched/core.c"
	refused kernel/sched/core.c
	[[ $output != *kernel/sched/fair.c* ]]
}

@test "a staged change in a file that a patch touches is refused, naming the file" {
	repository "$T"
	sed -i 's/core59/core59_mine/' "$T/kernel/sched/core.c"
	git -C "$T" add kernel/sched/core.c
	refused kernel/sched/core.c
	# also when the file itself is back as it was
	git -C "$T" show HEAD:kernel/sched/core.c >"$T/kernel/sched/core.c"
	refused kernel/sched/core.c
}

@test "a change with --method patch is kept, and no matter when the patch fits around it" {
	repository "$T"
	sed -i 's/core59/core59_mine/' "$T/kernel/sched/core.c"
	run "$APPLY" --method patch 6.12 "$T"
	fails_with 0 "applied 2"
	grep -q core59_mine "$T/kernel/sched/core.c"
	[ "$(git -C "$T" rev-list --count HEAD)" -eq 1 ]
}

@test "an untracked file where a patch makes one is refused, naming the file" {
	repository "$T"
	mkdir -p "$T/lib/deep"
	echo mine >"$T/lib/deep/file.c"
	facts "$T" >"$BATS_TEST_TMPDIR/facts"
	run "$APPLY" 6.12 "$T"
	[ "$status" -ne 0 ]
	[[ $output == *lib/deep/file.c* ]]
	facts "$T" | diff "$BATS_TEST_TMPDIR/facts" -
}

@test "an ignored file where a patch makes one with the same content is not taken for a commit" {
	repository "$T"
	mkdir -p "$T/lib/deep"
	cp "$AFTER/lib/deep/file.c" "$T/lib/deep/"
	echo /lib >"$T/.git/info/exclude"
	facts "$T" >"$BATS_TEST_TMPDIR/facts"
	run "$APPLY" 6.12 "$T"
	[ "$status" -ne 0 ]
	[[ $output == *lib/deep/file.c* ]]
	facts "$T" | diff "$BATS_TEST_TMPDIR/facts" -
}

@test "changes elsewhere are left alone: staged stays staged, unstaged unstaged, untracked untracked" {
	rm -rf "$T"
	kill_git_tree
	git -C "$T" mv scripts/run.sh scripts/walk.sh
	git -C "$T" status --porcelain | sort >"$BATS_TEST_TMPDIR/status"
	git -C "$T" diff >"$BATS_TEST_TMPDIR/diff"
	git -C "$T" diff --cached >"$BATS_TEST_TMPDIR/cached"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/status")" -ge 3 ]
	for way in "" --reverse; do
		# shellcheck disable=SC2086 # empty or one word
		run "$APPLY" $way 6.12 "$T"
		[ "$status" -eq 0 ]
		git -C "$T" status --porcelain | sort | diff "$BATS_TEST_TMPDIR/status" -
		git -C "$T" diff | diff "$BATS_TEST_TMPDIR/diff" -
		git -C "$T" diff --cached | diff "$BATS_TEST_TMPDIR/cached" -
	done
	[ "$(git -C "$T" rev-list --count HEAD)" -eq 5 ]
}

# branches: two branches that conflict in a file that no patch touches.
branches() {
	repository "$T"
	git -C "$T" checkout -q -b theirs
	sed -i 's/HZ5$/HZ5_theirs/' "$T/include/linux/other.h"
	git -C "$T" commit -q -a -m theirs
	git -C "$T" checkout -q main
	sed -i 's/HZ5$/HZ5_ours/' "$T/include/linux/other.h"
	git -C "$T" commit -q -a -m ours
}

# busy COMMAND TEXT: a conflict of COMMAND is refused in all methods, naming TEXT and
# a git command that ends it; and no longer once that was run.
busy() {
	local m how
	branches
	# shellcheck disable=SC2086 # words of a git command
	run git -C "$T" $1
	[ "$status" -ne 0 ] || [[ $1 == bisect* ]]
	for m in git quilt patch; do
		refused "$2" --method "$m"
	done
	how=$(grep -oE "git [^ ]*($2)[^ ]* (--abort|--quit|reset)|git ($2) (--abort|reset)" <<<"$output" | head -n 1)
	[ -n "$how" ]
	# shellcheck disable=SC2086
	git -C "$T" ${how#git } >/dev/null 2>&1
	run "$APPLY" 6.12 "$T"
	fails_with 0 "applied 2"
}

@test "a running rebase is refused in all methods, naming it and what ends it" { busy "rebase theirs" rebase; }

@test "a running rebase of the older kind is refused too" { busy "rebase --apply theirs" rebase; }

@test "a running merge is refused in all methods, naming it and what ends it" { busy "merge theirs" merge; }

@test "a running cherry-pick is refused in all methods, naming it and what ends it" { busy "cherry-pick theirs" cherry-pick; }

@test "a running revert is refused in all methods, naming it and what ends it" {
	repository "$T"
	for n in 5_a 5_b; do
		sed -i "s/HZ5.*/HZ$n/" "$T/include/linux/other.h"
		git -C "$T" commit -q -a -m "$n"
	done
	run git -C "$T" revert --no-edit HEAD~
	[ "$status" -ne 0 ]
	for m in git quilt patch; do refused revert --method "$m"; done
	[[ $output == *"git revert --"* ]] || [[ $output == *"revert --abort"* ]]
	git -C "$T" revert --abort
	run "$APPLY" 6.12 "$T"
	fails_with 0 "applied 2"
}

@test "a running bisect is refused, naming it and what ends it" { busy "bisect start" bisect; }

@test "a running git am is refused in all methods, naming it and what ends it" {
	repository "$T"
	sed 's/core10/corexx/' "$KIT_QUEUE/patches/6.12/one.patch" >"$BATS_TEST_TMPDIR/bad.patch"
	run git -C "$T" am "$BATS_TEST_TMPDIR/bad.patch"
	[ "$status" -ne 0 ]
	for m in git quilt patch; do refused "git am --" --method "$m"; done
	git -C "$T" am --abort
	run "$APPLY" 6.12 "$T"
	fails_with 0 "applied 2"
}

@test "an index with unmerged files is refused" {
	branches
	run git -C "$T" merge -q theirs
	[ "$status" -eq 1 ]
	rm "$T/.git/MERGE_HEAD"
	refused "has unmerged files"
}

@test "an index.lock of somebody else is refused and stays" {
	repository "$T"
	: >"$T/.git/index.lock"
	refused index.lock
	[ -e "$T/.git/index.lock" ]
	rm "$T/.git/index.lock"
	echo text of a program >"$T/.git/index.lock"
	refused index.lock
	run "$APPLY" --recover 6.12 "$T"
	[ "$(cat "$T/.git/index.lock")" = "text of a program" ]
}

@test "a repository without a commit is refused" {
	git -C "$T" init -q
	git -C "$T" add -A
	run "$APPLY" 6.12 "$T"
	fails_with 7 "commit"
	[ -z "$(git -C "$T" for-each-ref)" ]
	grep -q 'fair30;' "$T/kernel/sched/fair.c"
}

@test "a sparse checkout without the files is refused" {
	repository "$T"
	git -C "$T" sparse-checkout set --no-cone '/*' '!/kernel/sched/core.c' >/dev/null
	[ ! -e "$T/kernel/sched/core.c" ]
	facts "$T" >"$BATS_TEST_TMPDIR/facts"
	run "$APPLY" 6.12 "$T"
	[ "$status" -eq 7 ] || [ "$status" -eq 1 ]
	[[ $output == *sparse* ]]
	facts "$T" | diff "$BATS_TEST_TMPDIR/facts" -
}

@test "a committer without a name is refused, with the line that sets it" {
	repository "$T"
	git config --global --unset user.name
	git config --global --unset user.email
	git config --global user.useConfigOnly true
	facts "$T" >"$BATS_TEST_TMPDIR/facts"
	run "$APPLY" 6.12 "$T"
	[ "$status" -eq 5 ] || [ "$status" -eq 7 ]
	[[ $output == *"git config"*"user.email"* ]]
	facts "$T" | diff "$BATS_TEST_TMPDIR/facts" -
}

@test "a second apply at the same time is refused in all methods, also a recovery" {
	repository "$T"
	exec 7<"$T"
	flock -x 7
	for m in git quilt patch; do refused "another apply.sh is at work in $T" --method "$m"; done
	refused "another apply.sh is at work in $T" --recover
	exec 7<&-
	run "$APPLY" --recover 6.12 "$T"
	[ "$status" -eq 0 ]
	run "$APPLY" 6.12 "$T"
	fails_with 0 "applied 2"
}

@test "two that start at once: one does it all, the other is refused or finds all there" {
	local first second
	for m in git patch; do
		rm -rf "$BATS_TEST_TMPDIR/c"
		cp -a "$T" "$BATS_TEST_TMPDIR/c"
		[ "$m" != git ] || repository "$BATS_TEST_TMPDIR/c"
		"$APPLY" 6.12 "$BATS_TEST_TMPDIR/c" >"$BATS_TEST_TMPDIR/1" 2>&1 &
		"$APPLY" 6.12 "$BATS_TEST_TMPDIR/c" >"$BATS_TEST_TMPDIR/2" 2>&1 && second=0 || second=$?
		wait $! && first=0 || first=$?
		[[ $first$second =~ ^(00|07|70)$ ]]
		[ "$(grep -l 'applied 2' "$BATS_TEST_TMPDIR/1" "$BATS_TEST_TMPDIR/2" | wc -l)" -eq 1 ]
		diff -r -x .git "$AFTER" "$BATS_TEST_TMPDIR/c"
		no_leftovers "$BATS_TEST_TMPDIR/c"
	done
}

@test "a repository of another user is refused in one line, or works" {
	[ "$(id -u)" -eq 0 ] || skip "only root can give a tree to another user"
	repository "$T"
	chown -R 1234:1234 "$T"
	facts "$T" 2>/dev/null >"$BATS_TEST_TMPDIR/facts" || true
	run "$APPLY" 6.12 "$T"
	fails_with 7 safe.directory
	[ "$(grep -c '^fatal:' <<<"$output")" -eq 0 ]
	git config --global --add safe.directory "$T"
	run "$APPLY" 6.12 "$T"
	fails_with 0 "applied 2"
}

@test "GIT_DIR, GIT_INDEX_FILE and GIT_WORK_TREE of the environment lead nowhere else" {
	repository "$T"
	cp -a "$T" "$BATS_TEST_TMPDIR/other"
	facts "$BATS_TEST_TMPDIR/other" >"$BATS_TEST_TMPDIR/facts"
	GIT_DIR=$BATS_TEST_TMPDIR/other/.git GIT_INDEX_FILE=$BATS_TEST_TMPDIR/other/.git/index \
		GIT_WORK_TREE=$BATS_TEST_TMPDIR/other run "$APPLY" 6.12 "$T"
	fails_with 0 "applied 2"
	[ "$(git -C "$T" rev-list --count HEAD)" -eq 3 ]
	facts "$BATS_TEST_TMPDIR/other" | diff "$BATS_TEST_TMPDIR/facts" -
}

@test "the hooks of the repository are not run" {
	repository "$T"
	for hook in pre-commit commit-msg post-commit pre-applypatch post-applypatch post-index-change reference-transaction; do
		stub "$T/.git/hooks" $hook "echo $hook >>'$BATS_TEST_TMPDIR/hooks'" 'exit 1'
	done
	run "$APPLY" 6.12 "$T"
	fails_with 0 "applied 2"
	[ ! -e "$BATS_TEST_TMPDIR/hooks" ]
}

@test "--reverse works after later commits of others, and leaves these in" {
	repository "$T"
	"$APPLY" 6.12 "$T"
	sed -i 's/fair02/fair02_later/' "$T/kernel/sched/fair.c"
	sed -i 's/core58/core58_later/' "$T/kernel/sched/core.c"
	git -C "$T" commit -q -a -m 'later work'
	run "$APPLY" --reverse 6.12 "$T"
	fails_with 0 "reversed 2"
	[ "$(git -C "$T" diff --name-only HEAD~5 HEAD | paste -sd ' ')" = "kernel/sched/core.c kernel/sched/fair.c" ]
	[ "$(git -C "$T" diff HEAD~5 HEAD | grep -c '^[-+][^-+]')" -eq 4 ]
	grep -q fair02_later "$T/kernel/sched/fair.c"
	grep -q core58_later "$T/kernel/sched/core.c"
	[ -z "$(git -C "$T" status --porcelain)" ]
}

@test "--reverse after a later commit on the same lines says why not, and changes nothing" {
	repository "$T"
	"$APPLY" 6.12 "$T"
	sed -i 's/fair30_one/fair30_later/' "$T/kernel/sched/fair.c"
	git -C "$T" commit -q -a -m 'later work'
	facts "$T" >"$BATS_TEST_TMPDIR/facts"
	run "$APPLY" --reverse 6.12 "$T"
	fails_with 1 "kernel/sched/fair.c"
	facts "$T" | diff "$BATS_TEST_TMPDIR/facts" -
}

# with_theirs_on_top: ours pushed with quilt, and a patch of somebody on top.
with_theirs_on_top() {
	need_tool quilt quilt
	"$APPLY" --method quilt 6.12 "$T"
	(
		cd "$T" || exit
		quilt --quiltrc - new later.patch
		quilt --quiltrc - add include/linux/other.h
		echo '#define LATER' >>include/linux/other.h
		quilt --quiltrc - refresh
	) >/dev/null
}

@test "--reverse under a patch of somebody else in quilt says which lies on top" {
	with_theirs_on_top
	refused later.patch --reverse
	(cd "$T" && quilt --quiltrc - pop -q && quilt --quiltrc - delete -r later.patch) >/dev/null
	run "$APPLY" --reverse 6.12 "$T"
	fails_with 0 "reversed 2"
}

@test "a file that was changed without quilt's knowledge is refused in quilt" {
	rm -rf "$T"
	kill_quilt_tree
	sed -i 's/core58/core58_unknown/' "$T/kernel/sched/core.c"
	refused kernel/sched/core.c
}

@test "a .pc of another version of quilt is refused" {
	rm -rf "$T"
	kill_quilt_tree
	echo 3 >"$T/.pc/.version"
	refused ".pc"
}

@test "a foreign patch of the same name is not taken for ours, and not written over" {
	rm -rf "$T"
	kill_quilt_tree
	(cd "$T" && quilt --quiltrc - rename one.patch) >/dev/null
	facts "$T" >"$BATS_TEST_TMPDIR/facts"
	cp "$T/patches/one.patch" "$BATS_TEST_TMPDIR/foreign"
	run "$APPLY" 6.12 "$T"
	cmp "$T/patches/one.patch" "$BATS_TEST_TMPDIR/foreign"
	if [ "$status" -ne 0 ]; then
		fails_with 7 one.patch
		facts "$T" | diff "$BATS_TEST_TMPDIR/facts" -
	else
		[ "$(grep -c . "$T/patches/series")" -eq 3 ]
		(cd "$T" && quilt --quiltrc - pop -q -a)
		grep -q 'fair30;' "$T/kernel/sched/fair.c"
	fi
}

@test "an empty TREE is not the current folder" {
	cd "$T" || return
	run "$APPLY" 6.12 ""
	fails_with 2 "TREE is empty"
	grep -q fair30 kernel/sched/fair.c
}

@test "a tree with CRLF is refused for its line ends" {
	sed -i 's/$/\r/' "$T/Makefile" "$T/kernel/sched/fair.c"
	run "$APPLY" --check 6.12 "$T"
	fails_with 7 "has CRLF at its line ends"
	[[ $output != *$'\r'* ]]
}

@test "what has the name of a journal and is none is not removed" {
	for name in .kit-apply.new .kit-apply.done .kit-apply; do
		mkdir "$T/$name"
		echo precious >"$T/$name/mine"
		run "$APPLY" --recover 6.12 "$T"
		fails_with 7 "is not of an interrupted run: it has mine"
		[ "$(cat "$T/$name/mine")" = precious ]
		rm -r "${T:?}/$name"
		touch "$T/$name"
		run "$APPLY" --method patch 6.12 "$T"
		fails_with 7 "is no folder"
		rm "${T:?}/$name"
	done
}

@test "without HOME it works" {
	run env -u HOME -u KIT_CACHE -u XDG_CACHE_HOME "$APPLY" --check 6.12 "$T"
	[ "$status" -eq 0 ]
	run env -u HOME -u KIT_CACHE -u XDG_CACHE_HOME "$APPLY" --help
	[ "$status" -eq 0 ]
}
