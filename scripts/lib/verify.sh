# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# The steps of verify-build.sh, but for the queue, which is in walk.sh. Needs
# common.sh, build.sh, guest.sh, progress.sh and results.sh; all its variables
# are verify-build.sh's.

declare -A SC MASK		# what the scenario and the topology's mask say

# host_ready: everything that the run needs is there before work starts.
host_ready() {
	[[ $KIT_CACHE != *[[:space:]:]* ]] ||
		die "$EX_HOST" "the kernel does not build below a folder with blanks or colons in its name, $KIT_CACHE; let KIT_CACHE name another"
	"$KIT/scripts/doctor.sh" --quiet --install --for fetch,apply,build,boot --arch "$ARCH" \
		--cc "$CC_KIND" --lts "$LTS" ${TREE:+--tree "$TREE"} >&2 || exit
}

# read_pairs ARRAY: KEY=VALUE lines from stdin into an associative array.
read_pairs() {
	local -n pairs=$1
	local key value
	# shellcheck disable=SC2004,SC2034 # an associative array, by reference
	while IFS='=' read -r key value; do pairs[$key]=$value; done
}

# scenario_setup: read scenario, topology and mask; refuse wrong ones before
# anything slow starts.
scenario_setup() {
	local text
	text=$("$KIT_BIN/kit-scenario" "$SCENARIO_FILE" "$TOPOLOGY") || exit "$EX_USAGE"
	if [ -z "$TOPOLOGY" ]; then
		TOPOLOGY=$(sed -n 's/^topology=//p' <<<"$text")
		: "${TOPOLOGY:=pair}"
		topology_file
		# again, for the "on" lines
		text=$("$KIT_BIN/kit-scenario" "$SCENARIO_FILE" "$TOPOLOGY") || exit "$EX_USAGE"
	fi
	"$KIT_BIN/kit-topo" check --arch "$ARCH" "$TOPO_FILE" || exit "$EX_USAGE"
	read_pairs SC <<<"$text"
	[ -z "$CLEAN_ONLY" ] || SC[host.seeds]=1
	[ -z "$SEEDS" ] || SC[host.seeds]=$SEEDS
	[ -z "${SC[lts]}" ] || [[ ,${SC[lts]}, == *",$LTS,"* ]] ||
		die "$EX_USAGE" "$SCENARIO_FILE is for ${SC[lts]} only; give another --scenario"
	[ -z "$WITHOUT" ] || SC[patches]=$WITHOUT
	fragments_setup
	queue_names
	[ -n "${SC[mask]}" ] || return 0
	text=$("$KIT_BIN/kit-topo" mask "$TOPO_FILE" "${SC[mask]}") || exit "$EX_USAGE"
	read_pairs MASK <<<"$text"
}

# fragments_setup: FRAGMENTS, what comes on top of the kit's own config: the
# scenario's, and the user's after it. INSTRUMENTS, the headers that are compiled in.
fragments_setup() {
	local side line
	FRAGMENTS=() INSTRUMENTS=()
	if [ -n "${SC[config]}" ]; then
		FRAGMENTS+=("$KIT/configs/${SC[config]}.config")
		[ -f "${FRAGMENTS[0]}" ] || die "$EX_USAGE" "$SCENARIO_FILE asks for ${FRAGMENTS[0]}, which is not there"
	fi
	[ -z "$CONFIG" ] || FRAGMENTS+=("$CONFIG")
	line=$(grep -Hn '^# memory:' -- /dev/null "${FRAGMENTS[@]}" | grep -v ':# memory: times [2-9]$' | head -n 1)
	[ -z "$line" ] || die "$EX_USAGE" "${line%%:*} says '${line#*:*:}'; it can be '# memory: times N', with N from 2 to 9"
	for side in base patched; do
		[ -n "${SC[instrument.$side]}" ] || continue
		INSTRUMENTS+=("$KIT/lab/kernel/${SC[instrument.$side]%%:*}.h")
		[[ " ${INSTRUMENTS[*]:0:${#INSTRUMENTS[@]}-1} " != *" ${INSTRUMENTS[-1]} "* ]] || unset 'INSTRUMENTS[-1]'
		[ -f "${INSTRUMENTS[-1]}" ] || die "$EX_USAGE" "$SCENARIO_FILE asks for ${INSTRUMENTS[-1]}, which is not there"
	done
}

# more_memory: TOPO_FILE becomes a copy with as many times the memory as a fragment
# says that its kernel needs, in a line "# memory: times N".
more_memory() {
	local times
	times=$(sed -n 's/^# memory: times \([2-9]\)$/\1/p' -- /dev/null "${FRAGMENTS[@]}" | sort | tail -n 1)
	[ -n "$times" ] || return 0
	awk -v times="$times" '
		/^memory[[:blank:]]/ { sub(/[0-9]+/, ($2 + 0) * times) }
		/^node[[:blank:]]/ && match($0, /memory=[0-9]+/) {
			sub(/memory=[0-9]+/, "memory=" substr($0, RSTART + 7, RLENGTH - 7) * times)
		}
		{ print }' "$TOPO_FILE" >"$TMP/$TOPOLOGY.topo" || fail "$EX_INFRA" "cannot write to $TMP; is the disk full?"
	TOPO_FILE=$TMP/$TOPOLOGY.topo
	note "the guests get $times times the memory of $TOPOLOGY: the config asks for it"
}

# guest_params: KEY=VALUE for the guest's init, one a line.
guest_params() {
	local key
	printf 'program=%s\n' "${SC[program]}"
	for key in cpus parents monitor; do
		[ -z "${MASK[$key]:-}" ] || printf '%s=%s\n' "$key" "${MASK[$key]}"
	done
	for key in "${!SC[@]}"; do
		[[ $key != guest.* ]] || printf '%s=%s\n' "${key#guest.}" "${SC[$key]}"
	done | sort
}

# work_begin: the work folder for this tree, with one object folder for each
# architecture, compiler and config; one run at a time has it.
work_begin() {
	local hash
	hash=$(sha256sum <<<"$TREE")
	WORK=$KIT_CACHE/work/$VERSION-${hash:0:8} SRC=$WORK/src
	hash=$(cat -- /dev/null "${FRAGMENTS[@]}" | sha256sum)
	# shellcheck disable=SC2034 # for step
	OBJ=$WORK/obj-$ARCH-$CC_KIND-${hash:0:8} WORK_KEY=$VERSION-$ARCH-$CC_KIND
	mkdir -p "$OBJ" || fail "$EX_INFRA" "cannot make $OBJ"
	exec 9>"$WORK/lock" || fail "$EX_INFRA" "cannot write $WORK/lock"
	if ! flock -n 9; then
		note "another run works on $TREE; waiting for it"
		in_background flock 9 || fail "$EX_INFRA" "cannot lock $WORK/lock"
	fi
	step "copying the tree $VERSION" sync tree_sync "$TREE" "$SRC" ||
		fail "$EX_INFRA" "cannot copy $TREE to $SRC; is the disk full?"
	: >"$TMP/logs/config.txt"
	step "configuring" config kernel_config "$OBJ" "$TMP/logs/config.txt" "${FRAGMENTS[@]}" || config_failed
	cp "$OBJ/.config" "$TMP/config" && cp "$OBJ/config-asked" "$TMP/config-asked" ||
		fail "$EX_INFRA" "cannot copy the config"
}

config_failed() {
	local why code
	[ ! -s "$OBJ/config-differences" ] || {
		cat "$OBJ/config-differences" >&2
		cp "$OBJ/config-differences" "$OBJ/.config" "$TMP/logs/"
		fail "$EX_BUILD" "kconfig did not take what the fragments ask for; the differences are above"
	}
	why=$(build_trouble "$TMP/logs/config.txt")
	code=$?
	fail "$code" "kconfig failed for $VERSION, without any patch: $why"
}

# jobs_fit: JOBS, or as many guests as there is memory for: their own, all of
# which they could touch, and half a GiB for QEMU itself.
jobs_fit() {
	local each have
	each=$("$KIT_BIN/kit-topo" expect --json "$TOPO_FILE" | jq '.memory_mib + 512') ||
		fail "$EX_INFRA" "kit-topo does not tell how much memory $TOPOLOGY has"
	have=$(host_memory)
	[ $((JOBS * each)) -gt "$have" ] || return 0
	[ "$each" -le "$have" ] ||
		fail "$EX_HOST" "a guest of $TOPOLOGY takes up to $each MiB and $have MiB are available; stop something else, or take a smaller topology"
	JOBS=$((have / each))
	note "$have MiB of memory are available and a guest takes up to $each, so $JOBS boot(s) at a time"
}

# boot_prepare: what both kernels boot with, besides the kernel.
boot_prepare() {
	make_initramfs "$TMP/boot/initramfs.cpio" || fail "$EX_INFRA" "cannot write the initramfs"
	mapfile -t PARAMS < <(guest_params)
	mapfile -t MACHINE < <(qemu_machine)
	# Emulation is slow, and slower for each CPU; more boots than CPUs wait. A kernel
	# with debug options, which --clean-only is for, takes several times as long.
	TIME_SCALE=$("$KIT_BIN/kit-topo" expect --json "$TOPO_FILE" |
		jq --arg accel "$ACCEL" --argjson jobs "$JOBS" --argjson host "$(nproc)" \
			--argjson debug "$([ -n "$CLEAN_ONLY" ] && echo 4 || echo 1)" \
			'$debug * ([$jobs / $host, 1] | max) * (if $accel == "kvm" then 1 else 3 + .nr_cpus / 32 end) | ceil') ||
		fail "$EX_INFRA" "kit-topo does not tell how many CPUs $TOPOLOGY has"
	if machine_reproducible; then
		make_dtb "$TMP/boot/machine.dtb" "${SC[guest.dilation]:-1}" ||
			fail "$EX_INFRA" "QEMU does not write its device tree"
	fi
}

# boot_command SIDE SEED: QEMU's whole command line into COMMAND, and NONCE.
# Paths are relative to the results folder.
boot_command() {
	NONCE=$({ sha256sum <"$TMP/boot/$1.image"; sha256sum <"$TMP/boot/initramfs.cpio"
		printf '%s\n' "$2" "${PARAMS[@]}" "${MACHINE[@]}" ${SC[cmdline]:+"${SC[cmdline]}"}; } | sha256sum | cut -c1-16)
	COMMAND=("$QEMU" "${MACHINE[@]}" -seed "$2" -kernel "boot/$1.image"
		-initrd boot/initramfs.cpio
		-append "$(kernel_cmdline "$NONCE" "${PARAMS[@]}")${SC[cmdline]:+ ${SC[cmdline]}}")
	[ ! -f "$TMP/boot/machine.dtb" ] || COMMAND+=(-dtb boot/machine.dtb)
}

# boot_one SIDE SEED: boot and watch one guest, read its console.
# Returns 0, EX_BOOT or EX_INFRA.
boot_one() {
	local run=$1-$2 ret
	boot_command "$1" "$2"
	{ printf '%q ' "${COMMAND[@]}"; printf '</dev/null >consoles/%s.txt\n' "$run"; } >"$TMP/commands/$run.sh"
	(cd "$TMP" && exec "$KIT_BIN/kit-vmrun" --console "consoles/$run.txt" \
		--end-marker "end nonce=$NONCE" --first 20 --progress 80 --total 300 \
		--scale "$TIME_SCALE" --stderr "status/$run.stderr" \
		--status "status/$run.json" -- "${COMMAND[@]}")
	ret=$?
	[ "$ret" -eq 0 ] || [ "$ret" -eq "$EX_BOOT" ] || return "$EX_INFRA"
	"$KIT_BIN/kit-console" --nonce "$NONCE" --topology "$TOPO_FILE" \
		"$TMP/consoles/$run.txt" >"$TMP/records/$run.json" 2>"$TMP/status/$run.problems"
	case $? in
	0) return "$ret" ;;
	"$EX_BOOT") return "$EX_BOOT" ;;
	*) return "$EX_INFRA" ;;
	esac
}

# boot_all: boot each kernel with each seed, base first: a base that does not
# boot is not the patch's fault. The first failure ends it.
boot_all() {
	boot_prepare
	boot_each
	WORK_KEY=$WORK_KEY-$TOPOLOGY-$SCENARIO-${SC[host.seeds]:-1}x$JOBS \
		step "booting base and patched, ${SC[host.seeds]:-1} seeds each, $TOPOLOGY, $ARCH under $ACCEL" \
		boot boot_pool && return
	local side seed code
	read -r side seed code <"$TMP/failed-boot" || fail "$EX_INFRA" "the boots ended early"
	rm -f "$TMP/failed-boot"
	boot_failed "$side" "$seed" "$code"
}

# boot_each: with --each, every kernel on the way to the patched one boots, and
# reports, once. Nothing is measured with them.
boot_each() {
	local image name code params=("${PARAMS[@]}")
	PARAMS=(program=boot)
	for image in "$TMP"/boot/each-*.image; do
		[ -f "$image" ] || continue
		name=$(basename "$image" .image)
		step "booting with ${name#each-}" "boot_$name" boot_one "$name" 1 && continue
		code=$?
		boot_failed "$name" 1 "$code"
	done
	PARAMS=("${params[@]}")
}

boot_pool() {
	local side seed seeds=${SC[host.seeds]:-1}
	trap 'trap "" TERM; kill 0; exit 143' TERM
	for side in base patched; do
		for ((seed = 1; seed <= seeds; seed++)); do
			while [ "$(jobs -rp | wc -l)" -ge "$JOBS" ]; do wait -n; done
			[ ! -e "$TMP/failed-boot" ] || break 2
			boot_noted "$side" "$seed" &
		done
	done
	wait
	[ ! -e "$TMP/failed-boot" ]
}

boot_noted() {
	local code
	boot_one "$1" "$2" && return
	code=$?
	# The first failure counts; but one of base, which may end later, more.
	[ "$1" = patched ] || grep -qs '^base' "$TMP/failed-boot" || rm -f "$TMP/failed-boot"
	(set -o noclobber; printf '%s %s %s\n' "$1" "$2" "$code" >"$TMP/failed-boot") 2>/dev/null
}

# boot_failed SIDE SEED CODE
boot_failed() {
	local run=$1-$2 text="the patched kernel"
	[[ $1 != each-* ]] || text="the kernel with ${1#each-}.patch as its last"
	[ "$1" != base ] || text="the base itself, without the patches that are to be proved,"
	if [ -s "$TMP/status/$run.problems" ]; then
		sed "s,^$TMP/,," "$TMP/status/$run.problems" | head -5 >&2
	else
		jq -r '.hint // empty' "$TMP/status/$run.json" 2>/dev/null >&2
		[ ! -s "$TMP/status/$run.stderr" ] || head -3 "$TMP/status/$run.stderr" >&2
	fi
	if [ "$3" -eq "$EX_INFRA" ]; then
		fail "$EX_INFRA" "QEMU did not run for the $1 kernel, seed $2; see status/$run.json"
	fi
	fail "$EX_BOOT" "$text did not come up as asked with seed $2; see consoles/$run.txt"
}
