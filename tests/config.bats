#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# kit-config: the options that were asked for against those that the kernel got.

load helpers
load lab-helpers

setup_file() { build_tool kit-config; }

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	printf '%s\n' '#' '# Linux/arm64 6.12.95 Kernel Configuration' '#' 'CONFIG_SMP=y' \
		'CONFIG_NR_CPUS=512' '# CONFIG_NUMA is not set' 'CONFIG_EMPTY=""' \
		'CONFIG_CMDLINE="a=b c"' 'CONFIG_MOD=m' >.config
}

# asks LINE...: a fragment of these lines, checked against .config.
asks() {
	printf '%s\n' "$@" >frag
	run "$KIT_BIN/kit-config" .config frag
}

@test "options that were taken give no output and exit code 0" {
	asks '# why' '' 'CONFIG_SMP=y' 'CONFIG_NR_CPUS=512' '# CONFIG_NUMA is not set' \
		'CONFIG_CMDLINE="a=b c"' 'CONFIG_EMPTY=""' 'CONFIG_MOD=m'
	code 0
	[ -z "$output" ]
}

@test "an option that is not set although asked for is named, asked and got" {
	asks CONFIG_NUMA=y
	code 1
	[ "$output" = "CONFIG_NUMA: asked for y, got n" ]
}

@test "an option that this kernel does not know is named" {
	asks CONFIG_SCHED_DEBUG=y
	code 1
	[ "$output" = "CONFIG_SCHED_DEBUG: asked for y, got n" ]
}

@test "an option that is set although not wanted is named" {
	asks '# CONFIG_SMP is not set'
	code 1
	[ "$output" = "CONFIG_SMP: asked for n, got y" ]
}

@test "an option that is not wanted and unknown is no difference" {
	asks '# CONFIG_OTHER is not set' CONFIG_ANOTHER=n
	code 0
}

@test "another number, another string and a module are differences" {
	asks CONFIG_NR_CPUS=51 'CONFIG_CMDLINE="a=b"' CONFIG_MOD=y
	code 1
	[ "$output" = 'CONFIG_NR_CPUS: asked for 51, got 512
CONFIG_CMDLINE: asked for "a=b", got "a=b c"
CONFIG_MOD: asked for y, got m' ]
}

@test "an option whose name begins like another is another" {
	asks CONFIG_SMP_X=y CONFIG_SM=y
	code 1
	[ "${#lines[@]}" -eq 2 ]
}

@test "a later fragment overrides an earlier one" {
	echo CONFIG_NUMA=y >first
	echo '# CONFIG_NUMA is not set' >second
	run "$KIT_BIN/kit-config" .config first second
	code 0
	run "$KIT_BIN/kit-config" .config second first
	code 1
	[ "$output" = "CONFIG_NUMA: asked for y, got n" ]
}

@test "a line that asks for nothing is an error with its place" {
	for bad in CONFIG_SMP COFNIG_SMP=y CONFIG_=y 'CONFIG_A B=y' SMP=y CONFIG_SMP= 'CONFIG_SMP =y'; do
		asks '# first' CONFIG_SMP=y "$bad"
		fails_with 2 "frag:3: '$bad' is no option; write CONFIG_NAME=value"
	done
}

@test "lines that end in CR LF ask for the same" {
	printf 'CONFIG_SMP=y\r\n# CONFIG_NUMA is not set\r\n' >frag
	run "$KIT_BIN/kit-config" .config frag
	code 0
}

@test "a file that cannot be read is named" {
	run "$KIT_BIN/kit-config" missing frag
	fails_with 6 "missing: No such file"
	run "$KIT_BIN/kit-config" .config missing
	fails_with 6 "missing: No such file"
}

@test "wrong arguments give the usage" {
	run "$KIT_BIN/kit-config" .config
	fails_with 2 "usage: kit-config CONFIG FRAGMENT..."
}

@test "a full disk is not taken for success" {
	[ -e /dev/full ] || skip "no /dev/full here"
	echo CONFIG_NUMA=y >frag
	run bash -c '"$KIT_BIN/kit-config" .config frag 2>&1 >/dev/full'
	code 6
}

@test "every fragment of the kit is one that can be asked for" {
	for f in "$KIT"/configs/*.config; do
		run "$KIT_BIN/kit-config" "$f" "$f"
		code 0
	done
}
