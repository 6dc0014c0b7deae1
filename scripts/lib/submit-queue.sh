# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What submit.sh takes from the queue of an LTS, and what it refuses to send.
# States are those of scratch.sh and needs.sh, as for apply.sh.
#
# Makes per LTS, in $WORK/LTS, for the patches that go there, in order of the series:
#   rows       lines of kit-queue list
#   list       name, upstream commit, mainline version
#   newer      what the newer trees have, for the mail
#   followups  commits of mainline that repair one of these and are not there

# lts_states LTS: NAME, STATE and so on of apply.sh, for the newest state of LTS.
# CHOSEN are the patches of ASKED, and nothing is left out.
lts_states() {
	local i all=()
	mkdir -p "$WORK/$1" || sgit_infra
	queue_load "$1" stable,distro,experimental,alternative,landed ''
	cp -- "$WORK/list" "$WORK/$1/queue" || sgit_infra
	for i in "${!NAME[@]}"; do ! asked "${NAME[i]}" || CHOSEN[i]=1; done
	mapfile -t all < <(queue_files)
	lts_extract "$1" "${all[@]}"
	scratch_drop
	scratch_copy "$WORK/$1/tree" "${all[@]}"
	find_states
	needs_check
}

# asked NAME: whether the command line names it.
asked() {
	local ask
	for ask in ${ASKED[@]+"${ASKED[@]}"}; do [ "${ask%.patch}" != "${1%.patch}" ] || return 0; done
	return 1
}

# submit_plan LTS: what of ASKED goes to it. Leaves with EX_FAIL for what must not.
submit_plan() {
	local i ask version
	lts_states "$1"
	: >"$WORK/$1/rows"
	: >"$WORK/$1/list"
	for ask in "${ASKED[@]}"; do
		needs_index "${ask%.patch}.patch" >/dev/null ||
			note "$1 has no ${ask%.patch} in its queue; nothing of it goes there"
	done
	for i in "${!NAME[@]}"; do
		[ -n "${CHOSEN[i]}" ] || continue
		refuse_class "$1" "$i"
		refuse_state "$1" "$i"
		version=$(mainline_of "${PATCH[i]}")
		mainline_has "${NAME[i]}" "${COMMIT[i]}" "$version"
		printf '%s\t%s\t%s\n' "${NAME[i]}" "${COMMIT[i]}" "$version" >>"$WORK/$1/list"
		awk -F '\t' -v n="${NAME[i]}" '$1 == n' "$WORK/$1/queue" >>"$WORK/$1/rows"
	done
	follow_ups_check "$1"
}

refuse_class() {
	case ${CLASSES[$2]} in
	experimental | alternative)
		die "$EX_FAIL" "${NAME[$2]} was never merged in mainline (class ${CLASSES[$2]}), and stable takes only what is; send it to the maintainers of mainline first" ;;
	landed)
		die "$EX_FAIL" "${NAME[$2]} is in $1 already, since ${FIRST[$2]}; there is nothing to send" ;;
	esac
}

# refuse_state LTS I: only what applies is sent.
refuse_state() {
	local since commit
	case ${STATE[$2]} in
	applies) return ;;
	"already there")
		since=${FIRST[$2]}
		if ! commit=$(in_stable "$1" "${COMMIT[$2]}") || [ "$commit" = start ]; then commit=; fi
		[ -z "$commit" ] || since=$(release_of "$1" "$commit")
		if [ "$since" = none ] || [ -z "$since" ]; then
			die "$EX_FAIL" "${NAME[$2]} is already in the $1 tree at hand ($(cat "$WORK/$1/version")); there is nothing to send"
		fi
		die "$EX_FAIL" "${NAME[$2]} is in $1 already, since $since (the tree is $(cat "$WORK/$1/version")); there is nothing to send" ;;
	esac
	die "$EX_FAIL" "${NAME[$2]} for $1: ${STATE[$2]}: ${DETAIL[$2]}"
}

anything_left() {
	local ask
	for ask in "${ASKED[@]}"; do
		cat "$WORK"/*/list | cut -f1 | grep -qxF "${ask%.patch}.patch" ||
			die "$EX_USAGE" "no patch \"$ask\" in the queue of $(paste -sd ' ' "$WORK/ltss"); see series/${TO[0]}.*"
	done
}

# follow_ups_check LTS: a fix of a fix goes along, is there, or is left out for a
# reason that the mail gives.
follow_ups_check() {
	local id ids missing=
	: >"$WORK/$1/followups"
	[ -s "$WORK/$1/list" ] || return 0
	mapfile -t ids < <(cut -f2 "$WORK/$1/list")
	for id in "${ids[@]}"; do
		while read -r missing; do
			! grep -qF "$missing" "$WORK/$1/list" && ! queue_there "$missing" && ! in_stable "$1" "$missing" >/dev/null || continue
			printf '%s, which repairs or reverts %.12s\n' "$(short_ref "$missing")" "$id" >>"$WORK/$1/followups"
		done < <(follow_ups "$id")
	done
	[ ! -s "$WORK/$1/followups" ] || [ -n "$FOLLOWUP_REASON" ] ||
		die "$EX_FAIL" "mainline has $(head -n 1 "$WORK/$1/followups"), and $1 would not; add it to the queue and name it too, or give --followup-reason TEXT"
}

# queue_there COMMIT: whether the tree of lts_states has our patch of it.
queue_there() {
	local i
	for i in "${!COMMIT[@]}"; do
		[ "${COMMIT[i]}" != "$1" ] || [ "${STATE[i]-}" != "already there" ] || return 0
	done
	return 1
}

# newer_first LTS: a fix goes to the newer trees first, or with this, or the mail
# says why not. Writes $WORK/LTS/newer.
newer_first() {
	local lts name commit version lacks=
	: >"$WORK/$1/newer"
	[ -s "$WORK/$1/list" ] || return 0
	for lts in $(supported_trees); do
		[ "$lts" != "$1" ] && version_le "$1" "$lts" || continue
		while IFS=$'\t' read -r name commit version <&3; do
			printf '%s.y: %.12s %s\n' "$lts" "$commit" "$(newer_state "$lts" "$name" "$commit" "$version")"
		done 3<"$WORK/$1/list" >>"$WORK/$1/newer"
	done
	lacks=$(grep -E ' (lacks it|is not known to have it)$' "$WORK/$1/newer" | head -n 1)
	[ -z "$lacks" ] || [ -n "$NEWER_REASON" ] ||
		die "$EX_FAIL" "$lacks, and a fix for $1 goes to the newer trees first; add ${lacks%%.y:*} to --to-stable, or give --newer-reason TEXT"
}

# supported_trees: those of configs/longterm-trees whose end has not come, and those
# of the queue that it does not know; newest first.
supported_trees() {
	{
		awk -v now="$(date +%Y-%m)" '!/^#/ && NF > 1 && $2 >= now { print $1 }' "$KIT/configs/longterm-trees"
		lts_list | grep -vxFf <(awk '!/^#/ && NF > 1 { print $1 }' "$KIT/configs/longterm-trees")
	} | sort -Vr
}

# newer_state LTS NAME COMMIT VERSION: what it has of that commit, in words.
newer_state() {
	local found
	if [ -f "$WORK/$1/list" ] && grep -qF "$3" "$WORK/$1/list"; then
		echo "is sent along"
	elif version_le "$4" "$1"; then
		echo "had it from its start"
	elif found=$(in_stable "$1" "$3"); then
		[ "$found" = start ] && { echo "had it from its start"; return; }
		printf 'has it since %s (%.12s)\n' "$(release_of "$1" "$found")" "$found"
	else
		newer_content "$1" "$3"
	fi
}

# newer_content LTS COMMIT: the same by the files of that tree, where the queue has
# the patch; else a clone of the stable trees would know.
newer_content() (
	lts_known "$1" || { if stable_ref "$1" >/dev/null; then echo "lacks it"; else echo "is not known to have it"; fi; exit; }
	stable_ref "$1" >/dev/null || compgen -G "$KIT_CACHE/trees/$1.*" >/dev/null ||
		{ echo "is not known to have it"; exit; }
	SCRATCH='' ASKED=()
	trap '[ -z "$SCRATCH" ] || rm -rf -- "$SCRATCH"' EXIT
	lts_states "$1" >&2
	for i in "${!COMMIT[@]}"; do
		[ "${COMMIT[i]}" = "$2" ] || continue
		if [ "${STATE[i]-}" != "already there" ]; then
			echo "lacks it"
		elif [ "${FIRST[i]}" != none ]; then
			echo "has it since ${FIRST[i]}"
		else
			echo "has it"
		fi
		exit
	done
	if stable_ref "$1" >/dev/null; then echo "lacks it"; else echo "is not known to have it"; fi
)
