#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# kit-judge on made-up records of tg-offline and tg-stall.
# shellcheck disable=SC2034 # for judge-helpers

load helpers
load lab-helpers
load judge-helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	mkdir out
	rounds_scenario tg-offline
	EXPECT=improved
}

rounds_scenario() {
	printf '%s\n' "program $1" 'guest rounds=2 dilation=1' \
		'host seeds=2 every_stale=32' >test.scn
}

# rounds FILE TYPE STALE STALE: two rounds with so much more load than contributions.
rounds() {
	jq -n --arg type "$2" --argjson stale "[$3, $4]" '{ended: true, problems: [],
		records: [0, 1 | {type: $type, line: ., fields: {n: tostring, refused: "0",
			cpus: (if $type == "stall" then "14" else "1,2,3" end), stay_us: "200",
			load: (1000 + $stale[.] | tostring), contrib: "1000", listed: "1"}}]}' >"$1"
}

# sides TYPE BASE-STALE PATCHED-STALE: in the second round of the second run of each.
sides() {
	rounds run1 "$1" 0 0
	rounds run2 "$1" 0 "$2"
	rounds run3 "$1" 0 0
	rounds run4 "$1" 0 "$3"
	RUNS=(base:1:aa:run1 base:2:bb:run2 patched:1:cc:run3 patched:2:dd:run4)
}

@test "stale load in one round of base and in none of patched is an improvement" {
	sides offline 3000 16
	judge --reproducible
	code 0
	grep -q 'ok: stale: improved, expected improved: base 1 of 4 samples, worst 3000.00; patched 0 of 4, worst 16.00' out/report.txt
	results '.base[1].samples[1] | .stale == 3000 and .cpus == "1,2,3" and .load == 4000'
}

@test "stale load that base never shows is no improvement" {
	sides offline 32 0
	judge
	code 1
	results '.metrics.stale.outcome == "no-difference"'
}

@test "stale load in one round of patched fails, also where base shows it too" {
	sides offline 3000 33
	judge --reproducible
	code 1
	results '.metrics.stale.outcome == "no-difference" and [.checks[].ok] == [false, false]'
	grep -q 'NOT OK: every patched sample of stale is at most 32 load: worst 33.00 of 4' out/report.txt
}

@test "load that is missing counts as load that is left" {
	sides offline 3000 -500
	judge --reproducible
	code 1
	grep -q 'worst 500.00 of 4' out/report.txt
}

@test "stale load of tasks that leave is judged in the same way" {
	rounds_scenario tg-stall
	sides stall 1975 0
	judge --reproducible
	code 0
	results '.base[1].samples[1] | .stale == 1975 and .stay_us == 200 and .cpus == 14'
	sides stall 1975 1975
	rm out/*
	judge --reproducible
	code 1
}

@test "fewer rounds than the scenario asks for are not judged" {
	sides offline 3000 0
	edit run3 'del(.records[1])'
	judge
	refused "run3: 1 offline records, but the scenario asks for 2"
}

# wrong FILTER TEXT: a record of run3 edited so is refused.
wrong() {
	sides offline 3000 0
	edit run3 ".records[0].fields |= ($1)"
	judge
	refused "run3: $2"
}

@test "a record that cannot be right is refused" {
	wrong 'del(.load)' 'a record lacks load, contrib or listed'
	wrong '.contrib = ""' 'a record lacks load, contrib or listed'
	wrong '.load = "1e3"' 'a record lacks load, contrib or listed'
	wrong '.load = "99999999999999999999"' 'a record lacks load, contrib or listed'
	wrong '.listed = "0"' 'the group was not listed'
	wrong '.contrib = "-1"' 'the contributions are negative'
	wrong 'del(.refused)' 'a record lacks what its round was like'
	wrong 'del(.cpus)' 'an offline record does not say which CPUs'
}
