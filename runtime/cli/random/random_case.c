/* In: a spec's text. Out: the outcome at each level and by each oracle. */
#include "runtime/cli/random/random_case.h"
#include "runtime/cli/random/random_oracle.h"
#include "runtime/cli/random/random_results.h"
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

const char *const random_outcome_names[random_outcome_count] = {"not run",      "good",         "refused",      "wrong",   "internal error",
                                                                "not a spec", "not compiled", "device error", "crashed", "hung"};

typedef struct level_job {
    arena *a;
    const random_case *c;
    const char *level;
    random_report *out;
    random_level_report *mine;
    arena *kept;  /* an arena that lives until all levels have run */
    text *before; /* describe() of the previous level */
    random_results results;
} level_job;

static void note_ratio(random_ratio *r, const trial_check *c, dtype type)
{
    if (c->ratio > r->largest) r->largest = c->ratio;
    if (c->ratio > 0 && (r->smallest == 0 || c->ratio < r->smallest)) r->smallest = c->ratio;
    r->count++;
    if (c->spread > r->spread) r->spread = c->spread;
    if (type == dtype_f32 && c->spread > r->spread_f32) r->spread_f32 = c->spread;
}

/* The value that a check judged. The check has the value's name or, end to end, the output's. */
static const ir_value *value_of(const ir_graph *graph, const trial_check *check)
{
    for (int i = 0; i < graph->value_count; i++) {
        const ir_value *v = graph->values[i];
        const char *name = check->end_to_end ? v->output : v->name;
        if (v->def && name && strcmp(name, check->name) == 0) return v;
    }
    return NULL;
}

static void note_checks(level_job *j, const ir_graph *graph, const trial_result *result)
{
    const trial_check *worst = NULL;
    for (int i = 0; i < result->check_count; i++) {
        const trial_check *c = &result->checks[i];
        const ir_value *v = value_of(graph, c);
        if (v && !c->end_to_end && c->verdict == trial_good) note_ratio(&j->out->ratios[v->def->kind], c, v->type);
        if (c->ratio > j->mine->ratio) j->mine->ratio = c->ratio;
        if (c->verdict == trial_bad && !worst) worst = c, j->mine->op = v ? v->def->kind : op_count;
    }
    j->out->unjudged += result->unjudged;
    j->mine->outcome = worst || !result->referenced ? random_wrong : random_good;
    if (!worst) return;
    const bool made = j->mine->op < op_count;
    snprintf(j->mine->message, sizeof j->mine->message, "%s%s%s", trial_complaint(j->a, worst), made ? ", made by " : "",
             made ? op_table[j->mine->op].name : "");
}

/* Puts a mistake into one op of the plan: tests check that it is found. */
static void plant(level_job *j, compile_request r, compiled *done)
{
    const char *old = j->c->mistake[0], *new = j->c->mistake[1], *at = old ? strstr(r.text, old) : NULL;
    if (!at || strlen(old) != strlen(new)) return;
    char *edited = arena_strndup(j->a, r.text, r.size);
    compiled planted;
    memcpy(edited + (at - r.text), new, strlen(new));
    r.text = edited;
    compile_inside(j->a, &r, &planted);
    done->plan = planted.plan;
}

static void append_source(text *t, const source_text *s) { text_printf(t, "%s%s%s", s->head, s->templates, s->body); }

/* Appends all that a run depends on: the sources, and the plan's text without the level's name and the reasons for what was not fused. */
static void describe(text *t, const plan *p)
{
    for (int i = 0; i < p->pack_count; i++) append_source(t, &p->packs[i].source);
    for (int i = 0; i < p->launch_count; i++) append_source(t, &p->launches[i].source);
    for (const char *line = ir_print(t->a, p->ir); *line;) {
        const size_t n = strcspn(line, "\n");
        if (strncmp(line, "level ", 6) != 0 && strncmp(line, "note ", 5) != 0) text_printf(t, "%.*s\n", (int)n, line);
        line += n + (line[n] == '\n');
    }
}

/* True if the plan equals the previous level's, so that its results hold. */
static bool is_known(level_job *j, const plan *p)
{
    text t = {.a = j->kept};
    describe(&t, p);
    const bool known = j->before->data && t.size == j->before->size && memcmp(t.data, j->before->data, t.size) == 0;
    *j->before = t;
    return known && j->mine > j->out->levels && j->mine[-1].outcome == random_good;
}

static void run_level(void *argument)
{
    level_job *j = argument;
    const random_case *c = j->c;
    const random_trial t = {.c = c, .yaml = c->yaml, .level = j->level, .target = c->target, .results = &j->results};
    const compile_request r = random_request(&t);
    compiled done;
    compile_inside(j->a, &r, &done);
    plant(j, r, &done);
    j->out->kernels += done.plan->launch_count + done.plan->pack_count;
    j->mine->outcome = random_good;
    if (c->plan_only || is_known(j, done.plan)) return;
    j->results = (random_results){.a = j->kept};
    const trial_result result = random_trial_run(j->a, &t, &done);
    note_checks(j, done.graph, &result);
}

static random_outcome outcome_of(tfgen_code code, const char *said)
{
    if (strstr(said, "internal:")) return random_internal;
    switch (code) {
    case code_bad_input: return random_bad_spec;
    case code_unsupported: return random_refused;
    case code_compile_failed: return random_not_compiled;
    case code_check_failed: return random_wrong;
    default: return random_device_error;
    }
}

static void take(random_level_report *mine, tfgen_code code, const char *said)
{
    const size_t n = strlen(said);
    mine->outcome = outcome_of(code, said);
    snprintf(mine->message, sizeof mine->message, "%.*s", (int)(n && said[n - 1] == '\n' ? n - 1 : n), said);
}

/* Checks that the results of this level agree with those of the first. */
static void compare_levels(level_job *j, random_results *first)
{
    if (!first->count) *first = j->results;
    if (!(j->c->oracles & oracle_levels) || random_results_agree(first, &j->results, j->mine->message, sizeof j->mine->message)) return;
    j->mine->outcome = random_wrong;
    j->mine->op = op_count;
}

/* Closes the device after a failure; later cases open it again. */
static void close_device(const random_case *c)
{
    if (!c->device || !*c->open) return;
    tfgen_device_close(*c->open);
    *c->open = NULL;
}

void random_case_run(const random_case *c, random_report *out)
{
    text before = {0};
    random_results first = {0};
    arena *kept = arena_new();
    for (int i = 0; i < c->level_count; i++) {
        level_job j = {arena_new(), c, c->levels[i], out, &out->levels[i], kept, &before, {.a = kept}};
        out->current = i;
        const tfgen_code code = arena_run(j.a, run_level, &j);
        if (code != code_ok) take(j.mine, code, arena_diagnostics(j.a));
        if (j.mine->outcome == random_good) compare_levels(&j, &first);
        if (j.mine->outcome == random_good) random_oracles_ask(c, c->levels[i], &j.results, j.mine);
        arena_free(j.a);
        if (j.mine->outcome > random_refused) close_device(c);
    }
    arena_free(kept);
    out->done = true;
}

int random_report_failure(const random_report *r, int level_count)
{
    for (int i = 0; i < level_count; i++)
        if (r->levels[i].outcome > random_refused) return i;
    return -1;
}

/* The outcome and the first error line without names and numbers, by which failures are grouped. */
char *random_report_cause(arena *a, const random_report *r, int level)
{
    const random_level_report *l = &r->levels[level];
    text t = {.a = a};
    text_printf(&t, "%s: ", random_outcome_names[l->outcome]);
    const char *at = strstr(l->message, "error: ");
    at = at ? at + 7 : l->message;
    if (l->outcome == random_wrong && l->ratio > 0) at = l->op < op_count ? op_table[l->op].name : "";
    for (int n = 0; *at && *at != '\n' && n < 160; n++, at++) {
        const bool name = (*at == '%' || isdigit((unsigned char)*at)) && isalnum((unsigned char)at[1]);
        if (name) {
            while (isalnum((unsigned char)at[1]) || at[1] == '_' || at[1] == '.') at++;
            text_printf(&t, "~");
        } else if (isalpha((unsigned char)at[0]) && isdigit((unsigned char)at[1]) && isdigit((unsigned char)at[2])) {
            while (isalnum((unsigned char)at[1]) || at[1] == '_' || at[1] == '.') at++;
            text_printf(&t, "~");
        } else {
            text_printf(&t, "%c", isdigit((unsigned char)*at) ? '~' : *at);
        }
    }
    return t.data;
}
