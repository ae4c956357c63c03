/* In: the lines that a launch touches, workgroup by workgroup. Out: reuse distances within a workgroup and among concurrent workgroups; the
 * working set of concurrent workgroups; lines that several chiplets read. Model: concurrent workgroups touch one line each in turn. */
#define _GNU_SOURCE
#include "runtime/cli/access/recording.h"
#include "runtime/cli/access/reuse.h"
#include <stdlib.h>
#include <string.h>

enum { many_touches = 1 << 22 }; /* with more, distances are computed for a sample of about this many */

typedef struct cached {
    recording *r;
    reuse_room room;
    const unsigned *stream;
    const struct start *starts;
    size_t count, blocks, at_once;
    unsigned *mixed; /* interleaved touches of concurrent workgroups */
    int line;
} cached;

static size_t end_of(const cached *c, size_t block) { return block + 1 < c->blocks ? c->starts[block + 1].at : c->count; }

static access_reuse reuse_of(const cached *c, double bytes)
{
    return (access_reuse){.rate = c->count > many_touches ? (double)many_touches / (double)c->count : 1, .bytes = bytes};
}

/* Writes to `out` the touches of those workgroups from `from` up to (not including) `to` that run on one chiplet: the first touch of each,
 * then the second of each, and so on. Returns how many. */
static size_t mix(const cached *c, size_t from, size_t to, unsigned chiplet, unsigned *out)
{
    const unsigned chiplets = (unsigned)c->r->o->device->chiplets;
    size_t n = 0;
    for (size_t k = 0, more = 1; more; k++) {
        more = 0;
        for (size_t b = from; b < to; b++)
            if (c->starts[b].block % chiplets == chiplet && c->starts[b].at + k < end_of(c, b))
                out[n++] = c->stream[c->starts[b].at + k], more = 1;
    }
    return n;
}

/* Workgroups are taken to run in sets of `at_once`, in the order of their numbers: returns where the set that begins at `from` ends. */
static size_t set_end(const cached *c, size_t from)
{
    const size_t set = c->starts[from].block / c->at_once;
    size_t to = from;
    while (to < c->blocks && c->starts[to].block / c->at_once == set) to++;
    return to;
}

/* A chiplet's L2 caches what its workgroups touch, and keeps it for those that run next. */
static void count_chiplet(cached *c, unsigned chiplet)
{
    access_launch *l = c->r->launch;
    size_t count = 0;
    for (size_t from = 0, to; from < c->blocks; from = to) {
        to = set_end(c, from);
        const size_t n = mix(c, from, to, chiplet, c->mixed + count);
        const double set = (double)reuse_distinct(&c->room, c->mixed + count, n) * c->line;
        if (set > l->chiplet_set) l->chiplet_set = set;
        count += n;
    }
    reuse_count(&c->room, c->mixed, count, c->line, c->r->o->seed, &l->shared);
}

static void count_sets(cached *c)
{
    access_launch *l = c->r->launch;
    for (size_t from = 0, to; from < c->blocks; from = to) {
        to = set_end(c, from);
        const double set =
            (double)reuse_distinct(&c->room, c->stream + c->starts[from].at, end_of(c, to - 1) - c->starts[from].at) * c->line;
        if (set > l->working_set) l->working_set = set;
    }
}

static void count_spread(recording *r)
{
    access_launch *l = r->launch;
    const struct memory *memories = r->memories.items;
    l->spread = calloc(r->memories.count + 1, sizeof *l->spread);
    if (!l->spread) {
        r->failed = true;
        return;
    }
    for (size_t i = 1; i < r->memories.count; i++) {
        access_spread *s = &l->spread[l->spread_count];
        for (size_t k = 0; k < r->lines.count; k++) {
            if (r->lines.keys[k] >> 48 != i || !r->lines.marks[k]) continue;
            s->lines++, s->fetched += __builtin_popcountll(r->lines.marks[k]);
        }
        if (s->lines > 0 && (s->memory = strdup(memories[i].name))) l->spread_count++;
    }
}

void caches_count(recording *r)
{
    access_launch *l = r->launch;
    const device_model *d = r->o->device;
    cached c = {.r = r, .stream = r->stream.items, .starts = r->starts.items, .count = r->stream.count, .blocks = r->starts.count,
                .at_once = (size_t)l->at_once, .line = d->target->line_bytes};
    l->touched = (double)r->lines.count * c.line;
    l->own = reuse_of(&c, 0), l->shared = reuse_of(&c, d->numbers[number_l2].value / d->chiplets);
    if (!c.count) return;
    c.mixed = malloc(c.count * sizeof *c.mixed);
    if (!c.mixed || !reuse_open(&c.room, r->lines.count, c.count)) {
        r->failed = true;
    } else {
        for (size_t b = 0; b < c.blocks; b++)
            reuse_count(&c.room, c.stream + c.starts[b].at, end_of(&c, b) - c.starts[b].at, c.line, r->o->seed, &l->own);
        for (int i = 0; i < d->chiplets; i++) count_chiplet(&c, (unsigned)i);
        count_sets(&c);
        count_spread(r);
    }
    reuse_close(&c.room);
    free(c.mixed);
}
