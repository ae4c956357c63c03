/* Workgroups of a launch can wait for each other through counters in the workspace: how tfgen_execute() and tfgen_execute_check() treat
 * these. Plans have marks instead (templates/frame/marks.h), so a plan is given counters by hand. */
#include <check.h>
#include <string.h>
#include "runtime/api/tfgen.h"
#include "runtime/module/module.h"
#include "tests/support.h"

static const char spec[] = "block: ffn\ndtype: f32\ndims: {M: 5, D: 32}\ndynamic: {M: [1, 64]}\ninputs: {x: [M, D]}\nops:\n"
                           "  - {out: y, op: relu, in: [x]}\noutputs: {y: y}\n";

typedef struct host_call {
    tfgen_device *device;
    tfgen_plan *plan;
    tfgen_module *module;
    void *tensors[2];
    unsigned *workspace;
    tfgen_args args;
} host_call;

/* Adds four words of counters, which the plan's only launch gets as its last argument. */
static void add_counters(plan *p)
{
    static scratch words = {.name = "words", .kind = scratch_of_counters};
    static argument all[8];
    launch *l = &p->launches[0];
    ck_assert_int_eq(p->scratch_count, 0);
    ck_assert_int_lt(l->argument_count, 8);
    words.floats = extent_number(4);
    memcpy(all, l->arguments, (size_t)l->argument_count * sizeof *all);
    const unsigned end = (l->argument_bytes + 7) / 8 * 8;
    all[l->argument_count] = (argument){.kind = argument_scratch, .name = "words", .written = true, .offset = end, .size = 8};
    l->arguments = all, l->argument_count++, l->argument_bytes = end + 8;
    p->scratches = &words, p->scratch_count = 1;
}

static void open_call(host_call *c, bool counters)
{
    *c = (host_call){0};
    tfgen_plan_options o = TFGEN_PLAN_OPTIONS_INIT;
    tfgen_error error = {""};
    o.target = "host";
    ck_assert_msg(tfgen_plan_create(spec, sizeof spec - 1, "ffn.yaml", &o, &c->plan, &error) == TFGEN_OK, "%s", error.text);
    if (counters) add_counters(c->plan->compiled.plan);
    ck_assert_int_eq(tfgen_device_open("host", &c->device, &error), TFGEN_OK);
    ck_assert_msg(tfgen_module_create(c->plan, c->device, NULL, &c->module, &error) == TFGEN_OK, "%s", error.text);
    void **memory[] = {&c->tensors[0], &c->tensors[1], (void **)&c->workspace};
    for (int i = 0; i < 3; i++) ck_assert_int_eq(tfgen_device_alloc(c->device, 64 * 32 * 4, memory[i], &error), TFGEN_OK);
    memset(c->tensors[0], 0, 64 * 32 * 4);
    c->args = (tfgen_args)TFGEN_ARGS_INIT;
    c->args.tensors = c->tensors;
}

static void close_call(host_call *c)
{
    tfgen_module_free(c->module);
    for (int i = 0; i < 2; i++) tfgen_device_free(c->device, c->tensors[i]);
    tfgen_device_free(c->device, c->workspace);
    tfgen_device_close(c->device);
    tfgen_plan_free(c->plan);
}

START_TEST(a_wait_that_took_too_long_is_named_until_the_next_call_clears_it)
{
    host_call c;
    tfgen_error error = {""};
    open_call(&c, true);
    memset(c.workspace, 0xff, 16);
    ck_assert_msg(tfgen_execute(c.module, NULL, &c.args, c.workspace, NULL, &error) == TFGEN_OK, "%s", error.text);
    for (int i = 0; i < 4; i++) ck_assert_uint_eq(c.workspace[i], 0);
    ck_assert_int_eq(tfgen_execute_check(c.module, &c.args, c.workspace, NULL, &error), TFGEN_OK);
    c.workspace[1] = 1u << 31 | 5; /* as templates/frame/workspace.h reports a wait that took too long: phase 0, counter 5 */
    ck_assert_int_eq(tfgen_execute_check(c.module, &c.args, c.workspace, NULL, &error), TFGEN_DEVICE_ERROR);
    ck_assert_str_eq(error.text, "ffn_y: phase 0 y waited too long for counter 5: its results are wrong");
    c.workspace[1] = 1u << 31 | 3u << 24 | 7; /* a phase that the launch does not have */
    ck_assert_int_eq(tfgen_execute_check(c.module, &c.args, c.workspace, NULL, &error), TFGEN_DEVICE_ERROR);
    ck_assert_str_eq(error.text, "ffn_y: phase 3 waited too long for counter 7: its results are wrong");
    ck_assert_int_eq(tfgen_execute(c.module, NULL, &c.args, c.workspace, NULL, &error), TFGEN_OK);
    ck_assert_int_eq(tfgen_execute_check(c.module, &c.args, c.workspace, NULL, &error), TFGEN_OK);
    close_call(&c);
}
END_TEST

START_TEST(a_check_takes_the_arguments_of_the_call)
{
    host_call c;
    tfgen_error error = {""};
    open_call(&c, true);
    const tfgen_dim more = {"M", 65}, fewer = {"M", 3};
    memset(c.workspace, 0, 16);
    ck_assert_int_eq(tfgen_execute_check(NULL, &c.args, c.workspace, NULL, &error), TFGEN_USAGE);
    ck_assert_int_eq(tfgen_execute_check(c.module, NULL, c.workspace, NULL, &error), TFGEN_USAGE);
    ck_assert_int_eq(tfgen_execute_check(c.module, &c.args, NULL, NULL, &error), TFGEN_USAGE);
    ck_assert_ptr_nonnull(strstr(error.text, "workspace is NULL"));
    c.args.dims = &more, c.args.dim_count = 1;
    ck_assert_int_eq(tfgen_execute_check(c.module, &c.args, c.workspace, NULL, &error), TFGEN_USAGE);
    c.args.dims = &fewer;
    ck_assert_int_eq(tfgen_execute_check(c.module, &c.args, c.workspace, NULL, &error), TFGEN_OK);
    c.workspace[1] = 1u << 31;
    ck_assert_int_eq(tfgen_execute_check(c.module, &c.args, c.workspace, NULL, &error), TFGEN_DEVICE_ERROR);
    close_call(&c);
}
END_TEST

/* No plan has counters. */
START_TEST(a_call_without_counters_succeeds)
{
    host_call c;
    tfgen_error error = {""};
    open_call(&c, false);
    ck_assert_int_eq(tfgen_execute(c.module, NULL, &c.args, NULL, NULL, &error), TFGEN_OK);
    ck_assert_int_eq(tfgen_execute_check(c.module, &c.args, NULL, NULL, &error), TFGEN_OK);
    close_call(&c);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("counters");
    TCase *t = tcase_create("counters");
    tcase_add_test(t, a_wait_that_took_too_long_is_named_until_the_next_call_clears_it);
    tcase_add_test(t, a_check_takes_the_arguments_of_the_call);
    tcase_add_test(t, a_call_without_counters_succeeds);
    suite_add_tcase(s, t);
    return run_suite(s);
}
