/* Left operands of products on sm_90a whose rows are not a multiple of 16 bytes: which kernel copies them to aligned rows, that it does so
 * once, and that results are right. */
#define _GNU_SOURCE
#include "gen/emit/emit.h"
#include "tests/support.h"
#include "ir/graph/half.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PRODUCT(type, M, N, K)                                                                                                      \
    "block: t\ndtype: " type "\ndims: {M: " M ", K: " K ", N: " N "}\ndynamic: {M: [1, 4096]}\ninputs: {x: [M, K]}\n"                \
    "params: {w: [N, K]}\nops:\n  - {out: y, op: linear, in: [x, w]}\noutputs: {y: y}\n"

static rig *planned(const char *yaml, fusion_level level)
{
    return rig_plan(&(rig_request){.yaml = yaml, .level = level, .target = "sm_90a"});
}

static const ir_op *copy_of(const plan *p, const char *name)
{
    for (int i = 0; i < p->ir->op_count; i++)
        if (p->ir->ops[i]->kind == op_align && strcmp(p->ir->ops[i]->inputs[0]->name, name) == 0) return p->ir->ops[i];
    return NULL;
}

static int copies_in(const plan *p)
{
    int n = 0;
    for (int i = 0; i < p->ir->op_count; i++) n += p->ir->ops[i]->kind == op_align;
    return n;
}

static const argument *argument_of(const launch *l, const char *name)
{
    for (int i = 0; i < l->argument_count; i++)
        if (strcmp(l->arguments[i].name, name) == 0) return &l->arguments[i];
    return NULL;
}

static const launch *launch_of(const plan *p, const char *name)
{
    for (int i = 0; i < p->launch_count; i++)
        if (strcmp(p->launches[i].kernel->name, name) == 0) return &p->launches[i];
    ck_abort_msg("no kernel %s", name);
}

START_TEST(odd_rows_are_copied_by_their_own_kernel_to_aligned_rows_for_tensor_loads)
{
    rig *r = planned(PRODUCT("bf16", "100", "70", "67"), fusion_tile);
    const plan *p = r->c.plan;
    ck_assert_int_eq(p->launch_count, 2);
    const launch *copy = &p->launches[0], *product = &p->launches[1];
    ck_assert_str_eq(copy->name, "t_x_rows");
    ck_assert(argument_of(copy, "x_") && !argument_of(copy, "x_")->written);
    ck_assert(argument_of(copy, "x_rows_") && argument_of(copy, "x_rows_")->written);
    dim_table dims = p->ir->dims;
    dim_find(&dims, "M")->value = 1000;
    ck_assert_int_eq(launch_grid(copy, &dims), (1000 * 9 + 1023) / 1024); /* 9 pieces of 16 bytes hold 67 elements */
    ck_assert_int_eq(workspace_layout(p, &dims, NULL), (1000 * 144 + 255) / 256 * 256);
    const argument *map = argument_of(product, "a_map");
    ck_assert_ptr_nonnull(map);
    ck_assert_str_eq(map->box->value->name, "x.rows");
    ck_assert_int_eq(extent_value(&map->box->stride, &dims), 144);
    ck_assert_int_eq(map->box->columns, 67); /* beyond them a tensor load gives zeros */
    ck_assert_ptr_nonnull(strstr(manifest_json(r->a, p), "\"family\": \"align\""));
    ck_assert_ptr_nonnull(strstr(manifest_json(r->a, p), "\"stride\": 72"));
    rig_close(r);
}
END_TEST

START_TEST(products_of_one_input_share_its_copy_and_others_read_the_input)
{
    rig *r = rig_plan(&(rig_request){.path = "tests/specs/odd-rows.yaml", .level = fusion_none, .target = "sm_90a"});
    const plan *p = r->c.plan;
    ck_assert_int_eq(copies_in(p), 1); /* the copy of flat, which is x as a matrix; t and b read it in x's shape */
    const ir_value *copy = copy_of(p, "flat")->outputs[0];
    int readers[2] = {0, 0};
    for (int i = 0; i < p->ir->op_count; i++) {
        const ir_op *op = p->ir->ops[i];
        if (op->kind == op_linear) readers[0] += op->inputs[0] == copy, readers[1] += op->inputs[0]->root == copy;
    }
    ck_assert(readers[0] == 1 && readers[1] == 2);
    rig *other =
        planned("block: t\ndtype: bf16\ndims: {B: 2, S: 30, K: 67, N: 64}\ninputs: {x: [B, S, K]}\nparams: {w: [N, K], v: [N, K]}\n"
                "ops:\n  - {out: y, op: linear, in: [x, w]}\n  - {out: f, op: reshape, in: [x], shape: [B*S, K]}\n"
                "  - {out: z, op: linear, in: [f, v]}\noutputs: {y: y, z: z}\n",
                fusion_none);
    ck_assert_int_eq(copies_in(other->c.plan), 1);
    ck_assert_ptr_null(graph_value(other->c.plan->ir, "f")); /* nobody reads that view any more */
    ck_assert_ptr_eq(graph_value(other->c.plan->ir, "f.rows")->root, graph_value(other->c.plan->ir, "x.rows"));
    rig_close(other);
    ck_assert_str_eq(launch_of(p, "k2")->work->phase->ops[0]->inputs[0]->name, "x"); /* add x, t */
    ck_assert(argument_of(launch_of(p, "k2"), "x_") && !argument_of(launch_of(p, "k2"), "x_rows_"));
    rig_close(r);
}
END_TEST

START_TEST(views_and_outputs_with_odd_rows_are_copied_too)
{
    rig *r = rig_plan(&(rig_request){.path = "tests/specs/odd-rows.yaml", .level = fusion_tile, .target = "sm_90a"});
    static const char *const copied[] = {"flat", "h", "rest"};
    for (size_t i = 0; i < sizeof copied / sizeof *copied; i++) ck_assert_msg(copy_of(r->c.plan, copied[i]) != NULL, "%s", copied[i]);
    ck_assert_int_eq(copies_in(r->c.plan), 3);
    rig_close(r);
}
END_TEST

START_TEST(tensors_inside_a_plan_get_padded_rows_without_a_copy)
{
    rig *r = rig_plan(&(rig_request){.path = "tests/specs/odd-rows.yaml", .level = fusion_tile, .target = "sm_90a"});
    const plan *p = r->c.plan;
    const char *line = "gemm layer=mfma"; /* its loads take rows at any address */
    const tuning staged = {.lines = &line, .count = 1};
    const ir_value *v = graph_value(p->ir, "v");
    ck_assert_int_eq(v->root_stride, 56);
    ck_assert_ptr_null(copy_of(p, "v"));
    for (int i = 0; i < p->stored_count; i++)
        if (p->stored[i].value == v) ck_assert_int_eq(storage_bytes(&p->stored[i], &p->ir->dims), 2 * 20 * 56 * 2);
    rig_close(r);
    r = rig_plan(&(rig_request){.path = "tests/specs/odd-rows.yaml", .level = fusion_tile, .target = "gfx942", .tuning = &staged});
    ck_assert_int_eq(graph_value(r->c.plan->ir, "v")->root_stride, 0);
    ck_assert_int_eq(copies_in(r->c.plan), 0);
    rig_close(r);
}
END_TEST

/* The slices a and b are views of h's memory, so the plan cannot give h padded rows: an align kernel copies its rows instead. */
START_TEST(rows_with_slices_are_copied_as_a_whole)
{
    rig *r = planned("block: t\ndtype: bf16\ndims: {M: 200, K: 131, N: 64}\ninputs: {x: [M, K]}\nparams: {w: [N, K], v: [N, 60]}\nops:\n"
                     "  - {out: h, op: silu, in: [x]}\n  - {out: [a, b], op: split, in: [h], sizes: [60, 71]}\n"
                     "  - {out: y, op: linear, in: [h, w]}\n  - {out: c, op: linear, in: [a, v]}\n  - {out: d, op: softmax, in: [b]}\n"
                     "outputs: {y: y, c: c, d: d}\n", fusion_tile);
    ck_assert(copy_of(r->c.plan, "h") && copy_of(r->c.plan, "a"));
    rig_close(r);
}
END_TEST

/* ---- copies by phases that reduce the rows */
#define NORM(M)                                                                                                                            \
    "block: t\ndtype: bf16\ndims: {M: " M ", K: 131, N: 64}\ninputs: {x: [M, K]}\nparams: {w: [N, K], n: [K]}\nops:\n"                  \
    "  - {out: h, op: rmsnorm, in: [x, n], eps: 1.0e-5}\n  - {out: y, op: linear, in: [h, w]}\n"

static const ir_op *copying_cast(const plan *p)
{
    const ir_value *v = graph_value(p->ir, "x.rows");
    return v && v->def->kind == op_cast ? v->def : NULL;
}

START_TEST(the_phase_that_sums_squares_of_odd_rows_copies_them)
{
    rig *r = rig_open(&(rig_request){.yaml = NORM("200") "outputs: {y: y}\n", .level = fusion_tile, .target = "sm_90a"});
    const plan *p = r->c.plan;
    ck_assert_int_eq(p->launch_count, 2);
    ck_assert_int_eq(copies_in(p), 0);
    ck_assert_ptr_nonnull(copying_cast(p));
    ck_assert_int_eq(graph_value(p->ir, "x.rows")->root_stride, 136);
    ck_assert(phase_has(p->launches[0].work->phase, copying_cast(p)));
    rig_run(r);
    rig_judge(r);
    rig_close(r);
}
END_TEST

/* The product does not wait for the phase of row_max, which may run later. */
START_TEST(a_phase_that_the_product_does_not_wait_for_copies_nothing)
{
    rig *r = planned("block: t\ndtype: bf16\ndims: {M: 200, K: 131, N: 64}\ninputs: {x: [M, K]}\nparams: {w: [N, K]}\nops:\n"
                     "  - {out: y, op: linear, in: [x, w]}\n  - {out: m, op: row_max, in: [x]}\noutputs: {y: y, m: m}\n", fusion_tile);
    ck_assert_ptr_nonnull(copy_of(r->c.plan, "x"));
    ck_assert_ptr_null(copying_cast(r->c.plan));
    rig_close(r);
}
END_TEST

/* ---- results */
START_TEST(rows_of_a_result_that_only_the_graph_reads_are_padded)
{
    rig *r = rig_open(&(rig_request){.yaml = "block: t\ndtype: bf16\ndims: {M: 200, K: 128, N: 68}\ninputs: {x: [M, K]}\n"
                                             "params: {w: [N, K]}\nops:\n  - {out: l, op: linear, in: [x, w]}\n"
                                             "  - {out: y, op: softmax, in: [l]}\noutputs: {y: y}\n",
                                     .level = fusion_tile,
                                     .target = "sm_90a"});
    ck_assert_int_eq(graph_value(r->c.plan->ir, "l")->root_stride, 72);
    ck_assert_int_eq(graph_value(r->c.plan->ir, "y")->root_stride, 0);
    rig_run(r);
    rig_judge(r);
    rig_close(r);
}
END_TEST

/* ---- which products need a copy; plans read back from text */
typedef struct build {
    arena *a;
    const char *text;
    const char *line; /* tuning, or NULL */
    bool from_plan;
    plan *p;
    char *fused_before, *fused_after;
    tfgen_code code;
} build;

static void build_body(void *argument)
{
    build *b = argument;
    const target_info *target = target_find("sm_90a");
    const fuse_options fusion = {.level = fusion_tile};
    const graph_options options = {0};
    const tuning t = {.lines = &b->line, .count = b->line != NULL};
    arena_source(b->a, "t.yaml", b->text, strlen(b->text));
    const ir_graph *fused = b->from_plan
                                  ? ir_read(b->a, b->text, strlen(b->text), "t.ir")
                                  : fuse(b->a, lower(b->a, graph_read(b->a, b->text, strlen(b->text), "t.yaml", &options)), &fusion);
    b->fused_before = ir_print(b->a, fused);
    b->p = plan_choose(b->a, fused, device_model_default(b->a, target), &t);
    b->fused_after = ir_print(b->a, fused);
    emit(b->a, b->p);
}

static void run_build(build *b)
{
    b->a = arena_new();
    b->code = arena_run(b->a, build_body, b);
}

START_TEST(rows_of_16_bytes_and_other_layers_need_no_copy)
{
    static const struct {
        const char *text, *line;
        int launches;
    } cases[] = {{PRODUCT("bf16", "64", "70", "64"), NULL, 1},           {PRODUCT("bf16", "64", "70", "1366"), NULL, 2},
                 {PRODUCT("f16", "64", "70", "5468"), NULL, 2},          {PRODUCT("f32", "64", "70", "132"), NULL, 1},
                 {PRODUCT("f32", "64", "70", "1367"), NULL, 2},          {PRODUCT("bf16", "64", "70", "67"), "gemm layer=simt", 1},
                 {PRODUCT("f32", "64", "70", "61"), NULL, 1},            {PRODUCT("bf16", "16", "70", "67"), "gemm layer=skinny", 1},
                 {PRODUCT("bf16", "64", "70", "67"), "align each=1", 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        build b = {.text = cases[i].text, .line = cases[i].line};
        run_build(&b);
        ck_assert_msg(b.code == code_ok, "%s", arena_diagnostics(b.a));
        ck_assert_msg(b.p->launch_count == cases[i].launches, "case %zu: %d launches", i, b.p->launch_count);
        ck_assert_int_eq(copies_in(b.p), cases[i].launches - 1);
        arena_free(b.a);
    }
}
END_TEST

START_TEST(planning_leaves_its_input_unchanged)
{
    build b = {.text = PRODUCT("bf16", "64", "70", "67")};
    run_build(&b);
    ck_assert_int_eq(b.code, code_ok);
    ck_assert_str_eq(b.fused_before, b.fused_after);
    arena_free(b.a);
}
END_TEST

/* A plan's text with `from` replaced by `to`. */
static char *changed(arena *a, const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);
    ck_assert_msg(at != NULL, "no %s in %s", from, text);
    return arena_printf(a, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
}

START_TEST(a_plan_with_an_impossible_aligned_copy_is_refused)
{
    static const struct {
        const char *from, *to, *message;
    } cases[] = {{"each=4", "each=17", "each is 17; it is 1 to 16"},
                 {"67]/72", "67]/68", "the result's rows are no multiple of 16 bytes"},
                 {"67]/72", "67]", "the result's rows are no multiple of 16 bytes"},
                 {"67]/72", "67]/64", "cannot lie in rows of 64 elements"},
                 {"%x                 bf16[M,67]", "%x                 bf16[M,67]/73", "cannot lie in rows of 73 elements"},
                 {": align {", ": rows {", "rows has no setting 'each'"},
                 {"bf16[M,70]", "bf16[M,70]/73", "%y cannot lie in rows of 73 elements"},
                 {"bf16[M,67]/72", "f16[M,67]/72", "another shape or dtype"}};
    build b = {.text = PRODUCT("bf16", "64", "70", "67")};
    run_build(&b);
    const char *text = ir_print(b.a, b.p->ir);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        build c = {.text = changed(b.a, text, cases[i].from, cases[i].to), .from_plan = true};
        run_build(&c);
        ck_assert_msg(c.code != code_ok && strstr(arena_diagnostics(c.a), cases[i].message) != NULL, "%zu: %s", i, arena_diagnostics(c.a));
        arena_free(c.a);
    }
    arena_free(b.a);
}
END_TEST

/* ---- what is copied */
static void check_copy(int rows, int columns, const char *dtype)
{
    const dim_override dims[] = {{"M", rows}, {"N", 3}, {"K", columns}};
    rig *r = rig_open(&(rig_request){.path = "tests/h200/product.yaml",
                                     .level = fusion_tile,
                                     .target = "sm_90a",
                                     .dtype = dtype,
                                     .dims = dims,
                                     .dim_count = 3});
    rig_run(r);
    const ir_op *copy = copy_of(r->c.plan, "x");
    ck_assert_msg(copy != NULL, "%d columns of %s have no copy", columns, dtype);
    const ir_value *v = copy->outputs[0];
    const size_t bytes = guarded_bytes(r->s, v), stride = (size_t)v->root_stride;
    ck_assert_uint_eq(bytes, (size_t)rows * stride * (size_t)dtype_size(v->type));
    char *data = malloc(bytes);
    host_log log = {0};
    ck_assert_int_eq(guarded_get(r->s, v, data, bytes, &log), code_ok);
    const double *x = rig_read(r, "x");
    for (size_t i = 0; i < (size_t)rows * stride; i++) {
        const size_t row = i / stride, k = i % stride;
        const double expected = k < (size_t)columns ? x[row * (size_t)columns + k] : 0, got = dtype_get(v->type, data, i);
        ck_assert_msg(expected == got, "%s, row %zu of %d, %zu of %d: %g, not %g", dtype, row, rows, k, columns, got, expected);
    }
    free(data);
    rig_judge(r);
    rig_close(r);
}

/* All offsets of a row from a multiple of 16 bytes; rows shorter than 16 bytes; more 16-byte pieces than a workgroup has threads. */
START_TEST(every_row_is_copied_whole_and_followed_by_zeros)
{
    static const struct {
        int rows, columns;
        const char *dtype;
    } cases[] = {{19, 1, "bf16"},  {19, 7, "f16"},     {33, 9, "bf16"},   {131, 67, "bf16"},
                 {37, 255, "f16"}, {17, 2051, "bf16"}, {140, 129, "f32"}, {37, 131, "f32"}};
    check_copy(cases[_i].rows, cases[_i].columns, cases[_i].dtype);
}
END_TEST

START_TEST(products_of_odd_rows_are_right_at_every_level)
{
    static const char *const dtypes[] = {"bf16", "f16", "f32"};
    rig *r = rig_open(
        &(rig_request){.path = "tests/specs/odd-rows.yaml", .level = (fusion_level)(_i % 3), .target = "sm_90a", .dtype = dtypes[_i / 3]});
    rig_run(r);
    rig_judge(r);
    rig_set_dim(r, "S", 9);
    rig_run(r);
    rig_judge(r);
    rig_close(r);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("align");
    TCase *t = tcase_create("align");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, odd_rows_are_copied_by_their_own_kernel_to_aligned_rows_for_tensor_loads);
    tcase_add_test(t, products_of_one_input_share_its_copy_and_others_read_the_input);
    tcase_add_test(t, views_and_outputs_with_odd_rows_are_copied_too);
    tcase_add_test(t, tensors_inside_a_plan_get_padded_rows_without_a_copy);
    tcase_add_test(t, rows_with_slices_are_copied_as_a_whole);
    tcase_add_test(t, the_phase_that_sums_squares_of_odd_rows_copies_them);
    tcase_add_test(t, a_phase_that_the_product_does_not_wait_for_copies_nothing);
    tcase_add_test(t, rows_of_a_result_that_only_the_graph_reads_are_padded);
    tcase_add_test(t, rows_of_16_bytes_and_other_layers_need_no_copy);
    tcase_add_test(t, planning_leaves_its_input_unchanged);
    tcase_add_test(t, a_plan_with_an_impossible_aligned_copy_is_refused);
    tcase_add_loop_test(t, every_row_is_copied_whole_and_followed_by_zeros, 0, 8);
    /* `make test` runs each level once and each dtype once, since a level does the same for every dtype. */
    add_some_now(t, suite_long(s, "more odd rows", 120), products_of_odd_rows_are_right_at_every_level, 9, (const int[]){2, 4, 6, -1});
    suite_add_tcase(s, t);
    return run_suite(s);
}
