/* In: a seed and an index. Out: a valid spec, drawn: first as a model that can be changed (to reduce it, rename it, put its ops in another
 * order), then as the text that a user could have written. Whether the reader takes the text is for the caller to see.
 * Nothing here shares code with the reader: shapes are texts, and what fits is known by construction. */
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
    random_spec_type = -1 /* the dtype that the spec says for all */
};

typedef struct random_dim {
    char name[16];
    long long value, low, high;
    bool dynamic;
} random_dim;

/* A size: text over the dims, and its value at their defaults. */
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
    char range[96];   /* of int32 data */
    bool cache;       /* what a kv_append makes: attention alone reads it */
    double size;      /* about the largest that it gets, by magnitude: draws keep f16 from overflowing */
    double least;     /* no number of it is below this; above 0 it may be divided by, or its logarithm taken */
} random_value;

typedef struct random_attribute {
    const char *key;
    char text[256];
    int value; /* or -1: the index of the value that it names */
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
    bool output[random_most_values]; /* by value; its name for the caller is y and the value's digits */
    const char *kind;                /* what was drawn, in a word, for reports */
    uint64_t names;                  /* 0: the text has the names above; else words that others have, too (random_words.h), by this seed */
} random_spec;

/* The same for ever: of one seed and index always one spec, on any machine. type: what its dtype is, or random_spec_type to draw
 * that too. */
random_spec *random_spec_draw(arena *a, uint64_t seed, uint64_t index, int type);

/* Drops ops that nothing needs, and makes every result that nobody uses an output, as the reader wants it. */
void random_spec_settle(random_spec *s);
/* The YAML text, under a comment. */
char *random_spec_text(arena *a, const random_spec *s, const char *comment);
/* Another order of the ops in which each still comes after what it reads. */
void random_spec_shuffle(random_spec *s, uint64_t seed);
/* The block, every dim and every value get other names, those of others. */
void random_spec_rename(random_spec *s, uint64_t seed);
/* What the text calls dim i. */
const char *random_spec_dim(const random_spec *s, int i);
/* Whether its dim B is more than one, the first axis of whatever has it and nothing else: then rows of a batch know nothing of
 * each other. */
bool random_spec_is_batched(const random_spec *s);
#endif
