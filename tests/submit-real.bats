#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# submit.sh with the kit's own queue, on the files and with the scripts of real
# kernels. Mainline is played: its commits are the kit's patches for 6.6.

setup() {
	load helpers
	load submit-helpers
	need_tool perl perl
	need_tree 6.1; TREE_61=$TREE
	need_tree 6.6; TREE_66=$TREE
	grep -q last_update_tg_load_avg "$TREE_61/kernel/sched/sched.h" "$TREE_66/kernel/sched/sched.h" &&
		skip "the 6.1 or 6.6 tree in the cache folder has the rate limit"
	REASON=$BATS_TEST_TMPDIR/reason
	printf '%s\n' 'Link: https://bugs.distro.invalid/1234' '' \
		'Users of the distribution kernel see a third of the cycles go to one counter.' >"$REASON"
	PAIR=(sched-core-introduce-sched_set_rq_on-offline-helper sched-core-fix-unbalance-set_rq_online-offline-in-sched_cpu_deactivate)
	THREE=(sched-fair-ratelimit-update-to-tg-load_avg sched-fair-fix-tg-load-when-offlining-a-cpu sched-fair-fix-unfairness-caused-by-stalled-tg_load_avg_contrib)
}

# files_of DIR: of a kernel tree, what is played.
files_of() {
	rm -rf "$MAINLINE/kernel" "$MAINLINE/scripts"
	mkdir -p "$MAINLINE/kernel/sched"
	cp -a "$1/kernel/sched/." "$MAINLINE/kernel/sched/"
	cp -a "$1/scripts" "$1/MAINTAINERS" "$1/Makefile" "$MAINLINE/"
}

# merged LTS NAME: a commit of mainline, by the author of the patch; the played queue is told its id.
merged() {
	local patch=$KIT_QUEUE/patches/$1/$2.patch id old
	git -C "$MAINLINE" apply "$patch"
	{ sed -n 's/^Subject: //p' "$patch"; echo; echo 'What upstream says of it.'; echo
	  echo "Signed-off-by: $(sed -n 's/^From: //p;/^$/q' "$patch")"
	  echo 'Signed-off-by: Peter Maintainer <peter@maintain.invalid>'; } >"$BATS_TEST_TMPDIR/text"
	git -C "$MAINLINE" add -A
	as_other "$(sed -n 's/^From: \(.*\) <.*/\1/p;/^$/q' "$patch")" "$(sed -n 's/^From: .*<\(.*\)>/\1/p;/^$/q' "$patch")" '2024-01-01 00:00:00 +0000' \
		git -C "$MAINLINE" commit -q -F "$BATS_TEST_TMPDIR/text"
	id=$(git -C "$MAINLINE" rev-parse HEAD) old=$(sed -n 's/^Kit-Upstream-Commit: //p' "$patch")
	sed -i "s/$old/$id/" "$KIT_QUEUE"/patches/*/"$2.patch"
}

# played_real: mainline and stable of 6.1 and 6.6; the newer began with all.
played_real() {
	local name
	export MAINLINE=$BATS_TEST_TMPDIR/mainline STABLE=$BATS_TEST_TMPDIR/stable KIT_QUEUE=$BATS_TEST_TMPDIR/queue
	mkdir "$KIT_QUEUE"
	cp -r "$KIT/patches" "$KIT/series" "$KIT_QUEUE/"
	git init -q -b master "$MAINLINE"
	files_of "$TREE_61"; commit "$MAINLINE" "Linux 6.1"; git -C "$MAINLINE" tag v6.1
	for name in "${PAIR[@]}"; do merged 6.1 "$name"; done
	files_of "$TREE_66"
	# what is next to the second patch differs, so that it conflicts in 6.1
	sed -i 's,\tunthrottle_offline_cfs_rqs(rq);$,& /* all */,' "$MAINLINE/kernel/sched/fair.c" "$KIT_QUEUE"/patches/6.6/sched-fair-fix-tg-load*
	commit "$MAINLINE" "Linux 6.6"; git -C "$MAINLINE" tag v6.6
	for name in "${THREE[@]}"; do merged 6.6 "$name"; done
	for name in v6.12 v6.18 v6.19-rc1; do git -C "$MAINLINE" tag "$name"; done
	git clone -q "$MAINLINE" "$STABLE"
	git -C "$STABLE" branch -q linux-6.1.y v6.1
	git -C "$STABLE" branch -q linux-6.6.y v6.6
}

@test "the chain of tg->load_avg goes to 6.6 and 6.1, with the real scripts of these trees" {
	played_real
	run submit --distro-reason "$REASON" --to-stable 6.6,6.1 "${PAIR[@]}" "${THREE[@]}"
	fails_with 0 "The mails are in"
	[ "$(cut -d/ -f1 "$BATS_TEST_TMPDIR/out/order" | sort | uniq -c | tr -s ' ')" = " 6 6.1.y
 1 request" ]
	grep -q 'Peter Zijlstra <peterz@infradead.org>' "$BATS_TEST_TMPDIR/out/request/0001-request.patch"
	grep -q '^\[ Kit Test: Upstream brackets the walk over the groups' "$BATS_TEST_TMPDIR"/out/6.1.y/0004-*
	# 6.1 as it comes out of the mails is 6.1 with the kit's patches
	git -C "$STABLE" checkout -q linux-6.1.y
	git -C "$STABLE" am -q "$BATS_TEST_TMPDIR"/out/6.1.y/000[1-5]*
	git clone -q --branch v6.1 "$MAINLINE" "$BATS_TEST_TMPDIR/own" 2>/dev/null
	"$KIT/scripts/apply.sh" --class distro --method patch 6.1 "$BATS_TEST_TMPDIR/own"
	diff -r "$STABLE/kernel" "$BATS_TEST_TMPDIR/own/kernel"
}

@test "the chain is not sent to 6.1 without what it needs there, nor before 6.6" {
	played_real
	run submit --distro-reason "$REASON" --to-stable 6.6,6.1 "${THREE[@]}"
	fails_with 1 "must not be in a tree without ${PAIR[1]}"
	run submit --distro-reason "$REASON" --to-stable 6.1 "${PAIR[@]}" "${THREE[@]}"
	fails_with 1 "add 6.6 to --to-stable"
}

@test "the allowed-CPU fix for 6.1 is compiled with the kernel's own make before it may go" {
	local fix=sched-fair-only-update-stats-for-allowed-cpus
	use_real_cache
	[ "$(readlink -f "$(printf '%s\n' "$KIT_CACHE/trees/6.1".* | sort -V | tail -n 1)")" = "$(readlink -f "$TREE_61")" ] ||
		skip "the newest 6.1 tree in the cache folder is another"
	"$KIT/scripts/apply.sh" --check --json 6.1 "$TREE_61" | jq -e '.patches[0].state == "applies"' || skip "$TREE_61 has the fix"
	"$KIT/scripts/doctor.sh" --quiet --for build --lts 6.1 >"$BATS_TEST_TMPDIR/doctor" 2>&1 ||
		skip "this host cannot build 6.1: $(head -n 1 "$BATS_TEST_TMPDIR/doctor")"
	export MAINLINE=$BATS_TEST_TMPDIR/mainline STABLE=$BATS_TEST_TMPDIR/mainline KIT_QUEUE=$BATS_TEST_TMPDIR/queue
	mkdir "$KIT_QUEUE"
	cp -r "$KIT/patches" "$KIT/series" "$KIT_QUEUE/"
	git init -q -b master "$MAINLINE"
	files_of "$TREE_61"; commit "$MAINLINE" "Linux 6.18"
	merged 6.1 "$fix"
	git -C "$MAINLINE" tag v6.19-rc1
	run submit --build --newer-reason 'Only 6.1 is played here.' --to-stable 6.1 "$fix"
	fails_with 0 "builds         arm64: kernel/sched/ with "
	fails_with 0 "builds         x86_64: kernel/sched/ with "
	[[ $output != *"not compiled"* ]]
	# a mistake that only a compiler sees
	sed -i 's/^+\(.*\)p->cpus_ptr/+\1p->cpus_ptrs/' "$KIT_QUEUE/patches/6.1/$fix.patch"
	git -C "$MAINLINE" reset -q --hard HEAD^ && merged 6.1 "$fix"
	rm -r "$BATS_TEST_TMPDIR/out"
	run submit --build --newer-reason 'Only 6.1 is played here.' --to-stable 6.1 "$fix"
	fails_with 3 "6.1 (arm64) with $fix.patch does not compile: kernel/sched/fair.c:"
	[ ! -e "$BATS_TEST_TMPDIR/out" ]
}
