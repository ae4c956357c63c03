/* In: tiles of products on wgmma with swapped operands. Out: threads, registers, shared memory and stages (gen/program/swap_ab.h). */
#include "gen/program/staging.h"
#include "gen/program/swap_ab.h"

enum { most_stages = 24 };

/* A warpgroup per 64 columns, and a warp that loads; with many results a warpgroup loads, and gives its registers to the others. */
int swap_ab_threads(int m, int n) { return (n + 63) / 64 * 128 + (m > swap_ab_rows_beside_a_warp ? 128 : 32); }

int swap_ab_members(const gemm_swap_ab_tile *x) { return x->cluster * x->cluster_m; }

int swap_ab_column_step_of(const problem *p) { return swap_ab_column_step * (matmul_is_across(p->product) ? 2 : 1); }

/* ---- resources of a tile */
static long long bytes_of_stage(const gemm_swap_ab_tile *x) { return (long long)swap_ab_element_bytes * x->n * x->k + 16; }
/* A as [K, M] comes in panels of 64 rows; otherwise each workgroup that shares them loads as many groups of 8. */
int swap_ab_rows_loaded(const problem *p, const gemm_swap_ab_tile *x)
{
    const int step = p->product->attributes.transpose_a ? 64 : x->in_turn ? 8 : 8 * x->cluster;
    return (x->m + step - 1) / step * step;
}
static long long bytes_of_row_stage(const problem *p, const gemm_swap_ab_tile *x)
{
    return (long long)swap_ab_element_bytes * swap_ab_rows_loaded(p, x) * x->k;
}

/* ws_memory<...>::bytes of templates/frame/frame_ws.h */
long long swap_ab_bytes(const problem *p, const gemm_swap_ab_tile *x)
{
    return 1024 + x->stages * bytes_of_stage(x) + x->row_stages * bytes_of_row_stage(p, x);
}

/* ws_consumer_registers() of templates/frame/frame_ws.h, and the registers that NVRTC 13 needs besides the accumulators. */
bool swap_ab_registers_fit(const gemm_swap_ab_tile *x, int together)
{
    /* registers: of a multiprocessor per thread of a warpgroup; most of a thread; of a loading thread */
    enum { of_a_lane = 512, most = 240, of_a_producer = 24 };
    const int beside = x->tail > 1 ? 48 : 26;
    const int groups = (x->n + 63) / 64, even = of_a_lane / (together * (groups + 1)) / 8 * 8;
    const int each = ((even < 248 ? even : 248) * (groups + 1) - of_a_producer) / groups / 8 * 8;
    return x->m / 2 + beside <= (each < most ? each : most);
}

int swap_ab_resident(const problem *p, const gemm_swap_ab_tile *x)
{
    const bool registers = x->m > swap_ab_rows_beside_a_warp ? swap_ab_registers_fit(x, 2) : x->threads <= 288;
    return registers && x->tail == 1 && swap_ab_bytes(p, x) <= shared_room(p->target, 2) ? 2 : 1;
}

bool swap_ab_sums_fit(const problem *p, const gemm_swap_ab_tile *x)
{
    return x->stages * (bytes_of_stage(x) - 16) + x->row_stages * bytes_of_row_stage(p, x) >= 4ll * x->m * (x->n + 4);
}

bool swap_ab_fill(const problem *p, int together, gemm_swap_ab_tile *x)
{
    const long long part = (product_length(p) + x->k * x->split_k - 1) / (x->k * x->split_k),
                    room = shared_room(p->target, together) - 1024;
    const long long both = room / (bytes_of_stage(x) + bytes_of_row_stage(p, x)), least = both < part ? both : part;
    x->row_stages = (int)(least < most_stages ? least : most_stages);
    if (x->row_stages < 2) x->row_stages = 2;
    const long long most = (room - x->row_stages * bytes_of_row_stage(p, x)) / bytes_of_stage(x);
    x->stages = x->row_stages;
    while (x->stages < most && (x->stages < part || !swap_ab_sums_fit(p, x))) x->stages++;
    return x->stages <= most && x->stages <= most_stages && swap_ab_sums_fit(p, x);
}

/* Products that are only rounded pass through shared memory, as 16 bits. On an H200 826x2824x2008 took 14 % less time so, 1389x1504x1064 22
 * %, products of K above 5000 0 to 2 %. Slices of split-K, whose sums other workgroups read, took up to 3 % more, except where rows of the
 * result would be stored element by element: 300x1001x2048 17 % less, 4096x2529x512 44 %. */
bool swap_ab_stages_results(const problem *p, const gemm_swap_ab_tile *x)
{
    if (staging_obstacle(p, true)) return false;
    return results_unit(p) != gemm_vector || (product_is_rounded(p) && x->split_k == 1 && x->tail == 1);
}
