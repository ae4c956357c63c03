/* In: the bytes of a shared object from the host build, made now or ahead of time.
 * Out: a module loaded from memory, with the engine's call table, its address range and its __shared__ variables.
 * Refuses: what the loader refuses, and objects of another version of the engine. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "runtime/host/engine.h"

enum { NAME_BYTES = 256 };

typedef struct span {
    uintptr_t within, low, high;
} span;

static int note_span(struct dl_phdr_info *info, size_t size, void *argument)
{
    (void)size;
    span *s = argument;
    uintptr_t low = UINTPTR_MAX, high = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type != PT_LOAD) continue;
        const uintptr_t at = info->dlpi_addr + p->p_vaddr;
        if (at < low) low = at;
        if (at + p->p_memsz > high) high = at + p->p_memsz;
    }
    if (s->within < low || s->within >= high) return 0;
    s->low = low;
    s->high = high;
    return 1;
}

/* Offset of hs_self from the thread pointer: the same in every thread, as it is initial-exec TLS. */
static long self_offset(void)
{
#ifdef __x86_64__
    uintptr_t pointer;
    __asm__("movq %%fs:0, %0" : "=r"(pointer));
#else
    const uintptr_t pointer = (uintptr_t)__builtin_thread_pointer();
#endif
    return (long)((uintptr_t)&host_self - pointer);
}

host_module *module_new(void)
{
    host_module *m = calloc(1, sizeof *m);
    if (!m) return NULL;
    pthread_mutex_init(&m->shared_lock, NULL);
    m->file = -1;
    return m;
}

static bool bind_object(host_module *m, const char *path, host_log *log)
{
    m->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!m->handle) {
        log_add(log, "%s\n", dlerror());
        return false;
    }
    unsigned (*bind)(const hs_runtime *);
    void *found = dlsym(m->handle, "hs_bind");
    memcpy(&bind, &found, sizeof found);
    hs_runtime runtime = host_runtime;
    runtime.self = self_offset();
    if (!found || bind(&runtime) != HS_ABI_VERSION) {
        log_add(log, "the object is not of this version of the engine\n");
        dlclose(m->handle);
        return m->handle = NULL, false;
    }
    void (*shared)(char **, char **);
    found = dlsym(m->handle, "hs_static_shared");
    memcpy(&shared, &found, sizeof found);
    char *end = NULL;
    if (found) shared(&m->shared, &end);
    m->shared_bytes = (size_t)(end - m->shared);
    span s = {.within = (uintptr_t)found};
    dl_iterate_phdr(note_span, &s);
    m->low = s.low;
    m->high = s.high;
    m->anchor = (uintptr_t)found;
    return true;
}

host_module *host_module_share(host_module *m)
{
    atomic_fetch_add(&m->users, 1);
    return m;
}

void host_module_free(host_module *m)
{
    if (!m || atomic_fetch_sub(&m->users, 1)) return;
    if (m->handle) dlclose(m->handle);
    if (m->file >= 0) close(m->file);
    pthread_mutex_destroy(&m->shared_lock);
    page_places_free(m->places);
    lines_forget(m->source);
    free(m->compiler);
    free(m);
}

/* ---- from bytes ---- */
static char *spell_number(char *at, uint64_t number, int bits)
{
    for (int i = 0; i < bits; i++) at = stpcpy(at, number >> i & 1 ? "/." : "//");
    return at;
}

/* dlopen() returns the already loaded object for a path that it has seen, and /proc/self/fd paths recur as descriptors are reused. So each
 * load spells its path differently: extra "/" and "/." encode a counter, and the counter's address, as a process may hold several copies of
 * this code (libtfgen.a in two plugins). */
static void spell_name(char name[NAME_BYTES], int file)
{
    static atomic_uint loads;
    char *at = spell_number(stpcpy(name, "/proc/self/fd"), (uintptr_t)&loads, 64);
    snprintf(spell_number(at, atomic_fetch_add(&loads, 1), 32), 16, "/%d", file);
}

bool module_load(host_module *m, const void *object, size_t size, host_log *log)
{
    char name[NAME_BYTES];
    m->file = object_file(object, size);
    if (m->file < 0) {
        log_add(log, "cannot keep a shared object in memory: %s\n", strerror(errno));
        return false;
    }
    spell_name(name, m->file);
    const bool ok = bind_object(m, name, log);
    m->frame_bytes = ok ? frames_of(object, size) : 0;
    if (!ok || !m->lines) { /* the object is mapped; only symbolisers need the file */
        close(m->file);
        m->file = -1;
    }
    return ok;
}

host_status host_module_open(const void *object, size_t size, host_module **out, host_log *log)
{
    *out = NULL;
    host_module *m = module_new();
    if (!m) return HOST_NO_MEMORY;
    m->compiler = strdup("ahead of time");
    const host_status status = !m->compiler ? HOST_NO_MEMORY : module_load(m, object, size, log) ? HOST_OK : HOST_IO;
    if (status == HOST_OK) *out = m;
    else host_module_free(m);
    return status;
}
