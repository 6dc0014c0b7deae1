# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154,SC2034 # bats sets status, output and lines
# What the tests of kit-judge share.

setup_file() { build_tool kit-judge kit-console; }

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	mkdir out
	scenario 'goal_used=97 goal_cov=2'
	EXPECT=improved
}

# scenario HOST-SETTINGS: test.scn, three storms a run.
scenario() {
	printf '%s\n' 'program affinity-fork' 'mask m' 'guest storms=3 dilation=8' \
		"host seeds=2 $1" >test.scn
}

# storms FILE USED...: a run as kit-console prints it; four workers on CPUs
# 0-3, each with the same USED per cent of a window of 100 ms.
storms() {
	local file=$1
	shift
	printf '%s\n' "$@" | jq -n '[inputs] | {ended: true, problems: [], records:
		([{type: "hello", line: 1, fields: {nonce: "x"}}] + (to_entries | map(
		(.value * 1000 | tostring) as $us | {type: "storm", line: (.key + 2), fields: {
			n: (.key | tostring), parent: "0", window_us: "100000",
			fork_us: "400", start_us: "500", cpu: "0,1,2,3",
			run_us: ([$us, $us, $us, $us] | join(","))}})))}' >"$file"
}

# edit FILE FILTER: change a run with jq.
edit() { jq "$2" "$1" >edited && mv edited "$1"; }

# runs BASE1 BASE2 PATCHED1 PATCHED2: a run of each, three storms that use that
# share, give or take half a per cent.
runs() {
	local i
	RUNS=()
	for i in 1 2 3 4; do
		storms "run$i" "$(jq -n "${!i}-0.5")" "${!i}" "$(jq -n "${!i}+0.5")"
	done
	RUNS=(base:1:aa:run1 base:2:bb:run2 patched:1:cc:run3 patched:2:dd:run4)
}

# judge [ARG...]: kit-judge on RUNS.
judge() {
	run "$KIT_BIN/kit-judge" --scenario test.scn --topology t --cpus 0-3 \
		--expect "$EXPECT" --out out "$@" "${RUNS[@]}"
}

# results FILTER: it is true for results.json.
results() { jq -e "$1" out/results.json >/dev/null || { jq . out/results.json; return 1; }; }

# refused TEXT: exit 2, one line, and nothing written.
refused() {
	fails_with 2 "$1"
	[ "${#lines[@]}" -eq 1 ]
	[ -z "$(ls out)" ]
}
