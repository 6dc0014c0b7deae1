#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# fetch-tree.sh and kernel.org: what is taken, how it is checked, what is refused.

load helpers
load kernel-org
load fetch-helpers

setup_file() {
	for tool in busybox curl gpg xz git; do
		need_tool "$tool" "busybox curl gnupg xz-utils git"
	done
	site_make "$BATS_FILE_TMPDIR"
}

teardown_file() { GNUPGHOME=$BATS_FILE_TMPDIR/gnupg gpgconf --kill all; }

setup() {
	export GNUPGHOME=$BATS_FILE_TMPDIR/gnupg
	SITE=$BATS_TEST_TMPDIR/site
	cp -r "$BATS_FILE_TMPDIR/site" "$SITE"
	cp -r "$BATS_FILE_TMPDIR/keys" "$SITE"
	web_start "$SITE"
	pin <"$BATS_FILE_TMPDIR/pinned.in"
	export KIT_KERNEL_MIRROR=$WEB_URL KIT_KERNEL_KEYS=$BATS_TEST_TMPDIR/pinned no_proxy='*'
	unset KIT_KERNEL_KEYRING
	V6=$SITE/v6.x
	TREES=$KIT_CACHE/trees
}

teardown() { web_stop; }

# pin: the pinned keys, from stdin, with their URLs on the test's server.
pin() { sed "s,URL,$WEB_URL," >"$BATS_TEST_TMPDIR/pinned"; }

# origin TEXT: the origin of 6.12.95 has that line.
origin() {
	cat "$TREES/.6.12.95.origin"
	grep -qx "$1" "$TREES/.6.12.95.origin"
}

korg() { fetch --from kernel.org "$@"; }

@test "a release comes from kernel.org, checked by its signature" {
	korg 6.12.95
	ok_tree 6.12.95
	grep -qx 'int point = 95;' "$output/kernel/sched/fair.c"
	trees_are .6.12.95.origin 6.12.95
	origin 'origin: kernel.org'
	origin "id: sha256:$(sha256sum <"$V6/linux-6.12.95.tar.xz" | cut -d' ' -f1)"
	origin "checked-by: linux-6.12.95.tar.sign, by $(site_fpr gregor) (gregor@kit.invalid)"
}
