# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What this host has and lacks. Needs common.sh. Nothing but bash and
# coreutils is used: on a fresh host there is not even make or awk. The
# requirements are data: configs/host-packages, host-compilers, host-resources.

HOST_MISSING=()		# "CHECK|what is wrong with it|PACKAGE", PACKAGE may be -
HOST_PROBLEMS=()	# what no package mends, one line each
HOST_CHECKED=0

# host_arch: this host's architecture as the kit names it (arm64, x86_64).
host_arch() {
	local m
	m=$(uname -m)
	case $m in aarch64) echo arm64 ;; *) echo "$m" ;; esac
}

# host_triplet ARCH: the prefix of ARCH's cross compiler.
host_triplet() {
	case $1 in arm64) echo aarch64-linux-gnu ;; *) echo "$1-linux-gnu" ;; esac
}

# host_cc ARCH gcc|clang: the compiler that builds for ARCH here.
host_cc() {
	if [ "$2" = clang ]; then
		echo clang
	elif [ "$1" = "$(host_arch)" ]; then
		echo gcc
	else
		echo "$(host_triplet "$1")-gcc"
	fi
}

# host_manager: the package manager (apt, dnf, zypper, pacman), or nothing.
host_manager() {
	local m
	for m in apt:apt-get dnf:dnf zypper:zypper pacman:pacman; do
		command -v "${m#*:}" >/dev/null || continue
		echo "${m%%:*}"
		return
	done
}

# host_rows FILE: the lines of a data file without comments and blank lines.
host_rows() {
	local line
	while IFS= read -r line || [ -n "$line" ]; do
		case $line in '' | '#'*) ;; *) printf '%s\n' "$line" ;; esac
	done <"$KIT/configs/$1"
}

# host_wanted JOBS TARGET ASKED_JOBS ASKED_ARCHS (comma lists): does the row
# with JOBS and TARGET concern what was asked for?
host_wanted() {
	local job arch hit=
	for job in ${3//,/ }; do
		case ,$1, in *,all,* | *,"$job",*) hit=1 ;; esac
	done
	[ -n "$hit" ] || return 1
	for arch in ${4//,/ }; do
		case $2 in
		any | "$arch") return 0 ;;
		"$arch-cross") [ "$arch" = "$(host_arch)" ] || return 0 ;;
		native) [ "$arch" != "$(host_arch)" ] || return 0 ;;
		esac
	done
	return 1
}

# host_check JOBS ARCHS: look for everything that the jobs need; fills
# HOST_MISSING. Returns 1 if something is missing.
host_check() {
	local check jobs target apt dnf zypper pacman manager package wrong
	manager=$(host_manager)
	HOST_MISSING=()
	HOST_CHECKED=0
	# shellcheck disable=SC2034 # apt to pacman are read through ${!manager}
	while IFS='|' read -r check jobs target apt dnf zypper pacman; do
		read -r jobs <<<"$jobs"
		read -r target <<<"$target"
		read -r check <<<"$check"
		host_wanted "$jobs" "$target" "$1" "$2" || continue
		HOST_CHECKED=$((HOST_CHECKED + 1))
		wrong=$(host_lacks "$check" "$target") && continue
		package=-
		[ -z "$manager" ] || read -r package <<<"${!manager}"
		HOST_MISSING+=("$check|$wrong|$package")
	done < <(host_rows host-packages)
	[ ${#HOST_MISSING[@]} -eq 0 ]
}

# host_lacks CHECK TARGET: true if the host has it; else print what is wrong.
host_lacks() {
	local kind what min have
	read -r kind what min <<<"$1"
	case $kind in
	cmd)
		command -v "$what" >/dev/null || { echo "not found"; return 1; }
		[ -n "$min" ] || return 0
		have=$(host_version "$what")
		host_at_least "$have" "$min" || { echo "is ${have:-of unknown version}, $min is needed"; return 1; }
		;;
	header) host_header "$what" || { echo "not found"; return 1; } ;;
	libc) host_libc "${2%-cross}" || { echo "no static C library for ${2%-cross}"; return 1; } ;;
	*) die "$EX_USAGE" "configs/host-packages: unknown check '$kind'; its head names them" ;;
	esac
}

# host_version PROGRAM: the first number with a dot that --version prints.
host_version() {
	local text
	text=$("$1" --version 2>/dev/null </dev/null)
	[[ $text =~ [0-9]+(\.[0-9]+)+ ]] && echo "${BASH_REMATCH[0]}"
}

# host_at_least HAVE MIN: compare dotted versions.
host_at_least() {
	[ -n "$1" ] && [ "$(printf '%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]
}

# host_header FILE: does the host's compiler find it? Without one, look where
# it usually is.
host_header() {
	local f
	if command -v cc >/dev/null; then
		cc -E -include "$1" -x c /dev/null >/dev/null 2>&1
		return
	fi
	for f in /usr/include/"$1" /usr/include/*-linux-gnu*/"$1"; do
		[ ! -f "$f" ] || return 0
	done
	return 1
}

# host_libc ARCH|native: can a static program be linked for it?
host_libc() {
	local cc=cc lib
	[ "$1" = native ] || cc=$(host_triplet "$1")-gcc
	lib=$("$cc" -print-file-name=libc.a 2>/dev/null) || return 1
	[ -f "$lib" ]
}

# host_packages: the packages of HOST_MISSING, each once, in order.
host_packages() {
	local row seen=' ' p
	for row in ${HOST_MISSING[@]+"${HOST_MISSING[@]}"}; do
		p=${row##*|}
		case $seen in *" $p "*) continue ;; esac
		[ "$p" != - ] || continue
		seen+="$p "
		printf '%s\n' "$p"
	done
}

# host_resources JOBS: add to HOST_PROBLEMS if disk or memory are short for any
# of the jobs.
host_resources() {
	local job disk memory have dir=$KIT_CACHE
	while [ ! -d "$dir" ]; do dir=$(dirname -- "$dir"); done
	while read -r job disk memory; do
		case ,$1, in *,"$job",*) ;; *) continue ;; esac
		have=$(df -Pm -- "$dir" | tail -n 1 | { read -r _ _ _ n _; echo "$n"; })
		[ "$have" -ge "$disk" ] ||
			HOST_PROBLEMS+=("$have MiB free in $dir, $job takes $disk; free some, or set KIT_CACHE to a folder elsewhere")
		have=$(host_memory)
		[ "$have" -ge "$memory" ] ||
			HOST_PROBLEMS+=("$have MiB of memory available, $job takes $memory; stop something else")
	done < <(host_rows host-resources)
}

# host_memory: MiB that could be used now.
host_memory() {
	local key kb
	while read -r key kb _; do
		[ "$key" = MemAvailable: ] && echo $((kb / 1024)) && return
	done <"${KIT_MEMINFO:-/proc/meminfo}"
	echo 0
}

# host_compiler LTS ARCH gcc|clang: add to HOST_PROBLEMS if the compiler is too
# old for that kernel. One that is not there is a matter of host_check().
host_compiler() {
	local lts gcc clang cc have
	cc=$(host_cc "$2" "$3")
	command -v "$cc" >/dev/null || return 0
	have=$(host_cc_version "$cc")
	# shellcheck disable=SC2034 # gcc and clang are read through ${!3}
	while read -r lts gcc clang; do
		[ "$lts" = "$1" ] || continue
		host_at_least "$have" "${!3}" ||
			HOST_PROBLEMS+=("$cc is $have, Linux $lts builds with ${!3} or later; install a newer one")
		return
	done < <(host_rows host-compilers)
}

# host_cc_version CC: gcc -dumpversion alone may print the major number only.
host_cc_version() {
	case $1 in
	*clang*) host_version "$1" ;;
	*) "$1" -dumpfullversion 2>/dev/null || "$1" -dumpversion 2>/dev/null ;;
	esac
}

# host_gcc15 TREE ARCH gcc|clang: add to HOST_PROBLEMS if this tree cannot be
# built by this compiler: gcc 15 takes C23, where false and true are keywords,
# and old trees do not say which C they are written in for the code that is
# built apart from the kernel proper (boot, EFI stub).
host_gcc15() {
	local cc have f
	cc=$(host_cc "$2" "$3")
	[ "$2" = x86_64 ] && [ "$3" = gcc ] && command -v "$cc" >/dev/null || return 0
	have=$(host_cc_version "$cc")
	host_at_least "$have" 15 || return 0
	for f in arch/x86/Makefile arch/x86/boot/compressed/Makefile drivers/firmware/efi/libstub/Makefile; do
		[ -f "$1/$f" ] || continue
		[[ $(<"$1/$f") == *-std=gnu* ]] && continue
		HOST_PROBLEMS+=("$cc is $have and $1 does not build with gcc 15 ($f lacks -std=gnu11: \"cannot use keyword 'false' as enumeration constant\"), with or without the patches; use gcc 14, clang, or a later point release")
		return
	done
}

# host_install: install the packages of HOST_MISSING with apt-get, after naming
# them. EX_HOST when that cannot be done here, EX_INFRA when apt-get fails.
host_install() {
	local packages sudo=()
	mapfile -t packages < <(host_packages)
	[ ${#packages[@]} -gt 0 ] || return 0
	[ "$(host_manager)" = apt ] ||
		die "$EX_HOST" "packages are installed on Debian only; install these yourself: ${packages[*]}"
	if [ "$(id -u)" -ne 0 ]; then
		sudo=(sudo)
		[ -t 0 ] || sudo=(sudo -n)
		"${sudo[@]}" true 2>/dev/null ||
			die "$EX_HOST" "neither root nor sudo; have root run: apt-get install --no-install-recommends ${packages[*]}"
	fi
	note "installing: ${packages[*]}"
	# The lists may be older than the archive; and another apt may be at work.
	"${sudo[@]}" apt-get -qq -o DPkg::Lock::Timeout=300 update >&2 ||
		die "$EX_INFRA" "apt-get update failed (see above); mend that first"
	"${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o DPkg::Lock::Timeout=300 \
		-o Dpkg::Use-Pty=0 install --no-install-recommends "${packages[@]}" >&2 </dev/null ||
		die "$EX_INFRA" "apt-get install failed (see above); mend that first"
	hash -r
}
