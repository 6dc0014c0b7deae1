#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# killat, which the kill tests stand on: it sees what strace sees, and kills there.
# shellcheck disable=SC2016 # lines for inner shells

load helpers
load queue-helpers

setup() {
	make -s -C "$KIT" build/test/killat
	KILLAT=$KIT/build/test/killat
	D=$BATS_TEST_TMPDIR/d
	LOG=$BATS_TEST_TMPDIR/log
	mkdir "$D"
	cd "$D" || return
}

# calls_of_strace FILE: of a log of strace -f -y, the calls that change something,
# "count name", as it printed them when they began.
calls_of_strace() {
	sed -E 's/^[0-9]+ +//; /^[a-z0-9_]+\(/!d' "$1" | awk '
		/^(open|openat|openat2)\(/ && !/O_(WRONLY|RDWR|CREAT|TRUNC)/ { next }
		/^ioctl\(/ && !/FICLONE|FS_IOC_SETFLAGS/ { next }
		/^(write|pwrite64|writev|pwritev|pwritev2|sendfile|ftruncate|fallocate|fchmod|fchown|fsetxattr|fremovexattr)\(/ &&
			!/^[a-z0-9]+\([0-9]+<\// { next }
		/^(copy_file_range|splice)\(/ && !/^[a-z_]+\([^,]+, [^,]+, [0-9]+<\// { next }
		{ sub(/\(.*/, ""); print }' | sort | uniq -c
}

STRACED=open,openat,openat2,creat,rename,renameat,renameat2,link,linkat,symlink,symlinkat
STRACED+=,unlink,unlinkat,mkdir,mkdirat,rmdir,mknod,mknodat,chmod,fchmod,fchmodat,chown,lchown
STRACED+=,fchown,fchownat,utime,utimes,futimesat,utimensat,truncate,ftruncate,fallocate
STRACED+=,write,pwrite64,writev,pwritev,pwritev2,copy_file_range,sendfile,splice,ioctl
STRACED+=,setxattr,lsetxattr,fsetxattr,removexattr,lremovexattr,fremovexattr

@test "every call that strace counts in a run of apply.sh is a point, and no other" {
	need_tool strace strace
	need_tool filterdiff patchutils
	three_patches
	cp -a "$T" "$T.strace"
	"$APPLY" --check 6.12 "$T" # builds what is to be built
	strace -f -y -qq -o "$LOG.strace" -e "trace=$STRACED" "$APPLY" 6.12 "$T.strace"
	"$KILLAT" --log "$LOG" -- "$APPLY" 6.12 "$T"
	same "$T" "$AFTER"
	calls_of_strace "$LOG.strace" >"$LOG.want"
	cut -f2 "$LOG" | sort | uniq -c | diff "$LOG.want" -
	[ "$(wc -l <"$LOG")" -gt 100 ]
	echo "# $(wc -l <"$LOG") calls, as strace has it" >&3
}

@test "every call that strace counts in a run of git and of quilt is a point, and no other" {
	need_tool strace strace
	need_tool quilt quilt
	seq 9 >"$D/f"
	cat >"$BATS_TEST_TMPDIR/run" <<-'END'
		cd "$1"
		git init -q
		git add f
		git commit -q -m one
		mkdir patches && echo x.patch >patches/series
		diff -u --label a/f --label b/f f <(sed 's/5/five/' f) >patches/x.patch
		quilt push -q
		cp -a f g && rm -rf .git && mv g h && ln h i && ln -s h j && chmod 600 h && touch h && truncate -s 1 h
	END
	cp -a "$D" "$D.strace"
	strace -f -y -qq -o "$LOG.strace" -e "trace=$STRACED" bash "$BATS_TEST_TMPDIR/run" "$D.strace"
	"$KILLAT" --log "$LOG" -- bash "$BATS_TEST_TMPDIR/run" "$D"
	calls_of_strace "$LOG.strace" >"$LOG.want"
	cut -f2 "$LOG" | sort | uniq -c | diff "$LOG.want" -
	for call in mkdir rename write unlink; do
		cut -f2 "$LOG" | grep -q "^$call"
	done
}

@test "only what is below the folder counts, by relative, absolute and linked path" {
	mkdir "$BATS_TEST_TMPDIR/other"
	ln -s "$D" "$BATS_TEST_TMPDIR/link"
	"$KILLAT" --below "$BATS_TEST_TMPDIR/link" --log "$LOG" -- bash -c '
		echo 1 >a
		echo 2 >"$1/d/b"
		echo 3 >"$1/link/c"
		cd ../other
		echo 4 >no
		echo 5 >../d/e
		echo 6 >../dno
		mv no ../d/f
		mv ../d/f no' - "$BATS_TEST_TMPDIR"
	run cut -f2,3 "$LOG"
	[ "$output" = "openat	$D/a
write	$D/a
openat	$D/b
write	$D/b
openat	$D/c
write	$D/c
openat	$D/e
write	$D/e
$(sed -n '9s/^9\t\([a-z0-9]*\)\t.*/\1/p' "$LOG")	$BATS_TEST_TMPDIR/other/no -> $D/f
$(sed -n '10s/^10\t\([a-z0-9]*\)\t.*/\1/p' "$LOG")	$D/f -> $BATS_TEST_TMPDIR/other/no" ]
}

@test "reading counts nothing" {
	echo 1 >a
	"$KILLAT" --below "$D" --log "$LOG" -- bash -c 'cat a; ls -l; test -w a; exec 5<a; echo x >/dev/null'
	[ ! -s "$LOG" ]
}

@test "it kills before the call, after it, and after half of what is written" {
	local how want
	for how in before:0 after:7 half:4; do
		want=${how#*:}
		rm -f a
		run "$KILLAT" --below "$D" --at 2 --how "${how%:*}" --log "$LOG" -- bash -c 'echo 123456 >a; echo >b'
		[ "$status" -eq 137 ]
		[ "$(stat -c %s a)" -eq "$want" ]
		[ ! -e b ]
		[ "$(wc -l <"$LOG")" -eq 2 ]
	done
}

@test "what runs in other sessions and in the background is killed too" {
	run "$KILLAT" --below "$D" --at 1 -- bash -c '
		setsid bash -c "sleep 1; echo >late; sleep 60" &
		sleep 60 & echo $! >"'"$BATS_TEST_TMPDIR"'/pid"
		sleep 0.3
		echo >now'
	[ "$status" -eq 137 ]
	# the dead may still wait for their init to notice
	run sed 's/.*) \(.\).*/\1/' "/proc/$(cat "$BATS_TEST_TMPDIR/pid")/stat"
	[ "$status" -ne 0 ] || [ "$output" = Z ]
	sleep 1.2
	[ -z "$(ls -A "$D")" ]
}

@test "a call can be made to fail with an error of the disk, and the rest goes on" {
	run "$KILLAT" --below "$D" --at 2 --how ENOSPC --log "$LOG" -- bash -c 'echo 1 >a; echo 2 >b'
	[ "$status" -eq 0 ]
	[[ $output == *"No space left on device"* ]]
	[ ! -s a ]
	[ "$(cat b)" = 2 ]
	run "$KILLAT" --below "$D" --at 1 --how EROFS -- mkdir sub
	[ "$status" -eq 1 ]
	[[ $output == *"Read-only file system"* ]]
	[ ! -e sub ]
}

@test "without the seccomp filter it finds the same points" {
	"$KILLAT" --below "$D" --log "$LOG" -- bash -c 'echo 1 >a; mv a b; (echo 2 | tee c); rm b'
	rm -f -- *
	"$KILLAT" --slow --below "$D" --log "$LOG.slow" -- bash -c 'echo 1 >a; mv a b; (echo 2 | tee c); rm b'
	[ "$(wc -l <"$LOG")" -ge 6 ]
	cmp "$LOG" "$LOG.slow"
	run "$KILLAT" --slow --below "$D" --at 2 --how half -- bash -c 'echo 123456 >a'
	[ "$status" -eq 137 ]
	[ "$(stat -c %s a)" -eq 4 ]
	run "$KILLAT" --slow --below "$D" --at 1 --how EROFS -- mkdir sub
	[ "$status" -eq 1 ]
	[ ! -e sub ]
}

@test "the exit code is that of the command, or says that the point was not reached" {
	run "$KILLAT" --below "$D" -- bash -c 'echo >a; exit 7'
	fails_with 7 "points: 2"
	run "$KILLAT" --below "$D" --at 3 -- bash -c 'echo >a'
	[ "$status" -eq 124 ]
	run "$KILLAT" -- bash -c 'kill -TERM $$'
	[ "$status" -eq 143 ]
	run -127 "$KILLAT" -- "$D/none"
	fails_with 127 "cannot run"
	run "$KILLAT" --at 0 -- true
	fails_with 125 "is no number from 1 on"
	run "$KILLAT" --how later -- true
	fails_with 125 "no such --how"
	run "$KILLAT" --below "$D/none" -- true
	fails_with 125 "give a folder that exists"
	run "$KILLAT"
	fails_with 125 "no command"
}
