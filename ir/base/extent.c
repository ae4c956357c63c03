/* In: extents and numbers. Out: their sums, differences, products, values and text, in canonical form (see extent.h).
 * Refuses: overflow of 64 bits, more than max_terms terms, powers above 255. Expressions are read by ir/base/extent_parse.c.
 */
#include "ir/base/extent.h"
#include "ir/base/extent_math.h"
#include <limits.h>
#include <string.h>

extent extent_number(long long value)
{
    extent e;
    memset(&e, 0, sizeof e);
    if (value) {
        e.count = 1;
        e.terms[0].factor = value;
    }
    return e;
}

extent extent_dim(const dim *d)
{
    extent e = extent_number(1);
    e.terms[0].power[d->slot] = 1;
    return e;
}

static int degree(const term *t)
{
    int sum = 0;
    for (int i = 0; i < max_dynamic; i++) sum += t->power[i];
    return sum;
}

/* Canonical order: higher degree first, then higher powers of earlier dims. */
static int compare_powers(const term *x, const term *y)
{
    int dx = degree(x), dy = degree(y);
    return dx != dy ? dy - dx : memcmp(y->power, x->power, sizeof x->power);
}

bool extent_is_number(const extent *e, long long *value)
{
    if (e->count > 1 || (e->count == 1 && degree(&e->terms[0]) > 0)) return false;
    *value = e->count ? e->terms[0].factor : 0;
    return true;
}

bool extent_equal(const extent *x, const extent *y)
{
    if (x->count != y->count) return false;
    for (int i = 0; i < x->count; i++)
        if (x->terms[i].factor != y->terms[i].factor || compare_powers(&x->terms[i], &y->terms[i]) != 0) return false;
    return true;
}

static void remove_term(extent *e, int i)
{
    memmove(&e->terms[i], &e->terms[i + 1], (size_t)(e->count - i - 1) * sizeof *e->terms);
    memset(&e->terms[--e->count], 0, sizeof *e->terms);
}

/* Adds one term in canonical order; removes it if the sum is 0. */
static extent_problem add_term(extent *e, const term *t)
{
    int i = 0;
    while (i < e->count && compare_powers(&e->terms[i], t) < 0) i++;
    if (i < e->count && compare_powers(&e->terms[i], t) == 0) {
        if (__builtin_add_overflow(e->terms[i].factor, t->factor, &e->terms[i].factor)) return extent_overflows;
        if (e->terms[i].factor == 0) remove_term(e, i);
        return extent_fine;
    }
    if (e->count == max_terms) return extent_too_many_terms;
    memmove(&e->terms[i + 1], &e->terms[i], (size_t)(e->count - i) * sizeof *e->terms);
    memcpy(&e->terms[i], t, sizeof *t);
    e->count++;
    return extent_fine;
}

/* out = x + sign * y */
extent_problem extent_try_add(extent *out, const extent *x, const extent *y, int sign)
{
    extent sum = *x;
    for (int i = 0; i < y->count; i++) {
        term t;
        memcpy(&t, &y->terms[i], sizeof t);
        if (__builtin_mul_overflow(t.factor, (long long)sign, &t.factor)) return extent_overflows;
        extent_problem problem = add_term(&sum, &t);
        if (problem) return problem;
    }
    *out = sum;
    return extent_fine;
}

static extent_problem multiply_term(term *out, const term *x, const term *y)
{
    memset(out, 0, sizeof *out);
    if (__builtin_mul_overflow(x->factor, y->factor, &out->factor)) return extent_overflows;
    for (int i = 0; i < max_dynamic; i++) {
        int power = x->power[i] + y->power[i];
        if (power > UCHAR_MAX) return extent_overflows;
        out->power[i] = (unsigned char)power;
    }
    return extent_fine;
}

/* Fast path: most extents are plain numbers. False: one of them is not, or the product overflows. */
static bool multiply_numbers(extent *out, const extent *x, const extent *y)
{
    long long n, m, product;
    if (!extent_is_number(x, &n) || !extent_is_number(y, &m) || __builtin_mul_overflow(n, m, &product)) return false;
    *out = extent_number(product);
    return true;
}

extent_problem extent_try_multiply(extent *out, const extent *x, const extent *y)
{
    if (multiply_numbers(out, x, y)) return extent_fine;
    extent product = extent_number(0);
    for (int i = 0; i < x->count; i++)
        for (int j = 0; j < y->count; j++) {
            term t;
            extent_problem problem = multiply_term(&t, &x->terms[i], &y->terms[j]);
            if (!problem) problem = add_term(&product, &t);
            if (problem) return problem;
        }
    *out = product;
    return extent_fine;
}

/* Exact division only: of equal extents, or by a single term that divides every term. */
extent_problem extent_try_divide(extent *out, const extent *x, const extent *y)
{
    if (y->count == 0) return extent_divides_by_zero;
    if (extent_equal(x, y)) {
        *out = extent_number(1);
        return extent_fine;
    }
    if (y->count > 1) return extent_inexact;
    extent quotient = extent_number(0);
    const term *d = &y->terms[0];
    for (int i = 0; i < x->count; i++) {
        term t;
        memcpy(&t, &x->terms[i], sizeof t);
        if (t.factor == LLONG_MIN || t.factor % d->factor) return extent_inexact;
        t.factor /= d->factor;
        for (int k = 0; k < max_dynamic; k++) {
            if (t.power[k] < d->power[k]) return extent_inexact;
            t.power[k] = (unsigned char)(t.power[k] - d->power[k]);
        }
        extent_problem problem = add_term(&quotient, &t);
        if (problem) return problem;
    }
    *out = quotient;
    return extent_fine;
}

const char *extent_problem_text(extent_problem problem)
{
    switch (problem) {
    case extent_fine: break;
    case extent_overflows: return "is too large";
    case extent_too_many_terms: return "has more than 8 terms of dynamic dims";
    case extent_divides_by_zero: return "divides by 0";
    case extent_inexact: return "does not divide exactly";
    }
    return "is right";
}

static extent or_bail(arena *a, position at, extent_problem problem, const extent *result)
{
    if (problem) bail(a, code_bad_input, at, "a size of this op %s", extent_problem_text(problem));
    return *result;
}

extent extent_add(arena *a, position at, extent x, extent y)
{
    extent sum;
    return or_bail(a, at, extent_try_add(&sum, &x, &y, 1), &sum);
}

extent extent_subtract(arena *a, position at, extent x, extent y)
{
    extent difference;
    return or_bail(a, at, extent_try_add(&difference, &x, &y, -1), &difference);
}

extent extent_multiply(arena *a, position at, extent x, extent y)
{
    extent product;
    return or_bail(a, at, extent_try_multiply(&product, &x, &y), &product);
}

static const dim *dim_of_slot(const dim_table *dims, int slot)
{
    for (int i = 0; i < dims->count; i++)
        if (dims->dims[i].dynamic && dims->dims[i].slot == slot) return &dims->dims[i];
    return NULL;
}

static long long evaluate(const extent *e, const dim_table *dims, bool high)
{
    long long sum = 0;
    for (int i = 0; i < e->count; i++) {
        long long product = e->terms[i].factor;
        for (int k = 0; k < max_dynamic; k++) {
            const dim *d = e->terms[i].power[k] ? dim_of_slot(dims, k) : NULL;
            for (int n = 0; d && n < e->terms[i].power[k]; n++)
                if (__builtin_mul_overflow(product, high ? d->high : d->value, &product)) return LLONG_MAX;
        }
        if (__builtin_add_overflow(sum, product, &sum)) return LLONG_MAX;
    }
    return sum;
}

dim *extent_lone_dim(const extent *e, dim_table *dims)
{
    dim *found = NULL;
    for (int i = 0; i < dims->count; i++) {
        dim *d = &dims->dims[i];
        const extent alone = d->dynamic ? extent_dim(d) : extent_number(0);
        if (d->dynamic && extent_equal(e, &alone)) found = d;
    }
    return found;
}

long long extent_value(const extent *e, const dim_table *dims) { return evaluate(e, dims, false); }

long long extent_high(const extent *e, const dim_table *dims) { return evaluate(e, dims, true); }

dim *dim_find(dim_table *dims, const char *name)
{
    for (int i = 0; i < dims->count; i++)
        if (strcmp(dims->dims[i].name, name) == 0) return &dims->dims[i];
    return NULL;
}

void extent_print(text *t, const extent *e, const dim_table *dims)
{
    if (e->count == 0) text_append(t, "0", 1);
    for (int i = 0; i < e->count; i++) {
        const term *m = &e->terms[i];
        bool negative = m->factor < 0;
        if (i > 0 || negative) text_printf(t, negative ? "-" : "+");
        unsigned long long size = negative ? 0ULL - (unsigned long long)m->factor : (unsigned long long)m->factor;
        bool printed = size != 1 || degree(m) == 0;
        if (printed) text_printf(t, "%llu", size);
        for (int k = 0; k < max_dynamic; k++) {
            const dim *d = m->power[k] ? dim_of_slot(dims, k) : NULL;
            for (int n = 0; d && n < m->power[k]; n++, printed = true) text_printf(t, "%s%s", printed ? "*" : "", d->name);
        }
    }
}
