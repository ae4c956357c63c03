/* In: messages of other ranks of a sweep. Out: their best tiles, one decision and one order for all ranks. Bails if the database fails. */
#include "runtime/cli/tune/under_test.h"
#include <stdlib.h>
#include <string.h>

typedef struct others {
    const kernel_under_test *s;
    ir_tile *tiles;
    double *ratios;
    int count, most;
} others;

static void take_other(void *context, const char *program, const char *version, const char *tile, double ratio)
{
    others *o = context;
    ir_tile t;
    arena *a = o->s->a;
    if (o->count == o->most || !under_test_read_tile(a, program, version, tile, &t)) return;
    o->tiles[o->count] = t, o->ratios[o->count++] = ratio;
}

void under_test_best_of_all(const kernel_under_test *s, double ratio, ir_tile *tile)
{
    ir_tile best;
    double least;
    others o = {s, &best, &least, 0, 1};
    const database_key key = under_test_key(s);
    share_best(s->c->t->share, &key, take_other, &o);
    if (o.count && least < ratio) *tile = best;
}

int under_test_join(void *kernel, int most, candidate *out)
{
    kernel_under_test *s = kernel;
    ir_tile tiles[search_most_joined];
    double ratios[search_most_joined];
    others o = {s, tiles, ratios, 0, most};
    const database_key key = under_test_key(s);
    if (!share_join(s->c->t->share, s->key, s->until)) return -1;
    share_best(s->c->t->share, &key, take_other, &o);
    for (int i = 0; i < o.count; i++) out[i] = under_test_candidate(s, &tiles[i]), out[i].ratio = ratios[i];
    return o.count;
}

/* Publishes the decision: "default", or ratio, noise and the line. */
void under_test_tell_decision(const kernel_under_test *s, const search_result *r)
{
    const candidate_build *e = r->kept->item;
    const char *said = r->kept == r->standard ? "default" : arena_printf(s->a, "%.17g %.17g %s", r->ratio, r->noise, e->line);
    (void)share_tell(s->c->t->share, s->key, "decision", said);
}

void under_test_take_decision(kernel_under_test *s, tuned_kernel *k, const char *said)
{
    char *at;
    k->how = "default", k->ended = true;
    k->tried = share_taken(s->c->t->share, s->key);
    if (strcmp(said, "default") == 0) return;
    k->how = "better";
    k->ratio = strtod(said, &at), k->noise = strtod(at, &at);
    const char *line = arena_strdup(s->a, at + strspn(at, " ")), *tile = strstr(line, ": ");
    if (tile) k->tile = tile + 2;
    session_rebase(s->c, line);
}

void under_test_agree_on_order(const tuning_session *c, tuned_plan *out, const char *path, const char *where)
{
    const char *key = arena_printf(c->a, "%s %s %s %s", path, where, c->plan->target->name, c->device);
    text mine = {.a = c->a};
    for (int i = 0; i < out->count; i++) text_printf(&mine, "%.17g %s\n", out->kernels[i].share, out->kernels[i].signature);
    (void)share_tell(c->t->share, key, "order", mine.data ? mine.data : "");
    const name_list lines = options_lines(c->a, share_told(c->t->share, c->a, key, "order"));
    for (size_t i = 0; i < lines.count && (int)i < out->count; i++) {
        char *at;
        const double share = strtod(lines.names[i], &at);
        for (int n = (int)i; n < out->count; n++) {
            if (strcmp(out->kernels[n].signature, at + strspn(at, " ")) != 0) continue;
            const tuned_kernel one = out->kernels[n];
            out->kernels[n] = out->kernels[i], out->kernels[i] = one;
            out->kernels[i].share = share;
            break;
        }
    }
}
