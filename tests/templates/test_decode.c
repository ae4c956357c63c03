/* Decode steps whose keys are split among workgroups, on every target: positions at and next to the borders of splits, splits without keys,
 * windows across borders, scores dominated by one split. Against the float64 reference. */
#include "tests/support.h"
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { batch = 4, tokens = 2, capacity = 1100, width = 24, kv_heads = 2 };

#define STEP(type, more)                                                                                                            \
    "block: step\ndtype: " type "\ndims: {B: 4, S: 2, L: 1100, H: 6, KV: 2, hd: 24}\n"                                             \
    "inputs: {q: [B, S, H*hd], k: [B, S, KV*hd], v: [B, S, KV*hd], pos: {shape: [B], dtype: i32, range: [0, L-S]}}\n"               \
    "state: {keys: [B, KV, L, hd], values: [B, KV, L, hd]}\nops:\n"                                                                 \
    "  - {out: kc, op: kv_append, in: [k], state: keys, at: pos}\n  - {out: vc, op: kv_append, in: [v], state: values, at: pos}\n"   \
    "  - {out: y, op: attention, in: [q, kc, vc], heads: H, kv_heads: KV, causal: true, at: pos" more "}\noutputs: {y: y}\n"

typedef struct step_case {
    const char *target, *yaml;
} step_case;

static const char plain[] = STEP("f32", ""), windowed[] = STEP("f32", ", window: 300"), capped[] = STEP("bf16", ", softcap: 20");
static const step_case cases[] = {{"host", plain},      {"host", windowed}, {"sm_80", plain},    {"sm_90a", plain},
                                  {"sm_90a", windowed}, {"gfx90a", plain},  {"gfx942", plain},   {"gfx942", capped},
                                  {"gfx950", windowed}, {"gfx1100", plain}, {"gfx1100", capped}, {"gfx1201", plain}};

static int splits_of(const rig *r)
{
    for (int i = 0; i < r->c.plan->launch_count; i++) {
        const ir_phase *phase = r->c.plan->launches[i].work->phase;
        if (phase->tile.program == program_decode) return phase->tile.decode.splits;
    }
    ck_abort_msg("no decode phase");
}

/* Makes scores 6 times as large as random ones; rows of the cache that were never written are NaN. */
static void place(rig *r, const int *position)
{
    rig_fill(r, 2);
    for (size_t i = 0; i < rig_count(r, "q"); i++) rig_data(r, "q")[i] *= 6;
    double *keys = rig_data(r, "keys"), *values = rig_data(r, "values");
    for (int b = 0; b < batch; b++) rig_data(r, "pos")[b] = position[b];
    for (int i = 0; i < batch * kv_heads * capacity * width; i++)
        if (i / width % capacity >= position[i / width / capacity / kv_heads]) keys[i] = values[i] = NAN;
    rig_round(r);
}

START_TEST(keys_split_among_workgroups_give_results_within_their_bounds)
{
    static const int positions[][batch] = {{0, capacity - tokens, 1, 597}, {2, 3, 4, 1000}, {255, 511, 512, 256}};
    rig *r = rig_open(&(rig_request){.yaml = cases[_i].yaml, .level = fusion_tile, .target = cases[_i].target});
    ck_assert_int_gt(splits_of(r), 2);
    for (size_t i = 0; i < sizeof positions / sizeof *positions; i++) {
        place(r, positions[i]);
        rig_run(r);
        rig_judge(r);
        const double *y = rig_read(r, "y");
        for (size_t k = 0; k < rig_count(r, "y"); k++) ck_assert_msg(isfinite(y[k]), "element %zu is not finite", k);
    }
    rig_close(r);
}
END_TEST

/* ---- positions so late that not all tokens fit: specs/warned/append-range-tokens.yaml, three tokens, 16 rows */
static const struct {
    fusion_level level;
    const char *target;
} ways[] = {{fusion_none, "host"}, {fusion_tile, "sm_90a"}, {fusion_ops, "gfx942"}};

static void check_rows(const rig *r, const char *state, const double *before, const double *now, const int *first)
{
    enum { heads = 2, rows = 16, columns = 16, appended = 3 };
    for (size_t i = 0; i < rig_count(r, state); i++) {
        const int row = (int)(i / columns % rows), at = first[i / columns / rows / heads];
        ck_assert_msg((row >= at && row < at + appended) == (now[i] != before[i]), "%s, row %d of 16, written from %d on", state, row, at);
    }
}

START_TEST(tokens_past_the_ends_of_a_cache_are_not_written)
{
    static const int positions[][2] = {{13, 14}, {15, 16}, {-2, -3}, {INT_MAX - 3, INT_MIN}};
    rig *r = rig_open(&(rig_request){.path = "specs/warned/append-range-tokens.yaml", .level = ways[_i].level,
                                     .target = ways[_i].target, .check = true});
    for (size_t i = 0; i < sizeof positions / sizeof *positions; i++) {
        rig_fill(r, 3);
        rig_data(r, "pos")[0] = positions[i][0], rig_data(r, "pos")[1] = positions[i][1];
        rig_round(r);
        double *keys = copy_numbers(rig_data(r, "kc"), rig_count(r, "kc")), *values = copy_numbers(rig_data(r, "vc"), rig_count(r, "vc"));
        rig_run(r);
        rig_judge(r);
        check_rows(r, "kc", keys, rig_read(r, "kc"), positions[i]);
        check_rows(r, "vc", values, rig_read(r, "vc"), positions[i]);
        free(keys), free(values);
    }
    rig_close(r);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("decode");
    TCase *t = tcase_create("decode");
    tcase_add_loop_test(t, tokens_past_the_ends_of_a_cache_are_not_written, 0, (int)(sizeof ways / sizeof *ways));
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, keys_split_among_workgroups_give_results_within_their_bounds, 0, (int)(sizeof cases / sizeof *cases));
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
