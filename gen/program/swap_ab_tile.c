/* Threads, registers, shared memory and stages of tiles of gemm_swap_ab. Contract: gen/program/swap_ab.h. */
#include "gen/program/staging.h"
#include "gen/program/swap_ab.h"

enum { most_stages = 24 };

/* A warpgroup multiplies per 64 columns, and one warp loads. With many rows a whole warpgroup loads, and gives registers to the others. */
int swap_ab_threads(int m, int n) { return (n + 63) / 64 * 128 + (m > swap_ab_rows_beside_a_warp ? 128 : 32); }

int swap_ab_members(const gemm_swap_ab_tile *x) { return x->cluster * x->cluster_m; }

int swap_ab_column_step_of(const problem *p) { return swap_ab_column_step * (matmul_is_across(p->product) ? 2 : 1); }

long long swap_ab_clusters(const problem *p, const gemm_swap_ab_tile *x)
{
    const long long rows = (long long)x->m * x->cluster_m;
    return product_matrices(p) * ((problem_rows(p) + rows - 1) / rows) * ((column_tiles(p, x->n) + x->cluster - 1) / x->cluster);
}

int swap_ab_rows_of_tile(const problem *p, long long tiles)
{
    enum { most_m = 256, least_m = 16 };
    const long long rows = problem_rows(p), m = ((rows + tiles - 1) / tiles + 7) / 8 * 8;
    return m < least_m || m > most_m || (rows + m - 1) / m != tiles ? 0 : (int)m;
}

/* ---- resources of a tile */
static long long bytes_of_stage(const gemm_swap_ab_tile *x) { return (long long)swap_ab_element_bytes * x->n * x->k + 16; }
/* A stored as [K, M] is loaded in panels of 64 rows, A stored as [M, K] in boxes of any multiple of 8 rows. Unless they take turns, the
 * workgroups that share rows load one box each, all of the same size. */
int swap_ab_rows_loaded(const problem *p, const gemm_swap_ab_tile *x)
{
    const int step = p->product->attributes.transpose_a ? 64 : x->in_turn ? 8 : 8 * x->cluster;
    return (x->m + step - 1) / step * step;
}
static long long bytes_of_row_stage(const problem *p, const gemm_swap_ab_tile *x)
{
    return (long long)swap_ab_element_bytes * swap_ab_rows_loaded(p, x) * x->k;
}

/* gemm_swap_ab<...>::staging_bytes */
static long long bytes_of_chunks(const gemm_swap_ab_tile *x)
{
    enum { buffers = 2, rows = 32, pitch = 64 * 2 + 16 };
    return x->persistent ? (x->n + 63) / 64 * buffers * rows * pitch : 0;
}

/* ws_memory<...>::bytes of templates/frame/frame_ws.h */
long long swap_ab_bytes(const problem *p, const gemm_swap_ab_tile *x)
{
    return 1024 + x->stages * bytes_of_stage(x) + x->row_stages * bytes_of_row_stage(p, x) + bytes_of_chunks(x);
}

/* Most rows of one wgmma, whose results must fit in the registers that a thread is launched with: see `halves` of
 * templates/gemm/gemm_swap_ab.h. Columns of A are loaded in panels of 64, and the first half has two of them. */
static int rows_at_once(const problem *p, int m, int at_launch, int beside)
{
    if (m / 2 + beside <= at_launch) return m;
    return p->product->attributes.transpose_a ? 128 : (m / 2 + 7) / 8 * 8;
}

/* Compares what a thread needs, its accumulators and what NVRTC 13 takes beside them, with what it has: at_launch of that file or, if a
 * warpgroup loads, ws_consumer_registers() of templates/frame/frame_ws.h. With a tail, NVRTC keeps addresses in registers from one of the
 * workgroup's tiles to the next: tiles of 96 to 256 rows by 160 and more columns then spilled, those by 128 columns did not. */
bool swap_ab_registers_fit(const problem *p, const gemm_swap_ab_tile *x, int together)
{
    /* registers of a multiprocessor divided by the 128 threads of a warpgroup; the most of a thread; those of a loading thread */
    enum { of_a_lane = 512, most = 240, of_a_producer = 24, beside_results = 26, beside_of_tail = 96 };
    const int beside = x->tail > 1 ? beside_of_tail : beside_results;
    const int groups = (x->n + 63) / 64, even = of_a_lane / (together * (groups + 1)) / 8 * 8;
    const int given = ((even < 248 ? even : 248) * (groups + 1) - of_a_producer) / groups / 8 * 8;
    const int each = x->m > swap_ab_rows_beside_a_warp ? given : even;
    if (rows_at_once(p, x->m, even, beside_results) / 2 + beside_results > even) return false;
    return x->m / 2 + beside <= (each < most ? each : most);
}

int swap_ab_resident(const problem *p, const gemm_swap_ab_tile *x)
{
    const bool registers = x->m > swap_ab_rows_beside_a_warp ? swap_ab_registers_fit(p, x, 2) : x->threads <= 288;
    return registers && x->tail == 1 && swap_ab_bytes(p, x) <= shared_room(p->target, 2) ? 2 : 1;
}

bool swap_ab_sums_fit(const problem *p, const gemm_swap_ab_tile *x)
{
    return x->persistent || x->stages * (bytes_of_stage(x) - 16) + x->row_stages * bytes_of_row_stage(p, x) >= 4ll * x->m * (x->n + 4);
}

bool swap_ab_fill(const problem *p, int together, gemm_swap_ab_tile *x)
{
    const long long part = x->persistent ? most_stages : (product_length(p) + x->k * x->split_k - 1) / (x->k * x->split_k),
                    room = shared_room(p->target, together) - 1024 - bytes_of_chunks(x);
    const long long both = room / (bytes_of_stage(x) + bytes_of_row_stage(p, x)), least = both < part ? both : part;
    x->row_stages = (int)(least < most_stages ? least : most_stages);
    if (x->row_stages < 2) x->row_stages = 2;
    const long long most = (room - x->row_stages * bytes_of_row_stage(p, x)) / bytes_of_stage(x);
    x->stages = x->row_stages;
    while (x->stages < most && (x->stages < part || !swap_ab_sums_fit(p, x))) x->stages++;
    return x->stages <= most && x->stages <= most_stages && swap_ab_sums_fit(p, x);
}

/* Results pass through shared memory if the epilogue only rounds products, and K is not split. On an H200 that took 14 % less time for
 * 826x2824x2008 (M x N x K), 22 % less for 1389x1504x1064, 0 to 2 % less for K above 5000. With split K, where other workgroups read the
 * sums, it took up to 3 % more time. Results also pass through shared memory if rows of the result do not begin at multiples of 16 bytes,
 * whether K is split or not: 300x1001x2048 took 17 % less time, 4096x2529x512 44 % less. */
bool swap_ab_stages_results(const problem *p, const gemm_swap_ab_tile *x)
{
    if (staging_obstacle(p, true)) return false;
    return results_unit(p) != gemm_vector || (product_is_rounded(p) && x->split_k == 1 && x->tail == 1);
}
