/* In: the groups after the last fusion. Out: independent rows phases are marked to share a launch, and are placed next to each
 * other. Each saves a launch, for example the per-head norms of queries and of keys. Other families are left alone. */
#include "ir/fuse/fuse.h"

enum { most_beside = 4 }; /* most phases per launch */

/* The highest position, in the order of groups, of one that g depends on; -1: none. */
static int last_awaited(const fusing *f, int g)
{
    int last = -1;
    for (int i = 0; i < f->groups[g].count; i++) {
        const int at = f->order[f->groups[g].ops[i]->outputs[0]->id];
        for (int k = f->before.start[at]; k < f->before.start[at + 1]; k++) {
            const int from = fuse_home(f, f->before.ops[k]->outputs[0]);
            if (from >= 0 && from != g && f->rank[from] > last) last = f->rank[from];
        }
    }
    return last;
}

/* The position, after `after` and before `at`, at which the first launch of rows phases begins that has room for another; `at`: none. */
static int first_launch(const fusing *f, const int *phases, int after, int at)
{
    for (int i = after + 1; i < at; i++) {
        const group *leader = &f->groups[f->sequence[i]];
        if (leader->family == family_rows && phases[i] > 0 && phases[i] < most_beside) return i;
    }
    return at;
}

/* Moves the phases of a launch directly behind its leader. That is valid, since they depend on nothing in between. */
void fuse_place_beside(fusing *f)
{
    const int count = f->sequence_count;
    int n = 0, *placed = arena_alloc(f->a, ((size_t)count + 1) * sizeof *placed);
    int *next = arena_alloc(f->a, ((size_t)count + 1) * sizeof *next), *last = arena_alloc(f->a, ((size_t)count + 1) * sizeof *last);
    for (int i = 0; i < count; i++) {
        const group *g = &f->groups[f->sequence[i]];
        next[i] = -1, last[i] = i;
        if (!g->beside) continue;
        const int leader = f->rank[g->leader];
        next[last[leader]] = i;
        last[leader] = i;
    }
    for (int i = 0; i < count; i++)
        for (int k = f->groups[f->sequence[i]].beside ? -1 : i; k >= 0; k = next[k]) placed[n++] = f->sequence[k];
    for (int i = 0; i < count; i++) f->rank[f->sequence[i] = placed[i]] = i;
}

/* By position: the number of phases of the launch that begins there; 0: no launch begins there. */
static int *count_phases(const fusing *f)
{
    int *phases = arena_alloc(f->a, ((size_t)f->sequence_count + 1) * sizeof *phases);
    for (int i = 0; i < f->sequence_count; i++) {
        const group *g = &f->groups[f->sequence[i]];
        phases[g->beside ? f->rank[g->leader] : i]++;
    }
    return phases;
}

bool fuse_side_by_side(fusing *f)
{
    bool changed = false;
    int *phases = count_phases(f);
    for (int i = 0; i < f->sequence_count; i++) {
        group *g = &f->groups[f->sequence[i]];
        if (phases[i] != 1 || g->family != family_rows) continue;
        const int leader = first_launch(f, phases, last_awaited(f, f->sequence[i]), i);
        if (leader == i) continue;
        g->beside = changed = true;
        g->leader = f->sequence[leader];
        phases[i] = 0, phases[leader]++;
    }
    f->has_beside |= changed;
    return changed;
}
