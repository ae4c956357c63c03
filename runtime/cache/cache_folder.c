/* In: entries by kind and id. Out: files in the cache's folder, and lists of them. Touches only files with an entry's, a mark's or a
 * temporary file's name, and no folder that another user owns or can write to. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "runtime/cache/cache_parts.h"
#include "runtime/system/files.h"
#include "runtime/compile/worker.h"

enum { sweep_seconds = 600, leftover_seconds = 3600 };

char *folder_file(const cache *c, cache_kind kind, const char *id, const char *suffix)
{
    return printed("%s/%s/%s%s", c->directory, cache_kind_names[kind], id, suffix);
}

static bool make_one(const char *path) { return mkdir(path, 0700) == 0 || errno == EEXIST; }

/* Makes the folder and its parents. False: errno. */
static bool make_folders(char *path)
{
    bool ok = make_one(path);
    for (char *p = path + 1; !ok && errno == ENOENT && *p; p++) {
        if (*p != '/') continue;
        *p = 0;
        const bool made = make_one(path);
        *p = '/';
        /* mkdir() may give these for a parent that exists: goes on to the folders below it */
        if (!made && errno != EROFS && errno != EACCES && errno != EPERM) break;
        errno = ENOENT;
    }
    return ok || make_one(path);
}

static const char foreign[] = "it belongs to another user", open_to_others[] = "others may write to it";

/* Why a folder is not trusted: whoever can write to it can replace any file in it. NULL: only this user and root can. */
static const char *distrust(int folder)
{
    struct stat s;
    if (fstat(folder, &s)) return strerror(errno);
    return s.st_uid != geteuid() && s.st_uid != 0 ? foreign : s.st_mode & 022 ? open_to_others : NULL;
}

/* Returns the descriptor if its folder is trusted, else closes it and returns -1. */
static int trusted(int folder, const char **why)
{
    *why = folder < 0 ? strerror(errno) : distrust(folder);
    if (!*why) return folder;
    if (folder >= 0) close(folder);
    return -1;
}

/* Checks both the cache's folder and the kind's folder in it, as a writer of the first can replace the second. Files are then opened
 * relative to the descriptor, so later renames have no effect. */
int folder_open(const cache *c, cache_kind kind, bool make, const char **why)
{
    enum { how = O_RDONLY | O_DIRECTORY | O_CLOEXEC };
    const char *ignored;
    if (!why) why = &ignored;
    int top = open(c->directory, how);
    if (top < 0 && errno == ENOENT && make) {
        char *path = strdup(c->directory);
        if (path && make_folders(path)) top = open(c->directory, how);
        const int reason = path ? errno : ENOMEM;
        free(path);
        errno = reason;
    }
    if ((top = trusted(top, why)) < 0) return -1;
    if (make) (void)!mkdirat(top, cache_kind_names[kind], 0700);
    const int folder = trusted(openat(top, cache_kind_names[kind], how), why);
    close(top);
    return folder;
}

const char *cache_fault(const cache *c)
{
    for (cache_kind kind = 0; c && kind < cache_kind_count; kind++) {
        const char *why;
        const int folder = folder_open(c, kind, false, &why);
        if (folder >= 0) close(folder);
        else if (why == foreign || why == open_to_others) return why;
    }
    return NULL;
}

const char *folder_read(const cache *c, cache_kind kind, const char *id, cache_entry *e, double *age)
{
    char name[cache_id_length + sizeof ".entry"];
    const int folder = folder_open(c, kind, false, NULL);
    snprintf(name, sizeof name, "%s.entry", id);
    const char *fault = folder < 0 ? "it cannot be opened" : entry_read(folder, name, e, age);
    if (folder >= 0) close(folder);
    return fault;
}

/* Writes an entry; NULL, or why not. No fsync: after a power failure an entry may be truncated or zero; its seal then fails and it is
 * compiled again. */
const char *folder_put(const cache *c, cache_kind kind, const char *id, const void *bytes, size_t size)
{
    char name[cache_id_length + sizeof ".entry"], prefix[cache_id_length + 2];
    const char *why;
    file_draft d;
    const int folder = folder_open(c, kind, true, &why);
    if (folder < 0) return why;
    snprintf(name, sizeof name, "%s.entry", id);
    snprintf(prefix, sizeof prefix, "%s.", id);
    const bool good = file_begin_at(&d, folder, name, prefix, 0600) && file_finish(&d, fwrite(bytes, 1, size, d.out) == size);
    why = good ? NULL : strerror(errno);
    close(folder);
    return why;
}

/* ---- listing and eviction ---- */

/* The suffix of one of our file names: ".entry", ".busy", or one that ends in ".part"; else NULL. */
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
    const int folder = folder_open(c, kind, false, NULL);
    DIR *d = folder >= 0 ? fdopendir(folder) : NULL;
    if (folder >= 0 && !d) close(folder);
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

/* Lists entries; if remove_older (seconds) is not negative, removes older marks and temporary files. */
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

/* False: errno. */
static bool remove_item(const cache *c, const folder_item *item)
{
    char name[cache_id_length + sizeof ".entry"];
    const int folder = folder_open(c, item->kind, false, NULL);
    if (folder < 0) return false;
    snprintf(name, sizeof name, "%s.entry", item->id);
    /* also removes an empty folder with an entry's name */
    const bool gone = unlinkat(folder, name, 0) == 0 || errno == ENOENT || (errno == EISDIR && unlinkat(folder, name, AT_REMOVEDIR) == 0);
    const int reason = errno;
    close(folder);
    return errno = reason, gone;
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
        if (!remove_item(c, &all.items[i])) {
            n.stuck++, n.reason = errno;
            continue;
        }
        n.removed++, n.kept--;
        n.removed_bytes += all.items[i].bytes, n.kept_bytes -= all.items[i].bytes;
    }
    free(all.items);
    return n;
}

/* The time of the file "swept" is that of the last sweep by any process. Clocks of machines differ, so a time far in
 * the future makes a sweep due, too. */
static bool sweep_is_due(const cache *c)
{
    const char *why;
    const int folder = trusted(open(c->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC), &why);
    struct stat s;
    if (folder < 0) return false;
    const double age = fstatat(folder, "swept", &s, AT_SYMLINK_NOFOLLOW) == 0 ? wall_clock() - seconds_of(s.st_mtim) : 2 * sweep_seconds;
    const bool due = age > sweep_seconds || age < -sweep_seconds;
    if (due) {
        const int file = openat(folder, "swept", O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
        if (file >= 0) futimens(file, NULL), close(file);
    }
    close(folder);
    return due;
}

void folder_grew(cache *c, size_t bytes)
{
    pthread_mutex_lock(&c->lock);
    c->stored_bytes += (long long)bytes;
    const bool much = c->stored_bytes > c->most_bytes / 16;
    if (much) c->stored_bytes = 0;
    pthread_mutex_unlock(&c->lock);
    /* Sweeps to 7/8 of the cap, so that a full cache is not swept after every entry. */
    if ((much || sweep_is_due(c)) && cache_sweep(c, -1).removed) cache_sweep(c, c->most_bytes - c->most_bytes / 8);
}
