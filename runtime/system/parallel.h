/* Runs independent jobs on several threads. The calling thread works too, so all jobs are done even if no
 * thread can be created. */
#ifndef TFGEN_PARALLEL_H
#define TFGEN_PARALLEL_H
#include <stddef.h>

/* Calls each(context, i) once for every i below n, from `jobs` threads (0: one per processor); calls begin
 * in ascending order of i. */
void run_parallel(size_t n, int jobs, void (*each)(void *context, size_t index), void *context);
#endif
