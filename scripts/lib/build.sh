# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# tree -> objects -> image: work trees, kernel configs and builds.
# Needs common.sh. Uses ARCH (arm64, x86_64), CC_KIND (gcc, clang) and LTS.

# arch_setup: set KARCH (kbuild's name), CROSS, IMAGE (below the object
# folder), CONSOLE (for the kernel command line) and QEMU from ARCH.
# shellcheck disable=SC2034
arch_setup() {
	case $ARCH in
	arm64)
		KARCH=arm64 CROSS=aarch64-linux-gnu- IMAGE=arch/arm64/boot/Image
		CONSOLE=ttyAMA0 QEMU=qemu-system-aarch64 ;;
	x86_64)
		KARCH=x86_64 CROSS=x86_64-linux-gnu- IMAGE=arch/x86/boot/bzImage
		CONSOLE=ttyS0 QEMU=qemu-system-x86_64 ;;
	esac
}

# tree_manifest DIR: one line for each file of a kernel tree ("mode size mtime
# path"), without what a build in place leaves behind. A git checkout is what
# git tracks, with the changes in the work tree, else all that is there.
tree_manifest() (
	cd "$1" || exit 1
	if [ -e .git ]; then
		git ls-files -z
	else
		find . \( -name .git -o -name .pc -o -name .kit-apply \
			-o -path ./include/config -o -path ./include/generated \
			-o -path './arch/*/include/generated' \) -prune -o \
			\( -type f -o -type l \) \
			! -name '*.o' ! -name '*.a' ! -name '*.ko' ! -name '.*.cmd' \
			! -name '.*.d' ! -path ./vmlinux ! -path ./.config \
			! -path ./.config.old ! -path ./.version ! -path ./System.map \
			-printf '%P\0'
	fi | xargs -0 -r stat --printf '%f %s %Y %n\n' 2>/dev/null | sort
)

# tree_sync FROM SRC: make SRC a copy of the tree FROM, touching only what
# changed since the last time, so that make rebuilds only that. Copied files
# get the time of the copy: an older time would hide a change from make.
tree_sync() {
	local from=$1 src=$2 tmp
	tmp=$(mktemp -d "$src.sync.XXXXXX") || return 1
	mkdir -p "$src"
	tree_manifest "$from" >"$tmp/new" && [ -s "$tmp/new" ] || return 1
	[ -f "$src.manifest" ] || : >"$src.manifest"
	comm -13 "$src.manifest" "$tmp/new" | cut -d' ' -f4- >"$tmp/copy"
	cut -d' ' -f4- "$src.manifest" | sort >"$tmp/old-names"
	cut -d' ' -f4- "$tmp/new" | sort | comm -23 "$tmp/old-names" - >"$tmp/gone"
	# What an earlier run patched goes back to what FROM has.
	[ ! -f "$src.touched" ] || (cd "$from" && while read -r f; do
		cmp -s "$f" "$src/$f" || printf '%s\n' "$f"
	done) <"$src.touched" >>"$tmp/copy"
	rm -f "$src.manifest"
	(
		set -o pipefail
		tar -C "$from" -cf - --no-recursion --verbatim-files-from -T "$tmp/copy" |
			tar -xmf - -C "$src"
	) || return 1
	(cd "$src" && xargs -r -d '\n' rm -f <"$tmp/gone") || return 1
	# A patched file that FROM does not have at all was made by a patch.
	[ ! -f "$src.touched" ] || while read -r f; do
		[ -e "$from/$f" ] || rm -f "$src/$f"
	done <"$src.touched"
	mv "$tmp/new" "$src.manifest"
	rm -rf "$tmp"
}

# kernel_make OBJ TARGET...: run make for the tree $SRC with objects in OBJ.
# Prints nothing but what make prints. KERNEL_MAKE is the command line.
kernel_make() {
	local obj=$1 cc
	shift
	case $CC_KIND in
	clang) cc="CC=ccache clang" ;;
	*) cc="CC=ccache ${CROSS}gcc" ;;
	esac
	KERNEL_MAKE=(make -s -C "$SRC" O="$obj" ARCH="$KARCH" CROSS_COMPILE="$CROSS"
		"$cc" KBUILD_BUILD_USER=kit KBUILD_BUILD_HOST=kit
		KBUILD_BUILD_VERSION=1 KBUILD_BUILD_TIMESTAMP=2026-01-01T00:00:00Z)
	[ "$CC_KIND" = gcc ] || KERNEL_MAKE+=(LD=ld.lld)
	CCACHE_DIR=$KIT_CACHE/ccache CCACHE_BASEDIR=$(dirname -- "$SRC") \
		CCACHE_NOHASHDIR=1 CCACHE_MAXSIZE=5G \
		"${KERNEL_MAKE[@]}" -j"$(nproc)" "$@"
}

# config_fragments [FILE]: the fragments for LTS and ARCH, then the user's.
config_fragments() {
	local f
	for f in common "$ARCH" "$LTS" "$LTS.$ARCH"; do
		[ ! -f "$KIT/configs/$f.config" ] || printf '%s\n' "$KIT/configs/$f.config"
	done
	[ -z "${1:-}" ] || printf '%s\n' "$1"
}

# kernel_config OBJ LOG [FILE]: make OBJ/.config from the fragments, unless it
# is there and was made from the same, and compare asked for with got: what
# differs goes to OBJ/config-differences. Returns 1 if kconfig failed or an
# option of the fragments was not taken.
kernel_config() {
	local obj=$1 log=$2 sum
	local -a frags
	mapfile -t frags < <(config_fragments "${3:-}")
	mkdir -p "$obj"
	cat -- "${frags[@]}" >"$obj/config-asked" || return 1
	sum=$(cat "$obj/config-asked" <(tree_version "$SRC") | sha256sum)
	if [ ! -f "$obj/.config" ] || [ "$(cat "$obj/config-sum" 2>/dev/null)" != "$sum" ]; then
		rm -f "$obj/config-sum"
		KCONFIG_ALLCONFIG=$obj/config-asked kernel_make "$obj" allnoconfig \
			>>"$log" 2>&1 || return 1
		printf '%s\n' "$sum" >"$obj/config-sum"
	fi
	"$KIT_BIN/kit-config" "$obj/.config" "${frags[@]}" >"$obj/config-differences"
}

# kernel_build OBJ LOG FILE...: build the image; FILEs of the tree are taken
# as changed, so that their warnings come again each time. Returns make's code.
kernel_build() {
	local obj=$1 log=$2
	shift 2
	(cd "$SRC" && touch -c -- "$@") || return 1
	case $ARCH in
	arm64) kernel_make "$obj" Image >"$log" 2>&1 ;;
	x86_64) kernel_make "$obj" bzImage >"$log" 2>&1 ;;
	esac
}

# build_trouble LOG: what went wrong in a failed build, as one line; returns
# EX_INFRA if that says nothing about the kernel, else EX_BUILD.
build_trouble() {
	local line
	line=$(grep -m1 -iE 'No space left on device|Killed( signal)?|virtual memory exhausted|Cannot allocate memory|Input/output error|Disk quota exceeded' "$1")
	if [ -n "$line" ]; then
		printf 'not the kernel: %s\n' "$line"
		return "$EX_INFRA"
	fi
	if grep -qE "cannot use keyword '(false|true|bool)'|expected identifier or .*before .*(false|true)" "$1"; then
		printf "the base tree is older than this compiler's C23 default (gcc 15 and newer): use --cc clang, or an older gcc, or a newer point release\n"
		return "$EX_BUILD"
	fi
	line=$(grep -m1 -E '(error|Error|undefined reference)[: ]' "$1")
	printf '%s\n' "${line:-see the build log}"
	return "$EX_BUILD"
}

# new_warnings BASE-LOG LOG FILE...: warnings of LOG in FILEs that BASE-LOG
# does not have; line numbers do not count. Prints them; returns 1 if any.
new_warnings() {
	local base=$1 log=$2 f out
	shift 2
	out=$(for f; do
		comm -13 \
			<(grep -F "$f:" "$base" | grep -F 'warning:' | sed -E 's/:[0-9]+(:[0-9]+)?:/:/; s/^[^ ]*\///' | sort -u) \
			<(grep -F "$f:" "$log" | grep -F 'warning:' | sed -E 's/:[0-9]+(:[0-9]+)?:/:/; s/^[^ ]*\///' | sort -u)
	done)
	[ -z "$out" ] || printf '%s\n' "$out"
	[ -z "$out" ]
}
