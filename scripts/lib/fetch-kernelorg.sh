# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# kernel.org, or a mirror of it, as a source of trees; see fetch-sources.sh for
# what the functions owe. Needs fetch-http.sh, fetch-keys.sh, fetch-incr.sh.
#
# Below the base URL are vMAJOR.x/linux-VERSION.tar.xz, with linux-VERSION.tar.sign
# over what is in it, and vMAJOR.x/sha256sums.asc, a signed list of the checksums
# of all files there. A file is checked by its signature; by the list alone only
# where there is no signature, or no key to check it with. A signature or a
# checksum that is wrong is an error whatever the other way says.

KORG_URL=${KIT_KERNEL_MIRROR:-https://cdn.kernel.org/pub/linux/kernel}
KORG_URL=${KORG_URL%/}
KORG=			# folder: the signed lists, as DIR.sums with / as _
KORG_WHY=		# why there is no list, for an error line
KORG_CODE=		# and the exit code for that
KORG_AWAY=		# set if nobody answers there at all
KORG_BY=		# how the last file was checked, for the origin
KORG_MAX=1000000000	# bytes that a tarball may have
declare -A KORG_SIGNER	# the keys of the lists

# kernelorg_open: make the folder. Returns 1 if this host cannot ask kernel.org
# (KORG_WHY); EX_USAGE if KIT_KERNEL_MIRROR or KIT_FETCH_STALL is wrong.
kernelorg_open() {
	local tool
	[[ $KORG_URL =~ ^https?://[^/?#@]+(/[^?#]*)?$ ]] ||
		die "$EX_USAGE" "KIT_KERNEL_MIRROR: '$KORG_URL' is no base URL; give one such as https://cdn.kernel.org/pub/linux/kernel"
	[[ $HTTP_STALL =~ ^[1-9][0-9]{0,4}$ ]] ||
		die "$EX_USAGE" "KIT_FETCH_STALL: '$HTTP_STALL' is no number of seconds; give one such as 30"
	for tool in curl gpg xz; do
		command -v "$tool" >/dev/null && continue
		KORG_CODE=$EX_HOST
		KORG_WHY="$tool is needed for kernel.org; on Debian: apt-get install curl gnupg xz-utils"
		return 1
	done
	work_open "kernelorg-$$"
	KORG=$WORK
	keys_open
}

# kernelorg_scan LTS...: bring the lists of checksums, as far as they can be had.
kernelorg_scan() {
	local major
	KORG_WHY=
	kernelorg_open || return 0
	for major in $(printf '%s\n' "${@%%.*}" | sort -nu); do
		kernelorg_sums "v$major.x"
	done
}

# kernelorg_sums DIR: the signed list of the files in that folder of the server,
# to $KORG/DIR.sums. Returns 1 if it cannot be had (KORG_WHY, KORG_CODE).
kernelorg_sums() {
	local text=$KORG/${1//\//_}.sums rc
	[ ! -f "$text" ] || return 0
	KORG_CODE=$EX_INFRA
	http_get "$KORG_URL/$1/sha256sums.asc" "$WORK/sums.asc" 16000000
	rc=$?
	case $rc in
	1) KORG_WHY="$KORG_URL/$1 has no sha256sums.asc" ;;
	2)
		KORG_WHY="cannot read $KORG_URL/$1/sha256sums.asc: $HTTP_ERROR"
		[ "$HTTP_CODE" != 000 ] || KORG_AWAY=1
		;;
	esac
	[ "$rc" -eq 0 ] || return 1
	sig_clear checksums "$WORK/sums.asc" "$text"
	KORG_SIGNER[$text]=$SIG_KEY
	case $SIG in
	good) return 0 ;;
	nokey) KORG_WHY="cannot check $KORG_URL/$1/sha256sums.asc: $SIG_WHY" ;;
	*) KORG_CODE=$EX_TREE KORG_WHY="$KORG_URL/$1/sha256sums.asc $SIG_WHY; do not trust this server" ;;
	esac
	return 1
}

# kernelorg_list LTS
kernelorg_list() {
	local text=$KORG/v${1%%.*}.x.sums
	[ -n "$KORG" ] && [ -f "$text" ] || return 0
	awk -v lts="$1" '$1 ~ /^[0-9a-f]+$/ && length($1) == 64 && $2 ~ /^linux-[0-9.]+[.]tar[.]xz$/ {
		v = $2; gsub(/^linux-|[.]tar[.]xz$/, "", v)
		if (v == lts) v = v ".0"
		if (index(v, lts ".") == 1) print v, "kernel.org", $2 }' "$text" | sort -V -k1,1
}

# kernelorg_has_not ASKED LTS: leave with the reason; but a release that is
# asked for by its full name may be there without a list that says so.
kernelorg_has_not() {
	local newest or="name a tarball or git URL with --from, or put the tree into $TREES/${1/%$2/$2.POINT}"
	[ -z "$KORG_WHY" ] || [ "$KORG_CODE" -eq "$EX_INFRA" ] || die "$KORG_CODE" "$KORG_WHY"
	newest=$(kernelorg_list "$2" | awk '{ v = $1 } END { print v }')
	if [ "$1" = "$2" ] || [ -n "$KORG_AWAY" ]; then
		die "$EX_INFRA" "${KORG_WHY:-kernel.org has no $1}; $or"
	fi
	[ -z "$KORG_WHY" ] || note "$KORG_WHY; trying without"
	[ -z "$newest" ] || note "the list of kernel.org has no $1 (newest: $newest); trying all the same"
	# shellcheck disable=SC2034 # for fetch_packaged
	VERSION=$1
}

# kernelorg_no_candidates ASKED: release candidates are not there.
kernelorg_no_candidates() {
	[[ $1 != *-rc* ]] ||
		die "$EX_INFRA" "kernel.org has no tarball of $1, a release candidate; name linux-stable-rc.git and a REF with --from URL#REF"
}

# kernelorg_get VERSION: by patches upon an older tree, or the whole tarball.
kernelorg_get() {
	local name=linux-${1%.0} dir=$KORG_URL/v${1%%.*}.x sign=$WORK/linux.sign part=$TREES/.$1.part
	kernelorg_patch_up "$1" && return
	[ ! -e "$part" ] || [ -f "$part" ] ||
		die "$EX_INFRA" "$part is in the way of the download; remove it"
	http_get "$dir/$name.tar.sign" "$sign" 1000000
	[ $? -ne 2 ] || kernelorg_lost "$name.tar.sign"
	note "fetching $name.tar.xz from $KORG_URL"
	http_resume "$dir/$name.tar.xz" "$part" "$KORG_MAX"
	case $? in
	1) rm -f "$part"; die "$EX_INFRA" "kernel.org has no $1, or this mirror does not: there is no $HTTP_URL" ;;
	2) kernelorg_lost "$name.tar.xz" "$part" ;;
	esac
	kernelorg_check "$part" "$name.tar.xz" "$sign" "$name.tar.sign" "v${1%%.*}.x" || {
		rm -f "$part"
		die "$EX_INFRA" "$name.tar.xz cannot be checked: $KORG_BY; give the keys in a file with KIT_KERNEL_KEYRING"
	}
	mv "$part" "$WORK/src.tar"
	printf '%s\n' 'origin: kernel.org' "id: sha256:$(sha256sum <"$WORK/src.tar" | cut -d' ' -f1)" \
		"file: $dir/$name.tar.xz" "checked-by: $KORG_BY" >"$WORK/src.origin"
}

# kernelorg_lost NAME [PART]: leave with why that file does not come.
kernelorg_lost() {
	local kept=''
	[ -z "${2:-}" ] || [ ! -s "$2" ] || kept="; what came is kept, run it again to go on"
	die "$EX_INFRA" "cannot fetch $1 from $KORG_URL: $HTTP_ERROR${kept:-; try again, or name a tarball or git URL with --from}"
}

# kernelorg_check FILE NAME SIGNATURE SIGNAME DIR: check FILE, which is DIR/NAME on
# the server, by its signature, else by the list. Sets KORG_BY to how that was
# done. Returns 1 if it cannot be done, with the reason in KORG_BY. EX_TREE, or
# EX_INFRA for a broken file, if it is not what it should be; then FILE is gone.
kernelorg_check() {
	local list=$KORG/${5//\//_}.sums want=''
	[ ! -f "$list" ] || want=$(awk -v n="$2" '$2 == n { print $1; exit }' "$list")
	if [ -n "$want" ] && [ "$(sha256sum <"$1")" != "$want  -" ]; then
		run xz -tqq -M 512MiB "$1" 2>/dev/null ||
			kernelorg_bad "$EX_INFRA" "$1" "$2 is cut short or broken; try again"
		kernelorg_bad "$EX_TREE" "$1" "$2 is not the file that sha256sums.asc lists; do not trust this server"
	fi
	if [ -f "$3" ]; then
		sig_packed releases "$3" "$1"
		case $SIG in
		good) KORG_BY="$4, by $(keys_name "$SIG_KEY")"; return ;;
		broken) kernelorg_bad "$EX_INFRA" "$1" "$2 $SIG_WHY; try again" ;;
		nokey) KORG_BY="there is $4, but $SIG_WHY" ;;
		*) kernelorg_bad "$EX_TREE" "$1" "$2 $SIG_WHY ($4); do not trust this server" ;;
		esac
	else
		KORG_BY="there is no $4"
	fi
	if [ -z "$want" ]; then
		KORG_BY+=", and ${KORG_WHY:-sha256sums.asc does not list it}"
		return 1
	fi
	KORG_BY="sha256sums.asc, by $(keys_name "${KORG_SIGNER[$list]}"); $KORG_BY"
	note "$2 was checked by $KORG_BY"
}

# kernelorg_bad CODE FILE TEXT
kernelorg_bad() {
	rm -f "$2"
	die "$1" "$3"
}
