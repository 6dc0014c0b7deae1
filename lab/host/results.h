/* SPDX-License-Identifier: GPL-2.0-only */
/* What a verdict is written out as: results.json, KTAP and a report. */
#ifndef KIT_RESULTS_H
#define KIT_RESULTS_H

#include <stdio.h>

#include "judge.h"

/* One question that the scenario asked, and its answer. */
struct check {
	char *text;
	bool ok;
};

struct results {
	const struct judge_program *program;
	const struct scenario *scenario;
	struct side base, patched;
	struct verdict verdict[MAX_METRICS];
	enum outcome expected;
	int decides;		/* the metric on which the outcome hangs */
	struct check check[3 * MAX_METRICS + 2];
	size_t nr_checks;
	bool reproducible;
	bool clean_only;	/* nothing but clean runs is asked for */
	json_t *meta, *times;
};

/*
 * runs_read - add the runs of @text[], each SIDE:SEED:SHA256:FILE, to @r, whose
 * program and scenario are set. @cpus is the mask. Dies with EX_USAGE if one is
 * wrong, and unless there are runs of both sides and, where something is
 * measured, two different seeds of base.
 */
void runs_read(struct results *r, const char *cpus, char *const *text, size_t nr);

/*
 * check_names - what the scenario, read from @file, says of metrics must be of
 * ones that @r's program measures: a bound for another would be met by never
 * being looked at. Sets which one decides. Dies with EX_USAGE.
 */
void check_names(struct results *r, const char *file);

/* decide - judge every metric of @r and add the checks. */
void decide(struct results *r);

bool results_ok(const struct results *r);
json_t *results_json(const struct results *r);
void results_ktap(const struct results *r, FILE *out);
void results_report(const struct results *r, FILE *out);

#endif
