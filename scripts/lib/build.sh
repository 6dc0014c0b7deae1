# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# work tree -> objects -> image: kernel configs and builds.
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

# kernel_command OBJ: set KERNEL_MAKE, make's command line for the tree $SRC
# with objects in OBJ.
kernel_command() {
	local cc
	case $CC_KIND in
	clang) cc="CC=ccache clang" ;;
	*) cc="CC=ccache ${CROSS}gcc" ;;
	esac
	KERNEL_MAKE=(make -s -C "$SRC" O="$1" ARCH="$KARCH" CROSS_COMPILE="$CROSS"
		"$cc" KBUILD_BUILD_USER=kit KBUILD_BUILD_HOST=kit
		KBUILD_BUILD_VERSION=1 KBUILD_BUILD_TIMESTAMP=2026-01-01T00:00:00Z)
	[ "$CC_KIND" = gcc ] || KERNEL_MAKE+=(LD=ld.lld)
	[ -z "${INSTRUMENT:-}" ] || KERNEL_MAKE+=("CFLAGS_fair.o=$INSTRUMENT")
}

# kernel_env: drop what the user's environment would change in the kernel. Its
# Makefile unexports LC_ALL, and translated warnings would not be found.
kernel_env() {
	unset "${!KBUILD_@}" "${!KCONFIG_@}" "${!CCACHE_@}" "${!LLVM@}" "${!HOST@}" MAKEFLAGS MFLAGS MAKELEVEL \
		KCFLAGS KCPPFLAGS KAFLAGS CFLAGS_KERNEL AFLAGS_KERNEL LDFLAGS_vmlinux LOCALVERSION \
		LANGUAGE W C V M EXTRA_CFLAGS GCC_COLORS
	export LANG=C LC_CTYPE=C LC_MESSAGES=C
	export CCACHE_DIR=$KIT_CACHE/ccache CCACHE_DEPEND=1 CCACHE_NOHASHDIR=1 CCACHE_MAXSIZE=5G
	CCACHE_BASEDIR=$(dirname -- "$SRC")
	export CCACHE_BASEDIR
}

# kernel_make OBJ TARGET...: run make for the tree $SRC with objects in OBJ.
# Prints nothing but what make prints.
kernel_make() (
	kernel_command "$1"
	shift
	kernel_env
	[ -z "${ALLCONFIG:-}" ] || export KCONFIG_ALLCONFIG="$ALLCONFIG"
	"${KERNEL_MAKE[@]}" -j"$(nproc)" "$@" </dev/null
)

# config_fragments [FILE]...: the fragments for LTS and ARCH, then these.
config_fragments() {
	local f
	for f in common "$ARCH" "$LTS" "$LTS.$ARCH"; do
		[ ! -f "$KIT/configs/$f.config" ] || printf '%s\n' "$KIT/configs/$f.config"
	done
	[ $# -eq 0 ] || printf '%s\n' "$@"
}

# config_state OBJ: a hash over all that OBJ/.config hangs on, and itself.
config_state() {
	{
		grep -F Kconfig "$SRC.manifest"
		case $CC_KIND in clang) clang --version ;; *) "${CROSS}gcc" --version ;; esac
		cat "$1/config-asked" "$1/.config"
	} 2>/dev/null | sha256sum
}

# kernel_config OBJ LOG [FILE]...: make OBJ/.config from the fragments, unless it
# is there and was made from the same, and compare asked for with got: what
# differs goes to OBJ/config-differences. Returns 1 if kconfig failed or an
# option of the fragments was not taken.
kernel_config() {
	local obj=$1 log=$2
	local -a frags
	mapfile -t frags < <(config_fragments "${@:3}")
	mkdir -p "$obj" && rm -f "$obj/config-differences" || return 1
	cat -- "${frags[@]}" >"$obj/config-asked" || return 1
	if [ ! -f "$obj/.config" ] || [ "$(cat "$obj/config-sum" 2>/dev/null)" != "$(config_state "$obj")" ]; then
		rm -f "$obj/config-sum"
		ALLCONFIG=$obj/config-asked kernel_make "$obj" allnoconfig >>"$log" 2>&1 || return 1
		config_state "$obj" >"$obj/config-sum"
	fi
	"$KIT_BIN/kit-config" "$obj/.config" "${frags[@]}" >"$obj/config-differences"
}

# kernel_build OBJ LOG FILE...: build the image; FILEs of the tree are taken
# as changed, so that their warnings come again each time. Returns make's code.
kernel_build() {
	local obj=$1 log=$2 image=${IMAGE##*/} f
	shift 2
	(cd "$SRC" && touch -c -- "$@") || return 1
	for f; do
		# A patch may bring a new option, which make would ask about.
		case $f in *Kconfig*) kernel_make "$obj" olddefconfig >"$log" 2>&1 || return; break ;; esac
	done
	kernel_make "$obj" "$image" >"$log" 2>&1
}

# build_trouble LOG: what went wrong in a failed build, as one line; returns
# EX_INFRA if that says nothing about the kernel, else EX_BUILD.
build_trouble() {
	local line infra='No space left on device|Disk quota exceeded|Input/output error|Read-only file system'
	infra+='|virtual memory exhausted|Cannot allocate memory|[Oo]ut of memory( allocating|$)|memory exhausted$'
	infra+='|(error|command): Killed|Killed signal terminated|Terminated signal terminated|^Killed$|Error 137$|[0-9]+ Killed '
	line=$(grep -m1 -aE "$infra" "$1")
	if [ -n "$line" ]; then
		printf 'not the kernel: %s\n' "$line"
		return "$EX_INFRA"
	fi
	# Quotes are three bytes each where the compiler speaks UTF-8.
	if grep -qaE "cannot use keyword .{1,3}(false|true|bool).{1,3} as enumeration constant|expected identifier or .*before .*(false|true)" "$1"; then
		printf "the base tree is older than this compiler's C23 default (gcc 15 and newer): use --cc clang, or an older gcc, or a newer point release\n"
		return "$EX_BUILD"
	fi
	line=$(grep -m1 -aE '(^|: )(fatal |internal compiler )?error: |undefined reference to|multiple definition of' "$1") ||
		line=$(grep -m1 -aE '(^|[/:])ld(\.lld)?: |No rule to make target|\*\*\* ' "$1")
	line=${line//"$SRC/"/}
	printf '%s\n' "${line:-see the build log}"
	return "$EX_BUILD"
}

# warnings_in LOG FILE: the warnings of FILE, one a line and sorted, without
# their line numbers. One that several objects print at the same place (in a
# header) counts once.
warnings_in() {
	awk -v src="$SRC/" -v name="${SRC##*/}/" -v file="$2:" -v object="${2%.c}.o: warning: objtool" '
	!/warning: / { next }
	index($0, src) == 1 { $0 = substr($0, length(src) + 1) }
	/^\.\.?\// {
		while (sub(/^\.\.?\//, "")) { }
		if (index($0, name) == 1) $0 = substr($0, length(name) + 1)
	}
	index($0, file) == 1 || index($0, object) == 1' "$1" | sort -u |
		sed -E 's/^([^: ]+)(:[0-9]+)+:/\1:/; s/\+0x[0-9a-f]+/+N/g' | sort
}

# new_warnings BASE-LOG LOG FILE...: warnings of LOG in FILEs that BASE-LOG
# does not have, or not as often; line numbers do not count. Prints them;
# returns 1 if any.
new_warnings() {
	local base=$1 log=$2 f out
	shift 2
	out=$(for f; do comm -13 <(warnings_in "$base" "$f") <(warnings_in "$log" "$f"); done)
	[ -z "$out" ] || printf '%s\n' "$out"
	[ -z "$out" ]
}
