# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# The commits to send: those of mainline, on top of an LTS. They are made in a
# repository below $WORK that has only the files that they touch, with the
# content of the LTS, of the mainline commit and of its parent; nothing is
# written to the user's clones, and no tree of 80000 files is checked out.
#
# Uses of submit.sh: WORK, SENDER; of submit-text.sh the message; and per LTS
#   $WORK/LTS/tree     the files of the LTS
#   $WORK/LTS/list     name, upstream commit, mainline version; in order
# Makes per LTS, in $WORK/LTS:
#   files     the files that the commits touch
#   base      our commit of the LTS as it is
#   picked    name, how, our commit; how is
#               as-is        git apply takes upstream's diff, with no fuzz
#               cherry-pick  git merges it without a conflict
#               ours         it conflicts; the diff is that of our patch
#   note.N    what was adapted in the Nth, where it is ours

# sgit ARG...: git in the scratch repository.
sgit() { GIT_DIR=$WORK/repo/.git git -C "$WORK/repo" -c core.hooksPath=/dev/null -c core.autocrlf=false -c gc.auto=0 "$@"; }

sgit_infra() { die "$EX_INFRA" "git cannot write to $WORK (see above); free some space there or set TMPDIR"; }

pick_begin() { env -u GIT_DIR git init -q --template= "$WORK/repo" || sgit_infra; }

# touched COMMIT: the files that it changes, without a guess at renames.
touched() { upstream_git diff-tree -r --no-commit-id --no-renames --name-only "$1"; }

# put_blob MODE BLOB FILE: an entry into the index that is being made.
put_blob() { sgit update-index --add --cacheinfo "$1,$2,$3"; }

# lts_base LTS: sets $WORK/LTS/base.
lts_base() {
	local dir=$WORK/$1 file mode blob
	cut -f2 "$dir/list" | while read -r file; do touched "$file"; done | sort -u >"$dir/files"
	export GIT_INDEX_FILE=$WORK/index
	rm -f "$GIT_INDEX_FILE"
	while read -r file; do
		[ -f "$dir/tree/$file" ] || continue
		mode=100644
		[ ! -x "$dir/tree/$file" ] || mode=100755
		blob=$(sgit hash-object -w --no-filters -- "$dir/tree/$file") && put_blob "$mode" "$blob" "$file" || sgit_infra
	done <"$dir/files"
	as_kit "$(sgit write-tree)" "$1 as it is" >"$dir/base" || sgit_infra
	unset GIT_INDEX_FILE
}

# as_kit TREE TEXT [ARG...]: a commit that nobody will see.
as_kit() {
	local tree=$1 text=$2
	shift 2
	GIT_AUTHOR_NAME=kit GIT_AUTHOR_EMAIL=kit@localhost GIT_AUTHOR_DATE='@0 +0000' \
		GIT_COMMITTER_NAME=kit GIT_COMMITTER_EMAIL=kit@localhost GIT_COMMITTER_DATE='@0 +0000' \
		sgit commit-tree -m "$text" "$@" "$tree"
}

# copy_tree COMMIT FILES: of a mainline commit, only the FILES (a list in a file)
# as a tree of the scratch repository. Prints its name.
copy_tree() {
	local file mode blob
	(
		# shellcheck disable=SC2030 # that is what the subshell is for
		export GIT_INDEX_FILE=$WORK/index.copy
		rm -f "$GIT_INDEX_FILE"
		while read -r file; do
			read -r mode _ blob _ < <(upstream_git ls-tree "$1" -- "$file") || continue
			blob=$(upstream_git cat-file blob "$blob" | sgit hash-object -w --stdin) && put_blob "$mode" "$blob" "$file" || exit
		done <"$2"
		sgit write-tree
	)
}

# pick_all LTS: makes the commits. Leaves with EX_FAIL where one does not go.
pick_all() {
	local dir=$WORK/$1 name commit n=0 tip tree
	lts_base "$1"
	tip=$(cat "$dir/base")
	: >"$dir/picked"
	while IFS=$'\t' read -r name commit _ <&3; do
		n=$((n + 1))
		pick_one "$1" "$name" "$commit" "$tip"
		[ "$(sgit rev-parse "$tip^{tree}")" != "$PICK_TREE" ] ||
			die "$EX_FAIL" "$name changes nothing in $1: what it does is there already; leave it out"
		[ "$PICK" != ours ] || backport_note "$KIT_QUEUE/patches/$1/$name" "$1" >"$dir/note.$n" ||
			die "$EX_FAIL" "$(short_ref "$commit") conflicts with $1, and patches/$1/$name does not say what was adapted; write a paragraph \"In $1 ...\" into its header"
		tree=$PICK_TREE
		tip=$(send_commit "$1" "$n" "$name" "$commit" "$tip" "$tree") || sgit_infra
		printf '%s\t%s\t%s\n' "$name" "$PICK" "$tip" >>"$dir/picked"
	done 3<"$dir/list"
}

# pick_one LTS NAME COMMIT TIP: sets PICK (how) and PICK_TREE.
pick_one() {
	local theirs parent
	touched "$3" >"$WORK/touched"
	parent=$(copy_tree "$3^" "$WORK/touched") && parent=$(as_kit "$parent" before) &&
		theirs=$(copy_tree "$3" "$WORK/touched") && theirs=$(as_kit "$theirs" after -p "$parent") || sgit_infra
	sgit checkout -q -f --detach "$4" && sgit clean -qfdx || sgit_infra
	if ! GIT_COMMITTER_NAME=kit GIT_COMMITTER_EMAIL=kit@localhost sgit -c merge.conflictStyle=diff3 \
		cherry-pick -n "$theirs" >"$WORK/log" 2>&1; then
		ours_instead "$1" "$2" "$4"
		return
	fi
	PICK=cherry-pick PICK_TREE=$(sgit write-tree) || sgit_infra
	if [ "$(apply_tree "$4" <(sgit diff --binary --full-index "$parent" "$theirs"))" = "$PICK_TREE" ]; then PICK=as-is; fi
}

# apply_tree COMMIT DIFF: the tree that git apply makes of COMMIT, with all
# context and no fuzz. Returns 1 and prints nothing if it does not apply.
apply_tree() {
	(
		# shellcheck disable=SC2031
		export GIT_INDEX_FILE=$WORK/index.apply
		sgit read-tree "$1" && sgit apply --cached --whitespace=nowarn "$2" 2>"$WORK/apply.log" && sgit write-tree
	)
}

ours_instead() {
	PICK=ours
	PICK_TREE=$(apply_tree "$3" "$KIT_QUEUE/patches/$1/$2") ||
		die "$EX_FAIL" "neither upstream's change nor patches/$1/$2 applies on top of those before it: $(head -n 1 "$WORK/apply.log"); refresh the queue (scripts/refresh.sh)"
}

# send_commit LTS N NAME COMMIT PARENT TREE: the commit with the message to send;
# author and date are upstream's.
send_commit() {
	local note=$WORK/$1/note.$2 message=$WORK/$1/message.$2 fields
	[ -f "$note" ] || note=
	stable_message "$3" "$4" "$note" >"$message" || return
	mapfile -t fields < <(upstream_git log -1 --encoding=UTF-8 --format='%an%n%ae%n%ad%n%cd' --date=raw "$4")
	GIT_AUTHOR_NAME=${fields[0]} GIT_AUTHOR_EMAIL=${fields[1]} GIT_AUTHOR_DATE=${fields[2]} \
		GIT_COMMITTER_NAME=$SENDER_NAME GIT_COMMITTER_EMAIL=$SENDER_MAIL GIT_COMMITTER_DATE=${fields[3]} \
		sgit commit-tree -p "$5" -F "$message" "$6"
}

# all_as_is LTS: whether upstream's commits can be asked for by name.
all_as_is() { ! cut -f2 "$WORK/$1/picked" | grep -qvx as-is; }

# check_size LTS: the limit of stable: 100 lines of a diff, context included.
check_size() {
	local name _ commit n
	while IFS=$'\t' read -r name _ commit <&3; do
		n=$(sgit diff-tree -p --no-renames "$commit" | awk '/^@@ /{ on = 1; next } /^diff --git /{ on = 0 } on { n++ } END { print n + 0 }')
		[ "$n" -le 100 ] ||
			die "$EX_FAIL" "$name has $n lines with context for $1; stable takes no more than 100: make it smaller, or carry it in a distribution's kernel"
		binary_free "$name" "$commit"
	done 3<"$WORK/$1/picked"
}

# binary_free NAME COMMIT: leave where plain mail would change the diff.
binary_free() {
	local diff
	diff=$(sgit diff-tree -p --no-renames "$2" | tr '\0' '\1')
	[[ $diff != *$'\r'* ]] ||
		die "$EX_FAIL" "$1 changes lines that end in CR, which a mail loses; ask stable@vger.kernel.org to take the commit from mainline"
	[[ $diff != *$'\n'"Binary files "* ]] ||
		die "$EX_FAIL" "$1 changes a binary file, which a plain mail cannot carry; ask stable@vger.kernel.org to take the commit from mainline"
}

# same_code LTS: whether what goes out for LTS is what our patches make of it,
# which are what verify-build.sh measures.
same_code() {
	local name _ tree tip
	tip=$(cat "$WORK/$1/base")
	while IFS=$'\t' read -r name _; do
		tree=$(apply_tree "$tip" "$KIT_QUEUE/patches/$1/$name") || return
		tip=$(as_kit "$tree" "$name") || return
	done <"$WORK/$1/picked"
	[ "$(sgit rev-parse "$tip^{tree}")" = "$(sgit rev-parse "$(tail -n 1 "$WORK/$1/picked" | cut -f3)^{tree}")" ]
}
