/* Contract: gen/program/swap_ab.h. */
#include "gen/program/swap_ab.h"

double swap_ab_seconds(const problem *p, const program *by, const gemm_swap_ab_tile *x)
{
    const ir_tile t = {.program = program_gemm_swap_ab, .gemm_swap_ab = *x};
    return program_seconds(p, by, &t);
}

void swap_ab_compare(swap_ab_search *s, const gemm_swap_ab_tile *x)
{
    const double seconds = swap_ab_seconds(s->p, s->by, x);
    if (seconds < s->least) *s->best = *x, s->least = seconds;
}

/* More stages than needed leave no shared memory in which the next launch could begin: 73x2640x944 by 32x64 took 5.1 us with 8 stages, 5.9
 * with 14. More stages of weights than of rows took up to 7 % longer (514x10816x4952 by 176x128: 7 and 5, instead of 5 each). */
void swap_ab_try(swap_ab_search *s, const gemm_swap_ab_tile *tile, int together, int most_stages)
{
    gemm_swap_ab_tile x = *tile;
    const problem *p = s->p;
    if (x.m > swap_ab_rows_beside_a_warp && !swap_ab_registers_fit(p, &x, together)) return;
    if (!swap_ab_fill(p, together, &x) || swap_ab_resident(p, &x) != together) return;
    if (x.row_stages > most_stages) x.row_stages = most_stages;
    x.stages = x.row_stages;
    if (!swap_ab_sums_fit(p, &x)) return;
    x.smem_epilogue = swap_ab_stages_results(p, &x);
    swap_ab_compare(s, &x);
}

void swap_ab_try_shapes(swap_ab_search *s, const swap_ab_shapes *of, void (*try)(swap_ab_search *s, gemm_swap_ab_tile x))
{
    enum { most_m = 256, least_n = 64 };
    const problem *p = s->p;
    const long long rows = problem_rows(p), last = (rows + of->least_m - 1) / of->least_m;
    for (int m = most_m; m > 0; m -= 8) {
        const long long tiles = (rows + m - 1) / m;
        if (tiles > last || swap_ab_rows_of_tile(p, tiles) != m) continue;
        for (int n = of->most_n; n >= least_n; n -= of->step)
            if (n == least_n || column_tiles(p, n) < column_tiles(p, n - of->step))
                try(s, (gemm_swap_ab_tile){.m = m, .n = n, .k = of->k, .threads = swap_ab_threads(m, n), .tail = 1});
    }
}
