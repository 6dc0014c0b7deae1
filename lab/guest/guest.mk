# The guest's init, static, once for each architecture.
GUEST_SRC = $(wildcard lab/guest/*.c) lib/cpulist.c
GUEST_CFLAGS = -O2 -static $(KCFLAGS) -Ilab/guest

guest: $(B)/guest/arm64/init $(B)/guest/x86_64/init

$(B)/guest/arm64/init: GUEST_CC ?= aarch64-linux-gnu-gcc
$(B)/guest/x86_64/init: GUEST_CC ?= x86_64-linux-gnu-gcc
$(B)/guest/%/init: $(GUEST_SRC) $(wildcard lab/guest/*.h) lib/cpulist.h lab/guest/guest.mk
	@mkdir -p $(@D)
	$(GUEST_CC) $(GUEST_CFLAGS) -o $@ $(GUEST_SRC)
