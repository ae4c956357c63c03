/* In: the environment. Out: the double's devices as HIP describes them, the current device of each thread, error names, planned faults, and
 * the list of violations. Refuses ordinals that do not exist. */
#define _GNU_SOURCE
#include "tests/doubles/hip_double.h"
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static state all;
static _Thread_local int current;
static int violations;
static char violation_text[600], told_text[600];
static struct {
    char call[64];
    int left, code;
} fault;

/* ---- devices */
typedef struct part {
    const char *arch, *label;
    unsigned units, lds, wave;
} part;
static const part parts[] = {
    {"gfx90a:sramecc+:xnack-", "AMD Instinct MI210", 104, 65536, 64}, {"gfx942:sramecc+:xnack-", "AMD Instinct MI300X", 304, 65536, 64},
    {"gfx950:sramecc+:xnack-", "AMD Instinct MI355X", 256, 163840, 64}, {"gfx1100", "AMD Radeon RX 7900 XTX", 48, 65536, 32},
    {"gfx1101", "AMD Radeon RX 7800 XT", 30, 65536, 32}, {"gfx1201", "AMD Radeon RX 9070 XT", 32, 65536, 32},
    {"gfx906:sramecc+:xnack-", "AMD Instinct MI50", 60, 65536, 64}};

static const part *part_of(const char *arch, size_t length)
{
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strcspn(parts[i].arch, ":") == length && !strncmp(parts[i].arch, arch, length)) return &parts[i];
    return NULL;
}

/* 9.0.10 is gfx90a. */
static void override_arch(device *d, const char *version)
{
    unsigned major, minor, step;
    char arch[32];
    if (!version || sscanf(version, "%u.%u.%u", &major, &minor, &step) != 3) return;
    snprintf(arch, sizeof arch, "gfx%u%x%x", major, minor, step);
    const part *p = part_of(arch, strlen(arch));
    snprintf(d->arch, sizeof d->arch, "%s", p ? p->arch : arch);
}

static void add_device(const char *arch, size_t length)
{
    const part *p = part_of(arch, length);
    const char *memory = getenv("TFGEN_DOUBLE_MEMORY");
    device *d = &all.devices[all.count];
    if (!p || all.count == most_devices) return;
    *d = (device){.ordinal = all.count++, .units = p->units, .most_lds = p->lds, .wave = p->wave, .arena_file = -1,
                  .memory = memory ? strtoull(memory, NULL, 10) : (size_t)4 << 30};
    snprintf(d->arch, sizeof d->arch, "%s", p->arch);
    snprintf(d->label, sizeof d->label, "%s", p->label);
    override_arch(d, getenv("HSA_OVERRIDE_GFX_VERSION"));
    d->null_stream = (stream){.magic = "stream", .blocking = true, .ops = {.last = NULL}};
}

/* As ROCm: a list of ordinals ends at the first that does not exist. */
static void keep_visible(const char *list)
{
    device kept[most_devices];
    int count = 0;
    for (const char *p = list; p && *p;) {
        char *end;
        const long n = strtol(p, &end, 10);
        if (end == p || n < 0 || n >= all.count || count == most_devices) break;
        kept[count] = all.devices[n];
        kept[count].ordinal = count;
        count++;
        p = *end == ',' ? end + 1 : "";
    }
    if (!list) return;
    memcpy(all.devices, kept, (size_t)count * sizeof *kept);
    all.count = count;
}

static void make_devices(void)
{
    const char *list = getenv("TFGEN_DOUBLE_DEVICES"), *version = getenv("TFGEN_DOUBLE_VERSION"), *visible = getenv("HIP_VISIBLE_DEVICES");
    for (const char *p = list ? list : "gfx90a"; *p;) {
        const size_t n = strcspn(p, ",");
        add_device(p, n);
        p += n + (p[n] == ',');
    }
    keep_visible(getenv("ROCR_VISIBLE_DEVICES"));
    keep_visible(visible ? visible : getenv("CUDA_VISIBLE_DEVICES"));
    for (int i = 0; i < all.count; i++) {
        all.devices[i].null_stream.device = &all.devices[i];
        if (!memory_open(&all.devices[i])) all.count = i;
    }
    all.version = version ? atoi(version) : 60342133;
    if (getenv("TFGEN_DOUBLE_FAULT")) hip_double_fault(getenv("TFGEN_DOUBLE_FAULT"));
}

state *double_state(void) { return &all; }
device *current_device(void) { return &all.devices[current < all.count ? current : 0]; }

/* ---- entry and exit of every call */
EXPORT void hip_double_fault(const char *text)
{
    fault.left = 0;
    if (text && sscanf(text, "%63[^:]:%d:%d", fault.call, &fault.left, &fault.code) < 2) fault.left = 0;
}

bool fault_due(const char *kind) { return fault.left > 0 && !strcmp(fault.call, kind) && --fault.left == 0; }

/* For calls that do not use the current device, which may be lost. */
static int begin_any(const char *call)
{
    pthread_once(&once, make_devices);
    pthread_mutex_lock(&lock);
    if (fault_due(call)) return fault.code;
    return all.count ? hip_success : hip_no_device;
}

int double_begin(const char *call)
{
    const int code = begin_any(call);
    return code ? code : current_device()->sticky;
}

int double_end(int code)
{
    pthread_mutex_unlock(&lock);
    return code;
}

void violate(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    if (!violations++) vsnprintf(violation_text, sizeof violation_text, format, list);
    va_end(list);
}

EXPORT const char *hip_double_violations(void)
{
    pthread_mutex_lock(&lock);
    const bool any = violations > 0;
    if (any) memcpy(told_text, violation_text, sizeof told_text);
    violations = 0;
    pthread_mutex_unlock(&lock);
    return any ? told_text : NULL;
}

static __attribute__((destructor)) void tell_the_rest(void)
{
    if (violations) fprintf(stderr, "double of HIP: %d violations, the first: %s\n", violations, violation_text);
}

EXPORT long hip_double_launches(void) { return all.launches; }

EXPORT int hip_double_live(void)
{
    int live = 0;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < all.count; i++) {
        if (all.devices[i].sticky) continue;
        live += memory_live(&all.devices[i]);
        for (const stream *s = all.devices[i].streams; s; s = s->next) live++;
    }
    for (const module *m = all.modules; m; m = m->next) live += m->device && !m->device->sticky;
    for (const event *e = all.events; e; e = e->next) live += !e->device->sticky;
    for (const graph *g = all.graphs; g; g = g->next) live += !g->device->sticky;
    pthread_mutex_unlock(&lock);
    return live;
}

/* ---- the calls */
EXPORT int hipGetDeviceCount(int *count)
{
    const int code = begin_any("hipGetDeviceCount");
    *count = code ? 0 : all.count;
    return double_end(code);
}

EXPORT int hipGetDevice(int *ordinal)
{
    const int code = begin_any("hipGetDevice");
    *ordinal = current;
    return double_end(code);
}

EXPORT int hipSetDevice(int ordinal)
{
    int code = begin_any("hipSetDevice");
    if (!code && (ordinal < 0 || ordinal >= all.count)) code = hip_invalid_device;
    if (!code) current = ordinal;
    return double_end(code);
}

static int device_at(int ordinal, device **d)
{
    if (ordinal < 0 || ordinal >= all.count) return hip_invalid_device;
    *d = &all.devices[ordinal];
    return (*d)->sticky;
}

EXPORT int hipDeviceGetName(char *name, int size, int ordinal)
{
    device *d;
    int code = begin_any("hipDeviceGetName");
    if (!code && !(code = device_at(ordinal, &d))) snprintf(name, (size_t)size, "%s", d->label);
    return double_end(code);
}

EXPORT int hipDeviceTotalMem(size_t *bytes, int ordinal)
{
    device *d;
    int code = begin_any("hipDeviceTotalMem");
    if (!code && !(code = device_at(ordinal, &d))) *bytes = d->memory;
    return double_end(code);
}

EXPORT int hipDeviceGetAttribute(int *value, int attribute, int ordinal)
{
    device *d;
    int code = begin_any("hipDeviceGetAttribute");
    if (code || (code = device_at(ordinal, &d))) return double_end(code);
    switch (attribute) {
    case hip_attribute_cooperative_launch: *value = 1; break;
    case hip_attribute_most_threads: *value = 1024; break;
    case hip_attribute_multiprocessors: *value = (int)d->units; break;
    case hip_attribute_most_shared: *value = (int)d->most_lds; break;
    case hip_attribute_wave: *value = (int)d->wave; break;
    default: code = hip_invalid_value; violate("hipDeviceGetAttribute: attribute %d", attribute);
    }
    return double_end(code);
}

static int properties(const char *call, char *to, int ordinal, size_t size, size_t arch_at)
{
    device *d;
    int code = begin_any(call);
    if (code || (code = device_at(ordinal, &d))) return double_end(code);
    memset(to, 0x11, size); /* numbers that nobody uses */
    memset(to, 0, 256);
    memcpy(to, d->label, strlen(d->label));
    memset(to + arch_at, 0, 256);
    memcpy(to + arch_at, d->arch, strlen(d->arch));
    return double_end(0);
}

#ifndef HIP_DOUBLE_ROCM5
EXPORT int hipGetDevicePropertiesR0600(void *to, int ordinal)
{
    return properties("hipGetDeviceProperties", to, ordinal, hip_properties_size, hip_arch_name_offset);
}
#endif

EXPORT int hipGetDeviceProperties(void *to, int ordinal)
{
    return properties("hipGetDeviceProperties", to, ordinal, hip_properties_size_5, hip_arch_name_offset_5);
}

EXPORT int hipRuntimeGetVersion(int *version)
{
    const int code = begin_any("hipRuntimeGetVersion");
    *version = all.version;
    return double_end(code == hip_no_device ? 0 : code);
}

typedef struct error_text {
    int code;
    const char *name, *text;
} error_text;
static const error_text errors[] = {
    {hip_success, "hipSuccess", "no error"},
    {hip_invalid_value, "hipErrorInvalidValue", "invalid argument"},
    {hip_out_of_memory, "hipErrorOutOfMemory", "out of memory"},
    {hip_invalid_configuration, "hipErrorInvalidConfiguration", "invalid configuration argument"},
    {hip_no_device, "hipErrorNoDevice", "no ROCm-capable device is detected"},
    {hip_invalid_device, "hipErrorInvalidDevice", "invalid device ordinal"},
    {hip_invalid_image, "hipErrorInvalidImage", "device kernel image is invalid"},
    {hip_no_binary_for_gpu, "hipErrorNoBinaryForGpu", "no kernel image is available for execution on the device"},
    {hip_invalid_handle, "hipErrorInvalidHandle", "invalid resource handle"},
    {hip_not_found, "hipErrorNotFound", "named symbol not found"},
    {hip_illegal_address, "hipErrorIllegalAddress", "an illegal memory access was encountered"},
    {hip_launch_out_of_resources, "hipErrorLaunchOutOfResources", "out of resources at launch"},
    {hip_launch_failure, "hipErrorLaunchFailure", "unspecified launch failure"},
    {hip_cooperative_launch_too_large, "hipErrorCooperativeLaunchTooLarge", "too many blocks in cooperative launch"},
    {hip_capture_unsupported, "hipErrorStreamCaptureUnsupported", "operation not permitted when stream is capturing"},
    {hip_capture_invalidated, "hipErrorStreamCaptureInvalidated", "operation failed due to a previous error during capture"},
    {hip_capture_unmatched, "hipErrorStreamCaptureUnmatched", "capture was not initiated in this stream"}};

static const error_text *error_of(int code)
{
    static const error_text unknown = {999, "hipErrorUnknown", "unknown error"};
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].code == code) return &errors[i];
    return &unknown;
}

EXPORT const char *hipGetErrorName(int code) { return error_of(code)->name; }
EXPORT const char *hipGetErrorString(int code) { return error_of(code)->text; }
