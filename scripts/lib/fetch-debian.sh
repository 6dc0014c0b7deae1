# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Debian's package linux-source-LTS as a source of trees; see
# fetch-sources.sh for what the functions owe. apt runs with sources, lists
# and cache of its own; what the host trusts stays as it is.

APT=()		# apt's options for them
DEBIAN_WHY=	# why this host cannot ask Debian
DEBIAN=		# folder: SUITE/ (apt's state), table (SUITE DEBVERSION LTS)

# debian_scan LTS...: the same as debian_ask for those who want Debian.
debian_scan() {
	debian_ask "$@" || die "$EX_HOST" "$DEBIAN_WHY; name kernel.org, a tarball or a git URL with --from"
}

# debian_ask LTS...: bring the lists of every suite, and put what they have of
# these kernels into $DEBIAN/table, one "SUITE DEBVERSION LTS" a line. Returns 1
# if this host cannot ask Debian (DEBIAN_WHY).
debian_ask() {
	local suite archive packages=("${@/#/linux-source-}")
	command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || {
		DEBIAN_WHY="no apt on this host, so no Debian packages"
		return 1
	}
	work_open "debian-$$"
	DEBIAN=$WORK
	: >"$DEBIAN/table"
	: >"$DEBIAN/missing"
	debian_mirrors
	[ -s "$DEBIAN/mirrors" ] || {
		DEBIAN_WHY="this host's apt knows no Debian mirror; KIT_DEBIAN_MIRROR may name one"
		return 1
	}
	note "asking Debian's suites for linux-source"
	while read -r suite archive; do
		debian_scan_suite "$suite" "$archive" "${packages[@]}" || echo "$suite" >>"$DEBIAN/missing"
	done < <(grep -E '^[a-z]' "$KIT/configs/debian-suites")
	[ ! -s "$DEBIAN/missing" ] ||
		note "could not read $(paste -sd' ' "$DEBIAN/missing") ($(last_line "$DEBIAN/log"))"
	return 0
}

# debian_mirrors: write "ARCHIVE URL" into $DEBIAN/mirrors. --print-uris names
# the sources whether or not the host has lists yet. A third party's archive
# may use Debian's suite names too, so each URL that fits is a candidate only:
# the keyring decides.
debian_mirrors() {
	debian_apt .
	{
		printf 'main %s\n' "${KIT_DEBIAN_MIRROR:-}"
		printf 'security %s\n' "${KIT_DEBIAN_SECURITY_MIRROR:-${KIT_DEBIAN_MIRROR:+${KIT_DEBIAN_MIRROR%/}-security}}"
		[ -n "${KIT_DEBIAN_MIRROR:-}" ] ||
			apt-get --print-uris -o Dir::State="$DEBIAN" -o Dir::Cache="$DEBIAN" update 2>/dev/null |
			sed -nE "s,^'([^ ']+)/dists/([a-z]+)(-[a-z/]+)?/InRelease' .*,\3 \1,p" |
			sed -E 's/^-security |^\/updates /security /; t; s/^-?[a-z]* /main /'
	} | awk 'NF == 2 && !seen[$0]++' >"$DEBIAN/mirrors"
}

# debian_apt SUITE: set APT to the options for that suite's own state.
debian_apt() {
	local dir=$DEBIAN/$1
	mkdir -p "$dir/lists/partial" "$dir/cache/archives/partial" ||
		die "$EX_INFRA" "cannot write to $dir; free some space there"
	APT=(-q -o "Dir::State=$dir" -o "Dir::State::lists=$dir/lists" -o "Dir::Cache=$dir/cache"
		-o "Dir::Etc::sourcelist=$dir/sources.list" -o Dir::Etc::sourceparts=/dev/null
		-o Dir::Etc::preferences=/dev/null -o Dir::Etc::preferencesparts=/dev/null
		-o "APT::Sandbox::User=$(id -un)" -o APT::Update::Error-Mode=any -o Acquire::Languages=none)
}

# debian_scan_suite SUITE ARCHIVE PACKAGE...: add what the suite has of the
# packages to the table; 1 if no mirror of that archive has the suite with a
# good signature.
debian_scan_suite() {
	local suite=$1 archive=$2 url option='' keyring=${KIT_DEBIAN_KEYRING:-/usr/share/keyrings/debian-archive-keyring.gpg}
	[ ! -e "$keyring" ] || option="[signed-by=$keyring] "
	shift 2
	debian_apt "$suite"
	while read -r _ url; do
		printf 'deb %s%s %s main\n' "$option" "$url" "$suite" >"$DEBIAN/$suite/sources.list"
		run apt-get "${APT[@]}" update >>"$DEBIAN/log" 2>&1 || continue
		apt-cache "${APT[@]}" madison "$@" 2>/dev/null |
			awk -v s="$suite" '{ sub("linux-source-", "", $1); print s, $3, $1 }' >>"$DEBIAN/table"
		return 0
	done < <(grep "^$archive " "$DEBIAN/mirrors")
	return 1
}

# debian_list LTS
debian_list() {
	[ -n "$DEBIAN" ] && [ -f "$DEBIAN/table" ] || return 0
	sort -V -k2,2 "$DEBIAN/table" | awk -v lts="$1" '$3 == lts {
		v = $2; sub(/-[^-]*$/, "", v)
		if (v ~ /^[0-9]+\.[0-9]+\.[0-9]+$/) print v, "debian", $2, $1 }'
}

# debian_has_not ASKED LTS: leave with the reason.
debian_has_not() {
	local others
	[ ! -s "$DEBIAN/missing" ] ||
		die "$EX_INFRA" "$1 is not in the suites of Debian that could be read; try again, or name kernel.org, a tarball or git URL with --from"
	others=$(debian_list "$2" | awk '{ print $1 }' | uniq | paste -sd' ')
	die "$EX_INFRA" "Debian has no linux-source of $1${others:+ (it has $others)}; name kernel.org, a tarball or git URL with --from, or put the tree into $TREES/${1/%$2/$2.POINT}"
}

# debian_get VERSION: the newest Debian revision of that release.
debian_get() {
	local lts=${1%.*} pkg suite
	read -r _ _ pkg suite < <(debian_list "$lts" | grep "^${1//./\\.} " | tail -n 1)
	debian_apt "$suite"
	note "fetching linux-source-$lts $pkg from $suite"
	mkdir "$WORK/deb"
	run env -C "$WORK/deb" apt-get "${APT[@]}" download "linux-source-$lts=$pkg" >"$WORK/log" 2>&1 ||
		die "$EX_INFRA" "cannot fetch linux-source-$lts $pkg: $(last_line "$WORK/log"); try again"
	run debian_extract "$lts" 2>"$WORK/log" ||
		die "$EX_INFRA" "cannot unpack linux-source-$lts $pkg: $(last_line "$WORK/log"); try again, or free space in $TREES"
	rm -rf "$WORK/deb"
	printf 'origin: debian\nid: sha256:%s\npackage: linux-source-%s %s\nsuite: %s\n' \
		"$(sha256sum <"$WORK/src.tar" | cut -d' ' -f1)" "$lts" "$pkg" "$suite" >"$WORK/src.origin"
}

# debian_extract LTS: the tarball inside the package to $WORK/src.tar.
debian_extract() {
	set -o pipefail
	dpkg-deb --fsys-tarfile "$WORK"/deb/*.deb |
		tar -xO --wildcards -f - "./usr/src/linux-source-$1.tar.*" >"$WORK/src.tar"
}
