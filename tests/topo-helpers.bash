# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154,SC2034 # bats sets status, output and lines
# What the tests of kit-topo share.

setup_file() { build_tool kit-topo; }

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	# Line numbers below count in this file.
	cat >t.topo <<-'EOF'
		describe  two sockets of two nodes
		memory    256M
		threads   2
		cpus      16
		socket    0 nodes=0-1
		socket    1 nodes=2-3
		node      0 cpus=0-3 memory=64M
		node      1 cpus=4-7 memory=64M
		node      2 cpus=8-11 memory=64M
		node      3 cpus=12-15 memory=64M
		distance  same-socket=12 other-socket=28
		mask      m cpus=0-8 parents=0,3,5,8 monitor=15 expect=improved
	EOF
}

# refused LINE TEXT: t.topo is refused, and the message names LINE and TEXT,
# and what to do after a semicolon.
refused() {
	run "$KIT_BIN/kit-topo" check t.topo
	code 2
	[ "${#lines[@]}" -eq 1 ]
	has "kit-topo: t.topo:$1: "
	has "$2"
	has "; "
	# Nothing that would print from it may do so.
	run --separate-stderr "$KIT_BIN/kit-topo" qemu --arch arm64 t.topo
	code 2
	[ -z "$output" ]
}

# line N TEXT: replace line N of t.topo.
line() { sed -i "$1c\\$2" t.topo; }
