/* The MMA path that a product is planned on, and what follows from it: packed weights, tensor maps, frame, geometry; NVRTC compiles it. */
#include "gen/gen.h"
#include "gen/program/program.h"
#include "runtime/cli/ref_plan.h"
#include "tests/support.h"
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct build {
    arena *a;
    const char *text, *target;
    const tuning *tuning;
    int units; /* 0: those of the target's default device */
    plan *p;
    tfgen_code code;
} build;

static void build_body(void *argument)
{
    build *b = argument;
    const target_info *target = target_find(b->target);
    const fuse_options fusion = {.level = fusion_tile};
    const graph_options options = {0};
    device_model *device = device_model_default(b->a, target);
    if (b->units) device->units = b->units;
    arena_source(b->a, "t.yaml", b->text, strlen(b->text));
    b->p = plan_choose(b->a, fuse(b->a, lower(b->a, graph_read(b->a, b->text, strlen(b->text), "t.yaml", &options)), &fusion), device,
                       b->tuning);
    emit(b->a, b->p);
}

static build build_spec(const char *text, const char *target, const tuning *t)
{
    build b = {.a = arena_new(), .text = text, .target = target, .tuning = t};
    b.code = arena_run(b.a, build_body, &b);
    return b;
}

/* Forces layer wgmma, since the cost model would choose swap_ab for some products of these tests. */
static const char *const on_wgmma[] = {"gemm layer=wgmma"};
static const tuning wgmma = {.lines = on_wgmma, .count = 1};

static build must_build(const char *text, const tuning *t)
{
    build b = build_spec(text, "sm_90a", t);
    ck_assert_msg(b.code == code_ok, "%s", arena_diagnostics(b.a));
    return b;
}

#define PRODUCT(type, M, K)                                                                                                         \
    "block: t\ndtype: " type "\ndims: {M: " M ", K: " K ", N: 70}\ndynamic: {M: [1, 4096]}\ninputs: {x: [M, K]}\n"                  \
    "params: {w: [N, K]}\nops:\n  - {out: y, op: linear, in: [x, w]}\noutputs: {y: y}\n"

#define ROW(type)                                                                                                                   \
    "block: t\ndtype: " type "\ninputs: {x: [1, 4096], w: [4096, 4096]}\nops:\n"                                                  \
    "  - {out: y, op: matmul, in: [x, w], transpose: true}\noutputs: {y: y}\n"

#define RESIDUAL                                                                                                                    \
    "block: t\ndtype: bf16\ndims: {M: 64, K: 64, N: 72}\ninputs: {x: [M, K], r: [M, N]}\nparams: {w: [N, K]}\nops:\n"                 \
    "  - {out: p, op: linear, in: [x, w]}\n  - {out: y, op: add, in: [p, r]}\noutputs: {y: y}\n"

#define ONE_ROW                                                                                                                     \
    "block: t\ndtype: bf16\ndims: {K: 64, N: 72}\ninputs: {x: [1, K]}\nparams: {w: [N, K], b: [N]}\nops:\n"                         \
    "  - {out: y, op: linear, in: [x, w, b]}\noutputs: {y: y}\n"

static const struct {
    const char *text, *tile;
    bool wgmma;
} layers[] = {{PRODUCT("bf16", "129", "64"), "tile layer=wgmma m=128", true},
              {PRODUCT("f16", "4096", "20"), "tile layer=wgmma m=128", true},
              {PRODUCT("f32", "16", "64"), "tile layer=skinny m=8",
               false}, /* few rows: a program that reads the weight once is enough */
              {PRODUCT("f32", "64", "63"), "tile layer=simt", false},
              {ROW("f32"), "tile layer=skinny m=1 n=32 k=16 thread_m=1 thread_n=8", false}, /* rows in pieces of 128 bytes */
              {ROW("bf16"), "tile layer=skinny m=1 n=32 k=16 thread_m=1 thread_n=8 threads=512", false},
              {"block: t\ndtype: bf16\ndims: {M: 64, K: 64, N: 64}\ninputs: {x: [M, K], w: [K, N]}\n"
               "ops:\n  - {out: y, op: matmul, in: [x, w]}\noutputs: {y: y}\n",
               "tile layer=wgmma", true}};

/* Few results and a long K leave units idle, so K is split over several workgroups, on every target; where tiles fill the machine K is not
 * split. */
START_TEST(a_long_k_of_few_results_is_split)
{
#define LONG_SUMS(M)                                                                                                                \
    "block: t\ndtype: f32\ninputs: {x: {shape: [" M ", 14336], dtype: bf16}, w: {shape: [14336, 4096], dtype: bf16}}\n"           \
    "ops:\n  - {out: y, op: matmul, in: [x, w]}\noutputs: {y: y}\n"
#define MATRICES(type, M, N, K)                                                                                                     \
    "block: t\ndtype: " type "\ninputs: {x: [" M ", " K "], w: [" K ", " N "]}\nops:\n  - {out: y, op: matmul, in: [x, w]}\n"        \
    "outputs: {y: y}\n"
    static const struct {
        const char *target, *text;
        program_kind program;
        int split;
    } cases[] = {{"sm_90a", MATRICES("bf16", "64", "64", "262144"), program_gemm_wgmma, 128},
                 {"sm_90a", MATRICES("f32", "256", "256", "524288"), program_gemm_wgmma_3xtf32, 16},
                 {"sm_90a", MATRICES("f32", "1", "64", "16384"), program_gemm_skinny, 64},
                 {"sm_90a", MATRICES("f32", "4096", "4096", "4096"), program_gemm_wgmma_3xtf32, 1},
                 {"sm_90a", MATRICES("f32", "256", "256", "63"), program_gemm_simt, 1},
                 {"sm_80", MATRICES("f32", "100", "70", "65536"), program_gemm_simt, 27}, /* teams of threads divide each k tile */
                 {"sm_90a", MATRICES("f32", "64", "64", "262144"), program_gemm_simt, 132},
                 {"sm_90a",
                  "block: t\ndtype: f32\ninputs: {x: {shape: [4096, 24576], dtype: bf16}}\nparams: {w: [4096, 24576]}\n"
                  "ops:\n  - {out: y, op: linear, in: [x, w]}\noutputs: {y: y}\n",
                  program_gemm_wgmma, 4},
                 {"sm_90a", MATRICES("bf16", "4096", "4096", "14336"), program_gemm_wgmma, 1},
                 {"sm_90a", LONG_SUMS("4096"), program_gemm_wgmma, 2},
                 {"gfx1100", MATRICES("f32", "256", "256", "65536"), program_gemm_simt, 24},
                 {"host", MATRICES("f32", "256", "256", "65536"), program_gemm_simt, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        build b = build_spec(cases[i].text, cases[i].target, NULL);
        const ir_tile *t = b.p->launches[b.p->launch_count - 1].work[0].tile;
        const int split = t->at[tile_field_find(t->program, "split_k")];
        ck_assert_msg(t->program == cases[i].program && split == cases[i].split, "%zu: split_k=%d", i, split);
        ck_assert_int_eq(b.p->scratch_count, cases[i].split > 1);
        arena_free(b.a);
    }
}
END_TEST

/* Tensor cores truncate, so long sums of f32 results would exceed the bound of f32. */
START_TEST(swap_ab_splits_long_sums_of_f32_results)
{
    static const char *const texts[] = {LONG_SUMS("512"), LONG_SUMS("96")};
    const char *line = "y: layer=swap_ab";
    const tuning swapped = {.lines = &line, .count = 1};
    for (int i = 0; i < 2; i++) {
        build b = build_spec(texts[i], "sm_90a", &swapped);
        const ir_tile *t = b.p->launches[b.p->launch_count - 1].work[0].tile;
        ck_assert_int_eq(t->program, program_gemm_swap_ab);
        ck_assert_int_ge(t->gemm_swap_ab.split_k, 2);
        arena_free(b.a);
    }
}
END_TEST

/* Programs on matrix units divide by these numbers, so they must be set. */
START_TEST(a_target_with_matrix_units_names_their_dtypes)
{
    size_t count;
    const target_info *list = target_list(&count);
    for (size_t i = 0; i < count; i++) {
        const target_info *t = &list[i];
        bool units = false;
        for (layer_kind k = 0; k < layer_count; k++) units |= target_has(t, k) && layer_is_on_units(k);
        ck_assert_msg(units == (t->matrix_rows > 0 && t->matrix_columns > 0 && t->matrix_share > 0 && t->lane_registers > 0), "%s",
                      t->name);
        ck_assert_msg(t->serial == (t->wave == 1) && t->cluster >= 1 && (t->bulk_copies || t->cluster == 1), "%s", t->name);
    }
}
END_TEST

static bool includes(const target_info *target, program_kind kind, const char *header)
{
    const program *p = program_at(kind);
    for (size_t i = 0; i < sizeof p->isa / sizeof *p->isa && p->isa[i].header; i++)
        if (target_has(target, p->isa[i].layer) && strcmp(p->isa[i].header, header) == 0) return true;
    return false;
}

/* The costs of matmuls choose tiles that were timed faster than those that they chose before: one large tile per multiprocessor (29.6 us,
 * before 44), k tiles of 64 and 8 stages where four workgroups take turns (6.5, 10.8), long k tiles with multicast of columns (8.2,
 * 12.6). */
START_TEST(a_matmul_in_16_bits_has_the_tile_that_was_timed_faster)
{
    static const struct {
        const char *text, *tile;
    } cases[] = {
        {"block: t\ndtype: bf16\ninputs: {x: [4, 1472, 2368], w: [4, 704, 2368]}\n"
         "ops:\n  - {out: y, op: matmul, in: [x, w], transpose: true}\noutputs: {y: y}\n",
         "tile layer=swap_ab m=184 n=192 k=64 threads=512 stages=4"},
        {MATRICES("bf16", "1344", "768", "1280"), "tile layer=swap_ab m=136 n=64 k=64 threads=256 stages=8 row_stages=8 cluster=4"},
        {MATRICES("bf16", "1472", "72", "3456"),
         "tile layer=swap_ab m=112 n=64 k=128 threads=160 stages=5 row_stages=5 cluster=1 cluster_m=2 split_k=4"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        build b = build_spec(cases[i].text, "sm_90a", NULL);
        const char *text = ir_print(b.a, b.p->ir);
        ck_assert_msg(strstr(text, cases[i].tile) != NULL, "%s", text);
        arena_free(b.a);
    }
}
END_TEST

START_TEST(a_target_that_multiplies_by_waves_includes_those_headers)
{
    size_t count;
    const target_info *list = target_list(&count);
    for (size_t i = 0; i < count; i++) {
        const target_info *t = &list[i];
        const bool pieces = includes(t, program_gemm_register_fed, "templates/isa/wave_pieces.h"),
                   cache = includes(t, program_decode_mfma, "templates/isa/wave_cache.h") ||
                           includes(t, program_decode_wmma, "templates/isa/wave_cache.h");
        ck_assert_msg(t->by_waves == pieces && t->by_waves == cache, "%s", t->name);
    }
}
END_TEST

START_TEST(a_product_of_many_rows_in_16_bits_is_on_wgmma)
{
    build b = must_build(layers[_i].text, layers[_i].wgmma ? &wgmma : NULL);
    const char *text = ir_print(b.a, b.p->ir);
    ck_assert_ptr_nonnull(strstr(text, layers[_i].tile));
    ck_assert_ptr_nonnull(strstr(text, layers[_i].wgmma ? "frame=ws" : "frame=mixed"));
    ck_assert_int_eq(strstr(b.p->launches[b.p->launch_count - 1].source.body, "TF_KERNEL_WS(t_y_, one_phase<gemm_ws<t_y_spec>>)") != NULL,
                     layers[_i].wgmma);
    arena_free(b.a);
}
END_TEST

/* The two products have one column each, so a row of results has 2 bytes, which cannot be stored in pieces of 16 bytes through shared
 * memory. */
START_TEST(products_of_one_column_on_wgmma_are_not_staged)
{
    build b = must_build("block: t\ndtype: bf16\ndims: {B: 2, S: 70, K: 1, N: 1}\ninputs: {x: [B, S, K]}\nparams: {v: [N, K], w: [N, K]}\n"
                         "ops:\n  - {out: y, op: linear, in: [x, v]}\n  - {out: z, op: linear, in: [x, w]}\noutputs: {y: y, z: z}\n",
                         &wgmma);
    const char *text = ir_print(b.a, b.p->ir);
    ck_assert_msg(strstr(text, "layer=wgmma") && !strstr(text, "smem_epilogue=1"), "%s", text);
    arena_free(b.a);
}
END_TEST

static const ir_op *first_linear(const plan *p)
{
    int i = 0;
    while (p->ir->ops[i]->kind != op_linear) i++;
    return p->ir->ops[i];
}

START_TEST(a_product_of_many_rows_in_f32_is_split_on_3xtf32)
{
    static const struct {
        const char *text, *tile;
        int length;
    } cases[] = {{PRODUCT("f32", "17", "128"), "tile layer=wgmma_3xtf32 m=128 n=64 k=32", 256},
                 {PRODUCT("f32", "4096", "1367"), "tile layer=wgmma_3xtf32 m=128 n=", 2752},
                 {PRODUCT("f32", "16", "256"), "tile layer=skinny", 256},
                 {PRODUCT("f32", "4096", "63"), "tile layer=simt", 64}}; /* K is below the shortest sums whose errors were compared */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        build b = must_build(cases[i].text, NULL);
        const char *text = ir_print(b.a, b.p->ir);
        ck_assert_msg(strstr(text, cases[i].tile) != NULL, "%s", text);
        ck_assert_int_eq(b.p->packs[0].length, cases[i].length); /* 32 high terms, 32 low terms, and so on */
        ck_assert_int_eq(strstr(b.p->launches[b.p->launch_count - 1].source.body,
                                "TF_KERNEL_WS(t_y_, one_phase<gemm_ws_split<t_y_spec>>)") != NULL,
                         i < 2);
        ck_assert_int_eq(ref_plan_splits(b.p, first_linear(b.p)), i < 2);
        arena_free(b.a);
    }
    const char *off = "gemm layer=simt";
    const tuning simt = {.lines = &off, .count = 1};
    build b = must_build(cases[0].text, &simt);
    ck_assert_int_eq(b.p->packs[0].length, 128);
    ck_assert(!ref_plan_splits(b.p, first_linear(b.p)));
    arena_free(b.a);
}
END_TEST

START_TEST(a_tuning_line_moves_a_product_to_or_from_matrix_units)
{
    const char *off = "gemm layer=simt", *on = "gemm layer=wgmma";
    const tuning simt = {.lines = &off, .count = 1}, wgmma = {.lines = &on, .count = 1};
    build b = must_build(layers[0].text, &simt), c = must_build(PRODUCT("bf16", "16", "64"), &wgmma);
    ck_assert_int_eq(program_table[b.p->launches[0].work->phase->tile.program].frame, frame_mixed);
    ck_assert_int_eq(b.p->packs[0].columns, 96); /* whole blocks of 32 */
    ck_assert_int_eq(program_table[c.p->launches[0].work->phase->tile.program].frame, frame_ws);
    ck_assert_int_eq(c.p->packs[0].columns, 96);
    arena_free(b.a);
    arena_free(c.a);
}
END_TEST

START_TEST(tensor_maps_come_first_and_say_what_they_map)
{
    build b = must_build(layers[0].text, &wgmma);
    const launch *l = &b.p->launches[0];
    ck_assert_int_eq(l->argument_bytes % 128, 0);
    ck_assert_int_eq(l->resident, 1);
    ck_assert_int_eq(l->dynamic_bytes, l->shared_bytes);
    const argument *x = &l->arguments[0], *w = &l->arguments[1];
    ck_assert_int_eq(x->kind, argument_map);
    ck_assert_int_eq(w->kind, argument_map);
    ck_assert_int_eq(w->offset, 128);
    ck_assert_str_eq(x->box->value->name, "x");
    ck_assert_int_eq(extent_value(&x->box->rows, &b.p->ir->dims), 129);
    ck_assert_int_eq(x->box->columns, 64);
    ck_assert_int_eq(extent_value(&x->box->stride, &b.p->ir->dims), 128);
    ck_assert_int_eq(x->box->box_rows, 128);
    ck_assert_ptr_null(w->box->value);
    ck_assert(w->box->pieces); /* 16 columns by 64 bytes each: the weight has 6 by 2 of them, a box 4 by 2 (a stage) */
    ck_assert_int_eq(extent_value(&w->box->rows, &b.p->ir->dims), 6);
    ck_assert_int_eq(w->box->columns, 2);
    ck_assert_int_eq(extent_value(&w->box->stride, &b.p->ir->dims), 2048);
    ck_assert_int_eq(w->box->box_rows, 4);
    ck_assert_int_eq(w->box->box_columns, 2);
    for (int i = 2; i < l->argument_count; i++) ck_assert_int_ge(l->arguments[i].offset, 256);
    ck_assert_ptr_nonnull(strstr(manifest_json(b.a, b.p), "\"kind\": \"map\""));
    arena_free(b.a);
}
END_TEST

START_TEST(an_impossible_layer_of_a_phase_is_an_error_with_its_reason)
{
    static const struct {
        const char *line, *text, *message;
    } cases[] = {{"gemm layer=wgmma", PRODUCT("f32", "64", "64"), "operands are not both bf16 or both f16"},
                 {"gemm layer=wgmma n=48", PRODUCT("bf16", "129", "64"), "n=48; it is 64 to 256"},
                 {"gemm layer=wgmma n=80", PRODUCT("bf16", "129", "64"), "n must be a multiple of 32"},
                 {"gemm layer=wgmma m=64", PRODUCT("bf16", "129", "64"), "m must be 128, or 64 with own_tiles=1"},
                 {"gemm layer=wgmma own_tiles=1 m=96", PRODUCT("bf16", "129", "64"), "m must be 64 or 128"},
                 {"gemm layer=wgmma own_tiles=1 split_k=2", PRODUCT("bf16", "129", "640"), "split_k must be 1 with own_tiles=1"},
                 {"gemm layer=wgmma own_tiles=1 n=224 stages=3", PRODUCT("bf16", "129", "64"), "m * n must be at most 24576"},
                 {"gemm layer=wgmma n=256 stages=5", PRODUCT("bf16", "129", "64"), "bytes of shared memory; a workgroup has 232448"},
                 {"gemm layer=skinny k=32", PRODUCT("bf16", "3", "64"), "k=32; it is 16 to 16"},
                 {"gemm layer=skinny stages=1", PRODUCT("bf16", "3", "64"), "stages=1; it is 2 to 2"},
                 {"gemm layer=skinny n=64 thread_n=1 threads=64", PRODUCT("bf16", "3", "64"),
                  "threads must be several for each column, which share K"},
                 {"gemm layer=wgmma cluster=3", PRODUCT("bf16", "129", "64"), "cluster=3; it is 1 to 2"},
                 {"gemm layer=wgmma cluster=2 group_m=5", PRODUCT("bf16", "129", "64"), "cluster must divide group_m"},
                 {"gemm layer=wgmma smem_epilogue=2", PRODUCT("bf16", "129", "64"), "smem_epilogue=2; it is 0 to 1"},
                 {"gemm layer=wgmma smem_epilogue=1", RESIDUAL, "smem_epilogue=1: the epilogue loads rows from memory"},
                 {"gemm layer=wgmma smem_epilogue=1", ONE_ROW, "smem_epilogue=1: the epilogue loads rows from memory"},
                 {"gemm layer=wgmma_3xtf32", PRODUCT("bf16", "129", "64"), "operands are not both f32"},
                 {"gemm n=192", PRODUCT("f32", "64", "128"), "n=192; it is 64 to 128"},
                 {"gemm n=80", PRODUCT("f32", "64", "128"), "n must be 64, 96 or 128"},
                 {"gemm k=64", PRODUCT("f32", "64", "128"), "k=64; it is 32 to 32"},
                 {"gemm n=128 stages=5", PRODUCT("f32", "64", "128"), "bytes of shared memory; a workgroup has 232448"},
                 {"gemm layer=wgmma split_k=129", PRODUCT("bf16", "129", "64"), "split_k=129; it is 1 to 128"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const tuning t = {.lines = &cases[i].line, .count = 1};
        build b = build_spec(cases[i].text, "sm_90a", &t);
        ck_assert_int_eq(b.code, code_unsupported);
        ck_assert_msg(strstr(arena_diagnostics(b.a), cases[i].message) != NULL, "%s", arena_diagnostics(b.a));
        arena_free(b.a);
    }
}
END_TEST

/* By default this product has tiles for each warpgroup, which allow no slices of K. */
START_TEST(slices_of_k_that_a_user_asks_for_have_a_tile_of_both_warpgroups)
{
    static const char *const lines[] = {"gemm layer=wgmma", "gemm layer=wgmma split_k=2"};
    static const char text[] = "block: t\ndtype: bf16\ndims: {M: 4096, K: 1024, N: 4096}\ninputs: {x: [M, K]}\nparams: {w: [N, K]}\n"
                               "ops:\n  - {out: y, op: linear, in: [x, w]}\noutputs: {y: y}\n";
    for (int i = 0; i < 2; i++) {
        const tuning t = {.lines = &lines[i], .count = 1};
        build b = build_spec(text, "sm_90a", &t);
        ck_assert_msg(b.code == code_ok, "%s", arena_diagnostics(b.a));
        const gemm_warpgroups_tile *x = &b.p->launches[b.p->launch_count - 1].work->tile->gemm_warpgroups;
        ck_assert(x->split_k == i + 1 && x->own_tiles == !i);
        arena_free(b.a);
    }
}
END_TEST

#define RESULTS(N, ops, outputs)                                                                                                    \
    "block: t\ndtype: bf16\ndims: {M: 256, K: 64, N: " N "}\ninputs: {x: [M, K]}\nparams: {w: [N, K]}\nops:\n"                         \
    "  - {out: p, op: linear, in: [x, w]}\n" ops "outputs: {" outputs "}\n"
#define APPEND                                                                                                                      \
    "block: t\ndtype: bf16\ndims: {B: 2, S: 32, K: 64, L: 80}\ninputs: {x: [B, S, K], at: {shape: [B], dtype: i32, range: [0, 40]}}\n" \
    "params: {w: [K, K]}\nstate: {c: [B, 1, L, K]}\nops:\n  - {out: y, op: linear, in: [x, w]}\n"                                    \
    "  - {out: a, op: kv_append, in: [y], state: c, at: at}\n"                                                                         \
    "  - {out: o, op: attention, in: [x, a, a], heads: 1, kv_heads: 1, at: at}\noutputs: {o: o}\n"

/* The address of a staged piece is found by calling the epilogue for its first column, and a rotation needs both columns of a pair. */
START_TEST(interleaved_pairs_bypass_shared_memory)
{
    static const char *const yaml =
        "block: t\ndtype: f16\ndims: {B: 1, S: 33, KV: 1, hd: 34, D: 8}\ninputs: {x: [B, S, D]}\nparams: {w: [KV*hd, D]}\nops:\n"
        "  - {out: q, op: linear, in: [x, w]}\n  - {out: y, op: rope, in: [q], heads: KV, pairing: interleaved}\noutputs: {y: y}\n";
    rig *r = rig_open(&(rig_request){.yaml = yaml, .level = fusion_tile, .target = "sm_90a", .check = true});
    ck_assert_ptr_nonnull(strstr(ir_print(r->a, r->c.plan->ir), "smem_epilogue=0"));
    rig_run(r);
    rig_judge(r);
    rig_close(r);
}
END_TEST

/* With smem_epilogue=1 results are stored in pieces of 16 bytes: rows of 16-bit elements, one output a segment. */
START_TEST(results_whose_rows_are_not_whole_pieces_bypass_shared_memory)
{
    static const struct {
        const char *text, *message; /* NULL: they pass */
    } cases[] = {{RESULTS("64", "  - {out: y, op: silu, in: [p]}\n", "y: y"), NULL},
                 {RESULTS("64", "  - {out: y, op: cast, in: [p], to: f32}\n", "y: y"), "a result is wider than 16 bits"},
                 {RESULTS("8", "  - {out: y, op: silu, in: [p]}\n", "y: y"), NULL},
                 {RESULTS("7", "  - {out: y, op: silu, in: [p]}\n", "y: y"), "a row of a result is shorter than 16 bytes"},
                 {RESULTS("64", "  - {out: y, op: silu, in: [p]}\n", "p: p, y: y"), "a segment has two outputs"},
                 {APPEND, "the epilogue appends to a cache"}};
    static const char *const line = "gemm layer=wgmma smem_epilogue=1";
    const tuning t = {.lines = &line, .count = 1};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        build b = build_spec(cases[i].text, "sm_90a", &t);
        const char *said = arena_diagnostics(b.a);
        ck_assert_msg(cases[i].message ? strstr(said, cases[i].message) != NULL : b.code == code_ok, "%zu: %s", i, said);
        arena_free(b.a);
    }
}
END_TEST

/* Linears that share an input are joined; each makes a segment of packed columns. */
START_TEST(results_of_up_to_16_segments_pass_through_shared_memory)
{
    static const char *const line = "gemm layer=wgmma smem_epilogue=1";
    const tuning t = {.lines = &line, .count = 1};
    for (int count = 16; count <= 17; count++) {
        char params[512] = "", ops[1536] = "", outputs[512] = "", spec[3072];
        for (int i = 0, p = 0, o = 0, q = 0; i < count; i++) {
            p += snprintf(params + p, sizeof params - (size_t)p, "w%d: [N, K], ", i);
            o += snprintf(ops + o, sizeof ops - (size_t)o, "  - {out: y%d, op: linear, in: [x, w%d]}\n", i, i);
            q += snprintf(outputs + q, sizeof outputs - (size_t)q, "y%d: y%d, ", i, i);
        }
        snprintf(spec, sizeof spec,
                 "block: t\ndtype: bf16\ndims: {M: 256, K: 64, N: 64}\ninputs: {x: [M, K]}\nparams: {%.*s}\nops:\n%soutputs: {%.*s}\n",
                 (int)strlen(params) - 2, params, ops, (int)strlen(outputs) - 2, outputs);
        build b = build_spec(spec, "sm_90a", &t);
        ck_assert_int_eq(b.code, count > 16 ? code_unsupported : code_ok);
        ck_assert(count <= 16 || strstr(arena_diagnostics(b.a), "more than 16 segments"));
        arena_free(b.a);
    }
}
END_TEST

/* All parts of a tile of the last round run at once: here 2 workgroups in 8 parts. */
START_TEST(a_tail_has_no_more_parts_than_the_device_has_multiprocessors)
{
    static const char *const line = "gemm layer=swap_ab m=64 n=128 k=64 threads=288 stages=6 row_stages=6 cluster=1 cluster_m=2 split_k=1 "
                                    "tail=8";
    const tuning t = {.lines = &line, .count = 1};
    for (int units = 15; units <= 16; units++) {
        build b = {.a = arena_new(), .text = PRODUCT("bf16", "1000", "1024"), .target = "sm_90a", .tuning = &t, .units = units};
        b.code = arena_run(b.a, build_body, &b);
        ck_assert_int_eq(b.code, units < 16 ? code_unsupported : code_ok);
        if (units < 16) ck_assert_ptr_nonnull(strstr(arena_diagnostics(b.a), "tail * cluster * cluster_m must be at most"));
        arena_free(b.a);
    }
}
END_TEST

/* The second product has one tile of columns, but each cluster of its launch has workgroups for two. The first launch prefetches the
 * weights of the second. */
START_TEST(a_cluster_may_have_more_workgroups_than_its_product_has_tiles_of_columns)
{
    static const char text[] = "block: t\ndtype: bf16\ndims: {M: 129, K: 256}\ninputs: {x: [M, K]}\nparams: {w: [K, K], u: [128, K]}\n"
                               "ops:\n  - {out: p, op: linear, in: [x, w]}\n  - {out: y, op: linear, in: [p, u]}\noutputs: {y: y}\n";
    static const char *const line =
        "gemm layer=swap_ab m=80 n=192 threads=416 cluster=1 cluster_m=2 split_k=2 tail=1 stages=4 row_stages=4";
    const tuning t = {.lines = &line, .count = 1};
    build b = {.a = arena_new(), .text = text, .target = "sm_90a", .tuning = &t, .units = _i};
    b.code = arena_run(b.a, build_body, &b);
    ck_assert_msg(b.code == code_ok, "%s", arena_diagnostics(b.a));
    arena_free(b.a);
}
END_TEST

/* The engine has the same barriers, loads and products (templates/isa/wgmma_host.h): the source that a GPU gets runs here. */
START_TEST(the_host_engine_runs_what_sm_90a_gets)
{
    static const char *const options[] = {"tests/h200/product.yaml --dim=M=131,N=263,K=200 --tile='gemm layer=wgmma'",
                                          "tests/h200/residual.yaml --dim=M=131,N=70,K=66 --dtype=f16 --tile='gemm layer=wgmma'",
                                          "tests/h200/product.yaml --dim=M=129,N=67,K=67 --tile='gemm layer=wgmma'",
                                          "specs/qkv-rope.yaml --dim=S=130,D=64,H=2,KV=1 --tile='gemm layer=wgmma'",
                                          "tests/h200/product.yaml --dim=M=129,N=33,K=72 --check --tile='gemm layer=wgmma'",
                                          "tests/h200/product.yaml --dim=M=131,N=264,K=200 --tile='gemm layer=wgmma'",
                                          "tests/h200/product.yaml --dim=M=385,N=40,K=72 --check --tile='gemm layer=wgmma'",
                                          "specs/swiglu.yaml --dim=B=1,S=141,D=72,F=136 --tile='gemm layer=wgmma'",
                                          "specs/bert-block.yaml --dim=S=130,D=64,H=2,F=96",
                                          "specs/attention.yaml --dim=S=67,hd=48",
                                          "specs/attention.yaml --dim=S=150,hd=64,B=2 --dtype=f16",
                                          "tests/h200/residual.yaml --dim=M=131,N=70,K=133 --dtype=f32",
                                          "tests/h200/product.yaml --dim=M=37,N=33,K=160 --dtype=f32 --check",
                                          "specs/swiglu.yaml --dtype=f32 --dim=B=1,S=33,D=130,F=66"};
    const char *program = getenv("TFGEN") ? getenv("TFGEN") : "./tfgen";
    char command[512];
    snprintf(command, sizeof command, "o=$(%s run %s --target=sm_90a --repeat=0) && echo \"$o\" | grep -q 'layers.* wgmma'", program,
             options[_i]);
    ck_assert_msg(system(command) == 0, "%s", command);
}
END_TEST

/* On a device of two multiprocessors the two warpgroups of a workgroup compute several tiles each, alternately. If they did not take turns
 * at the stages, a warpgroup would multiply what a stage held before. */
START_TEST(warpgroups_with_tiles_of_their_own_take_turns)
{
    static const char *const options[] =
        {"--dim=M=260,N=130,K=136 --tile='gemm layer=wgmma own_tiles=1 m=64 n=64 stages=2 cluster=1'",
         "--dim=M=390,N=133,K=136 --dtype=f16 --tile='gemm layer=wgmma own_tiles=1 m=128 n=64 stages=2 cluster=2'"};
    const char *program = getenv("TFGEN") ? getenv("TFGEN") : "./tfgen";
    char command[512];
    snprintf(command, sizeof command,
             "m=$(mktemp -d) && sed 's/^units: {is: 132/units: {is: 2/' specs/devices/h200.yaml >$m/two.yaml && "
             "%s run tests/h200/product.yaml --target=sm_90a --device-model=$m/two.yaml --repeat=0 -q %s; bad=$?; rm -r $m; exit $bad",
             program, options[_i]);
    ck_assert_msg(system(command) == 0, "%s", command);
}
END_TEST

/* Several lanes hold the same sum and one of them stores it. (AMD waves run in lockstep, so the checker orders the writes of their
 * lanes.) */
START_TEST(the_checker_sees_no_fault_in_products_of_few_rows)
{
    static const char *const options[] =
        {"specs/linear.yaml --target=sm_80 --dtype=f32 --dim=B=1,S=2,D=72,F=40",
         "specs/linear.yaml --target=sm_90a --dtype=f32 --dim=B=1,S=1,D=72,F=40",
         /* a warp stages the results of 128 columns at a time, of which only 96 exist */
         "specs/swiglu.yaml --target=sm_90a --dim=B=1,S=16,D=64,F=33 --tile='gate_up: layer=wgmma n=128 stages=2 smem_epilogue=1'"};
    const char *program = getenv("TFGEN") ? getenv("TFGEN") : "./tfgen";
    char command[512];
    snprintf(command, sizeof command, "%s run %s --check --repeat=1 -q", program, options[_i]);
    ck_assert_msg(system(command) == 0, "%s", command);
}
END_TEST

/* No spills, no serialised products, no ignored register hand-over: `tfgen --code` refuses those (runtime/compile/nvrtc.c). */
START_TEST(nvrtc_compiles_every_form_of_a_product_on_wgmma)
{
    static const char *const options[] =
        {"specs/gpt2-block.yaml",
         "specs/llama-block.yaml --dim=D=272,F=342",
         "specs/linear.yaml --dtype=f16 --dim=D=67,F=131",
         "specs/llama-block.yaml --preset=llama-8b",
         "specs/attention.yaml --dim=S=300,hd=64",
         "specs/attention.yaml --dim=S=300,hd=256",
         "specs/attention.yaml --dim=S=3000,hd=128 --dtype=f16",
         "specs/llama-block.yaml --dtype=f32 --dim=D=272,F=342",
         "specs/bert-block.yaml --dtype=f32 --dim=S=129,D=130,H=5,F=257", /* the widest tiles together with the most row scalars */
         "tests/specs/f32-matmul.yaml --tile='gemm layer=simt m=64 n=64 k=32 thread_m=4 thread_n=8 threads=512 split_k=1'",
         "tests/specs/products.yaml --tile='gemm layer=skinny m=4 thread_m=4'",
         "tests/h200/product.yaml --dim=M=4096,N=4096,K=1024 --tile='gemm layer=wgmma own_tiles=1 m=128 n=192 stages=5'"};
    const char *program = getenv("TFGEN") ? getenv("TFGEN") : "./tfgen";
    char command[512];
    snprintf(command, sizeof command, "d=$(mktemp -d) && %s %s --target=sm_90a --code -q -o $d; s=$?; rm -rf $d; exit $s", program,
             options[_i]);
    const int status = system(command);
    if (status == code_unsupported << 8) printf("skipped: no NVRTC\n");
    else ck_assert_msg(status == 0, "%s: status %d", command, status >> 8);
}
END_TEST

/* Runs `tfgen emit --code` for sm_90a and returns what it says; NULL without NVRTC. */
static char *said_by_code(arena *a, const char *options)
{
    const char *program = getenv("TFGEN") ? getenv("TFGEN") : "./tfgen";
    const char *command = arena_printf(a,
                                       "d=$(mktemp -d) && %s emit %s --target=sm_90a --code -o $d 2>&1; s=$?; "
                                       "grep -h 'tile layer' $d/plan.ir; rm -rf $d; exit $s",
                                       program, options);
    static char text[16384];
    FILE *f = popen(command, "r");
    ck_assert_ptr_nonnull(f);
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    const int status = pclose(f);
    if (status == code_unsupported << 8) return printf("skipped: no NVRTC\n"), NULL;
    ck_assert_msg(status == 0, "%s: %s", options, text);
    return text;
}

/* Tiles whose columns all exist, and whose blocks of 32 columns do not fill the last stage of results. */
START_TEST(accumulators_of_staged_results_stay_in_registers)
{
    static const char *const options[] =
        {"specs/swiglu.yaml --dim=B=1,S=128,D=512,F=1120 --tile='gate_up: layer=wgmma n=224 stages=4 smem_epilogue=1'",
         "specs/swiglu.yaml --dim=B=1,S=128,D=512,F=960 --tile='gate_up: layer=wgmma n=192 stages=5 smem_epilogue=1'",
         "specs/gpt2-block.yaml --dim=B=1,S=256,D=512,H=8,F=2240 --tile='fc: layer=wgmma n=224 stages=4 smem_epilogue=1'"};
    arena *a = arena_new();
    const char *text = said_by_code(a, options[_i]);
    ck_assert_msg(!text || !strstr(text, "planned again"), "%s: %s", options[_i], text);
    arena_free(a);
}
END_TEST

START_TEST(a_tile_that_spills_first_loses_its_tail)
{
    arena *a = arena_new();
    const char *text = said_by_code(a, "tests/h200/product.yaml --dim=M=192,N=37760,K=1024 "
                                       "--tile='gemm: layer=swap_ab m=192 n=192 threads=512 stages=5 row_stages=4 tail=2'");
    ck_assert_msg(!text || (strstr(text, "planned again") && strstr(text, " m=192 n=192 ") && strstr(text, " tail=1 ")), "%s", text);
    arena_free(a);
}
END_TEST

/* With a tail, tiles of 160 and more columns spill unless they have few rows. */
START_TEST(the_planner_gives_no_tail_to_tiles_that_it_would_make_spill)
{
    for (int rows = 80; rows <= 1024; rows += 8) {
        arena *keep = arena_new();
        build b = must_build(arena_printf(keep,
                                          "block: t\ndtype: bf16\ndims: {M: %d, N: 14336, K: 4096}\ninputs: {x: [M, K]}\n"
                                          "params: {w: [N, K], v: [N, K]}\nops:\n  - {out: g, op: linear, in: [x, w]}\n"
                                          "  - {out: u, op: linear, in: [x, v]}\n  - {out: y, op: mul, in: [g, u]}\noutputs: {y: y}\n",
                                          rows),
                             NULL);
        const ir_tile *t = &b.p->launches[0].work->phase->tile;
        const bool tail = t->program == program_gemm_swap_ab && t->gemm_swap_ab.tail > 1;
        ck_assert_msg(!tail || t->gemm_swap_ab.n <= 128, "%d rows: m=%d n=%d", rows, t->gemm_swap_ab.m, t->gemm_swap_ab.n);
        arena_free(b.a), arena_free(keep);
    }
}
END_TEST

/* 12 tiles of all 112 rows by 64 columns would leave nine of ten multiprocessors idle. */
START_TEST(few_columns_of_short_k_are_cut_into_tiles_of_few_rows)
{
    build b = must_build("block: t\ndtype: bf16\ndims: {M: 112, N: 768, K: 576}\ninputs: {x: [M, K]}\nparams: {w: [N, K], d: [N]}\nops:\n"
                         "  - {out: l, op: linear, in: [x, w]}\n  - {out: y, op: add, in: [l, d]}\noutputs: {y: y}\n",
                         NULL);
    const ir_tile *t = &b.p->launches[0].work->phase->tile;
    ck_assert_int_eq(t->program, program_gemm_swap_ab);
    ck_assert_int_le(t->gemm_swap_ab.m, 32);
    arena_free(b.a);
}
END_TEST

/* A residual behind a long K, of 129 to 256 rows: workgroups of both row tiles share weights, and two of them split K. */
#define LINEAR(M, N, K, ops)                                                                                                        \
    "block: t\ndtype: bf16\ninputs: {x: [" M ", " K "]}\nparams: {w: [" N ", " K "]}\nops:\n" ops "outputs: {y: y}\n"

#define SILU "  - {out: l, op: linear, in: [x, w]}\n  - {out: y, op: silu, in: [l]}\n"

/* wgmma is predicted to be 3 % faster here, but the usual costs prefer swap_ab. */
START_TEST(a_program_loses_to_another_only_if_that_is_clearly_faster)
{
    build b = must_build(LINEAR("777", "2048", "1024", SILU), NULL);
    const char *text = ir_print(b.a, b.p->ir), *lost = strstr(text, "not wgmma: ");
    double wgmma_us, swap_ab_us;
    ck_assert_ptr_nonnull(lost);
    ck_assert_int_eq(sscanf(lost, "not wgmma: %lf us, swap_ab %lf us", &wgmma_us, &swap_ab_us), 2);
    ck_assert_double_lt(wgmma_us, swap_ab_us);
    ck_assert_double_gt(wgmma_us, 0.95 * swap_ab_us);
    arena_free(b.a);
}
END_TEST

/* H200, us, with other ops in the epilogue: by tiles of 128 rows 12.7, of 64 9.3. */
START_TEST(few_rows_with_an_epilogue_that_computes_have_tiles_of_64_rows)
{
    build b = must_build(LINEAR("120", "1856", "2304", SILU), NULL);
    const ir_tile *t = b.p->launches[b.p->launch_count - 1].work[0].tile;
    ck_assert_msg(t->program != program_gemm_wgmma || t->gemm_warpgroups.m == 64, "%s", ir_print(b.a, b.p->ir));
    arena_free(b.a);
}
END_TEST

/* Products of 65 to 128 rows with a SiLU, whose weights come from DRAM unless K is short. In comments, us on an H200. */
static const struct {
    const char *text, *tile;
} middle[] = {
    /* weights are read once: 56, by tiles of 40 rows 78; two workgroups multicast rows: without that 60 */
    {LINEAR("79", "7168", "15600", SILU), "m=80 n=128 k=64 threads=288 stages=8 row_stages=8 cluster=2 cluster_m=1 split_k=2"},
    /* four workgroups multicast rows: 76.6, without that 81.3 */
    {LINEAR("79", "21504", "7168", SILU), "m=80 n=192 k=64 threads=416 stages=6 row_stages=6 cluster=4 cluster_m=1 split_k=1"},
    /* clusters of four would not all run at once */
    {LINEAR("88", "8192", "8192", SILU), "m=96 n=128 k=64 threads=288 stages=8 row_stages=8 cluster=1 cluster_m=1 split_k=2"},
    /* 256 workgroups in clusters of four, two to a multiprocessor, would not all run at once: 45; 128 in clusters of two 27 */
    {LINEAR("100", "4096", "11008", SILU), "m=112 n=64 k=128 threads=160 stages=5 row_stages=5 cluster=1 cluster_m=1 split_k=2"},
    /* the same with clusters of eight: 56, 33 */
    {LINEAR("112", "4096", "14336", SILU), "m=112 n=64 k=128 threads=160 stages=5 row_stages=5 cluster=1 cluster_m=1 split_k=2"},
    /* 192 in clusters of eight do run at once: 20; by 96x96 26 */
    {LINEAR("96", "1536", "13824", SILU), "m=96 n=64 k=128 threads=160 stages=3 row_stages=2 cluster=1 cluster_m=1 split_k=8"},
    /* short K: tiles of fewer rows occupy more multiprocessors */
    {LINEAR("84", "592", "128", SILU), "m=16 n=64"},
    {LINEAR("87", "3392", "512", SILU), "m=32 n=96"},
};

START_TEST(products_of_65_to_128_rows_have_the_tile_that_was_the_fastest)
{
    build b = must_build(middle[_i].text, NULL);
    const char *text = ir_print(b.a, b.p->ir);
    ck_assert_msg(strstr(text, arena_printf(b.a, "layer=swap_ab %s", middle[_i].tile)) != NULL, "%s", text);
    arena_free(b.a);
}
END_TEST

/* A tile that spills keeps its rows and the number of workgroups, so that weights are still read once; only then it loses rows. */
START_TEST(a_tile_of_all_rows_that_spills_has_half_the_columns_and_slices)
{
    build b = must_build(LINEAR("104", "16384", "4096", SILU), NULL);
    const problem q = plan_problem(b.a, b.p, b.p->launches[b.p->launch_count - 1].work[0].phase);
    ir_tile t = {.program = program_gemm_swap_ab};
    t.gemm_swap_ab = (gemm_swap_ab_tile){
        .m = 112, .n = 256, .k = 64, .threads = 544, .stages = 5, .row_stages = 4, .cluster = 1, .cluster_m = 1, .split_k = 2, .tail = 1};
    const gemm_swap_ab_tile *x = &t.gemm_swap_ab;
    ck_assert(program_at(program_gemm_swap_ab)->smaller(&q, &t));
    ck_assert_msg(x->m == 112 && x->n == 128 && x->split_k == 1 && x->threads == 288, "m=%d n=%d", x->m, x->n);
    ck_assert_int_gt(x->stages, 5);
    ck_assert(program_at(program_gemm_swap_ab)->smaller(&q, &t));
    ck_assert_msg(x->m == 64 && x->n == 128, "m=%d n=%d", x->m, x->n);
    arena_free(b.a);
}
END_TEST

START_TEST(two_row_tiles_of_long_k_share_weights_and_split_k)
{
    build b = must_build("block: t\ndtype: bf16\ndims: {M: 189, N: 4096, K: 18880}\ninputs: {x: [M, K], r: [M, N]}\nparams: {w: [N, K]}\n"
                         "ops:\n  - {out: l, op: linear, in: [x, w]}\n  - {out: y, op: add, in: [l, r]}\noutputs: {y: y}\n",
                         NULL);
    const ir_tile *t = &b.p->launches[0].work->phase->tile;
    ck_assert_int_eq(t->program, program_gemm_swap_ab);
    ck_assert_int_eq(t->gemm_swap_ab.m, 96);
    ck_assert_int_eq(t->gemm_swap_ab.cluster_m, 2);
    ck_assert_int_eq(t->gemm_swap_ab.tail, 2);
    arena_free(b.a);
}
END_TEST

/* ---- AMD's machines */
static const struct {
    const char *text, *target, *tile;
} amd_layers[] = {{PRODUCT("bf16", "4096", "64"), "gfx942", "layer=mfma m=64 n=64 k=64 threads=256 stages=1"},
                  {PRODUCT("bf16", "17", "20"), "gfx908", "layer=register_fed m=32 n=32"},
                  {PRODUCT("f16", "65", "67"), "gfx1151", "layer=wmma m=64 n=64 k=64"},
                  {PRODUCT("f32", "17", "20"), "gfx90a", "layer=mfma m=32 n=128 k=32"},
                  {PRODUCT("f16", "64", "67"), "gfx1100", "layer=register_fed m=64 n=32"},
                  {PRODUCT("f32", "64", "64"), "gfx1201", "layer=simt"},
                  {PRODUCT("bf16", "16", "64"), "gfx950", "layer=register_fed m=16"}};

START_TEST(a_product_of_many_rows_is_on_the_matrix_units_that_a_machine_has)
{
    build b = build_spec(amd_layers[_i].text, amd_layers[_i].target, NULL);
    ck_assert_msg(b.code == code_ok, "%s", arena_diagnostics(b.a));
    const char *text = ir_print(b.a, b.p->ir);
    ck_assert_msg(strstr(text, amd_layers[_i].tile) != NULL, "%s", text);
    const bool matrix = strstr(amd_layers[_i].tile, "mma") || strstr(amd_layers[_i].tile, "mfma"),
               register_fed = strstr(amd_layers[_i].tile, "register_fed") != NULL;
    const launch *l = &b.p->launches[b.p->launch_count - 1];
    ck_assert_int_eq(strstr(l->source.body, "TF_KERNEL_INTERLEAVED(t_y_, one_phase<gemm_mfma<t_y_spec>>)") != NULL, matrix);
    ck_assert_int_eq(strstr(l->source.body, "TF_KERNEL_SLICED_K(t_y_, gemm_register_fed<t_y_spec>)") != NULL, register_fed);
    ck_assert_int_eq(strstr(l->source.head, "#define TF_OPERAND_BYTES ") != NULL, matrix || register_fed);
    ck_assert_int_eq(l->dynamic_bytes, 0);
    arena_free(b.a);
}
END_TEST

#define ATTENTION(type, S, hd, more)                                                                                                \
    "block: t\ndtype: " type "\ndims: {B: 1, S: " S ", H: 8, hd: " hd "}\ninputs: {q: [B, S, H*hd], k: [B, S, H*hd], v: [B, S, H*hd]}\n" \
    "ops:\n  - {out: a, op: attention, in: [q, k, v], heads: H, causal: true" more "}\noutputs: {y: a}\n"

#define MANY_HEADS(S)                                                                                                     \
    "block: t\ndtype: f32\ndims: {B: 32, S: " S ", H: 16, hd: 64}\ninputs: {q: [B, S, H*hd], k: [B, S, H*hd], v: [B, S, H*hd]}\n" \
    "ops:\n  - {out: a, op: attention, in: [q, k, v], heads: H, causal: true}\noutputs: {y: a}\n"

START_TEST(each_thread_has_its_own_query_if_queries_suffice)
{
    static const char *const cases[][2] = {{MANY_HEADS("128"), "layer=simt block_q=128 block_k=64 team=1 threads=128"},
                                           {MANY_HEADS("16"), "layer=simt block_q=64 block_k=32 team=4 threads=256"}};
    for (int i = 0; i < 2; i++) {
        build b = must_build(cases[i][0], NULL);
        const char *text = ir_print(b.a, b.p->ir);
        ck_assert_msg(strstr(text, cases[i][1]) != NULL, "%s", text);
        arena_free(b.a);
    }
}
END_TEST

static const struct {
    const char *text, *target, *tile;
} amd_attentions[] = {{ATTENTION("bf16", "8192", "128", ""), "gfx908", "layer=mfma block_q=64 block_k=32 threads=128"},
                      {ATTENTION("bf16", "8192", "128", ""), "gfx942", "layer=mfma block_q=128 block_k=32 threads=256"},
                      {ATTENTION("bf16", "32768", "128", ""), "gfx942", "layer=mfma block_q=256 block_k=64 threads=512 chiplets=8"},
                      {ATTENTION("f16", "17", "256", ", window: 5"), "gfx90a", "layer=mfma block_q=128 block_k=32 threads=256 chiplets=1"},
                      {ATTENTION("f16", "17", "256", ", softcap: 5"), "gfx950", "layer=mfma block_q=128 block_k=64 threads=256"},
                      {ATTENTION("bf16", "8192", "128", ""), "gfx1100", "layer=wmma block_q=128 block_k=32 threads=256"},
                      {ATTENTION("f16", "17", "40", ""), "gfx1201", "layer=wmma block_q=64 block_k=64 threads=128"},
                      {ATTENTION("bf16", "64", "136", ""), "gfx1100", "layer=simt"},
                      {ATTENTION("f32", "64", "64", ""), "gfx942", "layer=simt"},
                      {ATTENTION("bf16", "64", "20", ""), "gfx942", "layer=simt"},
                      {ATTENTION("bf16", "16", "64", ""), "gfx950", "layer=simt"}};

START_TEST(attention_of_many_queries_is_on_the_matrix_units)
{
    build b = build_spec(amd_attentions[_i].text, amd_attentions[_i].target, NULL);
    ck_assert_msg(b.code == code_ok, "%s", arena_diagnostics(b.a));
    const char *text = ir_print(b.a, b.p->ir);
    ck_assert_msg(strstr(text, amd_attentions[_i].tile) != NULL, "%s", text);
    const bool matrix = strstr(amd_attentions[_i].tile, "simt") == NULL;
    ck_assert_int_eq(strstr(b.p->launches[0].source.body,
                            "TF_KERNEL_INTERLEAVED(t_attention_, one_phase<attention_mfma<t_attention_spec>>)") != NULL,
                     matrix);
    arena_free(b.a);
}
END_TEST

START_TEST(an_impossible_attention_on_matrix_units_is_an_error_with_its_reason)
{
    static const struct {
        const char *target, *text, *line, *message;
    } cases[] = {{"gfx942", ATTENTION("f32", "64", "64", ""), "attention layer=mfma", "operands are neither bf16 nor f16"},
                 {"gfx942", ATTENTION("bf16", "64", "20", ""), "attention layer=mfma", "not a multiple of 8 up to 256"},
                 {"gfx1100", ATTENTION("bf16", "64", "136", ""), "attention layer=wmma", "the head size is above 128"},
                 {"gfx942", ATTENTION("bf16", "64", "64", ""), "attention block_q=128", "block_q must be half of threads"},
                 {"gfx942", ATTENTION("bf16", "64", "64", ""), "attention block_k=16", "block_k=16; it is 32 to 64"},
                 {"gfx942", ATTENTION("bf16", "64", "64", ""), "attention block_k=48", "block_k must be 32 or 64"},
                 {"gfx942", ATTENTION("bf16", "64", "64", ""), "attention chiplets=0", "chiplets=0; it is 1 to 64"},
                 {"gfx942", ATTENTION("bf16", "64", "256", ""), "attention block_k=64", "bytes of shared memory"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const tuning t = {.lines = &cases[i].line, .count = 1};
        build b = build_spec(cases[i].text, cases[i].target, &t);
        ck_assert_msg(b.code == code_unsupported, "%s %s: %d", cases[i].target, cases[i].line, b.code);
        ck_assert_msg(strstr(arena_diagnostics(b.a), cases[i].message) != NULL, "%s: %s", cases[i].line, arena_diagnostics(b.a));
        arena_free(b.a);
    }
}
END_TEST

/* Odd sizes, sizes of a tile plus one, every kind of mask, head sizes that divide 32 and not; the race checker runs on two of them. */
START_TEST(the_host_engine_runs_the_attention_that_amd_gets)
{
    static const char *const options[] = {"tests/specs/attention-forms.yaml --target=gfx942 --check",
                                          "tests/specs/attention-forms.yaml --target=gfx950 --dtype=f16 --dim=S=61,hd=136",
                                          "specs/attention.yaml --target=gfx950 --dim=S=129,H=2,KV=1,hd=64 --check",
                                          "specs/attention.yaml --target=gfx90a --dim=S=65,H=2,KV=1,hd=256",
                                          "specs/attention.yaml --target=gfx942 --dim=B=2,S=131,H=6,KV=2,hd=128 --dtype=f16",
                                          "specs/attention.yaml --target=gfx942 --dim=S=53,H=2,KV=2,hd=8",
                                          "tests/specs/attention-forms.yaml --target=gfx1100 --check",
                                          "specs/attention.yaml --target=gfx1201 --dim=B=1,S=131,H=2,KV=1,hd=128 --dtype=f16",
                                          "specs/attention.yaml --target=gfx942 --dim=B=2,S=300,H=12,KV=4,hd=16",
                                          "specs/attention.yaml --target=gfx950 --dim=B=3,S=200,H=3,KV=3,hd=16"};
    const char *program = getenv("TFGEN") ? getenv("TFGEN") : "./tfgen";
    char command[512];
    snprintf(command, sizeof command, "o=$(%s run %s --repeat=0) && echo \"$o\" | grep -q 'layers.*[mw]m*f*ma'", program, options[_i]);
    ck_assert_msg(system(command) == 0, "%s", command);
}
END_TEST

/* `tfgen --code` refuses code that uses scratch memory, or another amount of LDS than planned. */
START_TEST(clang_compiles_the_attention_planned_for_amd)
{
    static const char *const options[] = {"gfx90a --dim=S=4096,hd=256", "gfx942 --preset=llama-8b", "gfx942 --dim=S=64,hd=160 --dtype=f16",
                                          "gfx950 --preset=llama-1b", "gfx1100 --preset=llama-8b", "gfx1201 --dim=S=64,hd=128 --dtype=f16"};
    const char *program = getenv("TFGEN") ? getenv("TFGEN") : "./tfgen";
    char command[512];
    snprintf(command, sizeof command,
             "d=$(mktemp -d) && %s specs/attention.yaml --compiler=clang --target=%s --code -q -o $d; s=$?; rm -rf $d; exit $s", program,
             options[_i]);
    const int status = system(command);
    if (status == code_unsupported << 8) printf("skipped: no clang for AMD\n");
    else ck_assert_msg(status == 0, "%s: status %d", command, status >> 8);
}
END_TEST

START_TEST(many_tiles_are_large_and_aligned_rows_have_two_slots_where_loads_go_to_lds)
{
    static const char large[] = "block: t\ndtype: bf16\ndims: {M: 4096, K: 4096, N: 14336}\ninputs: {x: [M, K]}\nparams: {w: [N, K]}\n"
                                "ops:\n  - {out: y, op: linear, in: [x, w]}\noutputs: {y: y}\n";
    static const struct {
        const char *target, *tile;
        int shared;
    } cases[] = {{"gfx908", "m=128 n=256 k=64 threads=512 stages=1 group_m=8 chiplets=1 chunk=120", 49152},
                 {"gfx90a", "m=256 n=256 k=64 threads=512 stages=1 group_m=8 chiplets=1 chunk=104", 65536},
                 {"gfx942", "m=256 n=256 k=64 threads=512 stages=1 group_m=8 chiplets=8 chunk=38", 65536},
                 {"gfx950", "m=256 n=256 k=64 threads=512 stages=2 group_m=8 chiplets=8 chunk=32", 131072},
                 {"gfx1100", "m=128 n=128 k=64 threads=256 stages=1", 32768}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        build b = build_spec(large, cases[i].target, NULL);
        ck_assert_msg(b.code == code_ok, "%s", arena_diagnostics(b.a));
        ck_assert_ptr_nonnull(strstr(ir_print(b.a, b.p->ir), cases[i].tile));
        ck_assert_int_eq(b.p->launches[0].shared_bytes, cases[i].shared);
        arena_free(b.a);
    }
}
END_TEST

START_TEST(an_impossible_tile_of_matrix_units_is_an_error_with_its_reason)
{
    static const struct {
        const char *target, *line, *message;
    } cases[] = {{"gfx942", "gemm layer=wmma", "layer=wmma: the target lacks these instructions"},
                 {"gfx1100", "gemm layer=mfma", "layer=mfma: the target lacks these instructions"},
                 {"gfx942", "gemm layer=wgmma", "the target lacks these instructions"},
                 {"gfx942", "gemm m=48", "waves must divide m into rows of 16"},
                 {"gfx942", "gemm n=512", "n=512; it is 16 to 256"},
                 {"gfx942", "gemm k=32", "k must be 128 bytes"},
                 {"gfx942", "gemm threads=192", "threads must be 128, 256 or 512"},
                 {"gfx942", "gemm m=256 n=256", "a thread keeps at most 128 results"},
                 {"gfx942", "gemm m=256 n=256 threads=512 stages=2", "stages must be 1; where loads go to LDS directly"},
                 {"gfx950", "gemm m=64 n=128 threads=512 stages=2", "stages must be 1; where loads go to LDS directly"},
                 {"gfx1201", "gemm m=256 n=128 threads=256", "a thread keeps at most 64 results"},
                 {"gfx942", "gemm group_m=0", "group_m=0; it is 1"},
                 {"gfx942", "gemm chunk=0", "chunk=0; it is 1"},
                 {"gfx942", "gemm chiplets=0", "chiplets=0; it is 1 to 64 (dies (XCDs) among which tiles are remapped; 1: no remap)"},
                 {"gfx90a", "gemm chiplets=65", "chiplets=65; it is 1 to 64"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const tuning t = {.lines = &cases[i].line, .count = 1};
        build b = build_spec(PRODUCT("bf16", "65", "64"), cases[i].target, &t);
        ck_assert_msg(b.code == code_unsupported, "%s %s: %d", cases[i].target, cases[i].line, b.code);
        ck_assert_msg(strstr(arena_diagnostics(b.a), cases[i].message) != NULL, "%s: %s", cases[i].line, arena_diagnostics(b.a));
        arena_free(b.a);
    }
}
END_TEST

/* Offsets from a tile's first row of A have 32 bits on AMD. The test plans such sizes but does not allocate them. */
START_TEST(long_rows_use_matrix_units_if_32_bit_offsets_reach_all_rows_of_a_tile)
{
    static const struct {
        const char *target, *line, *text, *wanted; /* wanted: a part of the plan, or the error */
    } cases[] = {{"gfx942", NULL, PRODUCT("bf16", "64", "33554432"), "tile layer=register_fed m=64 "},
                 {"gfx942", NULL, PRODUCT("bf16", "64", "33554440"), "tile layer=register_fed m=32 "},
                 {"gfx1100", NULL, PRODUCT("bf16", "64", "67108864"), "tile layer=register_fed m=32 "},
                 {"gfx942", NULL, PRODUCT("bf16", "64", "134217728"), "tile layer=register_fed m=16 "},
                 {"gfx942", NULL, PRODUCT("bf16", "64", "134217736"), "not register_fed: rows of A exceed 32-bit offsets"},
                 {"sm_80", NULL, PRODUCT("bf16", "32", "134217736"), "tile layer=register_fed m=32 "},
                 {"gfx942", "gemm layer=register_fed m=64", PRODUCT("bf16", "64", "33554432"), "tile layer=register_fed m=64 "},
                 {"gfx942", "gemm layer=register_fed m=64", PRODUCT("bf16", "64", "33554440"),
                  "rows of A span more than 32-bit offsets reach"},
                 {"gfx1201", "gemm layer=register_fed", PRODUCT("bf16", "1", "134217736"), "rows of A exceed 32-bit offsets"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const tuning t = {.lines = &cases[i].line, .count = 1};
        build b = build_spec(cases[i].text, cases[i].target, cases[i].line ? &t : NULL);
        const char *said = b.code == code_ok ? ir_print(b.a, b.p->ir) : arena_diagnostics(b.a);
        ck_assert_msg(b.code == code_ok || (cases[i].line && b.code == code_unsupported), "%zu: %d: %s", i, b.code, said);
        ck_assert_msg(strstr(said, cases[i].wanted) != NULL, "%zu: no %s in %s", i, cases[i].wanted, said);
        arena_free(b.a);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("layers");
    TCase *t = tcase_create("layers");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, a_target_with_matrix_units_names_their_dtypes);
    tcase_add_test(t, a_target_that_multiplies_by_waves_includes_those_headers);
    tcase_add_test(t, products_of_one_column_on_wgmma_are_not_staged);
    tcase_add_test(t, long_rows_use_matrix_units_if_32_bit_offsets_reach_all_rows_of_a_tile);
    tcase_add_loop_test(t, a_product_of_many_rows_in_16_bits_is_on_wgmma, 0, sizeof layers / sizeof *layers);
    tcase_add_test(t, a_product_of_many_rows_in_f32_is_split_on_3xtf32);
    tcase_add_test(t, a_long_k_of_few_results_is_split);
    tcase_add_test(t, a_matmul_in_16_bits_has_the_tile_that_was_timed_faster);
    tcase_add_test(t, swap_ab_splits_long_sums_of_f32_results);
    tcase_add_test(t, a_tuning_line_moves_a_product_to_or_from_matrix_units);
    tcase_add_test(t, tensor_maps_come_first_and_say_what_they_map);
    tcase_add_test(t, an_impossible_layer_of_a_phase_is_an_error_with_its_reason);
    tcase_add_test(t, slices_of_k_that_a_user_asks_for_have_a_tile_of_both_warpgroups);
    tcase_add_test(t, interleaved_pairs_bypass_shared_memory);
    tcase_add_test(t, results_whose_rows_are_not_whole_pieces_bypass_shared_memory);
    tcase_add_test(t, results_of_up_to_16_segments_pass_through_shared_memory);
    tcase_add_test(t, a_tail_has_no_more_parts_than_the_device_has_multiprocessors);
    tcase_add_loop_test(t, a_cluster_may_have_more_workgroups_than_its_product_has_tiles_of_columns, 0, 2);
    tcase_add_loop_test(t, the_checker_sees_no_fault_in_products_of_few_rows, 0, 3);
    tcase_add_loop_test(t, the_host_engine_runs_what_sm_90a_gets, 0, 7);
    tcase_add_loop_test(t, warpgroups_with_tiles_of_their_own_take_turns, 0, 2);
    TCase *more = suite_long(s, "more layers", 120);
    add_some_now(t, more, nvrtc_compiles_every_form_of_a_product_on_wgmma, 12, (const int[]){1, 4, 7, 9, 10, 11, -1});
    tcase_add_loop_test(t, accumulators_of_staged_results_stay_in_registers, 0, 3);
    tcase_add_test(t, a_tile_that_spills_first_loses_its_tail);
    tcase_add_test(t, the_planner_gives_no_tail_to_tiles_that_it_would_make_spill);
    tcase_add_test(t, few_columns_of_short_k_are_cut_into_tiles_of_few_rows);
    tcase_add_test(t, a_program_loses_to_another_only_if_that_is_clearly_faster);
    tcase_add_test(t, few_rows_with_an_epilogue_that_computes_have_tiles_of_64_rows);
    tcase_add_loop_test(t, products_of_65_to_128_rows_have_the_tile_that_was_the_fastest, 0, sizeof middle / sizeof *middle);
    tcase_add_test(t, a_tile_of_all_rows_that_spills_has_half_the_columns_and_slices);
    tcase_add_test(t, two_row_tiles_of_long_k_share_weights_and_split_k);
    tcase_add_loop_test(t, a_product_of_many_rows_is_on_the_matrix_units_that_a_machine_has, 0, sizeof amd_layers / sizeof *amd_layers);
    tcase_add_test(t, each_thread_has_its_own_query_if_queries_suffice);
    tcase_add_loop_test(t, attention_of_many_queries_is_on_the_matrix_units, 0, sizeof amd_attentions / sizeof *amd_attentions);
    tcase_add_test(t, an_impossible_attention_on_matrix_units_is_an_error_with_its_reason);
    tcase_add_loop_test(t, the_host_engine_runs_the_attention_that_amd_gets, 0, 5);
    tcase_add_loop_test(t, clang_compiles_the_attention_planned_for_amd, 0, 3);
    tcase_add_test(t, many_tiles_are_large_and_aligned_rows_have_two_slots_where_loads_go_to_lds);
    tcase_add_test(t, an_impossible_tile_of_matrix_units_is_an_error_with_its_reason);
    suite_add_tcase(s, t);
    tcase_add_loop_test(more, the_host_engine_runs_what_sm_90a_gets, 7, 14);
    tcase_add_loop_test(more, the_host_engine_runs_the_attention_that_amd_gets, 5, 10);
    tcase_add_loop_test(more, clang_compiles_the_attention_planned_for_amd, 3, 6);
    return run_suite(s);
}
