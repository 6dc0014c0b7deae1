# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Which accelerator QEMU can use here. Needs common.sh and kit_tools.
#
# That /dev/kvm opens says little: nested or filtered, it lets QEMU abort or
# the guest stand still. So KVM is believed only after it has run a guest.
#
# ACCEL_PROBE_SECONDS (20) bounds the probe, ACCEL_KVM_DEVICE (/dev/kvm) is
# the device.

ACCEL_PROBE_SECONDS=${ACCEL_PROBE_SECONDS:-20}
ACCEL_KVM_DEVICE=${ACCEL_KVM_DEVICE:-/dev/kvm}
ACCEL_TEXT="accelerator works"

# accel_qemu ARCH: print the name of QEMU's binary for arm64 or x86_64.
accel_qemu() {
	case $1 in
	arm64) echo qemu-system-aarch64 ;;
	x86_64) echo qemu-system-x86_64 ;;
	*) die "$EX_USAGE" "architecture '$1' is not known; use arm64 or x86_64" ;;
	esac
}

# accel_guest ARCH FILE: write a guest to FILE that prints ACCEL_TEXT on the
# serial port and ends QEMU. x86_64: a disk whose boot sector does
#	ds = 0; for (si = 0x7c00 + 28; al = *si++;) outb(0x3f8, al);
#	outb(0xf4, 0); for (;;) { cli; hlt; }
# arm64: an image that does
#	for (x2 = text; w0 = *x2++;) *(u32 *)0x9000000 = w0;
#	hvc SYSTEM_OFF (PSCI); for (;;) wfi;
accel_guest() {
	case $1 in
	x86_64)
		{
			printf '\x31\xc0\x8e\xd8\xba\xf8\x03\xbe\x1c\x7c\xac\x84\xc0\x74\x03\xee'
			printf '\xeb\xf8\xba\xf4\x00\x30\xc0\xee\xfa\xf4\xeb\xfc%s\n' "$ACCEL_TEXT"
			head -c $((510 - 29 - ${#ACCEL_TEXT})) /dev/zero
			printf '\x55\xaa'
		} >"$2" && truncate -s 1M "$2" # the BIOS boots no disk of one sector
		;;
	arm64)
		{
			printf '\x01\x20\xa1\xd2\x42\x01\x00\x10\x40\x14\x40\x38\x60\x00\x00\x34'
			printf '\x20\x00\x00\xb9\xfd\xff\xff\x17\x00\x01\x80\x52\x00\x80\xb0\x72'
			printf '\x02\x00\x00\xd4\x7f\x20\x03\xd5\xff\xff\xff\x17%s\n\0' "$ACCEL_TEXT"
		} >"$2"
		;;
	esac
}

# accel_probe ACCEL ARCH: boot that guest with ACCEL (kvm or tcg).
# Returns 0 if it spoke; else 1, with why not as one line on stdout.
accel_probe() (
	dir=$(mktemp -d) || die "$EX_INFRA" "mktemp: no folder for the probe; check TMPDIR"
	trap 'rm -rf "$dir"' EXIT
	accel_guest "$2" "$dir/guest" ||
		die "$EX_INFRA" "cannot write $dir/guest; check the disk"
	cmd=("$(accel_qemu "$2")" -nodefaults -no-user-config -display none -no-reboot
		-accel "$1" -smp 2 -serial stdio)
	if [ "$2" = x86_64 ]; then
		cmd+=(-M q35 -cpu max -drive "file=$dir/guest,format=raw,if=ide"
			-device "isa-debug-exit,iobase=0xf4,iosize=1")
	elif [ "$1" = kvm ]; then
		cmd+=(-M "virt,gic-version=host" -cpu host -kernel "$dir/guest")
	else
		cmd+=(-M virt -cpu max -kernel "$dir/guest")
	fi
	"$KIT_BIN/kit-vmrun" --console "$dir/console" --end-marker "$ACCEL_TEXT" \
		--first "$ACCEL_PROBE_SECONDS" --progress "$ACCEL_PROBE_SECONDS" \
		--total "$ACCEL_PROBE_SECONDS" --grace 1 --status "$dir/status" \
		--stderr "$dir/stderr" -- "${cmd[@]}" 2>"$dir/why" && return 0
	sed -n '$s/^kit-vmrun: //p' "$dir/why"
	return 1
)

# kvm_trouble ARCH: print why KVM cannot be used for guests of ARCH, in one
# line; print nothing if it can.
kvm_trouble() {
	local host qemu why
	host=$(uname -m)
	qemu=$(accel_qemu "$1")
	if [ "${host/aarch64/arm64}" != "$1" ]; then
		echo "the host is $host, the guest $1"
	elif [ ! -e "$ACCEL_KVM_DEVICE" ]; then
		echo "there is no $ACCEL_KVM_DEVICE; load kvm_intel or kvm_amd, or allow nesting"
	elif [ ! -r "$ACCEL_KVM_DEVICE" ] || [ ! -w "$ACCEL_KVM_DEVICE" ]; then
		echo "$ACCEL_KVM_DEVICE is not permitted; join its group ($(stat -c %G "$ACCEL_KVM_DEVICE"))"
	elif ! command -v "$qemu" >/dev/null; then
		echo "$qemu is not installed"
	elif ! why=$(accel_probe kvm "$1"); then
		echo "a probe guest did not run: ${why:-no reason was given}"
	fi
}

# choose_accel auto|tcg|kvm ARCH: print tcg or kvm; why goes to stderr as one
# line. tcg is taken without a probe. Exit EX_HOST if kvm is asked for and
# cannot be used, EX_USAGE for other words. Call it as
#	accel=$(choose_accel "$opt" "$arch") || exit $?
choose_accel() {
	local trouble
	accel_qemu "$2" >/dev/null || exit "$?"
	case $1 in
	tcg)
		note "accelerator tcg: asked for"
		echo tcg
		return 0
		;;
	auto | kvm) ;;
	*) die "$EX_USAGE" "accelerator '$1' is not known; use auto, tcg or kvm" ;;
	esac
	trouble=$(kvm_trouble "$2") || exit "$?"
	if [ -z "$trouble" ]; then
		note "accelerator kvm: a probe guest ran with it"
		echo kvm
	elif [ "$1" = auto ]; then
		note "accelerator tcg: no KVM, because $trouble"
		echo tcg
	else
		die "$EX_HOST" "KVM was asked for, but $trouble; use --accel tcg, or mend it"
	fi
}
