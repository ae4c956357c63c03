/* In: a report. Out: its JSON (docs/insight.md). */
#include "runtime/cli/access/report.h"

static json_t *text_or_null(const char *s) { return s ? json_string(s) : json_null(); }

static json_t *row_json(const access_report *r, const access_launch *l, const access_row *x)
{
    json_t *row =
        json_pack("{s:o, s:s, s:i, s:o, s:o, s:o, s:f, s:f, s:f, s:o}", "memory", text_or_null(x->memory), "access", access_name(x),
                  "width", x->width, "source", text_or_null(x->place.source), "spec", text_or_null(access_spec(r, l, x)), "calls",
                  text_or_null(x->place.calls), "requests", x->requests, "lanes", x->lanes, "bytes_asked", x->asked, "fault",
                  *access_faults[x->fault] ? json_string(access_faults[x->fault]) : json_null());
    json_t *cost = x->memory
                       ? json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "bytes_used", x->used, "sectors", x->sectors, "least_sectors",
                                   x->least, "lines", x->lines, "used", access_share(r, x), "brought", x->brought, "kept", x->kept)
                       : json_pack("{s:f, s:f, s:i}", "cycles", x->cycles, "least_cycles", x->least_cycles, "ways", x->ways);
    json_object_update(row, cost);
    json_decref(cost);
    return row;
}

/* "distance": a histogram of touches by reuse distance, which is the number of other lines touched since this line's last touch. [0] counts
 * distance 0, [i] counts 2^(i-1) to 2^i - 1; zeros at the end are left out. */
static json_t *reuse_json(const access_reuse *u)
{
    json_t *distances = json_array();
    int last = access_distances;
    while (last && u->distance[last - 1] <= 0) last--;
    for (int i = 0; i < last; i++) json_array_append_new(distances, json_real(u->distance[i]));
    return json_pack("{s:f, s:f, s:f, s:f, s:f, s:o}", "touches", u->touches, "first", u->first, "hits", u->hits, "cache_bytes", u->bytes,
                     "sampled", u->rate, "distance", distances);
}

static json_t *launch_json(const access_report *r, const access_launch *l)
{
    json_t *rows = json_array(), *spread = json_array();
    for (int i = 0; i < l->row_count; i++) json_array_append_new(rows, row_json(r, l, &l->rows[i]));
    for (int i = 0; i < l->spread_count; i++)
        json_array_append_new(spread, json_pack("{s:s, s:f, s:f}", "memory", l->spread[i].memory, "lines", l->spread[i].lines, "fetched",
                                                l->spread[i].fetched));
    json_t *caches = json_pack("{s:o, s:o, s:i, s:f, s:f, s:f, s:o}", "workgroup", reuse_json(&l->own), "launch", reuse_json(&l->shared),
                               "at_once", l->at_once, "touched_bytes", l->touched, "working_set_bytes", l->working_set,
                               "chiplet_working_set_bytes", l->chiplet_set, "chiplets", spread);
    return json_pack("{s:s, s:s, s:i, s:i, s:I, s:I, s:i, s:o, s:o}", "kernel", l->kernel, "ops", access_ops(r, l), "workgroups",
                     (int)l->workgroups, "threads", (int)l->threads, "accesses", (json_int_t)l->accesses, "recorded",
                     (json_int_t)l->recorded, "whole_workgroups", (int)l->whole, "rows", rows, "caches", caches);
}

json_t *access_json(const access_report *r)
{
    const target_info *t = r->plan->target;
    const ir_graph *p = r->plan->ir;
    json_t *launches = json_array();
    for (int i = 0; i < r->count; i++)
        if (!r->launches[i].earlier_launches) json_array_append_new(launches, launch_json(r, &r->launches[i]));
    return json_pack("{s:s, s:s, s:s, s:o, s:s, s:s, s:i, s:i, s:i, s:i, s:i, s:I, s:I, s:o}", "block", p->name, "dtype",
                     dtype_name(p->type), "fusion", fusion_level_name(p->level), "dims", cli_json_dims(&p->dims), "target", t->name,
                     "device", r->plan->device->name, "wave",
                     t->wave, "sector_bytes", t->sector_bytes, "line_bytes", t->line_bytes, "banks",
                     t->lds_banks, "chiplets", r->plan->device->chiplets, "limit", (json_int_t)r->limit, "seed", (json_int_t)r->seed,
                     "launches", launches);
}
