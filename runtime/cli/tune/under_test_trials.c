/* In: candidates. Out: their rows in the database, written as results arrive; earlier results for the kernel. Bails if the database
 * fails. */
#include "ir/devices/occupancy.h"
#include "runtime/cli/tune/under_test.h"
#include <string.h>

static database_trial trial_of(const kernel_under_test *s, const candidate *x)
{
    const candidate_build *e = x->item;
    const char *hash = e->code_hash ? arena_printf(s->a, "%016llx", e->code_hash) : NULL;
    const kernel_need need = {.threads = e->threads, .registers = e->registers, .shared = e->shared_bytes};
    occupancy held = {0};
    if (e->registers < 0 || !occupancy_of(s->c->model, &need, &held)) held = (occupancy){0};
    return (database_trial){.session = s->c->t->session,
                            .key = under_test_key(s),
                            .block = s->block,
                            .kernel = s->name,
                            .program = program_table[e->tile.program].name,
                            .version = program_version(e->tile.program),
                            .tile = e->text,
                            .status = candidate_status_names[x->status],
                            .reason = x->reason,
                            .predicted = x->predicted,
                            .ratio = x->ratio,
                            .registers = e->registers,
                            .spills = e->spills,
                            .scratch_bytes = e->scratch_bytes,
                            .shared_bytes = e->shared_bytes,
                            .threads = e->threads,
                            .code_hash = hash,
                            .compile_seconds = e->compile_seconds,
                            .run_seconds = s->run_seconds,
                            .launch_seconds = s->launch_seconds,
                            .operations = s->work.products + s->work.others,
                            .bytes = s->work.read + s->work.written,
                            .floor_seconds = s->floor_seconds,
                            .waves = held.waves,
                            .most_waves = held.most_waves,
                            .seconds = x->seconds,
                            .against = x->against,
                            .rounds = x->rounds,
                            .checked = x->checked};
}

void under_test_begin_trial(const kernel_under_test *s, const candidate *x)
{
    candidate_build *e = x->item;
    const database_trial t = trial_of(s, x);
    if (!e->row) e->row = database_start(s->c->t->trials, &t);
}

void under_test_end_trial(const kernel_under_test *s, const candidate *x)
{
    under_test_begin_trial(s, x);
    const database_trial t = trial_of(s, x);
    database_finish(s->c->t->trials, ((candidate_build *)x->item)->row, &t);
}

void under_test_timed(void *kernel, const candidate *x)
{
    const kernel_under_test *s = kernel;
    const database_trial t = trial_of(s, x);
    database_save(s->c->t->trials, ((candidate_build *)x->item)->row, &t);
}

static bool is_known_right(const char *status)
{
    return strcmp(status, candidate_status_names[candidate_wrong]) != 0 && strcmp(status, candidate_status_names[candidate_unjudged]) != 0;
}

/* Takes over an earlier trial's result. A tile interrupted twice is not tried again. */
static void take_known(void *context, const char *program, const char *version, const char *tile, const char *status, double ratio,
                       int interrupted)
{
    kernel_under_test *s = context;
    ir_tile t;
    if (!under_test_read_tile(s->a, program, version, tile, &t)) return;
    const bool unfinished = !*status && interrupted<2, good = ratio> 0 && ratio < 1 && is_known_right(status);
    if (unfinished || tile_same(&t, &s->space->phase->tile)) return;
    space_forget(s->space, &t);
    if (good && s->kept_count < 4) s->kept[s->kept_count++] = under_test_candidate(s, &t);
}

void under_test_resume(kernel_under_test *s)
{
    const database_key key = under_test_key(s);
    database_known(s->c->t->trials, &key, take_known, s);
}
