#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# kit-judge on made-up records: what the verdict is, when it is none, and what
# is written out.
# shellcheck disable=SC2034 # for judge-helpers

load helpers
load lab-helpers
load judge-helpers

@test "an improvement is as expected where one is expected" {
	runs 25 26 98 99
	judge
	code 0
	results '.ok and .metrics.used.outcome == "improved" and .metrics.used.base.median == 25.5
		and .metrics.used.patched.median == 98.5 and .metrics.used.effect == 73
		and .metrics.used.noise == 1'
}

# outcomes: what each outcome does against each expectation.
against() {
	local word=$1 outcome=$2 want=$3
	EXPECT=$word
	judge
	code "$want"
	results ".metrics.used.outcome == \"$outcome\" and .expected == \"$word\" and .ok == ($want == 0)"
}

@test "an improvement against each expectation" {
	scenario
	runs 25 26 98 99
	against improved improved 0
	against no-difference improved 1
	against worse improved 1
}

@test "no difference against each expectation" {
	scenario
	runs 95 95 95.4 95.8
	against improved no-difference 1
	against no-difference no-difference 0
	against worse no-difference 1
}

@test "a worsening against each expectation" {
	scenario
	runs 98 98 30 31
	against improved worse 1
	against no-difference worse 1
	against worse worse 0
}

@test "noise that is bigger than the effect leaves no difference measurable" {
	runs 20 70 80 82
	judge
	code 1
	results '.metrics.used | .outcome == "no-difference" and .noise == 50'
	grep -q 'no difference measurable, expected improved' out/report.txt
	EXPECT=no-difference
	judge
	code 0
	grep -q '^ok 1 .*no difference measurable' out/results.ktap
}

@test "goals that are met are checks that pass" {
	runs 25 26 98 99
	judge --reproducible
	code 0
	results '[.checks[].ok] == [true, true, true]'
	grep -q 'ok: patched median of used is at least 97 %: 98.50' out/report.txt
	grep -q 'ok: patched median of cov is at most 2 %: 0.00' out/report.txt
}

@test "a goal that is missed fails although there is an improvement" {
	runs 25 26 90 91
	judge --reproducible
	code 1
	results '.metrics.used.outcome == "improved" and [.checks[].ok] == [true, false, true]'
	grep -q '^NOT OK: patched median of used is at least 97 %: 90.50' out/report.txt
	grep -q '^not ok 2 patched median of used' out/results.ktap
}

@test "a goal is met exactly at its bound" {
	runs 25 26 97 97
	judge --reproducible
	code 0
}

@test "a spread between workers over its goal fails" {
	runs 25 26 98 99
	for f in run3 run4; do
		edit "$f" '.records |= map(if .type == "storm" then .fields.run_us = "99000,99000,99000,93000" else . end)'
	done
	judge --reproducible
	code 1
	results '[.checks[].ok] == [true, true, false] and .metrics.cov.patched.median == 2.66'
}

@test "goals are for improvements: where none is expected they are not looked at" {
	runs 60 60 60 60
	EXPECT=no-difference
	judge --reproducible
	code 0
	results '(.checks | length) == 1'
}

@test "goals are for reproducible runs: elsewhere only the verdict counts" {
	runs 25 26 90 91
	judge
	code 0
	results '(.checks | length) == 1 and (.reproducible | not)'
}

@test "a goal of none is not looked at" {
	scenario 'goal_used=none goal_cov=2'
	runs 25 26 90 91
	judge --reproducible
	code 0
	results '(.checks | length) == 2'
}

@test "a goal for what the program does not measure is refused" {
	scenario 'goal_usd=97'
	runs 25 26 98 99
	judge
	refused "test.scn: goal_usd: program affinity-fork does not measure usd"
}

@test "a bound for every sample fails by its worst one, whatever is expected" {
	scenario 'every_used=97 every_cov=none'
	runs 95 95 98 99
	judge --reproducible
	code 0
	grep -q 'ok: every patched sample of used is at least 97 %: worst 97.50' out/report.txt
	EXPECT=no-difference
	runs 96 96 97 96.5
	judge --reproducible
	code 1
	grep -q 'NOT OK: every patched sample of used is at least 97 %: worst 96.00' out/report.txt
}

@test "a ratio is how many times the patched median is better" {
	scenario 'ratio_used=3'
	runs 25 26 98 99
	judge --reproducible
	code 0
	grep -q 'ok: median of used is at least 3 times better: base 25.50, patched 98.50' out/report.txt
	scenario 'ratio_used=4'
	judge --reproducible
	code 1
}

@test "another metric can decide, and must be one" {
	scenario 'decide=cov'
	runs 25 26 98 99
	judge
	grep -q ': no difference measurable, expected improved: base 0.00' out/report.txt
	code 1
	scenario 'decide=speed'
	judge
	code 2
	[[ $output == *"decide: program affinity-fork does not measure speed" ]]
}

@test "with --clean-only the figures are shown, and not judged" {
	runs 25 26 25 26
	RUNS=(base:1:aa:run1 patched:1:cc:run3)
	judge --reproducible --clean-only
	code 0
	results '[.checks[].check] == ["base runs cleanly, with the machine asked for: 1 boots", "patched runs cleanly, with the machine asked for: 1 boots"]
		and .metrics.used.base.median == 25'
	edit run3 '.problems = ["x"]'
	judge --reproducible --clean-only
	code 2
}

@test "one run of base shows no noise and is refused" {
	runs 25 26 98 99
	RUNS=("${RUNS[@]:1}")
	judge
	refused "one seed repeats itself"
}

@test "one seed given twice shows no noise either and is refused" {
	runs 25 26 98 99
	RUNS[1]=base:1:bb:run2
	judge
	refused "seed 1 of base is given twice"
}

@test "runs of one side alone are refused" {
	runs 25 26 98 99
	RUNS=("${RUNS[@]:0:2}")
	judge
	refused "runs of both sides"
}

@test "a worker outside of its mask fails, whatever was gained" {
	runs 25 26 98 99
	edit run3 '.records[2].fields.cpu = "0,1,2,4"'
	judge
	code 1
	grep -q 'NOT OK: every task stays on its allowed CPUs: not in 0 samples of base and 1 of patched' out/report.txt
}

@test "a worker too few is an error" {
	runs 25 26 98 99
	edit run3 '.records[2].fields |= (.cpu = "0,1,2" | .run_us = "1,2,3")'
	judge
	refused "run3: not as many workers as allowed CPUs"
}

@test "workers without a CPU, times without a number, and windows without a length are errors" {
	runs 25 26 98 99
	cp run1 good
	edit run1 '.records[1].fields.cpu = "0,1,2"'
	judge
	refused "run1: cpu is no list of CPUs as long as run_us"
	for bad in '1,2,x,4' 'nan,1,1,1' 'inf,1,1,1' '-5,1,1,1'; do
		cp good run1
		edit run1 ".records[1].fields.run_us = \"$bad\""
		judge
		refused "run1: run_us is no list of numbers"
	done
	for bad in '' 0 -1 nan x; do
		cp good run1
		edit run1 ".records[1].fields.window_us = \"$bad\""
		judge
		refused "run1: the window has no length"
	done
	cp good run1
	edit run1 'del(.records[1].fields.parent)'
	judge
	refused "run1: a storm record lacks one of"
}

@test "a storm record that is missing is an error" {
	runs 25 26 98 99
	edit run4 'del(.records[2])'
	judge
	refused "run4: 2 storm records, but the scenario asks for 3"
}

@test "a run without a storm is an error" {
	runs 25 26 98 99
	edit run4 '.records = []'
	judge
	refused "run4: no storm record; did the scenario run?"
}

@test "a run whose console had problems is not judged" {
	runs 25 26 98 99
	edit run1 '.problems = [{kind: "warn", line: 1, text: "x"}]'
	judge
	refused "run1: this console has 1 problems"
	runs 25 26 98 99
	edit run1 '.ended = false'
	judge
	refused "run1: this guest did not come to its end"
}

@test "a run that cannot be read, or is no JSON, is named" {
	runs 25 26 98 99
	RUNS[0]=base:1:aa:missing
	judge
	refused "missing"
	printf '{"records": [\n oops' >run1
	RUNS[0]=base:1:aa:run1
	judge
	refused "run1:2:"
}

@test "a second call writes byte for byte the same" {
	runs 25 26 98 99
	judge --reproducible --meta a.b=c --meta lts=6.12 --time build=12.5
	code 0
	cp -r out first
	judge --reproducible --meta a.b=c --meta lts=6.12 --time build=12.5
	code 0
	diff -r first out
}

@test "the order of the runs does not change the verdict" {
	runs 20 30 98 99
	judge
	jq .metrics out/results.json >first
	RUNS=("${RUNS[3]}" "${RUNS[1]}" "${RUNS[2]}" "${RUNS[0]}")
	judge
	jq .metrics out/results.json | cmp - first
}

@test "times are in a block of their own, and nothing else differs with them" {
	runs 25 26 98 99
	judge --time build=12.5
	jq 'del(.times)' out/results.json >first
	results '.times == {build: 12.5}'
	judge --time build=99 --time boot.base-1=3
	jq 'del(.times)' out/results.json | cmp - first
}

@test "every storm's figures and each console's hash are in results.json" {
	runs 25 26 98 99
	judge
	results '[.base[].console_sha256] == ["aa", "bb"] and [.patched[].seed] == [1, 2]
		and ([.base[].samples[]] | length) == 6
		and .base[0].samples[0] == {n: 0, parent: 0, window_us: 100000, fork_us: 400,
			start_us: 500, cpus_used: 4, most_on_one_cpu: 1,
			workers_per_cpu: [1, 1, 1, 1], used: 24.5, cov: 0}'
}

@test "workers that share a CPU are counted as such" {
	runs 25 26 98 99
	edit run1 '.records[1].fields |= (.cpu = "0,0,0,2" | .run_us = "20000,20000,20000,60000")'
	judge
	results '.base[0].samples[0] | .cpus_used == 2 and .most_on_one_cpu == 3
		and .workers_per_cpu == [3, 0, 1, 0] and .used == 30 and .cov == 57.74'
}

@test "the KTAP has its version, a plan and numbered lines" {
	runs 25 26 90 91
	judge --reproducible
	mapfile -t ktap <out/results.ktap
	[ "${ktap[0]}" = "KTAP version 1" ]
	[ "${ktap[1]}" = "1..3" ]
	[ ${#ktap[@]} -eq 5 ]
	[[ ${ktap[2]} == "ok 1 "* && ${ktap[3]} == "not ok 2 "* && ${ktap[4]} == "ok 3 "* ]]
	[[ "${ktap[*]}" != *"#"* ]]
}

@test "a run that is not reproducible is marked as such" {
	runs 25 26 98 99
	judge --reproducible
	results '.reproducible == true'
	run grep -c 'not reproducible' out/report.txt
	[ "$output" = 0 ]
	judge
	results '.reproducible == false'
	grep -q '^not reproducible: ' out/report.txt
}

@test "what was given as meta is in results.json, in its place" {
	runs 25 26 98 99
	judge --meta lts=6.12 --meta sha256.config=abc --meta sha256.image=def=
	results '.lts == "6.12" and .sha256 == {config: "abc", image: "def="}'
	rm out/*
	judge --meta lts=6.12 --meta lts.x=1
	refused "'lts.x=1' is given twice"
	judge --meta lts
	refused "'lts' is not KEY=VALUE"
	judge --time build=fast
	refused "'build=fast' is given twice, or is no KEY=SECONDS"
}

@test "a program without a judge is named" {
	runs 25 26 98 99
	sed -i 's/^program .*/program juggle/' test.scn
	judge
	refused "no judge for program juggle"
}

@test "wrong arguments give one line and exit code 2" {
	runs 25 26 98 99
	judge --other
	refused "wrong arguments; kit-judge --help"
	EXPECT=better
	judge
	refused "--expect takes improved, no-difference or worse, not 'better'"
	EXPECT=improved
	for bad in base:1:aa sideways:1:aa:run1 base:x:aa:run1 base::aa:run1 base:1:aa:; do
		RUNS[0]=$bad
		judge
		refused "'$bad' is no run"
	done
	RUNS=()
	judge
	refused "wrong arguments; kit-judge --help"
}

@test "a mask that is no CPU list is an error" {
	runs 25 26 98 99
	judge --cpus 0-x
	refused "the mask is no CPU list"
}

@test "a folder that cannot be written is no verdict" {
	runs 25 26 98 99
	judge --out missing
	fails_with 6 "missing/results.json: No such file"
}

@test "a full disk is no verdict" {
	[ -e /dev/full ] || skip "no /dev/full here"
	runs 25 26 98 99
	ln -s /dev/full out/results.json
	judge
	fails_with 6 "cannot write results.json"
}

# Program boot: nothing is measured.

@test "where no patch is named, the report says what base and patched differ by" {
	runs 60 61 98 99
	judge --meta version=6.1.1 --meta named_patches=a.patch
	grep -q '^patched adds a.patch$' out/report.txt
	judge --meta version=6.1.1 --meta named_patches=
	grep -q '^patched adds no patch: the two differ by the header' out/report.txt
}
