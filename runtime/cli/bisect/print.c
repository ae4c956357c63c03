/* In: a bisection. Out: text or JSON on standard output. */
#include "runtime/cli/bisect/bisect.h"
#include "runtime/cli/spread.h"
#include <math.h>
#include <string.h>

static const char *const what_names[] = {"diff", "nan", "slow"};

static const char *const kind_texts[] = {
    [mismatch_none] = "right",
    [mismatch_beyond] = "beyond its bound",
    [mismatch_unwritten] = "never written, or computed from what was never written",
    [mismatch_infinite] = "NaN where a number is expected",
    [mismatch_together] = "each element is within its bound, but their RMS is too large",
};
static const char *const kind_names[] = {"none", "beyond", "unwritten", "infinite", "together"};

/* ---- words */
/* The indices by axis of a mismatch's first wrong element. */
static void find_indices(const bisection *b, const mismatch *p, long long at[max_rank])
{
    long long index = p->first;
    for (int i = p->value->rank - 1; i >= 0; i--) {
        const long long size = extent_value(&p->value->shape[i], &b->graph->dims);
        at[i] = size > 0 ? index % size : 0;
        index = size > 0 ? index / size : 0;
    }
}

static const char *element_text(const bisection *b, const mismatch *p)
{
    text t = {.a = b->a};
    long long at[max_rank];
    find_indices(b, p, at);
    text_printf(&t, "[");
    for (int i = 0; i < p->value->rank; i++) text_printf(&t, "%s%lld", i ? "," : "", at[i]);
    text_printf(&t, "]");
    return t.data;
}

static const char *box_text(const bisection *b, const mismatch *p)
{
    text t = {.a = b->a};
    for (int i = 0; i < p->value->rank; i++) {
        text_printf(&t, i ? "," : "[");
        if (p->low[i] == p->high[i])
            text_printf(&t, "%lld", p->low[i]);
        else
            text_printf(&t, "%lld..%lld", p->low[i], p->high[i]);
    }
    text_printf(&t, "]");
    return t.data;
}

static const char *bold(void) { return colour_code(stdout, colour_bold); }
static const char *plain(void) { return colour_code(stdout, colour_none); }

static void print_line(const char *what, const char *text) { printf("    %-10s %s\n", what, text); }

/* ---- a value that differs */
static void print_numbers(const bisection *b, const mismatch *p)
{
    printf("    %-10s %s: ", "element", element_text(b, p));
    if (p->end_to_end)
        printf("end to end, it is off by %.3g times its bound of %.3g\n", p->ratio, p->bound);
    else if (p->kind == mismatch_unwritten)
        printf("never written, or computed from what was never written; it should be %.6g\n", p->expected);
    else if (isfinite(p->ratio))
        printf("%.6g, should be %.6g within %.3g: %.3g times that\n", p->got, p->expected, p->bound, p->ratio);
    else
        printf("%.6g, should be %.6g\n", p->got, p->expected);
}

static void print_extent(const bisection *b, const mismatch *p)
{
    if (p->end_to_end) return;
    if (p->kind == mismatch_together)
        printf("    %-10s %s: the RMS of error over bound is %.3g, at most %g\n", "all", kind_texts[p->kind], p->spread, REF_MOST_SPREAD);
    else
        printf("    %-10s %lld of %lld elements, within %s\n", "wrong", p->bad, p->elements, box_text(b, p));
    if (p->unwritten) printf("    %-10s %lld of them were not written\n", "", p->unwritten);
    if (p->zeros) print_line("", "they are 0");
    if (p->factor != 0) printf("    %-10s they are %.6g times what they should be\n", "", p->factor);
}

static void print_made(const bisection *b, const place_made *m)
{
    if (m->op)
        printf("    %-10s %s at %s:%d:%d", "op", op_table[m->op->kind].name, b->o->spec ? b->o->spec : b->path, m->op->at.line,
               m->op->at.column);
    if (m->op) printf("%s%s\n", m->spec_text ? "   " : "", m->spec_text ? m->spec_text : "");
    if (!m->launch) return;
    printf("    %-10s %s, phase %s: %s\n", "kernel", m->launch->name, m->phase->name, m->computes);
    printf("    %-10s %s%s%s: %s\n", "tile", m->within ? m->within : "", m->within ? ", of " : "",
           program_table[m->phase->tile.program].name, m->tile);
    printf("    %-10s %s:%d: %s\n", "source", m->file, m->line, m->text);
}

static void print_finding(const bisection *b, const char *title, const finding *f)
{
    printf("  %s%s %%%s%s\n", bold(), title, f->mismatch.value->name, plain());
    print_made(b, &f->made);
    print_numbers(b, &f->mismatch);
    print_extent(b, &f->mismatch);
}

/* ---- what was done */
static void print_head(const bisection *b)
{
    const ir_graph *p = b->plan->ir;
    printf("%s%s  %s  level %s%s  ", bold(), p->name, dtype_name(p->type), fusion_level_name(p->level), plain());
    if (b->device && b->what == bisect_slow)
        printf("on %s, target %s, model %s\n", b->device->info.name, p ? b->plan->target->name : "", b->plan->device->name);
    else if (!b->device)
        printf("geometry of %s\n", b->plan->target->name);
    else
        printf("on %s, target %s\n", b->on, b->plan->target->name);
    for (int i = 0; i < b->edits.count; i++) printf("  %s is taken from %s\n", b->edits.list[i].file, b->edits.folder);
}

/* How many values in memory were compared; if `wrong`, how many of them were found wrong. */
static int values_of(const walk *w, bool wrong)
{
    int n = 0;
    for (int i = 0; i < w->count; i++) n += !w->list[i].end_to_end && (!wrong || w->list[i].kind != mismatch_none);
    return n;
}

static void print_notes(const bisection *b)
{
    if (b->vanished) {
        printf("  once %d more values of phase %s are stored, every value is right:", b->shown, b->stored.made.phase->name);
        puts(" the fault depends on time, or on what a compiler makes of the whole phase");
    }
    if (b->hidden) printf("  %s%s", b->hidden, b->hidden[strlen(b->hidden) - 1] == '\n' ? "" : "\n");
    if (b->lost) printf("  edits that do not fit the source that stores the phase's values: %s\n", b->lost);
    if (b->sampled) puts("  only some rows of products and attention were judged, as all of them would take too long");
    if (b->overflow)
        printf("  the reference's own %%%s has elements that %s cannot hold: no kernel is at fault\n", b->overflow->value->name,
               dtype_name(b->overflow->value->type));
}

static void print_lines(const char *text)
{
    for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n') printf("    %.*s\n", (int)strcspn(at, "\n"), at);
}

static void print_checker(const bisection *b)
{
    if (!b->checker) {
        if (b->checked) puts("  the checker finds no race and no access out of bounds");
        return;
    }
    printf("  %sthe checker's report of the first access that it refuses%s\n", bold(), plain());
    print_lines(b->checker);
}

static void print_expected(const bisection *b)
{
    const expected_result *e = &b->expected;
    if (!e->file) return;
    if (e->unknown) printf("  %s also has %s, which the spec does not name\n", e->file, e->unknown);
    if (!e->first) {
        printf("  %s agrees with the spec: %d values, each within its bound on the values before it\n", e->file, e->given);
        return;
    }
    const finding f = {*e->first, {.op = e->first->value->def}};
    print_finding(b, arena_printf(b->a, "%s first differs from the spec at", e->file), &f);
    if (e->between) printf("    %-10s %s: the file does not have them, so it may be any of these ops\n", "before it", e->between);
}

static void print_slow(const bisection *b)
{
    printf("  %-28s %12s %12s %12s %8s  %s\n", "launch", "in its chain", "alone", "model", "times", "the model's limit");
    for (int i = 0; i < b->timed->launch_count; i++) {
        const slow_launch *l = &b->launches[i];
        printf("%s %-28s %12s %12s %12s %8.2f  %s\n", l == b->slowest ? " >" : "  ", l->launch->name,
               spread_time_text(b->a, l->chained, true), spread_time_text(b->a, l->alone, true), spread_time_text(b->a, l->predicted, true),
               l->chained / l->predicted, l->limit);
    }
    if (!b->found) {
        printf("  no launch takes more than %g times the time that the model predicts\n", 1 + b->tolerance);
        return;
    }
    printf("  %sthe furthest above the model: %s%s\n", bold(), b->slowest->launch->name, plain());
    print_made(b, &b->first.made);
    if (b->slowest->alone < (1 + b->tolerance) * b->slowest->predicted)
        puts("    alone it is as fast as the model says: in the plan it waits for the kernel before it, or starts with cold caches");
}

void bisect_print(const bisection *b)
{
    print_head(b);
    if (b->what == bisect_slow) {
        print_slow(b);
        return;
    }
    if (b->fault) {
        printf("  %sthe host engine stopped the run%s\n", bold(), plain());
        print_lines(b->fault);
        print_checker(b);
        return;
    }
    const ir_value *stored = b->stored.mismatch.value;
    printf("  %d values in memory were compared, each on the device's own inputs: ", values_of(&b->whole, false));
    if (!stored) {
        if (b->unjudged) printf("none is wrong, but no element of %%%s is judged", b->unjudged);
        else printf("%sall are right%s", colour_code(stdout, colour_good), plain());
        printf(b->runs > 1 ? " in %lld runs\n" : "\n", b->runs);
    } else
        printf("%s%d wrong%s, %%%s the first\n", colour_code(stdout, colour_bad), values_of(&b->whole, true), plain(), stored->name);
    if (stored) print_finding(b, "the first wrong value:", &b->first);
    if (stored && strcmp(b->first.mismatch.value->name, stored->name) != 0) print_finding(b, "the first that is in memory:", &b->stored);
    print_notes(b);
    print_checker(b);
    print_expected(b);
}

/* ---- JSON */
static void set_text(json_t *o, const char *key, const char *text)
{
    if (text) json_object_set_new(o, key, json_string(text));
}

static json_t *index_json(const bisection *b, const mismatch *p)
{
    json_t *list = json_array();
    long long at[max_rank];
    find_indices(b, p, at);
    for (int i = 0; i < p->value->rank; i++) json_array_append_new(list, json_integer(at[i]));
    return list;
}

static json_t *box_json(const mismatch *p)
{
    json_t *list = json_array();
    for (int i = 0; i < p->value->rank; i++)
        json_array_append_new(list, json_pack("[I, I]", (json_int_t)p->low[i], (json_int_t)p->high[i]));
    return list;
}

static json_t *mismatch_json(const bisection *b, const mismatch *p)
{
    json_t *o = json_pack("{s:s, s:s, s:I}", "value", p->value->name, "kind", kind_names[p->kind], "elements", (json_int_t)p->elements);
    json_object_set_new(o, "worst_ratio", cli_json_number(p->worst_ratio));
    json_object_set_new(o, "rms_ratio", cli_json_number(p->spread));
    if (p->kind == mismatch_none) return o;
    json_object_set_new(o, "end_to_end", json_boolean(p->end_to_end));
    json_object_set_new(o, "element", index_json(b, p));
    json_object_set_new(o, "bound", cli_json_number(p->bound));
    json_object_set_new(o, "ratio", cli_json_number(p->ratio));
    if (p->end_to_end) return o;
    json_object_set_new(o, "got", cli_json_number(p->got));
    json_object_set_new(o, "expected", cli_json_number(p->expected));
    json_object_set_new(o, "wrong", json_integer(p->bad));
    json_object_set_new(o, "unwritten", json_integer(p->unwritten));
    json_object_set_new(o, "infinite", json_integer(p->infinite));
    if (p->bad) json_object_set_new(o, "within", box_json(p));
    if (p->factor != 0) json_object_set_new(o, "factor", json_real(p->factor));
    return o;
}

static void made_json(const bisection *b, json_t *o, const place_made *m)
{
    if (m->op) {
        json_t *spec =
            json_pack("{s:s, s:i, s:i}", "file", b->o->spec ? b->o->spec : b->path, "line", m->op->at.line, "column", m->op->at.column);
        set_text(spec, "text", m->spec_text);
        json_object_set_new(o, "op", json_string(op_table[m->op->kind].name));
        json_object_set_new(o, "spec", spec);
    }
    if (!m->launch) return;
    json_object_set_new(o, "kernel", json_string(m->launch->name));
    json_object_set_new(o, "phase", json_string(m->phase->name));
    json_object_set_new(o, "ops", json_string(m->computes));
    json_object_set_new(o, "program", json_string(program_table[m->phase->tile.program].name));
    set_text(o, "tile", m->tile);
    set_text(o, "tile_of_element", m->within);
    json_object_set_new(o, "source", json_pack("{s:s, s:i, s:s}", "file", m->file, "line", m->line, "text", m->text));
}

static json_t *finding_json(const bisection *b, const finding *f)
{
    json_t *o = mismatch_json(b, &f->mismatch);
    made_json(b, o, &f->made);
    return o;
}

static json_t *slow_json(const bisection *b)
{
    json_t *list = json_array();
    for (int i = 0; i < b->timed->launch_count; i++) {
        const slow_launch *l = &b->launches[i];
        json_t *o = json_pack("{s:s, s:f, s:f, s:f, s:s, s:b}", "kernel", l->launch->name, "chained_seconds", l->chained, "alone_seconds",
                              l->alone, "predicted_seconds", l->predicted, "limit", l->limit, "slowest", l == b->slowest);
        if (l == b->slowest) made_json(b, o, &b->first.made);
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *expected_json(const bisection *b)
{
    const expected_result *e = &b->expected;
    json_t *o = json_pack("{s:s, s:i, s:b}", "file", e->file, "values", e->given, "parts", e->first != NULL), *list = json_array();
    for (int i = 0; i < e->given; i++) json_array_append_new(list, mismatch_json(b, &e->list[i]));
    json_object_set_new(o, "checks", list);
    if (e->first) json_object_set_new(o, "first", finding_json(b, &(finding){*e->first, {.op = e->first->value->def}}));
    set_text(o, "unknown", e->unknown);
    set_text(o, "between", e->between);
    return o;
}

static void numbers_json(const bisection *b, json_t *o)
{
    json_t *list = json_array();
    for (int i = 0; i < b->whole.count; i++) json_array_append_new(list, mismatch_json(b, &b->whole.list[i]));
    json_object_set_new(o, "checks", list);
    json_object_set_new(o, "sampled", json_boolean(b->sampled));
    json_object_set_new(o, "runs", json_integer(b->runs));
    if (b->stored.mismatch.value) {
        json_object_set_new(o, "first", finding_json(b, &b->first));
        json_object_set_new(o, "first_in_memory", finding_json(b, &b->stored));
        json_object_set_new(o, "shown", json_integer(b->shown));
        json_object_set_new(o, "vanished", json_boolean(b->vanished));
    }
    set_text(o, "hidden", b->hidden);
    set_text(o, "lost", b->lost);
    set_text(o, "checker", b->checker);
    set_text(o, "unjudged", b->unjudged);
    set_text(o, "fault", b->fault);
    if (b->overflow) set_text(o, "overflow", b->overflow->value->name);
    if (b->expected.file) json_object_set_new(o, "expected", expected_json(b));
}

void bisect_print_json(const bisection *b)
{
    const ir_graph *p = b->plan->ir;
    json_t *o = json_pack("{s:s, s:s, s:s, s:s, s:s, s:b}", "what", what_names[b->what], "block", p->name, "dtype", dtype_name(p->type),
                          "fusion", fusion_level_name(p->level), "target", b->plan->target->name, "found", b->found);
    set_text(o, "device", b->what == bisect_slow ? b->device->info.name : b->on);
    const trial_verdict verdict = b->found ? trial_bad : b->unjudged ? trial_unjudged : trial_good;
    if (b->what == bisect_diff) set_text(o, "verdict", trial_verdict_names[verdict]);
    if (b->what == bisect_slow)
        json_object_set_new(o, "launches", slow_json(b));
    else
        numbers_json(b, o);
    cli_print_json(cli_keep_json(b->a, o));
}
