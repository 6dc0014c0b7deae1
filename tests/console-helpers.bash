# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154,SC2034 # bats sets status, output and lines
# What the tests of kit-console share.

GOLDEN=$BATS_TEST_DIRNAME/golden/consoles

setup_file() { build_tool kit-console; }

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	cp "$GOLDEN/clean.txt" con
}

# console [ARG...]: kit-console on con, which came from the golden "clean";
# stdout to json, stderr to $output.
console() {
	run bash -c '"$KIT_BIN/kit-console" --nonce golden-clean "$@" con 2>&1 >json' sh "$@"
}
on_pair() { console --topology "$KIT/topologies/pair.topo"; }

# problems: KIND LINE of each problem.
problems() { jq -r '.problems[] | "\(.kind) \(.line)"' json; }

# finds TEXT: exactly these problems, "KIND LINE" on a line each, and exit 4.
finds() {
	[ "$(problems)" = "$1" ] || { echo "wanted: $1"; echo "got: $(problems)"; cat json; return 1; }
	code 4
}

# line_of TEXT [FILE]: the number of the first line with TEXT.
line_of() { grep -n -m1 -F -- "$1" "${2:-con}" | cut -d: -f1; }

# edit SED-SCRIPT: change con, and be sure that it changed.
edit() {
	cp con before && sed -i "$1" con
	! cmp -s before con || { echo "the edit '$1' changed nothing"; return 1; }
}

# differs WHAT ASKED GOT: there is a topology problem that names all three.
differs() {
	jq -e --arg t "$1: asked for $2, got $3" \
		'any(.problems[]; .kind == "topology" and .text == $t)' json >/dev/null ||
		{ printf 'wanted: %s: asked for %s, got %s\n' "$1" "$2" "$3"; jq .problems json; return 1; }
	code 4
	has "topology: $1: asked for $2, got $3"
}

# golden NAME: the console has exactly the problems and the exit code that its
# .expect file says.
golden() {
	local nonce topology want
	nonce=$(awk '$1 == "nonce" { print $2 }' "$GOLDEN/$1.expect")
	topology=$(awk '$1 == "topology" { print $2 }' "$GOLDEN/$1.expect")
	run "$KIT_BIN/kit-console" --nonce "$nonce" \
		--topology "$KIT/topologies/$topology.topo" "$GOLDEN/$1.txt"
	"$KIT_BIN/kit-console" --nonce "$nonce" --topology "$KIT/topologies/$topology.topo" \
		"$GOLDEN/$1.txt" >json 2>/dev/null || :
	want=$(tail -n +4 "$GOLDEN/$1.expect")
	[ "$(problems)" = "$want" ] || { printf 'wanted:\n%s\ngot:\n%s\n' "$want" "$(problems)"; return 1; }
	code "$(awk '$1 == "exit" { print $2 }' "$GOLDEN/$1.expect")"
}

# at NAME KIND TEXT: TEXT stands in the golden console, and the problem KIND is
# expected at that very line: an .expect file is not taken on trust.
at() { grep -qx "$2 $(line_of "$3" "$GOLDEN/$1.txt")" "$GOLDEN/$1.expect"; }
