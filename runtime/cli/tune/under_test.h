/* In: a plan's kernel that is tuned. Out: what the search asks of it: candidates, their rows in the database, what other ranks found.
 * Refuses (bails) what the database refuses. Private to runtime/cli/tune. */
#ifndef TFGEN_TUNE_UNDER_TEST_H
#define TFGEN_TUNE_UNDER_TEST_H
#include "runtime/cli/tune/candidate.h"

typedef struct kernel_under_test {
    tuning_session *c;
    arena *a;
    space *space;
    const char *signature, *name, *block, *key; /* key: as ranks call it */
    phase_size size;
    candidate *pool, *kept; /* proposed by nobody yet; kept: of a run before, to begin with */
    int pool_count, pool_room, kept_count;
    double until; /* of the search, by seconds_now() */
    work work;
    double share, run_seconds, launch_seconds, floor_seconds; /* share: of the run; all of the default */
    bool seeded;                                              /* `kept` was proposed */
    /* ---- what the terminal is told */
    int tried;
    double best; /* the least ratio to the default */
    bool terminal;
} kernel_under_test;

/* ---- under_test.c */
candidate under_test_candidate(kernel_under_test *s, const ir_tile *t);
database_key under_test_key(const kernel_under_test *s);
/* As space_text() writes it; false: of a version that does not serve (gen/plan/wisdom.h), or something else. */
bool under_test_read_tile(arena *a, const char *program, const char *version, const char *tile, ir_tile *out);

/* ---- under_test_pool.c */
/* The time that the model predicts is the candidate's then. False: the planner itself refuses it. */
bool under_test_foresee(kernel_under_test *s, candidate *x);
int under_test_propose(void *kernel, const candidate *best, int most, candidate *out); /* search_side.propose */

/* ---- under_test_trials.c */
/* Before it runs for the first time: what hangs has been told of. */
void under_test_begin_trial(const kernel_under_test *s, const candidate *x);
void under_test_end_trial(const kernel_under_test *s, const candidate *x);
void under_test_timed(void *kernel, const candidate *x); /* search_side.timed */
void under_test_resume(kernel_under_test *s);            /* what was tried is not proposed, the best of it to begin with */

/* ---- under_test_ranks.c */
void under_test_best_of_all(const kernel_under_test *s, double ratio, ir_tile *tile); /* the tile is another rank's where that is faster */
int under_test_join(void *kernel, int most, candidate *out);                          /* search_side.join */
void under_test_tell_decision(const kernel_under_test *s, const search_result *r);
void under_test_take_decision(kernel_under_test *s, tuned_kernel *k, const char *said);
/* Ranks measure shares of their own, and go through the kernels in one order: that of whoever tells it first. */
void under_test_agree_on_order(const tuning_session *c, tuned_plan *out, const char *path, const char *where);
#endif
