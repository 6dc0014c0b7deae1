#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# mutants.sh - would the proof notice if a part of a patch were missing or wrong?
#
# Usage: mutants.sh [--only RE] [--list] TREE RESULTS...
#
# RESULTS are folders that verify-build.sh made from TREE, for arm64 with gcc, and that
# passed, such as those below the --out folder of --class all. For each, every hunk of
# the patches in it is taken out by itself, and what tests/mutants/changes says is
# changed. A mutant is killed where it brings a new warning, where decides.sh finds
# it, or else where its kernel, booted in place of the patched one and judged against
# the same base, no longer passes, or does not boot. One that does not build, or makes
# the same kernel, is not counted. What survives must be in tests/mutants/survivors,
# with the reason.
#
#   --only RE   only mutants whose line matches
#   --list      print them, build nothing
#
# stdout: a line a mutant and folder, and the sums. TREE is only read. Takes 15 to 30
# minutes for each LTS, and a cold build first. Exit codes: 0 what survives is known; 1
# a mutant survives that is not; 2 usage, no mutant, or RESULTS that passed not or are
# of another tree; 6 the disk is full, QEMU fails, or the like.

. "$(dirname -- "$(readlink -f -- "$0")")/../scripts/lib/common.sh"
. "$KIT/scripts/lib/scratch.sh"
# shellcheck source=scripts/lib/sync.sh
. "$KIT/scripts/lib/sync.sh"
# shellcheck source=scripts/lib/build.sh
. "$KIT/scripts/lib/build.sh"
# shellcheck source=tests/queue-one.bash
. "$KIT/tests/queue-one.bash"

ONLY='' LIST='' DATA=$KIT/tests/mutants
declare -A FATE		# of each mutant: killed, survives, no-build, same, part
declare -A NO_KERNEL	# "OBJ: MUTANT" that no kernel can be made of there

infra() { die "$EX_INFRA" "$*"; }

parse_args() {
	while [ $# -gt 0 ]; do
		case $1 in
		-h | --help) usage 0 ;;
		--only) ONLY=${2-}; shift ;;
		--list) LIST=yes ;;
		-*) die "$EX_USAGE" "unknown option $1; see --help" ;;
		*) break ;;
		esac
		shift
	done
	[ $# -ge 2 ] || die "$EX_USAGE" "TREE and RESULTS are needed; see --help"
	TREE=$(readlink -f -- "$1")
	shift
	RESULTS=("$@")
	VERSION=$(tree_version "$TREE") || die "$EX_USAGE" "$TREE is no kernel tree"
	LTS=${VERSION%.*}
}

of() { jq -r "$1" "$R/results.json"; }

# folder R: whether R is something to judge mutants by.
folder() {
	R=$(readlink -f -- "$1")
	[ -f "$R/results.json" ] && [ -d "$R/consoles" ] || return
	[ "$(of .version)" = "$VERSION" ] || die "$EX_USAGE" "$R is of $(of .version), not of $VERSION as $TREE"
	[ "$(of .ok)" = true ] || die "$EX_USAGE" "$R did not pass, so nothing can be seen by it; leave it out"
	[ "$(of .reproducible)" = true ] && [ "$(of '.metrics | length')" -gt 0 ]
}

# mutants KEY: "PATCH<TAB>what<TAB>how" of those of the patches that KEY of R's results
# has; how is "hunk FILE N" or a file and a sed script.
mutants() {
	local name file n of rest
	of "$1" | tr , '\n' | grep '[.]patch$' | while read -r name; do
		"$KIT_BIN/kit-queue" hunks "$KIT_QUEUE/patches/$LTS/$name" | while read -r file n of rest; do
			printf '%s\twithout hunk %s of %s in %s\thunk %s %s\n' "$name" "$n" "$of" "$file" "$file" "$n"
		done
		awk -F '\t+' -v name="$name" '$1 == name { printf "%s\t%s\t%s\n", $1, $2, $3 }' "$DATA/changes"
	done | grep -E -- "${ONLY:-.}"
}

# prepare: SRC is the patched side of R, built in OBJ; its image must be R's. IN_SRC
# are the patches that it was given, LANDED those that TREE has.
prepare() {
	local names
	names=$({ of .patches_on_both_sides; of .named_patches; } | tr , '\n' | sort -u)
	OBJ=$WORK/obj-$(sha256sum <"$R/config" | cut -c1-8)
	mkdir -p "$OBJ" && tree_sync "$TREE" "$SRC" || infra "cannot copy $TREE to $SRC; is the disk full?"
	mapfile -t IN_SRC < <("$KIT_BIN/kit-queue" --queue "$KIT_QUEUE" list --class stable,distro,experimental,alternative "$LTS" |
		cut -f1 | grep -xF "$names")
	mapfile -t LANDED < <(landed_in "$LTS" "$VERSION")
	apply_in_turn "$LTS" "$SRC" "$WORK/apply" "${IN_SRC[@]}" >&2 || die "$EX_USAGE" "$TREE does not take the patches of $R"
	cmp -s "$R/config" "$OBJ/.config" || cp -- "$R/config" "$OBJ/.config" || infra "cannot write to $OBJ"
	# as verify-build.sh called it: the words after the first "=" may have blanks
	INSTRUMENT=$(grep -o 'CFLAGS_fair.o=.*instrument/[a-z0-9-]*[.]h' "$R/commands/make.txt" | sed 's/^[^=]*=//; s,\\,,g')
	if [ -n "$INSTRUMENT" ]; then
		mkdir -p "$WORK/instrument" && cp -- "$R"/*.h "$WORK/instrument/" || infra "cannot write to $WORK"
		INSTRUMENT=${INSTRUMENT//WORK\/instrument/$WORK/instrument}
	fi
	mapfile -t TOUCHED < <(grep '[.]patch$' <<<"$names" | while read -r names; do lsdiff --strip 1 "$KIT_QUEUE/patches/$LTS/$names"; done | sort -u)
	kernel_build "$OBJ" "$WORK/log" "${TOUCHED[@]}" || { tail -n 3 "$WORK/log" >&2; die "$EX_USAGE" "the patched kernel of $R does not build here"; }
	cp "$WORK/log" "$WORK/log.whole"
	cmp -s "$OBJ/$IMAGE" "$R/boot/patched.image" || die "$EX_USAGE" "$TREE and the queue do not make the patched kernel of $R any more; make $R again"
	! wrong_decisions || die "$EX_USAGE" "decides.sh finds fault with the source without a mutant: $(head -n 1 "$WORK/new")"
	rm -rf "$WORK/whole" && mkdir "$WORK/whole" && (cd "$SRC" && cp --parents -- "${TOUCHED[@]}" "$WORK/whole/") || infra "cannot write to $WORK"
}

# mutate PATCH HOW...: change SRC; fails where a hunk cannot be taken out.
mutate() {
	local name=$1 file
	shift
	if [ "$1" = hunk ]; then
		filterdiff -p1 -i "$2" --hunks="$3" "$KIT_QUEUE/patches/$LTS/$name" >"$WORK/hunk" && [ -s "$WORK/hunk" ] &&
			patch -R -p1 -s -f -F2 --no-backup-if-mismatch -r - -d "$SRC" <"$WORK/hunk" >/dev/null 2>&1
	else
		file=$1
		shift
		sed -i -E -- "$*" "$SRC/$file"
	fi
}

restore() { (cd "$WORK/whole" && find . -type f -exec cp -- {} "$SRC/{}" \;) || infra "cannot write to $SRC"; }

# boot_image IMAGE RUN: as R's patched kernel of that seed, but with IMAGE.
boot_image() {
	local run=$2 line nonce topology
	line=$(<"$R/commands/$run.sh")
	nonce=$(grep -o 'lab[.]nonce=[0-9a-f]*' <<<"$line" | cut -d= -f2)
	line=${line/boot\/patched.image/\"$1\"} line=exec\ ${line% <*}
	topology=$KIT/topologies/$(of .topology).topo
	[ ! -f "$R/${topology##*/}" ] || topology=$R/${topology##*/}
	(cd "$R" && "$KIT_BIN/kit-vmrun" --console "$B/$run.txt" --end-marker "end nonce=$nonce" \
		--first 20 --progress 80 --total 300 --scale 8 --stderr "$B/$run.stderr" \
		--status "$B/$run.status" -- bash -c "$line") </dev/null 2>>"$B/log"
	[[ $? == [04] ]] || : >"$B/no-machine"
	"$KIT_BIN/kit-console" --nonce "$nonce" --topology "$topology" \
		"$B/$run.txt" >"$B/$run.json" 2>"$B/$run.problems"
}

# does_not_come_up RUN: the mutant did not; that says something only where the kernel
# without one comes up here and now.
does_not_come_up() {
	[ -s "$B/$1.problems" ] || return
	SEEN="killed: does not come up: $(head -n 1 "$B/$1.problems" | cut -c1-150)"
	boot_image "$R/boot/patched.image" "$1"
	[ ! -f "$B/no-machine" ] && [ ! -s "$B/$1.problems" ] ||
		infra "the kernel of $R without a mutant does not come up either: $(head -qn 1 "$B/$1.problems" "$B/log" | head -n 1)"
}

# judge_runs FOLDER RUN...: 0 if the records of these in FOLDER pass, as R did.
judge_runs() {
	local f run args=() cpus from=$1
	shift
	cpus=$(grep -o 'lab[.]cpus=[^ \\]*' "$R/commands/patched-1.sh" | cut -d= -f2)
	for f in "$R"/records/base-*.json; do run=$(basename "$f" .json); args+=("base:${run#base-}:0:$f"); done
	for run; do args+=("patched:${run#patched-}:0:$from/$run.json"); done
	"$KIT_BIN/kit-judge" --scenario "$KIT/scenarios/$(of .scenario).scn" --topology "$(of .topology)" \
		--cpus "${cpus:-0}" --expect "$(of .expected)" --reproducible --out "$B" "${args[@]}" >"$B/judge" 2>&1
	case $? in
	0) ;;
	1) return 1 ;;
	*) infra "kit-judge cannot judge the records in $from: $(tail -n 1 "$B/judge")" ;;
	esac
}

# seen_by_boots: what the boots of R say of the mutant; sets SEEN. A few seeds
# first: most are found by these, where the kernel without a mutant passes with them.
seen_by_boots() {
	local runs run n
	B=$WORK/boots
	mapfile -t runs < <(cd "$R/commands" && basename -s .sh -a patched-*.sh | sort -V)
	for n in 2 ${#runs[@]}; do
		rm -rf "$B" && mkdir "$B" || infra "cannot write to $WORK"
		judge_runs "$R/records" "${runs[@]:0:n}" || { [ "$n" -ne ${#runs[@]} ] && continue; } ||
			die "$EX_USAGE" "$R did not pass by what the kit asks for now; make it again"
		for run in "${runs[@]:0:n}"; do
			while [ "$(jobs -rp | wc -l)" -ge 2 ]; do wait -n; done
			boot_image "$OBJ/$IMAGE" "$run" &
		done
		wait
		[ ! -f "$B/no-machine" ] || infra "QEMU failed: $(tail -n 1 "$B/log")"
		for run in "${runs[@]:0:n}"; do
			! does_not_come_up "$run" || return 0
		done
		judge_runs "$B" "${runs[@]:0:n}" || { SEEN="killed: $(grep -hm1 '^NOT OK' "$B/report.txt" || head -n 1 "$B/judge")"; return; }
		[ "$n" -lt ${#runs[@]} ] || break
	done
	SEEN=survives
}

# wrong_decisions: decides.sh finds some in SRC; what, is in $WORK/new. Where the
# functions do not compile on the host it says nothing.
wrong_decisions() {
	"$KIT/tests/decides.sh" --first "$SRC/kernel/sched/fair.c" "${IN_SRC[@]}" "${LANDED[@]}" >"$WORK/new" 2>&1
	case $? in
	0 | "$EX_USAGE" | "$EX_BUILD") return 1 ;;
	1) ;;
	*) infra "$(tail -n 1 "$WORK/new")" ;;
	esac
}

# one PATCH HOW: make that mutant, and set SEEN to what becomes of it.
one() {
	local how
	read -ra how <<<"$2"
	SEEN=
	if ! mutate "$1" "${how[@]}"; then
		SEEN="part: it cannot be taken out alone, a later patch lies on it"
	elif (cd "$SRC" && for f in "${TOUCHED[@]}"; do cmp -s "$f" "$WORK/whole/$f" || exit 1; done); then
		SEEN="part: the change finds nothing to change"
	elif ! kernel_build "$OBJ" "$WORK/log" "${TOUCHED[@]}"; then
		SEEN=$(build_trouble "$WORK/log") || [ $? -ne "$EX_INFRA" ] || infra "$SEEN"
		SEEN="no-build: ${SEEN:0:120}"
	elif cmp -s "$OBJ/$IMAGE" "$R/boot/patched.image"; then
		SEEN="same: the same kernel to the byte"
	elif ! new_warnings "$WORK/log.whole" "$WORK/log" "${TOUCHED[@]}" >"$WORK/new"; then
		SEEN="killed: new warning: $(head -n 1 "$WORK/new" | cut -c1-120)"
	elif wrong_decisions; then
		SEEN="killed: decides.sh: $(head -n 1 "$WORK/new" | cut -c1-120)"
	else
		seen_by_boots
	fi
	restore
}

# known MUTANT: the reason that tests/mutants/survivors has for it, or nothing.
known() { awk -F '\t+' -v lts="$LTS" -v m="$1" '$1 ~ "(^|,)" lts "(,|$)" && m ~ $2 { print $3; exit }' "$DATA/survivors"; }

say_sums() {
	local m kind why ret=0 n=0
	local -A count=() by=()
	for m in "${!FATE[@]}"; do
		kind=${FATE[$m]%%:*} n=$((n + 1))
		count[$kind]=$((${count[$kind]:-0} + 1))
		why=${FATE[$m]#*: } why=${why%%: *}
		by[$why]=$((${by["$why"]:-0} + 1))
	done
	[ "$n" -gt 0 ] || die "$EX_USAGE" "no mutant: the folders are about no patch, or --only matches none"
	printf '%s mutants of %s: %s killed (%s by decides.sh, %s by a new warning, the others by boots), %s survive; not counted: %s do not build, %s make the same kernel, %s cannot be made alone\n' \
		"$n" "$VERSION" "${count[killed]:-0}" "${by[decides.sh]:-0}" "${by[new warning]:-0}" "${count[survives]:-0}" "${count[no-build]:-0}" "${count[same]:-0}" "${count[part]:-0}"
	while read -r m; do
		[ -n "$m" ] && [ "${FATE[$m]}" = survives ] || continue
		why=$(known "$m")
		[ -n "$why" ] || ret=$EX_FAIL
		printf 'survives: %s: %s\n' "$m" "${why:-NOT KNOWN; sharpen a scenario, or say why in tests/mutants/survivors}"
	done < <(printf '%s\n' "${!FATE[@]}" | sort)
	return "$ret"
}

# by_use FOLDER...: first what is to see an improvement, and the quickest of these.
by_use() {
	local f
	for f; do
		[ ! -f "$f/results.json" ] ||
			jq -r --arg f "$f" '[if .expected == "improved" then 0 else 1 end, .times.boot // 0, $f] | @tsv' "$f/results.json"
	done | sort -n -k1,1 -k2,2 | cut -f3
}

# try KEY: each folder with the mutants of these patches; once killed is enough. Those
# of patches on both sides are tried where nothing has killed them yet.
try() {
	local f m name what how todo
	for f in "${RESULTS[@]}"; do
		folder "$f" || continue
		todo=$(mutants "$1" | while IFS=$'\t' read -r name what how; do
			m="${name%.patch}: $what"
			[ "$1" = .named_patches ] || [[ ${FATE[$m]-} == survives* ]] || continue
			[[ ${FATE[$m]-} == killed* ]] || printf '%s\t%s\t%s\n' "$name" "$what" "$how"
		done)
		[ -n "$todo" ] || continue
		if [ -n "$LIST" ]; then cut -f1,2 <<<"$todo" | sed "s/^/$(of .scenario)\t/"; continue; fi
		prepare
		while IFS=$'\t' read -r name what how <&3; do
			m="${name%.patch}: $what"
			[ -z "${NO_KERNEL["$OBJ: $m"]-}" ] || continue
			one "$name" "$how"
			[[ $SEEN != no-build* && $SEEN != same* ]] || NO_KERNEL["$OBJ: $m"]=yes
			# a folder that makes no kernel of it does not undo what another has said
			[[ -n ${FATE[$m]-} && $SEEN != killed* && $SEEN != survives* ]] || FATE[$m]=$SEEN
			echo "$(of .scenario): $m: $SEEN"
		done 3<<<"$todo"
	done
}

parse_args "$@"
mapfile -t RESULTS < <(by_use "${RESULTS[@]}")
[ ${#RESULTS[@]} -gt 0 ] || die "$EX_USAGE" "none of the RESULTS is a folder that verify-build.sh made"
kit_make tools
ARCH=arm64 CC_KIND=gcc
arch_setup
WORK=$KIT_CACHE/work/mutants-$VERSION SRC=$WORK/src
mkdir -p "$WORK" && exec 9>"$WORK/lock" && flock 9 || infra "cannot write to $WORK"
try .named_patches
try .patches_on_both_sides
[ -n "$LIST" ] || say_sums
