/* Work grows with a spec's ops, no faster: values that share operands are computed once each. No test here looks at a clock. */
#include "gen/gen.h"
#include <check.h>
#include <stdlib.h>
#include <string.h>

typedef struct build {
    arena *a;
    const char *text;
    fusion_level level;
    plan *p;
} build;

static void build_body(void *argument)
{
    build *b = argument;
    const target_info *target = target_find("sm_90a");
    const graph_options options = {0};
    const fuse_options fusion = {b->level, target, NULL, 0};
    arena_source(b->a, "scale.yaml", b->text, strlen(b->text));
    b->p = plan_choose(b->a, fuse(b->a, lower(b->a, graph_read(b->a, b->text, strlen(b->text), "scale.yaml", &options)), &fusion), target,
                       NULL);
    emit(b->a, b->p);
}

static int count_in(const char *text, const char *word)
{
    int n = 0;
    for (const char *at = text; (at = strstr(at, word)); at += strlen(word)) n++;
    return n;
}

enum { shared_ops = 60 };

/* Op i reads what the two before it made: paths from the last op back to the first grow like Fibonacci's numbers. */
static void write_fibonacci(text *t, const char *first, const char *second)
{
    for (int i = 0; i < shared_ops; i++) {
        text_printf(t, "  - {out: s%d, op: add, in: [", i);
        if (i < 2) text_printf(t, "%s, ", i == 0 ? first : second);
        else text_printf(t, "s%d, ", i - 2);
        if (i < 1) text_printf(t, "%s]}\n", second);
        else text_printf(t, "s%d]}\n", i - 1);
    }
}

static void write_head(text *t, const char *inputs)
{
    text_printf(t, "block: shared\ndtype: f32\ndims: {M: 4, N: 64}\ninputs: {%s}\nops:\n", inputs);
}

static void sources_with_sharing(arena *a, int form, text *spec)
{
    *spec = (text){.a = a};
    if (form == 0) { /* each op squares the one before */
        write_head(spec, "x: [M, N]");
        for (int i = 0; i < shared_ops; i++)
            text_printf(spec, i ? "  - {out: s%d, op: add, in: [s%d, s%d]}\n" : "  - {out: s%d, op: add, in: [x, x]}\n", i, i - 1, i - 1);
        text_printf(spec, "outputs: {o: s%d}\n", shared_ops - 1);
    } else if (form == 1) {
        write_head(spec, "x: [M, N], y: [M, N]");
        write_fibonacci(spec, "x", "y");
        text_printf(spec, "outputs: {o: s%d}\n", shared_ops - 1);
    } else { /* numbers a row */
        write_head(spec, "x: [M, N]");
        text_printf(spec, "  - {out: a, op: row_sum, in: [x]}\n  - {out: b, op: row_max, in: [x]}\n");
        write_fibonacci(spec, "a", "b");
        text_printf(spec, "  - {out: z, op: mul, in: [x, s%d]}\noutputs: {o: z}\n", shared_ops - 1);
    }
}

START_TEST(an_op_that_many_share_is_computed_once)
{
    text spec;
    build b = {.a = arena_new(), .level = (fusion_level)(_i % 3)};
    sources_with_sharing(b.a, _i / 3, &spec);
    b.text = spec.data;
    ck_assert_msg(arena_run(b.a, build_body, &b) == code_ok, "%s", arena_diagnostics(b.a));
    int adds = 0;
    for (int i = 0; i < b.p->launch_count; i++) adds += count_in(b.p->launches[i].spec_header, "= op_add(");
    ck_assert_int_eq(adds, shared_ops);
    arena_free(b.a);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("scale");
    TCase *t = tcase_create("sharing");
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, an_op_that_many_share_is_computed_once, 0, 9);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    const int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
