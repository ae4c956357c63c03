/* In: the calls of runtime/device/cuda_abi.h. Out: see libcuda_double.h. Refuses what the driver would; `wrong` counts undefined uses
 * (freed memory, unknown handles), with a sentence on the first. Allocates only where the driver may: never in a launch. */
#define _GNU_SOURCE
#include "tests/doubles/libcuda_double.h"
#include "runtime/device/cuda_abi.h"
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { invalid_value = 1, invalid_image = 200, invalid_context = 201, invalid_handle = 400, not_found = 500, bad_capture = 900 };
enum { most_allocations = 512, most_nodes = 512, most_depth = 8, shared_limit = 232448 };

static double_state state = {.devices = 1, .major = 9, .version = 13000, .resident = 8};
double_state *tfgen_double_state(void) { return &state; }

typedef struct function {
    const double_image *image;
    const void *context;
    unsigned dynamic_bytes;
    bool loaded;
} function;

typedef struct stream {
    char magic[8];
    unsigned long long id;
    const void *context;
    int ordered; /* the context's cooperative launches up to this number end before its next work begins */
    bool capturing;
    struct graph *graph;
} stream;

typedef struct graph {
    double_launch nodes[most_nodes];
    int count;
} graph;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    char *low, *high;
} memory[most_allocations];
enum { most_devices = 8, most_contexts = 2 * most_devices };
static char contexts[most_contexts]; /* addresses of contexts: each device's primary one, then one per device that the program creates */
static int cooperative_launches[most_contexts]; /* under the lock */
static _Thread_local void *stack[most_depth];
static _Thread_local int depth;

static int wrong(const char *text)
{
    if (atomic_fetch_add(&state.wrong, 1) == 0) snprintf(state.wrong_text, sizeof state.wrong_text, "%s", text);
    return invalid_value;
}

static int planned(const char *call)
{
    if (atomic_load(&state.lost)) return atomic_load(&state.lost);
    if (!state.fail_call || strcmp(state.fail_call, call) != 0) return 0;
    return atomic_fetch_sub(&state.fail_after, 1) <= 0 ? state.fail_code : 0;
}

#define BEGIN(call)                                                                                                                        \
    do {                                                                                                                                   \
        const int code = planned(call);                                                                                                    \
        if (code) return code;                                                                                                             \
    } while (0)
#define BEGIN_IN_CONTEXT(call)                                                                                                             \
    do {                                                                                                                                   \
        BEGIN(call);                                                                                                                       \
        if (!depth) return invalid_context;                                                                                                \
    } while (0)

/* ---- devices and contexts */
int cuInit(unsigned flags)
{
    (void)flags;
    return state.init_code;
}

int cuDriverGetVersion(int *version)
{
    *version = state.version;
    return 0;
}

int cuGetErrorName(int code, const char **name)
{
    *name = code == 2 ? "CUDA_ERROR_OUT_OF_MEMORY" : code == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS" : "CUDA_ERROR_OF_THE_DOUBLE";
    return 0;
}

int cuGetErrorString(int code, const char **text)
{
    (void)code;
    *text = "as the test wanted";
    return 0;
}

int cuDeviceGetCount(int *count)
{
    BEGIN("DeviceGetCount");
    *count = state.devices;
    return 0;
}

int cuDeviceGet(int *device, int ordinal)
{
    *device = ordinal;
    return ordinal < state.devices ? 0 : 101;
}

int cuDeviceGetName(char *name, int size, int device)
{
    snprintf(name, (size_t)size, "Double %d", device);
    return 0;
}

int cuDeviceTotalMem_v2(size_t *bytes, int device)
{
    (void)device;
    *bytes = 1ull << 37;
    return 0;
}

int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    (void)device;
    BEGIN("DeviceGetAttribute");
    switch (attribute) {
    case cuda_device_major: *value = state.major; return 0;
    case cuda_device_minor: *value = state.minor; return 0;
    case cuda_device_multiprocessors: *value = 4; return 0;
    case cuda_device_most_shared: *value = shared_limit; return 0;
    default: return wrong("an attribute that nobody asks for");
    }
}

int cuDevicePrimaryCtxRetain(void **context, int device)
{
    BEGIN("DevicePrimaryCtxRetain");
    *context = &contexts[device];
    atomic_fetch_add(&state.primaries, 1);
    return 0;
}

int cuDevicePrimaryCtxRelease_v2(int device)
{
    (void)device;
    if (atomic_fetch_sub(&state.primaries, 1) < 1) return wrong("a primary context released twice");
    return 0;
}

/* For tests: a context of the program's own. */
void *tfgen_double_context(int device) { return &contexts[most_devices + device]; }

int cuCtxGetCurrent(void **context)
{
    BEGIN("CtxGetCurrent");
    *context = depth ? stack[depth - 1] : NULL;
    return 0;
}

static const void *current(void) { return stack[depth - 1]; }
static int number_of(const void *context) { return (int)((const char *)context - contexts); }
static int device_of(const void *context) { return number_of(context) % most_devices; }

int cuCtxGetDevice(int *device)
{
    BEGIN_IN_CONTEXT("CtxGetDevice");
    *device = device_of(stack[depth - 1]);
    return 0;
}

int cuCtxPushCurrent_v2(void *context)
{
    BEGIN("CtxPushCurrent");
    if (depth == most_depth) return wrong("contexts pushed and never popped");
    stack[depth++] = context;
    return 0;
}

int cuCtxPopCurrent_v2(void **context)
{
    if (!depth) return wrong("no context to pop");
    *context = stack[--depth];
    return 0;
}

/* ---- memory */
int cuMemAlloc_v2(cuda_pointer *out, size_t bytes)
{
    BEGIN_IN_CONTEXT("MemAlloc");
    char *p = aligned_alloc(256, (bytes + 255) / 256 * 256);
    if (!p || !bytes) return wrong("no bytes asked for");
    pthread_mutex_lock(&lock);
    int i = 0;
    while (i < most_allocations && memory[i].low) i++;
    if (i < most_allocations) memory[i].low = p, memory[i].high = p + bytes;
    pthread_mutex_unlock(&lock);
    if (i == most_allocations) return cuda_out_of_memory;
    memset(p, 0xee, bytes);
    atomic_fetch_add(&state.allocations, 1);
    *out = (cuda_pointer)(uintptr_t)p;
    return 0;
}

static bool owned(cuda_pointer at, size_t bytes)
{
    const char *p = (const char *)(uintptr_t)at;
    bool found = false;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < most_allocations; i++) found = found || (memory[i].low && p >= memory[i].low && p + bytes <= memory[i].high);
    pthread_mutex_unlock(&lock);
    return found;
}

int cuMemFree_v2(cuda_pointer at)
{
    BEGIN_IN_CONTEXT("MemFree");
    char *p = (char *)(uintptr_t)at, *low = NULL;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < most_allocations; i++)
        if (memory[i].low == p) low = p, memory[i].low = NULL;
    pthread_mutex_unlock(&lock);
    if (!low) return wrong("memory freed that is not allocated");
    free(low);
    atomic_fetch_sub(&state.allocations, 1);
    return 0;
}

static stream null_streams[most_contexts]; /* by context: what a NULL stream means there */
static stream *stream_at(void *s) { return s ? s : &null_streams[number_of(current())]; }
static bool is_foreign(const void *s) { return s && ((const stream *)s)->context != current(); }
static bool captures(void *s) { return s && ((stream *)s)->capturing; }

int cuMemcpyHtoDAsync_v2(cuda_pointer to, const void *from, size_t bytes, void *s)
{
    BEGIN_IN_CONTEXT("Memcpy");
    if (captures(s)) return bad_capture;
    if (!owned(to, bytes)) return wrong("a copy to memory that is not the device's");
    memcpy((void *)(uintptr_t)to, from, bytes);
    return 0;
}

int cuMemcpyDtoHAsync_v2(void *to, cuda_pointer from, size_t bytes, void *s)
{
    BEGIN_IN_CONTEXT("Memcpy");
    if (captures(s)) return bad_capture;
    if (!owned(from, bytes)) return wrong("a copy from memory that is not the device's");
    memcpy(to, (void *)(uintptr_t)from, bytes);
    return 0;
}

int cuMemcpyDtoDAsync_v2(cuda_pointer to, cuda_pointer from, size_t bytes, void *s)
{
    BEGIN_IN_CONTEXT("Memcpy");
    if (captures(s)) return bad_capture;
    if (!owned(to, bytes) || !owned(from, bytes)) return wrong("a copy between memory that is not the device's");
    memmove((void *)(uintptr_t)to, (void *)(uintptr_t)from, bytes);
    return 0;
}

int cuMemsetD8Async(cuda_pointer at, unsigned char byte, size_t bytes, void *s)
{
    BEGIN_IN_CONTEXT("MemsetD8Async");
    if (captures(s)) return bad_capture;
    if (!owned(at, bytes)) return wrong("a fill of memory that is not the device's");
    memset((void *)(uintptr_t)at, byte, bytes);
    return 0;
}

/* ---- code */
int cuModuleLoadData(void **module, const void *image)
{
    BEGIN_IN_CONTEXT("ModuleLoadData");
    const double_image *i = image;
    if (strcmp(i->magic, "double of cubin") != 0) return invalid_image;
    double_image *copy = malloc(sizeof *copy);
    if (!copy) return cuda_out_of_memory;
    *copy = *i;
    *module = copy;
    atomic_fetch_add(&state.modules, 1);
    return 0;
}

static function functions[256];
static atomic_int function_count;

int cuModuleUnload(void *module)
{
    BEGIN_IN_CONTEXT("ModuleUnload");
    for (int i = 0; i < atomic_load(&function_count); i++)
        if (functions[i].image == module) functions[i].image = NULL;
    free(module);
    atomic_fetch_sub(&state.modules, 1);
    return 0;
}

int cuModuleGetFunction(void **out, void *module, const char *name)
{
    BEGIN_IN_CONTEXT("ModuleGetFunction");
    const double_image *i = module;
    if (strcmp(i->kernel, name) != 0) return not_found;
    pthread_mutex_lock(&lock);
    int at = 0;
    while (at < atomic_load(&function_count) && functions[at].image) at++;
    if (at == atomic_load(&function_count)) atomic_fetch_add(&function_count, 1);
    functions[at] = (function){.image = i, .context = current()};
    pthread_mutex_unlock(&lock);
    *out = &functions[at];
    return at < 256 ? 0 : cuda_out_of_memory;
}

int cuFuncLoad(void *f)
{
    ((function *)f)->loaded = true;
    return 0;
}

int cuFuncSetAttribute(void *f, int attribute, int value)
{
    BEGIN_IN_CONTEXT("FuncSetAttribute");
    if (attribute != cuda_function_dynamic_shared || value < 0 || value > shared_limit) return invalid_value;
    ((function *)f)->dynamic_bytes = (unsigned)value;
    return 0;
}

int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *f, int threads, size_t dynamic_bytes)
{
    BEGIN_IN_CONTEXT("OccupancyMaxActiveBlocksPerMultiprocessor");
    if (threads < 1 || dynamic_bytes > ((function *)f)->dynamic_bytes) return invalid_value;
    *blocks = state.resident;
    return 0;
}

/* ---- launches */
static int record(double_launch *at, const function *f, unsigned grid, unsigned block, unsigned shared, void *s, void **params)
{
    *at = (double_launch){f->image->kernel, grid, block, shared, f->image->argument_bytes, 0, 0, 0, s, stack[depth - 1], {0}};
    if (at->argument_bytes > double_most_arguments) return wrong("more arguments than the double records");
    memcpy(at->arguments, params[0], at->argument_bytes);
    return 0;
}

static int launch(const function *f, const unsigned grid[3], const unsigned block[3], unsigned shared, void *s, void **params,
                  int cooperative, int overlap)
{
    BEGIN_IN_CONTEXT("LaunchKernel");
    if (f < functions || f >= functions + 256 || !f->image) return wrong("a kernel of a module that is gone");
    if (f->context != current() || is_foreign(s)) return invalid_handle;
    if (!f->loaded && captures(s)) return wrong("a kernel first loaded inside a capture");
    if (grid[1] != 1 || grid[2] != 1 || block[1] != 1 || block[2] != 1 || !grid[0] || grid[0] > 0x7fffffff) return invalid_value;
    if (block[0] != f->image->threads || shared + f->image->shared_bytes > shared_limit) return invalid_value;
    if (shared > 48 * 1024 - f->image->shared_bytes && shared > f->dynamic_bytes) return invalid_value;
    if (cooperative && grid[0] > 4 * (unsigned)state.resident) return 720; /* too large */
    const bool capture = captures(s);
    if (cooperative && !capture) {
        int *count = &cooperative_launches[number_of(current())];
        sched_yield(); /* yields to a thread that would launch out of order */
        pthread_mutex_lock(&lock);
        const bool in_order = stream_at(s)->ordered == *count;
        stream_at(s)->ordered = ++*count;
        pthread_mutex_unlock(&lock);
        if (!in_order) return wrong("cooperative launches of two streams that may run at once");
    }
    graph *g = capture ? ((stream *)s)->graph : NULL;
    const int at = capture ? g->count++ : atomic_fetch_add(&state.launched, 1);
    if (at >= (capture ? most_nodes : double_most_launches)) return wrong("more launches than the double records");
    if (capture) atomic_fetch_add(&state.captured, 1);
    double_launch *l = capture ? &g->nodes[at] : &state.launches[at];
    const int code = record(l, f, grid[0], block[0], shared, s, params);
    l->cooperative = cooperative, l->overlap = overlap, l->waits = atomic_load(&state.waits);
    return code;
}

int cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, void *s,
                   void **params, void **extra)
{
    if (extra) return wrong("extra arguments");
    return launch(f, (unsigned[]){gx, gy, gz}, (unsigned[]){bx, by, bz}, shared, s, params, 0, 0);
}

int cuLaunchKernelEx(const cuda_launch_config *c, void *f, void **params, void **extra)
{
    int cooperative = 0, overlap = 0;
    if (extra) return wrong("extra arguments");
    for (unsigned i = 0; i < c->attribute_count; i++) {
        const int id = c->attributes[i].id, number = c->attributes[i].value.number;
        if (id == cuda_attribute_cooperative) cooperative = number;
        else if (id == cuda_attribute_programmatic_serialization) overlap = number;
        else return invalid_value;
    }
    if (overlap && cooperative) return wrong("a cooperative launch that overlaps");
    if (overlap && state.version < 12030 && captures(c->stream)) return bad_capture;
    return launch(f, (unsigned[]){c->grid_x, c->grid_y, c->grid_z}, (unsigned[]){c->block_x, c->block_y, c->block_z}, c->shared_bytes,
                  c->stream, params, cooperative, overlap);
}

int cuTensorMapEncodeTiled(void *map, int type, uint32_t rank, void *address, const uint64_t *dims, const uint64_t *strides,
                           const uint32_t *box, const uint32_t *steps, int interleave, int swizzle, int promotion, int fill)
{
    BEGIN_IN_CONTEXT("TensorMapEncodeTiled");
    double_map m = {.magic = "map",
                    .type = type,
                    .swizzle = swizzle,
                    .promotion = promotion,
                    .rank = (int)rank,
                    .address = (unsigned long long)(uintptr_t)address};
    if ((uintptr_t)map % 64 || (uintptr_t)address % 16 || rank < 2 || rank > 4 || interleave || fill) return invalid_value;
    for (uint32_t i = 0; i < rank; i++) {
        if (!dims[i] || dims[i] > 1ull << 32 || !box[i] || box[i] > 256 || steps[i] != 1) return invalid_value;
        m.sizes[i] = dims[i], m.box[i] = box[i];
    }
    for (uint32_t i = 0; i + 1 < rank; i++) {
        if (strides[i] % 16 || strides[i] >= 1ull << 40) return invalid_value;
        m.strides[i] = strides[i];
    }
    if (swizzle == cuda_map_swizzle_128 && box[0] * (type == cuda_map_f32 ? 4 : 2) > 128) return invalid_value;
    memset(map, 0, 128);
    memcpy(map, &m, sizeof m);
    atomic_fetch_add(&state.encodes, 1);
    return 0;
}

/* ---- streams, events, graphs */
static stream *spare;

int cuStreamCreate(void **out, unsigned flags)
{
    (void)flags;
    BEGIN_IN_CONTEXT("StreamCreate");
    static atomic_ullong ids;
    pthread_mutex_lock(&lock);
    stream *s = spare ? spare : malloc(sizeof *s); /* handles are reused, numbers are not */
    spare = NULL;
    pthread_mutex_unlock(&lock);
    if (!s) return cuda_out_of_memory;
    *s = (stream){.magic = "stream", .id = atomic_fetch_add(&ids, 1) + 1, .context = current()};
    *out = s;
    atomic_fetch_add(&state.streams, 1);
    return 0;
}

int cuStreamDestroy_v2(void *s)
{
    atomic_fetch_sub(&state.streams, 1);
    pthread_mutex_lock(&lock);
    free(spare);
    spare = s;
    pthread_mutex_unlock(&lock);
    return 0;
}

int cuStreamSynchronize(void *s)
{
    BEGIN_IN_CONTEXT("StreamSynchronize");
    if (captures(s)) return bad_capture;
    atomic_fetch_add(&state.waits, 1);
    return 0;
}

typedef struct event {
    struct timespec time;
    const void *context;
    int ordered; /* the `ordered` of its stream when it was recorded */
    bool captured;
} event;

int cuEventCreate(void **out, unsigned flags)
{
    (void)flags;
    BEGIN_IN_CONTEXT("EventCreate");
    event *e = calloc(1, sizeof *e);
    if (!e) return cuda_out_of_memory;
    e->context = current();
    *out = e;
    atomic_fetch_add(&state.events, 1);
    return 0;
}

int cuEventDestroy_v2(void *event)
{
    atomic_fetch_sub(&state.events, 1);
    free(event);
    return 0;
}

int cuEventRecord(void *at, void *s)
{
    BEGIN_IN_CONTEXT("EventRecord");
    event *e = at;
    if (e->context != current() || is_foreign(s)) return invalid_handle;
    pthread_mutex_lock(&lock);
    clock_gettime(CLOCK_MONOTONIC, &e->time);
    e->ordered = stream_at(s)->ordered;
    e->captured = captures(s);
    pthread_mutex_unlock(&lock);
    return 0;
}

int cuStreamWaitEvent(void *s, void *at, unsigned flags)
{
    BEGIN_IN_CONTEXT("StreamWaitEvent");
    const event *e = at;
    if (flags || captures(s) != e->captured) return wrong("a wait for an event from outside of a capture, or from inside");
    pthread_mutex_lock(&lock);
    if (stream_at(s)->ordered < e->ordered && e->context == current()) stream_at(s)->ordered = e->ordered;
    pthread_mutex_unlock(&lock);
    atomic_fetch_add(&state.event_waits, 1);
    return 0;
}

int cuStreamIsCapturing(void *s, int *status)
{
    BEGIN_IN_CONTEXT("StreamIsCapturing");
    *status = captures(s);
    return 0;
}

int cuStreamGetId(void *s, unsigned long long *id)
{
    BEGIN_IN_CONTEXT("StreamGetId");
    *id = stream_at(s)->id;
    return 0;
}

int cuEventSynchronize(void *event)
{
    BEGIN_IN_CONTEXT("EventSynchronize");
    return event ? 0 : invalid_handle;
}

int cuEventElapsedTime(float *milliseconds, void *start, void *end)
{
    BEGIN_IN_CONTEXT("EventElapsedTime");
    const struct timespec *s = &((event *)start)->time, *e = &((event *)end)->time;
    *milliseconds = 1e3f * (float)(e->tv_sec - s->tv_sec) + 1e-6f * (float)(e->tv_nsec - s->tv_nsec);
    return 0;
}

int cuStreamBeginCapture_v2(void *s, int mode)
{
    (void)mode;
    BEGIN_IN_CONTEXT("StreamBeginCapture");
    stream *one = s;
    if (!one || one->capturing) return bad_capture; /* the default stream cannot be captured */
    one->graph = calloc(1, sizeof *one->graph);
    one->capturing = one->graph != NULL;
    return one->capturing ? 0 : cuda_out_of_memory;
}

int cuStreamEndCapture(void *s, void **out)
{
    BEGIN_IN_CONTEXT("StreamEndCapture");
    stream *one = s;
    if (!captures(s)) return bad_capture;
    one->capturing = false;
    *out = one->graph;
    one->graph = NULL;
    atomic_fetch_add(&state.graphs, 1);
    return 0;
}

int cuGraphInstantiateWithFlags(void **out, void *g, unsigned long long flags)
{
    BEGIN_IN_CONTEXT("GraphInstantiate");
    graph *copy = flags ? NULL : malloc(sizeof *copy);
    if (!copy) return invalid_value;
    *copy = *(graph *)g;
    *out = copy;
    atomic_fetch_add(&state.graphs, 1);
    return 0;
}

int cuGraphLaunch(void *executable, void *s)
{
    BEGIN_IN_CONTEXT("GraphLaunch");
    const graph *g = executable;
    for (int i = 0; i < g->count; i++) {
        const int at = atomic_fetch_add(&state.launched, 1);
        if (at >= double_most_launches) return wrong("more launches than the double records");
        state.launches[at] = g->nodes[i];
        state.launches[at].stream = s;
    }
    atomic_fetch_add(&state.replays, 1);
    return 0;
}

int cuGraphExecDestroy(void *g)
{
    atomic_fetch_sub(&state.graphs, 1);
    free(g);
    return 0;
}

int cuGraphDestroy(void *g)
{
    atomic_fetch_sub(&state.graphs, 1);
    free(g);
    return 0;
}
