// In: one spec struct S of a rows phase (docs/architecture.md: rows). Out: its program: a team of threads a row, several rows a
// workgroup; S::steps reductions in order, then one write. The row stays in registers where it fits, else it is read again for each
// step. Refuses (static_assert) teams that do not divide the workgroup. The order of summation depends on N and the tile alone.
#pragma once

template <reduction Kind> struct joining : take_sum {};
template <> struct joining<reduction::max> : take_max {};
template <> struct joining<reduction::min> : take_min {};

template <class S> struct rows {
    using args = typename S::args;
    using context = typename S::context;
    static constexpr int V = S::V, team = S::team, rows_at_once = S::threads / team, slots = 1;
    static_assert(S::threads % team == 0, "tile: teams divide the workgroup");
    static constexpr int chunks = ceil_div(ceil_div(S::N, V), team);
    // What a thread may keep, in floats: half of the registers that a thread of so large a workgroup has, 128 at most.
    static constexpr int most_kept = S::threads <= 256 ? 128 : 128 * 256 / S::threads;
    static constexpr bool kept = chunks == 1 || (TF_WAVE > 1 && chunks * sizeof(typename S::template element<V>) <= 4u * most_kept);

    struct tile {
        int row;
    };
    struct carry {};
    struct slot {};
    struct scratch {
        float waves[S::threads / TF_WAVE + 1];
    };

    DEV static int tiles(const args &p) { return ceil_div(S::rows(p), rows_at_once); }
    DEV static tile at(const args &, int index) { return {index * rows_at_once + thread_index() / team}; }
    DEV static int stages(const args &, const tile &) { return 0; }
    DEV static void load(const args &, const tile &, int, slot &) {}
    template <class Ring> DEV static void compute(const args &, const tile &, Ring &, carry &) {}

    DEV static int column(int chunk) { return (chunk * team + thread_index() % team) * V; }

    // V sums side by side: neighbours do not wait for each other.
    template <int I>
    DEV static void term(const args &p, const context &c, const typename S::template element<V> &e, int row, int col, vec<float, V> &all)
    {
        using take = joining<S::kind(step<I>())>;
        vec<float, V> x = S::template term<V>(step<I>(), p, c, e, row, col);
        if (S::N % V && col + V > S::N) {
#pragma unroll
            for (int i = 0; i < V; i++)
                if (col + i >= S::N) x[i] = take::identity();
        }
        all = take::join(all, x);
    }

    // Rows that do not exist take part in the barriers of their workgroup and touch no memory.
    template <int I, class Each> DEV static void steps(const args &p, context &c, int row, bool exists, scratch &s, Each each)
    {
        if constexpr (I < S::steps) {
            using take = joining<S::kind(step<I>())>;
            vec<float, V> all = splat<V>(take::identity());
            if (exists) each([&](const typename S::template element<V> &e, int col) { term<I>(p, c, e, row, col, all); });
            const float total = team_join<take, team>(tree_join<take>(all), s.waves);
            if (exists) S::reduced(step<I>(), p, c, row, total);
            steps<I + 1>(p, c, row, exists, s, each);
        }
    }

    DEV static void finish(const args &p, const tile &t, carry &, scratch &s)
    {
        context c{};
        const int row = t.row;
        const bool exists = row < S::rows(p);
        if (exists) S::begin(p, row, c);
        if constexpr (kept) {
            typename S::template element<V> e[chunks];
            if (exists)
#pragma unroll
                for (int i = 0; i < chunks; i++)
                    if (column(i) < S::N) e[i] = S::template read<V>(p, row, column(i), S::N - column(i));
            walk(p, c, row, exists, s, [&](auto what) {
#pragma unroll
                for (int i = 0; i < chunks; i++)
                    if (column(i) < S::N) what(e[i], column(i));
            });
        } else {
            walk(p, c, row, exists, s, [&](auto what) {
                for (int i = 0; i < chunks; i++)
                    if (column(i) < S::N) what(S::template read<V>(p, row, column(i), S::N - column(i)), column(i));
            });
        }
    }

  private:
    template <class Each> DEV static void walk(const args &p, context &c, int row, bool exists, scratch &s, Each each)
    {
        steps<0>(p, c, row, exists, s, each);
        if (!exists) return;
        each([&](const typename S::template element<V> &e, int col) { S::template write<V>(p, c, e, row, col, S::N - col); });
        if (thread_index() % team == 0) S::write_row(p, c, row);
    }
};
