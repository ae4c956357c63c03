/* Layers of real models: the float64 reference against results of HuggingFace transformers. */
#include "runtime/data/safetensors.h"
#include "tests/reference/ref_harness.h"
#include <string.h>

typedef struct golden_data {
    arena *a;
    bench *b;
    const char *path;
    const char *prefix; /* of inputs: "input." or "decode." */
    double *expected;
    const char *output; /* tensor name */
} golden_data;

static char *read_text(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    ck_assert_msg(f != NULL, "%s is missing", path);
    char *text = calloc(1, 1 << 16);
    *size = fread(text, 1, (1 << 16) - 1, f);
    fclose(f);
    return text;
}

/* Copies the file's 60 rows of cache to the start of a cache of L rows; the rows behind them hold 1000, which results would show. */
static void load_cache(const golden_data *d, const safetensors *f, const char *tensor, const char *state)
{
    const safetensors_tensor *t = safetensors_need(f, tensor);
    const ir_value *v = graph_value(d->b->graph, state);
    const long long rows = t->shape[2], width = t->shape[3], capacity = extent_value(&v->shape[2], &d->b->graph->dims);
    double *given = calloc((size_t)t->count, sizeof *given), *to = bench_data(d->b, state);
    ck_assert_int_gt(capacity, rows);
    safetensors_read(f, t, given);
    for (size_t i = 0; i < d->b->data[v->id].count; i++) to[i] = 1e3;
    for (long long i = 0; i < t->count; i++)
        to[(i / (rows * width) * capacity + i / width % rows) * width + i % width] = given[i];
    free(given);
}

static void load_golden(void *argument)
{
    golden_data *d = argument;
    const char *const prefixes[] = {"weights.", d->prefix};
    const safetensors *f = safetensors_open(d->a, d->path);
    const ir_graph *g = d->b->graph;
    const safetensors_tensor *expected = safetensors_need(f, d->output);
    d->expected = calloc((size_t)expected->count, sizeof(double));
    safetensors_read(f, expected, d->expected);
    for (int i = 0; i < g->value_count; i++) {
        const ir_value *v = g->values[i];
        if (v->kind == value_param || (v->kind == value_input && v->type != dtype_i32))
            safetensors_read_value(f, v, &g->dims, prefixes, 2, v->kind == value_param, d->b->data[i].value);
    }
    if (!graph_value(g, "k_cache")) return;
    load_cache(d, f, "decode.k", "k_cache");
    load_cache(d, f, "decode.v", "v_cache");
    bench_data(d->b, "pos")[0] = bench_data(d->b, "pos")[1] = 60;
}

/* Model and reference both compute in float64. The reference also predicts the error of an evaluation in f32, and an evaluation in float64
 * is off by 2^-29 of that, so the two may differ by twice as much. Llama may differ by the whole f32 error, since transformers keeps its
 * rotary tables in f32. */
static void must_agree(const char *spec, const char *model, const char *prefix, const char *output,
                        const dim_override *dims, size_t dim_count)
{
    size_t size;
    char *yaml = read_text(spec, &size);
    const graph_options options = {.overrides = dims, .override_count = dim_count, .dtype = "f32"};
    golden_data d = {
        .a = arena_new(), .b = bench_open(yaml, size, &options), .path = model, .prefix = prefix, .output = output};
    const tfgen_code code = arena_run(d.a, load_golden, &d);
    ck_assert_msg(code == code_ok, "%s", arena_diagnostics(d.a));
    const ref_rules rules = {0};
    bench_run(d.b, false, &rules);
    const ref_tensor *y = bench_result(d.b, "x2");
    const double rms = ref_rms(d.expected, y->value, y->count), limit = (strstr(spec, "llama") ? 1 : 2 * 0x1p-29) * ref_rms_of_errors(y);
    ck_assert_msg(rms < limit, "%s: relative RMS distance %g, limit %g", spec, rms, limit);
    free(d.expected);
    bench_close(d.b);
    arena_free(d.a);
    free(yaml);
}

static const dim_override llama[] = {{"B", 2}, {"S", 61}, {"D", 128}, {"H", 4}, {"KV", 2}, {"F", 344}};
static const dim_override llama_step[] = {{"B", 2}, {"D", 128}, {"H", 4}, {"KV", 2}, {"F", 344}};
static const dim_override other[] = {{"B", 2}, {"S", 61}}, other_step[] = {{"B", 2}};

#define GOLDEN(model) "tests/golden/models/" model ".safetensors"

START_TEST(the_reference_agrees_with_a_llama_layer)
{
    must_agree("specs/llama-block.yaml", GOLDEN("llama"), "input.", "output.y", llama, 6);
}
END_TEST

START_TEST(the_reference_agrees_with_a_decode_step_of_llama)
{
    must_agree("specs/llama-decode.yaml", GOLDEN("llama"), "decode.", "decode.y", llama_step, 5);
}
END_TEST

START_TEST(the_reference_agrees_with_a_gpt2_layer)
{
    must_agree("specs/gpt2-block.yaml", GOLDEN("gpt2"), "input.", "output.y", other, 2);
}
END_TEST

START_TEST(the_reference_agrees_with_a_decode_step_of_gpt2)
{
    must_agree("specs/gpt2-decode.yaml", GOLDEN("gpt2"), "decode.", "decode.y", other_step, 1);
}
END_TEST

START_TEST(the_reference_agrees_with_a_bert_layer)
{
    must_agree("specs/bert-block.yaml", GOLDEN("bert"), "input.", "output.y", other, 2);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("golden models");
    TCase *c = tcase_create("reference");
    tcase_set_timeout(c, 60);
    tcase_add_test(c, the_reference_agrees_with_a_llama_layer);
    tcase_add_test(c, the_reference_agrees_with_a_decode_step_of_llama);
    tcase_add_test(c, the_reference_agrees_with_a_gpt2_layer);
    tcase_add_test(c, the_reference_agrees_with_a_decode_step_of_gpt2);
    tcase_add_test(c, the_reference_agrees_with_a_bert_layer);
    suite_add_tcase(suite, c);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? 1 : 0;
}
