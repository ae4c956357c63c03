/* ir/format.def as an enum and queries, and the size of packed weights. All sizes and strides of packed weights are computed from these. */
#ifndef TFGEN_IR_FORMAT_H
#define TFGEN_IR_FORMAT_H
#include "ir/graph/dtype.h"
#include "ir/ir.h"

/* Core-matrix tiles of packed weights (docs/packing.md, templates/gemm/pieces.h); row_bytes: along k. */
enum { piece_columns = 16, piece_row_bytes = 64, piece_bytes = 1024 };

typedef enum format_kind {
#define FORMAT(name, type, bits, terms, passes, scale, pack, holds, folds) format_##name,
#include "ir/format.def"
    format_count
} format_kind;

typedef struct weight_scale {
    dtype type;
    int columns, length; /* block that shares one scale: packed columns (0: no scales), elements along k (0: all) */
    int zero_bits;
} weight_scale;

typedef struct weight_format {
    const char *name;
    dtype type;
    int bits, terms, passes;
    weight_scale scale;
    const char *pack;
    unsigned holds; /* source dtypes, bit i: dtype i */
    bool folds;
} weight_format;

const weight_format *format_at(format_kind kind);
const weight_format *format_plain(dtype type); /* unquantised weights of that dtype; NULL: not a weight dtype */
/* The format that stores weights of dtype `from` as `type`; NULL: none. */
const weight_format *format_in(dtype type, dtype from);
bool format_holds(const weight_format *f, dtype from);

/* For rows and weights that no matrix instruction multiplies as they are: both are sums of bf16 terms, of which the smallest are first in
 * memory. A pass along K multiplies one term of A by one of B: the terms of pass i are bits 4 i to 4 i + 3. There is a pass for each pair,
 * those with the smallest products first; a_terms * b_terms is at most 8. */
typedef struct term_pairs {
    int passes;
    unsigned a, b;
} term_pairs;
term_pairs format_pairs(int a_terms, int b_terms);
int format_bf16_terms(dtype of);                         /* how many terms hold all digits of such a number; 0: they cannot */
int value_bf16_terms(const ir_value *v);                 /* terms that v stores per element: more than 1 if bf16_terms wrote it */
long long format_row_of_terms(dtype of, long long K);    /* numbers of a row of A in terms; each term padded to 128 bytes */

/* Numbers in a packed column of K elements, padded to whole tiles; in formats of several terms, each term to 128 bytes. */
long long format_length(const weight_format *f, long long K);
long long format_numbers_bytes(const weight_format *f, long long numbers); /* without scales */
int format_piece_length(const weight_format *f); /* elements of a tile along k; with several terms, of one term */
/* Bytes of scales and zero points for `columns` packed columns of K elements. */
long long format_scale_bytes(const weight_format *f, long long columns, long long K);
double format_element_bytes(const weight_format *f, long long K); /* per element along K, with its share of a scale */
#endif
