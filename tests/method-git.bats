#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# apply.sh --method git: commits, and what is refused so that none is lost.
# shellcheck disable=SC2030,SC2031 # each test is its own

load helpers
load queue-helpers

setup() {
	need_tool filterdiff patchutils
	three_patches
	git -C "$T" init -q -b main
	git -C "$T" add -A
	git -C "$T" commit -q -m base
	BASE=$(git -C "$T" rev-parse HEAD)
}

# refused TEXT: exit 7 with TEXT, and nothing has changed, not even in .git.
refused() {
	local before
	before=$(full_sum "$T")
	run "$APPLY" "${@:2}" 6.12 "$T"
	fails_with 7 "$1"
	[ "$(full_sum "$T")" = "$before" ] || { echo "$T has changed"; return 1; }
}

# whole: the tree and its repository are sound and nothing of a run is left.
whole() {
	[ -z "$(git -C "$T" status --porcelain)" ]
	git -C "$T" fsck --strict --no-dangling
	[ -z "$(cd "$T" && find . -name '*kit-apply*' -o -name '*.lock')" ]
}

@test "each patch becomes the commit that git am would have made" {
	git clone -q "$T" "$BATS_TEST_TMPDIR/am"
	run "$APPLY" 6.12 "$T"
	fails_with 0 "method git: $T is the top of a git work tree"
	fails_with 0 "applied 3, already there 0"
	same "$T/kernel" "$AFTER/kernel"
	whole
	git -C "$BATS_TEST_TMPDIR/am" am -q "$KIT_QUEUE"/patches/6.12/{one,two,three}.patch
	form='%T %an <%ae> %ad %cn <%ce>%n%B'
	git -C "$T" log --format="$form" | diff - <(git -C "$BATS_TEST_TMPDIR/am" log --format="$form")
	[ "$(git -C "$T" log -g -1 --format=%gs)" = "apply.sh: 3 patch(es)" ]
}

@test "a second run finds all there and makes no commit" {
	"$APPLY" 6.12 "$T"
	head=$(git -C "$T" rev-parse HEAD)
	sum=$(full_sum "$T")
	run "$APPLY" 6.12 "$T"
	fails_with 0 "applied 0, already there 3"
	[ "$(git -C "$T" rev-parse HEAD)" = "$head" ]
	[ "$(full_sum "$T")" = "$sum" ]
}

@test "--reverse makes a revert commit for each, newest first, naming what it reverts" {
	"$APPLY" 6.12 "$T"
	run "$APPLY" --reverse 6.12 "$T"
	fails_with 0 "reversed 3, not there 0"
	whole
	[ "$(git -C "$T" rev-parse 'HEAD^{tree}')" = "$(git -C "$T" rev-parse "$BASE^{tree}")" ]
	[ "$(git -C "$T" rev-list --count HEAD)" -eq 7 ]
	git -C "$T" log -3 --reverse --format=%s >"$BATS_TEST_TMPDIR/subjects"
	printf 'Revert "test: %s"\n' three two one | diff - "$BATS_TEST_TMPDIR/subjects"
	[ "$(git -C "$T" log -1 --format=%b)" = "This reverts commit $(git -C "$T" rev-list --reverse HEAD | sed -n 2p)." ]
	[ "$(git -C "$T" log -1 --format='%an <%ae>')" = "Kit Test <test@kit.invalid>" ]
	run "$APPLY" 6.12 "$T"
	fails_with 0 "applied 3, already there 0"
	same "$T/kernel" "$AFTER/kernel"
}

@test "--reverse works after later commits of others, also in the same file" {
	"$APPLY" 6.12 "$T"
	sed -i '1i int others;' "$T/kernel/sched/fair.c"
	echo 'int others;' >"$T/kernel/others.c"
	git -C "$T" add -A
	git -C "$T" commit -q -m others
	run "$APPLY" --reverse 6.12 "$T"
	fails_with 0 "reversed 3, not there 0"
	whole
	[ "$(git -C "$T" diff --numstat "$BASE" HEAD | tr '\t' ' ')" = $'1 0 kernel/others.c\n1 0 kernel/sched/fair.c' ]
}

@test "--reverse says so when it does not know which commit brought a patch in" {
	cp "$AFTER"/kernel/sched/*.c "$T/kernel/sched/"
	git -C "$T" commit -qam "all in one"
	run "$APPLY" --reverse --only three 6.12 "$T"
	fails_with 0 "reversed 1, not there 0"
	[ "$(git -C "$T" log -1 --format=%b)" = "This takes out three.patch of the 6.12 queue; which commit brought it in was not found." ]
}

@test "a patch below one that is there already gets a commit of its own" {
	"$APPLY" --method patch 6.12 "$T"
	"$APPLY" --method patch --reverse --only three 6.12 "$T"
	edited "$AFTER" s4 's/fair40/fair40_four/'
	new_patch four.patch stable "$AFTER" "$EDITED"
	"$APPLY" --method patch --only four 6.12 "$T"
	git -C "$T" commit -qam "one, two and four"
	run "$APPLY" 6.12 "$T"
	fails_with 0 "applied 1, already there 3"
	whole
	same "$T/kernel" "$EDITED/kernel"
	[ "$(git -C "$T" log -1 --format=%s)" = "test: three" ]
}

@test "files are created and deleted, in commits and back" {
	make_queue
	cp -a "$T" "$BATS_TEST_TMPDIR/s1"
	rm -rf "$BATS_TEST_TMPDIR/s1/.git" "$BATS_TEST_TMPDIR/s1/kernel/sched/core.c"
	cp -a "$BATS_TEST_TMPDIR/s1" "$BATS_TEST_TMPDIR/s0"
	cp "$T/kernel/sched/core.c" "$BATS_TEST_TMPDIR/s0/kernel/sched/"
	mkdir -p "$BATS_TEST_TMPDIR/s1/new/deep"
	seq 5 >"$BATS_TEST_TMPDIR/s1/new/deep/file.c"
	new_patch files.patch stable "$BATS_TEST_TMPDIR/s0" "$BATS_TEST_TMPDIR/s1"
	"$APPLY" 6.12 "$T"
	whole
	[ "$(git -C "$T" diff --name-status "$BASE" HEAD | tr '\t' ' ')" = $'D kernel/sched/core.c\nA new/deep/file.c' ]
	same "$T/new" "$BATS_TEST_TMPDIR/s1/new"
	[ ! -e "$T/kernel/sched/core.c" ]
	"$APPLY" --reverse 6.12 "$T"
	whole
	[ ! -e "$T/new" ]
	[ "$(git -C "$T" rev-parse 'HEAD^{tree}')" = "$(git -C "$T" rev-parse "$BASE^{tree}")" ]
}

@test "what the user has staged or edited in other files stays so" {
	echo 'int staged;' >"$T/kernel/staged.c"
	git -C "$T" add kernel/staged.c
	echo 'int unstaged;' >>"$T/kernel/staged.c"
	echo '# edited' >>"$T/Makefile"
	echo 'int new;' >"$T/kernel/untracked.c"
	before=$(git -C "$T" status --porcelain)
	diff=$(git -C "$T" diff)
	run "$APPLY" 6.12 "$T"
	fails_with 0 "applied 3, already there 0"
	[ "$(git -C "$T" status --porcelain)" = "$before" ]
	[ "$(git -C "$T" diff)" = "$diff" ]
	[ "$(git -C "$T" show :kernel/staged.c)" = "int staged;" ]
	run git -C "$T" show HEAD:kernel/staged.c
	[ "$status" -eq 128 ]
}

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

@test "commits are signed if the user wants that, and a signature that fails leaves all as it was" {
	need_tool ssh-keygen openssh-client
	ssh-keygen -q -t ed25519 -N '' -f "$BATS_TEST_TMPDIR/key"
	git -C "$T" config commit.gpgSign true
	git -C "$T" config gpg.format ssh
	git -C "$T" config user.signingKey "$BATS_TEST_TMPDIR/nokey"
	head=$(git -C "$T" rev-parse HEAD)
	run "$APPLY" 6.12 "$T"
	fails_with 6 "git cannot make the commit for one.patch"
	[ "$(git -C "$T" rev-parse HEAD)" = "$head" ]
	whole
	git -C "$T" config user.signingKey "$BATS_TEST_TMPDIR/key"
	run "$APPLY" 6.12 "$T"
	fails_with 0 "applied 3"
	git -C "$T" cat-file commit HEAD~2 | grep -q '^gpgsig '
}

@test "no hook of the user is run" {
	local hook
	for hook in pre-commit commit-msg prepare-commit-msg post-commit post-index-change reference-transaction applypatch-msg; do
		stub "$T/.git/hooks" "$hook" "echo $hook >>$BATS_TEST_TMPDIR/ran"
	done
	git -C "$T" config core.fsmonitor "$T/.git/hooks/fsmonitor"
	stub "$T/.git/hooks" fsmonitor "echo fsmonitor >>$BATS_TEST_TMPDIR/ran"
	"$APPLY" 6.12 "$T"
	[ ! -e "$BATS_TEST_TMPDIR/ran" ]
}

@test "a detached HEAD moves, and no branch" {
	git -C "$T" checkout -q --detach
	run "$APPLY" 6.12 "$T"
	fails_with 0 "applied 3"
	whole
	[ "$(git -C "$T" rev-parse main)" = "$BASE" ]
	[ "$(git -C "$T" rev-parse HEAD~3)" = "$BASE" ]
}

@test "a worktree is taken, and the main work tree is not touched" {
	git -C "$T" worktree add -q "$BATS_TEST_TMPDIR/wt" -b side
	sum=$(full_sum "$T/kernel")
	run "$APPLY" 6.12 "$BATS_TEST_TMPDIR/wt"
	fails_with 0 "method git"
	same "$BATS_TEST_TMPDIR/wt/kernel" "$AFTER/kernel"
	[ -z "$(git -C "$BATS_TEST_TMPDIR/wt" status --porcelain)" ]
	whole
	[ "$(full_sum "$T/kernel")" = "$sum" ]
	[ "$(git -C "$T" rev-parse main)" = "$BASE" ]
	[ "$(git -C "$T" rev-parse side~3)" = "$BASE" ]
}

@test "a shallow and a partial clone need nothing from where they came" {
	git -C "$T" config uploadpack.allowFilter true
	git clone -q --depth 1 "file://$T" "$BATS_TEST_TMPDIR/shallow"
	git clone -q --filter=tree:0 "file://$T" "$BATS_TEST_TMPDIR/partial"
	mv "$T" "$BATS_TEST_TMPDIR/gone"
	for T in "$BATS_TEST_TMPDIR/shallow" "$BATS_TEST_TMPDIR/partial"; do
		run "$APPLY" 6.12 "$T"
		fails_with 0 "applied 3, already there 0"
		same "$T/kernel" "$AFTER/kernel"
		[ -z "$(git -C "$T" status --porcelain)" ]
		run "$APPLY" --reverse 6.12 "$T"
		fails_with 0 "reversed 3"
	done
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

@test "a split index, an untracked cache and an odd index version are gone on with" {
	git -C "$T" update-index --untracked-cache --split-index --index-version 4
	git -C "$T" config core.splitIndex true
	run "$APPLY" 6.12 "$T"
	fails_with 0 "applied 3"
	whole
	git -C "$T" update-index --refresh
}

@test "a repository of sha256" {
	rm -rf "$T/.git"
	git -C "$T" init -q --object-format=sha256
	git -C "$T" add -A
	git -C "$T" commit -q -m base
	run "$APPLY" 6.12 "$T"
	fails_with 0 "applied 3"
	whole
	[ "$(git -C "$T" rev-parse HEAD | wc -c)" -eq 65 ]
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

@test "the index has the right stat data, so that git need not read the files again" {
	"$APPLY" 6.12 "$T"
	sleep 1
	before=$(sha256sum <"$T/.git/index")
	GIT_OPTIONAL_LOCKS=0 git -C "$T" diff-files --quiet
	run strace -f -e trace=openat git -C "$T" diff-files --quiet
	[ "$status" -eq 0 ] || skip "no strace here; on Debian: apt-get install strace"
	[[ $output != *fair.c* ]]
	[ "$(sha256sum <"$T/.git/index")" = "$before" ]
}

@test "what the environment says of another repository does not matter" {
	git init -q "$BATS_TEST_TMPDIR/other"
	GIT_DIR=$BATS_TEST_TMPDIR/other/.git GIT_WORK_TREE=$BATS_TEST_TMPDIR/other GIT_INDEX_FILE=$BATS_TEST_TMPDIR/x \
		GIT_OBJECT_DIRECTORY=$BATS_TEST_TMPDIR/o GIT_CEILING_DIRECTORIES=$T GIT_LITERAL_PATHSPECS=0 run "$APPLY" 6.12 "$T"
	fails_with 0 "applied 3"
	whole
	[ ! -e "$BATS_TEST_TMPDIR/x" ]
	[ ! -e "$BATS_TEST_TMPDIR/o" ]
}

@test "--check reads only: not even the index is refreshed" {
	touch -d '2001-01-01' "$T"/kernel/sched/*.c
	before=$(full_sum "$T")
	times=$(find "$T" -printf '%p %T@ %C@\n' | sort)
	run "$APPLY" --check 6.12 "$T"
	fails_with 0 "method git"
	fails_with 0 "would apply 3, already there 0"
	[ "$(full_sum "$T")" = "$before" ]
	[ "$(find "$T" -printf '%p %T@ %C@\n' | sort)" = "$times" ]
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
