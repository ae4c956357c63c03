/* In: Ctrl-C and SIGTERM. Out: stop_signal; the first signal ends the search, the second the process. A running launch or compiler cannot
 * be interrupted, so a timeout ends the process by the signal. The wisdom then has the tiles kept so far and the line last given to
 * stop_hold(); unfinished trials count as interrupted. Bails if it cannot start a thread. */
#ifndef TFGEN_TUNE_STOP_H
#define TFGEN_TUNE_STOP_H
#include <signal.h>
#include <stdbool.h>
#include "gen/plan/wisdom.h"

extern volatile sig_atomic_t stop_signal; /* the signal, or 0 */
void stop_listen(arena *a);
void stop_listened(void);   /* call when the search has stopped: cancels the timeout */
void stop_has_trials(void); /* call once there may be results to save, which takes time */
/* The line to add to this wisdom if the process must end before the search does. NULL: none. */
void stop_hold(arena *a, const char *wisdom, const wisdom_entry *line);
#endif
