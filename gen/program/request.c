/* In: a request. Out: what several programs ask of its phase. Refuses nothing. */
#include "gen/program/program.h"
#include "ir/devices/occupancy.h"

tile_request request_of(arena *a, const ir_program *p, const ir_phase *phase, const device_model *device, struct wishes *w,
                        const tuning *t)
{
    work *counted = arena_alloc(a, sizeof *counted);
    *counted = (work){0};
    return (tile_request){.a = a,
                          .work = counted,
                          .program = p,
                          .phase = phase,
                          .device = device,
                          .target = device->target,
                          .space = phase_space(a, phase),
                          .wishes = w,
                          .tuning = t};
}

const ir_op *request_product(const tile_request *r) { return phase_first(r->phase, class_PRODUCT); }

const ir_op *request_attention(const tile_request *r) { return phase_first(r->phase, class_ATTENTION); }

long long request_rows(const tile_request *r)
{
    const ir_op *product = request_product(r);
    const ir_value *out = product && product->kind == op_matmul ? product->outputs[0] : NULL;
    return extent_value(out ? &out->shape[out->rank - 2] : &r->space.rows, &r->program->dims);
}

long long request_head(const tile_request *r)
{
    const ir_op *op = request_attention(r);
    return op->kind == op_attention_combine ? value_columns(op->inputs[0]) - 2 : value_head_size(op->inputs[0], op->attributes.heads);
}

long long request_queries(const tile_request *r) { return extent_value(&request_attention(r)->inputs[0]->shape[1], &r->program->dims); }

const work *request_work(const tile_request *r)
{
    if (!r->work->tensors) *r->work = phase_work(r->a, r->program, r->phase);
    return r->work;
}

double request_seconds(const tile_request *r, const program *p, const ir_tile *t)
{
    demand d = {.groups = 1, .per_unit = 1, .threads = tile_threads(t), .overlap = r->target->overlaps};
    p->demand(r, t, &d);
    return cost_of(r->device, &d).seconds;
}

void bytes_demand(const tile_request *r, const ir_tile *t, void (*geometry)(const tile_request *r, const ir_tile *t, launch *l),
                  demand *d)
{
    const work *w = request_work(r);
    launch l = {.rows = r->space.rows, .multiple = extent_number(1), .column_tiles = 1, .tile_rows = 1, .cluster = 1};
    geometry(r, t, &l);
    d->groups = (double)launch_grid(&l, &r->program->dims), d->per_unit = groups_by_threads(r->target, tile_threads(t));
    d->memory = d->asked = (w->read + w->written) / d->groups, d->others = w->others / d->groups, d->trips = 1;
}

bool times_are_guesses(const tile_request *r)
{
    return r->target->vendor == vendor_amd || r->device->numbers[number_bandwidth_reached].value <= 0;
}

int groups_by_threads(const target_info *target, int threads)
{
    const int groups = unit_room_of(target).threads / threads;
    return groups > 1 ? groups : 1;
}

bool phase_makes(const ir_phase *phase, const ir_value *v)
{
    return phase_has(phase, v->def) && !op_is_view(v->def);
}

bool request_sums_rows(const tile_request *r)
{
    for (int i = 0; i < r->phase->op_count; i++)
        if (r->phase->ops[i]->role == role_epilogue && value_is_partial(r->program, r->phase->ops[i]->outputs[0])) return true;
    return false;
}

bool is_power_of_two(long long n) { return n > 0 && (n & (n - 1)) == 0; }

long long power_of_two_up(long long n)
{
    long long p = 1;
    while (p < n) p *= 2;
    return p;
}

int doublings(long long n)
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

long long mixed_memory(long long slots, long long slot, long long scratch, long long align)
{
    const long long bytes = slots * slot, scratch_at = scratch > 1 ? (bytes + 3) / 4 * 4 : bytes;
    return (scratch_at + scratch + align - 1) / align * align;
}

long long no_shared_memory(const tile_request *r, const ir_tile *t)
{
    (void)r, (void)t;
    return 2;
}

long long pieces_along(const ir_op *product)
{
    const long long bytes = value_columns(product->inputs[0]) * dtype_size(product->inputs[1]->type);
    return (bytes + piece_row_bytes - 1) / piece_row_bytes;
}
