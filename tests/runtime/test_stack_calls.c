/* tfgen_stack: one launch of several layers stores the same bits as a launch of each; runs of layers, other dims, and what is refused. */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include "runtime/api/tfgen.h"
#include "runtime/module/stack.h"
#include "tests/support.h"

enum { layers = 4, most_rows = 8, columns = 32, keys = 16, tensor_room = 16, bytes_each = most_rows * keys * columns * 4 };

/* A cache for each layer, whose row `at` holds what the layer appended. Layers of kind 1 have a window. */
#define SPEC(window) \
    "block: t\ndtype: f32\ndims: {M: 5, D: 32, L: 16}\ndynamic: {M: [1, 8]}\n" \
    "inputs: {x: [M, 1, D], at: {shape: [M], dtype: i32, range: [0, L-1]}}\nparams: {g: [D], w: [D, D]}\nstate: {c: [M, 1, L, D]}\nops:\n" \
    "  - {out: h, op: rmsnorm, in: [x, g]}\n  - {out: p, op: linear, in: [h, w]}\n" \
    "  - {out: k, op: kv_append, in: [p], state: c, at: at}\n" \
    "  - {out: a, op: attention, in: [h, k, k], heads: 1, kv_heads: 1, causal: true" window ", at: at}\n" \
    "  - {out: y, op: add, in: [x, a]}\noutputs: {y: y}\n"
static const char *const specs[] = {SPEC(""), SPEC(", window: 3")};

typedef struct program {
    tfgen_device *device;
    const int *kinds; /* by layer; NULL: all are of kind 0 */
    tfgen_plan *plans[2], *stack_plan;
    tfgen_module *modules[2], *stack_module; /* of one layer of each kind; of the stack */
    tfgen_weights *weights[layers], *stack_weights[layers];
    void *tensors[layers][tensor_room], *workspace;
    size_t x, y, at, cache;
} program;

static void must(tfgen_status status, const tfgen_error *error) { ck_assert_msg(status == TFGEN_OK, "%s", error->text); }

static void *memory_of(const program *p, int seed)
{
    tfgen_error error = {""};
    float *list = NULL;
    must(tfgen_device_alloc(p->device, bytes_each, (void **)&list, &error), &error);
    for (size_t i = 0; i < bytes_each / sizeof *list; i++)
        list[i] = (float)((int)((i + 977 * (size_t)seed) * 2654435761u >> 9) % 17 - 8) / 32;
    return list;
}

static int kind_of(const program *p, int layer) { return p->kinds ? p->kinds[layer] : 0; }

static void plan_and_load(program *p, int kind, tfgen_plan_options o, tfgen_plan **plan, tfgen_module **module)
{
    tfgen_error error = {""};
    o.target = "host", o.fusion = TFGEN_FUSION_BLOCK;
    must(tfgen_plan_create(specs[kind], strlen(specs[kind]), "t.yaml", &o, plan, &error), &error);
    must(tfgen_module_create(*plan, p->device, NULL, module, &error), &error);
}

static void load_all(program *p)
{
    tfgen_plan_options of_one = TFGEN_PLAN_OPTIONS_INIT, of_stack = TFGEN_PLAN_OPTIONS_INIT;
    tfgen_error error = {""};
    of_stack.stack = 1, of_stack.kinds = &specs[1], of_stack.kind_count = p->kinds != NULL;
    for (int k = 0; k < 2; k++) plan_and_load(p, k, of_one, &p->plans[k], &p->modules[k]);
    plan_and_load(p, 0, of_stack, &p->stack_plan, &p->stack_module);
    for (int n = 0; n < layers; n++) {
        must(tfgen_weights_create(p->modules[kind_of(p, n)], p->tensors[n], NULL, &p->weights[n], &error), &error);
        must(tfgen_weights_create(p->stack_module, p->tensors[n], NULL, &p->stack_weights[n], &error), &error);
    }
}

static void open_program(program *p, const int *kinds)
{
    tfgen_error error = {""};
    *p = (program){.kinds = kinds};
    must(tfgen_device_open("host", &p->device, &error), &error);
    for (int n = 0; n < layers; n++)
        for (int i = 0; i < tensor_room; i++) p->tensors[n][i] = memory_of(p, n * tensor_room + i);
    load_all(p);
    p->x = tfgen_plan_tensor_index(p->plans[0], "x", TFGEN_INPUT), p->y = tfgen_plan_tensor_index(p->plans[0], "y", TFGEN_OUTPUT);
    p->at = tfgen_plan_tensor_index(p->plans[0], "at", TFGEN_INPUT), p->cache = tfgen_plan_tensor_index(p->plans[0], "c", TFGEN_STATE);
    for (int m = 0; m < most_rows; m++) ((int32_t *)p->tensors[0][p->at])[m] = m;
    for (int n = 1; n < layers; n++) memcpy(p->tensors[n][p->at], p->tensors[0][p->at], most_rows * sizeof(int32_t));
    const tfgen_dim most = {"M", most_rows};
    const int64_t one = tfgen_workspace_bytes(p->plans[0], &most, 1), all = tfgen_workspace_bytes(p->stack_plan, &most, 1);
    must(tfgen_device_alloc(p->device, (size_t)(one > all ? one : all), &p->workspace, &error), &error);
}

static void close_program(program *p)
{
    for (int n = 0; n < layers; n++) {
        tfgen_weights_free(p->weights[n]);
        tfgen_weights_free(p->stack_weights[n]);
        for (int i = 0; i < tensor_room; i++) tfgen_device_free(p->device, p->tensors[n][i]);
    }
    tfgen_device_free(p->device, p->workspace);
    for (int k = 0; k < 2; k++) tfgen_module_free(p->modules[k]), tfgen_plan_free(p->plans[k]);
    tfgen_module_free(p->stack_module);
    tfgen_plan_free(p->stack_plan);
    tfgen_device_close(p->device);
}

/* Layer by layer; the last one's output is left in `y`. */
static void run_apart(program *p, int first, int count, int rows, const void *x, void *y)
{
    const size_t bytes = (size_t)rows * columns * sizeof(float);
    const tfgen_dim dim = {"M", rows};
    tfgen_error error = {""};
    memcpy(p->tensors[first][p->x], x, bytes);
    for (int n = first; n < first + count; n++) {
        tfgen_args args = TFGEN_ARGS_INIT;
        args.tensors = p->tensors[n], args.dims = &dim, args.dim_count = 1;
        if (n > first) memcpy(p->tensors[n][p->x], p->tensors[n - 1][p->y], bytes);
        must(tfgen_execute(p->modules[kind_of(p, n)], p->weights[n], &args, p->workspace, NULL, &error), &error);
    }
    memcpy(y, p->tensors[first + count - 1][p->y], bytes);
}

static tfgen_stack *stack_of(program *p)
{
    tfgen_error error = {""};
    tfgen_stack *s = NULL;
    void *const *tensors[layers];
    for (int n = 0; n < layers; n++) tensors[n] = p->tensors[n];
    const tfgen_weights *const *weights = (const tfgen_weights *const *)p->stack_weights;
    must(tfgen_stack_create_of_kinds(p->stack_module, p->kinds, weights, tensors, layers, &s, &error), &error);
    return s;
}

START_TEST(a_stack_stores_what_its_layers_store_one_by_one)
{
    static const struct {
        int first, count, rows;
    } runs[] = {{0, 4, 5}, {0, 4, 8}, {0, 1, 5}, {1, 2, 3}, {3, 1, 1}, {0, 3, 8}};
    static const int kinds[][layers] = {{0, 1, 1, 0}, {1, 0, 1, 0}, {1, 1, 1, 1}};
    program p;
    open_program(&p, _i ? kinds[_i - 1] : NULL);
    tfgen_stack *s = stack_of(&p);
    void *x = memory_of(&p, 99), *y = memory_of(&p, 98), *wanted = memory_of(&p, 97), *caches[layers];
    memset(p.workspace, 0xff, (size_t)tfgen_workspace_bytes(p.stack_plan, NULL, 0)); /* the marks need no preparation by the host */
    for (size_t r = 0; r < sizeof runs / sizeof *runs; r++) {
        const size_t bytes = (size_t)runs[r].rows * columns * sizeof(float);
        const tfgen_dim dim = {"M", runs[r].rows};
        void *tensors[tensor_room] = {NULL};
        tfgen_error error = {""};
        tfgen_args args = TFGEN_ARGS_INIT;
        for (int n = 0; n < layers; n++) caches[n] = memcpy(malloc(bytes_each), p.tensors[n][p.cache], bytes_each);
        run_apart(&p, runs[r].first, runs[r].count, runs[r].rows, x, wanted);
        for (int n = 0; n < layers; n++) { /* restores the cache; `after` keeps the expected one */
            void *after = memcpy(malloc(bytes_each), p.tensors[n][p.cache], bytes_each);
            memcpy(p.tensors[n][p.cache], caches[n], bytes_each);
            free(caches[n]);
            caches[n] = after;
        }
        tensors[p.x] = x, tensors[p.y] = y, tensors[p.at] = p.tensors[0][p.at];
        args.tensors = tensors, args.dims = &dim, args.dim_count = 1;
        memset(y, 0xff, bytes);
        must(tfgen_stack_execute(s, (size_t)runs[r].first, (size_t)runs[r].count, &args, p.workspace, NULL, &error), &error);
        ck_assert_msg(memcmp(y, wanted, bytes) == 0, "run %zu", r);
        for (int n = 0; n < layers; n++) {
            ck_assert_msg(memcmp(p.tensors[n][p.cache], caches[n], bytes_each) == 0, "run %zu, cache of layer %d", r, n);
            free(caches[n]);
        }
        must(tfgen_execute_check(p.stack_module, &args, p.workspace, NULL, &error), &error);
    }
    void *const mine[] = {x, y, wanted};
    for (int i = 0; i < 3; i++) tfgen_device_free(p.device, mine[i]);
    tfgen_stack_free(s);
    close_program(&p);
}
END_TEST

static void refused(tfgen_status got, tfgen_status status, const tfgen_error *error, const char *text)
{
    ck_assert_int_eq(got, status);
    ck_assert_msg(strstr(error->text, text) != NULL, "%s", error->text);
}

START_TEST(stack_calls_with_wrong_arguments_are_refused)
{
    program p;
    open_program(&p, NULL);
    tfgen_error error = {""};
    tfgen_stack *s = stack_of(&p), *none;
    tfgen_plan *plan;
    const tfgen_weights *const *weights = (const tfgen_weights *const *)p.stack_weights;
    void *const *tensors[layers], *empty[tensor_room] = {NULL};
    tfgen_args args = TFGEN_ARGS_INIT;
    args.tensors = p.tensors[0];
    for (int n = 0; n < layers; n++) tensors[n] = p.tensors[n];
    refused(tfgen_execute(p.stack_module, p.stack_weights[0], &args, p.workspace, NULL, &error), TFGEN_USAGE, &error, "is for stacks");
    refused(tfgen_module_prepare(p.stack_module, NULL, 0, NULL, &error), TFGEN_UNSUPPORTED, &error, "for stacks has no variants");
    refused(tfgen_stack_create(p.modules[0], weights, tensors, layers, &none, &error), TFGEN_USAGE, &error, "is not for stacks");
    ck_assert_ptr_null(none);
    refused(tfgen_stack_create(p.stack_module, weights, tensors, 0, &none, &error), TFGEN_USAGE, &error, "at least one layer");
    refused(tfgen_stack_create(p.stack_module, weights, tensors, 65536, &none, &error), TFGEN_UNSUPPORTED, &error, "has at most");
    refused(tfgen_stack_create(p.stack_module, weights, NULL, layers, &none, &error), TFGEN_USAGE, &error, "c of layer 0 is NULL");
    tensors[2] = empty;
    refused(tfgen_stack_create(p.stack_module, weights, tensors, layers, &none, &error), TFGEN_USAGE, &error, "c of layer 2 is NULL");
    refused(tfgen_stack_create(p.stack_module, NULL, tensors, layers, &none, &error), TFGEN_USAGE, &error,
            "the weights of layer 0 are NULL");
    refused(tfgen_stack_execute(s, 0, 0, &args, p.workspace, NULL, &error), TFGEN_USAGE, &error, "the stack has 4");
    refused(tfgen_stack_execute(s, 1, 4, &args, p.workspace, NULL, &error), TFGEN_USAGE, &error, "4 layers from layer 1");
    refused(tfgen_stack_execute(s, 4, 1, &args, p.workspace, NULL, &error), TFGEN_USAGE, &error, "1 layers from layer 4");
    refused(tfgen_stack_execute(NULL, 0, 1, &args, p.workspace, NULL, &error), TFGEN_USAGE, &error, "the stack has 0");
    refused(tfgen_stack_execute(s, 0, 1, &args, NULL, NULL, &error), TFGEN_USAGE, &error, "workspace is NULL");
    tfgen_plan_options o = TFGEN_PLAN_OPTIONS_INIT;
    o.stack = 1;
    refused(tfgen_plan_create(specs[0], strlen(specs[0]), "t.yaml", &o, &plan, &error), TFGEN_USAGE, &error, "needs options.fusion");
    tfgen_stack_free(s);
    tfgen_stack_free(NULL);
    close_program(&p);
}
END_TEST

START_TEST(wrong_kinds_are_refused)
{
    static const int right[layers] = {0, 1, 0, 1}, wrong[][layers] = {{0, 1, 2, 0}, {0, 0, 0, -1}};
    static const char *const errors[] = {"layer 2 is of kind 2; the plan has kinds 0 to 1", "layer 3 is of kind -1"};
    program p;
    open_program(&p, right);
    tfgen_error error = {""};
    tfgen_stack *none;
    tfgen_plan *plan;
    void *const *tensors[layers];
    const char *many[16];
    const tfgen_weights *const *weights = (const tfgen_weights *const *)p.stack_weights;
    for (int n = 0; n < layers; n++) tensors[n] = p.tensors[n];
    for (int i = 0; i < 2; i++)
        refused(tfgen_stack_create_of_kinds(p.stack_module, wrong[i], weights, tensors, layers, &none, &error), TFGEN_USAGE, &error,
                errors[i]);
    tfgen_plan_options o = TFGEN_PLAN_OPTIONS_INIT;
    o.fusion = TFGEN_FUSION_BLOCK, o.kinds = many, o.kind_count = 1;
    refused(tfgen_plan_create(specs[0], strlen(specs[0]), "t.yaml", &o, &plan, &error), TFGEN_USAGE, &error, "needs options.stack");
    o.stack = 1, many[0] = NULL;
    refused(tfgen_plan_create(specs[0], strlen(specs[0]), "t.yaml", &o, &plan, &error), TFGEN_USAGE, &error, "options.kinds[0] is NULL");
    for (int i = 0; i < 16; i++) many[i] = specs[1];
    o.kind_count = 16;
    refused(tfgen_plan_create(specs[0], strlen(specs[0]), "t.yaml", &o, &plan, &error), TFGEN_UNSUPPORTED, &error, "at most 16");
    o.kind_count = 1, many[0] = SPEC(", softcap: 30");
    refused(tfgen_plan_create(specs[0], strlen(specs[0]), "t.yaml", &o, &plan, &error), TFGEN_UNSUPPORTED, &error,
            "softcap of attention a is not the same in t.yaml of kind 1");
    many[0] = "nonsense";
    refused(tfgen_plan_create(specs[0], strlen(specs[0]), "t.yaml", &o, &plan, &error), TFGEN_BAD_INPUT, &error, "t.yaml of kind 1:1:1");
    close_program(&p);
}
END_TEST

/* A mark counts workgroups in 16 bits, over all layers. */
START_TEST(a_launch_has_as_many_layers_as_marks_can_count)
{
    program p;
    open_program(&p, NULL);
    p.device->info.multiprocessors = 132;
    ck_assert_uint_eq(stack_most_layers(p.stack_module), 65535 / 132);
    tfgen_error error = {""};
    tfgen_stack *none;
    ck_assert_int_eq(stack_check_layers(p.stack_module, 65535 / 132, &error), TFGEN_OK);
    refused(tfgen_stack_create(p.stack_module, NULL, NULL, 65535 / 132 + 1, &none, &error), TFGEN_UNSUPPORTED, &error,
            "a stack of 497 layers; a launch on this device has at most 496");
    close_program(&p);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("stack calls");
    TCase *t = tcase_create("calls");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, a_stack_stores_what_its_layers_store_one_by_one, 0, 4);
    tcase_add_test(t, wrong_kinds_are_refused);
    tcase_add_test(t, stack_calls_with_wrong_arguments_are_refused);
    tcase_add_test(t, a_launch_has_as_many_layers_as_marks_can_count);
    suite_add_tcase(s, t);
    return run_suite(s);
}
