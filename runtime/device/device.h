/* In: a kind of device and an ordinal. Out: a table of functions that all layers above (modules, weights, execute, bench, the command)
 * call, so that hip, cuda and host differ in one file each. Errors are a status and a sentence that names the vendor library's call. The
 * vendors' libraries are opened at run time and never linked. */
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
    char bus[32]; /* PCI address, 0000:41:00.0; "": the driver does not report it */
    /* each api's device type begins with this struct */
};

typedef struct launch_shape {
    unsigned grid, threads;
    unsigned shared_bytes;  /* static and dynamic shared memory per workgroup */
    unsigned dynamic_bytes; /* the dynamic part */
    unsigned wave;
    bool cooperative; /* workgroups wait for each other */
    bool overlap;     /* may start before the previous launch has ended (PDL, docs/overlap.md). A launch that is cooperative, too, is then
                       * made without the driver's cooperative attribute: its workgroups count themselves (templates/frame/census.h) */
} launch_shape;

/* Source that the device itself compiles (the host). All compiler messages are appended to `log`, which may be NULL. */
typedef struct device_source {
    const char *name, *file, *text;
    struct cache *cache;   /* NULL: none */
    double seconds;        /* time limit; 0: the compiler's default */
    host_log *log;
    bool cached;           /* out: it was in the cache */
} device_source;

/* A TMA tensor map (sm_90a): a matrix of `rows` x `columns` elements, rows `stride` bytes apart, boxes of box_rows x box_columns with a
 * 128-byte swizzle, out-of-bounds elements read as zero. heads > 0: one such matrix per head of each batch; a box spans box_heads heads of
 * one batch. pieces: matrix and boxes count 1 KB core-matrix tiles of a packed weight (tensor_box in gen/gen.h), without swizzle. */
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
    /* Number of usable devices; if there are none, `why` (the caller's buffer) receives one line with the reason. */
    int (*count)(char *why, size_t why_size);
    tfgen_status (*open)(int ordinal, tfgen_device **out, tfgen_error *error); /* fills info */
    /* The same info without creating a context, which takes time and memory; NULL: open() is cheap. */
    tfgen_status (*describe)(int ordinal, tfgen_device_info *info, tfgen_error *error);
    void (*close)(tfgen_device *d);

    /* Code. load() makes an image from a code object, compile() from source. compile() exists only for devices that have their own compiler
     * (the host) and is called from several threads at once. A kernel lives as long as its image. */
    tfgen_status (*load)(tfgen_device *d, const void *code, size_t size, void **image, tfgen_error *error);
    tfgen_status (*compile)(tfgen_device *d, device_source *source, void **image, tfgen_error *error);
    /* Called before compile(): compiles sources that build faster together; for the others images[i] stays NULL. May be NULL. */
    void (*compile_together)(tfgen_device *d, device_source *sources, size_t count, void **images);
    void (*unload)(tfgen_device *d, void *image);
    /* `name` is the kernel's user-visible name; its symbol in the code is kernel_symbol(name). */
    tfgen_status (*kernel)(tfgen_device *d, void *image, const char *name, unsigned dynamic_bytes, void **kernel, tfgen_error *error);
    /* `arguments` is one struct of `bytes` bytes, aligned to 128, copied before the call returns. No allocation; no lock, but for
     * cooperative launches, which are ordered among streams (order.h). */
    tfgen_status (*launch)(tfgen_device *d, void *kernel, const launch_shape *shape, void *arguments, size_t bytes, void *stream,
                           tfgen_error *error);
    /* The most workgroups of a launch of this shape, whatever its grid, that the device holds at once: at least 1, else an error. */
    tfgen_status (*resident)(tfgen_device *d, void *kernel, const launch_shape *shape, unsigned *workgroups, tfgen_error *error);
    tfgen_status (*encode_map)(tfgen_device *d, void *map /* 128 bytes, aligned to 128 */, const map_shape *shape, tfgen_error *error);

    tfgen_status (*alloc)(tfgen_device *d, size_t bytes, const char *name, void **memory, tfgen_error *error);
    void (*free)(tfgen_device *d, void *memory);
    tfgen_status (*copy)(tfgen_device *d, void *to, const void *from, size_t bytes, tfgen_copy_kind kind, void *stream, tfgen_error *error);
    tfgen_status (*fill)(tfgen_device *d, void *memory, unsigned char byte, size_t bytes, void *stream, tfgen_error *error);
    tfgen_status (*synchronize)(tfgen_device *d, void *stream, tfgen_error *error);

    /* For timing and graphs (`tfgen bench`). On the host, streams are NULL, events are clock readings and graphs are unsupported. */
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

/* Options of the host engine for the command: run a GPU target's kernels in that target's geometry, checked, with full reports. */
typedef struct host_device_options {
    const target_info *target; /* NULL: host */
    bool guard;                /* turn faults and hangs of kernels into errors; installs signal handlers during launches */
    bool poison;               /* check the bytes after allocations, fill shared memory with NaN before each workgroup */
    bool check;                /* race and bounds checker: a launch with findings ends with code_check_failed */
    unsigned workers;          /* 0: one per processor */
    int multiprocessors;       /* how many to report, which sizes the grids of persistent kernels; 0: as many as workgroups run
                                * concurrently */
    void (*touched)(void *context, const char *kernel, const char *name, size_t read, size_t written); /* with check: host_touched */
    void *context;                                                                                    /* of touched */
    const host_watch *watch;   /* with check: called for each access, instead of detecting races */
    host_log *log;             /* launches append the engine's reports; then launch from one thread only. May be NULL */
} host_device_options;
tfgen_status host_device_open(const host_device_options *options, tfgen_device **out, tfgen_error *error);

/* Kinds in the order that tfgen_device_open(NULL) tries them; the host is last. */
extern const device_api *const device_kinds[];
extern const size_t device_kind_count;

/* Writes the symbol of kernel `name` (gen/base/names.h) to the caller's buffer and returns it. */
enum { symbol_room = 128 };
const char *kernel_symbol(const char *name, char symbol[symbol_room]);

/* For resident(): the workgroups of this shape that the device holds at once, if each multiprocessor holds `each` of them. */
tfgen_status device_seats(const tfgen_device *d, int each, const launch_shape *shape, unsigned *workgroups, tfgen_error *error);

/* Formats the message into `error` (may be NULL) and returns the status. */
tfgen_status device_report(tfgen_error *error, tfgen_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* The same with the message of an arena_run() that returned `code`. */
tfgen_status device_report_arena(tfgen_error *error, tfgen_code code, const arena *a);
/* Copies a caller's options, whose first field is their size, and zeroes fields beyond that size. False: the size is invalid. */
bool take_options(void *known, size_t known_size, const void *given);
/* Copies a result into the caller's struct of `room` bytes: the fields that the caller knows; its `size` is kept. */
void give_struct(void *out, size_t room, const void *from, size_t size);
#endif
