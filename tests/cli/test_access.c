/* `tfgen access`: figures of emitted kernels against closed forms of the bytes that their spec must move; refusals; the picture. */
#define _GNU_SOURCE
#include "tests/shell.h"
#include "tests/support.h"
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static json_t *access_of(const char *what)
{
    json_error_t error;
    ck_assert_msg(tfgen("access %s --json", what) == 0, "%.2000s", output);
    json_t *all = json_loads(output, 0, &error);
    ck_assert_msg(all != NULL, "%s:\n%.2000s", error.text, output);
    return all;
}

static double number_of(const json_t *o, const char *key) { return json_number_value(json_object_get(o, key)); }
static const char *text_of(const json_t *o, const char *key)
{
    const char *s = json_string_value(json_object_get(o, key));
    return s ? s : "";
}

/* Adds up field `key` over the rows of a kernel that are for one memory ("" is shared memory) and one kind of access. */
static double sum(const json_t *all, const char *kernel, const char *memory, const char *access, const char *key)
{
    double total = 0;
    size_t i, k;
    json_t *launch, *row;
    json_array_foreach(json_object_get(all, "launches"), i, launch)
        json_array_foreach(json_object_get(launch, "rows"), k, row)
            if (strcmp(text_of(launch, "kernel"), kernel) == 0 && strcmp(text_of(row, "memory"), memory) == 0 &&
                strcmp(text_of(row, "access"), access) == 0)
                total += number_of(row, key);
    return total;
}

static void check_whole(const json_t *all)
{
    size_t i, k;
    json_t *launch, *row;
    ck_assert_uint_gt(json_array_size(json_object_get(all, "launches")), 0);
    json_array_foreach(json_object_get(all, "launches"), i, launch)
    {
        double asked = 0;
        ck_assert(number_of(launch, "accesses") == number_of(launch, "recorded") && number_of(launch, "accesses") > 0);
        json_array_foreach(json_object_get(launch, "rows"), k, row)
        {
            ck_assert_msg(*text_of(row, "source") && *text_of(row, "spec"), "%s", json_dumps(row, 0));
            asked += number_of(row, "lanes");
            if (*text_of(row, "memory")) ck_assert_double_le(number_of(row, "least_sectors"), number_of(row, "sectors"));
            else ck_assert_double_le(number_of(row, "least_cycles"), number_of(row, "cycles"));
        }
        ck_assert_double_eq(asked, number_of(launch, "accesses")); /* each is in one row */
    }
}

START_TEST(a_norm_reads_each_byte_once_on_every_target)
{
    static const char *const targets[] = {"gfx908", "gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1151", "gfx1201", "sm_80", "sm_90a"};
    char what[128];
    snprintf(what, sizeof what, "specs/rmsnorm.yaml --target=%s --dim=B=2,S=7,D=512", targets[_i]);
    json_t *all = access_of(what);
    check_whole(all);
    ck_assert_str_eq(text_of(all, "target"), targets[_i]);
    const double bytes = 2 * 7 * 512 * 2;
    const char *kernel = "rmsnorm_n";
    ck_assert_double_eq(sum(all, kernel, "x", "read", "bytes_used"), bytes);
    ck_assert_double_eq(sum(all, kernel, "w", "read", "bytes_used"), bytes);
    ck_assert_double_eq(sum(all, kernel, "n", "write", "bytes_used"), bytes);
    ck_assert_double_eq(sum(all, kernel, "n", "write", "bytes_asked"), bytes);
    ck_assert_double_eq(sum(all, kernel, "x", "read", "sectors") * number_of(all, "sector_bytes"), bytes);
    json_decref(all);
}
END_TEST

/* 128 x 128 x 128 on wgmma, one tile: two stages of 64 along k, of four products of 16 for two warpgroups. */
START_TEST(a_product_on_wgmma_loads_boxes_and_reads_operands_without_conflicts)
{
    json_t *all =
        access_of("specs/linear.yaml --target=sm_90a --dim=B=1,S=128,D=128,F=128 --tile='gemm: layer=wgmma m=128 n=128 stages=4'");
    check_whole(all);
    const double bytes = 128 * 128 * 2, products = 8 * 2;
    const char *kernel = "linear_l";
    ck_assert_double_eq(sum(all, kernel, "x", "tensor load", "bytes_used"), bytes);
    ck_assert_double_eq(sum(all, kernel, "x", "tensor load", "sectors"), bytes / 32);
    ck_assert_double_eq(sum(all, kernel, "linear_l_pack", "tensor load", "bytes_used"), bytes);
    ck_assert_double_eq(sum(all, kernel, "", "tensor write", "bytes_asked"), 2 * bytes);
    /* A: a warp's 16 rows of 32 bytes; B: 128 columns of 32 bytes, shared by four warps */
    const double requests = products * 4 * (1 + 2);
    ck_assert_double_eq(sum(all, kernel, "", "operand", "requests"), requests);
    ck_assert_double_eq(sum(all, kernel, "", "operand", "cycles"), 4 * requests);
    ck_assert_double_eq(sum(all, kernel, "", "operand", "least_cycles"), 4 * requests);
    ck_assert_double_eq(sum(all, kernel, "l", "write", "bytes_used"), bytes);
    const json_t *caches = json_object_get(json_array_get(json_object_get(all, "launches"), 1), "caches");
    ck_assert_double_eq(number_of(caches, "touched_bytes"), 3 * bytes + 128 * 2); /* three matrices, and the bias b */
    json_decref(all);
}
END_TEST

/* Mean number of chiplets that read a line of this memory. */
static double readers(const json_t *launch, const char *memory)
{
    size_t i;
    json_t *one;
    json_array_foreach(json_object_get(json_object_get(launch, "caches"), "chiplets"), i, one)
        if (strcmp(text_of(one, "memory"), memory) == 0) return number_of(one, "fetched") / number_of(one, "lines");
    return 0;
}

/* 8 x 8 tiles, numbered down one column after the other. Dealt to 8 chiplets in turn, each chiplet gets one row of tiles and reads the
 * whole weight; dealt in runs (templates/frame/chiplets.h), each gets one column and reads all rows. */
START_TEST(runs_of_tiles_share_operands_within_a_chiplet)
{
    for (int chiplets = 1; chiplets <= 8; chiplets += 7) {
        char what[160];
        snprintf(what, sizeof what, "specs/linear.yaml --target=gfx942 --dim=B=1,S=512,D=64,F=512 --kernel=linear_l "
                 "--tile='gemm: layer=mfma m=64 n=64 chiplets=%d'", chiplets);
        json_t *all = access_of(what);
        const json_t *launch = json_array_get(json_object_get(all, "launches"), 0);
        ck_assert_double_eq(number_of(launch, "workgroups"), 64);
        ck_assert_double_eq(readers(launch, "x"), chiplets);
        ck_assert_double_eq(readers(launch, "linear_l_pack"), 9 - chiplets);
        json_decref(all);
    }
}
END_TEST

START_TEST(blocks_and_decode_steps_are_recorded_whole)
{
    static const char *const whats[] = {"specs/llama-decode.yaml --target=sm_90a", "specs/llama-decode.yaml --target=gfx950",
                                        "specs/attention.yaml --target=sm_90a --dim=S=64", "specs/gpt2-block.yaml --target=sm_80",
                                        "specs/linear.yaml --target=sm_90a --dtype=f32 --tile='gemm: layer=wgmma_3xtf32'"};
    json_t *all = access_of(whats[_i]);
    check_whole(all);
    json_decref(all);
}
END_TEST

/* Emitted kernels with one line edited so that it accesses memory badly. */
static const struct {
    const char *by, *fault;
} planted[] = {{"load_aligned<V>(p.x_ + row * 2048ll + col * 8 % 2048)", "waste"}, /* 16 bytes of each line */
               {"load<V>(p.x_ + row * 2048ll + col, V)", "again"}};              /* an element at a time */

START_TEST(a_planted_line_is_named)
{
    static const char dims[] = "specs/rmsnorm.yaml --target=gfx942 --dim=B=1,S=64,D=2048";
    char folder[] = "/tmp/tfgen-access-XXXXXX", what[256];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(tfgen("emit %s -q -o %s", dims, folder), 0);
    ck_assert_int_eq(shell("grep -q 'load_aligned<V>(p.x_ + row \\* 2048ll + col)' %s/rmsnorm_n.hip", folder), 0);
    ck_assert_int_eq(shell("sed -i 's/load_aligned<V>(p.x_ + row \\* 2048ll + col)/%s/' %s/rmsnorm_n.hip", planted[_i].by, folder), 0);
    for (int bad = 0; bad < 2; bad++) {
        snprintf(what, sizeof what, "%s%s%s", dims, bad ? " --replace-source=" : "", bad ? folder : "");
        json_t *all = access_of(what), *row, *rows = json_object_get(json_array_get(json_object_get(all, "launches"), 0), "rows");
        size_t i, faults = 0;
        json_array_foreach(rows, i, row) faults += *text_of(row, "fault") != 0;
        ck_assert_uint_eq(faults, (size_t)bad);
        row = json_array_get(rows, 0);
        if (bad) ck_assert_str_eq(text_of(row, "fault"), planted[_i].fault);
        if (bad) ck_assert_str_eq(text_of(row, "memory"), "x");
        if (bad) ck_assert_str_eq(text_of(row, "spec"), "specs/rmsnorm.yaml:13:10");
        if (bad) ck_assert(strncmp(text_of(row, "source"), "templates/rows/rows.h:", 22) == 0);
        json_decref(all);
    }
    shell("rm -r %s", folder);
}
END_TEST

START_TEST(a_line_that_does_not_compile_is_named_in_page_and_spec)
{
    static const char dims[] = "specs/rmsnorm.yaml --target=gfx942 --dim=B=1,S=64,D=2048";
    char folder[] = "/tmp/tfgen-access-XXXXXX", line[80];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(tfgen("emit %s -q -o %s", dims, folder), 0);
    ck_assert_int_eq(shell("sed -i 's/load_aligned<V>(p.x_ +/load_alinged<V>(p.x_ +/' %s/rmsnorm_n.hip", folder), 0);
    ck_assert_int_eq(shell("grep -n load_alinged %s/rmsnorm_n.hip | cut -d: -f1", folder), 0);
    snprintf(line, sizeof line, "\nspecs/rmsnorm.yaml:13:10: rmsnorm_n.hip:%d:", atoi(output));
    ck_assert_int_eq(tfgen("access %s --replace-source=%s", dims, folder), 5);
    says(line);
    shell("rm -r %s", folder);
}
END_TEST

START_TEST(access_reports_what_its_limit_omits)
{
    ck_assert_int_eq(tfgen("access specs/rmsnorm.yaml --dim=B=1,S=64,D=256 --limit=1000"), 0);
    says("truncated: ");
    says("accesses are analysed (--limit), those of ");
    ck_assert_int_eq(tfgen("access specs/rmsnorm.yaml --dim=B=1,S=64,D=256 --limit=10"), 0);
    says("(--limit), because the first workgroup alone exceeds the limit");
    ck_assert_int_eq(tfgen("access specs/llama-block.yaml --kernel=llama_o --target=sm_80"), 0);
    says("llama_o  linear + add + rmsnorm");
    ck_assert(strstr(output, "llama_down") == NULL);
}
END_TEST

START_TEST(bad_requests_are_refused)
{
    ck_assert_int_eq(tfgen("access specs/rmsnorm.yaml --kernel=rmsnorm_m"), 2);
    says("no kernel is called 'rmsnorm_m'; did you mean 'rmsnorm_n'?");
    ck_assert_int_eq(tfgen("access specs/rmsnorm.yaml --target=host"), 4);
    says("no waves");
    ck_assert_int_eq(tfgen("access specs/rmsnorm.yaml --target=sm_80,sm_90a"), 2);
    says("--target: one target here, not 'sm_80,sm_90a'");
    ck_assert_int_eq(tfgen("access specs/rmsnorm.yaml specs/linear.yaml"), 2);
    ck_assert_int_eq(tfgen("access specs/rmsnorm.yaml --limit=0"), 2);
    ck_assert_int_eq(tfgen("access specs/rmsnorm.yaml --svg=/dev/null/a.svg"), 7);
    ck_assert_int_eq(tfgen("access"), 2);
}
END_TEST

START_TEST(the_picture_is_one_file_that_needs_no_other)
{
    char path[] = "/tmp/tfgen-access-XXXXXX.svg";
    close(mkstemps(path, 4));
    ck_assert_int_eq(tfgen("access specs/llama-block.yaml --target=sm_80 --svg=%s", path), 0);
    char *text = whole_file(path);
    is_picture(text);
    ck_assert_ptr_nonnull(strstr(text, "llama_attention"));
    ck_assert_ptr_null(strstr(text, "viewBox")); /* no viewBox: the picture takes the width of the window, and letters keep their size */
    ck_assert_ptr_nonnull(strstr(text, "templates/gemm/pack.h:"));
    free(text);
    unlink(path);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("access");
    TCase *cases = tcase_create("access");
    tcase_add_loop_test(cases, a_norm_reads_each_byte_once_on_every_target, 2, 4);
    tcase_add_test(cases, a_product_on_wgmma_loads_boxes_and_reads_operands_without_conflicts);
    tcase_add_test(cases, runs_of_tiles_share_operands_within_a_chiplet);
    tcase_add_loop_test(cases, blocks_and_decode_steps_are_recorded_whole, 0, 1);
    tcase_add_loop_test(cases, a_planted_line_is_named, 0, sizeof planted / sizeof *planted);
    tcase_add_test(cases, a_line_that_does_not_compile_is_named_in_page_and_spec);
    tcase_add_test(cases, access_reports_what_its_limit_omits);
    tcase_add_test(cases, bad_requests_are_refused);
    tcase_add_test(cases, the_picture_is_one_file_that_needs_no_other);
    tcase_set_timeout(cases, 120);
    suite_add_tcase(suite, cases);
    TCase *more = tcase_create("more targets");
    tcase_set_tags(more, "long");
    tcase_set_timeout(more, 600);
    tcase_add_loop_test(more, a_norm_reads_each_byte_once_on_every_target, 0, 9);
    tcase_add_loop_test(more, blocks_and_decode_steps_are_recorded_whole, 1, 5);
    suite_add_tcase(suite, more);
    return run_suite(suite);
}
