/* In: a device and the resources that a kernel uses. Out: how many of its workgroups and waves a unit (multiprocessor) holds, which
 * resource limits them, and how little of that resource the kernel would have to use for one more workgroup to fit. A kernel that does not
 * fit has 0 workgroups. Pure functions. */
#ifndef TFGEN_IR_OCCUPANCY_H
#define TFGEN_IR_OCCUPANCY_H
#include "ir/devices/device_model.h"

typedef struct kernel_need {
    int threads;      /* per workgroup */
    int registers;    /* per lane; AMD: includes AGPRs if the target has a unified register file */
    int sums;         /* AGPRs per lane, if they are a separate file */
    int scalars;      /* SGPRs per wave, AMD */
    long long shared; /* bytes per workgroup */
} kernel_need;

typedef enum occupancy_limit { by_registers, by_sums, by_scalars, by_shared, by_waves, by_groups, occupancy_limit_count } occupancy_limit;

typedef struct occupancy {
    int groups;                            /* workgroups per unit */
    int waves, most_waves;                 /* per SIMD, rounded up if uneven; hardware maximum */
    int by[occupancy_limit_count];         /* workgroups that each limit alone would allow */
    unsigned limits;                       /* bit i: limit i is the least */
    long long step[occupancy_limit_count]; /* limiting resources: largest use at which one more workgroup fits; -1: none */
} occupancy;

/* Resources of a unit, which its workgroups share; they are equal on all devices of a target. All 0 for the host. */
typedef struct unit_room {
    int simds, threads, registers; /* registers: of all lanes together */
    int reserved;                  /* shared memory bytes the system reserves per workgroup */
} unit_room;

unit_room unit_room_of(const target_info *target);

extern const char *const occupancy_limit_names[occupancy_limit_count];
/* False: the target has no such limits (the host), or the device file lacks the shared memory size per unit. */
bool occupancy_of(const device_model *d, const kernel_need *need, occupancy *out);
/* "1 workgroup of 12 waves per unit, 3 of 16 waves per SIMD, limited by registers; one more with 160 registers instead of 168" */
const char *occupancy_text(arena *a, const device_model *d, const kernel_need *need, const occupancy *o);
#endif
