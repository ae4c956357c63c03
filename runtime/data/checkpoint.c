/* Finds a checkpoint's tensors in one file, or in several by their index (runtime/data/checkpoint.h). */
#define _GNU_SOURCE
#include "runtime/data/checkpoint.h"
#include "ir/base/model_hint.h"
#include "runtime/system/input.h"
#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file of tensors; opened when the first of them is read. */
typedef struct shard {
    const char *name;
    safetensors *file;
} shard;

typedef struct entry {
    const char *name;
    int shard;
} entry;

struct checkpoint {
    arena *a;
    const char *path, *folder; /* folder: ends in a slash, or "" */
    bool indexed;              /* else there are no entries: all tensors are in shard 0 */
    shard *shards;
    int shard_count, shard_room;
    entry *entries; /* sorted by name */
    int entry_count;
};

/* Bails with "PATH: message". */
#define bad(a, path, ...) (arena_source(a, path, NULL, 0), bail(a, code_bad_input, (position){0}, __VA_ARGS__))

static bool ends_in(const char *s, const char *end)
{
    const size_t n = strlen(s), m = strlen(end);
    return n >= m && strcmp(s + n - m, end) == 0;
}

static bool is_pickle(const char *name)
{
    static const char *const ends[] = {".bin", ".pt", ".pth", ".pkl", ".pickle", ".ckpt"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (ends_in(name, ends[i])) return true;
    return false;
}

static _Noreturn void refuse_pickle(arena *a, const char *path, const char *name)
{
    bad(a, path, "%.200s is a pickle, which runs code of its author when it is read; tfgen reads safetensors: in Python, "
                 "model.save_pretrained(FOLDER) writes them", name);
}

/* ---- the index */
static void release(void *json) { json_decref(json); }

static const json_t *read_map(arena *a, const char *path)
{
    const char *why;
    struct stat s;
    json_error_t error;
    const int file = input_open(path, &why);
    if (file < 0) bad(a, path, "cannot open: %s", why);
    const bool fits = fstat(file, &s) == 0 && s.st_size <= checkpoint_most_index;
    json_t *all = fits ? json_loadfd(file, JSON_REJECT_DUPLICATES, &error) : NULL;
    close(file);
    if (!fits) bad(a, path, "larger than %d MB, the limit for an index of tensors", checkpoint_most_index >> 20);
    if (!all) bad(a, path, "line %d, column %d: %s", error.line, error.column, error.text);
    arena_defer(a, release, all);
    const json_t *map = json_object_get(all, "weight_map");
    if (!json_is_object(map))
        bad(a, path, "has no object \"weight_map\", which gives each tensor its file: is this an index of safetensors files?");
    return map;
}

static int find_shard(checkpoint *c, const char *name)
{
    for (int i = 0; i < c->shard_count; i++)
        if (strcmp(c->shards[i].name, name) == 0) return i;
    if (is_pickle(name)) refuse_pickle(c->a, c->path, name);
    const bool plain = name[0] && name[0] != '.' && !strchr(name, '/') && ends_in(name, ".safetensors");
    if (!plain)
        bad(c->a, c->path, "\"%.200s\" should be the name of a .safetensors file in the folder of the index", text_harmless(c->a, name));
    enum { most_shards = 4096 };
    if (c->shard_count == most_shards) bad(c->a, c->path, "names more than %d files", most_shards);
    c->shards = arena_more(c->a, c->shards, c->shard_count, &c->shard_room, sizeof *c->shards);
    c->shards[c->shard_count] = (shard){.name = arena_strdup(c->a, name)};
    return c->shard_count++;
}

static int by_name(const void *x, const void *y) { return strcmp(((const entry *)x)->name, ((const entry *)y)->name); }

static void read_index(checkpoint *c)
{
    const json_t *map = read_map(c->a, c->path);
    const char *name, *slash = strrchr(c->path, '/');
    json_t *file;
    c->folder = arena_printf(c->a, "%.*s", slash ? (int)(slash - c->path) + 1 : 0, c->path);
    c->indexed = true;
    c->entries = arena_alloc(c->a, (json_object_size(map) + 1) * sizeof *c->entries);
    json_object_foreach((json_t *)map, name, file)
    {
        if (!json_is_string(file)) bad(c->a, c->path, "weight_map: the file of %.200s should be a string", text_harmless(c->a, name));
        c->entries[c->entry_count++] = (entry){name, find_shard(c, json_string_value(file))};
    }
    qsort(c->entries, (size_t)c->entry_count, sizeof *c->entries, by_name);
}

static const safetensors *shard_file(checkpoint *c, int i)
{
    shard *s = &c->shards[i];
    if (!s->file) s->file = safetensors_open(c->a, arena_printf(c->a, "%s%s", c->folder, s->name));
    return s->file;
}

/* ---- opening */
/* lstat: a dangling link counts, so that opening it reports why it cannot be read. */
static bool exists(const char *path)
{
    struct stat s;
    return lstat(path, &s) == 0;
}

const char *checkpoint_in_folder(arena *a, const char *folder, const char **pickle)
{
    static const char *const usual[] = {"model.safetensors", "model.safetensors.index.json"};
    const char *first = NULL;
    int count = 0;
    *pickle = NULL;
    for (int i = 0; i < 2; i++)
        if (exists(arena_printf(a, "%s/%s", folder, usual[i]))) return usual[i];
    DIR *d = opendir(folder);
    if (!d) bad(a, folder, "cannot open: %s", strerror(errno));
    for (const struct dirent *e; (e = readdir(d));) {
        if (is_pickle(e->d_name)) *pickle = arena_strdup(a, e->d_name);
        if (!ends_in(e->d_name, ".safetensors")) continue;
        if (!first || strcmp(e->d_name, first) < 0) first = arena_strdup(a, e->d_name);
        count++;
    }
    closedir(d);
    if (count > 1)
        bad(a, folder, "has %d .safetensors files and no model.safetensors.index.json that says which tensor is in which; name the file "
                       "that has the layer's, such as %s/%s", count, folder, first);
    return first;
}

checkpoint *checkpoint_open(arena *a, const char *path)
{
    struct stat s;
    checkpoint *c = arena_alloc(a, sizeof *c);
    *c = (checkpoint){.a = a, .path = arena_strdup(a, path), .folder = ""};
    if (stat(path, &s) == 0 && S_ISDIR(s.st_mode)) {
        const char *pickle, *name = checkpoint_in_folder(a, path, &pickle);
        if (!name && pickle) refuse_pickle(a, path, pickle);
        if (!name) bad(a, path, "is a folder without a .safetensors file");
        c->path = arena_printf(a, "%s%s%s", path, ends_in(path, "/") ? "" : "/", name);
    }
    if (is_pickle(c->path)) refuse_pickle(a, c->path, "this");
    if (ends_in(c->path, ".json")) return read_index(c), c;
    c->shards = arena_more(a, c->shards, 0, &c->shard_room, sizeof *c->shards);
    c->shards[c->shard_count++] = (shard){c->path, safetensors_open(a, c->path)};
    return c;
}

/* ---- finding */
static const entry *find_entry(const checkpoint *c, const char *name)
{
    const entry key = {.name = name};
    return c->entry_count ? bsearch(&key, c->entries, (size_t)c->entry_count, sizeof key, by_name) : NULL;
}

/* The file that has the tensor, according to the index if there is one; NULL: none. */
static const safetensors *file_of(checkpoint *c, const char *name)
{
    if (!c->indexed) return safetensors_find(c->shards[0].file, name) ? c->shards[0].file : NULL;
    const entry *e = find_entry(c, name);
    return e ? shard_file(c, e->shard) : NULL;
}

bool checkpoint_has(const checkpoint *c, const char *name)
{
    return c->indexed ? find_entry(c, name) != NULL : safetensors_find(c->shards[0].file, name) != NULL;
}

const char *checkpoint_name_at(const checkpoint *c, size_t index)
{
    if (c->indexed) return index < (size_t)c->entry_count ? c->entries[index].name : NULL;
    const safetensors_tensor *t = safetensors_at(c->shards[0].file, index);
    return t ? t->name : NULL;
}

const char *layer_prefix(arena *a, layer_place place)
{
    static const char mark[] = "{layer}";
    const char *at = place.prefix ? strstr(place.prefix, mark) : NULL;
    if (place.layer >= 0 && !at)
        bail(a, code_usage, (position){0}, "--layer: the spec has no prefix: with {layer} in it, so its params are of one layer already");
    if (!at || place.layer < 0) return at ? NULL : place.prefix;
    return arena_printf(a, "%.*s%lld%s", (int)(at - place.prefix), place.prefix, place.layer, at + strlen(mark));
}

static _Noreturn void refuse_missing(checkpoint *c, const char *name, layer_place place)
{
    enum { most = 20000 }; /* bounds the time on a hostile file */
    const char **names = arena_alloc(c->a, most * sizeof *names);
    size_t count = 0;
    while (count < most && (names[count] = checkpoint_name_at(c, count))) count++;
    const char *there = model_tensor_like(name, names, count), *near = nearest_name(name, names, count);
    bad(c->a, c->path, "has no tensor '%s'%s", name,
        there ? model_tensor_hint(c->a, name, there, place.prefix, place.layer) : nearest_hint(c->a, near));
}

/* The file that holds a value, and the prefixes that its name may have there. */
typedef struct value_place {
    const safetensors *file;
    const char **prefixes;
    size_t count;
} value_place;

/* Tries v->from before v->name, and for each the layer's prefix before the others. */
static value_place find_value(checkpoint *c, const ir_value *v, layer_place place, const char *const *prefixes, size_t prefix_count)
{
    const char *const names[] = {v->from, v->name};
    value_place found = {.prefixes = arena_alloc(c->a, (prefix_count + 1) * sizeof *found.prefixes)};
    const char *own = layer_prefix(c->a, place);
    if (own) found.prefixes[found.count++] = own;
    for (size_t i = 0; i < prefix_count; i++) found.prefixes[found.count++] = prefixes[i];
    for (int n = 0; n < 2; n++)
        for (size_t i = 0; names[n] && i < found.count; i++)
            if ((found.file = file_of(c, arena_printf(c->a, "%s%s", found.prefixes[i], names[n])))) return found;
    refuse_missing(c, v->from ? v->from : v->name, place);
}

void checkpoint_read_value(checkpoint *c, const ir_value *v, const dim_table *dims, layer_place place, const char *const *prefixes,
                           size_t prefix_count, double *out)
{
    const value_place p = find_value(c, v, place, prefixes, prefix_count);
    safetensors_read_value(p.file, v, dims, p.prefixes, p.count, true, out);
}

void checkpoint_put_value(checkpoint *c, const ir_value *v, const dim_table *dims, layer_place place, const char *const *prefixes,
                          size_t prefix_count, void *out)
{
    const value_place p = find_value(c, v, place, prefixes, prefix_count);
    safetensors_put_value(p.file, v, dims, p.prefixes, p.count, out);
}

const safetensors_tensor *checkpoint_tensor(checkpoint *c, const char *name, const safetensors **file)
{
    *file = file_of(c, name);
    if (!*file) refuse_missing(c, name, (layer_place){NULL, -1});
    return safetensors_need(*file, name);
}
