/* In: signals of the processor (bad address, bad instruction, division) and the watchdog's kick, on a worker in a kernel.
 * Out: the worker back in its own context, the launch failed, and a report of where.
 * Passes on signals that are not a kernel's to the previous handler. Handlers are installed only during launches; the record of the old
 * ones is the only state here that belongs to the process and not to an engine. */
#define _GNU_SOURCE
#include <string.h>
#include <ucontext.h>
#include "runtime/host/engine.h"

static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, KICK_SIGNAL};
enum { SIGNALS = sizeof signals / sizeof *signals };

static struct {
    pthread_mutex_t lock;
    unsigned users;
    struct sigaction old[SIGNALS];
} installed = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- in the handler ---- */

static void record_fault(fault_record *f, int signal, const siginfo_t *info, const ucontext_t *u)
{
    f->signal = signal;
    f->code = info->si_code;
    f->address = (uintptr_t)info->si_addr;
    f->write = -1;
#if defined(__x86_64__)
    f->pc = (uintptr_t)u->uc_mcontext.gregs[REG_RIP];
    if (signal == SIGSEGV) f->write = u->uc_mcontext.gregs[REG_ERR] >> 1 & 1;
#elif defined(__aarch64__)
    f->pc = (uintptr_t)u->uc_mcontext.pc;
#else
    f->pc = 0;
    (void)u;
#endif
}

/* Changes the signal context so that returning from the handler continues in the worker, as if the fiber had switched to it. Jumping out of
 * the handler would leave the signal mask and the alternate stack unrestored. */
static void go_to_worker(block *b, ucontext_t *u)
{
    hs_thread *host = &b->host;
#if defined(HS_SWAP_BY_CALL)
    (void)u, (void)host;
    fiber_abandon(b);
#elif defined(__x86_64__)
    greg_t *r = u->uc_mcontext.gregs;
    r[REG_RSP] = (greg_t)host->sp;
    r[REG_RBP] = (greg_t)host->bp;
    r[REG_RBX] = (greg_t)host->bx;
    r[REG_RIP] = (greg_t)host->pc;
    r[REG_RSI] = r[REG_RDI] = (greg_t)host;
    r[REG_EFL] &= ~(greg_t)0x400; /* clears the direction flag, as the C ABI requires */
#else
    u->uc_mcontext.sp = (uintptr_t)host->sp;
    u->uc_mcontext.regs[29] = (uintptr_t)host->bp;
    u->uc_mcontext.regs[19] = (uintptr_t)host->bx;
    u->uc_mcontext.pc = (uintptr_t)host->pc;
    u->uc_mcontext.regs[0] = u->uc_mcontext.regs[1] = (uintptr_t)host;
#endif
}

static void pass_on(int signal, siginfo_t *info, void *context)
{
    const struct sigaction *old = NULL;
    for (unsigned i = 0; i < SIGNALS; i++)
        if (signals[i] == signal) old = &installed.old[i];
    if (old->sa_flags & SA_SIGINFO) {
        old->sa_sigaction(signal, info, context);
    } else if (old->sa_handler == SIG_DFL) {
        if (signal != KICK_SIGNAL) sigaction(signal, old, NULL); /* the instruction faults again when this returns */
    } else if (old->sa_handler != SIG_IGN) {
        old->sa_handler(signal);
    }
}

static void on_signal(int signal, siginfo_t *info, void *context)
{
    worker_self *self = &host_self;
    block *b = (block *)(void *)self->pub.blk;
    const bool ours = self->launch && self->pub.cur && b;
    if (signal == KICK_SIGNAL) {
        if (info->si_code != SI_TKILL) pass_on(signal, info, context);
        if (!ours || self->busy || !atomic_load(&self->launch->kicked)) return;
    } else if (!ours) {
        pass_on(signal, info, context);
        return;
    }
    record_fault(&self->fault, signal, info, context);
    self->fault_thread = self->pub.cur;
    self->faulted = 1;
    go_to_worker(b, context);
}

/* ---- installing ---- */

bool fault_begin(void)
{
    bool ok = true;
    pthread_mutex_lock(&installed.lock);
    if (installed.users++ == 0) {
        struct sigaction ours = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
        sigemptyset(&ours.sa_mask);
        for (unsigned i = 0; i < SIGNALS; i++) ok = !sigaction(signals[i], &ours, &installed.old[i]) && ok;
    }
    pthread_mutex_unlock(&installed.lock);
    return ok;
}

/* Restores the previous handlers, but leaves one that other code installed meanwhile. */
void fault_end(void)
{
    pthread_mutex_lock(&installed.lock);
    if (--installed.users == 0)
        for (unsigned i = 0; i < SIGNALS; i++) {
            struct sigaction now;
            sigaction(signals[i], &installed.old[i], &now);
            if (now.sa_sigaction != on_signal) sigaction(signals[i], &now, NULL);
        }
    pthread_mutex_unlock(&installed.lock);
}

void fault_altstack_enter(void *memory, stack_t *old)
{
    const stack_t ours = {.ss_sp = memory, .ss_size = ALTSTACK_BYTES};
    sigaltstack(&ours, old);
}

void fault_altstack_leave(const stack_t *old) { sigaltstack(old, NULL); }

/* ---- the report, in the worker's context ---- */

static const char *signal_text(const fault_record *f)
{
    switch (f->signal) {
    case SIGFPE: return f->code == FPE_INTDIV ? "integer division by zero" : "arithmetic fault";
    case SIGILL: return "illegal instruction (the compiler assumed that this code is never reached)";
    case SIGTRAP: return "trap";
    case SIGBUS: return "bus error";
    default: return "memory fault";
    }
}

static bool in_guard(const block *b, uintptr_t address, unsigned *thread)
{
    const uintptr_t at = address - (uintptr_t)b->stacks;
    *thread = (unsigned)(at / b->stack_stride);
    return at < b->shape.threads * b->stack_stride && at % b->stack_stride < 4096;
}

static void describe_address(host_log *log, block *b, const fault_record *f)
{
    unsigned thread;
    const uintptr_t shared = (uintptr_t)b->pub.shared, map = (uintptr_t)b->shared_map;
    if (in_guard(b, f->address, &thread)) {
        log_add(log, "stack overflow of thread %u (%zu bytes): give TF_EXPORT_STACK or the launch a larger one", thread,
                b->shape.stack_bytes);
        return;
    }
    log_add(log, "%s%s", signal_text(f), f->write < 0 ? "" : f->write ? ", a write" : ", a read");
    if (f->code == SI_KERNEL) log_add(log, " of a misaligned vector or an impossible address");
    else if (map && f->address - map < b->shared_map_bytes)
        log_add(log, " at shared%+ld (the block has %u bytes)", (long)(f->address - shared), b->shape.shared_bytes);
    else {
        log_add(log, " at ");
        memory_describe(b->launch->engine, f->address, log);
    }
}

static void report_hang(launch *l, const block *b, const fault_record *f)
{
    log_add(l->log, "%s makes no progress: the threads of one of its blocks\n", l->kernel);
    sched_waits(l->log, b);
    if (!f->signal) return;
    log_add(l->log, "  a thread runs without waiting at ");
    module_place(l->module, f->pc, l->log);
    log_add(l->log, "\n");
}

static void report_fault(launch *l, block *b, const fault_record *f)
{
    const hs_thread *t = host_self.fault_thread;
    if (f->signal == SIGSEGV || f->signal == SIGBUS) describe_address(l->log, b, f);
    else log_add(l->log, "%s", signal_text(f));
    log_add(l->log, "\n");
    launch_where(l, t, l->log);
    log_add(l->log, "  at ");
    module_place(l->module, f->pc, l->log);
    log_add(l->log, "\n");
}

void fault_report(block *b)
{
    launch *l = b->launch;
    const fault_record f = host_self.fault;
    host_self.fault = (fault_record){0};
    b->state = BLOCK_FAILED;
    const bool hang = !f.signal || f.signal == KICK_SIGNAL;
    if (!launch_fail(l, hang ? HOST_HANG : HOST_FAULT)) return;
    if (hang) report_hang(l, b, &f);
    else report_fault(l, b, &f);
    launch_reported(l);
}
