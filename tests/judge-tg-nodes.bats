#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# kit-judge on made-up records of tg-nodes.
# shellcheck disable=SC2034 # for judge-helpers

load helpers
load lab-helpers
load judge-helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	mkdir out
	printf '%s\n' 'program tg-nodes' 'guest dilation=1' \
		'host seeds=2 every_leaked=0 every_error=4' >test.scn
	EXPECT=no-difference
	local i
	for i in 1 2 3 4; do steps "run$i"; done
	RUNS=(base:1:aa:run1 base:2:bb:run2 patched:1:cc:run3 patched:2:dd:run4)
}

# steps FILE: the four steps of a kernel that loses nothing.
steps() {
	jq -n '{ended: true, problems: [], records: ([
		{step: "create", n: "1000", each: "40", objects: "80", leaked: "0"},
		{step: "offline", n: "1000", each: "40", objects: "80", leaked: "0"},
		{step: "fail", n: "190", refused: "188", each: "40", objects: "80", leaked: "0"},
		{step: "equal", n: "16", load: "16384", contrib: "16300"}
		] | to_entries | map({type: "groups", line: .key, fields: .value})
		+ [{type: "nodes", line: 9, fields: {online: "0-3"}}])}' >"$1"
}

@test "kernels that lose nothing, with a sum that is right, are no different" {
	judge --reproducible
	code 0
	results '[.checks[].ok] == [true, true, true] and .patched[0].samples[3].error == 0.52'
	grep -q 'ok: every patched sample of leaked is at most 0 objects: worst 0.00 of 8' out/report.txt
}

@test "one object that stays in one step fails" {
	edit run4 '.records[2].fields.leaked = "1"'
	judge --reproducible
	code 1
	results '.metrics.leaked.outcome == "worse" and [.checks[].ok] == [false, false, true]'
}

@test "one object too many that is freed fails" {
	edit run4 '.records[0].fields.leaked = "-1"'
	judge --reproducible
	code 1
}

@test "objects that stay in both kernels fail as well" {
	for f in run2 run3; do edit "$f" '.records[0].fields.leaked = "5"'; done
	judge --reproducible
	code 1
	results '.metrics.leaked.outcome == "no-difference" and [.checks[].ok] == [true, false, true]'
}

@test "a sum that is off by more than the bound fails" {
	edit run3 '.records[3].fields.load = "15600"'
	judge --reproducible
	code 1
	grep -q 'NOT OK: every patched sample of error is at most 4 %: worst 4.29 of 8' out/report.txt
}

# wrong RECORD FILTER TEXT: that record of run3 edited so is refused.
wrong() {
	steps run3
	edit run3 ".records[$1].fields |= ($2)"
	judge
	refused "$3"
}

@test "a record that cannot be right is refused" {
	wrong 0 'del(.step)' 'does not say which step'
	wrong 0 '.n = "0"' 'a step did nothing'
	wrong 0 '.each = "0"' 'a group takes no objects'
	wrong 1 'del(.leaked)' 'lacks one of each, objects, leaked'
	wrong 1 '.leaked = "no"' 'lacks one of each, objects, leaked'
	wrong 2 '.refused = "0"' 'no allocation that failed'
	wrong 3 'del(.load)' 'lacks load or contrib'
	wrong 3 '.contrib = "0"' 'the group had no load'
}
