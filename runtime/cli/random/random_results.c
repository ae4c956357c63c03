/* In: a spec's text, a level, a target. Out: outputs and checks. Refuses what the stages refuse. */
#include "runtime/cli/random/random_results.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

fusion_level random_level(const char *name)
{
    fusion_level level = fusion_tile;
    level_find(name, &level);
    return level;
}

compile_request random_request(const random_trial *t)
{
    return (compile_request){.text = t->yaml,
                             .size = strlen(t->yaml),
                             .name = t->c->name,
                             .target = t->target,
                             .level = random_level(t->level),
                             .check_passes = true,
                             .graph = {.overrides = t->dims, .override_count = t->dim_count}};
}

static void keep_result(void *context, const ir_value *output, const double *got, const double *bound, size_t count)
{
    random_results *r = context;
    if (r->count == random_most_results) return;
    struct random_result *one = &r->list[r->count++];
    *one = (struct random_result){arena_printf(r->a, "%s", output->output), count, arena_alloc(r->a, (count + 1) * sizeof *got),
                                  arena_alloc(r->a, (count + 1) * sizeof *got)};
    memcpy(one->got, got, count * sizeof *got);
    memcpy(one->bound, bound, count * sizeof *bound);
}

/* Opens the device in the process that uses it, since devices do not survive a fork. It existed when the run began, so failing to open it
 * is an error. */
static tfgen_device *device_of(arena *a, const random_case *c)
{
    tfgen_error error;
    if (!c->device) return NULL;
    const tfgen_status status = *c->open ? TFGEN_OK : tfgen_device_open(c->device, c->open, &error);
    if (status != TFGEN_OK) bail(a, code_device, (position){0}, "--device: %s", error.text);
    return *c->open;
}

int random_multiprocessors(unsigned long long data_seed)
{
    enum { most = 17 };
    return 1 + (int)(data_seed % most);
}

trial_result random_trial_run(arena *a, const random_trial *t, const compiled *done)
{
    trial_options o = {.device = device_of(a, t->c), .seed = t->c->data_seed, .jobs = 1, .check = t->check,
                       .multiprocessors = random_multiprocessors(t->c->data_seed), .reference = reference_always};
    if (t->results) o.result = keep_result, o.context = t->results;
    return trial_run(a, done->graph, done->plan, &o);
}

/* True if exactly one of the numbers is infinite. Both may be correct: one overflowed where it was stored in 16 bits, the other stayed in
 * registers. */
static bool one_overflowed(double x, double y) { return !isinf(x) != !isinf(y) && !isnan(x) && !isnan(y); }

static bool agree(const struct random_result *x, const struct random_result *y, char *message, size_t size)
{
    const size_t count = x->count < y->count ? x->count : y->count;
    for (size_t i = 0; i < count; i++) {
        const double apart = fabs(x->got[i] - y->got[i]), allowed = x->bound[i] + y->bound[i];
        if (apart <= allowed || isinf(allowed) || isnan(allowed) || (isnan(x->got[i]) && isnan(y->got[i])) || x->got[i] == y->got[i] ||
            one_overflowed(x->got[i], y->got[i]))
            continue;
        snprintf(message, size, "output %s: element %zu is %.9g and %.9g, %.3g times both bounds apart", x->name, i, x->got[i], y->got[i],
                 apart / allowed);
        return false;
    }
    return true;
}

bool random_results_agree(const random_results *x, const random_results *y, char *message, size_t size)
{
    for (int i = 0; i < x->count; i++)
        for (int k = 0; k < y->count; k++)
            if (strcmp(x->list[i].name, y->list[k].name) == 0 && !agree(&x->list[i], &y->list[k], message, size)) return false;
    return true;
}
