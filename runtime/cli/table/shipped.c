/* In: runtime/cli/table/shipped.def and its specs, at build time. Out: the shipped tables. */
#include "runtime/cli/table/table.h"
#include "ir/base/embed.h"
#include <string.h>

#define SPEC(id, path) EMBED_FILE(tfgen_table_##id, path);
#include "runtime/cli/table/shipped.def"

static const struct {
    const char *id, *path, *begin, *end;
} specs[] = {
#define SPEC(id, path) {#id, path, tfgen_table_##id, tfgen_table_##id##_end},
#include "runtime/cli/table/shipped.def"
};

static const shipped_table tables[] = {
#define TABLE(name, title, specs, dims, sweep, grid) {name, title, specs, dims, sweep, grid},
#include "runtime/cli/table/shipped.def"
};

const shipped_table *table_shipped(const char *name)
{
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (strcmp(tables[i].name, name) == 0) return &tables[i];
    return NULL;
}

const char *const *table_names(arena *a, size_t *count)
{
    *count = sizeof tables / sizeof *tables;
    const char **list = arena_alloc(a, sizeof tables / sizeof *tables * sizeof *list);
    for (size_t i = 0; i < *count; i++) list[i] = tables[i].name;
    return list;
}

const char *table_spec(const char *identifier, size_t *size, const char **path)
{
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        if (strcmp(specs[i].id, identifier) != 0) continue;
        *size = (size_t)(specs[i].end - specs[i].begin), *path = specs[i].path;
        return specs[i].begin;
    }
    return NULL;
}
