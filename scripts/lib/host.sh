# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What this host has and lacks. Needs common.sh. Nothing but bash and coreutils
# is used: on a fresh host there is not even make or awk. The requirements are
# data: configs/host-packages, host-minimums, host-troubles, host-resources and
# host-measured.

# What was looked at, a line each: STATE, WHAT, HAVE, WANT, NEEDED, JOBS,
# PACKAGE and TEXT with HOST_SEP between. STATE is ok, missing, old, trouble,
# short or note; NEEDED is required or optional; PACKAGE may be "-".
HOST_FOUND=()
HOST_SEP=$'\037'

# host_found STATE WHAT HAVE WANT NEEDED JOBS PACKAGE TEXT: take note of one.
host_found() {
	local IFS=$HOST_SEP
	HOST_FOUND+=("$*")
}

# This host's architecture as the kit names it (arm64, x86_64).
HOST_ARCH=$(uname -m)
HOST_ARCH=${HOST_ARCH/#aarch64/arm64}

# host_triplet ARCH: the prefix of ARCH's cross tools.
host_triplet() {
	case $1 in arm64) echo aarch64-linux-gnu ;; *) echo "$1-linux-gnu" ;; esac
}

# host_cross ARCH TOOL: TOOL (gcc, ld) as it is called here when it is for ARCH.
host_cross() {
	if [ "$1" = "$HOST_ARCH" ]; then
		echo "$2"
	else
		echo "$(host_triplet "$1")-$2"
	fi
}

# host_cc ARCH gcc|clang: the compiler that builds for ARCH here.
host_cc() {
	case $2 in clang) echo clang ;; *) host_cross "$1" gcc ;; esac
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

# host_install_line: the command that PACKAGEs are appended to, for root.
host_install_line() {
	case $(host_manager) in
	apt) echo "apt-get install --no-install-recommends" ;;
	dnf) echo "dnf install" ;;
	zypper) echo "zypper install" ;;
	pacman) echo "pacman -S" ;;
	*) echo "(your package manager)" ;;
	esac
}

# host_rows FILE: the lines of a data file without comments and blank lines.
host_rows() {
	local line
	while IFS= read -r line || [ -n "$line" ]; do
		case $line in '' | '#'*) ;; *) printf '%s\n' "$line" ;; esac
	done <"$KIT/configs/$1"
}

# host_needs JOBS TARGET ASKED_JOBS ASKED_ARCHS (comma lists): set NEED to required
# or optional if the row with JOBS and TARGET concerns what was asked for, and FOR to
# those of the asked jobs that it is optional for; return 1 if it does not.
host_needs() {
	local job arch
	NEED='' FOR=''
	for job in ${3//,/ }; do
		case ,$1, in
		*,all,* | *,"$job",*) NEED=required FOR=${1//[?]/} && break ;;
		*,"$job"\?,*) NEED=optional FOR+=${FOR:+,}$job ;;
		esac
	done
	[ -n "$NEED" ] || return 1
	for arch in ${4//,/ }; do
		case $2 in any | "$arch") ;;
		"$arch-cross") [ "$arch" != "$HOST_ARCH" ] || continue ;;
		native) [ "$arch" = "$HOST_ARCH" ] || continue ;;
		*) continue ;;
		esac
		return 0
	done
	return 1
}

# host_check JOBS ARCHS: look for everything of host-packages that they need.
host_check() {
	local check jobs target apt dnf zypper pacman manager package min
	manager=$(host_manager)
	# shellcheck disable=SC2034 # apt to pacman are read through ${!manager}
	while IFS='|' read -r check jobs target apt dnf zypper pacman; do
		read -r check <<<"$check"
		read -r jobs <<<"$jobs"
		read -r target <<<"$target"
		host_needs "$jobs" "$target" "$1" "$2" || continue
		package=-
		[ -z "$manager" ] || read -r package <<<"${!manager}"
		read -r _ _ min <<<"$check"
		case $check in cmd\ *) ;; *) min='' ;; esac
		host_look "$check" "$target" || :
		host_name "$check" "$target"
		host_found "$STATE" "$NAME" "$HAVE" "$min" "$NEED" "$FOR" "$package" "$TEXT"
	done < <(host_rows host-packages)
}

# host_name CHECK TARGET: set NAME to what a reader calls it.
host_name() {
	local kind what rest
	read -r kind what rest <<<"$1"
	case $kind:$2 in
	cmd:*) NAME=$what ;;
	sub:*) NAME="$what $rest" ;;
	libc:native) NAME="static libc" ;;
	libc:*) NAME="static libc for ${2%-cross}" ;;
	*) NAME=$kind${what:+ $what} ;;
	esac
}

# host_look CHECK TARGET: set STATE, HAVE (a version, or empty) and TEXT (what is
# wrong, or empty).
host_look() {
	local kind what min
	read -r kind what min <<<"$1"
	STATE=missing HAVE='' TEXT="not found"
	case $kind in
	cmd)
		command -v "$what" >/dev/null || return
		[ -n "$min" ] || { STATE=ok TEXT=''; return; }
		HAVE=$(host_version "$what")
		host_at_least "$HAVE" "$min" || {
			STATE=old TEXT="is ${HAVE:-of unknown version}, $min is needed"
			return
		}
		;;
	sub) { command -v "$what" && "$what" "$min" --help; } >/dev/null 2>&1 </dev/null || return ;;
	git) [ -x "$(git --exec-path 2>/dev/null)/git-$what" ] || command -v "git-$what" >/dev/null || return ;;
	perl) perl "-M$what" -e 1 >/dev/null 2>&1 </dev/null || return ;;
	python) "${KIT_PYTHON:-/usr/bin/python3}" -c "import $what" >/dev/null 2>&1 </dev/null || return ;;
	header) host_header "$what" || return ;;
	libc) host_libc "${2%-cross}" || { TEXT="no static C library for ${2%-cross}"; return; } ;;
	libfuzzer) host_libfuzzer || { TEXT="clang cannot link a fuzz target"; return; } ;;
	*) die "$EX_USAGE" "configs/host-packages: unknown check '$kind'; its head names them" ;;
	esac
	STATE=ok TEXT=''
}

# host_version PROGRAM: the first number with a dot that --version prints.
host_version() {
	local text
	text=$("$1" --version 2>/dev/null </dev/null)
	[[ $text =~ [0-9]+(\.[0-9]+)+ ]] && echo "${BASH_REMATCH[0]}"
}

# host_at_least HAVE MIN: is the dotted version HAVE, which may be empty, not below
# MIN? A part that is no number counts as 0, and so does one that is not there.
host_at_least() {
	local -a have min
	local i a b
	[ -n "$1" ] || return 1
	IFS=. read -ra have <<<"$1"
	IFS=. read -ra min <<<"$2"
	for i in "${!min[@]}"; do
		a=${have[i]:-0} b=${min[i]}
		a=${a%%[!0-9]*} b=${b%%[!0-9]*}
		[ $((10#0$a)) -ge $((10#0$b)) ] || return 1
		[ $((10#0$a)) -eq $((10#0$b)) ] || return 0
	done
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

host_libfuzzer() {
	printf '%s\n' 'int LLVMFuzzerTestOneInput(void);' 'int LLVMFuzzerTestOneInput(void) { return 0; }' |
		clang -fsanitize=fuzzer,address -o /dev/null -x c - >/dev/null 2>&1
}

# host_cc_version CC: gcc -dumpversion alone may print the major number only.
host_cc_version() {
	case $1 in
	*clang*) host_version "$1" ;;
	*) "$1" -dumpfullversion 2>/dev/null || "$1" -dumpversion 2>/dev/null ;;
	esac
}

# host_packages required|optional: the packages of what is missing or too old,
# each once, in order.
host_packages() {
	local row state need package seen=' '
	for row in ${HOST_FOUND[@]+"${HOST_FOUND[@]}"}; do
		IFS=$HOST_SEP read -r state _ _ _ need _ package _ <<<"$row"
		case $state:$need in missing:"$1" | old:"$1") ;; *) continue ;; esac
		case $seen in *" $package "*) continue ;; esac
		[ "$package" != - ] || continue
		seen+="$package "
		printf '%s\n' "$package"
	done
}

# host_bad: how many of HOST_FOUND keep the work from starting.
host_bad() {
	local row n=0
	for row in ${HOST_FOUND[@]+"${HOST_FOUND[@]}"}; do
		case $row in
		ok"$HOST_SEP"* | note"$HOST_SEP"* | *"$HOST_SEP"optional"$HOST_SEP"*) ;;
		*) n=$((n + 1)) ;;
		esac
	done
	echo "$n"
}

# host_install: install the required packages that are missing with apt-get,
# after naming them. EX_HOST when that cannot be done here, EX_INFRA when
# apt-get fails. Returns 1 if there was nothing to install.
host_install() {
	local packages sudo=()
	mapfile -t packages < <(host_packages required)
	[ ${#packages[@]} -gt 0 ] || return 1
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

# host_memory: MiB that could be used now.
host_memory() {
	local key kb
	while read -r key kb _; do
		[ "$key" = MemAvailable: ] && echo $((kb / 1024)) && return
	done <"${KIT_MEMINFO:-/proc/meminfo}"
	echo 0
}
