/* Contract: banks.h.
 *
 * A bank delivers a 4-byte word per cycle; lanes that read the same word are served together. A phase serves 32 lanes of a request with up
 * to 4 bytes per lane, 16 lanes with 8 bytes, 8 lanes with 16 bytes: CUDA C++ Programming Guide, shared memory of compute capability 5.x
 * and later; ROCm's Composable Kernel documentation, "Understanding AMD GPU LDS and Bank Conflicts", which lists the lanes of each phase of
 * ds_read_b128 on CDNA. On gfx950, with 64 banks and 16 lanes a phase, two of those phases are one, as counted by tests/amd/code.py. */
#include "runtime/cli/access/banks.h"
#include <string.h>

/* 16-byte reads are served in phases: [lane % 32 / 4] is the phase of a lane within its half of the wave. */
static const unsigned char phases_cdna[8] = {0, 1, 2, 3, 1, 0, 3, 2}, phases_cdna4[8] = {0, 1, 1, 0, 1, 0, 0, 1};

static bool is_reordered(const target_info *target, const bank_request *r)
{
    return r->read && r->bytes == 16 && target->reads != lds_reads_NEIGHBOURS;
}

int banks_phase(const target_info *target, const bank_request *r, int lane)
{
    const int in = lane % 32, half = lane / 32;
    if (is_reordered(target, r))
        return target->reads == lds_reads_CDNA ? half * 4 + phases_cdna[in / 4] : half * 2 + phases_cdna4[in / 4];
    return lane / (r->bytes <= 4 ? 32 : r->bytes <= 8 ? 16 : 8);
}

int banks_count(const target_info *target, const bank_request *r)
{
    return is_reordered(target, r) ? target->lds_banks : 32;
}

typedef struct words {
    unsigned long long of[banks_most_lanes * 5];
    int count;
} words;

static void add_word(words *w, unsigned long long word)
{
    for (int i = 0; i < w->count; i++)
        if (w->of[i] == word) return;
    w->of[w->count++] = word;
}

static int fullest(const words *w, int banks)
{
    int in[64] = {0}, most = 0;
    for (int i = 0; i < w->count; i++) {
        const int n = ++in[w->of[i] % (unsigned)banks];
        if (n > most) most = n;
    }
    return most;
}

bank_cost banks_cost(const target_info *target, const bank_request *r)
{
    const int banks = banks_count(target, r);
    bank_cost cost = {0};
    for (int phase = 0; phase < 8; phase++) {
        words w = {.count = 0};
        for (int lane = 0; lane < r->lanes; lane++) {
            if (!r->present[lane] || banks_phase(target, r, lane) != phase) continue;
            for (unsigned long long at = r->place[lane] / 4; at <= (r->place[lane] + (unsigned)r->bytes - 1) / 4; at++) add_word(&w, at);
        }
        const int ways = fullest(&w, banks);
        cost.cycles += ways, cost.least += ways > 0;
        if (ways > cost.ways) cost.ways = ways;
    }
    return cost;
}
