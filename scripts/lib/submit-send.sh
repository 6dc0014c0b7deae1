# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# submit.sh --send: the mails of the output folder, in order, each recorded as
# soon as the server has taken it. Nothing is sent without the user's yes.
#
# Uses OUT, METHOD, YES, SENDER, UPSTREAM. In OUT:
#   order      the mails, by folder/file, in the order to send
#   sent.log   time, Message-ID and mail, of those that went out

# all_addresses MAIL: To and Cc, one a line.
all_addresses() {
	sed -n '1,/^$/p' "$1" | awk '/^[Tt]o: |^[Cc]c: /{ on = 1; sub(/^[^:]*: /, "") ; print; next } /^[ \t]/ && on { sub(/^[ \t]+/, ""); print; next } { on = 0 }' |
		sed 's/,$//'
}

was_sent() { [ -f "$OUT/sent.log" ] && cut -f2 "$OUT/sent.log" | grep -qxF -- "$(message_id "$OUT/$1")"; }

# unsent: the mails of "order" that are not in sent.log.
unsent() {
	local mail
	while read -r mail; do was_sent "$mail" || printf '%s\n' "$mail"; done <"$OUT/order"
}

# ask_to_send MAIL...: recipients and subjects; then the one question. Leaves
# with EX_USAGE where there is nobody to answer it, EX_FAIL on no.
ask_to_send() {
	local mail answer
	{
		echo "To be sent with $METHOD, from $SENDER:"
		for mail; do printf '  %s\n' "$(mail_subject "$OUT/$mail")"; done
		echo "to:"
		for mail; do all_addresses "$OUT/$mail"; done | awk '!seen[$0]++ { print "  " $0 }'
	} >&2
	[ "$YES" = no ] || return 0
	[ -t 0 ] || die "$EX_USAGE" "--send asks before it sends, and there is no terminal to ask on; the mails are in $OUT; say --yes too to have them sent without a question"
	read -r -p "Send $# mail(s)? Type yes: " answer
	[ "$answer" = yes ] || die "$EX_FAIL" "nothing was sent; the mails are in $OUT"
}

# send_all: the rest of OUT.
send_all() {
	local mails mail n=0
	mapfile -t mails < <(unsent)
	[ ${#mails[@]} -gt 0 ] || { note "all mails in $OUT were sent before; nothing to do"; return; }
	[ ! -s "$OUT/sent.log" ] || note "$(wc -l <"$OUT/sent.log") mail(s) were sent before, ${#mails[@]} are left"
	ask_to_send "${mails[@]}"
	if [ "$METHOD" = b4 ] && b4_signs; then b4_send_all "${mails[@]}"; return; fi
	for mail in "${mails[@]}"; do
		send_one "$OUT/$mail" ||
			die "$EX_INFRA" "$mail was not sent (see above), $n mail(s) before it were; the same command sends the rest"
		sent "$mail" || die "$EX_INFRA" "$mail was sent, but $OUT/sent.log cannot be written; add this line to it: $(sent_line "$mail")"
		n=$((n + 1))
	done
	note "$n mail(s) sent; $OUT/sent.log says which"
}

sent_line() { printf '%s\t%s\t%s\n' "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$(message_id "$OUT/$1")" "$1"; }

sent() { sent_line "$1" >>"$OUT/sent.log" && sync -- "$OUT/sent.log"; }

# send_one MAIL: by git send-email, with the user's server, but to nobody else
# than the mail itself names.
send_one() {
	upstream_user_git -c sendemail.tocmd=true -c sendemail.cccmd=true send-email --quiet --confirm=never --from="$SENDER" \
		--no-to --no-cc --no-bcc --suppress-cc=self --suppress-cc=author --suppress-cc=body --suppress-cc=cccmd \
		--no-chain-reply-to --no-thread --no-annotate --no-validate --no-format-patch "$1" </dev/null >"$WORK/send.log" 2>&1 ||
		{ sed '/^$/d' "$WORK/send.log" >&2; return 1; }
}
