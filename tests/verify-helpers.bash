# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# verify-build.sh without a kernel: a mini tree and an own queue for 6.12, a
# make that "builds" the tree into one file, and a QEMU that prints the console
# of topology pair. Load it after helpers and queue-helpers.
#
# Markers in kernel/sched/fair.c steer the stubs: "WARN" is a warning in that
# line, "BREAK" an error; "PANIC", "HANG", "NOBOOT", "WRONGTOPO" happen in the
# guest. The stubs read the image for them, so base and patched can differ.
# STUB_MAKE in the environment: disk, killed or slow; STUB_QEMU: killed or slow.

export FIX=sched-fair-only-update-stats-for-allowed-cpus.patch

# verify_setup: $T, the mini tree; the queue with the fix, which brings the word
# "FIXED" into fair.c; the stubs in front of PATH; a host that has it all.
verify_setup() {
	make_queue
	T=$BATS_TEST_TMPDIR/tree
	mini_tree "$T"
	echo "WARN old" >>"$T/kernel/sched/fair.c"
	edited "$T" fixed 's/fair30/fair30 FIXED/'
	new_patch "$FIX" stable "$T" "$EDITED"
	# shellcheck disable=SC2034 # for the tests
	FIXED=$EDITED
	BIN=$BATS_TEST_TMPDIR/bin
	mkdir -p "$BIN"
	write_stubs "$BIN"
	PATH=$BIN:$PATH
	REAL_MAKE=$(PATH=${PATH#*:} type -P make)
	printf '%s\n' 'MemAvailable: 9000000 kB' >"$BATS_TEST_TMPDIR/meminfo"
	export KIT_MEMINFO=$BATS_TEST_TMPDIR/meminfo ACCEL_KVM_DEVICE=$BATS_TEST_TMPDIR/no-kvm REAL_MAKE
	unset STUB_MAKE STUB_QEMU
	OUT=$BATS_TEST_TMPDIR/results
	cd "$BATS_TEST_TMPDIR" || return
}

# verify [OPTION...]: run it on $T with results in $OUT.
verify() {
	run "$KIT/scripts/verify-build.sh" --tree "$T" --out "$OUT" --seeds 2 "$@" 6.12
}

# fixed_with SCRIPT: make the fix a patch that also runs the sed SCRIPT.
fixed_with() {
	rm -f "$KIT_QUEUE/series"/6.12.{stable,distro,experimental}
	edited "$T" fixed "s/fair30/fair30 FIXED/; $1"
	new_patch "$FIX" stable "$T" "$EDITED"
}

# result FILTER: what results.json says.
result() { jq -r "$1" "$OUT/results.json"; }

# absent GREP-ARGUMENT...: grep finds nothing (a "!" in front would be lost).
absent() {
	grep "$@" || return 0
	return 1
}

# nothing_left: no stub of ours runs, no temporary or half-written folder.
nothing_left() {
	local f left
	for f in "$BATS_TEST_TMPDIR"/pids/*; do
		[ -e "$f" ] || continue
		left=$(awk '$1 == "State:" { print $2 }' "/proc/${f##*/}/status" 2>/dev/null) || continue
		[ -z "$left" ] || [ "$left" = Z ] || { echo "still runs: $(tr '\0' ' ' <"/proc/${f##*/}/cmdline")"; return 1; }
	done
	left=$(find "$BATS_TEST_TMPDIR" -maxdepth 1 \( -name 'results*' -o -name '.results*' -o -name 'tmp.*' \))
	[ -z "$left" ] || { echo "left behind: $left"; return 1; }
}

# until_file FILE: wait until a stub has written it.
until_file() {
	for _ in {1..600}; do
		[ ! -e "$1" ] || return 0
		sleep 0.05
	done
	echo "never came: $1"
	return 1
}

write_stubs() {
	stub "$1" df 'echo "Filesystem 1M-blocks Used Available Capacity Mounted"; echo "stub 99999 1 99998 1% /"'
	cat >"$1/make" <<-'STUB'
		#!/bin/bash
		case " $* " in *" KBUILD_BUILD_USER=kit "*) ;; *) exec "$REAL_MAKE" "$@" ;; esac
		here=$BATS_TEST_TMPDIR
		mkdir -p "$here/pids" && : >"$here/pids/$$"
		goal='' arch=''
		while [ $# -gt 0 ]; do
			case $1 in
			-C) src=$2; shift ;;
			O=*) obj=${1#O=} ;;
			ARCH=*) arch=${1#ARCH=} ;;
			-* | *=*) ;;
			*) goal=$1 ;;
			esac
			shift
		done
		echo "$goal" >>"$here/goals"
		[ ! -e "$src/.config" ] && [ ! -e "$src/include/config" ] || { echo "*** The source tree is not clean"; exit 2; }
		case $goal in
		allnoconfig) grep -v REFUSED "$KCONFIG_ALLCONFIG" >"$obj/.config"; exit ;;
		olddefconfig) exit ;;
		esac
		: >"$here/building"
		case ${STUB_MAKE:-} in
		disk) echo "kernel/sched/fair.o: fatal error: error writing to /tmp/ccX.s: No space left on device"; exit 2 ;;
		killed) echo "gcc: fatal error: Killed signal terminated program cc1"; exit 2 ;;
		slow) sleep 300 & : >"$here/pids/$!"; wait ;;
		esac
		cd "$src" || exit
		code=0
		while IFS=: read -r line text; do
			case $text in
			*BREAK*) echo "$PWD/kernel/sched/fair.c:$line:1: error: unknown type name 'BREAK'"; code=2 ;;
			*WARN*) echo "$PWD/kernel/sched/fair.c:$line:1: warning: ${text#*WARN } [-Wstub]" ;;
			esac
		done < <(grep -nE 'BREAK|WARN' kernel/sched/fair.c)
		case $arch in arm64) image=$obj/arch/arm64/boot/Image ;; *) image=$obj/arch/x86/boot/bzImage ;; esac
		mkdir -p "${image%/*}" && [ $code = 0 ] && cat kernel/sched/*.c >"$image"
		exit $code
	STUB
	cat >"$1/qemu-system-aarch64" <<-'STUB'
		#!/bin/bash
		here=$BATS_TEST_TMPDIR
		[ "$1" != --version ] || { echo "QEMU emulator version 7.2.0 (stub)"; exit; }
		while [ $# -gt 0 ]; do
			case $1 in
			-kernel) image=$2 ;;
			-append) append=$2 ;;
			-machine) [[ $2 != dumpdtb=* ]] || { printf '/dts-v1/;/{timer{};};' | dtc -q -O dtb -o "${2#dumpdtb=}" -; exit; } ;;
			esac
			shift
		done
		mkdir -p "$here/pids" && : >"$here/pids/$$"
		: >"$here/booting"
		case ${STUB_QEMU:-} in
		killed) kill -KILL $$ ;;
		slow) echo "[    0.000000] Booting"; exec sleep 300 ;;
		esac
		nonce=${append#*lab.nonce=} nonce=${nonce%% *}
		echo "[    0.000000] Booting Linux on physical CPU 0x0000000000 [0x411fd070]"
		! grep -q NOBOOT "$image" || exit 0
		! grep -q HANG "$image" || exec sleep 300
		n=1
		record() { echo "@lab $((n++)) $*"; }
		record "hello nonce=$nonce kernel=6.12.95 machine=aarch64"
		record "cpus online=0-15"
		record "nodes online=0-3"
		cpus=4-7
		! grep -q WRONGTOPO "$image" || cpus=4-6
		record "node id=0 cpus=0-3 mem_kb=59196 distance=10,12,28,28"
		record "node id=1 cpus=$cpus mem_kb=65224 distance=12,10,28,28"
		record "node id=2 cpus=8-11 mem_kb=63128 distance=28,28,10,12"
		record "node id=3 cpus=12-15 mem_kb=60928 distance=28,28,12,10"
		record "cores count=16"
		record "domains cpus=0-15 names=MC,NUMA,NUMA"
		record "clocksource name=arch_sys_counter"
		record "program name=affinity-fork"
		! grep -q PANIC "$image" || { echo "[    1.000000] Kernel panic - not syncing: Attempted to kill init!"; exit 0; }
		run=100000,12000,12000,12000,12000,12000,12000,12000,16000 on=7,8,8,8,8,8,8,8,8
		! grep -q FIXED "$image" || run=100000,99900,100000,100000,99900,100000,100000,100000,100000 on=0,1,2,3,4,5,6,7,8
		parents=(0 3 5 8)
		for ((i = 0; i < 12; i++)); do
			record "storm n=$((i + 1)) parent=${parents[i % 4]} window_us=100000 fork_us=900 start_us=26000 run_us=$run cpu=$on"
		done
		record "end nonce=$nonce"
		echo "[    2.000000] reboot: Power down"
	STUB
	chmod +x "$1"/*
}
