/* Contract: runtime/system/files.h. */
#define _GNU_SOURCE
#include "runtime/system/files.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <time.h>
#include <unistd.h>
#include "runtime/system/printed.h"

static void forget(file_draft *d)
{
    const int reason = errno;
    free(d->name);
    free(d->aside);
    *d = (file_draft){.folder = -1};
    errno = reason;
}

/* O_EXCL alone makes this safe. The random part of the name only keeps other processes from choosing the same one. */
static int open_aside(file_draft *d, const char *prefix, mode_t mode)
{
    enum { most_tries = 16 };
    for (int tries = 0; tries < most_tries; tries++) {
        unsigned long long number = 0;
        if (getrandom(&number, sizeof number, 0) != sizeof number)
            number = (unsigned long long)getpid() << 32 ^ (unsigned long long)clock() ^ (unsigned)tries;
        free(d->aside);
        if (!(d->aside = printed("%s%016llx.part", prefix, number))) return errno = ENOMEM, -1;
        const int file = openat(d->folder, d->aside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
        if (file >= 0 || errno != EEXIST) return file;
    }
    return -1;
}

static bool begin(file_draft *d, int folder, const char *name)
{
    *d = (file_draft){.folder = fcntl(folder, F_DUPFD_CLOEXEC, 3), .name = strdup(name)};
    if (d->folder >= 0 && d->name) return true;
    if (d->folder >= 0) close(d->folder);
    return forget(d), false;
}

/* Takes ownership of `file`, on failure too. */
static bool attach(file_draft *d, int file)
{
    if (file >= 0 && (d->out = fdopen(file, "w"))) return true;
    const int reason = errno;
    if (file >= 0) close(file);
    if (file >= 0 && d->aside) unlinkat(d->folder, d->aside, 0);
    close(d->folder);
    errno = reason;
    return forget(d), false;
}

bool file_begin_at(file_draft *d, int folder, const char *name, const char *prefix, mode_t mode)
{
    return begin(d, folder, name) && attach(d, open_aside(d, prefix, mode));
}

static bool is_proc(int folder)
{
    struct statfs s;
    return fstatfs(folder, &s) == 0 && s.f_type == PROC_SUPER_MAGIC;
}

/* /dev/stdout, /proc/self/fd/3: the name of an open descriptor, not of a file in a folder. */
static bool is_open_file(int folder, const char *name)
{
    char target[256];
    const ssize_t n = readlinkat(folder, name, target, sizeof target - 1);
    if (n <= 0 || is_proc(folder)) return n > 0;
    target[n] = 0;
    char *slash = strrchr(target, '/');
    if (!slash) return false;
    *slash = 0;
    const int parent = openat(folder, *target ? target : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    const bool open_file = parent >= 0 && is_proc(parent);
    if (parent >= 0) close(parent);
    return open_file;
}

/* Does not wait for a reader of a pipe: ENXIO without one. Writes block as usual afterwards. */
static int open_waiting_for_nobody(int folder, const char *name, int how)
{
    const int file = openat(folder, name, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | how), flags = file < 0 ? -1 : fcntl(file, F_GETFL);
    if (flags >= 0) (void)fcntl(file, F_SETFL, flags & ~O_NONBLOCK);
    return file;
}

/* Opens an existing device, pipe, socket or open file; -1 with ENOENT when there is none. */
static int open_special(int folder, const char *name)
{
    struct stat s;
    if (fstatat(folder, name, &s, 0)) return errno = ENOENT, -1;
    if (is_open_file(folder, name)) return open_waiting_for_nobody(folder, name, O_APPEND);
    if (S_ISDIR(s.st_mode)) return errno = EISDIR, -1;
    if (S_ISREG(s.st_mode)) return errno = ENOENT, -1;
    const int file = open_waiting_for_nobody(folder, name, 0);
    if (file >= 0 && (fstat(file, &s) || S_ISREG(s.st_mode))) return close(file), errno = EEXIST, -1; /* the file was replaced meanwhile */
    return file;
}

static bool begin_in(file_draft *d, int folder, const char *name)
{
    struct stat s;
    const bool there = fstatat(folder, name, &s, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(s.st_mode) && s.st_uid == geteuid();
    if (!begin(d, folder, name)) return false;
    const int special = open_special(folder, name);
    if (special >= 0 || errno != ENOENT) return attach(d, special);
    const int file = open_aside(d, ".tfgen-", there ? 0600 : 0666);
    if (file >= 0 && there) (void)!fchmod(file, s.st_mode & 0777);
    return attach(d, file);
}

/* A handle of the file's folder, and *name, the file's name in it; -1 and errno: it cannot be opened. */
static int open_parent(const char *path, const char **name)
{
    const char *slash = strrchr(path, '/');
    char *parent = !slash ? strdup(".") : strndup(path, slash == path ? 1 : (size_t)(slash - path));
    const int folder = parent ? open(parent, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1, reason = errno;
    free(parent);
    *name = slash ? slash + 1 : path;
    errno = reason;
    return folder;
}

bool file_is_open(const char *path)
{
    const char *name;
    const int folder = open_parent(path, &name);
    const bool is = folder >= 0 && is_open_file(folder, name);
    if (folder >= 0) close(folder);
    return is;
}

bool file_begin(file_draft *d, const char *path)
{
    const char *name;
    const int folder = open_parent(path, &name);
    *d = (file_draft){.folder = -1};
    if (folder < 0) return false;
    const bool good = begin_in(d, folder, name);
    const int reason = errno;
    close(folder);
    errno = reason;
    return good;
}

bool file_finish(file_draft *d, bool good)
{
    int reason = errno;
    if (good && fflush(d->out)) good = false, reason = errno;
    if (fclose(d->out) && good) good = false, reason = errno; /* network file systems report a full disk here */
    if (good && d->aside && renameat(d->folder, d->aside, d->folder, d->name)) good = false, reason = errno;
    if (!good && d->aside) unlinkat(d->folder, d->aside, 0);
    close(d->folder);
    errno = reason;
    return forget(d), good;
}

const char *file_why(int error) { return error == ENXIO ? "it is a pipe or socket, and nobody reads from it" : strerror(error); }

bool file_put(const char *path, const void *data, size_t size)
{
    file_draft d;
    return file_begin(&d, path) && file_finish(&d, fwrite(data, 1, size, d.out) == size);
}
