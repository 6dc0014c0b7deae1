# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Where kernel trees come from. Needs fetch.sh; used by fetch-tree.sh.
#
# A source of releases, such as kernel.org, is four functions; PREFIX is its
# name without the dots:
#   PREFIX_scan LTS...        ask it what it has of these
#   PREFIX_list LTS           print "VERSION NAME DETAIL", newest last
#   PREFIX_has_not ASKED LTS  ASKED is not among these: leave with the reason, or
#                             set VERSION to what is to be tried all the same
#   PREFIX_get VERSION        leave a tarball in $WORK/src.tar, or the tree itself
#                             in $WORK/tree, and its origin as "key: value" lines
#                             in $WORK/src.origin
# A source of single trees is NAME_get SOURCE ASKED, with the same result.

LTS_RE='[0-9]+\.[0-9]+'

# fetch_packaged SOURCE ASKED: get the newest release that is what was asked
# for from a source of releases. Sets VERSION.
fetch_packaged() {
	local lts prefix=${1//./}
	lts=$(grep -oE "^$LTS_RE" <<<"$2")
	"${prefix}_scan" "$lts"
	VERSION=$(newest_listed "$1" "$2" "$lts")
	[ -n "$VERSION" ] || "${prefix}_has_not" "$2" "$lts"
	fetch_release "$1" "$2"
}

# fetch_anywhere ASKED: the same from Debian, and what Debian does not have from
# kernel.org.
fetch_anywhere() {
	local lts
	lts=$(grep -oE "^$LTS_RE" <<<"$1")
	kernelorg_no_candidates "$1"
	if debian_ask "$lts"; then
		VERSION=$(newest_listed debian "$1" "$lts")
		[ -z "$VERSION" ] || { fetch_release debian "$1"; return; }
		note "Debian has no linux-source of $1; asking kernel.org"
	else
		note "$DEBIAN_WHY; asking kernel.org"
	fi
	fetch_packaged kernel.org "$1"
}

# newest_listed SOURCE ASKED LTS: print the newest release that the source has
# and that is what was asked for, if any.
newest_listed() {
	"${1//./}_list" "$3" | awk -v a="$2" -v l="$3" '$1 == a || a == l { v = $1 } END { print v }'
}

# fetch_release SOURCE ASKED: get the release VERSION.
fetch_release() {
	[ "$VERSION" = "$2" ] || note "taking $VERSION, the newest $2 that $1 has"
	work_open "$VERSION"
	# Another run may have brought it while this one waited for the lock.
	if cache_check "$VERSION"; then
		same_origin "$1" "$VERSION"
		return
	fi
	"${1//./}_get" "$VERSION"
	unpack_checked "$VERSION"
	adopt "$VERSION" <"$WORK/src.origin"
}

# fetch_named SOURCE ASKED: get a tree from a tarball or a git repository.
# Sets VERSION, which is known only when the tree is there.
fetch_named() {
	work_open "from-$$"
	if [ -f "$1" ]; then
		tarball_get "$1"
	else
		git_get "$1" "$2"
	fi
	unpack_checked "$2"
	VERSION=$(version_of "$WORK/tree")
	lock_key "$VERSION"
	if cache_check "$VERSION"; then
		same_origin "$(sed -n 's/^origin: //p' "$WORK/src.origin")" "$VERSION" "$(sed -n 's/^id: //p' "$WORK/src.origin")"
	else
		adopt "$VERSION" <"$WORK/src.origin"
	fi
}

# same_origin ORIGIN VERSION [ID]: EX_TREE if the tree in the cache came from
# somewhere else than was asked for.
same_origin() {
	local have
	have=$(origin_of "$2" origin)
	[ "$have" = "$1" ] && [ "${3:-$(origin_of "$2" id)}" = "$(origin_of "$2" id)" ] ||
		die "$EX_TREE" "$TREES/$2 is there already, from ${have:-a source unknown to the kit}; remove it to have it from $1"
}

# unpack_checked ASKED: unpack $WORK/src.tar, unless there is $WORK/tree already,
# and see that it is that version.
unpack_checked() {
	local is
	[ -d "$WORK/tree" ] || unpack "$WORK/src.tar"
	rm -f "$WORK/src.tar"
	is=$(version_of "$WORK/tree")
	[ -n "$is" ] || die "$EX_TREE" "what came for $1 is no kernel tree (no Makefile with a version, or no kernel/sched/fair.c)"
	[ "$is" = "$1" ] || [[ $is == "$1".* && $1 =~ ^$LTS_RE$ ]] ||
		die "$EX_TREE" "what came for $1 is a tree of $is; ask for $is, or name another source"
}

# tarball_get FILE
tarball_get() {
	[ -r "$1" ] || die "$EX_INFRA" "cannot read $1; see its permissions"
	ln -s "$(realpath -- "$1")" "$WORK/src.tar"
	printf 'origin: %s\nid: sha256:%s\n' "$(realpath -- "$1")" "$(sha256sum <"$1" | cut -d' ' -f1)" >"$WORK/src.origin"
}

# git_get URL[#REF] ASKED
git_get() {
	local url=${1%%#*} ref commit
	case $1 in *'#'?*) ref=${1#*#} ;; *) ref=$(git_default_ref "$2") ;; esac
	command -v git >/dev/null || die "$EX_HOST" "git is needed for --from $1; on Debian: apt-get install git"
	if [ -e "$url" ]; then
		commit=$(git -C "$url" rev-parse -q --verify "$ref^{commit}" 2>"$WORK/log") ||
			die "$EX_INFRA" "$url is no git repository with '$ref'${WORK:+: $(last_line "$WORK/log")}; name a tarball, a repository or URL#REF (an unpacked tree is put or linked to $TREES/VERSION)"
	elif [[ $url == *:* ]]; then
		git_download "$url" "$ref"
		commit=$(git -C "$WORK/git" rev-parse FETCH_HEAD)
		url=$WORK/git
	else
		die "$EX_USAGE" "--from $1: no such file or repository; give debian, kernel.org, a tarball, or a git URL"
	fi
	run git -c core.autocrlf=false -C "$url" archive --format=tar --prefix=linux/ -o "$WORK/src.tar" "$commit" 2>"$WORK/log" ||
		die "$EX_INFRA" "git archive failed: $(last_line "$WORK/log"); is the repository complete, is the disk full?"
	printf 'origin: %s\nid: %s\nref: %s\n' "${1%%#*}" "$commit" "$ref" >"$WORK/src.origin"
}

# git_default_ref ASKED: Linus and the stable team tag 6.12.0 as v6.12.
git_default_ref() {
	if [[ $1 =~ ^$LTS_RE$ ]]; then echo HEAD; else echo "v${1%.0}"; fi
}

# git_download URL REF: that one commit into $WORK/git.
git_download() {
	note "fetching $2 from $1"
	export GIT_TERMINAL_PROMPT=0 GIT_SSH_COMMAND="${GIT_SSH_COMMAND:-ssh -o BatchMode=yes}"
	git init -q --bare "$WORK/git" 2>"$WORK/log" &&
		run git -C "$WORK/git" -c gc.auto=0 -c maintenance.auto=false fetch -q --depth 1 --no-tags "$1" "$2" 2>"$WORK/log" ||
		die "$EX_INFRA" "cannot fetch $2 from $1: $(last_line "$WORK/log"); check URL and REF"
}
