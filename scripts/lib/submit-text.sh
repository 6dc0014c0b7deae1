# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What the mails of submit.sh say: the changelog of the upstream commit with
# what stable wants to be added, the request, the cover letter.
#
# Needs common.sh and the variables of submit.sh: WORK, SENDER, SENDER_NAME,
# REASON_FILE (text below "Why"), NEWER_REASON, FOLLOWUP_REASON, and the files
# of $WORK/LTS that submit-pick.sh makes.

# clean_text <TEXT: without CR, blanks at line ends, empty lines at both ends.
clean_text() { tr -d '\r' | git stripspace; }

# mail_safe WHAT <TEXT: the same with two blanks in front of each line that git am
# would take for the end of the text, or a mailbox for the start of another mail;
# says so of WHAT. The rules are those of git mailinfo.
mail_safe() {
	awk -v what="$1" -v prog="$PROG" '
		/^(diff -|Index: |From |>+From )/ || /^---[ \t]*$/ || /^--- [^ \t]/ {
			printf "%s: %s: line \"%s\" of the changelog would not survive as mail and is set in by two blanks\n", prog, what, $0 >"/dev/stderr"
			$0 = "  " $0 }
		{ print }'
}

# changelog COMMIT: subject and text as they are upstream, in UTF-8.
changelog() { upstream_git log -1 --encoding=UTF-8 --format=%B "$1" | clean_text; }

# subject_of COMMIT
subject_of() { upstream_git log -1 --encoding=UTF-8 --format=%s "$1" | tr -d '\r'; }

# short_ref COMMIT: as kernel people quote one.
short_ref() { printf '%.12s ("%s")' "$1" "$(subject_of "$1")"; }

# trailer_last FILE: whether FILE ends with trailers, so that one more follows
# without an empty line.
trailer_last() { tail -n 1 "$1" | grep -qE '^([A-Za-z][A-Za-z-]*: |\[ )'; }

# stable_message NAME COMMIT [NOTE-FILE]: the commit message to send: subject,
# reference, upstream's text and sign-offs in order, NOTE, the submitter's
# sign-off.
stable_message() {
	local name=$1 commit=$2 note=${3-} body=$WORK/body sign="Signed-off-by: $SENDER"
	changelog "$commit" | sed '1,/^$/d' | mail_safe "$name" >"$body"
	{
		subject_of "$commit"
		printf '\ncommit %s upstream.\n\n' "$commit"
		cat "$body"
		! [ -s "$body" ] || trailer_last "$body" || echo
		[ -z "$note" ] || bracketed "$note"
		if [ -n "$note" ] || [ "$(tail -n 1 "$body")" != "$sign" ]; then echo "$sign"; fi
	} | git stripspace
}

# bracketed FILE: our note, in the form that stable changelogs have it.
bracketed() { { printf '[ %s: ' "$SENDER_NAME"; paste -sd ' ' "$1" | sed 's/  */ /g; s/ *$//; s/$/ ]/'; } | fold_words | sed '2,$s/^/  /'; }

fold_words() { fmt -w 72; }

# backport_note PATCH LTS: what the header of our PATCH says of this LTS: the
# paragraphs that begin with "In LTS", else what there is of it in others. Returns
# 1 if there is nothing.
backport_note() {
	sed '1,/^$/d; /^---$/,$d' "$1" | awk -v lts="$2" '
		BEGIN { RS = ""; gsub(/\./, "\\.", lts); word = "(^|[^0-9.])" lts "([^0-9.]|\\.?[ \n]|\\.?$)" }
		/^Kit-[A-Za-z-]*: / { next }
		{ gsub(/\n/, " ") }
		match($0, "^In " lts "[ ,]") { first = first $0 "\n"; next }
		match($0, "In " lts "[ ,]") { other = other substr($0, RSTART) "\n"; next }
		$0 ~ word { other = other $0 "\n" }
		END { if (first other == "") exit 1; printf "%s", first == "" ? other : first }'
}

# kit_reason PATCH: what goes wrong, for whom: the text of our header down to
# where it speaks of this LTS, of stable or of itself.
kit_reason() {
	sed '1,/^$/d; /^---$/,$d' "$1" | awk '
		BEGIN { RS = ""; ORS = "\n\n" }
		/^(\[ Upstream commit|commit [0-9a-f]+ upstream)/ { next }
		/^(In [0-9]+\.[0-9]+|Kit-|Stable takes|The text, the code|This text)/ { exit }
		{ print }'
}

# why_text LTS: the reason, for cover letter and request: that of --distro-reason
# where there is one, else what our headers say.
why_text() {
	local name
	echo "Why:"
	echo
	if [ -n "${REASON_FILE-}" ]; then
		clean_text <"$REASON_FILE"
		return
	fi
	cut -f1 "$WORK/$1/rows" | while read -r name; do
		kit_reason "$KIT_QUEUE/patches/$1/$name"
	done | clean_text
}

# newer_text LTS...: where the trees newer than these stand, but for those that
# this goes to as well; and what was given as a reason for those that lack it.
newer_text() {
	local lts
	for lts; do cat "$WORK/$lts/newer"; done | grep -v ' is sent along$' | newer_joined >"$WORK/newer"
	if [ -s "$WORK/newer" ]; then
		printf 'Newer trees:\n\n'
		sed 's/^/  /' "$WORK/newer"
		echo
	fi
	[ -z "$NEWER_REASON" ] || printf '%s\n\n' "$(fold_words <<<"$NEWER_REASON")"
}

# newer_joined <NEWER: one line for each tree and state, newest tree first.
newer_joined() {
	sort -s -k1,1Vr | awk '!seen[$0]++ { tree = $1; id = $2; sub(/^[^ ]* [^ ]* /, ""); key = tree SUBSEP $0
		if (!(key in ids)) order[++n] = key
		ids[key] = ids[key] (count[key]++ ? ", " : "") id }
		END { for (i = 1; i <= n; i++) { split(order[i], part, SUBSEP)
			print part[1], count[order[i]] == 1 ? ids[order[i]] " " part[2] : part[2] " (" ids[order[i]] ")" } }'
}

followup_text() {
	[ -n "$FOLLOWUP_REASON" ] || return 0
	printf 'Follow-ups that are left out:\n\n'
	cat "$WORK"/*/followups 2>/dev/null | sort -u | sed 's/^/  /'
	printf '\n%s\n\n' "$(fold_words <<<"$FOLLOWUP_REASON")"
}

# commit_list LTS: the upstream commits of a submission, in order.
commit_list() {
	local commit version
	while IFS=$'\t' read -r _ commit version; do
		printf '  %s\n    ("%s"), in mainline since %s\n' "$commit" "$(subject_of "$commit")" "$version"
	done <"$WORK/$1/list"
}

# one_text LTS: all that goes below the "---" of a patch that has no cover letter.
one_text() {
	why_text "$1"
	echo
	newer_text "$1"
	followup_text
	evidence_text "$1"
}

# cover_text LTS: subject and text of the cover letter.
cover_text() {
	local n common how
	n=$(wc -l <"$WORK/$1/list")
	common=$(cut -f2 "$WORK/$1/list" | while read -r how; do subject_of "$how"; done |
		sed -n 's/^\([^ ]*\): .*/\1/p' | sort -u | paste -sd,)
	[[ -n $common && $common != *,* ]] || common=$(cut -d/ -f1 <<<"${common%%[,:]*}")
	printf '%s: %d fixes from mainline for %s.y\n\n' "${common:-backport}" "$n" "$1"
	printf 'Please consider these upstream commits for %s.y, in this order:\n\n' "$1"
	commit_list "$1"
	echo
	why_text "$1"
	echo
	newer_text "$1"
	followup_text
	while IFS=$'\t' read -r name how _; do
		case $how in
		ours) printf '%s\n  does not apply to %s.y; what was adapted is said in its changelog.\n\n' "$(subject_in "$1" "$name")" "$1" ;;
		cherry-pick) printf '%s\n  is a cherry-pick without conflicts; only its context differs.\n\n' "$(subject_in "$1" "$name")" ;;
		esac
	done < <(cut -f1,2 "$WORK/$1/picked")
	evidence_text "$1"
}

# subject_in LTS NAME: the upstream subject of one of its patches.
subject_in() { subject_of "$(awk -F '\t' -v n="$2" '$1 == n { print $2 }' "$WORK/$1/list")"; }

# request_text LTS...: the mail that asks for commits that apply as they are.
request_text() {
	local n what lts where
	n=$(wc -l <"$WORK/$1/list")
	where=$(printf '%s.y, ' "$@")
	what=$(subject_of "$(head -n 1 "$WORK/$1/list" | cut -f2)")
	[ "$n" -eq 1 ] || what="$n commits, $what, ..."
	printf 'Please apply to %s: %s\n\n' "${where%, }" "$what"
	printf 'Please apply %s to %s:\n\n' "$([ "$n" -eq 1 ] && echo 'this upstream commit' || echo 'these upstream commits, in this order,')" "${where%, }"
	commit_list "$1"
	printf '\n%s as it is (git apply, no fuzz).\n\n' "$([ "$n" -eq 1 ] && echo 'It applies' || echo 'Each applies')"
	why_text "$1"
	echo
	newer_text "$@"
	followup_text
	for lts; do evidence_text "$lts"; done
}
