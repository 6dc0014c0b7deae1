// SPDX-License-Identifier: GPL-2.0-only
/*
 * NAME FILE-OR-FOLDER... - give each file to the target once.
 *
 * Takes libFuzzer's place where there is no clang: the kept inputs still run,
 * with the same checks. Options (-max_total_time=5) are passed over.
 * Exit codes: 0 none made a finding, 2 usage, 6 a file cannot be read.
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "util.h"

static int nr_inputs;
static FILE *err;	/* stderr is the sink while a target runs */

static void replay(const char *path)
{
	size_t len;
	char *data = read_file(path, &len);

	if (!data) {
		stderr = err;
		die(EX_INFRA, "cannot read %s: %s; name a file or folder", path, strerror(errno));
	}
	LLVMFuzzerTestOneInput((const uint8_t *)data, len);
	free(data);
	nr_inputs++;
}

static void replay_folder(DIR *d, const char *path)
{
	struct dirent *e;

	while ((e = readdir(d))) {
		char *file = xasprintf("%s/%s", path, e->d_name);

		if (e->d_name[0] != '.')
			replay(file);
		free(file);
	}
}

int main(int argc, char **argv)
{
	err = stderr;
	LLVMFuzzerInitialize(&argc, &argv);
	for (int i = 1; i < argc; i++) {
		DIR *d = argv[i][0] == '-' ? NULL : opendir(argv[i]);

		if (d) {
			replay_folder(d, argv[i]);
			closedir(d);
		} else if (argv[i][0] != '-') {
			replay(argv[i]);
		}
	}
	stderr = err;
	if (!nr_inputs)
		die(EX_USAGE, "no input; give files or folders with some");
	fprintf(stderr, "%s: %d inputs, no finding\n", argv[0], nr_inputs);
	return EX_OK;
}
