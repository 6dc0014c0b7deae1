# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# For tools that build a queue step by step. Load it after common.sh.

# apply_in_turn LTS SRC LOG NAME...: bring the patches into SRC one by one, each
# without regard to what it needs. After each, step_done NAME is called where there
# is such a function; it fails with that. Prints what apply.sh said where it failed.
apply_in_turn() {
	local lts=$1 src=$2 log=$3 name rest
	shift 3
	for name; do
		rest=$(printf '%s\n' "$@" | grep -vxF "$name" | paste -sd ,)
		"$KIT/scripts/apply.sh" --method patch --class stable,distro,experimental,alternative --only "$name" \
			${rest:+--without "$rest"} "$lts" "$src" >"$log" 2>&1 ||
			{ echo "$name does not apply: $(tail -n 1 "$log")"; return 1; }
		[ "$(type -t step_done)" != function ] || step_done "$name" || return
	done
}

# landed_in LTS VERSION: the patches of the queue that this point release has.
landed_in() {
	local name since
	"$KIT_BIN/kit-queue" --queue "$KIT_QUEUE" list --class landed "$1" | cut -f1,4 | while read -r name since; do
		[ "$(printf '%s\n' "$since" "$2" | sort -V | head -n 1)" != "$since" ] || echo "$name"
	done
}
