/* Stacks: several layers in a launch (gen/plan/stack.h, templates/frame/frame_stack.h): what is planned, that the proof of its waits finds
 * what is missing between layers, and blocks that cannot be stacked. */
#include "gen/plan/block.h"
#include "gen/plan/order.h"
#include "tests/support.h"
#include <stdio.h>
#include <string.h>

#define HEAD(inputs) "block: t\ndtype: bf16\ndims: {B: 3, D: 96}\ndynamic: {B: [1, 8]}\ninputs: {" inputs "}\nparams: {n: [D], w: [D, D]}\n"
#define OPS \
    "ops:\n  - {out: h, op: rmsnorm, in: [x, n]}\n  - {out: p, op: linear, in: [h, w]}\n" \
    "  - {out: s, op: layernorm, in: [p, n, n]}\n  - {out: r, op: add, in: [x, s]}\n"
static const char layer_yaml[] = HEAD("x: [B, D]") OPS "outputs: {y: r}\n";

static tfgen_code plan_stack(arena *a, const char *yaml, const char *target, compiled *c)
{
    const compile_request request = {.name = "t", .text = yaml, .size = strlen(yaml), .target = target, .level = fusion_block,
                                     .stacked = true};
    return compile(a, &request, c);
}

static const char *const targets[] = {"host", "sm_80", "sm_90a", "gfx90a", "gfx1100"};
enum { target_count = sizeof targets / sizeof *targets };

START_TEST(a_stack_is_one_launch_that_takes_pointers_from_a_table)
{
    arena *a = arena_new();
    compiled c, again;
    ck_assert_msg(plan_stack(a, layer_yaml, targets[_i], &c) == code_ok, "%s", arena_diagnostics(a));
    const plan *p = c.plan;
    const launch *l = p->launches;
    ck_assert(p->launch_count == 1 && l->together && l->row_length > 0);
    ck_assert_str_eq(p->stack.in->name, "x");
    ck_assert_str_eq(p->stack.out->output, "y");
    int table = 0, layers = 0, of_layers = 0;
    for (int i = 0; i < l->argument_count; i++) {
        const argument *g = &l->arguments[i];
        table += g->kind == argument_table, layers += g->kind == argument_layers, of_layers += g->by_layer;
        ck_assert(!g->by_layer || (g->place >= 0 && g->place < l->row_length));
        if (g->kind == argument_packed || (g->kind == argument_value && g->value->kind == value_param)) ck_assert(g->by_layer);
    }
    ck_assert(table == 1 && layers == 1 && of_layers >= l->row_length);
    const char *text = ir_print(a, p->ir);
    ck_assert(strstr(text, "level block\nstacked\n") && strstr(text, "kernel k0 frame=stack {"));
    const compile_request request = {.name = "t.ir", .text = text, .size = strlen(text), .from_ir = true, .from = stage_plan,
                                     .target = targets[_i]};
    ck_assert_msg(compile(a, &request, &again) == code_ok, "%s", arena_diagnostics(a));
    ck_assert_str_eq(ir_print(a, again.plan->ir), text);
    ck_assert_str_eq(again.plan->launches->source.body, l->source.body);
    ck_assert(strstr(manifest_json(a, p), "\"kind\": \"table\"") && strstr(manifest_json(a, p), "\"place\": 0"));
    arena_free(a);
}
END_TEST

START_TEST(a_frame_that_is_not_the_kernel_s_is_refused)
{
    static const char *const wrong[] = {"frame=list", "frame=mixed"};
    arena *a = arena_new();
    compiled c;
    ck_assert_int_eq(plan_stack(a, layer_yaml, "sm_90a", &c), code_ok);
    const char *text = ir_print(a, c.plan->ir), *at = strstr(text, "frame=stack");
    const char *other = arena_printf(a, "%.*s%s%s", (int)(at - text), text, wrong[_i], at + strlen("frame=stack"));
    const compile_request request = {.name = "t.ir", .text = other, .size = strlen(other), .from_ir = true, .from = stage_plan,
                                     .target = "sm_90a"};
    ck_assert_int_eq(compile(a, &request, &c), code_bad_input);
    arena_free(a);
}
END_TEST

/* Where the ring was measured to be faster than register_fed: few rows, heads that leave attention registers, an H200. */
START_TEST(a_stack_of_few_rows_streams_its_weights_through_a_ring)
{
    static const struct {
        long long rows, head;
        const char *device, *line;
        bool streams;
    } cases[] = {{1, 64, "h200", NULL, true},  {4, 128, "h200", NULL, true},  {5, 64, "h200", NULL, false},
                 {1, 256, "h200", NULL, false}, {1, 64, "h100", NULL, false}, {1, 64, "h200", "o: layer=register_fed", false}};
    const dim_override dims[] = {{"B", cases[_i].rows}, {"L", 300}, {"D", 1024}, {"H", 8}, {"KV", 2}, {"hd", cases[_i].head}, {"F", 3000}};
    const tuning t = {.lines = &cases[_i].line, .count = cases[_i].line != NULL};
    static char text[8192];
    FILE *f = fopen("specs/llama-decode.yaml", "r");
    ck_assert_ptr_nonnull(f);
    const size_t size = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    arena *a = arena_new();
    compiled c;
    const compile_request request = {.name = "t", .text = text, .size = size, .target = "sm_90a", .device_model = cases[_i].device,
                                     .level = fusion_block, .stacked = true, .tuning = &t,
                                     .graph = {.overrides = dims, .override_count = sizeof dims / sizeof *dims, .dtype = "bf16"}};
    ck_assert_msg(compile(a, &request, &c) == code_ok, "%s", arena_diagnostics(a));
    const launch *l = c.plan->launches;
    for (int i = 0; i < l->work_count; i++)
        if (l->work[i].phase->family == family_gemm)
            ck_assert_int_eq(l->work[i].tile->program, cases[_i].streams ? program_gemm_ring : program_gemm_register_fed);
    ck_assert_int_eq(l->ring_pages > 0, cases[_i].streams);
    arena_free(a);
}
END_TEST

/* ---- the proof */
/* Two phases that read the input wait for the layer before, each for itself. */
static const char branches_yaml[] =
    HEAD("x: [B, D]") "ops:\n  - {out: s, op: softmax, in: [x]}\n  - {out: p, op: linear, in: [x, w]}\n"
                      "  - {out: q, op: softmax, in: [p]}\n  - {out: r, op: linear, in: [s, w]}\n  - {out: t, op: add, in: [r, q]}\n"
                      "  - {out: u, op: layernorm, in: [t, n, n]}\noutputs: {y: u}\n";

START_TEST(a_wait_between_layers_that_is_dropped_is_found)
{
    arena *a = arena_new();
    compiled c;
    ck_assert_int_eq(plan_stack(a, _i ? branches_yaml : layer_yaml, "sm_90a", &c), code_ok);
    launch *l = c.plan->launches;
    int waits = 0;
    ck_assert_ptr_null(order_fault(a, c.plan->ir, l));
    for (int i = 0; i < l->work_count; i++)
        for (int n = 0; n < l->work[i].await_before_count; n++, waits++) {
            const launch_phase was = l->work[i];
            int *fewer = arena_alloc(a, (size_t)was.await_before_count * sizeof *fewer);
            for (int k = 0, at = 0; k < was.await_before_count; k++)
                if (k != n) fewer[at++] = was.awaits_before[k];
            l->work[i].awaits_before = fewer, l->work[i].await_before_count--;
            const char *fault = order_fault(a, c.plan->ir, l);
            ck_assert_msg(fault && strstr(fault, "of the layer before"), "phase %d without its wait %d: %s", i, n, fault);
            l->work[i] = was;
        }
    ck_assert_int_ge(waits, 1 + _i);
    const int early[] = {0}, none[] = {l->work_count};
    launch_phase *first = l->work;
    first->awaits_before = early;
    ck_assert_ptr_nonnull(strstr(order_fault(a, c.plan->ir, l), "of the layer before"));
    first->awaits_before = none;
    ck_assert_ptr_nonnull(strstr(order_fault(a, c.plan->ir, l), "does not have"));
    arena_free(a);
}
END_TEST

/* ---- refusals */
static const struct {
    const char *yaml, *error;
} refusals[] = {
    {HEAD("x: [B, D]") OPS "outputs: {y: r, z: p}\n", "the block has outputs"},
    {HEAD("x: [B, D], z: [B, D]") OPS "  - {out: t, op: add, in: [r, z]}\noutputs: {y: t}\n", "inputs x and z both have the shape"},
    {HEAD("x: [B, D]") OPS "  - {out: t, op: cast, in: [r], to: f32}\noutputs: {y: t}\n", "no input has the shape and dtype of output y"},
    {HEAD("x: {shape: [B, D], stride: 128}") OPS "outputs: {y: r}\n", "x has strided rows"},
    {"block: t\ndtype: f32\ndims: {M: 5, D: 8}\ninputs: {x: [M, D]}\nops:\n  - {out: r, op: silu, in: [x]}\noutputs: {y: r}\n",
     "the block is a single phase"},
    {"block: t\ndtype: f32\ndims: {M: 5, D: 8}\ndynamic: {M: [1, 9]}\ninputs: {x: [M, D]}\nparams: {w: [D, D], b: [M, D]}\nops:\n"
     "  - {out: p, op: linear, in: [x, w]}\n  - {out: s, op: softmax, in: [p]}\n  - {out: r, op: add, in: [s, b]}\noutputs: {y: r}\n",
     "param b has a dynamic size"}};

START_TEST(a_block_whose_output_is_not_the_next_one_s_input_is_refused)
{
    arena *a = arena_new();
    compiled c;
    const tfgen_code code = plan_stack(a, refusals[_i].yaml, "sm_90a", &c);
    ck_assert_int_eq(code, code_unsupported);
    ck_assert_msg(strstr(arena_diagnostics(a), "a stack of layers: ") && strstr(arena_diagnostics(a), refusals[_i].error), "%s",
                  arena_diagnostics(a));
    arena_free(a);
}
END_TEST

START_TEST(stacks_need_level_block)
{
    arena *a = arena_new();
    compiled c;
    const char text[] = "ir 1 t\ntype f32\nlevel tile\nstacked\n";
    const compile_request request = {.name = "t.ir", .text = text, .size = sizeof text - 1, .from_ir = true, .from = stage_fuse,
                                     .target = "host"};
    ck_assert_int_eq(compile(a, &request, &c), code_bad_input);
    ck_assert_msg(strstr(arena_diagnostics(a), "t.ir:4:"), "%s", arena_diagnostics(a));
    arena_free(a);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("stack");
    TCase *plans = tcase_create("plans");
    tcase_add_loop_test(plans, a_stack_of_few_rows_streams_its_weights_through_a_ring, 0, 6);
    tcase_add_loop_test(plans, a_stack_is_one_launch_that_takes_pointers_from_a_table, 0, target_count);
    tcase_add_loop_test(plans, a_frame_that_is_not_the_kernel_s_is_refused, 0, 2);
    tcase_add_loop_test(plans, a_wait_between_layers_that_is_dropped_is_found, 0, 2);
    tcase_add_loop_test(plans, a_block_whose_output_is_not_the_next_one_s_input_is_refused, 0, sizeof refusals / sizeof *refusals);
    tcase_add_test(plans, stacks_need_level_block);
    suite_add_tcase(s, plans);
    return run_suite(s);
}
