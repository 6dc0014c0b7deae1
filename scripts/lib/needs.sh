# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Which patches belong together: what Kit-Needs and Kit-Instead-Of of their
# headers say, held against what a run of apply.sh would leave in the tree.
#
# Used with the arrays that apply.sh fills, one element a patch in the order of
# the series: NAME, CHOSEN (empty for one that was not asked for), STATE and
# THERE (of scratch.sh), and NEEDS and INSTEAD, the last two columns of kit-queue
# list: names with blanks between, or "-". REVERSE and WITHOUT are what the user
# said.

# needs_check: after find_states, before anything is decided by STATE. Sets
# STATE "refused", and DETAIL to the reason, for each chosen patch that would
# be in the tree without one it needs (or, with REVERSE, be taken away from one
# that needs it), or together with one whose place it takes. Who names the
# other with --without wants it so, for measuring.
needs_check() {
	local i why
	local -A refused=()
	for i in "${!NAME[@]}"; do
		[ -n "${CHOSEN[i]}" ] || continue
		if [ -n "${REVERSE-}" ]; then
			[ "${STATE[i]}" = "already there" ] || continue
			why=$(needs_left "${NAME[i]}")
		else
			[ "${STATE[i]}" != "already there" ] || continue
			why=$(needs_place "$i")
			[ -n "$why" ] || [ "${STATE[i]}" != applies ] || why=$(needs_missing "$i")
		fi
		[ -z "$why" ] || refused[$i]=$why
	done
	for i in "${!refused[@]}"; do
		# shellcheck disable=SC2034 # for apply.sh
		STATE[i]=refused DETAIL[i]=${refused[$i]}
	done
}

# needs_missing I: why patch I cannot come in, for lack of others; or nothing.
needs_missing() {
	local name list=
	for name in ${NEEDS[$1]}; do
		[ "$name" != - ] && ! needs_asked "$name" && ! needs_there "$name" &&
			! needs_waived "$name" && list+=,${name%.patch}
	done
	list=${list#,}
	[ -z "$list" ] ||
		printf 'must not be in a tree without %s; ask for that too (--class, --only), or say --without %s to measure what it does\n' \
			"${list//,/, }" "$list"
}

# needs_left NAME: why NAME cannot be taken out, for those that stay; or nothing.
needs_left() {
	local i list=
	for i in "${!NAME[@]}"; do
		[[ " ${NEEDS[i]} " == *" $1 "* ]] && [ -z "${CHOSEN[i]}" ] &&
			[ "${STATE[i]}" = "already there" ] && ! needs_waived "${NAME[i]}" &&
			list+=,${NAME[i]%.patch}
	done
	list=${list#,}
	[ -z "$list" ] ||
		printf 'must not be taken out while %s stays; take out that too (--class, --only), or say --without %s to measure what it does\n' \
			"${list//,/, }" "$list"
}

# needs_place I: which other patch has the place of patch I, or nothing.
needs_place() {
	local i
	for i in "${!NAME[@]}"; do
		[[ " ${INSTEAD[$1]} " == *" ${NAME[i]} "* || " ${INSTEAD[i]} " == *" ${NAME[$1]} "* ]] || continue
		# It can be there and a conflict, for the lines that patch I takes.
		if [ "${STATE[i]}" = "already there" ] || [ -n "${THERE[i]-}" ]; then
			printf 'does not go together with %s, which is in the tree; take that out first (--reverse)\n' "${NAME[i]%.patch}"
			return
		elif [ -n "${CHOSEN[i]}" ]; then
			printf 'does not go together with %s, which is asked for too; leave one out\n' "${NAME[i]%.patch}"
			return
		fi
	done
}

needs_waived() {
	local list=,${WITHOUT-},
	[[ ${list//.patch,/,} == *",${1%.patch},"* ]]
}

needs_index() {
	local i
	for i in "${!NAME[@]}"; do
		[ "${NAME[i]}" != "$1" ] || { printf '%s\n' "$i"; return; }
	done
	return 1
}

# One that is asked for and cannot come in fails the run by itself.
needs_asked() {
	local i
	i=$(needs_index "$1") && [ -n "${CHOSEN[i]}" ]
}

needs_there() {
	local i
	i=$(needs_index "$1") && [ "${STATE[i]}" = "already there" ]
}
