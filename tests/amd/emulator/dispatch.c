/* In: a wave, a table of instruction functions by program counter. Runs the wave until it ends, waits, sleeps, has used its share of
 * instructions, or accesses unmapped memory (caught as a signal: lane addresses are real addresses). Refuses a counter outside the code. */
#include "machine.h"
#include <setjmp.h>
#include <signal.h>
#include <xmmintrin.h>

int emu_target, emu_wave;
u64 emu_clock;
u64 emu_shared_aperture, emu_private_aperture;
void emu_config(int target, int ws, u32 lds, u64 sap, u64 pap)
{
    emu_target = target;
    emu_wave = ws;
    (void)lds;
    emu_shared_aperture = sap;
    emu_private_aperture = pap;
}

static sigjmp_buf g_jb;
static volatile u64 g_fault;
static struct sigaction g_old[3];
static void on_fault(int s, siginfo_t *si, void *c)
{
    (void)s;
    (void)c;
    g_fault = (u64)si->si_addr;
    siglongjmp(g_jb, 1);
}

int emu_run(wave *w, slot *tab, u64 base, u64 nslots, u64 quantum, u32 mxcsr)
{
    u32 *s = (u32 *)w->buf[0];
    volatile u64 pcv = 0;
    volatile u64 n = 0;
    int rc = stop_quantum;
    u32 saved = _mm_getcsr();
    struct sigaction sa;
    memset(&sa, 0, sizeof sa);
    sa.sa_sigaction = on_fault;
    sa.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigaction(SIGSEGV, &sa, &g_old[0]);
    sigaction(SIGBUS, &sa, &g_old[1]);
    sigaction(SIGFPE, &sa, &g_old[2]);
    if (sigsetjmp(g_jb, 1)) {
        _mm_setcsr(saved);
        w->fault_addr = g_fault;
        w->fault_pc = pcv;
        w->executed += n;
        rc = stop_fault;
        goto out;
    }
    _mm_setcsr(mxcsr);
    u64 *b = w->buf;
    while (n < quantum) {
        u64 pc = (u64)s[256] | (u64)s[257] << 32;
        if (pc == ~0ull) {
            rc = stop_done;
            break;
        }
        u64 k = (pc - base) >> 2;
        if (k >= nslots || (pc & 3)) {
            w->fault_pc = pc;
            rc = stop_bad_pc;
            break;
        }
        slot *e = &tab[k];
        if (!e->f) {
            w->fault_pc = pc;
            rc = stop_need;
            break;
        }
        pcv = pc;
        n++, emu_clock++;
        e->count++;
        e->f(b[e->ix[0]], b[e->ix[1]], b[e->ix[2]], b[e->ix[3]], b[e->ix[4]], b[e->ix[5]]);
        if (__builtin_expect(e->flags, 0)) {
            rc = e->flags & flag_barrier  ? stop_barrier
                 : e->flags & flag_signal ? stop_signal
                 : e->flags & flag_wait   ? stop_wait
                                       : stop_yield;
            break;
        }
    }
    _mm_setcsr(saved);
    w->executed += n;
out:
    sigaction(SIGSEGV, &g_old[0], 0);
    sigaction(SIGBUS, &g_old[1], 0);
    sigaction(SIGFPE, &g_old[2], 0);
    return rc;
}
