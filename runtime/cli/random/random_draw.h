/* Shared by the files that draw a spec: the random number stream, and one function for each construct of a spec, which returns the index of
 * the value it makes. Private to random_draw*.c. */
#ifndef TFGEN_CLI_RANDOM_DRAW_H
#define TFGEN_CLI_RANDOM_DRAW_H
#include "runtime/cli/random/random_spec.h"

typedef struct drawing {
    random_spec *s;
    uint64_t seed, index, drawn;
    random_axis batch, tokens;    /* the leading axes of the spec's activations: B and S */
    long long most_elements;      /* limit per value, so that the reference and the host engine stay fast */
} drawing;

/* ---- numbers (random_drawing.c has all functions up to "ops, one each") */
uint64_t draw_bits(drawing *d);
int draw_below(drawing *d, int n);                 /* 0 .. n-1 */
bool draw_chance(drawing *d, int percent);
/* A chance that takes no number from the stream: what was drawn before it was added stays as it is, except where it comes true. */
bool draw_apart(const drawing *d, int percent);
int draw_weighted(drawing *d, const int *weights, int n);
#define DRAW_OF(d, list) ((list)[draw_below(d, (int)(sizeof(list) / sizeof *(list)))])

/* ---- sizes */
random_axis axis_number(long long value);
random_axis axis_dim(drawing *d, const char *name, long long value);  /* a new dim of that name (or one like it), static */
random_axis axis_write(long long value, bool dynamic, const char *format, ...) __attribute__((format(printf, 3, 4)));
bool axis_same(const random_axis *x, const random_axis *y);
random_axis axis_columns(drawing *d);              /* a number of columns: tiny, odd, as wide as a wave, or one more than a tile */

/* ---- values */
random_value *value_at(drawing *d, int v);
const random_axis *last_axis(drawing *d, int v);
long long value_elements(drawing *d, int v);
bool same_shape(drawing *d, int x, int y);
bool has_room(const drawing *d);                   /* room for at least a dozen more values and ops */
int make_value(drawing *d, value_kind kind, const random_axis *shape, int rank, int type);
int make_input(drawing *d, const random_axis *shape, int rank);
int make_param(drawing *d, const random_axis *shape, int rank);
int make_integers(drawing *d, const random_axis *length, const char *range);
int use_count(drawing *d, int v);

/* ---- building blocks of ops */
random_op *op_begin(drawing *d, op_kind kind);
void op_in(random_op *op, int value);
void op_number(random_op *op, const char *number);
void op_say(random_op *op, const char *key, const char *format, ...) __attribute__((format(printf, 3, 4)));
void op_name(random_op *op, const char *key, int value);
int op_out(drawing *d, random_op *op, const random_axis *shape, int rank, int type, double size, double least);

/* ---- ops, one each (random_draw_ops.c) */
int put_unary(drawing *d, op_kind kind, int x);
int put_binary(drawing *d, op_kind kind, int x, int y);
int put_scalar(drawing *d, op_kind kind, int x, const char *number, bool number_first);
int put_clamp(drawing *d, int x, const char *low, int high);
int put_where(drawing *d, int condition, int x, int y);
int put_reduce(drawing *d, op_kind kind, int x);
int put_axis_reduce(drawing *d, op_kind kind, int x, int axis, bool keeps);
int put_permute(drawing *d, int x, const int *axes);
int put_cast(drawing *d, int x, dtype to);
int put_linear(drawing *d, int x, const random_axis *to, bool bias);
int put_matmul(drawing *d, int x, int y, bool transpose, bool transpose_a);
int put_reshape(drawing *d, int x, const random_axis *shape, int rank);
int put_split(drawing *d, int x, const random_axis *sizes, int count, int *outs);
int put_concat(drawing *d, const int *xs, int count);
int put_rmsnorm(drawing *d, int x);
int put_layernorm(drawing *d, int x);
int put_softmax(drawing *d, int x);
int put_l2norm(drawing *d, int x);
int put_rope(drawing *d, int x, const random_axis *heads, long long head_size, int at);

/* ---- common compositions of ops (random_draw_parts.c) */
int draw_activation(drawing *d, int x);
int draw_norm(drawing *d, int x);
int draw_gentle(drawing *d, int x);                /* x, or x scaled down to keep magnitudes small */
int draw_sum(drawing *d, int x, int y);            /* a residual: x + y, or a weighted one */
int draw_mlp(drawing *d, int x, const random_axis *to);
int draw_elementwise(drawing *d, int x);           /* one op on x, with any other operand that fits */
int draw_chain(drawing *d, int x, int length);     /* a chain of `length` elementwise ops, some with branches */
int draw_reuse(drawing *d, int x);                 /* x used several times: doubled, squared, read by many ops, split and concatenated */
int draw_move(drawing *d, int x);
int draw_reduction(drawing *d, int x);
int draw_product(drawing *d, int x);

/* ---- attention (random_draw_attention.c) */
typedef struct attention_shape {
    random_axis heads, kv_heads, head_size, value_size; /* head_size: of heads of q and k; value_size: of heads of v and of the result */
} attention_shape;
attention_shape draw_heads(drawing *d, long long most_columns);
/* x [B, S, D] to [B, S, heads*value_size], in one of several spellings */
int draw_attention(drawing *d, int x, const attention_shape *shape);
int draw_decode(drawing *d, int x, const attention_shape *shape);    /* the same, with KV caches */

/* ---- whole blocks (random_draw_block.c) */
void draw_block(drawing *d);
#endif
