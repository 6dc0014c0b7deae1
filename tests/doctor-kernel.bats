#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# doctor.sh: versions against the kernels' minimums, and compilers that are
# known to fail (case 23).

load helpers
load doctor-helpers

# tree VERSION: a kernel tree at $TREE with a min-tool-version.sh.
tree() {
	TREE=$BATS_TEST_TMPDIR/tree
	make_tree "$1" "$TREE"
	mkdir -p "$TREE/scripts" "$TREE/arch/x86/boot/compressed"
	printf '%s\n' 'case $1:$SRCARCH in gcc:x86) echo 13.1.0 ;; gcc:*) echo 6.0.0 ;;' \
		'binutils:*) echo 2.30 ;; *) exit 1 ;; esac' >"$TREE/scripts/min-tool-version.sh"
	echo 'KBUILD_CFLAGS := -m64 -std=gnu11' >"$TREE/arch/x86/boot/compressed/Makefile"
}

@test "a compiler that is too old is named with the kernels that it is too old for" {
	compiler aarch64-linux-gnu-gcc 7.5.0
	doctor --quiet --arch arm64
	[ "$status" -eq 5 ]
	row "too old" aarch64-linux-gnu-gcc "is 7.5.0, Linux 6.18 builds with 8.1.0 or later"
	[[ $output != *"6.12 builds"* ]]
	doctor --lts 6.18 --arch arm64 --for build
	[ "$status" -eq 5 ]
	doctor --lts 6.12 --arch arm64 --for build
	[ "$status" -eq 0 ]
}

@test "tools other than the compiler have their minimums too, by kernel" {
	stub "$HOST" ld 'echo "GNU ld (GNU Binutils) 2.29.1"'
	stub "$HOST" bc 'echo "bc 1.06"'
	stub "$HOST" python3 'echo "Python 3.8.1"'
	doctor --for build --arch x86_64
	[ "$status" -eq 5 ]
	row "too old" ld "Linux 6.18 builds with 2.30.0"
	row "too old" bc "Linux 6.1 builds with 1.06.95"
	row note python3 "Linux 6.18 builds with 3.9"
}

@test "with clang it is clang's minimum that counts" {
	stub "$HOST" clang 'echo "clang version 14.0.6"'
	stub "$HOST" ld.lld 'echo 99.9'
	stub "$HOST" llvm-ar 'echo 99.9'
	compiler gcc 4.9.0
	doctor --quiet --for build --cc clang --arch x86_64
	[ "$status" -eq 5 ]
	row "too old" clang "Linux 6.18 builds with 15.0.0"
	[[ $output != *gcc* ]]
}

@test "a tree is asked itself what it builds with, for each architecture" {
	tree 6.12.95
	doctor --quiet --for build --tree "$TREE"
	[ "$status" -eq 5 ]
	row "too old" gcc "is 12.2.0, Linux 6.12 builds with 13.1.0"
	[[ $output != *aarch64* ]]
	doctor --for build --tree "$TREE" --arch arm64
	[ "$status" -eq 0 ]
	row ok "aarch64-linux-gnu-gcc for Linux 6.12" 6.0.0
	row ok "make for Linux 6.12" 4.0
	rm "$TREE/scripts/min-tool-version.sh"
	doctor --for build --tree "$TREE"
	[ "$status" -eq 0 ]
	row ok "gcc for Linux 6.12" 5.1.0
}

@test "the table of minimums says what the trees themselves say" {
	use_real_cache
	found=0
	for tree in "$KIT_CACHE"/trees/*/; do
		[ -f "$tree/scripts/min-tool-version.sh" ] || continue
		lts=$(basename "$tree")
		lts=${lts%.*}
		for tool in gcc llvm binutils; do
			want=$(SRCARCH=x86 sh "$tree/scripts/min-tool-version.sh" "$tool")
			got=$(awk -v lts="$lts" -v tool="$tool" '$1 == "lts" { for (i = 3; i <= NF; i++) if ($i == lts) c = i }
				$1 == tool && c { print $c }' "$KIT/configs/host-minimums")
			echo "$lts $tool: $want, $got"
			[ -z "$got" ] || [ "$want" = "$got" ]
		done
		found=$((found + 1))
	done
	[ "$found" -gt 0 ] || skip "no tree in the cache folder"
}

@test "gcc 15 with a tree that predates it is named as a problem of the base" {
	tree 6.12.20
	rm "$TREE/scripts/min-tool-version.sh"
	echo 'KBUILD_CFLAGS := -m64' >"$TREE/arch/x86/boot/compressed/Makefile"
	doctor --for build --tree "$TREE"
	[ "$status" -eq 0 ]
	compiler gcc 15.1.0
	doctor --quiet --for build --tree "$TREE"
	[ "$status" -eq 5 ]
	row trouble gcc "with or without the patches (arch/x86/boot/compressed/Makefile lacks -std=gnu)"
	row trouble gcc "\"cannot use keyword 'false' as enumeration constant\""
	row trouble gcc "use gcc 14"
	doctor --for build --tree "$TREE" --arch arm64
	[ "$status" -eq 0 ]
	echo 'KBUILD_CFLAGS := -m64 -std=gnu11' >"$TREE/arch/x86/boot/compressed/Makefile"
	doctor --for build --tree "$TREE"
	[ "$status" -eq 0 ]
	doctor --for build
	[ "$status" -eq 0 ]
	row note gcc "some trees do not build with it; --tree DIR tells of one"
}
