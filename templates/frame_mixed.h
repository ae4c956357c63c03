// In: one tile program P and its arguments. Out: the mixed frame on machines without asynchronous copies in use: every thread loads and
// computes; a workgroup takes tiles block_index(), block_index() + block_total(), ... Refuses nothing.
//
// P: args, tile, carry, slot, scratch (types), slots (1 or 2), tiles(p), at(p, index) -> tile, stages(p, tile) >= 0,
//    load(p, tile, stage, slot), compute(p, tile, ring, carry), finish(p, tile, carry, scratch)
// Ring: wait() makes the next stage's slot readable for all and returns it; pump() loads the stage after it (two slots: while others
//    still compute); release() ends this thread's reading of it.
#pragma once

template <class P> struct mixed_memory {
    typename P::slot slot[P::slots];
    typename P::scratch scratch;
};

template <class P> struct mixed_ring {
    const typename P::args &p;
    const typename P::tile &t;
    mixed_memory<P> &memory;
    int stage, stages;

    DEV typename P::slot &here() { return memory.slot[P::slots == 1 ? 0 : stage % P::slots]; }
    DEV void start()
    {
        if (stages > 0) P::load(p, t, 0, memory.slot[0]);
    }
    DEV typename P::slot &wait()
    {
        barrier();
        return here();
    }
    DEV void pump()
    {
        if (P::slots > 1 && stage + 1 < stages) P::load(p, t, stage + 1, memory.slot[(stage + 1) % P::slots]);
    }
    DEV void release()
    {
        stage++;
        if (P::slots > 1 || stage == stages) return;
        barrier();
        P::load(p, t, stage, memory.slot[0]);
    }
};

template <class P> DEV void run_mixed(const typename P::args &p)
{
#if defined(TF_ON_HOST)
    TF_SHARED_STRUCT(mixed_memory<P>, memory);
#else
    __shared__ __attribute__((aligned(16))) char bytes[sizeof(mixed_memory<P>)];
    mixed_memory<P> &memory = *reinterpret_cast<mixed_memory<P> *>(bytes);
#endif
    const int tiles = P::tiles(p);
    for (int index = block_index(); index < tiles; index += block_total()) {
        const typename P::tile t = P::at(p, index);
        typename P::carry c;
        mixed_ring<P> ring{p, t, memory, 0, P::stages(p, t)};
        ring.start();
        P::compute(p, t, ring, c);
        P::finish(p, t, c, memory.scratch);
        barrier(); // the next tile reuses the slots and the scratch
    }
}
