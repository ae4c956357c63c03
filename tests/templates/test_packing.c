/* Packed weights lie in memory as docs/packing.md says, byte by byte, on every target and for every program that multiplies by them. */
#include "tests/support.h"
#include "ir/program/half.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct packing_case {
    const char *target, *dtype, *tuning;
} packing_case;
static const packing_case cases[] = {
    {"sm_90a", "bf16", "gemm layer=wgmma"}, {"sm_90a", "f16", "gemm layer=wgmma"}, {"sm_90a", "bf16", "gemm layer=mma"},
    {"sm_90a", "bf16", "gemm layer=few"},   {"sm_90a", "bf16", "gemm layer=simt"}, {"sm_90a", "f32", "gemm layer=simt"},
    {"sm_80", "bf16", "gemm layer=frag"},   {"sm_80", "bf16", "gemm layer=mma"},   {"gfx942", "f32", "gemm layer=few"},
    {"gfx942", "bf16", "gemm layer=mfma"},  {"gfx942", "f32", "gemm layer=mfma"},  {"gfx950", "f16", "gemm layer=mfma"},
    {"gfx1100", "bf16", "gemm layer=wmma"}, {"gfx1201", "f16", "gemm layer=wmma"}, {"gfx1100", "f16", "gemm layer=simt"},
    {"host", "bf16", "gemm layer=simt"},    {"host", "f32", "gemm layer=simt"}};

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
    ck_assert_ptr_nonnull(strstr(ir_print(r->a, r->c.plan->program), strchr(c->tuning, ' ')));
    rig_round(r);
    rig_run(r);
    const packed_weight *p = &r->c.plan->packs[0];
    const int size = dtype_size(p->type);
    const size_t bytes = (size_t)(p->columns * p->length) * (size_t)size;
    ck_assert_int_eq(p->columns, 96); /* whole blocks of 32 */
    ck_assert_int_eq(p->length, 96);  /* K up to 64 bytes */
    char *data = packed_of(r, 0, bytes);
    size_t zeros = 0;
    for (int n = 0; n < p->columns; n++)
        for (int k = 0; k < p->length; k++) {
            const double got = dtype_get(p->type, data + place_of(p->length, size, n, k), 0);
            const double expected = n < N && k < K ? rig_data(r, "w")[n * K + k] : 0;
            ck_assert_msg(got == expected, "column %d, k %d: %g, not %g", n, k, got, expected);
            zeros += got == 0;
        }
    ck_assert_uint_lt(zeros, (size_t)(p->columns * p->length - N * K + N)); /* the weight is not zero itself */
    free(data);
    rig_close(r);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("packing");
    TCase *t = tcase_create("pieces");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, a_packed_weight_is_made_of_pieces, 0, (int)(sizeof cases / sizeof *cases));
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
