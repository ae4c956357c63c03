/* In: a legal tile of a plan's kernel. Out: the plan with that tile, compiled, loaded, timed and checked. A candidate that fails gets a
 * status and a reason, and the search goes on. */
#ifndef TFGEN_TUNE_CANDIDATE_H
#define TFGEN_TUNE_CANDIDATE_H
#include "ir/reference/ref.h"
#include "runtime/cli/tune/tuner.h"

typedef struct candidate_build { /* candidate.item */
    ir_tile tile;
    const char *line, *text;
    arena *a; /* NULL: not built, or closed */
    const plan *plan;
    bench *bench;
    long long row; /* its row in the database of trials */
    int registers, spills, scratch_bytes, shared_bytes, threads;
    unsigned long long code_hash; /* 0: unknown */
    double compile_seconds;
} candidate_build;

/* Shared by all candidates of a plan. */
typedef struct tuning_session {
    tuner *t;
    arena *a;
    const compile_request *request;
    const ir_graph *graph, *fused;
    const device_model *model;
    const char *device; /* as wisdom names it */
    const char **lines; /* the user's tile overrides, then the tiles kept so far */
    size_t line_count;
    bench_options bench;
    bench *root, *base;           /* the default plan; the default with the tiles kept so far */
    const plan *plan;             /* the plan of base */
    const ref_tensor *inputs;     /* data for checks; NULL: not made yet */
    const candidate_build **seen; /* candidates of this kernel whose code is known, to find equal code */
    int seen_count, seen_room;
    double wave_seconds; /* seconds for preparing and timing one wave of candidates (search.h); 0: unknown */
} tuning_session;

/* Makes the plan with the line's tile, in the arena, without emitting source. Bails. */
plan *session_plan(const tuning_session *c, arena *a, const char *line);
/* Keeps the line: later candidates are tried in the plan that has it. Bails. */
void session_rebase(tuning_session *c, const char *line);
/* Plans the candidates, compiles them in parallel and opens their benches. */
void candidates_prepare(tuning_session *c, candidate *const *list, int count, const char *signature);
bool candidate_time(const tuning_session *c, candidate *x, double *seconds);
/* Compares the values that the phases with this signature store with the float64 reference; true if all are within their bounds. */
bool candidate_check(tuning_session *c, candidate *x, const char *signature);
void candidate_close(candidate *x);
/* Extends a hash of the code (0: unknown) by the launches' other properties: equal code may be launched with different grids. */
unsigned long long candidate_hash_launches(const plan *p, unsigned long long hash);
#endif
