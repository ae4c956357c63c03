/* ir/dtype.def as an enum and queries. */
#ifndef TFGEN_IR_DTYPE_H
#define TFGEN_IR_DTYPE_H
#include "ir/base/arena.h"
#include "ir/graph/kinds.h"

typedef enum dtype_kind {
#define KIND(name, help) kind_##name,
#include "ir/dtype.def"
} dtype_kind;

typedef enum dtype {
#define DTYPE(name, bytes, kind, c, file, layers) dtype_##name,
#include "ir/dtype.def"
} dtype;

enum {
    dtype_count = 0
#define DTYPE(name, bytes, kind, c, file, layers) +1
#include "ir/dtype.def"
};

int dtype_size(dtype t);
const char *dtype_name(dtype t);
const char *dtype_c_name(dtype t);    /* in kernels: float f16 bf16 int */
const char *dtype_file_name(dtype t); /* in safetensors files: F32 F16 BF16 I32 */
dtype_kind dtype_kind_of(dtype t);
bool dtype_is_real(dtype t);          /* its kind is real: usable in arithmetic */
bool dtype_multiplies(dtype t, layer_kind layer);
bool dtype_parse(const char *name, dtype *out);
bool dtype_parse_real(const char *name, dtype *out);
const char *dtype_hint(const char *word); /* tfgen's name for "fp16", "float" etc., else the nearest name; NULL: none */
/* All names, separated by `between`, before the last one by `last`: "f32, f16 or bf16". */
const char *dtype_names(arena *a, bool real_only, const char *between, const char *last);
#endif
