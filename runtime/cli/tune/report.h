/* In: trials. Out: a file that says what was tried and how fast it was: tiles by time, what the model said beside what was measured,
 * the best so far trial by trial; as one page that needs no network, CSV, JSON or text, by the end of its name. Refuses other ends, and
 * what cannot be written. */
#ifndef TFGEN_TUNE_REPORT_H
#define TFGEN_TUNE_REPORT_H
#include "runtime/cli/cli.h"
#include "runtime/cli/tune/database.h"

void report_check(arena *a, const char *path); /* bails: no such kind of report */
void report_write(arena *a, database *d, long long session, const char *path); /* session 0: all */
#endif
