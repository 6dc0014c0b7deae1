# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What a kernel needs of this host: versions, and compilers that are known to
# fail. Needs common.sh and host.sh; like it, nothing but bash and coreutils.

# host_lts: the kernels that host-minimums knows.
host_lts() {
	local -a columns
	read -ra columns < <(host_rows host-minimums)
	echo "${columns[*]:2}"
}

# host_minimum TOOL LTS: set MIN to the oldest version of TOOL that LTS builds
# with, or "-".
host_minimum() {
	local -a columns row
	local i
	MIN=-
	while read -ra row; do
		[ "${row[0]}" != lts ] || columns=("${row[@]}")
		[ "${row[0]%\?}" = "$1" ] || continue
		for i in "${!columns[@]}"; do
			[ "${columns[i]}" != "$2" ] || MIN=${row[i]}
		done
	done <"$KIT/configs/host-minimums"
}

# host_tree_minimum TREE ARCH TOOL: the same of a tree, from the program that
# kbuild itself asks; prints nothing where it does not know the tool.
host_tree_minimum() {
	local srcarch=$2 min
	[ "$srcarch" != x86_64 ] || srcarch=x86
	[ -f "$1/scripts/min-tool-version.sh" ] || return 0
	min=$(ARCH=$2 SRCARCH=$srcarch sh "$1/scripts/min-tool-version.sh" "$3" 2>/dev/null </dev/null)
	[[ $min =~ ^[0-9]+(\.[0-9]+)*$ ]] && echo "$min"
}

# host_program TOOL PROGRAM ARCH gcc|clang: what the PROGRAM column stands for
# here; nothing if it is no matter of this compiler.
host_program() {
	case $1:$2:$4 in
	gcc:*:clang | llvm:*:gcc | *:@ld:clang) ;;
	*:@cc:*) host_cc "$3" "$4" ;;
	*:@ld:*) host_cross "$3" ld ;;
	*:*:*) echo "$2" ;;
	esac
}

# host_minimums LTS ARCH gcc|clang TREE: is each tool new enough for all of
# these kernels (a comma list)? TREE may be empty. What HOST_SEEN names was
# looked at already, for another ARCH. A tool that is not there is a
# matter of host_check().
host_minimums() {
	local tool column program have
	while read -r tool column _; do
		[ "$tool" != lts ] || continue
		program=$(host_program "${tool%\?}" "$column" "$2" "$3")
		[ -n "$program" ] && command -v "$program" >/dev/null || continue
		case $HOST_SEEN in *" $program "*) continue ;; esac
		HOST_SEEN+="$program "
		have=$(host_cc_version_of "$column" "$program")
		host_minimum_of "$tool" "$program" "$have" "$1" "$2" "$4"
	done < <(host_rows host-minimums)
}

# host_cc_version_of COLUMN PROGRAM
host_cc_version_of() {
	case $1 in @cc) host_cc_version "$2" ;; *) host_version "$2" ;; esac
}

# host_minimum_of TOOL PROGRAM HAVE LTS ARCH TREE: note whether it is new enough.
host_minimum_of() {
	local lts most='' fails='' need=required
	[[ $1 != *\? ]] || need=optional
	for lts in ${4//,/ }; do
		MIN=
		[ -z "$6" ] || MIN=$(host_tree_minimum "$6" "$5" "${1%\?}")
		[ -n "$MIN" ] || host_minimum "${1%\?}" "$lts"
		[ "$MIN" != - ] || continue
		[ -n "$most" ] && host_at_least "$most" "$MIN" || most=$MIN
		host_at_least "$3" "$MIN" || fails+="${fails:+; }Linux $lts builds with $MIN or later"
	done
	[ -n "$most" ] || return 0
	if [ -z "$fails" ]; then
		host_found ok "$2 for Linux $4" "$3" "$most" "$need" build - ''
	else
		host_found old "$2" "$3" "$most" "$need" build - "is ${3:-of unknown version}, $fails; install a newer one"
	fi
}

# host_troubles ARCH gcc|clang TREE: is the compiler known not to build this tree?
# Without a TREE, note that it may be so for some.
host_troubles() {
	local cc have which from to arch file text what advice told=
	cc=$(host_cc "$1" "$2")
	command -v "$cc" >/dev/null || return 0
	have=$(host_cc_version "$cc")
	while IFS='|' read -r which arch file text what advice; do
		read -r which from to <<<"$which"
		read -r arch <<<"$arch"; read -r file <<<"$file"; read -r text <<<"$text"
		read -r what <<<"$what"; read -r advice <<<"$advice"
		[ "$which" = "$2" ] && [ "$arch" = "$1" ] && [ "$what" != "$told" ] &&
			host_at_least "$have" "$from" || continue
		[ "$to" = - ] || ! host_at_least "$have" "$to" || continue
		if [ -z "$3" ]; then
			host_found note "$cc" "$have" '' optional build - "some trees do not build with it; --tree DIR tells of one ($what)"
		elif [ -f "$3/$file" ] && [[ $(<"$3/$file") != *"$text"* ]]; then
			host_found trouble "$cc" "$have" '' required build - "does not build $3, with or without the patches ($file lacks $text): $what; $advice"
		else
			continue
		fi
		told=$what
	done < <(host_rows host-troubles)
}
