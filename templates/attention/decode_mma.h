// In: one spec struct S of a decode phase (docs/spec-structs.md: attention). Out: its program on warps' matrix products, in one launch:
// keys and values go from memory to registers and are read once for every 8 rows, a row being a query of a head of the group. Workgroups
// have equal runs of all sequences' keys, however long each sequence is. Refuses (static_assert) heads that are no multiple of 16 columns
// up to 256. A row without a visible key is zeros.
//
// A turn is so many keys that every warp of a workgroup has `keys` of them; a lead is what 8 rows and a head of keys need of a sequence.
// The turns of all leads, one after the other, are cut into as many runs as there are workgroups, so a lead may lie in several: its parts.
// Who has the last part joins them, in their order; the others give theirs, through memory. A workgroup goes through its run from the end,
// so that it gives before it may have to wait, and it waits for lower ones only.
#pragma once

template <class S> struct decode_mma {
    using args = typename S::args;
    using type = typename S::type;
    static constexpr int head_dim = S::head_dim, keys = S::warp_keys, threads = S::threads, resident = S::resident;
    static constexpr int warps = threads / 32, units = keys / 16;
    static constexpr int group = S::heads / S::kv_heads, most_rows = group * S::most_queries, kept = most_rows < 8 ? most_rows : 8;
    static constexpr int wide = head_dim / 32, results = head_dim / 16, turn = warps * keys, pitch = head_dim + 4;
    static constexpr bool narrow = head_dim % 32 != 0; // half a block at the end
    static constexpr float to_log2 = 1.44269504089f;
    static constexpr float lazy = 8.0f; // sums are rescaled when a row's largest score has grown by more (in log2)
    static_assert(head_dim % 16 == 0 && head_dim <= 256, "head size");
    static_assert(keys % 16 == 0 && threads % 32 == 0, "tile: whole products and warps");

    struct alignas(16) memory {
        float o[warps][kept][pitch], largest[warps][kept], sum[warps][kept]; // of the warps
        float joined[kept][pitch];
    };

    // ---- turns
    struct visible { // keys of a sequence that some query sees
        int from, to;
        DEV bool none() const { return to <= from; }
        DEV int turns() const { return none() ? 1 : ceil_div(to - from, turn); }
    };
    DEV static visible visible_in(const args &p, int batch)
    {
        const int all = S::keys(p, batch), last = S::position(p, batch, S::queries(p) - 1);
        const int oldest = S::window ? S::position(p, batch, 0) - S::window + 1 : 0;
        return {oldest > 0 ? oldest : 0, S::causal && last < all ? last + 1 : all};
    }
    DEV static int row_tiles(const args &p) { return ceil_div(group * S::queries(p), 8); }
    DEV static int leads(const args &p) { return S::kv_heads * row_tiles(p); } // of a sequence

    struct place { // a sequence, its leads' first turn, turns of each
        int batch, first, each;
    };
    // Of 32 sequences, one a lane.
    DEV static int turns_of_lane(const args &p, int batch0)
    {
        const int batch = batch0 + thread_index() % 32;
        return batch < S::batches(p) ? leads(p) * visible_in(p, batch).turns() : 0;
    }
    DEV static int sum_of_lanes(int x)
    {
#pragma unroll
        for (int mask = 1; mask < 32; mask *= 2) x += warp_xor(x, mask);
        return x;
    }
    DEV static int sum_to_lane(int x)
    {
        const int lane = thread_index() % 32;
#pragma unroll
        for (int step = 1; step < 32; step *= 2) {
            const int before = lane_value(x, lane - step & 31);
            x += lane >= step ? before : 0;
        }
        return x;
    }
    DEV static int all_turns(const args &p)
    {
        int sum = 0;
        for (int batch0 = 0; batch0 < S::batches(p); batch0 += 32) sum += sum_of_lanes(turns_of_lane(p, batch0));
        return sum;
    }
    // Where turn `index` is: one of them.
    DEV static place find(const args &p, int index)
    {
        for (int batch0 = 0, before = 0;; batch0 += 32) {
            const int own = turns_of_lane(p, batch0), to = before + sum_to_lane(own), all = lane_value(to, 31);
            if (index < all) {
                const int lane = sum_of_lanes(to <= index), count = lane_value(own, lane);
                return {batch0 + lane, lane_value(to, lane) - count, count / leads(p)};
            }
            before = all;
        }
    }

    // ---- a part of a lead
    struct part {
        visible seen;
        int batch, kv_head, row0; // of the group's rows
        int from, to, each;       // turns of the lead's
        int rows;                 // up to 8
    };
    struct sums { // of a warp: rows are a product's columns
        cache_results o[results];
        float largest[2], sum[2]; // in log2
    };
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
                const int position = S::position(p, t.batch, token_of(p, t, cache_results::column(e)));
                high[e] = S::most_queries > 1 && S::causal && position < t.seen.to ? position + 1 : t.seen.to;
                low[e] = S::most_queries > 1 && S::window ? position - S::window + 1 : t.seen.from;
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
        const int warp = thread_index() / 32;
        const type *const k = S::k(p, t.batch, 0, t.kv_head), *const v = S::v(p, t.batch, 0, t.kv_head);
        const sight seen(p, t);
        queries q;
        q.load(p, t);
#pragma unroll
        for (int d = 0; d < results; d++) all.o[d] = {};
#pragma unroll
        for (int e = 0; e < 2; e++) all.largest[e] = take_max::identity(), all.sum[e] = 0.0f;
#pragma unroll 1
        for (int i = t.from; i < t.to; i++) {
            const int key = t.seen.from + (i * warps + warp) * keys;
            if (key >= t.seen.to) break;
            rows_of_cache x[units], y[units];
#pragma unroll
            for (int u = 0; u < units; u++) x[u].load(k, S::key_stride, key + u * 16, t.seen.to);
#pragma unroll
            for (int u = 0; u < units; u++) y[u].load(v, S::value_stride, key + u * 16, t.seen.to);
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

    // ---- parts in memory: one of a workgroup at most. It is there when the 8 bytes before it hold a number that memory nobody wrote does
    // not; who took it clears them.
    static constexpr unsigned long long full = 0x9d2be3167f4a91c5ull;
    static constexpr int slice = 4 + kept * (head_dim + 4); // floats: of a row, places, largest, sum
    DEV static float *slice_of(const args &p, int workgroup) { return S::partial(p) + static_cast<long long>(workgroup) * slice; }
    DEV static unsigned long long *flag_of(const args &p, int workgroup)
    {
        return reinterpret_cast<unsigned long long *>(slice_of(p, workgroup));
    }
    DEV static void give(const args &p, const part &t, const memory &m)
    {
        float *to = slice_of(p, block_index()) + 4;
        for (int i = thread_index(); i < t.rows * fours; i += threads) {
            const int row = i / fours, place = i % fours * 4;
            const joined x = join_warps(m, row, place);
            *reinterpret_cast<four *>(to + row * (head_dim + 4) + place) = x.o;
            if (place == 0) *reinterpret_cast<four *>(to + row * (head_dim + 4) + head_dim) = {{x.largest, x.sum, 0.0f, 0.0f}};
        }
        barrier();
        if (thread_index() == 0) flag_store(flag_of(p, block_index()), full);
    }
    // Adds the parts of workgroups from `first` to this one, before its own, many loads at a time.
    DEV static joined take(const args &p, int first, int row, int place, const joined &own)
    {
        constexpr int at_once = 8;
        joined all;
        all.clear();
        const int last = block_index() - 1;
#pragma unroll 1
        for (int from = first; from <= last; from += at_once) {
            four o[at_once], numbers[at_once];
#pragma unroll
            for (int i = 0; i < at_once; i++) {
                const float *part = slice_of(p, from + i < last ? from + i : last) + 4 + row * (head_dim + 4);
                o[i] = *reinterpret_cast<const four *>(part + place);
                numbers[i] = *reinterpret_cast<const four *>(part + head_dim);
            }
            float largest = all.largest;
#pragma unroll
            for (int i = 0; i < at_once; i++) largest = larger(largest, numbers[i].e[0]);
            rescale(all, largest);
#pragma unroll
            for (int i = 0; i < at_once; i++)
                if (from + i <= last) all.add(o[i], factor_of(numbers[i].e[0], largest), numbers[i].e[1]);
        }
        rescale(all, larger(all.largest, own.largest));
        all.add(own.o, factor_of(own.largest, all.largest), own.sum);
        return all;
    }
    DEV static void rescale(joined &x, float largest)
    {
        const float factor = factor_of(x.largest, largest);
#pragma unroll
        for (int i = 0; i < 4; i++) x.o.e[i] *= factor;
        x.sum *= factor;
        x.largest = largest;
    }
    DEV static void await(const args &p, int first)
    {
        for (int i = first + thread_index(); i < block_index(); i += threads) {
            while (flag_read(flag_of(p, i)) != full) pause();
            flag_store(flag_of(p, i), 0);
        }
        barrier();
    }

    // The lead's results; parts of it are with workgroups from `first` on.
    DEV static void store(const args &p, const part &t, memory &m, int first)
    {
        if (first < block_index()) await(p, first);
        for (int i = thread_index(); i < t.rows * fours; i += threads) {
            const int row = i / fours, place = i % fours * 4;
            joined x = join_warps(m, row, place);
            if (first < block_index()) x = take(p, first, row, place, x);
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

    // ---- a workgroup's run
    DEV static part part_of(const args &p, const place &at, int from, int to)
    {
        const int lead = (to - 1 - at.first) / at.each, first = at.first + lead * at.each, tile = lead % row_tiles(p);
        const int rows = group * S::queries(p) - tile * 8;
        return {visible_in(p, at.batch), at.batch, lead / row_tiles(p), tile * 8,           from > first ? from - first : 0,
                to - first,              at.each,  rows < 8 ? rows : 8};
    }
    // The workgroup with turn `index`, of `count` that share `all` turns.
    DEV static int owner(int index, int count, int all)
    {
        return static_cast<int>(((index + 1ll) * count - 1) / all);
    }
    DEV static void run(const args &p, memory &m)
    {
        next_may_start();
        previous_wait();
        if (S::queries(p) == 0 || S::batches(p) == 0) return;
        const int all = all_turns(p), count = block_total() < all ? block_total() : all;
        if (block_index() >= count) return;
        const int first = static_cast<int>(static_cast<long long>(all) * block_index() / count);
        int index = static_cast<int>(static_cast<long long>(all) * (block_index() + 1) / count);
        place at = find(p, index - 1);
#pragma unroll 1
        for (;;) {
            const part t = part_of(p, at, first, index);
            sums s;
            attend(p, t, s);
            put(m, t, s);
            barrier();
            if (t.to < t.each)
                give(p, t, m);
            else
                store(p, t, m, t.from > 0 ? owner(index - t.to, count, all) : block_index());
            index -= t.to - t.from;
            if (index <= first) break;
            barrier(); // the next part uses the same memory
            if (index > at.first) continue;
            at.batch--;
            at.each = visible_in(p, at.batch).turns();
            at.first -= leads(p) * at.each;
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
#define TF_KERNEL_DECODE(name, ...)                                                           \
    extern "C" __global__ void __launch_bounds__(__VA_ARGS__::threads, __VA_ARGS__::resident) \
        name(const __grid_constant__ __VA_ARGS__::args p)                                     \
    {                                                                                         \
        __shared__ __VA_ARGS__::memory memory;                                                \
        __VA_ARGS__::run(p, memory);                                                          \
    }
#endif
