# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What submit.sh wants to see before a mail goes out: measured evidence, the reason
# for a performance fix, checkpatch; and what the bots of stable will look at.
#
# Uses WORK, RESULTS (folders), REASON_FILE, and $WORK/LTS of submit-pick.sh.

# result FOLDER JQ: of its results.json.
result() { jq -r "$2 // empty" "$1/results.json" 2>/dev/null; }

# results_check: each folder of RESULTS must be about what is sent: leaves if it is
# of another LTS, of other patches or of other versions of them, or failed.
# Remembers it for its LTS in $WORK/LTS/results.
results_check() {
	local dir lts name named
	for dir in ${RESULTS[@]+"${RESULTS[@]}"}; do
		jq -e 'type == "object" and has("ok") and has("lts")' "$dir/results.json" >/dev/null 2>&1 ||
			die "$EX_USAGE" "$dir holds no results of verify-build.sh; give the folder that has results.json"
		lts=$(result "$dir" .lts)
		[ -f "$WORK/$lts/picked" ] ||
			die "$EX_FAIL" "the results in $dir are of ${lts:-no LTS}, which this does not go to ($(paste -sd ' ' "$WORK/ltss")); run verify-build.sh for that LTS"
		[ "$(result "$dir" '.ok | tostring')" = true ] ||
			die "$EX_FAIL" "the results in $dir are of a run that failed: $(result "$dir" '.error // ([.checks[]? | select(.ok | not) | .check] | first) // "a check failed"'); they are no evidence for the patch"
		named=$(result "$dir" .named_patches | tr ',' '\n' | tr -s ' ' '\n' | sed '/^$/d; s/\.patch$//')
		[ -n "$named" ] && ! grep -qvxFf <(cut -f1 "$WORK/$lts/picked" | sed 's/\.patch$//') <<<"$named" ||
			die "$EX_FAIL" "the results in $dir are about ${named:-no patch}, and not only what is sent; run verify-build.sh with a scenario for these patches"
		for name in $named; do results_fresh "$dir" "$lts" "$name"; done
		readlink -f -- "$dir" >>"$WORK/$lts/results"
	done
}

# results_fresh DIR LTS NAME: what was measured is the patch as it is now.
results_fresh() {
	[ "$(jq -r --arg k "${3//./_}" '.patch_sha256[$k] // empty' "$1/results.json")" = \
		"$(sha256sum <"$KIT_QUEUE/patches/$2/$3.patch" | cut -d' ' -f1)" ] ||
		die "$EX_FAIL" "patches/$2/$3.patch is not what was measured for $1; run verify-build.sh again"
}

# evidence_text LTS: what was measured, for the mail.
evidence_text() {
	local dir
	[ -s "$WORK/$1/results" ] || return 0
	while read -r dir; do
		result "$dir" '"Measured on \(.version), \(.arch) under QEMU (\(.accel // "tcg")), emulated machine \"\(.topology)\",\nscenario \"\(.scenario)\", without and with \(.named_patches | tostring):\n"' |
			fmt -w 74
		echo
		result "$dir" '.metrics | to_entries[] | "  \(.key): \(.value.base.median) -> \(.value.patched.median) \(.value.unit)  (medians of \(.value.base.samples) and \(.value.patched.samples); noise \(.value.noise); \(.value.outcome))"'
		result "$dir" '.checks[] | "  checked: \(.check)"' | fmt -t -w 76
		echo
	done <"$WORK/$1/results"
	same_code "$1" ||
		printf '%s\n\n' "$(fold_words <<<"Measured was the kit's own backport of the same change, whose text is not that of what is sent here.")"
}

# reason_check: a fix of class distro needs a reason, with a link to the report
# and what users see of it.
reason_check() {
	local name
	name=$(cat "$WORK"/*/rows | awk -F '\t' '$5 == "distro" { print $1; exit }')
	if [ -z "${REASON_FILE-}" ]; then
		[ -z "$name" ] ||
			die "$EX_FAIL" "$name is for performance (class distro): stable takes it for a serious issue that a user of a distribution's kernel reported; give --distro-reason FILE with the link to the report and what the user sees"
		return 0
	fi
	[ -f "$REASON_FILE" ] && [ -r "$REASON_FILE" ] ||
		die "$EX_USAGE" "cannot read $REASON_FILE; --distro-reason needs a text file"
	iconv -f UTF-8 -t UTF-8 <"$REASON_FILE" >/dev/null 2>&1 ||
		die "$EX_USAGE" "$REASON_FILE is not UTF-8; write it as plain text"
	grep -qE 'https?://[^ /]+\.[^ ]*/[^ ]' "$REASON_FILE" ||
		die "$EX_FAIL" "$REASON_FILE has no link to the report of the user; add the line \"Link: https://...\""
	[ "$(clean_text <"$REASON_FILE" | sed -E 's,(Link:)? *https?://[^ ]*,,g' | wc -w)" -ge 8 ] ||
		die "$EX_FAIL" "$REASON_FILE does not say what the user sees; write which kernel, which load and how bad it is"
}

# checkpatch LTS DIR: the tree's checkpatch.pl on each mail. The reference line is
# what stable asks for and no error. What it also says of the mainline commit is
# upstream's; an error that is only in ours ends the run.
checkpatch() {
	local mail n=0 types ref=$WORK/checkpatch.ref
	# shellcheck disable=SC2034 # for the summary
	CHECKED=
	while read -r mail; do
		n=$((n + 1))
		upstream_git format-patch -1 --stdout --no-renames "$(sed -n "${n}p" "$WORK/$1/list" | cut -f2)" >"$WORK/upstream.patch"
		ask_checkpatch "$1" "$WORK/upstream.patch" >"$ref"
		types=$(ask_checkpatch "$1" "$mail" | grep -vxFf "$ref")
		# shellcheck disable=SC2001 # at the begin of each line
		[ -z "$types" ] || sed "s,^,    checkpatch: ${mail##*/}: ," <<<"$types" >>"$WORK/$1/checkpatch"
		! grep -q '^ERROR:' <<<"$types" ||
			die "$EX_FAIL" "checkpatch.pl of $1 on ${mail##*/}: $(grep -m 1 '^ERROR:' <<<"$types"); repair patches/$1 (upstream's change has no such error)"
	done < <(patch_mails "$2")
}

# ask_checkpatch LTS MAIL: its errors and warnings, one a line.
ask_checkpatch() {
	local out code
	out=$(cd "$WORK/$1/tree" && perl scripts/checkpatch.pl --no-tree --terse --no-summary --show-types \
		--ignore GIT_COMMIT_ID,FROM_SIGN_OFF_MISMATCH,EMAIL_SUBJECT,COMMIT_LOG_LONG_LINE "$2" 2>"$WORK/checkpatch.log")
	code=$?
	[ $code -le 1 ] && { [ $code -eq 0 ] || [ -n "$out" ]; } ||
		die "$EX_TREE" "scripts/checkpatch.pl of $1 fails: $(head -n 1 "$WORK/checkpatch.log"); give a clone or a tree of $1 with a whole scripts/ folder"
	sed -n 's/^.*:[0-9]*: \(\(ERROR\|WARNING\):.*\)/\1/p' <<<"$out" | sort -u
}

# bots_say LTS: what stable's bots look at, and what they find, for the user.
bots_say() {
	local lts=$1 dir=$WORK/$1 name commit how n=0
	echo "$lts.y, as the bots of stable look at it:"
	while IFS=$'\t' read -r name commit _ <&3; do
		n=$((n + 1)) how=$(sed -n "${n}p" "$dir/picked" | cut -f2)
		printf '  %s\n' "$(short_ref "$commit")"
		printf '    reference    "commit %s upstream."%s\n' "$commit" "$([ -f "$WORK/mail/$lts.y" ] || [ -d "$WORK/mail/$lts.y" ] || echo ' (by the commit id in the request)')"
		printf '    author       %s\n' "$(upstream_git log -1 --encoding=UTF-8 --format='%an <%ae>' "$commit")"
		printf '    subject      the same as upstream\n'
		printf '    diff         %s\n' "$(how_text "$how" "$lts")"
		printf '    follow-ups   %s\n' "$(grep -F "$(cut -c1-12 <<<"$commit")" "$dir/followups" 2>/dev/null | paste -sd ';' | sed 's/^$/none that is missing/')"
	done 3<"$dir/list"
	printf '  newer trees    %s\n' "$({ newer_joined <"$dir/newer"; [ -s "$dir/newer" ] || echo "there are none that are supported"; } | sed '2,$s/^/                 /')"
	printf '  applies        git am on %s: the same trees, authors and messages\n' "$(cat "$dir/version")"
	built_text "$lts"
	[ ! -s "$dir/checkpatch" ] || cat "$dir/checkpatch"
}

# built_text LTS: what is known of "builds": what --build has compiled, and what
# was measured and so has booted; or that nobody knows.
built_text() {
	local dir
	[ ! -s "$WORK/$1/built" ] || sed 's/^/  builds         /' "$WORK/$1/built"
	if [ -s "$WORK/$1/results" ]; then
		printf '  boots          %s\n' "$(while read -r dir; do result "$dir" '"\(.version) \(.arch)"'; done <"$WORK/$1/results" | sort -u | paste -sd,)$(same_code "$1" || printf ' with the kit%ss own backport, which is not what is sent' "'")"
	elif [ ! -s "$WORK/$1/built" ]; then
		printf '  builds         nobody has tried: --build compiles it, verify-build.sh %s and --results DIR prove it\n' "$1"
	fi
}

how_text() {
	case $1 in
	as-is) echo "applies as it is upstream" ;;
	cherry-pick) echo "cherry-picked; only the context differs from upstream" ;;
	ours) echo "ours, for upstream's conflicts with $2; range-diff will differ, the note says why" ;;
	esac
}
