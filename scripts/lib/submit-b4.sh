# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# submit.sh --method b4: b4 makes the mails of a series out of the commits of
# submit-pick.sh. They go by git send-email, one by one, so that the rest can follow
# in the same thread where a server fails; but where b4 signs, it sends as well. A
# request for commits has no series, and goes by git send-email, too.
#
# Uses WORK, OUT, SENDER; needs submit-mail.sh and submit-send.sh.

# b4_probe: b4 is asked for what it can, not for its version.
b4_probe() {
	local option
	command -v b4 >/dev/null ||
		die "$EX_HOST" "there is no b4; on Debian: apt-get install b4; or say --method send-email or files"
	for option in --output-dir --no-trailer-to-cc --not-me-too --no-sign; do
		b4 send --help 2>/dev/null | grep -qF -- "$option" || b4_old "b4 send $option"
	done
	for option in --enroll --set-prefixes --edit-cover; do
		b4 prep --help 2>/dev/null | grep -qF -- "$option" || b4_old "b4 prep $option"
	done
}

b4_old() { die "$EX_HOST" "this b4 has no \"$1\"; install a newer one (Debian 12 has one that does), or say --method send-email or files"; }

# in_b4 ARG...: b4 in the scratch repository, with the user's configuration.
in_b4() {
	(cd "$WORK/repo" && env -u GIT_DIR -u GIT_CONFIG_GLOBAL -u GIT_CONFIG_NOSYSTEM "${USER_GIT[@]}" b4 "$@") >"$WORK/b4.log" 2>&1
}

b4_failed() { die "$EX_INFRA" "b4 $1 failed: $(sed '/^$/d' "$WORK/b4.log" | tail -n 1); nothing was sent; --method send-email does without b4"; }

# b4_branch LTS: a branch that b4 knows, with the cover letter of the series.
b4_branch() {
	local branch=to-$1.y text=$WORK/b4.cover
	# b4 forks only from what another branch has
	sgit branch -f "base-of-$1.y" "$(cat "$WORK/$1/base")" || sgit_infra
	sgit checkout -q -f -B "$branch" "$(tail -n 1 "$WORK/$1/picked" | cut -f3)" && sgit clean -qfdx || sgit_infra
	sgit config b4.prep-cover-strategy branch-description
	sgit config user.name "$SENDER_NAME" && sgit config user.email "$SENDER_MAIL"
	in_b4 prep -e "$(cat "$WORK/$1/base")" || b4_failed "prep --enroll"
	in_b4 prep --set-prefixes "$1.y" || b4_failed "prep --set-prefixes"
	b4_cover "$1" | mail_safe "the cover letter" | git stripspace >"$text"
	EDITOR="cp $text" GIT_EDITOR="cp $text" in_b4 prep --edit-cover || b4_failed "prep --edit-cover"
}

# b4_cover LTS: of one patch b4 puts it below the "---".
b4_cover() {
	if [ "$(wc -l <"$WORK/$1/list")" -gt 1 ]; then
		cover_text "$1"
	else
		printf '%s\n\n' "$(subject_of "$(cut -f2 "$WORK/$1/list")")"
		one_text "$1"
	fi
}

# b4_recipients LTS: as arguments of b4 send, with --no-sign where it is needed.
b4_recipients() {
	# b4 signs where there is a key, and stops where there is none
	b4_signs || echo --no-sign
	printf '%s\n' --no-trailer-to-cc --not-me-too --to "$STABLE_LIST" --cc
	encoded_plain <"$WORK/$1/cc"
}

# b4 wants names as they are read, not as they are encoded.
encoded_plain() { sed 's/^"\(.*\)" </\1 </' | sed 's/^\([^<]*[][(),:;@\\.][^<]*\) </"\1" </'; }

# b4_mails: b4's dry run in the place of our mails, taken apart like these.
b4_mails() {
	local lts args dir
	for lts in "${TO[@]}"; do
		[ -d "$WORK/mail/$lts.y" ] || continue
		b4_branch "$lts"
		mapfile -t args < <(b4_recipients "$lts")
		dir=$WORK/mail/$lts.y
		in_b4 send -o "$WORK/b4.out" "${args[@]}" || b4_failed "send --output-dir"
		rm -rf -- "$dir" && mkdir "$dir" || sgit_infra
		b4_sorted "$dir" "$lts"
		taken_apart "$lts" "$dir"
	done
}

# b4_sorted DIR LTS: the mails of b4.out, named and numbered as git does.
b4_sorted() {
	local mail subject n
	for mail in "$WORK/b4.out"/*; do
		subject=$(mail_subject "$mail")
		n=$(sed -n 's,^\[[^]]* \([0-9]*\)/[0-9]*\].*,\1,p' <<<"$subject")
		mv -- "$mail" "$1/$(printf '%04d' "$((10#${n:-1}))")-$(sed 's/^\[[^]]*\] *//; s/[^A-Za-z0-9.]\{1,\}/-/g' <<<"$subject" | cut -c1-52).eml" || sgit_infra
	done
	rmdir "$WORK/b4.out"
	[ "$(patch_mails "$1" | wc -l)" -eq "$(wc -l <"$WORK/$2/list")" ] ||
		die "$EX_INFRA" "b4 made other mails than $2 has patches; use --method send-email"
}

# b4_signs: whether there is a key that b4 signs with; git send-email would change
# what is signed. To send through the web b4 wants one, too.
b4_signs() { upstream_user_git config --get-regexp '^(patatt|user)\.signingkey$' >/dev/null; }

# b4_send_all MAIL...: after the user's yes. b4 sends a series as a whole, under names
# that it does not tell: what it came to is recorded from what it says, and the rest
# is for the user.
b4_send_all() {
	local mail part lts args done_before=
	for mail; do
		lts=${mail%%.y/*}
		if [ "$lts" = "$mail" ]; then
			send_one "$OUT/$mail" && sent "$mail" || die "$EX_INFRA" "$mail was not sent (see above)"
			continue
		fi
		[[ " $done_before " != *" $lts "* ]] || continue
		done_before+=" $lts"
		! grep -q "	$lts\.y/" "$OUT/sent.log" 2>/dev/null ||
			die "$EX_FAIL" "b4 has sent a part of the series for $lts before ($OUT/sent.log), and cannot send the rest of one; look at the list, and begin again with another --out, or send the rest by hand"
		mapfile -t args < <(b4_recipients "$lts")
		sgit checkout -q -f "to-$lts.y" || sgit_infra
		in_b4_yes send "${args[@]}" || b4_broke "$lts" "$@"
		for part; do [[ $part != "$lts.y/"* ]] || sent "$part" || die "$EX_INFRA" "all of $lts.y was sent, but $OUT/sent.log cannot be written"; done
	done
	note "sent by b4; $OUT/sent.log says what, but b4 gives Message-IDs of its own"
}

in_b4_yes() { echo | in_b4 "$@"; }

# b4_broke LTS MAIL...: b4 names each mail when it begins with it. What it says before
# that is on one line with its prompt.
b4_broke() {
	local lts=$1 mail n
	shift
	n=$(sed '1,/Sending via\|Connecting to/d' "$WORK/b4.log" | grep -c '^ *\[PATCH')
	for mail; do
		[[ $mail == "$lts.y/"* ]] || continue
		n=$((n - 1))
		[ "$n" -lt 1 ] || sent "$mail"
	done
	sed '/^$/d' "$WORK/b4.log" | tail -n 3 >&2
	die "$EX_INFRA" "b4 stopped in the series for $lts; $(grep -c "	$lts\.y/" "$OUT/sent.log" 2>/dev/null || :) mail(s) of it were on their way before, see $OUT/sent.log; look at the list before you send more"
}
