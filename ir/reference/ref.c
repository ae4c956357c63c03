/* In: a graph and its data. Out: every value in float64 with its error bound, op after op; see ir/reference/ref.h. Refuses:
 * data that is missing or of the wrong size. */
#include "ir/reference/ref_parts.h"
#include "ir/graph/half.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ref_free(ref_tensor *t)
{
    free(t->value);
    free(t->error);
    free(t->common);
    ref_forget_shares(t);
    *t = (ref_tensor){0};
}

bool ref_copy(ref_tensor *to, const ref_tensor *from)
{
    const size_t bytes = from->count * sizeof(double);
    ref_free(to);
    *to = (ref_tensor){.value = malloc(bytes + 1), .error = from->error ? malloc(bytes + 1) : NULL, .count = from->count};
    if (!to->value || (from->error && !to->error)) return false;
    memcpy(to->value, from->value, bytes);
    if (from->error) memcpy(to->error, from->error, bytes);
    ref_note_common(to, from);
    to->unit = from->unit;
    return true;
}

/* ---- values */
static bool count_elements(ref_state *r, const ir_value *v)
{
    long long count = 1;
    for (int i = 0; i < ref_rank(r, v); i++)
        if (__builtin_mul_overflow(count, ref_axis(r, v, i), &count)) count = -1;
    if (count < 0 || count > 1LL << 40) return ref_fail(r, NULL, "a value is too large");
    r->tensors[v->id].count = (size_t)count;
    return true;
}

static bool allocate(ref_state *r, const ir_value *v)
{
    ref_tensor *t = &r->tensors[v->id];
    if (!count_elements(r, v)) return false;
    t->value = calloc(t->count + 1, sizeof *t->value);
    t->error = calloc(t->count + 1, sizeof *t->error);
    return (t->value && t->error) || ref_fail(r, NULL, "not enough memory");
}

static bool take_given(ref_state *r, const ir_value *v, const ref_tensor *given)
{
    ref_tensor *t = &r->tensors[v->id];
    if (!given || !given->value) {
        snprintf(r->message, r->message_size, "reference: no data for %%%s", v->name);
        return false;
    }
    if (!count_elements(r, v)) return false;
    if (given->count != t->count) {
        snprintf(r->message, r->message_size, "reference: %%%s takes %zu numbers, %zu are given", v->name, t->count,
                 given->count);
        return false;
    }
    *t = (ref_tensor){.value = given->value, .error = given->error, .count = given->count};
    r->borrowed[v->id] = r->on_grid[v->id] = true;
    return true;
}

/* True for a move or append whose operands are exact in their dtype, if the result has that dtype: storing the result does not round. */
static bool moves_grid(const ref_state *r, const ir_op *op)
{
    const op_class class = op_table[op->kind].class;
    if (class != class_MOVE && class != class_APPEND) return false;
    for (int i = 0; i < op->input_count; i++)
        if (ref_type(r, op->inputs[i]) != ref_type(r, op->outputs[0]) || !r->on_grid[op->inputs[i]->id]) return false;
    return true;
}

static bool reads_unknown(const ref_state *r, const ir_op *op)
{
    for (int i = 0; i < op->input_count; i++)
        if (r->unknown[op->inputs[i]->id]) return true;
    return false;
}

/* Sets the error of elements that are NaN or infinite, for which sums and ops made of sums compute an error of NaN: 0, since the result is
 * certain, or infinite if an operand has infinite errors. Elementwise ops and moves have set such errors themselves. */
static void settle(ref_state *r, const ir_op *op, ref_tensor *t)
{
    const op_class class = op_table[op->kind].class;
    const bool each = class == class_ELEMENT || class == class_MOVE || class == class_APPEND, unknown = reads_unknown(r, op);
    for (size_t i = 0; i < t->count; i++) {
        if (!each && !isfinite(t->value[i])) t->error[i] = unknown || isinf(t->error[i]) ? INFINITY : 0;
        if (isnan(t->error[i])) t->error[i] = INFINITY;
        ref_overflow(dtype_f32, &t->value[i], &t->error[i]);
    }
    ref_cover_shares(t);
}

static void note_unknown(ref_state *r, const ir_value *v)
{
    const ref_tensor *t = &r->tensors[v->id];
    r->unknown[v->id] = false;
    for (size_t i = 0; t->error && i < t->count && !r->unknown[v->id]; i++) r->unknown[v->id] = !isfinite(t->error[i]);
}

static void round_to_type(ref_state *r, const ir_value *v)
{
    ref_tensor *t = &r->tensors[v->id];
    const dtype type = ref_type(r, v);
    const double unit = type == dtype_f32 ? 0 : ref_unit(type), least = ref_least(type); /* f32: the ops have counted that rounding */
    for (size_t i = 0; i < t->count; i++) {
        const double y = t->value[i];
        if (!isfinite(y)) continue;
        /* If the bound reaches across 0, the device may be off by all of it (with the other sign), so rounding then adds linearly. */
        const double limit = ref_sigmas * t->error[i] > fabs(y) ? unit * fabs(y) / ref_sigmas : 0;
        t->error[i] = sqrt(t->error[i] * t->error[i] + unit * y * unit * y + (y != 0 ? least * least : 0)) + limit;
        ref_overflow(type, &t->value[i], &t->error[i]);
        if (r->round_stored) t->value[i] = dtype_round(type, t->value[i]);
    }
    r->on_grid[v->id] = true;
}

/* A device may flush f32 results below the least normal number to 0, whether they are stored or not. */
static void allow_flush(ref_tensor *t)
{
    for (size_t i = 0; i < t->count; i++)
        if (t->value[i] != 0 && fabs(t->value[i]) < 0x1p-60)
            t->error[i] = sqrt(t->error[i] * t->error[i] + REF_LEAST * REF_LEAST);
}

static bool finish(ref_state *r, const ir_op *op, const ir_value *v)
{
    settle(r, op, &r->tensors[v->id]);
    if (moves_grid(r, op))
        r->on_grid[v->id] = true;
    else
        allow_flush(&r->tensors[v->id]);
    const bool rounds = ref_is_stored(r, v) || op->kind == op_cast;
    if (rounds && !r->on_grid[v->id]) round_to_type(r, v);
    if (r->on_grid[v->id]) r->tensors[v->id].unit = ref_unit(ref_type(r, v));
    if (!ref_begin_sides(r, op, v) || !ref_let_choose(r, op, v)) return false;
    if (r->rules && r->rules->finished) ref_note_common(&r->tensors[v->id], &r->tensors[v->id]);
    if (r->rules && r->rules->finished) r->rules->finished(r->rules->context, v, &r->tensors[v->id]);
    if (ref_exact(&r->tensors[v->id])) ref_forget_shares(&r->tensors[v->id]);
    note_unknown(r, v);
    return true;
}

static bool evaluate(ref_state *r, const ir_op *op)
{
    switch (op->kind) {
    case op_rmsnorm:
    case op_layernorm:
    case op_l2norm: return ref_norm(r, op);
    case op_softmax: return ref_softmax(r, op);
    case op_row_sum:
    case op_row_mean:
    case op_row_max:
    case op_row_min:
    case op_row_sumsq:
    case op_sum:
    case op_mean:
    case op_amax:
    case op_amin: return ref_reduce(r, op);
    case op_linear: return ref_linear(r, op);
    case op_matmul: return ref_matmul(r, op);
    case op_rope: return ref_rope(r, op);
    case op_attention: return ref_attention(r, op);
    case op_kv_append: return ref_append(r, op);
    case op_split:
    case op_concat:
    case op_reshape: return ref_move(r, op);
    case op_permute: return ref_permute(r, op);
    default: break;
    }
    if (op_table[op->kind].class == class_ELEMENT) return ref_element(r, op);
    return ref_fail(r, op, "is no op of a graph");
}

/* ---- runs */
/* The values that the evaluation of an op reads are read_at(op, 0) to read_at(op, read_count(op) - 1), of which some are NULL. */
enum { other_reads = 5 };
static int read_count(const ir_op *op) { return op->input_count + other_reads + ref_fold_most_needs; }

static const ir_value *read_at(const ir_op *op, int i)
{
    const ir_attributes *t = &op->attributes;
    const ir_value *const others[other_reads] = {t->lengths, t->first, t->bias, t->at, t->state};
    const ir_value *needs[ref_fold_most_needs];
    if (i < op->input_count) return op->inputs[i];
    if (i < op->input_count + other_reads) return others[i - op->input_count];
    ref_fold_needs(op, needs);
    return needs[i - op->input_count - other_reads];
}

/* last[id]: index of the last op that reads the value. */
static void find_last_uses(const ir_graph *p, int *last)
{
    for (int i = 0; i < p->value_count; i++) last[i] = -1;
    for (int i = 0; i < p->op_count; i++) {
        const ir_op *op = p->ops[i];
        for (int k = 0; k < read_count(op); k++)
            if (read_at(op, k)) last[read_at(op, k)->id] = i;
        for (int k = 0; k < op->output_count; k++) last[op->outputs[k]->id] = i;
    }
}

static bool is_wanted(const ref_state *r, const ir_value *v)
{
    return !r->rules || !r->rules->wanted || r->rules->wanted(r->rules->context, v);
}

/* Partial run: the device's numbers are taken for v, and the op that makes it is not evaluated. */
static bool is_taken(const ref_state *r, const ir_value *v) { return !is_wanted(r, v) && ref_is_stored(r, v); }

static bool is_evaluated(const ref_state *r, const ir_op *op)
{
    for (int k = 0; k < op->output_count; k++)
        if (is_wanted(r, op->outputs[k]) || (r->needed[op->outputs[k]->id] && !is_taken(r, op->outputs[k]))) return true;
    return false;
}

static void find_needed(ref_state *r)
{
    for (int i = r->p->op_count - 1; i >= 0; i--) {
        const ir_op *op = r->p->ops[i];
        const int count = is_evaluated(r, op) ? read_count(op) : 0;
        for (int k = 0; k < count; k++)
            if (read_at(op, k)) r->needed[read_at(op, k)->id] = true;
    }
}

static void release(ref_state *r, const ir_value *v)
{
    ref_forget_shares(&r->tensors[v->id]);
    free(r->inherited[v->id]);
    r->inherited[v->id] = NULL;
    ref_forget_sides(r, v);
    if (r->borrowed[v->id]) r->tensors[v->id].value = r->tensors[v->id].error = NULL;
    ref_free(&r->tensors[v->id]);
}

/* Gives v's tensor to the caller if it asked for it, else frees it. The caller frees what it gets, so borrowed numbers are copied. */
static bool hand_over(ref_state *r, const ir_value *v, ref_tensor *const *results)
{
    const bool asked = results && results[v->id];
    if (asked) ref_note_common(&r->tensors[v->id], &r->tensors[v->id]);
    ref_forget_shares(&r->tensors[v->id]); /* borrowed tensors may have shares, too */
    const ref_tensor t = r->tensors[v->id];
    if (asked && r->borrowed[v->id]) {
        if (!allocate(r, v)) return false;
        memcpy(r->tensors[v->id].value, t.value, t.count * sizeof *t.value);
        if (t.error) memcpy(r->tensors[v->id].error, t.error, t.count * sizeof *t.error);
    }
    if (asked) *results[v->id] = r->tensors[v->id], r->tensors[v->id] = (ref_tensor){0};
    else release(r, v);
    return true;
}

static bool load(ref_state *r, const ref_tensor *const *inputs)
{
    for (int i = 0; i < r->p->value_count; i++) {
        const ir_value *v = r->p->values[i];
        if (v->kind == value_result || !(r->needed[i] || is_wanted(r, v))) continue;
        if (v->kind != value_constant) {
            if (!take_given(r, v, inputs[i])) return false;
            continue;
        }
        if (!allocate(r, v)) return false;
        for (size_t k = 0; k < r->tensors[i].count; k++) {
            r->tensors[i].value[k] = v->constant;
            r->tensors[i].error[k] = fabs(v->constant - (double)(float)v->constant);
        }
        r->on_grid[i] = true;
    }
    return true;
}

static bool take_stored(ref_state *r, const ir_op *op)
{
    for (int k = 0; k < op->output_count; k++) {
        const ir_value *v = op->outputs[k];
        if (!r->needed[v->id]) continue;
        if (!allocate(r, v)) return false;
        r->rules->take(r->rules->context, v, r->tensors[v->id].value);
        r->on_grid[v->id] = true;
    }
    return true;
}

static bool run_op(ref_state *r, const ir_op *op)
{
    for (int k = 0; k < op->output_count; k++)
        if (!allocate(r, op->outputs[k])) return false;
    if (!evaluate(r, op)) return false;
    for (int k = 0; k < op->output_count; k++)
        if (!finish(r, op, op->outputs[k])) return false;
    return true;
}

static bool run_all(ref_state *r, const ref_tensor *const *inputs, ref_tensor *const *results, int *last)
{
    find_last_uses(r->p, last);
    find_needed(r);
    if (!ref_derive(r) || !load(r, inputs)) return false;
    for (int i = 0; i < r->p->op_count; i++)
        if (is_evaluated(r, r->p->ops[i])) ref_note_op(r, i);
    ref_note_choices(r);
    for (int i = 0; i < r->p->op_count; i++) {
        const ir_op *op = r->p->ops[i];
        if (!(is_evaluated(r, op) ? run_op(r, op) : take_stored(r, op))) return false;
        for (int k = 0; k < read_count(op) + op->output_count; k++) {
            const ir_value *v = k < op->output_count ? op->outputs[k] : read_at(op, k - op->output_count);
            if (!v || last[v->id] != i) continue;
            last[v->id] = r->p->op_count; /* so that it is handed over only once */
            if (!hand_over(r, v, results)) return false;
        }
        if (!ref_settle_sources(r, op)) return false;
    }
    for (int k = 0; k < r->p->value_count; k++)
        if (last[k] < 0 && !hand_over(r, r->p->values[k], results)) return false;
    return true;
}

static bool make_room(ref_state *r, size_t n)
{
    r->tensors = calloc(n, sizeof *r->tensors);
    r->shapes = calloc(n, sizeof *r->shapes);
    r->attributes = calloc(n, sizeof *r->attributes);
    r->on_grid = calloc(n, sizeof *r->on_grid);
    r->unknown = calloc(n, sizeof *r->unknown);
    r->borrowed = calloc(n, sizeof *r->borrowed);
    r->needed = calloc(n, sizeof *r->needed);
    r->first = calloc(n, sizeof *r->first);
    r->uses = calloc(n, sizeof *r->uses);
    r->has_twin = calloc(n, sizeof *r->has_twin);
    r->is_source = calloc(n, sizeof *r->is_source);
    r->sources = calloc(n, sizeof *r->sources);
    r->inherited = calloc(n, sizeof *r->inherited);
    r->may_cross = calloc(n, sizeof *r->may_cross);
    r->sides = calloc(n, sizeof *r->sides);
    r->of_weights = calloc(n, sizeof *r->of_weights);
    r->alike = calloc(n, sizeof *r->alike);
    r->alike_before = calloc((size_t)r->p->op_count + 1, sizeof *r->alike_before);
    for (size_t i = 0; r->first && i < n; i++) r->first[i] = (int)i;
    return r->tensors && r->shapes && r->attributes && r->on_grid && r->unknown && r->borrowed && r->needed && r->first && r->uses &&
           r->has_twin && r->is_source && r->sources && r->inherited && r->alike && r->alike_before && r->may_cross &&
           r->sides && r->of_weights;
}

static void clear_room(ref_state *r)
{
    free(r->tensors);
    free(r->shapes);
    free(r->attributes);
    free(r->on_grid);
    free(r->unknown);
    free(r->borrowed);
    free(r->needed);
    free(r->first);
    free(r->uses);
    free(r->has_twin);
    free(r->is_source);
    free(r->sources);
    free(r->inherited);
    free(r->may_cross);
    free(r->sides);
    for (int i = 0; r->of_weights && i < r->p->value_count; i++) free(r->of_weights[i]);
    free(r->of_weights);
    free(r->alike);
    free(r->alike_before);
}

bool ref_run(const ir_graph *graph, const ref_tensor *const inputs[], bool round_stored, const ref_rules *rules,
             ref_tensor *const results[], char *message, size_t message_size)
{
    const size_t n = (size_t)graph->value_count + 1;
    ref_state r = {.p = graph, .rules = rules, .round_stored = round_stored, .message = message, .message_size = message_size};
    int *last = calloc(n, sizeof *last);
    const bool room = make_room(&r, n) && last;
    const bool good = room ? run_all(&r, inputs, results, last) : ref_fail(&r, NULL, "not enough memory");
    for (int i = 0; room && i < graph->value_count; i++) release(&r, graph->values[i]);
    if (room) ref_release_sources(&r);
    clear_room(&r);
    free(last);
    return good;
}
