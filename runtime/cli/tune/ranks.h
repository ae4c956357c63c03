/* In: the environment variables of an MPI launcher (Open MPI's mpirun, or MPICH and its derivatives); no MPI library is needed. Out: this
 * process's rank and the number of ranks, and a supervisor that restarts work that crashed. Without a launcher there is one rank.
 *
 * Launchers kill all ranks when one crashes or fails, so the process that they see does nothing that may crash: it forks the work,
 * sends heartbeats to the other ranks through the database, and restarts the work if it crashes. */
#ifndef TFGEN_TUNE_RANKS_H
#define TFGEN_TUNE_RANKS_H
#include <stdbool.h>
#include "ir/base/arena.h"

typedef struct ranks {
    int rank, size, local; /* size 1: alone; local: rank among those of this host */
    bool many_hosts;
    const char *sweep; /* id of the launch: equal for all its ranks, unique to it */
} ranks;

ranks ranks_of(arena *a);

typedef struct ranks_work {
    int (*run)(void *context); /* called in a child process; returns its exit code */
    void *context;
    const char *database; /* path; NULL: none, which the work reports */
} ranks_work;

/* Runs the work and returns the exit code for the launcher: rank 0 returns the worst of all ranks, the others 0. Alone: the work's. */
int ranks_supervise(const ranks *r, const ranks_work *w);
#endif
