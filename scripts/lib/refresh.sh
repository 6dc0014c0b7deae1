# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# The steps of refresh.sh. The queue is made anew in $WORK/new, proved there, and
# only then takes the place of the old one.
#
# Uses LTS, FROM (the kernel tree), VERSION, WORK, KIT_QUEUE; states are those of
# status.sh. Makes
#   $WORK/old, $WORK/new  patches/LTS and series/LTS.*, as they are and as they will be
#   $WORK/rows            of status.sh, for the queue as it is
#   $WORK/moves           name, release, stable commit ("-": not known) of what landed

# new_queue: the copies to work on.
new_queue() {
	local dir
	for dir in "$WORK/old" "$WORK/new"; do
		mkdir -p "$dir/patches" "$dir/series" && cp -rp -- "$KIT_QUEUE/patches/$LTS" "$dir/patches/" &&
			cp -p -- "$KIT_QUEUE/series/$LTS".* "$dir/series/" || infra
	done
}

# find_landed: the states; leaves with EX_FAIL on a conflict, or for a patch that is
# there though no release is known to have it.
find_landed() {
	local name class commit first status detail
	tree_states "$FROM" "$LTS" "$VERSION" "$LTS" >"$WORK/rows"
	no_conflict "$WORK/rows" "the queue is as it was"
	: >"$WORK/moves"
	while IFS=$'\t' read -r _ _ _ name class commit _ first _ status detail; do
		[ "$status" = landed ] && [ "$class" != landed ] || continue
		landed_since "$name" "$commit" "$first" >>"$WORK/moves" || exit
	done <"$WORK/rows"
}

# no_conflict ROWS TEXT: every conflict is said, then leave.
no_conflict() {
	local name status detail bad=0
	while IFS=$'\t' read -r name status detail; do
		note "$name: $status: $detail"
		bad=$((bad + 1))
	done < <(awk -F '\t' '$10 ~ /^(conflict|partly there)$/ { print $4 "\t" $10 "\t" $11 }' "$1")
	[ $bad -eq 0 ] || die "$EX_FAIL" "$bad patch(es) do not fit $VERSION, $2; mend the hunks above with quilt, or drop what the release has in another form"
}

# landed_since NAME COMMIT FIRST: the line of "moves".
landed_since() {
	local found release=''
	if [ -n "$STABLE" ] && found=$(in_stable "$LTS" "$2") && [ "$found" != start ]; then
		release=$(release_of "$LTS" "$found")
	else
		found=-
	fi
	[ -n "$release" ] || ! has_release "$3" "$LTS" "$VERSION" || release=$3
	[ -n "$release" ] ||
		die "$EX_FAIL" "$1 is in $FROM, but no release of $LTS is known to have it; give a tree without changes of your own, or --stable CLONE if a release has it"
	printf '%s\t%s\t%s\n' "$1" "$release" "$found"
}

# move_landed: class, release and series of what landed, and the names of them in
# other headers: what is in the tree anyway needs no naming, and lint forbids it.
move_landed() {
	local name release commit file series=$WORK/new/series/$LTS
	while IFS=$'\t' read -r name release commit; do
		file=$WORK/new/patches/$LTS/$name
		edit_header "$file" -v class=landed -v first="$release" || infra
		for file in "$series".*; do take_line "$file" "$name" || infra; done
		{ [ "$commit" = - ] || printf '# %s, commit %s\n' "$release" "$commit"; echo "$name"; } >>"$series.landed" || infra
	done <"$WORK/moves"
	[ ! -s "$WORK/moves" ] || names_apart
}

take_line() { awk -v n="$2" '$0 != n' "$1" >"$WORK/line" && cat "$WORK/line" >"$1"; }

# names_apart: landed patches name only such, the others none of them.
names_apart() {
	local file name side
	grep -v '^#' "$WORK/new/series/$LTS.landed" | sed '/^ *$/d' | paste -sd ' ' >"$WORK/landed.names"
	for file in "$WORK/new/patches/$LTS"/*; do
		name=${file##*/} side=other
		[[ " $(cat "$WORK/landed.names") " != *" $name "* ]] || side=landed
		edit_header "$file" -v side=$side -v landed="$(cat "$WORK/landed.names")" || infra
	done
}

# edit_header FILE -v VAR=VALUE...: class and first: the new values; side and landed: keep
# only those names. Nothing below the "---" is touched.
edit_header() {
	local file=$1
	shift
	awk -v side='' -v class='' -v first='' -v landed='' "$@" '
		function kept(names,   n, i, a, out) {
			n = split(names, a, / *, */)
			for (i = 1; i <= n; i++)
				if ((index(" " landed " ", " " a[i] " ") > 0) == (side == "landed"))
					out = out (out == "" ? "" : ", ") a[i]
			return out
		}
		/^---$/ { below = 1 }
		!below && class != "" && /^Kit-Class: / { $0 = "Kit-Class: " class }
		!below && first != "" && /^Kit-First-Release: / { $0 = "Kit-First-Release: " first }
		!below && side != "" && /^Kit-(Needs|Instead-Of): / {
			tag = $1; names = $0; sub(/^[^ ]* */, "", names); names = kept(names)
			if (names == "") next
			$0 = tag " " names
		}
		{ print }' "$file" >"$WORK/edited" && { cmp -s "$WORK/edited" "$file" || cat "$WORK/edited" >"$file"; }
}

# refresh_diffs: quilt pushes what is left onto the files of the tree, with no fuzz,
# and writes each patch as it lies there.
refresh_diffs() {
	local class
	queue_load "$LTS" stable,distro,experimental,alternative,landed ''
	mapfile -t ALL_FILES < <(queue_files)
	scratch_drop
	scratch_copy "$FROM" "${ALL_FILES[@]}"
	for class in experimental alternative; do
		! grep -q '^[^#]' "$WORK/new/series/$LTS.$class" 2>/dev/null || quilt_series "$class"
	done
}

quilt_series() {
	local patch dir=$WORK/quilt.$1
	cp -r -- "$SCRATCH/tree" "$dir" || infra
	while read -r patch; do
		in_quilt "$1" push "$patch" ||
			die "$EX_FAIL" "$patch does not go onto $VERSION and what lies below it: $(grep -m 1 -E 'FAILED|fuzz|does not' "$WORK/quilt.log" || tail -n 1 "$WORK/quilt.log"); the queue is as it was"
		! grep -q 'with fuzz' "$WORK/quilt.log" || die "$EX_FAIL" "$patch goes in with fuzz only; the queue is as it was"
		refresh_one "$1" "$WORK/new/patches/$LTS/$patch" || die "$EX_INFRA" "quilt cannot refresh $patch: $(tail -n 1 "$WORK/quilt.log"); the queue is as it was"
	done < <(grep -v '^#' "$WORK/new/series/$LTS.$1" | sed '/^ *$/d')
}

# refresh_one CLASS PATCH: a diffstat is kept, but none is added.
refresh_one() {
	local rc=$KIT/quiltrc
	sed '/^--- ./q' "$2" | grep -qE '^ [0-9]+ files? changed' || {
		rc=$WORK/quiltrc
		sed 's/ --diffstat//' "$KIT/quiltrc" >"$rc" || infra
	}
	QUILTRC=$rc in_quilt "$1" refresh
}

# in_quilt CLASS ARG...
in_quilt() {
	local class=$1
	shift
	(cd "$WORK/quilt.$class" && QUILT_PATCHES=$WORK/new/patches/$LTS QUILT_SERIES=$WORK/new/series/$LTS.$class \
		quilt --quiltrc "${QUILTRC:-$KIT/quiltrc}" "$@") >"$WORK/quilt.log" 2>&1 </dev/null
}

# prove_new: the new queue is sound, has no conflict, and makes of the tree what the
# old one does.
prove_new() {
	local old
	old=$(code_after "$KIT_QUEUE") && [ -n "$old" ] || infra
	KIT_QUEUE=$WORK/new tree_states "$FROM" "$LTS" "$VERSION" "$LTS" >"$WORK/rows.new" || exit
	no_conflict "$WORK/rows.new" "the queue is as it was"
	[ "$(code_after "$WORK/new")" = "$old" ] ||
		die "$EX_FAIL" "the refreshed queue would make other code of $VERSION than the old one; the queue is as it was"
}

# code_after QUEUE, in a subshell: a sum of the files with all that apply.sh --class all brings in.
code_after() {
	local KIT_QUEUE=$1
	queue_load "$LTS" stable,distro,experimental,alternative stable,distro,experimental
	SCRATCH=''
	trap '[ -z "$SCRATCH" ] || rm -rf -- "$SCRATCH"' EXIT
	scratch_copy "$FROM" "${ALL_FILES[@]}"
	find_states
	cd "$SCRATCH/now" && find . -type f -print0 | sort -z | xargs -0r sha256sum | sha256sum
}

# show_changes: what moved, what was refreshed, and the range-diff.
show_changes() {
	local name release commit file n=0
	while IFS=$'\t' read -r name release commit; do
		echo "landed     $name: $LTS has it since $release$([ "$commit" = - ] || printf ' (%.12s)' "$commit")"
	done <"$WORK/moves"
	for file in "$WORK/new/patches/$LTS"/*; do
		name=${file##*/}
		cmp -s "$file" "$WORK/old/patches/$LTS/$name" && continue
		n=$((n + 1))
		grep -q "^$name	" "$WORK/moves" || echo "refreshed  $name"
	done
	if [ $n -eq 0 ]; then
		echo "The queue of $LTS fits $VERSION as it is."
		return
	fi
	echo
	range_diff
	[ "$WRITE" = yes ] || printf '\nNothing was changed; --write does it.\n'
}

# range_diff: the queue before and after, as commits on the tree without it.
range_diff() {
	local base old new
	rm -rf -- "$WORK/repo"
	pick_begin
	scratch_drop
	queue_load "$LTS" stable,distro,experimental,alternative stable,distro,experimental
	scratch_copy "$FROM" "${ALL_FILES[@]}"
	find_states
	base=$(base_commit "$FROM") || infra
	old=$(commits_of "$WORK/old" "$base" stable,distro,experimental) &&
		new=$(commits_of "$WORK/new" "$base" landed,stable,distro,experimental) || infra
	sgit range-diff --no-color "$base..$old" "$base..$new" || infra
}

# commits_of QUEUE BASE CLASSES: prints the last. Patches that are in the tree both
# before and after (class landed of old) lie below BASE and are passed over.
commits_of() {
	local KIT_QUEUE=$1 tip=$2 i tree
	queue_load "$LTS" "$3" ''
	for i in "${!NAME[@]}"; do
		[ "${CLASSES[i]}" != landed ] || grep -q "^${NAME[i]}	" "$WORK/moves" || continue
		tree=$(apply_tree "$tip" "${PATCH[i]}") && tip=$(as_kit "$tree" "$(message_of "${PATCH[i]}")" -p "$tip") || return
	done
	echo "$tip"
}

message_of() { sed -n 's/^Subject: //p; /^$/q' "$1"; echo; sed '1,/^$/d; /^---$/,$d' "$1"; }

# write_queue: all files at once, through the journal that apply.sh has for trees.
write_queue() {
	local files
	mapfile -t files < <(cd "$WORK/new" && find patches series -type f | sort)
	# shellcheck disable=SC2034 # of journal.sh: files and nothing else
	METHOD="patch"
	journal_list "$WORK/old" "$WORK/new" "${files[@]}" >"$WORK/changes" || infra
	[ -s "$WORK/changes" ] || return 0
	journal_write "$WORK/changes" "$WORK/old" "$WORK/new"
	printf '\n%s file(s) written in %s.\n' "$(grep -c '^[MAD]' "$WORK/changes")" "$KIT_QUEUE"
}
