# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What the tests share: `load helpers` first thing in every bats file. It
# gives each test a HOME, a cache and a git identity of its own, so that
# nothing of the user's is read or changed.

bats_require_minimum_version 1.5.0

KIT=$(cd "$BATS_TEST_DIRNAME/.." && pwd -P)
export KIT
export LC_ALL=C

# private_home DIR: let everything that reads a user's settings find none but
# those below DIR. KIT_REAL_CACHE stays what KIT_CACHE was for the user.
private_home() {
	: "${KIT_REAL_CACHE:=${KIT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/stable-backport-kit}}"
	mkdir -p "$1/home"
	export KIT_REAL_CACHE HOME=$1/home KIT_CACHE=$1/cache TMPDIR=$1
	unset XDG_CACHE_HOME XDG_CONFIG_HOME CDPATH GREP_OPTIONS MAKEFLAGS MFLAGS MAKELEVEL
	unset "${!QUILT@}" "${!GIT_@}" "${!KIT_DEBIAN@}" "${!KIT_KERNEL@}"
	export GIT_CONFIG_NOSYSTEM=1
	export GIT_AUTHOR_NAME='Kit Test' GIT_AUTHOR_EMAIL=test@kit.invalid
	export GIT_COMMITTER_NAME='Kit Test' GIT_COMMITTER_EMAIL=test@kit.invalid
}
[ -z "${BATS_TEST_TMPDIR:-}" ] || private_home "$BATS_TEST_TMPDIR"

# use_real_cache: for the tests on real trees, which are big and shared.
use_real_cache() { export KIT_CACHE=$KIT_REAL_CACHE; }

# need_tool NAME PACKAGE: skip the test, with the reason, without the program.
need_tool() { command -v "$1" >/dev/null || skip "no $1 here; on Debian: apt-get install $2"; }

# need_tree LTS: set TREE to the newest tree of that LTS in the real cache, or
# skip the test. For the kernels that no archive has.
need_tree() {
	TREE=$(cd "$KIT_REAL_CACHE/trees" 2>/dev/null && printf '%s\n' "$1".* | sort -V | tail -n 1) || :
	[ -d "$KIT_REAL_CACHE/trees/$TREE" ] || skip "no $1 tree in the cache folder (trees/$1.POINT)"
	TREE=$KIT_REAL_CACHE/trees/$TREE
}

# make_tree VERSION DIR: the least that passes for a kernel tree: a Makefile
# with VERSION (6.12.95 or 6.12.96-rc1) and kernel/sched/fair.c.
make_tree() {
	local v=${1%%-*} extra=''
	case $1 in *-*) extra=-${1#*-} ;; esac
	mkdir -p "$2/kernel/sched"
	cat >"$2/Makefile" <<-EOF
		# SPDX-License-Identifier: GPL-2.0
		VERSION = $(cut -d. -f1 <<<"$v")
		PATCHLEVEL = $(cut -d. -f2 <<<"$v")
		SUBLEVEL = $(cut -d. -f3 <<<"$v.0")
		EXTRAVERSION =${extra:+ $extra}
		NAME = A Tree of the Tests
	EOF
	printf '%s\n' '// SPDX-License-Identifier: GPL-2.0' 'int fair;' >"$2/kernel/sched/fair.c"
}

# tree_sum DIR: one hash over names, modes, link targets and contents below
# DIR, to see that nothing changed.
tree_sum() {
	(cd "$1" && find . -printf '%P %m %y %l\n' | sort &&
		find . -type f -print0 | sort -z | xargs -0r sha256sum) | sha256sum
}

# fails_with CODE TEXT: the last `run` left with CODE and said TEXT somewhere.
# shellcheck disable=SC2154 # bats sets status and output
fails_with() {
	[ "$status" -eq "$1" ] && [[ $output == *"$2"* ]] ||
		{ printf 'wanted exit %s and "%s", got exit %s and:\n%s\n' "$1" "$2" "$status" "$output"; return 1; }
}

# stub DIR NAME LINE...: a program NAME in DIR, a script of these lines. It takes
# the place of a link that links() made; what the link leads to is the host's.
stub() {
	local dir=$1 name=$2
	shift 2
	mkdir -p "$dir"
	rm -f "${dir:?}/$name"
	printf '%s\n' '#!/bin/bash' "$@" >"$dir/$name"
	chmod +x "$dir/$name"
}

# links DIR NAME...: DIR as a PATH that has just these programs of the host.
links() {
	local dir=$1 name
	shift
	mkdir -p "$dir"
	for name; do
		ln -sf "$(type -P "$name")" "$dir/$name"
	done
}
