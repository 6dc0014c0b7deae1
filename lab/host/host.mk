# Scenarios, consoles, verdicts, configs; topologies and QEMU are in topo.mk.
$(B)/bin/kit-scenario: $(B)/lab/host/scenario-main.o $(B)/lab/host/scenario.o $(LIB)
$(B)/bin/kit-console: $(addprefix $(B)/lab/host/,console-main.o console.o splat.o compare.o topo-read.o topo-check.o topo-machine.o) $(LIB)
$(B)/bin/kit-judge: $(addprefix $(B)/lab/host/,judge-main.o judge-runs.o judge-checks.o judge.o judge-affinity-fork.o judge-boot.o judge-tg-nodes.o judge-tg-stale.o judge-tg-fair.o judge-tg-writes.o judge-wake-stack.o results.o scenario.o stats.o) $(LIB)
$(B)/bin/kit-config: $(B)/lab/host/config-main.o $(LIB)
$(B)/bin/kit-judge: LDLIBS += -lm
$(addprefix $(B)/bin/,kit-scenario kit-console kit-judge kit-config):
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -o $@ $^ -ljansson $(LDLIBS)
$(B)/tests/unit/stats: $(B)/lab/host/stats.o
$(B)/tests/unit/judge: $(B)/lab/host/judge.o $(B)/lab/host/stats.o
$(B)/tests/unit/splat: $(B)/lab/host/splat.o
$(addprefix $(B)/tests/unit/,stats.o judge.o splat.o): KCFLAGS += -Ilab/host
