/* Contract: gen/plan/terms.h. K is contiguous in a copy in TF32 terms, whether or not the original is transposed: B becomes [..., N, K], A
 * becomes [..., M, K]. The matmul then reads B as transposed and A as not transposed. A row of the copy takes twice the memory of an f32
 * row. */
#include "gen/plan/terms.h"
#include "gen/plan/choice.h"
#include "gen/plan/copy.h"
#include "gen/program/products.h"
#include "ir/graph/format.h"

bool terms_are_wanted(const problem *p, const program *of)
{
    return of->weights == weights_split && phase_op(p->phase, op_matmul) && !reads_terms(p->product);
}

bool row_terms_are_wanted(const problem *p, const program *of)
{
    const ir_op *linear = p->phase->family == family_gemm ? phase_op(p->phase, op_linear) : NULL;
    return linear && rows_terms(of->weights, linear) > 1 && !reads_bf16_terms(linear);
}

/* A value for the TF32 terms of z. along: rows of z run along K, so the copy has the same shape; else the copy is transposed. */
static ir_value *value_of_terms(editor *e, const ir_value *z, bool along)
{
    arena *a = e->b->a;
    ir_value *terms = build_value(e->b, arena_printf(a, along ? "%s.terms" : "%s.columns", z->name), z->type, z);
    const extent rows = z->shape[z->rank - (along ? 2 : 1)];
    terms->shape[z->rank - 1] = z->shape[z->rank - (along ? 1 : 2)];
    terms->shape[z->rank - 2] = rows;
    terms->root_stride = format_length(format_at(format_tf32x2), value_columns(terms));
    return terms;
}

/* copies: at 2 * id + along, the op that splits the value of this id, shared by all matmuls that read it; `along` as
 * for value_of_terms(). */
static void split_operand(editor *e, int k, ir_phase *phase, ir_op **copies)
{
    ir_op *matmul = phase_op(phase, op_matmul);
    const operand which = operand_in_terms(&phase->choice->original);
    const bool along = which == operand_a ? !matmul->attributes.transpose_a : matmul->attributes.transpose;
    ir_value *z = matmul->inputs[which];
    ir_op **copy = &copies[2 * z->id + along];
    if (!*copy) {
        const char *kernel = arena_printf(e->b->a, which == operand_a ? "%s_terms_a" : "%s_terms", e->b->p->kernels[k]->name);
        *copy = edit_copy(e, k, phase, z, &(copy_request){value_of_terms(e, z, along), op_tf32_terms, family_tf32_terms, kernel});
        (*copy)->attributes.transpose = along;
    }
    matmul->inputs[which] = (*copy)->outputs[0];
    if (which == operand_a) matmul->attributes.transpose_a = false;
    else matmul->attributes.transpose = true;
    edit_run_after(e, phase, edit_maker(e, (*copy)->outputs[0]));
}

/* copies: by value id, the op that splits its rows into bf16 terms. All linears of a phase read the same rows. */
static void split_rows(editor *e, int k, ir_phase *phase, ir_op **copies)
{
    arena *a = e->b->a;
    ir_value *x = phase_op(phase, op_linear)->inputs[0];
    ir_op **copy = &copies[x->id];
    if (!*copy) {
        ir_value *terms = build_value(e->b, arena_printf(a, "%s.bf16", x->name), dtype_bf16, x);
        terms->root_stride = format_row_of_terms(x->type, value_columns(x));
        const char *kernel = arena_printf(a, "%s_bf16", e->b->p->kernels[k]->name);
        *copy = edit_copy(e, k, phase, x, &(copy_request){terms, op_bf16_terms, family_bf16_terms, kernel});
    }
    for (int i = 0; i < phase->op_count; i++)
        if (phase->ops[i]->kind == op_linear && phase->ops[i]->inputs[0] == x) phase->ops[i]->inputs[0] = (*copy)->outputs[0];
    edit_run_after(e, phase, edit_maker(e, (*copy)->outputs[0]));
}

void split_into_terms(editor *e)
{
    const ir_graph *p = e->b->p;
    ir_op **copies = arena_alloc(e->b->a, 2 * ((size_t)p->value_count + 1) * sizeof(ir_op *)),
          **rows = arena_alloc(e->b->a, ((size_t)p->value_count + 1) * sizeof(ir_op *));
    for (int k = 0; k < e->kernel_count; k++)
        for (int i = 0; i < p->kernels[k]->phase_count; i++) {
            ir_phase *phase = p->kernels[k]->phases[i];
            if (phase->choice->rewrites & rewrite_terms) split_operand(e, k, phase, copies);
            if (phase->choice->rewrites & rewrite_row_terms) split_rows(e, k, phase, rows);
        }
}
