/* The work of a launch against counts by hand, by closed forms, and by a second implementation that walks the graph element by element,
 * term by term and key by key, and shares no code with the one under test. */
#define _GNU_SOURCE
#include "gen/base/peaks.h"
#include "runtime/cli/random/random_spec.h"
#include "tests/support.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- counting */
static const int *some_integers(void *context, const char *name)
{
    (void)name;
    return context;
}

static work counted_with(const char *yaml, fusion_level level, int index, int *data)
{
    rig *r = rig_plan(&(rig_request){.yaml = yaml, .level = level});
    ck_assert_int_lt(index, r->c.plan->launch_count);
    const work w = launch_work(r->a, r->c.plan, &r->c.plan->launches[index], data ? some_integers : NULL, data);
    rig_close(r);
    return w;
}

static work counted(const char *yaml, fusion_level level, int index) { return counted_with(yaml, level, index, NULL); }

START_TEST(a_product_counts_two_operations_a_term_and_each_byte_once)
{
    const work w = counted("block: p\ndtype: bf16\ndims: {M: 5, N: 7, K: 11}\ninputs: {x: [M, K]}\nparams: {w: [N, K]}\n"
                           "ops:\n  - {out: y, op: linear, in: [x, w]}\noutputs: {y: y}\n",
                           fusion_tile, 0);
    ck_assert_double_eq(w.products, 2 * 5 * 7 * 11);
    ck_assert_double_eq(w.read, (5 * 11 + 7 * 11) * 2); /* the weight as the spec has it, without the padding of its packed form */
    ck_assert_double_eq(w.written, 5 * 7 * 2);
}
END_TEST

START_TEST(fused_values_move_no_bytes)
{
    const char *chain = "block: c\ndtype: f32\ndims: {M: 8, N: 16}\ninputs: {x: [M, N], z: [M, N]}\n"
                        "ops:\n  - {out: s, op: add, in: [x, z]}\n  - {out: y, op: mul, in: [s, s]}\noutputs: {y: y}\n";
    const double each = 8 * 16 * 4;
    const work fused = counted(chain, fusion_tile, 0), first = counted(chain, fusion_none, 0), second = counted(chain, fusion_none, 1);
    ck_assert_double_eq(fused.read, 2 * each);
    ck_assert_double_eq(fused.written, each);
    ck_assert_double_eq(first.read + second.read, 3 * each);
    ck_assert_double_eq(first.written + second.written, 2 * each);
    ck_assert_double_eq(fused.others, 2 * 8 * 16);
}
END_TEST

START_TEST(a_norm_reads_its_row_once)
{
    const work w = counted("block: n\ndtype: bf16\ndims: {M: 3, D: 64}\ninputs: {x: [M, D]}\nparams: {w: [D]}\n"
                           "ops:\n  - {out: y, op: rmsnorm, in: [x, w]}\noutputs: {y: y}\n",
                           fusion_tile, 0);
    ck_assert_double_eq(w.read, (3 * 64 + 64) * 2);
    ck_assert_double_eq(w.written, 3 * 64 * 2);
    ck_assert_double_eq(w.products, 0);
}
END_TEST

START_TEST(causal_attention_counts_the_pairs_that_are_seen)
{
    const char *causal = "block: a\ndtype: bf16\ndims: {B: 2, S: 9, H: 4, KV: 2, hd: 8}\n"
                         "inputs: {q: [B, S, H*hd], k: [B, S, KV*hd], v: [B, S, KV*hd]}\n"
                         "ops:\n  - {out: y, op: attention, in: [q, k, v], heads: H, kv_heads: KV, causal: true}\noutputs: {y: y}\n";
    const work w = counted(causal, fusion_tile, 0);
    ck_assert_double_eq(w.products, 4.0 * 8 * 4 * 2 * (9 * 10 / 2));
    ck_assert_double_eq(w.read, 2 * 9 * (4 + 2 + 2) * 8 * 2);
    ck_assert_double_eq(w.written, 2 * 9 * 4 * 8 * 2);
}
END_TEST

START_TEST(a_window_hides_what_lies_before_it)
{
    const work w =
        counted("block: a\ndtype: f32\ndims: {B: 1, S: 9, H: 1, hd: 8}\ninputs: {q: [B, S, H*hd], k: [B, S, H*hd], v: [B, S, H*hd]}\n"
                "ops:\n  - {out: y, op: attention, in: [q, k, v], heads: H, causal: true, window: 3}\noutputs: {y: y}\n",
                fusion_tile, 0);
    ck_assert_double_eq(w.products, 4.0 * 8 * (1 + 2 + 3 * 7));
}
END_TEST

/* 32 rows of cache a sequence, of which 5 and 11 are filled before this token. */
static const char decode[] =
    "block: d\ndtype: bf16\ndims: {B: 2, S: 1, L: 32, H: 4, KV: 2, hd: 8}\n"
    "inputs:\n  q: [B, S, H*hd]\n  k: [B, S, KV*hd]\n  v: [B, S, KV*hd]\n  pos: {shape: [B], dtype: i32, range: [0, L-S]}\n"
    "state: {kc: [B, KV, L, hd], vc: [B, KV, L, hd]}\n"
    "ops:\n  - {out: k2, op: kv_append, in: [k], state: kc, at: pos}\n"
    "  - {out: v2, op: kv_append, in: [v], state: vc, at: pos}\n"
    "  - {out: y, op: attention, in: [q, k2, v2], heads: H, kv_heads: KV, causal: true, at: pos}\noutputs: {y: y}\n";

START_TEST(decoding_counts_only_filled_rows_of_the_cache)
{
    int data[] = {5, 11};
    double products = 0, read = 0, written = 0, most = 0;
    rig *r = rig_plan(&(rig_request){.yaml = decode, .level = fusion_none});
    const int count = r->c.plan->launch_count;
    rig_close(r);
    for (int i = 0; i < count; i++) {
        const work w = counted_with(decode, fusion_none, i, data), all = counted_with(decode, fusion_none, i, NULL);
        products += w.products, read += w.read, written += w.written, most += all.products;
    }
    const double seen = 6 + 12, partial = 2 * 4 * (8 + 2) * 4;
    ck_assert_double_eq(products, 4 * 8 * 4 * seen);
    ck_assert_double_eq(most, 4 * 8 * 4 * (32 + 32));
    ck_assert_double_ge(read, 2 * seen * 2 * 8 * 2 + 2 * 4 * 8 * 2 + 2 * (2 * 2 * 8 * 2) + partial);
    ck_assert_double_lt(read, 2 * seen * 2 * 8 * 2 + 2 * 4 * 8 * 2 + 2 * (2 * 2 * 8 * 2) + 64 * partial);
    ck_assert_double_ge(written, 2 * (2 * 2 * 8 * 2) + partial + 2 * 4 * 8 * 2);
}
END_TEST

START_TEST(one_launch_reads_the_rows_of_the_cache_that_it_does_not_append)
{
    int data[] = {5, 11};
    const double row = 2 * 8 * 2, queries = 2 * 4 * 8 * 2, appended = 2 * 2 * row, positions = 2 * 4;
    const work w = counted_with(decode, fusion_block, 0, data);
    ck_assert_double_eq(w.read, queries + appended + positions + 2 * (5 + 11) * row);
}
END_TEST

START_TEST(a_view_counts_its_own_bytes_and_at_most_those_of_its_tensor)
{
    const char *split = "block: s\ndtype: f32\ndims: {M: 4, D: 8}\ninputs: {x: [M, 2*D]}\n"
                        "ops:\n  - {out: [p, q], op: split, in: [x], sizes: [D, D]}\n  - {out: y, op: mul, in: [p, q]}\noutputs: {y: y}\n";
    const work w = counted(split, fusion_tile, 0);
    ck_assert_double_eq(w.read, 4 * 16 * 4);
    ck_assert_double_eq(w.written, 4 * 8 * 4);
}
END_TEST

/* ---- peaks */
START_TEST(the_floor_is_the_time_of_the_slowest_resource)
{
    device_model d = {.name = "x"};
    d.numbers[number_bandwidth].value = 1e12;
    d.rates[rate_products].of[dtype_bf16] = 1e15, d.rates[rate_products].of[dtype_f32] = 1e13;
    d.rates[rate_vector].of[dtype_f32] = 1e13;
    const char *limit;
    ck_assert_double_eq_tol(peaks_floor(&d, dtype_bf16, &(work){.products = 1e12, .read = 3e9, .written = 1e9}, &limit), 4e-3, 1e-12);
    ck_assert_str_eq(limit, "memory");
    ck_assert_double_eq_tol(peaks_floor(&d, dtype_f32, &(work){.products = 1e12, .read = 3e9, .written = 1e9}, &limit), 0.1, 1e-12);
    ck_assert_str_eq(limit, "products");
    ck_assert_double_eq_tol(peaks_floor(&d, dtype_bf16, &(work){.others = 1e12, .read = 3e9, .written = 1e9}, &limit), 0.1, 1e-12);
    ck_assert_str_eq(limit, "arithmetic");
}
END_TEST

/* ---- an independent implementation: it counts one by one what the spec's words mean */
typedef struct tally {
    const ir_graph *graph;
    int *data[random_most_values]; /* by graph value id: of int32 inputs */
    double products, others;
} tally;

static long long axis(const tally *t, const ir_value *v, int i) { return extent_value(&v->shape[i], &t->graph->dims); }

static long long elements(const tally *t, const ir_value *v)
{
    long long n = 1;
    for (int i = 0; i < v->rank; i++) n *= axis(t, v, i);
    return n;
}

static bool sees(const ir_attributes *a, long long position, long long key, long long filled)
{
    if (key >= filled) return false;
    if (a->causal && key > position) return false;
    if (!a->causal && a->window > 0 && key >= position + a->window) return false;
    return a->window <= 0 || key > position - a->window;
}

static void tally_attention(tally *t, const ir_op *op)
{
    const ir_attributes *a = &op->attributes;
    const ir_value *q = op->inputs[0], *k = op->inputs[1], *v = op->inputs[2];
    const bool cache = k->kind == value_state || (k->def && k->def->kind == op_kv_append);
    const long long S = axis(t, q, 1), T = axis(t, k, cache ? 2 : 1);
    const long long head = axis(t, q, q->rank - 1) / (q->rank == 4 ? 1 : a->heads);
    const long long value = axis(t, v, v->rank - 1) / (v->rank == 4 ? 1 : a->kv_heads);
    for (long long b = 0; b < axis(t, q, 0); b++) {
        const long long first = a->at ? t->data[a->at->id][b] : T - S;
        long long filled = a->lengths ? t->data[a->lengths->id][b] : T;
        if (a->at && first + S < filled) filled = first + S;
        const long long padding = a->first ? t->data[a->first->id][b] : 0;
        for (long long h = 0; h < a->heads; h++)
            for (long long s = 0; s < S; s++)
                for (long long key = padding; key < T; key++) {
                    if (!sees(a, first + s, key, filled)) continue;
                    for (long long d = 0; d < head; d++) t->products += 2; /* of the score q*k */
                    for (long long d = 0; d < value; d++) t->products += 2; /* of the sum of weight * v */
                    t->others += 5 + (a->softcap > 0 ? 3 : 0) + (a->alibi.count ? 3 : 0) + (a->bias ? 1 : 0);
                }
    }
    t->others += (double)elements(t, op->outputs[0]);
}

static void tally_product(tally *t, const ir_op *op)
{
    const ir_value *x = op->inputs[0];
    for (long long i = 0, n = elements(t, op->outputs[0]); i < n; i++) {
        for (long long k = 0; k < axis(t, x, x->rank - (op->attributes.transpose_a ? 2 : 1)); k++) t->products += 2;
        if (op->input_count == 3) t->others++;
    }
}

/* Operations of one row of n numbers, by the formulas of docs/spec-language.md. */
static double of_row(const ir_op *op, double n)
{
    switch (op->kind) {
    case op_rmsnorm: return 2 * n + 3 + op->input_count * n;
    case op_layernorm: return n + 1 + n + 2 * n + 3 + op->input_count * n;
    case op_l2norm: return 2 * n + 2 + n;
    case op_softmax: return n + 1 + n + n + n + n;
    case op_row_mean: return n + 1;
    case op_row_sumsq: return 2 * n;
    default: return n;
    }
}

static void tally_op(tally *t, const ir_op *op)
{
    const ir_value *x = op->inputs[0], *y = op->outputs[0];
    switch (op->kind) {
    case op_linear:
    case op_matmul: tally_product(t, op); break;
    case op_attention: tally_attention(t, op); break;
    case op_rope: {
        const double tokens = (double)(axis(t, x, 0) * axis(t, x, 1)), pairs = (double)(op->attributes.heads * op->attributes.rotary) / 2;
        t->others += tokens * pairs * 6; /* two elements, each two products and a sum */
        break;
    }
    case op_kv_append:
    case op_split:
    case op_concat:
    case op_reshape:
    case op_permute:
    case op_cast: break;
    case op_sum:
    case op_mean:
    case op_amax:
    case op_amin: t->others += (double)elements(t, x) + (op->kind == op_mean ? (double)elements(t, y) : 0); break;
    case op_rmsnorm:
    case op_layernorm: t->others += op->attributes.unit_offset ? (double)elements(t, op->inputs[1]) : 0; /* fall through */
    case op_l2norm:
    case op_softmax:
    case op_row_mean:
    case op_row_sumsq:
    case op_row_sum:
    case op_row_max:
    case op_row_min: {
        const long long n = x->rank ? axis(t, x, x->rank - 1) : 1;
        for (long long row = 0; row < elements(t, x) / n; row++) t->others += of_row(op, (double)n);
        break;
    }
    default:
        for (long long i = 0, n = elements(t, y); i < n; i++) t->others++;
    }
}

static const int *drawn_integers(void *context, const char *name)
{
    const tally *t = context;
    for (int i = 0; i < t->graph->value_count; i++)
        if (strcmp(t->graph->values[i]->name, name) == 0) return t->data[i];
    return NULL;
}

static void draw_integers(arena *a, tally *t, unsigned seed)
{
    for (int i = 0; i < t->graph->value_count; i++) {
        const ir_value *v = t->graph->values[i];
        if (v->type != dtype_i32) continue;
        const long long low = v->has_range ? extent_value(&v->range_low, &t->graph->dims) : 0;
        const long long high = v->has_range ? extent_value(&v->range_high, &t->graph->dims) : 0, n = elements(t, v);
        t->data[i] = arena_alloc(a, ((size_t)n + 1) * sizeof(int));
        for (long long k = 0; k < n; k++) t->data[i][k] = (int)(low + rand_r(&seed) % (high - low + 1));
    }
}

static work work_of_plan(arena *a, const plan *p, tally *t)
{
    work sum = {0};
    for (int i = 0; i < p->launch_count; i++) {
        const work one = launch_work(a, p, &p->launches[i], drawn_integers, t);
        double read = 0, written = 0;
        for (int k = 0; k < one.tensor_count; k++) read += one.tensors[k].read, written += one.tensors[k].written;
        ck_assert(read == one.read && written == one.written);
        sum = work_add(&sum, &one);
    }
    return sum;
}

/* Flash-decoding computes an attention in parts and so has operations of its own. */
static bool has_decode(const plan *p)
{
    for (int i = 0; i < p->ir->op_count; i++)
        if (p->ir->ops[i]->kind == op_attention_partial) return true;
    return false;
}

static void same_as_the_double(const char *yaml, unsigned seed, int *attentions)
{
    for (int level = fusion_none; level <= fusion_tile; level++) {
        rig *r = rig_plan(&(rig_request){.yaml = yaml, .level = (fusion_level)level});
        tally t = {.graph = r->c.graph};
        ck_assert_int_lt(r->c.graph->value_count, random_most_values);
        draw_integers(r->a, &t, seed);
        for (int i = 0; i < r->c.graph->op_count; i++) {
            tally_op(&t, r->c.graph->ops[i]);
            *attentions += r->c.graph->ops[i]->kind == op_attention;
        }
        const operations lowered = graph_operations(lower(r->a, r->c.graph), drawn_integers, &t);
        const work planned = work_of_plan(r->a, r->c.plan, &t);
        ck_assert_msg(lowered.products == t.products, "products %.0f, one by one %.0f:\n%s", lowered.products, t.products, yaml);
        ck_assert_msg(lowered.others == t.others, "others %.0f, one by one %.0f:\n%s", lowered.others, t.others, yaml);
        ck_assert_msg(planned.products == t.products, "level %d: products %.0f, one by one %.0f:\n%s", level, planned.products, t.products,
                      yaml);
        if (level == fusion_none && !has_decode(r->c.plan)) ck_assert_msg(planned.others == t.others, "%s", yaml);
        rig_close(r);
    }
}

START_TEST(drawn_specs_have_the_operations_that_are_counted_one_by_one)
{
    int attentions = 0;
    for (int i = 0; i < 150; i++) {
        arena *a = arena_new();
        const random_spec *s = random_spec_draw(a, 13, (uint64_t)i, random_spec_type);
        same_as_the_double(random_spec_text(a, s, ""), (unsigned)i, &attentions);
        arena_free(a);
    }
    ck_assert_int_gt(attentions, 30);
}
END_TEST

static const int *mask_integers(void *context, const char *name) { return ((const int *const *)context)[strcmp(name, "lengths") == 0]; }

static int digit(int *n, int base)
{
    const int d = *n % base;
    *n /= base;
    return d;
}

/* Every mask of S queries and T keys: each position of the first query, number of filled keys and window, causal or not. */
START_TEST(pairs_and_keys_of_every_mask_are_those_that_a_loop_sees)
{
    ir_value q = {.rank = 3}, k = {.rank = 3}, at = {.name = "at"}, lengths = {.name = "lengths"};
    ir_value *inputs[] = {&q, &k, &k};
    dim_table dims = {0};
    for (int i = 0; i < 6 * 7 * 6 * 2 * 9 * 9; i++) {
        int n = i;
        const int S = 1 + digit(&n, 6), T = S + digit(&n, 7), window = digit(&n, 6);
        ir_op op = {.kind = op_attention, .inputs = inputs, .input_count = 3, .attributes = {.heads = 1, .kv_heads = 1, .window = window}};
        op.attributes.causal = digit(&n, 2);
        const int data[] = {digit(&n, 9), digit(&n, 9)}; /* 8: not given */
        if (data[0] < 8) op.attributes.at = &at;
        if (data[1] < 8) op.attributes.lengths = &lengths;
        q.shape[0] = extent_number(1), q.shape[1] = extent_number(S), q.shape[2] = extent_number(4);
        k.shape[0] = extent_number(1), k.shape[1] = extent_number(T), k.shape[2] = extent_number(4);
        double pairs = 0, seen_keys = 0;
        bool any[16] = {false};
        const long long first = op.attributes.at ? data[0] : T - S;
        long long filled = op.attributes.lengths && data[1] < T ? data[1] : T;
        if (op.attributes.at && first + S < filled) filled = first + S;
        for (int s = 0; s < S; s++)
            for (int key = 0; key < T; key++)
                if (sees(&op.attributes, first + s, key, filled)) pairs++, any[key] = true;
        for (int key = 0; key < T; key++) seen_keys += any[key];
        const int *const both[] = {&data[0], &data[1]};
        const keys_seen seen = attention_seen(&op, &dims, mask_integers, (void *)both);
        ck_assert_msg(seen.pairs == pairs && seen.keys == seen_keys,
                      "S %d T %d window %d causal %d first %lld filled %lld: %g pairs, not %g; "
                      "%g keys, not %g",
                      S, T, window, op.attributes.causal, first, filled, seen.pairs, pairs, seen.keys, seen_keys);
    }
}
END_TEST

START_TEST(long_sequences_cost_no_time_to_count)
{
    ir_value q = {.rank = 3}, k = {.rank = 3};
    ir_value *inputs[] = {&q, &k, &k};
    ir_op op = {.kind = op_attention, .inputs = inputs, .input_count = 3, .attributes = {.heads = 1, .kv_heads = 1, .causal = true}};
    dim_table dims = {0};
    const long long S = 1ll << 30;
    q.shape[0] = k.shape[0] = extent_number(1), q.shape[1] = k.shape[1] = extent_number(S), q.shape[2] = k.shape[2] = extent_number(64);
    ck_assert_double_eq(attention_seen(&op, &dims, NULL, NULL).pairs, (double)S * ((double)S + 1) / 2);
}
END_TEST

START_TEST(a_folded_weight_is_no_part_of_a_launch)
{
    const char *yaml = "block: f\ndtype: bf16\ndims: {M: 4, D: 64, N: 32}\ninputs: {x: [M, D]}\nparams: {g: [D], w: [N, D]}\nops:\n"
                       "  - {out: h, op: rmsnorm, in: [x, g]}\n  - {out: y, op: linear, in: [h, w]}\noutputs: {y: y}\n";
    const work statistics = counted(yaml, fusion_tile, 0), product = counted(yaml, fusion_tile, 1);
    ck_assert_double_eq(statistics.read, 4 * 64 * 2);
    ck_assert_double_eq(statistics.written, 4 * 4);
    ck_assert_double_eq(product.read, 4 * 64 * 2 + 32 * 64 * 2 + 4 * 4);
    ck_assert_double_eq(product.written, 4 * 32 * 2);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("work");
    TCase *counts = tcase_create("counting"), *limits = tcase_create("peaks");
    tcase_set_timeout(counts, 60);
    tcase_add_test(counts, a_product_counts_two_operations_a_term_and_each_byte_once);
    tcase_add_test(counts, fused_values_move_no_bytes);
    tcase_add_test(counts, a_norm_reads_its_row_once);
    tcase_add_test(counts, causal_attention_counts_the_pairs_that_are_seen);
    tcase_add_test(counts, a_window_hides_what_lies_before_it);
    tcase_add_test(counts, decoding_counts_only_filled_rows_of_the_cache);
    tcase_add_test(counts, one_launch_reads_the_rows_of_the_cache_that_it_does_not_append);
    tcase_add_test(counts, a_view_counts_its_own_bytes_and_at_most_those_of_its_tensor);
    tcase_add_test(counts, drawn_specs_have_the_operations_that_are_counted_one_by_one);
    tcase_add_test(counts, pairs_and_keys_of_every_mask_are_those_that_a_loop_sees);
    tcase_add_test(counts, long_sequences_cost_no_time_to_count);
    tcase_add_test(counts, a_folded_weight_is_no_part_of_a_launch);
    tcase_add_test(limits, the_floor_is_the_time_of_the_slowest_resource);
    suite_add_tcase(suite, counts);
    suite_add_tcase(suite, limits);
    return run_suite(suite);
}
