/* The attribute fields of the text form, for printer, reader and verifier. Private to ir/. */
#ifndef TFGEN_TEXT_H
#define TFGEN_TEXT_H
#include "ir/ir.h"

typedef enum field_type {
    field_int, field_float, field_bool, field_dtype, field_pairing, field_layout, field_value, field_scaling
} field_type;

typedef struct attribute_field {
    const char *key;
    field_type type;
    size_t offset; /* in ir_attributes */
} attribute_field;

extern const attribute_field attribute_fields[];
extern const int attribute_field_count;

bool op_takes(op_kind kind, const char *key);      /* an op that a spec, lowering or fusion may give this field */
bool field_is_set(const ir_attributes *t, const attribute_field *f); /* not zero */
const char *const *role_names(void);               /* by op_role; none is "" */
const char *const *family_names(size_t *count);    /* by phase_family */
const char *const *frame_names(size_t *count);     /* by frame_kind; unset is "" */
const char *const *level_names(size_t *count);     /* by fusion_level */
const char *const *reason_codes(size_t *count);    /* of notes: ir/reason.def */
const char *reason_sentence(const char *code);     /* what a code means */
const char *const *value_kind_names(void);         /* in par state, then "" */
#endif
