/* Profiler ranges (NVTX, roctx) for what this library does. If TFGEN_PROFILE requests them (docs/profiling.md), the first call opens the
 * libraries, which stay open; otherwise nothing is opened and a call costs one comparison. `tfgen doctor` reports a missing library. The
 * ranges of a thread nest. */
#ifndef TFGEN_RANGES_H
#define TFGEN_RANGES_H
#include <stdbool.h>
#include <stddef.h>

bool ranges_wanted(void); /* a profiler library is open: worth formatting a name */
/* The range's name is `what`, a blank and `name` (which may be NULL), truncated to 200 characters. */
void range_begin(const char *what, const char *name);
void range_end(void);

/* For `tfgen doctor`: fills in at most `most` opened libraries and returns their number; *asked: TFGEN_PROFILE's value, NULL if it requests
 * nothing. */
size_t ranges_open(const char **libraries, size_t most, const char **asked);
#endif
