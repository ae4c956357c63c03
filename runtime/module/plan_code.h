/* In: a plan and an architecture. Out: code of its kernels, from the cache or the compilers. If a kernel spills registers to memory, the
 * plan is made again with a smaller tile (a program's `smaller`), at most most_spilled times per phase, and the changed kernels are
 * compiled. Every result has a status; the caller decides whether to accept code that spills with every tile. */
#ifndef TFGEN_PLAN_CODE_H
#define TFGEN_PLAN_CODE_H
#include "gen/gen.h"
#include "runtime/cache/cache.h"

typedef struct plan_code {
    const plan *plan; /* the one given, or the last one made again */
    int count;        /* pack kernels, then launches */
    code_request *requests; /* each with its whole source */
    const source_text **sources; /* the same sources in pieces */
    const char **kernels; /* names of the __global__ functions */
    code_result *results;
    bool *hit;
} plan_code;

typedef struct plan_code_options {
    const char *arch;
    compiler_kind compiler;
    double time_limit; /* seconds per kernel; 0: compiler_time_limit */
    int jobs;          /* 0: one per processor */
    cache *cache;      /* or NULL */
    bool launches_only;  /* skip pack kernels: the weights are packed already */
    bool same_workspace; /* a plan made again must not need more workspace at any dims: callers rely on the first one's size */
    /* Tried before cache and compiler; false: not found. May be NULL. It may return a result without code. */
    bool (*find)(void *context, const code_request *request, const source_text *source, const char *kernel, code_result *out);
    /* begin(): `more` further kernels are about to be compiled. done(): one kernel has its result. Never called concurrently; may be
     * NULL. */
    void (*begin)(void *context, int more);
    void (*done)(void *context, const char *kernel, bool cached, bool good);
    void *context;
} plan_code_options;

/* Allocated in the arena except for the results, which plan_code_free() or the end of the arena frees. Bails without memory. */
plan_code *plan_code_make(arena *a, const plan *p, const plan_code_options *o);
void plan_code_free(plan_code *c);

/* Plans again without the tiles of launches that spill. `results`: pack kernels, then launches. NULL: nothing spills, or no better plan
 * exists. */
plan *plan_without_spills(arena *a, const plan *p, const code_result *const *results, bool same_workspace);

/* A bundle's marker in place of code that spills, so that its reader makes the same plans as its writer. */
enum { spill_mark_size = 64 };
void spill_mark(const code_result *r, char mark[spill_mark_size]);
bool spill_mark_read(const void *code, size_t size, code_result *out); /* false: real code. Else *out: build_failed and the spill */
#endif
