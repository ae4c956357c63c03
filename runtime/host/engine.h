/* In: host.h and hs_abi.h.
 * Out: the structures that the engine's files share, and their functions; nothing of this is seen outside of runtime/host. */
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

/* What blocks of the pool have in common. */
typedef struct block_shape {
    unsigned threads, wave, waves, shared_bytes;
    size_t stack_bytes;
} block_shape;

/* One mapping: this, threads, waves, site words, mailboxes, stacks. Shared memory is a mapping of its own. */
struct block {
    hs_block pub; /* first: kernels see it */
    block_state state;
    block_shape shape;
    launch *launch;
    void (*entry)(void **);
    void **params;
    hs_thread *threads, *resume;
    hs_wave *waves;
    hs_u32 *sites, *spins; /* a word a lane; where a thread yielded last, a word a thread */
    size_t site_words;
    hs_thread host;        /* the worker's own context while fibers run */
    block *cluster[HS_MAX_CLUSTER]; /* by rank; the first keeps the barrier; alone: itself */
    hs_u32 cluster_arrived, cluster_phase;
    hs_u32 *cluster_phases; /* by thread: the phase of the cluster barrier that it arrived at last */
    uint64_t barriers;
    _Atomic uint64_t *progress; /* of the worker that runs it: the watchdog looks at it */
    char *slab, *stacks, *shared_map;
    size_t slab_bytes, stack_stride, shared_map_bytes;
    unsigned guards;
    void *cells, *static_cells; /* of the checker, for shared memory and for __shared__ variables */
    struct watched_lane *lanes; /* of who watches */
    char *static_copy;          /* of the module's __shared__ variables while another block has them */
    size_t static_copy_bytes;
    void *contexts; /* of the fallback that swaps by call */
    block *next;    /* in the pool */
};
/* far: shared memory lies between so many addresses without access that a wrong index finds nothing of the process. */
block *block_new(const block_shape *shape, bool far, atomic_uint *guards);
void block_free(block *b, atomic_uint *guards);
void block_start(block *b, launch *l, unsigned number, bool poison);
void block_join(block *const *members, unsigned count); /* a cluster, once all have been started */
/* Until it ends, waits for the grid, fails or gives other blocks a turn; false: a signal threw the worker out of it (fault_report()). */
bool block_run(block *b);
void fiber_swap(hs_thread *from, hs_thread *to);
/* Leaves the fiber for the worker's context, for good. */
void fiber_abandon(block *b) __attribute__((noreturn));
/* Gives the module's __shared__ variables to b, whose launch has just started or had them before; null: to nobody. */
void block_own_shared(host_module *m, block *b);
bool fiber_is_fresh(const hs_thread *t);

/* ---- scheduling (sched.c, wave.c, mma.c) ---- */
hs_thread *sched_next(hs_thread *t);
hs_thread *sched_yield_to(hs_thread *t, const hs_place *at);
void sched_release(block *b); /* of all threads at a barrier */
hs_thread *sched_first(block *b);
void cluster_arrive(hs_thread *t);
int cluster_met(hs_thread *t);
void sched_waits(host_log *log, const block *b); /* who waits where, a line a site and wave */
void wave_complete(hs_wave *w, hs_u64 lanes, const hs_site *site, hs_u32 word);
const char *mma_run(hs_u32 shape, hs_u64 *mail); /* null, or why not */
hs_u32 mma_wave(hs_u32 shape);
hs_u32 mma_operations(hs_u32 shape); /* a multiply and an add are two */
static inline block *block_of(const hs_wave *w) { return (block *)(void *)w->b; }

/* ---- the worker's own words (failure.c) ---- */
typedef struct fault_record {
    int signal, code;
    uintptr_t address, pc;
    int write; /* 1 write, 0 read, -1 unknown */
} fault_record;
typedef struct worker_self {
    hs_self pub; /* first: kernels see it */
    launch *launch;
    volatile sig_atomic_t busy; /* holds a lock: must not be torn away by the watchdog */
    volatile sig_atomic_t faulted;
    fault_record fault;
    hs_thread *fault_thread;
} worker_self;
extern _Thread_local worker_self host_self __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* ---- modules (module.c, load.c, place.c, cc.c) ---- */
struct host_module {
    atomic_uint users; /* besides the first */
    void *handle;
    char *compiler;
    struct module_source *source; /* what it was made of, so that lines can be told; null: nobody asked for that */
    int file; /* the shared object in memory, kept open where symbolisers want to read it; else -1 */
    bool cached, check, lines;
    uintptr_t low, high; /* where it is mapped */
    char *shared;     /* its __shared__ variables, which one block has at a time */
    size_t shared_bytes;
    block *shared_owner;
    pthread_mutex_t shared_lock; /* held through a launch, if there are any */
    uintptr_t anchor; /* an address in it, near every place */
    size_t frame_bytes; /* of stack, of all its functions together; 0: not known */
    page_places *places; /* of its sources in the spec; NULL where the source is not at hand */
};
const hs_place *module_at(const host_module *m, hs_u32 word); /* the place that a word of hs_wave.site names */
static inline const hs_site *module_site(const host_module *m, hs_u32 word) { return module_at(m, word)->site; }
host_module *module_new(void);
/* Loads exactly these bytes: they are in no file that anybody else could change. */
bool module_load(host_module *m, const void *object, size_t size, host_log *log);
size_t frames_of(const unsigned char *object, size_t size); /* frames.c */
bool module_has_lines(const host_module *m);
/* "file:line (function)" of an address in the module, as well as symbolisers can tell. */
void module_place(const host_module *m, uintptr_t pc, host_log *log);
/* lines.c */
typedef struct module_source module_source;
module_source *lines_keep(const char *source, size_t size, const host_compile_options *o); /* null: no memory */
void lines_forget(module_source *s);
int lines_file(const host_module *m); /* the module's object with line tables, for the caller to close; -1: there is none to be had */
/* Header text that goes in front of the source; parts end with a null text. */
typedef struct embedded_part {
    const char *name, *text, *end;
} embedded_part;
const embedded_part *embedded_parts(void);
static inline const char *compile_name(const host_compile_options *o) { return o->name ? o->name : "kernel.hip"; }
int cc_level(const host_compile_options *o); /* at which it is optimised */
host_status cc_find(const host_compile_options *o, char **path, host_log *log);
/* Makes kernel.so in a temporary folder. */
host_status cc_run(const char *compiler, const char *source, size_t size, const host_compile_options *o, const char *folder,
                   host_log *log);
/* ---- shared objects as bytes (object.c) ---- */
host_status object_compile(const char *compiler, const char *source, size_t source_size, const host_compile_options *o,
                           unsigned char **object, size_t *size, host_log *log);
/* A file of these bytes, which nobody can change any more, this process included; -1: errno says why not. */
int object_file(const void *object, size_t size);
/* Everything that decides what the compiler makes of a source, as text: for the cache's key. */
bool cc_describe(const char *compiler, const host_compile_options *o, host_log *out);

/* ---- a launch (launch.c) ---- */
typedef struct worker_slot {
    _Alignas(64) _Atomic uint64_t progress; /* one writer */
    pthread_t thread;
    atomic_bool running; /* thread may be kicked */
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
    unsigned cluster; /* blocks of one */
    atomic_uint next_cluster;
    atomic_int status;  /* host_status; the first failure stays */
    atomic_bool kicked; /* the watchdog wants the workers out */
    pthread_mutex_t lock; /* of log */
    host_log *log;
    checker *check;
    worker_slot *slots;
    /* the grid barrier among workers; all but phase under grid_lock */
    pthread_mutex_t grid_lock;
    atomic_uint phase;
    unsigned arrived, left, waiting_blocks;
    /* the watchdog's */
    uint64_t started_ms, seen_progress, seen_ms;
    launch *next;
};
/* The first failure of a launch sets its status and writes its text: true for whoever was first, who then holds the lock
 * and must call launch_reported(). */
bool launch_fail(launch *l, host_status status);
void launch_reported(launch *l);
void launch_where(const launch *l, const hs_thread *t, host_log *log); /* "block (..) thread (..) wave w lane l" */
host_status launch_run(launch *l); /* all fields but slots are set; the text of a failure is in log */
extern const hs_runtime host_runtime;

struct host_engine {
    host_engine_options options;
    unsigned helpers; /* threads of the pool that exist */
    pthread_t *threads;
    pthread_mutex_t lock;
    pthread_cond_t work, idle;
    launch *job;            /* what helpers may join */
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
    char *reserve; /* addresses without access, in the middle of which allocations lie; null: none */
    size_t reserve_bytes, reserve_next;
    /* watchdog */
    pthread_t watchdog;
    bool watchdog_started, watchdog_sleeps;
    pthread_mutex_t watch_lock;
    pthread_cond_t watch;
    launch *active;
};

/* ---- signals during launches (fault.c) ---- */
bool fault_begin(void); /* installs the handlers for the first launch of the process; false when it cannot */
void fault_end(void);
void fault_report(block *b); /* after a worker was thrown out of a fiber */
void fault_altstack_enter(void *memory, stack_t *old);
void fault_altstack_leave(const stack_t *old);
#define ALTSTACK_BYTES (128 * 1024)
#define KICK_SIGNAL SIGURG /* ignored by default: harmless when it comes late */

/* ---- watchdog (watchdog.c) ---- */
bool watchdog_watch(host_engine *e, launch *l);
void watchdog_forget(host_engine *e, launch *l);
void watchdog_close(host_engine *e);
uint64_t watchdog_now(void);

/* ---- memory (memory.c) ---- */
struct region {
    uintptr_t low, high; /* the bytes that count */
    uintptr_t map_low, map_high; /* with guard pages; equal to the above for memory of the caller's */
    char *name;
    bool owned;
    void *cells; /* of the checker */
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
void check_collective(checker *c, hs_wave *w, bool orders); /* orders: what its lanes did to memory before and after */
void check_barrier(checker *c, block *b);
void check_grid(checker *c);
void check_matrix(checker *c, hs_u32 operations); /* of one matrix instruction */
bool check_access(const void *p, unsigned long bytes, int kind,
                  const void *pc); /* false: out of bounds, and reported; the thread must not go on */
void check_sync(const void *p, int kind);
void check_block_end(block *b); /* before it returns to the pool */
void check_drop(block *b);      /* before it goes */
unsigned check_count(const checker *c);

/* ---- who watches (watch.c) ---- */
void watch_begin(launch *l);
void watch_end(launch *l);
bool watch_block(block *b); /* it starts; false: no memory */
void watch_drop(block *b);  /* before it goes */
void watch_meeting(hs_wave *w, hs_u64 lanes);
void watch_stand_in(const hs_thread *t, int kind);
bool watch_stands_in(const hs_thread *t); /* accesses are none of the machine's now */
void watch_access(const hs_thread *t, const host_access *access, int kind);

/* ---- text (log.c) ---- */
void log_add(host_log *log, const char *format, ...) __attribute__((format(printf, 2, 3)));
void log_vadd(host_log *log, const char *format, va_list arguments);
void log_bytes(host_log *log, const char *bytes, size_t size);
/* What is said from `before` on has places in the page, and now has those in the spec, too. */
void log_place(host_log *log, size_t before, const page_places *places);

#endif
