/* The generator of random specs: what it draws is reproducible and valid, and covers everything that a spec can have, counted against
 * ir/op.def, so that a new op which is never drawn fails here. A planted mistake is found, and reduced to the op that has it. Then a fixed
 * slice of drawn specs is run. */
#define _GNU_SOURCE
#include "ir/graph/attribute_table.h"
#include "ir/reference/ref.h"
#include "runtime/cli/random/random_child.h"
#include "runtime/cli/random/random_reduce.h"
#include "runtime/cli/random/random_results.h"
#include "tests/support.h"
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static random_spec *draw(arena *a, int index) { return random_spec_draw(a, 1, (uint64_t)index, random_spec_type); }

/* ---- reading */
typedef struct reading { arena *a; const char *yaml; graph_options options; const ir_graph *graph; } reading;

static void read_it(void *argument)
{
    reading *r = argument;
    r->graph = graph_read(r->a, r->yaml, strlen(r->yaml), "drawn.yaml", &r->options);
}

static const ir_graph *read_with(arena *a, const char *yaml, graph_options options)
{
    reading r = {a, yaml, options, NULL};
    ck_assert_msg(arena_run(a, read_it, &r) == code_ok, "%s\n%s", arena_diagnostics(a), yaml);
    return r.graph;
}

static const ir_graph *read_text(arena *a, const char *yaml) { return read_with(a, yaml, (graph_options){0}); }

START_TEST(a_seed_and_an_index_are_one_spec_for_ever)
{
    arena *a = arena_new();
    int alike = 0;
    for (int i = 0; i < 50; i++) {
        const char *text = random_spec_text(a, draw(a, i), "");
        ck_assert_str_eq(text, random_spec_text(a, draw(a, i), ""));
        alike += strcmp(text, random_spec_text(a, draw(a, i + 1), "")) == 0;
        const random_spec *wide = random_spec_draw(a, 1, (uint64_t)i, dtype_f32), *narrow = random_spec_draw(a, 1, (uint64_t)i, dtype_f16);
        ck_assert_msg(wide->op_count == narrow->op_count, "the dtype is no part of the draw");
    }
    ck_assert_int_eq(alike, 0);
    arena_free(a);
}
END_TEST

/* A drawn value has a limit of elements. Products with more rows than that were once drawn without columns. */
START_TEST(no_drawn_spec_has_an_empty_axis)
{
    arena *a = arena_new();
    (void)read_text(a, random_spec_text(a, random_spec_draw(a, 573943, 608, dtype_bf16), ""));
    arena_free(a);
}
END_TEST

START_TEST(drawn_specs_are_read_as_they_are_and_under_other_names_and_in_another_order)
{
    for (int i = 0; i < 300; i++) {
        arena *a = arena_new(), *b = arena_new(), *c = arena_new();
        random_spec *s = draw(a, i);
        const int ops = read_text(a, random_spec_text(a, s, "in a comment"))->op_count;
        random_spec_shuffle(s, (uint64_t)i);
        const ir_graph *shuffled = read_text(b, random_spec_text(b, s, ""));
        random_spec_rename(s, (uint64_t)i);
        const ir_graph *renamed = read_text(c, random_spec_text(c, s, ""));
        ck_assert(ops == shuffled->op_count && ops == renamed->op_count && shuffled->value_count == renamed->value_count);
        arena_free(a), arena_free(b), arena_free(c);
    }
}
END_TEST

/* Replaces B by its number in the first reshape to [B, ...]. */
static bool say_number_of_batch(random_spec *s)
{
    for (int i = 0; i < s->op_count; i++) {
        random_axis *first = &s->values[s->ops[i].out[0]].shape[0];
        if (s->ops[i].kind != op_reshape || strcmp(first->text, "B") != 0) continue;
        snprintf(first->text, sizeof first->text, "%lld", first->value);
        return true;
    }
    return false;
}

START_TEST(a_batch_dim_that_may_be_1_is_never_written_as_a_number)
{
    int batched = 0, numbered = 0;
    for (int i = 0; i < 1000; i++) {
        arena *a = arena_new();
        random_spec *s = draw(a, i);
        if (random_spec_is_batched(s)) {
            const dim_override one = {random_spec_dim(s, 0), 1};
            (void)read_with(a, random_spec_text(a, s, ""), (graph_options){.overrides = &one, .override_count = 1});
            batched++;
            if (say_number_of_batch(s)) {
                ck_assert_msg(!random_spec_is_batched(s), "draw %d", i);
                numbered++;
            }
        }
        arena_free(a);
    }
    ck_assert_int_gt(batched, 30);
    ck_assert_int_gt(numbered, 0);
}
END_TEST

/* ---- everything is drawn */
enum { draws = 2500, most_facts = 400 };
typedef struct facts {
    arena *a;
    const char *names[most_facts];
    int counts[most_facts], count;
} facts;

/* Counts how often a feature is drawn; features that were never seen are listed with 0. */
static void note(facts *f, bool seen, const char *format, ...)
{
    char name[80];
    va_list list;
    va_start(list, format);
    vsnprintf(name, sizeof name, format, list);
    va_end(list);
    int at = 0;
    while (at < f->count && strcmp(f->names[at], name) != 0) at++;
    if (at == f->count) {
        ck_assert_int_lt(f->count, most_facts);
        f->names[f->count++] = arena_printf(f->a, "%s", name);
    }
    f->counts[at] += seen;
}

static void note_attributes(facts *f, const ir_op *op)
{
    const ir_attributes *t = &op->attributes;
    for (int i = 0; i < attribute_count; i++) {
        const attribute_info *info = &attribute_table[i];
        const void *field = (const char *)t + info->offset;
        const bool mine = info->op == op->kind;
        switch (info->type) {
        case attribute_BOOL: note(f, mine && *(const bool *)field, "%s: %s: true", op_table[info->op].name, info->key); break;
        case attribute_VALUE: note(f, mine && *(ir_value *const *)field, "%s: %s", op_table[info->op].name, info->key); break;
        case attribute_DTYPE:
            for (int k = 0; k < 3; k++)
                note(f, mine && *(const dtype *)field == (dtype)k, "%s: %s: %s", op_table[info->op].name, info->key, dtype_name((dtype)k));
            break;
        case attribute_PAIRING:
        case attribute_LAYOUT:
            for (int k = 0; k < 2; k++) note(f, mine && *(const int *)field == k, "%s: %s: word %d", op_table[info->op].name, info->key, k);
            break;
        case attribute_SCALING:
            for (int k = 0; k < scaling_count; k++)
                note(f, mine && ((const rope_scaling *)field)->kind == (rope_scaling_kind)k, "%s: %s: kind %d", op_table[info->op].name,
                     info->key, k);
            break;
        default: break;
        }
    }
    const long long size =
        op->kind == op_rope || op->kind == op_attention ? value_columns(op->inputs[0]) / (op->inputs[0]->rank == 4 ? 1 : t->heads) : 0;
    note(f, op->kind == op_rope && t->rotary < size, "rope: rotary: part of a head");
    for (int k = 0; k < 2; k++)
        note(f, op->kind == op_rope && size % 2 && t->pairing == (rope_pairing)k, "rope of heads of an odd size: pairing: word %d", k);
    note(f, op->kind == op_rope && op->inputs[0]->rank == 4, "rope of heads apart");
    note(f, op->kind == op_attention && t->kv_heads < t->heads, "attention: heads in groups");
    note(f, op->kind == op_attention && t->window > 0, "attention: window");
    note(f, op->kind == op_attention && t->softcap > 0, "attention: softcap");
    note(f, op->kind == op_attention && t->window > 0 && !t->causal, "attention: a window of later keys");
    note(f, op->kind == op_attention && t->alibi.count, "attention: slopes");
    note(f, op->kind == op_attention && t->alibi.count && op->inputs[1]->root, "attention: slopes over a cache");
    note(f, op->kind == op_attention && op->input_count > 3, "attention: sinks");
    note(f, op->kind == op_attention && t->scale > 0.39 && size > 8, "attention: scale");
    note(f, op->kind == op_attention && op->inputs[0]->rank == 4, "attention of heads apart");
    note(f, op->kind == op_attention && op->inputs[1]->root && t->lengths, "attention: lengths of a cache");
    note(f, op->kind == op_attention && op->inputs[1]->root && t->window > 0, "attention: window over a cache");
    note(f,
         op->kind == op_attention && op->inputs[1]->root && op->inputs[1]->shape[2].count == 1 &&
             op->inputs[1]->shape[2].terms[0].factor > 1000,
         "a cache of many splits");
    note(f, op->kind == op_attention && !op->inputs[1]->root && !extent_equal(&op->inputs[0]->shape[1], &op->inputs[1]->shape[1]),
         "attention to another sequence");
}

static long long axis_at(const ir_value *v, int from_the_end)
{
    long long value = 0;
    return from_the_end <= v->rank && !extent_is_number(&v->shape[v->rank - from_the_end], &value) ? -1 : value;
}

static void note_broadcast(facts *f, const ir_op *op)
{
    if (op->input_count != 2 || op_table[op->kind].class != class_ELEMENT) return;
    const ir_value *x = op->inputs[0], *y = op->inputs[1], *z = op->outputs[0];
    const bool numbers = x->kind == value_constant || y->kind == value_constant;
    note(f, x->kind == value_constant, "a number on the left");
    note(f, y->kind == value_constant, "a number on the right");
    if (numbers) return;
    note(f, y->rank < x->rank, "an operand without leading axes");
    note(f, x->rank < y->rank, "a first operand without leading axes");
    note(f, axis_at(y, 1) == 1 && axis_at(z, 1) > 1, "a row scalar");
    note(f, y->rank > 1 && axis_at(y, y->rank) == 1 && axis_at(z, y->rank) != 1, "a first axis that stretches");
    note(f, y->rank > 2 && axis_at(y, 2) == 1 && axis_at(z, 2) != 1, "a middle axis that stretches");
    note(f, axis_at(x, 1) == 1 && axis_at(y, 1) > 1, "both stretch");
    note(f, x == y, "a value with itself");
}

static bool is_move(const ir_op *op) { return op && op_table[op->kind].class == class_MOVE; }

static void note_op(facts *f, const ir_op *op)
{
    for (int k = 0; k < op_count; k++)
        if (op_in_spec((op_kind)k)) note(f, op->kind == (op_kind)k, "op %s", op_table[k].name);
    static const struct { op_class class; const char *name;
    } classes[] = {{class_ELEMENT, "elementwise"},
                   {class_REDUCE, "reduction"},
                   {class_COMPOSITE, "norm"},
                   {class_PRODUCT, "product"},
                   {class_MOVE, "move"}};
    for (size_t c = 0; c < sizeof classes / sizeof *classes; c++)
        for (int rank = 1; rank <= 5; rank++)
            note(f, op_table[op->kind].class == classes[c].class && op->inputs[0]->rank == rank, "%s of rank %d", classes[c].name, rank);
    note(f, op->kind == op_matmul && op->inputs[0] == op->inputs[1], "matmul of a value with itself");
    note(f, op->kind == op_matmul && op->inputs[0]->rank > 3, "matmul of two batch axes");
    note(f, is_move(op) && is_move(op->inputs[0]->def), "a view of a view");
    note(f, op->kind == op_concat && op->input_count > 2, "concat of three");
    note(f, op->kind == op_layernorm && op->input_count == 2, "layernorm without bias");
    note(f, op->kind == op_layernorm && op->input_count == 1, "layernorm without weight");
    note(f, op->kind == op_rmsnorm && op->input_count == 1, "rmsnorm without weight");
    note(f, op->kind == op_linear && op->input_count == 3, "linear with bias");
    for (int rows = 0; rows < 3; rows++)
        for (int weight = 0; weight < 3; weight++)
            note(f, op->kind == op_linear && op->inputs[0]->type == (dtype)rows && op->inputs[1]->type == (dtype)weight,
                 "linear of %s rows and a %s weight", dtype_name((dtype)rows), dtype_name((dtype)weight));
    note(f, op->kind == op_reshape && op->outputs[0]->rank > op->inputs[0]->rank, "reshape to more axes");
    note(f, op->kind == op_reshape && op->outputs[0]->rank < op->inputs[0]->rank, "reshape to fewer axes");
    note_attributes(f, op);
    note_broadcast(f, op);
}

static void note_values(facts *f, const ir_graph *p)
{
    static const int widths[] = {1, 2, 3, 7, 16, 17, 33, 64, 65, 128, 129, 256, 257};
    int outputs = 0;
    for (int i = 0; i < p->value_count; i++) {
        const ir_value *v = p->values[i];
        int uses = 0;
        for (int k = 0; k < p->op_count; k++)
            for (int n = 0; n < p->ops[k]->input_count; n++) uses += p->ops[k]->inputs[n] == v;
        outputs += v->output != NULL;
        note(f, uses > 2, "a value with three users");
        note(f, v->output && uses, "an output that is used");
        note(f, v->kind == value_param && uses > 1, "a param that ops share");
        for (int k = 0; k < 2; k++) {
            const bool mine = k ? v->output != NULL : v->kind == value_input;
            note(f, mine && v->root_stride && !v->root && !v->step, "%s with a stride", k ? "an output" : "an input");
            note(f, mine && v->step, "%s whose stride a call gives", k ? "an output" : "an input");
        }
        for (int k = 0; k < i; k++) note(f, v->step && p->values[k]->step == v->step, "a stride of two tensors");
        note(f, v->kind == value_input && v->rank == 1 && v->type != dtype_i32, "an input of one axis");
        for (int t = 0; t < 3; t++) {
            note(f, v->kind == value_input && v->type == (dtype)t && p->type != (dtype)t, "an input of its own dtype %s",
                 dtype_name((dtype)t));
            note(f, v->kind == value_param && v->type == (dtype)t && p->type != (dtype)t, "a param of its own dtype %s",
                 dtype_name((dtype)t));
        }
        for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) note(f, axis_at(v, 1) == widths[w], "%d columns", widths[w]);
    }
    note(f, outputs > 1, "several outputs");
    int doublings = 0, squares = 0, most_users = 0;
    for (int i = 0; i < p->op_count; i++) {
        const ir_op *op = p->ops[i];
        const bool again = op->input_count == 2 && op->inputs[0] == op->inputs[1];
        int users = 0;
        doublings += again && op->kind == op_add, squares += again && op->kind == op_mul;
        for (int k = 0; k < p->op_count; k++)
            for (int j = 0; j < p->ops[k]->input_count; j++) users += p->ops[k]->inputs[j] == op->outputs[0];
        if (users > most_users) most_users = users;
    }
    note(f, doublings > 5, "six values added to themselves");
    note(f, squares > 2, "three values multiplied by themselves");
    note(f, most_users > 40, "a value under more than 40 users");
    note(f, p->dims.dynamic_count == 2, "two dynamic dims");
    for (int i = 0; i < p->dims.count; i++) note(f, p->dims.dims[i].dynamic && p->dims.dims[i].low > 1, "a dynamic dim of more than 1");
    for (int t = 0; t < 3; t++) note(f, p->type == (dtype)t, "a spec of dtype %s", dtype_name((dtype)t));
}

START_TEST(every_feature_of_specs_is_drawn)
{
    facts f = {.a = arena_new()};
    int missing = 0;
    for (int i = 0; i < draws; i++) {
        arena *a = arena_new();
        const ir_graph *p = read_text(a, random_spec_text(a, draw(a, i), ""));
        for (int k = 0; k < p->op_count; k++) note_op(&f, p->ops[k]);
        note_values(&f, p);
        for (int k = 0; k < p->value_count; k++) /* sizes stay small enough for a run of seconds */
            ck_assert_msg(value_count(p->values[k], &p->dims) <= 1 << 22, "draw %d: %%%s has %lld elements", i, p->values[k]->name,
                          value_count(p->values[k], &p->dims));
        arena_free(a);
    }
    for (int i = 0; i < f.count; i++)
        if (!f.counts[i]) printf("never drawn: %s\n", f.names[i]), missing++;
    ck_assert_msg(!missing, "%d of %d things are never drawn", missing, f.count);
    arena_free(f.a);
}
END_TEST

/* ---- mistakes are found */
static const char *const one_level[] = {"ops"};

static random_case case_of(arena *a, const random_spec *s)
{
    return (random_case){.spec = s,
                         .yaml = random_spec_text(a, s, ""),
                         .name = "drawn.yaml",
                         .comment = "",
                         .target = "host",
                         .levels = one_level,
                         .level_count = 1,
                         .data_seed = 1};
}

static bool has_op(const random_spec *s, op_kind kind)
{
    for (int i = 0; i < s->op_count; i++)
        if (s->ops[i].kind == kind) return true;
    return false;
}

START_TEST(a_planted_mistake_is_found_and_reduced_to_the_op_that_has_it)
{
    arena *a = arena_new();
    random_child *child = random_child_new(a);
    const random_limits limits = {300, 3000};
    const random_spec *s = NULL;
    for (int i = 0; !s; i++) {
        const random_spec *one = draw(a, i);
        if (has_op(one, op_silu) && one->op_count > 3 && one->op_count < 7) s = one;
    }
    random_case c = case_of(a, s);
    ck_assert_int_eq(random_report_failure(random_child_run(child, &c, &limits), 1), -1);
    c.mistake[0] = "op: silu", c.mistake[1] = "op: relu";
    const random_report report = *random_child_run(child, &c, &limits);
    ck_assert_int_eq(report.levels[0].outcome, random_wrong);
    const random_spec *small = random_reduce(a, s, &c, 0, random_report_cause(a, &report, 0), child, &limits);
    ck_assert_msg(small->op_count == 1 && small->ops[0].kind == op_silu, "%s", random_spec_text(a, small, ""));
    random_stop = SIGINT; /* a run that is stopped reduces no further */
    ck_assert_int_eq(random_reduce(a, s, &c, 0, random_report_cause(a, &report, 0), child, &limits)->op_count, s->op_count);
    arena_free(a);
}
END_TEST

/* Oracles append unused ops to the graph; only a caller's tensor may have a row stride that a call gives. */
START_TEST(unused_ops_have_no_row_stride_of_a_call)
{
    arena *a = arena_new();
    random_child *child = random_child_new(a);
    const random_limits limits = {300, 3000};
    random_case c = case_of(a, draw(a, 0));
    c.yaml = "block: t\ndtype: bf16\ndims: {M: 4, N: 16, X: 32}\ndynamic: {X: [16, 96]}\ninputs: {x: [M, N]}\nops:\n"
             "  - {out: r, op: silu, in: [x]}\n  - {out: s, op: silu, in: [r]}\n  - {out: t, op: silu, in: [s]}\n"
             "outputs: {r: {value: r, stride: X}, s: {value: s, stride: X}, t: {value: t, stride: X}}\n";
    c.oracles = oracle_dead, c.plan_only = true;
    for (int i = 1; i <= 8; i++) { /* the seed selects the results that get such an op */
        c.data_seed = (unsigned)i;
        const random_report *r = random_child_run(child, &c, &limits);
        ck_assert_msg(random_report_failure(r, 1) < 0, "%s", r->levels[0].message);
    }
    arena_free(a);
}
END_TEST

/* One level may store (and so overflow) what the other keeps in registers: each is right by its own reference. */
START_TEST(an_overflow_at_one_level_only_is_no_disagreement)
{
    double x[] = {1, INFINITY}, y[] = {1, 3602}, z[] = {1.5, 3602}, bound[] = {0.1, 0.1};
    const random_results first = {.count = 1, .list = {{"y", 2, x, bound}}}, second = {.count = 1, .list = {{"y", 2, y, bound}}},
                         third = {.count = 1, .list = {{"y", 2, z, bound}}};
    char message[200] = "";
    ck_assert(random_results_agree(&first, &second, message, sizeof message));
    ck_assert(!random_results_agree(&first, &third, message, sizeof message));
    ck_assert_ptr_nonnull(strstr(message, "element 0"));
}
END_TEST

START_TEST(a_crash_or_a_hang_fails_only_its_own_case)
{
    arena *a = arena_new();
    random_child *child = random_child_new(a);
    const random_limits none = {300, 0}, limits = {300, 3000};
    random_case c = case_of(a, draw(a, 0));
    c.plan_only = true;
    ck_assert_int_eq(random_child_run(child, &c, &limits)->levels[0].outcome, random_good);
    const random_outcome hung = random_child_run(child, &c, &none)->levels[0].outcome;
    ck_assert_msg(hung == random_hung || hung == random_good, "%s", random_outcome_names[hung]); /* good: it was faster than the clock */
    c.yaml = NULL;
    ck_assert_int_eq(random_child_run(child, &c, &limits)->levels[0].outcome, random_crashed);
    arena_free(a);
}
END_TEST

/* ---- on a device: doubles of HIP and HIPRTC, which run code by the host engine */
static void use_doubles(const char *fault)
{
    const char *tfgen = getenv("TFGEN");
    char path[4096];
    const int folder = tfgen && strrchr(tfgen, '/') ? (int)(strrchr(tfgen, '/') - tfgen) : 0;
    snprintf(path, sizeof path, "%.*s/tests/doubles/libamdhip64_double.so", folder, tfgen);
    setenv("TFGEN_LIBHIP", path, 1);
    snprintf(path, sizeof path, "%.*s/tests/doubles/libhiprtc_double.so", folder, tfgen);
    setenv("TFGEN_HIPRTC", path, 1);
    setenv("TFGEN_CLANG", "none", 1); /* its code objects are for GPUs alone */
    if (fault) setenv("TFGEN_DOUBLE_FAULT", fault, 1);
    else unsetenv("TFGEN_DOUBLE_FAULT");
}

/* Case number `index` among the cases of few ops. */
static random_case device_case(arena *a, int index)
{
    static const char *const levels[] = {"none", "tile"};
    for (int i = 0, small = 0;; i++) {
        const random_spec *s = random_spec_draw(a, 7, (uint64_t)i, dtype_f32);
        if (s->op_count > 3 || small++ < index) continue;
        random_case c = case_of(a, s);
        c.target = "gfx90a", c.device = "hip", c.levels = levels, c.level_count = 2;
        return c;
    }
}

/* Opening a device asks once for its name, so the number of questions is the number of openings. */
START_TEST(a_device_is_opened_once_for_many_cases)
{
    arena *a = arena_new();
    random_child *child = random_child_new(a);
    const random_limits limits = {300, 3000};
    use_doubles("hipDeviceGetName:2:101");
    for (int i = 0; i < 3; i++) {
        const random_case c = device_case(a, i);
        const random_report *r = random_child_run(child, &c, &limits);
        ck_assert_msg(random_report_failure(r, 2) < 0, "%d: %s %s", i, r->levels[0].message, r->levels[1].message);
        ck_assert_int_eq(r->levels[1].outcome, random_good);
    }
    arena_free(a);
}
END_TEST

START_TEST(a_case_that_loses_the_device_spoils_no_other_case)
{
    arena *a = arena_new();
    random_child *child = random_child_new(a);
    const random_limits limits = {300, 3000};
    random_case c = device_case(a, 0);
    use_doubles("lost:1");
    ck_assert_int_eq(random_child_run(child, &c, &limits)->levels[0].outcome, random_device_error);
    use_doubles(NULL);
    ck_assert_int_lt(random_report_failure(random_child_run(child, &c, &limits), 2), 0);
    c.yaml = NULL;
    ck_assert_int_eq(random_child_run(child, &c, &limits)->levels[0].outcome, random_crashed);
    c = device_case(a, 1);
    ck_assert_int_lt(random_report_failure(random_child_run(child, &c, &limits), 2), 0);
    const random_limits none = {300, 0};
    const random_outcome hung = random_child_run(child, &c, &none)->levels[0].outcome;
    ck_assert_msg(hung == random_hung || hung == random_good, "%s", random_outcome_names[hung]); /* good: it was faster than the clock */
    ck_assert_int_lt(random_report_failure(random_child_run(child, &c, &limits), 2), 0);
    arena_free(a);
}
END_TEST

/* ---- the command */
/* Runs the command; what it prints, at most `size` bytes, and its exit code. */
static int command(const char *arguments, char *out, size_t size)
{
    char line[800];
    snprintf(line, sizeof line, "exec 2>&1; : \"${TFGEN:=./tfgen}\"; export TFGEN; \"$TFGEN\" verify %s", arguments);
    FILE *f = popen(line, "r");
    ck_assert_ptr_nonnull(f);
    const size_t n = fread(out, 1, size - 1, f);
    out[n] = 0;
    return WEXITSTATUS(pclose(f));
}

START_TEST(slices_add_up_to_the_whole)
{
    static char whole[20000], part[20000];
    const char *const parts[] = {"--random=3 --first=0", "--random=2 --first=3"};
    char arguments[200];
    int kernels = 0, sum = 0;
    ck_assert_int_eq(command("--random=5 --seed=3 --plan --jobs=2", whole, sizeof whole), 0);
    sscanf(strstr(whole, "verify: 5"), "verify: 5 drawn specs (seed 3, from 0), %d kernels", &kernels);
    for (int i = 0; i < 2; i++) {
        int n = 0;
        snprintf(arguments, sizeof arguments, "%s --seed=3 --plan", parts[i]);
        ck_assert_int_eq(command(arguments, part, sizeof part), 0);
        sscanf(strstr(part, "from"), "from %*d), %d kernels", &n);
        sum += n;
    }
    ck_assert_int_gt(kernels, 0);
    ck_assert_int_eq(kernels, sum);
}
END_TEST

/* The last of a process's child processes, or 0. */
static int child_of(pid_t parent)
{
    char path[80];
    int child = 0, one;
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)parent, (int)parent);
    FILE *f = fopen(path, "r");
    ck_assert_msg(f != NULL, "%s", path);
    while (fscanf(f, "%d", &one) == 1) child = one;
    fclose(f);
    return child;
}

/* With one job a third child means that two cases have ended. */
START_TEST(a_run_that_is_stopped_reports_the_cases_that_ended)
{
    static char out[20000];
    const int signals[] = {SIGINT, SIGTERM};
    int ends[2], status, specs = 0, seen[3] = {0};
    ck_assert_int_eq(pipe(ends), 0);
    const pid_t run = fork();
    if (run == 0) {
        const char *program = getenv("TFGEN") ? getenv("TFGEN") : "./tfgen";
        dup2(ends[1], STDOUT_FILENO);
        execlp(program, program, "verify", "--random=1000000", "--seed=3", "--plan", "--jobs=1", NULL);
        _exit(127);
    }
    close(ends[1]);
    for (int n = 0; n < 3; usleep(500)) {
        const int child = child_of(run);
        if (child && (!n || child != seen[n - 1])) seen[n++] = child;
        ck_assert_int_eq(waitpid(run, &status, WNOHANG), 0);
    }
    kill(run, signals[_i]);
    FILE *f = fdopen(ends[0], "r");
    out[fread(out, 1, sizeof out - 1, f)] = 0;
    fclose(f);
    ck_assert_int_eq(waitpid(run, &status, 0), run);
    ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == signals[_i], "%x", status);
    const char *last = strstr(out, "verify: stopped by signal ");
    ck_assert_msg(last && sscanf(last, "verify: stopped by signal %*d after %d of 1000000 drawn specs (seed 3, from 0)", &specs) == 1, "%s",
                  out);
    ck_assert_msg(specs >= 2 && strstr(out, "target "), "%s", out);
}
END_TEST

START_TEST(targets_and_dtypes_take_turns_and_reports_add_up)
{
    static char out[30000];
    ck_assert_int_eq(
        command(
            "--random=30 --seed=3 --plan --json >/tmp/tfgen-random-$$.a && \"$TFGEN\" verify --random=30 --seed=3 --first=30 --plan --json "
            ">/tmp/tfgen-random-$$.b && python3 tests/cli/random_add.py --least=2 /tmp/tfgen-random-$$.[ab]; code=$?; "
            "rm -f /tmp/tfgen-random-$$.[ab]; exit $code",
            out, sizeof out),
        0);
    static const char *const rows[] = {"| gfx90a | bf16 | 2 | 8 | 0 | 0 |", "| gfx90a | f32 | 2 |", "| host | f16 | 2 |",
                                       "60 specs in 2 slices"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) ck_assert_msg(strstr(out, rows[i]) != NULL, "%s\n%s", rows[i], out);
}
END_TEST

/* With one multiprocessor no workgroup would wait for another. Targets are drawn in turn: ten of them, or only one. */
START_TEST(cases_of_a_target_run_on_several_multiprocessors)
{
    for (int step = 1; step <= 10; step++) {
        bool seen[18] = {false};
        for (int i = 0; i < 17; i++) seen[random_multiprocessors((unsigned long long)(1 + i * step))] = true;
        for (int n = 1; n <= 17; n++) ck_assert_msg(seen[n], "never %d, every %d", n, step);
    }
}
END_TEST

/* tests/h200/random.sh, the script of long runs. */
START_TEST(a_long_run_counts_the_slices_that_ended_and_no_other)
{
    ck_assert_int_eq(system("exec >/dev/null 2>&1; exec python3 tests/h200/random_slices_test.py"), 0);
}
END_TEST

/* bench/turns.py */
START_TEST(cases_of_several_processes_are_timed_alone)
{
    ck_assert_int_eq(system("exec >/dev/null 2>&1; exec python3 tests/h200/turns_test.py"), 0);
}
END_TEST

START_TEST(contradictory_options_are_bad_usage)
{
    static const char *const bad[] = {"--random=0",
                                      "--random=2 specs/rmsnorm.yaml",
                                      "--random=2 --dim=S=3",
                                      "--random=2 --sizes=all",
                                      "--random=2 --dtype=i32",
                                      "--random=2 --fusion=most",
                                      "specs/rmsnorm.yaml --first=2",
                                      "specs/rmsnorm.yaml --plan",
                                      "specs/rmsnorm.yaml --draw=x",
                                      "specs/rmsnorm.yaml -o x"};
    char out[4000];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(command(bad[i], out, sizeof out) == code_usage && out[0], "%s: %s", bad[i], out);
    ck_assert_int_eq(command("--random=2 --target=gfx1", out, sizeof out), code_usage);
}
END_TEST

/* One case for each target, in all dtypes and levels, checked by the oracles that each index draws; docs/verification.md has the long
 * runs. */
START_TEST(a_slice_of_drawn_specs_is_right_everywhere)
{
    static char out[60000];
    const int code = command("--random=10 --seed=1", out, sizeof out);
    ck_assert_msg(code == 0, "%s", out);
    double rms = 0, rms_f32 = 0; /* the report has the largest error of each op; here attention's */
    const char *row = strstr(out, "\nattention ");
    ck_assert(row && sscanf(row, " %*s %*d %*s %*s %lf %lf", &rms, &rms_f32) == 2);
    ck_assert_msg(rms > 0 && rms >= rms_f32 && rms <= REF_MOST_SPREAD, "%s", row);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("random");
    TCase *c = tcase_create("specs");
    tcase_set_timeout(c, 600);
    tcase_add_test(c, a_seed_and_an_index_are_one_spec_for_ever);
    tcase_add_test(c, no_drawn_spec_has_an_empty_axis);
    tcase_add_test(c, drawn_specs_are_read_as_they_are_and_under_other_names_and_in_another_order);
    tcase_add_test(c, a_batch_dim_that_may_be_1_is_never_written_as_a_number);
    tcase_add_test(c, every_feature_of_specs_is_drawn);
    tcase_add_test(c, a_planted_mistake_is_found_and_reduced_to_the_op_that_has_it);
    tcase_add_test(c, unused_ops_have_no_row_stride_of_a_call);
    tcase_add_test(c, an_overflow_at_one_level_only_is_no_disagreement);
    tcase_add_test(c, a_crash_or_a_hang_fails_only_its_own_case);
    tcase_add_test(c, slices_add_up_to_the_whole);
    tcase_add_loop_test(c, a_run_that_is_stopped_reports_the_cases_that_ended, 0, 2);
    tcase_add_test(c, targets_and_dtypes_take_turns_and_reports_add_up);
    tcase_add_test(c, cases_of_a_target_run_on_several_multiprocessors);
    tcase_add_test(c, a_long_run_counts_the_slices_that_ended_and_no_other);
    tcase_add_test(c, cases_of_several_processes_are_timed_alone);
    tcase_add_test(c, contradictory_options_are_bad_usage);
    TCase *device = tcase_create("device");
    tcase_set_timeout(device, 600);
    tcase_add_test(device, a_device_is_opened_once_for_many_cases);
    tcase_add_test(device, a_case_that_loses_the_device_spoils_no_other_case);
    suite_add_tcase(suite, device);
    TCase *slice = tcase_create("slice");
    tcase_set_timeout(slice, 3600);
    tcase_add_test(slice, a_slice_of_drawn_specs_is_right_everywhere);
    suite_add_tcase(suite, slice);
    suite_add_tcase(suite, c);
    return run_suite(suite);
}
