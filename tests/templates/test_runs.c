/* Caches whose rows are contiguous in runs only, like pages: edits the kernels' spec structs to set the run length and to swap neighbouring
 * runs. Against the float64 reference with runs in order, and bitwise equal with swapped ones. */
#define _GNU_SOURCE
#include "tests/support.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct run_case {
    const char *target, *dtype, *layer, *line, *more;
    int S, hd, run, at;
} run_case;
enum { sequences = 2, capacity = 256, kv_heads = 2, heads = 4 };

static const run_case cases[] = {
    {"sm_90a", "bf16", "layer=decode_mma ", "attention keys=16 threads=64 splits=3 cluster=1", "", 1, 64, 16, 201},
    {"sm_90a", "bf16", "layer=decode_mma ", "attention keys=16 threads=64 splits=3 cluster=1", ", window: 70", 1, 64, 64, 201},
    {"sm_90a", "f16", "layer=decode_mma ", "attention keys=32 threads=64 splits=2 cluster=1 stages=2", ", window: 70", 2, 48, 32, 250},
    {"gfx942", "bf16", "layer=decode_mfma ", "attention threads=64 splits=3", ", window: 45", 1, 64, 32, 170},
    /* decode_wmma loads a part of a row's columns at a time */
    {"gfx1100", "bf16", "layer=decode_wmma ", "attention threads=64 splits=2", "", 1, 160, 64, 130},
    {"gfx942", "bf16", "layer=mfma ", "attention block_q=64 threads=128 block_k=32", ", window: 90", 40, 64, 32, 213},
    {"sm_90a", "bf16", "layer=wgmma ", "attention block_k=64", "", 40, 64, 64, 190},
    {"sm_80", "f32", "layer=decode_simt ", "attention splits=3", ", window: 70", 1, 24, 16, 201}, /* looks up each row separately */
};

static void write_spec(char *yaml, size_t size, const run_case *c)
{
    snprintf(yaml, size,
             "block: step\ndtype: %s\ndims: {B: %d, S: %d, L: %d, H: %d, KV: %d, hd: %d}\n"
             "inputs: {q: [B, S, H*hd], k: [B, S, KV*hd], v: [B, S, KV*hd], pos: {shape: [B], dtype: i32, range: [0, L-S]}}\n"
             "state: {keys: [B, KV, L, hd], values: [B, KV, L, hd]}\nops:\n"
             "  - {out: kc, op: kv_append, in: [k], state: keys, at: pos}\n  - {out: vc, op: kv_append, in: [v], state: values, at: pos}\n"
             "  - {out: y, op: attention, in: [q, kc, vc], heads: H, kv_heads: KV, causal: true, at: pos%s}\noutputs: {y: y}\n",
             c->dtype, sequences, c->S, capacity, heads, kv_heads, c->hd, c->more);
}

/* `swapped`: of each two neighbouring runs the second comes first. */
static void edit_layout(const char *folder, int run, bool swapped)
{
    char edit[512];
    const int bit = swapped ? run : 0;
    snprintf(edit, sizeof edit,
             "sed -i -e 's/int run_length = 0;/int run_length = %d;/' -e 's/ + key \\* \\([0-9]*ll;\\)/ + (key ^ %d) * \\1/' "
             "-e 's/return {key, batch};/return {key ^ %d, batch};/' $t",
             run, bit, bit);
    use_compiler(folder, edit);
}

static int position_of(const run_case *c, int batch) { return batch ? c->at : c->run / 2; }

/* Fills a cache; the appended rows equal those that the cache has at their place, so appending changes nothing. */
static void fill(rig *r, const run_case *c, const char *state, const char *rows, bool swapped)
{
    const size_t hd = (size_t)c->hd;
    double *memory = rig_data(r, state), *appended = rig_data(r, rows), *logical = copy_numbers(memory, rig_count(r, state));
    for (size_t i = 0; i < rig_count(r, state) / hd; i++) {
        const size_t token = i % capacity, from = i - token + (token ^ (size_t)(swapped ? c->run : 0));
        memcpy(memory + i * hd, logical + from * hd, hd * sizeof *memory);
    }
    for (size_t i = 0; i < rig_count(r, rows) / hd; i++) {
        const size_t head = i % kv_heads, token = i / kv_heads % (size_t)c->S, batch = i / kv_heads / (size_t)c->S;
        const size_t at = (batch * kv_heads + head) * capacity + (size_t)position_of(c, (int)batch) + token;
        memcpy(appended + i * hd, memory + at * hd, hd * sizeof *memory);
    }
    free(logical);
}

static double *outputs_of(const run_case *c, const char *folder, bool swapped)
{
    char yaml[1024];
    write_spec(yaml, sizeof yaml, c);
    edit_layout(folder, c->run, swapped);
    rig *r = rig_open(&(rig_request){.yaml = yaml, .level = fusion_tile, .target = c->target,
                                     .tuning = &(tuning){.lines = &c->line, .count = 1}});
    ck_assert_ptr_nonnull(strstr(ir_print(r->a, r->c.plan->ir), c->layer));
    for (int b = 0; b < sequences; b++) rig_data(r, "pos")[b] = position_of(c, b);
    fill(r, c, "keys", "k", swapped), fill(r, c, "values", "v", swapped);
    rig_round(r);
    rig_run(r);
    if (!swapped) rig_judge(r);
    double *y = copy_numbers(rig_read(r, "y"), rig_count(r, "y"));
    rig_close(r);
    return y;
}

START_TEST(runs_of_keys_may_lie_anywhere_in_memory)
{
    const run_case *c = &cases[_i];
    char folder[] = "/tmp/tfgen-runs-XXXXXX", command[64];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    double *in_order = outputs_of(c, folder, false), *swapped = outputs_of(c, folder, true);
    ck_assert(same_numbers(in_order, swapped, (size_t)(sequences * c->S * heads * c->hd)));
    free(in_order), free(swapped);
    snprintf(command, sizeof command, "rm -r %s", folder);
    ck_assert_int_eq(system(command), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("runs");
    TCase *t = tcase_create("runs");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, runs_of_keys_may_lie_anywhere_in_memory, 0, (int)(sizeof cases / sizeof *cases));
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
