/* Computes the grids of a plan's launches, and the bytes of its packed weights and workspace, for given values of its dynamic dims. Sizes
 * that would overflow become the largest long long; callers compare them with the memory they have. */
#include "gen/gen.h"

static long long times(long long x, long long y)
{
    long long product;
    return __builtin_mul_overflow(x, y, &product) ? __LONG_LONG_MAX__ : product;
}

static long long aligned_sum(long long offset, long long bytes)
{
    long long sum;
    if (__builtin_add_overflow(offset, bytes, &sum) || sum > __LONG_LONG_MAX__ - 255) return __LONG_LONG_MAX__;
    return (sum + 255) / 256 * 256;
}

long long extents_tiles(const tile_extents *x, const dim_table *dims)
{
    const long long rows = extent_value(&x->rows, dims), row_tiles = rows / x->tile_rows + (rows % x->tile_rows != 0);
    return times(times(row_tiles, x->column_tiles), extent_value(&x->multiple, dims));
}

long long launch_tiles(const launch *l, const dim_table *dims)
{
    long long sum = 0;
    for (int i = 0; i < l->work_count; i++)
        if (__builtin_add_overflow(sum, extents_tiles(&l->work[i].extents, dims), &sum)) return __LONG_LONG_MAX__;
    return sum;
}

/* The largest number of tiles that a phase of the launch has. */
static long long widest_phase(const launch *l, const dim_table *dims)
{
    long long most = 0;
    for (int i = 0; i < l->work_count; i++) {
        const long long tiles = extents_tiles(&l->work[i].extents, dims);
        if (tiles > most) most = tiles;
    }
    return most;
}

const launch_phase *plan_work_of(const plan *p, const ir_phase *phase, const launch **of)
{
    for (int i = 0; i < p->launch_count; i++)
        for (int k = 0; k < p->launches[i].work_count; k++)
            if (p->launches[i].work[k].phase == phase) return *of = &p->launches[i], &p->launches[i].work[k];
    return NULL;
}

long long launch_grid(const launch *l, const dim_table *dims)
{
    long long tiles = l->together ? widest_phase(l, dims) : launch_tiles(l, dims);
    if (l->grid_limit && tiles > l->grid_limit) tiles = l->grid_limit;
    return tiles < 1 ? 1 : tiles;
}

long long pack_grid(const packed_weight *w)
{
    const long long each = 16ll * w->threads, elements = times(w->columns, w->length), blocks = elements / each + (elements % each != 0);
    return blocks < 1 ? 1 : blocks > 65536 ? 65536 : blocks;
}

long long pack_bytes(const packed_weight *w)
{
    long long sum = times(w->columns, format_numbers_bytes(w->format, w->length));
    return __builtin_add_overflow(sum, format_scale_bytes(w->format, w->columns, w->K), &sum) ? __LONG_LONG_MAX__ : sum;
}

long long storage_bytes(const storage *s, const dim_table *dims)
{
    const ir_value *v = s->value;
    const long long columns = value_columns(v), count = value_count(v, dims) / (columns > 0 ? columns : 1);
    return times(times(times(count, value_stride(v)), s->partials), dtype_size(v->type));
}

/* A trace has a record per workgroup, then two per tile, because two workgroups may share a tile (decode_mma). */
long long scratch_bytes(const scratch *s, const dim_table *dims)
{
    if (!s->trace) return times(extent_value(&s->floats, dims), 4);
    return times(times(launch_tiles(s->trace, dims), 2) + launch_grid(s->trace, dims), trace_record_bytes);
}

long long workspace_layout(const plan *p, const dim_table *dims, long long *offsets)
{
    long long at = 0;
    for (int i = 0; i < p->stored_count + p->scratch_count; i++) {
        const bool value = i < p->stored_count;
        if (offsets) offsets[i] = at;
        at = aligned_sum(at, value ? storage_bytes(&p->stored[i], dims)
                                   : scratch_bytes(&p->scratches[i - p->stored_count], dims));
    }
    return at;
}
