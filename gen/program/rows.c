/* Rows: a team of threads a row (templates/rows/rows.h). In: a rows phase. Out: how many threads share a row, and how many columns each
 * takes at a time: fewest that keep the machine busy, whole heads, pieces and slices. */
#include "gen/program/rows.h"
#include "ir/devices/occupancy.h"
#include <math.h>

static bool on_host(const problem *p) { return p->target->serial; }

/* What a vector of columns must divide, so that none lies across a head, a piece of a concat, or the end of a slice. */
static long long whole_columns(const problem *p, const ir_op *op, long long most)
{
    const long long N = p->space.columns;
    long long v = most;
    for (int i = 0; i < op->input_count + op->output_count; i++) {
        const ir_value *x = i < op->input_count ? op->inputs[i] : op->outputs[i - op->input_count];
        if (x->rank > 0 && value_columns(x) != 1 && value_columns(x) != N && op->kind != op_kv_append)
            v = power_of_two_in(value_columns(x), v);
    }
    const ir_attributes *t = &op->attributes;
    if (op->kind == op_slice) v = power_of_two_in(value_columns(op->outputs[0]), power_of_two_in(t->offset, v));
    if (op->kind == op_concat)
        for (int i = 0; i < op->input_count; i++) v = power_of_two_in(value_columns(op->inputs[i]), v);
    if (op->kind == op_reshape) v = power_of_two_in(value_columns(op->inputs[0]), power_of_two_in(value_columns(op->outputs[0]), v));
    if (op->kind == op_rope) {
        const long long head = value_head_size(op->outputs[0], t->heads);
        v = power_of_two_in(t->pairing == pairing_half ? t->rotary / 2 : t->rotary, power_of_two_in(head, v));
    }
    if (op->kind == op_kv_append) v = power_of_two_in(value_columns(op->outputs[0]), v);
    return v;
}

/* The most columns that go together. */
static long long whole_vector(const problem *p, long long most)
{
    for (int i = 0; i < p->phase->op_count; i++)
        if (!op_is_view(p->phase->ops[i])) most = whole_columns(p, p->phase->ops[i], most);
    return most;
}

static long long aligned_columns(const ir_value *x, long long N, long long most)
{
    if (value_columns(x) != N) return most;
    most = power_of_two_in(N, most);
    if (x->root && x->root_stride) most = power_of_two_in(x->root_offset, power_of_two_in(x->root_stride, most));
    return most;
}

/* On GPUs rows are loaded and stored in whole vectors, so they begin at multiples of them. */
static long long vector_of(const problem *p)
{
    if (on_host(p)) return whole_vector(p, 16);
    long long v = whole_vector(p, 8);
    for (int i = 0; i < p->phase->op_count; i++) {
        const ir_op *op = p->phase->ops[i];
        if (op_is_view(op)) continue;
        for (int k = 0; k < op->input_count; k++) v = aligned_columns(op->inputs[k], p->space.columns, v);
        v = aligned_columns(op->outputs[0], p->space.columns, v);
    }
    return v;
}

/* Values that a row reads in whole: one, or more. */
static bool reads_several(const problem *p)
{
    const ir_value *first = NULL;
    for (int i = 0; i < p->phase->op_count; i++)
        for (int k = 0; k < p->phase->ops[i]->input_count; k++) {
            const ir_value *v = p->phase->ops[i]->inputs[k];
            const extent rows = value_rows(p->a, v);
            if (value_columns(v) != p->space.columns || !extent_equal(&rows, &p->space.rows) ||
                (v->def && phase_of(p->program, v->def) == p->phase))
                continue;
            if (first && first != v) return true;
            first = v;
        }
    return false;
}

static int reductions_of(const ir_phase *phase)
{
    int count = 0;
    for (int i = 0; i < phase->op_count; i++) count += op_table[phase->ops[i]->kind].class == class_REDUCE;
    return count;
}

/* Vectors of a thread under way at once. An angle's reduction holds many registers: with eight, old compilers spill. Four where an H200 has
 * threads for all rows at once, of 2048 x 2048: add and rmsnorm 9.6 us, 10.8 with eight; rmsnorm 5.4 and 5.6; but layernorm, which adds up
 * twice, 6.1 and 5.9. */
static long long most_vectors(const problem *p, long long vectors)
{
    const long long rows = extent_value(&p->space.rows, &p->program->dims), threads = (long long)p->device->units * p->device->row_threads;
    for (int i = 0; i < p->phase->op_count; i++)
        if (p->phase->ops[i]->kind == op_sin || p->phase->ops[i]->kind == op_cos) return 2;
    if (!threads || rows * vectors > 4 * threads) return 8;
    return reads_several(p) || reductions_of(p->phase) == 1 ? 4 : 8;
}

/* By the registers that compilers take a SIMD would hold a single wave, which waits for memory with nothing else to do, or not even the
 * workgroup. A scheduler of NVIDIA's holds two warps whatever they take, and nobody has measured fewer vectors a thread there. */
static bool is_alone(const problem *p, const row_need *need, const rows_tile *t)
{
    const kernel_need kernel = {.threads = t->threads, .registers = row_registers(p, need, t)};
    occupancy o;
    return !p->target->timed && occupancy_of(p->device, &kernel, &o) && o.waves < 2;
}

static rows_tile tile_of(long long team, long long v)
{
    enum { least_threads = 128 };
    return (rows_tile){.threads = team > least_threads ? (int)team : least_threads, .team = (int)team, .v = (int)v};
}

/* Threads a row. Eight vectors each are enough to have in flight, and a row inside a wave needs no barrier; with few rows more threads
 * share one, until each has one vector or the machine (busy_threads of it) is busy. So do they where a row takes too many registers. */
static rows_tile shared_out(const problem *p, long long v)
{
    enum { busy_threads = 65536, most_threads = 1024 };
    const long long vectors = (p->space.columns + v - 1) / v, most = most_vectors(p, vectors);
    const long long rows = extent_value(&p->space.rows, &p->program->dims);
    const row_need need = row_need_of(p);
    long long team = power_of_two_up(vectors);
    if (team > p->target->wave) team = p->target->wave;
    while (team < most_threads && team * most < vectors) team *= 2;
    while (team < 256 && team < vectors && rows * team < busy_threads) team *= 2;
    rows_tile t = tile_of(team, v);
    while (t.team < most_threads && t.team < vectors && is_alone(p, &need, &t)) t = tile_of(2 * t.team, v);
    return t;
}

/* Of elementwise arithmetic a multiply-add is two; what goes with it (conversions, moves) is as much again. */
static double arithmetic(const problem *p)
{
    double sum = 0;
    for (int i = 0; i < p->phase->op_count; i++) {
        const ir_op *op = p->phase->ops[i];
        const bool of_input = op_table[op->kind].class == class_REDUCE || op->kind == op_kv_append; /* of a cache the rows that are new */
        const ir_value *v = of_input ? op->inputs[0] : op->outputs[0];
        if (!op_is_view(op)) sum += 4.0 * op_cost(op, p->phase, p->target) * (double)value_count(v, &p->program->dims);
    }
    return sum;
}

/* What a thread has of a row it asks for at once, as far as its registers go; lanes and waves of a team exchange what they add up. */
static void describe_cost(const problem *p, const ir_tile *t, cost_descriptor *d)
{
    enum { most_ahead = 32, exchange = 30, meeting = 60, wave_meeting = 30 };
    const rows_tile *x = &t->rows;
    const work *w = p->work;
    const double rows = (double)extent_value(&p->space.rows, &p->program->dims), each = x->threads / x->team;
    const double vectors = ceil((double)p->space.columns / x->v / x->team);
    const int wave = x->team < p->target->wave ? x->team : p->target->wave;
    const double meet = x->team > p->target->wave ? meeting + wave_meeting * (x->team / p->target->wave) : 0;
    const double join = meet + exchange * ceil_log2(wave);
    d->groups = ceil(rows / each), d->per_unit = groups_by_threads(p->target, x->threads);
    d->memory = d->asked = (w->read + w->written) / d->groups;
    d->others = arithmetic(p) / d->groups;
    d->trips = ceil(vectors / most_ahead), d->end_cycles = reductions_of(p->phase) * join;
}

static void defaults(const problem *p, ir_tile *t)
{
    const long long v = vector_of(p);
    t->rows = on_host(p) ? (rows_tile){.threads = 1, .team = 1, .v = (int)v} : shared_out(p, v);
}

static const char *illegal(const problem *p, const ir_tile *t)
{
    const rows_tile *x = &t->rows;
    if (!is_power_of_two(x->team) || !is_power_of_two(x->v)) return "team and v are powers of two";
    if (x->threads % x->team != 0) return "team divides threads";
    return whole_vector(p, 16) % x->v == 0 || x->v == 1 ? NULL : "v divides head sizes, slices and pieces";
}

static long long shared_bytes(const problem *p, const ir_tile *t)
{
    return mixed_memory(1, 1, 4 * (t->rows.threads / p->target->wave + 1), 4);
}

/* More threads share a row; then each has shorter vectors, of which the compiler has fewer under way. */
static bool smaller(const problem *p, ir_tile *t)
{
    rows_tile *x = &t->rows;
    const long long vectors = (p->space.columns + x->v - 1) / x->v, most = p->target->max_threads < 1024 ? p->target->max_threads : 1024;
    if (2 * x->team <= most && x->team < vectors) {
        x->team *= 2;
        if (x->threads < x->team) x->threads = x->team;
    } else if (x->v > 1)
        x->v /= 2;
    else
        return false;
    return true;
}

static void geometry(const problem *p, const ir_tile *t, tile_extents *to)
{
    (void)p;
    to->tile_rows = t->rows.threads / t->rows.team;
}

const program rows_program = {.kind = program_rows,
                              .device = "rows",
                              .template = "templates/rows/rows.h",
                              .describe_cost = describe_cost,
                              .defaults = defaults,
                              .illegal = illegal,
                              .shared_bytes = shared_bytes,
                              .smaller = smaller,
                              .geometry = geometry,
                              .members = emit_rows};
