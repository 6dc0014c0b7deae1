#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# tree_sync: the copy of a tree that verify-build.sh patches and builds.

load helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	# shellcheck source=scripts/lib/sync.sh
	. "$KIT/scripts/lib/sync.sh"
	T=$PWD/tree S=$PWD/work/src
	mkdir work
	make_tree 6.12.95 "$T"
	mkdir -p "$T/scripts" "$T/include/linux"
	echo '#!/bin/sh' >"$T/scripts/run.sh"
	chmod 755 "$T/scripts/run.sh"
	echo '#define X' >"$T/include/linux/x.h"
	ln -s ../include/linux/x.h "$T/kernel/link.h"
	ln -s nowhere "$T/kernel/dangling"
}

# sums_of DIR: the hash of each file, .git apart.
sums_of() { (cd "$1" && find . -name .git -prune -o -type f -print0 | sort -z | xargs -0 sha256sum); }

# synced: run tree_sync; the copy must be the tree, and the tree unchanged.
synced() {
	local before
	before=$(tree_sum "$T")
	tree_sync "$T" "$S" || return
	[ "$(sums_of "$S")" = "$(sums_of "$T")" ] || { diff -r --no-dereference "$T" "$S"; return 1; }
	[ "$(tree_sum "$T")" = "$before" ] || { echo "the tree was changed"; return 1; }
	[ "$(cd "$S" && find . ! -type d -printf '%P %m %l\n' | sort)" = \
		"$(cd "$T" && find . -name .git -prune -o ! -type d -printf '%P %m %l\n' | sort)" ]
}

# as_old: all files of the copy get an old time; fresh lists those that a later
# sync wrote.
as_old() { find "$S" -type f -exec touch -d @1000000 {} +; tree_sync "$T" "$S"; }
fresh() { (cd "$S" && find . -type f -newermt @1000001 -printf '%P\n' | sort | xargs); }

@test "a tarball's tree is copied with modes and links, the tree itself is not changed" {
	synced
	[ -x "$S/scripts/run.sh" ]
	[ "$(readlink "$S/kernel/link.h")" = ../include/linux/x.h ]
	[ -L "$S/kernel/dangling" ]
}

@test "names and paths with blanks and odd signs are copied" {
	mv "$T" "$PWD/a tree, [really] *"
	T="$PWD/a tree, [really] *"
	mkdir -p "$T/Documentation/a b" "$T/-v"
	echo 1 >"$T/Documentation/a b/ with  blanks "
	echo 2 >"$T/Documentation/quote'\"back\\slash"
	echo 3 >"$T/-v/-T"
	echo 4 >"$T/#comment"
	synced
	echo 5 >"$T/Documentation/a b/ with  blanks "
	synced
	rm "$T/-v/-T" "$T/Documentation/a b/ with  blanks "
	synced
}

@test "a second sync touches nothing" {
	synced
	as_old
	synced
	[ -z "$(fresh)" ]
}

@test "what changed is brought over with a fresh time, and only that" {
	synced
	as_old
	echo 'int fair2;' >"$T/kernel/sched/fair.c"
	touch -d 2001-01-01 "$T/kernel/sched/fair.c"
	echo new >"$T/kernel/new.c"
	touch -d 2001-01-01 "$T/kernel/new.c"
	rm "$T/include/linux/x.h"
	chmod 644 "$T/scripts/run.sh"
	synced
	[ "$(fresh)" = "kernel/new.c kernel/sched/fair.c scripts/run.sh" ]
	[ ! -e "$S/include/linux/x.h" ]
	now=$(date +%s)
	[ $((now - $(stat -c %Y "$S/kernel/new.c"))) -lt 60 ]
}

@test "a change that keeps size and time is seen" {
	touch -d @1700000000 "$T/kernel/sched/fair.c"
	synced
	sed 's/fair/unfa/' "$T/kernel/sched/fair.c" >other
	cp other "$T/kernel/sched/fair.c"
	touch -d @1700000000 "$T/kernel/sched/fair.c"
	synced
	cmp other "$S/kernel/sched/fair.c"
}

@test "new times, without a change, make no work" {
	synced
	as_old
	find "$T" -type f -exec touch {} +
	synced
	[ -z "$(fresh)" ]
}

@test "what a queue did to the copy is undone: changed, made, removed, half applied" {
	synced
	as_old
	echo patched >>"$S/kernel/sched/fair.c"
	mkdir -p "$S/kernel/brand" "$S/.kit-apply/old"
	echo new >"$S/kernel/brand/new.c"
	rm "$S/include/linux/x.h"
	touch "$S/.kit-apply/list"
	touch -d @1000000 "$S/kernel/sched/fair.c"
	synced
	[ ! -e "$S/kernel/brand" ]
	[ ! -e "$S/.kit-apply" ]
	[ "$(fresh)" = "include/linux/x.h kernel/sched/fair.c" ]
}

@test "a file that became a folder, a folder that became a file, and a link that became either" {
	synced
	rm -r "$T/kernel/link.h" "$T/scripts" "$T/kernel/dangling"
	mkdir "$T/kernel/link.h"
	echo inside >"$T/kernel/link.h/file"
	echo file >"$T/scripts"
	echo file >"$T/kernel/dangling"
	synced
	rm -r "$T/kernel/link.h"
	ln -s sched "$T/kernel/link.h"
	synced
	rm "$T/kernel/link.h"
	mkdir "$T/kernel/link.h"
	echo 'no fair' >"$T/kernel/link.h/fair.c"
	synced
	[ "$(cat "$S/kernel/sched/fair.c")" != 'no fair' ]
}

@test "a sync that was cut short is mended by the next" {
	mkdir bin
	# tar ends after it wrote one file, and half of another.
	stub bin tar 'case $* in *-xpmf*) cat >/dev/null; mkdir -p work/src/kernel/sched; echo half >work/src/kernel/sched/fair.c; exit 1 ;; esac' \
		"exec $(type -P tar) \"\$@\""
	(PATH=$BATS_TEST_TMPDIR/bin:$PATH && tree_sync "$T" "$S") && false
	[ "$(cat "$S/kernel/sched/fair.c")" = half ]
	synced
	echo changed >"$T/kernel/sched/fair.c"
	rm "$T/include/linux/x.h"
	stub bin tar 'case $* in *-xpmf*) cat >/dev/null; exit 1 ;; esac' "exec $(type -P tar) \"\$@\""
	(PATH=$BATS_TEST_TMPDIR/bin:$PATH && tree_sync "$T" "$S") && false
	synced
	[ ! -e "$S/include/linux/x.h" ]
}

@test "a killed sync of many files is mended by the next" {
	local i
	mkdir "$T/many"
	for i in {1..3000}; do echo "$i" >"$T/many/$i"; done
	tree_sync "$T" "$S" &
	until [ -e "$S/many/2" ] || ! kill -0 $! 2>/dev/null; do sleep 0.01; done
	kill -9 $! 2>/dev/null || :
	wait $! || :
	rm -f "$T/many"/1*
	synced
}

@test "a tree built in place leaves its objects and its config behind" {
	mkdir -p "$T/include/config" "$T/include/generated" "$T/arch/arm64/include/generated" "$T/scripts/kconfig" "$T/lib"
	cp -r "$T" clean
	touch "$T/.config" "$T/.config.old" "$T/.version" "$T/vmlinux" "$T/System.map" "$T/Module.symvers" "$T/modules.order" \
		"$T/include/config/auto.conf" "$T/include/generated/utsrelease.h" "$T/arch/arm64/include/generated/x.h" \
		"$T/kernel/sched/fair.o" "$T/kernel/sched/.fair.o.cmd" "$T/kernel/sched/.fair.o.d" "$T/kernel/built-in.a" "$T/x.ko" \
		"$T/x.mod" "$T/x.mod.c" "$T/scripts/kconfig/parser.tab.c" "$T/scripts/kconfig/parser.tab.h" \
		"$T/scripts/kconfig/lexer.lex.c" "$T/lib/crc32table.h" "$T/vmlinux.o" "$T/.tmp_vmlinux1"
	before=$(tree_sum "$T")
	tree_sync "$T" "$S"
	find clean -type d -empty -delete
	diff -r --no-dereference clean "$S"
	[ "$(tree_sum "$T")" = "$before" ]
	# Without a build such names are sources like any other.
	rm -r "$T/.config" "$T/include/generated"
	tree_sync "$T" "$S"
	[ -e "$S/lib/crc32table.h" ]
}

# checkout: make $T a git checkout with all committed.
checkout() {
	printf '%s\n' '*.o' '.*' '!.gitignore' /vmlinux >"$T/.gitignore"
	git -C "$T" init -q
	git -C "$T" add -A
	git -C "$T" commit -qm all
}

@test "a git checkout is copied with its uncommitted changes, not what it ignores" {
	checkout
	echo 'int changed;' >"$T/kernel/sched/fair.c"
	echo 'int staged;' >"$T/kernel/staged.c"
	git -C "$T" add kernel/staged.c
	echo 'int untracked;' >"$T/kernel/untracked.c"
	rm "$T/include/linux/x.h"
	synced
	touch "$T/kernel/x.o" "$T/vmlinux" "$T/.config"
	before=$(tree_sum "$T")
	tree_sync "$T" "$S"
	[ ! -e "$S/kernel/x.o" ]
	[ ! -e "$S/vmlinux" ]
	[ ! -e "$S/.config" ]
	[ ! -e "$S/.git" ]
	[ "$(tree_sum "$T")" = "$before" ]
}

@test "a change of branch in a checkout brings over just what differs" {
	checkout
	git -C "$T" checkout -qb other
	echo 'int other;' >"$T/kernel/sched/fair.c"
	git -C "$T" commit -qam other
	synced
	as_old
	git -C "$T" checkout -q -
	synced
	[ "$(fresh)" = kernel/sched/fair.c ]
}

@test "git's environment and a checkout around the tree do not matter" {
	git init -q .
	git add -A .
	git commit -qm around
	synced
	checkout
	GIT_DIR=$BATS_TEST_TMPDIR/.git GIT_WORK_TREE=$BATS_TEST_TMPDIR GIT_INDEX_FILE=/none synced
}

@test "a checkout that belongs to somebody else is copied too" {
	[ "$(id -u)" -eq 0 ] || skip "only root can make one"
	checkout
	chown -R 12345 "$T"
	touch "$T/vmlinux"
	tree_sync "$T" "$S"
	[ ! -e "$S/vmlinux" ]
	cmp "$T/kernel/sched/fair.c" "$S/kernel/sched/fair.c"
}

@test "a user's narrow umask does not make work at each sync" {
	chmod 664 "$T/kernel/sched/fair.c"
	umask 077
	synced
	as_old
	synced
	[ -z "$(fresh)" ]
}

@test "a tree without files, and a copy that cannot be written, are errors" {
	mkdir empty
	run tree_sync "$PWD/empty" "$S"
	[ "$status" -eq 1 ]
	run tree_sync "$PWD/none" "$S"
	[ "$status" -eq 1 ]
	echo file >work/file
	run tree_sync "$T" "$PWD/work/file"
	[ "$status" -eq 1 ]
	synced
}
