#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# usage: submit.sh [OPTION...] --upstream LINUX.git --to-stable LTS[,LTS...] PATCH...
#
# Turn patches of the queue into the mails that stable@vger.kernel.org takes: a
# request for the upstream commits where these apply as they are, else the
# patches, made by cherry-pick; our own diff only where that conflicts. Writes a
# folder with the mails and a summary. PATCH is a name in the queue (.patch may be
# left out); the order is that of the series.
#
#   --upstream CLONE       a clone of mainline (Linus' tree); it is only read
#   --to-stable LIST       the longterm kernels, with commas between
#   --stable CLONE         a clone of linux-stable, for the newest state of each
#                          LTS; else the newest tree in the cache folder is taken
#   --method HOW           files (the default), send-email (git send-email) or b4
#   --results DIR          measured evidence, a folder of verify-build.sh; may be
#                          given more than once
#   --build                compile what the mails make of each LTS, for arm64 and
#                          x86_64, patch by patch; the first time some minutes
#   --distro-reason FILE   for patches of class distro: link to the report of a
#                          distribution's user, and what the user sees
#   --newer-reason TEXT    why a newer tree that lacks the fix does not get it
#   --followup-reason TEXT why a fix of the fix in mainline is left out
#   --out DIR              where to write (default submit/LTS,LTS-PATCH)
#   --send                 show recipients, ask once, send with --method b4 or
#                          send-email; each mail that went out is recorded, and the
#                          same command again sends the rest
#   --yes                  with --send: do not ask, for use without a terminal
#
# Refused: what was never merged, what an LTS has already, what stable does not
# take (docs/submit.md). Nothing is sent without --send.
#
# stdout: the summary. Exit codes: 0 written, or sent; 1 refused, the reason is
# said; 2 wrong arguments, or --send without a terminal; 3 it does not compile, or
# with a new warning; 5 a tool is missing; 6 cannot write, or a mail was not taken;
# 7 the clone or tree cannot be used; 130, 143 interrupted.

. "$(dirname -- "$(readlink -f -- "$0")")/lib/common.sh"
. "$KIT/scripts/lib/scratch.sh"
. "$KIT/scripts/lib/needs.sh"
. "$KIT/scripts/lib/progress.sh"
. "$KIT/scripts/lib/sync.sh"
. "$KIT/scripts/lib/build.sh"
. "$KIT/scripts/lib/status.sh"
. "$KIT/scripts/lib/submit-clone.sh"
. "$KIT/scripts/lib/submit-queue.sh"
. "$KIT/scripts/lib/submit-pick.sh"
. "$KIT/scripts/lib/submit-text.sh"
. "$KIT/scripts/lib/submit-mail.sh"
. "$KIT/scripts/lib/submit-check.sh"
. "$KIT/scripts/lib/submit-build.sh"
. "$KIT/scripts/lib/submit-send.sh"
. "$KIT/scripts/lib/submit-b4.sh"

WORK='' UPSTREAM='' STABLE='' METHOD=files RESULTS=() REASON_FILE='' NEWER_REASON=''
FOLLOWUP_REASON='' OUT='' BUILD=no SEND=no YES=no TO=() ASKED=() REQUESTS=1

parse_args() {
	local args
	args=$(getopt -n "$PROG" -o h -l upstream:,stable:,to-stable:,method:,results:,distro-reason:,newer-reason:,followup-reason:,out:,build,send,yes,help -- "$@") ||
		die "$EX_USAGE" "wrong arguments; $PROG --help lists them"
	eval set -- "$args"
	while :; do
		case $1 in
		-h | --help) usage 0 ;;
		--build) BUILD=yes ;;
		--send) SEND=yes ;;
		--yes) YES=yes ;;
		--) shift; break ;;
		*)
			[ -n "$2" ] || die "$EX_USAGE" "$1 needs a value; $PROG --help says which"
			set_option "$1" "$2"
			shift ;;
		esac
		shift
	done
	ASKED=("$@")
	check_args
}

# set_option NAME VALUE
set_option() {
	case $1 in
	--upstream) UPSTREAM=$2 ;;
	--stable) STABLE=$2 ;;
	--to-stable) mapfile -t TO < <(tr , '\n' <<<"$2" | sort -Vru) ;;
	--method) METHOD=$2 ;;
	--results) RESULTS+=("$2") ;;
	--distro-reason) REASON_FILE=$2 ;;
	--newer-reason) NEWER_REASON=$2 ;;
	--followup-reason) FOLLOWUP_REASON=$2 ;;
	--out) OUT=$2 ;;
	esac
}

check_args() {
	local lts
	[ -n "$UPSTREAM" ] || die "$EX_USAGE" "--upstream CLONE is needed: a clone of mainline, from which the commits are taken"
	[ ${#TO[@]} -gt 0 ] || die "$EX_USAGE" "--to-stable LTS is needed; there are: $(lts_list | paste -sd ' ')"
	[ ${#ASKED[@]} -gt 0 ] || die "$EX_USAGE" "which patches? name them as in series/${TO[0]}.stable or .distro"
	case $METHOD in
	files | send-email | b4) ;;
	*) die "$EX_USAGE" "no method \"$METHOD\"; there are: files send-email b4" ;;
	esac
	[ "$SEND" = no ] || [ "$METHOD" != files ] ||
		die "$EX_USAGE" "--method files sends nothing; say --method send-email or b4 with --send"
	[ "$YES" = no ] || [ "$SEND" = yes ] || die "$EX_USAGE" "--yes is for --send; leave it out"
	need_queue
	for lts in "${TO[@]}"; do
		lts_known "$lts" || die "$EX_USAGE" "no queue for \"$lts\"; there are: $(lts_list | paste -sd ' ')"
	done
	[ -n "$OUT" ] || OUT=submit/$(tr ' ' , <<<"${TO[*]}")-${ASKED[0]%.patch}
}

need_tools() {
	local tool missing=
	for tool in git filterdiff perl jq fmt iconv flock; do
		command -v "$tool" >/dev/null || missing+=" $tool"
	done
	[ -z "$missing" ] ||
		die "$EX_HOST" "missing:$missing; on Debian: apt-get install git patchutils perl jq coreutils libc-bin util-linux"
	[ "$METHOD" = files ] || env -u GIT_DIR git send-email --help >/dev/null 2>&1 ||
		[ -x "$(git --exec-path)/git-send-email" ] ||
		die "$EX_HOST" "there is no git send-email; on Debian: apt-get install git-email; or say --method files"
	[ "$METHOD" != b4 ] || b4_probe
	kit_make build/bin/kit-queue
	[ "$BUILD" = no ] || build_ready
}

# who_sends: the submitter, as git knows it. Nobody's name is made up.
who_sends() {
	local who
	who=$(upstream_user_git -c user.useConfigOnly=true var GIT_COMMITTER_IDENT 2>/dev/null) ||
		die "$EX_USAGE" "git does not know who signs off and sends; say it: git config --global user.name 'Your Name'; git config --global user.email you@your.host"
	SENDER=${who%>*}\>
	SENDER_NAME=${SENDER% <*} SENDER_MAIL=$(sed 's/.*<//; s/>$//' <<<"$SENDER")
	[[ $SENDER_MAIL == ?*@?* ]] ||
		die "$EX_USAGE" "\"$SENDER_MAIL\" is no mail address to sign off with; say it: git config --global user.email you@your.host"
}

# make_mails: the groups, newest tree first: one request for all that take the same
# commits as they are, patches for each of the rest.
make_mails() {
	local lts other same=() done=' ' folder=request
	mkdir "$WORK/mail" && : >"$WORK/order" || sgit_infra
	for lts in "${TO[@]}"; do
		[ ! -s "$WORK/$lts/picked" ] || recipients "$lts"
	done
	for lts in "${TO[@]}"; do
		[ -s "$WORK/$lts/picked" ] && [[ $done != *" $lts "* ]] || continue
		if ! all_as_is "$lts"; then
			series_mails "$lts"
			echo "$lts.y" >>"$WORK/order"
			continue
		fi
		same=()
		for other in "${TO[@]}"; do
			[ -s "$WORK/$other/picked" ] && all_as_is "$other" && cmp -s "$WORK/$lts/list" "$WORK/$other/list" || continue
			same+=("$other") done+="$other "
		done
		request_mail "$folder" "${same[@]}"
		echo "$folder" >>"$WORK/order"
		folder=request-$((++REQUESTS))
	done
}

# prove LTS: what would be sent is taken apart again. A request carries no
# patch, but what it asks for is proved in the same way.
prove() {
	local dir=$WORK/mail/$1.y
	if [ ! -d "$dir" ]; then
		dir=$WORK/$1/ask
	fi
	taken_apart "$1" "$dir"
	[ "$BUILD" = no ] || build_mails "$1"
	checkpatch "$1" "$dir"
}

summary() {
	local dir mail lts
	echo "Mails for $STABLE_LIST, in the order to send:"
	while read -r mail; do
		printf '  %s\n      %s\n' "$mail" "$(mail_subject "$WORK/mail/$mail")"
	done <"$WORK/sequence"
	for lts in "${TO[@]}"; do
		[ -s "$WORK/$lts/picked" ] || continue
		echo
		bots_say "$lts"
	done
}

# publish: the folder appears whole. One in which mails were sent is kept, if
# what is to be sent is still the same and nobody has edited it to something else.
publish() {
	local new lts
	if [ -s "$OUT/sent.log" ]; then
		same_as_sent ||
			die "$EX_FAIL" "mails of another state were sent from $OUT (sent.log); name another folder with --out"
		for lts in "${TO[@]}"; do [ ! -d "$OUT/$lts.y" ] || taken_apart "$lts" "$OUT/$lts.y"; done
		return 0
	fi
	[ ! -e "$OUT" ] || [ -f "$OUT/order" ] || { [ -d "$OUT" ] && [ -z "$(ls -A -- "$OUT")" ]; } ||
		die "$EX_USAGE" "$OUT is there and was not written by $PROG; name another folder with --out"
	mkdir -p -- "$(dirname -- "$OUT")" && new=$(mktemp -d "$OUT.XXXXXX") ||
		die "$EX_INFRA" "cannot write next to $OUT; name another folder with --out"
	chmod 755 "$new" && cp -r -- "$WORK/mail/." "$new" && cp -- "$WORK/sequence" "$new/order" &&
		cp -- "$WORK/summary" "$new/summary.txt" && cp -- "$WORK/plan" "$new/plan" && rm -rf -- "$OUT" && mv -T -- "$new" "$OUT" || {
		rm -rf -- "$new"
		die "$EX_INFRA" "cannot write $OUT; is the disk full?"
	}
}

# sequence: the order of all mails; and "plan", what they say, by which a rerun sees
# that it is about the same.
sequence() {
	local group
	while read -r group; do (cd "$WORK/mail" && printf '%s\n' "$group"/*); done <"$WORK/order" >"$WORK/sequence"
}

plan_made() { (cd "$WORK/mail" && sha256sum -- */*) >"$WORK/plan" || sgit_infra; }

same_as_sent() { cmp -s "$WORK/plan" "$OUT/plan"; }

# shellcheck disable=SC2317,SC2031 # called by the trap; set in the shell itself
cleanup() {
	trap '' INT TERM HUP
	kill_jobs
	[ -z "${SCRATCH-}" ] || rm -rf -- "$SCRATCH"
	[ -z "$WORK" ] || rm -rf -- "$WORK"
}

main() {
	local lts
	parse_args "$@"
	need_tools
	trap cleanup EXIT
	trap 'note "interrupted"; exit 130' INT
	trap 'note "terminated"; exit 143' TERM HUP
	scratch_env
	scratch_sweep
	scratch_work submit
	printf '%s\n' "${TO[@]}" >"$WORK/ltss"
	submit_open
	who_sends
	pick_begin
	for lts in "${TO[@]}"; do submit_plan "$lts"; done
	anything_left
	for lts in "${TO[@]}"; do newer_first "$lts"; done
	reason_check
	for lts in "${TO[@]}"; do
		[ ! -s "$WORK/$lts/list" ] || { pick_all "$lts"; check_size "$lts"; }
	done
	results_check
	make_mails
	for lts in "${TO[@]}"; do [ ! -s "$WORK/$lts/picked" ] || prove "$lts"; done
	plan_made
	[ "$METHOD" != b4 ] || b4_mails
	sequence
	summary >"$WORK/summary" || exit
	publish
	cat "$WORK/summary"
	echo
	echo "The mails are in $OUT."
	[ "$SEND" = no ] || send_all
}

main "$@"
exit "$EX_OK"
