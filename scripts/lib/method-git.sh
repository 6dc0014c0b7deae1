# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# --method git: one commit a patch. Blobs, trees and commits are made first and
# nothing refers to them. Then, under git's own lock of the index, the files are
# replaced and a new index is made in the folder of the journal; git update-ref
# decides; the new index takes the place of the old. In the journal's folder:
#   token        what our index.lock says, to tell it from that of another git
#   git          "old NAME", "new NAME" of HEAD and "message TEXT" for the reflog
#   ref          what HEAD stands for: a branch, or nothing
#   entries      the index's lines of the touched files, as found
#   index-info   the same as they shall be, for git update-index
#   base         sha256 of the index, as it was under the lock

# git_refuse: leave with EX_TREE for what would get lost or mixed up: see --help.
git_refuse() {
	local file files
	user_git rev-parse -q --verify 'HEAD^{commit}' >/dev/null 2>&1 ||
		die "$EX_TREE" "$TREE has no commit yet, so there is nothing to add commits to; make one, or say --method patch"
	[ ! -e "$GITDIR/index.lock" ] || die "$EX_TREE" "$(lock_held)"
	[ ! -L "$GITDIR/index" ] || die "$EX_TREE" "$GITDIR/index is a symbolic link; put the file itself there"
	[ -z "$(user_git ls-files -u 2>/dev/null | head -n 1)" ] ||
		die "$EX_TREE" "the index of $TREE has unmerged files; git status names them, git add or git reset settles them"
	user_git -c user.useConfigOnly=true var GIT_COMMITTER_IDENT >/dev/null 2>&1 ||
		die "$EX_TREE" "git does not know who makes the commits; say it: git config --global user.name 'Your Name'; git config --global user.email you@your.host"
	mapfile -t files < <(in_question)
	user_git ls-tree HEAD -- "${files[@]}" | sed 's/^\([0-7]*\) [a-z]* /\1 /' >"$SCRATCH/in-head" || infra_git
	user_git ls-files -s -- "${files[@]}" | sed 's/ 0\t/\t/' >"$SCRATCH/entries" || infra_git
	for file in "${files[@]}"; do file_clean "$file"; done
}

# git_uncommitted: a patch that is there need not be there in a commit.
git_uncommitted() {
	local i files=()
	for i in "${!NAME[@]}"; do
		# shellcheck disable=SC2206 # names with blanks between
		[ "${STATE[i]}" != "already there" ] || files+=(${FILES[i]})
	done
	[ ${#files[@]} -gt 0 ] || return 0
	user_git diff-index --name-only HEAD -- "${files[@]}" 2>/dev/null | while read -r i; do
		note "$TREE/$i has changes that are not committed; what is already there may be there only in these"
	done
}

infra_git() { die "$EX_INFRA" "git cannot read or write $GITDIR (see above); $TREE is as it was"; }

lock_held() {
	echo "$GITDIR/index.lock is there: another git is at work in $TREE, or was killed; wait until it is done, or remove that file"
}

# entry LIST FILE: its line in an output of ls-tree or ls-files, without FILE.
entry() { awk -F '\t' -v f="$2" '$2 == f { print $1; exit }' "$1"; }

# file_clean FILE: leave if FILE is not the same in HEAD, index and work tree.
# The content decides, no stat data: somebody may have told git to look away.
file_clean() {
	local file=$1 head index
	head=$(entry "$SCRATCH/in-head" "$file") index=$(entry "$SCRATCH/entries" "$file")
	if [ "$head" != "$index" ]; then
		die "$EX_TREE" "$TREE/$file has changes that are staged and not committed, and a patch touches it; commit them or git restore --staged $file"
	elif [ -z "$head" ]; then
		[ ! -e "$TREE/$file" ] ||
			die "$EX_TREE" "$TREE/$file is not known to git, and is in the way of a patch; add it to a commit or move it away"
	elif [ ! -e "$TREE/$file" ]; then
		[[ $(user_git ls-files -t -- "$file") != S* ]] ||
			die "$EX_TREE" "$TREE is a sparse checkout without $file, which a patch touches; git sparse-checkout add ${file%/*}"
		die "$EX_TREE" "$TREE/$file is deleted and that is not committed, and a patch touches it; commit that or git restore $file"
	elif [ "${head#* }" != "$(raw_blob "$TREE/$file")" ]; then
		[ -n "$(user_git diff-files --name-only -- "$file")" ] ||
			die "$EX_TREE" "git converts $TREE/$file at checkout (core.autocrlf, or an attribute), so patches do not fit; turn that off and check it out again"
		die "$EX_TREE" "$TREE/$file has changes that are not committed, and a patch touches it; commit them, or git stash"
	fi
}

raw_blob() { user_git hash-object --no-filters -- "$1"; }

# git_prepare: as patch_prepare, and the commits. In a --check nothing is written
# to GITDIR.
git_prepare() {
	local n old=tree tip files extra=$SCRATCH/extra
	patch_prepare
	scratch_steps ||
		die "$EX_FAIL" "the patches can only go together and not one by one, so there can be no commit for each; say --method patch"
	[ "$CHECK" = no ] || return 0
	tip=$(user_git rev-parse --verify HEAD) && mkdir "$extra" || infra_git
	echo "old $tip" >"$extra/git"
	GIT_INDEX_FILE=$SCRATCH/index user_git read-tree HEAD || infra_git
	for n in $(seq ${#STEP[@]}); do
		one_commit "$old" "step.$n" "${STEP[n - 1]}"
		old=step.$n
	done
	user_git symbolic-ref -q HEAD >"$extra/ref"
	{
		echo "new $tip"
		echo "message apply.sh: ${#STEP[@]} patch(es)${REVERSE:+ taken out}"
	} >>"$extra/git"
	echo "lock of apply.sh $$ ${SCRATCH##*.}; $PROG --recover $LTS TREE removes it when that is gone" >"$extra/token"
	mapfile -t files < <(sed -n 's/^[MAD] //p' "$SCRATCH/list")
	user_git ls-files -s -- "${files[@]}" >"$extra/entries" &&
		index_info tree "${NEW##*/}" >"$extra/index-info" || infra_git
}

# index_info OLD NEW: what git update-index has to be told so that the files
# that differ between the two folders of $SCRATCH are as in NEW.
index_info() {
	local change path mode blob
	journal_list "$SCRATCH/$1" "$SCRATCH/$2" "${ALL_FILES[@]}" | sed -n '/^[MAD]/p' >"$SCRATCH/changes"
	sed -n 's/^[MA] //p' "$SCRATCH/changes" |
		while read -r path; do printf '%s\n' "$SCRATCH/$2/$path"; done | user_git hash-object -w --no-filters --stdin-paths >"$SCRATCH/blobs" || return
	while read -r change path <&3; do
		case $change in
		M)	mode=$(GIT_INDEX_FILE=$SCRATCH/index user_git ls-files -s -- "$path") && mode=${mode%% *} ;;
		A)	mode=100644; [ ! -x "$SCRATCH/$2/$path" ] || mode=100755 ;;
		D)	printf '0 %s\t%s\n' "$(raw_blob "$SCRATCH/$1/$path")" "$path"; continue ;;
		esac
		read -r blob <&4 && printf '%s %s\t%s\n' "$mode" "$blob" "$path" || return
	done 3<"$SCRATCH/changes" 4<"$SCRATCH/blobs"
}

# one_commit OLD NEW I: put what patch I changes from OLD to NEW on top of "tip".
one_commit() {
	local tree sign=()
	index_info "$1" "$2" >"$SCRATCH/info" || infra_git
	GIT_INDEX_FILE=$SCRATCH/index user_git update-index --index-info <"$SCRATCH/info" || infra_git
	tree=$(GIT_INDEX_FILE=$SCRATCH/index user_git write-tree --missing-ok) || infra_git
	[ "$(user_git config --type=bool commit.gpgSign)" != true ] || sign=(-S)
	if [ -n "$REVERSE" ]; then revert_message "$3"; else mail_message "$3"; fi >"$SCRATCH/message" || infra_git
	tip=$(as_author user_git -c user.useConfigOnly=true commit-tree \
		"${sign[@]}" -p "$tip" -F "$SCRATCH/message" "$tree") ||
		die "$EX_INFRA" "git cannot make the commit for ${NAME[$3]} (see above); $TREE is as it was"
}

mail_field() { sed -n "s/^$1: //p" "$SCRATCH/mail" | head -n 1; }

# mail_message I: the message as git am would make it.
mail_message() {
	user_git mailinfo --no-scissors "$SCRATCH/body" "$SCRATCH/diff" <"${PATCH[$1]}" >"$SCRATCH/mail" || return
	{ mail_field Subject; echo; cat "$SCRATCH/body"; } | user_git stripspace
}

# as_author COMMAND...: the author of what COMMAND commits is that of the patch,
# as mail_message found it; of a revert it is who makes it.
as_author() {
	local who date=''
	if [ -z "$REVERSE" ]; then
		who="$(mail_field Author) <$(mail_field Email)>" date=$(mail_field Date)
	else
		who=$(user_git var GIT_COMMITTER_IDENT) || return
		date=@${who##*> } who=${who%>*}\>
	fi
	GIT_AUTHOR_NAME=${who% <*} GIT_AUTHOR_EMAIL=$(sed 's/.*<//; s/>$//' <<<"$who") \
		GIT_AUTHOR_DATE=$date "$@"
}

# revert_message I: as git revert would say it, with the commit that brought the
# patch in if it is one of the last few thousand. The history is not searched
# further: that of a kernel takes minutes.
revert_message() {
	local subject commit
	mail_message "$1" >/dev/null || return
	subject=$(mail_field Subject)
	commit=$(user_git log -n 5000 --format='%H %s' "$tip" | awk -v s="$subject" 'substr($0, index($0, " ") + 1) == s { print $1; exit }')
	printf 'Revert "%s"\n\n' "$subject"
	if [ -n "$commit" ]; then
		echo "This reverts commit $commit."
	else
		echo "This takes out ${NAME[$1]} of the $LTS queue; which commit brought it in was not found."
	fi
}

# The rest is called by journal.sh, in a run that makes the change or in one
# that mends it, with the folder of the journal.

git_value() { sed -n "s/^$2 //p" "$1/git"; }

# own_name J: the name in GITDIR for what is to become index.lock or the index.
own_name() { echo "$GITDIR/kit-apply.$(sha256sum <"$1/token" | cut -c1-16)"; }

lock_is_ours() { cmp -s "$1/token" "$GITDIR/index.lock"; }

# git_begin J: take the lock of the index, as a link so that it is never there
# without its content, and see that nothing has happened in between.
git_begin() {
	local own files
	own=$(own_name "$1")
	cp -- "$1/token" "$own" || return
	if ! ln -- "$own" "$GITDIR/index.lock"; then
		[ ! -e "$GITDIR/index.lock" ] || { FAIL_CODE=$EX_TREE; note "$(lock_held)"; }
		return 1
	fi
	rm -f -- "$own" || return
	mapfile -t files < <(sed -n 's/^[MAD] //p' "$1/list")
	if [ "$(user_git rev-parse HEAD)" != "$(git_value "$1" old)" ] ||
		! user_git symbolic-ref -q HEAD | cmp -s - "$1/ref" ||
		! user_git ls-files -s -- "${files[@]}" | cmp -s - "$1/entries"; then
		FAIL_CODE=$EX_TREE
		note "another git has worked in $TREE meanwhile; run $PROG again when it is quiet"
		return 1
	fi
	sha256sum <"$GITDIR/index" >"$1/base"
}

# new_index J: make J/index, in which only the touched files differ from the
# user's, and have the stat data of what now lies in the tree.
new_index() {
	local there
	cp -p -- "$GITDIR/index" "$1/index" &&
		GIT_INDEX_FILE=$1/index user_git update-index --add --remove --index-info <"$1/index-info" || return
	mapfile -t there < <(sed -n 's/^[MA] //p' "$1/list")
	[ ${#there[@]} -eq 0 ] ||
		GIT_INDEX_FILE=$1/index user_git add --refresh -- "${there[@]}"
}

git_commit() {
	local own
	own=$(own_name "$1")
	new_index "$1" || return
	# here, so that a disk that is full is so before it is decided
	cp -p -- "$1/index" "$own" && sync -- "$own" || return
	user_git update-ref -m "$(git_value "$1" message)" HEAD "$(git_value "$1" new)" "$(git_value "$1" old)" 2>"$SCRATCH/log" && return
	cat "$SCRATCH/log" >&2
	# shellcheck disable=SC2034 # for journal.sh
	! grep -q "File exists" "$SCRATCH/log" || FAIL_CODE=$EX_TREE
	return 1
}

# git_committed J: whether HEAD has the commits. Leaves with EX_TREE if git
# cannot say: then nothing must be undone.
git_committed() {
	local head new
	[ -n "${GIT-}" ] || git_find
	[ "$GIT" = top ] || die "$EX_TREE" "an interrupted run wanted to commit in $TREE, but now git does not take it for a work tree ($GIT); repair that and run $PROG --recover $LTS $TREE"
	head=$(user_git rev-parse --verify -q HEAD) && new=$(git_value "$1" new) && [[ $new =~ ^[0-9a-f]{40,64}$ ]] ||
		die "$EX_TREE" "cannot tell what an interrupted run has done: git knows no HEAD in $TREE; repair that and run $PROG --recover $LTS $TREE"
	[ "$head" = "$new" ] || user_git merge-base --is-ancestor "$new" "$head" 2>/dev/null
}

git_finish() {
	local own
	own=$(own_name "$1")
	drop_ref_locks "$1" || return
	if [ -e "$own" ]; then
		if [ "$(sha256sum <"$GITDIR/index")" = "$(cat "$1/base")" ]; then
			mv -fT -- "$own" "$GITDIR/index" || return
		else
			note "the index of $TREE was changed by somebody since and is left alone; git status shows what it lacks"
			rm -f -- "$own" || return
		fi
	fi
	drop_lock "$1"
}

# git_path NAME: where that is for this work tree.
git_path() {
	local path
	path=$(user_git rev-parse --git-path "$1") || return
	[[ $path == /* ]] || path=$TREE/$path
	echo "$path"
}

# drop_reflog J: git writes the reflog before the ref, so a killed update-ref can
# leave a last line, or the begin of one, for a move that never was.
drop_reflog() {
	local name log line move end
	move="$(git_value "$1" old) $(git_value "$1" new) "
	for name in HEAD $(cat "$1/ref"); do
		log=$(git_path "logs/$name") && [ -s "$log" ] || continue
		line=$(tail -n 1 "$log") end=0
		[ -n "$(tail -c 1 "$log")" ] || end=1
		[[ $line == "$move"* || $end -eq 0 && $move == "$line"* ]] || continue
		truncate -s "-$((${#line} + end))" -- "$log" || return
	done
}

git_undo() {
	drop_ref_locks "$1" && drop_reflog "$1" && rm -f -- "$(own_name "$1")" && drop_lock "$1"
}

drop_lock() { ! lock_is_ours "$1" || rm -f -- "$GITDIR/index.lock"; }

# drop_ref_locks J: remove the locks that a git update-ref of ours was killed
# with, or could not remove. They say the new name or nothing. Those of a git that
# is alive say another name, or do not stay empty for long; one from before is not
# ours.
drop_ref_locks() {
	local name lock
	for name in HEAD $(cat "$1/ref"); do
		lock=$(git_path "$name.lock") || return
		[ -e "$lock" ] && ! [ "$1/list" -nt "$lock" ] || continue
		[ -s "$lock" ] || sleep 1
		[ -e "$lock" ] || continue
		if [ ! -s "$lock" ] || [ "$(cat "$lock")" = "$(git_value "$1" new)" ]; then
			rm -f -- "$lock" || return
		fi
	done
}
