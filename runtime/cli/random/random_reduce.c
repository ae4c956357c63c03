/* In: a spec that fails. Out: a smaller one that fails in the same way. Delta debugging: a step that makes the model smaller is kept if the
 * text is still a spec and still fails for the same cause. Steps that remove most come first; all are repeated until none helps. */
#include "runtime/cli/random/random_reduce.h"
#include "runtime/cli/cli.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most_tries = 400 };

typedef struct reducer {
    random_spec *best, *next;
    const random_case *c;
    const char *cause;
    int level, tries;
    random_child *child;
    const random_limits *limits;
} reducer;

typedef struct reading { arena *a; const char *yaml; } reading;

static void read_it(void *argument)
{
    const reading *r = argument;
    (void)graph_read(r->a, r->yaml, strlen(r->yaml), "reduced.yaml", &(graph_options){0});
}

static bool is_spec(const char *yaml)
{
    reading r = {arena_new(), yaml};
    const bool good = arena_run(r.a, read_it, &r) == code_ok;
    arena_free(r.a);
    return good;
}

/* Equal causes. All wrong results count as one cause, as the value that shows it first changes when ops are removed. */
static bool alike_causes(const char *x, const char *y)
{
    const char *wrong = random_outcome_names[random_wrong];
    const size_t n = strlen(wrong);
    return strcmp(x, y) == 0 || (strncmp(x, wrong, n) == 0 && strncmp(y, wrong, n) == 0);
}

static bool fails_alike(reducer *r)
{
    arena *a = arena_new();
    random_case c = *r->c;
    c.yaml = random_spec_text(a, r->next, c.comment);
    c.spec = r->next;
    c.levels = &r->c->levels[r->level], c.level_count = 1;
    bool alike = is_spec(c.yaml);
    if (alike) {
        const random_report *report = random_child_run(r->child, &c, r->limits);
        r->tries++;
        alike = random_report_failure(report, 1) == 0 && alike_causes(random_report_cause(a, report, 0), r->cause);
    }
    arena_free(a);
    return alike;
}

static void begin(reducer *r) { *r->next = *r->best; }

/* Keeps r->next if it fails alike and is not larger. */
static bool keep(reducer *r)
{
    if (r->tries >= most_tries || random_stop) return false;
    random_spec_settle(r->next);
    /* both are copies of one spec: equal bytes mean equal specs; a difference in padding only costs a try */
    const bool same = memcmp(r->next, r->best, sizeof *r->best) == 0; // NOLINT(bugprone-suspicious-memory-comparison)
    if (same || !fails_alike(r)) return false;
    *r->best = *r->next;
    return true;
}

/* ---- steps */
static bool one_output(reducer *r)
{
    int count = 0;
    for (int i = 0; i < r->best->value_count; i++) count += r->best->output[i];
    for (int i = r->best->value_count - 1; i >= 0 && count > 1; i--) {
        if (!r->best->output[i]) continue;
        begin(r);
        memset(r->next->output, 0, sizeof r->next->output);
        r->next->output[i] = true;
        if (keep(r)) return true;
    }
    return false;
}

static bool fewer_outputs(reducer *r)
{
    bool any = false;
    for (int i = 0; i < r->best->value_count; i++) {
        if (!r->best->output[i]) continue;
        begin(r);
        r->next->output[i] = false;
        any |= keep(r);
    }
    return any;
}

static void remove_op(random_spec *s, int i)
{
    memmove(s->ops + i, s->ops + i + 1, (size_t)(s->op_count - i - 1) * sizeof *s->ops);
    s->op_count--;
}

/* Removes ops one by one: their results become inputs. */
static bool cut_ops(reducer *r)
{
    bool any = false;
    for (int i = r->best->op_count - 1; i >= 0; i--) {
        if (i >= r->best->op_count) continue;
        begin(r);
        random_op *op = &r->next->ops[i];
        for (int k = 0; k < op->out_count; k++) r->next->values[op->out[k]].kind = value_input;
        remove_op(r->next, i);
        any |= keep(r);
    }
    return any;
}

/* Removes ops that make outputs: their operands become outputs instead. */
static bool shorten(reducer *r)
{
    bool any = false;
    for (int i = r->best->op_count - 1; i >= 0; i--) {
        if (i >= r->best->op_count || !r->best->output[r->best->ops[i].out[0]]) continue;
        begin(r);
        const random_op *op = &r->best->ops[i];
        for (int k = 0; k < op->out_count; k++) r->next->output[op->out[k]] = false, r->next->values[op->out[k]].kind = value_input;
        for (int k = 0; k < op->in_count; k++)
            if (op->in[k].value >= 0) r->next->output[op->in[k].value] = true;
        remove_op(r->next, i);
        any |= keep(r);
    }
    return any;
}

static bool remove_strides(reducer *r)
{
    bool any = false;
    for (int i = 0; i < r->best->value_count; i++) {
        if (!r->best->values[i].stride) continue;
        begin(r);
        r->next->values[i].stride = r->next->values[i].stride_dim = 0;
        any |= keep(r);
    }
    return any;
}

static bool same_form(const random_value *x, const random_value *y)
{
    if (x->rank != y->rank || x->type == dtype_i32 || x->cache || y->cache) return false;
    for (int i = 0; i < x->rank; i++)
        if (strcmp(x->shape[i].text, y->shape[i].text) != 0) return false;
    return true;
}

static void use_instead(random_spec *s, int old, int new)
{
    for (int i = 0; i < s->op_count; i++)
        for (int k = 0; k < s->ops[i].in_count; k++)
            if (s->ops[i].in[k].value == old) s->ops[i].in[k].value = new;
    if (s->output[old]) s->output[old] = false, s->output[new] = true;
}

/* Bypasses ops: readers of a result read an operand of the op instead. */
static bool bypass_ops(reducer *r)
{
    bool any = false;
    for (int i = r->best->op_count - 1; i >= 0; i--)
        for (int k = 0; i < r->best->op_count && k < r->best->ops[i].in_count; k++) {
            const random_op *op = &r->best->ops[i];
            const int from = op->in[k].value;
            if (from < 0 || op->out_count != 1 || !same_form(&r->best->values[from], &r->best->values[op->out[0]])) continue;
            begin(r);
            use_instead(r->next, op->out[0], from);
            remove_op(r->next, i);
            if (keep(r)) any = true;
        }
    return any;
}

static bool fewer_attributes(reducer *r)
{
    bool any = false;
    for (int i = 0; i < r->best->op_count; i++)
        for (int k = r->best->ops[i].attribute_count - 1; k >= 0; k--) {
            begin(r);
            random_op *op = &r->next->ops[i];
            memmove(op->attributes + k, op->attributes + k + 1, (size_t)(op->attribute_count - k - 1) * sizeof *op->attributes);
            op->attribute_count--;
            any |= keep(r);
            if (i >= r->best->op_count) return any;
        }
    return any;
}

static bool fewer_operands(reducer *r)
{
    bool any = false;
    for (int i = 0; i < r->best->op_count; i++)
        for (int k = r->best->ops[i].in_count - 1; k > 0; k--) {
            begin(r);
            random_op *op = &r->next->ops[i];
            memmove(op->in + k, op->in + k + 1, (size_t)(op->in_count - k - 1) * sizeof *op->in);
            op->in_count--;
            any |= keep(r);
            if (i >= r->best->op_count) return any;
        }
    return any;
}

static bool plain_types(reducer *r)
{
    bool any = false;
    for (int i = 0; i < r->best->value_count; i++) {
        if (r->best->values[i].type == random_spec_type || r->best->values[i].type == dtype_i32 || r->best->values[i].kind == value_result)
            continue;
        begin(r);
        r->next->values[i].type = random_spec_type;
        any |= keep(r);
    }
    return any;
}

static bool static_dims(reducer *r)
{
    bool any = false;
    for (int i = 0; i < r->best->dim_count; i++) {
        if (!r->best->dims[i].dynamic) continue;
        begin(r);
        r->next->dims[i].dynamic = false;
        any |= keep(r);
    }
    return any;
}

static bool small_dims(reducer *r)
{
    bool any = false;
    for (int i = 0; i < r->best->dim_count; i++) {
        const long long value = r->best->dims[i].value, tries[] = {1, 2, 3, 4, 8, value / 4, value / 2, value - 1};
        for (size_t k = 0; k < sizeof tries / sizeof *tries; k++) {
            if (tries[k] < 1 || tries[k] >= value) continue;
            begin(r);
            random_dim *m = &r->next->dims[i];
            m->value = tries[k];
            if (m->low > m->value) m->low = m->value;
            if (!keep(r)) continue;
            any = true;
            break;
        }
    }
    return any;
}

static bool plain_names(reducer *r)
{
    begin(r);
    r->next->names = 0;
    return keep(r);
}

const random_spec *random_reduce(arena *a, const random_spec *s, const random_case *c, int level, const char *cause, random_child *child,
                                 const random_limits *limits)
{
    static bool (*const steps[])(reducer *) = {plain_names,      one_output,     cut_ops,        shorten,     bypass_ops,  fewer_outputs,
                                               fewer_attributes, fewer_operands, plain_types, static_dims, small_dims, remove_strides};
    reducer r = {arena_alloc(a, sizeof *s), arena_alloc(a, sizeof *s), c, cause, level, 0, child, limits};
    *r.best = *s;
    for (bool better = true; better && r.tries < most_tries && !random_stop;) {
        better = false;
        for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) better |= steps[i](&r);
    }
    return r.best;
}

char *random_failure_comment(arena *a, const random_report_text *t, const char *from)
{
    text words = {.a = a};
    text_printf(&words, "%s at %s on %s\n", t->outcome, t->level, t->target);
    for (const char *line = t->message; *line;) {
        const int n = (int)strcspn(line, "\n");
        text_printf(&words, "# %.*s\n", n, line);
        line += n + (line[n] == '\n');
    }
    text_printf(&words, "%.*s", (int)strcspn(from, "\n"), from);
    return words.data;
}
