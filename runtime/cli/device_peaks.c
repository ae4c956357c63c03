/* In: YAML: name, match, bandwidth, cache, flops by dtype, others. Out: peaks. Refuses unknown keys, what is no positive number, and a
 * device that the file is not for. */
#include "runtime/cli/device_peaks.h"
#include "ir/read/yaml.h"
#include "runtime/cli/cli.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double number_of(arena *a, const spec_node *n)
{
    char *end;
    errno = 0;
    const double x = n->kind == spec_scalar ? strtod(n->text, &end) : 0;
    if (n->kind != spec_scalar || end == n->text || *end || !isfinite(x) || x <= 0)
        bail(a, code_bad_input, n->at, "a positive number is wanted here");
    return x;
}

static const char *text_of(arena *a, const spec_node *n)
{
    if (n->kind != spec_scalar) bail(a, code_bad_input, n->at, "a text is wanted here");
    return n->text;
}

static void read_products(arena *a, const spec_node *map, peaks *p)
{
    if (map->kind != spec_map) bail(a, code_bad_input, map->at, "flops: a map of dtypes is wanted here: {bf16: 989e12}");
    for (int i = 0; i < map->count; i++) {
        dtype t;
        if (!dtype_parse(map->keys[i]->text, &t) || t > dtype_bf16)
            bail(a, code_bad_input, map->keys[i]->at, "flops: '%s' is no dtype of products: f32, f16, bf16", map->keys[i]->text);
        p->products[t] = number_of(a, map->items[i]);
    }
}

static void read_entry(arena *a, const spec_node *key, const spec_node *value, peaks *p, const char **match)
{
    static const char *const keys[] = {"name", "match", "bandwidth", "cache", "flops", "others"};
    if (strcmp(key->text, "name") == 0) p->name = text_of(a, value);
    else if (strcmp(key->text, "match") == 0) *match = text_of(a, value);
    else if (strcmp(key->text, "bandwidth") == 0) p->bandwidth = number_of(a, value);
    else if (strcmp(key->text, "cache") == 0) p->cache = number_of(a, value);
    else if (strcmp(key->text, "others") == 0) p->others = number_of(a, value);
    else if (strcmp(key->text, "flops") == 0) read_products(a, value, p);
    else {
        const char *near = nearest_name(key->text, keys, sizeof keys / sizeof *keys);
        bail(a, code_bad_input, key->at, "unknown key '%s'%s%s%s; keys are name, match, bandwidth, cache, flops, others", key->text,
             near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    }
}

peaks *peaks_read(arena *a, const char *path, const char *label)
{
    size_t size;
    const char *text = cli_read_file(a, path, &size), *match = NULL;
    const spec_node *root = yaml_read(a, text, size, path);
    peaks *p = arena_alloc(a, sizeof *p);
    p->name = label;
    if (root->kind != spec_map) bail(a, code_bad_input, root->at, "a map of peaks is wanted here");
    for (int i = 0; i < root->count; i++) read_entry(a, root->keys[i], root->items[i], p, &match);
    if (p->bandwidth == 0) bail(a, code_bad_input, root->at, "bandwidth (bytes a second) is missing");
    if (match && !strstr(label, match))
        bail(a, code_usage, (position){0}, "%s is for a device that is called '%s'; this one is '%s'", path, match, label);
    return p;
}

double peaks_floor(const peaks *p, dtype type, const work *w, const char **limit)
{
    const double memory = (w->read + w->written) / p->bandwidth;
    const double products = p->products[type] > 0 ? w->products / p->products[type] : 0;
    const double others = p->others > 0 ? w->others / p->others : 0;
    *limit = memory >= products && memory >= others ? "memory" : products >= others ? "products" : "arithmetic";
    return fmax(memory, fmax(products, others));
}
