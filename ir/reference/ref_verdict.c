/* In: the reference's values with their errors, and a device's values. Out: ratios, RMS errors and verdicts (ir/reference/ref.h). */
#include "ir/reference/ref_parts.h"
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t unwritten_bits = 0x7ff8756e77726974; /* a quiet NaN with a payload */

double ref_unwritten(void)
{
    double d;
    memcpy(&d, &unwritten_bits, sizeof d);
    return d;
}

bool ref_is_unwritten(double d)
{
    uint64_t bits;
    memcpy(&bits, &d, sizeof bits);
    return bits == unwritten_bits;
}

/* Sums of squared differences and squared expected values, over finite expected values. */
typedef struct mean_square {
    double differences, sizes;
} mean_square;

static void add_square(mean_square *m, double expected, double got)
{
    if (!isfinite(expected)) return;
    m->differences += (got - expected) * (got - expected);
    m->sizes += expected * expected;
}

static double relative(const mean_square *m) { return m->sizes > 0 ? sqrt(m->differences / m->sizes) : sqrt(m->differences); }

double ref_rms(const double *expected, const double *got, size_t count)
{
    mean_square m = {0};
    for (size_t i = 0; i < count; i++) add_square(&m, expected[i], got[i]);
    return relative(&m);
}

double ref_rms_of_errors(const ref_tensor *t)
{
    mean_square m = {0};
    for (size_t i = 0; t->error && i < t->count; i++) add_square(&m, t->value[i], t->value[i] + t->error[i]);
    return relative(&m);
}

/* |got - expected| / bound of one element; infinite if no bound could cover the difference (NaN, infinities, a bound of 0). */
static double element_ratio(double expected, double got, double bound)
{
    if (ref_is_unwritten(got)) return INFINITY;
    if (isnan(expected)) return isnan(got) ? 0 : INFINITY;
    if (expected == got) return 0;
    const double difference = fabs(got - expected);
    return isnan(difference) || !(bound > 0) ? INFINITY : difference / bound;
}

static double bound_of(const ref_tensor *t, size_t i) { return ref_sigmas * ref_error(t, i); }

double ref_ratio(const ref_tensor *t, size_t i, double got)
{
    const double bound = bound_of(t, i);
    return isfinite(bound) || ref_is_unwritten(got) ? element_ratio(t->value[i], got, bound) : 0;
}

/* Sum of squared ratios over the judged elements that have an error. */
typedef struct spread {
    double squares;
    size_t count;
} spread;

static void add_ratio(spread *s, double bound, double ratio)
{
    if (isfinite(bound) && bound > 0) s->squares += ratio * ratio, s->count++;
}

static double spread_of(spread s) { return s.count < ref_spread_count ? 0 : sqrt(s.squares / (double)s.count); }

typedef struct element {
    double value, error, ratio;
} element;

/* Orders by value, then error; the largest ratio comes first among equals. */
static int compare_elements(const void *x, const void *y)
{
    const element *a = x, *b = y;
    if (a->value != b->value) return a->value < b->value ? -1 : 1;
    if (a->error != b->error) return a->error < b->error ? -1 : 1;
    return a->ratio > b->ratio ? -1 : a->ratio < b->ratio;
}

/* The spread of elements of which only one, the worst, counts if several have equal value and error. NaN and infinite elements, whose ratio
 * is 0 or infinite, do not count. Returns `all`, the spread of all elements, if there is no memory. */
static spread spread_of_different(const ref_tensor *t, const double *got, spread all)
{
    element *elements = malloc((t->count ? t->count : 1) * sizeof *elements);
    if (!elements) return all;
    size_t count = 0;
    for (size_t i = 0; i < t->count; i++)
        if (isfinite(t->value[i])) elements[count++] = (element){t->value[i], ref_error(t, i), ref_ratio(t, i, got[i])};
    qsort(elements, count, sizeof *elements, compare_elements);
    spread different = {0};
    for (size_t i = 0; i < count; i++)
        if (i == 0 || elements[i].value != elements[i - 1].value || elements[i].error != elements[i - 1].error)
            add_ratio(&different, ref_sigmas * elements[i].error, elements[i].ratio);
    free(elements);
    return different;
}

/* ---- independent errors */
typedef struct common_part {
    size_t number, at; /* the number whose error reaches the element, and the element */
} common_part;

static int compare_parts(const void *x, const void *y)
{
    const common_part *a = x, *b = y;
    if (a->number != b->number) return a->number < b->number ? -1 : 1;
    return a->at < b->at ? -1 : a->at > b->at;
}

/* How far off the number of the parts from first to end - 1 is, in units of its error: by least squares, within its bound. */
static double estimate(const ref_tensor *t, const double *got, const common_part *first, const common_part *end)
{
    double both = 0, squares = 0;
    for (const common_part *p = first; p < end; p++) {
        const double change = t->common[p->at].change / t->error[p->at];
        both += change * (got[p->at] - t->value[p->at]) / t->error[p->at], squares += change * change;
    }
    return squares > 0 ? fmax(-ref_sigmas, fmin(ref_sigmas, both / squares)) : 0;
}

/* Adds the ratio of what is not explained if the element's number is `off` times its error off. What that moves the element by is rounded
 * as well when it is stored. */
static void add_own_ratio(spread *s, const ref_tensor *t, const double *got, size_t i, double off)
{
    const double change = t->common[i].change, unit = fmax(t->unit, REF_UNIT);
    const double least = unit * fabs(t->value[i]), moved = unit * off * change;
    const double own = sqrt(fmax(t->error[i] * t->error[i] - change * change, least * least) + moved * moved);
    add_ratio(s, ref_sigmas * own, fabs(got[i] - t->value[i] - off * change) / (ref_sigmas * own));
}

/* The spread of independent errors (REF_MOST_SPREAD), infinite if there is no memory. */
static double spread_of_independent(const ref_tensor *t, const double *got)
{
    spread s = {0};
    common_part *parts = malloc((t->count ? t->count : 1) * sizeof *parts);
    if (!parts) return INFINITY;
    size_t count = 0;
    for (size_t i = 0; i < t->count; i++)
        if (isfinite(t->value[i]) && isfinite(t->error[i]) && t->error[i] > 0) parts[count++] = (common_part){t->common[i].number, i};
    qsort(parts, count, sizeof *parts, compare_parts);
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first; end < count && parts[end].number == parts[first].number;) end++;
        const double off = parts[first].number ? estimate(t, got, parts + first, parts + end) : 0;
        if (parts[first].number) add_ratio(&s, 1, fabs(off) / ref_sigmas);
        for (size_t i = first; i < end; i++) add_own_ratio(&s, t, got, parts[i].at, off);
    }
    free(parts);
    return spread_of(s);
}

ref_verdict ref_compare(const ref_tensor *t, const double *got)
{
    ref_verdict v = {0};
    mean_square m = {0};
    spread all = {0};
    for (size_t i = 0; i < t->count; i++) {
        const double bound = bound_of(t, i);
        const bool judged = isfinite(bound);
        v.unjudged += !judged;
        if (judged) add_square(&m, t->value[i], got[i]);
        const double ratio = ref_ratio(t, i, got[i]);
        add_ratio(&all, bound, ratio);
        if (i > 0 && ratio <= v.ratio) continue;
        v.ratio = ratio, v.worst = i, v.bound = bound;
        v.difference = fabs(got[i] - t->value[i]);
    }
    v.rms = relative(&m);
    v.spread = spread_of(all);
    if (v.ratio <= 1 && !(v.spread <= REF_MOST_SPREAD)) v.spread = spread_of(spread_of_different(t, got, all));
    if (v.ratio <= 1 && !(v.spread <= REF_MOST_SPREAD) && t->common) v.spread = fmin(v.spread, spread_of_independent(t, got));
    return v;
}
