/* Wisdom: which lines a plan uses, damaged and stale lines, merging two files, concurrent writers of one file. */
#define _GNU_SOURCE
#include "gen/source/template_text.h"
#include "runtime/wisdom/wisdom_file.h"
#include "tests/support.h"
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char spec[] = "block: t\ndtype: bf16\ndims: {M: 512, K: 256, N: 512}\ndynamic: {M: [1, 4096]}\n"
                           "inputs: {x: [M, K]}\nparams: {w: [N, K], v: [K, N]}\n"
                           "ops:\n  - {out: h, op: linear, in: [x, w]}\n  - {out: a, op: silu, in: [h]}\n"
                           "  - {out: y, op: linear, in: [a, v]}\noutputs: {y: y}\n";

typedef struct made {
    arena *a;
    compiled c;
} made;

typedef struct ask {
    long long rows;
    const char *line, *label, *dtype, *from; /* from: text of a plan */
    const wisdom *w;
} ask;

static made plan_for(const ask *q)
{
    made m = {.a = arena_new()};
    const dim_override rows = {"M", q->rows};
    const tuning t = {.lines = &q->line, .count = q->line != NULL, .wisdom = q->w};
    const char *text = q->from ? q->from : spec;
    const compile_request r = {.text = text,
                               .size = strlen(text),
                               .name = "t.yaml",
                               .level = fusion_tile,
                               .target = "sm_90a",
                               .device_label = q->label,
                               .from_ir = q->from != NULL,
                               .from = stage_plan,
                               .graph = {.overrides = &rows, .override_count = q->from ? 0 : 1, .dtype = q->dtype},
                               .tuning = &t};
    ck_assert_msg(compile(m.a, &r, &m.c) == code_ok, "%s", arena_diagnostics(m.a));
    return m;
}

static const ir_phase *phase_at(const made *m, int i) { return m->c.plan->launches[i].work->phase; }

/* The wisdom lines of a plan for 512 rows with tile `line`: one for each of its kernels. */
static const char *learned_in(arena *a, const char *dtype, const char *line, const char *device)
{
    made m = plan_for(&(ask){.rows = 512, .line = line, .dtype = dtype});
    text t = {.a = a};
    text_printf(&t, "%s", wisdom_head);
    for (int i = 0; i < m.c.plan->launch_count; i++) {
        const wisdom_entry e = wisdom_of(m.a, m.c.plan->ir, m.c.plan->target, device, phase_at(&m, i));
        wisdom_put(&t, &e);
    }
    arena_free(m.a);
    return t.data;
}

static const char *learned(arena *a, const char *line, const char *device) { return learned_in(a, NULL, line, device); }

static const wisdom *read_text(arena *a, const char *text) { return wisdom_read(a, text, strlen(text)); }

START_TEST(a_plan_has_the_tiles_that_were_learned_and_says_so)
{
    arena *a = arena_new();
    const wisdom *w = read_text(a, learned(a, "gemm: layer=mma m=64 n=64", "h200"));
    ck_assert_int_eq(w->count, 2);
    made m = plan_for(&(ask){.rows = 512, .w = w});
    for (int i = 0; i < 2; i++) {
        const ir_phase *p = phase_at(&m, i);
        ck_assert(p->from == tile_of_wisdom && p->tile.program == program_gemm_mma && p->tile.gemm_mma.m == 64);
    }
    const char *text = ir_print(m.a, m.c.plan->ir);
    ck_assert_ptr_nonnull(strstr(text, "    not wgmma: "));
    ck_assert_ptr_nonnull(strstr(text, "    from wisdom\n    tile layer=mma m=64 n=64"));
    ck_assert_ptr_nonnull(strstr(manifest_json(m.a, m.c.plan), "\"from\": \"wisdom\""));
    made back = plan_for(&(ask){.rows = 512, .from = text}); /* tiles in the text take precedence over wisdom */
    ck_assert_str_eq(ir_print(back.a, back.c.plan->ir), text);
    arena_free(back.a);
    arena_free(m.a);
    arena_free(a);
}
END_TEST

/* Settings that a line leaves out get their default: a program without clusters has the same fields as one with clusters. */
START_TEST(settings_missing_in_a_wisdom_line_get_their_default)
{
    arena *a = arena_new();
    const char *text = learned_in(a, "f32", "gemm: layer=wgmma_3xtf32 n=64", "h200");
    ck_assert_ptr_null(strstr(text, "cluster"));
    made m = plan_for(&(ask){.rows = 512, .dtype = "f32", .w = read_text(a, text)});
    const ir_phase *p = phase_at(&m, 0);
    ck_assert(p->from == tile_of_wisdom && p->tile.program == program_gemm_wgmma_3xtf32);
    ck_assert_int_eq(p->tile.gemm_warpgroups.cluster, 1);
    arena_free(m.a);
    arena_free(a);
}
END_TEST

static const struct {
    long long rows;
    const char *line, *label, *device;
    bool known;
} reaches[] = {{512, NULL, NULL, "h200", true},          {1024, NULL, NULL, "h200", true},
               {256, NULL, NULL, "h200", true},          {1025, NULL, NULL, "h200", false},
               {255, NULL, NULL, "h200", false},         {512, NULL, NULL, "a100", false},
               {512, NULL, "NVIDIA H200", "h200", true}, {512, NULL, "NVIDIA H20Z", "h200", false},
               {512, NULL, "NVIDIA H20Z", "NVIDIA-H20Z", true}, {512, "gemm: layer=wgmma n=64 stages=2", NULL, "h200", false}};

START_TEST(wisdom_applies_up_to_twice_the_rows_on_the_same_device)
{
    arena *a = arena_new();
    const wisdom *w = read_text(a, learned(a, "gemm: layer=mma m=64 n=64", reaches[_i].device));
    made m = plan_for(&(ask){.rows = reaches[_i].rows, .line = reaches[_i].line, .label = reaches[_i].label, .w = w});
    ck_assert_int_eq(phase_at(&m, 0)->from == tile_of_wisdom, reaches[_i].known);
    arena_free(m.a);
    arena_free(a);
}
END_TEST

/* A tile of eight rows, used for sixteen, would read the weights twice, but the model's choice reads them once. At its own size the tile is
 * used whatever the model says. */
START_TEST(a_tuned_tile_that_reads_weights_more_often_applies_to_its_own_size_only)
{
    arena *a = arena_new();
    const char *line = "gemm: layer=skinny m=8 thread_m=8";
    made m = plan_for(&(ask){.rows = 8, .line = line});
    text t = {.a = a};
    text_printf(&t, "%s", wisdom_head);
    const wisdom_entry e = wisdom_of(m.a, m.c.plan->ir, m.c.plan->target, "h200", phase_at(&m, 0));
    wisdom_put(&t, &e);
    arena_free(m.a);
    const struct {
        int rows;
        bool taken;
    } cases[] = {{8, true}, {7, true}, {4, true}, {16, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        m = plan_for(&(ask){.rows = cases[i].rows, .w = read_text(a, t.data)});
        ck_assert_msg((phase_at(&m, 0)->from == tile_of_wisdom) == cases[i].taken, "%d rows", cases[i].rows);
        arena_free(m.a);
    }
    arena_free(a);
}
END_TEST

START_TEST(the_nearest_of_several_sizes_is_taken)
{
    arena *a = arena_new();
    made m = plan_for(&(ask){.rows = 512, .line = "gemm: layer=mma m=64 n=64"});
    text t = {.a = a};
    text_printf(&t, "%s", wisdom_head);
    for (int n = 32; n <= 128; n *= 2) {
        wisdom_entry e = wisdom_of(m.a, m.c.plan->ir, m.c.plan->target, "h200", phase_at(&m, 0));
        e.size.rows = 8 * n, e.tile.gemm_mma.group_m = n;
        wisdom_put(&t, &e);
    }
    arena_free(m.a);
    const struct {
        int rows, group;
    } cases[] = {{256, 32}, {300, 32}, {512, 64}, {700, 64}, {800, 128}, {1500, 128}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        m = plan_for(&(ask){.rows = cases[i].rows, .w = read_text(a, t.data)});
        const int group = phase_at(&m, 0)->tile.gemm_mma.group_m;
        ck_assert_msg(group == cases[i].group, "%d rows: group_m=%d", cases[i].rows, group);
        arena_free(m.a);
    }
    arena_free(a);
}
END_TEST

/* A size is rows and keys. An entry may differ by up to a factor of two in each, and the entry with the smallest product of both factors is
 * used. The expected entry is the oldest, so that no other rule selects it. */
START_TEST(the_nearest_wisdom_weighs_rows_and_keys_alike)
{
    static const struct {
        const char *lines[3]; /* the first is expected to be used; NULL: none */
        long long rows, keys;
    } cases[] = {{{"rows=16 keys=16", "rows=16 keys=32", NULL}, 8, 16},
                 {{"rows=8 keys=32", "rows=16 keys=32", "rows=11 keys=24"}, 8, 16},
                 {{"rows=10 keys=20", "rows=8 keys=30", "rows=15 keys=16"}, 8, 16},
                 {{"rows=8 keys=16", "rows=8 keys=17", "rows=9 keys=16"}, 8, 16},
                 {{NULL, "rows=8 keys=33", "rows=17 keys=16"}, 8, 16},
                 {{NULL, "rows=8 keys=7", "rows=8"}, 8, 16},
                 {{"rows=8", "rows=9", "rows=8 keys=1"}, 8, 0}};
    arena *a = arena_new();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int turn = 0; turn < 3; turn++) { /* in every order */
            text t = {.a = a};
            text_printf(&t, "%s", wisdom_head);
            for (int k = 0; k < 3; k++) {
                const int n = (k + turn) % 3;
                if (cases[i].lines[n])
                    text_printf(&t, "rows@%s sm_90a h200 %s x(y): threads=%d team=8 v=1 # date=2026-01-%02d\n",
                                program_version(program_rows), cases[i].lines[n], 32 << n, 1 + n);
            }
            int count;
            const wisdom_entry **list = wisdom_find(a, read_text(a, t.data), target_find("sm_90a"), "h200", "x(y)",
                                                    (phase_size){.rows = cases[i].rows, .keys = cases[i].keys}, &count);
            const int threads = count ? list[0]->tile.rows.threads : 0;
            ck_assert_msg(threads == (cases[i].lines[0] ? 32 : 0), "case %zu, turn %d: threads=%d", i, turn, threads);
        }
    arena_free(a);
}
END_TEST

/* ---- lines that are not used: %s is the version */
static const struct {
    const char *line, *why;
} stale[] = {{"gemm_wgma@%s sm_90a h200 rows=5 x(y): m=1", "there is no program 'gemm_wgma'"},
             {"rows@%s sm_90a h200 rows= x(y): threads=1", "expected rows=NUMBER"},
             {"rows@%s sm_90a h200 rows=-5 x(y): threads=1", "expected rows=NUMBER"},
             {"rows@%s sm_90a h200 rows=99999999999999999999 x(y): threads=1", "expected rows=NUMBER"},
             {"rows@%s sm_90a h200 rows=1 keys=x x(y): threads=1", "expected keys=NUMBER"},
             {"rows@%s sm_90a h200 rows=1 x(y) threads=1", "expected a signature followed by a colon"},
             {"rows@%s sm_90a h200 rows=1", "expected a signature followed by a colon"},
             {"rows@%s sm_90b h200 rows=1 x(y): threads=1", "there is no target 'sm_90b'"},
             {"rows@%s sm_90a h200 rows=1 x(y): threads=32 team=8", "it lacks the field v of rows"},
             {"rows@%s sm_90a h200 rows=1 x(y): threads=32 team=8 v=17", "'v=17': v is 1 to 16"},
             {"rows@%s sm_90a h200 rows=1 x(y): threads=32 team=8 v=", "'v=': v is 1 to 16"},
             {"rows@%s sm_90a h200 rows=1 x(y): threads=32 team=8 v", "'v': v is 1 to 16"},
             {"rows@%s sm_90a h200 rows=1 x(y): threads=32 team=8 w=1", "rows has no field 'w'"},
             {"rows@%s sm_90a h200 rows=1 x(y): threads=32 threads=32 v=1", "a second threads"},
             {"rows@0%s sm_90a h200 rows=1 x(y): threads=32 team=8 v=1", "rows has changed: its version is "},
             {"rows sm_90a h200 rows=1 x(y): threads=32 team=8 v=1", "rows has changed: its version is "},
             {"garbage", "there is no program 'garbage'"},
             {"\x1b[31m\xff", "there is no program '?[31m?'"}};

START_TEST(a_damaged_or_stale_line_is_reported_and_the_others_are_used)
{
    arena *a = arena_new();
    const char *version = program_version(program_rows), *good = "rows@%s sm_90a h200 rows=1 x(y): threads=32 team=8 v=1 # us=1.5\n";
    text t = {.a = a};
    text_printf(&t, "%s# a remark\n\n", wisdom_head);
    text_printf(&t, stale[_i].line, version); /* NOLINT(clang-diagnostic-format-nonliteral) */
    text_printf(&t, "\r\n");
    text_printf(&t, good, version); /* NOLINT(clang-diagnostic-format-nonliteral) */
    const wisdom *w = read_text(a, t.data);
    ck_assert_int_eq(w->count, 2);
    ck_assert_msg(w->list[0].stale && strstr(w->list[0].stale, stale[_i].why), "%s", w->list[0].stale ? w->list[0].stale : "used");
    ck_assert_int_eq(w->list[0].line, 4);
    ck_assert_msg(!w->list[1].stale, "%s", w->list[1].stale);
    ck_assert_double_eq_tol(w->list[1].seconds, 1.5e-6, 1e-12);
    arena_free(a);
}
END_TEST

/* A file that was read and written a hundred times is unchanged, in every locale. */
START_TEST(reading_and_writing_a_file_keeps_its_content)
{
    arena *a = arena_new();
    const bool comma = comma_locale();
    const char *line = arena_printf(a, "%srows@%s sm_90a h200 rows=1 x(y): threads=32 team=8 v=1 # us=", wisdom_head,
                                    program_version(program_rows));
    for (int i = 1; i <= 1000; i++) {
        const char *text = arena_printf(a, "%s%d.%d default_us=%d date=2026-11-22\n", line, i * i, i % 9 + 1, 7 * i);
        ck_assert_str_eq(wisdom_text(a, read_text(a, text), true), text);
    }
    const char *fine = arena_printf(a, "%s6.875149485857902\n", line);
    ck_assert_ptr_nonnull(strstr(wisdom_text(a, read_text(a, fine), true), " # us=6.8751\n"));
    if (comma) setlocale(LC_NUMERIC, "C");
    arena_free(a);
}
END_TEST

START_TEST(a_file_that_is_no_wisdom_gets_one_warning)
{
    arena *a = arena_new();
    char *large = calloc(1, most_wisdom_bytes + 2);
    ck_assert_ptr_nonnull(large);
    memcpy(large, wisdom_head, strlen(wisdom_head));
    const struct {
        const char *text, *why;
        size_t size;
    } cases[] = {{"", "does not begin", 0},
                 {"wisdom 2\n", "is wisdom of version 2; this tfgen reads version 1", 9},
                 {"wisdom x\n", "does not begin", 9},
                 {large, "more than 4194304 bytes", most_wisdom_bytes + 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const wisdom *w = wisdom_read(a, cases[i].text, cases[i].size);
        ck_assert(w->count == 1 && w->list[0].stale && strstr(w->list[0].stale, cases[i].why));
    }
    memset(large, '\n', most_wisdom_lines + 100);
    memcpy(large, wisdom_head, strlen(wisdom_head));
    ck_assert_ptr_nonnull(strstr(wisdom_read(a, large, most_wisdom_lines + 100)->list[0].stale, "more than 16384 lines"));
    free(large);
    arena_free(a);
}
END_TEST

/* Every field is within its range, but the phase cannot use the tile: the model chooses, as if there were no entry. */
START_TEST(an_impossible_tile_of_the_phase_is_skipped)
{
    arena *a = arena_new();
    char *text = arena_strdup(a, learned(a, "gemm: layer=mma m=64 n=64", "h200"));
    for (char *at = text; (at = strstr(at, " m=64 n=64")); at++) memcpy(at, " m=64 n=80", 10);
    made m = plan_for(&(ask){.rows = 512, .w = read_text(a, text)}), plain = plan_for(&(ask){.rows = 512});
    ck_assert_str_eq(ir_print(m.a, m.c.plan->ir), ir_print(plain.a, plain.c.plan->ir));
    arena_free(m.a);
    arena_free(plain.a);
    arena_free(a);
}
END_TEST

/* ---- merging two lists */
static const wisdom *one(arena *a, const char *fields)
{
    text t = {.a = a};
    text_printf(&t, "%srows@%s sm_90a h200 rows=1 x(y): %s\n", wisdom_head, program_version(program_rows), fields);
    return read_text(a, t.data);
}

START_TEST(merging_keeps_the_newer_then_the_faster_entry_in_either_order)
{
    static const char *const lists[][2] = {
        {"threads=32 team=8 v=1 # us=9 date=2026-02-01", "threads=64 team=8 v=1 # us=1 date=2026-01-31"},
        {"threads=32 team=8 v=1 # us=1 date=2026-02-01", "threads=64 team=8 v=1 # us=9 date=2026-02-01"},
        {"threads=32 team=8 v=1 # us=1 date=2026-02-01", "threads=64 team=8 v=1 # us=1 date=2026-02-01"},
        {"threads=32 team=8 v=1", "threads=64 team=8 v=1 # date=2026-2-01"},
        {"threads=32 team=8 v=1 # us=nan", "threads=64 team=8 v=1 # us=-1"}};
    arena *a = arena_new();
    const wisdom *x = one(a, lists[_i][0]), *y = one(a, lists[_i][1]);
    for (int i = 0; i < 2; i++) {
        const wisdom *w = i ? wisdom_merge(a, x, y) : wisdom_merge(a, y, x);
        ck_assert_int_eq(w->count, 1);
        ck_assert_int_eq(w->list[0].tile.rows.threads, 32);
    }
    arena_free(a);
}
END_TEST

START_TEST(merging_keeps_entries_with_different_keys)
{
    static const char *const keys[] = {"sm_90a h200 rows=1 keys=4 x(y)", "sm_90a h200 rows=2 keys=4 x(y)", "sm_90a h200 rows=1 keys=5 x(y)",
                                       "sm_90a h200 rows=1 x(y)",        "sm_80 h200 rows=1 keys=4 x(y)",  "sm_90a h100 rows=1 keys=4 x(y)",
                                       "sm_90a h200 rows=1 keys=4 x(z)"};
    enum { count = sizeof keys / sizeof *keys };
    arena *a = arena_new();
    const wisdom *all = NULL;
    for (int i = 0; i < 2 * count; i++) {
        text t = {.a = a};
        text_printf(&t, "%srows@%s %s: threads=32 team=8 v=1\n", wisdom_head, program_version(program_rows), keys[i % count]);
        const wisdom *more = read_text(a, t.data);
        all = all ? wisdom_merge(a, all, more) : more;
        ck_assert_int_eq(all->count, i < count ? i + 1 : count);
    }
    ck_assert_int_eq(wisdom_over(a, all, all)->count, count);
    arena_free(a);
}
END_TEST

static char folder[64];
static void make_folder(void)
{
    strcpy(folder, "/tmp/tfgen-wisdom-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}
static void remove_folder(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    ck_assert_int_eq(system(command), 0);
}

static void add_some(void *number)
{
    arena *a = arena_new();
    text t = {.a = a};
    text_printf(&t, "%s", wisdom_head);
    for (int i = 0; i < 20; i++)
        text_printf(&t, "rows@%s sm_90a h200 rows=%d x(y): threads=32 team=8 v=1\n", program_version(program_rows), *(int *)number + i);
    for (int i = 0; i < 20; i++) { /* one at a time */
        wisdom alone = *read_text(a, t.data);
        alone.list += i, alone.count = 1;
        (void)wisdom_add(a, arena_printf(a, "%s/deep/er/wisdom", folder), &alone);
    }
    arena_free(a);
}

typedef struct adding {
    arena *a;
    int number;
} adding;
static void add_body(void *argument) { add_some(&((adding *)argument)->number); }

START_TEST(nothing_is_lost_if_many_processes_write_one_file)
{
    enum { writers = 6 };
    for (int i = 0; i < writers; i++)
        if (fork() == 0) {
            adding mine = {arena_new(), 100 * i};
            _exit(arena_run(mine.a, add_body, &mine) == code_ok ? 0 : 1);
        }
    for (int i = 0, status; i < writers; i++) ck_assert(wait(&status) > 0 && status == 0);
    arena *a = arena_new();
    const wisdom *w = wisdom_load_file(a, arena_printf(a, "%s/deep/er/wisdom", folder));
    ck_assert_int_eq(w->count, 20 * writers);
    for (int i = 0; i < w->count; i++) ck_assert_ptr_null(w->list[i].stale);
    arena_free(a);
}
END_TEST

/* Rows of gen/plan/former.def. */
static const struct {
    const char *program, *name, *former;
} formers[] = {
#define FORMER(program, name, former) {#program, name, former},
#include "gen/plan/former.def"
};
static const struct {
    program_kind program;
    const char *version;
} followers[] = {
#define VERSION(program, version) {program_##program, version},
#include "gen/plan/former.def"
};

/* A program that changed needs its new version in gen/plan/former.def, or its rows there are of no use. */
START_TEST(rows_for_former_versions_are_those_of_todays_programs)
{
    for (size_t i = 0; i < sizeof followers / sizeof *followers; i++)
        ck_assert_msg(strcmp(followers[i].version, program_version(followers[i].program)) == 0, "%s has changed: its version is %s",
                      program_table[followers[i].program].name, program_version(followers[i].program));
}
END_TEST

START_TEST(a_wisdom_line_of_a_former_version_is_used_and_written_as_a_current_one)
{
    arena *a = arena_new();
    const char *now = program_version(program_rows);
    const char *rest = "sm_90a h200 rows=1 x(y): threads=32 team=8 v=1";
    for (size_t i = 0; i < sizeof formers / sizeof *formers; i++) {
        ck_assert_int_ne(program_named(formers[i].program), program_none);
        ck_assert_int_eq(program_recalled(formers[i].name), program_named(formers[i].program));
        if (strcmp(formers[i].program, "rows") != 0) continue;
        const wisdom *w = read_text(a, arena_printf(a, "%s%s@%s %s\n", wisdom_head, formers[i].name, formers[i].former, rest));
        ck_assert_msg(!w->list[0].stale, "%s", w->list[0].stale);
        ck_assert(w->list[0].former);
        text t = {.a = a};
        wisdom_put(&t, &w->list[0]);
        ck_assert_ptr_nonnull(strstr(t.data, arena_printf(a, "rows@%s %s", now, rest)));
        ck_assert(!read_text(a, arena_printf(a, "%s%s", wisdom_head, t.data))->list[0].former);
        ck_assert(!version_serves(program_rows, "00000000", formers[i].former));
    }
    arena_free(a);
}
END_TEST

/* What an older or newer tfgen wrote stays in the file. */
START_TEST(stale_lines_stay_in_the_file)
{
    arena *a = arena_new();
    const char *path = arena_printf(a, "%s/wisdom", folder);
    FILE *f = fopen(path, "w");
    fprintf(f, "%srows@1 sm_90a h200 rows=1 x(y): threads=32 team=8 v=1\n", wisdom_head);
    fclose(f);
    const wisdom_change n = wisdom_add(a, path, one(a, "threads=32 team=8 v=1"));
    ck_assert_int_eq(n.added, 1);
    const wisdom *w = wisdom_load_file(a, path);
    ck_assert_int_eq(w->count, 2);
    ck_assert(!w->list[0].stale && w->list[1].stale);
    arena_free(a);
}
END_TEST

/* In a process without standard input, the next file that it opens has descriptor 0. */
START_TEST(a_process_that_has_closed_its_standard_input_reads_it_too)
{
    arena *a = arena_new();
    const char *path = arena_printf(a, "%s/wisdom", folder);
    (void)wisdom_add(a, path, one(a, "threads=32 team=8 v=1"));
    close(STDIN_FILENO);
    const wisdom *w = wisdom_load_file(a, path);
    ck_assert(w && w->count == 1);
    arena_free(a);
}
END_TEST

START_TEST(the_users_wisdom_precedes_shipped_wisdom_and_none_disables_both)
{
    arena *a = arena_new();
    setenv("TFGEN_WISDOM", "/nowhere/at/all", 1);
    const wisdom *shipped = wisdom_load(a, NULL);
    ck_assert(shipped && shipped->count > 0);
    for (int i = 0; i < shipped->count; i++) /* its program changed: needs a row of gen/plan/former.def, or tuning */
        ck_assert_msg(!shipped->list[i].stale, "%s", shipped->list[i].stale);
    setenv("TFGEN_WISDOM", "none", 1);
    ck_assert_ptr_null(wisdom_load(a, NULL));
    ck_assert_ptr_null(wisdom_load(a, "none"));
    const wisdom *mine = one(a, "threads=32 team=8 v=1 # date=2026-01-01"), *theirs = one(a, "threads=64 team=8 v=1 # date=2026-02-02");
    const wisdom *w = wisdom_over(a, mine, theirs);
    ck_assert(w->count == 1 && w->list[0].tile.rows.threads == 32);
    ck_assert_int_eq(wisdom_over(a, read_text(a, wisdom_head), theirs)->list[0].tile.rows.threads, 64);
    arena_free(a);
}
END_TEST

START_TEST(the_default_wisdom_file_follows_environment_variables)
{
    static const char *const cases[][4] = {{"/w", "/d", "/h", "/w"},
                                           {"none", "/d", "/h", NULL},
                                           {"", "/d", "/h", NULL},
                                           {NULL, "/d", "/h", "/d/tfgen/wisdom"},
                                           {NULL, "d", "/h", "/h/.local/share/tfgen/wisdom"},
                                           {NULL, NULL, "/h", "/h/.local/share/tfgen/wisdom"},
                                           {NULL, NULL, NULL, NULL}};
    static const char *const names[] = {"TFGEN_WISDOM", "XDG_DATA_HOME", "HOME"};
    for (int i = 0; i < 3; i++)
        if (cases[_i][i]) setenv(names[i], cases[_i][i], 1);
        else unsetenv(names[i]);
    arena *a = arena_new();
    const char *path = wisdom_path(a);
    ck_assert(cases[_i][3] ? path && strcmp(path, cases[_i][3]) == 0 : !path);
    arena_free(a);
}
END_TEST

START_TEST(programs_have_versions_of_their_own)
{
    arena *a = arena_new();
    for (int i = 1; i < program_count; i++) {
        ck_assert_uint_eq(strspn(program_version((program_kind)i), "0123456789abcdef"), 8);
        for (int k = 1; k < i; k++) ck_assert_str_ne(program_version((program_kind)i), program_version((program_kind)k));
    }
    arena_free(a);
}
END_TEST

/* The templates of a kernel, except those that all kernels have, those for rotations, and those that pack weights. */
static void check_templates(const launch *l)
{
    const program_kind kind = l->work->phase->tile.program;
    template_choice known = {0};
    program_templates(&known, program_at(kind), NULL);
    for (int i = 0; i < template_count; i++) {
        char head[100];
        const template_text t = template_at((template_id)i);
        snprintf(head, sizeof head, "#line 1 \"%s\"\n", t.name);
        if (i == template_rope || !strstr(l->source.templates, head)) continue;
        ck_assert_msg(known.has[i], "%s: its version knows nothing of %s", program_table[kind].name, t.name);
    }
}

/* Sources have templates in the order of template.def, so each must be listed after those that it includes. */
START_TEST(a_template_is_listed_after_its_includes)
{
    for (int i = 0; i < template_count; i++) {
        template_choice c = {0};
        template_choose(&c, template_at((template_id)i).name);
        ck_assert(c.has[i]);
        for (int k = i + 1; k < template_count; k++)
            ck_assert_msg(!c.has[k], "%s includes %s", template_at((template_id)i).name, template_at((template_id)k).name);
    }
    const template_choice common = templates_common();
    ck_assert(common.has[template_device] && common.has[template_spec] && !common.has[template_rows] && !common.has[template_trace]);
}
END_TEST

START_TEST(a_version_covers_all_templates_of_a_programs_kernels)
{
    static const char *const targets[] = {"sm_80", "sm_90a", "gfx942", "gfx1201"};
    static const char *const paths[] = {"specs/llama-block.yaml", "specs/llama-decode.yaml"};
    for (int i = 0; i < 8; i++) {
        rig *r = rig_plan(&(rig_request){.path = paths[i % 2], .level = fusion_tile, .target = targets[i / 2]});
        for (int k = 0; k < r->c.plan->launch_count; k++) check_templates(&r->c.plan->launches[k]);
        rig_close(r);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("wisdom");
    TCase *c = tcase_create("plans"), *f = tcase_create("files");
    tcase_add_test(c, a_plan_has_the_tiles_that_were_learned_and_says_so);
    tcase_add_test(c, settings_missing_in_a_wisdom_line_get_their_default);
    tcase_add_loop_test(c, wisdom_applies_up_to_twice_the_rows_on_the_same_device, 0, sizeof reaches / sizeof *reaches);
    tcase_add_test(c, a_tuned_tile_that_reads_weights_more_often_applies_to_its_own_size_only);
    tcase_add_test(c, the_nearest_of_several_sizes_is_taken);
    tcase_add_test(c, the_nearest_wisdom_weighs_rows_and_keys_alike);
    tcase_add_test(c, merging_keeps_entries_with_different_keys);
    tcase_add_loop_test(c, a_damaged_or_stale_line_is_reported_and_the_others_are_used, 0, sizeof stale / sizeof *stale);
    tcase_add_test(c, reading_and_writing_a_file_keeps_its_content);
    tcase_add_test(c, a_file_that_is_no_wisdom_gets_one_warning);
    tcase_add_test(c, an_impossible_tile_of_the_phase_is_skipped);
    tcase_add_loop_test(c, merging_keeps_the_newer_then_the_faster_entry_in_either_order, 0, 5);
    tcase_add_test(c, programs_have_versions_of_their_own);
    tcase_add_test(c, a_template_is_listed_after_its_includes);
    tcase_add_test(c, a_version_covers_all_templates_of_a_programs_kernels);
    tcase_add_checked_fixture(f, make_folder, remove_folder);
    tcase_add_test(f, nothing_is_lost_if_many_processes_write_one_file);
    tcase_add_test(f, the_users_wisdom_precedes_shipped_wisdom_and_none_disables_both);
    tcase_add_test(f, rows_for_former_versions_are_those_of_todays_programs);
    tcase_add_test(f, a_wisdom_line_of_a_former_version_is_used_and_written_as_a_current_one);
    tcase_add_test(f, stale_lines_stay_in_the_file);
    tcase_add_test(f, a_process_that_has_closed_its_standard_input_reads_it_too);
    tcase_add_loop_test(f, the_default_wisdom_file_follows_environment_variables, 0, 7);
    suite_add_tcase(s, c);
    suite_add_tcase(s, f);
    return run_suite(s);
}
