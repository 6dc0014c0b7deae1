#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# The parts of verify-build.sh that make a kernel: what a failed build means,
# which warnings are new, configs, initramfs, progress, the results folder.

# shellcheck disable=SC2034 # many variables are for the libraries
load helpers
load lab-helpers

setup_file() { build_tool kit-config; }

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	PROG=test SRC=$BATS_TEST_TMPDIR/work/src ARCH=arm64 CC_KIND=gcc LTS=6.12
	local lib
	for lib in common build guest progress results; do
		# shellcheck disable=SC1090
		. "$KIT/scripts/lib/$lib.sh"
	done
	arch_setup
	mkdir -p "$SRC"
}

# trouble CODE TEXT LINE...: a build that said LINEs is understood so.
trouble() {
	local want=$1 text=$2
	shift 2
	printf '%s\n' "$@" >log
	run build_trouble log
	fails_with "$want" "$text"
	[ "${#lines[@]}" -eq 1 ]
}

@test "a full disk, lost memory and a killed compiler are no fault of the kernel" {
	local line
	for line in \
		"/usr/bin/ld: final link failed: No space left on device" \
		"kernel/fork.o: fatal error: error writing to /tmp/cc1.s: No space left on device" \
		"ccache: error: failed to write: Disk quota exceeded" \
		"gcc: fatal error: Killed signal terminated program cc1" \
		"aarch64-linux-gnu-gcc: internal compiler error: Killed (program cc1)" \
		"clang: error: unable to execute command: Killed" \
		"/bin/sh: line 1: 4711 Killed                  ld -EL" \
		"make[2]: *** [scripts/Makefile.build:250: kernel/fork.o] Error 137" \
		"cc1: out of memory allocating 65536 bytes after a total of 1 bytes" \
		"LLVM ERROR: out of memory" \
		"virtual memory exhausted: Cannot allocate memory"; do
		trouble 6 "not the kernel: $line" "some line" "$line" "make: *** [Makefile:224: __sub-make] Error 2"
	done
}

@test "words of the source are not taken for a killed compiler" {
	trouble 3 "mm/oom_kill.c:3:1: error: unknown type name 'Killed'" \
		"mm/oom_kill.c:2:9: warning: 'oom_killed' is unused, Killed signal handling [-Wunused]" \
		"mm/oom_kill.c:3:1: error: unknown type name 'Killed'" "    3 | Killed process_out_of_memory;"
}

@test "gcc 15 on an old tree is named as a matter of the base, with what to do" {
	trouble 3 "the base tree is older than this compiler" \
		"./include/linux/stddef.h:11:9: error: cannot use keyword 'false' as enumeration constant"
	trouble 3 "use --cc clang, or an older gcc" \
		"./include/linux/stddef.h:11:9: error: cannot use keyword ‘false’ as enumeration constant"
}

@test "the first error of the compiler or linker is the reason" {
	trouble 3 "kernel/sched/fair.c:9:1: error: expected ';'" "kernel/sched/fair.c:8:1: warning: an Error: here" \
		"$SRC/kernel/sched/fair.c:9:1: error: expected ';'" "b.c:1:1: error: later" "make[2]: *** [fair.o] Error 1"
	trouble 3 "fair.c:(.text+0x1): undefined reference to \`gone'" \
		"ld: kernel/sched/fair.o: in function \`f':" "fair.c:(.text+0x1): undefined reference to \`gone'" "make: *** [vmlinux] Error 1"
	trouble 3 "ld.lld: error: undefined symbol: gone" "ld.lld: error: undefined symbol: gone"
	trouble 3 "make[1]: *** No rule to make target 'x.o'.  Stop." "make[1]: *** No rule to make target 'x.o'.  Stop."
	trouble 3 "see the build log" "nothing that is known"
}

# new FILE...: what is new in after against before.
new() { run new_warnings before after "$@"; }

@test "a warning on another line is not new, one more of its kind is" {
	echo "$SRC/kernel/sched/fair.c:10:2: warning: unused variable 'x' [-Wunused]" >before
	echo "$SRC/kernel/sched/fair.c:99:4: warning: unused variable 'x' [-Wunused]" >after
	new kernel/sched/fair.c
	fails_with 0 ""
	[ -z "$output" ]
	echo "$SRC/kernel/sched/fair.c:120:4: warning: unused variable 'x' [-Wunused]" >>after
	new kernel/sched/fair.c
	[ "$status" -eq 1 ]
	[ "$output" = "kernel/sched/fair.c: warning: unused variable 'x' [-Wunused]" ]
	: >before
	new kernel/sched/fair.c
	[ "$status" -eq 1 ]
	: >after
	new kernel/sched/fair.c
	[ "$status" -eq 0 ]
}

@test "a warning in a file that no patch touches does not count" {
	: >before
	echo "$SRC/kernel/sched/rt.c:10:2: warning: unused" >after
	echo "In file included from kernel/sched/fair.c:3:" >>after
	new kernel/sched/fair.c
	[ "$status" -eq 0 ]
	new kernel/sched/fair.c kernel/sched/rt.c
	[ "$status" -eq 1 ]
}

@test "paths that end or begin alike are not mixed up" {
	: >before
	printf '%s\n' "$SRC/tools/kernel/sched/fair.c:1:1: warning: a" "$SRC/xkernel/sched/fair.c:1:1: warning: b" \
		"$SRC/kernel/sched/fair.c.h:1:1: warning: c" "../src/kernel/sched/fairxc:1:1: warning: d" >after
	new kernel/sched/fair.c
	[ "$status" -eq 0 ]
	[ -z "$output" ]
}

@test "a warning is known whether its path is absolute, relative, or an object's" {
	local line
	: >before
	for line in "$SRC/kernel/sched/fair.c:7:1: warning: w" "../src/kernel/sched/fair.c:7:1: warning: w" \
		"kernel/sched/fair.c:7: warning: w" "./kernel/sched/fair.c:7:1: warning: w" \
		"kernel/sched/fair.o: warning: objtool: f+0x10: unreachable"; do
		echo "$line" >after
		new kernel/sched/fair.c
		[ "$status" -eq 1 ] || { echo "missed: $line"; false; }
	done
	echo "kernel/sched/fair.o: warning: objtool: f+0x99: unreachable" >before
	new kernel/sched/fair.c
	[ "$status" -eq 0 ]
}

@test "a header's warning counts once, however many files include it" {
	printf '%s\n' "$SRC/kernel/sched/sched.h:5:1: warning: w" >before
	printf '%s\n' "$SRC/kernel/sched/sched.h:6:1: warning: w" "$SRC/kernel/sched/sched.h:6:1: warning: w" >after
	new kernel/sched/sched.h
	[ "$status" -eq 0 ]
}

# stub_make LINE...: a make whose arguments and settings go to the file asked.
stub_make() {
	stub "$BATS_TEST_TMPDIR/bin" make 'printf "%s\n" "$*" >>asked; env >environment' \
		'for a; do case $a in O=*) o=${a#O=} ;; esac; done' "$@"
	PATH=$BATS_TEST_TMPDIR/bin:$PATH
}

@test "a config is made once, again when what it hangs on changes, and compared with what was asked" {
	stub_make 'cat "$KCONFIG_ALLCONFIG" >"$o/.config"; echo CONFIG_X86=y >>"$o/.config"'
	echo CONFIG_MINE=y >mine
	echo "81a4 1 1 1 Kconfig" >"$SRC.manifest"
	kernel_config "$PWD/obj" log "$PWD/mine"
	kernel_config "$PWD/obj" log "$PWD/mine"
	[ "$(wc -l <asked)" -eq 1 ]
	grep -q ' allnoconfig$' asked
	grep -q CONFIG_MINE=y obj/config-asked
	echo "81a4 1 2 2 Kconfig" >"$SRC.manifest"
	kernel_config "$PWD/obj" log "$PWD/mine"
	[ "$(wc -l <asked)" -eq 2 ]
	echo CONFIG_BY_A_PATCH=y >>obj/.config
	kernel_config "$PWD/obj" log "$PWD/mine"
	[ "$(wc -l <asked)" -eq 3 ]
	echo CONFIG_MINE=n >mine
	kernel_config "$PWD/obj" log "$PWD/mine"
	[ "$(wc -l <asked)" -eq 4 ]
}

@test "an option that kconfig drops is an error, also the second time" {
	stub_make 'grep -v MINE "$KCONFIG_ALLCONFIG" >"$o/.config"'
	echo CONFIG_MINE=y >mine
	run kernel_config "$PWD/obj" log "$PWD/mine"
	[ "$status" -eq 1 ]
	grep -qx 'CONFIG_MINE: asked for y, got n' obj/config-differences
	run kernel_config "$PWD/obj" log "$PWD/mine"
	[ "$status" -eq 1 ]
	stub_make 'echo broken; exit 2'
	rm obj/.config
	run kernel_config "$PWD/obj" log "$PWD/mine"
	[ "$status" -eq 1 ]
	[ ! -e obj/config-differences ]
	grep -q broken log
}

@test "the user's environment does not reach kbuild" {
	stub_make ':'
	KCFLAGS=-O0 KBUILD_OUTPUT=/else W=1 LANG=de_DE.UTF-8 LC_CTYPE=de_DE.UTF-8 LANGUAGE=de MAKEFLAGS=k \
		CCACHE_DISABLE=1 KCONFIG_CONFIG=other LLVM=1 LOCALVERSION=-mine kernel_make "$PWD/obj" Image
	run ! grep -E '^(KCFLAGS|KBUILD_OUTPUT|W|LANGUAGE|MAKEFLAGS|CCACHE_DISABLE|KCONFIG_.*|LLVM|LOCALVERSION)=' environment
	grep -qx LANG=C environment
	grep -qx LC_CTYPE=C environment
	grep -q "ARCH=arm64 CROSS_COMPILE=aarch64-linux-gnu- CC=ccache aarch64-linux-gnu-gcc KBUILD_BUILD_USER=kit" asked
}

@test "a patch that touches Kconfig has the new options settled before the build" {
	stub_make ':'
	kernel_build "$PWD/obj" log kernel/sched/fair.c
	[ "$(wc -l <asked)" -eq 1 ]
	grep -q ' Image$' asked
	kernel_build "$PWD/obj" log init/Kconfig kernel/sched/fair.c
	grep -q ' olddefconfig$' asked
	[ "$(wc -l <asked)" -eq 3 ]
}

@test "files of the queue are taken as changed at each build" {
	stub_make ':'
	mkdir -p "$SRC/kernel"
	touch -d @1 "$SRC/kernel/a.c" "$SRC/kernel/b.c"
	kernel_build "$PWD/obj" log kernel/a.c kernel/new.c
	[ "$(stat -c %Y "$SRC/kernel/a.c")" -gt 1000 ]
	[ "$(stat -c %Y "$SRC/kernel/b.c")" -eq 1 ]
	[ ! -e "$SRC/kernel/new.c" ]
}

@test "fragments are taken in order: common, architecture, LTS, both, the user's" {
	KIT=$PWD/kit
	mkdir -p kit/configs
	touch kit/configs/{6.12.arm64,6.12,arm64,common,x86_64,6.6}.config
	run config_fragments mine
	[ "$(sed "s,$PWD/kit/configs/,," <<<"$output" | xargs)" = "common.config arm64.config 6.12.config 6.12.arm64.config mine" ]
}

@test "the initramfs is the same bytes each time, and holds init alone" {
	KIT=$PWD/kit
	mkdir -p kit/build/guest/arm64
	echo program >kit/build/guest/arm64/init
	make_initramfs one
	sleep 1.1
	touch kit/build/guest/arm64/init
	chmod 700 kit/build/guest/arm64/init
	make_initramfs two
	cmp one two
	[ "$(cpio -it --quiet <one)" = init ]
	[ "$(cpio -itv --quiet <one | cut -c1-10)" = -rwxr-xr-x ]
	rm kit/build/guest/arm64/init
	run make_initramfs three
	[ "$status" -ne 0 ]
	[ -z "$(ls -d three.* 2>/dev/null)" ]
}

@test "a step gives back its command's code, and says so in plain lines" {
	gives() { return "$1"; }
	run step "doing this" this gives 7
	fails_with 7 "test: doing this: 0."
	[[ $output == *", failed" ]]
	run step "doing that" that gives 0
	[ "$status" -eq 0 ]
	[[ $output != *failed* ]]
	[[ $output != *$'\r'* ]]
}

@test "what a step took is expected the next time; the first time, what the data file says" {
	[ "$(expected_time none sync)" = "$(awk '$1 == "sync" { print $3 }' "$KIT/configs/expected-times")" ]
	[ "$(expected_time none build_tree)" = 360 ]
	ARCH=x86_64
	[ "$(expected_time none build_tree)" = 600 ]
	[ "$(expected_time none build_some-patch)" = 20 ]
	[ -z "$(expected_time none unknown)" ]
	step a sync sleep 1.2 2>/dev/null
	[[ ${STEP_TIME[sync]} == 1.* ]]
	run step a sync true
	[[ $output == *"a (about 1 s)"* ]]
	run step a sync true
	run step a sync true
	[[ $output != *about* ]]
}

@test "a step does not read what is typed" {
	cat >program <<-'TEXT'
		. "$KIT/scripts/lib/common.sh"; . "$KIT/scripts/lib/progress.sh"
		set -m
		step a key cat
	TEXT
	run bash program <<<"typed"
	[ "$status" -eq 0 ]
	[[ $output != *typed* ]]
}

@test "on a terminal a step redraws one line with elapsed and expected time" {
	need_tool script bsdutils
	cat >program <<-TEXT
		. "$KIT/scripts/lib/common.sh"; . "$KIT/scripts/lib/progress.sh"
		PROG=test
		set -m
		step "a thing" build_tree sleep 1.3
	TEXT
	ARCH=arm64 script -qec "ARCH=arm64 bash program" log <<<"" >screen
	grep -qF $'\rtest: a thing  0:01 of about 6:00' screen
	[ "$(tr -d '\r' <screen | grep -c .)" -eq 1 ]
}

# results: a temporary results folder TMP to be published as OUT.
results() {
	OUT=$PWD/out
	TMP=$(mktemp -d "$PWD/.out.XXXXXX")
	echo "$1" >"$TMP/results.json"
	touch "$TMP/results.ktap"
}

@test "new results replace old ones of ours, whole" {
	results one
	results_publish
	results two
	touch "$TMP/new"
	results_publish
	[ "$(cat out/results.json)" = two ]
	[ -e out/new ]
	[ -z "$TMP" ]
	[ "$(find . -maxdepth 1 -name '*out*' | wc -l)" -eq 1 ]
	[ "$(stat -c %a out)" = 755 ]
}

@test "old results are back when the new ones cannot take their place" {
	results one
	results_publish
	results two
	rm -r "$TMP"
	run results_publish
	[ "$status" -ne 0 ]
	[ "$(cat out/results.json)" = one ]
	[ "$(find . -maxdepth 1 -name '*out*' | wc -l)" -eq 1 ]
}

@test "only a folder that is empty or ours may be replaced" {
	OUT=$PWD/out
	out_free
	mkdir out
	out_free
	echo mine >out/notes
	run out_free
	fails_with 2 "holds no results of ours; name another folder with --out"
	rm -r out
	echo file >out
	run out_free
	fails_with 2 "holds no results of ours"
}

@test "a background job and what it started are gone before the script goes on" {
	cat >program <<-'TEXT'
		. "$KIT/scripts/lib/common.sh"; . "$KIT/scripts/lib/progress.sh"
		set -m
		bash -c 'trap "sleep 1; : >last; exit" TERM; (sleep 300) & : >up; wait' &
		until [ -e up ]; do sleep 0.1; done
		kill_jobs
		[ -e last ] || echo "not waited for"
		! group_lives $! || echo "still there"
	TEXT
	run bash program
	[ "$status" -eq 0 ]
	[ -z "$output" ]
}
