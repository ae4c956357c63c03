/* Computes the least time that a device's peak rates allow for a launch's work (roofline). */
#ifndef TFGEN_GEN_PEAKS_H
#define TFGEN_GEN_PEAKS_H
#include "gen/base/work.h"

/* Seconds that the work takes at least, on a device whose bandwidth is known. type: of the products' operands. *limit: what takes that
 * long: "memory", "products", or "arithmetic" (operations outside products, at the f32 rate). */
double peaks_floor(const device_model *d, dtype type, const work *w, const char **limit);
#endif
