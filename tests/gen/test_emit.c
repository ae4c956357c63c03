/* The planner and the emitter: golden spec headers of every spec, plans that read back, sources that compile,
 * layouts that the compilers confirm, tunings, sizes that follow dynamic dims. TFGEN_GOLDEN_UPDATE=1 rewrites
 * tests/golden/emit. */
#define _GNU_SOURCE
#include "gen/gen.h"
#include "tests/support.h"
#include <glob.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct build {
    arena *a;
    const char *name, *text, *target;
    size_t size;
    fusion_level level;
    bool from_plan;
    const tuning *tuning;
    graph_options options;
    plan *p;
    tfgen_code code;
} build;

static void build_body(void *argument)
{
    build *b = argument;
    const target_info *target = target_find(b->target);
    arena_source(b->a, b->name, b->text, b->size);
    const ir_graph *p;
    if (b->from_plan)
        p = ir_read(b->a, b->text, b->size, b->name);
    else {
        const fuse_options fusion = {.level = b->level};
        p = fuse(b->a, lower(b->a, graph_read(b->a, b->text, b->size, b->name, &b->options)), &fusion);
    }
    b->p = plan_choose(b->a, p, device_model_default(b->a, target), b->tuning);
    emit(b->a, b->p);
}

/* The caller frees b->a. */
static void run_build(build *b)
{
    b->a = arena_new();
    b->size = strlen(b->text);
    b->code = arena_run(b->a, build_body, b);
}

static void must_build(build *b)
{
    run_build(b);
    ck_assert_msg(b->code == code_ok, "%s", arena_diagnostics(b->a));
}

static char *slurp(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f) return NULL;
    char *text = calloc(1, 1 << 22);
    const size_t n = fread(text, 1, (1 << 22) - 1, f);
    ck_assert_uint_lt(n, (1 << 22) - 1);
    fclose(f);
    return text;
}

static const char other_target[] = "gfx942";

static bool updating(void)
{
    const char *update = getenv("TFGEN_GOLDEN_UPDATE");
    return update && *update && strcmp(update, "0") != 0;
}

static void compare_golden(const char *path, const char *text)
{
    if (updating()) {
        FILE *f = fopen(path, "wb");
        ck_assert_msg(f != NULL, "%s cannot be written", path);
        fputs(text, f);
        ck_assert_int_eq(fclose(f), 0);
        return;
    }
    char *expected = slurp(path);
    ck_assert_msg(expected != NULL, "%s is not there; make golden writes it", path);
    const char *x = expected, *y = text;
    int line = 1;
    for (; *x && *x == *y; x++, y++) line += *x == '\n';
    ck_assert_msg(*x == *y, "%s:%d: the emitted header differs from here on: %.200s", path, line, y);
    free(expected);
}

static char spec_paths[64][256];
static int spec_count;

static void find_specs(void)
{
    glob_t g;
    if (glob("specs/*.yaml", 0, NULL, &g) != 0 || glob("tests/specs/*.yaml", GLOB_APPEND, NULL, &g) != 0) return;
    for (size_t i = 0; i < g.gl_pathc && spec_count < 64; i++)
        snprintf(spec_paths[spec_count++], 256, "%s", g.gl_pathv[i]);
    globfree(&g);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The folder of a spec's golden files, such as "tests/golden/emit/llama-block". A spec with golden files for several levels has a folder
 * for each of them, such as "tests/golden/emit/every-op/ops". */
static const char *golden_folder(arena *a, const char *spec, fusion_level level)
{
    const char *base = base_name(spec);
    const char *folder = arena_printf(a, "tests/golden/emit/%.*s", (int)strcspn(base, "."), base);
    return strcmp(base, "every-op.yaml") == 0 ? arena_printf(a, "%s/%s", folder, level_names(NULL)[level]) : folder;
}

/* The difference between `from` and `to`, as diff prints it; "" if they are equal. */
static const char *difference(arena *a, const char *from, const char *to)
{
    const char *names[2] = {arena_printf(a, "/tmp/tfgen-emit-%d.from", getpid()), arena_printf(a, "/tmp/tfgen-emit-%d.to", getpid())};
    const char *const texts[2] = {from, to};
    for (int i = 0; i < 2; i++) {
        FILE *f = fopen(names[i], "wb");
        ck_assert(f && fputs(texts[i], f) >= 0 && fclose(f) == 0);
    }
    FILE *f = popen(arena_printf(a, "diff -U1 --label host --label %s %s %s", other_target, names[0], names[1]), "r");
    struct text t = {.a = a};
    char line[2000];
    ck_assert(f);
    while (fgets(line, sizeof line, f)) text_append(&t, line, strlen(line));
    const int code = pclose(f);
    ck_assert(WIFEXITED(code) && WEXITSTATUS(code) <= 1);
    unlink(names[0]);
    unlink(names[1]);
    return t.data ? t.data : "";
}

/* The spec header of a kernel of that name, or "". */
static const char *header_of(const build *b, const char *kernel)
{
    for (int i = 0; i < b->p->launch_count; i++)
        if (strcmp(b->p->launches[i].name, kernel) == 0) return b->p->launches[i].spec_header;
    return "";
}

static int files_of(const char *folder)
{
    glob_t g;
    char pattern[300];
    snprintf(pattern, sizeof pattern, "%s/*.*", folder);
    const int count = glob(pattern, 0, NULL, &g) == 0 ? (int)g.gl_pathc : 0;
    globfree(&g);
    return count;
}

/* Golden files: a page for each kernel on the host, and its diff to the other target's page; a kernel that only the other target has is
 * compared with an empty page. */
static void compare_level(const char *spec, const char *text, fusion_level level)
{
    build host = {.name = spec, .text = text, .target = "host", .level = level}, other = host;
    other.target = other_target;
    must_build(&host);
    must_build(&other);
    const char *folder = golden_folder(host.a, spec, level);
    int files = 0;
    if (updating()) ck_assert_int_eq(system(arena_printf(host.a, "rm -rf %s && mkdir -p %s", folder, folder)), 0);
    for (int i = 0; i < host.p->launch_count; i++, files++)
        compare_golden(arena_printf(host.a, "%s/%s.h", folder, host.p->launches[i].name), host.p->launches[i].spec_header);
    for (int i = 0; i < host.p->launch_count + other.p->launch_count; i++) {
        const bool ours = i < host.p->launch_count;
        const char *name = ours ? host.p->launches[i].name : other.p->launches[i - host.p->launch_count].name;
        if (!ours && *header_of(&host, name)) continue;
        const char *differs = difference(host.a, header_of(&host, name), header_of(&other, name));
        if (!*differs) continue;
        compare_golden(arena_printf(host.a, "%s/%s.%s.diff", folder, name, other_target), differs);
        files++;
    }
    ck_assert_msg(files_of(folder) == files, "%s has files of no kernel: TFGEN_GOLDEN_UPDATE=1 removes them", folder);
    arena_free(host.a);
    arena_free(other.a);
}

START_TEST(specs_emit_the_golden_spec_headers)
{
    char *text = slurp(spec_paths[_i]);
    const bool apart = strcmp(base_name(spec_paths[_i]), "every-op.yaml") == 0;
    for (int level = apart ? fusion_none : fusion_tile; level <= fusion_tile; level++)
        compare_level(spec_paths[_i], text, (fusion_level)level);
    free(text);
}
END_TEST

/* The spec headers that stand beside each template, for readers. */
typedef struct beside {
    const char *path, *spec;
    phase_family family;
    const char *target, *tuning;
} beside;

static const beside besides[] = {
    {"templates/rows/rows.spec.h", "specs/layernorm.yaml", family_rows, "gfx942", NULL},
    {"templates/rows/columns.spec.h", "tests/specs/columns.yaml", family_columns, "sm_90a", NULL},
    {"templates/gemm/gemm.spec.h", "specs/llama-block.yaml", family_gemm, "gfx942", "gemm layer=simt"},
    {"templates/attention/attention.spec.h", "specs/llama-block.yaml", family_attention, "gfx942", "attention layer=simt"},
    {"templates/attention/decode.spec.h", "specs/llama-decode.yaml", family_attention, "gfx942", "attention layer=decode_simt"},
    {"templates/attention/decode_mma.spec.h", "specs/llama-decode.yaml", family_attention, "sm_80", NULL},
    {"templates/gemm/gemm_ws.spec.h", "specs/llama-block.yaml", family_gemm, "sm_90a", "gemm layer=wgmma"},
    {"templates/gemm/gemm_swap_ab.spec.h", "specs/llama-block.yaml", family_gemm, "sm_90a", "gemm layer=swap_ab"},
    {"templates/gemm/align.spec.h", "tests/specs/odd-rows.yaml", family_align, "sm_90a", NULL},
    {"templates/gemm/tf32_terms.spec.h", "tests/specs/f32-matmul.yaml", family_tf32_terms, "sm_90a", "gemm layer=wgmma_3xtf32"},
    {"templates/gemm/bf16_terms.spec.h", "tests/specs/rows-in-terms.yaml", family_bf16_terms, "sm_80", NULL},
    {"templates/gemm/gemm_mma.spec.h", "specs/llama-block.yaml", family_gemm, "sm_80", NULL},
    {"templates/gemm/gemm_register_fed.spec.h", "specs/llama-decode.yaml", family_gemm, "sm_80", NULL},
    {"templates/attention/attention_mfma.spec.h", "specs/llama-block.yaml", family_attention, "gfx942", NULL},
    {"templates/gemm/gemm_mfma.spec.h", "specs/llama-block.yaml", family_gemm, "gfx942", "gemm layer=mfma"},
};

START_TEST(each_template_has_a_spec_struct_beside_it)
{
    const beside *of = &besides[_i];
    char *text = slurp(of->spec);
    const tuning t = {.lines = &of->tuning, .count = of->tuning != NULL};
    build b = {.name = of->spec, .text = text, .target = of->target, .level = fusion_tile, .tuning = &t};
    must_build(&b);
    int i = 0;
    while (b.p->launches[i].work->phase->family != of->family) i++;
    compare_golden(of->path, b.p->launches[i].spec_header);
    arena_free(b.a);
    free(text);
}
END_TEST

static bool sources_are_equal(const source_text *x, const source_text *y)
{
    return strcmp(x->head, y->head) == 0 && strcmp(x->templates, y->templates) == 0 && strcmp(x->body, y->body) == 0;
}

static void must_be_equal(const plan *x, const plan *y)
{
    ck_assert_int_eq(x->launch_count, y->launch_count);
    ck_assert_int_eq(x->pack_count, y->pack_count);
    for (int i = 0; i < x->launch_count; i++) ck_assert(sources_are_equal(&x->launches[i].source, &y->launches[i].source));
    for (int i = 0; i < x->pack_count; i++) ck_assert(sources_are_equal(&x->packs[i].source, &y->packs[i].source));
}

START_TEST(equal_inputs_give_equal_bytes)
{
    const char *spec = spec_paths[_i];
    char *text = slurp(spec);
    for (int level = 0; level < 3; level++) {
        build x = {.name = spec, .text = text, .target = "gfx1201", .level = (fusion_level)level}, y = x;
        must_build(&x);
        must_build(&y);
        must_be_equal(x.p, y.p);
        ck_assert(strcmp(manifest_json(x.a, x.p), manifest_json(y.a, y.p)) == 0);
        arena_free(x.a);
        arena_free(y.a);
    }
    free(text);
}
END_TEST

START_TEST(a_plan_reads_back_as_the_same_plan)
{
    const char *spec = spec_paths[_i];
    char *text = slurp(spec);
    for (int level = 0; level < 3; level++) {
        build x = {.name = spec, .text = text, .target = "sm_90a", .level = (fusion_level)level};
        must_build(&x);
        build y = {.name = spec, .text = ir_print(x.a, x.p->ir), .target = "sm_90a", .from_plan = true};
        must_build(&y);
        ck_assert_msg(strcmp(ir_print(y.a, y.p->ir), y.text) == 0, "%s", spec);
        must_be_equal(x.p, y.p);
        arena_free(y.a);
        arena_free(x.a);
    }
    free(text);
}
END_TEST

static const char linear_spec[] =
    "block: t\ndtype: f32\ndims: {B: 2, S: 3, D: 20, F: 11}\ndynamic: {B: [1, 64], S: [1, 512]}\n"
    "inputs: {x: [B, S, D]}\nparams: {w: [F, D], n: [D]}\n"
    "ops:\n  - {out: h, op: rmsnorm, in: [x, n]}\n  - {out: y1, op: linear, in: [h, w]}\noutputs: {y: y1}\n";

static int row_tiles(const launch *l, int rows)
{
    const int m = l->work->extents.tile_rows;
    return (rows + m - 1) / m;
}

START_TEST(grids_and_workspace_follow_the_dynamic_dims)
{
    build b = {.name = "t.yaml", .text = linear_spec, .target = "gfx942", .level = fusion_none};
    must_build(&b);
    ck_assert_int_eq(b.p->launch_count, 2);
    dim_table dims = b.p->ir->dims;
    const launch *norm = &b.p->launches[0], *product = &b.p->launches[1];
    long long offsets[8];
    dim_find(&dims, "B")->value = 7;
    dim_find(&dims, "S")->value = 100;
    ck_assert_int_eq(b.p->stored_count, 1);
    ck_assert_int_eq(storage_bytes(&b.p->stored[0], &dims), 7 * 100 * 20 * 4);
    ck_assert_int_eq(workspace_layout(b.p, &dims, offsets), (7 * 100 * 20 * 4 + 255) / 256 * 256);
    ck_assert_int_eq(offsets[0], 0);
    ck_assert_int_eq(launch_grid(norm, &dims), row_tiles(norm, 700));
    ck_assert_int_eq(launch_grid(product, &dims), row_tiles(product, 700) * product->work->extents.column_tiles);
    arena_free(b.a);
}
END_TEST

START_TEST(a_packed_weight_has_whole_blocks_and_padded_rows)
{
    build b = {.name = "t.yaml", .text = linear_spec, .target = "gfx942", .level = fusion_tile};
    must_build(&b);
    ck_assert_int_eq(b.p->pack_count, 1);
    ck_assert_int_eq(b.p->packs[0].columns, 32); /* 11 in blocks of 32 */
    ck_assert_int_eq(b.p->packs[0].length, 32);  /* 20 in pieces of 64 bytes */
    ck_assert_ptr_nonnull(strstr(b.p->packs[0].source.body, "op_mul(load_one(p.w_ + col * 20ll + k), load_one(p.n_ + k))"));
    arena_free(b.a);
}
END_TEST

static const char *tuned(const char *line, build *b)
{
    const tuning t = {.lines = &line, .count = 1};
    *b = (build){.name = "t.yaml", .text = linear_spec, .target = "gfx90a", .level = fusion_tile, .tuning = &t};
    run_build(b);
    b->tuning = NULL;
    return arena_diagnostics(b->a);
}

START_TEST(a_users_line_changes_the_tile)
{
    build b;
    const char *errors = tuned("gemm layer=simt m=16 n=64 k=32 thread_m=1 thread_n=8 threads=128", &b);
    ck_assert_msg(b.code == code_ok, "%s", errors);
    const char *text = ir_print(b.a, b.p->ir);
    ck_assert_ptr_nonnull(strstr(text, "tile layer=simt m=16 n=64 k=32 thread_m=1 thread_n=8 threads=128"));
    arena_free(b.a);
}
END_TEST

typedef struct bad_tuning {
    const char *line, *message;
    tfgen_code code;
} bad_tuning;

static const bad_tuning bad_tunings[] = {
    {"gemm: layer=simt m=64", "threads must be m/thread_m * n/thread_n", code_unsupported},
    {"gemm: layer=simt m=1024 n=1024 thread_m=32 thread_n=32 threads=1024", "bytes of shared memory; a workgroup has 65536",
     code_unsupported},
    {"gemm: layer=simt thread_n=12", "thread_n", code_unsupported},
    {"gemm: layer=simt m=24 n=64 k=32 thread_m=3 thread_n=8 threads=64", "thread_m must be 1, 2 or a multiple of 4", code_unsupported},
    {"gemm: layer=simt threads=4096 m=512 n=512 thread_m=8 thread_n=8", "threads=4096; it is 1 to 1024", code_unsupported},
    {"rows: team=3",
     "--tile 'rows: team=3': phase stats (rows) on gfx90a: team and v must be powers of two; the nearest legal one: layer=simt "
     "threads=128 team=4 v=",
     code_unsupported},
    {"gemm: layer=wgmma", "layer=wgmma: the target lacks these instructions; gfx90a has simt, skinny, mfma here",
     code_unsupported},
    {"y1: layer=wgmma", "phase y1 (gemm) on gfx90a: layer=wgmma: the target lacks these instructions", code_unsupported},
    {"y1: layer=wmma", "layer=wmma: the target lacks these instructions", code_unsupported},
    {"stats: layer=mfma", "layer=mfma: no program of this family uses that layer; gfx90a has simt here", code_unsupported},
    {"gemm: depth=3", "gemm_skinny has no setting 'depth'; those of gemm_skinny, by which phase y1 is computed, are m 1 to 16, n",
     code_usage},
    {"k1.y1: depth=3", "gemm_skinny has no setting 'depth'", code_usage},
    {"gemm: m=x", "expected key=number", code_usage},
    {"gemm: m", "expected key=number", code_usage},
    {"gemm: m=-1", "expected key=number", code_usage},
    {"gemm: m=99999999999999999999", "expected key=number", code_usage},
    {"gemm: =1", "expected key=number", code_usage},
    {"gemm: m=1 m=2", "m is given twice", code_usage},
    {"gemm: layer=skinny layer=skinny", "layer is given twice", code_usage},
    {"gemm", "it has no settings", code_usage},
    {": m=1", "must start with a phase's name", code_usage},
    {"gemm: layer=mfmma", "no layer 'mfmma'; did you mean mfma? layers are simt, skinny", code_usage},
    {"stast: m=1", "no phase, kernel or family is called 'stast'; did you mean stats? phases are stats, y1; families rows", code_usage},
    {"gemm(linear(bf16[9])): m=1", "no phase, kernel or family is called 'gemm(linear(bf16[9]))'", code_usage},
};

START_TEST(an_illegal_tile_is_an_error_that_names_the_limit)
{
    build b;
    const char *errors = tuned(bad_tunings[_i].line, &b);
    ck_assert_msg(b.code == bad_tunings[_i].code, "%s: %d: %s", bad_tunings[_i].line, b.code, errors);
    ck_assert_msg(strstr(errors, bad_tunings[_i].message) != NULL, "%s: %s", bad_tunings[_i].line, errors);
    arena_free(b.a);
}
END_TEST

/* The error has the line in the plan's text, not the place in the spec that the text refers to. */
START_TEST(an_illegal_tile_of_a_plans_text_has_its_line)
{
    static const char *const tiles[][2] = {{"layer=simt m=16 n=64 k=32 thread_m=3 thread_n=8 threads=128", "thread_m must divide m"},
                                           {"layer=wgmma", "layer=wgmma: the target lacks these instructions"}};
    for (int i = 0; i < 2; i++) {
        char text[512];
        build b = {.name = "t.ir", .text = text, .target = "gfx90a", .from_plan = true};
        snprintf(text, sizeof text,
                 "ir 1 t\ntype f32\nlevel tile\ndim  M = 20\nin   %%x f32[M,64]\npar  %%w f32[64,64]\nout  %%y as y\n\n"
                 "kernel k0 {\n  phase y : gemm {\n    body %%y f32[M,64] = linear %%x, %%w !3:5 #0\n    tile %s\n  }\n}\n",
                 tiles[i][0]);
        run_build(&b);
        const char *errors = arena_diagnostics(b.a);
        ck_assert_int_eq(b.code, code_unsupported);
        ck_assert_msg(strstr(errors, "t.ir:12:10: error: tile: phase y (gemm) on gfx90a: ") && strstr(errors, tiles[i][1]), "%s", errors);
        ck_assert_msg(i || strstr(errors, "; the nearest legal one: layer=simt m=16 n=64 k=32 thread_m="), "%s", errors);
        arena_free(b.a);
    }
}
END_TEST

START_TEST(phases_of_a_launch_must_have_equal_numbers_of_threads)
{
    static const char text[] = "ir 1 t\ntype f32\nlevel tile\nin   %x f32[4,64]\nin   %z f32[4,32]\nout  %y as y\nout  %g as g\n\n"
                               "kernel k0 frame=mixed {\n  phase y : rows {\n    body %y f32[4,64] = neg %x !3:5 #0\n"
                               "    tile threads=128 team=32 v=2\n  }\n  phase g : rows {\n    body %g f32[4,32] = exp %z !4:5 #1\n"
                               "    tile threads=64 team=32 v=1\n  }\n}\n";
    build b = {.name = "t.ir", .text = text, .target = "gfx90a", .from_plan = true};
    run_build(&b);
    ck_assert_int_eq(b.code, code_unsupported);
    const char *errors = arena_diagnostics(b.a);
    ck_assert_msg(strstr(errors, "t.ir:16:10: error: tile: phase g has threads=64, but y in the same kernel has threads=128"), "%s",
                  errors);
    arena_free(b.a);
}
END_TEST

START_TEST(a_tile_line_may_use_any_name_of_its_phase)
{
    static const char *const names[] = {"y1", "k1", "k1.y1", "t_y1", "gemm",
                                        "gemm(linear(f32[20],f32[11,20])/fold->f32[11]+div(f32[1])->f32[1]+add+rsqrt+mul->f32[11]!)"};
    char line[256];
    build b;
    snprintf(line, sizeof line, "%s: layer=simt, m=16 n=64 k=32 thread_m=1 thread_n=8 threads=128", names[_i]);
    const char *errors = tuned(line, &b);
    ck_assert_msg(b.code == code_ok, "%s: %s", line, errors);
    const ir_phase *stats = b.p->launches[0].work->phase, *phase = b.p->launches[1].work->phase;
    ck_assert(phase->from == tile_of_user && phase->tile.program == program_gemm_simt && phase->tile.gemm_registers.n == 64);
    ck_assert(stats->from == tile_of_model);
    const char *text = ir_print(b.a, b.p->ir);
    ck_assert_ptr_nonnull(strstr(text, "    from user\n    tile layer=simt"));
    ck_assert_ptr_nonnull(strstr(manifest_json(b.a, b.p), "\"from\": \"user\""));
    ck_assert_str_eq(ir_print(b.a, ir_read(b.a, text, strlen(text), "t.ir")), text);
    arena_free(b.a);
}
END_TEST

/* Four functions in an epilogue are called, not inlined, which leaves few registers for the tile's sums; three short forms are inlined. */
START_TEST(products_with_long_epilogues_get_smaller_tiles)
{
    static const char head[] = "block: t\ndtype: bf16\ndims: {M: 4096, D: 4096}\ninputs: {x: [M, D]}\nparams: {w: [D, D]}\nops:\n"
                               "  - {out: l, op: linear, in: [x, w]}\n",
                      mish[] = "  - {out: e, op: exp, in: [l]}\n  - {out: p, op: add, in: [e, 1.0]}\n  - {out: s, op: log, in: [p]}\n"
                               "  - {out: t, op: tanh, in: [s]}\n  - {out: m, op: mul, in: [l, t]}\n",
                      then[] = "  - {out: a, op: erf, in: [m]}\noutputs: {y: a}\n", end[] = "outputs: {y: m}\n";
    arena *keep = arena_new();
    const char *text = arena_printf(keep, "%s%s%s", head, mish, _i ? then : end);
    build b = {.name = "t.yaml", .text = text, .target = "gfx90a", .level = fusion_tile};
    must_build(&b);
    ck_assert_int_eq(b.p->launch_count, 1);
    ck_assert_int_eq(b.p->launches[0].threads, _i ? 256 : 512);
    ck_assert_int_eq(strstr(b.p->launches[0].spec_header, "TF_CALLED") != NULL, _i);
    arena_free(b.a);
    arena_free(keep);
}
END_TEST

static const char *const epilogues[][2] = {{"log", "log"},         {"tanh", "tanh"},       {"sqrt", "sqrt"}, {"log", "div, v0"},
                                           /* the ones from here on are inlined */
                                           {"div, v0", "div, v0"}, {"sqrt", "sin"},         {"tanh", "exp"},
                                           {"silu", "mul, v0"},    {"gelu_tanh", "mul, v0"}, {"gelu_erf", "neg"}, {"div, r", "div, r"}};

/* True if the source calls functions, or has its epilogue once, in a loop. */
static bool outlined(const char *header, const char *target)
{
    return strcmp(target, "sm_90a") == 0 ? !strstr(header, "rolled = 0") : strstr(header, "TF_CALLED") != NULL;
}

static void is_long(const char *const epilogue[2], const char *type, const char *target, bool yes)
{
    const char *first = epilogue[0], *then = epilogue[1], *r = strstr(first, ", r") ? ", r: [4096, 1]" : "";
    const int end = (int)strcspn(first, ","), then_end = (int)strcspn(then, ",");
    text spec = {.a = arena_new()};
    text_printf(&spec, "block: t\ndtype: %s\ninputs: {x: [4096, 2048]%s}\nparams: {w: [4096, 2048]}\n", type, r);
    text_printf(&spec, "ops:\n  - {out: v0, op: linear, in: [x, w]}\n");
    text_printf(&spec, "  - {out: v1, op: %.*s, in: [v0%s]}\n", end, first, first + end);
    text_printf(&spec, "  - {out: v2, op: %.*s, in: [v1%s]}\noutputs: {y: v2}\n", then_end, then, then + then_end);
    build b = {.name = "t.yaml", .text = spec.data, .target = target, .level = fusion_tile};
    must_build(&b);
    ck_assert_msg(outlined(b.p->launches[0].spec_header, target) == yes, "%s, %s in %s for %s", first, then, type, target);
    arena_free(b.a);
    arena_free(spec.a);
}

/* NVRTC takes ten seconds and more to compile such arithmetic when a thread of a product has many copies of it; short forms compile
 * fast. */
START_TEST(two_divisions_roots_or_logarithms_in_an_epilogue_are_not_unrolled_for_nvidia)
{
    is_long(epilogues[_i], "f32", "sm_90a", _i < 7);
    is_long(epilogues[_i], "f32", "sm_80", _i < 7);
    is_long(epilogues[_i], "bf16", "sm_90a", false);
}
END_TEST

/* 40 cheap ops, two powers or two sines: NVRTC would take up to 20 s for the copies, so the epilogue is a loop. 20 cheap ops are copied. */
static const struct { const char *op; int count; bool quick, exact; } chains[] = {
    {"mul, 1.5", 40, true, true}, {"erf", 40, true, true}, {"pow, 1.7", 2, true, true}, {"sin", 2, true, true},
    {"mul, 1.5", 20, false, false}};

START_TEST(a_chain_that_would_compile_slowly_is_not_unrolled)
{
    static const char *const types[] = {"bf16", "f16", "f32"}, *const targets[] = {"sm_90a", "sm_80"};
    for (int i = 0; i < 6; i++) {
        text spec = {.a = arena_new()};
        text_printf(&spec, "block: t\ndtype: %s\ninputs: {x: [4096, 2048]}\nparams: {w: [4096, 2048]}\n", types[i / 2]);
        text_printf(&spec, "ops:\n  - {out: v0, op: linear, in: [x, w]}\n");
        const char *op = chains[_i].op;
        const int end = (int)strcspn(op, ",");
        for (int k = 0; k < chains[_i].count; k++)
            text_printf(&spec, "  - {out: v%d, op: %.*s, in: [v%d%s]}\n", k + 1, end, op, k, op + end);
        text_printf(&spec, "outputs: {y: v%d}\n", chains[_i].count);
        build b = {.name = "t.yaml", .text = spec.data, .target = targets[i % 2], .level = fusion_tile};
        must_build(&b);
        ck_assert_msg(outlined(b.p->launches[0].spec_header, targets[i % 2]) == (i < 4 ? chains[_i].quick : chains[_i].exact),
                      "%d of %s in %s for %s", chains[_i].count, op, types[i / 2], targets[i % 2]);
        arena_free(b.a);
        arena_free(spec.a);
    }
}
END_TEST

typedef struct wide_head {
    const char *target;
    int columns;
    bool taken;
} wide_head;

static const wide_head wide_heads[] = {{"sm_90a", 1024, true}, {"sm_90a", 1025, false}, {"gfx1100", 1025, false}, {"gfx942", 2048, true},
                                       {"gfx942", 2049, false}, {"host", 4096, true}};

/* Each head size twice: in attention over the call's own keys, and over a cache. */
START_TEST(heads_of_more_columns_than_a_wave_takes_are_refused_by_name)
{
    const wide_head *of = &wide_heads[_i / 2];
    arena *keep = arena_new();
    build b = {.name = "t.yaml", .target = of->target, .level = fusion_tile};
    b.text =
        arena_printf(keep,
                     _i % 2 ? "block: t\ndtype: f32\ndims: {S: 1, L: 64, hd: %d}\ninputs: {q: [1, S, hd], t: {shape: [1], dtype: i32}}\n"
                              "state: {c: [1, 1, L, hd]}\nops:\n  - {out: k, op: kv_append, in: [q], state: c, at: t}\n"
                              "  - {out: a, op: attention, in: [q, k, k], heads: 1, at: t}\noutputs: {y: a}\n"
                            : "block: t\ndtype: f32\ndims: {S: 19, hd: %d}\ninputs: {q: [1, S, hd]}\nops:\n"
                              "  - {out: a, op: attention, in: [q, q, q], heads: 1}\noutputs: {y: a}\n",
                     of->columns);
    run_build(&b);
    ck_assert_msg(b.code == (of->taken ? code_ok : code_unsupported), "%s", arena_diagnostics(b.a));
    const char *says = arena_printf(keep, "heads have %d columns; kernels for %s take at most %d", of->columns, of->target,
                                    of->columns - 1);
    if (!of->taken) ck_assert_msg(strstr(arena_diagnostics(b.a), says) != NULL, "%s", arena_diagnostics(b.a));
    arena_free(b.a);
    arena_free(keep);
}
END_TEST

/* Macros that tell the templates about the target. */
#define AMD_HEAD(wave, operand, banks, copies)                                                                             \
    "#define TF_TARGET_AMD 1\n#define TF_WAVE " wave "\n#define TF_QUICK 1\n#define TF_OPERAND_BYTES " operand \
    "\n#define TF_LDS_BANKS " banks "\n#define TF_COPIES_TO_LDS " copies "\n"
START_TEST(a_source_names_its_target)
{
    static const char *const told[][2] =
        {{"host", "#define TF_TARGET_HOST 1\n#define TF_WAVE 1\n"},
         {"gfx908", AMD_HEAD("64", "4", "32", "0")},
         {"gfx90a", AMD_HEAD("64", "8", "32", "0")},
         {"gfx942", AMD_HEAD("64", "8", "32", "0")},
         {"gfx950", AMD_HEAD("64", "16", "64", "1")},
         {"gfx1100", AMD_HEAD("32", "32", "32", "0")},
         {"gfx1151", AMD_HEAD("32", "32", "32", "0")},
         {"gfx1201", AMD_HEAD("32", "16", "32", "0")},
         {"sm_80", "#define TF_TARGET_NVIDIA 1\n#define TF_WAVE 32\n#define TF_CONST_IS_GLOBAL 1\n#define TF_QUICK 1\n"},
         {"sm_90a", "#define TF_TARGET_NVIDIA 1\n#define TF_WAVE 32\n#define TF_CONST_IS_GLOBAL 1\n#define TF_QUICK 1\n"}};
    char *text = slurp("specs/linear.yaml");
    for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
        build b = {.name = "specs/linear.yaml", .text = text, .target = told[i][0], .level = fusion_tile};
        must_build(&b);
        const char *head = b.p->launches[b.p->launch_count - 1].source.head, *at = strstr(head, "#define TF_TARGET_");
        ck_assert_msg(at && strncmp(at, told[i][1], strlen(told[i][1])) == 0, "%s: %.200s", told[i][0], at ? at : head);
        ck_assert_ptr_null(strstr(at + 1, "#define TF_TARGET_"));
        arena_free(b.a);
    }
    free(text);
}
END_TEST

START_TEST(the_manifest_says_what_the_plan_says)
{
    char *text = slurp("specs/llama-block.yaml");
    build b = {.name = "specs/llama-block.yaml", .text = text, .target = "gfx942", .level = fusion_tile};
    must_build(&b);
    b.p->launches[1].grid_limit = 3;
    json_error_t error;
    json_t *o = json_loads(manifest_json(b.a, b.p), 0, &error);
    ck_assert_msg(o != NULL, "line %d: %s", error.line, error.text);
    ck_assert_int_eq(json_integer_value(json_object_get(o, "manifest")), manifest_version);
    json_t *kernels = json_object_get(o, "kernels");
    ck_assert_uint_eq(json_array_size(kernels), (size_t)b.p->launch_count);
    for (int i = 0; i < b.p->launch_count; i++) {
        const launch *l = &b.p->launches[i];
        json_t *k = json_array_get(kernels, (size_t)i), *arguments = json_object_get(k, "arguments");
        ck_assert_str_eq(json_string_value(json_object_get(k, "name")), l->name);
        ck_assert_int_eq(json_integer_value(json_object_get(json_object_get(k, "grid"), "now")),
                         launch_grid(l, &b.p->ir->dims));
        ck_assert_int_eq(json_integer_value(json_object_get(json_object_get(k, "grid"), "limit")), i == 1 ? 3 : 0);
        ck_assert_uint_eq(json_array_size(arguments), (size_t)l->argument_count);
        for (int n = 0; n < l->argument_count; n++)
            ck_assert_int_eq(json_integer_value(json_object_get(json_array_get(arguments, (size_t)n), "offset")),
                             l->arguments[n].offset);
    }
    json_t *values = json_object_get(o, "values"), *value;
    size_t i;
    json_array_foreach(values, i, value)
    {
        const ir_value *v = graph_value(b.p->ir, json_string_value(json_object_get(value, "name")));
        ck_assert_msg(v && (v->kind < value_constant || v->output), "%s is no tensor of a caller", v ? v->name : "an unknown value");
    }
    json_decref(o);
    arena_free(b.a);
    free(text);
}
END_TEST

/* Loads by tensor maps of rank 2 and 4, a product in parts, a state, a dynamic dim, a grid in clusters of what is resident. */
static const char mapped[] =
    "block: mapped\ndtype: bf16\ndims: {B: 2, S: 80, L: 144, D: 1024, H: 4, hd: 64}\ndynamic: {S: [1, 80]}\n"
    "inputs: {x: [B, S, D], pos: {shape: [B], dtype: i32, range: [0, 64]}}\nparams: {w: [H*hd, D]}\n"
    "state: {k_cache: [B, H, L, hd], v_cache: [B, H, L, hd]}\nops:\n  - {out: q, op: linear, in: [x, w]}\n"
    "  - {out: k, op: kv_append, in: [q], state: k_cache, at: pos}\n  - {out: v, op: kv_append, in: [q], state: v_cache, at: pos}\n"
    "  - {out: y, op: attention, in: [q, k, v], heads: H, causal: true, at: pos}\noutputs: {y: y}\n";

START_TEST(the_manifest_of_a_plan_is_the_golden_file)
{
    build b = {.name = "mapped.yaml", .text = mapped, .target = "sm_90a", .level = fusion_tile};
    must_build(&b);
    compare_golden("tests/golden/manifest.json", manifest_json(b.a, b.p));
    arena_free(b.a);
}
END_TEST

/* ---- results against the float64 reference, in the geometry of the host and of one GPU. `make test` runs each spec one way, the long
 * tests run the rest. */
static const struct {
    const char *level, *target;
} pairs[] = {{"none", "host"}, {"tile", "host"}, {"tile", "gfx1100"}}; /* all of them: make verify-all */
enum { pair_count = sizeof pairs / sizeof *pairs };

START_TEST(all_specs_of_this_suite_are_right)
{
    const int pair = _i % pair_count;
    const char *program = getenv("TFGEN") ? getenv("TFGEN") : "./tfgen";
    char command[512];
    /* and no element is left unjudged */
    snprintf(command, sizeof command,
             "cases=$(%s verify %s --fusion=%s --target=%s --json) && ! echo \"$cases\" | grep '\"unjudged\": [1-9]'", program,
             spec_paths[_i / pair_count], pairs[pair].level, pairs[pair].target);
    ck_assert_msg(system(command) == 0, "%s", command);
}
END_TEST

/* ---- caches of more rows than an int counts: 4096 sequences, 8 heads, 131072 tokens */
#define LARGE_CACHE                                                                                                    \
    "block: large\ndtype: bf16\ndims: {B: 4096, S: 1, L: %s, D: 192, H: 8, hd: 24}\n"                                  \
    "inputs: {x: [B, S, D], pos: {shape: [B], dtype: i32, range: [0, L-S]}}\nparams: {wk: [H*hd, D]}\n"               \
    "state: {k_cache: [B, H, L, hd], v_cache: [B, H, L, hd]}\nops:\n"                                                 \
    "  - {out: k, op: linear, in: [x, wk]}\n"                                                                         \
    "  - {out: kc, op: kv_append, in: [k], state: k_cache, at: pos}\n"                                                \
    "  - {out: vc, op: kv_append, in: [k], state: v_cache, at: pos}\n"                                                \
    "  - {out: a, op: attention, in: [x, kc, vc], heads: H, kv_heads: H, causal: true, at: pos}\noutputs: {y: a}\n"

static bool have_clang(void) { return system("clang-22 --version > /dev/null 2>&1") == 0; }

static const char *header_with(const plan *p, const char *part)
{
    for (int i = 0; i < p->launch_count; i++)
        if (strstr(p->launches[i].spec_header, part)) return p->launches[i].spec_header;
    ck_abort_msg("no kernel has %s", part);
    return NULL;
}

START_TEST(a_cache_may_have_more_than_int_max_rows)
{
    char text[2048];
    snprintf(text, sizeof text, LARGE_CACHE, "131072");
    build b = {.name = "large.yaml", .text = text, .target = "gfx942", .level = fusion_tile};
    must_build(&b);
    /* 64 bits from the first product on */
    const char *store = strstr(header_with(b.p, "put<Half, W>(p.k_cache_"), "p.k_cache_ + (");
    ck_assert_ptr_nonnull(store);
    ck_assert_msg(!strncmp(store, "p.k_cache_ + ((c.sequence * 8ll + ", 34), "%.100s", store);
    const char *read = header_with(b.p, "const type *k(");
    char path[] = "/tmp/tfgen-large-XXXXXX", command[256];
    const int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    FILE *f = fdopen(fd, "w");
    const char *name = strstr(read, "struct ") + 7;
    fprintf(f, "#define DEV inline\n#define TF_LAYOUT(...)\nstruct bf16 { unsigned short bits; };\n%s"
               "int main() { %.*s::args p = {}; long long at = %.*s::k(p, 4095, 131071, 7) - p.k_cache_;\n"
               "return at == ((4095ll * 8 + 7) * 131072 + 131071) * 24 ? 0 : 1; }\n",
            read, (int)strcspn(name, " "), name, (int)strcspn(name, " "), name);
    fclose(f);
    snprintf(command, sizeof command, "clang-22 -x c++ -std=c++17 -fwrapv %s -o %s.out && %s.out", path, path, path);
    const int status = have_clang() ? system(command) : 0;
    snprintf(command, sizeof command, "%s.out", path);
    unlink(command);
    unlink(path);
    ck_assert_int_eq(status, 0);
    arena_free(b.a);
}
END_TEST

START_TEST(other_values_have_at_most_int_max_rows_less_one_tile)
{
    static const char format[] = "block: tall\ndtype: bf16\ndims: {B: %s, D: 2}\ninputs: {x: [B, D]}\nops:\n"
                                 "  - {out: y, op: silu, in: [x]}\noutputs: {y: y}\n";
    static const char *const rows[] = {"2147418112", "2147418113"};
    char text[512];
    snprintf(text, sizeof text, format, rows[_i]);
    build b = {.name = "tall.yaml", .text = text, .target = "gfx942", .level = fusion_tile};
    run_build(&b);
    ck_assert_msg(b.code == (_i ? code_unsupported : code_ok), "%s", arena_diagnostics(b.a));
    if (_i) ck_assert_ptr_nonnull(strstr(arena_diagnostics(b.a), "up to 2147418113 rows; kernels count up to 2147418112"));
    arena_free(b.a);
}
END_TEST

/* ---- compilers: front ends only. Each spec on one AMD target and at one level, so that all pairs of the two are seen; the suites that run
 * kernels compile for the host, `make verify-code` every kernel at every level for every GPU target. */
static const char *const front_ends[] = {"gfx942", "gfx1100", "gfx90a", "gfx1201", "gfx950"};
enum { front_end_count = sizeof front_ends / sizeof *front_ends };

static void write_source(const char *folder, const char *name, const source_text *source)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s.hip", folder, name);
    FILE *f = fopen(path, "wb");
    ck_assert_ptr_nonnull(f);
    fprintf(f, "%s%s%s", source->head, source->templates, source->body);
    ck_assert_int_eq(fclose(f), 0);
}

START_TEST(emitted_sources_compile)
{
    const char *spec = spec_paths[_i];
    if (!have_clang()) {
        printf("skipped: no clang-22\n");
        return;
    }
    char *text = slurp(spec), folder[] = "/tmp/tfgen-emit-XXXXXX", command[512];
    build b = {.name = spec, .text = text, .target = front_ends[_i % front_end_count], .level = (fusion_level)(_i % 3)};
    must_build(&b);
    ck_assert_ptr_nonnull(mkdtemp(folder));
    for (int i = 0; i < b.p->launch_count; i++) write_source(folder, b.p->launches[i].name, &b.p->launches[i].source);
    for (int i = 0; i < b.p->pack_count; i++) write_source(folder, b.p->packs[i].name, &b.p->packs[i].source);
    snprintf(command, sizeof command,
             "clang-22 -x hip --offload-arch=%s --offload-device-only -nogpulib -nogpuinc -std=c++17 -Wall -Wno-unused-function "
             "-Werror -fsyntax-only %s/*.hip",
             b.target, folder);
    const int status = system(command);
    snprintf(command, sizeof command, "rm -r %s", folder);
    ck_assert_int_eq(system(command), 0);
    ck_assert_msg(status == 0, "%s for %s at level %s", spec, b.target, level_names(NULL)[b.level]);
    arena_free(b.a);
    free(text);
}
END_TEST

int main(void)
{
    find_specs();
    Suite *s = suite_create("emit");
    TCase *t = tcase_create("plans");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, specs_emit_the_golden_spec_headers, 0, spec_count);
    tcase_add_loop_test(t, each_template_has_a_spec_struct_beside_it, 0, sizeof besides / sizeof *besides);
    tcase_add_loop_test(t, equal_inputs_give_equal_bytes, 0, spec_count);
    tcase_add_loop_test(t, a_plan_reads_back_as_the_same_plan, 0, spec_count);
    tcase_add_test(t, grids_and_workspace_follow_the_dynamic_dims);
    tcase_add_test(t, a_packed_weight_has_whole_blocks_and_padded_rows);
    tcase_add_test(t, a_users_line_changes_the_tile);
    tcase_add_loop_test(t, an_illegal_tile_is_an_error_that_names_the_limit, 0,
                        sizeof bad_tunings / sizeof *bad_tunings);
    tcase_add_test(t, an_illegal_tile_of_a_plans_text_has_its_line);
    tcase_add_test(t, phases_of_a_launch_must_have_equal_numbers_of_threads);
    tcase_add_loop_test(t, a_tile_line_may_use_any_name_of_its_phase, 0, 6);
    tcase_add_test(t, a_cache_may_have_more_than_int_max_rows);
    tcase_add_loop_test(t, other_values_have_at_most_int_max_rows_less_one_tile, 0, 2);
    tcase_add_loop_test(t, products_with_long_epilogues_get_smaller_tiles, 0, 2);
    tcase_add_loop_test(t, a_chain_that_would_compile_slowly_is_not_unrolled, 0, sizeof chains / sizeof *chains);
    tcase_add_loop_test(t, two_divisions_roots_or_logarithms_in_an_epilogue_are_not_unrolled_for_nvidia, 0,
                        (int)(sizeof epilogues / sizeof *epilogues));
    tcase_add_loop_test(t, heads_of_more_columns_than_a_wave_takes_are_refused_by_name, 0,
                        2 * (int)(sizeof wide_heads / sizeof *wide_heads));
    tcase_add_test(t, a_source_names_its_target);
    tcase_add_test(t, the_manifest_of_a_plan_is_the_golden_file);
    tcase_add_test(t, the_manifest_says_what_the_plan_says);
    suite_add_tcase(s, t);
    TCase *n = tcase_create("numbers");
    tcase_set_timeout(n, 300);
    suite_add_tcase(s, n);
    TCase *more = suite_long(s, "more numbers", 300);
    for (int i = 0; i < spec_count * pair_count; i++) {
        const int spec = i / pair_count;
        if (strncmp(spec_paths[spec], "tests/", 6) == 0)
            tcase_add_loop_test(spec % pair_count == i % pair_count ? n : more, all_specs_of_this_suite_are_right, i, i + 1);
    }
    TCase *c = tcase_create("compilers");
    tcase_set_timeout(c, 120);
    tcase_add_loop_test(c, emitted_sources_compile, 0, spec_count / 2);
    suite_add_tcase(s, c);
    c = tcase_create("more compilers");
    tcase_set_tags(c, "long");
    tcase_set_timeout(c, 120);
    tcase_add_loop_test(c, emitted_sources_compile, spec_count / 2, spec_count);
    suite_add_tcase(s, c);
    return run_suite(s);
}
