# Scenarios, consoles, verdicts, configs; topologies and QEMU are in topo.mk.
$(B)/bin/kit-scenario: $(B)/lab/host/scenario-main.o $(B)/lab/host/scenario.o $(LIB)
$(B)/bin/kit-console: $(addprefix $(B)/lab/host/,console-main.o console.o splat.o compare.o topo-read.o topo-check.o topo-machine.o) $(LIB)
JUDGE = judge-main judge-runs judge-checks judge fields judge-affinity-fork judge-boot judge-tg-nodes judge-tg-stale judge-tg-fair judge-tg-writes judge-wake-stack results scenario stats
$(B)/bin/kit-judge: $(JUDGE:%=$(B)/lab/host/%.o) $(LIB)
$(B)/bin/kit-config: $(B)/lab/host/config-main.o $(LIB)
$(B)/bin/kit-judge: LDLIBS += -lm
$(addprefix $(B)/bin/,kit-scenario kit-console kit-judge kit-config):
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -o $@ $^ -ljansson $(LDLIBS)
$(B)/tests/unit/stats: $(B)/lab/host/stats.o
$(B)/tests/unit/judge: $(B)/lab/host/judge.o $(B)/lab/host/stats.o
$(B)/tests/unit/splat: $(B)/lab/host/splat.o
$(addprefix $(B)/tests/unit/,stats.o judge.o splat.o): KCFLAGS += -Ilab/host
