# SPDX-License-Identifier: GPL-2.0-only
#
# Fuzzing of the code that reads what others wrote: tests/fuzz/NAME.c is one
# target. A new one is its file, its name in FUZZ_TARGETS and its line FUZZ_NAME
# (the objects of the tool that it calls, main() among them), and a folder
# tests/fuzz/corpus/NAME with some inputs.
#
# make fuzz [SECONDS=600] [FUZZ="NAME..."]   each target, one after the other
# make fuzz-build     the targets, with clang's libFuzzer: build/fuzz/bin
# make replay-build   the same to run kept inputs only, with any compiler:
#                     build/replay/bin
QUEUE = main patch diff fields list series lint_series lint_header lint_diff lint_needs
FUZZ_patch = $(QUEUE:%=queue/%)
FUZZ_series = $(QUEUE:%=queue/%)
FUZZ_console = $(addprefix lab/host/,console-main console splat compare topo-read topo-check topo-machine)
FUZZ_topo = $(addprefix lab/host/,topo $(TOPO))
FUZZ_scenario = $(addprefix lab/host/,scenario-main scenario)
FUZZ_records = $(addprefix lab/host/,$(JUDGE))
FUZZ_config = lab/host/config-main
FUZZ_vmrun = $(addprefix lab/host/,vmrun vmrun-child vmrun-watch vmrun-status)

FUZZ_TARGETS = patch series console topo scenario records config vmrun
FUZZ_CC = clang
FUZZ_FLAGS = -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined
HOOKS = -include tests/fuzz/hooks.h

$(B)/fuzz/%: CC = $(FUZZ_CC)
$(B)/fuzz/%: CFLAGS = $(FUZZ_FLAGS) -fsanitize=fuzzer-no-link
$(B)/replay/%: CFLAGS = $(FUZZ_FLAGS)

# fuzz_objects FOLDER NAME: what the target NAME is linked from.
fuzz_objects = $(patsubst %,$(B)/$(1)/%.o,$(FUZZ_$(2)) tests/fuzz/$(2) tests/fuzz/fuzz tests/fuzz/memory lib/util lib/cpulist)

define fuzz_rules
$(B)/$(1)/queue/%.o: queue/%.c $(HEADERS) tests/fuzz/hooks.h tests/fuzz.mk Makefile
	@mkdir -p $$(@D)
	$$(CC) $$(CFLAGS) $$(KCFLAGS) $(HOOKS) -c -o $$@ $$<

$(B)/$(1)/lab/host/%.o: lab/host/%.c $(HEADERS) tests/fuzz/hooks.h tests/fuzz.mk Makefile
	@mkdir -p $$(@D)
	$$(CC) $$(CFLAGS) $$(KCFLAGS) $(HOOKS) -c -o $$@ $$<

$(B)/$(1)/%.o: %.c $(HEADERS) $(wildcard tests/fuzz/*.h) tests/fuzz.mk Makefile
	@mkdir -p $$(@D)
	$$(CC) $$(CFLAGS) $$(KCFLAGS) -Iqueue -Ilab/host -c -o $$@ $$<
endef
$(eval $(call fuzz_rules,fuzz))
$(eval $(call fuzz_rules,replay))

define fuzz_target
$(B)/fuzz/bin/$(1): $(call fuzz_objects,fuzz,$(1))
	@mkdir -p $$(@D)
	$$(CC) $$(FUZZ_FLAGS) -fsanitize=fuzzer -o $$@ $$^ -ljansson -lm

$(B)/replay/bin/$(1): $(call fuzz_objects,replay,$(1)) $(B)/replay/tests/fuzz/replay.o
	@mkdir -p $$(@D)
	$$(CC) $$(FUZZ_FLAGS) -o $$@ $$^ -ljansson -lm
endef
$(foreach t,$(FUZZ_TARGETS),$(eval $(call fuzz_target,$(t))))

fuzz-build: $(FUZZ_TARGETS:%=$(B)/fuzz/bin/%)

replay-build: $(FUZZ_TARGETS:%=$(B)/replay/bin/%)

fuzz:
	tests/fuzz/run.sh --seconds $(or $(SECONDS),600) $(FUZZ)

.PHONY: fuzz fuzz-build replay-build
