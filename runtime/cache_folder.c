/* In: entries by kind and id. Out: files in the cache's folder, and what lies there. Refuses to touch what does not have an entry's,
 * a mark's or a part's name: the folder may be anybody's. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "runtime/cache_parts.h"
#include "runtime/worker.h"

enum { sweep_seconds = 600, leftover_seconds = 3600 };

char *folder_file(const cache *c, cache_kind kind, const char *id, const char *suffix)
{
    return printed("%s/%s/%s%s", c->directory, cache_kind_names[kind], id, suffix);
}

static bool make_one(const char *path) { return mkdir(path, 0700) == 0 || errno == EEXIST; }

bool folder_make(const cache *c, cache_kind kind)
{
    char *path = folder_file(c, kind, "", "");
    if (!path) return errno = ENOMEM, false;
    const size_t n = strlen(path);
    path[n - 1] = 0; /* the slash */
    bool ok = make_one(path);
    for (char *p = path + 1; !ok && errno == ENOENT && *p; p++) {
        if (*p != '/') continue;
        *p = 0;
        const bool made = make_one(path);
        *p = '/';
        if (!made && errno != EROFS && errno != EACCES && errno != EPERM) break; /* those may be of a parent that is there */
        errno = ENOENT;
    }
    ok = ok || make_one(path);
    const int reason = errno;
    free(path);
    errno = reason;
    return ok;
}

static bool write_all(int file, const unsigned char *p, size_t n)
{
    while (n) {
        const ssize_t done = write(file, p, n);
        if (done < 0 && errno == EINTR) continue;
        if (done == 0) errno = ENOSPC;
        if (done <= 0) return false;
        p += done;
        n -= (size_t)done;
    }
    return true;
}

/* No fsync: after a power cut an entry may be short or zeros; its seal then says so and it is made again. */
bool folder_put(const cache *c, cache_kind kind, const char *id, const void *bytes, size_t size)
{
    unsigned long long number = 0;
    char suffix[32];
    if (!folder_make(c, kind)) return false;
    if (getrandom(&number, sizeof number, 0) != sizeof number) number = (unsigned long long)getpid() << 32 ^ (unsigned long long)clock();
    snprintf(suffix, sizeof suffix, ".%016llx.part", number);
    char *aside = folder_file(c, kind, id, suffix), *path = folder_file(c, kind, id, ".entry");
    const int file = aside && path ? open(aside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600) : -1;
    bool ok = file >= 0 && write_all(file, bytes, size);
    int reason = errno;
    if (file >= 0 && close(file) && ok) ok = false, reason = errno; /* network file systems say here that the disk is full */
    if (ok && rename(aside, path)) ok = false, reason = errno;
    if (!ok && file >= 0) unlink(aside);
    free(aside);
    free(path);
    errno = reason;
    return ok;
}

/* ---- what lies there ---- */

/* The suffix of a name that is ours: ".entry", ".busy", or one that ends in ".part"; else NULL. */
static const char *our_suffix(const char *name)
{
    const size_t n = strlen(name);
    if (strspn(name, "0123456789abcdef") != cache_id_length) return NULL;
    const char *suffix = name + cache_id_length;
    const bool part = *suffix == '.' && n > cache_id_length + 5 && !strcmp(name + n - 5, ".part");
    return part || !strcmp(suffix, ".entry") || !strcmp(suffix, ".busy") ? suffix : NULL;
}

static double seconds_of(struct timespec t) { return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec; }

static double wall_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return seconds_of(t);
}

static DIR *open_folder(const cache *c, cache_kind kind)
{
    char *path = folder_file(c, kind, "", "");
    DIR *d = path ? opendir(path) : NULL;
    free(path);
    return d;
}

typedef struct item_list {
    folder_item *items;
    size_t count, room;
} item_list;

static void add_item(item_list *l, const folder_item *item)
{
    if (l->count == l->room) {
        const size_t room = l->room ? 2 * l->room : 64;
        folder_item *grown = realloc(l->items, room * sizeof *grown);
        if (!grown) return;
        l->items = grown;
        l->room = room;
    }
    l->items[l->count++] = *item;
}

/* Lists entries; when `remove_older` is not negative, removes marks and parts that are older. */
static item_list scan(const cache *c, double remove_older)
{
    item_list all = {0};
    const double now = wall_clock();
    for (cache_kind kind = 0; kind < cache_kind_count; kind++) {
        DIR *d = open_folder(c, kind);
        for (struct dirent *e; d && (e = readdir(d));) {
            const char *suffix = our_suffix(e->d_name);
            struct stat s;
            if (!suffix || fstatat(dirfd(d), e->d_name, &s, AT_SYMLINK_NOFOLLOW)) continue;
            folder_item item = {.kind = kind, .bytes = s.st_size, .used = seconds_of(s.st_mtim)};
            memcpy(item.id, e->d_name, cache_id_length);
            if (!strcmp(suffix, ".entry")) add_item(&all, &item);
            else if (remove_older >= 0 && now - item.used >= remove_older) unlinkat(dirfd(d), e->d_name, 0);
        }
        if (d) closedir(d);
    }
    return all;
}

folder_item *folder_list(const cache *c, size_t *count)
{
    const item_list all = scan(c, -1);
    *count = all.count;
    return all.items;
}

static int oldest_first(const void *x, const void *y)
{
    const folder_item *a = x, *b = y;
    return a->used != b->used ? (a->used > b->used) - (a->used < b->used) : strcmp(a->id, b->id);
}

static bool remove_item(const cache *c, const folder_item *item)
{
    char *path = folder_file(c, item->kind, item->id, ".entry");
    const bool gone = path && (unlink(path) == 0 || errno == ENOENT || rmdir(path) == 0); /* an empty folder in an entry's place too */
    free(path);
    return gone;
}

cache_counts cache_sweep(cache *c, long long most_bytes)
{
    cache_counts n = {0};
    if (!c) return n;
    if (most_bytes < 0) most_bytes = c->most_bytes;
    item_list all = scan(c, most_bytes ? leftover_seconds : 0);
    if (all.count) qsort(all.items, all.count, sizeof *all.items, oldest_first);
    for (size_t i = 0; i < all.count; i++) n.kept_bytes += all.items[i].bytes;
    n.kept = (long long)all.count;
    for (size_t i = 0; i < all.count && (n.kept_bytes > most_bytes || !most_bytes); i++) {
        if (!remove_item(c, &all.items[i])) continue;
        n.removed++, n.kept--;
        n.removed_bytes += all.items[i].bytes, n.kept_bytes -= all.items[i].bytes;
    }
    free(all.items);
    return n;
}

/* A file whose time says when the folder was swept last, by anybody. Clocks of two machines differ: the distance counts. */
static bool sweep_is_due(const cache *c)
{
    char *path = printed("%s/swept", c->directory);
    struct stat s;
    const double age = path && lstat(path, &s) == 0 ? wall_clock() - seconds_of(s.st_mtim) : 2 * sweep_seconds;
    const bool due = age > sweep_seconds || age < -sweep_seconds;
    if (due && path) {
        const int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
        if (file >= 0) futimens(file, NULL), close(file);
    }
    free(path);
    return due;
}

void folder_grew(cache *c, size_t bytes)
{
    pthread_mutex_lock(&c->lock);
    c->stored_bytes += (long long)bytes;
    const bool much = c->stored_bytes > c->most_bytes / 16;
    if (much) c->stored_bytes = 0;
    pthread_mutex_unlock(&c->lock);
    /* Below the cap by an eighth, so that a full cache is not swept after every entry. */
    if ((much || sweep_is_due(c)) && cache_sweep(c, -1).removed) cache_sweep(c, c->most_bytes - c->most_bytes / 8);
}
