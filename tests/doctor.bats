#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# doctor.sh (case 15): what is missing is named before work starts.

load helpers
load doctor-helpers

@test "a host that has everything passes, and the table says what was looked at" {
	doctor
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
	[[ ${lines[-1]} == "doctor.sh: all "*" requirements are met" ]]
	row ok git '99.9'
	row ok "header jansson.h"
	row ok "gcc for Linux 6.1,6.6,6.12,6.18" 8.1.0
	row ok "disk free in $KIT_CACHE" "6000 MiB"
	row ok "guests at once"
	row ok user
}

@test "the columns of the table are aligned" {
	doctor --for build
	at=${lines[0]%%FOUND*}
	printf '%s\n' "${lines[0]}" "${lines[1]}"
	for line in "${lines[@]:0:${#lines[@]}-1}"; do
		[ "${line:${#at}-2:2}" = '  ' ]
		[ "${line:${#at}:1}" != ' ' ]
	done
}

@test "each program that is missing is named with its package" {
	local gone=()
	while IFS='|' read -r what jobs _ package _; do
		read -r kind what _ <<<"$what"
		read -r package <<<"$package"
		case $jobs in *\?*) continue ;; esac
		case $kind:$what in cmd:cc | cmd:clang | cmd:ld.lld | cmd:llvm-ar | cmd:x86_64-*) continue ;; cmd:*) ;; *) continue ;; esac
		rm "$HOST/$what"
		gone+=("$what $package")
	done < <(grep -v '^#' "$KIT/configs/host-packages")
	[ "${#gone[@]}" -gt 20 ]
	doctor --quiet
	[ "$status" -eq 5 ]
	for what in "${gone[@]}"; do
		row missing "${what% *}" "not found; package ${what#* }"
		[[ " ${stderr##*apt-get install --no-install-recommends} " == *" ${what#* } "* ]]
	done
}

@test "each header that is missing is named with its package" {
	for pair in jansson.h:libjansson-dev libelf.h:libelf-dev openssl/ssl.h:libssl-dev stdio.h:libc6-dev; do
		compiler cc 12.2.0 "${pair%:*}"
		doctor --quiet
		[ "$status" -eq 5 ]
		[ ${#lines[@]} -eq 1 ]
		row missing "header ${pair%:*}" "package ${pair#*:}"
	done
}

@test "without any compiler all that needs one is named at once" {
	rm "$HOST/cc" "$HOST/gcc" "$HOST/aarch64-linux-gnu-gcc"
	doctor --quiet --arch arm64
	[ "$status" -eq 5 ]
	row missing cc "package gcc"
	row missing aarch64-linux-gnu-gcc "package gcc-aarch64-linux-gnu"
	row missing "static libc for arm64" "package libc6-dev-arm64-cross"
}

@test "a bare host, with nothing but bash and coreutils, is told everything at once" {
	HOST=$BATS_TEST_TMPDIR/bare
	links "$HOST" bash readlink dirname tail df uname id env nproc
	doctor
	[ "$status" -eq 5 ]
	printf '%s\n' "$output" "$stderr"
	[ "$(grep -c '^missing' <<<"$output")" -gt 30 ]
	row missing awk "not found"
	row missing "git send-email"
	row ok "disk free in $KIT_CACHE"
	[[ $output$stderr != *"command not found"* && $output$stderr != *"No such file"* ]]
	doctor --json
	[ "$status" -eq 5 ]
	jq -e '.manager == null and .packages == []' <<<"$output"
}

@test "what is optional is a note: exit 0, named apart, and not installed" {
	rm "$HOST/b4" "$HOST/pahole"
	stub "$HOST" id 'echo 0'
	stub "$HOST" apt-get "touch $BATS_TEST_TMPDIR/called"
	doctor --install --for build,submit
	[ "$status" -eq 0 ]
	row note "b4 send" "package b4 (optional, for submit)"
	row note pahole "package dwarves (optional, for build)"
	[ "$stderr" = "doctor.sh: optional; run: apt-get install --no-install-recommends dwarves b4" ]
	[ ! -e "$BATS_TEST_TMPDIR/called" ]
	doctor --quiet --for build,submit
	[ "$status" -eq 0 ]
	[ "$output" = "${lines[0]}" ]
	[ -z "$stderr" ]
}

@test "b4 is asked what it can do, not which version it is" {
	stub "$HOST" b4 'case $1 in prep) echo usage ;; *) exit 2 ;; esac'
	doctor --for submit
	[ "$status" -eq 0 ]
	row ok "b4 prep"
	row note "b4 send"
}

@test "submission needs git send-email, wherever git keeps it" {
	rm "$HOST/git-send-email"
	doctor --for submit
	[ "$status" -eq 5 ]
	row missing "git send-email" "package git-email"
	stub "$BATS_TEST_TMPDIR/core" git-send-email 'exit 0'
	stub "$HOST" git "case \$1 in --exec-path) echo $BATS_TEST_TMPDIR/core ;; *) echo 99.9 ;; esac"
	doctor --for submit
	[ "$status" -eq 0 ]
	row ok "git send-email"
}

@test "perl modules are asked of perl" {
	stub "$HOST" perl 'case $1 in -MAuthen::SASL | -MGetopt::Std) exit 2 ;; esac'
	doctor --for build,submit
	[ "$status" -eq 5 ]
	row missing "perl Getopt::Std" "package perl"
	row note "perl Authen::SASL" "package libauthen-sasl-perl (optional, for submit)"
	row ok "perl IO::Socket::SSL"
}

@test "a python module is asked of the system's python" {
	stub "$HOST" python3 '[ "$2" != "import aiosmtpd" ]'
	doctor --for test
	[ "$status" -eq 5 ]
	row missing "python aiosmtpd" "package python3-aiosmtpd"
}

@test "a program that is too old is named with both versions" {
	stub "$HOST" qemu-system-aarch64 "echo 'QEMU emulator version 6.2.0 (Debian)'"
	doctor
	[ "$status" -eq 5 ]
	row "too old" qemu-system-aarch64 "is 6.2.0, 7.2 is needed; package qemu-system-arm"
}

@test "a QEMU that the lab was not measured with is a note" {
	stub "$HOST" qemu-system-aarch64 "echo 'QEMU emulator version 8.2.1'"
	doctor --for boot --arch arm64
	[ "$status" -eq 0 ]
	row note qemu-system-aarch64 "measured with QEMU 7.2 and 10.0"
	stub "$HOST" qemu-system-aarch64 "echo 'QEMU emulator version 7.20.1'"
	doctor --for boot --arch arm64
	row note qemu-system-aarch64 "measured with QEMU 7.2 and 10.0"
	stub "$HOST" qemu-system-aarch64 "echo 'QEMU emulator version 7.2.9'"
	doctor --for boot --arch arm64
	[ "$status" -eq 0 ]
	[[ $output != *measured* ]]
}

@test "the accelerator is told with its reason, and is no failure" {
	doctor --for boot
	[ "$status" -eq 0 ]
	row note "accelerator for arm64" "tcg"
	row note "accelerator for arm64" "the host is x86_64, the guest arm64"
	row note "accelerator for x86_64" "there is no $ACCEL_KVM_DEVICE"
	doctor --for boot --quiet
	[[ $output != *accelerator* ]]
	rm "$HOST/make"
	doctor --for boot --arch x86_64
	row note "accelerator for x86_64" "not probed: the kit's own tools do not build yet"
}

@test "only what the asked job and architecture need is looked for" {
	rm "$HOST/flex" "$HOST/qemu-system-x86_64" "$HOST/bats"
	doctor --for apply
	[ "$status" -eq 0 ]
	doctor --for apply,boot --arch arm64
	[ "$status" -eq 0 ]
	doctor --quiet --for boot --arch x86_64
	row missing qemu-system-x86_64 "package qemu-system-x86"
	[[ $output != *flex* ]]
	doctor --quiet --for build --arch arm64
	row missing flex "package flex"
	[[ $output != *bats* ]]
}

@test "a native kernel needs no cross compiler, a foreign one does" {
	rm "$HOST"/aarch64-linux-gnu-* "$HOST"/x86_64-linux-gnu-*
	doctor --for build --arch x86_64
	[ "$status" -eq 0 ]
	stub "$HOST" uname 'echo aarch64'
	doctor --for build --arch arm64
	[ "$status" -eq 0 ]
	doctor --quiet --for build --arch x86_64
	row missing x86_64-linux-gnu-gcc "package gcc-x86-64-linux-gnu"
	row missing "static libc for x86_64" "package libc6-dev-amd64-cross"
}

@test "--json says everything to a program" {
	doctor --json
	[ "$status" -eq 0 ]
	jq -e '.ok and .checked > 40 and .problems == 0 and .packages == [] and .install == null
		and .arch == "x86_64" and .manager == "apt" and (.checks | length) == .checked' <<<"$output"
	rm "$HOST/flex" "$HOST/prove" "$HOST/perl" "$HOST/pahole"
	printf 'MemAvailable: 1024 kB\n' >"$KIT_MEMINFO"
	doctor --json
	[ "$status" -eq 5 ]
	[ -z "$stderr" ]
	jq -e '.ok == false and .packages == ["flex", "perl", "libio-socket-ssl-perl", "libauthen-sasl-perl"]
		and .install == "apt-get install --no-install-recommends flex perl libio-socket-ssl-perl libauthen-sasl-perl"
		and (.optional_packages | index("dwarves"))
		and ([.checks[] | select(.what == "flex")] | .[0].state == "missing" and .[0].needed == "required"
			and .[0].jobs == "build" and .[0].package == "flex" and .[0].remark == "not found")
		and ([.checks[] | select(.state == "short")] | length == 1 and .[0].wanted == "3000 MiB")' <<<"$output"
}

@test "--json is JSON whatever stands in it" {
	printf -v odd 'a "b" \\ c\td\x01 \xc3\xa4 \xff\n\x7f'
	stub "$HOST" id 'echo 1000'
	export KIT_CACHE=$BATS_TEST_TMPDIR/$odd
	doctor --json --for apply
	[ "$status" -eq 0 ]
	jq -e '[.checks[].what] | map(select(startswith("disk free in") and (contains("a \"b\" \\ c\td\u0001 ??")))) | length == 1' <<<"$output"
}

@test "too little disk or memory for the job is named with the figures" {
	stub "$HOST" df 'echo head' 'echo "d 9999 1 5000 1% /"'
	doctor --quiet --for build,apply
	[ "$status" -eq 5 ]
	row short "disk free in $KIT_CACHE" "build takes 6000 MiB; free some"
	[ ${#lines[@]} -eq 1 ]
	doctor --for apply
	[ "$status" -eq 0 ]
	stub "$HOST" df 'echo head' "case \$3 in *cache*) echo 'd 9999 1 50000 1% /' ;; *) echo 'd 9999 1 10 1% /' ;; esac"
	mkdir "$KIT_CACHE"
	doctor --quiet --for build
	[ "$status" -eq 5 ]
	row short "disk free in $TMPDIR" "set TMPDIR"
	printf 'MemAvailable: 2048000 kB\n' >"$KIT_MEMINFO"
	doctor --quiet --for boot
	row short "memory available" "boot takes 3000 MiB"
}

@test "how many guests fit into memory is told" {
	printf 'MemAvailable: 3072000 kB\n' >"$KIT_MEMINFO"
	doctor --for boot
	[ "$status" -eq 0 ]
	row note "guests at once" "4 CPUs, but memory for 3 guest(s) of 768 MiB"
}

@test "other distributions are told their own package names, and nothing is installed" {
	for m in dnf:elfutils-libelf-devel zypper:libelf-devel pacman:libelf; do
		rm -f "$HOST/apt-get" "$HOST/dnf" "$HOST/zypper" "$HOST/pacman"
		stub "$HOST" "${m%:*}" "touch $BATS_TEST_TMPDIR/called"
		compiler cc 12.2.0 libelf.h
		doctor --quiet --for build --arch x86_64
		[ "$status" -eq 5 ]
		row missing "header libelf.h" "package ${m#*:}"
		[[ $stderr == *"run: ${m%:*} "*" ${m#*:}" ]]
		doctor --for build --arch x86_64 --install
		[ "$status" -eq 5 ]
		[[ $stderr == *"installed on Debian only; install these yourself: ${m#*:}" ]]
		[ ! -e "$BATS_TEST_TMPDIR/called" ]
	done
}

@test "every requirement has a name, or a dash, for each of the four package managers" {
	while IFS='|' read -r -a f; do
		printf '%s\n' "${f[0]}"
		[ ${#f[@]} -eq 7 ]
		for name in "${f[@]:3}"; do
			read -r name rest <<<"$name"
			[ -n "$name" ]
			[ -z "$rest" ]
		done
	done < <(grep -v '^#\|^$' "$KIT/configs/host-packages")
}

@test "wrong arguments are usage errors that name what is taken" {
	doctor --for fly
	[ "$status" -eq 2 ]
	[ "$stderr" = "doctor.sh: --for does not know 'fly'; it takes apply fetch build boot test submit fuzz" ]
	for wrong in "--arch=" "--arch sparc" "--cc tcc" "--lts 5.4" "--lts ." "--tree /no/such/folder" \
		"--tree $BATS_TEST_TMPDIR" more "--arch" "--json --quiet"; do
		# shellcheck disable=SC2086 # options and their values
		doctor $wrong
		[ "$status" -eq 2 ]
		[[ $stderr == "doctor.sh: "* ]]
		[ "$(wc -l <<<"$stderr")" -eq 1 ]
	done
	doctor --arch ''
	[ "$status" -eq 2 ]
}
