#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# submit.sh: what must not go to stable, clones that do not do, and evidence that
# is none.
# shellcheck disable=SC2030,SC2031 # each test is a subshell, and shall be

setup() {
	load helpers
	load submit-helpers
}

# refused CODE TEXT ARG...: submit does so, and writes nothing.
refused() {
	local code=$1 text=$2
	shift 2
	run submit "$@"
	fails_with "$code" "$text"
	[ "$(printf '%s\n' "$output" | grep -vc 'in its queue; nothing of it')" -eq 1 ]
	[ ! -e "$BATS_TEST_TMPDIR/out" ]
}

@test "an experimental patch is refused, with the reason" {
	CLASS=experimental simple
	refused 1 "one.patch was never merged in mainline (class experimental)" --to-stable 6.18 one
}

@test "a fix that the tree has is refused, naming the release" {
	simple
	git -C "$STABLE" checkout -q linux-6.12.y
	git -C "$STABLE" fetch -q origin
	git -C "$STABLE" cherry-pick -n "$FIX"
	git -C "$STABLE" commit -qm "sched/fair: Look at the allowed CPUs only

commit $FIX upstream."
	stable_release 6.12 6.12.11
	stable_release 6.12 6.12.12
	refused 1 "one.patch is in 6.12 already, since 6.12.11 (the tree is 6.12.12)" --to-stable 6.18,6.12 one
}

@test "a fix that is in the files but not in the history is refused too" {
	simple
	git -C "$STABLE" checkout -q linux-6.18.y
	git -C "$STABLE" fetch -q origin
	git -C "$STABLE" cherry-pick -n "$FIX"
	git -C "$STABLE" commit -qm "Put in by hand"
	refused 1 "one.patch is already in the 6.18 tree at hand (6.18.10)" --to-stable 6.18 one
}

@test "a patch of class landed is refused, naming the release" {
	simple
	sed -i 's/^Kit-Class: .*/Kit-Class: landed/; s/^Kit-First-Release: .*/Kit-First-Release: 6.18.3/' "$KIT_QUEUE/patches/6.18/one.patch"
	sed -i '/^one/d' "$KIT_QUEUE"/series/6.18.*
	echo one.patch >>"$KIT_QUEUE/series/6.18.landed"
	refused 1 "one.patch is in 6.18 already, since 6.18.3" --to-stable 6.18 one
}

@test "an older tree is refused before a newer one, unless a reason is given" {
	simple
	refused 1 "6.18.y: ${FIX:0:12} lacks it, and a fix for 6.12 goes to the newer trees first" --to-stable 6.6,6.12 one
	run submit --to-stable 6.6,6.12 --newer-reason 'Sent as 20261130.1@kit.invalid to 6.18.y.' one
	fails_with 0 "6.18.y: ${FIX:0:12} lacks it"
	grep -q 'Sent as 20261130.1@kit.invalid' "$BATS_TEST_TMPDIR/out/request/0001-request.patch"
}

@test "a newer tree that has the fix by its history is no hindrance" {
	simple
	git -C "$STABLE" checkout -q linux-6.18.y
	git -C "$STABLE" fetch -q origin
	git -C "$STABLE" cherry-pick -n "$FIX"
	git -C "$STABLE" commit -qm "sched/fair: Look at the allowed CPUs only

[ Upstream commit $FIX ]"
	stable_release 6.18 6.18.11
	run submit --to-stable 6.12 one
	fails_with 0 "6.18.y: ${FIX:0:12} has it since 6.18.11"
}

@test "a fix of the fix in mainline must go along, unless a reason is given" {
	simple
	text "sched/fair: Repair the look" "It looked too long." "" "Fixes: ${FIX:0:12} (\"sched/fair: Look at the allowed CPUs only\")"
	more=$(fix 7 "$BATS_TEST_TMPDIR/text")
	refused 1 "mainline has ${more:0:12} (\"sched/fair: Repair the look\"), which repairs or reverts ${FIX:0:12}" --to-stable 6.18 one
	run submit --to-stable 6.18 --followup-reason 'It repairs what 6.18 has not.' one
	fails_with 0 "follow-ups   ${more:0:12}"
	grep -q 'It repairs what 6.18 has not.' "$BATS_TEST_TMPDIR/out/request/0001-request.patch"
	diff_of "$more" | queue_patch 6.18 two "$more" stable
	run submit --to-stable 6.18 one two
	fails_with 0 "follow-ups   none that is missing"
}

@test "a revert in mainline is a follow-up" {
	simple
	git -C "$MAINLINE" revert --no-edit "$FIX" >/dev/null
	refused 1 "Revert" --to-stable 6.18 one
}

@test "a performance fix needs the report of a user, with a link and what the user sees" {
	CLASS=distro simple
	reason=$BATS_TEST_TMPDIR/reason
	refused 1 "give --distro-reason FILE" --to-stable 6.18 one
	echo 'A third of the throughput is lost on machines with two sockets.' >"$reason"
	refused 1 "has no link to the report" --to-stable 6.18 --distro-reason "$reason" one
	echo 'Link: https://bugs.distro.invalid/1' >"$reason"
	refused 1 "does not say what the user sees" --to-stable 6.18 --distro-reason "$reason" one
	echo 'A third of the throughput is lost on machines with two sockets.' >>"$reason"
	run submit --to-stable 6.18 --distro-reason "$reason" one
	fails_with 0 "The mails are in"
	grep -q 'third of the throughput' "$BATS_TEST_TMPDIR/out/request/0001-request.patch"
}

@test "more than 100 lines with context are refused" {
	play
	sed -i 's/int a = [0-9]*;/&\n\tint b = 0;/; s/return a;/return a + b;/' "$MAINLINE/kernel/sched/fair.c"
	text "sched/fair: Big"
	git -C "$MAINLINE" commit -qaF "$BATS_TEST_TMPDIR/text"
	queue_for 6.18
	big=$(git -C "$MAINLINE" rev-parse HEAD)
	diff_of "$big" | queue_patch 6.18 big "$big" stable
	refused 1 "stable takes no more than 100" --to-stable 6.18 big
}

@test "a shallow clone of mainline is refused" {
	simple
	git clone -q --depth 1 "file://$MAINLINE" "$BATS_TEST_TMPDIR/shallow"
	MAINLINE=$BATS_TEST_TMPDIR/shallow
	refused 7 "is a shallow clone" --to-stable 6.18 one
}

@test "a clone of mainline that is too old is told from a wrong commit id" {
	simple
	git clone -q --branch v6.12 --single-branch "file://$MAINLINE" "$BATS_TEST_TMPDIR/old" 2>/dev/null
	git -C "$BATS_TEST_TMPDIR/old" tag -d v6.18 v6.19-rc1 >/dev/null 2>&1 || :
	real=$MAINLINE MAINLINE=$BATS_TEST_TMPDIR/old
	refused 7 "is too old: it ends at v6.12, and one.patch came with v6.19-rc1" --to-stable 6.18 one
	MAINLINE=$real
	sed -i 's/[0-9a-f]\{40\}/1234567890123456789012345678901234567890/' "$KIT_QUEUE/patches/6.18/one.patch"
	refused 7 "there is no commit 1234567890123456789012345678901234567890 in" --to-stable 6.18 one
}

@test "a commit that is only on a branch is not in mainline" {
	simple
	git -C "$MAINLINE" branch topic
	git -C "$MAINLINE" reset -q --hard v6.18
	refused 7 "but not in mainline there" --to-stable 6.18 one
}

@test "nobody's sign-off is made up" {
	simple
	unset GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL
	refused 2 "git does not know who signs off and sends; say it: git config --global user.name" --to-stable 6.18 one
	git config --global user.name 'Suse Submitter'
	refused 2 "git does not know who signs off and sends" --to-stable 6.18 one
}

@test "the sign-off is that of git config" {
	chain
	unset GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL
	git config --global user.name 'Suse Submitter'
	git config --global user.email suse@submit.invalid
	submit --distro-reason "$REASON" --to-stable 6.1 --newer-reason 'Said elsewhere.' second
	run sed -n '/^---$/q; p' "$BATS_TEST_TMPDIR"/out/6.1.y/0001-*
	[ "${lines[-1]}" = "Signed-off-by: Suse Submitter <suse@submit.invalid>" ]
	[ "${lines[1]}" = "From: Suse Submitter <suse@submit.invalid>" ]
}

# results LTS OK NAMED [SUM]: a results folder of verify-build.sh, in $R.
results() {
	R=$BATS_TEST_TMPDIR/results
	mkdir -p "$R"
	jq -n --arg lts "$1" --argjson ok "$2" --arg named "$3.patch" --arg key "$3" \
		--arg sum "${4:-$(sha256sum <"$KIT_QUEUE/patches/$1/$3.patch" | cut -d' ' -f1)}" \
		'{ok: $ok, lts: $lts, version: ($lts + ".10"), arch: "arm64", accel: "tcg", topology: "pair", scenario: "affinity-fork",
		  named_patches: $named, patch_sha256: {($key): $sum},
		  checks: [{check: "patched median of used is at least 97 %: 100.02", ok: $ok}],
		  metrics: {used: {unit: "%", base: {median: 22.23, samples: 60}, patched: {median: 100.02, samples: 60}, noise: 0.01, outcome: "improved"}}}' \
		>"$R/results.json"
}

@test "evidence of another LTS, of another patch, of an older patch or of a failed run is refused" {
	simple
	diff_of "$FIX" | queue_patch 6.18 other "$FIX" stable
	refused 2 "holds no results of verify-build.sh" --to-stable 6.18 --results "$BATS_TEST_TMPDIR" one
	results 6.12 true one
	refused 1 "are of 6.12, which this does not go to (6.18)" --to-stable 6.18 --results "$R" one
	results 6.18 true other
	refused 1 "are about other, and not only what is sent" --to-stable 6.18 --results "$R" one
	results 6.18 false one
	refused 1 "are of a run that failed: patched median of used" --to-stable 6.18 --results "$R" one
	results 6.18 true one 1234
	refused 1 "is not what was measured" --to-stable 6.18 --results "$R" one
}

@test "evidence that fits is in the mail, with machine and figures" {
	simple
	results 6.18 true one
	run submit --to-stable 6.18 --results "$R" one
	fails_with 0 "boots          6.18.10 arm64"
	run mail_of request/*
	fails_with 0 "used: 22.23 -> 100.02 %  (medians of 60 and 60; noise 0.01; improved)"
	fails_with 0 'emulated machine "pair"'
	[[ $output != *"own backport"* ]]
}

@test "where what was measured is not what is sent, the mail and the summary say so" {
	simple
	sed -i 's,^+\(.*\) + 1;$,+\1 + 1 + 0;,' "$KIT_QUEUE/patches/6.18/one.patch"
	results 6.18 true one
	run submit --to-stable 6.18 --results "$R" one
	fails_with 0 "boots          6.18.10 arm64 with the kit's own backport, which is not what is sent"
	run mail_of request/*
	fails_with 0 "Measured was the kit's own backport of the same change"
}

@test "an error of checkpatch that upstream's change does not have is refused, a warning is shown" {
	chain
	sed -i 's,^+\(.*\)aa += x \* 8 + 1;,+\1aa += x * 8 + 1; /* ugly_warning */,' "$KIT_QUEUE/patches/6.1/second.patch"
	run submit --distro-reason "$REASON" --to-stable 6.1 --newer-reason 'Said elsewhere.' second
	fails_with 0 "checkpatch: 0001-sched-fair-Second-of-three.patch: WARNING"
	rm -r "$BATS_TEST_TMPDIR/out"
	sed -i s,ugly_warning,ugly_error, "$KIT_QUEUE/patches/6.1/second.patch"
	refused 1 "checkpatch.pl of 6.1 on 0001-sched-fair-Second-of-three.patch: ERROR" --distro-reason "$REASON" --to-stable 6.1 --newer-reason 'Said elsewhere.' second
}

@test "our diff without a word on what was adapted is refused" {
	chain
	sed -i '/^In 6.1/d' "$KIT_QUEUE/patches/6.1/second.patch"
	refused 1 "does not say what was adapted" --distro-reason "$REASON" --to-stable 6.1 --newer-reason 'Said elsewhere.' second
}

@test "a patch does not go without those it needs" {
	chain
	sed -i 's/^Kit-Class: .*/&\nKit-Needs: third.patch/' "$KIT_QUEUE/patches/6.1/first.patch"
	refused 1 "must not be in a tree without third" --distro-reason "$REASON" --to-stable 6.1 --newer-reason 'Said elsewhere.' first second
}

@test "a patch that the queue does not have is no patch" {
	simple
	run submit --to-stable 6.18 nosuch
	fails_with 2 'no patch "nosuch" in the queue of 6.18'
	[ ! -e "$BATS_TEST_TMPDIR/out" ]
}
