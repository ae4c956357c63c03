/* Members of the spec structs of products, from which the programs of the family gemm put theirs together. */
#ifndef TFGEN_GEN_EMIT_GEMM_H
#define TFGEN_GEN_EMIT_GEMM_H
#include "gen/emit/emit.h"

typedef struct gemm {
    emission *e;
    writer *w;
    const ir_op *product;    /* the first of the body */
    const ir_value *a, *b;   /* b: matmul only */
    const ir_value *row_sum; /* partial sums made here, or NULL */
    const ir_value *input_sum; /* of squares of a's rows, which the program takes while it reads them, or NULL */
    long long K, packed_n, packed_k;
    int width; /* neighbouring columns that a store may take for granted, at most a granule */
    kept_list kept;
    scope fields;
    row_numbers numbers;
    bool staged; /* results pass through shared memory (templates/gemm/gemm_ws.h) */
    int results; /* of a block's two halves of columns */
} gemm;

enum { gemm_stored_width = 0 }; /* as many as all rows that the epilogue stores begin at multiples of */
enum { gemm_vector = 8 };       /* elements of a row of A or B that a thread loads at a time (templates/gemm/gemm.h: V) */

bool gemm_is_matmul(const gemm *g);
void gemm_flatten_row(gemm *g, writer *w); /* of a matmul: in a body, its row of a matrix becomes that of all matrices */

/* Finds out what the epilogue needs, and writes nothing yet. Then come sizes, the program's own constants, context, operands and epilogue.
 * width: neighbours that a thread stores. */
gemm gemm_start(emission *e, writer *w, bool passes_shared, int width);
void gemm_write_sizes(const gemm *g);      /* K, packed_n, packed_k, granule */
void gemm_write_sums(const gemm *g);       /* row_sums, input_sums */
void gemm_write_plain(gemm *g);            /* row_sums; do rows of A begin at multiples of 16 bytes, is B packed */
void gemm_write_a_type(gemm *g);           /* of operands that are multiplied as they lie in memory */
void gemm_write_operand_types(gemm *g);    /* likewise, and those of B */
void gemm_write_b_type(gemm *g);           /* of operands that become f32 on their way */
void gemm_write_context(gemm *g);          /* row scalars, rows() */
void gemm_write_batches(gemm *g);          /* of a matmul; 1 of linears */
void gemm_write_a(gemm *g);                /* a(): elements of a row, whatever makes them */
void gemm_write_rows_of_a(gemm *g);        /* a_row(), at any alignment */
void gemm_write_b(gemm *g);                /* packed(), or b() of a matmul */
void gemm_write_rows_of_operands(gemm *g); /* a_row() and packed() */
void gemm_write_epilogue(gemm *g);
int gemm_pack(const gemm *g);   /* its packed weight, among the plan's */
bool gemm_reads(const gemm *g); /* an epilogue op has an operand in memory that is wider than a number a row */

/* All members of a product on register tiles (tile.gemm_registers), or on warpgroups (tile.gemm_warpgroups); split: of gemm_wgmma_3xtf32.
 * */
void gemm_on_register_tiles(emission *e, writer *w);
void gemm_on_warpgroups(emission *e, writer *w);
void gemm_on_warpgroups_split(emission *e, writer *w);
/* What follows the tile of a product that takes pieces of packed weights from memory to registers (gemm_register_fed). halves: its columns
 * may be one half of a block. */
void gemm_on_pieces(gemm *g, bool halves);
/* Of tile.gemm_swap_ab; resident: workgroups that share a multiprocessor. */
void gemm_on_swap_ab_warpgroups(emission *e, writer *w, int resident);
#endif
