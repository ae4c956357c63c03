/* Properties of whole layers for any data: causality; independence of batch entries, sizes and previous memory contents; symmetries of the
 * weights; decoding with a cache equals the whole sequence. */
#include "ir/graph/half.h"
#include "tests/support.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Small, odd, and more than one tile of rows on the host: 2 * 37 rows, heads of 16. */
enum { B = 2, S = 37, D = 64, F = 88, KV = 2, head = 16, capacity = 40 };
static const dim_override block_dims[] = {{"B", B}, {"S", S}, {"D", D}, {"H", 4}, {"KV", KV}, {"F", F}};
static const dim_override step_dims[] = {{"B", B}, {"D", D}, {"H", 4}, {"KV", KV}, {"F", F}, {"L", capacity}};

static rig *open_block(const char *dtype, const char *target)
{
    return rig_open(&(rig_request){.path = "specs/llama-block.yaml", .level = fusion_tile, .dtype = dtype, .target = target,
                                   .dims = block_dims, .dim_count = 6});
}

static rig *open_step(const char *dtype)
{
    return rig_open(
        &(rig_request){.path = "specs/llama-decode.yaml", .level = fusion_tile, .dtype = dtype, .dims = step_dims, .dim_count = 6});
}

static double *run_and_read(rig *r, const char *name)
{
    rig_run(r);
    return rig_read(r, name);
}

/* ---- time */
/* Changes token t of sequence 0: results of earlier tokens and other sequences must stay the same, those from t on must change. */
static void check_change(rig *r, const double *before, int t, double value)
{
    double *x = rig_data(r, "x"), kept[D];
    memcpy(kept, x + t * D, sizeof kept);
    for (int i = 0; i < D; i++) x[t * D + i] = value != 0 ? value : -kept[i];
    const double *after = run_and_read(r, "x2");
    ck_assert_msg(same_numbers(before, after, (size_t)t * D), "a row before token %d changed (by %g)", t, value);
    ck_assert_msg(!same_numbers(before + t * D, after + t * D, D), "token %d changes nothing", t);
    ck_assert_msg(!same_numbers(before + (S - 1) * D, after + (S - 1) * D, D) || t == S, "token %d is not seen by the last", t);
    ck_assert_msg(same_numbers(before + S * D, after + S * D, (size_t)(B - 1) * S * D), "token %d reaches another sequence", t);
    memcpy(x + t * D, kept, sizeof kept);
}

START_TEST(a_token_changes_no_row_before_it_and_no_other_sequence)
{
    rig *r = open_block(_i ? "bf16" : "f32", _i ? "gfx942" : "host");
    const double *before = run_and_read(r, "x2");
    static const int tokens[] = {0, 1, 16, 31, S - 1};
    for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++) check_change(r, before, tokens[i], 0);
    /* Matrix units multiply values by the weight 0 of masked keys: an infinite value would make NaN of its whole block of keys (as in every
     * attention on matrix units), so a finite one is used there. */
    check_change(r, before, 13, _i ? 3e4 : NAN);
    check_change(r, before, 32, _i ? -3e4 : INFINITY);
    check_change(r, before, S - 1, _i ? 3e4 : -INFINITY);
    rig_close(r);
}
END_TEST

START_TEST(running_twice_gives_the_same_bits)
{
    rig *r = open_block("bf16", "host");
    const double *first = run_and_read(r, "x2");
    const size_t count = rig_count(r, "x2");
    for (size_t i = 0; i < count; i++) ck_assert_msg(isfinite(first[i]), "element %zu was not written", i);
    rig_execute(r);
    ck_assert(same_numbers(first, rig_read(r, "x2"), count));
    ck_assert(same_numbers(first, run_and_read(r, "x2"), count));
    rig_close(r);
}
END_TEST

/* Clusters and staged results must not change any bit. 385 rows: the last cluster has a workgroup without rows; 136 columns: the last
 * pieces are partial; 131: rows begin anywhere. */
START_TEST(clusters_and_staged_results_change_no_bit)
{
    static const char *const lines[] = {
        "gemm layer=wgmma stages=3 cluster=1 smem_epilogue=0", "gemm layer=wgmma stages=3 cluster=1 smem_epilogue=1",
        "gemm layer=wgmma stages=3 cluster=2 smem_epilogue=0", "gemm layer=wgmma stages=3 cluster=2 smem_epilogue=1 n=96",
        "gemm layer=swap_ab m=104 n=64 k=64 threads=160 stages=4 row_stages=4 smem_epilogue=1"};
    static const dim_override dims[] = {{"B", 1}, {"S", 385}, {"D", 72}, {"F", 136}};
    static const dim_override product_dims[] = {{"M", 385}, {"N", 131}, {"K", 72}};
    double *first = NULL;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        const tuning t = {.lines = &lines[i], .count = 1};
        rig *r = rig_open(&(rig_request){.path = _i ? "tests/h200/product.yaml" : "specs/swiglu.yaml",
                                         .level = fusion_tile,
                                         .dtype = "bf16",
                                         .target = "sm_90a",
                                         .dims = _i ? product_dims : dims,
                                         .dim_count = _i ? 3 : 4,
                                         .tuning = &t});
        rig_run(r);
        rig_reference(r);
        ck_assert_double_le(rig_judge(r), 1);
        const char *name = _i ? "y" : "prod";
        const size_t count = rig_count(r, name);
        ck_assert(rig_tail_untouched(r, name));
        const double *now = rig_read(r, name);
        if (!first) {
            first = malloc(count * sizeof *first);
            ck_assert_ptr_nonnull(first);
            memcpy(first, now, count * sizeof *first);
        }
        ck_assert_msg(same_numbers(first, now, count), "%s", lines[i]);
        rig_close(r);
    }
    free(first);
}
END_TEST

/* ---- batches and sizes */
START_TEST(a_sequence_does_not_depend_on_its_batch_or_on_tokens_behind_it)
{
    rig *r = open_block("f32", "host");
    const double *both = run_and_read(r, "x2");
    double *x = rig_data(r, "x"), *given = copy_numbers(x, (size_t)B * S * D);
    rig_set_dim(r, "B", 1);
    ck_assert_msg(same_numbers(both, run_and_read(r, "x2"), S * D), "alone, sequence 0 is another");
    ck_assert(rig_tail_untouched(r, "x2"));
    memcpy(x, given + S * D, S * D * sizeof *x);
    ck_assert_msg(same_numbers(both + S * D, run_and_read(r, "x2"), S * D), "alone, sequence 1 is another");
    static const int shorter[] = {1, 2, 16, 17, 33, 36};
    for (size_t i = 0; i < sizeof shorter / sizeof *shorter; i++) {
        rig_set_dim(r, "S", shorter[i]);
        const double *rows = run_and_read(r, "x2");
        ck_assert_msg(same_numbers(both + S * D, rows, (size_t)shorter[i] * D), "cut to %d tokens, rows differ", shorter[i]);
        ck_assert(rig_tail_untouched(r, "x2"));
    }
    free(given);
    rig_close(r);
}
END_TEST

START_TEST(swapping_sequences_swaps_their_rows)
{
    rig *r = open_block("bf16", "gfx942");
    const size_t one = (size_t)S * D;
    const double *y = run_and_read(r, "x2");
    double *x = rig_data(r, "x"), *given = copy_numbers(x, B * one);
    memcpy(x, given + one, one * sizeof *x);
    memcpy(x + one, given, one * sizeof *x);
    const double *turned = run_and_read(r, "x2");
    ck_assert(same_numbers(y, turned + one, one) && same_numbers(y + one, turned, one) && !same_numbers(y, turned, one));
    free(given);
    rig_close(r);
}
END_TEST

/* The same kernels run; only ints in their arguments and the grids change. */
START_TEST(one_plan_is_right_at_every_batch_and_length)
{
    static const int sizes[][2] = {{2, 37}, {1, 1}, {2, 1}, {1, 36}, {2, 19}, {1, 17}, {2, 16}};
    rig *r = open_block(_i ? "bf16" : "f32", "host");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        rig_set_dim(r, "B", sizes[i][0]);
        rig_set_dim(r, "S", sizes[i][1]);
        rig_fill(r, i + 2);
        rig_run(r);
        const double ratio = rig_judge(r);
        printf("llama-block %s B=%d S=%d: error/bound %.3f\n", _i ? "bf16" : "f32", sizes[i][0], sizes[i][1], ratio);
        ck_assert(rig_tail_untouched(r, "x2"));
    }
    rig_close(r);
}
END_TEST

/* ---- weights */
static int shuffled(int j) { return (j * 37 + 11) % F; } /* 37 and 88 have no common divisor */

static void shuffle_feed_forward(rig *r)
{
    static const char *const rows[] = {"w_gate", "w_up"};
    for (int k = 0; k < 2; k++) {
        double *w = rig_data(r, rows[k]), *before = copy_numbers(w, F * D);
        for (int j = 0; j < F; j++) memcpy(w + shuffled(j) * D, before + j * D, D * sizeof *w);
        free(before);
    }
    double *w = rig_data(r, "w_down"), *before = copy_numbers(w, D * F);
    for (int i = 0; i < D * F; i++) w[i / F * F + shuffled(i % F)] = before[i];
    free(before);
}

START_TEST(the_order_of_feed_forward_columns_does_not_matter)
{
    rig *r = open_block("f32", "host");
    const double *y = run_and_read(r, "x2");
    rig_judge(r);
    shuffle_feed_forward(r);
    const double *shuffled_y = run_and_read(r, "x2");
    /* The first reference's bounds hold for any order of its sums. */
    const int id = rig_value(r, "x2")->id;
    ck_assert_double_le(ref_compare(&r->exact[id], shuffled_y).ratio, 1);
    ck_assert(!same_numbers(y, shuffled_y, rig_count(r, "x2")));
    rig_close(r);
}
END_TEST

/* ---- a cache */
static const char *const weights[] = {"attn_norm", "wq", "wk", "wv", "wo", "mlp_norm", "w_gate", "w_up", "w_down"};

static void copy_weights(rig *to, const rig *from)
{
    for (size_t i = 0; i < sizeof weights / sizeof *weights; i++)
        memcpy(rig_data(to, weights[i]), rig_data(from, weights[i]), rig_count(from, weights[i]) * sizeof(double));
}

/* Fills the caches with NaN before anything is appended, so that reading them shows. */
static void clear_caches(rig *step)
{
    for (size_t i = 0; i < rig_count(step, "k_cache"); i++) rig_data(step, "k_cache")[i] = rig_data(step, "v_cache")[i] = NAN;
}

static void give_token(rig *step, const double *x, int b, int t)
{
    memcpy(rig_data(step, "x") + b * D, x + (b * S + t) * D, D * sizeof *x);
    rig_data(step, "pos")[b] = t;
}

static void check_row(const rig *block, const double *got, int b, int t, double slack)
{
    const ref_tensor *all = &block->exact[rig_value(block, "x2")->id];
    ref_tensor row = {.value = all->value + (b * S + t) * D, .error = all->error + (b * S + t) * D, .count = D};
    const ref_verdict v = ref_compare(&row, got);
    ck_assert_msg(v.ratio <= slack, "sequence %d, token %d: %.3g times its bound away", b, t, v.ratio);
}

START_TEST(decoding_step_by_step_gives_the_rows_of_the_whole_sequence)
{
    const char *const dtype = _i ? "bf16" : "f32";
    rig *block = open_block(dtype, "host"), *step = open_step(dtype);
    const double *x = rig_data(block, "x");
    rig_reference(block);
    copy_weights(step, block);
    clear_caches(step);
    for (int t = 0; t < S; t++) {
        for (int b = 0; b < B; b++) give_token(step, x, b, t);
        if (t == 0) rig_run(step);
        else {
            rig_upload(step, "x");
            rig_upload(step, "pos");
            rig_execute(step);
        }
        const double *y = rig_read(step, "x2");
        for (int b = 0; b < B; b++) check_row(block, y + b * D, b, t, 1);
    }
    const double *k = rig_read(step, "k_cache");
    for (int row = 0; row < B * KV * capacity; row++)
        for (int d = 0; d < head; d++) ck_assert_msg(isnan(k[row * head + d]) == (row % capacity >= S), "row %d of the cache", row);
    rig_close(block);
    rig_close(step);
}
END_TEST

/* Sequence 1 is 20 tokens ahead of sequence 0; each must get the same bits as when all sequences are at its position. */
START_TEST(sequences_of_one_batch_have_their_own_positions)
{
    enum { ahead = 20, steps = 4 };
    rig *r = open_step("f32");
    double *x = rig_data(r, "x");
    for (int row = 0; row < B * KV * capacity; row++) {
        const int filled = row / (KV * capacity) * ahead;
        for (int d = 0; d < head; d++)
            if (row % capacity >= filled) rig_data(r, "k_cache")[row * head + d] = rig_data(r, "v_cache")[row * head + d] = NAN;
    }
    rig_data(r, "pos")[0] = 0, rig_data(r, "pos")[1] = ahead;
    const double *together = run_and_read(r, "x2");
    rig_judge(r);
    double *k = rig_data(r, "k_cache"), *v = rig_data(r, "v_cache");
    memcpy(k, k + KV * capacity * head, KV * capacity * head * sizeof *k);
    memcpy(v, v + KV * capacity * head, KV * capacity * head * sizeof *v);
    memcpy(x, x + D, D * sizeof *x);
    rig_data(r, "pos")[0] = ahead;
    const double *same = run_and_read(r, "x2");
    ck_assert(same_numbers(together + D, same, D) && same_numbers(together + D, same + D, D));
    rig_close(r);
}
END_TEST

START_TEST(a_step_writes_its_row_of_the_cache_and_nothing_else)
{
    rig *r = open_step("bf16");
    const int at[B] = {0, capacity - 1};
    rig_data(r, "pos")[0] = at[0], rig_data(r, "pos")[1] = at[1];
    rig_run(r);
    static const char *const names[] = {"k_cache", "v_cache"};
    for (int c = 0; c < 2; c++) {
        const double *before = rig_data(r, names[c]), *after = rig_read(r, names[c]);
        for (int row = 0; row < B * KV * capacity; row++) {
            const bool same = same_numbers(before + row * head, after + row * head, head);
            ck_assert_msg(same == (row % capacity != at[row / (KV * capacity)]), "%s row %d", names[c], row);
        }
    }
    rig_close(r);
}
END_TEST

/* A row of minus infinities is hidden: zeros. By IEEE 754, a row with a score of infinity is NaN, all of it. */
START_TEST(a_softmax_is_nan_where_a_score_is_infinite_and_zero_where_all_are_hidden)
{
    enum { rows = 4, columns = 5 };
    static const char *const targets[] = {"host", "sm_90a", "gfx942"};
    rig *r = rig_open(&(rig_request){.yaml = "block: t\ndtype: f32\ninputs: {x: [4, 5]}\nops: [{out: y, op: softmax, in: [x]}]\n"
                                             "outputs: {y: y}\n",
                                     .level = fusion_tile, .target = targets[_i]});
    double *x = rig_data(r, "x");
    x[2] = INFINITY, x[columns] = -INFINITY, x[3 * columns + 4] = NAN;
    for (int i = 0; i < columns; i++) x[2 * columns + i] = -INFINITY;
    const double *y = run_and_read(r, "y");
    for (int i = 0; i < columns; i++) {
        ck_assert(isnan(y[i]) && isnan(y[3 * columns + i]));
        ck_assert(i ? y[columns + i] > 0 : y[columns] == 0);
        ck_assert_double_eq(y[2 * columns + i], 0);
    }
    ck_assert(rig_judge(r) <= 1);
    rig_close(r);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("properties of layers");
    TCase *c = tcase_create("llama");
    tcase_set_timeout(c, 120);
    tcase_add_loop_test(c, a_token_changes_no_row_before_it_and_no_other_sequence, 0, 2);
    tcase_add_test(c, running_twice_gives_the_same_bits);
    tcase_add_loop_test(c, clusters_and_staged_results_change_no_bit, 0, 2);
    tcase_add_test(c, a_sequence_does_not_depend_on_its_batch_or_on_tokens_behind_it);
    tcase_add_test(c, swapping_sequences_swaps_their_rows);
    tcase_add_loop_test(c, one_plan_is_right_at_every_batch_and_length, 0, 2);
    tcase_add_test(c, the_order_of_feed_forward_columns_does_not_matter);
    tcase_add_loop_test(c, decoding_step_by_step_gives_the_rows_of_the_whole_sequence, 0, 2);
    tcase_add_test(c, sequences_of_one_batch_have_their_own_positions);
    tcase_add_test(c, a_step_writes_its_row_of_the_cache_and_nothing_else);
    tcase_add_loop_test(c, a_softmax_is_nan_where_a_score_is_infinite_and_zero_where_all_are_hidden, 0, 3);
    suite_add_tcase(suite, c);
    return run_suite(suite);
}
