/* In: HIP source that tfgen emitted (clang compiles it for this CPU), launches, and memory for kernels to work on.
 * Out: kernels that ran, or a status and a text that says where (block, thread, wave, lane, line) they went wrong.
 * Refuses: nothing silently; a trap, a fault, a deadlock or a hang ends the launch, never the process. */
#ifndef TFGEN_HOST_H
#define TFGEN_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct host_engine host_engine; /* workers, pooled stacks, registered memory */
typedef struct host_module host_module; /* one shared object */

typedef enum host_status {
    HOST_OK,
    HOST_BAD_CALL,       /* a launch or a compile that makes no sense; the text says why */
    HOST_NO_MEMORY,
    HOST_NO_COMPILER,    /* the text names the package to install */
    HOST_COMPILE_FAILED, /* the text is the compiler's */
    HOST_COMPILE_TIMEOUT,
    HOST_IO,
    HOST_NO_KERNEL,
    HOST_TRAP,     /* assert or trap in a kernel */
    HOST_FAULT,    /* bad address, stack overflow, integer division by zero */
    HOST_DEADLOCK, /* threads wait for what cannot come */
    HOST_HANG,     /* no progress within the time limit */
    HOST_CHECKED,  /* --check found races, accesses out of bounds or reads of memory that nobody wrote */
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

/* Told of each allocation that a checked launch touched: by its name, how many of its bytes the launch read, and how many it wrote, each
 * byte once. What it read before it wrote the same place itself is not told. Without a name, `read` is the operations of all its matrix
 * instructions (those of AMD, which waves execute together; multiplying and adding are two). */
typedef void host_touched(void *context, const char *kernel, const char *name, size_t read, size_t written);

/* One access of one lane, in a checked launch. */
typedef enum host_access_kind { HOST_READ, HOST_WRITE, HOST_ATOMIC_READ, HOST_ATOMIC_WRITE, HOST_ACCESS_KINDS } host_access_kind;
typedef struct host_access {
    const char *memory;   /* the allocation's name, the same pointer as long as it is there; null: shared memory */
    size_t offset, bytes; /* in it, and of how many; allocations begin at multiples of 256 */
    unsigned block, wave, lane;
    unsigned meetings; /* collectives and barriers that this lane has taken part in since its block began */
    host_access_kind kind;
    bool bulk;      /* a copy that runs without lanes: `bytes` in one go */
    bool matrix;    /* an operand that a matrix instruction takes from shared memory itself */
    uintptr_t code; /* behind the instruction, for host_module_places() */
} host_access;
/* Is told of the accesses of checked launches, as the GPU's instructions would make them: where code of the host engine stands in for an
 * instruction, that instruction's. Calls come from one thread at a time. Races are not looked for then. */
typedef struct host_launch_dims host_launch_dims;
typedef struct host_watch {
    void (*begin)(void *context, const char *kernel, const host_launch_dims *dims, const host_module *module);
    void (*access)(void *context, const host_access *access);
    void (*end)(void *context); /* before allocations and code can go */
    void *context;
} host_watch;
/* For each of the addresses the calls that it lies in, the innermost first: `told` with its index, how far out, the place as
 * file:line or file:line:column, and that in the spec as file:line:column (NULL: it comes from no op). An address that no symboliser knows
 * is not told of. */
typedef void host_place_told(void *context, size_t index, unsigned depth, const char *function, const char *place, const char *spec);
void host_module_places(const host_module *module, const uintptr_t *codes, size_t count, host_place_told *told, void *context);

typedef struct host_engine_options {
    unsigned workers;        /* threads that run blocks, the caller's included; 0: one a CPU */
    unsigned stall_limit_ms; /* a launch without a barrier or an end of a block for this long is a hang; 0: 60 s */
    unsigned time_limit_ms;  /* a launch that takes longer is a hang; 0: no limit */
    bool poison;             /* fill shared memory with NaN before each block, check the slack behind allocations */
    host_touched *touched;   /* null: nobody is told */
    void *context;           /* of touched */
    const host_watch *watch; /* null: nobody watches */
    bool no_signals; /* install no handlers: a fault in a kernel ends the process as any other does, and nothing watches for hangs */
} host_engine_options;
/* null options: the defaults. Null when memory or threads are short. */
host_engine *host_engine_open(const host_engine_options *options);
/* No launch may be running. Frees allocations that are left. */
void host_engine_close(host_engine *engine);
unsigned host_engine_workers(const host_engine *engine);

typedef struct host_compile_options {
    const char *name;        /* of the source in messages; null: "kernel.hip" */
    const char *compiler;    /* null: $TFGEN_HOST_CC, then clang-22 .. clang-14, clang */
    const char *cache_dir;   /* null: nothing is kept */
    struct cache *cache;     /* stronger than cache_dir; null: none (runtime/cache/cache.h) */
    const char *flags;       /* further flags, separated by blanks; null: none */
    int optimise;            /* 0 .. 3; -1: the default, $TFGEN_HOST_OPTIMISE or 3; at most 1 where `check` is on */
    unsigned time_limit_ms;  /* 0: 120 s */
    bool check;              /* instrument for races and bounds; launches of this module are checked */
    bool lines;              /* line tables, so that faults name a source line (check implies it) */
    bool explain;            /* keep the source: where a fault has no line, it is compiled once more, with line tables */
} host_compile_options;
/* Thread-safe. Compiler diagnostics, warnings included, go to log. */
host_status host_compile(const char *source, size_t size, const host_compile_options *options, host_module **out, host_log *log);
/* A shared object that host_compile_object() made, on this machine or another of the same instruction set: loaded from memory, without a
 * compiler. HOST_IO: it is not of this version of the engine, or no shared object that can be loaded here. */
host_status host_module_open(const void *object, size_t size, host_module **out, host_log *log);
/* Compiles without loading; the caller frees *object. o->cache_dir is not used, and o->flags can name another processor than
 * this one ("-march=x86-64-v3"). */
host_status host_compile_object(const char *source, size_t source_size, const host_compile_options *o, unsigned char **object, size_t *size,
                                host_log *log);
/* Pages as tfgen emits them, compiled in as few runs of the compiler as they allow. Where several became one module, out[i] of each is
 * that module, to be freed once for each; the others stay as they are: pages that are optimised, that cannot be compiled with others, or
 * that the compiler had anything to say about, which host_compile() of each alone is to tell. */
typedef struct host_page {
    const char *name, *text;
    size_t size;
} host_page;
void host_compile_together(const host_page *pages, size_t count, const host_compile_options *options, host_module **out);
host_module *host_module_share(host_module *module); /* the same, for one more host_module_free() */
/* No launch of it may be running. */
void host_module_free(host_module *module);
bool host_module_has(const host_module *module, const char *kernel);
bool host_module_cached(const host_module *module);         /* came from the cache */
const char *host_module_compiler(const host_module *module); /* path of the compiler, which belongs to the cache key */

struct host_launch_dims {
    unsigned grid[3], block[3]; /* zeros in y and z mean 1 */
    unsigned shared_bytes;      /* static and dynamic shared memory of a block */
    unsigned wave;              /* 1, 2, 4 .. 64; 0: 1 */
    unsigned stack_bytes; /* of a thread; 0: what its functions need, at least what TF_EXPORT_STACK said, else 64 KiB, or 1 MiB with one
                             thread a block */
    bool cooperative;           /* all blocks are resident: tf_grid_sync() and waiting for other blocks work */
    const char *name;           /* what reports call the kernel; NULL: its symbol */
    bool strict;                /* a wave operation that not all live lanes of the wave reach is an error */
};
/* params as for hipModuleLaunchKernel: params[i] points at argument i. Thread-safe: several threads may launch at once.
 * The text of a failure is appended to log (which may be null). */
host_status host_launch(host_engine *engine, host_module *module, const char *kernel, const host_launch_dims *dims, void **params,
                        host_log *log);

/* Zeroed memory, aligned to 256 bytes, that ends at a page without access (after at most 255 bytes that are checked instead
 * when the engine poisons); reports call it by name. Null when memory is short. */
void *host_alloc(host_engine *engine, size_t bytes, const char *name);
void host_free(host_engine *engine, void *memory);
/* Fills the allocation with a pattern that is NaN in f32, f16 and bf16, so that reads of unwritten memory show. */
void host_poison(host_engine *engine, void *memory);
/* Memory of the caller's own that kernels may use: gives it a name and bounds. False when memory is short. */
bool host_register(host_engine *engine, void *memory, size_t bytes, const char *name);
void host_unregister(host_engine *engine, void *memory);

#endif
