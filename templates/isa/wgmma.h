// sm_90a's asynchronous instructions: mbarriers, TMA loads, wgmma, setmaxnreg. isa/wgmma_host.h has the same names for the host engine.
// Nothing outside this folder has sm_90a assembly.
#pragma once
#include "templates/isa/arrivals.h"

#if defined(TF_ON_HOST)
#include "templates/isa/wgmma_host.h"
#else

struct alignas(128) tensor_map { // the alignment in cuda.h since CUDA 13
    unsigned long long opaque[16];
};

// Predicated, because a branch between two groups of matrix products makes ptxas serialise them (C7520).
DEV void barrier_arrive_if(shared_address barrier, bool yes)
{
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %1, 0; @p mbarrier.arrive.shared::cta.b64 _, [%0]; }" ::"r"(barrier),
                 "r"(static_cast<int>(yes))
                 : "memory");
}

// A barrier of `threads` threads, whole warps. Barrier 0 is that of __syncthreads().
DEV void group_barrier(int index, int threads) { asm volatile("bar.sync %0, %1;" ::"r"(index), "r"(threads) : "memory"); }

// Orders the warp's memory accesses before the barrier ahead of those after it.
DEV void warp_barrier() { __syncwarp(); }

// Arrives at a group_barrier() without waiting.
DEV void group_arrive(int index, int threads) { asm volatile("bar.arrive %0, %1;" ::"r"(index), "r"(threads) : "memory"); }

// ---- TMA loads: copy a box of a tensor map to shared memory, with zeros outside the tensor. The mbarrier counts the bytes.

DEV void tensor_prefetch(const tensor_map &map) { asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory"); }

DEV void tensor_load(shared_address to, const tensor_map &map, shared_address barrier, int column, int row)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(to),
                 "l"(&map), "r"(barrier), "r"(column), "r"(row)
                 : "memory");
}

// The same for a tensor map of rank 4.
DEV void tensor_load(shared_address to, const tensor_map &map, shared_address barrier, int column, int head, int row, int batch)
{
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5, %6}], [%2];" ::"r"(
                     to),
                 "l"(&map), "r"(barrier), "r"(column), "r"(head), "r"(row), "r"(batch)
                 : "memory");
}

// A box of whole pieces of a packed weight (gemm/pieces.h), from piece n along its columns and piece k along K. In shared memory, pieces
// along n are contiguous; those of the next k follow.
DEV void piece_load(shared_address to, const tensor_map &map, shared_address barrier, int n, int k)
{
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5}], [%2];" ::"r"(to),
                 "l"(&map), "r"(barrier), "r"(0), "r"(n), "r"(k)
                 : "memory");
}

// piece_load() with an evict-first hint, for weights that are not read again soon.
DEV void piece_load_once(shared_address to, const tensor_map &map, shared_address barrier, int n, int k)
{
    unsigned long long first;
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(first));
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint "
                 "[%0], [%1, {%3, %4, %5}], [%2], %6;" ::"r"(to),
                 "l"(&map), "r"(barrier), "r"(0), "r"(n), "r"(k), "l"(first)
                 : "memory");
}

// ---- clusters: adjacent workgroups that start together and reach each other's shared memory

DEV int cluster_rank()
{
    int rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

// Called by all threads of all members. It first makes all earlier stores visible to the whole GPU (release).
DEV void cluster_barrier() { asm volatile("barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;" ::: "memory"); }
// A faster barrier that does not make earlier stores visible, for members that read nothing of each other.
DEV void cluster_meet() { asm volatile("barrier.cluster.arrive.relaxed;\nbarrier.cluster.wait.acquire;" ::: "memory"); }

// The last cluster_meet() of a kernel. By then each workgroup must have waited for all arrivals at its mbarriers (barrier_arrive_at()): one
// that reaches a workgroup that has ended makes the launch fail.
DEV void cluster_part() { cluster_meet(); }

// The mask of a multicast's receivers: `Members` members of the cluster, `Stride` ranks apart, from rank 0 on.
template <int Members, int Stride> constexpr int members_mask()
{
    int mask = 0;
    for (int i = 0; i < Members; i++) mask |= 1 << i * Stride;
    return mask;
}

// Multicasts a box of rows to the same address in `Members` members of the cluster, `Stride` ranks apart, from first_member on. Each of
// them calls this for a box of its own, which begins `below` rows (of 128 bytes) after `row`.
template <int Members, int Stride = 1>
DEV void tensor_load_all(shared_address to, const tensor_map &map, shared_address barrier, int column, int row, int below,
                         int first_member)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
                 "[%0], [%1, {%3, %4}], [%2], %5;" ::"r"(to + below * 128),
                 "l"(&map), "r"(barrier), "r"(column), "r"(row + below),
                 "h"(static_cast<unsigned short>(members_mask<Members, Stride>() << first_member))
                 : "memory");
}

// The same for a tensor map of rank 4.
template <int Members, int Stride = 1>
DEV void tensor_load_all(shared_address to, const tensor_map &map, shared_address barrier, int column, int head, int row, int batch,
                         int below, int first_member)
{
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
                 "[%0], [%1, {%3, %4, %5, %6}], [%2], %7;" ::"r"(to + below * 128),
                 "l"(&map), "r"(barrier), "r"(column), "r"(head), "r"(row + below), "r"(batch),
                 "h"(static_cast<unsigned short>(members_mask<Members, Stride>() << first_member))
                 : "memory");
}

// As tensor_load_all(), for pieces. Each member passes the address and coordinates of its own box.
template <int Members, int Stride = 1>
DEV void piece_load_all(shared_address to, const tensor_map &map, shared_address barrier, int n, int k, int first_member)
{
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
                 "[%0], [%1, {%3, %4, %5}], [%2], %6;" ::"r"(to),
                 "l"(&map), "r"(barrier), "r"(0), "r"(n), "r"(k),
                 "h"(static_cast<unsigned short>(members_mask<Members, Stride>() << first_member))
                 : "memory");
}

// Arrives at another member's mbarrier if `yes`. It is ordered after finished products and TMA loads, but not after ordinary stores, since
// a release at cluster scope would fence all of the GPU's memory.
DEV void barrier_arrive_at(int member, shared_address barrier, bool yes)
{
    asm volatile("{ .reg .pred p; .reg .b32 there; setp.ne.b32 p, %2, 0; mapa.shared::cluster.u32 there, %0, %1;\n"
                 "@p mbarrier.arrive.shared::cluster.b64 _, [there]; }" ::"r"(barrier),
                 "r"(member), "r"(static_cast<int>(yes))
                 : "memory");
}

// Reads W floats of another member's shared memory, at this workgroup's address `from`. The caller needs a cluster_barrier() between the
// stores and this, and another before that member reuses the memory.
template <int W> DEV vec<float, W> cluster_read(int member, shared_address from)
{
    static_assert(W == 1 || W == 2 || W == 4, "tile: W is 1, 2 or 4 floats");
    vec<float, W> v;
    shared_address there;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(from), "r"(member));
    float x[W];
    if constexpr (W == 1)
        asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(x[0]) : "r"(there));
    else if constexpr (W == 2)
        asm volatile("ld.shared::cluster.v2.f32 {%0, %1}, [%2];" : "=f"(x[0]), "=f"(x[1]) : "r"(there));
    else
        asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(x[0]), "=f"(x[1]), "=f"(x[2]), "=f"(x[3]) : "r"(there));
#pragma unroll
    for (int i = 0; i < W; i++) v[i] = x[i];
    return v;
}

// Fences between ordinary and asynchronous accesses (TMA, wgmma) to the same memory, in either order: for global memory, for shared memory.
DEV void proxy_fence() { asm volatile("fence.proxy.async.global;" ::: "memory"); }
DEV void async_fence_shared() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// ---- shared memory by address

DEV void shared_write(shared_address to, float x) { asm volatile("st.shared.f32 [%0], %1;" ::"r"(to), "f"(x) : "memory"); }
DEV void shared_read(shared_address from, float &x) { asm volatile("ld.shared.f32 %0, [%1];" : "=f"(x) : "r"(from) : "memory"); }
DEV void shared_read(shared_address from, float &x, float &y, float &z, float &w)
{
    asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(x), "=f"(y), "=f"(z), "=f"(w) : "r"(from) : "memory");
}
template <int W> DEV vec<float, W> shared_read(shared_address from)
{
    static_assert(W == 1 || W == 2 || W == 4, "tile: W is 1, 2 or 4 floats");
    float x[W];
    if constexpr (W == 1)
        shared_read(from, x[0]);
    else if constexpr (W == 2)
        asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(x[0]), "=f"(x[1]) : "r"(from) : "memory");
    else
        shared_read(from, x[0], x[1], x[2], x[3]);
    vec<float, W> v;
#pragma unroll
    for (int i = 0; i < W; i++) v[i] = x[i];
    return v;
}
DEV void shared_write(shared_address to, const unsigned (&x)[2])
{
    asm volatile("st.shared.v2.u32 [%0], {%1, %2};" ::"r"(to), "r"(x[0]), "r"(x[1]) : "memory");
}
// Volatile, so it keeps its order among other volatile statements and barriers; without a "memory" clobber, other loads may pass it.
DEV void shared_read(shared_address from, unsigned (&x)[4])
{
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3]) : "r"(from));
}
// Stores a warp's 16 rows x 16 columns of 2 bytes, rows `pitch` bytes apart. x[2 * b + h] is the thread's pair of columns in its row h (0
// or 1, struct fragment) and in columns 8 * b to 8 * b + 7.
DEV void fragment_store(shared_address rows, int pitch, const unsigned (&x)[4])
{
    const int lane = thread_index() % 32;
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(rows + lane % 16 * pitch + lane / 16 * 16),
                 "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]));
}
// As fragment_store(), transposed, with columns `pitch` bytes apart. Half: stores columns 0 to 7 alone.
template <bool Half> DEV void fragment_store_across(shared_address columns, int pitch, const unsigned (&x)[4])
{
    const int lane = thread_index() % 32;
    const shared_address to = columns + (Half ? lane % 8 : lane / 16 * 8 + lane % 8) * pitch + lane / 8 % 2 * 16;
    if constexpr (Half)
        asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %2};" ::"r"(to), "r"(x[0]), "r"(x[1]));
    else
        asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(x[0]), "r"(x[1]), "r"(x[2]),
                     "r"(x[3]));
}
// ---- setmaxnreg: the producer's warps give up registers, which the consumers' warps take

template <int N> DEV void registers_shrink() { asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(N)); }
template <int N> DEV void registers_grow() { asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(N)); }

// ---- wgmma

// Descriptor of an operand in shared memory with rows of 128 bytes along k and 128-byte swizzle, in contiguous blocks of 8 rows (1024
// bytes). The next 32 bytes of k (one instruction) are operand_behind(operand, 32).
DEV unsigned long long operand(shared_address at) { return ((at & 0x3ffffu) >> 4) | 1ull << 16 | 64ull << 32 | 1ull << 62; }
// Descriptor of an operand in pieces (gemm/pieces.h): blocks of 8 rows x 16 bytes without swizzle, 128 bytes apart along k; the next 8 rows
// are 512 bytes further on. Within a piece the next 32 bytes of k are operand_behind(operand, 256).
DEV unsigned long long piece_operand(shared_address at) { return ((at & 0x3ffffu) >> 4) | 8ull << 16 | 32ull << 32; }
DEV unsigned long long operand_behind(unsigned long long operand, int bytes) { return operand + (bytes >> 4); }

// Descriptor of an operand stored transposed (MN-major): rows of 128 bytes along M or N, one per k, with 128-byte swizzle. The next 64
// elements along M or N are `panel` bytes further on, the next 16 along k (one instruction) 2048 bytes.
DEV unsigned long long operand_across(shared_address at, int panel)
{
    return ((at & 0x3ffffu) >> 4) | static_cast<unsigned long long>(panel >> 4) << 16 | 64ull << 32 | 1ull << 62;
}

DEV void product_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
DEV void product_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int Left> DEV void product_wait() { asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Left) : "memory"); }

// Keeps accumulators in their registers before and after a group of products. Otherwise ptxas moves them and serialises the products.
template <int N> DEV void pin(float (&d)[N])
{
#pragma unroll
    for (int i = 0; i < N; i++) asm volatile("" : "+f"(d[i])::"memory");
}

DEV void pin(int &n) { asm volatile("" : "+r"(n)); }

// The row and column of a thread's register i (of N/2) in the warpgroup's 64 x N result. thread: its index in the warpgroup.
struct fragment {
    static constexpr int rows = 2; // a thread has elements of 2 rows, 8 apart
    DEV static int row(int thread, int i) { return thread / 32 * 16 + thread % 32 / 4 + i / 2 % 2 * 8; }
    DEV static int column(int thread, int i) { return i / 4 * 8 + thread % 4 * 2 + i % 2; }
};

// wgmma<T, N>::multiply<AcrossA, AcrossB>(d, a, b, keep): d = a * transposed(b) + (keep ? d : 0), 64 x N, over 32 bytes along k. AcrossA,
// AcrossB: 1 if that operand is stored transposed (operand_across()), which only types of 2 bytes may be. An instruction names every
// accumulator register, so macros make the lists "%0,%1,..." and "+f"(d[0]), ... for all files of this folder.
template <class T, int N> struct wgmma;

#define TF_LIST_4 "%0,%1,%2,%3"
#define TF_LIST_8 TF_LIST_4 ",%4,%5,%6,%7"
#define TF_LIST_12 TF_LIST_8 ",%8,%9,%10,%11"
#define TF_LIST_16 TF_LIST_12 ",%12,%13,%14,%15"
#define TF_LIST_20 TF_LIST_16 ",%16,%17,%18,%19"
#define TF_LIST_24 TF_LIST_20 ",%20,%21,%22,%23"
#define TF_LIST_28 TF_LIST_24 ",%24,%25,%26,%27"
#define TF_LIST_32 TF_LIST_28 ",%28,%29,%30,%31"
#define TF_LIST_36 TF_LIST_32 ",%32,%33,%34,%35"
#define TF_LIST_40 TF_LIST_36 ",%36,%37,%38,%39"
#define TF_LIST_44 TF_LIST_40 ",%40,%41,%42,%43"
#define TF_LIST_48 TF_LIST_44 ",%44,%45,%46,%47"
#define TF_LIST_52 TF_LIST_48 ",%48,%49,%50,%51"
#define TF_LIST_56 TF_LIST_52 ",%52,%53,%54,%55"
#define TF_LIST_60 TF_LIST_56 ",%56,%57,%58,%59"
#define TF_LIST_64 TF_LIST_60 ",%60,%61,%62,%63"
#define TF_LIST_68 TF_LIST_64 ",%64,%65,%66,%67"
#define TF_LIST_72 TF_LIST_68 ",%68,%69,%70,%71"
#define TF_LIST_76 TF_LIST_72 ",%72,%73,%74,%75"
#define TF_LIST_80 TF_LIST_76 ",%76,%77,%78,%79"
#define TF_LIST_84 TF_LIST_80 ",%80,%81,%82,%83"
#define TF_LIST_88 TF_LIST_84 ",%84,%85,%86,%87"
#define TF_LIST_92 TF_LIST_88 ",%88,%89,%90,%91"
#define TF_LIST_96 TF_LIST_92 ",%92,%93,%94,%95"
#define TF_LIST_100 TF_LIST_96 ",%96,%97,%98,%99"
#define TF_LIST_104 TF_LIST_100 ",%100,%101,%102,%103"
#define TF_LIST_108 TF_LIST_104 ",%104,%105,%106,%107"
#define TF_LIST_112 TF_LIST_108 ",%108,%109,%110,%111"
#define TF_LIST_116 TF_LIST_112 ",%112,%113,%114,%115"
#define TF_LIST_120 TF_LIST_116 ",%116,%117,%118,%119"
#define TF_LIST_124 TF_LIST_120 ",%120,%121,%122,%123"
#define TF_LIST_128 TF_LIST_124 ",%124,%125,%126,%127"
#define TF_OUT_AT(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define TF_OUT_4 TF_OUT_AT(0)
#define TF_OUT_8 TF_OUT_4, TF_OUT_AT(4)
#define TF_OUT_12 TF_OUT_8, TF_OUT_AT(8)
#define TF_OUT_16 TF_OUT_12, TF_OUT_AT(12)
#define TF_OUT_20 TF_OUT_16, TF_OUT_AT(16)
#define TF_OUT_24 TF_OUT_20, TF_OUT_AT(20)
#define TF_OUT_28 TF_OUT_24, TF_OUT_AT(24)
#define TF_OUT_32 TF_OUT_28, TF_OUT_AT(28)
#define TF_OUT_36 TF_OUT_32, TF_OUT_AT(32)
#define TF_OUT_40 TF_OUT_36, TF_OUT_AT(36)
#define TF_OUT_44 TF_OUT_40, TF_OUT_AT(40)
#define TF_OUT_48 TF_OUT_44, TF_OUT_AT(44)
#define TF_OUT_52 TF_OUT_48, TF_OUT_AT(48)
#define TF_OUT_56 TF_OUT_52, TF_OUT_AT(52)
#define TF_OUT_60 TF_OUT_56, TF_OUT_AT(56)
#define TF_OUT_64 TF_OUT_60, TF_OUT_AT(60)
#define TF_OUT_68 TF_OUT_64, TF_OUT_AT(64)
#define TF_OUT_72 TF_OUT_68, TF_OUT_AT(68)
#define TF_OUT_76 TF_OUT_72, TF_OUT_AT(72)
#define TF_OUT_80 TF_OUT_76, TF_OUT_AT(76)
#define TF_OUT_84 TF_OUT_80, TF_OUT_AT(80)
#define TF_OUT_88 TF_OUT_84, TF_OUT_AT(84)
#define TF_OUT_92 TF_OUT_88, TF_OUT_AT(88)
#define TF_OUT_96 TF_OUT_92, TF_OUT_AT(92)
#define TF_OUT_100 TF_OUT_96, TF_OUT_AT(96)
#define TF_OUT_104 TF_OUT_100, TF_OUT_AT(100)
#define TF_OUT_108 TF_OUT_104, TF_OUT_AT(104)
#define TF_OUT_112 TF_OUT_108, TF_OUT_AT(108)
#define TF_OUT_116 TF_OUT_112, TF_OUT_AT(112)
#define TF_OUT_120 TF_OUT_116, TF_OUT_AT(116)
#define TF_OUT_124 TF_OUT_120, TF_OUT_AT(120)
#define TF_OUT_128 TF_OUT_124, TF_OUT_AT(124)

#define TF_WGMMA(T, N, R, A, B, KEEP, KIND, MAJOR)                                                                                \
    template <> struct wgmma<T, N> {                                                                                              \
        static constexpr int registers = R;                                                                                       \
        template <int AcrossA = 0, int AcrossB = 0>                                                                               \
        DEV static void multiply(float (&d)[R], unsigned long long a, unsigned long long b, int keep)                             \
        {                                                                                                                         \
            static_assert(sizeof(T) == 2 || (!AcrossA && !AcrossB), "operands of 4 bytes are stored along k");                    \
            asm volatile("{ .reg .pred p; setp.ne.b32 p, " KEEP ", 0; wgmma.mma_async.sync.aligned.m64n" #N KIND " {" TF_LIST_##R \
                         "}, " A ", " B ", p, 1, 1" MAJOR "; }"                                                                   \
                         : TF_OUT_##R                                                                                             \
                         : "l"(a), "l"(b), "r"(keep), "n"(AcrossA), "n"(AcrossB));                                                \
        }                                                                                                                         \
    };
// A product of TF32 parts of f32 operands: the large or the small parts of A (tf32_large(), tf32_small()), in registers in the layout of
// fragment_load(), with B from shared memory. Keep: 0 starts a new sum.
#define TF_WGMMA_PARTS(N, R, A0, A1, A2, A3, B, KEEP)                                                                                      \
    template <> struct wgmma_parts<N> {                                                                                                    \
        static constexpr int registers = R;                                                                                                \
        template <int Keep> DEV static void multiply(float (&d)[R], const float *a, unsigned long long b)                                  \
        {                                                                                                                                  \
            asm volatile("{ .reg .pred p; setp.ne.b32 p, " KEEP ", 0; wgmma.mma_async.sync.aligned.m64n" #N                                \
                         "k8.f32.tf32.tf32 {" TF_LIST_##R "}, {" A0 ", " A1 ", " A2 ", " A3 "}, " B ", p, 1, 1; }"                         \
                         : TF_OUT_##R                                                                                                      \
                         : "r"(float_bits(a[0])), "r"(float_bits(a[1])), "r"(float_bits(a[2])), "r"(float_bits(a[3])), "l"(b), "n"(Keep)); \
        }                                                                                                                                  \
    };
template <int N> struct wgmma_parts;
TF_WGMMA_PARTS(64, 32, "%32", "%33", "%34", "%35", "%36", "%37")
TF_WGMMA_PARTS(96, 48, "%48", "%49", "%50", "%51", "%52", "%53")
TF_WGMMA_PARTS(128, 64, "%64", "%65", "%66", "%67", "%68", "%69")
#undef TF_WGMMA_PARTS

// fragment_load() loads a thread's 4 elements of 64 rows x 8 columns of f32 from shared memory in the layout of operand(). piece: the index
// of the first of their two 16-byte pieces. Lines::row_at(warp, i): which row is row 16 * warp + i of the instruction.
template <class Lines> DEV shared_address fragment_address(shared_address rows, int piece)
{
    const int lane = thread_index() % 32, row = Lines::row_at(wave_index() % 4, lane % 16);
    return rows + row * 128 + ((piece + lane / 16 ^ row % 8) << 4);
}
template <class Lines> DEV void fragment_load(shared_address rows, int piece, float *a)
{
    unsigned r[4];
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(fragment_address<Lines>(rows, piece))
                 : "memory");
#pragma unroll
    for (int i = 0; i < 4; i++) a[i] = bits_float(r[i]);
}

// Issues products of whole stages into one accumulator, of which some are in flight while others are issued, and waits for them.
template <class T, int N> struct stage_products {
    template <int AcrossA = 0, int AcrossB = 0>
    DEV static void multiply(float (&d)[wgmma<T, N>::registers], unsigned long long a, unsigned long long b, int keep)
    {
        wgmma<T, N>::template multiply<AcrossA, AcrossB>(d, a, b, keep);
    }
    DEV static void commit() { product_commit(); }
    DEV static void commit_with_others() {} // for accumulators whose products share a group: one of them calls commit() instead
    template <int Left> DEV static void wait(float (&)[wgmma<T, N>::registers]) { product_wait<Left>(); }
};

// The same for f32 in two TF32 parts. wait() waits for all products of the stage.
template <int N> struct part_products {
    template <int Keep> DEV static void multiply(float (&d)[wgmma_parts<N>::registers], const float *a, unsigned long long b)
    {
        wgmma_parts<N>::template multiply<Keep>(d, a, b);
    }
    DEV static void commit() { product_commit(); }
    DEV static void wait(float (&)[wgmma_parts<N>::registers]) { product_wait<0>(); }
};

// An f32 as two TF32 parts. tf32_large(): x rounded to the 11 bits that tensor cores use. tf32_small(): the remainder, rounded likewise.
// The large part of a NaN may be an ordinary number, but its small part is NaN.
DEV float tf32_large(float x) { return bits_float(float_bits(x) + 0x1000u & 0xffffe000u); }
DEV float tf32_small(float left)
{
    unsigned y;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(y) : "f"(left));
    return bits_float(y);
}

// The instruction's immediates that tell whether an operand is MN-major; it has them only for types of 2 bytes.
#define TF_MAJOR_16(A, B) ", " A ", " B
#define TF_MAJOR_32(A, B)
#define TF_WGMMA_SIZES(T, KIND, MAJOR) \
    TF_WGMMA(T, 64, 32, "%32", "%33", "%34", KIND, MAJOR("%35", "%36")) \
    TF_WGMMA(T, 96, 48, "%48", "%49", "%50", KIND, MAJOR("%51", "%52")) \
    TF_WGMMA(T, 160, 80, "%80", "%81", "%82", KIND, MAJOR("%83", "%84")) \
    TF_WGMMA(T, 224, 112, "%112", "%113", "%114", KIND, MAJOR("%115", "%116")) \
    TF_WGMMA(T, 128, 64, "%64", "%65", "%66", KIND, MAJOR("%67", "%68")) \
    TF_WGMMA(T, 192, 96, "%96", "%97", "%98", KIND, MAJOR("%99", "%100")) \
    TF_WGMMA(T, 256, 128, "%128", "%129", "%130", KIND, MAJOR("%131", "%132"))
TF_WGMMA_SIZES(bf16, "k16.f32.bf16.bf16", TF_MAJOR_16)
TF_WGMMA_SIZES(f16, "k16.f32.f16.f16", TF_MAJOR_16)
TF_WGMMA_SIZES(float, "k8.f32.tf32.tf32", TF_MAJOR_32)

#undef TF_MAJOR_32
#undef TF_WGMMA_SIZES
#endif
