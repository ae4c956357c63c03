/* In: ir/dtype.def. Out: see ir/graph/dtype.h; unknown names give false or NULL. */
#include "ir/graph/dtype.h"
#include <string.h>
#include <strings.h>

#define L(layer) (1u << layer_##layer)
static const struct {
    const char *name, *c, *file;
    int bytes;
    dtype_kind kind;
    unsigned layers;
} types[] = {
#define DTYPE(name, bytes, kind, c, file, layers) {#name, c, file, bytes, kind_##kind, layers},
#include "ir/dtype.def"
};
#undef L

int dtype_size(dtype t) { return types[t].bytes; }

const char *dtype_name(dtype t) { return types[t].name; }

const char *dtype_c_name(dtype t) { return types[t].c; }

const char *dtype_file_name(dtype t) { return types[t].file; }

dtype_kind dtype_kind_of(dtype t) { return types[t].kind; }

bool dtype_is_real(dtype t) { return dtype_kind_of(t) == kind_real; }

bool dtype_multiplies(dtype t, layer_kind layer) { return types[t].layers >> layer & 1; }

bool dtype_parse(const char *name, dtype *out)
{
    for (int i = 0; i < dtype_count; i++) {
        if (strcmp(name, types[i].name) != 0) continue;
        *out = (dtype)i;
        return true;
    }
    return false;
}

bool dtype_parse_real(const char *name, dtype *out) { return dtype_parse(name, out) && dtype_is_real(*out); }

const char *dtype_hint(const char *word)
{
    static const struct {
        const char *others;
        dtype ours;
    } called[] = {
#define CALLED(others, name) {others, dtype_##name},
#include "ir/dtype.def"
    };
    const char *names[dtype_count];
    for (size_t i = 0; i < sizeof called / sizeof *called; i++)
        if (strcasecmp(word, called[i].others) == 0) return dtype_name(called[i].ours);
    for (int i = 0; i < dtype_count; i++) {
        names[i] = types[i].name;
        if (strcasecmp(word, names[i]) == 0) return names[i];
    }
    return nearest_name(word, names, dtype_count);
}

const char *dtype_names(arena *a, bool real_only, const char *between, const char *last)
{
    text t = {.a = a};
    int count = 0, done = 0;
    for (int i = 0; i < dtype_count; i++) count += !real_only || dtype_is_real((dtype)i);
    for (int i = 0; i < dtype_count; i++) {
        if (real_only && !dtype_is_real((dtype)i)) continue;
        text_printf(&t, "%s%s", done == 0 ? "" : done + 1 < count ? between : last, types[i].name);
        done++;
    }
    return t.data;
}
