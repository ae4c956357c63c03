/* In: the environment that a launcher of parallel programs (Open MPI's mpirun, and those of MPICH's kin) gives the processes that it
 * starts; no library of it is needed. Out: which of how many this one is, and a command that goes on when its process dies. Refuses
 * nothing: without such an environment a process is alone.
 *
 * Launchers end all processes when one dies or says that it failed, so the process that they see does nothing that may die: it starts
 * another one that does the work, tells the others by the database that it is there, and starts the work again where that died. */
#ifndef TFGEN_TUNE_RANKS_H
#define TFGEN_TUNE_RANKS_H
#include <stdbool.h>
#include "ir/base/arena.h"

typedef struct ranks {
    int rank, size, local; /* size 1: alone; local: rank among those of this host */
    bool many_hosts;
    const char *sweep; /* the same for all of them, and for no other launch */
} ranks;

ranks ranks_of(arena *a);

typedef struct ranks_work {
    int (*run)(void *context); /* in a process of its own; its exit code */
    void *context;
    const char *database; /* path; NULL: there is none, and the work will say so */
} ranks_work;

/* The exit code of the process that the launcher sees: that of the work; of others than the first 0, whose is the worst of all. */
int ranks_supervise(const ranks *r, const ranks_work *w);
#endif
