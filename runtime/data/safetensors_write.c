/* In: tensors in memory. Out: a safetensors file, complete or not at all. Fails with code_io if it cannot be written. */
#define _GNU_SOURCE
#include "runtime/data/safetensors.h"
#include <errno.h>
#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "runtime/system/files.h"

/* Bytes of an element of a dtype that is written: one of tfgen's dtypes, or F64, in which the reference's results are written. */
static size_t element_size(const char *name)
{
    for (int i = 0; i < dtype_count; i++)
        if (strcmp(name, dtype_file_name((dtype)i)) == 0) return (size_t)dtype_size((dtype)i);
    return sizeof(double);
}

static size_t item_bytes(const safetensors_item *item)
{
    size_t bytes = element_size(item->dtype);
    for (int i = 0; i < item->rank; i++) bytes *= (size_t)item->shape[i];
    return bytes;
}

/* Larger elements first, so that each tensor is aligned to its element size; the format's own writer does the same. */
static int by_size(const void *x, const void *y)
{
    const safetensors_item *p = *(const safetensors_item *const *)x, *q = *(const safetensors_item *const *)y;
    const size_t p_size = element_size(p->dtype), q_size = element_size(q->dtype);
    return p_size != q_size ? (p_size < q_size) - (p_size > q_size) : strcmp(p->name, q->name);
}

static void free_text(void *s) { free(s); }

static char *header_text(arena *a, const safetensors_item *const *items, size_t count)
{
    json_t *root = json_object();
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        json_t *shape = json_array();
        for (int k = 0; k < items[i]->rank; k++) json_array_append_new(shape, json_integer(items[i]->shape[k]));
        const size_t end = at + item_bytes(items[i]);
        json_object_set_new(root, items[i]->name,
                            json_pack("{s:s, s:o, s:[I, I]}", "dtype", items[i]->dtype, "shape", shape, "data_offsets",
                                      (json_int_t)at, (json_int_t)end));
        at = end;
    }
    const bool distinct = json_object_size(root) == count;
    char *s = json_dumps(root, JSON_COMPACT);
    json_decref(root);
    if (s) arena_defer(a, free_text, s);
    if (!s || !distinct)
        bail(a, code_io, (position){0},
             s ? "two tensors have the same name" : "a tensor's name is not UTF-8, or memory ran out");
    return s;
}

static bool write_all(FILE *f, const void *data, size_t size) { return fwrite(data, 1, size, f) == size; }

static bool write_file(FILE *file, const char *header, const safetensors_item *const *items, size_t count)
{
    const size_t length = strlen(header), padded = (length + 7) / 8 * 8;
    unsigned char size[8];
    for (int i = 0; i < 8; i++) size[i] = (unsigned char)((uint64_t)padded >> 8 * i);
    if (!write_all(file, size, sizeof size) || !write_all(file, header, length) ||
        !write_all(file, "        ", padded - length))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!write_all(file, items[i]->data, item_bytes(items[i]))) return false;
    return true;
}

void safetensors_write(arena *a, const char *path, const safetensors_item *items, size_t count)
{
    const safetensors_item **order = arena_alloc(a, count * sizeof *order);
    for (size_t i = 0; i < count; i++) order[i] = &items[i];
    qsort(order, count, sizeof *order, by_size);
    const char *header = header_text(a, order, count);
    file_draft d;
    if (!file_begin(&d, path) || !file_finish(&d, write_file(d.out, header, order, count)))
        bail(a, code_io, (position){0}, "%s: cannot write: %s", path, file_why(errno));
}
