/* In: what the kernel lets this process run on. Out: a count. Where the kernel's answer does not fit, all there are. */
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
