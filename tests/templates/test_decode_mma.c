/* Decode attention on mma.sync in one launch (templates/attention/decode_mma.h): all head sizes and GQA groups, several queries, windows,
 * softcaps, sequences of very different lengths whose keys are split over many workgroups, against the float64 reference on the host
 * engine; what it refuses, and that its code does not spill. */
#include "tests/support.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEP(more)                                                                                                                 \
    "block: step\ndtype: bf16\ndims: {B: 4, S: 1, L: 64, H: 8, KV: 2, hd: 64}\n"                                                  \
    "inputs: {q: [B, S, H*hd], k: [B, S, KV*hd], v: [B, S, KV*hd], pos: {shape: [B], dtype: i32, range: [0, L-S]}}\n"              \
    "state: {keys: [B, KV, L, hd], values: [B, KV, L, hd]}\nops:\n"                                                                \
    "  - {out: kc, op: kv_append, in: [k], state: keys, at: pos}\n  - {out: vc, op: kv_append, in: [v], state: values, at: pos}\n"  \
    "  - {out: y, op: attention, in: [q, kc, vc], heads: H, kv_heads: KV, at: pos" more "}\noutputs: {y: y}\n"

/* The number of keys is given by `lengths`. */
#define COUNTED(more)                                                                                                              \
    "block: step\ndtype: bf16\ndims: {B: 4, S: 1, L: 64, H: 8, KV: 2, hd: 64}\n"                                                  \
    "inputs: {q: [B, S, H*hd], k: [B, S, KV*hd], v: [B, S, KV*hd], pos: {shape: [B], dtype: i32, range: [0, L-S]},\n"              \
    "  n: {shape: [B], dtype: i32, range: [0, L]}}\n"                                                                              \
    "state: {keys: [B, KV, L, hd], values: [B, KV, L, hd]}\nops:\n"                                                                \
    "  - {out: kc, op: kv_append, in: [k], state: keys, at: pos}\n  - {out: vc, op: kv_append, in: [v], state: values, at: pos}\n"  \
    "  - {out: y, op: attention, in: [q, kc, vc], heads: H, kv_heads: KV, lengths: n" more "}\noutputs: {y: y}\n"

/* Each sequence begins with n[b] tokens of padding. */
#define PADDED(more)                                                                                                               \
    "block: step\ndtype: bf16\ndims: {B: 4, S: 1, L: 64, H: 8, KV: 2, hd: 64}\n"                                                  \
    "inputs: {q: [B, S, H*hd], k: [B, S, KV*hd], v: [B, S, KV*hd], pos: {shape: [B], dtype: i32, range: [0, L-S]},\n"              \
    "  n: {shape: [B], dtype: i32, range: [0, L]}}\n"                                                                              \
    "state: {keys: [B, KV, L, hd], values: [B, KV, L, hd]}\nops:\n"                                                                \
    "  - {out: kc, op: kv_append, in: [k], state: keys, at: pos}\n  - {out: vc, op: kv_append, in: [v], state: values, at: pos}\n"  \
    "  - {out: y, op: attention, in: [q, kc, vc], heads: H, kv_heads: KV, at: pos, causal: true, first: n" more "}\noutputs: {y: y}\n"

/* Each of four heads has an ALiBi slope and an attention sink. */
#define SUNK                                                                                                                       \
    "block: step\ndtype: bf16\ndims: {B: 4, S: 1, L: 64, H: 4, KV: 2, hd: 64}\n"                                                  \
    "inputs: {q: [B, S, H*hd], k: [B, S, KV*hd], v: [B, S, KV*hd], pos: {shape: [B], dtype: i32, range: [0, L-S]}}\n"              \
    "params: {s: [H]}\nstate: {keys: [B, KV, L, hd], values: [B, KV, L, hd]}\nops:\n"                                             \
    "  - {out: kc, op: kv_append, in: [k], state: keys, at: pos}\n  - {out: vc, op: kv_append, in: [v], state: values, at: pos}\n"  \
    "  - {out: y, op: attention, in: [q, kc, vc, s], heads: H, kv_heads: KV, at: pos, causal: true, alibi: [0.5, 0, 0.02, -0.01]}\n" \
    "outputs: {y: y}\n"

/* Heads of values have another size than those of keys. */
#define UNLIKE(size)                                                                                                               \
    "block: step\ndtype: bf16\ndims: {B: 4, S: 1, L: 64, H: 8, KV: 2, hd: 48, vd: " size "}\n"                                   \
    "inputs: {q: [B, S, H*hd], k: [B, S, KV*hd], v: [B, S, KV*vd], pos: {shape: [B], dtype: i32, range: [0, L-S]}}\n"              \
    "state: {keys: [B, KV, L, hd], values: [B, KV, L, vd]}\nops:\n"                                                                \
    "  - {out: kc, op: kv_append, in: [k], state: keys, at: pos}\n  - {out: vc, op: kv_append, in: [v], state: values, at: pos}\n" \
    "  - {out: y, op: attention, in: [q, kc, vc], heads: H, kv_heads: KV, at: pos, causal: true}\noutputs: {y: y}\n"

enum { most_sequences = 40 };

typedef struct decode_step {
    const char *target, *dtype, *yaml, *line;
    int B, S, L, H, KV, hd;
    int pos[most_sequences]; /* position of the first query; negative: counted back from the capacity of the cache */
} decode_step;

static const char causal[] = STEP(", causal: true"), windowed[] = STEP(", causal: true, window: 70"),
                  capped[] = STEP(", causal: true, softcap: 20"), all_keys[] = STEP(""),
                  shorter[] = UNLIKE("2*hd/3"), longer[] = UNLIKE("3*hd"),
                  padded[] = PADDED(", window: 90"), sunk[] = SUNK, counted[] = COUNTED(""),
                  beyond[] = COUNTED(", at: pos"), both[] = COUNTED(", at: pos, causal: true, window: 90");

static const decode_step steps[] = {
    {"sm_90a", "bf16", causal, NULL, 4, 1, 4200, 4, 1, 32, {0, 999, 4095, 16}},
    {"sm_80", "f16", causal, NULL, 5, 1, 420, 8, 2, 64, {0, 99, 409, 16, 127}},
    {"sm_90a", "bf16", causal, NULL, 1, 1, 1024, 8, 2, 128, {-1}},
    {"sm_90a", "bf16", causal, NULL, 2, 1, 700, 7, 1, 128, {513, 699}},
    {"sm_80", "bf16", causal, "attention keys=16 threads=128 splits=5 cluster=1", 3, 1, 300, 4, 4, 80, {299, 1, 128}},
    {"sm_90a", "f16", causal, "attention keys=16 threads=64 splits=3 cluster=1", 2, 1, 260, 8, 1, 96, {200, 31}},
    {"sm_90a", "bf16", causal, NULL, 2, 1, 530, 16, 1, 256, {529, 64}},
    {"sm_80", "bf16", causal, "attention keys=32 threads=64 splits=4 cluster=1", 2, 1, 300, 16, 1, 16, {299, 33}},
    {"sm_90a", "bf16", causal, NULL, 2, 1, 300, 6, 2, 32, {299, 33}},
    {"sm_90a", "bf16", causal, "attention keys=64 threads=64 splits=4 cluster=1", 2, 1, 600, 4, 2, 48, {599, 63}},
    {"sm_90a", "bf16", causal, "attention keys=16 threads=64 splits=7 cluster=1", 3, 2, 400, 8, 2, 64, {0, 398, 77}},
    {"sm_80", "bf16", causal, "attention keys=16 threads=64 splits=7 cluster=1", 3, 3, 400, 4, 2, 64, {0, 397, 77}},
    {"sm_90a", "f16", causal, "attention keys=16 threads=32 splits=4 cluster=1", 2, 4, 200, 8, 2, 64, {196, 14}},
    {"sm_90a", "bf16", windowed, "attention keys=16 threads=64 splits=3 cluster=1", 4, 1, 600, 8, 2, 64, {0, 69, 70, 599}},
    {"sm_80", "bf16", windowed, "attention keys=16 threads=64 splits=3 cluster=1", 4, 4, 600, 4, 1, 128, {0, 66, 67, 596}},
    {"sm_90a", "bf16", capped, "attention keys=16 threads=64 splits=3 cluster=1", 2, 2, 300, 8, 2, 64, {150, 298}},
    {"sm_90a", "bf16", all_keys, "attention keys=16 threads=64 splits=3 cluster=1", 2, 3, 300, 4, 2, 64, {150, 297}},
    {"sm_80", "bf16", counted, "attention keys=16 threads=64 splits=3 cluster=1", 3, 1, 300, 4, 2, 64, {150, 299, 0}},
    {"sm_90a", "bf16", both, "attention keys=16 threads=64 splits=3 cluster=1", 3, 2, 300, 4, 2, 64, {150, 297, 0}},
    {"sm_80", "bf16", beyond, "attention keys=16 threads=64 splits=3 cluster=1", 3, 2, 300, 4, 2, 64, {150, 297, 0}},
    {"sm_90a", "bf16", causal, "attention keys=16 threads=64 splits=4 cluster=4", 3, 1, 500, 8, 2, 64, {499, 70, 300}},
    /* stages: more and fewer iterations than stages, consecutive parts, rows of 32 bytes, windows with any beginning */
    {"sm_90a", "bf16", causal, "attention keys=16 threads=64 splits=3 cluster=1 stages=2", 4, 1, 600, 8, 2, 64, {0, 15, 333, 599}},
    {"sm_90a", "f16", causal, "attention keys=32 threads=32 splits=2 cluster=1 stages=3", 3, 1, 301, 6, 2, 80, {300, 31, 128}},
    {"sm_90a", "bf16", windowed, "attention keys=16 threads=96 splits=2 cluster=1 stages=5", 4, 4, 600, 4, 1, 128, {0, 66, 67, 596}},
    {"sm_90a", "bf16", causal, "attention keys=64 threads=64 splits=2 cluster=1 stages=1", 2, 1, 700, 3, 3, 16, {699, 63}},
    {"sm_90a", "bf16", both, "attention keys=16 threads=64 splits=3 cluster=1 stages=2", 3, 2, 300, 4, 2, 48, {150, 297, 0}},
    {"sm_90a", "bf16", causal, "attention keys=16 threads=64 splits=4 cluster=4 stages=2", 3, 1, 500, 16, 1, 64, {499, 70, 300}},
    {"sm_90a", "bf16", causal, "attention keys=16 threads=32 splits=2 cluster=1", 40, 1, 100, 2, 1, 32,
     {99, 0, 15, 16, 17, 31, 32, 33, 47, 48, 49, 50, 1, 2, 3, 63, 64, 65, 80, 81, 90, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 18, 98, 97, 96, 95,
      94, 93, 92, 91}},
    /* AMD: heads in blocks of 128 and of 64 columns, full, partial, or one of each; as many rows as a matrix instruction has, or fewer */
    {"gfx942", "bf16", causal, NULL, 4, 1, 4200, 4, 1, 64, {0, 999, 4095, 16}},
    {"gfx1100", "bf16", causal, NULL, 2, 1, 700, 7, 1, 128, {513, 699}},
    {"gfx950", "bf16", causal, "attention threads=128 splits=5", 3, 1, 300, 4, 4, 80, {299, 1, 128}},
    {"gfx908", "f16", causal, "attention keys=64 threads=64 splits=3", 2, 1, 260, 8, 1, 96, {200, 31}},
    {"gfx90a", "bf16", causal, NULL, 2, 1, 530, 16, 1, 256, {529, 64}},
    {"gfx1201", "bf16", causal, NULL, 2, 1, 530, 16, 1, 192, {529, 64}},
    {"gfx1100", "bf16", causal, "attention threads=64 splits=4", 2, 1, 300, 16, 1, 160, {299, 33}},
    {"gfx942", "bf16", causal, "attention threads=64 splits=4", 2, 1, 300, 16, 1, 16, {299, 33}},
    {"gfx942", "bf16", causal, "attention threads=64 splits=7", 3, 3, 400, 10, 2, 48, {0, 397, 77}},
    {"gfx942", "bf16", windowed, "attention threads=64 splits=3", 4, 4, 600, 4, 1, 128, {0, 66, 67, 596}},
    {"gfx1201", "bf16", windowed, "attention threads=64 splits=3", 4, 1, 600, 8, 2, 64, {0, 69, 70, 599}},
    {"gfx950", "bf16", capped, "attention threads=64 splits=3", 2, 2, 300, 8, 2, 64, {150, 298}},
    {"gfx908", "f16", both, "attention threads=64 splits=3", 3, 1, 300, 4, 2, 64, {150, 299, 0}},
    {"gfx1201", "bf16", causal, "attention threads=32 splits=2", 40, 1, 100, 2, 1, 32,
     {99, 0, 15, 16, 17, 31, 32, 33, 47, 48, 49, 50, 1, 2, 3, 63, 64, 65, 80, 81, 90, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 18, 98, 97, 96, 95,
      94, 93, 92, 91}},
    /* more rows than one product takes: full row tiles and a partial one */
    {"sm_90a", "bf16", causal, "attention layer=decode_mma keys=16 threads=64 splits=3 cluster=1", 2, 9, 300, 8, 2, 64, {0, 291}},
    {"gfx942", "bf16", causal, "attention layer=decode_mfma threads=64 splits=3", 2, 9, 300, 8, 2, 64, {0, 291}},
    {"sm_80", "f16", windowed, "attention layer=decode_mma keys=16 threads=64 splits=2 cluster=1", 1, 48, 250, 2, 1, 32, {200}},
    {"sm_90a", "bf16", both, "attention layer=decode_mma keys=32 threads=64 splits=2 cluster=2 stages=2", 3, 7, 300, 16, 4, 80,
     {150, 290, 0}},
    {"gfx1201", "bf16", windowed, "attention layer=decode_wmma threads=64 splits=2", 1, 48, 250, 2, 1, 32, {200}},
    /* hundreds of sequences: the lanes of a warp each search a span of them; a workgroup serves dozens */
    {"sm_90a", "bf16", causal, "attention keys=16 threads=64 splits=1 cluster=1 stages=2", 207, 1, 90, 4, 2, 32, {0}},
    {"sm_90a", "bf16", causal, "attention layer=decode_mma keys=16 threads=64 splits=1 cluster=1 stages=3", 1100, 1, 40, 2, 1, 16, {0}},
    {"gfx942", "bf16", causal, "attention threads=128 splits=1", 207, 1, 90, 2, 1, 64, {0}},
    /* padding on the left: more tokens than the window hides, fewer, the whole sequence, and none */
    {"sm_90a", "bf16", padded, "attention keys=16 threads=64 splits=3 cluster=1 stages=2", 4, 3, 600, 8, 2, 64, {530, 400, 297, 99}},
    {"gfx942", "bf16", padded, "attention threads=64 splits=3", 4, 1, 600, 8, 2, 64, {530, 400, 297, 99}},
    /* heads of values shorter or longer than those of keys: with stages, clusters, long heads, and half a block of keys or values */
    {"sm_90a", "bf16", shorter, "attention keys=16 threads=64 splits=3 cluster=1 stages=2", 3, 2, 300, 8, 2, 96, {298, 0, 77}},
    {"sm_90a", "f16", longer, "attention keys=16 threads=64 splits=2 cluster=2 stages=3", 2, 1, 300, 4, 2, 16, {299, 33}},
    {"sm_90a", "bf16", shorter, NULL, 2, 1, 300, 4, 1, 192, {299, 33}},
    {"sm_80", "bf16", longer, "attention keys=16 threads=64 splits=3 cluster=1", 2, 1, 300, 4, 2, 48, {299, 33}},
    {"gfx942", "bf16", shorter, "attention threads=64 splits=3", 2, 1, 300, 4, 2, 240, {299, 33}},
    {"gfx908", "f16", longer, "attention threads=64 splits=3", 2, 1, 300, 4, 2, 48, {299, 33}},
    {"gfx1100", "bf16", longer, "attention threads=64 splits=3", 2, 1, 300, 4, 2, 48, {299, 33}},
    {"gfx1201", "bf16", shorter, "attention threads=64 splits=3", 2, 1, 300, 4, 2, 192, {299, 33}},
    /* slopes and sinks, for rows in several parts */
    {"sm_90a", "bf16", sunk, "attention keys=16 threads=64 splits=4 cluster=2 stages=2", 3, 2, 400, 4, 2, 64, {397, 0, 77}},
    {"gfx1100", "f16", sunk, "attention threads=64 splits=3", 3, 1, 400, 4, 1, 64, {397, 0, 77}},
};

static rig *open_step(const decode_step *t, bool plan_only)
{
    const dim_override dims[] = {{"B", t->B}, {"S", t->S}, {"L", t->L}, {"H", t->H}, {"KV", t->KV}, {"hd", t->hd}};
    const tuning tuning = {.lines = &t->line, .count = t->line != NULL};
    const rig_request q = {.yaml = t->yaml, .level = fusion_tile, .target = t->target, .dtype = t->dtype, .dims = dims, .dim_count = 6,
                           .tuning = &tuning, .check = t->line && strstr(t->line, "stages"), /* with the race checker */
                           .multiprocessors = 4}; /* so that the work is divided in the same way on every machine */
    return plan_only ? rig_plan(&q) : rig_open(&q);
}

static size_t columns_of_values(rig *r, const decode_step *t) { return rig_count(r, "values") / (size_t)(t->B * t->KV * t->L); }

/* Makes scores 6 times as large as random ones, so that the largest score grows; rows of the cache that were never written are NaN. */
static void place(rig *r, const decode_step *t)
{
    rig_fill(r, 3);
    for (size_t i = 0; i < rig_count(r, "q"); i++) rig_data(r, "q")[i] *= 6;
    double *keys = rig_data(r, "keys"), *values = rig_data(r, "values");
    for (int b = 0; b < t->B; b++)
        rig_data(r, "pos")[b] = t->B > most_sequences ? b * 37 % t->L : t->pos[b] < 0 ? t->L + t->pos[b] : t->pos[b];
    const size_t rows = (size_t)(t->KV * t->L), of_key = (size_t)t->hd, of_value = columns_of_values(r, t);
    for (size_t i = 0; i < (size_t)t->B * rows; i++) {
        if ((double)(i % (size_t)t->L) < rig_data(r, "pos")[i / rows]) continue;
        for (size_t d = 0; d < of_key; d++) keys[i * of_key + d] = NAN;
        for (size_t d = 0; d < of_value; d++) values[i * of_value + d] = NAN;
    }
    const bool counts = t->yaml == counted || t->yaml == both;
    static const int padding[] = {500, 200, 400, 0};
    for (int b = 0; t->yaml == padded && b < t->B; b++) rig_data(r, "n")[b] = padding[b];
    static const double sinks[] = {-1, 3, 70, -INFINITY};
    if (t->yaml == sunk) memcpy(rig_data(r, "s"), sinks, sizeof sinks);
    /* the third sequence sees no keys */
    for (int b = 0; counts && b < t->B; b++) rig_data(r, "n")[b] = b == 2 ? 0 : rig_data(r, "pos")[b] + t->S;
    for (int b = 0; t->yaml == beyond && b < t->B; b++) rig_data(r, "n")[b] = b == 1 ? 70 : t->L; /* beyond the rows that were written */
    rig_round(r);
}

static const launch *decode_launch(const rig *r)
{
    const launch *found = NULL;
    for (int i = 0; i < r->c.plan->launch_count; i++) {
        const phase_family family = r->c.plan->launches[i].work->phase->family;
        ck_assert(family != family_combine);
        if (family == family_attention) found = &r->c.plan->launches[i];
    }
    ck_assert_ptr_nonnull(found);
    return found;
}

/* Checks that all parts that workgroups passed to each other were read: the flag of 8 bytes before each is cleared, so the next launch
 * reads none of them. Returns the number of parts. */
static int parts_taken(rig *r, const decode_step *t)
{
    static const unsigned long long full = 0x9d2be3167f4a91c5ull; /* templates/attention/decode_mma.h */
    const int rows = t->H / t->KV * t->S, most = r->c.plan->target->vendor == vendor_amd ? 16 : 8;
    const int slice = 4 + (rows < most ? rows : most) * ((int)columns_of_values(r, t) + 4);
    const size_t words = (size_t)extent_value(&r->c.plan->scratches[0].floats, &r->graph->dims) / 2;
    unsigned long long *data = calloc(words, sizeof *data);
    int taken = 0;
    ck_assert_int_eq(guarded_get_scratch(r->s, 0, data, words * sizeof *data, &r->log), code_ok);
    for (size_t i = 0; i < words; i++) ck_assert_msg(data[i] != full, "the part at byte %zu was not taken", 8 * i);
    for (size_t i = 0; i < words; i += (size_t)slice / 2) taken += data[i] == 0;
    free(data);
    return taken;
}

START_TEST(every_head_group_and_length_is_within_its_bound)
{
    const decode_step *t = &steps[_i];
    rig *r = open_step(t, false);
    ck_assert(layer_is_on_units(phase_layer(decode_launch(r)->work->phase)));
    place(r, t);
    rig_run(r);
    rig_judge(r);
    const double *y = rig_read(r, "y");
    for (size_t k = 0; k < rig_count(r, "y"); k++) ck_assert_msg(isfinite(y[k]), "element %zu is not finite", k);
    const int taken = parts_taken(r, t);
    if (_i == 0) ck_assert_int_gt(taken, 0); /* the longest sequence is more than one workgroup's share */
    if (_i < 2) {
        rig_execute(r); /* the same rows are appended again */
        ck_assert(same_numbers(y, rig_read(r, "y"), rig_count(r, "y")));
        (void)parts_taken(r, t);
    }
    rig_close(r);
}
END_TEST

/* ---- refusals: attention then runs on another program, in two kernels */
static const struct {
    decode_step step;
    const char *why;
} refused[] = {{{"sm_80", "f32", causal, NULL, 1, 1, 64, 4, 2, 64, {0}}, "operands are neither bf16 nor f16"},
               {{"sm_90a", "bf16", causal, NULL, 1, 1, 64, 4, 2, 24, {0}}, "the head size is not a multiple of 16 up to 256"},
               {{"sm_90a", "f16", causal, NULL, 1, 1, 64, 4, 2, 272, {0}}, "the head size is not a multiple of 16 up to 256"},
               {{"gfx942", "f32", causal, NULL, 1, 1, 64, 4, 2, 64, {0}}, "operands are neither bf16 nor f16"},
               {{"gfx1201", "bf16", causal, NULL, 1, 1, 64, 4, 2, 208, {0}},
                "a lane's registers cannot hold heads of more than 192 columns"},
               {{"gfx950", "bf16", causal, "attention layer=decode_simt", 1, 1, 64, 4, 2, 64, {0}}, NULL},
               {{"sm_90a", "bf16", causal, "attention layer=decode_simt", 1, 1, 64, 4, 2, 64, {0}}, NULL}};

START_TEST(a_fusion_that_is_refused_leaves_two_kernels)
{
    rig *r = open_step(&refused[_i].step, true);
    const plan *p = r->c.plan;
    const ir_phase *parts = p->launches[p->launch_count - 2].work->phase;
    ck_assert_int_eq(parts->family, family_attention);
    ck_assert_int_eq(parts->tile.program, program_decode);
    ck_assert_int_eq(p->launches[p->launch_count - 1].work->phase->family, family_combine);
    const char *text = ir_print(r->a, p->ir);
    if (refused[_i].why) ck_assert_msg(strstr(text, arena_printf(r->a, ": %s", refused[_i].why)) != NULL, "%s", text);
    rig_close(r);
}
END_TEST

START_TEST(an_impossible_tile_is_an_error_with_its_reason)
{
    static const struct {
        const char *target, *line, *message;
        tfgen_code code;
    } cases[] = {{"gfx942", "attention layer=decode_mma", "the target lacks these instructions", code_unsupported},
                 {"sm_80", "attention keys=48", "keys must be a power of two", code_unsupported},
                 {"sm_80", "attention threads=48", "threads must be whole waves", code_unsupported},
                 {"sm_90a", "attention threads=512 resident=5", "a multiprocessor holds 2048 threads", code_unsupported},
                 {"gfx942", "attention keys=16", "keys=16; it is 32 to 64", code_unsupported},
                 {"gfx942", "attention threads=96", "threads must be whole waves", code_unsupported},
                 {"gfx1100", "attention cluster=2", "decode_wmma has no setting 'cluster'", code_usage},
                 {"gfx90a", "attention threads=512 resident=5", "a multiprocessor holds 2048 threads", code_unsupported},
                 {"gfx908", "attention threads=512 resident=6", "a multiprocessor holds 2560 threads", code_unsupported},
                 {"sm_80", "attention splits=4 cluster=2", "the target has no clusters", code_unsupported},
                 {"sm_90a", "attention splits=6 cluster=4", "cluster must divide splits", code_unsupported},
                 {"sm_90a", "attention splits=6 cluster=3", "cluster must be a power of two", code_unsupported},
                 {"sm_90a", "attention team=4", "decode_mma has no setting 'team'", code_usage},
                 {"sm_80", "attention stages=2", "the target lacks bulk copies", code_unsupported},
                 {"sm_90a", "attention threads=512 resident=1 keys=32 stages=16", "bytes of shared memory; a workgroup has 232448",
                  code_unsupported}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        arena *a = arena_new();
        compiled c;
        const dim_override wide[] = {{"H", 16}, {"hd", 128}};
        const tuning t = {.lines = &cases[i].line, .count = 1};
        const compile_request q = {.name = "t.yaml", .text = causal, .size = strlen(causal), .level = fusion_tile,
                                   .target = cases[i].target, .graph = {.overrides = wide, .override_count = 2}, .tuning = &t};
        ck_assert_msg(compile(a, &q, &c) == cases[i].code, "%s: %s", cases[i].line, arena_diagnostics(a));
        ck_assert_msg(strstr(arena_diagnostics(a), cases[i].message) != NULL, "%s: %s", cases[i].line, arena_diagnostics(a));
        arena_free(a);
    }
}
END_TEST

/* With a long cache, at least 120 KB of keys and values are in flight in shared memory; with a short one they go through registers. If a
 * multiprocessor has four or more sequences of short rows, or several of few keys, four workgroups share it; two, if it has four or more of
 * heads of 81 to 128 columns and up to 1536 keys. */
START_TEST(a_long_cache_has_stages_in_shared_memory)
{
    static const struct {
        const char *target;
        int B, L, H, KV, hd, stages, keys, resident;
    } caches[] = {{"sm_90a", 59, 6205, 48, 16, 64, 2, 16, 4}, {"sm_90a", 207, 1000, 56, 8, 64, 2, 16, 4},
                  {"sm_90a", 405, 823, 32, 8, 80, 2, 16, 4},  {"sm_90a", 40, 3000, 32, 8, 64, 2, 32, 1},
                  {"sm_90a", 51, 63005, 8, 2, 80, 2, 32, 1},  {"sm_90a", 35, 28768, 48, 8, 96, 3, 16, 1},
                  {"sm_90a", 1, 131072, 32, 8, 128, 2, 16, 1}, {"sm_90a", 207, 1000, 32, 8, 128, 1, 16, 2},
                  {"sm_90a", 16, 4096, 16, 4, 256, 2, 16, 1}, {"sm_90a", 64, 8192, 16, 4, 32, 4, 32, 1},
                  {"sm_90a", 187, 161, 16, 16, 96, 1, 32, 4},  {"sm_90a", 318, 236, 32, 4, 128, 1, 16, 4},
                  {"sm_90a", 8, 1024, 32, 8, 64, 0, 32, 1},   {"sm_80", 59, 6205, 48, 16, 64, 0, 32, 2}};
    for (size_t i = 0; i < sizeof caches / sizeof *caches; i++) {
        const decode_step t = {caches[i].target, "bf16",      causal,      NULL,         caches[i].B, 1,
                               caches[i].L,      caches[i].H, caches[i].KV, caches[i].hd, {0}};
        rig *r = open_step(&t, true);
        const decode_whole_tile *tile = &decode_launch(r)->work->phase->tile.decode_whole;
        ck_assert_msg(tile->stages == caches[i].stages && tile->keys == caches[i].keys && tile->resident == caches[i].resident,
                      "%zu: stages %d, keys %d, resident %d", i, tile->stages, tile->keys, tile->resident);
        rig_close(r);
    }
}
END_TEST

/* Cases that need the most registers: large heads, odd groups, several queries and a window, 64 keys at a time. */
START_TEST(compilers_make_code_without_spills)
{
    static const char *const options[] = {"sm_80 --dim=hd=128,H=32,KV=8,L=2048", "sm_90a --dim=hd=128,H=7,KV=1,S=2",
                                          "sm_80 --dim=hd=256,H=16,KV=2,S=2", "sm_90a --dim=hd=64,H=8,KV=1,B=120,L=4096",
                                          "sm_90a --dim=hd=128,H=32,KV=8,B=64", "sm_90a --dim=hd=256,H=16,KV=2,B=40,L=4096",
                                          "gfx908 --compiler=clang --dim=hd=256,H=16,KV=1,L=2048",
                                          "gfx90a --compiler=clang --dim=hd=64,H=8,KV=1,B=200,L=4096",
                                          "gfx1100 --compiler=clang --dim=hd=192,H=16,KV=2,S=2,L=2048",
                                          "gfx1201 --compiler=clang --dim=hd=128,H=16,KV=1,L=2048"};
    const char *program = getenv("TFGEN") ? getenv("TFGEN") : "./tfgen";
    char command[512];
    snprintf(command, sizeof command, "d=$(mktemp -d) && %s tests/specs/decode-heads.yaml --code -o $d --target=%s >$d/log; s=$?; "
                                      "grep -q 'planned again' $d/log && s=1; rm -rf $d; exit $s", program, options[_i]);
    const int status = system(command);
    if (status == code_unsupported << 8) printf("skipped: no compiler\n");
    else ck_assert_msg(status == 0, "%s: status %d", command, status >> 8);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("decode_mma");
    TCase *t = tcase_create("results");
    tcase_set_timeout(t, 120);
    suite_add_tcase(suite, t);
    TCase *more = suite_long(suite, "more results", 120);
    /* `make test` runs: heads of 256, the cap, lengths, windows, stages, parts in memory, clusters, more sequences than a warp has lanes;
     * on AMD odd groups, a partial block of 128 columns and one of 64, whole heads, several queries; more rows than one product takes;
     * padding; values of another size; slopes and sinks. */
    add_some_now(t, more, every_head_group_and_length_is_within_its_bound, sizeof steps / sizeof *steps,
                 (const int[]){0,  1,  6,  15, 17, 19, 23, 24, 25, 26, 27, 29, 30, 32, 36, 37, 40, 42, 43, 47, 48, 49, 50, 51, 52, 53, 56,
                               58, 60, 61, -1});
    TCase *plans = tcase_create("plans");
    tcase_set_timeout(plans, 120);
    tcase_add_loop_test(plans, a_fusion_that_is_refused_leaves_two_kernels, 0, (int)(sizeof refused / sizeof *refused));
    tcase_add_test(plans, an_impossible_tile_is_an_error_with_its_reason);
    tcase_add_test(plans, a_long_cache_has_stages_in_shared_memory);
    add_some_now(plans, more, compilers_make_code_without_spills, 10, (const int[]){1, 6, 8, -1});
    suite_add_tcase(suite, plans);
    return run_suite(suite);
}
