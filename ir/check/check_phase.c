/* In: a fused graph. Out: returns if each phase is one that the templates of its family can run. Refuses: the first that is not. */
#include "ir/check/check.h"
#include "ir/graph/segments.h"

typedef void phase_check(const checker *c, const ir_phase *phase);

static void each_phase(const checker *c, phase_check *check)
{
    for (int k = 0; k < c->p->kernel_count; k++)
        for (int i = 0; i < c->p->kernels[k]->phase_count; i++) check(c, c->p->kernels[k]->phases[i]);
}

static bool made_in(const checker *c, const ir_phase *phase, const ir_value *v)
{
    return c->phase_of_value[v->id] == phase;
}

static bool shows_made_in(const checker *c, const ir_phase *phase, const ir_value *v)
{
    const ir_value *makers[most_makers];
    int n = value_makers(v, makers);
    for (int i = 0; i < n; i++)
        if (made_in(c, phase, makers[i])) return true;
    return false;
}

static const char *name_of(const ir_op *op)
{
    return op->outputs[0]->name;
}

static bool is_product(const ir_op *op)
{
    return op_table[op->kind].class == class_PRODUCT;
}

static bool is_number(const extent *e, long long value)
{
    long long n;
    return extent_is_number(e, &n) && n == value;
}

/* Sums of squares of A's rows, accumulated while the products load A. */
static bool is_input_sum(const ir_op *op) { return op->kind == op_row_sumsq && op->role == role_body; }

/* gemm: products that share a left operand, and perhaps the sum of squares of its rows. Before them in the phase there are only elementwise
 * ops, after them only ops that an epilogue may have. */
static void check_gemm(const checker *c, const ir_phase *phase)
{
    const ir_op *first = NULL;
    int products = 0, sums = 0, input_sums = 0;
    for (int i = 0; i < phase->op_count; i++) {
        const ir_op *op = phase->ops[i];
        input_sums += is_input_sum(op);
        if (is_product(op) != (op->role == role_body) && !is_input_sum(op))
            rule_broken(c, op->at, "%%%s: the body of a gemm is its products", name_of(op));
        if (is_product(op) && !first) first = op;
        products += is_product(op);
        sums += op->kind == op_row_sumsq && !is_input_sum(op);
        if (is_product(op) && (op->kind != first->kind || op->inputs[0] != first->inputs[0]))
            rule_broken(c, op->at, "%%%s: the products of a phase share their left operand", name_of(op));
        if (is_product(op) && shows_made_in(c, phase, op->inputs[1]))
            rule_broken(c, op->at, "%%%s: the right operand is made in the same phase", name_of(op));
        if (is_product(op) && op->attributes.transpose_a && shows_made_in(c, phase, op->inputs[0]))
            rule_broken(c, op->at, "%%%s: an operand with transpose_a is made in the same phase", name_of(op));
        if (op->role == role_prologue && !op_is_elementwise(op) && !op_is_view(op))
            rule_broken(c, op->at, "%%%s: a prologue is elementwise", name_of(op));
        if (op->role == role_epilogue && !op_is_elementwise(op) && !op_is_view(op) && op->kind != op_rope &&
            op->kind != op_kv_append && op->kind != op_row_sumsq)
            rule_broken(c, op->at, "%s %%%s cannot be in an epilogue", op_table[op->kind].name, name_of(op));
    }
    if (!first) rule_broken(c, phase->ops[0]->at, "gemm phase %s has no product", phase->name);
    if (products > 1 && first->kind == op_matmul) rule_broken(c, first->at, "phase %s has two matmuls", phase->name);
    if (sums > 1) rule_broken(c, first->at, "phase %s has two row sums", phase->name);
    for (int i = 0; i < phase->op_count; i++)
        if (is_input_sum(phase->ops[i]) && (input_sums > 1 || first->kind != op_linear || phase->ops[i]->inputs[0] != first->inputs[0]))
            rule_broken(c, phase->ops[i]->at, "%%%s: a row sum in the body must be over the left operand", name_of(phase->ops[i]));
    for (int i = 0; i < phase->op_count && products > 1; i++)
        if (is_product(phase->ops[i]) && phase->ops[i]->inputs[1]->kind != value_param)
            rule_broken(c, phase->ops[i]->at, "%%%s: products are joined by packing, so weights are params", name_of(phase->ops[i]));
}

static bool is_own_op(phase_family family, op_kind kind)
{
    switch (family) {
    case family_attention: return kind == op_attention || kind == op_attention_partial;
    case family_align: return kind == op_align;
    case family_tf32_terms: return kind == op_tf32_terms;
    case family_bf16_terms: return kind == op_bf16_terms;
    default: return kind == op_attention_combine;
    }
}

/* Families whose phases have one op with code; all others are views. */
static void check_single(const checker *c, const ir_phase *phase)
{
    int found = 0;
    for (int i = 0; i < phase->op_count; i++) {
        const ir_op *op = phase->ops[i];
        if (is_own_op(phase->family, op->kind) && op->role == role_body) found++;
        else if (!op_is_view(op)) rule_broken(c, op->at, "%%%s does not belong in phase %s", name_of(op), phase->name);
    }
    if (found != 1) rule_broken(c, phase->ops[0]->at, "phase %s holds %d ops of its family", phase->name, found);
}

/* columns: one reduction. Before it, elementwise ops on all rows of its operand, whose results are not stored; after it, elementwise ops on
 * the rows of its result. */
static void check_columns(const checker *c, const ir_phase *phase)
{
    const ir_op *reduction = phase_first(phase, class_COLUMNS);
    if (!reduction) rule_broken(c, phase->ops[0]->at, "columns phase %s has no reduction", phase->name);
    for (int i = 0; i < phase->op_count; i++) {
        const ir_op *op = phase->ops[i];
        const ir_value *v = op->outputs[0], *like = op->role == role_prologue ? reduction->inputs[0] : reduction->outputs[0];
        if (op_is_view(op)) continue;
        const extent rows = value_rows(c->a, v), wanted = value_rows(c->a, like);
        if ((op == reduction) != (op->role == role_body) || (op != reduction && !op_is_elementwise(op)))
            rule_broken(c, op->at, "%s %%%s does not belong in columns phase %s", op_table[op->kind].name, name_of(op), phase->name);
        if (!extent_equal(&rows, &wanted) || value_columns(v) != value_columns(like))
            rule_broken(c, op->at, "%%%s does not fit the space of its phase", v->name);
        if (op->role == role_prologue && value_stored(c->p, phase, v))
            rule_broken(c, op->at, "%%%s is stored, but is a term of a reduction of columns", v->name);
        for (int k = 0; k < op->input_count && op->role == role_epilogue; k++)
            if (shows_made_in(c, phase, op->inputs[k]) && op->inputs[k]->def->role == role_prologue)
                rule_broken(c, op->at, "%%%s reads %%%s, a term of the reduction of its phase", name_of(op), op->inputs[k]->name);
    }
}

static void check_one_family(const checker *c, const ir_phase *phase)
{
    bool has_code = false;
    for (int i = 0; i < phase->op_count; i++) has_code |= !op_is_view(phase->ops[i]);
    if (!has_code) rule_broken(c, phase->ops[0]->at, "phase %s holds views only, which need no kernel", phase->name);
    if (phase->family == family_gemm) check_gemm(c, phase);
    else if (phase->family == family_columns) check_columns(c, phase);
    else if (phase->family != family_rows) check_single(c, phase);
    for (int i = 0; i < phase->op_count && phase->family == family_rows; i++) {
        op_class class = op_table[phase->ops[i]->kind].class;
        if (class == class_PRODUCT || class == class_ATTENTION || op_is_copy(phase->ops[i]))
            rule_broken(c, phase->ops[i]->at, "%%%s does not belong in rows phase %s", name_of(phase->ops[i]), phase->name);
    }
}

void check_family(const checker *c)
{
    each_phase(c, check_one_family);
}

/* v has as many rows as the space, or one row; and `columns` columns, or one. */
static void check_fits(const checker *c, const ir_op *op, const ir_value *v, const phase_extent *space, long long columns)
{
    extent rows = value_rows(c->a, v);
    bool fits = (extent_equal(&rows, &space->rows) || is_number(&rows, 1)) && (value_columns(v) == columns || value_columns(v) == 1);
    if (!fits) rule_broken(c, op->at, "%%%s does not fit the space of its phase", v->name);
}

/* A value that all rows share is computed again for every row, so the phase must not store it. */
static void check_stored_rows(const checker *c, const ir_phase *phase, const ir_op *op, const phase_extent *space)
{
    extent rows = value_rows(c->a, op->outputs[0]);
    if (op->kind == op_kv_append || extent_equal(&rows, &space->rows)) return;
    if (value_stored(c->p, phase, op->outputs[0]))
        rule_broken(c, op->at, "%%%s is stored, but is not computed once per row of its phase", op->outputs[0]->name);
}

static void check_rows_space(const checker *c, const ir_phase *phase)
{
    phase_extent space = phase_space(c->a, phase);
    for (int i = 0; i < phase->op_count; i++) {
        const ir_op *op = phase->ops[i];
        op_class class = op_table[op->kind].class;
        if (op_is_view(op)) continue;
        if (op->kind == op_kv_append) check_fits(c, op, op->inputs[0], &space, space.columns);
        else if (op->kind != op_slice) check_fits(c, op, op->outputs[0], &space, space.columns);
        extent rows = value_rows(c->a, op->inputs[0]);
        if ((class == class_REDUCE || op->kind == op_slice || op->kind == op_kv_append) &&
            (value_columns(op->inputs[0]) != space.columns || !extent_equal(&rows, &space.rows)))
            rule_broken(c, op->at, "%%%s does not have the rows of its phase", name_of(op));
        check_stored_rows(c, phase, op, &space);
    }
}

static void check_gemm_space(const checker *c, const ir_phase *phase)
{
    phase_extent space = phase_space(c->a, phase);
    segment_list list;
    if (!gemm_segments(c->a, phase, &list)) return; /* reported by rule "segments" */
    long long depth = 0; /* K */
    for (int i = 0; i < phase->op_count; i++)
        if (is_product(phase->ops[i])) depth = product_depth(phase->ops[i]);
    for (int i = 0; i < phase->op_count; i++) {
        const ir_op *op = phase->ops[i];
        const ir_value *v = op->kind == op_kv_append || op->kind == op_row_sumsq ? op->inputs[0] : op->outputs[0];
        if (is_product(op) || op_is_view(op)) continue;
        const gemm_segment *s = list.of_op[i] < 0 ? NULL : &list.items[list.of_op[i]];
        long long columns = op->role == role_prologue || is_input_sum(op) ? depth : s ? s->columns : 1;
        if (op->role == role_epilogue && (op->kind == op_rope || v != op->outputs[0]) && !s)
            rule_broken(c, op->at, "%%%s belongs to no product of its phase", name_of(op));
        check_fits(c, op, v, &space, columns);
        check_stored_rows(c, phase, op, &space);
    }
}

static void check_one_space(const checker *c, const ir_phase *phase)
{
    if (phase->family == family_rows) check_rows_space(c, phase);
    if (phase->family == family_gemm) check_gemm_space(c, phase);
}

void check_space(const checker *c)
{
    each_phase(c, check_one_space);
}

static void check_one_segments(const checker *c, const ir_phase *phase)
{
    segment_list list;
    if (phase->family == family_gemm && !gemm_segments(c->a, phase, &list))
        rule_broken(c, phase->ops[0]->at, "no packing order of columns fits the epilogue of %s", phase->name);
}

void check_segments(const checker *c)
{
    each_phase(c, check_one_segments);
}

/* Within a phase a thread reads only its own elements, from registers. So ops that move data between threads read no value that the phase
 * makes, no op of the phase reads the result of an append or a move, and a view with other rows or columns shows no value of the phase. */
static void check_operand(const checker *c, const ir_phase *phase, const ir_op *op, const ir_value *v)
{
    bool pairs = op->kind == op_rope && phase->family == family_rows;
    bool moves = op_table[op->kind].class == class_MOVE || (pairs && value_follows_rope(c->a, phase, v));
    const ir_value *makers[most_makers];
    int n = value_makers(v, makers);
    for (int i = 0; i < n; i++) {
        if (!made_in(c, phase, makers[i])) continue;
        if (moves) rule_broken(c, op->at, "%%%s reads %%%s, which its phase makes, at other columns", name_of(op), v->name);
        op_class class = op_table[makers[i]->def->kind].class;
        if (class == class_APPEND || class == class_MOVE || !view_is_transparent(c->a, v))
            rule_broken(c, op->at, "%%%s reads %%%s, which its phase writes at other places", name_of(op), v->name);
    }
}

static void check_one_memory(const checker *c, const ir_phase *phase)
{
    for (int i = 0; i < phase->op_count; i++)
        for (int k = 0; k < phase->ops[i]->input_count && !op_is_view(phase->ops[i]); k++)
            check_operand(c, phase, phase->ops[i], phase->ops[i]->inputs[k]);
}

void check_memory(const checker *c)
{
    each_phase(c, check_one_memory);
}

/* Readers add up the partial sums, once per row. A sum is complete only when its phase has ended, so readers are in later phases. */
void check_partial_sums(const checker *c)
{
    const ir_graph *p = c->p;
    for (int i = 0; i < p->op_count && p->kernel_count; i++) {
        const ir_op *op = p->ops[i];
        for (int k = 0; k < op->input_count; k++) {
            const ir_value *v = op->inputs[k];
            const ir_phase *from = c->phase_of_value[v->id];
            if (!from || from->family != family_gemm || v->def->kind != op_row_sumsq) continue;
            if (is_input_sum(v->def) && from != c->phase_of_value[op->outputs[0]->id])
                rule_broken(c, op->at, "%%%s reads %%%s, which a product takes for its own phase", name_of(op), v->name);
            if (is_input_sum(v->def)) continue;
            bool scalar = op_is_elementwise(op) && value_columns(op->outputs[0]) == 1;
            if (!scalar || from == c->phase_of_value[op->outputs[0]->id] || c->phase_of_value[op->outputs[0]->id]->family > family_gemm)
                rule_broken(c, op->at, "%%%s reads the partial sums %%%s as a whole value", name_of(op), v->name);
        }
        const ir_phase *phase = c->phase_of_value[op->outputs[0]->id];
        if (phase->family == family_gemm && op->kind == op_row_sumsq && op->outputs[0]->output)
            rule_broken(c, op->at, "output %%%s is partial sums", name_of(op));
    }
}

void check_fold(const checker *c)
{
    for (int i = 0; i < c->p->op_count; i++) {
        const ir_op *op = c->p->ops[i];
        const ir_value *fold = op->attributes.fold;
        if (op->attributes.fold_offset && !fold) rule_broken(c, op->at, "%%%s has fold_offset without fold", name_of(op));
        if (fold && (fold->kind != value_param || op->inputs[1]->kind != value_param))
            rule_broken(c, op->at, "%%%s folds a value that is known only after packing", name_of(op));
    }
}
