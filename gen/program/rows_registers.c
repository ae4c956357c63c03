/* In: a rows phase and its tile. Out: what a thread keeps of a row, and an estimate of the vector registers per lane that compilers need
 * for it (templates/rows/rows.h, gen/emit/rows.c). Contract: gen/program/rows.h. tests/gen/test_rows.c compares it with what compilers
 * report. */
#include "gen/program/rows.h"
#include "gen/emit/emit.h"
#include <stdlib.h>

/* A value that the phase computes. */
typedef struct made {
    int id, op, last;             /* the value's id; indices of the op that makes it and of the last op that uses it (-1: none) */
    bool row_scalar, row, needed; /* it has one number per row; it depends on such a number or on the row; a stored value needs it */
    bool paired;                  /* a rope needs it for the other column of each pair, too */
} made;

typedef struct survey {
    const problem *p;
    made *made, **of_op; /* values sorted by id; values by op (NULL: a view) */
    int count;
    /* 2 * id of each value that is kept as loaded, + 1 for the other column of a pair; repeated for each op that uses it */
    int *loaded, loaded_count;
    row_need need;
} survey;

static int by_id(const void *x, const void *y)
{
    const int a = ((const made *)x)->id, b = ((const made *)y)->id;
    return (a > b) - (a < b);
}

static made *find(const survey *s, const ir_value *v)
{
    const ir_value *makers[most_makers];
    if (v->def && op_is_view(v->def) && value_makers(v, makers) == 1) v = makers[0];
    const made key = {.id = v->id};
    return bsearch(&key, s->made, (size_t)s->count, sizeof key, by_id);
}

static bool is_row_scalar(const survey *s, const ir_value *v)
{
    const made *m = find(s, v);
    return v->kind == value_constant || v->rank == 0 || (m ? m->row_scalar : value_columns(v) == 1);
}

static bool needs_row(const survey *s, const ir_value *v)
{
    const made *m = find(s, v);
    return v->kind != value_constant && (is_row_scalar(s, v) || (m && m->row));
}

static void find_made(survey *s)
{
    const ir_phase *phase = s->p->phase;
    s->made = arena_alloc(s->p->a, ((size_t)phase->op_count + 1) * sizeof *s->made);
    s->of_op = arena_alloc(s->p->a, ((size_t)phase->op_count + 1) * sizeof *s->of_op);
    for (int i = 0; i < phase->op_count; i++)
        if (!op_is_view(phase->ops[i])) s->made[s->count++] = (made){.id = phase->ops[i]->outputs[0]->id, .op = i, .last = -1};
    qsort(s->made, (size_t)s->count, sizeof *s->made, by_id);
    for (int i = 0; i < phase->op_count; i++) s->of_op[i] = NULL;
    for (int i = 0; i < s->count; i++) s->of_op[s->made[i].op] = &s->made[i];
}

static bool reduces_columns(const survey *s, const ir_op *op)
{
    return op_table[op->kind].class == class_REDUCE && !is_row_scalar(s, op->inputs[0]);
}

static void find_uses(survey *s)
{
    for (int i = 0; i < s->p->phase->op_count; i++) {
        const ir_op *op = s->p->phase->ops[i];
        made *m = s->of_op[i];
        if (!m) continue;
        m->row_scalar = op_is_elementwise(op) || op_table[op->kind].class == class_REDUCE;
        m->row = op_has_position(op);
        for (int k = 0; k < op->input_count; k++) {
            made *x = find(s, op->inputs[k]);
            if (x) x->last = i;
            if (op_is_elementwise(op)) m->row_scalar = m->row_scalar && is_row_scalar(s, op->inputs[k]);
            m->row = m->row || needs_row(s, op->inputs[k]);
        }
        s->need.steps += reduces_columns(s, op);
    }
}

static bool stored(const survey *s, const ir_op *op)
{
    return op->kind == op_kv_append || value_stored(s->p->ir, s->p->phase, op->outputs[0]);
}

/* Counts a vector that a thread keeps. Two numbers share a register under the conditions of kept_packed(), gen/emit/rows.c. */
static void keep(survey *s, const ir_value *v, bool rounded)
{
    if (v->type == dtype_bf16 && rounded)
        s->need.packed++;
    else
        s->need.kept++;
}

static void need_operands(survey *s, const ir_op *op, bool paired)
{
    for (int i = 0; i < op->input_count; i++) {
        made *x = find(s, op->inputs[i]);
        if (is_row_scalar(s, op->inputs[i])) continue;
        if (x) {
            x->needed = true;
            x->paired |= paired;
            continue;
        }
        for (int far = 0; far <= paired; far++) s->loaded[s->loaded_count++] = op->inputs[i]->id * 2 + far;
    }
}

static int compare_ids(const void *x, const void *y)
{
    const int a = *(const int *)x, b = *(const int *)y;
    return (a > b) - (a < b);
}

/* Walks backwards from stored values to what a thread must keep until it has all row scalars: in phases with reductions, values that do not
 * depend on row scalars; else the loaded operands. */
static void find_kept(survey *s)
{
    const ir_phase *phase = s->p->phase;
    int inputs = 0;
    for (int i = 0; i < phase->op_count; i++) inputs += phase->ops[i]->input_count;
    s->loaded = arena_alloc(s->p->a, ((size_t)inputs * 2 + 1) * sizeof *s->loaded);
    for (int i = phase->op_count - 1; i >= 0; i--) {
        const ir_op *op = phase->ops[i];
        made *m = s->of_op[i];
        if (!m) continue;
        m->needed = !m->row_scalar && (m->needed || stored(s, op));
        if (m->needed && !m->row && s->need.steps)
            for (int far = 0; far <= m->paired; far++) keep(s, op->outputs[0], stored(s, op) && m->last >= 0);
        else if (m->needed || reduces_columns(s, op))
            need_operands(s, op, m->paired || (op->kind == op_rope && op->attributes.pairing == pairing_half));
    }
    qsort(s->loaded, (size_t)s->loaded_count, sizeof *s->loaded, compare_ids);
    for (int i = 0; i < s->loaded_count; i++)
        if (!i || s->loaded[i] != s->loaded[i - 1]) keep(s, s->p->ir->values[s->loaded[i] / 2], true);
}

/* Vectors of registers that computing the op needs besides operands and result. */
static int temporaries(const ir_op *op)
{
    switch (op->kind) {
    case op_sin:
    case op_cos:
    case op_pow: return 4;
    case op_exp:
    case op_exp2:
    case op_expm1:
    case op_log1p:
    case op_erf:
    case op_softplus:
    case op_mish:
    case op_quick_gelu:
    case op_selu:
    case op_elu:
    case op_log:
    case op_tanh:
    case op_sigmoid:
    case op_silu:
    case op_gelu_erf:
    case op_gelu_tanh:
    case op_div: return 1;
    default: return 0;
    }
}

/* Finds the most vectors that are alive at the same time while the ops run in order. */
static void find_alive(survey *s)
{
    const ir_phase *phase = s->p->phase;
    int *ends = arena_alloc(s->p->a, ((size_t)phase->op_count + 1) * sizeof *ends), now = 0;
    for (int i = 0; i <= phase->op_count; i++) ends[i] = 0;
    for (int i = 0; i < phase->op_count; i++) {
        const ir_op *op = phase->ops[i];
        const made *m = s->of_op[i];
        if (!m) continue;
        const bool wide = !m->row_scalar;
        now += wide, ends[m->last < i ? i : m->last] += wide;
        int alive = now + (wide ? temporaries(op) : 0);
        for (int k = 0; k < op->input_count; k++) /* loaded bf16 operands are unpacked to f32 */
            alive += !find(s, op->inputs[k]) && !is_row_scalar(s, op->inputs[k]) && op->inputs[k]->type == dtype_bf16;
        if (alive > s->need.alive) s->need.alive = alive;
        now -= ends[i];
    }
}

/* Registers for what a thread keeps of a chunk, its v adjacent columns. */
static int row_kept(const row_need *need, int v) { return need->packed * (v > 1 ? v / 2 : 1) + need->kept * v; }

row_need row_need_of(const problem *p)
{
    survey s = {.p = p};
    find_made(&s), find_uses(&s), find_kept(&s), find_alive(&s);
    return s.need;
}

/* True if a thread keeps its part of the row in registers from reduction to reduction. The same condition is in templates/rows/rows.h. */
static bool is_kept(const row_need *need, const rows_tile *t, long long chunks)
{
    const int most = t->threads <= 256 ? 192 : t->threads <= 512 ? 128 : 48;
    return chunks == 1 || chunks * (row_kept(need, t->v) + t->v) <= most;
}

int row_registers(const problem *p, const row_need *need, const rows_tile *t)
{
    enum { base = 24 }; /* for addresses and row scalars */
    const long long chunks = (p->space.columns + (long long)t->v * t->team - 1) / ((long long)t->v * t->team),
                    some = t->v < 8 ? 8 / t->v : 1;
    const long long held = is_kept(need, t, chunks) || chunks < some ? chunks : some;
    return (int)(base + held * row_kept(need, t->v) * 5 / 4 + need->alive * t->v / 2);
}
