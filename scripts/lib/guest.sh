# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# image -> console: initramfs, device tree, QEMU's command line.
# Needs common.sh and build.sh's arch_setup. Uses ARCH, ACCEL, TOPO_FILE.

# make_initramfs FILE: the guest's init as the whole initramfs, the same bytes
# every time.
make_initramfs() {
	local tmp
	tmp=$(mktemp -d "$1.XXXXXX") || return 1
	cp "$KIT/build/guest/$ARCH/init" "$tmp/init" && chmod 755 "$tmp/init" &&
		touch -d @0 "$tmp/init" &&
		(cd "$tmp" && printf 'init\n' |
			cpio --quiet -o -H newc --reproducible -R 0:0) >"$1"
	local ret=$?
	rm -rf "$tmp"
	return "$ret"
}

# qemu_machine: QEMU's arguments for the machine, one a line: architecture,
# accelerator and topology, but no kernel.
qemu_machine() {
	case $ARCH-$ACCEL in
	arm64-tcg)
		printf '%s\n' -M virt,gic-version=3 -cpu cortex-a57 \
			-accel tcg,thread=single -icount shift=0,sleep=off \
			-rtc clock=vm,base=2026-01-01 ;;
	arm64-kvm)
		printf '%s\n' -M virt,gic-version=host -cpu host -accel kvm ;;
	x86_64-tcg)
		printf '%s\n' -M q35 -cpu max,vendor=GenuineIntel,l3-cache=on \
			-accel tcg,thread=multi ;;
	x86_64-kvm)
		printf '%s\n' -M q35 -cpu host,l3-cache=on -accel kvm ;;
	esac
	"$KIT_BIN/kit-topo" qemu --arch "$ARCH" "$TOPO_FILE" || return 1
	printf '%s\n' -nodefaults -no-user-config -display none \
		-serial stdio -no-reboot
}

# machine_reproducible: true if two runs give the same console.
machine_reproducible() { [ "$ARCH-$ACCEL" = arm64-tcg ]; }

# make_dtb FILE DILATION: QEMU's device tree for the machine, with a counter
# that claims to run DILATION times as fast as it does. The seeds in it are the
# same each time; at boot QEMU replaces them by what the boot's -seed gives.
make_dtb() {
	local -a args
	mapfile -t args < <(qemu_machine)
	"$QEMU" "${args[@]}" -seed 1 -machine "dumpdtb=$1" >/dev/null 2>"$1.log" </dev/null || {
		cat "$1.log" >&2
		return 1
	}
	rm -f "$1.log"
	fdtput -t i "$1" /timer clock-frequency $((62500000 * $2))
}

# kernel_cmdline NONCE PARAM...: the kernel command line; PARAMs are KEY=VALUE
# for the guest's init.
kernel_cmdline() {
	local nonce=$1 p
	shift
	printf 'console=%s panic=-1 sched_verbose' "$CONSOLE"
	[ "$ARCH" != arm64 ] || printf ' earlycon'
	printf ' lab.nonce=%s' "$nonce"
	for p; do printf ' lab.%s' "$p"; done
}
