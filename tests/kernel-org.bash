# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# A small kernel.org for the tests of fetch-tree.sh: releases, patches, lists of
# checksums and signatures below a folder, signed by keys made here, and a web
# server on the loopback for it.

# site_key NAME [EXPIRES]: a signing key NAME@kit.invalid in $GNUPGHOME.
site_key() {
	gpg --batch --quiet --passphrase '' --quick-generate-key "$1@kit.invalid" ed25519 sign "${2:-never}" 2>/dev/null
}

# site_fpr NAME: its fingerprint.
site_fpr() { gpg --batch --with-colons --list-keys "$1@kit.invalid" | awk -F: '$1 == "fpr" { print $10; exit }'; }

# site_keys DIR: keys for releases (gregor, sasha), for checksums (lister), and a
# stranger; DIR/pinned names all but the last with files of DIR/keys/ as their
# URLs below URL, DIR/keyring has those keys.
site_keys() {
	local name role
	export GNUPGHOME=$1/gnupg
	mkdir -m 700 "$GNUPGHOME"
	for name in gregor sasha lister stranger; do site_key "$name"; done
	gpg --batch --armor --export gregor@kit.invalid sasha@kit.invalid lister@kit.invalid >"$1/keyring"
	mkdir "$1/keys"
	for name in gregor sasha lister; do
		role=releases
		[ "$name" != lister ] || role=checksums
		gpg --batch --export "$name@kit.invalid" >"$1/keys/$name"
		printf '%s %s %s@kit.invalid %s\n' "$(site_fpr "$name")" "$role" "$name" "URL/keys/$name" >>"$1/pinned.in"
	done
}

# site_sign NAME FILE.xz [SIGNATURE]: sign what is in it, as kernel.org does.
site_sign() {
	xz -dc "$2" | gpg --batch --yes --quiet --armor --local-user "$1@kit.invalid" --detach-sign -o "${3:-${2%.xz}.sign}" -
}

# site_tree VERSION DIR: a tree whose fair.c tells of its version, with a file
# that does not compress.
site_tree() {
	make_tree "$1" "$2"
	printf 'int point = %s;\n' "${1##*.}" >>"$2/kernel/sched/fair.c"
	cp "$SITE_BLOB" "$2/kernel/blob"
}

# site_release DIR VERSION [KEY]: its tarball and signature.
site_release() {
	local dir name=linux-${2%.0}
	dir=$(mktemp -d)
	site_tree "$2" "$dir/$name"
	mkdir -p "$1/v${2%%.*}.x/incr"
	tar --sort=name --owner=0 --group=0 -cJf "$1/v${2%%.*}.x/$name.tar.xz" -C "$dir" "$name"
	site_sign "${3:-gregor}" "$1/v${2%%.*}.x/$name.tar.xz"
	rm -rf "$dir"
}

# site_patch DIR LTS FROM TO [KEY]: the incremental patch and its signature.
site_patch() {
	local dir out=$1/v${2%%.*}.x/incr/patch-$2.$3-$4
	dir=$(mktemp -d)
	site_tree "$2.$3" "$dir/a"
	site_tree "$2.$4" "$dir/b"
	(cd "$dir" && diff -urN a b) | xz >"$out.xz"
	site_sign "${5:-gregor}" "$out.xz"
	rm -rf "$dir"
}

# site_list DIR [KEY]: the signed list of the checksums of the files in DIR.
site_list() {
	(cd "$1" && find . -maxdepth 1 -name '*.xz' -printf '%f\n' | sort | xargs -r sha256sum) |
		gpg --batch --yes --quiet --local-user "${2:-lister}@kit.invalid" --clearsign -o "$1/sha256sums.asc"
}

# site_make DIR: what most tests use: 6.12.94 to .96 with patches, and 6.18.0.
site_make() {
	local v
	SITE_BLOB=$1/blob
	export SITE_BLOB
	head -c 300000 /dev/urandom >"$SITE_BLOB"
	site_keys "$1"
	mkdir "$1/site"
	for v in 6.12.94 6.12.95 6.12.96 6.18.0; do site_release "$1/site" "$v"; done
	site_patch "$1/site" 6.12 94 95
	site_patch "$1/site" 6.12 95 96
	site_list "$1/site/v6.x"
	site_list "$1/site/v6.x/incr"
}

# site_setup_file: for setup_file(): the site that the tests copy.
site_setup_file() {
	for tool in busybox curl gpg xz git; do
		need_tool "$tool" "busybox curl gnupg xz-utils git"
	done
	site_make "$BATS_FILE_TMPDIR"
}

# site_setup: for setup(): a copy of the site below the test's folder, served, as
# the kernel.org of fetch-tree.sh. Sets SITE, V6 (its v6.x) and TREES.
site_setup() {
	export GNUPGHOME=$BATS_FILE_TMPDIR/gnupg
	SITE_BLOB=$BATS_FILE_TMPDIR/blob
	SITE=$BATS_TEST_TMPDIR/site
	# shellcheck disable=SC2034 # for the tests
	V6=$SITE/v6.x
	TREES=$KIT_CACHE/trees
	cp -r "$BATS_FILE_TMPDIR/site" "$SITE"
	cp -r "$BATS_FILE_TMPDIR/keys" "$SITE"
	web_start "$SITE"
	site_pin <"$BATS_FILE_TMPDIR/pinned.in"
	export KIT_KERNEL_MIRROR=$WEB_URL KIT_KERNEL_KEYS=$BATS_TEST_TMPDIR/pinned no_proxy='*'
	export SITE SITE_BLOB TREES
}

# site_pin: the pinned keys, from stdin, with their URLs on the test's server.
site_pin() { sed "s,URL,$WEB_URL," >"$BATS_TEST_TMPDIR/pinned"; }

# site_cgi NAME LINE...: a server at $WEB_URL/cgi-bin/NAME that does what these
# lines of bash say; FILE is the file that was asked for, SIZE its bytes, plain
# gives it as it is. A HEAD is answered before the lines are reached.
site_cgi() {
	local name=$1
	shift
	mkdir -p "$SITE/cgi-bin"
	# shellcheck disable=SC2016 # for the server
	{
		printf '%s\n' '#!/bin/bash' "FILE=$SITE\$PATH_INFO" \
			'head_of() { printf "Status: 200 OK\r\nContent-Length: %s\r\n\r\n" "$1"; }' \
			'plain() { head_of "$SIZE"; [ "$REQUEST_METHOD" = HEAD ] || cat "$FILE"; exit; }' \
			'[ -f "$FILE" ] || { printf "Status: 404 Not Found\r\n\r\n"; exit; }' \
			'SIZE=$(stat -c %s "$FILE")' "$@"
	} >"$SITE/cgi-bin/$name"
	chmod +x "$SITE/cgi-bin/$name"
}

# odd_curl LINE: a curl that does LINE, bash that finds the arguments in "$@" and
# the file to write in $OUT, before it brings the text of a tarball the first
# time, and is the host's for the rest.
odd_curl() {
	# shellcheck disable=SC2016 # for the stub
	stub "$BATS_TEST_TMPDIR/bin" curl \
		'case " $* " in *" -I "*) ;; *.tar.xz\ )' \
		'for a; do [ "${last:-}" != -o ] || OUT=$a; last=$a; done' \
		"if mkdir $BATS_TEST_TMPDIR/odd 2>/dev/null; then $1; fi ;; esac" \
		"exec $(type -P curl) \"\$@\""
	PATH=$BATS_TEST_TMPDIR/bin:$PATH
}

# web_start DIR: serve DIR on a free port of the loopback. Sets WEB_URL, WEB_PID
# and WEB_LOG (a line for each request).
web_start() {
	local port
	WEB_LOG=$BATS_TEST_TMPDIR/web.log
	echo "$BATS_TEST_TMPDIR $RANDOM" >"$1/whose"
	for _ in $(seq 50); do
		port=$((20000 + RANDOM % 40000))
		busybox httpd -f -vv -p "127.0.0.1:$port" -h "$1" 2>"$WEB_LOG" 3>&- &
		WEB_PID=$!
		for _ in $(seq 50); do
			WEB_URL=http://127.0.0.1:$port
			[ "$(curl -q -s --noproxy '*' "$WEB_URL/whose")" != "$(cat "$1/whose")" ] || return 0
			kill -0 "$WEB_PID" 2>/dev/null || break
			sleep 0.1
		done
		kill "$WEB_PID" 2>/dev/null || :
	done
	echo "no free port for a web server" >&2
	return 1
}

web_stop() { [ -z "${WEB_PID:-}" ] || kill "$WEB_PID" 2>/dev/null || :; }

# web_asked TEXT: how many GETs and HEADs there were for URLs with TEXT.
web_asked() { grep -c "url:.*$1" "$WEB_LOG" || :; }
