/* An independent count of bytes: the host engine's checker sees every access of the emitted kernels and reports for each allocation how
 * many distinct bytes a launch read and wrote. gen/base/work.c must compute the same from the IR, to the byte. */
#include "gen/plan/predict.h"
#include "tests/support.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most_told = 512 };
typedef struct told {
    char kernel[80], name[80];
    double read, written;
} told;

typedef struct record {
    told list[most_told];
    int count;
    double matrix; /* operations of the last launch that had any */
} record;

static void take(void *context, const char *kernel, const char *name, size_t read, size_t written)
{
    record *r = context;
    if (!name) {
        r->matrix = (double)read;
        return;
    }
    ck_assert_int_lt(r->count, most_told);
    told *t = &r->list[r->count++];
    snprintf(t->kernel, sizeof t->kernel, "%s", kernel);
    snprintf(t->name, sizeof t->name, "%s", name);
    t->read = (double)read, t->written = (double)written;
}

static rig *opened;
static const int *rig_integers(void *context, const char *name)
{
    static int data[8][64];
    static int next;
    (void)context;
    const double *given = rig_data(opened, name);
    int *out = data[next++ % 8];
    for (size_t i = 0; i < rig_count(opened, name) && i < 64; i++) out[i] = (int)given[i];
    return out;
}

/* The storage of a tensor; for the weight of a linear the packed weight, which has no name of its own here. */
static bool is_packed(const launch *l, const ir_value *v)
{
    for (int p = 0; p < l->kernel->phase_count; p++)
        for (int i = 0; i < l->kernel->phases[p]->op_count; i++) {
            const ir_op *op = l->kernel->phases[p]->ops[i];
            if (op->kind == op_linear && op->inputs[1] == v) return true;
        }
    return false;
}

static bool is_pack(const plan *p, const char *name)
{
    for (int i = 0; i < p->pack_count; i++)
        if (strcmp(p->packs[i].name, name) == 0) return true;
    return false;
}

static void compare_launch(const plan *p, const launch *l, const record *r)
{
    const work w = launch_work(opened->a, p, l, rig_integers, NULL);
    double packed = 0, packed_told = 0;
    for (int i = 0; i < w.tensor_count; i++) packed += is_packed(l, w.tensors[i].value) ? w.tensors[i].read : 0;
    for (int k = 0; k < r->count; k++)
        if (strcmp(r->list[k].kernel, l->name) == 0 && is_pack(p, r->list[k].name)) packed_told += r->list[k].read;
    ck_assert_msg(packed == packed_told, "%s: packed weights: %g counted, %g touched", l->name, packed, packed_told);
    for (int k = 0; k < r->count; k++) {
        const told *t = &r->list[k];
        double read = 0, written = 0;
        if (strcmp(t->kernel, l->name) != 0 || is_pack(p, t->name)) continue;
        for (int i = 0; i < w.tensor_count; i++) {
            if (is_packed(l, w.tensors[i].value) || strcmp(value_root(w.tensors[i].value)->name, t->name) != 0) continue;
            read += w.tensors[i].read, written += w.tensors[i].written;
        }
        ck_assert_msg(read == t->read && written == t->written, "%s: %s: %g and %g counted, %g and %g touched", l->name, t->name, read,
                      written, t->read, t->written);
    }
    double told_all = packed_told, all = w.read + w.written;
    for (int k = 0; k < r->count; k++)
        if (strcmp(r->list[k].kernel, l->name) == 0 && !is_pack(p, r->list[k].name)) told_all += r->list[k].read + r->list[k].written;
    ck_assert_msg(all == told_all, "%s: %g counted, %g touched", l->name, all, told_all);
}

typedef struct touched_case {
    const char *spec, *dims[6];
    long long values[6];
    const char *target;
    fusion_level level;
} touched_case;

/* Sizes for which packed weights have no padding. */
static const touched_case cases[] = {
    {"llama-block", {"B", "S", "D", "H", "KV", "F"}, {2, 5, 64, 2, 1, 96}, NULL, fusion_tile},
    {"llama-decode", {"B", "L", "D", "H", "KV", "F"}, {3, 16, 64, 2, 1, 96}, NULL, fusion_tile},
    {"swiglu", {"B", "S", "D", "F"}, {1, 3, 32, 64}, NULL, fusion_none},
    {"attention", {"B", "S", "H", "KV"}, {2, 7, 4, 2}, NULL, fusion_tile},
    {"rmsnorm", {"B", "S", "D"}, {2, 3, 37}, "gfx90a", fusion_tile},
    {"softmax", {"B", "S"}, {1, 5}, "sm_90a", fusion_tile},
};

START_TEST(predicted_bytes_are_those_that_kernels_touch)
{
    const touched_case *c = &cases[_i];
    dim_override dims[6];
    char path[80];
    size_t count = 0;
    for (; count < 6 && c->dims[count]; count++) dims[count] = (dim_override){c->dims[count], c->values[count]};
    snprintf(path, sizeof path, "specs/%s.yaml", c->spec);
    record *r = calloc(1, sizeof *r);
    opened = rig_open(&(rig_request){.path = path,
                                     .level = c->level,
                                     .target = c->target,
                                     .dims = dims,
                                     .dim_count = count,
                                     .check = true,
                                     .touched = take,
                                     .context = r});
    rig_run(opened);
    const plan *p = guarded_plan(opened->s);
    for (int i = 0; i < p->launch_count; i++) compare_launch(p, &p->launches[i], r);
    ck_assert_int_gt(r->count, 0);
    rig_close(opened);
    free(r);
}
END_TEST

/* ---- operations of matrix instructions, counted for whole tiles */
static const struct {
    const char *target, *tile;
    long long M, N, K, operations; /* operations: those of tiles of 64 x 64 or 64 x 128, in stages of 64 */
} products[] = {{"gfx90a", "gemm: layer=mfma", 64, 64, 64, 2 * 64 * 64 * 64},
                {"gfx1100", "gemm: layer=wmma", 32, 64, 48, 2 * 64 * 64 * 64},
                {"gfx950", "gemm: layer=mfma", 40, 80, 64, 2 * 64 * 128 * 64}};

START_TEST(matrix_instructions_do_the_operations_that_are_predicted)
{
    const char *yaml = "block: p\ndtype: bf16\ndims: {M: 64, N: 64, K: 64}\ninputs: {x: [M, K]}\nparams: {w: [N, K]}\n"
                       "ops:\n  - {out: y, op: linear, in: [x, w]}\noutputs: {y: y}\n";
    const dim_override dims[] = {{"M", products[_i].M}, {"N", products[_i].N}, {"K", products[_i].K}};
    const tuning tiles = {.lines = &products[_i].tile, .count = 1};
    record *r = calloc(1, sizeof *r);
    opened = rig_open(&(rig_request){.yaml = yaml,
                                     .level = fusion_tile,
                                     .tuning = &tiles,
                                     .target = products[_i].target,
                                     .dims = dims,
                                     .dim_count = 3,
                                     .check = true,
                                     .touched = take,
                                     .context = r});
    rig_run(opened);
    const plan *p = guarded_plan(opened->s);
    const work w = launch_work(opened->a, p, &p->launches[0], NULL, NULL);
    prediction q;
    ck_assert(launch_predict(opened->a, p, &p->launches[0], &w, &q));
    ck_assert_double_eq(r->matrix, (double)products[_i].operations);
    ck_assert_double_eq(q.padded, r->matrix);
    ck_assert_double_le(w.products, r->matrix);
    rig_close(opened);
    free(r);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("touched");
    TCase *bytes = tcase_create("bytes");
    tcase_add_loop_test(bytes, predicted_bytes_are_those_that_kernels_touch, 0, sizeof cases / sizeof *cases);
    tcase_add_loop_test(bytes, matrix_instructions_do_the_operations_that_are_predicted, 0, sizeof products / sizeof *products);
    tcase_set_timeout(bytes, 120);
    suite_add_tcase(suite, bytes);
    return run_suite(suite);
}
