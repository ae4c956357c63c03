/* Contract: runtime/system/environment.h. */
#define _GNU_SOURCE
#include "runtime/system/environment.h"
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

const char *const environment_of_compilers[] = {"HSA_OVERRIDE_GFX_VERSION",      "CCC_OVERRIDE_OPTIONS",       "COMPILER_PATH",
                                                "HIPRTC_COMPILE_OPTIONS_APPEND", "HIPRTC_LINK_OPTIONS_APPEND", NULL};

char **environment_for_child(char *temporary)
{
    static char path[] = "PATH=/usr/local/bin:/usr/bin:/bin", *none[] = {path, NULL};
    char **from = getauxval(AT_SECURE) ? none : environ;
    size_t n = 0, kept = 0;
    while (from && from[n]) n++;
    char **e = malloc((n + 2) * sizeof *e);
    if (!e) return NULL;
    for (size_t i = 0; i < n; i++)
        if (!temporary || strncmp(from[i], "TMPDIR=", 7)) e[kept++] = from[i];
    if (temporary) e[kept++] = temporary;
    e[kept] = NULL;
    return e;
}
