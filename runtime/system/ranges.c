/* Contract: runtime/system/ranges.h. */
#define _GNU_SOURCE
#include "runtime/system/ranges.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "runtime/system/input.h"

enum { most_listeners = 2, most_name = 200 };

typedef struct listener {
    const char *library;
    int (*push)(const char *name);
    int (*pop)(void);
} listener;

/* Process-wide, as the profiler is; written once. */
static pthread_once_t opened = PTHREAD_ONCE_INIT;
static listener listeners[most_listeners];
static size_t listener_count;
static const char *request; /* a copy: variables may change */

static const struct {
    const char *push, *pop, *libraries[8];
} kinds[] = {
    {"nvtxRangePushA",
     "nvtxRangePop",
     {"libnvtx3interop.so.1", "libnvToolsExt.so.1", "/usr/local/cuda/lib64/libnvtx3interop.so.1",
      "/usr/local/cuda/lib64/libnvToolsExt.so.1"}},
    {"roctxRangePushA",
     "roctxRangePop",
     {"librocprofiler-sdk-roctx.so.1", "librocprofiler-sdk-roctx.so.0", "libroctx64.so.4", "/opt/rocm/lib/librocprofiler-sdk-roctx.so.1",
      "/opt/rocm/lib/librocprofiler-sdk-roctx.so.0", "/opt/rocm/lib/libroctx64.so.4"}},
};
enum { kind_count = sizeof kinds / sizeof *kinds };
_Static_assert((int)kind_count <= (int)most_listeners, "one of each kind");

static bool open_one(const char *path, size_t kind)
{
    char why[most_name];
    void *library = input_library(path, RTLD_NOW | RTLD_LOCAL, why, sizeof why);
    void *push = library ? dlsym(library, kinds[kind].push) : NULL, *pop = library ? dlsym(library, kinds[kind].pop) : NULL;
    if (!push || !pop) {
        if (library) dlclose(library);
        return false;
    }
    listener *l = &listeners[listener_count++];
    l->library = path;
    memcpy(&l->push, &push, sizeof push);
    memcpy(&l->pop, &pop, sizeof pop);
    return true;
}

/* TFGEN_PROFILE=1: the first library found of each kind; a path: that library, of either kind. */
static void open_listeners(void)
{
    const char *given = secure_getenv("TFGEN_PROFILE");
    if (!given || !*given || strcmp(given, "0") == 0) return;
    request = strdup(given);
    for (size_t kind = 0; request && kind < kind_count; kind++) {
        if (strchr(request, '/'))
            (void)open_one(request, kind);
        else
            for (size_t i = 0; kinds[kind].libraries[i] && !open_one(kinds[kind].libraries[i], kind);) i++;
    }
}

bool ranges_wanted(void)
{
    pthread_once(&opened, open_listeners);
    return listener_count > 0;
}

void range_begin(const char *what, const char *name)
{
    char text[most_name];
    if (!ranges_wanted()) return;
    snprintf(text, sizeof text, "%s%s%s", what, name ? " " : "", name ? name : "");
    for (size_t i = 0; i < listener_count; i++) (void)listeners[i].push(text);
}

void range_end(void)
{
    if (!ranges_wanted()) return;
    for (size_t i = 0; i < listener_count; i++) (void)listeners[i].pop();
}

size_t ranges_open(const char **libraries, size_t most, const char **asked)
{
    (void)ranges_wanted();
    for (size_t i = 0; i < listener_count && i < most; i++) libraries[i] = listeners[i].library;
    *asked = request;
    return listener_count;
}
