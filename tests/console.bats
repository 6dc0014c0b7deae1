#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# kit-console: what it finds in real consoles of healthy and of failing guests
# (tests/golden/), and in consoles that were tampered with.

load helpers
load lab-helpers
load console-helpers

@test "the console of a clean boot has no problem, and all records" {
	golden clean
	grep -qx 'exit 0' "$GOLDEN/clean.expect"
	jq -e '.ended and ([.records[] | select(.type == "node")] | length) == 4 and
		(.records[0] | .type == "hello" and .fields.nonce == "golden-clean")' json
}

@test "text that only looks like a warning is none" {
	golden lines
	grep -q 'WARNING: this text' "$GOLDEN/lines.txt"
	grep -qx 'exit 0' "$GOLDEN/lines.expect"
}

@test "a kernel panic is found at its line, and no end marker makes up for it" {
	golden panic
	at panic panic 'Kernel panic - not syncing'
}

@test "an oops is found although the guest went on to its end marker" {
	golden oops
	at oops oops 'Unable to handle kernel NULL pointer'
	grep -q 'end nonce=golden-oops' "$GOLDEN/oops.txt"
}

@test "a BUG() is found at its line" {
	golden bug
	at bug oops 'Kernel BUG at'
	at bug warn 'cut here'
}

@test "a WARN is found although the guest went on to its end marker" {
	golden warn
	at warn warn 'WARNING: CPU: '
	grep -q 'end nonce=golden-warn' "$GOLDEN/warn.txt"
}

@test "a hung task is found at its line" {
	golden hung
	at hung hung 'blocked for more than'
}

@test "a guest that hangs has no end marker, and its last line is shown" {
	golden hang
	grep -q '^no-end ' "$GOLDEN/hang.expect"
	has "the end marker is missing; last line: @lab 8 program name=fault"
}

@test "a console that was cut off between two lines has no end marker" {
	golden truncated
	grep -q '^no-end ' "$GOLDEN/truncated.expect"
}

@test "a console that was cut off inside of a record has a record too few" {
	golden cut
	at cut garbled '@lab 4 node id=0'
	at cut no-end '@lab 4 node id=0'
}

@test "a console that ends before init names the last line" {
	golden early
	grep -q '^no-init ' "$GOLDEN/early.expect"
	has "the guest's init never spoke; last line: ["
}

@test "a silent guest is called silent" {
	golden silent
	grep -qx 'silent 0' "$GOLDEN/silent.expect"
	has "the console is empty"
}

@test "each golden console is used by a test" {
	cd "$GOLDEN"
	for f in *.txt; do
		grep -q "golden ${f%.txt}\$" "$BATS_TEST_FILENAME" || { echo "$f"; false; }
		[ -f "${f%.txt}.expect" ]
	done
}

@test "the golden consoles tell nothing of the machine that they were recorded on" {
	run grep -nE '/(root|home|tmp|work|usr|var)/' "$GOLDEN"/*.txt
	code 1
}

@test "the recorder of golden consoles refuses what it cannot boot, and keeps the old ones" {
	local before
	before=$(tree_sum "$GOLDEN")
	run "$KIT/tests/golden/record.sh"
	fails_with 2 "give the image of an arm64 kernel"
	run "$KIT/tests/golden/record.sh" missing-image
	fails_with 2 "give the image of an arm64 kernel"
	run "$KIT/tests/golden/record.sh" con nosuch
	fails_with 2 "no console named nosuch; there is: clean lines panic"
	run "$KIT/tests/golden/record.sh" --what con
	fails_with 2 "unknown option --what"
	[ "$(tree_sum "$GOLDEN")" = "$before" ]
}

@test "a problem is one line on stderr with file and line" {
	edit '3a [    0.000000] Kernel panic - not syncing: test'
	console
	finds "panic 4"
	[ "$output" = "con:4: panic: [    0.000000] Kernel panic - not syncing: test" ]
}

@test "another nonce than the guest was given is an error that names both" {
	run "$KIT_BIN/kit-console" --nonce 4711 con
	code 4
	has "the guest says nonce golden-clean, but was given 4711"
}

@test "a nonce that merely begins with the right one is wrong" {
	run "$KIT_BIN/kit-console" --nonce golden-clea con
	code 4
	edit 's/end nonce=golden-clean/end nonce=golden-clean2/'
	console
	finds "nonce $(line_of 'end nonce=')"
	jq -e '.ended == false' json
}

@test "an end marker without the guest's first record is no clean boot" {
	edit '/@lab 1 hello/s/ hello / other /'
	console
	finds "no-init $(line_of ' end nonce=')"
}

@test "a record without a nonce does not count as the end" {
	edit 's/end nonce=golden-clean/end/'
	console
	finds "nonce $(line_of ' end')"
	has "the guest says nonce (none)"
}

@test "two runs' consoles in one file are noticed, one after the other" {
	cat "$GOLDEN/clean.txt" >>con
	console
	finds "mixed $(($(line_of '@lab 1 hello' "$GOLDEN/clean.txt") + $(wc -l <"$GOLDEN/clean.txt")))"
}

@test "two runs' consoles in one file are noticed, line by line" {
	paste -d '\n' "$GOLDEN/clean.txt" "$GOLDEN/oops.txt" >con
	console
	code 4
	[[ $(problems) == *mixed* ]] && [[ $(problems) == *garbled* ]]
}

@test "a lost record is one problem, at the record behind it" {
	edit '/@lab 5 node id=1/d'
	console
	finds "garbled $(line_of '@lab 6 ')"
	has "record 5 expected"
}

@test "a record that comes twice is noticed" {
	edit '/@lab 5 node id=1/p'
	console
	[[ $(problems) == *"garbled $(($(line_of '@lab 5 ') + 1))"* ]]
	code 4
}

@test "a kernel message inside of a record is noticed" {
	edit 's/@lab 5 node id=1 cpus=4-7/@lab 5 node id=1 c[    0.012345] random: fast init done\n&/; s/\(done\n\)@lab 5 node id=1 /\1/'
	console
	[[ $(problems) == *"garbled $(line_of '@lab 5 ')"* ]]
	has "something was printed into a record"
	code 4
}

@test "a panic that is printed into a record is still a panic" {
	edit 's/\(@lab 5 node id=1 c\).*/\1[    0.012345] Kernel panic - not syncing: test/'
	console
	[[ $(problems) == *"panic $(line_of '@lab 5 ')"* ]]
	code 4
}

@test "a record that begins inside of a kernel message is noticed" {
	edit 's/^@lab 5 /[    0.012345] random: @lab 5 /'
	console
	[[ $(problems) == *"garbled $(line_of '@lab 5 ')"* ]]
	code 4
}

@test "a word in a record that is no key=value is noticed" {
	edit 's/^@lab 5 node id=1/@lab 5 node id1/'
	console
	finds "garbled $(line_of '@lab 5 ')"
	has "this is no record: node id1"
}

@test "a record without a number is noticed" {
	edit 's/^@lab 5 node/@lab five node/'
	console
	[[ $(problems) == "garbled $(line_of '@lab five')"* ]]
	code 4
}

@test "the guest's own error is shown" {
	edit 's/^@lab 5 .*/@lab 5 error text=sched_setaffinity: Invalid argument = 22/'
	console
	finds "guest $(line_of '@lab 5 ')"
	has "guest: sched_setaffinity: Invalid argument = 22"
}

@test "a record that was too long for the guest is noticed" {
	edit 's/^@lab 5 .*/@lab 5 cut/'
	console
	finds "garbled $(line_of '@lab 5 ')"
	has "too long for the guest"
}

@test "trouble behind the end marker counts" {
	printf '[    9.000000] WARNING: CPU: 0 PID: 1 at kernel/reboot.c:1 x+0x0/0x1\r\n' >>con
	console
	finds "warn $(wc -l <con)"
}

# Case 20 of the failures: the machine asked for is not the one that came up.

@test "lines that end in LF and lines that end in CR LF read the same" {
	tr -d '\r' <con >lf && mv lf con
	console
	code 0
	jq .records json >one
	sed -i 's/$/\r/' con
	console
	code 0
	jq .records json | cmp - one
}

@test "text behind a lone carriage return is read" {
	edit 's/^@lab 5 /progress 50 %\r[    1.000000] Kernel panic - not syncing: hidden\r\n&/'
	console
	finds "panic $(line_of 'hidden')"
}

@test "NUL bytes hide nothing that follows" {
	{ printf '\0\0\0\n'; cat con; printf '\0[    1.000000] WARNING: no\n[    1.000000] WARNING: CPU: 0\n'; } >nul && mv nul con
	console
	finds "warn $(($(wc -l <con)))"
}

@test "bytes that are no UTF-8 leave the output valid JSON" {
	printf '[    1.000000] WARNING: CPU: 0 \xff\xfe\n' >>con
	edit 's/^@lab 5 node id=1/@lab 5 node id=1\xff/'
	console
	finds "garbled $(line_of '@lab 5 ')
warn $(wc -l <con)"
	jq -e '(.records | length) == 12 and (.problems[0].text | contains("id=1?"))' json
	edit 's/^@lab 5 node/@lab 5 no\xffde/'
	console
	jq -e '.records[4].type == "no?de"' json
}

@test "an empty console is silent, and one of blank lines too" {
	: >con
	console
	finds "silent 0"
	printf '\r\n\n \n' >con
	console
	finds "silent 0"
}

@test "a console of 64 MiB is read within a minute" {
	# Doubled until it is long enough; the line feed keeps the lines apart.
	{ cat "$GOLDEN/early.txt"; echo; } >con
	while [ "$(stat -c %s con)" -lt $((64 << 20)) ]; do cat con con >twice && mv twice con; done
	cat "$GOLDEN/clean.txt" >>con
	run timeout 60 "$KIT_BIN/kit-console" --nonce golden-clean con
	code 0
}

@test "a line of many megabytes is read" {
	head -c 20000000 /dev/zero | tr '\0' '[' >>con
	run timeout 60 bash -c '"$KIT_BIN/kit-console" --nonce golden-clean con >json'
	code 0
}

@test "a console that cannot be read is not the guest's fault" {
	run "$KIT_BIN/kit-console" --nonce x missing
	fails_with 6 "missing: No such file"
	run "$KIT_BIN/kit-console" --nonce x .
	fails_with 6 "Is a directory"
}

@test "wrong arguments give one line and exit code 2" {
	for args in "" "con" "--nonce x" "--nonce x con con" "--nonce x --other con" "--nonce"; do
		# shellcheck disable=SC2086
		run "$KIT_BIN/kit-console" $args
		fails_with 2 "usage: kit-console"
		[ "${#lines[@]}" -eq 1 ]
	done
	run "$KIT_BIN/kit-console" --nonce golden-clean --topology missing.topo con
	code 2
}

@test "a full disk is not taken for success" {
	[ -e /dev/full ] || skip "no /dev/full here"
	run bash -c '"$KIT_BIN/kit-console" --nonce golden-clean con 2>&1 >/dev/full'
	code 6
}
