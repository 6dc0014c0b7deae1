#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# verify-build.sh on a mini tree with stubs: which patches are on which side, and
# what --scenario all makes of many runs.

load helpers
load queue-helpers
load verify-helpers

setup() { verify_setup; }

# follow_up NAME CLASS WORD: a patch on top of the fix that brings in WORD.
follow_up() {
	edited "$FIXED" "$3" "s/fair50/fair50 $3/"
	new_patch "$1" "$2" "$FIXED" "$EDITED"
}

# side NAME WORD...: the image of that side has just these of the words.
side() {
	local word want=" ${*:2} "
	for word in FIXED MORE LANDED; do
		if [[ $want == *" $word "* ]]; then
			grep -q "$word" "$OUT/boot/$1.image" || { echo "$1 lacks $word"; return 1; }
		else
			absent "$word" "$OUT/boot/$1.image"
		fi
	done
}

# small_kit: $KIT becomes a copy with the scenarios affinity-fork and boot only.
small_kit() {
	mkdir kit
	(cd "$KIT" && cp -r topologies scenarios scripts lib lab queue configs Makefile tests "$BATS_TEST_TMPDIR/kit/")
	KIT=$BATS_TEST_TMPDIR/kit
	find "$KIT/scenarios" -name '*.scn' ! -name affinity-fork.scn ! -name boot.scn -delete
}

@test "other classes go on both sides" {
	follow_up more.patch experimental MORE
	verify --class stable,experimental
	[ "$status" -eq 0 ]
	side base MORE
	side patched FIXED MORE
	[ "$(result .patches_on_both_sides)" = more.patch ]
	[ -f "$OUT/patches/more.patch" ]
	verify
	[ "$status" -eq 0 ]
	side patched FIXED
}

@test "without --class, what lies below the named patches is on both sides" {
	follow_up more.patch experimental MORE
	verify --without more
	fails_with 1 "does not behave as expected"
	side base FIXED
	side patched FIXED MORE
	[ "$(result .named_patches)" = more.patch ]
	[ "$(result .class)" = stable,distro ]
}

@test "what a named patch needs is on both sides, whatever its class" {
	follow_up more.patch experimental MORE
	edited "$EDITED" again 's/fair40/fair40 LANDED/'
	new_patch again.patch experimental "$BATS_TEST_TMPDIR/MORE" "$EDITED"
	sed -i 's/^Kit-Class: .*/&\nKit-Needs: more.patch/' "$KIT_QUEUE/patches/6.12/again.patch"
	verify --without again.patch
	fails_with 1 "does not behave as expected"
	side base FIXED MORE
	side patched FIXED MORE LANDED
}

@test "a landed patch is on the patched side, and taken out of base" {
	edited "$T" before 's/fair50/fair50 LANDED/'
	new_patch old.patch landed "$T" "$EDITED" 6.12.90
	T=$EDITED
	verify --without old
	fails_with 1 "does not behave as expected"
	side base FIXED
	side patched FIXED LANDED
	[[ $(result .base_is) == "the tree with old.patch taken out"* ]]
}

@test "a landed patch that the tree lacks is no comparison" {
	edited "$T" before 's/fair50/fair50 LANDED/'
	new_patch old.patch landed "$T" "$EDITED" 6.12.99
	verify --without old
	fails_with 1 "base and patched are the same kernel to the byte"
}

@test "--without names what the queue has" {
	verify --without other
	fails_with 2 "--without: the queue of 6.12 has no other.patch"
	verify --without a,,b
	fails_with 2 "has an empty word"
	verify --scenario all --without "$FIX"
	fails_with 2 "--without and --each are for one scenario"
}

@test "--each boots the kernel after each patch, and names the one that does not come up" {
	follow_up more.patch distro PANIC
	edited "$EDITED" well 's/PANIC/MORE/'
	new_patch well.patch distro "$BATS_TEST_TMPDIR/PANIC" "$EDITED"
	verify --class stable,distro
	[ "$status" -eq 0 ]
	verify --class stable,distro --each
	fails_with 4 "the kernel with more.patch as its last did not come up"
	[ "$(result .exit_code)" = 4 ]
	sed -i 's/PANIC/QUIET/' "$KIT_QUEUE"/patches/6.12/*.patch
	verify --class stable,distro --each
	[ "$status" -eq 0 ]
	[ -s "$OUT/consoles/each-more-1.txt" ]
	[ -s "$OUT/consoles/each-well-1.txt" ]
	[ "$(result '.base | length')" = 2 ]
}

@test "--clean-only: no improvement is no failure, a panic is one" {
	fixed_with 's/FIXED/nothing/'
	run "$KIT/scripts/verify-build.sh" --tree "$T" --out "$OUT" --clean-only 6.12
	[ "$status" -eq 0 ]
	[ "$(result '.base | length')" = 1 ]
	grep -q 'not judged' "$OUT/report.txt"
	fixed_with 's/FIXED/PANIC/'
	run "$KIT/scripts/verify-build.sh" --tree "$T" --out "$OUT" --clean-only 6.12
	[ "$status" -eq 4 ]
}

@test "--class all runs every scenario and says what each came to" {
	small_kit
	follow_up more.patch experimental MORE
	verify --class all
	fails_with 0 "PASSED: all 2 scenarios on 6.12.95"
	[ "$(result '[.scenarios[] | "\(.scenario) \(.ok)"] | join(",")')" = "boot true,affinity-fork true" ]
	[ -s "$OUT/boot/consoles/each-more-1.txt" ]
	grep -q '^ok     affinity-fork (pair)' "$OUT/report.txt"
	[ "$(cat "$OUT/results.ktap")" = 'KTAP version 1
1..2
ok 1 boot
ok 2 affinity-fork' ]
	verify --class all
	[ "$status" -eq 0 ]
}

@test "scenarios of alternatives are for who asks for alternatives or experiments" {
	. "$KIT/scripts/lib/every.sh"
	for CLASS in '' alternative stable,alternative stable,distro,experimental; do
		asked_for alternative || { echo "not for '$CLASS'"; return 1; }
	done
	CLASS=stable,distro
	! asked_for alternative || return 1
	asked_for landed
	CLASS=alternative
	! asked_for experimental || return 1
}

@test "--class all: one scenario that fails is the exit code, and the others run" {
	small_kit
	fixed_with 's/FIXED/nothing/'
	sed -i 's/^program.*/&\nlts 6.1/' "$KIT/scenarios/boot.scn"
	cp "$KIT/scenarios/affinity-fork.scn" "$KIT/scenarios/zz.scn"
	verify --class all
	fails_with 1 "FAILED: not every scenario passed"
	[[ $output == *"skipping boot: it is for 6.1"* ]]
	[ "$(result '[.scenarios[] | "\(.scenario) \(.exit_code)"] | join(",")')" = "affinity-fork 1,zz 1" ]
	run "$KIT/scripts/verify-build.sh" --tree "$T" --out other --scenario all --class distro 6.12
	[[ $output == *"skipping affinity-fork: $FIX is of class stable"* ]]
	grep -q '^NOT OK zz' "$OUT/report.txt"
}

@test "--scenario all, interrupted, leaves no half-written results and no guest" {
	small_kit
	STUB_QEMU=slow setsid "$KIT/scripts/verify-build.sh" --tree "$T" --out "$OUT" --scenario all 6.12 >log 2>&1 3>&- &
	until_file booting
	kill -TERM $!
	code=0
	wait $! || code=$?
	[ "$code" -eq 143 ] || { echo "$code"; cat log; return 1; }
	[ ! -e "$OUT/boot" ]
	rm -rf "$OUT"
	nothing_left
}
