/* Row-wise kernels (templates/rows/rows.h), with a team of threads per row. In: a rows phase. Out: a tile: the smallest team that keeps the
 * device busy, and the widest vectors that divide heads, slices and the operands of a concat. */
#include "gen/program/rows.h"
#include "ir/devices/occupancy.h"
#include <math.h>

static bool on_host(const problem *p) { return p->target->serial; }

/* The widest vector up to `most` that crosses no border of a head, a slice or an operand of a concat in this op. */
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
    if (op->kind == op_permute && t->axes.at[t->axes.count - 1] != t->axes.count - 1) v = 1; /* adjacent columns lie apart in the operand */
    if (op->kind == op_rope) {
        const long long head = value_head_size(op->outputs[0], t->heads);
        v = power_of_two_in(t->pairing == pairing_half ? t->rotary / 2 : t->rotary, power_of_two_in(head, v));
    }
    if (op->kind == op_kv_append) v = power_of_two_in(value_columns(op->outputs[0]), v);
    return v;
}

/* The widest vector that all ops of the phase allow. */
static long long whole_vector(const problem *p, long long most)
{
    for (int i = 0; i < p->phase->op_count; i++)
        if (!op_is_view(p->phase->ops[i])) most = whole_columns(p, p->phase->ops[i], most);
    return most;
}

/* On GPUs rows are loaded and stored in whole vectors, so every row must begin at a multiple of the vector. */
static long long vector_of(const problem *p)
{
    return on_host(p) ? whole_vector(p, 16) : aligned_vector(p, whole_vector(p, 8));
}

/* True if the phase loads whole rows of more than one value. */
static bool reads_several(const problem *p)
{
    const ir_value *first = NULL;
    for (int i = 0; i < p->phase->op_count; i++)
        for (int k = 0; k < p->phase->ops[i]->input_count; k++) {
            const ir_value *v = p->phase->ops[i]->inputs[k];
            const extent rows = value_rows(p->a, v);
            if (value_columns(v) != p->space.columns || !extent_equal(&rows, &p->space.rows) ||
                (v->def && phase_of(p->ir, v->def) == p->phase))
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

static bool has_rope(const problem *p)
{
    for (int i = 0; i < p->phase->op_count; i++)
        if (p->phase->ops[i]->kind == op_rope) return true;
    return false;
}

/* The most vectors that a thread should load at once. `vectors`: those of a row.
 *
 * Phases with a rope, if there are rows for every multiprocessor: one. NVRTC keeps the columns, partners, cosines and sines of all vectors
 * of a thread in registers. H200, 2048 rows of queries and of keys: 4096 columns with a norm (two vectors, 170 registers) and 6144 columns
 * (six vectors, 172 registers) left 256 threads per multiprocessor and took 90 us and 92 us; their bytes need 14 us and 21 us. One vector
 * takes 64 and 50 registers, which leaves 1024 threads; that was not timed.
 *
 * Phases with sin or cos: two, since their argument reduction needs registers; with eight, old compilers spill.
 *
 * Others: eight, or four if the device has threads for all rows at once (H200, 2048 x 2048, us with four and eight: add and rmsnorm 9.6,
 * 10.8; rmsnorm 5.4, 5.6; but layernorm, which has two reductions, 6.1, 5.9). */
static long long most_vectors(const problem *p, long long vectors)
{
    const long long rows = extent_value(&p->space.rows, &p->ir->dims), threads = (long long)p->device->units * p->device->row_threads;
    for (int i = 0; i < p->phase->op_count; i++)
        if (p->phase->ops[i]->kind == op_sin || p->phase->ops[i]->kind == op_cos) return 2;
    if (p->target->timed && rows > p->device->units && has_rope(p)) return 1;
    if (!threads || rows * vectors > 4 * threads) return 8;
    return reads_several(p) || reductions_of(p->phase) == 1 ? 4 : 8;
}

/* True if the tile needs so many registers that a SIMD holds a single wave, which cannot hide latency, or that the workgroup does not fit.
 * False for targets whose times were measured (NVIDIA): their schedulers hold two warps at any register count, and fewer vectors per thread
 * were not measured. */
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

/* Chooses the threads of a row, a team. A thread with eight vectors has enough loads in flight, and a team within a wave needs no barrier.
 * With few rows, teams grow until each thread has one vector or busy_threads threads run. They also grow if a thread would need too many
 * registers. */
static rows_tile shared_out(const problem *p, long long v)
{
    enum { busy_threads = 65536 /* of the launch */, most_threads = 1024 };
    const long long vectors = (p->space.columns + v - 1) / v, most = most_vectors(p, vectors);
    const long long rows = extent_value(&p->space.rows, &p->ir->dims);
    const row_need need = row_need_of(p);
    long long team = power_of_two_up(vectors);
    if (team > p->target->wave) team = p->target->wave;
    while (team < most_threads && team * most < vectors) team *= 2;
    while (team < 256 && team < vectors && rows * team < busy_threads) team *= 2;
    rows_tile t = tile_of(team, v);
    while (t.team < most_threads && t.team < vectors && is_alone(p, &need, &t)) t = tile_of(2 * t.team, v);
    return t;
}

/* Operations of the phase: twice those of op_cost(), which counts a multiply-add as one, and as many again for conversions and moves. */
static double arithmetic(const problem *p)
{
    const bool quick = phase_is_quick(p->ir, p->phase, p->target);
    double sum = 0;
    for (int i = 0; i < p->phase->op_count; i++) {
        const ir_op *op = p->phase->ops[i];
        /* a kv_append computes only the new rows */
        const bool of_input = op_table[op->kind].class == class_REDUCE || op->kind == op_kv_append;
        const ir_value *v = of_input ? op->inputs[0] : op->outputs[0];
        if (!op_is_view(op)) sum += 4.0 * op_cost(op, p->phase, p->target, quick) * (double)value_count(v, &p->ir->dims);
    }
    return sum;
}

/* A thread loads all its vectors of a row at once if registers suffice (most_ahead); each reduction ends in an exchange among the lanes
 * and waves of a team. */
static void describe_cost(const problem *p, const ir_tile *t, cost_descriptor *d)
{
    enum { most_ahead = 32 /* vectors */, exchange = 30, meeting = 60, wave_meeting = 30 /* cycles; the last per wave */ };
    const rows_tile *x = &t->rows;
    const work *w = p->work;
    const double rows = (double)extent_value(&p->space.rows, &p->ir->dims), each = x->threads / x->team;
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
    if (!is_power_of_two(x->team) || !is_power_of_two(x->v)) return "team and v must be powers of two";
    if (x->threads % x->team != 0) return "team must divide threads";
    return whole_vector(p, 16) % x->v == 0 || x->v == 1 ? NULL : "v must divide the head size and the columns of each slice and piece";
}

static long long shared_bytes(const problem *p, const ir_tile *t)
{
    return mixed_memory(1, 1, 4 * (t->rows.threads / p->target->wave + 1), 4);
}

/* First larger teams, then shorter vectors, which need fewer registers while in flight. */
static bool smaller(const problem *p, ir_tile *t)
{
    rows_tile *x = &t->rows;
    const long long vectors = (p->space.columns + x->v - 1) / x->v, most = p->target->max_threads < 1024 ? p->target->max_threads : 1024;
    if (2 * x->team <= most && x->team < vectors) {
        x->team *= 2;
        x->threads = x->threads < x->team ? x->team : x->threads / x->team * x->team;
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
