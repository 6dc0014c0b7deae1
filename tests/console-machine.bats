#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# kit-console --topology: the machine that the guest reports against the one asked for.

load helpers
load lab-helpers
load console-helpers

@test "the machine asked for is the one that the clean console reports" {
	on_pair
	code 0
}

@test "a CPU on another node is an error on both nodes" {
	edit '/node id=0/s/cpus=0-3/cpus=0-2/; /node id=1/s/cpus=4-7/cpus=3-7/'
	on_pair
	differs "node 0" 0-3 0-2
	differs "node 1" 4-7 3-7
}

@test "a CPU that is offline is an error" {
	edit 's/cpus online=0-15/cpus online=0-14/'
	on_pair
	differs "CPUs online" 0-15 0-14
}

@test "another distance is an error that names the node" {
	edit '/node id=2/s/distance=28,28,10,12/distance=28,28,10,20/'
	on_pair
	differs "distances of node 2" 28,28,10,12 28,28,10,20
	[ "$(problems)" = "topology $(line_of 'node id=2')" ]
}

@test "distances that were lost are an error" {
	edit '/node id=2/s/ distance=.*//'
	on_pair
	differs "distances of node 2" 28,28,10,12 "(nothing)"
}

@test "a node less is an error" {
	edit '/@lab 7 node id=3/d; s/^@lab 8 /@lab 7 /; s/^@lab 9 /@lab 8 /; s/^@lab 10 /@lab 9 /; s/^@lab 11 /@lab 10 /; s/^@lab 12 /@lab 11 /'
	on_pair
	differs "NUMA nodes" 4 3
	[ "$(problems)" = "topology 0" ]
}

@test "a node under another number is an error" {
	edit 's/node id=3/node id=5/'
	on_pair
	differs "the next NUMA node's number" 3 5
}

@test "much smaller memory is an error, and what the kernel keeps for itself is none" {
	local mem
	mem=$(sed -n 's/.*node id=1 .*mem_kb=\([0-9]*\).*/\1/p' con)
	[ "$mem" -lt 65536 ]
	edit '/node id=1/s/mem_kb=[0-9]*/mem_kb=9000/'
	on_pair
	differs "memory of node 1" "65536 KiB" 9000
}

@test "more memory than asked for is an error" {
	edit '/node id=1/s/mem_kb=[0-9]*/mem_kb=65537/'
	on_pair
	differs "memory of node 1" "65536 KiB" 65537
}

@test "SMT that was lost is an error: too many cores" {
	console --topology "$KIT/topologies/turin20.topo"
	differs cores 40 16
}

@test "SMT that nobody asked for is an error" {
	edit 's/^@lab 8 cores count=16/@lab 8 core cpus=0-1\n@lab 9 cores count=15/; s/^@lab 9 domains/@lab 10 domains/; s/^@lab 10 clock/@lab 11 clock/; s/^@lab 11 program/@lab 12 program/; s/^@lab 12 end/@lab 13 end/'
	on_pair
	differs cores 16 15
	differs "threads of a core" 0 0-1
}

@test "a sched domain named SMT on single threads is an error" {
	edit 's/names=MC/names=SMT,MC/'
	on_pair
	differs "sched domains" "none named SMT" "$(sed -n 's/.*domains .*names=\([^ \r]*\).*/\1/p' con)"
}

@test "no sched domain that spans the nodes is an error" {
	edit 's/\(names=MC\).*/\1/'
	on_pair
	differs "sched domains" "NUMA among them" MC
}

@test "no report of sched domains is an error" {
	edit 's/^@lab 9 domains .*/@lab 9 other x=1/'
	on_pair
	differs "sched domains" "their names" none
}

# What a serial line does to text.
