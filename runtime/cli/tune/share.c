/* See share.h. A rank is alive while its heartbeat changes, timed by this process's own clock, as hosts' clocks differ. */
#define _GNU_SOURCE
#include "runtime/cli/tune/share.h"
#include "runtime/cli/cli.h"
#include <string.h>
#include <unistd.h>

static const double silent_seconds = 5, grace_seconds = 10;
enum { wait_us = 20000 };

typedef struct seen_rank {
    long long beat;
    double at; /* when the beat last changed, by this process's clock */
} seen_rank;

struct share {
    arena *a;
    database *d;
    const ranks *r;
    long long session;
    const char *group; /* key under which ranks with this kind of device register */
    seen_rank *seen;   /* by rank */
};

share *share_open(arena *a, database *d, const ranks *r, long long session, const char *group)
{
    share *s = arena_alloc(a, sizeof *s);
    *s = (share){a, d, r, session, arena_printf(a, "group %s", group), arena_alloc(a, (size_t)r->size * sizeof *s->seen)};
    const char *number = arena_printf(a, "%lld", session);
    (void)database_tell(d, r->sweep, "session", number, r->rank, number);
    (void)database_tell(d, r->sweep, s->group, arena_printf(a, "rank %d", r->rank), r->rank, "");
    return s;
}

bool share_tell(share *s, const char *key, const char *what, const char *value)
{
    return database_tell(s->d, s->r->sweep, key, what, s->r->rank, value);
}

const char *share_told(share *s, arena *a, const char *key, const char *what)
{
    return database_told(s->d, a, s->r->sweep, key, what, NULL);
}

bool share_take(share *s, const char *key, const char *program, const char *tile)
{
    return share_tell(s, key, arena_printf(s->a, "tile %s %s", program, tile), "");
}

int share_taken(share *s, const char *key) { return database_count_told(s->d, s->r->sweep, key, "tile %"); }

void share_best(share *s, const database_key *key, database_best_visit *visit, void *context)
{
    database_best(s->d, s->r->sweep, key, s->session, visit, context);
}

/* ---- who is alive */
static void see(void *context, int rank, long long beat)
{
    share *s = context;
    if (rank < 0 || rank >= s->r->size) return;
    seen_rank *x = &s->seen[rank];
    if (beat != x->beat || x->at == 0) *x = (seen_rank){beat, seconds_now()};
}

static bool is_alive(const share *s, int rank)
{
    const seen_rank *x = &s->seen[rank];
    return rank == s->r->rank || (x->at > 0 && x->beat >= 0 && seconds_now() - x->at < silent_seconds);
}

/* True if the rank is alive, has the same kind of device, and has not finished the kernel. */
static bool is_missing(share *s, arena *a, const char *key, int rank)
{
    const char *name = arena_printf(a, "rank %d", rank);
    return is_alive(s, rank) && share_told(s, a, s->group, name) && !share_told(s, a, key, arena_printf(a, "through %d", rank));
}

/* ---- the end of a kernel */
/* True if this rank is the decider: it is the first to claim it, or takes over from a dead rank. */
static bool may_decide(share *s, arena *a, const char *key)
{
    int who;
    if (share_tell(s, key, "decider", "")) return true;
    (void)database_told(s->d, a, s->r->sweep, key, "decider", &who);
    return who == s->r->rank || (who >= 0 && !is_alive(s, who) && database_take_over(s->d, s->r->sweep, key, "decider", who, s->r->rank));
}

typedef struct joining {
    share *s;
    arena *a;
    const char *key;
    double until;
    bool over, mine;
} joining;

static void look_around(joining *j)
{
    share *s = j->s;
    bool all = true;
    if (share_told(s, j->a, j->key, "decision")) {
        j->over = true;
        return;
    }
    database_beats(s->d, s->r->sweep, see, s);
    for (int i = 0; i < s->r->size && all; i++) all = !is_missing(s, j->a, j->key, i);
    if (all || seconds_now() > j->until + grace_seconds) j->over = j->mine = may_decide(s, j->a, j->key);
}

void share_pass(share *s, const char *key) { (void)share_tell(s, key, arena_printf(s->a, "through %d", s->r->rank), ""); }

bool share_join(share *s, const char *key, double until)
{
    joining j = {.s = s, .key = key, .until = until};
    share_pass(s, key);
    while (!j.over) {
        j.a = arena_new();
        look_around(&j);
        arena_free(j.a);
        if (!j.over) usleep(wait_us);
    }
    return j.mine;
}
