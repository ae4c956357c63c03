/* In: a text that occurs only in sources with one tile. Out: a compiler for AMD that adds a kernel with 1 KB of scratch to those sources,
 * so that their code objects report register spills; it compiles all others as the newest clang does. */
#ifndef TFGEN_TESTS_SPILLING_CLANG_H
#define TFGEN_TESTS_SPILLING_CLANG_H
#include "runtime/compile/worker.h"
#include "tests/runtime/tiny_kernel.h"
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Points the environment variable `variable` at the compiler, a script in `folder`. Without clang: prints that, returns false. */
static inline bool use_spilling_clang(const char *folder, const char *variable, const char *tile)
{
    static const char *const prefix = TINY_PREFIX SCRATCH_KERNEL;
    char path[256], kernel[256], *real;
    unsetenv("TFGEN_CLANG");
    if (!(real = clang_find())) return printf("skipped: no clang\n"), false;
    const char *name = strrchr(real, '/') ? strrchr(real, '/') + 1 : real;
    snprintf(path, sizeof path, "%s/%s", folder, name); /* its name has its version */
    snprintf(kernel, sizeof kernel, "%s/kernel", folder);
    FILE *f = fopen(kernel, "w");
    ck_assert_ptr_nonnull(f);
    fputs(prefix, f);
    fclose(f);
    ck_assert_ptr_nonnull(f = fopen(path, "w"));
    fprintf(f, "#!/bin/sh\ncat >%s/source.$$\ngrep -q '%s' %s/source.$$ && cat %s >>%s/source.$$\nexec %s \"$@\" <%s/source.$$\n", folder,
            tile, folder, kernel, folder, real, folder);
    fclose(f);
    chmod(path, 0755);
    setenv(variable, path, 1);
    free(real);
    return true;
}
#endif
