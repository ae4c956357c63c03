/* In: a drawing. Out: its next random number; a size, a value or an op added to its spec: primitives of the other random_draw files. */
#include "runtime/cli/random/random_draw.h"
#include "runtime/data/random.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- numbers */
uint64_t draw_bits(drawing *d) { return random_bits(d->seed, d->index, d->drawn++); }
int draw_below(drawing *d, int n) { return n > 1 ? (int)(draw_bits(d) % (uint64_t)n) : 0; }
bool draw_chance(drawing *d, int percent) { return draw_below(d, 100) < percent; }

bool draw_apart(const drawing *d, int percent)
{
    const uint64_t apart = (uint64_t)1 << 40; /* more than a spec ever draws */
    return random_bits(d->seed, d->index, d->drawn + apart) % 100 < (uint64_t)percent;
}

int draw_weighted(drawing *d, const int *weights, int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++) sum += weights[i];
    int at = draw_below(d, sum);
    for (int i = 0; i < n; i++)
        if ((at -= weights[i]) < 0) return i;
    return n - 1;
}

/* ---- sizes */
random_axis axis_number(long long value) { return axis_write(value, false, "%lld", value); }

random_axis axis_write(long long value, bool dynamic, const char *format, ...)
{
    random_axis x = {.value = value, .dynamic = dynamic};
    va_list list;
    va_start(list, format);
    const int n = vsnprintf(x.text, sizeof x.text, format, list);
    va_end(list);
    if (n >= (int)sizeof x.text) snprintf(x.text, sizeof x.text, "%lld", value); /* too long for text: static sizes only */
    return x;
}

static bool taken(const random_spec *s, const char *name)
{
    for (int i = 0; i < s->dim_count; i++)
        if (strcmp(s->dims[i].name, name) == 0) return true;
    return false;
}

random_axis axis_dim(drawing *d, const char *name, long long value)
{
    random_spec *s = d->s;
    if (s->dim_count == random_most_dims) return axis_number(value);
    random_dim *m = &s->dims[s->dim_count];
    *m = (random_dim){.value = value, .low = 1, .high = value};
    snprintf(m->name, sizeof m->name, "%s", name);
    for (int i = 1; taken(s, m->name); i++) snprintf(m->name, sizeof m->name, "%.2s%d", name, i % 100);
    s->dim_count++;
    return axis_write(value, false, "%s", m->name);
}

bool axis_same(const random_axis *x, const random_axis *y)
{
    return x->dynamic || y->dynamic ? strcmp(x->text, y->text) == 0 : x->value == y->value;
}

random_axis axis_columns(drawing *d)
{
    static const int tiny[] = {1, 2, 3, 4, 5, 7, 8}, odd[] = {11, 13, 17, 19, 23, 31, 37, 53, 61, 67, 73, 97, 127, 131},
                     wave[] = {16, 32, 64, 128, 48, 96, 24, 40}, beside[] = {15, 33, 63, 65, 66, 129, 130, 257},
                     large[] = {160, 192, 256, 320, 512};
    static const int weights[] = {15, 20, 40, 15, 10};
    switch (draw_weighted(d, weights, 5)) {
    case 0: return axis_dim(d, "N", DRAW_OF(d, tiny));
    case 1: return axis_dim(d, "N", DRAW_OF(d, odd));
    case 2: return axis_dim(d, "N", DRAW_OF(d, wave));
    case 3: return axis_dim(d, "N", DRAW_OF(d, beside));
    default: return axis_dim(d, "N", DRAW_OF(d, large));
    }
}

/* ---- values */
random_value *value_at(drawing *d, int v) { return &d->s->values[v]; }
const random_axis *last_axis(drawing *d, int v) { return &value_at(d, v)->shape[value_at(d, v)->rank - 1]; }

long long value_elements(drawing *d, int v)
{
    long long count = 1;
    for (int i = 0; i < value_at(d, v)->rank; i++) count *= value_at(d, v)->shape[i].value;
    return count;
}

bool same_shape(drawing *d, int x, int y)
{
    const random_value *a = value_at(d, x), *b = value_at(d, y);
    bool same = a->rank == b->rank;
    for (int i = 0; same && i < a->rank; i++) same = axis_same(&a->shape[i], &b->shape[i]);
    return same;
}

bool has_room(const drawing *d) { return d->s->value_count + 40 < random_most_values && d->s->op_count + 24 < random_most_ops; }

int make_value(drawing *d, value_kind kind, const random_axis *shape, int rank, int type)
{
    const int at = d->s->value_count++;
    random_value *v = value_at(d, at);
    *v = (random_value){.kind = kind, .rank = rank, .type = type, .size = 4, .least = -4};
    memcpy(v->shape, shape, (size_t)rank * sizeof *shape);
    snprintf(v->name, sizeof v->name, "%c%03d",
             kind == value_input   ? 'x'
             : kind == value_param ? 'w'
             : kind == value_state ? 's'
                                   : 't',
             at % 1000);
    return at;
}

/* Sometimes draws another dtype than the spec's. */
static int own_type(drawing *d, int percent) { return draw_chance(d, percent) ? draw_below(d, 3) : random_spec_type; }

int make_input(drawing *d, const random_axis *shape, int rank) { return make_value(d, value_input, shape, rank, own_type(d, 6)); }
int make_param(drawing *d, const random_axis *shape, int rank) { return make_value(d, value_param, shape, rank, own_type(d, 5)); }

int make_integers(drawing *d, const random_axis *length, const char *range)
{
    const int v = make_value(d, value_input, length, 1, dtype_i32);
    value_at(d, v)->name[0] = 'n';
    snprintf(value_at(d, v)->range, sizeof value_at(d, v)->range, "%s", range);
    return v;
}

int use_count(drawing *d, int v)
{
    int count = 0;
    for (int i = 0; i < d->s->op_count; i++) {
        for (int k = 0; k < d->s->ops[i].in_count; k++) count += d->s->ops[i].in[k].value == v;
        for (int k = 0; k < d->s->ops[i].attribute_count; k++) count += d->s->ops[i].attributes[k].value == v;
    }
    return count;
}

/* ---- ops */
random_op *op_begin(drawing *d, op_kind kind)
{
    random_op *op = &d->s->ops[d->s->op_count++];
    *op = (random_op){.kind = kind};
    return op;
}

void op_in(random_op *op, int value) { op->in[op->in_count++] = (random_operand){.value = value}; }

void op_number(random_op *op, const char *number)
{
    random_operand *o = &op->in[op->in_count++];
    *o = (random_operand){.value = -1};
    snprintf(o->number, sizeof o->number, "%s", number);
}

void op_say(random_op *op, const char *key, const char *format, ...)
{
    random_attribute *b = &op->attributes[op->attribute_count++];
    *b = (random_attribute){.key = key, .value = -1};
    va_list list;
    va_start(list, format);
    vsnprintf(b->text, sizeof b->text, format, list);
    va_end(list);
}

void op_name(random_op *op, const char *key, int value)
{
    op->attributes[op->attribute_count++] = (random_attribute){.key = key, .value = value};
}

int op_out(drawing *d, random_op *op, const random_axis *shape, int rank, int type, double size, double least)
{
    const int v = make_value(d, value_result, shape, rank, type);
    value_at(d, v)->size = size, value_at(d, v)->least = least;
    op->out[op->out_count++] = v;
    return v;
}
