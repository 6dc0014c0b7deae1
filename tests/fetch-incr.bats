#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# fetch-tree.sh and the incremental patches of kernel.org: when they are taken,
# and that what they make is the release itself.

load helpers
load kernel-org
load fetch-helpers

setup_file() {
	site_setup_file
	# A cache that holds 6.12.94 from kernel.org, for the tests to start from.
	BATS_TEST_TMPDIR=$BATS_FILE_TMPDIR/first
	mkdir "$BATS_TEST_TMPDIR"
	private_home "$BATS_TEST_TMPDIR"
	site_setup
	"$KIT/scripts/fetch-tree.sh" --from kernel.org 6.12.94
	web_stop
}
teardown_file() { GNUPGHOME=$BATS_FILE_TMPDIR/gnupg gpgconf --kill all; }

setup() {
	site_setup
	INCR=$V6/incr
	mkdir -p "$TREES"
	# As the kit brings a tree: its origin is newer than all of it.
	cp -a "$BATS_FILE_TMPDIR/first/cache/trees/6.12.94" "$TREES"
	cp "$BATS_FILE_TMPDIR/first/cache/trees/.6.12.94.origin" "$TREES"
	before=$(tree_sum "$TREES/6.12.94")
}
teardown() {
	web_stop
	# The tree that served as base stays as it was, whatever came of it.
	[ -n "${CHANGED:-}" ] || [ "$(tree_sum "$TREES/6.12.94")" = "$before" ]
}

korg() { fetch --from kernel.org "$@"; }

# by_patches VERSION: it came so, with no tarball, and is that release.
by_patches() {
	ok_tree "$1"
	grep -qx 'origin: kernel.org' "$TREES/.$1.origin"
	grep -q "^patch: patch-" "$TREES/.$1.origin"
	! grep "linux-$1.tar.xz" "$WEB_LOG" | grep -v "$(head_of_tarball)" || return 1
	same_as_release "$1"
}

# The HEAD that asks how big the tarball is comes first, and is the only one.
head_of_tarball() { grep -m 1 'linux-6.12.9[56].tar.xz' "$WEB_LOG" || echo none; }

same_as_release() {
	mkdir -p "$BATS_TEST_TMPDIR/whole"
	tar -xf "$V6/linux-$1.tar.xz" -C "$BATS_TEST_TMPDIR/whole"
	diff -r "$BATS_TEST_TMPDIR/whole/linux-$1" "$TREES/$1"
}

# whole VERSION: the tarball was taken.
whole() {
	ok_tree "$1"
	grep -q "^file: .*linux-$1.tar.xz" "$TREES/.$1.origin"
	same_as_release "$1"
}

@test "the next releases come as patches upon the one in the cache" {
	korg 6.12.96
	by_patches 6.12.96
	[[ $stderr == *"fetching the patches from 6.12.94 to 6.12.96 from $WEB_URL"* ]]
	trees_are .6.12.94.origin .6.12.96.origin 6.12.94 6.12.96
	id=$(sha256sum <"$V6/linux-6.12.94.tar.xz" | cut -d' ' -f1)
	gregor="$(site_fpr gregor) (gregor@kit.invalid)"
	cat "$TREES/.6.12.96.origin"
	[ "$(grep -v '^date: ' "$TREES/.6.12.96.origin")" = "origin: kernel.org
id: 6.12.94 sha256:$id
patch: patch-6.12.94-95.xz sha256:$(sha256sum <"$INCR/patch-6.12.94-95.xz" | cut -d' ' -f1)
checked-by: patch-6.12.94-95.sign, by $gregor
patch: patch-6.12.95-96.xz sha256:$(sha256sum <"$INCR/patch-6.12.95-96.xz" | cut -d' ' -f1)
checked-by: patch-6.12.95-96.sign, by $gregor
base-checked-by: linux-6.12.94.tar.sign, by $gregor" ]
}

@test "a tree that patches made serves as base itself" {
	korg 6.12.95
	by_patches 6.12.95
	korg 6.12.96
	ok_tree 6.12.96
	[[ $stderr == *"fetching the patches from 6.12.95 to 6.12.96"* ]]
	same_as_release 6.12.96
}

@test "a tree that was changed since it came is no base" {
	CHANGED=1
	for change in 'echo more >>"$1/kernel/sched/fair.c"' 'rm "$1/kernel/blob"' 'touch "$1/new"' 'rm "$1/Kbuild"' \
		'chmod +x "$1/kernel/sched/fair.c"' 'sed -i "s/point = 94/point = 00/" "$1/kernel/sched/fair.c"; touch -d 2020-01-01 "$1/kernel/sched/fair.c"'; do
		rm -rf "$TREES"
		mkdir -p "$TREES"
		site_tree 6.12.94 "$TREES/6.12.94"
		touch "$TREES/6.12.94/Kbuild"
		cp "$BATS_FILE_TMPDIR/first/cache/trees/.6.12.94.origin" "$TREES"
		sleep 0.1
		bash -c "$change" - "$TREES/6.12.94"
		korg 6.12.95
		echo "after $change"
		whole 6.12.95
	done
}

@test "a tree from elsewhere, a link, and one that is too old are no base" {
	CHANGED=1
	sed -i 's/^origin: .*/origin: debian/' "$TREES/.6.12.94.origin"
	korg 6.12.95
	whole 6.12.95
	rm -r "$TREES/6.12.95" "$TREES/.6.12.95.origin"
	cp "$BATS_FILE_TMPDIR/first/cache/trees/.6.12.94.origin" "$TREES"
	mv "$TREES/6.12.94" "$BATS_TEST_TMPDIR/away"
	ln -s "$BATS_TEST_TMPDIR/away" "$TREES/6.12.94"
	korg 6.12.95
	whole 6.12.95
}

@test "patches that are not there, or bigger than the tarball, are not taken" {
	rm "$INCR/patch-6.12.95-96.xz"
	korg 6.12.96
	whole 6.12.96
	rm -r "$TREES/6.12.96" "$TREES/.6.12.96.origin"
	head -c 1000000 /dev/urandom >"$INCR/patch-6.12.94-95.xz"
	korg 6.12.95
	whole 6.12.95
	[[ $stderr != *patch* ]]
}

@test "a patch without a signature is checked by the list beside it" {
	rm "$INCR/patch-6.12.94-95.sign"
	korg 6.12.95
	by_patches 6.12.95
	grep -qxF "checked-by: sha256sums.asc, by $(site_fpr lister) (lister@kit.invalid); there is no patch-6.12.94-95.sign" "$TREES/.6.12.95.origin"
}

@test "where patches cannot be checked the whole tarball is taken" {
	rm "$INCR/patch-6.12.94-95.sign" "$INCR/sha256sums.asc"
	korg 6.12.95
	whole 6.12.95
	[[ $stderr == *"patch-6.12.94-95.xz cannot be checked: "*"taking the whole tarball"* ]]
}

@test "a patch that is not what was signed or listed is an error, and leaves nothing" {
	site_sign stranger "$INCR/patch-6.12.94-95.xz"
	korg 6.12.95
	refused 7 "patch-6.12.94-95.xz is signed by an unknown key, $(site_fpr stranger)"
	site_sign lister "$INCR/patch-6.12.94-95.xz"
	korg 6.12.95
	refused 7 "patch-6.12.94-95.xz is signed by $(site_fpr lister) (lister@kit.invalid), whose key counts for checksums only"
	cp "$INCR/patch-6.12.95-96.sign" "$INCR/patch-6.12.94-95.sign"
	korg 6.12.95
	refused 7 "patch-6.12.94-95.xz has a wrong signature"
	cp "$INCR/patch-6.12.95-96.xz" "$INCR/patch-6.12.94-95.xz"
	korg 6.12.95
	refused 7 "patch-6.12.94-95.xz is not the file that sha256sums.asc lists"
	site_list "$INCR" stranger
	korg 6.12.95
	refused 7 "incr/sha256sums.asc is signed by an unknown key"
	trees_are .6.12.94.origin 6.12.94
}

@test "another patch under this name, with its own signature, makes no tree" {
	cp "$INCR/patch-6.12.95-96.xz" "$INCR/patch-6.12.94-95.xz"
	cp "$INCR/patch-6.12.95-96.sign" "$INCR/patch-6.12.94-95.sign"
	rm "$INCR/sha256sums.asc"
	korg 6.12.95
	whole 6.12.95
	[[ $stderr == *"the patches do not fit upon $TREES/6.12.94"*"taking the whole tarball"* ]]
	# One that fits, but makes another version.
	rm -r "$TREES/6.12.95" "$TREES/.6.12.95.origin"
	site_patch "$SITE" 6.12 94 96
	mv "$INCR/patch-6.12.94-96.xz" "$INCR/patch-6.12.94-95.xz"
	mv "$INCR/patch-6.12.94-96.sign" "$INCR/patch-6.12.94-95.sign"
	korg 6.12.95
	whole 6.12.95
	[[ $stderr == *"(they make 6.12.96); taking the whole tarball"* ]]
}

@test "a repository around the cache, and the user's git settings, change nothing" {
	git init -q "$KIT_CACHE"
	printf '[apply]\n\twhitespace = fix\n[core]\n\tautocrlf = true\n' >"$HOME/.gitconfig"
	mkdir "$BATS_TEST_TMPDIR/t"
	site_tree 6.12.94 "$BATS_TEST_TMPDIR/t/a"
	site_tree 6.12.95 "$BATS_TEST_TMPDIR/t/b"
	printf 'int blank;   \n' >>"$BATS_TEST_TMPDIR/t/b/kernel/sched/fair.c"
	(cd "$BATS_TEST_TMPDIR/t" && diff -urN a b || :) | xz >"$INCR/patch-6.12.94-95.xz"
	site_sign gregor "$INCR/patch-6.12.94-95.xz"
	site_list "$INCR"
	korg 6.12.95
	ok_tree 6.12.95
	grep -q '^patch: ' "$TREES/.6.12.95.origin"
	diff -r "$BATS_TEST_TMPDIR/t/b" "$TREES/6.12.95"
}
