#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# verify-build.sh when something breaks: whom it blames, with which exit code,
# and what is left of it.

load helpers
load queue-helpers
load verify-helpers

setup() { verify_setup; }

# failed CODE TEXT: as fails_with, and the results folder says the same.
failed() {
	fails_with "$1" "$2"
	[ "$(result .exit_code)" = "$1" ]
	[ "$(result .ok)" = false ]
	result .error | grep -qF -- "$2"
	grep -q '^not ok 1 ' "$OUT/results.ktap"
	[ -f "$OUT/README" ]
	[ -f "$OUT/tool-versions" ]
	[ "$(find . -maxdepth 1 -name '*results*')" = ./results ]
}

@test "a base that does not build is not the patch's fault" {
	sed -i 's/fair10;/BREAK/' "$T/kernel/sched/fair.c"
	verify
	failed 3 "the base itself, without any patch of the queue, does not build: kernel/sched/fair.c:10:1: error: unknown type name 'BREAK'"
	[ ! -e booting ]
}

@test "a patch that does not build is named" {
	fixed_with 's/fair40/BREAK/'
	verify
	failed 3 "with $FIX does not build: kernel/sched/fair.c:40:1: error: unknown type name 'BREAK'"
	[ ! -e booting ]
}

@test "the run after a failed build starts from a clean base" {
	fixed_with 's/fair40/BREAK/'
	verify
	failed 3 "with $FIX does not build"
	fixed_with 's/fair41/fair41 better/'
	verify
	fails_with 0 PASSED
}

@test "a new warning in a touched file is a failure that shows it" {
	fixed_with 's/fair40/WARN unused variable/'
	verify
	failed 3 "new warning with $FIX: kernel/sched/fair.c: warning: unused variable; [-Wstub]"
	[ ! -e booting ]
}

@test "a warning of the base that moves to another line is not new" {
	fixed_with '1i int line01;'
	verify
	fails_with 0 PASSED
}

@test "a full disk or a killed compiler is no failure of the patch" {
	STUB_MAKE=disk verify
	failed 6 "not the kernel: kernel/sched/fair.o: fatal error: error writing to /tmp/ccX.s: No space left on device"
	STUB_MAKE=killed verify
	failed 6 "not the kernel: gcc: fatal error: Killed signal terminated program cc1"
}

@test "a base that does not boot is not the patch's fault" {
	sed -i 's/fair10;/NOBOOT/' "$T/kernel/sched/fair.c"
	verify --jobs 1 # which of two fails first is a matter of chance
	failed 4 "the base itself, without the patches that are to be proved, did not come up as asked with seed 1; see consoles/base-1.txt"
	[[ $output == *"the guest's init never spoke"* ]]
	[ -f "$OUT/consoles/base-1.txt" ]
	[ ! -e "$OUT/consoles/patched-1.txt" ]
}

@test "a patched kernel that does not boot is a boot failure" {
	fixed_with 's/fair40/NOBOOT/'
	verify
	failed 4 "the patched kernel did not come up as asked"
	[ -f "$OUT/records/base-1.json" ]
}

@test "a panic after a clean boot is a failure that shows it" {
	fixed_with 's/fair40/PANIC/'
	verify --jobs 1
	failed 4 "the patched kernel did not come up as asked with seed 1"
	[[ $output == *"consoles/patched-1.txt:13: panic: "*"Kernel panic - not syncing: Attempted to kill init!"* ]]
	[ ! -e "$OUT/consoles/patched-2.txt" ]
}

@test "a machine other than the one asked for is a boot failure" {
	fixed_with 's/fair40/WRONGTOPO/'
	verify
	failed 4 "the patched kernel did not come up as asked"
	[[ $output == *"topology: node 1: asked for 4-7, got 4-6"* ]]
}

@test "a QEMU that is killed, or is not there, says nothing about the kernel" {
	STUB_QEMU=killed verify
	failed 6 "QEMU did not run for the base kernel"
	# It goes away while the kernel is built.
	sed -i 's,^: >"$here/building",&; rm -f "$here/bin/qemu-system-aarch64",' bin/make
	# shellcheck disable=SC2016 # for the stub
	PATH=$BATS_TEST_TMPDIR/bin:$(no_qemu) verify
	failed 6 "QEMU does not write its device tree"
}

# no_qemu: folders of PATH as they are, but without QEMU.
no_qemu() {
	mkdir -p without
	ln -sf /usr/bin/* /bin/* without/ 2>/dev/null || :
	rm -f without/qemu-system-* without/make
	echo "$BATS_TEST_TMPDIR/without"
}

@test "an old results folder stays when the new one cannot take its place" {
	verify
	[ "$status" -eq 0 ]
	before=$(tree_sum "$OUT")
	# A rename that fails half way: the first mv -T works, the second does not.
	stub "$BIN" mv "[ \"\$1\" != -T ] || [[ \$3 != */.results.* ]] || { echo 'mv: stub' >&2; exit 1; }" \
		"exec $(PATH=${PATH#*:} type -P mv) \"\$@\""
	verify
	fails_with 6 "cannot put the results in the place of $OUT"
	[ "$(tree_sum "$OUT")" = "$before" ]
	[ "$(find . -maxdepth 1 -name '*results*')" = ./results ]
}

@test "a folder that cannot be written to is an infrastructure error" {
	echo file >"in the way"
	run "$KIT/scripts/verify-build.sh" --tree "$T" --out "in the way/results" 6.12
	fails_with 6 "name another folder with --out"
	mkdir -p "$KIT_CACHE"
	: >"$KIT_CACHE/work"
	verify
	fails_with 6 "cannot make $KIT_CACHE/work"
}

@test "a second run on the same tree waits for the first" {
	STUB_MAKE=slow "$KIT/scripts/verify-build.sh" --tree "$T" --out first --seeds 2 6.12 >first.log 2>&1 3>&- &
	first=$!
	until_file building
	"$KIT/scripts/verify-build.sh" --tree "$T" --out "$OUT" --seeds 2 6.12 >second.log 2>&1 3>&- &
	second=$!
	for _ in {1..200}; do grep -q 'another run works on' second.log && break; sleep 0.05; done
	grep -q 'another run works on' second.log
	sleep 3
	absent 'copying the tree' second.log
	kill -TERM "$first"
	code=0 && wait "$first" || code=$?
	[ "$code" -eq 143 ]
	wait "$second"
	[ "$(result .ok)" = true ]
}

# ends SIGNAL CODE HOW: start a run, and when a stub has written $WHEN end it
# with SIGNAL, sent to the script alone or to its group.
ends() {
	rm -f building booting first.log
	# As from a terminal: no signal is ignored, as SIGHUP is below nohup, and the
	# group is its own.
	env --default-signal=INT,HUP setsid "$KIT/scripts/verify-build.sh" --tree "$T" --out "$OUT" --seeds 2 6.12 >first.log 2>&1 3>&- &
	local pid=$! code=0
	until_file "$WHEN"
	[ "$3" = alone ] || pid=-$pid
	kill -s "$1" -- "$pid"
	wait "${pid#-}" || code=$?
	[ "$code" -eq "$2" ] || { echo "exit $code, not $2"; cat first.log; return 1; }
	grep -q 'interrupted; nothing is left behind' first.log
	nothing_left
	# The lock is free again, and the next run is not disturbed.
	flock -n "$KIT_CACHE"/work/*/lock true
}

@test "what a run that was killed has left is removed by the next, and not while one works" {
	STUB_QEMU=slow setsid "$KIT/scripts/verify-build.sh" --tree "$T" --out "$OUT" --seeds 2 6.12 >first.log 2>&1 3>&- &
	first=$!
	until_file booting
	rm -f booting
	left=$(find . -maxdepth 1 -name '.results.??????')
	[ -d "$left/consoles" ]
	# Somebody else's folder of a like name, and a run that still works.
	mkdir .results.others
	STUB_QEMU='' KIT_CACHE=$BATS_TEST_TMPDIR/other verify
	fails_with 0 PASSED
	[ -d "$left" ]
	pkill -KILL -s "$first"
	code=0 && wait "$first" || code=$?
	[ "$code" -eq 137 ]
	for _ in {1..100}; do flock -n "$left" true && break; sleep 0.05; done
	[ -d "$left" ]
	verify
	fails_with 0 PASSED
	[[ $output == *"an earlier run was killed; removing $(readlink -f "$left")"* ]] || { echo "$output"; false; }
	[ ! -e "$left" ]
	[ -d .results.others ]
}

@test "more boots at a time than there is memory for are not started" {
	printf 'MemAvailable: %d kB\n' $((3500 * 1024)) >meminfo
	KIT_MEMINFO=$PWD/meminfo verify --jobs 20
	fails_with 0 "3500 MiB of memory are available and a guest takes up to 768, so 4 boot(s) at a time"
	KIT_MEMINFO=$PWD/meminfo verify --jobs 4
	[[ $status -eq 0 && $output != *"boot(s) at a time"* ]]
}

@test "interrupted while it builds, nothing is left but objects and trees" {
	export STUB_MAKE=slow WHEN=building
	ends INT 130 group
	ends INT 130 alone
	ends TERM 143 group
	ends TERM 143 alone
	ends HUP 143 alone
	unset STUB_MAKE
	verify
	fails_with 0 PASSED
}

@test "interrupted while it boots, no QEMU is left" {
	export STUB_QEMU=slow WHEN=booting
	ends INT 130 group
	ends INT 130 alone
	ends TERM 143 group
	ends TERM 143 alone
}

@test "Ctrl-C on a terminal ends it, while it builds and while it boots" {
	need_tool script bsdutils
	for when in building booting; do
		rm -f building booting
		export STUB_MAKE=slow STUB_QEMU=''
		[ $when = building ] || export STUB_MAKE='' STUB_QEMU=slow
		mkfifo keys
		env --default-signal=INT script -qec "'$KIT/scripts/verify-build.sh' --tree '$T' --out '$OUT' --seeds 2 6.12" log <keys >screen 2>&1 3>&- &
		pid=$!
		exec 8>keys
		until_file $when
		sleep 1
		printf '\003' >&8
		code=0 && wait "$pid" || code=$?
		exec 8>&-
		rm keys
		cat screen
		[ "$code" -eq 130 ]
		nothing_left
		grep -qE '[a-z]  0:0[0-9] of about [0-9]:' screen
	done
}
