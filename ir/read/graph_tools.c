/* In: nodes of a spec. Out: sizes, numbers, words and texts, read the same way by all parts of the reader.
 * Refuses: wrong kinds of nodes, unknown keys, bad names, sizes that are not static or out of range, numbers that a
 * float cannot hold. */
#include "ir/read/graph.h"
#include "ir/base/number.h"
#include "ir/graph/attribute_table.h"
#include <float.h>
#include <limits.h>
#include <math.h>
#include <string.h>

position graph_attribute_at(const op_draft *d, const char *key)
{
    const spec_node *node = spec_find(d->node, key);
    return node ? node->at : d->op->at;
}

bool graph_check_map(graph_reader *r, const spec_node *node, const char *what)
{
    if (node->kind == spec_map) return true;
    complain(r->a, node->at, "%s: must be a map of \"name: value\"", what);
    r->lost = true;
    return false;
}

const char *graph_hint(graph_reader *r, const char *word, const char *const *names, size_t n)
{
    const char *near = nearest_name(word, names, n);
    return near ? arena_printf(r->a, "; did you mean %s?", near) : "";
}

static bool check_keys(graph_reader *r, const spec_node *map, const char *const *keys, size_t n, const char *what, const op_draft *d)
{
    bool misspelt = false;
    text list = {.a = r->a};
    for (size_t i = 0; i < n; i++) text_printf(&list, "%s%s", i ? ", " : "", keys[i]);
    for (int i = 0; i < map->count; i++) {
        const char *key = map->keys[i]->text;
        bool known = false;
        for (size_t k = 0; k < n; k++) known |= strcmp(key, keys[k]) == 0;
        if (known) continue;
        const char *called = d ? attribute_called(d->op->kind, key) : NULL;
        const char *hint = called ? arena_printf(r->a, "; did you mean %s?", called) : graph_hint(r, key, keys, n);
        misspelt |= hint[0] != 0;
        if (!hint[0]) hint = arena_printf(r->a, "; it takes %s", list.data);
        complain(r->a, map->keys[i]->at, "%s takes no key \"%.40s\"%s", what, key, hint);
    }
    return misspelt;
}

bool graph_check_keys(graph_reader *r, const spec_node *map, const char *const *keys, size_t n, const char *what)
{
    return check_keys(r, map, keys, n, what, NULL);
}

bool graph_check_op_keys(const op_draft *d, const char *const *keys, size_t n)
{
    return check_keys(d->r, d->node, keys, n, d->name, d);
}

bool graph_check_name(graph_reader *r, const spec_node *node, const char *what)
{
    if (node->kind == spec_scalar && name_is_plain(node->text)) return true;
    if (node->kind == spec_scalar)
        complain(r->a, node->at,
                 "\"%.40s\" cannot name %s: a name has letters, digits and _, no digit first, at most %d of them",
                 node->text, what, most_name);
    else
        complain(r->a, node->at, "the name of %s must be a word, not a %s", what,
                 node->kind == spec_list ? "list" : "map");
    return false;
}

bool graph_next_name(const char **s, char *name)
{
    static const char first[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";
    while (**s && !strchr(first, **s)) (*s)++;
    if (!**s) return false;
    size_t n = strspn(*s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");
    size_t kept = n > most_name ? most_name : n;
    memcpy(name, *s, kept);
    name[kept] = 0;
    *s += n;
    return true;
}

/* Marks the dims that the expression names as used. False if one of them is broken, or unknown and reported already: the caller then
 * reports nothing more. */
static bool names_are_sound(graph_reader *r, const char *expression)
{
    char name[most_name + 1];
    bool sound = true;
    for (const char *s = expression; graph_next_name(&s, name);) {
        dim *d = dim_find(&r->p->dims, name);
        if (d) d->used = true;
        if (d ? r->dim_broken[d - r->p->dims.dims] : r->dims_lost || names_find(&r->unknown_dims, name)) sound = false;
    }
    return sound;
}

/* Enters the unknown dims of an expression, so that each is reported once, and marks the dims that were probably meant as used. */
static void remember_unknown(graph_reader *r, const char *expression)
{
    char name[most_name + 1];
    const char *known[max_dims];
    for (int i = 0; i < r->p->dims.count; i++) known[i] = r->p->dims.dims[i].name;
    for (const char *s = expression; graph_next_name(&s, name);) {
        if (dim_find(&r->p->dims, name)) continue;
        const char *near = nearest_name(name, known, (size_t)r->p->dims.count);
        if (near)
            dim_find(&r->p->dims, near)->used = true;
        else
            r->lost = true;
        names_add(&r->unknown_dims, arena_strdup(r->a, name), r);
    }
}

bool graph_extent(graph_reader *r, const spec_node *node, const char *what, extent *out)
{
    *out = extent_number(1);
    if (node->kind != spec_scalar || !node->text[0]) {
        complain(r->a, node->at, "%s: %s, such as 64, H*hd or (H+2*KV)*hd", what,
                 node->kind == spec_scalar ? "a size is missing here" : "expected one size");
        r->lost = true;
        return false;
    }
    if (!names_are_sound(r, node->text)) return false;
    int before = arena_complaints(r->a);
    *out = extent_parse(r->a, &r->p->dims, node->text, node->text_at);
    if (arena_complaints(r->a) == before) return true;
    remember_unknown(r, node->text);
    return false;
}

bool graph_static(graph_reader *r, const spec_node *node, const char *what, long long *out)
{
    extent e;
    if (!graph_extent(r, node, what, &e)) return false;
    if (!extent_is_number(&e, out)) {
        complain(r->a, node->at, "%s: %s is dynamic; this size must be known when the plan is made", what,
                 graph_extent_text(r, &e));
        return false;
    }
    if (*out >= 1 && *out <= most_number) return true;
    long long literal;
    if (integer_parse(node->text, &literal))
        complain(r->a, node->at, "%s: %lld is out of range, which is 1 to %d", what, *out, most_number);
    else
        complain(r->a, node->at, "%s: %.40s is %lld; it must be from 1 to %d", what, node->text, *out, most_number);
    return false;
}

bool graph_real(graph_reader *r, const spec_node *node, const char *what, double *out)
{
    if (node->kind != spec_scalar || node->quoted || !number_parse(node->text, out)) {
        complain(r->a, node->at, "%s: \"%.40s\" is no finite number, such as 0.5 or 1.0e-5", what,
                 node->kind == spec_scalar ? node->text : "");
        return false;
    }
    if (fabs(*out) <= FLT_MAX && (*out == 0 || (float)*out != 0)) return true;
    complain(r->a, node->at, "%s: %.40s is too %s for a 32-bit float", what, node->text,
             fabs(*out) > 1 ? "large" : "small");
    return false;
}

bool graph_bool(graph_reader *r, const spec_node *node, const char *what, bool *out)
{
    *out = node->kind == spec_scalar && strcmp(node->text, "true") == 0;
    if (*out || (node->kind == spec_scalar && strcmp(node->text, "false") == 0)) return true;
    complain(r->a, node->at, "%s: must be true or false, not \"%.40s\"", what,
             node->kind == spec_scalar ? node->text : "");
    return false;
}

bool graph_dtype(graph_reader *r, const spec_node *node, const char *what, dtype *out)
{
    if (node->kind == spec_scalar && dtype_parse(node->text, out)) return true;
    const char *word = node->kind == spec_scalar ? node->text : "", *near = dtype_hint(word);
    complain(r->a, node->at, "%s: \"%.40s\" is no dtype; there are %s%s%s%s", what, word, dtype_names(r->a, false, ", ", " and "),
             near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
    return false;
}

const char *graph_extent_text(graph_reader *r, const extent *e)
{
    text t = {.a = r->a};
    extent_print(&t, e, &r->p->dims);
    return t.data;
}

const char *graph_shape_text(graph_reader *r, const ir_value *v)
{
    text t = {.a = r->a};
    text_append(&t, "[", 1);
    for (int i = 0; i < v->rank; i++) {
        if (i) text_append(&t, ", ", 2);
        extent_print(&t, &v->shape[i], &r->p->dims);
    }
    text_append(&t, "]", 1);
    return t.data;
}

long long graph_lowest(const extent *e, const dim_table *dims)
{
    dim_table corner = *dims;
    long long lowest = LLONG_MAX;
    for (int bits = 0; bits < 1 << dims->dynamic_count; bits++) {
        for (int i = 0; i < corner.count; i++)
            if (corner.dims[i].dynamic)
                corner.dims[i].value = bits >> corner.dims[i].slot & 1 ? corner.dims[i].high : corner.dims[i].low;
        long long value = extent_value(e, &corner);
        if (value < lowest) lowest = value;
    }
    return lowest;
}
