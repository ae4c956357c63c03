/* Builds and interns the nodes of C++ expressions (gen/emit/expression.h). */
#include "gen/emit/expression.h"
#include <stdint.h>
#include <string.h>

struct expression_pool {
    arena *a;
    const expression **slots; /* by hash, open addressing; NULL: free */
    size_t capacity, count;
};

expression_pool *expression_pool_new(arena *a)
{
    expression_pool *p = arena_alloc(a, sizeof *p);
    p->a = a;
    return p;
}

/* ---- interning */
static uint64_t mixed(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

static uint64_t hash_of(const expression *x)
{
    uint64_t hash = mixed((uint64_t)x->kind << 8 | (uint64_t)x->type, (uint64_t)x->number);
    for (const char *s = x->name; s && *s; s++) hash = mixed(hash, (unsigned char)*s);
    for (int i = 0; i < x->count; i++) hash = mixed(hash, (uintptr_t)x->operands[i]);
    return hash;
}

static bool same(const expression *x, const expression *y)
{
    if (x->kind != y->kind || x->type != y->type || x->number != y->number || x->count != y->count || !x->name != !y->name) return false;
    for (int i = 0; i < x->count; i++)
        if (x->operands[i] != y->operands[i]) return false;
    return !x->name || strcmp(x->name, y->name) == 0;
}

static const expression **slot_of(const expression_pool *p, const expression *x)
{
    size_t at = hash_of(x) & (p->capacity - 1);
    while (p->slots[at] && !same(p->slots[at], x)) at = (at + 1) & (p->capacity - 1);
    return &p->slots[at];
}

static void make_room(expression_pool *p)
{
    if (2 * (p->count + 1) <= p->capacity) return;
    const expression_pool old = *p;
    p->capacity = old.capacity ? 2 * old.capacity : 256;
    p->slots = arena_alloc(p->a, p->capacity * sizeof *p->slots);
    for (size_t i = 0; i < old.capacity; i++)
        if (old.slots[i]) *slot_of(p, old.slots[i]) = old.slots[i];
}

/* The pool's node equal to x; a new one gets copies of x's name and operands. */
static const expression *intern(expression_pool *p, expression x)
{
    make_room(p);
    const expression **slot = slot_of(p, &x);
    if (*slot) return *slot;
    expression *own = arena_alloc(p->a, sizeof *own);
    const expression **operands = x.count ? arena_alloc(p->a, (size_t)x.count * sizeof *operands) : NULL;
    if (x.count) memcpy(operands, x.operands, (size_t)x.count * sizeof *operands);
    if (x.name) x.name = arena_strdup(p->a, x.name);
    x.operands = operands;
    *own = x;
    p->count++;
    return *slot = own;
}

/* ---- leaves */
/* Numbers that do not fit an int become long long, whatever type was requested. */
static const expression *number(expression_pool *p, long long number, expression_type type)
{
    if (number != (int)number) type = type_long;
    return intern(p, (expression){.kind = expression_number, .type = type, .number = number});
}

static const expression *name(expression_pool *p, const char *name, expression_type type)
{
    return intern(p, (expression){.kind = expression_name, .type = type, .name = name});
}

const expression *c_number(expression_pool *p, long long n) { return number(p, n, type_int); }
const expression *c_long(expression_pool *p, long long n) { return number(p, n, type_long); }
const expression *c_int(expression_pool *p, const char *text) { return name(p, text, type_int); }
const expression *c_name(expression_pool *p, const char *text) { return name(p, text, type_other); }

/* ---- operators */
static expression_type wider(const expression *x, const expression *y) { return x->type > y->type ? x->type : y->type; }

static const expression *operator(expression_pool *p, expression_kind kind, expression_type type, const expression *x, const expression *y)
{
    return intern(p, (expression){.kind = kind, .type = type, .count = 2, .operands = (const expression *[]){x, y}});
}

static bool is_number(const expression *x, long long number) { return x->kind == expression_number && x->number == number; }

/* For x + 0 and x * 1: x, if the number `other` can be left out; NULL: `other` has the wider type, which the expression must keep. */
static const expression *alone(const expression *x, const expression *other) { return x->type >= other->type ? x : NULL; }

/* The number x + y, if x is a number of this type and the sum fits the type; else NULL. */
static const expression *added(expression_pool *p, const expression *x, long long y, expression_type type)
{
    long long sum;
    if (x->kind != expression_number || x->type != type || __builtin_add_overflow(x->number, y, &sum)) return NULL;
    return type == type_int && sum != (int)sum ? NULL : number(p, sum, type);
}

/* x + n. If x ends in a number, n is added to that: col - 256 + 16 becomes col - 240. */
static const expression *sum_with_number(expression_pool *p, const expression *x, long long n, expression_type type)
{
    const expression *both = added(p, x, n, type);
    if (both || n == 0) return both ? both : x;
    if (x->kind == expression_sum || x->kind == expression_difference) {
        const expression *last = x->operands[1];
        both = added(p, last, x->kind == expression_sum ? n : -n, type);
        if (both) return sum_with_number(p, x->operands[0], x->kind == expression_sum ? both->number : -both->number, type);
    }
    const expression_kind kind = n < 0 ? expression_difference : expression_sum;
    const expression *size = number(p, n < 0 ? -n : n, type);
    return operator(p, kind, wider(x, size), x, size);
}

const expression *c_sum(expression_pool *p, const expression *x, const expression *y)
{
    if (y->kind == expression_sum) return c_sum(p, c_sum(p, x, y->operands[0]), y->operands[1]);
    if (y->kind == expression_difference) return c_difference(p, c_sum(p, x, y->operands[0]), y->operands[1]);
    if (is_number(x, 0) && alone(y, x)) return y;
    if (y->kind == expression_number && alone(x, y)) return sum_with_number(p, x, y->number, y->type);
    return operator(p, expression_sum, wider(x, y), x, y);
}

const expression *c_difference(expression_pool *p, const expression *x, const expression *y)
{
    if (y->kind == expression_number && alone(x, y)) return sum_with_number(p, x, -y->number, y->type);
    return operator(p, expression_difference, wider(x, y), x, y);
}

const expression *c_product(expression_pool *p, const expression *x, const expression *y)
{
    const expression_type type = wider(x, y);
    long long product;
    if (is_number(y, 1) && alone(x, y)) return x;
    if (is_number(x, 1) && alone(y, x)) return y;
    if (is_number(x, 0) || is_number(y, 0)) return number(p, 0, type);
    if (x->kind == expression_number && y->kind == expression_number && !__builtin_mul_overflow(x->number, y->number, &product) &&
        (type == type_long || product == (int)product))
        return number(p, product, type);
    return operator(p, expression_product, type, x, y);
}

/* y is never 0. */
const expression *c_quotient(expression_pool *p, const expression *x, const expression *y)
{
    if (is_number(y, 1) && alone(x, y)) return x;
    if (x->kind == expression_number && y->kind == expression_number) return number(p, x->number / y->number, wider(x, y));
    return is_number(x, 0) ? number(p, 0, wider(x, y)) : operator(p, expression_quotient, wider(x, y), x, y);
}

const expression *c_remainder(expression_pool *p, const expression *x, const expression *y)
{
    if (x->kind == expression_number && y->kind == expression_number) return number(p, x->number % y->number, wider(x, y));
    return is_number(x, 0) || is_number(y, 1) ? number(p, 0, wider(x, y)) : operator(p, expression_remainder, wider(x, y), x, y);
}

/* Moves numbers to the right side, col - 4 < 13 to col < 17, so that equal conditions on a column become equal nodes. */
static const expression *compared(expression_pool *p, expression_kind kind, const expression *x, const expression *y)
{
    const bool is_sum = x->kind == expression_sum;
    const expression *last = is_sum || x->kind == expression_difference ? x->operands[1] : NULL;
    const bool is_shifted = x->type == type_int && y->kind == expression_number && last && last->kind == expression_number;
    const expression *beside = is_shifted ? added(p, y, is_sum ? -last->number : last->number, type_int) : NULL;
    return beside ? compared(p, kind, x->operands[0], beside) : operator(p, kind, type_int, x, y);
}

const expression *c_less(expression_pool *p, const expression *x, const expression *y) { return compared(p, expression_less, x, y); }

const expression *c_at_least(expression_pool *p, const expression *x, const expression *y)
{
    return compared(p, expression_at_least, x, y);
}

const expression *c_equal(expression_pool *p, const expression *x, const expression *y)
{
    return operator(p, expression_equal, type_int, x, y);
}

const expression *c_both(expression_pool *p, const expression *x, const expression *y)
{
    if (!x || !y) return x ? x : y;
    if (y->kind == expression_both) return c_both(p, c_both(p, x, y->operands[0]), y->operands[1]);
    return operator(p, expression_both, type_int, x, y);
}

const expression *c_choice(expression_pool *p, const expression *test, const expression *x, const expression *otherwise)
{
    return intern(p, (expression){.kind = expression_choice,
                                  .type = wider(x, otherwise),
                                  .count = 3,
                                  .operands = (const expression *[]){test, x, otherwise}});
}

const expression *c_element(expression_pool *p, const expression *list, const expression *index)
{
    return operator(p, expression_element, type_int, list, index);
}

const expression *c_call_of(expression_pool *p, const char *function, expression_type type, int count, const expression *const *operands)
{
    return intern(p, (expression){.kind = expression_call, .type = type, .name = function, .count = count, .operands = operands});
}

const expression *c_shifted(expression_pool *p, const expression *column, long long shift) { return c_sum(p, column, c_number(p, shift)); }
