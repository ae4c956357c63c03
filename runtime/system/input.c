/* Contract: runtime/system/input.h. */
#define _GNU_SOURCE
#include "runtime/system/input.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "runtime/system/files.h"

static const char *refusal_of(mode_t mode)
{
    return S_ISREG(mode)    ? NULL
           : S_ISDIR(mode)  ? "it is a folder, not a file"
           : S_ISFIFO(mode) ? "it is a named pipe, not a file"
           : S_ISSOCK(mode) ? "it is a socket, not a file"
                            : "it is a device, not a file";
}

const char *input_refusal(const char *path)
{
    struct stat s;
    if (stat(path, &s)) return strerror(errno);
    errno = EINVAL; /* for files that input_refusal() refuses */
    return refusal_of(s.st_mode);
}

/* O_NONBLOCK: does not block on a pipe that has replaced the file meanwhile. */
int input_open(const char *path, const char **why)
{
    struct stat s;
    *why = input_refusal(path);
    const int file = *why ? -1 : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0 && !*why) *why = strerror(errno);
    if (file < 0) return -1;
    *why = fstat(file, &s) ? strerror(errno) : refusal_of(s.st_mode);
    if (!*why) return file;
    close(file);
    return errno = EINVAL, -1;
}

int input_open_stream(const char *path, const char **why)
{
    struct stat s;
    if (stat(path, &s) || S_ISREG(s.st_mode) || S_ISDIR(s.st_mode) || !file_is_open(path)) return input_open(path, why);
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    *why = file < 0 ? strerror(errno) : NULL;
    return file;
}

void *input_library(const char *path, int flags, char *why, size_t size)
{
    const char *refusal = strchr(path, '/') ? input_refusal(path) : NULL;
    void *library = refusal ? NULL : dlopen(path, flags);
    if (refusal) snprintf(why, size, "%s: %s", path, refusal);
    else if (!library) snprintf(why, size, "%s", dlerror());
    return library;
}
