#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# apply.sh on small trees: what people met doing this job, and all it can do.

load helpers
load queue-helpers

setup() {
	need_tool filterdiff patchutils
	three_patches
}

# unchanged: $T is as it was when $SUM was taken.
unchanged() { [ "$(full_sum "$T")" = "$SUM" ] || { echo "$T has changed"; return 1; }; }

@test "an empty --only or --without is refused, and a CDPATH leads nowhere else" {
	three_patches
	before=$(full_sum "$T")
	for option in --only --without; do
		run "$APPLY" $option "" 6.12 "$T"
		fails_with 2 "$option needs the name of a patch"
	done
	[ "$(full_sum "$T")" = "$before" ]
	cd "$(dirname "$T")"
	CDPATH=$PWD run "$APPLY" --check 6.12 "$(basename "$T")"
	fails_with 0 "would apply 3"
}

@test "case 1: what a point release has brought is named with since when, the rest applied" {
	patch -s -p1 -d "$T" <"$KIT_QUEUE/patches/6.12/one.patch"
	run "$APPLY" 6.12 "$T"
	fails_with 0 "one.patch is already there: 6.12 has it since 6.12.90 and this tree is 6.12.95; the patch can be dropped"
	fails_with 0 "applied 2, already there 1"
	same "$T" "$AFTER"
}

@test "case 1: with --strict a patch that is already there is an error" {
	patch -s -p1 -d "$T" <"$KIT_QUEUE/patches/6.12/one.patch"
	SUM=$(full_sum "$T")
	run "$APPLY" --strict 6.12 "$T"
	fails_with 1 "which --strict forbids"
	unchanged
}

@test "case 1: a release candidate of the first release counts as having it" {
	patch -s -p1 -d "$T" <"$KIT_QUEUE/patches/6.12/one.patch"
	sed -i 's/^SUBLEVEL.*/SUBLEVEL = 90/; s/^EXTRAVERSION.*/EXTRAVERSION = -rc1/' "$T/Makefile"
	run "$APPLY" --check 6.12 "$T"
	fails_with 0 "has it since 6.12.90 and this tree is 6.12.90-rc1"
}

@test "case 2: when all is there the counts say that nothing was applied" {
	cp "$AFTER"/kernel/sched/*.c "$T/kernel/sched/"
	run "$APPLY" 6.12 "$T"
	fails_with 0 "applied 0, already there 3"
}

@test "case 3: a conflict names file, hunk and line, and is not taken for already there" {
	sed -i 's/core11/other/' "$T/kernel/sched/core.c"
	SUM=$(full_sum "$T")
	run "$APPLY" 6.12 "$T"
	fails_with 1 "three.patch: conflict: kernel/sched/core.c:7 (hunk 1 of 1) does not apply"
	[[ $output == *"one.patch "*applies*none* ]]
	[[ $output == *"failed 1: nothing was changed"* ]]
	unchanged
}

@test "case 3: a patch of which one file is there is partly there" {
	sed -i 's/core10/core10_three/' "$T/kernel/sched/core.c"
	SUM=$(full_sum "$T")
	run "$APPLY" 6.12 "$T"
	fails_with 1 "three.patch: partly there: kernel/sched/core.c:7 (hunk 1 of 1) is there; kernel/sched/fair.c:47 (hunk 1 of 1) is missing and fits"
	unchanged
}

@test "case 3: a hunk that differs from both sides is a conflict although another is there" {
	sed -i 's/core10/core10_three/' "$T/kernel/sched/core.c"
	sed -i 's/fair50/other/' "$T/kernel/sched/fair.c"
	run "$APPLY" 6.12 "$T"
	fails_with 1 "three.patch: conflict: kernel/sched/core.c:7 (hunk 1 of 1) is there; kernel/sched/fair.c:47 (hunk 1 of 1) does not apply"
}

@test "case 4: a pure addition is not made a second time" {
	make_queue
	edited "$T" add '30a int added;'
	new_patch add.patch stable "$T" "$EDITED"
	"$APPLY" 6.12 "$T"
	run "$APPLY" 6.12 "$T"
	fails_with 0 "applied 0, already there 1"
	same "$T" "$EDITED"
}

@test "case 4: not even one that repeats its own context, which git would put in again" {
	make_queue
	edited "$T" add '30a int fair28;\nint fair29;\nint fair30;'
	new_patch add.patch stable "$T" "$EDITED"
	"$APPLY" 6.12 "$T"
	same "$T" "$EDITED"
	git -C "$T" apply --check "$KIT_QUEUE/patches/6.12/add.patch"
	run "$APPLY" 6.12 "$T"
	fails_with 0 "applied 0, already there 1"
	same "$T" "$EDITED"
}

@test "case 5: a patch is found although a later one changed its lines" {
	cp "$AFTER"/kernel/sched/*.c "$T/kernel/sched/"
	run git -C "$T" apply -R --check "$KIT_QUEUE/patches/6.12/one.patch"
	[ "$status" -ne 0 ]
	run "$APPLY" 6.12 "$T"
	fails_with 0 "one.patch is already there"
	fails_with 0 "applied 0, already there 3"
}

@test "case 6: no fuzz: changed context is a conflict, where patch would go on" {
	sed -i 's/fair27/other/' "$T/kernel/sched/fair.c"
	patch --dry-run -p1 -d "$T" <"$KIT_QUEUE/patches/6.12/one.patch"
	SUM=$(full_sum "$T")
	run "$APPLY" --only one 6.12 "$T"
	fails_with 1 "one.patch: conflict: kernel/sched/fair.c:27 (hunk 1 of 1)"
	unchanged
}

@test "case 6: a hunk that fits at two places is refused, naming both" {
	make_queue
	edited "$T" b 's/fair30/fair30_new/'
	new_patch b.patch stable "$T" "$EDITED"
	sed -n 27,33p "$T/kernel/sched/fair.c" >"$BATS_TEST_TMPDIR/block"
	sed -i "40r $BATS_TEST_TMPDIR/block" "$T/kernel/sched/fair.c"
	SUM=$(full_sum "$T")
	run "$APPLY" 6.12 "$T"
	fails_with 1 "b.patch: conflict: fits at two places, kernel/sched/fair.c:27 and kernel/sched/fair.c:41 (hunk 1 of 1); refused"
	unchanged
}

@test "case 6: what could be put in at one place and taken out at another is refused" {
	make_queue
	edited "$T" b 30d
	new_patch b.patch stable "$T" "$EDITED"
	sed -n '27,29p;31,33p' "$T/kernel/sched/fair.c" >"$BATS_TEST_TMPDIR/block"
	sed -i "40r $BATS_TEST_TMPDIR/block" "$T/kernel/sched/fair.c"
	SUM=$(full_sum "$T")
	run "$APPLY" 6.12 "$T"
	fails_with 1 "cannot tell whether it is there: it can be taken out at kernel/sched/fair.c:41 and put in at kernel/sched/fair.c:27"
	unchanged
}

@test "case 7: a tree in a folder of another repository changes, and by its own rules" {
	outer=$BATS_TEST_TMPDIR/outer
	mkdir "$outer"
	git -C "$outer" init -q
	# what that repository says of its own files is not for this tree
	git -C "$outer" config core.autocrlf true
	git -C "$outer" config apply.ignoreWhitespace change
	mv "$T" "$outer/t"
	export TMPDIR=$outer
	run "$APPLY" 6.12 "$outer/t"
	fails_with 0 "applied 3, already there 0"
	same "$outer/t" "$AFTER"
	[ "$(ls -A "$outer")" = $'.git\nt' ]
}

@test "case 8: the second run leaves with 0 and changes nothing, not even a time" {
	"$APPLY" 6.12 "$T"
	SUM=$(full_sum "$T")
	run "$APPLY" 6.12 "$T"
	fails_with 0 "applied 0, already there 3"
	unchanged
	# this tree is older than the fix of two.patch: nothing to drop
	fails_with 0 "two.patch is already there, put in by somebody before"
	fails_with 0 "one.patch is already there: 6.12 has it since 6.12.90"
}

@test "case 9: when the third patch fails the first two are not there" {
	sed -i 's/core09/other/' "$T/kernel/sched/core.c"
	SUM=$(full_sum "$T")
	run "$APPLY" 6.12 "$T"
	fails_with 1 "failed 1: nothing was changed"
	unchanged
	[ ! -e "$T/.kit-apply" ]
}

@test "case 10: series and files that disagree are an error with the line that repairs it" {
	SUM=$(full_sum "$T")
	echo gone.patch >>"$KIT_QUEUE/series/6.12.experimental"
	cp "$KIT_QUEUE/patches/6.12/one.patch" "$KIT_QUEUE/patches/6.12/extra.patch"
	run "$APPLY" 6.12 "$T"
	fails_with 2 "series/6.12.experimental:5: there is no patches/6.12/gone.patch; add that file or remove the line: sed -i 5d series/6.12.experimental"
	fails_with 2 "patches/6.12/extra.patch:1: the patch is in no series; add to series/6.12.stable (and to distro and experimental) the line: extra.patch"
	unchanged
}

@test "modes and owners are kept, and other files keep their times" {
	chmod 0766 "$T/kernel/sched/fair.c"
	[ "$(id -u)" -ne 0 ] || chown 1234:2345 "$T/kernel/sched/fair.c"
	owner=$(stat -c '%a %u:%g' "$T/kernel/sched/fair.c")
	before=$(stat -c '%Y %i' "$T/Makefile")
	"$APPLY" 6.12 "$T"
	[ "$(stat -c '%a %u:%g' "$T/kernel/sched/fair.c")" = "$owner" ]
	[ "$(stat -c '%Y %i' "$T/Makefile")" = "$before" ]
}

@test "a hard linked copy of a tree is changed, the tree it was copied from is not" {
	cp -al "$T" "$BATS_TEST_TMPDIR/linked"
	"$APPLY" 6.12 "$BATS_TEST_TMPDIR/linked"
	same "$BATS_TEST_TMPDIR/linked" "$AFTER"
	mini_tree "$BATS_TEST_TMPDIR/fresh"
	same "$T" "$BATS_TEST_TMPDIR/fresh"
}

@test "files are created and deleted, with their folders, and come back" {
	make_queue
	cp -a "$T" "$BATS_TEST_TMPDIR/before"
	cp -a "$T" "$BATS_TEST_TMPDIR/s1"
	mkdir -p "$BATS_TEST_TMPDIR/s1/new/deep"
	seq 5 >"$BATS_TEST_TMPDIR/s1/new/deep/file.c"
	rm "$BATS_TEST_TMPDIR/s1/kernel/sched/core.c"
	new_patch files.patch stable "$T" "$BATS_TEST_TMPDIR/s1"
	"$APPLY" 6.12 "$T"
	same "$T" "$BATS_TEST_TMPDIR/s1"
	run "$APPLY" 6.12 "$T"
	fails_with 0 "applied 0, already there 1"
	"$APPLY" --reverse 6.12 "$T"
	same "$T" "$BATS_TEST_TMPDIR/before"
}

@test "a file to be created that exists already is a conflict that says so" {
	make_queue
	cp -a "$T" "$BATS_TEST_TMPDIR/s1"
	seq 5 >"$BATS_TEST_TMPDIR/s1/kernel/new.c"
	new_patch new.patch stable "$T" "$BATS_TEST_TMPDIR/s1"
	seq 9 >"$T/kernel/new.c"
	run "$APPLY" 6.12 "$T"
	fails_with 1 "kernel/new.c:0 (hunk 1 of 1) does not apply: the file exists already, with other content"
}

@test "a file to be patched that is missing is a conflict that says so" {
	rm "$T/kernel/sched/core.c"
	run "$APPLY" 6.12 "$T"
	fails_with 1 "kernel/sched/core.c:7 (hunk 1 of 1) does not apply: there is no such file"
}

@test "--reverse takes out what is there, exactly, and leaves with 0 when nothing is" {
	cp -a "$T" "$BATS_TEST_TMPDIR/before"
	"$APPLY" 6.12 "$T"
	run "$APPLY" --reverse 6.12 "$T"
	fails_with 0 "reversed 3, not there 0"
	same "$T" "$BATS_TEST_TMPDIR/before"
	run "$APPLY" --reverse 6.12 "$T"
	fails_with 0 "reversed 0, not there 3"
	run "$APPLY" --reverse --strict 6.12 "$T"
	fails_with 1 "which --strict forbids"
}

@test "--reverse refuses a hunk that can be taken out at two places" {
	make_queue
	edited "$T" b 's/fair30/fair30_new/'
	new_patch b.patch stable "$T" "$EDITED"
	cp "$EDITED/kernel/sched/fair.c" "$T/kernel/sched/fair.c"
	sed -n 27,33p "$T/kernel/sched/fair.c" >"$BATS_TEST_TMPDIR/block"
	sed -i "40r $BATS_TEST_TMPDIR/block" "$T/kernel/sched/fair.c"
	SUM=$(full_sum "$T")
	run "$APPLY" --reverse 6.12 "$T"
	fails_with 1 "can be taken out at two places, kernel/sched/fair.c:27 and kernel/sched/fair.c:41"
	unchanged
}

@test "--check writes nothing and tells success from failure" {
	chmod a-w "$T" "$T/kernel/sched"
	SUM=$(full_sum "$T")
	run "$APPLY" --check 6.12 "$T"
	fails_with 0 "would apply 3, already there 0"
	unchanged
	chmod u+w "$T" "$T/kernel/sched"
	sed -i 's/core09/other/' "$T/kernel/sched/core.c"
	run "$APPLY" --check 6.12 "$T"
	fails_with 1 "conflict"
}

@test "--json gives one object with state and header data of each patch" {
	patch -s -p1 -d "$T" <"$KIT_QUEUE/patches/6.12/one.patch"
	"$APPLY" --json 6.12 "$T" 2>/dev/null >"$BATS_TEST_TMPDIR/json"
	cat "$BATS_TEST_TMPDIR/json"
	python=$(command -v python3) || skip "no python3 here to read the JSON with"
	"$python" - "$BATS_TEST_TMPDIR/json" <<-'EOF'
		import json, sys
		o = json.load(open(sys.argv[1]))
		assert o["lts"] == "6.12" and o["version"] == "6.12.95" and o["changed"] is True
		p = o["patches"]
		assert [x["name"] for x in p] == ["one.patch", "two.patch", "three.patch"]
		assert [x["state"] for x in p] == ["already there", "applies", "applies"]
		assert p[0]["first_release"] == "6.12.90" and p[0]["class"] == "stable"
		assert p[0]["upstream"] == "0123456789abcdef0123456789abcdef01234567"
		assert [x["action"] for x in p] == ["none", "applied", "applied"]
	EOF
}

@test "classes are taken only when asked for, and landed only backwards" {
	edited "$AFTER" d 's/core40/core40_distro/' kernel/sched/core.c
	new_patch distro.patch distro "$AFTER" "$EDITED" none
	edited "$EDITED" x 's/core50/core50_experimental/' kernel/sched/core.c
	new_patch x.patch experimental "$BATS_TEST_TMPDIR/d" "$EDITED"
	run "$APPLY" 6.12 "$T"
	fails_with 0 "applied 3, already there 0"
	same "$T" "$AFTER"
	run "$APPLY" --class stable,distro 6.12 "$T"
	fails_with 0 "applied 1, already there 3"
	run "$APPLY" --class all 6.12 "$T"
	fails_with 0 "applied 1, already there 4"
	same "$T" "$EDITED"
	run "$APPLY" --class landed 6.12 "$T"
	fails_with 2 "add --reverse"
	run "$APPLY" --class nonsense 6.12 "$T"
	fails_with 2 'no class "nonsense"'
}

@test "case 5: a patch is found below one of a class that is not asked for" {
	edited "$AFTER" d 's/fair30_two/fair30_distro/'
	new_patch distro.patch distro "$AFTER" "$EDITED" none
	"$APPLY" --class all 6.12 "$T"
	same "$T" "$EDITED"
	run "$APPLY" 6.12 "$T"
	fails_with 0 "applied 0, already there 3"
	[[ $output != *distro.patch* ]]
	same "$T" "$EDITED"
	SUM=$(full_sum "$T")
	run "$APPLY" --reverse 6.12 "$T"
	fails_with 1 "distro.patch: conflict: it is there, on top of patches that would change"
	unchanged
	run "$APPLY" --reverse --only three 6.12 "$T"
	fails_with 0 "reversed 1, not there 0"
	run "$APPLY" --reverse --class all 6.12 "$T"
	fails_with 0 "reversed 3, not there 1"
	mini_tree "$BATS_TEST_TMPDIR/fresh"
	same "$T" "$BATS_TEST_TMPDIR/fresh"
}

@test "a landed patch is taken out to make the base side" {
	edited "$AFTER" before 's/core40/core40_before/' kernel/sched/core.c
	new_patch landed.patch landed "$EDITED" "$AFTER" 6.12.80
	cp "$AFTER"/kernel/sched/*.c "$T/kernel/sched/"
	run "$APPLY" --class landed --reverse 6.12 "$T"
	fails_with 0 "reversed 1, not there 0"
	same "$T" "$EDITED"
}

@test "--only and --without choose patches by name, with or without .patch" {
	run "$APPLY" --without two.patch,three 6.12 "$T"
	fails_with 0 "applied 1, already there 0"
	same "$T" "$BATS_TEST_TMPDIR/s1"
	run "$APPLY" --only one,two.patch 6.12 "$T"
	fails_with 0 "applied 1, already there 1"
	same "$T" "$BATS_TEST_TMPDIR/s2"
	run "$APPLY" --only four 6.12 "$T"
	fails_with 2 'no patch "four" in class stable of 6.12; there are: one two three'
}

@test "a tree of another version is refused, naming both" {
	make_tree 6.1.176 "$BATS_TEST_TMPDIR/old"
	run "$APPLY" 6.12 "$BATS_TEST_TMPDIR/old"
	fails_with 7 "is 6.1.176, but the patches asked for are for 6.12"
}

@test "what is no kernel tree is refused" {
	mkdir "$BATS_TEST_TMPDIR/empty"
	run "$APPLY" 6.12 "$BATS_TEST_TMPDIR/empty"
	fails_with 7 "is no kernel tree"
	run "$APPLY" 6.12 "$BATS_TEST_TMPDIR/nowhere"
	fails_with 7 "cannot enter"
	run "$APPLY" 5.4 "$T"
	fails_with 2 'no queue for "5.4"; there are: 6.12'
	run "$APPLY" 6.12
	fails_with 2 "LTS and TREE are needed"
	run "$APPLY" --force 6.12 "$T"
	fails_with 2 "wrong arguments"
}

@test "a release candidate of stable is taken, and a path with blanks, and a link" {
	mini_tree "$BATS_TEST_TMPDIR/a tree" 6.12.96-rc1
	ln -s "a tree" "$BATS_TEST_TMPDIR/link"
	run "$APPLY" 6.12 "$BATS_TEST_TMPDIR/link"
	fails_with 0 "applied 3, already there 0"
	cmp "$BATS_TEST_TMPDIR/a tree/kernel/sched/fair.c" "$AFTER/kernel/sched/fair.c"
	[ -L "$BATS_TEST_TMPDIR/link" ]
}

@test "with --method patch a git checkout's index and branch stay as they are" {
	git -C "$T" init -q
	git -C "$T" add -A
	git -C "$T" commit -q -m base
	git=$(tree_sum "$T/.git")
	run "$APPLY" --method patch 6.12 "$T"
	fails_with 0 "applied 3, already there 0"
	[ "$(tree_sum "$T/.git")" = "$git" ]
	[ "$(git -C "$T" status --porcelain)" = $' M kernel/sched/core.c\n M kernel/sched/fair.c' ]
}

@test "what the user has told git does not matter" {
	printf '%s\n' '[apply]' 'whitespace = error' 'ignoreWhitespace = change' '[core]' 'autocrlf = true' >"$HOME/.gitconfig"
	make_queue
	edited "$T" b 's/fair30;/fair30; /'
	new_patch b.patch stable "$T" "$EDITED"
	GIT_DIR=$BATS_TEST_TMPDIR GIT_INDEX_FILE=x run "$APPLY" 6.12 "$T"
	fails_with 0 "applied 1, already there 0"
	same "$T" "$EDITED"
}

@test "a file of the tree that is a symbolic link is refused" {
	mv "$T/kernel/sched" "$T/kernel/elsewhere"
	ln -s elsewhere "$T/kernel/sched"
	SUM=$(full_sum "$T")
	run "$APPLY" 6.12 "$T"
	fails_with 7 "kernel/sched is a symbolic link"
	unchanged
}
