/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A kernel in which wake_wide() always says the same, to see whether wake-stack
 * sees anything at all:
 *
 *	make CFLAGS_fair.o="-DKIT_WIDE=1 -include .../wake-wide.h"
 *
 * wake_wide() asks __this_cpu_read(sd_llc_size) and nothing else for the limit:
 * 0 is a limit that everybody reaches, INT_MAX one that nobody does. Only for
 * kernels without the patches of wakee flips, which ask for it too.
 */
#ifndef KIT_WAKE_WIDE_H
#define KIT_WAKE_WIDE_H

#include <linux/limits.h>
#include <linux/percpu.h>
#include <linux/string.h>

#undef __this_cpu_read
#define __this_cpu_read(pcp)						\
	__builtin_choose_expr(__builtin_strcmp(#pcp, "sd_llc_size") == 0,	\
		KIT_WIDE ? 0 : INT_MAX,					\
		({ __this_cpu_preempt_check("read"); raw_cpu_read(pcp); }))

#endif
