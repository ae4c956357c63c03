/* Number of processors this process may run on, at least 1: fewer than the machine has under taskset, a batch system, or in a container
 * with a CPU set. */
#ifndef TFGEN_PROCESSORS_H
#define TFGEN_PROCESSORS_H

int processor_count(void);
#endif
