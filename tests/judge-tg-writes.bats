#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# kit-judge on made-up records of tg-writes.
# shellcheck disable=SC2034 # for judge-helpers

load helpers
load lab-helpers
load judge-helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	mkdir out
	windows_scenario 'ratio_writes=20 every_busiest=1000'
	EXPECT=improved
}

windows_scenario() {
	printf '%s\n' 'program tg-writes' 'guest windows=2 dilation=8' "host seeds=2 $1" >test.scn
}

# windows FILE OWN OTHER BUSIEST: two windows of 100 ms on 4 CPUs.
windows() {
	jq -n --arg own "$2" --arg other "$3" --arg busiest "$4" '{ended: true, problems: [],
		records: [1, 2 | {type: "writes", line: ., fields: {n: tostring, load: "move",
			cpus: "4", window_us: "100000", own: $own, other: $other,
			busiest: $busiest, ops: "5000"}}]}' >"$1"
}

# sides OWN OTHER BUSIEST OWN OTHER BUSIEST: base, then patched, two runs each.
sides() {
	windows run1 "$1" "$2" "$3"
	windows run3 "$4" "$5" "$6"
	cp run1 run2
	cp run3 run4
	RUNS=(base:1:aa:run1 base:2:bb:run2 patched:1:cc:run3 patched:2:dd:run4)
}

@test "writes are a second and CPU, of the busiest CPU a second, from elsewhere a share" {
	sides 2000 6000 2500 90 270 95
	judge --reproducible
	code 0
	results '.metrics | .writes.base.median == 20000 and .writes.patched.median == 900
		and .busiest.base.median == 25000 and .busiest.patched.median == 950
		and .other.base.median == 75 and .ops.base.median == 50000'
	grep -q 'ok: median of writes is at least 20 times better' out/report.txt
}

@test "writes that fall too little fail" {
	sides 2000 6000 2500 110 300 95
	judge --reproducible
	code 1
	grep -q 'NOT OK: median of writes is at least 20 times better: base 20000.00, patched 1025.00' out/report.txt
}

@test "up to a hundred writes a second and CPU are no difference, more are" {
	windows_scenario expect=no-difference
	EXPECT=no-difference
	sides 30 10 20 60 20 40
	judge --reproducible
	code 0
	sides 30 10 20 61 20 40
	judge --reproducible
	code 1
}

@test "one CPU over its bound in one window fails" {
	sides 2000 6000 2500 90 270 95
	edit run4 '.records[1].fields.busiest = "101"'
	judge --reproducible
	code 1
	grep -q 'NOT OK: every patched sample of busiest is at most 1000 writes/s: worst 1010.00 of 4' out/report.txt
}

@test "one write from another node fails where there must be none" {
	windows_scenario 'decide=other every_other=0'
	sides 90 270 95 360 0 95
	judge --reproducible
	code 0
	edit run3 '.records[0].fields.other = "1"'
	judge --reproducible
	code 1
	grep -q 'NOT OK: every patched sample of other is at most 0 %: worst 0.28 of 4' out/report.txt
}

@test "a window in which nothing was written has no share from elsewhere" {
	sides 2000 6000 2500 0 0 0
	judge
	code 0
	results '.metrics.other.patched.median == 0'
}

@test "a record that cannot be is refused" {
	sides 2000 6000 2500 90 270 95
	for wrong in '.ops = "0"' '.busiest = "361"' '.window_us = "0"' '.own = "x"' 'del(.load)' '.cpus = "0"'; do
		windows run3 90 270 95
		edit run3 ".records[0].fields |= ($wrong)"
		judge
		refused "run3: "
	done
}
