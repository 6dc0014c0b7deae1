# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What every script of the kit shares. Source it as
#   . "$(dirname -- "$(readlink -f -- "$0")")/lib/common.sh"
# Sets KIT (the checkout), KIT_QUEUE (the folder with patches/ and series/: the
# checkout, unless the environment names another), KIT_BIN (host tools),
# KIT_CACHE (cache folder), PROG and the exit codes of CONTRIBUTING.md.

set -u
export LC_ALL=C
unset CDPATH # cd would print where it went

# Exit codes; the table is in CONTRIBUTING.md.
# shellcheck disable=SC2034
{
	EX_OK=0 EX_FAIL=1 EX_USAGE=2 EX_BUILD=3 EX_BOOT=4
	EX_HOST=5 EX_INFRA=6 EX_TREE=7
}

KIT=$(dirname -- "$(dirname -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")")")
# shellcheck disable=SC2034 # for the scripts
# shellcheck disable=SC2034
KIT_BIN=$KIT/build/bin
KIT_QUEUE=$(readlink -f -- "${KIT_QUEUE:-$KIT}")
# systemd and some CI say no HOME; its owner has one nevertheless.
[ -n "${HOME:-}" ] || { HOME=$(getent passwd "$(id -u)" | cut -d: -f6); export HOME; }
KIT_CACHE=${KIT_CACHE:-${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}/stable-backport-kit}
PROG=${PROG:-${0##*/}}

# note TEXT...: one line for the user, on stderr, so that stdout stays data.
note() { printf '%s: %s\n' "$PROG" "$*" >&2; }

# die CODE TEXT...: say what is wrong and what to do, and leave with CODE.
die() {
	local code=$1
	shift
	note "$*"
	exit "$code"
}

# usage [CODE]: print the script's own header (up to the first line that is
# not a comment) as the help text; CODE 0 to stdout, anything else to stderr.
usage() {
	local code=${1:-$EX_USAGE} out=2
	[ "$code" -eq 0 ] && out=1
	sed -n '/^#!/d; /^# SPDX/d; /^#/!q; s/^# \{0,1\}//p' "$0" >&"$out"
	exit "$code"
}

# kit_tools: build the host tools when they are missing or older than their
# sources. Exit EX_HOST when there is no compiler to do it with.
kit_tools() { kit_make tools; }

# kit_make GOAL...: the same for some of them, such as build/bin/kit-queue.
kit_make() {
	command -v make >/dev/null && command -v cc >/dev/null ||
		die "$EX_HOST" "make and a C compiler are needed for the host tools; on Debian: apt-get install make gcc libc6-dev libjansson-dev"
	make -q -C "$KIT" "$@" >/dev/null 2>&1 && return
	# Two runs at once would write the same objects.
	mkdir -p "$KIT/build" &&
		flock "$KIT/build" make -s -C "$KIT" "$@" >&2 ||
		die "$EX_HOST" "the host tools do not build (see above); on Debian: apt-get install make gcc libc6-dev libjansson-dev"
}

# lts_list: the longterm kernels that the kit has a queue for, oldest first.
lts_list() { (cd "$KIT_QUEUE/patches" && printf '%s\n' *) | sort -V; }

# lts_known LTS: true if there is a queue for it.
lts_known() { [ -n "$1" ] && [ -d "$KIT_QUEUE/patches/$1" ] && [[ $1 =~ ^[0-9]+\.[0-9]+$ ]]; }

# tree_version DIR: print the version from DIR/Makefile, such as 6.12.95 or
# 6.12.96-rc1 (the stable EXTRAVERSION). Returns 1 if DIR is no kernel tree.
tree_version() {
	[ -f "$1/Makefile" ] && [ -f "$1/kernel/sched/fair.c" ] || return 1
	# a tree with CRLF is refused for that, not for its version
	awk -F ' *= *' '
		{ sub(/\r$/, "") }
		/^VERSION *=/ { v = $2 } /^PATCHLEVEL *=/ { p = $2 }
		/^SUBLEVEL *=/ { s = $2 } /^EXTRAVERSION *=/ { e = $2; exit }
		END { if (v == "" || p == "" || s == "") exit 1
		      print v "." p "." s e }' "$1/Makefile"
}
