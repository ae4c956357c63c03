/* In: source for which code is made ahead of time; later, on any machine of that instruction set, the bytes of that code.
 * Out: a shared object as bytes; a module loaded from bytes, without a compiler and without a file.
 * Refuses: what the compiler refuses, bytes that the loader refuses, objects of another version of the engine. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "runtime/host/engine.h"

enum { MAX_OBJECT = 256 << 20, FD_PATH = 32 };

static bool write_whole(int file, const unsigned char *bytes, size_t size)
{
    for (ssize_t n; size; bytes += n, size -= (size_t)n)
        if ((n = write(file, bytes, size)) <= 0) return false;
    return true;
}

static unsigned char *read_whole(int file, size_t *size)
{
    struct stat s;
    if (fstat(file, &s) || s.st_size <= 0 || s.st_size > MAX_OBJECT) return NULL;
    unsigned char *bytes = malloc((size_t)s.st_size);
    size_t at = 0;
    for (ssize_t n; bytes && at < (size_t)s.st_size && (n = pread(file, bytes + at, (size_t)s.st_size - at, (off_t)at)) > 0;) at += (size_t)n;
    if (bytes && at == (size_t)s.st_size) {
        *size = at;
        return bytes;
    }
    free(bytes);
    return NULL;
}

/* The linker writes its output as a new file, so it gets a folder of its own. */
host_status host_compile_object(const char *source, size_t source_size, const host_compile_options *o, unsigned char **object, size_t *size,
                                host_log *log)
{
    const char *temporary = getenv("TMPDIR");
    char *compiler = NULL, *path = NULL;
    *object = NULL;
    host_status status = cc_find(o, &compiler, log);
    if (status == HOST_OK && asprintf(&path, "%s/tfgen-XXXXXX.so", temporary && *temporary ? temporary : "/tmp") < 0) path = NULL;
    const int file = path ? mkostemps(path, 3, O_CLOEXEC) : -1;
    if (status == HOST_OK && file < 0) {
        log_add(log, "cannot create %s: %s\n", path ? path : "a temporary file", strerror(errno));
        status = HOST_IO;
    }
    if (file >= 0) close(file);
    if (status == HOST_OK) status = cc_run(compiler, source, source_size, o, path, log);
    const int made = status == HOST_OK ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (made >= 0) *object = read_whole(made, size);
    if (made >= 0) close(made);
    if (file >= 0) unlink(path);
    free(path);
    free(compiler);
    return status == HOST_OK && !*object ? HOST_IO : status;
}

/* The file stays open as long as the module: the loader knows objects by name, and this way no other file has its name. */
static bool load_bytes(host_module *m, const unsigned char *object, size_t size, host_log *log)
{
    m->file = memfd_create("tfgen-host-object", MFD_CLOEXEC);
    m->path = malloc(FD_PATH);
    if (m->file <= 0 || !m->path || !write_whole(m->file, object, size)) {
        log_add(log, "cannot keep a shared object in memory: %s\n", strerror(errno));
        return false;
    }
    snprintf(m->path, FD_PATH, "/proc/self/fd/%d", m->file);
    const bool ok = module_load(m, log);
    free(m->path); /* a symboliser is another process and could not open it */
    m->path = NULL;
    return ok;
}

host_status host_module_open(const void *object, size_t size, host_module **out, host_log *log)
{
    *out = NULL;
    host_module *m = calloc(1, sizeof *m);
    if (!m) return HOST_NO_MEMORY;
    pthread_mutex_init(&m->shared_lock, NULL);
    m->compiler = strdup("ahead of time");
    const host_status status = !m->compiler ? HOST_NO_MEMORY : load_bytes(m, object, size, log) ? HOST_OK : HOST_IO;
    if (status == HOST_OK) *out = m;
    else host_module_free(m);
    return status;
}
