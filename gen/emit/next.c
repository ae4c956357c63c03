/* In: a launch of few rows and the one behind it. Out: members of its spec struct by which it asks for the weights that the next one reads
 * first, while the machine's memory has nothing else to do: when its own last loads are issued, up to when the next one has begun
 * (docs/overlap.md). Refuses nothing. */
#include "gen/emit/emit.h"

/* Bytes, of all workgroups. More is asked for twice, since the next launch begins meanwhile (H200, blocks that generate: 2 and 8 MB gain
 * half as much, 12 MB nothing). */
enum { asked_bytes = 4 << 20 };

static bool asks(const emission *e, const launch *own)
{
    const program_kind of = own->kernel->phases[0]->tile.program;
    return e->plan->target->overlaps && own->overlap &&
           (of == program_gemm_frag || of == program_gemm_turned || of == program_decode_mma);
}

/* Packed weights that the next launch loads ahead, among the plan's; -1: it does not. */
static int weights_of(const plan *p, const launch *next)
{
    const ir_phase *phase = next->kernel->phases[0];
    if (phase->tile.program != program_gemm_frag && phase->tile.program != program_gemm_turned) return -1;
    for (int i = 0; i < p->pack_count; i++)
        if (p->packs[i].phase == phase) return i;
    return -1;
}

/* Each of its first workgroups begins with pieces along k: of all columns of its tile, from the start of its part. */
void emit_next(emission *e, writer *w, const launch *own)
{
    const plan *p = e->plan;
    const launch *next = own + 1;
    if (!asks(e, own) || next == p->launches + p->launch_count || weights_of(p, next) < 0) return;
    const packed_weight *pack = &p->packs[weights_of(p, next)];
    const int members = next->cluster > 1 ? next->cluster : 1;
    const long long along = pack->length * dtype_size(pack->type) / piece_row_bytes, across = pack->columns / piece_columns;
    const long long parts = along % members ? 1 : members, step = along / parts * piece_bytes;
    const long long tiles = next->column_tiles / members, seats = (long long)p->device->units * (next->resident > 1 ? next->resident : 1),
                    first = seats / parts * ((across + tiles - 1) / tiles), runs = (first < across ? first : across) * parts;
    const long long share = asked_bytes / runs / piece_bytes * piece_bytes, bytes = share < step ? share : step;
    if (bytes == 0) return;
    write_line(w, "static constexpr int next_runs = %lld, next_bytes = %lld;", runs, bytes);
    write_line(w, "static constexpr long long next_step = %lld;", step);
    write_line(w, "DEV static const void *next(const args &p) { return %s; }", use_next_packed(e, weights_of(p, next)));
}
