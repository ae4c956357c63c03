/* In: tests/golden/bounds.txt: for each value of the specs of tests/specs, computed from data of seed 1, the RMS of its elements and of
 * their bounds, and the largest bound. Out: Check's count. Refuses: numbers that differ by more than a millionth. A bound that is 2 % or
 * ten times too wide passes every correct device; here it is noticed. TFGEN_GOLDEN_UPDATE=1 rewrites the file. */
#include "tests/ir/ir_golden.h"
#include "tests/reference/ref_harness.h"

static const char path[] = "tests/golden/bounds.txt";
static const char *const specs[] = {"attention-forms", "every-op", "folds",    "long-chains", "moves",
                                    "odd-head-cache",  "odd-rows", "products", "ropes",       "row-scalars"};
enum { spec_count = sizeof specs / sizeof *specs };

static bool always(void *context, const ir_op *op) { return (void)context, (void)op, true; }
static bool never(void *context, const ir_value *v) { return (void)context, (void)v, false; }

static const struct {
    const char *name, *dtype;
    bool rounded;
    ref_rules rules;
} modes[] = {{"f32", "f32", false, {0}},
             {"f32 split", "f32", false, {.splits = always}},
             {"bf16", "bf16", true, {0}},
             {"bf16 fused", "bf16", false, {.stored = never, .rounds_scores = always}}};
enum { mode_count = sizeof modes / sizeof *modes };

static const char *value_line(arena *a, const char *name, const ref_tensor *t)
{
    double values = 0, errors = 0, most = 0;
    size_t numbers = 0, unknown = 0;
    for (size_t i = 0; i < t->count; i++) {
        const double e = t->error ? t->error[i] : 0;
        if (isinf(e)) unknown++;
        if (isinf(e) || !isfinite(t->value[i])) continue;
        values += t->value[i] * t->value[i], errors += e * e, numbers++;
        if (e > most) most = e;
    }
    const double n = numbers ? (double)numbers : 1;
    return arena_printf(a, "  %-8s %6zu of %zu %14.8g %14.8g %14.8g\n", name, numbers, numbers + unknown, sqrt(values / n),
                        sqrt(errors / n), most);
}

/* Prints a line for each result in the first mode; in later modes only the lines that differ from the first mode's. */
static void print_spec(arena *a, text *out, const char *spec, int mode)
{
    static const char *first[most_bench_values];
    const graph_options options = {.dtype = modes[mode].dtype};
    const char *yaml = read_text_file(a, arena_printf(a, "tests/specs/%s.yaml", spec));
    bench *b = bench_open(yaml, strlen(yaml), &options);
    bench_fill(b, 1);
    bench_run(b, modes[mode].rounded, &modes[mode].rules);
    text_printf(out, "%s %s\n", spec, modes[mode].name);
    for (int i = 0; i < b->graph->value_count; i++)
        if (b->graph->values[i]->kind == value_result) {
            const char *line = value_line(a, b->graph->values[i]->name, &b->result[i]);
            if (mode == 0) first[i] = line;
            if (mode == 0 || strcmp(first[i], line) != 0) text_printf(out, "%s", line);
        }
    bench_close(b);
}

/* Advances both texts past their next word. True if the words are equal, or are numbers that differ by at most a millionth, and the same
 * character follows them. */
static bool same_word(const char **x, const char **y)
{
    *x += strspn(*x, " "), *y += strspn(*y, " ");
    const size_t n = strcspn(*x, " \n"), m = strcspn(*y, " \n");
    char *x_end, *y_end;
    const double p = strtod(*x, &x_end), q = strtod(*y, &y_end);
    const bool numbers = n && m && x_end == *x + n && y_end == *y + m;
    const bool same = numbers ? fabs(p - q) <= 1e-6 * fabs(p) : n == m && memcmp(*x, *y, n) == 0;
    *x += n, *y += m;
    return same && **x == **y;
}

static void compare_numbers(const char *expected, const char *now)
{
    for (int line = 2; *expected || *now; line++) { /* after "---" */
        const char *was = expected, *is = now;
        while (*expected && *expected != '\n')
            ck_assert_msg(same_word(&expected, &now), "%s:%d: \"%.*s\" is \"%.*s\"", path, line, (int)strcspn(was, "\n"), was,
                          (int)strcspn(is, "\n"), is);
        ck_assert(*expected == *now);
        if (*expected) expected++, now++;
    }
}

START_TEST(values_and_their_bounds_are_those_of_the_golden_file)
{
    arena *a = arena_new();
    text out = {.a = a};
    for (int i = 0; i < spec_count; i++)
        for (int mode = 0; mode < mode_count; mode++) print_spec(a, &out, specs[i], mode);
    golden g = {.a = a, .path = path, .head = "", .before = "", .after = ""};
    if (golden_updates())
        compare_golden(&g, out.data);
    else
        compare_numbers(read_text_file(a, path) + strlen("---\n"), out.data);
    arena_free(a);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("bounds in numbers");
    TCase *c = tcase_create("bounds");
    tcase_set_timeout(c, 120);
    tcase_add_test(c, values_and_their_bounds_are_those_of_the_golden_file);
    suite_add_tcase(suite, c);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? 1 : 0;
}
