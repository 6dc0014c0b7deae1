#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# fetch-tree.sh and kernel.org: lines that break, runs that are killed, servers
# that do odd things.

load helpers
load kernel-org
load fetch-helpers

setup_file() { site_setup_file; }
teardown_file() { GNUPGHOME=$BATS_FILE_TMPDIR/gnupg gpgconf --kill all; }
setup() {
	site_setup
	PART=$TREES/.6.12.95.part
	export KIT_FETCH_STALL=2
	# Half of a tarball, and then nothing more.
	# shellcheck disable=SC2016 # for the server
	site_cgi half '[[ $FILE = *.tar.xz ]] && [ "$REQUEST_METHOD" = GET ] || plain' \
		'head_of "$SIZE"; head -c $((SIZE / 2)) "$FILE"; exec sleep 20'
}
teardown() { web_stop; }

korg() { fetch --from kernel.org "$@"; }

size() { stat -c %s "$1"; }

# half_of FILE: wait until half of the tarball is there.
half_of() {
	for _ in $(seq 600); do
		[ -f "$1" ] && [ "$(size "$1")" -ge $(($(size "$V6/linux-6.12.95.tar.xz") / 2)) ] && return
		sleep 0.1
	done
	return 1
}

# resumed: a plain run now gets 6.12.95 by asking for the rest only.
resumed() {
	: >"$WEB_LOG"
	korg 6.12.95
	ok_tree 6.12.95
	[[ $stderr == *"going on with linux-6.12.95.tar.xz"* ]]
	grep -q 'response:206' "$WEB_LOG"
	grep -qx 'int point = 95;' "$output/kernel/sched/fair.c"
	trees_are .6.12.95.origin 6.12.95
}

@test "Ctrl-C in the middle keeps what came, and the next run goes on with it" {
	for signal in INT:130 TERM:143; do
		rm -rf "$TREES"
		KIT_FETCH_STALL=30 KIT_KERNEL_MIRROR=$WEB_URL/cgi-bin/half env --default-signal=INT \
			"$KIT/scripts/fetch-tree.sh" --from kernel.org 6.12.95 2>"$BATS_TEST_TMPDIR/err" &
		half_of "$PART"
		kill -"${signal%:*}" $!
		code=0
		wait $! || code=$?
		[ "$code" -eq "${signal#*:}" ]
		cat "$BATS_TEST_TMPDIR/err"
		[[ $(tail -n 1 "$BATS_TEST_TMPDIR/err") == *"interrupted (SIG${signal%:*}); what came is kept, run it again to go on" ]]
		trees_are .6.12.95.part
		resumed
	done
}

@test "after kill -9 in the middle the next run cleans up and goes on" {
	KIT_FETCH_STALL=30 KIT_KERNEL_MIRROR=$WEB_URL/cgi-bin/half setsid \
		"$KIT/scripts/fetch-tree.sh" --from kernel.org 6.12.95 2>/dev/null &
	half_of "$PART"
	kill_session $!
	[ -d "$TREES/.tmp.6.12.95" ]
	compgen -G "$TREES/.tmp.kernelorg-*"
	resumed
}

@test "kill -9 while it is checked or unpacked leaves what the next run mends" {
	for tool in xz tar; do
		rm -rf "$TREES" "$BATS_TEST_TMPDIR/there"
		stub "$BATS_TEST_TMPDIR/bin" "$tool" "touch $BATS_TEST_TMPDIR/there; sleep 20; exec $(type -P "$tool") \"\$@\""
		PATH=$BATS_TEST_TMPDIR/bin:$PATH setsid "$KIT/scripts/fetch-tree.sh" --from kernel.org 6.12.95 2>/dev/null &
		wait_for "$BATS_TEST_TMPDIR/there"
		kill_session $!
		korg 6.12.95
		ok_tree 6.12.95
		trees_are .6.12.95.origin 6.12.95
	done
}

@test "kill -9 at any moment leaves what the next run mends" {
	for after in 0.2 0.5 0.8 1.1 1.4 1.7 2; do
		rm -rf "$TREES"
		setsid "$KIT/scripts/fetch-tree.sh" --from kernel.org 6.12.95 >"$BATS_TEST_TMPDIR/out" 2>/dev/null &
		sleep "$after"
		kill_session $!
		echo "after $after s: $(ls -A "$TREES" 2>&1 | paste -sd' ')"
		# A tree that is there is there whole.
		[ ! -e "$TREES/6.12.95" ] || [ "$(find "$TREES/6.12.95" -type f | wc -l)" -eq 3 ]
		fetch 6.12.95
		ok_tree 6.12.95
		[ "$(find "$output" -type f | wc -l)" -eq 3 ]
		ls -A "$TREES"
		[ ! -e "$PART" ]
		[ -z "$(compgen -G "$TREES/.tmp.*")" ]
	done
}

@test "a line that breaks in the middle is taken up in the same run" {
	odd_curl "head -c 100000 $V6/linux-6.12.95.tar.xz >\$OUT; echo 200; echo broke off; exit 18"
	korg 6.12.95
	ok_tree 6.12.95
	grep -q 'response:206' "$WEB_LOG"
	# One HEAD and the second GET.
	[ "$(web_asked 'linux-6.12.95.tar.xz')" -eq 2 ]
	grep -qx 'int point = 95;' "$output/kernel/sched/fair.c"
}

@test "a server that cannot go on in the middle is asked from the beginning" {
	# shellcheck disable=SC2016 # for the server
	site_cgi whole plain
	mkdir -p "$TREES"
	head -c 1000 "$V6/linux-6.12.95.tar.xz" >"$PART"
	KIT_KERNEL_MIRROR=$WEB_URL/cgi-bin/whole korg 6.12.95
	ok_tree 6.12.95
	trees_are .6.12.95.origin 6.12.95
}

@test "a server that stops sending is given up, and what came is kept" {
	KIT_KERNEL_MIRROR=$WEB_URL/cgi-bin/half korg 6.12.95
	refused 6 "cannot fetch linux-6.12.95.tar.xz from $WEB_URL/cgi-bin/half: Operation too slow"
	[[ $stderr == *"what came is kept, run it again to go on" ]]
	trees_are .6.12.95.part
	resumed
}

@test "a part that is wrong, complete or too long does no harm" {
	mkdir -p "$TREES"
	# Wrong: found out in the end, and gone for the next run.
	head -c 1000 /dev/zero >"$PART"
	korg 6.12.95
	refused 6 "linux-6.12.95.tar.xz is cut short or broken"
	nothing_left
	cp "$V6/linux-6.12.95.tar.xz" "$PART"
	korg 6.12.95
	ok_tree 6.12.95
	trees_are .6.12.95.origin 6.12.95
	rm -r "$TREES/6.12.95"
	{ cat "$V6/linux-6.12.95.tar.xz" && echo more; } >"$PART"
	korg 6.12.95
	ok_tree 6.12.95
	trees_are .6.12.95.origin 6.12.95
}

@test "a part of long ago is removed, one of today is not" {
	mkdir -p "$TREES"
	echo old >"$TREES/.6.1.1.part"
	echo new >"$TREES/.6.1.2.part"
	touch -d '-8 days' "$TREES/.6.1.1.part"
	korg 6.12.95
	ok_tree 6.12.95
	trees_are .6.1.2.part .6.12.95.origin 6.12.95
}

@test "two runs at once share one download" {
	# the first goes on when the second has said that it waits
	odd_curl "for _ in {1..600}; do ! grep -qs 'waiting for another run' $BATS_TEST_TMPDIR/?.err || break; sleep 0.1; done"
	for who in a b; do
		"$KIT/scripts/fetch-tree.sh" --from kernel.org 6.12.95 >"$BATS_TEST_TMPDIR/$who" 2>"$BATS_TEST_TMPDIR/$who.err" &
	done
	wait -n
	wait -n
	cat "$BATS_TEST_TMPDIR"/?.err
	for who in a b; do [ "$(cat "$BATS_TEST_TMPDIR/$who")" = "$TREES/6.12.95" ]; done
	grep -q 'waiting for another run that fetches 6.12.95' "$BATS_TEST_TMPDIR"/?.err
	# One HEAD and one GET.
	[ "$(web_asked linux-6.12.95.tar.xz)" -eq 2 ]
	trees_are .6.12.95.origin 6.12.95
}

@test "when the first of two runs is killed, the second goes on with its part" {
	KIT_FETCH_STALL=60 KIT_KERNEL_MIRROR=$WEB_URL/cgi-bin/half setsid \
		"$KIT/scripts/fetch-tree.sh" --from kernel.org 6.12.95 2>/dev/null &
	first=$!
	half_of "$PART"
	"$KIT/scripts/fetch-tree.sh" --from kernel.org 6.12.95 >"$BATS_TEST_TMPDIR/b" 2>"$BATS_TEST_TMPDIR/b.err" &
	second=$!
	for _ in $(seq 300); do
		! grep -q 'waiting for another run' "$BATS_TEST_TMPDIR/b.err" || break
		sleep 0.1
	done
	pkill -KILL -s "$first"
	wait "$second"
	cat "$BATS_TEST_TMPDIR/b.err"
	[ "$(cat "$BATS_TEST_TMPDIR/b")" = "$TREES/6.12.95" ]
	grep -q 'going on with linux-6.12.95.tar.xz' "$BATS_TEST_TMPDIR/b.err"
	# What else the first left goes with the next run.
	korg 6.12.95
	trees_are .6.12.95.origin 6.12.95
}

@test "a redirect on the same host is followed" {
	site_cgi near "printf 'Status: 302 Found\\r\\nLocation: $WEB_URL%s\\r\\n\\r\\n' \"\$PATH_INFO\""
	KIT_KERNEL_MIRROR=$WEB_URL/cgi-bin/near korg 6.12.95
	ok_tree 6.12.95
}

@test "a redirect to another host, or in a circle, is refused and leaves nothing" {
	site_cgi far "[[ \$FILE = *.tar.xz ]] || plain" \
		"printf 'Status: 302 Found\\r\\nLocation: http://localhost:${WEB_URL##*:}%s\\r\\n\\r\\n' \"\$PATH_INFO\""
	KIT_KERNEL_MIRROR=$WEB_URL/cgi-bin/far korg 6.12.95
	refused 6 "is redirected to http://localhost:${WEB_URL##*:}/v6.x/linux-6.12.95.tar.xz, which is not the same host"
	nothing_left
	site_cgi circle "printf 'Status: 302 Found\\r\\nLocation: $WEB_URL/cgi-bin/circle%s\\r\\n\\r\\n' \"\$PATH_INFO\""
	KIT_KERNEL_MIRROR=$WEB_URL/cgi-bin/circle korg 6.12.95
	refused 6 "is redirected in a circle"
	nothing_left
}

@test "a redirect when it comes to sending is not taken for the file" {
	# shellcheck disable=SC2016 # for the server
	site_cgi late '[[ $FILE = *.tar.xz ]] && [ "$REQUEST_METHOD" = GET ] || plain' \
		"printf 'Status: 302 Found\\r\\nLocation: $WEB_URL/x\\r\\n\\r\\nmoved'"
	KIT_KERNEL_MIRROR=$WEB_URL/cgi-bin/late korg 6.12.95
	refused 6 "cannot fetch linux-6.12.95.tar.xz"
	nothing_left
}

@test "where a redirect may lead hangs on host, port and scheme" {
	near() { bash -c '. "$0/scripts/lib/common.sh"; . "$0/scripts/lib/fetch-http.sh"; http_near "$1" "$2"' "$KIT" "$1" "$2"; }
	near https://a.org/x https://a.org/y
	near https://a.org/x https://A.ORG/y
	near http://a.org/x https://a.org/y
	near http://a.org:8080/x https://a.org/y
	near http://a.org:8080/x http://a.org:8080/y
	run ! near https://a.org/x http://a.org/x
	run ! near https://a.org/x https://b.org/x
	run ! near https://a.org/x https://a.org.b.org/x
	run ! near https://a.org/x https://a.org@b.org/x
	run ! near http://a.org:8080/x http://a.org:8081/x
	run ! near http://a.org/x ftp://a.org/x
	run ! near http://a.org/x file:///etc/passwd
	run ! near http://a.org/x none
}

@test "a busy server is asked again" {
	site_cgi busy "[[ \$FILE = *.tar.xz ]] || plain; mkdir $BATS_TEST_TMPDIR/asked 2>/dev/null || plain" \
		"printf 'Status: 503 Busy\\r\\n\\r\\n'"
	KIT_KERNEL_MIRROR=$WEB_URL/cgi-bin/busy korg 6.12.95
	ok_tree 6.12.95
	[ -d "$BATS_TEST_TMPDIR/asked" ]
}

@test "a file that is bigger than such files are is not brought" {
	truncate -s 1100000000 "$V6/linux-6.12.95.tar.xz"
	korg 6.12.95
	refused 6 "it has 1100000000 bytes, more than the 1000000000 that such a file may have"
	nothing_left
	# A server that does not say how much it sends, and does not stop.
	# shellcheck disable=SC2016 # for the server
	site_cgi endless '[[ $FILE = *.sign ]] || plain' 'printf "Status: 200 OK\r\n\r\n"' \
		'[ "$REQUEST_METHOD" = HEAD ] || { head -c 50000000 /dev/zero && touch '"$SITE/sent; }"
	KIT_KERNEL_MIRROR=$WEB_URL/cgi-bin/endless korg 6.12.95
	refused 6 "cannot fetch linux-6.12.95.tar.sign from $WEB_URL/cgi-bin/endless: it has more than the 1000000 bytes"
	[ ! -e "$SITE/sent" ]
	nothing_left
}

@test "something in the way of the download or the keys is named" {
	mkdir -p "$PART"
	korg 6.12.95
	refused 6 "$PART is in the way of the download; remove it"
	trees_are .6.12.95.part
	rmdir "$PART"
	rm -rf "$KIT_CACHE/keys"
	echo file >"$KIT_CACHE/keys"
	korg 6.12.95
	refused 6 "cannot write to $KIT_CACHE/keys"
	nothing_left
}

@test "a full disk is an error of its own and leaves nothing" {
	unshare -Urm true || skip "no user namespaces here to make a small disk in"
	mkdir -p "$TREES"
	for size in 16k 100k 400k; do
		# shellcheck disable=SC2016 # for the inner shell
		run unshare -Urm sh -c 'mount -t tmpfs -o size="$3" none "$1" || exit 77
			"$2" --from kernel.org 6.12.95; code=$?; ls -A "$1"; exit $code' sh "$TREES" "$KIT/scripts/fetch-tree.sh" "$size"
		[ "$status" -ne 77 ] || skip "no tmpfs can be mounted in a user namespace here"
		printf '%s: %s\n' "$size" "$output"
		[ "$status" -eq 6 ]
		[[ ${lines[-1]} == "fetch-tree.sh: "*"free "*"space"* ]]
	done
}
