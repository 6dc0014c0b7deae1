#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# apply.sh --method git, killed at system calls that change something: each
# ninth here, and every one with KIT_TEST_ALL=1.

load helpers
load queue-helpers
load kill-helpers

setup() { kill_git_tree; }

@test "git: killed at any call of an apply, --recover and a second run both mend it" {
	sweep 9 git
}

@test "git: killed at any call of taking the patches out, --recover and a second run both mend it" {
	sweep 9 --reverse git
}

@test "git: killed at any call on the ref, its log or the index, the commit is made whole or not at all" {
	sweep 1 --only '\.git/(refs|logs|index|HEAD)|\.kit-apply( |$)' git
}
