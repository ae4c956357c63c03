/* In: paths of wisdom files. Out: what they hold, and changed files (wisdom_file.h). Refuses (bails code_io) what cannot be read or
 * written, with the system's reason. */
#define _GNU_SOURCE
#include "runtime/wisdom/wisdom_file.h"
#include "runtime/system/files.h"
#include "runtime/system/input.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_none(const char *s) { return !*s || strcmp(s, "none") == 0; }

const char *wisdom_data_path(arena *a, const char *file)
{
    const char *data = secure_getenv("XDG_DATA_HOME"), *home = secure_getenv("HOME");
    if (data && *data == '/') return arena_printf(a, "%s/tfgen/%s", data, file);
    return home && *home == '/' ? arena_printf(a, "%s/.local/share/tfgen/%s", home, file) : NULL;
}

const char *wisdom_path(arena *a)
{
    const char *given = secure_getenv("TFGEN_WISDOM");
    if (given) return is_none(given) ? NULL : arena_strdup(a, given);
    return wisdom_data_path(a, "wisdom");
}

/* Reads up to one byte more than allowed; returns the size, or -1 and errno. */
static ssize_t read_all(arena *a, int file, char **out)
{
    struct stat s;
    if (fstat(file, &s)) return -1;
    const size_t most = s.st_size < most_wisdom_bytes ? (size_t)s.st_size + 1 : most_wisdom_bytes + 1;
    size_t size = 0;
    for (*out = arena_alloc(a, most + 1); size < most;) {
        const ssize_t n = read(file, *out + size, most - size);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return -1;
        if (n == 0) break;
        size += (size_t)n;
    }
    return (ssize_t)size;
}

/* NULL: the file does not exist (*why is NULL), or cannot be read (*why). */
static wisdom *read_file(arena *a, const char *path, const char **why)
{
    const int file = input_open(path, why);
    if (file < 0) {
        if (errno == ENOENT) *why = NULL;
        return NULL;
    }
    char *data;
    const ssize_t size = read_all(a, file, &data);
    if (size < 0) *why = strerror(errno);
    close(file);
    return size < 0 ? NULL : wisdom_read(a, data, (size_t)size);
}

static _Noreturn void cannot(arena *a, const char *what, const char *path, const char *why)
{
    bail(a, code_io, (position){0}, "wisdom: cannot %s %s: %s", what, path, why);
}

/* Reads a file that the user named; bails if it exists but is not a wisdom file, rather than ignoring or overwriting it. NULL: it does not
 * exist. */
static wisdom *read_named(arena *a, const char *path)
{
    const char *why;
    wisdom *w = read_file(a, path, &why);
    if (!w && why) cannot(a, "read", path, why);
    if (w && w->refused) bail(a, code_bad_input, (position){0}, "wisdom: %s: %s", path, w->refused);
    return w;
}

wisdom *wisdom_load_file(arena *a, const char *path)
{
    wisdom *w = read_named(a, path);
    return w ? w : wisdom_read(a, wisdom_head, strlen(wisdom_head));
}

const wisdom *wisdom_load(arena *a, const char *given)
{
    const char *asked = given ? given : secure_getenv("TFGEN_WISDOM");
    if (asked && is_none(asked)) return NULL;
    const char *path = given ? given : wisdom_path(a);
    const char *why;
    const wisdom *w = asked ? read_named(a, path) : path ? read_file(a, path, &why) : NULL;
    if (given && !w) cannot(a, "read", path, strerror(ENOENT));
    if (given) return w;
    return w ? wisdom_over(a, w, wisdom_shipped(a)) : wisdom_shipped(a);
}

/* ---- two lists */
static wisdom_entry *find_key(const wisdom *w, const wisdom_entry *like)
{
    for (wisdom_entry *e = names_find(&w->signatures, like->signature); e; e = e->other)
        if (wisdom_same_key(e, like)) return e;
    return NULL;
}

static void put_entry(wisdom *w, const wisdom_entry *from, wisdom_change *change)
{
    wisdom_entry *same = find_key(w, from), *first = names_find(&w->signatures, from->signature);
    if (same) {
        wisdom_entry *next = same->other;
        const bool better = wisdom_better(same, from) == from && wisdom_better(from, same) == from;
        if (better) *same = *from, same->other = next;
        change->replaced += better, change->kept += !better;
        return;
    }
    wisdom_entry *e = &w->list[w->count++];
    *e = *from, e->other = NULL;
    if (first) e->other = first->other, first->other = e;
    else names_add(&w->signatures, e->signature, e);
    change->added++;
}

/* over: entries of x win over those of y with the same key; else the better one wins. */
static wisdom *merged(arena *a, const wisdom *x, const wisdom *y, bool over, wisdom_change *change)
{
    wisdom *w = arena_alloc(a, sizeof *w);
    *w = (wisdom){arena_alloc(a, ((size_t)x->count + (size_t)y->count + 1) * sizeof *w->list), 0, {.a = a}, NULL};
    wisdom_change unused = {0};
    for (int i = 0; i < x->count; i++)
        if (!x->list[i].stale) put_entry(w, &x->list[i], &unused);
    for (int i = 0; i < y->count; i++)
        if (!y->list[i].stale && !(over && find_key(w, &y->list[i]))) put_entry(w, &y->list[i], change);
    for (int i = 0; i < x->count; i++)
        if (x->list[i].stale && *x->list[i].text) w->list[w->count++] = x->list[i];
    return w;
}

wisdom *wisdom_merge(arena *a, const wisdom *x, const wisdom *y) { return merged(a, x, y, false, &(wisdom_change){0}); }
wisdom *wisdom_over(arena *a, const wisdom *x, const wisdom *y) { return merged(a, x, y, true, &(wisdom_change){0}); }

const char *wisdom_text(arena *a, const wisdom *w, bool stale)
{
    text t = {.a = a};
    text_printf(&t, "%s", wisdom_head);
    for (int i = 0; i < w->count; i++) {
        if (!w->list[i].stale) wisdom_put(&t, &w->list[i]);
        else if (stale) text_printf(&t, "%s\n", w->list[i].text);
    }
    return t.data;
}

/* ---- the file */
static void make_folders(arena *a, const char *path)
{
    char *copy = arena_strdup(a, path);
    for (char *p = copy + 1; *p; p++) {
        if (*p != '/') continue;
        *p = 0;
        if (mkdir(copy, 0777) && errno != EEXIST) cannot(a, "make the folder", copy, strerror(errno));
        *p = '/';
    }
}

static void close_file(void *file) { close(*(int *)file); }

/* Opens the lock file until the arena ends. */
static int open_lock(arena *a, const char *name)
{
    int *file = arena_alloc(a, sizeof *file);
    *file = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (*file < 0) cannot(a, "open", name, strerror(errno));
    arena_defer(a, close_file, file);
    return *file;
}

static const char *lock_of(arena *a, const char *path) { return arena_printf(a, "%s.lock", path); }

void wisdom_check_file(arena *a, const char *path)
{
    (void)wisdom_load_file(a, path);
    make_folders(a, path);
    (void)open_lock(a, lock_of(a, path));
}

wisdom_change wisdom_add(arena *a, const char *path, const wisdom *more)
{
    wisdom_change change = {0};
    make_folders(a, path);
    const int held = open_lock(a, lock_of(a, path));
    while (flock(held, LOCK_EX))
        if (errno != EINTR) cannot(a, "lock", lock_of(a, path), strerror(errno));
    const wisdom *now = wisdom_load_file(a, path);
    const char *text = wisdom_text(a, merged(a, now, more, false, &change), true);
    if (strlen(text) > most_wisdom_bytes)
        bail(a, code_io, (position){0}, "wisdom: %s would have more than %d bytes", path, most_wisdom_bytes);
    if (!file_put(path, text, strlen(text))) cannot(a, "write", path, file_why(errno));
    flock(held, LOCK_UN);
    return change;
}
