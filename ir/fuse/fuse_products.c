/* In: linears, each in a phase of its own. Out: one phase for linears of one input (fusions qkv and gate_up). Refuses: weights that are not
 * params or that several products use, weights or folded norms that differ in dtype, different folded norms. */
#include "ir/fuse/fuse.h"
#include <string.h>

static ir_op *first_product(const group *g)
{
    for (int i = 0; i < g->count; i++)
        if (op_is_product(g->ops[i])) return g->ops[i];
    return NULL;
}

static reason why_not_packed_together(const fusing *f, const ir_op *x, const ir_op *y)
{
    if (x->kind != op_linear || y->kind != op_linear || x->inputs[0] != y->inputs[0]) return reason_product_input;
    if (x->inputs[1]->kind != value_param || y->inputs[1]->kind != value_param) return reason_not_param;
    if (x->inputs[1]->type != y->inputs[1]->type) return reason_dtypes;
    if (x->attributes.fold != y->attributes.fold || x->attributes.fold_offset != y->attributes.fold_offset) return reason_folds;
    if (f->uses[x->inputs[1]->id] > 1 || f->uses[y->inputs[1]->id] > 1) return reason_shared_weight;
    return reason_none;
}

/* Follows v through elementwise ops, as long as each value has one user, and marks the values; true if it meets a mark of `other`. */
static bool follow(const fusing *f, const ir_value *v, int *marks, int mark, int other)
{
    for (int steps = 0; steps < most_phase_ops; steps++) {
        ir_op *user[1];
        if (fuse_users(f, v, user, 1) != 1 || !op_is_elementwise(user[0])) return false;
        const ir_value *next = user[0]->outputs[0];
        if (value_columns(next) != value_columns(v)) return false;
        if (marks[next->id] == other) return true;
        marks[next->id] = mark;
        v = next;
    }
    return false;
}

/* An elementwise op joins the results of two linears, as in silu(gate) * up. */
static bool are_joined(fusing *f, const ir_op *x, const ir_op *y)
{
    if (f->marks_room < f->p->value_count) {
        f->marks_room = f->p->value_count * 2;
        f->marks = arena_alloc(f->a, (size_t)f->marks_room * sizeof *f->marks);
    }
    int mine = ++f->marks_now, other = ++f->marks_now;
    follow(f, x->outputs[0], f->marks, mine, other);
    return follow(f, y->outputs[0], f->marks, other, mine);
}

static bool any_joined(fusing *f, const group *x, const group *y)
{
    for (int i = 0; i < x->count; i++)
        for (int k = 0; k < y->count; k++)
            if (op_is_product(x->ops[i]) && op_is_product(y->ops[k]) && are_joined(f, x->ops[i], y->ops[k])) return true;
    return false;
}

reason fuse_why_not_packed(fusing *f, int x, int y)
{
    const group *gx = &f->groups[x], *gy = &f->groups[y];
    reason why = why_not_packed_together(f, first_product(gx), first_product(gy));
    if (why) return why == reason_product_input ? reason_two_products : why;
    bool joined = any_joined(f, gx, gy) || any_joined(f, gy, gx);
    if (!fuse_may_run(f, fusion_index(joined ? "gate_up" : "qkv"), &why)) return why;
    return fuse_why_not(f, x, y);
}

/* By group: the next group whose products have the same left operand; no_group: none. */
static int *next_of_operand(fusing *f)
{
    int *next = arena_alloc(f->a, ((size_t)f->group_count + 1) * sizeof *next);
    int *last = arena_alloc(f->a, ((size_t)f->p->value_count + 1) * sizeof *last); /* by operand: 1 + the last group so far */
    for (int g = 0; g < f->group_count; g++) {
        next[g] = no_group;
        if (f->groups[g].family != family_gemm || !f->groups[g].count) continue;
        int *of = &last[first_product(&f->groups[g])->inputs[0]->id];
        if (*of) next[*of - 1] = g;
        *of = g + 1;
    }
    return next;
}

static bool join_products(fusing *f, bool joined)
{
    bool changed = false;
    const int *next = next_of_operand(f);
    for (int x = 0; x < f->group_count; x++)
        for (int y = next[x]; y != no_group && f->groups[x].count; y = next[y]) {
            if (!f->groups[y].count || f->groups[x].count + f->groups[y].count > most_phase_ops) continue;
            if (why_not_packed_together(f, first_product(&f->groups[x]), first_product(&f->groups[y]))) continue;
            if (any_joined(f, &f->groups[x], &f->groups[y]) == joined) changed |= fuse_merge(f, x, y);
        }
    return changed;
}

bool fuse_qkv(fusing *f)
{
    return join_products(f, false);
}

bool fuse_gate_up(fusing *f)
{
    bool packed = join_products(f, true);
    return fuse_join(f) || packed;
}
