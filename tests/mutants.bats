#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# tests/mutants/changes: each change finds something to change in the patched source,
# and no patch is without one. The kernels themselves are `make mutants`.

load helpers

# each_series COMMAND: with LTS and the file of each series that holds others whole.
each_series() {
	local series
	for series in "$KIT"/series/*.{experimental,alternative,landed}; do
		! grep -q '^[^#]' "$series" || "$1" "$(basename "${series%.*}")" "$series"
	done
}

# patched LTS SERIES: $T is a tree with that series in it; NAMES its patches.
patched() {
	T=$BATS_TEST_TMPDIR/t
	rm -rf "$T"
	mkdir "$T"
	mapfile -t NAMES < <(grep '^[^#]' "$2")
	printf "$KIT/patches/$1/%s\n" "${NAMES[@]}" | xargs awk -v dir="$T" -f "$KIT/tests/series-tree.awk"
	for name in "${NAMES[@]}"; do patch -s -p1 -d "$T" <"$KIT/patches/$1/$name"; done
}

# changes LTS SERIES: "LTS<TAB>patch<TAB>what" of each change that changes something.
changes() {
	local lts=$1 name what file script
	patched "$@"
	while IFS=$'\t' read -r name what file; do
		[[ " ${NAMES[*]} " == *" $name "* ]] || continue
		script=${file#* } file=${file%% *}
		sed -E -- "$script" "$T/$file" >"$BATS_TEST_TMPDIR/changed"
		cmp -s "$T/$file" "$BATS_TEST_TMPDIR/changed" || printf '%s\t%s\t%s\n' "$lts" "$name" "$what"
	done < <(grep -v '^#' "$KIT/tests/mutants/changes")
}

@test "each change of tests/mutants/changes has something to change" {
	need_tool patch patch
	each_series changes >"$BATS_TEST_TMPDIR/found"
	rows=0
	while IFS=$'\t' read -r name what _; do
		rows=$((rows + 1))
		grep -qP "^[0-9.]+\t\Q$name\E\t\Q$what\E$" "$BATS_TEST_TMPDIR/found" ||
			{ echo "changes nothing anywhere: $name: $what"; false; }
	done < <(grep -v '^#' "$KIT/tests/mutants/changes")
	[ "$rows" -ge 40 ]
}

@test "each patch of each queue has a change" {
	need_tool patch patch
	each_series changes | cut -f1,2 | sort -u >"$BATS_TEST_TMPDIR/found"
	for patch in "$KIT"/patches/*/*.patch; do
		lts=$(basename "$(dirname "$patch")")
		grep -qxF "$lts	${patch##*/}" "$BATS_TEST_TMPDIR/found" || { echo "no change for $lts ${patch##*/}"; false; }
	done
}

@test "each reason of tests/mutants/survivors is for queues that there are, and can be read" {
	while IFS=$'\t' read -r list what why; do
		for lts in ${list//,/ }; do [ -d "$KIT/patches/$lts" ] || { echo "no queue $lts"; false; }; done
		[ -n "$why" ] || { echo "no reason for $what"; false; }
		run grep -qE -- "$what" /dev/null
		[ "$status" -eq 1 ] || { echo "no regular expression: $what"; false; }
	done < <(grep -v '^#' "$KIT/tests/mutants/survivors" | tr -s '\t')
}
