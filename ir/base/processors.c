/* Counts the CPUs in the process's affinity mask; all online CPUs if the mask does not fit a cpu_set_t. */
#define _GNU_SOURCE
#include "ir/base/processors.h"
#include <sched.h>
#include <unistd.h>

int processor_count(void)
{
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0 && CPU_COUNT(&allowed) > 0) return CPU_COUNT(&allowed);
    const long all = sysconf(_SC_NPROCESSORS_ONLN); /* more than cpu_set_t has room for */
    return all > 0 ? (int)all : 1;
}
