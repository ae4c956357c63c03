/* Contract: ir/graph/layer_kinds.h. */
#include "ir/graph/layer_kinds.h"
#include "ir/base/names.h"
#include "ir/graph/fields.h"
#include "ir/graph/scaling.h"
#include <string.h>

/* ---- the numbers of a kind */
bool kinds_may_differ(op_kind kind, const char *key)
{
    static const struct {
        op_kind kind;
        const char *key;
    } free[] = {{op_rope, "theta"}, {op_rope, "scaling"}, {op_rope, "attention_factor"}, {op_attention, "window"}};
    if (kind == op_attention_partial) kind = op_attention;
    for (size_t i = 0; i < sizeof free / sizeof *free; i++)
        if (free[i].kind == kind && strcmp(free[i].key, key) == 0) return true;
    return false;
}

static const kind_numbers *numbers_of(const layer_kinds *k, const ir_op *op, int kind)
{
    const op_kind as = op->kind == op_attention_partial ? op_attention : op->kind;
    if (as != op_rope && as != op_attention) return NULL;
    for (int i = 0; k && i < k->list_count; i++)
        if (k->list[i].origin == op->origin && k->list[i].op == as && k->list[i].kind == kind) return &k->list[i];
    return NULL;
}

int kinds_count(const ir_graph *p) { return p->kinds ? p->kinds->count : 1; }

const ir_attributes *kinds_attributes(const ir_graph *p, const ir_op *op, int kind)
{
    const kind_numbers *n = numbers_of(p->kinds, op, kind);
    return n ? &n->attributes : &op->attributes;
}

static void set_numbers(ir_attributes *to, const ir_attributes *from)
{
    to->theta = from->theta, to->scaling = from->scaling, to->attention_factor = from->attention_factor;
    to->window = from->window;
}

bool kinds_hide_keys(const ir_graph *p, const ir_op *op)
{
    bool some = false;
    for (int k = 0; k < kinds_count(p); k++) some |= kinds_attributes(p, op, k)->window != 0;
    return some;
}

static bool has_too_many_keys(const ir_graph *p, const ir_op *op)
{
    return extent_high(value_tokens(op->inputs[1]), &p->dims) > kinds_no_window;
}

static const char *too_many_keys(arena *a, const ir_op *op)
{
    return arena_printf(a, "attention %s has more than %d keys", op->outputs[0]->name, kinds_no_window);
}

const char *kinds_windows_wrong(arena *a, const ir_graph *p, const ir_op *op)
{
    if (!p->kinds || !kinds_hide_keys(p, op)) return NULL;
    if (!op->attributes.window) return "this op has no window, but it has one in some kind of layers";
    if (has_too_many_keys(p, op)) return too_many_keys(a, op);
    for (int k = 0; k < kinds_count(p); k++) {
        const long long own = kinds_attributes(p, op, k)->window, window = own ? own : kinds_no_window;
        if (window > op->attributes.window)
            return arena_printf(a, "this op's window must be the longest of all kinds of layers; that of kind %d is %lld", k, window);
    }
    return NULL;
}

ir_attributes *kinds_take(arena *a, const ir_graph *p, ir_op *const *ops, int op_count, int kind)
{
    ir_attributes *before = arena_alloc(a, ((size_t)op_count + 1) * sizeof *before);
    for (int i = 0; i < op_count; i++) {
        const kind_numbers *n = numbers_of(p->kinds, ops[i], kind);
        before[i] = ops[i]->attributes;
        if (n) set_numbers(&ops[i]->attributes, &n->attributes);
    }
    return before;
}

void kinds_put_back(ir_op *const *ops, int op_count, const ir_attributes *before)
{
    for (int i = 0; i < op_count; i++) ops[i]->attributes = before[i];
}

/* ---- comparing two kinds */
typedef struct pair {
    arena *a;
    const ir_graph *p, *other;
    const char *name; /* of the other kind's spec */
    position at;      /* in the spec of `p`: where they differ */
} pair;

static bool same_value(const ir_value *x, const ir_value *y)
{
    if (!x || !y) return x == y;
    if (x->kind == value_constant && y->kind == value_constant) return x->constant == y->constant && x->type == y->type;
    return x->kind == y->kind && strcmp(x->name, y->name) == 0;
}

static bool same_field(const attribute_field *f, const ir_attributes *s, const ir_attributes *t)
{
    const void *x = (const char *)s + f->offset, *y = (const char *)t + f->offset;
    switch (f->type) {
    case field_int: return *(const long long *)x == *(const long long *)y;
    case field_float: return *(const double *)x == *(const double *)y;
    case field_bool: return *(const bool *)x == *(const bool *)y;
    case field_dtype: return *(const dtype *)x == *(const dtype *)y;
    case field_pairing: return *(const rope_pairing *)x == *(const rope_pairing *)y;
    case field_layout: return *(const weight_layout *)x == *(const weight_layout *)y;
    case field_value: return same_value(*(ir_value *const *)x, *(ir_value *const *)y);
    case field_numbers: return numbers_same(x, y);
    case field_scaling: return scaling_same(x, y);
    }
    return false;
}

static const char *op_text(const pair *j, const ir_op *op)
{
    return arena_printf(j->a, "%s %s", op_table[op->kind].name, op->outputs[0]->name);
}

/* Each of these returns what differs, or NULL, and sets j->at. */
static const char *dims_difference(pair *j)
{
    const dim_table *x = &j->p->dims, *y = &j->other->dims;
    if (x->count != y->count) return arena_printf(j->a, "%s has other dims", j->name);
    for (int i = 0; i < x->count; i++) {
        const dim *d = &x->dims[i], *e = &y->dims[i];
        const bool same = strcmp(d->name, e->name) == 0 && d->value == e->value && d->dynamic == e->dynamic &&
                          (!d->dynamic || (d->low == e->low && d->high == e->high));
        j->at = d->at;
        if (!same) return arena_printf(j->a, "dim %s is not the same in %s", d->name, j->name);
    }
    return NULL;
}

static bool same_range(const ir_value *x, const ir_value *y)
{
    if (!x->has_range || !y->has_range) return x->has_range == y->has_range;
    return extent_equal(&x->range_low, &y->range_low) && extent_equal(&x->range_high, &y->range_high);
}

static const char *value_difference(const ir_value *x, const ir_value *y)
{
    if (!y) return "does not exist";
    if (x->kind != y->kind) return "is another kind of value";
    if (x->type != y->type) return "has another dtype";
    if (!value_same_shape(x, y)) return "has another shape";
    if (x->root_stride != y->root_stride || !x->step != !y->step) return "has another row stride";
    if (!names_equal(x->output, y->output)) return "is not the same output";
    return same_range(x, y) ? NULL : "has another range";
}

static const char *values_difference(pair *j)
{
    for (int i = 0; i < j->p->value_count; i++) {
        const ir_value *x = j->p->values[i];
        const char *why = x->kind == value_constant ? NULL : value_difference(x, graph_value(j->other, x->name));
        j->at = x->at;
        if (why) return arena_printf(j->a, "%s %s in %s", x->name, why, j->name);
    }
    j->at = (position){0};
    for (int i = 0; i < j->other->value_count; i++) {
        const ir_value *y = j->other->values[i];
        if (y->kind != value_constant && !graph_value(j->p, y->name))
            return arena_printf(j->a, "%s of %s does not exist in the first spec", y->name, j->name);
    }
    return NULL;
}

static const char *op_difference(const pair *j, const ir_op *x, const ir_op *y)
{
    bool same = x->kind == y->kind && x->input_count == y->input_count && x->output_count == y->output_count;
    for (int i = 0; i < x->input_count && same; i++) same = same_value(x->inputs[i], y->inputs[i]);
    for (int i = 0; i < x->output_count && same; i++) same = same_value(x->outputs[i], y->outputs[i]);
    if (!same) return arena_printf(j->a, "%s is not the same op as %s of %s", op_text(j, x), op_text(j, y), j->name);
    for (int i = 0; i < attribute_field_count; i++) {
        const attribute_field *f = &attribute_fields[i];
        if (!kinds_may_differ(x->kind, f->key) && !same_field(f, &x->attributes, &y->attributes))
            return arena_printf(j->a, "%s of %s is not the same in %s", f->key, op_text(j, x), j->name);
    }
    return NULL;
}

static const char *difference(pair *j)
{
    if (j->p->type != j->other->type) return arena_printf(j->a, "%s has another dtype", j->name);
    const char *why = dims_difference(j);
    if (!why) why = values_difference(j);
    if (!why && j->p->op_count != j->other->op_count) return arena_printf(j->a, "%s has other ops", j->name);
    for (int i = 0; i < j->p->op_count && !why; i++) {
        j->at = j->p->ops[i]->at;
        why = op_difference(j, j->p->ops[i], j->other->ops[i]);
    }
    return why;
}

bool kinds_may_share(arena *a, const ir_graph *x, const ir_graph *y) { return !difference(&(pair){a, x, y, "", {0}}); }

/* ---- joining */
static bool same_numbers(const ir_op *x, const ir_op *y)
{
    bool same = true;
    for (int i = 0; i < attribute_field_count; i++) same &= same_field(&attribute_fields[i], &x->attributes, &y->attributes);
    return same;
}

/* Adds the op's numbers in all kinds to the list, and gives it the window for which tiles are chosen. */
static void add_numbers(arena *a, const ir_graph *p, layer_kinds *k, ir_op *op, int index, const ir_graph *const *kinds)
{
    long long longest = 0;
    bool some = false;
    for (int i = 0; i < k->count; i++) {
        const ir_attributes *t = &kinds[i]->ops[index]->attributes;
        const long long window = t->window ? t->window : kinds_no_window;
        k->list[k->list_count++] = (kind_numbers){.kind = i, .origin = op->origin, .op = op->kind, .attributes = *t};
        some |= t->window != 0;
        if (window > longest) longest = window;
    }
    if (!some) return;
    if (has_too_many_keys(p, op)) bail(a, code_unsupported, op->at, "kinds of layers in one launch: %s", too_many_keys(a, op));
    op->attributes.window = longest;
}

void kinds_join(arena *a, ir_graph *p, const ir_graph *const *kinds, const char *const *names, int count)
{
    layer_kinds *k = arena_alloc(a, sizeof *k);
    *k = (layer_kinds){.count = count, .list = arena_alloc(a, ((size_t)p->op_count * (size_t)count + 1) * sizeof *k->list)};
    for (int i = 1; i < count; i++) {
        pair j = {a, p, kinds[i], names[i], {0}};
        const char *why = difference(&j);
        if (why) bail(a, code_unsupported, j.at, "kinds of layers in one launch: %s", why);
    }
    for (int n = 0; n < p->op_count; n++) {
        bool same = true;
        for (int i = 1; i < count; i++) same &= same_numbers(p->ops[n], kinds[i]->ops[n]);
        if (!same) add_numbers(a, p, k, p->ops[n], n, kinds);
    }
    p->kinds = k;
}
