/* Writes the members of a product's spec struct. Each program of the family gemm calls the functions for those members that its template
 * reads. */
#ifndef TFGEN_GEN_EMIT_GEMM_H
#define TFGEN_GEN_EMIT_GEMM_H
#include "gen/emit/emit.h"

typedef struct gemm {
    emission *e;
    writer *w;
    const ir_op *product;    /* the phase's first linear or matmul */
    const ir_value *a, *b;   /* its operands; b is NULL for a linear, whose weight is packed */
    const ir_value *row_sum; /* the reduction along rows that the epilogue computes, as a partial sum per column tile; NULL: none */
    bool notes_angles; /* sines and cosines of the epilogue record large angles instead of branching (templates/base/ops.h: small_angles) */
    const ir_value *input_sum; /* sums of squares of A's rows, accumulated while A is loaded; NULL: none */
    long long K, packed_n, packed_k;
    int width; /* W: how many neighbouring columns the epilogue gets and stores at once; at most a granule */
    kept_list kept;
    scope fields;
    row_numbers numbers;
    /* Not 0: results pass through shared memory (templates/gemm/staged.h), and their rows begin at multiples of this many elements
     * (results_unit(), gen/program/staging.h). */
    int staged_unit;
    bool blocks; /* the epilogue is called for blocks of 32 packed columns, each of which lies in one segment */
    kept_list **early; /* by segment: the vectors that load_early() loads; NULL: the program has no load_early() */
    int early_count;   /* the largest number of them that one call loads; each has `width` elements */
    int results; /* results per pair of packed columns: 1 if every segment joins its pairs (gate and up), else 2 */
} gemm;

enum { gemm_stored_width = 0 }; /* a value of `width`: as wide as the alignment of all stored rows allows */
enum { gemm_vector = 8 };       /* elements of a row of A or B that a thread loads at a time (templates/gemm/gemm.h: V) */

bool gemm_is_matmul(const gemm *g);
bool gemm_swaps(const gemm *g); /* a matmul whose A is stored as TF32 terms: A and B of the template are B and A of the matmul */
bool gemm_is_batched(const gemm *g); /* the matmul has, or may have, more than one matrix */
void gemm_flatten_row(gemm *g, writer *w); /* matmul: a statement that turns `row` from a matrix's row into the row of the whole batch */

/* Finds what the epilogue needs and writes nothing. The caller then writes sizes, the program's constants, context, operands and epilogue,
 * in this order. width: as gemm.width, or gemm_stored_width; not used if staged_unit is not 0. */
gemm gemm_start(emission *e, writer *w, int staged_unit, int width);
void gemm_write_sizes(const gemm *g);      /* K, packed_n, packed_k, granule */
void gemm_write_sums(const gemm *g);       /* row_sums, input_sums */
void gemm_write_plain(gemm *g);            /* row_sums; a_plain: rows of A are 16-byte aligned; b_plain: B is packed */
void gemm_write_operand_types(gemm *g);    /* a_type, b_type, for programs that multiply operands without converting them */
void gemm_write_b_type(gemm *g);           /* the type of B, for programs that convert operands to f32 */
void gemm_write_context(gemm *g);          /* row scalars, rows() */
void gemm_write_batches(gemm *g);          /* the batch count of a matmul; 1 for linears */
void gemm_write_matrices(gemm *g);         /* matmul: batches(), a_batch() and b_batch(), the indices of A's and B's matrices */
void gemm_write_a(gemm *g);                /* a(): elements of a row of A, loaded or computed by the prologue */
void gemm_write_rows_of_a(gemm *g);        /* a_row(): a pointer to a row of A, which need not be aligned */
void gemm_write_b(gemm *g, bool within);   /* packed(), or b() for a matmul; within: the template calls b() only for k < K */
bool gemm_is_across(const gemm *g);        /* B is a matmul's [..., K, N] */
void gemm_write_a_across(gemm *g);         /* a_row(), for A as [K, M]: adjacent elements of a row, zero beyond M */
void gemm_write_b_across(gemm *g);         /* b_row() if gemm_is_across(): adjacent elements of a row of B, zero beyond N */
/* b(): V elements along K of column n of a matmul's second operand, [..., K, N] or, transposed, [..., N, K]. */
typedef struct matmul_columns {
    const ir_value *value;
    position at;
    bool transposed, whole; /* whole: all V elements from k on exist, in 16-byte aligned rows; n may be a padding column */
    long long N, K;
    const expression *batch; /* index of the value's matrix */
} matmul_columns;
void gemm_write_columns(emission *e, writer *w, const matmul_columns *z);
/* b_form, and if of_a also a_form: how the operands lie in memory (templates/gemm/pieces.h). weight: the form of a packed B */
void gemm_write_forms(const gemm *g, bool of_a, const char *weight);
void gemm_write_dense_rows(gemm *g);       /* matmul: a_row(); b_row(), b_stride; columns (N) */
void gemm_write_rows_of_operands(gemm *g); /* a_row() and packed() */
void gemm_write_partial(gemm *g);          /* partial(): the scratch of split-K, if there is one */
void gemm_write_staging(const gemm *g);    /* epilogue_smem, results, results_unit */
void gemm_write_epilogue(gemm *g);
/* Writes `vectors`: whether the epilogue reads vectors, such as a bias. If so, it also writes touched(p, n), which loads the vectors'
 * elements at packed column n, so that L1 has their lines. touched() returns their sum, since compilers would drop unused loads. */
void gemm_write_touched(gemm *g);
/* gemm_segment.c: the function of a segment. gemm_epilogue_scope(): a scope that knows nothing yet; gemm_segment_scope(): one that knows
 * the row scalars and positions in the context. gemm_write_segment_columns() writes the variables of the segment's columns,
 * gemm_write_segment_body() its ops and stores. */
scope gemm_epilogue_scope(const gemm *g, writer *w);
scope gemm_segment_scope(const gemm *g, const gemm_segment *segment, writer *w);
void gemm_write_segment_columns(const gemm *g, const gemm_segment *segment);
void gemm_write_segment_body(const gemm *g, const gemm_segment *segment, scope *s);
/* gemm_early.c: vectors that a tile's epilogue reads, such as a residual, loaded before the tile's products. gemm_find_early(), called
 * before the context is written, finds at most `most` of them for each thread; halves: the epilogue is written as columns(), which handles
 * one half of a granule pair per call. gemm_write_early() writes loads_early and load_early(), which puts the vectors into the context.
 * gemm_know_early() makes them known in the scope of the segment's function. */
void gemm_find_early(gemm *g, bool halves, int most);
void gemm_write_early(gemm *g, bool halves);
void gemm_know_early(const gemm *g, const gemm_segment *segment, scope *s);
bool gemm_in_segment(const gemm *g, const gemm_segment *segment, const ir_op *op);
/* The index, within a segment, of the pair whose first half is in packed column `column`. Both count from the segment's start. In each
 * granule pair, a granule of first halves precedes one of second halves. */
const expression *gemm_pair_column(expression_pool *p, const expression *column);
/* For packed column `n` of the segment: the column of the segment's value that it holds, or the index of its pair. */
const expression *gemm_value_column(expression_pool *p, const gemm_segment *s);
int gemm_pack(const gemm *g);   /* index of the product's packed weight in the plan */
bool gemm_reads(const gemm *g); /* whether the epilogue loads an operand with more than one number per row */

/* All members for a product on register tiles (tile.gemm_registers), on wgmma (tile.gemm_warpgroups), or on wgmma in 3xTF32.
 * shares: with split-K, each slice reduces a share of the tile (templates/gemm/k_shares.h), unless the epilogue is emitted as a loop. */
void gemm_on_register_tiles(emission *e, writer *w);
void gemm_on_warpgroups(emission *e, writer *w, bool shares, int staged_unit);
void gemm_on_warpgroups_split(emission *e, writer *w, bool shares);
typedef struct pieces_tile {
    int m, n, threads, ahead /* pieces of weights that a warp has in flight */, resident /* workgroups per multiprocessor */;
} pieces_tile;
/* The members for gemm_register_fed and gemm_ring. */
void gemm_on_pieces(emission *e, writer *w, pieces_tile tile);
/* The members for gemm_swap_ab. resident: workgroups that share a multiprocessor. tail_tiles: how many tiles of an incomplete last round
 * may be split along K. rounds: the epilogue does nothing but round products to 16 bits. */
void gemm_on_swap_ab_warpgroups(emission *e, writer *w, int resident, int tail_tiles, int staged_unit, bool rounds);
#endif
