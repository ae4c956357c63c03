/* In: the database, the ranks of a sweep. Out: each candidate is one rank's, what one finds the others begin from, and of each kernel one
 * decides for all. A rank that dies keeps nobody waiting: what it held goes to the others. Refuses (bails) what the database refuses.
 *
 * All walk through the same kernels in the same order. Of each, every rank searches among tiles that no other has taken, and says when it
 * is through; when all that are alive are, one of them (whoever says so first) lets the best of all meet the default on its own device, and
 * tells what came of it; the others go on from there. */
#ifndef TFGEN_TUNE_SHARE_H
#define TFGEN_TUNE_SHARE_H
#include "runtime/cli/tune/database.h"
#include "runtime/cli/tune/ranks.h"

typedef struct share share;

/* group: ranks whose devices are alike, which alone share. */
share *share_open(arena *a, database *d, const ranks *r, long long session, const char *group);

/* key: of a case, or of a kernel. */
bool share_tell(share *s, const char *key, const char *what, const char *value); /* true: nobody had told it */
const char *share_told(share *s, arena *a, const char *key, const char *what);   /* or NULL */
bool share_take(share *s, const char *key, const char *program, const char *tile); /* false: another has it */
int share_taken(share *s, const char *key);                                        /* tiles, by all */
void share_best(share *s, const database_key *key, database_best_visit *visit, void *context); /* of others; at most 4 */
/* This rank is through. Waits for the others, until `until` (seconds_now()) and a little longer for those that are alive; true: this rank
 * decides; false: somebody has, and told "decision". */
void share_pass(share *s, const char *key); /* nobody is to wait for this rank */
bool share_join(share *s, const char *key, double until);
#endif
