# Unit tests in C: tests/unit/NAME.c is one program that prints TAP. One that
# tests more than lib/ names its objects here:
#   $(B)/tests/unit/NAME: $(B)/folder/file.o
UNIT = $(patsubst %.c,$(B)/%,$(wildcard tests/unit/*.c))

unit: $(UNIT)

$(B)/tests/unit/%: $(B)/tests/unit/%.o $(LIB)
	$(CC) $(CFLAGS) -o $@ $^ -ljansson -lm

$(B)/tests/unit/%.o: tests/unit/tap.h

check:
	tests/run.sh

check-fast:
	tests/run.sh --fast

.PHONY: unit
.PRECIOUS: $(B)/tests/unit/%.o
