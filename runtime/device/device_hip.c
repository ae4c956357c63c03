/* The device table for HIP. The installed ROCm's runtime is opened at run time (libamdhip64.so.7, .6, .5, or the file that TFGEN_LIBHIP
 * names). Each call makes the device current and then restores the caller's. Errors name HIP's call and HIP's error; code for another
 * architecture is refused before the driver sees it. */
#define _GNU_SOURCE
#include "runtime/compile/codeobject.h"
#include "runtime/device/device.h"
#include "runtime/device/hip_abi.h"
#include "runtime/device/order.h"
#include "runtime/system/input.h"
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct library {
#define HIP_CALL(name, arguments) int(*name) arguments;
    HIP_CALLS(HIP_CALL, HIP_CALL)
#undef HIP_CALL
    const char *(*GetErrorName)(int code);
    const char *(*GetErrorString)(int code);
} library;

typedef struct hip_machine {
    tfgen_device device;
    library hip;
    int id;
    launch_order *order; /* of cooperative launches of the device */
} hip_machine;

typedef struct hip_kernel {
    hip_function function;
    struct hip_kernel *next;
    char name[];
} hip_kernel;

typedef struct hip_image {
    hip_module module;
    hip_kernel *kernels;
} hip_image;

static hip_machine *machine_of(tfgen_device *d) { return (hip_machine *)d; }

/* ---- the library. It is never unloaded: HIP keeps threads of its own. */
static void *open_file(char *why, size_t why_size)
{
    static const char *const names[] = {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so"};
    const char *own = secure_getenv("TFGEN_LIBHIP"), *const roots[] = {"", secure_getenv("ROCM_PATH"), secure_getenv("HIP_PATH"),
                                                                       "/opt/rocm"};
    char refusal[400];
    if (own && *own) {
        void *library = input_library(own, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE, refusal, sizeof refusal);
        if (!library) snprintf(why, why_size, "TFGEN_LIBHIP cannot be opened: %s", refusal);
        return library;
    }
    if (access("/dev/kfd", F_OK) && access("/dev/dxg", F_OK)) { /* no GPU can be found, and ROCm takes long to report that */
        snprintf(why, why_size,
                 "there is no /dev/kfd: no AMD GPU, or its kernel module amdgpu is not loaded (a container needs --device=/dev/kfd "
                 "--device=/dev/dri)");
        return NULL;
    }
    for (size_t r = 0; r < sizeof roots / sizeof *roots; r++)
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            char path[512];
            if (!roots[r] || snprintf(path, sizeof path, "%s%s%s", roots[r], *roots[r] ? "/lib/" : "", names[i]) >= (int)sizeof path)
                continue;
            void *library = input_library(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE, refusal, sizeof refusal);
            if (library) return library;
        }
    snprintf(why, why_size, "the HIP runtime libamdhip64 is not installed (ROCm's hip-runtime-amd; Debian: apt install libamdhip64-5)");
    return NULL;
}

static bool open_library(library *hip, char *why, size_t why_size)
{
    static const struct {
        const char *symbol;
        size_t slot;
        bool optional;
    } wanted[] = {
#define HIP_CALL(name, arguments) {"hip" #name, offsetof(library, name), false},
#define HIP_MAYBE(name, arguments) {"hip" #name, offsetof(library, name), true},
        HIP_CALLS(HIP_CALL, HIP_MAYBE)
#undef HIP_CALL
#undef HIP_MAYBE
        {"hipGetErrorName", offsetof(library, GetErrorName), false}, {"hipGetErrorString", offsetof(library, GetErrorString), false}};
    void *file = open_file(why, why_size);
    if (!file) return false;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        void *found = dlsym(file, wanted[i].symbol);
        memcpy((char *)hip + wanted[i].slot, &found, sizeof found);
        if (found || wanted[i].optional) continue;
        snprintf(why, why_size, "the HIP runtime is too old: it has no %s; ROCm 5 or later is needed", wanted[i].symbol);
        return false;
    }
    return true;
}

static tfgen_status check(const library *hip, int code, const char *call, const char *what, tfgen_error *error)
{
    if (code == hip_success) return TFGEN_OK;
    const char *name = hip->GetErrorName(code), *text = hip->GetErrorString(code);
    const tfgen_status status = code == hip_out_of_memory ? TFGEN_NO_MEMORY : code == hip_no_binary_for_gpu ? TFGEN_UNSUPPORTED
                                                                                                            : TFGEN_DEVICE_ERROR;
    return device_report(error, status, "%s%s%s: %s (%d): %s", call, *what ? " " : "", what, name ? name : "unknown error", code,
                         text ? text : "");
}

/* ---- the current device, which belongs to the calling thread */
static int enter(const hip_machine *m, int *before)
{
    const int code = m->hip.GetDevice(before);
    return code == hip_success && *before != m->id ? m->hip.SetDevice(m->id) : code;
}

static void leave(const hip_machine *m, int before)
{
    if (before != m->id) m->hip.SetDevice(before);
}

/* Calls `expression` with the device current. */
#define ON_DEVICE(m, code, expression)                                                                                                     \
    do {                                                                                                                                   \
        int before = (m)->id;                                                                                                              \
        code = enter(m, &before);                                                                                                          \
        if (code == hip_success) code = (expression);                                                                                      \
        leave(m, before);                                                                                                                  \
    } while (0)

/* ---- devices */
static const char *hiding_variable(void)
{
    static const char *const names[] = {"HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (secure_getenv(names[i])) return names[i];
    return NULL;
}

/* Why the library was opened but reports no device. */
static void explain_none(const library *hip, int code, char *why, size_t why_size)
{
    const char *variable = hiding_variable();
    const int file = access("/dev/kfd", R_OK | W_OK) ? errno : 0;
    const char *name = code == hip_success ? "no device" : hip->GetErrorName(code);
    if (variable)
        snprintf(why, why_size, "hipGetDeviceCount: %s: %s=%s hides every GPU, or there is none", name, variable, secure_getenv(variable));
    else if (file == EACCES)
        snprintf(why, why_size, "hipGetDeviceCount: %s: /dev/kfd may not be opened by this user (add it to the groups render and video)",
                 name);
    else
        snprintf(why, why_size, "hipGetDeviceCount: %s (%d): %s", name, code,
                 file ? "there is no /dev/kfd: no AMD GPU, or its kernel module amdgpu "
                        "is not loaded"
                      : hip->GetErrorString(code));
}

static int count_of(const library *hip, char *why, size_t why_size)
{
    int count = 0;
    const int code = hip->GetDeviceCount(&count);
    if (code == hip_success && count > 0) return count;
    explain_none(hip, code, why, why_size);
    return 0;
}

static int hip_count(char *why, size_t why_size)
{
    library hip;
    char unread[8];
    if (!why || !why_size) why = unread, why_size = sizeof unread;
    return open_library(&hip, why, why_size) ? count_of(&hip, why, why_size) : 0;
}

/* Length of an architecture that begins at s, such as "gfx90a:sramecc+:xnack-", and is followed by a NUL; 0: none does. */
static size_t arch_length(const char *s, size_t room)
{
    size_t n = 3;
    if (room < 8 || memcmp(s, "gfx", 3)) return 0;
    n += strspn(s + n, "0123456789abcdef");
    if (n < 6) return 0;
    while (s[n] == ':') {
        const size_t word = strspn(s + n + 1, "abcdefghijklmnopqrstuvwxyz0123456789");
        if (!word || (s[n + 1 + word] != '+' && s[n + 1 + word] != '-')) return 0;
        n += word + 2;
    }
    return s[n] ? 0 : n;
}

/* The layout of hipDeviceProp_t differs between major versions of ROCm: searches it for the only string of an architecture's form. */
static bool find_arch(const hip_machine *m, char *arch, size_t size)
{
    enum { room = 16384, name = 256 };
    char *properties = calloc(1, room);
    int (*get)(void *, int) = m->hip.GetDevicePropertiesR0600 ? m->hip.GetDevicePropertiesR0600 : m->hip.GetDeviceProperties;
    bool found = false;
    if (properties && get && get(properties, m->id) == hip_success)
        for (size_t i = name; i + size < room && !found; i++) {
            const size_t length = arch_length(properties + i, room - i);
            found = length && length < size;
            if (found) memcpy(arch, properties + i, length + 1);
        }
    free(properties);
    return found;
}

static const char *target_of(const char *arch)
{
    char base[64];
    snprintf(base, sizeof base, "%.*s", (int)strcspn(arch, ":"), arch);
    const target_info *target = target_of_machine(base);
    return target ? target->name : "";
}

static tfgen_status describe(hip_machine *m, tfgen_error *error)
{
    tfgen_device_info *info = &m->device.info;
    const char *pretends = secure_getenv("HSA_OVERRIDE_GFX_VERSION");
    char label[sizeof info->label] = "";
    size_t bytes = 0;
    *info = (tfgen_device_info){.size = sizeof *info};
    int code = m->hip.DeviceGetName(label, sizeof label, m->id);
    if (code != hip_success) return check(&m->hip, code, "hipDeviceGetName", "", error);
    if ((code = m->hip.DeviceTotalMem(&bytes, m->id)) != hip_success) return check(&m->hip, code, "hipDeviceTotalMem", "", error);
    if ((code = m->hip.DeviceGetAttribute(&info->multiprocessors, hip_attribute_multiprocessors, m->id)) != hip_success)
        return check(&m->hip, code, "hipDeviceGetAttribute", "", error);
    if (!find_arch(m, info->arch, sizeof info->arch))
        return device_report(error, TFGEN_DEVICE_ERROR, "hipGetDeviceProperties does not name the architecture of hip:%d", m->id);
    snprintf(info->name, sizeof info->name, "hip:%d", m->id);
    if (pretends && *pretends)
        snprintf(info->label, sizeof info->label, "%.40s (HSA_OVERRIDE_GFX_VERSION=%.20s)", *label ? label : "AMD GPU", pretends);
    else snprintf(info->label, sizeof info->label, "%s", *label ? label : "AMD GPU");
    snprintf(info->target, sizeof info->target, "%s", target_of(info->arch));
    info->memory_bytes = (int64_t)bytes;
    return TFGEN_OK;
}

static const order_calls order_of_hip; /* below */

static tfgen_status hip_open(int ordinal, tfgen_device **out, tfgen_error *error)
{
    hip_machine *m = calloc(1, sizeof *m);
    char why[300];
    tfgen_status status = TFGEN_OK;
    if (!m) return device_report(error, TFGEN_NO_MEMORY, "not enough memory");
    m->device.api = &hip_device;
    m->id = ordinal;
    if (!open_library(&m->hip, why, sizeof why)) status = device_report(error, TFGEN_UNSUPPORTED, "%s", why);
    else status = describe(m, error);
    if (status == TFGEN_OK && m->hip.DeviceGetPCIBusId &&
        m->hip.DeviceGetPCIBusId(m->device.bus, sizeof m->device.bus, m->id) != hip_success)
        m->device.bus[0] = '\0';
    if (status == TFGEN_OK && !(m->order = order_open(&order_of_hip, (const void *)(intptr_t)ordinal)))
        status = device_report(error, TFGEN_NO_MEMORY, "not enough memory");
    if (status == TFGEN_OK) *out = &m->device;
    else free(m);
    return status;
}

static void hip_close(tfgen_device *d)
{
    order_close(machine_of(d)->order, d);
    free(d);
}

/* ---- code */
/* HIP's own error for code of another GPU names neither architecture. */
static tfgen_status check_arch(const hip_machine *m, const void *code, size_t size, tfgen_error *error)
{
    codeobject object;
    char why[codeobject_error_size];
    const char *arch = m->device.info.arch;
    const unsigned char *inner;
    size_t inner_size;
    if (!codeobject_unbundle(code, size, arch, &inner, &inner_size))
        return device_report(error, TFGEN_UNSUPPORTED, "the code has no part for %s, which %s is", arch, m->device.info.name);
    if (!codeobject_read(inner, inner_size, &object, why)) return device_report(error, TFGEN_IO, "the code cannot be loaded: %s", why);
    const bool same = strlen(object.arch) == strcspn(arch, ":") && !strncmp(arch, object.arch, strlen(object.arch));
    if (!same) device_report(error, TFGEN_OK, "the code is for %s, %s is %s", object.arch, m->device.info.name, arch);
    codeobject_free(&object);
    return same ? TFGEN_OK : TFGEN_UNSUPPORTED;
}

/* The architecture is right but HIP refuses the code: most often the compiler is newer than the runtime. */
static tfgen_status too_new(const hip_machine *m, tfgen_error *error)
{
    int version = 0;
    if (m->hip.RuntimeGetVersion) m->hip.RuntimeGetVersion(&version);
    return device_report(error, TFGEN_UNSUPPORTED,
                         "hipModuleLoadData: hipErrorNoBinaryForGpu (%d): HIP %d.%d does not load this code for %s; clang's "
                         "needs ROCm 5.7 or later, TFGEN_CLANG=none compiles with ROCm's own HIPRTC",
                         hip_no_binary_for_gpu, version / 10000000, version / 100000 % 100, m->device.info.arch);
}

static tfgen_status hip_load(tfgen_device *d, const void *code, size_t size, void **image, tfgen_error *error)
{
    const hip_machine *m = machine_of(d);
    hip_image *made;
    int result;
    const tfgen_status status = check_arch(m, code, size, error);
    if (status != TFGEN_OK) return status;
    if (!(made = calloc(1, sizeof *made))) return device_report(error, TFGEN_NO_MEMORY, "not enough memory");
    ON_DEVICE(m, result, m->hip.ModuleLoadData(&made->module, code));
    if (result != hip_success) free(made);
    else *image = made;
    return result == hip_no_binary_for_gpu ? too_new(m, error) : check(&m->hip, result, "hipModuleLoadData", "", error);
}

/* Waits for launches of the image: not every version of HIP does so itself. */
static void hip_unload(tfgen_device *d, void *image)
{
    const hip_machine *m = machine_of(d);
    hip_image *i = image;
    int result;
    if (!i) return;
    ON_DEVICE(m, result, (m->hip.DeviceSynchronize(), m->hip.ModuleUnload(i->module)));
    (void)result;
    for (hip_kernel *k = i->kernels, *next; k; k = next) {
        next = k->next;
        free(k);
    }
    free(i);
}

static tfgen_status hip_kernel_of(tfgen_device *d, void *image, const char *name, unsigned dynamic_bytes, void **kernel, tfgen_error *error)
{
    const hip_machine *m = machine_of(d);
    hip_image *i = image;
    int result, most = 0;
    char symbol[symbol_room];
    hip_kernel *k = calloc(1, sizeof *k + strlen(name) + 1);
    if (!k) return device_report(error, TFGEN_NO_MEMORY, "not enough memory");
    strcpy(k->name, name);
    ON_DEVICE(m, result, m->hip.ModuleGetFunction(&k->function, i->module, kernel_symbol(name, symbol)));
    tfgen_status status = check(&m->hip, result, "hipModuleGetFunction", name, error);
    if (status == TFGEN_OK && dynamic_bytes && m->hip.DeviceGetAttribute(&most, hip_attribute_most_shared, m->id) == hip_success &&
        dynamic_bytes > (unsigned)most)
        status = device_report(error, TFGEN_UNSUPPORTED, "kernel %s asks for %u bytes of LDS; %s has %d", name, dynamic_bytes, d->info.name,
                               most);
    if (status != TFGEN_OK) {
        free(k);
        return status;
    }
    k->next = i->kernels;
    i->kernels = k;
    *kernel = k;
    return TFGEN_OK;
}

static tfgen_status hip_resident(tfgen_device *d, void *kernel, const launch_shape *s, unsigned *workgroups, tfgen_error *error)
{
    const hip_machine *m = machine_of(d);
    const hip_kernel *k = kernel;
    int each = 1, result;
    if (!m->hip.ModuleOccupancyMaxActiveBlocksPerMultiprocessor) return device_seats(d, each, s, workgroups, error); /* the launch checks */
    ON_DEVICE(m, result,
              m->hip.ModuleOccupancyMaxActiveBlocksPerMultiprocessor(&each, k->function, (int)s->threads, s->dynamic_bytes));
    if (result == hip_success) return device_seats(d, each, s, workgroups, error);
    return check(&m->hip, result, "hipModuleOccupancyMaxActiveBlocksPerMultiprocessor", k->name, error);
}

static tfgen_status hip_launch(tfgen_device *d, void *kernel, const launch_shape *shape, void *arguments, size_t bytes, void *stream,
                               tfgen_error *error)
{
    const hip_machine *m = machine_of(d);
    const hip_kernel *k = kernel;
    void *extra[] = {HIP_EXTRA_POINTER, arguments, HIP_EXTRA_SIZE, &bytes, HIP_EXTRA_END}, *parameters[] = {arguments};
    order_turn turn;
    int result;
    if (!shape->cooperative) {
        ON_DEVICE(m, result,
                  m->hip.ModuleLaunchKernel(k->function, shape->grid, 1, 1, shape->threads, 1, 1, shape->dynamic_bytes, stream, NULL,
                                            extra));
        return check(&m->hip, result, "hipModuleLaunchKernel", k->name, error);
    }
    if (!m->hip.ModuleLaunchCooperativeKernel)
        return device_report(error, TFGEN_UNSUPPORTED,
                             "kernel %s: this HIP runtime has no hipModuleLaunchCooperativeKernel; a newer ROCm has", k->name);
    tfgen_status status = order_begin(m->order, d, stream, &turn, error);
    if (status != TFGEN_OK) return status;
    ON_DEVICE(m, result,
              m->hip.ModuleLaunchCooperativeKernel(k->function, shape->grid, 1, 1, shape->threads, 1, 1, shape->dynamic_bytes, stream,
                                                   parameters));
    status = check(&m->hip, result, "hipModuleLaunchCooperativeKernel", k->name, error);
    return order_end(m->order, d, stream, &turn, status, error);
}

static tfgen_status no_maps(tfgen_device *d, void *map, const map_shape *shape, tfgen_error *error)
{
    (void)d, (void)map, (void)shape;
    return device_report(error, TFGEN_UNSUPPORTED, "AMD GPUs have no tensor maps");
}

/* ---- memory */
static tfgen_status hip_alloc(tfgen_device *d, size_t bytes, const char *name, void **memory, tfgen_error *error)
{
    const hip_machine *m = machine_of(d);
    char what[120];
    int result;
    ON_DEVICE(m, result, m->hip.Malloc(memory, bytes));
    snprintf(what, sizeof what, "of %zu bytes for %.60s", bytes, name);
    return check(&m->hip, result, "hipMalloc", what, error);
}

static void hip_free(tfgen_device *d, void *memory)
{
    const hip_machine *m = machine_of(d);
    int result;
    ON_DEVICE(m, result, m->hip.Free(memory));
    (void)result;
}

static bool is_capturing(const hip_machine *m, void *stream)
{
    int status = 0;
    return stream && m->hip.StreamIsCapturing(stream, &status) == hip_success && status != 0;
}

/* HIP does not document when it has read pageable host memory, so the copy waits before the caller may reuse it. */
static tfgen_status hip_copy(tfgen_device *d, void *to, const void *from, size_t bytes, tfgen_copy_kind kind, void *stream,
                             tfgen_error *error)
{
    static const int kinds[] = {[TFGEN_TO_DEVICE] = hip_host_to_device, [TFGEN_FROM_DEVICE] = hip_device_to_host,
                                [TFGEN_ON_DEVICE] = hip_device_to_device};
    const hip_machine *m = machine_of(d);
    int result;
    if (kind != TFGEN_ON_DEVICE && is_capturing(m, stream))
        return device_report(error, TFGEN_USAGE, "a copy to or from the host waits for its stream, which is being captured");
    ON_DEVICE(m, result, m->hip.MemcpyAsync(to, from, bytes, kinds[kind], stream));
    if (result != hip_success || kind == TFGEN_ON_DEVICE) return check(&m->hip, result, "hipMemcpyAsync", "", error);
    ON_DEVICE(m, result, m->hip.StreamSynchronize(stream));
    return check(&m->hip, result, "hipStreamSynchronize", "after a copy", error);
}

static tfgen_status hip_fill(tfgen_device *d, void *memory, unsigned char byte, size_t bytes, void *stream, tfgen_error *error)
{
    const hip_machine *m = machine_of(d);
    int result;
    ON_DEVICE(m, result, m->hip.MemsetAsync(memory, byte, bytes, stream));
    return check(&m->hip, result, "hipMemsetAsync", "", error);
}

static tfgen_status hip_synchronize(tfgen_device *d, void *stream, tfgen_error *error)
{
    const hip_machine *m = machine_of(d);
    int result;
    ON_DEVICE(m, result, m->hip.StreamSynchronize(stream));
    return check(&m->hip, result, "hipStreamSynchronize", "", error);
}

/* ---- streams, events */
static tfgen_status hip_stream_new(tfgen_device *d, void **stream, tfgen_error *error)
{
    const hip_machine *m = machine_of(d);
    int result;
    ON_DEVICE(m, result, m->hip.StreamCreateWithFlags(stream, hip_stream_non_blocking));
    return check(&m->hip, result, "hipStreamCreateWithFlags", "", error);
}

static void hip_stream_end(tfgen_device *d, void *stream)
{
    const hip_machine *m = machine_of(d);
    int result;
    ON_DEVICE(m, result, m->hip.StreamDestroy(stream));
    (void)result;
}

static tfgen_status hip_event_new(tfgen_device *d, void **event, tfgen_error *error)
{
    const hip_machine *m = machine_of(d);
    int result;
    ON_DEVICE(m, result, m->hip.EventCreate(event));
    return check(&m->hip, result, "hipEventCreate", "", error);
}

static void hip_event_end(tfgen_device *d, void *event)
{
    const hip_machine *m = machine_of(d);
    int result;
    ON_DEVICE(m, result, m->hip.EventDestroy(event));
    (void)result;
}

static tfgen_status hip_record(tfgen_device *d, void *event, void *stream, tfgen_error *error)
{
    const hip_machine *m = machine_of(d);
    int result;
    ON_DEVICE(m, result, m->hip.EventRecord(event, stream));
    return check(&m->hip, result, "hipEventRecord", "", error);
}

/* ---- the order of cooperative launches */
static tfgen_status mark_create(tfgen_device *d, void **event, tfgen_error *error)
{
    const hip_machine *m = machine_of(d);
    int result;
    ON_DEVICE(m, result, m->hip.EventCreateWithFlags(event, hip_event_no_timing));
    return check(&m->hip, result, "hipEventCreateWithFlags", "", error);
}

static tfgen_status mark_wait(tfgen_device *d, void *event, void *stream, tfgen_error *error)
{
    const hip_machine *m = machine_of(d);
    int result;
    ON_DEVICE(m, result, m->hip.StreamWaitEvent(stream, event, 0));
    return check(&m->hip, result, "hipStreamWaitEvent", "", error);
}

/* The legacy default stream (NULL, hipStreamLegacy) is never captured. */
static tfgen_status capture_state(tfgen_device *d, void *stream, bool *capturing, tfgen_error *error)
{
    const hip_machine *m = machine_of(d);
    int result, state = 0;
    *capturing = false;
    if ((uintptr_t)stream <= 1) return TFGEN_OK;
    ON_DEVICE(m, result, m->hip.StreamIsCapturing(stream, &state));
    *capturing = state != 0;
    return check(&m->hip, result, "hipStreamIsCapturing", "", error);
}

/* hipStreamGetId exists since ROCm 7.1 and does not promise that numbers are never reused, so every launch waits for the event; on the
 * stream that recorded it, this changes nothing. */
static bool no_number(tfgen_device *d, void *stream, unsigned long long *number)
{
    (void)d, (void)stream, (void)number;
    return false;
}

static const order_calls order_of_hip = {.event_create = mark_create, .event_destroy = hip_event_end, .event_record = hip_record,
                                         .event_wait = mark_wait, .is_capturing = capture_state, .stream_number = no_number};

/* ---- times, graphs */
static tfgen_status hip_elapsed(tfgen_device *d, void *start, void *end, double *seconds, tfgen_error *error)
{
    const hip_machine *m = machine_of(d);
    float milliseconds = 0;
    int result;
    ON_DEVICE(m, result, m->hip.EventSynchronize(end));
    if (result != hip_success) return check(&m->hip, result, "hipEventSynchronize", "", error);
    ON_DEVICE(m, result, m->hip.EventElapsedTime(&milliseconds, start, end));
    *seconds = milliseconds * 1e-3;
    return check(&m->hip, result, "hipEventElapsedTime", "", error);
}

static tfgen_status hip_graph_begin(tfgen_device *d, void *stream, tfgen_error *error)
{
    const hip_machine *m = machine_of(d);
    int result;
    ON_DEVICE(m, result, m->hip.StreamBeginCapture(stream, hip_capture_thread_local));
    return check(&m->hip, result, "hipStreamBeginCapture", "", error);
}

static tfgen_status hip_graph_end(tfgen_device *d, void *stream, void **graph, tfgen_error *error)
{
    const hip_machine *m = machine_of(d);
    hip_graph captured = NULL;
    int result;
    ON_DEVICE(m, result, m->hip.StreamEndCapture(stream, &captured));
    if (result != hip_success) return check(&m->hip, result, "hipStreamEndCapture", "", error);
    ON_DEVICE(m, result, m->hip.GraphInstantiate(graph, captured, NULL, NULL, 0));
    m->hip.GraphDestroy(captured);
    return check(&m->hip, result, "hipGraphInstantiate", "", error);
}

static tfgen_status hip_graph_start(tfgen_device *d, void *graph, void *stream, tfgen_error *error)
{
    const hip_machine *m = machine_of(d);
    int result;
    ON_DEVICE(m, result, m->hip.GraphLaunch(graph, stream));
    return check(&m->hip, result, "hipGraphLaunch", "", error);
}

static void hip_graph_free(tfgen_device *d, void *graph)
{
    const hip_machine *m = machine_of(d);
    int result;
    ON_DEVICE(m, result, m->hip.GraphExecDestroy(graph));
    (void)result;
}

const device_api hip_device = {
    .kind = "hip", .count = hip_count, .open = hip_open, .close = hip_close,
    .load = hip_load, .unload = hip_unload, .kernel = hip_kernel_of, .resident = hip_resident, .launch = hip_launch, .encode_map = no_maps,
    .alloc = hip_alloc, .free = hip_free, .copy = hip_copy, .fill = hip_fill, .synchronize = hip_synchronize,
    .stream_create = hip_stream_new, .stream_destroy = hip_stream_end,
    .event_create = hip_event_new, .event_destroy = hip_event_end, .event_record = hip_record, .event_elapsed = hip_elapsed,
    .graph_begin = hip_graph_begin, .graph_end = hip_graph_end, .graph_launch = hip_graph_start, .graph_destroy = hip_graph_free};
