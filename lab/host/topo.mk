# kit-topo: topology files
TOPO = topo-read topo-check topo-machine topo-qemu topo-expect
TOPO_OBJ = $(patsubst %,$(B)/lab/host/%.o,$(TOPO))

$(B)/bin/kit-topo: $(B)/lab/host/topo.o $(TOPO_OBJ) $(LIB)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -o $@ $^ -ljansson
