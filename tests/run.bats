#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# tests/run.sh itself, in a copy of the kit with tests of its own.

load helpers

setup() {
	COPY=$BATS_TEST_TMPDIR/kit
	mkdir -p "$COPY/tests/unit" "$COPY/scripts"
	cp -r "$KIT/scripts/lib" "$COPY/scripts/"
	cp "$KIT"/tests/run.sh "$KIT"/tests/run-one "$COPY/tests/"
	stub "$COPY/scripts" doctor.sh 'exit 0'
	echo 'tools unit:' >"$COPY/Makefile"
	cd "$COPY/tests" || return
	printf '%s\n' '#!/usr/bin/env bats' '@test "is quick" {' 'true' '}' >quick.bats
	printf '%s\n' '#!/usr/bin/env bats' '@test "is a chain" {' 'true' '}' >chain-one.bats
}

tests() { run --separate-stderr ./run.sh "$@" quick.bats chain-one.bats; }

@test "the last line counts what passed, and --fast leaves the chain out" {
	tests
	[ "$status" -eq 0 ]
	[ "${lines[-1]}" = "2 passed, 0 failed, 0 skipped" ]
	tests --fast
	[ "${lines[-1]}" = "1 passed, 0 failed, 0 skipped" ]
}

@test "a test that fails, a file that breaks off and one that has no plan all fail the run" {
	for line in false 'exit 1' 'kill -9 $BATS_ROOT_PID; kill -9 $PPID'; do
		printf '%s\n' '#!/usr/bin/env bats' '@test "one" {' 'true' '}' '@test "breaks" {' "$line" '}' >quick.bats
		tests
		[ "$status" -eq 1 ]
		[[ ${lines[-1]} =~ ^[0-9]+\ passed,\ 1\ failed ]]
	done
}

@test "after the time of --within no file is begun, which is told, and the rest counts" {
	# a clock that jumps when the first file has run
	sed -i 's/^printf -v now .*/now=$(cat "$KIT\/now")/' run-one
	printf '%s\n' '#!/usr/bin/env bats' '@test "takes long" {' "echo 99999999999 >$COPY/now" '}' >quick.bats
	echo 0 >"$COPY/now"
	run --separate-stderr ./run.sh --within 10 quick.bats chain-one.bats
	[ "$status" -eq 0 ]
	[ "${lines[-1]}" = "1 passed, 0 failed, 1 skipped" ]
	[[ $output == *"skipped: chain-one.bats: tests/chain-one.bats"*"no time is left"* ]]
}

@test "--within takes minutes, and wrong arguments are usage errors" {
	for bad in "--within" "--within 0" "--within x" --what missing.bats; do
		# shellcheck disable=SC2086 # words
		run --separate-stderr ./run.sh $bad
		[ "$status" -eq 2 ]
	done
}
