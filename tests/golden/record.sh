#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# record.sh - record the golden consoles again from real boots
#
# Usage: tests/golden/record.sh [--out DIR] IMAGE [NAME...]
#
# Boots IMAGE, an arm64 kernel built with the fragments of configs/ and
# configs/fault.config on top, once for each console (default: all), with the
# fault of that console forced, and writes DIR/NAME.txt and DIR/NAME.expect
# (default DIR: tests/golden/consoles). An .expect file holds the nonce, the
# topology, kit-console's exit code, and a line KIND LINE for each problem.
# These are what kit-console says now: read the differences to the old ones
# before you commit them. For an image, run
#   scripts/verify-build.sh --config configs/fault.config --scenario boot 6.12
# which leaves one as boot/base.image in its results folder.
#
#   --out DIR   where to write
#   --help
#
# Exit codes: 0 each console has the problem that it was made for; 1 one has
# not, and is not kept; 2 usage; 5 a program is missing; 6 QEMU did not run.

. "$(dirname -- "$(readlink -f -- "$0")")/../../scripts/lib/common.sh"
# shellcheck source=scripts/lib/build.sh
. "$KIT/scripts/lib/build.sh"
# shellcheck source=scripts/lib/guest.sh
. "$KIT/scripts/lib/guest.sh"

# shellcheck disable=SC2034 # for guest.sh
ARCH=arm64 ACCEL=tcg
OUT=$KIT/tests/golden/consoles

# NAME | TOPOLOGY | KIND that it is made for ("none": clean) | how the boot
# ends (end: by itself; stop: by kit-vmrun, as it never would; cut TEXT: QEMU
# is killed in the middle of the line with TEXT; before TEXT: at its start) |
# guest parameters | kernel parameters
cases() {
	cat <<-'EOF'
	clean      | pair | none    | end              | program=boot                 |
	lines      | uma  | none    | end              | program=fault fault=lines    |
	panic      | uma  | panic   | end              | program=fault fault=PANIC    |
	oops       | uma  | oops    | end              | program=fault fault=ACCESS_NULL |
	bug        | uma  | oops    | end              | program=fault fault=BUG      |
	warn       | uma  | warn    | end              | program=fault fault=WARNING  |
	hung       | uma  | hung    | stop             | program=fault fault=HUNG_TASK | sysctl.kernel.hung_task_timeout_secs=2 sysctl.kernel.hung_task_warnings=1
	hang       | uma  | no-end  | stop             | program=fault fault=hang     |
	truncated  | uma  | no-end  | before clocksource name | program=boot          |
	cut        | uma  | no-end  | cut node id=0    | program=boot                 |
	early      | uma  | no-init | before Run /init | program=boot                 |
	silent     | uma  | silent  | end              | program=boot                 | console=ttyS9
	EOF
}

# command_line NAME TOPOLOGY GUEST KERNEL: QEMU's command line into COMMAND.
command_line() {
	local nonce=golden-$1 line
	local -a machine params
	TOPO_FILE=$KIT/topologies/$2.topo
	read -ra params <<<"$3"
	mapfile -t machine < <(qemu_machine)
	make_dtb "$TMP/machine.dtb" 1 || die "$EX_INFRA" "QEMU does not write its device tree"
	line=$(kernel_cmdline "$nonce" "${params[@]}")
	# Another console is the only one, so that nothing is heard.
	case $4 in console=*) line=${line/console=$CONSOLE/} line=${line/ earlycon/} ;; esac
	COMMAND=("$QEMU" "${machine[@]}" -seed 1 -kernel "$IMAGE_FILE"
		-initrd "$TMP/initramfs.cpio" -dtb "$TMP/machine.dtb" -append "$line${4:+ $4}")
}

# boot FILE NAME HOW: the console into FILE. How kit-vmrun says that it ended
# does not matter: the consoles of failures are what is wanted.
boot() {
	local progress=60
	[ "$3" != stop ] || progress=5
	"$KIT_BIN/kit-vmrun" --console "$1" --end-marker "end nonce=golden-$2" \
		--first 20 --progress "$progress" --total 300 --grace 30 \
		--stderr "$1.err" --status "$1.status" -- "${COMMAND[@]}" 2>/dev/null
	[ $? -ne "$EX_INFRA" ] || die "$EX_INFRA" "QEMU did not run: $(head -1 "$1.err")"
}

# cut_bytes FILE HOW: after how many bytes of the console FILE to kill QEMU.
cut_bytes() {
	local at text=${2#* }
	at=$(grep -abo -m1 -F -- "$text" "$1" | cut -d: -f1)
	[ -n "$at" ] || die "$EX_FAIL" "the console has no '$text' to be cut at"
	case $2 in
	cut*) printf '%s\n' $((at + ${#text} + 3)) ;;
	*) head -c "$at" "$1" | sed '$d' | wc -c ;;
	esac
}

# boot_killed FILE BYTES: the same boot, but QEMU dies after BYTES of console.
boot_killed() {
	local pid
	mkfifo "$TMP/port" || die "$EX_INFRA" "cannot make a pipe in $TMP"
	"${COMMAND[@]}" </dev/null >"$TMP/port" 2>/dev/null &
	pid=$!
	head -c "$2" <"$TMP/port" >"$1"
	kill -KILL "$pid" 2>/dev/null
	wait "$pid" 2>/dev/null
	rm -f "$TMP/port"
	[ "$(stat -c %s "$1")" -eq "$2" ] || die "$EX_INFRA" "the console ended before it was to be cut"
}

# expect NAME TOPOLOGY: the .expect file of the console $TMP/NAME.txt, on stdout.
expect() {
	local json code
	json=$("$KIT_BIN/kit-console" --nonce "golden-$1" \
		--topology "$KIT/topologies/$2.topo" "$TMP/$1.txt" 2>/dev/null)
	code=$?
	printf 'nonce golden-%s\ntopology %s\nexit %s\n' "$1" "$2" "$code"
	jq -r '.problems[] | "\(.kind) \(.line)"' <<<"$json"
}

# record_one NAME TOPOLOGY KIND HOW GUEST KERNEL
record_one() {
	note "recording $1"
	command_line "$1" "$2" "$5" "$6"
	boot "$TMP/$1.txt" "$1" "$4"
	case $4 in cut* | before*)
		boot_killed "$TMP/$1.txt" "$(cut_bytes "$TMP/$1.txt" "$4")" || exit ;;
	esac
	expect "$1" "$2" >"$TMP/$1.expect"
	if [ "$3" = none ]; then
		grep -qx 'exit 0' "$TMP/$1.expect"
	else
		grep -q "^$3 " "$TMP/$1.expect"
	fi || {
		note "$1: the problem it is made for ($3) is not in its console, which has: $(tail -n +4 "$TMP/$1.expect" | xargs); was IMAGE built with configs/fault.config?"
		tail -n 3 "$TMP/$1.txt" >&2
		return "$EX_FAIL"
	}
	mv "$TMP/$1.txt" "$TMP/$1.expect" "$OUT/"
}

# wanted NAME: true if the user asked for it, or for all.
wanted() {
	[ ${#NAMES[@]} -gt 0 ] || return 0
	local name
	for name in "${NAMES[@]}"; do [ "$name" != "$1" ] || return 0; done
	return 1
}

main() {
	local name topology kind how guest kernel code=0
	while [ $# -gt 0 ]; do
		case $1 in
		--out) [ $# -ge 2 ] || die "$EX_USAGE" "--out needs a folder; see --help"
			OUT=$2; shift ;;
		-h | --help) usage 0 ;;
		-*) die "$EX_USAGE" "unknown option $1; see --help" ;;
		*) break ;;
		esac
		shift
	done
	[ $# -ge 1 ] && [ -f "$1" ] || die "$EX_USAGE" "give the image of an arm64 kernel; see --help"
	IMAGE_FILE=$(readlink -f -- "$1")
	shift
	NAMES=("$@")
	for name; do
		cases | grep -q "^$name " || die "$EX_USAGE" "no console named $name; there is: $(cases | cut -d' ' -f1 | xargs)"
	done
	"$KIT/scripts/doctor.sh" --quiet --for boot --arch arm64 >&2 || exit
	mkdir -p "$OUT" || die "$EX_INFRA" "cannot make $OUT"
	arch_setup
	kit_make tools build/guest/arm64/init
	TMP=$(mktemp -d) || die "$EX_INFRA" "cannot make a temporary folder"
	trap 'rm -rf "$TMP"' EXIT
	make_initramfs "$TMP/initramfs.cpio" || die "$EX_INFRA" "cannot write the initramfs"
	while IFS='|' read -r name topology kind how guest kernel <&3; do
		read -r name <<<"$name"; read -r topology <<<"$topology"; read -r kind <<<"$kind"
		read -r how <<<"$how"; read -r kernel <<<"$kernel"
		! wanted "$name" || record_one "$name" "$topology" "$kind" "$how" "$guest" "$kernel" || code=$EX_FAIL
	done 3< <(cases)
	exit "$code"
}

main "$@"
