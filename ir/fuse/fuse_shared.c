/* In: groups of the rows family that reduce the same value in the same way, such as the two norms ahead of a parallel block. Out: one
 * group, which reads and reduces the value once; what both computed alike is computed once. Refuses: what the rows template cannot do
 * (ir/fuse/fuse_legal.c says why). */
#include "ir/fuse/fuse.h"
#include <string.h>

static bool same_shape(const ir_value *x, const ir_value *y)
{
    if (x->rank != y->rank || x->type != y->type) return false;
    for (int i = 0; i < x->rank; i++)
        if (!extent_equal(&x->shape[i], &y->shape[i])) return false;
    return true;
}

static bool same_operand(const ir_value *x, const ir_value *y)
{
    return x == y || (x->kind == value_constant && y->kind == value_constant && x->constant == y->constant && same_shape(x, y));
}

static bool same_op(const ir_op *x, const ir_op *y)
{
    if (x->kind != y->kind || x->input_count != y->input_count || x->output_count != 1 || !same_shape(x->outputs[0], y->outputs[0]))
        return false;
    for (int k = 0; k < x->input_count; k++)
        if (!same_operand(x->inputs[k], y->inputs[k])) return false;
    return memcmp(&x->attributes, &y->attributes, sizeof x->attributes) == 0;
}

static bool share_a_reduction(const group *x, const group *y)
{
    for (int i = 0; i < x->count; i++)
        for (int k = 0; op_table[x->ops[i]->kind].class == class_REDUCE && k < y->count; k++)
            if (same_op(x->ops[i], y->ops[k])) return true;
    return false;
}

/* What reads v reads `instead`; nobody reads v any more. */
static void replace_reads(const fusing *f, const ir_value *v, ir_value *instead)
{
    for (int i = 0; i < f->p->op_count; i++)
        for (int k = 0; k < f->p->ops[i]->input_count; k++)
            if (f->p->ops[i]->inputs[k] == v) f->p->ops[i]->inputs[k] = instead;
}

/* Each op that computes what an earlier one does loses its readers. */
static void unify(const fusing *f, const group *g)
{
    for (int i = 1; i < g->count; i++) {
        const ir_value *v = g->ops[i]->outputs[0];
        const bool arithmetic = op_is_elementwise(g->ops[i]) || op_table[g->ops[i]->kind].class == class_REDUCE;
        const bool may = arithmetic && !v->output && !v->root && !f->is_root[v->id];
        for (int k = 0; may && k < i; k++) {
            if (!same_op(g->ops[k], g->ops[i])) continue;
            replace_reads(f, v, g->ops[k]->outputs[0]);
            break;
        }
    }
}

bool fuse_shared_norm(fusing *f)
{
    bool changed = false;
    fuse_find_roots(f);
    for (int x = 0; x < f->group_count; x++)
        for (int y = x + 1; f->groups[x].family == family_rows && group_reduces(&f->groups[x]) && y < f->group_count; y++) {
            if (f->groups[y].family != family_rows || !share_a_reduction(&f->groups[x], &f->groups[y]) || !fuse_merge(f, x, y)) continue;
            unify(f, &f->groups[x]);
            fuse_refresh(f);
            changed = true;
        }
    return changed;
}
