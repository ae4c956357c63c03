/* In: a plan and an architecture. Out: code of its kernels, from the cache or the compilers. Where a kernel's registers do not suffice and
 * memory takes their place, the plan is made again without that tile (`smaller` of a program), at most most_spilled times a phase, and what
 * changed is compiled. Every result has a status, and whoever asked decides about code that spills with every tile. */
#ifndef TFGEN_PLAN_CODE_H
#define TFGEN_PLAN_CODE_H
#include "gen/gen.h"
#include "runtime/cache/cache.h"

typedef struct plan_code {
    const plan *plan; /* what was asked for, or the last that was made again */
    int count;        /* pack kernels, then launches */
    code_request *requests; /* with the whole sources */
    const source_text **sources; /* in pieces */
    const char **kernels; /* names of the __global__ functions */
    code_result *results;
    bool *hit;
} plan_code;

typedef struct plan_code_options {
    const char *arch;
    compiler_kind compiler;
    double time_limit; /* seconds a kernel; 0: compiler_time_limit */
    int jobs;          /* 0: one a processor */
    cache *cache;      /* or NULL */
    bool launches_only;  /* pack kernels get no code: what they make is there */
    bool same_workspace; /* no plan made again may need more workspace at any dims: programs asked for the first one's */
    /* Code from elsewhere, looked for first; false: it is to be compiled. NULL: there is none. A result may be without code. */
    bool (*find)(void *context, const code_request *request, const source_text *source, const char *kernel, code_result *out);
    /* `more` kernels are compiled now; one is done. Never by two threads at once; NULL: not told. */
    void (*begin)(void *context, int more);
    void (*done)(void *context, const char *kernel, bool cached, bool good);
    void *context;
} plan_code_options;

/* In the arena, but for the results: plan_code_free(), or the arena's end, frees those. Bails where arena_alloc() does. */
plan_code *plan_code_make(arena *a, const plan *p, const plan_code_options *o);
void plan_code_free(plan_code *c);

/* The plan once more without the tiles of launches that spill; results of pack kernels, then launches. NULL: none does, or there is no
 * better. */
plan *plan_without_spills(arena *a, const plan *p, const code_result *const *results, bool same_workspace);

/* What a bundle has in place of code that spills, so that who reads it makes the same plans as who wrote it. */
enum { spill_mark_size = 64 };
void spill_mark(const code_result *r, char mark[spill_mark_size]);
bool spill_mark_read(const void *code, size_t size, code_result *out); /* false: it is code. *out: build_failed, with what it needs */
#endif
