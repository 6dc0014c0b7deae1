#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# kit-topo: what it prints for QEMU, for the guest to report, and for readers.

load helpers
load lab-helpers
load topo-helpers

@test "the arguments for pair on arm64 are as written down" {
	run "$KIT_BIN/kit-topo" qemu --arch arm64 "$KIT/topologies/pair.topo"
	code 0
	diff -u "$KIT/tests/golden/pair.arm64.args" <(printf '%s\n' "$output")
}

@test "the arguments for pair on x86_64 are as written down" {
	run "$KIT_BIN/kit-topo" qemu --arch x86_64 "$KIT/topologies/pair.topo"
	code 0
	diff -u "$KIT/tests/golden/pair.x86_64.args" <(printf '%s\n' "$output")
}

@test "nodes of several sizes are cut into sockets that stay inside of a node" {
	line 7 "node 0 cpus=0-5 memory=64M"
	line 8 "node 1 cpus=6-7 memory=64M"
	run "$KIT_BIN/kit-topo" qemu --arch arm64 t.topo
	code 0
	has "16,sockets=8,clusters=1,cores=1,threads=2"
}

@test "CPUs of a node that are no neighbours are all handed to QEMU" {
	line 3 "threads 1"
	line 7 "node 0 cpus=0-1,6-7 memory=64M"
	line 8 "node 1 cpus=2-5 memory=64M"
	run "$KIT_BIN/kit-topo" qemu --arch arm64 t.topo
	code 0
	has "node,nodeid=0,memdev=ram0,cpus=0-1,cpus=6-7"
}

@test "what to expect names nodes, distances, siblings and packages" {
	run "$KIT_BIN/kit-topo" expect t.topo
	code 0
	has "node 2 socket=1 memory-mib=64 cpus=8-11"
	has "distance 3 28 28 12 10"
	has "cpu 9 node=2 package=2 siblings=8-9"
	run "$KIT_BIN/kit-topo" expect --arch x86_64 t.topo
	code 0
	has "cpu 9 node=2 package=1 siblings=8-9"
}

@test "what to expect is valid JSON with the same facts" {
	"$KIT_BIN/kit-topo" expect --json t.topo >t.json
	run jq -e '.nr_cpus == 16 and .nr_nodes == 4 and .threads == 2 and
		.nodes[3].distance == [28, 28, 12, 10] and
		.nodes[1].cpus == "4-7" and .nodes[1].memory_mib == 64 and
		.cpus[9] == {cpu: 9, node: 2, package: 2, siblings: "8-9"}' t.json
	code 0
}

@test "a mask is printed for the shell, parents in the order of the file" {
	line 12 "mask m cpus=0-8:2 parents=8,0,2,6 monitor=15 expect=no-difference"
	run "$KIT_BIN/kit-topo" mask t.topo m
	code 0
	[ "$output" = $'cpus=0,2,4,6,8\nparents=8,0,2,6\nmonitor=15\nexpect=no-difference' ]
}

@test "the summary says whether fork balancing reaches the other socket" {
	run "$KIT_BIN/kit-topo" summary t.topo
	code 0
	has "distance 28, fork balancing reaches across"
	line 11 "distance same-socket=12 other-socket=32"
	run "$KIT_BIN/kit-topo" summary t.topo
	has "distance 32, fork balancing does not reach across"
}

@test "the mask of the report is one thread of each core of a socket and a node" {
	run "$KIT_BIN/kit-topo" mask "$KIT/topologies/turin20.topo" reported
	code 0
	has "cpus=$(seq -s, 0 2 42)"
	run "$KIT_BIN/kit-topo" mask "$KIT/topologies/turin20-320.topo" reported
	has "cpus=$(seq -s, 0 2 174)"
}

# dtb_distances FILE: what QEMU made of the distances, "FROM TO VALUE" a line.
dtb_distances() {
	fdtget -t u "$1" /distance-map distance-matrix | tr ' ' '\n' | paste -d' ' - - - |
		sort -n -k1,1 -k2,2
}

# dtb_cpus FILE: "CPU NODE" a line; the CPUs are numbered by their MPIDR.
dtb_cpus() {
	local p
	for p in $(fdtget -l "$1" /cpus | grep '^cpu@'); do
		echo $((0x${p#cpu@})) "$(fdtget -t u "$1" "/cpus/$p" numa-node-id)"
	done | sort -n | awk '{ print NR - 1, $2 }'
}

@test "QEMU makes of every topology the arm64 machine that is expected" {
	need_tool qemu-system-aarch64 qemu-system-arm
	need_tool fdtget device-tree-compiler
	for f in "$KIT"/topologies/*.topo; do
		mapfile -t args < <("$KIT_BIN/kit-topo" qemu --arch arm64 "$f")
		run qemu-system-aarch64 -nodefaults -display none -cpu cortex-a57 \
			-M virt,gic-version=3,dumpdtb=m.dtb "${args[@]}"
		code 0
		[[ $output != *warning* ]]
		"$KIT_BIN/kit-topo" expect "$f" >expect
		nodes=$(awk '/^nodes/ { print $2 }' expect)
		if [ "$nodes" -gt 1 ]; then
			diff <(awk '/^distance/ { for (i = 3; i <= NF; i++)
				print $2, i - 3, $i }' expect) <(dtb_distances m.dtb)
			diff <(awk '/^cpu / { sub("node=", "", $3); print $2, $3 }' expect) \
				<(dtb_cpus m.dtb)
		fi
		rm m.dtb
	done
}

@test "QEMU makes of every topology the x86_64 machine that is expected" {
	need_tool qemu-system-x86_64 qemu-system-x86
	for f in "$KIT"/topologies/*.topo; do
		"$KIT_BIN/kit-topo" check --arch x86_64 "$f" 2>/dev/null || continue
		mapfile -t args < <("$KIT_BIN/kit-topo" qemu --arch x86_64 "$f")
		printf '%s\n' '{"execute":"qmp_capabilities"}' '{"execute":"query-hotpluggable-cpus"}' \
			'{"execute":"quit"}' | qemu-system-x86_64 -nodefaults -display none -S -M q35 \
			-accel tcg -cpu max,vendor=GenuineIntel,l3-cache=on -qmp stdio \
			"${args[@]}" >qmp 2>err
		[ ! -s err ]
		"$KIT_BIN/kit-topo" expect --arch x86_64 --json "$f" >expect
		# A machine of one node has no node numbers.
		diff <(jq -r '.cpus[] | "\(.cpu) \(.node) \(.package)"' expect) \
			<(jq -r 'select(.return | type == "array") | .return | reverse |
				to_entries[] | .key as $cpu | .value.props |
				"\($cpu) \(."node-id" // 0) \(."socket-id")"' qmp)
	done
}

@test "a node without memory has no backend, and its CPUs and distances" {
	line 2 "memory 192M"
	line 10 "node 3 cpus=12-15 memory=0M"
	run "$KIT_BIN/kit-topo" qemu --arch arm64 t.topo
	code 0
	[[ $'\n'$output$'\n' == *$'\n'"node,nodeid=3,cpus=12-15"$'\n'* ]]
	[[ $output != *"id=ram3"* && $output == *"dist,src=3,dst=0"* && $output == *$'-m\n192M\n'* ]]
	run "$KIT_BIN/kit-topo" expect t.topo
	[[ $output == *"node 3 socket=1 memory-mib=0 cpus=12-15"* ]]
}
