/* The device table for CUDA. The driver is opened at run time (libcuda.so.1, or the file that TFGEN_LIBCUDA names). All calls for
 * a device run in the same context: the device's context that was current when the device was opened, or else its primary context. A call
 * pushes and pops the context only if another one is current. Errors name the driver's call and its code. */
#define _GNU_SOURCE
#include "runtime/device/cuda_abi.h"
#include "runtime/device/device.h"
#include "runtime/device/order.h"
#include "runtime/system/input.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct driver {
#define CUDA_CALL(name, symbol, arguments) int (*name) arguments;
    CUDA_CALLS(CUDA_CALL, CUDA_CALL)
#undef CUDA_CALL
} driver;

typedef struct cuda_machine {
    tfgen_device device;
    driver cu;
    int id;
    cuda_context context;
    bool primary; /* retained here */
    bool overlaps; /* supports programmatic dependent launch */
    int most_shared;
    launch_order *order; /* of cooperative launches of the context */
} cuda_machine;

static cuda_machine *machine_of(tfgen_device *d) { return (cuda_machine *)d; }

/* ---- the library */
/* It stays loaded: the driver keeps threads of its own. */
static bool open_driver(driver *cu, char *why, size_t why_size)
{
    static const struct {
        const char *symbol;
        size_t slot;
        bool optional;
    } wanted[] = {
#define CUDA_CALL(name, symbol, arguments) {symbol, offsetof(driver, name), false},
#define CUDA_MAYBE(name, symbol, arguments) {symbol, offsetof(driver, name), true},
        CUDA_CALLS(CUDA_CALL, CUDA_MAYBE)
#undef CUDA_CALL
#undef CUDA_MAYBE
    };
    const char *own = secure_getenv("TFGEN_LIBCUDA"), *path = own && *own ? own : "libcuda.so.1";
    char refusal[400];
    void *library = input_library(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE, refusal, sizeof refusal);
    if (!library) {
        snprintf(why, why_size, "%s: %s", own && *own ? "TFGEN_LIBCUDA cannot be opened" : "NVIDIA's driver is not installed", refusal);
        return false;
    }
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        void *found = dlsym(library, wanted[i].symbol);
        if (!found && !wanted[i].optional) {
            snprintf(why, why_size, "NVIDIA's driver is too old: %s has no %s", path, wanted[i].symbol);
            return false;
        }
        memcpy((char *)cu + wanted[i].slot, &found, sizeof found);
    }
    return true;
}

static const char *code_name(const driver *cu, int code)
{
    const char *name = NULL;
    return cu->GetErrorName(code, &name) == cuda_success && name ? name : "unknown error";
}

static bool start_driver(driver *cu, char *why, size_t why_size)
{
    if (!open_driver(cu, why, why_size)) return false;
    const int code = cu->Init(0);
    if (code == cuda_no_device)
        snprintf(why, why_size, "NVIDIA's driver sees no GPU (CUDA_VISIBLE_DEVICES hides them, or the module nvidia is not loaded)");
    else if (code != cuda_success) snprintf(why, why_size, "cuInit: %s (%d)", code_name(cu, code), code);
    return code == cuda_success;
}

static tfgen_status check(const driver *cu, int code, const char *call, const char *what, tfgen_error *error)
{
    const char *text = NULL;
    if (code == cuda_success) return TFGEN_OK;
    cu->GetErrorString(code, &text);
    return device_report(error, code == cuda_out_of_memory ? TFGEN_NO_MEMORY : TFGEN_DEVICE_ERROR, "%s%s%s: %s (%d): %s", call,
                         *what ? " " : "", what, code_name(cu, code), code, text ? text : "");
}

/* ---- the context */
static int enter(const cuda_machine *m, bool *pushed)
{
    cuda_context current = NULL;
    *pushed = false;
    const int code = m->cu.CtxGetCurrent(&current);
    if (code != cuda_success || current == m->context) return code;
    const int push = m->cu.CtxPushCurrent(m->context);
    *pushed = push == cuda_success;
    return push;
}

static void leave(const cuda_machine *m, bool pushed)
{
    cuda_context popped;
    if (pushed) m->cu.CtxPopCurrent(&popped);
}

/* Calls `expression` in the device's context. */
#define IN_CONTEXT(m, code, expression)                                                                                                    \
    do {                                                                                                                                   \
        bool pushed;                                                                                                                       \
        code = enter(m, &pushed);                                                                                                          \
        if (code == cuda_success) code = (expression);                                                                                     \
        leave(m, pushed);                                                                                                                  \
    } while (0)

/* ---- devices */
static int cuda_count(char *why, size_t why_size)
{
    driver cu;
    int count = 0;
    char unread[8];
    if (!why || !why_size) why = unread, why_size = sizeof unread;
    if (!start_driver(&cu, why, why_size)) return 0;
    const int code = cu.DeviceGetCount(&count);
    if (code != cuda_success) snprintf(why, why_size, "cuDeviceGetCount: %s (%d)", code_name(&cu, code), code);
    else if (count <= 0) snprintf(why, why_size, "NVIDIA's driver sees no GPU (CUDA_VISIBLE_DEVICES hides them?)");
    return code == cuda_success && count > 0 ? count : 0;
}

static tfgen_status describe(const driver *cu, int id, int ordinal, tfgen_device_info *info, tfgen_error *error)
{
    int major = 0, minor = 0;
    size_t bytes = 0;
    *info = (tfgen_device_info){.size = sizeof *info};
    int code = cu->DeviceGetName(info->label, sizeof info->label, id);
    if (code == cuda_success) code = cu->DeviceTotalMem(&bytes, id);
    if (code == cuda_success) code = cu->DeviceGetAttribute(&major, cuda_device_major, id);
    if (code == cuda_success) code = cu->DeviceGetAttribute(&minor, cuda_device_minor, id);
    if (code == cuda_success) code = cu->DeviceGetAttribute(&info->multiprocessors, cuda_device_multiprocessors, id);
    if (code != cuda_success) return check(cu, code, "cuDeviceGetAttribute", "", error);
    info->memory_bytes = (int64_t)bytes;
    info->label[sizeof info->label - 1] = '\0';
    snprintf(info->name, sizeof info->name, "cuda:%d", ordinal);
    const bool hopper = major == 9 && minor == 0;
    snprintf(info->arch, sizeof info->arch, "sm_%d%d%s", major, minor, hopper ? "a" : "");
    snprintf(info->target, sizeof info->target, "%s", hopper ? "sm_90a" : major >= 8 ? "sm_80" : ""); /* code is compiled for info->arch */
    return TFGEN_OK;
}

static tfgen_status cuda_describe(int ordinal, tfgen_device_info *info, tfgen_error *error)
{
    driver cu;
    char why[300];
    int id;
    if (!start_driver(&cu, why, sizeof why)) return device_report(error, TFGEN_UNSUPPORTED, "%s", why);
    const tfgen_status status = check(&cu, cu.DeviceGet(&id, ordinal), "cuDeviceGet", "", error);
    return status == TFGEN_OK ? describe(&cu, id, ordinal, info, error) : status;
}

static tfgen_status take_context(cuda_machine *m, tfgen_error *error)
{
    cuda_context current = NULL;
    int device = -1;
    if (m->cu.CtxGetCurrent(&current) == cuda_success && current && m->cu.CtxGetDevice(&device) == cuda_success && device == m->id) {
        m->context = current;
        return TFGEN_OK;
    }
    const int code = m->cu.DevicePrimaryCtxRetain(&m->context, m->id);
    m->primary = code == cuda_success;
    return check(&m->cu, code, "cuDevicePrimaryCtxRetain", "", error);
}

/* Graph capture records programmatic dependent launches since CUDA 12.3. With an older driver launches are plain: slower, equally
 * correct. */
static bool takes_overlap(const driver *cu)
{
    int version = 0;
    return cu->LaunchKernelEx && cu->DriverGetVersion && cu->DriverGetVersion(&version) == cuda_success && version >= 12030;
}

static const order_calls order_of_cuda; /* below */

static tfgen_status take_order(cuda_machine *m, tfgen_error *error)
{
    m->order = order_open(&order_of_cuda, m->context);
    if (m->order) return TFGEN_OK;
    if (m->primary) m->cu.DevicePrimaryCtxRelease(m->id);
    return device_report(error, TFGEN_NO_MEMORY, "not enough memory");
}

static tfgen_status cuda_open(int ordinal, tfgen_device **out, tfgen_error *error)
{
    char why[300];
    cuda_machine *m = calloc(1, sizeof *m);
    if (!m) return device_report(error, TFGEN_NO_MEMORY, "not enough memory");
    m->device.api = &cuda_device;
    m->device.ordinal = ordinal;
    tfgen_status status = TFGEN_OK;
    if (!start_driver(&m->cu, why, sizeof why)) status = device_report(error, TFGEN_UNSUPPORTED, "%s", why);
    if (status == TFGEN_OK) status = check(&m->cu, m->cu.DeviceGet(&m->id, ordinal), "cuDeviceGet", "", error);
    if (status == TFGEN_OK) status = describe(&m->cu, m->id, ordinal, &m->device.info, error);
    if (status == TFGEN_OK)
        status =
            check(&m->cu, m->cu.DeviceGetAttribute(&m->most_shared, cuda_device_most_shared, m->id), "cuDeviceGetAttribute", "", error);
    if (status == TFGEN_OK) m->overlaps = takes_overlap(&m->cu);
    if (status == TFGEN_OK) status = take_context(m, error);
    if (status == TFGEN_OK && m->cu.DeviceGetPCIBusId &&
        m->cu.DeviceGetPCIBusId(m->device.bus, sizeof m->device.bus, m->id) != cuda_success)
        m->device.bus[0] = '\0';
    if (status == TFGEN_OK) status = take_order(m, error);
    if (status == TFGEN_OK) *out = &m->device;
    else free(m);
    return status;
}

static void cuda_close(tfgen_device *d)
{
    cuda_machine *m = machine_of(d);
    order_close(m->order, d);
    if (m->primary) m->cu.DevicePrimaryCtxRelease(m->id);
    free(m);
}

/* ---- code */
static tfgen_status cuda_load(tfgen_device *d, const void *code, size_t size, void **image, tfgen_error *error)
{
    const cuda_machine *m = machine_of(d);
    int result;
    (void)size;
    IN_CONTEXT(m, result, m->cu.ModuleLoadData(image, code));
    return check(&m->cu, result, "cuModuleLoadData", "", error);
}

static void cuda_unload(tfgen_device *d, void *image)
{
    const cuda_machine *m = machine_of(d);
    int result;
    IN_CONTEXT(m, result, m->cu.ModuleUnload(image));
    (void)result; /* nothing is left to be done about it */
}

static int find_function(const cuda_machine *m, void *image, const char *name, unsigned dynamic_bytes, void **kernel)
{
    char symbol[symbol_room];
    int code = m->cu.ModuleGetFunction(kernel, image, kernel_symbol(name, symbol));
    if (code == cuda_success && dynamic_bytes) code = m->cu.FuncSetAttribute(*kernel, cuda_function_dynamic_shared, (int)dynamic_bytes);
    /* loads the code now: at the first launch, which may be inside a graph capture, that would fail */
    if (code == cuda_success && m->cu.FuncLoad) code = m->cu.FuncLoad(*kernel);
    return code;
}

static tfgen_status cuda_kernel(tfgen_device *d, void *image, const char *name, unsigned dynamic_bytes, void **kernel, tfgen_error *error)
{
    const cuda_machine *m = machine_of(d);
    int result;
    if (dynamic_bytes > (unsigned)m->most_shared)
        return device_report(error, TFGEN_UNSUPPORTED, "kernel %s needs %u bytes of shared memory; the device has %d", name, dynamic_bytes,
                             m->most_shared);
    IN_CONTEXT(m, result, find_function(m, image, name, dynamic_bytes, kernel));
    return check(&m->cu, result, "cuModuleGetFunction", name, error);
}

static tfgen_status can_cooperate(const cuda_machine *m, tfgen_error *error)
{
    if (m->cu.LaunchKernelEx) return TFGEN_OK;
    return device_report(error, TFGEN_UNSUPPORTED, "the driver has no cuLaunchKernelEx: a newer one is needed for cooperative launches");
}

static tfgen_status cuda_resident(tfgen_device *d, void *kernel, const launch_shape *s, unsigned *workgroups, tfgen_error *error)
{
    const cuda_machine *m = machine_of(d);
    int each = 0, result;
    const tfgen_status status = can_cooperate(m, error);
    if (status != TFGEN_OK) return status;
    IN_CONTEXT(m, result, m->cu.OccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, (int)s->threads, s->dynamic_bytes));
    if (result == cuda_success) return device_seats(d, each, s, workgroups, error);
    return check(&m->cu, result, "cuOccupancyMaxActiveBlocksPerMultiprocessor", "", error);
}

static bool overlaps(const cuda_machine *m, const launch_shape *s) { return s->overlap && m->overlaps; }

static int start(const cuda_machine *m, void *kernel, const launch_shape *s, void **params, void *stream)
{
    const bool early = overlaps(m, s);
    cuda_launch_attribute attribute = {.id = early ? cuda_attribute_programmatic_serialization : cuda_attribute_cooperative,
                                       .value.number = 1};
    const cuda_launch_config config = {s->grid, 1, 1, s->threads, 1, 1, s->dynamic_bytes, stream, &attribute, 1};
    if (!early && !s->cooperative)
        return m->cu.LaunchKernel(kernel, s->grid, 1, 1, s->threads, 1, 1, s->dynamic_bytes, stream, params, NULL);
    return m->cu.LaunchKernelEx(&config, kernel, params, NULL);
}

static tfgen_status cuda_launch(tfgen_device *d, void *kernel, const launch_shape *shape, void *arguments, size_t bytes, void *stream,
                                tfgen_error *error)
{
    const cuda_machine *m = machine_of(d);
    const bool ordered = shape->cooperative && !overlaps(m, shape);
    order_turn turn;
    void *params[] = {arguments};
    int result;
    (void)bytes; /* the driver knows the size from the kernel */
    tfgen_status status = shape->cooperative ? can_cooperate(m, error) : TFGEN_OK;
    if (status == TFGEN_OK && ordered) status = order_begin(m->order, d, stream, &turn, error);
    if (status != TFGEN_OK) return status;
    IN_CONTEXT(m, result, start(m, kernel, shape, params, stream));
    status = check(&m->cu, result, "cuLaunchKernel", "", error);
    return ordered ? order_end(m->order, d, stream, &turn, status, error) : status;
}

/* A map of 1 KB pieces of a weight; its dimensions: 4-byte words in a piece, pieces along the weight's columns, pieces along k. */
static int encode_pieces(const cuda_machine *m, void *map, const map_shape *s)
{
    enum { words = piece_bytes / 4 };
    const uint64_t dims[] = {words, (uint64_t)s->rows, (uint64_t)s->columns}, strides[] = {(uint64_t)s->stride, piece_bytes};
    const uint32_t box[] = {words, (uint32_t)s->box_rows, (uint32_t)s->box_columns}, ones[] = {1, 1, 1};
    return m->cu.TensorMapEncodeTiled(map, cuda_map_u32, 3, (void *)(uintptr_t)s->data, dims, strides, box, ones, 0, 0,
                                      cuda_map_promotion_256, 0);
}

/* How much L2 fetches from DRAM if it lacks some of the bytes that a load asks for. Operands of 16 bits are loaded in rows of 128 bytes,
 * most of them one of many tiles'. H200: of 74 drawn 16-bit matmuls with 128 in place of 256 bytes, the geometric mean is 0.985 of the time
 * (15x3x3840x104x1448 201 and 182 us, 33x64x320x4032 32.0 and 29.7), of 43 products 0.997, of 11 blocks 0.997. Operands of f32 were not
 * timed. */
static int fetched_by_l2(const map_shape *s) { return s->type == dtype_f32 ? cuda_map_promotion_256 : cuda_map_promotion_128; }

static int encode(const cuda_machine *m, void *map, const map_shape *s)
{
    static const int types[] = {[dtype_f32] = cuda_map_f32, [dtype_f16] = cuda_map_f16, [dtype_bf16] = cuda_map_bf16};
    const uint64_t dims[] = {(uint64_t)s->columns, (uint64_t)s->rows}, strides[] = {(uint64_t)s->stride};
    const uint32_t box[] = {(uint32_t)s->box_columns, (uint32_t)s->box_rows}, ones[] = {1, 1};
    if (s->pieces) return encode_pieces(m, map, s);
    if (s->heads) {
        const uint64_t wide[] = {(uint64_t)s->columns, (uint64_t)s->heads, (uint64_t)s->rows, (uint64_t)s->batches},
                       apart[] = {(uint64_t)s->head_stride, (uint64_t)s->stride, (uint64_t)s->batch_stride};
        const uint32_t boxes[] = {(uint32_t)s->box_columns, (uint32_t)s->box_heads, (uint32_t)s->box_rows, 1}, steps[] = {1, 1, 1, 1};
        return m->cu.TensorMapEncodeTiled(map, types[s->type], 4, (void *)(uintptr_t)s->data, wide, apart, boxes, steps, 0,
                                          cuda_map_swizzle_128, fetched_by_l2(s), 0);
    }
    return m->cu.TensorMapEncodeTiled(map, types[s->type], 2, (void *)(uintptr_t)s->data, dims, strides, box, ones, 0, cuda_map_swizzle_128,
                                      fetched_by_l2(s), 0);
}

static tfgen_status cuda_encode(tfgen_device *d, void *map, const map_shape *shape, tfgen_error *error)
{
    const cuda_machine *m = machine_of(d);
    int result;
    if (!m->cu.TensorMapEncodeTiled)
        return device_report(error, TFGEN_UNSUPPORTED, "the driver has no cuTensorMapEncodeTiled: a newer one is needed (12.0)");
    if (!dtype_is_real(shape->type)) return device_report(error, TFGEN_UNSUPPORTED, "no tensor map of this dtype");
    IN_CONTEXT(m, result, encode(m, map, shape)); /* touches no device, but requires a context */
    return check(&m->cu, result, "cuTensorMapEncodeTiled", "", error);
}

/* ---- memory */
static tfgen_status cuda_alloc(tfgen_device *d, size_t bytes, const char *name, void **memory, tfgen_error *error)
{
    const cuda_machine *m = machine_of(d);
    cuda_pointer at = 0;
    int result;
    IN_CONTEXT(m, result, m->cu.MemAlloc(&at, bytes));
    if (result == cuda_out_of_memory)
        return device_report(error, TFGEN_NO_MEMORY, "not enough memory on %s: %s needs %zu bytes", m->device.info.name, name, bytes);
    *memory = (void *)(uintptr_t)at;
    return check(&m->cu, result, "cuMemAlloc", name, error);
}

static void cuda_free(tfgen_device *d, void *memory)
{
    const cuda_machine *m = machine_of(d);
    int result;
    IN_CONTEXT(m, result, m->cu.MemFree((cuda_pointer)(uintptr_t)memory));
    (void)result;
}

static int copy(const cuda_machine *m, void *to, const void *from, size_t bytes, tfgen_copy_kind kind, void *stream)
{
    const cuda_pointer device_to = (cuda_pointer)(uintptr_t)to, device_from = (cuda_pointer)(uintptr_t)from;
    if (kind == TFGEN_TO_DEVICE) return m->cu.MemcpyHtoDAsync(device_to, from, bytes, stream);
    if (kind == TFGEN_ON_DEVICE) return m->cu.MemcpyDtoDAsync(device_to, device_from, bytes, stream);
    const int code = m->cu.MemcpyDtoHAsync(to, device_from, bytes, stream);
    return code == cuda_success ? m->cu.StreamSynchronize(stream) : code;
}

static tfgen_status cuda_copy(tfgen_device *d, void *to, const void *from, size_t bytes, tfgen_copy_kind kind, void *stream,
                              tfgen_error *error)
{
    const cuda_machine *m = machine_of(d);
    int result;
    IN_CONTEXT(m, result, copy(m, to, from, bytes, kind, stream));
    return check(&m->cu, result, "cuMemcpyAsync", "", error);
}

static tfgen_status cuda_fill(tfgen_device *d, void *memory, unsigned char byte, size_t bytes, void *stream, tfgen_error *error)
{
    const cuda_machine *m = machine_of(d);
    int result;
    IN_CONTEXT(m, result, m->cu.MemsetD8Async((cuda_pointer)(uintptr_t)memory, byte, bytes, stream));
    return check(&m->cu, result, "cuMemsetD8Async", "", error);
}

static tfgen_status cuda_synchronize(tfgen_device *d, void *stream, tfgen_error *error)
{
    const cuda_machine *m = machine_of(d);
    int result;
    IN_CONTEXT(m, result, m->cu.StreamSynchronize(stream));
    return check(&m->cu, result, "cuStreamSynchronize", "", error);
}

/* ---- streams, events */
static tfgen_status cuda_stream_create(tfgen_device *d, void **stream, tfgen_error *error)
{
    const cuda_machine *m = machine_of(d);
    int result;
    IN_CONTEXT(m, result, m->cu.StreamCreate(stream, cuda_stream_non_blocking));
    return check(&m->cu, result, "cuStreamCreate", "", error);
}

static void cuda_stream_destroy(tfgen_device *d, void *stream)
{
    const cuda_machine *m = machine_of(d);
    int result;
    IN_CONTEXT(m, result, m->cu.StreamDestroy(stream));
    (void)result;
}

static tfgen_status cuda_event_create(tfgen_device *d, void **event, tfgen_error *error)
{
    const cuda_machine *m = machine_of(d);
    int result;
    IN_CONTEXT(m, result, m->cu.EventCreate(event, 0));
    return check(&m->cu, result, "cuEventCreate", "", error);
}

static void cuda_event_destroy(tfgen_device *d, void *event)
{
    const cuda_machine *m = machine_of(d);
    int result;
    IN_CONTEXT(m, result, m->cu.EventDestroy(event));
    (void)result;
}

static tfgen_status cuda_event_record(tfgen_device *d, void *event, void *stream, tfgen_error *error)
{
    const cuda_machine *m = machine_of(d);
    int result;
    IN_CONTEXT(m, result, m->cu.EventRecord(event, stream));
    return check(&m->cu, result, "cuEventRecord", "", error);
}

/* ---- the order of cooperative launches */
static tfgen_status mark_create(tfgen_device *d, void **event, tfgen_error *error)
{
    const cuda_machine *m = machine_of(d);
    int result;
    IN_CONTEXT(m, result, m->cu.EventCreate(event, cuda_event_no_timing));
    return check(&m->cu, result, "cuEventCreate", "", error);
}

static tfgen_status mark_wait(tfgen_device *d, void *event, void *stream, tfgen_error *error)
{
    const cuda_machine *m = machine_of(d);
    int result;
    IN_CONTEXT(m, result, m->cu.StreamWaitEvent(stream, event, 0));
    return check(&m->cu, result, "cuStreamWaitEvent", "", error);
}

/* The legacy default stream (NULL, CU_STREAM_LEGACY) is never captured, and querying it is an error while a stream that it synchronises
 * with is being captured. */
static tfgen_status is_capturing(tfgen_device *d, void *stream, bool *capturing, tfgen_error *error)
{
    const cuda_machine *m = machine_of(d);
    int result, state = 0;
    *capturing = false;
    if ((uintptr_t)stream <= 1) return TFGEN_OK;
    IN_CONTEXT(m, result, m->cu.StreamIsCapturing(stream, &state));
    *capturing = state != 0;
    return check(&m->cu, result, "cuStreamIsCapturing", "", error);
}

static bool stream_number(tfgen_device *d, void *stream, unsigned long long *number)
{
    const cuda_machine *m = machine_of(d);
    int result;
    if (!m->cu.StreamGetId) return false;
    IN_CONTEXT(m, result, m->cu.StreamGetId(stream, number));
    return result == cuda_success;
}

static const order_calls order_of_cuda = {.event_create = mark_create, .event_destroy = cuda_event_destroy,
                                          .event_record = cuda_event_record, .event_wait = mark_wait, .is_capturing = is_capturing,
                                          .stream_number = stream_number};

/* ---- times, graphs */
static int elapsed(const cuda_machine *m, void *from, void *to, float *milliseconds)
{
    const int code = m->cu.EventSynchronize(to);
    return code == cuda_success ? m->cu.EventElapsedTime(milliseconds, from, to) : code;
}

static tfgen_status cuda_event_elapsed(tfgen_device *d, void *from, void *to, double *seconds, tfgen_error *error)
{
    const cuda_machine *m = machine_of(d);
    float milliseconds = 0;
    int result;
    IN_CONTEXT(m, result, elapsed(m, from, to, &milliseconds));
    *seconds = 1e-3 * (double)milliseconds;
    return check(&m->cu, result, "cuEventElapsedTime", "", error);
}

static tfgen_status cuda_graph_begin(tfgen_device *d, void *stream, tfgen_error *error)
{
    const cuda_machine *m = machine_of(d);
    int result;
    IN_CONTEXT(m, result, m->cu.StreamBeginCapture(stream, cuda_capture_thread_local));
    return check(&m->cu, result, "cuStreamBeginCapture", "", error);
}

static int finish_graph(const cuda_machine *m, void *stream, void **made)
{
    cuda_graph graph = NULL;
    int code = m->cu.StreamEndCapture(stream, &graph);
    if (code == cuda_success) code = m->cu.GraphInstantiate(made, graph, 0);
    if (graph) m->cu.GraphDestroy(graph);
    return code;
}

static tfgen_status cuda_graph_end(tfgen_device *d, void *stream, void **graph, tfgen_error *error)
{
    const cuda_machine *m = machine_of(d);
    int result;
    *graph = NULL;
    IN_CONTEXT(m, result, finish_graph(m, stream, graph));
    return check(&m->cu, result, "cuGraphInstantiate", "", error);
}

static tfgen_status cuda_graph_launch(tfgen_device *d, void *graph, void *stream, tfgen_error *error)
{
    const cuda_machine *m = machine_of(d);
    int result;
    IN_CONTEXT(m, result, m->cu.GraphLaunch(graph, stream));
    return check(&m->cu, result, "cuGraphLaunch", "", error);
}

static void cuda_graph_destroy(tfgen_device *d, void *graph)
{
    const cuda_machine *m = machine_of(d);
    int result;
    IN_CONTEXT(m, result, m->cu.GraphExecDestroy(graph));
    (void)result;
}

const device_api cuda_device = {
    .kind = "cuda", .count = cuda_count, .open = cuda_open, .describe = cuda_describe, .close = cuda_close,
    .load = cuda_load, .unload = cuda_unload, .kernel = cuda_kernel, .resident = cuda_resident, .launch = cuda_launch,
    .encode_map = cuda_encode,
    .alloc = cuda_alloc, .free = cuda_free, .copy = cuda_copy, .fill = cuda_fill, .synchronize = cuda_synchronize,
    .stream_create = cuda_stream_create, .stream_destroy = cuda_stream_destroy,
    .event_create = cuda_event_create, .event_destroy = cuda_event_destroy, .event_record = cuda_event_record,
    .event_elapsed = cuda_event_elapsed, .graph_begin = cuda_graph_begin, .graph_end = cuda_graph_end,
    .graph_launch = cuda_graph_launch, .graph_destroy = cuda_graph_destroy};
