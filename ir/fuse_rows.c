/* In: rows phases. Out: chains of elementwise ops, and norms with what is before them, in one rows phase. Refuses: what the rows
 * template cannot do (ir/fuse_legal.c says why). */
#include "ir/fuse.h"

static bool is_plain_rows(const group *g)
{
    return g->count > 0 && g->family == family_rows;
}

/* Adds two whole values, as a residual add. */
static bool adds_rows(fusing *f, const group *g)
{
    for (int i = 0; i < g->count; i++) {
        const ir_op *op = g->ops[i];
        bool binary = op_is_elementwise(op) && op->input_count == 2;
        if (binary && value_is_full(f->a, op->inputs[0], op->outputs[0]) && value_is_full(f->a, op->inputs[1], op->outputs[0]))
            return true;
    }
    return false;
}

static bool is_elementwise_group(const group *g)
{
    for (int i = 0; i < g->count; i++)
        if (!op_is_elementwise(g->ops[i])) return false;
    return is_plain_rows(g);
}

int fuse_rows_fusion(fusing *f, int producer, int user)
{
    const group *x = &f->groups[producer], *y = &f->groups[user];
    if (!is_plain_rows(x) || !is_plain_rows(y)) return -1;
    for (int i = 0; i < y->count; i++)
        if (y->ops[i]->kind == op_kv_append) return fusion_index("kv_append");
    bool takes_rows = group_reduces(y) && (group_reduces(x) || adds_rows(f, x));
    return fusion_index(takes_rows ? "norm_prologue" : "elementwise");
}

static bool join_rows(fusing *f, int fusion)
{
    bool changed = false;
    for (int i = 0; i < f->p->op_count; i++) {
        const ir_op *op = f->p->ops[i];
        for (int k = 0; k < op->input_count; k++) {
            int x = fuse_source(f, op->inputs[k]), y = fuse_home(f, op->outputs[0]);
            if (x < 0 || y < 0 || x == y || fuse_rows_fusion(f, x, y) != fusion) continue;
            changed |= fuse_merge(f, x, y);
        }
    }
    return changed;
}

static bool share_operand(fusing *f, const group *x, const group *y)
{
    for (int i = 0; i < x->count; i++)
        for (int k = 0; k < x->ops[i]->input_count; k++) {
            const ir_value *v = x->ops[i]->inputs[k];
            if (v->kind != value_constant && value_is_full(f->a, v, x->ops[i]->outputs[0]) && group_reads(y, v)) return true;
        }
    return false;
}

/* Elementwise groups that read one value side by side read it once together. */
static bool join_siblings(fusing *f)
{
    bool changed = false;
    for (int x = 0; x < f->group_count; x++)
        for (int y = x + 1; y < f->group_count && is_elementwise_group(&f->groups[x]); y++)
            if (is_elementwise_group(&f->groups[y]) && share_operand(f, &f->groups[x], &f->groups[y])) changed |= fuse_merge(f, x, y);
    return changed;
}

/* Epilogues first: what they take lets other passes add to them, before chains of rows form. */
bool fuse_elementwise(fusing *f)
{
    if (fuse_epilogue_elementwise(f)) return true;
    bool chains = join_rows(f, fusion_index("elementwise"));
    return join_siblings(f) || chains;
}

bool fuse_norm_prologue(fusing *f)
{
    return join_rows(f, fusion_index("norm_prologue"));
}
