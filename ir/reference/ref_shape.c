/* In: a graph's ops, which attributes the spec gives, and the shapes and dtypes of inputs, params and states. Out: every value's shape and
 * dtype and every op's attributes, by the rules of docs/spec-language.md. Refuses: operands that the rules forbid, and a graph whose reader
 * found other shapes or attributes.
 *
 * Written by hand, independent of ir/read: the reader's results are compared with these, never used. Exceptions: the numbers of attributes
 * that the spec gives, and its sizes for split and reshape, which are only kept as the shapes of their outs. */
#include "ir/reference/ref_parts.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- attributes */
static double head_size(const ref_state *r, const ir_value *x, long long heads)
{
    return (double)ref_axis(r, x, -1) / (ref_rank(r, x) == 4 || heads < 1 ? 1 : (double)heads);
}

#define DEFAULT(field, value) if (!op_states(op, #field)) t.field = (value)

static ir_attributes resolve(const ref_state *r, const ir_op *op)
{
    ir_attributes t = op->attributes;
    const ir_value *x = op->inputs[0];
    switch (op->kind) {
    case op_rmsnorm:
    case op_layernorm:
        DEFAULT(eps, 1e-5);
        DEFAULT(unit_offset, false);
        break;
    case op_l2norm: DEFAULT(eps, 1e-12); break;
    case op_rope:
        DEFAULT(theta, 10000);
        DEFAULT(rotary, (long long)head_size(r, x, t.heads));
        DEFAULT(scaling, (rope_scaling){0});
        DEFAULT(attention_factor, 1);
        DEFAULT(at, NULL);
        break;
    case op_sum:
    case op_mean:
    case op_amax:
    case op_amin: DEFAULT(keepdim, false); break;
    case op_linear: DEFAULT(layout, layout_out_in); break;
    case op_matmul:
        DEFAULT(transpose, false);
        DEFAULT(transpose_a, false);
        break;
    case op_attention:
        DEFAULT(kv_heads, t.heads);
        DEFAULT(causal, false);
        DEFAULT(window, 0);
        DEFAULT(softcap, 0);
        DEFAULT(alibi, (number_list){0});
        DEFAULT(scale, 1 / sqrt(head_size(r, x, t.heads)));
        DEFAULT(lengths, NULL);
        DEFAULT(first, NULL);
        DEFAULT(bias, NULL);
        DEFAULT(at, NULL);
        break;
    default: break;
    }
    return t;
}

/* ---- shapes */
static bool same_but_last(const ref_shape *x, const ref_shape *y)
{
    return x->rank == y->rank && memcmp(x->size, y->size, (size_t)(x->rank > 0 ? x->rank - 1 : 0) * sizeof *x->size) == 0;
}

static long long product(const ref_shape *s)
{
    long long n = 1;
    for (int i = 0; i < s->rank; i++) n *= s->size[i];
    return n;
}

/* Axes are aligned at the right; an axis that is missing, or has extent 1, broadcasts. */
static bool broadcast(const ref_shape *x, const ref_shape *y, ref_shape *out)
{
    out->rank = x->rank > y->rank ? x->rank : y->rank;
    for (int i = 1; i <= out->rank; i++) {
        const long long a = i <= x->rank ? x->size[x->rank - i] : 1, b = i <= y->rank ? y->size[y->rank - i] : 1;
        if (a != b && a != 1 && b != 1) return false;
        out->size[out->rank - i] = a == 1 ? b : a;
    }
    return true;
}

static bool is_row(const ref_shape *s, long long columns) { return s->rank == 1 && s->size[0] == columns; }

static bool norm_shape(const ref_state *r, const ir_op *op, ref_shape *out)
{
    for (int i = 1; i < op->input_count; i++)
        if (!is_row(ref_shape_of(r, op->inputs[i]), out->size[out->rank - 1])) return false;
    return true;
}

static bool linear_shape(const ref_state *r, const ir_op *op, const ir_attributes *t, ref_shape *out)
{
    const ref_shape *w = ref_shape_of(r, op->inputs[1]);
    const int in = t->layout == layout_out_in ? 1 : 0;
    if (w->rank != 2 || w->size[in] != out->size[out->rank - 1]) return false;
    out->size[out->rank - 1] = w->size[!in];
    return op->input_count < 3 || is_row(ref_shape_of(r, op->inputs[2]), w->size[!in]);
}

/* Batch axes are aligned at the right; one that is missing, or has extent 1, broadcasts. */
static bool matmul_shape(const ref_state *r, const ir_op *op, const ir_attributes *t, ref_shape *out)
{
    const ref_shape x = *out, *w = ref_shape_of(r, op->inputs[1]);
    if (x.rank < 2 || w->rank < 2) return false;
    const int K = w->rank - (t->transpose ? 1 : 2), N = w->rank - (t->transpose ? 2 : 1);
    if (w->size[K] != x.size[x.rank - (t->transpose_a ? 2 : 1)]) return false;
    out->rank = x.rank > w->rank ? x.rank : w->rank;
    for (int i = 3; i <= out->rank; i++) {
        const long long of_x = i <= x.rank ? x.size[x.rank - i] : 1, of_w = i <= w->rank ? w->size[w->rank - i] : 1;
        if (of_x != of_w && of_x != 1 && of_w != 1) return false;
        out->size[out->rank - i] = of_x == 1 ? of_w : of_x;
    }
    out->size[out->rank - 2] = x.size[x.rank - (t->transpose_a ? 1 : 2)];
    out->size[out->rank - 1] = w->size[N];
    return true;
}

static bool concat_shape(const ref_state *r, const ir_op *op, ref_shape *out)
{
    for (int i = 1; i < op->input_count; i++) {
        const ref_shape *y = ref_shape_of(r, op->inputs[i]);
        if (!same_but_last(out, y) || y->type != out->type) return false;
        out->size[out->rank - 1] += y->size[y->rank - 1];
    }
    return true;
}

static ref_shape stated(const ref_state *r, const ir_value *v)
{
    ref_shape s = {.rank = v->rank, .type = v->type};
    for (int i = 0; i < v->rank; i++) s.size[i] = extent_value(&v->shape[i], &r->p->dims);
    return s;
}

static bool split_shapes(ref_state *r, const ir_op *op)
{
    const ref_shape *x = ref_shape_of(r, op->inputs[0]);
    long long columns = 0;
    for (int i = 0; i < op->output_count; i++) {
        ref_shape *out = &r->shapes[op->outputs[i]->id];
        const ref_shape given = stated(r, op->outputs[i]);
        *out = *x;
        columns += out->size[out->rank - 1] = given.rank > 0 ? given.size[given.rank - 1] : 0;
    }
    return columns == x->size[x->rank - 1];
}

static bool permuted_shape(const ir_attributes *t, ref_shape *out)
{
    const ref_shape x = *out;
    if (t->axes.count != x.rank) return false;
    for (int i = 0; i < x.rank; i++) {
        const int axis = (int)t->axes.at[i];
        if (axis < 0 || axis >= x.rank) return false;
        for (int k = 0; k < i; k++)
            if ((int)t->axes.at[k] == axis) return false;
        out->size[i] = x.size[axis];
    }
    return true;
}

static bool reduced_shape(const ir_attributes *t, ref_shape *out)
{
    if (t->axis < 0 || t->axis >= out->rank) return false;
    out->size[t->axis] = 1;
    if (t->keepdim) return true;
    out->rank--;
    for (int i = (int)t->axis; i < out->rank; i++) out->size[i] = out->size[i + 1];
    return out->rank > 0;
}

/* The result has the rows and heads of q, with the head size of v. */
static bool attention_shape(const ref_state *r, const ir_op *op, const ir_attributes *t, ref_shape *out)
{
    const ir_value *v = op->inputs[2];
    const long long heads = t->heads, kv_heads = t->kv_heads;
    if (heads < 1 || kv_heads < 1 || out->rank < 3) return false;
    const long long size = ref_axis(r, v, -1) / (ref_rank(r, v) == 4 ? 1 : kv_heads);
    out->size[out->rank - 1] = out->rank == 4 ? size : size * heads;
    return true; /* ref_attention() checks the operands */
}

/* Shape and dtype of the op's out: its first operand's shape in the spec's dtype, then changed by the op's rule. */
static bool rule(ref_state *r, const ir_op *op, const ir_attributes *t)
{
    ref_shape *out = &r->shapes[op->outputs[0]->id];
    *out = *ref_shape_of(r, op->inputs[0]);
    if (op->kind == op_concat) return concat_shape(r, op, out); /* moves keep their operand's dtype */
    if (op->kind == op_split) return split_shapes(r, op);
    if (op->kind == op_permute) return permuted_shape(t, out);
    if (op->kind == op_reshape) {
        const ref_shape x = *out;
        *out = stated(r, op->outputs[0]);
        out->type = x.type;
        return product(out) == product(&x);
    }
    out->type = op->kind == op_cast ? t->to : r->p->type;
    switch (op->kind) {
    case op_rmsnorm:
    case op_layernorm: return norm_shape(r, op, out);
    case op_linear: return linear_shape(r, op, t, out);
    case op_matmul: return matmul_shape(r, op, t, out);
    case op_kv_append: return *out = *ref_shape_of(r, t->state), true;
    case op_row_sum:
    case op_row_mean:
    case op_row_max:
    case op_row_min:
    case op_row_sumsq: return out->size[out->rank - 1] = 1, true;
    case op_sum:
    case op_mean:
    case op_amax:
    case op_amin: return reduced_shape(t, out);
    case op_attention: return attention_shape(r, op, t, out);
    case op_rope: return true; /* ref_rope() checks its heads */
    default: break;
    }
    for (int i = 1; i < op->input_count; i++) {
        const ref_shape x = *out;
        if (!broadcast(&x, ref_shape_of(r, op->inputs[i]), out)) return false;
    }
    return true;
}

static void print_shape(char *out, size_t size, const ref_shape *s)
{
    size_t n = (size_t)snprintf(out, size, "%s[", dtype_name(s->type));
    for (int i = 0; i < s->rank && n < size; i++) n += (size_t)snprintf(out + n, size - n, "%s%lld", i ? ", " : "", s->size[i]);
    if (n < size) snprintf(out + n, size - n, "]");
}

static bool agrees(ref_state *r, const ir_op *op, const ir_value *v)
{
    const ref_shape *mine = ref_shape_of(r, v), graph = stated(r, v);
    char text[2][160], why[400];
    if (mine->rank == graph.rank && mine->type == graph.type &&
        memcmp(mine->size, graph.size, (size_t)graph.rank * sizeof *graph.size) == 0)
        return true;
    print_shape(text[0], sizeof text[0], mine);
    print_shape(text[1], sizeof text[1], &graph);
    snprintf(why, sizeof why, "the rules make it %s, the graph says %s", text[0], text[1]);
    return ref_fail(r, op, why);
}

bool ref_derive(ref_state *r)
{
    for (int i = 0; i < r->p->value_count; i++)
        if (r->p->values[i]->kind != value_result) r->shapes[i] = stated(r, r->p->values[i]);
    for (int i = 0; i < r->p->op_count; i++) {
        const ir_op *op = r->p->ops[i];
        ir_attributes *t = &r->attributes[op->outputs[0]->id];
        if (!op_in_spec(op->kind)) return ref_fail(r, op, "is no op of a graph");
        *t = resolve(r, op);
        if (!rule(r, op, t)) return ref_fail(r, op, "the operands do not fit each other");
        for (int k = 0; k < op->output_count; k++)
            if (!agrees(r, op, op->outputs[k])) return false;
    }
    return true;
}
