// FlashAttention-3 for sm_90a, made from a phase's spec struct S (docs/spec-structs.md: attention). One thread of a producer warpgroup
// fills a ring of key and value blocks by TMA. Each of 2 or 3 consumer warpgroups computes 64 rows; the softmax of one overlaps the
// products of another (ping-pong), and weights stay in registers. (J. Shah et al., "FlashAttention-3", 2024.) A row without a visible key
// is zeros. Refuses head sizes that are not multiples of 16 up to 256, and scales that are not positive.
//
// S has these members besides those of all attention templates:
// - q_map(p), k_map(p), v_map(p): tensor maps with the axes columns of a head, heads, tokens, batch, and 128-byte swizzle. A box has 64
//   columns: of queries, pack_gqa heads by 64 / pack_gqa tokens; of keys and values, 1 head by block_k tokens.
// - place_of(p, batch, key): where a key lies in the maps of keys and of values. A block's keys are contiguous.
// - pack_gqa: how many query heads of a GQA group share a row tile. stages: of the ring.
// - most_keys(p): at least as large as keys(p, batch) of every sequence.
// - ragged: memory beyond keys(p, batch) may hold anything.
// - masks_all (optional): see masks_all_of.
//
// If the stages have room for all blocks of a head ("resident"), each warpgroup computes row tiles of its own over them. Otherwise the
// warpgroups of a tile walk a stream of blocks together and issue their products in turn.
#pragma once
#include "templates/frame/frame_ws.h"
#include "templates/isa/wgmma_wide.h"
#include "templates/base/spec.h"
#include "templates/attention/visible.h"

struct map_place { // where a key lies in the tensor maps of keys and of values
    int token, sequence;
};

// ALiBi: by how much a score decreases per token of distance, in the units of accumulators.largest, and the positions of the thread's rows.
template <bool> struct row_slopes {};
template <> struct row_slopes<true> {
    float slope[2];
    int position[2]; // of the row's query, minus this thread's first column of a block
};

// The bias of the thread's two rows, from its first column of a block on.
template <class S, bool = has_bias<S>::value> struct rows_of_bias {};
template <class S> struct rows_of_bias<S, true> {
    decltype(S::bias(*static_cast<const typename S::args *>(nullptr), 0, 0, 0)) row[2];
};

// Transposes the 4 x 4 words of the four lanes of a quad: lane t's word u becomes lane u's word t.
DEV void transpose_in_quad(unsigned (&x)[4])
{
#pragma unroll
    for (int step = 1; step < 4; step *= 2) {
        const bool later = thread_index() & step;
#pragma unroll
        for (int i = 0; i < 4; i++) {
            if (i & step) continue;
            const unsigned low = x[i], high = x[i + step], other = warp_xor(later ? low : high, step);
            x[i] = later ? other : low, x[i + step] = later ? high : other;
        }
    }
}

// The bias of a thread's R scores of a block, in pairs of columns. The part for the first `Ahead` scores is loaded while the products run
// that make the scores; if more were loaded then, threads whose output has more than 64 columns would spill. A load of one pair per lane
// uses half of a sector of each of 8 rows (H200, 16 sequences of 512 tokens, 16 heads of 64: 119 us, against 55 without a bias). So if rows
// are aligned, each lane of a quad loads 8 of 32 columns, which add_loaded() transposes.
template <class S, int R, int Ahead, bool = has_bias<S>::value> struct block_of_bias {
    DEV block_of_bias(const rows_of_bias<S> &, int) {}
};
template <class S, int R, int Ahead> struct block_of_bias<S, R, Ahead, true> {
    template <class T> static T behind(const T *);
    using element = decltype(behind(rows_of_bias<S>().row[0]));
    using pair = neighbours<element, 2>;
    static constexpr bool in_pairs = S::bias_keys % 2 == 0; // all rows of the bias begin at an even element
    static constexpr bool in_vectors = S::bias_vectors && sizeof(element) == 2 && Ahead % 16 == 0 && R % 16 == 0;
    static constexpr int step = in_vectors ? 16 : 2; // how many scores a call of load() is for
    const element *row[2];
    int left;
    pair ahead[Ahead / 2];

    DEV void load(pair *to, int i) const
    {
        const int quad = thread_index() % 4;
        if constexpr (in_vectors) {
#pragma unroll
            for (int h = 0; h < 2; h++) {
                const element *at = row[h] + i / 4 * 8 + quad * 6;
                neighbours<pair, 4> x = {};
                if (left - i / 4 * 8 - quad * 6 > 0) x = load_constant(reinterpret_cast<const neighbours<pair, 4> *>(at));
#pragma unroll
                for (int k = 0; k < 4; k++) to[2 * k + h] = x.e[k];
            }
        } else {
            const element *at = row[i / 2 % 2] + i / 4 * 8;
            const int there = left - i / 4 * 8;
            if constexpr (in_pairs)
                *to = there > 0 ? load_constant(reinterpret_cast<const pair *>(at)) : pair{};
            else
                *to = {{there > 0 ? element_of(at) : element(), there > 1 ? element_of(at + 1) : element()}};
        }
    }
    DEV block_of_bias(const rows_of_bias<S> &rows, int first)
        : row{rows.row[0] + first, rows.row[1] + first}, left(S::bias_keys - thread_index() % 4 * 2 - first)
    {
#pragma unroll
        for (int i = 0; i < Ahead; i += step) load(ahead + i / 2, i);
    }
    // Adds the bias that one load() has loaded.
    DEV static void add_loaded(float *scores, const pair *x, float scale)
    {
        pair own[step / 2];
#pragma unroll
        for (int i = 0; i < step / 2; i++) own[i] = x[i];
        if constexpr (in_vectors)
#pragma unroll
            for (int h = 0; h < 2; h++) {
                unsigned words[4];
#pragma unroll
                for (int k = 0; k < 4; k++) words[k] = *reinterpret_cast<const unsigned *>(&own[2 * k + h]);
                transpose_in_quad(words);
#pragma unroll
                for (int k = 0; k < 4; k++) *reinterpret_cast<unsigned *>(&own[2 * k + h]) = words[k];
            }
#pragma unroll
        for (int i = 0; i < step; i++) scores[i] += to_float(own[i / 2].e[i % 2]) * scale;
    }
    DEV void add(float *scores, float scale) const
    {
        pair rest[R > Ahead ? (R - Ahead) / 2 : 1];
#pragma unroll
        for (int i = Ahead; i < R; i += step) load(rest + (i - Ahead) / 2, i);
#pragma unroll
        for (int i = 0; i < R; i += step) add_loaded(scores + i, i < Ahead ? ahead + i / 2 : rest + (i - Ahead) / 2, scale);
    }
};

// Whether blocks of keys that need no mask get one, too, so that there is one instance of the code.
template <class S, class = void> constexpr bool masks_all_of = false;
template <class S> constexpr bool masks_all_of<S, nothing<decltype(S::masks_all)>> = S::masks_all;

template <class S> struct attention_ws {
    using args = typename S::args;
    using in_list = ws_keys_in_list;
    using type = typename S::type;
    static constexpr int head_dim = S::head_dim, value_dim = value_head<S>::size;
    static constexpr int groups = S::block_q / 64, block_k = S::block_k, pack = S::pack_gqa, stages = S::stages;
    // A stage holds a block of keys or of values.
    static constexpr int panels = ceil_div(head_dim, 64), value_panels = ceil_div(value_dim, 64), panel_bytes = block_k * 128;
    static constexpr int stage_bytes = (panels > value_panels ? panels : value_panels) * panel_bytes;
    static constexpr int q_panel = 64 * 128, q_bytes = panels * q_panel, group_tokens = 64 / pack, tile_tokens = groups * group_tokens;
    static constexpr int phases = 1, cluster = 1, threads = 128 * groups + ws_producers, subgroups = S::heads / S::kv_heads / pack;
    static constexpr int most_shared = 232448, fixed_bytes = 1024 + stages * stage_bytes + 16 * stages;
    static constexpr int q_buffers = fixed_bytes + 2 * groups * (q_bytes + 16) <= most_shared ? 2 : 1; // per warpgroup
    static constexpr int barriers = stages * stage_bytes + q_buffers * groups * q_bytes;
    static constexpr int shared_bytes = fixed_bytes + q_buffers * groups * (q_bytes + 16);
    static_assert(S::block_q % 64 == 0 && (groups == 2 || groups == 3), "tile: two or three warpgroups of 64 rows");
    static_assert(S::threads == threads, "tile: threads = 128 per 64 rows, plus 128 that load");
    static_assert(head_dim % 16 == 0 && head_dim <= 256 && value_dim % 16 == 0 && value_dim <= 256,
                  "head sizes are multiples of 16 up to 256");
    static_assert(block_k % 16 == 0 && block_k <= 256, "tile: block_k is a multiple of 16, at most 256");
    static_assert(64 % pack == 0 && S::heads / S::kv_heads % pack == 0, "tile: pack_gqa divides 64 and the query heads of a group");
    static_assert(shared_bytes <= most_shared && stages >= 3, "tile: at least three stages, which fit in shared memory");
    static_assert(S::scale > 0.0f, "scale is above 0");
    static_assert(S::run_length % block_k == 0, "tile: blocks of keys do not cross runs of contiguous rows");

    using score_product = wgmma_wide<type, block_k>;
    using value_product = wgmma_wide<type, value_dim>;
    using products = wide_products<type, block_k, value_dim>;
    static constexpr bool masks_all = masks_all_of<S>;
    static constexpr bool has_low = S::window != 0 || has_first<S>::value; // some rows do not see the first keys
    // named barriers: per warpgroup; from 8 on: per set of warpgroups. In a list barrier() is one, too.
    static constexpr int token_barrier = ws_producers ? 1 : 2, tail_barrier = 8;
    // Scores in units of log2: exp(scale * s) is exp2(unit * s).
    static constexpr float unit = S::softcap > 0.0f ? 1.0f : S::scale * 1.44269504089f;
    static constexpr float lazy = 8.0f; // accumulators are rescaled when a row's largest score has grown by more than this (in log2)

    struct tile {
        int batch, kv, head, token; // head, token: the first query's
        int keys, from, n;          // keys of the sequence; its n blocks of keys from `from` on are walked, the last one first
    };

    DEV static int heads_apart() { return S::kv_heads * subgroups; } // how many tiles have the same tokens of the same sequence
    DEV static int pairs(const args &p) { return heads_apart() * S::batches(p); }
    DEV static int blocks(const args &p) { return ceil_div(S::queries(p), tile_tokens); }
    DEV static int visible(const args &p, int batch, int keys, int token) // end of the keys that a token sees
    {
        if constexpr (!S::causal && S::window != 0) return window_end<S>(p, S::position(p, batch, token), keys);
        const int end = S::causal ? S::position(p, batch, token) + 1 : keys;
        return end < keys ? end : keys;
    }
    DEV static int first_visible(const args &p, int batch, int token)
    {
        return visible_start<S>(p, batch, S::window ? S::position(p, batch, token) : 0);
    }
    DEV static tile at(const args &p, int pair, int token, int tokens)
    {
        tile t;
        t.batch = pair / heads_apart();
        t.kv = pair / subgroups % S::kv_heads;
        t.head = pair % heads_apart() * pack;
        t.token = token;
        t.keys = S::keys(p, t.batch);
        const int end = token + tokens < S::queries(p) ? token + tokens : S::queries(p);
        const int to = ceil_div(visible(p, t.batch, t.keys, end - 1), block_k);
        t.from = first_visible(p, t.batch, token) / block_k;
        t.n = to > t.from ? to - t.from : 0;
        return t;
    }

    // The scheduler: which tiles a workgroup computes, one per round. Under a causal mask, tiles with many keys come first, in a zigzag
    // over the workgroups: the one with a round's heaviest tile gets the lightest of the next round. If keys and values exceed L2, the
    // tiles of one head follow each other instead, and a workgroup gets a heavy and a light tile of the same head by turns (coupled).
    struct walk {
        int round;
        bool coupled;
        DEV static walk first(const args &p)
        {
            const int couples = pairs(p) * ceil_div(blocks(p), 2), idle = ceil_div(couples, block_total()) * block_total() - couples;
            const long long bytes = 4ll * S::most_keys(p) * S::kv_heads * S::batches(p) * ((head_dim + value_dim) / 2);
            return {0, S::causal && bytes > (32 << 20) && idle <= couples / 16};
        }
        DEV bool more(const args &p) const
        {
            return coupled ? round / 2 * block_total() < pairs(p) * ceil_div(blocks(p), 2) : round * block_total() < pairs(p) * blocks(p);
        }
        DEV bool here(const args &p, tile &t) const
        {
            const int n = blocks(p), half = ceil_div(n, 2), there = block_total() - 1 - block_index();
            int pair, block;
            if (coupled) {
                const int index = round / 2 * block_total() + block_index();
                pair = index / half;
                block = round % 2 ? index % half : n - 1 - index % half;
                if (index >= pairs(p) * half || (round % 2 && 2 * block == n - 1)) return false;
            } else {
                const int index = round * block_total() + (S::causal && round % 2 ? there : block_index());
                pair = S::causal ? index % pairs(p) : index / n;
                block = S::causal ? n - 1 - index / pairs(p) : index % n;
                if (index >= pairs(p) * n) return false;
            }
            t = at(p, pair, block * tile_tokens, tile_tokens);
            return true;
        }
    };

    // The tiles of a list: those of all heads and sequences with the last tokens come first.
    using stages_type = ring<attention_ws>;
    DEV static int tiles(const args &p) { return pairs(p) * blocks(p); }
    DEV static tile at_index(const args &p, int index)
    {
        return at(p, index % pairs(p), (blocks(p) - 1 - index / pairs(p)) * tile_tokens, tile_tokens);
    }

    DEV static void prefetch_maps(const args &p)
    {
        tensor_prefetch(S::q_map(p));
        tensor_prefetch(S::k_map(p));
        tensor_prefetch(S::v_map(p));
    }

    // If blocks are resident: a workgroup has a share of a head's row tiles, which its warpgroups walk in a zigzag, the last tokens first.
    DEV static bool resident(const args &p) { return 2 * ceil_div(S::most_keys(p), block_k) <= stages; }
    struct share {
        int parts, pair, part;
        DEV static share first(const args &p)
        {
            const int parts = block_total() > pairs(p) ? block_total() / pairs(p) : 1;
            return {parts, block_index() / parts, block_index() % parts};
        }
        DEV bool more(const args &p) const { return pair < pairs(p) && S::queries(p) > 0; }
        DEV void next() { pair += block_total(); }
        DEV tile all(const args &p) const { return at(p, pair, 0, S::queries(p)); }
        DEV int rounds(const args &p) const { return ceil_div(S::queries(p), group_tokens * groups * parts); }
        DEV int token(const args &p, int round, int group) const // the first token of a warpgroup's rows; negative: it has none
        {
            const int lanes = groups * parts, lane = group * parts + part, index = round * lanes + (round % 2 ? lanes - 1 - lane : lane);
            return (ceil_div(S::queries(p), group_tokens) - 1 - index) * group_tokens;
        }
    }; TF_TRACED(DEV static int trace_pair(const tile &t) { return t.batch * heads_apart() + t.head / pack; });

    // The end of the blocks of keys that a warpgroup's rows see; 0: it has no rows. token: their first token.
    DEV static int blocks_to(const args &p, const tile &t, int token)
    {
        const int queries = S::queries(p), end = token + group_tokens < queries ? token + group_tokens : queries;
        return token < queries ? ceil_div(visible(p, t.batch, t.keys, end - 1), block_k) : 0;
    }
    template <bool Resident> DEV static int first_token(const args &p, const tile &t, int group) // of the first rows that it has in a tile
    {
        return Resident ? share::first(p).token(p, 0, group) : t.token + group * group_tokens;
    }

    struct memory {
        shared_address base;
#if defined(TF_FED)
        shared_address words;
        DEV shared_address mbarriers() const { return words; }
#else
        DEV shared_address mbarriers() const { return base + barriers; }
#endif
        DEV shared_address q(int i) const { return base + stages * stage_bytes + i * q_bytes; }
        DEV shared_address q_full(int i) const { return mbarriers() + 16 * stages + 16 * i; }
        DEV shared_address q_empty(int i) const { return q_full(i) + 8; }
        DEV ring<attention_ws> stages_ring() const { return {base, mbarriers(), 0, 0}; }
    };
    // The buffer of a warpgroup's i-th row tile of queries, and the parity of its barriers.
    DEV static int q_index(int group, int i) { return group * q_buffers + i % q_buffers; }
    DEV static unsigned q_parity(int i) { return i / q_buffers & 1; }

    // ---- producer, one thread. A stream has the blocks of keys and values in the order in which they are used: k0, k1, v0, k2, v1, ...,
    // v(n-1).

    template <bool Values> DEV static void load_block(const args &p, const tile &t, int i, ring<attention_ws> &r)
    {
        constexpr int count = Values ? value_panels : panels;
        const stage s = r.to_fill();
        const map_place at = S::place_of(p, t.batch, (t.from + t.n - 1 - i) * block_k);
        barrier_expect(s.full, count * panel_bytes);
#pragma unroll 1
        for (int c = 0; c < count; c++)
            tensor_load(s.memory + c * panel_bytes, Values ? S::v_map(p) : S::k_map(p), s.full, c * 64, t.kv, at.token, at.sequence);
        r.step();
    }
    DEV static void load_queries(const args &p, const tile &t, int token, const memory &m, int group, int i)
    {
        const int at = q_index(group, i);
        barrier_wait(m.q_empty(at), q_parity(i) ^ 1);
        barrier_expect(m.q_full(at), q_bytes);
#pragma unroll 1
        for (int c = 0; c < panels; c++) tensor_load(m.q(at) + c * q_panel, S::q_map(p), m.q_full(at), c * 64, t.head, token, t.batch);
    }
    DEV static void produce_stream(const args &p, const memory &m)
    {
        ring<attention_ws> r = m.stages_ring();
        int count = 0;
        tile t;
#pragma unroll 1
        for (walk w = walk::first(p); w.more(p); w.round++) {
            if (!w.here(p, t) || t.n == 0) continue;
            load_block<false>(p, t, 0, r);
#pragma unroll 1
            for (int g = 0; g < groups; g++) load_queries(p, t, t.token + g * group_tokens, m, g, count);
            count++;
#pragma unroll 1
            for (int i = 1; i < t.n; i++) {
                load_block<false>(p, t, i, r);
                load_block<true>(p, t, i - 1, r);
            }
            load_block<true>(p, t, t.n - 1, r);
        }
    }
    // Loads each warpgroup's first row tile right after the first block of keys, its other row tiles after all blocks.
    DEV static void produce_resident(const args &p, const memory &m)
    {
        ring<attention_ws> r = m.stages_ring();
        int counts = 0; // 8 bits per warpgroup suffice: buffer and parity repeat after 2 * q_buffers
#pragma unroll 1
        for (share w = share::first(p); w.more(p); w.next()) {
            const tile t = w.all(p);
            if (t.n == 0) continue;
            load_block<false>(p, t, 0, r);
#pragma unroll 1
            for (int round = 0; round < w.rounds(p); round++) {
#pragma unroll 1
                for (int g = 0; g < groups; g++) {
                    const int token = w.token(p, round, g);
                    if (token >= 0) {
                        load_queries(p, t, token, m, g, counts >> 8 * g & 0xff);
                        counts = (counts + (1 << 8 * g)) & 0x030303;
                    }
                }
                if (round > 0) continue;
                load_block<true>(p, t, 0, r);
#pragma unroll 1
                for (int i = 1; i < t.n; i++) {
                    load_block<false>(p, t, i, r);
                    load_block<true>(p, t, i, r);
                }
            }
        }
    }

    // ---- consumers

    // What a thread keeps of its two rows, which are 8 apart.
    struct accumulators {
        float o[value_product::registers], s[score_product::registers];
        unsigned weights[score_product::registers / 2];
        float largest[2], sum[2], factor[2];
        int low[2], high[2]; // begin and end of the keys that a row sees, minus this thread's first column of a block
        row_slopes<has_alibi<S>::value> fall;
        rows_of_bias<S> bias;
        bool raised;
        products in_flight;
    };

    DEV static void score(accumulators &c, shared_address q, shared_address k)
    {
        const auto a = operand(q), b = operand(k);
#pragma unroll
        for (int i = 0; i < head_dim / 16; i++)
            c.in_flight.along(c.s, a + i / 4 * (q_panel >> 4) + i % 4 * 2, b + i / 4 * (panel_bytes >> 4) + i % 4 * 2, i != 0);
        c.in_flight.commit();
    }
    DEV static void gather(accumulators &c, shared_address v)
    {
        const auto b = operand_across(v, panel_bytes);
#pragma unroll
        for (int i = 0; i < block_k / 16; i++) c.in_flight.across(c.o, &c.weights[4 * i], b + i * 128);
        c.in_flight.commit();
    }

    // Turns the scores of a block into weights, in place. Raises a row's largest score if it has grown by more than `lazy`.
    using bias_block = block_of_bias<S, score_product::registers, score_product::registers / (value_dim > 64 ? 2 : 1)>;
    template <bool Masked> DEV static void weigh(accumulators &c, const bias_block &bias, int block)
    {
        constexpr int R = score_product::registers;
        if constexpr (S::softcap > 0.0f) {
#pragma unroll
            for (int i = 0; i < R; i++) {
                const float e = machine_exp2(c.s[i] * (S::scale / S::softcap * 2.88539008178f)); // tanh(x) = 1 - 2 / (exp(2 x) + 1)
                c.s[i] = S::softcap * 1.44269504089f * (1.0f - near_quotient(2.0f, e + 1.0f));
            }
        }
        if constexpr (has_alibi<S>::value) {
#pragma unroll
            for (int h = 0; h < 2; h++) {
                const float from = static_cast<float>(block * block_k - c.fall.position[h]);
#pragma unroll
                for (int i = 2 * h; i < R; i += 4)
#pragma unroll
                    for (int e = 0; e < 2; e++) c.s[i + e] -= c.fall.slope[h] * magnitude(from + static_cast<float>(i / 4 * 8 + e));
            }
        }
        if constexpr (has_bias<S>::value) bias.add(c.s, 1.44269504089f / unit);
        if constexpr (Masked) {
            const int first = block * block_k;
#pragma unroll
            for (int i = 0; i < R; i++) {
                const int h = i / 2 % 2, key = i / 4 * 8 + i % 2;
                const bool seen = key < c.high[h] - first && (!has_low || key >= c.low[h] - first);
                c.s[i] = seen ? c.s[i] : take_max::identity();
            }
        }
        c.raised = false;
#pragma unroll
        for (int h = 0; h < 2; h++) {
            float most[2] = {c.s[2 * h], c.s[2 * h + 1]};
#pragma unroll
            for (int i = 4; i < R; i += 4) {
                most[0] = larger(most[0], c.s[i + 2 * h]);
                most[1] = larger(most[1], c.s[i + 2 * h + 1]);
            }
            float m = larger(most[0], most[1]);
            m = larger(m, warp_xor(m, 1)); // over the quad of lanes that has the row
            m = larger(m, warp_xor(m, 2));
            const bool grown = (m - c.largest[h]) * unit > lazy; // true from -inf to a number, false from -inf to -inf
            const float before = c.largest[h];
            c.largest[h] = grown ? m : before;
            c.factor[h] = grown ? machine_exp2((before - m) * unit) : 1.0f;
            c.raised |= grown;
            const float shift = c.largest[h] == take_max::identity() ? 0.0f : c.largest[h] * unit;
            float sum[2] = {0.0f, 0.0f};
#pragma unroll
            for (int i = 0; i < R; i += 4) {
#pragma unroll
                for (int e = 0; e < 2; e++) {
                    float &s = c.s[i + 2 * h + e];
                    s = machine_exp2(s * unit - shift);
                    sum[e] += s;
                }
            }
            c.sum[h] = c.sum[h] * c.factor[h] + (sum[0] + sum[1]);
        }
        c.raised = any_lane(c.raised);
    }
    DEV static void pack_weights(accumulators &c)
    {
#pragma unroll
        for (int i = 0; i < score_product::registers / 2; i++) c.weights[i] = packed(type(), c.s[2 * i], c.s[2 * i + 1]);
    }
    DEV static void rescale(accumulators &c)
    {
        if (!c.raised) return;
#pragma unroll
        for (int i = 0; i < value_product::registers; i++) c.o[i] *= c.factor[i / 2 % 2];
    }

    // Where a block lies in shared memory: a stage of a stream, or one that stays (resident).
    struct place {
        shared_address memory, full;
        int index;
        unsigned parity;
        DEV shared_address wait() const
        {
            barrier_wait(full, parity);
            return memory;
        }
    };
    DEV static place ahead(ring<attention_ws> r, int n)
    {
        const bool wraps = r.position + n >= stages;
        r.position += wraps ? n - stages : n;
        return {r.here().memory, r.full(r.position), r.position, r.parity ^ wraps};
    }
    DEV static place take(ring<attention_ws> &r)
    {
        const place here = ahead(r, 0);
        r.step();
        return here;
    }
    template <bool Resident> DEV static place keys_of(ring<attention_ws> &r, int i) { return Resident ? ahead(r, 2 * i) : take(r); }
    template <bool Resident> DEV static place values_of(ring<attention_ws> &r, int i) { return Resident ? ahead(r, 2 * i + 1) : take(r); }
    // One thread frees a stage or a buffer of queries for its warpgroup. Where no products lie between that and the wait for its load, the
    // warps meet first: else a late warp could find the memory filled again, and wait for a phase of the mbarrier that is over.
    DEV static void meet_warps(int group) { group_barrier(tail_barrier + (1 << group), 128); }
    // Frees n stages, at most all. Waits for their loads, so that no warpgroup gets a round of the ring ahead.
    DEV static void skip(int n, ring<attention_ws> &r, int group)
    {
        ring<attention_ws> loaded = r;
        for (int i = 0; i < n; i++) take(loaded).wait();
        meet_warps(group);
        for (int i = 0; i < n; i++, r.step()) r.release_if(r.position, true);
    }

    // Clears the rows of a block of values beyond the last key. They may hold anything; their weights are 0, but 0 * NaN is NaN. Only the
    // first block that is walked has such rows. The warpgroups that see it clear a share each and meet at a barrier before they multiply.
    // They do so once per tile: resident values stay cleared. Each set of warpgroups has a barrier of its own, because a warpgroup that
    // does not see this block may already be at the next tile.
    template <bool Resident>
    DEV static void clear_tail(const args &p, const tile &t, int i, int token, const ring<attention_ws> &r, int group)
    {
        const int end = t.keys - (t.from + t.n - 1) * block_k;
        if (i > 0 || end >= block_k || token != first_token<Resident>(p, t, group)) return;
        const shared_address v = ahead(r, Resident || t.n > 1 ? 1 : 0).wait(); // v0; in a stream it follows k1
        int set = 0, clearing = 0, before = 0; // of the warpgroups that see the block: their bits; their number; how many precede this one
        for (int g = 0; g < groups; g++) {
            const int first = first_token<Resident>(p, t, g);
            const bool sees = first >= 0 && blocks_to(p, t, first) == t.from + t.n;
            set |= sees << g;
            clearing += sees;
            before += sees && g < group;
        }
        for (int j = end * 8 + before * 128 + thread_index() % 128; j < block_k * 8; j += clearing * 128)
#pragma unroll
            for (int c = 0; c < value_panels; c++) shared_zero(v + c * panel_bytes + j * 16);
        async_fence_shared();
        group_barrier(tail_barrier + set, clearing * 128);
    }

    template <bool Resident> DEV static void take_turn(int group)
    {
        if constexpr (!Resident) group_barrier(token_barrier + group, 256);
    }
    template <bool Resident> DEV static void pass_turn(int group)
    {
        if constexpr (!Resident) group_arrive(token_barrier + (group + 1 == groups ? 0 : group + 1), 256);
    }

    // One block: the score products of block i and the value products of block i-1 are in flight together, and the softmax of block i
    // overlaps the value products.
    template <bool Masked, bool Resident>
    DEV static void step(accumulators &c, const tile &t, int i, shared_address q, ring<attention_ws> &r, int group)
    {
        const place k = keys_of<Resident>(r, i);
        k.wait();
        take_turn<Resident>(group);
        pin(c.s);
        pin(c.o);
        pin(c.weights);
        product_fence();
        score(c, q, k.memory);
        const place v = values_of<Resident>(r, i - 1);
        v.wait();
        product_fence();
        gather(c, v.memory);
        pass_turn<Resident>(group);
        const bias_block bias(c.bias, (t.from + t.n - 1 - i) * block_k);
        c.in_flight.template wait<1>(c.s, c.o);
        pin(c.s);
        if constexpr (!Resident) r.release_if(k.index, true);
        weigh<Masked>(c, bias, t.from + t.n - 1 - i);
        c.in_flight.template wait<0>(c.s, c.o);
        pin(c.o);
        pin(c.weights);
        if constexpr (!Resident) r.release_if(v.index, true);
        rescale(c);
        pack_weights(c);
    }

    DEV static void start(accumulators &c, const args &p, const tile &t, int first)
    {
#pragma unroll
        for (int i = 0; i < value_product::registers; i++) c.o[i] = 0.0f;
#pragma unroll
        for (int h = 0; h < 2; h++) {
            const int token = first + fragment::row(thread_index() % 128, 2 * h) / pack, column = thread_index() % 4 * 2;
            const bool exists = token < S::queries(p);
            c.largest[h] = take_max::identity();
            c.sum[h] = 0.0f;
            c.high[h] = (exists ? visible(p, t.batch, t.keys, token) : 0) - column;
            c.low[h] = (exists ? first_visible(p, t.batch, token) : 0) - column;
            if constexpr (has_alibi<S>::value) {
                c.fall.slope[h] = S::slope(t.head + fragment::row(thread_index() % 128, 2 * h) % pack) * (1.44269504089f / unit);
                c.fall.position[h] = S::position(p, t.batch, token) - column;
            }
            if constexpr (has_bias<S>::value) {
                const int head = t.head + fragment::row(thread_index() % 128, 2 * h) % pack;
                c.bias.row[h] = S::bias(p, t.batch, exists ? token : 0, head) + column;
            }
        }
    }

    // Because warpgroups take turns, each walks all blocks of a stream. It only releases blocks that none of its rows sees.
    DEV static void skip_blocks(int n, ring<attention_ws> &r, int group)
    {
        for (int i = 0; i < n; i++) {
            if (i > 0) {
                take_turn<false>(group);
                pass_turn<false>(group);
            }
            skip(i > 0 ? 2 : 1, r, group);
        }
    }

    template <bool Resident>
    DEV static void first_scores(const args &p, accumulators &c, const tile &t, int i, int token, shared_address q, ring<attention_ws> &r,
                                 int group)
    {
        const place k = keys_of<Resident>(r, i);
        k.wait();
        if (i > 0) take_turn<Resident>(group);
        pin(c.s);
        product_fence();
        score(c, q, k.memory);
        const bias_block bias(c.bias, (t.from + t.n - 1 - i) * block_k);
        c.in_flight.template wait<0>(c.s, c.o);
        pin(c.s);
        if (i > 0) pass_turn<Resident>(group);
        if constexpr (!Resident) {
            r.release_if(k.index, true);
            if (i > 0) skip(1, r, group); // the values of the last skipped block
        }
        weigh<true>(c, bias, t.from + t.n - 1 - i);
        pack_weights(c);
        if constexpr (S::ragged) clear_tail<Resident>(p, t, i, token, r, group);
    }

    template <bool Resident> DEV static void last_values(accumulators &c, const tile &t, ring<attention_ws> &r)
    {
        const place v = values_of<Resident>(r, t.n - 1);
        v.wait();
        pin(c.o);
        pin(c.weights);
        product_fence();
        gather(c, v.memory);
        c.in_flight.template wait<0>(c.s, c.o);
        pin(c.o);
        pin(c.weights);
        if constexpr (!Resident) r.release_if(v.index, true);
    }

    // Computes this warpgroup's rows from `token` on. q_count: how many row tiles it has computed before.
    template <bool Resident>
    DEV static void compute(const args &p, const tile &t, int token, const memory &m, int q_count, ring<attention_ws> &r, accumulators &c)
    {
        const int group = warpgroup() - ws_producers / 128, queries = S::queries(p), blocks_end = t.from + t.n;
        const int end = token + group_tokens < queries ? token + group_tokens : queries, q_at = q_index(group, q_count);
        // Some row of this warpgroup sees blocks below `to`. All its rows see all keys of the blocks from `low` up to whole - 1.
        const bool exists = token < queries;
        const int to = blocks_to(p, t, token);
        const int whole = exists ? visible(p, t.batch, t.keys, token) / block_k : 0;
        const int low = has_low && exists ? ceil_div(first_visible(p, t.batch, end - 1), block_k) : t.from;
        const int skipped = to > t.from ? blocks_end - to : t.n;
        int i = skipped;
        if constexpr (!Resident) skip_blocks(skipped, r, group);
        barrier_wait(m.q_full(q_at), q_parity(q_count));
        if (skipped < t.n) {
            first_scores<Resident>(p, c, t, i++, token, m.q(q_at), r, group);
            for (; i < t.n && (masks_all || i < blocks_end - whole); i++) step<true, Resident>(c, t, i, m.q(q_at), r, group);
            if constexpr (!masks_all)
                for (; i < t.n && i < blocks_end - low; i++) step<false, Resident>(c, t, i, m.q(q_at), r, group);
            if constexpr (has_low && !masks_all)
                for (; i < t.n; i++) step<true, Resident>(c, t, i, m.q(q_at), r, group);
        }
        if (skipped == t.n) {
            if constexpr (Resident) meet_warps(group);
            else skip(1, r, group);
        }
        barrier_arrive_if(m.q_empty(q_at), thread_index() % 128 == 0);
        if (skipped < t.n) last_values<Resident>(c, t, r);
    }

    // Each of a quad's threads has two columns of every eight; afterwards it has eight adjacent columns of 32. u[j]: its pair of the j-th
    // eight columns.
    DEV static void exchange(unsigned (&u)[4])
    {
        const bool odd = thread_index() & 1, high = thread_index() & 2;
#pragma unroll
        for (int i = 0; i < 4; i += 2) {
            const unsigned other = warp_xor(odd ? u[i] : u[i + 1], 1);
            u[i] = odd ? other : u[i];
            u[i + 1] = odd ? u[i + 1] : other;
        }
#pragma unroll
        for (int i = 0; i < 2; i++) {
            const unsigned other = warp_xor(high ? u[i] : u[i + 2], 2);
            u[i] = high ? other : u[i];
            u[i + 2] = high ? u[i + 2] : other;
        }
    }

    DEV static void finish(const args &p, const tile &t, int first, accumulators &c)
    {
        const int thread = thread_index() % 128;
#pragma unroll
        for (int h = 0; h < 2; h++) {
            float sum = c.sum[h];
            sum += warp_xor(sum, 1);
            sum += warp_xor(sum, 2);
            const int row = fragment::row(thread, 2 * h), token = first + row / pack;
            float factor = sum == 0.0f ? 0.0f : 1.0f / sum;
            if constexpr (has_sinks<S>::value)
                factor = factor_with_sink(sum, c.largest[h] * unit, S::sink(p, t.head + row % pack) * 1.44269504089f,
                                          [](float x) { return machine_exp2(x); });
#pragma unroll
            for (int i = 0; i < value_dim / 8; i += 4) {
                unsigned u[4];
#pragma unroll
                for (int j = 0; j < 4; j++)
                    u[j] = i + j < value_dim / 8 ? packed(type(), c.o[(i + j) * 4 % value_product::registers + 2 * h] * factor,
                                                         c.o[(i + j) * 4 % value_product::registers + 2 * h + 1] * factor)
                                                : 0;
                exchange(u);
                vec<float, 8> v;
#pragma unroll
                for (int j = 0; j < 4; j++) {
                    const vec<float, 2> pair = unpacked(type(), u[j]);
                    v[2 * j] = pair[0], v[2 * j + 1] = pair[1];
                }
                const int column = (i + thread % 4) * 8;
                if (token < S::queries(p) && column < value_dim) S::template write<8>(p, t.batch, token, t.head + row % pack, column, 8, v);
            }
        }
    }

    template <bool Resident>
    DEV static void rows(const args &p, const tile &t, int token, const memory &m, int &q_count, ring<attention_ws> &r)
    { TF_TRACED(const int by = token < S::queries(p) ? thread_index() / 128 * 128 : -1);
        accumulators c; TF_TRACED(const int own = trace_pair(t) * ceil_div(S::queries(p), group_tokens) + token / group_tokens);
        start(c, p, t, token); TF_TRACED(trace_start(p.tf_trace, own, by, by / 128 - 1));
        if (t.n > 0) compute<Resident>(p, t, token, m, q_count++, r, c); TF_TRACED(trace_computed(p.tf_trace, own, by));
        finish(p, t, token, c); TF_TRACED(trace_end(p.tf_trace, own, by));
    }
    DEV static void consume_stream(const args &p, const memory &m)
    {
        ring<attention_ws> r = m.stages_ring();
        const int group = warpgroup() - ws_producers / 128;
        int count = 0;
        tile t;
        if (group == groups - 1) pass_turn<false>(group); // warpgroup 0 has the first turn
        for (walk w = walk::first(p); w.more(p); w.round++)
            if (w.here(p, t)) rows<false>(p, t, t.token + group * group_tokens, m, count, r);
    }
    DEV static void consume_resident(const args &p, const memory &m)
    {
        ring<attention_ws> r = m.stages_ring();
        const int group = warpgroup() - ws_producers / 128;
        int count = 0;
        for (share w = share::first(p); w.more(p); w.next()) {
            const tile t = w.all(p);
            for (int round = 0; round < w.rounds(p); round++) {
                const int token = w.token(p, round, group);
                if (token >= 0) rows<true>(p, t, token, m, count, r);
            }
            skip(2 * t.n, r, group);
        }
    }

    DEV static void run(const args &p)
    { TF_TRACED(trace_enter(p.tf_trace, pairs(p) * ceil_div(S::queries(p), group_tokens)));
#if defined(TF_ON_HOST)
        TF_SHARED_DYN(unsigned char, ws_shared);
#else
        extern __shared__ unsigned char ws_shared[];
#endif
        const memory m{(shared_at(ws_shared) + 1023) & ~1023u};
        if (thread_index() == 0) {
            const ring<attention_ws> r = m.stages_ring();
            tensor_prefetch(S::k_map(p));
            tensor_prefetch(S::q_map(p));
            tensor_prefetch(S::v_map(p));
            for (int i = 0; i < stages; i++) {
                barrier_init(r.full(i), 1);
                barrier_init(r.empty(i), groups);
            }
            for (int i = 0; i < groups * q_buffers; i++) {
                barrier_init(m.q_full(i), 1);
                barrier_init(m.q_empty(i), 1);
            }
            barrier_init_done();
        }
        __syncthreads();
        if (thread_index() < 128) {
            registers_shrink<groups == 2 ? 40 : 32>();
            if (thread_index() != 0) return;
            previous_wait(); TF_TRACED(trace_ready(p.tf_trace));
            if (resident(p))
                produce_resident(p, m);
            else
                produce_stream(p, m);
            next_may_start();
        } else {
            registers_grow<groups == 2 ? 232 : 160>();
            previous_wait();
            if (resident(p))
                consume_resident(p, m);
            else
                consume_stream(p, m);
        } TF_TRACED(trace_leave(p.tf_trace, 128));
    }
};

#if defined(TF_ON_HOST)
#define TF_KERNEL_ATTENTION_WS(name, S)                                           \
    extern "C" __global__ void name(const S::args p) { attention_ws<S>::run(p); } \
    TF_EXPORT(name)
#else
#define TF_KERNEL_ATTENTION_WS(name, S)                                                                               \
    extern "C" __global__ void __launch_bounds__(attention_ws<S>::threads, 1) name(const __grid_constant__ S::args p) \
    {                                                                                                                 \
        attention_ws<S>::run(p);                                                                                      \
    }
#endif
