/* Numbers of launches, counted where they are issued, at every level and with each fusion turned off; the reason of every edge between two
 * kernels; the time of planning and of one compile. */
#include "runtime/cli/trial.h"
#include "runtime/compile/compiler.h"
#include "tests/support.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>


/* At most so many launches at each level. */
typedef struct model_launches {
    const char *spec;
    int launches[3];
} model_launches;
static const model_launches models[] = {{"specs/llama-block.yaml", {16, 9, 6}}, {"specs/gpt2-block.yaml", {11, 8, 7}},
                                        {"specs/bert-block.yaml", {12, 7, 7}},  {"specs/llama-decode.yaml", {19, 12, 7}},
                                        {"specs/gpt2-decode.yaml", {14, 11, 10}}};
enum { model_count = sizeof models / sizeof *models };

static int count_launches(rig *r)
{
    rig_run(r);
    const int before = guarded_launches(r->s);
    rig_execute(r);
    return guarded_launches(r->s) - before;
}

/* ---- the Llama block */
/* Counting launches is enough: the engine has no other call that works on memory, so nothing is cleared or copied in between. */
START_TEST(a_llama_block_is_13_launches_without_fusion_and_at_most_6_with_it)
{
    const dim_override dims[] = {{"S", 5}, {"D", 64}, {"H", 4}, {"F", 88}};
    for (int level = 0; level < 3; level += 2) {
        const rig_request request = {.path = "specs/llama-block.yaml", .level = (fusion_level)level, .dims = dims, .dim_count = 4};
        rig *r = rig_open(&request);
        const int launches = count_launches(r);
        printf("llama-block at %s: %d launches\n", level_names(NULL)[level], launches);
        if (level == 0) ck_assert_int_ge(launches, 13);
        else ck_assert_int_le(launches, 6);
        ck_assert_int_eq(launches, r->c.plan->launch_count);
        rig_close(r);
    }
}
END_TEST

START_TEST(plans_of_real_layers_have_no_more_launches_than_before)
{
    printf("launches             none   ops  tile\n");
    for (int i = 0; i < model_count; i++) {
        int launches[3];
        for (int level = 0; level < 3; level++) {
            rig *r = rig_plan(&(rig_request){.path = models[i].spec, .level = (fusion_level)level});
            launches[level] = r->c.plan->launch_count;
            rig_close(r);
        }
        printf("%-18s %6d%6d%6d\n", models[i].spec + strlen("specs/"), launches[0], launches[1], launches[2]);
        for (int level = 0; level < 3; level++) ck_assert_int_le(launches[level], models[i].launches[level]);
        ck_assert_int_gt(launches[0], launches[1]);
    }
}
END_TEST

/* ---- reasons */
static bool reason_known(const char *code)
{
    static const char *const codes[] = {
#define REASON(name, code, sentence) code,
#include "ir/reason.def"
    };
    for (size_t i = 1; i < sizeof codes / sizeof *codes; i++) /* the first code means that the edge is not between kernels */
        if (strcmp(codes[i], code) == 0) return true;
    return false;
}

static int count_notes(const ir_graph *p, const ir_value *v, const ir_op *user)
{
    int count = 0;
    for (int i = 0; i < p->note_count; i++)
        if (p->notes[i].value == v && p->notes[i].user == user) {
            ck_assert_msg(reason_known(p->notes[i].code), "%s is no reason", p->notes[i].code);
            count++;
        }
    return count;
}

/* Returns how many edges there are between two kernels. */
static int check_edges(const ir_graph *p, const char *spec, const char *level)
{
    int edges = 0;
    for (int i = 0; i < p->op_count; i++) {
        ir_value *used[24];
        const int n = op_operands(p->ops[i], used, 24);
        for (int k = 0; k < n; k++) {
            if (!used[k]->def || phase_of(p, used[k]->def) == phase_of(p, p->ops[i])) continue;
            const bool of_declared = op_table[used[k]->def->kind].class == class_MOVE && !value_root(used[k])->def;
            const int notes = count_notes(p, used[k], p->ops[i]);
            if (of_declared && !notes) continue; /* a view of an input is an input */
            ck_assert_msg(notes == 1, "%s at %s: %d reasons for %s", spec, level, notes, used[k]->name);
            edges++;
        }
    }
    return edges;
}

START_TEST(every_edge_between_two_kernels_has_a_reason)
{
    static const char *const targets[] = {"host", "gfx942", "sm_90a"};
    static const char *const more[] = {"specs/qkv-rope.yaml", "specs/swiglu.yaml", "specs/layernorm-gelu-linear.yaml",
                                       "specs/elementwise.yaml", "tests/specs/reuse/squares.yaml"};
    for (int i = 0; i < model_count + 5; i++)
        for (int k = 0; k < 9; k++) {
            const char *spec = i < model_count ? models[i].spec : more[i - model_count];
            rig *r = rig_plan(&(rig_request){.path = spec, .level = (fusion_level)(k % 3), .target = targets[k / 3]});
            const ir_graph *p = r->c.plan->ir;
            const int edges = check_edges(p, spec, level_names(NULL)[k % 3]);
            ck_assert_msg(edges > 0 || p->kernel_count == 1 || i >= model_count, "%s: no edges", spec);
            rig_close(r);
        }
}
END_TEST

/* ---- fusions turned off, one at a time */
#define HEAD "block: small\ndtype: f32\ndims: {B: 2}\ndynamic: {B: [1, 8]}\n"
typedef struct fusion_case {
    const char *fusion;
    int on, off; /* launches */
    const char *yaml;
} fusion_case;
static const fusion_case fusions[] = {
    {"regroup", 1, 2,
     HEAD "inputs: {x: [B, 5, 32], z: [B, 5, 32]}\nparams: {w: [32], c: [32]}\nops:\n"
          "  - {out: g, op: reshape, in: [x], shape: [B, 5, 4, 8]}\n  - {out: n, op: layernorm, in: [g], eps: 1.0e-5}\n"
          "  - {out: r, op: reshape, in: [n], shape: [B, 5, 32]}\n  - {out: s, op: mul, in: [w, r]}\n  - {out: t, op: add, in: [s, c]}\n"
          "  - {out: u, op: add, in: [t, z]}\n  - {out: y, op: silu, in: [u]}\noutputs: {y: y}\n"},
    {"product_sum", 3, 4,
     HEAD "inputs: {x: [B, 5, 32]}\nparams: {v: [32, 32], w: [24, 32], a: [32, 32], b: [32, 24], c: [32]}\nops:\n"
          "  - {out: l, op: linear, in: [x, v]}\n  - {out: s, op: silu, in: [l]}\n  - {out: m, op: linear, in: [s, w]}\n"
          "  - {out: t, op: sin, in: [m]}\n  - {out: u, op: cos, in: [l]}\n  - {out: p, op: linear, in: [u, a, c]}\n"
          "  - {out: q, op: linear, in: [t, b]}\n"
          "  - {out: y, op: add, in: [p, q]}\noutputs: {y: y}\n"},
    {"qkv", 1, 2,
     HEAD "inputs: {x: [B, 5, 32]}\nparams: {v: [32, 32], w: [24, 32]}\nops:\n"
          "  - {out: y, op: linear, in: [x, v]}\n  - {out: z, op: linear, in: [x, w]}\noutputs: {y: y, z: z}\n"},
    {"gate_up", 1, 2,
     HEAD
     "inputs: {x: [B, 5, 32]}\nparams: {v: [24, 32], w: [24, 32]}\nops:\n"
     "  - {out: g, op: linear, in: [x, v]}\n  - {out: u, op: linear, in: [x, w]}\n  - {out: y, op: mul, in: [g, u]}\noutputs: {y: y}\n"},
    {"rmsnorm", 2, 2,
     HEAD "inputs: {x: [B, 5, 32]}\nparams: {n: [32], w: [24, 32]}\nops:\n"
          "  - {out: h, op: rmsnorm, in: [x, n]}\n  - {out: y, op: linear, in: [h, w]}\noutputs: {y: y}\n"},
    {"bias", 1, 2,
     HEAD "inputs: {x: [B, 5, 32]}\nparams: {w: [24, 32], b: [24]}\nops:\n"
          "  - {out: l, op: linear, in: [x, w]}\n  - {out: y, op: add, in: [l, b]}\noutputs: {y: y}\n"},
    {"activation", 1, 2,
     HEAD "inputs: {x: [B, 5, 32]}\nparams: {w: [24, 32]}\nops:\n"
          "  - {out: l, op: linear, in: [x, w]}\n  - {out: y, op: gelu_erf, in: [l]}\noutputs: {y: y}\n"},
    {"residual", 1, 2,
     HEAD "inputs: {x: [B, 5, 32]}\nparams: {w: [32, 32]}\nops:\n"
          "  - {out: l, op: linear, in: [x, w]}\n  - {out: y, op: add, in: [x, l]}\noutputs: {y: y}\n"},
    {"rope", 1, 2,
     HEAD "inputs: {x: [B, 5, 32]}\nparams: {w: [32, 32]}\nops:\n"
          "  - {out: l, op: linear, in: [x, w]}\n  - {out: y, op: rope, in: [l], heads: 2, pairing: half}\noutputs: {y: y}\n"},
    {"kv_append", 3, 4,
     HEAD "inputs: {x: [B, 5, 32], pos: {shape: [B], dtype: i32, range: [0, 3]}}\nparams: {w: [32, 32]}\n"
          "state: {cache: [B, 2, 8, 16]}\nops:\n  - {out: l, op: linear, in: [x, w]}\n"
          "  - {out: c, op: kv_append, in: [l], state: cache, at: pos}\n"
          "  - {out: y, op: attention, in: [x, c, c], heads: 2, causal: true, at: pos}\noutputs: {y: y}\n"},
    {"statistics", 2, 3,
     HEAD "inputs: {x: [B, 5, 32]}\nparams: {v: [32, 32], n: [32], w: [24, 32]}\nops:\n"
          "  - {out: l, op: linear, in: [x, v]}\n  - {out: r, op: add, in: [x, l]}\n  - {out: h, op: rmsnorm, in: [r, n]}\n"
          "  - {out: y, op: linear, in: [h, w]}\noutputs: {r: r, y: y}\n"},
    {"elementwise", 1, 3,
     HEAD "inputs: {x: [B, 5, 32], z: [B, 5, 32]}\nops:\n  - {out: s, op: sin, in: [x]}\n"
          "  - {out: t, op: mul, in: [s, z]}\n  - {out: y, op: exp, in: [t]}\noutputs: {y: y}\n"},
    {"norm_prologue", 1, 2,
     HEAD "inputs: {x: [B, 5, 32], z: [B, 5, 32]}\nparams: {n: [32]}\nops:\n"
          "  - {out: r, op: add, in: [x, z]}\n  - {out: y, op: layernorm, in: [r, n]}\noutputs: {r: r, y: y}\n"},
    {"rope_prologue", 1, 2,
     HEAD "inputs: {x: [B, 5, 2, 16]}\nparams: {n: [16]}\nops:\n"
          "  - {out: h, op: rmsnorm, in: [x, n]}\n  - {out: y, op: rope, in: [h], heads: 2, pairing: half}\noutputs: {y: y}\n"},
    {"shared_norm", 1, 2, /* five norms: a launch has fewer phases side by side */
     HEAD "inputs: {x: [B, 5, 32]}\nparams: {m: [32], n: [32], o: [32], p: [32], q: [32]}\nops:\n"
          "  - {out: a, op: layernorm, in: [x, m]}\n  - {out: b, op: layernorm, in: [x, n]}\n  - {out: c, op: layernorm, in: [x, o]}\n"
          "  - {out: d, op: layernorm, in: [x, p]}\n  - {out: e, op: layernorm, in: [x, q]}\n"
          "outputs: {a: a, b: b, c: c, d: d, e: e}\n"},
    {"side_by_side", 1, 2,
     HEAD "inputs: {x: [B, 5, 2, 16], z: [B, 3, 16]}\nops:\n"
          "  - {out: y, op: softmax, in: [x]}\n  - {out: g, op: exp, in: [z]}\noutputs: {y: y, g: g}\n"},
    {"split", 2, 3,
     HEAD
     "inputs: {x: [B, 5, 32]}\nparams: {w: [96, 32]}\nops:\n  - {out: l, op: linear, in: [x, w]}\n"
     "  - {out: [q, k, v], op: split, in: [l], sizes: [32, 32, 32]}\n  - {out: y, op: attention, in: [q, k, v], heads: 2}\n"
     "outputs: {y: y}\n"},
    {"concat", 3, 4,
     HEAD "inputs: {x: [B, 5, 32], z: [B, 5, 32]}\nparams: {v: [24, 32], w: [32, 56], u: [32, 32]}\nops:\n"
          "  - {out: a, op: linear, in: [x, v]}\n  - {out: b, op: linear, in: [z, u]}\n  - {out: c, op: concat, in: [a, b]}\n"
          "  - {out: y, op: linear, in: [c, w]}\noutputs: {y: y}\n"},
    {"input_sums", 1, 2,
     "block: small\ndtype: bf16\ndims: {B: 2}\ninputs: {x: [B, 5, 32]}\nparams: {n: [32], w: [24, 32]}\nops:\n"
     "  - {out: h, op: rmsnorm, in: [x, n]}\n  - {out: y, op: linear, in: [h, w]}\noutputs: {y: y}\n"}};
enum { fusion_count = sizeof fusions / sizeof *fusions };

static bool folds(const rig *r)
{
    const ir_graph *p = r->c.plan->ir;
    for (int i = 0; i < p->op_count; i++)
        if (p->ops[i]->attributes.fold) return true;
    return false;
}

START_TEST(a_fusion_that_is_turned_off_leaves_its_kernels_apart_and_results_right)
{
    const fusion_case *c = &fusions[_i];
    const char *target = strcmp(c->fusion, "input_sums") == 0 ? "sm_80" : "host"; /* a target that has a program for it */
    int launches[2];
    for (int off = 0; off < 2; off++) {
        rig *r = rig_open(
            &(rig_request){.yaml = c->yaml, .level = fusion_tile, .target = target, .disabled = off ? c->fusion : NULL});
        launches[off] = count_launches(r);
        rig_run(r);
        printf("%-14s %-4s %d launches, error/bound %.3f\n", c->fusion, off ? "off" : "on", launches[off], rig_judge(r));
        if (strcmp(c->fusion, "rmsnorm") == 0) ck_assert_int_eq(folds(r), !off);
        rig_close(r);
    }
    ck_assert_int_eq(launches[0], c->on);
    ck_assert_int_eq(launches[1], c->off);
}
END_TEST

START_TEST(every_fusion_is_tested)
{
    size_t count;
    const char *const *names = fusion_names(&count);
    for (size_t i = 0; i < count; i++) {
        bool found = false;
        for (int k = 0; k < fusion_count; k++) found |= strcmp(fusions[k].fusion, names[i]) == 0;
        ck_assert_msg(found, "no case for %s", names[i]);
    }
}
END_TEST

START_TEST(hiprtc_compiles_a_kernel_of_a_llama_block)
{
    rig *r = rig_plan(&(rig_request){.path = "specs/llama-block.yaml", .level = fusion_tile, .target = "gfx90a"});
    const plan *p = r->c.plan;
    int i = 0;
    while (p->launches[i].work->phase->family == family_rows) i++;
    const char *source = source_join(r->a, &p->launches[i].source);
    const code_request request = {.source = source,
                                  .size = strlen(source),
                                  .name = p->launches[i].file,
                                  .arch = "gfx90a",
                                  .compiler = compiler_hiprtc};
    code_result result;
    const code_status status = code_compile(&request, &result);
    if (status == build_unsupported) printf("skipped: no HIPRTC\n");
    else ck_assert_msg(status == build_ok, "%s", result.log);
    code_result_free(&result);
    rig_close(r);
}
END_TEST

/* ---- what drivers take */
static const char many_heads[] = "block: b\ndtype: bf16\ndims: {B: %d}\ndynamic: {B: [1, %d]}\ninputs: {q: [B, 1, 4096], k: [B, 1, 4096]}\n"
                                 "ops:\n  - {out: a, op: attention, in: [q, k, k], heads: 256}\noutputs: {a: a}\n";
static const char many_rows[] = "block: b\ndtype: f32\ndims: {M: %d, N: 8}\ndynamic: {M: [1, %d]}\ninputs: {x: [M, N]}\n"
                                "ops:\n  - {out: y, op: l2norm, in: [x]}\n  - {out: z, op: exp, in: [y]}\noutputs: {z: z}\n";

/* HIP counts the threads of a launch in 32 bits, and on every target the number of a workgroup's next tile is an int. The plan is made for
 * dims of one; its grids are right at the largest dims, too. */
START_TEST(no_launch_is_larger_than_its_driver_takes)
{
    static const struct {
        const char *form;
        int most;
    } cases[] = {{many_heads, 300000}, {many_heads, 8380000}, {many_rows, 2146000000}};
    size_t count;
    const target_info *targets = target_list(&count), *target = &targets[_i % (int)count];
    char yaml[512];
    snprintf(yaml, sizeof yaml, cases[_i / (int)count].form, 1, cases[_i / (int)count].most);
    rig *r = rig_plan(&(rig_request){.yaml = yaml, .level = fusion_none, .target = target->name});
    dim_table high = r->c.plan->ir->dims;
    high.dims[0].value = high.dims[0].high;
    for (int i = 0; i < r->c.plan->launch_count; i++) {
        const launch *l = &r->c.plan->launches[i];
        const long long grid = launch_grid(l, &high), tiles = launch_tiles(l, &high);
        ck_assert_msg(grid * l->threads <= (target->vendor == vendor_amd ? 0xffffffffll : 0x7fffffffll * 1024), "%s: %lld x %d",
                      target->name, grid, l->threads);
        ck_assert_msg(grid >= 1 && grid <= tiles && tiles + grid <= 0x7fffffff, "%s: %lld of %lld tiles", target->name, grid, tiles);
    }
    rig_close(r);
}
END_TEST

START_TEST(more_than_int_max_tiles_are_refused_by_the_planner)
{
    char yaml[512];
    snprintf(yaml, sizeof yaml, many_heads, 1, 8400000);
    const compile_request q = {.name = "b.yaml", .text = yaml, .size = strlen(yaml), .level = fusion_none, .target = "gfx942"};
    arena *a = arena_new();
    compiled c;
    ck_assert_int_eq(compile(a, &q, &c), code_unsupported);
    const char *text = arena_diagnostics(a);
    ck_assert_msg(strncmp(text, "b.yaml:7:5: error: kernel b_attention: up to 2150400000 tiles; a launch has at most 2146435071", 92) == 0,
                  "%s", text);
    arena_free(a);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("launches");
    TCase *c = tcase_create("counts and reasons");
    tcase_set_timeout(c, 120);
    tcase_add_test(c, a_llama_block_is_13_launches_without_fusion_and_at_most_6_with_it);
    tcase_add_test(c, plans_of_real_layers_have_no_more_launches_than_before);
    tcase_add_test(c, every_edge_between_two_kernels_has_a_reason);
    tcase_add_loop_test(c, a_fusion_that_is_turned_off_leaves_its_kernels_apart_and_results_right, 0, fusion_count);
    tcase_add_test(c, every_fusion_is_tested);
    tcase_add_test(c, hiprtc_compiles_a_kernel_of_a_llama_block);
    size_t targets;
    (void)target_list(&targets);
    tcase_add_loop_test(c, no_launch_is_larger_than_its_driver_takes, 0, 3 * (int)targets);
    tcase_add_test(c, more_than_int_max_tiles_are_refused_by_the_planner);
    suite_add_tcase(suite, c);
    return run_suite(suite);
}
