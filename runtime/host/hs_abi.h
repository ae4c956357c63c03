/* The interface of compiled kernels and the host engine: shared structures, and the switch between two GPU threads. It precedes the
 * kernel in every host build, and the engine includes it. After dlopen() the engine rejects a module with another HS_ABI_VERSION. */
#ifndef HS_ABI_H
#define HS_ABI_H

#define HS_ABI_VERSION 3
#define HS_MAX_WAVE 64
#define HS_MAX_CLUSTER 8

typedef unsigned long long hs_u64;
typedef unsigned hs_u32;
typedef struct hs_dim3 {
    unsigned x, y, z;
} hs_dim3;

struct hs_wave;
struct hs_block;

/* A GPU thread is a fiber. One cache line each, in a dense array and not on the stacks: those lie a constant stride
 * apart, so their tops would share few cache sets. The engine accesses the first four fields by offset. */
typedef struct hs_thread {
    void *sp, *bp, *pc, *bx; /* 0, 8, 16, 24: where to continue */
    struct hs_wave *w;
    hs_u32 lane, lin; /* in the wave, in the block */
    hs_dim3 tid;
    hs_u32 parity; /* which of the two mailboxes this lane used last */
} __attribute__((aligned(64))) hs_thread;

/* What the last lane to arrive does with the mailbox, once per wave. HS_OP_NONE: nothing, lanes read each other's words. */
enum { HS_OP_NONE, HS_OP_BALLOT, HS_OP_SUM_F32, HS_OP_MAX_F32, HS_OP_MIN_F32, HS_OP_SUM_I32, HS_OP_MAX_I32, HS_OP_MIN_I32,
       HS_OP_MAX_U32, HS_OP_MIN_U32, HS_OP_MMA, HS_OP_COUNT,
       HS_OP_MEETS = 256, HS_OP_APART = 512 }; /* flags: a barrier of the wave; lanes are scheduled independently (NVIDIA) */

/* A source line with a collective (site), and one copy of its code (place). Lanes are at the same collective if they are at
 * the same place: two calls may share a line, and a function inlined into two branches is two collectives. The low 32 bits
 * of a place's address identify it in hs_wave.site. */
typedef struct hs_site {
    const char *what, *file;
    hs_u32 line, op;
} hs_site;
typedef struct hs_place {
    const hs_site *site;
    const void *code;
} __attribute__((aligned(16))) hs_place;

/* A word of hs_wave.site: the state of a lane. */
#define HS_RUN 0u            /* can run */
#define HS_EXIT 0xffffffffu  /* has ended, or does not exist */
#define HS_WAITING 1u        /* waits: set in every word with a place */
#define HS_BARRIER 2u        /* waits for the block, otherwise for the wave */
#define HS_PARITY 4u         /* which mailbox this collective uses */
#define HS_GRID 8u           /* with HS_BARRIER: waits for the grid */
#define HS_FLAGS 15u
#define HS_WORD(place) ((hs_u32)(__UINTPTR_TYPE__)(place) | HS_WAITING)

/* A lane's asynchronous copy to shared memory: done when the lane waits for it, and not before. */
#define HS_MAX_COPIES 64 /* per lane */
typedef struct hs_lds_copy {
    const char *from; /* null: zeros */
    char *to;
    hs_u32 bytes, room; /* room: bytes of the destination; zeros after `bytes` */
} hs_lds_copy;

typedef struct hs_wave {
    hs_u32 *site;     /* a word per lane, then one that is never HS_RUN (waves of one lane are contiguous, without it) */
    hs_u64 *mail[2];  /* mailboxes, a word per lane; two suffice: no lane gets two collectives ahead of one that still reads */
    hs_u64 exec;      /* the lanes that took part in the collective that completed last */
    hs_u32 size, idx; /* lanes; the wave's index in the block */
    hs_u64 live, full;
    hs_thread *th; /* lane 0 */
    struct hs_block *b;
    hs_u64 collectives;
    hs_lds_copy *copies;     /* HS_MAX_COPIES per lane */
    hs_u32 *copies_made; /* a count per lane */
} __attribute__((aligned(64))) hs_wave;

/* The head of an AQL kernel dispatch packet, from which code for AMD reads sizes. */
typedef struct hs_packet {
    unsigned short header, setup, workgroup_size[3], reserved;
    hs_u32 grid_size[3], private_bytes, group_bytes;
} hs_packet;

typedef struct hs_block {
    hs_dim3 id, block, grid;
    hs_u32 shared_bytes;
    char *shared;
    hs_packet packet;
    hs_u32 cluster_rank;
    char *cluster_shared[HS_MAX_CLUSTER]; /* shared memory of the members of its cluster, by rank */
} hs_block;

/* Per worker thread; kernels read it through the thread pointer. cur is null outside fibers. */
typedef struct hs_self {
    hs_thread *cur;
    hs_block *blk;
} hs_self;

/* Operands of one lane of a matrix instruction; they are in the waiting lane's stack frame. */
typedef struct hs_mma {
    const void *a, *b, *c;
    void *d;
    hs_u32 shape;
} hs_mma;
enum { HS_MFMA_32x32x8_BF16, HS_MFMA_16x16x16_BF16, HS_MFMA_32x32x8_F16, HS_MFMA_16x16x16_F16, HS_MFMA_32x32x16_BF16,
       HS_MFMA_16x16x32_BF16, HS_MFMA_32x32x16_F16, HS_MFMA_16x16x32_F16, HS_MFMA_32x32x2_F32, HS_MFMA_16x16x4_F32,
       HS_WMMA_16x16x16_F16_GFX11, HS_WMMA_16x16x16_BF16_GFX11, HS_WMMA_16x16x16_F16_GFX12, HS_WMMA_16x16x16_BF16_GFX12,
       HS_MFMA_32x32x4_BF16, HS_MFMA_16x16x8_BF16, HS_MMA_COUNT };

enum { HS_CHECK_READ, HS_CHECK_WRITE, HS_CHECK_ATOMIC_READ, HS_CHECK_ATOMIC_WRITE };
/* Flags added to the kinds above: SAID: an access of the GPU's instruction that code here emulates, reported to watchers only (host_watch).
 * BULK: made by an asynchronous bulk copy, which no lane executes: one report per row that it copies. MATRIX: of an operand that a matrix
 * instruction reads from memory itself. */
enum { HS_CHECK_SAID = 4, HS_CHECK_BULK = 8, HS_CHECK_MATRIX = 16 };
/* Not an access: announces one at an address that is not a multiple of `bytes`, although its type requires that. */
enum { HS_CHECK_MISALIGNED = 32 };
/* Not an access: announces an access by an instruction that reaches global memory only and would fault on a GPU at an address of shared
 * memory. */
enum { HS_CHECK_GLOBAL = 64 };
enum { HS_SYNC_ACQUIRE = 1, HS_SYNC_RELEASE = 2, HS_SYNC_FENCE = 4, HS_SYNC_LOAD = 8, /* LOAD: an atomic that only reads */
       HS_SYNC_STANDS_IN = 16, HS_SYNC_STOOD_IN = 32 }; /* between these a lane emulates an instruction: its accesses are not the GPU's */

/* The engine's functions for kernels. Each module has one, filled in after dlopen(), so it needs no symbol of the process:
 * the engine may be in a program, in a library, or in a library opened with RTLD_LOCAL. */
typedef struct hs_runtime {
    long self; /* offset of hs_self from the thread pointer */
    hs_thread *(*next)(hs_thread *t); /* t waits and the next lane cannot run: completes collectives, returns who runs next */
    hs_thread *(*yield)(hs_thread *t, const hs_place *at);
    void (*swap)(hs_thread *from, hs_thread *to); /* for processors without an hs_switch() */
    void (*trap)(const char *what, const char *file, int line) __attribute__((noreturn));
    int (*print)(const char *format, __builtin_va_list arguments);
    void (*cluster_arrive)(hs_thread *t);
    int (*cluster_met)(hs_thread *t); /* have all threads of the cluster arrived since t did? */
    void (*progressed)(hs_thread *t); /* a barrier that code here emulates has completed a phase */
    void (*leave_barriers)(hs_thread *t); /* from now on t's wave and those after it take part in no barriers; t may spin */
    void (*access)(const void *p, unsigned long bytes, int kind, const void *pc); /* --check only */
    void (*sync)(const void *p, int kind);                                        /* --check only; p may be null: a fence */
} hs_runtime;

/* hs_switch(from, to) suspends `from` and resumes `to`; it returns when `from` is resumed, with the thread that then runs.
 * An inline jump, not a call: the compiler saves only live registers, and the target is the same for all lanes of a wait,
 * so it is predicted. A resumed thread sets hs_self.cur itself, so the compiler need not load it again. */
#if defined(HS_UCONTEXT) || !(defined(__x86_64__) || defined(__aarch64__))
#define HS_SWAP_BY_CALL 1
#elif defined(__x86_64__)
#ifdef __AVX512F__
#define HS_CLOBBER_512                                                                                                         \
    , "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25", "xmm26", "xmm27", "xmm28",      \
        "xmm29", "xmm30", "xmm31", "k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7"
#else
#define HS_CLOBBER_512
#endif
static inline __attribute__((always_inline)) hs_thread *hs_switch(hs_thread *from, hs_thread *to)
{
    __asm__ volatile("leaq 1f(%%rip), %%rax\n\t"
                     "movq %%rsp, 0(%0)\n\tmovq %%rbp, 8(%0)\n\tmovq %%rax, 16(%0)\n\tmovq %%rbx, 24(%0)\n\t"
                     "movq 0(%1), %%rsp\n\tmovq 8(%1), %%rbp\n\tmovq 24(%1), %%rbx\n\tjmpq *16(%1)\n"
                     "1:\n\t"
                     : "+D"(from), "+S"(to)
                     :
                     : "rax", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "memory", "cc", "xmm0",
                       "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12",
                       "xmm13", "xmm14", "xmm15" HS_CLOBBER_512);
    return to; /* rsi, as the resumer left it */
}
#else /* aarch64: x18 too, which compilers for Linux allocate */
static inline __attribute__((always_inline)) hs_thread *hs_switch(hs_thread *from, hs_thread *to)
{
    register hs_thread *f __asm__("x0") = from;
    register hs_thread *t __asm__("x1") = to;
    __asm__ volatile("mov x9, sp\n\tadr x10, 1f\n\tstp x9, x29, [x0]\n\tstp x10, x19, [x0, #16]\n\t"
                     "ldp x9, x29, [x1]\n\tldp x10, x19, [x1, #16]\n\tmov sp, x9\n\tbr x10\n"
                     "1:\n\t"
                     : "+r"(f), "+r"(t)
                     :
                     : "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17",
                       "x18", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x30", "memory", "cc", "v0", "v1",
                       "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16", "v17",
                       "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31");
    return t;
}
#endif
#endif
