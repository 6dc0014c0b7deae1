# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Small queues and trees for the tests of kit-queue, lint.sh and apply.sh. Load
# it after helpers. The queue is $KIT_QUEUE, for 6.12; the tree is $T.

export APPLY=$KIT/scripts/apply.sh LINT=$KIT/scripts/lint.sh

# make_queue: an empty queue for 6.12 in $KIT_QUEUE.
make_queue() {
	local class
	export KIT_QUEUE=$BATS_TEST_TMPDIR/queue
	rm -rf "$KIT_QUEUE"
	mkdir -p "$KIT_QUEUE/patches/6.12" "$KIT_QUEUE/series"
	for class in stable distro experimental landed; do
		echo "# $class" >"$KIT_QUEUE/series/6.12.$class"
	done
}

# header SUBJECT CLASS FIRST: a header as the lint wants it, down to the "---".
header() {
	printf '%s\n' 'From: Kit Test <test@kit.invalid>' \
		'Date: Sat, 11 Oct 2025 06:43:22 +0000' "Subject: test: $1" ''
	if [ "$2" = experimental ] || [ "$2" = alternative ]; then
		printf '%s\n' "What goes wrong: $1." '' "Kit-Class: $2" ---
		return
	fi
	printf '%s\n' '[ Upstream commit 0123456789abcdef0123456789abcdef01234567 ]' '' \
		"What goes wrong: $1." '' \
		'Kit-Upstream-Commit: 0123456789abcdef0123456789abcdef01234567' \
		'Kit-Mainline-Version: v6.19-rc1' "Kit-First-Release: $3" "Kit-Class: $2" ---
}

# plain_diff FROM TO: the diff between two folders as quilt writes it.
plain_diff() {
	local f old new
	while read -r f; do
		old=a/$f new=b/$f
		[ -e "$1/$f" ] || old=/dev/null
		[ -e "$2/$f" ] || new=/dev/null
		diff -uN --label "$old" --label "$new" "$1/$f" "$2/$f" || [ $? -eq 1 ]
	done < <({ cd "$1" && find . -type f; cd "$2" && find . -type f; } | sed 's,^\./,,' | sort -u)
}

# new_patch NAME CLASS FROM TO [FIRST]: a patch between two folders, at the end
# of the series of its class and of the wider ones.
new_patch() {
	local series
	{ header "${1%.patch}" "$2" "${5:-6.12.97}"; plain_diff "$3" "$4"; } >"$KIT_QUEUE/patches/6.12/$1"
	case $2 in
	stable) series="stable distro experimental" ;;
	distro) series="distro experimental" ;;
	*) series=$2 ;;
	esac
	for series in $series; do echo "$1" >>"$KIT_QUEUE/series/6.12.$series"; done
}

# mini_tree DIR [VERSION]: a tree in which every line of its C files is unique.
mini_tree() {
	make_tree "${2:-6.12.95}" "$1"
	seq -f 'int fair%02g;' 1 60 >"$1/kernel/sched/fair.c"
	seq -f 'int core%02g;' 1 60 >"$1/kernel/sched/core.c"
}

# edited DIR NAME SCRIPT [FILE]: a copy of DIR called NAME next to it, with the
# sed SCRIPT run over FILE (kernel/sched/fair.c); sets EDITED to its path.
edited() {
	EDITED=$(dirname "$1")/$2
	rm -rf "$EDITED"
	cp -a "$1" "$EDITED"
	sed -i "$3" "$EDITED/${4:-kernel/sched/fair.c}"
}

# three_patches: $T and a queue of one.patch, two.patch (same line as one) and
# three.patch (two files). $AFTER is $T with all three.
three_patches() {
	make_queue
	T=$BATS_TEST_TMPDIR/t
	rm -rf "$T"
	mini_tree "$T"
	edited "$T" s1 's/fair30/fair30_one/'
	new_patch one.patch stable "$T" "$EDITED" 6.12.90
	edited "$BATS_TEST_TMPDIR/s1" s2 's/fair30_one/fair30_two/'
	new_patch two.patch stable "$BATS_TEST_TMPDIR/s1" "$EDITED"
	edited "$BATS_TEST_TMPDIR/s2" s3 's/fair50/fair50_three/'
	sed -i 's/core10/core10_three/' "$EDITED/kernel/sched/core.c"
	new_patch three.patch stable "$BATS_TEST_TMPDIR/s2" "$EDITED"
	# shellcheck disable=SC2034 # for the tests
	AFTER=$EDITED
}

# full_sum DIR: as tree_sum, with owners and times of files too.
full_sum() {
	(cd "$1" && find . -type f -printf '%P %m %U %G %T@ %n\n' | sort; tree_sum "$1") | sha256sum
}

# same DIR DIR: no difference in names, modes, contents; says which if any.
same() {
	diff -r "$1" "$2" && [ "$(tree_sum "$1")" = "$(tree_sum "$2")" ]
}
