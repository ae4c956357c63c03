/* In: TFGEN_PROFILE, names of what this library is at. Out: the same to a profiler, as ranges of NVTX and roctx. Their libraries are opened
 * at the first call, where TFGEN_PROFILE asks for that (docs/profiling.md), and stay open; else nothing is opened and a call is a
 * comparison. Who asks for ranges and has no such library learns it from `tfgen doctor`. Ranges of a thread nest. */
#ifndef TFGEN_RANGES_H
#define TFGEN_RANGES_H
#include <stdbool.h>
#include <stddef.h>

bool ranges_wanted(void); /* somebody listens: a name is worth making */
/* "what name"; what is not NULL. Of what does not fit in 200 characters the end is left out. */
void range_begin(const char *what, const char *name);
void range_end(void);

/* For `tfgen doctor`: what was opened, how many of `most`; *asked: what TFGEN_PROFILE is, NULL where it asks for nothing. */
size_t ranges_open(const char **libraries, size_t most, const char **asked);
#endif
