/* In: reshapes, slices and concats, each a copy. Out: where the storage allows it they are views, and stand without code in the phase
 * that makes their operand. Refuses: views of views that are not contiguous, storage that already has an owner. */
#include "ir/fuse.h"

static bool is_root(const fusing *f, const ir_value *v)
{
    for (int i = 0; i < f->p->value_count; i++)
        if (f->p->values[i]->root == v) return true;
    return false;
}

static bool is_contiguous(const ir_value *v)
{
    return !v->root || (v->root_offset == 0 && v->root_stride == value_columns(v));
}

static bool same_rows(fusing *f, const ir_value *x, const ir_value *y)
{
    extent a = value_rows(f->a, x), b = value_rows(f->a, y);
    return extent_equal(&a, &b);
}

/* v lives in x's storage, `offset` columns from where x begins. Views of x's storage are flat: they name its owner. */
static void set_view(ir_value *v, ir_value *x, long long offset)
{
    v->root = x->root ? x->root : x;
    v->root_offset = (x->root ? x->root_offset : 0) + offset;
    v->root_stride = x->root ? x->root_stride : value_columns(x);
}

static void clear_view(ir_value *v)
{
    v->root = NULL;
    v->root_offset = v->root_stride = 0;
}

/* A view stands where its operand is made; a view of a declared value has no home until phases have an order. */
static void host(fusing *f, const ir_op *op)
{
    int own = fuse_home(f, op->outputs[0]), source = fuse_home(f, op->inputs[0]);
    if (source >= 0) fuse_merge(f, source, own);
    else {
        f->groups[own].count = 0;
        fuse_set_home(f, op->outputs[0], no_group);
    }
}

static bool is_lasting(const ir_value *v)
{
    return v->kind != value_result || v->output || v->root;
}

static bool reshape_as_view(fusing *f, ir_op *op)
{
    ir_value *x = op->inputs[0], *y = op->outputs[0];
    bool regroups = same_rows(f, x, y);
    if (op_is_view(op)) return false;
    if (y->output) { /* y owns storage, so x must live in y's */
        if (is_lasting(x) || is_root(f, x)) return false;
        x->root = y;
        x->root_stride = value_columns(x);
    } else if (is_contiguous(x)) {
        set_view(y, x, 0);
        y->root_offset = 0;
        y->root_stride = value_columns(y);
    } else if (regroups) set_view(y, x, 0);
    else return false;
    host(f, op);
    return true;
}

bool fuse_reshapes(fusing *f)
{
    bool changed = false;
    for (int i = 0; i < f->p->op_count; i++)
        if (f->p->ops[i]->kind == op_reshape) changed |= reshape_as_view(f, f->p->ops[i]);
    return changed;
}

/* The slices of one operand share a group; as a view each goes its own way. */
static void stand_alone(fusing *f, ir_op *op)
{
    group *old = &f->groups[fuse_home(f, op->outputs[0])];
    int kept = 0;
    for (int i = 0; i < old->count; i++)
        if (old->ops[i] != op) old->ops[kept++] = old->ops[i];
    old->count = kept;
    int own = fuse_new_group(f);
    f->groups[own] = (group){.ops = arena_alloc(f->a, sizeof(ir_op *)), .count = 1};
    f->groups[own].ops[0] = op;
    fuse_set_home(f, op->outputs[0], own);
}

/* A slice may not own what others see as rows without gaps. */
static bool slice_as_view(fusing *f, ir_op *op)
{
    ir_value *x = op->inputs[0], *y = op->outputs[0];
    if (op_is_view(op) || y->output || is_root(f, y) || y->type != x->type) return false;
    set_view(y, x, op->attributes.offset);
    stand_alone(f, op);
    return true;
}

bool fuse_split(fusing *f)
{
    bool changed = false;
    for (int i = 0; i < f->p->op_count; i++)
        if (f->p->ops[i]->kind == op_slice) changed |= slice_as_view(f, f->p->ops[i]);
    if (!changed) return false;
    fuse_refresh(f);
    fuse_schedule(f);
    for (int i = 0; i < f->p->op_count; i++) {
        const ir_op *op = f->p->ops[i];
        int home = fuse_home(f, op->outputs[0]);
        if (op->kind == op_slice && op_is_view(op) && home >= 0 && f->groups[home].count == 1) host(f, op);
    }
    fuse_refresh(f);
    return true;
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

/* The concat stands with the operand that is made last: any other place would make a cycle. */
static bool host_concat(fusing *f, const ir_op *op)
{
    for (int i = op->input_count - 1; i >= 0; i--)
        if (fuse_merge(f, fuse_home(f, op->inputs[i]), fuse_home(f, op->outputs[0]))) return true;
    return false;
}

static bool concat_as_view(fusing *f, ir_op *op)
{
    ir_value *out = op->outputs[0];
    long long offset = 0;
    if (op_is_view(op) || out->root) return false;
    for (int i = 0; i < op->input_count; i++)
        if (!may_live_in(f, op, i)) return false;
    for (int i = 0; i < op->input_count; i++) {
        set_view(op->inputs[i], out, offset);
        offset += value_columns(op->inputs[i]);
    }
    if (host_concat(f, op)) return true;
    for (int i = 0; i < op->input_count; i++) clear_view(op->inputs[i]);
    return false;
}

bool fuse_concat(fusing *f)
{
    bool changed = false;
    for (int i = 0; i < f->p->op_count; i++)
        if (f->p->ops[i]->kind == op_concat) changed |= concat_as_view(f, f->p->ops[i]);
    return changed;
}
