# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# The cache of pristine kernel trees: what is in it, who works on it, and the
# way in. Needs common.sh; used by fetch-tree.sh.
#
# In $TREES are VERSION (a tree), .VERSION.origin (where the kit got it; none
# for a tree that the user put there) and, while somebody works on KEY,
# .tmp.KEY (unpacking) with .KEY.lock (held by flock). A .tmp.KEY whose lock
# nobody holds was left by a run that was killed. .VERSION.part is what came of
# a download that was interrupted; the next run that fetches VERSION goes on
# with it, after a week it is removed.

TREES=$KIT_CACHE/trees
# shellcheck disable=SC2034
VERSION=	# what the last cache_newest or fetch_* came to
WORK=		# the folder of the last work_open
JOB=
OPEN_KEYS=()

# cache_open: make the cache folder, and clean up after runs that were killed.
cache_open() {
	local key
	mkdir -p "$TREES" && [ -w "$TREES" ] ||
		die "$EX_INFRA" "cannot write to $TREES; set KIT_CACHE to a folder of yours"
	exec {STDERR}>&2
	trap work_close_all EXIT
	trap 'on_signal INT 130' INT
	trap 'on_signal TERM 143' TERM
	trap 'on_signal HUP 143' HUP
	# a killed run can leave its lock alone, too
	for key in "$TREES"/.tmp.* "$TREES"/.*.lock; do
		[ -e "$key" ] || continue
		key=${key##*/.} key=${key#tmp.} key=${key%.lock}
		# Closed once: another run may hold the key by the time we end.
		lock_key "$key" -n && work_close "$key" && unset 'OPEN_KEYS[-1]'
	done
	find "$TREES" -maxdepth 1 -type f -name '.*.part' -mtime +6 -delete
}

# The signal may come where stderr is a log file.
on_signal() {
	local key kept='nothing was kept'
	trap '' INT TERM HUP
	exec 2>&"$STDERR"
	[ -z "$JOB" ] || { kill -TERM -- "-$JOB"; wait "$JOB"; } 2>/dev/null
	for key in ${OPEN_KEYS[@]+"${OPEN_KEYS[@]}"}; do
		[ ! -s "$TREES/.$key.part" ] || kept='what came is kept, run it again to go on'
	done
	note "interrupted (SIG$1); $kept"
	exit "$2"
}

# run CMD...: run it in its own process group, so that a signal to us ends all
# of it at once. Without a terminal: nothing may ask the user something.
run() {
	local rc
	set -m
	"$@" </dev/null &
	JOB=$!
	set +m
	wait "$JOB"
	rc=$?
	JOB=
	return "$rc"
}

# lock_key KEY [-n]: take the lock of KEY, or return 1 if -n and it is taken.
# The holder deletes the file when done, so a waiter looks whether what it got
# is still the file of that name.
lock_key() {
	local file=$TREES/.$1.lock fd told=${2:-}
	while :; do
		exec {fd}>"$file" || die "$EX_INFRA" "cannot write to $TREES; see above"
		if ! flock -n "$fd"; then
			[ "${2:-}" != -n ] || { exec {fd}>&-; return 1; }
			[ -n "$told" ] || note "waiting for another run that fetches $1"
			told=1
			run flock "$fd" || die "$EX_INFRA" "cannot lock $file; is it on a file system without locks?"
		fi
		[ "$(stat -Lc %d:%i "/proc/self/fd/$fd")" != "$(stat -c %d:%i "$file" 2>&1)" ] || break
		exec {fd}>&-
	done
	OPEN_KEYS+=("$1")
}

# work_open KEY: lock KEY and set WORK to its empty folder.
work_open() {
	lock_key "$1"
	WORK=$TREES/.tmp.$1
	rm -rf "$WORK"
	mkdir "$WORK" || die "$EX_INFRA" "cannot make $WORK; free some space there"
}

work_close() {
	chmod -R u+rwX "$TREES/.tmp.$1" 2>/dev/null
	rm -rf "$TREES/.tmp.$1"
	rm -f "$TREES/.$1.lock"
}

work_close_all() {
	local key
	for key in ${OPEN_KEYS[@]+"${OPEN_KEYS[@]}"}; do work_close "$key"; done
}

# version_of DIR: as tree_version, or nothing if DIR is no kernel tree.
version_of() { tree_version "$1" 2>/dev/null || :; }

# cache_check VERSION: true if that tree is there; EX_TREE if what is there
# under its name is something else.
cache_check() {
	local dir=$TREES/$1 is
	[ -e "$dir" ] || [ -L "$dir" ] || return 1
	is=$(version_of "$dir")
	[ -n "$is" ] || die "$EX_TREE" "$dir is no kernel tree; rename or remove it"
	[ "$is" = "$1" ] || die "$EX_TREE" "$dir is a tree of $is, not $1; rename or remove it"
}

# cache_newest ASKED: set VERSION to the newest tree in the cache that is what
# was asked for (LTS or LTS.POINT), or to nothing.
# shellcheck disable=SC2034
cache_newest() {
	local v
	VERSION=
	if [[ $1 =~ ^[0-9]+\.[0-9]+\. ]]; then
		cache_check "$1" && VERSION=$1
		return 0
	fi
	for v in $(cache_versions "$1"); do
		if [ "$(version_of "$TREES/$v")" = "$v" ]; then
			VERSION=$v
		else
			note "passing over $TREES/$v: it is no tree of $v; rename or remove it"
		fi
	done
}

# cache_versions LTS: names in the cache that look like its trees, newest last.
cache_versions() {
	(cd "$TREES" && printf '%s\n' *) | grep -E "^${1/./\\.}\.[0-9]+(-rc[0-9]+)?$" | sed 's/-rc/~rc/' | sort -V | sed 's/~rc/-rc/'
}

# cache_list LTS: the lines of --list for the cache.
cache_list() {
	local v
	for v in $(cache_versions "$1"); do
		printf '%s cache %s\n' "$v" "$TREES/$v"
	done
}

# origin_of VERSION KEY: a value from the tree's origin file, if there is one.
origin_of() {
	[ ! -f "$TREES/.$1.origin" ] || sed -n "s/^$2: //p" "$TREES/.$1.origin"
}

# last_line FILE: what a program said last that tells something, for an error
# of one line; tar ends with a line that does not. A full disk takes no log.
last_line() {
	local line
	line=$(grep -vE '^[[:space:]]*$|^tar: (Exiting|Error is not)' "$1" | tail -n 1)
	if [ -z "$line" ] && [ "$(df --output=avail -- "$TREES" | tail -n 1)" -eq 0 ]; then
		line="No space left on device"
	fi
	printf '%s\n' "${line:-it gave no reason}"
}

# unpack TARBALL: unpack it into $WORK/tree, which then is the tree itself.
# Refuses what does not unpack to one folder that is complete in itself.
unpack() {
	local top bad name
	name=$(basename -- "$(realpath -- "$1")")
	mkdir "$WORK/unpack" &&
		run tar -xf "$1" --no-same-owner --no-same-permissions -C "$WORK/unpack" 2>"$WORK/log" ||
		die "$EX_INFRA" "cannot unpack $name: $(last_line "$WORK/log"); get it again, or free space in $TREES"
	bad=$(unpacked_strays "$WORK/unpack")
	[ -z "$bad" ] ||
		die "$EX_TREE" "$name holds '$bad', which leaves the tree or is no file; do not trust this tarball"
	top=("$WORK/unpack"/*)
	[ ${#top[@]} -eq 1 ] && [ -d "${top[0]}" ] && [ "$(find "$WORK/unpack" -mindepth 1 -maxdepth 1 | wc -l)" -eq 1 ] ||
		die "$EX_TREE" "$name does not hold exactly one folder; a kernel tarball does"
	mv "${top[0]}" "$WORK/tree"
	rmdir "$WORK/unpack"
}

# unpacked_strays DIR: the first entry below DIR that is a device or the like,
# or a link that leads out of DIR/TOP: a symbolic one, or a file that has more
# names than there are here. tar itself refuses "..".
unpacked_strays() {
	local link
	find "$1" -type f -links +1 -printf '%i %n %P\n' | awk '
		{ i = $1; here[i]++; all[i] = $2; sub(/^[0-9]+ [0-9]+ /, ""); name[i] = $0 }
		END { for (i in here) if (here[i] < all[i]) { print name[i]; exit } }'
	find "$1" ! -type f ! -type d ! -type l -printf '%P\n' -quit
	find "$1" -type l -printf '%P\n' | while IFS= read -r link; do
		case $(cd "$1/$(dirname -- "$link")" && realpath -m -- "$(readlink -- "$1/$link")") in
		"$(realpath -- "$1")/${link%%/*}"/*) ;;
		*) printf '%s\n' "$link" && break ;;
		esac
	done
}

# adopt VERSION: move $WORK/tree into the cache, with its origin from stdin
# ("key: value" lines). The origin follows the tree: a crash between the two
# leaves a tree of unknown origin, not an origin without its tree.
adopt() {
	rm -f "$TREES/.$1.origin"
	{ cat && date -u '+date: %Y-%m-%dT%H:%M:%SZ'; } >"$WORK/origin" &&
		mv -T "$WORK/tree" "$TREES/$1" &&
		mv "$WORK/origin" "$TREES/.$1.origin" ||
		die "$EX_INFRA" "cannot put the tree into $TREES; free some space there"
	rm -f "$TREES/.$1.part"
}
