/* Contract: gen/plan/stack.h. */
#include "gen/plan/stack.h"

#define STACK "a stack of layers: "

static const ir_value *only_output(arena *a, const ir_graph *p)
{
    const ir_value *out = NULL;
    for (int i = 0; i < p->value_count; i++) {
        if (!p->values[i]->output) continue;
        if (out)
            bail(a, code_unsupported, p->values[i]->at, STACK "the block has outputs %s and %s; the next layer takes only one", out->output,
                 p->values[i]->output);
        out = p->values[i];
    }
    if (!out) bail(a, code_unsupported, (position){0}, STACK "the block has no output");
    if (out->root || out->kind != value_result)
        bail(a, code_unsupported, out->at, STACK "output %s is no separate tensor in memory", out->output);
    return out;
}

static const ir_value *input_like(arena *a, const ir_graph *p, const ir_value *out)
{
    const ir_value *in = NULL;
    for (int i = 0; i < p->value_count; i++) {
        const ir_value *v = p->values[i];
        if (v->kind != value_input || v->type != out->type || !value_same_shape(v, out)) continue;
        if (in)
            bail(a, code_unsupported, v->at,
                 STACK "inputs %s and %s both have the shape and dtype of output %s, which the next layer takes", in->name, v->name,
                 out->output);
        in = v;
    }
    if (!in)
        bail(a, code_unsupported, out->at, STACK "no input has the shape and dtype of output %s, which the next layer takes", out->output);
    return in;
}

stack_values stack_find(arena *a, const ir_graph *p)
{
    const ir_value *out = only_output(a, p), *in = input_like(a, p, out);
    const ir_value *const both[] = {in, out};
    for (int i = 0; i < 2; i++)
        if (value_stride(both[i]) != value_columns(both[i]))
            bail(a, code_unsupported, both[i]->at, STACK "%s has strided rows; tensors between layers are dense", both[i]->name);
    for (int i = 0; i < p->value_count; i++) {
        const ir_value *v = p->values[i];
        long long number;
        for (int k = 0; v->kind == value_param && k < v->rank; k++)
            if (!extent_is_number(&v->shape[k], &number))
                bail(a, code_unsupported, v->at, STACK "param %s has a dynamic size; a layer's params are fixed", v->name);
    }
    return (stack_values){in, out, {-1, -1}};
}

void stack_check(arena *a, const ir_graph *p, const tuning *t)
{
    if (t && t->trace) bail(a, code_unsupported, (position){0}, STACK "stacks cannot be traced; trace a single layer");
    if (p->kernel_count != 1 || p->kernels[0]->phase_count < 2)
        bail(a, code_unsupported, (position){0}, STACK "the block is a single phase; a layer of a stack has at least two");
}

void stack_add_turns(arena *a, plan *p, const launch *l)
{
    const ir_value *v = p->stack.out;
    const long long floats = (value_columns(v) * dtype_size(v->type) + 3) / 4;
    const extent all = extent_multiply(a, v->at, value_rows(a, v), extent_number(floats));
    for (int i = 0; i < 2; i++) {
        p->scratches[p->scratch_count] = (scratch){.name = arena_printf(a, "%s.turn_%d", l->kernel->name, i), .floats = all};
        p->stack.turns[i] = p->scratch_count++;
    }
}
