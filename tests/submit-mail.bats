#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# submit.sh: names, subjects and changelogs that mail is not kind to. Each mail is
# applied with plain git am to the branch of the stable clone.

setup() {
	load helpers
	load submit-helpers
}

# conflicting LINE...: mainline's commit with this changelog (first line: subject)
# conflicts in 6.1, so that it goes out as a patch. By AUTHOR and MAIL if set.
conflicting() {
	play 's,int a = 5;,int aa = 5;,; s,a += x \* 8;,aa += x * 8;,; s,a -= x / 12;,aa -= x / 12;,'
	text "$@"
	[ -z "${EXTRA-}" ] || printf '%s\n' "$EXTRA" >>"$BATS_TEST_TMPDIR/text"
	FIX=$(fix 5 "$BATS_TEST_TMPDIR/text" "${AUTHOR:-Adam Author}" adam@author.invalid)
	queue_for 6.1
	diff_of "$FIX" | sed 's,\ba\b\( [-+*/]\?=\),aa\1,' | queue_patch 6.1 one "$FIX" stable
}

# sent_and_applied: the only mail of 6.1.y, in $M; git am takes it.
sent_and_applied() {
	submit --to-stable 6.1 --newer-reason 'Said elsewhere.' one 2>"$BATS_TEST_TMPDIR/said"
	M=$(echo "$BATS_TEST_TMPDIR"/out/6.1.y/0001-*)
	git -C "$STABLE" checkout -q linux-6.1.y
	git -C "$STABLE" am -q "$M"
	git -C "$STABLE" log -1 --format=%B >"$BATS_TEST_TMPDIR/applied"
}

@test "names with letters that are not ASCII survive, in From: and in sign-offs" {
	AUTHOR='Jürgen Müßig' EXTRA='Signed-off-by: Łukasz Ąćki <lukasz@maintain.invalid>' conflicting "sched/fair: Look again"
	export GIT_COMMITTER_NAME='Zoë Submitter' GIT_COMMITTER_EMAIL=zoe@submit.invalid
	sent_and_applied
	[ "$(git -C "$STABLE" log -1 --format=%an)" = 'Jürgen Müßig' ]
	grep -q '^Signed-off-by: Łukasz Ąćki <lukasz@maintain.invalid>$' "$BATS_TEST_TMPDIR/applied"
	[ "$(tail -n 2 "$BATS_TEST_TMPDIR/applied" | head -n 1)" = 'Signed-off-by: Zoë Submitter <zoe@submit.invalid>' ]
	# headers are ASCII
	run ! grep -nP '[^\x00-\x7F]' <(sed '/^$/q' "$M")
	grep -q '^Content-Type: text/plain; charset=UTF-8$' "$M"
	grep -q '=?UTF-8?' <(sed -n '/^Cc:/,/^Message-ID/p' "$M")
}

@test "a commit in another encoding goes out in UTF-8" {
	play 's,int a = 5;,int aa = 5;,; s,a += x \* 8;,aa += x * 8;,; s,a -= x / 12;,aa -= x / 12;,'
	text "sched/fair: Grüße"
	iconv -f UTF-8 -t ISO-8859-1 <"$BATS_TEST_TMPDIR/text" >"$BATS_TEST_TMPDIR/latin"
	git -C "$MAINLINE" config i18n.commitEncoding ISO-8859-1
	FIX=$(fix 5 "$BATS_TEST_TMPDIR/latin" "$(iconv -f UTF-8 -t ISO-8859-1 <<<'Jürgen')" j@author.invalid)
	queue_for 6.1
	diff_of "$FIX" | sed 's,\ba\b\( [-+*/]\?=\),aa\1,' | queue_patch 6.1 one "$FIX" stable
	sent_and_applied
	[ "$(head -n 1 "$BATS_TEST_TMPDIR/applied")" = 'sched/fair: Grüße' ]
	[ "$(git -C "$STABLE" log -1 --format=%an)" = 'Jürgen' ]
}

@test "a subject of more than 75 characters stays whole" {
	long="sched/fair: Fix unfairness caused by a stalled contribution when the last task of a group migrates out of it"
	conflicting "$long"
	sent_and_applied
	[ "$(head -n 1 "$BATS_TEST_TMPDIR/applied")" = "$long" ]
}

@test "a subject that begins with brackets stays whole" {
	conflicting "[media] sched/fair: Look again"
	sed -i 's/^Subject: .media. /Subject: /' "$KIT_QUEUE/patches/6.1/one.patch"
	submit --to-stable 6.1 --newer-reason 'Said elsewhere.' one
	grep -qF 'Subject: [PATCH 6.1.y] [media] sched/fair: Look again' "$BATS_TEST_TMPDIR"/out/6.1.y/0001-*
}

@test "lines of a changelog that look like a diff or a separator do not end it" {
	conflicting "sched/fair: Look again" "It was seen in this change:" "" "diff --git a/x b/x" "--- a/x" "+++ b/x" "@@ -1 +1 @@" "-a" "+b" "" "Index: x" "---" "All of this is text."
	sent_and_applied
	grep -q '^All of this is text.$' "$BATS_TEST_TMPDIR/applied"
	grep -q '^  diff --git a/x b/x$' "$BATS_TEST_TMPDIR/applied"
	grep -q '^  ---$' "$BATS_TEST_TMPDIR/applied"
	grep -q 'line "---" of the changelog would not survive as mail' "$BATS_TEST_TMPDIR/said"
	[ "$(git -C "$STABLE" diff --stat HEAD^ | tail -n 1)" = " 1 file changed, 1 insertion(+), 1 deletion(-)" ]
}

@test "a line that begins with From does not start another mail" {
	conflicting "sched/fair: Look again" "It says:" "" "From a Mon Sep 17 00:00:00 2001" "From here on it is slow."
	sent_and_applied
	grep -q '^  From a Mon Sep 17' "$BATS_TEST_TMPDIR/applied"
	[ "$(grep -c '^From ' "$M")" -eq 1 ]
}

@test "CRLF in a changelog and in the reason becomes plain line ends" {
	# shellcheck disable=SC2034 # for submit-helpers
	CLASS=distro
	conflicting $'sched/fair: Look again\r' $'It looks idle.\r' $'\r' $'It is not.\r'
	sed -i 's/^Kit-Class: .*/Kit-Class: distro/' "$KIT_QUEUE/patches/6.1/one.patch"
	sed -i /^one/d "$KIT_QUEUE/series/6.1.stable"
	printf 'Link: https://bugs.distro.invalid/7\r\n\r\nA third of the throughput is lost on two sockets.\r\n' >"$BATS_TEST_TMPDIR/reason"
	submit --to-stable 6.1 --newer-reason 'Said elsewhere.' --distro-reason "$BATS_TEST_TMPDIR/reason" one
	run ! grep -rq $'\r' "$BATS_TEST_TMPDIR/out"
	grep -q '^It looks idle.$' "$BATS_TEST_TMPDIR"/out/6.1.y/0001-*
}

@test "changed lines that end in CR are refused, for mail would lose them" {
	play 's,int a = 5;,int aa = 5;,'
	sed -i 's/int a = 9;/int a = 99;\r/' "$MAINLINE/kernel/sched/fair.c"
	text "sched/fair: With CR"
	git -C "$MAINLINE" commit -qaF "$BATS_TEST_TMPDIR/text"
	cr=$(git -C "$MAINLINE" rev-parse HEAD)
	queue_for 6.18
	diff_of "$cr" | tr -d '\r' | queue_patch 6.18 one "$cr" stable
	run submit --to-stable 6.18 one
	fails_with 1 "changes lines that end in CR, which a mail loses"
	[ ! -e "$BATS_TEST_TMPDIR/out" ]
}

@test "a line that SMTP does not carry is refused" {
	conflicting "sched/fair: Look again" "$(printf 'x%.0s' {1..1200})"
	run submit --to-stable 6.1 --newer-reason 'Said elsewhere.' one
	fails_with 1 "more than 998 characters"
}

@test "tabs and blanks of the diff arrive as they left" {
	conflicting "sched/fair: Look again"
	sent_and_applied
	grep -q $'^+\taa += x \\* 8 + 1;$' "$M"
}

@test "mails that git am would read in another way are not written" {
	conflicting "sched/fair: Look again"
	mkdir "$BATS_TEST_TMPDIR/bin"
	# a git that wraps mail as a bad mail program would
	cat >"$BATS_TEST_TMPDIR/bin/git" <<-'STUB'
		#!/bin/bash
		case " $* " in
		*" format-patch "*) "$REAL_GIT" "$@" && for f in "$WRAP"/kit-submit.*/mail/6.1.y/0001-*; do [ ! -f "$f" ] || sed -i 's/^\([ +-]\)\t/\1        /' "$f"; done ;;
		*) exec "$REAL_GIT" "$@" ;;
		esac
	STUB
	chmod +x "$BATS_TEST_TMPDIR/bin/git"
	export REAL_GIT WRAP=$BATS_TEST_TMPDIR
	REAL_GIT=$(command -v git)
	PATH=$BATS_TEST_TMPDIR/bin:$PATH run submit --to-stable 6.1 --newer-reason 'Said elsewhere.' one
	fails_with 1 "git am does not take the mails for 6.1 as they would be sent"
	[ ! -e "$BATS_TEST_TMPDIR/out" ]
}
