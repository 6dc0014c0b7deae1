# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# tree -> work tree: a copy that is patched and built in place of the user's.
# Needs nothing else.

# Files that a build in place leaves in the source folders and that an out of
# tree build would include in place of its own.
SYNC_LEFT='[.]tab[.][ch]|[.]lex[.]c|[.]mod([.]c)?|[.]order|[.]builtin|[.]symvers|[.]dtbo?'
SYNC_LEFT+='|/(vmlinux.*|System[.]map|crc(32|64)table[.]h|oid_registry_data[.]c|inat-tables[.]c'
SYNC_LEFT+='|consolemap_deftbl[.]c|defkeymap[.]c|capflags[.]c|[vz]offset[.]h|initramfs_(inc_)?data.*|[.]tmp_.*)'

# tree_names DIR: the files of a kernel tree, each with a NUL behind it. A git
# checkout is what git tracks and what it does not ignore, as it lies in the
# work tree; any other tree is all that is there, less what a build left.
tree_names() {
	local left='^$'
	if [ -e "$1/.git" ] && env -u GIT_DIR -u GIT_WORK_TREE -u GIT_INDEX_FILE \
		git -c safe.directory='*' -C "$1" ls-files -z -co --exclude-standard -x .pc 2>/dev/null; then
		return
	fi
	[ ! -e "$1/.config" ] && [ ! -e "$1/include/generated" ] || left="($SYNC_LEFT)\$"
	(cd "$1" && find . \( -name .git -o -name .pc -o -name '.kit-apply*' \
		-o -path ./include/config -o -path ./include/generated \
		-o -path './arch/*/include/generated' \) -prune -o \
		\( -type f -o -type l \) \
		! -name '*.o' ! -name '*.a' ! -name '*.ko' ! -name '.*.cmd' \
		! -name '.*.d' ! -path ./.config ! -path ./.config.old ! -path ./.version \
		-print0) | grep -zvE "$left" | sed -z 's,^\./,,'
}

# tree_manifest DIR: "mode size mtime ctime path" of each file of a kernel
# tree, sorted. The ctime also tells of a file that got back its old mtime.
tree_manifest() {
	tree_names "$1" | (cd "$1" && xargs -0 -r stat --printf '%f %s %.9Y %.9Z %n\n' -- 2>/dev/null) |
		grep '^[8a]' | sort -u
}

# copy_manifest SRC: the same for the copy, with all that lies in it.
copy_manifest() {
	(cd "$1" && find . -mindepth 1 ! -type d -printf '%m%y %s %T@ %C@ %P\n' | sort)
}

# names: the paths of a manifest, sorted.
names() { cut -d' ' -f5- | sort; }

# identical LIST A B: the names of LIST that have the same type, mode and
# content in both folders.
identical() {
	comm -12 <(comm -12 <(sums "$1" "$2") <(sums "$1" "$3") | cut -c67- | sort) \
		<(comm -12 <(kinds "$1" "$2") <(kinds "$1" "$3") | cut -f2 | sort)
}
sums() { (cd "$2" && xargs -r -d '\n' sha256sum -- 2>/dev/null) <"$1" | sort; }
kinds() { (cd "$2" && xargs -r -d '\n' stat --printf '%f\t%n\t%N\n' -- 2>/dev/null) <"$1" | sort; }

# tree_sync FROM SRC: make SRC a copy of the tree FROM, touching only what is
# not the same already, so that make rebuilds only that. Copied files get the
# time of the copy: an older time would hide a change from make. Keeps what it
# knows of both in SRC.*; cut short, the next call mends it. Returns 1 if FROM
# has no files or SRC cannot be written.
tree_sync() {
	local from=$1 src=$2
	rm -rf "$src"/.kit-apply*
	mkdir -p "$src" && touch "$src.manifest" "$src.copied" || return 1
	tree_manifest "$from" >"$src.new" && [ -s "$src.new" ] || return 1
	names <"$src.new" >"$src.names" && copy_manifest "$src" >"$src.now" || return 1
	# What FROM does not have goes first: a folder may become a file.
	names <"$src.now" | comm -23 - "$src.names" |
		(cd "$src" && xargs -r -d '\n' rm -f -- && find . -mindepth 1 -type d -empty -delete) || return 1
	{
		comm -13 "$src.manifest" "$src.new" | names
		comm -13 "$src.copied" "$src.now" | names
		names <"$src.now" | comm -13 - "$src.names"
	} | sort -u | comm -12 - "$src.names" >"$src.maybe"
	identical "$src.maybe" "$from" "$src" | comm -13 - "$src.maybe" >"$src.copy" || return 1
	rm -f "$src.manifest"
	(
		set -o pipefail
		tar -C "$from" -cf - --no-recursion --verbatim-files-from -T "$src.copy" |
			tar --no-same-owner -xpmf - -C "$src"
	) || return 1
	[ ! -s "$src.copy" ] || copy_manifest "$src" >"$src.now" || return 1
	mv "$src.now" "$src.copied" && mv "$src.new" "$src.manifest" || return 1
	rm -f "$src".{names,maybe,copy}
}
