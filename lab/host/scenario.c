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

/* An override must name a setting that is there: it may be a slip otherwise. */
static void override(struct reader *r, const char *word, size_t key_len)
{
	struct setting *set = find(r->s, word, key_len);

	if (!set)
		die(EX_USAGE, "%s:%d: %.*s is not set above; set it for all topologies first",
		    r->path, r->line, (int)key_len, word);
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
		if (how == OVERRIDE)
			override(r, word, len);
		else if (how != CHECK)
			add(r, word, len, how == GUEST);
		else if (!find(r->s, word, len))
			die(EX_USAGE, "%s:%d: %.*s is not set above; set it for all topologies first",
			    r->path, r->line, (int)len, word);
	}
}

static void on(struct reader *r, char *text)
{
	char *rest = text + strcspn(text, " \t");

	if (*rest)
		*rest++ = '\0';
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

static void read_line(struct reader *r, char *text)
{
	char *rest = text + strcspn(text, " \t");
	struct scenario *s = r->s;

	if (*rest)
		*rest++ = '\0';
	rest = trim(rest);
	if (!strcmp(text, "describe"))
		once(r, text, &s->describe, rest);
	else if (!strcmp(text, "program"))
		once(r, text, &s->program, rest);
	else if (!strcmp(text, "mask"))
		once(r, text, &s->mask, rest);
	else if (!strcmp(text, "patches"))
		once(r, text, &s->patches, rest);
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
	char *all = read_file(path, NULL), *next = all, *line;

	if (!all)
		die(EX_USAGE, "%s: %s; scenarios are the files in scenarios/",
		    path, strerror(errno));
	memset(s, 0, sizeof(*s));
	while ((line = strsep(&next, "\n"))) {
		r.line++;
		line[strcspn(line, "#")] = '\0';
		line = trim(line);
		if (*line)
			read_line(&r, line);
	}
	if (!s->program)
		die(EX_USAGE, "%s: no program line; name the guest's program", path);
	free(all);
}
