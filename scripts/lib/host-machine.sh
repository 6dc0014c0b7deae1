# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What kind of machine this host is: room, memory, QEMU and KVM, the user. Needs
# common.sh and host.sh, and accel.sh for host_accel().

# host_free DIR: print the MiB that are free there, or in the folder above that
# is there already.
host_free() {
	local dir=$1
	while [ ! -d "$dir" ]; do dir=$(dirname -- "$dir"); done
	df -Pm -- "$dir" | tail -n 1 | { read -r _ _ _ n _; echo "$n"; }
}

# host_room WHAT HAVE JOBS COLUMN ADVICE: are HAVE MiB as much as the hungriest of
# the jobs takes? COLUMN is the one of host-resources.
host_room() {
	local row want=0 hungry=''
	while read -ra row; do
		case ,$3, in *,"${row[0]}",*) ;; *) continue ;; esac
		[ "${row[$4]}" -gt "$want" ] || continue
		want=${row[$4]} hungry=${row[0]}
	done < <(host_rows host-resources)
	[ -n "$hungry" ] || return 0
	if [ "$2" -ge "$want" ]; then
		host_found ok "$1" "$2 MiB" "$want MiB" required "$hungry" - ''
	else
		host_found short "$1" "$2 MiB" "$want MiB" required "$hungry" - \
			"$hungry takes $want MiB; $5"
	fi
}

# host_resources JOBS: disk and memory for these jobs, and how many guests fit.
host_resources() {
	local job guest have temp=${TMPDIR:-/tmp}
	have=$(host_memory)
	host_room "disk free in $KIT_CACHE" "$(host_free "$KIT_CACHE")" "$1" 1 \
		"free some, or set KIT_CACHE to a folder elsewhere"
	host_room "disk free in $temp" "$(host_free "$temp")" "$1" 2 \
		"free some, or set TMPDIR to a folder elsewhere"
	host_room "memory available" "$have" "$1" 3 "stop something else"
	while read -r job _ _ _ guest; do
		case ,$1,:$guest in *:-) ;; *,"$job",*) host_guests "$have" "$guest" "$job" ;; esac
	done < <(host_rows host-resources)
}

# host_guests HAVE EACH JOB: do as many guests fit as this host would run at once?
host_guests() {
	local cpus fit=$(($1 / $2))
	cpus=$(nproc 2>/dev/null) || cpus=1
	if [ "$fit" -ge "$cpus" ]; then
		host_found ok "guests at once" "$fit" "$cpus" optional "$3" - ''
	else
		host_found note "guests at once" "$fit" "$cpus" optional "$3" - \
			"$cpus CPUs, but memory for $fit guest(s) of $2 MiB; fewer run at a time, which takes longer"
	fi
}

# host_qemu ARCH: are the lab's figures from this version of QEMU?
host_qemu() {
	local program have row known=
	program=$(accel_qemu "$1")
	command -v "$program" >/dev/null || return 0
	have=$(host_version "$program")
	read -r _ row < <(host_rows host-measured)
	for known in $row; do
		[[ $have.. != "$known".* ]] || return 0
	done
	host_found note "$program" "$have" "${row// / or }" optional boot - \
		"the lab was measured with QEMU ${row// / and }; compare figures of one version only"
}

# host_accel ARCH: which accelerator guests of ARCH will have here, and why; found
# out by booting, which takes ACCEL_PROBE_SECONDS at most.
host_accel() {
	local why
	command -v "$(accel_qemu "$1")" >/dev/null || return 0
	if ! host_probe_ready; then
		host_found note "accelerator for $1" '' '' optional boot - \
			"not probed: the kit's own tools do not build yet"
		return
	fi
	why=$(kvm_trouble "$1" 2>/dev/null)
	if [ -z "$why" ]; then
		host_found ok "accelerator for $1" kvm '' optional boot - "a probe guest ran with it"
	else
		host_found note "accelerator for $1" tcg '' optional boot - "no KVM, because $why"
	fi
}

# host_probe_ready: can what runs the probe be had?
host_probe_ready() {
	command -v make >/dev/null && command -v cc >/dev/null && command -v flock >/dev/null &&
		(kit_make build/bin/kit-vmrun) >/dev/null 2>&1
}

# host_user: nothing but installing packages needs root.
host_user() {
	local id
	id=$(id -u)
	if [ "$id" -eq 0 ]; then
		host_found ok user root '' optional all - "root is not needed but for --install"
	elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
		host_found ok user "uid $id, sudo" '' optional all - "root is not needed but for --install"
	else
		host_found ok user "uid $id" '' optional all - "root is not needed but for --install; have root install what is missing"
	fi
}
