/* See space.h. */
#include "runtime/cli/tune/space.h"
#include "gen/plan/tile.h"
#include "gen/program/program.h"
#include "runtime/cli/plan_words.h"
#include <string.h>

enum { most_changed = 3 };

space *space_of(arena *a, const plan *p, const ir_phase *phase)
{
    space *s = arena_alloc(a, sizeof *s);
    *s = (space){.a = a, .plan = p, .phase = phase};
    space_forget(s, &phase->tile);
    return s;
}

static bool is_known(const space *s, const ir_tile *t)
{
    for (int i = 0; i < s->known_count; i++)
        if (tile_same(&s->known[i], t)) return true;
    return false;
}

void space_forget(space *s, const ir_tile *t)
{
    s->known = arena_more(s->a, s->known, s->known_count, &s->known_room, sizeof *s->known);
    s->known[s->known_count++] = *t;
}

/* ---- steps of a field */
/* True for all values of a short range; in a long one for its ends, 2^i, 3 * 2^i, and multiples of 32 up to 512. */
static bool is_step(const tile_field *f, int value)
{
    if (value == f->least || value == f->most || f->most - f->least < 16) return true;
    if (value % 32 == 0 && value <= 512) return true;
    while (value && value % 2 == 0) value /= 2;
    return value == 1 || value == 3;
}

static int step_from(const tile_field *f, int value, int direction)
{
    do value += direction;
    while (value >= f->least && value <= f->most && !is_step(f, value));
    return value;
}

/* Moves of a field: to the next step, to twice or half the value, by two steps. */
enum { move_up, move_down, move_double, move_half, move_two_up, move_two_down, move_count };
static int moved(const tile_field *f, int value, int move)
{
    switch (move) {
    case move_double: return value <= 1 << 20 ? 2 * value : value;
    case move_half: return value % 2 ? value : value / 2;
    case move_two_up: return step_from(f, step_from(f, value, 1), 1);
    case move_two_down: return step_from(f, step_from(f, value, -1), -1);
    default: return step_from(f, value, move == move_up ? 1 : -1);
    }
}

/* ---- tiles near one */
typedef struct walk {
    space *s;
    problem problem;
    const program_info *info;
    ir_tile *out;
    int count, most;
} walk;

static void offer(walk *w, const ir_tile *t)
{
    if (w->count == w->most || is_known(w->s, t) || tile_illegal(&w->problem, t)) return;
    space_forget(w->s, t);
    w->out[w->count++] = *t;
}

/* All moves if one field changes; if two, all but those by two steps; if three, only doubling and halving, which can keep the product of
 * the fields. */
static bool is_tried(int move, int changed)
{
    return changed == 1 || (changed == 2 ? move <= move_half : move == move_double || move == move_half);
}

/* Moves `left` more of the `changed` fields, choosing from field `first` on. */
static void change(walk *w, const ir_tile *from, int first, int changed, int left)
{
    if (!left) {
        offer(w, from);
        return;
    }
    for (int i = first; i < w->info->field_count && w->count < w->most; i++)
        for (int move = 0; move < move_count; move++) {
            const tile_field *f = &w->info->fields[i];
            ir_tile t = *from;
            if (!is_tried(move, changed)) continue;
            t.at[i] = moved(f, t.at[i], move);
            if (t.at[i] != from->at[i] && t.at[i] >= f->least && t.at[i] <= f->most) change(w, &t, i + 1, changed, left - 1);
        }
}

static void offer_defaults(walk *w)
{
    for (int i = 1; i < program_count; i++) {
        ir_tile t;
        const char *why;
        if (program_table[i].family != w->s->phase->family || program_at((program_kind)i)->on_request) continue;
        if (tile_default(&w->problem, (program_kind)i, &t, &why)) offer(w, &t);
    }
}

int space_near(space *s, const ir_tile *of, int most, ir_tile *out)
{
    walk w = {s, plan_problem(s->a, s->plan, s->phase), &program_table[of->program], out, 0, most};
    offer_defaults(&w);
    for (int changed = 1; changed <= most_changed && w.count < most; changed++) change(&w, of, 0, changed, changed);
    return w.count;
}

/* ---- text */
const char *space_text(arena *a, const ir_tile *t)
{
    const char *layer = layer_names(NULL)[program_table[t->program].layer], *fields = tile_text(a, t);
    return arena_printf(a, "layer=%s%s%s", layer, *fields ? " " : "", fields);
}

const char *space_line(arena *a, const char *signature, const ir_tile *t)
{
    return arena_printf(a, "%s: %s", signature, space_text(a, t));
}
