/* In: a phase. Out: facts derived from its ops, for fusion, planning and emission: its iteration space, what it stores, the column segments
 * of its packed weight. Computed anew by every call. Refuses (returns false) epilogues for which no order of packed columns gives a thread
 * all operands of its elements. */
#ifndef TFGEN_SEGMENTS_H
#define TFGEN_SEGMENTS_H
#include "ir/graph/views.h"

/* Interleave of paired columns: 16 packed columns of one half alternate with 16 of the other (docs/packing.md). */
enum { packed_granule = 16 };

typedef enum segment_kind {
    segment_plain,     /* packed column n is column n - packed_start of `first` */
    segment_pair_rope, /* the two halves of each head of `first`, for a rope pairing=half in the epilogue */
    segment_pair_join  /* column j of `first` paired with column j of `second`, for an elementwise op that joins them */
} segment_kind;

typedef struct gemm_segment {
    segment_kind kind;
    ir_op *first, *second; /* products of the body, `first` the earlier one; second: pair_join only */
    ir_op *rope;           /* pair_rope: the rope */
    long long columns;     /* logical columns of `first`, and of `second` */
    long long heads;       /* pair_rope: heads in a row; else 1 */
    long long pairs;       /* pair_rope: half a head; pair_join: columns; plain: 0 */
    long long padded;      /* pairs rounded up to a multiple of a granule; plain: 0 */
    long long packed_start, packed_count; /* packed columns; both are multiples of 32, two granules */
} gemm_segment;

typedef struct segment_list {
    gemm_segment *items;
    int count;
    long long packed_columns; /* of the phase: the sum of packed_count */
    int *of_op;               /* by index in phase->ops: index in items, or -1 */
} segment_list;

/* Segments of a gemm phase, in the order of its body. A matmul is one plain segment. False: no arrangement exists. */
bool gemm_segments(arena *a, const ir_phase *phase, segment_list *out);

/* The segment that an epilogue op computes in; NULL for ops over row scalars or column vectors alone (they belong to none). */
const gemm_segment *segment_of(const segment_list *list, const ir_phase *phase, const ir_op *op);

/* The logical column of packed column n, -1 if that is padding. *second is set to whether it is a column of the product `second`
 * (pair_join), or lies in the second half of its head (pair_rope). */
long long segment_column(const gemm_segment *s, long long n, bool *second);

/* A phase's iteration space, rows x columns. gemm: rows of its products (matmul: batches * M) and the sum of their columns. rows: rows and
 * columns of its widest value, so those of a slice's operand and of a concat's result. Other families: rows and columns of the result. */
typedef struct phase_extent {
    extent rows;
    long long columns;
} phase_extent;
phase_extent phase_space(arena *a, const ir_phase *phase);

/* True if the phase must store v: v or a view of it is an output, or another phase reads it. v is made by an op of the phase, not a view.
 * */
bool value_stored(const ir_graph *p, const ir_phase *phase, const ir_value *v);

/* v is the result of a row_sumsq in a gemm phase's epilogue: stored as [rows, column tiles] partial sums, which readers add in order. */
bool value_is_partial(const ir_graph *p, const ir_value *v);

/* The phase computes v from the result of a rope. */
bool value_follows_rope(arena *a, const ir_phase *phase, const ir_value *v);

/* gemm phase: the row_sumsq of its A operand that is accumulated while A is loaded; NULL: none. */
const ir_op *phase_input_sum(const ir_phase *phase);
#endif
