#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# apply.sh --method git: what is refused, so that nothing of the user's is lost.
# shellcheck disable=SC2030,SC2031 # each test is its own

load helpers
load queue-helpers
load method-helpers

setup() { git_tree; }

@test "uncommitted changes in files that a patch touches are refused, naming them" {
	echo 'int mine;' >>"$T/kernel/sched/core.c"
	refused "$T/kernel/sched/core.c has changes that are not committed, and a patch touches it"
	refused "$T/kernel/sched/core.c has changes that are not committed" --check
	git -C "$T" update-index --assume-unchanged kernel/sched/core.c
	refused "$T/kernel/sched/core.c"
	git -C "$T" update-index --no-assume-unchanged kernel/sched/core.c
	git -C "$T" add kernel/sched/core.c
	refused "$T/kernel/sched/core.c has changes that are staged and not committed"
	git -C "$T" show HEAD:kernel/sched/core.c >"$T/kernel/sched/core.c"
	refused "$T/kernel/sched/core.c has changes that are staged and not committed"
	git -C "$T" reset -q
	rm "$T/kernel/sched/core.c"
	refused "$T/kernel/sched/core.c is deleted and that is not committed"
	git -C "$T" checkout -q kernel/sched/core.c
	run "$APPLY" --check 6.12 "$T"
	fails_with 0 "would apply 3"
}

@test "a change that makes a patch conflict is called uncommitted, not a conflict" {
	sed -i 's/core10/mine/' "$T/kernel/sched/core.c"
	refused "$T/kernel/sched/core.c has changes that are not committed"
	git -C "$T" commit -qam mine
	run "$APPLY" 6.12 "$T"
	fails_with 1 "three.patch: conflict"
}

@test "an untracked file that is in the way of a patch is refused, and kept" {
	edited "$AFTER" s4 '' kernel/sched/fair.c
	seq 5 >"$EDITED/kernel/new.c"
	new_patch new.patch stable "$AFTER" "$EDITED"
	echo mine >"$T/kernel/new.c"
	refused "$T/kernel/new.c is not known to git, and is in the way of a patch"
	[ "$(cat "$T/kernel/new.c")" = mine ]
}

@test "with nothing to do uncommitted changes are no matter" {
	"$APPLY" 6.12 "$T"
	echo 'int mine;' >>"$T/kernel/sched/core.c"
	run "$APPLY" 6.12 "$T"
	fails_with 0 "applied 0, already there 3"
	fails_with 0 "$T/kernel/sched/core.c has changes that are not committed; what is already there may be there only in these"
}

@test "a rebase, am, merge, cherry-pick, revert or bisection under way is refused in every method" {
	local method
	git -C "$T" checkout -q -b side
	echo 'int side;' >>"$T/kernel/sched/core.c"
	git -C "$T" commit -qam side
	git -C "$T" format-patch -q -1 -o "$BATS_TEST_TMPDIR"
	git -C "$T" checkout -q main
	echo 'int main;' >>"$T/kernel/sched/core.c"
	git -C "$T" commit -qam main
	busy() {
		for method in auto git patch quilt; do refused "$1" --method "$method"; done
		refused "$1" --check
	}
	run git -C "$T" merge side
	busy "a merge is under way; end it with git merge --continue or git merge --abort"
	git -C "$T" merge --abort
	run git -C "$T" rebase side
	busy "a rebase is under way; end it with git rebase --continue or git rebase --abort"
	git -C "$T" rebase --abort
	run git -C "$T" rebase --apply side
	busy "a rebase is under way"
	git -C "$T" rebase --abort
	run git -C "$T" am "$BATS_TEST_TMPDIR/0001-side.patch"
	busy "git am is under way; end it with git am --continue or git am --abort"
	git -C "$T" am --abort
	run git -C "$T" cherry-pick side
	busy "git cherry-pick is under way"
	git -C "$T" cherry-pick --abort
	git -C "$T" merge -q -s ours side
	run git -C "$T" revert side
	busy "git revert is under way"
	git -C "$T" revert --abort
	git -C "$T" bisect start
	busy "a bisection is under way; end it with git bisect reset"
	git -C "$T" bisect reset
	run "$APPLY" --check 6.12 "$T"
	fails_with 0 "would apply 3"
}

@test "an index.lock of another git is refused and left alone" {
	echo other >"$T/.git/index.lock"
	refused "$T/.git/index.lock is there: another git is at work"
	[ "$(cat "$T/.git/index.lock")" = other ]
}

@test "a repository without a commit is refused" {
	rm -rf "$T/.git"
	git -C "$T" init -q
	refused "has no commit yet"
}

@test "without an identity the line is given that sets one" {
	unset GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL EMAIL
	refused "git config --global user.name 'Your Name'"
	# with this git would guess the rest
	EMAIL=user@host.invalid refused "git config --global user.name 'Your Name'"
	git config --global user.name "A User"
	refused "git config --global user.name 'Your Name'"
	git config --global user.email user@host.invalid
	run "$APPLY" 6.12 "$T"
	fails_with 0 "applied 3"
	[ "$(git -C "$T" log -1 --format='%cn <%ce>')" = "A User <user@host.invalid>" ]
	run "$APPLY" --reverse --only three 6.12 "$T"
	fails_with 0 "reversed 1"
	[ "$(git -C "$T" log -1 --format='%an <%ae>')" = "A User <user@host.invalid>" ]
}

@test "a sparse checkout is taken if it has the files, and refused in words if not" {
	mkdir "$T/other"
	seq 9 >"$T/other/file.c"
	git -C "$T" add -A
	git -C "$T" commit -q -m other
	git -C "$T" sparse-checkout set kernel
	[ ! -e "$T/other" ]
	run "$APPLY" 6.12 "$T"
	fails_with 0 "applied 3"
	whole
	[ ! -e "$T/other" ]
	[ "$(git -C "$T" show HEAD:other/file.c)" = "$(seq 9)" ]
	make_queue
	mkdir -p "$BATS_TEST_TMPDIR/o1/other" "$BATS_TEST_TMPDIR/o2/other"
	seq 9 >"$BATS_TEST_TMPDIR/o1/other/file.c"
	seq 8 >"$BATS_TEST_TMPDIR/o2/other/file.c"
	new_patch o.patch stable "$BATS_TEST_TMPDIR/o1" "$BATS_TEST_TMPDIR/o2"
	refused "$T is a sparse checkout without other/file.c, which a patch touches; git sparse-checkout add other"
}

@test "a tree that git does not trust is refused with the line that changes that" {
	[ "$(id -u)" -eq 0 ] || skip "not root, so the tree cannot belong to somebody else"
	chown -R 1234:1234 "$T"
	refused "git config --global --add safe.directory $T"
	refused "or say --method patch" --method git
	run "$APPLY" --method patch 6.12 "$T"
	fails_with 0 "applied 3"
}

@test "a checkout that git converts is refused in words, not as a conflict" {
	git -C "$T" config core.autocrlf true
	rm "$T/kernel/sched/core.c" "$T/kernel/sched/fair.c"
	git -C "$T" checkout -q .
	grep -q $'\r' "$T/kernel/sched/fair.c"
	refused "git converts $T/kernel/sched/core.c at checkout"
}

@test "autocrlf that changed nothing here is no matter" {
	git -C "$T" config core.autocrlf input
	run "$APPLY" 6.12 "$T"
	fails_with 0 "applied 3"
	whole
}

@test "somebody who commits while the run goes on keeps that commit, and the run gives up" {
	# the moment before the lock is taken
	stub "$BATS_TEST_TMPDIR/bin" ln "case \$* in *index.lock) env -u GIT_DIR git -C '$T' -c user.name=x -c user.email=x@x.invalid commit -q --allow-empty -m meanwhile ;; esac" "exec $(type -P ln) \"\$@\""
	PATH=$BATS_TEST_TMPDIR/bin:$PATH run "$APPLY" 6.12 "$T"
	fails_with 7 "another git has worked in $T meanwhile"
	whole
	[ "$(git -C "$T" log -1 --format=%s)" = meanwhile ]
	[ "$(git -C "$T" rev-parse HEAD~1)" = "$BASE" ]
}

@test "a branch that is locked by another git leaves all as it was" {
	: >"$T/.git/refs/heads/main.lock"
	before=$(full_sum "$T/kernel")
	run "$APPLY" 6.12 "$T"
	fails_with 7 "the tree is as it was"
	[ -e "$T/.git/refs/heads/main.lock" ]
	rm "$T/.git/refs/heads/main.lock"
	whole
	[ "$(full_sum "$T/kernel")" = "$before" ]
}
