#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# apply.sh on each kind of tree that a release process has, from outside: which
# method it takes, what comes out, what stays alone.
# shellcheck disable=SC2030,SC2031 # each test is its own

load helpers
load queue-helpers
load kill-helpers
load kill-facts

setup() {
	kill_tree
	git_user
	cp -a "$T" "$BATS_TEST_TMPDIR/before"
	BEFORE=$BATS_TEST_TMPDIR/before AFTER=$BATS_TEST_TMPDIR/s2
	touch -d '2026-01-02 03:04:05.6' "$AFTER"
}

# method TREE [OPTION...]: print the method that auto takes there.
method() {
	"$APPLY" --check --json "${@:2}" 6.12 "$1" 2>"$BATS_TEST_TMPDIR/err" | sed -n 's/.*"method": *"\([a-z]*\)".*/\1/p'
}

# files_are TREE WANT: the files of a tree, but for those of git and quilt. Empty
# folders do not count: quilt leaves them where a patch made a file.
files_are() { diff <(file_sums "$2") <(file_sums "$1"); }

file_sums() {
	(cd "$1" && find . \( -name .git -o -name .pc -o -name patches -o -name debian -o -name notes \) -prune -o \
		-type f -exec sha256sum {} + | sort -k 2)
}

# repository DIR: make DIR one, with a commit of all that is in it.
repository() {
	git -C "$1" init -q
	git -C "$1" add -A
	git -C "$1" commit -q -m 'Linux 6.12.95'
}

# whole_round TREE: bring all in, run again, take all out; the method is auto.
whole_round() {
	run "$APPLY" 6.12 "$1"
	fails_with 0 "applied 2, already there 0"
	files_are "$1" "$AFTER"
	run "$APPLY" 6.12 "$1"
	fails_with 0 "applied 0, already there 2"
	files_are "$1" "$AFTER"
	run "$APPLY" --reverse 6.12 "$1"
	fails_with 0 "reversed 2, not there 0"
	files_are "$1" "$BEFORE"
	no_leftovers "$1"
}

# commits TREE: subjects and authors on top of the first commit, newest first.
commits() { git -C "$1" log --format='%s, %an <%ae>, %cn' --max-count="$2"; }

@test "a linux-stable checkout gets one commit a patch, by the author of the patch and the user" {
	repository "$T"
	git -C "$T" checkout -q -b linux-6.12.y
	[ "$(method "$T")" = git ]
	git config --global user.name 'The Maintainer'
	run "$APPLY" 6.12 "$T"
	fails_with 0 "applied 2"
	[ "$(commits "$T" 2)" = "test: two, Kit Test <test@kit.invalid>, The Maintainer
test: one, Kit Test <test@kit.invalid>, The Maintainer" ]
	[ "$(git -C "$T" log -1 --format=%ad --date=iso)" = '2025-10-11 06:43:22 +0000' ]
	[ "$(git -C "$T" symbolic-ref HEAD)" = refs/heads/linux-6.12.y ]
	[ -z "$(git -C "$T" status --porcelain)" ]
	files_are "$T" "$AFTER"
	# a file at a time: each commit is what its patch says
	[ "$(git -C "$T" show --format= --name-only HEAD~)" = "kernel/sched/core.c
kernel/sched/fair.c" ]
	run "$APPLY" --reverse 6.12 "$T"
	fails_with 0 "reversed 2"
	[ "$(git -C "$T" rev-list --count HEAD)" -eq 5 ]
	git -C "$T" diff --quiet HEAD HEAD~4
}

@test "what the commits are is what git am would have made" {
	repository "$T"
	cp -a "$T" "$BATS_TEST_TMPDIR/am"
	"$APPLY" 6.12 "$T"
	git -C "$BATS_TEST_TMPDIR/am" am -q "$KIT_QUEUE/patches/6.12/one.patch" "$KIT_QUEUE/patches/6.12/two.patch"
	diff <(git -C "$BATS_TEST_TMPDIR/am" log --format='%T %an %ae %ad %cn %ce%n%B') \
		<(git -C "$T" log --format='%T %an %ae %ad %cn %ce%n%B')
}

@test "a distribution's git goes on behind the distribution's own commits" {
	repository "$T"
	sed -i 's/fair05/fair05_distro/' "$T/kernel/sched/fair.c"
	mkdir "$T/packaging"
	echo 'Version: 6.12.95-1' >"$T/packaging/kernel.spec"
	git -C "$T" add -A
	git -C "$T" commit -q -m 'distro: own change'
	git -C "$T" tag rel-1
	[ "$(method "$T")" = git ]
	run "$APPLY" 6.12 "$T"
	fails_with 0 "applied 2"
	[ "$(git -C "$T" rev-parse HEAD~2)" = "$(git -C "$T" rev-parse 'rel-1^{commit}')" ]
	grep -q fair05_distro "$T/kernel/sched/fair.c"
	grep -q fair32_two "$T/kernel/sched/fair.c"
	run "$APPLY" --reverse 6.12 "$T"
	fails_with 0 "reversed 2"
	git -C "$T" diff --quiet HEAD rel-1
}

@test "a git worktree is patched on its own branch, the main one stays as it is" {
	repository "$T"
	git -C "$T" worktree add -q -b fix "$BATS_TEST_TMPDIR/wt"
	sum=$(facts "$T" | grep -vE '/refs/heads/fix|ref refs/heads/fix|worktrees/wt' | sha256sum)
	[ "$(method "$BATS_TEST_TMPDIR/wt")" = git ]
	whole_round "$BATS_TEST_TMPDIR/wt"
	[ "$(git -C "$BATS_TEST_TMPDIR/wt" rev-list --count main..HEAD)" -eq 4 ]
	[ -z "$(git -C "$BATS_TEST_TMPDIR/wt" status --porcelain)" ]
	[ "$(facts "$T" | grep -vE '/refs/heads/fix|ref refs/heads/fix|worktrees/wt' | sha256sum)" = "$sum" ]
	no_leftovers "$T"
}

@test "a shallow clone gets its commits and stays shallow" {
	repository "$T"
	git -C "$T" commit -q --allow-empty -m more
	git clone -q --depth 1 "file://$T" "$BATS_TEST_TMPDIR/c"
	[ "$(method "$BATS_TEST_TMPDIR/c")" = git ]
	whole_round "$BATS_TEST_TMPDIR/c"
	[ "$(git -C "$BATS_TEST_TMPDIR/c" rev-parse --is-shallow-repository)" = true ]
	[ "$(git -C "$BATS_TEST_TMPDIR/c" rev-list --count HEAD)" -eq 5 ]
}

@test "a partial clone gets its commits, without asking the server for anything" {
	repository "$T"
	git -C "$T" config uploadpack.allowFilter true
	git -C "$T" config uploadpack.allowAnySHA1InWant true
	git clone -q --filter=blob:none "file://$T" "$BATS_TEST_TMPDIR/c"
	mv "$T" "$T.gone"
	[ "$(method "$BATS_TEST_TMPDIR/c")" = git ]
	whole_round "$BATS_TEST_TMPDIR/c"
	[ "$(git -C "$BATS_TEST_TMPDIR/c" rev-list --count HEAD)" -eq 5 ]
}

@test "a detached HEAD moves on and stays detached, all branches stay" {
	repository "$T"
	git -C "$T" checkout -q --detach
	main=$(git -C "$T" rev-parse main)
	whole_round "$T"
	[ "$(git -C "$T" rev-parse main)" = "$main" ]
	[ "$(git -C "$T" rev-list --count main..HEAD)" -eq 4 ]
	run git -C "$T" symbolic-ref -q HEAD
	[ "$status" -eq 1 ]
}

@test "a tree in a folder of another repository gets its files edited, the repository nothing" {
	mkdir "$BATS_TEST_TMPDIR/outer"
	mv "$T" "$BATS_TEST_TMPDIR/outer/linux"
	repository "$BATS_TEST_TMPDIR/outer"
	[ "$(method "$BATS_TEST_TMPDIR/outer/linux")" = patch ]
	head=$(git -C "$BATS_TEST_TMPDIR/outer" rev-parse HEAD)
	index=$(sha256sum <"$BATS_TEST_TMPDIR/outer/.git/index")
	run "$APPLY" 6.12 "$BATS_TEST_TMPDIR/outer/linux"
	fails_with 0 "applied 2"
	files_are "$BATS_TEST_TMPDIR/outer/linux" "$AFTER"
	[ "$(git -C "$BATS_TEST_TMPDIR/outer" rev-parse HEAD)" = "$head" ]
	[ "$(sha256sum <"$BATS_TEST_TMPDIR/outer/.git/index")" = "$index" ]
	run "$APPLY" --method git 6.12 "$BATS_TEST_TMPDIR/outer/linux"
	[ "$status" -eq 7 ]
	whole=$(git -C "$BATS_TEST_TMPDIR/outer" status --porcelain | sort)
	[[ $whole == *"linux/kernel/sched/fair.c"* ]]
}

@test "an unpacked tarball gets its files edited and nothing else" {
	[ "$(method "$T")" = patch ]
	whole_round "$T"
	same "$T" "$BEFORE"
}

# debian_package: $T as dpkg-source leaves a 3.0 (quilt) package unpacked.
debian_package() {
	need_tool quilt quilt
	mkdir -p "$T/debian/patches" "$T/debian/source"
	echo '3.0 (quilt)' >"$T/debian/source/format"
	cp -a "$T" "$BATS_TEST_TMPDIR/d"
	sed -i 's/core50/core50_debian/' "$BATS_TEST_TMPDIR/d/kernel/sched/core.c"
	{ printf 'Description: of Debian\n\n'; plain_diff "$BEFORE" "$BATS_TEST_TMPDIR/d" | filterdiff -x '*/debian/*'; } >"$T/debian/patches/debian.patch"
	echo debian.patch >"$T/debian/patches/series"
	(cd "$T" && QUILT_PATCHES=debian/patches quilt --quiltrc - push -q -a)
	[ "$(cat "$T/.pc/.quilt_patches")" = debian/patches ]
	grep -q core50_debian "$T/kernel/sched/core.c"
}

@test "a Debian source package gets the patches into debian/patches, behind Debian's own" {
	debian_package
	[ "$(method "$T")" = quilt ]
	run "$APPLY" 6.12 "$T"
	fails_with 0 "applied 2"
	[ "$(cat "$T/debian/patches/series")" = "debian.patch
one.patch
two.patch" ]
	cd "$T"
	export QUILT_PATCHES=debian/patches
	[ "$(quilt --quiltrc - applied | wc -l)" -eq 3 ]
	quilt --quiltrc - pop -q -a
	files_are "$T" "$BEFORE"
	quilt --quiltrc - push -q -a
	grep -q core50_debian kernel/sched/core.c
	sed 's/core50_debian/core50/' kernel/sched/core.c | cmp - "$AFTER/kernel/sched/core.c"
	cmp kernel/sched/fair.c "$AFTER/kernel/sched/fair.c"
	run "$APPLY" --reverse 6.12 "$T"
	fails_with 0 "reversed 2"
	[ "$(cat debian/patches/series)" = debian.patch ]
	[ "$(ls debian/patches)" = "debian.patch
series" ]
	[ "$(quilt --quiltrc - applied)" = debian.patch ] || [ "$(quilt --quiltrc - applied)" = debian/patches/debian.patch ]
}

# other_series N: $T with a quilt series of three patches of somebody, N of them pushed.
other_series() {
	local n
	need_tool quilt quilt
	for n in 1 2 3; do
		(
			cd "$T" && export QUILT_PATCHES=patches || exit
			quilt --quiltrc - new "theirs$n.patch"
			quilt --quiltrc - add kernel/sched/core.c
			sed -i "s/core5$n/core5${n}_theirs/" kernel/sched/core.c
			quilt --quiltrc - refresh
		) >/dev/null
	done
	(cd "$T" && quilt --quiltrc - pop -q "$((3 - $1))") >/dev/null || [ "$1" -eq 3 ]
}

@test "a tree with another series pushed whole goes on at its end, and theirs stays on when ours goes" {
	other_series 3
	cp -a "$T" "$BATS_TEST_TMPDIR/theirs"
	[ "$(method "$T")" = quilt ]
	run "$APPLY" 6.12 "$T"
	fails_with 0 "applied 2"
	cd "$T"
	[ "$(quilt --quiltrc - applied | sed 's,.*/,,' | paste -sd ' ')" = "theirs1.patch theirs2.patch theirs3.patch one.patch two.patch" ]
	quilt --quiltrc - pop -q 2
	files_are "$T" "$BATS_TEST_TMPDIR/theirs"
	quilt --quiltrc - push -q -a
	run "$APPLY" --reverse 6.12 "$T"
	fails_with 0 "reversed 2"
	files_are "$T" "$BATS_TEST_TMPDIR/theirs"
	diff -r "$T/patches" "$BATS_TEST_TMPDIR/theirs/patches"
	[ "$(quilt --quiltrc - applied | wc -l)" -eq 3 ]
	quilt --quiltrc - pop -q -a
	files_are "$T" "$BEFORE"
}

@test "a tree with another series pushed half is refused, saying how much and what to do" {
	other_series 2
	facts "$T" >"$BATS_TEST_TMPDIR/facts"
	run "$APPLY" 6.12 "$T"
	fails_with 7 "quilt push -a"
	[[ $output == *"2 of 3"* ]]
	[[ $output == *"--method patch"* ]]
	facts "$T" | diff "$BATS_TEST_TMPDIR/facts" -
	# and the way that it names works
	run "$APPLY" --method patch 6.12 "$T"
	fails_with 0 "applied 2"
}

@test "a series with nothing pushed is not built upon: --method quilt is refused" {
	other_series 3
	(cd "$T" && quilt --quiltrc - pop -q -a)
	facts "$T" >"$BATS_TEST_TMPDIR/facts"
	run "$APPLY" --method quilt 6.12 "$T"
	fails_with 7 "quilt push -a"
	facts "$T" | diff "$BATS_TEST_TMPDIR/facts" -
	rm -rf "$T/.pc"
	facts "$T" >"$BATS_TEST_TMPDIR/facts"
	run "$APPLY" --method quilt 6.12 "$T"
	fails_with 7 "push -a"
	facts "$T" | diff "$BATS_TEST_TMPDIR/facts" -
}

@test "a tree that no quilt knows gets a .pc with --method quilt, which quilt pops and pushes" {
	need_tool quilt quilt
	run "$APPLY" --method quilt 6.12 "$T"
	fails_with 0 "applied 2"
	files_are "$T" "$AFTER"
	cd "$T"
	[ "$(quilt --quiltrc - applied | sed 's,.*/,,' | paste -sd ' ')" = "one.patch two.patch" ]
	quilt --quiltrc - pop -q -a
	files_are "$T" "$BEFORE"
	quilt --quiltrc - push -q -a
	files_are "$T" "$AFTER"
	run "$APPLY" --reverse 6.12 "$T"
	fails_with 0 "reversed 2"
	files_are "$T" "$BEFORE"
}

# odd_path TREE: the same result in all three methods on copies below TREE's name.
odd_path() {
	local dir=$1
	mkdir -p "$dir"
	for m in git quilt patch; do
		cp -a "$BEFORE" "$dir/$m"
		[ "$m" != git ] || repository "$dir/git"
		run "$APPLY" --method "$m" 6.12 "$dir/$m"
		fails_with 0 "applied 2"
		files_are "$dir/$m" "$AFTER"
		run "$APPLY" --method "$m" --reverse 6.12 "$dir/$m"
		fails_with 0 "reversed 2"
		files_are "$dir/$m" "$BEFORE"
		no_leftovers "$dir"
	done
}

@test "a path with spaces works in all methods" { odd_path "$BATS_TEST_TMPDIR/a  tree of mine"; }

@test "a path with a colon, a quote, a bracket and a star works in all methods" { odd_path "$BATS_TEST_TMPDIR/a:b'c\"[d]*"; }

@test "a symbolic link as tree works in all methods, and stays a link" {
	for m in git quilt patch; do
		cp -a "$BEFORE" "$BATS_TEST_TMPDIR/$m"
		[ "$m" != git ] || repository "$BATS_TEST_TMPDIR/git"
		ln -s "$m" "$BATS_TEST_TMPDIR/link-$m"
		run "$APPLY" --method "$m" 6.12 "$BATS_TEST_TMPDIR/link-$m"
		fails_with 0 "applied 2"
		[ -L "$BATS_TEST_TMPDIR/link-$m" ]
		files_are "$BATS_TEST_TMPDIR/$m" "$AFTER"
	done
}

@test "a relative path works in all methods" {
	cd "$BATS_TEST_TMPDIR"
	for m in git quilt patch; do
		cp -a "$BEFORE" "$m"
		[ "$m" != git ] || repository git
		run "$APPLY" --method "$m" 6.12 "$m"
		fails_with 0 "applied 2"
		files_are "$m" "$AFTER"
		(cd "$m/kernel" && "$APPLY" --method "$m" --reverse 6.12 ..)
		files_are "$m" "$BEFORE"
	done
}

@test "read-only files and folders that no patch touches are no hindrance, and keep their modes" {
	repository "$T"
	chmod a-w "$T/include/linux/other.h" "$T/include/linux" "$T/scripts"
	run "$APPLY" 6.12 "$T"
	fails_with 0 "applied 2"
	[ "$(stat -c %a "$T/include/linux/other.h" "$T/include/linux" "$T/scripts" | paste -sd ' ')" = "444 555 555" ]
	chmod u+w "$T/include/linux" "$T/scripts"
}

@test "a file that the patches touch keeps its mode and its owner in all methods" {
	for m in git quilt patch; do
		cp -a "$BEFORE" "$BATS_TEST_TMPDIR/$m"
		chmod 750 "$BATS_TEST_TMPDIR/$m/kernel/sched/fair.c"
		[ "$m" != git ] || repository "$BATS_TEST_TMPDIR/git"
		chmod 700 "$BATS_TEST_TMPDIR/$m/kernel/sched/fair.c"
		owner=$(id -u):$(id -g)
		if [ "$(id -u)" -eq 0 ]; then
			owner=1234:4321
			chown "$owner" "$BATS_TEST_TMPDIR/$m/kernel/sched/fair.c"
		fi
		run "$APPLY" --method "$m" 6.12 "$BATS_TEST_TMPDIR/$m"
		fails_with 0 "applied 2"
		[ "$(stat -c '%a %u:%g' "$BATS_TEST_TMPDIR/$m/kernel/sched/fair.c")" = "700 $owner" ]
	done
}

@test "--check changes nothing, not even a stale .git/index, and says which method it would take" {
	kill_git_tree 2>/dev/null || true
	cp -a "$T" "$BATS_TEST_TMPDIR/c"
	# every entry is stale, so that git would write the index if it could
	find "$BATS_TEST_TMPDIR/c" -path '*/.git' -prune -o -type f -exec touch {} +
	(cd "$BATS_TEST_TMPDIR/c" && find . -printf '%P %m %y %T@ %C@\n' | sort; find . -type f -exec sha256sum {} + | sort) >"$BATS_TEST_TMPDIR/all"
	for m in auto git quilt patch; do
		run "$APPLY" --check --method "$m" 6.12 "$BATS_TEST_TMPDIR/c"
		fails_with 0 "would apply 2"
		(cd "$BATS_TEST_TMPDIR/c" && find . -printf '%P %m %y %T@ %C@\n' | sort; find . -type f -exec sha256sum {} + | sort) | diff "$BATS_TEST_TMPDIR/all" -
	done
	[ "$(method "$BATS_TEST_TMPDIR/c")" = git ]
}

@test "--check opens nothing below the tree for writing, in any method" {
	make -s -C "$KIT" build/test/killat
	for m in git quilt patch; do
		rm -rf "$BATS_TEST_TMPDIR/c"
		cp -a "$BEFORE" "$BATS_TEST_TMPDIR/c"
		[ "$m" != git ] || repository "$BATS_TEST_TMPDIR/c"
		find "$BATS_TEST_TMPDIR/c" -path '*/.git' -prune -o -type f -exec touch {} +
		"$KIT/build/test/killat" --below "$BATS_TEST_TMPDIR/c" --log "$BATS_TEST_TMPDIR/log" -- \
			"$APPLY" --check --method "$m" 6.12 "$BATS_TEST_TMPDIR/c"
		diff /dev/null "$BATS_TEST_TMPDIR/log"
	done
}
