#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# apply.sh --method git: the commits, and the repositories that it takes.
# shellcheck disable=SC2030,SC2031 # each test is its own

load helpers
load queue-helpers
load method-helpers

setup() { git_tree; }

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

@test "a worktree on another file system than its repository is mended too" {
	local wt
	wt=$(mktemp -d /dev/shm/kit-test.XXXXXX 2>/dev/null) || skip "no /dev/shm to write to"
	if [ "$(stat -c %d "$wt")" = "$(stat -c %d "$T")" ]; then rm -rf "$wt"; skip "/dev/shm is no file system of its own"; fi
	git -C "$T" worktree add -q -f "$wt" -b side
	stub "$BATS_TEST_TMPDIR/bin" mv "case \$* in *kernel/sched/fair.c) kill -9 0 ;; esac" "exec $(type -P mv) \"\$@\""
	PATH=$BATS_TEST_TMPDIR/bin:$PATH run setsid -w "$APPLY" 6.12 "$wt"
	local killed=$status
	run "$APPLY" 6.12 "$wt"
	diff=$(diff -r "$wt/kernel" "$AFTER/kernel") || true
	now=$(git -C "$wt" status --porcelain)
	rm -rf "$wt"
	[ "$killed" -eq 137 ]
	fails_with 0 "half changed; putting it back first"
	fails_with 0 "applied 3, already there 0"
	[ -z "$diff$now" ]
	[ -z "$(find "$T/.git" -name '*kit-apply*' -o -name '*.lock')" ]
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

@test "a split index, an untracked cache and an odd index version are gone on with" {
	git -C "$T" update-index --untracked-cache --split-index --index-version 4
	git -C "$T" config core.splitIndex true
	shared=$(cd "$T/.git" && echo sharedindex.*)
	run "$APPLY" 6.12 "$T"
	fails_with 0 "applied 3"
	[ "$(cd "$T/.git" && echo sharedindex.*)" = "$shared" ]
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

@test "the index has the right stat data, so that git need not read the files again" {
	"$APPLY" 6.12 "$T"
	before=$(sha256sum <"$T/.git/index")
	# what git keeps of the time is that of the file, and the size is not 0, which
	# would say that it has to look into the file
	run git -C "$T" ls-files --debug kernel/sched/fair.c
	[[ $output == *"mtime: $(stat -c %Y "$T/kernel/sched/fair.c"):"* ]]
	[[ $output == *"ino: $(($(stat -c %i "$T/kernel/sched/fair.c") & 0xffffffff))"* ]]
	[[ $output == *"size: $(stat -c %s "$T/kernel/sched/fair.c")"* ]]
	GIT_OPTIONAL_LOCKS=0 git -C "$T" diff-files --quiet
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
