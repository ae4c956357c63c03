/* Accuracy of long sums: reductions and products of 100,000 terms and more, against float64 and compared with a blocked sum (blocks of 32,
 * then blocks of those) as in PyTorch (aten/src/ATen/native/cpu/SumKernel.cpp). A single chain is a hundred times less accurate. */
#define _GNU_SOURCE
#include "tests/support.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sums of `step` terms, then of `step` such sums, and so on. Roots of summed squares are relative to those of the results. */
typedef struct cascade {
    float level[8];
    int count[8], step;
} cascade;

static void cascade_end(cascade *c, int from)
{
    c->level[from + 1] += c->level[from];
    c->level[from] = 0, c->count[from] = 0;
}

static void cascade_add(cascade *c, float x, float y)
{
    c->level[0] = fmaf(x, y, c->level[0]);
    for (int i = 0; i + 1 < 8 && ++c->count[i] == c->step; i++) cascade_end(c, i);
}

static double cascade_sum(cascade *c)
{
    for (int i = 0; i + 1 < 8; i++) cascade_end(c, i);
    return (double)c->level[7];
}

typedef struct errors {
    double ours, cascaded, size; /* squares */
} errors;

/* w NULL: ones. */
static void add_error(errors *e, const double *x, const double *w, size_t count, int step, double got)
{
    cascade c = {.step = step};
    double sum = 0;
    for (size_t k = 0; k < count; k++) {
        const double y = w ? w[k] : 1;
        sum += x[k] * y;
        cascade_add(&c, (float)x[k], (float)y);
    }
    const double own = cascade_sum(&c) - sum;
    e->ours += (got - sum) * (got - sum);
    e->cascaded += own * own;
    e->size += sum * sum;
}

static void judge(const char *what, const errors *e)
{
    const double ours = sqrt(e->ours / e->size), cascaded = sqrt(e->cascaded / e->size);
    if (getenv("TFGEN_SHOW_ERRORS")) printf("%s: %.3g, in blocks %.3g\n", what, ours, cascaded);
    ck_assert_msg(ours <= 2 * cascaded, "%s: %g off, and %g when added up in blocks", what, ours, cascaded);
}

/* step: block length. As many levels of blocks as registers allow must cover the length: with blocks of 32, a million terms take four
 * levels. */
typedef struct product_case {
    const char *target;
    int rows, columns, length, step;
    const char *op, *tile; /* tile: NULL, or a tile setting */
} product_case;
#define LINEAR_ON(tile) "params: {w: [N, K]}\nops:\n  - {out: y, op: linear, in: [x, w]}\n", tile
#define MATRIX_ON(tile) "params: {w: [N, K]}\nops:\n  - {out: y, op: matmul, in: [x, w], transpose: true}\n", tile
#define ACROSS "params: {w: [K, N]}\nops:\n  - {out: y, op: matmul, in: [x, w]}\n"
#define LINEAR LINEAR_ON(NULL)
#define SIMT LINEAR_ON("gemm layer=simt split_k=1")
static const product_case products[] = {{"host", 4, 8, 1 << 20, 32, LINEAR},     /* sums of blocks are in memory: any number of levels */
                                        {"sm_90a", 2, 8, 1 << 20, 32, LINEAR},   /* few rows: a lane adds its terms in blocks */
                                        {"gfx942", 1, 16, 1 << 19, 32, LINEAR},
                                        {"gfx1100", 20, 8, 1 << 17, 362, LINEAR}, /* two levels */
                                        {"sm_80", 20, 8, 1 << 17, 51, LINEAR}, /* 16 results per thread: three levels */
                                        {"sm_80", 97, 8, 40000, 200, LINEAR},    /* 64: two */
                                        {"sm_90a", 17, 8, 1 << 18, 1024, LINEAR}, /* wgmma_3xtf32: 8 parts, sums of 32 */
                                        {"sm_80", 65, 4, 4096, 64, SIMT}, /* 32 results a thread: two levels from 513 terms on */
                                        {"gfx1100", 9, 4, 16384, 128, SIMT},
                                        {"gfx942", 17, 8, 1 << 17, 362, LINEAR}, /* mfma: two levels */
                                        {"gfx90a", 40, 8, 1 << 17, 362, LINEAR},
                                        {"sm_90a", 1, 64, 1 << 18, 8, LINEAR_ON("gemm layer=skinny split_k=4")}, /* four chains a lane */
                                        {"gfx942", 1, 32, 1 << 18, 8, MATRIX_ON("gemm layer=skinny thread_n=8 split_k=4")},
                                        {"sm_90a", 1, 32, 1 << 18, 32, ACROSS, "gemm layer=skinny split_k=4"},
                                        {"gfx1100", 5, 32, 1 << 17, 32, ACROSS, "gemm layer=skinny split_k=1"}};

/* Column n of a product's second operand. */
static const double *column_of(rig *r, const product_case *p, int n)
{
    const double *w = rig_data(r, "w");
    if (strcmp(p->op, ACROSS) != 0) return w + (size_t)n * (size_t)p->length;
    double *column = arena_alloc(r->a, (size_t)p->length * sizeof *column);
    for (int k = 0; k < p->length; k++) column[k] = w[(size_t)k * (size_t)p->columns + (size_t)n];
    return column;
}

START_TEST(long_products_are_added_up_in_blocks)
{
    const product_case *p = &products[_i];
    char yaml[512];
    snprintf(yaml, sizeof yaml, "block: t\ndtype: f32\ndims: {M: %d, N: %d, K: %d}\ninputs: {x: [M, K]}\n%soutputs: {y: y}\n", p->rows,
             p->columns, p->length, p->op);
    const tuning t = {.lines = &p->tile, .count = p->tile != NULL};
    rig *r = rig_open(&(rig_request){.yaml = yaml, .level = fusion_tile, .target = p->target, .tuning = &t});
    errors e = {0};
    rig_round(r);
    rig_run(r);
    const double *y = rig_read(r, "y"), *x = rig_data(r, "x");
    const size_t K = (size_t)p->length;
    for (int n = 0; n < p->columns; n++) {
        const double *w = column_of(r, p, n);
        for (int m = 0; m < p->rows && m < 8; m++) add_error(&e, x + (size_t)m * K, w, K, p->step, y[m * p->columns + n]);
    }
    judge(p->target, &e);
    rig_close(r);
}
END_TEST

static const char *const row_targets[] = {"host", "sm_90a", "gfx942", "gfx1100"};

START_TEST(long_rows_are_added_up_in_blocks)
{
    enum { rows = 12, columns = 1 << 20 };
    rig *r = rig_open(&(rig_request){.yaml = "block: t\ndtype: f32\ndims: {M: 12, K: 1048576}\ninputs: {x: [M, K]}\nops:\n"
                                             "  - {out: y, op: row_sum, in: [x]}\noutputs: {y: y}\n",
                                     .level = fusion_tile, .target = row_targets[_i]});
    errors e = {0};
    rig_round(r);
    rig_run(r);
    const double *y = rig_read(r, "y"), *x = rig_data(r, "x");
    for (size_t m = 0; m < rows; m++) add_error(&e, x + m * columns, NULL, columns, 32, y[m]);
    judge(row_targets[_i], &e);
    rig_close(r);
}
END_TEST

/* The product before it writes one partial sum of a row per column tile: 1250 here. */
START_TEST(many_partial_sums_of_a_row_are_added_up_in_blocks)
{
    rig *r =
        rig_open(&(rig_request){.yaml = "block: t\ndtype: f32\ndims: {M: 3, K: 8, N: 40000, P: 5}\ninputs: {x: [M, K]}\n"
                                        "params: {w: [N, K], g: [N], v: [P, N]}\nops:\n  - {out: h, op: linear, in: [x, w]}\n"
                                        "  - {out: n, op: rmsnorm, in: [h, g]}\n  - {out: y, op: linear, in: [n, v]}\noutputs: {y: y}\n",
                                .level = fusion_tile,
                                .target = "sm_80"});
    ck_assert_ptr_nonnull(strstr(r->c.plan->launches[1].spec_header, "add_up<1250>(p.n_ss_ + row * 1250ll)"));
    rig_run(r);
    rig_judge(r);
    rig_close(r);
}
END_TEST

/* With queries of zeros all keys have equal weights, so attention adds up the values, here of one sign, and divides. There are more keys
 * than one chain may have (keys_in_a_chain, templates/attention/attention.h); keys of a cache are also split, into 8 parts on the host and
 * 32 elsewhere. */
enum { list = 1 << 17, list_head = 8, list_chain = 2048 };
static const struct {
    const char *target;
    bool cache;
} lists[] = {{"host", false}, {"sm_90a", false}, {"gfx942", false}, {"gfx1100", false}, {"host", true}, {"gfx90a", true}};

static void make_equal_weights(rig *r)
{
    rig_round(r);
    memset(rig_data(r, "q"), 0, rig_count(r, "q") * sizeof(double));
    double *v = rig_data(r, "v");
    for (size_t i = 0; i < rig_count(r, "v"); i++) v[i] = (double)(float)(1 + 0.25 * v[i]);
}

START_TEST(values_of_long_lists_of_keys_are_added_up_in_blocks)
{
    const char *yaml =
        lists[_i].cache
            ? "block: t\ndtype: f32\ndims: {S: 1, L: 131072, hd: 8}\ninputs: {q: [1, S, hd], k: [1, L, hd], v: [1, L, hd], "
              "at: {shape: [1], dtype: i32, range: [0, 0]}, n: {shape: [1], dtype: i32, range: [L, L]}}\n"
              "state: {kc: [1, 1, L, hd], vc: [1, 1, L, hd]}\nops:\n"
              "  - {out: kk, op: kv_append, in: [k], state: kc, at: at}\n"
              "  - {out: vv, op: kv_append, in: [v], state: vc, at: at}\n"
              "  - {out: y, op: attention, in: [q, kk, vv], heads: 1, lengths: n}\noutputs: {y: y}\n"
            : "block: t\ndtype: f32\ndims: {S: 2, L: 131072, hd: 8}\ninputs: {q: [1, S, hd], k: [1, L, hd], v: [1, L, hd]}\n"
              "ops:\n  - {out: y, op: attention, in: [q, k, v], heads: 1}\noutputs: {y: y}\n";
    rig *r = rig_open(&(rig_request){.yaml = yaml, .level = fusion_tile, .target = lists[_i].target});
    ck_assert_ptr_nonnull(strstr(r->c.plan->launches[r->c.plan->launch_count - 1 - lists[_i].cache].spec_header, "long_lists = true"));
    make_equal_weights(r);
    rig_run(r);
    errors e = {0};
    const double *y = rig_read(r, "y"), *v = rig_data(r, "v");
    double *column = malloc(list * sizeof *column);
    for (int d = 0; d < list_head; d++) {
        for (int k = 0; k < list; k++) column[k] = v[k * list_head + d];
        add_error(&e, column, NULL, list, list_chain, y[d] * list);
    }
    free(column);
    judge(lists[_i].target, &e);
    rig_judge(r);
    rig_close(r);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sums");
    TCase *t = tcase_create("sums");
    tcase_set_timeout(t, 120);
    use_kernels(kernels_long);
    /* `make test` runs every program: any number of levels, a lane's blocks, three levels, wgmma_3xtf32, mfma, a lane's four chains; rows
     * and lists on the host and on a GPU, parts of a cache. */
    TCase *more = suite_long(suite, "more sums", 120);
    add_some_now(t, more, long_products_are_added_up_in_blocks, sizeof products / sizeof *products,
                 (const int[]){0, 1, 4, 6, 7, 9, 12, -1});
    add_some_now(t, more, long_rows_are_added_up_in_blocks, sizeof row_targets / sizeof *row_targets, (const int[]){0, 2, -1});
    add_some_now(t, more, values_of_long_lists_of_keys_are_added_up_in_blocks, sizeof lists / sizeof *lists, (const int[]){0, 2, 5, -1});
    tcase_add_test(t, many_partial_sums_of_a_row_are_added_up_in_blocks);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
