# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Telling what was found: HOST_FOUND as a table and as JSON. Needs common.sh and
# host.sh.

# host_word STATE NEEDED: set WORD to the first column of the table.
host_word() {
	case $1:$2 in
	ok:* | note:*) WORD=$1 ;;
	*:optional) WORD=note ;;
	old:*) WORD="too old" ;;
	*) WORD=$1 ;;
	esac
}

# host_say STATE NEEDED JOBS PACKAGE TEXT: set SAY to the last column.
host_say() {
	SAY=$5
	[ "$4" = - ] || [ "$1" = ok ] || SAY+="${SAY:+; }package $4"
	if [ "$2" = optional ] && [ "$1" != ok ] && [ "$4" != - ]; then
		SAY+=" (optional, for ${3//,/, })"
	fi
}

# host_table [bad]: all rows, or only those that keep the work from starting.
host_table() {
	local row state what have want need jobs package text w=4 h=5 n=6 line
	for row in ${HOST_FOUND[@]+"${HOST_FOUND[@]}"}; do
		IFS=$HOST_SEP read -r state what have want need _ _ _ <<<"$row"
		[ ${#what} -le "$w" ] || w=${#what}
		[ ${#have} -le "$h" ] || h=${#have}
		[ ${#want} -le "$n" ] || n=${#want}
	done
	[ -n "${1-}" ] || printf '%-7s  %-*s  %-*s  %-*s  %s\n' STATE "$w" WHAT "$h" FOUND "$n" NEEDED REMARK
	for row in ${HOST_FOUND[@]+"${HOST_FOUND[@]}"}; do
		IFS=$HOST_SEP read -r state what have want need jobs package text <<<"$row"
		host_word "$state" "$need"
		case ${1-}:$WORD in bad:ok | bad:note) continue ;; esac
		host_say "$state" "$need" "${jobs//\?/}" "$package" "$text"
		printf -v line '%-7s  %-*s  %-*s  %-*s  %s' "$WORD" "$w" "$what" "$h" "${have:--}" "$n" "${want:--}" "$SAY"
		printf '%s\n' "${line%"${line##*[! ]}"}"
	done
}

# host_advice: how to get what is missing, on stderr.
host_advice() {
	local required optional
	mapfile -t required < <(host_packages required)
	mapfile -t optional < <(host_packages optional)
	[ ${#optional[@]} -eq 0 ] || [ -n "${1-}" ] ||
		note "optional; run: $(host_install_line) ${optional[*]}"
	[ ${#required[@]} -eq 0 ] ||
		note "something is missing; run: $(host_install_line) ${required[*]}"
}

# json_string TEXT: set JSON to it as a JSON string. This is written by hand since
# on the hosts that it is for there is no jq and no compiler yet. Bytes that are
# not ASCII become question marks.
json_string() {
	local s=$1 i c out=
	if [[ $s == *[!\ -~]* || $s == *[\\\"]* ]]; then
		for ((i = 0; i < ${#s}; i++)); do
			c=${s:i:1}
			case $c in
			\\ | \") out+="\\$c" ;;
			[\ -~]) out+=$c ;;
			[$'\001'-$'\037'$'\177']) printf -v c '\\u%04x' "'$c"; out+=$c ;;
			*) out+='?' ;;
			esac
		done
		s=$out
	fi
	JSON="\"$s\""
}

# json_list STRING...: print them as an array.
json_list() {
	local s sep=''
	printf '['
	for s; do
		json_string "$s"
		printf '%s%s' "$sep" "$JSON"
		sep=', '
	done
	printf ']'
}

# json_members NAME TEXT...: print "NAME": "TEXT" and so on; null for no TEXT.
json_members() {
	local sep=''
	while [ $# -gt 0 ]; do
		JSON=null
		case $2 in '' | -) ;; *) json_string "$2" ;; esac
		printf '%s"%s": %s' "$sep" "$1" "$JSON"
		sep=', '
		shift 2
	done
}

# host_json true|false: everything, as one object on stdout.
host_json() {
	local row state what have want need jobs package text sep='' required optional command=
	mapfile -t required < <(host_packages required)
	mapfile -t optional < <(host_packages optional)
	[ ${#required[@]} -eq 0 ] || command="$(host_install_line) ${required[*]}"
	printf '{"ok": %s, "checked": %d, "problems": %d,\n ' "$1" "${#HOST_FOUND[@]}" "$(host_bad)"
	json_members arch "$HOST_ARCH" manager "$(host_manager)" install "$command"
	printf ',\n "packages": '
	json_list ${required[@]+"${required[@]}"}
	printf ', "optional_packages": '
	json_list ${optional[@]+"${optional[@]}"}
	printf ',\n "checks": ['
	for row in ${HOST_FOUND[@]+"${HOST_FOUND[@]}"}; do
		IFS=$HOST_SEP read -r state what have want need jobs package text <<<"$row"
		printf '%s\n  {' "$sep"
		json_members state "$state" what "$what" found "$have" wanted "$want" \
			needed "$need" jobs "$jobs" package "$package" remark "$text"
		printf '}'
		sep=,
	done
	printf ']}\n'
}
