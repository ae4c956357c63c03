/* Words in the workspace on which workgroups of a launch of several phases wait for each other's tiles: marks (templates/frame/marks.h) in
 * plans made today; counters, which must be zeroed before a call, only in plans made by tests. */
#ifndef TFGEN_RUNTIME_COUNTERS_H
#define TFGEN_RUNTIME_COUNTERS_H
#include "runtime/module/module.h"

tfgen_status counters_clear(const tfgen_module *m, const call *c, tfgen_error *error); /* on the call's stream, before its launches */
/* TFGEN_DEVICE_ERROR if a wait of the call timed out. Synchronises the call's stream if the plan has counters or marks; reports the first
 * timeout found. */
tfgen_status counters_check(const tfgen_module *m, const call *c, tfgen_error *error);
#endif
