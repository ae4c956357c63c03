// Kernels of the everyday kind: elementwise, a norm with shuffles, geometry, barriers.
struct vadd_args { const float *a, *b; float *c; int n; };
extern "C" __global__ void vadd(const vadd_args p)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < p.n; i += gridDim.x * blockDim.x) p.c[i] = p.a[i] + p.b[i];
}
TF_EXPORT(vadd)

// One block a row: sums within a wave by shuffles, across waves through shared memory. Any wave size, any block size.
struct rmsnorm_args { const float *x, *w; float *y; int n; float eps; };
struct rmsnorm_shared { float part[1024]; };
extern "C" __global__ void rmsnorm(const rmsnorm_args p)
{
    TF_SHARED_STRUCT(rmsnorm_shared, sh);
    const int threads = blockDim.x, t = threadIdx.x, wave = warpSize < threads ? warpSize : threads;
    const float *x = p.x + (size_t)blockIdx.x * p.n;
    float s = 0;
    for (int i = t; i < p.n; i += threads) s += x[i] * x[i];
    for (int m = wave / 2; m > 0; m /= 2) s += __shfl_xor(s, m, wave);
    if (t % wave == 0) sh.part[t / wave] = s;
    __syncthreads();
    s = 0;
    for (int i = 0; i * wave < threads; i++) s += sh.part[i];
    const float r = rsqrtf(s / p.n + p.eps);
    for (int i = t; i < p.n; i += threads) p.y[(size_t)blockIdx.x * p.n + i] = x[i] * r * p.w[i];
}
TF_EXPORT(rmsnorm)

// The same with one thread a block in mind: a plain loop that vectorises.
extern "C" __global__ void rmsnorm_row(const rmsnorm_args p)
{
    typedef float v16 __attribute__((vector_size(64), aligned(4)));
    const float *x = p.x + (size_t)blockIdx.x * p.n;
    v16 s = {};
    for (int i = 0; i < p.n; i += 16) s += *(const v16 *)(x + i) * *(const v16 *)(x + i);
    float total = 0;
    for (int i = 0; i < 16; i++) total += s[i];
    const float r = rsqrtf(total / p.n + p.eps);
    for (int i = 0; i < p.n; i += 16)
        *(v16 *)(p.y + (size_t)blockIdx.x * p.n + i) = *(const v16 *)(x + i) * r * *(const v16 *)(p.w + i);
}
TF_EXPORT(rmsnorm_row)

// The thread and block indices that every thread sees.
extern "C" __global__ void geometry(unsigned *out)
{
    const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    unsigned *o = out + (block * blockDim.x * blockDim.y * blockDim.z + thread) * 8;
    o[0] = blockIdx.x, o[1] = blockIdx.y, o[2] = blockIdx.z, o[3] = threadIdx.x, o[4] = threadIdx.y, o[5] = threadIdx.z;
    o[6] = (unsigned)warpSize, o[7] = __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0));
}
TF_EXPORT(geometry)

// Each thread hands a number to its neighbour, `turns` times: wrong at once if a barrier leaks.
struct relay_args { int *out; int turns; };
struct relay_shared { int slot[2][1024]; };
extern "C" __global__ void relay(const relay_args p)
{
    TF_SHARED_STRUCT(relay_shared, sh);
    const int n = blockDim.x, t = threadIdx.x;
    int v = t;
    for (int i = 0; i < p.turns; i++) {
        sh.slot[i & 1][(t + 1) % n] = v;
        __syncthreads();
        v = sh.slot[i & 1][t] + 1;
    }
    p.out[blockIdx.x * n + t] = v;
}
TF_EXPORT(relay)

// Thread 0 waits in a loop for the last thread, some threads leave, and the barrier holds for all that are left.
struct late_shared { int flag, slot; };
extern "C" __global__ void late(int *out)
{
    TF_SHARED_STRUCT(late_shared, sh);
    atomicAdd(&out[gridDim.x * blockDim.x], 1); // each thread counts itself once
    const int t = threadIdx.x, last = blockDim.x - 1;
    if (t == 0) sh.flag = 0, sh.slot = 0;
    __syncthreads();
    if (t % 3 == 1 && t != last) return;
    if (t == last) __hip_atomic_store(&sh.flag, 1, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_WORKGROUP);
    if (t == 0) {
        while (!__hip_atomic_load(&sh.flag, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_WORKGROUP)) __builtin_amdgcn_s_sleep(1);
        for (int i = 0; i < 5; i++) __builtin_amdgcn_s_sleep(1);
        sh.slot = 42;
    }
    __syncthreads();
    out[blockIdx.x * blockDim.x + t] = sh.slot;
}
TF_EXPORT(late)

// The last wave takes part in the first barrier only. From then on one thread of it polls in a loop and answers what the other waves ask
// between two of their barriers.
struct apart_shared { int asked, answer, slot[2][1024]; };
extern "C" __global__ void apart(const relay_args p)
{
    TF_SHARED_STRUCT(apart_shared, sh);
    const int n = blockDim.x - warpSize, t = threadIdx.x;
    if (t == 0) sh.asked = sh.answer = 0;
    __syncthreads();
    if (t > n) return;
    if (t == n) {
        tf_hs_leave_barriers();
        for (int i = 1; i <= p.turns; i++) {
            while (__hip_atomic_load(&sh.asked, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_WORKGROUP) < i) __builtin_amdgcn_s_sleep(1);
            __hip_atomic_store(&sh.answer, i, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_WORKGROUP);
        }
        return;
    }
    int v = t;
    for (int i = 1; i <= p.turns; i++) {
        sh.slot[i & 1][(t + 1) % n] = v;
        if (t == n / 2) {
            __hip_atomic_store(&sh.asked, i, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_WORKGROUP);
            while (__hip_atomic_load(&sh.answer, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_WORKGROUP) < i) __builtin_amdgcn_s_sleep(1);
        }
        __syncthreads();
        v = sh.slot[i & 1][t] + 1;
        __syncthreads();
    }
    p.out[blockIdx.x * n + t] = v;
}
TF_EXPORT(apart)

extern "C" __global__ void empty(const int) {}
TF_EXPORT(empty)

extern "C" __global__ void barriers(const int n)
{
    for (int i = 0; i < n; i++) __syncthreads();
}
TF_EXPORT(barriers)

struct shuffles_args { float *out; int n; };
extern "C" __global__ void shuffles(const shuffles_args p)
{
    float v = threadIdx.x;
    for (int i = 0; i < p.n; i++) v += __shfl_xor(v, 1 + (i & 31));
    p.out[threadIdx.x] = v;
}
TF_EXPORT(shuffles)

// 96 KiB of locals in a thread: fits only because the export says so.
extern "C" __global__ void deep(int *out)
{
    volatile char room[96 << 10];
    for (unsigned i = 0; i < sizeof room; i += 512) room[i] = (char)i;
    __syncthreads();
    out[threadIdx.x] = room[512 * 7] + (int)threadIdx.x;
}
TF_EXPORT_STACK(deep, 128 << 10)

struct half_args { const float *x; _Float16 *h; float *y; int n; };
extern "C" __global__ void through_half(const half_args p)
{
    for (int i = threadIdx.x; i < p.n; i += blockDim.x) {
        p.h[i] = (_Float16)p.x[i];
        p.y[i] = (float)p.h[i];
    }
}
TF_EXPORT(through_half)

struct several_shared { unsigned count; float sum; int low; unsigned long long wide; };
extern "C" __global__ void atomics(float *out)
{
    TF_SHARED_STRUCT(several_shared, sh);
    if (threadIdx.x == 0) sh.count = 0, sh.sum = 0, sh.low = 1 << 20, sh.wide = 0;
    __syncthreads();
    atomicAdd(&sh.count, 1u);
    atomicAdd(&sh.sum, 0.5f);
    atomicMin(&sh.low, 1000 - (int)threadIdx.x);
    atomicMax(&sh.wide, (unsigned long long)threadIdx.x << 33);
    unsigned expected = 0;
    __syncthreads();
    while (!__hip_atomic_compare_exchange_strong(&sh.count, &expected, expected + 2, __ATOMIC_RELAXED, __ATOMIC_RELAXED,
                                                 __HIP_MEMORY_SCOPE_WORKGROUP)) {}
    __syncthreads();
    if (threadIdx.x == 0) out[0] = sh.count, out[1] = sh.sum, out[2] = sh.low, out[3] = (float)(sh.wide >> 33);
    __hip_atomic_fetch_add(&out[4], 1.0f, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
TF_EXPORT(atomics)

// Needs as much stack, but its export does not declare that.
__attribute__((noinline)) static int room_of(unsigned n)
{
    volatile char room[300 << 10];
    for (unsigned i = 0; i < sizeof room; i += 512) room[i] = (char)(i + n);
    return room[512 * 7];
}
extern "C" __global__ void deeper(int *out)
{
    out[threadIdx.x] = room_of(threadIdx.x);
    __syncthreads();
}
TF_EXPORT(deeper)
