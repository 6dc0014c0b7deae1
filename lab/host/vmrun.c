// SPDX-License-Identifier: GPL-2.0-only
/* kit-vmrun: run QEMU, watch its console, never leave it behind. */
#include <getopt.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "vmrun.h"
#include "util.h"

static const char usage_text[] =
"usage: kit-vmrun --console FILE --end-marker TEXT --first SEC --progress SEC\n"
"                 --total SEC [--grace SEC] [--scale FACTOR] [--limit MIB]\n"
"                 [--stderr FILE] [--status FILE] -- QEMU [ARGUMENT...]\n"
"\n"
"Runs QEMU with its standard output (the guest's serial console) going to\n"
"FILE, and ends it, with all its process group, when\n"
"\n"
"  --first     nothing was on the console for SEC after the start,\n"
"  --progress  nothing new was on it for SEC,\n"
"  --total     SEC have passed without the end marker,\n"
"  --grace     QEMU still runs SEC after the end marker (default 10),\n"
"  --limit     it printed more than MIB (default 64),\n"
"  or its stderr says that KVM has failed.\n"
"\n"
"--scale multiplies all four times. The end marker is a line that contains\n"
"TEXT. The status, one JSON object, goes to the --status file or stdout;\n"
"QEMU's stderr to the --stderr file or our own.\n"
"\n"
"Exit: 0 end marker seen, 2 wrong arguments, 4 the guest did not get there,\n"
"6 QEMU failed, was killed from outside, or the disk is full; a signal\n"
"(SIGINT, SIGTERM, ...) ends QEMU, then kit-vmrun by the same signal.\n";

enum { OPT_CONSOLE = 1, OPT_MARKER, OPT_FIRST, OPT_PROGRESS, OPT_TOTAL, OPT_GRACE, OPT_SCALE,
       OPT_LIMIT, OPT_STDERR, OPT_STATUS, OPT_HELP };

static const struct option longopts[] = {
	{ "console", required_argument, NULL, OPT_CONSOLE },
	{ "end-marker", required_argument, NULL, OPT_MARKER },
	{ "first", required_argument, NULL, OPT_FIRST },
	{ "progress", required_argument, NULL, OPT_PROGRESS },
	{ "total", required_argument, NULL, OPT_TOTAL },
	{ "grace", required_argument, NULL, OPT_GRACE },
	{ "scale", required_argument, NULL, OPT_SCALE },
	{ "limit", required_argument, NULL, OPT_LIMIT },
	{ "stderr", required_argument, NULL, OPT_STDERR },
	{ "status", required_argument, NULL, OPT_STATUS },
	{ "help", no_argument, NULL, OPT_HELP },
	{ NULL, 0, NULL, 0 },
};

static double positive(const char *name, const char *text)
{
	char *end;
	double d = strtod(text, &end);

	if (end == text || *end || !isfinite(d) || d <= 0 || d > 1e7)
		die(EX_USAGE, "%s is '%s'; give a number above 0", name, text);
	return d;
}

static void read_option(struct vmrun_options *o, int c, const char *arg, double *scale)
{
	switch (c) {
	case OPT_CONSOLE:
		o->console = arg;
		break;
	case OPT_MARKER:
		o->marker = arg;
		break;
	case OPT_FIRST:
		o->first = positive("--first", arg);
		break;
	case OPT_PROGRESS:
		o->progress = positive("--progress", arg);
		break;
	case OPT_TOTAL:
		o->total = positive("--total", arg);
		break;
	case OPT_GRACE:
		o->grace = positive("--grace", arg);
		break;
	case OPT_SCALE:
		*scale = positive("--scale", arg);
		break;
	case OPT_LIMIT:
		o->limit = positive("--limit", arg) * 1024 * 1024;
		break;
	case OPT_STDERR:
		o->stderr_file = arg;
		break;
	case OPT_STATUS:
		o->status_file = arg;
		break;
	case OPT_HELP:
		fputs(usage_text, stdout);
		exit(EX_OK);
	default:
		fputs(usage_text, stderr);
		exit(EX_USAGE);
	}
}

static void check_options(const struct vmrun_options *o)
{
	const char *missing = !o->console ? "--console" : !o->marker ? "--end-marker" :
			      !o->first ? "--first" : !o->progress ? "--progress" :
			      !o->total ? "--total" : NULL;

	if (missing)
		die(EX_USAGE, "%s is missing; see kit-vmrun --help", missing);
	if (!*o->marker || strchr(o->marker, '\n') ||
	    strlen(o->marker) >= sizeof(((struct line_finder *)0)->line) / 2)
		die(EX_USAGE, "the end marker must be one line of 1 to 500 bytes; give another");
	if (!o->argv[0])
		die(EX_USAGE, "no command to run; give it after --");
}

static void read_options(int argc, char **argv, struct vmrun_options *o)
{
	double scale = 1;
	int c;

	*o = (struct vmrun_options){ .grace = 10, .limit = 64ULL << 20 };
	while ((c = getopt_long(argc, argv, "+", longopts, NULL)) != -1)
		read_option(o, c, optarg, &scale);
	o->argv = argv + optind;
	check_options(o);
	o->first *= scale;
	o->progress *= scale;
	o->total *= scale;
	o->grace *= scale;
}

/* End by the signal itself, so that a calling shell stops as well. */
static void pass_on(int sig)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, sig);
	signal(sig, SIG_DFL);
	raise(sig);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

int main(int argc, char **argv)
{
	struct vmrun_options o;
	struct vmrun_result *r = xcalloc(1, sizeof(*r));
	char *hint;
	int err, code;

	read_options(argc, argv, &o);
	vm_run(&o, r);
	code = vmrun_code(r);
	hint = vmrun_hint(&o, r);
	if (*hint)
		warn("%s", hint);
	if (r->stuck)
		warn("a process of QEMU's group cannot be killed; look for one in state D");
	err = vmrun_status(&o, r);
	if (err) {
		warn("cannot write the status: %s; check the folder and the disk", strerror(err));
		code = EX_INFRA;
	}
	free(hint);
	if (r->end == END_INTERRUPTED) {
		fflush(stdout);
		pass_on(r->signal);
	}
	free(r);
	close_stdout();
	return code;
}
