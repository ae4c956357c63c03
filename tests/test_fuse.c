/* In: golden files (a graph, "---", its kernels), graphs made here. Out: Check's count. Refuses: a fusion or a reason without a golden
 * file that shows it. */
#define _GNU_SOURCE
#include "ir/fuse.h"
#include "tests/ir_golden.h"

typedef struct fusing_test {
    golden g;
    attempt t;
    const char *result, *again;
} fusing_test;

static void fuse_text(void *argument)
{
    fusing_test *f = argument;
    ir_program *graph = ir_read(f->t.a, f->g.before, strlen(f->g.before), f->g.path);
    fuse_options options = {f->g.level, target_find("host"), f->g.disabled, f->g.disabled_count};
    char *before = ir_print(f->t.a, graph);
    ir_program *fused = fuse(f->t.a, lower(f->t.a, graph), &options);
    ck_assert_str_eq(before, ir_print(f->t.a, graph)); /* stages are pure */
    f->result = ir_print(f->t.a, fused);
    f->again = ir_print(f->t.a, ir_read(f->t.a, f->result, strlen(f->result), "again"));
}

static glob_t files;

START_TEST(each_golden_graph_fuses_as_its_file_says)
{
    fusing_test f = {.g = read_golden(files.gl_pathv[_i])};
    attempt_run(&f.t, fuse_text, &f);
    ck_assert_msg(f.t.code == code_ok, "%s: %s", f.g.path, f.t.errors);
    ck_assert_str_eq(f.result, f.again);
    compare_golden(&f.g, f.result);
    arena_free(f.t.a);
    arena_free(f.g.a);
}
END_TEST

static bool in_some_golden(const char *word)
{
    bool found = false;
    for (size_t i = 0; i < files.gl_pathc && !found; i++) {
        arena *a = arena_new();
        found = strstr(read_text_file(a, files.gl_pathv[i]), word) != NULL;
        arena_free(a);
    }
    return found;
}

START_TEST(each_reason_has_a_golden_file)
{
    /* The last, no-fusion-applies, is what remains when a pass has overlooked an edge. */
    for (reason r = reason_none + 1; r < reason_no_fusion; r++)
        ck_assert_msg(in_some_golden(reason_code(r)), "no file of tests/golden/fuse shows %s", reason_code(r));
}
END_TEST

START_TEST(each_fusion_has_golden_files_with_and_without_it)
{
    size_t n;
    const char *const *names = fusion_names(&n);
    for (size_t i = 0; i < n; i++) {
        char line[64];
        snprintf(line, sizeof line, "# no %s\n", names[i]);
        ck_assert_msg(in_some_golden(line), "no file of tests/golden/fuse turns %s off", names[i]);
    }
}
END_TEST

int main(void)
{
    glob("tests/golden/fuse/*.ir", 0, NULL, &files);
    Suite *s = suite_create("fuse");
    TCase *c = tcase_create("fuse");
    tcase_add_loop_test(c, each_golden_graph_fuses_as_its_file_says, 0, (int)files.gl_pathc);
    tcase_add_test(c, each_reason_has_a_golden_file);
    tcase_add_test(c, each_fusion_has_golden_files_with_and_without_it);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    globfree(&files);
    return failed != 0;
}
