#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# scripts/lib/needs.sh: which patches apply.sh takes only together.
# shellcheck disable=SC2030,SC2031,SC2034 # each test is its own; needs.sh reads these

load helpers
load queue-helpers

setup() {
	. "$KIT/scripts/lib/needs.sh"
	NAME=(pair.patch limit.patch offline.patch stalled.patch other.patch instead.patch)
	NEEDS=(- "offline.patch stalled.patch" "limit.patch pair.patch" - - -)
	INSTEAD=(- - - - - "limit.patch stalled.patch")
	STATE=(applies applies applies applies applies applies)
	CHOSEN=('' '' '' '' '' '') THERE=() DETAIL=()
	REVERSE='' WITHOUT=''
}

# refused_are NAME...: just these are refused.
refused_are() {
	local i out=
	for i in "${!NAME[@]}"; do [ "${STATE[i]}" != refused ] || out+=" ${NAME[i]%.patch}"; done
	[ "${out# }" = "$*" ] || { echo "refused:$out, wanted: $*"; return 1; }
}

@test "a patch without its follow-ups is refused, and they are named" {
	CHOSEN[1]=1
	needs_check
	refused_are limit
	[[ ${DETAIL[1]} == "must not be in a tree without offline, stalled; "*"--without offline,stalled "* ]]
}

@test "one follow-up of two is not enough" {
	CHOSEN[0]=1 CHOSEN[1]=1 CHOSEN[2]=1
	needs_check
	refused_are limit
	[[ ${DETAIL[1]} == "must not be in a tree without stalled; "* ]]
}

@test "the whole chain comes in" {
	CHOSEN=(1 1 1 1 1 '')
	needs_check
	refused_are
}

@test "what is in the tree already counts" {
	STATE[0]="already there" STATE[2]="already there"
	CHOSEN=('' 1 '' 1 '' '')
	needs_check
	refused_are
}

@test "what is in the tree already is not refused afterwards" {
	STATE[1]="already there"
	CHOSEN[1]=1
	needs_check
	refused_are
}

@test "whoever leaves the follow-ups out by name gets the patch alone" {
	CHOSEN[1]=1
	for WITHOUT in offline,stalled stalled.patch,offline.patch other,stalled,offline; do
		needs_check
		refused_are
	done
	WITHOUT=offline
	needs_check
	refused_are limit
	[[ ${DETAIL[1]} == "must not be in a tree without stalled; "* ]]
}

@test "a name that only begins or ends like another does not count" {
	CHOSEN[1]=1 WITHOUT=offline2,xstalled,offline-stalled
	needs_check
	refused_are limit
	[[ ${DETAIL[1]} == "must not be in a tree without offline, stalled; "* ]]
}

@test "one that comes before in the series is needed just so" {
	STATE[1]="already there"
	CHOSEN[2]=1
	needs_check
	refused_are offline
	[[ ${DETAIL[2]} == "must not be in a tree without pair; "* ]]
}

@test "one that is asked for and conflicts fails the run by itself" {
	CHOSEN=(1 1 1 1 '' '') STATE[3]=conflict DETAIL[3]=why
	needs_check
	refused_are
	[ "${STATE[3]}" = conflict ]
	[ "${DETAIL[3]}" = why ]
}

@test "one that conflicts keeps its own reason" {
	CHOSEN[1]=1 STATE[1]=conflict DETAIL[1]=why
	needs_check
	refused_are
	[ "${DETAIL[1]}" = why ]
}

@test "taking a follow-up away is refused while the patch stays" {
	STATE=("already there" "already there" "already there" "already there" applies applies)
	REVERSE=yes CHOSEN[3]=1
	needs_check
	refused_are stalled
	[[ ${DETAIL[3]} == "must not be taken out while limit stays; "*"--without limit "* ]]
	STATE[3]="already there" WITHOUT=limit
	needs_check
	refused_are
}

@test "taking out all, or what is not there, is no matter" {
	STATE=("already there" "already there" "already there" "already there" applies applies)
	REVERSE=yes CHOSEN=('' 1 1 1 '' '')
	needs_check
	refused_are
	STATE[1]=applies CHOSEN=('' '' '' 1 '' '')
	needs_check
	refused_are
}

@test "an alternative and what it takes the place of do not go together" {
	CHOSEN[5]=1
	needs_check
	refused_are
	STATE[3]="already there" STATE[5]=conflict
	needs_check
	refused_are instead
	[[ ${DETAIL[5]} == "does not go together with stalled, which is in the tree; "* ]]
	STATE[3]=applies STATE[5]=applies CHOSEN[3]=1
	needs_check
	refused_are stalled instead
	[[ ${DETAIL[5]} == *"which is asked for too; leave one out" ]]
	[[ ${DETAIL[3]} == "does not go together with instead, which is asked for too; leave one out" ]]
}

@test "what an alternative in the tree has the place of is refused" {
	STATE[5]=conflict THERE[5]=1 CHOSEN[3]=1
	needs_check
	refused_are stalled
	[[ ${DETAIL[3]} == "does not go together with instead, which is in the tree; "* ]]
}

# a_chain: the three patches, of which one.patch needs the other two.
a_chain() {
	three_patches
	sed -i 's/^Kit-Class: .*/&\nKit-Needs: two.patch, three.patch/' "$KIT_QUEUE/patches/6.12/one.patch"
}

@test "apply.sh refuses a patch without its follow-ups, changes nothing, and takes all of them" {
	a_chain
	before=$(full_sum "$T")
	run "$APPLY" --only one 6.12 "$T"
	fails_with 1 "one.patch: refused: must not be in a tree without two, three; "
	[ "$(full_sum "$T")" = "$before" ]
	run "$APPLY" --only one,two --check --json 6.12 "$T"
	[ "$status" -eq 1 ]
	[ "$(full_sum "$T")" = "$before" ]
	run "$APPLY" 6.12 "$T"
	[ "$status" -eq 0 ]
	same "$T" "$AFTER"
}

@test "apply.sh --without builds the queue less a follow-up, and takes a follow-up out" {
	a_chain
	run "$APPLY" --without three 6.12 "$T"
	[ "$status" -eq 0 ]
	[[ $output == *"applied 2, already there 0"* ]]
	run "$APPLY" 6.12 "$T"
	[ "$status" -eq 0 ]
	same "$T" "$AFTER"
	run "$APPLY" --reverse --only three 6.12 "$T"
	fails_with 1 "three.patch: refused: must not be taken out while one stays; "
	same "$T" "$AFTER"
	run "$APPLY" --reverse --only three --without one 6.12 "$T"
	[ "$status" -eq 0 ]
	run "$APPLY" --reverse 6.12 "$T"
	[ "$status" -eq 0 ]
	[[ $output == *"reversed 2, not there 1"* ]]
}

@test "apply.sh says what is not upstream, and takes an alternative only by its class" {
	three_patches
	edited "$AFTER" e 's/fair10/fair10_exp/'
	new_patch exp.patch experimental "$AFTER" "$EDITED"
	edited "$AFTER" a 's/fair10/fair10_alt/'
	cat "$KIT_QUEUE/series/6.12.stable" >"$KIT_QUEUE/series/6.12.alternative"
	new_patch alt.patch alternative "$AFTER" "$EDITED"
	sed -i 's/^Kit-Class: .*/&\nKit-Instead-Of: exp.patch/' "$KIT_QUEUE/patches/6.12/alt.patch"
	run "$APPLY" --class all 6.12 "$T"
	[ "$status" -eq 0 ]
	[[ $output == *"exp.patch was never merged upstream"* ]]
	[[ $output == *"applied 4, "* ]]
	run "$APPLY" --class alternative 6.12 "$T"
	fails_with 1 "alt.patch: refused: does not go together with exp, which is in the tree; "
	run "$APPLY" --class experimental --reverse 6.12 "$T"
	[ "$status" -eq 0 ]
	run "$APPLY" --class experimental,alternative 6.12 "$T"
	fails_with 1 "alt.patch: refused: does not go together with exp, which is asked for too; "
	run "$APPLY" --class alternative 6.12 "$T"
	[ "$status" -eq 0 ]
	[[ $output == *"alt.patch was never merged upstream"* ]]
	run "$APPLY" --class experimental 6.12 "$T"
	fails_with 1 "exp.patch: refused: does not go together with alt, which is in the tree; "
}
