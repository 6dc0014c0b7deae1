# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# shellcheck disable=SC2034 # what these set is for others
#
# Files from a web server, with curl. Needs fetch.sh and a $WORK. Nothing of
# the user's curl settings is read, but for the proxy variables.
#
# Redirects are followed here and not by curl, which cannot be told to stay on
# one host.

HTTP_STALL=${KIT_FETCH_STALL:-30}	# seconds without a byte that end a try
HTTP_TRIES=3		# tries in a row that bring nothing
HTTP_CODE=		# of the last answer
HTTP_ERROR=		# why the last request failed, for an error line
HTTP_URL=		# where http_find found the file
HTTP_SIZE=		# its bytes, or nothing if the server does not say
HTTP_LIMIT=		# KiB that a request may write

# http_curl ARG... URL: one request. Sets HTTP_CODE, HTTP_NEXT (where a redirect
# leads) and HTTP_ERROR; returns what curl does.
http_curl() {
	local rc proto='=https' url=${*: -1}
	[[ $url != http://* ]] || proto='=http,https'
	run http_exec -q -sS --globoff --proto "$proto" --connect-timeout 20 \
		--speed-limit 1 --speed-time "$HTTP_STALL" \
		-w '%{http_code} %{redirect_url}\n%{errormsg}\n' "$@" >"$WORK/http" 2>/dev/null
	rc=$?
	HTTP_CODE='' HTTP_NEXT='' HTTP_ERROR=''
	{ read -r HTTP_CODE HTTP_NEXT; read -r HTTP_ERROR; } <"$WORK/http"
	# Without a word from curl its report could not be written either.
	if [ "$rc" -eq 23 ] || [ -z "$HTTP_CODE" ]; then
		HTTP_ERROR="cannot write it ($(last_line /dev/null)); free space in $TREES"
	elif [ "$rc" -eq 22 ] || [ "$rc" -eq 0 ] && [[ $HTTP_CODE != 2* ]]; then
		HTTP_ERROR="the server answers $HTTP_CODE"
	fi
	return "$rc"
}

# The limit ends what a server sends without saying how much it will be.
http_exec() {
	[ -z "$HTTP_LIMIT" ] || ulimit -f "$HTTP_LIMIT"
	exec curl "$@"
}

# http_again RC: whether a request that ended so is worth another try: one that
# broke off, or a server that is busy; not one that could not be reached.
http_again() {
	case $1 in
	16 | 18 | 28 | 35 | 52 | 55 | 56 | 92 | 95 | 96) return 0 ;;
	0 | 22) case $HTTP_CODE in 408 | 425 | 429 | 500 | 502 | 503 | 504) return 0 ;; esac ;;
	esac
	return 1
}

# http_near FROM TO: whether a redirect from FROM may lead to TO: to the same
# host, and from https to https.
http_near() {
	local a b
	[[ $2 =~ ^https?://[^/?#@]+ ]] || return 1
	[[ $1 != https://* || $2 == https://* ]] || return 1
	a=$(http_host "$1")
	b=$(http_host "$2")
	# Another port is another server, but for the step up to https.
	[ "${1%%://*}" = "${2%%://*}" ] || { a=${a%:[0-9]*} b=${b%:[0-9]*}; }
	[ "${a,,}" = "${b,,}" ]
}

# http_host URL: its host and port.
http_host() { sed -E 's,^https?://([^/?#]+).*,\1,' <<<"$1"; }

# http_find URL: ask for the file and set HTTP_URL and HTTP_SIZE. Returns 1 if
# the server has no such file, 2 if it cannot be asked (HTTP_ERROR says why).
# EX_INFRA if it sends us to another host.
http_find() {
	local hop try rc
	HTTP_URL=$1
	for hop in 1 2 3 4 5; do
		for ((try = 1; try <= HTTP_TRIES; try++)); do
			[ "$try" -eq 1 ] || run sleep "$try"
			http_curl -I -o "$WORK/headers" "$HTTP_URL"
			rc=$?
			http_again "$rc" || break
		done
		[ "$rc" -eq 0 ] || return 2
		case $HTTP_CODE in
		200) break ;;
		404 | 410) return 1 ;;
		3??)
			http_near "$HTTP_URL" "${HTTP_NEXT:-none}" ||
				die "$EX_INFRA" "$HTTP_URL is redirected to ${HTTP_NEXT:-nowhere}, which is not the same host; name another mirror with KIT_KERNEL_MIRROR"
			HTTP_URL=$HTTP_NEXT
			[ "$hop" -lt 5 ] || die "$EX_INFRA" "$1 is redirected in a circle; name another mirror with KIT_KERNEL_MIRROR"
			;;
		*) return 2 ;;
		esac
	done
	HTTP_SIZE=$(tr -d '\r' <"$WORK/headers" | awk 'tolower($1) == "content-length:" && $2 ~ /^[0-9]+$/ { n = $2 } END { print n }')
}

# http_get URL FILE MAX: the file to FILE, at most MAX bytes. Returns 1 if the
# server has no such file, 2 if it does not come (HTTP_ERROR says why); then
# there is no FILE.
http_get() {
	rm -rf "$2"
	http_find "$1" || return
	http_bring "$2" "$3" && return
	rm -f "$2"
	return 2
}

# http_resume URL FILE MAX: the same for a big file. What is there of FILE is
# taken up, and what came of it before the line broke is left there.
http_resume() {
	http_find "$1" || return
	if [ -n "$HTTP_SIZE" ] && [ -f "$2" ]; then
		[ "$(stat -c %s "$2")" -ne "$HTTP_SIZE" ] || return 0
		[ "$(stat -c %s "$2")" -lt "$HTTP_SIZE" ] || rm -f "$2"
	fi
	[ ! -s "$2" ] || note "going on with ${1##*/}, of which $(http_megabytes "$2") MB are there"
	http_bring "$2" "$3" -C - && return
	[ -n "$HTTP_KEEP" ] || rm -f "$2"
	return 2
}

# http_bring FILE MAX [-C -]: the loop of both. Sets HTTP_KEEP if what is there
# of FILE can be gone on with. Returns 2 on failure.
http_bring() {
	local file=$1 max=$2 try=0 rc before
	shift 2
	HTTP_KEEP=
	if [ "${HTTP_SIZE:-0}" -gt "$max" ]; then
		HTTP_ERROR="it has $HTTP_SIZE bytes, more than the $max that such a file may have"
		return 2
	fi
	while :; do
		before=$(stat -c %s "$file" 2>/dev/null || echo 0)
		http_transfer "$file" "$max" "$@"
		rc=$?
		case $rc-$HTTP_CODE in
		0-200 | 0-206) return 0 ;;
		*-3?? | 23-* | 63-*) HTTP_KEEP=; return 2 ;; # a redirect's text, a full disk, too big
		esac
		HTTP_KEEP=1
		# A server that cannot go on in the middle: from the beginning, once.
		if [ "$rc" -eq 33 ] || [ "$rc" -eq 36 ] || [ "$HTTP_CODE" = 416 ]; then
			[ $# -gt 0 ] || return 2
			rm -f "$file"
			shift $#
			continue
		fi
		http_again "$rc" || return 2
		[ $# -eq 0 ] || [ "$(stat -c %s "$file" 2>/dev/null || echo 0)" -le "$before" ] || try=0
		try=$((try + 1))
		[ "$try" -lt "$HTTP_TRIES" ] || return 2
		run sleep "$try"
	done
}

# http_transfer FILE MAX [ARG...]: one try of http_bring, with its progress on
# a terminal. The limit holds for a server that does not say the size, too.
http_transfer() {
	local file=$1 max=$2 watch='' rc
	shift 2
	if [ -t 2 ]; then
		http_watch "$file" "${HTTP_URL##*/}" "$HTTP_SIZE" &
		watch=$!
	fi
	HTTP_LIMIT=$((max / 1024 + 1))
	http_curl --fail --max-filesize "$max" "$@" -o "$file" "$HTTP_URL"
	rc=$?
	HTTP_LIMIT=
	if [ -n "$watch" ]; then
		{ kill "$watch"; wait "$watch"; } 2>/dev/null
		printf '\r\033[K' >&2
	fi
	if [ -f "$file" ] && [ "$(stat -c %s "$file")" -gt "$max" ]; then
		HTTP_ERROR="it has more than the $max bytes that such a file may have"
		return 63
	fi
	return "$rc"
}

# http_watch FILE NAME [SIZE]: keep a line with what there is of FILE, as long
# as the script runs.
http_watch() {
	while sleep 1 && kill -0 $$ 2>/dev/null; do
		[ ! -f "$1" ] || printf '\r\033[K%s: %s: %s%s MB' "$PROG" "$2" "$(http_megabytes "$1")" \
			"${3:+ of $(($3 / 1000000))}" >&2
	done
}

http_megabytes() { echo $(($(stat -c %s "$1") / 1000000)); }
