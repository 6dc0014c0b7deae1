// SPDX-License-Identifier: GPL-2.0-only
/*
 * What QEMU prints while it is watched: the first byte of the input says how
 * large the pieces are that it comes in, the second how QEMU ended, the rest is
 * the output. No piece may be lost, and no cut between two may hide the marker.
 */
#include <string.h>

#include "fuzz.h"
#include "vmrun.h"
#include "util.h"

#define MARKER "end nonce=abc"

static const char *bytes;
static size_t len, piece;
static int way;

void fuzz_start(void)
{
}

/* The same question, put to all of the output at once. */
static bool has_marker_line(void)
{
	const char *at = bytes, *nl = bytes ? memrchr(bytes, '\n', len) : NULL;

	while (nl && (at = memmem(at, nl - at, MARKER, strlen(MARKER)))) {
		if (!memchr(at, '\n', strlen(MARKER)))
			return true;
		at++;
	}
	return false;
}

static void feed(struct vmrun_result *r)
{
	struct line_finder f = { .text = MARKER };
	size_t kept = len < sizeof(r->console.text) ? len : sizeof(r->console.text);

	for (size_t i = 0; i < len; i += piece) {
		size_t n = len - i < piece ? len - i : piece;

		r->marker |= find_line(&f, bytes + i, n);
		tail_add(&r->console, bytes + i, n);
		tail_add(&r->err, bytes + i, n);
	}
	fuzz_check(r->marker == has_marker_line());
	fuzz_check(r->console.len == kept);
	fuzz_check(!kept || !memcmp(r->console.text, bytes + len - kept, kept));
}

static void one_run(void)
{
	static const char *const timers[] = { "first", "progress", "total", "grace" };
	static char *const qemu[] = { "qemu", NULL };
	struct vmrun_options o = { .marker = MARKER, .first = 1, .progress = 2, .total = 3,
				   .grace = 4, .limit = 1 << 20, .argv = (char **)qemu };
	static struct vmrun_result r;
	char *hint;

	memset(&r, 0, sizeof(r));
	r.end = way % (END_INTERRUPTED + 1);
	r.timer = timers[way / 8 % 4];
	r.reaped = way & 128;
	r.wait_status = way & 64 ? 9 : way & 32 ? 1 << 8 : 0;
	r.signal = 15;
	r.first_output = len ? 0.5 : -1;
	feed(&r);
	hint = vmrun_hint(&o, &r);
	fuzz_check(hint && !strpbrk(hint, "\n\r\033"));
	fuzz_check(!vmrun_status(&o, &r));
	fuzz_check(vmrun_code(&r) >= 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 2)
		return 0;
	piece = data[0] ? data[0] : 5000;
	way = data[1];
	bytes = (const char *)data + 2;
	len = size - 2;
	fuzz_check(fuzz_run(one_run) == FUZZ_RETURNED);
	return 0;
}
