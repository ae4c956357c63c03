/* In: a spec with correct results at a level. Out: whether other ways of running it are correct, too.
 *
 * order: with its ops in another order, results are correct and outputs agree.
 * batch: the first sequence of a batch of B equals a batch of one (data depend on name and index only, so they are the same).
 * check: the host engine's checker finds no race and no access out of bounds.
 * target: outputs on another target agree. */
#include "runtime/cli/random/random_oracle.h"
#include "runtime/cli/cli.h"
#include <stdio.h>
#include <string.h>

typedef struct another {
    arena *a;
    random_trial t;
    bool good;
} another;

static void run_another(void *argument)
{
    another *n = argument;
    const compile_request r = random_request(&n->t);
    compiled done;
    compile_inside(n->a, &r, &done);
    n->good = random_trial_run(n->a, &n->t, &done).verdict != trial_bad;
}

/* Checks a variant: correct by itself, and its outputs agree with the first run's. */
static void ask_another(random_trial t, const random_results *first, const char *what, random_level_report *mine)
{
    arena *kept = arena_new();
    random_results results = {.a = kept};
    another n = {.a = arena_new(), .t = t};
    char message[300];
    n.t.results = &results;
    const tfgen_code code = arena_run(n.a, run_another, &n);
    const char *said = arena_diagnostics(n.a);
    mine->op = op_count;
    if (code == code_unsupported) {
        /* not a failure of this oracle: cases drawn for that target count such specs as refused */
    } else if (code != code_ok) {
        mine->outcome = strstr(said, "internal:") ? random_internal : random_wrong;
        snprintf(mine->message, sizeof mine->message, "error: %s: %s", what, strstr(said, "error: ") ? strstr(said, "error: ") + 7 : said);
    } else if (!n.good || !random_results_agree(first, &results, message, sizeof message)) {
        mine->outcome = random_wrong;
        snprintf(mine->message, sizeof mine->message, "error: %s: %s", what, n.good ? message : "a value is beyond its bound");
    }
    arena_free(n.a);
    arena_free(kept);
}

static void ask_order(random_trial t, const random_results *first, random_level_report *mine)
{
    arena *a = arena_new();
    random_spec *shuffled = arena_alloc(a, sizeof *shuffled);
    *shuffled = *t.c->spec;
    random_spec_shuffle(shuffled, t.c->data_seed);
    t.yaml = random_spec_text(a, shuffled, t.c->comment);
    if (strcmp(t.yaml, t.c->yaml) != 0) ask_another(t, first, "with its ops in another order", mine);
    arena_free(a);
}

static void ask_batch(random_trial t, const random_results *first, random_level_report *mine)
{
    arena *a = arena_new();
    const dim_override one = {random_spec_dim(t.c->spec, 0), 1};
    t.dims = &one, t.dim_count = 1;
    if (random_spec_is_batched(t.c->spec)) ask_another(t, first, "as a batch of one", mine);
    arena_free(a);
}

void random_oracles_run(const random_case *c, const char *level, const random_results *results, random_level_report *mine)
{
    random_trial t = {.c = c, .yaml = c->yaml, .level = level, .target = c->target};
    if (c->oracles & oracle_order) ask_order(t, results, mine);
    if (mine->outcome == random_good && c->oracles & oracle_batch) ask_batch(t, results, mine);
    if (mine->outcome != random_good || c->device) return;
    if (c->oracles & oracle_check) {
        t.check = true;
        ask_another(t, results, "under the checker", mine);
        t.check = false;
    }
    if (mine->outcome == random_good && c->oracles & oracle_target) {
        t.target = c->other_target;
        ask_another(t, results, c->other_target, mine);
    }
}
