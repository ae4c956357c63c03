/* In: a norm of groups, [..., G, C], a reshape to whole rows [..., G * C], and elementwise ops on those, such as the scale and shift of a
 * group norm. Out: the ops work on [..., G, C], so that they can join the norm's phase; their other operands are reshaped to groups
 * (views), and the reshape to rows comes last. Refuses: rows that other ops read, operands with another shape, results that live in other
 * values' storage, ops that already share a phase with others. */
#include "ir/fuse/fuse.h"

typedef struct regrouping {
    fusing *f;
    int at;        /* index in p->ops of the op under consideration */
    int first_new; /* values from this id on were made by this pass */
} regrouping;

/* x is [..., G, C] and rows is [..., G * C]. */
static bool are_groups(const ir_value *x, const ir_value *rows)
{
    long long count;
    if (x->rank != rows->rank + 1 || !extent_is_number(&x->shape[rows->rank - 1], &count)) return false;
    for (int i = 0; i + 1 < rows->rank; i++)
        if (!extent_equal(&x->shape[i], &rows->shape[i])) return false;
    return count * value_columns(x) == value_columns(rows);
}

/* True if `rows` is [..., G * C], a view of the result [..., G, C] of a norm or of an op that this pass moved, and only `reader` reads it.
 * */
static bool shows_groups(const regrouping *r, const ir_value *rows, const ir_op *reader)
{
    const fusing *f = r->f;
    const ir_op *view = rows->def;
    if (!view || view->kind != op_reshape || !op_is_view(view)) return false;
    const ir_value *x = view->inputs[0];
    const int home = fuse_home(f, x);
    const bool of_norm = home != no_group && f->groups[home].family == family_rows && group_reduces(&f->groups[home]);
    return (of_norm || x->id >= r->first_new) && are_groups(x, rows) && fuse_only_used_by(f, rows, reader);
}

static bool is_dense(const ir_value *v) { return !v->root && !v->root_stride; }

/* True if v, or a view of it as groups, can be an operand of an op on groups. False if a product makes v, since its epilogue may take the
 * op instead. */
static bool may_regroup(const regrouping *r, const ir_value *v, const ir_value *rows)
{
    if (v->kind == value_constant || value_is_scalar(v)) return true;
    const int home = fuse_home(r->f, v);
    if (!is_dense(v) || (home != no_group && r->f->groups[home].family != family_rows)) return false;
    const bool vector = v->rank == 1 && value_columns(v) == value_columns(rows);
    return vector || (v->rank == rows->rank && value_is_full(r->f->a, v, rows));
}

/* The operand `rows` of op whose groups op can work on instead (shows_groups()); NULL: none. */
static ir_value *find_rows(const regrouping *r, const ir_op *op)
{
    const ir_value *out = op->outputs[0];
    if (!op_is_elementwise(op) || !is_dense(out) || r->f->is_root[out->id] || r->f->groups[fuse_home(r->f, out)].count > 1) return NULL;
    for (int k = 0; k < op->input_count; k++) {
        ir_value *rows = op->inputs[k];
        bool may = shows_groups(r, rows, op) && rows->rank == out->rank && value_is_full(r->f->a, rows, out);
        for (int i = 0; may && i < op->input_count; i++) may = op->inputs[i] == rows || may_regroup(r, op->inputs[i], rows);
        if (may) return rows;
    }
    return NULL;
}

static void set_view(ir_value *v, ir_value *root) { v->root = root, v->root_offset = 0, v->root_stride = value_columns(v); }

/* A view of v with the shape of x, [..., G, C]; of a vector, with shape [G, C]. */
static ir_value *view_in_groups(regrouping *r, ir_value *v, const ir_value *x, const ir_op *op)
{
    fusing *f = r->f;
    const int rank = v->rank == 1 ? 2 : x->rank;
    ir_value *view = build_value(&f->b, arena_printf(f->a, "%s.g", v->name), v->type, x);
    for (int i = 0; i < rank; i++) view->shape[i] = x->shape[x->rank - rank + i];
    view->rank = rank;
    view->at = v->at;
    fuse_insert(f, r->at++, build_op(&f->b, op_reshape, op, view, 1, v), no_group);
    set_view(view, v);
    return view;
}

/* Lets the op work on the groups that `rows` shows: its new result has their shape. Its former result becomes a view of the new one or, if
 * it is an output, the storage of which the new result is a view. */
static void regroup(regrouping *r, ir_op *op, const ir_value *rows)
{
    fusing *f = r->f;
    ir_value *out = op->outputs[0], *x = rows->def->inputs[0];
    for (int k = 0; k < op->input_count; k++) {
        ir_value *v = op->inputs[k];
        if (v == rows) op->inputs[k] = x;
        else if (v->kind != value_constant && !value_is_scalar(v)) op->inputs[k] = view_in_groups(r, v, x, op);
    }
    ir_value *made = build_value(&f->b, arena_printf(f->a, "%s.g", out->name), out->type, x);
    made->at = out->at;
    op->outputs[0] = made, made->def = op;
    fuse_set_home(f, made, fuse_home(f, out));
    fuse_insert(f, ++r->at, build_op(&f->b, op_reshape, rows->def, out, 1, made), no_group);
    if (out->output) set_view(made, out);
    else set_view(out, made);
}

bool fuse_regroup(fusing *f)
{
    regrouping r = {.f = f, .first_new = f->p->value_count};
    fuse_find_roots(f);
    for (r.at = 0; r.at < f->p->op_count; r.at++) {
        const ir_value *rows = find_rows(&r, f->p->ops[r.at]);
        if (rows) regroup(&r, f->p->ops[r.at], rows);
    }
    if (f->p->value_count == r.first_new) return false;
    fuse_refresh(f);
    fuse_schedule(f);
    return true;
}
