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
# the file system has them, so that an undo gives back the very same files;
# "sums", sha256 of each new content; "times", of the folders; "method", and
# what else that has put into $SCRATCH/extra.
#
# A method can have more to change than files. Its functions get the folder of
# the journal, and can be called again after they were cut short:
#   METHOD_begin      before the files are replaced; 1: give up
#   METHOD_commit     after that; what it does last decides; 1: give up
#   METHOD_committed  whether it is decided, so that there is no way back
#   METHOD_finish     after that: clear up
#   METHOD_undo       in place of that, when the files are back

# The code to leave with when the journal gives up; a method may say another.
FAIL_CODE=$EX_INFRA
METHODS=" git quilt patch "

# What went wrong is in the error of the command itself, above this line.
journal_fail() {
	local j=$TREE/.kit-apply
	if [ -d "$j" ]; then
		! "${METHOD}_committed" "$j" || { journal_forward; return; }
		journal_undo ||
			die "$EX_INFRA" "$1, and cannot put it back yet (see above); when that is mended run $PROG --recover $LTS $TREE"
	fi
	journal_drop "$j.new" '[kc]' && journal_drop "$j.done"
	die "$FAIL_CODE" "$1 (see above); the tree is as it was"
}

# journal_read J: whether J is a journal; sets METHOD to the one that wrote it.
journal_read() {
	[ -f "$1/list" ] && ! grep -qvE '^[MADP] [^/ ]' "$1/list" && ! grep -qE '(^| |/)\.\.(/|$)' "$1/list" ||
		return
	METHOD="patch"
	[ ! -f "$1/method" ] || read -r METHOD <"$1/method"
	[[ $METHODS == *" $METHOD "* ]]
}

# journal_ours PATH...: leave with EX_TREE where one is there that no run of ours has
# made: it would be removed.
journal_ours() {
	local path known=' times new old list method sums token git ref entries index-info base index '
	local has names
	for path; do
		[ -e "$path" ] || [ -L "$path" ] || continue
		[ -d "$path" ] && [ ! -L "$path" ] ||
			die "$EX_TREE" "$path is no folder, and $PROG needs that name; move it away"
		mapfile -t names < <(ls -A -- "$path")
		for has in "${names[@]}"; do
			[[ $known == *" $has "* || $has == *index.* ]] ||
				die "$EX_TREE" "$path is not of an interrupted run: it has $has; look into it and move it away"
		done
	done
}

# journal_mend CHECK: deal with what an interrupted run has left in $TREE, and
# say so; MENDED is then "yes". With CHECK "yes" nothing may be written:
# EX_TREE if there is need to.
journal_mend() {
	local j=$TREE/.kit-apply METHOD
	MENDED=no
	journal_ours "$j" "$j.new" "$j.done"
	if [ -d "$j" ]; then
		[ "$1" != yes ] ||
			die "$EX_TREE" "an interrupted run has left $TREE half changed; run $PROG without --check, or with --recover, which mends it"
		journal_read "$j" ||
			die "$EX_TREE" "$j is not the journal of an interrupted run; look into it and move it away"
		mend_published "$j"
		MENDED=yes
	fi
	[ "$1" != yes ] || return 0
	if [ -d "$j.done" ]; then
		note "an earlier run was interrupted after its work was done; removing what it left"
		journal_finish || die "$EX_INFRA" "cannot remove $j.done (see above); remove it by hand"
		MENDED=yes
	fi
	if [ -d "$j.new" ]; then
		note "an earlier run was interrupted before it changed anything; removing what it left"
		journal_drop "$j.new" '[kc]' || die "$EX_INFRA" "cannot remove $j.new (see above); remove it by hand"
		# shellcheck disable=SC2034 # for apply.sh
		MENDED=yes
	fi
}

mend_published() {
	local n
	n=$(grep -c '^[MAD]' "$1/list")
	signals_off
	if "${METHOD}_committed" "$1"; then
		note "an earlier run (method $METHOD) was interrupted when all but the clearing up was done; finishing it first"
		journal_forward
	else
		note "an earlier run (method $METHOD) was interrupted and had left $TREE half changed; putting it back first: $n file(s)"
		journal_undo ||
			die "$EX_INFRA" "cannot put $TREE back (see above); when that is mended run $PROG --recover $LTS $TREE"
	fi
	signals_on
}

# nobody_else: whether each file is as it was or as the run would have left it.
# Who has edited one since must not lose that.
nobody_else() {
	local j=$1 change path sum at
	while read -r change path; do
		at=$TREE/$path
		[ "$change" != P ] && [ -e "$at" ] || continue
		# what is not in old/ any more is back already
		[ "$change" = A ] || [ -e "$j/old/$path" ] && ! cmp -s "$j/old/$path" "$at" || continue
		sum=$(sha256sum <"$at")
		[ "$change" = D ] || ! grep -qxF "${sum%% *} $path" "$j/sums" || continue
		note "$at was changed by somebody since; move it away (as it was before it is in ${j##*/}/old/)"
		return 1
	done <"$j/list"
}

# May be cut short at any point and run again: what is back is skipped.
journal_undo() {
	local j=$TREE/.kit-apply change path dirs=()
	nobody_else "$j" || return
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
	"${METHOD}_undo" "$j" || return
	set_times "$j" '[kc]' && mv -T -- "$j" "$j.done" && journal_drop "$j.done" '[kc]'
}

# All is in place; for a method that decides nothing this rename is what does.
journal_forward() {
	local j=$TREE/.kit-apply
	"${METHOD}_finish" "$j" ||
		die "$EX_INFRA" "the patches are in, but not all could be cleared up (see above); when that is mended run $PROG --recover $LTS $TREE"
	if ! mv -T -- "$j" "$j.done"; then
		"${METHOD}_committed" "$j" || { journal_fail "cannot write to $TREE"; return; }
		die "$EX_INFRA" "the patches are in, but $j cannot be cleared up (see above); when that is mended run $PROG --recover $LTS $TREE"
	fi
	journal_finish || note "cannot remove $j.done; remove it by hand"
}

# drop_empty PATH: remove the folders above PATH that are empty. One may be gone
# already, in a run that was cut short.
drop_empty() {
	local dir=$1
	while [[ $dir == */* ]]; do
		dir=${dir%/*}
		[ -d "$TREE/$dir" ] || continue
		rmdir -- "$TREE/$dir" 2>/dev/null || return 0
	done
}

# The folders that a removed file leaves empty go too: git has none either.
journal_finish() {
	local j=$TREE/.kit-apply.done change path
	# Without a list this was removed half already, the folders before that.
	[ ! -f "$j/list" ] || while read -r change path; do
		[ "$change" != D ] || [ -e "$TREE/$path" ] || drop_empty "$path"
	done <"$j/list"
	set_times "$j" k
	journal_drop "$j"
}

# set_times J KIND: give back their time to the folders whose names are as they
# were (k), or those too that had one more or less (c). A matter of courtesy.
set_times() {
	local time kind dir
	[ ! -f "$1/times" ] || while read -r time kind dir; do
		# shellcheck disable=SC2053 # a pattern
		[[ $kind != $2 || ! -d $TREE/$dir ]] || touch -c -d "@$time" -- "$TREE/$dir" 2>/dev/null
	done <"$1/times"
	return 0
}

# journal_drop J [KIND]: remove it; the tree's own folder gets its time back if
# it is of that KIND, as in set_times.
journal_drop() {
	local time='' kind='' dir
	[ ! -f "$1/times" ] || read -r time kind dir <"$1/times"
	# shellcheck disable=SC2053 # a pattern
	[[ $kind == ${2-k} && $dir == . ]] || time=
	rm -rf "$1" || return
	[ -z "$time" ] || touch -c -d "@$time" -- "$TREE" 2>/dev/null
	return 0
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

# folders LIST: "kind folder" of each that is there now and has a file in LIST,
# k for those in which no name comes or goes; the tree's own first.
folders() {
	awk '{ dir = substr($0, 3); if (!sub(/\/[^\/]*$/, "", dir)) dir = "."
	       if ($1 != "M") changed[dir] = 1; seen[dir] }
	     END { seen["."]; for (d in seen) print (d in changed ? "c" : "k"), d }' "$1" |
		sort -t ' ' -k 2 | while read -r kind dir; do
			[ ! -d "$TREE/$dir" ] || printf '%s %s\n' "$kind" "$dir"
		done
}

# What a rename would need: folders that can be written, on one file system.
can_rename() {
	local kind dir at
	at=$(stat -c %m -- "$TREE") || return
	while read -r kind dir; do
		[ -w "$TREE/$dir" ] && [ -x "$TREE/$dir" ] || { note "$TREE/$dir cannot be written"; return 1; }
		[ "$(stat -c %m -- "$TREE/$dir")" = "$at" ] || {
			FAIL_CODE=$EX_TREE
			note "$TREE/$dir is mounted from elsewhere, so its files cannot be changed together with others; copy the tree to one file system"
			return 1
		}
	done <"$1"
}

journal_prepare() {
	local j=$TREE/.kit-apply.new new=$2 change path kind
	folders "$1" >"$SCRATCH/folders" && can_rename "$SCRATCH/folders" || return
	while read -r kind path; do
		echo "$(stat -c %.9Y -- "$TREE/$path") $kind $path" || return
	done <"$SCRATCH/folders" >"$SCRATCH/times"
	mkdir "$j" && cp -- "$SCRATCH/times" "$j/times" && mkdir "$j/new" "$j/old" &&
		cp -- "$1" "$j/list" && echo "$METHOD" >"$j/method" && : >"$j/sums" || return
	[ ! -d "$SCRATCH/extra" ] || cp -- "$SCRATCH/extra"/* "$j/" || return
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
		D)	continue ;;
		esac
		sync -- "$j/new/$path" && kind=$(sha256sum <"$j/new/$path") &&
			echo "${kind%% *} $path" >>"$j/sums" || return
	done <"$1"
	sync -- "$j"/* "$j"
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
# the contents below OLD to those below NEW, with METHOD. All or nothing: leaves
# with EX_INFRA or EX_TREE and $TREE as it was. Signals stay off once it has begun.
journal_write() {
	local j=$TREE/.kit-apply
	# shellcheck disable=SC2034 # for apply.sh
	PREPARING=yes # the trap of apply.sh removes what is not published
	journal_prepare "$1" "$3" || journal_fail "cannot write to $TREE"
	if ! unchanged "$1" "$2"; then
		journal_drop "$j.new" '[kc]'
		die "$EX_TREE" "something else is writing to $TREE; nothing was done, run $PROG again when it is quiet"
	fi
	signals_off
	mv -T -- "$j.new" "$j" || journal_fail "cannot write to $TREE"
	"${METHOD}_begin" "$j" || { journal_fail "cannot begin to change $TREE"; return; }
	journal_replace "$3" || { journal_fail "cannot replace the files of $TREE"; return; }
	"${METHOD}_commit" "$j" || { journal_fail "cannot make the change in $TREE"; return; }
	journal_forward
}
