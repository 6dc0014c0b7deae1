#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# submit.sh --send, to a mail server on loopback; and b4's dry run.

setup() {
	load helpers
	load submit-helpers
}

teardown() { [ -z "${SERVER-}" ] || { kill "$SERVER"; wait "$SERVER" || :; } 2>/dev/null; }

# server ARG...: a mail server in $BATS_TEST_TMPDIR/box, which git send-email is told of.
server() {
	local n
	[ -x "$(git --exec-path)/git-send-email" ] || skip "no git send-email here; on Debian: apt-get install git-email"
	"${KIT_PYTHON:-/usr/bin/python3}" -c 'import aiosmtpd' 2>/dev/null || skip "no aiosmtpd here; on Debian: apt-get install python3-aiosmtpd"
	BOX=$BATS_TEST_TMPDIR/box
	mkdir -p "$BOX"
	"${KIT_PYTHON:-/usr/bin/python3}" "$KIT/tests/smtp-server.py" "$BOX" "$@" >"$BOX/err" 2>&1 3>&- &
	SERVER=$!
	for ((n = 0; n < 300; n++)); do [ ! -f "$BOX/port" ] || break; sleep 0.1; done
	git config --global sendemail.smtpServer localhost
	git config --global sendemail.smtpServerPort "$(cat "$BOX/port")"
}

# certificate: for localhost, in $BATS_TEST_TMPDIR/cert and key.
certificate() {
	need_tool openssl openssl
	openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost \
		-keyout "$BATS_TEST_TMPDIR/key" -out "$BATS_TEST_TMPDIR/cert" 2>/dev/null
}

# send ARG...: the chain to 6.1, by git send-email.
send() {
	submit --distro-reason "$REASON" --to-stable 6.1 --newer-reason 'Said elsewhere.' --method send-email --send "$@" first second third
}

# taken N: how many mails the server has.
taken() { [ "$(find "$BOX" -name '*.eml' | wc -l)" -eq "$1" ]; }

@test "mails that arrive by SMTP, with TLS and a login, make the same trees" {
	certificate
	server --tls "$BATS_TEST_TMPDIR/cert" "$BATS_TEST_TMPDIR/key" --login user secret
	git config --global sendemail.smtpEncryption tls
	git config --global sendemail.smtpSSLCertPath "$BATS_TEST_TMPDIR/cert"
	git config --global sendemail.smtpUser user
	git config --global sendemail.smtpPass secret
	chain
	run send --yes
	fails_with 0 "4 mail(s) sent"
	taken 4
	[ "$(sort -u "$BOX/log" | paste -sd ' ')" = "auth tls" ]
	git -C "$STABLE" checkout -q linux-6.1.y
	git -C "$STABLE" am -q "$BOX"/[234].eml
	git -C "$STABLE" diff --quiet "linux-6.1.y~3" -- Makefile
	[ "$(git -C "$STABLE" log -1 --format='%an %s' HEAD^)" = "Vincent Second sched/fair: Second of three" ]
	grep -q 'aa += x \* 8 + 1;' "$STABLE/kernel/sched/fair.c"
}

@test "a wrong password sends nothing, and says so" {
	certificate
	server --tls "$BATS_TEST_TMPDIR/cert" "$BATS_TEST_TMPDIR/key" --login user secret
	git config --global sendemail.smtpEncryption tls
	git config --global sendemail.smtpSSLCertPath "$BATS_TEST_TMPDIR/cert"
	git config --global sendemail.smtpUser user
	git config --global sendemail.smtpPass wrong
	chain
	run send --yes
	fails_with 6 "0000-cover-letter.patch was not sent (see above), 0 mail(s) before it were"
	taken 0
	[ ! -e "$BATS_TEST_TMPDIR/out/sent.log" ]
}

@test "a server that fails in the middle: what went out is recorded, a rerun sends the rest" {
	server --fail-at 3
	chain
	run send --yes
	fails_with 6 "6.1.y/0002-sched-fair-Second-of-three.patch was not sent (see above), 2 mail(s) before it were"
	taken 2
	[ "$(wc -l <"$BATS_TEST_TMPDIR/out/sent.log")" -eq 2 ]
	run send --yes
	fails_with 0 "2 mail(s) were sent before, 2 are left"
	taken 4
	[ "$(cat "$BOX"/*.eml | grep -i '^Message-Id:' | sort -u | wc -l)" -eq 4 ]
	# the rest still answers the cover letter
	id=$(sed -n 's/^Message-Id: //Ip' "$BOX/1.eml")
	[ "$(grep -lF "In-Reply-To: $id" "$BOX"/[234].eml | wc -l)" -eq 3 ]
	run send --yes
	fails_with 0 "were sent before; nothing to do"
	taken 4
}

@test "the rest of a series is not sent when the series has changed" {
	server --fail-at 2
	chain
	run send --yes
	fails_with 6 "1 mail(s) before it were"
	sed -i 's/^In 6.1 the name/In 6.1 the old name/' "$KIT_QUEUE/patches/6.1/second.patch"
	run send --yes
	fails_with 1 "mails of another state were sent from"
	taken 1
}

@test "nobody but those in the mail gets it, whatever git send-email is configured to" {
	server
	git config --global sendemail.to extra-to@nobody.invalid
	git config --global sendemail.cc extra-cc@nobody.invalid
	git config --global sendemail.bcc extra-bcc@nobody.invalid
	git config --global sendemail.toCmd 'echo cmd@nobody.invalid #'
	git config --global sendemail.from 'Other <other@nobody.invalid>'
	chain
	run send --yes
	fails_with 0 "4 mail(s) sent"
	run ! grep -r nobody.invalid "$BOX"
	run tail -n +2 "$BOX/2.to"
	echo "$output"
	[ "$(sort <<<"$output" | paste -sd ' ')" = "adam@author.invalid fair@sched.invalid linux-kernel@vger.kernel.invalid mike@maintain.invalid rita@report.invalid second@author.invalid stable@vger.kernel.org" ]
}

@test "without a terminal nothing is sent, unless --yes is said" {
	server
	chain
	run send </dev/null
	fails_with 2 "there is no terminal to ask on"
	taken 0
	[ -f "$BATS_TEST_TMPDIR/out/6.1.y/0000-cover-letter.patch" ]
}

@test "on a terminal it shows the recipients, asks once, and takes only yes for yes" {
	need_tool script bsdutils
	server
	chain
	export -f send submit
	export REASON
	SHELL=$(command -v bash) run script -qec 'send' /dev/null < <(echo no)
	fails_with 1 "nothing was sent"
	[[ $output == *'"Ingo O. Fair" <fair@sched.invalid>'* ]]
	taken 0
	SHELL=$(command -v bash) run script -qec 'send' /dev/null < <(echo yes)
	fails_with 0 "4 mail(s) sent"
	[ "$(grep -c 'Type yes' <<<"$output")" -eq 1 ]
	taken 4
}

@test "without --send nothing goes out, by any method" {
	server
	chain
	submit --distro-reason "$REASON" --to-stable 6.1 --newer-reason 'Said elsewhere.' --method send-email first second third
	taken 0
	run submit --to-stable 6.1 --send one
	fails_with 2 "--method files sends nothing"
	taken 0
}

# need_b4: or skip.
need_b4() {
	need_tool b4 b4
	b4 send --help 2>/dev/null | grep -q -- --no-trailer-to-cc || skip "this b4 has no send --no-trailer-to-cc"
}

@test "b4 makes mails of the chain in a dry run, and git am takes these too" {
	need_b4
	chain
	run submit --distro-reason "$REASON" --to-stable 6.1 --newer-reason 'Said elsewhere.' --method b4 first second third
	fails_with 0 "The mails are in"
	[ "$(find "$BATS_TEST_TMPDIR/out/6.1.y" -name '*.eml' | wc -l)" -eq 4 ]
	grep -q '^X-Mailer: b4' "$BATS_TEST_TMPDIR"/out/6.1.y/0001-*
	grep -q '^Subject: \[PATCH 6.1.y 0/3\]' "$BATS_TEST_TMPDIR"/out/6.1.y/0000-*
	git -C "$STABLE" checkout -q linux-6.1.y
	git -C "$STABLE" am -q "$BATS_TEST_TMPDIR"/out/6.1.y/000[123]-*
	[ "$(git -C "$STABLE" log -1 --format='%an %s' HEAD^)" = "Vincent Second sched/fair: Second of three" ]
	[ "$(git -C "$STABLE" log -1 --format=%B | sed '/^$/d' | tail -n 1)" = "Signed-off-by: Kit Test <test@kit.invalid>" ]
}

@test "b4 sends the series to the server, and what it sent is recorded" {
	need_b4
	server
	chain
	submit --distro-reason "$REASON" --to-stable 6.1 --newer-reason 'Said elsewhere.' --method b4 --send --yes first second third
	taken 4
	[ "$(wc -l <"$BATS_TEST_TMPDIR/out/sent.log")" -eq 4 ]
	grep -q '^stable@vger.kernel.org$' "$BOX/1.to"
}

@test "a b4 that lacks what is needed, or none, is named with what to install" {
	chain
	stub "$BATS_TEST_TMPDIR/bin" b4 'echo "usage: b4 [-h]"'
	PATH=$BATS_TEST_TMPDIR/bin:$PATH run submit --distro-reason "$REASON" --to-stable 6.1 --newer-reason x --method b4 first second third
	fails_with 5 'this b4 has no "b4 send --output-dir"'
}

# by_b4 ARG...: the chain to 6.1, made by b4, and sent.
by_b4() {
	submit --distro-reason "$REASON" --to-stable 6.1 --newer-reason 'Said elsewhere.' --method b4 --send --yes "$@" first second third
}

@test "b4's mails, with a server that fails in the middle: the rest follows in the same thread" {
	need_b4
	server --fail-at 3
	chain
	run by_b4
	fails_with 6 "6.1.y/0002-sched-fair-Second-of-three.eml was not sent (see above), 2 mail(s) before it were"
	taken 2
	run by_b4
	fails_with 0 "2 mail(s) were sent before, 2 are left"
	taken 4
	[ "$(sed -n 's/^Subject: //p' "$BOX"/[1234].eml | grep -o '[0-3]/3' | paste -sd ' ')" = "0/3 1/3 2/3 3/3" ]
	id=$(sed -n 's/^Message-Id: //Ip' "$BOX/1.eml")
	[ "$(grep -ilF "In-Reply-To: $id" "$BOX"/[234].eml | wc -l)" -eq 3 ]
	[ "$(cut -f2 "$BATS_TEST_TMPDIR/out/sent.log")" = "$(sed -n 's/^Message-Id: //Ip' "$BOX"/[1234].eml)" ]
}

@test "where b4 signs it also sends, and a failure is told with what went before" {
	need_b4
	need_tool gpg gnupg
	/usr/bin/python3 -c 'import patatt' 2>/dev/null || skip "b4 cannot sign here; on Debian: apt-get install python3-patatt"
	server --fail-at 3
	chain
	gpg --batch --passphrase '' --quick-gen-key 'Kit Test <test@kit.invalid>' ed25519 sign never 2>/dev/null
	git config --global patatt.signingkey "openpgp:$(gpg --with-colons -K | awk -F: '$1 == "sec" { print $5; exit }')"
	run by_b4
	gpgconf --kill all
	fails_with 6 "b4 stopped in the series for 6.1; 2 mail(s) of it were on their way before"
	taken 2
	grep -qi '^X-Developer-Signature:' "$BOX/2.eml"
	[ "$(cut -f3 "$BATS_TEST_TMPDIR/out/sent.log" | grep -o '/000[0-9]' | paste -sd ' ')" = "/0000 /0001" ]
	run by_b4
	gpgconf --kill all
	fails_with 1 "cannot send the rest of one"
	taken 2
}
