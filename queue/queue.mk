# kit-queue: series and patch headers
$(B)/bin/kit-queue: $(patsubst %.c,$(B)/%.o,$(wildcard queue/*.c)) $(LIB)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -o $@ $^ -ljansson
