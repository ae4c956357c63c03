/* In: a dimension expression, the dims known so far. Out: its extent; dims that it names are marked as used. Refuses:
 * syntax errors, unknown names (with the nearest), inexact division, overflow, nesting deeper than most_nested. */
#include "ir/base/extent.h"
#include "ir/base/extent_math.h"
#include "ir/base/names.h"
#include <string.h>

enum { most_nested = 16, most_shown = 40 };

typedef struct reader {
    arena *a;
    dim_table *dims;
    const char *start, *s;
    position at;
    int depth;
    bool failed; /* an error was reported: later ones would follow from it */
} reader;

static position here(const reader *r, const char *s)
{
    return (position){r->at.line, r->at.column + (int)(s - r->start)};
}

static void skip_spaces(reader *r)
{
    while (*r->s == ' ') r->s++;
}

static bool is_name_start(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_'; }

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static void unexpected(reader *r)
{
    if (r->failed) return;
    r->failed = true;
    if (!*r->s)
        complain(r->a, here(r, r->s), "\"%.40s\" ends where a number, a dim or \"(\" should follow", r->start);
    else if (is_name_start(*r->s) || is_digit(*r->s) || *r->s == '(')
        complain(r->a, here(r, r->s), "an operator + - * / is missing here");
    else
        complain(r->a, here(r, r->s), "\"%c\" is not allowed here; a size consists of integers, dims, + - * / and ( )",
                 *r->s);
}

static extent unknown_name(reader *r, const char *name, position at)
{
    const char *names[max_dims];
    for (int i = 0; i < r->dims->count; i++) names[i] = r->dims->dims[i].name;
    const char *near = nearest_name(name, names, (size_t)r->dims->count);
    r->failed = true;
    if (near)
        complain(r->a, at, "there is no dim %s; did you mean %s?", name, near);
    else
        complain(r->a, at, "there is no dim %s here; dims are declared under \"dims:\", before they are used", name);
    return extent_number(1);
}

static extent read_name(reader *r)
{
    const char *start = r->s;
    while (is_name_start(*r->s) || is_digit(*r->s)) r->s++;
    size_t n = (size_t)(r->s - start);
    char *name = arena_strndup(r->a, start, n > most_name ? most_name : n);
    dim *d = n > most_name ? NULL : dim_find(r->dims, name);
    if (!d) return unknown_name(r, name, here(r, start));
    d->used = true;
    if (!d->dynamic) return extent_number(d->value);
    extent e = extent_number(1);
    e.terms[0].power[d->slot] = 1;
    return e;
}

static extent read_number(reader *r)
{
    const char *start = r->s;
    long long value = 0;
    bool overflow = false;
    for (; is_digit(*r->s); r->s++)
        overflow |= __builtin_mul_overflow(value, 10LL, &value) ||
                    __builtin_add_overflow(value, (long long)(*r->s - '0'), &value);
    if (overflow) {
        r->failed = true;
        complain(r->a, here(r, start), "this number is too large");
    } else if (*r->s == '.') {
        r->failed = true;
        complain(r->a, here(r, start), "a size is an integer");
    }
    return extent_number(overflow ? 1 : value);
}

static extent read_sum(reader *r);

static extent read_factor(reader *r)
{
    skip_spaces(r);
    if (is_digit(*r->s)) return read_number(r);
    if (is_name_start(*r->s)) return read_name(r);
    if (*r->s != '(') {
        unexpected(r);
        return extent_number(1);
    }
    const char *open = r->s++;
    if (++r->depth > most_nested) {
        if (!r->failed) complain(r->a, here(r, open), "more than %d nested parentheses", most_nested);
        r->failed = true;
        return extent_number(1);
    }
    extent e = read_sum(r);
    r->depth--;
    if (*r->s == ')')
        r->s++;
    else if (!*r->s && !r->failed) {
        r->failed = true;
        complain(r->a, here(r, open), "this \"(\" has no \")\"");
    } else
        unexpected(r);
    return e;
}

static const char *printed(const reader *r, const extent *e)
{
    text t = {.a = r->a};
    extent_print(&t, e, r->dims);
    return t.data;
}

/* Applies one operator; `from`: start of the left operand, for errors. */
static extent combine(reader *r, char op, const extent *x, const extent *y, const char *from)
{
    extent result = extent_number(1);
    if (r->failed) return result;
    extent_problem problem = op == '*'   ? extent_try_multiply(&result, x, y)
                             : op == '/' ? extent_try_divide(&result, x, y)
                                         : extent_try_add(&result, x, y, op == '+' ? 1 : -1);
    if (!problem) return result;
    r->failed = true;
    int n = (int)(r->s - from) < most_shown ? (int)(r->s - from) : most_shown;
    if (problem == extent_inexact)
        complain(r->a, here(r, from), "%.*s does not divide exactly: %s by %s", n, from, printed(r, x), printed(r, y));
    else
        complain(r->a, here(r, from), "%.*s %s", n, from, extent_problem_text(problem));
    return extent_number(1);
}

static extent read_product(reader *r)
{
    skip_spaces(r);
    const char *from = r->s;
    extent e = read_factor(r);
    for (skip_spaces(r); !r->failed && (*r->s == '*' || *r->s == '/'); skip_spaces(r)) {
        char op = *r->s++;
        extent y = read_factor(r);
        e = combine(r, op, &e, &y, from);
    }
    return e;
}

static extent read_sum(reader *r)
{
    skip_spaces(r);
    const char *from = r->s;
    extent e = read_product(r);
    for (skip_spaces(r); !r->failed && (*r->s == '+' || *r->s == '-'); skip_spaces(r)) {
        char op = *r->s++;
        extent y = read_product(r);
        e = combine(r, op, &e, &y, from);
    }
    return e;
}

extent extent_parse(arena *a, dim_table *dims, const char *expression, position at)
{
    reader r = {.a = a, .dims = dims, .start = expression, .s = expression, .at = at};
    extent e = read_sum(&r);
    if (!r.failed && *r.s == ')') {
        r.failed = true;
        complain(a, here(&r, r.s), "this \")\" has no \"(\"");
    }
    if (!r.failed && *r.s) unexpected(&r);
    return r.failed ? extent_number(1) : e;
}
