/* What the instruction files share. Every instruction has tinygrad's calling convention: pointers to
 *   0 sgpr[260]: 0-127 SGPRs, 128-255 inline constants, 256 and 257 the program counter, 259 scratch bytes a lane
 *   1 vgpr[register * wave + lane]   2 unused   3 LDS   4 scratch, lane after lane   5 accumulation VGPRs
 * and advances the program counter itself. */
#ifndef MACHINE_H
#define MACHINE_H
#define _GNU_SOURCE
#include <math.h>
#include <stdint.h>
#include <string.h>
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t i32;
typedef int64_t i64;
typedef void (*fn)(u64, u64, u64, u64, u64, u64);
typedef struct {
    fn f;
    u8 ix[6];
    u8 flags;
    u8 size;
    u64 count;
} slot; // 24 bytes
enum { flag_barrier = 1, flag_yield = 2, flag_signal = 4, flag_wait = 8 };
enum {
    stop_done = 0,
    stop_barrier,
    stop_yield,
    stop_need,
    stop_quantum,
    stop_fault,
    stop_signal,
    stop_wait,
    stop_bad_pc
};
typedef struct {
    u64 buf[6];
    u64 executed;
    u64 fault_addr;
    u64 fault_pc;
} wave;

extern int emu_target, emu_wave;                      /* 0x90a ... 0x1201; lanes of a wave */
extern u64 emu_clock;                                 /* instructions of all waves so far */
extern u64 emu_shared_aperture, emu_private_aperture; /* high words of generic addresses into LDS and scratch */

#define ARGS u64 S_, u64 V_, u64 M_, u64 L_, u64 X_, u64 A_
#define U __attribute__((unused))
#define BEGIN                                                                                                          \
    U u32 *s = (u32 *)S_;                                                                                              \
    U u32 *v = (u32 *)V_;                                                                                              \
    U u8 *lds = (u8 *)L_;                                                                                              \
    U u8 *scr = (u8 *)X_;                                                                                              \
    U u32 *acc = (u32 *)A_;                                                                                            \
    U u64 pc = (u64)s[256] | (u64)s[257] << 32;                                                                        \
    U const u32 *in = (const u32 *)pc;                                                                                 \
    U u32 d0 = in[0], d1 = in[1];                                                                                      \
    (void)M_;                                                                                                          \
    U u64 ex = emu_wave == 64 ? ((u64)s[126] | (u64)s[127] << 32) : s[126];
#define NEXT(sz)                                                                                                       \
    do {                                                                                                               \
        u64 np = pc + (sz);                                                                                            \
        s[256] = (u32)np;                                                                                              \
        s[257] = (u32)(np >> 32);                                                                                      \
    } while (0)
#define ACTIVE(l) ((ex >> (l)) & 1)
static inline u32 rs(u32 *s, u32 off) { return s[off]; } // sgpr or inline constant slot
static inline float from_half(u16 h)
{
    _Float16 x;
    memcpy(&x, &h, 2);
    return (float)x;
}
static inline float from_bf16(u16 h)
{
    u32 u = (u32)h << 16;
    float f;
    memcpy(&f, &u, 4);
    return f;
}
static inline float as_float(u32 u)
{
    float f;
    memcpy(&f, &u, 4);
    return f;
}
static inline u32 as_bits(float f)
{
    u32 u;
    memcpy(&u, &f, 4);
    return u;
}
static inline u16 to_bf16(float f)
{
    u32 u = as_bits(f);
    if ((u & 0x7fffffff) > 0x7f800000) return (u >> 16) | 0x40;
    return (u + 0x7fff + ((u >> 16) & 1)) >> 16;
}
/* Kinds of atomics by gfx9's numbering (memory.c); old value in, new value out. */
u64 integer_atomic(int kind, u64 old, u64 data, u64 compare, int b64);
u64 float_atomic(int kind, u64 old, u64 data, int b64);

#endif
