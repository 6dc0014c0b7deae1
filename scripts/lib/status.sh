# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What each patch of the queue is to a tree, for status.sh. States are those of
# scratch.sh and needs.sh, asked as apply.sh asks; this only gives them names.
#
# Uses WORK. Rows are lines with tabs between:
#   source  the tree as the user named it, or the LTS
#   lts, version ("-" if only the headers were asked)
#   name, class, upstream commit, mainline version, first release ("-" for none of these)
#   state   of scratch.sh or needs.sh; "header" if only that was asked; "-" if the
#           queue of this LTS does not have it
#   status  needed, landed, conflict, partly there, refused, for measuring, in the
#           tree, not for this LTS
#   detail  why, or since when; can be empty

# version_le A B: whether release A is B or older; -rc1 comes before the release.
version_le() {
	local a=${1#v} b=${2#v}
	[ "$(printf '%s\n' "${a/-rc/\~rc}" "${b/-rc/\~rc}" | sort -V | head -n 1)" = "${a/-rc/\~rc}" ]
}

# has_release FIRST LTS VERSION: whether that release of LTS is FIRST or later.
has_release() { [[ $1 == "$2".* ]] && version_le "$1" "${3%%-*}"; }

# queue_load LTS WIDE CHOSEN: the arrays of apply.sh: all patches of the classes
# WIDE, asked for are those of CHOSEN (lists with commas).
queue_load() {
	local name path commit first class files needs instead
	NAME=() PATCH=() CHOSEN=() CLASSES=() FIRST=() FILES=() NEEDS=() INSTEAD=() COMMIT=()
	# shellcheck disable=SC2034 # for scratch.sh and needs.sh
	STATE=() DETAIL=() THERE=() REVERSE='' WITHOUT=''
	queue_list "$1" "$2" >"$WORK/list" || exit
	while IFS=$'\t' read -r name path commit first class files _ needs instead; do
		[ -n "$name" ] || continue
		NAME+=("$name") PATCH+=("$KIT_QUEUE/$path") FIRST+=("$first") COMMIT+=("$commit")
		CLASSES+=("$class") FILES+=("$files") NEEDS+=("$needs") INSTEAD+=("$instead")
		if [[ ,$3, == *",$class,"* ]]; then CHOSEN+=(1); else CHOSEN+=(''); fi
	done <"$WORK/list"
}

queue_list() { "$KIT_BIN/kit-queue" --queue "$KIT_QUEUE" list --class "$2" "$1"; }

queue_files() { printf '%s\n' "${FILES[@]}" | tr ' ' '\n' | sed '/^$/d' | sort -u; }

has_class() { printf '%s\n' "${CLASSES[@]}" | grep -qx "$1"; }

# tree_states DIR LTS VERSION SOURCE: the rows of its queue. Three questions: what
# apply.sh --class all is asked; the same for alternatives, which do not go together
# with these; and for what has landed, which apply.sh never puts in.
tree_states() {
	local wide=stable,distro,experimental,alternative
	queue_load "$2" "$wide" stable,distro,experimental
	ask_tree "$@" stable,distro,experimental
	if has_class alternative; then
		queue_load "$2" "$wide" stable,alternative
		ask_tree "$@" alternative
	fi
	queue_load "$2" "$wide,landed" landed
	! has_class landed || ask_tree "$@" landed
}

# ask_tree DIR LTS VERSION SOURCE SAY: the rows of the classes SAY.
ask_tree() {
	local i all=()
	mapfile -t all < <(queue_files)
	scratch_drop
	scratch_copy "$1" "${all[@]}"
	find_states
	needs_check
	for i in "${!NAME[@]}"; do
		[[ ,$5, == *",${CLASSES[i]},"* ]] || continue
		state_row "$i" "$2" "$3" "$4"
	done
	! declare -F after_tree >/dev/null || after_tree "$1" "$2" "$4" "$5"
}

scratch_drop() { [ -z "${SCRATCH-}" ] || rm -rf -- "$SCRATCH"; SCRATCH=''; }

# state_row I LTS VERSION SOURCE
state_row() {
	local i=$1 status detail=${DETAIL[$1]-}
	case ${CLASSES[i]}:${STATE[i]} in
	experimental:applies | alternative:applies) status="for measuring" detail="never merged" ;;
	experimental:already* | alternative:already*) status="in the tree" detail="never merged" ;;
	*:applies) status=needed detail=$(needed_detail "${FIRST[i]}" "$2" "$3") ;;
	*:already*) status=landed detail=$(landed_detail "${FIRST[i]}" "$2" "$3") ;;
	*) status=${STATE[i]} ;;
	esac
	row "$4" "$2" "$3" "${NAME[i]}" "${CLASSES[i]}" "${COMMIT[i]}" "$(mainline_of "${PATCH[i]}")" "${FIRST[i]}" "${STATE[i]}" "$status" "$detail"
}

# A header that is wrong is worth a finding: what it says is what others go by.
needed_detail() {
	if has_release "$1" "$2" "$3"; then
		echo "its header says $1 has it, but it is not in this $3"
	elif [[ $1 == "$2".* ]]; then
		echo "$1 and later have it"
	else
		echo "no release of $2 is known to have it"
	fi
}

landed_detail() {
	if [ "$1" = "$2.0" ]; then
		echo "$2 began with it"
	elif has_release "$1" "$2" "$3"; then
		echo "since $1"
	elif [[ $1 == "$2".* ]]; then
		echo "put in by somebody; releases have it since $1"
	else
		echo "put in by somebody; no release of $2 is known to have it"
	fi
}

# row FIELD...: control characters and tabs of others do not get through.
row() { { printf '%s\t' "${@//$'\t'/ }" | tr -d '\000-\010\012-\037\177'; echo; } | sed 's/\t$//'; }

mainline_of() {
	local v
	v=$(sed -n 's/^Kit-Mainline-Version: //p; /^---$/q' "$1")
	echo "${v:--}"
}

# header_states LTS: rows from what the headers say.
header_states() {
	local i status detail
	queue_load "$1" stable,distro,experimental,alternative,landed ''
	for i in "${!NAME[@]}"; do
		case ${CLASSES[i]}:${FIRST[i]} in
		experimental:* | alternative:*) status="for measuring" detail="never merged" ;;
		*:"$1".0) status=landed detail="$1 began with it" ;;
		*:"$1".*) status=landed detail="since ${FIRST[i]}; releases before that need it" ;;
		*) status=needed detail="no release of $1 is known to have it" ;;
		esac
		row "$1" "$1" - "${NAME[i]}" "${CLASSES[i]}" "${COMMIT[i]}" "$(mainline_of "${PATCH[i]}")" "${FIRST[i]}" header "$status" "$detail"
	done
}

# other_states LTS VERSION SOURCE: rows of what only other queues have.
other_states() {
	local lts name path commit first class v
	queue_list "$1" stable,distro,experimental,alternative,landed | cut -f1 >"$WORK/own"
	for lts in $(lts_list | sort -Vr); do
		[ "$lts" != "$1" ] || continue
		queue_list "$lts" stable,distro,experimental,alternative,landed >"$WORK/other" || exit
		while IFS=$'\t' read -r name path commit first class _; do
			[ -n "$name" ] && ! grep -qxF -- "$name" "$WORK/own" || continue
			echo "$name" >>"$WORK/own"
			v=$(mainline_of "$KIT_QUEUE/$path")
			row "$3" "$1" "$2" "$name" "$class" "$commit" "$v" - - "not for this LTS" "$(other_detail "$1" "$v" "$lts")"
		done <"$WORK/other"
	done
}

other_detail() {
	if [ "$2" != - ] && version_le "$2" "$1"; then
		echo "$1 began with it ($2)"
	else
		echo "in the queue of $3, not in that of $1"
	fi
}

# tree_end LTS: end and as-of month of kernel.org's projection; nothing if not known.
tree_end() { awk -v t="$1" '!/^#/ && $1 == t { print $2 "\t" $3 }' "$KIT/configs/longterm-trees"; }
