#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# kit-judge on made-up records of tg-fair.
# shellcheck disable=SC2034 # for judge-helpers

load helpers
load lab-helpers
load judge-helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	mkdir out
	printf '%s\n' 'program tg-fair' 'guest records=2 dilation=1' \
		'host seeds=2 every_error=5' >test.scn
	EXPECT=no-difference
}

# shares FILE USED: two windows of 100 ms on 4 CPUs, of two groups 3:1.
shares() {
	jq -n --arg used "$2" '{ended: true, problems: [], records: [1, 2 | {type: "shares",
		line: ., fields: {n: tostring, case: "weight", cpus: "4", window_us: "100000",
		used_us: $used, due: "750,250"}}]}' >"$1"
}

# sides BASE1 BASE2 PATCHED1 PATCHED2: what the groups used.
sides() {
	local i
	for i in 1 2 3 4; do shares "run$i" "${!i}"; done
	RUNS=(base:1:aa:run1 base:2:bb:run2 patched:1:cc:run3 patched:2:dd:run4)
}

@test "the error is the largest distance from what is due, the rest is idle" {
	sides 300000,100000 304000,96000 296000,104000 300000,100000
	edit run3 '.records[1].fields.used_us = "270000,90000"'
	judge --reproducible
	code 0
	results '[.patched[0].samples[].error] == [1, 0] and [.base[1].samples[].error] == [1, 1]
		and [.patched[0].samples[].idle] == [0, 10]'
}

@test "shares that the patch takes away fail" {
	sides 300000,100000 304000,96000 288000,112000 288000,112000
	judge --reproducible
	code 1
	results '.metrics.error | .outcome == "worse" and .patched.median == 3'
}

@test "one window with a share that is far off fails" {
	sides 300000,100000 300000,100000 300000,100000 300000,100000
	edit run4 '.records[1].fields.used_us = "276000,124000"'
	judge --reproducible
	code 1
	grep -q 'NOT OK: every patched sample of error is at most 5 points: worst 6.00 of 4' out/report.txt
}

@test "a group too many in what was due counts too" {
	sides 300000,100000 300000,100000 300000,100000 300000,100000
	edit run1 '.records[].fields |= (.used_us = "150000,50000,200000" | .due = "375,125,500")'
	judge
	code 0
	results '[.base[0].samples[].error] == [0, 0]'
}

@test "a record that cannot be is refused" {
	sides 300000,100000 300000,100000 300000,100000 300000,100000
	for wrong in '.used_us = "300000"' '.used_us = "300000,x"' '.used_us = "1,2,3"' \
		'.used_us = "0,0"' '.used_us = "1,2,"' '.due = "750,350"' '.window_us = "0"' '.cpus = "0"' \
		'del(.case)' '.used_us = "-1,2"'; do
		shares run3 300000,100000
		edit run3 ".records[0].fields |= ($wrong)"
		judge
		refused "run3: "
	done
}
