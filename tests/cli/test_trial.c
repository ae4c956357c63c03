/* Trials (runtime/cli/trial.h) that judge only some rows of a large plan, or only the values that one phase stores, come to the same
 * verdict as a trial of everything. */
#include "gen/base/signature.h"
#include "runtime/cli/trial.h"
#include "runtime/cli/trial_data.h"
#include "tests/support.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const cli_options usual; /* default options: trials share the user's kernel cache, so each kernel is compiled once */

/* Calls `check` with the address of a new arena. If it bails, the test fails. */
static void check_in_arena(void (*check)(void *))
{
    arena *a = arena_new();
    ck_assert_msg(arena_run(a, check, &a) == code_ok, "%s", arena_diagnostics(a));
    arena_free(a);
}

/* Plans the spec and calls `check` with the rig (tests/support.h), which has the plan and the graph. */
static void check_plan(const char *path, void (*check)(void *))
{
    rig *r = rig_plan(&(rig_request){.path = path, .level = fusion_tile}), mine = *r;
    mine.a = arena_new();
    ck_assert_msg(arena_run(mine.a, check, &mine) == code_ok, "%s", arena_diagnostics(mine.a));
    arena_free(mine.a);
    rig_close(r);
}

/* ---- the reference of some rows */

static void check_sampled(void *argument)
{
    const rig *r = argument;
    trial_options o = {.seed = 1, .reference = reference_always, .sample_above = 1, .cache = cli_cache(r->a, &usual)};
    const trial_result some = trial_run(r->a, r->graph, r->c.plan, &o);
    o.sample_above = 0;
    const trial_result all = trial_run(r->a, r->graph, r->c.plan, &o);
    ck_assert(some.verdict == trial_good && all.verdict == trial_good);
    ck_assert_int_lt(some.check_count, all.check_count);
    for (int i = 0; i < some.check_count; i++) {
        const trial_check *c = &some.checks[i];
        ck_assert_msg(c->unjudged < c->count, "nothing of %s is judged", c->name);
        ck_assert_str_eq(c->name, all.checks[i].name);
    }
    ck_assert_int_gt(some.unjudged, 0);
}

START_TEST(large_plans_are_judged_by_sampled_rows_of_every_stored_value)
{
    check_plan("specs/llama-block.yaml", check_sampled);
}
END_TEST

/* ---- the reference of one phase */
static const trial_check *check_of(const trial_result *r, const char *name)
{
    for (int i = 0; i < r->check_count; i++)
        if (!r->checks[i].end_to_end && strcmp(r->checks[i].name, name) == 0) return &r->checks[i];
    return NULL;
}

/* Trials of one phase after the other judge every stored value, with the results of a complete trial. Partial sums are not in the graph, so
 * in their place the values of the phases that read them are judged. */
static void check_phases(void *argument)
{
    const rig *r = argument;
    bool seen[64] = {false};
    trial_options o = {.seed = 1, .reference = reference_always, .inputs = data_make(r->a, r->graph, 1, NULL),
                       .cache = cli_cache(r->a, &usual)};
    const trial_result all = trial_run(r->a, r->graph, r->c.plan, &o);
    for (int i = 0; i < r->c.plan->launch_count; i++) {
        o.only = phase_signature(r->a, r->c.plan->ir, r->c.plan->launches[i].work->phase);
        const trial_result one = trial_run(r->a, r->graph, r->c.plan, &o);
        ck_assert(one.verdict == trial_good && one.check_count >= 1 && one.check_count < all.check_count);
        for (int k = 0; k < one.check_count; k++) {
            const trial_check *as = check_of(&all, one.checks[k].name);
            ck_assert(as && as->ratio == one.checks[k].ratio && as->count == one.checks[k].count);
            seen[as - all.checks] = true;
        }
    }
    for (int i = 0; i < all.check_count; i++)
        ck_assert_msg(seen[i] || all.checks[i].end_to_end, "%s is no phase's", all.checks[i].name);
}

static const char *const phases_of[] = {"specs/llama-block.yaml", "specs/llama-decode.yaml", "specs/gpt2-block.yaml"};
START_TEST(a_phase_checked_alone_has_the_same_bounds_as_in_its_plan)
{
    check_plan(phases_of[_i], check_phases);
}
END_TEST

static const char exact_spec[] = "block: t\ndtype: f32\ndims: {M: 90, D: 64, N: 32}\ninputs: {x: [M, D]}\nparams: {n: [D], w: [N, D]}\n"
                                 "ops:\n  - {out: h, op: rmsnorm, in: [x, n], eps: %s}\n  - {out: y, op: linear, in: [h, w]}\n"
                                 "outputs: {y: y}\n";

/* The plan is of a spec with another eps than the graph. A trial that compares only a few rows finds that it is wrong, too. */
static void check_wrong(void *argument)
{
    arena *a = *(arena **)argument;
    compiled c[2];
    for (int i = 0; i < 2; i++) {
        const char *yaml = arena_printf(a, exact_spec, i ? "1.0e-3" : "1.0e-5"); /* NOLINT(clang-diagnostic-format-nonliteral) */
        const compile_request q = {.text = yaml, .size = strlen(yaml), .name = "t.yaml", .level = fusion_tile, .target = "host"};
        compile_inside(a, &q, &c[i]);
    }
    trial_options o = {.seed = 1, .reference = reference_always, .sample_above = 1, .cache = cli_cache(a, &usual)};
    for (int i = 0; i < 2; i++) { /* 1: only the first phase; the graph lacks the norm's row factor, so its reader is judged */
        const plan *p = c[1].plan;
        if (i) o.only = phase_signature(a, p->ir, p->launches[0].work->phase);
        ck_assert(i || trial_run(a, c[0].graph, c[0].plan, &o).verdict == trial_good);
        ck_assert(trial_run(a, c[0].graph, p, &o).verdict == trial_bad);
    }
}

START_TEST(a_wrong_plan_is_wrong_in_some_rows_too)
{
    check_in_arena(check_wrong);
}
END_TEST

/* ---- workgroups that wait for others, on a host engine with one worker: three tiles, each computed by two workgroups that split K */
static void check_parts(void *argument)
{
    static const char yaml[] = "block: t\ndtype: bf16\ndims: {M: 8, K: 128, N: 192}\ninputs: {x: [M, K]}\nparams: {w: [N, K]}\n"
                               "ops:\n  - {out: y, op: linear, in: [x, w]}\noutputs: {y: y}\n";
    static const char *const lines[] = {"gemm: layer=wgmma m=128 n=64 split_k=2 own_tiles=0"};
    arena *a = *(arena **)argument;
    compiled c;
    const tuning t = {.lines = lines, .count = 1};
    const compile_request q = {.text = yaml, .size = strlen(yaml), .name = "t.yaml", .level = fusion_tile, .target = "sm_90a",
                               .tuning = &t};
    compile_inside(a, &q, &c);
    ck_assert_int_eq((int)launch_grid(&c.plan->launches[0], &c.plan->ir->dims), 6);
    const trial_options alone = {.seed = 1, .reference = reference_always, .cache = cli_cache(a, &usual), .jobs = 1};
    trial_options checked = alone;
    checked.jobs = 0, checked.check = true;
    ck_assert(trial_run(a, c.graph, c.plan, &alone).verdict == trial_good);
    ck_assert(trial_run(a, c.graph, c.plan, &checked).verdict == trial_good);
}

START_TEST(workgroups_that_wait_for_each_other_finish_on_one_worker)
{
    check_in_arena(check_parts);
}
END_TEST

/* ---- rms_rounded, the error that rounding alone explains, includes the rounding of attention weights to f16. Here it matters: with 100
 * keys of nearly equal weight, rounding the weights costs as much accuracy as rounding the output. */
static void check_weights(void *argument)
{
    static const char yaml[] = "block: t\ndtype: f16\ndims: {B: 2, S: 5, T: 100, H: 4, KV: 2, hd: 16}\n"
                               "inputs: {q: [B, S, H*hd], k: [B, T, KV*hd], v: [B, T, KV*hd]}\n"
                               "ops:\n  - {out: y, op: attention, in: [q, k, v], heads: H, kv_heads: KV, softcap: 5}\noutputs: {y: y}\n";
    static const char *const lines[] = {"attention: layer=wmma"};
    arena *a = *(arena **)argument;
    compiled c;
    const tuning t = {.lines = lines, .count = 1};
    const compile_request q = {.text = yaml, .size = strlen(yaml), .name = "t.yaml", .target = "gfx1100", .tuning = &t};
    compile_inside(a, &q, &c);
    const trial_options o = {.seed = 1, .reference = reference_always, .cache = cli_cache(a, &usual)};
    const trial_result r = trial_run(a, c.graph, c.plan, &o);
    const trial_check *end = &r.checks[r.check_count - 1];
    ck_assert_msg(r.verdict == trial_good && end->end_to_end && end->rms < 1.2 * end->rms_rounded, "%g of %g", end->rms, end->rms_rounded);
}

START_TEST(weights_of_attention_that_are_rounded_count_as_rounding)
{
    check_in_arena(check_weights);
}
END_TEST

/* ---- stacks */
static void count_layers(void *context, int layer)
{
    int *n = context;
    n[layer]++;
}

/* Judged, layers 0 to n are launched for each n; else all layers once. */
static void check_stack(void *argument)
{
    enum { layers = 4 };
    static const dim_override small[] = {{"B", 2}, {"L", 13}, {"D", 64}, {"H", 2}, {"KV", 1}, {"hd", 32}, {"F", 64}};
    arena *a = *(arena **)argument;
    size_t size;
    const char *text = cli_read_file(a, "specs/llama-decode.yaml", &size);
    compiled c;
    const compile_request q = {.text = text, .size = size, .name = "t.yaml", .target = "sm_90a", .level = fusion_block,
                               .stacked = true,
                               .graph = {.overrides = small, .override_count = sizeof small / sizeof *small, .dtype = "bf16"}};
    compile_inside(a, &q, &c);
    for (int judged = 0; judged < 2; judged++) {
        int ran[layers] = {0};
        const trial_options o = {.seed = 1, .layers = layers, .cache = cli_cache(a, &usual), .layer_ran = count_layers, .context = ran,
                                 .reference = judged ? reference_always : reference_never};
        const trial_result t = trial_run(a, c.graph, c.plan, &o);
        const int each = t.check_count / layers;
        ck_assert(t.launches == 1 && t.verdict == (judged ? trial_good : trial_unchecked));
        ck_assert(judged ? each > 4 && t.check_count == each * layers : t.check_count == 0);
        for (int i = 0; i < layers; i++) ck_assert_int_eq(ran[i], judged || i + 1 == layers);
        for (int i = 0; i < t.check_count; i++) ck_assert_int_eq(atoi(t.checks[i].name), i / each);
    }
}

START_TEST(layers_of_a_stack_are_judged_each_or_run_once) { check_in_arena(check_stack); }
END_TEST

START_TEST(a_complaint_names_the_first_thing_that_is_wrong)
{
    arena *a = arena_new();
    trial_check c = {.name = "y", .ratio = 3, .spread = 2 * REF_MOST_SPREAD, .rms = 4, .rms_rounded = 2};
    ck_assert_str_eq(trial_complaint(a, &c), "value y is 3 times its bound away\n");
    c.ratio = NAN;
    ck_assert_str_eq(trial_complaint(a, &c), "value y is nan times its bound away\n");
    c.ratio = 1;
    ck_assert_ptr_nonnull(strstr(trial_complaint(a, &c), "the RMS of error/bound of y is "));
    c.spread = REF_MOST_SPREAD;
    ck_assert_ptr_nonnull(strstr(trial_complaint(a, &c), "the RMS error of y is 2 times "));
    arena_free(a);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("trial");
    TCase *c = tcase_create("trial");
    tcase_set_timeout(c, 120);
    tcase_add_test(c, large_plans_are_judged_by_sampled_rows_of_every_stored_value);
    tcase_add_loop_test(c, a_phase_checked_alone_has_the_same_bounds_as_in_its_plan, 0, sizeof phases_of / sizeof *phases_of);
    tcase_add_test(c, a_wrong_plan_is_wrong_in_some_rows_too);
    tcase_add_test(c, a_complaint_names_the_first_thing_that_is_wrong);
    tcase_add_test(c, weights_of_attention_that_are_rounded_count_as_rounding);
    tcase_add_test(c, layers_of_a_stack_are_judged_each_or_run_once);
    tcase_add_test(c, workgroups_that_wait_for_each_other_finish_on_one_worker);
    suite_add_tcase(s, c);
    return run_suite(s);
}
