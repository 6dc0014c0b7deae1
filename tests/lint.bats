#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# lint.sh and kit-queue lint: every rule finds its fault, and only that.

load helpers
load queue-helpers

setup() {
	need_tool quilt quilt
	three_patches
	P=$KIT_QUEUE/patches/6.12/one.patch
	S=$KIT_QUEUE/series/6.12.stable
}

# finds FILE:LINE TEXT: the lint leaves with 1 and has just this one finding.
finds() {
	run "$LINT"
	fails_with 1 "$1: "
	fails_with 1 "$2"
	[ "${#lines[@]}" -eq 1 ] || { printf 'more than one finding:\n%s\n' "$output"; return 1; }
}

# also_finds FILE:LINE TEXT: the same, where one fault breaks several rules.
also_finds() {
	run "$LINT"
	fails_with 1 "$1: $2"
}

@test "a sound queue passes, silently" {
	run "$LINT"
	[ "$status" -eq 0 ]
	[ -z "$output" ]
	run "$LINT" 6.12
	[ "$status" -eq 0 ]
}

@test "the kit's own queues pass" {
	unset KIT_QUEUE
	run "$LINT"
	[ "$status" -eq 0 ]
	[ -z "$output" ]
}

@test "an unknown longterm kernel is a usage error" {
	run "$LINT" 5.4
	fails_with 2 'no queue for "5.4"'
	KIT_QUEUE=$BATS_TEST_TMPDIR/none run "$LINT"
	fails_with 2 "$BATS_TEST_TMPDIR/none is no queue"
	KIT_QUEUE=$BATS_TEST_TMPDIR/none run "$APPLY" 6.12 "$T"
	fails_with 2 "$BATS_TEST_TMPDIR/none is no queue"
}

@test "a header that lacks a mail header is found" {
	for name in From Date Subject; do
		three_patches
		sed -i "/^$name: /d" "$P"
		also_finds patches/6.12/one.patch:1 "no \"$name:\" line"
	done
}

@test "a tag that is missing, malformed, doubled or unknown is found" {
	for name in Upstream-Commit Mainline-Version First-Release; do
		three_patches
		sed -i "/^Kit-$name: /d" "$P"
		also_finds patches/6.12/one.patch:9 "no \"Kit-$name:\" line"
	done
	three_patches
	sed -i 's/^Kit-Mainline-Version: .*/Kit-Mainline-Version: 6.19/' "$P"
	finds patches/6.12/one.patch:10 '"Kit-Mainline-Version: 6.19" is not well formed'
	three_patches
	sed -i 's/^Kit-Class: .*/&\n&/' "$P"
	finds patches/6.12/one.patch:13 '"Kit-Class:" stands on line 12 already'
	three_patches
	sed -i 's/^Kit-Class: .*/Kit-Clas: x\n&/' "$P"
	finds patches/6.12/one.patch:12 'the kit has no tag "Kit-Clas"'
	three_patches
	sed -i 's/^Date: .*/Date: 2025-10-11/' "$P"
	finds patches/6.12/one.patch:2 "is not well formed"
	three_patches
	sed -i 's/^Subject: /&[PATCH] /' "$P"
	also_finds patches/6.12/one.patch:3 '"Subject: [PATCH] test: one" is not well formed'
}

@test "an upstream commit that is not 40 hex digits, or not the one of the text, is found" {
	sed -i 's/^Kit-Upstream-Commit: .*/Kit-Upstream-Commit: 0123456789ab/' "$P"
	also_finds patches/6.12/one.patch:9 '"Kit-Upstream-Commit: 0123456789ab" is not well formed'
	three_patches
	sed -i '/^\[ Upstream/s/0123/3210/' "$P"
	finds patches/6.12/one.patch:5 "the text must start with the line: [ Upstream commit 0123"
	three_patches
	sed -i '6d' "$P"
	finds patches/6.12/one.patch:6 "stands alone; put an empty line here"
}

@test "a first release of another longterm kernel is found" {
	sed -i 's/^Kit-First-Release: .*/Kit-First-Release: 6.1.178/' "$P"
	finds patches/6.12/one.patch:11 "6.1.178 is no release of 6.12"
}

@test "an experimental patch with an upstream commit is found" {
	sed -i 's/^Kit-Class: .*/Kit-Class: experimental/' "$P"
	also_finds patches/6.12/one.patch:9 'a patch of class experimental has no "Kit-Upstream-Commit:"'
}

@test "a class other than that of the series is found" {
	sed -i 's/^Kit-Class: .*/Kit-Class: distro/' "$P"
	finds series/6.12.stable:2 'one.patch says "Kit-Class: distro"'
}

@test "lines of the text that would start a diff or another mail are found" {
	for line in '--- a/kernel/sched/fair.c' '+++ b/x' 'diff --git a/x b/x' 'Index: x' \
		'@@ -1,2 +1,2 @@' '# 3 files changed' 'From 0123456789 Mon Sep 17 00:00:00 2001' '---' '*** x' '-- >8 --'; do
		three_patches
		sed -i "7i\\$line" "$P"
		also_finds patches/6.12/one.patch:7 "\"$line\": "
	done
}

@test "these lines are found for a reason: quilt or git loses what follows" {
	# what the rule for '--- path' is about, shown with quilt itself
	sed -i '7s,^,--- see below\n,' "$P"
	cd "$BATS_TEST_TMPDIR"
	run bash -c 'QUILT_PATCHES=$KIT_QUEUE/patches/6.12 QUILT_SERIES=$KIT_QUEUE/series/6.12.stable quilt --quiltrc "$KIT/quiltrc" header one.patch'
	[ "$status" -eq 0 ]
	[[ $output != *Kit-Class* ]]
}

@test "text below the separator is found, a diffstat is not" {
	sed -i '13s,$,\n kernel/sched/fair.c |    2 +-\n 1 file changed\, 1 insertion(+)\, 1 deletion(-)\n,' "$P"
	run "$LINT"
	[ "$status" -eq 0 ]
	sed -i '13s,$,\nand a remark,' "$P"
	finds patches/6.12/one.patch:14 'below the "---" only a diffstat'
}

@test "a patch without separator is found" {
	sed -i '/^---$/d' "$P"
	also_finds patches/6.12/one.patch:13 'no "---" between the tags and the diff'
}

@test "what hides lines, or would command a terminal, is found and shown as text" {
	printf '\0two.patch\n' >>"$S"
	also_finds series/6.12.stable:1 "a NUL byte, which hides what is below it"
	three_patches
	printf '3s/$/ \033[2J/\n' >"$BATS_TEST_TMPDIR/script"
	sed -i -f "$BATS_TEST_TMPDIR/script" "$P"
	finds patches/6.12/one.patch:3 "a control character"
	printf '\033]0;title\n' >>"$P"
	run "$LINT"
	[[ $output == *"\"?]0;title\" is no part of a plain unified diff"* ]]
	[[ $output != *$'\033'* ]]
}

@test "CRLF, other encodings and blanks at the end are found" {
	sed -i 's/$/\r/' "$P"
	also_finds patches/6.12/one.patch:1 "carriage returns"
	three_patches
	printf '7s/$/ caf\xe9/\n' >"$BATS_TEST_TMPDIR/script"
	sed -i -f "$BATS_TEST_TMPDIR/script" "$P"
	finds patches/6.12/one.patch:7 "not UTF-8"
	three_patches
	sed -i '7s/$/ caf\xc3\xa9/' "$P"
	run "$LINT"
	[ "$status" -eq 0 ]
	sed -i '7s/$/ /' "$P"
	finds patches/6.12/one.patch:7 "blanks at the end of the line"
}

@test "tabs that have become spaces are found" {
	edited "$T" tab 's/int fair/\tint fair/'
	edited "$EDITED" tab2 's/fair30/fair30_one/'
	make_queue
	new_patch one.patch stable "$BATS_TEST_TMPDIR/tab" "$EDITED"
	run "$LINT"
	[ "$status" -eq 0 ]
	sed -i 's/^\([-+ ]\)\t/\1        /' "$P"
	finds patches/6.12/one.patch:16 "tabs have become spaces"
}

@test "a hunk without context is found" {
	(cd "$BATS_TEST_TMPDIR" && diff -U0 --label a/kernel/sched/fair.c --label b/kernel/sched/fair.c t/kernel/sched/fair.c s1/kernel/sched/fair.c) >"$BATS_TEST_TMPDIR/d" || true
	{ sed '/^---$/q' "$P"; cat "$BATS_TEST_TMPDIR/d"; } >"$P.new"
	mv "$P.new" "$P"
	also_finds patches/6.12/one.patch:16 "a hunk without context"
}

@test "wrong counts are found, by git" {
	sed -i 's/^@@ -27,7 +27,7 @@/@@ -27,8 +27,8 @@/' "$P"
	also_finds patches/6.12/one.patch:25 "git apply: corrupt patch"
	three_patches
	sed -i 's/^@@ -27,7 +27,7 @@/@@ -27,6 +27,6 @@/' "$P"
	run "$LINT"
	fails_with 1 "does not fit the counts of its hunk"
}

@test "what quilt refresh would write otherwise is found" {
	sed -i 's,^--- a/.*,diff --git a/kernel/sched/fair.c b/kernel/sched/fair.c\n&,' "$P"
	also_finds patches/6.12/one.patch:14 '"diff --git'
	three_patches
	sed -i 's,^--- a/,--- linux.orig/,' "$P"
	run "$LINT"
	fails_with 1 "the file must be named a/PATH"
	three_patches
	sed -i 's,^+++ b/.*,&\t2025-10-11 00:00:00,' "$P"
	finds patches/6.12/one.patch:15 "a time behind the file name"
	three_patches
	printf '%s\n' '-- ' 2.39.5 >>"$P"
	run "$LINT"
	fails_with 1 "is no part of a plain unified diff"
}

@test "a file without a diff is found" {
	sed -i '/^---$/q' "$P"
	also_finds patches/6.12/one.patch:13 "no diff in it"
}

@test "case 10: each way to misspell a line of a series is found, with the line that repairs it" {
	while IFS='|' read -r wrong reason; do
		three_patches
		printf "2c\\\\\n%b\n" "$wrong" | sed 's/^ /\\&/' >"$BATS_TEST_TMPDIR/script"
		sed -i -f "$BATS_TEST_TMPDIR/script" "$S"
		[ "$(sed -n 2p "$S")" = "$(printf '%b' "$wrong")" ]
		also_finds series/6.12.stable:2 "$(printf '%b' "$wrong" | sed 's/^ *//; s/[ \r]*$//'): $reason; make the line: one.patch"
	done <<-'EOF'
		"one.patch"|the name is quoted
		'one.patch'|the name is quoted
		one.patch |blanks after the name
		one.patch\r|the line ends in CRLF
		One.patch|no file has exactly this name
		one.patch -p1|something stands behind the name
		one.patch # why|something stands behind the name
	EOF
}

@test "case 10: a line without file and a file without line are found" {
	echo gone.patch >>"$KIT_QUEUE/series/6.12.landed"
	finds series/6.12.landed:2 "there is no patches/6.12/gone.patch; add that file or remove the line: sed -i 2d series/6.12.landed"
	three_patches
	cp "$P" "${P%/*}/other.patch"
	finds patches/6.12/other.patch:1 "the patch is in no series; add to series/6.12.stable (and to distro and experimental) the line: other.patch"
	three_patches
	cp "$P" "${P%/*}/one.patch~"
	finds "patches/6.12/one.patch~:1" "a patch is called NAME.patch"
}

@test "series of classes that are out of step are found" {
	sed -i 2d "$KIT_QUEUE/series/6.12.distro"
	finds series/6.12.distro:2 "out of step with series/6.12.stable:2; put before this line: one.patch"
	three_patches
	sed -i '$d' "$KIT_QUEUE/series/6.12.experimental"
	finds series/6.12.experimental:1 "out of step with series/6.12.distro:4; add the line: three.patch"
	three_patches
	rm "$KIT_QUEUE/series/6.12.landed"
	finds series/6.12.landed:1 "the file is missing"
	three_patches
	echo one.patch >>"$KIT_QUEUE/series/6.12.experimental"
	also_finds series/6.12.experimental:5 "one.patch stands on line 2 already"
}

# needs PATCH NAMES: say that PATCH needs NAMES.
needs() { sed -i "s/^Kit-Class: .*/&\nKit-Needs: $2/" "$KIT_QUEUE/patches/6.12/$1"; }

# with_alternative: the three patches, dis.patch on top, and alt.patch, which
# takes its place.
with_alternative() {
	three_patches
	edited "$AFTER" d 's/fair40/fair40_dis/'
	new_patch dis.patch distro "$AFTER" "$EDITED" none
	edited "$AFTER" a 's/fair40/fair40_alt/'
	cat "$S" >"$KIT_QUEUE/series/6.12.alternative"
	new_patch alt.patch alternative "$AFTER" "$EDITED"
	sed -i 's/^Kit-Class: .*/&\nKit-Instead-Of: dis.patch/' "$KIT_QUEUE/patches/6.12/alt.patch"
}

@test "a patch can name others that it needs, and a wrong name is found" {
	needs one.patch "two.patch, three.patch"
	needs two.patch one.patch
	run "$LINT"
	[ "$status" -eq 0 ]
	[ -z "$output" ]
	while IFS='|' read -r wrong reason; do
		three_patches
		needs one.patch "$wrong"
		finds patches/6.12/one.patch:13 "$reason"
	done <<-'EOF'
		two|"Kit-Needs: two" is not well formed
		two.patch three.patch|is not well formed
		two.patch,three.patch|is not well formed
		two.patch, gone.patch|names gone.patch, but there is no patches/6.12/gone.patch
		Two.patch|names Two.patch, but there is no patches/6.12/Two.patch
		one.patch|names one.patch, the patch itself
		two.patch, two.patch|names two.patch, which it has named before
	EOF
}

@test "a patch that needs one of a class that may be left out is found" {
	with_alternative
	needs dis.patch one.patch
	needs alt.patch two.patch
	run "$LINT"
	[ "$status" -eq 0 ]
	needs one.patch dis.patch
	finds patches/6.12/one.patch:13 '"Kit-Needs:" names dis.patch of class distro, which a patch of class stable cannot do'
	with_alternative
	needs alt.patch dis.patch
	finds patches/6.12/alt.patch:8 '"Kit-Needs:" names dis.patch of class distro, which a patch of class alternative cannot do'
}

@test "an alternative says what it takes the place of, and nobody else does" {
	with_alternative
	run "$LINT"
	[ "$status" -eq 0 ]
	[ -z "$output" ]
	sed -i '/^Kit-Instead-Of: /d' "$KIT_QUEUE/patches/6.12/alt.patch"
	finds patches/6.12/alt.patch:7 'no "Kit-Instead-Of:" line'
	with_alternative
	sed -i 's/^Kit-Instead-Of: .*/Kit-Instead-Of: one.patch/' "$KIT_QUEUE/patches/6.12/alt.patch"
	finds patches/6.12/alt.patch:8 'names one.patch of class stable, which a patch of class alternative cannot do'
	with_alternative
	sed -i 's/^Kit-Class: .*/&\nKit-Instead-Of: one.patch/' "$KIT_QUEUE/patches/6.12/dis.patch"
	also_finds patches/6.12/dis.patch:13 'a patch of class distro has no "Kit-Instead-Of:"'
}

@test "the series of the alternatives holds the stable ones first, and may be missing" {
	with_alternative
	sed -i 2d "$KIT_QUEUE/series/6.12.alternative"
	also_finds series/6.12.alternative:2 "out of step with series/6.12.stable:2; put before this line: one.patch"
	with_alternative
	echo dis.patch >>"$KIT_QUEUE/series/6.12.alternative"
	finds series/6.12.alternative:6 'dis.patch says "Kit-Class: distro"'
	with_alternative
	echo alt.patch >>"$KIT_QUEUE/series/6.12.experimental"
	finds series/6.12.experimental:6 'alt.patch says "Kit-Class: alternative"'
	with_alternative
	rm "$KIT_QUEUE/series/6.12.alternative"
	finds patches/6.12/alt.patch:1 "the patch is in no series; add to series/6.12.alternative the line: alt.patch"
	rm "$KIT_QUEUE/patches/6.12/alt.patch"
	run "$LINT"
	[ "$status" -eq 0 ]
}

@test "a file in series/ that no queue has is found" {
	cp "$S" "$KIT_QUEUE/series/6.12.stabel"
	finds series/6.12.stabel:1 "no series of this queue is called so"
}

@test "kit-queue list gives order, path, commit, release, class, files and subject" {
	make -s -C "$KIT" build/bin/kit-queue
	run "$KIT/build/bin/kit-queue" --queue "$KIT_QUEUE" list 6.12
	[ "$status" -eq 0 ]
	[ "${lines[0]}" = $'one.patch\tpatches/6.12/one.patch\t0123456789abcdef0123456789abcdef01234567\t6.12.90\tstable\tkernel/sched/fair.c\ttest: one\t-\t-' ]
	[[ ${lines[2]} == three.patch*$'\tkernel/sched/core.c kernel/sched/fair.c\t'* ]]
	[ ${#lines[@]} -eq 3 ]
}

@test "kit-queue list gives what a patch needs and takes the place of" {
	make -s -C "$KIT" build/bin/kit-queue
	with_alternative
	needs one.patch "two.patch, three.patch"
	run "$KIT/build/bin/kit-queue" --queue "$KIT_QUEUE" list --class stable,distro,alternative 6.12
	[ "$status" -eq 0 ]
	[ ${#lines[@]} -eq 5 ]
	[[ ${lines[0]} == one.patch*$'\ttest: one\ttwo.patch three.patch\t-' ]]
	[[ ${lines[3]} == dis.patch*$'\t-\t-' ]]
	[[ ${lines[4]} == alt.patch*$'\t-\tdis.patch' ]]
	run "$KIT/build/bin/kit-queue" --queue "$KIT_QUEUE" list --class all --json 6.12
	[ "$(jq -c '.patches[0].needs' <<<"$output")" = '["two.patch","three.patch"]' ]
	[ "$(jq -c '[.patches[].name]' <<<"$output")" = '["one.patch","two.patch","three.patch","dis.patch"]' ]
	run "$KIT/build/bin/kit-queue" --queue "$KIT_QUEUE" list --class alternative --json 6.12
	[ "$(jq -c '.patches[] | [.name, .instead_of]' <<<"$output")" = '["alt.patch",["dis.patch"]]' ]
}

@test "kit-queue hunks is not fooled by removed lines that look like headers" {
	make -s -C "$KIT" build/bin/kit-queue
	make_queue
	edited "$T" c '30s,.*,-- a/x\n++ b/x,'
	edited "$EDITED" d '30,31d'
	new_patch c.patch stable "$BATS_TEST_TMPDIR/c" "$EDITED"
	run "$KIT/build/bin/kit-queue" hunks "$KIT_QUEUE/patches/6.12/c.patch"
	[ "$output" = $'kernel/sched/fair.c\t1\t1\t27\t8\t27\t6\t16' ]
}
