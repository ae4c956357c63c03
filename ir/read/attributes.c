/* In: the map of an op and the ATTR table of ir/op.def. Out: the op's attributes, with the defaults that need no
 * shapes. Refuses: missing and unknown keys, wrong types, values that make no sense for any shape. */
#include "ir/read/graph.h"
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
    bool layer_eps = strcmp(info->key, "eps") == 0 && info->op != op_l2norm; /* 0 is what some models use */
    if (!layer_eps) return read_positive(r, node, what, out);
    if (!graph_real(r, node, what, out)) return false;
    if (*out >= 0) return true;
    complain(r->a, node->at, "%s: %.40s is negative", what, node->text);
    return false;
}

/* {type: linear, factor: f} or {type: llama3, factor, low_freq, high_freq, original} */
static bool read_scaling(graph_reader *r, const spec_node *node, const char *what, rope_scaling *out)
{
    static const char *const types[] = {"linear", "llama3"};
    static const char *const keys[] = {"type", "factor", "low_freq", "high_freq", "original"};
    double *const fields[] = {NULL, &out->factor, &out->low_freq, &out->high_freq, &out->original};
    int type;
    if (!graph_check_map(r, node, what)) return false;
    const spec_node *kind = spec_find(node, "type");
    if (!kind) complain(r->a, node->at, "%s: type: is missing (linear or llama3)", what);
    if (!kind || !read_word(r, kind, arena_printf(r->a, "%s: type", what), types, &type)) return false;
    out->kind = type == 0 ? scaling_linear : scaling_llama3;
    int before = arena_complaints(r->a), count = type == 0 ? 2 : 5;
    graph_check_keys(r, node, keys, (size_t)count, arena_printf(r->a, "%s of type %s", what, types[type]));
    for (int i = 1; i < count; i++) {
        const spec_node *item = spec_find(node, keys[i]);
        if (!item)
            complain(r->a, node->at, "%s: %s: is missing, which type %s needs", what, keys[i], types[type]);
        else
            read_positive(r, item, arena_printf(r->a, "%s: %s", what, keys[i]), fields[i]);
    }
    if (arena_complaints(r->a) > before) return false;
    if (type == 0 || out->low_freq < out->high_freq) return true;
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
        if (node) d->op->stated |= 1u << i;
        if (node && !read_attribute(d, node, info)) d->broken = true;
        if (node || !info->required) continue;
        complain(d->r->a, d->op->at, "%s: %s: is missing (%s)", d->name, info->key, info->help);
        d->broken = d->r->lost = true;
    }
    graph_check_op_keys(d, keys, n);
}
