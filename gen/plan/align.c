/* Contract: gen/plan/align.h. A value that only kernels of this graph access is stored with padded rows. A value that the caller sees keeps
 * its layout: an align kernel makes one padded copy for all products that read it. (On an H200, products that aligned rows themselves were
 * slower at every size.) */
#include "gen/plan/align.h"
#include "gen/plan/choice.h"
#include "gen/plan/copy.h"
#include "gen/plan/terms.h"
#include "gen/program/products.h"

typedef struct aligned {
    const ir_value *from;
    ir_value *rows; /* the copy of `from` */
} aligned;

typedef struct aligner {
    editor *e;
    bool *is_root; /* by value id: true if other values live in its storage */
    aligned *copies, *transposes;
    int count, transpose_count;
} aligner;

/* The number of columns after padding. Rows are padded to a multiple of 16 bytes, which tensor loads need, and rows of 1 KiB or more to
 * whole lines of 128 bytes, because a load that straddles two lines requests both from L2. */
static long long aligned_columns(const ir_value *v)
{
    enum { load = 16, line = 128, long_row = 8 * line };
    const long long size = dtype_size(v->type), vector = (value_columns(v) * size < long_row ? load : line) / size;
    return (value_columns(v) + vector - 1) / vector * vector;
}

/* True if v's rows may be padded: only kernels of this graph access its storage, and no other value lives there. */
static bool may_be_longer(const aligner *g, const ir_value *v)
{
    if (v->kind != value_result || v->output || v->root || op_is_view(v->def)) return false;
    return !g->is_root[v->id];
}

/* True for A, and for B of a matmul. B of a linear is a packed weight, which has no rows to align. */
static bool has_rows(const ir_op *product, int which)
{
    return which == operand_a || (which == operand_b && product->kind == op_matmul);
}

/* ---- the copy */
static bool reduces(const ir_phase *phase, const ir_value *v)
{
    for (int i = 0; i < phase->op_count; i++)
        if (op_table[phase->ops[i]->kind].class == class_REDUCE && phase->ops[i]->inputs[0] == v) return true;
    return false;
}

/* A rows phase that the reader waits for, and that reads the rows of v to reduce them; NULL: none. */
static ir_phase *reducer_of(const ir_phase *reader, const ir_value *v)
{
    for (int i = 0; i < reader->after_count; i++)
        if (reader->after[i]->family == family_rows && reduces(reader->after[i], v)) return reader->after[i];
    return NULL;
}

/* Makes a phase that has the rows of v write the copy, which saves a launch that reads them again: with a norm before it, 2400x445x774 took
 * 18.3 us with two launches before the product. */
static void write_copy(editor *e, ir_phase *phase, const ir_phase *reader, ir_value *v, ir_value *copy)
{
    copy->at = reader->ops[0]->at;
    ir_op *op = build_op(e->b, op_cast, reader->ops[0], copy, 1, v);
    op->attributes.to = v->type, op->role = role_epilogue;
    edit_insert_op(e, phase, phase->op_count, op);
}

static ir_value *insert_copy(aligner *g, int k, ir_phase *reader, ir_value *v, operand which)
{
    arena *a = g->e->b->a;
    ir_value *copy = build_value(g->e->b, arena_printf(a, "%s.rows", v->name), v->type, v);
    const char *kernel = arena_printf(a, which == operand_a ? "%s_align" : "%s_align_b", g->e->b->p->kernels[k]->name);
    ir_phase *reducer = reducer_of(reader, v);
    copy->root_stride = aligned_columns(v);
    if (reducer) write_copy(g->e, reducer, reader, v, copy);
    else edit_copy(g->e, k, reader, v, &(copy_request){copy, op_align, family_align, kernel});
    g->copies[g->count++] = (aligned){v, copy};
    return copy;
}

/* True if x and y are the same rows in memory, even if their axes before the last are grouped differently. */
static bool same_rows(arena *a, const ir_value *x, const ir_value *y)
{
    const view of_x = view_of(a, x), of_y = view_of(a, y);
    const extent x_rows = value_rows(a, x), y_rows = value_rows(a, y);
    return of_x.root == of_y.root && of_x.offset == of_y.offset && of_x.stride == of_y.stride &&
           value_columns(x) == value_columns(y) && extent_equal(&x_rows, &y_rows);
}

/* An existing copy of the same rows, preferably one with the shape of v; NULL: none. */
static ir_value *copy_made(const aligner *g, const ir_value *v)
{
    ir_value *found = NULL;
    for (int i = 0; i < g->count; i++)
        if ((!found || value_same_shape(g->copies[i].rows, v)) && same_rows(g->e->b->a, g->copies[i].from, v)) found = g->copies[i].rows;
    return found;
}

/* The copy in v's shape: the copy itself, or a reshape of it, which is added to the phase that makes the copy. */
static ir_value *copy_like(aligner *g, const ir_phase *reader, ir_value *copy, const ir_value *v)
{
    builder *b = g->e->b;
    if (value_same_shape(copy, v)) return copy;
    ir_value *rows = build_value(b, arena_printf(b->a, "%s.rows", v->name), v->type, v), *root = copy->root ? copy->root : copy;
    ir_phase *maker = edit_maker(g->e, root);
    rows->root = root, rows->root_stride = root->root_stride, rows->at = v->at;
    ir_op *op = build_op(b, op_reshape, reader->ops[0], rows, 1, root);
    op->role = role_epilogue;
    edit_insert_op(g->e, maker, maker->op_count, op);
    g->copies[g->count++] = (aligned){v, rows};
    return rows;
}

static bool op_reads(const ir_op *op, const ir_value *v)
{
    for (int i = 0; i < op->input_count; i++)
        if (op->inputs[i] == v) return true;
    return false;
}

static bool is_read(const ir_graph *p, const ir_value *v)
{
    for (int k = 0; k < p->kernel_count; k++)
        for (int i = 0; i < p->kernels[k]->phase_count; i++)
            for (int j = 0; j < p->kernels[k]->phases[i]->op_count; j++)
                if (op_reads(p->kernels[k]->phases[i]->ops[j], v)) return true;
    return false;
}

static void read_copy(editor *e, ir_phase *reader, ir_value *v, ir_value *rows)
{
    for (int i = 0; i < reader->op_count; i++)
        for (int k = 0; k < reader->ops[i]->input_count; k++)
            if (reader->ops[i]->role == role_body && has_rows(reader->ops[i], k) && reader->ops[i]->inputs[k] == v)
                reader->ops[i]->inputs[k] = rows;
    edit_run_after(e, reader, edit_maker(e, value_root(rows)));
    if (phase_index(reader, v->def) < 0 || is_read(e->b->p, v)) return;
    edit_remove_op(reader, v->def); /* v was a view that only the product read */
    edit_remove_value(e, v);
}

/* ---- the transpose of A */
static ir_value *transpose_of(aligner *g, int k, ir_phase *reader, ir_value *v)
{
    arena *a = g->e->b->a;
    for (int i = 0; i < g->transpose_count; i++)
        if (g->transposes[i].from == v) return g->transposes[i].rows;
    ir_value *copy = build_value(g->e->b, arena_printf(a, "%s.transposed", v->name), v->type, v);
    copy->shape[v->rank - 2] = v->shape[v->rank - 1], copy->shape[v->rank - 1] = v->shape[v->rank - 2];
    copy->root_stride = aligned_columns(copy);
    const char *kernel = arena_printf(a, "%s_transpose", g->e->b->p->kernels[k]->name);
    edit_copy(g->e, k, reader, v, &(copy_request){copy, op_align, family_align, kernel})->attributes.transpose = true;
    g->transposes[g->transpose_count++] = (aligned){v, copy};
    return copy;
}

/* Makes the matmul read A from a transposed copy, [M, K]. If B is the same value, it is still read from the original. */
static void transpose_a(aligner *g, int k, ir_phase *phase)
{
    ir_op *product = phase->ops[phase_index(phase, phase_first(phase, class_PRODUCT))];
    product->inputs[0] = transpose_of(g, k, phase, product->inputs[0]);
    product->attributes.transpose_a = false;
    edit_run_after(g->e, phase, edit_maker(g->e, product->inputs[0]));
}

/* ---- which operands */
bool rows_of_a_are_wanted(const problem *p, const program *of)
{
    const ir_op *product = p->phase->family == family_gemm ? p->product : NULL;
    return product && product->attributes.transpose_a && !of->reads_columns_of_a;
}

/* True if the program `of` needs another rewrite that copies this operand anyway. Rows of such a copy are aligned. */
static bool is_copied(const problem *p, const program *of, operand which)
{
    return (terms_are_wanted(p, of) && which == operand_in_terms(p)) ||
           (which == operand_a && (rows_of_a_are_wanted(p, of) || row_terms_are_wanted(p, of)));
}

bool rows_lie_as_needed(arena *a, const program *of, const ir_value *v)
{
    enum { usual = 16 };
    return value_alignment(a, v) >= (of->row_bytes ? of->row_bytes : usual);
}

bool alignment_is_wanted(const problem *p, const program *of)
{
    const ir_op *product = of->aligned_rows && p->phase->family == family_gemm ? p->product : NULL;
    for (int i = 0; product && i < 2; i++)
        if (has_rows(product, i) && !is_copied(p, of, i ? operand_b : operand_a) && !rows_lie_as_needed(p->a, of, product->inputs[i]))
            return true;
    return false;
}

/* Pads or copies an operand, unless that was done for another product that reads it. */
static void align_operand(aligner *g, int k, ir_phase *phase, operand which)
{
    ir_value *v = phase_first(phase, class_PRODUCT)->inputs[which];
    if (rows_lie_as_needed(g->e->b->a, phase->choice->of, v)) return;
    if (may_be_longer(g, v)) {
        v->root_stride = aligned_columns(v);
        return;
    }
    ir_value *made = copy_made(g, v);
    read_copy(g->e, phase, v, made ? copy_like(g, phase, made, v) : insert_copy(g, k, phase, v, which));
}

/* ---- results */
/* Pads rows of a product's results that only this graph reads, if the program stores rows that begin at multiples of 16 bytes in vectors,
 * and shorter pieces of others. Other programs were not timed. Five products, each with a norm or a softmax behind it, took 1.01 to 1.09
 * times as long without (3952x15036x896 and a norm 295 us, 270). Of ten whose rows were no multiple of 8 bytes, so that the phase behind
 * them has narrow loads anyway, six were slower with it (5206x767x1536 46 us, 68). */
static void pad_results(const aligner *g, const ir_phase *phase)
{
    enum { piece = 8 };
    const program_kind kind = phase->choice->of->kind;
    if (g->e->b->p->level < fusion_tile || (kind != program_gemm_wgmma && kind != program_gemm_swap_ab)) return;
    for (int i = 0; i < phase->op_count; i++) {
        const ir_op *op = phase->ops[i];
        ir_value *v = op->output_count == 1 ? op->outputs[0] : NULL;
        if (!v || value_columns(v) <= 1 || op_is_view(op) || value_columns(v) * dtype_size(v->type) % piece) continue;
        if (rows_lie_as_needed(g->e->b->a, phase->choice->of, v) || !may_be_longer(g, v)) continue;
        if (value_stored(g->e->b->p, phase, v)) v->root_stride = aligned_columns(v); /* last, as it may look at all ops */
    }
}

void align_operands(editor *e)
{
    const ir_graph *p = e->b->p;
    const size_t values = (size_t)p->value_count, most = 2 * (size_t)p->op_count + 1; /* at most two copies per phase */
    aligner g = {.e = e, .is_root = arena_alloc(e->b->a, values + most), .copies = arena_alloc(e->b->a, most * sizeof *g.copies),
                 .transposes = arena_alloc(e->b->a, most * sizeof *g.transposes)};
    for (size_t i = 0; i < values; i++)
        if (p->values[i]->root) g.is_root[p->values[i]->root->id] = true;
    for (int k = 0; k < e->kernel_count; k++)
        for (int i = 0; i < p->kernels[k]->phase_count; i++) {
            ir_phase *phase = p->kernels[k]->phases[i];
            if (phase->choice->rewrites & rewrite_rows_of_a) transpose_a(&g, k, phase);
            for (int n = 0; n < 2 && phase->choice->rewrites & rewrite_aligned_rows; n++)
                if (has_rows(phase_first(phase, class_PRODUCT), n)) align_operand(&g, k, phase, n ? operand_b : operand_a);
            pad_results(&g, phase);
        }
}
