/* In: trials. Out: a report file: tiles by time, predicted against measured time, the best so far after each trial; a self-contained page,
 * CSV, JSON or text, by the file name's extension. Refuses other extensions and unwritable files. */
#ifndef TFGEN_TUNE_REPORT_H
#define TFGEN_TUNE_REPORT_H
#include "runtime/cli/cli.h"
#include "runtime/cli/tune/database.h"

void report_check(arena *a, const char *path); /* bails on an unknown extension */
void report_write(arena *a, database *d, long long session, const char *path); /* session 0: all */
#endif
