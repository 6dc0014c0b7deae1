# killat, the harness of the kill tests: build/test/killat.
KILLAT = $(addprefix $(B)/tests/,killat.o killat-calls.o killat-trace.o)

killat: $(B)/test/killat

$(B)/test/killat: $(KILLAT) $(B)/lib/util.o
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -o $@ $^

$(KILLAT): tests/killat.h tests/killat-trace.h

.PHONY: killat
