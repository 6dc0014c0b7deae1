#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Topology files: every fault is named with its line, and QEMU is told right.

load helpers
load lab-helpers
load topo-helpers

@test "the file that the faults below are made from is right" {
	run "$KIT_BIN/kit-topo" check t.topo
	code 0
	[ -z "$output" ]
}

@test "every topology of the kit is right for arm64" {
	for f in "$KIT"/topologies/*.topo; do
		run "$KIT_BIN/kit-topo" check --arch arm64 "$f"
		code 0
	done
}

@test "memory that is not the sum of the nodes is refused" {
	line 2 "memory 512M"
	refused 2 "memory is 512M, but the nodes have 256M"
}

@test "a node too small for the kernel is refused" {
	line 7 "node 0 cpus=0-3 memory=8M"
	refused 7 "node 0 has 8M"
}

@test "a node that ends inside of a block of the page allocator is refused" {
	line 7 "node 0 cpus=0-3 memory=65M"
	refused 7 "multiple of 4M"
}

@test "a node may have no memory, but not all of them" {
	line 2 "memory 192M"
	line 10 "node 3 cpus=12-15 memory=0M"
	run "$KIT_BIN/kit-topo" check t.topo
	code 0
	for n in 0 1 2; do line $((7 + n)) "node $n cpus=$((4 * n))-$((4 * n + 3)) memory=0M"; done
	line 2 "memory 0M"
	refused 2 "no node has memory"
}

@test "a size without unit is refused" {
	line 2 "memory 256"
	refused 2 "such as 64M"
}

@test "a size too large to hold is refused" {
	line 2 "memory 99999999999999999999G"
	refused 2 "such as 64M"
}

@test "a CPU in no node is refused" {
	line 10 "node 3 cpus=12-13 memory=64M"
	refused 4 "CPU 14 is in no node"
}

@test "a CPU in two nodes is refused" {
	line 8 "node 1 cpus=2-7 memory=64M"
	refused 8 "CPU 2 is in node 0 too (line 7)"
}

@test "a CPU beyond the last one is refused" {
	line 10 "node 3 cpus=12-16 memory=64M"
	refused 10 "CPU 16 of node 3 is outside"
}

@test "a node without CPUs is refused" {
	line 10 "node 3 cpus= memory=64M"
	refused 10 "the list is empty"
}

@test "SMT siblings on two nodes are refused" {
	line 7 "node 0 cpus=0-2 memory=64M"
	line 8 "node 1 cpus=3-7 memory=64M"
	refused 8 "CPUs 2 and 3 are threads of one core, but on nodes 0 and 1"
}

@test "a number of CPUs that makes no whole cores is refused" {
	line 4 "cpus 15"
	refused 4 "15 CPUs are no whole number of cores of 2 threads"
}

@test "zero threads are refused" {
	line 3 "threads 0"
	refused 3 "from 1 to 8"
}

@test "a missing distance is refused" {
	line 11 "distance same-socket=12"
	refused 11 "no distance from node 0 to 2"
}

@test "a file without any distance is refused at its end" {
	sed -i 11d t.topo
	refused 11 "no distance from node 0 to 1"
}

@test "a distance that the kernel takes for local is refused" {
	line 11 "distance same-socket=10 other-socket=28"
	refused 11 "same-socket is '10'"
}

@test "a distance of a pair below 11 is refused" {
	echo "distance 0 1 9" >>t.topo
	refused 13 "the distance is '9'"
}

@test "a distance that means unreachable is refused" {
	echo "distance 0 1 255" >>t.topo
	refused 13 "from 11 to 254"
}

@test "a local distance is refused" {
	echo "distance 2 2 10" >>t.topo
	refused 13 "to itself is always 10"
}

@test "a distance to a node that is not there is refused" {
	echo "distance 0 4 20" >>t.topo
	refused 13 "there is no node 4"
}

@test "a pair with two distances is refused unless one is marked one-way" {
	echo "distance 0 1 15" >>t.topo
	echo "distance 1 0 16" >>t.topo
	refused 14 "one-way"
}

@test "a one-way distance holds for its direction only, in any order" {
	cp t.topo u.topo
	printf 'distance 0 1 15\ndistance 1 0 16 one-way\n' >>t.topo
	printf 'distance 1 0 16 one-way\ndistance 0 1 15\n' >>u.topo
	for f in t.topo u.topo; do
		run "$KIT_BIN/kit-topo" expect "$f"
		code 0
		has "distance 0 10 15 28 28"
		has "distance 1 16 10 28 28"
	done
}

@test "a one-way distance given twice is refused" {
	printf 'distance 1 0 16 one-way\ndistance 1 0 17 one-way\n' >>t.topo
	refused 14 "was given before"
}

@test "an incomplete distance is refused" {
	echo "distance 0 1" >>t.topo
	refused 13 "distance is not complete"
}

@test "a gap in the node numbers is refused" {
	line 10 "node 4 cpus=12-15 memory=64M"
	refused 10 "node 4, but there is no node 3"
}

@test "a gap in the socket numbers is refused" {
	line 6 "socket 2 nodes=2-3"
	refused 6 "socket 2, but there is no socket 1"
}

@test "a node in no socket is refused" {
	line 6 "socket 1 nodes=2"
	refused 10 "node 3 is in no socket"
}

@test "a node in two sockets is refused" {
	line 6 "socket 1 nodes=1-3"
	refused 6 "node 1 is in socket 0 too"
}

@test "a socket with a node that is not there is refused" {
	line 6 "socket 1 nodes=2-4"
	refused 6 "there is no node 4"
}

@test "a node number over what the kernel is built for is refused" {
	line 10 "node 64 cpus=12-15 memory=64M"
	refused 10 "from 0 to 63"
}

@test "a mask beyond the machine is refused" {
	line 12 "mask m cpus=0-16 parents=0,3,5,8 monitor=15 expect=improved"
	refused 12 "CPU 16 of the mask is outside"
}

@test "a parent outside of the mask is refused" {
	line 12 "mask m cpus=0-8 parents=0,3,5,9 monitor=15 expect=improved"
	refused 12 "parent 9 is outside of the mask"
}

@test "parents without CPU 0 are refused" {
	line 12 "mask m cpus=0-8 parents=1,3,5,8 monitor=15 expect=improved"
	refused 12 "CPU 0 is no parent"
}

@test "fewer than four parents are refused where the mask has more CPUs" {
	line 12 "mask m cpus=0-8 parents=0,3,5 monitor=15 expect=improved"
	refused 12 "3 parents, and the mask has 9 CPUs"
}

@test "a mask of two CPUs needs two parents only" {
	line 12 "mask m cpus=0-1 parents=0,1 monitor=15 expect=improved"
	run "$KIT_BIN/kit-topo" check t.topo
	code 0
}

@test "a parent named twice is refused" {
	line 12 "mask m cpus=0-8 parents=0,3,3,8 monitor=15 expect=improved"
	refused 12 "parent 3 is there twice"
}

@test "a monitor inside of the mask is refused" {
	line 12 "mask m cpus=0-8 parents=0,3,5,8 monitor=7 expect=improved"
	refused 12 "monitor 7 is inside of the mask"
}

@test "a monitor outside of the machine is refused" {
	line 12 "mask m cpus=0-8 parents=0,3,5,8 monitor=16 expect=improved"
	refused 12 "monitor 16 is outside of the machine"
}

@test "a mask without monitor is refused" {
	line 12 "mask m cpus=0-8 parents=0,3,5,8 expect=improved"
	refused 12 "monitor= is missing"
}

@test "an unknown expectation is refused" {
	line 12 "mask m cpus=0-8 parents=0,3,5,8 monitor=15 expect=better"
	refused 12 "use improved or no-difference"
}

@test "a mask name that no file name could hold is refused" {
	line 12 "mask ../m cpus=0-8 parents=0,3,5,8 monitor=15 expect=improved"
	refused 12 "a mask needs a name"
}

@test "an unknown keyword is refused" {
	echo "cores 4" >>t.topo
	refused 13 "unknown keyword 'cores'"
}

@test "an unknown key is refused" {
	line 7 "node 0 cpus=0-3 mem=64M"
	refused 7 "'mem=64M' is not known"
}

@test "a line that cannot be read as a list is refused" {
	line 7 "node 0 cpus=3-0 memory=64M"
	refused 7 "a range ends before it starts"
}

@test "every line that may be there once is refused the second time" {
	cp t.topo good.topo
	for n in 1 2 3 4 5 7 11 12; do
		cp good.topo t.topo
		sed -n "${n}p" good.topo >>t.topo
		refused 13 "was given in line $n already"
	done
}

@test "every line that must be there is missed" {
	cp t.topo good.topo
	for n in 1 2 4; do
		cp good.topo t.topo
		sed -i "${n}d" t.topo
		refused 11 "there is no line"
	done
}

@test "more CPUs than the machine takes are refused" {
	cat >t.topo <<-'EOF'
		describe  large
		memory    256M
		cpus      513
		socket    0 nodes=0
		node      0 cpus=0-512 memory=256M
	EOF
	refused 3 "513 CPUs, but QEMU's machine virt takes 512"
}

@test "CPUs whose APIC IDs need x2APIC are refused for x86_64 only" {
	run "$KIT_BIN/kit-topo" check --arch x86_64 "$KIT/topologies/turin20-320.topo"
	code 2
	has "APIC ID"
	run "$KIT_BIN/kit-topo" check --arch arm64 "$KIT/topologies/turin20-320.topo"
	code 0
}

@test "a file that is not there, a folder and a binary file are refused" {
	run "$KIT_BIN/kit-topo" check nothing.topo
	code 2
	has "nothing.topo: No such file"
	run "$KIT_BIN/kit-topo" check .
	code 2
	printf 'cpus\0 16\n' >t.topo
	refused 1 "NUL byte"
}

@test "comments and blank lines are skipped, and still counted" {
	sed -i '1i # first\n\n' t.topo
	sed -i 's/^threads .*/& # two/' t.topo
	run "$KIT_BIN/kit-topo" check t.topo
	code 0
	sed -i 's/^memory .*/memory 512M/' t.topo
	refused 5 "memory is 512M"
}

@test "wrong arguments are refused with what to do" {
	for args in "" "check" "nosuch t.topo" "qemu t.topo" "qemu --arch mips t.topo" \
		"mask t.topo" "mask t.topo nosuch" "check t.topo m" "mask --json t.topo m" \
		"mask --arch arm64 t.topo m" "expect t.topo m x" "--nosuch"; do
		# shellcheck disable=SC2086
		run "$KIT_BIN/kit-topo" $args
		code 2
		[ -n "$output" ]
	done
}

@test "a full disk is no success" {
	run bash -c '"$1" expect t.topo >/dev/full' - "$KIT_BIN/kit-topo"
	code 6
}
