// The scheduler of flash-decoding (decode_mma.h): it gives each workgroup an equally long run of all sequences' keys, however long each
// sequence is (stream-K over keys). Needs isa/mma_cache.h or isa/wave_cache.h.
//
// A row is one head of a GQA group for one query. A work tile is up to Rows rows of a KV head with all keys of their sequence, in key tiles
// of TileKeys keys. The key tiles of all work tiles, in order, are cut into as many runs as there are workgroups. A work tile may lie in
// several runs; what lies in one run is a part of it. The workgroup with a work tile's last part joins all of its parts; with `shares`, all
// workgroups that have parts join them, each for some of the columns.
//
// A workgroup walks its run backwards. First it hands over its part of a work tile that goes on in the next run. At the end it joins the
// parts of a work tile that began in earlier runs. So it waits only for workgroups with lower indices, and these hand over their parts
// before they wait themselves. With `shares`, workgroups wait for those with higher indices, too, but only at the end of their runs, after
// they have handed over their parts. So all of them must run at the same time.
#pragma once
#include "templates/frame/next.h"
#include "templates/frame/workspace.h"
#include "templates/attention/visible.h"

template <bool> struct numbers_of_padding {};
template <> struct numbers_of_padding<true> {
    int first;
};

// True if the phase is one of several in a launch (frame_list.h): S has `listed`.
template <class S, class = void> constexpr bool is_listed = false;
template <class S> constexpr bool is_listed<S, decltype(static_cast<void>(S::listed))> = true;

template <class S, int TileKeys, int Rows> struct decode_runs {
    using args = typename S::args;
    static constexpr int group = S::heads / S::kv_heads, most_rows = group * S::most_queries;
    static constexpr int known = TF_WAVE; // sequences whose lengths are kept in shared memory
    // Whether all workgroups that have parts of a work tile join them, each for a share of the results; else the last of them does.
    static constexpr bool shares = is_listed<S>;

    struct member { // one of the workgroups that share the keys
        int index, total;
    };
    struct visible { // keys from..to-1 of a sequence, those that some query sees, and how many key tiles they make
        int from, to, key_tiles;
    };
    struct numbers : numbers_of_padding<has_first<S>::value> { // what the caller's tensors say of a sequence
        int start, length;
    };
    DEV static numbers read(const args &p, int batch)
    {
        const int *const starts = S::starts(p), *const lengths = S::lengths(p);
        numbers n = {};
        n.start = starts ? number_read(starts + batch) : 0, n.length = lengths ? number_read(lengths + batch) : 0;
        if constexpr (has_first<S>::value) n.first = number_read(S::first_keys(p) + batch);
        return n;
    }
    // Reads lengths that the previous launch may still change. On the host engine that launch has ended, so odd workgroups guess wrong on
    // purpose: the code for a wrong guess must run, too.
    DEV static numbers guess(const args &p, int batch)
    {
#if defined(TF_ON_HOST)
        if (block_index() % 2) return {};
#endif
        return read(p, batch);
    }
    DEV static visible visible_in(const args &p, const numbers &n)
    {
        const int most = S::most_keys(p), written = n.start + S::queries(p);
        int given = S::lengths(p) ? n.length : S::starts(p) ? written : most;
        if (!S::causal && S::lengths(p) && S::starts(p)) given = given < written ? given : written; // causal queries see no later keys
        const int all = given < most ? given : most, last = n.start + S::queries(p) - 1;
        int oldest = S::window ? n.start - window_of<S>(p) + 1 : 0;
        if constexpr (has_first<S>::value) {
            const int padding = n.first < most ? n.first : most;
            oldest = oldest > padding ? oldest : padding;
        }
        // In a cache with runs of rows (run_length), a warp's keys begin at a multiple of their number, so that they lie in one run.
        const int first = S::run_length ? oldest / S::warp_keys * S::warp_keys : oldest;
        visible v = {oldest > 0 ? first : 0, S::causal && last < all ? last + 1 : all, 1};
        if (v.to > v.from) v.key_tiles = ceil_div(v.to - v.from, TileKeys);
        return v;
    }
    DEV static int row_tiles(const args &p) { return most_rows <= Rows ? 1 : ceil_div(group * S::queries(p), Rows); }
    DEV static int work_tiles(const args &p) { return S::kv_heads * row_tiles(p); } // per sequence

    struct place { // a sequence: its index, its first key tile among all of the batch, key tiles per work tile
        int batch, first, each;
    };
    struct part { // of a work tile
        int batch, start, kv_head, row0; // start: position of the first query; row0: the first row, counted in the GQA group's rows
        int seen_from, seen_to;          // some query sees keys seen_from..seen_to-1
        int from, to, each;              // the part has key tiles from..to-1 of the work tile's `each`
        int rows;                        // up to Rows
        int first_owner, last_owner;     // the workgroups with the work tile's first and last part (that: in clusters, or with shares)
    };
    struct cursor { // a position in a run, which is walked from its end
        int to;    // the end of the key tiles that are left to walk, as an index among all key tiles of the batch
        place at;
        part now; // the part that ends at `to`
    };

    struct run {
        int all, count, from; // key tiles of the batch; workgroups that have some of them; this workgroup's first key tile
        cursor cursors[3];    // for the current part, the next one, and the one after that, in turn
        int first;            // of[i] has the numbers of sequence first + i
        numbers of[known];
        int spans[TF_WAVE]; // key tiles of each span of sequences (count_spans())
        int stale;          // not 0: the guessed lengths were wrong
    };

    // ---- making the schedule, mostly by the first warp
    // sum_of_lanes(): the sum of x over the warp. sum_to_lane(): over the lanes up to and including this one.
    DEV static int sum_of_lanes(int x)
    {
#pragma unroll
        for (int mask = 1; mask < TF_WAVE; mask *= 2) x += warp_xor(x, mask);
        return x;
    }
    DEV static int sum_to_lane(int x)
    {
        const int lane = thread_index() % TF_WAVE;
#pragma unroll
        for (int step = 1; step < TF_WAVE; step *= 2) {
            const int before = lane_value(x, lane - step & TF_WAVE - 1);
            x += lane >= step ? before : 0;
        }
        return x;
    }
    // Lane i has sequence batch0 + i. own: the key tiles of all work tiles of that sequence; to: the end of these among the batch's key
    // tiles.
    struct key_tiles_of_lanes {
        int own, to;
        template <bool Sure> DEV void count(const args &p, run &m, int batch0, int before, bool again = false)
        {
            const int lane = thread_index() % TF_WAVE, batch = batch0 + lane;
            own = 0;
            if (batch < S::batches(p)) {
                const numbers n = again ? m.of[lane] : Sure ? read(p, batch) : guess(p, batch);
                own = work_tiles(p) * visible_in(p, n).key_tiles;
                m.of[lane] = n;
            }
            to = before + (S::batches(p) > 1 ? sum_to_lane(own) : lane_value(own, 0));
        }
        DEV int all() const { return lane_value(to, TF_WAVE - 1); }
    };
    // If there are more sequences than a warp has lanes, all warps together count key tiles by spans of sequences, because reading a length
    // takes a memory latency.
    DEV static int span(const args &p) { return ceil_div(S::batches(p), TF_WAVE * TF_WAVE) * TF_WAVE; }
    DEV static void count_spans(const args &p, run &m)
    {
        constexpr int warps = S::threads / TF_WAVE, at_once = 4; // for so many spans, a warp has lengths in flight together
        const int batches = S::batches(p), each = span(p), lane = thread_index() % TF_WAVE;
        for (int first = wave_index(); first * each < batches; first += warps * at_once) {
            int key_tiles[at_once] = {};
            for (int from = 0; from < each; from += TF_WAVE) {
                numbers n[at_once];
#pragma unroll
                for (int i = 0; i < at_once; i++) {
                    const int batch = (first + i * warps) * each + from + lane;
                    n[i] = read(p, batch < batches ? batch : batches - 1);
                }
#pragma unroll
                for (int i = 0; i < at_once; i++)
                    if ((first + i * warps) * each + from + lane < batches)
                        key_tiles[i] += work_tiles(p) * visible_in(p, n[i]).key_tiles;
            }
#pragma unroll
            for (int i = 0; i < at_once; i++) {
                const int in = first + i * warps, of_span = sum_of_lanes(key_tiles[i]);
                if (lane == 0 && in * each < batches) m.spans[in] = of_span;
            }
        }
    }
    struct share { // a workgroup's run
        int count, from, to; // how many workgroups have key tiles; this one has key tiles from..to-1
        DEV share(int all, const member &w)
        {
            count = w.total < all ? w.total : all;
            const int each = all / count, rest = all % count, own = w.index;
            from = to = all;
            if (own < count) from = own * each + (own < rest ? own : rest), to = from + each + (own < rest);
        }
    };
    // Called by the first warp, after count_spans() if there are more sequences than lanes. Sure: lengths are final. Ahead: also finds the
    // part after the first. again: `m` has the schedule of another run of the same launch, whose sequences' numbers are still right.
    template <bool Sure, bool Ahead> DEV static void make_schedule(const args &p, run &m, const member &w, bool again = false)
    {
        const int batches = S::batches(p), lane = thread_index() % TF_WAVE;
        key_tiles_of_lanes t;
        int batch0 = 0, all;
        if (batches <= TF_WAVE) {
            t.template count<Sure>(p, m, 0, 0, again);
            all = t.all();
        } else {
            const int own = lane * span(p) < batches ? m.spans[lane] : 0, to = sum_to_lane(own);
            all = lane_value(to, TF_WAVE - 1);
            const int in = lanes_with(to < share(all, w).to);
            batch0 = in * span(p);
            t.template count<Sure>(p, m, batch0, lane_value(to, in) - lane_value(own, in));
        }
        const share mine(all, w);
        for (int before; before = t.all(), mine.to > before;) t.template count<Sure>(p, m, batch0 += TF_WAVE, before);
        const int in = lanes_with(t.to < mine.to), key_tiles = lane_value(t.own, in);
        const place at = {batch0 + in, lane_value(t.to, in) - key_tiles, key_tiles / work_tiles(p)};
        warp_sync();
        if (lane == 0) {
            m.all = all, m.count = mine.count, m.from = mine.from, m.first = batch0;
            cursor &now = m.cursors[0];
            now.to = mine.to, now.at = at;
            if (w.index < mine.count) now.now = part_at(p, m, now, (now.to - 1 - at.first) / at.each, w);
            if constexpr (Ahead) step(p, m, now, m.cursors[1], w);
        }
    }
    DEV static numbers numbers_of(const args &p, const run &m, int batch)
    {
        const int in = batch - m.first;
        return in >= 0 && in < known ? m.of[in] : read(p, batch);
    }
    // The workgroup that has a key tile.
    DEV static int owner(const run &m, int index)
    {
        const int each = m.all / m.count, rest = m.all % m.count, longer = rest * (each + 1);
        return index < longer ? index / (each + 1) : rest + (index - longer) / each;
    }
    DEV static part part_at(const args &p, const run &m, const cursor &s, int work_tile, const member &w)
    {
        const place &at = s.at;
        const int tiles = row_tiles(p), first = at.first + work_tile * at.each, tile = work_tile % tiles;
        const int rows = group * S::queries(p) - tile * Rows, own = w.index;
        const numbers n = numbers_of(p, m, at.batch);
        const visible v = visible_in(p, n);
        const int first_owner = m.from > first ? owner(m, first) : own,
                  last_owner = (S::cluster > 1 || shares) && s.to < first + at.each ? owner(m, first + at.each - 1) : own;
        return {at.batch, n.start, work_tile / tiles, tile * Rows, v.from, v.to, m.from > first ? m.from - first : 0, s.to - first, at.each,
                rows < Rows ? rows : Rows, first_owner, last_owner};
    }
    // Sets `then` to the part that the run has after `now`'s; then.to is m.from if there is none. Called by one thread. All parts of a run
    // but the last one that is walked begin where their work tile begins.
    DEV static void step(const args &p, const run &m, const cursor &now, cursor &then, const member &w)
    {
        then.to = now.to > m.from ? now.to - (now.now.to - now.now.from) : now.to;
        if (then.to <= m.from) return;
        int work_tile = now.now.kv_head * row_tiles(p) + now.now.row0 / Rows - 1;
        then.at = now.at;
        if (then.to == then.at.first) {
            then.at.batch--;
            then.at.each = visible_in(p, numbers_of(p, m, then.at.batch)).key_tiles;
            then.at.first -= work_tiles(p) * then.at.each;
            work_tile = work_tiles(p) - 1;
        }
        then.now = part_at(p, m, then, work_tile, w);
    }
};
