// In: rows of queries, keys and values in memory, 16 bits an element. Out: under the names of isa/mma_cache.h and isa/nvidia.h, attention
// over a cache on AMD's matrix units: cache_tile, exchange in a wave. Refuses f32. Needs isa/mfma.h, or
// isa/wmma.h and isa/wmma_wide.h; isa/amd_weights.h.
//
// Lane l has line l % 16 of an operand and its 16-byte part l / 16. Of scores(key, row) = keys * rows it so has 8 keys side by side of one
// row, in the order in which a product over keys takes 16 bytes of their weights: neither scores nor weights change lanes. The other
// operand of that product is values with keys side by side, of which memory has columns side by side. Each lane therefore loads 16 bytes
// of its 8 keys, 8 columns, and turns these 8 x 8 elements in its own registers: a v_perm makes two elements, so 32 of them stand beside 8
// loads of 1 KB a wave and nothing passes through LDS. Heads of 64 columns fill 8 lanes with a row, so the lines' other half has other
// keys; halves of 16 bytes change places by one DPP move a word. Through LDS each element would be written and read once more, by reads of
// 2 bytes or with the same v_perm behind wider ones. Each element is loaded once for all 16 rows; a wave's load of values has whole rows of
// memory, one of keys 64 bytes (RDNA: 32) of 16 rows, whose next ones the very next load takes.
#pragma once
#include "templates/isa/amd_weights.h"

// ---- a wave
// Anew, so that what follows from it is reckoned where it is used, not kept in registers beside what the main loop needs.
DEV int thread_again()
{
    int thread = thread_index();
    settle(thread);
    return thread;
}
// What all lanes have the same of, in scalar registers.
template <class X> DEV X warp_same(const X &x)
{
    static_assert(sizeof(X) % 4 == 0, "whole words");
    struct words {
        int of[sizeof(X) / 4];
    };
    words w = __builtin_bit_cast(words, x);
#pragma unroll
    for (int i = 0; i < static_cast<int>(sizeof(X) / 4); i++) w.of[i] = uniform(w.of[i]);
    return __builtin_bit_cast(X, w);
}
DEV void warp_sync()
{
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
    __builtin_amdgcn_wave_barrier();
}
DEV int lane_value(int x, int lane) { return __builtin_amdgcn_ds_bpermute(lane * 4, x); } // that lane's
DEV int warp_xor(int x, int mask) { return lane_value(x, thread_index() % TF_WAVE ^ mask); }
DEV float warp_xor(float x, int mask) { return lane_xor<TF_WAVE>(x, mask); }
DEV int lanes_with(bool yes) { return __builtin_popcountll(lanes_of(yes)); }
DEV float larger(float x, float y) { return __builtin_fmaxf(x, y); }
#if !defined(TF_MACHINE_EXP2)
DEV float machine_exp2(float x) { return wave_exp2(x); }
#endif

DEV int number_read(const int *number) { return *number; } // no launch begins before the one ahead has ended

// A workgroup is alone in its cluster.
DEV void cluster_arrive() {}
DEV void cluster_wait() {}
DEV neighbours<float, 4> cluster_read(const float *own, int) { return *reinterpret_cast<const neighbours<float, 4> *>(own); }
DEV void cache_ask(const void *, int) {}

template <int Pieces> struct row_shelf { // of 16 rows
    sixteen_bytes of[Pieces * 16];
};
template <> struct row_shelf<0> {
};

// ---- rows of queries, `unit` keys or values at a time
template <class T, int HeadDim> struct cache_tile {
    static constexpr int parts = TF_WAVE / 16, each = 16 / parts; // lanes that share a line; results of a product that a lane has
    static constexpr int rows = 16, unit = 8 * parts, products = unit / 16;
    static constexpr int count = 8, lane_rows = 1; // scores of a lane, and of how many rows
    static constexpr int sharing = 16;             // lanes that many apart have the same row
    static constexpr bool guesses = false;         // no launch begins before the one ahead has ended
    static constexpr int parts_at_once = 16;       // of other workgroups, that are read: from beyond the L2, so each time is long
    // Of RDNA's registers results of a long head leave room for 128 columns of keys or of values at a time.
    static constexpr bool late = TF_WAVE == 32 && HeadDim > 128;
    static constexpr int pieces = HeadDim / 8, steps = ceil_div(pieces, parts); // of 16 bytes; products of a row of keys
    static constexpr bool cut = pieces % parts != 0;
    // Values: blocks of 128 columns, 16 lanes side by side, and where at most 64 are left one of 64.
    static constexpr int wide_blocks = HeadDim / 128 + (HeadDim % 128 > 64), narrow_from = wide_blocks * 128;
    static constexpr bool narrow = HeadDim > narrow_from;
    using operand = typename matrix<T>::operand;

    DEV static int line() { return thread_index() % 16; }
    DEV static int part() { return thread_index() % TF_WAVE / 16; }
    DEV static int key(int i) { return part() * 8 + i; } // of a lane's scores
    DEV static int row(int) { return line(); }
    // All loads are asked for before the first is waited for.
    DEV static void all_asked() { schedule_fence(); }
    template <int, int, int> struct ring { // all goes through registers
        struct memory {};
        DEV ring(memory &) {}
    };
    DEV static operand operand_of(sixteen_bytes own)
    {
#if TF_WAVE == 32
        return weights_operand<T>(own);
#else
        return __builtin_bit_cast(operand, own);
#endif
    }
    // The line of a product's results that a lane's line of the first operand makes, and back.
#if TF_WAVE == 32
    DEV static int result_of(int line) { return wide::line_read(line); }
    DEV static int line_of(int result) { return TF_OPERAND_BYTES == 16 ? result : result % 8 * 2 + result / 8; }
#else
    DEV static int result_of(int line) { return line; }
    DEV static int line_of(int result) { return result; }
#endif
    DEV static int in_row(int piece) { return piece < pieces ? piece : pieces - 1; } // what is beyond its end counts for nothing

    struct scores {
        float x[count];
    };
    // Rows of queries, those that do not exist as zeros: in registers; of RDNA, where those of long heads would take half of a lane's, in
    // LDS, piece by piece, so that lanes read neighbours.
    static constexpr bool shelved = TF_WAVE == 32 && HeadDim > 64;
    using shelf = row_shelf<shelved ? pieces : 0>;
    DEV static sixteen_bytes piece_of_row(const T *at, int piece, bool exists)
    {
        sixteen_bytes own = {0, 0, 0, 0};
        if (exists && (!cut || piece < pieces)) own = global_read((global_address)(at) + piece * 16);
        return own;
    }
    struct queries {
        operand of[shelved ? 1 : steps];
        const shelf *at;
        template <class Row> DEV void load(const Row &row_at, shelf &s, int rows, int threads)
        {
            at = &s;
            if constexpr (shelved) {
                for (int i = thread_index(); i < pieces * 16; i += threads) s.of[i] = piece_of_row(row_at(i % 16), i / 16, i % 16 < rows);
                barrier();
            } else {
                const T *const row = row_at(line());
#pragma unroll
                for (int n = 0; n < steps; n++) of[n] = operand_of(piece_of_row(row, n * parts + part(), line() < rows));
            }
        }
        DEV operand step(int n) const
        {
            if constexpr (!shelved)
                return of[n];
            else {
                struct whole {
                    sixteen_bytes piece[sizeof(operand) / 16];
                } w;
#pragma unroll
                for (int i = 0; i < static_cast<int>(sizeof(operand) / 16); i++)
                    w.piece[i] = at->of[(n * parts + (sizeof(operand) > 16 ? i : part())) * 16 + line()];
                return __builtin_bit_cast(operand, w);
            }
        }
    };
    // Rows of a head from `row` on, of which the first `to` exist; the last one stands for those behind it.
    struct window {
        global_address from;
        int last;
        unsigned stride;
        DEV window(const T *head, long long stride, int row, int to)
            : from(scalar_of(head + (row < to ? row : to - 1) * stride)), last(row < to ? to - 1 - row : 0),
              stride(static_cast<unsigned>(stride * sizeof(T)))
        {
        }
        DEV sixteen_bytes read(int key, int piece) const
        {
            return global_read(from + (static_cast<unsigned>(key < last ? key : last) * stride + static_cast<unsigned>(piece) * 16));
        }
    };
    struct key_sums { // scores as products make them
        accumulator of[products];
        DEV void clear()
        {
#pragma unroll
            for (int i = 0; i < count; i++) of[i / each][i % each] = 0.0f;
            if constexpr (late) settle(of[0]); // zeros are not kept
        }
        DEV void put(scores &s) const
        {
#pragma unroll
            for (int i = 0; i < count; i++) s.x[i] = of[i / each][i % each];
        }
    };
    template <int Steps> struct key_block { // of a unit
        sixteen_bytes of[products][Steps];
        DEV void load(const window &w, int first)
        {
            const int result = result_of(line());
#pragma unroll
            for (int n = 0; n < Steps; n++)
#pragma unroll
                for (int u = 0; u < products; u++)
                    of[u][n] = w.read(result / each * 8 + u * each + result % each, in_row((first + n) * parts + part()));
        }
        DEV void multiply(const queries &q, int first, key_sums &r) const
        {
#pragma unroll
            for (int n = 0; n < Steps; n++) {
                if (late && n % 2 == 0) schedule_fence(); // else all rows of queries come to registers first
                const operand row = q.step(first + n);
#pragma unroll
                for (int u = 0; u < products; u++) {
                    sixteen_bytes own = of[u][n];
                    if (cut && first + n == steps - 1 && (first + n) * parts + part() >= pieces) own = sixteen_bytes{0, 0, 0, 0};
                    r.of[u] = matrix<T>::multiply(operand_of(own), row, r.of[u]);
                }
            }
        }
    };
    struct keys {
        key_block<steps> all;
        DEV void load(const T *head, long long stride, int row, int to) { all.load(window(head, stride, row, to), 0); }
        DEV void multiply(const queries &q, scores &s) const
        {
            key_sums r;
            r.clear();
            all.multiply(q, 0, r);
            r.put(s);
        }
    };
    // Late keys: block by block.
    template <int First> DEV static void multiply_late(const queries &q, const window &w, key_sums &r)
    {
        constexpr int most = 128 / 8 / parts, own = steps - First < most ? steps - First : most;
        key_block<own> k;
        k.load(w, First);
        all_asked();
        k.multiply(q, First, r);
        if constexpr (First + own < steps) multiply_late<First + own>(q, w, r);
    }
    DEV static void multiply_late(const queries &q, const T *head, long long stride, int row, int to, scores &s)
    {
        key_sums r;
        r.clear();
        multiply_late<0>(q, window(head, stride, row, to), r);
        r.put(s);
    }
    struct wide_block {
        sixteen_bytes of[8];
        DEV void load(const window &w, int b)
        {
#pragma unroll
            for (int r = 0; r < 8; r++) of[r] = w.read(part() * 8 + r, in_row(b * 16 + line()));
        }
    };
    struct narrow_block {
        sixteen_bytes of[4];
        DEV void load(const window &w)
        {
#pragma unroll
            for (int r = 0; r < 4; r++) of[r] = w.read(part() * 8 + line() / 8 * 4 + r, in_row(narrow_from / 8 + line() % 8));
        }
    };
    struct values {
        wide_block of[wide_blocks ? wide_blocks : 1];
        narrow_block last;
        DEV void load(const T *head, long long stride, int row, int to)
        {
            const window w(head, stride, row, to);
#pragma unroll
            for (int b = 0; b < wide_blocks; b++) of[b].load(w, b);
            if constexpr (narrow) last.load(w);
        }
    };

    struct results {
        accumulator of[wide_blocks * 8 + narrow * 4]; // line l of product j is column 8 * line_of(l) + j of a block
        DEV void clear()
        {
#pragma unroll
            for (int d = 0; d < wide_blocks * 8 + narrow * 4; d++)
#pragma unroll
                for (int e = 0; e < each; e++) of[d][e] = 0.0f;
        }
        DEV void scale(const float (&factor)[lane_rows])
        {
#pragma unroll
            for (int d = 0; d < wide_blocks * 8 + narrow * 4; d++) of[d] *= factor[0];
        }
        template <class Line> DEV void add(int product, int column, const Line (&v)[8], operand weights)
        {
            const eight_bytes low = across(column, v[0], v[1], v[2], v[3]), high = across(column, v[4], v[5], v[6], v[7]);
            of[product] = matrix<T>::multiply(operand_of(sixteen_bytes{low[0], low[1], high[0], high[1]}), weights, of[product]);
        }
        DEV void add_block(const wide_block &v, int b, operand weights)
        {
#pragma unroll
            for (int j = 0; j < 8; j++) add(b * 8 + j, j, v.of, weights);
        }
        DEV void add_block(const narrow_block &v, operand weights)
        {
            eight_bytes own[8];
#pragma unroll
            for (int r = 0; r < 4; r++) trade(v.of[r], own[r], own[4 + r]);
#pragma unroll
            for (int j = 0; j < 4; j++) add(wide_blocks * 8 + j, j, own, weights);
        }
        DEV static operand packed(const float (&w)[count])
        {
            const vec<float, 8> all = {w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7]};
            return operand_of(packed_weights<0>(T(), all));
        }
        DEV void add(const values &v, const float (&w)[count])
        {
            const operand weights = packed(w);
#pragma unroll
            for (int b = 0; b < wide_blocks; b++) add_block(v.of[b], b, weights);
            if constexpr (narrow) add_block(v.last, weights);
        }
        // Late values, as load() has them: block by block.
        DEV void add_late(const T *head, long long stride, int row, int to, const float (&w)[count])
        {
            const operand weights = packed(w);
            const window at(head, stride, row, to);
#pragma unroll
            for (int b = 0; b < wide_blocks; b++) {
                wide_block v;
                v.load(at, b);
                all_asked();
                add_block(v, b, weights);
            }
            if constexpr (narrow) {
                narrow_block v;
                v.load(at);
                all_asked();
                add_block(v, weights);
            }
        }
        // Of a piece of the lane's own four keys its half of the columns stays; the other half goes to the lane 8 lines away, for the same
        // of that one's keys. Lines from 8 on have the later keys and the later columns.
        DEV static void trade(sixteen_bytes own, eight_bytes &first, eight_bytes &second)
        {
            constexpr int rotate_8 = 0x128, all_rows = 0xf, lines_to_8 = 0x3, lines_from_8 = 0xc;
#pragma unroll
            for (int i = 0; i < 2; i++) {
                const int low = static_cast<int>(own[i]), high = static_cast<int>(own[2 + i]);
                first[i] = static_cast<unsigned>(__builtin_amdgcn_update_dpp(low, high, rotate_8, all_rows, lines_from_8, false));
                second[i] = static_cast<unsigned>(__builtin_amdgcn_update_dpp(high, low, rotate_8, all_rows, lines_to_8, false));
            }
        }
        // To a wave's places in LDS, of the rows that exist.
        DEV void put(float *to, int rows) const
        {
            const int thread = thread_again(), row = thread % 16, own = thread % TF_WAVE / 16;
            if (row >= rows) return;
#pragma unroll
            for (int e = 0; e < each; e++) {
                const int lane = line_of(own * each + e);
#pragma unroll
                for (int b = 0; b < wide_blocks; b++) {
                    const int column = b * 128 + lane * 8;
                    if ((b + 1) * 128 > HeadDim && column >= HeadDim) continue;
                    put_four(to + at(row, column), b * 8, e);
                    put_four(to + at(row, column + 4), b * 8 + 4, e);
                }
                const int column = narrow_from + lane % 8 * 8 + lane / 8 * 4;
                if (narrow && (narrow_from + 64 <= HeadDim || column < HeadDim)) put_four(to + at(row, column), wide_blocks * 8, e);
            }
        }
        DEV void put_four(float *to, int product, int e) const
        {
            *reinterpret_cast<neighbours<float, 4> *>(to) = {
                {of[product][e], of[product + 1][e], of[product + 2][e], of[product + 3][e]}};
        }
    };

    // Where places of rows lie in LDS: quads are permuted, so that neither one quad of 8 rows nor neighbours of one row meet in a bank.
    static constexpr int pitch = HeadDim;
    static constexpr bool in_order = true; // places are columns
    DEV static int at(int row, int place)
    {
        const int key = HeadDim % 32 ? row / 2 % 4 : row % 8;
        return row * HeadDim + (place / 4 ^ key) * 4 + place % 4;
    }
    DEV static int column_at(int place) { return place; }
};
