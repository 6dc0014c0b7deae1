# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# shellcheck disable=SC2034 # what these set is for others
#
# The pinned keys of kernel.org and what they signed. Needs fetch.sh and
# fetch-http.sh. gpg runs in a home of its own and nothing of what it says for
# people is read, only its status lines.
#
# The keys come from $KIT_KERNEL_KEYRING, if that names a file, else from the
# URLs beside the fingerprints; $KIT_CACHE/keys/FINGERPRINT keeps them.

KEYS_FILE=${KIT_KERNEL_KEYS:-$KIT/configs/kernel-org-keys}
KEYS_CACHE=$KIT_CACHE/keys
KEYS_DAYS=30		# then a key is asked for again: it may have been revoked
KEYS_HOME=		# gpg's home
SIG=			# what sig_read found
SIG_KEY=		# the key of it: the primary fingerprint, if gpg has the key
SIG_WHY=		# what is wrong with it, for an error line

# keys_open: read the pinned keys and make gpg's home in $WORK. EX_USAGE if the
# data file or $KIT_KERNEL_KEYRING is wrong.
keys_open() {
	local bad
	[ -z "$KEYS_HOME" ] || return 0
	[ -r "$KEYS_FILE" ] || die "$EX_USAGE" "cannot read the pinned keys in $KEYS_FILE; see KIT_KERNEL_KEYS"
	bad=$(awk '!/^[[:space:]]*(#|$)/ && !(NF == 4 && length($1) == 40 && $1 ~ /^[0-9A-F]+$/ &&
		$2 ~ /^(releases|checksums)$/ && $4 ~ /^https?:\/\//) { print FNR; exit }' "$KEYS_FILE")
	[ -z "$bad" ] ||
		die "$EX_USAGE" "$KEYS_FILE:$bad: no line of the form FINGERPRINT releases|checksums MAIL URL; mend it"
	KEYS_HOME=$WORK/gnupg
	mkdir -m 700 "$KEYS_HOME" || die "$EX_INFRA" "cannot make $KEYS_HOME; free some space there"
	[ -n "${KIT_KERNEL_KEYRING:-}" ] || return 0
	[ -f "$KIT_KERNEL_KEYRING" ] && [ -r "$KIT_KERNEL_KEYRING" ] && keys_import "$KIT_KERNEL_KEYRING" ||
		die "$EX_USAGE" "no keys can be read from KIT_KERNEL_KEYRING, $KIT_KERNEL_KEYRING; give a file as gpg --export writes it"
}

# keys_gpg ARG...: gpg with nothing of the user's.
keys_gpg() {
	gpg --homedir "$KEYS_HOME" --no-options --batch --no-tty --quiet --no-autostart \
		--trust-model always --no-auto-check-trustdb --no-auto-key-retrieve "$@"
}

keys_import() { keys_gpg --import-options import-minimal --import "$1" 2>/dev/null; }

# keys_role FINGERPRINT: what that key signs, or nothing if it is not pinned.
keys_role() { awk -v f="$1" '$1 == f { print $2; exit }' "$KEYS_FILE"; }

# keys_full ID: the pinned fingerprint that ends so, else ID. Some status lines
# have but the last 16 digits.
keys_full() { awk -v i="$1" 'length(i) >= 16 && substr($1, 41 - length(i)) == i { f = $1 } END { print f ? f : i }' "$KEYS_FILE"; }

# keys_name FINGERPRINT: the key, for people.
keys_name() { awk -v f="$1" '$1 == f { m = " (" $3 ")" } END { print f m }' "$KEYS_FILE"; }

# keys_have FINGERPRINT: whether gpg has that primary key.
keys_have() {
	keys_gpg --with-colons --list-keys "$1" 2>/dev/null |
		awk -F: -v f="$1" '$1 == "pub" { p = 1 } $1 == "fpr" && p { if ($10 == f) ok = 1; p = 0 } END { exit !ok }'
}

# keys_get FINGERPRINT [new]: have that pinned key, from the cache if it is new
# enough, else from its URL, else from the cache all the same; with "new" from
# its URL in any case. Returns 1 if it cannot be had.
keys_get() {
	local kept=$KEYS_CACHE/$1 url
	if [ -z "${2:-}" ]; then
		keys_have "$1" && return
		[ ! -f "$kept" ] || keys_import "$kept"
	fi
	[ -z "${KIT_KERNEL_KEYRING:-}" ] || { keys_have "$1"; return; }
	if [ -n "${2:-}" ] || ! keys_have "$1" || [ -n "$(find "$kept" -mtime "+$KEYS_DAYS")" ]; then
		url=$(awk -v f="$1" '$1 == f { print $4; exit }' "$KEYS_FILE")
		http_get "$url" "$WORK/key" 4000000 && keys_import "$WORK/key" &&
			keys_have "$1" && keys_keep "$1"
	fi
	keys_have "$1"
}

# keys_get_all ROLE: have what can be had of the keys that sign this.
keys_get_all() {
	local key
	while read -r key; do
		keys_get "$key"
	done < <(awk -v r="$1" '$2 == r { print $1 }' "$KEYS_FILE")
	return 0
}

# keys_keep FINGERPRINT: put the key into the cache.
keys_keep() {
	mkdir -p "$KEYS_CACHE" &&
		keys_gpg --export-options export-minimal --export "$1" >"$WORK/key" &&
		mv "$WORK/key" "$KEYS_CACHE/$1" ||
		die "$EX_INFRA" "cannot write to $KEYS_CACHE; free some space there"
}

# sig_packed ROLE SIGNATURE FILE: check what is in the xz file by its detached
# signature; see sig_read. SIG is "broken" if FILE cannot be unpacked whole.
# The key is had first: unpacking takes a while.
sig_packed() {
	local once
	sig_gpg --verify "$2" /dev/null
	sig_read "$1"
	[ "$SIG" != nokey ] || keys_get "$SIG_KEY" || return 0
	[ "$SIG" != unknown ] || keys_get_all "$1"
	for once in 1 2; do
		if ! run sig_unpack "$2" "$3"; then
			SIG=broken SIG_WHY="is cut short or broken"
			return
		fi
		sig_read "$1"
		[ "$SIG" = expired ] && [ "$once" -eq 1 ] && keys_get "$SIG_KEY" new || return 0
	done
}

# sig_unpack SIGNATURE FILE: false if xz finds FILE broken.
sig_unpack() {
	xz -dcqq -M 512MiB "$2" | sig_gpg --verify "$1" -
	# A gpg that had seen enough ends xz with a signal.
	[ "${PIPESTATUS[0]}" -ne 1 ]
}

# sig_clear ROLE FILE TEXT: check a clear-signed FILE and write just what is
# signed of it to TEXT; see sig_read. There is no TEXT if it is not good.
sig_clear() {
	rm -f "$3"
	sig_gpg --output "$3" --decrypt "$2"
	sig_read "$1"
	case $SIG in
	nokey) keys_get "$SIG_KEY" ;;
	expired) keys_get "$SIG_KEY" new ;;
	unknown) keys_get_all "$1" ;;
	*) false ;;
	esac && {
		rm -f "$3"
		sig_gpg --output "$3" --decrypt "$2"
		sig_read "$1"
	}
	[ "$SIG" = good ] || rm -f "$3"
}

sig_gpg() { keys_gpg --status-fd 3 "$@" 3>"$WORK/status" >/dev/null 2>&1; }

# sig_read ROLE: read gpg's status lines in $WORK/status. Sets SIG to
#   good   signed by a pinned key that signs this (ROLE)
#   nokey  said to be signed by such a key, but gpg does not have the key
#   unknown  by a key that gpg does not have and that is not pinned; it may be
#          a subkey of one that is
#   expired  by such a key after it had expired, as far as gpg knows: a key may
#          have been given more time since it was kept
#   bad    anything else
# and SIG_KEY and SIG_WHY. A key that has expired by now counts for what it
# signed before that: kernel.org does not sign old releases again. What a
# revoked key signed does not count, whenever that was.
sig_read() {
	local kind role
	read -r kind SIG_KEY < <(awk '$1 != "[GNUPG:]" { next }
		$2 ~ /^(GOODSIG|EXPSIG|EXPKEYSIG|REVKEYSIG|BADSIG|ERRSIG)$/ { n++; kind = $2; key = $3 }
		$2 == "ERRSIG" && $8 == 9 { kind = "NOKEY"; if ($9 ~ /^[0-9A-F]+$/) key = $9 }
		$2 == "VALIDSIG" { valid++; made = $5; primary = $12 }
		$2 == "KEYEXPIRED" && (!end || $3 < end) { end = $3 }
		END {
			if (n != 1 || valid > 1) kind = n ? "MANY" : "NONE"
			if (kind == "EXPKEYSIG" && valid && end && made < end) kind = "GOODSIG"
			if (kind == "GOODSIG" && !valid) kind = "BADSIG"
			print kind, valid ? primary : key
		}' "$WORK/status")
	SIG=bad
	SIG_KEY=$(keys_full "$SIG_KEY")
	role=$(keys_role "$SIG_KEY")
	case $kind in
	GOODSIG | NOKEY)
		if [ "$role" = "$1" ]; then
			SIG=good
			[ "$kind" = GOODSIG ] || SIG=nokey
			SIG_WHY="its key $(keys_name "$SIG_KEY") cannot be had"
		elif [ -n "$role" ]; then
			SIG_WHY="is signed by $(keys_name "$SIG_KEY"), whose key counts for $role only"
		else
			SIG_WHY="is signed by an unknown key, $SIG_KEY"
			[ "$kind" = GOODSIG ] || SIG=unknown
		fi
		;;
	EXPKEYSIG)
		[ "$role" != "$1" ] || SIG=expired
		SIG_WHY="was signed by $SIG_KEY after that key had expired"
		;;
	EXPSIG) SIG_WHY="has a signature that has expired, by $SIG_KEY" ;;
	REVKEYSIG) SIG_WHY="is signed by a revoked key, $SIG_KEY" ;;
	BADSIG) SIG_WHY="has a wrong signature: it is not what $SIG_KEY signed" ;;
	MANY) SIG_WHY="has more than one signature" ;;
	*) SIG_WHY="has no signature that can be read" ;;
	esac
}
