/* Pages and pictures: their texts are complete, and placed where they can be read. */
#define _POSIX_C_SOURCE 200809L
#include "runtime/cli/page/drawing.h"
#include "runtime/cli/page/page.h"
#include "tests/shell.h"
#include "tests/support.h"
#include <check.h>
#include <stdlib.h>
#include <string.h>

/* Lines of text of a picture, concatenated. */
static const char *read_back(arena *a, const char *svg, double *widest)
{
    text t = {.a = a};
    *widest = 0;
    for (const char *at = strstr(svg, "<text"); at; at = strstr(at, "<text")) {
        at = strchr(at, '>') + 1;
        const char *line = arena_printf(a, "%.*s", (int)strcspn(at, "<"), at);
        if (draw_width(line) > *widest) *widest = draw_width(line);
        text_printf(&t, "%s%s", t.size ? " " : "", line);
    }
    return t.data;
}

START_TEST(words_are_broken_into_lines_and_never_cut)
{
    static const char words[] =
        "illegal: gemm_wgmma: 6 stages of 49152 bytes are 294912; a workgroup has 232448 (shared memory), with a reason "
        "that goes on and on until nobody would have a line for it";
    static const char name[] = "a_name_without_a_space_that_is_much_longer_than_any_line_of_a_phone_could_ever_be_and_is_not_cut_either";
    arena *a = arena_new();
    text t = {.a = a}, one = {.a = a};
    double widest;
    ck_assert_int_gt(draw_words(&t, 2, 20, "hot", words), 20 + 2 * 17);
    ck_assert_str_eq(read_back(a, t.data, &widest), words);
    ck_assert_double_le(widest, 345);
    ck_assert_int_gt(draw_words(&one, 2, 20, "", name), 20 + 17);
    const char *back = read_back(a, one.data, &widest);
    ck_assert_double_le(widest, 345);
    for (const char *at = name; *at; back++)
        if (*back != ' ') ck_assert_int_eq(*back, *at++);
    arena_free(a);
}
END_TEST

START_TEST(axes_of_charts_have_round_values_inside_their_range)
{
    static const struct {
        draw_scale s;
        double marks[8];
    } cases[] = {{{0, 10, false, 0, 100}, {0, 2, 4, 6, 8, 10}},
                 {{0.78, 1, false, 0, 100}, {0.8, 0.85, 0.9, 0.95, 1}},
                 {{3, 700, true, 0, 100}, {10, 100}},
                 {{40, 47, true, 0, 100}, {40, 42, 44, 46}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double marks[draw_most_marks];
        const int count = draw_marks(&cases[i].s, 6, marks);
        ck_assert_int_ge(count, 2);
        for (int k = 0; k < count; k++) {
            ck_assert_double_eq_tol(marks[k], cases[i].marks[k], 1e-9);
            const double at = draw_at(&cases[i].s, marks[k]);
            ck_assert(at >= -1e-6 && at <= 100 + 1e-6);
        }
    }
    const draw_scale point = {5, 5, false, 0, 100};
    double mark;
    ck_assert_int_eq(draw_marks(&point, 1, &mark), 1);
    ck_assert_double_eq(draw_at(&point, 5), 50);
}
END_TEST

START_TEST(empty_columns_are_left_out_except_in_csv)
{
    static const sheet_column columns[] = {{"tile", sheet_words}, {"GB/s", sheet_number}, {"us", sheet_number}};
    static const char *const rows[2][3] = {{"m=64 <b>", "", "1.25"}, {"m=128", "", ""}};
    arena *a = arena_new();
    sheet s = {.a = a, .caption = "tiles", .columns = columns, .column_count = 3};
    text html = {.a = a}, plain = {.a = a}, csv = {.a = a};
    for (int i = 0; i < 2; i++) sheet_add(&s, "", rows[i]);
    sheet_put_html(&html, &s), sheet_put_text(&plain, &s), sheet_put_csv(&csv, &s);
    ck_assert(strstr(html.data, ">us</th>") && !strstr(html.data, "GB/s") && strstr(html.data, "m=64 &lt;b&gt;</td>"));
    ck_assert_str_eq(plain.data, "  tile        us\n  m=64 <b>  1.25\n  m=128         \n");
    ck_assert_str_eq(csv.data, "tile,GB/s,us\r\nm=64 <b>,,1.25\r\nm=128,,\r\n");
    arena_free(a);
}
END_TEST

/* Runs the scripts of the page and looks for every op, input and name in what they draw (tests/page.mjs). */
START_TEST(graphs_name_every_op_and_input_and_no_edge_goes_behind_a_box)
{
    static const char *const specs[] = {"llama-decode", "gpt2-block"};
    if (shell("command -v node") != 0) {
        printf("skipped: %s: there is no node (nodejs)\n", __func__);
        return;
    }
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        char page[] = "/tmp/tfgen-page-XXXXXX";
        ck_assert_ptr_nonnull(mkdtemp(page));
        ck_assert_int_eq(tfgen("explain specs/%s.yaml --no-code --device-model=h200 --html=%s/page.html", specs[i], page), 0);
        ck_assert_msg(shell("node tests/page.mjs %s/page.html", page) == 0, "%s", output);
        says(" looked at, 0 wrong");
        ck_assert_int_eq(shell("rm -r %s", page), 0);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("page");
    TCase *c = tcase_create("page");
    tcase_add_test(c, words_are_broken_into_lines_and_never_cut);
    tcase_add_test(c, axes_of_charts_have_round_values_inside_their_range);
    tcase_add_test(c, empty_columns_are_left_out_except_in_csv);
    tcase_add_test(c, graphs_name_every_op_and_input_and_no_edge_goes_behind_a_box);
    suite_add_tcase(suite, c);
    return run_suite(suite);
}
