#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# apply.sh --method patch, killed at system calls that change something: each
# second here, and every one with KIT_TEST_ALL=1.

load helpers
load queue-helpers
load kill-helpers

setup() { kill_tree; }

@test "patch: killed at any call of an apply, --recover and a second run both mend it" {
	sweep 2 patch
}

@test "patch: killed at any call of taking the patches out, --recover and a second run both mend it" {
	sweep 2 --reverse patch
}
