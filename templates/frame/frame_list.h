// In: a list of several phases F (frame.h), whose programs have frames that ir/frame.def marks `list`, and its arguments. Out: one
// persistent launch over all their tiles: each tile waits for the tiles that it reads, is computed, and is published. All workgroups are
// resident. Refuses (static_assert) phases with different numbers of threads.
//
// F derives from phase_list<programs>. Each program P has in_list, the code with which its frame computes a single tile:
// - bytes<P>: shared memory that P needs
// - walk<P>: what a workgroup keeps from tile to tile, with three functions that all threads call. start(p, index): once, before the first
//   tile waits and before the previous launch has ended; it may load packed weights. look(p, index, shared): before a tile waits; it may
//   read what no phase writes. tile(p, index, next, shared): computes a tile, and may begin to load tile `next` (-1: there is none)
// - ringed (optional, true): P's weights pass through the launch's ring (frame_ring.h), and the walk has tile(p, index, last,
//   ring, shared, taken, stored) instead. It calls taken(), by all threads, once all of them have the tile's rows. It may call stored(), by
//   one thread, once the tile's results are stored, and returns whether it does
// - needs_total (optional, true): the walk has a member `total`. Before look() and tile(), it is set to the number of workgroups that take
//   part, which is less than block_total() if the census was closed. A program whose tiles wait for each other needs it
//
// If a program is ringed, the source defines TF_TEAM, the number of computing threads, and F has ring_pages and pages_in_flight.
#pragma once
#include "templates/frame/frame.h"
#include "templates/frame/marks.h"

constexpr int most(int x) { return x; }
template <class... More> constexpr int most(int x, int y, More... more) { return most(x > y ? x : y, more...); }

template <int I, class First, class... More> struct nth_program {
    using type = typename nth_program<I - 1, More...>::type;
};
template <class First, class... More> struct nth_program<0, First, More...> {
    using type = First;
};

template <class P, class = void> constexpr bool is_ringed = false;
template <class P> constexpr bool is_ringed<P, nothing<decltype(P::in_list::ringed)>> = true;

template <class P, class = void> constexpr bool needs_total = false;
template <class P> constexpr bool needs_total<P, nothing<decltype(P::in_list::needs_total)>> = true;

// What a ringed program's walk asks for before the workgroup has its seat.
template <class P, bool> struct first_rows {
    struct type {};
};
template <class P> struct first_rows<P, true> {
    using type = typename P::chunks;
};

#if !defined(TF_FED) // else frame_fed.h has this
template <class P> constexpr bool is_fed = false;
template <class F> constexpr bool begins_alone = false;
constexpr bool is_fed_launch = false;
#endif

template <class First, class... More> struct phase_list {
    static constexpr int phases = 1 + sizeof...(More), threads = First::threads;
    static constexpr int shared_bytes = most(First::in_list::template bytes<First>, More::in_list::template bytes<More>...);
    static_assert(((More::threads == threads) && ...), "tile: all phases of a launch have the same number of threads");
    template <int I> using program = typename nth_program<I, First, More...>::type;
};

// Rows come in words (words.h): F has in_words, no phase waits by marks, and the args of every phase have tf_words.
template <class F, class = void> constexpr bool has_words = false;
template <class F> constexpr bool has_words<F, nothing<decltype(F::in_words)>> = true;
template <bool Words, class Args> struct args_of_phase {
    using type = const Args &;
};
template <class Args> struct args_of_phase<true, Args> {
    using type = Args; // a copy, which gets the epoch
};

// If rows come in words, a program P with looks_ahead is asked to look at its first tile while the workgroup waits for the phase before: in
// place of walk::look(), in_list::look_ahead<P>(p, index, total, shared, again) is called, by all threads. It may use F::kept_bytes of
// memory behind the seat, which no other phase uses. It returns whether it has filled that. again: it has done so in an earlier layer.
template <class P, class = void> constexpr bool looks_ahead = false;
template <class P> constexpr bool looks_ahead<P, nothing<decltype(P::looks_ahead)>> = P::looks_ahead;
template <class F> constexpr int kept_bytes()
{
    if constexpr (has_words<F>) return F::kept_bytes;
    else return 0;
}

// If workgroups are counted (census.h), the workgroup's seat lies after the shared memory of the phases, where it takes no registers.
template <class F, class = void> constexpr bool is_counted = false;
template <class F> constexpr bool is_counted<F, nothing<decltype(F::counted)>> = F::counted;
template <class F> constexpr int before_seat = (F::shared_bytes + 15) / 16 * 16;
template <class F> constexpr int behind_seat = before_seat<F> + static_cast<int>(sizeof(seat));
template <class F> constexpr int phases_bytes = is_counted<F> || has_words<F> ? behind_seat<F> + kept_bytes<F>() : F::shared_bytes;
template <class F> DEV seat &seat_in(char *shared) { return *reinterpret_cast<seat *>(shared + before_seat<F>); }

// A list runs once or, in a stack, once for each layer (frame_stack.h). In a stack, functions of F take a layer_view in place of the
// arguments.
template <class At> constexpr bool is_layer = false;
template <class At> DEV int layer_of(const At &p)
{
    if constexpr (is_layer<At>) return p.layer;
    else return 0;
}
template <class At> DEV int layers_of(const At &p)
{
    if constexpr (is_layer<At>) return p.layers();
    else return 1;
}

// How the workgroups of a list wait for each other: F::waits is one of the following two.
//
// by_counters: each tile waits for the tiles that it reads (frame.h).
template <class F> struct by_counters {
    using args = typename F::args;
    DEV static int total() { return block_total(); }
    DEV void join(const args &, char *) {}
    DEV void prepare(const args &) const {}
    DEV int meet(const args &) const { return block_index(); }
    DEV bool waits(const args &p, const item<F> &w) { return F::needs(p, w.phase, w.index).count > 0; }
    DEV void await(const args &p, const item<F> &w)
    {
        if (thread_index() == 0) ::await<F>(p, w);
        barrier();
        device_acquire();
    }
    DEV bool posts(const args &p, const item<F> &w) { return F::posts(p, w.phase, w.index) >= 0; }
    DEV void post(const args &p, const item<F> &w) { publish<F>(p, w); }
    DEV void leave(const args &p, int)
    {
        if (thread_index() == 0) ::leave<F>(p);
    }
};

// by_phases: before its first tile of a phase, a workgroup waits until all tiles of certain earlier phases have ended; after its last tile
// of a phase for which others wait, it marks that (marks.h). F has
// - words(p): the memory of the marks
// - awaited(phase, n): the n-th earlier phase for which the phase waits; -1 after the last
// - awaited_before(phase, n), in a stack: the n-th phase of the previous layer for which the phase waits; -1 after the last
// - is_awaited(phase): another phase waits for this one
// - last_wait: the last phase that waits
//
// All phases of a layer have ended before a phase of the next layer begins, so marks are not reset between layers: they go on counting.
//
// If workgroups are counted (census.h), each waits for all others before its first tile. (Letting them compute tiles of the first phase
// before that wait was no faster on an H200, as the first wait for that phase then also waits for workgroups without a tile of it.) With a
// loading warpgroup it may compute that tile meanwhile, except for its epilogue (begins_alone in frame_fed.h).
template <class F> struct by_phases {
    bool looked = false; // a phase has looked ahead
    bool ended = false; // this workgroup has passed its last wait, and has marked that
    seat *seated; // the workgroup's seat in shared memory, if workgroups are counted or rows come in words
    unsigned long long ticket; // of join(), in the thread that counts the workgroup: as seat_of() in marks.h takes it

    DEV int total() const
    {
        if constexpr (F::counted) return seated->total;
        else return block_total();
    }
    template <class At> DEV int groups(const At &p, int phase) const
    {
        const int count = F::tiles(p, phase);
        return count < total() ? count : total();
    }
    // Three steps, of which only the last one, meet(), waits for other workgroups. It returns the workgroup's index; census::nobody: it has
    // to give up. Different waves read what they need at the same time, since each of these reads takes a trip to L2.
    static constexpr bool roomy = F::threads >= 4 * TF_WAVE;
    static constexpr int counter = roomy ? 2 * TF_WAVE : 0, timer = roomy ? TF_WAVE : F::threads - 1;
    template <class At> DEV void join(const At &p, char *shared)
    {
        if constexpr (F::counted || has_words<F>) seated = &seat_in<F>(shared);
        ticket = 0;
        if constexpr (F::counted)
            if (thread_index() == counter) ticket = marks{F::words(p)}.who(F::phases).join();
    }
    template <class At> DEV void prepare(const At &p) const
    {
        const marks m{F::words(p)};
        if (thread_index() >= F::threads - TF_WAVE) m.initialise(F::phases);
        if constexpr (has_words<F>)
            if (thread_index() == timer) seated->epoch = m.first_epoch();
    }
    template <class At> DEV int meet(const At &p) const
    {
        if constexpr (!F::counted && !has_words<F>) return block_index();
        if constexpr (F::counted)
            if (thread_index() == counter) {
                const seat own = marks{F::words(p)}.seat_of(F::phases, ticket);
                seated->index = own.index, seated->total = own.total, seated->gone = own.gone;
            }
        barrier();
        if constexpr (!F::counted) return block_index();
        return total() > 0 ? seated->index : census::nobody;
    }
    // Completes a phase's arguments, once meet() has been called.
    template <class At, class Args> DEV void add_words(const At &p, int phase, Args &a) const
    {
        a.tf_words.epoch = marks::epoch_of(seated->epoch + layer_of(p)), a.tf_words.phase = phase;
    }
    // Called by all threads when they have the rows of a tile of a launch whose rows come in words, the workgroup's last tile.
    template <class At> DEV void took_last(const At &p) { end(marks{F::words(p)}, thread_index() == 0); }

    template <class At> DEV static bool waits_before(const At &p, int phase)
    {
        if constexpr (is_layer<At>) return p.layer > 0 && F::awaited_before(phase, 0) >= 0;
        else return false;
    }
    template <class At> DEV bool waits(const At &p, const item<F> &w) const
    {
        return (F::awaited(w.phase, 0) >= 0 || waits_before(p, w.phase)) && w.index < total(); // a first phase may have no seat yet
    }
    template <class At> DEV void poll(const At &p, const marks &m, int phase) const
    {
        for (int n = 0, of; (of = F::awaited(phase, n)) >= 0; n++) m.await(phase, of, groups(p, of) * (layer_of(p) + 1));
        if constexpr (is_layer<At>)
            for (int n = 0, of; waits_before(p, phase) && (of = F::awaited_before(phase, n)) >= 0; n++)
                m.await(phase, of, groups(p, of) * p.layer);
    }
    template <class At> DEV void await(const At &p, const item<F> &w)
    {
        const marks m{F::words(p)};
        if (thread_index() == 0) poll(p, m, w.phase);
        device_acquire(); // on AMD this holds for the waiting thread's wave only, so every wave acquires again after the barrier
        barrier();
        device_acquire();
        if (w.phase == F::last_wait && layer_of(p) + 1 == layers_of(p)) end(m, thread_index() == 0);
    }
    template <class At> DEV bool posts(const At &p, const item<F> &w)
    {
        return F::is_awaited(w.phase) && w.index + total() >= F::tiles(p, w.phase);
    }
    template <class At> DEV void post(const At &p, const item<F> &w) { marks{F::words(p)}.publish(w.phase); }
    // next: the index of the workgroup's next tile if the last phase had more tiles, counted from its end. Exactly one workgroup has 0
    // (mostly one without a tile in the last phase): it clears the marks when all workgroups have passed their last wait and all marks have
    // arrived.
    template <class At> DEV void leave(const At &p, int next)
    {
        const marks m{F::words(p)};
        if (total() != block_total()) return leave_closed(m, layers_of(p));
        if (!ended) {
            barrier(); // after it, the wave that initialises the marks in begin() has done so
            end(m, thread_index() == 0);
        }
        if (next != 0) return;
        for (int i = thread_index(); i <= F::phases; i += F::threads)
            m.await_end(i, i == F::phases ? block_total() : F::is_awaited(i) ? groups(p, i) * layers_of(p) : 0);
        barrier();
        if constexpr (has_words<F>)
            if (thread_index() == 0) m.set_first_epoch(seated->epoch + layers_of(p));
        m.clear(F::phases, thread_index(), F::threads);
    }
    DEV void leave_closed(const marks &m, int layers) const // if the census was closed
    {
        barrier();
        if (thread_index() == 0 && m.end(F::phases))
            if constexpr (has_words<F>) m.set_first_epoch(seated->epoch + layers);
    }
    // yes: this is the one thread that marks it for the workgroup.
    DEV void end(const marks &m, bool yes)
    {
        if (yes && total() == block_total()) m.leave(F::phases);
        ended = true;
    }
};

// ---- the ring of a launch that has ringed programs
#if defined(TF_TEAM) && !defined(TF_FED)
template <class F> constexpr int list_bytes = sizeof(typename ring_of<F>::memory) + phases_bytes<F>;
template <class F> constexpr int list_threads = F::threads + TF_WAVE;
template <class F> using list_ring = typename ring_of<F>::reader;

// By the loading warp: puts into the ring, in order, the weights of the tiles that workgroup `index` of `total` computes in run_phases().
// Returns the same as run_phases().
template <class F, int Phase, class At, class Ring> DEV int feed_phases(const At &p, int index, int total, Ring &ring)
{
    using P = typename F::template program<Phase>;
    const int tiles = F::tiles(p, Phase);
    if constexpr (is_ringed<P>) {
        F::with(p, Phase, [&](auto program, const auto &a) {
            if constexpr (same_type<decltype(program), P>)
#pragma unroll 1
                for (; index < tiles; index += total) P::feed(a, P::at(a, index), ring);
        });
    } else if (index < tiles)
        index += ceil_div(tiles - index, total) * total;
    if constexpr (Phase + 1 < F::phases)
        return feed_phases<F, Phase + 1>(p, index - tiles, total, ring);
    else
        return index - tiles;
}

// If workgroups are counted (census.h), the loading warp begins before they are. It assumes that all workgroups will take part, which is
// nearly always so, and fills the ring once. Then it asks for the workgroup's seat, before it would overwrite a page. If the workgroup
// turns out to have other tiles, or none, the loading warp stops, the other warps release the pages that were loaded, and it begins again
// with the tiles of the seat.
template <class Writer> struct seated_writer {
    Writer &ring;
    const seat &own; // valid once the other warps have arrived at ring.memory.decided
    bool asked = false, stopped = false;

    DEV void ask()
    {
        asked = true;
        ring.memory.decided.wait(0, Writer::warps);
        stopped = !own.is_usual();
        if (!stopped || thread_index() % 32 != 0) return;
        ring.memory.fed = ring.written;
        ring.memory.stopped.arrive(0);
    }
    DEV void put(const void *from, int bytes)
    {
        if (!asked && ring.written == Writer::pages) ask();
        if (!stopped) ring.put(from, bytes);
    }
};
// By the loading warp: all weights of the launch. `shared`: shared memory behind the ring.
template <class F, class Writer> DEV void feed_list(const typename F::args &p, char *shared, Writer &writer)
{
    if constexpr (!is_counted<F>) {
        feed_phases<F, 0>(p, block_index(), block_total(), writer);
    } else {
        seated_writer<Writer> ring{writer, seat_in<F>(shared)};
        int index = block_index(), total = block_total();
        do {
            ring.stopped = false;
            feed_phases<F, 0>(p, index, total, ring);
            if (!ring.asked) ring.ask();
            index = ring.own.index, total = ring.own.total;
        } while (ring.stopped && total > 0);
    }
}
// By each of the other warps once the workgroup has its seat, before they read the ring.
template <class F> DEV void pass_seat(const seat &own, list_ring<F> &ring)
{
    if (thread_index() % 32 == 0) ring.memory.decided.arrive(0);
    if (own.is_usual()) return;
    ring.memory.stopped.wait(0, 1);
    for (unsigned page = 0, fed = ring.memory.fed; page < fed; page++) ring.give_back(ring.take(), 0);
}

// Splits shared memory: returns the ring, and moves `shared` behind it, to the memory of the phases. The loading warp calls feed(writer,
// memory of the phases); its threads then have `loads` set, and nothing is left for them to do.
template <class F, class Feed> DEV list_ring<F> open_ring(char *&shared, bool &loads, Feed feed)
{
    typename ring_of<F>::memory &memory = *reinterpret_cast<typename ring_of<F>::memory *>(shared);
    char *const rest = shared + sizeof memory;
    loads = ring_feed<F>(shared, [&](auto &writer) { feed(writer, rest); });
    shared = rest;
    return {memory};
}
#elif defined(TF_FED)
template <class F> constexpr int list_bytes = fed_head + phases_bytes<F> + fed_bytes<F>;
template <class F> constexpr int list_threads = F::threads + fed_loaders;
template <class F> using list_ring = fed_launch<F>;

// By the loading thread: acquires the marks for which the workgroup's first tile of a phase, `index`, waits.
template <class F, int Phase> DEV void feed_marks(const typename F::args &p, int index, typename F::waits &sync, const fed_launch<F> &feed)
{
    const item<F> w = {Phase, index};
    if (sync.waits(p, w)) sync.poll(p, marks{F::words(p)}, Phase);
    barrier_arrive_if(feed.known(Phase), true);
    if (Phase > 0 && Phase == F::last_wait) sync.end(marks{F::words(p)}, true);
}
// By each loading thread: with Weights, all TMA loads of weights, else all others. If the first phase begins_alone, the workgroup's seat is
// known after its first tile.
template <class F, int Phase, bool Weights>
DEV void feed_phases(const typename F::args &p, int index, typename F::waits &sync, fed_launch<F> &feed)
{
    using P = typename F::template program<Phase>;
    constexpr bool first = Phase == 0 && begins_alone<F>;
    const int tiles = F::tiles(p, Phase);
    if constexpr (is_fed<P>)
        F::with(p, Phase, [&](auto program, const auto &a) {
            if constexpr (same_type<decltype(program), P>) {
                if (first && index >= tiles) index = feed.sit(sync);
                if constexpr (!Weights || P::in_list::has_weights)
                    if (index < tiles)
                        P::in_list::template feed<P, Weights>(
                            a, feed.template place<Phase>(), index,
                            [&] {
                                if constexpr (!first) feed.template await_free<Weights>();
                                if constexpr (first && !Weights) previous_wait();
                                if constexpr (first || Weights) return;
                                feed_marks<F, Phase>(p, index, sync, feed);
                                proxy_fence();
                            },
                            [&](int i) {
                                if (!first || sync.seated) return i + sync.total();
                                const int own = feed.sit(sync);
                                return sync.seated->is_usual() ? i + sync.total() : own;
                            });
            }
        });
    if constexpr (first) index = sync.seated ? sync.seated->index : feed.sit(sync);
    if constexpr (!is_fed<P> && !Weights && Phase > 0)
        if (index < tiles) feed_marks<F, Phase>(p, index, sync, feed);
    if (sync.total() <= 0) return;
    if (index < tiles) index += ceil_div(tiles - index, sync.total()) * sync.total();
    if constexpr (Phase + 1 < F::phases) feed_phases<F, Phase + 1, Weights>(p, index - tiles, sync, feed);
}
template <class F, int Phase = 0> DEV void prefetch_phases(const typename F::args &p)
{
    using P = typename F::template program<Phase>;
    if constexpr (is_fed<P>)
        F::with(p, Phase, [&](auto program, const auto &a) {
            if constexpr (same_type<decltype(program), P>) P::in_list::template prefetch<P>(a);
        });
    if constexpr (Phase + 1 < F::phases) prefetch_phases<F, Phase + 1>(p);
}
// By the threads of the loading warpgroup. The first threads of the first and the last warp load, the second warp prefetches the tensor
// maps of later phases and initialises the marks, and a thread of the third takes the workgroup's seat.
template <class F> DEV void feed_list(const typename F::args &p, char *shared, fed_launch<F> &feed)
{
    static_assert(is_counted<F>, "workgroups of a launch with a loading warp are counted");
    const marks m{F::words(p)};
    const int thread = thread_index() - F::threads;
    if (thread / TF_WAVE == 1) {
        if (thread == TF_WAVE) prefetch_phases<F>(p);
        previous_wait();
        m.initialise(F::phases);
        barrier_arrive_if(feed.seated(), true);
    } else if (thread == 2 * TF_WAVE) {
        previous_wait();
        seat_in<F>(shared) = m.take_seat(F::phases);
        barrier_arrive_if(feed.seated(), true);
    } else if (thread == 0 || thread == 3 * TF_WAVE) {
        typename F::waits sync;
        sync.seated = nullptr;
        int index = block_index();
        if constexpr (!begins_alone<F>) index = feed.sit(sync);
        if (thread == 0)
            feed_phases<F, 0, false>(p, index, sync, feed);
        else
            feed_phases<F, 0, true>(p, index, sync, feed);
    }
}
template <class F> DEV void pass_seat(const seat &, fed_launch<F> &) {} // the loading warp has it

// Aligns the memory of the phases, and moves `shared` there. The loading threads call feed(launch, memory of the phases). They then have
// `loads` set, and nothing is left for them to do.
template <class F, class Feed> DEV fed_launch<F> open_ring(char *&shared, bool &loads, Feed feed)
{
    const shared_address at = shared_at(shared), memory = (at + fed_head - 1) / fed_head * fed_head;
#if defined(TF_ON_HOST)
    shared = host_shared<char>(memory);
#else
    shared += memory - at;
#endif
    fed_launch<F> launch{{memory, memory + phases_bytes<F>}, &seat_in<F>(shared), 0};
    const int lane = thread_index() - F::threads;
    loads = lane >= 0;
    if (loads && lane % TF_WAVE == 0) launch.initialise(lane / TF_WAVE);
    __syncthreads();
    if (loads) {
        registers_shrink<fed_loader_registers>();
#if defined(TF_ON_HOST)
        tf_hs_leave_barriers();
#endif
        feed(launch, shared);
        fed_loader_ends();
    } else {
        registers_grow<fed_registers>();
    }
    return launch;
}
#else
template <class F> constexpr int list_bytes = phases_bytes<F>;
template <class F> constexpr int list_threads = F::threads;
template <class F> struct list_ring {};
template <class F, class Feed> DEV list_ring<F> open_ring(char *&, bool &loads, Feed)
{
    loads = false;
    return {};
}
template <class F, int Phase, class At, class Ring> DEV int feed_phases(const At &, int index, int, Ring &) { return index; }
template <class F, class Writer> DEV void feed_list(const typename F::args &, const char *, Writer &) {}
template <class F> DEV void pass_seat(const seat &, list_ring<F> &) {}
#endif

// Returns x. Hides it from the compiler, which would otherwise compute x early and keep it in a register until a later phase needs it.
#if defined(TF_PHASES) && !defined(TF_ON_HOST) && !defined(__clang__)
DEV int not_kept(int x)
{
    asm volatile("" : "+r"(x));
    return x;
}
#else
DEV int not_kept(int x) { return x; }
#endif

template <class F, int Phase, class At> DEV void look_ahead(const At &p, int index, int total, char *shared, typename F::waits &sync)
{
    using P = typename F::template program<Phase>;
    if constexpr (looks_ahead<P>)
        F::with(p, Phase, [&](auto program, const auto &a) {
            if constexpr (same_type<decltype(program), P>)
                if (index < F::tiles(p, Phase))
                    if (P::in_list::template look_ahead<P>(a, index, total, shared, sync.looked)) sync.looked = true;
        });
}

// The same for the phase that follows one with `tiles` tiles, of which the workgroup's first is `index`.
template <class F, int Phase, class At>
DEV void look_beyond(const At &p, int index, int tiles, int total, char *shared, typename F::waits &sync)
{
    if constexpr (has_words<F> && Phase + 1 < F::phases)
        look_ahead<F, Phase + 1>(p, index < tiles ? total - 1 - (tiles - 1 - index) % total : index - tiles, total, shared, sync);
}

// Computes the workgroup's tiles of a phase, the first of which is `index`, then those of the later phases. Each phase has a loop of its
// own, because compilers keep in registers what is the same for all tiles of a loop. Returns `next` for leave().
template <class F, int Phase, class At, class Ring>
DEV int run_phases(const At &p, int index, char *shared, typename F::waits &sync, Ring &ring)
{
    using P = typename F::template program<Phase>;
    const int tiles = not_kept(F::tiles(p, Phase)); // reads arguments only: no memory may be read before previous_wait()
    F::with(p, Phase, [&](auto program, const auto &given) {
        if constexpr (same_type<decltype(program), P>) {
            typename args_of_phase<has_words<F>, typename P::args>::type a = given;
            if constexpr (has_words<F>)
                if (Phase > 0 || layer_of(p) > 0) sync.add_words(p, Phase, a);
            typename P::in_list::template walk<P> walk{}; // initialised, else the loop of a stack would keep what the previous layer left
            if (index < tiles) walk.start(a, index);
            bool seated = true; // the workgroup knows its seat
            constexpr bool opens_first = Phase == 0 && begins_alone<F>;
            constexpr bool asks_first = Phase == 0 && is_ringed<P> && is_counted<F>; // rows of the first tile are read before others join
            if constexpr (is_fed<P> && opens_first) walk.open(ring.template place<Phase>());
            [[maybe_unused]] typename first_rows<P, asks_first>::type rows = {};
            if constexpr (Phase == 0) {
                if (layer_of(p) == 0) {
                    previous_wait(); TF_TRACED(if (thread_index() == 0) trace_ready(p.tf_trace));
                    int own = index;
                    if constexpr (is_fed_launch) {
                        seated = !begins_alone<F> || index >= tiles;
                        if (seated) own = ring.sit(sync);
                    } else {
                        sync.join(p, shared);
                        if constexpr (asks_first)
                            if (index < tiles) walk.ask(a, index, shared, rows);
                        sync.prepare(p);
                        if constexpr (asks_first) {
                            // It looks ahead as if all workgroups took part, and again if they do not.
#pragma unroll 1
                            for (int total = block_total(), looks = 0;; total = sync.total(), sync.looked = false) {
                                look_beyond<F, Phase>(p, own, tiles, total, shared, sync);
                                if (looks++) break;
                                own = sync.meet(p);
                                if (sync.seated->is_usual()) break;
                            }
                            if (index < tiles) walk.keep(rows);
                        } else
                            own = sync.meet(p);
                    }
                    if constexpr (has_words<F>) sync.add_words(p, Phase, a);
                    if constexpr (is_counted<F>) pass_seat<F>(*sync.seated, ring);
                    if (own != index) {
                        if constexpr (is_ringed<P>) walk = {};
                        index = own;
                        if (index < tiles) walk.start(a, index);
                    }
                }
            }
            if constexpr (is_fed<P> && !opens_first)
                if (index < tiles) walk.open(ring.template open<Phase>());
            if constexpr (has_words<F>) {
                if constexpr (Phase == 0) look_ahead<F, 0>(p, index, sync.total(), shared, sync);
                if constexpr (!asks_first) look_beyond<F, Phase>(p, index, tiles, sync.total(), shared, sync);
            }
#pragma unroll 1
            for (int next; index < tiles; index = next) {
                const item<F> w = {Phase, index}; TF_TRACED(const int own = trace_slot<F>(p, w); trace_start(p.tf_trace, own, 0));
                next = index + (seated ? sync.total() : static_cast<int>(block_total()));
                if constexpr (needs_total<P>) walk.total = sync.total();
                walk.look(a, index, shared);
                if constexpr (is_fed_launch) {
                    sync.ended |= Phase > 0 && Phase == F::last_wait;
                    if constexpr (!is_fed<P>)
                        if (sync.waits(p, w)) ring.await_known(Phase);
                } else if (sync.waits(p, w))
                    sync.await(p, w); TF_TRACED(if constexpr (!is_fed<P>) trace_awaited(p.tf_trace, own, 0));
                bool posts;
                if constexpr (is_ringed<P>) {
                    const auto taken = [&] {
                        if constexpr (has_words<F> && Phase + 1 == F::phases)
                            if (next >= tiles && layer_of(p) + 1 == layers_of(p)) sync.took_last(p);
                    };
                    posts = !walk.tile(a, index, next >= tiles, ring, shared, taken, [&] {
                        if (sync.posts(p, w)) sync.post(p, w);
                    }) && sync.posts(p, w);
                } else if constexpr (opens_first) {
                    bool drops = false;
                    walk_first(program, walk, a, index, next < tiles ? next : -1, shared, [&] {
                        if (!seated) {
                            seated = true;
                            const int first = ring.sit(sync);
                            drops = !sync.seated->is_usual();
                            if (drops) next = first;
                        } TF_TRACED(trace_awaited(p.tf_trace, own, 0));
                        return !drops;
                    });
                    if (drops) {
                        if (next < tiles) walk.start(a, next);
                        continue;
                    }
                } else if constexpr (is_fed<P>) {
                    walk.tile(a, index, [&] {
                        if (index < sync.total()) ring.await_known(Phase); TF_TRACED(trace_awaited(p.tf_trace, own, 0));
                        return true;
                    });
                } else {
                    walk.tile(a, index, next < tiles ? next : -1, shared);
                }
                if constexpr (!is_ringed<P>) posts = sync.posts(p, w); TF_TRACED(trace_computed(p.tf_trace, own, 0));
                if (posts) device_release();
                if (!is_ringed<P> || next >= tiles) barrier(); // the next tile reuses the memory; ringed tiles alternate between two parts
                if (posts && thread_index() == 0) sync.post(p, w); TF_TRACED(trace_end(p.tf_trace, own, 0));
            }
        }
    });
    if constexpr (Phase + 1 < F::phases)
        return run_phases<F, Phase + 1>(p, index - tiles, shared, sync, ring);
    else
        return index - tiles;
}

template <class F> DEV void run_list(const typename F::args &p)
{ TF_TRACED(trace_enter(p.tf_trace, trace_total<F>(p)));
#if defined(TF_ON_HOST)
    TF_SHARED_DYN(char, shared);
#elif defined(__clang__)
    __shared__ __attribute__((aligned(16))) char memory[list_bytes<F>];
    char *shared = memory;
#else
    extern __shared__ __attribute__((aligned(128))) char memory[];
    char *shared = memory;
#endif
    typename F::waits sync;
    bool loads;
    next_may_start();
    list_ring<F> ring = open_ring<F>(shared, loads, [&](auto &writer, char *rest) { feed_list<F>(p, rest, writer); });
    if (loads) return;
    const int next = run_phases<F, 0>(p, block_index(), shared, sync, ring); TF_TRACED(trace_leave(p.tf_trace, 0));
    sync.leave(p, next);
}

#if defined(TF_ON_HOST)
#define TF_KERNEL_LIST(name, ...)                                                            \
    extern "C" __global__ void name(const __VA_ARGS__::args p) { run_list<__VA_ARGS__>(p); } \
    TF_EXPORT(name)
#elif defined(__clang__)
#define TF_KERNEL_LIST(name, ...)                                                                                       \
    extern "C" __global__ void __attribute__((amdgpu_flat_work_group_size(__VA_ARGS__::threads, __VA_ARGS__::threads))) \
    name(const __VA_ARGS__::args p)                                                                                     \
    {                                                                                                                   \
        run_list<__VA_ARGS__>(p);                                                                                       \
    }
#else
#define TF_KERNEL_LIST(name, ...)                                                                                                       \
    extern "C" __global__ void __launch_bounds__(list_threads<__VA_ARGS__>, 1) name(const __grid_constant__ __VA_ARGS__::args p) \
    {                                                                                                                                   \
        run_list<__VA_ARGS__>(p);                                                                                                       \
    }
#endif
