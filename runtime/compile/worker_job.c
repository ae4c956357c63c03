/* What the worker's jobs share: writing a file into the job's directory, and loading a compiler's library. Refuses a library that lacks a
 * required function, which the message names. Runs in the worker. */
#include "runtime/compile/worker.h"
#include "runtime/system/input.h"
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool worker_put(const worker_job *job, const char *file, const void *data, size_t size)
{
    char *path = printed("%s/%s", job->directory, file);
    FILE *f = path ? fopen(path, "wb") : NULL;
    bool ok = f && fwrite(data, 1, size, f) == size;
    if (f && fclose(f)) ok = false;
    if (!ok) fprintf(stderr, "%s: %s\n", file, strerror(errno));
    free(path);
    return ok;
}

int worker_version_work(const worker_job *job)
{
    return worker_put(job, "code", TFGEN_VERSION, strlen(TFGEN_VERSION)) ? code_ok : code_io;
}

bool worker_load(const char *library, const worker_symbol *wanted, size_t count)
{
    char why[400];
    void *handle = input_library(library, RTLD_NOW | RTLD_LOCAL, why, sizeof why);
    if (!handle) return fprintf(stderr, "%s\n", why), false;
    for (size_t i = 0; i < count; i++) {
        void *symbol = dlsym(handle, wanted[i].name);
        if (!symbol && !wanted[i].optional) return fprintf(stderr, "%s has no %s\n", library, wanted[i].name), false;
        memcpy(wanted[i].slot, &symbol, sizeof symbol);
    }
    return true;
}
