/* In: tiles near the best. Out: those that the planner accepts, by predicted time. */
#include "gen/plan/predict.h"
#include "runtime/cli/plan_words.h"
#include "runtime/cli/tune/under_test.h"
#include <math.h>
#include <string.h>

typedef struct foresight {
    kernel_under_test *s;
    candidate *x;
    arena *a;
} foresight;

static void predict(void *argument)
{
    const foresight *f = argument;
    const plan *p = session_plan(f->s->c, f->a, ((candidate_build *)f->x->item)->line);
    prediction out;
    int i;
    if (!phase_of_signature(f->a, p, f->s->signature, &i)) return;
    const work w = launch_work(f->a, p, &p->launches[i], NULL, NULL);
    if (launch_predict(f->a, p, &p->launches[i], &w, &out)) f->x->predicted = out.seconds;
}

bool under_test_foresee(kernel_under_test *s, candidate *x)
{
    foresight f = {s, x, arena_new()};
    const bool good = arena_run(f.a, predict, &f) == code_ok;
    arena_free(f.a);
    return good;
}

static void add_to_pool(kernel_under_test *s, candidate x)
{
    if (!under_test_foresee(s, &x)) return;
    s->pool = arena_more(s->a, s->pool, s->pool_count, &s->pool_room, sizeof *s->pool);
    s->pool[s->pool_count++] = x;
}

/* The candidate of the pool with the least predicted time among those that `may` be taken (NULL: all); if none has a prediction, the last
 * added, which is nearest to the best. -1: none. */
static int likeliest(const kernel_under_test *s, const bool *may)
{
    int best = -1;
    for (int i = s->pool_count - 1; i >= 0; i--) {
        const double mine = s->pool[i].predicted, its = best < 0 ? 0 : s->pool[best].predicted;
        if ((!may || may[i]) && (best < 0 || (mine > 0 && (!(its > 0) || mine <= its)))) best = i;
    }
    return best;
}

static bool is_alike(double one, double other) { return fabs(one - other) <= 0.02 * other; }
static int count_alike(const candidate *wave, int count, double seconds)
{
    int alike = 0;
    for (int k = 0; k < count; k++) alike += is_alike(wave[k].predicted, seconds);
    return alike;
}
/* True if, after adding a tile with these predicted seconds, no tile of the wave has more than `most` others with nearly the same
 * prediction. */
static bool is_apart(const candidate *wave, int count, double seconds, int most)
{
    if (count_alike(wave, count, seconds) >= most) return false;
    for (int k = 0; k < count; k++)
        if (is_alike(seconds, wave[k].predicted) && count_alike(wave, count, wave[k].predicted) >= most) return false;
    return true;
}
/* Diversifies a wave. Tiles with nearly equal predicted times differ in what the model does not know, or in nothing: they get at most a
 * third of a wave while others are predicted less than 1.5 times as slow. (Stages and rasterisation alone change predictions by 0.3 %: 25
 * of 25 candidates of a product of 115 rows had the same tiling, and the same measured time.) */
static int next_of_pool(const kernel_under_test *s, const candidate *wave, int count, int most)
{
    const int first = likeliest(s, NULL);
    bool *may = arena_alloc(s->a, (size_t)s->pool_count);
    for (int i = 0; i < s->pool_count; i++) {
        const double mine = s->pool[i].predicted;
        may[i] = mine > 0 && mine < 1.5 * s->pool[first].predicted && is_apart(wave, count, mine, (most + 2) / 3);
    }
    const int other = likeliest(s, may);
    return other < 0 ? first : other;
}

/* True if this rank tries the candidate: no other rank has taken it. */
static bool is_mine(const kernel_under_test *s, const candidate *x)
{
    const candidate_build *e = x->item;
    return !s->c->t->share || share_take(s->c->t->share, s->key, program_table[e->tile.program].name, e->text);
}

static int take_from_pool(kernel_under_test *s, int most, candidate *out)
{
    int count = 0;
    while (count < most && s->pool_count) {
        const int at = next_of_pool(s, out, count, most);
        out[count] = s->pool[at];
        memmove(&s->pool[at], &s->pool[at + 1], (size_t)(--s->pool_count - at) * sizeof *s->pool);
        count += is_mine(s, &out[count]);
    }
    return count;
}

int under_test_propose(void *kernel, const candidate *best, int most, candidate *out)
{
    enum { near = 96 };
    kernel_under_test *s = kernel;
    ir_tile list[near], from = best ? ((candidate_build *)best->item)->tile : s->space->phase->tile;
    int count = 0, found;
    if (s->c->t->share) under_test_best_of_all(s, best ? best->ratio : 1, &from);
    for (int i = 0; !s->seeded && i < s->kept_count && count < most; i++)
        if (is_mine(s, &s->kept[i])) out[count++] = s->kept[i];
    s->seeded = true;
    do {
        found = space_near(s->space, &from, near, list);
        for (int i = found - 1; i >= 0; i--) add_to_pool(s, under_test_candidate(s, &list[i]));
        count += take_from_pool(s, most - count, out + count);
    } while (!count && found);
    return count;
}
