/* In: a plan's kernel that is tuned. Out: what the search asks of it: candidates, their rows in the database, what other ranks found.
 * Refuses (bails) what the database refuses. Private to runtime/cli/tune. */
#ifndef TFGEN_TUNE_SUBJECT_H
#define TFGEN_TUNE_SUBJECT_H
#include "runtime/cli/tune/entrant.h"

typedef struct subject {
    course *c;
    arena *a;
    space *space;
    const char *signature, *name, *block, *key; /* key: as ranks call it */
    phase_size size;
    candidate *pool, *kept; /* proposed by nobody yet; kept: of a run before, to begin with */
    int pool_count, pool_room, kept_count;
    double until; /* of the search, by seconds_now() */
    work work;
    double share, run_seconds, launch_seconds, floor_seconds; /* share: of the run; all of the default */
    bool seeded; /* `kept` was proposed */
    /* ---- what the terminal is told */
    int tried;
    double best; /* the least ratio to the default */
    bool terminal;
} subject;

/* ---- subject.c */
candidate subject_candidate(subject *s, const ir_tile *t);
database_key subject_key(const subject *s);
/* As space_text() writes it; false: of a version that does not serve (gen/plan/wisdom.h), or something else. */
bool subject_read_tile(arena *a, const char *program, const char *version, const char *tile, ir_tile *out);

/* ---- subject_pool.c */
/* The time that the model predicts is the candidate's then. False: the planner itself refuses it. */
bool subject_foresee(subject *s, candidate *x);
int subject_propose(void *subject, const candidate *best, int most, candidate *out); /* search_side.propose */

/* ---- subject_trials.c */
/* Before it runs for the first time: what hangs has been told of. */
void subject_begin_trial(const subject *s, const candidate *x);
void subject_end_trial(const subject *s, const candidate *x);
void subject_timed(void *subject, const candidate *x); /* search_side.timed */
void subject_resume(subject *s); /* what was tried is not proposed, the best of it to begin with */

/* ---- subject_ranks.c */
void subject_best_of_all(const subject *s, double ratio, ir_tile *tile); /* the tile is another rank's where that is faster */
int subject_join(void *subject, int most, candidate *out);               /* search_side.join */
void subject_tell_decision(const subject *s, const search_result *r);
void subject_take_decision(subject *s, tuned_kernel *k, const char *said);
/* Ranks measure shares of their own, and go through the kernels in one order: that of whoever tells it first. */
void subjects_agree_on_order(const course *c, tuned_plan *out, const char *path, const char *where);
#endif
