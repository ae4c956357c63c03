/* ir/format.def as an enum and as answers. */
#ifndef TFGEN_IR_FORMAT_H
#define TFGEN_IR_FORMAT_H
#include "ir/program/dtype.h"

typedef enum format_kind {
#define FORMAT(name, type, terms, bits, pack, holds, folds) format_##name,
#include "ir/format.def"
    format_count
} format_kind;

typedef struct weight_format {
    const char *name;
    dtype type;
    int terms, bits;
    const char *pack;
    unsigned holds; /* a bit a dtype */
    bool folds;
} weight_format;

const weight_format *format_at(format_kind kind);
const weight_format *format_plain(dtype type); /* of the params' own numbers; NULL: it is no dtype of weights */
/* The format of weights of dtype `from` in numbers of `type`; NULL: there is none. */
const weight_format *format_in(dtype type, dtype from);
#endif
