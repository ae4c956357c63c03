// In: a launch's trace memory: one record per workgroup, then one per tile. Out: when workgroups and their tiles began and ended, by a
// clock that all units share. One thread writes each field. Only traced sources include this file (docs/tracing.md). In all others tfgen
// cuts template lines off before TF_TRACED.
#pragma once
#include "templates/isa/simt.h"

#define TF_TRACED(...) __VA_ARGS__

#if defined(TF_ON_HOST)
// Clock: the processor's counter, the same for all threads. Unit: a thread of the host engine.
DEV unsigned long long trace_clock()
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    unsigned long long count;
    asm volatile("mrs %0, cntvct_el0" : "=r"(count)::"memory");
    return count;
#else
    return __builtin_readcyclecounter();
#endif
}
DEV unsigned long long trace_unit()
{
#if defined(__x86_64__)
    unsigned long long thread;
    asm("movq %%fs:0, %0" : "=r"(thread));
    return thread;
#else
    return reinterpret_cast<unsigned long long>(__builtin_thread_pointer());
#endif
}
#elif defined(__clang__)
// Clock: ticks of 100 MHz. Unit: chiplet, shader engine, shader array and compute unit on which the wave runs, from hardware registers.
DEV unsigned long long trace_clock()
{
#if defined(__GFX9__) || defined(__GFX10__)
    return __builtin_amdgcn_s_memrealtime();
#else
    return __builtin_amdgcn_s_sendmsg_rtnl(0x83);
#endif
}
DEV unsigned long long trace_unit()
{
    constexpr int whole = 31 << 11; // all 32 bits of a register
#if defined(__gfx942__) || defined(__gfx950__)
    return (__builtin_amdgcn_s_getreg(whole | 4) >> 8 & 0xff) | (__builtin_amdgcn_s_getreg(whole | 20) & 0xf) << 8;
#elif defined(__GFX9__)
    return __builtin_amdgcn_s_getreg(whole | 4) >> 8 & 0xff;
#else
    return __builtin_amdgcn_s_getreg(whole | 23) >> 9 & 0xfff;
#endif
}
#else
// Clock: nanoseconds. Unit: a multiprocessor.
DEV unsigned long long trace_clock()
{
    unsigned long long now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
    return now;
}
DEV unsigned long long trace_unit()
{
    unsigned unit;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(unit));
    return unit;
}
#endif

// The layout that runtime/cli/trace/ reads. A field that no thread writes stays 0.
struct trace_workgroup {
    unsigned long long entry, ready, exit; // ready: when the workgroup's wait for the previous launch ended
    unsigned long long unit, tiles;        // tiles: of the launch; 0: their number depends on data
    unsigned long long unused;
};
struct trace_tile {
    unsigned long long asked, start;  // asked: when the loading thread issued the tile's first load
    unsigned long long data;          // when the tile's first data had arrived, if a thread waits for that
    unsigned long long computed, end; // when sums were complete; when results were stored
    unsigned long long where;         // the workgroup; from bit 32 on, which of its warpgroups
};

DEV trace_workgroup &trace_own(float *trace) { return reinterpret_cast<trace_workgroup *>(trace)[block_index()]; }
DEV trace_tile &trace_of(float *trace, int tile) { return reinterpret_cast<trace_tile *>(trace)[block_total() + tile]; }

DEV void trace_enter(float *trace, int tiles)
{
    if (thread_index() != 0) return;
    trace_workgroup &own = trace_own(trace);
    own.entry = trace_clock();
    own.unit = trace_unit();
    own.tiles = tiles;
}
DEV void trace_ready(float *trace) // called by one thread
{
    trace_own(trace).ready = trace_clock();
}
DEV void trace_leave(float *trace, int thread)
{
    if (thread_index() == thread) trace_own(trace).exit = trace_clock();
}
DEV void trace_asked(float *trace, int tile) // called by one thread
{
    trace_of(trace, tile).asked = trace_clock();
}
DEV void trace_start(float *trace, int tile, int thread, int warpgroup = 0)
{
    if (thread_index() != thread) return;
    trace_tile &t = trace_of(trace, tile);
    t.start = trace_clock();
    t.where = static_cast<unsigned>(block_index()) | static_cast<unsigned long long>(warpgroup) << 32;
}
// Records when the tile starts and when its first stage has arrived, for which it waits, as the program does next.
template <class Ring> DEV void trace_loaded(float *trace, int tile, int thread, Ring ring)
{
    trace_start(trace, tile, thread);
    ring.wait();
    if (thread_index() == thread) trace_of(trace, tile).data = trace_clock();
}
// Called when all tiles whose results this one reads have been stored.
DEV void trace_awaited(float *trace, int tile, int thread)
{
    if (thread_index() == thread) trace_of(trace, tile).data = trace_clock();
}
DEV void trace_computed(float *trace, int tile, int thread)
{
    if (thread_index() == thread) trace_of(trace, tile).computed = trace_clock();
}
DEV void trace_end(float *trace, int tile, int thread)
{
    if (thread_index() == thread) trace_of(trace, tile).end = trace_clock();
}
// Writes all times of a tile at its end, for tiles that may turn out to belong to another workgroup, which then writes the record.
struct trace_times {
    unsigned long long start, computed;
};
DEV void trace_whole(float *trace, int tile, int thread, const trace_times &when)
{
    if (thread_index() != thread) return;
    trace_start(trace, tile, thread);
    trace_of(trace, tile).start = when.start;
    trace_of(trace, tile).computed = when.computed;
    trace_end(trace, tile, thread);
}

// The index of an item of a list of phases F (frame.h) among all tiles of the launch.
template <class F, class Item> DEV int trace_slot(const typename F::args &p, const Item &w)
{
    int tile = w.index;
    for (int phase = 0; phase < w.phase; phase++) tile += F::tiles(p, phase);
    return tile;
}
template <class F> DEV int trace_total(const typename F::args &p)
{
    int tiles = 0;
    for (int phase = 0; phase < F::phases; phase++) tiles += F::tiles(p, phase);
    return tiles;
}
