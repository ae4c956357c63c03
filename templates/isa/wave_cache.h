// cache_tile: the products of attention over a cache on AMD's matrix units, for 16-bit elements, with the same names as isa/mma_cache.h;
// and the functions of isa/nvidia.h that attention/decode_mma.h calls. Needs isa/mfma.h, or isa/wmma.h and isa/wmma_wide.h.
//
// Lane l has line l % 16 of an operand, of which it has 16-byte part l / 16. In scores(key, row) = keys * rows it therefore has 8 adjacent
// keys of one row, in the order in which a product over keys takes 16 bytes of weights. So neither scores nor weights change lanes.
//
// The other operand of that product is the values with keys contiguous, but in memory columns are contiguous. Each lane loads 16 bytes (8
// columns) of each of its 8 keys and transposes these 8 x 8 elements in its own registers, two elements per v_perm. That takes 32 v_perm
// for the wave's 8 loads of 1 KB, and nothing passes through LDS. (Through LDS each element would be written and read once more: by 2-byte
// reads, or by wider reads and the same v_perm.) A row of a head of 64 columns takes only 8 lanes, so the other 8 of 16 lanes load other
// keys. Two such lanes then exchange halves of their 16 bytes, with one DPP move per word.
//
// Each element is loaded once for all 16 rows of queries. A wave's load of values covers whole rows of memory. A load of keys covers 64
// bytes (RDNA: 32) of each of 16 rows, and the next load the bytes after them.
#pragma once
#include "templates/isa/amd_weights.h"

// ---- a wave
// The thread's index, read again, so that values that depend on it need not stay in registers through the mainloop.
DEV int thread_again()
{
    int thread = thread_index();
    settle(thread);
    return thread;
}
// Moves x, which must be wave-uniform, to scalar registers.
template <class X> DEV X warp_same(const X &x)
{
    static_assert(sizeof(X) % 4 == 0, "X is a multiple of 4 bytes");
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
DEV int lane_value(int x, int lane) { return __builtin_amdgcn_ds_bpermute(lane * 4, x); } // the value of that lane
DEV int warp_xor(int x, int mask) { return lane_value(x, thread_index() % TF_WAVE ^ mask); }
DEV float warp_xor(float x, int mask) { return lane_xor<TF_WAVE>(x, mask); }
DEV int lanes_with(bool yes) { return __builtin_popcountll(lanes_of(yes)); }
DEV float larger(float x, float y) { return __builtin_fmaxf(x, y); }
#if !defined(TF_MACHINE_EXP2)
DEV float machine_exp2(float x) { return wave_exp2(x); }
#endif

DEV int number_read(const int *number) { return *number; } // no launch begins before the previous one has ended

// AMD's GPUs have no clusters: each workgroup is a cluster of its own.
DEV void cluster_arrive() {}
DEV void cluster_wait() {}
DEV neighbours<float, 4> cluster_read(const float *own, int) { return *reinterpret_cast<const neighbours<float, 4> *>(own); }
DEV void prefetch_l2(const void *, int) {}

template <int Pieces> struct row_shelf { // 16 rows of queries in LDS, Pieces 16-byte pieces per row
    sixteen_bytes of[Pieces * 16];
};
template <> struct row_shelf<0> {
};

// ---- products of 16 rows of queries with `unit` keys or values. HeadDim: columns of queries and keys; ValueDim: columns of values and
// results.
template <class T, int HeadDim, int ValueDim> struct cache_tile {
    static constexpr int parts = TF_WAVE / 16, each = 16 / parts; // lanes that share a line; results of a product per lane
    static constexpr int rows = 16, unit = 8 * parts, products = unit / 16;
    static constexpr int count = 8, lane_rows = 1; // scores per lane; how many rows they belong to
    static constexpr int sharing = 16;             // lanes at this distance have the same row
    static constexpr bool guesses = false;         // lengths need no guess: no launch begins before the previous one has ended
    static constexpr bool queries_ahead = false;   // the next part's queries are not loaded while a part ends
    static constexpr int parts_at_once = 16; // how many other workgroups' results are read at a time: many, as they bypass L2 and take long
    // late: keys and values are loaded and multiplied in blocks of 128 columns, because on RDNA registers have no room for more beside a
    // long head's results.
    static constexpr bool late = TF_WAVE == 32 && (HeadDim > 128 || ValueDim > 128);
    static constexpr int pieces = HeadDim / 8, steps = ceil_div(pieces, parts); // 16-byte pieces of a row of keys; products along it
    static constexpr bool cut = pieces % parts != 0;
    // Values are loaded in blocks of 128 columns, a row by 16 lanes; a remainder of at most 64 columns is one block of 64.
    static constexpr int wide_blocks = ValueDim / 128 + (ValueDim % 128 > 64), narrow_from = wide_blocks * 128;
    static constexpr bool narrow = ValueDim > narrow_from;
    using operand = typename matrix<T>::operand;

    DEV static int line() { return thread_index() % 16; }
    DEV static int part() { return thread_index() % TF_WAVE / 16; }
    DEV static int key(int i) { return part() * 8 + i; } // of the lane's score i
    DEV static int row(int) { return line(); }
    // Called after a block's loads: they are all issued before the first one is waited for.
    DEV static void all_asked() { schedule_fence(); }
    template <int, int, int> struct ring { // empty, since keys and values are loaded to registers
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
    // result_of(): which line of a product's results comes from a line of its first operand. line_of(): the inverse.
#if TF_WAVE == 32
    DEV static int result_of(int line) { return wide::line_read(line); }
    DEV static int line_of(int result) { return TF_OPERAND_BYTES == 16 ? result : result % 8 * 2 + result / 8; }
#else
    DEV static int result_of(int line) { return line; }
    DEV static int line_of(int result) { return result; }
#endif
    // Pieces beyond a row's end are replaced by its last one; their results are not used.
    DEV static int in_key(int piece) { return piece < pieces ? piece : pieces - 1; }
    DEV static int in_value(int piece) { return piece < ValueDim / 8 ? piece : ValueDim / 8 - 1; }

    struct scores {
        float x[count];
    };
    // Rows of queries, with zeros for rows that do not exist, are in registers. On RDNA those of long heads would take half of a lane's
    // registers, so they lie in LDS, piece by piece, so that adjacent lanes read adjacent words.
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
    // Loads from rows of a head, from `row` on. In place of rows from `to` on, row to - 1 is loaded again.
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
    struct key_sums { // scores, as the products leave them
        accumulator of[products];
        DEV void clear()
        {
#pragma unroll
            for (int i = 0; i < count; i++) of[i / each][i % each] = 0.0f;
            if constexpr (late) settle(of[0]); // otherwise the compiler keeps the zeros in registers from one key tile to the next
        }
        DEV void put(scores &s) const
        {
#pragma unroll
            for (int i = 0; i < count; i++) s.x[i] = of[i / each][i % each];
        }
    };
    template <int Steps> struct key_block { // of `unit` keys, the columns that Steps products take
        sixteen_bytes of[products][Steps];
        DEV void load(const window &w, int first)
        {
            const int result = result_of(line());
#pragma unroll
            for (int n = 0; n < Steps; n++)
#pragma unroll
                for (int u = 0; u < products; u++)
                    of[u][n] = w.read(result / each * 8 + u * each + result % each, in_key((first + n) * parts + part()));
        }
        DEV void multiply(const queries &q, int first, key_sums &r) const
        {
#pragma unroll
            for (int n = 0; n < Steps; n++) {
                if (late && n % 2 == 0) schedule_fence(); // otherwise the compiler loads all of the queries into registers first
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
    // If `late`: loads and multiplies keys block by block.
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
            for (int r = 0; r < 8; r++) of[r] = w.read(part() * 8 + r, in_value(b * 16 + line()));
        }
    };
    struct narrow_block {
        sixteen_bytes of[4];
        DEV void load(const window &w)
        {
#pragma unroll
            for (int r = 0; r < 4; r++) of[r] = w.read(part() * 8 + line() / 8 * 4 + r, in_value(narrow_from / 8 + line() % 8));
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
        accumulator of[wide_blocks * 8 + narrow * 4]; // in a block of 128, line l of product j is column 8 * line_of(l) + j
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
        // If `late`: loads values, as load() does, and multiplies them block by block.
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
        // A lane has loaded 8 columns of four keys, and the lane 8 lines away the same columns of four other keys. Each keeps half of its
        // columns, and trades the other half for those that it keeps of the other lane's keys. Lines from 8 on have the later keys and keep
        // the later columns.
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
        // Stores the first `rows` rows to the wave's part of LDS.
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
                    if ((b + 1) * 128 > ValueDim && column >= ValueDim) continue;
                    put_four(to + at(row, column), b * 8, e);
                    put_four(to + at(row, column + 4), b * 8 + 4, e);
                }
                const int column = narrow_from + lane % 8 * 8 + lane / 8 * 4;
                if (narrow && (narrow_from + 64 <= ValueDim || column < ValueDim)) put_four(to + at(row, column), wide_blocks * 8, e);
            }
        }
        DEV void put_four(float *to, int product, int e) const
        {
            *reinterpret_cast<neighbours<float, 4> *>(to) = {
                {of[product][e], of[product + 1][e], of[product + 2][e], of[product + 3][e]}};
        }
    };

    // Layout of result rows in LDS: groups of four floats are permuted within a row. So there are no bank conflicts, neither when lanes
    // access one group in each of 8 rows, nor when they access adjacent groups of one row.
    static constexpr int pitch = ValueDim;
    static constexpr bool in_order = true; // places are in column order
    DEV static int at(int row, int place)
    {
        const int key = ValueDim % 32 ? row / 2 % 4 : row % 8;
        return row * ValueDim + (place / 4 ^ key) * 4 + place % 4;
    }
    DEV static int column_at(int place) { return place; }
};
