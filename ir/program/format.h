/* ir/format.def as an enum and as answers, and how much memory a packed weight is. Everything that reckons sizes, strides or bytes of a
 * packed weight asks here. */
#ifndef TFGEN_IR_FORMAT_H
#define TFGEN_IR_FORMAT_H
#include "ir/program/dtype.h"

/* Of pieces, in which packed weights lie (docs/packing.md, templates/gemm/pieces.h); row_bytes: along k. */
enum { piece_columns = 16, piece_row_bytes = 64, piece_bytes = 1024 };

typedef enum format_kind {
#define FORMAT(name, type, bits, terms, scale, pack, holds, folds) format_##name,
#include "ir/format.def"
    format_count
} format_kind;

typedef struct weight_scale {
    dtype type;
    int columns, length; /* that share one: packed columns (0: the format has no scales), elements along k (0: all) */
    int zero_bits;
} weight_scale;

typedef struct weight_format {
    const char *name;
    dtype type;
    int bits, terms;
    weight_scale scale;
    const char *pack;
    unsigned holds; /* a bit a dtype */
    bool folds;
} weight_format;

const weight_format *format_at(format_kind kind);
const weight_format *format_plain(dtype type); /* of the params' own numbers; NULL: it is no dtype of weights */
/* The format of weights of dtype `from` in numbers of `type`; NULL: there is none. */
const weight_format *format_in(dtype type, dtype from);
bool format_holds(const weight_format *f, dtype from);

/* Numbers of a packed column of K elements, with padding: whole pieces; of several terms whole turns of 32 elements each. */
long long format_length(const weight_format *f, long long K);
long long format_numbers_bytes(const weight_format *f, long long numbers); /* without scales */
int format_piece_length(const weight_format *f);                           /* elements along k of a piece */
/* Scales and zero points of so many packed columns of K elements. */
long long format_scale_bytes(const weight_format *f, long long columns, long long K);
double format_element_bytes(const weight_format *f, long long K); /* of one element of K, with its share of a scale */
#endif
