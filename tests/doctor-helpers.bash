# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What the tests of doctor.sh share: a host made of stubs, so that what this
# machine has plays no part.

# The programs that a host is made of; each answers --version with a number
# that is new enough, and the compilers find every header and library.
PROGRAMS='awk flock git make filterdiff patch quilt tar xz zstd bc bison flex ld perl cpio ccache
	aarch64-linux-gnu-ld x86_64-linux-gnu-ld fdtput bats shellcheck prove jq pgrep strace dpkg-deb
	dpkg-scanpackages busybox curl gpg openssl python3 pahole git-send-email b4 clang apt-get'
# What a fresh Debian has, and all that doctor.sh may use.
BASE='bash sh readlink dirname basename sed sort head tail df uname id env nproc'

setup() {
	local p
	HOST=$BATS_TEST_TMPDIR/bin
	# shellcheck disable=SC2086 # lists of names
	links "$HOST" $BASE
	for p in $PROGRAMS; do stub "$HOST" "$p" "echo '$p 99.9'"; done
	for p in aarch64 x86_64; do stub "$HOST" "qemu-system-$p" "echo 'QEMU emulator version 10.0.2'"; done
	touch "$BATS_TEST_TMPDIR/libc.a"
	for p in cc gcc aarch64-linux-gnu-gcc x86_64-linux-gnu-gcc; do compiler "$p" 12.2.0; done
	stub "$HOST" uname 'echo x86_64'
	stub "$HOST" nproc 'echo 4'
	printf 'MemAvailable: 33554432 kB\n' >"$BATS_TEST_TMPDIR/meminfo"
	export KIT_MEMINFO=$BATS_TEST_TMPDIR/meminfo ACCEL_KVM_DEVICE=$BATS_TEST_TMPDIR/no-kvm
	stub "$HOST" df 'echo head' 'echo "d 999999 1 999998 1% /"'
}

# compiler NAME VERSION [HEADER...]: one that finds no HEADER.
compiler() {
	local name=$1 version=$2
	shift 2
	# shellcheck disable=SC2016 # for the stub
	stub "$HOST" "$name" 'case $1 in' \
		"-print-file-name=*) echo $BATS_TEST_TMPDIR/libc.a ;;" \
		"-dumpfullversion) echo $version ;;" \
		"-E) for h in $*; do [ \"\$3\" != \"\$h\" ] || exit 1; done ;;" 'esac'
}

doctor() { run --separate-stderr env PATH="$HOST" KIT_PYTHON="$HOST/python3" "$KIT/scripts/doctor.sh" "$@"; }

# row STATE WHAT [TEXT]: the table has such a line, with TEXT in it.
# shellcheck disable=SC2154 # run sets output and stderr
row() {
	local line
	while IFS= read -r line; do
		[[ $line == "$1 "* && ${line#"$1"} =~ ^\ +"$2"(\ |$) && $line == *"${3-}"* ]] && return
	done <<<"$output"
	printf 'no line "%s %s" with "%s" in:\n%s\n%s\n' "$1" "$2" "${3-}" "$output" "$stderr"
	return 1
}
