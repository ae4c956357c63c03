/* In: a device model and a launch's work. Out: the least time (roofline). */
#ifndef TFGEN_GEN_PEAKS_H
#define TFGEN_GEN_PEAKS_H
#include "gen/base/work.h"

/* The least time for this work on a device whose bandwidth is known, and which limit sets it: "memory", "products", "arithmetic".
 * Arithmetic outside products is in f32. */
double peaks_floor(const device_model *d, dtype type, const work *w, const char **limit);
#endif
