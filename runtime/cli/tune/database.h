/* In: what a tuning tries. Out: an SQLite file that has all of it, for whoever asks later: a row a trial, written after each round, so
 * that a kill loses the round under way at most; many tuners may write one file. And what it knows of a kernel already, to go on with.
 * Refuses (bails code_io) a file that cannot be opened or written, or is of another version. */
#ifndef TFGEN_TUNE_DATABASE_H
#define TFGEN_TUNE_DATABASE_H
#include "gen/base/signature.h"
#include "runtime/cli/tune/search.h"

typedef struct database database;

/* $TFGEN_TRIALS, else $XDG_DATA_HOME/tfgen/trials.db, else ~/.local/share/tfgen/trials.db; NULL without a home. */
const char *database_path(arena *a);
/* Makes file and folders; closed with the arena. many_hosts: tuners of several hosts have it open, on a file system that they share and
 * whose locks are POSIX's. */
database *database_open(arena *a, const char *path, bool many_hosts);

typedef struct database_session { /* of one command */
    const char *command, *label, *arch, *target, *model, *driver, *compiler;
    unsigned long long seed;
} database_session;
long long database_begin(database *d, const database_session *s);
/* How fast the device runs under load, or why nobody knows: of the session's first plan. */
void database_clocks(database *d, long long session, const char *clocks, const char *why);
void database_end(database *d, long long session, const char *how); /* done, budget, stopped */

typedef struct database_key { /* a kernel on a device: trials of one key are comparable */
    const char *signature, *target, *device;
    phase_size size;
} database_key;

typedef struct database_trial {
    long long session;
    database_key key;
    const char *block, *kernel, *program, *version, *tile, *status, *reason;
    double predicted, ratio; /* seconds; of the default's time. 0: not known */
    int registers, spills, scratch_bytes, shared_bytes, threads; /* registers -1: not known */
    const char *code_hash;                                       /* or NULL */
    double compile_seconds;
    double run_seconds, launch_seconds;     /* of the default: the plan, and the kernel between events */
    double operations, bytes, floor_seconds; /* of the kernel, counted from the IR; floor 0: the device model does not say */
    int waves, most_waves;                  /* that a SIMD holds; 0: not known */
    const double *seconds, *against; /* by round */
    int rounds;
    bool checked;
} database_trial;
/* A trial begins, before it runs for the first time; what it came to so far; it ended. One that was begun and has come to nothing was
 * interrupted: it hung, or took its process along. */
long long database_start(database *d, const database_trial *t);
void database_save(database *d, long long trial, const database_trial *t);
void database_finish(database *d, long long trial, const database_trial *t);

/* Trials of the key with this version of their programs, the newest of each tile. Calls back with tile, status, ratio, and how often it
 * was interrupted. */
typedef void database_visit(void *context, const char *program, const char *version, const char *tile, const char *status, double ratio,
                            int interrupted);
void database_known(database *d, const database_key *key, database_visit *visit, void *context);

/* For reports: trials of a session with those of its sweep, or of all (0), kernel by kernel, as they were begun. */
typedef struct trial_row {
    const char *kernel, *signature, *target, *device, *program, *tile, *status, *reason;
    long long rows, keys, trial, rounds;
    double predicted, ratio, run_seconds, launch_seconds, operations, bytes, floor_seconds, compile_seconds;
    int registers, spills, scratch_bytes, shared_bytes, threads, waves, most_waves, checked; /* -1: not known */
} trial_row;
trial_row *database_rows(database *d, arena *a, long long session, size_t *count);

/* ---- what the processes of a sweep tell each other (runtime/cli/tune/share.h) */
/* True: nobody had told it before, and this rank has now. */
bool database_tell(database *d, const char *sweep, const char *key, const char *what, int rank, const char *value);
const char *database_told(database *d, arena *a, const char *sweep, const char *key, const char *what, int *rank); /* or NULL */
/* What `from` told is this rank's from now on; false: it was another's. */
bool database_take_over(database *d, const char *sweep, const char *key, const char *what, int from, int rank);
int database_count_told(database *d, const char *sweep, const char *key, const char *like);
/* -1: the rank has ended. */
void database_beat(database *d, const char *sweep, int rank, long long beat);
typedef void database_beats_visit(void *context, int rank, long long beat);
void database_beats(database *d, const char *sweep, database_beats_visit *visit, void *context);
/* Tiles that a rank began with and did not end are anybody's again, but for those that were interrupted twice. */
void database_give_back(database *d, const char *sweep, int rank);
/* Of the sweep's trials of a kernel those that were faster than the default, the fastest first. */
typedef void database_best_visit(void *context, const char *program, const char *version, const char *tile, double ratio);
void database_best(database *d, const char *sweep, const database_key *key, long long but_session, database_best_visit *visit,
                   void *context);
void database_forget(database *d, const char *sweep);
#endif
