#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# submit.sh --build: what the mails make is compiled, here by a make that looks for
# the words WARN and BREAK in fair.c (see verify-helpers.bash).

setup() {
	load helpers
	load queue-helpers
	load verify-helpers
	load submit-helpers
	BIN=$BATS_TEST_TMPDIR/bin
	mkdir -p "$BIN"
	write_stubs "$BIN"
	REAL_MAKE=$(type -P make)
	export REAL_MAKE PATH=$BIN:$PATH
	printf '%s\n' 'MemAvailable: 9000000 kB' >"$BATS_TEST_TMPDIR/meminfo"
	export KIT_MEMINFO=$BATS_TEST_TMPDIR/meminfo
	unset STUB_MAKE
	"$KIT/scripts/doctor.sh" --quiet --for build >"$BATS_TEST_TMPDIR/doctor" 2>&1 ||
		skip "this host cannot build kernels: $(head -n 1 "$BATS_TEST_TMPDIR/doctor")"
}

# played SED [SED-OF-THE-TREES]: one fix for 6.18 and 6.12, which changes fair.c by
# SED; the trees had the second before.
played() {
	local lts
	play
	[ -z "${2-}" ] || for lts in 6.12 6.18; do
		git -C "$STABLE" checkout -q "linux-$lts.y"
		sed -i "$2" "$STABLE/kernel/sched/fair.c"
		commit "$STABLE" "Linux $lts.10"
	done
	text "sched/fair: Look at the allowed CPUs only"
	sed -i "$1" "$MAINLINE/kernel/sched/fair.c"
	FIX=$(fix 5 "$BATS_TEST_TMPDIR/text")
	git -C "$MAINLINE" tag v6.19-rc1
	queue_for 6.12 6.18
	for lts in 6.12 6.18; do diff_of "$FIX" | queue_patch "$lts" one "$FIX" stable; done
}

both() { run submit --build --to-stable 6.18,6.12 one; }

@test "each LTS is compiled for both architectures, as it is and with each patch" {
	played 's/int fair;/int fair, fixed;/'
	both
	fails_with 0 "The mails are in"
	[ "$(grep -c 'builds         arm64: Image with ' "$BATS_TEST_TMPDIR/out/summary.txt")" -eq 2 ]
	[ "$(grep -c 'builds         x86_64: bzImage with .*, before and after each patch' "$BATS_TEST_TMPDIR/out/summary.txt")" -eq 2 ]
	[ "$(grep -vc allnoconfig "$BATS_TEST_TMPDIR/goals")" -eq 8 ]
	# the image is that of the last commit
	grep -q 'int fair, fixed;' "$KIT_CACHE/work/submit-6.12/obj-arm64/arch/arm64/boot/Image"
	[ ! -e "$KIT_CACHE/work/submit-6.12/from" ]
	nothing_left
}

@test "a folder that has a Makefile is compiled alone, and a file that no object is of is named" {
	played 's/int fair;/int fair, fixed;/'
	for lts in 6.12 6.18; do
		git -C "$STABLE" checkout -q "linux-$lts.y"
		echo 'obj-y += fair.o' >"$STABLE/kernel/sched/Makefile"
		commit "$STABLE" "Linux $lts.10"
	done
	both
	fails_with 0 "builds         arm64: kernel/sched/ with "
	fails_with 0 "; not compiled with this config: kernel/sched/fair.c"
	[ "$(grep -c '^kernel/sched/$' "$BATS_TEST_TMPDIR/goals")" -eq 8 ]
}

@test "a new warning is refused, one that was there is not" {
	played 's/int fair;/int fair; \/* WARN new *\//'
	both
	fails_with 3 "6.18 (arm64) with one.patch has a new warning: kernel/sched/fair.c: warning: new"
	[ ! -e "$BATS_TEST_TMPDIR/out" ]
	rm -rf "$MAINLINE" "$STABLE" "$KIT_QUEUE"
	played 's/int a = 0;/int a = 1;/' 's/int step_9/\/* WARN old *\/ &/'
	both
	fails_with 0 "The mails are in"
}

@test "what does not compile is refused, and said to be the tree's where it is" {
	played 's/int fair;/int fair; \/* BREAK *\//'
	both
	fails_with 3 "6.18 (arm64) with one.patch does not compile: kernel/sched/fair.c:2:1: error: unknown type name 'BREAK'"
	[ ! -e "$BATS_TEST_TMPDIR/out" ]
	rm -rf "$MAINLINE" "$STABLE" "$KIT_QUEUE"
	played 's/int a = 0;/int a = 1;/' 's/int step_9/\/* BREAK *\/ &/'
	both
	fails_with 3 "6.18 (arm64) as it is, without what is sent, does not compile"
}

@test "a full disk is no fault of the patch" {
	played 's/int fair;/int fair, fixed;/'
	STUB_MAKE=disk both
	fails_with 6 "not the kernel: kernel/sched/fair.o: fatal error: error writing to"
	[ ! -e "$BATS_TEST_TMPDIR/out" ]
}

@test "interrupted while it compiles, nothing runs on and nothing is left" {
	played 's/int fair;/int fair, fixed;/'
	mkdir "$BATS_TEST_TMPDIR/tmp"
	(cd "$BATS_TEST_TMPDIR" && TMPDIR=$BATS_TEST_TMPDIR/tmp STUB_MAKE=slow exec "$SUBMIT" --upstream "$MAINLINE" --stable "$STABLE" \
		--out "$BATS_TEST_TMPDIR/out" --build --to-stable 6.18,6.12 one) >"$BATS_TEST_TMPDIR/said" 2>&1 3>&- &
	pid=$!
	until_file "$BATS_TEST_TMPDIR/building"
	kill -TERM "$pid"
	code=0
	wait "$pid" || code=$?
	[ "$code" -eq 143 ]
	nothing_left
	[ ! -e "$BATS_TEST_TMPDIR/out" ]
	[ -z "$(ls -A "$BATS_TEST_TMPDIR/tmp")" ]
}

@test "a cache folder in which no kernel builds is refused before anything is made" {
	played 's/int fair;/int fair, fixed;/'
	KIT_CACHE="$BATS_TEST_TMPDIR/a cache" both
	fails_with 5 "with blanks or colons in its name"
}
