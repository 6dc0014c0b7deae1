// SPDX-License-Identifier: GPL-2.0-only
/* kit-console: what a guest printed, as records and problems; see --help. */
#include <getopt.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "console.h"
#include "topo.h"
#include "util.h"

static const char help[] =
"usage: kit-console --nonce TEXT [--topology FILE] CONSOLE\n"
"\n"
"Reads a guest's console and prints one JSON object: its records, and the\n"
"problems found. --topology compares the guest's report with the machine that\n"
"was asked for. Exit: 0 clean, 4 a problem (each also one line on stderr,\n"
"\"CONSOLE:LINE: kind: text\"), 2 wrong arguments or topology, 6 the console\n"
"cannot be read, or the disk is full.\n";

/* Bytes that are no UTF-8 must not make the object unprintable. */
static json_t *text_json(const char *s)
{
	json_t *t = json_string(s);

	if (!t) {
		char *copy = xstrdup(s);

		for (char *p = copy; *p; p++)
			if (*p & 0x80)
				*p = '?';
		t = json_string(copy);
		free(copy);
	}
	return t;
}

static json_t *rec_json(const struct rec *r)
{
	json_t *fields = json_object();

	for (size_t i = 0; i < r->nr_fields; i++)
		json_object_set_new(fields, r->field[i].key,
				    text_json(r->field[i].value));
	return json_pack("{s:o, s:i, s:o}", "type", text_json(r->type), "line", r->line,
			 "fields", fields);
}

static json_t *console_json(const struct console *c)
{
	json_t *recs = json_array(), *problems = json_array();

	for (size_t i = 0; i < c->nr_recs; i++)
		json_array_append_new(recs, rec_json(&c->rec[i]));
	for (size_t i = 0; i < c->nr_problems; i++)
		json_array_append_new(problems,
			json_pack("{s:s, s:i, s:o}", "kind", c->problem[i].kind,
				  "line", c->problem[i].line, "text",
				  text_json(c->problem[i].text)));
	return json_pack("{s:b, s:o, s:o}", "ended", c->ended, "records", recs,
			 "problems", problems);
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "nonce", required_argument, NULL, 'n' },
		{ "topology", required_argument, NULL, 't' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	const char *nonce = NULL, *topology = NULL;
	static struct topology t;
	struct console c;
	int opt;

	atexit(close_stdout);
	opterr = 0;
	while ((opt = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		if (opt == 'n')
			nonce = optarg;
		else if (opt == 't')
			topology = optarg;
		else if (opt == 'h')
			return fputs(help, stdout) < 0 ? EX_INFRA : EX_OK;
		else
			nonce = NULL, optind = argc;
	}
	if (!nonce || optind != argc - 1)
		die(EX_USAGE, "usage: kit-console --nonce TEXT [--topology FILE] CONSOLE; --help says more");
	if (topology && topo_read(topology, &t))
		return EX_USAGE;
	console_read(argv[optind], nonce, &c);
	if (topology && c.ended)
		compare_topology(&c, &t);
	for (size_t i = 0; i < c.nr_problems; i++)
		fprintf(stderr, "%s:%d: %s: %s\n", argv[optind], c.problem[i].line,
			c.problem[i].kind, make_plain(c.problem[i].text));
	json_dumpf(console_json(&c), stdout, JSON_INDENT(1));
	putchar('\n');
	return c.nr_problems ? EX_BOOT : EX_OK;
}
