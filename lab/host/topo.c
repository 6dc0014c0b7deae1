// SPDX-License-Identifier: GPL-2.0-only
/* kit-topo: what a topology file means, for scripts and people. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "topo.h"
#include "util.h"

static const char usage_text[] =
"usage: kit-topo COMMAND [--arch arm64|x86_64] [--json] FILE [NAME]\n"
"\n"
"Reads a topology file (topologies/README.md has the keywords), refuses what\n"
"QEMU or the kernel would not honour, and prints:\n"
"\n"
"  check FILE      nothing; with --arch: also whether that machine can be had\n"
"  qemu FILE       QEMU's arguments, one a line; needs --arch\n"
"  expect FILE     what the guest must report, as text or with --json;\n"
"                  packages are those of --arch (default arm64)\n"
"  mask FILE NAME  cpus=, parents=, monitor= and expect= of a named mask\n"
"  masks FILE      the names of all masks, one a line\n"
"  summary FILE    a description for reports\n"
"\n"
"Memory is in MiB. Exit: 0 done, 2 wrong arguments or topology (FILE:LINE is\n"
"named on stderr), 6 out of memory or disk full.\n";

struct options {
	int arch;			/* -1: not given */
	bool json;
	const char *command, *file, *name;
};

static int do_check(const struct topology *t, const struct options *o)
{
	(void)t;
	(void)o;
	return EX_OK;
}

static int do_qemu(const struct topology *t, const struct options *o)
{
	topo_qemu(t, o->arch, stdout);
	return EX_OK;
}

static int do_expect(const struct topology *t, const struct options *o)
{
	enum topo_arch arch = o->arch < 0 ? TOPO_ARM64 : o->arch;

	(o->json ? topo_expect_json : topo_expect_text)(t, arch, stdout);
	return EX_OK;
}

static int do_mask(const struct topology *t, const struct options *o)
{
	const struct topo_mask *m = topo_mask(t, o->name);
	char text[MAX_CPUS * 5];

	if (!m) {
		warn("%s: there is no mask '%s'; 'kit-topo masks' lists them", t->path, o->name);
		return EX_USAGE;
	}
	cpulist_format(&m->cpus, text, sizeof(text));
	printf("cpus=%s\nparents=", text);
	for (int i = 0; i < m->nr_parents; i++)
		printf("%s%d", i ? "," : "", m->parent[i]);
	printf("\nmonitor=%d\nexpect=%s\n", m->monitor, m->expect);
	return EX_OK;
}

static int do_masks(const struct topology *t, const struct options *o)
{
	(void)o;
	for (int i = 0; i < t->nr_masks; i++)
		puts(t->mask[i].name);
	return EX_OK;
}

static int do_summary(const struct topology *t, const struct options *o)
{
	(void)o;
	topo_summary(t, stdout);
	return EX_OK;
}

enum { WANTS_NAME = 1, NEEDS_ARCH = 2, TAKES_ARCH = 4, TAKES_JSON = 8 };

static const struct command {
	const char *name;
	int (*run)(const struct topology *t, const struct options *o);
	int flags;
} commands[] = {
	{ "check", do_check, TAKES_ARCH },
	{ "qemu", do_qemu, TAKES_ARCH | NEEDS_ARCH },
	{ "expect", do_expect, TAKES_ARCH | TAKES_JSON },
	{ "mask", do_mask, WANTS_NAME },
	{ "masks", do_masks, 0 },
	{ "summary", do_summary, 0 },
};

static void read_options(int argc, char **argv, struct options *o)
{
	static const struct option longopts[] = {
		{ "arch", required_argument, NULL, 'a' },
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	*o = (struct options){ .arch = -1 };
	while ((c = getopt_long(argc, argv, "h", longopts, NULL)) != -1) {
		switch (c) {
		case 'a':
			o->arch = topo_arch(optarg);
			if (o->arch < 0)
				die(EX_USAGE, "--arch %s is not known; use arm64 or x86_64", optarg);
			break;
		case 'j':
			o->json = true;
			break;
		case 'h':
			fputs(usage_text, stdout);
			exit(EX_OK);
		default:
			fputs(usage_text, stderr);
			exit(EX_USAGE);
		}
	}
	if (optind < argc)
		o->command = argv[optind++];
	if (optind < argc)
		o->file = argv[optind++];
	if (optind < argc)
		o->name = argv[optind++];
	if (optind < argc)
		die(EX_USAGE, "'%s' is one argument too many; see kit-topo --help", argv[optind]);
}

/* The command of @o, after its arguments were found to fit; else no return. */
static const struct command *find_command(const struct options *o)
{
	const struct command *cmd = NULL;

	for (size_t i = 0; o->command && i < ARRAY_SIZE(commands); i++)
		if (!strcmp(o->command, commands[i].name))
			cmd = &commands[i];
	if (!cmd)
		die(EX_USAGE, "%s%s; see kit-topo --help", o->command ? "unknown command " :
		    "no command", o->command ? o->command : "");
	if (!o->file)
		die(EX_USAGE, "%s needs a topology file; see kit-topo --help", cmd->name);
	if (!(cmd->flags & WANTS_NAME) != !o->name)
		die(EX_USAGE, "%s %s; see kit-topo --help", cmd->name,
		    o->name ? "takes one file only" : "needs the name of a mask");
	if ((cmd->flags & NEEDS_ARCH) && o->arch < 0)
		die(EX_USAGE, "%s needs --arch; use arm64 or x86_64", cmd->name);
	if (!(cmd->flags & TAKES_ARCH) && o->arch >= 0)
		die(EX_USAGE, "%s takes no --arch; leave it out", cmd->name);
	if (!(cmd->flags & TAKES_JSON) && o->json)
		die(EX_USAGE, "%s takes no --json; leave it out", cmd->name);
	return cmd;
}

int main(int argc, char **argv)
{
	const struct command *cmd;
	struct topology *t = xcalloc(1, sizeof(*t));
	struct options o;
	char *limit;
	int ret;

	atexit(close_stdout);
	read_options(argc, argv, &o);
	cmd = find_command(&o);
	ret = topo_read(o.file, t);
	limit = ret == EX_OK && o.arch >= 0 ? topo_arch_limit(t, o.arch) : NULL;
	if (limit) {
		warn("%s: %s", o.file, limit);
		ret = EX_USAGE;
	}
	if (ret == EX_OK)
		ret = cmd->run(t, &o);
	free(limit);
	topo_free(t);
	free(t);
	return ret;
}
