/* In: an op's map in the spec, and the ATTR table of ir/op.def. Out: the op's attributes, with the defaults that do not depend on shapes
 * (ir/read/shape.c has the others). Refuses: missing and unknown keys, wrong types, values that are wrong for any shape. */
#include "ir/graph/scaling.h"
#include "ir/read/graph.h"
#include <math.h>
#include <string.h>

static bool read_word(graph_reader *r, const spec_node *node, const char *what, const char *const *words, int *out)
{
    const char *word = node->kind == spec_scalar ? node->text : "";
    for (*out = 0; *out < 2; ++*out)
        if (strcmp(word, words[*out]) == 0) return true;
    complain(r->a, node->at, "%s: must be %s or %s, not \"%.40s\"", what, words[0], words[1], word);
    return false;
}

static bool read_positive(graph_reader *r, const spec_node *node, const char *what, double *out)
{
    if (!graph_real(r, node, what, out)) return false;
    if (*out > 0) return true;
    complain(r->a, node->at, "%s: %.40s must be greater than 0", what, node->text);
    return false;
}

static bool read_float(graph_reader *r, const spec_node *node, const char *what, const attribute_info *info,
                       double *out)
{
    bool layer_eps = strcmp(info->key, "eps") == 0 && info->op != op_l2norm; /* may be 0, as in some models */
    if (!layer_eps) return read_positive(r, node, what, out);
    if (!graph_real(r, node, what, out)) return false;
    if (*out >= 0) return true;
    complain(r->a, node->at, "%s: %.40s is negative", what, node->text);
    return false;
}

typedef bool read_number(graph_reader *r, const spec_node *node, const char *what, double *out);

static bool read_numbers(graph_reader *r, const spec_node *node, const char *what, read_number *one, number_list *out)
{
    if (node->kind != spec_list || node->count < 1 || node->count > most_listed_numbers) {
        complain(r->a, node->at, "%s: must be a list of numbers", what);
        return false;
    }
    double *list = arena_alloc(r->a, (size_t)node->count * sizeof *list);
    bool good = true;
    for (int i = 0; i < node->count; i++) good &= one(r, node->items[i], what, &list[i]);
    *out = (number_list){list, node->count};
    return good;
}

/* An axis counted from 0, or from the end: -1 is the last. */
static bool read_axis(graph_reader *r, const spec_node *node, const char *what, double *out)
{
    if (!graph_real(r, node, what, out)) return false;
    if (*out >= -max_rank && *out < max_rank && *out == floor(*out)) return true;
    complain(r->a, node->at, "%s: %.40s is no axis: axes are 0, 1, ..., or -1 for the last, -2, ...", what, node->text);
    return false;
}

static bool read_one_axis(graph_reader *r, const spec_node *node, const char *what, long long *out)
{
    double axis;
    if (!read_axis(r, node, what, &axis)) return false;
    return *out = (long long)axis, true;
}

static rope_scaling_kind scaling_of(graph_reader *r, const spec_node *node, const char *what)
{
    const spec_node *word = spec_find(node, "type");
    const char *const *names = scaling_names + 1;
    text list = {.a = r->a};
    for (int k = 1; k < scaling_count; k++) {
        if (word && word->kind == spec_scalar && strcmp(word->text, scaling_names[k]) == 0) return (rope_scaling_kind)k;
        text_printf(&list, "%s%s", k == 1 ? "" : k + 1 == scaling_count ? " or " : ", ", scaling_names[k]);
    }
    if (!word) complain(r->a, node->at, "%s: type: is missing (%s)", what, list.data);
    else
        complain(r->a, word->at, "%s: type: must be %s, not \"%.40s\"%s", what, list.data, word->kind == spec_scalar ? word->text : "",
                 word->kind == spec_scalar ? graph_hint(r, word->text, names, scaling_count - 1) : "");
    return scaling_none;
}

static void read_scaling_number(graph_reader *r, const spec_node *node, const char *what, const scaling_number *n, rope_scaling *out)
{
    const spec_node *item = spec_find(node, n->key);
    const char *key = arena_printf(r->a, "%s: %s", what, n->key);
    double *field = scaling_at(out, n);
    bool flag;
    *field = n->otherwise;
    if (item && n->is_flag) {
        if (graph_bool(r, item, key, &flag)) *field = flag;
    } else if (item)
        read_positive(r, item, key, field);
    else if (!n->is_flag && n->otherwise == 0)
        complain(r->a, node->at, "%s: is missing, which type %s needs", key, scaling_names[n->kind]);
}

/* {type: linear, factor: f}: the numbers are those of the SCALING rows of ir/op.def. */
static bool read_scaling(graph_reader *r, const spec_node *node, const char *what, rope_scaling *out)
{
    const char *keys[16] = {"type"};
    int count = 1;
    if (!graph_check_map(r, node, what) || (out->kind = scaling_of(r, node, what)) == scaling_none) return false;
    const int before = arena_complaints(r->a);
    if (out->kind == scaling_longrope) keys[count++] = "factors";
    for (int i = 0; i < scaling_number_count; i++)
        if (scaling_numbers[i].kind == out->kind) keys[count++] = scaling_numbers[i].key;
    graph_check_keys(r, node, keys, (size_t)count, arena_printf(r->a, "%s of type %s", what, scaling_names[out->kind]));
    for (int i = 0; i < scaling_number_count; i++)
        if (scaling_numbers[i].kind == out->kind) read_scaling_number(r, node, what, &scaling_numbers[i], out);
    const spec_node *factors = spec_find(node, "factors");
    if (out->kind == scaling_longrope && !factors)
        complain(r->a, node->at, "%s: factors: is missing, which type longrope needs", what);
    number_list list = {NULL, 0};
    if (out->kind == scaling_longrope && factors)
        read_numbers(r, factors, arena_printf(r->a, "%s: factors", what), read_positive, &list);
    out->factors = list.at, out->factor_count = list.count;
    if (arena_complaints(r->a) > before) return false;
    if (out->kind != scaling_llama3 || out->low_freq < out->high_freq) return true;
    complain(r->a, node->at, "%s: low_freq must be less than high_freq", what);
    return false;
}

static bool read_list(op_draft *d, const spec_node *node, const char *what, const attribute_info *info)
{
    bool sizes = info->type == attribute_SIZES, good = true;
    int most = sizes ? most_outputs : max_rank;
    if (node->kind != spec_list || node->count < 1 || node->count > most) {
        complain(d->r->a, node->at, "%s: must be a list of 1 to %d sizes", what, most);
        return false;
    }
    d->list_node = node;
    d->list_count = node->count;
    d->list = arena_alloc(d->r->a, (size_t)node->count * sizeof *d->list);
    for (int i = 0; i < node->count; i++) {
        long long size = 1;
        bool fine = sizes ? graph_static(d->r, node->items[i], what, &size)
                          : graph_extent(d->r, node->items[i], what, &d->list[i]);
        if (sizes) d->list[i] = extent_number(size);
        good &= fine;
    }
    return good;
}

static bool read_attribute(op_draft *d, const spec_node *node, const attribute_info *info)
{
    static const char *const pairings[] = {"half", "interleaved"}, *const layouts[] = {"out_in", "in_out"};
    graph_reader *r = d->r;
    void *field = (char *)&d->op->attributes + info->offset;
    const char *what = arena_printf(r->a, "%s: %s", d->name, info->key);
    int word = 0;
    bool good = false;
    switch (info->type) {
    case attribute_INT: return graph_static(r, node, what, field);
    case attribute_FLOAT: return read_float(r, node, what, info, field);
    case attribute_BOOL: return graph_bool(r, node, what, field);
    case attribute_DTYPE: return graph_dtype(r, node, what, field);
    case attribute_SIZES:
    case attribute_SHAPE: return read_list(d, node, what, info);
    case attribute_NUMBERS: return read_numbers(r, node, what, graph_real, field);
    case attribute_AXIS: return read_one_axis(r, node, what, field);
    case attribute_AXES: return read_numbers(r, node, what, read_axis, field);
    case attribute_SCALING: return read_scaling(r, node, what, field);
    case attribute_VALUE: return (*(ir_value **)field = graph_lookup(r, node, d)) != NULL;
    case attribute_PAIRING:
        good = read_word(r, node, what, pairings, &word);
        *(rope_pairing *)field = (rope_pairing)word;
        return good;
    case attribute_LAYOUT:
        good = read_word(r, node, what, layouts, &word);
        *(weight_layout *)field = (weight_layout)word;
        return good;
    }
    return good;
}

static void set_defaults(ir_op *op)
{
    ir_attributes *t = &op->attributes;
    if (op->kind == op_rmsnorm || op->kind == op_layernorm) t->eps = 1e-5;
    if (op->kind == op_l2norm) t->eps = 1e-12;
    if (op->kind == op_rope) t->theta = 10000;
}

void attributes_read(op_draft *d)
{
    const char *keys[32] = {"out", "op", "in"};
    size_t n = 3;
    set_defaults(d->op);
    for (int i = 0; i < attribute_count; i++) {
        const attribute_info *info = &attribute_table[i];
        if (info->op != d->op->kind) continue;
        const spec_node *node = spec_find(d->node, info->key);
        keys[n++] = info->key;
        if (node) d->op->stated |= 1ull << i;
        if (node && !read_attribute(d, node, info)) d->broken = true;
        if (node || !info->required) continue;
        complain(d->r->a, d->op->at, "%s: %s: is missing (%s)", d->name, info->key, info->help);
        d->broken = d->r->lost = true;
    }
    graph_check_op_keys(d, keys, n);
}
