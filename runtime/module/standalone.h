/* In: a device, a template whose kernels belong to no plan (gen/source/standalone.h). Out: its code on the device. Bails with errors of the
 * device and its compilers. */
#ifndef TFGEN_RUNTIME_STANDALONE_H
#define TFGEN_RUNTIME_STANDALONE_H
#include "runtime/cache/cache.h"
#include "runtime/device/device.h"

typedef struct standalone_request {
    const char *template_path, *name, *purpose; /* purpose: the kernels "...", for messages and the source's first line */
    const target_info *target;
    cache *cache; /* NULL: none */
    int jobs;
} standalone_request;
/* The caller unloads it. */
void *standalone_load(arena *a, tfgen_device *d, const standalone_request *r);
#endif
