/* In: values, ops and graphs. Out: facts about them that several stages ask for, declared in ir/ir.h. Pure functions. */
#include "ir/ir.h"
#include <assert.h>
#include <limits.h>
#include <string.h>

const op_info op_table[op_count] = {
#define OP(name, least, most, shape, class, help) {#name, help, #shape, least, most, class_##class},
#include "ir/op.def"
};

extent value_rows(arena *a, const ir_value *v)
{
    if (v->rank < 2) return extent_number(1);
    extent rows = v->shape[0];
    for (int i = 1; i + 1 < v->rank; i++) rows = extent_multiply(a, v->at, rows, v->shape[i]);
    return rows;
}

bool row_range_makes(const row_range *range, long long rows)
{
    const long long size = range->end - range->first;
    return size > 0 && rows > 0 && (range->every ? range->end <= range->every && rows % size == 0 : rows == size);
}

bool value_same_leading(const ir_value *x, const ir_value *y, int but)
{
    if (x->rank != y->rank || x->rank < but) return false;
    for (int i = 0; i + but < x->rank; i++)
        if (!extent_equal(&x->shape[i], &y->shape[i])) return false;
    return true;
}

bool value_same_shape(const ir_value *x, const ir_value *y) { return value_same_leading(x, y, 0); }

long long value_columns(const ir_value *v)
{
    long long columns = 1;
    if (v->rank > 0) extent_is_number(&v->shape[v->rank - 1], &columns);
    return columns;
}

extent value_batches(arena *a, const ir_value *v)
{
    extent batches = extent_number(1);
    for (int i = 0; i + 2 < v->rank; i++) batches = extent_multiply(a, v->at, batches, v->shape[i]);
    return batches;
}

long long product_depth(const ir_op *product)
{
    const ir_value *x = product->inputs[0];
    long long rows = 1;
    if (!product->attributes.transpose_a) return value_columns(x);
    extent_is_number(&x->shape[x->rank - 2], &rows);
    return rows;
}

long long column_terms(const ir_op *op)
{
    long long terms = 1;
    extent_is_number(&op->inputs[0]->shape[op->attributes.axis], &terms);
    return terms;
}

long long value_stride(const ir_value *v) { return v->root_stride ? v->root_stride : value_columns(v); }

long long value_stride_at(const ir_value *v, const dim_table *dims)
{
    const dim *given = value_root(v)->step;
    const extent step = given ? extent_dim(given) : extent_number(value_stride(v));
    return extent_value(&step, dims);
}

/* Elements in 16 bytes. Row strides that callers give must be multiples of this. */
static int step_of_rows(const ir_value *v) { return 16 / (int)dtype_size(v->type); }

void value_set_step(ir_value *v, dim *d)
{
    const int step = step_of_rows(v);
    v->step = d;
    v->root_stride = ((value_columns(v) / step + 1) | 1) * step;
    if (d->step < step) d->step = step;
}

const char *value_step_fault(arena *a, const ir_value *v, const dim *d)
{
    const long long columns = value_columns(v), size = dtype_size(v->type);
    if (d->low < columns) return arena_printf(a, "%s may be %lld, less than the %lld elements of a row", d->name, d->low, columns);
    if (d->high > INT_MAX) return arena_printf(a, "%s may be %lld, more than an int holds", d->name, d->high);
    if (d->value % step_of_rows(v))
        return arena_printf(a, "%s is %lld: rows of %s are then %lld bytes apart; they must begin at multiples of 16 bytes", d->name,
                            d->value, dtype_name(v->type), d->value * size);
    return NULL;
}

long long value_count(const ir_value *v, const dim_table *dims)
{
    long long count = 1;
    for (int i = 0; i < v->rank; i++)
        if (__builtin_mul_overflow(count, extent_value(&v->shape[i], dims), &count)) return __LONG_LONG_MAX__;
    return count;
}

long long value_span(const ir_value *v, const dim_table *dims)
{
    const long long count = value_count(v, dims), columns = value_columns(v), rows = columns > 0 ? count / columns : 0;
    long long span;
    if (!v->root_stride || !rows) return count;
    if (__builtin_mul_overflow(rows - 1, value_stride_at(v, dims), &span) || __builtin_add_overflow(span, columns, &span))
        return __LONG_LONG_MAX__;
    return span;
}

const ir_value *value_root(const ir_value *v)
{
    while (v->root) v = v->root;
    return v;
}

bool value_is_cache(const ir_value *v) { return v->kind == value_state || (v->def && v->def->kind == op_kv_append); }

const extent *value_tokens(const ir_value *v) { return &v->shape[value_is_cache(v) ? cache_token : 1]; }

/* Paged caches are not supported yet: all tokens lie one stride apart. */
long long value_run_length(const ir_value *v)
{
    (void)v;
    return 0;
}

long long value_heads_in_row(const ir_value *v, long long heads) { return v->rank == 4 ? 1 : heads; }

long long value_head_size(const ir_value *v, long long heads) { return value_columns(v) / value_heads_in_row(v, heads); }

long long attention_value_size(const ir_op *op) { return value_head_size(op->inputs[2], op->attributes.kv_heads); }

bool op_is_elementwise(const ir_op *op)
{
    op_class class = op_table[op->kind].class;
    return class == class_ELEMENT || class == class_INTERNAL;
}

int op_operands(const ir_op *op, ir_value **out, int most)
{
    const ir_attributes *t = &op->attributes;
    int n = op->input_count;
    assert(n <= most); /* callers' lists have room for all: leaving an operand out would lose a dependency */
    for (int i = 0; i < n; i++) out[i] = op->inputs[i];
    if (!t->lengths && !t->first && !t->bias && !t->at && !t->state && !t->fold && !t->continued) return n;
    ir_value *const more[] = {t->lengths, t->first, t->bias, t->at, t->state, t->fold, t->continued};
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        if (!more[i]) continue;
        assert(n < most);
        out[n++] = more[i];
    }
    return n;
}

int phase_index(const ir_phase *phase, const ir_op *op)
{
    for (int i = 0; phase && op && i < phase->op_count; i++)
        if (phase->ops[i] == op) return i;
    return -1;
}

bool phase_has(const ir_phase *phase, const ir_op *op) { return phase_index(phase, op) >= 0; }

ir_phase *phase_of(const ir_graph *p, const ir_op *op)
{
    if (p->index) return p->index->maker[op->outputs[0]->id];
    for (int k = 0; k < p->kernel_count; k++)
        for (int i = 0; i < p->kernels[k]->phase_count; i++)
            if (phase_has(p->kernels[k]->phases[i], op)) return p->kernels[k]->phases[i];
    return NULL;
}

ir_value *graph_value(const ir_graph *p, const char *name)
{
    for (int i = 0; i < p->value_count; i++)
        if (strcmp(p->values[i]->name, name) == 0) return p->values[i];
    return NULL;
}

const ir_op *phase_first(const ir_phase *phase, op_class class)
{
    for (int i = 0; i < phase->op_count; i++)
        if (op_table[phase->ops[i]->kind].class == class) return phase->ops[i];
    return NULL;
}

ir_op *phase_op(const ir_phase *phase, op_kind kind)
{
    for (int i = 0; i < phase->op_count; i++)
        if (phase->ops[i]->kind == kind) return phase->ops[i];
    return NULL;
}

frame_kind kernel_frame(const ir_graph *p, const ir_kernel *k)
{
    const bool list = p->level == fusion_block && k->phase_count > 1;
    if (list) return p->stacked ? frame_stack : frame_list;
    return program_table[(*k->phases)->tile.program].frame; /* phases side by side have the same frame */
}

layer_kind phase_layer(const ir_phase *phase) { return program_table[phase->tile.program].layer; }
