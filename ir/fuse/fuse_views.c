/* In: reshapes, slices and concats, each a copy. Out: where storage allows it, they become views, which have no code and no group.
 * Refuses: views of views that are not contiguous, storage that already has an owner, values that already have storage. */
#include "ir/fuse/fuse.h"
#include <string.h>

void fuse_find_roots(fusing *f)
{
    const int count = f->p->value_count;
    if (count > f->is_root_room) f->is_root = arena_alloc(f->a, (size_t)(f->is_root_room = 2 * count));
    memset(f->is_root, 0, (size_t)count);
    for (int i = 0; i < count; i++)
        if (f->p->values[i]->root) f->is_root[f->p->values[i]->root->id] = true;
}

static bool is_root(const fusing *f, const ir_value *v) { return f->is_root[v->id]; }

static bool is_contiguous(const ir_value *v)
{
    return (!v->root || v->root_offset == 0) && value_stride(v) == value_columns(v);
}

static bool same_rows(fusing *f, const ir_value *x, const ir_value *y)
{
    extent a = value_rows(f->a, x), b = value_rows(f->a, y);
    return extent_equal(&a, &b);
}

/* Makes v a view of x that begins at column `offset` of x. The root of a view is the owner of the storage, never another view. */
static void set_view(fusing *f, ir_value *v, ir_value *x, long long offset)
{
    v->root = x->root ? x->root : x;
    f->is_root[v->root->id] = true;
    v->root_offset = (x->root ? x->root_offset : 0) + offset;
    v->root_stride = value_stride(x);
}

/* Removes op, which is a view now, from its group. If it is a slice, other slices of the same operand may remain there. */
static void leave_group(fusing *f, const ir_op *op)
{
    group *old = &f->groups[fuse_home(f, op->outputs[0])];
    int kept = 0;
    for (int i = 0; i < old->count; i++)
        if (old->ops[i] != op) old->ops[kept++] = old->ops[i];
    old->count = kept;
    fuse_set_home(f, op->outputs[0], no_group);
}

static bool each_op(fusing *f, op_kind kind, bool (*as_view)(fusing *f, ir_op *op))
{
    bool changed = false;
    fuse_find_roots(f);
    for (int i = 0; i < f->p->op_count; i++) {
        ir_op *op = f->p->ops[i];
        if (op->kind != kind || op_is_view(op) || !as_view(f, op)) continue;
        leave_group(f, op);
        changed = true;
    }
    if (!changed) return false;
    fuse_refresh(f);
    fuse_schedule(f);
    return true;
}

static bool is_lasting(const ir_value *v)
{
    return v->kind != value_result || v->output || v->root;
}

static bool reshape_as_view(fusing *f, ir_op *op)
{
    ir_value *x = op->inputs[0], *y = op->outputs[0];
    bool regroups = same_rows(f, x, y);
    if (y->output) { /* y owns storage, so x must live in y's */
        if (is_lasting(x) || is_root(f, x) || (!is_contiguous(y) && !regroups)) return false;
        set_view(f, x, y, 0);
        if (is_contiguous(y)) x->root_stride = value_columns(x);
    } else if (is_contiguous(x)) {
        set_view(f, y, x, 0);
        y->root_offset = 0;
        y->root_stride = value_columns(y);
    } else if (regroups) set_view(f, y, x, 0);
    else return false;
    return true;
}

bool fuse_reshapes(fusing *f)
{
    return each_op(f, op_reshape, reshape_as_view);
}

/* False if the slice must own dense storage (an output, or a value in whose storage others live) or already lives in another value's
 * storage. */
static bool slice_as_view(fusing *f, ir_op *op)
{
    ir_value *x = op->inputs[0], *y = op->outputs[0];
    if (y->output || y->root || is_root(f, y)) return false;
    set_view(f, y, x, op->attributes.offset);
    return true;
}

bool fuse_split(fusing *f)
{
    return each_op(f, op_slice, slice_as_view);
}

static bool may_live_in(const fusing *f, const ir_op *concat, int i)
{
    const ir_value *v = concat->inputs[i];
    if (is_lasting(v) || is_root(f, v) || op_is_view(v->def)) return false;
    if (v->def->kind == op_row_sumsq || v->def->kind == op_attention_partial) return false;
    for (int k = 0; k < i; k++)
        if (concat->inputs[k] == v) return false;
    return true;
}

static bool concat_as_view(fusing *f, ir_op *op)
{
    ir_value *out = op->outputs[0];
    long long offset = 0;
    if (out->root) return false;
    for (int i = 0; i < op->input_count; i++)
        if (!may_live_in(f, op, i)) return false;
    for (int i = 0; i < op->input_count; i++) {
        set_view(f, op->inputs[i], out, offset);
        offset += value_columns(op->inputs[i]);
    }
    return true;
}

bool fuse_concat(fusing *f)
{
    return each_op(f, op_concat, concat_as_view);
}
