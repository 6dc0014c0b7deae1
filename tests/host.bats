#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# host-check.sh (case 15): what is missing is named before work starts. The
# host is made of stubs, so that what this machine has plays no part.

load helpers

# The programs that a host is made of; each answers --version with a number
# that is new enough, and the compilers find every header and library.
PROGRAMS='awk flock git make filterdiff patch quilt tar xz zstd bc bison flex ld perl cpio ccache
	qemu-system-aarch64 qemu-system-x86_64 fdtput bats shellcheck prove jq pgrep strace dpkg-deb
	dpkg-scanpackages busybox curl gpg apt-get'
# What a fresh Debian has, and all that host-check.sh may use.
BASE='bash readlink dirname basename cat sed grep sort head tail df uname id env printf'

setup() {
	local p
	HOST=$BATS_TEST_TMPDIR/bin
	# shellcheck disable=SC2086 # lists of names
	links "$HOST" $BASE
	for p in $PROGRAMS; do stub "$HOST" "$p" "echo '$p 99.9'"; done
	touch "$BATS_TEST_TMPDIR/libc.a"
	for p in cc gcc aarch64-linux-gnu-gcc x86_64-linux-gnu-gcc; do compiler "$p" 12.2.0; done
	stub "$HOST" uname 'echo x86_64'
	printf 'MemAvailable: 33554432 kB\n' >"$BATS_TEST_TMPDIR/meminfo"
	export KIT_MEMINFO=$BATS_TEST_TMPDIR/meminfo
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

check() { run --separate-stderr env PATH="$HOST" "$KIT/scripts/host-check.sh" "$@"; }

@test "a host that has everything passes" {
	check
	[ "$status" -eq 0 ]
	[[ $output == "host-check.sh: all "*" requirements are met" ]]
	[ -z "$stderr" ]
}

@test "each program that is missing is named with its package" {
	rows=0
	while IFS='|' read -r what _ _ package _; do
		read -r kind what _ <<<"$what"
		read -r package <<<"$package"
		case $kind:$what in cmd:cc | cmd:clang | cmd:ld.lld | cmd:llvm-ar | cmd:x86_64-*) continue ;; cmd:*) ;; *) continue ;; esac
		mv "$HOST/$what" "$BATS_TEST_TMPDIR/away"
		check
		mv "$BATS_TEST_TMPDIR/away" "$HOST/$what"
		echo "without $what: $status $stderr"
		[ "$status" -eq 5 ]
		[[ $stderr == "host-check.sh: cmd $what"*": not found; package $package"$'\n'* ]]
		[[ ${stderr##*$'\n'} == *"run: apt-get install --no-install-recommends $package"* ]]
		rows=$((rows + 1))
	done < <(grep -v '^#' "$KIT/configs/host-packages")
	[ "$rows" -gt 20 ]
}

@test "each header that is missing is named with its package" {
	for pair in jansson.h:libjansson-dev libelf.h:libelf-dev openssl/ssl.h:libssl-dev stdio.h:libc6-dev; do
		compiler cc 12.2.0 "${pair%:*}"
		check
		[ "$status" -eq 5 ]
		[[ $stderr == "host-check.sh: header ${pair%:*}: not found; package ${pair#*:}"* ]]
	done
}

@test "without any compiler all that needs one is named at once" {
	rm "$HOST/cc" "$HOST/gcc" "$HOST/aarch64-linux-gnu-gcc"
	check --arch arm64
	[ "$status" -eq 5 ]
	[[ $stderr == *"cmd cc: not found; package gcc"* ]]
	[[ $stderr == *"cmd aarch64-linux-gnu-gcc: not found; package gcc-aarch64-linux-gnu"* ]]
	[[ $stderr == *"libc: no static C library for arm64; package libc6-dev-arm64-cross"* ]]
}

@test "a program that is too old is named with both versions" {
	stub "$HOST" qemu-system-aarch64 "echo 'QEMU emulator version 6.2.0 (Debian)'"
	check
	[ "$status" -eq 5 ]
	[[ $stderr == *"is 6.2.0, 7.2 is needed; package qemu-system-arm"* ]]
	stub "$HOST" qemu-system-aarch64 "echo 'QEMU emulator version 10.0.2 (Debian)'"
	check
	[ "$status" -eq 0 ]
}

@test "only what the asked job and architecture need is looked for" {
	rm "$HOST/flex" "$HOST/qemu-system-x86_64" "$HOST/bats"
	check --for apply
	[ "$status" -eq 0 ]
	check --for apply,boot --arch arm64
	[ "$status" -eq 0 ]
	check --for boot --arch x86_64
	[[ $stderr == *"package qemu-system-x86"* ]]
	[[ $stderr != *flex* ]]
	check --for build --arch arm64
	[[ $stderr == *"package flex"* ]]
	[[ $stderr != *bats* ]]
}

@test "a native kernel needs no cross compiler, a foreign one does" {
	rm "$HOST/aarch64-linux-gnu-gcc" "$HOST/x86_64-linux-gnu-gcc"
	check --for build --arch x86_64
	[ "$status" -eq 0 ]
	stub "$HOST" uname 'echo aarch64'
	check --for build --arch arm64
	[ "$status" -eq 0 ]
	check --for build --arch x86_64
	[[ $stderr == *"package gcc-x86-64-linux-gnu"*"package libc6-dev-amd64-cross"* ]]
}

@test "--json says the same to a program" {
	check --json
	[ "$status" -eq 0 ]
	jq -e '.ok and .checked > 20 and .missing == [] and .packages == [] and .problems == []' <<<"$output"
	rm "$HOST/flex" "$HOST/prove" "$HOST/perl"
	printf 'MemAvailable: 1024 kB\n' >"$KIT_MEMINFO"
	check --json
	[ "$status" -eq 5 ]
	jq -e '.ok == false and .packages == ["flex", "perl"] and (.missing | length) == 3
		and (.problems[0] | test("MiB of memory"))' <<<"$output"
}

@test "too little disk or memory for the job is named with the figures" {
	stub "$HOST" df 'echo head' 'echo "d 9999 1 5000 1% /"'
	check --for build
	[ "$status" -eq 5 ]
	[[ $stderr == *"5000 MiB free in "*", build takes 6000; free some"* ]]
	check --for apply
	[ "$status" -eq 0 ]
	printf 'MemAvailable: 2048000 kB\n' >"$KIT_MEMINFO"
	check --for boot
	[[ $stderr == *"2000 MiB of memory available, boot takes 3000"* ]]
}

@test "other distributions are told their own package names, and nothing is installed" {
	for m in dnf:elfutils-libelf-devel zypper:libelf-devel pacman:libelf; do
		rm -f "$HOST/apt-get" "$HOST/dnf" "$HOST/zypper" "$HOST/pacman"
		stub "$HOST" "${m%:*}" "touch $BATS_TEST_TMPDIR/called"
		compiler cc 12.2.0 libelf.h
		check --for build --arch x86_64
		[ "$status" -eq 5 ]
		[[ $stderr == *"package ${m#*:}"$'\n'*"run: ${m%:*} "*" ${m#*:}"* ]]
		check --for build --arch x86_64 --install
		[ "$status" -eq 5 ]
		[[ $stderr == *"installed on Debian only; install these yourself: ${m#*:}" ]]
		[ ! -e "$BATS_TEST_TMPDIR/called" ]
	done
}

# fake_apt: an apt-get that notes its arguments and brings flex and bison.
fake_apt() {
	rm "$HOST/flex" "$HOST/bison"
	stub "$HOST" apt-get "echo \"\$*\" >>$BATS_TEST_TMPDIR/apt" \
		"case \" \$* \" in *' install '*) for p in flex bison; do cp $HOST/bc $HOST/\$p; done ;; esac"
	cp --remove-destination "$(type -P cp)" "$HOST/cp"
}

@test "--install names the packages, updates the lists, and installs them as root" {
	fake_apt
	stub "$HOST" id 'echo 0'
	check --install
	[ "$status" -eq 0 ]
	[[ $stderr == "host-check.sh: installing: bison flex" ]]
	[ "$(wc -l <"$BATS_TEST_TMPDIR/apt")" -eq 2 ]
	[[ $(head -n 1 "$BATS_TEST_TMPDIR/apt") == *" update" ]]
	[[ $(tail -n 1 "$BATS_TEST_TMPDIR/apt") == *" install --no-install-recommends bison flex" ]]
	check --install
	[ "$status" -eq 0 ]
	[ "$(wc -l <"$BATS_TEST_TMPDIR/apt")" -eq 2 ]
}

@test "--install goes through sudo when not root" {
	fake_apt
	stub "$HOST" id 'echo 1000'
	# shellcheck disable=SC2016 # for the stub
	stub "$HOST" sudo "echo \"\$*\" >>$BATS_TEST_TMPDIR/sudo" '[ "$1" != -n ] || shift' '[ "$1" = true ] || exec "$@"'
	check --install </dev/null
	[ "$status" -eq 0 ]
	grep -q -- '-n env .*apt-get .*install' "$BATS_TEST_TMPDIR/sudo"
}

@test "--install without root and sudo prints the apt-get line and stops" {
	fake_apt
	stub "$HOST" id 'echo 1000'
	check --install
	[ "$status" -eq 5 ]
	[[ $stderr == *"have root run: apt-get install --no-install-recommends bison flex" ]]
	stub "$HOST" sudo 'exit 1'
	check --install </dev/null
	[ "$status" -eq 5 ]
	[ ! -e "$BATS_TEST_TMPDIR/apt" ]
}

@test "an apt-get that fails is an infrastructure error" {
	stub "$HOST" id 'echo 0'
	for broken in update install; do
		rm -f "$HOST/flex"
		stub "$HOST" apt-get "case \" \$* \" in *' $broken '*) echo 'E: broken' >&2; exit 100 ;; esac"
		check --install
		[ "$status" -eq 6 ]
		[[ $stderr == *"apt-get $broken failed"* ]]
	done
}

@test "what is still missing after the installation is an error" {
	stub "$HOST" id 'echo 0'
	rm "$HOST/flex"
	check --install
	[ "$status" -eq 5 ]
	[[ $stderr == *"cmd flex 2.5.35: not found"* ]]
}

@test "a compiler that is too old for the kernel is named with both versions" {
	compiler aarch64-linux-gnu-gcc 7.5.0
	check --lts 6.18 --arch arm64
	[ "$status" -eq 5 ]
	[[ $stderr == *"aarch64-linux-gnu-gcc is 7.5.0, Linux 6.18 builds with 8.1.0 or later"* ]]
	check --lts 6.12 --arch arm64
	[ "$status" -eq 0 ]
}

@test "gcc 15 with a tree that predates it is named as a problem of the base" {
	tree=$BATS_TEST_TMPDIR/tree
	mkdir -p "$tree/arch/x86/boot/compressed"
	echo 'KBUILD_CFLAGS := -m64' >"$tree/arch/x86/boot/compressed/Makefile"
	check --tree "$tree"
	[ "$status" -eq 0 ]
	compiler gcc 15.1.0
	check --tree "$tree"
	[ "$status" -eq 5 ]
	[[ $stderr == *"does not build with gcc 15"*"with or without the patches; use gcc 14"* ]]
	check --tree "$tree" --arch arm64
	[ "$status" -eq 0 ]
	echo 'KBUILD_CFLAGS := -m64 -std=gnu11' >"$tree/arch/x86/boot/compressed/Makefile"
	check --tree "$tree"
	[ "$status" -eq 0 ]
}

@test "wrong arguments are usage errors that name what is taken" {
	check --for fly
	[ "$status" -eq 2 ]
	[[ $stderr == "host-check.sh: --for does not know 'fly'; it takes apply fetch build boot test" ]]
	check --arch ''
	[ "$status" -eq 2 ]
	check --arch
	[ "$status" -eq 2 ]
	check --cc tcc
	[ "$status" -eq 2 ]
	check --lts 5.4
	[ "$status" -eq 2 ]
	check --tree /no/such/folder
	[ "$status" -eq 2 ]
	check more
	[ "$status" -eq 2 ]
}
