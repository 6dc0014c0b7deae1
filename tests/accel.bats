#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Which accelerator is taken, and why, with stubs in the place of QEMU; and
# that the probe's guests run on the real one.

load helpers
load lab-helpers

setup_file() { build_tool kit-vmrun; }

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	ACCEL_KVM_DEVICE=$BATS_TEST_TMPDIR/kvm
	export ACCEL_KVM_DEVICE
	: >kvm
	PATH=$BATS_TEST_TMPDIR/bin:$PATH
	stub bin uname 'echo x86_64'
	: >ran
	qemu 'echo "accelerator works"; exit 1'
}

# qemu LINE...: what the QEMU of both architectures does.
qemu() {
	stub bin qemu-system-x86_64 "echo \"\$*\" >>'$PWD/ran'" "$@"
	stub bin qemu-system-aarch64 "echo \"\$*\" >>'$PWD/ran'" "$@"
}

# choose WORD ARCH [SECONDS]: the accelerator in $output, why in $stderr.
choose() {
	# shellcheck disable=SC2016
	run --separate-stderr env ACCEL_PROBE_SECONDS="${3:-30}" PROG=test bash -c '
		. "$KIT/scripts/lib/common.sh"
		. "$KIT/scripts/lib/accel.sh"
		choose_accel "$1" "$2"' - "$1" "$2"
}

# because TEXT: the reason was given, in one line.
because() {
	[[ $stderr == "test: "*"$1"* && $stderr != *$'\n'* ]] || { echo "stderr: $stderr"; return 1; }
}

@test "tcg is taken without a probe" {
	choose tcg x86_64
	code 0
	[ "$output" = tcg ]
	because "asked for"
	[ ! -s ran ]
}

@test "KVM is taken when its guest speaks" {
	for word in auto kvm; do
		choose "$word" x86_64
		code 0
		[ "$output" = kvm ]
		because "a probe guest ran with it"
	done
	grep -q -- "-accel kvm" ran
}

# no_kvm ARCH TEXT [SECONDS]: auto falls back to tcg and kvm is refused, both
# because of TEXT.
no_kvm() {
	choose auto "$1" "${3:-30}"
	code 0
	[ "$output" = tcg ]
	because "no KVM, because $2"
	choose kvm "$1" "${3:-30}"
	code 5
	[ -z "$output" ]
	because "KVM was asked for, but $2"
	because "use --accel tcg"
}

@test "a guest of another architecture has no KVM, and none is tried" {
	no_kvm arm64 "the host is x86_64, the guest arm64"
	[ ! -s ran ]
}

@test "an arm64 host has KVM for arm64 only" {
	stub bin uname 'echo aarch64'
	choose auto arm64
	[ "$output" = kvm ]
	grep -q -- "-cpu host" ran
	no_kvm x86_64 "the host is aarch64"
}

@test "a host without the device has no KVM" {
	rm kvm
	no_kvm x86_64 "there is no $ACCEL_KVM_DEVICE"
	[ ! -s ran ]
}

# as_nobody: root may open everything, so ask as somebody else, who may not
# read the checkout either and gets a copy.
as_nobody() {
	need_tool setpriv util-linux
	OPEN=$(mktemp -d -p /tmp)
	mkdir -p "$OPEN/scripts"
	cp -r "$KIT/scripts/lib" "$OPEN/scripts/"
	: >"$OPEN/kvm"
	chmod -R a+rX "$OPEN"
	chmod 600 "$OPEN/kvm"
	# shellcheck disable=SC2016
	run setpriv --reuid 65534 --clear-groups env HOME=/ ACCEL_KVM_DEVICE="$OPEN/kvm" \
		PATH=/usr/bin:/bin bash -c 'cd /; . "$1/scripts/lib/common.sh"
		. "$1/scripts/lib/accel.sh"
		kvm_trouble "$(uname -m | sed s/aarch64/arm64/)"' - "$OPEN"
	code 0
	has "$OPEN/kvm is not permitted; join its group"
}

teardown() { [ -z "${OPEN:-}" ] || rm -rf "$OPEN"; }

@test "a user who may not open the device is told of its group" {
	if [ "$(id -u)" -eq 0 ]; then
		as_nobody
		return
	fi
	chmod 000 kvm
	no_kvm x86_64 "$ACCEL_KVM_DEVICE is not permitted; join its group"
}

@test "a host without QEMU is told so" {
	links only bash sed mktemp rm head truncate readlink dirname env
	stub only uname 'echo x86_64'
	PATH=$PWD/only choose kvm x86_64
	code 5
	because "qemu-system-x86_64 is not installed"
}

@test "a KVM that hangs is found by the timer, and QEMU is gone" {
	qemu "echo \$\$ >'$PWD/pid'" 'exec sleep 300'
	no_kvm x86_64 "a probe guest did not run: nothing on the console for 0.5 s" 0.5
	run kill -0 "$(cat pid)"
	[ "$status" -ne 0 ]
}

@test "a KVM that aborts is found at once" {
	qemu 'echo "qemu: error: failed to set MSR 0x10a to 0x69" >&2' 'exec sleep 300'
	no_kvm x86_64 "a probe guest did not run: QEMU gave up: qemu: error: failed to set MSR 0x10a"
}

@test "a KVM that has an internal error is found at once" {
	qemu 'echo "KVM internal error. Suberror: 1" >&2' 'exec sleep 300'
	no_kvm x86_64 "a probe guest did not run: QEMU gave up: KVM internal error"
}

@test "a QEMU without KVM is found" {
	qemu 'echo "qemu: -accel kvm: invalid accelerator kvm" >&2' 'exit 1'
	no_kvm x86_64 "a probe guest did not run: QEMU ended with exit code 1: qemu: -accel kvm: invalid"
}

@test "a guest that is reset without a word is found" {
	qemu 'exit 0'
	no_kvm x86_64 "a probe guest did not run: QEMU ended without the end marker"
}

@test "the probe leaves no files behind" {
	mkdir tmp
	TMPDIR=$PWD/tmp choose auto x86_64
	[ "$output" = kvm ]
	[ -z "$(ls -A tmp)" ]
}

@test "unknown words are refused" {
	choose fast x86_64
	code 2
	because "use auto, tcg or kvm"
	for word in auto tcg kvm; do
		choose "$word" mips
		code 2
		because "use arm64 or x86_64"
	done
	[ ! -s ran ]
}

# The probe can only blame KVM if its guests are right.
@test "the probe's guests run on the real QEMU under tcg" {
	rm bin/qemu-system-*
	need_tool qemu-system-x86_64 qemu-system-x86
	need_tool qemu-system-aarch64 qemu-system-arm
	for arch in x86_64 arm64; do
		# shellcheck disable=SC2016
		run bash -c '. "$KIT/scripts/lib/common.sh"; . "$KIT/scripts/lib/accel.sh"
			ACCEL_PROBE_SECONDS=60; accel_probe tcg "$1"' - "$arch"
		code 0
		[ -z "$output" ]
	done
}
