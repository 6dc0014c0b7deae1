# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Which patches of a queue are in a tree: decided by git apply on a copy of the
# few files that the queue touches, outside of any repository. git finds all
# places; this only asks it the right questions in the right order.
#
# Used with the arrays that apply.sh fills, one element a patch in the order of
# the series: NAME, PATCH (path), CHOSEN (empty for one that is not asked for,
# but can be there, on top of one that is). Sets per chosen patch STATE
# ("applies", "already there", "partly there", "conflict") and DETAIL, and the
# folders
#   $SCRATCH/tree    the files as found
#   $SCRATCH/base    without any patch of the queue
#   $SCRATCH/now     with all patches that are there, or are chosen and apply
#   $SCRATCH/less    without the chosen ones (only with REVERSE)
#   $SCRATCH/step.N  after each patch that is put in or taken out (scratch_steps)

# shellcheck disable=SC2034 # STATE and DETAIL are read by apply.sh
STATE=() DETAIL=() THERE=()

# need_queue: leave with EX_USAGE if KIT_QUEUE names no queue.
need_queue() {
	[ -d "$KIT_QUEUE/patches" ] && [ -d "$KIT_QUEUE/series" ] ||
		die "$EX_USAGE" "${KIT_QUEUE:-KIT_QUEUE} is no queue; let KIT_QUEUE name a folder with patches/ and series/, or unset it"
}

# scratch_env: from here on git sees no repository and no configuration. What
# the environment says of the user's own is kept in USER_GIT, for user_git. A
# ceiling in place of GIT_DIR would not do: a path with a colon ends it.
scratch_env() {
	local var
	USER_GIT=()
	for var in "${!GIT_@}"; do
		case $var in
		GIT_COMMITTER_* | GIT_CONFIG_*) USER_GIT+=("$var=${!var}") ;;
		esac
		unset "$var"
	done
	export GIT_DIR=/dev/null GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
}

# no_crlf DIR NAME: leave with EX_TREE if DIR, which the user calls NAME, has them.
no_crlf() {
	! head -n 50 "$1/Makefile" | grep -q $'\r$' ||
		die "$EX_TREE" "$2 has CRLF at its line ends, and patches do not; check it out again with core.autocrlf=false, or convert it with dos2unix"
}

# whole_tree DIR NAME: the same, also for what a killed apply.sh has left.
whole_tree() {
	no_crlf "$1" "$2"
	[ ! -d "$1/.kit-apply" ] ||
		die "$EX_TREE" "an interrupted apply.sh has left $2 half changed; run apply.sh --recover on it, which mends it"
}

# kernel_tree DIR: set KERNEL to the folder and VERSION to its version; leave with
# EX_TREE unless it is a tree of LTS that patches can be held against.
kernel_tree() {
	[ -n "$1" ] || die "$EX_USAGE" "TREE is empty; give the folder of a kernel tree"
	KERNEL=$(cd -- "$1" 2>/dev/null && pwd -P) ||
		die "$EX_TREE" "cannot enter $1; give the folder of a kernel tree"
	VERSION=$(tree_version "$KERNEL") ||
		die "$EX_TREE" "$1 is no kernel tree: no Makefile with a version, or no kernel/sched/fair.c; give the top folder of one"
	[[ $VERSION == "$LTS".* ]] ||
		die "$EX_TREE" "$1 is $VERSION, but the patches asked for are for $LTS; say $PROG ${VERSION%.*} or give a $LTS tree"
	no_crlf "$KERNEL" "$1"
}

# scratch_sweep: remove what killed runs have left below TMPDIR. A run that is
# alive holds a lock, from a moment after its folder was made.
scratch_sweep() {
	local old
	while IFS= read -r -d '' old; do
		flock -n "$old" rm -rf "$old"
	done < <(find "${TMPDIR:-/tmp}/." -maxdepth 1 -type d \( -name 'kit-apply.*' -o -name 'kit-status.*' -o -name 'kit-refresh.*' -o -name 'kit-submit.*' \) \
		-user "$(id -u)" -mmin +1 -print0 2>/dev/null)
}

# scratch_work NAME: set WORK to a new folder kit-NAME.*, locked for scratch_sweep.
scratch_work() {
	WORK=$(mktemp -d "${TMPDIR:-/tmp}/kit-$1.XXXXXX") && WORK=$(cd "$WORK" && pwd -P) &&
		exec 7<"$WORK" && flock -s 7 && : >"$WORK/findings" ||
		die "$EX_INFRA" "cannot make a folder below ${TMPDIR:-/tmp}; free some space there or set TMPDIR"
}

# scratch_copy TREE FILE...: make $SCRATCH and copy the FILEs that exist.
# Leaves with EX_TREE for a link or a folder in place of a file, EX_INFRA if
# the copy fails.
scratch_copy() {
	local tree=$1 file
	shift
	SCRATCH=$(mktemp -d "${TMPDIR:-/tmp}/kit-apply.XXXXXX") && SCRATCH=$(cd "$SCRATCH" && pwd -P) ||
		die "$EX_INFRA" "cannot make a folder below ${TMPDIR:-/tmp}; free some space there or set TMPDIR"
	exec 8<"$SCRATCH" && flock -s 8 || infra_scratch
	mkdir "$SCRATCH/tree" || infra_scratch
	for file; do
		no_links "$tree" "$file"
		[ -e "$tree/$file" ] || continue
		[ -f "$tree/$file" ] ||
			die "$EX_TREE" "$tree/$file is no regular file, but the queue patches it; give a tree as kernel.org or Debian ship it"
		mkdir -p "$SCRATCH/tree/${file%/*}" && cp -- "$tree/$file" "$SCRATCH/tree/$file" || infra_scratch
	done
}

infra_scratch() {
	die "$EX_INFRA" "cannot copy to $SCRATCH (see above); free some space there or set TMPDIR; the tree is as it was"
}

# A link inside the tree could lead out of it, and a rename would replace it.
no_links() {
	local at=$1 part parts
	IFS=/ read -ra parts <<<"$2"
	for part in "${parts[@]}"; do
		at=$at/$part
		[ ! -L "$at" ] ||
			die "$EX_TREE" "$at is a symbolic link, but the queue patches $2; replace the link by what it points to"
	done
}

fork_copy() {
	rm -rf "${SCRATCH:?}/$2" && cp -a "$SCRATCH/$1" "$SCRATCH/$2" || infra_scratch
}

# try FOLDER PATCH ARG...: git apply there; what it says is in $SCRATCH/log.
# Returns 0 or 1; a broken patch or a full disk ends the run.
try() {
	local dir=$SCRATCH/$1 patch=$2 code
	shift 2
	git -C "$dir" apply -v --whitespace=nowarn "$@" -- "$patch" >"$SCRATCH/log" 2>&1
	code=$?
	[ $code -gt 1 ] || return $code
	if grep -qE 'corrupt patch|[Nn]o valid patches|patch fragment without header|malformed' "$SCRATCH/log"; then
		die "$EX_USAGE" "git does not take $patch: $(tail -n 1 "$SCRATCH/log"); scripts/lint.sh says more"
	fi
	die "$EX_INFRA" "git apply failed in $dir: $(tail -n 1 "$SCRATCH/log"); the tree is as it was"
}

# places FILE: where git put which hunk, from its log: "file hunk line".
places() {
	awk '/^Checking patch / { f = $3; sub(/\.\.\.$/, "", f) }
	     /^Hunk #[0-9]+ succeeded at / { sub(/#/, "", $2); print f, $2, $5 }' "$1"
}

# spans PATCH LOG SIDE: "file first last", the lines that each hunk of PATCH
# covers in a file where it was just found, with git's LOG of that. SIDE: new
# after applying, old after reversing, there for one found but left in.
spans() {
	places "$2" | awk -v side="$3" '
		part == 1 { at[$1, $2] = $3; next }
		{ old = $4; oldlen = $5; new = $6; newlen = $7
		  if ($1 != file) { file = $1; grown = 0 }
		  first = side == "new" ? new : old
		  if (($1, $2) in at) first = at[$1, $2]
		  if (side == "there") first += grown
		  grown += newlen - oldlen
		  print $1, first, first + (side == "old" ? oldlen : newlen) - 1 }
	' part=1 - part=2 <("$KIT_BIN/kit-queue" hunks "$1")
}

# one_hunk PATCH FILE N: that hunk alone, as $SCRATCH/hunk.
one_hunk() {
	filterdiff -p1 -i "$2" --hunks="$3" -- "$1" >"$SCRATCH/hunk" && [ -s "$SCRATCH/hunk" ] ||
		die "$EX_INFRA" "filterdiff cannot take hunk $3 of $2 out of $1; is patchutils installed and $SCRATCH not full?"
}

# elsewhere PATCH SPANS ARG...: find the first hunk that git could apply (ARG: -R,
# or none) in "now" at a place other than those in SPANS. True if there is one;
# TWIN is then "file:line (hunk N of M)".
elsewhere() {
	local patch=$1 spans=$2 file n of line rest at
	shift 2
	while IFS=$'\t' read -r file n of rest; do
		one_hunk "$patch" "$file" "$n"
		try now "$SCRATCH/hunk" --check "$@" || continue
		at=$(places "$SCRATCH/log" | awk '{ print $3; exit }')
		line=$(sed -n 's/^@@ -\([0-9]*\)[0-9,]* +\([0-9]*\).*/\1 \2/p' "$SCRATCH/hunk")
		[ "${1-}" = -R ] && line=${line% *} || line=${line#* }
		at=${at:-$line}
		# Code that repeats its own context fits where it already is.
		awk -v f="$file" -v a="$at" '$1 == f && a >= $2 && a <= $3 { hit = 1 } END { exit !hit }' \
			"$spans" && continue
		TWIN="$file:$at (hunk $n of $of)"
		return 0
	done < <("$KIT_BIN/kit-queue" hunks "$patch")
	return 1
}

# first_places SPANS: the same for where it was found, "file:line, ...".
first_places() { awk '{ printf "%s%s:%d", s, $1, $2; s = ", " }' "$1"; }

conflict() {
	STATE[$1]=conflict
	DETAIL[$1]=$2
}

# From the tail, because a later patch may have changed the lines of an
# earlier one: what can be taken out is there.
find_there() {
	local i
	fork_copy tree now
	for ((i = ${#NAME[@]} - 1; i >= 0; i--)); do
		THERE[i]=
		[ -n "${CHOSEN[i]}" ] || [ "$1" = all ] || continue
		try now "${PATCH[i]}" -R --check || continue
		cp "$SCRATCH/log" "$SCRATCH/log.$i" || infra_scratch
		spans "${PATCH[i]}" "$SCRATCH/log.$i" there >"$SCRATCH/spans"
		if elsewhere "${PATCH[i]}" "$SCRATCH/spans"; then
			conflict "$i" "cannot tell whether it is there: it can be taken out at $(first_places "$SCRATCH/spans") and put in at $TWIN; a refresh with more context (quilt refresh -U 8) tells them apart"
			continue
		fi
		try now "${PATCH[i]}" -R || infra_scratch
		THERE[i]=1
		[ -n "${REVERSE-}" ] || continue
		spans "${PATCH[i]}" "$SCRATCH/log" old >"$SCRATCH/spans"
		elsewhere "${PATCH[i]}" "$SCRATCH/spans" -R &&
			conflict "$i" "can be taken out at two places, $(first_places "$SCRATCH/spans") and $TWIN; refused"
	done
	fork_copy now base
}

# Taken out and put back must be the tree as it was, or git took something out
# at another place than where it would put it.
check_round_trip() {
	local i
	for i in "${!NAME[@]}"; do
		[ -n "${THERE[i]}" ] || continue
		try now "${PATCH[i]}" && continue
		conflict "$i" "seems to be there, but does not go in again once it is taken out; look at the places in $(files_of "$i")"
		return 1
	done
	diff -r "$SCRATCH/tree" "$SCRATCH/now" >/dev/null && return
	for i in "${!NAME[@]}"; do
		[ -z "${THERE[i]}" ] ||
			conflict "$i" "seems to be there, but at a place where it would not go in; look at $(files_of "$i")"
	done
	return 1
}

files_of() { "$KIT_BIN/kit-queue" hunks "${PATCH[$1]}" | cut -f1 | sort -u | paste -sd ' '; }

# A patch that is there only in part, or not at all and cannot be: hunk by
# hunk, in both directions.
classify() {
	local i=$1 file n of line rest there=0 fits=0 list=
	while IFS=$'\t' read -r file n of line rest; do
		one_hunk "${PATCH[i]}" "$file" "$n"
		rest="$file:$line (hunk $n of $of)"
		if try now "$SCRATCH/hunk" -R --check; then
			there=$((there + 1))
			list+="; $rest is there"
		elif try now "$SCRATCH/hunk" --check; then
			fits=$((fits + 1))
			list+="; $rest is missing and fits"
		else
			list+="; $rest $(why_not "$file")"
		fi
	done < <("$KIT_BIN/kit-queue" hunks "${PATCH[i]}")
	conflict "$i" "${list#; }"
	[ $there -gt 0 ] && [ $fits -gt 0 ] && STATE[i]="partly there"
	[[ $list == *"does not"* || $there -gt 0 ]] ||
		DETAIL[i]+="; each fits, but not all together"
}

why_not() {
	if grep -q 'already exists' "$SCRATCH/log"; then
		echo "does not apply: the file exists already, with other content"
	elif [ ! -e "$SCRATCH/now/$1" ]; then
		echo "does not apply: there is no such file"
	else
		echo "does not apply: these lines are neither as before nor as after the patch"
	fi
}

# put_back FOLDER I: a patch that is there goes in again, on top of what the
# run has made of the patches below it.
put_back() {
	try "$1" "${PATCH[$2]}" ||
		conflict "$2" "it is there, on top of patches that would change; bring in or take out these together"
}

# In the order of the series, on top of what is there.
find_applies() {
	local i
	fork_copy base now
	for i in "${!NAME[@]}"; do
		if [ -n "${THERE[i]}" ]; then
			[ -n "${STATE[i]-}" ] || STATE[i]="already there"
			put_back now "$i"
			continue
		fi
		[ -n "${CHOSEN[i]}" ] && [ -z "${STATE[i]-}" ] || continue
		if ! try now "${PATCH[i]}"; then
			classify "$i"
			continue
		fi
		STATE[i]=applies
		spans "${PATCH[i]}" "$SCRATCH/log" new >"$SCRATCH/spans"
		elsewhere "${PATCH[i]}" "$SCRATCH/spans" &&
			conflict "$i" "fits at two places, $(first_places "$SCRATCH/spans") and $TWIN; refused, a refresh with more context (quilt refresh -U 8) tells them apart"
	done
}

find_less() {
	local i
	fork_copy base less
	for i in "${!NAME[@]}"; do
		[ -z "${THERE[i]}" ] || [ -n "${CHOSEN[i]}" ] || put_back less "$i"
	done
}

# find_states: decide all patches; needs scratch_copy before.
find_states() {
	local i
	find_there all
	if ! check_round_trip; then
		# Perhaps only a patch that is not asked for was taken for there.
		STATE=() DETAIL=()
		find_there chosen
		check_round_trip
	fi
	find_applies
	[ -z "${REVERSE-}" ] || find_less
	# A doubt about a patch that is not asked for is no matter of this run.
	for i in "${!NAME[@]}"; do
		[ -n "${CHOSEN[i]}" ] || [ -n "${THERE[i]}" ] || STATE[i]=
	done
}

# one_step FROM TO I: IN has a change for patch I, which is the topmost of all
# that are in, or else all is put together anew.
one_step() {
	local j
	for ((j = $3 + 1; j < ${#NAME[@]}; j++)); do [ -z "${IN[j]}" ] || break; done
	if [ "$j" -eq ${#NAME[@]} ]; then
		fork_copy "$1" "$2" && try "$2" "${PATCH[$3]}" ${REVERSE:+-R}
		return
	fi
	fork_copy base "$2"
	for j in "${!NAME[@]}"; do
		[ -z "${IN[j]}" ] || try "$2" "${PATCH[j]}" || return 1
	done
}

# scratch_steps: the way from "tree" to the outcome patch by patch, those with
# ACTION "work": in the order of the series, or with REVERSE from its tail. Sets
# STEP (which patch each is); returns 1 if it cannot be gone one by one.
scratch_steps() {
	local i n=0 order=("${!NAME[@]}") from=tree end=now IN=("${THERE[@]}")
	STEP=()
	[ -z "${REVERSE-}" ] || { end=less; mapfile -t order < <(printf '%s\n' "${order[@]}" | tac); }
	for i in "${order[@]}"; do
		[ "${ACTION[i]}" = work ] || continue
		n=$((n + 1)) STEP+=("$i")
		if [ -n "${REVERSE-}" ]; then IN[i]=''; else IN[i]=1; fi
		one_step "$from" "step.$n" "$i" || return 1
		from=step.$n
	done
	diff -r "$SCRATCH/$from" "$SCRATCH/$end" >/dev/null
}
