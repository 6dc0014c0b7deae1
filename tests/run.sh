#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# tests/run.sh [--fast] [--within MINUTES] [FILE...]
#
# Runs the tests: installs what they need (scripts/doctor.sh names it
# first), builds the host tools and runs the C unit tests and the bats files,
# two files at a time. The files tests/chain-*.bats build and boot real
# kernels; they run last, one after the other.
#
#   --fast     leave the chain files out
#   --within MINUTES
#              for a machine that may be slow: after two thirds of that time begin no
#              file but the chain files, after all of it none. What is left out counts
#              as skipped. Those that run by then are left to come to their end
#   FILE       run only these: a bats file, or a unit test's C source
#   -h, --help this text
#
# stdout: one line per file, what failed and what it said, each skipped test
# with its reason, and last, alone on its line, "N passed, N failed, N skipped".
# The TAP of each file stays in build/tests/taps/NAME.tap.
#
# Exit: 0 no test failed, and at least one ran; 1 otherwise; 2 usage; 5 the
# host lacks something; 6 apt-get failed; 130, 143 interrupted.

. "$(dirname -- "$(readlink -f -- "$0")")/../scripts/lib/common.sh"

TAPS=$KIT/build/tests
FAST='' WITHIN=
FILES=()

# pick [FILE...]: FILES, the test files to run, as paths below the checkout.
pick() {
	local f
	cd "$KIT" || exit "$EX_INFRA"
	[ $# -gt 0 ] || set -- tests/unit/*.c tests/*.bats
	for f; do
		[ -e "$f" ] || f=tests/$f
		case $f in
		*/chain-*.bats) [ -z "$FAST" ] || continue ;;
		*.bats | */unit/*.c | unit/*.c) ;;
		*) die "$EX_USAGE" "$f is no test; give a bats file or a C file of tests/unit" ;;
		esac
		[ -f "$f" ] || die "$EX_USAGE" "no such test: $f; tests/README.md says where they are"
		FILES+=("$(realpath --relative-to=. -- "$f")")
	done
	[ ${#FILES[@]} -gt 0 ] || die "$EX_USAGE" "no test is left to run; leave --fast out"
}

# run_set JOBS FILE...: run the files under prove, JOBS at a time. Each file's
# TAP and exit code go to $TAPS; what prove says is for the reader only.
run_set() {
	local jobs=$1 args=(--nocolor)
	shift
	[ $# -gt 0 ] || return 0
	[ ! -t 1 ] || args=(--color)
	# In the background a shell ignores SIGINT, and so would all that it starts.
	env --default-signal=INT,QUIT setsid -w prove "${args[@]}" --jobs "$jobs" --exec "$KIT/tests/run-one" "$@" &
	PROVE=$!
	wait "$PROVE"
	PROVE=
}

on_signal() {
	trap '' INT TERM
	[ -z "${PROVE:-}" ] || kill -TERM -- "-$PROVE" 2>/dev/null
	note "interrupted"
	exit "$1"
}

# summary: count what the TAP files hold. A file that broke off counts its
# missing tests as failed, and so does one that left with an error although no
# test of it did.
summary() {
	awk '
	function sentence() { return substr($0, match($0, / [0-9]+ /) + RLENGTH) }
	function close_file() {
		if (file == "") return
		broken = planned > ran ? planned - ran : 0
		if (planned < 0) broken = 1
		if (!broken && !bad && code != 0) broken = 1
		if (broken) printf "broken: %s (%d of %s tests ran, exit code %s)\n", file, ran, planned < 0 ? "?" : planned, code
		failed += bad + broken
		ran = bad = 0
	}
	FNR == 1 { close_file(); file = FILENAME; sub(/.*\//, "", file); sub(/\.tap$/, "", file); planned = -1; code = "none"; ran = bad = 0 }
	/^1\.\.[0-9]+/ { planned = substr($0, 4) + 0 }
	/^(not )?ok / { telling = 0 }
	telling && /^# / { print "  " substr($0, 3) }
	/^ok / && tolower($0) ~ /# skip/ { ran++; skipped++; print "skipped: " file ": " sentence(); next }
	/^ok / { ran++; passed++ }
	/^not ok / { ran++; bad++; telling = 1; print "failed: " file ": " sentence() }
	/^# exit [0-9]+$/ { code = $3 }
	END { close_file()
	      printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
	      exit !(failed == 0 && passed > 0) }' "$@"
}

main() {
	local f quick=() slow=() now
	while [ $# -gt 0 ]; do
		case $1 in
		--fast) FAST=1 ;;
		--within) WITHIN=${2-none}; shift ;;
		-h | --help) usage 0 ;;
		-*) die "$EX_USAGE" "unknown option $1; --help names them" ;;
		*) break ;;
		esac
		shift
	done
	[[ -z $WITHIN || $WITHIN =~ ^[1-9][0-9]{0,3}$ ]] || die "$EX_USAGE" "--within takes a number of minutes, not '$WITHIN'"
	pick "$@"
	printf -v now '%(%s)T' -1
	for f in "${FILES[@]}"; do
		case $f in */chain-*) slow+=("$f") ;; *) quick+=("$f") ;; esac
	done
	"$KIT/scripts/doctor.sh" --quiet --install --for apply,fetch,build,boot,test >&2 || exit
	rm -rf "$TAPS/taps"
	mkdir -p "$TAPS/taps" || die "$EX_INFRA" "cannot write to $TAPS; free some space"
	# A tool that does not build is one failed test (static.bats), and the
	# tests that need it; the others are worth running all the same.
	make -s -k -j2 tools unit >&2 || note "not everything builds (see above)"
	trap 'on_signal 130' INT
	trap 'on_signal 143' TERM
	[ -z "$WITHIN" ] || export KIT_TEST_UNTIL=$((now + WITHIN * 40))
	run_set 2 ${quick[@]+"${quick[@]}"}
	[ -z "$WITHIN" ] || export KIT_TEST_UNTIL=$((now + WITHIN * 60))
	run_set 1 ${slow[@]+"${slow[@]}"}
	summary "$TAPS"/taps/*.tap || exit "$EX_FAIL"
}

main "$@"
