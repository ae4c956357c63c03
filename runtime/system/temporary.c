/* Contract: runtime/system/temporary.h. */
#define _GNU_SOURCE
#include "runtime/system/temporary.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include "runtime/system/printed.h"

enum { most_depth = 16 };

const char *temporary_base(void)
{
    const char *given = secure_getenv("TMPDIR");
    return given && *given ? given : "/tmp";
}

bool temporary_open(temporary_folder *t)
{
    struct stat s;
    *t = (temporary_folder){printed("%s/tfgen-XXXXXX", temporary_base()), -1};
    if (t->path && mkdtemp(t->path)) {
        t->handle = open(t->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (t->handle >= 0 && fstat(t->handle, &s) == 0 && s.st_uid == geteuid() && !(s.st_mode & 077)) return true;
        if (t->handle >= 0) errno = EPERM, close(t->handle);
        const int reason = errno;
        rmdir(t->path);
        errno = reason;
    }
    const int reason = errno;
    free(t->path);
    *t = (temporary_folder){NULL, -1};
    errno = reason;
    return false;
}

unsigned char *temporary_read(const temporary_folder *t, const char *name, size_t most, size_t *size)
{
    const int file = openat(t->handle, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    unsigned char *data = NULL;
    struct stat s;
    *size = 0;
    if (file >= 0 && fstat(file, &s) == 0 && S_ISREG(s.st_mode)) {
        const size_t want = (unsigned long long)s.st_size < most ? (size_t)s.st_size : most;
        data = malloc(want + 1);
        for (ssize_t n = 1; data && *size < want && n > 0; *size += n > 0 ? (size_t)n : 0) n = read(file, data + *size, want - *size);
        if (data) data[*size] = 0;
    }
    if (file >= 0) close(file);
    return data;
}

const char *temporary_shortage(const temporary_folder *t, const char *said)
{
    static const int reasons[] = {ENOSPC, EDQUOT, EFBIG};
    struct statvfs s;
    for (size_t i = 0; said && i < sizeof reasons / sizeof *reasons; i++)
        if (strstr(said, error_in_english(reasons[i]))) return error_in_english(reasons[i]); /* compilers' messages are in English */
    if (fstatvfs(t->handle, &s)) return NULL;
    const bool full = (s.f_blocks && !s.f_bavail) || (s.f_files && !s.f_favail);
    return full ? error_in_english(ENOSPC) : NULL;
}

/* Takes ownership of the handle. */
static void remove_content(int folder, int depth)
{
    DIR *d = fdopendir(folder);
    if (!d) return (void)close(folder);
    for (struct dirent *e; (e = readdir(d));) {
        if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..") || unlinkat(folder, e->d_name, 0) == 0) continue;
        const int inner = depth < most_depth ? openat(folder, e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
        if (inner >= 0) remove_content(inner, depth + 1);
        unlinkat(folder, e->d_name, AT_REMOVEDIR);
    }
    closedir(d);
}

void directory_remove(const char *path)
{
    const int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder >= 0) remove_content(folder, 0);
    rmdir(path);
}

void temporary_close(temporary_folder *t)
{
    if (t->handle >= 0) remove_content(t->handle, 0);
    if (t->path) rmdir(t->path);
    free(t->path);
    *t = (temporary_folder){NULL, -1};
}
