/* Layers of real models on the host engine: every fusion level, dtype and two geometries against what HuggingFace transformers computed,
 * and against the float64 reference. Without TFGEN_TEST_ALL=1 a sample runs, in which each pair of model, level and dtype meets;
 * below level tile `make test` runs a prompt at level none and a decode step at level ops; make verify-all runs the others. */
#include "ir/graph/half.h"
#include "runtime/data/safetensors.h"
#include "tests/support.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { cached_rows = 60 };

typedef struct model {
    const char *spec, *file, *input, *output;
    bool decode;
    dim_override dims[6];
    size_t dim_count;
} model;

#define GOLDEN(name) "tests/golden/models/" name ".safetensors"
#define LLAMA {"B", 2}, {"D", 128}, {"H", 4}, {"KV", 2}, {"F", 344}
static const model models[] = {
    {"specs/llama-block.yaml", GOLDEN("llama"), "input.", "output.y", false, {LLAMA, {"S", 61}}, 6},
    {"specs/gpt2-block.yaml", GOLDEN("gpt2"), "input.", "output.y", false, {{"B", 2}, {"S", 61}}, 2},
    {"specs/bert-block.yaml", GOLDEN("bert"), "input.", "output.y", false, {{"B", 2}, {"S", 61}}, 2},
    {"specs/llama-decode.yaml", GOLDEN("llama"), "decode.", "decode.y", true, {LLAMA}, 5},
    {"specs/gpt2-decode.yaml", GOLDEN("gpt2"), "decode.", "decode.y", true, {{"B", 2}}, 1}};
enum { model_count = sizeof models / sizeof *models };

static const char *const dtypes[] = {"f32", "bf16", "f16"};
static const char *const targets[] = {"host", "gfx942"};
enum { case_count = model_count * 3 * 3 * 2 };

typedef struct model_case {
    const model *model;
    int level, dtype, target;
    bool sample, later; /* sample: run without TFGEN_TEST_ALL; later: only by make verify-all */
} model_case;

static model_case case_of(int i)
{
    const int m = i / 18, level = i / 6 % 3, dtype = i / 2 % 3, target = i % 2;
    const bool host = target == 0 && (m + level) % 3 == dtype, other = target == 1 && level == 2 && m % 2 == 0 && m % 3 == dtype;
    return (model_case){&models[m], level, dtype, target, host || other, level < 2 && m != (level ? 4 : 0)};
}

/* ---- data */
typedef struct golden_job {
    rig *r;
    arena *a;
    const model *m;
    double *expected; /* calloc */
    size_t count;
} golden_job;

/* Loads the file's rows into the start of the cache. Rows behind them were never written and are NaN, which shows if they are read. */
static void load_cache(const golden_job *j, const safetensors *f, const char *tensor, const char *state, double behind)
{
    const safetensors_tensor *t = safetensors_need(f, tensor);
    const ir_value *v = rig_value(j->r, state);
    const long long width = t->shape[3], capacity = extent_value(&v->shape[2], &j->r->graph->dims);
    double *given = calloc((size_t)t->count, sizeof *given), *to = rig_data(j->r, state);
    ck_assert_int_eq(t->shape[2], cached_rows);
    ck_assert_int_gt(capacity, cached_rows + 1);
    safetensors_read(f, t, given);
    for (size_t i = 0; i < rig_count(j->r, state); i++) to[i] = behind;
    for (long long i = 0; i < t->count; i++)
        to[(i / (cached_rows * width) * capacity + i / width % cached_rows) * width + i % width] = given[i];
    free(given);
}

static void load_golden(void *argument)
{
    golden_job *j = argument;
    const char *const prefixes[] = {"weights.", j->m->input};
    const safetensors *f = safetensors_open(j->a, j->m->file);
    const ir_graph *g = j->r->graph;
    const safetensors_tensor *expected = safetensors_need(f, j->m->output);
    j->count = (size_t)expected->count;
    j->expected = calloc(j->count, sizeof(double));
    safetensors_read(f, expected, j->expected);
    for (int i = 0; i < g->value_count; i++) {
        const ir_value *v = g->values[i];
        if (v->kind == value_param || (v->kind == value_input && v->type != dtype_i32))
            safetensors_read_value(f, v, &g->dims, prefixes, 2, false, j->r->data[i].value);
    }
    if (!j->m->decode) return;
    load_cache(j, f, "decode.k", "k_cache", NAN);
    load_cache(j, f, "decode.v", "v_cache", NAN);
    for (int b = 0; b < 2; b++) rig_data(j->r, "pos")[b] = cached_rows;
}

/* ---- checks */
/* One row was appended; the rest of the cache is unchanged, to the bit. */
static void check_cache(rig *r, const char *state, const double *before)
{
    const double *after = rig_read(r, state);
    const ir_value *v = rig_value(r, state);
    const size_t capacity = (size_t)extent_value(&v->shape[2], &r->graph->dims), width = (size_t)value_columns(v);
    for (size_t row = 0; row < rig_count(r, state) / width; row++) {
        const bool appended = row % capacity == cached_rows;
        if (appended)
            for (size_t i = 0; i < width; i++) ck_assert_msg(isfinite(after[row * width + i]), "%s: row %zu was not written", state, row);
        else ck_assert_msg(same_numbers(after + row * width, before + row * width, width), "%s: row %zu changed", state, row);
    }
}

/* RMS errors against `truth`: of the device, and of the reference with rounding at the stored values. */
static void check_rms(const char *what, const double *truth, const double *got, const ref_tensor *rounded)
{
    const double device = ref_rms(truth, got, rounded->count), rounding = ref_rms(truth, rounded->value, rounded->count);
    ck_assert_msg(device <= 1.5 * rounding, "%s: relative RMS error %.3g, rounding alone makes %.3g", what, device, rounding);
}

/* The RMS error of an f32 evaluation is within the reference's limit: against the reference, and against the model's results, which have
 * errors of their own from what the model keeps in f32 (rotary tables, 8e-8 of the Llama's result). */
static void check_f32(const ref_tensor *exact, const double *model, const double *got)
{
    const double limit = ref_rms_of_errors(exact), device = ref_rms(exact->value, got, exact->count),
                 both = ref_rms(model, got, exact->count);
    ck_assert_msg(device <= limit && both <= limit, "relative RMS error %.3g, to the model %.3g; an f32 evaluation has %.3g at most",
                  device, both, limit);
}

static void check_model(const model_case *c)
{
    const model *m = c->model;
    const rig_request request = {.path = m->spec, .level = (fusion_level)c->level, .target = targets[c->target], .dtype = dtypes[c->dtype],
                                 .dims = m->dims, .dim_count = m->dim_count};
    golden_job j = {.r = rig_open(&request), .a = arena_new(), .m = m};
    const tfgen_code code = arena_run(j.a, load_golden, &j);
    ck_assert_msg(code == code_ok, "%s", arena_diagnostics(j.a));
    rig_round(j.r);
    double *k = m->decode ? copy_numbers(rig_data(j.r, "k_cache"), rig_count(j.r, "k_cache")) : NULL;
    double *v = m->decode ? copy_numbers(rig_data(j.r, "v_cache"), rig_count(j.r, "v_cache")) : NULL;
    rig_run(j.r);
    if (m->decode) check_cache(j.r, "k_cache", k), check_cache(j.r, "v_cache", v);
    const double ratio = rig_judge(j.r), *got = rig_read(j.r, "x2");
    const int x2 = rig_value(j.r, "x2")->id;
    ck_assert_uint_eq(j.count, j.r->exact[x2].count);
    const double rms = ref_rms(j.expected, got, j.count);
    printf("%-26s %-4s %-4s %-7s error/bound %.3f, relative RMS to the model %.3g\n", m->spec, level_names(NULL)[c->level],
           dtypes[c->dtype], targets[c->target], ratio, rms);
    if (c->dtype == 0) check_f32(&j.r->exact[x2], j.expected, got);
    else {
        check_rms("against float64", j.r->exact[x2].value, got, &j.r->rounded[x2]);
        check_rms("against the model", j.expected, got, &j.r->rounded[x2]);
    }
    free(j.expected);
    free(k);
    free(v);
    arena_free(j.a);
    rig_close(j.r);
}

START_TEST(a_model_layer_is_reproduced)
{
    const model_case c = case_of(_i);
    check_model(&c);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("models");
    TCase *c = tcase_create("layers"), *more = suite_long(suite, "more layers", 120);
    tcase_set_timeout(c, 120);
    for (int i = 0; i < case_count; i++)
        if (case_of(i).sample || getenv("TFGEN_TEST_ALL"))
            tcase_add_loop_test(case_of(i).later ? more : c, a_model_layer_is_reproduced, i, i + 1);
    suite_add_tcase(suite, c);
    return run_suite(suite);
}
