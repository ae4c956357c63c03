/* In: nothing. Out: how many processors this process may run on: fewer than the machine has under taskset, a batch system, or a container
 * with processors of its own. At least 1. */
#ifndef TFGEN_PROCESSORS_H
#define TFGEN_PROCESSORS_H

int processor_count(void);
#endif
