/* In: a value's numbers and the expected ones. Out: which elements are wrong, where they are, and what they have in common. Elements that
 * depend on a choice of rounding are not judged (ir/reference/ref.h). */
#include "runtime/cli/bisect/bisect.h"
#include <math.h>

static mismatch_kind kind_of(const ref_tensor *t, size_t i, double got, bisect_what what)
{
    const bool judged = !t->error || isfinite(t->error[i]);
    if (ref_is_unwritten(got)) return mismatch_unwritten;
    if (!isfinite(got) && judged && isfinite(t->value[i])) return mismatch_infinite;
    return what == bisect_diff && !(ref_ratio(t, i, got) <= 1) ? mismatch_beyond : mismatch_none;
}

static void widen(mismatch *p, const dim_table *dims, long long index, bool first)
{
    for (int axis = p->value->rank - 1; axis >= 0; axis--) {
        const long long size = extent_value(&p->value->shape[axis], dims), at = size > 0 ? index % size : 0;
        if (first || at < p->low[axis]) p->low[axis] = at;
        if (first || at > p->high[axis]) p->high[axis] = at;
        index = size > 0 ? index / size : 0;
    }
}

static void note_element(mismatch *p, const dim_table *dims, const ref_tensor *t, size_t i, double got, mismatch_kind kind)
{
    widen(p, dims, (long long)i, p->bad == 0);
    p->unwritten += kind == mismatch_unwritten, p->infinite += kind == mismatch_infinite;
    if (p->bad++) return;
    p->kind = kind, p->first = (long long)i, p->got = got, p->expected = t->value[i];
    p->bound = t->error ? ref_sigmas * t->error[i] : 0;
    p->ratio = ref_ratio(t, i, got);
}

/* Finds whether all wrong numbers are the right ones times one factor: a least squares fit whose residuals lie within bounds scaled by the
 * factor. */
static void find_factor(mismatch *p, const ref_tensor *t, const double *got, bisect_what what)
{
    double both = 0, squares = 0;
    bool zeros = true;
    enum { least_elements = 8 };
    if (p->bad < least_elements || p->unwritten || p->infinite) return;
    for (size_t i = 0; i < t->count; i++) {
        if (kind_of(t, i, got[i], what) == mismatch_none) continue;
        both += got[i] * t->value[i], squares += t->value[i] * t->value[i];
        zeros &= got[i] == 0;
    }
    const double factor = squares > 0 ? both / squares : 0, wide = fabs(factor) > 1 ? fabs(factor) : 1;
    p->zeros = zeros;
    if (zeros || factor == 0 || !isfinite(factor)) return;
    for (size_t i = 0; i < t->count; i++) {
        const double bound = t->error ? ref_sigmas * t->error[i] : 0;
        if (isfinite(bound) && kind_of(t, i, got[i], what) != mismatch_none && !(fabs(got[i] - factor * t->value[i]) <= wide * bound))
            return;
    }
    p->factor = factor;
}

mismatch mismatch_of(const ir_value *v, const dim_table *dims, const ref_tensor *t, const double *got, bisect_what what)
{
    const ref_verdict verdict = ref_compare(t, got);
    mismatch p = {.value = v,
                 .elements = (long long)t->count,
                 .worst_ratio = verdict.ratio,
                 .spread = verdict.spread};
    for (size_t i = 0; i < t->count; i++) {
        const mismatch_kind kind = kind_of(t, i, got[i], what);
        if (kind != mismatch_none) note_element(&p, dims, t, i, got[i], kind);
        p.overflows |= (!t->error || isfinite(t->error[i])) && !isfinite(t->value[i]);
    }
    find_factor(&p, t, got, what);
    if (what != bisect_diff || p.bad || verdict.spread <= REF_MOST_SPREAD) return p;
    note_element(&p, dims, t, verdict.worst, got[verdict.worst], mismatch_together);
    p.bad = 0;
    return p;
}
