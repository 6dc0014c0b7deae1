#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# doctor.sh [--install] [--for JOBS] [--arch ARCHS] [--lts LTS] [--tree DIR]
#           [--cc gcc|clang] [--json | --quiet]
#
# Checks that this host has all that a job needs, before the job starts: programs
# and their versions, room and memory, the compiler against the kernel's own
# minimums and against known trouble, and whether QEMU can use KVM.
#
#   --install   install what is missing with apt-get (as root, or with sudo),
#               after naming it; never what is optional
#   --for JOBS  comma list of apply, fetch, build, boot, test, submit, fuzz; the
#               default is all but fuzz
#   --arch A    comma list of the kernels' architectures, arm64 and x86_64;
#               both by default
#   --lts LTS   versions for that longterm kernel only; for all by default
#   --tree DIR  versions for this tree, and whether the compiler is known not to
#               build it; runs its scripts/min-tool-version.sh, as kbuild does
#   --cc CC     gcc (the default) or clang
#   --json      the result as one JSON object on stdout
#   --quiet     only what is wrong, and no guest is booted to try KVM
#   -h, --help  this text
#
# stdout: a table, a line for each requirement; its states are ok, missing, too
# old, trouble (a compiler that fails), short (room, memory), and note for what
# the work can do without. Last, on stderr, the command that installs what is
# missing. The requirements are data: configs/host-*.
#
# Exit: 0 nothing but notes; 2 usage; 5 something is missing or wrong; 6 apt-get
# failed.

. "$(dirname -- "$(readlink -f -- "$0")")/lib/common.sh"
# shellcheck source=scripts/lib/accel.sh
. "$KIT/scripts/lib/accel.sh"
for part in host host-kernel host-machine host-report; do
	# shellcheck source=/dev/null
	. "$KIT/scripts/lib/$part.sh"
done

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

# has_job JOB: was it asked for?
has_job() { case ,$JOBS, in *,"$1",*) ;; *) return 1 ;; esac }

# check_programs: what packages can mend.
check_programs() {
	local jobs=$JOBS
	[ "$CC_KIND" = gcc ] || jobs+=,$CC_KIND
	HOST_FOUND=()
	host_check "$jobs" "$ARCHS"
}

check_kernels() {
	local arch lts=$LTS
	[ -n "$lts" ] || [ -z "$TREE" ] || lts=$TREE_LTS
	[ -n "$lts" ] || lts=$(host_lts)
	# shellcheck disable=SC2034 # for host-kernel.sh
	HOST_SEEN=' '
	for arch in ${ARCHS//,/ }; do
		host_minimums "${lts// /,}" "$arch" "$CC_KIND" "$TREE"
		host_troubles "$arch" "$CC_KIND" "$TREE"
	done
}

check_all() {
	local arch
	check_programs
	[ -z "$INSTALL" ] || ! host_install || check_programs
	! has_job build && [ -z "$LTS$TREE" ] || check_kernels
	host_resources "$JOBS"
	if has_job boot && [ -z "$QUIET" ]; then
		for arch in ${ARCHS//,/ }; do
			host_qemu "$arch"
			host_accel "$arch"
		done
	fi
	host_user
	[ "$(host_bad)" -eq 0 ]
}

# look_at_tree: TREE_LTS, such as 6.12, if the kit knows it.
look_at_tree() {
	local version
	[ -d "$TREE" ] || die "$EX_USAGE" "--tree $TREE: no such folder; name a kernel tree"
	[[ -f $TREE/Makefile && $(<"$TREE/Makefile") =~ VERSION\ *=\ *([0-9]+).*PATCHLEVEL\ *=\ *([0-9]+) ]] ||
		die "$EX_USAGE" "--tree $TREE: its Makefile has no VERSION and PATCHLEVEL; name a kernel tree"
	version=${BASH_REMATCH[1]}.${BASH_REMATCH[2]}
	TREE_LTS=$version
}

read_options() {
	while [ $# -gt 0 ]; do
		case $1 in
		--for | --arch | --lts | --tree | --cc) [ $# -gt 1 ] || die "$EX_USAGE" "$1 needs a value; --help says which" ;;
		esac
		case $1 in
		--install) INSTALL=1 ;;
		--json) AS_JSON=1 ;;
		--quiet) QUIET=1 ;;
		--for) JOBS=$2; shift ;;
		--arch) ARCHS=$2; shift ;;
		--lts) LTS=$2; shift ;;
		--tree) TREE=$2; shift ;;
		--cc) CC_KIND=$2; shift ;;
		-h | --help) usage 0 ;;
		*) die "$EX_USAGE" "unknown argument $1; --help names them" ;;
		esac
		shift
	done
	only "$JOBS" --for apply fetch build boot test submit fuzz
	only "$ARCHS" --arch arm64 x86_64
	only "$CC_KIND" --cc gcc clang
	[ -z "$LTS" ] || [[ " $(host_lts) " =~ [[:space:]]"$LTS"[[:space:]] ]] ||
		die "$EX_USAGE" "configs/host-minimums does not know Linux '$LTS'; add it there"
	[ -z "$TREE" ] || look_at_tree
	[ -z "$AS_JSON" ] || [ -z "$QUIET" ] || die "$EX_USAGE" "--json and --quiet do not go together; leave one out"
}

main() {
	local ok=true
	INSTALL='' JOBS=apply,fetch,build,boot,test,submit ARCHS=arm64,x86_64
	LTS='' TREE='' TREE_LTS='' CC_KIND=gcc AS_JSON='' QUIET=''
	read_options "$@"
	check_all || ok=false
	if [ -n "$AS_JSON" ]; then
		host_json "$ok"
	elif [ "$ok" = true ]; then
		[ -n "$QUIET" ] || host_table
		echo "$PROG: all ${#HOST_FOUND[@]} requirements are met"
	else
		host_table ${QUIET:+bad}
	fi
	[ -n "$AS_JSON" ] || host_advice "$QUIET"
	[ "$ok" = true ] || exit "$EX_HOST"
}

main "$@"
