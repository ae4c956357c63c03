/* In: a device, and what a kernel takes of it. Out: how many of its workgroups and waves a unit holds, what sets the limit, and what one
 * step down would free. A kernel that does not fit has no workgroups. Pure. */
#ifndef TFGEN_IR_OCCUPANCY_H
#define TFGEN_IR_OCCUPANCY_H
#include "ir/devices/device_model.h"

typedef struct kernel_need {
    int threads;      /* a workgroup */
    int registers;    /* a lane; AMD: AGPRs among them where the target has one file of both */
    int sums;         /* AGPRs, where they are a file of their own */
    int scalars;      /* a wave, AMD */
    long long shared; /* bytes a workgroup */
} kernel_need;

typedef enum occupancy_limit { by_registers, by_sums, by_scalars, by_shared, by_waves, by_groups, occupancy_limit_count } occupancy_limit;

typedef struct occupancy {
    int groups;                            /* workgroups a unit */
    int waves, most_waves;                 /* of a SIMD, rounded up where they do not spread evenly; the most that one holds */
    int by[occupancy_limit_count];         /* workgroups that each limit alone would allow */
    unsigned limits;                       /* bit i: limit i is the least */
    long long step[occupancy_limit_count]; /* of what limits: the most of it with which one more workgroup fits; -1: no such number */
} occupancy;

/* What a unit of a target has for the workgroups that share it, whichever device it is of; all 0: nobody counts it (the host). */
typedef struct unit_room {
    int simds, threads, registers; /* registers: of all lanes together */
    int reserved;                  /* bytes of shared memory that each workgroup takes beside its own */
} unit_room;

unit_room unit_room_of(const target_info *target);

extern const char *const occupancy_limit_names[occupancy_limit_count];
/* False: the target has no such limits (the host), or the device file does not say how much shared memory a unit has. */
bool occupancy_of(const device_model *d, const kernel_need *need, occupancy *out);
/* "1 workgroup of 12 waves a unit, 3 of 16 waves a SIMD, limited by registers; with 160 instead of 168 a workgroup more" */
const char *occupancy_text(arena *a, const device_model *d, const kernel_need *need, const occupancy *o);
#endif
