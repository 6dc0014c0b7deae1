// SPDX-License-Identifier: GPL-2.0-only
/* lib/cpulist.c: what it reads, refuses and writes. */
#include <string.h>

#include "cpulist.h"
#include "tap.h"

/* Does @in read as a list that is written as @out? */
static bool reads_as(const char *in, const char *out)
{
	struct cpulist l;
	char buf[256];

	return !cpulist_parse(in, &l) &&
	       cpulist_format(&l, buf, sizeof(buf)) == (int)strlen(out) &&
	       !strcmp(buf, out);
}

/* Is @in refused, for a reason in which @why occurs? */
static bool refused(const char *in, const char *why)
{
	struct cpulist l;
	const char *said = cpulist_parse(in, &l);

	return said && strstr(said, why);
}

static void reading(void)
{
	ok(reads_as("", ""), "the empty text is the empty list");
	ok(reads_as("0", "0"), "a single CPU");
	ok(reads_as("0-8", "0-8"), "a range");
	ok(reads_as("5-5", "5"), "a range of one CPU is written as that CPU");
	ok(reads_as("0,2,4-20:4", "0,2,4,8,12,16,20"), "a range with a stride");
	ok(reads_as("0-9:4", "0,4,8"), "a stride that does not meet the end");
	ok(reads_as("8,1-3,0,2", "0-3,8"), "order and repetition do not matter");
	ok(reads_as("1023", "1023"), "the last CPU there can be");
	ok(reads_as("0-1023", "0-1023"), "all CPUs there can be");
}

static void refusing(void)
{
	ok(refused("1024", "too large"), "a CPU past the last is refused");
	ok(refused("99999999999999999999", "too large"), "a number that overflows is refused");
	ok(refused("3-1", "ends before"), "a range that runs backwards is refused");
	ok(refused("3-", "ends before"), "a range without an end is refused");
	ok(refused("-3", "missing"), "a range without a start is refused");
	ok(refused("0-8:0", "stride"), "a stride of 0 is refused");
	ok(refused("0-8:", "stride"), "a missing stride is refused");
	ok(refused("1,", "unexpected"), "a comma at the end is refused");
	ok(refused(",1", "missing"), "a comma at the start is refused");
	ok(refused("1,,2", "missing"), "two commas are refused");
	ok(refused("1 2", "unexpected"), "a blank is refused");
	ok(refused("0x2", "unexpected"), "a hexadecimal number is refused");
	ok(refused("+1", "missing"), "a sign is refused");
	ok(refused("1\n", "unexpected"), "a newline is refused");
}

static void writing(void)
{
	struct cpulist l;
	char buf[8];

	cpulist_parse("0-3,8,10", &l);
	ok(cpulist_format(&l, buf, 8) == -1, "a buffer without room for the NUL is refused");
	cpulist_parse("0-3,10", &l);
	ok(cpulist_format(&l, buf, 7) == 6 && !strcmp(buf, "0-3,10"), "a buffer that just fits is enough");
	ok(cpulist_format(&l, buf, 0) == -1, "a buffer of no size is refused");
}

static void walking(void)
{
	struct cpulist a, b;

	cpulist_parse("2,5-6,1023", &a);
	ok(cpulist_count(&a) == 4, "the count is that of the CPUs in the list");
	ok(cpulist_next(&a, -1) == 2 && cpulist_next(&a, 2) == 5, "the walk goes from CPU to CPU");
	ok(cpulist_next(&a, 6) == 1023 && cpulist_next(&a, 1023) == -1, "the walk ends after the last");
	cpulist_parse("1023,6,5,2", &b);
	ok(cpulist_equal(&a, &b), "lists of the same CPUs are equal");
	cpulist_parse("2,5-6", &b);
	ok(!cpulist_equal(&a, &b), "a list that lacks one is not equal");
}

int main(void)
{
	reading();
	refusing();
	writing();
	walking();
	return tap_done();
}
