#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# host-check.sh [--install] [--for JOBS] [--arch ARCHS] [--lts LTS]
#               [--tree DIR] [--cc gcc|clang] [--json]
#
# Checks that this host has all that a job needs, before the job starts, and
# names the packages that are missing.
#
#   --install   install what is missing with apt-get (as root, or with sudo),
#               after naming it
#   --for JOBS  comma list of apply, fetch, build, boot, test; all by default
#   --arch A    comma list of the kernels' architectures, arm64 and x86_64;
#               both by default
#   --lts LTS   is the compiler new enough for that longterm kernel?
#   --tree DIR  is it one that this tree can be built with?
#   --cc CC     gcc (the default) or clang
#   --json      the result as one JSON object on stdout
#   -h, --help  this text
#
# The requirements are in configs/host-packages, configs/host-compilers and
# configs/host-resources.
#
# Exit: 0 nothing is missing; 2 usage; 5 something is; 6 apt-get failed.

. "$(dirname -- "$(readlink -f -- "$0")")/lib/common.sh"
. "$KIT/scripts/lib/host.sh"

# only LIST OPTION NAME...: die unless each of the comma list is a NAME.
only() {
	local list=$1 option=$2 item name
	shift 2
	for item in ${list//,/ }; do
		for name; do [ "$item" != "$name" ] || continue 2; done
		die "$EX_USAGE" "$option does not know '$item'; it takes $*"
	done
	[ -n "${list//,/}" ] || die "$EX_USAGE" "$option needs a value; it takes $*"
}

check_all() {
	local arch jobs=$for
	[ "$cc" = gcc ] || jobs+=,$cc
	host_check "$jobs" "$archs"
	[ -z "$install" ] || {
		host_install
		host_check "$jobs" "$archs"
	}
	HOST_PROBLEMS=()
	host_resources "$for"
	for arch in ${archs//,/ }; do
		[ -z "$lts" ] || host_compiler "$lts" "$arch" "$cc"
		[ -z "$tree" ] || host_gcc15 "$tree" "$arch" "$cc"
	done
	[ $((${#HOST_MISSING[@]} + ${#HOST_PROBLEMS[@]})) -eq 0 ]
}

report_text() {
	local row check why package packages problem
	for row in ${HOST_MISSING[@]+"${HOST_MISSING[@]}"}; do
		IFS='|' read -r check why package <<<"$row"
		note "$check: $why; package $package"
	done
	for problem in ${HOST_PROBLEMS[@]+"${HOST_PROBLEMS[@]}"}; do note "$problem"; done
	mapfile -t packages < <(host_packages)
	[ ${#packages[@]} -eq 0 ] ||
		note "something is missing; run: $(install_line) ${packages[*]}"
}

install_line() {
	case $(host_manager) in
	apt) echo "apt-get install --no-install-recommends" ;;
	dnf) echo "dnf install" ;;
	zypper) echo "zypper install" ;;
	pacman) echo "pacman -S" ;;
	*) echo "(your package manager)" ;;
	esac
}

# json_list STRING...: as a JSON array of strings.
json_list() {
	local s sep=''
	printf '['
	for s; do
		s=${s//\\/\\\\}
		s=${s//\"/\\\"}
		printf '%s"%s"' "$sep" "${s//[$'\001'-$'\037']/ }"
		sep=', '
	done
	printf ']'
}

report_json() {
	local row check why package sep='' packages
	mapfile -t packages < <(host_packages)
	printf '{"ok": %s, "checked": %d, "manager": "%s",\n "missing": [' "$1" "$HOST_CHECKED" "$(host_manager)"
	for row in ${HOST_MISSING[@]+"${HOST_MISSING[@]}"}; do
		IFS='|' read -r check why package <<<"$row"
		printf '%s\n  {"check": "%s", "wrong": "%s", "package": "%s"}' "$sep" "$check" "$why" "$package"
		sep=,
	done
	printf '],\n "packages": %s,\n "problems": %s}\n' "$(json_list ${packages[@]+"${packages[@]}"})" \
		"$(json_list ${HOST_PROBLEMS[@]+"${HOST_PROBLEMS[@]}"})"
}

main() {
	local install='' for=apply,fetch,build,boot,test archs=arm64,x86_64 lts='' tree='' cc=gcc json='' ok=true
	while [ $# -gt 0 ]; do
		case $1 in
		--for | --arch | --lts | --tree | --cc) [ $# -gt 1 ] || die "$EX_USAGE" "$1 needs a value; --help says which" ;;
		esac
		case $1 in
		--install) install=1 ;;
		--json) json=1 ;;
		--for) for=$2; shift ;;
		--arch) archs=$2; shift ;;
		--lts) lts=$2; shift ;;
		--tree) tree=$2; shift ;;
		--cc) cc=$2; shift ;;
		-h | --help) usage 0 ;;
		*) die "$EX_USAGE" "unknown argument $1; --help names them" ;;
		esac
		shift
	done
	only "$for" --for apply fetch build boot test
	only "$archs" --arch arm64 x86_64
	only "$cc" --cc gcc clang
	[ -z "$lts" ] || host_rows host-compilers | grep -q "^${lts//./\\.} " ||
		die "$EX_USAGE" "configs/host-compilers does not know Linux '$lts'; add it there"
	[ -z "$tree" ] || [ -d "$tree" ] || die "$EX_USAGE" "--tree $tree: no such folder; name a kernel tree"
	check_all || ok=false
	if [ -n "$json" ]; then
		report_json "$ok"
	elif [ "$ok" = true ]; then
		echo "$PROG: all $HOST_CHECKED requirements are met"
	else
		report_text
	fi
	[ "$ok" = true ] || exit "$EX_HOST"
}

main "$@"
