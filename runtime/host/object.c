/* Compiles a kernel's source to the bytes of a shared object, and puts such bytes into an anonymous sealed file, from which they are
 * loaded. Refuses what the compiler refuses. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "runtime/host/engine.h"
#include "runtime/system/temporary.h"

enum { MAX_OBJECT = 256 << 20 };

host_status object_compile(const char *compiler, const char *source, size_t source_size, const host_compile_options *o,
                           unsigned char **object, size_t *size, host_log *log)
{
    temporary_folder t;
    *object = NULL;
    if (!temporary_open(&t)) {
        log_add(log, "cannot make a folder in %s: %s; set TMPDIR to another folder\n", temporary_base(), strerror(errno));
        return HOST_IO;
    }
    const size_t before = log ? log->size : 0;
    host_status status = cc_run(compiler, source, source_size, o, t.path, log);
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
    const char *said = log && log->text ? log->text + before : NULL, *why = NULL;
    if (status == HOST_COMPILE_FAILED || status == HOST_IO) why = temporary_shortage(&t, said);
    if (why) {
        log_add(log, "%s cannot write to %s: %s; set TMPDIR to another folder\n", compiler, temporary_base(), why);
        status = HOST_IO;
    }
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

int object_file(const void *object, size_t size)
{
    const int low = memfd_create("tfgen-host-object", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    const int file = low >= 0 ? fcntl(low, F_DUPFD_CLOEXEC, 3) : -1; /* above 2: the application may have closed its standard streams */
    if (low >= 0) close(low);
    if (file < 0) return -1;
    if (write_whole(file, object, size) && fcntl(file, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) == 0)
        return file;
    const int reason = errno;
    close(file);
    errno = reason;
    return -1;
}
