/* In: a program with products whose program needs 16-byte aligned rows of A and whose A has others. Out: a value internal to the program
 * gets padded rows; of a value that the caller sees, an align kernel makes a padded copy, once for all products that read it (H200: copies
 * by the product's own threads were slower at every size). */
#include "gen/plan/align.h"
#include "gen/base/names.h"
#include "gen/plan/choice.h"
#include "gen/plan/copy.h"
#include "gen/plan/terms.h"
#include "gen/program/products.h"

typedef struct aligner {
    editor *e;
    /* by value id */
    ir_op **copy;  /* the align op; NULL: none yet */
    bool *is_root; /* other values live in its storage */
} aligner;

/* Multiples of what tensor loads take; long rows begin at lines, as loads of a row that straddles them ask L2 for both. */
static long long aligned_columns(const ir_value *v)
{
    enum { load = 16, line = 128, long_row = 8 * line };
    const long long size = dtype_size(v->type), vector = (value_columns(v) * size < long_row ? load : line) / size;
    return (value_columns(v) + vector - 1) / vector * vector;
}

/* True if only kernels of this graph access v's storage, and all with v's row length. */
static bool may_be_longer(const aligner *g, const ir_value *v)
{
    if (v->kind != value_result || v->output || v->root || op_is_view(v->def)) return false;
    return !g->is_root[v->id];
}

/* True if the product reads this operand as rows: A, and B of a matmul, but no packed weight. */
static bool has_rows(const ir_op *product, int which)
{
    return which == operand_a || (which == operand_b && product->kind == op_matmul);
}

/* ---- the copy */
static ir_op *insert_copy(aligner *g, int k, ir_phase *reader, ir_value *v, operand which)
{
    arena *a = g->e->b->a;
    ir_value *copy = build_value(g->e->b, arena_printf(a, "%s.rows", v->name), v->type, v);
    const char *kernel = arena_printf(a, which == operand_a ? "%s_align" : "%s_align_b", g->e->b->p->kernels[k]->name);
    copy->root_stride = aligned_columns(v);
    return g->copy[v->id] = edit_copy(g->e, k, reader, v, &(copy_request){copy, op_align, family_align, kernel});
}

static void read_copy(editor *e, ir_phase *reader, const ir_value *v, const ir_op *copy)
{
    for (int i = 0; i < reader->op_count; i++)
        for (int k = 0; k < reader->ops[i]->input_count; k++)
            if (reader->ops[i]->role == role_body && has_rows(reader->ops[i], k) && reader->ops[i]->inputs[k] == v)
                reader->ops[i]->inputs[k] = copy->outputs[0];
    edit_run_after(e, reader, edit_maker(e, copy->outputs[0]));
}

/* ---- which operands */
bool alignment_is_wanted(const problem *p, const program *of)
{
    const ir_op *product = of->aligned_rows && p->phase->family == family_gemm ? problem_product(p) : NULL;
    for (int i = 0; product && i < 2; i++)
        if (has_rows(product, i) && !(i && terms_are_wanted(p, of)) && value_alignment(p->a, product->inputs[i]) != 16) return true;
    return false;
}

/* Another product with the same operand may have padded or copied it already. */
static void align_operand(aligner *g, int k, ir_phase *phase, operand which)
{
    ir_value *v = phase_first(phase, class_PRODUCT)->inputs[which];
    if (value_alignment(g->e->b->a, v) == 16) return;
    if (may_be_longer(g, v)) {
        v->root_stride = aligned_columns(v);
        return;
    }
    read_copy(g->e, phase, v, g->copy[v->id] ? g->copy[v->id] : insert_copy(g, k, phase, v, which));
}

void align_operands(editor *e)
{
    const ir_graph *p = e->b->p;
    const size_t values = (size_t)p->value_count, room = values + 2 * (size_t)p->op_count + 1; /* at most two copies per phase */
    aligner g = {e, arena_alloc(e->b->a, room * sizeof *g.copy), arena_alloc(e->b->a, room)};
    for (size_t i = 0; i < values; i++)
        if (p->values[i]->root) g.is_root[p->values[i]->root->id] = true;
    for (int k = 0; k < e->kernel_count; k++)
        for (int i = 0; i < p->kernels[k]->phase_count; i++) {
            ir_phase *phase = p->kernels[k]->phases[i];
            for (int n = 0; n < 2 && phase->choice->rewrites & rewrite_aligned_rows; n++)
                if (has_rows(phase_first(phase, class_PRODUCT), n)) align_operand(&g, k, phase, n ? operand_b : operand_a);
        }
}
