/* In: a kind of device and an ordinal. Out: one table of functions that everything above (modules, weights, execute, bench, the
 * command) calls, so that hip, cuda and host differ in one file each. Refuses with a status and a sentence that names the call of the
 * vendor's library. The vendors' libraries are opened at run time and never linked. */
#ifndef TFGEN_DEVICE_H
#define TFGEN_DEVICE_H
#include "gen/gen.h"
#include "runtime/tfgen.h"

typedef struct device_api device_api;

struct tfgen_device {
    const device_api *api;
    int ordinal;
    tfgen_device_info info;
    /* an api's own device begins with this struct */
};

typedef struct launch_shape {
    unsigned grid, threads, shared_bytes, wave;
    bool cooperative;
} launch_shape;

/* A tensor map (sm_90a): a matrix of `rows` x `columns` elements, rows `stride` bytes apart, boxes of box_rows x box_columns with a
 * 128-byte swizzle, zeros outside. */
typedef struct map_shape {
    const void *data;
    dtype type;
    long long rows, columns, stride;
    int box_rows, box_columns;
} map_shape;

struct device_api {
    const char *kind; /* hip, cuda, host */
    /* Devices that can be used now; *why (static text or one line in the caller's buffer) when there are none. */
    int (*count)(char *why, size_t why_size);
    tfgen_status (*open)(int ordinal, tfgen_device **out, tfgen_error *error); /* fills info */
    void (*close)(tfgen_device *d);

    /* Code. A kernel handle lives as long as its image. `shared_bytes`: dynamic shared memory that launches will ask for. */
    tfgen_status (*load)(tfgen_device *d, const void *code, size_t size, void **image, tfgen_error *error);
    void (*unload)(tfgen_device *d, void *image);
    tfgen_status (*kernel)(tfgen_device *d, void *image, const char *name, unsigned shared_bytes, void **kernel, tfgen_error *error);
    /* The arguments are one struct of `bytes`, copied by the call. No allocation, no lock. */
    tfgen_status (*launch)(tfgen_device *d, void *kernel, const launch_shape *shape, void *arguments, size_t bytes, void *stream,
                           tfgen_error *error);
    tfgen_status (*encode_map)(tfgen_device *d, void *map /* 128 bytes, aligned to 128 */, const map_shape *shape, tfgen_error *error);

    tfgen_status (*alloc)(tfgen_device *d, size_t bytes, const char *name, void **memory, tfgen_error *error);
    void (*free)(tfgen_device *d, void *memory);
    tfgen_status (*copy)(tfgen_device *d, void *to, const void *from, size_t bytes, tfgen_copy_kind kind, void *stream, tfgen_error *error);
    tfgen_status (*fill)(tfgen_device *d, void *memory, unsigned char byte, size_t bytes, void *stream, tfgen_error *error);
    tfgen_status (*synchronize)(tfgen_device *d, void *stream, tfgen_error *error);

    /* For timing and graphs (`tfgen bench`). The host's stream is NULL and its graph is not there (unsupported). */
    tfgen_status (*stream_create)(tfgen_device *d, void **stream, tfgen_error *error);
    void (*stream_destroy)(tfgen_device *d, void *stream);
    tfgen_status (*event_create)(tfgen_device *d, void **event, tfgen_error *error);
    void (*event_destroy)(tfgen_device *d, void *event);
    tfgen_status (*event_record)(tfgen_device *d, void *event, void *stream, tfgen_error *error);
    tfgen_status (*event_elapsed)(tfgen_device *d, void *start, void *end, double *seconds, tfgen_error *error); /* waits for end */
    tfgen_status (*graph_begin)(tfgen_device *d, void *stream, tfgen_error *error);
    tfgen_status (*graph_end)(tfgen_device *d, void *stream, void **graph, tfgen_error *error);
    tfgen_status (*graph_launch)(tfgen_device *d, void *graph, void *stream, tfgen_error *error);
    void (*graph_destroy)(tfgen_device *d, void *graph);
};

extern const device_api hip_device, cuda_device, host_device; /* device_hip.c, device_cuda.c, device_host.c */

tfgen_status device_report(tfgen_error *error, tfgen_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));
#endif
