#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# kit-judge on made-up records of wake-stack.
# shellcheck disable=SC2034 # for judge-helpers

load helpers
load lab-helpers
load judge-helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	mkdir out
	printf '%s\n' 'program wake-stack' 'guest windows=2 dilation=4' 'host seeds=2' >test.scn
	EXPECT=improved
}

# wakes FILE STACKED: two windows of 100 ms with 1000 wakeups.
wakes() {
	jq -n --arg stacked "$2" '{ended: true, problems: [], records: [1, 2 | {type: "wake",
		line: ., fields: {n: tostring, wakers: "1", wakees: "15", window_us: "100000",
		wakes: "1000", stacked: $stacked, deepest: "3", mean_us: "120", p50_us: "80",
		p99_us: "900", max_us: "4000"}}]}' >"$1"
}

# sides BASE1 BASE2 PATCHED1 PATCHED2: how many were stacked.
sides() {
	local i
	for i in 1 2 3 4; do wakes "run$i" "${!i}"; done
	RUNS=(base:1:aa:run1 base:2:bb:run2 patched:1:cc:run3 patched:2:dd:run4)
}

@test "fewer wakees on the waker's CPU are an improvement" {
	sides 200 210 100 110
	judge --reproducible
	code 0
	results '.metrics | .stacked.base.median == 20.5 and .stacked.patched.median == 10.5
		and .stacked.outcome == "improved" and .wakes.base.median == 10000
		and .deepest.base.median == 3 and .p50.base.median == 80 and .p99.base.median == 900
		and .mean.base.median == 120 and .max.base.median == 4000'
}

@test "more of them are worse" {
	sides 100 110 200 210
	judge --reproducible
	code 1
	results '.metrics.stacked.outcome == "worse"'
}

@test "a change inside of the noise is no difference" {
	sides 100 300 150 160
	judge --reproducible
	code 1
	results '.metrics.stacked.outcome == "no-difference"'
}

@test "fewer wakeups a second are worse, whatever is stacked" {
	sides 100 110 100 110
	printf '%s\n' 'host decide=wakes' >>test.scn
	for f in run3 run4; do edit "$f" '.records[].fields.wakes = "500"'; done
	EXPECT=worse
	judge --reproducible
	code 0
	results '.metrics.wakes | .outcome == "worse" and .patched.median == 5000'
}

@test "a record that cannot be is refused" {
	sides 200 210 100 110
	for wrong in '.wakes = "0"' '.stacked = "1001"' 'del(.p99_us)' '.mean_us = "x"' \
		'.window_us = "0"' 'del(.wakers)' '.deepest = "-1"' '.max_us = ""'; do
		wakes run3 100
		edit run3 ".records[0].fields |= ($wrong)"
		judge
		refused "run3: "
	done
}
