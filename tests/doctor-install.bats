#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# doctor.sh --install.

load helpers
load doctor-helpers

# fake_apt: an apt-get that notes its arguments and brings flex and bison.
fake_apt() {
	rm "$HOST/flex" "$HOST/bison"
	stub "$HOST" apt-get "echo \"\$*\" >>$BATS_TEST_TMPDIR/apt" \
		"case \" \$* \" in *' install '*) for p in flex bison; do cp $HOST/bc $HOST/\$p; done ;; esac"
	cp --remove-destination "$(type -P cp)" "$HOST/cp"
}

@test "--install names the packages, updates the lists, and installs them as root" {
	fake_apt
	stub "$HOST" id 'echo 0'
	doctor --quiet --install
	[ "$status" -eq 0 ]
	[ "$stderr" = "doctor.sh: installing: bison flex" ]
	[ "$(wc -l <"$BATS_TEST_TMPDIR/apt")" -eq 2 ]
	[[ $(head -n 1 "$BATS_TEST_TMPDIR/apt") == *" update" ]]
	[[ $(tail -n 1 "$BATS_TEST_TMPDIR/apt") == *" install --no-install-recommends bison flex" ]]
	doctor --install
	[ "$status" -eq 0 ]
	[ "$(wc -l <"$BATS_TEST_TMPDIR/apt")" -eq 2 ]
}

@test "--install goes through sudo when not root" {
	fake_apt
	stub "$HOST" id 'echo 1000'
	# shellcheck disable=SC2016 # for the stub
	stub "$HOST" sudo "echo \"\$*\" >>$BATS_TEST_TMPDIR/sudo" '[ "$1" != -n ] || shift' '[ "$1" = true ] || exec "$@"'
	doctor --install </dev/null
	[ "$status" -eq 0 ]
	grep -q -- '-n env .*apt-get .*install' "$BATS_TEST_TMPDIR/sudo"
	row ok user "uid 1000, sudo"
}

@test "--install without root and sudo prints the apt-get line and stops" {
	fake_apt
	stub "$HOST" id 'echo 1000'
	doctor --install
	[ "$status" -eq 5 ]
	[[ $stderr == *"have root run: apt-get install --no-install-recommends bison flex" ]]
	stub "$HOST" sudo 'exit 1'
	doctor --install </dev/null
	[ "$status" -eq 5 ]
	[ ! -e "$BATS_TEST_TMPDIR/apt" ]
}

@test "an apt-get that fails is an infrastructure error" {
	stub "$HOST" id 'echo 0'
	for broken in update install; do
		rm -f "$HOST/flex"
		stub "$HOST" apt-get "case \" \$* \" in *' $broken '*) echo 'E: broken' >&2; exit 100 ;; esac"
		doctor --install
		[ "$status" -eq 6 ]
		[[ $stderr == *"apt-get $broken failed"* ]]
	done
}

@test "what is still missing after the installation is an error" {
	stub "$HOST" id 'echo 0'
	rm "$HOST/flex"
	doctor --quiet --install
	[ "$status" -eq 5 ]
	row missing flex "not found"
}
