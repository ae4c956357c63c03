/* Kernels that record times (templates/frame/trace.h): without tracing their sources are unchanged; with it, every tile of every launch
 * leaves one valid record and results keep their bits; the timeline built from the records is consistent. */
#define _GNU_SOURCE
#include "gen/program/program.h"
#include "gen/source/template_text.h"
#include "runtime/cli/trace/timeline.h"
#include "tests/support.h"
#include <stdlib.h>
#include <string.h>

typedef unsigned long long word;

static const tuning traced = {.trace = true};
static const char *const targets[] = {"host", "gfx908", "gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201", "sm_80", "sm_90a"};
static const char *const specs[] = {"specs/llama-block.yaml", "specs/llama-decode.yaml", "specs/gpt2-decode.yaml",
                                    "tests/specs/every-op.yaml"};
enum { target_count = sizeof targets / sizeof *targets, spec_count = sizeof specs / sizeof *specs };

/* ---- sources */
/* Removes what tracing adds to templates, by other means than template_text.c uses. */
static char *without_trace(const char *templates)
{
    char *out = calloc(strlen(templates) + 1, 1), *to = out;
    const char *own = strstr(templates, "#line 1 \"templates/frame/trace.h\""),
               *behind = own ? strstr(own + 1, "#line 1 \"templates/") : NULL;
    ck_assert(own && behind);
    for (const char *at = templates; *at;) {
        if (at == own) at = behind;
        const char *end = strchr(at, '\n'), *mark = strstr(at, " TF_TRACED(");
        if (mark && mark < end) { /* only a comment may follow */
            const char *comment = strstr(mark, " //");
            to = mempcpy(to, at, (size_t)(mark - at));
            at = comment && comment < end ? comment : end;
        }
        to = mempcpy(to, at, (size_t)(end + 1 - at));
        at = end + 1;
    }
    return out;
}

/* Skips the comments at the top: who wrote the file, and the line where the kernel begins. */
static const char *defines_of(const char *head) { return strstr(head, "\n#define") + 1; }

START_TEST(untraced_sources_are_traced_ones_without_tracing_statements)
{
    const rig_request plain = {.path = specs[_i % spec_count], .level = fusion_tile, .target = targets[_i / spec_count]};
    rig_request with = plain;
    with.tuning = &traced;
    rig *a = rig_plan(&plain), *b = rig_plan(&with);
    ck_assert_str_eq(ir_print(a->a, a->c.plan->ir), ir_print(b->a, b->c.plan->ir));
    for (int i = 0; i < a->c.plan->launch_count; i++) {
        const source_text *x = &a->c.plan->launches[i].source, *y = &b->c.plan->launches[i].source;
        char *less = without_trace(y->templates);
        ck_assert_str_eq(x->templates, less);
        ck_assert(strncmp(x->head, y->head, strcspn(x->head, "\n") + 1) == 0);
        ck_assert_str_eq(defines_of(x->head), defines_of(y->head));
        ck_assert_ptr_null(strstr(x->templates, "trace"));
        ck_assert_ptr_null(strstr(x->body, "trace"));
        ck_assert_ptr_nonnull(strstr(y->body, "float *tf_trace;"));
        ck_assert_int_eq((int)b->c.plan->launches[i].argument_count, a->c.plan->launches[i].argument_count + 1);
        free(less);
    }
    for (int i = 0; i < a->c.plan->pack_count; i++) ck_assert(source_same(&a->c.plan->packs[i].source, &b->c.plan->packs[i].source));
    ck_assert_int_eq(b->c.plan->scratch_count, a->c.plan->scratch_count + a->c.plan->launch_count);
    rig_close(a);
    rig_close(b);
}
END_TEST

START_TEST(tracing_statements_share_a_line_with_code)
{
    for (int i = 0; i < template_count; i++) {
        const template_text t = template_at((template_id)i);
        char *copy = strndup(t.data, t.size);
        for (char *line = strtok(copy, "\n"); line; line = strtok(NULL, "\n")) {
            const char *mark = strstr(line, "TF_TRACED(");
            if (!mark || strncmp(line, "#define", 7) == 0 || strncmp(line, "//", 2) == 0) continue;
            ck_assert_msg(mark > line + strspn(line, " ") && mark[-1] == ' ', "%s: %s", t.name, line);
            const size_t size = template_traced(mark - 1, strlen(mark - 1));
            ck_assert_msg(size > 0 && mark[size - 2] == ';', "%s: %s", t.name, line);
        }
        free(copy);
    }
    ck_assert_uint_eq(template_traced(" TF_TRACED(f(1, (2)));x", 23), 22);
    ck_assert_uint_eq(template_traced(" TF_TRACE(x);", 13), 0);
    ck_assert_uint_eq(template_traced(" TF_TRACED(open", 15), 15);
}
END_TEST

/* ---- records */
/* The records of launch i, without the pattern that the rig filled memory with. */
static trace_records records_of(rig *r, int launch, long long workgroups)
{
    const plan *p = r->c.plan;
    for (int i = 0; i < p->scratch_count; i++) {
        if (p->scratches[i].trace != &p->launches[launch]) continue;
        const size_t bytes = (size_t)scratch_bytes(&p->scratches[i], &p->ir->dims);
        word poison, *words = arena_alloc(r->a, bytes);
        memset(&poison, 0, sizeof poison);
        for (int k = 0; k < 4; k++) poison = poison << 16 | guarded_poison_bits;
        ck_assert_int_eq(guarded_get_scratch(r->s, i, words, bytes, &r->log), code_ok);
        for (size_t k = 0; k < bytes / sizeof *words; k++)
            if (words[k] == poison) words[k] = 0;
        return (trace_records){.name = p->launches[launch].name,
                               .ops = "",
                               .words = words,
                               .workgroups = workgroups,
                               .places = (long long)bytes / trace_record_bytes - workgroups,
                               .sums = true};
    }
    ck_abort_msg("%s has no trace", p->launches[launch].name);
}

typedef struct timeline_job {
    arena *a;
    const trace_records *records;
    int count;
    timeline *made;
} timeline_job;

static void make_inside(void *job)
{
    timeline_job *j = job;
    j->made = timeline_make(j->a, j->records, j->count, 2, 4);
}

/* On the host engine the grid is all tiles. If a device holds fewer workgroups, the engine's processors share the tiles. */
static long long grid_of(const rig *r, int launch)
{
    const struct launch *l = &r->c.plan->launches[launch];
    const long long tiles = launch_grid(l, &r->c.plan->ir->dims);
    const long long most = (long long)l->resident * guarded_device(r->s)->multiprocessors / l->cluster * l->cluster;
    return most > 0 && tiles > most ? most : tiles;
}

static timeline *timeline_of(rig *r)
{
    trace_records list[64];
    timeline_job j = {r->a, list, r->c.plan->launch_count, NULL};
    for (int i = 0; i < j.count; i++) list[i] = records_of(r, i, grid_of(r, i));
    ck_assert_msg(arena_run(r->a, make_inside, &j) == code_ok, "%s", arena_diagnostics(r->a));
    return j.made;
}

/* Each tile has exactly one record. */
static void check_tiles(const rig *r, const timeline *t, int launch)
{
    const struct launch *l = &r->c.plan->launches[launch];
    const timeline_launch *got = &t->launches[launch];
    const program_kind kind = l->work->phase->tile.program;
    const long long all = launch_tiles(l, &r->c.plan->ir->dims);
    if (kind != program_decode_mma) ck_assert_msg(got->tile_count == all, "%s: %lld of %lld tiles", l->name, got->tile_count, all);
    ck_assert_int_gt((int)got->tile_count, 0);
    for (long long i = 0; i < got->tile_count; i++) {
        const timeline_tile *x = &got->tiles[i];
        ck_assert(x->start >= got->begin && x->computed >= x->start && x->end >= x->computed && x->end <= got->end);
        if (x->data >= 0) ck_assert(x->data >= x->start && x->data <= x->computed);
        for (long long k = i + 1; k < got->tile_count; k++) ck_assert(got->tiles[k].tile != x->tile);
    }
    if (l->together) ck_assert(got->data > 0); /* waits for other phases */
    ck_assert_double_eq_tol(got->busy + got->before + got->between + got->after + got->unused, 1, 1e-9);
}

/* `tfgen trace` compares results bit by bit itself, on every device. */
static const struct {
    const char *spec, *target;
    fusion_level level;
} runs[] = {{"specs/llama-block.yaml", "host", fusion_tile},
            {"specs/llama-block.yaml", "gfx942", fusion_tile},
            {"specs/llama-decode.yaml", "sm_90a", fusion_tile},
            {"specs/llama-decode.yaml", "host", fusion_block}};

START_TEST(every_tile_leaves_a_record_and_results_keep_their_bits)
{
    const rig_request plain = {.path = runs[_i].spec, .level = runs[_i].level, .target = runs[_i].target};
    rig_request with = plain;
    with.tuning = &traced;
    rig *a = rig_open(&plain), *b = rig_open(&with);
    rig_run(a);
    rig_run(b);
    for (int i = 0; i < a->graph->value_count; i++) {
        const ir_value *v = a->graph->values[i];
        if (!v->output && v->kind != value_state) continue;
        const double *x = rig_read(a, v->name), *y = rig_read(b, v->name);
        ck_assert_msg(same_numbers(x, y, rig_count(a, v->name)), "%s: %s", plain.path, v->name);
    }
    const timeline *t = timeline_of(b);
    for (int i = 0; i < t->launch_count; i++) {
        check_tiles(b, t, i);
        if (i) ck_assert(t->launches[i].first >= t->launches[i - 1].last); /* the host runs one launch after the other */
    }
    rig_close(a);
    rig_close(b);
}
END_TEST

/* ---- programs that no spec above uses */
#define LINEAR(type, M, N, K)                                                                                         \
    "block: t\ndtype: " type "\ndims: {M: " M ", K: " K ", N: " N "}\ndynamic: {M: [1, 4096]}\ninputs: {x: [M, K]}\n" \
    "params: {w: [N, K]}\nops:\n  - {out: y, op: linear, in: [x, w]}\noutputs: {y: y}\n"
#define ATTENTION(S, hd)                                                                                                             \
    "block: t\ndtype: bf16\ndims: {B: 2, S: " S ", H: 4, hd: " hd "}\ninputs: {q: [B, S, H*hd], k: [B, S, H*hd], v: [B, S, H*hd]}\n" \
    "ops:\n  - {out: y, op: attention, in: [q, k, v], heads: H, causal: true}\noutputs: {y: y}\n"

static const struct {
    const char *target, *yaml, *tile;
    int tiles; /* from a formula */
} cases[] = {
    {"sm_90a", LINEAR("bf16", "300", "256", "128"), "gemm layer=wgmma m=128 own_tiles=0 n=64 split_k=1 cluster=1", 3 * 4},
    {"sm_90a", LINEAR("bf16", "300", "256", "256"), "gemm layer=wgmma m=128 own_tiles=0 n=64 split_k=2 cluster=1", 3 * 4 * 2},
    {"sm_90a", LINEAR("f32", "200", "128", "128"), "gemm layer=wgmma_3xtf32 n=64 split_k=1", 2 * 2},
    {"sm_90a", LINEAR("bf16", "40", "300", "256"), "gemm layer=mma m=64 n=128 k=64 threads=128 stages=4", 3},
    {"sm_90a", LINEAR("bf16", "9", "320", "256"), "gemm layer=register_fed", 0},
    {"sm_80", LINEAR("f16", "150", "300", "64"), "gemm layer=mma m=64 n=128 k=64 threads=128 stages=4", 3 * 3},
    {"sm_90a", ATTENTION("96", "64"), "attention layer=wgmma block_q=128 threads=384 pack_gqa=1",
     2 * 4 * 2}, /* each warpgroup records its 64 rows as a tile */
    {"sm_90a", ATTENTION("300", "128"), "attention layer=wgmma block_q=128 threads=384 pack_gqa=1", 2 * 4 * 5},
    {"gfx942", LINEAR("bf16", "300", "200", "64"), "gemm layer=mfma m=64 n=64", 5 * 4},
};

START_TEST(a_traced_program_leaves_one_record_per_tile)
{
    const tuning t = {.trace = true, .lines = &cases[_i].tile, .count = 1};
    rig *r = rig_open(&(rig_request){.yaml = cases[_i].yaml, .level = fusion_tile, .target = cases[_i].target, .tuning = &t});
    rig_run(r);
    const timeline *made = timeline_of(r);
    const timeline_launch *last = &made->launches[made->launch_count - 1];
    check_tiles(r, made, made->launch_count - 1);
    if (cases[_i].tiles) ck_assert_int_eq((int)last->tile_count, cases[_i].tiles);
    rig_close(r);
}
END_TEST

START_TEST(each_split_of_a_cache_leaves_a_trace_record)
{
    static const char yaml[] =
        "block: t\ndtype: bf16\ndims: {B: 5, S: 1, L: 900, H: 4, KV: 2, hd: 32}\n"
        "inputs: {q: [B, S, H*hd], k: [B, S, KV*hd], v: [B, S, KV*hd], n: {shape: [B], dtype: i32, range: [0, L-S]}}\n"
        "state: {kc: [B, KV, L, hd], vc: [B, KV, L, hd]}\n"
        "ops:\n  - {out: k2, op: kv_append, in: [k], state: kc, at: n}\n"
        "  - {out: v2, op: kv_append, in: [v], state: vc, at: n}\n"
        "  - {out: y, op: attention, in: [q, k2, v2], heads: H, kv_heads: KV, causal: true, at: n}\noutputs: {y: y}\n";
    rig *r = rig_open(&(rig_request){.yaml = yaml, .level = fusion_tile, .target = "sm_90a", .tuning = &traced});
    double *n = rig_data(r, "n");
    for (int i = 0; i < 5; i++) n[i] = 220 * i;
    rig_run(r);
    const plan *p = r->c.plan;
    ck_assert_int_eq(p->launches[p->launch_count - 1].work->phase->tile.program, program_decode_mma);
    const timeline *t = timeline_of(r);
    const timeline_launch *l = &t->launches[t->launch_count - 1];
    /* At least one for each sequence and KV head; at most these plus the workgroups, each of which may cut one in two. */
    ck_assert_int_ge((int)l->tile_count, 5 * 2);
    ck_assert_int_lt((int)l->tile_count, 5 * 2 + l->workgroups);
    rig_close(r);
}
END_TEST

/* ---- a tile that takes long, on the host engine */
static const char sleeper[] = "struct S { struct args { float *tf_trace; int n; }; };\n"
                              "struct sleeper {\n"
                              "    using args = S::args;\n"
                              "    struct tile { int index; };\n"
                              "    struct accumulators {};\n"
                              "    struct stage { char unused; };\n"
                              "    struct scratch { char unused; };\n"
                              "    static constexpr int stages = 1;\n"
                              "    DEV static int tiles(const args &p) { return p.n; }\n"
                              "    DEV static tile at(const args &, int index) { return {index}; }\n"
                              "    DEV static int k_tiles(const args &, const tile &) { return 0; }\n"
                              "    DEV static void load(const args &, const tile &, int, stage &) {}\n"
                              "    template <class Ring> DEV static void compute(const args &, const tile &t, Ring &, accumulators &)\n"
                              "    {\n"
                              "        for (const auto from = trace_clock(); t.index == 5 && trace_clock() - from < 1000000;) {}\n"
                              "    }\n"
                              "    DEV static void finish(const args &, const tile &, accumulators &, scratch &) {}\n"
                              "};\n"
                              "TF_KERNEL(sleepy, 1, S, sleeper)\n";

static host_module *sleeper_module(arena *a)
{
    struct text source = {.a = a};
    text_printf(&source, "#define TF_TARGET_HOST 1\n#define TF_WAVE 1\n");
    template_choice choice = {0};
    template_choose(&choice, "templates/frame/frame_mixed.h");
    template_choose(&choice, "templates/frame/trace.h");
    for (int i = 0; i < template_count; i++)
        if (choice.has[i]) template_append(&source, (template_id)i, true);
    text_printf(&source, "#line 1 \"sleeper.hip\"\n%s", sleeper);
    const host_compile_options o = {.name = "sleeper.hip", .optimise = -1};
    host_log log = {0};
    host_module *m = NULL;
    const host_status s = host_compile(source.data, source.size, &o, &m, &log);
    ck_assert_msg(s == HOST_OK && log.size == 0, "%s: %s", host_status_name(s), log.text ? log.text : "");
    return m;
}

START_TEST(a_slow_tile_shows_in_the_trace)
{
    enum { tiles = 8, workgroups = 3 };
    arena *a = arena_new();
    host_module *m = sleeper_module(a);
    host_engine *engine = host_engine_open(NULL);
    word words[(workgroups + tiles) * trace_record_bytes / sizeof(word)] = {0};
    const struct {
        word *trace;
        int n;
    } arguments = {words, tiles};
    void *params[] = {(void *)&arguments};
    const host_launch_dims dims = {.grid = {workgroups, 1, 1}, .block = {1, 1, 1}, .shared_bytes = 64};
    ck_assert(engine && host_register(engine, words, sizeof words, "trace"));
    ck_assert_int_eq(host_launch(engine, m, "sleepy", &dims, params, NULL), HOST_OK);
    const trace_records records = {"sleepy", "", words, workgroups, tiles, true, NULL, 0};
    timeline_job j = {a, &records, 1, NULL};
    ck_assert_msg(arena_run(a, make_inside, &j) == code_ok, "%s", arena_diagnostics(a));
    const timeline_launch *l = &j.made->launches[0];
    ck_assert_int_eq((int)l->tile_count, tiles);
    for (int i = 0; i < tiles; i++) {
        ck_assert_int_eq(l->tiles[i].workgroup, (int)l->tiles[i].tile % workgroups);
        if (l->tiles[i].tile == 5) ck_assert_double_ge(l->tiles[i].computed - l->tiles[i].start, 2 * 1000000.0);
    }
    ck_assert_double_ge(l->longest, 2 * 1000000.0);
    host_unregister(engine, words);
    host_engine_close(engine);
    host_module_free(m);
    arena_free(a);
}
END_TEST

/* ---- timelines of records that are written here; a tick is 2 ns, the device has 4 units */
enum { each = 6 };
typedef struct written {
    arena *a;
    word words[2][32 * each];
    trace_records records[2];
    timeline_job job;
} written;

static void put_workgroup(written *w, int launch, int i, word entry, word ready, word leave, word unit, word tiles)
{
    const word record[each] = {entry, ready, leave, unit, tiles, 0};
    memcpy(w->words[launch] + i * each, record, sizeof record);
}

static void put_tile(written *w, int launch, int i, word start, word data, word computed, word end, word where)
{
    const word record[each] = {0, start, data, computed, end, where};
    memcpy(w->words[launch] + (w->records[launch].workgroups + i) * each, record, sizeof record);
}

/* Two launches: three tiles on two units, then two on one. */
static void write_two(written *w)
{
    memset(w, 0, sizeof *w);
    w->a = arena_new();
    w->records[0] = (trace_records){"first", "linear", w->words[0], 2, 6, true, NULL, 0};
    w->records[1] = (trace_records){"second", "rmsnorm", w->words[1], 1, 4, false, NULL, 0};
    put_workgroup(w, 0, 0, 1000, 1010, 1200, 7, 3);
    put_workgroup(w, 0, 1, 1005, 1015, 1150, 9, 3);
    put_tile(w, 0, 0, 1010, 1020, 1080, 1100, 0);
    put_tile(w, 0, 1, 1020, 1025, 1090, 1120, 1);
    put_tile(w, 0, 2, 1110, 1110, 1190, 1200, 0);
    put_workgroup(w, 1, 0, 1180, 1210, 1300, 9, 2);
    put_tile(w, 1, 0, 1210, 0, 1210, 1250, 0);
    put_tile(w, 1, 3, 1260, 0, 1260, 1300, 0);
    w->job = (timeline_job){w->a, w->records, 2, NULL};
}

START_TEST(a_timeline_counts_units_tiles_and_time)
{
    written w;
    write_two(&w);
    ck_assert_msg(arena_run(w.a, make_inside, &w.job) == code_ok, "%s", arena_diagnostics(w.a));
    const timeline *t = w.job.made;
    const timeline_launch *a = &t->launches[0], *b = &t->launches[1];
    ck_assert_int_eq(t->unit_count, 2);
    ck_assert_int_eq(t->device_units, 4);
    ck_assert_double_eq(t->length, 600);
    ck_assert_double_eq_tol(t->busy, (90 + 90 + 100 + 40 + 40) * 2 / (600.0 * 4), 1e-12);
    ck_assert(a->begin == 0 && a->first == 20 && a->last == 400 && a->end == 400);
    ck_assert_double_eq_tol(a->busy, (90 + 90 + 100) / (200.0 * 4), 1e-12);
    ck_assert_double_eq_tol(a->before, (10 + 20) / 800.0, 1e-12);
    ck_assert_double_eq_tol(a->between, 10 / 800.0, 1e-12);
    ck_assert_double_eq_tol(a->after, 80 / 800.0, 1e-12);
    ck_assert_double_eq(a->unused, 0.5);
    ck_assert(a->median == 180 && a->longest == 200 && a->worst->tile == 1);
    ck_assert_double_eq_tol(a->stores, (20 + 30 + 10) / 280.0, 1e-12);
    ck_assert_double_eq_tol(a->data, (10 + 5) / 280.0, 1e-12);
    ck_assert_double_eq(a->ahead, 20);
    ck_assert(b->stores < 0 && b->data < 0);
    ck_assert_double_eq(b->gap, (1210 - 1200) * 2);
    ck_assert_double_eq(a->end - b->begin, (1200 - 1180) * 2);
    ck_assert_int_eq((int)b->tile_count, 2);
    ck_assert_double_eq(t->resolution, 20);
    arena_free(w.a);
}
END_TEST

START_TEST(phases_of_a_launch_say_when_their_waits_are_over)
{
    static const trace_phase phases[] = {{"one", 2}, {"none", 0}, {"two", 1}};
    written w;
    write_two(&w);
    w.records[0].phases = phases, w.records[0].phase_count = 3;
    put_tile(&w, 0, 2, 1110, 1160, 1190, 1200, 0); /* the last phase of the launch */
    ck_assert_int_eq(arena_run(w.a, make_inside, &w.job), code_ok);
    const timeline_launch *l = &w.job.made->launches[0];
    const timeline_phase *one = &l->phases[0], *two = &l->phases[2];
    ck_assert_int_eq(l->phase_count, 3);
    ck_assert_str_eq(one->name, "one");
    ck_assert(one->tiles == 2 && one->first == 20 && one->ready == 40 && one->last_ready == 50 && one->end == 240);
    ck_assert_double_eq(one->median, (160 + 190) / 2.0);
    ck_assert(l->phases[1].tiles == 0);
    ck_assert(two->tiles == 1 && two->first == 220 && two->ready == 320 && two->last_ready == 320 && two->end == 400 && two->median == 80);
    ck_assert_int_eq(w.job.made->launches[1].phase_count, 0);
    arena_free(w.a);
}
END_TEST

START_TEST(overlapping_tiles_of_a_unit_get_separate_lanes)
{
    written w;
    write_two(&w);
    put_workgroup(&w, 0, 1, 1005, 1015, 1150, 7, 3); /* both workgroups on one unit */
    ck_assert_int_eq(arena_run(w.a, make_inside, &w.job), code_ok);
    const timeline_tile *x = w.job.made->launches[0].tiles;
    ck_assert_int_eq(w.job.made->lanes, 2);
    ck_assert(x[0].lane == 0 && x[1].lane == 1 && x[2].lane == 0);
    ck_assert_double_eq_tol(w.job.made->launches[0].busy, (1200 - 1010) / 800.0, 1e-12); /* overlapping tiles count once */
    arena_free(w.a);
}
END_TEST

static const struct {
    const char *message;
    int launch, place, field;
    word value;
} faults[] = {{"workgroup 1 of first left no trace", 0, 1, 0, 0},
              {"first has 4 tiles, of which 3 left a trace", 0, 0, 4, 4},
              {"tile 1 of first left an impossible trace: it begins at 1020, ends at 900", 0, 3, 4, 900},
              {"tile 0 of first left an impossible trace: it begins at 0", 0, 2, 1, 0},
              {"tile 2 of first left an impossible trace", 0, 4, 5, 2},
              {"tile 3 of second left an impossible trace", 1, 4, 3, 1200}};

START_TEST(impossible_trace_records_are_refused)
{
    written w;
    write_two(&w);
    w.words[faults[_i].launch][faults[_i].place * each + faults[_i].field] = faults[_i].value;
    ck_assert_int_eq(arena_run(w.a, make_inside, &w.job), code_device);
    ck_assert_msg(strstr(arena_diagnostics(w.a), faults[_i].message) != NULL, "%s", arena_diagnostics(w.a));
    arena_free(w.a);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("trace");
    TCase *t = tcase_create("sources");
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, untraced_sources_are_traced_ones_without_tracing_statements, 0, target_count * spec_count);
    tcase_add_test(t, tracing_statements_share_a_line_with_code);
    suite_add_tcase(s, t);
    t = tcase_create("records");
    tcase_set_timeout(t, 300);
    TCase *more = suite_long(s, "more records", 300);
    add_some_now(t, more, every_tile_leaves_a_record_and_results_keep_their_bits, sizeof runs / sizeof *runs, (const int[]){1, 2, 3, -1});
    add_some_now(t, more, a_traced_program_leaves_one_record_per_tile, sizeof cases / sizeof *cases,
                 (const int[]){1, 2, 4, 5, 6, 8, -1});
    tcase_add_test(t, each_split_of_a_cache_leaves_a_trace_record);
    tcase_add_test(t, a_slow_tile_shows_in_the_trace);
    suite_add_tcase(s, t);
    t = tcase_create("timelines");
    tcase_add_test(t, a_timeline_counts_units_tiles_and_time);
    tcase_add_test(t, phases_of_a_launch_say_when_their_waits_are_over);
    tcase_add_test(t, overlapping_tiles_of_a_unit_get_separate_lanes);
    tcase_add_loop_test(t, impossible_trace_records_are_refused, 0, sizeof faults / sizeof *faults);
    suite_add_tcase(s, t);
    return run_suite(s);
}
