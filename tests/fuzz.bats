#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# The fuzz targets of tests/fuzz: the kept inputs and a short run. The long
# runs are `make fuzz`.

load helpers

TARGETS='patch series console topo scenario records config vmrun'

need_fuzzer() {
	need_tool clang 'clang libclang-rt-dev'
	echo 'int LLVMFuzzerTestOneInput(void); int LLVMFuzzerTestOneInput(void) { return 0; }' |
		clang -fsanitize=fuzzer,address -o /dev/null -x c - 2>/dev/null ||
		skip "clang has no libFuzzer here; on Debian: apt-get install libclang-rt-dev"
}

# checkout_copy: what the targets are built from, as $COPY.
checkout_copy() {
	COPY=$BATS_TEST_TMPDIR/copy
	mkdir "$COPY"
	(cd "$KIT" && cp -r --parents Makefile lib queue lab scripts/lib/common.sh tests/*.mk tests/fuzz topologies "$COPY")
	mkdir "$COPY/patches"
}

@test "every target has inputs, a dictionary and its place in the lists" {
	for t in $TARGETS; do
		[ -n "$(ls "$KIT/tests/fuzz/corpus/$t")" ]
		[ -s "$KIT/tests/fuzz/dict/$t" ]
	done
	grep -qx "FUZZ_TARGETS = $TARGETS" "$KIT/tests/fuzz.mk"
	grep -qx "TARGETS=($TARGETS)" "$KIT/tests/fuzz/run.sh"
}

@test "the kept inputs make no finding, built by the host's compiler" {
	echo 'int main(void) { return 0; }' | cc -fsanitize=address,undefined -o "$BATS_TEST_TMPDIR/a" -x c - ||
		skip "the compiler has no sanitizers here; its libasan and libubsan are missing"
	cd "$KIT"
	# shellcheck disable=SC2086 # a list of names
	flock build make -s replay-build
	for t in $TARGETS; do
		run "build/replay/bin/$t" "tests/fuzz/corpus/$t"
		[ "$status" -eq 0 ] || { printf '%s\n' "$output"; false; }
		[[ $output == *"inputs, no finding" ]]
	done
}

@test "a few seconds of fuzzing each target find nothing" {
	need_fuzzer
	run "$KIT/tests/fuzz/run.sh" --seconds 5
	printf '%s\n' "$output"
	[ "$status" -eq 0 ]
	[ "$(grep -c 'executions, .* 0 findings$' <<<"$output")" -eq 8 ]
	[[ $output != *" 0 executions"* ]]
}

@test "a fault is found, told and kept" {
	need_fuzzer
	checkout_copy
	sed -i 's/ || n >= MAX_CPUS/ || n >= 8 * MAX_CPUS/' "$COPY/lib/cpulist.c"
	run ! cmp -s "$COPY/lib/cpulist.c" "$KIT/lib/cpulist.c"
	run "$COPY/tests/fuzz/run.sh" --seconds 200 topo
	printf '%s\n' "$output"
	[ "$status" -eq 1 ]
	[[ $output == *"topo: "*"lib/cpulist.c"*"1 findings" ]]
	finding=$(ls "$COPY"/build/fuzz/findings/topo/*)
	run "$COPY/build/fuzz/bin/topo" "$finding"
	[ "$status" -ne 0 ]
	run "$COPY/build/fuzz/bin/topo" "$KIT/tests/fuzz/corpus/topo/smt"
	[ "$status" -eq 0 ]
}

@test "wrong arguments are usage errors" {
	run "$KIT/tests/fuzz/run.sh" --seconds 0
	fails_with 2 "--seconds takes a whole number above 0"
	run "$KIT/tests/fuzz/run.sh" nothing
	fails_with 2 "no target 'nothing'; there are: patch series"
	run "$KIT/tests/fuzz/run.sh" --what
	fails_with 2 "unknown option --what"
}

@test "without clang the package is named" {
	links "$BATS_TEST_TMPDIR/bin" bash readlink dirname sed make cc grep
	run env PATH="$BATS_TEST_TMPDIR/bin" "$KIT/tests/fuzz/run.sh" topo
	fails_with 5 "apt-get install clang libclang-rt-dev"
}
