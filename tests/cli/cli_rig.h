/* A temporary folder, shared by the suites of the command. */
#ifndef TFGEN_TESTS_CLI_RIG_H
#define TFGEN_TESTS_CLI_RIG_H
#define _GNU_SOURCE
#include "tests/shell.h"
#include "tests/support.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[64];
static inline void make_folder(void)
{
    strcpy(folder, "/tmp/tfgen-cli-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}
static inline void remove_folder(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    ck_assert_int_eq(system(command), 0);
}

static inline const char *in_folder(const char *format)
{
    static char text[4096];
    snprintf(text, sizeof text, format, folder, folder, folder);
    return text;
}

#endif
