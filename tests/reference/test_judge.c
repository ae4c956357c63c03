/* Tests of the verdicts: a plan that computes another graph, leaves elements unwritten or is slightly wrong everywhere must not pass, and
 * the wrong value is named. In process, the plan of one spec is compared with the graph of another; the command gets a compiler that
 * compiles something else. */
#define _GNU_SOURCE
#include "runtime/cli/trial.h"
#include "ir/graph/half.h"
#include "runtime/data/safetensors.h"
#include "runtime/device/device.h"
#include "runtime/cli/ref_plan.h"
#include "tests/support.h"
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

typedef struct attempt {
    arena *a;
    const char *planned, *wanted; /* specs */
    fusion_level level;
    const char *from, *to; /* a text in the kernels' sources that is replaced before they are compiled, or NULL */
    int replaced;
    struct told *told; /* receives numbers and bounds of the only output, or NULL */
    tfgen_device *device; /* NULL: the host engine */
    bool retyped;         /* the plan has %l as f16 */
    const char *target;   /* NULL: host */
    const ref_tensor *(*inputs)(arena *a, const ir_graph *graph); /* NULL: random */
    bool refused; /* the graph cannot have the roundings that the plan states */
    trial_result result;
} attempt;

static char *replace(arena *a, const char *whole, const char *from, const char *to, int *count)
{
    text t = {.a = a};
    for (const char *at; (at = strstr(whole, from)) != NULL; whole = at + strlen(from), ++*count)
        text_printf(&t, "%.*s%s", (int)(at - whole), whole, to);
    text_printf(&t, "%s", whole);
    return t.data;
}

static compiled compile_text(arena *a, const char *yaml, const char *target, fusion_level level)
{
    compiled c;
    const compile_request q = {
        .name = "test.yaml", .text = yaml, .size = strlen(yaml), .target = target ? target : "host", .level = level};
    compile_inside(a, &q, &c);
    return c;
}

static void take_result(void *context, const ir_value *output, const double *got, const double *bound, size_t count);

static void try_inside(void *argument)
{
    attempt *t = argument;
    const compiled c = compile_text(t->a, t->planned, t->target, t->level), wanted = compile_text(t->a, t->wanted, t->target, t->level);
    for (int i = 0; t->from && i < c.plan->launch_count; i++)
        c.plan->launches[i].source =
            (source_text){"", "", replace(t->a, source_join(t->a, &c.plan->launches[i].source), t->from, t->to, &t->replaced)};
    const cli_options none = {0};
    if (t->retyped) ((ir_value *)graph_value(c.plan->ir, "l"))->type = dtype_f16;
    const trial_options o = {.seed = 3,
                             .reference = reference_always,
                             .device = t->device,
                             .inputs = t->inputs ? t->inputs(t->a, wanted.graph) : NULL,
                             .cache = cli_cache(t->a, &none),
                             .result = t->told ? take_result : NULL,
                             .context = t->told};
    t->result = trial_run(t->a, wanted.graph, c.plan, &o);
}

static attempt try_plan(const char *planned, const char *wanted, fusion_level level, const char *from, const char *to)
{
    attempt t = {.a = arena_new(), .planned = planned, .wanted = wanted, .level = level, .from = from, .to = to};
    const tfgen_code code = arena_run(t.a, try_inside, &t);
    ck_assert_msg(code == code_ok || code == code_check_failed, "%s", arena_diagnostics(t.a));
    t.refused = code != code_ok;
    ck_assert(t.refused || t.result.referenced);
    ck_assert(!from || t.replaced);
    return t;
}

/* The first check that fails; NULL when all are good, which must be exactly when the trial as a whole is good. */
static const trial_check *first_bad(const attempt *t)
{
    const trial_check *bad = NULL;
    for (int i = 0; i < t->result.check_count && !bad; i++)
        if (t->result.checks[i].verdict == trial_bad) bad = &t->result.checks[i];
    ck_assert_int_eq(t->result.verdict == trial_bad, bad != NULL);
    return bad;
}

/* ---- a plan of another graph */
#define BLOCK \
    "block: judged\ndtype: f32\ndims: {B: 2, S: 7, D: 32, H: 4, KV: 2, hd: 8, F: 24}\ninputs: {x: [B, S, D]}\n" \
    "params: {g: [D], n: [D], e: [D], wq: [H*hd, D], wk: [KV*hd, D], wv: [KV*hd, D], wo: [D, H*hd], wg: [F, D], wu: [F, D], wd: [D, " \
    "F]}\nops:\n" \
    "  - {out: h, op: rmsnorm, in: [x, g], eps: 1.0e-5}\n" \
    "  - {out: q, op: linear, in: [h, wq]}\n  - {out: k, op: linear, in: [h, wk]}\n  - {out: v, op: linear, in: [h, wv]}\n" \
    "  - {out: qr, op: rope, in: [q], heads: H, pairing: half, theta: 10000}\n" \
    "  - {out: kr, op: rope, in: [k], heads: KV, pairing: half}\n" \
    "  - {out: a, op: attention, in: [qr, kr, v], heads: H, kv_heads: KV, causal: true}\n" \
    "  - {out: o, op: linear, in: [a, wo]}\n  - {out: x1, op: add, in: [x, o]}\n" \
    "  - {out: m, op: layernorm, in: [x1, n, e]}\n  - {out: gate, op: linear, in: [m, wg]}\n  - {out: up, op: linear, in: [m, wu]}\n" \
    "  - {out: act, op: silu, in: [gate]}\n  - {out: prod, op: mul, in: [act, up]}\n  - {out: down, op: linear, in: [prod, wd]}\n" \
    "  - {out: x2, op: add, in: [x1, down]}\n  - {out: p, op: softmax, in: [x2]}\n  - {out: s, op: row_sum, in: [x2]}\n" \
    "  - {out: u, op: sub, in: [x2, s]}\n  - {out: t, op: max, in: [u, p]}\noutputs: {y: t}\n"

static const struct {
    const char *from, *to, *value; /* from, to: in the spec; value: the first wrong value after the edit */
} changes[] = {{"rmsnorm, in: [x, g], eps: 1.0e-5", "rmsnorm, in: [x, g], eps: 1.0e-3", "h"},
               {"rmsnorm, in: [x, g], eps: 1.0e-5", "rmsnorm, in: [x, g], eps: 1.0e-5, unit_offset: true", "h"},
               {"linear, in: [h, wk]", "linear, in: [x, wk]", "k"},
               {"theta: 10000", "theta: 9900", "qr"},
               {"pairing: half, theta", "pairing: interleaved, theta", "qr"},
               {"in: [k], heads: KV", "in: [k], heads: 1", "kr"},
               {"causal: true", "causal: false", "a"},
               {"causal: true", "causal: true, window: 6", "a"},
               {"causal: true", "causal: true, scale: 0.35", "a"},
               {"causal: true", "causal: true, softcap: 50", "a"},
               {"kv_heads: KV, causal", "kv_heads: 2, causal", NULL}, /* means the same */
               {"add, in: [x, o]", "sub, in: [x, o]", "x1"},
               {"layernorm, in: [x1, n, e]", "layernorm, in: [x1, n, e], eps: 1.0e-4", "m"},
               {"silu", "gelu_tanh", "act"},
               {"mul, in: [act, up]", "sub, in: [act, up]", "prod"},
               {"softmax, in: [x2]", "softmax, in: [x1]", "p"},
               {"row_sum", "row_mean", "s"},
               {"row_sum", "row_sumsq", "s"},
               {"sub, in: [x2, s]", "sub, in: [s, x2]", "u"},
               {"max, in: [u, p]", "min, in: [u, p]", "t"}};
enum { change_count = sizeof changes / sizeof *changes };

/* A plan names roundings by the line and column of ops in the file. Each op has a line of its own, so that an edit moves no other op. */
START_TEST(a_plan_of_another_graph_is_wrong_where_it_differs)
{
    arena *a = arena_new();
    const fusion_level level = _i ? fusion_tile : fusion_none;
    for (int i = 0; i < change_count; i++) {
        int count = 0;
        const char *wanted = replace(a, BLOCK, changes[i].from, changes[i].to, &count);
        ck_assert_int_eq(count, 1);
        const attempt t = try_plan(BLOCK, wanted, level, NULL, NULL);
        const trial_check *bad = t.refused ? NULL : first_bad(&t);
        ck_assert_msg((bad || t.refused) == (changes[i].value != NULL), "%s: %s", changes[i].to, bad ? bad->name : arena_diagnostics(t.a));
        if (t.refused)
            ck_assert_msg(level == fusion_tile && strstr(arena_diagnostics(t.a), "the plan folds "), "%s",
                          arena_diagnostics(t.a));
        /* At level none every value is stored, so the first wrong value is named. At tile, a wrong value inside a kernel shows at the value
         * that the kernel stores. */
        if (bad && level == fusion_none)
            ck_assert_msg(!bad->end_to_end && strcmp(bad->name, changes[i].value) == 0, "%s: %s", changes[i].to, bad->name);
        arena_free(t.a);
    }
    arena_free(a);
}
END_TEST

/* ---- dtypes that a plan may state */
typedef struct spoil_job {
    arena *a;
    int how;
    const char *wrong;
} spoil_job;

static void spoil_inside(void *argument)
{
    spoil_job *j = argument;
    const compiled c = compile_text(j->a, BLOCK, NULL, fusion_tile);
    for (int i = 0; i < c.plan->ir->value_count; i++) {
        ir_value *v = c.plan->ir->values[i];
        const bool own = graph_value(c.graph, v->name) != NULL;
        if (j->how == 1 && own && strcmp(v->name, "x1") == 0) v->type = dtype_bf16;
        if (j->how == 2 && own && strcmp(v->name, "a") == 0) v->shape[1] = extent_number(1);
        if (j->how == 3 && !own && v->kind == value_result) v->type = dtype_f16;
    }
    if (j->how == 4) c.plan->packs[0].format = format_plain(dtype_bf16);
    j->wrong = ref_plan_wrong(j->a, c.plan, c.graph);
}

START_TEST(a_plan_keeps_the_dtypes_and_shapes_of_the_graph)
{
    static const char *const says[] = {NULL, "%x1 as bf16", "%a as f32", " as f16", "packs %"};
    for (int how = 0; how < 5; how++) {
        spoil_job j = {arena_new(), how, NULL};
        ck_assert_int_eq(arena_run(j.a, spoil_inside, &j), code_ok);
        ck_assert_msg(how ? j.wrong && strstr(j.wrong, says[how]) : !j.wrong, "%d: %s", how, j.wrong ? j.wrong : "passes");
        arena_free(j.a);
    }
}
END_TEST

/* Fusion copies ops whose results the graph has in 16 bits (`y.ms`). The copies are not stored, so they are not rounded. */
START_TEST(values_in_registers_are_not_rounded)
{
    const char *yaml =
        "block: byhand\ndtype: bf16\ndims: {S: 5, D: 32, N: 16}\ninputs: {x: [S, D]}\nparams: {g: [D], w: [N, D]}\nops:\n"
        "  - {out: ss, op: row_sumsq, in: [x]}\n  - {out: ms, op: div, in: [ss, 32]}\n  - {out: r, op: rsqrt, in: [ms]}\n"
        "  - {out: n, op: mul, in: [x, r]}\n  - {out: h, op: mul, in: [n, g]}\n  - {out: y, op: linear, in: [h, w]}\noutputs: {y: y}\n";
    const attempt t = try_plan(yaml, yaml, fusion_tile, NULL, NULL);
    ck_assert_msg(!t.refused && !first_bad(&t), "%s", arena_diagnostics(t.a));
    arena_free(t.a);
}
END_TEST

/* A row's sum computed by two workgroups is in memory as two numbers, which are judged as one sum. */
START_TEST(a_value_stored_as_two_terms_is_judged_as_one_number)
{
    const char *yaml = "block: t\ndtype: f32\ndims: {M: 21, K: 50, N: 200, P: 9}\ninputs: {x: [M, K], r: [M, N]}\n"
                       "params: {w: [N, K], v: [P, N]}\nops:\n  - {out: h, op: linear, in: [x, w]}\n  - {out: s, op: add, in: [h, r]}\n"
                       "  - {out: q, op: row_sumsq, in: [s]}\n  - {out: d, op: rsqrt, in: [q]}\n  - {out: g, op: mul, in: [s, d]}\n"
                       "  - {out: y, op: linear, in: [g, v]}\noutputs: {s: s, y: y}\n";
    const attempt t = try_plan(yaml, yaml, fusion_tile, NULL, NULL);
    const compiled c = compile_text(t.a, yaml, NULL, fusion_tile);
    const ir_value *q = graph_value(c.plan->ir, "q");
    int parts = 0;
    for (int i = 0; i < c.plan->stored_count; i++)
        if (c.plan->stored[i].value == q) parts = c.plan->stored[i].partials;
    ck_assert_int_eq(parts, 2);
    ck_assert_msg(!t.refused && !first_bad(&t), "%s", arena_diagnostics(t.a));
    long long judged = 0;
    for (int i = 0; i < t.result.check_count; i++)
        if (strcmp(t.result.checks[i].name, "q") == 0) judged = t.result.checks[i].count;
    ck_assert_int_eq(judged, 21);
    arena_free(t.a);
}
END_TEST

/* ---- values that are never written */
#define TAIL "block: tail\ndtype: bf16\ndims: {M: 11, D: 24}\ninputs: {x: [M, D]}\nparams: {w: [D, D]}\nops:\n"
static const struct {
    const char *yaml, *from, *to, *value;
} tails[] = {
    {TAIL "  - {out: h, op: square, in: [x]}\n  - {out: y, op: linear, in: [h, w]}\noutputs: {y: y}\n",
     "rows(const args &p) { return 11; }", "rows(const args &p) { return 10; }", "h"},
    {TAIL "  - {out: y, op: linear, in: [x, w]}\noutputs: {y: y}\n", "const int left = 24 - col;", "const int left = 23 - col;", "y"},
    /* NaN is expected everywhere; memory that was never written is NaN, too, but is still an error */
    {TAIL
     "  - {out: h, op: linear, in: [x, w]}\n  - {out: q, op: square, in: [h]}\n  - {out: n, op: sub, in: [-1, q]}\n"
     "  - {out: y, op: log, in: [n]}\noutputs: {y: y}\n",
     "rows(const args &p) { return 11; }", "rows(const args &p) { return 10; }", "h"}};

START_TEST(an_unwritten_element_has_an_infinite_error)
{
    const attempt sound = try_plan(tails[_i].yaml, tails[_i].yaml, fusion_none, NULL, NULL);
    ck_assert_ptr_null(first_bad(&sound));
    ck_assert_int_eq(sound.result.unjudged, 0);
    const attempt t = try_plan(tails[_i].yaml, tails[_i].yaml, fusion_none, tails[_i].from, tails[_i].to);
    const trial_check *bad = first_bad(&t), *last = &t.result.checks[t.result.check_count - 1];
    ck_assert_msg(bad && isinf(bad->ratio) && strcmp(bad->name, tails[_i].value) == 0, "%s", bad ? bad->name : "passes");
    ck_assert(last->end_to_end && last->verdict == trial_bad && isinf(last->ratio));
    arena_free(sound.a);
    arena_free(t.a);
}
END_TEST

/* ---- slightly wrong everywhere: each element is within its bound, which is six roundings wide, but all together are too far off */
#define OFF(dtype, factor) "block: off\ndtype: " dtype "\ndims: {M: 64, D: 40}\ninputs: {x: [M, D]}\nparams: {w: [D, D]}\nops:\n" \
    "  - {out: l, op: linear, in: [x, w]}\n  - {out: y, op: mul, in: [l, " factor "]}\noutputs: {y: y}\n"

/* The norm of equal numbers is 0 but for its own roundings; of nearly equal numbers it depends on what f32 keeps of their differences. */
static const char *const ill_norms[] = {
    "block: same\ndtype: bf16\ndims: {B: 3, S: 2, G: 3}\ninputs: {x: [B, S, G, 3, 1]}\nparams: {w: [6]}\nops:\n"
    "  - {out: t, op: concat, in: [x, x, x, x, x, x]}\n  - {out: g, op: gelu_erf, in: [t]}\n"
    "  - {out: y, op: layernorm, in: [g, w]}\noutputs: {y: y}\n",
    "block: near\ndtype: bf16\ndims: {M: 64, D: 12}\ninputs: {x: [M, D]}\nparams: {w: [D]}\nops:\n"
    "  - {out: t, op: mul, in: [x, 1.0e-5]}\n  - {out: g, op: add, in: [t, 1]}\n"
    "  - {out: y, op: layernorm, in: [g, w], eps: 1.0e-12}\noutputs: {y: y}\n"};

START_TEST(a_norm_of_nearly_equal_numbers_is_not_judged_by_the_rounding_of_stores)
{
    const attempt t = try_plan(ill_norms[_i], ill_norms[_i], fusion_ops, NULL, NULL);
    const trial_check *last = &t.result.checks[t.result.check_count - 1];
    ck_assert_msg(!first_bad(&t), "%s", trial_complaint(t.a, first_bad(&t)));
    ck_assert(last->end_to_end && last->count >= ref_spread_count);
    ck_assert_msg(last->rms > 1e-3 && last->rms_rounded == 0, "RMS %g, %g", last->rms, last->rms_rounded);
    arena_free(t.a);
}
END_TEST

/* Later tokens have weight 0, but 0 times NaN is NaN. */
START_TEST(results_of_hidden_keys_that_are_nan_are_not_judged)
{
    const char *yaml = "block: h\ndtype: f16\ndims: {B: 1, S: 40, H: 1, hd: 16}\ninputs: {q: [B, S, H*hd], k: [B, S, H*hd], "
                       "x: [B, S, H*hd], z: [B, S, 1]}\nops:\n  - {out: s, op: add, in: [z, 1.5]}\n  - {out: l, op: log, in: [s]}\n"
                       "  - {out: v, op: add, in: [x, l]}\n  - {out: y, op: attention, in: [q, k, v], heads: H, causal: true}\n"
                       "outputs: {y: y}\n";
    const attempt t = try_plan(yaml, yaml, fusion_none, NULL, NULL);
    ck_assert_msg(!first_bad(&t), "%s", first_bad(&t) ? trial_complaint(t.a, first_bad(&t)) : "");
    const trial_check *last = &t.result.checks[t.result.check_count - 1];
    ck_assert_msg(last->unjudged > 0 && last->unjudged < last->count, "%lld of %lld", last->unjudged, last->count);
    arena_free(t.a);
}
END_TEST

START_TEST(a_plan_with_other_dtypes_than_its_graph_is_refused)
{
    attempt t = {.a = arena_new(), .planned = OFF("bf16", "1.5"), .wanted = OFF("bf16", "1.5"), .level = fusion_none, .retyped = true};
    const tfgen_code code = arena_run(t.a, try_inside, &t);
    ck_assert_msg(code == code_check_failed && strstr(arena_diagnostics(t.a), "%l as f16") != NULL, "%s", arena_diagnostics(t.a));
    arena_free(t.a);
}
END_TEST

START_TEST(an_error_of_one_and_a_half_per_cent_everywhere_fails_by_rms)
{
    const attempt t = try_plan(OFF("bf16", "1.000"), OFF("bf16", "1.015"), fusion_tile, NULL, NULL);
    const trial_check *bad = first_bad(&t), *last = &t.result.checks[t.result.check_count - 1];
    ck_assert(bad && bad->ratio <= 1 && bad->spread > REF_MOST_SPREAD);
    ck_assert(last->verdict == trial_bad && last->end_to_end && last->ratio <= 1 && last->rms > 1.5 * last->rms_rounded);
    arena_free(t.a);
}
END_TEST

/* Bisects between a factor that passes and one that fails, until the two are close to the limit. */
START_TEST(the_rms_limit_is_one_and_a_half_times_the_error_of_rounding)
{
    double good = 1, bad = 1.02, at_good = 0, at_bad = 0;
    for (int i = 0; i < 12; i++) {
        char wanted[512];
        const double factor = (good + bad) / 2;
        snprintf(wanted, sizeof wanted, OFF("bf16", "%.6f"), factor);
        const attempt t = try_plan(OFF("bf16", "1.000000"), wanted, fusion_tile, NULL, NULL);
        const trial_check *last = &t.result.checks[t.result.check_count - 1];
        *(last->verdict == trial_good ? &good : &bad) = factor;
        *(last->verdict == trial_good ? &at_good : &at_bad) = last->rms / last->rms_rounded;
        arena_free(t.a);
    }
    ck_assert_msg(at_good > 1.495 && at_good <= 1.5 && at_bad > 1.5 && at_bad < 1.505, "%g passes, %g does not", at_good, at_bad);
}
END_TEST

/* A norm of 16 bits is fused into a cast to f32: no value is rounded to 16 bits, so the output is judged as f32. */
START_TEST(an_f32_output_without_16_bit_roundings_is_judged_as_f32)
{
    static const char wide[] = "block: wide\ndtype: f16\ndims: {M: 72, D: 5}\ninputs: {x: [M, D]}\nparams: {w: [D]}\nops:\n"
                               "  - {out: n, op: rmsnorm, in: [x, w]}\n  - {out: y, op: cast, in: [n], to: f32}\noutputs: {y: y}\n";
    const attempt t = try_plan(wide, wide, fusion_ops, NULL, NULL);
    const trial_check *last = &t.result.checks[t.result.check_count - 1];
    ck_assert_ptr_null(first_bad(&t));
    ck_assert(last->end_to_end && last->rms_rounded == 0 && last->rms < 1e-6);
    arena_free(t.a);
}
END_TEST

/* If a value is rounded to 16 bits on the way to an f32 output, the output is judged with these roundings. */
#define WIDENED(factor) \
    "block: wide\ndtype: bf16\ndims: {M: 64, D: 40}\ninputs: {x: [M, D]}\nparams: {w: [D, D]}\nops:\n" \
    "  - {out: l, op: linear, in: [x, w]}\n" \
    "  - {out: m, op: mul, in: [l, " factor "]}\n  - {out: y, op: cast, in: [m], to: f32}\noutputs: {y: y}\n"

START_TEST(an_f32_output_after_16_bit_roundings_is_judged_by_rms)
{
    const attempt sound = try_plan(WIDENED("1.000"), WIDENED("1.000"), fusion_none, NULL, NULL);
    const attempt t = try_plan(WIDENED("1.000"), WIDENED("1.005"), fusion_none, NULL, NULL);
    const trial_check *last = &t.result.checks[t.result.check_count - 1];
    ck_assert_ptr_null(first_bad(&sound));
    ck_assert(last->end_to_end && last->verdict == trial_bad && last->ratio <= 1 && last->spread <= REF_MOST_SPREAD);
    ck_assert(last->rms_rounded > 1e-3 && last->rms > 1.5 * last->rms_rounded);
    arena_free(sound.a);
    arena_free(t.a);
}
END_TEST

/* ---- callers that ask for an output's numbers and bounds */
typedef struct told {
    size_t count;
    double *got, *bounds;
} told;

static void take_result(void *context, const ir_value *output, const double *got, const double *bound, size_t count)
{
    told *t = context;
    ck_assert_str_eq(output->name, "y");
    t->count = count;
    t->got = malloc(count * sizeof(double)), t->bounds = malloc(count * sizeof(double));
    memcpy(t->got, got, count * sizeof(double)), memcpy(t->bounds, bound, count * sizeof(double));
}

START_TEST(reported_bounds_are_those_of_the_verdict)
{
    told seen = {0};
    attempt t = {.a = arena_new(), .planned = OFF("f32", "1.5"), .wanted = OFF("f32", "1.5"), .level = fusion_tile, .told = &seen};
    ck_assert_int_eq(arena_run(t.a, try_inside, &t), code_ok);
    const trial_check *last = &t.result.checks[t.result.check_count - 1];
    ck_assert(last->end_to_end && last->verdict == trial_good && last->count == 64 * 40 && seen.count == 64 * 40 && last->ratio > 0);
    ck_assert_double_eq(seen.bounds[last->worst], last->bound);
    for (size_t i = 0; i < seen.count; i++) ck_assert(seen.bounds[i] > 0 && isfinite(seen.got[i]));
    free(seen.got);
    free(seen.bounds);
    arena_free(t.a);
}
END_TEST

/* A stored value is multiplied by 1 where 1 + 4u is expected: each element is off by 4 or 5 of the 6 u that it may be. */
START_TEST(an_error_of_four_roundings_everywhere_fails_in_f32)
{
    const attempt sound = try_plan(OFF("f32", "1.0"), OFF("f32", "1.0"), fusion_none, NULL, NULL);
    ck_assert_ptr_null(first_bad(&sound));
    for (int i = 0; i < sound.result.check_count; i++) ck_assert_double_lt(sound.result.checks[i].spread, REF_MOST_SPREAD / 1.5);
    const attempt t = try_plan(OFF("f32", "1.0"), OFF("f32", "1.000000238"), fusion_none, NULL, NULL);
    const trial_check *bad = first_bad(&t);
    ck_assert_msg(bad && !bad->end_to_end && strcmp(bad->name, "y") == 0, "%s", bad ? bad->name : "passes");
    ck_assert_msg(bad->ratio <= 1 && bad->spread > 2 * REF_MOST_SPREAD, "ratio %g, RMS %g", bad->ratio, bad->spread);
    ck_assert_ptr_nonnull(strstr(trial_complaint(t.a, bad), "the RMS of error/bound of y"));
    arena_free(sound.a);
    arena_free(t.a);
}
END_TEST

/* One row of 64 is off by seven roundings where six are allowed; all rows together are within their limit. */
START_TEST(one_row_slightly_above_its_bound_fails)
{
    const char *yaml =
        "block: row\ndtype: f32\ndims: {M: 64, D: 40}\ninputs: {x: [M, D]}\nops:\n  - {out: y, op: mul, in: [x, 1.5]}\noutputs: {y: y}\n";
    const attempt t = try_plan(yaml, yaml, fusion_none, "op_mul(x_, 1.5f)", "op_mul(x_, row == 5 ? 1.5000006f : 1.5f)");
    const trial_check *bad = first_bad(&t);
    ck_assert(bad && bad->ratio > 1 && bad->ratio < 1.5 && bad->spread < REF_MOST_SPREAD && bad->worst / 40 == 5);
    ck_assert_ptr_nonnull(strstr(trial_complaint(t.a, bad), "times its bound away"));
    arena_free(t.a);
}
END_TEST

START_TEST(an_error_of_two_per_cent_fails_in_every_dtype)
{
    static const char *const pairs[][2] = {{OFF("f32", "1.00"), OFF("f32", "1.02")},
                                           {OFF("f16", "1.00"), OFF("f16", "1.02")},
                                           {OFF("bf16", "1.00"), OFF("bf16", "1.02")}};
    for (int i = 0; i < 3; i++) {
        const attempt t = try_plan(pairs[i][0], pairs[i][1], fusion_tile, NULL, NULL);
        ck_assert_ptr_nonnull(first_bad(&t));
        arena_free(t.a);
    }
}
END_TEST

#define POLES \
    "block: poles\ndtype: f32\ndims: {M: 64}\ninputs: {x: [M]}\nops:\n  - {out: a, op: mul, in: [x, 1.1]}\n" \
    "  - {out: b, op: sub, in: [a, a]}\n  - {out: y, op: log, in: [b]}\noutputs: {y: y}\n"

START_TEST(a_value_without_judged_elements_is_unjudged)
{
    const attempt t = try_plan(POLES, POLES, fusion_tile, NULL, NULL);
    ck_assert_int_eq(t.result.verdict, trial_unjudged);
    for (int i = 0; i < t.result.check_count; i++) {
        ck_assert_int_eq(t.result.checks[i].unjudged, 64);
        ck_assert_int_eq(t.result.checks[i].verdict, trial_unjudged);
        ck_assert_ptr_nonnull(strstr(trial_complaint(t.a, &t.result.checks[i]), "no element of y is judged"));
    }
    ck_assert_int_eq(t.result.unjudged, 64 * t.result.check_count);
    arena_free(t.a);
}
END_TEST

/* ---- values that depend on a choice that rounding may decide: whether a score, less the largest of its row, is above a threshold */
#define ROUTED(divisor, factor)                                                                                                     \
    "block: routed\ndtype: bf16\ndims: {M: 64, D: 64, E: 16}\ninputs: {x: [M, D]}\nparams: {wr: [E, D], wd: [D, E]}\nops:\n"       \
    "  - {out: s, op: linear, in: [x, wr]}\n  - {out: t, op: row_max, in: [s]}\n  - {out: e, op: sub, in: [s, t]}\n"                \
    "  - {out: d, op: add, in: [e, 1.0e-4]}\n  - {out: r, op: relu, in: [d]}\n  - {out: c, op: max, in: [" divisor ", 1.0e-20]}\n"  \
    "  - {out: m, op: div, in: [r, c]}\n  - {out: h, op: mul, in: [s, m]}\n  - {out: z, op: linear, in: [h, wd]}\n"                \
    "  - {out: y, op: mul, in: [z, " factor "]}\noutputs: {y: y}\n"

/* The second divisor may be 0 where r is above the threshold: then the quotient has no bound, but ops after it are judged on the device's
 * own quotient. */
static const struct { const char *right, *wrong; fusion_level level; } routed[] = {
    {ROUTED("r", "1"), ROUTED("r", "1.125"), fusion_tile},
    {ROUTED("r", "1"), ROUTED("r", "1.125"), fusion_none},
    {ROUTED("e", "1"), ROUTED("e", "1.125"), fusion_tile}};

/* Bounds allow any correct device: one that chose the other side is right, too. */
START_TEST(results_after_a_choice_are_judged_by_the_choice_of_the_device)
{
    told seen = {0};
    attempt right = {.a = arena_new(), .planned = routed[_i].right, .wanted = routed[_i].right, .level = routed[_i].level, .told = &seen};
    ck_assert_int_eq(arena_run(right.a, try_inside, &right), code_ok);
    ck_assert_msg(right.result.verdict == trial_good, "%s", trial_fault(right.a, &right.result));
    const attempt wrong = try_plan(routed[_i].wrong, routed[_i].right, routed[_i].level, NULL, NULL);
    const trial_check *of_right = &right.result.checks[right.result.check_count - 1],
                      *of_wrong = &wrong.result.checks[wrong.result.check_count - 1];
    ck_assert(of_right->end_to_end && of_wrong->end_to_end && of_right->unjudged == 0);
    ck_assert_msg(of_right->ratio > 0.01 && of_wrong->ratio > 1.5, "ratios %g and %g", of_right->ratio, of_wrong->ratio);
    double widest = 0;
    for (size_t i = 0; i < seen.count; i++) widest = fmax(widest, seen.bounds[i]);
    ck_assert_msg(widest > 8 * of_right->bound, "bounds up to %g, %g by its own choice", widest, of_right->bound);
    free(seen.got);
    free(seen.bounds);
    arena_free(right.a);
    arena_free(wrong.a);
}
END_TEST

/* ---- short forms (FORM in ir/op.def) */
#define NEAR_ZERO(to)                                                                                                       \
    "block: near\ndtype: f16\ndims: {M: 8, N: 512}\ninputs: {x: [M, N], z: [M, N]}\nops:\n"                                \
    "  - {out: g, op: gelu_erf, in: [z]}\n  - {out: s, op: add, in: [x, g]}\n  - {out: y, op: cast, in: [s], to: " to "}\n" \
    "outputs: {y: y}\n"

/* Sums that nearly cancel gelu(z) as rounded to f16. */
static const ref_tensor *cancelling(arena *a, const ir_graph *graph)
{
    enum { count = 8 * 512 };
    ref_tensor *all = arena_alloc(a, (size_t)graph->value_count * sizeof *all);
    double *x = arena_alloc(a, count * sizeof *x), *z = arena_alloc(a, count * sizeof *z);
    for (int i = 0; i < count; i++) {
        z[i] = f16_to_double((uint16_t)(0xb800 + i)); /* -0.5 to -8 */
        x[i] = -dtype_round(dtype_f16, z[i] * erfc(-z[i] * 0.70710678118654752440) / 2);
    }
    all[graph_value(graph, "x")->id] = (ref_tensor){.value = x, .count = count};
    all[graph_value(graph, "z")->id] = (ref_tensor){.value = z, .count = count};
    return all;
}

static void ask_forms(void *argument)
{
    attempt *t = argument;
    static const struct { const char *yaml, *target; ref_form form;
    } asked[] = {{NEAR_ZERO("f16"), "host", ref_form_exact},
                 {NEAR_ZERO("f16"), "sm_80", ref_form_quick},
                 {NEAR_ZERO("f32"), "sm_80", ref_form_exact}};
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        const compiled c = compile_text(t->a, asked[i].yaml, asked[i].target, fusion_ops);
        ck_assert_int_eq(ref_plan_form(c.plan, graph_value(c.graph, "g")->def), asked[i].form);
    }
}

START_TEST(a_short_form_of_a_function_is_judged_by_its_own_error)
{
    attempt t = {.a = arena_new(),
                 .planned = NEAR_ZERO("f16"),
                 .wanted = NEAR_ZERO("f16"),
                 .level = fusion_ops,
                 .target = "sm_80",
                 .inputs = cancelling};
    ck_assert_int_eq(arena_run(t.a, try_inside, &t), code_ok);
    const trial_check *bad = first_bad(&t);
    ck_assert_msg(!bad, "%s", bad ? trial_complaint(t.a, bad) : "");
    ck_assert_int_eq(arena_run(t.a, ask_forms, &t), code_ok);
    arena_free(t.a);
}
END_TEST

/* A gate of one column, in f32, which another kernel multiplies by. */
#define GATE                                                                                                                  \
    "block: gate\ndtype: f32\ndims: {M: 8, N: 512}\ninputs: {x: [M, N]}\nops:\n  - {out: s, op: row_sum, in: [x]}\n"          \
    "  - {out: g, op: sigmoid, in: [s]}\n  - {out: y, op: mul, in: [x, g]}\noutputs: {y: y}\n"

static void plan_gate(void *argument)
{
    attempt *t = argument;
    const compiled c = compile_text(t->a, GATE, "sm_80", fusion_none);
    ck_assert_int_eq(c.plan->launch_count, 3);
    ck_assert_int_eq(ref_plan_form(c.plan, graph_value(c.graph, "g")->def), ref_form_exact);
    for (int i = 0; i < c.plan->launch_count; i++)
        ck_assert_ptr_null(strstr(source_join(t->a, &c.plan->launches[i].source), "define TF_QUICK"));
}

START_TEST(a_row_scalar_of_an_f32_graph_has_exact_forms)
{
    attempt t = {.a = arena_new()};
    ck_assert_int_eq(arena_run(t.a, plan_gate, &t), code_ok);
    arena_free(t.a);
}
END_TEST

/* ---- a device whose copies fail, one at a time */
static const device_api *sound_api;
static int copies, failing_copy;

static tfgen_status copy_but_one(tfgen_device *d, void *to, const void *from, size_t bytes, tfgen_copy_kind kind, void *stream,
                                 tfgen_error *error)
{
    if (copies++ != failing_copy) return sound_api->copy(d, to, from, bytes, kind, stream, error);
    snprintf(error->text, sizeof error->text, "the copy was lost");
    return TFGEN_DEVICE_ERROR;
}

/* Copies of: each input, the NaN that outputs and weights are filled with, each value that is compared. */
START_TEST(a_copy_that_fails_once_ends_the_trial)
{
    const char *yaml = "block: two\ndtype: f32\ndims: {M: 5, D: 8}\ninputs: {x: [M, D], z: [M, D]}\nparams: {v: [D, D], w: [D, D]}\nops:\n"
                       "  - {out: l, op: linear, in: [x, v]}\n  - {out: m, op: add, in: [l, z]}\n  - {out: n, op: neg, in: [m]}\n"
                       "  - {out: y, op: linear, in: [n, w]}\noutputs: {y: y, m: m}\n";
    tfgen_error error;
    attempt t = {.planned = yaml, .wanted = yaml, .level = fusion_none};
    ck_assert_int_eq(tfgen_device_open("host", &t.device, &error), TFGEN_OK);
    sound_api = t.device->api;
    device_api api = *sound_api;
    api.copy = copy_but_one;
    t.device->api = &api;
    for (failing_copy = 0;; failing_copy++) {
        copies = 0, t.a = arena_new();
        const tfgen_code code = arena_run(t.a, try_inside, &t);
        const bool failed = copies > failing_copy;
        ck_assert_int_eq(code, failed ? code_device : code_ok);
        if (failed)
            ck_assert_msg(strstr(arena_diagnostics(t.a), "the copy was lost") != NULL, "%d: %s", failing_copy, arena_diagnostics(t.a));
        arena_free(t.a);
        if (!failed) break;
    }
    ck_assert_int_ge(failing_copy, 12); /* four inputs, two outputs, two values in between, two weights, and results back */
    t.device->api = sound_api;
    tfgen_device_close(t.device);
}
END_TEST

/* ---- the command, with a compiler that takes one function for another */
static char folder[64];

static void make_compiler(void)
{
    char path[128];
    strcpy(folder, "/tmp/tfgen-judge-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/clang", folder);
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fputs("#!/bin/sh\ncase \" $* \" in\n*' - '*) sed \"s/= op_silu(/= ${JUDGE_TEXT:-op_relu(}/\" | exec clang-22 \"$@\";;\n"
          "*) exec clang-22 \"$@\";;\nesac\n",
          f);
    fclose(f);
    ck_assert_int_eq(chmod(path, 0755), 0);
    snprintf(path, sizeof path, "%s/silu.yaml", folder);
    f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fputs("block: silu\ndtype: f32\ndims: {M: 5, D: 12}\ninputs: {x: [M, D]}\nops: [{out: y, op: silu, in: [x]}]\noutputs: {y: y}\n", f);
    fclose(f);
}

static void remove_compiler(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    ck_assert_int_eq(system(command), 0);
}

static char output[1 << 16];

/* Runs the command; returns its exit code. `output` has what it printed. */
static int tfgen(const char *variables, const char *arguments)
{
    const char *program = getenv("TFGEN") ? getenv("TFGEN") : "./tfgen";
    char command[1024];
    snprintf(command, sizeof command, "%s %s %s 2>&1", variables, program, arguments);
    FILE *p = popen(command, "r");
    ck_assert_ptr_nonnull(p);
    const size_t n = fread(output, 1, sizeof output - 1, p);
    output[n] = 0;
    const int status = pclose(p);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static const struct {
    const char *command, *options, *says;
} commands[] = {{"run", "--target=host", "BAD: a bound is exceeded"},
                {"run", "--target=host --json", "\"good\": false"},
                {"verify", "--target=host,gfx1100", "2 failed"},
                {"verify", "--target=host --json", "\"good\": false"},
                {"bench", "--device=host --check --seconds=0.01", "BAD: a bound is exceeded"}};

START_TEST(a_wrong_kernel_ends_the_command_with_exit_code_1)
{
    char variables[256], arguments[256];
    snprintf(variables, sizeof variables, "TFGEN_CACHE_DIR= TFGEN_HOST_CC=%s/clang", folder);
    snprintf(arguments, sizeof arguments, "%s %s/silu.yaml %s", commands[_i].command, folder, commands[_i].options);
    ck_assert_msg(tfgen("", arguments) == 0, "%s", output);
    ck_assert_ptr_null(strstr(output, commands[_i].says));
    ck_assert_msg(tfgen(variables, arguments) == 1, "%s", output);
    ck_assert_msg(strstr(output, commands[_i].says) != NULL, "%s", output);
}
END_TEST

/* The logarithm of a negative number is NaN, and so is its error; if nothing ran, there is no error. */
START_TEST(json_has_null_errors_for_nan_and_a_case_that_does_not_run_fails)
{
    char variables[256], arguments[256];
    snprintf(variables, sizeof variables, "TFGEN_CACHE_DIR= JUDGE_TEXT='op_log(' TFGEN_HOST_CC=%s/clang", folder);
    snprintf(arguments, sizeof arguments, "run %s/silu.yaml --target=host --json", folder);
    ck_assert_msg(tfgen(variables, arguments) == 1, "%s", output);
    ck_assert_msg(strstr(output, "\"ratio\": null") && strstr(output, "\"rms\": null"), "%s", output);
    snprintf(variables, sizeof variables, "TFGEN_CACHE_DIR= TFGEN_HOST_CC=%s/none", folder);
    snprintf(arguments, sizeof arguments, "verify %s/silu.yaml %s/silu.yaml --json", folder, folder);
    ck_assert_msg(tfgen(variables, arguments) == 1, "%s", output);
    ck_assert_msg(strstr(output, "\"good\": false") && !strstr(output, "\"good\": true") && strstr(output, "FAILED"), "%s", output);
}
END_TEST

/* The kernel reads one number past the end of x, which does not change results. */
START_TEST(a_read_past_the_end_is_found_with_check)
{
    char variables[256], arguments[256];
    snprintf(variables, sizeof variables,
             "TFGEN_CACHE_DIR= TFGEN_HOST_CC=%s/clang "
             "JUDGE_TEXT='(*(const volatile float *)(p.x_ + 60) == 1e38f ? 2.0f : 1.0f) * op_silu('",
             folder);
    snprintf(arguments, sizeof arguments, "run %s/silu.yaml --target=host", folder);
    ck_assert_msg(tfgen(variables, arguments) == 0, "%s", output);
    strcat(arguments, " --check");
    ck_assert_msg(tfgen(variables, arguments) != 0 && strstr(output, "the checker found faults"), "%s", output);
    ck_assert_msg(tfgen("", arguments) == 0, "%s", output);
}
END_TEST

START_TEST(values_that_are_not_compared_are_not_called_good)
{
    char arguments[256];
    snprintf(arguments, sizeof arguments, "run %s/silu.yaml --target=host --reference=never", folder);
    ck_assert_int_eq(tfgen("", arguments), 0);
    ck_assert(strstr(output, "not checked") && !strstr(output, "good"));
    strcat(arguments, " --json");
    ck_assert_int_eq(tfgen("", arguments), 0);
    ck_assert(strstr(output, "\"good\": null") && strstr(output, "\"referenced\": false"));
}
END_TEST

/* Exit code 8, unless something else failed, too. */
static const struct { const char *command, *says; int code; } unjudged[] = {
    {"run %s/poles.yaml --target=host", "UNJUDGED: some values could not be judged", 8},
    {"run %s/poles.yaml --target=host", "no element of y is judged", 8},
    {"run %s/poles.yaml %s/silu.yaml --target=host --json", "\"verdict\": \"unjudged\"", 8},
    {"run %s/poles.yaml %s/none.yaml --target=host", "cannot open", 3},
    {"verify %s/poles.yaml %s/silu.yaml", "UNJUDGED ", 8},
    {"verify %s/poles.yaml --json", "\"verdict\": \"unjudged\"", 8},
    {"bisect %s/poles.yaml --target=host", "none is wrong, but no element of %y is judged", 8},
    {"bisect %s/poles.yaml --target=host --json", "\"verdict\": \"unjudged\"", 8},
    {"bench %s/poles.yaml --device=host --check --seconds=0.01", "UNJUDGED: no element of some value was judged", 8}};

START_TEST(a_command_reports_unjudged_results_with_exit_code_8)
{
    char arguments[512], path[256];
    snprintf(path, sizeof path, "%s/poles.yaml", folder);
    FILE *f = fopen(path, "w");
    ck_assert(f && fputs(POLES, f) >= 0 && fclose(f) == 0);
    for (size_t i = 0; i < sizeof unjudged / sizeof *unjudged; i++) {
        snprintf(arguments, sizeof arguments, unjudged[i].command, folder, folder);
        ck_assert_msg(tfgen("", arguments) == unjudged[i].code, "%s: %s", arguments, output);
        ck_assert_msg(strstr(output, unjudged[i].says) && !strstr(output, "good: every"), "%s: %s", arguments, output);
    }
}
END_TEST

static void read_bounds(void *argument)
{
    char path[256];
    snprintf(path, sizeof path, "%s/data", folder);
    arena *a = *(arena **)argument;
    const safetensors *f = safetensors_open(a, path);
    double widest[2] = {0};
    for (int own = 0; own < 2; own++) {
        const safetensors_tensor *t = safetensors_find(f, own ? "own.bound.y" : "bound.y");
        ck_assert_ptr_nonnull(t);
        double *bounds = arena_alloc(a, (size_t)t->count * sizeof *bounds);
        safetensors_read(f, t, bounds);
        for (long long i = 0; i < t->count; i++) widest[own] = fmax(widest[own], bounds[i]);
    }
    ck_assert_msg(widest[1] > 0 && widest[0] > 8 * widest[1], "bounds up to %g, %g by its own choice", widest[0], widest[1]);
}

START_TEST(dumped_data_has_bounds_for_any_device_and_for_this_ones_choices)
{
    arena *a = arena_new();
    char path[256], arguments[512];
    snprintf(path, sizeof path, "%s/routed.yaml", folder);
    FILE *f = fopen(path, "w");
    ck_assert(f && fputs(routed[0].right, f) >= 0 && fclose(f) == 0);
    snprintf(arguments, sizeof arguments, "run %s --device=host --repeat=0 -q --dump-data=%s/data", path, folder);
    ck_assert_msg(tfgen("", arguments) == 0, "%s", output);
    ck_assert_msg(arena_run(a, read_bounds, &a) == code_ok, "%s", arena_diagnostics(a));
    arena_free(a);
}
END_TEST

/* The JSON that the command prints; the caller frees it. */
static json_t *tfgen_json(const char *arguments)
{
    json_error_t error;
    ck_assert_msg(tfgen("", arguments) == 0, "%s", output);
    json_t *j = json_loads(output, 0, &error);
    ck_assert_msg(j != NULL, "%s: %s", error.text, output);
    return j;
}

/* Neither the first nor the last of these values is the worst. */
START_TEST(verify_reports_the_worst_of_the_errors_that_run_reports)
{
    json_t *run = tfgen_json("run specs/swiglu.yaml --target=host --dim B=2,S=10,D=64 --dtype=f32 --fusion=none --json");
    json_t *verify = tfgen_json("verify specs/swiglu.yaml --dim B=2,S=10,D=64 --dtype=f32 --fusion=none --json"), *one,
           *c = json_array_get(verify, 0);
    double ratio = 0, spread = 0;
    const char *worst = "";
    size_t i;
    json_array_foreach(json_object_get(run, "checks"), i, one)
    {
        const double r = json_real_value(json_object_get(one, "ratio")), s = json_real_value(json_object_get(one, "rms_ratio"));
        ck_assert_int_ge(json_integer_value(json_object_get(one, "elements")), ref_spread_count);
        if (r > ratio) ratio = r, worst = json_string_value(json_object_get(one, "value"));
        if (s > spread) spread = s;
    }
    ck_assert(i > 2 && json_array_size(verify) == 1 && ratio > 0 && spread > 0);
    ck_assert_double_eq(json_real_value(json_object_get(c, "ratio")), ratio);
    ck_assert_double_eq(json_real_value(json_object_get(c, "rms_ratio")), spread);
    ck_assert_str_eq(json_string_value(json_object_get(c, "value")), worst);
    json_decref(run);
    json_decref(verify);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("judge");
    TCase *c = tcase_create("trials"), *command = tcase_create("commands");
    tcase_set_timeout(c, 240);
    tcase_set_timeout(command, 240);
    tcase_add_loop_test(c, a_plan_of_another_graph_is_wrong_where_it_differs, 0, 2);
    tcase_add_test(c, a_plan_keeps_the_dtypes_and_shapes_of_the_graph);
    tcase_add_test(c, a_value_stored_as_two_terms_is_judged_as_one_number);
    tcase_add_test(c, a_plan_with_other_dtypes_than_its_graph_is_refused);
    tcase_add_test(c, results_of_hidden_keys_that_are_nan_are_not_judged);
    tcase_add_loop_test(c, a_norm_of_nearly_equal_numbers_is_not_judged_by_the_rounding_of_stores, 0, 2);
    tcase_add_test(c, values_in_registers_are_not_rounded);
    tcase_add_loop_test(c, an_unwritten_element_has_an_infinite_error, 0, sizeof tails / sizeof *tails);
    tcase_add_test(c, an_error_of_one_and_a_half_per_cent_everywhere_fails_by_rms);
    tcase_add_test(c, the_rms_limit_is_one_and_a_half_times_the_error_of_rounding);
    tcase_add_test(c, an_error_of_four_roundings_everywhere_fails_in_f32);
    tcase_add_test(c, an_f32_output_without_16_bit_roundings_is_judged_as_f32);
    tcase_add_test(c, an_f32_output_after_16_bit_roundings_is_judged_by_rms);
    tcase_add_test(c, reported_bounds_are_those_of_the_verdict);
    tcase_add_test(c, one_row_slightly_above_its_bound_fails);
    tcase_add_test(c, a_copy_that_fails_once_ends_the_trial);
    tcase_add_test(c, an_error_of_two_per_cent_fails_in_every_dtype);
    tcase_add_test(c, a_value_without_judged_elements_is_unjudged);
    tcase_add_loop_test(c, results_after_a_choice_are_judged_by_the_choice_of_the_device, 0, sizeof routed / sizeof *routed);
    tcase_add_test(c, a_short_form_of_a_function_is_judged_by_its_own_error);
    tcase_add_test(c, a_row_scalar_of_an_f32_graph_has_exact_forms);
    tcase_add_unchecked_fixture(command, make_compiler, remove_compiler);
    tcase_add_loop_test(command, a_wrong_kernel_ends_the_command_with_exit_code_1, 0, sizeof commands / sizeof *commands);
    tcase_add_test(command, verify_reports_the_worst_of_the_errors_that_run_reports);
    tcase_add_test(command, json_has_null_errors_for_nan_and_a_case_that_does_not_run_fails);
    tcase_add_test(command, a_read_past_the_end_is_found_with_check);
    tcase_add_test(command, values_that_are_not_compared_are_not_called_good);
    tcase_add_test(command, a_command_reports_unjudged_results_with_exit_code_8);
    tcase_add_test(command, dumped_data_has_bounds_for_any_device_and_for_this_ones_choices);
    suite_add_tcase(suite, c);
    suite_add_tcase(suite, command);
    return run_suite(suite);
}
