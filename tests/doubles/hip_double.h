/* The double of the HIP runtime: what its files share, and the functions that tests call.
 * The double is a shared object with the runtime's symbols. It keeps devices, modules, streams, events, graphs and memory, and checks each
 * call against the runtime's rules and the loaded code object's metadata. Work is deferred until something waits, then runs on the host
 * engine or the instruction emulator. A call that breaks a rule is a violation: it is recorded and the call fails.
 *
 * Environment: TFGEN_DOUBLE_DEVICES=gfx90a,gfx942 (default gfx90a; empty: none), TFGEN_DOUBLE_MEMORY=bytes a device, TFGEN_DOUBLE_FAULT
 * (see hip_double_fault), TFGEN_DOUBLE_VERSION (hipRuntimeGetVersion's), TFGEN_DOUBLE_EMULATOR=emulator.py with TINYGRAD_DIR: executes
 * code objects instruction by instruction; HIP_VISIBLE_DEVICES, ROCR_VISIBLE_DEVICES and HSA_OVERRIDE_GFX_VERSION as in the runtime. */
#ifndef TFGEN_DOUBLES_HIP_DOUBLE_H
#define TFGEN_DOUBLES_HIP_DOUBLE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "runtime/device/hip_abi.h"

#define EXPORT __attribute__((visibility("default")))

/* ---- for tests, found with dlsym() */
/* "hipMalloc:3:2": the third call of hipMalloc from now on returns 2 and does nothing. "async:2": the second kernel that runs fails; the
 * next wait reports it. "lost:2": the device is lost at the second launch. Each fires once; NULL clears it. */
void hip_double_fault(const char *text);
const char *hip_double_violations(void); /* returns and clears the first one's text; NULL: none */
int hip_double_live(void);               /* live objects and allocations, except those of lost devices */
long hip_double_launches(void);          /* kernels that ran */

/* ---- inside */
enum { most_devices = 8, most_argument_bytes = 4096, guard_bytes = 65536 };

typedef struct device device;
typedef struct stream stream;
typedef struct module module;

typedef struct kernel { /* a hipFunction_t; never freed, so that a stale handle is detected */
    module *module;
    char *name;
    unsigned explicit_bytes, kernarg_bytes, most_threads, lds_bytes, wave;
    struct kernel *next;
} kernel;

struct module {
    device *device; /* NULL: unloaded */
    struct host_module *host;
    int file; /* descriptor of the code object, for the emulator; -1: none */
    kernel *kernels;
    int queued; /* launches that have not run */
    module *next;
};

typedef enum op_kind { op_launch, op_copy, op_fill, op_record, op_wait } op_kind;
typedef struct event event;
typedef struct op {
    op_kind kind;
    unsigned long number; /* in call order */
    kernel *kernel;
    unsigned grid, threads, dynamic_bytes;
    bool cooperative;
    void *arguments;
    size_t argument_bytes;
    void *to;
    const void *from;
    size_t bytes;
    int byte;
    event *event;
    struct op *next;
} op;

typedef struct op_list {
    op *first, **last;
    int count;
} op_list;

struct event {
    char magic[8];
    device *device;
    stream *stream;
    double seconds;
    int ordered; /* the `ordered` of its stream when it was recorded */
    bool recorded, done;
    event *next;
};

typedef struct graph {
    char magic[8];
    device *device;
    op_list ops;
    struct graph *next;
} graph;

struct stream {
    char magic[8];
    device *device;
    bool blocking, broken_capture;
    graph *capture; /* NULL: not capturing */
    int ordered;    /* the device's cooperative launches up to this number end before its next work begins */
    op_list ops;
    stream *next;
};

typedef struct allocation {
    char *address;
    size_t bytes, room; /* room: bytes up to the guard */
    char *map;
    size_t map_bytes;
    int awake; /* running kernels and copies that use it; mapped while > 0 */
    bool freed;
    struct allocation *next;
} allocation;

struct device {
    int ordinal;
    char arch[64], label[64];
    unsigned units, most_lds, wave;
    size_t memory, used;
    char *arena;
    size_t arena_used;
    int arena_file; /* descriptor shared with the emulator, or -1 */
    allocation *allocations;
    stream null_stream, *streams;
    int cooperative_launches;
    int pending_error; /* reported by the next wait */
    int sticky;        /* every call fails with it; 0: none */
};

typedef struct state {
    device devices[most_devices];
    int count;
    unsigned long calls;
    long launches;
    module *modules;
    event *events;
    graph *graphs; /* and instantiated ones */
    int version;
} state;
state *double_state(void); /* made from the environment by the first call */

enum { arena_bytes_log2 = 35 };

/* Takes the lock. Returns the code of an injected fault or a lost device, or 0. */
int double_begin(const char *call);
int double_end(int code);
void violate(const char *format, ...) __attribute__((format(printf, 1, 2)));
device *current_device(void);
/* True when the injected fault of this kind ("async", "lost") is due. */
bool fault_due(const char *kind);

/* hip_memory.c */
bool memory_open(device *d);
/* memory_wake() maps the live allocation that contains the address, if any; memory_sleep() unmaps it after as many calls. So only running
 * kernels and copies can access allocations, and only those that they were passed. */
void memory_wake(device *d, const void *address);
void memory_sleep(device *d, const void *address);
/* NULL if [address, address + bytes) is live memory of this device, else a text that says what is wrong. */
const char *memory_fault(device *d, const void *address, size_t bytes);
bool memory_is_device(const void *address);
bool memory_is_host(const void *address); /* memory of this process and no device's: pages that it has touched, not reserved addresses */
int memory_live(const device *d);

/* hip_module.c */
kernel *kernel_of(void *handle); /* NULL: never was one */

/* hip_stream.c */
stream *stream_of(void *handle, device *d); /* NULL after a violation */
int stream_push(stream *s, op *o);          /* queues or captures; takes ownership of o */
int device_wait(device *d); /* runs all queued work; returns the first error since the last wait */
int forbidden_in_capture(const char *call); /* raises a violation if the calling thread is capturing */
int stream_wait(stream *s);
void queue_drop(op_list *list);

/* hip_run.c */
int double_run(device *d, const op *o); /* a HIP code */
struct host_module;
bool emulating(void);
#endif
