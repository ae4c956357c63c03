/* Weights as separate objects: one copy for all modules that compute a layer, on the host engine; on a GPU: test_cuda.c. */
#include "runtime/api/compile.h"
#include "runtime/api/tfgen.h"
#include <check.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static tfgen_error error;

static void must(tfgen_status status) { ck_assert_msg(status == TFGEN_OK, "%d: %s", status, error.text); }

static float number(size_t i) { return (float)((int)(i * 2654435761u >> 8 & 0xffff) - 32768) / 32768.0f; }

/* A layer's params are the same for every module, by their names. */
static unsigned seed_of(const char *name)
{
    unsigned seed = 7;
    for (; *name; name++) seed = 31 * seed + (unsigned char)*name;
    return seed % 1000;
}

enum { most_tensors = 24 };
typedef struct layer {
    tfgen_plan *plan;
    tfgen_module *module;
    void *tensors[most_tensors], *workspace;
    size_t bytes[most_tensors], count;
} layer;

static tfgen_device *device;

static void open_device(void) { must(tfgen_device_open("host", &device, &error)); }
static void close_device(void) { tfgen_device_close(device); }

static void fill(const tfgen_tensor *t, void *memory)
{
    const bool whole = strcmp(t->dtype, "i32") == 0;
    for (int64_t k = 0; k < t->bytes / 4; k++)
        if (whole) ((int *)memory)[k] = 0;
        else ((float *)memory)[k] = t->kind == TFGEN_STATE ? 0 : number((size_t)k + 1000 * seed_of(t->name));
}

static layer open_layer(const char *spec)
{
    layer l = {0};
    must(tfgen_plan_create(spec, strlen(spec), "layer.yaml", NULL, &l.plan, &error));
    must(tfgen_module_create(l.plan, device, NULL, &l.module, &error));
    l.count = tfgen_plan_tensor_count(l.plan);
    ck_assert_uint_le(l.count, most_tensors);
    for (size_t i = 0; i < l.count; i++) {
        tfgen_tensor t = {.size = sizeof t};
        must(tfgen_plan_tensor(l.plan, i, &t));
        l.bytes[i] = (size_t)t.bytes;
        must(tfgen_device_alloc(device, l.bytes[i], &l.tensors[i], &error));
        fill(&t, l.tensors[i]);
    }
    must(tfgen_device_alloc(device, (size_t)tfgen_plan_workspace_bytes(l.plan) + 1, &l.workspace, &error));
    return l;
}

static void close_layer(layer *l)
{
    for (size_t i = 0; i < l->count; i++) tfgen_device_free(device, l->tensors[i]);
    tfgen_device_free(device, l->workspace);
    tfgen_module_free(l->module);
    tfgen_plan_free(l->plan);
}

static tfgen_status execute(const layer *l, const tfgen_weights *w)
{
    tfgen_args args = TFGEN_ARGS_INIT;
    args.tensors = l->tensors;
    return tfgen_execute(l->module, w, &args, l->workspace, NULL, &error);
}

static size_t output_of(const layer *l) { return tfgen_plan_tensor_index(l->plan, "y", TFGEN_OUTPUT); }

/* The layer's result with these weights; the caller frees it. */
static void *result_of(const layer *l, const tfgen_weights *w)
{
    const size_t y = output_of(l);
    void *copy = malloc(l->bytes[y]);
    memset(l->tensors[y], 0xff, l->bytes[y]);
    must(execute(l, w));
    return memcpy(copy, l->tensors[y], l->bytes[y]);
}

static void check_same_results(const layer *l, const tfgen_weights *shared)
{
    tfgen_weights *own;
    must(tfgen_weights_create(l->module, l->tensors, NULL, &own, &error));
    void *wanted = result_of(l, own), *got = result_of(l, shared);
    ck_assert_int_eq(memcmp(wanted, got, l->bytes[output_of(l)]), 0);
    free(wanted);
    free(got);
    tfgen_weights_free(own);
}

static int64_t bytes_alone(const layer *l)
{
    tfgen_weights *own;
    must(tfgen_weights_create(l->module, l->tensors, NULL, &own, &error));
    const int64_t bytes = tfgen_weights_bytes(own);
    tfgen_weights_free(own);
    return bytes;
}

/* ---- a block that prefills and one that decodes; their specs have little in common but the computation */
#define BLOCK_OPS                                                                                     \
    "ops:\n"                                                                                          \
    "  - {out: h, op: rmsnorm, in: [x, attn_norm], eps: 1.0e-5}\n"                                    \
    "  - {out: q, op: linear, in: [h, wq]}\n"                                                         \
    "  - {out: k, op: linear, in: [h, wk]}\n"                                                         \
    "  - {out: v, op: linear, in: [h, wv]}\n"                                                         \
    "  - {out: qr, op: rope, in: [q], heads: H, pairing: half, at: pos}\n"                            \
    "  - {out: kr, op: rope, in: [k], heads: KV, pairing: half, at: pos}\n"                           \
    "  - {out: kc, op: kv_append, in: [kr], state: k_cache, at: pos}\n"                               \
    "  - {out: vc, op: kv_append, in: [v], state: v_cache, at: pos}\n"                                \
    "  - {out: a, op: attention, in: [qr, kc, vc], heads: H, kv_heads: KV, causal: true, at: pos}\n"  \
    "  - {out: o, op: linear, in: [a, wo]}\n"                                                         \
    "  - {out: x1, op: add, in: [x, o]}\n"                                                            \
    "  - {out: h2, op: rmsnorm, in: [x1, mlp_norm], eps: 1.0e-5}\n"                                   \
    "  - {out: gate, op: linear, in: [h2, w_gate]}\n"                                                 \
    "  - {out: up, op: linear, in: [h2, w_up]}\n"                                                     \
    "  - {out: act, op: silu, in: [gate]}\n"                                                          \
    "  - {out: prod, op: mul, in: [act, up]}\n"                                                       \
    "  - {out: down, op: linear, in: [prod, w_down]}\n"                                               \
    "  - {out: x2, op: add, in: [x1, down]}\n"                                                        \
    "outputs: {y: x2}\n"
#define BLOCK_PARAMS                                                                                  \
    "params:\n"                                                                                       \
    "  attn_norm: [D]\n  wq: [H*hd, D]\n  wk: [KV*hd, D]\n  wv: [KV*hd, D]\n  wo: [D, H*hd]\n"        \
    "  mlp_norm: [D]\n  w_gate: [F, D]\n  w_up: [F, D]\n  w_down: [D, F]\n"
static const char prefill[] = "block: prefill\ndtype: f32\ndims: {B: 1, S: 6, L: 16, D: 64, H: 4, KV: 2, hd: 16, F: 96}\n"
                              "dynamic: {S: [1, 16]}\n"
                              "inputs: {x: [B, S, D], pos: {shape: [B], dtype: i32, range: [0, L-S]}}\n"
                              "state: {k_cache: [B, KV, L, hd], v_cache: [B, KV, L, hd]}\n" BLOCK_PARAMS BLOCK_OPS;
static const char decode[] = "# One token a sequence.\nblock: decode\ndtype: f32\n"
                             "dims: {B: 2, L: 32, D: 64, H: 4, KV: 2, hd: 16, F: 96}\n"
                             "dynamic: {B: [1, 8]}\n" BLOCK_PARAMS
                             "inputs: {x: [B, 1, D], pos: {shape: [B], dtype: i32, range: [0, L-1]}}\n"
                             "state: {k_cache: [B, KV, L, hd], v_cache: [B, KV, L, hd]}\n" BLOCK_OPS;

START_TEST(prefill_and_decode_share_the_weights_of_one_model)
{
    layer a = open_layer(prefill), b = open_layer(decode);
    tfgen_weights *weights;
    const int64_t alone = bytes_alone(&a);
    ck_assert_int_eq(bytes_alone(&b), alone);
    must(tfgen_weights_create(a.module, a.tensors, NULL, &weights, &error));
    must(tfgen_weights_add(weights, b.module, b.tensors, NULL, &error));
    ck_assert_int_eq(tfgen_weights_bytes(weights), alone);
    check_same_results(&a, weights);
    check_same_results(&b, weights);
    tfgen_weights_free(weights);
    close_layer(&a);
    close_layer(&b);
}
END_TEST

/* ---- smaller layers */
#define TAIL "ops:\n  - {out: h, op: linear, in: [x, w, b]}\n  - {out: y, op: mul, in: [h, s]}\noutputs: {y: y}\n"
static const char few[] = "block: few\ndtype: f32\ndims: {M: 2, D: 40, F: 24}\ninputs: {x: [M, D]}\n"
                          "params: {w: [F, D], b: [F], s: [F]}\n" TAIL;
static const char many[] = "block: many\ndtype: f32\ndims: {M: 33, D: 40, F: 24}\ninputs: {x: [M, D]}\n"
                           "params: {b: [F], s: [F], w: [F, D]}\n" TAIL;
/* The same names with other shapes or layouts. */
static const char wider[] = "block: wider\ndtype: f32\ndims: {M: 2, D: 48, F: 24}\ninputs: {x: [M, D]}\n"
                            "params: {w: [F, D], b: [F], s: [F]}\n" TAIL;
static const char transposed[] = "block: transposed\ndtype: f32\ndims: {M: 2, D: 40, F: 24}\ninputs: {x: [M, D]}\n"
                             "params: {w: [D, F], b: [F], s: [F]}\n"
                             "ops:\n  - {out: h, op: linear, in: [x, w, b], layout: in_out}\n  - {out: y, op: mul, in: [h, s]}\n"
                             "outputs: {y: y}\n";
/* Another param of the same shape. */
static const char renamed[] = "block: renamed\ndtype: f32\ndims: {M: 2, D: 40, F: 24}\ninputs: {x: [M, D]}\n"
                              "params: {z: [F, D], c: [F], s: [F]}\n"
                              "ops:\n  - {out: h, op: linear, in: [x, z, c]}\n  - {out: y, op: mul, in: [h, s]}\noutputs: {y: y}\n";
static const char more[] = "block: more\ndtype: f32\ndims: {M: 2, D: 40, F: 24}\ninputs: {x: [M, D]}\n"
                           "params: {w: [F, D], b: [F], s: [F], t: [F], v: [F, F]}\n"
                           "ops:\n  - {out: h, op: linear, in: [x, w, b]}\n  - {out: g, op: mul, in: [h, s]}\n"
                           "  - {out: n, op: softmax, in: [g]}\n  - {out: u, op: linear, in: [n, v]}\n"
                           "  - {out: e, op: add, in: [n, u]}\n  - {out: y, op: mul, in: [e, t]}\noutputs: {y: y}\n";

START_TEST(present_params_are_neither_read_nor_packed_again)
{
    layer a = open_layer(few), b = open_layer(many);
    tfgen_weights *weights;
    must(tfgen_weights_create(a.module, a.tensors, NULL, &weights, &error));
    const int64_t bytes = tfgen_weights_bytes(weights);
    check_same_results(&b, weights); /* although b's module was never added */
    must(tfgen_weights_add(weights, b.module, NULL, NULL, &error));
    must(tfgen_weights_add(weights, a.module, NULL, NULL, &error));
    for (size_t i = 0; i < b.count; i++) {
        tfgen_tensor t = {.size = sizeof t};
        must(tfgen_plan_tensor(b.plan, i, &t));
        if (t.kind == TFGEN_PARAM) memset(b.tensors[i], 0xff, b.bytes[i]);
    }
    void *before = result_of(&b, weights);
    must(tfgen_weights_add(weights, b.module, b.tensors, NULL, &error));
    void *after = result_of(&b, weights);
    ck_assert_int_eq(memcmp(before, after, b.bytes[output_of(&b)]), 0);
    ck_assert_int_eq(tfgen_weights_bytes(weights), bytes);
    free(before);
    free(after);
    tfgen_weights_free(weights);
    close_layer(&a);
    close_layer(&b);
}
END_TEST

START_TEST(missing_params_are_named_and_added)
{
    layer a = open_layer(few), b = open_layer(more);
    tfgen_weights *weights;
    must(tfgen_weights_create(a.module, a.tensors, NULL, &weights, &error));
    const int64_t bytes = tfgen_weights_bytes(weights);
    ck_assert_int_eq(execute(&b, weights), TFGEN_USAGE);
    ck_assert_msg(strstr(error.text, "of the signature '") && strstr(error.text, " v'") && strstr(error.text, "tfgen_weights_add()"),
                  "%s", error.text);
    const size_t t = tfgen_plan_tensor_index(b.plan, "t", TFGEN_PARAM);
    void *kept = b.tensors[t];
    b.tensors[t] = NULL;
    ck_assert_int_eq(tfgen_weights_add(weights, b.module, b.tensors, NULL, &error), TFGEN_USAGE);
    ck_assert_msg(strstr(error.text, "tfgen_weights_add: param t is NULL; the weights have no buffer of the signature '"), "%s",
                  error.text);
    b.tensors[t] = (char *)kept + 4;
    ck_assert_int_eq(tfgen_weights_add(weights, b.module, b.tensors, NULL, &error), TFGEN_USAGE);
    ck_assert_str_eq(error.text, "tfgen_weights_add: param t is not aligned to 16 bytes");
    ck_assert_int_eq(tfgen_weights_add(weights, b.module, NULL, NULL, &error), TFGEN_USAGE);
    ck_assert_int_eq(tfgen_weights_bytes(weights), bytes);
    ck_assert_int_eq(execute(&b, weights), TFGEN_USAGE);
    b.tensors[t] = kept;
    must(tfgen_weights_add(weights, b.module, b.tensors, NULL, &error));
    ck_assert_int_eq(tfgen_weights_bytes(weights), bytes_alone(&b));
    check_same_results(&a, weights);
    check_same_results(&b, weights);
    tfgen_weights_free(weights);
    close_layer(&a);
    close_layer(&b);
}
END_TEST

START_TEST(a_different_name_shape_or_layout_is_a_different_weight)
{
    const char *const specs[] = {few, wider, transposed, renamed};
    enum { count = sizeof specs / sizeof *specs };
    layer layers[count];
    tfgen_weights *weights = NULL;
    for (int i = 0; i < count; i++) {
        layers[i] = open_layer(specs[i]);
        if (!i) must(tfgen_weights_create(layers[i].module, layers[i].tensors, NULL, &weights, &error));
        else ck_assert_int_eq(execute(&layers[i], weights), TFGEN_USAGE);
        must(tfgen_weights_add(weights, layers[i].module, layers[i].tensors, NULL, &error));
    }
    for (int i = 0; i < count; i++) {
        check_same_results(&layers[i], weights);
        close_layer(&layers[i]);
    }
    tfgen_weights_free(weights);
}
END_TEST

/* Two products with one weight. */
static const char once[] = "block: once\ndtype: f32\ndims: {M: 2, D: 40}\ninputs: {x: [M, D]}\nparams: {w: [D, D]}\n"
                           "ops:\n  - {out: y, op: linear, in: [x, w]}\noutputs: {y: y}\n";
static const char tied[] = "block: tied\ndtype: f32\ndims: {M: 2, D: 40}\ninputs: {x: [M, D]}\nparams: {w: [D, D]}\n"
                           "ops:\n  - {out: h, op: linear, in: [x, w]}\n  - {out: g, op: relu, in: [h]}\n"
                           "  - {out: y, op: linear, in: [g, w]}\noutputs: {y: y}\n";

START_TEST(a_weight_of_two_products_is_stored_once)
{
    layer a = open_layer(once), b = open_layer(tied);
    tfgen_weights *shared;
    ck_assert_int_eq(bytes_alone(&b), bytes_alone(&a));
    must(tfgen_weights_create(a.module, a.tensors, NULL, &shared, &error));
    check_same_results(&b, shared); /* all weights are there */
    tfgen_weights_free(shared);
    close_layer(&a);
    close_layer(&b);
}
END_TEST

START_TEST(modules_and_weights_are_freed_in_any_order)
{
    layer a = open_layer(few), b = open_layer(many);
    tfgen_weights *weights;
    must(tfgen_weights_create(a.module, a.tensors, NULL, &weights, &error));
    close_layer(&a);
    check_same_results(&b, weights);
    a = open_layer(few);
    check_same_results(&a, weights);
    close_layer(&a);
    close_layer(&b);
    tfgen_weights_free(weights);
}
END_TEST

START_TEST(wrong_calls_are_refused)
{
    layer a = open_layer(few);
    tfgen_device *other;
    tfgen_plan *plan;
    tfgen_module *module;
    tfgen_weights *weights;
    must(tfgen_device_open("host", &other, &error));
    must(tfgen_plan_create(few, sizeof few - 1, "few.yaml", NULL, &plan, &error));
    must(tfgen_module_create(plan, other, NULL, &module, &error));
    must(tfgen_weights_create(a.module, a.tensors, NULL, &weights, &error));
    ck_assert_int_eq(tfgen_weights_add(NULL, a.module, a.tensors, NULL, &error), TFGEN_USAGE);
    ck_assert_int_eq(tfgen_weights_add(weights, NULL, a.tensors, NULL, &error), TFGEN_USAGE);
    ck_assert_int_eq(tfgen_weights_add(weights, module, a.tensors, NULL, &error), TFGEN_USAGE);
    ck_assert_msg(strstr(error.text, "another device"), "%s", error.text);
    const tfgen_args args = {.size = sizeof args, .tensors = a.tensors};
    ck_assert_int_eq(tfgen_execute(module, weights, &args, a.workspace, NULL, &error), TFGEN_USAGE);
    ck_assert_msg(strstr(error.text, "another device"), "%s", error.text);
    ck_assert_int_eq(tfgen_weights_bytes(NULL), 0);
    tfgen_weights_free(NULL);
    tfgen_weights_free(weights);
    tfgen_module_free(module);
    tfgen_plan_free(plan);
    tfgen_device_close(other);
    close_layer(&a);
}
END_TEST

/* ---- threads */
enum { threads = 4, rounds = 30 };
typedef struct adder {
    layer *added;
    tfgen_weights *weights;
    tfgen_status status;
} adder;

static void *add_often(void *argument)
{
    adder *a = argument;
    for (int i = 0; i < rounds && a->status == TFGEN_OK; i++)
        a->status = tfgen_weights_add(a->weights, a->added->module, a->added->tensors, NULL, NULL);
    return NULL;
}

START_TEST(threads_add_to_weights_that_are_executed)
{
    layer a = open_layer(few), b = open_layer(more);
    tfgen_weights *weights;
    pthread_t thread[threads];
    adder adders[threads];
    must(tfgen_weights_create(a.module, a.tensors, NULL, &weights, &error));
    void *wanted = result_of(&a, weights);
    for (int i = 0; i < threads; i++) {
        adders[i] = (adder){&b, weights, TFGEN_OK};
        ck_assert_int_eq(pthread_create(&thread[i], NULL, add_often, &adders[i]), 0);
    }
    for (int i = 0; i < rounds; i++) {
        void *got = result_of(&a, weights);
        ck_assert_int_eq(memcmp(got, wanted, a.bytes[output_of(&a)]), 0);
        free(got);
    }
    for (int i = 0; i < threads; i++) {
        pthread_join(thread[i], NULL);
        ck_assert_int_eq(adders[i].status, TFGEN_OK);
    }
    ck_assert_int_eq(tfgen_weights_bytes(weights), bytes_alone(&b)); /* packed once, not once per thread */
    free(wanted);
    tfgen_weights_free(weights);
    close_layer(&a);
    close_layer(&b);
}
END_TEST

/* ---- one packed layout per device, for any number of rows */
typedef struct packed_plan {
    arena *a;
    const plan *plan;
} packed_plan;

static packed_plan packed_plan_of(const char *path, const target_info *target, const char *type, const char *dim, long long value)
{
    packed_plan p = {arena_new(), NULL};
    const dim_override dims[] = {{dim, value}};
    compiled out = {0};
    char text[8192];
    FILE *f = fopen(path, "r");
    ck_assert_msg(f != NULL, "%s", path);
    const size_t size = fread(text, 1, sizeof text, f);
    fclose(f);
    const compile_request r = {.text = text, .size = size, .name = path, .target = target->name, .level = fusion_tile,
                               .graph = {.dtype = type, .overrides = dims, .override_count = 1}};
    ck_assert_msg(compile(p.a, &r, &out) == code_ok, "%s", arena_diagnostics(p.a));
    p.plan = out.plan;
    return p;
}

/* The program depends on the rows, but the packed layout that it reads does not, except wgmma_3xtf32's (docs/packing.md). */
START_TEST(every_target_packs_a_layer_alike_for_any_number_of_rows)
{
    static const long long batches[] = {1, 8, 17, 64};
    static const char *const types[] = {"bf16", "f16", "f32"};
    size_t count;
    const target_info *target = &target_list(&count)[_i / 3];
    const char *type = types[_i % 3];
    if (strcmp(target->name, "sm_90a") == 0 && strcmp(type, "f32") == 0) return;
    packed_plan many = packed_plan_of("specs/llama-block.yaml", target, type, "S", 2048);
    for (size_t b = 0; b < sizeof batches / sizeof *batches; b++) {
        packed_plan few = packed_plan_of("specs/llama-decode.yaml", target, type, "B", batches[b]);
        ck_assert_int_eq(few.plan->pack_count, many.plan->pack_count);
        for (int i = 0; i < few.plan->pack_count; i++)
            ck_assert_msg(strcmp(few.plan->packs[i].signature, many.plan->packs[i].signature) == 0,
                          "%s %s: %s of %lld rows is not what %s of 2048 is", target->name, type, few.plan->packs[i].name, batches[b],
                          many.plan->packs[i].name);
        arena_free(few.a);
    }
    arena_free(many.a);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("weights");
    TCase *c = tcase_create("host");
    tcase_set_timeout(c, 120);
    tcase_add_checked_fixture(c, open_device, close_device);
    tcase_add_test(c, prefill_and_decode_share_the_weights_of_one_model);
    tcase_add_test(c, present_params_are_neither_read_nor_packed_again);
    tcase_add_test(c, missing_params_are_named_and_added);
    tcase_add_test(c, a_different_name_shape_or_layout_is_a_different_weight);
    tcase_add_test(c, a_weight_of_two_products_is_stored_once);
    tcase_add_test(c, modules_and_weights_are_freed_in_any_order);
    tcase_add_test(c, wrong_calls_are_refused);
    tcase_add_test(c, threads_add_to_weights_that_are_executed);
    suite_add_tcase(suite, c);
    TCase *plans = tcase_create("plans");
    tcase_set_timeout(plans, 60);
    size_t targets;
    (void)target_list(&targets);
    tcase_add_loop_test(plans, every_target_packs_a_layer_alike_for_any_number_of_rows, 0, (int)(3 * targets));
    suite_add_tcase(suite, plans);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
