#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# The queues in plain quilt and in git am, without any script of the kit.
# shellcheck disable=SC2030,SC2031 # each test is its own

load helpers
load queue-helpers

setup() {
	need_tool quilt quilt
	need_tool diffstat diffstat
	unset KIT_QUEUE
}

# filler FILE LAST: lines up to line LAST.
filler() {
	local have
	have=$(wc -l <"$1")
	[ "$have" -ge "$2" ] || seq -f "int filler%g;" $((have + 1)) "$2" >>"$1"
}

# tree_for LTS: make $T, in which the patches of that LTS apply: each file
# holds the old side of the hunks, at their lines, below the line of the
# function that the hunk header names.
tree_for() {
	local patch file n old
	T=$BATS_TEST_TMPDIR/t
	rm -rf "$T" "$BATS_TEST_TMPDIR/before"
	mkdir "$T"
	for patch in "$KIT/patches/$1"/*.patch; do
		while IFS=$'\t' read -r file n _ old _; do
			mkdir -p "$T/${file%/*}"
			touch "$T/$file"
			filler "$T/$file" $((old - 2))
			filterdiff -p1 -i "$file" --hunks="$n" "$patch" >"$BATS_TEST_TMPDIR/hunk"
			sed -n 's/^@@ .* @@ //p' "$BATS_TEST_TMPDIR/hunk" >>"$T/$file"
			filler "$T/$file" $((old - 1))
			sed -n '1,/^@@/d; s/^[- ]//p' "$BATS_TEST_TMPDIR/hunk" >>"$T/$file"
			seq -f "int after$n.%g;" 9 >>"$T/$file"
		done < <("$KIT/build/bin/kit-queue" hunks "$patch")
	done
	cp -a "$T" "$BATS_TEST_TMPDIR/before"
}

@test "plain quilt pushes, refreshes and pops each series whole, patches staying as they are" {
	need_tool filterdiff patchutils
	make -s -C "$KIT" build/bin/kit-queue
	for series in "$KIT"/series/*; do
		grep -q '^[^#]' "$series" || continue
		lts=${series##*/}
		lts=${lts%.*}
		# a copy: a refresh that is not right must not harm the kit
		rm -rf "$BATS_TEST_TMPDIR/p"
		cp -a "$KIT/patches/$lts" "$BATS_TEST_TMPDIR/p"
		tree_for "$lts"
		cd "$T"
		export QUILT_PATCHES=$BATS_TEST_TMPDIR/p QUILT_SERIES=$series
		quilt --quiltrc "$KIT/quiltrc" push -a
		while read -r name; do
			quilt --quiltrc "$KIT/quiltrc" refresh -f "$name"
			cmp "$KIT/patches/$lts/$name" "$BATS_TEST_TMPDIR/p/$name"
		done < <(grep '^[^#]' "$series")
		[ "$(quilt --quiltrc "$KIT/quiltrc" unapplied 2>/dev/null | wc -l)" -eq 0 ]
		run diff -rq "$T/kernel" "$BATS_TEST_TMPDIR/before/kernel"
		[ "$status" -eq 1 ]
		quilt --quiltrc "$KIT/quiltrc" pop -a
		rm -rf .pc
		same "$T" "$BATS_TEST_TMPDIR/before"
	done
}

@test "the README's lines for git am and for quilt do as they say" {
	need_tool filterdiff patchutils
	make -s -C "$KIT" build/bin/kit-queue
	tree_for 6.12
	cd "$T"
	# shellcheck disable=SC2034 # for the README's lines
	kit=$KIT
	quilt_line=$(sed -n '/^    QUILT_PATCHES=\$kit/{N;p}' "$KIT/README.md")
	[ -n "$quilt_line" ]
	eval "$quilt_line"
	grep -q 'for_each_cpu_and(i, sched_group_span(group), p->cpus_ptr)' kernel/sched/fair.c
	quilt --quiltrc "$KIT/quiltrc" pop -a
	rm -rf .pc
	git init -q
	git add -A
	git commit -q -m base
	am_line=$(grep '^    .*| xargs git am$' "$KIT/README.md")
	eval "$am_line"
	grep -q 'for_each_cpu_and(i, sched_group_span(group), p->cpus_ptr)' kernel/sched/fair.c
	[ "$(git log -1 --format=%ae)" = adamli@os.amperecomputing.com ]
}

@test "quilt without the kit's quiltrc pushes too" {
	need_tool filterdiff patchutils
	make -s -C "$KIT" build/bin/kit-queue
	tree_for 6.12
	cd "$T"
	QUILT_PATCHES=$KIT/patches/6.12 QUILT_SERIES=$KIT/series/6.12.stable quilt push -a
	grep -q 'for_each_cpu_and(i, sched_group_span(group), p->cpus_ptr)' kernel/sched/fair.c
}

@test "without the kit's quiltrc a refresh would change the patch, so the file does something" {
	need_tool filterdiff patchutils
	make -s -C "$KIT" build/bin/kit-queue
	tree_for 6.12
	cp -a "$KIT/patches/6.12" "$BATS_TEST_TMPDIR/p"
	cd "$T"
	export QUILT_PATCHES=$BATS_TEST_TMPDIR/p QUILT_SERIES=$KIT/series/6.12.stable
	quilt push -a
	quilt refresh -f
	run diff -r "$KIT/patches/6.12" "$BATS_TEST_TMPDIR/p"
	[ "$status" -eq 1 ]
}

@test "git am takes each patch: author, date, subject, text, tags and diff come through" {
	need_tool filterdiff patchutils
	make -s -C "$KIT" build/bin/kit-queue
	for lts in 6.1 6.6 6.12 6.18; do
		tree_for "$lts"
		cd "$T"
		git init -q
		git add -A
		git commit -q -m base
		while read -r name; do
			patch=$KIT/patches/$lts/$name
			git am -q "$patch"
			[ "$(git log -1 --format='From: %an <%ae>%nDate: %aD%nSubject: %s')" = "$(sed 's/^\(Date: .*, \)0/\1/; /^$/q' "$patch" | sed '/^$/d')" ]
			git log -1 --format=%b >"$BATS_TEST_TMPDIR/body"
			sed '1,/^$/d; /^---$/,$d' "$patch" | diff - <(sed '$d' "$BATS_TEST_TMPDIR/body")
			git log -1 --format='%(trailers:only)' | grep -qx "Kit-Class: stable"
			[ "$(git log -1 --format='%(trailers:key=Kit-Upstream-Commit,valueonly)' | head -c 40)" = \
				"$(sed -n 's/^\[ Upstream commit \(.*\) \]$/\1/p' "$patch")" ]
			git diff HEAD~ HEAD >"$BATS_TEST_TMPDIR/diff"
			[ "$(sed -n '/^[-+]/p' "$BATS_TEST_TMPDIR/diff")" = "$(sed -n '/^--- a/,$p' "$patch" | sed -n '/^[-+]/p')" ]
		done < <(grep '^[^#]' "$KIT/series/$lts.stable")
	done
}
