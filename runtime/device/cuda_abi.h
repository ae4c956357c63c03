/* What tfgen uses of the CUDA driver's interface, so that neither the build nor the machine needs CUDA: the library is opened at run time.
 * Functions have the names that libcuda exports, _v2 included. tests/runtime/test_cuda.c compares with cuda.h where there is one. */
#ifndef TFGEN_CUDA_ABI_H
#define TFGEN_CUDA_ABI_H
#include <stddef.h>
#include <stdint.h>

typedef unsigned long long cuda_pointer; /* CUdeviceptr */
typedef void *cuda_context, *cuda_module, *cuda_function, *cuda_stream, *cuda_event, *cuda_graph, *cuda_graph_exec;

enum { cuda_success = 0, cuda_out_of_memory = 2, cuda_no_device = 100 };
enum {
    cuda_device_multiprocessors = 16, cuda_device_major = 75, cuda_device_minor = 76, cuda_device_cooperative = 95,
    cuda_device_most_shared = 97
};
enum { cuda_function_dynamic_shared = 8, cuda_capture_thread_local = 1, cuda_stream_non_blocking = 1, cuda_event_no_timing = 2 };
enum { cuda_map_u32 = 2, cuda_map_f16 = 6, cuda_map_f32 = 7, cuda_map_bf16 = 9, cuda_map_swizzle_128 = 3 };
enum { cuda_map_promotion_128 = 2, cuda_map_promotion_256 = 3 };
enum { cuda_attribute_cooperative = 2, cuda_attribute_programmatic_serialization = 6 };

typedef struct cuda_launch_attribute {
    int id;
    char pad[4];
    union {
        int number;
        char bytes[64];
    } value;
} cuda_launch_attribute;

typedef struct cuda_launch_config {
    unsigned grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes;
    cuda_stream stream;
    cuda_launch_attribute *attributes;
    unsigned attribute_count;
} cuda_launch_config;

/* CUDA_CALL(name without cu, symbol, parameters). CUDA_MAYBE: a function that a driver may lack */
#define CUDA_CALLS(CUDA_CALL, CUDA_MAYBE)                                                                                                  \
    CUDA_CALL(Init, "cuInit", (unsigned flags))                                                                                            \
    CUDA_MAYBE(DriverGetVersion, "cuDriverGetVersion", (int *version))                                                                     \
    CUDA_CALL(GetErrorName, "cuGetErrorName", (int code, const char **name))                                                               \
    CUDA_CALL(GetErrorString, "cuGetErrorString", (int code, const char **text))                                                           \
    CUDA_MAYBE(DeviceGetPCIBusId, "cuDeviceGetPCIBusId", (char *bus, int size, int device))                                                \
    CUDA_CALL(DeviceGetCount, "cuDeviceGetCount", (int *count))                                                                            \
    CUDA_CALL(DeviceGet, "cuDeviceGet", (int *device, int ordinal))                                                                        \
    CUDA_CALL(DeviceGetName, "cuDeviceGetName", (char *name, int size, int device))                                                        \
    CUDA_CALL(DeviceTotalMem, "cuDeviceTotalMem_v2", (size_t * bytes, int device))                                                         \
    CUDA_CALL(DeviceGetAttribute, "cuDeviceGetAttribute", (int *value, int attribute, int device))                                         \
    CUDA_CALL(DevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain", (cuda_context * context, int device))                                    \
    CUDA_CALL(DevicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2", (int device))                                                       \
    CUDA_CALL(CtxGetCurrent, "cuCtxGetCurrent", (cuda_context * context))                                                                  \
    CUDA_CALL(CtxGetDevice, "cuCtxGetDevice", (int *device))                                                                               \
    CUDA_CALL(CtxPushCurrent, "cuCtxPushCurrent_v2", (cuda_context context))                                                               \
    CUDA_CALL(CtxPopCurrent, "cuCtxPopCurrent_v2", (cuda_context * context))                                                               \
    CUDA_CALL(ModuleLoadData, "cuModuleLoadData", (cuda_module * module, const void *image))                                               \
    CUDA_CALL(ModuleUnload, "cuModuleUnload", (cuda_module module))                                                                        \
    CUDA_CALL(ModuleGetFunction, "cuModuleGetFunction", (cuda_function * function, cuda_module module, const char *name))                  \
    CUDA_MAYBE(FuncLoad, "cuFuncLoad", (cuda_function function))                                                                           \
    CUDA_CALL(FuncSetAttribute, "cuFuncSetAttribute", (cuda_function function, int attribute, int value))                                  \
    CUDA_CALL(OccupancyMaxActiveBlocksPerMultiprocessor, "cuOccupancyMaxActiveBlocksPerMultiprocessor",                                    \
              (int *blocks, cuda_function function, int threads, size_t dynamic_bytes))                                                    \
    CUDA_CALL(LaunchKernel, "cuLaunchKernel",                                                                                              \
              (cuda_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,              \
               unsigned block_z, unsigned shared_bytes, cuda_stream stream, void **params, void **extra))                                  \
    CUDA_MAYBE(LaunchKernelEx, "cuLaunchKernelEx",                                                                                         \
               (const cuda_launch_config *config, cuda_function function, void **params, void **extra))                                    \
    CUDA_MAYBE(TensorMapEncodeTiled, "cuTensorMapEncodeTiled",                                                                             \
               (void *map, int type, uint32_t rank, void *address, const uint64_t *dims, const uint64_t *strides, const uint32_t *box,     \
                const uint32_t *element_strides, int interleave, int swizzle, int promotion, int fill))                                    \
    CUDA_CALL(MemAlloc, "cuMemAlloc_v2", (cuda_pointer * memory, size_t bytes))                                                            \
    CUDA_CALL(MemFree, "cuMemFree_v2", (cuda_pointer memory))                                                                              \
    CUDA_CALL(MemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2", (cuda_pointer to, const void *from, size_t bytes, cuda_stream stream))              \
    CUDA_CALL(MemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2", (void *to, cuda_pointer from, size_t bytes, cuda_stream stream))                    \
    CUDA_CALL(MemcpyDtoDAsync, "cuMemcpyDtoDAsync_v2", (cuda_pointer to, cuda_pointer from, size_t bytes, cuda_stream stream))             \
    CUDA_CALL(MemsetD8Async, "cuMemsetD8Async", (cuda_pointer memory, unsigned char byte, size_t bytes, cuda_stream stream))               \
    CUDA_CALL(StreamCreate, "cuStreamCreate", (cuda_stream * stream, unsigned flags))                                                      \
    CUDA_CALL(StreamDestroy, "cuStreamDestroy_v2", (cuda_stream stream))                                                                   \
    CUDA_CALL(StreamSynchronize, "cuStreamSynchronize", (cuda_stream stream))                                                              \
    CUDA_CALL(StreamWaitEvent, "cuStreamWaitEvent", (cuda_stream stream, cuda_event event, unsigned flags))                                \
    CUDA_MAYBE(StreamGetId, "cuStreamGetId", (cuda_stream stream, unsigned long long *id))                                                 \
    CUDA_CALL(StreamIsCapturing, "cuStreamIsCapturing", (cuda_stream stream, int *status))                                                 \
    CUDA_CALL(EventCreate, "cuEventCreate", (cuda_event * event, unsigned flags))                                                          \
    CUDA_CALL(EventDestroy, "cuEventDestroy_v2", (cuda_event event))                                                                       \
    CUDA_CALL(EventRecord, "cuEventRecord", (cuda_event event, cuda_stream stream))                                                        \
    CUDA_CALL(EventSynchronize, "cuEventSynchronize", (cuda_event event))                                                                  \
    CUDA_CALL(EventElapsedTime, "cuEventElapsedTime", (float *milliseconds, cuda_event start, cuda_event end))                             \
    CUDA_CALL(StreamBeginCapture, "cuStreamBeginCapture_v2", (cuda_stream stream, int mode))                                               \
    CUDA_CALL(StreamEndCapture, "cuStreamEndCapture", (cuda_stream stream, cuda_graph * graph))                                            \
    CUDA_CALL(GraphInstantiate, "cuGraphInstantiateWithFlags", (cuda_graph_exec * made, cuda_graph graph, unsigned long long flags))       \
    CUDA_CALL(GraphLaunch, "cuGraphLaunch", (cuda_graph_exec graph, cuda_stream stream))                                                   \
    CUDA_CALL(GraphExecDestroy, "cuGraphExecDestroy", (cuda_graph_exec graph))                                                             \
    CUDA_CALL(GraphDestroy, "cuGraphDestroy", (cuda_graph graph))
#endif
