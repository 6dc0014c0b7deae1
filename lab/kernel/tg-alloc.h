/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counts the memory of task groups, and makes an allocation of it fail, without a
 * change of the kernel's source:
 *
 *	make CFLAGS_fair.o="-include .../tg-alloc.h"
 *
 * fair.c allocates with kcalloc() and kzalloc_node() what a group needs, and
 * nothing else; it frees with kfree() (6.1 to 6.18, without NUMA balancing, which
 * uses kzalloc()).
 *
 * /sys/module/fair/parameters/tg_objects: how many allocations are not freed.
 * /sys/module/fair/parameters/tg_fail: N makes the N-th allocation from now on
 * fail. It counts down, and is 0 when that has been.
 */
#ifndef KIT_TG_ALLOC_H
#define KIT_TG_ALLOC_H

#include <linux/atomic.h>
#include <linux/kernel.h>
#include <linux/moduleparam.h>
#include <linux/slab.h>

static atomic_long_t kit_tg_objects = ATOMIC_LONG_INIT(0);
static atomic_t kit_tg_fail = ATOMIC_INIT(0);

/* Whether this allocation is the one that is to fail. */
static inline bool kit_tg_fails(void)
{
	int left = atomic_dec_if_positive(&kit_tg_fail);

	return left == 0;
}

static inline void *kit_tg_made(void *object)
{
	if (object)
		atomic_long_inc(&kit_tg_objects);
	return object;
}

static inline void kit_tg_kfree(const void *object)
{
	if (object)
		atomic_long_dec(&kit_tg_objects);
	kfree(object);
}

#undef kcalloc
#define kcalloc(n, size, flags)						\
	(kit_tg_fails() ? NULL :					\
	 kit_tg_made(kmalloc_array(n, size, (flags) | __GFP_ZERO)))
#undef kzalloc_node
#define kzalloc_node(size, flags, node)					\
	(kit_tg_fails() ? NULL :					\
	 kit_tg_made(kmalloc_node(size, (flags) | __GFP_ZERO, node)))
#define kfree(object) kit_tg_kfree(object)

static int kit_tg_objects_get(char *buf, const struct kernel_param *kp)
{
	return scnprintf(buf, PAGE_SIZE, "%ld\n", atomic_long_read(&kit_tg_objects));
}

static const struct kernel_param_ops kit_tg_objects_ops = {
	.get = kit_tg_objects_get,
};
module_param_cb(tg_objects, &kit_tg_objects_ops, NULL, 0444);

static int kit_tg_fail_set(const char *text, const struct kernel_param *kp)
{
	int n, err = kstrtoint(text, 0, &n);

	if (!err)
		atomic_set(&kit_tg_fail, n);
	return err;
}

static int kit_tg_fail_get(char *buf, const struct kernel_param *kp)
{
	return scnprintf(buf, PAGE_SIZE, "%d\n", atomic_read(&kit_tg_fail));
}

static const struct kernel_param_ops kit_tg_fail_ops = {
	.set = kit_tg_fail_set,
	.get = kit_tg_fail_get,
};
module_param_cb(tg_fail, &kit_tg_fail_ops, NULL, 0644);

#endif
