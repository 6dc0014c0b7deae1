# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Changing several files of a tree as if at once. Everything is prepared next
# to the files, on their file system; then each step is one rename:
#   TREE/.kit-apply.new    being prepared: nothing has happened
#   TREE/.kit-apply        published: files are being replaced; undo from it
#   TREE/.kit-apply.done   all are replaced, or all are back: only to be removed
# In each: "list" with a line "change path", change being M (new content), A
# (new file), D (gone), P (new folder, before the A that needs it); "new/" with
# the contents to come; "old/" with the files as they were, as hard links where
# the file system has them, so that an undo gives back the very same files.

# What went wrong is in the error of the command itself, above this line.
journal_fail() {
	[ ! -d "$TREE/.kit-apply" ] || journal_undo ||
		die "$EX_INFRA" "cannot write to $TREE, and cannot put it back yet (see above); make it writable and run $PROG again, which mends it"
	rm -rf "$TREE/.kit-apply.new" "$TREE/.kit-apply.done"
	die "$EX_INFRA" "$1 (see above); the tree is as it was"
}

# journal_mend CHECK: deal with what an interrupted run has left in $TREE, and
# say so. With CHECK "yes" nothing may be written: EX_TREE if there is need to.
journal_mend() {
	local j=$TREE/.kit-apply
	if [ -d "$j" ]; then
		[ "$1" != yes ] ||
			die "$EX_TREE" "an interrupted run has left $TREE half changed; run $PROG without --check, which mends it"
		[ -f "$j/list" ] && ! grep -qvE '^[MADP] [^/ ]' "$j/list" && ! grep -qE '(^| |/)\.\.(/|$)' "$j/list" ||
			die "$EX_TREE" "$j is not the journal of an interrupted run; look into it and move it away"
		note "an earlier run was interrupted and had left $TREE half changed; putting it back first: $(grep -c '^[MAD]' "$j/list") file(s)"
		signals_off
		journal_undo ||
			die "$EX_INFRA" "cannot put $TREE back (see above); make it writable and run $PROG again"
		signals_on
		return
	fi
	[ "$1" != yes ] || return 0
	if [ -d "$j.done" ]; then
		note "an earlier run was interrupted after its work was done; removing what it left"
		journal_finish || die "$EX_INFRA" "cannot remove $j.done (see above); remove it by hand"
	fi
	if [ -d "$j.new" ]; then
		note "an earlier run was interrupted before it changed anything; removing what it left"
		rm -rf "$j.new" || die "$EX_INFRA" "cannot remove $j.new (see above); remove it by hand"
	fi
}

# May be cut short at any point and run again: what is back is skipped.
journal_undo() {
	local j=$TREE/.kit-apply change path dirs=()
	while read -r change path; do
		case $change in
		[MD])	[ ! -e "$j/old/$path" ] || [ "$j/old/$path" -ef "$TREE/$path" ] ||
				mv -fT -- "$j/old/$path" "$TREE/$path" || return ;;
		A)	rm -f -- "$TREE/$path" || return ;;
		P)	dirs=("$path" "${dirs[@]}") ;;
		esac
	done <"$j/list"
	for path in "${dirs[@]}"; do
		[ ! -d "$TREE/$path" ] || rmdir --ignore-fail-on-non-empty -- "$TREE/$path" || return
	done
	mv -T -- "$j" "$j.done" && rm -rf "$j.done"
}

# The folders that a removed file leaves empty go too: git has none either.
journal_finish() {
	local j=$TREE/.kit-apply.done change path
	# Without a list this was removed half already, the folders before that.
	[ ! -f "$j/list" ] || while read -r change path; do
		if [ "$change" = D ] && [ ! -e "$TREE/$path" ] && [[ $path == */* ]]; then
			(cd "$TREE" && rmdir -p --ignore-fail-on-non-empty -- "${path%/*}" 2>/dev/null)
		fi
	done <"$j/list"
	rm -rf "$j"
}

# journal_list OLD NEW FILE...: what has to happen to the FILEs so that the
# tree, which holds OLD, holds NEW; for the "list" of a journal, on stdout.
journal_list() {
	local old=$1 new=$2 file dir new_dirs
	shift 2
	for file; do
		if [ -e "$old/$file" ] && [ -e "$new/$file" ]; then
			cmp -s "$old/$file" "$new/$file" || echo "M $file"
		elif [ -e "$old/$file" ]; then
			echo "D $file"
		elif [ -e "$new/$file" ]; then
			dir=$file new_dirs=()
			while [[ $dir == */* ]]; do
				dir=${dir%/*}
				[ -d "$TREE/$dir" ] || new_dirs=("P $dir" "${new_dirs[@]}")
			done
			[ ${#new_dirs[@]} -eq 0 ] || printf '%s\n' "${new_dirs[@]}"
			echo "A $file"
		fi
	done | awk '!seen[$0]++'
}

journal_prepare() {
	local j=$TREE/.kit-apply.new new=$2 change path
	mkdir "$j" "$j/new" "$j/old" && cp -- "$1" "$j/list" || return
	while read -r change path; do
		[ "$change" != P ] || continue
		mkdir -p "$j/new/$path" "$j/old/$path" && rmdir "$j/new/$path" "$j/old/$path" || return
		if [ "$change" != A ]; then
			[ -w "$TREE/$path" ] || { note "$TREE/$path cannot be written"; return 1; }
			ln -- "$TREE/$path" "$j/old/$path" 2>/dev/null ||
				cp -a -- "$TREE/$path" "$j/old/$path" || return
		fi
		case $change in
		M)	# mode, owner and attributes of the old, content of the new
			cp -a -- "$TREE/$path" "$j/new/$path" &&
				cat -- "$new/$path" >"$j/new/$path" || return ;;
		A)	cp -- "$new/$path" "$j/new/$path" || return ;;
		esac
		[ "$change" = D ] || sync -- "$j/new/$path" || return
	done <"$1"
	sync -- "$j/list" "$j"
}

# Nobody else may have written since the states were decided.
unchanged() {
	local change path
	while read -r change path; do
		case $change in
		[MD])	cmp -s "$2/$path" "$TREE/$path" || { note "$TREE/$path has changed"; return 1; } ;;
		A)	[ ! -e "$TREE/$path" ] || { note "$TREE/$path has appeared"; return 1; } ;;
		esac
	done <"$1"
}

# Runs with signals off: it is a handful of renames.
journal_replace() {
	local j=$TREE/.kit-apply new=$1 change path
	while read -r change path; do
		case $change in
		P)	mkdir -- "$TREE/$path" || return ;;
		D)	rm -f -- "$TREE/$path" || return ;;
		*)	mv -fT -- "$j/new/$path" "$TREE/$path" &&
				cmp -- "$new/$path" "$TREE/$path" >&2 || return ;;
		esac
	done <"$j/list"
}

# journal_write LIST OLD NEW: bring the files in LIST (of journal_list) from
# the contents below OLD to those below NEW. All or nothing: leaves with
# EX_INFRA or EX_TREE and $TREE as it was. Signals stay off once it has begun.
journal_write() {
	local j=$TREE/.kit-apply
	# shellcheck disable=SC2034 # for apply.sh
	PREPARING=yes # the trap of apply.sh removes what is not published
	journal_prepare "$1" "$3" || journal_fail "cannot write to $TREE"
	if ! unchanged "$1" "$2"; then
		rm -rf "$j.new"
		die "$EX_TREE" "something else is writing to $TREE; nothing was done, run $PROG again when it is quiet"
	fi
	signals_off
	mv -T -- "$j.new" "$j" || journal_fail "cannot write to $TREE"
	journal_replace "$3" || journal_fail "cannot replace the files of $TREE"
	mv -T -- "$j" "$j.done" || journal_fail "cannot write to $TREE"
	journal_finish || note "cannot remove $j.done; remove it by hand"
}
