/* In: a plan and a device. Out: its measured times (contract: bench.h). Refuses what the device refuses, with its text. Runs are queued in
 * batches between two waits, so that the device is timed and not the caller; each run takes the next set of buffers, so that it finds no
 * data in caches. */
#include "runtime/cli/bench.h"
#include "runtime/cli/trial.h"
#include "ir/graph/half.h"
#include "runtime/data/random.h"
#include "runtime/module/weights.h"
#include <stdlib.h>
#include <string.h>

enum { least_sets = 3, most_sets = 1024, most_batch = bench_most_runs, least_repeats = 5, most_repeats = 10000, alignment = 256 };
static const double least_rotated = 256e6, batch_seconds = 0.02, short_seconds = 0.004, warm_seconds = 0.1;
/* Random data repeat with this period, a prime, so that repetitions do not align with rows. */
static const long long period = 4194301;

typedef struct buffer_set {
    void *block, **tensors, **workspace, **packed, *graph; /* packed: packed: weights by slot */
    tfgen_weights *weights;
} buffer_set;

struct bench {
    arena *a;
    const bench *like; /* or NULL */
    const ir_graph *graph;
    const plan *plan;
    const bench_options *o;
    tfgen_device *device;
    const device_api *api;
    tfgen_module *module;
    void *stream;
    void **data, **params; /* both by tensor: data has inputs, states and params in host memory; params has the params on the device while
                            * weights are packed */
    buffer_set *sets;
    int set_count, next, batch; /* next: index of the set that the next run takes; batch: how many runs bench_batch() queues, 0: not known
                                 * yet */
    void **events; /* most_batch * (launches + 1) */
    double *samples; /* `room` samples of whole runs, then `room` of each launch */
    size_t room;
    tfgen_error error;
    host_log log;
    bench_result result;
};

static void need(bench *b, tfgen_status status)
{
    if (status == TFGEN_DEVICE_ERROR) bail_if_a_kernel_stopped(b->a, code_device, b->graph, b->plan, b->error.text);
    if (status != TFGEN_OK) cli_device_bails(b->a, status, "", &b->error, b->log.text);
}

static void *memory(bench *b, size_t bytes)
{
    void *p = calloc(bytes ? bytes : 1, 1);
    if (!p) bail(b->a, code_device, (position){0}, "not enough memory for %zu bytes", bytes);
    arena_defer(b->a, free, p);
    return p;
}

static size_t tensor_bytes(const bench *b, int i)
{
    const ir_value *v = b->module->tensors.values[i];
    return (size_t)(value_span(v, &b->plan->ir->dims) * dtype_size(v->type));
}

static tfgen_tensor_kind kind_of(const bench *b, int i) { return tensor_kind_of(b->module->tensors.values[i]); }

/* ---- random data */
static void fill_bytes(bench *b, const ir_value *v, unsigned char *out, size_t bytes)
{
    double some[4096];
    const size_t each = (size_t)dtype_size(v->type);
    const long long count = (long long)(bytes / each), own = count < period || v->type == dtype_i32 ? count : period;
    const ir_value *given = graph_value(b->graph, v->name);
    for (long long at = 0; at < own; at += 4096) {
        const long long n = own - at < 4096 ? own - at : 4096;
        random_part(b->graph, given, b->o->seed, at, n, some);
        for (long long i = 0; i < n; i++) dtype_put(v->type, out, (size_t)(at + i), some[i]);
    }
    for (size_t made = (size_t)own * each; made < bytes;) {
        const size_t n = bytes - made < made ? bytes - made : made;
        memcpy(out + made, out, n);
        made += n;
    }
}

static void make_data(bench *b)
{
    if (b->like) {
        b->data = b->like->data;
        return;
    }
    b->data = arena_alloc(b->a, ((size_t)b->module->tensors.count + 1) * sizeof *b->data);
    for (int i = 0; i < b->module->tensors.count; i++) {
        if (kind_of(b, i) == TFGEN_OUTPUT) continue;
        b->data[i] = memory(b, tensor_bytes(b, i));
        fill_bytes(b, b->module->tensors.values[i], b->data[i], tensor_bytes(b, i));
    }
}

static const int *integers(void *context, const char *name)
{
    const bench *b = context;
    for (int i = 0; i < b->module->tensors.count; i++) {
        const ir_value *v = b->module->tensors.values[i];
        if (v->type == dtype_i32 && b->data[i] && strcmp(v->name, name) == 0) return b->data[i];
    }
    return NULL;
}

/* ---- sets of buffers */
static size_t aligned(size_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

/* Bytes of a set of buffers. Params are not in it: they are in the packed weights. */
static size_t block_bytes(const bench *b)
{
    size_t sum = aligned((size_t)b->module->workspace_bytes);
    for (int i = 0; i < b->module->tensors.count; i++)
        if (kind_of(b, i) != TFGEN_PARAM) sum += aligned(tensor_bytes(b, i));
    return sum;
}

static size_t weight_bytes(const bench *b)
{
    size_t sum = 0;
    for (int i = 0; i < b->module->weight_count; i++) sum += (size_t)b->module->weights[i].bytes;
    return sum;
}

static int sets_for(const bench *b, double bytes)
{
    const double wanted = 2 * b->o->last_level > least_rotated ? 2 * b->o->last_level : least_rotated;
    const double room = (double)b->device->info.memory_bytes / (b->api == &host_device ? 4 : 2);
    double n = wanted / (bytes > 1 ? bytes : 1) + 1;
    if (n < least_sets) n = least_sets;
    if (n > most_sets) n = most_sets;
    if (room > 0 && n * bytes > room) n = room / bytes;
    return n < 1 ? 1 : (int)n;
}

static void free_sets(void *bench_)
{
    bench *b = bench_;
    for (int i = 0; i < b->set_count; i++) {
        buffer_set *s = &b->sets[i];
        if (s->graph) b->api->graph_destroy(b->device, s->graph);
        if (!b->like) tfgen_weights_free(s->weights);
        if (s->block) b->api->free(b->device, s->block);
    }
    for (int i = 0; !b->like && i < b->module->tensors.count; i++)
        if (b->params[i]) b->api->free(b->device, b->params[i]);
}

static void make_set(bench *b, buffer_set *s, size_t bytes)
{
    const tfgen_module *m = b->module;
    s->tensors = arena_alloc(b->a, ((size_t)m->tensors.count + 1) * sizeof *s->tensors);
    s->workspace = arena_alloc(b->a, ((size_t)m->workspace_count + 1) * sizeof *s->workspace);
    need(b, b->api->alloc(b->device, bytes ? bytes : alignment, "a set of buffers", &s->block, &b->error));
    char *at = s->block;
    for (int i = 0; i < m->workspace_count; i++) s->workspace[i] = at + m->offsets[i];
    at += aligned((size_t)m->workspace_bytes);
    for (int i = 0; i < m->tensors.count; i++) {
        if (kind_of(b, i) == TFGEN_PARAM) continue;
        const size_t size = tensor_bytes(b, i);
        s->tensors[i] = at;
        if (b->data[i] && size) need(b, b->api->copy(b->device, at, b->data[i], size, TFGEN_TO_DEVICE, b->stream, &b->error));
        at += aligned(size);
    }
    s->packed = arena_alloc(b->a, ((size_t)m->weight_count + 1) * sizeof *s->packed);
    need(b, weights_allocate(m, &s->weights, &b->error));
    need(b, weights_locate(s->weights, m, s->packed, &b->error));
    need(b, weights_fill(m, s->packed, b->params, b->stream, NULL, &b->error));
}

/* A set with its own workspace that shares tensors and weights with another plan's set, except weights that this plan packs differently. */
static void share_set(bench *b, buffer_set *s, const buffer_set *with, char *workspace)
{
    const tfgen_module *m = b->module;
    s->tensors = with->tensors, s->weights = with->weights;
    s->workspace = arena_alloc(b->a, ((size_t)m->workspace_count + 1) * sizeof *s->workspace);
    s->packed = arena_alloc(b->a, ((size_t)m->weight_count + 1) * sizeof *s->packed);
    for (int i = 0; i < m->workspace_count; i++) s->workspace[i] = workspace + m->offsets[i];
    need(b, tfgen_weights_add(s->weights, b->module, b->params, b->stream, &b->error));
    need(b, weights_locate(s->weights, m, s->packed, &b->error));
}

static void share_sets(bench *b)
{
    const size_t count = (size_t)b->like->set_count, bytes = aligned((size_t)b->module->workspace_bytes);
    b->params = b->like->params;
    b->sets = arena_alloc(b->a, count * sizeof *b->sets);
    arena_defer(b->a, free_sets, b);
    b->set_count = 1; /* all workspaces share this set's block */
    need(b, b->api->alloc(b->device, bytes ? count * bytes : alignment, "workspaces", &b->sets[0].block, &b->error));
    for (size_t i = 0; i < count; i++) share_set(b, &b->sets[i], &b->like->sets[i], (char *)b->sets[0].block + i * bytes);
    b->set_count = (int)count;
}

static void upload_params(bench *b)
{
    for (int i = 0; i < b->module->tensors.count; i++) {
        const size_t bytes = tensor_bytes(b, i);
        if (kind_of(b, i) != TFGEN_PARAM) continue;
        need(b, b->api->alloc(b->device, bytes ? bytes : 1, b->module->tensors.values[i]->name, &b->params[i], &b->error));
        if (bytes) need(b, b->api->copy(b->device, b->params[i], b->data[i], bytes, TFGEN_TO_DEVICE, b->stream, &b->error));
    }
}

static void make_sets(bench *b)
{
    const size_t block = block_bytes(b), weights = weight_bytes(b);
    const int count = sets_for(b, (double)block + (double)weights);
    b->params = arena_alloc(b->a, ((size_t)b->module->tensors.count + 1) * sizeof *b->params);
    b->sets = arena_alloc(b->a, (size_t)count * sizeof *b->sets);
    arena_defer(b->a, free_sets, b);
    upload_params(b);
    for (; b->set_count < count; ) {
        buffer_set *s = &b->sets[b->set_count++];
        make_set(b, s, block);
    }
    need(b, b->api->synchronize(b->device, b->stream, &b->error));
    b->result.sets = count;
    b->result.set_bytes = (double)block + (double)tfgen_weights_bytes(b->sets[0].weights);
}

/* ---- runs */
/* Runs all launches except `without`, or only launch `only` (-1: neither); records an event after each if `events` is not NULL. */
static void launch_some(bench *b, const buffer_set *s, int without, int only, void **events)
{
    const tfgen_module *m = b->module;
    const call c = {.tensors = s->tensors, .workspace = s->workspace, .weights = s->packed, .stream = b->stream};
    for (int i = 0; i < m->launch_count; i++) {
        if (i == without || (only >= 0 && i != only)) continue;
        need(b, module_kernel_launch(m, &m->kernels[m->pack_count + i], &c, &b->error));
        if (events) need(b, b->api->event_record(b->device, events[i + 1], b->stream, &b->error));
    }
}

static void capture_graphs(bench *b)
{
    for (int i = 0; i < b->set_count; i++) {
        need(b, b->api->graph_begin(b->device, b->stream, &b->error));
        launch_some(b, &b->sets[i], -1, -1, NULL);
        need(b, b->api->graph_end(b->device, b->stream, &b->sets[i].graph, &b->error));
    }
}

typedef enum run_kind { run_whole, run_each } run_kind;

static void start_run(bench *b, run_kind kind, void **events)
{
    const buffer_set *s = &b->sets[b->next++ % b->set_count];
    need(b, b->api->event_record(b->device, events[0], b->stream, &b->error));
    if (kind == run_whole && s->graph) need(b, b->api->graph_launch(b->device, s->graph, b->stream, &b->error));
    else launch_some(b, s, -1, -1, kind == run_each ? events : NULL);
    if (kind == run_whole) need(b, b->api->event_record(b->device, events[1], b->stream, &b->error));
}

/* Times `count` runs; the first is sample `at`. */
static void run_batch(bench *b, run_kind kind, int at, int count)
{
    const int launches = b->module->launch_count, stride = launches + 1;
    for (int r = 0; r < count; r++) start_run(b, kind, b->events + (size_t)r * (size_t)stride);
    need(b, b->api->synchronize(b->device, b->stream, &b->error));
    for (int r = 0; r < count; r++)
        for (int i = 0; i < (kind == run_each ? launches : 1); i++) {
            double *samples = b->samples + (size_t)(kind == run_each ? i + 1 : 0) * b->room;
            void **events = b->events + (size_t)r * (size_t)stride + i;
            need(b, b->api->event_elapsed(b->device, events[0], events[1], &samples[at + r], &b->error));
        }
}

/* Warms up clocks, pages and code. Returns the seconds of a run. */
static double warm_up(bench *b)
{
    const double start = seconds_now();
    int runs = 0;
    do run_batch(b, run_whole, 0, 1), runs++;
    while ((seconds_now() - start < warm_seconds || runs < 2) && runs < most_repeats);
    return b->samples[0] > 1e-9 ? b->samples[0] : 1e-9;
}

static int time_runs(bench *b)
{
    const double one = warm_up(b), start = seconds_now(), wanted = b->o->seconds;
    int repeats = 0, batch = (int)(batch_seconds / one < most_batch ? batch_seconds / one : most_batch);
    progress bar = progress_start("timing, % of the budget", 100);
    if (batch < 1) batch = 1;
    double spent = 0;
    while (repeats < least_repeats || (spent < wanted && repeats < most_repeats)) {
        const int n = most_repeats - repeats < batch ? most_repeats - repeats : batch;
        run_batch(b, run_whole, repeats, n);
        run_batch(b, run_each, repeats, n);
        repeats += n;
        const double part = (seconds_now() - start) / (wanted > 0 ? wanted : 1);
        bar.done = part < 0.98 ? (long long)(100 * part) : 98;
        progress_step(&bar, "");
        spent = seconds_now() - start;
    }
    progress_end(&bar);
    return repeats;
}

/* ---- opening */
static void close_module(void *bench_)
{
    bench *b = bench_;
    for (size_t i = 0; b->events && i < (size_t)most_batch * ((size_t)b->module->launch_count + 1); i++)
        if (b->events[i]) b->api->event_destroy(b->device, b->events[i]);
    if (b->stream) b->api->stream_destroy(b->device, b->stream);
    tfgen_module_free(b->module);
    host_log_free(&b->log);
}

static void count_kernel(void *bar, const tfgen_progress *p) { progress_step(bar, p->kernel); }

static void open_module(bench *b)
{
    progress bar = progress_start("compiling", b->plan->launch_count + b->plan->pack_count);
    tfgen_module_options options = TFGEN_MODULE_OPTIONS_INIT;
    options.jobs = b->o->jobs, options.progress = count_kernel, options.context = &bar;
    const double start = seconds_now();
    arena_defer(b->a, close_module, b);
    const module_settings settings = {.options = &options, .cache = b->o->cache, .log = &b->log};
    const tfgen_status status = module_build(b->plan, b->device, &settings, &b->module, &b->error);
    progress_end(&bar);
    need(b, status);
    b->plan = b->result.plan = b->module->plan;
    b->result.compile_seconds = seconds_now() - start;
    need(b, b->api->stream_create(b->device, &b->stream, &b->error));
}

static void make_events(bench *b)
{
    const size_t count = (size_t)most_batch * ((size_t)b->module->launch_count + 1);
    b->events = arena_alloc(b->a, count * sizeof *b->events);
    for (size_t i = 0; i < count; i++) need(b, b->api->event_create(b->device, &b->events[i], &b->error));
}

/* Keeps samples in order, before spread_of() sorts them. */
static void keep_samples(bench *b)
{
    const int step = (b->result.repeats + record_most_samples - 1) / record_most_samples;
    b->result.samples = arena_alloc(b->a, record_most_samples * sizeof *b->result.samples);
    for (int i = 0; i < b->result.repeats; i += step) b->result.samples[b->result.sample_count++] = b->samples[i];
}

static void make_samples(bench *b, size_t each)
{
    b->room = each;
    b->samples = memory(b, ((size_t)b->module->launch_count + 1) * each * sizeof *b->samples);
}

bench *bench_open(arena *a, const ir_graph *graph, const plan *p, const bench_options *o, const bench *like)
{
    bench *b = arena_alloc(a, sizeof *b);
    *b = (bench){.a = a, .like = like, .graph = graph, .plan = p, .o = o, .device = o->device, .api = o->device->api};
    if (o->graph && b->api == &host_device)
        bail(a, code_unsupported, (position){0}, "--graph: only GPUs have graphs, the host engine has none");
    open_module(b);
    make_data(b);
    make_events(b);
    if (like) share_sets(b);
    else make_sets(b);
    if (o->graph) capture_graphs(b);
    return b;
}

const plan *bench_plan_of(const bench *b) { return b->plan; }
work bench_work(bench *b, int launch) { return launch_work(b->a, b->plan, &b->plan->launches[launch], integers, b); }

void bench_runs(bench *b, int count, double *seconds)
{
    if (!b->samples) make_samples(b, most_batch);
    run_batch(b, run_whole, 0, count);
    memcpy(seconds, b->samples, (size_t)count * sizeof *seconds);
}

int bench_batch(bench *b, int most, double seconds[bench_most_runs])
{
    if (!b->batch) {
        bench_runs(b, 2, seconds);
        b->batch = seconds[1] * most_batch > short_seconds ? (int)(short_seconds / seconds[1]) + 1 : most_batch;
    }
    const int count = b->batch < most ? b->batch : most;
    if (count > 0) bench_runs(b, count, seconds);
    return count;
}

void bench_launches(bench *b, int count, double *seconds)
{
    if (!b->samples) make_samples(b, most_batch);
    run_batch(b, run_each, 0, count);
    for (int i = 0; i < b->module->launch_count; i++) seconds[i] = spread_of(b->samples + (size_t)(i + 1) * b->room, count).median;
}

static void queue_runs(bench *b, int without, int only, int count)
{
    for (int r = 0; r < count; r++) launch_some(b, &b->sets[b->next++ % b->set_count], without, only, NULL);
}

/* The first replay of a graph is not timed: it uploads code and graph to the device. */
static void replay_queue(bench *b, int without, int only, int count)
{
    void *graph;
    need(b, b->api->graph_begin(b->device, b->stream, &b->error));
    queue_runs(b, without, only, count);
    need(b, b->api->graph_end(b->device, b->stream, &graph, &b->error));
    tfgen_status status = b->api->graph_launch(b->device, graph, b->stream, &b->error);
    if (status == TFGEN_OK) status = b->api->event_record(b->device, b->events[0], b->stream, &b->error);
    if (status == TFGEN_OK) status = b->api->graph_launch(b->device, graph, b->stream, &b->error);
    if (status == TFGEN_OK) status = b->api->event_record(b->device, b->events[1], b->stream, &b->error);
    if (status == TFGEN_OK) status = b->api->synchronize(b->device, b->stream, &b->error);
    b->api->graph_destroy(b->device, graph);
    need(b, status);
}

double bench_queue(bench *b, int without, int only, int count)
{
    double seconds = 0;
    if (b->api == &host_device) {
        need(b, b->api->event_record(b->device, b->events[0], b->stream, &b->error));
        queue_runs(b, without, only, count);
        need(b, b->api->event_record(b->device, b->events[1], b->stream, &b->error));
        need(b, b->api->synchronize(b->device, b->stream, &b->error));
    } else {
        replay_queue(b, without, only, count);
    }
    need(b, b->api->event_elapsed(b->device, b->events[0], b->events[1], &seconds, &b->error));
    return seconds / count;
}

/* ---- a run that is looked into */
void bench_pass_half(bench *b) { b->next += b->set_count / 2; }

long long bench_workgroups(const bench *b, int launch)
{
    return module_grid(b->module, &b->module->kernels[b->module->pack_count + launch], &b->plan->ir->dims);
}

void bench_run_last(bench *b, int before)
{
    b->next = b->set_count > before ? b->set_count - before : 0;
    for (int i = b->set_count > before ? 0 : before; i <= before; i++) start_run(b, run_whole, b->events + 2 * i);
    need(b, b->api->synchronize(b->device, b->stream, &b->error));
}

static bool is_result(const bench *b, int i) { return kind_of(b, i) == TFGEN_OUTPUT || kind_of(b, i) == TFGEN_STATE; }

size_t bench_results(bench *b, void *data)
{
    size_t at = 0;
    for (int i = 0; i < b->module->tensors.count; i++) {
        const size_t bytes = is_result(b, i) ? tensor_bytes(b, i) : 0;
        if (bytes && data)
            need(b, b->api->copy(b->device, (char *)data + at, b->sets[0].tensors[i], bytes, TFGEN_FROM_DEVICE, b->stream, &b->error));
        at += bytes;
    }
    need(b, b->api->synchronize(b->device, b->stream, &b->error));
    return at;
}

void bench_forget_results(bench *b)
{
    for (int i = 0; i < b->module->tensors.count; i++)
        if (kind_of(b, i) == TFGEN_OUTPUT && tensor_bytes(b, i))
            need(b, b->api->fill(b->device, b->sets[0].tensors[i], 0xff, tensor_bytes(b, i), b->stream, &b->error));
    need(b, b->api->synchronize(b->device, b->stream, &b->error)); /* other benches use other streams */
}

static void *scratch_of(const bench *b, int scratch) { return b->sets[0].workspace[b->plan->stored_count + scratch]; }

void bench_read_scratch(bench *b, int scratch, void *data, size_t bytes)
{
    need(b, b->api->copy(b->device, data, scratch_of(b, scratch), bytes, TFGEN_FROM_DEVICE, b->stream, &b->error));
    need(b, b->api->synchronize(b->device, b->stream, &b->error));
}

void bench_clear_scratch(bench *b, int scratch, size_t bytes)
{
    need(b, b->api->fill(b->device, scratch_of(b, scratch), 0, bytes, b->stream, &b->error));
    need(b, b->api->synchronize(b->device, b->stream, &b->error));
}

/* Frees the unpacked params, which are needed only while weights are packed. */
static void free_params(bench *b)
{
    for (int i = 0; i < b->module->tensors.count; i++)
        if (b->params[i]) b->api->free(b->device, b->params[i]), b->params[i] = NULL;
}

bench_result bench_plan(arena *a, const ir_graph *graph, const plan *p, const bench_options *o)
{
    bench *b = bench_open(a, graph, p, o, NULL);
    free_params(b);
    make_samples(b, most_repeats);
    b->result.repeats = time_runs(b);
    const int launches = b->module->launch_count;
    keep_samples(b);
    b->result.whole = spread_of(b->samples, b->result.repeats);
    b->result.launches = arena_alloc(a, ((size_t)launches + 1) * sizeof *b->result.launches);
    b->result.works = arena_alloc(a, ((size_t)launches + 1) * sizeof *b->result.works);
    for (int i = 0; i < launches; i++) {
        b->result.launches[i] = spread_of(b->samples + (size_t)(i + 1) * most_repeats, b->result.repeats);
        b->result.works[i] = bench_work(b, i);
    }
    return b->result;
}
