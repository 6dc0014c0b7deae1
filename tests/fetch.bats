#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# fetch-tree.sh: what comes into the cache, and what never does.

load helpers
load debian-repo
load fetch-helpers

setup_file() {
	for tool in apt-get dpkg-deb dpkg-scanpackages gpg; do
		need_tool "$tool" "apt dpkg dpkg-dev gnupg"
	done
	repo_make "$BATS_FILE_TMPDIR"
}

teardown_file() { GNUPGHOME=$BATS_FILE_TMPDIR/gnupg gpgconf --kill all; }

setup() {
	use_repo "$BATS_FILE_TMPDIR"
	TREES=$KIT_CACHE/trees
	# Nobody listens there: nothing in this file goes to kernel.org.
	export KIT_KERNEL_MIRROR=http://127.0.0.1:9 no_proxy='*'
}

teardown() { [ -z "${OPEN:-}" ] || rm -rf "$OPEN"; }

# use_repo DIR: take Debian to be the archive there.
use_repo() {
	export KIT_DEBIAN_MIRROR=file://$1 KIT_DEBIAN_SECURITY_MIRROR=file://$1
	export KIT_DEBIAN_KEYRING=$BATS_FILE_TMPDIR/keyring.gpg
	GNUPGHOME=$BATS_FILE_TMPDIR/gnupg
	export GNUPGHOME
}

# slow_apt SECONDS: an apt-get whose downloads take that long, and are counted.
slow_apt() {
	stub "$BATS_TEST_TMPDIR/bin" apt-get \
		"for a; do if [ \"\$a\" = download ]; then echo >>$BATS_TEST_TMPDIR/downloads; sleep $1; fi; done" \
		"exec $(type -P apt-get) \"\$@\""
	PATH=$BATS_TEST_TMPDIR/bin:$PATH
}

@test "a point release comes from Debian, in its newest revision, with its origin" {
	fetch 6.12.95
	[ "$status" -eq 0 ]
	[ "$output" = "$TREES/6.12.95" ]
	[ "$(cat "$output/revision")" = 6.12.95-2 ]
	trees_are .6.12.95.origin 6.12.95
	grep -qx 'package: linux-source-6.12 6.12.95-2' "$TREES/.6.12.95.origin"
	grep -qx 'suite: bookworm-security' "$TREES/.6.12.95.origin"
	grep -qE '^id: sha256:[0-9a-f]{64}$' "$TREES/.6.12.95.origin"
}

@test "without a point release the newest that Debian has is taken, and named" {
	fetch 6.12
	[ "$output" = "$TREES/6.12.118" ]
	[[ $stderr == *"taking 6.12.118, the newest 6.12"* ]]
}

@test "without a point release the newest in the cache comes before Debian" {
	make_tree 6.12.9 "$TREES/6.12.9"
	make_tree 6.12.80 "$TREES/6.12.80"
	KIT_DEBIAN_MIRROR=file:///nowhere fetch 6.12
	[ "$output" = "$TREES/6.12.80" ]
	[[ $stderr == *"taking 6.12.80, the newest 6.12 in $TREES"* ]]
}

@test "a tree that the user put there is taken as it is" {
	make_tree 6.6.87 "$BATS_TEST_TMPDIR/mine"
	mkdir -p "$TREES"
	ln -s "$BATS_TEST_TMPDIR/mine" "$TREES/6.6.87"
	before=$(tree_sum "$BATS_TEST_TMPDIR/mine")
	fetch 6.6.87
	[ "$output" = "$TREES/6.6.87" ]
	[ "$(tree_sum "$BATS_TEST_TMPDIR/mine")" = "$before" ]
}

@test "a tree of another version under that name is refused" {
	make_tree 6.6.86 "$TREES/6.6.87"
	fetch 6.6.87
	refused 7 "6.6.87 is a tree of 6.6.86, not 6.6.87"
	mkdir "$TREES/6.6.88"
	fetch 6.6.88
	refused 7 "6.6.88 is no kernel tree"
}

@test "a second run takes what the first one brought" {
	fetch 6.12.95
	slow_apt 0
	fetch 6.12.95
	[ "$output" = "$TREES/6.12.95" ]
	[ ! -e "$BATS_TEST_TMPDIR/downloads" ]
}

@test "a kernel that Debian does not have is named in one line, with what to do" {
	fetch --from debian 6.6
	refused 6 "Debian has no linux-source of 6.6; name kernel.org, a tarball or git URL with --from"
	nothing_left
	fetch --from debian 6.12.96
	refused 6 "Debian has no linux-source of 6.12.96 (it has 6.12.9 6.12.95 6.12.118)"
	nothing_left
}

@test "a suite that cannot be read is named, and the others are used" {
	cp -r "$BATS_FILE_TMPDIR/dists" "$BATS_FILE_TMPDIR/pool" "$BATS_TEST_TMPDIR"
	use_repo "$BATS_TEST_TMPDIR"
	rm -r "$BATS_TEST_TMPDIR/dists/trixie-security"
	fetch 6.12.9
	[ "$output" = "$TREES/6.12.9" ]
	[[ $stderr == *"could not read trixie-security"* ]]
	fetch --from debian 6.12.118
	refused 6 "6.12.118 is not in the suites of Debian that could be read"
}

@test "an archive that somebody else signed is refused" {
	mkdir "$BATS_TEST_TMPDIR/other"
	GNUPGHOME='' repo_key "$BATS_TEST_TMPDIR/other"
	gpgconf --kill all
	KIT_DEBIAN_KEYRING=$BATS_TEST_TMPDIR/other/keyring.gpg fetch --from debian 6.12.95
	refused 6 "not in the suites of Debian that could be read"
	nothing_left
}

@test "a package that broke on the way is an error and leaves nothing" {
	cp -r "$BATS_FILE_TMPDIR/dists" "$BATS_FILE_TMPDIR/pool" "$BATS_TEST_TMPDIR"
	use_repo "$BATS_TEST_TMPDIR"
	truncate -s 1000 "$BATS_TEST_TMPDIR"/pool/trixie-security/*.deb
	fetch 6.12.118
	refused 6 "cannot fetch linux-source-6.12 6.12.118-1"
	nothing_left
}

@test "a package without a whole tarball in it is an error and leaves nothing" {
	cp -r "$BATS_FILE_TMPDIR/dists" "$BATS_FILE_TMPDIR/pool" "$BATS_TEST_TMPDIR"
	use_repo "$BATS_TEST_TMPDIR"
	truncate -s 1000 "$BATS_TEST_TMPDIR"/pool/trixie-security/*.deb
	repo_index "$BATS_TEST_TMPDIR" trixie
	deb=$BATS_TEST_TMPDIR/pool/trixie/linux-source-6.12_6.12.118-9_all.deb
	mkdir -p "$BATS_TEST_TMPDIR/x/usr/src"
	dpkg-deb -R "$BATS_FILE_TMPDIR"/pool/trixie-security/*.deb "$BATS_TEST_TMPDIR/x"
	sed -i 's/^Version: .*/Version: 6.12.118-9/' "$BATS_TEST_TMPDIR/x/DEBIAN/control"
	truncate -s -100 "$BATS_TEST_TMPDIR"/x/usr/src/*.tar.xz
	dpkg-deb -Znone -b "$BATS_TEST_TMPDIR/x" "$deb"
	repo_index "$BATS_TEST_TMPDIR" trixie
	fetch 6.12.118
	refused 6 "cannot unpack src.tar"
	nothing_left
}

@test "a package with another version inside is refused and leaves nothing" {
	fetch 6.1.170
	refused 7 "what came for 6.1.170 is a tree of 6.1.999"
	nothing_left
}

@test "two runs at once share one download" {
	slow_apt 3
	"$KIT/scripts/fetch-tree.sh" 6.12.95 >"$BATS_TEST_TMPDIR/a" 2>"$BATS_TEST_TMPDIR/a.err" &
	"$KIT/scripts/fetch-tree.sh" 6.12.95 >"$BATS_TEST_TMPDIR/b" 2>"$BATS_TEST_TMPDIR/b.err" &
	wait -n
	wait -n
	cat "$BATS_TEST_TMPDIR"/?.err
	[ "$(cat "$BATS_TEST_TMPDIR/a")" = "$TREES/6.12.95" ]
	[ "$(cat "$BATS_TEST_TMPDIR/b")" = "$TREES/6.12.95" ]
	[ "$(wc -l <"$BATS_TEST_TMPDIR/downloads")" -eq 1 ]
	trees_are .6.12.95.origin 6.12.95
}

@test "Ctrl-C in the middle ends the download and leaves nothing" {
	slow_apt 314159
	for signal in INT:130 TERM:143; do
		rm -f "$BATS_TEST_TMPDIR/downloads"
		env --default-signal=INT "$KIT/scripts/fetch-tree.sh" 6.12.95 2>"$BATS_TEST_TMPDIR/err" &
		wait_for "$BATS_TEST_TMPDIR/downloads"
		kill -"${signal%:*}" $!
		code=0
		wait $! || code=$?
		[ "$code" -eq "${signal#*:}" ]
		nothing_left
		[[ $(cat "$BATS_TEST_TMPDIR/err") == *"interrupted (SIG${signal%:*})"* ]]
		run ! pgrep -f 'sleep 314159'
	done
}

@test "what a killed run left is cleaned up by the next, and a live run's is not" {
	mkdir -p "$TREES/.tmp.6.12.7/unpack" "$TREES/.tmp.6.12.8"
	touch "$TREES/.6.12.7.lock"
	exec {fd}>"$TREES/.6.12.8.lock"
	flock "$fd"
	make_tree 6.6.87 "$TREES/6.6.87"
	fetch 6.6.87
	[ "$status" -eq 0 ]
	trees_are .6.12.8.lock .tmp.6.12.8 6.6.87
}

@test "a run that is killed outright does not keep the next from fetching" {
	slow_apt 271828
	setsid "$KIT/scripts/fetch-tree.sh" 6.12.95 2>/dev/null &
	wait_for "$BATS_TEST_TMPDIR/downloads"
	pkill -KILL -s $!
	rm "$BATS_TEST_TMPDIR/bin/apt-get"
	hash -r
	fetch 6.12.95
	[ "$output" = "$TREES/6.12.95" ]
	trees_are .6.12.95.origin 6.12.95
}

@test "a full disk is an error of its own and leaves nothing" {
	unshare -Urm true || skip "no user namespaces here to make a small disk in"
	make_tree 6.12.95 "$BATS_TEST_TMPDIR/linux"
	head -c 3M /dev/urandom >"$BATS_TEST_TMPDIR/linux/big"
	tar -cf "$BATS_TEST_TMPDIR/t.tar" -C "$BATS_TEST_TMPDIR" linux
	mkdir -p "$TREES"
	# shellcheck disable=SC2016 # for the inner shell
	run unshare -Urm sh -c 'mount -t tmpfs -o size=1M none "$1" || exit 77
		"$2" --from "$3" 6.12.95; code=$?; ls -A "$1"; exit $code' sh "$TREES" "$KIT/scripts/fetch-tree.sh" "$BATS_TEST_TMPDIR/t.tar"
	[ "$status" -ne 77 ] || skip "no tmpfs can be mounted in a user namespace here"
	[ "$status" -eq 6 ]
	printf '%s\n' "$output"
	[ "${#lines[@]}" -eq 1 ]
	[[ $output == *"No space left on device"*"free space"* ]]
}

@test "a tarball is taken, in each compression" {
	make_tree 6.18.35 "$BATS_TEST_TMPDIR/linux-6.18.35"
	for z in xz gz zst; do
		tar -caf "$BATS_TEST_TMPDIR/t.tar.$z" -C "$BATS_TEST_TMPDIR" linux-6.18.35
		fetch --from "$BATS_TEST_TMPDIR/t.tar.$z" 6.18
		[ "$output" = "$TREES/6.18.35" ]
		[ "$(tree_sum "$output")" = "$(tree_sum "$BATS_TEST_TMPDIR/linux-6.18.35")" ]
		grep -qx "origin: $BATS_TEST_TMPDIR/t.tar.$z" "$TREES/.6.18.35.origin"
		rm -r "$TREES"
	done
}

@test "the same tarball again is no error, another one is" {
	make_tree 6.18.35 "$BATS_TEST_TMPDIR/linux"
	tar -cf "$BATS_TEST_TMPDIR/t.tar" -C "$BATS_TEST_TMPDIR" linux
	fetch --from "$BATS_TEST_TMPDIR/t.tar" 6.18.35
	fetch --from "$BATS_TEST_TMPDIR/t.tar" 6.18.35
	[ "$output" = "$TREES/6.18.35" ]
	echo more >>"$BATS_TEST_TMPDIR/linux/kernel/sched/fair.c"
	before=$(tree_sum "$TREES")
	tar -cf "$BATS_TEST_TMPDIR/t.tar" -C "$BATS_TEST_TMPDIR" linux
	fetch --from "$BATS_TEST_TMPDIR/t.tar" 6.18.35
	refused 7 "6.18.35 is there already"
	[ "$(tree_sum "$TREES")" = "$before" ]
}

@test "a tarball of another version is refused and leaves nothing" {
	make_tree 6.18.35 "$BATS_TEST_TMPDIR/linux"
	tar -cf "$BATS_TEST_TMPDIR/t.tar" -C "$BATS_TEST_TMPDIR" linux
	fetch --from "$BATS_TEST_TMPDIR/t.tar" 6.18.36
	refused 7 "what came for 6.18.36 is a tree of 6.18.35"
	fetch --from "$BATS_TEST_TMPDIR/t.tar" 6.1
	refused 7 "what came for 6.1 is a tree of 6.18.35"
	nothing_left
}

@test "a tarball that reaches out of its folder is refused and leaves nothing" {
	make_tree 6.12.95 "$BATS_TEST_TMPDIR/a/linux"
	echo bad >"$BATS_TEST_TMPDIR/escaped"
	cd "$BATS_TEST_TMPDIR/a"
	tar -cPf ../dotdot.tar linux ../escaped
	tar -cPf ../absolute.tar linux "$BATS_TEST_TMPDIR/escaped"
	ln -s /etc linux/outside
	tar -cf ../link.tar linux
	ln -sfn ../../../escaped linux/outside
	tar -cf ../rellink.tar linux
	rm linux/outside
	mkfifo linux/fifo
	tar -cf ../fifo.tar linux
	rm ../escaped
	for t in dotdot:6 absolute:7 link:7 rellink:7 fifo:7; do
		fetch --from "../${t%:*}.tar" 6.12.95
		refused "${t#*:}" "${t%:*}.tar"
		nothing_left
		[ ! -e ../escaped ]
	done
}

@test "links inside a tree are kept" {
	make_tree 6.12.95 "$BATS_TEST_TMPDIR/linux"
	mkdir "$BATS_TEST_TMPDIR/linux/tools"
	ln -s ../kernel/sched "$BATS_TEST_TMPDIR/linux/tools/sched"
	ln -s ../no/such/file "$BATS_TEST_TMPDIR/linux/tools/dangling"
	tar -cf "$BATS_TEST_TMPDIR/t.tar" -C "$BATS_TEST_TMPDIR" linux
	fetch --from "$BATS_TEST_TMPDIR/t.tar" 6.12.95
	[ "$(readlink "$output/tools/sched")" = ../kernel/sched ]
}

@test "a truncated tarball, and one that is none, leave nothing" {
	make_tree 6.12.95 "$BATS_TEST_TMPDIR/linux"
	head -c 1M /dev/urandom >"$BATS_TEST_TMPDIR/linux/big"
	tar -cJf "$BATS_TEST_TMPDIR/t.tar.xz" -C "$BATS_TEST_TMPDIR" linux
	truncate -s 500K "$BATS_TEST_TMPDIR/t.tar.xz"
	fetch --from "$BATS_TEST_TMPDIR/t.tar.xz" 6.12.95
	refused 6 "cannot unpack"
	echo text >"$BATS_TEST_TMPDIR/t.tar"
	fetch --from "$BATS_TEST_TMPDIR/t.tar" 6.12.95
	refused 6 "cannot unpack"
	tar -cf "$BATS_TEST_TMPDIR/t.tar" -C "$BATS_TEST_TMPDIR/linux" .
	fetch --from "$BATS_TEST_TMPDIR/t.tar" 6.12.95
	refused 7 "exactly one folder"
	nothing_left
}

# git_tree DIR: a repository with the tag v6.12.95 and a branch of 6.12.96.
git_tree() {
	make_tree 6.12.95 "$1"
	git -C "$1" init -q -b main
	git -C "$1" add .
	git -C "$1" commit -qm 'Linux 6.12.95'
	git -C "$1" tag v6.12.95
	make_tree 6.12.96 "$1"
	git -C "$1" commit -qam 'Linux 6.12.96'
}

@test "a tree comes from a local repository, and from a git URL" {
	git_tree "$BATS_TEST_TMPDIR/repo"
	for url in "$BATS_TEST_TMPDIR/repo" "file://$BATS_TEST_TMPDIR/repo"; do
		fetch --from "$url" 6.12.95
		[ "$output" = "$TREES/6.12.95" ]
		fetch --from "$url" 6.12
		[ "$output" = "$TREES/6.12.96" ]
		fetch --from "$url#v6.12.95" 6.12
		[ "$output" = "$TREES/6.12.95" ]
		grep -qx "id: $(git -C "$BATS_TEST_TMPDIR/repo" rev-parse v6.12.95)" "$TREES/.6.12.95.origin"
		trees_are .6.12.95.origin .6.12.96.origin 6.12.95 6.12.96
		rm -r "$TREES"
	done
}

@test "a ref that is not there, no repository, and no source at all are errors" {
	git_tree "$BATS_TEST_TMPDIR/repo"
	fetch --from "$BATS_TEST_TMPDIR/repo#nothing" 6.12
	refused 6 "is no git repository with 'nothing'"
	fetch --from "file://$BATS_TEST_TMPDIR/repo#nothing" 6.12
	refused 6 "cannot fetch nothing from"
	fetch --from "file://$BATS_TEST_TMPDIR/none" 6.12
	refused 6 "cannot fetch HEAD from"
	make_tree 6.12.95 "$BATS_TEST_TMPDIR/plain"
	fetch --from "$BATS_TEST_TMPDIR/plain" 6.12
	refused 6 "is no git repository"
	fetch --from none 6.12
	refused 2 "no such file or repository"
	nothing_left
}

@test "--list names what is in the cache and what Debian has, and fetches nothing" {
	make_tree 6.12.7 "$TREES/6.12.7"
	fetch --list 6.12
	[ "$status" -eq 0 ]
	[ "$output" = "6.12.7 cache $TREES/6.12.7
6.12.9 debian 6.12.9-1 trixie
6.12.95 debian 6.12.95-1~bpo12+1 bookworm-backports
6.12.95 debian 6.12.95-2 bookworm-security
6.12.118 debian 6.12.118-1 trixie-security" ]
	[[ $stderr == *"cannot read http://127.0.0.1:9/v6.x/sha256sums.asc"* ]]
	trees_are 6.12.7
}

@test "wrong arguments are usage errors and make no cache" {
	for args in '' '6' '6.12.x' '6.12.95 6.1' '--from' '--wrong 6.12' '--list 6.12.95' '--list --from debian 6.12'; do
		# shellcheck disable=SC2086 # several arguments
		fetch $args
		[ "$status" -eq 2 ]
		[ -n "$stderr" ]
	done
	[ ! -e "$KIT_CACHE" ]
	fetch --help
	[ "$status" -eq 0 ]
	[[ $output == *"fetch-tree.sh [--from SOURCE]"* ]]
}

@test "--from debian on a host without apt is told to name another source" {
	links "$BATS_TEST_TMPDIR/bin" bash readlink dirname mkdir rm sed sort awk grep find
	run --separate-stderr env PATH="$BATS_TEST_TMPDIR/bin" "$KIT/scripts/fetch-tree.sh" --from debian 6.12
	refused 5 "no apt on this host"
}

@test "root is not needed" {
	[ "$(id -u)" -eq 0 ] || skip "not root anyway: every other test shows it"
	# Nobody may enter the folders that bats makes.
	OPEN=$(mktemp -d /tmp/kit-open.XXXXXX)
	cp -r "$KIT/scripts" "$KIT/configs" "$BATS_FILE_TMPDIR/dists" "$BATS_FILE_TMPDIR/pool" "$KIT_DEBIAN_KEYRING" "$OPEN"
	chown -R nobody "$OPEN"
	chmod -R a+rX "$OPEN"
	run setpriv --reuid=nobody --clear-groups env HOME="$OPEN" KIT_CACHE="$OPEN/cache" TMPDIR="$OPEN" \
		KIT_DEBIAN_MIRROR="file://$OPEN" KIT_DEBIAN_SECURITY_MIRROR="file://$OPEN" \
		KIT_DEBIAN_KEYRING="$OPEN/keyring.gpg" "$OPEN/scripts/fetch-tree.sh" 6.12.95
	printf '%s\n' "$output"
	[ "$status" -eq 0 ]
	TREES=$OPEN/cache/trees trees_are .6.12.95.origin 6.12.95
}

@test "the host's own apt sources and lists stay as they are" {
	before=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null | sha256sum; ls -l /var/lib/apt/lists)
	fetch 6.12.95
	[ "$status" -eq 0 ]
	[ "$(cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null | sha256sum; ls -l /var/lib/apt/lists)" = "$before" ]
}
