// SPDX-License-Identifier: GPL-2.0-only
/* What the fuzz targets share; see fuzz.h and hooks.h. */
#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <jansson.h>
#include <regex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "memory.h"

#define MAX_FILES 16

static struct {
	const char *name;
	const void *data;
	size_t size;
} files[MAX_FILES];
static int nr_files;

FILE *fuzz_sink;
static FILE *real_stderr;
static jmp_buf *way_out;
static int left_with;

/* What a tool prints of others' bytes must not reach a terminal as commands. */
static ssize_t forget(void *cookie, const char *data, size_t size)
{
	(void)cookie;
	for (size_t i = 0; i < size; i++)
		fuzz_check((unsigned char)data[i] >= ' ' ? data[i] != 0x7f :
			   data[i] == '\n' || data[i] == '\t');
	return size;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	static const cookie_io_functions_t io = { .write = forget };
	static char buf[65536];

	(void)argc;
	(void)argv;
	fuzz_sink = fopencookie(NULL, "w", io);
	if (!fuzz_sink)
		abort();
	setvbuf(fuzz_sink, buf, _IOFBF, sizeof(buf));
	real_stderr = stderr;
	stdout = stderr = fuzz_sink;
	memory_start();
	fuzz_start();
	return 0;
}

void fuzz_failed(const char *file, int line, const char *what)
{
	fprintf(real_stderr, "%s:%d: this does not hold: %s\n", file, line, what);
	abort();
}

void fuzz_file(const char *name, const void *data, size_t size)
{
	fuzz_check(nr_files < MAX_FILES);
	files[nr_files].name = name;
	files[nr_files].data = data;
	files[nr_files++].size = size;
}

void fuzz_text(const char *name, const char *text)
{
	fuzz_file(name, text, strlen(text));
}

bool fuzz_part(const uint8_t **data, size_t *size, const uint8_t **part, size_t *len)
{
	const uint8_t *p = *data, *end;

	if (!p)
		return false;
	*part = p;
	end = memmem(p, *size, "\n%%\n", 4);
	*len = end ? (size_t)(end - p) + 1 : *size;
	*data = end ? end + 4 : NULL;
	*size -= end ? *len + 3 : *size;
	return true;
}

static void __attribute__((noreturn)) leave(int code)
{
	fuzz_check(way_out);
	left_with = code;
	longjmp(*way_out, 1);
}

/* Calls @fn with @way_out set; true if it came back by itself. */
static bool comes_back(void (*fn)(void *), void *arg)
{
	jmp_buf *outer = way_out, here;
	bool back = false;

	if (!setjmp(here)) {
		way_out = &here;
		fn(arg);
		back = true;
	}
	way_out = outer;
	return back;
}

static void call(void *fn)
{
	(*(void (**)(void))fn)();
}

int fuzz_run(void (*fn)(void))
{
	bool back;

	memory_watch(true);
	back = comes_back(call, &fn);
	memory_watch(false);
	fflush(fuzz_sink);
	memory_free_rest();
	nr_files = 0;
	return back ? FUZZ_RETURNED : left_with;
}

struct arguments {
	int argc, code;
	char **argv;
};

static void call_main(void *arg)
{
	struct arguments *a = arg;

	a->code = tool_main(a->argc, a->argv);
}

int fuzz_main(int argc, const char *const *argv)
{
	struct arguments a = { .argc = argc };

	a.argv = calloc(argc + 1, sizeof(*a.argv));
	for (int i = 0; i < argc; i++)
		a.argv[i] = strdup(argv[i]);
	optind = 0;	/* getopt() starts anew */
	return comes_back(call_main, &a) ? a.code : left_with;
}

/* Formatting what is said to the user is part of the code. */
static void say(const char *fmt, va_list ap)
{
	char *text;

	fuzz_check(vasprintf(&text, fmt, ap) >= 0);
	free(text);
}

void fuzz_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void fuzz_warn(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
}

void fuzz_die(int code, const char *fmt, ...) __attribute__((noreturn, format(printf, 2, 3)));
void fuzz_die(int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
	leave(code);
}

void fuzz_exit(int code) __attribute__((noreturn));
void fuzz_exit(int code)
{
	leave(code);
}

int fuzz_atexit(void (*fn)(void));
int fuzz_atexit(void (*fn)(void))
{
	(void)fn;
	return 0;
}

/* Just large enough, so that reading behind the end is noticed. */
char *fuzz_read_file(const char *path, size_t *len);
char *fuzz_read_file(const char *path, size_t *len)
{
	char *copy;

	for (int i = 0; i < nr_files; i++) {
		if (strcmp(files[i].name, path))
			continue;
		copy = malloc(files[i].size + 1);
		memcpy(copy, files[i].data, files[i].size);
		copy[files[i].size] = '\0';
		if (len)
			*len = files[i].size;
		return copy;
	}
	errno = ENOENT;
	return NULL;
}

json_t *fuzz_json_load_file(const char *path, size_t flags, json_error_t *err);
json_t *fuzz_json_load_file(const char *path, size_t flags, json_error_t *err)
{
	size_t len;
	char *text = fuzz_read_file(path, &len);
	json_t *j;

	if (!text) {
		err->line = -1;
		strcpy(err->text, "no such file");
		return NULL;
	}
	j = json_loadb(text, len, flags, err);
	free(text);
	return j;
}

/* The files whose names begin with "@path/", in the order they were given. */
int fuzz_scandir(const char *path, struct dirent ***names,
		 int (*filter)(const struct dirent *),
		 int (*compare)(const struct dirent **, const struct dirent **));
int fuzz_scandir(const char *path, struct dirent ***names,
		 int (*filter)(const struct dirent *),
		 int (*compare)(const struct dirent **, const struct dirent **))
{
	size_t len = strlen(path);
	struct dirent *d;
	int n = 0;

	(void)compare;
	*names = calloc(MAX_FILES, sizeof(**names));
	for (int i = 0; i < nr_files; i++) {
		if (strncmp(files[i].name, path, len) || files[i].name[len] != '/')
			continue;
		d = calloc(1, sizeof(*d));
		snprintf(d->d_name, sizeof(d->d_name), "%s", files[i].name + len + 1);
		if (!filter || filter(d))
			(*names)[n++] = d;
	}
	return n;
}

/* Patterns are kept from run to run, and so is what regexec() adds to them. */
int fuzz_regcomp(regex_t *re, const char *pattern, int flags);
int fuzz_regcomp(regex_t *re, const char *pattern, int flags)
{
	bool was = memory_watch(false);
	int ret = regcomp(re, pattern, flags);

	memory_watch(was);
	return ret;
}

int fuzz_regexec(const regex_t *re, const char *text, size_t n, regmatch_t m[], int flags);
int fuzz_regexec(const regex_t *re, const char *text, size_t n, regmatch_t m[], int flags)
{
	bool was = memory_watch(false);
	int ret = regexec(re, text, n, m, flags);

	memory_watch(was);
	return ret;
}

/* All that is written anywhere goes the same way. */
FILE *fuzz_fopen(const char *path, const char *mode);
FILE *fuzz_fopen(const char *path, const char *mode)
{
	(void)path;
	(void)mode;
	return fuzz_sink;
}

int fuzz_fclose(FILE *f);
int fuzz_fclose(FILE *f)
{
	return fflush(f);
}
