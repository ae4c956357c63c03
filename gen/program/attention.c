/* In: a request of an attention, or a part of one. Out: what its programs share. Refuses nothing itself. */
#include "gen/program/attention.h"
#include <math.h>

/* On GPUs a wave has a row in registers, some of each lane's; more columns than that spill on every target. */
const char *attention_in_registers_obstacle(const tile_request *r)
{
    enum { most_columns = 32 };
    const long long head = request_head(r), most = (long long)r->target->wave * most_columns;
    return r->target->vendor == vendor_host || head <= most
               ? NULL
               : arena_printf(r->a, "heads have %lld columns; kernels for %s take at most %lld", head, r->target->name, most);
}

long long request_team(const tile_request *r, long long most)
{
    const long long team = power_of_two_up(most);
    return team < r->target->wave ? team : r->target->wave;
}

static double sequences(const tile_request *r)
{
    return (double)extent_value(&request_attention(r)->inputs[0]->shape[0], &r->program->dims);
}

double request_keys(const tile_request *r)
{
    const double pairs = 4 * (double)request_head(r) * (double)request_attention(r)->attributes.heads;
    return request_work(r)->products / (pairs * sequences(r) * (double)request_queries(r));
}

/* Of the query that sees most. */
static double request_most_keys(const tile_request *r)
{
    const ir_op *op = request_attention(r);
    const double keys = (double)extent_value(value_tokens(op->inputs[1]), &r->program->dims);
    return op->attributes.window ? fmin(keys, (double)op->attributes.window) : keys;
}

void attention_demand(const tile_request *r, double rows, int pack, int block_k, demand *d)
{
    const ir_op *op = request_attention(r);
    const work *w = request_work(r);
    const double queries = (double)request_queries(r), head = (double)request_head(r), heads = (double)op->attributes.heads;
    const double tiles = ceil(queries * pack / rows), tokens = fmin(queries, rows / pack);
    const double masked = op->attributes.causal ? (tokens - 1) / 2 + (block_k - 1) / 2.0 : 0, keys = request_keys(r) + masked;
    /* Units share out the keys evenly, but for the tile that sees most. */
    const double groups = tiles * sequences(r) * heads / pack, rounds = groups / r->device->units;
    const double each = fmax(rounds * keys, fmax(keys, request_most_keys(r))) / ceil(rounds),
                 seen = op->attributes.causal ? each : ceil(each / block_k) * block_k;
    double once = 0;
    for (int i = 0; i < w->tensor_count; i++)
        if (w->tensors[i].value == op->inputs[1] || w->tensors[i].value == op->inputs[2]) once += w->tensors[i].read;
    d->groups = groups, d->type = op->inputs[0]->type;
    d->memory = (w->read + w->written) / d->groups;
    d->asked = (w->read + w->written - once) / d->groups + 2 * seen * head * dtype_size(op->inputs[1]->type);
    d->products = 4 * rows * seen * head, d->others = 8 * rows * seen;
}

void attention_geometry(const tile_request *r, int queries, launch *l)
{
    const ir_op *op = request_attention(r);
    l->rows = op->outputs[0]->shape[1];
    l->multiple = extent_multiply(r->a, op->at, op->outputs[0]->shape[0], extent_number(op->attributes.heads));
    l->tile_rows = queries;
}
