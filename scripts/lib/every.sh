# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# verify-build.sh --scenario all: one run of itself for each scenario that LTS has
# the patches for, and a table of what came out. OUT gets a results folder for each
# and, after each, a new report.txt, results.json and results.ktap. Needs common.sh, progress.sh,
# walk.sh; all its variables are verify-build.sh's.

# every_scenario: does not return. Exit codes: 0 all passed, else that of the first
# scenario that did not; the others run nevertheless, unless the host is the reason.
every_scenario() {
	local file ret=0 code list
	[ -n "$OUT" ] || OUT=results/$VERSION-$ARCH-all
	mkdir -p -- "$OUT" || die "$EX_INFRA" "cannot make $OUT; name another folder with --out"
	OUT=$(readlink -f -- "$OUT")
	queue_read
	: >"$OUT/summary.tsv" || die "$EX_INFRA" "cannot write to $OUT; is the disk full?"
	# the kernels themselves first, patch by patch
	for file in "$KIT"/scenarios/boot.scn "$KIT"/scenarios/*.scn; do
		[ "$file" != "$KIT/scenarios/boot.scn" ] || [ ! -s "$OUT/summary.tsv" ] || continue
		scenario_applies "$file" || continue
		every_one "$(basename "$file" .scn)"
		code=$?
		[ "$ret" -ne 0 ] || ret=$code
		every_summary || die "$EX_INFRA" "cannot write to $OUT; is the disk full?"
		case $code in "$EX_HOST" | "$EX_INFRA" | "$EX_TREE" | 13[0-9] | 14[0-9]) break ;; esac
	done
	list=$(grep -c . "$OUT/summary.tsv")
	sed 's/^/  /' "$OUT/report.txt" >&2
	[ "$ret" -ne 0 ] || { note "PASSED: all $list scenarios on $VERSION; results are in $OUT"; exit 0; }
	note "FAILED: not every scenario passed on $VERSION; results are in $OUT"
	exit "$ret"
}

# scenario_applies FILE: LTS has the patches, and the scenario is for it. What is
# left out is told, with the reason. A wrong file ends the run.
scenario_applies() {
	local text name why=
	local -A SC=()
	text=$("$KIT_BIN/kit-scenario" "$1" "$TOPOLOGY") || exit "$EX_USAGE"
	read_pairs SC <<<"$text"
	[ -z "${SC[lts]}" ] || [[ ,${SC[lts]}, == *",$LTS,"* ]] || why="it is for ${SC[lts]}"
	for name in ${SC[patches]//,/ }; do
		case ${Q_CLASS[$name]-} in
		'') [ "$name" = none ] || why="the queue of $LTS has no $name" ;;
		*) asked_for "${Q_CLASS[$name]}" || why="$name is of class ${Q_CLASS[$name]}" ;;
		esac
	done
	[ -z "$why" ] || { note "skipping $(basename "$1" .scn): $why"; return 1; }
}

# asked_for CLASS: whether --class, where it was said, means patches of CLASS too.
# What landed was distro before, and an alternative is as little upstream as an
# experiment: who asks for those gets it too.
asked_for() {
	local class=$1
	[ "$class" != landed ] || class=distro
	[ -z "$CLASS" ] || [[ ,$CLASS, == *",$class,"* ]] ||
		[[ $class = alternative && ,$CLASS, == *,experimental,* ]]
}

# every_one NAME: a run of its own, with the options that hold for all.
every_one() {
	local start=$EPOCHREALTIME code args=(--scenario "$1" --tree "$TREE" --arch "$ARCH" --cc "$CC_KIND"
		--accel "$ACCEL_ASKED" --jobs "$JOBS" --out "$OUT/$1")
	[ -z "$TOPOLOGY" ] || args+=(--topology "$TOPOLOGY")
	[ -z "$CONFIG" ] || args+=(--config "$CONFIG")
	[ -z "$SEEDS" ] || args+=(--seeds "$SEEDS")
	[ -z "$CLEAN_ONLY" ] || args+=(--clean-only)
	[ "$1" != boot ] || args+=(--class "${CLASS:-stable,distro,experimental}" --each)
	note "scenario $1"
	in_background "$KIT/scripts/verify-build.sh" "${args[@]}" "$LTS"
	code=$?
	printf '%s\t%s\t%s\n' "$1" "$code" "$(seconds_since "$start")" >>"$OUT/summary.tsv"
	return "$code"
}

# every_summary: report.txt and results.json from summary.tsv and the results.
every_summary() {
	local name code seconds file
	while IFS=$'\t' read -r name code seconds; do
		file=$OUT/$name/results.json
		[ -f "$file" ] || file=/dev/null
		jq -n --arg scenario "$name" --argjson exit_code "$code" --argjson seconds "$seconds" \
			--slurpfile r "$file" '($r[0] // {}) as $r | {scenario: $scenario, exit_code: $exit_code,
			ok: ($exit_code == 0), topology: $r.topology, named_patches: $r.named_patches,
			error: $r.error, checks: ($r.checks // []), metrics: ($r.metrics // {}), seconds: $seconds}' || return
	done <"$OUT/summary.tsv" | jq -s --arg lts "$LTS" --arg version "$VERSION" --arg arch "$ARCH" \
		'{lts: $lts, version: $version, arch: $arch, ok: all(.[]; .ok),
		  scenarios: map(del(.seconds)), times: (map({(.scenario): .seconds}) | add)}' >"$OUT/results.new" &&
		jq -r '"Linux \(.version) (\(.arch))", (.scenarios[] | "\(if .ok then "ok    " else "NOT OK" end) \(.scenario)\(if .topology then " (\(.topology))" else "" end)",
			(.error // empty | "         " + .), (.checks[] | "         \(if .ok then "ok" else "NOT OK" end): \(.check)"))' \
			"$OUT/results.new" >"$OUT/report.new" &&
		jq -r '"KTAP version 1\n1..\(.scenarios | length)", (.scenarios | to_entries[] |
			"\(if .value.ok then "ok" else "not ok" end) \(.key + 1) \(.value.scenario)")' "$OUT/results.new" >"$OUT/results.ktap" &&
		mv -f -- "$OUT/results.new" "$OUT/results.json" && mv -f -- "$OUT/report.new" "$OUT/report.txt"
}
