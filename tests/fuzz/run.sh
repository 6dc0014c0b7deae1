#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# tests/fuzz/run.sh [--seconds N] [NAME...]
#
# Fuzzes the code that reads what others wrote, with clang's libFuzzer and the
# address and undefined-behaviour sanitizers: each target NAME (default: all of
# tests/fuzz.mk) for N seconds (default 600), one after the other. Inputs start
# from tests/fuzz/corpus/NAME and the kit's own files of that kind; what is
# found on the way stays in build/fuzz/corpus/NAME for the next time.
#
# stdout: a line for each target: executions, coverage (edges and features),
# inputs kept, findings. A finding is a file in build/fuzz/findings/NAME, and
# the line above the summary says what went wrong:
#	build/fuzz/bin/NAME FILE
# shows it again. Once mended, add the file to tests/fuzz/corpus/NAME.
#
# Memory that the code leaves for the end of the process is freed after each
# input (tests/fuzz/memory.h), so leaks are not looked for.
#
# Exit: 0 no finding; 1 one or more; 2 usage; 5 no clang, or no libFuzzer.

. "$(dirname -- "$(readlink -f -- "$0")")/../../scripts/lib/common.sh"

TARGETS=(patch series console topo scenario records config vmrun)

# own_files NAME: the folders whose files are good inputs for the target.
own_files() {
	case $1 in
	patch) printf '%s\n' patches/* ;;
	series) echo series ;;
	console) echo tests/golden/consoles ;;
	topo) echo topologies ;;
	scenario) echo scenarios ;;
	config) echo configs ;;
	esac
}

# biggest NAME: the longest input in bytes; a console is longer than the rest.
biggest() {
	case $1 in console) echo 16384 ;; *) echo 4096 ;; esac
}

# fuzz_one NAME SECONDS: fuzz it and print its line; 1 if there is a finding.
fuzz_one() {
	local found=build/fuzz/findings/$1 kept=build/fuzz/corpus/$1 log=build/fuzz/$1.log code=0 line
	local -a dirs
	mkdir -p "$found" "$kept" || die "$EX_INFRA" "cannot write to $KIT/build/fuzz; is the disk full?"
	mapfile -t dirs < <(own_files "$1")
	ASAN_OPTIONS=quarantine_size_mb=32 nice -n 19 "build/fuzz/bin/$1" -max_total_time="$2" -max_len="$(biggest "$1")" \
		-timeout=120 -rss_limit_mb=1024 -detect_leaks=0 -print_final_stats=1 \
		-dict="tests/fuzz/dict/$1" -artifact_prefix="$found/" \
		"$kept" "tests/fuzz/corpus/$1" ${dirs[@]+"${dirs[@]}"} >"$log" 2>&1 || code=1
	[ "$code" -eq 0 ] || grep -m 3 -E 'ERROR: |runtime error: |does not hold|^==.*(exited|out-of-memory|timeout)' "$log" |
		sed "s/^/$1: /"
	line=$(grep -E '^#[0-9]+.* cov: ' "$log" | tail -n 1)
	printf '%-9s %10s executions, %5s edges, %6s features, %5s inputs kept, %s findings\n' "$1:" \
		"$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")" \
		"$(sed -n 's/.* cov: \([0-9]*\).*/\1/p' <<<"$line")" \
		"$(sed -n 's/.* ft: \([0-9]*\).*/\1/p' <<<"$line")" \
		"$(sed -n 's/.* corp: \([0-9]*\).*/\1/p' <<<"$line")" \
		"$(find "$found" -type f -newer "build/fuzz/bin/$1" | wc -l)"
	return "$code"
}

# fuzzer_is_here: can clang link a fuzz target?
fuzzer_is_here() {
	command -v clang >/dev/null &&
		clang -fsanitize=fuzzer,address,undefined -o /dev/null -x c - 2>/dev/null <<-'EOF'
			int LLVMFuzzerTestOneInput(const unsigned char *data, unsigned long size);
			int LLVMFuzzerTestOneInput(const unsigned char *data, unsigned long size) { return size && *data & 0; }
		EOF
}

main() {
	local seconds=600 name code=0
	while [ $# -gt 0 ]; do
		case $1 in
		--seconds) [[ ${2-} =~ ^[1-9][0-9]*$ ]] || die "$EX_USAGE" "--seconds takes a whole number above 0"
			seconds=$2; shift ;;
		-h | --help) usage 0 ;;
		-*) die "$EX_USAGE" "unknown option $1; --help names them" ;;
		*) break ;;
		esac
		shift
	done
	cd "$KIT" || exit "$EX_INFRA"
	for name; do
		[[ " ${TARGETS[*]} " == *" $name "* ]] ||
			die "$EX_USAGE" "no target '$name'; there are: ${TARGETS[*]}"
	done
	[ $# -gt 0 ] || set -- "${TARGETS[@]}"
	fuzzer_is_here ||
		die "$EX_HOST" "no clang with libFuzzer here; on Debian: apt-get install clang libclang-rt-dev"
	kit_make "${@/#/build/fuzz/bin/}"
	for name; do fuzz_one "$name" "$seconds" || code=$EX_FAIL; done
	exit "$code"
}

main "$@"
