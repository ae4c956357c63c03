/* Contract: recorder.h. */
#define _GNU_SOURCE
#include "ir/devices/occupancy.h"
#include "runtime/cli/access/recording.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { widest = 16 }; /* most bytes that a lane requests by one instruction */

struct access_recorder {
    access_options o;
    host_watch watch;
    recording now;
    list launches; /* access_launch */
    bool lost;
};

static unsigned short memory_number(recording *r, const char *identity)
{
    const struct memory *all = r->memories.items;
    for (size_t i = 0; i < r->memories.count; i++)
        if (all[i].identity == identity) return (unsigned short)i;
    struct memory *added = r->memories.count < UINT16_MAX ? list_add(&r->memories, sizeof *added, &r->failed) : NULL;
    if (added) *added = (struct memory){identity, identity ? strdup(identity) : NULL};
    if (!added || (identity && !added->name)) r->failed = true;
    return added ? (unsigned short)(r->memories.count - 1) : 0;
}

/* How many workgroups run at once as far as their threads and shared memory allow; registers may allow fewer. */
static int at_once(const device_model *d, int threads, unsigned shared)
{
    const kernel_need need = {.threads = threads, .shared = shared};
    occupancy held;
    return d->units * (occupancy_of(d, &need, &held) && held.groups > 0 ? held.groups : 1);
}

/* ---- the engine's calls */
static void begin(void *context, const char *kernel, const host_launch_dims *dims, const host_module *module)
{
    access_recorder *a = context;
    recording *r = &a->now;
    *r = (recording){.o = &a->o, .module = module, .cooperative = dims->cooperative, .block = UINT_MAX};
    if (a->o.only && strcmp(a->o.only, kernel) != 0) return;
    r->launch = list_add(&a->launches, sizeof *r->launch, &a->lost);
    if (!r->launch) return;
    r->launch->kernel = strdup(kernel);
    r->launch->workgroups = dims->grid[0] * (dims->grid[1] ? dims->grid[1] : 1) * (dims->grid[2] ? dims->grid[2] : 1);
    r->launch->threads = dims->block[0] * (dims->block[1] ? dims->block[1] : 1) * (dims->block[2] ? dims->block[2] : 1);
    r->launch->at_once = a->o.at_once > 0 ? a->o.at_once : at_once(a->o.device, (int)r->launch->threads, dims->shared_bytes);
    r->active = r->launch->kernel != NULL;
    memory_number(r, NULL); /* number 0: shared memory */
}

/* When workgroups run one by one: groups the finished workgroup's accesses into requests, unless stop() dropped them at the limit, and
 * begins `block`. */
static void next_block(recording *r, unsigned block)
{
    if (block == r->block || r->cooperative) return;
    if (!r->full && r->events.count) {
        requests_make(r);
        r->launch->whole++;
    }
    r->block = block;
}

/* At the limit: drops the partly recorded workgroup, since its requests would lack lanes; a cooperative launch keeps what it has. */
static void stop(recording *r)
{
    r->full = true;
    if (r->cooperative) return;
    r->launch->recorded -= r->events.count;
    r->events.count = 0;
}

static void add_event(recording *r, const host_access *access, unsigned long long from, unsigned bytes)
{
    event *e = list_add(&r->events, sizeof *e, &r->failed);
    if (!e) return;
    *e = (event){.offset = access->offset + from, .block = access->block, .meetings = access->meetings, .bytes = bytes,
                 .code = number_of(&r->codes, access->code, &r->failed), .time = r->time++, .wave = (unsigned short)access->wave,
                 .memory = access->memory ? memory_number(r, access->memory) : 0, .lane = (unsigned char)access->lane,
                 .kind = (unsigned char)access->kind, .bulk = access->bulk, .matrix = access->matrix};
    r->launch->recorded++;
}

static void take(void *context, const host_access *access)
{
    recording *r = &((access_recorder *)context)->now;
    if (!r->active) return;
    next_block(r, access->block);
    const unsigned long long step = access->bulk ? access->bytes : widest;
    for (unsigned long long from = 0; from < access->bytes; from += step) {
        const unsigned long long left = access->bytes - from;
        r->launch->accesses++;
        if (!r->full && r->launch->recorded >= r->o->limit) stop(r);
        if (!r->full && !r->failed) add_event(r, access, from, (unsigned)(left < step ? left : step));
    }
}

static void forget(recording *r)
{
    struct memory *memories = r->memories.items;
    for (size_t i = 0; i < r->memories.count; i++) free(memories[i].name);
    access_place *places = r->places.items;
    for (size_t i = 0; i < r->places.count; i++) {
        free((char *)places[i].source);
        free((char *)places[i].spec);
        free((char *)places[i].calls);
    }
    list *lists[] = {&r->events, &r->touches, &r->memories, &r->rows, &r->stream, &r->starts, &r->places, &r->placed};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) free(lists[i]->items);
    number_close(&r->codes);
    number_close(&r->row_keys);
    number_close(&r->lines);
    number_close(&r->sectors);
    *r = (recording){0};
}

/* Reports show only a kernel's first launch: the others are taken to have the same counts. */
static unsigned earlier_launches(const access_recorder *a, const char *kernel)
{
    const access_launch *all = a->launches.items;
    unsigned n = 0;
    for (size_t i = 0; i + 1 < a->launches.count; i++) n += all[i].kernel && strcmp(all[i].kernel, kernel) == 0;
    return n;
}

static void end(void *context)
{
    access_recorder *a = context;
    recording *r = &a->now;
    if (r->active) {
        if (r->events.count) {
            requests_make(r);
            r->launch->whole = r->cooperative && !r->full ? r->launch->workgroups : r->launch->whole + !r->cooperative;
        }
        caches_count(r);
        rows_make(r);
        r->launch->earlier_launches = earlier_launches(a, r->launch->kernel);
    }
    a->lost |= r->failed;
    forget(r);
}

access_recorder *access_recorder_new(const access_options *o)
{
    access_recorder *a = calloc(1, sizeof *a);
    if (!a) return NULL;
    a->o = *o;
    a->watch = (host_watch){begin, take, end, a};
    return a;
}

const host_watch *access_recorder_watch(access_recorder *r) { return &r->watch; }

static void free_launch(access_launch *l)
{
    for (int i = 0; i < l->row_count; i++) {
        access_row *row = &l->rows[i];
        free((char *)row->memory);
        free((char *)row->place.source);
        free((char *)row->place.spec);
        free((char *)row->place.calls);
    }
    for (int i = 0; i < l->spread_count; i++) free((char *)l->spread[i].memory);
    free(l->spread);
    free(l->rows);
    free((char *)l->kernel);
}

void access_recorder_free(access_recorder *r)
{
    if (!r) return;
    access_launch *all = r->launches.items;
    for (size_t i = 0; i < r->launches.count; i++) free_launch(&all[i]);
    free(r->launches.items);
    forget(&r->now);
    free(r);
}

const access_launch *access_recorder_launches(const access_recorder *r, int *count, bool *lost)
{
    *count = (int)r->launches.count;
    *lost = r->lost;
    return r->launches.items;
}
