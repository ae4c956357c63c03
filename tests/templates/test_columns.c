/* Reductions of an axis that is not the last (templates/rows/columns.h): results within their bounds for tiles of every kind, sizes that no
 * tile divides, parts of the axis, and the same bits launch after launch. */
#include "tests/support.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define SPEC(dtype, shape, ops) "block: t\ndtype: " dtype "\ninputs: {x: " shape "}\nops:\n" ops "outputs: {y: y}\n"
#define DYNAMIC(dtype, shape, ops) SPEC(dtype "\ndims: {B: 3, S: 4}\ndynamic: {B: [1, 3], S: [1, 4]}", shape, ops)
#define REDUCE(op, axis) "  - {out: y, op: " op ", in: [x], axis: " axis "}\n"
#define AROUND \
    "  - {out: a, op: square, in: [x]}\n  - {out: s, op: mean, in: [a], axis: 1, keepdim: true}\n  - {out: y, op: sqrt, in: [s]}\n"
#define TALL SPEC("bf16", "[1003, 72]", REDUCE("sum", "0"))
#define ODD SPEC("f32", "[517, 37]", REDUCE("mean", "0"))
#define MIDDLE DYNAMIC("f16", "[B, 131, S, 40]", REDUCE("amax", "1"))
#define BATCHED DYNAMIC("bf16", "[B, 131, S, 24]", AROUND)
#define SHORT SPEC("f32", "[3, 67, 2, 5]", REDUCE("amin", "-3"))
#define WIDE SPEC("f32", "[9, 1037]", REDUCE("sum", "0"))

typedef struct columns_case {
    const char *target, *yaml, *tile; /* tile NULL: the planned one */
    bool parts;
} columns_case;
static const columns_case cases[] = {
    {"host", TALL, NULL, false},
    {"host", MIDDLE, NULL, false},
    {"host", TALL, "threads=1 lanes=1 v=4 parts=3", true},
    {"sm_90a", TALL, NULL, false},
    {"sm_90a", ODD, NULL, true},
    {"sm_90a", MIDDLE, NULL, false},
    {"sm_90a", BATCHED, NULL, false},
    {"sm_90a", SHORT, NULL, false},
    {"sm_90a", WIDE, NULL, false},
    {"sm_90a", SPEC("bf16", "[3100, 3]", REDUCE("sum", "0")), NULL, true}, /* fewer columns than parts exchange */
    {"gfx1100", SPEC("f16", "[2, 999]", REDUCE("sum", "0")), NULL, false},
    {"sm_90a", TALL, "threads=512 lanes=8 v=8 parts=5", true},
    {"sm_90a", TALL, "threads=64 lanes=64 v=2 parts=2", true},     /* a team of two warps, one group */
    {"sm_90a", TALL, "threads=32 lanes=2 v=8 parts=7", true},      /* one group: all teams in one warp */
    {"sm_90a", TALL, "threads=1024 lanes=4 v=8 parts=1", false},
    {"sm_80", ODD, "threads=128 lanes=4 v=1 parts=11", true},      /* columns that no vector divides, fewer terms than are loaded at once */
    {"sm_80", ODD, "threads=256 lanes=16 v=4 parts=3", true},      /* a vector across the end of a row */
    {"sm_80", BATCHED, "threads=128 lanes=4 v=2 parts=4", true},
    {"gfx942", ODD, NULL, true},
    {"gfx942", MIDDLE, "threads=128 lanes=128 v=1 parts=3", true},
    {"gfx90a", BATCHED, NULL, false},
    {"gfx1100", TALL, "threads=256 lanes=8 v=4 parts=130", true},
    {"gfx1201", SHORT, NULL, false},
};

START_TEST(an_axis_before_the_last_is_reduced)
{
    const columns_case *c = &cases[_i];
    char line[128];
    snprintf(line, sizeof line, "columns %s", c->tile ? c->tile : "");
    const char *lines = line;
    const tuning t = {.lines = &lines, .count = c->tile != NULL};
    rig *r = rig_open(&(rig_request){.yaml = c->yaml, .level = fusion_tile, .target = c->target, .tuning = &t, .check = true});
    ck_assert_int_eq(r->c.plan->launch_count, 1);
    ck_assert_int_eq(r->c.plan->scratch_count, c->parts);
    rig_round(r);
    rig_run(r);
    rig_reference(r);
    const double ratio = rig_judge(r);
    ck_assert_msg(ratio <= 1, "%s: %s: %g of the bound", c->target, line, ratio);
    const size_t bytes = rig_count(r, "y") * sizeof(double);
    const double *first = memcpy(arena_alloc(r->a, bytes), rig_read(r, "y"), bytes);
    rig_execute(r);
    ck_assert_mem_eq(first, rig_read(r, "y"), bytes);
    rig_nothing_stays_published(r);
    rig_close(r);
}
END_TEST

/* One plan serves all extents of the other axes. */
START_TEST(other_axes_may_have_any_extent)
{
    rig *r = rig_open(&(rig_request){.yaml = MIDDLE, .level = fusion_tile, .target = "sm_90a", .check = true});
    rig_round(r);
    for (int S = 4; S >= 1; S -= 3) {
        rig_set_dim(r, "S", S), rig_set_dim(r, "B", S / 2 + 1);
        rig_run(r);
        rig_reference(r);
        ck_assert(rig_judge(r) <= 1);
        ck_assert(rig_tail_untouched(r, "y"));
    }
    rig_close(r);
}
END_TEST

/* In one launch with phases of every other family that runs on vector instructions: templates share one scope of names. */
START_TEST(a_reduction_shares_a_launch_with_attention)
{
    static const char yaml[] = "block: t\ndtype: f32\ndims: {B: 2, S: 5, H: 2, hd: 8, L: 9}\n"
                               "inputs: {x: [B, S, H*hd], n: {shape: [B], dtype: i32, range: [0, L-S]}}\nstate: {c: [B, H, L, hd]}\nops:\n"
                               "  - {out: k, op: kv_append, in: [x], state: c, at: n}\n"
                               "  - {out: o, op: attention, in: [x, k, k], heads: H, kv_heads: H, at: n}\n"
                               "  - {out: a, op: attention, in: [x, x, x], heads: H}\n"
                               "  - {out: s, op: add, in: [o, a]}\n  - {out: y, op: amax, in: [s], axis: 1}\noutputs: {y: y}\n";
    static const char *const targets[] = {"host", "gfx1201"};
    rig *r = rig_open(&(rig_request){.yaml = yaml, .level = fusion_block, .target = targets[_i], .check = true});
    ck_assert_int_eq(r->c.plan->launch_count, 1);
    rig_data(r, "n")[0] = 0, rig_data(r, "n")[1] = 4;
    rig_run(r);
    rig_reference(r);
    ck_assert(rig_judge(r) <= 1);
    rig_close(r);
}
END_TEST

/* A NaN makes the maximum NaN, wherever it is: in a thread's own rows, in those of another team, or in another part. */
START_TEST(a_maximum_is_nan_if_any_element_is)
{
    static const char *const line = "columns threads=64 lanes=4 v=4 parts=3";
    const tuning t = {.lines = &line, .count = 1};
    rig *r = rig_open(&(rig_request){.yaml = SPEC("f32", "[301, 32]", REDUCE("amax", "0")), .level = fusion_tile, .target = "sm_80",
                                     .tuning = &t, .check = true});
    double *x = rig_data(r, "x");
    for (int i = 0; i < 30; i++) x[i * 10 * 32 + i] = (double)NAN;
    rig_run(r);
    const double *y = rig_read(r, "y");
    for (int i = 0; i < 32; i++) ck_assert_int_eq(isnan(y[i]) != 0, i < 30);
    rig_close(r);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("columns");
    TCase *t = tcase_create("columns");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, an_axis_before_the_last_is_reduced, 0, sizeof cases / sizeof *cases);
    tcase_add_test(t, other_axes_may_have_any_extent);
    tcase_add_loop_test(t, a_reduction_shares_a_launch_with_attention, 0, 2);
    tcase_add_test(t, a_maximum_is_nan_if_any_element_is);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
