/* Variants of a module: which of its plans runs a call, that all compute the same, and that preparing one changes nothing else. On the host
 * engine; the driver calls for a GPU are tested in test_cuda.c and test_hip.c. */
#define _GNU_SOURCE
#include "runtime/api/tfgen.h"
#include "runtime/module/bundle.h"
#include "runtime/module/variants.h"
#include <check.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static tfgen_error error;

static void must(tfgen_status status) { ck_assert_msg(status == TFGEN_OK, "%d: %s", status, error.text); }

enum { most_given = 16 };
typedef struct layer {
    tfgen_device *device;
    tfgen_plan *plan;
    tfgen_module *module;
    tfgen_weights *weights;
    void *tensors[most_given], *workspace;
    size_t bytes[most_tensors], count, room; /* room: of the workspace */
} layer;

/* Small whole numbers: every sum of products is exact, in whatever order a program adds. */
static float number(size_t i) { return (float)((int)((unsigned)i * 2654435761u >> 9) % 9 - 4); }

static layer open_plan(const char *spec)
{
    layer l = {0};
    must(tfgen_device_open("host", &l.device, &error));
    must(tfgen_plan_create(spec, strlen(spec), "layer.yaml", NULL, &l.plan, &error));
    return l;
}

/* Allocates and fills tensors of `times` the plan's own size. */
static void fill(layer *l, size_t times, size_t room)
{
    l->count = tfgen_plan_tensor_count(l->plan);
    ck_assert_uint_le(l->count, most_given);
    for (size_t i = 0; i < l->count; i++) {
        tfgen_tensor t = {.size = sizeof t};
        must(tfgen_plan_tensor(l->plan, i, &t));
        l->bytes[i] = (size_t)t.bytes * (t.kind == TFGEN_PARAM ? 1 : times);
        must(tfgen_device_alloc(l->device, l->bytes[i], &l->tensors[i], &error));
        memset(l->tensors[i], 0, l->bytes[i]);
        for (size_t k = 0; k < l->bytes[i] / 4 && t.kind != TFGEN_STATE && strcmp(t.dtype, "f32") == 0; k++)
            ((float *)l->tensors[i])[k] = number(k + 77 * i);
    }
    must(tfgen_weights_create(l->module, l->tensors, NULL, &l->weights, &error));
    l->room = room;
    must(tfgen_device_alloc(l->device, room + 1, &l->workspace, &error));
}

static void close_layer(layer *l)
{
    for (size_t i = 0; i < l->count; i++) tfgen_device_free(l->device, l->tensors[i]);
    tfgen_device_free(l->device, l->workspace);
    tfgen_weights_free(l->weights);
    tfgen_module_free(l->module);
    tfgen_plan_free(l->plan);
    tfgen_device_close(l->device);
}

static tfgen_status execute(const layer *l, const tfgen_dim *dims, size_t count)
{
    tfgen_args args = TFGEN_ARGS_INIT;
    args.tensors = l->tensors, args.dims = dims, args.dim_count = count, args.workspace_bytes = l->room;
    return tfgen_execute(l->module, l->weights, &args, l->workspace, NULL, &error);
}

/* ---- a layer of M rows */
#define ROWS                                                                                                       \
    "inputs: {x: [M, D]}\nparams: {w: [F, D], b: [F], v: [D, F]}\nops:\n"                                          \
    "  - {out: h, op: linear, in: [x, w, b]}\n  - {out: g, op: relu, in: [h]}\n"                                   \
    "  - {out: u, op: linear, in: [g, v]}\n  - {out: y, op: add, in: [u, x]}\noutputs: {y: y}\n"
static const char rows[] = "block: rows\ndtype: f32\ndims: {M: 6, D: 24, F: 40}\ndynamic: {M: [1, 300]}\n" ROWS;
enum { width = 24, hidden = 40, own_rows = 6, most_rows = 300 };

static layer open_rows(const tfgen_module_options *o)
{
    layer l = open_plan(rows);
    const tfgen_dim most = {"M", most_rows};
    must(tfgen_module_create(l.plan, l.device, o, &l.module, &error));
    fill(&l, most_rows / own_rows, (size_t)tfgen_workspace_bytes(l.plan, &most, 1));
    return l;
}

static void prepare(const layer *l, int64_t m)
{
    const tfgen_dim dim = {"M", m};
    must(tfgen_module_prepare(l->module, &dim, 1, NULL, &error));
}

static const void *tensor(const layer *l, const char *name, tfgen_tensor_kind kind)
{
    return l->tensors[tfgen_plan_tensor_index(l->plan, name, kind)];
}

static void judge_rows(const layer *l, size_t m)
{
    const float *x = tensor(l, "x", TFGEN_INPUT), *y = tensor(l, "y", TFGEN_OUTPUT);
    const float *w = tensor(l, "w", TFGEN_PARAM), *b = tensor(l, "b", TFGEN_PARAM), *v = tensor(l, "v", TFGEN_PARAM);
    for (size_t i = 0; i < m; i++) {
        float h[hidden];
        for (size_t f = 0; f < hidden; f++) {
            h[f] = b[f];
            for (size_t k = 0; k < width; k++) h[f] += x[i * width + k] * w[f * width + k];
            if (h[f] < 0) h[f] = 0;
        }
        for (size_t k = 0; k < width; k++) {
            float wanted = x[i * width + k];
            for (size_t f = 0; f < hidden; f++) wanted += h[f] * v[k * hidden + f];
            ck_assert_msg(y[i * width + k] == wanted, "%zu rows: [%zu][%zu] is %g, not %g", m, i, k, y[i * width + k], wanted);
        }
    }
    for (size_t k = m * width; k < most_rows * width; k++) ck_assert(y[k] != y[k]); /* memory behind the rows is unchanged */
}

/* The M of the plan that runs the call. */
static long long made_for(const layer *l, long long m, size_t room)
{
    dim_table dims = l->module->plan->ir->dims;
    dim_find(&dims, "M")->value = m;
    dim_table of = variant_pick(l->module, &dims, room)->plan->ir->dims;
    return dim_find(&of, "M")->value;
}

START_TEST(a_call_runs_the_smallest_plan_that_covers_it)
{
    static const int64_t prepared[] = {64, 1, 256};
    static const int calls[][2] = {{1, 1}, {2, 6}, {6, 6}, {7, 64}, {64, 64}, {65, 256}, {256, 256}, {257, 6}, {300, 6}};
    layer l = open_rows(NULL);
    for (int m = 1; m <= most_rows; m += 13) ck_assert_int_eq(made_for(&l, m, l.room), own_rows);
    const int64_t bytes = tfgen_weights_bytes(l.weights);
    for (size_t i = 0; i < sizeof prepared / sizeof *prepared; i++) prepare(&l, prepared[i]);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        const tfgen_dim dim = {"M", calls[i][0]};
        ck_assert_int_eq(made_for(&l, calls[i][0], l.room), calls[i][1]);
        memset(l.tensors[tfgen_plan_tensor_index(l.plan, "y", TFGEN_OUTPUT)], 0xff, most_rows * width * 4);
        must(execute(&l, &dim, 1)); /* with weights packed before the variant existed */
        judge_rows(&l, (size_t)calls[i][0]);
    }
    memset(l.tensors[tfgen_plan_tensor_index(l.plan, "y", TFGEN_OUTPUT)], 0xff, most_rows * width * 4);
    must(execute(&l, NULL, 0));
    judge_rows(&l, own_rows);
    prepare(&l, 300);
    ck_assert_int_eq(made_for(&l, 257, l.room), 300);
    ck_assert_int_eq(tfgen_weights_bytes(l.weights), bytes);
    close_layer(&l);
}
END_TEST

static void same_pick(const layer *l, long long b, long long s, long long wanted_b, long long wanted_s)
{
    dim_table dims = l->module->plan->ir->dims;
    dim_find(&dims, "B")->value = b, dim_find(&dims, "S")->value = s;
    dim_table of = variant_pick(l->module, &dims, (size_t)1 << 40)->plan->ir->dims;
    ck_assert_msg(dim_find(&of, "B")->value == wanted_b && dim_find(&of, "S")->value == wanted_s, "%lldx%lld runs %lldx%lld", b, s,
                  dim_find(&of, "B")->value, dim_find(&of, "S")->value);
}

/* One module reads and writes rows that each call puts elsewhere: small ones run the small variant, whatever their strides are. */
START_TEST(each_call_gives_its_row_strides)
{
    static const char spec[] = "block: b\ndtype: f32\ndims: {M: 60, K: 8, X: 16, Y: 8}\n"
                               "dynamic: {M: [1, 60], X: [K, 96], Y: [K, 96]}\n"
                               "inputs: {x: {shape: [M, K], stride: X}}\nops: [{out: h, op: relu, in: [x]}]\n"
                               "outputs: {y: {value: h, stride: Y}}\n";
    static _Alignas(16) float x[60 * 96], y[60 * 96];
    layer l = open_plan(spec);
    must(tfgen_module_create(l.plan, l.device, NULL, &l.module, &error));
    prepare(&l, 5);
    void *given[] = {x, y};
    for (size_t i = 0; i < sizeof x / sizeof *x; i++) x[i] = number(i);
    static const int64_t calls[][3] = {{5, 96, 8}, {60, 8, 96}, {3, 12, 20}, {60, 96, 8}};
    for (size_t n = 0; n < sizeof calls / sizeof *calls; n++) {
        const int64_t rows = calls[n][0], from = calls[n][1], to = calls[n][2];
        const tfgen_dim dims[] = {{"M", rows}, {"X", from}, {"Y", to}};
        tfgen_args args = TFGEN_ARGS_INIT;
        args.tensors = given, args.dims = dims, args.dim_count = 3;
        for (size_t i = 0; i < sizeof y / sizeof *y; i++) y[i] = -7;
        must(tfgen_execute(l.module, NULL, &args, NULL, NULL, &error));
        for (int64_t i = 0; i < rows * to; i++) {
            const float in = i % to < 8 ? x[i / to * from + i % to] : 0;
            ck_assert_float_eq(y[i], i % to >= 8 ? -7 : in > 0 ? in : 0);
        }
    }
    const tfgen_dim odd = {"X", 10}, short_rows = {"Y", 4};
    ck_assert_int_eq(execute(&l, &odd, 1), TFGEN_USAGE);
    ck_assert_str_eq(error.text, "dim X is 10; as the stride of rows it is a multiple of 4, so that they begin at multiples of 16 bytes");
    ck_assert_int_eq(execute(&l, &short_rows, 1), TFGEN_USAGE);
    ck_assert_str_eq(error.text, "dim Y is 4; the spec allows 8 to 96");
    tfgen_tensor t = {.size = sizeof t};
    must(tfgen_plan_tensor(l.plan, 0, &t));
    ck_assert(t.row_stride == 16 && strcmp(t.row_stride_dim, "X") == 0 && t.bytes == (59 * 16 + 8) * 4);
    const tfgen_dim small[] = {{"M", 3}, {"X", 96}};
    dim_table taken;
    must(dims_take(l.module->plan, small, 2, &taken, &error));
    dim_table of = variant_pick(l.module, &taken, 0)->plan->ir->dims;
    ck_assert_int_eq(dim_find(&of, "M")->value, 5);
    ck_assert(dim_find(&of, "M")->high == 5 && dim_find(&of, "X")->high == 96); /* a variant takes all strides */
    const tfgen_dim again[] = {{"M", 5}, {"X", 96}};
    must(tfgen_module_prepare(l.module, again, 2, NULL, &error));
    ck_assert_ptr_null(l.module->variants->earlier); /* so that no second one is made for other strides */
    close_layer(&l);
}
END_TEST

START_TEST(every_dynamic_dim_is_covered_and_the_first_of_equals_is_run)
{
    static const char spec[] = "block: two\ndtype: f32\ndims: {B: 2, S: 8, D: 16}\ndynamic: {B: [1, 64], S: [1, 512]}\n"
                               "inputs: {x: [B, S, D]}\nparams: {w: [D, D]}\nops:\n  - {out: y, op: linear, in: [x, w]}\n"
                               "outputs: {y: y}\n";
    static const tfgen_dim lists[][2] = {{{"B", 4}, {"S", 1}}, {{"B", 1}, {"S", 16}}, {{"S", 4}, {"B", 1}}, {{"B", 16}, {"S", 1}}};
    layer l = open_plan(spec);
    must(tfgen_module_create(l.plan, l.device, NULL, &l.module, &error));
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) must(tfgen_module_prepare(l.module, lists[i], 2, NULL, &error));
    same_pick(&l, 1, 1, 4, 1); /* not 1x4, which is equally small but was added later */
    same_pick(&l, 2, 1, 4, 1);
    same_pick(&l, 1, 2, 1, 4);
    same_pick(&l, 2, 2, 2, 8);
    same_pick(&l, 1, 8, 1, 16); /* equally small as the module's own plan, which is not preferred */
    same_pick(&l, 1, 9, 1, 16);
    same_pick(&l, 5, 1, 16, 1);
    same_pick(&l, 5, 2, 2, 8); /* no variant covers it */
    must(tfgen_module_prepare(l.module, lists[0], 1, NULL, &error)); /* S keeps the plan's own value */
    same_pick(&l, 3, 7, 4, 8);
    close_layer(&l);
}
END_TEST

START_TEST(preparing_twice_changes_nothing)
{
    layer l = open_rows(NULL);
    const char *const before = tfgen_module_manifest(l.module);
    ck_assert_str_eq(before, tfgen_plan_manifest(l.plan));
    prepare(&l, 64);
    const char *const after = tfgen_module_manifest(l.module);
    ck_assert_ptr_ne(before, after);
    prepare(&l, 64);
    const tfgen_dim same[] = {{"M", 64}, {"D", width}};
    must(tfgen_module_prepare(l.module, same, 2, NULL, &error));
    ck_assert_ptr_eq(tfgen_module_manifest(l.module), after);
    close_layer(&l);
}
END_TEST

static int count_of(const char *text, const char *part)
{
    int count = 0;
    for (; (text = strstr(text, part)); text++) count++;
    return count;
}

START_TEST(the_manifest_has_every_variant)
{
    layer l = open_rows(NULL);
    ck_assert_int_eq(count_of(tfgen_module_manifest(l.module), "\"variants\""), 0);
    prepare(&l, 64);
    const char *const one = tfgen_module_manifest(l.module);
    prepare(&l, 1);
    const char *const two = tfgen_module_manifest(l.module);
    ck_assert_int_eq(count_of(one, "\"variants\""), 1);
    ck_assert_int_eq(count_of(one, "\"block\": \"rows\""), 2); /* the module's own plan and one variant, each printed whole */
    ck_assert_int_eq(count_of(two, "\"block\": \"rows\""), 3);
    ck_assert(strstr(two, "\"value\": 6,") < strstr(two, "\"value\": 64,") && strstr(two, "\"value\": 64,") < strstr(two, "\"value\": 1,"));
    close_layer(&l);
}
END_TEST

START_TEST(dims_that_the_spec_does_not_allow_are_refused)
{
    const tfgen_dim wrong[] = {{"M", 0}, {"M", 301}, {"M", -1}, {"M", INT64_MAX}, {"D", 25}, {"Q", 1}, {NULL, 1}};
    layer l = open_rows(NULL);
    const char *const manifest = tfgen_module_manifest(l.module);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ck_assert_int_eq(tfgen_module_prepare(l.module, &wrong[i], 1, NULL, &error), TFGEN_USAGE);
        ck_assert_msg(strstr(error.text, "dim"), "%s", error.text);
        ck_assert_int_eq(tfgen_module_workspace_bytes(l.module, &wrong[i], 1), -1);
    }
    tfgen_module_options o = TFGEN_MODULE_OPTIONS_INIT;
    const tfgen_dim_list list = {wrong, 1};
    ck_assert_int_eq(tfgen_module_prepare(NULL, wrong, 1, NULL, &error), TFGEN_USAGE);
    ck_assert_int_eq(tfgen_module_prepare(l.module, NULL, 1, NULL, &error), TFGEN_USAGE);
    o.jobs = -1;
    ck_assert_int_eq(tfgen_module_prepare(l.module, NULL, 0, &o, &error), TFGEN_USAGE);
    o.jobs = 0, o.variants = &list, o.variant_count = 1;
    ck_assert_int_eq(tfgen_module_prepare(l.module, NULL, 0, &o, &error), TFGEN_USAGE);
    ck_assert_msg(strstr(error.text, "options.variants"), "%s", error.text);
    ck_assert_ptr_eq(tfgen_module_manifest(l.module), manifest);
    ck_assert_int_eq(tfgen_module_workspace_bytes(NULL, NULL, 0), -1);
    close_layer(&l);
}
END_TEST

START_TEST(a_module_is_created_with_its_variants)
{
    const tfgen_dim few = {"M", 2}, many = {"M", 128}, wrong = {"M", 301};
    tfgen_dim_list lists[] = {{&few, 1}, {&many, 1}, {&wrong, 1}};
    tfgen_module_options o = TFGEN_MODULE_OPTIONS_INIT;
    o.variants = lists, o.variant_count = 2;
    layer l = open_rows(&o);
    ck_assert_int_eq(made_for(&l, 1, l.room), 2);
    ck_assert_int_eq(made_for(&l, 100, l.room), 128);
    tfgen_module *module = (tfgen_module *)1;
    o.variant_count = 3;
    ck_assert_int_eq(tfgen_module_create(l.plan, l.device, &o, &module, &error), TFGEN_USAGE);
    ck_assert_msg(strstr(error.text, "301"), "%s", error.text);
    ck_assert_ptr_null(module);
    lists[1].dims = NULL;
    ck_assert_int_eq(tfgen_module_create(l.plan, l.device, &o, &module, &error), TFGEN_USAGE);
    ck_assert_msg(strstr(error.text, "options.variants"), "%s", error.text);
    o.variants = NULL;
    ck_assert_int_eq(tfgen_module_create(l.plan, l.device, &o, &module, &error), TFGEN_USAGE);
    close_layer(&l);
}
END_TEST

/* ---- a block over a cache: for one token other fusions are chosen, which need more workspace */
#define CACHED                                                                                                                           \
    "inputs: {x: [B, S, D], pos: {shape: [B], dtype: i32, range: [0, L-S]}}\n"                                                           \
    "params: {wq: [D, D], wk: [D, D], wv: [D, D]}\nstate: {k: [B, H, L, hd], v: [B, H, L, hd]}\nops:\n"                                  \
    "  - {out: q, op: linear, in: [x, wq]}\n  - {out: kn, op: linear, in: [x, wk]}\n  - {out: vn, op: linear, in: [x, wv]}\n"            \
    "  - {out: kc, op: kv_append, in: [kn], state: k, at: pos}\n  - {out: vc, op: kv_append, in: [vn], state: v, at: pos}\n"             \
    "  - {out: y, op: attention, in: [q, kc, vc], heads: H, kv_heads: H, causal: true, at: pos}\noutputs: {y: y}\n"
static const char cached[] = "block: cached\ndtype: f32\ndims: {B: 1, S: 32, L: 600, D: 32, H: 2, hd: D/H}\ndynamic: {S: [1, 64]}\n" CACHED;
static const char single[] = "block: single\ndtype: f32\ndims: {B: 1, S: 1, L: 600, D: 32, H: 2, hd: D/H}\n" CACHED;

START_TEST(a_variant_is_planned_for_its_own_range_and_not_run_without_room)
{
    layer l = open_plan(cached), one = open_plan(single);
    const tfgen_dim dim = {"S", 1};
    must(tfgen_module_create(l.plan, l.device, NULL, &l.module, &error));
    must(tfgen_module_create(one.plan, one.device, NULL, &one.module, &error));
    must(tfgen_module_prepare(l.module, &dim, 1, NULL, &error));
    const int64_t plain = tfgen_workspace_bytes(l.plan, &dim, 1), all = tfgen_module_workspace_bytes(l.module, &dim, 1);
    ck_assert_int_gt(all, plain);
    ck_assert_int_eq(all, tfgen_plan_workspace_bytes(one.plan));
    const tfgen_dim end = {"S", 64};
    const int64_t plain_end = tfgen_workspace_bytes(l.plan, &end, 1);
    ck_assert_int_ge(tfgen_module_workspace_bytes(l.module, NULL, 0), all); /* the workspace is enough for smaller calls, too */
    ck_assert_int_eq(tfgen_module_workspace_bytes(l.module, &end, 1), all > plain_end ? all : plain_end);
    dim_table dims = l.module->plan->ir->dims;
    dim_find(&dims, "S")->value = 1;
    ck_assert_ptr_eq(variant_pick(l.module, &dims, 0), l.module);
    ck_assert_ptr_eq(variant_pick(l.module, &dims, (size_t)all - 1), l.module);
    const tfgen_module *v = variant_pick(l.module, &dims, (size_t)all);
    ck_assert_ptr_ne(v, l.module);
    ck_assert_int_eq(v->launch_count, one.module->launch_count);
    ck_assert_int_ne(v->launch_count, l.module->launch_count);

    fill(&l, 1, (size_t)all);
    fill(&one, 1, (size_t)all);
    memcpy(one.tensors[0], l.tensors[0], one.bytes[0]);
    must(execute(&l, &dim, 1));
    must(execute(&one, NULL, 0));
    ck_assert_int_eq(memcmp(tensor(&l, "y", TFGEN_OUTPUT), tensor(&one, "y", TFGEN_OUTPUT), 32 * 4), 0); /* the same program ran */
    l.room = 16;
    ck_assert_int_eq(execute(&l, &dim, 1), TFGEN_USAGE);
    ck_assert_msg(strstr(error.text, "workspace has 16 bytes"), "%s", error.text);
    close_layer(&l);
    close_layer(&one);
}
END_TEST

/* A smaller plan covers the call but the workspace is too small for it, so a larger variant runs. */
static const char product[] = "block: product\ndtype: f32\ndims: {M: 64, D: 24, F: 40}\ndynamic: {M: [1, 300]}\n"
                              "inputs: {x: [M, D]}\nparams: {w: [F, D]}\nops:\n  - {out: y, op: linear, in: [x, w]}\noutputs: {y: y}\n";

START_TEST(a_modules_own_plan_is_not_run_without_room_either)
{
    layer few = open_plan(rows), many = open_plan(product);
    tfgen_module own = {.plan = few.plan->compiled.plan}, larger = {.plan = many.plan->compiled.plan};
    atomic_init(&own.variants, &larger);
    const size_t needed = (size_t)tfgen_plan_workspace_bytes(few.plan);
    ck_assert_int_lt(tfgen_plan_workspace_bytes(many.plan), (int64_t)needed);
    ck_assert_ptr_eq(variant_pick(&own, &own.plan->ir->dims, needed), &own);
    ck_assert_ptr_eq(variant_pick(&own, &own.plan->ir->dims, needed - 1), &larger);
    close_layer(&few);
    close_layer(&many);
}
END_TEST

/* ---- failures change nothing */
START_TEST(a_variant_that_is_not_made_leaves_the_module_as_it_was)
{
    layer l = open_rows(NULL);
    const tfgen_dim dim = {"M", 200}, own = {"M", own_rows};
    const char *const manifest = tfgen_module_manifest(l.module);
    tfgen_module_options o = TFGEN_MODULE_OPTIONS_INIT;
    unsigned char *bytes;
    ck_assert(bundle_write(NULL, 0, &bytes, &o.bundle_size));
    o.bundle = aligned_alloc(64, 64);
    memcpy((void *)o.bundle, bytes, o.bundle_size);
    o.bundle_only = 1;
    ck_assert_int_eq(tfgen_module_prepare(l.module, &dim, 1, &o, &error), TFGEN_UNSUPPORTED);
    ck_assert_msg(strstr(error.text, "the bundle"), "%s", error.text);
    free((void *)o.bundle);
    free(bytes);
    o = (tfgen_module_options)TFGEN_MODULE_OPTIONS_INIT;
    o.cache_dir = "";
    char *path = strdup(getenv("PATH"));
    setenv("PATH", "/nowhere", 1); /* no clang, which compiles for the host */
    ck_assert_int_ne(tfgen_module_prepare(l.module, &dim, 1, &o, &error), TFGEN_OK);
    setenv("PATH", path, 1);
    free(path);
    ck_assert_ptr_eq(tfgen_module_manifest(l.module), manifest);
    ck_assert_int_eq(made_for(&l, 200, l.room), own_rows);
    memset(l.tensors[tfgen_plan_tensor_index(l.plan, "y", TFGEN_OUTPUT)], 0xff, most_rows * width * 4);
    must(execute(&l, &own, 1));
    judge_rows(&l, own_rows);
    prepare(&l, 200);
    ck_assert_int_eq(made_for(&l, 200, l.room), 200);
    close_layer(&l);
}
END_TEST

/* A variant from another spec, which reads other weights than the module has. */
START_TEST(a_variant_that_reads_other_weights_is_refused)
{
    static const char other[] = "block: rows\ndtype: f32\ndims: {M: 6, D: 24, F: 48}\ndynamic: {M: [1, 300]}\n" ROWS;
    layer l = open_rows(NULL), stranger = open_plan(other);
    const tfgen_module_options o = TFGEN_MODULE_OPTIONS_INIT;
    tfgen_module *v = NULL;
    must(module_build(stranger.plan->compiled.plan, l.device, &(module_settings){.options = &o, .beside = l.module}, &v, &error));
    ck_assert_int_eq(variant_join(l.module, v, &error), TFGEN_UNSUPPORTED);
    ck_assert_msg(strstr(error.text, "rows_h_pack is read as '"), "%s", error.text);
    ck_assert_ptr_null(l.module->variants);
    tfgen_module_free(v);
    close_layer(&l);
    close_layer(&stranger);
}
END_TEST

static void count_calls(void *context, const tfgen_progress *p)
{
    atomic_fetch_add((atomic_int *)context, 1);
    ck_assert_uint_le(p->done, p->total);
    ck_assert_ptr_null(strstr(p->kernel, "_pack"));
}

/* The same source is compiled and loaded once; weights are packed by the module. */
START_TEST(variants_share_code_and_pack_nothing)
{
    layer l = open_rows(NULL);
    tfgen_module_options o = TFGEN_MODULE_OPTIONS_INIT;
    atomic_int calls = 0;
    const tfgen_dim dim = {"M", 290}, near = {"M", 291};
    o.progress = count_calls, o.context = &calls;
    must(tfgen_module_prepare(l.module, &dim, 1, &o, &error));
    const int first = atomic_load(&calls);
    must(tfgen_module_prepare(l.module, &near, 1, &o, &error));
    ck_assert_int_le(first, l.module->launch_count);
    ck_assert_int_eq(atomic_load(&calls), first);
    ck_assert_int_eq(made_for(&l, 291, l.room), 291);
    for (const tfgen_module *v = l.module->variants; v; v = v->earlier)
        for (int i = 0; i < v->pack_count; i++) ck_assert_ptr_null(v->kernels[i].image);
    close_layer(&l);
}
END_TEST

/* ---- threads */
enum { threads = 4, rounds = 6 };
typedef struct caller {
    const layer *l;
    unsigned number;
    bool good;
} caller;

static void *prepare_and_execute(void *argument)
{
    caller *c = argument;
    layer own = *c->l;
    tfgen_error e;
    const size_t y = tfgen_plan_tensor_index(own.plan, "y", TFGEN_OUTPUT);
    c->good = tfgen_device_alloc(own.device, own.room, &own.workspace, &e) == TFGEN_OK &&
              tfgen_device_alloc(own.device, own.bytes[y], &own.tensors[y], &e) == TFGEN_OK;
    for (int i = 0; i < rounds && c->good; i++) {
        const int64_t m = 1 + (37 * (int64_t)c->number + 59 * i) % most_rows;
        const tfgen_dim dim = {"M", m}, prepared = {"M", 1 + 100 * ((c->number + (unsigned)i) % 3)};
        tfgen_args args = {.size = sizeof args, .tensors = own.tensors, .dims = &dim, .dim_count = 1, .workspace_bytes = own.room};
        if (i % 2 == (int)c->number % 2) c->good = tfgen_module_prepare(own.module, &prepared, 1, NULL, &e) == TFGEN_OK;
        c->good = c->good && tfgen_execute(own.module, own.weights, &args, own.workspace, NULL, &e) == TFGEN_OK;
        c->good = c->good && memcmp(own.tensors[y], c->l->tensors[y], (size_t)m * width * 4) == 0;
    }
    tfgen_device_free(own.device, own.workspace);
    tfgen_device_free(own.device, own.tensors[y]);
    return NULL;
}

START_TEST(threads_prepare_what_others_execute)
{
    layer l = open_rows(NULL);
    const tfgen_dim most = {"M", most_rows};
    pthread_t thread[threads];
    caller callers[threads];
    must(execute(&l, &most, 1)); /* the expected result of all threads, row by row */
    for (unsigned i = 0; i < threads; i++) {
        callers[i] = (caller){&l, i, false};
        ck_assert_int_eq(pthread_create(&thread[i], NULL, prepare_and_execute, &callers[i]), 0);
    }
    for (int i = 0; i < threads; i++) {
        pthread_join(thread[i], NULL);
        ck_assert_msg(callers[i].good, "thread %d", i);
    }
    int count = 0;
    for (const tfgen_module *v = l.module->variants; v; v = v->earlier) count++;
    ck_assert_int_eq(count, 3); /* 1, 101 and 201, once each */
    close_layer(&l);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("variants");
    TCase *c = tcase_create("host");
    tcase_set_timeout(c, 120);
    tcase_add_test(c, a_call_runs_the_smallest_plan_that_covers_it);
    tcase_add_test(c, every_dynamic_dim_is_covered_and_the_first_of_equals_is_run);
    tcase_add_test(c, each_call_gives_its_row_strides);
    tcase_add_test(c, preparing_twice_changes_nothing);
    tcase_add_test(c, the_manifest_has_every_variant);
    tcase_add_test(c, dims_that_the_spec_does_not_allow_are_refused);
    tcase_add_test(c, a_module_is_created_with_its_variants);
    tcase_add_test(c, a_variant_is_planned_for_its_own_range_and_not_run_without_room);
    tcase_add_test(c, a_modules_own_plan_is_not_run_without_room_either);
    tcase_add_test(c, a_variant_that_is_not_made_leaves_the_module_as_it_was);
    tcase_add_test(c, a_variant_that_reads_other_weights_is_refused);
    tcase_add_test(c, variants_share_code_and_pack_nothing);
    tcase_add_test(c, threads_prepare_what_others_execute);
    suite_add_tcase(suite, c);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
