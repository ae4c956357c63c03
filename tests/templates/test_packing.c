/* Packed weights have the layout of docs/packing.md, byte by byte, on every target and for every program that reads them, so that one copy
 * serves all plans of a model; their signatures agree. */
#include "tests/support.h"
#include "ir/graph/half.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct packing_case {
    const char *target, *dtype, *tuning;
} packing_case;
static const packing_case cases[] = {
    {"sm_90a", "bf16", "gemm layer=wgmma"}, {"sm_90a", "bf16", "gemm layer=mma"},  {"sm_80", "bf16", "gemm layer=register_fed"},
    {"sm_90a", "bf16", "gemm layer=skinny"},   {"sm_90a", "f32", "gemm layer=simt"},  {"gfx942", "f32", "gemm layer=skinny"},
    {"gfx942", "bf16", "gemm layer=mfma"},  {"gfx942", "f32", "gemm layer=mfma"},  {"gfx950", "f16", "gemm layer=mfma"},
    {"gfx1100", "bf16", "gemm layer=wmma"}, {"gfx1201", "f16", "gemm layer=wmma"}, {"host", "bf16", "gemm layer=simt"},
    {"host", "f32", "gemm layer=simt"}};

enum { M = 8, N = 72, K = 84 };

/* docs/packing.md: "Pieces". */
static size_t place_of(long long packed_k, int size, int n, int k)
{
    const long long chunk = (long long)k * size / 16, piece = n / 16 * (packed_k * size / 64) + chunk / 4;
    return (size_t)(piece * 1024 + n % 16 / 8 * 512 + chunk % 4 * 128 + n % 8 * 16 + k * size % 16);
}

static void *packed_of(rig *r, int i, size_t bytes)
{
    void *data = malloc(bytes);
    ck_assert_ptr_nonnull(data);
    ck_assert_msg(guarded_get_packed(r->s, i, data, bytes, &r->log) == code_ok, "%s", r->log.text ? r->log.text : "no data");
    return data;
}

START_TEST(a_packed_weight_is_made_of_pieces)
{
    const packing_case *c = &cases[_i];
    const tuning line = {.lines = &c->tuning, .count = 1};
    char yaml[512];
    snprintf(yaml, sizeof yaml,
             "block: t\ndtype: %s\ndims: {M: %d, N: %d, K: %d}\ninputs: {x: [M, K]}\nparams: {w: [N, K]}\nops:\n"
             "  - {out: y, op: linear, in: [x, w]}\noutputs: {y: y}\n",
             c->dtype, M, N, K);
    rig *r = rig_open(&(rig_request){.yaml = yaml, .level = fusion_tile, .target = c->target, .tuning = &line});
    ck_assert_ptr_nonnull(strstr(ir_print(r->a, r->c.plan->ir), strchr(c->tuning, ' ')));
    rig_round(r);
    rig_run(r);
    const packed_weight *p = &r->c.plan->packs[0];
    const int size = dtype_size(p->format->type);
    const size_t bytes = (size_t)(p->columns * p->length) * (size_t)size;
    ck_assert_int_eq(p->columns, 96); /* N, rounded up to a multiple of 32 */
    ck_assert_int_eq(p->length, 96);  /* K, rounded up to a multiple of 64 bytes */
    ck_assert_uint_eq((size_t)pack_bytes(p), bytes);
    char *data = packed_of(r, 0, bytes);
    size_t zeros = 0;
    for (int n = 0; n < p->columns; n++)
        for (int k = 0; k < p->length; k++) {
            const double got = dtype_get(p->format->type, data + place_of(p->length, size, n, k), 0);
            const double expected = n < N && k < K ? rig_data(r, "w")[n * K + k] : 0;
            ck_assert_msg(got == expected, "column %d, k %d: %g, not %g", n, k, got, expected);
            zeros += got == 0;
        }
    ck_assert_uint_lt(zeros, (size_t)(p->columns * p->length - N * K + N)); /* the weight itself is not zero */
    free(data);
    rig_close(r);
}
END_TEST

START_TEST(a_packed_weight_has_room_for_scales)
{
    const weight_format f = {.type = dtype_f16, .bits = 4, .terms = 1, .scale = {dtype_bf16, 1, 128, 4}};
    const packed_weight p = {.format = &f, .columns = 64, .length = format_length(&f, 300), .K = 300};
    ck_assert_int_eq(pack_bytes(&p), 64 * 192 + 64 * 3 * 2 + 64 * 3 / 2);
}
END_TEST

/* ---- plans of one model */
static rig *planned(const char *path, const char *target, const char *dtype, const char *dim, long long value)
{
    const dim_override one = {.name = dim, .value = value};
    return rig_plan(&(rig_request){.path = path, .level = fusion_tile, .target = target, .dtype = dtype, .dims = &one, .dim_count = 1});
}

/* The number of packed weights in the other plan that have the signature of one of these. */
static int shared_weights(const rig *of, const rig *other)
{
    int shared = 0;
    for (int i = 0; i < other->c.plan->pack_count; i++) {
        const char *signature = other->c.plan->packs[i].signature;
        bool found = false;
        for (int k = 0; k < of->c.plan->pack_count; k++) found |= strcmp(of->c.plan->packs[k].signature, signature) == 0;
        shared += found;
    }
    return shared;
}

static const char *const targets[] = {"host", "sm_80", "sm_90a", "gfx908", "gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1151", "gfx1201"};
enum { target_total = sizeof targets / sizeof *targets };

START_TEST(prefill_and_decode_of_any_batch_share_packed_weights)
{
    static const long long batches[] = {1, 2, 8, 16, 17, 64};
    static const char block[] = "specs/llama-block.yaml", decode[] = "specs/llama-decode.yaml";
    for (int f32 = 0; f32 < 2; f32++) {
        const char *dtype = f32 ? "f32" : "bf16";
        rig *prefill = planned(block, targets[_i], dtype, "S", 2048), *other = planned(block, targets[_i], "f16", "S", 2048);
        const int count = prefill->c.plan->pack_count;
        ck_assert_int_eq(count, 4);
        ck_assert_int_eq(shared_weights(prefill, other), 0);
        for (size_t k = 0; k < sizeof batches / sizeof *batches; k++) {
            rig *r = planned(decode, targets[_i], dtype, "B", batches[k]);
            const bool splits = f32 && strcmp(targets[_i], "sm_90a") == 0 && batches[k] <= 16; /* wgmma_3xtf32 has weights of its own */
            ck_assert_int_eq(r->c.plan->pack_count, count);
            ck_assert_msg(shared_weights(prefill, r) == (splits ? 0 : count), "%s %s B=%lld: %d of %d weights are shared", targets[_i],
                          dtype, batches[k], shared_weights(prefill, r), count);
            rig_close(r);
        }
        rig_close(prefill);
        rig_close(other);
    }
}
END_TEST

START_TEST(weights_with_different_folded_factors_are_packed_separately)
{
    static const char form[] = "block: t\ndtype: bf16\ndims: {M: 40, K: 64}\ninputs: {x: [M, K]}\nparams: {%sw: [K, K]}\nops:\n"
                               "%s  - {out: y, op: linear, in: [%s, w]}\noutputs: {y: y}\n";
    static const char *const norms[][3] = {{"", "", "x"},
                                           {"n: [K], ", "  - {out: h, op: rmsnorm, in: [x, n]}\n", "h"},
                                           {"n: [K], ", "  - {out: h, op: rmsnorm, in: [x, n], unit_offset: true}\n", "h"}};
    rig *r[3];
    for (int i = 0; i < 3; i++) {
        char yaml[512];
        snprintf(yaml, sizeof yaml, form, norms[i][0], norms[i][1], norms[i][2]);
        r[i] = rig_plan(&(rig_request){.yaml = yaml, .level = fusion_tile, .target = "sm_90a"});
        ck_assert_int_eq(r[i]->c.plan->pack_count, 1);
        for (int k = 0; k < i; k++) ck_assert_int_eq(shared_weights(r[k], r[i]), 0);
    }
    for (int i = 0; i < 3; i++) rig_close(r[i]);
}
END_TEST

/* Three linears with biases, of widths that fill no tile: tiles of 64 packed columns have parts of two segments. */
START_TEST(a_block_of_columns_takes_the_epilogue_and_the_bias_of_its_segment)
{
    static const char yaml[] = "block: qkv\ndtype: bf16\ndims: {M: 200, K: 128, A: 40, B: 24, C: 72}\ninputs: {x: [M, K]}\n"
                               "params: {wq: [A, K], wk: [B, K], wv: [C, K], bq: [A], bk: [B], bv: [C]}\nops:\n"
                               "  - {out: q, op: linear, in: [x, wq, bq]}\n  - {out: k, op: linear, in: [x, wk, bk]}\n"
                               "  - {out: l, op: linear, in: [x, wv, bv]}\n  - {out: v, op: silu, in: [l]}\n"
                               "outputs: {q: q, k: k, v: v}\n";
    const char *const line = "gemm layer=wgmma n=64 smem_epilogue=1";
    const tuning t = {.lines = &line, .count = 1};
    rig *r = rig_open(&(rig_request){.yaml = yaml, .level = fusion_tile, .target = "sm_90a", .tuning = &t, .check = true});
    const char *header = r->c.plan->launches[0].spec_header;
    ck_assert_int_eq(r->c.plan->launch_count, 1);
    ck_assert_ptr_nonnull(strstr(header, "static constexpr int segments = 3;"));
    ck_assert_ptr_nonnull(strstr(header, "static constexpr bool vectors = true;"));
    ck_assert(strstr(header, "load_one(p.bq_ + ") && strstr(header, "load_one(p.bk_ + ") && strstr(header, "load_one(p.bv_ + "));
    rig_round(r);
    rig_run(r);
    rig_judge(r);
    rig_close(r);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("packing");
    TCase *t = tcase_create("pieces");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, a_packed_weight_is_made_of_pieces, 0, (int)(sizeof cases / sizeof *cases));
    tcase_add_test(t, a_packed_weight_has_room_for_scales);
    suite_add_tcase(suite, t);
    TCase *s = tcase_create("signatures");
    tcase_set_timeout(s, 120);
    tcase_add_loop_test(s, prefill_and_decode_of_any_batch_share_packed_weights, 0, target_total);
    tcase_add_test(s, weights_with_different_folded_factors_are_packed_separately);
    tcase_add_test(s, a_block_of_columns_takes_the_epilogue_and_the_bias_of_its_segment);
    suite_add_tcase(suite, s);
    return run_suite(suite);
}
