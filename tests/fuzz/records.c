// SPDX-License-Identifier: GPL-2.0-only
/*
 * The JSON of kit-console, as kit-judge reads it. The input is two runs of base
 * and one of patched, with "%%" between them; a fourth part is the scenario.
 * Where parts are missing, the last run is taken for them too.
 */
#include <math.h>

#include "fuzz.h"
#include "judge.h"
#include "util.h"

static const char plain[] =
	"program affinity-fork\nmask reported\nguest storms=2\nhost seeds=2 goal_used=97 goal_cov=2\n";

static const uint8_t *run[3];
static size_t run_len[3];

void fuzz_start(void)
{
}

static const struct judge_program *const judges[] = {
	&affinity_fork_judge, &tg_nodes_judge, &tg_offline_judge, &tg_stall_judge,
	&tg_fair_judge, &tg_writes_judge, &wake_stack_judge,
};

/* Figures that are no numbers would pass every comparison that follows. */
static void check_sample(const struct judge_program *program, const json_t *fields)
{
	double value[MAX_METRICS] = { 0 };
	json_t *detail = json_object();

	if (!program->sample(fields, "0-3", value, detail))
		for (int m = 0; m < MAX_METRICS && program->metric[m].name; m++)
			fuzz_check(isfinite(value[m]) &&
				   (value[m] >= 0 || program != &affinity_fork_judge));
	json_decref(detail);
}

static void samples(void)
{
	json_t *in = json_loadb((const char *)run[0], run_len[0], 0, NULL), *rec;
	size_t i;

	json_array_foreach(json_object_get(in, "records"), i, rec)
		for (size_t p = 0; p < ARRAY_SIZE(judges); p++)
			check_sample(judges[p], json_object_get(rec, "fields"));
	json_decref(in);
}

static void through_kit_judge(void)
{
	static const char *const args[] = {
		"kit-judge", "--scenario", "s.scn", "--topology", "pair", "--cpus", "0-3",
		"--expect", "improved", "--reproducible", "--meta", "a.b=c", "--time", "boot=1.5",
		"--out", "out", "base:1:aa:0", "base:2:bb:1", "patched:1:cc:2",
	};
	int code = fuzz_main(ARRAY_SIZE(args), args);

	fuzz_check(code == EX_OK || code == EX_FAIL || code == EX_USAGE);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = { "0", "1", "2" };
	const uint8_t *part = data;
	size_t len = size;

	for (int i = 0; i < 3; i++) {
		fuzz_part(&data, &size, &part, &len);
		run[i] = part;
		run_len[i] = len;
	}
	fuzz_check(fuzz_run(samples) == FUZZ_RETURNED);
	for (int i = 0; i < 3; i++)
		fuzz_file(names[i], run[i], run_len[i]);
	if (fuzz_part(&data, &size, &part, &len))
		fuzz_file("s.scn", part, len);
	else
		fuzz_text("s.scn", plain);
	fuzz_check(fuzz_run(through_kit_judge) == FUZZ_RETURNED);
	return 0;
}
