/* The structures and functions that the engine's files share; private to runtime/host. */
#ifndef TFGEN_HOST_ENGINE_H
#define TFGEN_HOST_ENGINE_H

#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include "runtime/host/host.h"
#include "runtime/host/hs_abi.h"
#include "runtime/compile/page_places.h"

typedef struct host_launch_state launch;
typedef struct host_check checker;
typedef struct block block;
typedef struct region region;

/* ---- blocks and their threads (fiber.c) ---- */
typedef enum block_state { BLOCK_RUNS, BLOCK_AT_GRID, BLOCK_DONE, BLOCK_FAILED } block_state;

/* Sizes of a block; pooled blocks are reused for the same shape. */
typedef struct block_shape {
    unsigned threads, wave, waves, shared_bytes;
    size_t stack_bytes;
} block_shape;

/* A block. One mapping (slab) holds this struct, threads, waves, site words, mailboxes and stacks; shared memory has its own. */
struct block {
    hs_block pub; /* the part that kernels see; first, so that block_of() may cast its address */
    block_state state;
    block_shape shape;
    launch *launch;
    void (*entry)(void **);
    void **params;
    hs_thread *threads, *resume;
    hs_wave *waves;
    hs_u32 *sites, *spins; /* sites: a word per lane (hs_wave.site); spins: per thread, where it last yielded */
    size_t site_words;
    hs_thread host;        /* the worker's own context while fibers run */
    block *cluster[HS_MAX_CLUSTER]; /* members by rank; [0] holds the barrier's state. Without a cluster: the block itself */
    hs_u32 cluster_arrived, cluster_phase;
    hs_u32 *cluster_phases; /* by thread: the phase of the cluster barrier at which it last arrived */
    uint64_t barriers;
    unsigned barrier_waves; /* the first barrier_waves waves take part in barriers */
    _Atomic uint64_t *progress; /* counter of the worker that runs it, read by the watchdog */
    char *slab, *stacks, *shared_map;
    size_t slab_bytes, stack_stride, shared_map_bytes;
    unsigned guards;
    void *cells, *static_cells; /* the checker's state for shared memory and for __shared__ variables */
    struct watched_lane *lanes; /* the watcher's state */
    char *static_copy;          /* the block's __shared__ variables, saved while another block uses the module's single copy */
    size_t static_copy_bytes;
    void *contexts; /* for processors without hs_switch() */
    block *next;    /* in the pool */
};
/* far: surround shared memory with enough inaccessible addresses that a wrong index hits no memory of the process. */
block *block_new(const block_shape *shape, bool far, atomic_uint *guards);
void block_free(block *b, atomic_uint *guards);
void block_start(block *b, launch *l, unsigned number, bool poison);
void block_join(block *const *members, unsigned count); /* a cluster, once all have been started */
/* Runs the block until it ends, waits for the grid, fails or yields to other blocks; false: a signal interrupted it (fault_report()). */
bool block_run(block *b);
void fiber_swap(hs_thread *from, hs_thread *to);
/* Leaves the fiber for the worker's context, for good. */
void fiber_abandon(block *b) __attribute__((noreturn));
/* Gives the module's one copy of its __shared__ variables to b: saves their values for the block that had them and restores b's. b NULL: no
 * block has them afterwards. */
void block_own_shared(host_module *m, block *b);
bool fiber_is_fresh(const hs_thread *t);

/* ---- scheduling (sched.c, wave.c, mma.c) ---- */
hs_thread *sched_next(hs_thread *t);
hs_thread *sched_yield_to(hs_thread *t, const hs_place *at);
void sched_release(block *b); /* lets all threads at a barrier continue */
hs_thread *sched_first(block *b);
void cluster_arrive(hs_thread *t);
void sched_leave_barriers(hs_thread *t);
int cluster_met(hs_thread *t);
void sched_progressed(hs_thread *t); /* advances the counter that the watchdog reads */
void sched_waits(host_log *log, const block *b); /* logs which lanes wait where, a line per site and wave */
void wave_complete(hs_wave *w, hs_u64 lanes, const hs_site *site, hs_u32 word);
const char *mma_run(hs_u32 shape, hs_u64 *mail); /* NULL, or an error message */
hs_u32 mma_wave(hs_u32 shape);
hs_u32 mma_operations(hs_u32 shape); /* a multiply-add counts as two */
static inline block *block_of(const hs_wave *w) { return (block *)(void *)w->b; }

/* ---- a worker's thread-local state (failure.c) ---- */
typedef struct fault_record {
    int signal, code;
    uintptr_t address, pc;
    int write; /* 1 write, 0 read, -1 unknown */
} fault_record;
typedef struct worker_self {
    hs_self pub; /* the part that kernels see; first, so that both have one address */
    launch *launch;
    volatile sig_atomic_t busy; /* > 0 in engine code, which may hold a lock: the watchdog must not interrupt it */
    volatile sig_atomic_t faulted;
    fault_record fault;
    hs_thread *fault_thread;
} worker_self;
extern _Thread_local worker_self host_self __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* ---- modules (module.c, load.c, place.c, cc.c) ---- */
struct host_module {
    atomic_uint users; /* references beyond the first */
    void *handle;
    char *compiler;
    struct module_source *source; /* kept to find source lines of faults; null: not needed */
    int file; /* the shared object in memory, kept open if symbolisers read it; else -1 */
    bool cached, check, lines;
    uintptr_t low, high; /* mapped address range */
    char *shared;     /* its __shared__ variables, used by one block at a time */
    size_t shared_bytes;
    block *shared_owner;
    pthread_mutex_t shared_lock; /* if the module has __shared__ variables, each launch holds it from begin to end */
    uintptr_t anchor; /* an address in the module, within 2 GiB of each of its hs_place objects */
    size_t frame_bytes; /* sum of all its functions' stack frames; 0: unknown */
    page_places *places; /* spec positions of its source's lines; NULL: the source is not available */
};
const hs_place *module_at(const host_module *m, hs_u32 word); /* the place that a word of hs_wave.site encodes */
static inline const hs_site *module_site(const host_module *m, hs_u32 word) { return module_at(m, word)->site; }
host_module *module_new(void);
/* Loads exactly these bytes, not through a file that another process could change. */
bool module_load(host_module *m, const void *object, size_t size, host_log *log);
size_t frames_of(const unsigned char *object, size_t size); /* frames.c */
bool module_has_lines(const host_module *m);
/* Appends "file:line (function)" of an address in the module, as far as symbolisers know it. */
void module_place(const host_module *m, uintptr_t pc, host_log *log);
/* lines.c */
typedef struct module_source module_source;
module_source *lines_keep(const char *source, size_t size, const host_compile_options *o); /* null: no memory */
void lines_forget(module_source *s);
int lines_file(const host_module *m); /* descriptor of the module's object with line tables; the caller closes it; -1: unavailable */
/* Header text before the source; the list of parts ends with a null text. */
typedef struct embedded_part {
    const char *name, *text, *end;
} embedded_part;
const embedded_part *embedded_parts(void);
static inline const char *compile_name(const host_compile_options *o) { return o->name ? o->name : "kernel.hip"; }
int cc_level(const host_compile_options *o); /* optimisation level */
host_status cc_find(const host_compile_options *o, char **path, host_log *log);
/* Makes kernel.so in a temporary folder. */
host_status cc_run(const char *compiler, const char *source, size_t size, const host_compile_options *o, const char *folder,
                   host_log *log);
/* ---- shared objects as bytes (object.c) ---- */
host_status object_compile(const char *compiler, const char *source, size_t source_size, const host_compile_options *o,
                           unsigned char **object, size_t *size, host_log *log);
/* A sealed file with these bytes, which not even this process can change; -1: errno says why not. */
int object_file(const void *object, size_t size);
/* Appends everything other than the source that affects the compiler's output, for the cache's key. */
bool cc_describe(const char *compiler, const host_compile_options *o, host_log *out);

/* ---- a launch (launch.c) ---- */
typedef struct worker_slot {
    _Alignas(64) _Atomic uint64_t progress; /* written by this worker only */
    pthread_t thread;
    atomic_bool running; /* the thread exists and may be sent KICK_SIGNAL */
} worker_slot;
struct host_launch_state {
    host_engine *engine;
    host_module *module;
    const char *kernel;
    const host_launch_dims *dims;
    void (*entry)(void **);
    void **params;
    hs_dim3 grid, block;
    block_shape shape;
    bool cooperative, strict;
    unsigned blocks, workers, slot_count;
    unsigned cluster; /* blocks per cluster */
    atomic_uint next_cluster;
    atomic_int status;  /* host_status; the first failure wins */
    atomic_bool kicked; /* the watchdog stops the workers */
    pthread_mutex_t lock; /* guards log */
    host_log *log;
    checker *check;
    worker_slot *slots;
    /* grid barrier among workers; guarded by grid_lock, except phase */
    pthread_mutex_t grid_lock;
    atomic_uint phase;
    unsigned arrived, left, waiting_blocks;
    /* used by the watchdog only */
    uint64_t started_ms, seen_progress, seen_ms;
    launch *next;
};
/* Sets the status if this is the launch's first failure. True: it is; the caller now holds the lock, writes the text to the log and calls
 * launch_reported(). False: ignore the failure. */
bool launch_fail(launch *l, host_status status);
void launch_reported(launch *l);
void launch_where(const launch *l, const hs_thread *t, host_log *log); /* "block (..) thread (..) wave w lane l" */
host_status launch_run(launch *l); /* the caller has set all fields but slots; log gets the text of a failure */
extern const hs_runtime host_runtime;

struct host_engine {
    host_engine *next; /* in the list of open engines */
    host_engine_options options;
    unsigned helpers; /* threads started in the pool */
    pthread_t *threads;
    pthread_mutex_t lock;
    pthread_cond_t work, idle;
    launch *job;            /* the launch that helpers may join */
    uint64_t job_number;
    unsigned joined, running;
    bool closing, pool_taken;
    bool watch_closing; /* under watch_lock */
    block *free_blocks;
    unsigned free_count;
    atomic_uint guards;     /* guard pages under stacks, of all blocks */
    void *free_stacks;      /* alternate signal stacks of callers */
    /* memory.c */
    pthread_rwlock_t memory_lock;
    region *regions;
    size_t region_count, region_room;
    char *reserve; /* inaccessible addresses, in the middle of which allocations are placed; null: none */
    size_t reserve_bytes, reserve_next;
    /* watchdog */
    pthread_t watchdog;
    bool watchdog_started, watchdog_sleeps;
    pthread_mutex_t watch_lock;
    pthread_cond_t watch;
    launch *active;
};

/* ---- signals during launches (fault.c) ---- */
bool fault_begin(void); /* a launch begins: the first concurrent one installs the handlers; false: that failed */
void fault_end(void);
void fault_report(block *b); /* after a signal interrupted a fiber */
void fault_altstack_enter(void *memory, stack_t *old);
void fault_altstack_leave(const stack_t *old);
#define ALTSTACK_BYTES (128 * 1024)
#define KICK_SIGNAL SIGURG /* ignored by default, so harmless if it arrives late */

/* ---- watchdog (watchdog.c) ---- */
bool watchdog_watch(host_engine *e, launch *l);
void watchdog_forget(host_engine *e, launch *l);
void watchdog_close(host_engine *e);
uint64_t watchdog_now(void);

/* ---- memory (memory.c) ---- */
struct region {
    uintptr_t low, high; /* the usable bytes */
    uintptr_t map_low, map_high; /* with guard pages; equal to the above for the caller's memory */
    char *name;
    bool owned;
    void *cells; /* the checker's state */
};
/* The region that contains the address, or the nearest one within `slack` bytes. The caller holds memory_lock. */
region *memory_find(host_engine *e, uintptr_t address, size_t slack);
void memory_describe(host_engine *e, uintptr_t address, host_log *log);
bool memory_slack_intact(host_engine *e, host_log *log);
void memory_reserve(host_engine *e);
void memory_close(host_engine *e);

/* ---- --check (check.c, happens.c) ---- */
checker *check_new(launch *l);
void check_free(checker *c);
bool check_block_start(checker *c, block *b); /* false: no memory */
/* A wave has executed a collective. orders: it is a barrier of the wave, so accesses before it, by any lane, happen before those after it.
 * */
void check_collective(checker *c, hs_wave *w, bool orders);
void check_barrier(checker *c, block *b);
void check_grid(checker *c);
void check_matrix(checker *c, hs_u32 operations); /* of one matrix instruction */
bool check_access(const void *p, unsigned long bytes, int kind,
                  const void *pc); /* false: out of bounds, and reported; the thread must stop */
void check_sync(const void *p, int kind);
void check_block_end(block *b); /* before the block returns to the pool */
void check_drop(block *b);      /* before the block is freed */
unsigned check_count(const checker *c);

/* ---- watchers of accesses (watch.c) ---- */
void watch_begin(launch *l);
void watch_end(launch *l);
bool watch_block(block *b); /* a block starts; false: no memory */
void watch_drop(block *b);  /* before the block is freed */
void watch_meeting(hs_wave *w, hs_u64 lanes);
void watch_stand_in(const hs_thread *t, int kind); /* kind HS_SYNC_STANDS_IN: the lane begins to emulate an instruction; HS_SYNC_STOOD_IN:
                                                    * it has ended */
bool watch_stands_in(const hs_thread *t); /* the lane is emulating an instruction: its accesses are not the GPU's */
void watch_access(const hs_thread *t, const host_access *access, int kind);

/* ---- text (log.c) ---- */
void log_add(host_log *log, const char *format, ...) __attribute__((format(printf, 2, 3)));
void log_vadd(host_log *log, const char *format, va_list arguments);
void log_bytes(host_log *log, const char *bytes, size_t size);
/* Adds the spec position to each source position in the log from byte `before` on. */
void log_place(host_log *log, size_t before, const page_places *places);

#endif
