/* Writers for the members of a product's spec struct; each program of the family gemm calls those that its template reads. */
#ifndef TFGEN_GEN_EMIT_GEMM_H
#define TFGEN_GEN_EMIT_GEMM_H
#include "gen/emit/emit.h"

typedef struct gemm {
    emission *e;
    writer *w;
    const ir_op *product;    /* the body's first */
    const ir_value *a, *b;   /* b: matmul only */
    const ir_value *row_sum; /* partial sums of rows that the epilogue computes, or NULL */
    bool notes_angles;       /* the epilogue has sines or cosines of columns, which do not branch (templates/base/ops.h: small_angles) */
    const ir_value *input_sum; /* sums of squares of A's rows, accumulated while A is loaded, or NULL */
    long long K, packed_n, packed_k;
    int width; /* neighbouring columns that a thread stores at once, at most a granule */
    kept_list kept;
    scope fields;
    row_numbers numbers;
    int staged_unit; /* results pass through shared memory (templates/gemm/staged.h): results_unit() of gen/program/staging.h; 0: not */
    bool blocks; /* the program stages blocks of 32 packed columns, each of which lies in one segment */
    int results; /* results per granule pair: 1 if its columns are joined (gate and up), else 2 */
} gemm;

enum { gemm_stored_width = 0 }; /* the widest store that the alignment of all stored rows allows */
enum { gemm_vector = 8 };       /* elements of a row of A or B that a thread loads at a time (templates/gemm/gemm.h: V) */

bool gemm_is_matmul(const gemm *g);
bool gemm_swaps(const gemm *g);     /* a matmul whose A is stored as TF32 terms: the program swaps A and B */
bool gemm_is_batched(const gemm *g); /* the matmul has, or may have, more than one matrix */
void gemm_flatten_row(gemm *g, writer *w); /* matmul: in a function body, makes `row` count through all matrices of the batch */

/* Collects what the epilogue needs and writes nothing. Call next: sizes, the program's constants, context, operands, epilogue.
 * width: neighbouring columns that a thread stores. */
gemm gemm_start(emission *e, writer *w, int staged_unit, int width);
void gemm_write_sizes(const gemm *g);      /* K, packed_n, packed_k, granule */
void gemm_write_sums(const gemm *g);       /* row_sums, input_sums */
void gemm_write_plain(gemm *g);            /* row_sums; whether rows of A are 16-byte aligned, whether B is packed */
void gemm_write_operand_types(gemm *g);    /* types of A and B, multiplied as stored */
void gemm_write_b_type(gemm *g);           /* the type of B where operands are converted to f32 first */
void gemm_write_context(gemm *g);          /* row scalars, rows() */
void gemm_write_batches(gemm *g);          /* the batch count of a matmul; 1 for linears */
void gemm_write_matrices(gemm *g);         /* for a matmul: batches(), a_batch() and b_batch(), the indices of the matrices of A and B */
void gemm_write_a(gemm *g);                /* a(): elements of a row of A, loaded or computed by the prologue */
void gemm_write_rows_of_a(gemm *g);        /* a_row(), at any alignment */
void gemm_write_b(gemm *g, bool within);   /* packed(), or b() for a matmul; within: b() is never called for k >= K */
bool gemm_is_across(const gemm *g);        /* B is a matmul's [..., K, N] */
void gemm_write_b_across(gemm *g);         /* b_row() if gemm_is_across(): adjacent elements of a row of B, zero beyond N */
/* b(): elements along K of a column of a matmul's second operand, [..., K, N] or, transposed, [..., N, K]. */
typedef struct matmul_columns {
    const ir_value *value;
    position at;
    bool transposed, whole; /* whole: all V elements from k on exist, in 16-byte aligned rows; n may be a padding column */
    long long N, K;
    const expression *batch; /* of the value */
} matmul_columns;
void gemm_write_columns(emission *e, writer *w, const matmul_columns *z);
/* b_form, with of_a also a_form (templates/gemm/pieces.h); weight: the form of a packed B */
void gemm_write_forms(const gemm *g, bool of_a, const char *weight);
void gemm_write_dense_rows(gemm *g);       /* a_row(); for B of a matmul b_row(), b_stride, columns */
void gemm_write_rows_of_operands(gemm *g); /* a_row() and packed() */
void gemm_write_partial(gemm *g);          /* partial(): the scratch of split-K, if there is one */
void gemm_write_epilogue(gemm *g);
/* Writes `vectors`: whether the epilogue reads vectors (a bias). If so also touched(p, n), which loads their elements at packed column n
 * to bring their lines to L1; it returns their sum, so that compilers keep the loads. */
void gemm_write_touched(gemm *g);
bool gemm_in_segment(const gemm *g, const gemm_segment *segment, const ir_op *op);
/* The column of a pair from its packed column. A granule pair has a granule of first halves, then one of second halves. */
const expression *gemm_pair_column(expression_pool *p, const expression *column);
int gemm_pack(const gemm *g);   /* index of its packed weight in the plan */
bool gemm_reads(const gemm *g); /* whether the epilogue loads an operand with more than one number a row */

/* All members for a product on register tiles (tile.gemm_registers), on wgmma (tile.gemm_warpgroups), or on 3xTF32 wgmma (split).
 * shares: every slice of split-K reduces a share of the tile, unless the epilogue is emitted as a loop. */
void gemm_on_register_tiles(emission *e, writer *w);
void gemm_on_warpgroups(emission *e, writer *w, bool shares, int staged_unit);
void gemm_on_warpgroups_split(emission *e, writer *w, bool shares);
typedef struct pieces_tile {
    int m, n, threads, ahead /* pieces of weights that a warp has in flight */, resident /* workgroups a multiprocessor */;
} pieces_tile;
/* The members for gemm_register_fed and gemm_ring. */
void gemm_on_pieces(emission *e, writer *w, pieces_tile tile);
/* The members for gemm_swap_ab; resident: workgroups that share a multiprocessor; tail_tiles: the most tiles of an incomplete last round
 * that are split along K; rounds: the epilogue does nothing but round products to 16 bits. */
void gemm_on_swap_ab_warpgroups(emission *e, writer *w, int resident, int tail_tiles, int staged_unit, bool rounds);
#endif
