/* In: a program whose products read sums of squares of the very rows that they multiply. Out: what gen/plan/sums.h says. Refuses nothing
 * itself. */
#include "gen/plan/sums.h"
#include "gen/plan/choice.h"
#include "ir/program/reason.h"
#include <string.h>

typedef struct taker {
    builder *b;
    ir_program *p;
    /* By ids, which stay as they are until all is done: how often ops read a value, which phase makes it, and where its notes are. What
     * goes is marked (a phase without ops, a note without a value, gone) and taken out at the end: else each would walk all. */
    int *reads, *first_note, *notes;
    ir_phase **made_in;
    bool *gone;
} taker;

static void index_values(taker *t)
{
    const size_t values = (size_t)t->p->value_count + 2;
    t->reads = arena_alloc(t->b->a, values * sizeof *t->reads);
    t->first_note = arena_alloc(t->b->a, values * sizeof *t->first_note);
    t->notes = arena_alloc(t->b->a, ((size_t)t->p->note_count + 1) * sizeof *t->notes);
    t->made_in = arena_alloc(t->b->a, values * sizeof(ir_phase *));
    t->gone = arena_alloc(t->b->a, values);
    for (int k = 0; k < t->p->kernel_count; k++)
        for (int i = 0; i < t->p->kernels[k]->phase_count; i++) {
            ir_phase *phase = t->p->kernels[k]->phases[i];
            for (int n = 0; n < phase->op_count; n++) {
                for (int x = 0; x < phase->ops[n]->input_count; x++) t->reads[phase->ops[n]->inputs[x]->id]++;
                for (int x = 0; x < phase->ops[n]->output_count; x++) t->made_in[phase->ops[n]->outputs[x]->id] = phase;
            }
        }
    for (int i = 0; i < t->p->note_count; i++) t->first_note[t->p->notes[i].value->id + 2]++;
    for (size_t i = 2; i < values; i++) t->first_note[i] += t->first_note[i - 1];
    for (int i = 0; i < t->p->note_count; i++) t->notes[t->first_note[t->p->notes[i].value->id + 1]++] = i;
}

/* The sum of squares of the product's rows that the phase reads; NULL: it reads none. */
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

static bool may_take(const ir_program *p, const ir_phase *phase, const program *of)
{
    return p->level >= fusion_tile && of->takes_sums && phase->family == family_gemm && sum_read(phase);
}

bool row_sums_are_wanted(const problem *p, const program *of) { return p->program->input_sums && may_take(p->program, p->phase, of); }

/* ---- the edges' notes */
static fusion_note *note_of(const taker *t, const ir_value *v, const ir_op *user)
{
    for (int i = t->first_note[v->id]; i < t->first_note[v->id + 1]; i++) {
        fusion_note *n = &t->p->notes[t->notes[i]];
        if (n->value == v && n->user == user) return n;
    }
    return NULL;
}

static void drop_notes(taker *t, const ir_value *v, const ir_op *user)
{
    for (fusion_note *n; (n = note_of(t, v, user));) n->value = NULL;
}

/* The rows, if a phase makes them, are stored for the sum as they are for the product. */
static void add_note(taker *t, ir_value *rows, ir_op *user)
{
    if (value_root(rows)->def) t->p->notes[t->p->note_count++] = (fusion_note){reason_code(reason_product_input), rows, user};
}

/* ---- into the product's phase */
/* Before the first product. */
static void insert_op(arena *a, ir_phase *phase, ir_op *op)
{
    ir_op **ops = arena_alloc(a, ((size_t)phase->op_count + 1) * sizeof *ops);
    const ir_op *product = phase_first(phase, class_PRODUCT);
    int count = 0;
    for (int i = 0; i < phase->op_count; i++) {
        if (phase->ops[i] == product) ops[count++] = op;
        ops[count++] = phase->ops[i];
    }
    phase->ops = ops, phase->op_count = count;
}

static void read_own(taker *t, ir_phase *phase, const ir_value *sum, ir_value *own)
{
    for (int i = 0; i < phase->op_count; i++)
        for (int k = 0; k < phase->ops[i]->input_count; k++)
            if (phase->ops[i]->inputs[k] == sum) {
                drop_notes(t, sum, phase->ops[i]);
                phase->ops[i]->inputs[k] = own;
                t->reads[sum->id]--;
            }
}

static void take(taker *t, ir_phase *phase, ir_value *sum)
{
    const ir_op *product = phase_first(phase, class_PRODUCT);
    const char *name = arena_printf(t->b->a, "%s.ss", phase->name);
    ir_value *own = build_value(t->b, name, sum->type, sum);
    ir_op *op = build_op(t->b, op_row_sumsq, sum->def, own, 1, product->inputs[0]);
    op->role = role_body;
    read_own(t, phase, sum, own);
    insert_op(t->b->a, phase, op);
    add_note(t, product->inputs[0], op);
}

/* ---- out of the phase that made it */
static void remove_op(ir_phase *phase, const ir_op *op)
{
    int count = 0;
    for (int i = 0; i < phase->op_count; i++)
        if (phase->ops[i] != op) phase->ops[count++] = phase->ops[i];
    phase->op_count = count;
}

/* Views alone need no kernel; those that stand with the sum are of what it reads, and move to the first product that reads it. */
static bool has_code(const ir_phase *phase)
{
    for (int i = 0; i < phase->op_count; i++)
        if (!op_is_view(phase->ops[i])) return true;
    return false;
}

static void remove_sum(taker *t, const ir_value *sum, ir_phase *reader)
{
    ir_phase *maker = t->made_in[sum->id];
    drop_notes(t, sum->def->inputs[0], sum->def);
    remove_op(maker, sum->def);
    t->gone[sum->id] = true;
    if (has_code(maker)) return;
    ir_op **ops = arena_alloc(t->b->a, ((size_t)(maker->op_count + reader->op_count) + 1) * sizeof *ops);
    for (int i = 0; i < maker->op_count; i++) {
        ops[i] = maker->ops[i], ops[i]->role = role_prologue;
        for (int x = 0; x < ops[i]->output_count; x++) t->made_in[ops[i]->outputs[x]->id] = reader;
    }
    memcpy(ops + maker->op_count, reader->ops, (size_t)reader->op_count * sizeof *ops);
    reader->ops = ops, reader->op_count += maker->op_count;
    maker->op_count = 0;
}

/* Nobody waits for a phase that is gone: its readers are, as those of what it read, after whoever made that. */
static void forget_gone_phases(ir_phase *phase)
{
    int count = 0;
    for (int n = 0; n < phase->after_count; n++)
        if (phase->after[n]->op_count > 0) phase->after[count++] = phase->after[n];
    phase->after_count = count;
}

/* What was marked. `values`: how many there were before. */
static void remove_marked(taker *t, int values)
{
    ir_program *p = t->p;
    int count = 0;
    for (int k = 0; k < p->kernel_count; k++) {
        for (int i = 0; i < p->kernels[k]->phase_count; i++) forget_gone_phases(p->kernels[k]->phases[i]);
        if (p->kernels[k]->phases[0]->op_count > 0) p->kernels[count++] = p->kernels[k];
    }
    p->kernel_count = count;
    count = 0;
    for (int i = 0; i < p->note_count; i++)
        if (p->notes[i].value) p->notes[count++] = p->notes[i];
    p->note_count = count;
    count = 0;
    for (int i = 0; i < p->value_count; i++)
        if (i >= values || !t->gone[i]) p->values[count++] = p->values[i];
    p->value_count = count;
    for (int i = 0; i < count; i++) p->values[i]->id = i;
}

static bool take_of_phase(taker *t, ir_phase *phase)
{
    ir_value *sum = sum_read(phase);
    if (!t->p->input_sums) {
        for (int i = 0; i < phase->op_count; i++) {
            fusion_note *n = note_of(t, sum, phase->ops[i]);
            if (n) n->code = reason_code(reason_disabled);
        }
        return false;
    }
    take(t, phase, sum);
    if (!sum->output && t->reads[sum->id] == 0) remove_sum(t, sum, phase);
    return true;
}

void take_sums(builder *b)
{
    taker t = {.b = b, .p = b->p};
    bool changed = false;
    if (b->p->level < fusion_tile) return;
    ir_phase **takers = arena_alloc(b->a, ((size_t)b->p->kernel_count + 1) * sizeof *takers);
    int count = 0;
    for (int k = 0; k < b->p->kernel_count; k++) {
        ir_phase *phase = b->p->kernels[k]->phases[0];
        if (phase->choice && may_take(b->p, phase, phase->choice->of)) takers[count++] = phase;
    }
    const int values = b->p->value_count;
    index_values(&t);
    fusion_note *notes = arena_alloc(b->a, ((size_t)(b->p->note_count + count) + 1) * sizeof *notes);
    if (b->p->note_count) memcpy(notes, b->p->notes, (size_t)b->p->note_count * sizeof *notes);
    b->p->notes = notes;
    for (int i = 0; i < count; i++) changed |= take_of_phase(&t, takers[i]);
    if (!changed) return;
    remove_marked(&t, values);
    build_list_ops(b);
    ir_check(b->a, b->p, "input_sums");
}
