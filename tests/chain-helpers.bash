# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# For the tests on real kernels: `load chain-helpers` after helpers.

# real_tree LTS POINT...: set TREE, for the test, to Debian's tree of the first POINT that can
# be had, else of LTS in whatever version there is.
real_tree() {
	local lts=$1 version
	use_real_cache
	shift
	for version in "$@" "$lts"; do
		TREE=$("$KIT/scripts/fetch-tree.sh" "$version") && export TREE && return
	done
	return 1
}

# verify ARG...: verify-build.sh with a results folder of the test's, OUT.
verify() {
	OUT=$BATS_TEST_TMPDIR/results
	run "$KIT/scripts/verify-build.sh" --out "$OUT" "$@"
	# shellcheck disable=SC2154 # bats sets it
	printf '%s\n' "$output"
}

# result FILTER: what results.json says.
result() { jq -r "$1" "$OUT/results.json"; }

# at_most X Y, at_least X Y: compare numbers with fractions.
at_most() { jq -en "$1 <= $2" >/dev/null || { echo "$1 is not at most $2"; return 1; }; }
at_least() { at_most "$2" "$1"; }

# mutate LTS SED-SCRIPT: a queue in KIT_QUEUE whose patch for LTS is changed.
mutate() {
	local lts=$1
	local patch
	export KIT_QUEUE=$BATS_TEST_TMPDIR/queue
	mkdir -p "$KIT_QUEUE"
	cp -r "$KIT/patches" "$KIT/series" "$KIT_QUEUE/"
	patch=$KIT_QUEUE/patches/$lts/sched-fair-only-update-stats-for-allowed-cpus.patch
	sed -i "$2" "$patch"
	! cmp -s "$patch" "$KIT/patches/$lts/${patch##*/}" || { echo "the mutation changed nothing"; return 1; }
}
