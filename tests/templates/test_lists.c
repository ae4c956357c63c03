/* Lists written by hand (docs/frames.md): the launches of a plan, joined into one launch whose phases wait for each other tile by tile, by
 * counters. (The lists that the generator emits at level block wait for whole phases, by marks: test_block.c.) */
#include "gen/program/program.h"
#include "gen/source/template_text.h"
#include "tests/support.h"
#include <stdlib.h>
#include <string.h>

/* A rows phase, a product, a rows phase; each reads what the one before has written. */
static const char yaml[] =
    "block: t\ndtype: bf16\ndims: {S: 37, D: 96, N: 80}\ninputs: {x: [S, D], r: [S, D]}\nparams: {w: [N, D], n: [N]}\nops:\n"
    "  - {out: a, op: add, in: [x, r]}\n  - {out: b, op: linear, in: [a, w]}\n  - {out: y, op: rmsnorm, in: [b, n]}\noutputs: {y: y}\n";
enum { most_phases = 3, word_count = 2 + 2 * 2 };

/* A tile of b waits for the tiles of a that have its rows; one of y waits for all column tiles of b. */
static const char list[] =
    "using first = rows<t_a_spec>;\nusing third = rows<t_y_spec>;\n"
    "struct joined : phase_list<first, second, third> {\n    using waits = by_counters<joined>;\n"
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
    "        return phase == 2 ? -1 : phase * second::row_tiles(p.b) + row_tile(p, phase, index);\n    }\n};\n";

/* a = x v^T and y = a + a w^T: a tile of y reads rows of a as an operand and in its epilogue. For the frames ws and interleaved, which walk
 * lists without frame_list.h. */
static const char products_yaml[] =
    "block: t\ndtype: bf16\ndims: {S: 200, D: 96, N: 160}\ninputs: {x: [S, D]}\nparams: {v: [N, D], w: [N, N]}\nops:\n"
    "  - {out: a, op: linear, in: [x, v]}\n  - {out: b, op: linear, in: [a, w]}\n  - {out: y, op: add, in: [a, b]}\noutputs: {y: y}\n";
static const char products[] =
    "struct joined {\n"
    "    struct args {\n        first::args a;\n        second::args y;\n        unsigned *words;\n    };\n"
    "    static constexpr int phases = 2, stages = first::stages, stage_bytes = first::stage_bytes, threads = first::threads;\n"
    "    static constexpr int scratch_bytes = first::scratch_bytes, cluster = 1;\n"
    "    static constexpr bool pingpong = false, own_tiles = false;\n"
    "    static_assert(second::stage_bytes == stage_bytes && second::scratch_bytes == scratch_bytes, \"one ring for both\");\n"
    "    DEV static int tiles(const args &p, int phase) { return phase ? second::tiles(p.y) : first::tiles(p.a); }\n"
    "    template <class Do> DEV static void with(const args &p, int phase, Do what)\n    {\n"
    "        if (phase == 0) what(first(), p.a);\n        else what(second(), p.y);\n    }\n"
    "    DEV static unsigned *words(const args &p) { return p.words; }\n"
    "    DEV static int counter_count(const args &p) { return first::row_tiles(p.a); }\n"
    "    DEV static dependency needs(const args &p, int phase, int index)\n    {\n"
    "        return phase ? dependency{second::at(p.y, index).row, first::column_tiles} : dependency{0, 0};\n    }\n"
    "    DEV static int posts(const args &p, int phase, int index) { return phase ? -1 : first::at(p.a, index).row; }\n};\n";

/* The spec struct of a phase of the list. If it reads what another phase writes, its pointer is made non-const, so that loads do not move
 * above waits, and a_written tells a product the same. */
static char *spec_struct(arena *a, const launch *l, bool reads)
{
    char *text = arena_printf(a, "%s", l->spec_header), *at = strstr(text, "const bf16 *"), *args = strstr(text, "    struct args");
    if (!reads) return text;
    if (at) memset(at, ' ', strlen("const "));
    return arena_printf(a, "%.*s    static constexpr bool a_written = true;\n%s", (int)(args - text), text, args);
}

static source_text joined_source(arena *a, const plan *p, int phases, const char *names, const char *entry)
{
    struct text templates = {.a = a}, body = {.a = a};
    template_choice choice = {0};
    for (int i = 0; i < phases; i++) program_templates(&choice, p->launches[i].work->program, p->target);
    if (phases == most_phases) template_choose(&choice, "templates/frame/frame_list.h");
    for (int i = 0; i < template_count; i++)
        if (choice.has[i]) template_append(&templates, (template_id)i, false);
    text_printf(&body, "#line 1 \"t_joined.hip\"\n");
    for (int i = 0; i < phases; i++) text_printf(&body, "%s", spec_struct(a, &p->launches[i], i > 0));
    text_printf(&body, "%s%s(t_joined_, joined)\n", names, entry);
    return (source_text){p->launches[1].source.head, templates.data, body.data};
}

static source_text rows_and_product(arena *a, const plan *p)
{
    /* rows_a_number: at().row is a tile's first row, from which its number follows by division; in gemm_mma it is that number itself. */
    const program *of = p->launches[1].work->program;
    const char *names = arena_printf(a, "using second = %s<t_b_spec>;\nconstexpr int rows_a_number = %s;\n%s", of->device,
                                     of->kind == program_gemm_mma ? "1" : "second::tile_m", list);
    return joined_source(a, p, most_phases, names, "TF_KERNEL_LIST");
}

static source_text two_products(arena *a, const plan *p)
{
    const program *of = p->launches[0].work->program;
    const char *names = arena_printf(a, "using first = %s<%s_spec>;\nusing second = %s<%s_spec>;\n%s", of->device, p->launches[0].name,
                                     of->device, p->launches[1].name, products);
    return joined_source(a, p, 2, names, of->kind == program_gemm_wgmma ? "TF_KERNEL_WS" : "TF_KERNEL_INTERLEAVED");
}

/* Joins the arguments of all launches, one after the other, and the counters; the whole has the alignment of tensor maps. */
static void join_arguments(arena *a, plan *p, launch *to)
{
    enum { aligned = 128 };
    int count = 0;
    unsigned bytes = 0;
    argument *all = arena_alloc(a, 32 * sizeof *all);
    for (int i = 0; i < p->launch_count; i++) {
        for (int k = 0; k < p->launches[i].argument_count; k++) {
            all[count] = p->launches[i].arguments[k];
            all[count++].offset += bytes;
        }
        bytes += p->launches[i].argument_bytes;
    }
    p->scratches[p->scratch_count] = (scratch){.name = "words", .floats = extent_number(word_count), .kind = scratch_of_counters};
    all[count] = (argument){.kind = argument_scratch, .name = "words", .index = p->scratch_count++, .written = true, .offset = bytes,
                            .size = 8};
    to->arguments = all, to->argument_count = count + 1;
    to->argument_bytes = all->kind == argument_map ? (bytes + 8 + aligned - 1) / aligned * aligned : bytes + 8;
}

static void join_launches(arena *a, plan *p, source_text source, bool asks)
{
    launch joined = p->launches[0];
    joined.name = "t_joined", joined.file = "t_joined.hip";
    joined.source = source;
    join_arguments(a, p, &joined);
    for (int i = 0; i < p->launch_count; i++) {
        ck_assert_int_eq(p->launches[i].threads, joined.threads);
        if (p->launches[i].shared_bytes > joined.shared_bytes) joined.shared_bytes = p->launches[i].shared_bytes;
    }
    if (asks) joined.dynamic_bytes = joined.shared_bytes;
    joined.together = true, joined.resident = 1;
    p->launches[0] = joined, p->launch_count = 1;
}

/* Runs on one workgroup and on four, and each a second time: the counters must have their first values again. */
static void run_joined(rig *r, bool check)
{
    tfgen_code code;
    const guarded_options options = {.cache_dir = getenv("TFGEN_CACHE_DIR"), .check = check, .multiprocessors = 8};
    r->s = guarded_open(r->c.plan, &options, &code, &r->log);
    ck_assert_msg(r->s != NULL, "%s", r->log.text ? r->log.text : "no run");
    rig_fill(r, 1);
    for (int grid = 1; grid <= 4; grid += 3) {
        r->c.plan->launches[0].grid_limit = grid;
        rig_judge_twice(r);
        unsigned words[word_count] = {1};
        ck_assert_int_eq(guarded_get_scratch(r->s, r->c.plan->scratch_count - 1, words, sizeof words, &r->log), code_ok);
        for (int i = 0; i < word_count; i++) ck_assert_uint_eq(words[i], 0);
    }
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
    ck_assert_int_eq(r->c.plan->launch_count, most_phases);
    join_launches(r->a, r->c.plan, rows_and_product(r->a, r->c.plan), true);
    run_joined(r, runs[_i].check);
    rig_close(r);
}
END_TEST

/* The second phase waits for 1000 tiles of the first, which has fewer. */
START_TEST(a_wait_that_never_ends_is_an_error_that_names_it)
{
    const tuning asked = {.lines = (const char **)runs[0].lines, .count = 2};
    rig *r = rig_plan(&(rig_request){.yaml = yaml, .level = fusion_none, .target = runs[0].target, .tuning = &asked});
    source_text source = rows_and_product(r->a, r->c.plan);
    char *at = strstr(source.body, "left < below ? left : below");
    ck_assert_ptr_nonnull(at);
    memcpy(at, "1000                       ", strlen("left < below ? left : below"));
    source.head = arena_printf(r->a, "#define TF_MOST_POLLS 64\n%s", source.head);
    join_launches(r->a, r->c.plan, source, true);
    tfgen_code code;
    const guarded_options options = {.cache_dir = getenv("TFGEN_CACHE_DIR"), .multiprocessors = 8};
    r->s = guarded_open(r->c.plan, &options, &code, &r->log);
    ck_assert_msg(r->s != NULL, "%s", r->log.text ? r->log.text : "no run");
    rig_fill(r, 1);
    ck_assert_int_eq(guarded_poison(r->s, &r->log), code_ok);
    ck_assert_int_eq(guarded_pack(r->s, &r->log), code_ok);
    ck_assert_int_ne(guarded_execute(r->s, NULL, &r->log), code_ok);
    ck_assert_msg(strstr(r->log.text, "t_joined: phase 1 waited too long for counter ") != NULL, "%s", r->log.text);
    rig_close(r);
}
END_TEST

static const struct {
    const char *target, *line;
    bool check;
} pairs[] = {{"sm_90a", "gemm layer=wgmma m=128 n=96 cluster=1 smem_epilogue=0 own_tiles=0 stages=3", true},
             {"gfx942", "gemm layer=mfma m=64 n=64", false}};

START_TEST(a_product_waits_for_rows_that_another_product_writes)
{
    const tuning asked = {.lines = &pairs[_i].line, .count = 1};
    rig *r = rig_plan(&(rig_request){.yaml = products_yaml, .level = fusion_tile, .target = pairs[_i].target, .tuning = &asked});
    ck_assert_int_eq(r->c.plan->launch_count, 2);
    join_launches(r->a, r->c.plan, two_products(r->a, r->c.plan), r->c.plan->launches[0].dynamic_bytes > 0);
    run_joined(r, pairs[_i].check);
    rig_close(r);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("lists");
    TCase *t = tcase_create("counters");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, three_phases_in_one_launch_wait_for_each_others_tiles, 0, sizeof runs / sizeof *runs);
    tcase_add_test(t, a_wait_that_never_ends_is_an_error_that_names_it);
    tcase_add_loop_test(t, a_product_waits_for_rows_that_another_product_writes, 0, sizeof pairs / sizeof *pairs);
    suite_add_tcase(s, t);
    return run_suite(s);
}
