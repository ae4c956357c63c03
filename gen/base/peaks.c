/* Contract: gen/base/peaks.h. */
#include "gen/base/peaks.h"
#include <math.h>

double peaks_floor(const device_model *d, dtype type, const work *w, const char **limit)
{
    const double most = d->rates[rate_products].of[type], other = d->rates[rate_vector].of[dtype_f32];
    const double memory = (w->read + w->written) / d->numbers[number_bandwidth].value;
    const double products = most > 0 ? w->products / most : 0;
    const double others = other > 0 ? w->others / other : 0;
    *limit = memory >= products && memory >= others ? "memory" : products >= others ? "products" : "arithmetic";
    return fmax(memory, fmax(products, others));
}
