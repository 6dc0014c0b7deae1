// SPDX-License-Identifier: GPL-2.0-only
/* Writing results out; see results.h. */
#include <math.h>
#include <string.h>

#include "results.h"
#include "util.h"

bool results_ok(const struct results *r)
{
	for (size_t i = 0; i < r->nr_checks; i++)
		if (!r->check[i].ok)
			return false;
	return true;
}

/* Two digits are all that a reader needs, and they compare byte for byte. */
static json_t *rounded(double x)
{
	/* + 0.0: no "-0.0" where an effect is none. */
	return json_real(round(x * 100) / 100 + 0.0);
}

static json_t *spread_json(const struct side *s, int m)
{
	json_t *o = json_object();

	json_object_set_new(o, "median", rounded(median(s->value[m], s->nr)));
	json_object_set_new(o, "min", rounded(quantile(s->value[m], s->nr, 0)));
	json_object_set_new(o, "q1", rounded(quantile(s->value[m], s->nr, 0.25)));
	json_object_set_new(o, "q3", rounded(quantile(s->value[m], s->nr, 0.75)));
	json_object_set_new(o, "max", rounded(quantile(s->value[m], s->nr, 1)));
	json_object_set_new(o, "samples", json_integer(s->nr));
	return o;
}

static json_t *verdict_json(const struct results *r, int m)
{
	const struct verdict *v = &r->verdict[m];
	json_t *o = json_object();

	json_object_set_new(o, "unit", json_string(r->program->metric[m].unit));
	json_object_set_new(o, "base", spread_json(&r->base, m));
	json_object_set_new(o, "patched", spread_json(&r->patched, m));
	json_object_set_new(o, "effect", rounded(v->effect));
	json_object_set_new(o, "noise", rounded(v->noise));
	json_object_set_new(o, "outcome", json_string(outcome_name(v->outcome)));
	if (r->program->metric[m].defect) {
		json_object_set_new(o, "base_defects", json_integer(v->base_defects));
		json_object_set_new(o, "patched_defects", json_integer(v->patched_defects));
	}
	return o;
}

json_t *results_json(const struct results *r)
{
	json_t *o = json_object(), *metrics = json_object(), *checks = json_array();

	json_object_update(o, r->meta);
	for (int m = 0; m < MAX_METRICS && r->program->metric[m].name; m++)
		json_object_set_new(metrics, r->program->metric[m].name,
				    verdict_json(r, m));
	for (size_t i = 0; i < r->nr_checks; i++)
		json_array_append_new(checks,
			json_pack("{s:s, s:b}", "check", r->check[i].text,
				  "ok", r->check[i].ok));
	json_object_set_new(o, "reproducible", json_boolean(r->reproducible));
	if (r->program->record)
		json_object_set_new(o, "expected",
				    json_string(outcome_name(r->expected)));
	json_object_set_new(o, "ok", json_boolean(results_ok(r)));
	json_object_set_new(o, "checks", checks);
	json_object_set_new(o, "metrics", metrics);
	json_object_set(o, "base", r->base.runs);
	json_object_set(o, "patched", r->patched.runs);
	json_object_set(o, "times", r->times);
	return o;
}

void results_ktap(const struct results *r, FILE *out)
{
	fprintf(out, "KTAP version 1\n1..%zu\n", r->nr_checks);
	for (size_t i = 0; i < r->nr_checks; i++)
		fprintf(out, "%s %zu %s\n", r->check[i].ok ? "ok" : "not ok",
			i + 1, r->check[i].text);
}

static bool all_percent(const struct results *r)
{
	for (int m = 0; m < MAX_METRICS && r->program->metric[m].name; m++)
		if (strcmp(r->program->metric[m].unit, "%"))
			return false;
	return true;
}

static int name_width(const struct results *r)
{
	int width = strlen("metric");

	for (int m = 0; m < MAX_METRICS && r->program->metric[m].name; m++)
		if ((int)strlen(r->program->metric[m].name) > width)
			width = strlen(r->program->metric[m].name);
	return width;
}

static void metric_row(const struct results *r, int m, const struct side *s,
		       FILE *out)
{
	const struct metric *metric = &r->program->metric[m];

	fprintf(out, "%-*s %-8s %8.2f %8.2f %8.2f %8.2f %8.2f %8zu\n",
		name_width(r), metric->name, s->name, quantile(s->value[m], s->nr, 0),
		quantile(s->value[m], s->nr, 0.25), median(s->value[m], s->nr),
		quantile(s->value[m], s->nr, 0.75),
		quantile(s->value[m], s->nr, 1), s->nr);
}

static void samples(const struct side *s, const struct results *r, FILE *out)
{
	fprintf(out, "\n%s, %s of every sample, a line a seed:\n", s->name,
		r->program->metric[r->decides].name);
	for (size_t i = 0; i < s->nr_seeds; i++) {
		for (size_t k = s->seed_from[i]; k < s->seed_from[i + 1]; k++)
			fprintf(out, " %5.1f", s->value[r->decides][k]);
		fputc('\n', out);
	}
}

static void metrics(const struct results *r, FILE *out)
{
	fprintf(out, "%-*s %-8s %8s %8s %8s %8s %8s %8s\n", name_width(r),
		all_percent(r) ? "in %" : "metric", "kernel", "min", "q1", "median", "q3", "max", "samples");
	for (int m = 0; m < MAX_METRICS && r->program->metric[m].name; m++) {
		metric_row(r, m, &r->base, out);
		metric_row(r, m, &r->patched, out);
	}
	for (int m = 0; !all_percent(r) && m < MAX_METRICS && r->program->metric[m].name; m++)
		fprintf(out, "%s is in %s, %s is better\n", r->program->metric[m].name,
			r->program->metric[m].unit,
			r->program->metric[m].higher_is_better ? "more" : "less");
	fputc('\n', out);
}

static const char *meta(const struct results *r, const char *key)
{
	const char *value = json_string_value(json_object_get(r->meta, key));

	return value ? value : "(not told)";
}

/* What the figures are about; programs find it in results.json. */
static void head(const struct results *r, FILE *out)
{
	if (!json_object_size(r->meta))
		return;
	fprintf(out, "Linux %s (%s), topology %s, scenario %s\n", meta(r, "version"),
		meta(r, "arch"), meta(r, "topology"), meta(r, "scenario"));
	fprintf(out, "base is %s\n", meta(r, "base_is"));
	fprintf(out, "patched adds %s\n", *meta(r, "named_patches") ? meta(r, "named_patches") :
		"no patch: the two differ by the header that is compiled in (commands/make.txt)");
	fprintf(out, "accelerator %s: %s\n\n", meta(r, "accel"), meta(r, "accel_why"));
}

void results_report(const struct results *r, FILE *out)
{
	head(r, out);
	if (r->program->record)
		metrics(r, out);
	for (size_t i = 0; i < r->nr_checks; i++)
		fprintf(out, "%s: %s\n", r->check[i].ok ? "ok" : "NOT OK",
			r->check[i].text);
	if (r->clean_only)
		fprintf(out, "the figures are not judged: that nothing went wrong was all that was asked\n");
	else if (!r->reproducible)
		fprintf(out, "not reproducible: this accelerator does not run the guest by instruction count; goals are not looked at\n");
	if (!r->program->record)
		return;
	samples(&r->base, r, out);
	samples(&r->patched, r, out);
}
