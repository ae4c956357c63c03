// isa/wgmma.h for the host engine, on a CPU: mbarriers, TMA loads with their swizzle, wgmma. Products and TMA loads happen as late as they
// may, so that a missing wait makes results wrong. The engine reports a wait that cannot end. An instruction's memory accesses are reported
// to `tfgen access` and to the race checks where it is issued (tf_hs_says()). runtime/device/device_host.c fills in tensor maps.
#pragma once
#include "templates/isa/arrivals.h"

#if defined(TF_ON_HOST)

// A shared_address is an offset in the workgroup's shared memory. Its first 1024 bytes belong to group_barrier() and host_loads_of().

struct alignas(128) tensor_map {
    const char *data;
    long long rows, row_bytes, stride; // bytes of a row that exist; bytes between rows
    int box_rows, element;
    long long heads, head_stride, batches, batch_stride; // of maps of rank 4; strides in bytes
    int box_heads, box_pieces; // box_pieces: in maps of pieces, how many a box has along k; `rows` and `box_rows` count pieces along n
    unsigned long long unused[6];
};

DEV char *host_memory()
{
    TF_SHARED_DYN(char, memory);
    return memory;
}
// A pointer to an address in shared memory: this workgroup's or, if `memory` is given, that of another one in the cluster.
template <class T> DEV T *host_shared(shared_address at, char *memory = host_memory()) { return reinterpret_cast<T *>(memory + at); }
DEV shared_address shared_at(const void *p) { return static_cast<shared_address>(static_cast<const char *>(p) - host_shared<char>(0)) + 1; }

template <class T> DEV T host_read(const T *p) { return __hip_atomic_load(p, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_WORKGROUP); }
template <class T> DEV void host_write(T *p, T x) { __hip_atomic_store(p, x, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_WORKGROUP); }

// ---- mbarriers. From bit 0 on, a word has 16 bits for the number of arrivals that a phase takes, 16 for those still pending, 1 for the
// phase's parity, 31 for pending bytes. The threads of a workgroup run one at a time, so a read and a write make an atomic update.
DEV void host_barrier_add(shared_address barrier, int arrivals, int bytes, char *memory = host_memory())
{
    tf_hs_stands_in();
    long long *word = host_shared<long long>(barrier, memory), x = host_read(word);
    const long long each = x & 0xffff;
    long long pending = (x >> 16 & 0xffff) - arrivals, tx = (x >> 33) + bytes, phase = x >> 32 & 1;
    if (pending == 0 && tx == 0) {
        pending = each;
        phase ^= 1;
        tf_hs_progressed();
    }
    host_write(word, tx * 0x200000000ll | phase << 32 | pending << 16 | each);
}
DEV void barrier_init(shared_address barrier, int arrivals)
{
    tf_hs_stands_in();
    host_write(host_shared<long long>(barrier), arrivals * 0x10001ll);
}
DEV void barrier_init_done()
{
    tf_hs_stands_in();
    for (int i = 0; i < 256; i++) host_write(host_shared<unsigned>(4 * i), 0u);
}
DEV void barrier_expect(shared_address barrier, unsigned bytes) { host_barrier_add(barrier, 1, static_cast<int>(bytes)); }
DEV void barrier_arrive_if(shared_address barrier, bool yes)
{
    if (yes) host_barrier_add(barrier, 1, 0);
}
#if defined(TF_LATE_WAVES) // set by a test: of each warpgroup only the first wave is in time at a wait, and loads land at once
inline constexpr int late_by = 400;
#else
inline constexpr int late_by = 0;
#endif
inline bool host_land(shared_address barrier);
DEV void barrier_wait(shared_address barrier, unsigned parity)
{
    tf_hs_stands_in();
    for (int i = 0; wave_index() % 4 != 0 && i < late_by; i++) tf_hs_yield();
    while ((host_read(host_shared<long long>(barrier)) >> 32 & 1) == parity)
        if (!host_land(barrier)) tf_hs_yield();
}

DEV void group_barrier(int index, int threads)
{
    tf_hs_stands_in();
    unsigned *count = host_shared<unsigned>(8 * index), *turn = count + 1;
    const unsigned now = host_read(turn), arrived = host_read(count) + 1;
    host_write(count, arrived == static_cast<unsigned>(threads) ? 0u : arrived);
    if (arrived == static_cast<unsigned>(threads)) {
        host_write(turn, now + 1);
        tf_hs_progressed();
    } else
        while (host_read(turn) == now) tf_hs_yield();
}

DEV void warp_barrier() { group_barrier(16 + wave_index(), 32); }

DEV void group_arrive(int index, int threads)
{
    tf_hs_stands_in();
    unsigned *count = host_shared<unsigned>(8 * index), *turn = count + 1;
    const unsigned arrived = host_read(count) + 1;
    host_write(count, arrived == static_cast<unsigned>(threads) ? 0u : arrived);
    if (arrived == static_cast<unsigned>(threads)) {
        host_write(turn, host_read(turn) + 1);
        tf_hs_progressed();
    }
}

// ---- arrivals at an mbarrier of another workgroup. Like a load, they land only when a thread waits for that mbarrier; no barrier of the
// cluster waits for them. While they are in flight, the mbarrier's word of host_loads_of() has their number in place of a load.
inline constexpr unsigned host_arrivals = 1u << 31;

// ---- TMA loads. A load lands only when a thread waits for its mbarrier. Until then its destination holds NaN, and in its first bytes the
// pending load itself. So results are wrong if a wait is missing or a stage is filled while it is still being read.
struct host_load {
    tensor_map map;      // a copy, since the caller's may no longer exist when the load lands
    shared_address next; // address of another load of the same mbarrier; 0: none
    int column, row, head, batch;
    bool wide; // the map has rank 4, and `row` counts tokens

    DEV int bytes() const
    {
        return map.box_pieces ? map.box_rows * map.box_pieces * 1024 : map.box_rows * (wide ? map.box_heads : 1) * 128;
    }
};
DEV void tensor_prefetch(const tensor_map &) {}

// Bytes 512 to 1023 of shared memory have a word for each mbarrier with loads or arrivals in flight: its address and that of its first
// load, or the number of arrivals.
DEV unsigned long long *host_loads_of(shared_address barrier, char *memory = host_memory())
{
    unsigned long long *unused = nullptr;
    for (shared_address at = 512; at < 1024; at += 8) {
        unsigned long long *word = host_shared<unsigned long long>(at, memory);
        const unsigned long long x = host_read(word);
        if (x >> 32 == barrier) return word;
        if (!x && !unused) unused = word;
    }
    if (!unused) __builtin_trap();
    return unused;
}
// A row of a TMA load's box: where it lies in memory, and how many of its bytes exist. A row has 128 bytes or, in a map of pieces, 1024.
struct host_row {
    const char *from;
    long long valid;
};
DEV host_row host_row_of(const host_load &l, int i)
{
    if (l.map.box_pieces) {
        const long long n = l.row + i % l.map.box_rows, at = (l.column + i / l.map.box_rows) * 1024ll;
        const bool inside = n < l.map.rows && at < l.map.row_bytes;
        return {l.map.data + (inside ? n * l.map.stride + at : 0), inside ? 1024 : 0};
    }
    const int heads = l.wide ? l.map.box_heads : 1;
    const long long at = static_cast<long long>(l.column) * l.map.element, row = l.row + i / heads, head = l.head + i % heads;
    const bool inside = row < l.map.rows && at < l.map.row_bytes && (!l.wide || (head < l.map.heads && l.batch < l.map.batches));
    const long long line = row * l.map.stride + (l.wide ? head * l.map.head_stride + l.batch * l.map.batch_stride : 0);
    const long long left = inside ? l.map.row_bytes - at : 0;
    return {l.map.data + (inside ? line + at : 0), left < 128 ? left : 128};
}
DEV void host_load_says(const host_load &l, shared_address to, char *memory)
{
    const int bytes = l.map.box_pieces ? 1024 : 128;
    for (int i = 0; i < l.bytes() / bytes; i++) {
        const host_row row = host_row_of(l, i);
        if (row.valid) tf_hs_says(row.from, row.valid, HS_CHECK_READ | HS_CHECK_BULK), tf_hs_aligned(row.from, 16);
        tf_hs_says(host_shared<char>(to + i * bytes, memory), bytes, HS_CHECK_WRITE | HS_CHECK_BULK);
    }
}
DEV void host_issue(shared_address to, const tensor_map &map, shared_address barrier, int column, int row, int head, int batch, bool wide,
                    char *memory = host_memory())
{
    tf_hs_stands_in();
    unsigned long long *first = host_loads_of(barrier, memory);
    const host_load load = {map, static_cast<shared_address>(host_read(first)), column, row, head, batch, wide};
    host_load_says(load, to, memory);
    for (int i = 0; i < load.bytes() / 8; i++) host_shared<unsigned long long>(to, memory)[i] = ~0ull;
    *host_shared<host_load>(to, memory) = load;
    host_write(first, static_cast<unsigned long long>(barrier) << 32 | to);
    if (late_by > 0 && memory == host_memory()) host_land(barrier);
}
DEV void tensor_load(shared_address to, const tensor_map &map, shared_address barrier, int column, int row)
{
    host_issue(to, map, barrier, column, row, 0, 0, false);
}
DEV void tensor_load(shared_address to, const tensor_map &map, shared_address barrier, int column, int head, int row, int batch)
{
    host_issue(to, map, barrier, column, row, head, batch, true);
}
DEV void piece_load(shared_address to, const tensor_map &map, shared_address barrier, int n, int k)
{
    host_issue(to, map, barrier, k, n, 0, 0, false);
}

DEV void piece_load_once(shared_address to, const tensor_map &map, shared_address barrier, int n, int k)
{
    piece_load(to, map, barrier, n, k);
}

DEV void host_piece(char *to, const char *from, long long valid, int bytes)
{
    for (int i = 0; i < bytes; i++) to[i] = i < valid ? from[i] : 0;
}
DEV void host_bring(shared_address to, const host_load &l)
{
    for (int i = 0; i < l.bytes() / 128; i++) {
        const host_row row = host_row_of(l, i);
        for (int j = 0; j < 8; j++)
            host_piece(host_shared<char>(to + i * 128 + ((j ^ i % 8) << 4)), row.from + 16 * j, row.valid - 16 * j, 16);
    }
}
DEV void host_bring_pieces(shared_address to, const host_load &l)
{
    for (int i = 0; i < l.bytes() / 1024; i++) {
        const host_row row = host_row_of(l, i);
        host_piece(host_shared<char>(to + i * 1024), row.from, row.valid, 1024);
    }
}
// Completes the loads or arrivals in flight to an mbarrier; false: there are none.
inline bool host_land(shared_address barrier)
{
    tf_hs_stands_in();
    unsigned long long *first = host_loads_of(barrier);
    shared_address to = static_cast<shared_address>(host_read(first));
    if (!to) return false;
    host_write(first, 0ull);
    if (to & host_arrivals) {
        host_barrier_add(barrier, static_cast<int>(to & ~host_arrivals), 0);
        return true;
    }
    while (to) {
        const host_load l = *host_shared<host_load>(to);
        if (l.map.box_pieces)
            host_bring_pieces(to, l);
        else
            host_bring(to, l);
        host_barrier_add(barrier, 0, -l.bytes());
        to = l.next;
    }
    return true;
}
// ---- clusters
DEV void cluster_barrier()
{
    cluster_arrive();
    cluster_wait();
}
DEV void cluster_meet() { cluster_barrier(); }
DEV void cluster_part()
{
    cluster_barrier();
    tf_hs_stands_in();
    for (shared_address at = 512; at < 1024; at += 8)
        if (static_cast<unsigned>(host_read(host_shared<unsigned long long>(at))) & host_arrivals)
            hs_trap("an arrival from another workgroup of the cluster may reach this one's mbarrier after this one has ended");
}
DEV int cluster_rank() { return static_cast<int>(tf_hs_cluster_rank()); }
template <int Members, int Stride = 1>
DEV void tensor_load_all(shared_address to, const tensor_map &map, shared_address barrier, int column, int row, int below,
                         int first_member)
{
    for (int i = first_member; i < first_member + Members * Stride; i += Stride)
        host_issue(to + below * 128, map, barrier, column, row + below, 0, 0, false, tf_hs_cluster_shared(i));
}
template <int Members, int Stride = 1>
DEV void tensor_load_all(shared_address to, const tensor_map &map, shared_address barrier, int column, int head, int row, int batch,
                         int below, int first_member)
{
    for (int i = first_member; i < first_member + Members * Stride; i += Stride)
        host_issue(to + below * 128, map, barrier, column, row + below, head, batch, true, tf_hs_cluster_shared(i));
}
template <int Members, int Stride = 1>
DEV void piece_load_all(shared_address to, const tensor_map &map, shared_address barrier, int n, int k, int first_member)
{
    for (int i = first_member; i < first_member + Members * Stride; i += Stride)
        host_issue(to, map, barrier, k, n, 0, 0, false, tf_hs_cluster_shared(i));
}
DEV void barrier_arrive_at(int member, shared_address barrier, bool yes)
{
    if (!yes) return;
    tf_hs_stands_in();
    unsigned long long *in_flight = host_loads_of(barrier, tf_hs_cluster_shared(member));
    const unsigned count = static_cast<unsigned>(host_read(in_flight)) & ~host_arrivals;
    host_write(in_flight, static_cast<unsigned long long>(barrier) << 32 | host_arrivals | (count + 1));
}
template <int W> DEV vec<float, W> cluster_read(int member, shared_address from)
{
    return load_aligned<W>(host_shared<float>(from, tf_hs_cluster_shared(member)));
}
DEV void proxy_fence() { __threadfence(); }
DEV void async_fence_shared() { __threadfence_block(); }

// ---- shared memory by address
DEV void shared_write(shared_address to, float x) { *host_shared<float>(to) = x; }
DEV void shared_read(shared_address from, float &x) { x = *host_shared<float>(from); }
DEV void shared_read(shared_address from, float &x, float &y, float &z, float &w)
{
    const vec<float, 4> v = load_aligned<4>(host_shared<float>(from));
    x = v[0], y = v[1], z = v[2], w = v[3];
}
template <int W> DEV vec<float, W> shared_read(shared_address from) { return load_aligned<W>(host_shared<float>(from)); }
DEV void shared_write(shared_address to, const unsigned (&x)[2])
{
    for (int i = 0; i < 2; i++) *host_shared<unsigned>(to + 4 * i) = x[i];
}
DEV void shared_read(shared_address from, unsigned (&x)[4])
{
    const auto raw = element_of(host_shared<neighbours<unsigned, 4>>(from));
    for (int i = 0; i < 4; i++) x[i] = raw.e[i];
}
DEV void fragment_store(shared_address rows, int pitch, const unsigned (&x)[4])
{
    const int lane = thread_index() % 32;
    tf_hs_stands_in();
    tf_hs_says(host_shared<char>(rows + lane % 16 * pitch + lane / 16 * 16), 16, HS_CHECK_WRITE); // stmatrix
    for (int i = 0; i < 4; i++) *host_shared<unsigned>(rows + (lane / 4 + i % 2 * 8) * pitch + i / 2 * 16 + lane % 4 * 4) = x[i];
}
template <bool Half> DEV void fragment_store_across(shared_address columns, int pitch, const unsigned (&x)[4])
{
    const int lane = thread_index() % 32;
    tf_hs_stands_in();
    for (int i = 0; i < (Half ? 2 : 4); i++)
        for (int k = 0; k < 2; k++) {
            const shared_address to = columns + (i / 2 * 8 + lane % 4 * 2 + k) * pitch + i % 2 * 16 + lane / 4 * 2;
            tf_hs_says(host_shared<char>(to), 2, HS_CHECK_WRITE);
            *host_shared<unsigned short>(to) = static_cast<unsigned short>(x[i] >> 16 * k);
        }
}
template <int N> DEV void registers_shrink() {}
template <int N> DEV void registers_grow() {}

// ---- wgmma: each thread computes its own elements. Where it would wait for products, it waits for the other threads of its warpgroup.
inline constexpr unsigned long long host_of_pieces = 1ull << 63, host_across = 1ull << 62;
DEV unsigned long long operand(shared_address at) { return at >> 4; }
DEV unsigned long long piece_operand(shared_address at) { return at >> 4 | host_of_pieces; }
DEV unsigned long long operand_across(shared_address at, int panel)
{
    return at >> 4 | static_cast<unsigned long long>(panel) << 32 | host_across;
}
DEV unsigned long long operand_behind(unsigned long long operand, int bytes) { return operand + static_cast<unsigned>(bytes >> 4); }
DEV void product_fence() {}
DEV void product_commit() {}
template <int Left> DEV void product_wait() { group_barrier(48 + thread_index() / 128, 128); } // a kernel's own barriers are below 16
template <int N> DEV void pin(float (&)[N]) {}
DEV void pin(int &) {}

struct fragment {
    static constexpr int rows = 2;
    DEV static int row(int thread, int i) { return thread / 32 * 16 + thread % 32 / 4 + i / 2 % 2 * 8; }
    DEV static int column(int thread, int i) { return i / 4 * 8 + thread % 4 * 2 + i % 2; }
};

// The address of row `row` of an operand; piece: 0 or 1, which half of the 32 bytes along k.
DEV shared_address host_operand_at(unsigned long long operand, int row, int piece)
{
    const unsigned from = static_cast<unsigned>(operand << 4), base = from & ~127u, first = from & 127u;
    return operand & host_of_pieces ? from + row / 8 * 512 + piece * 128 + row % 8 * 16
                                    : base + row * 128 + (first + 16 * piece ^ row % 8 << 4);
}
// The address of element k of row `row` of an MN-major operand with elements of 2 bytes.
DEV shared_address host_across_at(unsigned long long operand, int row, int k)
{
    const unsigned from = static_cast<unsigned>(operand & 0xffffffffu) << 4, panel = static_cast<unsigned>(operand >> 32 & 0xfffffu);
    return from + row / 64 * panel + k * 128 + (row % 64 / 8 ^ k % 8) * 16 + row % 8 * 2;
}
// Reports the i-th 16 bytes that the hardware reads of an operand's rows from `row` on: half of a row's 32 bytes along k or, in an MN-major
// operand, 8 rows at one k.
DEV void operand_says(unsigned long long operand, int row, int i)
{
    const shared_address at = operand & host_across ? host_across_at(operand, row + i / 16 * 8, i % 16)
                                                    : host_operand_at(operand, row + i / 16 * 8 + i % 8, i / 8 % 2);
    tf_hs_says(host_shared<char>(at), 16, HS_CHECK_READ | HS_CHECK_MATRIX);
}
// Report the reads of A and of B. Each warp reads its own 16 rows of A; reads of B are divided among the warpgroup's threads.
DEV void left_operand_says(unsigned long long operand)
{
    const int thread = thread_index() % 128;
    operand_says(operand, thread / 32 * 16, thread % 32);
}
template <int N> DEV void right_operand_says(unsigned long long operand)
{
    for (int i = thread_index() % 128; i < 2 * N; i += 128) operand_says(operand, 0, i);
}

// The 32 bytes along k of row `row` of an operand, as floats.
template <class T> DEV vec<float, 32 / sizeof(T)> host_operand(unsigned long long operand, int row)
{
    vec<float, 32 / sizeof(T)> v;
    if (operand & host_across) {
        for (unsigned k = 0; k < 32 / sizeof(T); k++) v[k] = to_float(*host_shared<T>(host_across_at(operand, row, static_cast<int>(k))));
        return v;
    }
    for (unsigned piece = 0; piece < 2; piece++) {
        const T *at = host_shared<T>(host_operand_at(operand, row, static_cast<int>(piece)));
        for (unsigned i = 0; i < 16 / sizeof(T); i++) v[piece * 16 / sizeof(T) + i] = to_float(at[i]);
    }
    return v;
}

template <class T, int N> struct wgmma {
    static constexpr int registers = N / 2;
    static void multiply(float (&d)[registers], unsigned long long a, unsigned long long b, int keep)
    {
        tf_hs_stands_in();
        const int thread = thread_index() % 128;
        const auto x = host_operand<T>(a, fragment::row(thread, 0)), y = host_operand<T>(a, fragment::row(thread, 2));
        for (int i = 0; i < registers; i += 4)
            for (int c = 0; c < 2; c++) {
                const auto z = host_operand<T>(b, fragment::column(thread, i + c));
                d[i + c] = (keep ? d[i + c] : 0) + total_of(x * z);
                d[i + c + 2] = (keep ? d[i + c + 2] : 0) + total_of(y * z);
            }
    }
    template <class V> DEV static float total_of(V v)
    {
        float sum = 0;
        for (unsigned i = 0; i < 32 / sizeof(T); i++) sum += v[i];
        return sum;
    }
};

// Products are computed only where they must have ended. By then a stage that was freed too early holds other numbers.
template <class T, int N> struct stage_products {
    static constexpr int most = 16;
    struct product {
        unsigned long long a, b;
        int keep, group;
    };
    product in_flight[most];
    int count = 0, group = 0;

    template <int AcrossA = 0, int AcrossB = 0>
    DEV void multiply(float (&)[wgmma<T, N>::registers], unsigned long long a, unsigned long long b, int keep)
    {
        const bool across_a = a & host_across, across_b = b & host_across;
        if (count == most || across_a != AcrossA || across_b != AcrossB) __builtin_trap();
        left_operand_says(a);
        right_operand_says<N>(b);
        in_flight[count++] = {a, b, keep, group};
    }
    DEV void commit() { group++; }
    DEV void commit_with_others() { group++; }
    template <int Left> DEV void wait(float (&d)[wgmma<T, N>::registers])
    {
        int kept = 0;
        product_wait<Left>(); // a barrier, at which the producer can run
        for (int i = 0; i < count; i++)
            if (in_flight[i].group + Left < group)
                wgmma<T, N>::multiply(d, in_flight[i].a, in_flight[i].b, in_flight[i].keep);
            else
                in_flight[kept++] = in_flight[i];
        count = kept;
        product_wait<Left>();
    }
};

// x as tensor cores see it: they use 19 bits of an f32.
DEV float tf32_seen(float x) { return bits_float(float_bits(x) & 0xffffe000u); }
DEV float tf32_large(float x) { return tf32_seen(bits_float(float_bits(x) + 0x1000u)); }
DEV float tf32_small(float left) { return left != left ? left : tf32_large(left); }

template <class Lines> DEV void fragment_load(shared_address rows, int piece, float *a)
{
    const int lane = thread_index() % 32, warp = wave_index() % 4, line = Lines::row_at(warp, lane % 16);
    tf_hs_stands_in();
    tf_hs_says(host_shared<char>(rows + line * 128 + ((piece + lane / 16 ^ line % 8) << 4)), 16, HS_CHECK_READ); // ldmatrix
    for (int i = 0; i < 4; i++) {
        const int row = Lines::row_at(warp, lane / 4 + i % 2 * 8);
        a[i] = *host_shared<float>(rows + row * 128 + ((piece + i / 2 ^ row % 8) << 4) + thread_index() % 4 * 4);
    }
}

// A thread has 2 of the 8 columns of a row of A; the others are in adjacent lanes' registers.
template <int N> struct wgmma_parts {
    static constexpr int registers = N / 2;
    static void multiply(float (&d)[registers], const float *a, unsigned long long b, int keep)
    {
        tf_hs_stands_in();
        const int thread = thread_index() % 128;
        vec<float, 8> x, y;
        for (int other = 0; other < 4; other++)
            for (int half = 0; half < 2; half++) {
                const int k = (thread % 4 ^ other) + 4 * half;
                x[k] = tf32_seen(other ? lane_xor<4>(a[2 * half], other) : a[2 * half]);
                y[k] = tf32_seen(other ? lane_xor<4>(a[2 * half + 1], other) : a[2 * half + 1]);
            }
        for (int i = 0; i < registers; i += 4)
            for (int c = 0; c < 2; c++) {
                auto z = host_operand<float>(b, fragment::column(thread, i + c));
                for (int k = 0; k < 8; k++) z[k] = tf32_seen(z[k]);
                d[i + c] = (keep ? d[i + c] : 0) + total_of(x * z);
                d[i + c + 2] = (keep ? d[i + c + 2] : 0) + total_of(y * z);
            }
    }
    DEV static float total_of(vec<float, 8> v)
    {
        float sum = 0;
        for (int i = 0; i < 8; i++) sum += v[i];
        return sum;
    }
};

// As stage_products: results are wrong if the stage or A's registers change before the products have ended.
template <int N> struct part_products {
    static constexpr int most = 16;
    struct product {
        const float *a;
        unsigned long long b;
        int keep;
    };
    product in_flight[most];
    int count = 0;

    template <int Keep> DEV void multiply(float (&)[wgmma_parts<N>::registers], const float *a, unsigned long long b)
    {
        if (count == most) __builtin_trap();
        right_operand_says<N>(b);
        in_flight[count++] = {a, b, Keep};
    }
    DEV void commit() {}
    DEV void wait(float (&d)[wgmma_parts<N>::registers])
    {
        product_wait<0>(); // a barrier, at which the producer can run
        for (int i = 0; i < count; i++) wgmma_parts<N>::multiply(d, in_flight[i].a, in_flight[i].b, in_flight[i].keep);
        count = 0;
        product_wait<0>();
    }
};
#endif
