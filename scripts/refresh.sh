#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# usage: refresh.sh [--stable STABLE.git] [--write] LTS TREE
#        refresh.sh --recover LTS TREE
#
# Carry the queue of LTS to TREE, a tree of a newer point release: what TREE has
# by now moves to class landed, and the rest gets the line numbers of TREE. Says
# what would change, with a range-diff of the queue before and after. Nothing is
# changed without --write.
#
#   --stable CLONE  a clone of linux-stable: says in which release, by which commit
#                   a patch landed, where its header does not say the release
#   --write         change patches/LTS and series/LTS.*: all or nothing
#   --recover       mend what a killed run has left in the queue, and nothing else;
#                   any run with --write does that too before it begins
#
# TREE must be without changes of the queue: a patch that is in it counts as landed.
# There is no fuzz: a patch of which any context is gone is a conflict; then the queue
# stays as it was, and the hunks are named. KIT_QUEUE names another queue than the
# kit's own.
#
# stdout: what changes. Exit codes: 0 done, or nothing to do; 1 a conflict, or a
# patch is there that no release is known to have; 2 wrong arguments or queue; 5 a
# tool is missing; 6 cannot write, the queue is as it was; 7 a tree or clone cannot
# be used; 130, 143 interrupted, the queue is as it was.

. "$(dirname -- "$(readlink -f -- "$0")")/lib/common.sh"
. "$KIT/scripts/lib/scratch.sh"
. "$KIT/scripts/lib/needs.sh"
. "$KIT/scripts/lib/submit-clone.sh"
. "$KIT/scripts/lib/submit-pick.sh"
. "$KIT/scripts/lib/status.sh"
. "$KIT/scripts/lib/upstream.sh"
. "$KIT/scripts/lib/journal.sh"
. "$KIT/scripts/lib/method-patch.sh"
. "$KIT/scripts/lib/refresh.sh"

QUILTRC='' WORK='' SCRATCH='' UPSTREAM='' STABLE='' WITH_UPSTREAM=no WRITE=no RECOVER=no

parse_args() {
	local args
	args=$(getopt -n "$PROG" -o h -l stable:,write,recover,help -- "$@") ||
		die "$EX_USAGE" "wrong arguments; $PROG --help lists them"
	eval set -- "$args"
	while :; do
		case $1 in
		-h | --help) usage 0 ;;
		--stable)
			[ -n "$2" ] || die "$EX_USAGE" "--stable needs the folder of a clone"
			STABLE=$2
			shift ;;
		--write) WRITE=yes ;;
		--recover) RECOVER=yes ;;
		--) shift; break ;;
		esac
		shift
	done
	[ $# -eq 2 ] || die "$EX_USAGE" "LTS and TREE are needed, for example: $PROG 6.12 ../linux-6.12.117"
	[ "$RECOVER" = no ] || [ "$WRITE$STABLE" = no ] ||
		die "$EX_USAGE" "--recover does nothing else and takes no other option; leave them out"
	need_queue
	lts_known "$1" || die "$EX_USAGE" "no queue for \"$1\"; there are: $(lts_list | paste -sd ' ')"
	LTS=$1 TREE=$KIT_QUEUE
	[ "$RECOVER" = no ] || return 0
	kernel_tree "$2"
	whole_tree "$2" "$2"
	# TREE is what the journal changes: the queue
	FROM=$KERNEL
}

need_tools() {
	local tool missing=
	for tool in git filterdiff flock awk quilt diffstat; do
		command -v "$tool" >/dev/null || missing+=" $tool"
	done
	[ -z "$missing" ] ||
		die "$EX_HOST" "missing:$missing; on Debian: apt-get install git patchutils util-linux mawk quilt diffstat"
	kit_make build/bin/kit-queue
}

# The lock is on the folder itself, so that it leaves nothing behind.
lock_queue() {
	exec 9<"$KIT_QUEUE" && flock -n 9 ||
		die "$EX_TREE" "another $PROG is at work in $KIT_QUEUE; wait until it is done"
}

infra() { die "$EX_INFRA" "cannot write to $WORK (see above); free some space there or set TMPDIR; the queue is as it was"; }

# shellcheck disable=SC2317 # called by the trap
cleanup() {
	[ -z "$SCRATCH" ] || rm -rf -- "$SCRATCH"
	[ -z "$WORK" ] || rm -rf -- "$WORK"
	[ -z "${PREPARING-}" ] || journal_drop "$TREE/.kit-apply.new" '[kc]'
}

# journal.sh turns them off where a stop half way would be worse.
signals_on() {
	trap 'note "interrupted; the queue is as it was"; exit 130' INT
	trap 'note "terminated; the queue is as it was"; exit 143' TERM HUP
}
signals_off() { trap '' INT TERM HUP; }

main() {
	parse_args "$@"
	need_tools
	trap cleanup EXIT
	signals_on
	scratch_env
	scratch_sweep
	lock_queue
	if [ "$WRITE$RECOVER" != nono ]; then
		journal_mend no
	elif [ -d "$KIT_QUEUE/.kit-apply" ]; then
		die "$EX_TREE" "an interrupted run has left $KIT_QUEUE half changed; run $PROG with --recover, or with --write, which mend it"
	fi
	if [ "$RECOVER" = yes ]; then
		[ "$MENDED" = yes ] || note "nothing to mend in $KIT_QUEUE"
		exit "$EX_OK"
	fi
	scratch_work refresh
	clones_open
	new_queue
	find_landed
	move_landed
	refresh_diffs
	prove_new
	show_changes >"$WORK/report" && cat "$WORK/report" ||
		die "$EX_INFRA" "cannot write to $WORK or stdout (see above); the queue is as it was"
	[ "$WRITE" = no ] || write_queue
}

main "$@"
exit "$EX_OK"
