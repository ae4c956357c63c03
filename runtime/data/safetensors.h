/* In: safetensors files (https://github.com/huggingface/safetensors: 8 bytes header size, JSON header, data). Out: their tensors by name,
 * as doubles or in a dtype; written files. Refuses (code_bad_input, with file and byte offset) headers that are too large, not JSON, or
 * violate the format: offsets beyond the file, overlaps, gaps, sizes that do not match shapes, duplicate names. A tensor of a dtype that
 * tfgen cannot read is an error only when it is requested. */
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

/* Files stay open until the arena is freed. Data is read on request, so a file that shrinks meanwhile causes an error, not a signal.
 * safetensors_in_memory() borrows `data`, which must live as long as the arena. */
safetensors *safetensors_open(arena *a, const char *path);
safetensors *safetensors_in_memory(arena *a, const void *data, size_t size, const char *name);

size_t safetensors_count(const safetensors *f);
const safetensors_tensor *safetensors_at(const safetensors *f, size_t index);       /* in order of their data */
const safetensors_tensor *safetensors_find(const safetensors *f, const char *name); /* NULL when there is none */
const safetensors_tensor *safetensors_need(const safetensors *f, const char *name); /* bails, with the nearest name */
void safetensors_read(const safetensors *f, const safetensors_tensor *t, double *out); /* t->count numbers */
void safetensors_bytes(const safetensors *f, const safetensors_tensor *t, void *out); /* the t->bytes bytes that the file has */
/* Reads elements first..first+count-1. */
void safetensors_read_part(const safetensors *f, const safetensors_tensor *t, long long first, long long count, double *out);

/* Reads the tensor of a value: that of its `from` name or else of its own name, after each of the prefixes in turn; the first one of the
 * right shape is taken. Bails if there is no such tensor, or none of that shape. Out: value_count() doubles, transposed if the spec says
 * so. rounded: they are rounded to the value's dtype. */
void safetensors_read_value(const safetensors *f, const ir_value *v, const dim_table *dims, const char *const *prefixes,
                            size_t prefix_count, bool rounded, double *out);
/* The same for a value of a floating-point dtype, as value_count() elements of that dtype. */
void safetensors_put_value(const safetensors *f, const ir_value *v, const dim_table *dims, const char *const *prefixes, size_t prefix_count,
                           void *out);

typedef struct safetensors_item {
    const char *name;
    const char *dtype; /* of the file: F64, F32, F16, BF16, I32 */
    int rank;
    const long long *shape;
    const void *data;
} safetensors_item;

/* Writes a temporary file in the same folder and renames it, so readers see either the old file or the complete new one. Bails with
 * code_io. */
void safetensors_write(arena *a, const char *path, const safetensors_item *items, size_t count);
#endif
