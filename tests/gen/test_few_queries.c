/* Attention of few queries over a cache: the predicted times of its programs against those of an H200, and which of them a phase gets. */
#include "gen/plan/wisdom.h"
#include "gen/program/program.h"
#include "tests/support.h"
#include <stdio.h>
#include <string.h>

/* ---- docs/performance.md, "A few queries over a cache": bf16, 32 query heads, 8 KV heads, causal, the queries at the cache's end */
static const struct {
    int head, sequences, queries, keys;
    double decode, attention; /* us, including the two appends before it */
} measured[] = {{64, 1, 4, 2048, 10.8, 20.0},   {64, 1, 8, 2048, 12.8, 20.1},   {64, 1, 16, 2048, 13.8, 20.2},
                {64, 1, 32, 2048, 15.7, 25.2},  {64, 1, 64, 2048, 27.8, 28.9},  {64, 1, 16, 8192, 26.5, 61.6},
                {64, 1, 64, 8192, 77.8, 94.4},  {64, 8, 8, 2048, 30.2, 20.7},   {64, 8, 16, 2048, 50.1, 20.9},
                {64, 8, 32, 2048, 89.3, 26.5},  {64, 32, 8, 2048, 125.2, 40.4}, {64, 8, 64, 4096, 362.0, 52.5},
                {128, 1, 4, 2048, 13.4, 23.9},  {128, 1, 8, 2048, 17.8, 24.2},  {128, 1, 16, 2048, 18.0, 24.1},
                {128, 1, 32, 2048, 23.8, 29.0}, {128, 1, 64, 2048, 44.8, 29.4}, {128, 1, 16, 8192, 42.0, 75.8},
                {128, 1, 64, 8192, 134.9, 94.7}, {128, 8, 8, 2048, 48.5, 25.7}, {128, 8, 16, 2048, 87.7, 25.9},
                {128, 8, 32, 2048, 171.9, 31.6}, {128, 32, 8, 2048, 248.0, 73.2}, {128, 8, 64, 4096, 874.8, 64.6}};
enum { measured_count = sizeof measured / sizeof *measured };

typedef struct planned {
    arena *a;
    const char *device, *yaml;
    const tuning *tuning;
    compiled c;
} planned;

static void compile_it(void *argument)
{
    planned *r = argument;
    const compile_request q = {.text = r->yaml, .size = strlen(r->yaml), .name = "t.yaml", .level = fusion_tile, .device_model = r->device,
                               .target = device_model_find(r->a, r->device)->target->name, .tuning = r->tuning};
    compile_inside(r->a, &q, &r->c);
}

static planned planned_for(const char *device, const char *type, int head, const char *sequences, const char *queries, int keys,
                           const tuning *tuning)
{
    planned r = {.a = arena_new(), .device = device, .tuning = tuning};
    r.yaml = arena_printf(r.a,
                          "block: t\ndtype: %s\ndims: {B: %s, L: %d, hd: %d, S: %s}\n"
                          "inputs: {q: [B, S, 32*hd], k: [B, S, 8*hd], v: [B, S, 8*hd], pos: {shape: [B], dtype: i32, range: [0, L-S]}}\n"
                          "state: {k_cache: [B, 8, L, hd], v_cache: [B, 8, L, hd]}\nops:\n"
                          "  - {out: kc, op: kv_append, in: [k], state: k_cache, at: pos}\n"
                          "  - {out: vc, op: kv_append, in: [v], state: v_cache, at: pos}\n"
                          "  - {out: a, op: attention, in: [q, kc, vc], heads: 32, kv_heads: 8, causal: true, at: pos}\noutputs: {y: a}\n",
                          type, sequences, keys, head, queries);
    ck_assert_msg(arena_run(r.a, compile_it, &r) == code_ok, "%s", arena_diagnostics(r.a));
    return r;
}

/* The plan of case i of measured[]. */
static planned planned_case(int i)
{
    char sequences[16], queries[16];
    snprintf(sequences, sizeof sequences, "%d", measured[i].sequences), snprintf(queries, sizeof queries, "%d", measured[i].queries);
    return planned_for("h200", "bf16", measured[i].head, sequences, queries, measured[i].keys, NULL);
}

static const launch *attention_of(const planned *r)
{
    const plan *p = r->c.plan;
    for (int i = 0; i < p->launch_count; i++)
        if (phase_first(p->launches[i].work->phase, class_ATTENTION)) return &p->launches[i];
    ck_abort_msg("no attention");
}

static double seconds_on(const planned *r, program_kind kind)
{
    const problem p = plan_problem(r->a, r->c.plan, attention_of(r)->work->phase);
    ir_tile t = tile_of_program(kind);
    program_at(kind)->defaults(&p, &t);
    return program_seconds(&p, program_at(kind), &t);
}

START_TEST(decode_and_wgmma_are_predicted_in_the_order_that_an_h200_timed)
{
    const double beside = 4.5; /* us: two appends, and waits between launches */
    for (int i = 0; i < measured_count; i++) {
        const planned r = planned_case(i);
        const double decode = seconds_on(&r, program_decode_mma) * 1e6 + beside;
        const double attention = seconds_on(&r, program_attention_wgmma) * 1e6 + beside;
        ck_assert_msg((decode < attention) == (measured[i].decode < measured[i].attention),
                      "case %d: decode %g us, attention %g, took %g and %g", i, decode, attention, measured[i].decode,
                      measured[i].attention);
        const double of_decode = decode / measured[i].decode, of_attention = attention / measured[i].attention;
        ck_assert_msg(of_decode > 0.7 && of_decode < 1.2, "case %d: decode %g us, took %g", i, decode, measured[i].decode);
        ck_assert_msg(of_attention > 0.7 && of_attention < 1.2, "case %d: attention %g us, took %g", i, attention,
                      measured[i].attention);
        arena_free(r.a);
    }
}
END_TEST

/* ---- the choice */
static void must_have(const planned *r, program_kind kind, const char *what)
{
    const ir_phase *phase = attention_of(r)->work->phase;
    ck_assert_msg(phase->tile.program == kind, "%s: %s, not %s", what, program_table[phase->tile.program].name, program_table[kind].name);
}

START_TEST(an_h200_gets_the_program_that_was_timed_faster)
{
    for (int i = 0; i < measured_count; i++) {
        const planned r = planned_case(i);
        must_have(&r, measured[i].decode < measured[i].attention ? program_decode_mma : program_attention_wgmma,
                  arena_printf(r.a, "case %d", i));
        arena_free(r.a);
    }
}
END_TEST

/* A dynamic number of queries. */
#define DYNAMIC(now, most) now "}\ndynamic: {S: [1, " most "]"

/* Flash-decoding is chosen everywhere up to 16 rows (queries times heads of a group); with more rows only where no H200 timings are
 * known. */
static const struct {
    const char *device, *type, *sequences, *queries;
    int keys;
    program_kind kind;
} ruled[] = {{"h200", "bf16", "1", "1", 128, program_decode_mma},        {"h200", "bf16", "64", "1", 2048, program_decode_mma},
             {"h200", "bf16", "64", "4", 2048, program_decode_mma},      {"h200", "bf16", "1", DYNAMIC("4", "4"), 4096, program_decode_mma},
             {"h200", "bf16", "1", "16", 2000, program_attention_wgmma}, {"h200", "bf16", "1", "65", 8192, program_attention_wgmma},
             {"h200", "bf16", "1", DYNAMIC("8", "64"), 4096, program_attention_wgmma},
             {"h200", "f32", "2", "4", 4096, program_decode},            {"h200", "f32", "2", "5", 4096, program_attention_simt},
             {"h100", "bf16", "1", "4", 4096, program_decode_mma},       {"h100", "bf16", "1", "8", 4096, program_attention_wgmma},
             {"a100", "f16", "1", "1", 4096, program_decode_mma},        {"a100", "f16", "1", "8", 4096, program_attention_simt},
             {"mi300x", "bf16", "1", "1", 4096, program_decode_mfma},    {"mi300x", "bf16", "1", "32", 4096, program_attention_mfma},
             {"mi300x", "bf16", "1", "8", 4096, program_attention_simt}, {"mi300x", "f32", "1", "4", 4096, program_decode},
             {"rx7900xtx", "f16", "1", "4", 4096, program_decode_wmma},  {"rx7900xtx", "f16", "1", "32", 4096, program_attention_wmma},
             {"host", "f32", "1", "4", 4096, program_decode},            {"host", "f32", "1", "5", 4096, program_attention_simt}};

START_TEST(untimed_devices_use_decode_for_at_most_16_rows)
{
    for (size_t i = 0; i < sizeof ruled / sizeof *ruled; i++) {
        const planned r = planned_for(ruled[i].device, ruled[i].type, 64, ruled[i].sequences, ruled[i].queries, ruled[i].keys, NULL);
        must_have(&r, ruled[i].kind, arena_printf(r.a, "%s, %s queries", ruled[i].device, ruled[i].queries));
        arena_free(r.a);
    }
}
END_TEST

/* The plan shows a predicted time also for a program that a rule excludes, unless the device's times are guesses, as for the H100. */
START_TEST(a_plan_shows_the_predicted_time_of_each_program)
{
    const planned few = planned_for("h200", "bf16", 64, "1", "1", 4096, NULL),
                  many = planned_for("h200", "bf16", 64, "1", "16", 4096, NULL),
                  guess = planned_for("h100", "bf16", 64, "1", "1", 4096, NULL);
    const char *text = ir_print(few.a, few.c.plan->ir);
    ck_assert_msg(strstr(text, "not wgmma: " few_at_cache_why " (") && strstr(text, " us, decode_mma "), "%s", text);
    text = ir_print(many.a, many.c.plan->ir);
    ck_assert_msg(strstr(text, "not decode_simt: " many_at_cache_why " (") && strstr(text, "not wgmma: ") &&
                      strstr(text, " us, decode_mma "), "%s", text);
    text = ir_print(guess.a, guess.c.plan->ir);
    ck_assert_msg(strstr(text, "not wgmma: " few_at_cache_why "\n"), "%s", text);
    arena_free(few.a), arena_free(many.a), arena_free(guess.a);
}
END_TEST

/* H200: a block of 512 sequences over 64 keys took 59.8 us with two workgroups that load to registers, 50.9 with four and stages. */
START_TEST(four_workgroups_share_a_multiprocessor_where_keys_are_few_and_sequences_many)
{
    const planned many = planned_for("h200", "f16", 64, "64", "1", 64, NULL), few = planned_for("h200", "f16", 64, "8", "1", 64, NULL);
    const ir_tile *t = &attention_of(&many)->work->phase->tile, *other = &attention_of(&few)->work->phase->tile;
    must_have(&many, program_decode_mma, "64 sequences"), must_have(&few, program_decode_mma, "8 sequences");
    ck_assert_int_eq(t->decode_whole.resident, 4);
    ck_assert_int_ge(t->decode_whole.stages, 1);
    ck_assert_int_eq(other->decode_whole.resident, 1);
    arena_free(many.a), arena_free(few.a);
}
END_TEST

/* Of heads of 768 columns, the sums of 512 threads exceed the shared memory of a workgroup. */
START_TEST(decode_on_vector_instructions_has_512_threads_where_they_fit)
{
    static const struct {
        int head, threads;
    } cases[] = {{128, 512}, {768, 256}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const planned r = planned_for("h200", "f32", cases[i].head, "1", "1", 131072, NULL);
        must_have(&r, program_decode, "f32");
        ck_assert_int_eq(attention_of(&r)->work->phase->tile.decode.threads, cases[i].threads);
        arena_free(r.a);
    }
}
END_TEST

/* Heads of more than 80 columns: with many sequences of few keys two workgroups share a multiprocessor, with long ones one streams all
 * keys of its work tiles. */
START_TEST(two_workgroups_share_a_multiprocessor_where_long_heads_have_few_keys)
{
    static const struct {
        const char *sequences;
        int head, keys, resident, at_once;
    } cases[] = {{"80", 128, 512, 2, 16}, {"80", 96, 512, 2, 32}, {"80", 128, 4096, 1, 16}, {"30", 128, 1024, 1, 16}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const planned r = planned_for("h200", "bf16", cases[i].head, cases[i].sequences, "1", cases[i].keys, NULL);
        const decode_whole_tile *t = &attention_of(&r)->work->phase->tile.decode_whole;
        must_have(&r, program_decode_mma, cases[i].sequences);
        ck_assert_msg(t->resident == cases[i].resident && t->keys == cases[i].at_once, "%zu: resident=%d keys=%d", i, t->resident, t->keys);
        arena_free(r.a);
    }
}
END_TEST

/* 64 sequences of one query and 8 sequences of 8 queries have equally many rows, but the latter would read their keys 4 times in decode. */
START_TEST(a_tile_tuned_for_many_sequences_is_not_used_for_many_queries)
{
    const planned own = planned_for("h200", "bf16", 128, "64", "1", 4096, NULL);
    const wisdom_entry e = wisdom_of(own.a, own.c.plan->ir, own.c.plan->target, "h200", attention_of(&own)->work->phase);
    text line = {.a = own.a};
    text_printf(&line, "%s", wisdom_head), wisdom_put(&line, &e);
    const tuning tuned = {.wisdom = wisdom_read(own.a, line.data, line.size), .device = "h200"};
    static const struct {
        const char *sequences, *queries;
        tile_source from;
    } cases[] = {{"64", "1", tile_of_wisdom}, {"16", "4", tile_of_wisdom}, {"8", "8", tile_of_model}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const planned r = planned_for("h200", "bf16", 128, cases[i].sequences, cases[i].queries, 4096, &tuned);
        ck_assert_msg(attention_of(&r)->work->phase->from == cases[i].from, "%s sequences, %s queries", cases[i].sequences,
                      cases[i].queries);
        arena_free(r.a);
    }
    arena_free(own.a);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("few queries");
    TCase *times = tcase_create("times"), *choices = tcase_create("choices");
    tcase_add_test(times, decode_and_wgmma_are_predicted_in_the_order_that_an_h200_timed);
    tcase_add_test(choices, an_h200_gets_the_program_that_was_timed_faster);
    tcase_add_test(choices, untimed_devices_use_decode_for_at_most_16_rows);
    tcase_add_test(choices, a_plan_shows_the_predicted_time_of_each_program);
    tcase_add_test(choices, four_workgroups_share_a_multiprocessor_where_keys_are_few_and_sequences_many);
    tcase_add_test(choices, decode_on_vector_instructions_has_512_threads_where_they_fit);
    tcase_add_test(choices, two_workgroups_share_a_multiprocessor_where_long_heads_have_few_keys);
    tcase_add_test(choices, a_tile_tuned_for_many_sequences_is_not_used_for_many_queries);
    suite_add_tcase(suite, times), suite_add_tcase(suite, choices);
    return run_suite(suite);
}
