#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# verify-build.sh - prove on emulated NUMA machines what the queue changes
#
# Usage: verify-build.sh [OPTION]... LTS
#
# Builds the kernel without and with the patches that the scenario is about,
# boots both under QEMU, runs the scenario in both, and judges the difference
# against the noise between boots of the same kernel.
#
#   --tree DIR        the kernel tree (never changed); else fetch-tree.sh LTS
#   --arch ARCH       arm64 (default: reproducible) or x86_64
#   --topology NAME   a machine of topologies/ (default: the scenario's, or pair)
#   --scenario NAME   what to run, of scenarios/ (default affinity-fork); all for
#                     each that LTS has the patches for, one after the other
#   --class LIST|all  classes of the queue that are on both sides (default: stable,
#                     and distro where the scenario is about patches above that).
#                     "all" without --scenario proves all: every scenario
#   --without LIST    base is the queue without these patches, in place of those
#                     that the scenario names: what is a follow-up good for?
#   --clean-only      do not judge what is measured: that both kernels run the scenario
#                     without a splat is all, with one boot each. For kernels with
#                     debug options, as --config configs/debug.config has them
#   --each            boot the kernel after each patch, not only the last
#   --config FILE     a kernel config fragment on top of configs/; "# memory: times N"
#                     in it, N from 2 to 9, gives the guests more memory
#   --cc gcc|clang    compiler (default gcc)
#   --accel auto|tcg|kvm   (default auto: tcg for arm64, where it is what makes
#                     a run reproducible; kvm for x86_64 where it works)
#   --seeds N         boots of each kernel, at least 2 (default: the scenario's, 5);
#                     the noise is measured between them
#   --jobs N          boots at a time, at most as many as memory allows (default:
#                     one for each CPU)
#   --out DIR         results folder (default results/VERSION-ARCH-TOPOLOGY-SCENARIO)
#   --help
#
# Exit codes: 0 as the scenario expects; 1 behaviour failed; 2 usage, or a
# wrong topology or scenario file; 3 build failed, or a new warning; 4 boot
# failed; 5 host not ready; 6 infrastructure (disk, download, compiler killed);
# 7 tree refused; 130, 143 interrupted. The results folder is written whole or
# not at all; on failure it is there too, where there is something to show.

. "$(dirname -- "$(readlink -f -- "$0")")/lib/common.sh"
. "$KIT/scripts/lib/scratch.sh"
# shellcheck source=scripts/lib/host.sh
. "$KIT/scripts/lib/host.sh"
# shellcheck source=scripts/lib/sync.sh
. "$KIT/scripts/lib/sync.sh"
# shellcheck source=scripts/lib/build.sh
. "$KIT/scripts/lib/build.sh"
# shellcheck source=scripts/lib/guest.sh
. "$KIT/scripts/lib/guest.sh"
# shellcheck source=scripts/lib/progress.sh
. "$KIT/scripts/lib/progress.sh"
# shellcheck source=scripts/lib/accel.sh
. "$KIT/scripts/lib/accel.sh"
# shellcheck source=scripts/lib/verify.sh
. "$KIT/scripts/lib/verify.sh"
# shellcheck source=scripts/lib/walk.sh
. "$KIT/scripts/lib/walk.sh"
# shellcheck source=scripts/lib/every.sh
. "$KIT/scripts/lib/every.sh"
# shellcheck source=scripts/lib/results.sh
. "$KIT/scripts/lib/results.sh"

TREE='' ARCH=arm64 TOPOLOGY='' SCENARIO='' CLASS='' CONFIG='' WITHOUT='' EACH='' CLEAN_ONLY=''
CC_KIND=gcc ACCEL_ASKED=auto SEEDS='' JOBS=$(nproc) OUT='' LTS=''

parse_options() {
	while [ $# -gt 0 ]; do
		case $1 in
		--tree|--arch|--topology|--scenario|--class|--without|--config|--cc|--accel|--seeds|--jobs|--out)
			[ $# -ge 2 ] && [[ $2 != --* ]] || die "$EX_USAGE" "$1 needs a value; see --help"
			set_option "$1" "$2"
			shift ;;
		--each) EACH=yes ;;
		--clean-only) CLEAN_ONLY=yes ;;
		--*=*) set_option "${1%%=*}" "${1#*=}" ;;
		-h|--help) usage 0 ;;
		-*) die "$EX_USAGE" "unknown option $1; see --help" ;;
		*)
			[ -z "$LTS" ] || die "$EX_USAGE" "one LTS is enough, '$1' is too many; see --help"
			LTS=$1 ;;
		esac
		shift
	done
	[ -n "$LTS" ] || die "$EX_USAGE" "which LTS? one of: $(lts_list | xargs); see --help"
}

# set_option NAME VALUE
set_option() {
	[ -n "$2" ] || die "$EX_USAGE" "$1 needs a value; see --help"
	case $1 in
	--tree) TREE=$2 ;;
	--arch) ARCH=$2 ;;
	--topology) TOPOLOGY=$2 ;;
	--scenario) SCENARIO=$2 ;;
	--class) CLASS=$2 ;;
	--without) WITHOUT=$2 ;;
	--config) CONFIG=$2 ;;
	--cc) CC_KIND=$2 ;;
	--accel) ACCEL_ASKED=$2 ;;
	--seeds) SEEDS=$2 ;;
	--jobs) JOBS=$2 ;;
	--out) OUT=$2 ;;
	*) die "$EX_USAGE" "unknown option $1; see --help" ;;
	esac
}

# one_of WHAT VALUE ALLOWED...
one_of() {
	local what=$1 value=$2 word
	shift 2
	for word; do [ "$value" != "$word" ] || return 0; done
	die "$EX_USAGE" "$what '$value' is not one of: $*"
}

# names_in FOLDER SUFFIX: the data files that there are.
names_in() { (cd "$KIT/$1" && printf '%s\n' *"$2") | sed "s/$2\$//" | xargs; }

# check_class: a word of --class that is none would be an empty class.
check_class() {
	local word
	[ "$CLASS" != all ] || { : "${SCENARIO:=all}"; CLASS=stable,distro,experimental; }
	: "${SCENARIO:=affinity-fork}"
	[ -n "$CLASS" ] || return 0
	[[ $CLASS != *,,* && $CLASS != ,* && $CLASS != *, ]] ||
		die "$EX_USAGE" "--class '$CLASS' has an empty word; see --help"
	for word in ${CLASS//,/ }; do one_of --class "$word" stable distro experimental alternative; done
}

# check_without: WITHOUT as kit-queue names patches.
check_without() {
	local name list=()
	[[ ,$WITHOUT, != *,,* || -z $WITHOUT ]] ||
		die "$EX_USAGE" "--without '$WITHOUT' has an empty word; see --help"
	for name in ${WITHOUT//,/ }; do list+=("${name%.patch}.patch"); done
	[ ${#list[@]} -eq 0 ] || WITHOUT=$(join "${list[@]}")
	[ "$SCENARIO" != all ] || [ -z "$WITHOUT$EACH" ] ||
		die "$EX_USAGE" "--without and --each are for one scenario; name it with --scenario"
}

# topology_file: TOPO_FILE of TOPOLOGY.
topology_file() {
	TOPO_FILE=$KIT/topologies/$TOPOLOGY.topo
	[ -f "$TOPO_FILE" ] && [[ $TOPOLOGY != */* ]] || die "$EX_USAGE" "no topology '$TOPOLOGY'; there is: $(names_in topologies .topo)"
}

check_options() {
	need_queue
	lts_known "$LTS" || die "$EX_USAGE" "no queue for '$LTS'; there is one for: $(lts_list | xargs)"
	one_of --arch "$ARCH" arm64 x86_64
	one_of --cc "$CC_KIND" gcc clang
	one_of --accel "$ACCEL_ASKED" auto tcg kvm
	[[ $JOBS =~ ^[1-9][0-9]?$ ]] || die "$EX_USAGE" "--jobs takes 1 to 99, not '$JOBS'"
	[[ $SEEDS =~ ^([2-9]|[1-5][0-9])?$ ]] || die "$EX_USAGE" "--seeds takes 2 to 59, not '$SEEDS'"
	check_class
	check_without
	[ -z "$TOPOLOGY" ] || topology_file
	SCENARIO_FILE=$KIT/scenarios/$SCENARIO.scn
	[ "$SCENARIO" = all ] || [ -f "$SCENARIO_FILE" ] && [[ $SCENARIO != */* ]] || die "$EX_USAGE" "no scenario '$SCENARIO'; there is: $(names_in scenarios .scn)"
	[ -z "$CONFIG" ] || { [ -f "$CONFIG" ] && [ -r "$CONFIG" ]; } || die "$EX_USAGE" "cannot read the config fragment $CONFIG"
	[ -z "$TREE" ] || [ -d "$TREE" ] || die "$EX_USAGE" "no folder $TREE; --tree takes an unpacked kernel tree"
	[ -z "$OUT" ] || out_free
}

# check_version: the tree must be one of LTS.
check_version() {
	VERSION=$(tree_version "$TREE") ||
		die "$EX_TREE" "$TREE is no kernel tree: no Makefile with a version, or no kernel/sched/fair.c"
	case $VERSION in
	"$LTS".*) ;;
	*) die "$EX_TREE" "$TREE is $VERSION, not $LTS; name the LTS that the tree belongs to" ;;
	esac
}

# get_tree: TREE, and VERSION of it.
get_tree() {
	if [ -z "$TREE" ]; then
		FETCHED=$(mktemp) || die "$EX_INFRA" "mktemp: no temporary file; check TMPDIR"
		step "getting a tree of $LTS" fetch fetch_tree || exit
		TREE=$(cat "$FETCHED")
	fi
	TREE=$(readlink -f -- "$TREE")
	check_version
}

# shellcheck disable=SC2317 # called by step
fetch_tree() { "$KIT/scripts/fetch-tree.sh" "$LTS" >"$FETCHED"; }

# accel_setup: ACCEL, and ACCEL_WHY for the report.
accel_setup() {
	local why code
	if [ "$ARCH-$ACCEL_ASKED" = arm64-auto ]; then
		ACCEL=tcg ACCEL_WHY="arm64 runs by instruction count unless asked otherwise: that is what makes it reproducible"
		note "accelerator tcg: $ACCEL_WHY"
		return
	fi
	why=$(mktemp) || die "$EX_INFRA" "mktemp: no temporary file; check TMPDIR"
	ACCEL=$(choose_accel "$ACCEL_ASKED" "$ARCH" 2>"$why")
	code=$?
	cat "$why" >&2
	ACCEL_WHY=$(sed -n '$s/^[^:]*: accelerator [a-z]*: //p' "$why")
	rm -f "$why"
	[ "$code" -eq 0 ] || exit "$code"
}

main() {
	parse_options "$@"
	check_options
	trap cleanup EXIT
	trap 'interrupted 130' INT
	trap 'interrupted 143' TERM HUP
	[ -z "$TREE" ] || check_version
	host_ready
	kit_make tools "build/guest/$ARCH/init"
	arch_setup
	[ "$SCENARIO" != all ] || { get_tree; every_scenario; }
	scenario_setup
	accel_setup
	get_tree
	results_begin
	more_memory
	jobs_fit
	tools_file
	work_begin
	queue_walk
	boot_all
	judge_all
	results_end
}

# Each background job gets a process group of its own, for kill_jobs.
set -m
main "$@"
