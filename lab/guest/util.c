// SPDX-License-Identifier: GPL-2.0-only
/* Records, parameters, pinning and time for the guest; see guest.h. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/reboot.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "guest.h"

#define RECORD_MAX 16384

static void write_all(const char *buf, size_t len)
{
	while (len) {
		ssize_t n = write(STDOUT_FILENO, buf, len);

		if (n < 0 && errno != EINTR)
			return;
		if (n > 0) {
			buf += n;
			len -= n;
		}
	}
}

static void vrecord(const char *prefix, const char *fmt, va_list ap)
{
	static char buf[RECORD_MAX];
	static int seq;
	int len, n;

	len = snprintf(buf, sizeof(buf), "@lab %d %s", ++seq, prefix);
	n = vsnprintf(buf + len, sizeof(buf) - len - 1, fmt, ap);
	/* A cut record ends in a word that the host does not know. */
	if (n < 0 || n >= (int)sizeof(buf) - len - 1)
		n = snprintf(buf + len, sizeof(buf) - len - 1, "cut");
	len += n;
	buf[len++] = '\n';
	write_all(buf, len);
}

void record(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vrecord("", fmt, ap);
	va_end(ap);
}

void drain(void)
{
	tcdrain(STDOUT_FILENO);
}

void power_off(void)
{
	reboot(RB_POWER_OFF);
	for (;;)
		pause();
}

void fail(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vrecord("error text=", fmt, ap);
	va_end(ap);
	drain();
	power_off();
}

bool read_text(const char *path, char *buf, int size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), len = 0;
	ssize_t n = 1;

	if (fd < 0)
		return false;
	while (len < size - 1 && n > 0) {
		n = read(fd, buf + len, size - 1 - len);
		if (n > 0)
			len += n;
	}
	close(fd);
	while (len && buf[len - 1] == '\n')
		len--;
	buf[len] = '\0';
	return n >= 0;
}

const char *param(const char *key, const char *fallback)
{
	static char line[8192], found[4096];
	size_t len = strlen(key);

	if (!line[0] && !read_text("/proc/cmdline", line, sizeof(line)))
		return fallback;
	for (const char *p = line; (p = strstr(p, "lab.")); p += 4) {
		if (p != line && p[-1] != ' ')
			continue;
		if (strncmp(p + 4, key, len) || p[4 + len] != '=')
			continue;
		snprintf(found, sizeof(found), "%.*s",
			 (int)strcspn(p + 5 + len, " "), p + 5 + len);
		return found;
	}
	return fallback;
}

long param_long(const char *key)
{
	const char *text = param(key, NULL);
	char *end;
	long n;

	if (!text)
		fail("parameter lab.%s is missing", key);
	n = strtol(text, &end, 10);
	if (end == text || *end || n < 0)
		fail("parameter lab.%s is no number", key);
	return n;
}

void param_cpulist(const char *key, struct cpulist *l)
{
	const char *text = param(key, NULL);

	if (!text || !*text)
		fail("parameter lab.%s is missing", key);
	if (cpulist_parse(text, l))
		fail("parameter lab.%s is no CPU list", key);
}

void pin_task(pid_t pid, const struct cpulist *l)
{
	size_t size = CPU_ALLOC_SIZE(MAX_CPUS);
	cpu_set_t *set = CPU_ALLOC(MAX_CPUS);

	CPU_ZERO_S(size, set);
	for (int cpu = cpulist_next(l, -1); cpu >= 0; cpu = cpulist_next(l, cpu))
		CPU_SET_S(cpu, size, set);
	if (sched_setaffinity(pid, size, set))
		fail("sched_setaffinity: %s", strerror(errno));
	CPU_FREE(set);
}

void pin_list(const struct cpulist *l)
{
	pin_task(0, l);
}

void pin_cpu(int cpu)
{
	struct cpulist l = { 0 };

	l.has[cpu] = 1;
	pin_list(&l);
}

uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

void sleep_us(long us)
{
	struct timespec ts = { us / 1000000, us % 1000000 * 1000 };

	while (clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, &ts) == EINTR)
		;
}

void next_cpu_turn(void)
{
#ifdef __aarch64__
	__asm__ volatile("yield" ::: "memory");
#else
	__asm__ volatile("pause" ::: "memory");
#endif
}

#define NOPS 400

void busy_slice(void)
{
	static long loops;

	/* The counter of instructions runs at 10^9 a second, times dilation. */
	if (!loops)
		loops = param_long("slice_us") * param_long("dilation") * 1000 / NOPS + 1;
	for (long i = 0; i < loops; i++)
		__asm__ volatile(".rept %c0\n\tnop\n\t.endr" :: "i" (NOPS));
	next_cpu_turn();
}
