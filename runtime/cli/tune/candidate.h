/* In: a tile that a kernel of a plan may have. Out: the plan with it, compiled, ready to run, timed, checked. Refuses with a status and a
 * reason: a candidate that cannot be had is one less. */
#ifndef TFGEN_TUNE_CANDIDATE_H
#define TFGEN_TUNE_CANDIDATE_H
#include "ir/reference/ref.h"
#include "runtime/cli/tune/tuner.h"

typedef struct candidate_build { /* item of a candidate */
    ir_tile tile;
    const char *line, *text;
    arena *a; /* NULL: it is not at hand */
    const plan *plan;
    bench *bench;
    long long row; /* of the database */
    int registers, spills, scratch_bytes, shared_bytes, threads;
    unsigned long long code_hash; /* 0: not known */
    double compile_seconds;
} candidate_build;

/* What all candidates of a plan share. */
typedef struct tuning_session {
    tuner *t;
    arena *a;
    const compile_request *request;
    const ir_program *graph, *fused;
    const device_model *model;
    const char *device; /* as wisdom names it */
    const char **lines; /* what the user asks, and what was kept so far */
    size_t line_count;
    bench_options bench;
    bench *root, *base;           /* of the default; of the default with what was kept */
    const plan *plan;             /* of base */
    const ref_tensor *inputs;     /* that candidates are checked on; NULL: none was yet */
    const candidate_build **seen; /* candidates of the kernel whose code is known */
    int seen_count, seen_room;
    double wave_seconds; /* what a wave takes; 0: none was yet */
} tuning_session;

/* The plan with the line; not emitted. In the arena. Bails. */
plan *session_plan(const tuning_session *c, arena *a, const char *line);
/* The line is kept: from now on the plan with it is what candidates are tried in. Bails. */
void session_rebase(tuning_session *c, const char *line);
/* Plans, compiles in parallel, opens. */
void candidates_prepare(tuning_session *c, candidate *const *list, int count, const char *signature);
bool candidate_time(const tuning_session *c, candidate *x, double *seconds);
bool candidate_check(tuning_session *c, candidate *x, const char *signature); /* what phases of the signature store */
void candidate_close(candidate *x);
/* A hash of the code (0: not known), and of what else a launch is made of: two candidates of one code may still start other grids. */
unsigned long long candidate_hash_launches(const plan *p, unsigned long long hash);
#endif
