/* In: the ATTR table of ir/op.def. Out: the table as an array, for the spec reader, the schema and the documentation. */
#ifndef TFGEN_ATTRIBUTE_TABLE_H
#define TFGEN_ATTRIBUTE_TABLE_H
#include "ir/ir.h"

typedef enum attribute_type {
    attribute_INT,
    attribute_FLOAT,
    attribute_BOOL,
    attribute_DTYPE,
    attribute_PAIRING,
    attribute_LAYOUT,
    attribute_VALUE,
    attribute_SIZES,
    attribute_SHAPE,
    attribute_SCALING,
    attribute_NUMBERS,
    attribute_AXIS,
    attribute_AXES
} attribute_type;

typedef struct attribute_info {
    op_kind op;
    const char *key, *help;
    attribute_type type;
    bool required;
    size_t offset; /* of the field in ir_attributes; 0 for SIZES and SHAPE, which only determine the outputs' shapes */
} attribute_info;

extern const attribute_info attribute_table[];
extern const int attribute_count;

/* tfgen's name for an op, or an op's attribute, that PyTorch, HuggingFace or FlashAttention call `word`; NULL: none. */
const char *op_called(const char *word);
const char *attribute_called(op_kind op, const char *word);
#endif
