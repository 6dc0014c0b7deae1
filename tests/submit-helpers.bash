# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Small repositories that play mainline ($MAINLINE) and the stable trees ($STABLE),
# and a queue ($KIT_QUEUE) for their commits. Load it after helpers.

export SUBMIT=$KIT/scripts/submit.sh

# as_other NAME MAIL DATE COMMAND...: with the author of a mainline commit.
as_other() {
	local name=$1 mail=$2 date=$3
	shift 3
	GIT_AUTHOR_NAME=$name GIT_AUTHOR_EMAIL=$mail GIT_AUTHOR_DATE=$date GIT_COMMITTER_DATE=$date "$@"
}

# fair N FILE: a C file with a function at every ten lines, N of them.
fair() {
	awk -v n="$1" 'BEGIN { print "// SPDX-License-Identifier: GPL-2.0"; print "int fair;"
		for (i = 0; i < n; i++) printf "\nint step_%d(int x)\n{\n\tint a = %d;\n\n\ta += x * %d;\n\ta -= x / %d;\n\treturn a;\n}\n", i, i, i + 3, i + 7 }' >"$2"
}

# played_scripts DIR: a get_maintainer.pl and a checkpatch.pl that play those of
# the kernel.
played_scripts() {
	mkdir -p "$1/scripts"
	cat >"$1/scripts/get_maintainer.pl" <<-'PERL'
		#!/usr/bin/perl
		print "\"Ingo O. Fair\" <fair\@sched.invalid> \nlinux-kernel\@vger.kernel.invalid\nKit Test <test\@kit.invalid>\n";
	PERL
	cat >"$1/scripts/checkpatch.pl" <<-'PERL'
		#!/usr/bin/perl
		my $bad = 0;
		open(my $in, '<', $ARGV[-1]) or die;
		while (<$in>) {
			if (/^\+.*ugly_(error|warning)/) { $bad = 1; print "x:$.: ", uc($1), ":UGLY: this is ugly\n"; }
		}
		exit $bad;
	PERL
	echo 'MAINTAINERS of the tests' >"$1/MAINTAINERS"
}

# play [SED-ON-6.1]: mainline with v6.1 to v6.19-rc1, the fix first among what
# comes after v6.18; stable branches for all four. SED changes fair.c of 6.1.
play() {
	local v
	export MAINLINE=$BATS_TEST_TMPDIR/mainline STABLE=$BATS_TEST_TMPDIR/stable
	git init -q -b master "$MAINLINE"
	for v in 6.1 6.6 6.12 6.18; do
		make_tree "$v.0" "$MAINLINE"
		[ "$v" != 6.1 ] || { fair 12 "$MAINLINE/kernel/sched/fair.c"; played_scripts "$MAINLINE"; }
		fair 12 "$MAINLINE/kernel/sched/fair.c"
		[ "$v" != 6.1 ] || [ -z "${1-}" ] || sed -i "$1" "$MAINLINE/kernel/sched/fair.c"
		commit "$MAINLINE" "Linux $v"
		git -C "$MAINLINE" tag "v$v"
	done
	git clone -q "$MAINLINE" "$STABLE"
	for v in 6.1 6.6 6.12 6.18; do stable_release "$v" "$v.10"; done
}

commit() { git -C "$1" add -A && git -C "$1" commit -q --allow-empty -m "$2"; }

# stable_release LTS VERSION: the next commit of its branch, with a tag.
stable_release() {
	git -C "$STABLE" checkout -q "linux-$1.y" 2>/dev/null || git -C "$STABLE" checkout -q -b "linux-$1.y" "v$1"
	cp "$STABLE/kernel/sched/fair.c" "$BATS_TEST_TMPDIR/fair.c"
	make_tree "$2" "$STABLE"
	cp "$BATS_TEST_TMPDIR/fair.c" "$STABLE/kernel/sched/fair.c"
	commit "$STABLE" "Linux $2"
	git -C "$STABLE" tag "v$2"
}

# fix FUNCTION TEXT-FILE [AUTHOR MAIL]: a mainline commit that changes step_FUNCTION.
# Prints its id.
fix() {
	sed -i "s,a += x \* $(($1 + 3));,a += x * $(($1 + 3)) + 1;," "$MAINLINE/kernel/sched/fair.c"
	git -C "$MAINLINE" add -A
	as_other "${3:-Adam Author}" "${4:-adam@author.invalid}" '2025-10-11 06:43:22 +0000' \
		git -C "$MAINLINE" commit -q --cleanup=verbatim -F "$2"
	git -C "$MAINLINE" rev-parse HEAD
}

# text SUBJECT [LINE...]: a changelog with sign-offs of others, in $BATS_TEST_TMPDIR/text.
text() {
	{
		printf '%s\n\n' "$1"
		shift
		[ $# -gt 0 ] || set -- "A group looks idle that is not." "" "Look again."
		printf '%s\n' "$@"
		printf '%s\n' '' "Reported-by: Rita Reporter <rita@report.invalid>" \
			"Signed-off-by: Adam Author <adam@author.invalid>" \
			"Signed-off-by: Mike Maintainer <mike@maintain.invalid>"
	} >"$BATS_TEST_TMPDIR/text"
}

# one_fix SUBJECT [LINE...]: a mainline commit with that changelog. Prints its id.
one_fix() { text "$@" >&2; fix 5 "$BATS_TEST_TMPDIR/text"; }

# queue_for LTS...: an empty queue for these.
queue_for() {
	local lts class
	export KIT_QUEUE=$BATS_TEST_TMPDIR/queue
	mkdir -p "$KIT_QUEUE/series"
	for lts; do
		mkdir -p "$KIT_QUEUE/patches/$lts"
		for class in stable distro experimental landed; do echo "# $class" >"$KIT_QUEUE/series/$lts.$class"; done
	done
}

# queue_patch LTS NAME COMMIT CLASS [FIRST [VERSION]] <DIFF: our patch of a mainline
# commit, at the end of the series.
queue_patch() {
	local lts=$1 name=$2 commit=$3 class=$4 first=${5:-none} version=${6:-v6.19-rc1} file=$KIT_QUEUE/patches/$1/$2.patch s
	{
		printf '%s\n' "From: $(git -C "$MAINLINE" log -1 --encoding=UTF-8 --format='%an <%ae>' "$commit" 2>/dev/null || echo 'A <a@b.invalid>')" \
			'Date: Sat, 11 Oct 2025 06:43:22 +0000' "Subject: $(git -C "$MAINLINE" log -1 --encoding=UTF-8 --format=%s "$commit" 2>/dev/null || echo sched/fair: x)" ''
		[ "$class" = experimental ] || printf '[ Upstream commit %s ]\n\n' "$commit"
		printf '%s\n' 'Tasks stack up on few CPUs.' '' "In $lts the name of the variable differs." ''
		[ "$class" = experimental ] || printf '%s\n' "Kit-Upstream-Commit: $commit" "Kit-Mainline-Version: $version" "Kit-First-Release: $first"
		printf '%s\n' "Kit-Class: $class" --- ''
		cat
	} >"$file"
	s="stable distro experimental"
	[ "$class" != distro ] || s="distro experimental"
	[ "$class" != experimental ] || s=experimental
	[ "$class" != landed ] || s=landed
	for s in $s; do echo "$name.patch" >>"$KIT_QUEUE/series/$lts.$s"; done
}

# diff_of COMMIT: as a queue patch has it.
diff_of() { git -C "$MAINLINE" diff --no-color "$1^" "$1" | sed '/^diff --git\|^index /d'; }

# simple: mainline with one fix, not in any stable tree, and the queue for all four
# with the upstream diff. Sets FIX.
simple() {
	local lts
	play
	FIX=$(one_fix "${@:-sched/fair: Look at the allowed CPUs only}")
	git -C "$MAINLINE" tag v6.19-rc1
	queue_for 6.1 6.6 6.12 6.18
	for lts in 6.1 6.6 6.12 6.18; do diff_of "$FIX" | queue_patch "$lts" one "$FIX" "${CLASS:-stable}"; done
}

# submit ARG...: with the played clones, in a folder of its own.
submit() {
	mkdir -p "$BATS_TEST_TMPDIR/cwd"
	(cd "$BATS_TEST_TMPDIR/cwd" && "$SUBMIT" --upstream "$MAINLINE" --stable "$STABLE" --out "$BATS_TEST_TMPDIR/out" "$@")
}

# mail_of GLOB: the mails below the output folder, by name.
# shellcheck disable=SC2086 # a pattern
mail_of() { cat "$BATS_TEST_TMPDIR/out/"$1; }

# chain [LTS]: three commits in mainline, v6.7-rc1 by what the headers say, of which
# 6.1 has the second only in another form. Queue for 6.6 and 6.1; class distro.
# Sets C1 C2 C3 and REASON, a file for --distro-reason.
chain() {
	local lts
	play 's,int a = 5;,int aa = 5;,; s,a += x \* 8;,aa += x * 8;,; s,a -= x / 12;,aa -= x / 12;,'
	text "sched/fair: First of three"; C1=$(fix 2 "$BATS_TEST_TMPDIR/text")
	text "sched/fair: Second of three"; C2=$(fix 5 "$BATS_TEST_TMPDIR/text" "Vincent Second" second@author.invalid)
	text "sched/fair: Third of three"; C3=$(fix 8 "$BATS_TEST_TMPDIR/text")
	git -C "$MAINLINE" tag v6.19-rc1
	queue_for 6.1 6.6
	diff_of "$C1" | queue_patch 6.6 first "$C1" distro
	diff_of "$C2" | queue_patch 6.6 second "$C2" distro
	diff_of "$C3" | queue_patch 6.6 third "$C3" distro
	diff_of "$C1" | queue_patch 6.1 first "$C1" distro
	diff_of "$C2" | sed 's,\ba\b\( [-+*/]\?=\),aa\1,' | queue_patch 6.1 second "$C2" distro
	diff_of "$C3" | queue_patch 6.1 third "$C3" distro
	REASON=$BATS_TEST_TMPDIR/reason
	printf '%s\n' 'Link: https://bugs.distro.invalid/1234' '' \
		'Users of the distribution kernel see a third of the throughput lost on two sockets.' >"$REASON"
}
