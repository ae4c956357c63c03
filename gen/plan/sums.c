/* Contract: gen/plan/sums.h. A product is rewritten only if its phase reads sums of squares of the very rows that it multiplies. */
#include "gen/plan/sums.h"
#include "gen/plan/choice.h"
#include "ir/graph/reason.h"

/* The sum of squares of the product's A rows that the phase reads from another phase; NULL: none. */
static ir_value *sum_read(const ir_phase *phase)
{
    const ir_op *product = phase_first(phase, class_PRODUCT);
    for (int i = 0; i < phase->op_count && product; i++)
        for (int k = 0; k < phase->ops[i]->input_count; k++) {
            const ir_op *sum = phase->ops[i]->inputs[k]->def;
            if (sum && sum->kind == op_row_sumsq && sum->inputs[0] == product->inputs[0] && !phase_has(phase, sum)) return sum->outputs[0];
        }
    return NULL;
}

/* Above most_rows, summing in the product takes longer than summing in a launch of its own, or in the epilogue of the phase that makes the
 * rows. Norm and product together on an H200, with the sum in the product and with it elsewhere: 107x6144x4096 18.5 and 18.7 us,
 * 207x4608x3584 22.4 and 20.9 us, 318x5120x4096 38.1 and 28.0 us. phase: the problem's, perhaps changed by other rewrites since. */
static bool may_take(const problem *p, const program *of, const ir_phase *phase)
{
    enum { most_rows = 128 };
    const bool few = of->takes_sums_of_all || problem_rows(p) <= most_rows;
    return p->ir->level >= fusion_tile && program_takes_sums(p, of) && phase->family == family_gemm && few && sum_read(phase);
}

bool row_sums_are_wanted(const problem *p, const program *of) { return p->ir->input_sums && may_take(p, of, p->phase); }

/* By value id: how many times ops of the graph read the value. */
static int *count_reads(const builder *b)
{
    int *reads = arena_alloc(b->a, ((size_t)b->p->value_count + 1) * sizeof *reads);
    for (int k = 0; k < b->p->kernel_count; k++)
        for (int i = 0; i < b->p->kernels[k]->phase_count; i++) {
            const ir_phase *phase = b->p->kernels[k]->phases[i];
            for (int n = 0; n < phase->op_count; n++)
                for (int x = 0; x < phase->ops[n]->input_count; x++) reads[phase->ops[n]->inputs[x]->id]++;
        }
    return reads;
}

static void drop_notes(editor *e, const ir_value *v, const ir_op *user)
{
    for (fusion_note *n; (n = edit_note(e, v, user));) n->value = NULL;
}

/* ---- into the product's phase */
static void read_own(editor *e, int *reads, ir_phase *phase, const ir_value *sum, ir_value *own)
{
    for (int i = 0; i < phase->op_count; i++)
        for (int k = 0; k < phase->ops[i]->input_count; k++)
            if (phase->ops[i]->inputs[k] == sum) {
                drop_notes(e, sum, phase->ops[i]);
                phase->ops[i]->inputs[k] = own;
                reads[sum->id]--;
            }
}

/* Adds the sum to the product's phase. If a phase makes the rows, a note says why they are stored: the product reads them. */
static void take(editor *e, int *reads, ir_phase *phase, ir_value *sum)
{
    const ir_op *product = phase_first(phase, class_PRODUCT);
    ir_value *own = build_value(e->b, arena_printf(e->b->a, "%s.ss", phase->name), sum->type, sum), *rows = product->inputs[0];
    ir_op *op = build_op(e->b, op_row_sumsq, sum->def, own, 1, rows);
    op->role = role_body;
    read_own(e, reads, phase, sum, own);
    edit_insert_op(e, phase, phase_index(phase, product), op);
    if (value_root(rows)->def) edit_add_note(e, reason_code(reason_product_input), rows, op);
}

/* ---- out of the phase that made it */
static bool has_code(const ir_phase *phase)
{
    for (int i = 0; i < phase->op_count; i++)
        if (!op_is_view(phase->ops[i])) return true;
    return false;
}

/* Removes the sum from the phase that made it. If only views remain there, they are views of the sum's operand; they move to `reader`,
 * which leaves the phase empty. */
static void remove_sum(editor *e, const ir_value *sum, ir_phase *reader)
{
    ir_phase *maker = edit_maker(e, sum);
    drop_notes(e, sum->def->inputs[0], sum->def);
    edit_remove_op(maker, sum->def);
    edit_remove_value(e, sum);
    if (has_code(maker)) return;
    for (int i = 0; i < maker->op_count; i++) maker->ops[i]->role = role_prologue;
    edit_move_ops(e, maker, 0, maker->op_count, reader, 0);
}

/* Moves the sum that the product's phase reads into that phase. If the fusion input_sums is turned off, only changes the notes, which then
 * say so. */
static void take_of_phase(editor *e, int *reads, ir_phase *phase)
{
    ir_value *sum = sum_read(phase);
    if (!e->b->p->input_sums) {
        for (int i = 0; i < phase->op_count; i++) {
            fusion_note *n = edit_note(e, sum, phase->ops[i]);
            if (n) n->code = reason_code(reason_disabled);
        }
        return;
    }
    take(e, reads, phase, sum);
    if (!sum->output && reads[sum->id] == 0) remove_sum(e, sum, phase);
}

void take_sums(editor *e)
{
    const ir_graph *p = e->b->p;
    int *reads = NULL;
    for (int k = 0; k < e->kernel_count; k++)
        for (int i = 0; i < p->kernels[k]->phase_count; i++) {
            ir_phase *phase = p->kernels[k]->phases[i];
            if (!may_take(&phase->choice->original, phase->choice->of, phase)) continue;
            if (!reads) reads = count_reads(e->b);
            take_of_phase(e, reads, phase);
        }
}
