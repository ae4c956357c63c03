/* In: a timeline. Out: its summary as JSON, and the whole timeline in Chrome's trace format, which Perfetto reads. */
#include "runtime/cli/trace/timeline.h"
#include "runtime/cli/cli.h"

/* ---- the summary, in seconds */
static json_t *seconds(double nanoseconds) { return json_real(nanoseconds * 1e-9); }
static json_t *told(double value, double factor) { return value < 0 ? json_null() : json_real(value * factor); }

static json_t *tiles_json(const timeline_launch *l)
{
    json_t *o = json_pack("{s:I, s:o, s:o, s:o, s:o}", "count", (json_int_t)l->tile_count, "median_seconds", seconds(l->median),
                          "longest_seconds", seconds(l->longest), "stores", told(l->stores, 1), "wait_for_data", told(l->data, 1));
    json_object_set_new(o, "longest", l->worst ? json_integer(l->worst->tile) : json_null());
    return o;
}

static json_t *phases_json(const timeline_launch *l)
{
    json_t *list = json_array();
    for (int i = 0; i < l->phase_count; i++) {
        const timeline_phase *x = &l->phases[i];
        json_array_append_new(list, json_pack("{s:s, s:I, s:o, s:o, s:o, s:o, s:o}", "name", x->name, "tiles", (json_int_t)x->tiles,
                                              "first_tile", seconds(x->first), "first_ready", seconds(x->ready), "last_ready",
                                              seconds(x->last_ready), "end", seconds(x->end), "median_seconds", seconds(x->median)));
    }
    return list;
}

static json_t *launch_json(const timeline *t, int index)
{
    const timeline_launch *l = &t->launches[index];
    json_t *units = json_pack("{s:i, s:f, s:f, s:f, s:f, s:f}", "count", l->units, "busy", l->busy, "before", l->before, "between",
                              l->between, "after", l->after, "unused", l->unused);
    json_t *o = json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:i, s:o, s:o, s:o}", "name", l->name, "ops", l->ops, "begin", seconds(l->begin),
                          "first_tile", seconds(l->first), "last_tile", seconds(l->last), "end", seconds(l->end), "workgroups",
                          l->workgroups, "units", units, "tiles", tiles_json(l), "wait_for_launch_ahead", told(l->ahead, 1e-9));
    if (l->phase_count) json_object_set_new(o, "phases", phases_json(l));
    json_object_set_new(o, "gap_seconds", index ? seconds(l->gap) : json_null());
    json_object_set_new(o, "overlap_seconds", index ? seconds(t->launches[index - 1].end - l->begin) : json_null());
    return o;
}

json_t *trace_summary(const trace_facts *f, const timeline *t)
{
    json_t *launches = json_array();
    for (int i = 0; i < t->launch_count; i++) json_array_append_new(launches, launch_json(t, i));
    json_t *overhead =
        json_pack("{s:f, s:f, s:i, s:b}", "traced_seconds", f->traced, "plain_seconds", f->plain, "runs", f->runs, "same_bits", 1);
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:b, s:o, s:i, s:f, s:o, s:o, s:o}", "block", f->block, "dtype", f->dtype, "fusion",
                     f->level, "target", f->target, "device", f->device, "clock", f->clock, "graph", f->graph, "seconds",
                     seconds(t->length), "units", t->device_units, "busy", t->busy, "clock_step_seconds", seconds(t->resolution),
                     "overhead", overhead, "launches", launches);
}

/* ---- Chrome's trace format: microseconds; one process for launches, one for units, whose threads are the units' lanes */
enum { process_launches = 1, process_units = 2 };
enum { lanes_each = 64 };

static json_t *number(double nanoseconds) { return json_real(nanoseconds / 1e3); }

static void name_track(json_t *events, int process, int thread, const char *what, const char *name)
{
    json_array_append_new(events, json_pack("{s:s, s:s, s:i, s:i, s:{s:s}}", "ph", "M", "name", what, "pid", process, "tid", thread, "args",
                                            "name", name));
}

static json_t *slice(const char *name, const char *kind, int process, int thread, double from, double to)
{
    return json_pack("{s:s, s:s, s:s, s:i, s:i, s:o, s:o}", "ph", "X", "name", name, "cat", kind, "pid", process, "tid", thread, "ts",
                     number(from), "dur", number(to - from));
}

static void add_tile(json_t *events, const timeline *t, const timeline_tile *x)
{
    const int thread = x->unit * lanes_each + x->lane;
    json_t *tile = slice(t->launches[x->launch].name, "tile", process_units, thread, x->start, x->end);
    json_t *arguments = json_pack("{s:I, s:i}", "tile", (json_int_t)x->tile, "workgroup", x->workgroup);
    if (x->warpgroup) json_object_set_new(arguments, "warpgroup", json_integer(x->warpgroup));
    if (x->asked >= 0) json_object_set_new(arguments, "asked for data at us", number(x->asked));
    json_object_set_new(tile, "args", arguments);
    json_array_append_new(events, tile);
    if (!t->launches[x->launch].sums) return;
    if (x->data > x->start) json_array_append_new(events, slice("wait for data", "part", process_units, thread, x->start, x->data));
    json_array_append_new(events, slice("compute", "part", process_units, thread, x->data > x->start ? x->data : x->start, x->computed));
    json_array_append_new(events, slice("store", "part", process_units, thread, x->computed, x->end));
}

static void add_launch(json_t *events, const timeline *t, int index)
{
    const timeline_launch *l = &t->launches[index];
    json_t *whole = slice(l->name, "launch", process_launches, index, l->begin, l->end);
    json_object_set_new(whole, "args",
                        json_pack("{s:s, s:I, s:i, s:f}", "ops", l->ops, "tiles", (json_int_t)l->tile_count, "workgroups", l->workgroups,
                                  "busy", l->busy));
    json_array_append_new(events, whole);
    for (long long i = 0; i < l->tile_count; i++) add_tile(events, t, &l->tiles[i]);
}

static void name_tracks(arena *a, json_t *events, const trace_facts *f, const timeline *t)
{
    bool *used = arena_alloc(a, (size_t)t->unit_count * lanes_each + 1);
    name_track(events, process_launches, 0, "process_name", "launches");
    name_track(events, process_units, 0, "process_name", arena_printf(a, "units of %s", f->device));
    for (int i = 0; i < t->launch_count; i++) {
        name_track(events, process_launches, i, "thread_name", t->launches[i].name);
        for (long long k = 0; k < t->launches[i].tile_count; k++)
            used[t->launches[i].tiles[k].unit * lanes_each + t->launches[i].tiles[k].lane] = true;
    }
    for (int i = 0; i < t->unit_count * lanes_each; i++)
        if (used[i])
            name_track(events, process_units, i, "thread_name",
                       i % lanes_each ? arena_printf(a, "unit %d, %d", i / lanes_each, i % lanes_each)
                                      : arena_printf(a, "unit %d", i / lanes_each));
}

const char *trace_events(arena *a, const trace_facts *f, const timeline *t)
{
    json_t *events = json_array();
    name_tracks(a, events, f, t);
    for (int i = 0; i < t->launch_count; i++) add_launch(events, t, i);
    return cli_json_text(a, cli_keep_json(a, json_pack("{s:o, s:s, s:o}", "traceEvents", events, "displayTimeUnit", "ns", "otherData",
                                                       trace_summary(f, t))), JSON_COMPACT);
}
