/* In: specs as text or files, data. Out: graphs and reference runs; an error fails the test. */
#ifndef TFGEN_TESTS_REF_HARNESS_H
#define TFGEN_TESTS_REF_HARNESS_H
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "ir/graph/half.h"
#include "runtime/data/random.h"
#include "ir/reference/ref.h"

enum { most_bench_values = 2048 };

/* A graph with its data and results, by value id. */
typedef struct bench {
    arena *a;
    ir_graph *graph;
    ref_tensor data[most_bench_values], result[most_bench_values];
    const ref_tensor *inputs[most_bench_values];
    ref_tensor *results[most_bench_values];
    const char *yaml;
    size_t size;
    graph_options options;
    char message[256];
} bench;

static void bench_read_graph(void *argument)
{
    bench *b = argument;
    b->graph = graph_read(b->a, b->yaml, b->size, "test.yaml", &b->options);
}

static inline int bench_id(const bench *b, const char *name)
{
    const ir_value *v = graph_value(b->graph, name);
    ck_assert_msg(v != NULL, "the graph has no value %s", name);
    return v->id;
}

static inline double *bench_data(bench *b, const char *name) { return b->data[bench_id(b, name)].value; }
static inline ref_tensor *bench_result(bench *b, const char *name) { return &b->result[bench_id(b, name)]; }

/* Reads the spec and allocates its data, zeroed. */
static inline bench *bench_open(const char *yaml, size_t size, const graph_options *options)
{
    bench *b = calloc(1, sizeof *b);
    b->a = arena_new();
    b->yaml = yaml, b->size = size;
    if (options) b->options = *options;
    const tfgen_code code = arena_run(b->a, bench_read_graph, b);
    ck_assert_msg(code == code_ok, "%s", arena_diagnostics(b->a));
    ck_assert_int_lt(b->graph->value_count, most_bench_values);
    for (int i = 0; i < b->graph->value_count; i++) {
        const ir_value *v = b->graph->values[i];
        b->results[i] = &b->result[i];
        if (v->kind == value_result || v->kind == value_constant) continue;
        const size_t count = (size_t)value_count(v, &b->graph->dims);
        b->data[i] = (ref_tensor){.value = calloc(count + 1, sizeof(double)), .count = count};
        b->inputs[i] = &b->data[i];
    }
    return b;
}

static inline void bench_fill(bench *b, unsigned long long seed)
{
    for (int i = 0; i < b->graph->value_count; i++)
        if (b->inputs[i]) random_fill(b->graph, b->graph->values[i], seed, b->data[i].value);
}

static inline void bench_forget_results(bench *b)
{
    for (int i = 0; i < b->graph->value_count; i++) ref_free(&b->result[i]);
}

static inline void bench_run(bench *b, bool round_stored, const ref_rules *rules)
{
    bench_forget_results(b);
    const bool good = ref_run(b->graph, b->inputs, round_stored, rules, b->results, b->message, sizeof b->message);
    ck_assert_msg(good, "%s", b->message);
}

static inline void bench_close(bench *b)
{
    bench_forget_results(b);
    for (int i = 0; i < b->graph->value_count; i++) ref_free(&b->data[i]);
    arena_free(b->a);
    free(b);
}
#endif
