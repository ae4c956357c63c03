/* Tables: the shipped ones run on the host engine at small sizes, grids are read, the nearest tile is found, a page escapes its texts, and
 * a GPU's rows have floors (by the double of HIP's runtime). No test depends on real times. */
#define _GNU_SOURCE
#include "gen/plan/tile.h"
#include "runtime/cli/table/grid.h"
#include "gen/plan/nearest.h"
#include "runtime/cli/table/table.h"
#include "tests/shell.h"
#include "tests/support.h"
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- grids */
static void read_grid(void *argument)
{
    arena *a = *(arena **)argument;
    const char *const lines[] = {"gemm: m=64,128 n=96 k=32,64", "(first) rows:  threads=7", "  ", "(of v) norm: v=1,2"};
    const grid g = grid_read(a, lines, 4);
    static const char *const expected[][2] = {{"m=64 n=96 k=32", "gemm: m=64 n=96 k=32"},   {"m=64 n=96 k=64", "gemm: m=64 n=96 k=64"},
                                              {"m=128 n=96 k=32", "gemm: m=128 n=96 k=32"}, {"m=128 n=96 k=64", "gemm: m=128 n=96 k=64"},
                                              {"(first)", "rows: threads=7"},               {"(of v) v=1", "norm: v=1"},
                                              {"(of v) v=2", "norm: v=2"}};
    ck_assert_int_eq(g.count, 7);
    for (int i = 0; i < g.count; i++) {
        ck_assert_str_eq(g.list[i].label, expected[i][0]);
        ck_assert_str_eq(g.list[i].line, expected[i][1]);
    }
}

START_TEST(a_tuning_grid_is_the_product_of_the_settings_in_its_lines)
{
    arena *a = arena_new();
    ck_assert_msg(arena_run(a, read_grid, &a) == code_ok, "%s", arena_diagnostics(a));
    arena_free(a);
}
END_TEST

static const char *const bad_grids[][2] = {{"threads=64", "expected 'PHASE: key=value,...' with a space after the colon"},
                                           {"norm:threads=64", "expected 'PHASE: key=value,...' with a space after the colon"},
                                           {": threads=64", "expected 'PHASE: key=value,...' with a space after the colon"},
                                           {"rows:  ", "expected key=value"},
                                           {"rows: threads", "expected key=value"},
                                           {"rows: =3", "expected key=value"},
                                           {"rows: threads=1,,2", "threads has an empty value"},
                                           {"rows: threads=", "threads has an empty value"},
                                           {"(rows: threads=1", "must end in ')'"},
                                           {"rows: threads=64,x", "expected key=number"},
                                           {"rows: thread=64", "simt has threads, team, v"},
                                           {"rows: layer=mma threads=64", "no program of family rows takes all"},
                                           {"norm: threads=64", "no phase, kernel or family is called 'norm'"},
                                           {"gemm: m=1", "the spec has no phase of this family"}};

START_TEST(a_wrong_grid_line_is_refused_with_its_reason)
{
    ck_assert_int_eq(tfgen("table specs/rmsnorm.yaml --device=host --no-check --seconds=0 --grid '%s'", bad_grids[_i][0]), code_usage);
    says(bad_grids[_i][1]);
}
END_TEST

START_TEST(table_refuses_options_that_it_cannot_use)
{
    ck_assert_int_eq(tfgen("table specs/rmsnorm.yaml --device=host --nearest"), code_usage);
    says("--nearest is for points of --grid");
    ck_assert_int_eq(tfgen("table specs/rmsnorm.yaml --device=host --report=x.pdf"), code_usage);
    says("must end in .html, .svg, .csv or .json");
    ck_assert_int_eq(tfgen("table rmsnorm-block --device=host"), code_usage);
    says("did you mean 'rmsnorm-blocks'?");
    ck_assert_int_eq(tfgen("table rmsnorm-blocks specs/rmsnorm.yaml --device=host"), code_usage);
    says("give it alone");
    ck_assert_int_eq(tfgen("table specs/rmsnorm.yaml --device=host --sweep=S=2,4.8"), code_usage);
    says("--sweep: 'S=2,4.8' is not DIM=V,V,... or DIM=V..V (doubling), at most 64 values");
    ck_assert_int_eq(tfgen("table specs/rmsnorm.yaml --device=host --sweep=S=2,0"), code_usage);
    ck_assert_int_eq(tfgen("table specs/rmsnorm.yaml --device=nowhere --sweep=S=2,99999999"), code_usage);
    says("S=99999999 is outside of its dynamic range"); /* before anything that takes time */
    ck_assert_int_eq(tfgen("table specs/bad/add-shapes.yaml --device=host"), code_bad_input);
    ck_assert_int_eq(tfgen("table"), code_usage);
}
END_TEST

/* ---- the nearest tile */
static double apart(int x, int y) { return fabs(log2((x + 1.0) / (y + 1.0))); }

typedef struct asking {
    const rig *r;
    const char *line;
    nearest n;
    double least; /* the smallest over all legal tiles, in the requested fields */
} asking;

static const tile_override *override_of(arena *a, const plan *p, const char *line)
{
    const char *names[1] = {p->launches[0].name};
    overrides *w = overrides_read(a, &(tuning){.lines = &line, .count = 1});
    overrides_settle(w, p->ir, names, true);
    return &w->list[0];
}

/* Sum of the distances of the requested fields. */
static double off_asked(const tile_override *w, const ir_tile *t)
{
    double sum = 0;
    for (int k = 0; k < w->count; k++) sum += apart(t->at[tile_field_find(t->program, w->settings[k].key)], w->settings[k].value);
    return sum;
}

/* For rows kernels: tries powers of two for the fields that are not requested. */
static void ask_rows(void *argument)
{
    asking *s = argument;
    arena *a = s->r->a;
    const plan *p = s->r->c.plan;
    const ir_phase *phase = p->launches[0].work->phase;
    const tile_override *w = override_of(a, p, s->line);
    const problem q = plan_problem(a, p, phase);
    s->n = nearest_tile(a, p, phase, w);
    s->least = INFINITY;
    for (int threads = 1; threads <= 1024; threads++)
        for (int team = 1; team <= 1024; team *= 2)
            for (int v = 1; v <= 16; v *= 2) {
                ir_tile t = phase->tile;
                t.rows.threads = threads, t.rows.team = team, t.rows.v = v;
                const double off = off_asked(w, &t);
                if (off < s->least && !tile_illegal(&q, &t)) s->least = off;
            }
    ck_assert(s->n.known && s->n.found && !s->n.why == s->n.exact);
    ck_assert_ptr_null(tile_illegal(&q, &s->n.tile));
    ck_assert_double_eq_tol(off_asked(w, &s->n.tile), s->least, 1e-12);
}

static const char *const asked_rows[] = {"rows: threads=64", "rows: threads=1024", "rows: threads=3", "rows: threads=97",
                                         "rows: threads=9999", "rows: threads=97 team=48", "rows: threads=40 team=48"};
START_TEST(a_grid_point_gets_the_nearest_legal_tile)
{
    rig *r = rig_plan(&(rig_request){.path = "specs/rmsnorm.yaml", .level = fusion_tile, .target = "sm_90a", .dtype = "f32"});
    asking s = {.r = r, .line = asked_rows[_i]};
    ck_assert_msg(arena_run(r->a, ask_rows, &s) == code_ok, "%s", arena_diagnostics(r->a));
    rig_close(r);
}
END_TEST

/* Sum of the distances of the other fields. */
static double moved(const tile_override *w, const ir_tile *home, const ir_tile *t)
{
    double sum = 0;
    for (int i = 0; i < program_table[t->program].field_count; i++) {
        bool asked = false;
        for (int k = 0; k < w->count; k++) asked = asked || strcmp(w->settings[k].key, program_table[t->program].fields[i].name) == 0;
        if (!asked) sum += apart(t->at[i], home->at[i]);
    }
    return sum;
}

static ir_tile with_asked(const tile_override *w, ir_tile t)
{
    for (int k = 0; k < w->count; k++)
        t.at[tile_field_find(t.program, w->settings[k].key)] = w->settings[k].value;
    return t;
}

/* The smallest distance by which any two fields must move, over powers of two, so that the tile is legal with the requested fields. */
static double least_moved(const problem *q, const tile_override *w, const ir_tile *home)
{
    const ir_tile base = with_asked(w, *home);
    double least = INFINITY;
    for (int i = 0; i < program_table[home->program].field_count; i++)
        for (int j = 0; j < i; j++)
            for (int x = 1; x <= 1024; x *= 2)
                for (int y = 1; y <= 1024; y *= 2) {
                    ir_tile t = base;
                    t.at[i] = x, t.at[j] = y, t = with_asked(w, t);
                    if (moved(w, home, &t) < least && !tile_illegal(q, &t)) least = moved(w, home, &t);
                }
    return least;
}

static const struct {
    const char *target, *line;
    bool exact;
} products[] = {{"sm_90a", "gemm: m=1 k=32", true},          {"sm_90a", "gemm: m=2 k=256", true},
                {"sm_90a", "gemm: layer=wgmma_3xtf32 n=64", true}, {"gfx90a", "gemm: m=1 k=128", true},
                {"sm_90a", "gemm: layer=wgmma_3xtf32 m=1", false}, {"host", "gemm: m=3 k=100", false},
                {"host", "gemm: m=16", true},                {"host", "gemm: m=256 k=32", true},
                {"host", "gemm: n=1024", true}};

static void ask_product(void *argument)
{
    asking *s = argument;
    const plan *p = s->r->c.plan;
    const ir_phase *phase = p->launches[0].work->phase;
    const problem q = plan_problem(s->r->a, p, phase);
    const tile_override *w = override_of(s->r->a, p, s->line);
    s->n = nearest_tile(s->r->a, p, phase, w);
    ck_assert(s->n.found && !tile_illegal(&q, &s->n.tile));
    if (s->n.exact && s->n.tile.program == phase->tile.program)
        ck_assert_double_le(moved(w, &phase->tile, &s->n.tile), least_moved(&q, w, &phase->tile) + 1e-9);
}

START_TEST(requested_tile_fields_are_kept_and_the_others_adapted)
{
    rig *r = rig_plan(&(rig_request){.path = "specs/swiglu.yaml", .level = fusion_tile, .target = products[_i].target, .dtype = "f32"});
    asking s = {.r = r, .line = products[_i].line};
    ck_assert_msg(arena_run(r->a, ask_product, &s) == code_ok, "%s", arena_diagnostics(r->a));
    ck_assert_msg(s.n.exact == products[_i].exact && !s.n.why == s.n.exact, "%s", s.n.why ? s.n.why : "exact");
    rig_close(r);
}
END_TEST

/* ---- the command */
static json_t *table_of(const char *arguments)
{
    json_error_t error;
    ck_assert_msg(tfgen("table %s --json 2>/dev/null", arguments) == 0, "%s", output);
    json_t *all = json_loads(output, 0, &error);
    ck_assert_msg(all != NULL, "%s: %s", error.text, output);
    return all;
}

static const char *field(const json_t *t, size_t row, const char *name)
{
    return json_string_value(json_object_get(json_array_get(json_object_get(t, "rows"), row), name));
}

static const struct {
    const char *name, *small;
    size_t rows;
} shipped[] = {{"rmsnorm-blocks", "--dim=S=4,D=64", 5},
               {"swiglu-tiles", "--dim=S=2,D=64,F=40", 6},
               {"swiglu-weights", "--dim=S=2,D=64,F=40", 4},
               {"swiglu-bounds", "--dim=D=64,F=40 --sweep S=1,8", 2},
               {"attention-lengths", "--dim=H=2,KV=2 --sweep S=8,16,32", 3},
               {"block-batches", "--dim=S=4,D=64,H=1,KV=1,F=40 --sweep B=1,3", 2}};

/* Every row is timed, compared with the reference, and in f32. */
START_TEST(a_shipped_table_runs)
{
    char arguments[256];
    snprintf(arguments, sizeof arguments, "%s %s --device=host --seconds=0", shipped[_i].name, shipped[_i].small);
    json_t *t = table_of(arguments);
    ck_assert_int_eq(json_array_size(json_object_get(t, "rows")), shipped[_i].rows);
    ck_assert_str_eq(json_string_value(json_object_get(t, "dtype")), "f32");
    for (size_t i = 0; i < shipped[_i].rows; i++) {
        ck_assert_msg(strcmp(field(t, i, "status"), "timed") == 0, "%s", output);
        ck_assert(!*field(t, i, "point") == !*field(t, i, "tile"));
    }
    json_decref(t);
    ck_assert_int_eq(tfgen("help table"), 0);
    says(shipped[_i].name);
}
END_TEST

/* Without --nearest an illegal point prints the reason; with it, the tile that replaces it. The table as a whole succeeds. */
START_TEST(an_illegal_point_says_why)
{
    json_t *t = table_of("specs/rmsnorm.yaml --device=host --seconds=0 --dim=S=2 --grid '(a) rows: threads=8,4096'");
    ck_assert_str_eq(field(t, 0, "status"), "timed");
    ck_assert_str_eq(field(t, 1, "status"), "illegal");
    ck_assert_str_eq(field(t, 1, "point"), "(a) threads=4096");
    ck_assert_ptr_nonnull(strstr(field(t, 1, "note"), "threads=4096; it is 1 to 1024"));
    json_decref(t);
    t = table_of("specs/rmsnorm.yaml --device=host --seconds=0 --dim=S=2 --nearest --grid 'rows: threads=4096'");
    ck_assert_str_eq(field(t, 0, "status"), "timed");
    ck_assert_ptr_nonnull(strstr(field(t, 0, "note"), "the nearest: "));
    json_decref(t);
}
END_TEST

/* A row with wrong values has no time: the exit code reports it, and the other rows are printed. */
START_TEST(a_wrong_row_has_no_time)
{
    char folder[] = "/tmp/tfgen-table-XXXXXX";
    ck_assert_ptr_nonnull(mkdtemp(folder));
    use_bad_compiler(folder);
    ck_assert_int_eq(tfgen("table specs/softmax.yaml --device=host --seconds=0 --dim=S=5 --json --grid 'rows: v=8,16' 2>/dev/null"),
                     code_check_failed);
    json_t *t = json_loads(output, 0, NULL);
    ck_assert_msg(t != NULL, "%s", output);
    ck_assert_str_eq(field(t, 0, "status"), "wrong");
    ck_assert_ptr_nonnull(strstr(field(t, 0, "note"), "value p is "));
    ck_assert_ptr_null(json_object_get(json_array_get(json_object_get(t, "rows"), 0), "seconds"));
    ck_assert_str_eq(field(t, 1, "status"), "timed");
    json_decref(t);
    ck_assert_int_eq(shell("rm -r %s", folder), 0);
}
END_TEST

/* log(a - a): rounding decides whether it is a number. */
START_TEST(an_unjudged_row_has_no_time)
{
    static const char poles[] = "block: poles\ndtype: f32\ndims: {M: 64}\ninputs: {x: [M]}\nops:\n  - {out: a, op: mul, in: [x, 1.1]}\n"
                                "  - {out: b, op: sub, in: [a, a]}\n  - {out: y, op: log, in: [b]}\noutputs: {y: y}\n";
    char folder[] = "/tmp/tfgen-table-XXXXXX", arguments[256];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    write_file(folder, "poles.yaml", "%s", poles);
    snprintf(arguments, sizeof arguments, "table %s/poles.yaml --device=host --seconds=0 --json", folder);
    ck_assert_int_eq(tfgen(arguments), code_unjudged);
    json_t *t = json_loads(output, 0, NULL);
    ck_assert_msg(t != NULL, "%s", output);
    ck_assert_str_eq(field(t, 0, "status"), "unjudged");
    ck_assert_str_eq(field(t, 0, "note"), "no element of y is judged: rounding decides whether they are numbers");
    ck_assert_ptr_null(json_object_get(json_array_get(json_object_get(t, "rows"), 0), "seconds"));
    json_decref(t);
    ck_assert_int_eq(shell("rm -r %s", folder), 0);
}
END_TEST

/* The other phase's tile shows in the sums of rows that it writes: one for each row and column tile. */
START_TEST(rows_of_a_grid_keep_the_tiles_of_other_phases)
{
    static const char two[] = "block: two\ndtype: f32\ndims: {M: 4, K: 32, N: 256, P: 16}\ninputs: {x: [M, K], r: [M, N]}\n"
                              "params: {w: [N, K], n: [N], v: [P, N]}\nops:\n  - {out: h, op: linear, in: [x, w]}\n"
                              "  - {out: s, op: add, in: [h, r]}\n  - {out: g, op: rmsnorm, in: [s, n], eps: 1.0e-5}\n"
                              "  - {out: y, op: linear, in: [g, v]}\noutputs: {s: s, y: y}\n";
    char folder[] = "/tmp/tfgen-table-XXXXXX", arguments[512];
    double written[2];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    write_file(folder, "two.yaml", "%s", two);
    for (int wide = 0; wide < 2; wide++) {
        snprintf(arguments, sizeof arguments,
                 "%s/two.yaml --device=host --no-check --seconds=0 --grid 'y: m=4 n=64 k=64 thread_m=4 thread_n=32 threads=2 stages=2' "
                 "--tile 'h: m=4 n=%d k=16 thread_m=1 thread_n=32 threads=%d stages=2'", folder, wide ? 128 : 64, wide ? 16 : 8);
        json_t *t = table_of(arguments);
        written[wide] = json_number_value(json_object_get(json_array_get(json_object_get(t, "rows"), 0), "bytes_written"));
        json_decref(t);
    }
    ck_assert_double_eq(written[0] - written[1], 4 * 2 * 4); /* each of the 4 rows has two more sums */
    ck_assert_int_eq(shell("rm -r %s", folder), 0);
}
END_TEST

static const char strange[] = "block: t\ndtype: f32\ndims: {M: 4, D: 32}\ninputs: {x: [M, D]}\nops: [{out: y, op: softmax, in: [x]}]\n"
                              "outputs: {y: y}\n";

START_TEST(reports_have_every_row_and_quote_what_is_in_them)
{
    char folder[] = "/tmp/tfgen-table-XXXXXX";
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(shell("printf '%%s' '%s' > %s/t.yaml", strange, folder), 0);
    for (int i = 0; i < 4; i++) {
        static const char *const ends[] = {"html", "svg", "csv", "json"};
        ck_assert_int_eq(tfgen("table %s/t.yaml --device=host --seconds=0 -q --grid '(<b>,\"&) rows: threads=4,8,3' --report=%s/r.%s",
                               folder, folder, ends[i]),
                         0);
    }
    ck_assert_int_eq(shell("cat %s/r.csv", folder), 0);
    says("\"(<b>,\"\"&) threads=4\"");
    ck_assert_int_eq(shell("wc -l <%s/r.csv", folder), 0);
    says("4\n");
    ck_assert_int_eq(shell("cat %s/r.svg", folder), 0);
    says("(&lt;b&gt;,&quot;&amp;) threads=8");
    ck_assert_ptr_null(strstr(output, "<b>"));
    says(">time of a run, us</text>");
    is_picture(output);
    ck_assert_int_eq(shell("cat %s/r.html", folder), 0);
    ck_assert(strstr(output, "<svg") && !strstr(output, "<b>") && !strstr(output, "http://www.w3.org/1999"));
    ck_assert_int_eq(shell("rm -r %s", folder), 0);
}
END_TEST

/* On a GPU (the double of the HIP runtime) whose model has a bandwidth: the floor, and what limits it. */
START_TEST(table_rows_of_a_gpu_have_floors)
{
    use_hip_double();
    /* each launch copies all device memory into the double's process and back, so it is kept small */
    setenv("TFGEN_DOUBLE_MEMORY", "33554432", 1);
    json_t *t = table_of("rmsnorm-blocks --device=hip --seconds=0 --dim=S=64 --grid 'rows: threads=1024'");
    const json_t *row = json_array_get(json_object_get(t, "rows"), 0);
    ck_assert_str_eq(json_string_value(json_object_get(t, "target")), "gfx90a");
    ck_assert_str_eq(field(t, 0, "status"), "timed");
    ck_assert_str_eq(field(t, 0, "limit"), "memory");
    ck_assert_str_eq(field(t, 0, "note"), "");
    ck_assert(json_real_value(json_object_get(row, "floor_seconds")) > 0 && json_real_value(json_object_get(row, "of_floor")) > 0);
    json_decref(t);
    ck_assert_int_eq(tfgen("table rmsnorm-blocks --device=hip --device-model=mi250x --seconds=0"), code_usage);
    says("--device-model=mi250x is for a device that is called ");
}
END_TEST

/* The device stops while the default or a point of the grid is timed; the row of that point fails. */
START_TEST(a_lost_device_fails_a_row)
{
    static const char *const grids[] = {"", "--grid 'rows: v=8'"};
    use_hip_double();
    setenv("TFGEN_DOUBLE_MEMORY", "200000", 1);
    setenv("TFGEN_DOUBLE_FAULT", "hipEventElapsedTime:1:719", 1);
    ck_assert_int_eq(tfgen("table specs/softmax.yaml --device=hip --no-check --seconds=0 --dim=S=5 %s", grids[_i]), code_device);
    says("failed: hipEventElapsedTime: hipErrorLaunchFailure (719)");
}
END_TEST

/* On any machine, without a GPU too. */
START_TEST(the_readmes_example_has_no_illegal_row)
{
    ck_assert_int_eq(shell("c=$(grep -o '`tfgen table [^`]*`' README.md | head -1 | tr -d '`' | "
                           "sed \"s|^tfgen|${TFGEN:-./tfgen}|; s|--report=[^ ]*||\"); "
                           "eval \"$c --device=host --seconds=0 --no-check --dim=S=5\" 2>&1"), 0);
    says("threads=32");
    ck_assert_msg(!strstr(output, "illegal"), "%s", output);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("table");
    TCase *g = tcase_create("grids"), *n = tcase_create("nearest"), *c = tcase_create("command");
    tcase_add_test(g, a_tuning_grid_is_the_product_of_the_settings_in_its_lines);
    tcase_add_loop_test(g, a_wrong_grid_line_is_refused_with_its_reason, 0, sizeof bad_grids / sizeof *bad_grids);
    tcase_add_test(g, table_refuses_options_that_it_cannot_use);
    tcase_add_loop_test(n, a_grid_point_gets_the_nearest_legal_tile, 0, sizeof asked_rows / sizeof *asked_rows);
    tcase_add_loop_test(n, requested_tile_fields_are_kept_and_the_others_adapted, 0, sizeof products / sizeof *products);
    tcase_set_timeout(c, 120);
    tcase_add_loop_test(c, a_shipped_table_runs, 0, sizeof shipped / sizeof *shipped);
    tcase_add_test(c, an_illegal_point_says_why);
    tcase_add_test(c, a_wrong_row_has_no_time);
    tcase_add_test(c, an_unjudged_row_has_no_time);
    tcase_add_test(c, rows_of_a_grid_keep_the_tiles_of_other_phases);
    tcase_add_test(c, reports_have_every_row_and_quote_what_is_in_them);
    tcase_add_test(c, table_rows_of_a_gpu_have_floors);
    tcase_add_test(c, the_readmes_example_has_no_illegal_row);
    tcase_add_loop_test(c, a_lost_device_fails_a_row, 0, 2);
    suite_add_tcase(s, g), suite_add_tcase(s, n), suite_add_tcase(s, c);
    return run_suite(s);
}
