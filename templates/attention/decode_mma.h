// Flash-decoding on mma.sync, MFMA or WMMA in one launch, made from a decode phase's spec struct S (docs/spec-structs.md: attention).
// Workgroups have equally long runs of all sequences' keys, however long each sequence is (stream-K over keys). A row is one head of a GQA
// group for one query. Keys and values go from memory to registers or, if stages > 0, to shared memory some iterations ahead. They are read
// once for as many rows as an instruction has (NVIDIA 8, AMD 16). A row without a visible key is zeros. Refuses (static_assert) heads whose
// columns are not a multiple of 16 up to 256.
//
// A workgroup takes a key tile per iteration: `keys` keys for each of its warps. decode_runs.h says which workgroup has which key tiles and
// what a part of a work tile is. The workgroup with a work tile's last part joins all of its parts, in their order; the others hand theirs
// over through memory or, within a cluster, through distributed shared memory. In a list of phases on NVIDIA, all workgroups with parts of
// a work tile join them, each for some of the columns (below: shares).
//
// The ISA layer (isa/mma_cache.h, isa/wave_cache.h) provides cache_tile, a warp's products with a block of keys or values; exchange within
// a warp; clusters. isa/device_scope.h has the stores and loads of parts.
#pragma once
#include "templates/attention/decode_runs.h"

// ALiBi: by how much a score (in log2) decreases per token of distance, and the positions of the lane's rows.
template <bool, int Rows> struct slopes_of_rows {};
template <int Rows> struct slopes_of_rows<true, Rows> {
    float slope[Rows];
    int position[Rows];
};

// A run's parts of work tiles of which other runs have parts, too. Once it has handed these over, it joins a share of all their parts.
template <bool, class Part> struct pending_parts {};
template <class Part> struct pending_parts<true, Part> {
    Part pending[2];
    static_assert(sizeof(Part[2]) % 16 == 0, "memory::o follows, and is read 16 bytes at a time");
};

// Queries, the new keys and values, and the results are rows in words (frame/words.h): S has in_words.
template <class S, class = void> constexpr bool has_words_of_rows = false;
template <class S> constexpr bool has_words_of_rows<S, nothing<decltype(S::in_words)>> = true;
template <bool, class Tile> struct queries_of {
    using type = typename Tile::queries;
};
template <class Tile> struct queries_of<true, Tile> {
    using type = typename Tile::queries_in_words;
};

template <class S>
using tile_of_cache = cache_tile<typename S::type, S::head_dim, value_head<S>::size>;
struct runs_in_list {
    static constexpr bool needs_total = true;
    template <class P> static constexpr int bytes = sizeof(typename P::memory);
    template <class P> DEV static bool look_ahead(const typename P::args &p, int index, int total, char *shared, bool again)
    {
        return P::schedule(p, index, total, *reinterpret_cast<typename P::memory *>(shared), again && P::in_shared(p));
    }
    template <class P> struct walk {
        int total; // workgroups that take part
        DEV void start(const typename P::args &, int) {}
        DEV void look(const typename P::args &p, int index, char *shared)
        {
            if constexpr (!P::looks_ahead) P::schedule(p, index, total, *reinterpret_cast<typename P::memory *>(shared));
        }
        DEV void tile(const typename P::args &p, int index, int, char *shared)
        {
            P::take(p, index, total, *reinterpret_cast<typename P::memory *>(shared));
        }
    };
};

template <class S> struct decode_mma : decode_runs<S, S::threads / TF_WAVE * S::warp_keys, tile_of_cache<S>::rows> {
    using tile = tile_of_cache<S>;
    using runs = decode_runs<S, S::threads / TF_WAVE * S::warp_keys, tile::rows>;
    using typename runs::args, typename runs::part, typename runs::cursor, typename runs::numbers, typename runs::member;
    using runs::group, runs::most_rows, runs::known;
    using type = typename S::type;
    static constexpr int head_dim = S::head_dim, value_dim = value_head<S>::size;
    static constexpr int keys = S::warp_keys, threads = S::threads, resident = S::resident, stages = S::stages;
    static constexpr int warps = threads / TF_WAVE, units = keys / tile::unit, lane_rows = tile::lane_rows;
    using ring = typename tile::template ring<warps, stages, keys>;
    static constexpr int kept = most_rows < tile::rows ? most_rows : tile::rows;
    static constexpr int tile_keys = warps * keys, pitch = value_dim + 4;
    static constexpr int cluster = S::cluster; // workgroups that reach each other's shared memory
    static constexpr float to_log2 = 1.44269504089f;
    static constexpr float lazy = 8.0f; // sums are rescaled when a row's largest score has grown by more than this (in log2)
    static_assert(head_dim % 16 == 0 && head_dim <= 256 && value_dim % 16 == 0 && value_dim <= 256,
                  "head sizes are multiples of 16 up to 256");
    static_assert(keys % tile::unit == 0 && threads % TF_WAVE == 0, "tile: keys per iteration fill whole products, threads whole warps");
    static constexpr bool in_words = has_words_of_rows<S>;
    static_assert(!in_words || (S::most_queries == 1 && stages == 0 && S::run_length == 0 && is_listed<S>), "words: one query, in a list");
    static constexpr bool dense = S::key_stride == head_dim && S::value_stride == value_dim;
    static_assert(stages == 0 || dense, "with stages, rows of keys and values are contiguous");
    static_assert(S::run_length % (stages > 0 ? keys : tile::unit) == 0,
                  "tile: keys loaded at a time do not cross runs of contiguous rows");

    // Whether a run begins before the previous launch has ended, with guessed lengths. Registers suffice only with one workgroup per
    // multiprocessor.
    static constexpr bool guesses = tile::guesses && S::resident == 1;
    struct alignas(16) memory : tile::shelf, ring::memory, pending_parts<runs::shares, part> {
        float o[warps][kept * tile::pitch], largest[warps][kept], sum[warps][kept]; // each warp's results for a part
        float joined[tile::in_order || runs::shares ? 1 : kept][tile::in_order || runs::shares ? 4 : pitch];
        float handed_over[S::cluster > 1 ? kept : 1][S::cluster > 1 ? pitch : 4]; // a part for another workgroup of the cluster
        typename runs::run schedule; // with rows in words it lies elsewhere: schedule_of()
    }; TF_TRACED(DEV static int nth(const args &p, const part &t) { return t.kv_head * runs::row_tiles(p) + t.row0 / tile::rows; });

    // ---- a part's keys
    using scores = typename tile::scores;
    struct sums { // of a warp, for its lanes' rows, which are columns of a product
        typename tile::results o;
        float largest[lane_rows], sum[lane_rows]; // in log2
        DEV void clear()
        {
            o.clear();
#pragma unroll
            for (int e = 0; e < lane_rows; e++) largest[e] = take_max::identity(), sum[e] = 0.0f;
        }
    }; TF_TRACED(DEV static int trace_part(const args &a, part t) { return block_index() + t.batch * runs::work_tiles(a) + nth(a, t); });
    DEV static int token_of(const args &p, const part &t, int row) // the row's query; rows beyond the last get the last query
    {
        const int token = S::most_queries == 1 ? 0 : (t.row0 + row) / group, last = S::queries(p) - 1;
        return token < last ? token : last;
    }
    DEV static int head_of(const part &t, int row) { return t.kv_head * group + (t.row0 + row) % group; }

    // Which keys a lane's rows see. A single query sees all keys of its key tiles, unless key tiles must begin at a multiple of
    // S::warp_keys (run_length).
    static constexpr bool has_low = S::window != 0 && (S::most_queries > 1 || S::run_length != 0);
    static_assert(!has_first<S>::value || S::run_length == 0, "left padding needs caches without runs (run_length 0)");
    struct sight : slopes_of_rows<has_alibi<S>::value, lane_rows> {
        int low[lane_rows], high[lane_rows];
        DEV sight(const args &p, const part &t)
        {
#pragma unroll
            for (int e = 0; e < lane_rows; e++) {
                const int position = t.start + token_of(p, t, tile::row(e));
                high[e] = S::most_queries > 1 && S::causal && position < t.seen_to ? position + 1 : t.seen_to;
                low[e] = has_low ? position - window_of<S>(p) + 1 : t.seen_from;
                if constexpr (has_alibi<S>::value) {
                    this->slope[e] = S::slope(head_of(t, tile::row(e))) * to_log2;
                    this->position[e] = position;
                }
            }
        }
        DEV bool has(int e, int key) const { return key < high[e] && (!has_low || key >= low[e]); }
    };

    DEV static void shape(const sight &seen, int key, scores &s)
    {
#pragma unroll
        for (int i = 0; i < tile::count; i++) {
            if constexpr (S::softcap > 0.0f)
                s.x[i] = S::softcap * to_log2 * op_tanh(s.x[i] * (S::scale / S::softcap));
            else
                s.x[i] *= S::scale * to_log2;
            if constexpr (has_alibi<S>::value)
                s.x[i] -= seen.slope[i % lane_rows] * magnitude(static_cast<float>(key + tile::key(i) - seen.position[i % lane_rows]));
            if (!seen.has(i % lane_rows, key + tile::key(i))) s.x[i] = take_max::identity();
        }
    }
    // If some row's largest score has grown by more than `lazy`, raises the rows' largest scores and rescales their sums.
    DEV static void raise(sums &all, const scores (&s)[units])
    {
        float top[lane_rows];
        bool grown = false;
#pragma unroll
        for (int e = 0; e < lane_rows; e++) {
#pragma unroll
            for (int u = 0; u < units; u++) {
                float of_unit = s[u].x[e];
#pragma unroll
                for (int i = e + lane_rows; i < tile::count; i += lane_rows) of_unit = larger(of_unit, s[u].x[i]);
                top[e] = u ? larger(top[e], of_unit) : of_unit;
            }
#pragma unroll
            for (int mask = tile::sharing; mask < TF_WAVE; mask *= 2) top[e] = larger(top[e], warp_xor(top[e], mask));
            grown = grown || top[e] > all.largest[e] + lazy;
        }
        if (!any_lane(grown)) return;
        float factor[lane_rows];
#pragma unroll
        for (int e = 0; e < lane_rows; e++) {
            const float before = all.largest[e];
            all.largest[e] = larger(before, top[e]);
            factor[e] = before == take_max::identity() ? 0.0f : machine_exp2(before - all.largest[e]);
            all.sum[e] *= factor[e];
        }
        all.o.scale(factor);
    }
    DEV static void weigh(sums &all, const scores &s, float (&w)[tile::count])
    {
#pragma unroll
        for (int i = 0; i < tile::count; i++) {
            const float largest = all.largest[i % lane_rows];
            w[i] = machine_exp2(s.x[i] - (largest == take_max::identity() ? 0.0f : largest));
            all.sum[i % lane_rows] += w[i];
        }
    }

    // Keys, or values, of a part's head. S::run_length rows, from a multiple of it on, lie one stride apart; 0: all rows do.
    struct run_of_rows {
        const type *first; // its first row
        int row, to;       // the first row to load; the end of the rows that exist; both counted from `first`
    };
    template <bool Values> struct rows_of_head {
        const args &p;
        const part &t;
        const type *all;
        DEV rows_of_head(const args &p, const part &t) : p(p), t(t), all(S::run_length ? nullptr : at(0)) {}
        DEV const type *at(int key) const { return Values ? S::v(p, t.batch, key, t.kv_head) : S::k(p, t.batch, key, t.kv_head); }
        DEV run_of_rows from(int key) const
        {
            if constexpr (S::run_length == 0)
                return {all, key, in_words && t.start < t.seen_to ? t.start : t.seen_to}; // the new row comes in words
            else {
                const int exists = key < t.seen_to ? key : t.seen_to - 1, begin = exists / S::run_length * S::run_length;
                return {at(begin), key - begin, t.seen_to - begin};
            }
        }
    };
    using key_rows = rows_of_head<false>;
    using value_rows = rows_of_head<true>;

    // Sums up a warp's key tiles of a part, from key `first` on, through registers.
    DEV static void attend_registers(const key_rows &k, const value_rows &v, int first, int end, const sight &seen,
                               const typename tile::queries &q, sums &all)
    {
#pragma unroll 1
        for (int key = first; key < end; key += tile_keys) {
            typename tile::keys x[units];
            typename tile::values y[units];
            if constexpr (!tile::late) {
#pragma unroll
                for (int u = 0; u < units; u++) {
                    const run_of_rows r = k.from(key + u * tile::unit);
                    x[u].load(r.first, S::key_stride, r.row, r.to);
                }
#pragma unroll
                for (int u = 0; u < units; u++) {
                    const run_of_rows r = v.from(key + u * tile::unit);
                    y[u].load(r.first, S::value_stride, r.row, r.to);
                }
                tile::all_asked();
            }
            scores s[units];
#pragma unroll
            for (int u = 0; u < units; u++) {
                if constexpr (tile::late) {
                    const run_of_rows r = k.from(key + u * tile::unit);
                    tile::multiply_late(q, r.first, S::key_stride, r.row, r.to, s[u]);
                } else
                    x[u].multiply(q, s[u]);
                shape(seen, key + u * tile::unit, s[u]);
            }
            raise(all, s);
#pragma unroll
            for (int u = 0; u < units; u++) {
                float w[tile::count];
                weigh(all, s[u], w);
                if constexpr (tile::late) {
                    const run_of_rows r = v.from(key + u * tile::unit);
                    all.o.add_late(r.first, S::value_stride, r.row, r.to, w);
                } else
                    all.o.add(y[u], w);
            }
        }
    }

    // The same with rows in words. The first keys and values are loaded before the queries are there. The new row comes last, as a key tile
    // of its own, in which it takes all places, of which the first one counts.
    template <class Queries>
    DEV static void attend_words(const args &p, const part &t, int first, int end, sight seen, Queries &q, sums &all)
    {
        const int old = end < t.start ? end : t.start;
        bool has_new = t.start >= first && t.start < end && (t.start - first) % tile_keys < keys;
        if (first >= old && !has_new) return;
        typename tile::keys x[units];
        typename tile::values y[units];
        int key = first;
        const auto load = [&] {
            if (key >= old) {
                key = t.start, has_new = false;
                typename tile::template row_of_words<head_dim> new_key;
                typename tile::template row_of_words<value_dim> new_value;
                if constexpr (in_words) {
                    new_key.take(p.tf_words, S::k_words(p, t.batch, t.kv_head));
                    new_value.take(p.tf_words, S::v_words(p, t.batch, t.kv_head));
                }
#pragma unroll
                for (int u = 0; u < units; u++) x[u].repeat(new_key), y[u].repeat(new_value);
                return;
            }
#pragma unroll
            for (int u = 0; u < units; u++) {
                const run_of_rows r = key_rows(p, t).from(key + u * tile::unit);
                x[u].load(r.first, S::key_stride, r.row, r.to);
            }
#pragma unroll
            for (int u = 0; u < units; u++) {
                const run_of_rows r = value_rows(p, t).from(key + u * tile::unit);
                y[u].load(r.first, S::value_stride, r.row, r.to);
            }
        };
        load();
        q.take(p, t);
#pragma unroll 1
        for (;;) {
            scores s[units];
            const int to = key < old ? old : key + 1;
#pragma unroll
            for (int e = 0; e < lane_rows; e++) seen.high[e] = to;
#pragma unroll
            for (int u = 0; u < units; u++) x[u].multiply(q.of, s[u]), shape(seen, key + u * tile::unit, s[u]);
            raise(all, s);
#pragma unroll
            for (int u = 0; u < units; u++) {
                float w[tile::count];
                weigh(all, s[u], w);
                all.o.add(y[u], w);
            }
            key += tile_keys;
            if (key >= old && !has_new) break;
            load();
        }
    }

    // Sums up a warp's key tile, from key `key` on. Its keys and values are in stage `here`.
    template <class Stage>
    DEV static void attend_stage(const Stage &here, int key, int to, const sight &seen, const typename tile::queries &q, sums &all)
    {
        scores s[units];
#pragma unroll
        for (int u = 0; u < units; u++) {
            typename tile::keys x;
            x.load_near(here.keys, u * tile::unit, to - key);
            x.multiply(q, s[u]);
            shape(seen, key + u * tile::unit, s[u]);
        }
        raise(all, s);
#pragma unroll
        for (int u = 0; u < units; u++) {
            typename tile::values y;
            y.load_near(here.values, u * tile::unit, to - key);
            float w[tile::count];
            weigh(all, s[u], w);
            all.o.add(y, w);
        }
    }
    // A warp's first key in a part, and the end of the part's keys.
    DEV static int first_of(const part &t) { return t.seen_from + t.from * tile_keys + wave_index() * keys; }
    DEV static int end_of(const part &t)
    {
        const int last = t.seen_from + t.to * tile_keys;
        return last < t.seen_to ? last : t.seen_to;
    }
    DEV static void issue(const key_rows &k, const value_rows &v, int key, const part &t, ring &r)
    {
        const int left = t.seen_to - key, rows = left < keys ? left : keys;
        const run_of_rows x = k.from(key), y = v.from(key);
        const long long row = x.row;
        r.issue(x.first + row * head_dim, y.first + row * value_dim, rows * head_dim, rows * value_dim);
    }
    // The order in which a warp issues loads: key tiles of a part, then those of the next part, so that they arrive while the part ends.
    struct load_order {
        int key, end;     // the first key of the part's next key tile to load; the end of the part's keys
        const part *then; // the next part; null: none
        int early;        // how many key tiles of the next part have been issued
        DEV void issue_next(const args &p, const key_rows &k, const value_rows &v, const part &t, ring &r)
        {
            if (key < end) {
                issue(k, v, key, t, r);
                key += tile_keys;
            } else if (then) {
                const int its = first_of(*then) + early * tile_keys;
                if (its >= end_of(*then)) return;
                issue(key_rows(p, *then), value_rows(p, *then), its, *then, r);
                early++;
            }
        }
    };

    // A part's queries. The next part's are loaded while a part ends.
    struct queries {
        typename queries_of<in_words, tile>::type of;
        bool asked; // load() has been called ahead of attend()
        DEV void load(const args &p, const part &t, memory &m)
        {
            of.load([&](int row) { return S::q(p, t.batch, token_of(p, t, row), head_of(t, row)); }, m, t.rows, threads);
            asked = true;
        }
        DEV void take(const args &p, const part &t)
        {
            if constexpr (in_words)
                of.take(p.tf_words, [&](int row) { return S::q_words(p, t.batch, token_of(p, t, row), head_of(t, row)); }, t.rows);
        }
    };

    // Sums up a part's keys. then: the next part, or null. early: on entry, how many key tiles of this part were loaded ahead; on return,
    // how many of the next part. meanwhile: a function that is called while the first loads are in flight.
    template <class F>
    DEV static void attend(const args &p, const part &t, const part *then, memory &m, ring &r, queries &q, sums &all, int &early,
                           const F &meanwhile)
    {
        const int first = first_of(t), end = end_of(t);
        const key_rows k(p, t);
        const value_rows v(p, t);
        load_order f = {first + early * tile_keys, end, then, 0};
        if constexpr (stages > 0)
#pragma unroll 1
            for (int i = early; i < stages; i++) f.issue_next(p, k, v, t, r);
        const sight seen(p, t);
        if constexpr (!in_words)
            if (!q.asked) q.load(p, t, m);
        q.asked = false;
        meanwhile();
        all.clear();
        if constexpr (in_words) {
            attend_words(p, t, first, end, seen, q, all);
        } else if constexpr (stages > 0) {
#pragma unroll 1
            for (int key = first; key < end; key += tile_keys) {
                attend_stage(r.wait(), key, t.seen_to, seen, q.of, all);
                r.release();
                f.issue_next(p, k, v, t, r);
            }
            early = f.early;
        } else
            attend_registers(k, v, first, end, seen, q.of, all);
    }

    // ---- results: four places of a row at a time; column_at() of the tile tells which columns these are
    using four = neighbours<float, 4>;
    static constexpr int fours = value_dim / 4;
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

    DEV static void put(memory &m, const part &t, sums &all)
    {
        const int lane = thread_index() % TF_WAVE, warp = wave_index();
#pragma unroll
        for (int e = 0; e < lane_rows; e++)
#pragma unroll
            for (int mask = tile::sharing; mask < TF_WAVE; mask *= 2) all.sum[e] += warp_xor(all.sum[e], mask);
        all.o.put(m.o[warp], t.rows);
#pragma unroll
        for (int e = 0; e < lane_rows; e++) {
            const int row = tile::row(e);
            if (lane < tile::sharing && row < t.rows) m.largest[warp][row] = all.largest[e], m.sum[warp][row] = all.sum[e];
        }
    }
    // The first place of a group of four. With rows in words a group is two pairs of places, 8 places apart, whose columns are adjacent.
    DEV static int place_of(int group) { return in_words ? group / 4 * 16 + group % 4 * 2 : group * 4; }
    DEV static four four_at(const float *place)
    {
        if constexpr (in_words) {
            const neighbours<float, 2> low = element_of(reinterpret_cast<const neighbours<float, 2> *>(place)),
                                       high = element_of(reinterpret_cast<const neighbours<float, 2> *>(place + 8));
            return {{low.e[0], low.e[1], high.e[0], high.e[1]}};
        } else
            return element_of(reinterpret_cast<const four *>(place));
    }
    // Joins the warps' results for four places of a row.
    DEV static joined join_warps(const memory &m, int row, int place)
    {
        joined x;
        x.clear();
#pragma unroll
        for (int w = 0; w < warps; w++) x.largest = larger(x.largest, m.largest[w][row]);
#pragma unroll
        for (int w = 0; w < warps; w++)
            x.add(four_at(&m.o[w][tile::at(row, place)]), factor_of(m.largest[w][row], x.largest), m.sum[w][row]);
        return x;
    }

    // ---- handing over parts. Without shares (below), a workgroup hands over at most one part: to a member of its cluster in shared
    // memory, else through memory. Each row has its columns, its largest score and its sum. With shares, words in memory carry a tag
    // (isa/device_scope.h), which saves a fence and a flag. For every four columns of a row they hold these columns, the row's largest
    // score and its sum.
    static constexpr int pairs = 3; // tagged_pairs for four columns
    using slices_of_parts = slices<runs::shares ? kept * fours * pairs * 4 : kept * pitch>;
    DEV static slices_of_parts parts_of(const args &p) { return {S::partial(p)}; }
    // The first workgroup of its cluster.
    DEV static int cluster_start(int workgroup) { return workgroup / cluster * cluster; }

    DEV static tagged_pair *pairs_of(const args &p, int workgroup, int i)
    {
        return reinterpret_cast<tagged_pair *>(parts_of(p).data(workgroup)) + i * pairs;
    }
    DEV static void hand_over(const args &p, const part &t, memory &m, int own)
    {
        const bool near = cluster > 1 && t.last_owner < cluster_start(own) + cluster;
        float *to = near ? m.handed_over[0] : parts_of(p).data(own);
        for (int i = thread_again(); i < t.rows * fours; i += threads) {
            const int row = i / fours, place = i % fours * 4;
            const joined x = join_warps(m, row, place);
            slice_store(to + row * pitch + place, x.o);
            if (place == 0) slice_store(to + row * pitch + value_dim, {{x.largest, x.sum, 0.0f, 0.0f}});
        }
        if (near) return;
        slice_stored();
        barrier();
        if (thread_index() == 0) parts_of(p).publish(own);
    }
    DEV static void rescale(joined &x, float largest)
    {
        const float factor = factor_of(x.largest, largest);
#pragma unroll
        for (int i = 0; i < 4; i++) x.o.e[i] *= factor;
        x.sum *= factor;
        x.largest = largest;
    }
    // Adds four columns of the parts of workgroups first..end-1 to `all`, with many loads in flight.
    template <bool Near> DEV static void take(const args &p, const memory &m, int first, int end, int row, int place, joined &all)
    {
        constexpr int at_once = tile::parts_at_once;
#pragma unroll 1
        for (int from = first; from < end; from += at_once) {
            four o[at_once], numbers[at_once];
#pragma unroll
            for (int i = 0; i < at_once; i++) {
                const int of = from + i < end ? from + i : end - 1;
                const float *part = Near ? m.handed_over[0] + row * pitch : parts_of(p).data(of) + row * pitch;
                o[i] = four_of<Near>(part + place, of);
                numbers[i] = four_of<Near>(part + value_dim, of);
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
            return cluster_read(from, workgroup - cluster_start(block_index()));
        else
            return slice_read(from);
    }
    DEV static void await(const args &p, int first, int end)
    {
        for (int i = first + thread_index(); i < end; i += threads) {
            parts_of(p).await(i);
            parts_of(p).clear(i);
        }
        barrier();
    }

    // Joins the work tile's parts and stores its results.
    DEV static void store(const args &p, const part &t, memory &m, int own)
    {
        const int first = t.first_owner, near = first > cluster_start(own) ? first : cluster_start(own);
        if (first < near) await(p, first, near);
        for (int i = thread_again(); i < t.rows * fours; i += threads) {
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
            float factor = x.sum == 0.0f ? 0.0f : 1.0f / x.sum;
            if constexpr (has_sinks<S>::value)
                factor = factor_with_sink(x.sum, x.largest, S::sink(p, head_of(t, row)) * to_log2, [](float y) { return machine_exp2(y); });
            if constexpr (tile::in_order) {
                const vec<float, 4> v = {x.o.e[0] * factor, x.o.e[1] * factor, x.o.e[2] * factor, x.o.e[3] * factor};
                S::template write<4>(p, t.batch, token_of(p, t, row), head_of(t, row), place, 4, v);
            } else {
#pragma unroll
                for (int k = 0; k < 4; k++) m.joined[row][tile::column_at(place + k)] = x.o.e[k] * factor;
            }
        }
        if constexpr (tile::in_order) return;
        barrier();
        for (int i = thread_index(); i < t.rows * (value_dim / 8); i += threads) {
            const int row = i / (value_dim / 8), column = i % (value_dim / 8) * 8;
            vec<float, 8> v;
#pragma unroll
            for (int k = 0; k < 8; k++) v[k] = m.joined[row][column + k];
            S::template write<8>(p, t.batch, token_of(p, t, row), head_of(t, row), column, 8, v);
        }
    }

    // ---- shares. All workgroups that have parts of a work tile join them, each for a share of the groups of four columns, since a
    // workgroup takes long to read what many others have computed. None waits before it has handed over all of its own parts. A run has at
    // most two parts of work tiles that it shares with other runs: its last keys, in slice 2 * workgroup, and its first keys, in slice
    // 2 * workgroup + 1. The part of a run within one work tile is in the former, or in the latter if the work tile ends there.
    DEV static void store_four(const args &p, const part &t, int i, const joined &x)
    {
        const int row = i / fours, place = place_of(i % fours);
        float factor = x.sum == 0.0f ? 0.0f : 1.0f / x.sum;
        if constexpr (has_sinks<S>::value)
            factor = factor_with_sink(x.sum, x.largest, S::sink(p, head_of(t, row)) * to_log2, [](float y) { return machine_exp2(y); });
        if constexpr (in_words) {
            const vec<float, 4> v = {x.o.e[0] * factor, x.o.e[1] * factor, x.o.e[2] * factor, x.o.e[3] * factor};
            S::template write<4>(p, t.batch, token_of(p, t, row), head_of(t, row), tile::column_at(place), 4, v);
        } else {
#pragma unroll
            for (int k = 0; k < 4; k++) {
                const vec<float, 1> v = {x.o.e[k] * factor};
                S::template write<1>(p, t.batch, token_of(p, t, row), head_of(t, row), tile::column_at(place + k), 1, v);
            }
        }
    }
    // The slice with workgroup `of`'s part of a work tile.
    DEV static int slice_of(const part &t, int of) { return 2 * of + (of == t.last_owner && of != t.first_owner); }
    DEV static void give(const args &p, const part &t, memory &m, int own, int &pending)
    {
        const bool whole = t.first_owner == t.last_owner;
        for (int i = thread_again(); i < t.rows * fours; i += threads) {
            const joined x = join_warps(m, i / fours, place_of(i % fours));
            if (whole) {
                store_four(p, t, i, x);
                continue;
            }
            const float of[2 * pairs] = {x.o.e[0], x.o.e[1], x.o.e[2], x.o.e[3], x.largest, x.sum};
            tagged_pair *const to = pairs_of(p, slice_of(t, own), i);
#pragma unroll
            for (int n = 0; n < pairs; n++) give_pair(p, to + n, of[2 * n], of[2 * n + 1]);
        }
        if (whole) return;
        if (thread_index() == 0) m.pending[pending] = t;
        pending++;
    }
    // A pair of numbers of a part: two words with a tag each, which the one reader clears, or with rows in words one word with the epoch.
    DEV static void give_pair(const args &p, tagged_pair *to, float x, float y)
    {
        if constexpr (in_words)
            p.tf_words.store_floats(to, x, y);
        else
            tagged_store(to, {{tagged_pair::of(x), tagged_pair::of(y)}});
    }
    DEV static void take_pairs(const args &p, tagged_pair *from, float (&to)[2 * pairs])
    {
        if constexpr (in_words) {
            unsigned long long polls = 0;
            bool there;
            do {
                there = true;
#pragma unroll
                for (int n = 0; n < pairs; n++) there &= p.tf_words.read_floats(from + n, to[2 * n], to[2 * n + 1]);
            } while (!there && !p.tf_words.is_late(polls++));
        } else {
            tagged_pair x[pairs];
            for (bool there = false; !there;) {
                there = true;
#pragma unroll
                for (int n = 0; n < pairs; n++) x[n] = tagged_read(from + n);
#pragma unroll
                for (int n = 0; n < pairs; n++) there = there && x[n].there();
                if (!there) pause();
            }
#pragma unroll
            for (int n = 0; n < pairs; n++) {
                to[2 * n] = x[n].value(0), to[2 * n + 1] = x[n].value(1);
                tagged_store(from + n, {{0, 0}});
            }
        }
    }
    // Takes the workgroup's share of a work tile, up to `taken` groups of four columns at a time. take_groups(): each thread reads one
    // group of one part; then one thread for each group joins the parts in order.
    static constexpr int room = static_cast<int>(sizeof(memory::o) / sizeof(joined)), taken = room < threads ? room : threads;
    DEV static void take_share(const args &p, const part &t, memory &m, int own)
    {
        const int items = t.rows * fours, parts = t.last_owner - t.first_owner + 1, rank = own - t.first_owner;
        const int end = (rank + 1) * items / parts;
#pragma unroll 1
        for (int first = rank * items / parts; first < end; first += taken) {
            take_groups(p, t, m, first, end - first < taken ? end - first : taken, parts);
            barrier();
        }
    }
    DEV static void take_groups(const args &p, const part &t, memory &m, int first, int count, int parts)
    {
        joined *const slots = reinterpret_cast<joined *>(m.o[0]);
        const int each = taken / count, thread = thread_again(), slot = thread / count, item = first + thread - slot * count;
        joined all;
        all.clear();
#pragma unroll 1
        for (int before = 0; before < parts; before += each) {
            if (before) barrier();
            if (slot < each && before + slot < parts) {
                tagged_pair *const from = pairs_of(p, slice_of(t, t.first_owner + before + slot), item);
                float x[2 * pairs];
                take_pairs(p, from, x);
                slots[thread] = {{{x[0], x[1], x[2], x[3]}}, x[4], x[5]};
            }
            barrier();
            const int taken_now = thread >= count ? 0 : parts - before < each ? parts - before : each;
            float largest = all.largest;
            for (int k = 0; k < taken_now; k++) largest = larger(largest, slots[k * count + thread].largest);
            rescale(all, largest);
#pragma unroll 4
            for (int k = 0; k < taken_now; k++) {
                const joined &x = slots[k * count + thread];
                all.add(x.o, factor_of(x.largest, largest), x.sum);
            }
        }
        if (thread < count) store_four(p, t, item, all);
    }

    // With rows in words the schedule is made while an earlier phase uses the memory of the phases, so it lies behind that.
    DEV static typename runs::run &schedule_of(memory &m)
    {
        if constexpr (in_words) {
            static_assert(sizeof(typename runs::run) <= S::schedule_bytes, "shared memory of a schedule");
            return *reinterpret_cast<typename runs::run *>(reinterpret_cast<char *>(&m) + S::schedule_at);
        } else
            return m.schedule;
    }
    DEV static const typename runs::run &schedule_of(const memory &m) { return schedule_of(const_cast<memory &>(m)); }

    // ---- a run. Before the previous launch has ended, lengths may still change. A run is nevertheless scheduled by them, as a guess, so
    // that its first keys are prefetched into L2 and loaded. Then the lengths are read again; if they differ, the run begins anew.
    DEV static void prefetch_keys(const args &p, const part &t, const member &w)
    {
        constexpr int most = 4 << 20; // bytes that all workgroups together prefetch: more would slow the previous launch down
        const int from = t.seen_from + t.from * tile_keys, end = t.seen_from + t.to * tile_keys,
                  some = from + most / (2 * (head_dim + value_dim)) / w.total;
        const int run_end = S::run_length ? (from / S::run_length + 1) * S::run_length : t.seen_to; // the prefetched keys are contiguous
        const int most_to = end < t.seen_to ? end : t.seen_to, in_run = run_end < most_to ? run_end : most_to;
        const int to = some < in_run ? some : in_run;
        if (from >= to) return;
        prefetch_l2(thread_index() ? S::v(p, t.batch, from, t.kv_head) : S::k(p, t.batch, from, t.kv_head),
                    (to - from) * (thread_index() ? value_dim : head_dim) * 2);
    }
    DEV static void prefetch_first_keys(const args &p, const memory &m, const member &w)
    {
        const cursor &s = schedule_of(m).cursors[0];
        if (s.to > schedule_of(m).from && thread_index() < 2 && dense) prefetch_keys(p, s.now, w);
    }
    // The same before there is a schedule: assumes that all sequences are as long as sequence `like`, in which this run would then roughly
    // lie.
    DEV static void prefetch_likely_keys(const args &p, const member &w)
    {
        if (!tile::guesses || !dense || thread_index() > 1) return;
        const int batches = S::batches(p), of_sequence = runs::work_tiles(p), like = static_cast<int>(1ll * w.index * batches / w.total);
        const typename runs::visible v = runs::visible_in(p, runs::guess(p, like));
        const typename runs::share mine(batches * of_sequence * v.key_tiles, w);
        if (mine.from >= mine.to) return;
        const int work_tile = (mine.to - 1) / v.key_tiles, first = work_tile * v.key_tiles;
        part t = {};
        t.batch = work_tile / of_sequence, t.kv_head = work_tile % of_sequence / runs::row_tiles(p);
        t.seen_from = v.from, t.seen_to = v.to, t.from = mine.from > first ? mine.from - first : 0, t.to = mine.to - first;
        prefetch_keys(p, t, w);
    }
    // Called by all threads, which then all see the schedule.
    template <bool Sure> DEV static void make_schedule(const args &p, memory &m, const member &w, bool again = false)
    {
        if (S::batches(p) > TF_WAVE) {
            runs::count_spans(p, schedule_of(m));
            barrier();
        }
        if (thread_index() < TF_WAVE) runs::template make_schedule<Sure, (stages > 0)>(p, schedule_of(m), w, again);
        barrier();
    }
    DEV static bool differs(const numbers &x, const numbers &y)
    {
        if constexpr (has_first<S>::value)
            if (x.first != y.first) return true;
        return x.start != y.start || x.length != y.length;
    }

    DEV static int follower(int cursor) { return cursor < 2 ? cursor + 1 : 0; }
    // Finds the part after the current one, whose cursor is `at`. With stages loads run ahead, so it finds the part after that one.
    DEV static void find_next(const args &p, memory &m, const member &w, int at)
    {
        const int from = stages > 0 ? follower(at) : at;
        runs::step(p, schedule_of(m), schedule_of(m).cursors[from], schedule_of(m).cursors[follower(from)], w);
    }
    // Whether a part ends with a barrier, because the next part's put() overwrites the shared memory that hand_over() and store() read.
    // These have a barrier of their own after their reads, except in a cluster, with shares, or if results are stored in order of columns.
    static constexpr bool barrier_at_end = cluster > 1 || runs::shares || tile::in_order;

    // Computes the phase as a launch of its own.
    DEV static void run(const args &p, memory &m)
    { TF_TRACED(trace_enter(p.tf_trace, 0));
        const member w = {static_cast<int>(block_index()), static_cast<int>(block_total())};
        bool sure = !guesses || S::batches(p) > known; // the lengths are final
        next_may_start();
        if (S::queries(p) == 0 || S::batches(p) == 0) return previous_wait();
        ring r(m);
        if (!sure) {
            make_schedule<false>(p, m, w);
            prefetch_first_keys(p, m, w);
        } else {
            prefetch_likely_keys(p, w);
        }
        previous_wait(); TF_TRACED(if (thread_index() == 0) trace_ready(p.tf_trace));
        if (sure) make_schedule<true>(p, m, w);
        walk<true>(p, m, w, r, sure); TF_TRACED(trace_leave(p.tf_trace, 0));
    }

    // The current part: with rows in words in shared memory, where it takes no registers, else a copy.
    DEV static decltype(auto) here(const part &now)
    {
        if constexpr (in_words) return (now);
        else return warp_same(now);
    }
    // Computes the parts of a scheduled run. Alone: the phase is a launch of its own. sure: the lengths are final.
    template <bool Alone> DEV static void walk(const args &p, memory &m, const member &w, ring &r, bool sure)
    {
        const bool first_warp = thread_index() < TF_WAVE, known_to = thread_index() < S::batches(p);
        bool arrived = false, met = false; // at the cluster's barrier, after which all parts have been handed over: arrived, and waited
        int early = 0, pending = 0;
        queries q;
        q.asked = false;
#pragma unroll 1
        for (int at = 0;; at = follower(at)) {
            const cursor &now = schedule_of(m).cursors[at], &then = schedule_of(m).cursors[follower(at)];
            numbers again = {}; TF_TRACED(trace_times when = {});
            const bool looks = !sure && first_warp && known_to;
            if (looks) again = runs::read(p, thread_index());
            if (now.to > schedule_of(m).from) {
                sums s;
                const auto &t = here(now.now); TF_TRACED(when.start = trace_clock());
                attend(p, t, stages > 0 && sure && then.to > schedule_of(m).from ? &then.now : nullptr, m, r, q, s, early, [&] {
                    if (thread_index() == threads - TF_WAVE) find_next(p, m, w, at);
                });
                put(m, t, s); TF_TRACED(when.computed = trace_clock());
            }
            if (!sure && first_warp) {
                const bool stale = any_lane(looks && differs(again, schedule_of(m).of[thread_index()]));
                if (thread_index() == 0) schedule_of(m).stale = stale;
            }
            barrier();
            if (!sure) {
                sure = true;
                if (schedule_of(m).stale) {
                    make_schedule<true>(p, m, w);
                    at = 2; // begins again with the first part: follower(2) is 0
                    continue;
                }
            }
            if (now.to <= schedule_of(m).from) break;
            const auto &t = here(now.now);
            if constexpr (runs::shares) {
                give(p, t, m, w.index, pending);
            } else {
                if constexpr (tile::queries_ahead)
                    if (then.to > schedule_of(m).from) q.load(p, warp_same(then.now), m);
                const bool last = t.to == t.each;
                if (!last) hand_over(p, t, m, w.index);
                if (cluster > 1 && !arrived) cluster_arrive();
                arrived = true;
                if (last) {
                    if (cluster > 1 && t.first_owner < w.index) {
                        cluster_wait();
                        met = true;
                    }
                    store(p, t, m, w.index);
                }
            }
            if constexpr (barrier_at_end) barrier(); TF_TRACED(if constexpr (Alone) trace_whole(p.tf_trace, trace_part(p, t), 0, when));
        }
        if constexpr (runs::shares)
#pragma unroll 1
            for (int n = 0; n < pending; n++) take_share(p, warp_same(m.pending[n]), m, w.index);
        if constexpr (cluster > 1) { // no member may end while others read its shared memory
            if (!arrived) cluster_arrive();
            if (!met) cluster_wait();
            cluster_arrive();
            cluster_wait();
        }
    }

    // ---- in a list of phases (frame_list.h): a tile is one workgroup's run. There are S::splits times as many tiles as work tiles, of
    // which each workgroup that takes part uses at most one. So tiles may wait for each other (shares): all of these workgroups run at the
    // same time, and none of them has a second tile that others wait for.
    using in_list = runs_in_list;
    DEV static int tiles(const args &p) { return S::batches(p) * S::queries(p) > 0 ? S::batches(p) * runs::work_tiles(p) * S::splits : 0; }
    DEV static member member_of(const args &p, int index, int total)
    {
        const int all = tiles(p);
        return {index, all < total ? all : total};
    }
    // Called before the tile waits for other phases, which is right as no phase writes lengths. Most keys that it prefetches were stored
    // before this launch.
    static constexpr bool looks_ahead = in_words;
    DEV static bool in_shared(const args &p) { return S::batches(p) <= TF_WAVE; } // a schedule has the numbers of all sequences
    DEV static bool schedule(const args &p, int index, int total, memory &m, bool again = false)
    {
        const member w = member_of(p, index, total);
        if (index >= w.total) return false;
        make_schedule<true>(p, m, w, again);
        prefetch_first_keys(p, m, w);
        return true;
    }
    DEV static void take(const args &p, int index, int total, memory &m)
    {
        static_assert(cluster == 1 && stages == 0, "tile: in a list");
        const member w = member_of(p, index, total);
        if (index >= w.total) return;
        ring r(m);
        walk<false>(p, m, w, r, true);
    }
};

#if defined(TF_ON_HOST)
#define TF_KERNEL_DECODE(name, ...)                               \
    extern "C" __global__ void name(const __VA_ARGS__::args p)    \
    {                                                             \
        TF_SHARED_STRUCT(__VA_ARGS__::memory, memory);            \
        __VA_ARGS__::run(p, memory);                              \
    }                                                             \
    TF_EXPORT_CLUSTER(name, (__VA_ARGS__::cluster))
#elif defined(__clang__) // waves per SIMD: a compute unit has four SIMDs
#define TF_DECODE_WAVES(P) ((P::resident * P::threads / TF_WAVE + 3) / 4)
#define TF_KERNEL_DECODE(name, ...)                                                                                     \
    extern "C" __global__ void __attribute__((amdgpu_flat_work_group_size(__VA_ARGS__::threads, __VA_ARGS__::threads))) \
    __attribute__((amdgpu_waves_per_eu(TF_DECODE_WAVES(__VA_ARGS__)))) name(const __VA_ARGS__::args p)                  \
    {                                                                                                                   \
        __shared__ __VA_ARGS__::memory memory;                                                                          \
        __VA_ARGS__::run(p, memory);                                                                                    \
    }
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
        extern __shared__ __attribute__((aligned(16))) unsigned char memory[];                                                \
        __VA_ARGS__::run(p, *reinterpret_cast<__VA_ARGS__::memory *>(memory));                                                \
    }
#endif
