#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# fetch-tree.sh and kernel.org: what is taken, how it is checked, what is refused.

load helpers
load kernel-org
load fetch-helpers

setup_file() { site_setup_file; }
teardown_file() { GNUPGHOME=$BATS_FILE_TMPDIR/gnupg gpgconf --kill all; }
setup() { site_setup; }
teardown() {
	web_stop
	[ -z "${OWN:-}" ] || { GNUPGHOME=$OWN gpgconf --kill all; rm -rf "$OWN"; }
}

# origin TEXT: the origin of 6.12.95 has that line.
origin() {
	cat "$TREES/.6.12.95.origin"
	grep -qxF "$1" "$TREES/.6.12.95.origin"
}

korg() { fetch --from kernel.org "$@"; }

# relist: the list again, after files were changed.
relist() { site_list "$V6"; }

gregor() { echo "$(site_fpr gregor) (gregor@kit.invalid)"; }
lister() { echo "$(site_fpr lister) (lister@kit.invalid)"; }

@test "a release comes from kernel.org, checked by its signature" {
	korg 6.12.95
	ok_tree 6.12.95
	grep -qx 'int point = 95;' "$output/kernel/sched/fair.c"
	trees_are .6.12.95.origin 6.12.95
	origin 'origin: kernel.org'
	origin "id: sha256:$(sha256sum <"$V6/linux-6.12.95.tar.xz" | cut -d' ' -f1)"
	origin "checked-by: linux-6.12.95.tar.sign, by $(gregor)"
}

@test "the newest release of a longterm kernel is known from the signed list" {
	korg 6.12
	ok_tree 6.12.96
	[[ $stderr == *"taking 6.12.96, the newest 6.12 that kernel.org has"* ]]
}

@test "a release without a point has its own name on the server" {
	korg 6.18
	ok_tree 6.18.0
	grep -q 'linux-6.18.tar.sign' "$TREES/.6.18.0.origin"
}

@test "what Debian does not have comes from kernel.org without being asked to" {
	KIT_DEBIAN_MIRROR=file:///nowhere fetch 6.12.95
	ok_tree 6.12.95
	[[ $stderr == *"Debian has no linux-source of 6.12.95; asking kernel.org"* ]]
	origin 'origin: kernel.org'
}

@test "a host without apt goes to kernel.org" {
	links "$BATS_TEST_TMPDIR/noapt" bash readlink dirname basename realpath mkdir rm rmdir mv sed sort awk grep find \
		curl gpg xz tar chmod flock stat df tail head tr cut paste sha256sum date sleep ln cat id git env wc
	run --separate-stderr env PATH="$BATS_TEST_TMPDIR/noapt" "$KIT/scripts/fetch-tree.sh" 6.12
	ok_tree 6.12.96
	[[ $stderr == *"no apt on this host, so no Debian packages; asking kernel.org"* ]]
}

@test "without curl or gpg the program is named, with its package" {
	for tool in curl gpg xz; do
		rm -rf "$BATS_TEST_TMPDIR/some"
		links "$BATS_TEST_TMPDIR/some" bash readlink dirname mkdir rm sed sort awk grep find flock stat chmod curl gpg xz
		rm "$BATS_TEST_TMPDIR/some/$tool"
		run --separate-stderr env PATH="$BATS_TEST_TMPDIR/some" "$KIT/scripts/fetch-tree.sh" --from kernel.org 6.12.95
		refused 5 "$tool is needed for kernel.org; on Debian: apt-get install curl gnupg xz-utils"
	done
}

@test "--list names the newest of kernel.org, and fetches nothing" {
	KIT_DEBIAN_MIRROR=file:///nowhere fetch --list 6.12
	printf '%s\n' "$stderr"
	[ "$status" -eq 0 ]
	[ "$output" = '6.12.96 kernel.org linux-6.12.96.tar.xz' ]
	nothing_left
	[ "$(web_asked tar.xz)" -eq 0 ]
}

@test "--list goes on without a kernel.org that cannot be reached or believed" {
	make_tree 6.12.7 "$TREES/6.12.7"
	site_list "$V6" stranger
	for url in http://127.0.0.1:9 "$WEB_URL"; do
		KIT_DEBIAN_MIRROR=file:///nowhere KIT_KERNEL_MIRROR=$url fetch --list 6.12
		printf '%s\n' "$stderr"
		[ "$status" -eq 0 ]
		[ "$output" = "6.12.7 cache $TREES/6.12.7" ]
		[[ ${stderr##*$'\n'} == "fetch-tree.sh: "*"$url/v6.x/sha256sums.asc"* ]]
	done
	[[ $stderr == *"signed by an unknown key"* ]]
}

@test "a release candidate is refused in one line" {
	for from in '' '--from kernel.org'; do
		# shellcheck disable=SC2086 # two arguments
		fetch $from 6.12.97-rc1
		refused 6 "kernel.org has no tarball of 6.12.97-rc1, a release candidate; name linux-stable-rc.git"
		[ "${#stderr_lines[@]}" -eq 1 ]
	done
	[ "$(web_asked v6)" -eq 0 ]
}

@test "a release that kernel.org does not have is named, with what to do" {
	korg 6.12.97
	refused 6 "kernel.org has no 6.12.97"
	nothing_left
	korg 6.9
	refused 6 "kernel.org has no 6.9; name a tarball or git URL with --from"
	nothing_left
}

@test "offline is one line with what to do, and leaves nothing" {
	for asked in 6.12 6.12.95; do
		KIT_KERNEL_MIRROR=http://127.0.0.1:9 korg "$asked"
		refused 6 "cannot read http://127.0.0.1:9/v6.x/sha256sums.asc: "
		[[ $stderr == *"name a tarball or git URL with --from, or put the tree into $TREES/6.12."* ]]
		[ "${#stderr_lines[@]}" -eq 1 ]
	done
	nothing_left
}

@test "a release without a signature is checked by the list, and the origin says so" {
	rm "$V6/linux-6.12.95.tar.sign"
	korg 6.12.95
	ok_tree 6.12.95
	origin "checked-by: sha256sums.asc, by $(lister); there is no linux-6.12.95.tar.sign"
	[[ $stderr == *"linux-6.12.95.tar.xz was checked by sha256sums.asc"* ]]
}

@test "without a key of those who release, the list does, and the origin says so" {
	rm "$SITE/keys/gregor"
	korg 6.12.95
	ok_tree 6.12.95
	origin "checked-by: sha256sums.asc, by $(lister); there is linux-6.12.95.tar.sign, but its key $(gregor) cannot be had"
}

@test "without the key of the list, the signature does" {
	rm "$SITE/keys/lister"
	korg 6.12.95
	ok_tree 6.12.95
	origin "checked-by: linux-6.12.95.tar.sign, by $(gregor)"
	rm -r "$TREES" "$KIT_CACHE/keys"
	korg 6.12
	refused 6 "cannot check $WEB_URL/v6.x/sha256sums.asc: its key $(lister) cannot be had"
	nothing_left
}

@test "what can be checked in neither way is refused and leaves nothing" {
	rm "$V6/linux-6.12.95.tar.sign" "$V6/sha256sums.asc"
	korg 6.12.95
	refused 6 "linux-6.12.95.tar.xz cannot be checked: there is no linux-6.12.95.tar.sign, and $WEB_URL/v6.x has no sha256sums.asc"
	nothing_left
	rm "$V6/linux-6.12.96.tar.xz"
	relist
	site_release "$SITE" 6.12.96
	rm "$V6/linux-6.12.96.tar.sign"
	korg 6.12.96
	refused 6 "linux-6.12.96.tar.xz cannot be checked: there is no linux-6.12.96.tar.sign, and sha256sums.asc does not list it"
	nothing_left
}

@test "a wrong signature is an error, whatever the list says" {
	cp "$V6/linux-6.12.96.tar.sign" "$V6/linux-6.12.95.tar.sign"
	korg 6.12.95
	refused 7 "linux-6.12.95.tar.xz has a wrong signature: it is not what $(site_fpr gregor) signed"
	nothing_left
	echo text >"$V6/linux-6.12.95.tar.sign"
	korg 6.12.95
	refused 7 "linux-6.12.95.tar.xz has no signature that can be read"
	nothing_left
}

@test "a signature by an unknown key is an error, whatever the list says" {
	site_release "$SITE" 6.12.95 stranger
	relist
	korg 6.12.95
	refused 7 "linux-6.12.95.tar.xz is signed by an unknown key, $(site_fpr stranger)"
	nothing_left
	# Nor does it help to have the key.
	gpg --batch --export >"$BATS_TEST_TMPDIR/all"
	KIT_KERNEL_KEYRING=$BATS_TEST_TMPDIR/all korg 6.12.95
	refused 7 "linux-6.12.95.tar.xz is signed by an unknown key, $(site_fpr stranger)"
	nothing_left
}

@test "a key counts only for what it signs" {
	site_release "$SITE" 6.12.95 lister
	relist
	korg 6.12.95
	refused 7 "linux-6.12.95.tar.xz is signed by $(lister), whose key counts for checksums only"
	nothing_left
	site_list "$V6" gregor
	for version in 6.12 6.12.94; do
		korg "$version"
		refused 7 "sha256sums.asc is signed by $(gregor), whose key counts for releases only"
		nothing_left
	done
}

@test "a list with something added outside its signature, or changed inside, is refused" {
	cp "$V6/sha256sums.asc" "$BATS_TEST_TMPDIR/good"
	sed -i 's/6\.12\.96/6.12.99/' "$V6/sha256sums.asc"
	korg 6.12
	refused 7 "sha256sums.asc has a wrong signature"
	{
		echo "$(printf %064d 0)  linux-6.12.99.tar.xz"
		cat "$BATS_TEST_TMPDIR/good"
		echo "$(printf %064d 0)  linux-6.12.98.tar.xz"
	} >"$V6/sha256sums.asc"
	KIT_DEBIAN_MIRROR=file:///nowhere fetch --list 6.12
	[[ $output != *6.12.9[89]* ]]
}

@test "two signatures, or one of a key that was revoked, are refused" {
	site_sign sasha "$V6/linux-6.12.95.tar.xz" "$BATS_TEST_TMPDIR/second"
	gpg --batch --dearmor <"$V6/linux-6.12.95.tar.sign" >"$BATS_TEST_TMPDIR/both"
	gpg --batch --dearmor <"$BATS_TEST_TMPDIR/second" >>"$BATS_TEST_TMPDIR/both"
	cp "$BATS_TEST_TMPDIR/both" "$V6/linux-6.12.95.tar.sign"
	korg 6.12.95
	refused 7 "linux-6.12.95.tar.xz has more than one signature"
	own_keys
	site_key old
	site_repin old
	site_sign old "$V6/linux-6.12.95.tar.xz"
	sed 's/^:---/---/' "$GNUPGHOME/openpgp-revocs.d/$(site_fpr old).rev" | gpg --batch --quiet --import 2>/dev/null
	gpg --batch --export old@kit.invalid >"$SITE/keys/old"
	rm -rf "$KIT_CACHE/keys"
	korg 6.12.95
	refused 7 "linux-6.12.95.tar.xz is signed by a revoked key, $(site_fpr old)"
	nothing_left
}

# own_keys: a copy of gpg's home, to change in this test alone.
own_keys() {
	OWN=$(mktemp -d /tmp/kit-gpg.XXXXXX)
	cp -r "$BATS_FILE_TMPDIR/gnupg/." "$OWN"
	rm -f "$OWN"/S.*
	export GNUPGHOME=$OWN
}

# site_repin NAME: its key is pinned for releases, too.
site_repin() {
	gpg --batch --export "$1@kit.invalid" >"$SITE/keys/$1"
	echo "$(site_fpr "$1") releases $1@kit.invalid $WEB_URL/keys/$1" >>"$KIT_KERNEL_KEYS"
}

@test "a key that has expired counts for what it signed before, not after" {
	own_keys
	gpg --batch --quiet --passphrase '' --faked-system-time 20200101T000000 \
		--quick-generate-key old@kit.invalid ed25519 sign never 2>/dev/null
	xz -dc "$V6/linux-6.12.95.tar.xz" >"$BATS_TEST_TMPDIR/tar"
	for when in 20200601 20210601; do
		gpg --batch --quiet --faked-system-time "${when}T000000" -u old@kit.invalid --armor \
			--detach-sign -o "$BATS_TEST_TMPDIR/$when" "$BATS_TEST_TMPDIR/tar"
	done
	gpg --batch --quiet --faked-system-time 20200102T000000 --quick-set-expire "$(site_fpr old)" 1y
	site_repin old
	cp "$BATS_TEST_TMPDIR/20210601" "$V6/linux-6.12.95.tar.sign"
	korg 6.12.95
	refused 7 "linux-6.12.95.tar.xz was signed by $(site_fpr old) after that key had expired"
	nothing_left
	cp "$BATS_TEST_TMPDIR/20200601" "$V6/linux-6.12.95.tar.sign"
	korg 6.12.95
	ok_tree 6.12.95
	origin "checked-by: linux-6.12.95.tar.sign, by $(site_fpr old) (old@kit.invalid)"
}

@test "a key that was given more time is asked for again when it seems expired" {
	own_keys
	gpg --batch --quiet --passphrase '' --faked-system-time 20200101T000000 \
		--quick-generate-key old@kit.invalid ed25519 sign 1y 2>/dev/null
	xz -dc "$V6/linux-6.12.95.tar.xz" >"$BATS_TEST_TMPDIR/tar"
	gpg --batch --quiet --faked-system-time 20200601T000000 -u old@kit.invalid \
		--yes --detach-sign -o "$V6/linux-6.12.95.tar.sign" "$BATS_TEST_TMPDIR/tar"
	site_repin old
	korg 6.12.95
	ok_tree 6.12.95
	rm -r "$TREES"
	gpg --batch --quiet --quick-set-expire "$(site_fpr old)" never
	site_sign old "$V6/linux-6.12.96.tar.xz"
	korg 6.12.96
	refused 7 "after that key had expired"
	gpg --batch --export old@kit.invalid >"$SITE/keys/old"
	korg 6.12.96
	ok_tree 6.12.96
	grep -q "^checked-by: linux-6.12.96.tar.sign, by $(site_fpr old)" "$TREES/.6.12.96.origin"
}

@test "another release under this name, with its own signature, is refused" {
	cp "$V6/linux-6.12.94.tar.xz" "$V6/linux-6.12.95.tar.xz"
	cp "$V6/linux-6.12.94.tar.sign" "$V6/linux-6.12.95.tar.sign"
	korg 6.12.95
	refused 7 "linux-6.12.95.tar.xz is not the file that sha256sums.asc lists"
	nothing_left
	rm "$V6/sha256sums.asc"
	korg 6.12.95
	refused 7 "what came for 6.12.95 is a tree of 6.12.94"
	nothing_left
}

@test "a tarball that ends early is refused and leaves nothing" {
	truncate -s -5000 "$V6/linux-6.12.95.tar.xz"
	korg 6.12.95
	refused 6 "linux-6.12.95.tar.xz is cut short or broken"
	nothing_left
	rm "$V6/sha256sums.asc"
	korg 6.12.95
	refused 6 "linux-6.12.95.tar.xz is cut short or broken"
	nothing_left
}

@test "a signed tarball that reaches out of its folder is refused all the same" {
	site_tree 6.12.95 "$BATS_TEST_TMPDIR/a/linux-6.12.95"
	echo bad >"$BATS_TEST_TMPDIR/escaped"
	cd "$BATS_TEST_TMPDIR/a"
	tar -cPf ../dotdot.tar linux-6.12.95 ../escaped
	tar -cPf ../absolute.tar linux-6.12.95 "$BATS_TEST_TMPDIR/escaped"
	ln -s /etc linux-6.12.95/outside
	tar -cf ../link.tar linux-6.12.95
	rm linux-6.12.95/outside
	ln "$BATS_TEST_TMPDIR/escaped" linux-6.12.95/hard
	tar -cPf ../hard.tar "$BATS_TEST_TMPDIR/escaped" linux-6.12.95
	tar -P --delete -f ../hard.tar "$BATS_TEST_TMPDIR/escaped"
	tar -tvf ../hard.tar | grep -q 'link to.*/escaped$'
	rm ../escaped linux-6.12.95/hard
	echo text >plain
	tar -cf ../file.tar plain
	rm "$V6/sha256sums.asc"
	for t in dotdot absolute link hard file; do
		xz -c "../$t.tar" >"$V6/linux-6.12.95.tar.xz"
		site_sign gregor "$V6/linux-6.12.95.tar.xz"
		korg 6.12.95
		printf '%s: %s\n' "$t" "$stderr"
		[ "$status" -eq 6 ] || [ "$status" -eq 7 ]
		[ -z "$output" ]
		nothing_left
		[ ! -e ../escaped ]
	done
}

@test "a file that has a name outside of what was unpacked is seen" {
	mkdir -p "$BATS_TEST_TMPDIR/u/linux"
	echo text >"$BATS_TEST_TMPDIR/u/linux/a"
	ln "$BATS_TEST_TMPDIR/u/linux/a" "$BATS_TEST_TMPDIR/u/linux/b"
	strays() { bash -c '. "$0/scripts/lib/common.sh"; . "$0/scripts/lib/fetch.sh"; unpacked_strays "$1"' "$KIT" "$BATS_TEST_TMPDIR/u"; }
	[ -z "$(strays)" ]
	ln "$BATS_TEST_TMPDIR/u/linux/b" "$BATS_TEST_TMPDIR/outside"
	[[ $(strays) == linux/[ab] ]]
}

@test "the keys are kept, and asked for again after a month" {
	korg 6.12.94
	ok_tree 6.12.94
	[ "$(find "$KIT_CACHE/keys" -type f -printf '%f\n' | sort)" = "$(printf '%s\n' "$(site_fpr gregor)" "$(site_fpr lister)" | sort)" ]
	asked=$(web_asked keys/)
	korg 6.12.96
	ok_tree 6.12.96
	[ "$(web_asked keys/)" -eq "$asked" ]
	rm -r "$TREES"
	find "$KIT_CACHE/keys" -type f -exec touch -d '-32 days' {} +
	korg 6.12.96
	ok_tree 6.12.96
	[ "$(web_asked keys/)" -gt "$asked" ]
	# An old key is better than none.
	rm -r "$TREES" "$SITE/keys"
	find "$KIT_CACHE/keys" -type f -exec touch -d '-32 days' {} +
	korg 6.12.96
	ok_tree 6.12.96
}

@test "the keys come from a file, if one is named, and then nobody is asked for them" {
	for option in --armor --no-armor; do
		gpg --batch $option --export >"$BATS_TEST_TMPDIR/ring"
		KIT_KERNEL_KEYRING=$BATS_TEST_TMPDIR/ring korg 6.12.95
		ok_tree 6.12.95
		origin "checked-by: linux-6.12.95.tar.sign, by $(gregor)"
		rm -r "$TREES"
	done
	gpg --batch --export lister@kit.invalid >"$BATS_TEST_TMPDIR/ring"
	KIT_KERNEL_KEYRING=$BATS_TEST_TMPDIR/ring korg 6.12.95
	ok_tree 6.12.95
	origin "checked-by: sha256sums.asc, by $(lister); there is linux-6.12.95.tar.sign, but its key $(gregor) cannot be had"
	[ "$(web_asked keys/)" -eq 0 ]
	rm -r "$TREES"
	echo text >"$BATS_TEST_TMPDIR/ring"
	for file in "$BATS_TEST_TMPDIR/ring" "$BATS_TEST_TMPDIR/none"; do
		KIT_KERNEL_KEYRING=$file korg 6.12.95
		refused 2 "no keys can be read from KIT_KERNEL_KEYRING, $file"
	done
	nothing_left
}

@test "another key where a pinned one should be is not taken for it" {
	gpg --batch --export stranger@kit.invalid >"$SITE/keys/gregor"
	site_release "$SITE" 6.12.95 stranger
	rm "$V6/sha256sums.asc"
	korg 6.12.95
	refused 7 "linux-6.12.95.tar.xz is signed by an unknown key, $(site_fpr stranger)"
	nothing_left
	# The key of another role at that place does not count for this one either.
	gpg --batch --export lister@kit.invalid >"$SITE/keys/gregor"
	site_release "$SITE" 6.12.95 gregor
	korg 6.12.95
	refused 6 "there is linux-6.12.95.tar.sign, but its key $(gregor) cannot be had"
	nothing_left
}

@test "a subkey of a pinned key counts as that key" {
	own_keys
	gpg --batch --quiet --passphrase '' --quick-add-key "$(site_fpr sasha)" ed25519 sign never 2>/dev/null
	gpg --batch --export sasha@kit.invalid >"$SITE/keys/sasha"
	site_sign sasha "$V6/linux-6.12.95.tar.xz"
	korg 6.12.95
	ok_tree 6.12.95
	origin "checked-by: linux-6.12.95.tar.sign, by $(site_fpr sasha) (sasha@kit.invalid)"
}

@test "the user's own gpg and curl settings are neither read nor changed" {
	own_keys
	gpgconf --kill all
	echo 'no-such-option' >"$GNUPGHOME/gpg.conf"
	printf '%s\n' 'url = "http://127.0.0.1:9"' 'fail-early' >"$HOME/.curlrc"
	before=$(tree_sum "$GNUPGHOME")
	korg 6.12.95
	ok_tree 6.12.95
	[ "$(tree_sum "$GNUPGHOME")" = "$before" ]
}

@test "a wrong file of pinned keys, and a mirror that is no URL, are usage errors" {
	cp "$KIT_KERNEL_KEYS" "$BATS_TEST_TMPDIR/right"
	for line in "ABCD releases a@b http://x" "$(site_fpr gregor) everything a@b http://x" \
		"$(site_fpr gregor) releases a@b" "$(site_fpr gregor) releases a@b ftp://x"; do
		{ cat "$BATS_TEST_TMPDIR/right" && echo "$line"; } >"$KIT_KERNEL_KEYS"
		korg 6.12.95
		refused 2 "pinned:4: no line of the form FINGERPRINT releases|checksums MAIL URL"
	done
	KIT_KERNEL_KEYS=$BATS_TEST_TMPDIR/none korg 6.12.95
	refused 2 "cannot read the pinned keys in $BATS_TEST_TMPDIR/none"
	cp "$BATS_TEST_TMPDIR/right" "$KIT_KERNEL_KEYS"
	for url in ftp://127.0.0.1/x /srv/mirror 'http://a@127.0.0.1/' 'http://127.0.0.1/?x'; do
		KIT_KERNEL_MIRROR=$url korg 6.12.95
		refused 2 "KIT_KERNEL_MIRROR: '${url%/}' is no base URL"
	done
	for stall in 0 x 1.5; do
		KIT_FETCH_STALL=$stall korg 6.12.95
		refused 2 "KIT_FETCH_STALL: '$stall' is no number of seconds"
	done
	nothing_left
}

@test "the keys that the kit pins are of the right form, and each has its role" {
	unset KIT_KERNEL_KEYS
	keys=$KIT/configs/kernel-org-keys
	[ "$(grep -cE '^[0-9A-F]{40} releases [a-z]+@kernel[.]org https://kernel[.]org/[.]well-known/openpgpkey/hu/[a-z0-9]{32}[?]l=[a-z]+$' "$keys")" -eq 3 ]
	[ "$(grep -cE '^[0-9A-F]{40} checksums autosigner@kernel[.]org https://' "$keys")" -eq 1 ]
	[ "$(grep -cv '^#' "$keys")" -eq 4 ]
	client=/usr/lib/gnupg/gpg-wks-client
	[ -x "$client" ] || skip "no gpg-wks-client here; on Debian: apt-get install gpg-wks-client"
	while read -r _ _ mail url; do
		[[ $url == */"$("$client" --print-wkd-hash "$mail" | cut -d' ' -f1)?l=${mail%@*}" ]]
	done < <(grep -v '^#' "$keys")
}
