/* In: safetensors files. Out: their tensors by name, as doubles. Refuses (code_bad_input, with file and byte offset) headers that violate
 * the format; see runtime/data/safetensors.h. Writing: runtime/data/safetensors_write.c. */
#define _GNU_SOURCE
#include "runtime/data/safetensors.h"
#include "ir/graph/half.h"
#include "runtime/system/input.h"
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct safetensors {
    arena *a;
    const char *name;
    int file; /* -1: in memory */
    const unsigned char *memory;
    size_t size, data;           /* bytes of the file; offset of its data */
    safetensors_tensor *tensors; /* sorted by offset */
    safetensors_tensor **sorted; /* sorted by name */
    size_t count;
};

/* Element types of the format. element_none: size known, numbers cannot be read. Other types are kept by name only. */
typedef enum element {
    element_none,
    element_f64,
    element_f32,
    element_f16,
    element_bf16,
    element_signed,
    element_unsigned
} element;
typedef struct element_type {
    const char *name;
    size_t size;
    element read;
} element_type;
static const element_type element_types[] = {
    {"F64", 8, element_f64},       {"F32", 4, element_f32},      {"F16", 2, element_f16},
    {"BF16", 2, element_bf16},     {"I64", 8, element_signed},   {"I32", 4, element_signed},
    {"I16", 2, element_signed},    {"I8", 1, element_signed},    {"U64", 8, element_unsigned},
    {"U32", 4, element_unsigned},  {"U16", 2, element_unsigned}, {"U8", 1, element_unsigned},
    {"BOOL", 1, element_unsigned}, {"F8_E5M2", 1, element_none}, {"F8_E4M3", 1, element_none},
    {"F8_E8M0", 1, element_none},  {"C64", 8, element_none}};

static const element_type *find_type(const char *name)
{
    for (size_t i = 0; i < sizeof element_types / sizeof *element_types; i++)
        if (strcmp(element_types[i].name, name) == 0) return &element_types[i];
    return NULL;
}

/* Bails with "FILE: message". */
#define bad(f, ...) (arena_source((f)->a, (f)->name, NULL, 0), bail((f)->a, code_bad_input, (position){0}, __VA_ARGS__))

static void read_bytes(const safetensors *f, size_t offset, void *out, size_t size)
{
    if (offset > f->size || size > f->size - offset)
        bad(f, "byte %zu: the file ends here, %zu more bytes are needed", f->size, size);
    if (f->file < 0) {
        memcpy(out, f->memory + offset, size);
        return;
    }
    for (size_t done = 0; done < size;) {
        const ssize_t n = pread(f->file, (char *)out + done, size - done, (off_t)(offset + done));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) bad(f, "byte %zu: %s", offset + done, strerror(errno));
        if (n == 0) bad(f, "byte %zu: the file ends here; it was longer when it was opened", offset + done);
        done += (size_t)n;
    }
}

/* Reads a non-negative integer below 2^53, which JSON represents exactly. */
static bool natural(const json_t *j, long long *out)
{
    if (!json_is_integer(j) || json_integer_value(j) < 0 || json_integer_value(j) > 1LL << 53) return false;
    *out = json_integer_value(j);
    return true;
}

static void read_shape(const safetensors *f, safetensors_tensor *t, const json_t *shape)
{
    if (!json_is_array(shape)) bad(f, "byte 8: header: tensor '%s' has no list 'shape'", t->name);
    if (json_array_size(shape) > safetensors_most_rank)
        bad(f, "byte 8: header: tensor '%s' has %zu axes; at most %d are read", t->name, json_array_size(shape),
            safetensors_most_rank);
    t->rank = (int)json_array_size(shape);
    t->count = 1;
    for (int i = 0; i < t->rank; i++) {
        if (!natural(json_array_get(shape, (size_t)i), &t->shape[i]))
            bad(f, "byte 8: header: tensor '%s': axis %d of its shape is not a size", t->name, i);
        if (__builtin_mul_overflow(t->count, t->shape[i], &t->count))
            bad(f, "byte 8: header: tensor '%s': its shape is beyond 2^63 elements", t->name);
    }
}

static void read_offsets(const safetensors *f, safetensors_tensor *t, const json_t *offsets)
{
    long long begin, end, bytes;
    if (!json_is_array(offsets) || json_array_size(offsets) != 2 || !natural(json_array_get(offsets, 0), &begin) ||
        !natural(json_array_get(offsets, 1), &end))
        bad(f, "byte 8: header: tensor '%s' has no 'data_offsets': [begin, end]", t->name);
    if (begin > end) bad(f, "byte 8: header: tensor '%s' begins at %lld, after its end %lld", t->name, begin, end);
    if ((unsigned long long)end > f->size - f->data)
        bad(f, "byte %zu: tensor '%s' ends at %lld of the data, the file has %zu bytes of data", f->size, t->name, end,
            f->size - f->data);
    t->offset = f->data + (size_t)begin;
    t->bytes = (size_t)(end - begin);
    const element_type *type = find_type(t->dtype);
    if (!type) return;
    if (__builtin_mul_overflow(t->count, (long long)type->size, &bytes) || bytes != end - begin)
        bad(f, "byte %zu: tensor '%s' has %zu bytes, its shape and dtype %s make it %lld elements of %zu", t->offset,
            t->name, t->bytes, t->dtype, t->count, type->size);
}

static void read_tensor(const safetensors *f, safetensors_tensor *t, const char *name, const json_t *entry)
{
    static const char *const keys[] = {"dtype", "shape", "data_offsets"};
    const char *key;
    json_t *unused;
    t->name = arena_strdup(f->a, name);
    if (!json_is_object(entry)) bad(f, "byte 8: header: tensor '%s' is not an object", t->name);
    json_object_foreach((json_t *)entry, key, unused)
    {
        bool known = false;
        for (int i = 0; i < 3; i++) known |= strcmp(key, keys[i]) == 0;
        if (!known) bad(f, "byte 8: header: tensor '%s' has an unknown key '%s'", t->name, key);
    }
    (void)unused;
    if (!json_is_string(json_object_get(entry, "dtype"))) bad(f, "byte 8: header: tensor '%s' has no 'dtype'", t->name);
    t->dtype = arena_strdup(f->a, json_string_value(json_object_get(entry, "dtype")));
    read_shape(f, t, json_object_get(entry, "shape"));
    read_offsets(f, t, json_object_get(entry, "data_offsets"));
}

static int by_offset(const void *x, const void *y)
{
    const safetensors_tensor *p = x, *q = y;
    if (p->offset != q->offset) return p->offset < q->offset ? -1 : 1;
    return (p->bytes > q->bytes) - (p->bytes < q->bytes); /* empty tensors first */
}

static int by_name(const void *x, const void *y)
{
    return strcmp((*(safetensors_tensor *const *)x)->name, (*(safetensors_tensor *const *)y)->name);
}

/* The format requires that tensors cover the data without gaps or overlaps. */
static void check_layout(const safetensors *f)
{
    size_t at = f->data;
    for (size_t i = 0; i < f->count; i++) {
        const safetensors_tensor *t = &f->tensors[i];
        if (t->offset < at)
            bad(f, "byte %zu: tensors '%s' and '%s' overlap", t->offset, f->tensors[i - 1].name, t->name);
        if (t->offset > at)
            bad(f, "byte %zu: %zu bytes before tensor '%s' belong to no tensor", at, t->offset - at, t->name);
        at += t->bytes;
    }
    if (at != f->size) bad(f, "byte %zu: %zu bytes at the end belong to no tensor", at, f->size - at);
}

static void release_json(void *j) { json_decref(j); }

static void check_metadata(const safetensors *f, const json_t *metadata)
{
    const char *key;
    json_t *value;
    if (!json_is_object(metadata)) bad(f, "byte 8: header: __metadata__ is not an object");
    json_object_foreach((json_t *)metadata, key, value) if (!json_is_string(value))
        bad(f, "byte 8: header: __metadata__ '%s' is not a string", key);
}

static const json_t *parse_header(safetensors *f)
{
    unsigned char prefix[8];
    uint64_t size = 0;
    if (f->size < sizeof prefix)
        bad(f, "byte %zu: too short for a safetensors file, which starts with the 8-byte size of its header", f->size);
    read_bytes(f, 0, prefix, sizeof prefix);
    for (int i = 7; i >= 0; i--) size = size << 8 | prefix[i];
    if (size > f->size - sizeof prefix)
        bad(f, "byte 0: a header of %llu bytes in a file of %zu; is it a safetensors file?", (unsigned long long)size,
            f->size);
    if (size > safetensors_most_header)
        bad(f, "byte 0: a header of %llu bytes; at most %d are read", (unsigned long long)size,
            safetensors_most_header);
    f->data = sizeof prefix + (size_t)size;
    char *header = arena_alloc(f->a, (size_t)size + 1);
    read_bytes(f, sizeof prefix, header, (size_t)size);
    if (header[0] != '{') bad(f, "byte 8: the header does not start with '{'");
    json_error_t error;
    json_t *root = json_loadb(header, (size_t)size, JSON_REJECT_DUPLICATES, &error);
    if (!root) bad(f, "byte %lld: header: %s", 8 + (long long)error.position, error.text);
    arena_defer(f->a, release_json, root);
    if (!json_is_object(root)) bad(f, "byte 8: the header is not a JSON object");
    return root;
}

static safetensors *read_header(safetensors *f)
{
    const char *name;
    json_t *entry;
    json_t *root = (json_t *)parse_header(f);
    f->tensors = arena_alloc(f->a, json_object_size(root) * sizeof *f->tensors);
    json_object_foreach(root, name, entry)
    {
        if (strcmp(name, "__metadata__") == 0)
            check_metadata(f, entry);
        else
            read_tensor(f, &f->tensors[f->count++], name, entry);
    }
    qsort(f->tensors, f->count, sizeof *f->tensors, by_offset);
    check_layout(f);
    f->sorted = arena_alloc(f->a, f->count * sizeof *f->sorted);
    for (size_t i = 0; i < f->count; i++) f->sorted[i] = &f->tensors[i];
    qsort(f->sorted, f->count, sizeof *f->sorted, by_name);
    return f;
}

static void close_file(void *file) { close((int)(intptr_t)file); }

safetensors *safetensors_open(arena *a, const char *path)
{
    safetensors *f = arena_alloc(a, sizeof *f);
    struct stat info;
    const char *why;
    f->a = a;
    f->name = arena_strdup(a, path);
    f->file = input_open(path, &why);
    if (f->file < 0) bad(f, "cannot open: %s", why);
    arena_defer(a, close_file, (void *)(intptr_t)f->file);
    if (fstat(f->file, &info) != 0) bad(f, "cannot look at it: %s", strerror(errno));
    f->size = (size_t)info.st_size;
    return read_header(f);
}

safetensors *safetensors_in_memory(arena *a, const void *data, size_t size, const char *name)
{
    safetensors *f = arena_alloc(a, sizeof *f);
    *f = (safetensors){.a = a, .name = arena_strdup(a, name), .file = -1, .memory = data, .size = size};
    return read_header(f);
}

size_t safetensors_count(const safetensors *f) { return f->count; }
const safetensors_tensor *safetensors_at(const safetensors *f, size_t index)
{
    return index < f->count ? &f->tensors[index] : NULL;
}

const safetensors_tensor *safetensors_find(const safetensors *f, const char *name)
{
    const safetensors_tensor key = {.name = name}, *pointer = &key;
    safetensors_tensor *const *found =
        f->count ? bsearch(&pointer, f->sorted, f->count, sizeof *f->sorted, by_name) : NULL;
    return found ? *found : NULL;
}

static _Noreturn void refuse_missing(const safetensors *f, const char *name)
{
    enum { most = 20000 }; /* bounds the time on a hostile file */
    const size_t n = f->count < most ? f->count : most;
    const char **names = arena_alloc(f->a, n * sizeof *names);
    for (size_t i = 0; i < n; i++) names[i] = f->tensors[i].name;
    bad(f, "has no tensor '%s'%s", name, nearest_hint(f->a, nearest_name(name, names, n)));
}

const safetensors_tensor *safetensors_need(const safetensors *f, const char *name)
{
    const safetensors_tensor *t = safetensors_find(f, name);
    if (!t) refuse_missing(f, name);
    return t;
}

static uint64_t little_endian(const unsigned char *p, size_t size)
{
    uint64_t x = 0;
    for (size_t i = size; i-- > 0;) x = x << 8 | p[i];
    return x;
}

static double number(const element_type *type, const unsigned char *p)
{
    const uint64_t x = little_endian(p, type->size);
    const uint32_t low = (uint32_t)x;
    const int unused = 64 - 8 * (int)type->size;
    double d;
    float s;
    switch (type->read) {
    case element_f64: return memcpy(&d, &x, sizeof d), d;
    case element_f32: return memcpy(&s, &low, sizeof s), s;
    case element_f16: return f16_to_double((uint16_t)x);
    case element_bf16: return bf16_to_double((uint16_t)x);
    case element_unsigned: return (double)x;
    default: break;
    }
    return (double)((int64_t)(x << unused) >> unused);
}

void safetensors_read_part(const safetensors *f, const safetensors_tensor *t, long long first, long long count, double *out)
{
    enum { piece = 4096 }; /* elements */
    unsigned char buffer[piece * 8];
    const element_type *type = find_type(t->dtype);
    if (!type || type->read == element_none)
        bad(f, "byte %zu: tensor '%s' is %s; numbers are read from F64, F32, F16, BF16, integers and BOOL", t->offset,
            t->name, t->dtype);
    for (long long i = 0; i < count; i += piece) {
        const long long n = count - i < piece ? count - i : piece;
        read_bytes(f, t->offset + (size_t)(first + i) * type->size, buffer, (size_t)n * type->size);
        for (long long k = 0; k < n; k++) out[i + k] = number(type, buffer + (size_t)k * type->size);
    }
}

void safetensors_bytes(const safetensors *f, const safetensors_tensor *t, void *out) { read_bytes(f, t->offset, out, t->bytes); }

void safetensors_read(const safetensors *f, const safetensors_tensor *t, double *out) { safetensors_read_part(f, t, 0, t->count, out); }

/* The tensor's axis that corresponds to axis i of the value. */
static int stored_axis(const ir_value *v, int i) { return v->from_transposed ? v->rank - 1 - i : i; }

static bool has_rows(const row_range *r, long long stored, long long wanted)
{
    if (!r) return stored == wanted;
    return r->every ? stored == wanted / (r->end - r->first) * r->every : stored >= r->end;
}

/* True if the tensor's shape fits the value. rows: the tensor's rows that make up the value; NULL: all. */
static bool has_shape(const safetensors_tensor *t, const ir_value *v, const row_range *rows, const dim_table *dims)
{
    if (t->rank != v->rank) return false;
    for (int i = 0; i < v->rank; i++) {
        const long long wanted = extent_value(&v->shape[i], dims), stored = t->shape[stored_axis(v, i)];
        if (i ? stored != wanted : !has_rows(rows, stored, wanted)) return false;
    }
    return true;
}

static const char *shape_text(arena *a, const long long *shape, int rank)
{
    text t = {.a = a};
    text_printf(&t, "[");
    for (int i = 0; i < rank; i++) text_printf(&t, i ? ", %lld" : "%lld", shape[i]);
    text_printf(&t, "]");
    return t.data;
}

static _Noreturn void refuse_shape(const safetensors *f, const safetensors_tensor *t, const ir_value *v, const row_range *r,
                                   const dim_table *dims)
{
    long long wanted[max_rank];
    for (int i = 0; i < v->rank; i++) wanted[i] = extent_value(&v->shape[stored_axis(v, i)], dims);
    if (r && r->every) wanted[stored_axis(v, 0)] = wanted[stored_axis(v, 0)] / (r->end - r->first) * r->every;
    bad(f, "byte %zu: tensor '%s' is %s, the spec's %%%s takes %s%s%s", t->offset, t->name, shape_text(f->a, t->shape, t->rank), v->name,
        !r         ? ""
        : r->every ? "rows of "
                   : arena_printf(f->a, "rows %lld to %lld, ", r->first, r->end),
        shape_text(f->a, wanted, v->rank), v->from_transposed ? " (which it transposes)" : "");
}

/* Tries the name v->from, of whose tensor v->from_rows may select rows, then v->name, whose tensor must have the value's shape. Bails if
 * none fits. */
static const safetensors_tensor *find_tensor(const safetensors *f, const ir_value *v, const dim_table *dims, const char *const *prefixes,
                                             size_t prefix_count, const row_range **rows)
{
    const char *const names[] = {v->from, v->name};
    const row_range *const ranges[] = {v->from_rows, NULL};
    const safetensors_tensor *misfit = NULL;
    int misfit_name = 0;
    for (int n = 0; n < 2; n++)
        for (size_t i = 0; names[n] && i < prefix_count; i++) {
            const safetensors_tensor *t = safetensors_find(f, arena_printf(f->a, "%s%s", prefixes[i], names[n]));
            if (t && has_shape(t, v, ranges[n], dims)) return *rows = ranges[n], t;
            if (t && !misfit) misfit = t, misfit_name = n;
        }
    if (misfit) refuse_shape(f, misfit, v, ranges[misfit_name], dims);
    refuse_missing(f, v->from ? v->from : v->name);
}

/* Elements must be 32-bit integers within the spec's range. */
static void check_integers(const safetensors *f, const safetensors_tensor *t, const ir_value *v, const dim_table *dims, const double *data)
{
    const double low = v->has_range ? (double)extent_value(&v->range_low, dims) : INT32_MIN;
    const double high = v->has_range ? (double)extent_value(&v->range_high, dims) : INT32_MAX;
    for (long long i = 0; i < t->count; i++) {
        if (!(data[i] >= INT32_MIN && data[i] <= INT32_MAX) || data[i] != (double)(int32_t)data[i])
            bad(f, "byte %zu: element %lld of tensor '%s' is %.10g, %%%s takes 32-bit integers", t->offset, i, t->name, data[i], v->name);
        if (data[i] < low || data[i] > high)
            bad(f, "byte %zu: element %lld of tensor '%s' is %.0f, the range of the spec's %%%s is %.0f to %.0f", t->offset, i, t->name,
                data[i], v->name, low, high);
    }
}

/* The tensor's rows that make up a value: `count` groups of `size` rows, the first at `first`, `every` rows apart. */
typedef struct row_groups {
    long long count, size, every, first;
} row_groups;

static row_groups groups_of(const row_range *r, long long all)
{
    if (!r) return (row_groups){1, all, all, 0};
    return r->every ? (row_groups){all / r->every, r->end - r->first, r->every, r->first}
                    : (row_groups){1, r->end - r->first, all, r->first};
}

/* Reads a transposed tensor [columns, rows]: its columns become the value's rows. */
static void read_transposed(const safetensors *f, const safetensors_tensor *t, const row_groups *r, double *out)
{
    enum { piece = 4096 };
    double part[piece];
    const long long columns = t->shape[0];
    for (long long k = 0; k < columns; k++)
        for (long long g = 0; g < r->count; g++)
            for (long long i = 0; i < r->size; i += piece) {
                const long long n = r->size - i < piece ? r->size - i : piece;
                safetensors_read_part(f, t, k * t->shape[1] + g * r->every + r->first + i, n, part);
                for (long long m = 0; m < n; m++) out[(g * r->size + i + m) * columns + k] = part[m];
            }
}

static void read_rows(const safetensors *f, const safetensors_tensor *t, const row_groups *r, double *out)
{
    const long long columns = t->shape[0] ? t->count / t->shape[0] : 0;
    for (long long g = 0; g < r->count; g++)
        safetensors_read_part(f, t, (g * r->every + r->first) * columns, r->size * columns, out + g * r->size * columns);
}

/* `count` elements from `first` on, in another dtype or the stored one. */
static void put_part(const safetensors *f, const safetensors_tensor *t, long long first, long long count, dtype type, char *out)
{
    enum { piece = 4096 };
    double part[piece];
    const size_t size = (size_t)dtype_size(type);
    if (strcmp(dtype_file_name(type), t->dtype) == 0) {
        read_bytes(f, t->offset + (size_t)first * size, (unsigned char *)out, (size_t)count * size);
        return;
    }
    for (long long i = 0; i < count; i += piece) {
        const long long n = count - i < piece ? count - i : piece;
        safetensors_read_part(f, t, first + i, n, part);
        for (long long k = 0; k < n; k++) dtype_put(type, out, (size_t)(i + k), part[k]);
    }
}

void safetensors_put_value(const safetensors *f, const ir_value *v, const dim_table *dims, const char *const *prefixes, size_t prefix_count,
                           void *out)
{
    const row_range *rows;
    const safetensors_tensor *t = find_tensor(f, v, dims, prefixes, prefix_count, &rows);
    const long long count = value_count(v, dims), columns = t->rank && t->shape[0] ? t->count / t->shape[0] : 1;
    const row_groups groups = groups_of(rows, t->rank ? t->shape[stored_axis(v, 0)] : 1);
    if (v->from_transposed && t->rank == 2) {
        double *numbers = malloc((size_t)(count > 0 ? count : 1) * sizeof *numbers);
        if (!numbers) bail(f->a, code_device, (position){0}, "not enough memory for %lld numbers", count);
        arena_defer(f->a, free, numbers); /* small: only old models have weights stored so */
        read_transposed(f, t, &groups, numbers);
        for (long long i = 0; i < count; i++) dtype_put(v->type, out, (size_t)i, numbers[i]);
        return;
    }
    for (long long g = 0; g < groups.count; g++)
        put_part(f, t, (g * groups.every + groups.first) * columns, groups.size * columns, v->type,
                 (char *)out + (size_t)(g * groups.size * columns) * (size_t)dtype_size(v->type));
}

void safetensors_read_value(const safetensors *f, const ir_value *v, const dim_table *dims, const char *const *prefixes,
                            size_t prefix_count, bool rounded, double *out)
{
    const row_range *rows;
    const safetensors_tensor *t = find_tensor(f, v, dims, prefixes, prefix_count, &rows);
    const long long count = value_count(v, dims);
    const row_groups groups = groups_of(rows, t->rank ? t->shape[stored_axis(v, 0)] : 1);
    if (v->from_transposed && t->rank == 2) read_transposed(f, t, &groups, out);
    else if (t->rank) read_rows(f, t, &groups, out);
    else safetensors_read(f, t, out);
    if (v->type == dtype_i32) check_integers(f, t, v, dims, out);
    for (long long i = 0; rounded && i < count; i++) out[i] = dtype_round(v->type, out[i]);
}
