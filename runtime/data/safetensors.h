/* In: safetensors files (https://github.com/huggingface/safetensors: 8 bytes header size, JSON header, data). Out:
 * their tensors by name, as doubles or in a dtype; written files. Refuses (code_bad_input, with file and byte offset)
 * headers that are too large, no JSON, or not what the format says: offsets that are out of the file, overlap or leave
 * holes, sizes that do not match shapes, names that come twice. A tensor whose dtype has no numbers that we read is an
 * error only when it is asked for. */
#ifndef TFGEN_SAFETENSORS_H
#define TFGEN_SAFETENSORS_H
#include "ir/ir.h"

enum { safetensors_most_header = 8 << 20, safetensors_most_rank = 16 };

typedef struct safetensors safetensors;
typedef struct safetensors_tensor {
    const char *name, *dtype; /* dtype as in the file: F64, BF16, ... */
    int rank;
    long long shape[safetensors_most_rank];
    long long count;      /* elements */
    size_t offset, bytes; /* of the data, from the start of the file */
} safetensors_tensor;

/* Files stay open until the arena is freed; data is read when it is asked for, so a file that shrinks meanwhile is an
 * error, no signal. Memory is kept by reference. */
safetensors *safetensors_open(arena *a, const char *path);
safetensors *safetensors_in_memory(arena *a, const void *data, size_t size, const char *name);

size_t safetensors_count(const safetensors *f);
const safetensors_tensor *safetensors_at(const safetensors *f, size_t index);       /* in order of their data */
const safetensors_tensor *safetensors_find(const safetensors *f, const char *name); /* NULL when there is none */
const safetensors_tensor *safetensors_need(const safetensors *f, const char *name); /* bails, with the nearest name */
void safetensors_read(const safetensors *f, const safetensors_tensor *t, double *out); /* t->count numbers */
void safetensors_bytes(const safetensors *f, const safetensors_tensor *t, void *out); /* t->bytes of them, as in the file */
/* `count` of them, from `first` on. */
void safetensors_read_part(const safetensors *f, const safetensors_tensor *t, long long first, long long count, double *out);

/* Finds the data of a value: its `from` name, else its own, after each of the prefixes in turn; of several the first of
 * the right shape. Bails when there is none, or none of that shape. Then reads it, transposed where the spec says
 * transpose, as value_count() doubles; rounded: to the value's dtype. */
const safetensors_tensor *safetensors_of_value(const safetensors *f, const ir_value *v, const dim_table *dims,
                                               const char *const *prefixes, size_t prefix_count);
void safetensors_read_value(const safetensors *f, const ir_value *v, const dim_table *dims, const char *const *prefixes,
                            size_t prefix_count, bool rounded, double *out);
/* The same of a real value as bytes of its dtype, value_count() elements. */
void safetensors_put_value(const safetensors *f, const ir_value *v, const dim_table *dims, const char *const *prefixes, size_t prefix_count,
                           void *out);

typedef struct safetensors_item {
    const char *name;
    const char *dtype; /* of the file: F64, F32, F16, BF16, I32 */
    int rank;
    const long long *shape;
    const void *data;
} safetensors_item;

/* Writes beside the file and renames, so a reader sees the old file or the whole new one. Bails with code_io. */
void safetensors_write(arena *a, const char *path, const safetensors_item *items, size_t count);
#endif
