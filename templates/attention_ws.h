// In: one spec struct S of an attention phase (docs/architecture.md: attention). Out: its program for sm_90a: a producer warp fills a ring
// of key and value blocks, 2 or 3 warpgroups have 64 rows each; softmax of one runs beside the products of another, weights stay in
// registers. Refuses head sizes that are no multiple of 16 or above 256, scales that are not positive. A row without a visible key is zeros.
//
// Beyond the common contract S has: q_map(p), k_map(p), v_map(p): tensor maps (head_dim, heads, tokens, batch) with boxes of 64 columns x
// {pack heads x 64 / pack tokens; 1 head x block_k tokens}, 128-byte swizzle; pack: query heads of one group that share a row tile; slots;
// ragged: rows of k and v may lie in memory beyond keys(p, batch); ping_pong: warpgroups take turns to issue products.
// (J. Shah et al., "FlashAttention-3", 2024: the overlap within a warpgroup and between two.)
#pragma once

template <class S> struct attention_ws {
    using args = typename S::args;
    using type = typename S::type;
    static constexpr int head_dim = S::head_dim, groups = S::block_q / 64, block_k = S::block_k, pack = S::pack, slots = S::slots;
    static constexpr int panels = ceil_div(head_dim, 64), panel_bytes = block_k * 128, slot_bytes = panels * panel_bytes;
    static constexpr int q_panel = 64 * 128, q_bytes = panels * q_panel, group_tokens = 64 / pack, tile_tokens = groups * group_tokens;
    static constexpr int phases = 1, threads = 128 * (groups + 1), subgroups = S::heads / S::kv_heads / pack;
    static constexpr int barriers = slots * slot_bytes + groups * q_bytes, shared_bytes = 1024 + barriers + 16 * slots + 16 * groups;
    static_assert(S::block_q % 64 == 0 && (groups == 2 || groups == 3), "tile: two or three warpgroups of 64 rows");
    static_assert(head_dim % 16 == 0 && head_dim <= 256, "head size");
    static_assert(block_k % 16 == 0 && block_k <= 256, "tile: blocks of keys are whole products");
    static_assert(64 % pack == 0 && S::heads / S::kv_heads % pack == 0, "tile: packed heads divide a group and a warpgroup's rows");
    static_assert(shared_bytes <= 232448 && slots >= 3, "tile: shared memory");
    static_assert(S::scale > 0.0f, "scale");

    using score_product = wgmma_wide<type, block_k>;
    using value_product = wgmma_wide<type, head_dim>;
    static constexpr int token_barrier = 1, tail_barrier = 4; // named barriers, one a warpgroup
    // Scores in units of log2: exp(scale * s) is exp2(unit * s).
    static constexpr float unit = S::softcap > 0.0f ? 1.0f : S::scale * 1.44269504089f;
    static constexpr float lazy = 8.0f; // accumulators are rescaled when a row's largest score has grown by more (in log2)

    struct tile {
        int batch, kv, head, token; // first query head and token
        int keys, from, n;          // blocks of keys [from, from + n), walked from the last one
    };

    DEV static int blocks(const args &p) { return ceil_div(S::queries(p), tile_tokens); }
    DEV static int tiles(const args &p) { return blocks(p) * S::kv_heads * subgroups * S::batches(p); }
    DEV static int visible(const args &p, int batch, int keys, int token) // keys that a token sees end here
    {
        const int end = S::causal ? S::position(p, batch, token) + 1 : keys;
        return end < keys ? end : keys;
    }
    DEV static int first_visible(const args &p, int batch, int token)
    {
        const int first = S::window ? S::position(p, batch, token) - S::window + 1 : 0;
        return first > 0 ? first : 0;
    }
    // Causal: heavy tiles first. Else all tiles of a head side by side, so that its keys stay in L2.
    DEV static tile at(const args &p, int index)
    {
        const int pairs = S::kv_heads * subgroups * S::batches(p), n = blocks(p);
        const int block = S::causal ? n - 1 - index / pairs : index % n, pair = S::causal ? index % pairs : index / n;
        tile t;
        t.batch = pair / (S::kv_heads * subgroups);
        t.kv = pair / subgroups % S::kv_heads;
        t.head = pair % (S::kv_heads * subgroups) * pack;
        t.token = block * tile_tokens;
        t.keys = S::keys(p, t.batch);
        const int end = t.token + tile_tokens < S::queries(p) ? t.token + tile_tokens : S::queries(p);
        const int to = ceil_div(visible(p, t.batch, t.keys, end - 1), block_k);
        t.from = first_visible(p, t.batch, t.token) / block_k;
        t.n = to > t.from ? to - t.from : 0;
        return t;
    }
    // Workgroups go through the tiles to and fro, so one that had the heaviest of a round has the lightest of the next.
    struct walk {
        int base, round;
        DEV static walk first() { return {0, 0}; }
        DEV int index() const { return base + (round % 2 ? block_total() - 1 - block_index() : block_index()); }
        DEV bool more(const args &p) const { return base < tiles(p); }
        DEV void next() { base += block_total(), round++; }
    };

    struct memory {
        shared_address base;
        DEV shared_address q(int group) const { return base + slots * slot_bytes + group * q_bytes; }
        DEV shared_address q_full(int group) const { return base + barriers + 16 * slots + 16 * group; }
        DEV shared_address q_empty(int group) const { return q_full(group) + 8; }
        DEV ring<attention_ws> slots_ring() const { return {base, base + barriers, 0, 0}; }
    };

    // ---- producer: blocks in the order of use: k0, k1, v0, k2, v1, ... v(n-1), by one thread

    template <bool Values> DEV static void load_block(const args &p, const tile &t, int i, ring<attention_ws> &r)
    {
        const slot s = r.to_fill();
        barrier_expect(s.full, slot_bytes);
#pragma unroll
        for (int c = 0; c < panels; c++)
            tensor_load(s.memory + c * panel_bytes, Values ? S::v_map(p) : S::k_map(p), s.full, c * 64, t.kv,
                        (t.from + t.n - 1 - i) * block_k, t.batch);
        r.step();
    }
    DEV static void load_queries(const args &p, const tile &t, const memory &m, unsigned parity)
    {
        for (int g = 0; g < groups; g++) {
            barrier_wait(m.q_empty(g), parity ^ 1);
            barrier_expect(m.q_full(g), q_bytes);
#pragma unroll
            for (int c = 0; c < panels; c++)
                tensor_load(m.q(g) + c * q_panel, S::q_map(p), m.q_full(g), c * 64, t.head, t.token + g * group_tokens, t.batch);
        }
    }
    DEV static void produce(const args &p, const memory &m)
    {
        ring<attention_ws> r = m.slots_ring();
        unsigned parity = 0;
        for (walk w = walk::first(); w.more(p); w.next()) {
            if (w.index() >= tiles(p))
                continue;
            const tile t = at(p, w.index());
            if (t.n == 0)
                continue;
            load_block<false>(p, t, 0, r);
            load_queries(p, t, m, parity);
            parity ^= 1;
            for (int i = 1; i < t.n; i++) {
                load_block<false>(p, t, i, r);
                load_block<true>(p, t, i - 1, r);
            }
            load_block<true>(p, t, t.n - 1, r);
        }
    }

    // ---- consumers

    // What a thread knows of its two rows, 8 apart.
    struct carry {
        float o[value_product::registers], s[score_product::registers];
        unsigned weights[score_product::registers / 2];
        float largest[2], sum[2], factor[2];
        int low[2], high[2]; // visible keys, less this thread's first column of a block
        bool raised;
    };

    DEV static void score(carry &c, shared_address q, shared_address k)
    {
        const auto a = operand(q), b = operand(k);
#pragma unroll
        for (int i = 0; i < head_dim / 16; i++)
            score_product::along(c.s, a + i / 4 * (q_panel >> 4) + i % 4 * 2, b + i / 4 * (panel_bytes >> 4) + i % 4 * 2, i != 0);
        product_commit();
    }
    DEV static void gather(carry &c, shared_address v)
    {
        const auto b = operand_across(v, panel_bytes);
#pragma unroll
        for (int i = 0; i < block_k / 16; i++)
            value_product::across(c.o, &c.weights[4 * i], b + i * 128);
        product_commit();
    }

    // Scores of block `block` to weights, in place; raises the rows' largest scores where they have grown enough.
    template <bool Masked> DEV static void weigh(carry &c, int block)
    {
        constexpr int R = score_product::registers;
        if constexpr (S::softcap > 0.0f) {
#pragma unroll
            for (int i = 0; i < R; i++) {
                const float e = machine_exp2(c.s[i] * (S::scale / S::softcap * 2.88539008178f)); // tanh(x) = 1 - 2 / (exp(2 x) + 1)
                c.s[i] = S::softcap * 1.44269504089f * (1.0f - __fdividef(2.0f, e + 1.0f));
            }
        }
        if constexpr (Masked) {
            const int first = block * block_k;
#pragma unroll
            for (int i = 0; i < R; i++) {
                const int h = i / 2 % 2, key = i / 4 * 8 + i % 2;
                const bool seen = key < c.high[h] - first && (S::window == 0 || key >= c.low[h] - first);
                c.s[i] = seen ? c.s[i] : take_max::identity();
            }
        }
        c.raised = false;
#pragma unroll
        for (int h = 0; h < 2; h++) {
            float most[2] = {c.s[2 * h], c.s[2 * h + 1]};
#pragma unroll
            for (int i = 4; i < R; i += 4) {
                most[0] = fmaxf(most[0], c.s[i + 2 * h]);
                most[1] = fmaxf(most[1], c.s[i + 2 * h + 1]);
            }
            float m = fmaxf(most[0], most[1]);
            m = fmaxf(m, warp_xor(m, 1)); // of the quad that has the row
            m = fmaxf(m, warp_xor(m, 2));
            const bool grown = (m - c.largest[h]) * unit > lazy; // also from -inf; no for -inf and -inf
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
    DEV static void pack_weights(carry &c)
    {
#pragma unroll
        for (int i = 0; i < score_product::registers / 2; i++)
            c.weights[i] = packed(type(), c.s[2 * i], c.s[2 * i + 1]);
    }
    DEV static void rescale(carry &c)
    {
        if (!c.raised)
            return;
#pragma unroll
        for (int i = 0; i < value_product::registers; i++)
            c.o[i] *= c.factor[i / 2 % 2];
    }

    // Rows of v beyond the last key hold anything; their weights are 0, but 0 * NaN is not. Only block 0 has any.
    DEV static void clear_tail(const tile &t, int i, ring<attention_ws> r, int group)
    {
        const int end = t.keys - (t.from + t.n - 1) * block_k;
        if (i > 0 || end >= block_k)
            return;
        if (t.n > 1) // k1 comes before v0
            r.step();
        const shared_address v = r.wait().memory;
        for (int j = end * 8 + thread_index() % 128; j < block_k * 8; j += 128)
#pragma unroll
            for (int c = 0; c < panels; c++)
                shared_zero(v + c * panel_bytes + j * 16);
        async_fence_shared();
        group_barrier(tail_barrier + group, 128);
    }

    DEV static void take_turn(int group)
    {
        if constexpr (S::ping_pong)
            group_barrier(token_barrier + group, 256);
    }
    DEV static void pass_turn(int group)
    {
        if constexpr (S::ping_pong)
            group_arrive(token_barrier + (group + 1 == groups ? 0 : group + 1), 256);
    }

    // Products of block i's scores and of block i-1's values in flight together; softmax of the former beside the latter.
    template <bool Masked>
    DEV static void step(carry &c, const tile &t, int i, shared_address q, ring<attention_ws> &r, int group)
    {
        const slot k = r.wait();
        const int k_at = r.position;
        r.step();
        take_turn(group);
        pin(c.s);
        pin(c.o);
        pin(c.weights);
        product_fence();
        score(c, q, k.memory);
        const slot v = r.wait();
        const int v_at = r.position;
        r.step();
        product_fence();
        gather(c, v.memory);
        pass_turn(group);
        product_wait<1>();
        pin(c.s);
        r.release_if(k_at, true);
        weigh<Masked>(c, t.from + t.n - 1 - i);
        product_wait<0>();
        pin(c.o);
        pin(c.weights);
        r.release_if(v_at, true);
        rescale(c);
        pack_weights(c);
    }

    DEV static void start(carry &c, const args &p, const tile &t, int first)
    {
#pragma unroll
        for (int i = 0; i < value_product::registers; i++)
            c.o[i] = 0.0f;
#pragma unroll
        for (int h = 0; h < 2; h++) {
            const int token = first + fragment::row(thread_index() % 128, 2 * h) / pack, column = thread_index() % 4 * 2;
            const bool exists = token < S::queries(p);
            c.largest[h] = take_max::identity();
            c.sum[h] = 0.0f;
            c.high[h] = (exists ? visible(p, t.batch, t.keys, token) : 0) - column;
            c.low[h] = (exists ? first_visible(p, t.batch, token) : 0) - column;
        }
    }

    // All warpgroups walk all blocks of the tile, so that they can take turns; blocks that none of its rows sees a warpgroup only releases.
    DEV static void skip_blocks(int n, ring<attention_ws> &r, int group)
    {
        for (int i = 0; i < n; i++) {
            if (i > 0) {
                take_turn(group);
                pass_turn(group);
                r.release_if(r.position, true);
                r.step();
            }
            r.release_if(r.position, true);
            r.step();
        }
    }

    DEV static void first_scores(carry &c, const tile &t, int i, shared_address q, ring<attention_ws> &r, int group)
    {
        const slot k = r.wait();
        if (i > 0)
            take_turn(group);
        pin(c.s);
        product_fence();
        score(c, q, k.memory);
        product_wait<0>();
        pin(c.s);
        if (i > 0)
            pass_turn(group);
        r.release_if(r.position, true);
        r.step();
        if (i > 0) { // the values of the last block that was skipped
            r.release_if(r.position, true);
            r.step();
        }
        weigh<true>(c, t.from + t.n - 1 - i);
        pack_weights(c);
        if constexpr (S::ragged)
            clear_tail(t, i, r, group);
    }

    DEV static void last_values(carry &c, ring<attention_ws> &r)
    {
        const slot v = r.wait();
        pin(c.o);
        pin(c.weights);
        product_fence();
        gather(c, v.memory);
        product_wait<0>();
        pin(c.o);
        pin(c.weights);
    }

    DEV static void compute(const args &p, const tile &t, const memory &m, unsigned parity, ring<attention_ws> &r, carry &c)
    {
        const int group = warpgroup() - 1, token = t.token + group * group_tokens, queries = S::queries(p);
        const int blocks_end = t.from + t.n, end = token + group_tokens < queries ? token + group_tokens : queries;
        const shared_address q = m.q(group);
        // Blocks below `to` are seen by some row of this warpgroup, those below `whole` and from `low` on by all of its rows.
        const bool exists = token < queries;
        const int to = exists ? ceil_div(visible(p, t.batch, t.keys, end - 1), block_k) : 0;
        const int whole = exists ? visible(p, t.batch, t.keys, token) / block_k : 0;
        const int low = S::window && exists ? ceil_div(first_visible(p, t.batch, end - 1), block_k) : t.from;
        const int skip = to > t.from ? blocks_end - to : t.n;
        int i = skip;
        skip_blocks(skip, r, group);
        barrier_wait(m.q_full(group), parity);
        if (skip < t.n) {
            first_scores(c, t, i++, q, r, group);
            for (; i < t.n && i < blocks_end - whole; i++)
                step<true>(c, t, i, q, r, group);
            for (; i < t.n && i < blocks_end - low; i++)
                step<false>(c, t, i, q, r, group);
            if constexpr (S::window != 0)
                for (; i < t.n; i++)
                    step<true>(c, t, i, q, r, group);
        }
        barrier_arrive_if(m.q_empty(group), thread_index() % 128 == 0);
        if (skip < t.n)
            last_values(c, r);
        r.release_if(r.position, true);
        r.step();
    }

    // Of a quad's four threads each has two columns of every eight; afterwards each has eight of every 32. u[j]: columns of eight j.
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

    DEV static void finish(const args &p, const tile &t, carry &c)
    {
        const int thread = thread_index() % 128, group = warpgroup() - 1;
#pragma unroll
        for (int h = 0; h < 2; h++) {
            float sum = c.sum[h];
            sum += warp_xor(sum, 1);
            sum += warp_xor(sum, 2);
            const float factor = sum == 0.0f ? 0.0f : 1.0f / sum;
            const int row = fragment::row(thread, 2 * h), token = t.token + group * group_tokens + row / pack;
#pragma unroll
            for (int i = 0; i < head_dim / 8; i += 4) {
                unsigned u[4];
#pragma unroll
                for (int j = 0; j < 4; j++)
                    u[j] = i + j < head_dim / 8 ? packed(type(), c.o[(i + j) * 4 % value_product::registers + 2 * h] * factor,
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
                if (token < S::queries(p) && column < head_dim)
                    S::template write<8>(p, t.batch, token, t.head + row % pack, column, 8, v);
            }
        }
    }

    DEV static void consume(const args &p, const memory &m)
    {
        ring<attention_ws> r = m.slots_ring();
        const int group = warpgroup() - 1;
        unsigned parity = 0;
        if (group == groups - 1)
            pass_turn(group); // the first turn is warpgroup 0's
        for (walk w = walk::first(); w.more(p); w.next()) {
            if (w.index() >= tiles(p))
                continue;
            const tile t = at(p, w.index());
            carry c;
            start(c, p, t, t.token + group * group_tokens);
            if (t.n > 0) {
                compute(p, t, m, parity, r, c);
                parity ^= 1;
            }
            finish(p, t, c);
        }
    }

    DEV static void run(const args &p)
    {
        extern __shared__ unsigned char ws_shared[];
        const memory m{(shared_at(ws_shared) + 1023) & ~1023u};
        if (thread_index() == 0) {
            const ring<attention_ws> r = m.slots_ring();
            for (int i = 0; i < slots; i++) {
                barrier_init(r.full(i), 1);
                barrier_init(r.empty(i), groups);
            }
            for (int g = 0; g < groups; g++) {
                barrier_init(m.q_full(g), 1);
                barrier_init(m.q_empty(g), 1);
            }
            barrier_init_done();
        }
        __syncthreads();
        if (thread_index() < 128) {
            registers_shrink<groups == 2 ? 24 : 32>();
            if (thread_index() == 0)
                produce(p, m);
        } else {
            registers_grow<groups == 2 ? 240 : 160>();
            consume(p, m);
        }
    }
};

#define TF_KERNEL_ATTENTION_WS(name, S)                                                                                             \
    extern "C" __global__ void __launch_bounds__(attention_ws<S>::threads, 1) name(const __grid_constant__ S::args p)               \
    {                                                                                                                               \
        attention_ws<S>::run(p);                                                                                                    \
    }
