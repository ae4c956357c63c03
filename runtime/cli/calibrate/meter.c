/* Contract: meter.h. Times are measured by the device's events. */
#include "runtime/cli/calibrate/meter.h"
#include "runtime/cli/spread.h"
#include "runtime/module/standalone.h"
#include <string.h>

enum { samples = 9, result_bytes = 1024 };
static const double long_enough = 0.03; /* seconds of waiting after which the median of fewer samples will do */

typedef struct probe_args { /* as in templates/probe/probes.h */
    const void *from;
    void *to;
    int chunks, count, step;
    float x, y;
    int padding; /* named, so that no uninitialised stack bytes go to the device */
} probe_args;
_Static_assert(sizeof(probe_args) == 40, "the layout of templates/probe/probes.h");

struct meter {
    arena *a;
    tfgen_device *device;
    const device_api *api;
    const target_info *target;
    void *stream, *events[2], *image, *kernels[probe_count], *from, *to;
    bool graphs;
    tfgen_error error;
};

static void need(meter *m, tfgen_status status)
{
    if (status != TFGEN_OK) cli_device_bails(m->a, status, "", &m->error, NULL);
}

static void close_meter(void *meter_)
{
    meter *m = meter_;
    for (int i = 0; i < 2; i++)
        if (m->events[i]) m->api->event_destroy(m->device, m->events[i]);
    if (m->from) m->api->free(m->device, m->from);
    if (m->to) m->api->free(m->device, m->to);
    if (m->image) m->api->unload(m->device, m->image);
    if (m->stream) m->api->stream_destroy(m->device, m->stream);
}

/* ---- code */
static void make_kernels(meter *m, cache *c, int jobs)
{
    static const char *const names[probe_count] = {"probe_nothing", "probe_read", "probe_multiply", "probe_cycles",  "probe_answers",
                                                   "probe_busy_answers"};
    m->image = standalone_load(m->a, m->device, &(standalone_request){.template_path = "templates/probe/probes.h", .name = "probes",
                                                                      .purpose = "measure a device", .target = m->target, .cache = c,
                                                                      .jobs = jobs});
    for (int i = 0; i < probe_count; i++) need(m, m->api->kernel(m->device, m->image, names[i], 0, &m->kernels[i], &m->error));
}

/* ---- memory */
meter *meter_open(arena *a, tfgen_device *d, const target_info *target, long long bytes, cache *c, int jobs)
{
    meter *m = arena_alloc(a, sizeof *m);
    *m = (meter){.a = a, .device = d, .api = d->api, .target = target};
    arena_defer(a, close_meter, m);
    need(m, m->api->stream_create(d, &m->stream, &m->error));
    for (int i = 0; i < 2; i++) need(m, m->api->event_create(d, &m->events[i], &m->error));
    make_kernels(m, c, jobs);
    need(m, m->api->alloc(d, (size_t)bytes, "memory to read", &m->from, &m->error));
    need(m, m->api->alloc(d, result_bytes, "results", &m->to, &m->error));
    need(m, m->api->fill(d, m->from, 0x5a, (size_t)bytes, m->stream, &m->error));
    need(m, m->api->synchronize(d, m->stream, &m->error));
    m->graphs = m->api->graph_begin(d, m->stream, &m->error) == TFGEN_OK;
    if (!m->graphs) return m;
    void *graph;
    need(m, m->api->graph_end(d, m->stream, &graph, &m->error));
    m->api->graph_destroy(d, graph);
    return m;
}

/* ---- runs */
static void start(meter *m, const probe_run *run, int launches)
{
    const unsigned threads = run->kind == probe_read || run->kind == probe_busy_answers ? read_threads
                             : run->kind == probe_nothing || run->kind == probe_multiply ? multiply_threads
                                                                                         : (unsigned)m->target->wave;
    const launch_shape shape = {.grid = (unsigned)run->grid,
                                .threads = threads,
                                .wave = (unsigned)m->target->wave,
                                .cooperative = run->together,
                                .overlap = run->overlap};
    for (int i = 0; i < launches; i++) {
        _Alignas(128) probe_args args = {m->from, m->to, run->chunks, run->count, run->step, 1.0f, 0.0f, 0};
        need(m, m->api->launch(m->device, m->kernels[run->kind], &shape, &args, sizeof args, m->stream, &m->error));
    }
}

static void clear(meter *m) { need(m, m->api->fill(m->device, m->to, 0, result_bytes, m->stream, &m->error)); }

static double timed(meter *m, const probe_run *run, int launches, void *graph)
{
    double seconds;
    clear(m);
    need(m, m->api->event_record(m->device, m->events[0], m->stream, &m->error));
    if (graph)
        need(m, m->api->graph_launch(m->device, graph, m->stream, &m->error));
    else
        start(m, run, launches);
    need(m, m->api->event_record(m->device, m->events[1], m->stream, &m->error));
    need(m, m->api->event_elapsed(m->device, m->events[0], m->events[1], &seconds, &m->error));
    return seconds > 0 ? seconds : 1e-9;
}

double meter_seconds(meter *m, const probe_run *run, int launches)
{
    double list[samples];
    void *graph = NULL;
    if (m->graphs && launches > 1) {
        need(m, m->api->graph_begin(m->device, m->stream, &m->error));
        start(m, run, launches);
        need(m, m->api->graph_end(m->device, m->stream, &graph, &m->error));
    }
    (void)timed(m, run, launches, graph);
    const double began = seconds_now();
    int count = 0;
    do list[count++] = timed(m, run, launches, graph) / launches;
    while (count < samples && seconds_now() - began < long_enough);
    if (graph) m->api->graph_destroy(m->device, graph);
    return spread_of(list, count).median;
}

double meter_each(double shorter, int few, double longer, int many) { return (longer - shorter) / (many - few); }

double meter_cycles(meter *m, const probe_run *run, double *cycles)
{
    unsigned counted[2];
    const double seconds = timed(m, run, 1, NULL);
    need(m, m->api->copy(m->device, counted, m->to, sizeof counted, TFGEN_FROM_DEVICE, m->stream, &m->error));
    *cycles = (double)counted[0] + 4294967296.0 * counted[1];
    return seconds;
}
