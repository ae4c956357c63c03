/* In: the kernel being tuned. Out: callbacks for the search: candidates, their rows in the database, results of other ranks.
 * Bails with the database's error. Private to runtime/cli/tune. */
#ifndef TFGEN_TUNE_UNDER_TEST_H
#define TFGEN_TUNE_UNDER_TEST_H
#include "runtime/cli/tune/candidate.h"

typedef struct kernel_under_test {
    tuning_session *c;
    arena *a;
    space *space;
    const char *signature, *name, *block, *key; /* key: identifies the kernel in messages between ranks */
    phase_size size;
    candidate *pool, *kept; /* pool: not proposed yet; kept: best of an earlier run, proposed first */
    int pool_count, pool_room, kept_count;
    double until; /* end of the search, by seconds_now() */
    work work;
    double share, run_seconds, launch_seconds, floor_seconds; /* of the default tile; share: its part of the run's time */
    bool seeded;                                              /* `kept` was proposed */
    /* ---- progress on the terminal */
    int tried;
    double best; /* the least ratio to the default */
    bool terminal;
} kernel_under_test;

/* ---- under_test.c */
candidate under_test_candidate(kernel_under_test *s, const ir_tile *t);
database_key under_test_key(const kernel_under_test *s);
/* Parses what space_text() writes; false: incompatible version (gen/plan/wisdom.h) or malformed. */
bool under_test_read_tile(arena *a, const char *program, const char *version, const char *tile, ir_tile *out);

/* ---- under_test_pool.c */
/* Sets the candidate's predicted time. False: the planner refuses the tile. */
bool under_test_foresee(kernel_under_test *s, candidate *x);
int under_test_propose(void *kernel, const candidate *best, int most, candidate *out); /* search_side.propose */

/* ---- under_test_trials.c */
/* Records the trial before its first run, so that a hang is attributed to it. */
void under_test_begin_trial(const kernel_under_test *s, const candidate *x);
void under_test_end_trial(const kernel_under_test *s, const candidate *x);
void under_test_timed(void *kernel, const candidate *x); /* search_side.timed */
void under_test_resume(kernel_under_test *s);            /* continues earlier runs of the tuner: excludes tiles tried there, and starts from
                                                          * the best of them */

/* ---- under_test_ranks.c */
void under_test_best_of_all(const kernel_under_test *s, double ratio, ir_tile *tile); /* replaces tile by a faster one of another rank */
int under_test_join(void *kernel, int most, candidate *out);                          /* search_side.join */
void under_test_tell_decision(const kernel_under_test *s, const search_result *r);
void under_test_take_decision(kernel_under_test *s, tuned_kernel *k, const char *said);
/* All ranks adopt the kernel order of the first to publish one, as each measures its own time shares. */
void under_test_agree_on_order(const tuning_session *c, tuned_plan *out, const char *path, const char *where);
#endif
