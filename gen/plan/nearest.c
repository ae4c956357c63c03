/* Contract: gen/plan/nearest.h. Values of the requested fields are tried set by set, nearest first. For each set, up to three other fields
 * are varied over powers of two. The distance of two tiles is the sum over fields of |log2((x + 1) / (y + 1))|, where x and y are the
 * values of a field. */
#include "gen/plan/nearest.h"
#include "gen/plan/tile.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { most_moved = 3 /* fields varied at once */, most_values = 64 /* tried per field */, most_sets = 400 /* tried per program */ };

typedef struct hunt {
    arena *a, *scratch; /* scratch: freed after each set of requested values */
    const problem *of;
    program_kind own;
    const tile_override *tile_override;
    problem problem; /* in scratch */
    const program_info *info;
    ir_tile home; /* the program's default with the requested values */
    unsigned asked; /* bits of the requested fields */
    ir_tile set;    /* `home` with the set of values that is being tried */
    /* off: distance of `set` from the request. least_off, least_moved: distances of the best tile so far from the request and `home` */
    double off, least_off, least_moved;
    nearest best;
} hunt;

static double apart(int x, int y) { return x == y ? 0 : fabs(log2((x + 1.0) / (y + 1.0))); }

/* ---- values of a field */
static void closer(int *next, long long value, int behind)
{
    if (value > behind && value < *next) *next = (int)value;
}

/* The next candidate value above v. In a range of fewer than 17 values every value is a candidate, else powers of two and `wanted`, and
 * with `all` also 3 * 2^i and multiples of 32 up to 512. Ranges have up to a million values, and a search lists candidates thousands of
 * times. */
static int next_value(const tile_field *f, int wanted, bool all, int v)
{
    int next = f->most;
    if (v == f->most || f->most - f->least < 16) return v + 1;
    for (long long power = 1; power < f->most; power *= 2) {
        closer(&next, power, v);
        if (all) closer(&next, 3 * power, v);
    }
    if (all && v < 512) closer(&next, v / 32 * 32 + 32, v);
    closer(&next, wanted, v);
    return next;
}

/* The `most` candidates nearest to `wanted`, which may be out of range, sorted by distance. Returns their number. */
static int list_values(const tile_field *f, int wanted, bool all, int most, int *out)
{
    int count = 0;
    for (int v = f->least; v <= f->most; v = next_value(f, wanted, all, v)) {
        int at = count < most ? count++ : most;
        for (; at > 0 && apart(out[at - 1], wanted) > apart(v, wanted); at--)
            if (at < most) out[at] = out[at - 1];
        if (at < most) out[at] = v;
    }
    return count;
}

/* ---- the other fields, for one set of requested values */
static void offer(hunt *h, const ir_tile *t, double moved)
{
    if (tile_illegal(&h->problem, t)) return;
    h->best.found = true, h->best.tile = *t;
    h->least_off = h->off, h->least_moved = moved;
}

/* Varies `left` more fields of the tile, from index `first` on, among those that were not requested. moved: how far the fields varied so
 * far are from `home`. */
static void move_others(hunt *h, const ir_tile *from, int first, int left, double moved)
{
    if (h->best.found && (h->off > h->least_off || moved >= h->least_moved)) return;
    if (!left) {
        offer(h, from, moved);
        return;
    }
    for (int i = first; i < h->info->field_count; i++) {
        int values[most_values];
        if (h->asked & 1u << i) continue;
        const int count = list_values(&h->info->fields[i], h->home.at[i], left == 1 && first == 0, most_values, values);
        for (int k = 0; k < count; k++) {
            ir_tile t = *from;
            t.at[i] = values[k];
            if (values[k] != h->home.at[i]) move_others(h, &t, i + 1, left - 1, moved + apart(values[k], h->home.at[i]));
        }
    }
}

static void move_any(void *hunt_)
{
    hunt *h = hunt_;
    h->problem = *h->of, h->problem.a = h->scratch;
    for (int n = 0; n <= most_moved; n++) move_others(h, &h->set, 0, n, 0);
}

static void try_set(hunt *h, const ir_tile *asked, double off)
{
    h->off = off, h->set = *asked, h->scratch = arena_new();
    (void)arena_run(h->scratch, move_any, h);
    arena_free(h->scratch);
}

/* ---- sets of requested values, nearest first */
typedef struct value_set {
    int at[most_tile_fields];
    double off;
} value_set;

static int by_distance(const void *x, const void *y)
{
    const double a = ((const value_set *)x)->off, b = ((const value_set *)y)->off;
    return (a > b) - (a < b);
}

static value_set *list_sets(const hunt *h, int *count)
{
    size_t room = 1;
    const int most = h->tile_override->count > 2 ? 16 : most_values; /* values per field */
    for (int i = 0; i < h->info->field_count; i++)
        if (h->asked & 1u << i && room < 1 << 16) room *= (size_t)most + 1;
    value_set *list = arena_alloc(h->a, room * sizeof *list);
    memcpy(list[0].at, h->home.at, sizeof list[0].at);
    *count = 1;
    for (int i = 0; i < h->info->field_count; i++) {
        int values[most_values];
        if (!(h->asked & 1u << i)) continue;
        const int steps = list_values(&h->info->fields[i], h->home.at[i], true, most, values), before = *count;
        for (int k = 0; k < steps; k++)
            for (int n = 0; n < before && (size_t)*count < room && values[k] != h->home.at[i]; n++) {
                list[*count] = list[n];
                list[*count].at[i] = values[k];
                list[(*count)++].off += apart(values[k], h->home.at[i]);
            }
    }
    qsort(list, (size_t)*count, sizeof *list, by_distance);
    return list;
}

/* ---- programs */
/* Sets the requested values in h->home. False: the program lacks a field or is on another layer. */
static bool take_asked(hunt *h)
{
    h->asked = 0;
    if (h->tile_override->layer >= 0 && h->tile_override->layer != (int)h->info->layer) return false;
    for (int i = 0; i < h->tile_override->count; i++) {
        const int at = tile_field_find(h->home.program, h->tile_override->settings[i].key);
        if (at < 0) return false;
        h->home.at[at] = h->tile_override->settings[i].value, h->asked |= 1u << at;
    }
    return true;
}

static bool in_range(const hunt *h, const ir_tile *t)
{
    for (int i = 0; i < h->info->field_count; i++)
        if (t->at[i] < h->info->fields[i].least || t->at[i] > h->info->fields[i].most) return false;
    return true;
}

/* Tries tiles of one program. first: only the exact request; else only other values of the requested fields. */
static void hunt_program(hunt *h, program_kind kind, bool first)
{
    const char *why;
    int count;
    h->info = &program_table[kind], h->home = tile_of_program(kind);
    if (!take_asked(h)) return;
    h->best.known = true;
    if (!tile_default(h->of, kind, &h->home, &why) && !h->home.given) {
        if (!h->best.why) h->best.why = why;
        return;
    }
    (void)take_asked(h);
    const char *wrong = tile_illegal(h->of, &h->home);
    if (first && wrong && (!h->best.why || kind == h->own)) h->best.why = wrong;
    const value_set *list = list_sets(h, &count);
    for (int i = !first; i < (first ? 1 : count) && i < most_sets && !(h->best.found && list[i].off > h->least_off); i++) {
        ir_tile t = h->home;
        memcpy(t.at, list[i].at, sizeof t.at);
        if (in_range(h, &t)) try_set(h, &t, list[i].off);
    }
}

nearest nearest_tile(arena *a, const plan *p, const ir_phase *phase, const tile_override *asked)
{
    const problem of = plan_problem(a, p, phase);
    return nearest_of_problem(&of, phase->tile.program, asked);
}

nearest nearest_of_problem(const problem *p, program_kind own, const tile_override *asked)
{
    hunt h = {.a = p->a, .of = p, .own = own, .tile_override = asked};
    for (int first = 1; first >= 0 && !h.best.found; first--) {
        hunt_program(&h, own, first);
        for (int i = 1; i < program_count; i++)
            if (program_table[i].family == p->phase->family && (program_kind)i != own) hunt_program(&h, (program_kind)i, first);
    }
    h.best.exact = h.best.found && h.least_off == 0;
    if (h.best.exact) h.best.why = NULL;
    return h.best;
}
