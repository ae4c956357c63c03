/* In: HIP source that tfgen emitted (clang compiles it for this CPU), launches, and memory for kernels to work on.
 * Out: kernels that ran, or a status and a text that says where (block, thread, wave, lane, line) they went wrong.
 * A trap, a fault, a deadlock or a hang ends the launch with a status, never the process. */
#ifndef TFGEN_HOST_H
#define TFGEN_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct host_engine host_engine; /* workers, pooled stacks, registered memory */
typedef struct host_module host_module; /* one shared object */

typedef enum host_status {
    HOST_OK,
    HOST_BAD_CALL,       /* invalid arguments of a launch or a compile; the text has the reason */
    HOST_NO_MEMORY,
    HOST_NO_COMPILER,    /* the text names the package to install */
    HOST_COMPILE_FAILED, /* the text is the compiler's */
    HOST_COMPILE_TIMEOUT,
    HOST_IO,
    HOST_NO_KERNEL,
    HOST_TRAP,     /* assert or trap in a kernel */
    HOST_FAULT,    /* bad address, stack overflow, integer division by zero */
    HOST_DEADLOCK, /* every thread waits, and none can be released */
    HOST_HANG,     /* no progress within the time limit */
    HOST_CHECKED,  /* --check found races, out-of-bounds accesses or reads of unwritten memory */
    HOST_STATUS_COUNT
} host_status;
const char *host_status_name(host_status status);

/* A growing text. Zero-initialise; the engine appends, at most HOST_LOG_MAX bytes. */
#define HOST_LOG_MAX (1u << 20)
typedef struct host_log {
    char *text; /* null or a string */
    size_t size, room;
} host_log;
void host_log_free(host_log *log);
void host_log_add(host_log *log, const char *bytes, size_t size);

/* Called after a checked launch for each allocation that it accessed: how many of its bytes were read and written, each byte counted once;
 * bytes that the launch overwrote after reading them do not count as read. name NULL: `read` is the number of operations of all matrix
 * instructions (AMD's, which a wave executes together; a multiply-add counts as two). */
typedef void host_touched(void *context, const char *kernel, const char *name, size_t read, size_t written);

/* One access of one lane, in a checked launch. */
typedef enum host_access_kind { HOST_READ, HOST_WRITE, HOST_ATOMIC_READ, HOST_ATOMIC_WRITE, HOST_ACCESS_KINDS } host_access_kind;
typedef struct host_access {
    const char *memory;   /* the allocation's name, the same pointer during its lifetime; null: shared memory */
    size_t offset, bytes; /* offset into the allocation (aligned to 256) and size of the access */
    unsigned block, wave, lane;
    unsigned meetings; /* collectives and barriers that this lane has taken part in since its block started */
    host_access_kind kind;
    bool bulk;      /* an asynchronous bulk copy: `bytes` at once, executed by no lane */
    bool matrix;    /* an operand that a matrix instruction reads from shared memory itself */
    uintptr_t code; /* address after the instruction, for host_module_places() */
} host_access;
/* Observes the accesses of checked launches. For a GPU instruction that the host engine emulates, these are the accesses that the
 * instruction makes on the GPU, not those of the emulation. Calls never run concurrently. Race detection is off for a watched launch. */
typedef struct host_launch_dims host_launch_dims;
typedef struct host_watch {
    void (*begin)(void *context, const char *kernel, const host_launch_dims *dims, const host_module *module);
    void (*access)(void *context, const host_access *access);
    void (*end)(void *context); /* allocations and code are still valid */
    void *context;
} host_watch;
/* Resolves code addresses: calls `told` for each inlined frame of each address, innermost first, with the address's index in `codes`, the
 * frame's depth, its source position as file:line or file:line:column, and its spec position as file:line:column (NULL: it comes from no
 * op). Addresses that the symboliser does not know are skipped. */
typedef void host_place_told(void *context, size_t index, unsigned depth, const char *function, const char *place, const char *spec);
void host_module_places(const host_module *module, const uintptr_t *codes, size_t count, host_place_told *told, void *context);

typedef struct host_engine_options {
    unsigned workers;        /* threads that run blocks, the caller's included; 0: one per CPU */
    unsigned stall_limit_ms; /* a launch in which no barrier (or phase of one) completes and no block ends for this long is a hang;
                                0: 60 s */
    unsigned time_limit_ms;  /* a launch that takes longer is a hang; 0: no limit */
    bool poison;             /* fill shared memory with NaN before each block, check the slack after allocations */
    host_touched *touched;   /* may be null */
    void *context;           /* of touched */
    const host_watch *watch; /* may be null */
    bool no_signals; /* install no handlers: a fault in a kernel kills the process, and hangs are not detected */
} host_engine_options;
/* null options: the defaults. Returns null if memory or threads run out. */
host_engine *host_engine_open(const host_engine_options *options);
/* No launch may be running. Frees remaining allocations. */
void host_engine_close(host_engine *engine);
unsigned host_engine_workers(const host_engine *engine);

typedef struct host_compile_options {
    const char *name;        /* of the source in messages; null: "kernel.hip" */
    const char *compiler;    /* null: $TFGEN_HOST_CC, then clang-22 .. clang-14, clang */
    const char *cache_dir;   /* null: no cache */
    struct cache *cache;     /* overrides cache_dir; null: none (runtime/cache/cache.h) */
    const char *flags;       /* further flags, separated by blanks; null: none */
    int optimise;            /* 0 .. 3; -1: $TFGEN_HOST_OPTIMISE, else 3; at most 1 with `check` */
    unsigned time_limit_ms;  /* 0: 120 s */
    bool check;              /* instrument for races and bounds; launches of this module are checked */
    bool lines;              /* line tables, so that faults name a source line (check implies it) */
    bool explain;            /* keep the source: for a fault without a line it is compiled again with line tables */
} host_compile_options;
/* Thread-safe. Compiler diagnostics, warnings included, go to log. */
host_status host_compile(const char *source, size_t size, const host_compile_options *options, host_module **out, host_log *log);
/* Loads a shared object that host_compile_object() made, here or on another machine of the same instruction set, from memory, without a
 * compiler. HOST_IO: it was made for another version of the engine, or cannot be loaded here. */
host_status host_module_open(const void *object, size_t size, host_module **out, host_log *log);
/* Compiles without loading; the caller frees *object. o->cache_dir is ignored; o->flags may select another processor
 * ("-march=x86-64-v3"). */
host_status host_compile_object(const char *source, size_t source_size, const host_compile_options *o, unsigned char **object, size_t *size,
                                host_log *log);
/* Compiles several emitted kernel sources per compiler run, as far as possible. Sources compiled together share one module; each out[i] is
 * a reference to it and is freed separately. out[i] is left alone if the optimisation level is above 0, if the source cannot be
 * combined with others, or if the compiler gave diagnostics for it: compile those with host_compile(), which reports them. */
typedef struct host_page {
    const char *name, *text;
    size_t size;
} host_page;
void host_compile_together(const host_page *pages, size_t count, const host_compile_options *options, host_module **out);
host_module *host_module_share(host_module *module); /* adds a reference; needs one more host_module_free() */
/* No launch of it may be running. */
void host_module_free(host_module *module);
bool host_module_has(const host_module *module, const char *kernel);
bool host_module_cached(const host_module *module);         /* came from the cache */
const char *host_module_compiler(const host_module *module); /* path of the compiler, part of the cache key */

struct host_launch_dims {
    unsigned grid[3], block[3]; /* zeros in y and z mean 1 */
    unsigned shared_bytes;      /* static and dynamic shared memory of a block */
    unsigned wave;              /* 1, 2, 4 .. 64; 0: 1 */
    unsigned stack_bytes; /* per thread; 0: the larger of what the module's functions need and a default, which is the kernel's
                             TF_EXPORT_STACK, else 64 KiB (1 MiB if a block has one thread) */
    bool cooperative;           /* all blocks are resident: tf_grid_sync() and waiting for other blocks work */
    const char *name;           /* the kernel's name in reports; NULL: its symbol */
    bool strict;                /* a wave operation that not all live lanes of the wave reach is an error */
};
/* Most blocks of a cooperative launch, limited by the threads whose stacks the engine keeps and, for a module compiled with check, by the
 * vector clocks of its race detector. */
unsigned host_most_resident(const host_engine *engine, const host_module *module, unsigned threads, unsigned wave);
/* params as for hipModuleLaunchKernel: params[i] points at argument i. Thread-safe: several threads may launch at once.
 * The text of a failure is appended to log (which may be null). */
host_status host_launch(host_engine *engine, host_module *module, const char *kernel, const host_launch_dims *dims, void **params,
                        host_log *log);

/* Allocates zeroed memory, aligned to 256 bytes, that ends at a guard page (after at most 255 bytes of slack, which are checked if the
 * engine poisons). Reports use `name`. Null if memory runs out. */
void *host_alloc(host_engine *engine, size_t bytes, const char *name);
void host_free(host_engine *engine, void *memory);
/* Registers the caller's own memory for use by kernels, with a name and bounds. False if memory runs out. */
bool host_register(host_engine *engine, void *memory, size_t bytes, const char *name);
void host_unregister(host_engine *engine, void *memory);

#endif
