#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# rerun.sh - boot the kernels of this results folder again, without building
#
# Usage: ./rerun.sh [RUN...]      (such as base-1; default all)
#
# Runs the commands in commands/ and compares each console with the one in
# consoles/ (identical where results.json says "reproducible": true).
# Needs QEMU only. Exit codes: 0 all identical, 1 some differ, 2 usage,
# 6 QEMU did not run.

cd -- "$(dirname -- "$(readlink -f -- "$0")")" || exit 6
[ $# -gt 0 ] || set -- $(cd commands && ls -- *.sh | sed 's/\.sh$//')
new=$(mktemp -d) || exit 6
trap 'rm -rf "$new"' EXIT
ret=0
for run; do
	[ -f "commands/$run.sh" ] || { echo "rerun.sh: no run '$run' in commands/" >&2; exit 2; }
	sed "s,>consoles/$run.txt\$,>\"$new/$run.txt\"," "commands/$run.sh" >"$new/$run.sh"
	new=$new bash "$new/$run.sh" || exit 6
	if cmp -s "consoles/$run.txt" "$new/$run.txt"; then
		echo "$run: identical"
	else
		echo "$run: differs"
		ret=1
	fi
done
exit $ret
