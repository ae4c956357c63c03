// Flash-decoding on SIMT instructions: `decode` computes few queries over a cache whose keys are split among workgroups, `combine` is the
// split-KV reduction after it (docs/spec-structs.md: attention). Each split stores its unnormalised o, its largest score and its sum.
// combine adds them in the order of the splits, so results are reproducible bit for bit. Refuses (static_assert) teams wider than a wave.
#pragma once
#include "templates/attention/attention.h"

template <class S> struct decode : without_k_loop {
    using args = typename S::args;
    using in_list = mixed_in_list;
    static constexpr int value_dim = value_head<S>::size;
    using head = head_part<S::head_dim, S::team>;
    using values = head_part<value_dim, S::team>;
    static constexpr int threads = S::threads, stages = 1, teams = threads / S::team, group = S::heads / S::kv_heads;
    static_assert(S::team <= TF_WAVE && threads % S::team == 0, "tile: team divides threads, and is at most a wave");
    static constexpr int at_once = (head::count <= 16 && values::count <= 16) || TF_WAVE == 1 ? 4 : 2; // keys that a team loads at a time

    struct tile {
        int batch, kv_head, split, from, to; // keys of the split
    };
    struct scratch {
        float part[teams][value_dim + 2];
    };

    DEV static int tiles(const args &p) { return S::splits * S::kv_heads * S::batches(p); }
    DEV static tile at(const args &p, int index)
    {
        tile t;
        t.split = index % S::splits;
        t.kv_head = index / S::splits % S::kv_heads;
        t.batch = index / S::splits / S::kv_heads;
        const int keys = S::keys(p, t.batch), first = first_key<S>(p, t.batch), each = ceil_div(keys > first ? keys - first : 0, S::splits);
        t.from = first + t.split * each;
        t.to = t.from + each < keys ? t.from + each : keys;
        return t;
    }

    // Sums up every stride-th key of the split for a row, from its `first` key on; at_once keys at a time, so that their loads are in
    // flight together.
    DEV static void one_row(const args &p, const tile &t, int token, int h, int first, int stride,
                            key_sums<values::count, S::long_lists> &row)
    {
        const columns<head::count> q = head::template read<S::aligned>(S::q(p, t.batch, token, h));
        const int position = S::position(p, t.batch, token), oldest = position - window_of<S>(p) + 1;
        const int from = S::window && oldest > t.from ? oldest : t.from, to = S::causal && position < t.to ? position + 1 : t.to;
        int chain = 0;
        for (int key0 = from + first; key0 < to; key0 += at_once * stride) {
            if ((chain += at_once) > keys_in_a_chain) {
                row.end_chain();
                chain = at_once;
            }
            columns<values::count> v[at_once];
            vec<float, at_once> score;
#pragma unroll
            for (int j = 0; j < at_once; j++) {
                const int key = key0 + j * stride < to ? key0 + j * stride : to - 1;
                const columns<head::count> x = q * head::template read<S::aligned>(S::k(p, t.batch, key, t.kv_head));
                v[j] = values::template read<S::aligned>(S::v(p, t.batch, key, t.kv_head));
                score[j] = wave_join<take_sum, S::team>(tree_join<take_sum>(x));
            }
            score = shaped_score<S>(score);
            if constexpr (has_alibi<S>::value) {
#pragma unroll
                for (int j = 0; j < at_once; j++) score[j] -= S::slope(h) * magnitude(static_cast<float>(key0 + j * stride - position));
            }
#pragma unroll
            for (int j = 1; j < at_once; j++)
                if (key0 + j * stride >= to) score[j] = take_max::identity();
            const float largest = tree_join<take_max>(score);
            if (largest == take_max::identity()) continue;
            row.o *= row.raise(largest);
            const vec<float, at_once> w = row.weights(score);
            row.sum += tree_join<take_sum>(w);
#pragma unroll
            for (int j = 0; j < at_once; j++)
                if (w[j] != 0.0f) row.o += v[j] * w[j];
        }
    }

    DEV static void finish(const args &p, const tile &t, accumulators &, scratch &s)
    {
        // A row is one head of the GQA group for one query. With more teams than rows, several teams divide a row's keys.
        const int rows = group * S::queries(p), team = thread_index() / S::team;
        const int at_once = rows < teams ? rows : teams, sharing = teams / at_once;
        for (int row0 = 0; row0 < rows; row0 += at_once) {
            const int row = row0 + team % at_once, share = team / at_once;
            key_sums<values::count, S::long_lists> r;
            r.clear();
            if (row < rows && share < sharing) one_row(p, t, row / group, t.kv_head * group + row % group, share, sharing, r);
            r.end();
            put(s.part[team], r);
            barrier();
            for (int i = thread_index(); i < at_once * value_dim; i += threads)
                if (row0 + i / value_dim < rows) join(p, t, s, row0, i / value_dim, i % value_dim, at_once, sharing);
            barrier();
        }
    }

  private:
    DEV static void put(float *to, const softmax_row<values::count> &r)
    {
#pragma unroll
        for (int e = 0; e < values::count; e++)
            if (values::first() + e < value_dim) to[values::first() + e] = r.o[e];
        if (thread_index() % S::team == 0) {
            to[value_dim] = r.largest;
            to[value_dim + 1] = r.sum;
        }
    }
    DEV static void join(const args &p, const tile &t, const scratch &s, int row0, int in, int d, int at_once, int sharing)
    {
        float largest = take_max::identity(), sum = 0, o = 0;
        for (int i = 0; i < sharing; i++) largest = take_max::join(largest, s.part[i * at_once + in][value_dim]);
        for (int i = 0; i < sharing; i++) {
            const float *part = s.part[i * at_once + in];
            const float scale = part[value_dim] == take_max::identity() ? 0.0f : exact_exp(part[value_dim] - largest);
            if (scale == 0.0f) continue;
            sum += part[value_dim + 1] * scale;
            o += part[d] * scale;
        }
        const int row = row0 + in;
        float *to = S::partial(p, t.batch, t.kv_head * group + row % group, row / group, t.split);
        to[d] = o;
        if (d == 0) {
            to[value_dim] = largest;
            to[value_dim + 1] = sum;
        }
    }
};

template <class S> struct combine : without_k_loop {
    using args = typename S::args;
    using in_list = mixed_in_list;
    static constexpr int threads = S::threads, stages = 1;
    struct tile {
        int batch, token, head;
    };
    struct scratch {
    };

    DEV static int tiles(const args &p) { return S::heads * S::queries(p) * S::batches(p); }
    DEV static tile at(const args &p, int index)
    {
        const int token = index / S::heads;
        return {token / S::queries(p), token % S::queries(p), index % S::heads};
    }
    DEV static void finish(const args &p, const tile &t, accumulators &, scratch &)
    {
        float largest = take_max::identity(), sum = 0;
        // Loops are unrolled, so that many loads are in flight.
#pragma unroll 8
        for (int i = 0; i < S::splits; i++) largest = take_max::join(largest, part(p, t, i)[S::head_dim]);
#pragma unroll 8
        for (int i = 0; i < S::splits; i++) sum += part(p, t, i)[S::head_dim + 1] * factor(part(p, t, i)[S::head_dim], largest);
        const float scale = sum == 0.0f ? 0.0f : 1.0f / sum;
        for (int d = thread_index(); d < S::head_dim; d += threads) {
            float o = 0;
#pragma unroll 8
            for (int i = 0; i < S::splits; i++) {
                const float f = factor(part(p, t, i)[S::head_dim], largest), x = part(p, t, i)[d];
                o += f == 0.0f ? 0.0f : x * f;
            }
            S::template write<1>(p, t.batch, t.token, t.head, d, 1, splat<1>(o * scale));
        }
    }

  private:
    DEV static const float *part(const args &p, const tile &t, int split) { return S::partial(p, t.batch, t.head, t.token, split); }
    DEV static float factor(float own, float largest) { return own == take_max::identity() ? 0.0f : exact_exp(own - largest); }
};
