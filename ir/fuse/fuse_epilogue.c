/* In: groups of elementwise ops, ropes and appends that read a product. Out: they run in the product's epilogue. Refuses: what the epilogue
 * cannot do (ir/fuse/fuse_legal.c says why). */
#include "ir/fuse/fuse.h"
#include <string.h>

static bool is_sum(const ir_op *op)
{
    return op->kind == op_add || op->kind == op_sub;
}

/* Which fusion moves an op into the epilogue of a product that makes one of its operands. */
static const char *fusion_of(fusing *f, const ir_op *op, int product)
{
    const ir_value *out = op->outputs[0];
    if (op->kind == op_rope) return "rope";
    if (op->kind == op_kv_append) return "kv_append";
    if (op->kind == op_row_sumsq) return "statistics";
    if (!op_is_elementwise(op)) return NULL;
    if (op->input_count == 1) return op->kind == op_cast || op->kind == op_finite ? "elementwise" : "activation";
    const ir_value *x = op->inputs[0], *y = op->inputs[1];
    bool x_here = fuse_source(f, x) == product, y_here = fuse_source(f, y) == product;
    if (x_here && y_here && x != y) return "gate_up";
    const ir_value *other = x_here ? y : x;
    if (is_sum(op) && value_is_vector(f->a, other, value_columns(out)) && !value_is_full(f->a, other, out)) return "bias";
    if (is_sum(op) && value_is_full(f->a, other, out)) return "residual";
    return "elementwise";
}

int fuse_epilogue_fusion(fusing *f, const ir_op *op, int product)
{
    const char *name = fusion_of(f, op, product);
    return name ? fusion_index(name) : -1;
}

bool fuse_epilogue_allowed(fusing *f, int group, int product, reason *why)
{
    for (int i = 0; i < f->groups[group].count; i++) {
        int fusion = fuse_epilogue_fusion(f, f->groups[group].ops[i], product);
        if (fusion >= 0 && !fuse_may_run(f, fusion, why)) return false;
    }
    return true;
}

/* The group has only elementwise ops, and sums of squares of what they make. */
static bool is_chain(const group *g)
{
    for (int i = 0; i < g->count; i++)
        if (!op_is_elementwise(g->ops[i]) && g->ops[i]->kind != op_row_sumsq) return false;
    return true;
}

/* The group whose epilogue could take op: the one that makes the last of its operands. The operands that other groups make are in memory by
 * then. */
static int product_before(const fusing *f, const ir_op *op, bool rows_too)
{
    int best = no_group, best_at = -1;
    for (int k = 0; k < op->input_count; k++) {
        int g = fuse_source(f, op->inputs[k]);
        if (g < 0 || g == fuse_home(f, op->outputs[0])) continue;
        if (f->groups[g].family != family_gemm && !(rows_too && f->groups[g].family == family_rows)) continue;
        const ir_value *maker[most_makers];
        int at = value_makers(op->inputs[k], maker) ? f->order[maker[0]->id] : -1;
        if (at > best_at) best = g, best_at = at;
    }
    return best;
}

static bool move_into_epilogues(fusing *f, const char *fusion, bool rows_too)
{
    bool changed = false;
    for (int i = 0; i < f->p->op_count; i++) {
        const ir_op *op = f->p->ops[i];
        int own = fuse_home(f, op->outputs[0]);
        bool sole = own >= 0 && f->groups[own].count == 1;
        if (own < 0 || !(sole || is_chain(&f->groups[own]))) continue;
        int product = product_before(f, op, rows_too);
        if (product < 0) continue;
        reason why;
        if (!sole && !fuse_epilogue_allowed(f, own, product, &why)) continue;
        const char *name = sole ? fusion_of(f, op, product) : "elementwise";
        if (name && strcmp(name, fusion) == 0) changed |= fuse_merge(f, product, own);
    }
    return changed;
}

bool fuse_bias(fusing *f) { return move_into_epilogues(f, "bias", false); }
bool fuse_activation(fusing *f) { return move_into_epilogues(f, "activation", false); }
bool fuse_residual(fusing *f) { return move_into_epilogues(f, "residual", false); }
bool fuse_rope(fusing *f) { return move_into_epilogues(f, "rope", false); }
bool fuse_kv_append(fusing *f) { return move_into_epilogues(f, "kv_append", true); }
bool fuse_sums(fusing *f) { return move_into_epilogues(f, "statistics", true); }
bool fuse_join(fusing *f) { return move_into_epilogues(f, "gate_up", false); }
bool fuse_epilogue_elementwise(fusing *f) { return move_into_epilogues(f, "elementwise", false); }
