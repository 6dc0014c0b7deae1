# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# A release of kernel.org out of an older one that is in the cache: the patches
# from one point release to the next, vMAJOR.x/incr/patch-6.12.94-95.xz, where
# they are smaller than the tarball. Needs fetch-kernelorg.sh.

INCR_STEPS=8		# releases that the tree in the cache may be behind
INCR_MAX=100000000	# bytes that a patch may have

# kernelorg_patch_up VERSION: have that tree in $WORK/tree and its origin in
# $WORK/src.origin. Returns 1 if the tarball is to be taken: there is no such
# older tree, no gain, or no way to check the patches. A patch that is not what
# it should be is an error all the same.
kernelorg_patch_up() {
	local lts=${1%.*} from
	command -v git >/dev/null && from=$(incr_base "$1") || return 1
	incr_pays "$1" "$from" || return 1
	note "fetching the patches from $from to $1 from $KORG_URL"
	printf '%s\n' 'origin: kernel.org' "id: $from $(origin_of "$from" id)" >"$WORK/src.origin"
	incr_fetch "$lts" "${from##*.}" "${1##*.}" || return 1
	incr_apply "$1" "$from" || return 1
	origin_of "$from" checked-by | sed "s/^/base-checked-by: /" >>"$WORK/src.origin"
}

# incr_base VERSION: print the newest older release that may serve: from
# kernel.org and as it was when it came. Returns 1 if there is none.
incr_base() {
	local lts=${1%.*} p dir
	for ((p = ${1##*.} - 1; p > 0 && p >= ${1##*.} - INCR_STEPS; p--)); do
		dir=$TREES/$lts.$p
		[ -d "$dir" ] && [ ! -L "$dir" ] && [ "$(version_of "$dir")" = "$lts.$p" ] &&
			[ "$(origin_of "$lts.$p" origin)" = kernel.org ] &&
			incr_untouched "$dir" "$TREES/.$lts.$p.origin" || continue
		printf '%s\n' "$lts.$p"
		return
	done
	return 1
}

# incr_untouched DIR ORIGIN: whether nothing below DIR was changed since ORIGIN
# was written, after all of it. Moving the tree changed DIR's own ctime.
incr_untouched() {
	[ -z "$(find "$1" -mindepth 1 -newercm "$2" -print -quit)" ] &&
		[ -z "$(find "$1" -maxdepth 0 -newermm "$2")" ]
}

# incr_pays VERSION FROM: whether all the patches are there and together smaller
# than the tarball.
incr_pays() {
	local dir=$KORG_URL/v${1%%.*}.x lts=${1%.*} p whole sum=0
	http_find "$dir/linux-$1.tar.xz" && [ -n "$HTTP_SIZE" ] || return 1
	whole=$HTTP_SIZE
	for ((p = ${2##*.}; p < ${1##*.}; p++)); do
		http_find "$dir/incr/patch-$lts.$p-$((p + 1)).xz" && [ -n "$HTTP_SIZE" ] || return 1
		sum=$((sum + HTTP_SIZE))
	done
	[ "$sum" -lt "$whole" ]
}

# incr_fetch LTS FROM TO: the patches to $WORK/incr, checked. Returns 1 if one
# does not come or cannot be checked.
incr_fetch() {
	local dir=v${1%%.*}.x/incr p name file
	mkdir -p "$WORK/incr" || die "$EX_INFRA" "cannot make $WORK/incr; free some space there"
	kernelorg_sums "$dir" || [ "$KORG_CODE" -ne "$EX_TREE" ] || die "$EX_TREE" "$KORG_WHY"
	for ((p = $2; p < $3; p++)); do
		name=patch-$1.$p-$((p + 1)) file=$WORK/incr/$p.xz
		http_get "$KORG_URL/$dir/$name.xz" "$file" "$INCR_MAX" || return 1
		http_get "$KORG_URL/$dir/$name.sign" "$WORK/incr/$p.sign" 1000000
		[ $? -ne 2 ] || return 1
		kernelorg_check "$file" "$name.xz" "$WORK/incr/$p.sign" "$name.sign" "$dir" || {
			note "$name.xz cannot be checked: $KORG_BY; taking the whole tarball"
			return 1
		}
		printf '%s\n' "patch: $name.xz sha256:$(sha256sum <"$file" | cut -d' ' -f1)" \
			"checked-by: $KORG_BY" >>"$WORK/src.origin"
	done
}

# incr_apply VERSION FROM: a copy of the tree FROM with the patches of
# $WORK/incr, to $WORK/tree. Returns 1 if that is not VERSION in the end.
incr_apply() {
	local p bad
	mkdir "$WORK/unpack" &&
		run cp -a --reflink=auto "$TREES/$2" "$WORK/unpack/linux" 2>"$WORK/log" ||
		die "$EX_INFRA" "cannot copy $TREES/$2: $(last_line "$WORK/log"); free space in $TREES"
	for ((p = ${2##*.}; p < ${1##*.}; p++)); do
		run incr_apply_one "$WORK/unpack/linux" "$WORK/incr/$p.xz" 2>"$WORK/log" || {
			incr_unfit "$2" "$(last_line "$WORK/log")"
			return 1
		}
	done
	bad=$(unpacked_strays "$WORK/unpack")
	[ -z "$bad" ] || die "$EX_TREE" "the patches to $1 make '$bad', which leaves the tree or is no file; do not trust this server"
	if [ "$(version_of "$WORK/unpack/linux")" != "$1" ]; then
		incr_unfit "$2" "they make $(version_of "$WORK/unpack/linux")"
		return 1
	fi
	mv -T "$WORK/unpack/linux" "$WORK/tree" && rmdir "$WORK/unpack"
}

# incr_apply_one DIR PATCH: git must not find a repository around the cache, nor
# settings of the user's, which may mend blanks.
incr_apply_one() {
	set -o pipefail
	xz -dcqq -M 512MiB "$2" |
		env -u GIT_DIR -u GIT_WORK_TREE -u GIT_INDEX_FILE -u XDG_CONFIG_HOME -C "$1" HOME="$WORK" \
			GIT_CONFIG_NOSYSTEM=1 GIT_CEILING_DIRECTORIES="$(realpath -- "$1/..")" \
			git apply -p1 --whitespace=nowarn -
}

# incr_unfit FROM TEXT: say that the patches do not fit, and clean up.
incr_unfit() {
	note "the patches do not fit upon $TREES/$1 ($2); taking the whole tarball"
	rm -rf "$WORK/unpack"
}
