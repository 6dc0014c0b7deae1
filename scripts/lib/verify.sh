# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# The steps of verify-build.sh. Needs common.sh, build.sh, guest.sh,
# progress.sh and results.sh; all its variables are verify-build.sh's.

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
	"$KIT_BIN/kit-topo" check --arch "$ARCH" "$TOPO_FILE" || exit "$EX_USAGE"
	text=$("$KIT_BIN/kit-scenario" "$SCENARIO_FILE" "$TOPOLOGY") || exit "$EX_USAGE"
	read_pairs SC <<<"$text"
	[ -z "$SEEDS" ] || SC[host.seeds]=$SEEDS
	queue_names
	[ -n "${SC[mask]}" ] || return 0
	text=$("$KIT_BIN/kit-topo" mask "$TOPO_FILE" "${SC[mask]}") || exit "$EX_USAGE"
	read_pairs MASK <<<"$text"
}

# queue_names: NAMED, the patches that the scenario is about, and OTHERS, the
# rest of the asked-for classes; TOUCHED, the files of all of them.
queue_names() {
	local list name _ class files asked=,${SC[patches]},
	NAMED=() OTHERS=() TOUCHED=()
	list=$("$KIT_BIN/kit-queue" --queue "$KIT_QUEUE" list --class stable,distro,experimental "$LTS") || exit
	while IFS=$'\t' read -r name _ _ _ class files _; do
		if [[ $asked == *",$name,"* ]] || { [ "$asked" = ,, ] && [[ ,$CLASS, == *",$class,"* ]]; }; then
			NAMED+=("$name")
		elif [[ ,$CLASS, == *",$class,"* ]]; then
			OTHERS+=("$name")
		else
			continue
		fi
		# shellcheck disable=SC2206 # files are separated by blanks
		TOUCHED+=($files)
	done <<<"$list"
	mapfile -t TOUCHED < <(printf '%s\n' "${TOUCHED[@]}" | sort -u)
	for name in ${SC[patches]//,/ }; do
		[[ " ${NAMED[*]} " == *" $name "* ]] ||
			die "$EX_USAGE" "$SCENARIO_FILE is about $name, which the queue of $LTS does not have; give another --scenario"
	done
	[ ${#NAMED[@]} -gt 0 ] || die "$EX_USAGE" "no patch to verify: the classes $CLASS of $LTS are empty; give another --class"
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
	hash=$({ [ -z "$CONFIG" ] || cat -- "$CONFIG"; } | sha256sum)
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
	step "configuring" config kernel_config "$OBJ" "$TMP/logs/config.txt" "$CONFIG" || config_failed
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

# queue_json [ARG...]: what apply.sh says about the queue on SRC, unchanged.
queue_json() { "$KIT/scripts/apply.sh" --method patch --check --json "$@" "$LTS" "$SRC"; }

# queue_apply ARG...: change SRC; the whole table goes to the log.
queue_apply() {
	local code
	"$KIT/scripts/apply.sh" --method patch "$@" "$LTS" "$SRC" >>"$TMP/logs/apply.txt" 2>&1 && return
	code=$?
	tail -3 "$TMP/logs/apply.txt" >&2
	[ "$code" -eq "$EX_FAIL" ] || fail "$code" "apply.sh failed on $VERSION; see above"
	fail "$EX_FAIL" "the queue does not apply to $VERSION; see above"
}

# queue_apply_one NAME: bring in just that patch; what it needs comes later, or
# is left out on purpose.
queue_apply_one() {
	local name rest=()
	for name in "${OTHERS[@]}" "${NAMED[@]}"; do [ "$name" = "$1" ] || rest+=("$name"); done
	queue_apply --class stable,distro,experimental --only "$1" ${rest[0]:+--without "$(join "${rest[@]}")"}
}

# queue_walk: build the base, then patch by patch up to the patched kernel.
queue_walk() {
	local name landed json code
	json=$(queue_json --class stable,distro,experimental ${NAMED[0]:+--only "$(join "${NAMED[@]}")"})
	code=$?
	# A conflict is told by queue_apply, with the whole table in its log.
	[ "$code" -le "$EX_FAIL" ] || fail "$code" "apply.sh failed on $VERSION; see above"
	landed=$(jq '[.patches[] | select(.state == "already there")] | length' <<<"$json") ||
		fail "$EX_INFRA" "what apply.sh says of $VERSION cannot be read"
	BASE_HOW="the tree as it is"
	if [ "$landed" -gt 0 ]; then
		BASE_HOW="the tree with $landed of ${#NAMED[@]} named patches taken out: $VERSION has them already"
		queue_apply --class stable,distro,experimental --reverse ${NAMED[0]:+--only "$(join "${NAMED[@]}")"}
	fi
	note "base is $BASE_HOW"
	build_step tree "the tree without the queue"
	for name in "${OTHERS[@]}"; do
		queue_apply_one "$name"
		build_step "${name%.patch}" "with $name"
	done
	save_image base
	for name in "${NAMED[@]}"; do
		queue_apply_one "$name"
		build_step "${name%.patch}" "with $name"
	done
	save_image patched
	! cmp -s "$TMP/boot/base.image" "$TMP/boot/patched.image" ||
		fail "$EX_FAIL" "base and patched are the same kernel to the byte: the patches change nothing, so there is nothing to compare"
}

join() { local IFS=,; printf '%s\n' "$*"; }

# build_step KEY TEXT: build SRC as it is now; the first one is the base for
# the warnings of all that follow.
build_step() {
	local log=$TMP/logs/build-$1.txt what=$2 why code
	if ! step "building $ARCH, $what" "build_$1" kernel_build "$OBJ" "$log" "${TOUCHED[@]}"; then
		why=$(build_trouble "$log")
		code=$?
		[ "$1" != tree ] || what="the base itself, without any patch of the queue,"
		fail "$code" "$what does not build: $why"
	fi
	if [ "$1" = tree ]; then
		BASE_LOG=$log
		return
	fi
	why=$(new_warnings "$BASE_LOG" "$log" "${TOUCHED[@]}") ||
		fail "$EX_BUILD" "new warning $what: $why"
}

save_image() {
	cp "$OBJ/$IMAGE" "$TMP/boot/$1.image" || fail "$EX_INFRA" "cannot save the $1 image"
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
	jobs_fit
	make_initramfs "$TMP/boot/initramfs.cpio" || fail "$EX_INFRA" "cannot write the initramfs"
	mapfile -t PARAMS < <(guest_params)
	mapfile -t MACHINE < <(qemu_machine)
	# Emulation is slow, and slower for each CPU; more boots than CPUs wait.
	TIME_SCALE=$("$KIT_BIN/kit-topo" expect --json "$TOPO_FILE" |
		jq --arg accel "$ACCEL" --argjson jobs "$JOBS" --argjson host "$(nproc)" \
			'([$jobs / $host, 1] | max) * (if $accel == "kvm" then 1 else 3 + .nr_cpus / 32 end) | ceil') ||
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
		printf '%s\n' "$2" "${PARAMS[@]}" "${MACHINE[@]}"; } | sha256sum | cut -c1-16)
	COMMAND=("$QEMU" "${MACHINE[@]}" -seed "$2" -kernel "boot/$1.image"
		-initrd boot/initramfs.cpio
		-append "$(kernel_cmdline "$NONCE" "${PARAMS[@]}")")
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
	WORK_KEY=$WORK_KEY-$TOPOLOGY-$SCENARIO-${SC[host.seeds]:-1}x$JOBS \
		step "booting base and patched, ${SC[host.seeds]:-1} seeds each, $TOPOLOGY, $ARCH under $ACCEL" \
		boot boot_pool && return
	local side seed code
	read -r side seed code <"$TMP/failed-boot" || fail "$EX_INFRA" "the boots ended early"
	rm -f "$TMP/failed-boot"
	boot_failed "$side" "$seed" "$code"
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
