# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# The results folder: it appears whole, at the end, under its own name.
# Needs common.sh and the variables of verify-build.sh.

# out_free: OUT may be made, or replaced: it is not there, is empty, or holds
# results of ours.
out_free() {
	[ ! -e "$OUT" ] || { [ -f "$OUT/results.json" ] && [ -f "$OUT/results.ktap" ]; } ||
		{ [ -d "$OUT" ] && [ -z "$(ls -A -- "$OUT")" ]; } ||
		die "$EX_USAGE" "$OUT is there and holds no results of ours; name another folder with --out"
}

# results_begin: choose the folder, and make the temporary one beside it.
results_begin() {
	[ -n "$OUT" ] || OUT=results/$VERSION-$ARCH-$TOPOLOGY-$SCENARIO
	out_free
	mkdir -p -- "$(dirname -- "$OUT")" || die "$EX_INFRA" "cannot make $(dirname -- "$OUT"); name another folder with --out"
	OUT=$(readlink -f -- "$OUT")
	results_sweep
	TMP=$(mktemp -d "$(dirname -- "$OUT")/.$(basename -- "$OUT").XXXXXX") ||
		die "$EX_INFRA" "cannot write next to $OUT; name another folder with --out"
	# Held as long as anything of this run lives, QEMU included.
	exec {TMP_LOCK}<"$TMP" && flock -n "$TMP_LOCK" ||
		die "$EX_INFRA" "cannot lock $TMP; is it on a file system without locks?"
	mkdir "$TMP"/{boot,commands,consoles,logs,patches,records,status} ||
		die "$EX_INFRA" "cannot write to $TMP; is the disk full?"
}

# results_sweep: remove what a run that was killed has left beside OUT. The
# suffix is mktemp's; a folder that somebody holds is a run at work.
results_sweep() {
	local dir fd
	for dir in "$(dirname -- "$OUT")/.$(basename -- "$OUT")".??????; do
		[ -d "$dir" ] && [ -d "$dir/consoles" ] && [ ! -L "$dir" ] || continue
		exec {fd}<"$dir" || continue
		! flock -n "$fd" || { note "an earlier run was killed; removing $dir, which it left"; rm -rf -- "$dir"; }
		exec {fd}<&-
	done
}

# cleanup: nothing of ours stays behind, whatever the end was.
cleanup() {
	trap '' INT TERM HUP
	kill_jobs
	[ -z "${FETCHED:-}" ] || rm -f -- "$FETCHED"
	[ -z "${TMP:-}" ] || rm -rf -- "$TMP"
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
	jq -n --arg error "$*" --argjson code "$code" --arg lts "$LTS" --arg version "$VERSION" \
		--arg arch "$ARCH" --arg topology "$TOPOLOGY" --arg scenario "$SCENARIO" \
		'{ok: false, error: $error, exit_code: $code, lts: $lts, version: $version,
		  arch: $arch, topology: $topology, scenario: $scenario}' >"$TMP/results.json" &&
		printf 'FAILED (exit code %s): %s\n' "$code" "$*" >"$TMP/report.txt" &&
		printf 'KTAP version 1\n1..1\nnot ok 1 %s\n' "$(head -1 <<<"$*")" >"$TMP/results.ktap" &&
		results_fill && results_publish ||
		die "$code" "$*; the results folder cannot be written"
	die "$code" "$*; the results folder is $OUT"
}

sha() { sha256sum <"$1" | cut -d' ' -f1; }

# judge_all: the verdict over all boots. Sets JUDGED to kit-judge's code.
judge_all() {
	local f run key
	local -a args runs
	args=(--scenario "$SCENARIO_FILE" --topology "$TOPOLOGY" --out "$TMP"
		--seeds "${SC[host.seeds]:-1}" --cpus "${MASK[cpus]:-0}" --expect "${MASK[expect]:-${SC[host.expect]:-no-difference}}"
		--meta "lts=$LTS" --meta "version=$VERSION" --meta "arch=$ARCH"
		--meta "topology=$TOPOLOGY" --meta "scenario=$SCENARIO" --meta "class=$CLASS"
		--meta "accel=$ACCEL" --meta "accel_why=$ACCEL_WHY" --meta "base_is=$BASE_HOW"
		--meta "named_patches=$(join "${NAMED[@]}")"
		--meta "patches_on_both_sides=$(join "${OTHERS[@]}")"
		--meta "tools.cc=$(head -1 "$TMP/tools-cc")" --meta "tools.qemu=$(head -1 "$TMP/tools-qemu")")
	rm -f "$TMP/tools-cc" "$TMP/tools-qemu"
	machine_reproducible && args+=(--reproducible)
	[ -z "$CLEAN_ONLY" ] || args+=(--clean-only)
	for f in boot/base.image boot/patched.image boot/initramfs.cpio boot/machine.dtb config; do
		[ ! -f "$TMP/$f" ] || args+=(--meta "sha256.$(tr ./ __ <<<"${f#boot/}")=$(sha "$TMP/$f")")
	done
	for f in "${NAMED[@]}" "${OTHERS[@]}"; do
		key=${f%.patch}
		args+=(--meta "patch_sha256.${key//./_}=$(sha "$KIT_QUEUE/patches/$LTS/$f")")
	done
	for key in "${!STEP_TIME[@]}"; do args+=(--time "$key=${STEP_TIME[$key]}"); done
	for f in "${INSTRUMENTS[@]}"; do
		args+=(--meta "instrument_sha256.$(basename "$f" .h)=$(sha "$f")")
	done
	for f in "$TMP"/consoles/{base,patched}-*.txt; do
		run=$(basename "$f" .txt)
		runs+=("${run%-*}:${run##*-}:$(sha "$f"):$TMP/records/$run.json")
		args+=(--time "each_boot.$run=$(jq -r .wall_seconds "$TMP/status/$run.json")")
	done
	"$KIT_BIN/kit-judge" "${args[@]}" "${runs[@]}"
	JUDGED=$?
	[ "$JUDGED" -le "$EX_FAIL" ] || fail "$EX_INFRA" "the records cannot be judged"
}

# tools_file: versions of what built and booted the kernels.
tools_file() {
	case $CC_KIND in clang) clang --version ;; *) "${CROSS}gcc" --version ;; esac | head -1 >"$TMP/tools-cc"
	"$QEMU" --version | head -1 >"$TMP/tools-qemu"
	local ld=${CROSS}ld
	[ "$CC_KIND" = gcc ] || ld=ld.lld
	{ cat "$TMP/tools-cc" "$TMP/tools-qemu"; "$ld" --version | head -1
	  ccache --version | head -1; make --version | head -1
	  git -C "$KIT" describe --always --dirty 2>/dev/null | sed 's/^/kit /'; } >"$TMP/tool-versions"
}

# results_fill: what a results folder has besides records and verdict.
results_fill() {
	local name make
	for name in "${NAMED[@]}" "${OTHERS[@]}"; do
		cp -- "$KIT_QUEUE/patches/$LTS/$name" "$TMP/patches/" || return
	done
	if [ -n "${OBJ:-}" ]; then
		kernel_command "$OBJ"
		make=$(printf '%q ' "${KERNEL_MAKE[@]}" "${IMAGE##*/}")
		[ ${#INSTRUMENTS[@]} -eq 0 ] || cp -- "${INSTRUMENTS[@]}" "$TMP/" || return
		printf '%s\n' "${make//"$WORK"/WORK}" >"$TMP/commands/make.txt" || return
	fi
	results_readme >"$TMP/README" && cp -- "$KIT/scripts/lib/rerun.sh" "$TMP/rerun.sh"
}

# results_end: the verdict to the user, the folder to its place.
results_end() {
	local verdict=PASSED how="behaves as expected"
	[ "$JUDGED" -eq 0 ] || verdict=FAILED how="does not behave as expected"
	results_fill || die "$EX_INFRA" "cannot write the results to $TMP; is the disk full?"
	sed 's/^/  /' "$TMP/report.txt" >&2
	results_publish || die "$EX_INFRA" "cannot put the results in the place of $OUT; see above"
	note "$verdict: $VERSION, $TOPOLOGY, $SCENARIO $how; results are in $OUT"
	exit "$JUDGED"
}

# results_publish: put the folder in the place of an older one, which is back
# there if that fails.
results_publish() {
	local old=''
	trap '' INT TERM HUP
	chmod 755 "$TMP"
	if [ -e "$OUT" ]; then
		old=$(mktemp -d "$OUT.old.XXXXXX") && mv -T -- "$OUT" "$old/old" || {
			[ -z "$old" ] || rmdir -- "$old"
			return 1
		}
	fi
	if ! mv -T -- "$TMP" "$OUT"; then
		[ -z "$old" ] || { mv -T -- "$old/old" "$OUT" && rmdir -- "$old"; }
		return 1
	fi
	TMP=''
	[ -z "$old" ] || rm -rf -- "$old"
}

results_readme() {
	cat <<-TEXT
	Base against patched: Linux $VERSION ($LTS), $ARCH under $ACCEL,
	topology $TOPOLOGY, scenario $SCENARIO. Base is ${BASE_HOW:-not made yet}.
	A run that ended early has only what it came to.
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
