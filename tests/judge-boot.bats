#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# kit-judge on the scenario boot, which measures nothing.
# shellcheck disable=SC2034 # for judge-helpers

load helpers
load lab-helpers
load judge-helpers

boot_scenario() { printf 'program boot\nguest dilation=1\nhost seeds=1\n' >test.scn; }

# boot_run FILE: the golden console of a clean boot, as kit-console reads it.
boot_run() {
	"$KIT_BIN/kit-console" --nonce golden-clean --topology "$KIT/topologies/pair.topo" \
		"$BATS_TEST_DIRNAME/golden/consoles/clean.txt" >"$1"
}

@test "two clean boots are judged with one seed each" {
	boot_scenario
	boot_run run1
	cp run1 run2
	RUNS=(base:1:aa:run1 patched:1:bb:run2)
	EXPECT=no-difference
	judge --reproducible
	code 0
	results '.ok and .metrics == {} and (has("expected") | not)
		and [.checks[].ok] == [true, true] and [.base[].console_sha256] == ["aa"]'
	[ "$(cat out/report.txt)" = "ok: base boots cleanly, with the machine asked for: 1 boots
ok: patched boots cleanly, with the machine asked for: 1 boots" ]
	[ "$(sed -n 2p out/results.ktap)" = 1..2 ]
}

@test "a boot that was not clean is not judged" {
	boot_scenario
	boot_run run1
	jq '.problems = [{kind: "topology", line: 0, text: "x"}]' run1 >run2
	RUNS=(base:1:aa:run1 patched:1:bb:run2)
	EXPECT=no-difference
	judge
	refused "run2: this console has 1 problems"
}

@test "a boot of one kernel only is not judged" {
	boot_scenario
	boot_run run1
	RUNS=(base:1:aa:run1)
	EXPECT=no-difference
	judge
	refused "runs of both sides"
}

@test "the scenario boot of the kit is judged, a goal in it is refused" {
	cp "$KIT/scenarios/boot.scn" test.scn
	boot_run run1
	RUNS=(base:1:aa:run1 patched:1:bb:run1)
	EXPECT=no-difference
	judge
	code 0
	rm out/*
	printf 'host goal_used=1\n' >>test.scn
	judge
	refused "program boot does not measure used"
}

@test "each program of a scenario has a judge" {
	boot_run run1
	RUNS=(base:1:aa:run1 patched:1:bb:run1)
	for f in "$KIT"/scenarios/*.scn; do
		cp "$f" test.scn
		judge
		[[ $output != *"no judge for"* ]]
	done
}
