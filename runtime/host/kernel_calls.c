/* In: calls from kernels into the engine.
 * Out: the table of functions that a module gets when it is loaded (hs_runtime): waits, prints, traps, and accesses for the checker.
 * A thread that traps or accesses memory out of bounds never returns to its fiber. */
#define _GNU_SOURCE
#include <stdio.h>
#include "runtime/host/engine.h"

static void __attribute__((noreturn, no_sanitize_address)) kernel_trap(const char *what, const char *file, int line)
{
    const hs_thread *t = host_self.pub.cur;
    block *b = block_of(t->w);
    b->state = BLOCK_FAILED;
    if (launch_fail(b->launch, HOST_TRAP)) {
        log_add(b->launch->log, "%s:%d: %s\n", file, line, what);
        launch_where(b->launch, t, b->launch->log);
        launch_reported(b->launch);
    }
    fiber_abandon(b);
}

/* Formats before it takes a lock: a bad pointer faults here, where the worker can still leave the kernel. */
static int kernel_print(const char *format, va_list arguments)
{
    char line[2048];
    const int n = vsnprintf(line, sizeof line, format, arguments);
    host_self.busy++;
    fputs(line, stdout);
    host_self.busy--;
    return n;
}

/* Not instrumented: it may abandon this stack, which the sanitizer would report. */
static void __attribute__((no_sanitize_address)) kernel_access(const void *p, unsigned long bytes, int kind, const void *pc)
{
    if (!check_access(p, bytes, kind, pc)) fiber_abandon(block_of(host_self.pub.cur->w));
}

const hs_runtime host_runtime = {
    .next = sched_next,
    .yield = sched_yield_to,
    .swap = fiber_swap,
    .trap = kernel_trap,
    .print = kernel_print,
    .cluster_arrive = cluster_arrive,
    .cluster_met = cluster_met,
    .progressed = sched_progressed,
    .leave_barriers = sched_leave_barriers,
    .access = kernel_access,
    .sync = check_sync,
};
