/* Attention of few queries over a cache: what its programs cost beside what an H200 took. */
#include "gen/program/program.h"
#include "tests/support.h"
#include <stdio.h>

/* ---- docs/performance.md, "A few queries over a cache": bf16, 32 heads, 8 of keys, causal at the cache's end */
static const struct {
    int head, sequences, queries, keys;
    double decode, attention; /* us, the two appends ahead of it among them */
} measured[] = {{64, 1, 4, 2048, 10.8, 20.0},   {64, 1, 8, 2048, 12.8, 20.1},   {64, 1, 16, 2048, 13.8, 20.2},
                {64, 1, 32, 2048, 15.7, 25.2},  {64, 1, 64, 2048, 27.8, 28.9},  {64, 1, 16, 8192, 26.5, 61.6},
                {64, 1, 64, 8192, 77.8, 94.4},  {64, 8, 8, 2048, 30.2, 20.7},   {64, 8, 16, 2048, 50.1, 20.9},
                {64, 8, 32, 2048, 89.3, 26.5},  {64, 32, 8, 2048, 125.2, 40.4}, {64, 8, 64, 4096, 362.0, 52.5},
                {128, 1, 4, 2048, 13.4, 23.9},  {128, 1, 8, 2048, 17.8, 24.2},  {128, 1, 16, 2048, 18.0, 24.1},
                {128, 1, 32, 2048, 23.8, 29.0}, {128, 1, 64, 2048, 44.8, 29.4}, {128, 1, 16, 8192, 42.0, 75.8},
                {128, 1, 64, 8192, 134.9, 94.7}, {128, 8, 8, 2048, 48.5, 25.7}, {128, 8, 16, 2048, 87.7, 25.9},
                {128, 8, 32, 2048, 171.9, 31.6}, {128, 32, 8, 2048, 248.0, 73.2}, {128, 8, 64, 4096, 874.8, 64.6}};
enum { measured_count = sizeof measured / sizeof *measured };

static rig *planned(int head, int sequences, int queries, int keys, const char *type, const char *target)
{
    static char yaml[1024];
    snprintf(yaml, sizeof yaml,
             "block: t\ndtype: %s\ndims: {B: %d, S: %d, L: %d, hd: %d}\n"
             "inputs: {q: [B, S, 32*hd], k: [B, S, 8*hd], v: [B, S, 8*hd], pos: {shape: [B], dtype: i32, range: [L-S, L-S]}}\n"
             "state: {k_cache: [B, 8, L, hd], v_cache: [B, 8, L, hd]}\nops:\n"
             "  - {out: kc, op: kv_append, in: [k], state: k_cache, at: pos}\n"
             "  - {out: vc, op: kv_append, in: [v], state: v_cache, at: pos}\n"
             "  - {out: a, op: attention, in: [q, kc, vc], heads: 32, kv_heads: 8, causal: true, at: pos}\noutputs: {y: a}\n",
             type, sequences, queries, keys, head);
    return rig_plan(&(rig_request){.yaml = yaml, .level = fusion_tile, .target = target});
}

static const launch *attention_of(const rig *r)
{
    const plan *p = r->c.plan;
    for (int i = 0; i < p->launch_count; i++)
        if (phase_first(p->launches[i].work->phase, class_ATTENTION)) return &p->launches[i];
    ck_abort_msg("no attention");
}

static double seconds_on(const rig *r, program_kind kind)
{
    const problem p = plan_problem(r->a, r->c.plan, attention_of(r)->work->phase);
    ir_tile t = tile_of_program(kind);
    program_at(kind)->defaults(&p, &t);
    return program_seconds(&p, program_at(kind), &t);
}

START_TEST(the_model_puts_decode_and_wgmma_in_the_order_that_an_h200_did)
{
    const double beside = 4.5; /* us: two appends, and what launches wait for each other */
    for (int i = 0; i < measured_count; i++) {
        rig *r = planned(measured[i].head, measured[i].sequences, measured[i].queries, measured[i].keys, "bf16", "sm_90a");
        const double decode = seconds_on(r, program_decode_mma) * 1e6 + beside;
        const double attention = seconds_on(r, program_attention_wgmma) * 1e6 + beside;
        ck_assert_msg((decode < attention) == (measured[i].decode < measured[i].attention),
                      "case %d: decode %g us, attention %g, took %g and %g", i, decode, attention, measured[i].decode,
                      measured[i].attention);
        const double of_decode = decode / measured[i].decode, of_attention = attention / measured[i].attention;
        ck_assert_msg(of_decode > 0.7 && of_decode < 1.2, "case %d: decode %g us, took %g", i, decode, measured[i].decode);
        ck_assert_msg(of_attention > 0.7 && of_attention < 1.2, "case %d: attention %g us, took %g", i, attention,
                      measured[i].attention);
        rig_close(r);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("few queries");
    TCase *times = tcase_create("times");
    tcase_add_test(times, the_model_puts_decode_and_wgmma_in_the_order_that_an_h200_did);
    suite_add_tcase(suite, times);
    return run_suite(suite);
}
