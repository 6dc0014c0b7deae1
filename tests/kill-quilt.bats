#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# apply.sh --method quilt, killed at system calls that change something: each
# seventh here, and every one with KIT_TEST_ALL=1.

load helpers
load queue-helpers
load kill-helpers

setup() { kill_quilt_tree; }

@test "quilt: killed at any call of an apply, --recover and a second run both mend it" {
	sweep 12 quilt
}

@test "quilt: killed at any call of taking the patches out, --recover and a second run both mend it" {
	sweep 12 --reverse quilt
}
