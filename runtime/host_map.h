/* In: a matrix in memory and its box. Out: the 128 bytes that templates/isa/wgmma_host.h reads as a tensor map. Refuses nothing. */
#ifndef TFGEN_RUNTIME_HOST_MAP_H
#define TFGEN_RUNTIME_HOST_MAP_H
#include "gen/gen.h"

typedef struct host_map {
    const char *data;
    long long rows, row_bytes, stride;
    int box_rows, element;
    unsigned long long unused[11];
} host_map;
_Static_assert(sizeof(host_map) == 128, "as a tensor map of cuda.h");

static inline host_map host_map_of(const tensor_box *box, const void *data, const dim_table *dims)
{
    return (host_map){.data = (const char *)data + box->start,
                      .rows = extent_value(&box->rows, dims),
                      .row_bytes = box->columns * dtype_size(box->type),
                      .stride = box->stride,
                      .box_rows = box->box_rows,
                      .element = dtype_size(box->type)};
}
#endif
