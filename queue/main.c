// SPDX-License-Identifier: GPL-2.0-only
/* kit-queue: what is in the queue of an LTS, and what is wrong with it. */
#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "queue.h"

static const char help[] =
"usage: kit-queue [--queue DIR] COMMAND\n"
"\n"
"  list [--json] [--class LIST] LTS\n"
"        the patches of these classes (default stable), in the order to\n"
"        apply, one a line: name, path, upstream commit, first release,\n"
"        class, files (by blanks), subject, the patches it needs, those it\n"
"        takes the place of (both by blanks); with tabs between, - for none\n"
"  lint [LTS...]\n"
"        what is wrong with the queues, as FILE:LINE: text\n"
"  hunks FILE\n"
"        the hunks of a patch, one a line: file, which of it, of how many,\n"
"        old line and length, new line and length, line in the patch\n"
"  states LTS [KEY=TEXT...] [KEY:=JSON...] <STATES\n"
"        the answer of apply.sh as JSON; STATES has name, state, action and\n"
"        detail, with tabs between\n"
"\n"
"A queue is a folder with patches/LTS/ and series/LTS.CLASS; without --queue\n"
"it is the current one. Exit codes: 0 done, 1 the lint found something, 2 wrong\n"
"arguments or a wrong queue (list names what is wrong with it), 6 no memory,\n"
"disk full.\n";

static void __attribute__((noreturn)) usage(void)
{
	fputs(help, stderr);
	exit(EX_USAGE);
}

void lint_queue(struct lint *l, const struct queue *q)
{
	int i;

	lint_series(l, q);
	for (i = 0; i < q->nr_patches; i++) {
		lint_header(l, q, q->patches[i]);
		lint_needs(l, q, q->patches[i]);
		lint_diff(l, q->patches[i]);
	}
}

static int cmd_list(int argc, char **argv)
{
	static const struct option options[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "class", required_argument, NULL, 'c' },
		{ NULL, 0, NULL, 0 }
	};
	struct lint l = { .out = stderr };
	unsigned int classes = class_list("stable");
	struct queue *q;
	bool json = false;
	int opt;

	while ((opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (opt == 'j')
			json = true;
		else if (opt == 'c')
			classes = class_list(optarg);
		else
			usage();
	}
	if (optind != argc - 1)
		usage();
	q = queue_read(argv[optind]);
	lint_queue(&l, q);
	if (l.found)
		die(EX_USAGE, "the queue of %s is not sound (%d finding%s above); repair it first",
		    q->lts, l.found, l.found == 1 ? "" : "s");
	list_print(q, classes, json);
	return EX_OK;
}

static int visible(const struct dirent *d)
{
	return d->d_name[0] != '.';
}

static int cmd_lint(int argc, char **argv)
{
	struct lint l = { .out = stdout };
	struct dirent **names;
	int i, n;

	if (argc > 1) {
		for (i = 1; i < argc; i++)
			lint_queue(&l, queue_read(argv[i]));
		return l.found ? EX_FAIL : EX_OK;
	}
	n = scandir("patches", &names, visible, versionsort);
	if (n <= 0)
		die(EX_USAGE, "no queues here: %s; a queue has patches/LTS and series/LTS.CLASS",
		    n ? strerror(errno) : "patches is empty");
	for (i = 0; i < n; i++)
		lint_queue(&l, queue_read(names[i]->d_name));
	lint_strays(&l);
	return l.found ? EX_FAIL : EX_OK;
}

int main(int argc, char **argv)
{
	atexit(close_stdout);
	if (argc > 2 && !strcmp(argv[1], "--queue")) {
		if (chdir(argv[2]))
			die(EX_USAGE, "cannot enter the queue %s: %s; name a folder with patches/ and series/",
			    argv[2], strerror(errno));
		argc -= 2;
		argv += 2;
	}
	if (argc < 2)
		usage();
	argc--;
	argv++;
	if (!strcmp(argv[0], "list"))
		return cmd_list(argc, argv);
	if (!strcmp(argv[0], "lint"))
		return cmd_lint(argc, argv);
	if (!strcmp(argv[0], "hunks") && argc == 2) {
		hunks_print(argv[1]);
		return EX_OK;
	}
	if (!strcmp(argv[0], "states") && argc >= 2) {
		states_print(queue_read(argv[1]), argc - 2, argv + 2);
		return EX_OK;
	}
	if (!strcmp(argv[0], "--help")) {
		fputs(help, stdout);
		return EX_OK;
	}
	usage();
}
