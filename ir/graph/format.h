/* The weight formats of ir/format.def: an enum, and functions that ask for their properties. Also the sizes of packed weights: planner,
 * emitter and runtime all call these functions, so they agree. */
#ifndef TFGEN_IR_FORMAT_H
#define TFGEN_IR_FORMAT_H
#include "ir/graph/dtype.h"
#include "ir/ir.h"

/* A piece of packed weights (docs/packing.md, templates/gemm/pieces.h): 16 columns, each with 64 bytes along k. */
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

/* Products of rows and weights that no matrix instruction multiplies as they are: every element of both is a sum of bf16 terms, stored
 * smallest first. A pass along K multiplies one term of A by one of B; pass i takes the term of A whose number is in bits 4 i to 4 i + 3 of
 * `a`, and that of B in the same bits of `b`. There is a pass for each pair of terms, the smallest products first; at most 8 passes. */
typedef struct term_pairs {
    int passes;
    unsigned a, b;
} term_pairs;
term_pairs format_pairs(int a_terms, int b_terms);
int format_bf16_terms(dtype of);                         /* how many bf16 terms represent a number of this dtype exactly; 0: none do */
int value_bf16_terms(const ir_value *v);                 /* terms stored per element of v; 1 unless an op bf16_terms makes it */
long long format_row_of_terms(dtype of, long long K);    /* bf16 numbers in a row of A; the K numbers of a term are padded to 128 bytes */

/* Numbers in a packed column of K elements, padded to whole tiles; in formats of several terms, each term to 128 bytes. */
long long format_length(const weight_format *f, long long K);
long long format_numbers_bytes(const weight_format *f, long long numbers); /* without scales */
int format_piece_length(const weight_format *f); /* elements along k of a piece; if a format has several terms, of each term */
/* Bytes of scales and zero points for `columns` packed columns of K elements. */
long long format_scale_bytes(const weight_format *f, long long columns, long long K);
double format_element_bytes(const weight_format *f, long long K); /* bytes of an element, with its share of scales and zero points */
#endif
