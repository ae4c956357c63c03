// In: one spec struct S of a product in f32 (docs/architecture.md: gemm). Out: its program under the warp-specialised frame, on the tf32
// tensor cores with f32 accuracy. Refuses tiles other than 128 x {64, 128}, and types other than f32.
//
// x = large + small, both tf32: large is x without its last 13 bits, small what is left, rounded; of a weight, large is rounded as well.
// A product is small * large + large * small + large * large; small * small, at most 2^-21 of it, is left out. Packed B has 32 columns
// of large parts, then their 32 small ones, and so on; A is split in registers. Tensor cores truncate every sum, which drifts: sums
// are therefore 32 products long, the small ones first, and are added up in f32 (as H. Ootomo, R. Yokota, "Recovering single precision
// accuracy from Tensor Cores", IJHPCA 36(4), 2022). A number that is not finite makes its results NaN.
#pragma once

template <class S> struct gemm_ws_split : gemm_ws<S> {
    using base = gemm_ws<S>;
    using typename base::args;
    using typename base::carry;
    using typename base::tile;
    using base::a_bytes, base::tile_n, base::tile_k;
    static constexpr int slot_bytes = a_bytes + 2 * tile_n * 128;
    static constexpr bool turns = true;
    static_assert(sizeof(typename base::type) == 4 && tile_n <= 128, "tile: accumulators and sums of 128 columns at most");

    DEV static unsigned bytes(const args &) { return S::a_plain ? slot_bytes : slot_bytes - a_bytes; }

    DEV static void load(early, const args &p, const tile &t, int stage, slot m)
    {
        const int n = t.batch * S::packed_n + t.column * tile_n;
        tensor_load(m.memory + a_bytes, S::b_map(p), m.full, 2 * stage * tile_k, n);
        tensor_load(m.memory + a_bytes + tile_n * 128, S::b_map(p), m.full, 2 * stage * tile_k + tile_k, n);
    }
    DEV static void load(late when, const args &p, const tile &t, int stage, slot m) { base::load(when, p, t, stage, m); }

    template <class Ring> DEV static void compute(const args &p, const tile &t, Ring &ring, carry &c)
    {
        const int rows = (thread_index() / 128 - 1) * 64 * 128, n = base::stages(p, t);
        float part[product::registers], x[values], large[values], small[values];
#pragma unroll
        for (int i = 0; i < product::registers; i++) c.acc[i] = 0;
        slot m = ring.wait();
        fetch(m.memory + rows, x);
        int s = 0;
        do {
            split(x, large, small);
            turn_take();
            multiply(part, large, small, m);
            turn_pass();
            const int here = ring.position;
            if (s + 1 < n) // else this stage again, which is there: no branch between the products and their end
                ring.step();
            m = ring.wait();
            fetch(m.memory + rows, x);
            product_wait<0>();
            pin(part);
            ring.release_if(here, true);
#pragma unroll
            for (int i = 0; i < product::registers; i++) c.acc[i] += part[i];
        } while (++s < n);
        ring.step();
    }

  private:
    using product = wgmma_parts<tile_n>;
    static constexpr int pieces = tile_k / 8, values = 4 * pieces; // of a stage: instructions along k, elements of A of a thread

    DEV static void fetch(shared_address rows, float (&x)[values])
    {
#pragma unroll
        for (int k = 0; k < pieces; k++) fragment_load(rows, 2 * k, x + 4 * k);
    }

    DEV static void split(const float (&x)[values], float (&large)[values], float (&small)[values])
    {
#pragma unroll
        for (int i = 0; i < values; i++) {
            large[i] = tf32_large(x[i]);
            small[i] = tf32_rounded(x[i] - large[i]);
        }
    }

    DEV static void multiply(float (&part)[product::registers], float (&large)[values], float (&small)[values], slot m)
    {
        const auto b = operand(m.memory + a_bytes), b_small = operand(m.memory + a_bytes + tile_n * 128);
        pin(part);
        pin(large);
        pin(small);
        product_fence();
#pragma unroll
        for (int k = 0; k < pieces; k++) {
            if (k == 0) product::template multiply<0>(part, small, b);
            else product::template multiply<1>(part, small + 4 * k, b + 2 * k);
            product::template multiply<1>(part, large + 4 * k, b_small + 2 * k);
        }
#pragma unroll
        for (int k = 0; k < pieces; k++) product::template multiply<1>(part, large + 4 * k, b + 2 * k);
        product_commit();
        pin(part);
    }
};
