/* In: the ATTR table of ir/op.def. Out: the table as an array; whether a spec gives an attribute of an op, or its default holds. */
#include "ir/graph/attribute_table.h"
#include <stddef.h>
#include <string.h>

#define OFFSET_INT(field) offsetof(ir_attributes, field)
#define OFFSET_FLOAT(field) offsetof(ir_attributes, field)
#define OFFSET_BOOL(field) offsetof(ir_attributes, field)
#define OFFSET_DTYPE(field) offsetof(ir_attributes, field)
#define OFFSET_PAIRING(field) offsetof(ir_attributes, field)
#define OFFSET_LAYOUT(field) offsetof(ir_attributes, field)
#define OFFSET_VALUE(field) offsetof(ir_attributes, field)
#define OFFSET_SCALING(field) offsetof(ir_attributes, field)
#define OFFSET_NUMBERS(field) offsetof(ir_attributes, field)
#define OFFSET_AXIS(field) offsetof(ir_attributes, field)
#define OFFSET_AXES(field) offsetof(ir_attributes, field)
#define OFFSET_SIZES(field) 0
#define OFFSET_SHAPE(field) 0

const attribute_info attribute_table[] = {
#define ATTR(op, key, field, type, required, help)                                                                     \
    {op_##op, #key, help, attribute_##type, required, OFFSET_##type(field)},
#include "ir/op.def"
};
const int attribute_count = sizeof attribute_table / sizeof *attribute_table;
_Static_assert(sizeof attribute_table / sizeof *attribute_table <= 64, "ir_op.stated has a bit for each attribute");

bool op_states(const ir_op *op, const char *key)
{
    for (int i = 0; i < attribute_count; i++)
        if (attribute_table[i].op == op->kind && strcmp(attribute_table[i].key, key) == 0) return op->stated >> i & 1;
    return false;
}

typedef struct called {
    op_kind op;
    const char *word, *name;
} called;

const char *op_called(const char *word)
{
    static const called list[] = {
#define OP_CALLED(word, op) {op_##op, #word, #op},
#include "ir/op.def"
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (strcmp(list[i].word, word) == 0) return list[i].name;
    return NULL;
}

const char *attribute_called(op_kind op, const char *word)
{
    static const called list[] = {
#define ATTR_CALLED(op, word, key) {op_##op, #word, #key},
#include "ir/op.def"
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (list[i].op == op && strcmp(list[i].word, word) == 0) return list[i].name;
    return NULL;
}

bool op_in_spec(op_kind kind) { return kind < op_slice; /* later ops are made by lowering, fusion and planning only */ }
