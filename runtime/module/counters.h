/* Counters in the workspace. In a launch of several phases a workgroup waits on them until other workgroups have finished the tiles that
 * it reads. */
#ifndef TFGEN_RUNTIME_COUNTERS_H
#define TFGEN_RUNTIME_COUNTERS_H
#include "runtime/module/module.h"

tfgen_status counters_clear(const tfgen_module *m, const call *c, tfgen_error *error); /* on the call's stream, before its launches */
/* TFGEN_DEVICE_ERROR if a wait of the call timed out. Synchronises the call's stream if the plan has counters. */
tfgen_status counters_check(const tfgen_module *m, const call *c, tfgen_error *error);
#endif
