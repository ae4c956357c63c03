// Kernels that go wrong, each in one way. Tests know lines by the comments at their ends.
struct wrong_args { int *x; int n; };
struct wrong_shared { int slot[64]; int other[64]; };

extern "C" __global__ void trapping(const wrong_args p)
{
    if (blockIdx.x == 2 && threadIdx.x == 70) __builtin_trap(); // line: trap
    p.x[threadIdx.x] = 1;
}
TF_EXPORT(trapping)
extern "C" __global__ void asserting(const wrong_args p)
{
    assert(p.n != 7 || threadIdx.x != 3); // line: assert
}
TF_EXPORT(asserting)
extern "C" __global__ void outside(const wrong_args p)
{
    p.x[blockIdx.x * blockDim.x + threadIdx.x + 1] = 5; // line: outside
}
TF_EXPORT(outside)
extern "C" __global__ void apart_race(const wrong_args p) // the last wave has left barriers
{
    TF_SHARED_STRUCT(wrong_shared, sh);
    const int t = threadIdx.x, last = blockDim.x - warpSize;
    if (t == 0) sh.slot[1] = 0;
    __syncthreads();
    if (t >= last) {
        tf_hs_leave_barriers();
        if (t == last) sh.slot[1] = 5;
        return;
    }
    __syncthreads();
    if (p.n) p.x[t] = sh.slot[1]; // line: apart_race
}
TF_EXPORT(apart_race)
extern "C" __global__ void outside_shared(const wrong_args p)
{
    TF_SHARED_STRUCT(wrong_shared, sh);
    sh.slot[threadIdx.x + p.n] = 1; // line: outside_shared
    __syncthreads();
    p.x[threadIdx.x] = sh.slot[threadIdx.x];
}
TF_EXPORT(outside_shared)
extern "C" __global__ void far_outside(const wrong_args p)
{
    p.x[(long long)p.n << 18] = 5;
}
TF_EXPORT(far_outside)
extern "C" __global__ void telling_where_shared_memory_is(const wrong_args p)
{
    TF_SHARED_STRUCT(wrong_shared, sh);
    *(unsigned long long *)p.x = (unsigned long long)sh.slot;
}
TF_EXPORT(telling_where_shared_memory_is)
extern "C" __global__ void dividing(const wrong_args p)
{
    p.x[threadIdx.x] = 100 / (p.n - (int)threadIdx.x); // line: divide
}
TF_EXPORT(dividing)
static __device__ __attribute__((noinline)) int dig(const wrong_args &p, volatile int *up, int depth)
{
    volatile int room[1000];
    room[depth % 1000] = up[0] + depth;
    return depth == p.n ? room[depth % 1000] : dig(p, room, depth + 1) + room[0];
}
extern "C" __global__ void overflowing(const wrong_args p)
{
    volatile int zero = 0;
    p.x[threadIdx.x] = dig(p, &zero, 0);
}
TF_EXPORT(overflowing)

extern "C" __global__ void waiting_for_nobody(const wrong_args p)
{
    if (threadIdx.x == 5)
        while (!__hip_atomic_load(p.x, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)) __builtin_amdgcn_s_sleep(1); // line: sleep
    __syncthreads(); // line: hang_barrier
}
TF_EXPORT(waiting_for_nobody)
extern "C" __global__ void spinning(const wrong_args p)
{
    while (!*(volatile int *)p.x) {} // line: spin
}
TF_EXPORT(spinning)
extern "C" __global__ void divergent_barrier(const wrong_args p)
{
    if (threadIdx.x & 1) {
        p.x[threadIdx.x] = 1;
        __syncthreads(); // line: barrier_odd
    } else {
        __syncthreads(); // line: barrier_even
        p.x[threadIdx.x] = 2;
    }
}
TF_EXPORT(divergent_barrier)
struct alignas(16) sixteen_bytes {
    int e[4];
};
extern "C" __global__ void misaligned(const wrong_args p)
{
    const int by_vector = *reinterpret_cast<const long long *>(p.x + p.n) != 0; // line: misaligned_read
    sixteen_bytes *to = reinterpret_cast<sixteen_bytes *>(p.x + 2 * p.n);
    tf_hs_write_whole(to, {{by_vector, 2, 3, 4}}); // line: misaligned_write
}
TF_EXPORT(misaligned)
extern "C" __global__ void not_global(const wrong_args p)
{
    __shared__ int mine[2];
    mine[1] = p.n;
    tf_hs_global(p.x, 4);
    tf_hs_global(&mine[1], 4); // line: loaded_as_global
    p.x[0] = mine[1];
}
TF_EXPORT(not_global)
extern "C" __global__ void half_a_matrix(const wrong_args p)
{
    typedef float f32x4 __attribute__((ext_vector_type(4)));
    f32x4 sum = 0.f;
    if (threadIdx.x < 32) sum = __builtin_amdgcn_mfma_f32_16x16x4f32(1.f, 1.f, sum, 0, 0, 0); // line: half_a_matrix
    p.x[threadIdx.x] = (int)sum[0];
}
TF_EXPORT(half_a_matrix)
extern "C" __global__ void partial_fold(const wrong_args p)
{
    if (threadIdx.x < 20) p.x[threadIdx.x] = __shfl(p.x[threadIdx.x], 3); // line: partial
}
TF_EXPORT(partial_fold)

// For --check.
extern "C" __global__ void racy(const wrong_args p)
{
    TF_SHARED_STRUCT(wrong_shared, sh);
    const int t = threadIdx.x;
    for (int i = 0; i < p.n; i++) {
        sh.slot[t] = t + i; // line: race_write
        __syncthreads();
        p.x[t] += sh.slot[63 - t]; // line: race_read
    }
}
TF_EXPORT(racy)
extern "C" __global__ void racy_wave(const wrong_args p)
{
    TF_SHARED_STRUCT(wrong_shared, sh);
    sh.slot[threadIdx.x] = p.x[threadIdx.x];
    if (p.n) tf_hs_wave_sync();
    p.x[threadIdx.x] = sh.slot[threadIdx.x ^ 1]; // line: lockstep
}
TF_EXPORT(racy_wave)
template <class Meet> static void neighbours(const wrong_args &p, Meet meet)
{
    TF_SHARED_STRUCT(wrong_shared, sh);
    sh.slot[threadIdx.x] = p.x[threadIdx.x];
    meet();
    p.x[threadIdx.x] = sh.slot[threadIdx.x ^ 1]; // line: shuffled
}
extern "C" __global__ void shuffled_amd(const wrong_args p) { neighbours(p, [] { tf_hs_shfl(1, 0); }); }
TF_EXPORT(shuffled_amd)
#define TF_TARGET_NVIDIA 1
extern "C" __global__ void shuffled_nvidia(const wrong_args p)
{
    if (p.n) neighbours(p, [] { __syncwarp(); });
    else neighbours(p, [] { tf_hs_shfl(1, 0); });
}
TF_EXPORT(shuffled_nvidia)
#undef TF_TARGET_NVIDIA
/* Lane 0 sets a flag after writing; only lanes that read the flag are ordered after it. */
extern "C" __global__ void told_by_one(const wrong_args p)
{
    TF_SHARED_STRUCT(wrong_shared, sh);
    if (threadIdx.x == 0) sh.slot[0] = 1;
    if (threadIdx.x == 0 || p.n) __hip_atomic_fetch_add(&sh.other[0], 1, __ATOMIC_ACQ_REL, __HIP_MEMORY_SCOPE_WORKGROUP);
    if (threadIdx.x == 1) p.x[0] = sh.slot[0]; // line: told_by_one
}
TF_EXPORT(told_by_one)
extern "C" __global__ void racy_blocks(const wrong_args p)
{
    if (threadIdx.x == 0) p.x[p.n ? (int)blockIdx.x : 0] = (int)blockIdx.x; // line: blocks
}
TF_EXPORT(racy_blocks)
extern "C" __global__ void half_atomic(const wrong_args p)
{
    if (threadIdx.x || p.n) atomicAdd(p.x, 1);
    else *p.x = 3; // line: half_atomic
}
TF_EXPORT(half_atomic)
extern "C" __global__ void unwritten(const wrong_args p)
{
    TF_SHARED_STRUCT(wrong_shared, sh);
    if ((int)threadIdx.x < p.n) sh.other[threadIdx.x] = 1;
    __syncthreads();
    p.x[threadIdx.x] = sh.other[threadIdx.x]; // line: unwritten
}
TF_EXPORT(unwritten)
extern "C" __global__ void copying(const wrong_args p)
{
    struct big { int v[40]; };
    *(big *)p.x = *(const big *)(p.x + p.n); // line: copying
}
TF_EXPORT(copying)
