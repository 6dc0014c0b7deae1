#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# What can be said of the sources without running them.

load helpers

# files PATTERN...: the sources whose names match, below the checkout.
files() {
	local pattern
	for pattern; do
		find . -name "$pattern" -not -path './build/*' -not -path './.git/*'
	done
}

@test "every script passes shellcheck" {
	cd "$KIT"
	mapfile -t scripts < <(files '*.sh' '*.bash' run run-one)
	[ ${#scripts[@]} -gt 3 ]
	shellcheck -x "${scripts[@]}"
}

@test "every bats file passes shellcheck" {
	cd "$KIT"
	mapfile -t scripts < <(files '*.bats')
	[ ${#scripts[@]} -gt 0 ]
	# bats sets status and output, and the single quotes are for inner shells.
	shellcheck -x -S warning -e SC2154 "${scripts[@]}"
}

@test "the host tools build without a warning" {
	run make -C "$KIT" tools
	printf '%s\n' "$output"
	[ "$status" -eq 0 ]
	[[ $output != *warning:* ]]
}

@test "every tool and every script says how it is used" {
	make -s -C "$KIT" tools
	for f in "$KIT"/build/bin/* "$KIT"/scripts/*.sh "$KIT/scripts/lib/rerun.sh"; do
		run "$f" --help
		[ "$status" -eq 0 ] || { echo "$f --help: $status: $output"; false; }
		[[ ${output,,} == *"${f##*/} "* && ${#lines[@]} -gt 3 ]] ||
			{ echo "$f --help says only: $output"; false; }
	done
}

@test "every queue and series passes the lint" {
	run "$KIT/scripts/lint.sh"
	printf '%s\n' "$output"
	[ "$status" -eq 0 ]
}

@test "every script and C file begins with its licence" {
	cd "$KIT"
	mapfile -t all < <(files '*.sh' '*.bats' '*.bash' '*.c' '*.h' run run-one)
	[ ${#all[@]} -gt 5 ]
	run grep -L 'SPDX-License-Identifier: GPL-2.0-only' "${all[@]}"
	[ -z "$output" ]
}

@test "no source file is much longer than 400 lines" {
	cd "$KIT"
	mapfile -t all < <(files '*.sh' '*.c' '*.h' '*.mk' '*.bash')
	[ ${#all[@]} -gt 5 ]
	for f in "${all[@]}"; do
		[ "$(wc -l <"$f")" -le 420 ] || { echo "$f: $(wc -l <"$f") lines"; false; }
	done
}
