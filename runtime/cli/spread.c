/* See spread.h. */
#include "runtime/cli/spread.h"
#include <stdlib.h>

static int by_value(const void *x, const void *y)
{
    const double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

static double quantile(const double *sorted, int count, double q)
{
    const double at = q * (count - 1);
    const int low = (int)at, high = low + 1 < count ? low + 1 : low;
    return sorted[low] + (at - low) * (sorted[high] - sorted[low]);
}

spread spread_of(double *samples, int count)
{
    qsort(samples, (size_t)count, sizeof *samples, by_value);
    return (spread){quantile(samples, count, 0.5), quantile(samples, count, 0.1), quantile(samples, count, 0.9)};
}

const char *spread_time_text(arena *a, double seconds, bool fine)
{
    const int digits = fine ? 3 : 2;
    if (seconds < 1e-3) return arena_printf(a, "%.*f us", fine ? 2 : 0, seconds * 1e6);
    return seconds < 1 ? arena_printf(a, "%.*f ms", digits, seconds * 1e3) : arena_printf(a, "%.*f s", digits, seconds);
}
