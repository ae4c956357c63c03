/* Calls of a plan at level block, one launch whose workgroups wait for each other: its grid is no larger than what the device holds; calls
 * at once, each with a workspace of its own, and calls whose dims change do not disturb each other. */
#include <check.h>
#include <pthread.h>
#include <string.h>
#include "runtime/api/tfgen.h"
#include "runtime/module/module.h"
#include "tests/shell.h"
#include "tests/support.h"

enum { most_rows = 300, columns = 32, callers = 2, rounds = 12 };

static const char spec[] = "block: t\ndtype: f32\ndims: {M: 5, D: 32}\ndynamic: {M: [1, 300]}\ninputs: {x: [M, D]}\nops:\n"
                           "  - {out: h, op: rmsnorm, in: [x, g]}\n  - {out: p, op: linear, in: [h, w]}\n"
                           "  - {out: y, op: layernorm, in: [p, g, g]}\nparams: {g: [D], w: [D, D]}\noutputs: {y: y}\n";

typedef struct program {
    tfgen_device *device;
    tfgen_plan *plan;
    tfgen_module *module;
    tfgen_weights *weights;
} program;

static void must(tfgen_status status, const tfgen_error *error) { ck_assert_msg(status == TFGEN_OK, "%s", error->text); }

static float element(size_t i) { return (float)((int)(i * 2654435761u >> 7) % 17 - 8) / 4; }

static void *memory_of(const program *p, size_t floats)
{
    tfgen_error error = {""};
    float *at = NULL;
    must(tfgen_device_alloc(p->device, floats * sizeof *at, (void **)&at, &error), &error);
    for (size_t i = 0; i < floats; i++) at[i] = element(i);
    return at;
}

static program open_program(void)
{
    program p = {0};
    tfgen_error error = {""};
    tfgen_plan_options o = TFGEN_PLAN_OPTIONS_INIT;
    o.target = "host", o.fusion = TFGEN_FUSION_BLOCK;
    must(tfgen_plan_create(spec, sizeof spec - 1, "t.yaml", &o, &p.plan, &error), &error);
    must(tfgen_device_open("host", &p.device, &error), &error);
    must(tfgen_module_create(p.plan, p.device, NULL, &p.module, &error), &error);
    void *tensors[8] = {NULL};
    for (size_t i = 0; i < tfgen_plan_tensor_count(p.plan); i++) tensors[i] = memory_of(&p, most_rows * columns);
    must(tfgen_weights_create(p.module, tensors, NULL, &p.weights, &error), &error);
    for (int i = 0; i < 8; i++) tfgen_device_free(p.device, tensors[i]);
    return p;
}

static void close_program(program *p)
{
    tfgen_weights_free(p->weights);
    tfgen_module_free(p->module);
    tfgen_device_close(p->device);
    tfgen_plan_free(p->plan);
}

/* ---- a caller with memory of its own */
typedef struct caller {
    const program *p;
    void *tensors[8], *workspace;
    float *y, wanted[most_rows * columns];
    int different;
    tfgen_status status;
} caller;

static void open_caller(caller *c, const program *p)
{
    tfgen_error error = {""};
    const tfgen_dim most = {"M", most_rows};
    *c = (caller){.p = p};
    for (size_t i = 0; i < tfgen_plan_tensor_count(p->plan); i++) {
        tfgen_tensor t = {.size = sizeof t};
        ck_assert_int_eq(tfgen_plan_tensor(p->plan, i, &t), TFGEN_OK);
        c->tensors[i] = memory_of(p, most_rows * columns);
        if (strcmp(t.name, "y") == 0) c->y = c->tensors[i];
    }
    ck_assert_ptr_nonnull(c->y);
    must(tfgen_device_alloc(p->device, (size_t)tfgen_workspace_bytes(p->plan, &most, 1), &c->workspace, &error), &error);
}

static void close_caller(caller *c)
{
    for (int i = 0; i < 8; i++) tfgen_device_free(c->p->device, c->tensors[i]);
    tfgen_device_free(c->p->device, c->workspace);
}

static tfgen_status execute(caller *c, int rows)
{
    const tfgen_dim dim = {"M", rows};
    tfgen_error error = {""};
    tfgen_args args = TFGEN_ARGS_INIT;
    args.tensors = c->tensors, args.dims = &dim, args.dim_count = 1;
    return tfgen_execute(c->p->module, c->p->weights, &args, c->workspace, NULL, &error);
}

static void *repeat(void *argument)
{
    caller *c = argument;
    for (int i = 0; i < rounds && c->status == TFGEN_OK; i++) {
        const int rows = i % 3 == 0 ? most_rows : i % 3 == 1 ? 1 : 77; /* the position of the marks depends on the rows */
        memset(c->y, 0, sizeof c->wanted);
        c->status = execute(c, rows);
        c->different += memcmp(c->y, c->wanted, (size_t)rows * columns * sizeof *c->y) != 0;
    }
    return NULL;
}

START_TEST(concurrent_calls_with_different_dims_are_right)
{
    program p = open_program();
    caller all[callers];
    pthread_t threads[callers];
    for (int i = 0; i < callers; i++) {
        open_caller(&all[i], &p);
        ck_assert_int_eq(execute(&all[i], most_rows), TFGEN_OK);
        memcpy(all[i].wanted, all[i].y, sizeof all[i].wanted);
        ck_assert(all[i].wanted[0] != 0 && memcmp(all[i].wanted, all[0].wanted, sizeof all[i].wanted) == 0);
    }
    for (int i = 0; i < callers; i++) ck_assert_int_eq(pthread_create(&threads[i], NULL, repeat, &all[i]), 0);
    for (int i = 0; i < callers; i++) {
        pthread_join(threads[i], NULL);
        ck_assert_int_eq(all[i].status, TFGEN_OK);
        ck_assert_int_eq(all[i].different, 0);
        close_caller(&all[i]);
    }
    close_program(&p);
}
END_TEST

/* The workspace may hold anything, such as marks of a call with other dims. A word that looks like a mark that was reset is taken for one.
 * */
START_TEST(a_mark_left_by_another_memory_layout_is_no_timeout)
{
    static const unsigned long long mark = 0x4e0793f8c26bull; /* marks::none: the value of a mark after its launch */
    program p = open_program();
    caller c;
    open_caller(&c, &p);
    const tfgen_dim rows = {"M", 77};
    for (size_t i = 0; i < (size_t)tfgen_workspace_bytes(p.plan, &rows, 1) / sizeof mark; i++)
        memcpy((char *)c.workspace + i * sizeof mark, &mark, sizeof mark);
    ck_assert_int_eq(execute(&c, 77), TFGEN_OK);
    close_caller(&c);
    close_program(&p);
}
END_TEST

START_TEST(the_grid_is_no_larger_than_what_the_device_holds)
{
    program p = open_program();
    const module_kernel *u = &p.module->kernels[p.module->pack_count];
    dim_table dims = p.module->plan->ir->dims;
    dim_find(&dims, "M")->value = most_rows;
    ck_assert(u->launch->together);
    ck_assert_uint_eq(u->most_resident, (1 << 16) / u->shape.threads);
    module_kernel few = *u;
    p.device->info.multiprocessors = 1000;
    ck_assert_uint_gt(module_grid(p.module, &few, &dims), 3);
    few.most_resident = 3;
    ck_assert_uint_eq(module_grid(p.module, &few, &dims), 3);
    close_program(&p);
}
END_TEST

START_TEST(delays_can_be_inserted_at_their_places_in_the_templates)
{
    ck_assert_msg(shell("exec 2>&1; d=$(mktemp -d) && cp -r --parents templates/frame templates/isa $d && python3 tests/h200/delays.py $d "
                        "--impatient && grep -c 'delay([1-6])' $d/templates/frame/frame_list.h && "
                        "grep -c 'patience = 1;' $d/templates/frame/census.h; rm -r $d") == 0, "%s", output);
    ck_assert_str_eq(output, "7\n1\n");
}
END_TEST

int main(void)
{
    Suite *s = suite_create("block calls");
    TCase *t = tcase_create("calls");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, concurrent_calls_with_different_dims_are_right);
    tcase_add_test(t, a_mark_left_by_another_memory_layout_is_no_timeout);
    tcase_add_test(t, the_grid_is_no_larger_than_what_the_device_holds);
    tcase_add_test(t, delays_can_be_inserted_at_their_places_in_the_templates);
    suite_add_tcase(s, t);
    return run_suite(s);
}
