/* In: a phase. Out: facts that follow from its ops and are asked by fusion, planning and emission alike: its space, what it stores,
 * the column segments of its packed weight. Derived on every call, never stored. Refuses (returns false) epilogues that no
 * arrangement of columns can serve. */
#ifndef TFGEN_SEGMENTS_H
#define TFGEN_SEGMENTS_H
#include "ir/program/views.h"

/* Packed columns of one half of a pair that lie side by side, behind as many of the other half (docs/packing.md). */
enum { packed_granule = 16 };

typedef enum segment_kind {
    segment_plain,     /* packed column n is column n - packed_start of `first` */
    segment_pair_rope, /* the two halves of each head of `first`, for a rope pairing=half in the epilogue */
    segment_pair_join  /* column j of `first` beside column j of `second`, for an elementwise op that joins them */
} segment_kind;

typedef struct gemm_segment {
    segment_kind kind;
    ir_op *first, *second; /* the body's products, in its order; second: pair_join only */
    ir_op *rope;           /* pair_rope: the op that asks for it */
    long long columns;     /* logical columns of `first`, and of `second` */
    long long units;       /* pair_rope: heads; else 1 */
    long long pairs;       /* pairs a unit: head size / 2, or columns; plain: 0 */
    long long padded;      /* pairs rounded up to a multiple of a granule; plain: 0 */
    long long packed_start, packed_count; /* multiples of two granules */
} gemm_segment;

typedef struct segment_list {
    gemm_segment *items;
    int count;
    long long packed_columns; /* packed_n: sum of packed_count */
    int *of_op;               /* by index in phase->ops: index in items, or -1 */
} segment_list;

/* Segments of a gemm phase, in the order of its body. A matmul is one plain segment. False: there is no such arrangement. */
bool gemm_segments(arena *a, const ir_phase *phase, segment_list *out);

/* The segment that an epilogue op computes in; NULL for ops over row scalars or column vectors alone (they belong to none). */
const gemm_segment *segment_of(const segment_list *list, const ir_phase *phase, const ir_op *op);

/* Logical column of packed column n. *second says whether it is a column of `second` (pair_join) or lies in the second half of its
 * head (pair_rope). -1: padding. */
long long segment_column(const gemm_segment *s, long long n, bool *second);

/* What a phase walks over: rows x columns. gemm: rows of its products (of a matmul: batches * M) and the sum of their columns. rows:
 * the widest value of its ops, so a phase of slices has the source's columns, one of a concat the concat's. attention, decode and
 * combine: of their out. */
typedef struct phase_extent {
    extent rows;
    long long columns;
} phase_extent;
phase_extent phase_space(arena *a, const ir_phase *phase);

/* True when the phase must write v, made by an op of it that is no view: an op of another phase or an output needs it, or a view of it. */
bool value_stored(const ir_program *p, const ir_phase *phase, const ir_value *v);

/* A row_sumsq in the epilogue of a gemm phase: stored as [rows, column tiles] partial sums, which readers add in order. */
bool value_is_partial(const ir_program *p, const ir_value *v);
/* Of a product's phase: the sum of squares of its left operand's rows that is taken while they are read; NULL: there is none. */
const ir_op *phase_input_sum(const ir_phase *phase);
#endif
