/* In: a product whose weight has errors (it was rounded again after a factor was folded into it, say) and its rows. Out: how alike the
 * effects of these errors are in different rows, for attention, which adds up rows of K and V. Refuses nothing.
 *
 * The error of weight w_kn moves column n of row t by x_tk e_kn, so the effects on rows t and s are correlated like sum_k d_k^2 x_tk x_sk,
 * with d_k^2 the mean of e_kn^2 over n. A row is therefore described by parts s_t whose products s_t . s_s give that sum: the numbers
 * d_k x_tk themselves if there are few, else sums of them with random signs (as for queries in ref_attention.c). */
#include "ir/reference/ref_parts.h"
#include <math.h>
#include <stdlib.h>

static double part_at(size_t K, size_t k, int i)
{
    if (K <= ref_weight_parts) return (size_t)i == k;
    const uint64_t bits = ((uint64_t)k + 1) * 0x9e3779b97f4a7c15u;
    return (bits >> (40 + i) & 1 ? 1 : -1) / sqrt(ref_weight_parts);
}

bool ref_note_weights(ref_state *r, const ir_op *op, const double *x, const double *of_k, size_t M, size_t K)
{
    const ref_tensor *y = ref_out(r, op);
    const size_t N = y->count / M;
    struct ref_weights *noted = calloc(1, sizeof *noted + M * ref_weight_parts * sizeof *noted->parts);
    if (!noted) return ref_fail(r, op, "not enough memory");
    noted->rows = M;
    for (size_t m = 0; m < M; m++) {
        double *row = noted->parts + m * ref_weight_parts, squares = 0;
        for (size_t k = 0; k < K; k++)
            for (int i = 0; i < ref_weight_parts && isfinite(x[m * K + k]); i++) row[i] += part_at(K, k, i) * of_k[k] * x[m * K + k];
        for (size_t n = 0; n < N; n++) squares += y->error[m * N + n] * y->error[m * N + n];
        const double all = sqrt(squares / (double)N);
        for (int i = 0; i < ref_weight_parts; i++) row[i] = all > 0 && isfinite(all) ? row[i] / all : 0;
    }
    free(r->of_weights[op->outputs[0]->id]);
    r->of_weights[op->outputs[0]->id] = noted;
    return true;
}

/* Ops after which rows have the errors of their first operand's rows, up to factors of a row or column. */
static bool passes_rows(const ir_op *op)
{
    switch (op->kind) {
    case op_rope:
    case op_reshape:
    case op_cast:
    case op_neg:
    case op_add:
    case op_sub:
    case op_mul:
    case op_div: return true;
    default: return false;
    }
}

const double *ref_weights_of(const ref_state *r, const ir_value *v, size_t rows)
{
    while (v && !r->of_weights[v->id]) {
        const ir_op *op = v->def;
        if (!op || !passes_rows(op)) return NULL;
        v = op->inputs[0];
    }
    return v && r->of_weights[v->id]->rows == rows ? r->of_weights[v->id]->parts : NULL;
}
