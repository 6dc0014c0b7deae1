#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# status.sh: what each patch is to a tree, and what the clones say of the queue.

setup() {
	load helpers
	load submit-helpers
	STATUS=$KIT/scripts/status.sh
}

# tree_of LTS [REF]: a plain tree of the played stable branch, in $TREE.
tree_of() {
	TREE=$BATS_TEST_TMPDIR/tree-$1
	mkdir -p "$TREE"
	git -C "$STABLE" archive "${2:-linux-$1.y}" | tar -x -C "$TREE"
}

# lands LTS VERSION: the fix, in a commit of that branch, and the release with it.
lands() {
	git -C "$STABLE" fetch -q origin
	git -C "$STABLE" checkout -q "linux-$1.y"
	git -C "$STABLE" cherry-pick -n "$FIX"
	git -C "$STABLE" commit -qm "$(git -C "$STABLE" log -1 --format=%s "$FIX")

${3:-commit $FIX upstream.}

The text."
	LANDED=$(git -C "$STABLE" rev-parse HEAD)
	stable_release "$1" "$2"
}

# says FIELD-VALUES: a line of the first table, blanks squeezed.
says() { tr -s ' ' <<<"$output" | grep -qF -- "$1" || { printf 'no "%s" in:\n%s\n' "$1" "$output"; return 1; }; }

@test "a patch that a tree lacks is needed, and landed in one whose files have it" {
	simple
	tree_of 6.12
	run "$STATUS" "$TREE"
	fails_with 0 "6.12.10 ($TREE), by its files"
	says " needed stable one.patch: no release of 6.12 is known to have it"
	lands 6.12 6.12.11
	sed -i 's/^Kit-First-Release: .*/Kit-First-Release: 6.12.11/' "$KIT_QUEUE/patches/6.12/one.patch"
	tree_of 6.12
	run "$STATUS" "$TREE"
	fails_with 0 ""
	says " landed stable one.patch: since 6.12.11"
}

@test "the files count, not the version: a header that is wrong is a finding" {
	simple
	sed -i 's/^Kit-First-Release: .*/Kit-First-Release: 6.12.9/' "$KIT_QUEUE/patches/6.12/one.patch"
	tree_of 6.12
	run "$STATUS" "$TREE"
	fails_with 1 "one.patch: its header says 6.12.9 has it, but it is not in this 6.12.10"
	says " needed stable one.patch"
}

@test "a patch that was put in by somebody is landed, with that said" {
	simple
	lands 6.6 6.6.11 "By hand."
	tree_of 6.6
	run "$STATUS" "$TREE"
	fails_with 0 ""
	says " landed stable one.patch: put in by somebody; no release of 6.6 is known to have it"
}

@test "a conflict is a finding with file and line" {
	simple
	tree_of 6.6
	sed -i 's/a += x \* 8;/a += x * 80;/' "$TREE/kernel/sched/fair.c"
	run "$STATUS" "$TREE"
	fails_with 1 "one.patch: conflict: kernel/sched/fair.c:"
	says " conflict stable one.patch"
}

@test "what only another queue has is not for this LTS, and why where that is known" {
	simple
	diff_of "$FIX" | queue_patch 6.1 early "$FIX" distro none v6.5-rc1
	diff_of "$FIX" | queue_patch 6.1 late "$FIX" distro none v6.9-rc1
	run "$STATUS" 6.6
	fails_with 0 "6.6, by the headers of its queue"
	says " not for this LTS distro early.patch: 6.6 began with it (v6.5-rc1)"
	says " not for this LTS distro late.patch: in the queue of 6.1, not in that of 6.6"
}

@test "an LTS alone: what the headers say, and when support ends" {
	simple
	sed -i 's/^Kit-First-Release: .*/Kit-First-Release: 6.18.3/' "$KIT_QUEUE/patches/6.18/one.patch"
	run "$STATUS" 6.18 6.6
	fails_with 0 "6.18, by the headers of its queue; support ends $(awk '$1 == "6.18" { print $2 }' "$KIT/configs/longterm-trees")"
	says " landed stable one.patch: since 6.18.3; releases before that need it"
	says " needed stable one.patch: no release of 6.6 is known to have it"
}

@test "never merged is for measuring, and no need" {
	CLASS=experimental simple
	tree_of 6.18
	run "$STATUS" "$TREE"
	fails_with 0 ""
	says " for measuring experimental one.patch: never merged"
}

@test "a patch of class landed is looked for in the files too" {
	simple
	sed -i 's/^Kit-Class: .*/Kit-Class: landed/; s/^Kit-First-Release: .*/Kit-First-Release: 6.18.11/' "$KIT_QUEUE/patches/6.18/one.patch"
	sed -i '/^one/d' "$KIT_QUEUE"/series/6.18.*
	echo one.patch >>"$KIT_QUEUE/series/6.18.landed"
	tree_of 6.18
	run "$STATUS" "$TREE"
	fails_with 0 ""
	says " needed landed one.patch: 6.18.11 and later have it"
	lands 6.18 6.18.11
	tree_of 6.18
	run "$STATUS" "$TREE"
	says " landed landed one.patch: since 6.18.11"
}

@test "apply.sh and status.sh agree on every state" {
	chain
	for lts in 6.6 6.1; do
		tree_of "$lts"
		sed -i 's/a += x \* 11;/a += x * 110;/' "$TREE/kernel/sched/fair.c"
		[ "$lts" = 6.1 ] || "$KIT/scripts/apply.sh" --method patch --class distro --only first 6.6 "$TREE"
		"$KIT/scripts/apply.sh" --check --json --class all "$lts" "$TREE" >"$BATS_TEST_TMPDIR/apply.json" || [ $? -eq 1 ]
		"$STATUS" --json "$TREE" >"$BATS_TEST_TMPDIR/status.json" || [ $? -eq 1 ]
		cmp <(jq -S '[.patches[] | {name, state, detail}]' "$BATS_TEST_TMPDIR/apply.json" | sed 's/"detail": ".*"/"detail"/') \
			<(jq -S '[.patches[] | select(.state) | {name, state, detail}]' "$BATS_TEST_TMPDIR/status.json" | sed 's/"detail": ".*"/"detail"/')
		jq -e '[.patches[].state] | index("conflict")' "$BATS_TEST_TMPDIR/status.json"
	done
}

@test "submit.sh refuses what status.sh calls landed, and sends what it calls needed" {
	simple
	lands 6.12 6.12.11 "By hand."
	[ "$("$STATUS" --stable "$STABLE" --json 6.12 6.18 2>/dev/null | jq -r '.patches[] | .lts + " " + .status' | paste -sd ,)" = "6.12 landed,6.18 needed" ]
	run submit --to-stable 6.12 one
	fails_with 1 "one.patch is already in the 6.12 tree at hand (6.12.11)"
	run submit --to-stable 6.18 one
	[ "$status" -eq 0 ]
}

@test "a fix, and a fix of the fix, that the queue lacks are found in mainline" {
	simple
	text "sched/fair: Repair the look" "Fixes: ${FIX:0:12} (\"sched/fair: Look\")"
	two=$(fix 2 "$BATS_TEST_TMPDIR/text")
	text "sched/fair: Repair the repair" "Fixes: ${two:0:12} (\"sched/fair: Repair the look\")"
	three=$(fix 3 "$BATS_TEST_TMPDIR/text")
	text "sched/fair: Something else" "Fixes: 0123456789ab (\"other\")"
	fix 4 "$BATS_TEST_TMPDIR/text"
	run "$STATUS" --upstream "$MAINLINE" 6.6
	fails_with 1 "mainline has ${two:0:12} (\"sched/fair: Repair the look\"), which fixes one.patch, and neither the queue nor the tree has it"
	fails_with 1 "mainline has ${three:0:12} (\"sched/fair: Repair the repair\"), which fixes ${two:0:12}"
	[[ $output != *"Something else"* ]]
	# one that the queue has is not missed, what repairs it still is
	diff_of "$two" | queue_patch 6.6 two "$two" stable
	run "$STATUS" --upstream "$MAINLINE" 6.6
	[[ $output != *"which fixes one.patch"* ]]
	fails_with 1 "which fixes two.patch"
}

@test "a fix that writes \"Fixes: commit\" is found too" {
	simple
	text "sched/fair: Repair the look" "Fixes: commit ${FIX:0:12} (\"sched/fair: Look\")"
	fix 2 "$BATS_TEST_TMPDIR/text"
	run "$STATUS" --upstream "$MAINLINE" 6.6
	fails_with 1 "which fixes one.patch"
}

@test "a revert in mainline is found, with the release that has it" {
	simple
	git -C "$MAINLINE" revert --no-edit "$FIX" >/dev/null
	git -C "$MAINLINE" tag v6.19-rc2
	run "$STATUS" --upstream "$MAINLINE" --json 6.6
	[ "$status" -eq 1 ]
	[ "$("$STATUS" --upstream "$MAINLINE" --json 6.6 2>/dev/null | jq -r '.followups[] | [.version, .kind, .what] | join(" ")')" = "v6.19-rc2 reverts one.patch" ]
}

@test "a follow-up that the files of the tree have is not missed" {
	simple
	text "sched/fair: Repair the look" "Fixes: ${FIX:0:12} (\"sched/fair: Look\")"
	two=$(fix 2 "$BATS_TEST_TMPDIR/text")
	tree_of 6.6
	diff_of "$two" | git -C "$TREE" apply
	run "$STATUS" --upstream "$MAINLINE" "$TREE"
	fails_with 0 "Follow-ups in mainline that queue and tree lack:
  none"
}

@test "the same diff is known by its patch-id, the same code by a replay" {
	chain
	# less context: another diff, the same code
	(git -C "$MAINLINE" diff -U1 "$C3^" "$C3" | sed '/^diff --git\|^index /d') >"$BATS_TEST_TMPDIR/diff"
	sed -i '/^--- a/,$d' "$KIT_QUEUE/patches/6.6/third.patch"
	cat "$BATS_TEST_TMPDIR/diff" >>"$KIT_QUEUE/patches/6.6/third.patch"
	tree_of 6.6
	run "$STATUS" --upstream "$MAINLINE" "$TREE"
	fails_with 0 "first.patch: same diff"
	fails_with 0 "third.patch: same code"
}

@test "where upstream conflicts the header says what differs, or that is a finding" {
	chain
	tree_of 6.1
	run "$STATUS" --upstream "$MAINLINE" "$TREE"
	fails_with 0 "second.patch: as noted; its cherry-pick conflicts in kernel/sched/fair.c; header: In 6.1 the name of the variable differs."
	sed -i '/^In 6.1/d' "$KIT_QUEUE/patches/6.1/second.patch"
	run "$STATUS" --upstream "$MAINLINE" "$TREE"
	fails_with 1 "second.patch is not what upstream's commit makes of 6.1"
}

@test "other code than upstream's is told from other comments" {
	simple
	sed -i 's, x \* 8 + 1;, x * 8 + 2;,; /^In 6.6/d' "$KIT_QUEUE/patches/6.6/one.patch"
	sed -i 's, x \* 8 + 1;,& /* one more */,' "$KIT_QUEUE/patches/6.12/one.patch"
	tree_of 6.6; six=$TREE
	tree_of 6.12
	run "$STATUS" --upstream "$MAINLINE" "$six" "$TREE"
	fails_with 1 "$six: one.patch: differs; its cherry-pick makes other code in kernel/sched/fair.c"
	fails_with 1 "$TREE: one.patch: same but for comments"
}

@test "a stable clone says in which release each landed, and which newer tree lacks it" {
	simple
	lands 6.6 6.6.11
	six=$LANDED
	lands 6.12 6.12.11 "[ Upstream commit $FIX ]"
	run "$STATUS" --stable "$STABLE" 6.6 6.12
	says " 6.6 since 6.6.11 (${six:0:12})"
	says " 6.12 since 6.12.11 (${LANDED:0:12})"
	says " 6.18 lacks it"
	says " 5.15 no branch in the clone"
	fails_with 1 "6.18 lacks one.patch, which 6.6 has"
	fails_with 1 "6.6: one.patch: its header says Kit-First-Release: none, but 6.6 has it since 6.6.11"
	[[ $output != *"6.1 lacks one.patch"* ]]
	says "6.12.11 (the newest state in the clone), by its files"
}

@test "a fix that the stable branch took back is not landed" {
	simple
	lands 6.18 6.18.11
	git -C "$STABLE" revert --no-edit "$LANDED" >/dev/null
	run "$STATUS" --stable "$STABLE" 6.18
	says " 6.18 since 6.18.11 (${LANDED:0:12}), but reverted later"
	says " needed stable one.patch"
}

@test "a fix in the files of a branch that no commit names is said so" {
	simple
	lands 6.18 6.18.11 "By hand."
	run "$STATUS" --stable "$STABLE" 6.18
	says " 6.18 in the files, but no commit names it"
}

@test "clones that do not do: one line, exit 7" {
	simple
	git -C "$MAINLINE" tag -d v6.19-rc1 >/dev/null
	git -C "$MAINLINE" checkout -q -b old v6.18
	git clone -q --single-branch -b old "file://$MAINLINE" "$BATS_TEST_TMPDIR/old"
	run "$STATUS" --upstream "$BATS_TEST_TMPDIR/old" 6.6
	fails_with 7 "is too old: it ends at v6.18, and one.patch came with v6.19-rc1"
	[ ${#lines[@]} -eq 1 ]
	git clone -q --depth 1 "file://$MAINLINE" "$BATS_TEST_TMPDIR/shallow"
	run "$STATUS" --upstream "$BATS_TEST_TMPDIR/shallow" 6.6
	fails_with 7 "is a shallow clone"
	[ ${#lines[@]} -eq 1 ]
	run "$STATUS" --stable "$KIT/docs/none" 6.6
	fails_with 7 "cannot enter the folder that --stable names"
	[ ${#lines[@]} -eq 1 ]
}

@test "a commit that is not in mainline: one line, exit 7" {
	simple
	git -C "$MAINLINE" tag v7.0
	sed -i "s/$FIX/0123456789abcdef0123456789abcdef01234567/" "$KIT_QUEUE/patches/6.6/one.patch"
	tree_of 6.6
	run "$STATUS" --upstream "$MAINLINE" "$TREE"
	fails_with 7 "there is no commit 0123456789abcdef0123456789abcdef01234567"
	[ ${#lines[@]} -eq 1 ]
}

@test "wrong arguments: one line, exit 2; no kernel tree, exit 7" {
	queue_for 6.6
	run "$STATUS"
	fails_with 2 "which trees?"
	run "$STATUS" 6.7
	fails_with 2 "6.7 is no folder, and there is no queue of that name; there are: 6.6"
	run "$STATUS" "$BATS_TEST_TMPDIR"
	fails_with 7 "is no kernel tree"
	make_tree 6.7.1 "$BATS_TEST_TMPDIR/t"
	run "$STATUS" "$BATS_TEST_TMPDIR/t"
	fails_with 2 "there is no queue for 6.7"
	[ ${#lines[@]} -eq 1 ]
}

@test "a tree with CRLF, or half changed by a killed apply.sh, is refused: exit 7" {
	simple
	tree_of 6.6
	mkdir "$TREE/.kit-apply"
	run "$STATUS" "$TREE"
	fails_with 7 "an interrupted apply.sh has left $TREE half changed"
	[ ${#lines[@]} -eq 1 ]
	rmdir "$TREE/.kit-apply"
	sed -i 's/$/\r/' "$TREE/Makefile"
	run "$STATUS" "$TREE"
	fails_with 7 "has CRLF at its line ends"
	[ ${#lines[@]} -eq 1 ]
}

@test "what a killed run left in TMPDIR is removed by the next, of a live one nothing" {
	queue_for 6.6
	mkdir "$BATS_TEST_TMPDIR"/kit-{status,refresh,submit,apply}.dead "$BATS_TEST_TMPDIR/kit-status.live"
	touch -d '10 minutes ago' "$BATS_TEST_TMPDIR"/kit-*
	exec {live}<"$BATS_TEST_TMPDIR/kit-status.live"
	flock -s "$live"
	"$STATUS" 6.6
	[ "$(cd "$BATS_TEST_TMPDIR" && echo kit-*)" = kit-status.live ]
}

@test "odd names of trees: quotes, blanks and backslashes; no control characters; each once" {
	simple
	tree_of 6.6
	odd=$BATS_TEST_TMPDIR/'a b\tc"é'
	mv "$TREE" "$odd"
	run "$STATUS" --upstream "$MAINLINE" "$odd" "$odd"
	fails_with 0 "  needed  "
	fails_with 0 "$odd: one.patch: same diff"
	[ "$("$STATUS" --json "$odd" "$odd" | jq -r '.trees[].source')" = "$odd" ]
	run "$STATUS" "$BATS_TEST_TMPDIR/a"$'\t'b
	fails_with 7 "has a control character in its name"
}

@test "a stdout that is full is exit 6" {
	queue_for 6.6
	run bash -c "'$STATUS' 6.6 >/dev/full"
	fails_with 6 "cannot write to"
	run bash -c "'$STATUS' --json 6.6 >/dev/full"
	fails_with 6 "cannot write to"
}

@test "nothing is written to trees and clones, and nothing is left in TMPDIR" {
	simple
	tree_of 6.6
	a=$(tree_sum "$MAINLINE") b=$(tree_sum "$STABLE") c=$(tree_sum "$TREE")
	"$STATUS" --upstream "$MAINLINE" --stable "$STABLE" "$TREE" 6.12 >/dev/null
	[ "$a$b$c" = "$(tree_sum "$MAINLINE")$(tree_sum "$STABLE")$(tree_sum "$TREE")" ]
	[ -z "$(find "$BATS_TEST_TMPDIR" -maxdepth 1 -name 'kit-*')" ]
}
