// Attention on AMD's matrix units (MFMA, WMMA), made from a phase's spec struct S (docs/spec-structs.md: attention on matrix units). A wave
// computes 32 queries of one head (RDNA: 16). Keys and values of a block lie in LDS, in two stages, while the next block is loaded to
// registers. A row without a visible key is zeros. Refuses head sizes that are not multiples of 8 up to 256, and scales that are not
// positive.
//
// Products are transposed: scores(key, query) = keys * queries. So a lane has scores of one query, and its softmax needs only one exchange
// with another lane. The lane's rounded weights are the second operand of result(column, query) = values * weights. Accumulators are
// rescaled only when a query's largest score has grown by more than `lazy` (in log2). (L. Ye et al. and AMD's kernels; T. Dao,
// "FlashAttention-2", 2023.)
#pragma once
#include "templates/frame/frame_interleaved.h"
#include "templates/frame/chiplets.h"
#include "templates/isa/amd_weights.h"
#include "templates/base/spec.h"
#include "templates/attention/visible.h"

template <class S> struct attention_mfma {
    using args = typename S::args;
    using type = typename S::type;
    using product = wide_matrix<type>;
    using operand = typename product::operand;
    static constexpr int head_dim = S::head_dim, value_dim = value_head<S>::size;
    static constexpr int block_q = S::block_q, block_k = S::block_k, threads = S::threads, waves = threads / TF_WAVE;
    // LDS has lines of 128 bytes. A line of keys is 64 columns of a key; lines for the first 64 columns of all keys come first. A line of
    // values is a column for all keys of the block, in the order of wide_line(); with 32 keys per block, two columns.
    static constexpr int pieces = ceil_div(head_dim, 64) * 8, v_line = block_k * 2, k_plane = block_k * 128, k_bytes = pieces / 8 * k_plane;
    static constexpr int columns = ceil_div(value_dim, 32) * 32, column_blocks = columns / wide::lines;
    // Half of the threads load values, four keys by eight columns at a time. v_columns: columns, rounded up to whole iterations of these
    // threads.
    static constexpr int loaders = threads / 2, quads = block_k / 4, v_units = ceil_div(quads * (columns / 8), loaders);
    static constexpr int v_columns = v_units > 1 ? v_units *loaders / quads * 8 : columns;
    static constexpr int stages = 2, stage_bytes = k_bytes + v_columns * v_line, scratch_bytes = 0;
    static constexpr int late_parts = 0, parts = 0;
    static_assert(block_q == wide::lines * waves && waves >= 2 && waves % 2 == 0,
                  "tile: block_q = 32 queries per wave, an even number of waves");
    static_assert(block_k == 32 || block_k == 64, "tile: blocks of 32 or 64 keys");
    static_assert(head_dim % 8 == 0 && head_dim <= 256 && value_dim % 8 == 0 && value_dim <= 256,
                  "head sizes are multiples of 8 up to 256");
    static_assert(S::scale > 0.0f && sizeof(type) == 2, "scale is above 0, elements have 16 bits");

    static_assert(S::run_length % block_k == 0, "tile: blocks of keys do not cross runs of contiguous rows");

    static constexpr int k_steps = ceil_div(head_dim, 16), key_blocks = block_k / wide::lines;
    static constexpr float unit = S::softcap > 0.0f ? 1.0f : S::scale * 1.44269504089f; // exp(scale * s) is exp2(unit * s)
    static constexpr float lazy = 8.0f;
    static constexpr int head_columns = head_dim + value_dim;
    static constexpr bool has_low = S::window != 0 || has_first<S>::value; // some rows do not see the first keys

    struct tile {
        int batch, head, token; // token: the first query
        int keys, from, to;     // keys of the sequence; of these, from..to-1 are loaded, `from` being a multiple of block_k
    };
    struct accumulators {
        wide_accumulator o[column_blocks];
        float largest, sum; // of this lane's query; `sum` is over this lane's keys only
    };

    // ---- tiles: those with many keys first, and heads that share keys on one chiplet (chiplets.h)
    DEV static int blocks(const args &p) { return ceil_div(S::queries(p), block_q); }
    DEV static int tiles(const args &p) { return blocks(p) * S::heads * S::batches(p); }
    DEV static int visible_to(const args &p, int batch, int keys, int token)
    {
        if constexpr (!S::causal && S::window != 0) return window_end<S>(p, S::position(p, batch, token), keys);
        const int end = S::causal ? S::position(p, batch, token) + 1 : keys;
        return end < keys ? end : keys;
    }
    DEV static int visible_from(const args &p, int batch, int token)
    {
        return visible_start<S>(p, batch, S::window ? S::position(p, batch, token) : 0);
    }
    DEV static tile at(const args &p, int index)
    {
        const int pairs = S::heads * S::batches(p), row = index / pairs,
                  pair = chiplet_place<S::chiplets>(row * pairs, index - row * pairs, pairs);
        tile t;
        t.batch = pair / S::heads;
        t.head = pair % S::heads;
        t.token = (blocks(p) - 1 - row) * block_q;
        t.keys = S::keys(p, t.batch);
        t.to = visible_to(p, t.batch, t.keys, least(t.token + block_q, S::queries(p)) - 1);
        t.from = visible_from(p, t.batch, t.token) / block_k * block_k;
        return t;
    }
    DEV static int k_tiles(const args &, const tile &t) { return t.to > t.from ? ceil_div(t.to - t.from, block_k) : 0; }

    struct source {
        const args &p;
        const tile &t;
    };
    DEV static source source_of(const args &p, const tile &t) { return {p, t}; }

    template <class Ring> DEV static void compute(const args &p, const tile &t, Ring &ring, accumulators &c)
    {
        const view w = view_of(p, t);
        queries q;
        read_queries(p, t, q);
        clear(c);
        held h;
        offsets o = offsets_of();
        if (ring.k_tiles > 0) {
            hold(p, t, t.from, o, h);
            put(ring.memory, h);
        }
#pragma unroll 1
        for (int i = 0; i < ring.k_tiles; i++) {
            const lds_address here = ring.memory + i % 2 * stage_bytes, other = ring.memory + (i + 1) % 2 * stage_bytes;
            const int first = t.from + i * block_k;
            barrier(); // all waves have stored their part of this stage, and none still reads the other stage
            if (i + 1 < ring.k_tiles) hold(p, t, first + block_k, o, h);
            if (first < w.to && first + block_k > w.from) block(c, q, w, here, first);
            if (i + 1 < ring.k_tiles) put(other, h);
        }
        barrier();
    }

    // A lane has four of every eight columns; it exchanges four with its partner, so that each stores eight adjacent ones.
    DEV static void finish(const args &p, const tile &t, accumulators &c, lds_address)
    {
        const float sum = c.sum + lane_xor<TF_WAVE>(c.sum, wide::lines);
        float factor = sum == 0.0f ? 0.0f : 1.0f / sum;
        if constexpr (has_sinks<S>::value)
            factor = factor_with_sink(sum, c.largest * unit, S::sink(p, t.head) * 1.44269504089f, [](float x) { return wave_exp2(x); });
        const int token = t.token + token_here(), half = half_here();
#pragma unroll
        for (int b = 0; b < column_blocks; b++)
#pragma unroll
            for (int j = 0; j < wide::lines / 16; j++) {
                vec<float, 8> v;
                if constexpr (wide::half_step == 8) v = c.o[b] * factor;
#pragma unroll
                for (int e = 0; e < 4 && wide::half_step == 4; e++) {
                    const float low = c.o[b][8 * j + e] * factor, high = c.o[b][8 * j + 4 + e] * factor;
                    const float other = lane_xor<TF_WAVE>(half ? low : high, wide::lines);
                    v[e] = half ? other : low;
                    v[4 + e] = half ? high : other;
                }
                const int column = b * wide::lines + j * 16 + half * 8;
                if (token < S::queries(p) && column < value_dim) S::template write<8>(p, t.batch, token, t.head, column, 8, v);
            }
    }

  private:
    DEV static int least(int x, int y) { return x < y ? x : y; }
    DEV static int line_here() { return thread_index() % wide::lines; }
    DEV static int half_here() { return thread_index() % TF_WAVE / wide::lines; }
    DEV static int token_here() { return wave_index() * wide::lines + line_here(); } // the lane's query, counted in the tile

    DEV static void clear(accumulators &c)
    {
        c.largest = take_max::identity();
        c.sum = 0.0f;
#pragma unroll
        for (int b = 0; b < column_blocks; b++)
#pragma unroll
            for (int r = 0; r < wide::registers; r++) c.o[b][r] = 0.0f;
    }

    // Keys from..to-1 are those that some query of this wave sees, all_from..all_to-1 those that all of them see, low..high-1 those that
    // this lane's query sees.
    struct view : row_of_bias<S> {
        int from, to, all_from, all_to, low, high, position;
        float slope; // ALiBi: by how much a score decreases per token of distance, in the units of c.largest
    };
    DEV static view view_of(const args &p, const tile &t)
    {
        const int first = t.token + wave_index() * wide::lines, last = least(first + wide::lines, S::queries(p)) - 1,
                  token = t.token + token_here();
        view w = {};
        if (first > last) return w;
        w.from = visible_from(p, t.batch, first), w.all_from = visible_from(p, t.batch, last);
        w.to = visible_to(p, t.batch, t.keys, last), w.all_to = visible_to(p, t.batch, t.keys, first);
        w.low = visible_from(p, t.batch, token), w.high = visible_to(p, t.batch, t.keys, token);
        w.find(p, t.batch, least(token, S::queries(p) - 1), t.head);
        if constexpr (has_alibi<S>::value) {
            w.position = S::position(p, t.batch, token);
            w.slope = S::slope(t.head) * (1.44269504089f / unit);
        }
        return w;
    }

    // ---- queries: a lane keeps its query in registers
    struct operand_parts {
        sixteen_bytes piece[wide::parts];
    };
    struct queries {
        operand step[k_steps];
    };
    DEV static void read_queries(const args &p, const tile &t, queries &q)
    {
        const int token = t.token + token_here(), half = half_here();
        const char *row = reinterpret_cast<const char *>(S::q(p, t.batch, token < S::queries(p) ? token : 0, t.head));
#pragma unroll
        for (int u = 0; u < k_steps; u++) {
            operand_parts whole;
#pragma unroll
            for (int e = 0; e < wide::parts; e++) {
                const int piece = 2 * u + (wide::parts == 2 ? e : half);
                whole.piece[e] = sixteen_bytes{0, 0, 0, 0};
                if (token < S::queries(p) && piece * 8 < head_dim) whole.piece[e] = global_read((global_address)(row + piece * 16));
            }
            q.step[u] = __builtin_bit_cast(operand, whole);
        }
    }

    // ---- from memory to LDS. Half of the waves load keys, and adjacent lanes load the pieces of a line. The others load values, four keys
    // by eight columns, and transpose them. In place of keys that do not exist the last one is loaded again, and its scores are masked.
    // Results of columns beyond the head are not used.
    static constexpr int k_loads = ceil_div(block_k * pieces, loaders);
    // hold() and the functions that it calls write all pieces of `held`, because clang 14 keeps arrays that are partly undefined in memory.
    static constexpr int held_pieces = k_loads > 4 * v_units ? k_loads : 4 * v_units;
    struct held {
        sixteen_bytes piece[held_pieces];
    };
    static constexpr unsigned key_stride = S::key_stride * sizeof(type), value_stride = S::value_stride * sizeof(type); // bytes
    DEV static bool loads_keys() { return wave_index() < waves / 2; }
    DEV static int loader() { return thread_index() % loaders; }
    DEV static int loader_again() // loader(), recomputed here, so that values that depend on it need not stay in registers
    {
        int thread = thread_index();
        settle(thread);
        return thread % loaders;
    }
    DEV static const char *bytes(const type *x) { return reinterpret_cast<const char *>(x); }

    // alike: both halves of the waves load the same number of pieces. Then offsets, from a complete block's first byte to a thread's
    // pieces, are computed once.
    static constexpr bool alike = k_loads == 4 * v_units && head_dim % 16 == 0;
    struct offsets {
        unsigned at[alike ? held_pieces : 1];
    };
    DEV static offsets offsets_of()
    {
        offsets o = {};
        if constexpr (alike) {
            const bool keys = loads_keys();
            const unsigned stride = keys ? key_stride : value_stride;
#pragma unroll
            for (int i = 0; i < held_pieces; i++) {
                const int k = loader() + i * loaders, v = loader() + i / 4 * loaders,
                          line = keys ? least(k / pieces, block_k - 1) : 4 * (v % quads) + i % 4;
                o.at[i] = line * stride + (keys ? least(k % pieces, head_dim / 8 - 1) : least(v / quads, value_dim / 8 - 1)) * 16;
            }
        }
        return o;
    }

    DEV static void hold(const args &p, const tile &t, int first, offsets &o, held &h)
    {
        const int last = t.keys - 1 - first, group = t.head / (S::heads / S::kv_heads);
        if (alike && last >= block_k - 1) {
            const global_address base = scalar(bytes(loads_keys() ? S::k(p, t.batch, first, group) : S::v(p, t.batch, first, group)));
#pragma unroll
            for (int i = 0; i < held_pieces; i++) {
                settle(o.at[alike ? i : 0]); // otherwise the compiler widens the offset to 64 bits ahead of the loop
                h.piece[i] = global_read(base + o.at[alike ? i : 0]);
            }
            return;
        }
        if (loads_keys())
            hold_keys(S::k(p, t.batch, first, group), last, h);
        else
            hold_values(S::v(p, t.batch, first, group), last, h);
    }
    DEV static void hold_keys(const type *row, int last, held &h)
    {
        const int thread = alike ? loader_again() : loader();
        const global_address base = scalar(bytes(row));
#pragma unroll
        for (int i = 0; i < k_loads; i++) {
            const int index = thread + i * loaders, line = least(index / pieces, last), piece = index % pieces;
            h.piece[i] = global_read(base + (line * key_stride + least(piece, head_dim / 8 - 1) * 16));
            if (head_dim % 16 != 0 && piece >= head_dim / 8) h.piece[i] = sixteen_bytes{0, 0, 0, 0}; // 0 * infinity is NaN
        }
#pragma unroll
        for (int i = k_loads; i < held_pieces; i++) h.piece[i] = h.piece[0];
    }
    DEV static void hold_values(const type *row, int last, held &h)
    {
        const int thread = alike ? loader_again() : loader();
        const global_address base = scalar(bytes(row));
#pragma unroll
        for (int i = 0; i < v_units; i++) {
            const int index = thread + i * loaders, quad = index % quads, block = least(index / quads, value_dim / 8 - 1);
#pragma unroll
            for (int e = 0; e < 4; e++) h.piece[4 * i + e] = global_read(base + (least(4 * quad + e, last) * value_stride + block * 16));
        }
#pragma unroll
        for (int i = 4 * v_units; i < held_pieces; i++) h.piece[i] = h.piece[0];
    }
    static constexpr bool v_whole = v_units * loaders == quads * (v_columns / 8);

    DEV static void put(lds_address m, const held &h)
    {
        if (loads_keys())
            put_keys(m, h);
        else
            put_values(m + k_bytes, h);
    }
    DEV static void put_keys(lds_address m, const held &h)
    {
#pragma unroll
        for (int i = 0; i < k_loads; i++) {
            const int index = loader() + i * loaders, line = index / pieces, piece = index % pieces;
            if (k_loads * loaders == block_k * pieces || line < block_k)
                lds_write(m + piece / 8 * k_plane + line * 128 + (piece % 8 ^ key_of(line)) * 16, h.piece[i]);
        }
    }
    DEV static void put_values(lds_address m, const held &h)
    {
#pragma unroll
        for (int i = 0; i < v_units; i++) {
            const int index = loader() + i * loaders, quad = index % quads, block = index / quads;
            const int place = wide::wide_line(4 * quad), piece = place / 8;
            if (v_whole || block < columns / 8)
                put_columns<0>(m + place % 8 * 2, h.piece[4 * i], h.piece[4 * i + 1], h.piece[4 * i + 2], h.piece[4 * i + 3], block, piece);
        }
    }
    template <int I>
    DEV static void put_columns(lds_address m, sixteen_bytes a, sixteen_bytes b, sixteen_bytes c, sixteen_bytes d, int block, int piece)
    {
        lds_write(m + value_line(block, I) + (value_piece(block, piece) ^ value_key(block, I)) * 16, across(I, a, b, c, d));
        if constexpr (I < 7) put_columns<I + 1>(m, a, b, c, d, block, piece);
    }
    // The swizzle: piece p of a line lies at p ^ key. So lines that lanes read together begin in different banks (of 32 or 64).
    static constexpr bool apart = wide::parts == 2; // adjacent lanes read lines 8 apart
    DEV static int key_of(int line) { return TF_LDS_BANKS == 64 ? line / 2 % 8 : apart ? line % 4 * 2 + line / 8 % 2 : line % 8; }
    DEV static int value_key(int block, int i)
    {
        if constexpr (apart) return v_line == 128 ? i % 4 * 2 + block % 2 : i % 4;
        if constexpr (TF_LDS_BANKS != 64) return i;
        return v_line == 128 ? block % 2 * 4 + i / 2 : i / 2 % 2 + block / 2 % 2 * 2;
    }
    // The line of column 8 * block + i of the values. With 32 keys per block, a line holds two columns that are eight apart, so that 16
    // lanes write 128 contiguous bytes.
    DEV static int value_line(int block, int i) { return v_line == 128 ? (block * 8 + i) * 128 : (block / 2 * 8 + i) * 128; }
    DEV static int value_piece(int block, int piece) { return v_line == 128 ? piece : block % 2 * 4 + piece; }

    // ---- products
    // The addresses of a lane's pieces of a line.
    struct places {
        lds_address at[4][wide::parts];
        DEV operand read(int i, int offset) const
        {
            operand_parts whole;
#pragma unroll
            for (int e = 0; e < wide::parts; e++) whole.piece[e] = lds_read<sixteen_bytes>(at[i][e] + offset);
            return __builtin_bit_cast(operand, whole);
        }
    };
    DEV static int piece_of(int i, int e) { return 2 * i + (wide::parts == 2 ? e : half_here()); }
    DEV static places key_places(lds_address m)
    {
        places x;
        const int line = wide::line_read(line_here());
#pragma unroll
        for (int i = 0; i < 4; i++)
#pragma unroll
            for (int e = 0; e < wide::parts; e++) x.at[i][e] = m + line * 128 + (piece_of(i, e) ^ key_of(line)) * 16;
        return x;
    }
    DEV static places value_places(lds_address m)
    {
        places x;
        const int line = wide::line_read(line_here()), block = line / 8, in = line % 8;
#pragma unroll
        for (int i = 0; i < 4; i++)
#pragma unroll
            for (int e = 0; e < wide::parts; e++)
                x.at[i][e] = m + value_line(block, in) + (value_piece(block, piece_of(i, e)) ^ value_key(block, in)) * 16;
        return x;
    }

    struct scores {
        wide_accumulator of[key_blocks];
    };
    DEV static void score(const queries &q, lds_address m, scores &s)
    {
        const places k = key_places(m);
#pragma unroll
        for (int b = 0; b < key_blocks; b++)
#pragma unroll
            for (int r = 0; r < wide::registers; r++) s.of[b][r] = 0.0f;
#pragma unroll
        for (int u = 0; u < k_steps; u++)
#pragma unroll
            for (int b = 0; b < key_blocks; b++)
                s.of[b] = product::multiply(k.read(u % 4, u / 4 * k_plane + b * wide::lines * 128), q.step[u], s.of[b]);
    }

    DEV static void cap(scores &s)
    {
#pragma unroll
        for (int b = 0; b < key_blocks; b++)
#pragma unroll
            for (int r = 0; r < wide::registers; r++) { // tanh(x) = 1 - 2 / (exp(2 x) + 1)
                const float e = wave_exp2(s.of[b][r] * (S::scale / S::softcap * 2.88539008178f));
                s.of[b][r] = S::softcap * 1.44269504089f * (1.0f - 2.0f * wave_reciprocal(e + 1.0f));
            }
    }
    DEV static void slope(const view &w, int first, scores &s)
    {
        const float from = static_cast<float>(first + wide::half_step * half_here() - w.position);
#pragma unroll
        for (int b = 0; b < key_blocks; b++)
#pragma unroll
            for (int r = 0; r < wide::registers; r++)
                s.of[b][r] -= w.slope * magnitude(from + static_cast<float>(b * wide::lines + wide::result_line(r)));
    }
    DEV static void add_bias(const view &w, int first, scores &s)
    {
        const int from = first + wide::half_step * half_here();
#pragma unroll
        for (int b = 0; b < key_blocks; b++)
#pragma unroll
            for (int r = 0; r < wide::registers; r++) {
                vec<float, 1> x = splat<1>(0.0f);
                w.add(x, from + b * wide::lines + wide::result_line(r));
                s.of[b][r] += x[0] * (1.44269504089f / unit);
            }
    }
    DEV static void mask(const view &w, int first, scores &s)
    {
        const int high = w.high - first - wide::half_step * half_here(), low = w.low - first - wide::half_step * half_here();
#pragma unroll
        for (int b = 0; b < key_blocks; b++)
#pragma unroll
            for (int r = 0; r < wide::registers; r++) {
                const int key = b * wide::lines + wide::result_line(r);
                const bool seen = key < high && (!has_low || key >= low);
                s.of[b][r] = seen ? s.of[b][r] : take_max::identity();
            }
    }
    DEV static float largest(const scores &s)
    {
        float m[2] = {s.of[0][0], s.of[0][1]};
#pragma unroll
        for (int b = 0; b < key_blocks; b++)
#pragma unroll
            for (int r = 0; r < wide::registers; r += 2) {
                m[0] = __builtin_fmaxf(m[0], s.of[b][r]);
                m[1] = __builtin_fmaxf(m[1], s.of[b][r + 1]);
            }
        return __builtin_fmaxf(m[0], m[1]);
    }
    // Whether the largest score has grown so much that accumulators must be rescaled: true from -inf to a number, false from -inf to -inf.
    DEV static bool grown(const accumulators &c, float m) { return (m - c.largest) * unit > lazy; }
    DEV static void raise(accumulators &c, float m)
    {
        m = __builtin_fmaxf(m, lane_xor<TF_WAVE>(m, wide::lines));
        if (!grown(c, m)) m = c.largest;
        const float factor = m == c.largest ? 1.0f : wave_exp2((c.largest - m) * unit);
        c.largest = m;
        c.sum *= factor;
#pragma unroll
        for (int b = 0; b < column_blocks; b++) c.o[b] *= factor;
    }

    template <int B, int Half> DEV static void gather_sixteen(accumulators &c, const scores &s, const places &v)
    {
        const operand w = weights_operand<type>(packed_weights<8 * Half>(type(), s.of[B]));
#pragma unroll
        for (int b = 0; b < column_blocks; b++)
            c.o[b] = product::multiply(v.read(B * (wide::lines / 16) + Half, b * wide::lines * v_line), w, c.o[b]);
    }
    // Turns scores into weights and multiplies them by the values, 16 keys per operand.
    template <int B> DEV static void gather(accumulators &c, scores &s, const places &v, float shift)
    {
        float sum[2] = {0.0f, 0.0f};
#pragma unroll
        for (int r = 0; r < wide::registers; r++) {
            const float w = wave_exp2(__builtin_fmaf(s.of[B][r], unit, -shift));
            s.of[B][r] = w;
            sum[r % 2] += w;
        }
        c.sum += sum[0] + sum[1];
        gather_sixteen<B, 0>(c, s, v);
        if constexpr (wide::registers == 16) gather_sixteen<B, 1>(c, s, v);
        if constexpr (B + 1 < key_blocks) gather<B + 1>(c, s, v, shift);
    }

    DEV static void block(accumulators &c, const queries &q, const view &w, lds_address m, int first)
    {
        scores s;
        score(q, m, s);
        if constexpr (S::softcap > 0.0f) cap(s);
        if constexpr (has_alibi<S>::value) slope(w, first, s);
        if constexpr (has_bias<S>::value) add_bias(w, first, s);
        if (first + block_k > w.all_to || first < w.all_from) mask(w, first, s);
        const float most = largest(s);
        if (any_lane(grown(c, most))) raise(c, most);
        gather<0>(c, s, value_places(m + k_bytes), c.largest == take_max::identity() ? 0.0f : c.largest * unit);
    }
};

#if TF_WAVE == 64
// Waves per SIMD. One for long heads, whose results and queries take more than half of the registers. One also for workgroups of two waves,
// as two such workgroups fill the four SIMDs of a compute unit.
template <class S>
constexpr int interleaved_waves<one_phase<attention_mfma<S>>> =
    S::threads > 128 && attention_mfma<S>::head_columns <= (S::threads == 512 ? 320 : 256) ? 2 : 1;
#endif
