// cache_tile: the products of attention over a cache (attention/decode_mma.h) by m16n8k16, for 16-bit elements. Queries, keys and values go
// from memory straight to registers. A lane loads 16 adjacent bytes of a row, so products take the 32 columns of a block in a permuted
// order; movmatrix transposes blocks in registers. On the host engine lanes exchange their operands through shuffles.
#pragma once
#include "templates/isa/m16n8k16.h"
#include "templates/isa/cache_ring.h"

// A lane's part of a row of a block: 8 columns from 8 * (lane % 4) on or, if the block has 16 columns, 4 from 4 * (lane % 4) on. The row is
// lane / 4 or lane / 4 + 8.
struct row_piece {
    unsigned pair[4];
};

// A lane's results of a product: rows lane / 4 and lane / 4 + 8, columns 2 * (lane % 4) and the next one.
struct cache_results {
    float x[4]; // row i / 2, column i % 2
    DEV static int row(int i) { return thread_index() % 32 / 4 + i / 2 * 8; }
    DEV static int column(int i) { return thread_index() % 4 * 2 + i % 2; }
};

#if defined(TF_ON_HOST)

DEV int lane_value(int x, int lane) { return tf_hs_shfl(x, lane, 32); } // the value of that lane
DEV int lanes_with(bool yes) { return __builtin_popcountll(tf_hs_ballot(yes)); }
DEV row_piece load_piece(const void *from)
{
    tf_hs_aligned(from, 16);
    return tf_hs_read_whole(static_cast<const row_piece *>(from));
}
DEV row_piece load_half_piece(const void *from)
{
    struct half {
        unsigned pair[2];
    };
    tf_hs_aligned(from, 8);
    const half h = tf_hs_read_whole(static_cast<const half *>(from));
    return {{h.pair[0], h.pair[1]}};
}
DEV row_piece near_piece(const void *from) { return load_piece(from); }
DEV row_piece near_half_piece(const void *from) { return load_half_piece(from); }
template <class T> DEV float host_half(T, unsigned pair, int i)
{
    return to_float(__builtin_bit_cast(T, static_cast<unsigned short>(pair >> 16 * i)));
}
template <class T> DEV void multiply_pairs(T type, cache_results &r, const unsigned (&a)[4], unsigned b0, unsigned b1)
{
    struct rows {
        unsigned x[4];
    };
    struct columns {
        unsigned x[2];
    };
    const int lane = thread_index() % 32;
    float x[2][16], y[2][16];
    for (int j = 0; j < 4; j++) {
        const rows of = tf_hs_shfl((rows{{a[0], a[1], a[2], a[3]}}), lane / 4 * 4 + j, 32);
        for (int i = 0; i < 8; i++) x[i / 2 % 2][i / 4 * 8 + 2 * j + i % 2] = host_half(type, of.x[i / 2], i % 2);
        for (int n = 0; n < 2; n++) {
            const columns at = tf_hs_shfl((columns{{b0, b1}}), (lane % 4 * 2 + n) * 4 + j, 32);
            for (int i = 0; i < 4; i++) y[n][i / 2 * 8 + 2 * j + i % 2] = host_half(type, at.x[i / 2], i % 2);
        }
    }
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 16; k++) r.x[i] += x[i / 2][k] * y[i % 2][k];
}
// Transposes 8 x 8 elements (movmatrix): a lane passes two elements of row lane / 4 and gets two of column lane / 4.
DEV unsigned transposed(unsigned pair)
{
    const int lane = thread_index() % 32, from = lane % 4 * 8 + lane / 8, shift = lane / 4 % 2 * 16;
    const unsigned first = tf_hs_shfl(pair, from, 32), second = tf_hs_shfl(pair, from + 4, 32);
    return (first >> shift & 0xffffu) | (second >> shift & 0xffffu) << 16;
}

#else

DEV int lane_value(int x, int lane) { return __shfl_sync(0xffffffffu, x, lane); }
DEV int lanes_with(bool yes) { return __popc(__ballot_sync(0xffffffffu, yes)); }
// Loads a lane's 16 bytes of a row; load_half_piece(): 8 bytes. Volatile, so that all loads are issued before the first result is used.
// They bypass L1, since nearly every byte is read once per launch.
DEV row_piece load_piece(const void *from)
{
    row_piece p;
    asm volatile("ld.global.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(p.pair[0]), "=r"(p.pair[1]), "=r"(p.pair[2]), "=r"(p.pair[3])
                 : "l"(from));
    return p;
}
DEV row_piece load_half_piece(const void *from)
{
    row_piece p = {};
    asm volatile("ld.global.L1::no_allocate.v2.u32 {%0, %1}, [%2];" : "=r"(p.pair[0]), "=r"(p.pair[1]) : "l"(from));
    return p;
}
// The same from shared memory.
DEV row_piece near_piece(const void *from)
{
    const neighbours<unsigned, 4> x = *static_cast<const neighbours<unsigned, 4> *>(from);
    return {{x.e[0], x.e[1], x.e[2], x.e[3]}};
}
DEV row_piece near_half_piece(const void *from)
{
    const neighbours<unsigned, 2> x = *static_cast<const neighbours<unsigned, 2> *>(from);
    return {{x.e[0], x.e[1], 0, 0}};
}
template <class T> DEV void multiply_pairs(T type, cache_results &r, const unsigned (&a)[4], unsigned b0, unsigned b1)
{
    mma_add(type, r.x, a[0], a[1], a[2], a[3], b0, b1);
}
DEV unsigned transposed(unsigned pair)
{
    unsigned x;
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(x) : "r"(pair));
    return x;
}
#endif

// A block of 16 rows by 32 (or 16) columns of keys or values. along() multiplies it in a product over its columns, across() transposed, in
// a product over its rows.
template <int Columns> struct cache_block {
    static constexpr int steps = Columns / 16, each = Columns / 4; // products of 16 columns; columns per lane
    static_assert(Columns == 32 || Columns == 16, "a lane loads 16 or 8 bytes of a row");
    row_piece half[2]; // of rows lane / 4 and lane / 4 + 8

    DEV static int first() { return thread_index() % 4 * each; }
    template <class T> DEV static row_piece load(const T *block) // of the lane's row
    {
        return Columns == 32 ? load_piece(block + first()) : load_half_piece(block + first());
    }
    template <class T> DEV static row_piece load_near(const T *block) // in shared memory
    {
        return Columns == 32 ? near_piece(block + first()) : near_half_piece(block + first());
    }
    // r[row][n] += the sum over columns of block[row][column] * row n of `other`, 8 rows of queries
    template <class T> DEV void along(T type, cache_results &r, const row_piece &other) const
    {
#pragma unroll
        for (int i = 0; i < steps; i++) {
            const unsigned a[4] = {half[0].pair[2 * i], half[1].pair[2 * i], half[0].pair[2 * i + 1], half[1].pair[2 * i + 1]};
            multiply_pairs(type, r, a, other.pair[2 * i], other.pair[2 * i + 1]);
        }
    }
    // r[i][m][n] += the sum over rows of block[row][column_of(i, m)] * weights[row][n]; each i covers 16 columns of the block
    template <class T> DEV void across(T type, cache_results *r, const unsigned (&weights)[2]) const
    {
#pragma unroll
        for (int i = 0; i < steps; i++) {
            const unsigned a[4] = {transposed(half[0].pair[2 * i]), transposed(half[0].pair[2 * i + 1]), transposed(half[1].pair[2 * i]),
                                   transposed(half[1].pair[2 * i + 1])};
            multiply_pairs(type, r[i], a, weights[0], weights[1]);
        }
    }
    // Which column of the block is row `row` of results r[i] (across()).
    DEV static int column_of(int i, int row) { return row % 8 / 2 * each + (2 * i + row / 8) * 2 + row % 2; }
};

DEV int thread_again() { return thread_index(); }
template <class X> DEV X warp_same(const X &x) { return x; } // x is warp-uniform
DEV void warp_sync() { __syncwarp(); }

// A lane's columns of a row in words (frame/words.h).
template <class T, int Columns> struct row_in_words {
    static constexpr int wide = Columns / 32;
    static constexpr bool narrow = Columns % 32 != 0;
    struct piece {
        unsigned word[4];
    };
    row_piece of[wide + narrow];
    template <class Words> DEV void take(const Words &words, const float *from)
    {
        piece x[wide + narrow];
        words.template take<wide + narrow, false>(
            x, [&](int n) { return from + n * 32 + (n < wide ? cache_block<32>::first() : cache_block<16>::first()); },
            [](int n) { return n < wide ? 2 : 1; });
#pragma unroll
        for (int n = 0; n < wide + narrow; n++)
#pragma unroll
            for (int i = 0; i < 4; i++) of[n].pair[i] = x[n].word[i];
    }
};

// 16 rows of keys or values, each Columns long.
template <class T, int Columns> struct rows_of_cache {
    static constexpr int wide = Columns / 32;
    static constexpr bool narrow = Columns % 32 != 0; // half a block at the end
    cache_block<32> of[wide + 1];
    cache_block<16> last;
    // Loads 16 rows of a head, from `row` on. In place of rows from `to` on, row to - 1 is loaded again.
    DEV void load(const T *head, long long stride, int row, int to)
    {
#pragma unroll
        for (int h = 0; h < 2; h++) {
            const int own = row + cache_results::row(2 * h);
            const T *at = head + (own < to ? own : to - 1) * stride;
#pragma unroll
            for (int n = 0; n < wide; n++) of[n].half[h] = cache_block<32>::load(at + n * 32);
            if constexpr (narrow) last.half[h] = cache_block<16>::load(at + wide * 32);
        }
    }
    // All 16 rows become this one.
    DEV void repeat(const row_in_words<T, Columns> &x)
    {
#pragma unroll
        for (int h = 0; h < 2; h++) {
#pragma unroll
            for (int n = 0; n < wide; n++) of[n].half[h] = x.of[n];
            if constexpr (narrow) last.half[h] = x.of[wide];
        }
    }
    // The same from contiguous rows in shared memory.
    DEV void load_near(const T *head, int row, int to)
    {
#pragma unroll
        for (int h = 0; h < 2; h++) {
            const int own = row + cache_results::row(2 * h);
            const T *at = head + (own < to ? own : to - 1) * Columns;
#pragma unroll
            for (int n = 0; n < wide; n++) of[n].half[h] = cache_block<32>::load_near(at + n * 32);
            if constexpr (narrow) last.half[h] = cache_block<16>::load_near(at + wide * 32);
        }
    }
};

// Products of up to `rows` rows of queries with `unit` keys or values: scores(key, row) = keys * rows of queries, results(column, row) +=
// transposed values * weights. HeadDim: columns of queries and keys; ValueDim: columns of values and results.
template <class T, int HeadDim, int ValueDim> struct cache_tile {
    static constexpr int rows = 8, unit = 16;
    static constexpr int count = 4, lane_rows = 2; // scores per lane; score i belongs to row i % lane_rows of the lane
    static constexpr int sharing = 4;              // lanes at this distance have the same rows
    static constexpr bool guesses = true;          // a launch may begin before the previous one has ended, and then guesses lengths
    static constexpr bool queries_ahead = true;    // registers suffice to load the next part's queries while a part ends
    static constexpr int parts_at_once = 8;        // how many other workgroups' results are read at a time when parts are combined
    static constexpr bool late = false;            // true: registers do not suffice for the keys and values of a key tile
    using values = rows_of_cache<T, ValueDim>;
    using row_of_keys = rows_of_cache<T, HeadDim>;
    static constexpr int blocks = ValueDim / 16;
    DEV static int key(int i) { return cache_results::row(i); } // of the lane's score i
    DEV static int row(int e) { return cache_results::column(e); }
    DEV static void all_asked() {}
    template <int Warps, int Stages, int Keys> // of key tiles in flight
    using ring = cache_ring<T, Warps, Stages, Keys * HeadDim, Keys * ValueDim>;

    struct scores {
        float x[count];
    };
    struct shelf {}; // empty, since rows of queries are in registers
    struct queries {
        static constexpr int wide = row_of_keys::wide;
        static constexpr bool narrow = row_of_keys::narrow;
        row_piece of[wide + narrow];
        // Loads the first `rows` rows, which begin at row_at(row).
        template <class Row> DEV void load(const Row &row_at, shelf &, int rows, int)
        {
            const int row = thread_index() % 32 / 4;
            const T *const at = row_at(row);
            const bool exists = row < rows;
#pragma unroll
            for (int n = 0; n < wide + narrow; n++) of[n] = {};
            if (exists) {
#pragma unroll
                for (int n = 0; n < wide; n++) of[n] = cache_block<32>::load(at + n * 32);
                if constexpr (narrow) of[wide] = cache_block<16>::load(at + wide * 32);
            }
        }
    };
    template <int Columns> using row_of_words = row_in_words<T, Columns>;
    struct queries_in_words : queries {
        // As load(), but rows are in words, and row_at(row) is where one begins. Waits for them.
        template <class Words, class Row> DEV void take(const Words &words, const Row &row_at, int rows)
        {
            const int row = thread_index() % 32 / 4;
            row_in_words<T, HeadDim> x;
            x.take(words, row_at(row < rows ? row : 0));
#pragma unroll
            for (int n = 0; n < queries::wide + queries::narrow; n++) this->of[n] = row < rows ? x.of[n] : row_piece{};
        }
    };
    struct keys : row_of_keys {
        DEV void multiply(const queries &q, scores &s) const
        {
            cache_results r = {};
#pragma unroll
            for (int n = 0; n < row_of_keys::wide; n++) this->of[n].along(T(), r, q.of[n]);
            if constexpr (row_of_keys::narrow) this->last.along(T(), r, q.of[row_of_keys::wide]);
#pragma unroll
            for (int i = 0; i < count; i++) s.x[i] = r.x[i];
        }
    };

    struct results {
        cache_results of[blocks];
        DEV void clear()
        {
#pragma unroll
            for (int d = 0; d < blocks; d++) of[d] = {};
        }
        DEV void scale(const float (&factor)[lane_rows])
        {
#pragma unroll
            for (int d = 0; d < blocks; d++)
#pragma unroll
                for (int i = 0; i < 4; i++) of[d].x[i] *= factor[i % 2];
        }
        DEV void add(const values &v, const float (&w)[count])
        {
            const unsigned weights[2] = {transposed(packed(T(), w[0], w[1])), transposed(packed(T(), w[2], w[3]))};
#pragma unroll
            for (int n = 0; n < values::wide; n++) v.of[n].across(T(), of + 2 * n, weights);
            if constexpr (values::narrow) v.last.across(T(), of + 2 * values::wide, weights);
        }
        // Stores the first `rows` rows to the warp's part of shared memory.
        DEV void put(float *to, int rows) const
        {
#pragma unroll
            for (int e = 0; e < lane_rows; e++) {
                if (row(e) >= rows) continue;
#pragma unroll
                for (int d = 0; d < blocks; d++)
#pragma unroll
                    for (int h = 0; h < 2; h++) to[at(row(e), d * 16 + cache_results::row(2 * h))] = of[d].x[2 * h + e];
            }
        }
    };

    // Layout of result rows in shared memory. column_at() tells which column lies at a place of a row.
    static constexpr int pitch = ValueDim + 4;
    static constexpr bool in_order = false; // places are not in the order of columns
    DEV static int at(int row, int place) { return row * pitch + place; }
    DEV static int column_at(int place)
    {
        constexpr int wide = values::wide;
        const int d = place / 16, row = place % 16;
        return d < 2 * wide ? d / 2 * 32 + cache_block<32>::column_of(d % 2, row) : wide * 32 + cache_block<16>::column_of(0, row);
    }
};
