#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# apply.sh: which method is taken for which tree, and --recover.
# shellcheck disable=SC2030,SC2031 # each test is its own

load helpers
load queue-helpers

setup() {
	need_tool filterdiff patchutils
	three_patches
}

commit_all() {
	git -C "$1" init -q -b main
	git -C "$1" add -A
	git -C "$1" commit -q -m base
}

# takes METHOD TEXT: --check says on stderr that it is METHOD, and why; so does
# the JSON.
takes() {
	local before
	before=$(full_sum "$T")
	run --separate-stderr "$APPLY" --check --json 6.12 "$T"
	# shellcheck disable=SC2154 # bats sets stderr
	echo "$output $stderr"
	[ "$status" -eq 0 ]
	[[ $stderr == *"method $1: $2"* ]]
	[[ $output == *'"method": "'"$1"'"'* ]]
	[ "$(full_sum "$T")" = "$before" ]
}

@test "an unpacked tree is patched" {
	takes patch "$T is no git work tree of its own and has no quilt patches"
}

@test "the top of a git work tree gets commits" {
	commit_all "$T"
	takes git "$T is the top of a git work tree"
}

@test "a worktree, whose .git is a file, gets commits" {
	commit_all "$T"
	git -C "$T" worktree add -q "$BATS_TEST_TMPDIR/wt"
	T=$BATS_TEST_TMPDIR/wt
	takes git "$T is the top"
}

@test "a submodule gets commits" {
	commit_all "$T"
	git init -q "$BATS_TEST_TMPDIR/super"
	git -C "$BATS_TEST_TMPDIR/super" -c protocol.file.allow=always submodule --quiet add "$T" linux
	T=$BATS_TEST_TMPDIR/super/linux
	takes git "$T is the top"
}

@test "a folder inside another repository is patched, tracked there or not" {
	mkdir "$BATS_TEST_TMPDIR/outer"
	mv "$T" "$BATS_TEST_TMPDIR/outer/t"
	T=$BATS_TEST_TMPDIR/outer/t
	git -C "$BATS_TEST_TMPDIR/outer" init -q
	takes patch "$T is no git work tree of its own"
	commit_all "$BATS_TEST_TMPDIR/outer"
	takes patch "$T is no git work tree of its own"
	run "$APPLY" --method git 6.12 "$T"
	fails_with 7 "$T is not the top folder of a git work tree"
	sum=$(full_sum "$BATS_TEST_TMPDIR/outer/.git")
	run "$APPLY" 6.12 "$T"
	fails_with 0 "applied 3"
	[ "$(full_sum "$BATS_TEST_TMPDIR/outer/.git")" = "$sum" ]
}

@test "patches that quilt pushed go before git" {
	need_tool quilt quilt
	commit_all "$T"
	"$APPLY" --method quilt --only one,two 6.12 "$T"
	takes quilt "$T has 2 patch(es) that quilt pushed"
	(cd "$T" && quilt pop -a)
	takes git "$T is the top"
}

@test "a .git that git cannot use is refused, unless the files alone are asked for" {
	echo "gitdir: /nowhere/at/all" >"$T/.git"
	run "$APPLY" 6.12 "$T"
	fails_with 7 "git cannot use $T/.git (fatal: not a git repository: /nowhere/at/all); repair it, or say --method patch"
	run "$APPLY" --method patch 6.12 "$T"
	fails_with 0 "applied 3"
}

@test "a method that does not exist is refused with those that do" {
	run "$APPLY" --method magic 6.12 "$T"
	fails_with 2 'no method "magic"; there are: auto git quilt patch'
}

@test "without quilt the host lacks it, and another method is named" {
	links "$BATS_TEST_TMPDIR/bin" bash sh env git filterdiff flock awk sed sort uniq grep cp mv ln rm mkdir rmdir \
		cat cut tr head tail tac paste readlink dirname mktemp getopt make cc stat sync cmp diff find sha256sum touch seq
	PATH=$BATS_TEST_TMPDIR/bin run "$APPLY" --method quilt 6.12 "$T"
	fails_with 5 "missing: quilt; on Debian: apt-get install quilt, or say --method patch"
	PATH=$BATS_TEST_TMPDIR/bin run "$APPLY" 6.12 "$T"
	fails_with 0 "applied 3"
}

@test "--recover with nothing to mend says so and changes nothing" {
	before=$(full_sum "$T")
	run "$APPLY" --recover 6.12 "$T"
	fails_with 0 "nothing to mend in $T"
	[ "$(full_sum "$T")" = "$before" ]
}

@test "--recover takes no other option" {
	run "$APPLY" --recover --check 6.12 "$T"
	fails_with 2 "--recover does nothing else and takes no other option"
	run "$APPLY" --method git --recover 6.12 "$T"
	fails_with 2 "--recover does nothing else"
}

# killed_at NAME WORD: a run in which the program NAME, called with WORD among
# its arguments, kills the whole process group in its place.
killed_at() {
	stub "$BATS_TEST_TMPDIR/bin" "$1" "case \$* in *$2*) kill -9 0 ;; esac" "exec $(type -P "$1") \"\$@\""
	PATH=$BATS_TEST_TMPDIR/bin:$PATH run setsid -w "$APPLY" 6.12 "$T"
	[ "$status" -eq 137 ]
}

@test "--recover puts back what a killed run had replaced, and applies nothing" {
	cp -a "$T" "$BATS_TEST_TMPDIR/before"
	killed_at mv "$T/kernel/sched/fair.c"
	grep -q core10_three "$T/kernel/sched/core.c"
	run "$APPLY" --recover 6.12 "$T"
	fails_with 0 "putting it back first: 2 file(s)"
	same "$T" "$BATS_TEST_TMPDIR/before"
	[ "$(stat -c %y "$T" "$T/kernel/sched")" = "$(stat -c %y "$BATS_TEST_TMPDIR/before" "$BATS_TEST_TMPDIR/before/kernel/sched")" ]
}

@test "--recover drops the lock that a killed run held, and only that" {
	commit_all "$T"
	killed_at mv "$T/kernel/sched/fair.c"
	[ -e "$T/.git/index.lock" ]
	run "$APPLY" --check 6.12 "$T"
	fails_with 7 "half changed"
	run "$APPLY" --recover 6.12 "$T"
	fails_with 0 "(method git) was interrupted and had left $T half changed"
	[ ! -e "$T/.git/index.lock" ]
	[ -z "$(git -C "$T" status --porcelain)" ]
	killed_at mv "$T/kernel/sched/fair.c"
	echo other >"$BATS_TEST_TMPDIR/other"
	mv "$BATS_TEST_TMPDIR/other" "$T/.git/index.lock"
	run "$APPLY" --recover 6.12 "$T"
	fails_with 0 "half changed"
	[ "$(cat "$T/.git/index.lock")" = other ]
}

@test "--recover finishes what was killed after the commits were made" {
	commit_all "$T"
	killed_at mv "$T/.git/index"
	[ "$(git -C "$T" rev-list --count HEAD)" -eq 4 ]
	run "$APPLY" --recover 6.12 "$T"
	fails_with 0 "interrupted when all but the clearing up was done; finishing it first"
	[ -z "$(git -C "$T" status --porcelain)" ]
	[ -z "$(find "$T" -name '*kit-apply*' -o -name '*.lock')" ]
	same "$T/kernel" "$AFTER/kernel"
}

@test "the next run mends and then goes on" {
	commit_all "$T"
	killed_at mv "$T/kernel/sched/fair.c"
	run "$APPLY" 6.12 "$T"
	fails_with 0 "putting it back first"
	fails_with 0 "applied 3, already there 0"
	[ "$(git -C "$T" rev-list --count HEAD)" -eq 4 ]
	[ -z "$(git -C "$T" status --porcelain)" ]
}

@test "what somebody wrote into a half changed tree is not overwritten by the mending" {
	killed_at mv "$T/kernel/sched/fair.c"
	echo 'int mine;' >>"$T/kernel/sched/core.c"
	run "$APPLY" --recover 6.12 "$T"
	fails_with 6 "$T/kernel/sched/core.c was changed by somebody since; move it away (as it was before it is in .kit-apply/old/)"
	tail -n 1 "$T/kernel/sched/core.c" | grep -q mine
	mv "$T/kernel/sched/core.c" "$BATS_TEST_TMPDIR/mine.c"
	run "$APPLY" --recover 6.12 "$T"
	fails_with 0 "putting it back first"
	mini_tree "$BATS_TEST_TMPDIR/fresh"
	same "$T" "$BATS_TEST_TMPDIR/fresh"
}

@test "folders in which no name came or went keep their times" {
	touch -d '2001-02-03 04:05:06.789' "$T/kernel/sched" "$T/kernel" "$T"
	times=$(stat -c %y "$T/kernel/sched" "$T/kernel" "$T")
	"$APPLY" 6.12 "$T"
	[ "$(stat -c %y "$T/kernel/sched" "$T/kernel" "$T")" = "$times" ]
}

@test "the scratch folder of a killed run is removed later, that of a live one is not" {
	mkdir "$TMPDIR/kit-apply.killed" "$TMPDIR/kit-apply.alive" "$TMPDIR/kit-apply.young"
	touch -d '5 minutes ago' "$TMPDIR/kit-apply.killed" "$TMPDIR/kit-apply.alive"
	exec 7<"$TMPDIR/kit-apply.alive"
	flock -s 7
	run "$APPLY" --recover 6.12 "$T"
	fails_with 0 "nothing to mend"
	exec 7<&-
	[ ! -e "$TMPDIR/kit-apply.killed" ]
	[ -e "$TMPDIR/kit-apply.alive" ]
	[ -e "$TMPDIR/kit-apply.young" ]
}
