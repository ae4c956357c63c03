/* Finds facts about each value that a phase's ops make or read: whether the phase makes it, whether it is a row scalar, whether it depends
 * on row scalars or positions. Also estimates how long the phase's arithmetic is. Facts are found once, in the order of the ops, since
 * recursion over operands would take exponential time. */
#include "gen/emit/emit.h"
#include <string.h>

struct value_facts {
    const ir_phase *phase; /* the phase that computes the value; the other fields are valid only in this phase */
    int index;             /* of the value's op in the phase */
    bool row_scalar, needs_row;
};

value_facts *facts_new(arena *a, const ir_graph *p) { return arena_alloc(a, ((size_t)p->value_count + 1) * sizeof(value_facts)); }

bool op_has_position(const ir_op *op) { return op->kind == op_rope || op->kind == op_kv_append; }

static bool op_here(const emission *e, const ir_value *v) { return e->facts[v->id].phase == e->phase; }

const ir_value *value_behind(const emission *e, const ir_value *v)
{
    const ir_value *makers[most_makers];
    if (!v->def || !op_is_view(v->def)) return v;
    return value_makers(v, makers) == 1 && op_here(e, makers[0]) ? makers[0] : v;
}

bool value_made_here(const emission *e, const ir_value *v) { return op_here(e, value_behind(e, v)); }

int value_index_here(const emission *e, const ir_value *v)
{
    v = value_behind(e, v);
    return op_here(e, v) ? e->facts[v->id].index : -1;
}

static bool always_row_scalar(const ir_value *v) { return v->kind == value_constant || v->rank == 0; }

bool value_is_row_scalar(const emission *e, const ir_value *v)
{
    if (always_row_scalar(v)) return true;
    v = value_behind(e, v);
    return op_here(e, v) ? e->facts[v->id].row_scalar : value_columns(v) == 1;
}

bool value_needs_row(const emission *e, const ir_value *v)
{
    if (v->kind == value_constant) return false;
    v = value_behind(e, v);
    return value_is_row_scalar(e, v) || (op_here(e, v) && e->facts[v->id].needs_row);
}

typedef bool value_question(const emission *e, const ir_value *v);

static int count_operands(const emission *e, const ir_op *op, value_question *is)
{
    int n = 0;
    for (int i = 0; i < op->input_count; i++) n += is(e, op->inputs[i]);
    return n;
}

/* Views are skipped, since callers ask for the value behind a view. */
static void find_op(const emission *e, int index)
{
    const ir_op *op = e->phase->ops[index];
    value_facts *own = &e->facts[op->outputs[0]->id];
    if (op_is_view(op)) return;
    own->row_scalar = op_table[op->kind].class == class_REDUCE ||
                      (op_is_elementwise(op) && count_operands(e, op, value_is_row_scalar) == op->input_count);
    own->needs_row = op_has_position(op) || count_operands(e, op, value_needs_row) > 0;
    own->index = index;
    own->phase = e->phase;
}

void facts_find(const emission *e)
{
    for (int i = 0; i < e->phase->op_count; i++) find_op(e, i);
}

/* ---- what is stored */
bool value_written(const emission *e, const ir_value *v)
{
    if (op_is_view(v->def)) return false;
    return v->def->kind == op_kv_append || value_stored(e->plan->ir, e->phase, v);
}

/* Ops of the phase that read a stored value read it rounded, as other phases do. */
bool rounded_here(const emission *e, const ir_value *v)
{
    if (dtype_size(v->type) == 4 || v->def->kind == op_cast || v->def->kind == op_kv_append || !value_written(e, v)) return false;
    for (int i = 0; i < e->phase->op_count; i++)
        for (int k = 0; k < e->phase->ops[i]->input_count; k++)
            if (value_behind(e, e->phase->ops[i]->inputs[k]) == v && !op_is_view(e->phase->ops[i])) return true;
    return false;
}

bool partial_here(const emission *e, const ir_value *v)
{
    return e->phase->family == family_gemm && value_made_here(e, v) && op_table[v->def->kind].class == class_REDUCE &&
           !value_is_row_scalar(e, v->def->inputs[0]);
}

bool wide_reduction(const emission *e, const ir_value *v)
{
    return value_made_here(e, v) && op_table[v->def->kind].class == class_REDUCE && !value_is_row_scalar(e, v->def->inputs[0]);
}

/* ---- how long elementwise arithmetic is */
/* From this cost (arithmetic_cost()) a phase's arithmetic is outlined as functions (chain.c) or put into a loop. The limit is higher for
 * short forms and for rows phases, whose threads have fewer columns. Inlined short forms are faster than a loop as long as the instruction
 * cache holds them: on an H200 with bf16 4096x8192x1024, an epilogue of four functions took 178 us inlined and 189 in a loop, one of six
 * 197 and 213. */
enum { long_cost = 28, long_quick_cost = 40, rolled_quick_cost = 80, long_rows_cost = 100 };
/* A product's epilogue with this many ops is long whatever they cost. NVRTC takes 0.2 s per op for 20 multiplications and additions
 * (sm_90a, tile 128x224, 112 columns per thread), but 0.5 s per op for 40. */
enum { long_op_count = 24 };
/* From this cost, an iteration of such a loop takes 8 columns instead of 32, for which a thread's 16 copies overflow the instruction cache.
 * On an H200 with bf16 4096x8192x1024, three powers took 326 us with 8 columns and 341 with 32, twenty other functions 376 and 377, twelve
 * 267 and 263. */
enum { quarter_cost = 100, quarter_quick_cost = 160 };

/* Whether the phase stores 16-bit values and, apart from row scalars such as statistics, no others. False if it stores only row scalars,
 * since f32 results may depend on them. */
static bool stores_16_bits(const ir_graph *p, const ir_phase *phase)
{
    bool any = false;
    for (int i = 0; i < phase->op_count; i++) {
        const ir_op *op = phase->ops[i];
        const ir_value *v = op->outputs[0];
        const bool written = op->kind == op_kv_append || value_stored(p, phase, v);
        any |= written && dtype_size(v->type) == 2;
        if (dtype_size(v->type) == 2 || op_is_view(op) || (value_columns(v) == 1 && !v->output)) continue;
        if (written) return false;
    }
    return any;
}

bool phase_is_quick(const ir_graph *p, const ir_phase *phase, const target_info *target)
{
    return !target->serial && (graph_is_16_bit(p) || stores_16_bits(p, phase));
}

/* Whether an op with a slow exact form, such as a division or logarithm, takes long to compile here. NVRTC inlines it with all its branches
 * and tables for each column of a product, which takes seconds for one such op and 15 seconds or more for two (sm_90a, tiles of 128x256).
 * AMD's compilers take one second for either. Division by a row scalar compiles fast (row_div, templates/base/ops.h). */
static bool slow_to_compile(const ir_op *op, const ir_phase *phase, const target_info *target)
{
    return target->inlines && phase->family == family_gemm && value_columns(op->inputs[op->input_count - 1]) > 1;
}

static bool has_short_form(op_kind kind)
{
    static const bool has[op_count] = {
#define FORM(op, exact, quick) [op_##op] = (exact) != (quick),
#include "ir/op.def"
    };
    return has[kind];
}

int op_cost(const ir_op *op, const ir_phase *phase, const target_info *target, bool quick)
{
    const bool slow = !(quick && has_short_form(op->kind)) && slow_to_compile(op, phase, target);
    switch (op->kind) {
    case op_sin:
    case op_cos: return slow_to_compile(op, phase, target) ? 60 : function_cost; /* short forms, too, reduce large angles */
    case op_log:
    case op_tanh:
    case op_log1p:
    case op_softplus:
    case op_mish:
    case op_erf: return slow ? 18 : function_cost;
    case op_pow: return slow_to_compile(op, phase, target) ? 60 : quick ? 40 : 2 * function_cost;
    case op_exp:
    case op_exp2:
    case op_expm1:
    case op_elu:
    case op_selu:
    case op_quick_gelu:
    case op_sigmoid:
    case op_silu:
    case op_gelu_erf:
    case op_gelu_tanh: return function_cost;
    case op_div:
    case op_div_or_zero:
    case op_sqrt:
    case op_rsqrt: return slow ? 14 : 3;
    default: return 1;
    }
}

/* The cost of the phase's elementwise ops on columns (op_cost(), so an addition is 1), not counting row scalars; *count: how many ops. */
static int arithmetic_cost(const ir_graph *p, const ir_phase *phase, const target_info *target, int *count)
{
    const bool quick = phase_is_quick(p, phase, target);
    int cost = 0;
    *count = 0;
    for (int i = 0; i < phase->op_count; i++) {
        const ir_op *op = phase->ops[i];
        if (!op_is_elementwise(op) || value_columns(op->outputs[0]) <= 1) continue;
        cost += op_cost(op, phase, target, quick);
        ++*count;
    }
    return cost;
}

bool phase_is_long(const ir_graph *p, const ir_phase *phase, const target_info *target, bool rolls)
{
    const int of_product = !phase_is_quick(p, phase, target) ? long_cost : rolls ? rolled_quick_cost : long_quick_cost;
    const int limit = phase->family == family_gemm ? of_product : long_rows_cost;
    int count;
    const int cost = arithmetic_cost(p, phase, target, &count);
    const bool many = count >= long_op_count && phase->family == family_gemm && target->inlines;
    return (cost >= limit || many) && !target->serial;
}

int loop_steps(const ir_graph *p, const ir_phase *phase, const target_info *target)
{
    int count;
    const int limit = phase_is_quick(p, phase, target) ? quarter_quick_cost : quarter_cost;
    return arithmetic_cost(p, phase, target, &count) >= limit ? 4 : 1;
}
