/* In: a seed and an index. Out: a spec: a whole block with a few changes, or a free graph. Frequencies follow what people write: blocks
 * most often, then parts of blocks, then anything that the rules allow. */
#include "runtime/cli/random/random_draw.h"
#include <string.h>

/* ---- a free graph */
static int draw_leading(drawing *d, random_axis *shape, int rank)
{
    if (rank >= 1) shape[0] = d->batch;
    if (rank >= 2) shape[1] = d->tokens;
    for (int i = 2; i < rank; i++) shape[i] = axis_dim(d, "G", 1 + draw_below(d, 4));
    if (rank == 1 && draw_chance(d, 50)) shape[0] = d->tokens;
    return rank;
}

/* Draws an existing value: later values are more likely, unread ones most likely. */
static int draw_present(drawing *d)
{
    for (int tries = 0; tries < 40; tries++) {
        const int back = draw_below(d, 1 + draw_below(d, d->s->value_count)), v = d->s->value_count - 1 - back;
        const random_value *x = value_at(d, v);
        if (x->type == dtype_i32 || x->cache || x->kind == value_state || (x->kind == value_param && draw_chance(d, 80))) continue;
        if (use_count(d, v) == 0 || draw_chance(d, 50)) return v;
    }
    return 0;
}

/* Reshapes x to three axes, as attention needs; -1: it cannot be. */
static int three_axes(drawing *d, int x)
{
    const random_value *v = value_at(d, x);
    if (v->rank == 3 || v->rank < 2) return v->rank == 3 ? x : -1;
    random_axis all = v->shape[1], shape[3];
    if (v->rank == 2) {
        shape[0] = axis_number(1), shape[1] = v->shape[0], shape[2] = v->shape[1];
        return put_reshape(d, x, shape, 3);
    }
    for (int i = 2; i < v->rank - 1; i++)
        all = axis_write(all.value * v->shape[i].value, all.dynamic || v->shape[i].dynamic, "%s*%s", all.text, v->shape[i].text);
    shape[0] = v->shape[0], shape[1] = all, shape[2] = v->shape[v->rank - 1];
    if (all.value > 300 || strpbrk(shape[1].text, "+-/")) return -1;
    return put_reshape(d, x, shape, 3);
}

static void draw_attended(drawing *d, int x)
{
    const int q = three_axes(d, x);
    if (q < 0) return;
    const attention_shape shape = draw_heads(d, 128);
    (void)(draw_chance(d, 70) ? draw_attention(d, q, &shape) : draw_decode(d, q, &shape));
}

/* A chain of moves (views of views). */
static void draw_moves(drawing *d, int x)
{
    const int count = 1 + draw_below(d, 3);
    for (int i = 0; i < count && has_room(d); i++) x = draw_move(d, x);
    if (draw_chance(d, 50)) draw_elementwise(d, x);
}

static void draw_step(drawing *d)
{
    static const int weights[] = {26, 14, 12, 16, 20, 4, 3, 3, 3, 12};
    const int x = draw_gentle(d, draw_present(d));
    switch (draw_weighted(d, weights, 10)) {
    case 0: draw_chain(d, x, 1 + draw_below(d, 4)); break;
    case 1: draw_norm(d, x); break;
    case 2: draw_reduction(d, x); break;
    case 3: draw_product(d, x); break;
    case 4: draw_moves(d, x); break;
    case 5: draw_mlp(d, x, last_axis(d, x)); break;
    case 6: draw_attended(d, x); break;
    case 7: put_cast(d, x, (dtype)draw_below(d, 3)); break;
    case 8: draw_activation(d, x); break;
    default: draw_reuse(d, x); break;
    }
}

static void draw_free(drawing *d)
{
    static const int ranks[] = {8, 20, 45, 17, 10};
    const int inputs = 1 + draw_below(d, 2), steps = 1 + draw_below(d, 2 + draw_below(d, 8));
    d->s->kind = "free";
    for (int i = 0; i < inputs; i++) {
        random_axis shape[max_rank];
        const int rank = 1 + draw_weighted(d, ranks, 5);
        draw_leading(d, shape, rank - 1);
        shape[rank - 1] = axis_columns(d);
        make_input(d, shape, rank);
    }
    for (int i = 0; i < steps && has_room(d); i++) draw_step(d);
    if (!d->s->op_count) put_unary(d, op_tanh, 0); /* no step found operands that fit */
}

/* ---- the whole */
static random_axis dynamic_dim(drawing *d, const char *name, long long value, int percent, long long high)
{
    random_axis x = axis_dim(d, name, value);
    random_dim *m = &d->s->dims[d->s->dim_count - 1];
    if (!draw_chance(d, percent)) return x;
    m->dynamic = x.dynamic = true;
    m->low = draw_chance(d, 70) ? 1 : value;
    m->high = value > high || draw_chance(d, 10) ? value : high;
    return x;
}

static void draw_leading_dims(drawing *d)
{
    static const int tokens[] = {1, 1, 2, 3, 5, 7, 13, 15, 16, 17, 19, 31, 32, 33, 37, 47, 63, 64, 65, 67, 95, 129};
    static const int batches[] = {1, 1, 1, 2, 2, 3, 5};
    d->batch = dynamic_dim(d, "B", DRAW_OF(d, batches), 60, 64);
    d->tokens = dynamic_dim(d, "S", DRAW_OF(d, tokens), 50, 256);
}

static void draw_outputs(drawing *d)
{
    for (int i = 0; i < d->s->value_count; i++) {
        const random_value *v = value_at(d, i);
        if (v->kind != value_result || v->cache) continue;
        d->s->output[i] = use_count(d, i) == 0 || draw_chance(d, 8);
    }
}

/* The number of v's elements in 16 bytes. */
static int step_of(const drawing *d, const random_value *v)
{
    return 16 / (int)dtype_size(v->type == random_spec_type ? d->s->type : (dtype)v->type);
}

/* Gives some inputs and outputs a row stride: just the columns rounded up to 16 bytes, or more, as for columns of a wider tensor. */
static void draw_strides(drawing *d)
{
    static const int apart[] = {0, 1, 2, 5, 64};
    if (!draw_chance(d, 15)) return;
    for (int i = 0; i < d->s->value_count; i++) {
        random_value *v = value_at(d, i);
        const int step = step_of(d, v);
        if ((v->kind != value_input && !d->s->output[i]) || v->rank < 2 || !draw_chance(d, 60)) continue;
        const long long columns = v->shape[v->rank - 1].value;
        v->stride = ((columns + step - 1) / step + DRAW_OF(d, apart)) * step;
    }
}

/* The dynamic dim that names v's stride: sometimes `last`, which names another value's stride, if it fits v; else a new one. -1: there is
 * no room for a new one. */
static int stride_dim(drawing *d, const random_value *v, int last)
{
    static const int more[] = {0, 8, 64, 4096};
    const long long columns = v->shape[v->rank - 1].value;
    if (last >= 0 && d->s->dims[last].low >= columns && d->s->dims[last].value % step_of(d, v) == 0 && draw_chance(d, 50)) return last;
    int dynamic = 0;
    for (int i = 0; i < d->s->dim_count; i++) dynamic += d->s->dims[i].dynamic;
    if (dynamic == max_dynamic || d->s->dim_count == random_most_dims) return -1;
    axis_dim(d, "X", v->stride);
    random_dim *x = &d->s->dims[d->s->dim_count - 1];
    x->dynamic = true, x->low = columns, x->high = v->stride + DRAW_OF(d, more);
    return d->s->dim_count - 1;
}

/* Makes some of the strides dynamic dims, which each call sets. */
static void draw_call_strides(drawing *d)
{
    int last = -1;
    for (int i = 0; i < d->s->value_count; i++) {
        random_value *v = value_at(d, i);
        if (!v->stride || v->shape[v->rank - 1].dynamic || !draw_chance(d, 40)) continue;
        const int x = stride_dim(d, v, last);
        if (x < 0) return;
        v->stride_dim = x + 1, v->stride = d->s->dims[x].value, last = x;
    }
}

random_spec *random_spec_draw(arena *a, uint64_t seed, uint64_t index, int type)
{
    drawing d = {.s = arena_alloc(a, sizeof *d.s), .seed = seed, .index = index, .most_elements = 60000};
    *d.s = (random_spec){.kind = "block"};
    const int drawn = draw_below(&d, 3);
    d.s->type = type == random_spec_type ? (dtype)drawn : (dtype)type;
    draw_leading_dims(&d);
    if (draw_chance(&d, 40)) draw_block(&d);
    else draw_free(&d);
    draw_outputs(&d);
    random_spec_settle(d.s);
    if (draw_chance(&d, 25)) random_spec_rename(d.s, seed ^ index << 20);
    draw_strides(&d); /* last, so that a seed draws the same ops as before strides existed */
    draw_call_strides(&d);
    return d.s;
}
