/* Which results of a product may pass through shared memory. Contract: gen/program/staging.h. */
#include "gen/program/staging.h"

enum { least_columns = 8 };

static bool is_row_scalar(const problem *p, const ir_value *v) { return value_columns(v) == 1 && p->space.columns != 1; }

/* Why the op's result cannot be stored through shared memory; NULL: it can. */
static const char *store_obstacle(const ir_op *op)
{
    const ir_value *v = op->outputs[0];
    if (op->kind == op_kv_append) return "the epilogue appends to a cache";
    if (dtype_size(v->type) != 2) return "a result is wider than 16 bits";
    if (value_columns(v) < least_columns) return "a row of a result is shorter than 16 bytes";
    if (op->kind == op_slice || op->kind == op_reshape || op->kind == op_concat) return "a result is a slice of columns";
    return NULL;
}

/* A staged epilogue also runs for rows of a tile beyond the last row. So besides row scalars, which are loaded for existing rows only, it
 * may load only what all rows share: vectors. If the phase has a single row, a vector may be that row. */
static const char *operand_obstacle(const problem *p, const ir_op *op)
{
    long long rows;
    const bool one_row = extent_is_number(&p->space.rows, &rows) && rows == 1;
    for (int k = 0; k < op->input_count; k++) {
        const ir_value *v = op->inputs[k];
        if (!phase_makes(p->phase, v) && !is_row_scalar(p, v) && (v->rank > 1 || one_row)) return "the epilogue loads rows from memory";
    }
    return NULL;
}

static bool is_stored(const problem *p, const ir_op *op)
{
    const bool row_number = op->role == role_epilogue && is_row_scalar(p, op->outputs[0]); /* stored without staging */
    return op->kind == op_kv_append || (value_stored(p->ir, p->phase, op->outputs[0]) && !row_number);
}

const char *staging_obstacle(const problem *p, bool loads_rows)
{
    int stores[16] = {0};
    if (p->segments->count > 16) return "more than 16 segments";
    for (int i = 0; i < p->phase->op_count; i++) {
        const ir_op *op = p->phase->ops[i];
        const gemm_segment *segment = segment_of(p->segments, p->phase, op);
        if (op->role == role_prologue || op_is_view(op) || !segment) continue;
        if (segment->kind == segment_pair_rope || op->kind == op_rope) return "pairs are rotated";
        const char *obstacle = op->role == role_epilogue && !loads_rows ? operand_obstacle(p, op) : NULL;
        const bool stored = is_stored(p, op);
        if (!obstacle && stored) obstacle = store_obstacle(op);
        if (!obstacle && stored && ++stores[segment - p->segments->items] > 1) obstacle = "a segment has two outputs";
        if (obstacle) return obstacle;
    }
    return NULL;
}

int results_unit(const problem *p)
{
    long long bits = 0, lengths = 0;
    for (int i = 0; i < p->phase->op_count; i++) {
        const ir_op *op = p->phase->ops[i];
        if (op->role == role_prologue || op_is_view(op) || !segment_of(p->segments, p->phase, op) || !is_stored(p, op)) continue;
        const view at = view_of(p->a, op->outputs[0]);
        bits |= at.stride | at.offset, lengths |= value_columns(op->outputs[0]);
    }
    bits = bits % gemm_vector ? bits | lengths : gemm_vector;
    return (int)(bits & -bits);
}

bool product_is_rounded(const problem *p)
{
    const dtype type = p->product->outputs[0]->type;
    bool rounds = dtype_size(type) == 2;
    for (int i = 0; i < p->phase->op_count; i++) {
        const ir_value *v = p->phase->ops[i]->outputs[0];
        if (op_is_view(p->phase->ops[i])) continue;
        rounds &= op_table[v->def->kind].class == class_PRODUCT && v->type == type && value_stored(p->ir, p->phase, v);
    }
    for (int i = 0; i < p->segments->count; i++) rounds &= p->segments->items[i].kind == segment_plain;
    return rounds;
}
