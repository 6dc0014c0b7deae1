#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# submit.sh: what it writes for patches that stable takes.

setup() {
	load helpers
	load submit-helpers
}

@test "a commit that applies as it is to all four is asked for in one mail" {
	simple
	run submit --to-stable 6.1,6.6,6.12,6.18 one
	fails_with 0 "Please apply to 6.18.y, 6.12.y, 6.6.y, 6.1.y: sched/fair: Look at"
	[ "$(cat "$BATS_TEST_TMPDIR/out/order")" = request/0001-request.patch ]
	run mail_of request/*
	fails_with 0 "$FIX"
	fails_with 0 "in mainline since v6.19-rc1"
	[[ $output != *"diff --git"* && $output != *Kit-* ]]
}

@test "a chain goes out as a request where it applies, and as patches where not" {
	chain
	run submit --distro-reason "$REASON" --to-stable 6.6,6.1 --newer-reason 'The newer ones have another scheduler.' first second third
	fails_with 0 "The mails are in"
	run cat "$BATS_TEST_TMPDIR/out/order"
	[ "${lines[0]}" = request/0001-request.patch ]
	[ "${lines[1]}" = 6.1.y/0000-cover-letter.patch ]
	[ "${lines[4]}" = 6.1.y/0003-sched-fair-Third-of-three.patch ]
	[ ${#lines[@]} -eq 5 ]
	grep -q '^Subject: \[PATCH 6.1.y 0/3\] ' "$BATS_TEST_TMPDIR/out/6.1.y/0000-cover-letter.patch"
	grep -q '^Subject: \[PATCH 6.1.y 2/3\] sched/fair: Second of three$' "$BATS_TEST_TMPDIR"/out/6.1.y/0002-*
}

@test "trees that take other commits as they are get a request of their own" {
	simple
	text "sched/fair: Another"
	more=$(fix 7 "$BATS_TEST_TMPDIR/text")
	for lts in 6.1 6.6 6.12; do diff_of "$more" | queue_patch "$lts" two "$more" stable; done
	run submit --to-stable 6.18,6.12,6.1 --newer-reason 'It began with v6.18.' one two
	fails_with 0 "Please apply to 6.12.y, 6.1.y: 2 commits, sched/fair: Look at"
	[ "$(paste -sd ' ' "$BATS_TEST_TMPDIR/out/order")" = "request/0001-request.patch request-2/0001-request.patch" ]
}

@test "the reference line is stable's own, above upstream's text" {
	chain
	submit --distro-reason "$REASON" --to-stable 6.1 --newer-reason 'Said elsewhere.' first second third
	run sed -n '/^From: Vincent/,/^---$/p' "$BATS_TEST_TMPDIR"/out/6.1.y/0002-*
	[ "${lines[0]}" = "From: Vincent Second <second@author.invalid>" ]
	[ "${lines[1]}" = "commit $C2 upstream." ]
	[ "${lines[2]}" = "A group looks idle that is not." ]
	run ! grep -rq 'cherry picked from' "$BATS_TEST_TMPDIR/out"
}

@test "upstream's sign-offs stay in order, our note and the submitter's come last" {
	chain
	submit --distro-reason "$REASON" --to-stable 6.1 --newer-reason 'Said elsewhere.' first second third
	run sed -n '/^Reported-by/,/^---$/p' "$BATS_TEST_TMPDIR"/out/6.1.y/0002-*
	[ "${lines[1]}" = "Signed-off-by: Adam Author <adam@author.invalid>" ]
	[ "${lines[2]}" = "Signed-off-by: Mike Maintainer <mike@maintain.invalid>" ]
	[ "${lines[3]}" = "[ Kit Test: In 6.1 the name of the variable differs. ]" ]
	[ "${lines[4]}" = "Signed-off-by: Kit Test <test@kit.invalid>" ]
	[ "${lines[5]}" = --- ]
	# where upstream's diff is taken nothing was adapted
	run ! grep -q '^\[ Kit Test' "$BATS_TEST_TMPDIR"/out/6.1.y/0001-*
}

@test "our diff is used only where upstream's conflicts" {
	chain
	sed -i 's,step_2,&,; s, x \* 5 + 1;, x * 5 + 1; /* ours */,' "$KIT_QUEUE/patches/6.1/first.patch"
	submit --distro-reason "$REASON" --to-stable 6.1 --newer-reason 'Said elsewhere.' first second third
	run ! grep -q 'ours \*/' "$BATS_TEST_TMPDIR"/out/6.1.y/0001-*
	grep -q '^+.aa += x \* 8 + 1;' "$BATS_TEST_TMPDIR"/out/6.1.y/0002-*
}

@test "git am makes the trees, authors and messages of the mails again" {
	chain
	submit --distro-reason "$REASON" --to-stable 6.1 --newer-reason 'Said elsewhere.' first second third
	git -C "$STABLE" checkout -q linux-6.1.y
	git -C "$STABLE" am -q "$BATS_TEST_TMPDIR"/out/6.1.y/000[1-3]*
	run git -C "$STABLE" log --reverse --format='%an|%s' -3
	[ "${lines[1]}" = "Vincent Second|sched/fair: Second of three" ]
	sed -n '/step_5/,/^}/p' "$STABLE/kernel/sched/fair.c" | grep -q 'aa += x \* 8 + 1;'
}

@test "one patch has no cover letter, and what is said of it stands below the line" {
	chain
	submit --distro-reason "$REASON" --to-stable 6.1 --newer-reason 'Said elsewhere.' second
	[ "$(cat "$BATS_TEST_TMPDIR/out/order")" = 6.1.y/0001-sched-fair-Second-of-three.patch ]
	grep -q '^Subject: \[PATCH 6.1.y\] sched/fair: Second of three$' "$BATS_TEST_TMPDIR"/out/6.1.y/0001-*
	run sed -n '/^---$/,/^diff/p' "$BATS_TEST_TMPDIR"/out/6.1.y/0001-*
	fails_with 0 "https://bugs.distro.invalid/1234"
	fails_with 0 "Said elsewhere."
}

@test "the recipients are stable, the maintainers and all that the commit names, each once" {
	simple
	submit --to-stable 6.18 one
	run sed -n '/^To:/,/^Message-ID/p' "$BATS_TEST_TMPDIR/out/request/0001-request.patch"
	[ "$output" = "To: stable@vger.kernel.org
Cc: \"Ingo O. Fair\" <fair@sched.invalid>,
	linux-kernel@vger.kernel.invalid,
	Adam Author <adam@author.invalid>,
	Rita Reporter <rita@report.invalid>,
	Mike Maintainer <mike@maintain.invalid>
$(grep ^Message-ID "$BATS_TEST_TMPDIR/out/request/0001-request.patch")" ]
}

@test "the patches of a series answer its cover letter" {
	chain
	submit --distro-reason "$REASON" --to-stable 6.1 --newer-reason 'Said elsewhere.' first second third
	id=$(sed -n 's/^Message-ID: //p' "$BATS_TEST_TMPDIR/out/6.1.y/0000-cover-letter.patch")
	[ "$(grep -lF "In-Reply-To: $id" "$BATS_TEST_TMPDIR"/out/6.1.y/* | wc -l)" -eq 3 ]
	[ "$(cat "$BATS_TEST_TMPDIR"/out/6.1.y/* | grep -c ^Message-ID)" -eq 4 ]
}

@test "nothing is written to the user's clones" {
	chain
	a=$(tree_sum "$MAINLINE") b=$(tree_sum "$STABLE")
	submit --distro-reason "$REASON" --to-stable 6.6,6.1 --newer-reason 'Said elsewhere.' first second third
	[ "$a" = "$(tree_sum "$MAINLINE")" ]
	[ "$b" = "$(tree_sum "$STABLE")" ]
	[ -z "$(find "$BATS_TEST_TMPDIR" -maxdepth 1 -name 'kit-*')" ]
}

@test "the summary says what the bots of stable look at" {
	chain
	run submit --distro-reason "$REASON" --to-stable 6.6,6.1 --newer-reason 'Said elsewhere.' first second third
	fails_with 0 "ours, for upstream's conflicts with 6.1"
	fails_with 0 "6.6.y: is sent along (${C1:0:12}, ${C2:0:12}, ${C3:0:12})"
	fails_with 0 "git am on 6.1.10: the same trees, authors and messages"
	fails_with 0 "builds         nobody has tried: --build compiles it"
	fails_with 0 "follow-ups   none that is missing"
	cmp <(printf '%s\n' "$output" | sed '/^$/,$d' | head -n 3) <(head -n 3 "$BATS_TEST_TMPDIR/out/summary.txt")
}

@test "a second run replaces the folder, but not one of somebody else" {
	simple
	submit --to-stable 6.18 one
	touch "$BATS_TEST_TMPDIR/out/request/old"
	submit --to-stable 6.18 one
	[ ! -e "$BATS_TEST_TMPDIR/out/request/old" ]
	rm -r "$BATS_TEST_TMPDIR/out"
	mkdir "$BATS_TEST_TMPDIR/out"
	echo mine >"$BATS_TEST_TMPDIR/out/mine"
	run submit --to-stable 6.18 one
	fails_with 2 "was not written by submit.sh"
	[ "$(cat "$BATS_TEST_TMPDIR/out/mine")" = mine ]
}
