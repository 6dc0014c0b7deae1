// SPDX-License-Identifier: GPL-2.0-only
/* Reading scenario files; the format is in scenarios/README.md. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "scenario.h"
#include "util.h"

struct reader {
	const char *path, *topology;
	int line;
	struct scenario *s;
};

static struct setting *find(const struct scenario *s, const char *key, size_t len)
{
	for (size_t i = 0; i < s->nr_settings; i++)
		if (strlen(s->setting[i].key) == len &&
		    !strncmp(s->setting[i].key, key, len))
			return &s->setting[i];
	return NULL;
}

const char *scenario_get(const struct scenario *s, const char *key,
			 const char *fallback)
{
	const struct setting *set = find(s, key, strlen(key));

	return set ? set->value : fallback;
}

static void add(struct reader *r, const char *word, size_t key_len, bool guest)
{
	struct scenario *s = r->s;
	struct setting *set;

	if (find(s, word, key_len))
		die(EX_USAGE, "%s:%d: %.*s is set twice; remove one", r->path,
		    r->line, (int)key_len, word);
	s->setting = xrealloc(s->setting,
			      (s->nr_settings + 1) * sizeof(*s->setting));
	set = &s->setting[s->nr_settings++];
	set->key = xasprintf("%.*s", (int)key_len, word);
	set->value = xstrdup(word + key_len + 1);
	set->guest = guest;
}

/* Names that the guest gets from the topology and from the run itself. */
static bool reserved(const char *word, size_t len)
{
	static const char *const names[] = { "program", "nonce", "cpus",
					     "parents", "monitor" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strlen(names[i]) == len && !strncmp(names[i], word, len))
			return true;
	return false;
}

static bool whole_number(const char *s, long min, long max)
{
	char *end;
	long n = strtol(s, &end, 10);

	return *s >= '0' && *s <= '9' && !*end && n >= min && n <= max;
}

static bool number(const char *s)
{
	size_t whole = strspn(s, "0123456789");

	s += whole + (s[whole] == '.');
	return whole && !s[strspn(s, "0123456789")];
}

/* What the kit itself reads must make sense; returns NULL, or what is wrong. */
static const char *bad_value(const char *word, size_t len, bool guest)
{
	const char *value = word + len + 1;

	if (!strncmp(word, "dilation=", len + 1) && guest)
		return whole_number(value, 1, 68) ? NULL :
			"dilation takes 1 to 68; QEMU's device tree holds no more";
	if (guest)
		return strpbrk(value, "\"'\\") ?
			"a value for the guest's command line has no quotes" : NULL;
	if (!strncmp(word, "seeds=", len + 1))
		return whole_number(value, 1, 64) ? NULL : "seeds takes 1 to 64";
	if (!strncmp(word, "expect=", len + 1))
		return !strcmp(value, "improved") || !strcmp(value, "no-difference") ||
		       !strcmp(value, "worse") ? NULL :
			"expect takes improved, no-difference or worse";
	if (!strncmp(word, "decide=", len + 1))
		return NULL;
	return number(value) || !strcmp(value, "none") ? NULL :
		"a bound is a number, or none";
}

/* Settings for the host: whole names, and the begins of those with a metric. */
static bool host_setting(const char *word, size_t len)
{
	static const char *const names[] = { "seeds", "expect", "decide" };
	static const char *const begins[] = { "goal_", "every_", "ratio_" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strlen(names[i]) == len && !strncmp(names[i], word, len))
			return true;
	for (size_t i = 0; i < ARRAY_SIZE(begins); i++)
		if (len > strlen(begins[i]) && !strncmp(begins[i], word, strlen(begins[i])))
			return true;
	return false;
}

static void check_setting(struct reader *r, const char *word, size_t len, bool guest)
{
	const char *wrong;

	if (strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789_") != len)
		die(EX_USAGE, "%s:%d: '%.*s' is no name of small letters, digits and _",
		    r->path, r->line, (int)len, word);
	if (guest && reserved(word, len))
		die(EX_USAGE, "%s:%d: %.*s comes from the topology or the run; remove it",
		    r->path, r->line, (int)len, word);
	if (!guest && !host_setting(word, len))
		die(EX_USAGE, "%s:%d: unknown host setting %.*s; there are seeds, expect, decide, goal_METRIC, every_METRIC and ratio_METRIC",
		    r->path, r->line, (int)len, word);
	wrong = bad_value(word, len, guest);
	if (wrong)
		die(EX_USAGE, "%s:%d: %s, not '%s'", r->path, r->line, wrong,
		    word + len + 1);
}

/*
 * An override must name a setting that is there: it may be a slip otherwise.
 * It is checked for all topologies, and taken for the one asked for.
 */
static void override(struct reader *r, const char *word, size_t key_len, bool take)
{
	struct setting *set = find(r->s, word, key_len);

	if (!set)
		die(EX_USAGE, "%s:%d: %.*s is not set above; set it for all topologies first",
		    r->path, r->line, (int)key_len, word);
	check_setting(r, word, key_len, set->guest);
	if (!take)
		return;
	free(set->value);
	set->value = xstrdup(word + key_len + 1);
}

enum how { GUEST, HOST, OVERRIDE, CHECK };

static void settings(struct reader *r, char *text, enum how how)
{
	char *save, *word = strtok_r(text, " \t", &save);

	if (!word)
		die(EX_USAGE, "%s:%d: key=value is missing", r->path, r->line);
	for (; word; word = strtok_r(NULL, " \t", &save)) {
		size_t len = strcspn(word, "=");

		if (!len || word[len] != '=' || !word[len + 1])
			die(EX_USAGE, "%s:%d: '%s' is not key=value", r->path,
			    r->line, word);
		if (how == GUEST || how == HOST) {
			check_setting(r, word, len, how == GUEST);
			add(r, word, len, how == GUEST);
		} else {
			override(r, word, len, how == OVERRIDE);
		}
	}
}

static void on(struct reader *r, char *text)
{
	char *rest = text + strcspn(text, " \t");

	if (*rest)
		*rest++ = '\0';
	if (!*text)
		die(EX_USAGE, "%s:%d: on needs a topology and key=value", r->path, r->line);
	settings(r, trim(rest), strcmp(text, r->topology) ? CHECK : OVERRIDE);
}

static void once(struct reader *r, const char *keyword, char **to, const char *text)
{
	if (*to)
		die(EX_USAGE, "%s:%d: a second %s line; remove one", r->path,
		    r->line, keyword);
	if (!*text)
		die(EX_USAGE, "%s:%d: %s needs a value", r->path, r->line, keyword);
	*to = xstrdup(text);
}

/* The same for a name, or names with commas between them. */
static void one_word(struct reader *r, const char *keyword, char **to, const char *text)
{
	once(r, keyword, to, text);
	if (text[strcspn(text, " \t")])
		die(EX_USAGE, "%s:%d: %s takes one word, not '%s'", r->path, r->line,
		    keyword, text);
}

/*
 * A header of lab/kernel, and what it is to know: NAME or NAME:DEFINE=VALUE. It
 * becomes part of the compiler's command line, so it has plain letters only.
 */
static void one_header(struct reader *r, char **to, const char *word)
{
	size_t len = strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789-");
	const char *define = word[len] == ':' ? word + len + 1 : NULL;

	if (!len || (define && (!*define || define[strspn(define, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789=")])) ||
	    (!define && word[len]))
		die(EX_USAGE, "%s:%d: '%s' is not NAME or NAME:DEFINE=VALUE, of lab/kernel/NAME.h",
		    r->path, r->line, word);
	once(r, "instrument", to, word);
}

/* One header for both sides, or base=HEADER and patched=HEADER. */
static void instrument(struct reader *r, char *text)
{
	char *save, *word = strtok_r(text, " \t", &save);

	if (!word)
		die(EX_USAGE, "%s:%d: instrument needs a value", r->path, r->line);
	for (; word; word = strtok_r(NULL, " \t", &save)) {
		if (!strncmp(word, "base=", 5)) {
			one_header(r, &r->s->instrument_base, word + 5);
		} else if (!strncmp(word, "patched=", 8)) {
			one_header(r, &r->s->instrument_patched, word + 8);
		} else {
			one_header(r, &r->s->instrument_base, word);
			one_header(r, &r->s->instrument_patched, word);
		}
	}
}

/* Keywords with a value of one word, kept as it is; false if @key is none. */
static bool read_word(struct reader *r, const char *key, const char *value)
{
	struct scenario *s = r->s;
	const struct { const char *key; char **to; } words[] = {
		{ "program", &s->program }, { "mask", &s->mask },
		{ "patches", &s->patches }, { "topology", &s->topology },
		{ "lts", &s->lts }, { "config", &s->config },
	};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (!strcmp(key, words[i].key)) {
			one_word(r, key, words[i].to, value);
			return true;
		}
	}
	return false;
}

static void read_line(struct reader *r, char *text)
{
	char *rest = text + strcspn(text, " \t");
	struct scenario *s = r->s;

	if (*rest)
		*rest++ = '\0';
	rest = trim(rest);
	if (read_word(r, text, rest))
		return;
	if (!strcmp(text, "describe"))
		once(r, text, &s->describe, rest);
	else if (!strcmp(text, "cmdline"))
		once(r, text, &s->cmdline, rest);
	else if (!strcmp(text, "instrument"))
		instrument(r, rest);
	else if (!strcmp(text, "guest"))
		settings(r, rest, GUEST);
	else if (!strcmp(text, "host"))
		settings(r, rest, HOST);
	else if (!strcmp(text, "on"))
		on(r, rest);
	else
		die(EX_USAGE, "%s:%d: unknown keyword '%s'; see scenarios/README.md",
		    r->path, r->line, text);
}

void scenario_read(const char *path, const char *topology, struct scenario *s)
{
	struct reader r = { .path = path, .topology = topology, .s = s };
	size_t len;
	char *all = read_file(path, &len), *next = all, *line;

	if (!all)
		die(EX_USAGE, "%s: %s; scenarios are the files in scenarios/",
		    path, strerror(errno));
	if (strlen(all) != len)
		die(EX_USAGE, "%s: it has a NUL byte; give a text file", path);
	memset(s, 0, sizeof(*s));
	while ((line = strsep(&next, "\n"))) {
		r.line++;
		line[strcspn(line, "#")] = '\0';
		line = trim(line);
		if (has_controls(line))
			die(EX_USAGE, "%s:%d: a control character; write plain text", path, r.line);
		if (*line)
			read_line(&r, line);
	}
	if (!s->program)
		die(EX_USAGE, "%s: no program line; name the guest's program", path);
	if (s->mask && scenario_get(s, "expect", NULL))
		die(EX_USAGE, "%s: expect is set, but the mask of the topology says what to expect; remove one",
		    path);
	free(all);
}
