// In: one spec struct S of a decode phase (docs/spec-structs.md: attention). Out: its program on warps' matrix products, in one launch:
// keys and values go from memory to registers and are read once for every 8 rows, a row being a query of a head of the group. Workgroups
// have equal runs of all sequences' keys, however long each sequence is. Refuses (static_assert) heads that are no multiple of 16 columns
// up to 256. A row without a visible key is zeros.
//
// A turn is so many keys that every warp of a workgroup has `keys` of them; which workgroup has which turns, decode_runs.h says. Who has
// the last part of a lead joins them, in their order; the others give theirs, through memory or, within a cluster, without.
#pragma once

template <class S> struct decode_mma : decode_runs<S, S::threads / 32 * S::warp_keys> {
    using runs = decode_runs<S, S::threads / 32 * S::warp_keys>;
    using typename runs::args, typename runs::part, typename runs::stand, typename runs::numbers;
    using runs::group, runs::most_rows, runs::known;
    using type = typename S::type;
    static constexpr int head_dim = S::head_dim, keys = S::warp_keys, threads = S::threads, resident = S::resident;
    static constexpr int warps = threads / 32, units = keys / 16;
    static constexpr int kept = most_rows < 8 ? most_rows : 8;
    static constexpr int wide = head_dim / 32, results = head_dim / 16, turn = warps * keys, pitch = head_dim + 4;
    static constexpr bool narrow = head_dim % 32 != 0; // half a block at the end
    static constexpr int cluster = cluster_present<S::cluster>; // workgroups that reach each other's memory
    static constexpr float to_log2 = 1.44269504089f;
    static constexpr float lazy = 8.0f; // sums are rescaled when a row's largest score has grown by more (in log2)
    static_assert(head_dim % 16 == 0 && head_dim <= 256, "head size");
    static_assert(keys % 16 == 0 && threads % 32 == 0, "tile: whole products and warps");

    static constexpr bool guesses = S::resident == 1; // there are registers to begin before the launch ahead has ended
    struct alignas(16) memory {
        float o[warps][kept][pitch], largest[warps][kept], sum[warps][kept]; // of the warps
        float joined[kept][pitch];
        float given[S::cluster > 1 ? kept : 1][S::cluster > 1 ? pitch : 4]; // a part for another workgroup of the cluster
        typename runs::run turns;
    }; TF_TRACED(DEV static int lead_in(const args &p, const part &t) { return t.kv_head * runs::row_tiles(p) + t.row0 / 8; });

    // ---- a part's keys
    struct sums { // of a warp: rows are a product's columns
        cache_results o[results];
        float largest[2], sum[2]; // in log2
    }; TF_TRACED(DEV static int trace_part(const args &a, part t) { return block_index() + t.batch * runs::leads(a) + lead_in(a, t); });
    DEV static int token_of(const args &p, const part &t, int row) // the last one's where the row is none
    {
        const int token = S::most_queries == 1 ? 0 : (t.row0 + row) / group, last = S::queries(p) - 1;
        return token < last ? token : last;
    }
    DEV static int head_of(const part &t, int row) { return t.kv_head * group + (t.row0 + row) % group; }

    struct queries {
        row_piece of[wide + narrow];
        DEV void load(const args &p, const part &t)
        {
            const int row = thread_index() % 32 / 4;
            const type *at = S::q(p, t.batch, token_of(p, t, row), head_of(t, row));
            const bool exists = row < t.rows;
#pragma unroll
            for (int n = 0; n < wide + narrow; n++) of[n] = {};
            if (exists) {
#pragma unroll
                for (int n = 0; n < wide; n++) of[n] = cache_block<32>::load(at + n * 32);
                if constexpr (narrow) of[wide] = cache_block<16>::load(at + wide * 32);
            }
        }
    };
    struct rows_of_cache { // 16 keys or values
        cache_block<32> blocks[wide + 1];
        cache_block<16> last;
        // Rows from `row` on of a head, of which the first `to` exist; the last one stands for those behind it.
        DEV void load(const type *head, long long stride, int row, int to)
        {
#pragma unroll
            for (int h = 0; h < 2; h++) {
                const int own = row + cache_results::row(2 * h);
                const type *at = head + (own < to ? own : to - 1) * stride;
#pragma unroll
                for (int n = 0; n < wide; n++) blocks[n].half[h] = cache_block<32>::load(at + n * 32);
                if constexpr (narrow) last.half[h] = cache_block<16>::load(at + wide * 32);
            }
        }
    };

    // Keys that a lane's two rows see.
    struct sight {
        int low[2], high[2];
        DEV sight(const args &p, const part &t)
        {
#pragma unroll
            for (int e = 0; e < 2; e++) {
                const int position = t.start + token_of(p, t, cache_results::column(e));
                high[e] = S::most_queries > 1 && S::causal && position < t.seen_to ? position + 1 : t.seen_to;
                low[e] = S::most_queries > 1 && S::window ? position - S::window + 1 : t.seen_from;
            }
        }
        DEV bool has(int e, int key) const { return key < high[e] && (S::most_queries == 1 || S::window == 0 || key >= low[e]); }
    };

    DEV static void scores(const sight &seen, const queries &q, const rows_of_cache &k, int key, cache_results &s)
    {
        s = {};
#pragma unroll
        for (int n = 0; n < wide; n++) k.blocks[n].along(type(), s, q.of[n]);
        if constexpr (narrow) k.last.along(type(), s, q.of[wide]);
#pragma unroll
        for (int i = 0; i < 4; i++) {
            if constexpr (S::softcap > 0.0f)
                s.x[i] = S::softcap * to_log2 * op_tanh(s.x[i] * (S::scale / S::softcap));
            else
                s.x[i] *= S::scale * to_log2;
            if (!seen.has(i % 2, key + cache_results::row(i))) s.x[i] = take_max::identity();
        }
    }
    // Rows' largest scores so far; what was summed is rescaled where one has grown enough.
    DEV static void raise(sums &all, const cache_results (&s)[units])
    {
        float top[2];
#pragma unroll
        for (int e = 0; e < 2; e++) {
            top[e] = larger(s[0].x[e], s[0].x[e + 2]);
#pragma unroll
            for (int u = 1; u < units; u++) top[e] = larger(top[e], larger(s[u].x[e], s[u].x[e + 2]));
#pragma unroll
            for (int mask = 4; mask < 32; mask *= 2) top[e] = larger(top[e], warp_xor(top[e], mask));
        }
        if (!any_lane(top[0] > all.largest[0] + lazy || top[1] > all.largest[1] + lazy)) return;
        float factor[2];
#pragma unroll
        for (int e = 0; e < 2; e++) {
            const float before = all.largest[e];
            all.largest[e] = larger(before, top[e]);
            factor[e] = before == take_max::identity() ? 0.0f : machine_exp2(before - all.largest[e]);
            all.sum[e] *= factor[e];
        }
#pragma unroll
        for (int d = 0; d < results; d++)
#pragma unroll
            for (int i = 0; i < 4; i++) all.o[d].x[i] *= factor[i % 2];
    }
    DEV static void add(sums &all, const rows_of_cache &v, const cache_results &s)
    {
        float w[4];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const float largest = all.largest[i % 2];
            w[i] = machine_exp2(s.x[i] - (largest == take_max::identity() ? 0.0f : largest));
            all.sum[i % 2] += w[i];
        }
        const unsigned weights[2] = {turned(packed(type(), w[0], w[1])), turned(packed(type(), w[2], w[3]))};
#pragma unroll
        for (int n = 0; n < wide; n++) v.blocks[n].across(type(), all.o + 2 * n, weights);
        if constexpr (narrow) v.last.across(type(), all.o + 2 * wide, weights);
    }

    DEV static void attend(const args &p, const part &t, sums &all)
    {
        const int warp = thread_index() / 32, last = t.seen_from + t.to * turn, end = last < t.seen_to ? last : t.seen_to;
        const type *const k = S::k(p, t.batch, 0, t.kv_head), *const v = S::v(p, t.batch, 0, t.kv_head);
        const sight seen(p, t);
        queries q;
        q.load(p, t);
#pragma unroll
        for (int d = 0; d < results; d++) all.o[d] = {};
#pragma unroll
        for (int e = 0; e < 2; e++) all.largest[e] = take_max::identity(), all.sum[e] = 0.0f;
#pragma unroll 1
        for (int key = t.seen_from + t.from * turn + warp * keys; key < end; key += turn) {
            rows_of_cache x[units], y[units];
#pragma unroll
            for (int u = 0; u < units; u++) x[u].load(k, S::key_stride, key + u * 16, t.seen_to);
#pragma unroll
            for (int u = 0; u < units; u++) y[u].load(v, S::value_stride, key + u * 16, t.seen_to);
            cache_results s[units];
#pragma unroll
            for (int u = 0; u < units; u++) scores(seen, q, x[u], key + u * 16, s[u]);
            raise(all, s);
#pragma unroll
            for (int u = 0; u < units; u++) add(all, y[u], s[u]);
        }
    }

    // ---- results: 4 places of a row, in the order in which products have columns (column_at)
    using four = neighbours<float, 4>;
    static constexpr int fours = head_dim / 4;
    struct joined {
        four o;
        float largest, sum;
        DEV void clear() { *this = {{{0.0f, 0.0f, 0.0f, 0.0f}}, take_max::identity(), 0.0f}; }
        DEV void add(const four &other, float factor, float other_sum)
        {
#pragma unroll
            for (int i = 0; i < 4; i++) o.e[i] += other.e[i] * factor;
            sum += other_sum * factor;
        }
    };
    DEV static float factor_of(float own, float largest) { return own == take_max::identity() ? 0.0f : machine_exp2(own - largest); }
    DEV static int column_at(int place)
    {
        const int d = place / 16, row = place % 16;
        return d < 2 * wide ? d / 2 * 32 + cache_block<32>::column_of(d % 2, row) : wide * 32 + cache_block<16>::column_of(0, row);
    }

    DEV static void put(memory &m, const part &t, sums &all)
    {
        const int lane = thread_index() % 32, warp = thread_index() / 32;
#pragma unroll
        for (int e = 0; e < 2; e++) {
#pragma unroll
            for (int mask = 4; mask < 32; mask *= 2) all.sum[e] += warp_xor(all.sum[e], mask);
            const int row = cache_results::column(e);
            if (row >= t.rows) continue;
#pragma unroll
            for (int d = 0; d < results; d++)
#pragma unroll
                for (int h = 0; h < 2; h++) m.o[warp][row][d * 16 + cache_results::row(2 * h)] = all.o[d].x[2 * h + e];
            if (lane < 4) m.largest[warp][row] = all.largest[e], m.sum[warp][row] = all.sum[e];
        }
    }
    // What the warps have of a row.
    DEV static joined join_warps(const memory &m, int row, int place)
    {
        joined x;
        x.clear();
#pragma unroll
        for (int w = 0; w < warps; w++) x.largest = larger(x.largest, m.largest[w][row]);
#pragma unroll
        for (int w = 0; w < warps; w++)
            x.add(*reinterpret_cast<const four *>(&m.o[w][row][place]), factor_of(m.largest[w][row], x.largest), m.sum[w][row]);
        return x;
    }

    // ---- parts: a workgroup gives one at most. Those of other clusters are taken from memory, where one is whole when the 8 bytes before
    // it hold a number that memory nobody wrote does not; who took it clears them.
    static constexpr unsigned long long full = 0x9d2be3167f4a91c5ull;
    static constexpr int slice = 4 + kept * pitch; // floats: of a row, places, largest, sum
    DEV static float *slice_of(const args &p, int workgroup) { return S::partial(p) + static_cast<long long>(workgroup) * slice; }
    DEV static unsigned long long *flag_of(const args &p, int workgroup)
    {
        return reinterpret_cast<unsigned long long *>(slice_of(p, workgroup));
    }
    // The first workgroup of this one's cluster.
    DEV static int cluster_start() { return block_index() / cluster * cluster; }

    DEV static void give(const args &p, const part &t, memory &m)
    {
        const bool near = cluster > 1 && t.taker < cluster_start() + cluster;
        float *to = near ? m.given[0] : slice_of(p, block_index()) + 4;
        for (int i = thread_index(); i < t.rows * fours; i += threads) {
            const int row = i / fours, place = i % fours * 4;
            const joined x = join_warps(m, row, place);
            *reinterpret_cast<four *>(to + row * pitch + place) = x.o;
            if (place == 0) *reinterpret_cast<four *>(to + row * pitch + head_dim) = {{x.largest, x.sum, 0.0f, 0.0f}};
        }
        if (near) return;
        barrier();
        if (thread_index() == 0) flag_store(flag_of(p, block_index()), full);
    }
    DEV static void rescale(joined &x, float largest)
    {
        const float factor = factor_of(x.largest, largest);
#pragma unroll
        for (int i = 0; i < 4; i++) x.o.e[i] *= factor;
        x.sum *= factor;
        x.largest = largest;
    }
    // Adds 4 places of the parts of workgroups from `first` up to `end`, many loads at a time.
    template <bool Near> DEV static void take(const args &p, const memory &m, int first, int end, int row, int place, joined &all)
    {
        constexpr int at_once = 8;
#pragma unroll 1
        for (int from = first; from < end; from += at_once) {
            four o[at_once], numbers[at_once];
#pragma unroll
            for (int i = 0; i < at_once; i++) {
                const int of = from + i < end ? from + i : end - 1;
                const float *part = Near ? m.given[0] + row * pitch : slice_of(p, of) + 4 + row * pitch;
                o[i] = four_of<Near>(part + place, of);
                numbers[i] = four_of<Near>(part + head_dim, of);
            }
            float largest = all.largest;
#pragma unroll
            for (int i = 0; i < at_once; i++) largest = larger(largest, numbers[i].e[0]);
            rescale(all, largest);
#pragma unroll
            for (int i = 0; i < at_once; i++)
                if (from + i < end) all.add(o[i], factor_of(numbers[i].e[0], largest), numbers[i].e[1]);
        }
    }
    template <bool Near> DEV static four four_of(const float *from, int workgroup)
    {
        if constexpr (Near)
            return cluster_read(from, workgroup - cluster_start());
        else
            return *reinterpret_cast<const four *>(from);
    }
    DEV static void await(const args &p, int first, int end)
    {
        for (int i = first + thread_index(); i < end; i += threads) {
            while (flag_read(flag_of(p, i)) != full) pause();
            flag_store(flag_of(p, i), 0);
        }
        barrier();
    }

    // The lead's results.
    DEV static void store(const args &p, const part &t, memory &m)
    {
        const int own = block_index(), first = t.giver, near = first > cluster_start() ? first : cluster_start();
        if (first < near) await(p, first, near);
        for (int i = thread_index(); i < t.rows * fours; i += threads) {
            const int row = i / fours, place = i % fours * 4;
            joined x = join_warps(m, row, place);
            if (first < own) {
                joined all;
                all.clear();
                take<false>(p, m, first, near, row, place, all);
                if constexpr (cluster > 1) take<true>(p, m, near, own, row, place, all);
                rescale(all, larger(all.largest, x.largest));
                all.add(x.o, factor_of(x.largest, all.largest), x.sum);
                x = all;
            }
            const float factor = x.sum == 0.0f ? 0.0f : 1.0f / x.sum;
#pragma unroll
            for (int k = 0; k < 4; k++) m.joined[row][column_at(place + k)] = x.o.e[k] * factor;
        }
        barrier();
        for (int i = thread_index(); i < t.rows * (head_dim / 8); i += threads) {
            const int row = i / (head_dim / 8), column = i % (head_dim / 8) * 8;
            vec<float, 8> v;
#pragma unroll
            for (int k = 0; k < 8; k++) v[k] = m.joined[row][column + k];
            S::template write<8>(p, t.batch, token_of(p, t, row), head_of(t, row), column, 8, v);
        }
    }

    // ---- a run. Before the launch ahead has ended it is reckoned with numbers that may be about to change: what they say is asked for
    // into the cache of all multiprocessors, and begun with; the numbers that memory has then decide whether it counts.
    DEV static void ask_ahead(const args &p, const memory &m)
    {
        constexpr int most = 4 << 20; // bytes, of all workgroups: more of it hinders the launch ahead
        const stand &s = m.turns.stands[0];
        const part &t = s.now;
        if (s.to <= m.turns.from || thread_index() > 1 || S::key_stride != head_dim || S::value_stride != head_dim) return;
        const int from = t.seen_from + t.from * turn, end = t.seen_from + t.to * turn, some = from + most / (4 * head_dim) / block_total();
        const int most_to = end < t.seen_to ? end : t.seen_to, to = some < most_to ? some : most_to;
        if (from >= to) return;
        cache_ask(thread_index() ? S::v(p, t.batch, from, t.kv_head) : S::k(p, t.batch, from, t.kv_head), (to - from) * head_dim * 2);
    }
    DEV static bool differs(const numbers &x, const numbers &y) { return x.start != y.start || x.length != y.length; }

    DEV static void run(const args &p, memory &m)
    { TF_TRACED(trace_enter(p.tf_trace, 0));
        const bool first_warp = thread_index() < 32, own = thread_index() < S::batches(p);
        bool sure = !guesses || S::batches(p) > known; // of the numbers
        next_may_start();
        if (S::queries(p) == 0 || S::batches(p) == 0) return previous_wait();
        if (!sure) {
            if (first_warp) runs::reckon(p, m.turns);
            barrier();
            ask_ahead(p, m);
        }
        previous_wait(); TF_TRACED(if (thread_index() == 0) trace_ready(p.tf_trace));
        next_weights<S>::ask(p, thread_index(), 32);
        if (sure) {
            if (first_warp) runs::reckon(p, m.turns);
            barrier();
        }
        bool arrived = false, met = false; // at the cluster's barrier, which says that parts are given
#pragma unroll 1
        for (int at = 0;; at ^= 1) {
            const stand &now = m.turns.stands[at];
            numbers again = {};
            const bool looks = !sure && first_warp && own;
            if (looks) again = runs::read(p, thread_index());
            if (now.to > m.turns.from) {
                sums s;
                const part t = now.now; TF_TRACED(trace_start(p.tf_trace, trace_part(p, t), 0));
                attend(p, t, s);
                put(m, t, s); TF_TRACED(trace_computed(p.tf_trace, trace_part(p, t), 0));
            }
            if (!sure && first_warp) {
                const bool stale = any_lane(looks && differs(again, m.turns.of[thread_index()]));
                if (thread_index() == 0) m.turns.stale = stale;
            }
            barrier();
            if (!sure) {
                sure = true;
                if (m.turns.stale) {
                    if (first_warp) runs::reckon(p, m.turns);
                    barrier();
                    at = 1; // the first again
                    continue;
                }
            }
            if (now.to <= m.turns.from) break;
            if (thread_index() == threads - 32) runs::step(p, m.turns, now, m.turns.stands[at ^ 1]);
            const part t = now.now;
            const bool last = t.to == t.each;
            if (!last) give(p, t, m);
            if (cluster > 1 && !arrived) cluster_arrive();
            arrived = true;
            if (last) {
                if (cluster > 1 && t.giver < block_index()) {
                    cluster_wait();
                    met = true;
                }
                store(p, t, m);
            }
            barrier(); TF_TRACED(trace_end(p.tf_trace, trace_part(p, t), 0)); // the next part uses the same memory
        } TF_TRACED(trace_leave(p.tf_trace, 0));
        if constexpr (cluster > 1) { // whose memory is there until all have read it
            if (!arrived) cluster_arrive();
            if (!met) cluster_wait();
            cluster_arrive();
            cluster_wait();
        }
    }
};

#if defined(TF_ON_HOST)
#define TF_KERNEL_DECODE(name, ...)                               \
    extern "C" __global__ void name(const __VA_ARGS__::args p)    \
    {                                                             \
        TF_SHARED_STRUCT(__VA_ARGS__::memory, memory);            \
        __VA_ARGS__::run(p, memory);                              \
    }                                                             \
    TF_EXPORT(name)
#else
#if __CUDA_ARCH__ >= 900
#define TF_DECODE_CLUSTER(P) __cluster_dims__(P::cluster, 1, 1)
#else
#define TF_DECODE_CLUSTER(P)
#endif
#define TF_KERNEL_DECODE(name, ...)                                                                                           \
    extern "C" __global__ void TF_DECODE_CLUSTER(__VA_ARGS__) __launch_bounds__(__VA_ARGS__::threads, __VA_ARGS__::resident) \
        name(const __grid_constant__ __VA_ARGS__::args p)                                                                     \
    {                                                                                                                         \
        __shared__ __VA_ARGS__::memory memory;                                                                                \
        __VA_ARGS__::run(p, memory);                                                                                          \
    }
#endif
