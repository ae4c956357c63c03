// In: one spec struct S of an f32 product (docs/spec-structs.md: gemm). Out: its 3xTF32 program in the warp-specialised frame, which
// reaches f32 accuracy with tf32 tensor cores. Refuses (static_assert) tiles other than 128 x {64, 96, 128}, and types other than f32.
//
// Beyond the contract of gemm_ws.h S has swap_ab: the operands change places. The program's A is then the second operand of a matmul, so
// the 128 rows of a tile are columns of the result, and its columns are rows of the result.
//
// Each number x is split into large + small, both tf32 and rounded to nearest. A product is small * large + large * small + large * large;
// small * small, at most 2^-22 of it, is dropped. B is stored in terms: for every 32 of K the large terms, then the small ones. A is split
// in registers. Tensor cores truncate every addition, which biases long sums. So they add up only the products of 32 of K, those with small
// terms first, and these sums are added up by f32 instructions (H. Ootomo, R. Yokota, "Recovering single precision accuracy from Tensor
// Cores", IJHPCA 36(4), 2022). Results are NaN if an operand is not finite, or becomes infinite when rounded to 11 bits.
#pragma once
#include "templates/gemm/gemm_ws.h"

template <class S> struct gemm_ws_split : gemm_ws<S> {
    using base = gemm_ws<S>;
    using typename base::args;
    using typename base::accumulators;
    using typename base::tile;
    using base::a_bytes, base::a_across, base::tile_m, base::tile_n, base::tile_k, base::panel_bytes;
    static constexpr int stage_bytes = a_bytes + 2 * tile_n * 128;
    static constexpr bool pingpong = true;
    static_assert(S::cluster == 1, "tile: no clusters");
    static_assert(sizeof(typename base::a_type) == 4 && tile_n <= 128, "tile: A in f32, n at most 128");
    static_assert(!S::swap_ab || !S::row_sums, "no row sums with swapped operands: a row of the result is in many warps");

    DEV static unsigned bytes(const args &) { return stage_bytes; }

    // ---- tiles. With swapped operands the result's columns, whose number is a constant, form row tiles, and its rows column tiles.
    DEV static int row_tiles(const args &p) { return ceil_div(S::swap_ab ? S::packed_n : S::rows(p), tile_m); }
    DEV static int column_tiles_of(const args &p) { return ceil_div(S::swap_ab ? S::rows(p) : S::packed_n, tile_n); }
    DEV static int whole_tiles(const args &p)
    {
        if constexpr (S::batched)
            return S::batches(p) * row_tiles(p) * column_tiles_of(p);
        else
            return row_tiles(p) * column_tiles_of(p);
    }
    DEV static int tiles(const args &p) { return whole_tiles(p) * S::split_k; }
    DEV static tile at(const args &p, int item)
    {
        if constexpr (!S::swap_ab) return base::at(p, item);
        const int whole = whole_tiles(p), part = S::split_k == 1 ? 0 : item / whole, index = item - part * whole;
        const int rows = row_tiles(p), columns = column_tiles_of(p), of_matrix = index % (rows * columns);
        return {of_matrix / columns, of_matrix % columns, part, index, index / (rows * columns)};
    }

    DEV static void load(early, const args &p, const tile &t, int k_tile, stage m)
    {
        if constexpr (S::b_early) load_terms(p, t, base::column_of(t, k_tile), m);
    }
    DEV static void load(late, const args &p, const tile &t, int k_tile, stage m)
    {
        load_a(p, t, base::column_of(t, k_tile), m);
        if constexpr (!S::b_early) load_terms(p, t, base::column_of(t, k_tile), m);
    }
    DEV static void load_a(const args &p, const tile &t, int k, stage m)
    {
        if constexpr (!a_across)
            base::load_a(p, t, k, m);
        else
            for (int i = 0; i < tile_m / panel_columns; i++)
                base::template box_load<1>(m.memory + i * panel_bytes, S::a_map(p), t, base::a_batch(p, t),
                                           t.row * tile_m + i * panel_columns, k, m, 0);
    }
    DEV static void load_terms(const args &p, const tile &t, int k, stage m)
    {
        const int n = t.column * tile_n;
        base::template box_load<1>(m.memory + a_bytes, S::b_map(p), t, base::b_batch(p, t), 2 * k, n, m, 0);
        base::template box_load<1>(m.memory + a_bytes + tile_n * 128, S::b_map(p), t, base::b_batch(p, t), 2 * k + tile_k, n, m, 0);
    }

    template <class Ring> DEV static void compute(const args &p, const tile &t, Ring &ring, accumulators &c)
    {
        const int n = base::k_tiles(p, t);
        operands even, odd;
#pragma unroll
        for (int i = 0; i < product::registers; i++) c.acc[i] = 0;
        even.fetch(ring.wait().memory);
        for (int s = 0; s < n; s++) {
            step(ring, c, even, odd, s + 1 < n);
            if (++s == n)
                break;
            step(ring, c, odd, even, s + 1 < n);
        }
        // Each warp waits twice for the last k tile. Its second wait would never end if it began after the stage has been refilled, so all
        // four warps meet before one of them frees the stage.
        group_barrier(4 + thread_index() / 128, 128);
        ring.release_if(ring.position, true);
        ring.step();
    }

    // Which of A's 64 rows is row 16 * warp + i of an instruction. A thread has rows i = r and r + 8 of a fragment. With swapped operands
    // these are rows of A that lie 16 apart, as the two halves of a block of the result's columns do. If A is stored in columns, they lie 4
    // apart instead, since then the loads of rows 0 to 3 and 16 to 19 at four places along k hit 32 different banks.
    DEV static int row_at(int warp, int i)
    {
        if constexpr (!S::swap_ab) return warp * 16 + i;
        const int first = warp / 2 * 32 + warp % 2 * 8, r = i % 8, half = i / 8;
        return first + (a_across ? r % 4 + r / 4 * 16 + half * 4 : r + half * 16);
    }

    DEV static void finish(const args &p, const tile &t, accumulators &c, shared_address scratch)
    {
        if constexpr (!S::swap_ab)
            base::finish(p, t, c, scratch);
        else if (base::holds_all(p, t, c))
            store_swapped(p, t, c);
    }

  private:
    using product = wgmma_parts<tile_n>;
    using products = part_products<tile_n>;
    static constexpr int pieces = tile_k / 8, values = 4 * pieces; // instructions along k of a k tile; elements of A per thread
    static constexpr int panel_columns = 32;                       // rows of A in a panel, if A is stored as [K, M]

    struct operands { // a thread's elements of A in one k tile
        float large[values], small[values];
        DEV void fetch(shared_address memory)
        {
#pragma unroll
            for (int k = 0; k < pieces; k++) {
                float x[4];
                if constexpr (a_across)
                    load_across(memory, k, x);
                else
                    fragment_load<gemm_ws_split>(memory + group() * 64 * 128, 2 * k, x);
#pragma unroll
                for (int i = 0; i < 4; i++) {
                    large[4 * k + i] = tf32_large(x[i]);
                    small[4 * k + i] = tf32_small(x[i] - large[4 * k + i]);
                }
            }
        }
        DEV static void load_across(shared_address memory, int k, float (&x)[4])
        {
            const int lane = thread_index() % 32;
#pragma unroll
            for (int i = 0; i < 4; i++) {
                const int row = group() * 64 + row_at(wave_index() % 4, lane / 4 + i % 2 * 8), in = row % panel_columns;
                const int place = k * 8 + lane % 4 + i / 2 * 4; // along k
                shared_read(memory + row / panel_columns * panel_bytes + place * 128 + ((in / 4 ^ place % 8) << 4) + in % 4 * 4, x[i]);
            }
        }
    };
    DEV static int group() { return thread_index() / 128 - 1; }

    // Multiplies a k tile, while the elements of A of the next one are fetched and split.
    template <class Ring> DEV static void step(Ring &ring, accumulators &c, operands &now, operands &next, bool more)
    {
        float part[product::registers];
        products in_flight;
        turn_take();
        multiply(in_flight, part, now.large, now.small, ring.here());
        turn_pass();
        const int here = ring.position;
        if (more) // else next.fetch() reads this k tile again, as no branch may lie between the products and the wait for them
            ring.step();
        next.fetch(ring.wait().memory);
        in_flight.wait(part);
        pin(part);
        ring.release_if(here, more);
#pragma unroll
        for (int i = 0; i < product::registers; i++) c.acc[i] += part[i];
    }

    DEV static void multiply(products &in_flight, float (&part)[product::registers], float (&large)[values], float (&small)[values],
                             stage m)
    {
        const auto b = operand(m.memory + a_bytes), b_small = operand(m.memory + a_bytes + tile_n * 128);
        pin(part);
        pin(large);
        pin(small);
        product_fence();
#pragma unroll
        for (int k = 0; k < pieces; k++) {
            if (k == 0) in_flight.template multiply<0>(part, small, b);
            else in_flight.template multiply<1>(part, small + 4 * k, b + 2 * k);
            in_flight.template multiply<1>(part, large + 4 * k, b_small + 2 * k);
        }
#pragma unroll
        for (int k = 0; k < pieces; k++) in_flight.template multiply<1>(part, large + 4 * k, b + 2 * k);
        in_flight.commit();
        pin(part);
    }

    // ---- storing with swapped operands. A thread has one column of the result in each half of a block (row_at), in rows 8 j + {0, 1} + 2
    // (lane % 4). Lanes exchange sums until each has two neighbouring columns of one row, so that four lanes fill a sector.
    static constexpr int column_copies = S::rolled ? 1 : tile_n / 8; // copies of the loop's code
    DEV static void store_swapped(const args &p, const tile &t, accumulators &c)
    {
        const int lane = thread_index() % 32, r = lane / 4, warp = wave_index() % 4;
        const int n = t.row * tile_m + group() * 64 + warp / 2 * 32 + warp % 2 * 8 + r / 2 * 2;
        const bool odd = r % 2;
        to_memory out;
        if (n / 32 * 32 >= S::packed_n) return; // none of the warp's columns exists
#pragma unroll column_copies
        for (int j = 0; j < tile_n / 8; j++) {
            const int row = t.column * tile_n + j * 8 + lane % 4 * 2 + odd;
            float *x = c.acc + (S::rolled ? 0 : j) * 4; // x[0], x[1]: one column in two rows; x[2], x[3]: the other half's column
            if constexpr (a_across) // lanes with r < 4 have columns of the low half, others of the high half: after this each has both
                for (int i = 0; i < 2; i++) {
                    const float other = lane_xor<32>(r < 4 ? x[i + 2] : x[i], 16);
                    x[i] = r < 4 ? x[i] : other, x[i + 2] = r < 4 ? other : x[i + 2];
                }
            const vec<float, 2> low = neighbours_of(x[0], x[1], odd), high = neighbours_of(x[2], x[3], odd);
            if (row < S::rows(p)) {
                float none = 0;
                S::template epilogue<2>(p, S::begin(p, t.batch, row), t.batch, row, n, low, high, none, out);
            }
            if constexpr (S::rolled) {
#pragma unroll
                for (int i = 4; i < tile_n / 2; i++) c.acc[i - 4] = c.acc[i];
            }
        }
    }
    // In: the sums of a column in two rows. Exchanges one of them with the lane that has the neighbouring column. Returns both columns of
    // the row that this lane keeps.
    DEV static vec<float, 2> neighbours_of(float first, float second, bool odd)
    {
        const float other = lane_xor<32>(odd ? first : second, 4);
        vec<float, 2> v;
        v[0] = odd ? other : first, v[1] = odd ? second : other;
        return v;
    }
};
