// SPDX-License-Identifier: GPL-2.0-only
/* A .config and a fragment, with "%%" between them. */
#include "fuzz.h"
#include "util.h"

static bool alike;

void fuzz_start(void)
{
}

static void through_kit_config(void)
{
	const char *args[] = { "kit-config", "dot-config", alike ? "dot-config" : "fragment" };
	int code = fuzz_main(ARRAY_SIZE(args), args);

	fuzz_check(code == EX_OK || code == EX_FAIL || code == EX_USAGE);
	/* Whatever a config says, it has taken all that it asks for itself. */
	fuzz_check(!alike || code != EX_FAIL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *config, *fragment;
	size_t config_len, fragment_len;

	fuzz_part(&data, &size, &config, &config_len);
	if (!fuzz_part(&data, &size, &fragment, &fragment_len)) {
		fragment = config;
		fragment_len = config_len;
	}
	alike = false;
	fuzz_file("dot-config", config, config_len);
	fuzz_file("fragment", fragment, fragment_len);
	fuzz_check(fuzz_run(through_kit_config) == FUZZ_RETURNED);
	alike = true;
	fuzz_file("dot-config", config, config_len);
	fuzz_check(fuzz_run(through_kit_config) == FUZZ_RETURNED);
	return 0;
}
