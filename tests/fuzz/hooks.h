/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Given to the compiler with -include when a tool's sources are built for a
 * fuzz target: what would end the process, or touch a file, is fuzz.c's then.
 * The renaming holds for the declarations in the headers too. lib/ is built
 * without it, so that running out of memory still ends the process and is a
 * finding.
 */
#ifndef KIT_FUZZ_HOOKS_H
#define KIT_FUZZ_HOOKS_H

#define main tool_main
#define exit fuzz_exit
#define atexit fuzz_atexit
#define die fuzz_die
#define warn fuzz_warn
#define read_file fuzz_read_file
#define scandir fuzz_scandir
#define fopen fuzz_fopen
#define fclose fuzz_fclose
#define regcomp fuzz_regcomp
#define regexec fuzz_regexec
#define json_load_file fuzz_json_load_file

#endif
