/* Obstacles, costs and geometry that programs of attention share. Contract: gen/program/attention.h. */
#include "gen/program/attention.h"
#include <math.h>

const char *attention_whole_obstacle(const problem *p)
{
    return p->attention->kind == op_attention ? NULL : "it computes no attention over one split of the keys";
}

const char *decode_obstacle(const problem *p)
{
    return value_is_cache(p->attention->inputs[1]) ? NULL : "its keys are not in a cache";
}

/* On GPUs a wave keeps a row of a head in registers; more than 32 columns per lane spill on every target. */
const char *attention_in_registers_obstacle(const problem *p)
{
    enum { most_columns = 32 };
    const long long head = problem_longest_head(p), most = (long long)p->target->wave * most_columns;
    return p->target->serial || head <= most
               ? NULL
               : arena_printf(p->a, "heads have %lld columns; kernels for %s take at most %lld", head, p->target->name, most);
}

const char *attention_bias_obstacle(const problem *p) { return p->attention->attributes.bias ? "scores have a bias" : NULL; }

const char *attention_window_obstacle(const problem *p)
{
    const ir_op *op = p->attention;
    return op->attributes.window && !op->attributes.causal ? "the window has later keys" : NULL;
}

long long problem_team(const problem *p, long long most)
{
    const long long team = power_of_two_up(most);
    return team < p->target->wave ? team : p->target->wave;
}

static double sequences(const problem *p)
{
    return (double)extent_value(&p->attention->inputs[0]->shape[0], &p->ir->dims);
}

/* Columns of a head of keys plus those of a head of values. */
static double head_columns(const problem *p) { return (double)(problem_head(p) + problem_value_head(p)); }

/* Keys that are not masked for a query, on average. */
static double problem_keys(const problem *p)
{
    const double pairs = 2 * head_columns(p) * (double)p->attention->attributes.heads;
    return p->work->products / (pairs * sequences(p) * (double)problem_queries(p));
}

/* The most keys that are not masked for any query. */
static double problem_most_keys(const problem *p)
{
    const ir_op *op = p->attention;
    const double keys = (double)extent_value(value_tokens(op->inputs[1]), &p->ir->dims);
    const double window = (double)op->attributes.window;
    return window > 0 ? fmin(keys, op->attributes.causal ? window : 2 * window - 1) : keys;
}

void attention_cost(const problem *p, double rows, int pack, int block_k, cost_descriptor *d)
{
    const ir_op *op = p->attention;
    const work *w = p->work;
    const double queries = (double)problem_queries(p), columns = head_columns(p), heads = (double)op->attributes.heads;
    const double tiles = ceil(queries * pack / rows), tokens = fmin(queries, rows / pack);
    const double masked = op->attributes.causal ? (tokens - 1) / 2 + (block_k - 1) / 2.0 : 0, keys = problem_keys(p) + masked;
    /* work is balanced over the units, but a unit takes at least as long as the tile with the most keys */
    const double groups = tiles * sequences(p) * heads / pack, rounds = groups / p->device->units;
    const double each = fmax(rounds * keys, fmax(keys, problem_most_keys(p))) / ceil(rounds),
                 seen = op->attributes.causal ? fmax(each, block_k) : ceil(each / block_k) * block_k; /* at least one block */
    const double once = work_read(w, op->inputs[1]) + work_read(w, op->inputs[2]);
    d->groups = groups, d->type = op->inputs[0]->type;
    d->memory = (w->read + w->written) / d->groups;
    d->asked = (w->read + w->written - once) / d->groups + seen * columns * dtype_size(op->inputs[1]->type);
    d->products = 2 * rows * seen * columns, d->others = 8 * rows * seen;
}

void attention_geometry(const problem *p, int queries, tile_extents *to)
{
    const ir_op *op = p->attention;
    to->rows = op->outputs[0]->shape[1];
    to->multiple = extent_multiply(p->a, op->at, op->outputs[0]->shape[0], extent_number(op->attributes.heads));
    to->tile_rows = queries;
}
