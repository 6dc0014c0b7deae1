/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the fuzz targets share. A target is one file NAME.c with
 * LLVMFuzzerTestOneInput(); it gives its input to the tool's code as files that
 * are in memory only, and says with fuzz_check() what must hold whatever the
 * input is.
 */
#ifndef KIT_FUZZ_H
#define KIT_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The tool's own main(); see hooks.h. */
int tool_main(int argc, char **argv);

/* The target's: done once, before the first input. What it allocates stays. */
void fuzz_start(void);

/* Whatever is written to it is looked at and gone; stdout and stderr are it. */
extern FILE *fuzz_sink;

/* What fuzz_run() returns when the code neither died nor left with exit(). */
#define FUZZ_RETURNED (-1)

/*
 * fuzz_file - from now until the run ends there is a file @name that holds the
 * @size bytes at @data (not copied).
 */
void fuzz_file(const char *name, const void *data, size_t size);

/* The same for a text of the target's own. */
void fuzz_text(const char *name, const char *text);

/*
 * fuzz_part - cut the next part off the input: up to a line that is "%%", or
 * to the end. Moves *@data and *@size behind it; false if there is none left.
 */
bool fuzz_part(const uint8_t **data, size_t *size, const uint8_t **part, size_t *len);

/*
 * fuzz_run - call @fn. Returns FUZZ_RETURNED, or the code that it died or
 * left with. What it allocated and did not free is freed, as the end of the
 * process would do, and the files are forgotten.
 */
int fuzz_run(void (*fn)(void));

/* Call tool_main(); its exit code, however it left. For use in a fuzz_run(). */
int fuzz_main(int argc, const char *const *argv);

/* Ends the process, which makes a finding of the input, unless @holds. */
#define fuzz_check(holds) \
	((holds) ? (void)0 : fuzz_failed(__FILE__, __LINE__, #holds))
void fuzz_failed(const char *file, int line, const char *what) __attribute__((noreturn));

#endif
