// Attention on SIMT instructions, made from a phase's spec struct S (docs/spec-structs.md: attention): an online softmax over blocks of
// keys (M. Milakov, N. Gimelshein, "Online normalizer calculation for softmax", 2018). A team of threads computes a query row; keys and
// values of a block are in shared memory.
//
// Lengths are arbitrary. A row with no visible key is zeros. The score of a masked key is replaced and values of weight 0 are skipped, so
// their memory may hold anything. Refuses (static_assert) teams wider than a wave, and threads != block_q * team.
#pragma once
#include "templates/frame/frame_mixed.h"
#include "templates/base/spec.h"
#include "templates/attention/visible.h"

// N columns of one thread, as an array of vectors over which operations loop.
template <int N> struct long_columns {
    static constexpr int width = N % 16 == 0 ? 16 : 4, pieces = N / width;
    using piece = vec<float, width>;
    piece e[pieces];

    DEV float operator[](int i) const { return e[i / width][i % width]; }
    template <class Y> DEV long_columns &operator+=(const Y &y) { return *this = *this + y; }
    DEV long_columns &operator*=(float y) { return *this = *this * y; }
    DEV friend long_columns operator+(long_columns x, const long_columns &y)
    {
#pragma unroll 1
        for (int i = 0; i < pieces; i++) x.e[i] += y.e[i];
        return x;
    }
    DEV friend long_columns operator*(long_columns x, const long_columns &y)
    {
#pragma unroll 1
        for (int i = 0; i < pieces; i++) x.e[i] *= y.e[i];
        return x;
    }
    DEV friend long_columns operator*(long_columns x, float y)
    {
#pragma unroll 1
        for (int i = 0; i < pieces; i++) x.e[i] *= y;
        return x;
    }
};
template <class Take, int N> DEV float tree_join(long_columns<N> x)
{
    for (int n = long_columns<N>::pieces; n > 1; n = n / 2 + n % 2) {
#pragma unroll 1
        for (int i = 0; i < n / 2; i++) x.e[i] = Take::join(x.e[i], x.e[n / 2 + n % 2 + i]);
    }
    return tree_join<Take>(x.e[0]);
}

// N columns of one thread (on a CPU a whole head): one vector, or above 256 columns long_columns, because compilers take minutes for a
// vector of that length.
template <int N, bool Long = (N > 256)> struct columns_of {
    using type = vec<float, N>;
    DEV static type zero() { return splat<N>(0.0f); }
    template <class T> DEV static type load(const T *from, int left) { return ::load<N>(from, left); }
    template <class T> DEV static type load_aligned(const T *from) { return ::load_aligned<N>(from); }
};
template <int N> struct columns_of<N, true> {
    using type = long_columns<N>;
    DEV static type zero()
    {
        type x;
#pragma unroll 1
        for (int i = 0; i < type::pieces; i++) x.e[i] = splat<type::width>(0.0f);
        return x;
    }
    template <class T> DEV static type load(const T *from, int left)
    {
        type x;
#pragma unroll 1
        for (int i = 0; i < type::pieces; i++) x.e[i] = ::load<type::width>(from + i * type::width, left - i * type::width);
        return x;
    }
    template <class T> DEV static type load_aligned(const T *from) { return load(from, N); }
};
template <int N> using columns = typename columns_of<N>::type;

// Which columns of a head a thread of a team has: `count` adjacent ones, from first() on.
template <int HeadDim, int Team> struct head_part {
    static constexpr int count = ceil_div(ceil_div(HeadDim, Team), 4) * 4;
    DEV static int first() { return thread_index() % Team * count; }
    // Reads them. Aligned: heads begin at multiples of 16 bytes.
    template <bool Aligned, class T> DEV static columns<count> read(const T *row)
    {
        constexpr int bytes = count * static_cast<int>(sizeof(T));
        if constexpr (Aligned && count * Team == HeadDim && (bytes % 16 == 0 || bytes == 8))
            return columns_of<count>::load_aligned(row + first());
        else
            return columns_of<count>::load(row + first(), HeadDim - first());
    }
};

// One row's online softmax. o is the sum of exp(score - largest) * values over the keys so far, `sum` that of exp(score - largest).
template <int N> struct softmax_row {
    columns<N> o;
    float largest, sum;

    DEV void clear()
    {
        o = columns_of<N>::zero();
        largest = take_max::identity();
        sum = 0.0f;
    }
    // Takes in a score: updates `largest`, rescales `sum`, and returns the factor by which the caller must rescale `o`.
    DEV float raise(float score)
    {
        const float before = largest;
        largest = take_max::join(before, score);
        const float scale = before == take_max::identity() ? 0.0f : weight_exp(before - largest);
        sum *= scale;
        return scale;
    }
    template <int K> DEV vec<float, K> weights(const vec<float, K> &score) const
    {
        vec<float, K> w = weight_exp(score - splat<K>(largest));
#pragma unroll
        for (int j = 0; j < K; j++)
            if (score[j] == take_max::identity()) w[j] = 0.0f; // even if the largest score is infinite or NaN
        return w;
    }
    // An attention sink: a score without a value, which only lowers the weights of the others.
    DEV void add_sink(float score)
    {
        if (score == take_max::identity()) return;
        o *= raise(score);
        sum += weight_exp(score - largest);
    }
    DEV columns<N> result() const { return sum == 0.0f ? columns_of<N>::zero() : o * (1.0f / sum); }
};

// A row's sums over its keys. With many keys (Long), chains of keys_in_a_chain keys are summed apart and then added up, as blocked sums.
enum { keys_in_a_chain = 2048 };
template <int N, bool Long> struct key_sums : softmax_row<N> {
    DEV void end_chain() {}
    DEV void end() {}
};
template <int N> struct key_sums<N, true> : softmax_row<N> {
    columns<N> all;
    float all_sum, all_largest; // all_largest: the score that `all` and all_sum are relative to

    DEV void clear()
    {
        softmax_row<N>::clear();
        all = columns_of<N>::zero();
        all_sum = 0.0f;
        all_largest = take_max::identity();
    }
    DEV void end_chain()
    {
        end();
        all = this->o;
        all_sum = this->sum;
        all_largest = this->largest;
        this->o = columns_of<N>::zero();
        this->sum = 0.0f;
    }
    // Adds the sums of earlier chains to those of the current one, which then cover all keys so far.
    DEV void end()
    {
        const float scale = all_largest == take_max::identity() ? 0.0f : weight_exp(all_largest - this->largest);
        this->o = all * scale + this->o;
        this->sum = all_sum * scale + this->sum;
    }
};

// Whether a query at `position` sees a key, by the causal mask and the window. Without a causal mask, a window reaches as far ahead as
// back.
template <class S> DEV bool key_is_visible(int key, int position, int window)
{
    const bool early = S::causal ? key <= position : S::window == 0 || key - window < position;
    return early && (S::window == 0 || key > position - window);
}

template <class S, class X> DEV X shaped_score(X dot)
{
    const X score = dot * S::scale;
    if constexpr (S::softcap > 0.0f)
        return S::softcap * op_tanh(score * (1.0f / S::softcap));
    else
        return score;
}

template <class S> struct attention {
    using args = typename S::args;
    using in_list = mixed_in_list;
    static constexpr int value_dim = value_head<S>::size;
    using head = head_part<S::head_dim, S::team>;
    using values = head_part<value_dim, S::team>;
    static constexpr int block_q = S::block_q, block_k = S::block_k, threads = S::threads, stages = 1, width = head::count * S::team,
                         value_width = values::count * S::team, most_width = width > value_width ? width : value_width;
    static_assert(block_q * S::team == threads && S::team <= TF_WAVE, "tile: threads = block_q * team, and team is at most a wave");
    // alone: on a CPU, a thread has whole rows and computes the scores of many keys side by side, as vectors, from transposed keys. On a
    // GPU, each thread of a team has a part of the row, and the team adds up one score at a time.
    static constexpr bool alone = S::team == 1 && TF_WAVE == 1;
    // Keys whose scores are in registers at a time.
    static constexpr int at_once = alone && block_k % 32 == 0 ? 32 : block_k % 4 == 0 ? 4 : 1;
    static constexpr int piece = alone && width % 16 == 0 && value_width % 16 == 0 ? 16 : 4; // columns that a thread loads at a time

    struct tile {
        int batch, head, first, token; // first: the block's first query; token: this thread's query
        int from, to;                  // keys from..to-1 are loaded; `from` is `low` rounded down to a multiple of block_k
        int low;                       // the queries of the block see only keys low..to-1
    };
    struct accumulators {
        key_sums<values::count, S::long_lists> row;
        int position, window;
        bool exists;
        float slope;
        row_of_bias<S> bias;
    };
    struct alignas(16) stage {
        float k[alone ? width : block_k][alone ? block_k : width], v[block_k][value_width];
    };
    struct scratch {
    };

    DEV static int blocks(const args &p) { return ceil_div(S::queries(p), block_q); }
    DEV static int tiles(const args &p) { return blocks(p) * S::heads * S::batches(p); }
    // Tiles with many keys come first: under a causal mask, those of the last queries.
    DEV static tile at(const args &p, int index)
    {
        const int pairs = S::heads * S::batches(p), block = blocks(p) - 1 - index / pairs, pair = index % pairs;
        tile t;
        t.batch = pair / S::heads;
        t.head = pair % S::heads;
        t.first = block * block_q;
        t.token = t.first + thread_index() / S::team;
        const int keys = S::keys(p, t.batch), last = t.first + block_q < S::queries(p) ? t.first + block_q - 1 : S::queries(p) - 1;
        const int later = S::window ? window_end<S>(p, S::position(p, t.batch, last), keys) : keys;
        const int seen = S::causal ? S::position(p, t.batch, last) + 1 : later;
        t.to = seen < keys ? seen : keys;
        t.low = visible_start<S>(p, t.batch, S::window ? S::position(p, t.batch, t.first) : 0);
        t.from = t.low / block_k * block_k; // blocks are counted from key 0, so the order of a row's sums depends on the row alone
        return t;
    }
    DEV static int k_tiles(const args &, const tile &t) { return t.to > t.from ? ceil_div(t.to - t.from, block_k) : 0; }

    DEV static void load(const args &p, const tile &t, int k_tile, stage &s)
    {
        const int first = t.from + k_tile * block_k, group = t.head / (S::heads / S::kv_heads);
        for (int i = thread_index(); i < block_k * (most_width / piece); i += threads) {
            const int line = i / (most_width / piece), d = i % (most_width / piece) * piece, key = first + line;
            vec<float, piece> k = splat<piece>(0.0f), v = splat<piece>(0.0f);
            if (key < t.to) {
                if (d < S::head_dim) k = columns_from<S::head_dim>(S::k(p, t.batch, key, group), d);
                if (d < value_dim) v = columns_from<value_dim>(S::v(p, t.batch, key, group), d);
            }
            if (value_width == most_width || d < value_width) store_aligned<piece>(&s.v[line][d], v);
            if (width < most_width && d >= width) continue;
            if constexpr (alone) {
#pragma unroll
                for (int e = 0; e < piece; e++) s.k[d + e][line] = k[e];
            } else
                store_aligned<piece>(&s.k[line][d], k);
        }
    }

    // Columns d, d + 1, ... of a head that has Size columns; zeros beyond its end.
    template <int Size, class T> DEV static vec<float, piece> columns_from(const T *row, int d)
    {
        if constexpr (S::aligned && Size % 8 == 0 && Size % piece == 0)
            return load_aligned<piece>(row + d);
        else
            return ::load<piece>(row + d, Size - d);
    }

    using scores = vec<float, at_once>;

    DEV static scores dots(const float *q, const stage &s, int j0)
    {
        scores all;
        if constexpr (alone) {
            scores part[4] = {splat<at_once>(0.0f), splat<at_once>(0.0f), splat<at_once>(0.0f), splat<at_once>(0.0f)};
            for (int d = 0; d < head::count; d += 4) {
#pragma unroll
                for (int e = 0; e < 4; e++) part[e] += load_aligned<at_once>(&s.k[d + e][j0]) * q[d + e];
            }
            all = (part[0] + part[1]) + (part[2] + part[3]);
        } else {
#pragma unroll
            for (int j = 0; j < at_once; j++) {
                const vec<float, head::count> k = load_aligned<head::count>(&s.k[j0 + j][head::first()]);
                vec<float, head::count> x;
#pragma unroll
                for (int e = 0; e < head::count; e++) x[e] = q[e] * k[e];
                all[j] = wave_join<take_sum, S::team>(tree_join<take_sum>(x));
            }
        }
        return all;
    }

    DEV static bool is_padding(int key, int low) { return has_first<S>::value && key < low; }
    // Whether a query at `position` sees all at_once keys from `key` on, so that they need no mask.
    DEV static bool all_visible(int key, int low, int to, int position, int window)
    {
        return key + at_once <= to && !is_padding(key, low) && key_is_visible<S>(key, position, window) &&
               key_is_visible<S>(key + at_once - 1, position, window);
    }

    DEV static void block(accumulators &c, const float *q, const stage &s, int first, int low, int to)
    {
        const int column = values::first();
        for (int j0 = 0; j0 < block_k && first + j0 < to; j0 += at_once) {
            scores score = shaped_score<S>(dots(q, s, j0));
            if constexpr (has_alibi<S>::value) {
#pragma unroll
                for (int j = 0; j < at_once; j++) score[j] -= c.slope * magnitude(static_cast<float>(first + j0 + j - c.position));
            }
            c.bias.add(score, first + j0);
            if (!alone || !all_visible(first + j0, low, to, c.position, c.window)) {
#pragma unroll
                for (int j = 0; j < at_once; j++) {
                    const int key = first + j0 + j;
                    const bool seen = key < to && !is_padding(key, low) && key_is_visible<S>(key, c.position, c.window);
                    score[j] = seen ? static_cast<float>(score[j]) : take_max::identity();
                }
            }
            const float largest = tree_join<take_max>(score);
            if (largest == take_max::identity()) continue; // the whole team continues, as it has the same scores
            c.row.o *= c.row.raise(largest);
            const scores w = c.row.weights(score);
            c.row.sum += tree_join<take_sum>(w);
#pragma unroll
            for (int j = 0; j < at_once; j++) {
                if (w[j] == 0.0f) continue;
                c.row.o += columns_of<values::count>::load_aligned(&s.v[j0 + j][column]) * w[j];
            }
        }
    }

    template <class Ring> DEV static void compute(const args &p, const tile &t, Ring &ring, accumulators &c)
    {
        c.row.clear();
        c.exists = t.token < S::queries(p);
        c.position = c.exists ? S::position(p, t.batch, t.token) : -1;
        c.window = window_of<S>(p);
        if constexpr (has_alibi<S>::value) c.slope = S::slope(t.head);
        c.bias.find(p, t.batch, c.exists ? t.token : 0, t.head);
        const columns<head::count> read =
            c.exists ? head::template read<S::aligned>(S::q(p, t.batch, t.token, t.head)) : columns_of<head::count>::zero();
        float q[head::count];
        if constexpr (head::count > 256) {
#pragma unroll 1
            for (int e = 0; e < head::count; e++) q[e] = read[e];
        } else {
#pragma unroll
            for (int e = 0; e < head::count; e++) q[e] = read[e];
        }
        while (ring.k_tile < ring.k_tiles) {
            const stage &s = ring.wait();
            const int first = t.from + ring.k_tile * block_k;
            block(c, q, s, first, t.low, c.exists ? t.to : 0);
            if (first / keys_in_a_chain != (first + block_k) / keys_in_a_chain) c.row.end_chain();
            ring.release();
        }
    }

    DEV static void finish(const args &p, const tile &t, accumulators &c, scratch &)
    {
        const int left = value_dim - values::first();
        if (!c.exists || left <= 0) return;
        c.row.end();
        if constexpr (has_sinks<S>::value) c.row.add_sink(S::sink(p, t.head));
        write(p, t, left < values::count ? left : values::count, c.row.result());
    }

  private:
    DEV static void write(const args &p, const tile &t, int left, const vec<float, values::count> &o)
    {
        S::template write<values::count>(p, t.batch, t.token, t.head, values::first(), left, o);
    }
    DEV static void write(const args &p, const tile &t, int left, const long_columns<values::count> &o)
    {
        constexpr int width = long_columns<values::count>::width;
#pragma unroll 1
        for (int i = 0; i < long_columns<values::count>::pieces && left > 0; i++, left -= width)
            S::template write<width>(p, t.batch, t.token, t.head, values::first() + i * width, left < width ? left : width, o.e[i]);
    }
};
