/* In: a kind of device and an ordinal. Out: one table of functions that everything above (modules, weights, execute, bench, the
 * command) calls, so that hip, cuda and host differ in one file each. Refuses with a status and a sentence that names the call of the
 * vendor's library. The vendors' libraries are opened at run time and never linked. */
#ifndef TFGEN_DEVICE_H
#define TFGEN_DEVICE_H
#include "gen/gen.h"
#include "runtime/host/host.h"
#include "runtime/api/tfgen.h"

typedef struct device_api device_api;

struct tfgen_device {
    const device_api *api;
    int ordinal;
    tfgen_device_info info;
    char bus[32]; /* 0000:41:00.0, or "": the driver does not say */
    /* an api's own device begins with this struct */
};

typedef struct launch_shape {
    unsigned grid, threads;
    unsigned shared_bytes;  /* static and dynamic shared memory of a workgroup */
    unsigned dynamic_bytes; /* the part of it that a launch asks for */
    unsigned wave;
    bool cooperative;
    bool overlap; /* may begin before the launch ahead of it has ended (docs/overlap.md); not with cooperative */
} launch_shape;

/* Source that a device compiles itself (the host). Everything that its compiler said is appended to `log`, which may be NULL. */
typedef struct device_source {
    const char *name, *file, *text;
    struct cache *cache;   /* NULL: keep nothing */
    double seconds;        /* limit; 0: the compiler's own */
    host_log *log;
    bool cached;           /* out: it was in the cache */
} device_source;

/* A tensor map (sm_90a): a matrix of `rows` x `columns` elements, rows `stride` bytes apart, boxes of box_rows x box_columns with a
 * 128-byte swizzle, zeros outside. heads > 0: such a matrix for each head of each batch, boxes of box_heads heads of one batch. pieces: a
 * matrix and boxes of pieces of 1 KB of a packed weight (tensor_box in gen/gen.h), without swizzle. */
typedef struct map_shape {
    const void *data;
    dtype type;
    long long rows, columns, stride;
    int box_rows, box_columns, box_heads;
    bool pieces;
    long long heads, head_stride, batches, batch_stride;
} map_shape;

struct device_api {
    const char *kind; /* hip, cuda, host */
    /* Devices that can be used now; *why (static text or one line in the caller's buffer) when there are none. */
    int (*count)(char *why, size_t why_size);
    tfgen_status (*open)(int ordinal, tfgen_device **out, tfgen_error *error); /* fills info */
    /* The same info without a context, which takes time and memory; NULL: open() costs nothing. */
    tfgen_status (*describe)(int ordinal, tfgen_device_info *info, tfgen_error *error);
    void (*close)(tfgen_device *d);

    /* Code. An image comes from a code object (of the compilers, or made ahead of time) by load(), or from source by compile(), which
     * only a device has that compiles for itself and which is called from several threads at once. A kernel lives as long as its image. */
    tfgen_status (*load)(tfgen_device *d, const void *code, size_t size, void **image, tfgen_error *error);
    tfgen_status (*compile)(tfgen_device *d, device_source *source, void **image, tfgen_error *error);
    /* Ahead of compile(): images of those that are made faster together; of the others images[i] stays NULL. May be NULL. */
    void (*compile_together)(tfgen_device *d, device_source *sources, size_t count, void **images);
    void (*unload)(tfgen_device *d, void *image);
    /* Of a name as users know it: what the code calls it is kernel_symbol() of that. */
    tfgen_status (*kernel)(tfgen_device *d, void *image, const char *name, unsigned dynamic_bytes, void **kernel, tfgen_error *error);
    /* The arguments are one struct of `bytes` that is copied by the call, aligned to 128. No allocation, no lock. */
    tfgen_status (*launch)(tfgen_device *d, void *kernel, const launch_shape *shape, void *arguments, size_t bytes, void *stream,
                           tfgen_error *error);
    tfgen_status (*encode_map)(tfgen_device *d, void *map /* 128 bytes, aligned to 128 */, const map_shape *shape, tfgen_error *error);

    tfgen_status (*alloc)(tfgen_device *d, size_t bytes, const char *name, void **memory, tfgen_error *error);
    void (*free)(tfgen_device *d, void *memory);
    tfgen_status (*copy)(tfgen_device *d, void *to, const void *from, size_t bytes, tfgen_copy_kind kind, void *stream, tfgen_error *error);
    tfgen_status (*fill)(tfgen_device *d, void *memory, unsigned char byte, size_t bytes, void *stream, tfgen_error *error);
    tfgen_status (*synchronize)(tfgen_device *d, void *stream, tfgen_error *error);

    /* For timing and graphs (`tfgen bench`). The host's stream is NULL, its events are readings of a clock, and it has no graphs
     * (unsupported). */
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

/* The host engine as the command uses it: a GPU target's kernels in that target's geometry, checked, with the engine's reports whole. */
typedef struct host_device_options {
    const target_info *target; /* NULL: host */
    bool guard;                /* faults and hangs of kernels become errors, which takes signal handlers during launches */
    bool poison;               /* check behind allocations, fill shared memory with NaN before each workgroup */
    bool check;                /* race and bounds checker: a launch that it faults ends with code_check_failed */
    unsigned workers;          /* 0: one a processor */
    int multiprocessors;       /* that it says it has, for launches that share out tiles; 0: as many as workgroups that run at once */
    void (*touched)(void *context, const char *kernel, const char *name, size_t read, size_t written); /* with check: host_touched */
    void *context;                                                                                    /* of touched */
    const host_watch *watch;   /* with check: told of each access, instead of looking for races */
    host_log *log;             /* the engine's reports, appended by launches, which are then made by one thread only; or NULL */
} host_device_options;
tfgen_status host_device_open(const host_device_options *options, tfgen_device **out, tfgen_error *error);

/* Kinds in the order in which tfgen_device_open(NULL) looks; the host is last. */
extern const device_api *const device_kinds[];
extern const size_t device_kind_count;

/* What code calls the kernel `name` (gen/base/names.h), in the caller's buffer. */
enum { symbol_room = 128 };
const char *kernel_symbol(const char *name, char symbol[symbol_room]);

/* Writes the sentence (error may be NULL) and returns the status. */
tfgen_status device_report(tfgen_error *error, tfgen_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* What an arena_run() of that code said. */
tfgen_status device_report_arena(tfgen_error *error, tfgen_code code, const arena *a);
/* Copies `size` bytes of a caller's struct whose first field is its own size, the rest zero. False: the size makes no sense. */
bool take_options(void *known, size_t known_size, const void *given);
/* A struct that the caller reads: as much of it as the caller knows, with the caller's size kept. */
void give_struct(void *out, size_t room, const void *from, size_t size);
#endif
