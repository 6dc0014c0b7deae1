#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# verify-build.sh from end to end on a mini tree, with stubs for kbuild and
# QEMU: what it accepts, what it refuses, and whom it blames.

load helpers
load queue-helpers
load verify-helpers

setup() { verify_setup; }

# refuses TEXT OPTION...: exit 2, one line on stderr with TEXT, nothing made.
refuses() {
	local text=$1
	shift
	run "$KIT/scripts/verify-build.sh" --tree "$T" --out "$OUT" "$@"
	fails_with 2 "$text"
	[ "${#lines[@]}" -eq 1 ] && [[ $output == verify-build.sh:* ]] || { echo "more than one line: $output"; return 1; }
	nothing_left
	[ ! -e building ]
	[ ! -e "$KIT_CACHE/work" ]
}

@test "each option without a value is refused with one line" {
	for option in --tree --arch --topology --scenario --class --without --config --cc --accel --seeds --jobs --out; do
		refuses "$option needs a value" 6.12 "$option"
		refuses "$option needs a value" 6.12 "$option="
		refuses "$option needs a value" 6.12 "$option" --jobs
	done
}

@test "each wrong value is refused with one line that says what there is" {
	refuses "unknown option --tre;" --tre=x 6.12
	refuses "unknown option -x;" -x 6.12
	refuses "which LTS? one of: 6.12"
	refuses "'6.12' is too many" 6.12 6.12
	refuses "no queue for '5.10'; there is one for: 6.12" 5.10
	refuses "no queue for '../6.12'" ../6.12
	refuses "--arch 'riscv' is not one of: arm64 x86_64" --arch riscv 6.12
	refuses "no topology 'pare'; there is: flat2 pair-llc8 pair-memless pair turin20" --topology pare 6.12
	refuses "no topology '../topologies/pair'" --topology ../topologies/pair 6.12
	refuses "no scenario 'fork'; there is: affinity-fork-one-socket affinity-fork boot" --scenario fork 6.12
	refuses "--class 'landed' is not one of: stable distro experimental alternative" --class landed 6.12
	refuses "--class 'stable,' has an empty word" --class stable, 6.12
	refuses "cannot read the config fragment none" --config none 6.12
	refuses "cannot read the config fragment /" --config / 6.12
	refuses "--cc 'icc' is not one of: gcc clang" --cc icc 6.12
	refuses "--accel 'hvf' is not one of: auto tcg kvm" --accel hvf 6.12
	refuses "--seeds takes 2 to 59, not '1'" --seeds 1 6.12
	refuses "--jobs takes 1 to 99, not '0'" --jobs 0 6.12
	refuses "--jobs takes 1 to 99, not 'many'" --jobs many 6.12
	refuses "no folder none; --tree takes" --tree none 6.12
}

@test "a KIT_QUEUE that is none is refused with one line" {
	KIT_QUEUE=$BATS_TEST_TMPDIR refuses "is no queue" 6.12
}

@test "a queue without the scenario's patch is refused before work starts" {
	make_queue
	verify
	fails_with 2 "is about $FIX, which the queue of 6.12 does not have"
	[ ! -e "$KIT_CACHE/work" ]
	nothing_left
}

@test "a topology that QEMU would not honour is refused before work starts" {
	cp -r "$KIT/topologies" "$KIT/scenarios" "$KIT/scripts" "$KIT/lib" "$KIT/lab" "$KIT/queue" \
		"$KIT/configs" "$KIT/Makefile" "$KIT/tests" "$KIT/build" . && rm -rf build/tests
	sed -i 's/^node      3 .*/node      3 cpus=12-15 memory=32M/' topologies/pair.topo
	unset MAKEFLAGS
	run scripts/verify-build.sh --tree "$T" --out "$OUT" 6.12
	fails_with 2 "pair.topo:"
	[[ $output == *"memory"* ]]
	[ ! -e building ]
	[ ! -e "$KIT_CACHE/work" ]
	nothing_left
}

@test "a tree of another LTS, and a folder that is no tree, are refused with exit 7" {
	sed -i 's/^PATCHLEVEL = 12/PATCHLEVEL = 6/' "$T/Makefile"
	verify
	fails_with 7 "$T is 6.6.95, not 6.12"
	rm "$T/kernel/sched/fair.c"
	verify
	fails_with 7 "is no kernel tree"
	nothing_left
}

@test "all well: exit 0, and a results folder with all that its README names" {
	verify
	fails_with 0 "PASSED: 6.12.95, pair, affinity-fork behaves as expected; results are in $OUT"
	for f in report.txt results.json results.ktap config config-asked tool-versions rerun.sh README \
		"patches/$FIX" boot/{base.image,patched.image,initramfs.cpio,machine.dtb} logs/{config,apply,build-tree}.txt \
		commands/{make.txt,base-1.sh,base-2.sh,patched-1.sh,patched-2.sh} \
		consoles/{base,patched}-{1,2}.txt records/{base,patched}-{1,2}.json status/{base,patched}-{1,2}.json; do
		[ -f "$OUT/$f" ] || { echo "not there: $f"; false; }
	done
	while read -r f; do [ -e "$OUT/${f%/}" ] || { echo "not there: $f"; false; }; done < <(sed -nE 's/^([a-zA-Z.-]+\/?)  .*/\1/p' "$OUT/README")
	jq -e '.ok and .reproducible and .version == "6.12.95" and (.base | length) == 2' "$OUT/results.json"
	[[ $(result .base_is) == "the tree as it is" ]]
	grep -q '^ok 1 ' "$OUT/results.ktap"
	[ "$(result ".patch_sha256.\"${FIX%.patch}\"")" = "$(sha256sum <"$KIT_QUEUE/patches/6.12/$FIX" | cut -d' ' -f1)" ]
	[ "$(result .sha256.base_image)" = "$(sha256sum <"$OUT/boot/base.image" | cut -d' ' -f1)" ]
	[ "$(find . -maxdepth 1 -name '*results*')" = ./results ]
}

@test "the results name no path of this machine where a reader would use it" {
	verify
	[ "$status" -eq 0 ]
	absent -rF -e "$BATS_TEST_TMPDIR" -e "$KIT" "$OUT"/{results.json,results.ktap,report.txt,README,commands,rerun.sh,tool-versions}
	grep -q 'make -s -C WORK/src O=WORK/obj.* ARCH=arm64 .*Image' "$OUT/commands/make.txt"
}

@test "the user's tree is not changed" {
	before=$(full_sum "$T")
	verify
	[ "$status" -eq 0 ]
	[ "$(full_sum "$T")" = "$before" ]
}

@test "a second run gives the same results.json but for its times, and boots again" {
	verify
	[ "$status" -eq 0 ]
	jq 'del(.times)' "$OUT/results.json" >first
	rm booting
	verify --jobs 1
	[ "$status" -eq 0 ]
	[ -e booting ]
	jq 'del(.times)' "$OUT/results.json" | cmp - first
	[ "$(grep -c allnoconfig goals)" -eq 1 ]
}

@test "rerun.sh works from a moved folder, and sees a changed console" {
	verify
	[ "$status" -eq 0 ]
	mv "$OUT" "moved away"
	run "moved away/rerun.sh"
	fails_with 0 "patched-2: identical"
	[ "$(grep -c identical <<<"$output")" -eq 4 ]
	echo more >>"moved away/consoles/base-2.txt"
	run "moved away/rerun.sh" base-1
	fails_with 0 "base-1: identical"
	run "moved away/rerun.sh"
	fails_with 1 "base-2: differs"
	run "moved away/rerun.sh" base-9
	fails_with 2 "no run 'base-9'"
	STUB_QEMU=killed run "moved away/rerun.sh" base-1
	fails_with 6 "QEMU did not run"
	STUB_QEMU=slow RERUN_SECONDS=1 run "moved away/rerun.sh" base-1
	fails_with 6 "QEMU did not run, or not to its end"
}

@test "a tree that has the fix: base is made by reverting it, and the report says so" {
	cp "$FIXED/kernel/sched/fair.c" "$T/kernel/sched/"
	sed -i 's/^SUBLEVEL = 95/SUBLEVEL = 97/' "$T/Makefile"
	before=$(full_sum "$T")
	verify
	fails_with 0 "PASSED: 6.12.97"
	[[ $output == *"base is the tree with 1 of 1 named patches taken out: 6.12.97 has them already"* ]]
	[[ $(result .base_is) == *"taken out"* ]]
	absent FIXED "$OUT/boot/base.image"
	grep -q FIXED "$OUT/boot/patched.image"
	grep -q 'taken out' "$OUT/README"
	[ "$(full_sum "$T")" = "$before" ]
}

@test "two kernels that are the same are not compared" {
	seq -f 'comment %g' 20 >"$T/kernel/sched/notes"
	rm -f "$KIT_QUEUE/series"/6.12.{stable,distro,experimental}
	edited "$T" fixed 's/comment 10/other comment/' kernel/sched/notes
	new_patch "$FIX" stable "$T" "$EDITED"
	verify
	fails_with 1 "base and patched are the same kernel to the byte"
	[ "$(result .ok)" = false ]
	[ ! -e booting ]
}

@test "a queue that does not apply fails with exit 1 before the base is booted" {
	sed -i 's/fair30/fair31/' "$T/kernel/sched/fair.c"
	verify
	fails_with 1 "the queue does not apply to 6.12.95"
	[[ $output == *"conflict: kernel/sched/fair.c:"*"(hunk 1 of "* ]]
	[ ! -e booting ]
}

@test "no improvement: exit 1, and the results are there" {
	fixed_with 's/FIXED/nothing/'
	verify
	fails_with 1 "FAILED: 6.12.95, pair, affinity-fork does not behave as expected"
	[ "$(result .ok)" = false ]
	grep -q '^not ok 1 ' "$OUT/results.ktap"
	[ -x "$OUT/rerun.sh" ]
}

@test "it runs from another folder, for a tree and an --out with blanks, in a kit with blanks" {
	mkdir "a kit" "other place"
	(cd "$KIT" && cp -r topologies scenarios scripts lib lab queue configs Makefile tests "$BATS_TEST_TMPDIR/a kit/")
	mkdir -p "a kit/build" && cp -r "$KIT/build"/{bin,lib,lab,queue,guest} "a kit/build/"
	mv "$T" "a tree"
	cd "other place"
	run "../a kit/scripts/verify-build.sh" --tree "../a tree" --seeds 2 --out "my results/of today" 6.12
	fails_with 0 PASSED
	jq -e .ok "my results/of today/results.json"
	"my results/of today/rerun.sh" base-1
	run "../a kit/scripts/verify-build.sh" --tree "../a tree" --seeds 2 6.12
	fails_with 0 "results are in $PWD/results/6.12.95-arm64-pair-affinity-fork"
}

@test "a cache folder in which kbuild would not work is refused before work starts" {
	KIT_CACHE="$BATS_TEST_TMPDIR/a cache" verify
	fails_with 5 "let KIT_CACHE name another"
	nothing_left
}

@test "a folder that is not ours is not replaced" {
	mkdir "$OUT" && echo "{}" >"$OUT/results.json"
	before=$(tree_sum "$OUT")
	run "$KIT/scripts/verify-build.sh" --tree "$T" --out "$OUT" 6.12
	fails_with 2 "holds no results of ours"
	run "$KIT/scripts/verify-build.sh" --tree "$T" --out "$T/Makefile" 6.12
	fails_with 2 "holds no results of ours"
	[ "$(tree_sum "$OUT")" = "$before" ]
	[ ! -e building ]
}

@test "asked-for KVM that cannot be used is an error, exit 5" {
	verify --accel kvm
	fails_with 5 "KVM was asked for, but"
	[ ! -e building ]
	nothing_left
}

@test "an option that kconfig does not take is an error that names it" {
	echo CONFIG_REFUSED=y >fragment
	verify --config fragment
	fails_with 3 "kconfig did not take what the fragments ask for"
	[[ $output == *"CONFIG_REFUSED: asked for y, got n"* ]]
	grep -q CONFIG_REFUSED "$OUT/logs/config-differences"
	[ ! -e building ]
	echo CONFIG_TAKEN=y >fragment
	verify --config fragment
	[ "$status" -eq 0 ]
	grep -q CONFIG_TAKEN "$OUT/config"
}

@test "a config fragment can ask for more memory, and every node gets it" {
	printf '%s\n' '# memory: times 2' CONFIG_TAKEN=y >fragment
	verify --config fragment
	[ "$status" -eq 0 ]
	[ "$(grep -o 'size=128M' "$OUT/commands/patched-1.sh" | wc -l)" -eq 4 ]
	grep -q -- '-m 512M' "$OUT/commands/patched-1.sh"
	[ "$(grep -c 'memory=128M' "$OUT/pair.topo")" -eq 4 ]
	[[ $output == *"the guests get 2 times the memory of pair"* ]]
	for n in 0 1 10 'times' '2 MiB'; do
		rm -rf "$OUT"
		echo "# memory: times $n" >fragment
		verify --config fragment
		fails_with 2 "says '# memory: times $n'; it can be '# memory: times N', with N from 2 to 9"
		[ ! -e "$OUT" ]
	done
}

@test "guests that do not fit into the memory are refused before anything is built" {
	echo '# memory: times 9' >fragment
	echo 'MemAvailable: 4096000 kB' >meminfo
	KIT_MEMINFO=$PWD/meminfo verify --config fragment --topology turin20
	fails_with 5 "a guest of turin20 takes up to "
	[[ $output == *"MiB and 4000 MiB are available; stop something else, or take a smaller topology"* ]]
	[ ! -e building ]
}
