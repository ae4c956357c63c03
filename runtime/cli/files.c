/* In: paths. Out: texts, and files written under a temporary name and renamed. Refuses files above 64 MB and folders it cannot make. */
#define _GNU_SOURCE
#include "runtime/cli/cli.h"
#include "runtime/system/files.h"
#include "runtime/system/input.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { most_bytes = 64 << 20 };

static void close_file(void *file) { fclose(file); }

static char *read_stream(arena *a, FILE *in, const char *path, size_t *size)
{
    text all = {.a = a};
    char part[65536];
    for (size_t n; (n = fread(part, 1, sizeof part, in)) > 0;) {
        if (all.size + n > most_bytes) bail(a, code_bad_input, (position){0}, "%s: larger than %d MB", path, most_bytes >> 20);
        text_append(&all, part, n);
    }
    if (ferror(in)) bail(a, code_io, (position){0}, "%s: cannot read: %s", path, strerror(errno));
    *size = all.size;
    return all.data ? all.data : arena_strdup(a, "");
}

/* Contents of standard input and pipes, kept because a spec is read again for each level and each size. */
static struct stream {
    char *path, *data;
    size_t size;
    struct stream *next;
} *streams;

static struct stream *read_once(arena *a, const char *path)
{
    for (struct stream *s = streams; s; s = s->next)
        if (strcmp(s->path, path) == 0) return s;
    size_t size;
    const char *all = read_stream(a, strcmp(path, "-") == 0 ? stdin : cli_open_input(a, path), path, &size);
    struct stream *s = calloc(1, sizeof *s);
    if (!s || !(s->path = strdup(path)) || !(s->data = malloc(size + 1)))
        bail(a, code_device, (position){0}, "not enough memory for %s", path);
    s->size = size;
    memcpy(s->data, all, s->size + 1);
    s->next = streams;
    return streams = s;
}

char *cli_read_file(arena *a, const char *path, size_t *size)
{
    struct stat st;
    if (strcmp(path, "-") != 0 && (stat(path, &st) || S_ISREG(st.st_mode))) return read_stream(a, cli_open_input(a, path), path, size);
    const struct stream *s = read_once(a, path);
    *size = s->size;
    return memcpy(arena_alloc(a, *size + 1), s->data, *size + 1);
}

FILE *cli_open_input(arena *a, const char *path)
{
    const char *why;
    const int file = input_open_stream(path, &why);
    FILE *in = file < 0 ? NULL : fdopen(file, "rb");
    if (!in) bail(a, code_bad_input, (position){0}, "%s: cannot open: %s", path, file < 0 ? why : strerror(errno));
    arena_defer(a, close_file, in);
    return in;
}

void cli_make_folder(arena *a, const char *path)
{
    char *part = arena_strdup(a, path);
    for (char *p = part + 1;; p++) {
        if (*p && *p != '/') continue;
        const char kept = *p;
        *p = '\0';
        if (mkdir(part, 0777) != 0 && errno != EEXIST) bail(a, code_io, (position){0}, "%s: cannot make folder: %s", part, strerror(errno));
        if (!kept) return;
        *p = kept;
    }
}

static void make_parents(arena *a, const char *path)
{
    const char *slash = strrchr(path, '/');
    if (slash && slash != path) cli_make_folder(a, arena_strndup(a, path, (size_t)(slash - path)));
}

static void close_draft(void *draft) { (void)file_finish(draft, true); }

/* Keeps a pipe open while the command runs: closing it would signal the end to its reader. */
static void hold_pipe(arena *a, const char *path)
{
    file_draft *d = arena_alloc(a, sizeof *d);
    if (!file_begin(d, path)) bail(a, code_io, (position){0}, "%s: cannot write: %s", path, file_why(errno));
    arena_defer(a, close_draft, d);
}

void cli_check_output(arena *a, const char *path)
{
    struct stat s;
    file_draft d;
    if (strcmp(path, "-") == 0) return;
    make_parents(a, path);
    if (stat(path, &s) == 0 && S_ISFIFO(s.st_mode) && !file_is_open(path)) return hold_pipe(a, path);
    if (stat(path, &s) == 0 && !S_ISREG(s.st_mode) && !S_ISDIR(s.st_mode)) return;
    if (!file_begin(&d, path)) bail(a, code_io, (position){0}, "%s: cannot write: %s", path, file_why(errno));
    (void)file_finish(&d, false);
}

void cli_write_file(arena *a, const char *path, const void *data, size_t size)
{
    if (strcmp(path, "-") == 0) {
        if (fwrite(data, 1, size, stdout) != size || fflush(stdout)) bail(a, code_io, (position){0}, "cannot write: %s", strerror(errno));
        return;
    }
    make_parents(a, path);
    if (!file_put(path, data, size)) bail(a, code_io, (position){0}, "%s: cannot write: %s", path, file_why(errno));
}

int cli_file_kind(arena *a, const char *option, const char *path, const char *const *ends, int count)
{
    const char *dot = strrchr(path, '.');
    text all = {.a = a};
    for (int i = 0; i < count; i++) {
        if (dot && strcmp(dot, ends[i]) == 0) return i;
        text_printf(&all, "%s%s", i == 0 ? "" : i + 1 < count ? ", " : " or ", ends[i]);
    }
    bail(a, code_usage, (position){0}, "--%s: '%s' must end in %s", option, path, all.data);
}

void cli_write_source(arena *a, const char *path, const source_text *s)
{
    char *whole = source_whole(s);
    const bool written = whole && file_put(path, whole, source_size(s));
    const int why = errno;
    free(whole);
    if (!written) bail(a, code_io, (position){0}, "%s: cannot write: %s", path, file_why(why));
}

const char *cli_whole_source(arena *a, const source_text *s)
{
    char *whole = source_whole(s);
    if (!whole) bail(a, code_device, (position){0}, "not enough memory for the sources");
    arena_defer(a, free, whole);
    return whole;
}
