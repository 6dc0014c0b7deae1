# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# The mails of submit.sh as files, which are what git format-patch makes of the
# commits of submit-pick.sh, with recipients, names and our text; and the proof
# that git am makes the same commits of them again.
#
# Uses WORK, SENDER; makes $WORK/mail/FOLDER/NNNN-*.patch, FOLDER being LTS.y, or
# request and request-N.

STABLE_LIST=stable@vger.kernel.org

# encoded_names <ADDRESSES: one a line, for a header: what is not ASCII in a
# name as RFC 2047 wants it, a name with specials in quotes.
encoded_names() {
	local line name address
	while IFS= read -r line; do
		name=${line% <*} address=${line##*<}
		[ "$name" != "$line" ] || { printf '%s\n' "$line"; continue; }
		name=${name#\"} name=${name%\"}
		if [[ $name =~ [^\ -~] ]]; then
			name="=?UTF-8?B?$(printf %s "$name" | base64 -w0)?="
		elif [[ $name =~ [][()\<\>@,\;:\\\".] ]]; then
			name=\"${name//\"/\\\"}\"
		fi
		printf '%s <%s\n' "$name" "$address"
	done
}

# header NAME <ADDRESSES: as one header, folded at each address.
header() {
	local name=$1
	encoded_names | awk -v h="$name" '
		NR == 1 { printf "%s: %s", h, $0; next } { printf ",\n\t%s", $0 } END { if (NR) print "" }'
}

# unique_addresses <ADDRESSES: each mail address once, the first name that has
# it; not the submitter's, not stable's.
unique_addresses() {
	awk -v me="$(tr '[:upper:]' '[:lower:]' <<<"$SENDER_MAIL")" -v list="$STABLE_LIST" '
		{ sub(/[ \t]+$/, ""); a = $0; if (match(a, /<[^<>]*>[^<>]*$/)) { a = substr(a, RSTART + 1); sub(/>.*/, "", a) }
		  a = tolower(a); gsub(/[ \t]/, "", a) }
		a !~ /^[^@]+@[^@]+$/ || a == me || a == list || seen[a]++ { next } { print }'
}

# maintainers LTS MAIL: who the tree's get_maintainer.pl names, as addresses.
maintainers() {
	local dir=$WORK/$1/tree
	(cd "$dir" && perl scripts/get_maintainer.pl --no-tree --nogit --nogit-fallback --norolestats --no-interactive --separator $'\n' -- "$2") \
		2>"$WORK/maintainer.log" ||
		die "$EX_TREE" "scripts/get_maintainer.pl of $1 fails: $(head -n 1 "$WORK/maintainer.log"); give a clone or a tree of $1 with a whole scripts/ folder"
}

# people COMMIT: author, and all that the trailers of a mainline commit name.
people() {
	upstream_git log -1 --encoding=UTF-8 --format='%an <%ae>' "$1"
	changelog "$1" | sed -n 's/^\([A-Za-z-]*-by\|Cc\|Co-authored-by\): *\(.*@[^>#]*[^># ]>\{0,1\}\).*/\2/Ip'
}

# recipients LTS: $WORK/LTS/cc, for all mails of that LTS.
recipients() {
	local commit
	sgit format-patch -q --no-renames -o "$WORK/$1/ask" "$(cat "$WORK/$1/base")..$(tail -n 1 "$WORK/$1/picked" | cut -f3)" || sgit_infra
	for commit in "$WORK/$1/ask"/*; do maintainers "$1" "$commit" || exit; done >"$WORK/$1/asked" || exit
	{
		cat "$WORK/$1/asked"
		cut -f2 "$WORK/$1/list" | while read -r commit; do people "$commit"; done
	} | unique_addresses >"$WORK/$1/cc"
	[ -s "$WORK/$1/cc" ] ||
		die "$EX_TREE" "scripts/get_maintainer.pl of $1 names nobody; is its MAINTAINERS whole?"
}

# format_mails RANGE ARG...: git format-patch, with nothing of anybody's config.
format_mails() {
	local range=$1
	shift
	sgit -c format.encodeEmailHeaders=true format-patch -q --no-renames --full-index --stat=72 \
		--no-signature --no-attach --no-base --no-thread --from="$SENDER" "$@" "$range" || sgit_infra
}

# text_mail OUT PREFIX TEXT: a mail without a diff: first line of TEXT the
# subject. git writes it, so that all headers are encoded in one way.
text_mail() {
	local commit keep=(--subject-prefix="$2")
	[ -n "$2" ] || keep=(-k)
	commit=$(GIT_AUTHOR_NAME=$SENDER_NAME GIT_AUTHOR_EMAIL=$SENDER_MAIL GIT_AUTHOR_DATE='@0 +0000' \
		GIT_COMMITTER_NAME=$SENDER_NAME GIT_COMMITTER_EMAIL=$SENDER_MAIL GIT_COMMITTER_DATE='@0 +0000' \
		sgit commit-tree -F "$3" "$(sgit mktree </dev/null)") || sgit_infra
	# Its date would be a lie; who sends it puts one in.
	format_mails -1 -N --always --stdout --root "${keep[@]}" "$commit" | sed '1,/^$/{ /^Date: /d; }' >"$1"
}

# series_mails LTS: the option 3 patches, in $WORK/mail/LTS.y.
series_mails() {
	local dir=$WORK/mail/$1.y first n mail
	mkdir -p "$dir"
	n=$(wc -l <"$WORK/$1/picked")
	first=$(cat "$WORK/$1/base")
	format_mails "$first..$(tail -n 1 "$WORK/$1/picked" | cut -f3)" -o "$dir" --subject-prefix="PATCH $1.y" "$([ "$n" -gt 1 ] && echo --numbered || echo --no-numbered)"
	if [ "$n" -gt 1 ]; then
		cover_text "$1" | mail_safe "the cover letter" | git stripspace >"$WORK/text" || exit
		{ echo; sgit diff --stat=72 --no-renames "$first" "$(tail -n 1 "$WORK/$1/picked" | cut -f3)"; } >>"$WORK/text"
		text_mail "$dir/0000-cover-letter.patch" "PATCH $1.y 0/$n" "$WORK/text"
	else
		one_text "$1" | mail_safe "the text below the changelog" | git stripspace >"$WORK/text" || exit
		below_line "$dir"/0001-*.patch "$WORK/text"
	fi
	for mail in "$dir"/*; do to_and_cc "$mail" "$WORK/$1/cc"; done
	thread_ids "$dir" "$1"
}

# request_mail FOLDER LTS...: the option 2 request for these.
request_mail() {
	local dir=$WORK/mail/$1 lts
	shift
	mkdir -p "$dir"
	request_text "$@" | mail_safe "the request" | git stripspace >"$WORK/text" || exit
	text_mail "$dir/0001-request.patch" '' "$WORK/text"
	for lts; do cat "$WORK/$lts/cc"; done | unique_addresses >"$WORK/cc"
	to_and_cc "$dir/0001-request.patch" "$WORK/cc"
	thread_ids "$dir" request
}

# below_line MAIL TEXT: put TEXT between the "---" and the diffstat.
below_line() {
	awk -v text="$2" '{ print } $0 == "---" && !done { while ((getline line <text) > 0) print line; print ""; done = 1 }' \
		"$1" >"$WORK/mail.new" && mv -- "$WORK/mail.new" "$1" || sgit_infra
}

# to_and_cc MAIL CC-FILE
to_and_cc() {
	{ header To <<<"$STABLE_LIST"; header Cc <"$2"; } >"$WORK/headers"
	add_headers "$1"
}

# add_headers MAIL: put $WORK/headers above the subject.
add_headers() {
	awk -v add="$WORK/headers" '/^Subject: / && !done { while ((getline line <add) > 0) print line; done = 1 } { print }' \
		"$1" >"$WORK/mail.new" && mv -- "$WORK/mail.new" "$1" || sgit_infra
}

# thread_ids DIR NAME: Message-ID from what the mails say, so that the same mails
# have the same names when they are made again; all but the first answer it.
thread_ids() {
	local mail id first='' n=0 sum
	sum=$(cat "$1"/* | sha256sum | cut -c1-16)
	for mail in "$1"/*; do
		id="<$sum-$n-${2//./_}.stable-backport@${SENDER_MAIL##*@}>" n=$((n + 1))
		{
			echo "Message-ID: $id"
			[ -z "$first" ] || printf 'In-Reply-To: %s\nReferences: %s\n' "$first" "$first"
		} >"$WORK/headers"
		add_headers "$mail"
		first=${first:-$id}
	done
}

# message_id MAIL
message_id() { sed -n '1,/^$/s/^Message-ID: //Ip' "$1" | head -n 1; }

# mail_subject MAIL: decoded and unfolded.
mail_subject() { git mailinfo -k /dev/null /dev/null <"$1" 2>/dev/null | sed -n 's/^Subject: //p' | head -n 1; }

# patch_mails DIR: those that have a diff.
patch_mails() { printf '%s\n' "$1"/* | grep -v '/0000-'; }

# taken_apart LTS DIR: git am on the clean LTS must make the same commits: tree,
# author, message (the date of a mail is when it was sent). What does not survive ends
# the run.
taken_apart() {
	local want got mails
	mapfile -t mails < <(patch_mails "$2")
	! grep -nH '.\{999\}' "$2"/* >"$WORK/log" ||
		die "$EX_FAIL" "$(cut -d: -f1,2 "$WORK/log" | sed "s,.*/,," | head -n 1) has more than 998 characters, which SMTP does not carry; ask $STABLE_LIST to take the commit from mainline"
	sgit checkout -q -f --detach "$(cat "$WORK/$1/base")" && sgit clean -qfdx || sgit_infra
	as_am sgit am -q --keep-non-patch --no-3way --no-gpg-sign "${mails[@]}" >"$WORK/am.log" 2>&1 || {
		sgit am --abort >/dev/null 2>&1
		die "$EX_FAIL" "git am does not take the mails for $1 as they would be sent: $(head -n 1 "$WORK/am.log"); nothing was sent"
	}
	sgit log --reverse --format='%T%n%an%n%ae%n%B' "$(cat "$WORK/$1/base").." >"$WORK/got"
	sgit log --reverse --format='%T%n%an%n%ae%n%B' "$(cat "$WORK/$1/base")..$(tail -n 1 "$WORK/$1/picked" | cut -f3)" >"$WORK/want"
	cmp -s "$WORK/got" "$WORK/want" || {
		got=$(diff "$WORK/want" "$WORK/got" | sed -n 's/^> //p' | head -n 1)
		want=$(diff "$WORK/want" "$WORK/got" | sed -n 's/^< //p' | head -n 1)
		die "$EX_FAIL" "git am makes something else of the mails for $1 than what was meant: \"$got\" in place of \"$want\"; nothing was sent"
	}
}

as_am() { GIT_COMMITTER_NAME=kit GIT_COMMITTER_EMAIL=kit@localhost "$@"; }
