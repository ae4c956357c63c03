/* Facts derived from a phase's ops, among them the segments of its packed weight (ir/graph/segments.h). Refuses epilogues that join three
 * products, join products of different widths, rotate a joined product, rotate part of a head, or rotate one product in two ways. */
#include "ir/graph/segments.h"
#include <string.h>

/* The products of the body that an op's value depends on, as indices into phase->ops; -1: none. */
typedef struct owners {
    int first, second;
} owners;

/* Index in phase->ops of the op that made the data of v, itself or through views; -1: no op of the phase, or several (a concat). */
static int index_of_maker(const ir_phase *phase, const ir_value *v)
{
    const ir_value *makers[most_makers];
    return value_makers(v, makers) == 1 ? phase_index(phase, makers[0]->def) : -1;
}

static bool is_product(const ir_op *op)
{
    return op_table[op->kind].class == class_PRODUCT;
}

static bool add_owner(owners *o, int product)
{
    if (product < 0 || o->first == product || o->second == product) return true;
    if (o->first < 0) o->first = product;
    else if (o->second < 0) o->second = product;
    else return false;
    return true;
}

static bool find_owners(const ir_phase *phase, owners *of, int i)
{
    const ir_op *op = phase->ops[i];
    of[i] = (owners){-1, -1};
    if (is_product(op)) of[i].first = i;
    for (int k = 0; k < op->input_count && !is_product(op) && !op_is_view(op); k++) {
        int def = index_of_maker(phase, op->inputs[k]);
        if (def < 0 || def >= i) continue;
        if (!add_owner(&of[i], of[def].first) || !add_owner(&of[i], of[def].second)) return false;
    }
    if (of[i].second >= 0 && of[i].second < of[i].first) of[i] = (owners){of[i].second, of[i].first};
    return true;
}

/* What the epilogue requires of the packed columns of a product; a list of these is indexed like phase->ops. */
typedef struct requirement {
    int partner; /* index in phase->ops of the product that the epilogue joins with it; -1: none */
    ir_op *rope;
} requirement;

static bool full_rotary(const ir_op *rope)
{
    long long columns = value_columns(rope->outputs[0]), heads = value_heads_in_row(rope->outputs[0], rope->attributes.heads);
    return heads > 0 && columns % heads == 0 && columns / heads % 2 == 0 && rope->attributes.rotary == columns / heads;
}

static bool requirement_of_op(const ir_phase *phase, const owners *o, requirement *of, int i)
{
    ir_op *op = phase->ops[i];
    if (o[i].second >= 0) {
        requirement *x = &of[o[i].first], *y = &of[o[i].second];
        if ((x->partner >= 0 && x->partner != o[i].second) || (y->partner >= 0 && y->partner != o[i].first)) return false;
        x->partner = o[i].second, y->partner = o[i].first;
    }
    if (op->kind != op_rope || o[i].first < 0) return true;
    if (o[i].second >= 0 || !full_rotary(op)) return false;
    requirement *d = &of[o[i].first];
    if (d->rope && d->rope->attributes.pairing != op->attributes.pairing) return false;
    if (d->rope && d->rope->attributes.rotary != op->attributes.rotary) return false; /* different head sizes */
    if (!d->rope) d->rope = op;
    return true;
}

static long long round_up(long long n, long long multiple)
{
    return (n + multiple - 1) / multiple * multiple;
}

static void measure(gemm_segment *s, long long start)
{
    if (s->kind == segment_plain) s->packed_count = round_up(s->columns, 2 * packed_granule);
    else {
        s->padded = round_up(s->pairs, packed_granule);
        s->packed_count = s->heads * s->padded * 2;
    }
    s->packed_start = start;
}

static bool make_segment(const ir_phase *phase, const requirement *of, int i, gemm_segment *s)
{
    ir_op *product = phase->ops[i];
    *s = (gemm_segment){.kind = segment_plain, .first = product, .columns = value_columns(product->outputs[0]), .heads = 1};
    if (of[i].partner >= 0) {
        s->kind = segment_pair_join;
        s->second = phase->ops[of[i].partner];
        s->pairs = s->columns;
        return !of[i].rope && !of[of[i].partner].rope && value_columns(s->second->outputs[0]) == s->columns;
    }
    if (!of[i].rope || of[i].rope->attributes.pairing == pairing_interleaved) return true;
    s->kind = segment_pair_rope;
    s->rope = of[i].rope;
    s->heads = value_heads_in_row(s->rope->outputs[0], s->rope->attributes.heads);
    s->pairs = s->columns / s->heads / 2;
    return true;
}

bool gemm_segments(arena *a, const ir_phase *phase, segment_list *out)
{
    size_t n = (size_t)phase->op_count;
    owners *o = arena_alloc(a, n * sizeof *o);
    requirement *of = arena_alloc(a, n * sizeof *of);
    int *segment_at = arena_alloc(a, n * sizeof *segment_at);
    *out = (segment_list){.items = arena_alloc(a, n * sizeof *out->items), .of_op = arena_alloc(a, n * sizeof *out->of_op)};
    for (int i = 0; i < phase->op_count; i++) {
        of[i] = (requirement){-1, NULL};
        if (!find_owners(phase, o, i)) return false;
    }
    for (int i = 0; i < phase->op_count; i++)
        if (!requirement_of_op(phase, o, of, i)) return false;
    for (int i = 0; i < phase->op_count; i++) {
        if (!is_product(phase->ops[i])) continue;
        segment_at[i] = of[i].partner >= 0 && of[i].partner < i ? segment_at[of[i].partner] : out->count;
        if (segment_at[i] < out->count) continue;
        gemm_segment *s = &out->items[out->count++];
        if (!make_segment(phase, of, i, s)) return false;
        measure(s, out->packed_columns);
        out->packed_columns += s->packed_count;
    }
    for (int i = 0; i < phase->op_count; i++) out->of_op[i] = o[i].first < 0 ? -1 : segment_at[o[i].first];
    return true;
}

const gemm_segment *segment_of(const segment_list *list, const ir_phase *phase, const ir_op *op)
{
    int i = phase_index(phase, op);
    return i < 0 || list->of_op[i] < 0 ? NULL : &list->items[list->of_op[i]];
}

long long segment_column(const gemm_segment *s, long long n, bool *second)
{
    long long at = n - s->packed_start;
    *second = false;
    if (s->kind == segment_plain) return at < s->columns ? at : -1;
    long long in = at % (2 * packed_granule), pair = at / (2 * packed_granule) * packed_granule + in % packed_granule;
    long long head = pair / s->padded, j = pair % s->padded;
    *second = in >= packed_granule;
    if (j >= s->pairs || head >= s->heads) return -1;
    return s->kind == segment_pair_join ? j : head * 2 * s->pairs + (*second ? s->pairs : 0) + j;
}

/* The value whose shape an op of a rows phase works on. */
static const ir_value *worked_on(const ir_op *op)
{
    op_class class = op_table[op->kind].class;
    bool of_input = class == class_REDUCE || op->kind == op_slice || op->kind == op_kv_append;
    return of_input ? op->inputs[0] : op->outputs[0];
}

static bool is_one(const extent *e)
{
    long long n;
    return extent_is_number(e, &n) && n == 1;
}

phase_extent phase_space(arena *a, const ir_phase *phase)
{
    phase_extent space = {.rows = extent_number(1), .columns = 0};
    for (int i = 0; i < phase->op_count; i++) {
        const ir_op *op = phase->ops[i];
        if (op_is_view(op) || (phase->family == family_gemm && !is_product(op))) continue;
        const op_class class = op_table[op->kind].class;
        if (phase->family > family_gemm && class != class_ATTENTION && class != class_COLUMNS && !op_is_copy(op)) continue;
        const ir_value *v = worked_on(op);
        extent rows = value_rows(a, v);
        if (is_one(&space.rows)) space.rows = rows;
        if (phase->family == family_gemm) space.columns += value_columns(v);
        else if (value_columns(v) > space.columns) space.columns = value_columns(v);
    }
    return space;
}

static bool shows(const ir_op *op, const ir_value *v)
{
    ir_value *used[24];
    int n = op_operands(op, used, 24);
    for (int i = 0; i < n; i++)
        if (value_has_maker(used[i], v)) return true;
    return false;
}

bool value_stored(const ir_graph *p, const ir_phase *phase, const ir_value *v)
{
    if (value_root(v)->output) return true;
    if (p->index) return p->index->read_widely[v->id] || (p->index->reader[v->id] && p->index->reader[v->id] != phase);
    for (int i = 0; i < p->op_count; i++)
        if (!op_is_view(p->ops[i]) && shows(p->ops[i], v) && !phase_has(phase, p->ops[i])) return true;
    return false;
}

bool value_is_partial(const ir_graph *p, const ir_value *v)
{
    if (!v->def || v->def->kind != op_row_sumsq || v->def->role == role_body) return false;
    const ir_phase *phase = phase_of(p, v->def);
    return phase && phase->family == family_gemm;
}

static bool reads_result(const ir_op *op, const ir_op *from)
{
    for (int i = 0; i < op->input_count; i++)
        if (op->inputs[i] == from->outputs[0] || value_has_maker(op->inputs[i], from->outputs[0])) return true;
    return false;
}

bool value_follows_rope(arena *a, const ir_phase *phase, const ir_value *v)
{
    bool *after = arena_alloc(a, (size_t)phase->op_count * sizeof *after);
    for (int i = 0; i < phase->op_count; i++) {
        after[i] = phase->ops[i]->kind == op_rope;
        for (int k = 0; k < i && !after[i]; k++) after[i] = after[k] && reads_result(phase->ops[i], phase->ops[k]);
        if (after[i] && (v == phase->ops[i]->outputs[0] || value_has_maker(v, phase->ops[i]->outputs[0]))) return true;
    }
    return false;
}

const ir_op *phase_input_sum(const ir_phase *phase)
{
    for (int i = 0; i < phase->op_count && phase->family == family_gemm; i++)
        if (phase->ops[i]->kind == op_row_sumsq && phase->ops[i]->role == role_body) return phase->ops[i];
    return NULL;
}
