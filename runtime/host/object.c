/* In: source for which code is made ahead of time; later, on any machine of that instruction set, the bytes of that code.
 * Out: a shared object as bytes; a module loaded from bytes, without a compiler and without a file.
 * Refuses: what the compiler refuses, bytes that the loader refuses, objects of another version of the engine. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "runtime/host/engine.h"
#include "runtime/system/temporary.h"
#include "runtime/compile/worker.h"

enum { MAX_OBJECT = 256 << 20, NAME_BYTES = 256 };

host_status object_compile(const char *compiler, const char *source, size_t source_size, const host_compile_options *o,
                           unsigned char **object, size_t *size, host_log *log)
{
    temporary_folder t;
    *object = NULL;
    if (!temporary_open(&t)) {
        log_add(log, "cannot make a folder in %s: %s\n", temporary_base(), strerror(errno));
        return HOST_IO;
    }
    char *path = printed("%s/kernel.so", t.path);
    const size_t before = log ? log->size : 0;
    host_status status = path ? cc_run(compiler, source, source_size, o, path, log) : HOST_NO_MEMORY;
    if (log && log->size > before) {
        page_places *places = page_places_read(source, source_size, compile_name(o));
        log_place(log, before, places);
        page_places_free(places);
    }
    if (status == HOST_OK) *object = temporary_read(&t, "kernel.so", MAX_OBJECT, size);
    if (status == HOST_OK && !*object) {
        log_add(log, "%s made no file\n", compiler);
        status = HOST_IO;
    }
    free(path);
    temporary_close(&t);
    return status;
}

host_status host_compile_object(const char *source, size_t source_size, const host_compile_options *o, unsigned char **object, size_t *size,
                                host_log *log)
{
    char *compiler = NULL;
    *object = NULL;
    host_status status = cc_find(o, &compiler, log);
    if (status == HOST_OK) status = object_compile(compiler, source, source_size, o, object, size, log);
    free(compiler);
    return status;
}

static bool write_whole(int file, const unsigned char *bytes, size_t size)
{
    for (ssize_t n; size; bytes += n, size -= (size_t)n)
        if ((n = write(file, bytes, size)) <= 0) return false;
    return true;
}

/* A file without a name that nobody can change any more, this process included. */
static int sealed_file(const void *object, size_t size)
{
    const int low = memfd_create("tfgen-host-object", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    const int file = low >= 0 ? fcntl(low, F_DUPFD_CLOEXEC, 3) : -1; /* a host may have closed its standard streams */
    if (low >= 0) close(low);
    if (file < 0) return -1;
    if (write_whole(file, object, size) && fcntl(file, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) == 0)
        return file;
    const int reason = errno;
    close(file);
    errno = reason;
    return -1;
}

static char *spell_number(char *at, uint64_t number, int bits)
{
    for (int i = 0; i < bits; i++) at = stpcpy(at, number >> i & 1 ? "/." : "//");
    return at;
}

/* The loader takes an object of a name that it has seen for the same object, and numbers of files come again: each load spells its path
 * in a way of its own, which the kernel reads as the same place. A process may hold several copies of this code (libtfgen.a in two
 * plugins), each of which counts for itself, so where the count lies is spelled, too. */
static void spell_name(char name[NAME_BYTES], int file)
{
    static atomic_uint loads;
    char *at = spell_number(stpcpy(name, "/proc/self/fd"), (uintptr_t)&loads, 64);
    snprintf(spell_number(at, atomic_fetch_add(&loads, 1), 32), 16, "/%d", file);
}

bool object_load(host_module *m, const void *object, size_t size, host_log *log)
{
    char name[NAME_BYTES];
    m->file = sealed_file(object, size);
    if (m->file < 0) {
        log_add(log, "cannot keep a shared object in memory: %s\n", strerror(errno));
        return false;
    }
    spell_name(name, m->file);
    const bool ok = module_load(m, name, log);
    m->frame_bytes = ok ? frames_of(object, size) : 0;
    if (!ok || !m->lines) { /* it is mapped; only symbolisers read it once more */
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
    const host_status status = !m->compiler ? HOST_NO_MEMORY : object_load(m, object, size, log) ? HOST_OK : HOST_IO;
    if (status == HOST_OK) *out = m;
    else host_module_free(m);
    return status;
}
