/* Makes problems (gen/program/problem.h), and holds the functions that several programs share (gen/program/program.h). */
#include "gen/program/program.h"
#include "ir/devices/occupancy.h"

problem problem_of(arena *a, const ir_graph *ir, const ir_phase *phase, const device_model *device)
{
    segment_list *segments = arena_alloc(a, sizeof *segments);
    work *counted = arena_alloc(a, sizeof *counted);
    *segments = (segment_list){0};
    *counted = phase_work(a, ir, phase);
    const bool arranged = phase->family != family_gemm || gemm_segments(a, phase, segments);
    return (problem){.a = a,
                     .ir = ir,
                     .phase = phase,
                     .product = phase_first(phase, class_PRODUCT),
                     .attention = phase_first(phase, class_ATTENTION),
                     .device = device,
                     .target = device->target,
                     .space = phase_space(a, phase),
                     .work = counted,
                     .segments = arranged ? segments : NULL,
                     .packed_n = arranged ? segments->packed_columns : 0};
}

problem plan_problem(arena *a, const plan *p, const ir_phase *phase) { return problem_of(a, p->ir, phase, p->device); }

long long problem_rows(const problem *p)
{
    const ir_op *product = p->product;
    const ir_value *out = product && product->kind == op_matmul ? product->outputs[0] : NULL;
    return extent_value(out ? &out->shape[out->rank - 2] : &p->space.rows, &p->ir->dims);
}

long long problem_head(const problem *p)
{
    const ir_op *op = p->attention;
    return op->kind == op_attention_combine ? value_columns(op->inputs[0]) - 2 : value_head_size(op->inputs[0], op->attributes.heads);
}

long long problem_value_head(const problem *p)
{
    const ir_op *op = p->attention;
    return op->kind == op_attention_combine ? value_columns(op->inputs[0]) - 2 : attention_value_size(op);
}

long long problem_longest_head(const problem *p)
{
    const long long head = problem_head(p), value = problem_value_head(p);
    return head > value ? head : value;
}

long long problem_queries(const problem *p) { return extent_value(&p->attention->inputs[0]->shape[1], &p->ir->dims); }

/* In a launch with a loading warp, neither the first loads of a phase nor its epilogue overlap with other phases. On an H200, seven prompts
 * (docs/one-launch.md) took 0.82 to 1.10 of the time that is predicted with these two numbers. */
cost program_cost(const problem *p, const program *by, const cost_descriptor *d)
{
    const double factor = 1.18, pause = 1.2e-6;
    cost c = cost_of(p->device, d);
    if (p->ir->feeds && frame_table[program_table[by->kind].frame].list == list_with_loader) {
        const double more = (factor - 1) * c.seconds + pause;
        c.ends += more, c.seconds += more;
    }
    return c;
}

double program_seconds(const problem *p, const program *by, const ir_tile *t)
{
    cost_descriptor d = {.groups = 1, .per_unit = 1, .threads = tile_threads(t), .overlap = p->target->overlaps};
    by->describe_cost(p, t, &d);
    return program_cost(p, by, &d).seconds;
}

tile_extents extents_start(const problem *p)
{
    return (tile_extents){.rows = p->space.rows, .multiple = extent_number(1), .tile_rows = 1, .column_tiles = 1, .cluster = 1};
}

bool copy_smaller(const problem *p, ir_tile *t)
{
    (void)p;
    t->align.each /= 2;
    return t->align.each > 0;
}

void transposing_geometry(const problem *p, const ir_tile *t, const ir_value *copy, tile_extents *to)
{
    to->rows = copy->shape[copy->rank - 2];
    to->tile_rows = transposed_columns * t->align.each;
    to->column_tiles = (int)((value_stride(copy) + transposed_run - 1) / transposed_run);
    to->multiple = value_batches(p->a, copy);
}

void bytes_cost(const problem *p, const ir_tile *t, void (*geometry)(const problem *p, const ir_tile *t, tile_extents *to),
                cost_descriptor *d)
{
    const work *w = p->work;
    tile_extents x = extents_start(p);
    geometry(p, t, &x);
    const long long tiles = extents_tiles(&x, &p->ir->dims);
    d->groups = tiles > 0 ? (double)tiles : 1, d->per_unit = groups_by_threads(p->target, tile_threads(t));
    d->memory = d->asked = (w->read + w->written) / d->groups, d->others = w->others / d->groups, d->trips = 1;
}

bool times_are_guesses(const problem *p)
{
    return !p->target->timed || p->device->numbers[number_bandwidth_reached].value <= 0;
}

int groups_by_threads(const target_info *target, int threads)
{
    const int groups = unit_room_of(target).threads / threads;
    return groups > 1 ? groups : 1;
}

int groups_by_registers(const target_info *target, int threads, int registers)
{
    const int groups = unit_room_of(target).registers / (registers * threads), most = groups_by_threads(target, threads);
    return groups < 1 ? 1 : groups < most ? groups : most;
}

long long shared_room(const target_info *target, int groups)
{
    const int reserved = unit_room_of(target).reserved;
    return (target->lds_bytes + reserved) / groups - reserved;
}

bool phase_makes(const ir_phase *phase, const ir_value *v)
{
    return phase_has(phase, v->def) && !op_is_view(v->def);
}

bool problem_sums_rows(const problem *p)
{
    for (int i = 0; i < p->phase->op_count; i++)
        if (p->phase->ops[i]->role == role_epilogue && value_is_partial(p->ir, p->phase->ops[i]->outputs[0])) return true;
    return false;
}

bool is_power_of_two(long long n) { return n > 0 && (n & (n - 1)) == 0; }

long long power_of_two_up(long long n)
{
    long long p = 1;
    while (p < n) p *= 2;
    return p;
}

int ceil_log2(long long n)
{
    int count = 0;
    for (long long p = 1; p < n; p *= 2) count++;
    return count;
}

long long power_of_two_in(long long n, long long most)
{
    long long p = 1;
    while (2 * p <= most && n % (2 * p) == 0) p *= 2;
    return p;
}

/* The widest vector up to `most` at whose multiples rows of x begin; `most` if x does not have that many columns. */
static long long aligned_columns(const ir_value *x, long long columns, long long most)
{
    if (value_columns(x) != columns) return most;
    most = power_of_two_in(columns, most);
    if (x->root_stride) most = power_of_two_in(x->root_offset, power_of_two_in(x->root_stride, most));
    return most;
}

long long aligned_vector(const problem *p, long long most)
{
    for (int i = 0; i < p->phase->op_count; i++) {
        const ir_op *op = p->phase->ops[i];
        if (op_is_view(op)) continue;
        for (int k = 0; k < op->input_count; k++) most = aligned_columns(op->inputs[k], p->space.columns, most);
        most = aligned_columns(op->outputs[0], p->space.columns, most);
    }
    return most;
}

long long mixed_memory(long long stages, long long stage, long long scratch, long long align)
{
    const long long bytes = stages * stage, scratch_at = scratch > 1 ? (bytes + 3) / 4 * 4 : bytes;
    return (scratch_at + scratch + align - 1) / align * align;
}

long long no_shared_memory(const problem *p, const ir_tile *t)
{
    (void)p, (void)t;
    return 2;
}

/* fed_head, fed_words and fed_bytes of templates/frame/frame_fed.h */
int fed_bytes(int phases, int fed)
{
    enum { head = 1024, own = 32, words = 64 };
    return head + own + 8 * (phases + phases % 2) + 8 * words * fed;
}

int shared_room_of_phase(const problem *p)
{
    int phases = 0, fed = 0;
    if (!p->ir->feeds) return p->target->lds_bytes;
    for (int k = 0; k < p->ir->kernel_count; k++)
        for (int i = 0; i < p->ir->kernels[k]->phase_count; i++) {
            const ir_phase *phase = p->ir->kernels[k]->phases[i];
            fed += phase->family == family_gemm || phase->family == family_attention, phases++;
        }
    return p->target->lds_bytes - fed_bytes(phases, fed) - 2 * seat_bytes;
}
