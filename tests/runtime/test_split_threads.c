/* Split-K parts that wait for each other, on a host engine with fewer workers than the launch has workgroups: all of them must finish. A
 * GPU holds all at once; here one thread may have to run them all, while another launch of the engine has the pool. The case's time limit
 * ends a deadlock. */
#define _GNU_SOURCE
#include "runtime/device/device.h"
#include <check.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Three tiles in two parts each are six items for two workgroups. The first workgroup has the first part of tiles 0 and 2, and the second
 * part of tile 1, whose first part the other workgroup has: run one after the other, they would wait for ever. */
static const char product[] = "block: parts\n"
                              "dtype: bf16\n"
                              "dims: {M: 384, N: 64, K: 128}\n"
                              "inputs: {x: [M, K]}\n"
                              "params: {w: [N, K]}\n"
                              "ops:\n"
                              "  - {out: y, op: linear, in: [x, w]}\n"
                              "outputs: {y: y}\n";
enum { rows = 384, columns = 64, length = 128, tensors = 3 };

static void must(tfgen_status status, const tfgen_error *error) { ck_assert_msg(status == TFGEN_OK, "%d: %s", status, error->text); }

static tfgen_device *host_of(unsigned workers)
{
    tfgen_device *device;
    tfgen_error error;
    const host_device_options options = {.target = target_find("sm_90a"), .workers = workers, .multiprocessors = 2};
    must(host_device_open(&options, &device, &error), &error);
    return device;
}

static tfgen_plan *plan_in_parts(void)
{
    static const char *const tile = "gemm: layer=wgmma m=128 n=64 split_k=2 own_tiles=0";
    tfgen_plan_options o = TFGEN_PLAN_OPTIONS_INIT;
    tfgen_plan *plan;
    tfgen_error error;
    o.target = "sm_90a", o.tiles = &tile, o.tile_count = 1;
    must(tfgen_plan_create(product, sizeof product - 1, "parts.yaml", &o, &plan, &error), &error);
    ck_assert_ptr_nonnull(strstr(tfgen_plan_text(plan), " split_k=2 "));
    return plan;
}

/* What one thread uses: a module and weights, which may be shared, and memory of its own. */
typedef struct caller {
    tfgen_device *device;
    tfgen_plan *plan;
    tfgen_module *module;
    tfgen_weights *weights;
    void *tensor[tensors], *workspace;
    int rounds, right;
} caller;

static unsigned short *y_of(const caller *c) { return c->tensor[tfgen_plan_tensor_index(c->plan, "y", TFGEN_OUTPUT)]; }

/* x and w are 1 everywhere: every result is the length K, which bf16 holds exactly. */
static void take_memory(caller *c)
{
    tfgen_error error;
    for (size_t i = 0; i < tensors; i++) {
        tfgen_tensor t = {.size = sizeof t};
        ck_assert_int_eq(tfgen_plan_tensor(c->plan, i, &t), TFGEN_OK);
        must(tfgen_device_alloc(c->device, (size_t)t.bytes, &c->tensor[i], &error), &error);
        for (int64_t k = 0; k < t.bytes / 2; k++) ((unsigned short *)c->tensor[i])[k] = 0x3f80;
    }
    must(tfgen_device_alloc(c->device, (size_t)tfgen_plan_workspace_bytes(c->plan), &c->workspace, &error), &error);
    memset(c->workspace, 0, (size_t)tfgen_plan_workspace_bytes(c->plan));
}

static void make_module(caller *c)
{
    tfgen_error error;
    must(tfgen_module_create(c->plan, c->device, NULL, &c->module, &error), &error);
    must(tfgen_weights_create(c->module, c->tensor, NULL, &c->weights, &error), &error);
}

static void *call_often(void *argument)
{
    caller *c = argument;
    for (int i = 0; i < c->rounds; i++) {
        tfgen_args args = TFGEN_ARGS_INIT;
        tfgen_error error;
        args.tensors = c->tensor;
        memset(y_of(c), 0xff, rows * columns * 2);
        bool good = tfgen_execute(c->module, c->weights, &args, c->workspace, NULL, &error) == TFGEN_OK;
        for (int k = 0; k < rows * columns; k++) good = good && y_of(c)[k] == 0x4300; /* 128 */
        c->right += good;
    }
    return NULL;
}

static void drop_memory(caller *c)
{
    for (int i = 0; i < tensors; i++) tfgen_device_free(c->device, c->tensor[i]);
    tfgen_device_free(c->device, c->workspace);
}

START_TEST(one_worker_runs_workgroups_that_wait_for_each_other)
{
    caller c = {.device = host_of(1), .plan = plan_in_parts(), .rounds = 2};
    take_memory(&c);
    make_module(&c);
    call_often(&c);
    ck_assert_int_eq(c.right, 2);
    drop_memory(&c);
    tfgen_weights_free(c.weights);
    tfgen_module_free(c.module);
    tfgen_plan_free(c.plan);
    tfgen_device_close(c.device);
}
END_TEST

/* Both threads use one module; then each has its own. */
START_TEST(two_threads_run_parts_on_one_engine)
{
    enum { rounds = 6 };
    caller c[2] = {{.device = host_of(2), .plan = plan_in_parts(), .rounds = rounds}};
    c[1] = c[0];
    pthread_t thread[2];
    for (int i = 0; i < 2; i++) {
        take_memory(&c[i]);
        if (i == 0 || _i == 1) make_module(&c[i]);
        else c[i].module = c[0].module, c[i].weights = c[0].weights;
    }
    for (int i = 0; i < 2; i++) ck_assert_int_eq(pthread_create(&thread[i], NULL, call_often, &c[i]), 0);
    for (int i = 0; i < 2; i++) pthread_join(thread[i], NULL);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(c[i].right, rounds);
        drop_memory(&c[i]);
        if (i == 1 && _i == 0) continue;
        tfgen_weights_free(c[i].weights);
        tfgen_module_free(c[i].module);
    }
    tfgen_plan_free(c[0].plan);
    tfgen_device_close(c[0].device);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("split_threads");
    TCase *t = tcase_create("parts");
    tcase_set_timeout(t, 20);
    tcase_add_test(t, one_worker_runs_workgroups_that_wait_for_each_other);
    tcase_add_loop_test(t, two_threads_run_parts_on_one_engine, 0, 2);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    const int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
