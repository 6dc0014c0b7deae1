# kit-vmrun: QEMU under watch
$(B)/bin/kit-vmrun: $(patsubst %,$(B)/lab/host/%.o,vmrun vmrun-child vmrun-watch vmrun-status) $(LIB)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -o $@ $^ -ljansson -lm
