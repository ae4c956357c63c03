/* `tfgen trace`: its files have the format that viewers expect and every tile once; what cannot be traced is refused. */
#define _GNU_SOURCE
#include "gen/program/program.h"
#include "tests/shell.h"
#include "tests/support.h"
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[64] = "/tmp/tfgen-trace-XXXXXX";

static const char *path_of(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static json_t *read_json(const char *name)
{
    json_error_t error;
    json_t *read = json_load_file(path_of(name), 0, &error);
    ck_assert_msg(read != NULL, "%s: %s", name, error.text);
    return read;
}

/* Runs before the cases that look at its files: one run of 2 s for all of them. */
static void trace_a_block(void)
{
    const int code =
        tfgen("trace specs/llama-block.yaml --target=sm_90a --jobs=2 --seconds=0 --json -o %s/t.json --svg=%s/t.svg", folder, folder);
    ck_assert_msg(code == 0, "%s", output);
}

/* ---- Chrome's trace format: microseconds; slices of a thread lie side by side or one inside the other */
typedef struct slice {
    long long thread;
    double from, to;
} slice;

static int by_thread(const void *x, const void *y)
{
    const slice *a = x, *b = y;
    if (a->thread != b->thread) return a->thread < b->thread ? -1 : 1;
    if (a->from != b->from) return a->from < b->from ? -1 : 1;
    return (a->to < b->to) - (a->to > b->to);
}

static slice read_slice(const json_t *e)
{
    const slice s = {(long long)number(e, "pid") << 32 | (long long)number(e, "tid"), number(e, "ts"), number(e, "ts") + number(e, "dur")};
    ck_assert(json_is_integer(json_object_get(e, "pid")) && json_is_integer(json_object_get(e, "tid")));
    ck_assert(number(e, "dur") >= 0 && number(e, "ts") >= 0 && *string(e, "name") && *string(e, "cat"));
    return s;
}

static void check_nesting(slice *list, int count)
{
    slice open[16];
    int depth = 0;
    qsort(list, (size_t)count, sizeof *list, by_thread);
    for (int i = 0; i < count; i++) {
        while (depth && (open[depth - 1].thread != list[i].thread || open[depth - 1].to <= list[i].from + 1e-6)) depth--;
        if (depth) ck_assert_double_le(list[i].to, open[depth - 1].to + 1e-6);
        open[depth++] = list[i];
        ck_assert_int_lt(depth, 16);
    }
}

static int events_of(const json_t *events, const char *kind, const char *name)
{
    int count = 0;
    size_t i;
    json_t *e;
    json_array_foreach(events, i, e) count +=
        strcmp(string(e, "ph"), "X") == 0 && strcmp(string(e, "cat"), kind) == 0 && (!name || strcmp(string(e, "name"), name) == 0);
    return count;
}

START_TEST(a_timeline_is_in_chromes_format_and_has_every_tile)
{
    json_t *all = read_json("t.json"), *events = json_object_get(all, "traceEvents"), *summary = json_object_get(all, "otherData"), *e;
    slice *slices = calloc(json_array_size(events), sizeof *slices);
    int count = 0;
    size_t i;
    json_array_foreach(events, i, e)
    {
        const char *kind = string(e, "ph");
        ck_assert(strcmp(kind, "X") == 0 || strcmp(kind, "M") == 0);
        if (*kind == 'M')
            ck_assert(*string(json_object_get(e, "args"), "name"));
        else
            slices[count++] = read_slice(e);
    }
    check_nesting(slices, count);
    double tiles = 0;
    json_array_foreach(json_object_get(summary, "launches"), i, e)
    {
        const double own = number(json_object_get(e, "tiles"), "count");
        ck_assert_int_eq(events_of(events, "tile", string(e, "name")), (int)own);
        tiles += own;
    }
    ck_assert_int_eq(events_of(events, "tile", NULL), (int)tiles);
    ck_assert_int_eq(events_of(events, "launch", NULL), (int)json_array_size(json_object_get(summary, "launches")));
    free(slices);
    json_decref(all);
}
END_TEST

/* The host engine starts a launch when the one before it has ended. */
START_TEST(a_summary_has_launches_in_order_with_as_many_tiles_as_the_plan)
{
    json_t *all = json_loads(output, 0, NULL), *launches = json_object_get(all, "launches"), *e;
    rig *r = rig_plan(&(rig_request){.path = "specs/llama-block.yaml", .level = fusion_tile, .target = "sm_90a"});
    double last = 0;
    size_t i;
    ck_assert_ptr_nonnull(all);
    ck_assert_int_eq((int)json_array_size(launches), r->c.plan->launch_count);
    json_array_foreach(launches, i, e)
    {
        const launch *l = &r->c.plan->launches[i];
        const json_t *units = json_object_get(e, "units");
        ck_assert_str_eq(string(e, "name"), l->name);
        const long long tiles = launch_tiles(l, &r->c.plan->ir->dims);
        ck_assert_double_eq(number(json_object_get(e, "tiles"), "count"), (double)tiles);
        ck_assert(number(e, "begin") >= last && number(e, "first_tile") >= number(e, "begin"));
        ck_assert(number(e, "last_tile") >= number(e, "first_tile") && number(e, "end") >= number(e, "last_tile"));
        ck_assert_double_eq_tol(number(units, "busy") + number(units, "before") + number(units, "between") + number(units, "after") +
                                    number(units, "unused"),
                                1, 1e-9);
        last = number(e, "end");
    }
    ck_assert_double_eq_tol(number(all, "seconds"), last, 1e-12);
    ck_assert_str_eq(string(all, "target"), "sm_90a");
    ck_assert_int_eq((int)number(all, "units"), 2);
    ck_assert(json_is_true(json_object_get(json_object_get(all, "overhead"), "same_bits")));
    rig_close(r);
    json_decref(all);
}
END_TEST

START_TEST(a_picture_needs_no_other_file_and_names_each_launch)
{
    rig *r = rig_plan(&(rig_request){.path = "specs/llama-block.yaml", .level = fusion_tile, .target = "sm_90a"});
    char *svg = whole_file(path_of("t.svg"));
    is_picture(svg);
    for (int i = 0; i < r->c.plan->launch_count; i++) {
        char path[64], key[64];
        snprintf(path, sizeof path, "<path id=\"t%d\"", i);
        snprintf(key, sizeof key, "<a id=\"k%d\" href=\"#t%d\"", i, i);
        ck_assert(strstr(svg, path) && strstr(svg, key) && strstr(svg, r->c.plan->launches[i].name));
    }
    rig_close(r);
    free(svg);
}
END_TEST

START_TEST(the_trace_names_its_launch_and_the_cost_of_tracing)
{
    ck_assert_msg(tfgen("trace specs/softmax.yaml --seconds=0 --jobs=1 --device=host") == 0, "%s", output);
    says("on host  target host");
    says("us from the first workgroup to the last, in which 1 unit computed tiles for");
    says("softmax_p");
    says("tracing: outputs and states have the same bits as without it; a run takes");
    ck_assert_msg(tfgen("trace specs/softmax.yaml --seconds=0 -q") == 0, "%s", output);
    ck_assert_str_eq(output, "");
}
END_TEST

/* The double runs queued work as late as it may, so reading early what another stream fills would show. */
START_TEST(a_gpu_is_traced_through_its_driver)
{
    use_hip_double();
    ck_assert_msg(tfgen("trace specs/softmax.yaml --device=hip --seconds=0") == 0, "%s", output);
    says("outputs and states have the same bits");
}
END_TEST

START_TEST(the_text_of_a_plan_can_be_traced)
{
    ck_assert_int_eq(tfgen("emit specs/softmax.yaml --dump=plan -q >%s/plan.ir", folder), 0);
    ck_assert_msg(tfgen("trace %s/plan.ir --from=plan --seconds=0", folder) == 0, "%s", output);
    says("softmax_p");
}
END_TEST

static const struct {
    const char *arguments, *message;
    int code;
} refused[] = {{"trace", "usage: tfgen trace [options] SPEC", 2},
               {"trace specs/softmax.yaml specs/rmsnorm.yaml", "trace takes one SPEC", 2},
               {"trace specs/softmax.yaml --target=host,sm_90a", "--target: one target here", 2},
               {"trace specs/softmax.yaml --target=sm_91", "unknown target sm_91", 2},
               {"trace specs/softmax.yaml --graph --device=host", "only GPUs have graphs", 4},
               {"trace specs/softmax.yaml --device=nothing:1", "--device:", 2},
               {"trace specs/softmax.yaml --seconds=many", "--seconds", 2},
               {"trace specs/softmax.yaml --repeat=3", "--repeat", 2},
               {"trace specs/softmax.yaml --seconds=0 --svg=/dev/null/picture.svg", "/dev/null/picture.svg", 7},
               {"trace specs/bad/shape.yaml", "error", 3},
               {"run specs/softmax.yaml --svg=x.svg", "--svg", 2}};

START_TEST(trace_refuses_what_it_cannot_trace)
{
    const int code = tfgen("%s", refused[_i].arguments);
    ck_assert_msg(code == refused[_i].code && strstr(output, refused[_i].message), "%s: %d: %s", refused[_i].arguments, code, output);
}
END_TEST

int main(void)
{
    use_kernels(kernels_timed);
    Suite *s = suite_create("trace_command");
    TCase *t = tcase_create("trace"), *block = tcase_create("block");
    if (!mkdtemp(folder)) return 1;
    tcase_set_timeout(t, 120);
    tcase_add_test(t, the_trace_names_its_launch_and_the_cost_of_tracing);
    tcase_add_test(t, the_text_of_a_plan_can_be_traced);
    tcase_add_test(t, a_gpu_is_traced_through_its_driver);
    tcase_add_loop_test(t, trace_refuses_what_it_cannot_trace, 0, sizeof refused / sizeof *refused);
    suite_add_tcase(s, t);
    tcase_set_timeout(block, 120);
    tcase_add_unchecked_fixture(block, trace_a_block, NULL);
    tcase_add_test(block, a_timeline_is_in_chromes_format_and_has_every_tile);
    tcase_add_test(block, a_summary_has_launches_in_order_with_as_many_tiles_as_the_plan);
    tcase_add_test(block, a_picture_needs_no_other_file_and_names_each_launch);
    suite_add_tcase(s, block);
    const int failed = run_suite(s);
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) || failed;
}
