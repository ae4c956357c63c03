/* In: the finished phases. Out: a note with a reason for each edge between two of them. */
#include "ir/fuse/fuse.h"

/* v is the result of a row reduction, which is complete only after the whole row. */
static bool is_statistic(const ir_value *v)
{
    return v->def && op_table[v->def->kind].class == class_REDUCE;
}

/* Index of the fusion that could remove the edge from v to user: one that makes views, fills epilogues or merges rows phases. -1: none. */
static int fusion_for(fusing *f, const ir_value *v, const ir_op *user, int x, int y)
{
    if (user->kind == op_slice || v->def->kind == op_slice) return fusion_index("split");
    if (user->kind == op_concat || v->def->kind == op_concat) return fusion_index("concat");
    return f->groups[x].family == family_gemm ? fuse_epilogue_fusion(f, user, x) : fuse_rows_fusion(f, x, y);
}

static reason why_not_joined(fusing *f, const ir_value *v, const ir_op *user, int x, int y)
{
    int fusion = fusion_for(f, v, user, x, y);
    reason why;
    if (fusion >= 0 && !fuse_may_run(f, fusion, &why)) return why;
    if (f->groups[x].family == family_gemm && !fuse_epilogue_allowed(f, y, x, &why)) return why;
    why = fuse_why_not(f, x, y);
    return why ? why : reason_no_fusion;
}

static reason why_not_product(fusing *f, const ir_value *v, const ir_op *product)
{
    if (product->inputs[0] != v) return reason_right_operand;
    reason why = fuse_why_not_folded(f, v);
    return why ? why : reason_product_input;
}

static reason why_split(fusing *f, const ir_value *v, const ir_op *user)
{
    int x = f->printed_in[v->id], y = f->printed_in[user->outputs[0]->id];
    phase_family from = f->groups[x].family, to = f->groups[y].family;
    bool sole_sum = user->kind == op_row_sumsq && f->groups[y].count == 1;
    if (op_is_view(user)) return reason_in_place;
    if (f->options->level == fusion_none) return reason_level_none;
    if (to == family_combine) return reason_splits_meet;
    if (to > family_gemm && to != family_columns) return reason_all_keys;
    if (op_is_product(user)) return why_not_product(f, v, user);
    if (from > family_gemm && from != family_columns) return reason_attention_out;
    if (from == family_columns && to == family_gemm) return reason_stored_operand;
    if (to == family_columns && from != family_rows) return reason_all_terms;
    if (is_statistic(v) && (from == family_gemm || to == family_gemm)) return reason_whole_row;
    if (from == family_rows && to == family_gemm) return reason_stored_operand;
    if (from == family_gemm && to == family_gemm) return fuse_why_not_packed(f, x, y);
    if (from == family_gemm && group_reduces(&f->groups[y]) && !sole_sum) return reason_whole_row;
    return why_not_joined(f, v, user, x, y);
}

static void add_note(fusing *f, ir_value *v, ir_op *user)
{
    ir_graph *p = f->p;
    p->notes = build_grow(f->a, p->notes, p->note_count, sizeof *p->notes);
    p->notes[p->note_count++] = (fusion_note){reason_code(why_split(f, v, user)), v, user};
}

void fuse_notes(fusing *f)
{
    ir_graph *p = f->p;
    for (int i = 0; i < p->op_count; i++) {
        ir_value *used[24];
        int n = op_operands(p->ops[i], used, 24);
        for (int k = 0; k < n; k++) {
            bool again = false;
            for (int j = 0; j < k; j++) again |= used[j] == used[k];
            const ir_value *makers[most_makers];
            int from = f->printed_in[used[k]->id], to = f->printed_in[p->ops[i]->outputs[0]->id];
            if (!again && from != to && value_makers(used[k], makers)) add_note(f, used[k], p->ops[i]);
        }
    }
}
