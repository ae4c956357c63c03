/* In: ir/op.def. Out: the fields of ir_attributes as data, for printer, reader and verifier. Private to ir/. */
#ifndef TFGEN_FIELDS_H
#define TFGEN_FIELDS_H
#include "ir/ir.h"

typedef enum field_type {
    field_int, field_float, field_bool, field_dtype, field_pairing, field_layout, field_value, field_scaling, field_numbers
} field_type;

typedef struct attribute_field {
    const char *key;
    field_type type;
    size_t offset; /* in ir_attributes */
} attribute_field;

extern const attribute_field attribute_fields[];
extern const int attribute_field_count;

bool op_takes(op_kind kind, const char *key);      /* a spec, lowering, fusion or planning may set this field */
unsigned fields_taken(op_kind kind); /* op_takes() for all fields: bit i is attribute_fields[i] */
bool field_is_set(const ir_attributes *t, const attribute_field *f); /* not zero */
#endif
