#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# variants.sh - does each patch compile where what it touches is configured out?
#
# Usage: variants.sh [--cc gcc|clang]... LTS TREE [VARIANT]...
#
# For each VARIANT (of configs/variants/, default all) and compiler (default gcc,
# and clang where it is new enough for LTS) compiles kernel/sched/ of TREE, without
# the queue and then after each patch of the series. An error, or a warning that
# the tree without the queue has not, is a failure. One line a series and variant.
# TREE is only read; the copy is below the cache folder. Takes about a minute for
# each line the first time. Exit codes: 0 all compile; 2 usage; 3 one does not; 6
# the disk is full, or the like; 7 TREE is not of LTS.

. "$(dirname -- "$(readlink -f -- "$0")")/../scripts/lib/common.sh"
. "$KIT/scripts/lib/scratch.sh"
# shellcheck source=scripts/lib/sync.sh
. "$KIT/scripts/lib/sync.sh"
# shellcheck source=scripts/lib/build.sh
. "$KIT/scripts/lib/build.sh"
# shellcheck source=scripts/lib/host.sh
. "$KIT/scripts/lib/host.sh"
# shellcheck source=tests/queue-one.bash
. "$KIT/tests/queue-one.bash"

COMPILERS=() RET=0

setup() {
	need_queue
	lts_known "$LTS" || die "$EX_USAGE" "no queue for '$LTS'; there is one for: $(lts_list | xargs)"
	VERSION=$(tree_version "$TREE") && [[ $VERSION == "$LTS".* ]] || die "$EX_TREE" "$TREE is no tree of $LTS"
	TREE=$(readlink -f -- "$TREE")
	kit_make tools
	WORK=$KIT_CACHE/work/variants-$VERSION SRC=$WORK/src
	mkdir -p "$WORK" && exec 9>"$WORK/lock" && flock 9 || die "$EX_INFRA" "cannot write to $WORK"
	[ ${#COMPILERS[@]} -gt 0 ] || COMPILERS=(gcc clang)
	[ ${#VARIANTS[@]} -gt 0 ] || mapfile -t VARIANTS < <(cd "$KIT/configs/variants" && basename -s .config -- *.config)
}

# only FRAGMENT: ARCH, and whether it is for LTS.
only() {
	local arch list
	[ -f "$1" ] || die "$EX_USAGE" "no variant $1"
	ARCH=arm64
	read -r arch list < <(sed -n "s/^# only: //p" "$1") || return 0
	ARCH=$arch
	[[ ,$list, == *",$LTS,"* ]]
}

fresh() { tree_sync "$TREE" "$SRC" || die "$EX_INFRA" "cannot copy $TREE to $SRC; is the disk full?"; }

# compile LOG: kernel/sched/ of SRC, what has changed since the last time.
compile() {
	kernel_make "$OBJ" kernel/sched/ >"$1" 2>&1
}

# broken LOG WHAT: say why WHAT does not compile.
broken() {
	local why code
	why=$(build_trouble "$1")
	code=$?
	[ "$code" -ne "$EX_INFRA" ] || die "$EX_INFRA" "$2: $why"
	echo "NOT OK $LABEL: $2: $why"
	RET=$EX_BUILD
}

# step_done NAME: for apply_in_turn, compile with NAME as the last patch.
step_done() {
	local why files
	compile "$OBJ.log" || { broken "$OBJ.log" "$1"; BROKEN=yes; return 1; }
	mapfile -t files < <(lsdiff --strip 1 "$KIT_QUEUE/patches/$LTS/$1")
	why=$(new_warnings "$OBJ.base" "$OBJ.log" "${files[@]}") ||
		{ echo "NOT OK $LABEL: $1: new warning: $why"; RET=$EX_BUILD BROKEN=yes; return 1; }
}

# series CLASS: patch by patch, as a plain quilt would push them.
series() {
	local names=() BROKEN=
	mapfile -t names < <(sed 's/#.*//; /^[[:space:]]*$/d' "$KIT_QUEUE/series/$LTS.$1")
	fresh
	if apply_in_turn "$LTS" "$SRC" "$OBJ.apply" "${names[@]}"; then
		echo "ok $LABEL: ${#names[@]} patches of series/$LTS.$1"
	elif [ -z "$BROKEN" ]; then
		RET=$EX_BUILD
	fi
}

# variant NAME: with the compiler CC_KIND.
variant() {
	local file=$KIT/configs/variants/$1.config class
	only "$file" || { echo "skipped $1: not for $LTS"; return; }
	arch_setup
	LABEL="$LTS $ARCH $CC_KIND $1" OBJ=$WORK/obj-$ARCH-$CC_KIND-$1
	fresh
	if ! kernel_config "$OBJ" "$OBJ.log" "$file"; then
		echo "NOT OK $LABEL: kconfig did not take it: $(head -n 1 "$OBJ/config-differences")"
		RET=$EX_BUILD
		return
	fi
	# All of it, for the warnings that it has already.
	touch -c -- "$SRC"/kernel/sched/*.c
	compile "$OBJ.base" || { broken "$OBJ.base" "the tree without the queue"; return; }
	for class in experimental alternative; do
		[ ! -f "$KIT_QUEUE/series/$LTS.$class" ] || series "$class"
	done
}

while [ $# -gt 0 ]; do
	case $1 in
	-h | --help) usage 0 ;;
	--cc) COMPILERS+=("${2-}"); shift ;;
	-*) die "$EX_USAGE" "unknown option $1; see --help" ;;
	*) break ;;
	esac
	shift
done
[ $# -ge 2 ] || die "$EX_USAGE" "LTS and TREE are needed; see --help"
LTS=$1 TREE=$2
shift 2
VARIANTS=("$@")
setup
for CC_KIND in "${COMPILERS[@]}"; do
	"$KIT/scripts/doctor.sh" --quiet --for build --cc "$CC_KIND" --lts "$LTS" >"$WORK/doctor" 2>&1 ||
		{ echo "skipped $CC_KIND: $(grep -m1 . "$WORK/doctor")"; continue; }
	for v in "${VARIANTS[@]}"; do variant "$v"; done
done
exit "$RET"
