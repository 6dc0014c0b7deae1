# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# queue -> images: which patches base and patched differ by, and the way from one
# to the other, patch by patch. Needs common.sh, build.sh, progress.sh and
# results.sh; all its variables are verify-build.sh's.

ALL_CLASSES=stable,distro,experimental,alternative,landed

# What kit-queue says of each patch, by its name; ORDER has them in that of the
# series.
declare -A Q_CLASS Q_FILES Q_NEEDS Q_INSTEAD

queue_read() {
	local list name class files needs instead
	list=$("$KIT_BIN/kit-queue" --queue "$KIT_QUEUE" list --class "$ALL_CLASSES" "$LTS") || exit
	ORDER=()
	while IFS=$'\t' read -r name _ _ _ class files _ needs instead; do
		[ -n "$name" ] || continue # an empty queue
		ORDER+=("$name") Q_CLASS[$name]=$class Q_FILES[$name]=$files
		Q_NEEDS[$name]=${needs#-} Q_INSTEAD[$name]=${instead#-}
	done <<<"$list"
}

# queue_names: NAMED, the patches that the scenario is about, and OTHERS, which
# are on both sides: those of the asked-for classes, and what the named ones need.
# LANDED has those of the named that are in every tree of LTS already, and TOUCHED
# the files of all. Without --class it is what lies below the named.
queue_names() {
	local name asked=,${SC[patches]}, need
	queue_read
	names_known
	[ -n "$CLASS" ] || CLASS=$(classes_below)
	[ "$asked" != ,, ] || asked=,$(names_of_class),
	need=$(needed "$asked")
	NAMED=() OTHERS=() LANDED=() TOUCHED=(kernel/sched/fair.c)
	for name in "${ORDER[@]}"; do
		if [[ $asked == *",$name,"* ]]; then
			NAMED+=("$name")
			[ "${Q_CLASS[$name]}" != landed ] || LANDED+=("$name")
		elif on_both_sides "$name" "$need"; then
			OTHERS+=("$name")
		else
			continue
		fi
		# shellcheck disable=SC2206 # files are separated by blanks
		TOUCHED+=(${Q_FILES[$name]})
	done
	mapfile -t TOUCHED < <(printf '%s\n' "${TOUCHED[@]}" | sort -u)
	names_make_sense
}

# names_known: what the scenario is about is in the queue.
names_known() {
	local name
	[ "${SC[patches]}" != none ] || return 0
	for name in ${SC[patches]//,/ }; do
		[ -z "${Q_CLASS[$name]-}" ] || continue
		[ -z "$WITHOUT" ] || die "$EX_USAGE" "--without: the queue of $LTS has no $name"
		die "$EX_USAGE" "$SCENARIO_FILE is about $name, which the queue of $LTS does not have; give another --scenario"
	done
}

# classes_below: what else is in a tree that takes the named patches.
classes_below() {
	local name
	for name in ${SC[patches]//,/ }; do
		case ${Q_CLASS[$name]-} in
		distro | experimental) echo stable,distro; return ;;
		esac
	done
	echo stable
}

names_of_class() {
	local name list=()
	for name in "${ORDER[@]}"; do [[ ,$CLASS, != *",${Q_CLASS[$name]},"* ]] || list+=("$name"); done
	join "${list[@]}"
}

# needed LIST: what the patches of LIST need, and these, and so on; commas around.
needed() {
	local todo=${1//,/ } name other more found=,
	while [ -n "${todo// /}" ]; do
		more=
		for name in $todo; do
			for other in ${Q_NEEDS[$name]-}; do
				[[ $found == *",$other,"* ]] || { found+=$other,; more+=" $other"; }
			done
		done
		todo=$more
	done
	printf '%s\n' "$found"
}

# on_both_sides NAME NEED: it is of an asked-for class, or in the list NEED, and
# does not exclude one of those that the scenario names.
on_both_sides() {
	local name
	[ "${Q_CLASS[$1]}" != landed ] || return
	[[ ,$CLASS, == *",${Q_CLASS[$1]},"* || $2 == *",$1,"* ]] || return
	for name in ${SC[patches]//,/ }; do
		[[ " ${Q_INSTEAD[$name]-} " != *" $1 "* && " ${Q_INSTEAD[$1]} " != *" $name "* ]] || return
	done
}

names_make_sense() {
	if [ ${#LANDED[@]} -gt 0 ] && [ ${#LANDED[@]} -ne ${#NAMED[@]} ]; then
		die "$EX_USAGE" "some of $(join "${NAMED[@]}") have landed in $LTS and some have not; give a scenario for each"
	fi
	[ ${#NAMED[@]} -gt 0 ] || [ "${SC[patches]}" = none ] ||
		die "$EX_USAGE" "no patch to verify: the classes $CLASS of $LTS are empty; give another --class"
}

join() { local IFS=,; printf '%s\n' "$*"; }

# queue_json [ARG...]: what apply.sh says about the queue on SRC, unchanged.
queue_json() { "$KIT/scripts/apply.sh" --method patch --check --json "$@" "$LTS" "$SRC"; }

# queue_apply ARG...: change SRC; all that apply.sh says goes to the log, and what
# it says of a failure (which hunk, in which file) also to stderr.
queue_apply() {
	local code=0 said=$TMP/apply.said
	"$KIT/scripts/apply.sh" --method patch "$@" "$LTS" "$SRC" >>"$TMP/logs/apply.txt" 2>"$said" || code=$?
	cat "$said" >>"$TMP/logs/apply.txt"
	[ "$code" -eq 0 ] || cat "$said" >&2
	rm -f "$said"
	[ "$code" -ne 0 ] || return 0
	[ "$code" -eq "$EX_FAIL" ] || fail "$code" "apply.sh failed on $VERSION; see above"
	fail "$EX_FAIL" "the queue does not apply to $VERSION in this order, $(join "${OTHERS[@]}" "${NAMED[@]}"); see above, and name fewer classes if a later patch needs an earlier one"
}

# APPLIED: the classes that apply.sh brings in here.
APPLIED=stable,distro,experimental,alternative

# queue_apply_one NAME: bring in just that patch; what it needs comes later, or
# is left out on purpose.
queue_apply_one() {
	local name rest=()
	for name in "${OTHERS[@]}" "${NAMED[@]}"; do
		[ "$name" = "$1" ] || [ "${Q_CLASS[$name]}" = landed ] || rest+=("$name")
	done
	queue_apply --class "$APPLIED" --only "$1" ${rest[0]:+--without "$(join "${rest[@]}")"}
}

# landed_out: take out what has landed and is named; others that need it stay.
landed_out() {
	local rest
	rest=$("$KIT_BIN/kit-queue" --queue "$KIT_QUEUE" list --class landed "$LTS" | cut -f1 |
		grep -vxF "$(printf '%s\n' "${LANDED[@]}")" | paste -sd ,)
	queue_apply --class landed --reverse --only "$(join "${LANDED[@]}")" ${rest:+--without "$rest"}
}

# queue_walk: build the base, and patch by patch up to the patched kernel. With
# landed patches it is the other way round: the tree has them, base has not.
queue_walk() {
	local name
	instrument base
	[ ${#LANDED[@]} -gt 0 ] || base_of_named
	build_step tree "the tree without the queue"
	below
	if [ ${#LANDED[@]} -gt 0 ]; then
		instrument patched
		build_step patched "the tree with what has landed"
		save_image patched
		instrument base
		BASE_HOW="the tree with $(join "${LANDED[@]}") taken out: every $LTS from its first release on has them"
		note "base is $BASE_HOW"
		landed_out
		build_step base "without what has landed"
		save_image base
	else
		save_image base
		instrument patched
		walk "${NAMED[@]}"
		[ ${#NAMED[@]} -gt 0 ] || build_step patched "the same source, with ${SC[instrument.patched]:-no instrument}"
		save_image patched
	fi
	! cmp -s "$TMP/boot/base.image" "$TMP/boot/patched.image" ||
		fail "$EX_FAIL" "base and patched are the same kernel to the byte: the patches change nothing, so there is nothing to compare"
}

# base_of_named: take out of SRC those of the named that are there already. Sets
# BASE_HOW.
base_of_named() {
	local json code landed
	BASE_HOW="the tree as it is"
	[ ${#NAMED[@]} -gt 0 ] || { note "base is $BASE_HOW"; return; }
	json=$(queue_json --class "$APPLIED" --only "$(join "${NAMED[@]}")" ${OTHERS[0]:+--without "$(join "${OTHERS[@]}")"} 2>"$TMP/logs/base.txt")
	code=$?
	# A conflict may be for want of the others; if not, queue_apply tells it.
	[ "$code" -eq "$EX_FAIL" ] || cat "$TMP/logs/base.txt" >&2
	[ "$code" -le "$EX_FAIL" ] || fail "$code" "apply.sh failed on $VERSION; see above"
	landed=$(jq '[.patches[] | select(.state == "already there")] | length' <<<"$json") ||
		fail "$EX_INFRA" "what apply.sh says of $VERSION cannot be read"
	if [ "$landed" -gt 0 ]; then
		BASE_HOW="the tree with $landed of ${#NAMED[@]} named patches taken out: $VERSION has them already"
		queue_apply --class "$APPLIED" --reverse --only "$(join "${NAMED[@]}")" ${OTHERS[0]:+--without "$(join "${OTHERS[@]}")"}
	fi
	note "base is $BASE_HOW"
}

# below: bring in what is on both sides. The scenario is not about it, so it is
# built as one, unless --each asks for more; with landed patches patched is that build.
below() {
	local rest=() name
	[ ${#OTHERS[@]} -gt 0 ] || return 0
	[ -z "$EACH" ] || { walk "${OTHERS[@]}"; return; }
	for name in "${NAMED[@]}"; do [ "${Q_CLASS[$name]}" = landed ] || rest+=("$name"); done
	queue_apply --class "$APPLIED" --only "$(join "${OTHERS[@]}")" ${rest[0]:+--without "$(join "${rest[@]}")"}
	[ ${#LANDED[@]} -gt 0 ] || build_step below "with $(join "${OTHERS[@]}")"
}

# walk NAME...: each comes in and is built, on top of what there is.
walk() {
	local name
	for name; do
		queue_apply_one "$name"
		build_step "${name%.patch}" "with $name"
		[ -z "$EACH" ] || save_image "each-${name%.patch}"
	done
}

# instrument SIDE: compile the scenario's header for that side into fair.o. It is
# copied to the work folder, so that objects do not hang on where the kit lies.
instrument() {
	local header=${SC[instrument.$1]%%:*} define=${SC[instrument.$1]#*:}
	INSTRUMENT=
	[ -n "$header" ] || return 0
	[ "$define" != "$header" ] || define=
	mkdir -p "$WORK/instrument" || fail "$EX_INFRA" "cannot make $WORK/instrument"
	cmp -s "$KIT/lab/kernel/$header.h" "$WORK/instrument/$header.h" ||
		cp -- "$KIT/lab/kernel/$header.h" "$WORK/instrument/" ||
		fail "$EX_INFRA" "cannot write to $WORK/instrument; is the disk full?"
	# shellcheck disable=SC2034 # for kernel_command
	INSTRUMENT="${define:+-D$define }-include $WORK/instrument/$header.h"
}

# build_step KEY TEXT: build SRC as it is now; the first one is the base for
# the warnings of all that follow.
build_step() {
	local log=$TMP/logs/build-$1.txt what=$2 why code
	if ! step "building $ARCH, $what" "build_$1" kernel_build "$OBJ" "$log" "${TOUCHED[@]}"; then
		why=$(build_trouble "$log")
		code=$?
		[ "$1" != tree ] || what="the base itself, without any patch of the queue,"
		fail "$code" "$what does not build: $why"
	fi
	if [ "$1" = tree ]; then
		BASE_LOG=$log
		return
	fi
	why=$(new_warnings "$BASE_LOG" "$log" "${TOUCHED[@]}") ||
		fail "$EX_BUILD" "new warning $what: $why"
}

save_image() {
	cp "$OBJ/$IMAGE" "$TMP/boot/$1.image" || fail "$EX_INFRA" "cannot save the $1 image"
}
