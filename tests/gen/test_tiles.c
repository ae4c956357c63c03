/* In: tests/golden/tiles/TARGET.txt. For each problem it has a sweep over sizes: the sizes at which the planner's choice of tile changes,
 * and the settings that change. Out: Check's count. Refuses: another choice. The choice affects only speed, so no other test's results
 * would show a broken rule. TFGEN_GOLDEN_UPDATE=1 rewrites the files. */
#include "gen/gen.h"
#include "gen/plan/choice.h"
#include "gen/program/program.h"
#include "tests/ir/ir_golden.h"
#include "tests/support.h"

typedef struct sweep {
    const char *name, *yaml;
    const char *dim; /* grows to `most`, by a 32nd of itself and in multiples of `step` */
    long long step, most;
    dim_override others[3];
    bool narrow; /* only bf16; else f32, too */
} sweep;

#define LINEAR                                                                                          \
    "block: t\ndtype: bf16\ndims: {M: 1, N: 1, K: 1}\ninputs: {x: [M, K]}\nparams: {w: [N, K]}\nops:\n" \
    "  - {out: y, op: linear, in: [x, w]}\noutputs: {y: y}\n"
#define GATED                                                                                                       \
    "block: t\ndtype: bf16\ndims: {M: 1, N: 1, K: 1}\ninputs: {x: [M, K]}\nparams: {w: [N, K], v: [N, K]}\nops:\n"  \
    "  - {out: g, op: linear, in: [x, w]}\n  - {out: u, op: linear, in: [x, v]}\n  - {out: s, op: silu, in: [g]}\n" \
    "  - {out: y, op: mul, in: [s, u]}\noutputs: {y: y}\n"
#define RESIDUAL                                                                                                           \
    "block: t\ndtype: bf16\ndims: {M: 1, N: 1, K: 1}\ninputs: {x: [M, K], r: [M, N]}\nparams: {w: [N, K]}\nops:\n"      \
    "  - {out: l, op: linear, in: [x, w]}\n  - {out: g, op: gelu_erf, in: [l]}\n  - {out: y, op: add, in: [g, r]}\n" \
    "outputs: {y: y}\n"
#define ROWS(op, more, params)                                                                    \
    "block: t\ndtype: bf16\ndims: {M: 1, D: 1}\ninputs: {x: [M, D], r: [M, D]}\n" params "ops:\n" \
    "  - {out: s, op: add, in: [x, r]}\n  - {out: y, op: " op ", in: [s" more "]}\noutputs: {y: y}\n"
#define ATTENTION(causal)                                                                                                             \
    "block: t\ndtype: bf16\ndims: {B: 2, S: 1, H: 8, KV: 2, hd: 64}\ninputs: {q: [B, S, H*hd], k: [B, S, KV*hd], v: [B, S, KV*hd]}\n" \
    "ops:\n  - {out: y, op: attention, in: [q, k, v], heads: H, kv_heads: KV, causal: " causal "}\noutputs: {y: y}\n"
#define DECODE                                                                                                                   \
    "block: t\ndtype: bf16\ndims: {B: 1, S: 1, L: 1, H: 8, KV: 2, hd: 64}\n"                                                     \
    "inputs: {q: [B, S, H*hd], k: [B, S, KV*hd], v: [B, S, KV*hd], pos: {shape: [B], dtype: i32}}\n"                             \
    "state: {keys: [B, KV, L, hd], values: [B, KV, L, hd]}\nops:\n  - {out: kc, op: kv_append, in: [k], state: keys, at: pos}\n" \
    "  - {out: vc, op: kv_append, in: [v], state: values, at: pos}\n"                                                            \
    "  - {out: y, op: attention, in: [q, kc, vc], heads: H, kv_heads: KV, causal: true, at: pos}\noutputs: {y: y}\n"

static const sweep sweeps[] = {{"linear", LINEAR, "M", 1, 16384, {{"N", 4096}, {"K", 4096}}, false},
                               {"linear", LINEAR, "M", 1, 4096, {{"N", 384}, {"K", 14336}}, false},
                               {"linear", LINEAR, "M", 1, 4096, {{"N", 5000}, {"K", 40}}, true},
                               {"linear", LINEAR, "N", 8, 16384, {{"M", 256}, {"K", 1368}}, false},
                               {"residual", RESIDUAL, "M", 1, 4096, {{"N", 4096}, {"K", 1024}}, true},
                               {"residual", RESIDUAL, "N", 8, 16384, {{"M", 384}, {"K", 2048}}, true},
                               {"linear", LINEAR, "K", 8, 65536, {{"M", 512}, {"N", 1024}}, false},
                               {"linear", LINEAR, "K", 64, 32768, {{"M", 128}, {"N", 2048}}, false},
                               {"linear", LINEAR, "N", 32, 16384, {{"M", 100}, {"K", 6144}}, false},
                               {"linear", LINEAR, "N", 32, 16384, {{"M", 256}, {"K", 16384}}, false},
                               {"gated linear", GATED, "M", 1, 16384, {{"N", 14336}, {"K", 4096}}, false},
                               {"rmsnorm", ROWS("rmsnorm", ", w", "params: {w: [D]}\n"), "D", 8, 65536, {{"M", 2048}}, false},
                               {"softmax", ROWS("softmax", "", ""), "D", 8, 65536, {{"M", 16}}, false},
                               {"softmax", ROWS("softmax", "", ""), "M", 1, 65536, {{"D", 1000}}, true},
                               {"causal attention", ATTENTION("true"), "S", 1, 8192, {{"hd", 64}}, false},
                               {"attention", ATTENTION("false"), "S", 1, 8192, {{"hd", 128}}, true},
                               {"attention", ATTENTION("false"), "S", 1, 1024, {{"hd", 96}}, false},
                               {"causal attention", ATTENTION("true"), "hd", 8, 256, {{"S", 2048}}, false},
                               {"attention", ATTENTION("false"), "hd", 8, 1024, {{"S", 17}}, false},
                               {"decode", DECODE, "L", 8, 65536, {{"hd", 128}}, false},
                               {"decode", DECODE, "B", 1, 256, {{"L", 4096}}, true},
                               {"decode", DECODE, "L", 8, 2048, {{"B", 400}}, true}};
enum { sweep_count = sizeof sweeps / sizeof *sweeps };

typedef struct job {
    arena *a;
    const sweep *s;
    const char *dtype;
    const target_info *target;
    long long size;
    text tile; /* of all phases: "layer=simt m=64 " */
} job;

static void choose(void *argument)
{
    job *j = argument;
    dim_override dims[4] = {{j->s->dim, j->size}};
    size_t count = 1;
    for (; count < 4 && j->s->others[count - 1].name; count++) dims[count] = j->s->others[count - 1];
    const graph_options options = {.overrides = dims, .override_count = count, .dtype = j->dtype};
    const fuse_options fusion = {.level = fusion_tile};
    const ir_graph *graph = graph_read(j->a, j->s->yaml, strlen(j->s->yaml), "sweep.yaml", &options);
    const plan *p = plan_choose(j->a, fuse(j->a, lower(j->a, graph), &fusion), device_model_default(j->a, j->target), NULL);
    for (int i = 0; i < p->launch_count; i++)
        for (int k = 0; k < p->launches[i].kernel->phase_count; k++) {
            const ir_phase *phase = p->launches[i].kernel->phases[k];
            const program_info *of = &program_table[phase->tile.program];
            if (family_programs(of->family) > 1) text_printf(&j->tile, "%s ", layer_names(NULL)[of->layer]);
            for (int t = 0; t < of->field_count; t++)
                if (of->fields[t].help) text_printf(&j->tile, "%s=%d ", of->fields[t].name, phase->tile.at[t]);
            text_printf(&j->tile, "| ");
        }
}

/* Prints the settings that differ from those of the size before, or all of them if the program differs. */
static void print_changes(text *out, const char *before, const char *now)
{
    for (const char *at = now; *at;) {
        const size_t n = strcspn(at, " ") + 1, old = strcspn(before, " ") + 1;
        if (n != old || strncmp(at, before, n) != 0 || *at == '|') text_printf(out, " %.*s", (int)n - 1, at);
        at += n;
        if (*before) before += old;
    }
    text_printf(out, "\n");
}

static void print_sweep(arena *a, text *out, const sweep *s, const char *dtype, const target_info *target)
{
    const char *before = "";
    text_printf(out, "%s %s", s->name, dtype);
    for (int i = 0; i < 3 && s->others[i].name; i++) text_printf(out, " %s=%lld", s->others[i].name, s->others[i].value);
    text_printf(out, "\n");
    for (long long size = s->step; size <= s->most; size += (size / 32 / s->step + 1) * s->step) {
        job j = {arena_new(), s, dtype, target, size, {0}};
        j.tile.a = a;
        const tfgen_code code = arena_run(j.a, choose, &j);
        ck_assert_msg(code == code_ok, "%s %s=%lld: %s", s->name, s->dim, size, arena_diagnostics(j.a));
        if (strcmp(before, j.tile.data) != 0) {
            text_printf(out, "  %s=%lld", s->dim, size);
            print_changes(out, before, j.tile.data);
            before = j.tile.data;
        }
        arena_free(j.a);
    }
}

/* Fails at the first line that differs. */
static void compare_lines(const golden *g, const char *now)
{
    const char *was = g->after;
    int line = 2; /* after "---" */
    for (; *was && *now; line++) {
        const size_t n = strcspn(was, "\n"), m = strcspn(now, "\n");
        if (n != m || memcmp(was, now, n) != 0) break;
        was += n + 1, now += m + 1;
    }
    ck_assert_msg(!*was && !*now, "%s:%d: \"%.*s\" is \"%.*s\"", g->path, line, (int)strcspn(was, "\n"), was, (int)strcspn(now, "\n"), now);
}

START_TEST(the_planner_chooses_the_tiles_of_the_golden_file)
{
    size_t count;
    const target_info *target = &target_list(&count)[_i];
    arena *a = arena_new();
    text out = {.a = a};
    for (int i = 0; i < sweep_count; i++)
        for (int narrow = 1; narrow >= sweeps[i].narrow; narrow--) print_sweep(a, &out, &sweeps[i], narrow ? "bf16" : "f32", target);
    golden g = {.a = a, .path = arena_printf(a, "tests/golden/tiles/%s.txt", target->name), .head = "", .before = "", .after = ""};
    if (golden_updates())
        compare_golden(&g, out.data);
    else {
        g.after = read_text_file(a, g.path) + strlen("---\n");
        compare_lines(&g, out.data);
    }
    arena_free(a);
}
END_TEST

/* Tiles are equal only if their programs and all of their fields are. */
START_TEST(tiles_that_differ_in_one_field_are_not_equal)
{
    for (program_kind kind = 1; kind < program_count; kind++)
        for (int i = 0; i < program_table[kind].field_count; i++) {
            ir_tile x = {.program = kind}, y = x;
            y.at[i] = 1 << i;
            ck_assert_msg(tile_same(&x, &x) && !tile_same(&x, &y), "%s: %s", program_table[kind].name, program_table[kind].fields[i].name);
            ck_assert(!tile_same(&x, &(ir_tile){.program = kind == 1 ? 2 : 1}));
        }
}
END_TEST

/* ---- the program that is chosen: choice_best() */
/* Seconds and usual seconds of wgmma, swap_ab and mma_direct, and the best. By the time of pairs alone, none would be: a program that usual
 * costs do not prefer loses to another one, which loses to a third one, which loses to the first. */
static const struct {
    double seconds[3], usual[3];
    program_kind best;
} threes[] = {{{100, 97, 98}, {50, 60, 0}, program_gemm_mma_direct}, {{100, 97, 99}, {60, 50, 0}, program_gemm_swap_ab},
              {{100, 94, 95}, {50, 60, 0}, program_gemm_swap_ab},    {{100, 97, 101}, {50, 60, 0}, program_gemm_wgmma},
              {{100, 90, 101}, {100, 110, 0}, program_gemm_wgmma},   {{100, 90, 80}, {100, 110, 0}, program_gemm_mma_direct}};

START_TEST(the_best_of_three_programs_is_chosen_in_any_order)
{
    static const int orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    static const program_kind kinds[] = {program_gemm_wgmma, program_gemm_swap_ab, program_gemm_mma_direct};
    for (int i = 0; i < 6; i++) {
        alternative list[3];
        for (int k = 0; k < 3; k++) {
            const int n = orders[i][k];
            list[k] = (alternative){.of = program_at(kinds[n]), .seconds = threes[_i].seconds[n], .usual = threes[_i].usual[n]};
        }
        ck_assert_int_eq(choice_best(list, 3, false, NULL)->of->kind, threes[_i].best);
    }
}
END_TEST

static unsigned long long drawn(unsigned long long *state)
{
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return *state >> 33;
}

static alternative drawn_alternative(unsigned long long *state, program_kind kind)
{
    alternative x = {.of = program_at(kind), .seconds = 1 + (double)(drawn(state) % 100000) / 1e6};
    const int usual = (int)(drawn(state) % 4);
    if (usual) x.usual = usual == 3 ? x.seconds : 1 + (double)(drawn(state) % 100000) / 1e6;
    if (drawn(state) % 3 == 0) x.worse = "w";
    if (drawn(state) % 6 == 0) x.obstacle = "o";
    return x;
}

START_TEST(the_order_of_a_list_does_not_matter)
{
    enum { count = 7 };
    unsigned long long state = (unsigned long long)_i;
    alternative list[count];
    for (int k = 0; k < count; k++) list[k] = drawn_alternative(&state, program_gemm_simt + k);
    const alternative *best = choice_best(list, count, _i % 2, NULL);
    const program *of = best ? best->of : NULL;
    for (int again = 0; again < 50; again++) {
        const int i = (int)(drawn(&state) % count), k = (int)(drawn(&state) % count);
        const alternative was = list[i];
        list[i] = list[k], list[k] = was;
        const alternative *now = choice_best(list, count, _i % 2, NULL);
        ck_assert_ptr_eq(now ? now->of : NULL, of);
        ck_assert(!now || !now->obstacle);
    }
}
END_TEST

/* Where times are guesses, programs on matrix units come first among those marked worse. */
START_TEST(a_program_marked_worse_is_chosen_only_where_all_are)
{
    alternative list[] = {{.of = program_at(program_gemm_simt), .worse = "w", .seconds = 1},
                          {.of = program_at(program_gemm_mma), .worse = "w", .seconds = 2},
                          {.of = program_at(program_gemm_skinny), .seconds = 3}};
    ck_assert_int_eq(choice_best(list, 3, false, NULL)->of->kind, program_gemm_skinny);
    ck_assert_int_eq(choice_best(list, 2, false, NULL)->of->kind, program_gemm_simt);
    ck_assert_int_eq(choice_best(list, 2, true, NULL)->of->kind, program_gemm_mma);
    bool tried[program_count] = {[program_gemm_skinny] = true};
    ck_assert_int_eq(choice_best(list, 3, false, tried)->of->kind, program_gemm_simt);
    list[0].rewrites = rewrite_aligned_rows;
    ck_assert_int_eq(choice_best(list, 3, false, tried)->of->kind, program_gemm_mma);
    ck_assert_ptr_null(choice_best(list, 1, false, tried));
}
END_TEST

int main(void)
{
    size_t targets;
    target_list(&targets);
    Suite *suite = suite_create("tiles");
    TCase *c = tcase_create("sweeps");
    tcase_set_timeout(c, 120);
    tcase_add_loop_test(c, the_planner_chooses_the_tiles_of_the_golden_file, 0, (int)targets);
    tcase_add_test(c, tiles_that_differ_in_one_field_are_not_equal);
    tcase_add_loop_test(c, the_best_of_three_programs_is_chosen_in_any_order, 0, sizeof threes / sizeof *threes);
    tcase_add_loop_test(c, the_order_of_a_list_does_not_matter, 0, 40);
    tcase_add_test(c, a_program_marked_worse_is_chosen_only_where_all_are);
    suite_add_tcase(suite, c);
    return run_suite(suite);
}
