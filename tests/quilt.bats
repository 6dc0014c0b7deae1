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

# patches_of LTS CLASS: the paths of the series, one a line.
patches_of() { grep '^[^#]' "$KIT/series/$1.$2" | sed "s,^,$KIT/patches/$1/,"; }

# tree_for LTS CLASS: make $T, in which the patches of that series apply.
tree_for() {
	T=$BATS_TEST_TMPDIR/t
	rm -rf "$T" "$BATS_TEST_TMPDIR/before"
	mkdir "$T"
	patches_of "$1" "$2" | xargs awk -v dir="$T" -f "$BATS_TEST_DIRNAME/series-tree.awk"
	cp -a "$T" "$BATS_TEST_TMPDIR/before"
}

@test "plain quilt pushes, refreshes and pops each series whole, patches staying as they are" {
	for series in "$KIT"/series/*; do
		grep -q '^[^#]' "$series" || continue
		lts=${series##*/}
		lts=${lts%.*}
		# a copy: a refresh that is not right must not harm the kit
		rm -rf "$BATS_TEST_TMPDIR/p"
		cp -a "$KIT/patches/$lts" "$BATS_TEST_TMPDIR/p"
		tree_for "$lts" "${series##*.}"
		cd "$T"
		export QUILT_PATCHES=$BATS_TEST_TMPDIR/p QUILT_SERIES=$series
		while read -r name; do
			quilt --quiltrc "$KIT/quiltrc" push
			top=$(quilt --quiltrc "$KIT/quiltrc" top)
			[ "${top##*/}" = "$name" ]
			quilt --quiltrc "$KIT/quiltrc" refresh -f
			cmp "$KIT/patches/$lts/$name" "$BATS_TEST_TMPDIR/p/$name"
		done < <(grep '^[^#]' "$series")
		[ "$(quilt --quiltrc "$KIT/quiltrc" unapplied 2>/dev/null | wc -l)" -eq 0 ]
		run diff -rq "$T/kernel" "$BATS_TEST_TMPDIR/before/kernel"
		[ "$status" -eq 1 ]
		quilt --quiltrc "$KIT/quiltrc" pop -a
		quilt --quiltrc "$KIT/quiltrc" push -a
		quilt --quiltrc "$KIT/quiltrc" pop -a
		rm -rf .pc
		same "$T" "$BATS_TEST_TMPDIR/before"
	done
}

@test "the README's lines for git am and for quilt do as they say" {
	tree_for 6.12 stable
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
	am_line=$(grep '^    .*| xargs git .*am$' "$KIT/README.md")
	eval "$am_line"
	grep -q 'for_each_cpu_and(i, sched_group_span(group), p->cpus_ptr)' kernel/sched/fair.c
	[ "$(git log -1 --format=%ae)" = adamli@os.amperecomputing.com ]
}

@test "quilt without the kit's quiltrc pushes too" {
	tree_for 6.12 stable
	cd "$T"
	QUILT_PATCHES=$KIT/patches/6.12 QUILT_SERIES=$KIT/series/6.12.stable quilt push -a
	grep -q 'for_each_cpu_and(i, sched_group_span(group), p->cpus_ptr)' kernel/sched/fair.c
}

@test "without the kit's quiltrc a refresh would change the patch, so the file does something" {
	tree_for 6.12 stable
	cp -a "$KIT/patches/6.12" "$BATS_TEST_TMPDIR/p"
	cd "$T"
	export QUILT_PATCHES=$BATS_TEST_TMPDIR/p QUILT_SERIES=$KIT/series/6.12.stable
	quilt push -a
	quilt refresh -f
	run diff -r "$KIT/patches/6.12" "$BATS_TEST_TMPDIR/p"
	[ "$status" -eq 1 ]
}

@test "git am takes each patch: author, date, subject, text, tags and diff come through" {
	for series in "$KIT"/series/*.{experimental,landed,alternative}; do
		grep -q '^[^#]' "$series" || continue
		lts=${series##*/}
		lts=${lts%.*}
		tree_for "$lts" "${series##*.}"
		cd "$T"
		git init -q
		git add -A
		git commit -q -m base
		while read -r patch; do
			git am -q "$patch"
			[ "$(git log -1 --format='From: %an <%ae>%nDate: %aD%nSubject: %s')" = "$(sed 's/^\(Date: .*, \)0/\1/; /^$/q' "$patch" | sed '/^$/d')" ]
			git log -1 --format=%b >"$BATS_TEST_TMPDIR/body"
			sed '1,/^$/d; /^---$/,$d' "$patch" | diff - <(sed '$d' "$BATS_TEST_TMPDIR/body")
			git log -1 --format='%(trailers:only)' | sed '/^$/d' | diff - <(grep '^Kit-' "$patch")
			[ "$(git log -1 --format='%(trailers:key=Kit-Upstream-Commit,valueonly)' | head -c 40)" = \
				"$(sed -n 's/^\[ Upstream commit \(.*\) \]$/\1/p' "$patch")" ]
			# sorted: git can say the same change with other lines as context
			git diff HEAD~ HEAD | grep '^[-+]' | sort >"$BATS_TEST_TMPDIR/diff"
			sed -n '/^--- a/,$p' "$patch" | grep '^[-+]' | sort | diff - "$BATS_TEST_TMPDIR/diff"
		done < <(patches_of "$lts" "${series##*.}")
	done
}

@test "these trees are no trees for patches in another order" {
	backwards() { patches_of 6.6 distro | tac | xargs awk -v dir="$BATS_TEST_TMPDIR/t" -f "$BATS_TEST_DIRNAME/series-tree.awk"; }
	mkdir "$BATS_TEST_TMPDIR/t"
	run backwards
	[ "$status" -ne 0 ]
	[[ $output == *"6.6/sched-fair-ratelimit"*"wants"* ]]
}
