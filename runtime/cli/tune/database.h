/* In: the trials of a tuning. Out: an SQLite file with a row per trial, written after each round, so that a kill loses at most the current
 * round; several tuners may write one file. Also reads a kernel's earlier trials, to resume from.
 * Refuses (bails code_io) a file that cannot be opened or written, or has another version. */
#ifndef TFGEN_TUNE_DATABASE_H
#define TFGEN_TUNE_DATABASE_H
#include "gen/base/signature.h"
#include "runtime/cli/tune/search.h"

typedef struct database database;

/* $TFGEN_TRIALS, else $XDG_DATA_HOME/tfgen/trials.db, else ~/.local/share/tfgen/trials.db; NULL without a home. */
const char *database_path(arena *a);
/* Creates file and folders; closed with the arena. many_hosts: tuners on several hosts share the file, on a file system with POSIX
 * locks. */
database *database_open(arena *a, const char *path, bool many_hosts);

typedef struct database_session { /* one per command */
    const char *command, *label, *arch, *target, *model, *driver, *compiler;
    unsigned long long seed;
} database_session;
long long database_begin(database *d, const database_session *s);
/* Stores the device's clocks under load of the session's first plan, or why they are unknown. */
void database_clocks(database *d, long long session, const char *clocks, const char *why);
void database_end(database *d, long long session, const char *how); /* how: "done", "budget" or "stopped" */

typedef struct database_key { /* a kernel on a device: trials with equal keys are comparable */
    const char *signature, *target, *device;
    phase_size size;
} database_key;

typedef struct database_trial {
    long long session;
    database_key key;
    const char *block, *kernel, *program, *version, *tile, *status, *reason;
    double predicted, ratio; /* predicted: seconds; ratio: to the default's time. 0: unknown */
    int registers, spills, scratch_bytes, shared_bytes, threads; /* registers -1: unknown */
    const char *code_hash;                                       /* or NULL */
    double compile_seconds;
    double run_seconds, launch_seconds;     /* of the default tile: the whole plan, and this kernel measured between events */
    double operations, bytes, floor_seconds; /* of the kernel, counted from the IR; floor 0: unknown to the device model */
    int waves, most_waves;                  /* occupancy in waves per SIMD, and its limit; 0: unknown */
    const double *seconds, *against; /* seconds by round: of this tile and of the default */
    int rounds;
    bool checked;
} database_trial;
/* Call start before the first run, save after each round, finish at the end. A trial started but without a result was interrupted: it
 * hung or crashed its process. */
long long database_start(database *d, const database_trial *t);
void database_save(database *d, long long trial, const database_trial *t);
void database_finish(database *d, long long trial, const database_trial *t);

/* Visits the newest trial of each tile for this key and the current version of its program. interrupted: how often it was interrupted. */
typedef void database_visit(void *context, const char *program, const char *version, const char *tile, const char *status, double ratio,
                            int interrupted);
void database_known(database *d, const database_key *key, database_visit *visit, void *context);

/* For reports: trials of a session and the rest of its sweep (session 0: all trials), by kernel, in order of their start. */
typedef struct trial_row {
    const char *kernel, *signature, *target, *device, *program, *tile, *status, *reason;
    long long rows, keys, trial, rounds;
    double predicted, ratio, run_seconds, launch_seconds, operations, bytes, floor_seconds, compile_seconds;
    int registers, spills, scratch_bytes, shared_bytes, threads, waves, most_waves, checked; /* -1: unknown */
} trial_row;
trial_row *database_rows(database *d, arena *a, long long session, size_t *count);

/* ---- messages between the processes of a sweep (runtime/cli/tune/share.h) */
/* Writes the value unless (key, what) exists. True: this rank wrote it, and owns it. */
bool database_tell(database *d, const char *sweep, const char *key, const char *what, int rank, const char *value);
const char *database_told(database *d, arena *a, const char *sweep, const char *key, const char *what, int *rank); /* or NULL */
/* Transfers an entry owned by `from` to `rank`; false: another rank owned it. */
bool database_take_over(database *d, const char *sweep, const char *key, const char *what, int from, int rank);
int database_count_told(database *d, const char *sweep, const char *key, const char *like);
/* Stores a rank's heartbeat; negative: it has ended with exit code -1 - beat. */
void database_beat(database *d, const char *sweep, int rank, long long beat);
typedef void database_beats_visit(void *context, int rank, long long beat);
void database_beats(database *d, const char *sweep, database_beats_visit *visit, void *context);
/* Releases the tiles that a rank started but did not finish, except those interrupted twice. */
void database_give_back(database *d, const char *sweep, int rank);
/* Visits the sweep's trials of a kernel that beat the default, fastest first, without those of session but_session. */
typedef void database_best_visit(void *context, const char *program, const char *version, const char *tile, double ratio);
void database_best(database *d, const char *sweep, const database_key *key, long long but_session, database_best_visit *visit,
                   void *context);
void database_forget(database *d, const char *sweep);
#endif
