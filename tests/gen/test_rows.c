/* Row operations on GPUs: the tile that the planner chooses for a row, the elements that a thread keeps, and that compilers keep them in
 * registers. */
#define _GNU_SOURCE
#include "gen/program/rows.h"
#include "ir/devices/occupancy.h"
#include "runtime/compile/compiler.h"
#include "tests/support.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char rms[] = "block: n\ndtype: %s\ndims: {M: %d, D: %d}\ninputs: {x: [M, D]}\nparams: {w: [D]}\n"
                          "ops:\n  - {out: y, op: rmsnorm, in: [x, w]}\noutputs: {y: y}\n";
static const char layernorm[] = "block: n\ndtype: %s\ndims: {M: %d, D: %d}\ninputs: {x: [M, D]}\nparams: {w: [D], b: [D]}\n"
                                "ops:\n  - {out: y, op: layernorm, in: [x, w, b], eps: 1.0e-5}\noutputs: {y: y}\n";
static const char one[] = "block: n\ndtype: %s\ndims: {M: %d, D: %d}\ninputs: {x: [M, D]}\n"
                          "ops:\n  - {out: y, op: silu, in: [x]}\noutputs: {y: y}\n";

/* More arithmetic than clang unrolls by the plain pragma, and less than has functions of its own (gen/emit/chain.c). */
static const char logs[] =
    "block: n\ndtype: %s\ndims: {M: %d, D: %d}\ninputs: {x: [M, D]}\nops:\n  - {out: a, op: log, in: [x]}\n  - {out: b, op: log, in: [a]}\n"
    "  - {out: c, op: log, in: [b]}\n  - {out: d, op: log, in: [c]}\n  - {out: e, op: log, in: [d]}\n  - {out: y, op: log, in: [e]}\n"
    "outputs: {y: y}\n";

static rig *planned(const char *format, const char *dtype, int rows, int columns, const char *target)
{
    static char yaml[1024];
    snprintf(yaml, sizeof yaml, format, dtype, rows, columns);
    return rig_plan(&(rig_request){.yaml = yaml, .level = fusion_tile, .target = target});
}

static int setting(const rig *r, const char *key)
{
    return tile_setting(r->c.plan->launches[0].work->phase, key);
}

START_TEST(many_rows_get_one_wave_each_and_few_rows_get_many_threads)
{
    static const struct {
        int rows, columns, team;
    } cases[] = {{2048, 2048, 64},  {8192, 2048, 32},   {16384, 4096, 64}, {16384, 8192, 128}, {4096, 16384, 256}, {4096, 32768, 512},
                 {1, 2048, 256},    {1, 8192, 256},    {512, 2048, 128},   {1, 64, 8},         {100000, 200, 32}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rig *r = planned(rms, "bf16", cases[i].rows, cases[i].columns, "sm_90a");
        ck_assert_msg(setting(r, "team") == cases[i].team, "%d x %d: %d threads a row", cases[i].rows, cases[i].columns,
                      setting(r, "team"));
        ck_assert_int_eq(setting(r, "threads") % setting(r, "team"), 0);
        rig_close(r);
    }
    rig *r = planned(rms, "bf16", 2048, 2048, "gfx942");
    ck_assert_int_eq(setting(r, "team"), 64); /* a wave */
    rig_close(r);
    r = planned(layernorm, "bf16", 2048, 2048, "sm_90a");
    ck_assert_int_eq(setting(r, "team"), 32); /* two sums: avoiding a barrier is worth more than having more threads */
    rig_close(r);
}
END_TEST

/* Phases side by side have the threads of the one with the most. If a user gives these, teams of the others may not divide them. */
START_TEST(phases_beside_a_users_tile_get_teams_that_divide_its_threads)
{
    static const char *const line = "y: threads=330 team=2";
    rig *r = rig_plan(&(rig_request){.yaml = "block: s\ndtype: bf16\ndims: {B: 2}\ninputs: {x: [B, 5, 20], z: [B, 3, 700]}\nops:\n"
                                             "  - {out: y, op: softmax, in: [x]}\n  - {out: g, op: softmax, in: [z]}\n"
                                             "outputs: {y: y, g: g}\n",
                                     .level = fusion_tile,
                                     .target = "sm_90a",
                                     .tuning = &(tuning){.lines = &line, .count = 1}});
    const launch *l = &r->c.plan->launches[0];
    ck_assert_int_eq(r->c.plan->launch_count, 1);
    ck_assert_int_eq(l->threads, 330);
    for (int i = 0; i < l->work_count; i++) {
        ck_assert_int_eq(tile_setting(l->work[i].phase, "threads"), 330);
        ck_assert_int_eq(tile_setting(l->work[i].phase, "team"), 2);
    }
    rig_close(r);
}
END_TEST

/* With a rope a thread keeps both columns of each pair, their cosines and sines. So a row has one thread for each vector (at most a
 * workgroup) once there are rows for all multiprocessors. */
START_TEST(many_rows_of_a_rope_have_a_thread_for_each_vector)
{
    static const char rope[] = "block: n\ndtype: %s\ndims: {S: %d, D: %d}\ninputs: {x: [1, S, D]}\n"
                               "ops:\n  - {out: y, op: rope, in: [x], heads: 16, pairing: half}\noutputs: {y: y}\n";
    static const struct {
        int rows, columns, team;
        const char *target;
    } cases[] = {{2048, 4096, 512, "sm_90a"}, {2048, 2048, 256, "sm_90a"},  {2048, 16384, 1024, "sm_90a"},
                 {133, 4096, 512, "sm_90a"},  {132, 4096, 256, "sm_90a"}, {2048, 4096, 64, "gfx942"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rig *r = planned(rope, "bf16", cases[i].rows, cases[i].columns, cases[i].target);
        ck_assert_msg(setting(r, "team") == cases[i].team, "%s %d x %d: %d threads a row", cases[i].target, cases[i].rows,
                      cases[i].columns, setting(r, "team"));
        rig_close(r);
    }
}
END_TEST

/* Sums of a row, each computed from the one before, all in one pass over the row; a phase can have as many as it has room for ops. */
START_TEST(a_phase_has_as_many_reductions_as_it_has_ops_for)
{
    enum { sums = 18 };
    char yaml[2048] = "block: n\ndtype: f32\ndims: {M: 3, N: 24}\ninputs: {a0: [M, N]}\nops:\n", op[128], passes[32];
    for (int i = 0; i < sums; i++) {
        snprintf(op, sizeof op, "  - {out: s%d, op: row_sum, in: [a%d]}\n  - {out: a%d, op: sub, in: [a%d, s%d]}\n", i, i, i + 1, i, i);
        strcat(yaml, op);
    }
    snprintf(op, sizeof op, "outputs: {y: a%d}\n", sums);
    rig *r = rig_plan(&(rig_request){.yaml = strcat(yaml, op), .level = fusion_tile, .target = "gfx942"});
    snprintf(passes, sizeof passes, "passes = %d;", sums);
    ck_assert_int_eq(r->c.plan->launch_count, 1);
    ck_assert_ptr_nonnull(strstr(r->c.plan->launches[0].spec_header, passes));
    rig_close(r);
}
END_TEST

/* A lane of gfx908 has half the registers of gfx90a: with eight vectors of x, weight and bias each, a SIMD would hold only one wave. */
START_TEST(more_threads_share_a_row_that_would_leave_one_wave_per_simd)
{
    static const struct {
        const char *text, *target, *dtype;
        int columns, team;
    } cases[] = {{layernorm, "gfx908", "bf16", 4096, 128}, {layernorm, "gfx90a", "bf16", 4096, 64}, {layernorm, "gfx908", "f32", 2048, 128},
                 {layernorm, "gfx90a", "f32", 2048, 64},   {layernorm, "gfx908", "bf16", 2048, 64}, {rms, "gfx908", "bf16", 4096, 64},
                 {layernorm, "sm_90a", "f32", 4096, 64}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rig *r = planned(cases[i].text, cases[i].dtype, 8192, cases[i].columns, cases[i].target);
        ck_assert_msg(setting(r, "team") == cases[i].team, "case %zu: %d threads a row", i, setting(r, "team"));
        rig_close(r);
    }
}
END_TEST

START_TEST(values_loaded_as_bf16_stay_bf16_in_registers)
{
    rig *r = planned(rms, "bf16", 2048, 2048, "sm_90a");
    ck_assert_ptr_nonnull(strstr(r->c.plan->launches[0].spec_header, "bf16_pairs<V> x_, w_;"));
    ck_assert_ptr_nonnull(strstr(r->c.plan->launches[0].spec_header, "return {to_pairs(x_), to_pairs(w_)};"));
    rig_close(r);
    r = planned(rms, "f32", 2048, 2048, "sm_90a");
    ck_assert_ptr_nonnull(strstr(r->c.plan->launches[0].spec_header, "vec<float, V> x_, w_;"));
    rig_close(r);
    r = planned(rms, "bf16", 2048, 2048, "host");
    ck_assert_ptr_nonnull(strstr(r->c.plan->launches[0].spec_header, "vec<float, V> x_, w_;"));
    rig_close(r);
}
END_TEST

/* All loads of a row are issued before the first element is used. */
START_TEST(without_reductions_a_thread_loads_its_row_before_it_computes)
{
    rig *r = planned(one, "bf16", 2048, 5468, "gfx90a");
    const char *text = r->c.plan->launches[0].spec_header, *read = strstr(text, "read("), *write = strstr(text, "write("),
               *silu = strstr(text, "op_silu");
    ck_assert(read && write && silu && read < write && silu > write);
    rig_close(r);
}
END_TEST

typedef struct compile_case {
    const char *text, *target, *dtype;
    int rows, columns;
} compile_case;

static const compile_case counted_cases[] = {
    {layernorm, "gfx908", "bf16", 8192, 4096}, {layernorm, "gfx90a", "f32", 8192, 2048}, {rms, "gfx908", "bf16", 8192, 8192},
    {rms, "gfx942", "bf16", 8192, 4096},       {one, "gfx1100", "f32", 8192, 2048},      {layernorm, "sm_90a", "bf16", 8192, 4096}};

static problem problem_for(const rig *r)
{
    const plan *p = r->c.plan;
    return plan_problem(r->a, p, p->launches[0].work->phase);
}

static int waves_with(const rig *r, int registers)
{
    const kernel_need need = {.threads = r->c.plan->launches[0].threads, .registers = registers};
    occupancy o;
    ck_assert(occupancy_of(r->c.plan->device, &need, &o));
    return o.waves;
}

/* Compiles the first kernel of the plan as planned, without planning again; false: there is no compiler. */
static bool compiled_as_planned(const rig *r, const char *target, code_result *made)
{
    const launch *l = &r->c.plan->launches[0];
    const char *source = source_join(r->a, &l->source);
    const code_request q = {.source = source, .size = strlen(source), .name = l->file, .arch = target};
    code_compile(&q, made);
    if (made->status == build_unsupported) printf("skipped: no compiler for %s\n", target);
    else ck_assert_msg(made->status == build_ok, "%s", made->log);
    return made->status == build_ok;
}

/* The planner estimates registers: the compilers' numbers are within a third of that, and there is no kernel with one wave per SIMD that
 * the planner did not foresee. */
START_TEST(compiled_registers_are_near_the_planned_number)
{
    const compile_case *c = &counted_cases[_i];
    rig *r = planned(c->text, c->dtype, c->rows, c->columns, c->target);
    const problem of = problem_for(r);
    code_result made;
    if (compiled_as_planned(r, c->target, &made)) {
        const row_need need = row_need_of(&of);
        const int expected = row_registers(&of, &need, &of.phase->tile.rows), got = (int)made.kernels[0].vgprs;
        ck_assert_msg(3 * got <= 4 * expected && 3 * expected <= 4 * got, "%s: %d registers, %d expected", c->target, got, expected);
        ck_assert_int_eq(waves_with(r, got) < 2, waves_with(r, expected) < 2);
    }
    code_result_free(&made);
    rig_close(r);
}
END_TEST

/* clang unrolls loops as far as it likes unless the template limits it. Without limits, it kept values of a thread in an array when the
 * arithmetic was long, and issued all loads first for rows that are read again. */
static const compile_case loop_cases[] = {{logs, "gfx908", "bf16", 8192, 4096}, {layernorm, "gfx942", "f32", 8192, 51650}};

START_TEST(chunks_of_a_long_row_are_neither_kept_in_an_array_nor_loaded_at_once)
{
    const compile_case *c = &loop_cases[_i];
    rig *r = planned(c->text, c->dtype, c->rows, c->columns, c->target);
    code_result made;
    spilled_tile spilled;
    if (compiled_as_planned(r, c->target, &made))
        ck_assert_msg(!code_spills(&made, &spilled), "%s: %d bytes of scratch, %d vectors", c->target, spilled.scratch, spilled.vectors);
    code_result_free(&made);
    rig_close(r);
}
END_TEST

/* With --code a spill is an error. 5468 columns are six chunks, the last of which is partial; a wide norm keeps most values. */
static const compile_case code_cases[] = {{one, "gfx90a", "bf16", 2048, 5468},  {one, "gfx942", "f32", 2048, 5468},
                                          {rms, "gfx90a", "bf16", 2048, 4096},  {rms, "sm_90a", "bf16", 2048, 2048},
                                          {rms, "sm_90a", "bf16", 4096, 32768}, {rms, "sm_90a", "f32", 2048, 8192}};

START_TEST(rows_stay_in_registers)
{
    const compile_case *c = &code_cases[_i];
    char folder[] = "/tmp/tfgen-rows-XXXXXX", path[64], command[512];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/n.yaml", folder);
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fprintf(f, c->text, c->dtype, c->rows, c->columns);
    fclose(f);
    snprintf(command, sizeof command, "%s %s --target=%s --code -q -o %s/out; s=$?; rm -rf %s; exit $s",
             getenv("TFGEN") ? getenv("TFGEN") : "./tfgen", path, c->target, folder, folder);
    const int status = system(command);
    if (status == code_unsupported << 8) printf("skipped: rows_stay_in_registers: no compiler for %s\n", c->target);
    else ck_assert_msg(status == 0, "%s %s %d columns: exit status %d", c->target, c->dtype, c->columns, status);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("rows");
    TCase *plans = tcase_create("plans"), *code = tcase_create("code");
    tcase_add_test(plans, a_phase_has_as_many_reductions_as_it_has_ops_for);
    tcase_add_test(plans, many_rows_get_one_wave_each_and_few_rows_get_many_threads);
    tcase_add_test(plans, phases_beside_a_users_tile_get_teams_that_divide_its_threads);
    tcase_add_test(plans, many_rows_of_a_rope_have_a_thread_for_each_vector);
    tcase_add_test(plans, more_threads_share_a_row_that_would_leave_one_wave_per_simd);
    tcase_add_test(plans, values_loaded_as_bf16_stay_bf16_in_registers);
    tcase_add_test(plans, without_reductions_a_thread_loads_its_row_before_it_computes);
    tcase_add_loop_test(code, rows_stay_in_registers, 0, (int)(sizeof code_cases / sizeof *code_cases));
    tcase_add_loop_test(code, compiled_registers_are_near_the_planned_number, 0, (int)(sizeof counted_cases / sizeof *counted_cases));
    tcase_add_loop_test(code, chunks_of_a_long_row_are_neither_kept_in_an_array_nor_loaded_at_once, 0,
                        (int)(sizeof loop_cases / sizeof *loop_cases));
    tcase_set_timeout(code, 60);
    suite_add_tcase(suite, plans);
    suite_add_tcase(suite, code);
    return run_suite(suite);
}
