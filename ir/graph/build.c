/* In, out: ir/graph/build.h. */
#include "ir/graph/build.h"
#include <string.h>

void *build_grow(arena *a, void *items, int count, size_t size)
{
    bool full = count == 0 || (count >= 16 && (count & (count - 1)) == 0);
    if (!full) return items;
    void *more = arena_alloc(a, (count ? (size_t)count * 2 : 16) * size);
    if (count) memcpy(more, items, (size_t)count * size);
    return more;
}

static void *copy_array(arena *a, const void *items, int count, size_t size)
{
    size_t room = 16;
    while (room < (size_t)count) room *= 2;
    void *copy = arena_alloc(a, room * size);
    if (count) memcpy(copy, items, (size_t)count * size);
    return copy;
}

void build_add_value(builder *b, ir_value *v)
{
    ir_graph *p = b->p;
    p->values = build_grow(b->a, p->values, p->value_count, sizeof *p->values);
    v->id = p->value_count;
    p->values[p->value_count++] = v;
    names_add(&b->names, v->name, v);
}

void build_add_op(builder *b, ir_op *op)
{
    ir_graph *p = b->p;
    p->ops = build_grow(b->a, p->ops, p->op_count, sizeof *p->ops);
    p->ops[p->op_count++] = op;
    for (int i = 0; i < op->output_count; i++) op->outputs[i]->def = op;
}

static const char *free_name(builder *b, const char *name)
{
    const char *candidate = name;
    for (int n = 2; names_find(&b->names, candidate); n++)
        candidate = arena_printf(b->a, "%s_%d", name, n);
    return candidate;
}

ir_value *build_value(builder *b, const char *name, dtype type, const ir_value *like)
{
    ir_value *v = arena_alloc(b->a, sizeof *v);
    v->name = free_name(b, name);
    v->kind = value_result;
    v->type = type;
    v->rank = like->rank;
    memcpy(v->shape, like->shape, sizeof v->shape);
    v->at = like->at;
    build_add_value(b, v);
    return v;
}

ir_value *build_number(builder *b, double number, position at)
{
    ir_value *v = arena_alloc(b->a, sizeof *v);
    v->name = free_name(b, arena_printf(b->a, "number.%d", b->p->value_count));
    v->kind = value_constant;
    v->type = dtype_f32;
    v->constant = number;
    v->at = at;
    build_add_value(b, v);
    return v;
}

ir_op *build_op(builder *b, op_kind kind, const ir_op *from, ir_value *out, int inputs, ...)
{
    ir_op *op = arena_alloc(b->a, sizeof *op);
    op->kind = kind;
    op->at = from->at;
    op->origin = from->origin;
    op->input_count = inputs;
    op->inputs = arena_alloc(b->a, (size_t)inputs * sizeof *op->inputs);
    va_list list;
    va_start(list, inputs);
    for (int i = 0; i < inputs; i++) op->inputs[i] = va_arg(list, ir_value *);
    va_end(list);
    op->output_count = 1;
    op->outputs = arena_alloc(b->a, sizeof *op->outputs);
    op->outputs[0] = out;
    out->def = op;
    return op;
}

void op_map_operands(ir_op *op, ir_value *(*map)(void *, ir_value *), void *argument)
{
    ir_attributes *t = &op->attributes;
    ir_value **more[] = {&t->lengths, &t->first, &t->bias, &t->at, &t->state, &t->fold, &t->continued};
    for (int i = 0; i < op->input_count; i++) op->inputs[i] = map(argument, op->inputs[i]);
    for (int i = 0; i < 7; i++)
        if (*more[i]) *more[i] = map(argument, *more[i]);
}

static ir_value *by_id(void *values, ir_value *v)
{
    return ((ir_value **)values)[v->id];
}

static ir_op *copy_op(builder *b, const ir_op *op)
{
    ir_op *copy = arena_alloc(b->a, sizeof *copy);
    *copy = *op;
    copy->inputs = copy_array(b->a, op->inputs, op->input_count, sizeof *op->inputs);
    copy->outputs = copy_array(b->a, op->outputs, op->output_count, sizeof *op->outputs);
    op_map_operands(copy, by_id, b->p->values);
    for (int i = 0; i < op->output_count; i++) copy->outputs[i] = b->p->values[op->outputs[i]->id];
    return copy;
}

builder build_copy(arena *a, const ir_graph *p, bool with_ops)
{
    builder b = {.a = a, .p = arena_alloc(a, sizeof *b.p), .names = {.a = a}};
    *b.p = *p;
    b.p->index = NULL, b.p->kernels = NULL, b.p->notes = NULL, b.p->ops = NULL, b.p->values = NULL;
    b.p->kernel_count = b.p->note_count = b.p->op_count = b.p->value_count = 0;
    for (int i = 0; i < p->value_count; i++) {
        ir_value *v = arena_alloc(a, sizeof *v);
        *v = *p->values[i];
        build_add_value(&b, v);
    }
    for (int i = 0; i < p->value_count; i++) {
        b.p->values[i]->def = NULL;
        if (p->values[i]->root) b.p->values[i]->root = b.p->values[p->values[i]->root->id];
    }
    for (int i = 0; with_ops && i < p->op_count; i++) build_add_op(&b, copy_op(&b, p->ops[i]));
    return b;
}

bool value_is_scalar(const ir_value *v)
{
    long long n;
    for (int i = 0; i < v->rank; i++)
        if (!extent_is_number(&v->shape[i], &n) || n != 1) return false;
    return true;
}

bool value_is_vector(arena *a, const ir_value *v, long long columns)
{
    extent rows = value_rows(a, v);
    long long n;
    return extent_is_number(&rows, &n) && n == 1 && value_columns(v) == columns;
}

void build_list_ops(builder *b)
{
    ir_graph *p = b->p;
    int count = 0;
    for (int k = 0; k < p->kernel_count; k++)
        for (int i = 0; i < p->kernels[k]->phase_count; i++) count += p->kernels[k]->phases[i]->op_count;
    p->ops = arena_alloc(b->a, ((size_t)count + 1) * sizeof *p->ops);
    p->op_count = 0;
    for (int k = 0; k < p->kernel_count; k++)
        for (int i = 0; i < p->kernels[k]->phase_count; i++) {
            const ir_phase *phase = p->kernels[k]->phases[i];
            for (int n = 0; n < phase->op_count; n++) p->ops[p->op_count++] = phase->ops[n];
        }
}
