# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Small trees for the kill tests. Load it after helpers and queue-helpers. What
# makes a tree takes nothing and leaves it in $T, with its queue in $KIT_QUEUE.

# kill_tree: two patches, of which one changes two files and the other adds a
# file in a new folder and removes one. Other files lie around them.
kill_tree() {
	need_tool filterdiff patchutils
	make_queue
	T=$BATS_TEST_TMPDIR/t
	mini_tree "$T"
	seq 9 >"$T/kernel/sched/old.c"
	mkdir -p "$T/include/linux" "$T/scripts"
	seq -f '#define HZ%g' 20 >"$T/include/linux/other.h"
	echo 'exit 0' >"$T/scripts/run.sh"
	chmod 755 "$T/scripts/run.sh"
	edited "$T" s1 's/fair30/fair30_one/'
	sed -i 's/core10/core10_one/' "$EDITED/kernel/sched/core.c"
	new_patch one.patch stable "$T" "$EDITED"
	edited "$BATS_TEST_TMPDIR/s1" s2 's/fair32/fair32_two/'
	mkdir -p "$EDITED/lib/deep"
	seq 5 >"$EDITED/lib/deep/file.c"
	rm "$EDITED/kernel/sched/old.c"
	new_patch two.patch stable "$BATS_TEST_TMPDIR/s1" "$EDITED"
	find "$T" -exec touch -d '2026-01-02 03:04:05.6' {} +
}

# git_user: the committer, and what a copy with cp -a needs for git to see that
# its files are the same ones.
git_user() {
	git config --global user.name 'Kit Test'
	git config --global user.email test@kit.invalid
	git config --global init.defaultBranch main
	git config --global core.checkStat minimal
	git config --global core.trustctime false
	unset "${!GIT_AUTHOR_@}" "${!GIT_COMMITTER_@}"
}

# kill_git_tree: the same as a git checkout, with somebody's work in it: a
# staged and an unstaged change and an untracked file, elsewhere.
kill_git_tree() {
	kill_tree
	git_user
	git -C "$T" init -q
	git -C "$T" add -A
	git -C "$T" commit -q -m 'Linux 6.12.95'
	git -C "$T" branch other
	echo '#define STAGED' >>"$T/include/linux/other.h"
	git -C "$T" add include
	echo 'echo work' >>"$T/scripts/run.sh"
	echo note >"$T/notes"
}

# kill_quilt_tree: the same, with another series pushed whole.
kill_quilt_tree() {
	need_tool quilt quilt
	kill_tree
	(
		cd "$T" || exit
		export QUILT_PATCHES=patches
		quilt --quiltrc - new theirs.patch
		quilt --quiltrc - add include/linux/other.h kernel/sched/core.c
		echo '#define THEIRS' >>include/linux/other.h
		sed -i 's/core50/core50_theirs/' kernel/sched/core.c
		quilt --quiltrc - refresh
	) >"$BATS_TEST_TMPDIR/quilt.log" 2>&1
}

# sweep K ARG...: tests/kill-sweep.sh on $T at each K-th point, for a minute
# at most; its counts go to the reader. With KIT_TEST_ALL=1 at every point, and with
# half written writes and kills after each call. In memory where that is possible: a
# disk is slow to sync.
sweep() {
	local more=(--every "$1" --objects $(($1 * 4)) --twice 1 --seconds 60)
	shift
	[ -z "${KIT_TEST_ALL:-}" ] || more=(--cuts --twice 9)
	[ "$(stat -f -c %T /dev/shm 2>/dev/null)" != tmpfs ] || [ ! -w /dev/shm ] || more+=(--dir /dev/shm)
	"$KIT/tests/kill-sweep.sh" "${more[@]}" "$@" 6.12 "$T" | sed 's/^/# /' >&3
	[ "${PIPESTATUS[0]}" -eq 0 ]
}
