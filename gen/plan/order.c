/* Contract: gen/plan/order.h. Waits cannot deadlock: all workgroups are resident, each computes its tiles in the order of the phases, and a
 * phase waits for earlier phases only. Waits within a phase, for parts that workgroups hand to each other, are not part of this proof: each
 * program says why they end (such as templates/attention/decode_runs.h). */
#include "gen/plan/order.h"
#include "gen/plan/accesses.h"

static int set_count(const phase_set *s)
{
    int count = 0;
    for (size_t i = 0; i < sizeof s->bits / sizeof *s->bits; i++) count += __builtin_popcountll(s->bits[i]);
    return count;
}

static int index_of(const launch *l, const ir_phase *phase)
{
    for (int i = 0; i < l->work_count; i++)
        if (l->work[i].phase == phase) return i;
    return -1;
}

typedef struct users { /* the phases that read, and those that write, a root value's memory */
    phase_set readers, writers;
} users;

/* By the id of the root value. */
static users *users_of(arena *a, const ir_graph *p, const launch *l)
{
    users *of = arena_alloc(a, ((size_t)p->value_count + 1) * sizeof *of);
    const access_list all = accesses_of(a, l);
    for (int i = 0; i < all.count; i++) {
        users *its = &of[value_root(all.list[i].value)->id];
        set_add(all.list[i].writes ? &its->writers : &its->readers, all.list[i].phase);
    }
    return of;
}

/* True if phases i and k access the same memory and at least one writes it. */
static bool conflict(const ir_graph *p, const users *of, int i, int k)
{
    for (int v = 0; v < p->value_count; v++) {
        const bool reads = set_has(&of[v].readers, i), writes = set_has(&of[v].writers, i);
        const bool other_reads = set_has(&of[v].readers, k), other_writes = set_has(&of[v].writers, k);
        if ((writes && (other_reads || other_writes)) || (reads && other_writes)) return true;
    }
    return false;
}

/* Phases that no phase waits for, directly or through others. */
static phase_set ends_of(const launch *l, const phase_set *ahead)
{
    phase_set ends = {{0}}, awaited = {{0}};
    for (int i = 0; i < l->work_count; i++) set_join(&awaited, &ahead[i]);
    for (int i = 0; i < l->work_count; i++)
        if (!set_has(&awaited, i)) set_add(&ends, i);
    return ends;
}

static void set_before(arena *a, launch *l, const phase_set *ahead)
{
    const phase_set ends = ends_of(l, ahead);
    int *before = arena_alloc(a, (size_t)l->work_count * sizeof *before), count = 0;
    for (int i = 0; i < l->work_count; i++)
        if (set_has(&ends, i)) before[count++] = i;
    for (int i = 0; i < l->work_count; i++)
        if (!l->work[i].await_count) l->work[i].awaits_before = before, l->work[i].await_before_count = count;
}

void order_set(arena *a, const ir_graph *p, launch *l)
{
    phase_set *ahead = arena_alloc(a, (size_t)l->work_count * sizeof *ahead); /* by phase: all phases that have ended when it begins */
    const users *of = users_of(a, p, l);
    for (int i = 0; i < l->work_count; i++) {
        const ir_phase *phase = l->work[i].phase;
        int *awaits = arena_alloc(a, ((size_t)i + 1) * sizeof *awaits), count = 0;
        for (int k = i - 1; k >= 0; k--) { /* latest first: to wait for k is to wait for all that k waits for */
            bool after = conflict(p, of, i, k);
            for (int n = 0; n < phase->after_count && !after; n++) after = index_of(l, phase->after[n]) == k;
            if (!after || set_has(&ahead[i], k)) continue;
            awaits[count++] = k;
            set_add(&ahead[i], k);
            set_join(&ahead[i], &ahead[k]);
        }
        l->work[i].awaits = awaits, l->work[i].await_count = count;
    }
    if (p->stacked) set_before(a, l, ahead);
}

/* ---- the proof */
/* of: the users of one value's memory. Returns the first phase that accesses it without waiting, directly or through others, for an
 * earlier phase (*earlier) that accesses it, although one of the two writes it; -1: there is none. */
static int first_unordered(const launch *l, const users *of, const phase_set *ahead, int *earlier)
{
    phase_set all = of->writers;
    set_join(&all, &of->readers);
    if (!set_count(&of->writers) || set_count(&all) < 2) return -1;
    for (int i = 0; i < l->work_count; i++)
        for (int k = 0; k < i; k++) {
            const bool writes = set_has(&of->writers, i) || set_has(&of->writers, k);
            if (!writes || !set_has(&all, i) || !set_has(&all, k) || set_has(&ahead[i], k)) continue;
            *earlier = k;
            return i;
        }
    return -1;
}

/* The error if some phase of a stack does not wait for all phases of the layer before; NULL: no error. ahead: by phase, the phases of its
 * own layer that have ended when it begins. */
static const char *stack_fault(arena *a, const launch *l, const phase_set *ahead)
{
    phase_set *before = arena_alloc(a, (size_t)l->work_count * sizeof *before); /* by phase: phases of the layer before that have ended */
    for (int i = 0; i < l->work_count; i++) {
        const launch_phase *w = &l->work[i];
        for (int n = 0; n < w->await_before_count; n++) {
            const int from = w->awaits_before[n];
            if (from < 0 || from >= l->work_count)
                return arena_printf(a, "phase %s waits for one that the layer before does not have", w->phase->name);
            set_add(&before[i], from);
            set_join(&before[i], &ahead[from]);
        }
        for (int k = 0; k < i; k++)
            if (set_has(&ahead[i], k)) set_join(&before[i], &before[k]);
        for (int k = 0; k < l->work_count; k++)
            if (!set_has(&before[i], k))
                return arena_printf(a, "phase %s does not wait for phase %s of the layer before", w->phase->name, l->work[k].phase->name);
    }
    return NULL;
}

const char *order_fault(arena *a, const ir_graph *p, const launch *l)
{
    const users *of = users_of(a, p, l);
    phase_set *ahead = arena_alloc(a, (size_t)l->work_count * sizeof *ahead);
    int earlier;
    for (int i = 0; i < l->work_count; i++)
        for (int n = 0; n < l->work[i].await_count; n++) {
            const int from = l->work[i].awaits[n];
            if (from < 0 || from >= i) return arena_printf(a, "phase %s waits for one that does not come earlier", l->work[i].phase->name);
            set_add(&ahead[i], from);
            set_join(&ahead[i], &ahead[from]);
        }
    for (int v = 0; v < p->value_count; v++) {
        const int i = first_unordered(l, &of[v], ahead, &earlier);
        if (i >= 0)
            return arena_printf(a, "phase %s accesses %%%s without waiting for phase %s", l->work[i].phase->name, p->values[v]->name,
                                l->work[earlier].phase->name);
    }
    return p->stacked ? stack_fault(a, l, ahead) : NULL;
}
