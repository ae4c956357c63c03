/* Writes the spec struct of a product on wgmma, which loads both operands through tensor maps (docs/spec-structs.md: gemm on matrix units).
 * Refuses what gen/emit/gemm.c refuses. */
#include "gen/emit/gemm.h"
#include "ir/graph/format.h"

static void write_map(gemm *g, const char *name, const tensor_box *box)
{
    write_line(g->w, "DEV static const tensor_map &%s(const args &p) { return %s; }", name,
               c_text(g->e->a, use_map(g->e, name, box)));
}

/* A box of box_rows rows by 128 bytes of an operand that is not packed. In a batched matmul, each batch is a matrix of its own. */
static tensor_box box_of_value(const gemm *g, const ir_value *v, int box_rows)
{
    arena *a = g->e->a;
    const view w = view_of(a, v);
    const int size = dtype_size(v->type);
    const extent stride = view_apart(&w, size);
    tensor_box box = {.value = w.root,
                      .type = v->type,
                      .start = w.offset * size,
                      .stride = stride,
                      .rows = gemm_is_matmul(g) ? v->shape[v->rank - 2] : g->e->space.rows,
                      .columns = value_bf16_terms(v) > 1 ? w.stride : value_columns(v),
                      .box_rows = box_rows,
                      .box_columns = 128 / size};
    if (!gemm_is_batched(g)) return box;
    box.heads = 1, box.box_heads = 1, box.head_stride = stride;
    box.batches = value_batches(a, v), box.batch_stride = extent_multiply(a, v->at, stride, box.rows);
    return box;
}

/* box_rows: rows per box if A is [M, K]. If A is [K, M], a box has k rows of 128 bytes. */
static void write_a_map(gemm *g, int box_rows, int k)
{
    tensor_box *box = arena_alloc(g->e->a, sizeof *box);
    if (gemm_swaps(g)) *box = box_of_value(g, g->b, g->product->attributes.transpose ? box_rows : k);
    else *box = box_of_value(g, g->a, g->product->attributes.transpose_a ? k : box_rows);
    write_map(g, "a_map", box);
}

/* The box of a k tile of packed B, n packed columns by k elements, in pieces (docs/packing.md). */
static tensor_box k_tile_of_pieces(const gemm *g, int n, int k)
{
    const weight_format *f = g->e->plan->packs[gemm_pack(g)].format;
    const long long along_k = format_numbers_bytes(f, g->packed_k) / piece_row_bytes;
    return (tensor_box){.packed = gemm_pack(g),
                        .type = f->type,
                        .stride = extent_number(along_k * piece_bytes),
                        .rows = extent_number(g->packed_n / piece_columns),
                        .columns = along_k,
                        .box_rows = n / piece_columns,
                        .box_columns = k / format_piece_length(f),
                        .pieces = true};
}

/* A k tile is two pieces long. In a cluster of two, each workgroup loads one of them for both (multicast). */
static tensor_box box_of_pieces(const gemm *g, const gemm_warpgroups_tile *t)
{
    if (gemm_is_matmul(g)) return box_of_value(g, g->b, g->product->attributes.transpose ? t->n / t->cluster : t->k);
    tensor_box box = k_tile_of_pieces(g, t->n, t->k);
    box.box_columns /= t->cluster;
    return box;
}

/* An operand stored as TF32 terms: its rows are twice as long as its shape says (gen/plan/terms.h). */
static tensor_box box_of_terms(const gemm *g, const ir_value *v, int n)
{
    tensor_box box = box_of_value(g, v, n);
    box.columns = value_stride(v);
    return box;
}

static tensor_box box_of_rows(const gemm *g, const gemm_warpgroups_tile *t)
{
    if (gemm_is_matmul(g)) return box_of_terms(g, gemm_swaps(g) ? g->a : g->b, t->n);
    const weight_format *f = g->e->plan->packs[gemm_pack(g)].format;
    return (tensor_box){.packed = gemm_pack(g),
                        .type = f->type,
                        .stride = extent_number(format_numbers_bytes(f, g->packed_k)),
                        .rows = extent_number(g->packed_n),
                        .columns = g->packed_k,
                        .box_rows = t->n,
                        .box_columns = 128 / dtype_size(f->type)};
}

static void write_maps(gemm *g, int m, int k, tensor_box b)
{
    tensor_box *box = arena_alloc(g->e->a, sizeof *box);
    *box = b;
    write_a_map(g, m, k);
    write_map(g, "b_map", box);
}

/* As gemm_write_sizes(), without packed_k: the template does not read it, as only the tensor map needs it. */
static void write_sizes(const gemm *g)
{
    write_line(g->w, "static constexpr int K = %lld, packed_n = %lld, granule = %d;", g->K, g->packed_n, packed_granule);
}

static void write_forms(const gemm *g, const tensor_box *b)
{
    gemm_write_forms(g, true, gemm_is_matmul(g) ? NULL : b->pieces ? "in_pieces" : "in_rows");
    write_line(g->w, "static constexpr bool b_early = %s;", gemm_is_matmul(g) ? "false" : "true");
}

void gemm_write_staging(const gemm *g)
{
    write_line(g->w, "static constexpr bool epilogue_smem = %s;", g->staged_unit ? "true" : "false");
    write_line(g->w, "static constexpr int results = %d, results_unit = %d;", g->results, g->staged_unit ? g->staged_unit : gemm_vector);
}

/* Whether a thread's results of a row are one block of the epilogue. */
static bool has_one_block(const gemm *g)
{
    const gemm_warpgroups_tile *t = &g->e->phase->tile.gemm_warpgroups;
    return t->n == (t->m == 64 && !t->own_tiles ? 64 : 32);
}

/* Finds what threads load for their epilogue before the products (gemm_early.c): in a launch of several phases, where residuals are there
 * earlier than the products' operands. (H200, tiny-small, us: 37.1, and 36.4 with the residuals of o and down loaded early. Sines and
 * cosines of qkv's ropes computed early made it 0.8 slower.) */
static void find_early(gemm *g, bool split)
{
    const gemm_warpgroups_tile *t = &g->e->phase->tile.gemm_warpgroups;
    if (!g->e->plan->ir->feeds || split || !has_one_block(g) || t->m != 64 || g->staged_unit || g->width != 4 || g->e->rolled > 1) return;
    gemm_find_early(g, false, 4);
    if (!g->early_count) g->early = NULL;
}

/* Whether the epilogue is compiled once, for a block of 32 columns, although it is not long: in a launch of several phases code runs once,
 * so that less of it is faster. Not if it loads residuals for several blocks, since all these loads should be in flight together. */
static bool is_short(const gemm *g)
{
    return g->e->plan->ir->feeds && !g->staged_unit && (has_one_block(g) || !gemm_reads(g));
}

/* split: operands are f32, and one of them, the template's B, is stored as TF32 terms. */
static void on_warpgroups(emission *e, writer *w, bool shares, int staged_unit, bool split)
{
    const gemm_warpgroups_tile *t = &e->phase->tile.gemm_warpgroups;
    gemm g = gemm_start(e, w, staged_unit, gemm_stored_width);
    g.blocks = true;
    find_early(&g, split);
    write_sizes(&g);
    write_line(w, "static constexpr int tile_m = %d, tile_n = %d, tile_k = %d, threads = %d, stages = %d, group_m = %d;", t->m, t->n, t->k,
               t->threads, t->stages, t->group_m);
    write_line(w, "static constexpr int cluster = %d, split_k = %d, width = %d;", t->cluster, t->split_k, g.width);
    write_line(w, "static constexpr bool shares = %s, own_tiles = %s;", shares && !e->rolled ? "true" : "false",
               t->own_tiles ? "true" : "false");
    gemm_write_staging(&g);
    write_line(w, "static constexpr bool row_sums = %s, reads = %s;", g.row_sum ? "true" : "false", gemm_reads(&g) ? "true" : "false");
    if (g.input_sum) write_line(w, "static constexpr bool input_sums = true;");
    write_line(w, "static constexpr int rolled = %d;", e->rolled || shares || !is_short(&g) ? e->rolled : 1);
    const tensor_box b = split ? box_of_rows(&g, t) : box_of_pieces(&g, t);
    write_forms(&g, &b);
    if (split) write_line(w, "static constexpr bool swap_ab = %s;", gemm_swaps(&g) ? "true" : "false");
    gemm_write_operand_types(&g);
    gemm_write_context(&g);
    if (gemm_is_batched(&g)) gemm_write_matrices(&g);
    write_maps(&g, t->m, t->k, b);
    gemm_write_partial(&g);
    gemm_write_epilogue(&g);
}

/* Rows of A per box; must equal gemm_swap_ab<...>::box_rows. */
static int rows_of_box(const gemm_swap_ab_tile *t)
{
    const int boxes = t->in_turn ? 1 : t->cluster;
    return (t->m / 8 + boxes - 1) / boxes * 8;
}

/* The box of B that one workgroup of a cluster loads. */
static tensor_box swap_ab_box(const gemm *g, const gemm_swap_ab_tile *t)
{
    if (gemm_is_matmul(g)) return box_of_value(g, g->b, g->product->attributes.transpose ? t->n / t->cluster_m : t->k);
    tensor_box box = k_tile_of_pieces(g, t->n, t->k);
    const int along_k = box.box_columns < t->cluster_m ? box.box_columns : t->cluster_m; /* gemm_swap_ab<...>::shares_of_k */
    box.box_columns /= along_k, box.box_rows = box.box_rows * along_k / t->cluster_m;
    return box;
}

void gemm_on_swap_ab_warpgroups(emission *e, writer *w, int resident, int tail_tiles, int staged_unit, bool rounds)
{
    const gemm_swap_ab_tile *t = &e->phase->tile.gemm_swap_ab;
    enum { staged_width = 4 };
    gemm g = gemm_start(e, w, staged_unit, gemm_stored_width);
    write_sizes(&g);
    write_line(w, "static constexpr int tile_m = %d, tile_n = %d, tile_k = %d, threads = %d, stages = %d;", t->m, t->n, t->k, t->threads,
               t->stages);
    write_line(w, "static constexpr int row_stages = %d, split_k = %d, resident = %d, width = %d;", t->row_stages, t->split_k, resident,
               g.staged_unit ? staged_width : g.width);
    gemm_write_staging(&g);
    write_line(w, "static constexpr bool rounds = %s;", rounds ? "true" : "false");
    write_line(w, "using result_type = %s;", dtype_c_name(g.product->outputs[0]->type));
    write_line(w, "static constexpr int cluster = %d, cluster_m = %d, tail = %d, tail_tiles = %d;", t->cluster, t->cluster_m, t->tail,
               tail_tiles);
    write_line(w, "static constexpr bool in_turn = %s, persistent = %s;", t->in_turn ? "true" : "false", t->persistent ? "true" : "false");
    gemm_write_sums(&g);
    const tensor_box b = swap_ab_box(&g, t);
    write_forms(&g, &b);
    gemm_write_operand_types(&g);
    gemm_write_context(&g);
    if (gemm_is_batched(&g)) gemm_write_matrices(&g);
    write_maps(&g, rows_of_box(t), t->k, b);
    gemm_write_partial(&g);
    gemm_write_epilogue(&g);
}

void gemm_on_warpgroups(emission *e, writer *w, bool shares, int staged_unit)
{
    on_warpgroups(e, w, shares, staged_unit, false);
}

void gemm_on_warpgroups_split(emission *e, writer *w, bool shares)
{
    on_warpgroups(e, w, shares, 0, true);
}
