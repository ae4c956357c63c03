/* usage: large DEVICE ROWS COLUMNS   Tensors beyond 2^31 elements on a GPU, by the public interface: an elementwise op, a norm and a
 * product whose results have ROWS x COLUMNS elements of bf16. It judges the first rows, those around element 2^31, the last rows, and
 * every 997th element. (The command's own reference would hold whole tensors in float64, 17 GB each.) runtime.sh runs it with ROWS 66049
 * and COLUMNS 33024: 2.18e9 elements, with a partial last tile. Exit code 0: all are right. */
#include "runtime/api/tfgen.h"
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { length = 64, chunk_bytes = 1 << 28 };

typedef struct form {
    const char *name, *declared, *op;
    int64_t x_columns; /* 0: as many as the result has */
} form;
static const form forms[] = {{"add", "inputs: {x: [M, N]}", "op: add, in: [x, x]", 0},
                             {"rmsnorm", "inputs: {x: [M, N]}\nparams: {w: [N]}", "op: rmsnorm, in: [x, w]", 0},
                             {"linear", "inputs: {x: [M, K]}\nparams: {w: [N, K]}", "op: linear, in: [x, w]", length}};
static int64_t rows, columns;

static void must(tfgen_status status, const tfgen_error *error)
{
    if (status == TFGEN_OK) return;
    fprintf(stderr, "large: %s\n", error->text);
    exit(1);
}

/* -1, 0 or 1 by row and column: sums of 64 products of them are exact in bf16. */
static float number(int64_t row, int64_t column)
{
    uint64_t h = (uint64_t)row * 0x9e3779b97f4a7c15u ^ (uint64_t)column * 0xc2b2ae3d27d4eb4fu;
    h ^= h >> 29, h *= 0xbf58476d1ce4e5b9u, h ^= h >> 32;
    return (float)(h % 3) - 1;
}

static uint16_t bits_of(float x)
{
    uint32_t u;
    memcpy(&u, &x, 4);
    return (uint16_t)(u >> 16);
}

static float float_of(uint16_t bits)
{
    const uint32_t u = (uint32_t)bits << 16;
    float x;
    memcpy(&x, &u, 4);
    return x;
}

static void fill(tfgen_device *d, void *to, int64_t count, int64_t wide)
{
    tfgen_error error;
    uint16_t *chunk = malloc(chunk_bytes);
    if (!chunk) exit(1);
    for (int64_t at = 0; at < count; at += chunk_bytes / 2) {
        const int64_t n = count - at < chunk_bytes / 2 ? count - at : chunk_bytes / 2;
        for (int64_t i = 0; i < n; i++) chunk[i] = bits_of(number((at + i) / wide, (at + i) % wide));
        must(tfgen_device_copy(d, (char *)to + 2 * at, chunk, (size_t)n * 2, TFGEN_TO_DEVICE, NULL, &error), &error);
        must(tfgen_device_synchronize(d, NULL, &error), &error);
    }
    free(chunk);
}

/* *scale: the norm's factor of this row. */
static double expected(const form *f, int64_t row, int64_t column, double scale)
{
    if (f == &forms[0]) return 2 * number(row, column);
    if (f == &forms[1]) return number(row, column) * scale * number(0, column); /* w is one row */
    double sum = 0;
    for (int k = 0; k < length; k++) sum += number(row, k) * number(column, k);
    return sum;
}

static double scale_of(const form *f, int64_t row)
{
    double squares = 0;
    for (int64_t c = 0; f == &forms[1] && c < columns; c++) squares += number(row, c) * number(row, c);
    return 1 / sqrt(squares / (double)columns + 1e-6);
}

static long long wrong_in(const form *f, const uint16_t *y, int64_t first, int64_t count, long long *judged)
{
    long long wrong = 0;
    int64_t row = -1;
    double scale = 0;
    for (int64_t i = 0; i < count; i++) {
        const int64_t at = first + i, in = at / columns, middle = ((int64_t)1 << 31) / columns;
        const int whole = in < 2 || in >= rows - 2 || (in >= middle - 1 && in <= middle + 1);
        if (!whole && at % 997) continue;
        if (!whole && f == &forms[1] && at % (997 * 31)) continue; /* the reference reads a whole row for each sum, so few are checked */
        if (in != row) row = in, scale = scale_of(f, row);
        const double want = expected(f, in, at % columns, scale), got = float_of(y[i]);
        ++*judged;
        if (fabs(got - want) <= (f == &forms[1] ? fabs(want) / 128 : 0)) continue;
        if (wrong++ < 3) printf("%s: element %lld (row %lld) is %g, not %g\n", f->name, (long long)at, (long long)in, got, want);
    }
    return wrong;
}

static int run(tfgen_device *d, const form *f)
{
    char yaml[512];
    tfgen_error error;
    tfgen_plan_options options = TFGEN_PLAN_OPTIONS_INIT;
    tfgen_plan *plan;
    tfgen_module *module;
    tfgen_weights *weights;
    void *tensor[3] = {0}, *workspace = NULL;
    snprintf(yaml, sizeof yaml, "block: large\ndtype: bf16\ndims: {M: %lld, N: %lld%s}\n%s\nops:\n  - {out: y, %s}\noutputs: {y: y}\n",
             (long long)rows, (long long)columns, f->x_columns ? ", K: 64" : "", f->declared, f->op);
    options.target = tfgen_device_target(d);
    must(tfgen_plan_create(yaml, strlen(yaml), f->name, &options, &plan, &error), &error);
    must(tfgen_module_create(plan, d, NULL, &module, &error), &error);
    const size_t count = tfgen_plan_tensor_count(plan);
    size_t out = 0;
    for (size_t i = 0; i < count && i < 3; i++) {
        tfgen_tensor t = {.size = sizeof t};
        tfgen_plan_tensor(plan, i, &t);
        must(tfgen_device_alloc(d, (size_t)t.bytes, &tensor[i], &error), &error);
        if (t.kind == TFGEN_OUTPUT) out = i;
        else fill(d, tensor[i], t.bytes / 2, f->x_columns ? f->x_columns : columns);
    }
    must(tfgen_weights_create(module, tensor, NULL, &weights, &error), &error);
    must(tfgen_device_alloc(d, (size_t)tfgen_plan_workspace_bytes(plan) + 1, &workspace, &error), &error);
    tfgen_args args = TFGEN_ARGS_INIT;
    args.tensors = tensor;
    must(tfgen_execute(module, weights, &args, workspace, NULL, &error), &error);
    must(tfgen_device_synchronize(d, NULL, &error), &error);
    uint16_t *chunk = malloc(chunk_bytes);
    long long wrong = 0, judged = 0;
    for (int64_t at = 0, all = rows * columns; chunk && at < all; at += chunk_bytes / 2) {
        const int64_t n = all - at < chunk_bytes / 2 ? all - at : chunk_bytes / 2;
        must(tfgen_device_copy(d, chunk, (char *)tensor[out] + 2 * at, (size_t)n * 2, TFGEN_FROM_DEVICE, NULL, &error), &error);
        must(tfgen_device_synchronize(d, NULL, &error), &error);
        wrong += wrong_in(f, chunk, at, n, &judged);
    }
    printf("%s: %lld of %lld elements judged, %lld wrong\n", f->name, judged, (long long)(rows * columns), wrong);
    free(chunk);
    for (int i = 0; i < 3; i++) tfgen_device_free(d, tensor[i]);
    tfgen_device_free(d, workspace);
    tfgen_weights_free(weights);
    tfgen_module_free(module);
    tfgen_plan_free(plan);
    return wrong > 0 || judged == 0;
}

int main(int argc, char **argv)
{
    tfgen_device *d;
    tfgen_error error;
    int bad = 0;
    if (argc != 4 || (rows = atoll(argv[2])) < 1 || (columns = atoll(argv[3])) < 1)
        return fprintf(stderr, "usage: large DEVICE ROWS COLUMNS\n"), 2;
    must(tfgen_device_open(argv[1], &d, &error), &error);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) bad |= run(d, &forms[i]);
    tfgen_device_close(d);
    return bad;
}
