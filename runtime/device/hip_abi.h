/* The part of HIP's binary interface that device_hip.c calls and that the test double in tests/doubles implements, so that no header of the
 * vendor is needed: functions with their C types, and constants that are the same from ROCm 5 to 7. */
#ifndef TFGEN_HIP_ABI_H
#define TFGEN_HIP_ABI_H
#include <stddef.h>

typedef void *hip_stream, *hip_event, *hip_module, *hip_function, *hip_graph, *hip_graph_exec;

enum { /* hipError_t */
    hip_success = 0,
    hip_invalid_value = 1,
    hip_out_of_memory = 2,
    hip_invalid_configuration = 9,
    hip_insufficient_driver = 35,
    hip_no_device = 100,
    hip_invalid_device = 101,
    hip_invalid_image = 200,
    hip_no_binary_for_gpu = 209,
    hip_invalid_handle = 400,
    hip_not_found = 500,
    hip_not_ready = 600,
    hip_illegal_address = 700,
    hip_launch_out_of_resources = 701,
    hip_launch_failure = 719,
    hip_cooperative_launch_too_large = 720,
    hip_not_supported = 801,
    hip_capture_unsupported = 900,
    hip_capture_invalidated = 901,
    hip_capture_unmatched = 903
};

enum { /* hipDeviceAttribute_t */
    hip_attribute_cooperative_launch = 10,
    hip_attribute_most_threads = 56,
    hip_attribute_multiprocessors = 63,
    hip_attribute_most_shared = 74,
    hip_attribute_wave = 87
};

enum { hip_host_to_device = 1, hip_device_to_host = 2, hip_device_to_device = 3 }; /* hipMemcpyKind */
enum { hip_stream_non_blocking = 1, hip_event_no_timing = 2 };
enum { hip_capture_thread_local = 1 };
enum { hip_arch_name_offset = 1160, hip_properties_size = 1472 }; /* hipDeviceProp_t since ROCm 6 (R0600) */
enum { hip_arch_name_offset_5 = 396, hip_properties_size_5 = 792 };

/* Markers in the list `extra` of a launch. */
#define HIP_EXTRA_POINTER ((void *)1)
#define HIP_EXTRA_SIZE ((void *)2)
#define HIP_EXTRA_END ((void *)3)

/* CALL(NAME, C parameters): hipNAME, which every supported library has. MAYBE: a function that some newer or older libraries lack. */
#define HIP_CALLS(CALL, MAYBE)                                                                                                             \
    CALL(GetDeviceCount, (int *count))                                                                                                     \
    CALL(GetDevice, (int *device))                                                                                                         \
    CALL(SetDevice, (int device))                                                                                                          \
    CALL(DeviceGetName, (char *name, int size, int device))                                                                                \
    CALL(DeviceTotalMem, (size_t *bytes, int device))                                                                                      \
    CALL(DeviceGetAttribute, (int *value, int attribute, int device))                                                                      \
    CALL(DeviceSynchronize, (void))                                                                                                        \
    MAYBE(GetDevicePropertiesR0600, (void *properties, int device))                                                                        \
    MAYBE(GetDeviceProperties, (void *properties, int device))                                                                             \
    MAYBE(DeviceGetPCIBusId, (char *bus, int size, int device))                                                                            \
    MAYBE(RuntimeGetVersion, (int *version))                                                                                               \
    CALL(ModuleLoadData, (hip_module *module, const void *image))                                                                          \
    CALL(ModuleUnload, (hip_module module))                                                                                                \
    CALL(ModuleGetFunction, (hip_function *function, hip_module module, const char *name))                                                 \
    CALL(ModuleLaunchKernel,                                                                                                               \
         (hip_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,  \
          unsigned shared, hip_stream stream, void **parameters, void **extra))                                                            \
    MAYBE(ModuleLaunchCooperativeKernel,                                                                                                   \
          (hip_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z, \
           unsigned shared, hip_stream stream, void **parameters))                                                                         \
    MAYBE(ModuleOccupancyMaxActiveBlocksPerMultiprocessor,                                                                                 \
          (int *blocks, hip_function function, int threads, size_t dynamic_bytes))                                                         \
    CALL(Malloc, (void **memory, size_t bytes))                                                                                            \
    CALL(Free, (void *memory))                                                                                                             \
    CALL(MemcpyAsync, (void *to, const void *from, size_t bytes, int kind, hip_stream stream))                                             \
    CALL(MemsetAsync, (void *memory, int byte, size_t bytes, hip_stream stream))                                                           \
    CALL(StreamCreateWithFlags, (hip_stream *stream, unsigned flags))                                                                      \
    CALL(StreamDestroy, (hip_stream stream))                                                                                               \
    CALL(StreamSynchronize, (hip_stream stream))                                                                                           \
    CALL(StreamIsCapturing, (hip_stream stream, int *status))                                                                              \
    CALL(StreamBeginCapture, (hip_stream stream, int mode))                                                                                \
    CALL(StreamEndCapture, (hip_stream stream, hip_graph *graph))                                                                          \
    CALL(GraphInstantiate, (hip_graph_exec *exec, hip_graph graph, void **bad_node, char *log, size_t log_size))                           \
    CALL(GraphDestroy, (hip_graph graph))                                                                                                  \
    CALL(GraphLaunch, (hip_graph_exec exec, hip_stream stream))                                                                            \
    CALL(GraphExecDestroy, (hip_graph_exec exec))                                                                                          \
    CALL(EventCreate, (hip_event *event))                                                                                                  \
    CALL(EventCreateWithFlags, (hip_event *event, unsigned flags))                                                                         \
    CALL(StreamWaitEvent, (hip_stream stream, hip_event event, unsigned flags))                                                            \
    CALL(EventDestroy, (hip_event event))                                                                                                  \
    CALL(EventRecord, (hip_event event, hip_stream stream))                                                                                \
    CALL(EventSynchronize, (hip_event event))                                                                                              \
    CALL(EventElapsedTime, (float *milliseconds, hip_event start, hip_event end))
#endif
