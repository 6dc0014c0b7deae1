# SPDX-License-Identifier: GPL-2.0-only
#
# make            the host tools, into build/bin
# make guest      the guest's init for arm64 and x86_64, into build/guest
# make check      every test of the README (see tests/README.md)
# make check-fast the tests that build and boot no kernel
# make lint       shellcheck of scripts and tests, the lint of the queues
# make fuzz       fuzzing of the code that reads files (see tests/fuzz/run.sh)
# make bench      the times of README.md, measured on this machine
# make mutants LTS=6.1 TREE=DIR    would the proof notice a missing or wrong part of
#                 a patch? (an hour or two; see tests/mutants.sh)
# make variants LTS=6.1 TREE=DIR   compile each patch where what it touches is off
# make clean      remove build/

CC ?= cc
WARN = -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes
CFLAGS ?= -O2 -g
KCFLAGS = -std=gnu11 -D_GNU_SOURCE $(WARN) -Ilib
B = build

TOOLS = kit-queue kit-topo kit-vmrun kit-scenario kit-console kit-judge kit-config
LIB = $(patsubst lib/%.c,$(B)/lib/%.o,$(wildcard lib/*.c))
HEADERS = $(wildcard lib/*.h queue/*.h lab/host/*.h)

all: tools

tools: $(addprefix $(B)/bin/,$(TOOLS))

include $(wildcard queue/*.mk lab/host/*.mk lab/guest/*.mk tests/*.mk)

$(B)/%.o: %.c $(HEADERS) Makefile
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(KCFLAGS) -c -o $@ $<

lint: tools
	shellcheck -x $(shell git ls-files '*.sh' '.ci/run')
	shellcheck -x -S warning -e SC2154 $(shell git ls-files '*.bats')
	scripts/lint.sh

bench: tools
	tests/bench.sh

TREE ?= $(shell scripts/fetch-tree.sh $(LTS))
mutants: tools
	scripts/verify-build.sh --tree "$(TREE)" --class all --out "$(B)/mutants/$(LTS)" $(LTS)
	tests/mutants.sh "$(TREE)" "$(B)/mutants/$(LTS)"/*/

variants: tools
	tests/variants.sh $(LTS) "$(TREE)"

clean:
	rm -rf $(B)

.PHONY: all tools guest check check-fast lint bench mutants variants clean
.DELETE_ON_ERROR:
