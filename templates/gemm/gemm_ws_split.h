// In: one spec struct S of an f32 product (docs/spec-structs.md: gemm). Out: its 3xTF32 program in the warp-specialised frame: tf32 tensor
// cores with f32 accuracy. Refuses tiles other than 128 x {64, 96, 128}, and types other than f32.
//
// x = large + small, both tf32, rounded to nearest. A product is small * large + large * small + large * large; small * small, at most
// 2^-22 of it, is dropped. Packed B has 32 columns of large parts, then their 32 small ones, and so on; A is split in registers. Tensor
// cores truncate every sum, which drifts: so a sum has 32 products, the small ones first, and sums are added up in f32 (H. Ootomo, R.
// Yokota, "Recovering single precision accuracy from Tensor Cores", IJHPCA 36(4), 2022). A number that is not finite, or becomes infinite
// when rounded to 11 bits, makes its results NaN.
#pragma once
#include "templates/gemm/gemm_ws.h"

template <class S> struct gemm_ws_split : gemm_ws<S> {
    using base = gemm_ws<S>;
    using typename base::args;
    using typename base::accumulators;
    using typename base::tile;
    using base::a_bytes, base::tile_n, base::tile_k;
    static constexpr int stage_bytes = a_bytes + 2 * tile_n * 128;
    static constexpr bool pingpong = true;
    static_assert(S::cluster == 1, "tile: workgroups load for themselves");
    static_assert(sizeof(typename base::a_type) == 4 && tile_n <= 128, "tile: accumulators and sums of 128 columns at most");

    DEV static unsigned bytes(const args &) { return stage_bytes; }

    DEV static void load(early, const args &p, const tile &t, int k_tile, stage m)
    {
        if constexpr (S::b_early) load_terms(p, t, base::column_of(t, k_tile), m);
    }
    DEV static void load(late, const args &p, const tile &t, int k_tile, stage m)
    {
        base::load_a(p, t, base::column_of(t, k_tile), m);
        if constexpr (!S::b_early) load_terms(p, t, base::column_of(t, k_tile), m);
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
        ring.step();
    }

  private:
    using product = wgmma_parts<tile_n>;
    using products = part_products<tile_n>;
    static constexpr int pieces = tile_k / 8, values = 4 * pieces; // of a k tile: instructions along k, elements of A per thread

    struct operands { // a thread's, of one k tile
        float large[values], small[values];
        DEV void fetch(shared_address memory)
        {
#pragma unroll
            for (int k = 0; k < pieces; k++) {
                float x[4];
                fragment_load(memory + (thread_index() / 128 - 1) * 64 * 128, 2 * k, x);
#pragma unroll
                for (int i = 0; i < 4; i++) {
                    large[4 * k + i] = tf32_large(x[i]);
                    small[4 * k + i] = tf32_small(x[i] - large[4 * k + i]);
                }
            }
        }
    };

    // A k tile's products, while the next k tile's elements of A are fetched and split.
    template <class Ring> DEV static void step(Ring &ring, accumulators &c, operands &now, operands &next, bool more)
    {
        float part[product::registers];
        products in_flight;
        turn_take();
        multiply(in_flight, part, now.large, now.small, ring.here());
        turn_pass();
        const int here = ring.position;
        if (more) // else this k tile again, which is loaded: so no branch lies between the products and their wait
            ring.step();
        next.fetch(ring.wait().memory);
        in_flight.wait(part);
        pin(part);
        ring.release_if(here, true);
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
};
