// SPDX-License-Identifier: GPL-2.0-only
/* Watching QEMU: its output, the timers and our own signals. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "vmrun.h"
#include "util.h"

/* What is left in the pipes after the child is gone is read this long. */
#define DRAIN_SECONDS 1.0

/* Texts on QEMU's stderr after which the guest makes no progress any more. */
static const char *const lost_texts[] = {
	"KVM internal error",
	"kvm run failed",
	"failed to initialize kvm",
	"failed to set MSR",
	"KVM: entry failed",
	"Assertion ",
};

struct watch {
	const struct vmrun_options *o;
	struct vmrun_result *r;
	struct vm vm;
	int console, err_file, signals;
	double start, last_byte, marker_at;
	unsigned long long err_bytes;
	struct line_finder marker, lost[ARRAY_SIZE(lost_texts)];
	bool ended;
};

bool vm_lost(const char *line)
{
	for (size_t i = 0; i < ARRAY_SIZE(lost_texts); i++)
		if (strstr(line, lost_texts[i]))
			return true;
	return false;
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

bool find_line(struct line_finder *f, const char *data, size_t len)
{
	size_t keep = strlen(f->text) - 1;
	bool hit = false;

	for (size_t i = 0; i < len; i++) {
		if (data[i] == '\n') {
			hit |= f->found;
			f->found = false;
			f->have = 0;
			continue;
		}
		if (f->have == sizeof(f->line)) {
			/* Of a long line only what may start the text matters. */
			memmove(f->line, f->line + f->have - keep, keep);
			f->have = keep;
		}
		f->line[f->have++] = data[i];
		if (f->have > keep && data[i] == f->text[keep])
			f->found |= !memcmp(f->line + f->have - keep - 1, f->text, keep + 1);
	}
	return hit;
}

void tail_add(struct tail *t, const char *data, size_t len)
{
	size_t drop;

	if (len > sizeof(t->text)) {
		data += len - sizeof(t->text);
		len = sizeof(t->text);
	}
	drop = t->len + len > sizeof(t->text) ? t->len + len - sizeof(t->text) : 0;
	memmove(t->text, t->text + drop, t->len - drop);
	memcpy(t->text + t->len - drop, data, len);
	t->len += len - drop;
}

/* The first end that is noted is the cause; what follows is its effect. */
static void end(struct watch *w, enum vmrun_end why)
{
	if (!w->ended)
		w->r->end = why;
	w->ended = true;
}

static void put(struct watch *w, int fd, const char *data, size_t len)
{
	while (len) {
		ssize_t n = write(fd, data, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			/* Our own stderr being closed is nobody's loss. */
			if (fd == 2)
				return;
			if (!w->r->error)
				w->r->error = n < 0 ? errno : ENOSPC;
			/* A console with a hole is no evidence, whatever came before. */
			if (!w->r->signal)
				w->r->end = END_OUTPUT_ERROR;
			w->ended = true;
			return;
		}
		data += n;
		len -= n;
	}
}

static void on_console(struct watch *w, const char *data, size_t len)
{
	struct vmrun_result *r = w->r;

	w->last_byte = now();
	if (r->first_output < 0)
		r->first_output = w->last_byte - w->start;
	if (r->console_bytes + len > w->o->limit) {
		len = w->o->limit - r->console_bytes;
		end(w, END_LIMIT);
	}
	r->console_bytes += len;
	put(w, w->console, data, len);
	tail_add(&r->console, data, len);
	if (find_line(&w->marker, data, len) && !r->marker) {
		r->marker = true;
		w->marker_at = w->last_byte;
	}
}

static void on_stderr(struct watch *w, const char *data, size_t len)
{
	if (w->err_bytes + len > w->o->limit) {
		len = w->o->limit - w->err_bytes;
		end(w, END_LIMIT);
	}
	w->err_bytes += len;
	put(w, w->err_file, data, len);
	tail_add(&w->r->err, data, len);
	for (size_t i = 0; i < ARRAY_SIZE(lost_texts); i++)
		if (find_line(&w->lost[i], data, len))
			end(w, END_QEMU_ERROR);
}

/* Read what *@fd has now; at its end close it and set it to -1. True if read. */
static bool take(struct watch *w, int *fd, void (*use)(struct watch *, const char *, size_t))
{
	static char buf[65536];
	ssize_t n;

	if (*fd < 0)
		return false;
	n = read(*fd, buf, sizeof(buf));
	if (n > 0) {
		use(w, buf, n);
		return true;
	}
	if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
		close(*fd);
		*fd = -1;
	}
	return false;
}

static void on_signal(struct watch *w)
{
	siginfo_t gone = { .si_pid = 0 };
	struct signalfd_siginfo si;

	while (read(w->signals, &si, sizeof(si)) == sizeof(si)) {
		if (si.ssi_signo == SIGCHLD)
			continue;
		w->r->signal = si.ssi_signo;
		end(w, END_INTERRUPTED);
	}
	/* Left unreaped, so that its process group keeps its number. */
	if (!waitid(P_PID, w->vm.pid, &gone, WEXITED | WNOHANG | WNOWAIT) && gone.si_pid)
		end(w, END_EXITED);
}

/* The timer that runs out next: its name, and in *@at when that is. */
static const char *next_timer(const struct watch *w, double *at)
{
	const char *name = "total";

	if (w->r->marker) {
		*at = w->marker_at + w->o->grace;
		return "grace";
	}
	*at = w->start + w->o->total;
	if (w->r->first_output < 0 && w->start + w->o->first <= *at) {
		*at = w->start + w->o->first;
		name = "first";
	}
	if (w->r->first_output >= 0 && w->last_byte + w->o->progress <= *at) {
		*at = w->last_byte + w->o->progress;
		name = "progress";
	}
	return name;
}

static void wait_for_event(struct watch *w, double until)
{
	struct pollfd p[] = {
		{ .fd = w->signals, .events = POLLIN },
		{ .fd = w->vm.out, .events = POLLIN },
		{ .fd = w->vm.err, .events = POLLIN },
	};
	double left = until - now();
	int ms = left <= 0 ? 0 : left > 3600 ? 3600 * 1000 : (int)(left * 1000) + 1;

	if (poll(p, ARRAY_SIZE(p), ms) < 0 && errno != EINTR)
		die(EX_INFRA, "poll: %s; this is a bug of kit-vmrun", strerror(errno));
}

static void watch(struct watch *w)
{
	while (!w->ended) {
		const char *timer;
		double at;

		next_timer(w, &at);
		wait_for_event(w, at);
		take(w, &w->vm.out, on_console);
		take(w, &w->vm.err, on_stderr);
		on_signal(w);
		/* After reading: what came while we were asleep counts. */
		timer = next_timer(w, &at);
		if (!w->ended && now() >= at) {
			w->r->timer = timer;
			end(w, END_TIMER);
		}
	}
}

/* The child is gone; what it had written is still in the pipes. */
static void drain(struct watch *w)
{
	double until = now() + DRAIN_SECONDS;

	while ((w->vm.out >= 0 || w->vm.err >= 0) && now() < until) {
		bool more = take(w, &w->vm.out, on_console);

		if (w->r->end == END_LIMIT)
			break;
		more |= take(w, &w->vm.err, on_stderr);
		if (!more && (w->vm.out >= 0 || w->vm.err >= 0))
			poll(NULL, 0, 10);
	}
}

/* Block what we wait for, so that nothing comes between two looks. */
static int open_signals(sigset_t *old)
{
	const int wanted[] = { SIGCHLD, SIGINT, SIGTERM, SIGQUIT, SIGHUP };
	struct sigaction sa;
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		/* nohup is obeyed; an ignored SIGINT (sh -c 'x &') is not. */
		sigaction(wanted[i], NULL, &sa);
		if (wanted[i] != SIGHUP || sa.sa_handler != SIG_IGN)
			sigaddset(&set, wanted[i]);
	}
	/* With SIGCHLD ignored there would be no status to wait for. */
	signal(SIGCHLD, SIG_DFL);
	signal(SIGPIPE, SIG_IGN);
	sigprocmask(SIG_BLOCK, &set, old);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static int open_output(const char *path)
{
	return open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
}

void vm_run(const struct vmrun_options *o, struct vmrun_result *r)
{
	struct watch w = { .o = o, .r = r, .err_file = 2, .marker.text = o->marker };
	sigset_t old;

	memset(r, 0, sizeof(*r));
	r->first_output = -1;
	for (size_t i = 0; i < ARRAY_SIZE(lost_texts); i++)
		w.lost[i].text = lost_texts[i];
	w.signals = open_signals(&old);
	w.console = w.signals < 0 ? -1 : open_output(o->console);
	if (w.console >= 0 && o->stderr_file)
		w.err_file = open_output(o->stderr_file);
	if (w.console < 0 || w.err_file < 0) {
		r->end = END_OUTPUT_ERROR;
		r->error = errno;
		return;
	}
	w.start = now();
	r->error = vm_start(&w.vm, o->argv, &old);
	if (!r->error) {
		watch(&w);
		r->stuck = !vm_kill(&w.vm, &r->wait_status, &r->reaped);
		drain(&w);
	}
	r->wall = now() - w.start;
	/* Some file systems tell of a full disk only now. */
	if ((close(w.console) || (w.err_file != 2 && close(w.err_file))) && !r->error) {
		r->error = errno;
		r->end = END_OUTPUT_ERROR;
	}
}
