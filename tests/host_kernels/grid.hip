// Several phases in one launch; between them all blocks wait for each other. Cooperative launches only.
struct phases_args { unsigned *buffers, *counter; int phases; };
static __device__ void phase(const phases_args &p, int i, unsigned writer = 0)
{
    const unsigned n = gridDim.x, b = blockIdx.x, *in = p.buffers + (i & 1) * n;
    unsigned *out = p.buffers + ((i + 1) & 1) * n, s = 0;
    if (threadIdx.x != writer) return;
    for (unsigned k = 0; k < n; k++) s += in[k];
    out[b] = s * 3 + b;
}
extern "C" __global__ void phases_native(const phases_args p)
{
    for (int i = 0; i < p.phases; i++) {
        phase(p, i);
        tf_grid_sync();
    }
}
TF_EXPORT(phases_native)

// As device code does it: a counter, one thread that waits in a loop, the others at the block's barrier.
extern "C" __global__ void phases_counter(const phases_args p)
{
    for (int i = 0; i < p.phases; i++) {
        phase(p, i);
        __syncthreads();
        if (threadIdx.x == 0) {
            __hip_atomic_fetch_add(p.counter, 1u, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
            while (__hip_atomic_load(p.counter, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT) < gridDim.x * (unsigned)(i + 1))
                __builtin_amdgcn_s_sleep(1);
        }
        __syncthreads();
    }
}
TF_EXPORT(phases_counter)

// The same with relaxed atomics between fences.
extern "C" __global__ void phases_fenced(const phases_args p)
{
    for (int i = 0; i < p.phases; i++) {
        phase(p, i);
        __syncthreads();
        if (threadIdx.x == 0) {
            __threadfence();
            atomicAdd(p.counter, 1u);
            while (__hip_atomic_load(p.counter, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT) < gridDim.x * (unsigned)(i + 1))
                __nanosleep(20);
            __threadfence();
        }
        __syncthreads();
    }
}
TF_EXPORT(phases_fenced)

// The fences of all waves lie around the barriers; the atomics are one thread's (templates/isa/device_scope.h, AMD). Without the first
// fence nothing orders what the other waves wrote.
static __device__ void phases_of_waves(const phases_args &p, bool fenced)
{
    for (int i = 0; i < p.phases; i++) {
        phase(p, i, 64); // written by the first thread of the second wave
        if (fenced) __threadfence();
        __syncthreads();
        if (threadIdx.x == 0) {
            __hip_atomic_fetch_add(p.counter, 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
            while (__hip_atomic_load(p.counter, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT) < gridDim.x * (unsigned)(i + 1))
                __nanosleep(20);
            __threadfence();
        }
        __syncthreads();
        __threadfence();
    }
}
extern "C" __global__ void phases_fenced_by_waves(const phases_args p) { phases_of_waves(p, true); }
TF_EXPORT(phases_fenced_by_waves)
extern "C" __global__ void phases_fenced_by_none(const phases_args p) { phases_of_waves(p, false); }
TF_EXPORT(phases_fenced_by_none)

// Wrong: the counter is awaited without acquire and without fence, so nothing orders what the others wrote.
extern "C" __global__ void phases_relaxed(const phases_args p)
{
    for (int i = 0; i < p.phases; i++) {
        phase(p, i);
        __syncthreads();
        if (threadIdx.x == 0) {
            __hip_atomic_fetch_add(p.counter, 1u, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
            while (__hip_atomic_load(p.counter, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT) < gridDim.x * (unsigned)(i + 1))
                __builtin_amdgcn_s_sleep(1);
        }
        __syncthreads();
    }
}
TF_EXPORT(phases_relaxed)

extern "C" __global__ void one_block_leaves(const int)
{
    if (blockIdx.x == 1) return;
    tf_grid_sync();
}
TF_EXPORT(one_block_leaves)

extern "C" __global__ void one_block_leaves_late(const int)
{
    if (blockIdx.x == 1) {
        for (int i = 0; threadIdx.x == 0 && i < 100000; i++) __builtin_amdgcn_s_sleep(1);
        return;
    }
    tf_grid_sync();
}
TF_EXPORT(one_block_leaves_late)

extern "C" __global__ void two_kinds_of_barrier(const int)
{
    if (threadIdx.x < 64) tf_grid_sync();
    else __syncthreads();
}
TF_EXPORT(two_kinds_of_barrier)
