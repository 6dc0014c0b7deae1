# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# --method quilt: quilt itself imports and pushes, or pops and deletes, in a
# folder of $SCRATCH that has those files of the tree and of its .pc that it
# needs for that; the journal then brings what has changed into the tree. Used
# with these, all below TREE:
#   Q_PATCHES   the folder with the patches
#   Q_SERIES    the series
#   Q_OURS      the patches to put in or take out, in the order of the series

# What a series of ours starts with, to know it again when it is empty.
Q_MARK="# this series was begun by apply.sh of the stable-kernel backport kit"

# quilt_refuse: leave with EX_TREE if quilt could not go on with the tree as it
# is, or would have to guess.
quilt_refuse() {
	local i
	Q_OURS=()
	for i in "${!NAME[@]}"; do [ "${ACTION[i]}" != work ] || Q_OURS+=("${NAME[i]}"); done
	quilt_layout
	quilt_pushed
	if [ -n "$REVERSE" ]; then quilt_on_top; else quilt_names; fi
	quilt_pending
}

# below_tree PATH: print it as seen from TREE; false if it leads out of it.
below_tree() {
	local path=${1#"$TREE"/}
	[[ /$path/ != *//* && /$path/ != */../* ]] || return
	echo "${path%/}"
}

# quilt_layout: find the folder and the series as quilt does.
quilt_layout() {
	local pc=$TREE/.pc series=series at
	Q_PATCHES=patches
	[ ! -L "$pc" ] && { [ ! -e "$pc" ] || [ -d "$pc" ]; } || die "$EX_TREE" "$pc is no folder; say --method patch"
	if [ -d "$pc" ]; then
		[ "$(cat "$pc/.version" 2>/dev/null)" = 2 ] ||
			die "$EX_TREE" "$pc is not of the version 2 that quilt has today; quilt upgrade mends that, or say --method patch"
		[ ! -f "$pc/.quilt_patches" ] || Q_PATCHES=$(<"$pc/.quilt_patches")
		[ ! -f "$pc/.quilt_series" ] || series=$(<"$pc/.quilt_series")
	elif [ -s "$TREE/debian/patches/series" ]; then
		Q_PATCHES=debian/patches
	fi
	Q_SERIES=$Q_PATCHES/$series
	for at in ".pc/$series" "$series"; do [ ! -f "$TREE/$at" ] || { Q_SERIES=$at; break; }; done
	[[ $series != /* ]] || Q_SERIES=$series
	at="the patches of quilt are outside of $TREE, in $Q_PATCHES, so they cannot change together with it; "
	if [ -n "$REVERSE" ]; then at+="take them out with quilt pop"; else at+="import and push by hand, or say --method patch"; fi
	Q_PATCHES=$(below_tree "$Q_PATCHES") && Q_SERIES=$(below_tree "$Q_SERIES") || die "$EX_TREE" "$at"
	for at in "$Q_PATCHES" "$Q_SERIES"; do
		(no_links "$TREE" "$at") 2>/dev/null ||
			die "$EX_TREE" "$TREE/$at is or is below a symbolic link, so it cannot change together with the tree; import and push by hand, or say --method patch"
	done
}

# series_names FILE: the patches that a series lists, one a line.
series_names() { sed -e '/^#/d; s/^[ \t]*//; s/[ \t].*//; /^$/d' "$1" 2>/dev/null; }

# quilt_pushed: sets Q_APPLIED. Something that is not pushed could not stay below
# what is put on top; for taking out from the top that is no matter.
quilt_pushed() {
	local all=()
	mapfile -t Q_APPLIED < <(cat "$TREE/.pc/applied-patches" 2>/dev/null)
	mapfile -t all < <(series_names "$TREE/$Q_SERIES")
	[ "$(printf '%s\n' "${Q_APPLIED[@]}")" = "$(printf '%s\n' "${all[@]:0:${#Q_APPLIED[@]}}")" ] ||
		die "$EX_TREE" "what quilt has pushed in $TREE is not what $Q_SERIES says; quilt pop -a and quilt push -a settle that, or say --method patch"
	[ -n "$REVERSE" ] || [ ${#Q_APPLIED[@]} -eq ${#all[@]} ] ||
		die "$EX_TREE" "${#Q_APPLIED[@]} of ${#all[@]} patches of $TREE/$Q_SERIES are pushed; push the others first (QUILT_PATCHES=$Q_PATCHES quilt push -a), or say --method patch"
	[ ${#Q_APPLIED[@]} -eq 0 ] || [ ! -e "$TREE/.pc/${Q_APPLIED[-1]}~refresh" ] ||
		die "$EX_TREE" "quilt wants ${Q_APPLIED[-1]} refreshed first; do that (quilt refresh), or say --method patch"
}

# quilt_names: none of ours may take the place of another patch of that name.
quilt_names() {
	local name at
	for name in "${Q_OURS[@]}"; do
		at=$TREE/$Q_PATCHES/$name
		! series_names "$TREE/$Q_SERIES" | grep -qxF -- "$name" && { [ ! -e "$at" ] || cmp -s "$at" "$(queue_file "$name")"; } ||
			die "$EX_TREE" "$TREE/$Q_PATCHES has another patch called $name; rename it (quilt rename -P $name NEW), or say --method patch"
	done
}

queue_file() { echo "$KIT_QUEUE/patches/$LTS/$1"; }

# change_of PATCH: what it changes, without text, line numbers and top folders.
change_of() { filterdiff --clean --remove-timestamps --strip=1 -- "$1" | sed 's/^@@.*/@@/'; }

# quilt_on_top: whether what is to be taken out is ours, and what was pushed last.
quilt_on_top() {
	local name i n=${#Q_APPLIED[@]} top
	for name in "${Q_OURS[@]}"; do
		printf '%s\n' "${Q_APPLIED[@]}" | grep -qxF -- "$name" ||
			die "$EX_TREE" "$name is in $TREE, but not as a patch that quilt pushed; --method patch takes it out of the files"
		[ "$(change_of "$TREE/$Q_PATCHES/$name")" = "$(change_of "$(queue_file "$name")")" ] ||
			die "$EX_TREE" "$TREE/$Q_PATCHES/$name is not the patch of that name in the queue; take it out with quilt, or say --method patch"
	done
	top=${Q_APPLIED[n - 1]}
	for ((i = 1; i <= ${#Q_OURS[@]}; i++)); do
		in_list "${Q_APPLIED[n - i]%.patch}" "$(printf '%s,' "${Q_OURS[@]}")" && continue
		for name in "${Q_APPLIED[@]}"; do in_list "${name%.patch}" "$(printf '%s,' "${Q_OURS[@]}")" && top=$name; done
		die "$EX_TREE" "in $TREE ${Q_APPLIED[n - i]} lies on top of what is to be taken out; QUILT_PATCHES=$Q_PATCHES quilt pop $top, run $PROG again, then quilt push -a; or say --method patch"
	done
}

# quilt_run ARG...: quilt in $SCRATCH/quilt, with nothing of the user's.
quilt_run() {
	(cd "$SCRATCH/quilt" && env -i "PATH=$PATH" "HOME=$SCRATCH" "TMPDIR=$SCRATCH" LC_ALL=C \
		quilt --quiltrc "$KIT/quiltrc" "$@") >"$SCRATCH/log" 2>&1
}

# quilt_copy PATH...: files and folders of the tree that exist, into its shadow.
quilt_copy() {
	local path
	for path; do
		[ -e "$TREE/$path" ] || continue
		mkdir -p "$SCRATCH/quilt/$(dirname -- "$path")" && rm -rf "$SCRATCH/quilt/$path" &&
			cp -a -- "$TREE/$path" "$SCRATCH/quilt/$path" || infra_scratch
	done
}

# quilt_shadow: $SCRATCH/quilt with the files as found and what quilt must know.
quilt_shadow() {
	fork_copy tree quilt
	quilt_copy .pc/.version .pc/applied-patches "$Q_SERIES"
	mkdir -p "$SCRATCH/quilt/.pc" "$SCRATCH/quilt/$Q_PATCHES" || infra_scratch
	[ -e "$SCRATCH/quilt/.pc/.version" ] || echo 2 >"$SCRATCH/quilt/.pc/.version"
	# as seen from here, not from TREE
	echo "$Q_PATCHES" >"$SCRATCH/quilt/.pc/.quilt_patches"
	if [ "$Q_SERIES" = "$Q_PATCHES/${Q_SERIES##*/}" ]; then echo "${Q_SERIES##*/}"; else echo "$Q_SERIES"; fi >"$SCRATCH/quilt/.pc/.quilt_series"
}

# quilt_pending: leave if a file in question is not as the topmost patch of quilt
# that touches it has left it.
quilt_pending() {
	local file i patch
	for file in $(in_question); do
		for ((i = ${#Q_APPLIED[@]} - 1; i >= 0; i--)); do
			patch=${Q_APPLIED[i]}
			[ -f "$TREE/.pc/$patch/$file" ] && break
		done
		[ $i -ge 0 ] || continue
		quilt_shadow
		quilt_copy ".pc/$patch" "$Q_PATCHES/$patch"
		quilt_run diff -z -P "$patch" "$file" && [ ! -s "$SCRATCH/log" ] ||
			die "$EX_TREE" "$TREE/$file has changes that quilt does not know of, and a patch touches it; put them into a patch (quilt refresh) or take them back"
	done
}

# quilt_prepare: as patch_prepare; the files are the tree's and quilt's own.
quilt_prepare() {
	local files file
	OLD=$SCRATCH/quilt.old NEW=$SCRATCH/quilt
	quilt_shadow
	if [ -n "$REVERSE" ]; then quilt_take_out; else quilt_put_in; fi
	for file in "${ALL_FILES[@]}"; do
		[ ! -e "$NEW/$file" ] && [ ! -e "$(outcome)/$file" ] || cmp -s "$NEW/$file" "$(outcome)/$file" ||
			die "$EX_FAIL" "quilt makes another $file of it than git does; $TREE is as it was, look at $file"
	done
	quilt_own_notes || infra_scratch
	mapfile -t files < <({ cd "$OLD" && find . -type f; cd "$NEW" && find . -type f; } | sed 's,^\./,,' | sort -u)
	journal_list "$OLD" "$NEW" "${files[@]}" >"$SCRATCH/list" || infra_scratch
}

quilt_put_in() {
	local name paths=()
	for name in "${Q_OURS[@]}"; do paths+=("$(queue_file "$name")"); done
	fork_copy quilt quilt.old
	# what is not in the tree must come out as new
	[ -d "$TREE/.pc" ] || rm -rf "${OLD:?}/.pc"
	[ -e "$TREE/$Q_SERIES" ] || echo "$Q_MARK" >"$NEW/$Q_SERIES" || infra_scratch
	quilt_run import -f -d n "${paths[@]}" ||
		die "$EX_FAIL" "quilt does not import the patches: $(tail -n 1 "$SCRATCH/log"); $TREE is as it was"
	quilt_run push -a ||
		die "$EX_FAIL" "quilt does not push them: $(grep -v '^$' "$SCRATCH/log" | tail -n 1); $TREE is as it was; --method patch can put a patch below one that is there"
}

quilt_take_out() {
	local name n=$((${#Q_APPLIED[@]} - ${#Q_OURS[@]}))
	for name in "${Q_OURS[@]}"; do quilt_copy ".pc/$name" "$Q_PATCHES/$name"; done
	[ "$n" -eq 0 ] || quilt_copy ".pc/${Q_APPLIED[n - 1]}"
	fork_copy quilt quilt.old
	quilt_run pop -R ${#Q_OURS[@]} ||
		die "$EX_FAIL" "quilt does not pop them: $(tail -n 1 "$SCRATCH/log"); $TREE is as it was"
	for name in "${Q_OURS[@]}"; do
		quilt_run delete -r "$name" ||
			die "$EX_FAIL" "quilt does not delete $name: $(tail -n 1 "$SCRATCH/log"); $TREE is as it was"
	done
}

# quilt_own_notes: where the patches are was written for the shadow; a tree that
# has a .pc keeps what that says. But with the last patch of a series that
# apply.sh began all of it goes.
quilt_own_notes() {
	[ -d "$TREE/.pc" ] || return 0
	rm -f "$OLD/.pc"/.quilt_* "$NEW/.pc"/.quilt_*
	[ "$(cat "$NEW/$Q_SERIES")" = "$Q_MARK" ] || return 0
	rm -rf "${NEW:?}/$Q_SERIES" "$NEW/.pc"
	cp -a "$TREE/.pc"/.quilt_* "$OLD/.pc/"
}

quilt_begin() { :; }
quilt_commit() { :; }
quilt_committed() { false; }
quilt_finish() { :; }
quilt_undo() { :; }
