/* Counters in the workspace, through which workgroups of a launch of several phases wait for each other's tiles. */
#ifndef TFGEN_RUNTIME_COUNTERS_H
#define TFGEN_RUNTIME_COUNTERS_H
#include "runtime/module/module.h"

tfgen_status counters_clear(const tfgen_module *m, const call *c, tfgen_error *error); /* on the call's stream, ahead of its launches */
/* TFGEN_DEVICE_ERROR if a wait of the call took too long. Waits for the call's stream, if there are counters. */
tfgen_status counters_check(const tfgen_module *m, const call *c, tfgen_error *error);
#endif
