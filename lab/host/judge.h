/* SPDX-License-Identifier: GPL-2.0-only */
/* From the records of many runs to a verdict. */
#ifndef KIT_JUDGE_H
#define KIT_JUDGE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "scenario.h"

enum { MAX_METRICS = 8, MAX_SEEDS = 64 };

struct metric {
	const char *name, *unit;
	bool higher_is_better;
	double min_effect;	/* below this nobody would care, whatever the noise */
	/*
	 * A fault that shows now and then, and must never: samples over min_effect
	 * are counted, and no median is taken.
	 */
	bool defect;
};

/*
 * What a scenario's program reports, and how to read it. One that reports
 * nothing has only its name: that its runs came up clean is all there is.
 */
struct judge_program {
	const char *name;	/* as in the scenario's program line */
	const char *record;	/* type of its records, one a sample; or NULL */
	const char *count;	/* the scenario's setting that says how many a run has */
	struct metric metric[MAX_METRICS];	/* [0] decides; ends at name NULL */
	/*
	 * Fill @value[] (one for each metric) and @detail (what else the report
	 * shows of this sample) from a record's fields. @cpus is the mask.
	 * Returns NULL, or what is wrong with the record.
	 */
	const char *(*sample)(const json_t *fields, const char *cpus,
			      double *value, json_t *detail);
};

extern const struct judge_program affinity_fork_judge;
extern const struct judge_program boot_judge;
extern const struct judge_program tg_nodes_judge;
extern const struct judge_program tg_offline_judge;
extern const struct judge_program tg_stall_judge;
extern const struct judge_program tg_fair_judge;
extern const struct judge_program tg_writes_judge;
extern const struct judge_program wake_stack_judge;

/*
 * A field as a number, whole or any that is finite and at least @min; false if it is
 * missing or anything else.
 */
bool field_whole(const json_t *fields, const char *key, long *value);
bool field_number(const json_t *fields, const char *key, double min, double *value);

/* The samples of one metric, of all runs of one side. */
struct side {
	const char *name;	/* "base" or "patched" */
	double *value[MAX_METRICS];
	size_t nr;		/* samples in each value[] */
	size_t seed_from[MAX_SEEDS + 1];	/* first sample of each seed's run */
	int seed[MAX_SEEDS];
	size_t nr_seeds;
	size_t outside;		/* samples with a task on a CPU that it may not use */
	json_t *runs;		/* for results.json */
};

enum outcome { IMPROVED, NO_DIFFERENCE, WORSE };

struct verdict {
	enum outcome outcome;
	double base, patched;	/* medians over all samples; of a defect the worst */
	double effect;		/* patched against base, > 0 is better */
	double noise;		/* largest distance of two base seeds' medians */
	size_t base_defects, patched_defects;	/* samples that show the defect */
};

const char *outcome_name(enum outcome o);
/* The words of a topology's mask line; false if @text is none of them. */
bool outcome_parse(const char *text, enum outcome *o);

/* Judge metric number @m. The statistic is told in docs/proof.md. */
void judge(const struct metric *metric, int m, const struct side *base,
	   const struct side *patched, struct verdict *v);

double median(const double *value, size_t n);
/* The @p-th quantile (0..1), by linear interpolation. */
double quantile(const double *value, size_t n, double p);

#endif
