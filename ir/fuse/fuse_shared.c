/* In: groups of the rows family that reduce the same value in the same way, such as the two norms ahead of a parallel block. Out: one
 * group, which reads and reduces the value once; of ops that compute the same in both, one remains. Refuses: what the rows template cannot
 * do (ir/fuse/fuse_legal.c says why). */
#include "ir/fuse/fuse.h"
#include <string.h>

static bool same_form(const ir_value *x, const ir_value *y) { return x->type == y->type && value_same_shape(x, y); }

static bool same_operand(const ir_value *x, const ir_value *y)
{
    return x == y || (x->kind == value_constant && y->kind == value_constant && x->constant == y->constant && same_form(x, y));
}

/* True if two elementwise ops or reductions compute the same. Of their attributes only a cast's dtype can differ. */
static bool same_op(const ir_op *x, const ir_op *y)
{
    if (x->kind != y->kind || x->input_count != y->input_count || x->output_count != 1 || !same_form(x->outputs[0], y->outputs[0]))
        return false;
    for (int k = 0; k < x->input_count; k++)
        if (!same_operand(x->inputs[k], y->inputs[k])) return false;
    return x->attributes.to == y->attributes.to;
}

static bool is_arithmetic(const ir_op *op) { return op_is_elementwise(op) || op_table[op->kind].class == class_REDUCE; }

/* Makes all readers of v read `instead`. One group makes both values, so the edges between groups stay as they are. */
static void replace_reads(fusing *f, const ir_value *v, ir_value *instead)
{
    const int count = fuse_users(f, v, NULL, 0);
    ir_op **users = arena_alloc(f->a, ((size_t)count + 1) * sizeof *users);
    fuse_users(f, v, users, count);
    for (int i = 0; i < count; i++)
        for (int k = 0; k < users[i]->input_count; k++)
            if (users[i]->inputs[k] == v) users[i]->inputs[k] = instead;
}

/* Redirects the readers of each op to an earlier op that computes the same. */
static void unify(fusing *f, const group *g)
{
    for (int i = 1; i < g->count; i++) {
        const ir_value *v = g->ops[i]->outputs[0];
        const bool may = is_arithmetic(g->ops[i]) && !v->output && !v->root && !f->is_root[v->id];
        for (int k = 0; may && k < i; k++) {
            if (!same_op(g->ops[k], g->ops[i])) continue;
            replace_reads(f, v, g->ops[k]->outputs[0]);
            break;
        }
    }
}

/* Merges the groups of two reductions that are the same. */
static bool share(fusing *f, const ir_op *x, const ir_op *y)
{
    const int to = fuse_home(f, x->outputs[0]), from = fuse_home(f, y->outputs[0]);
    if (to == from || !same_op(x, y) || !fuse_merge(f, to, from)) return false;
    unify(f, &f->groups[to]);
    return true;
}

bool fuse_shared_norm(fusing *f)
{
    enum { most_tried = 4 };
    const size_t count = (size_t)f->p->value_count;
    bool changed = false;
    const ir_op **reads = arena_alloc(f->a, (count + 1) * most_tried * sizeof *reads); /* by value: reductions of it */
    memset(reads, 0, (count + 1) * most_tried * sizeof *reads);
    fuse_find_roots(f);
    for (int i = 0; i < f->p->op_count; i++) {
        const ir_op *op = f->p->ops[i];
        const int own = fuse_home(f, op->outputs[0]);
        if (op_table[op->kind].class != class_REDUCE || own < 0 || f->groups[own].family != family_rows) continue;
        const ir_op **earlier = &reads[(size_t)op->inputs[0]->id * most_tried];
        int k = 0;
        for (; k < most_tried && earlier[k]; k++)
            if (share(f, earlier[k], op)) break;
        if (k < most_tried && earlier[k]) changed = true;
        else if (k < most_tried) earlier[k] = op;
    }
    if (changed) fuse_refresh(f);
    return changed;
}
