# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# The results folder: it appears whole, at the end, under its own name.
# Needs common.sh and the variables of verify-build.sh.

# results_begin: choose the folder, and make the temporary one beside it.
results_begin() {
	[ -n "$OUT" ] || OUT=results/$VERSION-$ARCH-$TOPOLOGY-$SCENARIO
	OUT=${OUT%/}
	if [ -e "$OUT" ] && [ ! -f "$OUT/results.json" ] && [ -n "$(ls -A -- "$OUT")" ]; then
		die "$EX_USAGE" "$OUT is there and holds no results of ours; name another folder with --out"
	fi
	mkdir -p "$(dirname -- "$OUT")" || die "$EX_INFRA" "cannot make $(dirname -- "$OUT")"
	OUT=$(readlink -f -- "$OUT")
	TMP=$(mktemp -d "$(dirname -- "$OUT")/.$(basename -- "$OUT").XXXXXX") ||
		die "$EX_INFRA" "cannot write next to $OUT"
	mkdir "$TMP"/{boot,commands,consoles,logs,patches,records,status}
	trap cleanup EXIT
	trap 'interrupted 130' INT
	trap 'interrupted 143' TERM HUP
}

# cleanup: nothing of ours stays behind, whatever the end was.
cleanup() {
	kill_jobs
	[ -z "${TMP:-}" ] || rm -rf -- "$TMP"
}

# Each background job is a process group of its own (set -m).
kill_jobs() {
	local pid
	for pid in $(jobs -p); do
		kill -TERM -- "-$pid" 2>/dev/null && wait "$pid" 2>/dev/null
	done
}

interrupted() {
	trap '' INT TERM HUP
	printf '\n' >&2
	note "interrupted; nothing is left behind but objects and trees in the cache folder"
	exit "$1"
}

# fail CODE TEXT...: leave with CODE, with what there is as a results folder.
fail() {
	local code=$1
	shift
	jq -n --arg error "$*" --argjson code "$code" --arg lts "$LTS" --arg version "${VERSION:-}" \
		'{ok: false, error: $error, exit_code: $code, lts: $lts, version: $version}' >"$TMP/results.json"
	printf 'FAILED (exit code %s): %s\n' "$code" "$*" >"$TMP/report.txt"
	printf 'KTAP version 1\n1..1\nnot ok 1 %s\n' "$(head -1 <<<"$*")" >"$TMP/results.ktap"
	results_publish
	die "$code" "$*; the results folder is $OUT"
}

sha() { sha256sum <"$1" | cut -d' ' -f1; }

# judge_all: the verdict over all boots. Sets JUDGED to kit-judge's code.
judge_all() {
	local f run key
	local -a args runs
	args=(--scenario "$SCENARIO_FILE" --topology "$TOPOLOGY" --out "$TMP"
		--cpus "${MASK[cpus]:-0}" --expect "${MASK[expect]:-no-difference}"
		--meta "lts=$LTS" --meta "version=$VERSION" --meta "arch=$ARCH"
		--meta "topology=$TOPOLOGY" --meta "scenario=$SCENARIO" --meta "class=$CLASS"
		--meta "accel=$ACCEL" --meta "base_is=$BASE_HOW"
		--meta "named_patches=$(join "${NAMED[@]}")"
		--meta "patches_on_both_sides=$(join "${OTHERS[@]}")"
		--meta "tools.cc=$(head -1 "$TMP/tools-cc")" --meta "tools.qemu=$(head -1 "$TMP/tools-qemu")")
	rm -f "$TMP/tools-cc" "$TMP/tools-qemu"
	machine_reproducible && args+=(--reproducible)
	for f in boot/base.image boot/patched.image boot/initramfs.cpio boot/machine.dtb config; do
		[ ! -f "$TMP/$f" ] || args+=(--meta "sha256.$(tr ./ __ <<<"${f#boot/}")=$(sha "$TMP/$f")")
	done
	for key in "${!STEP_TIME[@]}"; do args+=(--time "$key=${STEP_TIME[$key]}"); done
	for f in "$TMP"/consoles/*.txt; do
		run=$(basename "$f" .txt)
		runs+=("${run%-*}:${run##*-}:$(sha "$f"):$TMP/records/$run.json")
		args+=(--time "boot.$run=$(jq -r '.wall_seconds // 0' "$TMP/status/$run.json")")
	done
	"$KIT_BIN/kit-judge" "${args[@]}" "${runs[@]}"
	JUDGED=$?
	[ "$JUDGED" -le "$EX_FAIL" ] || fail "$EX_INFRA" "the records cannot be judged"
}

# tools_file: versions of what built and booted the kernels.
tools_file() {
	case $CC_KIND in clang) clang --version ;; *) "${CROSS}gcc" --version ;; esac | head -1 >"$TMP/tools-cc"
	"$QEMU" --version | head -1 >"$TMP/tools-qemu"
	{ cat "$TMP/tools-cc" "$TMP/tools-qemu"; "${CROSS}ld" --version | head -1
	  ccache --version | head -1; make --version | head -1
	  git -C "$KIT" describe --always --dirty 2>/dev/null | sed 's/^/kit /'; } >"$TMP/tool-versions"
}

# results_end: the verdict to the user, the folder to its place.
results_end() {
	local name
	for name in "${NAMED[@]}" "${OTHERS[@]}"; do
		[ -z "$name" ] || cp "$KIT/patches/$LTS/$name" "$TMP/patches/"
	done
	printf '%q ' "${KERNEL_MAKE[@]}" "${IMAGE##*/}" | sed "s,$WORK,WORK,g; s,\$,\n," >"$TMP/commands/make.txt"
	results_readme >"$TMP/README"
	cp "$KIT/scripts/lib/rerun.sh" "$TMP/rerun.sh"
	sed 's/^/  /' "$TMP/report.txt" >&2
	results_publish
	if [ "$JUDGED" -eq 0 ]; then
		note "PASSED: $VERSION, $TOPOLOGY, $SCENARIO behaves as expected; results are in $OUT"
	else
		note "FAILED: $VERSION, $TOPOLOGY, $SCENARIO does not behave as expected; results are in $OUT"
	fi
	exit "$JUDGED"
}

# results_publish: put the folder in the place of an older one.
results_publish() {
	local old=''
	if [ -e "$OUT" ]; then
		old=$(mktemp -d "$OUT.old.XXXXXX") && mv -T -- "$OUT" "$old/old" || return
	fi
	chmod 755 "$TMP"
	mv -T -- "$TMP" "$OUT" && TMP=''
	[ -z "$old" ] || rm -rf -- "$old"
}

results_readme() {
	cat <<-TEXT
	Base against patched: Linux $VERSION ($LTS), $ARCH under $ACCEL,
	topology $TOPOLOGY, scenario $SCENARIO. Base is $BASE_HOW.
	They differ by: ${NAMED[*]}
	On both sides: ${OTHERS[*]:-nothing else}

	report.txt      the verdict, with medians and every sample
	results.json    the same for programs, with the sha256 of all that was booted;
	                byte-identical for the same inputs, but for "times"
	results.ktap    the checks as KTAP
	config          the kernel config; config-asked: the fragments it was made of
	patches/        the patches
	boot/           kernels, initramfs, device tree
	commands/       QEMU's command line of each boot; make's
	consoles/       what each guest printed; records/: what was read from it
	status/         how each guest ended
	logs/           kconfig, apply.sh and each build
	tool-versions   compiler, linker, QEMU, kit
	rerun.sh        boots the same again and compares the consoles
	TEXT
}
