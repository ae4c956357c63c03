/* In: Ctrl-C and SIGTERM. Out: that a tuning was told to stop; the first signal ends the search, the next one the process. A launch or a
 * compiler that is under way cannot be told to end: after a while the process ends as if nobody had listened. What was kept until then is
 * in the wisdom, and so is what stop_hold() was given last; trials without an end are interrupted ones. Refuses (bails) where there is no
 * thread to be had. */
#ifndef TFGEN_TUNE_STOP_H
#define TFGEN_TUNE_STOP_H
#include <signal.h>
#include <stdbool.h>
#include "gen/plan/wisdom.h"

extern volatile sig_atomic_t stop_signal; /* the signal, or 0 */
void stop_listen(arena *a);
void stop_listened(void);   /* what was told to stop has stopped */
void stop_has_trials(void); /* there may be something to keep: it takes time to end */
/* Goes into this wisdom if the process has to end before the search is over. NULL: nothing does. */
void stop_hold(arena *a, const char *wisdom, const wisdom_entry *line);
#endif
