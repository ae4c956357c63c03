/* In: a request of an attention, or a part of one. Out: what its programs share. Refuses nothing itself. */
#include "gen/program/attention.h"

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

void attention_geometry(const tile_request *r, int queries, launch *l)
{
    const ir_op *op = request_attention(r);
    l->rows = op->outputs[0]->shape[1];
    l->multiple = extent_multiply(r->a, op->at, op->outputs[0]->shape[0], extent_number(op->attributes.heads));
    l->tile_rows = queries;
}
