# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# submit.sh --build: does what the mails make of an LTS compile? What git am has just
# made of them in the scratch repository is put, commit by commit, into a whole tree
# of that LTS, and what it touches is compiled with the kit's configs.
#
# Uses WORK and $WORK/LTS of submit-clone.sh (source, version) and submit-pick.sh
# (base, files); needs build.sh, sync.sh and progress.sh. Writes $WORK/LTS/built, a
# line for each architecture. Trees and objects stay below the cache folder.

BUILD_ARCHS=(arm64 x86_64)

# build_ready: this host has what a build needs, or leave with EX_HOST.
build_ready() {
	local archs lts
	[[ $KIT_CACHE != *[[:space:]:]* ]] ||
		die "$EX_HOST" "the kernel does not build below a folder with blanks or colons in its name, $KIT_CACHE; let KIT_CACHE name another"
	archs=$(IFS=,; echo "${BUILD_ARCHS[*]}")
	for lts in "${TO[@]}"; do
		"$KIT/scripts/doctor.sh" --quiet --for build --arch "$archs" --lts "$lts" >&2 || exit
	done
	kit_make build/bin/kit-config
}

# build_mails LTS: leaves with EX_BUILD where it does not compile, or brings a new
# warning in a file that it touches.
# shellcheck disable=SC2034 # for build.sh
build_mails() {
	local LTS=$1 SRC TREE ARCH CC_KIND=gcc KARCH CROSS IMAGE CONSOLE QEMU work=$KIT_CACHE/work/submit-$1
	mkdir -p "$work" && exec 6>"$work/lock" && flock 6 || build_infra
	SRC=$work/src
	build_whole "$1" "$work/from"
	sgit rev-list --reverse "$(cat "$WORK/$1/base").." >"$WORK/$1/commits" || sgit_infra
	for ARCH in "${BUILD_ARCHS[@]}"; do
		arch_setup
		tree_sync "$TREE" "$SRC" || build_infra
		build_arch "$1" "$work/obj-$ARCH" "$work/log-$ARCH"
	done
	rm -rf -- "$work/from"
	exec 6>&-
}

build_infra() { die "$EX_INFRA" "cannot write below $KIT_CACHE/work; is the disk full?"; }

# build_whole LTS FOLDER: TREE is that LTS as it is, whole; in FOLDER, where it comes
# from a clone.
build_whole() {
	local ref
	IFS=$'\t' read -r TREE ref <"$WORK/$1/source"
	[ -n "$ref" ] || return 0
	rm -rf -- "$2" && mkdir "$2" || build_infra
	clone_git "$TREE" archive "$ref" | tar -x -C "$2" ||
		die "$EX_TREE" "cannot read all of $ref of $TREE, which --build compiles; is the clone whole, and the disk not full?"
	TREE=$2
}

# build_arch LTS OBJ LOG: the tree as it is, then after each commit.
build_arch() {
	local files commit name n=0 why goals
	mapfile -t files <"$WORK/$1/files"
	mapfile -t goals < <(build_goals "${files[@]}")
	build_wait kernel_config "$2" "$3.config" ||
		die "$EX_BUILD" "$1 ($ARCH) cannot be configured: $(head -n 1 "$2/config-differences" 2>/dev/null || tail -n 1 "$3.config")"
	build_one "$1 ($ARCH) as it is, without what is sent," "$2" "$3.base"
	while read -r commit <&3; do
		n=$((n + 1)) name=$(sed -n "${n}p" "$WORK/$1/picked" | cut -f1)
		build_put "$commit"
		build_one "$1 ($ARCH) with $name" "$2" "$3"
		why=$(new_warnings "$3.base" "$3" "${files[@]}") ||
			die "$EX_BUILD" "$1 ($ARCH) with $name has a new warning: $(head -n 1 <<<"$why"); nothing was sent"
	done 3<"$WORK/$1/commits"
	printf '%s: %s with %s, before and after each patch%s\n' "$ARCH" "$(paste -sd ' ' <<<"$(printf '%s\n' "${goals[@]}")")" \
		"$("${CROSS}gcc" --version | head -n 1)" "$(build_missed "$2" "${files[@]}")" >>"$WORK/$1/built"
}

# build_goals FILE...: what to ask make for: the folders of these files, or, where a
# header of all is among them, the whole kernel.
build_goals() {
	local file dir
	for file; do
		dir=${file%/*}
		[[ $file == *.[chS] ]] && [ -f "$SRC/$dir/Makefile" ] || { echo "${IMAGE##*/}"; return; }
	done
	for file; do echo "${file%/*}/"; done | sort -u
}

# build_put COMMIT: the files of that commit of the scratch repository, into SRC.
build_put() {
	local file
	for file in "${files[@]}"; do
		if sgit cat-file -e "$1:$file" 2>/dev/null; then
			mkdir -p "$(dirname -- "$SRC/$file")" && sgit cat-file blob "$1:$file" >"$SRC/$file" || build_infra
		else
			rm -f -- "$SRC/$file" || build_infra
		fi
	done
}

# build_one WHAT OBJ LOG: compile the goals, with the files taken as changed.
build_one() {
	local why code
	(cd "$SRC" && touch -c -- "${files[@]}") || build_infra
	note "compiling $1"
	build_wait build_make "$2" "$3" && return
	why=$(build_trouble "$3")
	code=$?
	die "$code" "$1 does not compile: $why; nothing was sent"
}

# shellcheck disable=SC2317 # called by build_wait
build_make() {
	# a new option, which make would ask about
	[[ "${files[*]}" != *Kconfig* ]] || kernel_make "$1" olddefconfig >"$2" 2>&1 || return
	kernel_make "$1" "${goals[@]}" >"$2" 2>&1
}

# build_wait COMMAND...: a process group of its own, for kill_jobs of the trap.
build_wait() {
	local code
	set -m
	in_background "$@"
	code=$?
	set +m
	return "$code"
}

# build_missed OBJ FILE...: the C files that no object was made of, in words.
build_missed() {
	local obj=$1 file list=
	shift
	for file; do
		[[ $file == *.c ]] || continue
		grep -qrF --include='.*.cmd' "$file" "$obj/${file%/*}" 2>/dev/null || list+=" $file"
	done
	[ -z "$list" ] || printf '; not compiled with this config:%s' "$list"
}
