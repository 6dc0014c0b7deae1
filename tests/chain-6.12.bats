#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# The whole chain on a 6.12 that has the fix: base is made by taking it out.

load helpers
load chain-helpers

# A release that has the fix: the newest in the cache folder, else Debian's.
setup() {
	use_real_cache
	TREE=$("$KIT/scripts/fetch-tree.sh" 6.12)
	case ${TREE##*/6.12.} in [1-8]? | 9[0-6]) TREE=$("$KIT/scripts/fetch-tree.sh" --from debian 6.12) ;; esac
}

@test "6.12: the fix is proved on a tree that has it, with a base that lacks it" {
	verify --tree "$TREE" 6.12
	[ "$status" -eq 0 ]
	[[ $(result .base_is) == *"taken out"* ]]
	at_most "$(result .metrics.used.base.median)" 50
	at_least "$(result .metrics.used.patched.median)" 97
}

@test "6.12: mutants.sh kills a mutant by what its boots show, and blames no mutant for a QEMU that fails" {
	verify --seeds 2 --tree "$TREE" 6.12
	[ "$status" -eq 0 ]
	run "$KIT/tests/mutants.sh" --only 'forbidden CPUs' "$TREE" "$OUT"
	printf '%s\n' "$output"
	[ "$status" -eq 0 ]
	[[ $output == *"killed: NOT OK: "* ]]
	[[ ${lines[-1]} == "1 mutants of "*": 1 killed (0 by decides.sh, 0 by a new warning, the others by boots), 0 survive"* ]]
	stub "$BATS_TEST_TMPDIR/bin" qemu-system-aarch64 'echo "no machine today" >&2' 'exit 1'
	PATH=$BATS_TEST_TMPDIR/bin:$PATH run "$KIT/tests/mutants.sh" --only 'forbidden CPUs' "$TREE" "$OUT"
	printf '%s\n' "$output"
	[ "$status" -eq 6 ]
	[[ $output != *killed* ]]
}

@test "6.12: an eighth of the reported machine shows what was reported" {
	verify --topology turin20 --tree "$TREE" 6.12
	[ "$status" -eq 0 ]
	at_most "$(result .metrics.used.base.median)" 50
	at_least "$(result .metrics.used.patched.median)" 97
}

@test "6.12: Ctrl-C during the boots leaves no QEMU and no half-written results" {
	OUT=$BATS_TEST_TMPDIR/results
	env --default-signal=INT setsid "$KIT/scripts/verify-build.sh" --tree "$TREE" --out "$OUT" 6.12 3>&- &
	pid=$!
	until pgrep -s "$pid" -f "consoles/base-1.txt" >/dev/null; do
		kill -0 "$pid"
		sleep 0.2
	done
	kill -INT "$pid"
	ret=0
	wait "$pid" || ret=$?
	[ "$ret" -eq 130 ]
	# Zombies are whatever the host's init has not got round to.
	left=$(ps -o stat=,args= -s "$pid" | grep -v '^Z' || true)
	[ -z "$left" ]
	[ -z "$(find "$BATS_TEST_TMPDIR" -maxdepth 1 -name '*results*')" ]
}
