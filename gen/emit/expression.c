/* In: kinds and operands. Out: nodes, one for equal expressions. Refuses nothing. */
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

/* The node that is equal to x, whose name and operands are copied where it is new. */
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
/* What no int holds is a long long, whoever asks. */
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

bool c_is_zero(const expression *x) { return x->kind == expression_number && x->number == 0; }

/* ---- operators */
static expression_type wider(const expression *x, const expression *y) { return x->type > y->type ? x->type : y->type; }

static const expression *operator(expression_pool *p, expression_kind kind, expression_type type, const expression *x, const expression *y)
{
    return intern(p, (expression){.kind = kind, .type = type, .count = 2, .operands = (const expression *[]){x, y}});
}

static const expression *arithmetic(expression_pool *p, expression_kind kind, const expression *x, const expression *y)
{
    return operator(p, kind, wider(x, y), x, y);
}

const expression *c_sum(expression_pool *p, const expression *x, const expression *y)
{
    if (y->kind == expression_sum) return c_sum(p, c_sum(p, x, y->operands[0]), y->operands[1]);
    if (y->kind == expression_difference) return c_difference(p, c_sum(p, x, y->operands[0]), y->operands[1]);
    return arithmetic(p, expression_sum, x, y);
}

const expression *c_difference(expression_pool *p, const expression *x, const expression *y)
{
    return arithmetic(p, expression_difference, x, y);
}

const expression *c_product(expression_pool *p, const expression *x, const expression *y)
{
    return arithmetic(p, expression_product, x, y);
}

const expression *c_quotient(expression_pool *p, const expression *x, const expression *y)
{
    return arithmetic(p, expression_quotient, x, y);
}

const expression *c_remainder(expression_pool *p, const expression *x, const expression *y)
{
    return arithmetic(p, expression_remainder, x, y);
}

const expression *c_less(expression_pool *p, const expression *x, const expression *y)
{
    return operator(p, expression_less, type_int, x, y);
}

const expression *c_at_least(expression_pool *p, const expression *x, const expression *y)
{
    return operator(p, expression_at_least, type_int, x, y);
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

const expression *c_shifted(expression_pool *p, const expression *column, long long shift)
{
    if (shift == 0) return column;
    return shift > 0 ? c_sum(p, column, c_number(p, shift)) : c_difference(p, column, c_number(p, -shift));
}

const expression *c_group(expression_pool *p, const expression *x)
{
    if (x->kind == expression_group) return x;
    return intern(p, (expression){.kind = expression_group, .type = x->type, .count = 1, .operands = &x});
}
