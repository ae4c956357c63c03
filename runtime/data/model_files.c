/* In, out and refusals: runtime/data/model_files.h. */
#define _GNU_SOURCE
#include "runtime/data/model_files.h"
#include "ir/base/model_hint.h"
#include "runtime/system/input.h"
#include <glob.h>
#include <jansson.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { most_index_bytes = 64 << 20 };

static void release(void *json) { json_decref(json); }

/* The index's tensors and their files; NULL: it is none. */
static const json_t *read_index(arena *a, const char *path)
{
    const char *why;
    struct stat s;
    const int file = input_open(path, &why);
    if (file < 0) return NULL;
    json_t *all = fstat(file, &s) == 0 && s.st_size <= most_index_bytes ? json_loadfd(file, 0, NULL) : NULL;
    close(file);
    if (!all) return NULL;
    arena_defer(a, release, all);
    const json_t *map = json_object_get(all, "weight_map");
    return json_is_object(map) ? map : NULL;
}

static int count_files(const json_t *map)
{
    json_t *seen = json_object(), *file;
    const char *key;
    json_object_foreach((json_t *)map, key, file)
        if (json_is_string(file)) json_object_set_new(seen, json_string_value(file), json_true());
    const int count = (int)json_object_size(seen);
    json_decref(seen);
    return count;
}

static _Noreturn void refuse_index(arena *a, const char *path, const json_t *map, const char *name)
{
    const char **names = arena_alloc(a, (json_object_size(map) + 1) * sizeof *names), *key, *slash = strrchr(path, '/');
    size_t count = 0;
    json_t *file;
    json_object_foreach((json_t *)map, key, file) names[count++] = key;
    const char *there = json_object_get(map, name) ? name : model_tensor_like(name, names, count);
    const char *in = there ? json_string_value(json_object_get(map, there)) : NULL;
    const char *beside = arena_printf(a, "%.*s%s", slash ? (int)(slash - path) + 1 : 0, path, in ? in : "?");
    bail(a, code_bad_input, (position){0}, "%s", model_index_hint(a, count_files(map), name, there, beside));
}

/* A folder with one file of tensors, or an index of several. */
static void refuse_folder(arena *a, const char *path, const char *name)
{
    const char *index = arena_printf(a, "%s/model.safetensors.index.json", path);
    const json_t *map = read_index(a, index);
    glob_t found = {0};
    if (map) arena_source(a, index, NULL, 0), refuse_index(a, index, map, name);
    if (glob(arena_printf(a, "%s/*.safetensors", path), 0, NULL, &found) == 0) {
        const char *first = arena_strdup(a, found.gl_pathv[0]);
        globfree(&found);
        bail(a, code_bad_input, (position){0}, "is a folder; name the file in it that has the block's tensors, as %s", first);
    }
    bail(a, code_bad_input, (position){0}, "is a folder without a .safetensors file");
}

void model_files_refuse(arena *a, const char *path, const char *name)
{
    struct stat s;
    const char *dot = strrchr(path, '.');
    if (stat(path, &s)) return;
    if (!S_ISDIR(s.st_mode) && !(dot && strcmp(dot, ".json") == 0)) return;
    arena_source(a, path, NULL, 0);
    if (S_ISDIR(s.st_mode)) refuse_folder(a, path, name);
    const json_t *map = read_index(a, path);
    if (map) refuse_index(a, path, map, name);
    bail(a, code_bad_input, (position){0}, "is JSON, not tensors: name a .safetensors file");
}
