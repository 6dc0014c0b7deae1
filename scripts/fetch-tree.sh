#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# fetch-tree.sh [--from SOURCE] LTS[.POINT]
# fetch-tree.sh --list [LTS]
#
# Puts a pristine kernel tree into $KIT_CACHE/trees/LTS.POINT and prints its
# path, the only line on stdout. A tree that is there already is taken as it
# is, also one that you put (or linked) there yourself. Without POINT: the
# newest that is in the cache, else the newest that Debian has, else the newest
# of kernel.org.
#
#   --from SOURCE  take it from there, and not from the cache:
#                    debian        Debian's package linux-source-LTS
#                    kernel.org    its tarball, checked by its signature
#                    FILE          a tarball (xz, gz or zst) with one folder
#                    URL[#REF]     a git URL or a local repository; REF is
#                                  by default the tag vLTS.POINT if POINT is
#                                  given, else HEAD
#   --list         print "VERSION SOURCE DETAIL" for what is in the cache, what
#                  Debian has and the newest of kernel.org, newest last; without
#                  LTS for every queue
#   -h, --help     this text
#
# Debian's suites are the ones in configs/debian-suites, its mirror is the one
# in the host's apt sources; $KIT_DEBIAN_MIRROR and $KIT_DEBIAN_SECURITY_MIRROR
# (base URLs) and $KIT_DEBIAN_KEYRING (a file) override that. apt runs with
# its own lists and sources, so nothing of the host's changes and no root is
# needed.
#
# $KIT_KERNEL_MIRROR is the base URL of a mirror of kernel.org, by default
# https://cdn.kernel.org/pub/linux/kernel. Who may sign is in
# configs/kernel-org-keys ($KIT_KERNEL_KEYS names another file); the keys
# themselves come from kernel.org, or from the file that $KIT_KERNEL_KEYRING
# names. $KIT_FETCH_STALL is how many seconds without a byte end a try (30).
# docs/fetch.md tells more.
#
# A failed run leaves nothing, and an interrupted one at most the part of a
# tarball that came, for the next run to go on with; two runs share one download.
#
# Exit: 0 done; 2 usage; 5 a program is missing; 6 not to be had, or broken on
# the way, or disk full; 7 what came is not that version, or not signed by who
# should, or the cache holds another tree under its name; 130, 143 interrupted.

. "$(dirname -- "$(readlink -f -- "$0")")/lib/common.sh"
. "$KIT/scripts/lib/fetch.sh"
. "$KIT/scripts/lib/fetch-sources.sh"
. "$KIT/scripts/lib/fetch-debian.sh"
. "$KIT/scripts/lib/fetch-http.sh"
. "$KIT/scripts/lib/fetch-keys.sh"
. "$KIT/scripts/lib/fetch-incr.sh"
. "$KIT/scripts/lib/fetch-kernelorg.sh"

# get ASKED [SOURCE]: have the tree, from the cache if no SOURCE is named, and
# print its path.
get() {
	case ${2:-} in
	'')
		cache_newest "$1"
		if [ -z "$VERSION" ]; then
			fetch_anywhere "$1"
		elif [ "$VERSION" != "$1" ]; then
			note "taking $VERSION, the newest $1 in $TREES"
		fi
		;;
	debian) fetch_packaged debian "$1" ;;
	kernel.org)
		kernelorg_no_candidates "$1"
		fetch_packaged kernel.org "$1"
		;;
	*) fetch_named "$2" "$1" ;;
	esac
	printf '%s\n' "$TREES/$VERSION"
}

# list_all [LTS]: what can be had. A source that cannot be asked is named.
list_all() {
	local lts known
	mapfile -t known < <(if [ -n "$1" ]; then echo "$1"; else lts_list; fi)
	debian_ask "${known[@]}" || note "$DEBIAN_WHY"
	kernelorg_scan "${known[@]}"
	[ -z "$KORG_WHY" ] || note "$KORG_WHY"
	for lts in "${known[@]}"; do
		{
			cache_list "$lts"
			debian_list "$lts"
			kernelorg_list "$lts" | tail -n 1
		} | sort -V
	done
}

main() {
	local from='' list='' asked
	while [ $# -gt 0 ]; do
		case $1 in
		--from) [ -n "${2:-}" ] || die "$EX_USAGE" "--from needs a SOURCE; --help says which there are"; from=$2; shift ;;
		--from=?*) from=${1#*=} ;;
		--list) list=1 ;;
		-h | --help) usage 0 ;;
		--) shift; break ;;
		-*) die "$EX_USAGE" "unknown option $1; --help names them" ;;
		*) break ;;
		esac
		shift
	done
	[ $# -le 1 ] && [ -n "$list$*" ] || usage
	asked=${1:-}
	if [ -n "$list" ]; then
		[ -z "$from" ] || die "$EX_USAGE" "--list takes no --from; leave one out"
		[[ $asked =~ ^([0-9]+\.[0-9]+)?$ ]] ||
			die "$EX_USAGE" "'$asked' is no longterm version; --list takes one such as 6.12"
		cache_open
		list_all "$asked"
	else
		[[ $asked =~ ^[1-9][0-9]?\.[1-9]?[0-9](\.(0|[1-9][0-9]{0,3})(-rc[0-9]+)?)?$ ]] ||
			die "$EX_USAGE" "'$asked' is no kernel version; give one such as 6.12 or 6.12.95"
		cache_open
		get "$asked" "$from"
	fi
}

main "$@"
