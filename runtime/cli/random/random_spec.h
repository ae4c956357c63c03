/* In: a seed and an index. Out: a valid random spec: first as a model that can be changed (reduced, renamed, its ops reordered), then as
 * text that a user could have written. The caller checks that the reader accepts it. No code is shared with the reader: shapes are texts,
 * and operands fit by construction. */
#ifndef TFGEN_CLI_RANDOM_SPEC_H
#define TFGEN_CLI_RANDOM_SPEC_H
#include "ir/ir.h"
#include <stdint.h>

enum {
    random_most_dims = 28,
    random_most_values = 280,
    random_most_ops = 150,
    random_most_in = 16,
    random_most_out = 5,
    random_most_attributes = 8,
    random_spec_type = -1 /* the spec's default dtype */
};

typedef struct random_dim {
    char name[16];
    long long value, low, high;
    bool dynamic;
} random_dim;

/* A size: an expression over the dims, and its value at their defaults. */
typedef struct random_axis {
    char text[40];
    long long value;
    bool dynamic;
} random_axis;

typedef struct random_value {
    char name[8]; /* a letter and three digits */
    value_kind kind;
    int rank;
    random_axis shape[max_rank];
    int type;         /* a dtype, or random_spec_type */
    char range[96];   /* of int32 values */
    bool cache;       /* result of kv_append: only attention reads it */
    long long stride; /* of an input's or output's rows; 0: they are dense */
    int stride_dim;   /* index + 1 of the dynamic dim that names the stride; 0: a number */
    double size;      /* estimate of the largest magnitude, to keep f16 from overflowing */
    double least;     /* lower bound of its numbers; above 0 it may be a divisor or a logarithm's argument */
} random_value;

typedef struct random_attribute {
    const char *key;
    char text[256];
    int value; /* index of the value that it names, or -1 */
} random_attribute;

typedef struct random_operand {
    int value; /* or -1 */
    char number[24];
} random_operand;

typedef struct random_op {
    op_kind kind;
    random_operand in[random_most_in];
    int in_count, out[random_most_out], out_count;
    random_attribute attributes[random_most_attributes];
    int attribute_count;
} random_op;

typedef struct random_spec {
    dtype type;
    random_dim dims[random_most_dims];
    int dim_count;
    random_value values[random_most_values];
    int value_count;
    random_op ops[random_most_ops];
    int op_count;
    bool output[random_most_values]; /* by index of the value: whether it is an output, which is named y and the digits of its name */
    const char *kind;                /* the kind of spec drawn, in one word, for reports */
    uint64_t names;                  /* 0: the names above; else a seed for names that templates, C++ or vendors use (random_words.h) */
} random_spec;

/* Deterministic: a seed and an index give the same spec on any machine. type: its dtype, or random_spec_type to draw that too. */
random_spec *random_spec_draw(arena *a, uint64_t seed, uint64_t index, int type);

/* After a change of the model: drops unused ops, and makes every unused result an output, as the reader requires. */
void random_spec_settle(random_spec *s);
/* The YAML text, under a comment. */
char *random_spec_text(arena *a, const random_spec *s, const char *comment);
/* Reorders the ops randomly; each stays after the makers of its operands. */
void random_spec_shuffle(random_spec *s, uint64_t seed);
/* Renames the block, every dim and every value to words of random_words.h. */
void random_spec_rename(random_spec *s, uint64_t seed);
/* The name of dim i in the text. */
const char *random_spec_dim(const random_spec *s, int i);
/* True if dim B is above 1 and occurs only as a value's first axis: then batch rows are independent of each other. */
bool random_spec_is_batched(const random_spec *s);
#endif
