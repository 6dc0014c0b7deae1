# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What the tests of the lab's tools share, on top of helpers.bash.

KIT_BIN=$KIT/build/bin
export KIT_BIN

# build_tool NAME...: make these host tools up to date. Call it in
# setup_file(); files run in parallel, so it is one at a time.
build_tool() {
	mkdir -p "$KIT/build"
	(
		flock 9
		make -s -C "$KIT" "${@/#/build/bin/}" >&2
	) 9>"$KIT/build/.lock"
}

# has TEXT: the last `run` said TEXT.
# shellcheck disable=SC2154 # bats sets status and output
has() {
	[[ $output == *"$1"* ]] || { printf 'wanted: %s\ngot:\n%s\n' "$1" "$output"; return 1; }
}

# code N: the last `run` left with N.
# shellcheck disable=SC2154
code() {
	[ "$status" -eq "$1" ] || { printf 'wanted exit %s, got %s:\n%s\n' "$1" "$status" "$output"; return 1; }
}
