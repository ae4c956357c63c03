// Chooses each sequence's next token, so that decode steps can follow one another without the host. The token is that of the greatest
// logit, the lowest id if several are equal, or -1 if a logit is NaN. The kernel also writes the token's embedding, as the input of the
// next step, and the next position. If args.blocks is not 0, the maximum of each block of logits is given. Embeddings are computed as in
// runtime/generate/tokens.c.
#pragma once
#include "templates/frame/frame_mixed.h"
#include "templates/base/spec.h"

template <class T> struct next_token_of {
    using type = T;
    struct args { // also in runtime/generate/next_token.c
        const float *logits, *peaks; // [rows][vocabulary]; [rows][blocks]: maxima of blocks of logits
        const T *table, *positions;  // [vocabulary][hidden]; [last + 1][hidden], or null
        T *x;                        // [rows][hidden]
        int *pos, *count, *tokens;   // [rows]: position; [rows]: tokens made since the host set it to 0; [most][rows]: their ids
        int rows, vocabulary, blocks, hidden; // rows: one per sequence
        int last, most; // the last position that exists; how many tokens of each sequence are recorded
        float factor;   // by which embeddings are multiplied
    };
};

TF_LAYOUT(next_token_of<float>::args, rows, 64);
TF_LAYOUT(next_token_of<float>::args, factor, 88);
static_assert(sizeof(next_token_of<float>::args) == 96, "layout");

template <class S> struct next_token : without_k_loop {
    using args = typename S::args;
    using type = typename S::type;
    using in_list = mixed_in_list;
    static constexpr int stages = 1, threads = TF_WAVE == 1 ? 1 : 512;
    struct tile {
        int row;
    };
    struct scratch {
        float waves[threads / TF_WAVE + 1];
    };
    DEV static int tiles(const args &p) { return p.rows; }
    DEV static tile at(const args &, int index) { return {index}; }

    DEV static float greatest(const float *x, int count, scratch &s)
    {
        float most = take_max::identity();
        for (int i = thread_index(); i < count; i += threads) most = take_max::join(most, element_of(x + i));
        return team_join<take_max, threads>(most, s.waves);
    }
    // The first index at which x is equal to `to`; `count` if there is none, for example because `to` is NaN. Computed in f32, which is
    // exact for indices up to 2^24.
    DEV static int first_equal(const float *x, int count, float to, scratch &s)
    {
        float first = static_cast<float>(count);
        for (int i = thread_index(); i < count; i += threads)
            if (element_of(x + i) == to) first = take_min::join(first, static_cast<float>(i));
        return static_cast<int>(team_join<take_min, threads>(first, s.waves));
    }
    DEV static int choose(const args &p, int row, scratch &s)
    {
        const float *logits = p.logits + static_cast<long long>(row) * p.vocabulary;
        const float *peaks = p.blocks ? p.peaks + static_cast<long long>(row) * p.blocks : logits;
        const int count = p.blocks ? p.blocks : p.vocabulary, size = p.vocabulary / count;
        const float most = greatest(peaks, count, s);
        const int block = first_equal(peaks, count, most, s);
        if (block == count) return -1;
        const int within = first_equal(logits + static_cast<long long>(block) * size, size, most, s);
        return within == size ? -1 : block * size + within;
    }

    // The product and the sum are computed in f32, and each is rounded.
    DEV static void embed(const args &p, int row, int id, int position)
    {
        constexpr int V = 4;
        const type *from = p.table + static_cast<long long>(id) * p.hidden;
        type *to = p.x + static_cast<long long>(row) * p.hidden;
        for (int i = thread_index() * V; i < p.hidden; i += threads * V) {
            const int left = p.hidden - i;
            vec<float, V> x = ::load<V>(from + i, left);
            if (p.factor != 1.0f) x = op_cast<type>(op_mul(x, p.factor));
            if (p.positions) x = op_add(x, ::load<V>(p.positions + static_cast<long long>(position) * p.hidden + i, left));
            store<V>(to + i, left, x);
        }
    }

    DEV static void finish(const args &p, const tile &t, accumulators &, scratch &s)
    {
        const int row = t.row, id = choose(p, row, s), made = element_of(p.count + row), before = element_of(p.pos + row);
        const int position = before < p.last ? before + 1 : p.last;
        barrier(); // all threads have read the numbers that the first one now changes
        embed(p, row, id < 0 ? 0 : id, position);
        if (thread_index() != 0) return;
        put_element(p.pos + row, position);
        put_element(p.count + row, made + 1);
        if (made < p.most) put_element(p.tokens + made * p.rows + row, id);
    }
};

#define TF_NEXT_TOKEN(name, T) TF_KERNEL(name##_, next_token<next_token_of<T>>::threads, next_token_of<T>, next_token<next_token_of<T>>)
TF_NEXT_TOKEN(next_token_f32, float)
TF_NEXT_TOKEN(next_token_f16, f16)
TF_NEXT_TOKEN(next_token_bf16, bf16)
