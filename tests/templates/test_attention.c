/* Attention on the matrix units of each target and on vector instructions: every form that a spec can have, garbage in memory where there
 * is no key, and scores that rise or fall so much from key tile to key tile that sums must be rescaled. Against the float64 reference. */
#include "tests/support.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct machine {
    const char *target, *layer, *dtype, *line;
} machine;
static const machine machines[] = {{"sm_90a", "layer=wgmma", "bf16"}, {"sm_90a", "layer=wgmma", "f16"}, {"gfx90a", "layer=mfma", "f16"},
                                   {"gfx942", "layer=mfma", "bf16"}, {"gfx950", "layer=mfma", "bf16"}, {"gfx1100", "layer=wmma", "bf16"},
                                   {"gfx908", "layer=mfma", "bf16"},
                                   {"sm_90a", "layer=wgmma", "bf16", "attention block_q=128 threads=384 block_k=32 stages=3"},
                                   {"host", "layer=simt", "f32"}};
enum { machine_count = sizeof machines / sizeof *machines };

static void check_finite(rig *r, const char *name)
{
    const double *y = rig_read(r, name);
    for (size_t i = 0; i < rig_count(r, name); i++) ck_assert_msg(isfinite(y[i]), "%s: element %zu is not finite", name, i);
}

static void check_layers(const rig *r, const char *layer, int count)
{
    int found = 0;
    for (const char *at = ir_print(r->a, r->c.plan->ir); (at = strstr(at, layer)); at++) found++;
    ck_assert_msg(found == count, "%d phases have %s", found, layer);
}

/* A window over a cache, lengths of which one is 0, a soft cap (tests/specs/attention-forms.yaml). The window of the last sequence begins
 * after the first block of 128 keys, and its keys end within a block whose other rows were never written. */
START_TEST(every_form_of_attention_is_right)
{
    enum { batch = 3, kv_heads = 2, capacity = 300, head = 32, tokens = 61 };
    static const dim_override dims[] = {{"hd", head}, {"S", tokens}, {"L", capacity}};
    static const int positions[batch] = {0, capacity - 64, 200}, lengths[batch] = {tokens, 0, 17};
    const machine *m = &machines[_i];
    rig *r = rig_open(&(rig_request){.path = "tests/specs/attention-forms.yaml",
                                     .level = fusion_tile,
                                     .target = m->target,
                                     .dtype = m->dtype,
                                     .dims = dims,
                                     .dim_count = 3,
                                     .tuning = &(tuning){.lines = &m->line, .count = m->line != NULL}});
    check_layers(r, m->layer, 3);
    for (int b = 0; b < batch; b++) rig_data(r, "pos")[b] = positions[b], rig_data(r, "n")[b] = lengths[b];
    double *k = rig_data(r, "k_cache"), *v = rig_data(r, "v_cache");
    for (int i = 0; i < batch * kv_heads * capacity * head; i++)
        if (i / head % capacity >= positions[i / head / capacity / kv_heads]) k[i] = v[i] = NAN; /* not filled */
    rig_round(r);
    rig_run(r);
    rig_judge(r);
    check_finite(r, "a"), check_finite(r, "b"), check_finite(r, "c");
    rig_close(r);
}
END_TEST

/* A window with equally many later and earlier keys: fewer than a block, more than one, and more than there are. */
START_TEST(a_window_hides_later_keys_too)
{
    static const machine on[] = {{"sm_90a", "layer=wgmma", "bf16"}, {"gfx942", "layer=mfma", "f16"}, {"gfx1100", "layer=wmma", "bf16"}};
    rig *r = rig_open(&(rig_request){.yaml = "block: w\ndtype: bf16\ndims: {B: 1, S: 150, H: 2, hd: 64}\n"
                                             "inputs: {q: [B, S, H*hd], k: [B, S, H*hd], v: [B, S, H*hd]}\n"
                                             "ops:\n  - {out: a, op: attention, in: [q, k, v], heads: H, window: 20}\n"
                                             "  - {out: b, op: attention, in: [q, k, v], heads: H, window: 70}\n"
                                             "  - {out: c, op: attention, in: [q, k, v], heads: H, window: 151}\n"
                                             "outputs: {a: a, b: b, c: c}\n",
                                     .level = fusion_tile,
                                     .target = on[_i].target,
                                     .dtype = on[_i].dtype});
    check_layers(r, on[_i].layer, 3);
    rig_run(r);
    rig_judge(r);
    rig_close(r);
}
END_TEST

/* Heads of v are shorter or longer than those of q and k, by whole panels of 64 columns and by less; over tokens, and over a cache whose
 * rows beyond the last key were never written, though lengths count them. */
START_TEST(values_may_have_heads_of_another_size)
{
    static const struct { machine on; int head, value; } cases[] = {
        {{"sm_90a", "layer=wgmma", "bf16", NULL}, 192, 128}, {{"sm_90a", "layer=wgmma", "f16", NULL}, 48, 144},
        {{"gfx942", "layer=mfma", "bf16", NULL}, 40, 104},   {{"gfx90a", "layer=mfma", "bf16", NULL}, 192, 128},
        {{"gfx1100", "layer=wmma", "f16", NULL}, 96, 24},    {{"gfx1201", "layer=wmma", "bf16", NULL}, 192, 128},
        {{"sm_80", "layer=simt", "f32", NULL}, 20, 40},      {{"host", "layer=simt", "f32", NULL}, 24, 328}};
    const dim_override dims[] = {{"hd", cases[_i].head}, {"vd", cases[_i].value}};
    const machine *m = &cases[_i].on;
    rig *r = rig_open(&(rig_request){
        .yaml = "block: w\ndtype: bf16\ndims: {B: 2, S: 70, L: 200, H: 4, KV: 2, hd: 64, vd: 32}\n"
                "inputs: {q: [B, S, H*hd], k: [B, S, KV*hd], v: [B, S, KV*vd], pos: {shape: [B], dtype: i32, range: [0, L-S]},\n"
                "  n: {shape: [B], dtype: i32, range: [0, L]}}\nstate: {kc: [B, KV, L, hd], vc: [B, KV, L, vd]}\nops:\n"
                "  - {out: a, op: attention, in: [q, k, v], heads: H, kv_heads: KV}\n"
                "  - {out: ks, op: kv_append, in: [k], state: kc, at: pos}\n  - {out: vs, op: kv_append, in: [v], state: vc, at: pos}\n"
                "  - {out: b, op: attention, in: [q, ks, vs], heads: H, kv_heads: KV, causal: true, at: pos, lengths: n}\n"
                "outputs: {a: a, b: b}\n",
        .level = fusion_tile,
        .target = m->target,
        .dtype = m->dtype,
        .dims = dims,
        .dim_count = 2});
    check_layers(r, m->layer, 2);
    rig_data(r, "pos")[0] = 0, rig_data(r, "pos")[1] = 101, rig_data(r, "n")[0] = rig_data(r, "n")[1] = 200;
    for (size_t i = 0; i < rig_count(r, "kc"); i++)
        if (i / (size_t)cases[_i].head % 200 >= (i < rig_count(r, "kc") / 2 ? 0 : 101)) rig_data(r, "kc")[i] = NAN;
    for (size_t i = 0; i < rig_count(r, "vc"); i++)
        if (i / (size_t)cases[_i].value % 200 >= (i < rig_count(r, "vc") / 2 ? 0 : 101)) rig_data(r, "vc")[i] = NAN;
    rig_round(r);
    rig_run(r);
    rig_judge(r);
    check_finite(r, "a"), check_finite(r, "b");
    rig_close(r);
}
END_TEST

/* Padding on the left: none, less than a block of keys, more than one, and the whole text. */
START_TEST(keys_of_padding_are_not_seen)
{
    static const machine on[] = {{"sm_90a", "layer=wgmma", "bf16"}, {"gfx942", "layer=mfma", "f16"}, {"gfx1100", "layer=wmma", "bf16"},
                                 {"sm_90a", "layer=simt", "f32"}};
    static const int padding[] = {0, 21, 131, 150};
    rig *r = rig_open(&(rig_request){.yaml = "block: w\ndtype: bf16\ndims: {B: 4, S: 150, H: 2, hd: 64}\n"
                                             "inputs: {q: [B, S, H*hd], k: [B, S, H*hd], v: [B, S, H*hd],\n"
                                             "  first: {shape: [B], dtype: i32}}\nops:\n"
                                             "  - {out: a, op: attention, in: [q, k, v], heads: H, causal: true, first: first}\n"
                                             "  - {out: b, op: attention, in: [q, k, v], heads: H, window: 20, first: first}\n"
                                             "outputs: {a: a, b: b}\n",
                                     .level = fusion_tile,
                                     .target = on[_i].target,
                                     .dtype = on[_i].dtype});
    check_layers(r, on[_i].layer, 2);
    for (int b = 0; b < 4; b++) rig_data(r, "first")[b] = padding[b];
    rig_run(r);
    rig_judge(r);
    rig_close(r);
}
END_TEST

/* Slopes below, above and equal to 0, with later keys, caps and padding; sinks far below and far above all scores, and for a query without
 * keys; a bias for each head, and a mask that hides all keys of a query. */
START_TEST(slopes_sinks_and_biases_run_on_matrix_units)
{
    static const machine on[] = {{"sm_90a", "layer=wgmma", "bf16"}, {"gfx942", "layer=mfma", "f16"}, {"gfx1100", "layer=wmma", "bf16"}};
    rig *r = rig_open(&(rig_request){.yaml = "block: w\ndtype: bf16\ndims: {B: 2, S: 150, H: 4, KV: 2, hd: 64}\n"
                                             "inputs: {q: [B, S, H*hd], k: [B, S, KV*hd], v: [B, S, KV*hd],\n"
                                             "  first: {shape: [B], dtype: i32}, mask: {shape: [B, 1, S, 151], dtype: f32}}\n"
                                             "params: {s: [H], near: [H, S, 150]}\nops:\n"
                                             "  - {out: a, op: attention, in: [q, k, v], heads: H, kv_heads: KV, window: 90, softcap: 4,\n"
                                             "     alibi: [0.5, -0.01, 0, 1], bias: near}\n"
                                             "  - {out: b, op: attention, in: [q, k, v, s], heads: H, kv_heads: KV, causal: true,\n"
                                             "     first: first, alibi: [0.5, 0.1, 0, 0.01]}\n"
                                             "  - {out: c, op: attention, in: [q, k, v], heads: H, kv_heads: KV, bias: mask}\n"
                                             "outputs: {a: a, b: b, c: c}\n",
                                     .level = fusion_tile,
                                     .target = on[_i].target,
                                     .dtype = on[_i].dtype});
    static const double sinks[] = {0.5, -INFINITY, 6, 90};
    check_layers(r, on[_i].layer, 3);
    for (int i = 0; i < 2 * 150 * 151; i++)
        if (i / 151 == 7 || i % 3) rig_data(r, "mask")[i] = -INFINITY;
    rig_data(r, "first")[0] = 70, rig_data(r, "first")[1] = 0;
    memcpy(rig_data(r, "s"), sinks, sizeof sinks);
    rig_run(r);
    rig_judge(r);
    check_finite(r, "a"), check_finite(r, "b"), check_finite(r, "c");
    rig_close(r);
}
END_TEST

/* Two sizes of heads, with all of a block's bias loaded ahead and with half of it; the last block is not whole. */
START_TEST(a_bias_in_rows_of_16_bytes_is_loaded_in_vectors)
{
    rig *r = rig_open(&(rig_request){.yaml = "block: w\ndtype: bf16\ndims: {B: 1, S: 168, H: 2, hd: 64, wide: 128}\n"
                                             "inputs: {q: [B, S, H*hd], k: [B, S, H*hd], v: [B, S, H*hd], near: [H, S, S],\n"
                                             "  u: [B, S, H*wide], mask: [S, S]}\nops:\n"
                                             "  - {out: a, op: attention, in: [q, k, v], heads: H, bias: near}\n"
                                             "  - {out: b, op: attention, in: [u, u, u], heads: H, causal: true, bias: mask}\n"
                                             "outputs: {a: a, b: b}\n",
                                     .level = fusion_tile,
                                     .target = "sm_90a"});
    check_layers(r, "layer=wgmma", 2);
    for (int i = 0; i < r->c.plan->launch_count; i++)
        ck_assert_ptr_nonnull(strstr(r->c.plan->launches[i].spec_header, "bias_vectors = true"));
    rig_run(r);
    rig_judge(r);
    rig_close(r);
}
END_TEST

/* exp(22) from a block of 64 keys to the next; matrix units rescale when a row's largest score has grown by 2^8 (their
 * templates' `lazy`). */
START_TEST(scores_that_rise_from_block_to_block_rescale_what_was_summed)
{
    enum { batch = 3, keys = 150, head = 32, heads = 2 };
    const machine *m = &machines[_i];
    rig *r = rig_open(
        &(rig_request){.yaml = "block: t\ndtype: bf16\ndims: {B: 3, S: 150}\ninputs: {q: [B, S, 64], k: [B, S, 32], v: [B, S, 32]}\n"
                               "ops:\n  - {out: y, op: attention, in: [q, k, v], heads: 2, kv_heads: 1}\noutputs: {y: y}\n",
                       .level = fusion_tile,
                       .target = m->target,
                       .dtype = m->dtype,
                       .tuning = &(tuning){.lines = &m->line, .count = m->line != NULL}});
    check_layers(r, m->layer, 1);
    double *q = rig_data(r, "q"), *k = rig_data(r, "k");
    for (int i = 0; i < batch * keys * heads; i++) q[i * head] = 8;
    for (int i = 0; i < batch * keys; i++) {
        const int t = i % keys, b = i / keys;
        k[i * head] = 0.25 * (b == 0 ? t : b == 1 ? keys - t : t < 80 ? 2 * t : 160); /* rises, falls, rises and stays */
    }
    rig_round(r);
    rig_run(r);
    rig_judge(r);
    check_finite(r, "y");
    rig_close(r);
}
END_TEST

/* Waves that come late to each mbarrier, several tiles per workgroup; warpgroups without rows, or without keys of some blocks. With keys
 * that stay in shared memory and with those that do not. */
START_TEST(late_waves_do_not_miss_a_phase)
{
    const char *line = "attention block_q=128 threads=384 block_k=16 stages=3";
    rig *r = rig_open(&(rig_request){.yaml = "block: w\ndtype: bf16\ndims: {B: 3, S: 139, H: 2, hd: 32}\n"
                                             "inputs: {q: [B, S, H*hd], k: [B, S, H*hd], v: [B, S, H*hd]}\n"
                                             "ops:\n  - {out: a, op: attention, in: [q, k, v], heads: H, causal: true}\noutputs: {a: a}\n",
                                     .level = fusion_tile,
                                     .target = "sm_90a",
                                     .tuning = &(tuning){.lines = &line, .count = _i},
                                     .one_workgroup = true,
                                     .late_waves = true});
    check_layers(r, "layer=wgmma", 1);
    rig_run(r);
    rig_judge(r);
    rig_close(r);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("attention");
    TCase *t = tcase_create("attention");
    tcase_set_timeout(t, 120);
    TCase *more = suite_long(suite, "more machines", 120);
    /* wgmma; mfma without and with loads to LDS; wmma; wgmma with keys that do not stay in shared memory; SIMT */
    const int now[] = {0, 2, 4, 5, 7, 8, -1};
    add_some_now(t, more, every_form_of_attention_is_right, machine_count, now);
    tcase_add_loop_test(t, a_window_hides_later_keys_too, 0, 3);
    tcase_add_loop_test(t, values_may_have_heads_of_another_size, 0, 8);
    tcase_add_loop_test(t, keys_of_padding_are_not_seen, 0, 4);
    tcase_add_loop_test(t, slopes_sinks_and_biases_run_on_matrix_units, 0, 3);
    tcase_add_test(t, a_bias_in_rows_of_16_bytes_is_loaded_in_vectors);
    tcase_add_loop_test(t, late_waves_do_not_miss_a_phase, 0, 2);
    add_some_now(t, more, scores_that_rise_from_block_to_block_rescale_what_was_summed, machine_count, now);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
