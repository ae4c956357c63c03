/* A double of NVIDIA's driver: the same symbols, host memory as device memory, and images of double_image_of() for cubins. It checks
 * contexts, live pointers, limits and calls forbidden during capture as the driver does, records launches with their arguments, and injects
 * failures on request. It executes nothing. Each device has a primary context and one of the program's own; functions, streams and events
 * belong to theirs, and cooperative launches of a context must be ordered. */
#ifndef TFGEN_TESTS_LIBCUDA_DOUBLE_H
#define TFGEN_TESTS_LIBCUDA_DOUBLE_H
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

enum { double_most_launches = 8192, double_most_arguments = 1024, double_most_maps = 8 };

typedef struct double_image {
    char magic[16];
    char kernel[200];
    unsigned argument_bytes, threads, shared_bytes;
} double_image;

static inline double_image double_image_of(const char *kernel, unsigned argument_bytes, unsigned threads, unsigned shared_bytes)
{
    double_image i = {"double of cubin", "", argument_bytes, threads, shared_bytes};
    strncpy(i.kernel, kernel, sizeof i.kernel - 1);
    return i;
}

typedef struct double_launch {
    const char *kernel;
    unsigned grid, block, dynamic_bytes, argument_bytes;
    int cooperative, overlap, waits; /* waits: cuStreamSynchronize calls before it */
    void *stream, *context;
    unsigned char arguments[double_most_arguments];
} double_launch;

/* What cuTensorMapEncodeTiled writes into the 128 bytes. */
typedef struct double_map {
    char magic[8];
    int type, swizzle, promotion, rank;
    unsigned box[4];
    unsigned long long address, sizes[4], strides[3]; /* innermost first; strides start at the second axis */
} double_map;

typedef struct double_state {
    int devices, major, minor, init_code, version; /* set before the first call; the defaults are 1, 9, 0, 0, 13000 */
    int resident; /* workgroups of any kernel that each of the 4 multiprocessors holds; the default is 8 */
    atomic_int allocations, bytes_over, modules, primaries, streams, events, graphs, encodes, launched, captured, replays, waits, wrong;
    atomic_int event_waits; /* cuStreamWaitEvent */
    char wrong_text[200];
    const char *fail_call; /* without cu and suffix: "MemAlloc"; fails with fail_code after fail_after successful calls */
    atomic_int fail_after;
    int fail_code;
    atomic_int lost; /* every call fails with this code from now on */
    double_launch launches[double_most_launches];
} double_state;

double_state *tfgen_double_state(void);
#endif
