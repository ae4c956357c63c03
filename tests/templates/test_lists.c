/* Several phases in one launch (templates/frame/frame_list.h): the launches of a plan, put together by hand as one, with counters between
 * them. The generator writes launches of one phase alone. */
#include "gen/program/program.h"
#include "gen/source/template_text.h"
#include "tests/support.h"
#include <stdlib.h>
#include <string.h>

/* Rows, a product, rows; each reads what the one before has written. */
static const char yaml[] =
    "block: t\ndtype: bf16\ndims: {S: 37, D: 96, N: 80}\ninputs: {x: [S, D], r: [S, D]}\nparams: {w: [N, D], n: [N]}\nops:\n"
    "  - {out: a, op: add, in: [x, r]}\n  - {out: b, op: linear, in: [a, w]}\n  - {out: y, op: rmsnorm, in: [b, n]}\noutputs: {y: y}\n";
enum { phases = 3, word_count = 2 + 2 * 2 };

/* A tile of b waits for all rows of a that it has, one of y for all columns of b. */
static const char list[] =
    "using first = rows<t_a_spec>;\nusing third = rows<t_y_spec>;\n"
    "struct joined : phase_list<first, second, third> {\n"
    "    struct args {\n        first::args a;\n        second::args b;\n        third::args y;\n        unsigned *words;\n    };\n"
    "    static constexpr int below = second::tile_m / first::rows_at_once;\n"
    "    DEV static int tiles(const args &p, int phase)\n    {\n"
    "        return phase == 0 ? first::tiles(p.a) : phase == 1 ? second::tiles(p.b) : third::tiles(p.y);\n    }\n"
    "    template <class Do> DEV static void with(const args &p, int phase, Do what)\n    {\n"
    "        if (phase == 0) what(first(), p.a);\n        else if (phase == 1) what(second(), p.b);\n"
    "        else what(third(), p.y);\n    }\n"
    "    DEV static unsigned *words(const args &p) { return p.words; }\n"
    "    DEV static int counter_count(const args &p) { return 2 * second::row_tiles(p.b); }\n"
    "    DEV static int row_tile(const args &p, int phase, int index)\n    {\n"
    "        return phase == 1 ? second::at(p.b, index).row / rows_a_number : index / below;\n    }\n"
    "    DEV static dependency needs(const args &p, int phase, int index)\n    {\n"
    "        const int tile = row_tile(p, phase, index), left = first::tiles(p.a) - tile * below;\n"
    "        if (phase == 0) return {0, 0};\n"
    "        return phase == 1 ? dependency{tile, left < below ? left : below}\n"
    "                          : dependency{second::row_tiles(p.b) + tile, second::column_tiles};\n    }\n"
    "    DEV static int posts(const args &p, int phase, int index)\n    {\n"
    "        return phase == 2 ? -1 : phase * second::row_tiles(p.b) + row_tile(p, phase, index);\n    }\n};\n"
    "TF_KERNEL_LIST(t_joined_, joined)\n";

/* What another phase of the launch writes is no constant. */
static char *spec_struct(arena *a, const launch *l, bool reads)
{
    char *text = arena_printf(a, "%s", l->spec_header), *at = strstr(text, "const bf16 *");
    if (reads) memset(at, ' ', strlen("const "));
    return text;
}

static source_text joined_source(arena *a, const plan *p)
{
    struct text templates = {.a = a}, body = {.a = a};
    template_choice choice = {0};
    for (int i = 0; i < phases; i++) program_templates(&choice, p->launches[i].work->program, p->target);
    template_choose(&choice, "templates/frame/frame_list.h");
    for (int i = 0; i < template_count; i++)
        if (choice.has[i]) template_append(&templates, (template_id)i, false);
    text_printf(&body, "#line 1 \"t_joined.hip\"\n");
    for (int i = 0; i < phases; i++) text_printf(&body, "%s", spec_struct(a, &p->launches[i], i > 0));
    /* Whether a product's tile says its first row's number, or its own among tiles of rows. */
    const program *of = p->launches[1].work->program;
    text_printf(&body, "using second = %s<t_b_spec>;\nconstexpr int rows_a_number = %s;\n%s", of->device,
                of->kind == program_gemm_mma ? "1" : "second::tile_m", list);
    return (source_text){p->launches[1].source.head, templates.data, body.data};
}

/* The arguments of all, one behind another, and the counters. */
static void join_arguments(arena *a, plan *p, launch *to)
{
    int count = 0;
    unsigned bytes = 0;
    argument *all = arena_alloc(a, 32 * sizeof *all);
    for (int i = 0; i < phases; i++) {
        for (int k = 0; k < p->launches[i].argument_count; k++) {
            all[count] = p->launches[i].arguments[k];
            all[count++].offset += bytes;
        }
        bytes += p->launches[i].argument_bytes;
    }
    p->scratches[p->scratch_count] = (scratch){.name = "words", .floats = extent_number(word_count), .zeroed = true};
    all[count] = (argument){.kind = argument_scratch, .name = "words", .index = p->scratch_count++, .written = true, .offset = bytes,
                            .size = 8};
    to->arguments = all, to->argument_count = count + 1, to->argument_bytes = bytes + 8;
}

static void join_launches(arena *a, plan *p)
{
    launch joined = p->launches[0];
    ck_assert_int_eq(p->launch_count, phases);
    joined.name = "t_joined", joined.file = "t_joined.hip";
    joined.source = joined_source(a, p);
    join_arguments(a, p, &joined);
    for (int i = 0; i < phases; i++) {
        ck_assert_int_eq(p->launches[i].threads, joined.threads);
        if (p->launches[i].shared_bytes > joined.shared_bytes) joined.shared_bytes = p->launches[i].shared_bytes;
    }
    joined.dynamic_bytes = joined.shared_bytes;
    joined.together = true, joined.resident = 1;
    p->launches[0] = joined, p->launch_count = 1;
}

static const struct {
    const char *target, *lines[2];
    bool check;
} runs[] = {{"sm_90a", {"gemm layer=simt m=32 n=64 thread_m=2 thread_n=8", "rows threads=128"}, true},
            {"sm_80", {"gemm layer=mma m=32 n=128 threads=128", "rows threads=128"}, true},
            {"gfx942", {"gemm layer=register_fed m=48 n=32 threads=256", "rows threads=256"}, false},
            {"gfx1100", {"gemm layer=simt m=32 n=64 thread_m=2 thread_n=8", "rows threads=128"}, false},
            {"host", {"gemm layer=simt m=32 n=128 thread_m=32 thread_n=128 threads=1", "rows threads=1"}, false}};

START_TEST(three_phases_in_one_launch_wait_for_each_others_tiles)
{
    const tuning asked = {.lines = (const char **)runs[_i].lines, .count = 2};
    rig *r = rig_plan(&(rig_request){.yaml = yaml, .level = fusion_none, .target = runs[_i].target, .tuning = &asked});
    tfgen_code code;
    join_launches(r->a, r->c.plan);
    const guarded_options options = {.cache_dir = getenv("TFGEN_CACHE_DIR"), .check = runs[_i].check, .multiprocessors = 8};
    r->s = guarded_open(r->c.plan, &options, &code, &r->log);
    ck_assert_msg(r->s != NULL, "%s", r->log.text ? r->log.text : "no run");
    rig_fill(r, 1);
    for (int grid = 1; grid <= 4; grid += 3) { /* and again: the counters are as they were */
        r->c.plan->launches[0].grid_limit = grid;
        rig_run(r);
        rig_judge(r);
        rig_execute(r);
        rig_judge(r);
        unsigned words[word_count] = {1};
        ck_assert_int_eq(guarded_get_scratch(r->s, r->c.plan->scratch_count - 1, words, sizeof words, &r->log), code_ok);
        for (int i = 0; i < word_count; i++) ck_assert_uint_eq(words[i], 0);
    }
    rig_close(r);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("lists");
    TCase *t = tcase_create("counters");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, three_phases_in_one_launch_wait_for_each_others_tiles, 0, sizeof runs / sizeof *runs);
    suite_add_tcase(s, t);
    return run_suite(s);
}
