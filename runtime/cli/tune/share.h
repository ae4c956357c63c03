/* In: the database, the ranks of a sweep. Out: work sharing: each candidate belongs to one rank, ranks start from each other's best tiles,
 * and one rank decides per kernel. A dead rank blocks nobody: its candidates go to the others. Bails with the database's error.
 *
 * All ranks tune the same kernels in the same order. For each kernel, a rank searches among tiles that no other has taken, and reports when
 * it is done. When all live ranks are done, the first to claim it times the best tiles of all against the default on its own device and
 * publishes the decision, from which all continue. */
#ifndef TFGEN_TUNE_SHARE_H
#define TFGEN_TUNE_SHARE_H
#include "runtime/cli/tune/database.h"
#include "runtime/cli/tune/ranks.h"

typedef struct share share;

/* group: only ranks of the same group share work; a group has devices of one kind. */
share *share_open(arena *a, database *d, const ranks *r, long long session, const char *group);

/* key: identifies a case or a kernel. */
bool share_tell(share *s, const char *key, const char *what, const char *value); /* true: this rank was the first to publish it */
const char *share_told(share *s, arena *a, const char *key, const char *what);   /* or NULL */
bool share_take(share *s, const char *key, const char *program, const char *tile); /* false: another rank has the tile */
int share_taken(share *s, const char *key);                                        /* number of tiles taken by all ranks */
void share_best(share *s, const database_key *key, database_best_visit *visit, void *context); /* other ranks' best, at most 4 */
void share_pass(share *s, const char *key); /* the others need not wait for this rank */
/* This rank is done with the kernel. Waits for the others until `until` (seconds_now()), a little longer for live ones. True: this rank
 * decides; false: another rank has decided and published "decision". */
bool share_join(share *s, const char *key, double until);
#endif
