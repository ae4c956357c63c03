/* See search.h. */
#include "runtime/cli/tune/search.h"
#include "runtime/cli/spread.h"
#include <math.h>
#include <string.h>

const char *const candidate_status_names[candidate_statuses] = {"new",    "ready",   "refused", "same", "wrong", "unjudged",
                                                                "failed", "dropped", "beaten",  "kept"};

typedef struct search {
    arena *a;
    const search_side *side;
    const search_options *o;
    unsigned long long random;
    search_result r;
    candidate *best; /* the best candidate so far; at first the default */
    double began, checking; /* start time; seconds spent on checks */
} search;

static unsigned long long next_random(search *s) /* splitmix64 */
{
    unsigned long long z = s->random += 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

static bool is_over(const search *s) { return s->side->stopped(s->side->context) || s->side->now(s->side->context) >= s->o->until; }

static void leave(candidate *c, const char *reason) { c->status = candidate_beaten, c->reason = reason; }

static bool wave_fits(const search *s) { return !(s->o->end > 0) || s->side->now(s->side->context) + s->r.wave_seconds <= s->o->end; }

/* ---- times */
static double median_of(search *s, const double *list, int count)
{
    double *copy = arena_alloc(s->a, (size_t)count * sizeof *copy);
    memcpy(copy, list, (size_t)count * sizeof *copy);
    return spread_of(copy, count).median;
}

static void rate(search *s, candidate *c)
{
    double *ratios = arena_alloc(s->a, ((size_t)c->rounds + 1) * sizeof *ratios);
    for (int i = 0; i < c->rounds; i++) ratios[i] = c->seconds[i] / c->against[i];
    c->ratio = c->rounds ? median_of(s, ratios, c->rounds) : 0;
}

static void add_round(search *s, candidate *c, double seconds, double against)
{
    int room = c->room;
    c->seconds = arena_more(s->a, c->seconds, c->rounds, &room, sizeof *c->seconds);
    c->against = arena_more(s->a, c->against, c->rounds, &c->room, sizeof *c->against);
    c->seconds[c->rounds] = seconds, c->against[c->rounds++] = against;
    rate(s, c);
}

static bool time_one(search *s, candidate *c, double *seconds)
{
    if (s->side->time(s->side->context, c, seconds) && *seconds > 0 && isfinite(*seconds)) return true;
    c->status = candidate_failed;
    if (!c->reason) c->reason = "it was not timed";
    return false;
}

/* ---- a wave */
static void shuffle(search *s, candidate **list, int count)
{
    for (int i = count - 1; i > 0; i--) {
        const int k = (int)(next_random(s) % (unsigned)(i + 1));
        candidate *c = list[i];
        list[i] = list[k], list[k] = c;
    }
}

/* Times the default, each candidate, and the default again; candidates are compared with the mean of the two, so that a clock that changes
 * during the round falsifies a ratio by half of the change at most. False: the default could not be timed. */
static bool run_round(search *s, candidate **list, int count)
{
    double before, after, own[search_most_wave];
    shuffle(s, list, count);
    if (!time_one(s, s->r.standard, &before)) return false;
    for (int i = 0; i < count; i++)
        if (!time_one(s, list[i], &own[i])) own[i] = 0;
    if (!time_one(s, s->r.standard, &after)) return false;
    for (int i = 0; i < count; i++) {
        if (!(own[i] > 0)) continue;
        add_round(s, list[i], own[i], (before + after) / 2);
        s->side->timed(s->side->context, list[i]);
    }
    return true;
}

/* The ratio to the best above which a candidate is dropped after this many rounds. */
static double slack(int rounds) { return rounds <= 1 ? 1.5 : rounds == 2 ? 1.2 : rounds == 3 ? 1.1 : rounds < 6 ? 1.05 : 1.02; }

static double least_ratio(const search *s, candidate *const *list, int count)
{
    double least = s->best == s->r.standard ? 1 : s->best->ratio;
    for (int i = 0; i < count; i++)
        if (list[i]->status == candidate_ready && list[i]->ratio > 0 && list[i]->ratio < least) least = list[i]->ratio;
    return least;
}

static int drop_slow(search *s, candidate **list, int count, int rounds)
{
    const double least = least_ratio(s, list, count);
    int left = 0;
    for (int i = 0; i < count; i++) {
        candidate *c = list[i];
        if (c->status == candidate_ready && c->ratio > least * slack(rounds)) {
            c->status = candidate_dropped;
            c->reason = arena_printf(s->a, "after round %d: %.3f of the default's time, the best %.3f; more than %.0f %% behind",
                                     rounds, c->ratio, least, 100 * (slack(rounds) - 1));
        }
        if (c->status == candidate_ready) list[left++] = c;
        else s->side->release(s->side->context, c);
    }
    return left;
}

/* Times candidates round by round and drops slow ones. Those that survive all rounds stay ready for the final comparison. The first round
 * always runs, even out of time, as making a candidate ready takes far longer than a round. */
static void race(search *s, candidate **list, int count)
{
    const search_side *side = s->side;
    for (int round = 1; round <= s->o->rounds && count && !(round == 1 ? side->stopped(side->context) : is_over(s)); round++) {
        if (!run_round(s, list, count)) break;
        count = drop_slow(s, list, count, round);
    }
    for (int i = 0; i < count; i++)
        /* not timed: the search was stopped, or timing the default failed */
        if (!list[i]->rounds) list[i]->status = candidate_new, s->side->release(s->side->context, list[i]);
}

static int propose(search *s, candidate **list)
{
    candidate some[search_most_wave];
    int most = s->o->wave < search_most_wave ? s->o->wave : search_most_wave;
    if (most > s->o->most - s->r.count) most = s->o->most - s->r.count;
    const int count = most > 0 ? s->side->propose(s->side->context, s->best == s->r.standard ? NULL : s->best, most, some) : 0;
    for (int i = 0; i < count; i++) {
        list[i] = arena_alloc(s->a, sizeof *list[i]);
        *list[i] = some[i];
        s->r.list[s->r.count++] = list[i];
    }
    return count;
}

static int keep_ready(search *s, candidate **list, int count)
{
    int ready = 0;
    for (int i = 0; i < count; i++)
        if (list[i]->status == candidate_ready) list[ready++] = list[i];
        else s->side->release(s->side->context, list[i]);
    return ready;
}

/* Chooses the best candidate that is ready, and releases all but the best few. */
static void choose_best(search *s)
{
    enum { stay = 4 };
    for (int i = 1; i < s->r.count; i++) {
        candidate *c = s->r.list[i];
        if (c->status == candidate_ready && c->ratio > 0 && c->ratio < (s->best == s->r.standard ? 1 : s->best->ratio)) s->best = c;
    }
    for (int i = 1, n = 0; i < s->r.count; i++) {
        candidate *c = s->r.list[i];
        int faster = 0;
        for (int k = 1; k < s->r.count && c->status == candidate_ready; k++)
            faster += s->r.list[k]->status == candidate_ready && s->r.list[k]->ratio < c->ratio;
        if (c->status != candidate_ready || (faster < stay && n++ < stay)) continue;
        leave(c, arena_printf(s->a, "%.3f of the default's time when its wave of candidates ended; four others were faster", c->ratio));
        s->side->release(s->side->context, c);
    }
}

static bool is_right(search *s, candidate *c)
{
    if (c->checked) return true;
    c->checked = s->side->check(s->side->context, c);
    if (!c->checked && c->status == candidate_ready) c->status = candidate_wrong;
    return c->checked;
}

/* Checks the best candidate's results. A check may take longer than a wave: checks get at most a tenth of the search's time, and a
 * candidate is checked once. */
static void check_best(search *s)
{
    const search_side *side = s->side;
    const double start = side->now(side->context);
    if (!side->found || s->best->checked || s->best->ratio >= 1 - s->o->margin || is_over(s)) return;
    if (s->checking > 0.1 * (start - s->began)) return;
    if (is_right(s, s->best)) side->found(side->context, s->best);
    else side->release(side->context, s->best), s->best = s->r.standard, choose_best(s);
    s->checking += side->now(side->context) - start;
}

/* False: no candidates are left to propose. */
static bool run_wave(search *s)
{
    candidate *list[search_most_wave];
    const double start = s->side->now(s->side->context);
    int count = propose(s, list);
    if (!count) return false;
    s->side->prepare(s->side->context, list, count);
    count = keep_ready(s, list, count);
    race(s, list, count);
    choose_best(s);
    if (s->best != s->r.standard) check_best(s);
    const double took = s->side->now(s->side->context) - start;
    s->r.wave_seconds = s->r.wave_seconds > 0 ? (s->r.wave_seconds + took) / 2 : took;
    return true;
}

/* ---- the final comparison */
/* The median of the logarithms of the ratios from round `from` on. *error: its standard error, estimated from the median absolute deviation
 * as if the noise were normal. */
static double mean_log(search *s, const candidate *c, int from, double *error)
{
    const int count = c->rounds - from;
    double *logs = arena_alloc(s->a, ((size_t)count + 1) * sizeof *logs), *off = arena_alloc(s->a, ((size_t)count + 1) * sizeof *off);
    for (int i = 0; i < count; i++) logs[i] = log(c->seconds[from + i] / c->against[from + i]);
    const double middle = median_of(s, logs, count);
    for (int i = 0; i < count; i++) off[i] = fabs(logs[i] - middle);
    *error = 1.2533 * 1.4826 * median_of(s, off, count) / sqrt(count);
    return middle;
}

static bool run_pair(search *s, candidate *c)
{
    double first, second;
    const bool ahead = next_random(s) & 1;
    candidate *order[2] = {ahead ? c : s->r.standard, ahead ? s->r.standard : c};
    if (!time_one(s, order[0], &first) || !time_one(s, order[1], &second)) return false;
    add_round(s, c, ahead ? first : second, ahead ? second : first);
    return true;
}

/* Compares a candidate with the default in new pairs of runs. Earlier times are left out: the best of many candidates was partly lucky.
 * Ends early if the result is clear. */
static bool meet(search *s, candidate *c, double *ratio, double *noise)
{
    const int from = c->rounds;
    double error = 0, mean = 0;
    for (int i = 1; i <= s->o->pairs; i++) {
        if (!run_pair(s, c)) return false;
        if (i < 7) continue;
        mean = mean_log(s, c, from, &error);
        if (mean - 4 * error > log1p(-s->o->margin)) break;
        if (i >= 11 && (mean + 5 * error < log1p(-s->o->margin) || s->side->stopped(s->side->context))) break;
    }
    *ratio = exp(mean), *noise = error;
    c->reason = arena_printf(s->a, "%d pairs against the default: %.3f of its time, standard error %.3f", c->rounds - from, *ratio, error);
    return c->rounds - from >= 7 && mean + 3 * error < log1p(-s->o->margin);
}

static candidate *fastest_ready(const search *s)
{
    candidate *best = NULL;
    for (int i = 1; i < s->r.count; i++) {
        candidate *c = s->r.list[i];
        if (c->status == candidate_ready && c->ratio > 0 && c->ratio < 1 && (!best || c->ratio < best->ratio)) best = c;
    }
    return best;
}

static void decide(search *s)
{
    candidate *c;
    while (s->r.kept == s->r.standard && s->r.standard->status == candidate_ready && (c = fastest_ready(s))) {
        double ratio, noise;
        const bool wins = meet(s, c, &ratio, &noise) && is_right(s, c);
        if (wins) s->r.kept = c, c->status = candidate_kept, s->r.ratio = ratio, s->r.noise = noise;
        else if (c->status == candidate_ready) leave(c, c->reason);
        s->side->release(s->side->context, c);
    }
    for (int i = 1; i < s->r.count; i++) {
        if (s->r.list[i]->status != candidate_ready) continue;
        leave(s->r.list[i], s->r.list[i]->ratio < 1 ? "not paired with the default: one that looked faster was kept first"
                                                    : "not faster than the default");
        s->side->release(s->side->context, s->r.list[i]);
    }
    if (s->r.standard->status != candidate_ready) return;
    if (s->r.kept != s->r.standard) leave(s->r.standard, "the default; another tile is faster");
    else s->r.standard->status = candidate_kept, s->r.standard->reason = "the default; nothing was faster beyond noise";
}

/* Makes candidates of other ranks ready, with the ratios measured there; the final comparison follows. */
static void take_in(search *s, const candidate *some, int count)
{
    candidate *list[search_most_joined];
    for (int i = 0; i < count; i++) {
        list[i] = arena_alloc(s->a, sizeof *list[i]);
        *list[i] = some[i];
        s->r.list[s->r.count++] = list[i];
    }
    s->side->prepare(s->side->context, list, count);
    (void)keep_ready(s, list, count);
}

static void leave_to_others(search *s)
{
    s->r.elsewhere = true;
    for (int i = 1; i < s->r.count; i++) {
        if (s->r.list[i]->status != candidate_ready) continue;
        leave(s->r.list[i], "another rank of the sweep decides");
        s->side->release(s->side->context, s->r.list[i]);
    }
    if (s->r.standard->status == candidate_ready) leave(s->r.standard, "the default; another rank of the sweep decides");
}

search_result search_run(arena *a, candidate *standard, const search_side *side, const search_options *o)
{
    search s = {.a = a, .side = side, .o = o, .random = o->seed, .best = standard, .began = side->now(side->context)};
    s.r = (search_result){.standard = standard, .kept = standard, .ratio = 1, .wave_seconds = o->wave_seconds};
    s.r.list = arena_alloc(a, ((size_t)o->most + search_most_joined + 2) * sizeof *s.r.list);
    s.r.list[s.r.count++] = standard;
    int idle = 0;
    while (!s.r.ended && !is_over(&s) && wave_fits(&s) && standard->status == candidate_ready) {
        const double before = s.best == standard ? 1 : s.best->ratio;
        const bool more = run_wave(&s);
        const double after = s.best == standard ? 1 : s.best->ratio;
        idle = after < before * (1 - o->margin) ? 0 : idle + 1;
        s.r.ended = !more || idle >= o->patience;
    }
    candidate others[search_most_joined];
    const int joined = side->join ? side->join(side->context, search_most_joined, others) : 0;
    if (joined > 0) take_in(&s, others, joined);
    if (joined < 0) leave_to_others(&s);
    else decide(&s);
    return s.r;
}
