/* In: a device file (specs/devices/h200.yaml shows one). Out: what the device can do at most. Refuses files that are not like it, as
 * file:line:col, and files of another device. */
#ifndef TFGEN_CLI_DEVICE_PEAKS_H
#define TFGEN_CLI_DEVICE_PEAKS_H
#include "ir/ir.h"
#include "runtime/cli/launch_work.h"

typedef struct peaks {
    const char *name;
    double bandwidth;   /* bytes a second */
    double products[3]; /* operations a second by dtype: f32, f16, bf16 */
    double others;      /* operations a second */
    double cache;       /* bytes of the last level; 0: not said */
} peaks;

/* `label`: what the device calls itself; the file's `match`, when it has one, must be part of it. */
peaks *peaks_read(arena *a, const char *path, const char *label);
/* The least time for this work, and which limit sets it: "memory", "products", "arithmetic". */
double peaks_floor(const peaks *p, dtype type, const work *w, const char **limit);
#endif
