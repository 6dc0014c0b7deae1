#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# kit-scenario: what a scenario file says, and each fault with its line.

load helpers
load lab-helpers

setup_file() { build_tool kit-scenario kit-topo; }

setup() { cd "$BATS_TEST_TMPDIR" || return; }

# scenario LINE...: kit-scenario, on topology pair, for a file of these lines.
scenario() {
	printf '%s\n' "$@" >t.scn
	run "$KIT_BIN/kit-scenario" t.scn "${ON:-pair}"
}

# wrong LINE-NUMBER TEXT: exit 2, with just this one line.
wrong() {
	code 2
	[ "$output" = "kit-scenario: t.scn:$1: $2" ] || { echo "wanted: t.scn:$1: $2"; echo "got: $output"; return 1; }
}

@test "a whole scenario is printed as KEY=VALUE lines" {
	scenario '# a comment' 'describe  two words # and a comment' '' 'program   prog' \
		'mask m' 'patches a.patch,b.patch' 'guest  storms=3   gap_us=10' \
		$'\thost\tseeds=5 goal_used=97.5' 'topology zen2-8n' 'lts 6.1,6.6' 'config slab' \
		'cmdline a=1  b' 'instrument base=count patched=wide:KIT_WIDE=1'
	code 0
	[ "$output" = 'describe=two words
program=prog
mask=m
patches=a.patch,b.patch
topology=zen2-8n
lts=6.1,6.6
config=slab
cmdline=a=1  b
instrument.base=count
instrument.patched=wide:KIT_WIDE=1
guest.storms=3
guest.gap_us=10
host.seeds=5
host.goal_used=97.5' ]
}

@test "what a scenario leaves out is empty" {
	scenario 'program p'
	code 0
	[ "$output" = 'describe=
program=p
mask=
patches=
topology=
lts=
config=
cmdline=
instrument.base=
instrument.patched=' ]
}

@test "on TOPOLOGY overrides on that topology only" {
	local text=('program p' 'guest storms=12 gap_us=5' 'host seeds=5'
		'on turin20 storms=4 seeds=3' 'on pair gap_us=7')
	ON=turin20 scenario "${text[@]}"
	has guest.storms=4
	has guest.gap_us=5
	has host.seeds=3
	scenario "${text[@]}"
	has guest.storms=12
	has guest.gap_us=7
	has host.seeds=5
	ON=uma scenario "${text[@]}"
	has guest.storms=12
	has guest.gap_us=5
}

@test "the name of a topology must match whole" {
	ON=turin20 scenario 'program p' 'guest storms=12' 'on turin20-160 storms=3'
	has guest.storms=12
	ON=turin20-160 scenario 'program p' 'guest storms=12' 'on turin20 storms=3'
	has guest.storms=12
}

@test "an override of what is not set is refused on every topology" {
	scenario 'program p' 'on pair strom=1'
	wrong 2 "strom is not set above; set it for all topologies first"
	ON=uma scenario 'program p' 'on pair strom=1'
	wrong 2 "strom is not set above; set it for all topologies first"
}

@test "an override with a wrong value is refused on every topology" {
	scenario 'program p' 'host seeds=2' 'on pair seeds=0'
	wrong 3 "seeds takes 1 to 64, not '0'"
	ON=uma scenario 'program p' 'host seeds=2' 'on pair seeds=0'
	wrong 3 "seeds takes 1 to 64, not '0'"
}

@test "an override without a topology or without a setting is refused" {
	scenario 'program p' 'on'
	wrong 2 "on needs a topology and key=value"
	scenario 'program p' 'on pair'
	wrong 2 "key=value is missing"
}

@test "an unknown keyword is named" {
	scenario 'program p' '' 'progam q'
	wrong 3 "unknown keyword 'progam'; see scenarios/README.md"
	[ -f "$KIT/scenarios/README.md" ]
}

@test "a keyword that comes twice is named" {
	for word in describe program mask patches; do
		scenario "$word a" "$word b"
		wrong 2 "a second $word line; remove one"
	done
}

@test "a keyword without a value is named" {
	for word in describe program mask patches; do
		scenario '# first' "$word # nothing"
		wrong 2 "$word needs a value"
	done
	for word in guest host; do
		scenario '# first' "$word"
		wrong 2 "key=value is missing"
	done
}

@test "program, mask and patches are one word each" {
	for word in program mask patches; do
		scenario "$word a b"
		wrong 1 "$word takes one word, not 'a b'"
	done
}

@test "a setting that is not key=value is named" {
	for word in storms storms= =3; do
		scenario 'program p' "guest a=1 $word"
		wrong 2 "'$word' is not key=value"
	done
}

@test "a key that is set twice is named, guest and host together" {
	scenario 'program p' 'guest storms=1' 'guest gap_us=1 storms=2'
	wrong 3 "storms is set twice; remove one"
	scenario 'program p' 'guest seeds=1' 'host seeds=1'
	wrong 3 "seeds is set twice; remove one"
}

@test "a key of other letters is named" {
	for key in Storms st-orms 'sto.rms'; do
		scenario 'program p' "guest $key=1"
		wrong 2 "'$key' is no name of small letters, digits and _"
	done
}

@test "what comes from elsewhere cannot be set" {
	for key in program nonce cpus parents monitor; do
		scenario 'program p' "guest $key=1"
		wrong 2 "$key comes from the topology or the run; remove it"
	done
	scenario 'program p' 'guest cpu=1 monitors=2'
	code 0
}

@test "an unknown setting for the host is named" {
	scenario 'program p' 'host sedes=5'
	wrong 2 "unknown host setting sedes; there are seeds, expect, decide, goal_METRIC, every_METRIC and ratio_METRIC"
}

@test "seeds, goals and dilation must be numbers that make sense" {
	for value in 0 65 -1 1.5 x 5x 99999999999999999999; do
		scenario 'program p' "host seeds=$value"
		wrong 2 "seeds takes 1 to 64, not '$value'"
		scenario 'program p' "guest dilation=${value/65/69}"
		wrong 2 "dilation takes 1 to 68; QEMU's device tree holds no more, not '${value/65/69}'"
	done
	for value in x 9x 1.2.3 . -5 nan; do
		scenario 'program p' "host goal_used=$value"
		wrong 2 "a bound is a number, or none, not '$value'"
	done
	scenario 'program p' 'guest dilation=68' 'host seeds=64 goal_a=none goal_b=0 goal_c=1.25'
	code 0
}

@test "a value that the guest's command line would read otherwise is refused" {
	for value in 'a"b' "a'b" 'a\b'; do
		scenario 'program p' "guest key=$value"
		wrong 2 "a value for the guest's command line has no quotes, not '$value'"
	done
}

@test "a scenario without a program is refused" {
	scenario 'describe nothing'
	fails_with 2 "t.scn: no program line; name the guest's program"
}

@test "a file that cannot be read is named, with where scenarios are" {
	run "$KIT_BIN/kit-scenario" missing.scn pair
	fails_with 2 "missing.scn: No such file or directory; scenarios are the files in scenarios/"
	run "$KIT_BIN/kit-scenario" . pair
	fails_with 2 "Is a directory"
}

@test "lines that end in CR LF read as well" {
	printf 'program p\r\nguest storms=3\r\n' >t.scn
	run "$KIT_BIN/kit-scenario" t.scn pair
	code 0
	has guest.storms=3
	[[ $output != *$'\r'* ]]
}

@test "wrong arguments give the usage" {
	run "$KIT_BIN/kit-scenario" t.scn
	fails_with 2 "usage: kit-scenario FILE TOPOLOGY"
}

@test "a full disk is not taken for success" {
	[ -e /dev/full ] || skip "no /dev/full here"
	echo 'program p' >t.scn
	run bash -c '"$KIT_BIN/kit-scenario" t.scn pair 2>&1 >/dev/full'
	code 6
}

# names FOLDER SUFFIX: the data files of the kit, without folder and suffix.
names() { (cd "$KIT/$1" && ls -- *"$2") | sed "s/$2\$//"; }

@test "every scenario of the kit is valid on every topology, with its mask" {
	local s t mask
	for s in $(names scenarios .scn); do
		for t in $(names topologies .topo); do
			run "$KIT_BIN/kit-scenario" "$KIT/scenarios/$s.scn" "$t"
			code 0
			mask=$(sed -n 's/^mask=//p' <<<"$output")
			[ -n "$mask" ] || continue
			# A control of its own has masks on some machines only.
			[ "$s" = affinity-fork ] || continue
			run "$KIT_BIN/kit-topo" mask "$KIT/topologies/$t.topo" "$mask"
			code 0
		done
	done
}

@test "every mask that a scenario names is on some topology" {
	local f mask t found
	for f in "$KIT"/scenarios/*.scn; do
		mask=$(sed -n 's/^mask[[:blank:]]*//p' "$f")
		[ -n "$mask" ] || continue
		found=
		for t in "$KIT"/topologies/*.topo; do
			! "$KIT_BIN/kit-topo" mask "$t" "$mask" >out 2>&1 || found=1
		done
		[ -n "$found" ] || { echo "$f: $mask"; false; }
	done
}

@test "every topology that a scenario overrides for is there" {
	local name
	for name in $(awk '$1 == "on" { print $2 }' "$KIT"/scenarios/*.scn); do
		[ -f "$KIT/topologies/$name.topo" ] || { echo "$name"; false; }
	done
}

@test "every patch that a scenario names is in a queue" {
	local name
	for name in $(awk '$1 == "patches" { print $2 }' "$KIT"/scenarios/*.scn | tr , '\n' | grep -vx none); do
		ls "$KIT"/patches/*/"$name" >/dev/null
	done
}

@test "every guest program of a scenario is one of the guest's" {
	local name
	for name in $(awk '$1 == "program" { print $2 }' "$KIT"/scenarios/*.scn); do
		grep -qE "struct program [a-z_]+ = \{ *\"$name\"" "$KIT"/lab/guest/*.c || { echo "$name"; false; }
	done
}

@test "the README of the scenarios explains every key that they use" {
	local key
	for key in $(grep -hE '^(guest|host)' "$KIT"/scenarios/*.scn | grep -oE '[a-z_]+=' | tr -d = | sort -u); do
		[[ $key != goal_* ]] || key=goal_METRIC
		[[ $key != every_* ]] || key=every_METRIC
		[[ $key != ratio_* ]] || key=ratio_METRIC
		grep -q "\`$key\`" "$KIT/scenarios/README.md" || { echo "$key"; false; }
	done
}

@test "one header instruments both kernels" {
	scenario 'program p' 'instrument tg-count'
	has instrument.base=tg-count
	has instrument.patched=tg-count
}

@test "a header that would become more than one word for the compiler is refused" {
	for word in '../x' 'a:b=1' 'a:' 'A' 'a;b' ':X=1'; do
		scenario 'program p' "instrument $word"
		wrong 2 "'$word' is not NAME or NAME:DEFINE=VALUE, of lab/kernel/NAME.h"
	done
	scenario 'program p' 'instrument a' 'instrument patched=b'
	wrong 3 "a second instrument line; remove one"
	scenario 'program p' 'instrument'
	wrong 2 "instrument needs a value"
}

@test "the outcome that is expected is one of three words, and said once" {
	scenario 'program p' 'host expect=better'
	wrong 2 "expect takes improved, no-difference or worse, not 'better'"
	scenario 'program p' 'mask m' 'host expect=worse'
	code 2
	[ "$output" = "kit-scenario: t.scn: expect is set, but the mask of the topology says what to expect; remove one" ]
	scenario 'program p' 'host expect=worse decide=used every_used=3 ratio_used=20'
	code 0
}
